//! Measurements at a step: predictions, kept observables, single quantities.

use super::Engine;
use crate::engine::EngineError;
use crate::engine::expectations::{self, Verdict};
use crate::engine::gram;
use crate::engine::log::{ObservableLog, Row};
use crate::field::FieldData;
use crate::grid::Edge;
use crate::physics::noise::Noise;
use crate::physics::{Equation, Measure, Measurement, Observables, Outcome, Reading, Refocus, StateMeasures};
use crate::scene::scenario::Subject;
use crate::solver::{self, Clock, SolverError, Taps};
use num_complex::Complex64;
use std::sync::Arc;

/// From this number of steps between rows of the kept observables on, they are taken between batches: in double
/// precision, and batches are hardly shortened.
const SELDOM: u64 = 16;

impl Engine {
    /// Observables of ψ that need its phases, of the present field and that at t = 0; `None` for sound. Where the solver has no sums of its own ([`Solver::state_sums`](crate::solver::Solver::state_sums)), the field is
    /// read back.
    ///
    /// # Errors
    /// If the back end fails or memory runs out.
    pub fn state_measures(&mut self) -> Result<Option<StateMeasures>, EngineError> {
        if self.scenario.model().equation() != Equation::Schrodinger {
            return Ok(None);
        }
        let start = self.first_field()?;
        let spread = self.solver.observables()?.spread;
        if let Some(sums) = self.solver.state_sums(&start, true)? {
            return Ok(Some(StateMeasures::from_sums(self.scenario.grid(), &sums, spread)));
        }
        let field = self.solver.field()?;
        let grid = self.scenario.grid();
        Ok(Some(crate::backend::threads::run(|| {
            StateMeasures::of(grid, &field, &start, spread, gram::sum_of_squares)
        })))
    }

    /// ⟨ψ(0)|ψ⟩ of a quantum scene now, over ⟨ψ(0)|ψ(0)⟩.
    ///
    /// # Errors
    /// If the back end fails or memory runs out.
    pub fn overlap(&mut self) -> Result<Complex64, EngineError> {
        let start = self.first_field()?;
        if let Some(sums) = self.solver.state_sums(&start, false)? {
            return Ok(sums.overlap());
        }
        let field = self.solver.field()?;
        let grid = self.scenario.grid();
        Ok(crate::backend::threads::run(|| {
            StateMeasures::overlap_of(grid, &field, &start)
        }))
    }

    /// Measures the position of the particle and continues with ψ after the measurement; returns the result and the
    /// probability that the particle is found at all.
    ///
    /// # Errors
    /// For sound, if the back end fails, or memory runs out.
    pub fn measure_position(
        &mut self,
        measurement: &Measurement,
        noise: &mut Noise,
    ) -> Result<(Outcome, f64), EngineError> {
        if self.scenario.model().equation() != Equation::Schrodinger {
            let message = "sound is not found at one place; take a quantum scene".to_owned();
            return Err(SolverError::Unsupported(message).into());
        }
        let mut field = self.solver.field()?;
        let grid = self.scenario.grid();
        let (outcome, probability) = crate::backend::threads::run(|| {
            let born = measurement.of(grid, &field);
            (born.draw(noise), born.probability())
        });
        measurement.collapse(grid, &mut field, &outcome);
        let clock = self.solver.clock();
        self.solver.set_field(&field, clock)?;
        self.maps.forget_peak();
        self.observables()?;
        Ok((outcome, probability))
    }

    /// What absorbing edges and media have left of ψ: its norm over that at t = 0, above 0 and at most 1. It is 1 where nothing absorbs, for sound, and
    /// in scenes with a mirror, which also takes out and injects.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite.
    pub fn share_left(&mut self) -> Result<f64, EngineError> {
        let grid = self.scenario.grid();
        let absorbs = grid.edges()[..grid.rank()].contains(&Edge::Absorb) || self.scenario.takes_energy();
        if !absorbs || self.scenario.listens() || self.scenario.model().equation() != Equation::Schrodinger {
            return Ok(1.0);
        }
        self.observables()?;
        Ok((1.0 + self.drift()).clamp(f64::MIN_POSITIVE, 1.0))
    }

    /// ψ at t = 0.
    fn first_field(&mut self) -> Result<Arc<FieldData>, EngineError> {
        let start = match &self.start {
            Some(start) => Arc::clone(start),
            None => Arc::new(solver::initial_state(&self.scenario, self.scenario.solver().precision)?),
        };
        self.start = Some(Arc::clone(&start));
        Ok(start)
    }

    /// The value of a detector or an observable now, as `[[expect]]` would measure it; `None` if a detector has no record yet.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite.
    pub fn value_of(&mut self, subject: &Subject) -> Result<Option<f64>, EngineError> {
        let observables = self.observables()?;
        let refocus = self.refocus()?;
        let state = if expectations::asks_for_state(subject) {
            self.state_measures()?
        } else {
            None
        };
        let now = self.between_records(subject)?;
        Ok(now.or_else(|| self.measured(subject, &observables, refocus.as_ref(), state.as_ref())))
    }

    /// What a detector measures at a step at which it does not record; `None` if it does, and of an average, which is one of its records.
    fn between_records(&mut self, subject: &Subject) -> Result<Option<f64>, EngineError> {
        let Subject::Detector(place) = *subject else {
            return Ok(None);
        };
        let detector = &self.scenario.detectors()[place];
        if self.clock().steps.is_multiple_of(detector.every) || detector.reading != Reading::Itself {
            return Ok(None);
        }
        let is_peak = detector.measure == Measure::Peak;
        let mut taps = Taps::of(&self.scenario).at_every_step();
        let observed = self.solver.observe(&mut taps);
        self.guard(observed)?;
        let before = self.taps.latest(place).filter(|_| is_peak);
        let now = taps.latest(place);
        Ok(now.map(|now| before.map_or(now, |before| now.max(before))))
    }

    /// The value of a subject, from what was measured at the present step.
    fn measured(
        &self,
        subject: &Subject,
        observables: &Observables,
        refocus: Option<&Refocus>,
        state: Option<&StateMeasures>,
    ) -> Option<f64> {
        let observables = observables.told(self.scenario.model().equation());
        expectations::measure(subject, &self.taps, &observables, refocus, state, &self.paths)
    }

    /// Sound: keeps from now on what its energy needs in addition to the pressure.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn keep_velocity(&mut self) -> Result<(), EngineError> {
        Ok(self.solver.keep_velocity()?)
    }

    /// Keeps the measures of ψ as well as the observables of every `every`-th step from now on.
    ///
    /// # Errors
    /// If the present ones cannot be taken.
    pub fn keep_state_measures(&mut self, every: u64) -> Result<(), EngineError> {
        match &mut self.log {
            Some(log) => log.every = every.max(1),
            None => self.log = Some(ObservableLog::new(every)),
        }
        if let Some(log) = &mut self.log {
            log.with_state = true;
        }
        self.measure()
    }

    /// Whether the kept observables are taken within fused steps: if they are requested so often that batches would be
    /// short, and nothing else is recorded.
    pub(super) fn rows_in_steps(&self) -> bool {
        let Some(log) = &self.log else { return false };
        let alone =
            !log.with_state && !self.maps.watches() && self.paths().is_empty() && self.scenario.mirror().is_none();
        alone && log.every < SELDOM && self.solver.sums_in_steps()
    }

    /// Keeps the observables that were taken within steps.
    pub(super) fn log_observed(&mut self, observed: Vec<(Clock, Observables)>) -> Result<(), EngineError> {
        let finite = |(_, own): &(_, Observables)| own.norm.is_finite() && own.energy.is_finite();
        if !observed.iter().all(finite) {
            // Says so.
            self.observables()?;
        }
        let Some(log) = &mut self.log else { return Ok(()) };
        for (clock, observables) in observed {
            if log.is_due(clock.steps) {
                log.rows.push(Row {
                    step: clock.steps,
                    time: clock.time,
                    observables,
                    refocus: None,
                    state: None,
                });
            }
        }
        Ok(())
    }

    /// The row of the present step, if observables are kept and their last row is an earlier one. It is not kept: a run
    /// that continues from a checkpoint has the rows of an uninterrupted one.
    ///
    /// # Errors
    /// If the back end fails or the field is not finite.
    pub fn closing_row(&mut self) -> Result<Option<Row>, EngineError> {
        let clock = self.clock();
        let Some(log) = &self.log else { return Ok(None) };
        if log.rows.last().is_some_and(|row| row.step >= clock.steps) {
            return Ok(None);
        }
        let with_state = log.with_state;
        Ok(Some(Row {
            step: clock.steps,
            time: clock.time,
            observables: self.observables()?,
            refocus: self.refocus()?,
            state: if with_state { self.state_measures()? } else { None },
        }))
    }

    /// Measures what is due at the present step: expectations and the kept observables.
    pub(super) fn measure(&mut self) -> Result<(), EngineError> {
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
        let all = self.scenario.expectations();
        let asks = due
            .iter()
            .any(|place| expectations::asks_for_state(&all[*place].subject));
        let state = if asks || row_due && self.log.as_ref().is_some_and(|log| log.with_state) {
            self.state_measures()?
        } else {
            None
        };
        let scenario = Arc::clone(&self.scenario);
        for place in due {
            let expectation = &scenario.expectations()[place];
            let now = self.between_records(&expectation.subject)?;
            let value =
                now.or_else(|| self.measured(&expectation.subject, &observables, refocus.as_ref(), state.as_ref()));
            if let Some(value) = value {
                self.verdicts[place] = Verdict::of(expectation, value);
            }
        }
        if let Some(log) = self.log.as_mut().filter(|_| row_due) {
            log.rows.push(Row {
                step: clock.steps,
                time: clock.time,
                observables,
                refocus,
                state: state.filter(|_| log.with_state),
            });
        }
        Ok(())
    }
}
