//! A state that is moved as a run moves it, without a scenario.

use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::{Initial, Observables};
use crate::solver::clock::RunClock;
use crate::solver::stepper::{Parts, Stepper};
use crate::solver::totals::{Region, Totals};
use crate::solver::trotter::measure::ReadRow;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::run::{Sweeper, Trotter};
use crate::solver::{Clock, SolverError, Taps};

pub(super) struct Trial<T: Real> {
    clock: RunClock,
    state: Trotter<T>,
    weight: f64,
}

impl<T: Real> Trial<T> {
    pub(super) fn new(problem: Problem, initial: &Initial, sweeper: Box<dyn Sweeper<T>>) -> Self {
        let clock = RunClock::new(problem.time_step);
        let mut state = Trotter::new(problem, initial, sweeper);
        let weight = state.weight().unwrap();
        Self { clock, state, weight }
    }

    pub(super) fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        let (clock, state, weight) = (self.clock, &mut self.state, self.weight);
        threads::run(|| {
            if state.problem.imaginary {
                return (0..steps).try_for_each(|n| {
                    state.advance(&clock.after(n), 1)?;
                    state.scale_to(weight)?;
                    state.observe(&clock.after(n + 1), taps)
                });
            }
            if taps.is_empty() {
                state.advance(&clock, steps)
            } else {
                state.advance_observed(&clock, steps, taps)
            }
        })?;
        self.clock = clock.after(steps);
        Ok(())
    }

    pub(super) fn sums_in_steps(&self) -> bool {
        self.state.sums_in_steps()
    }

    /// The observables of every `every`-th of so many steps, taken within them by so many threads.
    pub(super) fn observed(&mut self, threads: usize, steps: &[u64], every: u64) -> Vec<(Clock, Observables)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut taps = Taps::default();
        taps.observe_every(Some(every));
        for steps in steps {
            let (clock, state) = (self.clock, &mut self.state);
            pool.install(|| state.advance_observed(&clock, *steps, &mut taps))
                .unwrap();
            self.clock = clock.after(*steps);
        }
        taps.take_observed()
    }

    pub(super) fn set_step(&mut self, time_step: f64) {
        threads::run(|| self.state.set_step(&self.clock, time_step)).unwrap();
        self.clock = self.clock.with_step(time_step);
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.public()
    }

    pub(super) fn report(&self) -> Parts {
        self.state.parts()
    }

    pub(super) fn field(&mut self) -> Result<FieldData, SolverError> {
        threads::run(|| self.state.field(&self.clock))
    }

    pub(super) fn observables(&mut self) -> Result<Observables, SolverError> {
        threads::run(|| self.state.sums(&self.clock))
    }

    /// Sums over the rows of a region, taken by so many threads.
    pub(super) fn rows(&self, threads: usize, region: &Region) -> Vec<(usize, Totals)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (state, time) = (&self.state, self.clock.time());
        pool.install(|| {
            let closing = state.last_half_phase(time);
            let drives = state.media.drives_at(time);
            let read: ReadRow<T> = &|row, x, out| state.stepper.read(row, x, out);
            state.rows_of(read, region, closing.as_ref(), &drives)
        })
    }

    pub(super) fn save(&mut self) -> Result<(RunClock, Vec<Option<FieldData>>), SolverError> {
        Ok((self.clock, threads::run(|| self.state.save())?))
    }

    pub(super) fn load(&mut self, (clock, arrays): &(RunClock, Vec<Option<FieldData>>)) -> Result<(), SolverError> {
        let arrays: Vec<Option<&FieldData>> = arrays.iter().map(Option::as_ref).collect();
        self.clock = *clock;
        threads::run(|| self.state.load(clock, &arrays))
    }
}
