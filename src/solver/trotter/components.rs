//! Two coupled components: ψ₁ has the potential g₁₂|ψ₂|², ψ₂ has g₁₂|ψ₁|².
//!
//! They are the two halves of the field, the sites of the last axis. A phase changes neither density, so that e^{−ig₁₂|ψ₂|²τ} of the first and e^{−ig₁₂|ψ₁|²τ} of the second are exact together;
//! they commute with the phases of the step and stand next to its sweeps, half of them before and half after (all before them at order 1), where absorption has not changed the densities: a
//! step stays a palindrome.
//!
//! C. J. Pethick, H. Smith, Bose–Einstein Condensation in Dilute Gases (2008), section 12.1; W. Bao, D. Jaksch, P. A. Markowich, J. Comput. Phys. 187 (2003) 318, doi 10.1016/S0021-9991(03)00102-5 (the
//! splitting).

use crate::field::Real;
use crate::field::angles::{cos_and_sin, reduce};

/// Sites that are turned at once, on the stack.
const CHUNK: usize = 64;

/// What turns pairs: g₁₂τ.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossPhase<T>(T);

impl<T: Real> CrossPhase<T> {
    /// `None` where there is nothing to turn.
    pub(super) fn new(strength: f64, time: f64) -> Option<Self> {
        let angle = strength * time;
        (angle != 0.0).then(|| Self(T::of(angle)))
    }

    /// Turns places of the first component by the densities of the second at the same places, and those of the second by the first's; (re, im), all as long.
    ///
    /// To be inlined where the machine's vectors are: a chunk is nothing but loops without branches.
    #[inline(always)]
    pub(super) fn turn(self, first: [&mut [T]; 2], second: [&mut [T]; 2]) {
        let ([re, im], [other_re, other_im]) = (first, second);
        let chunks = re.chunks_mut(CHUNK).zip(im.chunks_mut(CHUNK));
        let others = other_re.chunks_mut(CHUNK).zip(other_im.chunks_mut(CHUNK));
        for ((re, im), (other_re, other_im)) in chunks.zip(others) {
            let [mut by_other, mut by_own] = [[T::zero(); CHUNK]; 2];
            self.angles(re, im, &mut by_own);
            self.angles(other_re, other_im, &mut by_other);
            turn_by(&by_other, re, im);
            turn_by(&by_own, other_re, other_im);
        }
    }

    /// g₁₂τ|ψ|².
    #[inline(always)]
    fn angles(self, re: &[T], im: &[T], angles: &mut [T; CHUNK]) {
        for ((re, im), angle) in re.iter().zip(im).zip(angles.iter_mut()) {
            *angle = self.0 * (*re * *re + *im * *im);
        }
        reduce(angles);
    }
}

/// Multiplies with e^{−i angle}.
#[inline(always)]
fn turn_by<T: Real>(angles: &[T; CHUNK], re: &mut [T], im: &mut [T]) {
    for ((re, im), angle) in re.iter_mut().zip(im).zip(angles) {
        let (cos, sin) = cos_and_sin(*angle);
        (*re, *im) = (*re * cos + *im * sin, *im * cos - *re * sin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    /// Lengths beside whole chunks, angles of both signs and beyond a turn, against the library's sine and cosine.
    #[test]
    fn pairs_are_turned_by_each_other() {
        for (strength, count) in [(0.3, 1), (-2.5, CHUNK), (40.0, 2 * CHUNK + 7)] {
            let place = |n: usize, shift: f64| {
                let n = f64::from(u32::try_from(n).unwrap());
                Complex64::new((n * 0.7 + shift).sin(), (n * 1.3 - shift).cos())
            };
            let [a, b] = [0.2, 1.9].map(|shift| (0..count).map(|n| place(n, shift)).collect::<Vec<_>>());
            let parts = |all: &[Complex64]| -> [Vec<f64>; 2] {
                [all.iter().map(|z| z.re).collect(), all.iter().map(|z| z.im).collect()]
            };
            let ([mut re, mut im], [mut other_re, mut other_im]) = (parts(&a), parts(&b));
            let phase = CrossPhase::<f64>::new(strength, 1.0).unwrap();
            phase.turn([&mut re, &mut im], [&mut other_re, &mut other_im]);
            for n in 0..count {
                let first = a[n] * Complex64::cis(-strength * b[n].norm_sqr());
                let second = b[n] * Complex64::cis(-strength * a[n].norm_sqr());
                assert!((first - Complex64::new(re[n], im[n])).norm() < 1e-13, "{n}");
                assert!(
                    (second - Complex64::new(other_re[n], other_im[n])).norm() < 1e-13,
                    "{n}"
                );
            }
        }
        assert!(CrossPhase::<f64>::new(0.0, 1.0).is_none());
    }
}
