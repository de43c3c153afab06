//! The run's interface to the state.

use super::half_phase::HalfPhase;
use super::media::Media;
use super::problem::Problem;
use super::run::Trotter;
use super::stepper::OnDevice;
use crate::backend::threads;
use crate::field::{FieldData, Real, narrow};
use crate::grid::{Grid, SiteBox};
use crate::physics::{Observables, StateSums};
use crate::scene::scenario::Quantity;
use crate::solver::clock::RunClock;
use crate::solver::parts::Cut;
use crate::solver::put_in::PutIn;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::taps::Tap;
use crate::solver::totals::{Totals, in_strides};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;

impl<T: Real> Stepper for Trotter<T> {
    fn parts(&self) -> Parts {
        Parts {
            variant: self.stepper.variant(),
            backend: self.stepper.backend(),
            threads: self.stepper.device().map_or_else(threads::count, OnDevice::units),
            details: self.stepper.details(),
            batch: self.stepper.batch(),
            note: None,
            memory: (self.stepper.memory() + self.media.memory() + self.held_bytes()) as u64,
        }
    }

    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        let problem = Problem {
            time_step,
            ..self.problem.clone()
        };
        Self::check(&problem)?;
        self.while_closed(clock.time(), |state| {
            state.problem = problem;
            state.prepare();
        });
        Ok(())
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        let problem = Problem {
            time_step: clock.time_step(),
            ..Problem::new(setup)?
        };
        Self::check(&problem)?;
        if problem.bonds.is_some() != self.problem.bonds.is_some()
            || problem.strengths.is_some() != self.problem.strengths.is_some()
            || (problem.medium.cross_interaction() != 0.0) != (self.problem.medium.cross_interaction() != 0.0)
        {
            let message = "bonds or interactions that differ from one another need a new run";
            return Err(SolverError::Unsupported(message.to_owned()));
        }
        self.while_closed(clock.time(), |state| {
            state.problem = problem;
            state.media = Media::new(&state.problem);
            state.prepare();
            state.clear_walls();
        });
        Ok(())
    }

    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError> {
        self.while_closed(clock.time(), |state| {
            if let Some(device) = state.stepper.device() {
                device.apply_half_phase(None, true);
            } else {
                (state.stepper).change(&|_, sites| sites.iter_mut().for_each(|site| *site = site.conj()));
            }
        });
        Ok(())
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        if self.is_steady() {
            self.steady_steps(steps);
        } else {
            (0..steps).for_each(|n| self.single_step(clock.after(n).time()));
        }
        Ok(())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.record_steps(clock, steps, taps);
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.record_steps(clock, 0, taps);
        Ok(())
    }

    fn apply_transducers(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.drive_sites(clock.time(), taps);
        Ok(())
    }

    fn pace(&mut self) -> Result<(), SolverError> {
        let paced = match self.stepper.device() {
            Some(device) => device.paced(),
            None => self.stepper.fault(),
        };
        paced.map_or(Ok(()), Err)
    }

    /// Rounded factors of random potentials change the norm by up to 1.4e-8 a step, the same way, those of an interaction by 2.2e-8, and those of the substeps of order 4 by 1e-7.
    fn norm_drifts_within(&self) -> Option<u64> {
        let interacts = self.problem.quantum.interaction != 0.0 || self.problem.medium.cross_interaction() != 0.0;
        Some(match self.problem.order {
            4 => 64,
            _ if interacts => 256,
            _ => 512,
        })
    }

    fn put_in(&self) -> Option<PutIn> {
        self.stepper.device().is_none().then_some(self.put_in)
    }

    fn set_put_in(&mut self, numbers: [f64; 2]) {
        self.put_in.set(numbers);
    }

    fn weight(&mut self) -> Result<f64, SolverError> {
        self.checked(self.sum_of_squares())
    }

    fn scale_to(&mut self, weight: f64) -> Result<(), SolverError> {
        self.rescale(weight);
        Ok(())
    }

    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError> {
        self.checked(self.measure(clock.time()))
    }

    fn sums_in_steps(&self) -> bool {
        self.whole_lanes().is_some()
    }

    fn image(&mut self, clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let closing = self.closing_for(clock, request);
        if let Some(device) = self.stepper.device() {
            device.picture(request, closing.as_ref(), image);
            return self.checked(());
        }
        if self.stepper.draw(request, (closing.as_ref(), &self.media), image) {
            return self.checked(());
        }
        let first = request.z * self.problem.grid.size()[1];
        let state = &*self;
        image.fill_quantum(request, |j, out| {
            let mut sites = vec![Complex::<T>::default(); out.len()];
            state.closed_row(closing.as_ref(), first + j, request.x.clone(), &mut sites);
            for (out, site) in out.iter_mut().zip(&sites) {
                *out = Complex::new(single(site.re), single(site.im));
            }
        });
        self.checked(())
    }

    fn begin_image(&mut self, clock: &RunClock, request: &ImageRequest) -> Result<bool, SolverError> {
        let Some(device) = self.stepper.device() else {
            return Ok(false);
        };
        device.begin_picture(request, self.closing_for(clock, request).as_ref());
        Ok(true)
    }

    fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        let Some(device) = self.stepper.device() else {
            return Ok(false);
        };
        if device.take_picture(image) {
            return Ok(true);
        }
        self.checked(false)
    }

    fn state_sums(
        &mut self,
        clock: &RunClock,
        start: &Arc<FieldData>,
        whole: bool,
    ) -> Result<Option<StateSums>, SolverError> {
        let closing = self.last_half_phase(clock.time());
        let device = self.stepper.device();
        self.checked(device.and_then(|device| device.state_sums(start, whole, closing.as_ref())))
    }

    fn field(&mut self, clock: &RunClock) -> Result<FieldData, SolverError> {
        let closing = self.last_half_phase(clock.time());
        self.checked(T::complex_data(self.gather(closing.as_ref())))
    }

    fn field_in(&mut self, clock: &RunClock, boxes: &[SiteBox]) -> Result<Option<Vec<FieldData>>, SolverError> {
        if self.stepper.device().is_some() {
            return Ok(None);
        }
        let closing = self.last_half_phase(clock.time());
        let fields = boxes.iter().map(|sites| self.sites_in(closing.as_ref(), sites));
        Ok(Some(fields.map(T::complex_data).collect()))
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        self.write_field(&|index| narrow(field.at(index)));
        self.phase_whole_field(clock.time(), 1.0);
        self.checked(())
    }

    /// φ, with its half phase open.
    fn layout(&self) -> Vec<Plane> {
        vec![Plane::new("open", self.problem.grid.sites())]
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        self.checked(vec![Some(T::complex_data(self.gather(None)))])
    }

    fn load(&mut self, _clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        if let [Some(open)] = arrays {
            self.write_field(&|index| narrow(open.at(index)));
        }
        self.checked(())
    }
}

impl<T: Real> Cut for Trotter<T> {
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if let Some(pieces) = self.pieces_of_rows(rows.clone()) {
            return pieces.read(out).map_err(SolverError::from);
        }
        let nx = self.problem.grid.size()[0];
        let mut sites = vec![Complex::<T>::default(); nx];
        for row in rows {
            self.stepper.read(row, 0..nx, &mut sites);
            out.extend_from_slice(bytemuck::cast_slice(&sites));
        }
        Ok(())
    }

    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError> {
        #[cfg(feature = "cuda")]
        if let Some(pieces) = self.pieces_of_rows(rows.clone()) {
            return pieces.write(bytes).map_err(SolverError::from);
        }
        let nx = self.problem.grid.size()[0];
        let sites: Vec<Complex<T>> = bytemuck::pod_collect_to_vec(bytes);
        for (row, sites) in rows.zip(sites.chunks_exact(nx)) {
            self.stepper.write(row, 0, sites);
        }
        Ok(())
    }

    #[cfg(feature = "cuda")]
    fn pieces_of_rows(&mut self, rows: Range<usize>) -> Option<crate::backend::cuda::Pieces> {
        self.stepper.device().and_then(|device| device.pieces_of_rows(rows))
    }

    #[cfg(feature = "cuda")]
    fn before_copies(&mut self, core: Range<usize>, sent: [usize; 2]) {
        // Steps that are not queued all at once do more to the field than sweeps and phases.
        if let Some(device) = self.stepper.device().filter(|_| self.is_steady()) {
            device.before_copies(core, sent);
        }
    }

    fn set_core(&mut self, rows: Range<usize>) {
        self.core = rows;
    }

    fn begin(&mut self, weight: Option<f64>) -> Result<(), SolverError> {
        self.begin(weight);
        self.checked(())
    }

    fn weights(&mut self) -> Result<Vec<f64>, SolverError> {
        let rows = match self.stepper.device() {
            Some(device) => device.row_norms(&self.everywhere(false)),
            None => self.squares_of_rows(),
        };
        self.checked(rows)
    }

    fn weight_of(&self, rows: &[f64]) -> f64 {
        if self.stepper.device().is_some() {
            in_strides(rows.len(), |n| rows[n], |sum, next| sum + next)
        } else {
            rows.iter().sum()
        }
    }

    fn scale_from(&mut self, now: f64, weight: f64) {
        match self.stepper.device() {
            Some(device) => device.scale_from(now, weight),
            None => self.rescale_from(now, weight),
        }
    }

    fn row_sums(&mut self, clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError> {
        let rows: Vec<[f64; NUMBERS]> = match self.stepper.device() {
            Some(device) => {
                let closing = self.last_half_phase(clock.time());
                let drives = self.media.drives_at(clock.time());
                let rows = device.row_totals(&self.everywhere(true), closing.as_ref(), &drives);
                rows.into_iter().map(Totals::to_numbers).collect()
            }
            None => (self.rows_at(clock.time()).iter())
                .map(|(_, row)| row.to_numbers())
                .collect(),
        };
        self.checked(rows)
    }

    fn sums_of(&self, grid: &Grid, rows: &[[f64; NUMBERS]]) -> Observables {
        let rows: Vec<(usize, Totals)> = rows.iter().map(Totals::from_numbers).enumerate().collect();
        let ny = grid.size()[1];
        let totals = if self.stepper.device().is_some() {
            Totals::of_rows_in_strides(ny, &rows)
        } else {
            Totals::of_rows(ny, &rows)
        };
        totals.observables(grid)
    }

    fn record_of(&self, grid: &Grid, tap: &Tap, rows: &[f64]) -> f64 {
        let sum = if self.stepper.device().is_some() {
            in_strides(rows.len(), |n| rows[n], |sum, next| sum + next)
        } else {
            rows.iter().fold(0.0, |sum, row| sum + row)
        };
        Self::record_of(grid, tap, (sum, rows))
    }
}

impl<T: Real> Trotter<T> {
    /// What closes the field for a picture: |φ| = |ψ| unless half a step of absorption lies between them.
    fn closing_for(&self, clock: &RunClock, request: &ImageRequest) -> Option<HalfPhase> {
        if request.quantity == Quantity::Density && !self.media.absorbs() {
            None
        } else {
            self.last_half_phase(clock.time())
        }
    }

    /// Closes ψ with the old constants, changes them, and opens it with the new ones.
    fn while_closed(&mut self, time: f64, change: impl FnOnce(&mut Self)) {
        self.phase_whole_field(time, -1.0);
        change(self);
        self.phase_whole_field(time, 1.0);
    }

    /// Sites of walls become zero.
    fn clear_walls(&mut self) {
        let nx = self.problem.grid.size()[0];
        if let Some(device) = self.stepper.device() {
            device.apply_half_phase(None, false);
        } else if let Some(walls) = self.media.walls.as_deref() {
            self.stepper.change(&|row, sites| {
                for (site, _) in sites.iter_mut().zip(&walls[row * nx..]).filter(|(_, wall)| **wall) {
                    *site = Complex::default();
                }
            });
        }
    }
}

fn single<T: Real>(value: T) -> f32 {
    value.to_f32().unwrap_or(f32::NAN)
}
