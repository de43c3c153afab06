//! Transducers: single sites of q and p between two steps, as p + i·momentum.

use super::run::Oscillators;
use crate::backend::simd::Vectors;
use crate::solver::Taps;
use crate::solver::transducers::Sites;
use num_complex::Complex64;

impl<T: Vectors> Oscillators<T> {
    /// Lets the transducers act at the present time.
    pub(super) fn touch_sites(&mut self, taps: &mut Taps) {
        if taps.touches() {
            taps.touch(self);
        }
    }

    fn place(&self, site: usize) -> (usize, [usize; 2]) {
        let layout = &self.springs.layout;
        let [i, j] = [site % layout.size[0], site / layout.size[0]];
        (layout.index(i, j), [i, j])
    }

    /// Changes q and p of a site; walls stay silent.
    fn change_site(&mut self, site: usize, change: impl FnOnce(&mut T, &mut T, f64)) {
        let (place, [i, j]) = self.place(site);
        if self.masses.is_wall(i, j) {
            return;
        }
        let mass = self.masses.mass(i, j);
        change(&mut self.field.q[place], &mut self.field.p[place], mass);
        if let Some(peak) = self.peak.get_mut(place) {
            *peak = peak.max(self.field.q[place].abs());
        }
    }
}

impl<T: Vectors> Sites for Oscillators<T> {
    fn read(&self, site: usize) -> Complex64 {
        let (place, _) = self.place(site);
        Complex64::new(self.field.q[place].wide(), self.field.p[place].wide())
    }

    fn overwrite(&mut self, site: usize, value: Complex64) {
        self.change_site(site, |q, p, _| (*q, *p) = (T::of(value.re), T::of(value.im)));
    }

    /// q_tt = … + s for one step: Δt s m̂ for the momentum.
    fn add(&mut self, site: usize, value: Complex64) {
        let time_step = self.clock.time_step;
        self.change_site(site, |_, p, mass| *p += T::of(time_step * value.re * mass));
    }
}
