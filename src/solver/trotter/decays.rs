//! Factors of imaginary time, e^{(E₀ − E) τ}, which an interaction changes in every step.
//!
//! Operations a site: 2 for the static energy, 2 for each drive and each density, some 35 for the exponential; loops over sites become vector code.

#![allow(unsafe_code, reason = "SIMD")]

use super::media::{Exponent, Media};
use crate::backend::simd::{Kernel, Lanes, Level};
use crate::field::Real;
use crate::field::exponential::exponential;
use num_complex::Complex;
use std::ops::Range;

/// Sites whose exponentials are taken at once, on the stack: loops of which nothing is left over.
const CHUNK: usize = 32;

/// The exponents of some sites of a row, and where their factors go.
struct Decays<'a, T> {
    exponent: &'a Exponent,
    energy: &'a [T],
    /// E₀ τ.
    lowest: f64,
    /// What each drive multiplies, and its time.
    driven: Vec<(&'a [T], f64)>,
    /// |ψ|² of these sites, g of each where layers set it, and |ψ|² of the other component.
    density: Option<&'a [T]>,
    strengths: Option<&'a [f64]>,
    other: Option<&'a [T]>,
    walls: Option<&'a [bool]>,
    corrections: Option<&'a [f64]>,
    out: &'a mut [Complex<T>],
}

impl<T: Real> Media<T> {
    /// Factors of imaginary time of some `sites` of a row; walls get 0. `corrections` and `all` are those of [`Media::factors`].
    pub(super) fn decays(
        &self,
        sites: Range<usize>,
        exponent: &Exponent,
        corrections: Option<&[f64]>,
        all: &[T],
        out: &mut [Complex<T>],
    ) {
        // Sites of a row belong to one component, of which each has half of all.
        let half = all.len() / 2;
        let other = if sites.start < half {
            sites.start + half
        } else {
            sites.start - half
        };
        Level::best().run::<f64>(Decays {
            exponent,
            energy: &self.energy[sites.clone()],
            lowest: self.lowest * exponent.energy,
            driven: (self.driven.iter().zip(&exponent.driven))
                .map(|((_, part), time)| (&part[sites.clone()], *time))
                .collect(),
            density: (!all.is_empty()).then(|| &all[sites.clone()]),
            strengths: self.strengths(sites.clone()),
            other: (!all.is_empty() && exponent.cross != 0.0).then(|| &all[other..other + sites.len()]),
            walls: self.walls.as_ref().map(|walls| &walls[sites.clone()]),
            corrections,
            out,
        });
    }
}

impl<T: Real> Decays<'_, T> {
    /// Exponents of the sites `here`, with those of no site behind them.
    #[inline(always)]
    fn exponents(&self, here: &Range<usize>) -> [f64; CHUNK] {
        let mut all = [0.0; CHUNK];
        for (angle, energy) in all.iter_mut().zip(&self.energy[here.clone()]) {
            *angle = self.exponent.energy * energy.wide();
        }
        for (part, time) in &self.driven {
            for (angle, u) in all.iter_mut().zip(&part[here.clone()]) {
                *angle += time * u.wide();
            }
        }
        if let Some(density) = self.density.map(|density| &density[here.clone()]) {
            if let Some(strengths) = self.strengths {
                for ((angle, density), own) in all.iter_mut().zip(density).zip(&strengths[here.clone()]) {
                    *angle += self.exponent.mean_field * own * density.wide();
                }
            } else {
                for (angle, density) in all.iter_mut().zip(density) {
                    *angle += self.exponent.mean_field * density.wide();
                }
            }
        }
        if let Some(other) = self.other {
            for (angle, density) in all.iter_mut().zip(&other[here.clone()]) {
                *angle += self.exponent.cross * density.wide();
            }
        }
        all
    }
}

impl<T: Real> Kernel<f64> for Decays<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = f64>>(self) {
        let count = self.out.len();
        for first in (0..count).step_by(CHUNK) {
            let here = first..(first + CHUNK).min(count);
            let mut all = self.exponents(&here);
            for value in &mut all {
                *value = self.exponent.fold * exponential(self.lowest - *value);
            }
            if let Some(corrections) = self.corrections {
                for (value, correction) in all.iter_mut().zip(&corrections[here.clone()]) {
                    *value *= correction;
                }
            }
            if let Some(walls) = self.walls {
                for (value, wall) in all.iter_mut().zip(&walls[here.clone()]) {
                    *value = if *wall { 0.0 } else { *value };
                }
            }
            for (out, value) in self.out[here].iter_mut().zip(all) {
                *out = Complex::new(T::of(value), T::zero());
            }
        }
    }
}
