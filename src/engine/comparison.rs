//! A second run beside the first, from the same state and in step with it: another method, Δt, precision or back end.

use super::pacing::TimeBudget;
use super::{Engine, EngineError};
use crate::field::FieldData;
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::{Clock, FieldImage, ImageRequest, Report};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// What a frame shows of the second run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its picture, of the same part of the field as the first run's.
    pub image: FieldImage,
    /// Where it stands.
    pub clock: Clock,
    /// What runs.
    pub report: Arc<Report>,
    /// ‖ψ₂ − ψ₁‖/‖ψ₁‖ (of p for sound) over all sites, with the first run's step and time at which it was taken.
    pub difference: Option<(u64, f64, f64)>,
}

/// The second run.
pub(super) struct ComparisonRun {
    engine: Engine,
    report: Arc<Report>,
    image: FieldImage,
    difference: Option<(u64, f64, f64)>,
    ration: TimeBudget,
}

impl ComparisonRun {
    /// A run of `scenario` from the state of `first`; the grid, the equation and the initial state must be the same.
    pub(super) fn new(first: &mut Engine, scenario: Arc<Scenario>) -> Result<Self, EngineError> {
        let mut engine = Engine::new(scenario)?;
        if first.clock().steps > 0 {
            engine.adopt(first)?;
        }
        let mut companion = Self {
            report: Arc::new(engine.report()),
            engine,
            image: FieldImage::default(),
            difference: None,
            // Two copies of the field each: at most a tenth of the time.
            ration: TimeBudget::new(20.0, 0.1),
        };
        companion.measure(first)?;
        Ok(companion)
    }

    /// Whether it goes on under another scenario, with the edits of the medium that both runs get.
    pub(super) fn goes_on(&self, scenario: &Scenario) -> bool {
        let own = self.engine.scenario();
        scenario.continues(own) && scenario.solver() == own.solver() && scenario.time().step == own.time().step
    }

    pub(super) fn update(&mut self, scenario: Arc<Scenario>) -> Result<(), EngineError> {
        self.engine.update(scenario).map(|_| ())
    }

    /// Takes the state of the first run over.
    pub(super) fn adopt(&mut self, first: &mut Engine) -> Result<(), EngineError> {
        self.engine.adopt(first)?;
        self.measure(first)
    }

    pub(super) fn reset(&mut self, first: &mut Engine) -> Result<(), EngineError> {
        self.engine.reset()?;
        self.measure(first)
    }

    pub(super) fn reverse(&mut self) -> Result<(), EngineError> {
        self.engine.reverse()
    }

    /// Steps to the time of the first run. Its Δt is a whole part of the first one's, so both meet there.
    pub(super) fn follow(&mut self, first: &Clock) -> Result<(), EngineError> {
        let steps = self.engine.steps_until(first.time)?;
        self.engine.advance(steps)?;
        self.engine.limit_records(1);
        Ok(())
    }

    /// Measures the difference if it is time (`now` since any fixed moment), or in any case.
    pub(super) fn compare(&mut self, first: &mut Engine, now: Duration, at_once: bool) -> Result<(), EngineError> {
        let known = self.difference.is_some_and(|(step, _, _)| step == first.clock().steps);
        if known || !(at_once || self.ration.allows(now)) {
            return Ok(());
        }
        let begin = Instant::now();
        self.measure(first)?;
        self.ration.spent(now, begin.elapsed());
        Ok(())
    }

    fn measure(&mut self, first: &mut Engine) -> Result<(), EngineError> {
        let clock = first.clock();
        let difference = difference(&first.field()?, &self.engine.field()?);
        self.difference = Some((clock.steps, clock.time, difference));
        Ok(())
    }

    /// Draws what the first run's picture shows.
    pub(super) fn draw(&mut self, request: &ImageRequest) -> Result<(), EngineError> {
        self.engine.image(request, &mut self.image)
    }

    /// What a frame shows.
    pub(super) fn shown(&self) -> Arc<Compared> {
        Arc::new(Compared {
            image: self.image.clone(),
            clock: self.engine.clock(),
            report: Arc::clone(&self.report),
            difference: self.difference,
        })
    }
}

/// ‖b − a‖/‖a‖; 0 where both are nothing.
fn difference(a: &FieldData, b: &FieldData) -> f64 {
    const PART: usize = 1 << 14;
    let parts: Vec<[f64; 2]> = (0..a.len().div_ceil(PART))
        .into_par_iter()
        .map(|part| {
            let mut sums = [0.0; 2];
            for site in part * PART..((part + 1) * PART).min(a.len()) {
                let (a, b) = (a.at(site), b.at(site));
                sums[0] += (b - a).norm_sqr();
                sums[1] += a.norm_sqr();
            }
            sums
        })
        .collect();
    let [apart, size] = parts
        .iter()
        .fold([0.0; 2], |all, part| [all[0] + part[0], all[1] + part[1]]);
    if apart == 0.0 { 0.0 } else { (apart / size).sqrt() }
}
