//! Edits, resets, time reversal and snapshots of a run.

use super::{Change, Engine, Snapshot};
use crate::engine::build;
use crate::engine::log::ObservableLog;
use crate::engine::mirror::Phase;
use crate::engine::{EngineError, Verdict};
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Backend, Clock, Edit, PARTS, Solver, SolverError, SolverState, Taps};
use std::sync::Arc;

impl Engine {
    /// Continues with an edited scene and returns what that required. After an error the run continues with its old scene.
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
        let step = method.time_step(&scenario).copysign(old_clock.time_step);
        let other_step = method.time_step(&old) != step.abs();
        let other_medium =
            old.medium() != scenario.medium() || old.model() != scenario.model() || old.sources() != scenario.sources();
        let other_medium = other_medium || self.way_back_differs(&scenario);
        // A quantity that needs a pass after every step is computed on the processor: a run elsewhere moves there, as a new run would start there.
        let moves = scenario.shown_beside_steps().is_some()
            && old.shown_beside_steps().is_none()
            && self.report().backend != Backend::Cpu;
        let same_solver = old.solver() == scenario.solver() && old.time().imaginary == scenario.time().imaginary;
        let change = if moves || !same_solver {
            self.rebuild(&scenario, step)?;
            Change::Rebuilt
        } else if other_step || other_medium {
            let edited = if other_medium && self.timeline.is_none() {
                self.edited_snapshot(&scenario)?
            } else {
                None
            };
            match self.edit(&scenario, other_medium, other_step.then_some(step)) {
                Err(EngineError::Solver(SolverError::Unsupported(_))) => {
                    self.rebuild(&scenario, step)?;
                    Change::Rebuilt
                }
                done => {
                    done?;
                    if let (Some(snapshot), Some(state)) = (&mut self.snapshot, edited) {
                        snapshot.state = state;
                    }
                    Change::Edited
                }
            }
        } else {
            Change::Kept
        };
        let change = of_mirror.map_or(change, |own| own.max(change));
        // Detectors listen beside the walls of their leg.
        let present_at = |phase: Option<Phase>| {
            let back = self.timeline.as_ref().map(|timeline| Arc::clone(&timeline.back));
            let back = back.filter(|_| phase == Some(Phase::Replay));
            back.unwrap_or_else(|| Arc::clone(&scenario))
        };
        let present = present_at(self.phase());
        let kept = self.snapshot.as_ref().and_then(|kept| kept.leg.as_ref());
        let of_snapshot = present_at(kept.map(|leg| leg.phase));
        if self.scenario.detectors() != scenario.detectors() {
            let transducers = self.taps.transducers_mut().take();
            self.taps = Taps::of(&present);
            *self.taps.transducers_mut() = transducers;
            if let Some(snapshot) = &mut self.snapshot {
                let transducers = snapshot.taps.transducers_mut().take();
                snapshot.taps = Taps::of(&of_snapshot);
                *snapshot.taps.transducers_mut() = transducers;
            }
            self.record_start()?;
        } else if other_medium {
            self.taps.place(&present);
            if let Some(snapshot) = &mut self.snapshot {
                snapshot.taps.place(&of_snapshot);
            }
        }
        if self.scenario.expectations() != scenario.expectations() {
            self.verdicts = vec![Verdict::Pending; scenario.expectations().len()];
            if let Some(snapshot) = &mut self.snapshot {
                snapshot.verdicts.clone_from(&self.verdicts);
            }
        }
        self.update_paths(&scenario);
        if scenario.view().quantity != Quantity::Peak {
            self.maps.forget_peak();
        }
        self.scenario = scenario;
        self.current &= change == Change::Kept;
        // A field that is not finite stays so in another medium.
        if self.failure.take().is_some() {
            self.observables()?;
        }
        Ok(change)
    }

    /// Begins another scene at t = 0; the log continues to be kept.
    fn restart(&mut self, scenario: Arc<Scenario>) -> Result<Change, EngineError> {
        let log = self.log.take();
        let watch = self.watch.take();
        *self = Self::new(scenario)?;
        self.watch = watch;
        self.keep_like(log.as_ref())?;
        Ok(Change::Restarted)
    }

    /// Resets the run to t = 0. The snapshot stays.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn reset(&mut self) -> Result<(), EngineError> {
        let mut fresh = Self::new(Arc::clone(&self.scenario))?;
        fresh.snapshot = self.snapshot.take();
        fresh.watch = self.watch.take();
        fresh.replays = std::mem::take(&mut self.replays);
        fresh.keep_like(self.log.as_ref())?;
        *self = fresh;
        Ok(())
    }

    /// From now on keeps what another log kept.
    fn keep_like(&mut self, log: Option<&ObservableLog>) -> Result<(), EngineError> {
        match log {
            Some(log) if log.with_state => self.keep_state_measures(log.every),
            Some(log) => self.keep_observables(log.every),
            None => Ok(()),
        }
    }

    /// Takes a snapshot of the present state.
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
    pub(in crate::engine) fn keep(&mut self) -> Result<Snapshot, EngineError> {
        Ok(Snapshot {
            state: self.solver.save()?,
            taps: self.taps.clone(),
            verdicts: self.verdicts.clone(),
            peak: self.maps.peak().to_vec(),
            leg: self.timeline.as_ref().map(|timeline| timeline.leg.clone()),
            paths: self.paths.clone(),
        })
    }

    /// Returns to the snapshot, which stays.
    ///
    /// # Errors
    /// If there is none or the back end fails.
    pub fn restore(&mut self) -> Result<(), EngineError> {
        let snapshot = self.snapshot.take().ok_or(EngineError::NoSnapshot)?;
        let done = self.go_to(&snapshot);
        self.snapshot = Some(snapshot);
        done
    }

    /// Returns to a state.
    pub(in crate::engine) fn go_to(&mut self, snapshot: &Snapshot) -> Result<(), EngineError> {
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
        self.paths = snapshot.paths.clone();
        let scenario = Arc::clone(&self.scenario);
        self.update_paths(&scenario);
        self.maps.go_on_from(&snapshot.peak);
        self.record_start()?;
        self.observables()?;
        Ok(())
    }

    /// Reverses time: at the scene's mirror, if it has one, otherwise Δt → −Δt.
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

    /// Changes the medium and Δt in the running solver; both or neither.
    fn edit(&mut self, scenario: &Scenario, medium: bool, step: Option<f64>) -> Result<(), EngineError> {
        // Another medium changes how sound moves, which a Δt that is refused must give back.
        let sound = scenario.model().equation() == Equation::Acoustic;
        let before = if medium && step.is_some() && sound {
            Some(self.solver.save()?)
        } else {
            None
        };
        if medium {
            let back = (self.phase() == Some(Phase::Replay)).then(|| scenario.returning());
            self.solver.edit(back.as_ref().unwrap_or(scenario), &Edit::Medium)?;
        }
        let Some(step) = step else { return Ok(()) };
        let refused = self.solver.edit(scenario, &Edit::TimeStep(step)).err();
        if let (Some(_), Some(before)) = (&refused, before) {
            let was = self.leg_scenario(self.phase());
            self.solver.edit(&was, &Edit::Medium)?;
            self.solver.load(&before)?;
        }
        refused.map_or(Ok(()), |error| Err(error.into()))
    }

    /// The snapshot of a run of sound in another medium, in which it goes on as the present state does: its flow through walls that are built now ends. `None` where there is none, or where the medium is refused,
    /// as it will be with the run's own edit.
    fn edited_snapshot(&mut self, scenario: &Scenario) -> Result<Option<SolverState>, EngineError> {
        let sound = self.scenario.model().equation() == Equation::Acoustic;
        let Some(snapshot) = self.snapshot.as_ref().filter(|_| sound) else {
            return Ok(None);
        };
        let solver = self.solver.as_mut();
        let present = solver.save()?;
        let edited = solver.load(&snapshot.state);
        let edited = edited.and_then(|()| solver.edit(scenario, &Edit::Medium));
        let edited = edited.and_then(|()| solver.save());
        let back = solver.edit(&self.scenario, &Edit::Medium);
        solver.load(&present)?;
        back?;
        Ok(edited.ok())
    }

    /// Another solver on the same grid, with the field, the clock and the snapshot of this one.
    fn rebuild(&mut self, scenario: &Scenario, step: f64) -> Result<(), EngineError> {
        let mut next = build::build(scenario)?;
        if self.phase() == Some(Phase::Replay) {
            next.edit(&scenario.returning(), &Edit::Medium)?;
        }
        if self.log.is_some() {
            next.keep_velocity()?;
        }
        let cut_otherwise = differ_in_parts_only(&self.scenario, scenario);
        let carry = |from: &mut dyn Solver, next: &mut dyn Solver| {
            if cut_otherwise {
                next.load(&from.save()?)?;
                return Ok(next.edit(scenario, &Edit::TimeStep(step))?);
            }
            // A way back from a mirror has a medium of its own.
            let was: &Scenario = if self.timeline.is_some() {
                scenario
            } else {
                &self.scenario
            };
            carry(from, next, [was, scenario], step)
        };
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

    /// Takes over field and clock of another run on the same grid. The size of Δt stays that of this run, its sign becomes that of the other.
    ///
    /// # Errors
    /// If a back end fails or memory runs out.
    pub(in crate::engine) fn adopt(&mut self, other: &mut Self) -> Result<(), EngineError> {
        let step = self.clock().time_step.abs().copysign(other.clock().time_step);
        let scenario = Arc::clone(&self.scenario);
        let was: &Scenario = if other.timeline.is_some() {
            &scenario
        } else {
            &other.scenario
        };
        carry(other.solver.as_mut(), self.solver.as_mut(), [was, &scenario], step)?;
        self.initial = other.initial;
        self.failure = None;
        self.paths = other.paths.clone();
        self.update_paths(&scenario);
        self.maps.forget_peak();
        self.observables()?;
        Ok(())
    }
}

/// Whether two scenes are stepped in the same way, except that their grids may be cut into other parts.
pub(in crate::engine) fn differ_in_parts_only(one: &Scenario, other: &Scenario) -> bool {
    let uncut = |scenario: &Scenario| {
        let mut solver = scenario.solver().clone();
        solver.parameters.remove(PARTS);
        solver
    };
    uncut(one) == uncut(other) && one.time() == other.time() && one.medium() == other.medium()
}

/// Gives a solver the field and the clock of another one, with a Δt of its own: of a scene from one that was, in its own medium or in another. Sound comes into another medium by an edit, which changes its flow.
fn carry(
    from: &mut dyn Solver,
    next: &mut dyn Solver,
    [was, scenario]: [&Scenario; 2],
    step: f64,
) -> Result<(), EngineError> {
    let same = was.medium() == scenario.medium() && was.model() == scenario.model();
    let same = same && was.sources() == scenario.sources();
    let sound = scenario.model().equation() == Equation::Acoustic;
    if sound && !same && next.edit(&scenario.in_medium_of(was), &Edit::Medium).is_ok() {
        let carried = carry_over(from, next, scenario, step);
        next.edit(scenario, &Edit::Medium)?;
        if carried.is_ok() {
            return Ok(());
        }
    }
    carry_over(from, next, scenario, step)
}

/// The same in the medium that the solver has.
fn carry_over(from: &mut dyn Solver, next: &mut dyn Solver, scenario: &Scenario, step: f64) -> Result<(), EngineError> {
    // Sound is more than its pressure: how it moves is carried bit by bit within a method, and as ∂p/∂t to another.
    if from.report().method == next.report().method
        && scenario.model().equation() == Equation::Acoustic
        && next.load(&from.save()?).is_ok()
    {
        return Ok(next.edit(scenario, &Edit::TimeStep(step))?);
    }
    let (field, clock) = (from.field()?, from.clock());
    let motion = from.motion()?;
    next.edit(scenario, &Edit::TimeStep(step))?;
    next.set_field(
        &field,
        Clock {
            time_step: step,
            ..clock
        },
    )?;
    if let Some(motion) = motion {
        next.set_motion(&motion)?;
    }
    Ok(())
}
