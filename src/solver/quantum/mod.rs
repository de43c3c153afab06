//! What methods for the Schrödinger equation share.

pub(super) mod kick;

use crate::field::{Precision, Real};
use num_complex::Complex;

/// `scale`·e^{i angle}, rounded so that in single precision the modulus is as near to `scale` as neighbouring numbers allow:
/// a factor that is applied every step must not drift.
pub fn rotation<T: Real>(scale: f64, angle: f64) -> Complex<T> {
    let exact = Complex::from_polar(scale, angle);
    let mut best = Complex::new(T::of(exact.re), T::of(exact.im));
    if T::PRECISION == Precision::Double {
        return best;
    }
    let miss = |z: &Complex<T>| (z.re.wide().powi(2) + z.im.wide().powi(2) - scale * scale).abs();
    let around = |x: f64| [T::of(x), T::of(x * (1.0 + 6e-8)), T::of(x * (1.0 - 6e-8))];
    for re in around(exact.re) {
        for im in around(exact.im) {
            let candidate = Complex::new(re, im);
            if miss(&candidate) < miss(&best) {
                best = candidate;
            }
        }
    }
    best
}
