//! A second run along with the first, from the same state and in step with it: another method, Δt, precision or back end.

use super::pacing::TimeBudget;
use super::{Engine, EngineError};
use crate::field::FieldData;
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Clock, FieldImage, ImageRequest, Report};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// What a frame shows of the second run.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Its picture, of the same part of the field as the first run's.
    pub image: FieldImage,
    /// Its clock.
    pub clock: Clock,
    /// Its method.
    pub report: Arc<Report>,
    /// ‖ψ₂ − ψ₁‖/‖ψ₁‖ (of p for sound) over all sites, with the first run's step and time at which it was taken.
    pub difference: Option<(u64, f64, f64)>,
}

/// Second minus first, texel by texel; for pictures with a phase the size of the complex difference. `None` while they are of different parts of
/// the field.
pub fn difference(first: &FieldImage, second: &FieldImage) -> Option<FieldImage> {
    let layout = |image: &FieldImage| (image.size, image.origin, image.reduction, image.quantity);
    if layout(first) != layout(second) {
        return None;
    }
    let phases = !first.phase.is_empty();
    let value = if phases {
        let of = |image: &FieldImage, n: usize| num_complex::Complex::from_polar(image.value[n], image.phase[n]);
        (0..first.value.len())
            .map(|n| (of(second, n) - of(first, n)).norm())
            .collect()
    } else {
        second.value.iter().zip(&first.value).map(|(b, a)| b - a).collect()
    };
    Some(FieldImage {
        value,
        phase: Vec::new(),
        // Quantities with a map of the right kind: signed, or not negative.
        quantity: Some(if phases { Quantity::Density } else { Quantity::Real }),
        ..first.clone()
    })
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

    /// Whether it can continue with another scenario, after edits of the medium that apply to both runs.
    pub(super) fn goes_on(&self, scenario: &Scenario) -> bool {
        let own = self.engine.scenario();
        scenario.continues(own) && scenario.solver() == own.solver() && scenario.time().step == own.time().step
    }

    pub(super) fn update(&mut self, scenario: Arc<Scenario>) -> Result<(), EngineError> {
        self.engine.update(scenario).map(|_| ())
    }

    /// Takes over the state of the first run.
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

    /// Steps to the time of the first run. The first run's Δt is a whole multiple of its own, so both meet there.
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
        let difference = distance(&first.field()?, &self.engine.field()?);
        self.difference = Some((clock.steps, clock.time, difference));
        Ok(())
    }

    /// Draws the same view as the first run's picture.
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

/// ‖b − a‖/‖a‖; 0 if both are 0.
fn distance(a: &FieldData, b: &FieldData) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn image(value: &[f32], phase: &[f32]) -> FieldImage {
        FieldImage {
            size: [value.len(), 1],
            origin: [0, 0],
            reduction: 1,
            value: value.to_vec(),
            phase: phase.to_vec(),
            quantity: Some(if phase.is_empty() {
                Quantity::Density
            } else {
                Quantity::Phase
            }),
        }
    }

    #[test]
    fn differences_of_values_and_of_phases() {
        let apart = difference(&image(&[1.0, 2.0], &[]), &image(&[1.5, 1.0], &[])).unwrap();
        assert_eq!((apart.value, apart.quantity), (vec![0.5, -1.0], Some(Quantity::Real)));
        let half = std::f32::consts::PI;
        let turned = difference(&image(&[1.0, 2.0], &[0.0, 0.0]), &image(&[1.0, 2.0], &[half, 0.0])).unwrap();
        assert!((turned.value[0] - 2.0).abs() < 1e-6 && turned.value[1].abs() < 1e-6);
        let mut elsewhere = image(&[1.0, 2.0], &[]);
        elsewhere.origin = [3, 0];
        assert!(difference(&image(&[1.0, 2.0], &[]), &elsewhere).is_none());
    }
}
