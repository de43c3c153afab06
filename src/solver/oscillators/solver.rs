//! The run's interface to the state on the processor.

use super::field::Field;
use super::run::{Oscillators, Schedule};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::solver::acoustic::sums::numbers;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::parts::Cut;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use std::ops::Range;

impl<T: Vectors> Stepper for Oscillators<T> {
    fn parts(&self) -> Parts {
        let (variant, details, more) = match &self.schedule {
            Schedule::Naive => ("naive", format!("one pass a sweep, {}", Level::best().title()), 0),
            Schedule::Blocked(blocked) => ("blocked", blocked.details(), blocked.bytes()),
        };
        let held = self.field.bytes() + more + self.springs.bytes() + self.damping.bytes();
        Parts {
            variant,
            backend: Backend::Cpu,
            threads: threads::count(),
            details,
            batch: self.fused() as u64,
            note: None,
            memory: (held + (self.peak.len() + self.potential.len()) * size_of::<T>()) as u64,
        }
    }

    fn set_step(&mut self, _clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        self.read_coefficients(time_step);
        Ok(())
    }

    fn set_medium(&mut self, setup: &Setup, _clock: &RunClock) -> Result<(), SolverError> {
        self.read_medium(&setup.scenario)
    }

    fn conjugate(&mut self, _clock: &RunClock) -> Result<(), SolverError> {
        self.reverse_potential();
        self.field.p.iter_mut().for_each(|p| *p = -*p);
        Ok(())
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        let mut done = 0;
        while done < steps {
            let count = (steps - done).min(self.fused() as u64);
            self.batch(
                &clock.after(done),
                usize::try_from(count).unwrap_or(1),
                &mut Taps::default(),
                None,
            );
            done += count;
        }
        Ok(())
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_potential()
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_potential()?;
        }
        self.take_observed(clock, steps, taps);
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_potential()?;
        }
        self.see(clock, taps);
        Ok(())
    }

    fn apply_transducers(&mut self, _clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.drive_sites(taps);
        Ok(())
    }

    fn sums(&mut self, _clock: &RunClock) -> Result<Observables, SolverError> {
        Ok(self.total())
    }

    fn image(&mut self, _clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.draw(request, image)
    }

    fn field(&mut self, _clock: &RunClock) -> Result<FieldData, SolverError> {
        Ok(self.data(&self.field.q))
    }

    fn set_field(&mut self, _clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        let nx = self.springs.layout.size[0];
        self.put(|all| &mut all.q, |j, out| copy_row(field, nx * j, out));
        self.field.p.fill(T::zero());
        self.rest();
        self.peak = Vec::new();
        Ok(())
    }

    fn layout(&self) -> Vec<Plane> {
        let sites = self.scenario.grid().sites();
        vec![
            Plane::new("p", sites),
            Plane::new("momentum", sites),
            Plane::optional("peak", sites),
            Plane::optional("potential", sites),
        ]
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        let kept = |all: &[T]| (!all.is_empty()).then(|| self.data(all));
        Ok(vec![
            Some(self.data(&self.field.q)),
            Some(self.data(&self.field.p)),
            kept(&self.peak),
            kept(&self.potential),
        ])
    }

    fn load(&mut self, _clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        let &[Some(pressure), Some(momentum), peak, potential] = arrays else {
            return Ok(());
        };
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

impl<T: Vectors> Cut for Oscillators<T> {
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError> {
        let layout = &self.springs.layout;
        let nx = layout.size[0];
        for j in rows {
            for all in [&self.field.q, &self.field.p, &self.potential] {
                if !all.is_empty() {
                    Field::read(layout, all, j, 0..nx, |_, value| {
                        out.extend_from_slice(bytemuck::bytes_of(&value));
                    });
                }
            }
        }
        Ok(())
    }

    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError> {
        let layout = &self.springs.layout;
        let values: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
        let mut rest = values.into_iter();
        for j in rows {
            for all in [&mut self.field.q, &mut self.field.p, &mut self.potential] {
                if !all.is_empty() {
                    for (i, value) in rest.by_ref().take(layout.size[0]).enumerate() {
                        all[layout.index(i, j)] = value;
                    }
                }
            }
        }
        Ok(())
    }

    fn row_sums(&mut self, _clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError> {
        Ok(numbers(&self.sums_of_rows()))
    }
}

fn copy_row<T: Real>(from: &FieldData, first: usize, to: &mut [T]) {
    for (n, to) in to.iter_mut().enumerate() {
        *to = T::of(from.at(first + n).re);
    }
}
