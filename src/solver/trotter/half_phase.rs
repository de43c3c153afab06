//! The half phase between ψ of the scene and φ, which is stepped.

use super::media::{Exponent, Media};
use crate::field::Real;
use num_complex::Complex;

/// The first half phase, or its inverse, at one moment.
#[derive(Clone, Debug)]
pub(super) struct HalfPhase {
    pub(super) exponent: Exponent,
    /// g τ, where g is the same at all sites.
    pub(super) interaction: f64,
    /// τ.
    pub(super) length: f64,
    pub(super) direction: f64,
}

impl HalfPhase {
    /// Applies it to sites x0.. of a row. The interaction's phase has |φ|² (after damping) for density, both ways.
    pub(super) fn apply<T: Real>(&self, media: &Media<T>, row: usize, x0: usize, sites: &mut [Complex<T>]) {
        let mut factors = vec![Complex::default(); sites.len()];
        media.factors(row, x0, &self.exponent, None, &[], &mut factors);
        for (n, (site, factor)) in sites.iter_mut().zip(&factors).enumerate() {
            let mut value = *site * factor;
            let interaction = media
                .strength(row, x0 + n)
                .map_or(self.interaction, |g| g * self.length);
            if interaction != 0.0 {
                let damped = if self.direction > 0.0 { value } else { *site };
                let angle = -interaction * damped.norm_sqr().wide();
                value *= Complex::new(T::of(angle.cos()), T::of(angle.sin()));
            }
            *site = value;
        }
    }
}
