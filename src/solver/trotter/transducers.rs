//! Transducers: single sites of ψ, between the field's half phases. On a device they act there, a batch of steps at a time.

use super::half_phase::HalfPhase;
use super::run::Trotter;
use crate::field::{Real, narrow, wide};
use crate::solver::Taps;
use crate::solver::transducers::Sites;
use num_complex::{Complex, Complex64};

/// A run whose sites are reached one by one, with what closes and opens them now.
struct Reached<'a, T: Real> {
    run: &'a mut Trotter<T>,
    /// `None` where the field needs no half_phase.
    phases: Option<[HalfPhase; 2]>,
}

impl<T: Real> Trotter<T> {
    /// Lets the transducers act on the field at `time`.
    pub(super) fn drive_sites(&mut self, time: f64, taps: &mut Taps) {
        if !taps.transducers_act() {
            return;
        }
        self.largest = None;
        if let Some(device) = self.stepper.device() {
            device.load_transducers(taps, 1);
            device.step_transducers(0, self.phases(time).as_ref());
            device.take_transducers(taps);
            return;
        }
        let phases = self.phases(time);
        taps.apply_transducers(&mut Reached { run: self, phases });
    }

    /// The phases that close and open the field at `time`; `None` where it is closed.
    pub(super) fn phases(&self, time: f64) -> Option<[HalfPhase; 2]> {
        self.last_half_phase(time)
            .map(|closing| [closing, self.first_half_phase(time, 1.0)])
    }
}

impl<T: Real> Reached<'_, T> {
    fn place(&self, site: usize) -> (usize, usize) {
        let nx = self.run.problem.grid.size()[0];
        (site / nx, site % nx)
    }

    fn is_wall(&self, site: usize) -> bool {
        self.run.media.walls.as_deref().is_some_and(|walls| walls[site])
    }
}

impl<T: Real> Sites for Reached<'_, T> {
    fn read(&self, site: usize) -> Complex64 {
        let (row, x) = self.place(site);
        let mut psi = [Complex::default()];
        self.run.stepper.read(row, x..x + 1, &mut psi);
        let closing = self.phases.as_ref().map(|[closing, _]| closing);
        self.run.closed_sites(closing, site, &psi).next().unwrap_or_default()
    }

    fn overwrite(&mut self, site: usize, value: Complex64) {
        if self.is_wall(site) {
            return;
        }
        let before = self.read(site).norm_sqr();
        let (row, x) = self.place(site);
        let mut psi: [Complex<T>; 1] = [narrow(value)];
        if self.run.core.contains(&row) {
            self.run.put_in.add(wide(psi[0]).norm_sqr() - before);
        }
        if let Some([_, half_phase]) = &self.phases {
            half_phase.apply(&self.run.media, row, x, &mut psi);
        }
        self.run.stepper.write(row, x, &psi);
    }

    fn add(&mut self, site: usize, value: Complex64) {
        self.overwrite(site, self.read(site) + value);
    }
}
