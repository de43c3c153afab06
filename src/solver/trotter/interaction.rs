//! The interaction's phase e^{−i(g₀n + g₁n′)}: n = |φ|², n′ the same before the factor that has multiplied φ.

use crate::field::Real;
use crate::field::angles::{cos_and_sin, reduce};
use num_complex::Complex;

/// Below |factor|² of every site but walls, where there is nothing to turn.
const SMALLEST_SQUARE: f64 = 1e-25;
/// Sites that are turned at once, on the stack.
const CHUNK: usize = 64;

/// What multiplies n: g₀ + g₁/|factor|².
#[inline(always)]
fn strength<T: Real>([after, before]: [T; 2], [c, s]: [T; 2]) -> T {
    if before == T::zero() {
        return after;
    }
    let square = c * c + s * s;
    let least = T::of(SMALLEST_SQUARE);
    after + before / if square > least { square } else { least }
}

/// Turns the values of some sites that their `factors`, real and imaginary parts, have multiplied; `g` says g₀ and g₁ of a site.
#[inline(always)]
pub(super) fn interact<T: Real>(re: &mut [T], im: &mut [T], factors: [&[T]; 2], g: impl Fn(usize) -> [T; 2]) {
    let sites = re.len();
    let (im, [c, s]) = (&mut im[..sites], factors.map(|part| &part[..sites]));
    let mut angles = [T::zero(); CHUNK];
    for first in (0..sites).step_by(CHUNK) {
        let here = first..(first + CHUNK).min(sites);
        let angles = &mut angles[..here.len()];
        let (re, im) = (&mut re[here.clone()], &mut im[here.clone()]);
        let (c, s) = (&c[here.clone()], &s[here]);
        for n in 0..angles.len() {
            angles[n] = strength(g(first + n), [c[n], s[n]]) * (re[n] * re[n] + im[n] * im[n]);
        }
        reduce(angles);
        for n in 0..angles.len() {
            let (cos, sin) = cos_and_sin(angles[n]);
            (re[n], im[n]) = (re[n] * cos + im[n] * sin, im[n] * cos - re[n] * sin);
        }
    }
}

/// The same of one site.
#[inline(always)]
pub(super) fn interact_site<T: Real>(value: Complex<T>, factor: Complex<T>, g: [T; 2]) -> Complex<T> {
    if g[0] == T::zero() {
        return value;
    }
    let mut angle = [strength(g, [factor.re, factor.im]) * value.norm_sqr()];
    reduce(&mut angle);
    let (cos, sin) = cos_and_sin(angle[0]);
    Complex::new(value.re * cos + value.im * sin, value.im * cos - value.re * sin)
}
