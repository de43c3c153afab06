//! A run without a thread.

use super::EngineError;
use super::build::{self, Estimate, steps_between};
use super::expectations::{self, Verdict};
use super::log::{ObservableLog, Row};
use super::maps::{self, Maps};
use super::mirror::{Leg, Phase, Timeline};
use crate::field::FieldData;
use crate::physics::{Equation, Observables};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{
    Clock, Edit, FieldImage, FieldVolume, ImageRequest, Report, Solver, SolverError, SolverState, Taps, VolumeRequest,
};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    /// Where it lies on the timeline of a mirror.
    pub(super) leg: Option<Leg>,
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
    /// The way there and back of a scene with a mirror.
    pub(super) timeline: Option<Timeline>,
    /// Seconds that taking them took.
    observables_cost: f64,
    snapshot: Option<Snapshot>,
    failure: Option<EngineError>,
    maps: Maps,
}

impl Engine {
    /// Builds the solver; the run stands at t = 0.
    ///
    /// # Errors
    /// Why the solver could not be built.
    pub fn new(scenario: Arc<Scenario>) -> Result<Self, EngineError> {
        let solver = build::build(&scenario)?;
        let mut engine = Self {
            taps: Taps::new(scenario.grid(), scenario.detectors()),
            verdicts: vec![Verdict::Pending; scenario.expectations().len()],
            log: None,
            initial: Observables::default(),
            latest: (0, Observables::default()),
            current: false,
            timeline: None,
            observables_cost: 0.0,
            snapshot: None,
            failure: None,
            maps: Maps::default(),
            scenario,
            solver,
        };
        engine.initial = engine.observables()?;
        engine.begin_timeline()?;
        engine.measure()?;
        Ok(engine)
    }

    /// What a scenario will need; see [`build::estimate`].
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn estimate(scenario: &Scenario, probe: Option<Duration>) -> Result<Estimate, EngineError> {
        build::estimate(scenario, probe)
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

    /// Keeps the observables of every `every`-th step from now on; [`Engine::log`] gives them.
    ///
    /// # Errors
    /// If the present ones cannot be taken.
    pub fn keep_observables(&mut self, every: u64) -> Result<(), EngineError> {
        self.log = Some(ObservableLog::new(every));
        self.measure()
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
            if let Some(log) = &self.log {
                piece = piece.min(log.until_next(clock.steps));
            }
            if self.maps.watches() {
                piece = 1;
            }
            let result = self.solver.advance(piece, &mut self.taps);
            self.guard(result)?;
            if self.maps.watches() {
                let result = self.solver.field();
                let field = self.guard(result)?;
                self.maps.watch(&field);
            }
            left -= piece;
            self.measure()?;
        }
        Ok(())
    }

    /// Steps from here to the step nearest to time `t`.
    ///
    /// # Errors
    /// [`EngineError::Behind`] if `t` lies more than half a step behind.
    pub fn steps_until(&self, t: f64) -> Result<u64, EngineError> {
        let clock = self.clock();
        if (t - clock.time) / clock.time_step < -0.5 - 1e-9 {
            return Err(EngineError::Behind {
                target: t,
                time: clock.time,
                direction: if clock.time_step < 0.0 { "backwards" } else { "forwards" },
            });
        }
        Ok(steps_between(clock.time, t, clock.time_step))
    }

    /// Steps to the step nearest to time `t`; `progress` is called about twenty times a second and may stop the run
    /// between two batches.
    ///
    /// # Errors
    /// As [`Engine::advance`], and [`EngineError::Behind`] if `t` lies more than half a step behind.
    pub fn run_until(
        &mut self,
        t: f64,
        progress: &mut dyn FnMut(&Self, &Progress) -> ControlFlow<()>,
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
        progress: &mut dyn FnMut(&Self, &Progress) -> ControlFlow<()>,
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
            self.advance(steps)?;
            let took = start.elapsed().as_secs_f64();
            done += steps;
            seconds += took;
            unchecked += took;
            // A look at the field costs a pass over it: at most a twentieth of the time, and at the end in any case.
            if unchecked > 20.0 * self.observables_cost || done == total {
                self.observables()?;
                unchecked = 0.0;
            }
            let now = Progress {
                clock: self.clock(),
                done,
                total,
                seconds,
            };
            if progress(self, &now).is_break() && done < total {
                reached = false;
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

    /// Reduces the field to a picture.
    ///
    /// # Errors
    /// If the back end fails or the picture shows that the field is not finite; `image` is then of no use.
    pub fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), EngineError> {
        if self.has_map(request.quantity) {
            self.make_map(request.quantity)?;
            self.maps.draw(self.scenario.grid(), request, image);
        } else {
            self.solver.image(request, image)?;
        }
        self.check_image(image)
    }

    /// Whether a quantity is made of the whole field rather than by the solver.
    fn has_map(&self, quantity: Quantity) -> bool {
        maps::has(quantity, self.scenario.model().equation())
    }

    fn make_map(&mut self, quantity: Quantity) -> Result<(), EngineError> {
        let field = self.solver.field()?;
        // Behind a mirror another medium may stand.
        let back = self
            .timeline
            .as_ref()
            .filter(|timeline| timeline.leg.phase == Phase::Replay);
        let scenario = back.map_or(&self.scenario, |timeline| &timeline.back);
        let time = self.solver.clock().time;
        self.maps.make(quantity, scenario, time, &field);
        Ok(())
    }

    /// Begins a picture of the present state, which [`Engine::take_image`] gives while stepping goes on; `false` if this run has no such thing.
    ///
    /// # Errors
    /// If the back end fails.
    pub fn begin_image(&mut self, request: &ImageRequest) -> Result<bool, EngineError> {
        Ok(!self.has_map(request.quantity) && self.solver.begin_image(request)?)
    }

    /// The picture begun last, once; `false` if there is none.
    ///
    /// # Errors
    /// As [`Engine::image`].
    pub fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, EngineError> {
        let result = self.solver.take_image(image);
        let taken = self.guard(result)?;
        if taken {
            self.check_image(image)?;
        }
        Ok(taken)
    }

    /// Reduces a field of three dimensions to a volume.
    ///
    /// # Errors
    /// As [`Engine::image`].
    pub fn volume(&mut self, request: &VolumeRequest, volume: &mut FieldVolume) -> Result<(), EngineError> {
        if self.has_map(request.quantity) {
            self.make_map(request.quantity)?;
            let (maps, grid) = (&self.maps, self.scenario.grid());
            volume.fill(request, |plane, image| {
                maps.draw(grid, plane, image);
                Ok(())
            })?;
        } else {
            self.solver.volume(request, volume)?;
        }
        if self.failure.is_none() && volume.top.is_nan() {
            return Err(self.not_finite());
        }
        Ok(())
    }

    fn check_image(&mut self, image: &FieldImage) -> Result<(), EngineError> {
        if self.failure.is_none() && !image.value.iter().all(|value| value.is_finite()) {
            return Err(self.not_finite());
        }
        Ok(())
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
        if !(now.norm.is_finite() && now.energy.is_finite()) {
            return Err(self.not_finite());
        }
        self.latest = (self.clock().steps, now);
        self.current = true;
        Ok(now)
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

    /// Norm over the norm at t = 0, minus 1, as of the observables taken last (energy for acoustic scenes).
    #[must_use]
    pub fn drift(&self) -> f64 {
        let quantity = |observables: &Observables| match self.scenario.model().equation() {
            Equation::Schrodinger => observables.norm,
            Equation::Acoustic => observables.energy,
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

    /// Goes on with an edited scene; says what that took. On an error the run goes on with the scene that it had.
    ///
    /// # Errors
    /// If the new scene cannot be run.
    pub fn update(&mut self, scenario: Arc<Scenario>) -> Result<Change, EngineError> {
        let method = build::method(&scenario)?;
        let old = &self.scenario;
        if !scenario.continues(old) {
            return self.restart(scenario);
        }
        let of_mirror = self.update_mirror(&scenario)?;
        if of_mirror == Some(Change::Restarted) {
            return self.restart(scenario);
        }
        let old = Arc::clone(&self.scenario);
        let old_clock = self.clock();
        let step = build::time_step(method, &scenario).copysign(old_clock.time_step);
        #[expect(clippy::float_cmp, reason = "whether the scene's number is another one")]
        let other_step = build::time_step(method, &old) != step.abs();
        let other_medium =
            old.medium() != scenario.medium() || old.model() != scenario.model() || old.sources() != scenario.sources();
        let other_medium = other_medium || self.way_back_differs(&scenario);
        let change = if old.solver() != scenario.solver() || old.time().imaginary != scenario.time().imaginary {
            self.rebuild(&scenario, step)?;
            Change::Rebuilt
        } else if other_step || other_medium {
            match self.edit(&scenario, other_medium, other_step.then_some(step)) {
                Err(EngineError::Solver(SolverError::Unsupported(_))) => {
                    self.rebuild(&scenario, step)?;
                    Change::Rebuilt
                }
                done => {
                    done?;
                    Change::Edited
                }
            }
        } else {
            Change::Kept
        };
        let change = of_mirror.map_or(change, |own| own.max(change));
        if self.scenario.detectors() != scenario.detectors() {
            let transducers = self.taps.transducers_mut().take();
            self.taps = Taps::new(scenario.grid(), scenario.detectors());
            *self.taps.transducers_mut() = transducers;
            if let Some(snapshot) = &mut self.snapshot {
                let transducers = snapshot.taps.transducers_mut().take();
                snapshot.taps = Taps::new(scenario.grid(), scenario.detectors());
                *snapshot.taps.transducers_mut() = transducers;
            }
        }
        if self.scenario.expectations() != scenario.expectations() {
            self.verdicts = vec![Verdict::Pending; scenario.expectations().len()];
            if let Some(snapshot) = &mut self.snapshot {
                snapshot.verdicts.clone_from(&self.verdicts);
            }
        }
        if scenario.view().quantity != Quantity::Peak {
            self.maps.forget_peak();
        }
        self.scenario = scenario;
        self.current &= change == Change::Kept;
        // A field that was lost stays lost under another medium.
        if self.failure.take().is_some() {
            self.observables()?;
        }
        Ok(change)
    }

    /// Begins another scene at t = 0; the log goes on as it was kept.
    fn restart(&mut self, scenario: Arc<Scenario>) -> Result<Change, EngineError> {
        let log = self.log.as_ref().map(|log| log.every);
        *self = Self::new(scenario)?;
        if let Some(every) = log {
            self.keep_observables(every)?;
        }
        Ok(Change::Restarted)
    }

    /// Back to t = 0. The snapshot stays.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn reset(&mut self) -> Result<(), EngineError> {
        let mut fresh = Self::new(Arc::clone(&self.scenario))?;
        fresh.snapshot = self.snapshot.take();
        if let Some(log) = &self.log {
            fresh.keep_observables(log.every)?;
        }
        *self = fresh;
        Ok(())
    }

    /// Keeps the present state aside.
    ///
    /// # Errors
    /// If the run has failed, the back end fails or memory runs out.
    pub fn snapshot(&mut self) -> Result<(), EngineError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        self.snapshot = Some(self.keep()?);
        Ok(())
    }

    /// The present state.
    pub(super) fn keep(&mut self) -> Result<Snapshot, EngineError> {
        Ok(Snapshot {
            state: self.solver.save()?,
            taps: self.taps.clone(),
            verdicts: self.verdicts.clone(),
            leg: self.timeline.as_ref().map(|timeline| timeline.leg.clone()),
        })
    }

    /// Back to the snapshot, which stays.
    ///
    /// # Errors
    /// If there is none or the back end fails.
    pub fn restore(&mut self) -> Result<(), EngineError> {
        let snapshot = self.snapshot.take().ok_or(EngineError::NoSnapshot)?;
        let done = self.go_to(&snapshot);
        self.snapshot = Some(snapshot);
        done
    }

    /// To a kept state.
    pub(super) fn go_to(&mut self, snapshot: &Snapshot) -> Result<(), EngineError> {
        let mut phase = self.phase();
        if matches!(self.failure, Some(EngineError::Solver(SolverError::Backend { .. }))) {
            // What the back end held is lost with it; the snapshot is not, and another solver can go on from it.
            self.solver = build::build(&self.scenario)?;
            phase = phase.map(|_| Phase::Record);
        }
        let then = snapshot.leg.as_ref().map(|leg| leg.phase);
        if then != phase {
            let scenario = self.leg_scenario(then);
            self.solver.edit(&scenario, &Edit::Medium)?;
        }
        self.solver.load(&snapshot.state)?;
        self.taps = snapshot.taps.clone();
        self.verdicts.clone_from(&snapshot.verdicts);
        if let (Some(timeline), Some(leg)) = (&mut self.timeline, &snapshot.leg) {
            timeline.leg = leg.clone();
        }
        self.failure = None;
        self.maps.forget_peak();
        self.observables()?;
        Ok(())
    }

    /// Turns time round: at the scene's mirror, if it has one, and else Δt → −Δt.
    ///
    /// # Errors
    /// If the method cannot run backwards; with a mirror as [`Engine::turn_now`].
    pub fn reverse(&mut self) -> Result<(), EngineError> {
        if self.timeline.is_some() {
            return self.turn_now();
        }
        let step = -self.clock().time_step;
        Ok(self.solver.edit(&self.scenario, &Edit::TimeStep(step))?)
    }

    /// Medium and Δt in the running solver.
    fn edit(&mut self, scenario: &Scenario, medium: bool, step: Option<f64>) -> Result<(), EngineError> {
        if medium {
            let back = (self.phase() == Some(Phase::Replay)).then(|| scenario.returning());
            self.solver.edit(back.as_ref().unwrap_or(scenario), &Edit::Medium)?;
        }
        if let Some(step) = step {
            self.solver.edit(scenario, &Edit::TimeStep(step))?;
        }
        Ok(())
    }

    /// Another solver on the same grid, with the field, the clock and the snapshot of this one.
    fn rebuild(&mut self, scenario: &Scenario, step: f64) -> Result<(), EngineError> {
        let mut next = build::build(scenario)?;
        let carry = |from: &mut dyn Solver, next: &mut dyn Solver| carry(from, next, scenario, step);
        let present = if self.snapshot.is_some() {
            Some(self.solver.save()?)
        } else {
            None
        };
        if let (Some(snapshot), Some(present)) = (&mut self.snapshot, present) {
            self.solver.load(&snapshot.state)?;
            let carried = carry(self.solver.as_mut(), next.as_mut()).and_then(|()| Ok(next.save()?));
            self.solver.load(&present)?;
            snapshot.state = carried?;
        }
        carry(self.solver.as_mut(), next.as_mut())?;
        self.solver = next;
        Ok(())
    }

    /// Takes over field and clock of another run on the same grid. The size of Δt stays this one's, its sign becomes the other's.
    ///
    /// # Errors
    /// If a back end fails or memory runs out.
    pub(super) fn adopt(&mut self, other: &mut Self) -> Result<(), EngineError> {
        let step = self.clock().time_step.abs().copysign(other.clock().time_step);
        let scenario = Arc::clone(&self.scenario);
        carry(other.solver.as_mut(), self.solver.as_mut(), &scenario, step)?;
        self.initial = other.initial;
        self.failure = None;
        self.maps.forget_peak();
        self.observables()?;
        Ok(())
    }

    /// Measures what is due at the present step: expectations and the kept observables.
    fn measure(&mut self) -> Result<(), EngineError> {
        let clock = self.clock();
        let due: Vec<usize> = expectations::pending(self.scenario.expectations(), &self.verdicts)
            .filter(|(_, expectation)| expectations::is_due(expectation, &clock))
            .map(|(place, _)| place)
            .collect();
        let row_due = self.log.as_ref().is_some_and(|log| log.is_due(clock.steps));
        if due.is_empty() && !row_due {
            return Ok(());
        }
        let observables = self.observables()?;
        let refocus = self.refocus()?;
        for place in due {
            let expectation = &self.scenario.expectations()[place];
            if let Some(value) = expectations::measure(&expectation.subject, &self.taps, &observables, refocus.as_ref())
            {
                self.verdicts[place] = Verdict::of(expectation, value);
            }
        }
        if let Some(log) = self.log.as_mut().filter(|_| row_due) {
            log.rows.push(Row {
                step: clock.steps,
                time: clock.time,
                observables,
                refocus,
            });
        }
        Ok(())
    }

    /// Remembers that the run cannot go on.
    fn keep_failure<T>(&mut self, result: Result<T, EngineError>) -> Result<T, EngineError> {
        result.inspect_err(|error| self.failure = Some(error.clone()))
    }

    /// Remembers that the back end failed.
    fn guard<T>(&mut self, result: Result<T, SolverError>) -> Result<T, EngineError> {
        result.map_err(|error| {
            let error = EngineError::from(error);
            self.failure = Some(error.clone());
            error
        })
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

/// Gives a solver of `scenario` the field and the clock of another one, with a Δt of its own.
fn carry(from: &mut dyn Solver, next: &mut dyn Solver, scenario: &Scenario, step: f64) -> Result<(), EngineError> {
    // Sound is more than its pressure now: the level before says how it moves.
    if from.report().method == next.report().method
        && scenario.model().equation() == Equation::Acoustic
        && next.load(&from.save()?).is_ok()
    {
        return Ok(next.edit(scenario, &Edit::TimeStep(step))?);
    }
    let (field, clock) = (from.field()?, from.clock());
    next.edit(scenario, &Edit::TimeStep(step))?;
    next.set_field(
        &field,
        Clock {
            time_step: step,
            ..clock
        },
    )?;
    Ok(())
}
