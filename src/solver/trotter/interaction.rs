//! The interaction's phase e^{−i(g₀n + g₁n′)}: n = |φ|², n′ the same before the factor that has multiplied φ.

use crate::field::Real;
use crate::field::angles::{cos_and_sin, reduce};
use num_complex::Complex;

/// Below |factor|² of every site but walls, where there is nothing to turn.
const SMALLEST_SQUARE: f64 = 1e-25;
/// Sites that are turned at once: vectors of every width divide them.
const CHUNK: usize = 16;

/// What multiplies n: g₀ + g₁/|factor|².
#[inline(always)]
fn strength<T: Real>([after, before]: [T; 2], [c, s]: [T; 2]) -> T {
    if before == T::zero() {
        return after;
    }
    let square = c * c + s * s;
    // On walls ψ is 0; strong interactions over 0 would be no number there.
    after
        + if square > T::of(SMALLEST_SQUARE) {
            before / square
        } else {
            T::zero()
        }
}

/// Turns the values of some sites that their `factors`, real and imaginary parts, have multiplied. `scale` are g₀ and g₁, or where sites have `own` strengths what
/// multiplies these.
#[inline(always)]
pub(super) fn interact<T: Real>(re: &mut [T], im: &mut [T], factors: [&[T]; 2], own: Option<&[T]>, scale: [T; 2]) {
    let (re, re_left) = re.as_chunks_mut::<CHUNK>();
    let (im, im_left) = im.as_chunks_mut::<CHUNK>();
    let [(c, c_left), (s, s_left)] = factors.map(|part| part.as_chunks::<CHUNK>());
    let own = own.map(|own| own.as_chunks::<CHUNK>());
    for (n, (re, im)) in re.iter_mut().zip(im).enumerate() {
        interact_chunk(re, im, [&c[n], &s[n]], own.map(|(own, _)| &own[n]), scale);
    }
    let left = re_left.len();
    if left > 0 {
        let filled = |from: &[T]| {
            let mut all = [T::zero(); CHUNK];
            all[..left].copy_from_slice(&from[..left]);
            all
        };
        let (mut re, mut im, own) = (filled(re_left), filled(im_left), own.map(|(_, own)| filled(own)));
        interact_chunk(
            &mut re,
            &mut im,
            [&filled(c_left), &filled(s_left)],
            own.as_ref(),
            scale,
        );
        re_left.copy_from_slice(&re[..left]);
        im_left.copy_from_slice(&im[..left]);
    }
}

/// The same of so many sites as the compiler knows, in loops of which nothing is left over.
#[inline(always)]
pub(super) fn interact_chunk<T: Real, const N: usize>(
    re: &mut [T; N],
    im: &mut [T; N],
    [c, s]: [&[T; N]; 2],
    own: Option<&[T; N]>,
    [after, before]: [T; 2],
) {
    let mut angles = [T::zero(); N];
    for n in 0..N {
        angles[n] = re[n] * re[n] + im[n] * im[n];
    }
    match own {
        Some(own) => {
            for n in 0..N {
                angles[n] = strength([after * own[n], before * own[n]], [c[n], s[n]]) * angles[n];
            }
        }
        None => {
            for n in 0..N {
                angles[n] = strength([after, before], [c[n], s[n]]) * angles[n];
            }
        }
    }
    reduce(&mut angles);
    for n in 0..N {
        let (cos, sin) = cos_and_sin(angles[n]);
        (re[n], im[n]) = (re[n] * cos + im[n] * sin, im[n] * cos - re[n] * sin);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the unit of length: in single precision g₁ = 10²⁰ over the square of a wall's factor is infinite, and times ψ = 0 no number.
    #[test]
    fn walls_stay_empty_however_strong_the_interaction() {
        let value = interact_site(Complex::new(0.0f32, 0.0), Complex::new(0.0, 0.0), [1e20, 1e20]);
        assert_eq!(value, Complex::new(0.0, 0.0));
        let (mut re, mut im) = ([0.0f32; 3], [0.0f32; 3]);
        interact(&mut re, &mut im, [&[0.0; 3], &[0.0; 3]], Some(&[1.0; 3]), [1e20, 1e20]);
        assert_eq!((re, im), ([0.0; 3], [0.0; 3]));
    }

    /// Chunks and what is left of them, alike and different strengths, before and after factors, walls among them: as site by site.
    #[test]
    fn rows_are_turned_as_their_sites() {
        let wave = |n: usize, by: f64| (f64::from(u8::try_from(n).unwrap_or(0)) * by).sin();
        for count in [1, CHUNK, 2 * CHUNK + 7] {
            let values = |by: f64| (0..count).map(|n| wave(n, by)).collect::<Vec<_>>();
            let (mut re, mut im, mut c, s, own) = (values(0.7), values(1.3), values(0.2), values(0.4), values(0.9));
            let before: Vec<_> = re.iter().zip(&im).map(|(re, im)| Complex::new(*re, *im)).collect();
            c[0] = 0.0;
            for (own, scale) in [(None, [0.8, 0.0]), (None, [0.3, 0.6]), (Some(&own[..]), [5.0, 2.0])] {
                interact(&mut re, &mut im, [&c, &s], own, scale);
                let site = |n: usize, value| {
                    let g = scale.map(|scale| own.map_or(scale, |own| scale * own[n]));
                    interact_site(value, Complex::new(c[n], s[n]), g)
                };
                let expected: Vec<_> = before.iter().enumerate().map(|(n, value)| site(n, *value)).collect();
                for n in 0..count {
                    assert_eq!(
                        Complex::new(re[n], im[n]),
                        expected[n],
                        "site {n} of {count}, {scale:?}"
                    );
                    (re[n], im[n]) = (before[n].re, before[n].im);
                }
            }
        }
    }
}
