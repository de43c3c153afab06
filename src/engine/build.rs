//! From a scenario to a solver: what the table allows, and what a run will need.

use super::EngineError;
use crate::physics::mirror::Drive;
use crate::physics::{Detector, MirrorMethod};
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::placement::MirrorSites;
use crate::solver::{self, Method, Solver, StepAdvice, Taps};
use std::time::Duration;

/// The method of a scenario. The scene's `[solver]` was checked against the table when it was read.
///
/// # Errors
/// [`EngineError::UnknownMethod`].
pub fn method(scenario: &Scenario) -> Result<&'static Method, EngineError> {
    let id = &scenario.solver().method;
    solver::find(id).ok_or_else(|| EngineError::UnknownMethod(id.clone()))
}

/// A solver at t = 0.
///
/// # Errors
/// If there is no such method, or it cannot be built.
pub fn build(scenario: &Scenario) -> Result<Box<dyn Solver>, EngineError> {
    let method = method(scenario)?;
    // On this thread and no pool's: there, what waits for it could be what it waits for.
    let prepared = scenario.initial().prepare();
    prepared.map_err(|error| EngineError::Levels(error.to_string()))?;
    Ok((method.build)(scenario)?)
}

/// What a run will need, before it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Bytes.
    pub memory: u64,
    /// Δt.
    pub time_step: f64,
    /// What the method says about Δt.
    pub advice: StepAdvice,
    /// Steps to the scene's end, where it has one.
    pub steps: Option<u64>,
    /// Bytes of the detectors' records until then, if they are kept.
    pub records: u64,
    /// Impulse responses of a soft inverse filter, each of the steps up to the turn.
    pub responses: Option<(usize, u64)>,
    /// Site-steps per second and what ran, where it was measured.
    pub measured: Option<(f64, solver::Report)>,
}

impl Estimate {
    /// Seconds that the run will take, where that can be said.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn seconds(&self, sites: usize) -> Option<f64> {
        let (rate, _) = self.measured.as_ref()?;
        let responses = self.responses.map_or(0.0, |(count, steps)| count as f64 * steps as f64);
        Some((self.steps? as f64 + responses) * sites as f64 / rate)
    }
}

/// What a run of `scenario` will need; `probe` also builds it and steps for about that long to measure the rate.
///
/// # Errors
/// As [`build`].
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub fn estimate(scenario: &Scenario, probe: Option<Duration>) -> Result<Estimate, EngineError> {
    let method = method(scenario)?;
    let time_step = method.time_step(scenario);
    let measured = match probe {
        None => None,
        Some(limit) => {
            let mut solver = build(scenario)?;
            let mut taps = Taps::of(scenario);
            let mut best: f64 = 0.0;
            let mut batch = 1;
            let start = Instant::now();
            while start.elapsed() < limit {
                let begin = Instant::now();
                solver.advance(batch, &mut taps)?;
                let seconds = begin.elapsed().as_secs_f64().max(1e-9);
                best = best.max(batch as f64 * scenario.grid().sites() as f64 / seconds);
                // Batches long enough that the clock and the start of the threads do not count.
                if seconds < limit.as_secs_f64() / 8.0 {
                    batch = batch.saturating_mul(2);
                }
                taps.clear();
            }
            Some((best, solver.report()))
        }
    };
    let steps = scenario.time().end.map(|end| steps_between(0.0, end, time_step));
    Ok(Estimate {
        memory: (method.memory)(scenario),
        time_step,
        advice: method.advice(scenario),
        steps,
        responses: responses(method, scenario, time_step),
        records: record_bytes(
            scenario.detectors().len() as u64,
            records_of(scenario.detectors(), steps.unwrap_or(0)),
        ),
        measured,
    })
}

/// How many impulse responses are computed when time is reversed, and of how many steps.
fn responses(method: &Method, scenario: &Scenario, time_step: f64) -> Option<(usize, u64)> {
    let mirror = scenario.mirror()?;
    if mirror.method != MirrorMethod::InverseFilter || mirror.drive != Drive::Soft {
        return None;
    }
    let sites = MirrorSites::new(scenario, method)?;
    Some((sites.playing(mirror).len(), steps_between(0.0, mirror.at, time_step)))
}

/// How many of `steps` steps have a record, about: those at which a detector records.
pub fn records_of(detectors: &[Detector], steps: u64) -> u64 {
    let each = detectors.iter().map(|detector| steps / detector.every.max(1));
    each.fold(0, u64::saturating_add).min(steps)
}

/// Bytes of so many records of so many detectors: a value each, and the time.
pub fn record_bytes(detectors: u64, records: u64) -> u64 {
    if detectors == 0 {
        return 0;
    }
    records.saturating_mul(8).saturating_mul(detectors + 1)
}

/// Bytes of the places of so many trajectories at so many times, and the times.
pub fn path_bytes(trajectories: u64, times: u64) -> u64 {
    if trajectories == 0 {
        return 0;
    }
    times.saturating_mul(trajectories.saturating_mul(24).saturating_add(8))
}

/// Steps of Δt from one time to the step nearest to another, negative where that lies behind; of two steps equally near it is that of the earlier time, from wherever
/// it is counted: runs that are divided into batches otherwise, or turned back, find the same step. Whole, except for a Δt of 0.
pub fn nearest_step(from: f64, to: f64, time_step: f64) -> f64 {
    // What rounding may leave of a place between two steps, in steps.
    const ROUNDING: f64 = 1e-6;
    let apart = (to - from) / time_step.abs();
    (apart - 0.5 - ROUNDING).ceil() * time_step.signum()
}

/// Steps of Δt from one time to the step nearest to another ([`nearest_step`]); 0 if that lies behind.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped, and saturating"
)]
pub fn steps_between(from: f64, to: f64, time_step: f64) -> u64 {
    nearest_step(from, to, time_step).max(0.0) as u64
}
