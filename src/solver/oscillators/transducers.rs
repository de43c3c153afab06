//! Transducers: single sites of q and p between two steps, as p + i·momentum.

use super::events::Played;
use super::run::Oscillators;
use crate::backend::simd::Vectors;
use crate::solver::Taps;
use crate::solver::transducers::{Act, Sites};
use num_complex::Complex64;
use std::sync::Arc;

impl<T: Vectors> Oscillators<T> {
    /// Lets the transducers act at the present time.
    pub(super) fn drive_sites(&mut self, taps: &mut Taps) {
        if taps.transducers_act() {
            taps.apply_transducers(self);
        }
    }

    /// The change of q and p of a site by a source of `value` in one step: q_t = … + Im s, p_t = … + m̂ Re s.
    ///
    /// A force alone moves what it kicks only through the next sweep; with a displacement beside it any change of (q, p) can be played, which a filter that holds
    /// both needs.
    pub(super) fn pushed(&self, site: usize, value: Complex64) -> [f64; 2] {
        let (_, [i, j]) = self.place(site);
        let time_step = self.time_step;
        [time_step * value.im, time_step * value.re * self.masses.mass(i, j)]
    }

    /// The signals of transducers after each of the next steps, and whether they overwrite; notes that it was played. Walls stay silent.
    pub(super) fn played(&self, steps: usize, taps: &mut Taps) -> (Vec<Played<T>>, bool) {
        let Some(own) = taps.transducers_mut().as_mut().filter(|own| own.act() != Act::Record) else {
            return (Vec::new(), false);
        };
        let (sites, holds) = (Arc::clone(own.sites()), own.act() == Act::Overwrite);
        let signals = own.ahead().chunks_exact(sites.len().max(1)).take(steps);
        let played: Vec<Played<T>> = signals
            .map(|signal| {
                let all = sites.iter().zip(signal).map(|(&site, &value)| {
                    let (_, [i, j]) = self.place(site);
                    let change = if holds {
                        [value.re, value.im]
                    } else {
                        self.pushed(site, value)
                    };
                    (j, i, change.map(T::of))
                });
                all.filter(|(j, i, _)| !self.masses.is_wall(*i, *j)).collect()
            })
            .collect();
        own.pass(played.len());
        (played, holds)
    }

    fn place(&self, site: usize) -> (usize, [usize; 2]) {
        let layout = &self.springs.layout;
        let [i, j] = [site % layout.size[0], site / layout.size[0]];
        (layout.index(i, j), [i, j])
    }

    /// Changes q and p of a site; walls stay silent.
    fn change_site(&mut self, site: usize, change: impl FnOnce(&mut T, &mut T)) {
        let (place, [i, j]) = self.place(site);
        if self.masses.is_wall(i, j) {
            return;
        }
        let before = self.field.q[place];
        change(&mut self.field.q[place], &mut self.field.p[place]);
        if let Some(potential) = self.potential.get_mut(place) {
            *potential += T::of(self.time_step) * (self.field.q[place] - before);
        }
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
        self.change_site(site, |q, p| (*q, *p) = (T::of(value.re), T::of(value.im)));
    }

    fn add(&mut self, site: usize, value: Complex64) {
        let [displaced, kicked] = self.pushed(site, value);
        self.change_site(site, |q, p| {
            *q += T::of(displaced);
            *p += T::of(kicked);
        });
    }
}
