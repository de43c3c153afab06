//! Two components that act on each other: ψ₁ has the potential g₁₂|ψ₂|², ψ₂ has g₁₂|ψ₁|².
//!
//! They are the two halves of the field, the sites of the last axis. A phase changes neither density, so that e^{−ig₁₂|ψ₂|²τ} of the first and e^{−ig₁₂|ψ₁|²τ} of the second are exact together;
//! they commute with the phases of the step and stand next to its sweeps, half of them before and half after (all before them at order 1), where absorption has not changed the densities: a
//! step stays a palindrome.
//!
//! C. J. Pethick, H. Smith, Bose–Einstein Condensation in Dilute Gases (2008), section 12.1; W. Bao, D. Jaksch, P. A. Markowich, J. Comput. Phys. 187 (2003) 318, doi 10.1016/S0021-9991(03)00102-5 (the
//! splitting).

use crate::field::Real;
use num_complex::Complex;

/// What turns pairs: g₁₂τ.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossPhase<T>(T);

impl<T: Real> CrossPhase<T> {
    /// `None` where there is nothing to turn.
    pub(super) fn new(strength: f64, time: f64) -> Option<Self> {
        let angle = strength * time;
        (angle != 0.0).then(|| Self(T::of(angle)))
    }

    /// A place of the first component and the same of the second.
    #[inline]
    pub(super) fn turn(self, first: Complex<T>, second: Complex<T>) -> [Complex<T>; 2] {
        let by = |density: T| {
            let angle = self.0 * density;
            Complex::new(angle.cos(), -angle.sin())
        };
        [first * by(second.norm_sqr()), second * by(first.norm_sqr())]
    }
}
