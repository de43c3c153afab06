//! What the engine asks of a run.

use super::run::{Oscillators, Stepper};
use super::{check_step, order};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::grid::Grid;
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};

/// Names of the saved arrays.
const PRESSURE: &str = "p";
const MOMENTUM: &str = "momentum";
const PEAK: &str = "peak";
const POTENTIAL: &str = "potential";

impl<T: Vectors> Solver for Oscillators<T> {
    fn report(&self) -> Report {
        let (variant, details, more) = match &self.stepper {
            Stepper::Naive => ("naive", format!("one pass a sweep, {}", Level::best().title()), 0),
            Stepper::Blocked(blocked) => ("blocked", blocked.details(), blocked.bytes()),
        };
        let held = self.field.bytes() + more + self.springs.bytes() + self.damping.bytes();
        Report {
            method: "oscillators",
            variant,
            backend: Backend::Cpu,
            precision: T::PRECISION,
            order: order(&self.scenario),
            threads: threads::count(),
            details,
            batch: self.fused() as u64,
            note: self.note.clone(),
            memory: (held + (self.peak.len() + self.potential.len()) * size_of::<T>()) as u64,
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_potential()?;
        }
        threads::run(|| {
            if !taps.is_empty() {
                self.advance_recording(steps, taps);
                return;
            }
            let mut left = steps;
            while left > 0 {
                let count = left.min(self.fused() as u64);
                self.batch(usize::try_from(count).unwrap_or(1), None);
                left -= count;
            }
        });
        Ok(())
    }

    fn touch(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        self.touch_sites(taps);
        Ok(())
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        match edit {
            Edit::TimeStep(step) => {
                check_step(&self.scenario, *step)?;
                self.change_step(*step);
            }
            Edit::Medium => self.read_medium(scenario)?,
            Edit::Conjugate => {
                self.reverse_potential();
                self.field.p.iter_mut().for_each(|p| *p = -*p);
            }
        }
        Ok(())
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_potential()
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        threads::run(|| self.draw(request, image))
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        Ok(threads::run(|| self.sums()))
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        Ok(self.data(&self.field.q))
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        check_real(field, self.scenario.grid(), "pressure")?;
        check_step(&self.scenario, clock.time_step)?;
        self.take_clock(clock);
        let nx = self.springs.layout.size[0];
        self.put(|field| &mut field.q, |j, out| copy_row(field, nx * j, out));
        self.field.p.fill(T::zero());
        self.rest();
        self.peak = Vec::new();
        Ok(())
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        let mut arrays = vec![
            (PRESSURE.to_owned(), self.data(&self.field.q)),
            (MOMENTUM.to_owned(), self.data(&self.field.p)),
        ];
        if !self.peak.is_empty() {
            arrays.push((PEAK.to_owned(), self.data(&self.peak)));
        }
        if !self.potential.is_empty() {
            arrays.push((POTENTIAL.to_owned(), self.data(&self.potential)));
        }
        Ok(SolverState {
            clock: self.clock,
            arrays,
            scalars: Vec::new(),
        })
    }

    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let array = |name: &str| {
            state
                .arrays
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, data)| data)
        };
        let missing =
            |name: &str| SolverError::StateMismatch(format!("`{name}` is missing; was it saved by oscillators?"));
        let pressure = array(PRESSURE).ok_or_else(|| missing(PRESSURE))?;
        let momentum = array(MOMENTUM).ok_or_else(|| missing(MOMENTUM))?;
        let (peak, potential) = (array(PEAK), array(POTENTIAL));
        for data in [Some(pressure), Some(momentum), peak, potential].into_iter().flatten() {
            check_real(data, self.scenario.grid(), "state")?;
        }
        check_step(&self.scenario, state.clock.time_step)?;
        self.take_clock(state.clock);
        let nx = self.springs.layout.size[0];
        self.put(|field| &mut field.q, |j, out| copy_row(pressure, nx * j, out));
        self.put(|field| &mut field.p, |j, out| copy_row(momentum, nx * j, out));
        self.rest();
        self.peak = Vec::new();
        if peak.is_some() {
            self.watch_peak()?;
        }
        if potential.is_some() {
            self.watch_potential()?;
        }
        let layout = &self.springs.layout;
        for (data, to) in [(peak, &mut self.peak), (potential, &mut self.potential)] {
            let Some(data) = data else { continue };
            for j in 0..layout.size[1] {
                for i in 0..nx {
                    to[layout.index(i, j)] = T::of(data.at(nx * j + i).re);
                }
            }
        }
        Ok(())
    }
}

impl<T: Vectors> Oscillators<T> {
    fn take_clock(&mut self, clock: Clock) {
        #[expect(clippy::float_cmp, reason = "coefficients of the same step are there")]
        if clock.time_step != self.clock.time_step {
            self.change_step(clock.time_step);
        }
        self.clock = clock;
    }
}

fn copy_row<T: Real>(from: &FieldData, first: usize, to: &mut [T]) {
    for (n, to) in to.iter_mut().enumerate() {
        *to = T::of(from.at(first + n).re);
    }
}

/// Says no to what is no real field of the grid's size.
fn check_real(field: &FieldData, grid: &Grid, what: &str) -> Result<(), SolverError> {
    let sites = grid.sites();
    if field.len() == sites && matches!(field, FieldData::Float32(_) | FieldData::Float64(_)) {
        return Ok(());
    }
    Err(SolverError::StateMismatch(format!(
        "a {what} of {sites} real values is needed, and this array holds {}",
        field.len()
    )))
}
