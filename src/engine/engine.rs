//! A run without a thread.

mod edit;
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
    /// Nothing that the solver sees: view, texts, expectations, detectors.
    Kept,
    /// Δt, the medium or the constants were changed in the running solver.
    Edited,
    /// Another solver was built and carries the field and the clock on.
    Rebuilt,
    /// Another grid, equation or initial state: the run is back at t = 0.
    Restarted,
}

/// How far [`Engine::run_until`] has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Where it stands.
    pub clock: Clock,
    /// Steps taken in this call.
    pub done: u64,
    /// Steps that this call takes in all.
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
    /// Whether the end was reached; `false` where the caller stopped it.
    pub reached: bool,
}

/// A kept state.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) state: SolverState,
    pub(super) taps: Taps,
    pub(super) verdicts: Vec<Verdict>,
    /// The largest |ψ|² so far, while it is watched; methods of sound have theirs in their state.
    pub(super) peak: Vec<f32>,
    /// Where it lies on the timeline of a mirror.
    pub(super) leg: Option<Leg>,
    /// Bohm's trajectories so far.
    pub(super) paths: Paths,
}

/// A run of one scenario, stepped by the caller.
///
/// Results do not depend on how the steps are cut into calls: one call with n steps equals n calls with one step, bit for
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
    /// Whether nothing that they depend on was edited since.
    pub(super) current: bool,
    /// Those since the last edit, where nothing drives the field.
    undriven: Option<Undriven>,
    /// The way there and back of a scene with a mirror.
    pub(super) timeline: Option<Timeline>,
    /// What each way back of it came to.
    pub(super) replays: Vec<Replay>,
    /// Seconds that taking them took.
    observables_cost: f64,
    snapshot: Option<Snapshot>,
    failure: Option<EngineError>,
    pub(super) maps: Maps,
    /// The field at t = 0, once the measures of ψ were asked for.
    start: Option<Arc<FieldData>>,
    /// Bohm's trajectories so far, and what they are followed with.
    pub(super) paths: Paths,
    pub(super) currents: KeptCurrents,
    /// Hears of long tasks within a step.
    pub(super) watch: Option<Box<Watch>>,
}

impl Engine {
    /// Builds the solver; the run stands at t = 0.
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
        engine.begin_timeline()?;
        engine.record_start()?;
        engine.measure()?;
        Ok(engine)
    }

    /// The first record of detectors without any is that of now, from which means and velocities count: of t = 0, or of when they were placed.
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

    /// Has long tasks within a step (the impulse responses of a mirror) tell `watch` how far they are; where it breaks them off the run stays before them.
    pub fn set_watch(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
    }

    /// The scenario that runs.
    #[must_use]
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// Where the run stands.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.solver.clock()
    }

    /// What runs.
    #[must_use]
    pub fn report(&self) -> Report {
        self.solver.report()
    }

    /// The detectors with their records.
    #[must_use]
    pub fn taps(&self) -> &Taps {
        &self.taps
    }

    /// Keeps at most `most` records a detector by forgetting every other one; for runs without an end.
    pub fn limit_records(&mut self, most: usize) {
        if self.taps.times().len() > most.max(1) {
            self.taps.thin();
        }
    }

    /// One verdict per expectation.
    #[must_use]
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Why the run cannot go on, if it cannot.
    #[must_use]
    pub fn failure(&self) -> Option<&EngineError> {
        self.failure.as_ref()
    }

    /// Whether there is a snapshot to go back to.
    #[must_use]
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Forgets all records of the detectors but the last, from which peaks and predictions go on; how many are left.
    pub fn forget_records(&mut self) -> usize {
        self.taps.keep_last();
        self.taps.times().len()
    }

    /// Keeps the observables of every `every`-th step from now on; [`Engine::log`] gives them. Rows that were kept before stay.
    ///
    /// # Errors
    /// If the present ones cannot be taken.
    pub fn keep_observables(&mut self, every: u64) -> Result<(), EngineError> {
        self.solver.keep_velocity()?;
        match &mut self.log {
            Some(log) => log.every = every.max(1),
            None => self.log = Some(ObservableLog::new(every)),
        }
        self.measure()?;
        // Without the velocity the energy at the start was not known.
        if self.clock().steps == 0 {
            self.initial = self.latest.1;
        }
        Ok(())
    }

    /// Forgets all kept observables but the last row; how many are left.
    pub fn forget_rows(&mut self) -> usize {
        let Some(log) = &mut self.log else { return 0 };
        log.rows.drain(..log.rows.len().saturating_sub(1));
        log.rows.len()
    }

    /// The kept observables.
    #[must_use]
    pub fn log(&self) -> Option<&ObservableLog> {
        self.log.as_ref()
    }

    /// Takes `steps` steps. Expectations and the kept observables are measured at exactly their steps.
    ///
    /// # Errors
    /// If the back end fails or the field is found not to be finite; the run then stays where it is until
    /// it is reset, restored or updated.
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
            if !self.maps.watches() {
                let together = self.follow_together(piece)?;
                if together > 0 {
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
    /// [`EngineError::Behind`] if `t` lies more than half a step behind, [`EngineError::TooFar`] if more than [`MOST_STEPS`] lie before it.
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

    /// Steps to the step nearest to time `t`; `progress` is called about twenty times a second and may stop the run
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
        /// The longest batch that `progress` waits for.
        const MOST_SECONDS: f64 = 1.0;
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
            // Processes that share a run go by the clock of the first.
            let [took, cost] = ranks::agree([start.elapsed().as_secs_f64(), self.observables_cost]);
            done += self.clock().steps - before;
            seconds += took;
            unchecked += took;
            // A look at the field costs a pass over it: at most a twentieth of the time, and at the end in any case.
            if unchecked > 20.0 * cost || done == total {
                self.observables()?;
                unchecked = 0.0;
            }
            let now = Progress {
                clock: self.clock(),
                done,
                total,
                seconds,
            };
            let stops = progress(self, &now).is_break() && done < total;
            let [stops] = ranks::agree([f64::from(u8::from(stops))]);
            if stops != 0.0 {
                reached = false;
            }
            if !reached {
                break;
            }
            let fitting = steps as f64 * PIECE_SECONDS / took.max(1e-9);
            piece = (fitting as u64).clamp(1, steps.saturating_mul(4));
            // Whole batches: half of one costs a method that fuses steps more than it saves.
            let batch = self.solver.report().batch.max(1);
            let batch_seconds = batch as f64 * took / steps as f64;
            if piece >= batch {
                piece -= piece % batch;
            } else if batch_seconds < MOST_SECONDS {
                piece = batch;
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

    /// Sums over the field now.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite.
    pub fn observables(&mut self) -> Result<Observables, EngineError> {
        let start = Instant::now();
        let result = self.solver.observables();
        let now = self.guard(result)?;
        self.observables_cost = start.elapsed().as_secs_f64();
        let energy = match self.scenario.model().equation() {
            Equation::Schrodinger => now.energy,
            // The energy itself may be unknown.
            Equation::Acoustic => now.invariant,
        };
        if !(now.norm.is_finite() && energy.is_finite()) {
            return Err(self.not_finite());
        }
        let undriven = self.undriven.filter(|_| self.current && !self.is_driven());
        if let Some(times) = undriven.and_then(|undriven| undriven.growth(&now)) {
            return Err(self.growing(times));
        }
        let since = undriven.map_or_else(|| Undriven::new(now), |undriven| undriven.with(now));
        self.undriven = (!self.is_driven()).then_some(since);
        self.latest = (self.clock().steps, now);
        self.current = true;
        Ok(now)
    }

    /// Whether energy may come into the field: sources and mirrors put it there, a medium that damps gives back what it took where time runs backwards.
    /// Of ψ, whose potential may change in time, nothing is said.
    fn is_driven(&self) -> bool {
        self.scenario.model().equation() != Equation::Acoustic
            || !self.scenario.sources().is_empty()
            || self.scenario.mirror().is_some()
            || self.clock().time_step < 0.0
    }

    /// Whether [`Engine::latest_observables`] are those of the present state.
    #[must_use]
    pub fn observables_are_current(&self) -> bool {
        self.current && self.latest.0 == self.clock().steps
    }

    /// The observables taken last, with their step.
    #[must_use]
    pub fn latest_observables(&self) -> (u64, Observables) {
        self.latest
    }

    /// The observables at t = 0.
    #[must_use]
    pub fn initial_observables(&self) -> Observables {
        self.initial
    }

    /// What a closed run conserves, over its value at t = 0, minus 1, as of the observables taken last: the norm of ψ, of sound [`Observables::invariant`].
    #[must_use]
    pub fn drift(&self) -> f64 {
        let quantity = |observables: &Observables| match self.scenario.model().equation() {
            Equation::Schrodinger => observables.norm,
            Equation::Acoustic => observables.invariant,
        };
        let first = quantity(&self.initial);
        if first == 0.0 {
            0.0
        } else {
            quantity(&self.latest.1) / first - 1.0
        }
    }

    /// The closed field, x fastest.
    ///
    /// # Errors
    /// If the back end fails or memory runs out.
    pub fn field(&mut self) -> Result<FieldData, EngineError> {
        Ok(self.solver.field()?)
    }

    /// Remembers that the run cannot go on.
    fn keep_failure<T>(&mut self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| {
            if !matches!(error, EngineError::Cancelled(_)) {
                self.failure = Some(error.clone());
            }
        })
    }

    /// Remembers that the back end failed.
    pub(in crate::engine) fn guard<T>(&mut self, result: Result<T, SolverError>) -> Result<T, EngineError> {
        result.map_err(|error| {
            let error = EngineError::from(error);
            self.failure = Some(error.clone());
            error
        })
    }

    /// Remembers that the energy grows.
    fn growing(&mut self, times: f64) -> EngineError {
        let clock = self.clock();
        let error = EngineError::Growing {
            steps: clock.steps,
            time: clock.time,
            times,
        };
        self.failure = Some(error.clone());
        error
    }

    /// Remembers that the field is not finite.
    fn not_finite(&mut self) -> EngineError {
        let clock = self.clock();
        let advice = crate::solver::find(&self.scenario.solver().method)
            .map(|method| (method.step_advice)(&self.scenario).sensible);
        let step = clock.time_step.abs();
        let remedy = match advice {
            Some(sensible) if step > sensible => {
                format!("Δt = {step} is larger than the sensible {sensible:.4}; reduce time.step, then reset")
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
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    /// Rows of every step are those that sums between steps give, and none is missing or there twice, however the run is cut; single precision is rounded once more.
    #[test]
    fn kept_observables_within_steps() {
        let text = "format = 1\ntitle = \"t\"\n[grid]\nsize = [96, 64]\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\n[solver]\nmethod = \"trotter\"\nvariant = \"blocked\"\n[[packet]]\ncenter = [40.0, 30.0]\nwidth = [8.0, 8.0]\nmomentum = [0.5, 0.2]\n";
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        let scenario = Arc::new(scenario);
        let mut engine = Engine::new(Arc::clone(&scenario)).unwrap();
        assert!(engine.solver.sums_in_steps());
        engine.keep_observables(2).unwrap();
        for steps in [1, 5, 27, 3] {
            engine.advance(steps).unwrap();
        }
        let rows = engine.log().unwrap().rows.clone();
        assert_eq!(
            rows.iter().map(|row| row.step).collect::<Vec<_>>(),
            (0..=36).step_by(2).collect::<Vec<_>>()
        );
        // From the middle on: the same steps, with the same bits.
        let mut first = Engine::new(Arc::clone(&scenario)).unwrap();
        first.advance(7).unwrap();
        let mut resumed = Engine::new(Arc::clone(&scenario)).unwrap();
        resumed.solver.load(&first.solver.save().unwrap()).unwrap();
        resumed.keep_observables(2).unwrap();
        resumed.advance(12).unwrap();
        assert_eq!(resumed.log().unwrap().rows, rows[4..10]);
        let mut other = Engine::new(scenario).unwrap();
        for row in rows {
            other.advance(row.step - other.clock().steps).unwrap();
            let exact = other.observables().unwrap();
            assert_eq!(row.time, other.clock().time);
            // Sums of positive terms are off by a few ε/2 of 6e-8; |H| is below 8.
            assert!((row.observables.norm - exact.norm).abs() < 6e-7, "{row:?} {exact:?}");
            assert!(
                (row.observables.energy - exact.energy).abs() < 8.0 * 6e-7,
                "{row:?} {exact:?}"
            );
        }
    }

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
