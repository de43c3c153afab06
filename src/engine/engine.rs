//! A run without a thread.

mod edit;
pub(super) use edit::differ_in_parts_only;
mod exchanged;
mod observables;
mod pictures;
mod state;
mod undriven;

use super::EngineError;
use super::build::{self, Estimate, steps_between};
use super::expectations::{self, Verdict};
use super::log::ObservableLog;
use super::maps::Maps;
use super::mirror::gain::Replay;
use super::mirror::signal::Watch;
use super::mirror::{Leg, Timeline};
use super::trajectories::{KeptCurrents, Paths};
use crate::backend::ranks;
use crate::field::FieldData;
use crate::physics::{Equation, Observables};
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::{Clock, MOST_STEPS, Report, Solver, SolverError, SolverState, Taps};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use undriven::Undriven;

/// What [`Engine::update`] did; the later ones include the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing that concerns the solver: view, texts, expectations, detectors.
    Kept,
    /// Δt, the medium or the constants were changed in the running solver.
    Edited,
    /// Another solver was built and continues from the field and the clock.
    Rebuilt,
    /// Another grid, equation or initial state: the run is back at t = 0.
    Restarted,
}

/// Progress of [`Engine::run_until`].
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps taken in this call.
    pub done: u64,
    /// The total number of steps of this call.
    pub total: u64,
    /// Seconds spent stepping in this call.
    pub seconds: f64,
}

/// How [`Engine::run_until`] ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunEnd {
    /// Steps taken.
    pub steps: u64,
    /// Seconds spent stepping.
    pub seconds: f64,
    /// Whether the end was reached; `false` if the caller stopped it.
    pub reached: bool,
}

/// A snapshot.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) state: SolverState,
    pub(super) taps: Taps,
    pub(super) verdicts: Vec<Verdict>,
    /// The largest |ψ|² so far, while it is watched; methods of sound have theirs in their state.
    pub(super) peak: Vec<f32>,
    /// Its place on the timeline of a mirror.
    pub(super) leg: Option<Leg>,
    /// Bohm's trajectories so far.
    pub(super) paths: Paths,
}

/// A run of one scenario, stepped by the caller.
///
/// Results do not depend on how the steps are divided into calls: one call with n steps equals n calls with one step, bit for
/// bit.
pub struct Engine {
    pub(super) scenario: Arc<Scenario>,
    pub(super) solver: Box<dyn Solver>,
    pub(super) taps: Taps,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) log: Option<ObservableLog>,
    /// At the first step, for the drift.
    pub(super) initial: Observables,
    /// The last ones taken, and their step.
    pub(super) latest: (u64, Observables),
    /// Whether nothing that they depend on has been edited since.
    pub(super) current: bool,
    /// Those since the last edit, where nothing drives the field.
    undriven: Option<Undriven>,
    /// The way out and back of a scene with a mirror.
    pub(super) timeline: Option<Timeline>,
    /// The result of each way back.
    pub(super) replays: Vec<Replay>,
    /// Seconds that taking them took.
    observables_cost: f64,
    snapshot: Option<Snapshot>,
    failure: Option<EngineError>,
    pub(super) maps: Maps,
    /// The field at t = 0, once the measures of ψ have been requested.
    start: Option<Arc<FieldData>>,
    /// Bohm's trajectories so far, and the currents that move them.
    pub(super) paths: Paths,
    pub(super) currents: KeptCurrents,
    /// Called during long tasks within a step.
    pub(super) watch: Option<Box<Watch>>,
}

impl Engine {
    /// Builds the solver; the run is at t = 0.
    ///
    /// # Errors
    /// Why the solver could not be built.
    pub fn new(scenario: Arc<Scenario>) -> Result<Self, EngineError> {
        let solver = build::build(&scenario)?;
        let mut engine = Self {
            taps: Taps::of(&scenario),
            verdicts: vec![Verdict::Pending; scenario.expectations().len()],
            log: None,
            initial: Observables::default(),
            latest: (0, Observables::default()),
            current: false,
            undriven: None,
            timeline: None,
            replays: Vec::new(),
            observables_cost: 0.0,
            snapshot: None,
            failure: None,
            maps: Maps::default(),
            start: None,
            paths: Paths::of(&scenario, &solver.clock()),
            currents: None,
            watch: None,
            scenario,
            solver,
        };
        engine.initial = engine.observables()?;
        if engine.initial.norm == 0.0 && engine.scenario.model().equation() == Equation::Schrodinger {
            return Err(EngineError::NoState);
        }
        engine.watch_shown_peak()?;
        engine.begin_timeline()?;
        engine.record_start()?;
        engine.measure()?;
        Ok(engine)
    }

    /// Detectors without records take their first one now, at t = 0 or when they are placed; means and velocities count from it.
    pub(super) fn record_start(&mut self) -> Result<(), EngineError> {
        if !self.taps.times().is_empty() || self.taps.taps().is_empty() {
            return Ok(());
        }
        // Transducers have done what is due now.
        let transducers = self.taps.transducers_mut().take();
        let recorded = self.solver.observe(&mut self.taps);
        *self.taps.transducers_mut() = transducers;
        Ok(recorded?)
    }

    /// What a scenario will need; see [`build::estimate`].
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn estimate(scenario: &Scenario, probe: Option<Duration>) -> Result<Estimate, EngineError> {
        build::estimate(scenario, probe)
    }

    /// Reports the progress of long tasks within a step (the impulse responses of a mirror) to `watch`; if it cancels one, the run stays before that step.
    pub fn set_watch(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
    }

    /// The scenario that runs.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// The clock of the run.
    pub fn clock(&self) -> Clock {
        self.solver.clock()
    }

    /// What runs.
    pub fn report(&self) -> Report {
        self.solver.report()
    }

    /// The detectors with their records.
    pub fn taps(&self) -> &Taps {
        &self.taps
    }

    /// Keeps at most `most` records per detector by dropping every other one; for runs without an end.
    pub fn limit_records(&mut self, most: usize) {
        if self.taps.times().len() > most.max(1) {
            self.taps.thin();
        }
    }

    /// One verdict per expectation.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Why the run cannot continue, if it cannot.
    pub fn failure(&self) -> Option<&EngineError> {
        self.failure.as_ref()
    }

    /// Whether there is a snapshot.
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Drops all records of the detectors except the last, from which peaks and predictions continue; returns how many are left.
    pub fn forget_records(&mut self) -> usize {
        self.taps.keep_last();
        self.taps.times().len()
    }

    /// Takes `steps` steps. Expectations and the kept observables are measured at exactly their steps.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite; the run then stays where it is until it is reset, restored or updated.
    pub fn advance(&mut self, steps: u64) -> Result<(), EngineError> {
        let mut left = steps;
        let mut known = None;
        while left > 0 {
            if let Some(failure) = &self.failure {
                return Err(failure.clone());
            }
            let result = self.until_turn();
            let mut piece = left.min(self.keep_failure(result)?);
            let clock = self.clock();
            if let Some(due) = expectations::next_due(self.scenario.expectations(), &self.verdicts, &clock) {
                piece = piece.min(due);
            }
            let rows = self.rows_in_steps();
            if let Some(log) = self.log.as_ref().filter(|_| !rows) {
                piece = piece.min(log.until_next(clock.steps));
            }
            if let Some(due) = self.until_exchanged() {
                piece = piece.min(due);
            }
            if !self.maps.watches() {
                let together = self.follow_together(piece)?;
                if together > 0 {
                    // What is known is the field before these steps.
                    known = None;
                    left -= together;
                    self.measure()?;
                    self.note_replay()?;
                    continue;
                }
            }
            if self.maps.watches() || !self.paths.is_empty() {
                piece = 1;
            }
            let before = self.near_paths(known.take())?;
            self.taps
                .observe_every(self.log.as_ref().filter(|_| rows).map(|log| log.every));
            let result = self.solver.advance(piece, &mut self.taps);
            self.taps.observe_every(None);
            let observed = self.taps.take_observed();
            self.guard(result)?;
            self.log_observed(observed)?;
            self.keep_exchange()?;
            if self.maps.watches() {
                let result = self.solver.field();
                let field = self.guard(result)?;
                self.maps.watch(&field);
            }
            if let Some(before) = before {
                let after = self.field_near(before.boxes.clone());
                let after = self.guard(after)?;
                self.follow_paths(&before, &after);
                known = Some((self.phase(), after));
            }
            left -= piece;
            self.measure()?;
            self.note_replay()?;
        }
        Ok(())
    }

    /// Steps from here to the step nearest to time `t`.
    ///
    /// # Errors
    /// [`EngineError::Behind`] if `t` lies more than half a step in the past, [`EngineError::TooFar`] if it is more than [`MOST_STEPS`] steps away.
    pub fn steps_until(&self, t: f64) -> Result<u64, EngineError> {
        let clock = self.clock();
        let steps = (t - clock.time) / clock.time_step;
        if steps < -0.5 - 1e-9 {
            return Err(EngineError::Behind {
                target: t,
                time: clock.time,
                direction: if clock.time_step < 0.0 { "backwards" } else { "forwards" },
            });
        }
        if steps > MOST_STEPS {
            return Err(EngineError::TooFar {
                target: t,
                steps,
                step: clock.time_step,
            });
        }
        Ok(steps_between(clock.time, t, clock.time_step))
    }

    /// Steps to the step nearest to time `t`; `progress` is called about twenty times per second and may stop the run
    /// between two batches.
    ///
    /// # Errors
    /// As [`Engine::advance`] and [`Engine::steps_until`].
    pub fn run_until(
        &mut self,
        t: f64,
        progress: &mut dyn FnMut(&mut Self, &Progress) -> ControlFlow<()>,
    ) -> Result<RunEnd, EngineError> {
        let steps = self.steps_until(t)?;
        self.run_steps(steps, progress)
    }

    /// Takes `total` steps like [`Engine::run_until`].
    ///
    /// # Errors
    /// As [`Engine::advance`].
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of steps, from measured times"
    )]
    pub fn run_steps(
        &mut self,
        total: u64,
        progress: &mut dyn FnMut(&mut Self, &Progress) -> ControlFlow<()>,
    ) -> Result<RunEnd, EngineError> {
        const PIECE_SECONDS: f64 = 0.05;
        /// The longest batch that `progress` waits for, by the time of single steps.
        const MOST_SECONDS: f64 = 10.0;
        let (mut done, mut seconds, mut unchecked) = (0, 0.0, 0.0);
        let mut piece = 1;
        let mut reached = true;
        while done < total {
            let steps = piece.min(total - done);
            let start = Instant::now();
            let before = self.clock().steps;
            match self.advance(steps) {
                Err(EngineError::Cancelled(_)) => reached = false,
                taken => taken?,
            }
            // Processes that share a run use the clock of the first.
            let [took, cost] = ranks::agree([start.elapsed().as_secs_f64(), self.observables_cost]);
            done += self.clock().steps - before;
            seconds += took;
            unchecked += took;
            // Observables cost a pass over the field: at most a twentieth of the time, and at the end in any case.
            if unchecked > 20.0 * cost || done == total {
                self.observables()?;
                unchecked = 0.0;
            }
            let now = Progress { done, total, seconds };
            let stops = progress(self, &now).is_break() && done < total;
            let [stops] = ranks::agree([f64::from(u8::from(stops))]);
            if stops != 0.0 {
                reached = false;
            }
            if !reached {
                break;
            }
            let step_seconds = took.max(1e-9) / steps as f64;
            tracing::trace!(steps, took, "steps in one call");
            piece = ((PIECE_SECONDS / step_seconds) as u64).clamp(1, steps.saturating_mul(4));
            // Whole batches: half of one costs a method that fuses steps more than it saves, and what was measured of fewer steps says too much of a batch.
            let batch = self.solver.report().batch.max(1);
            if piece >= batch {
                piece -= piece % batch;
            } else {
                piece = batch.min((MOST_SECONDS / step_seconds) as u64).max(piece);
            }
        }
        if !reached {
            self.observables()?;
        }
        Ok(RunEnd {
            steps: done,
            seconds,
            reached,
        })
    }

    /// The closed field, x fastest.
    ///
    /// # Errors
    /// If the back end fails or memory runs out.
    pub fn field(&mut self) -> Result<FieldData, EngineError> {
        Ok(self.solver.field()?)
    }

    /// Notes that the run cannot continue.
    fn keep_failure<T>(&mut self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| {
            if !matches!(error, EngineError::Cancelled(_)) {
                self.failure = Some(error.clone());
            }
        })
    }

    /// Notes that the back end failed.
    pub(in crate::engine) fn guard<T>(&mut self, result: Result<T, SolverError>) -> Result<T, EngineError> {
        result.map_err(|error| {
            let error = EngineError::from(error);
            self.failure = Some(error.clone());
            error
        })
    }

    /// Notes that the energy grows.
    fn growing(&mut self, times: f64) -> EngineError {
        let clock = self.clock();
        let error = EngineError::Growing {
            steps: clock.steps,
            time: clock.time,
            times,
            remedy: undriven::remedy(&self.scenario, clock.time_step),
        };
        self.failure = Some(error.clone());
        error
    }

    /// Notes that the field is not finite.
    fn not_finite(&mut self) -> EngineError {
        let clock = self.clock();
        let advice =
            crate::solver::find(&self.scenario.solver().method).map(|method| method.advice(&self.scenario).sensible);
        let step = clock.time_step.abs();
        let remedy = match advice {
            Some(sensible) if step > sensible => {
                format!(
                    "Δt = {} is larger than the recommended {}: reduce time.step, or change a formula in a [[layer]] that divides by zero or grows without bound, then reset",
                    crate::units::short(step),
                    crate::units::four_digits(sensible)
                )
            }
            _ => "look for a formula in a [[layer]] that divides by zero or grows without bound, or a very strong \
                  interaction; change it, or reduce time.step, then reset"
                .to_owned(),
        };
        let error = EngineError::NonFinite {
            steps: clock.steps,
            time: clock.time,
            remedy,
        };
        self.failure = Some(error.clone());
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    /// The field is the same; what it is said to have been decides.
    #[test]
    fn growing_without_a_drive_stops_the_run() {
        let text = "format = 1\ntitle = \"t\"\n[grid]\nsize = [16, 16]\nspacing = 0.1\n[acoustic]\nspeed = 340.0\n[[pulse]]\ncenter = [0.8, 0.8]\nwidth = 0.2\n";
        let source = "[[source]]\nat = [0.5, 0.5]\nsignal = \"sine\"\nfrequency = 100\namplitude = 1\n";
        for (text, stops) in [(text.to_owned(), true), (format!("{text}{source}"), false)] {
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
            let mut engine = Engine::new(Arc::new(scenario)).unwrap();
            engine.advance(10).unwrap();
            let now = engine.observables().unwrap();
            engine.undriven = Some(Undriven::new(Observables {
                invariant: now.invariant / 3.0,
                peak: now.peak / 2.0,
                ..now
            }));
            let result = engine.observables();
            assert_eq!(matches!(result, Err(EngineError::Growing { .. })), stops, "{result:?}");
            assert_eq!(engine.advance(1).is_err(), stops);
        }
    }
}
