//! Transducers: single sites of pⁿ after a step.

use super::events::Played;
use super::run::Fdtd;
use crate::backend::simd::Vectors;
use crate::solver::Taps;
use crate::solver::transducers::{Act, Sites};
use num_complex::Complex64;
use std::sync::Arc;

impl<T: Vectors> Fdtd<T> {
    /// Lets the transducers act on pⁿ.
    pub(super) fn drive_sites(&mut self, taps: &mut Taps) {
        if taps.transducers_act() {
            taps.apply_transducers(self);
        }
    }

    /// Adds the signals of transducers to those of a pass's steps.
    pub(super) fn join_transducers(&mut self, played: &mut [Played<T>], taps: &mut Taps) {
        let Some(own) = taps.transducers_mut().as_mut().filter(|own| own.act() != Act::Record) else {
            return;
        };
        let sites = Arc::clone(own.sites());
        self.obeys = false;
        let how = (self.time_step, own.act() == Act::Overwrite);
        let mut rows = 0;
        for (played, signal) in played.iter_mut().zip(own.ahead().chunks_exact(sites.len().max(1))) {
            played.join(&self.sweep, (&sites, signal), how);
            rows += 1;
        }
        own.pass(rows);
    }

    /// Changes a site of pⁿ, its ghosts and the largest |p|; walls stay silent.
    fn change_site(&mut self, site: usize, change: impl FnOnce(T) -> T) {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        if self.sweep.mask.get(site).copied().unwrap_or(false) {
            return;
        }
        let (i, row) = (site % nx, site / nx);
        let place = lattice.index([i, row % ny, row / ny]);
        let before = self.now[place];
        self.now[place] = change(before);
        self.obeys = false;
        if let Some(potential) = self.potential.get_mut(place) {
            *potential += T::of(self.time_step) * (self.now[place] - before);
        }
        if let Some(peak) = self.peak.get_mut(place) {
            *peak = peak.max(self.now[place].abs());
        }
        if i < lattice.half || i + lattice.half >= nx {
            lattice.fill_ghosts(&mut self.now[lattice.span(row)], true);
            if !self.potential.is_empty() {
                lattice.fill_ghosts(&mut self.potential[lattice.span(row)], true);
            }
        }
    }
}

impl<T: Vectors> Sites for Fdtd<T> {
    fn read(&self, site: usize) -> Complex64 {
        let [nx, ny, _] = self.sweep.lattice.size;
        let place = self.sweep.lattice.index([site % nx, site / nx % ny, site / (nx * ny)]);
        Complex64::from(self.now[place].wide())
    }

    fn overwrite(&mut self, site: usize, value: Complex64) {
        self.change_site(site, |_| T::of(value.re));
    }

    /// p_tt = … + s for one step: Δt² s, over 1 + γΔt where damping acts.
    fn add(&mut self, site: usize, value: Complex64) {
        let nx = self.sweep.lattice.size[0];
        let taken = self.sweep.taken(site / nx, site % nx) * self.time_step * self.time_step;
        self.change_site(site, |p| p + T::of(taken * value.re));
    }
}
