//! Sums over a row of ψ in double precision, in a fixed number of lanes.
//!
//! Lane l adds the sites l, l + 8, …, and the lanes are added as [`all`] says. Nothing is contracted to a fused multiply-add, so that a sum has the same bits on every machine and
//! whatever vectors it has. Functions are inlined where a kernel has its instructions ([`Level::run`](crate::backend::simd::Level::run)).
//!
//! ψ is given as its real and its imaginary parts.

#![allow(unsafe_code, reason = "SIMD")]

use crate::backend::simd::Lanes;
use crate::field::Real;
use num_complex::Complex64;

/// Lanes of a sum: as many as the widest vector has.
const LANES: usize = 8;
/// Weights that are widened at once, on the stack; a multiple of [`LANES`].
const CHUNK: usize = 64;

/// Real and imaginary parts, as long as each other.
pub(super) type Parts<'a> = [&'a [f64]; 2];

/// Sums of powers of x times |ψ|², and the largest |ψ|².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub norm: f64,
    pub first: f64,
    pub second: f64,
    pub peak: f64,
}

/// The lanes of a sum: 8 of them in the first vectors, at least two numbers in each.
type Eight<L> = [L; LANES / 2];

/// The sum of the lanes.
#[inline(always)]
fn all([a, b, c, d, e, f, g, h]: [f64; LANES]) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
unsafe fn lanes<L: Lanes<Element = f64>>(eight: Eight<L>) -> [f64; LANES] {
    let mut numbers = [0.0; LANES];
    for v in 0..LANES / L::N {
        // SAFETY: eight numbers have room; the instructions are the caller's.
        unsafe { eight[v].store(numbers.as_mut_ptr().add(v * L::N)) };
    }
    numbers
}

/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
unsafe fn total<L: Lanes<Element = f64>>(eight: Eight<L>) -> f64 {
    // SAFETY: the caller's.
    all(unsafe { lanes(eight) })
}

/// The same number in all lanes.
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
unsafe fn splat<L: Lanes<Element = f64>>(value: f64) -> Eight<L> {
    // SAFETY: the caller's.
    [unsafe { L::splat(value) }; LANES / 2]
}

/// What is left behind whole eights, filled up with zeros.
#[inline(always)]
fn rest<T: Real>(numbers: &[T], count: usize) -> [T; LANES] {
    let rest = &numbers[count - count % LANES..count];
    let mut last = [T::zero(); LANES];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// Where eight numbers of each part stand.
type Places<const N: usize> = [*const f64; N];

/// Adds sites eight by eight: `add`, which is unsafe, gets the places of eight numbers of each part, in order; behind the last whole eight those of what is left and zeros.
macro_rules! over_eights {
    ($count:expr, [$($part:expr),+], |$places:ident| $add:expr) => {{
        let count = $count;
        let parts = [$(&$part[..count]),+];
        debug_assert!(parts.iter().all(|part| part.len() == count));
        for at in (0..count - count % LANES).step_by(LANES) {
            let $places = parts.map(|part| part.as_ptr().wrapping_add(at));
            $add;
        }
        if count % LANES > 0 {
            let last = parts.map(|part| rest(part, count));
            let $places = last.each_ref().map(|part| part.as_ptr());
            $add;
        }
    }};
}

/// Σ|ψ|², Σx|ψ|², Σx²|ψ|² and max|ψ|² (0 where none is a number), x counted from `x0`, and Σ w|ψ|².
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn moments<L: Lanes<Element = f64>, T: Real>(
    [re, im]: Parts,
    x0: usize,
    weights: Option<&[T]>,
) -> (Moments, f64) {
    // SAFETY: the caller has the instructions.
    unsafe {
        let mut sums = OfMoments::<L>::new(x0);
        let mut weighted = splat::<L>(0.0);
        for first in (0..re.len()).step_by(CHUNK) {
            let here = first..(first + CHUNK).min(re.len());
            let (re, im) = (&re[here.clone()], &im[here.clone()]);
            if let Some(weights) = weights {
                let wide = widened(&weights[here]);
                over_eights!(re.len(), [re, im, wide], |places| {
                    sums.add([places[0], places[1]]);
                    add_weighted(&mut weighted, places);
                });
            } else {
                over_eights!(re.len(), [re, im], |places| sums.add(places));
            }
        }
        (sums.moments(), total(weighted))
    }
}

/// At most [`CHUNK`] numbers in double precision.
#[inline(always)]
fn widened<T: Real>(numbers: &[T]) -> [f64; CHUNK] {
    let mut wide = [0.0; CHUNK];
    for (wide, number) in wide.iter_mut().zip(numbers) {
        *wide = number.wide();
    }
    wide
}

/// The lanes of [`moments`], and the next sites.
struct OfMoments<L> {
    x: Eight<L>,
    norm: Eight<L>,
    first: Eight<L>,
    second: Eight<L>,
    peak: Eight<L>,
}

impl<L: Lanes<Element = f64>> OfMoments<L> {
    #[inline(always)]
    unsafe fn new(x0: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let sites: [f64; LANES] = std::array::from_fn(|lane| (x0 + lane) as f64);
        // SAFETY: the instructions are the caller's; there are eight numbers.
        unsafe {
            let mut x = splat::<L>(0.0);
            for (v, x) in x.iter_mut().enumerate().take(LANES / L::N) {
                *x = L::load(sites.as_ptr().add(v * L::N));
            }
            let zero = splat(0.0);
            Self {
                x,
                norm: zero,
                first: zero,
                second: zero,
                peak: zero,
            }
        }
    }

    #[inline(always)]
    unsafe fn add(&mut self, places: Places<2>) {
        // SAFETY: the instructions and eight numbers at each place are the caller's.
        unsafe {
            for v in 0..LANES / L::N {
                let density = density::<L>(places, v);
                let moment = self.x[v].mul(density);
                self.norm[v] = self.norm[v].add(density);
                self.first[v] = self.first[v].add(moment);
                self.second[v] = self.second[v].add(self.x[v].mul(moment));
                self.peak[v] = self.peak[v].larger(density);
                self.x[v] = self.x[v].add(L::splat(8.0));
            }
        }
    }

    #[inline(always)]
    unsafe fn moments(self) -> Moments {
        // SAFETY: the instructions are the caller's.
        unsafe {
            Moments {
                norm: total(self.norm),
                first: total(self.first),
                second: total(self.second),
                peak: lanes(self.peak).into_iter().fold(0.0, f64::max),
            }
        }
    }
}

/// Vector `v` of eight numbers.
#[inline(always)]
unsafe fn vector<L: Lanes<Element = f64>>(place: *const f64, v: usize) -> L {
    // SAFETY: the instructions and eight numbers at the place are the caller's.
    unsafe { L::load(place.add(v * L::N)) }
}

/// |ψ|² of vector `v`.
#[inline(always)]
unsafe fn density<L: Lanes<Element = f64>>([re, im]: Places<2>, v: usize) -> L {
    // SAFETY: as above.
    unsafe {
        let (re, im) = (vector::<L>(re, v), vector::<L>(im, v));
        re.mul(re).add(im.mul(im))
    }
}

#[inline(always)]
unsafe fn add_weighted<L: Lanes<Element = f64>>(sum: &mut Eight<L>, [re, im, weights]: Places<3>) {
    // SAFETY: as above.
    unsafe {
        for v in 0..LANES / L::N {
            let term = vector::<L>(weights, v).mul(density::<L>([re, im], v));
            sum[v] = sum[v].add(term);
        }
    }
}

/// Σ w|ψ|².
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn weighted<L: Lanes<Element = f64>, T: Real>([re, im]: Parts, weights: &[T]) -> f64 {
    // SAFETY: the caller has the instructions.
    unsafe {
        let mut sum = splat::<L>(0.0);
        for first in (0..re.len()).step_by(CHUNK) {
            let here = first..(first + CHUNK).min(re.len());
            let wide = widened(&weights[here.clone()]);
            let (re, im) = (&re[here.clone()], &im[here]);
            over_eights!(re.len(), [re, im, wide], |places| add_weighted(&mut sum, places));
        }
        total(sum)
    }
}

/// Σ w|ψ|⁴.
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn weighted_squares<L: Lanes<Element = f64>>([re, im]: Parts, weights: &[f64]) -> f64 {
    // SAFETY: the caller has the instructions.
    unsafe {
        let mut sum = splat::<L>(0.0);
        over_eights!(re.len(), [re, im, weights], |places| {
            let [re, im, weights] = places;
            for v in 0..LANES / L::N {
                let density = density::<L>([re, im], v);
                sum[v] = sum[v].add(vector::<L>(weights, v).mul(density).mul(density));
            }
        });
        total(sum)
    }
}

/// Σ|ψ|²|χ|².
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn densities<L: Lanes<Element = f64>>(psi: Parts, chi: Parts) -> f64 {
    // SAFETY: the caller has the instructions.
    unsafe {
        let mut sum = splat::<L>(0.0);
        over_eights!(psi[0].len(), [psi[0], psi[1], chi[0], chi[1]], |places| {
            let [a, b, c, d] = places;
            for v in 0..LANES / L::N {
                sum[v] = sum[v].add(density::<L>([a, b], v).mul(density::<L>([c, d], v)));
            }
        });
        total(sum)
    }
}

/// Σ Re ψ*χ.
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn dot<L: Lanes<Element = f64>>(psi: Parts, chi: Parts) -> f64 {
    // SAFETY: the caller has the instructions.
    unsafe {
        let mut sum = splat::<L>(0.0);
        over_eights!(psi[0].len(), [psi[0], psi[1], chi[0], chi[1]], |places| {
            for v in 0..LANES / L::N {
                sum[v] = sum[v].add(real_product(places, v));
            }
        });
        total(sum)
    }
}

/// Re ψ*χ of vector `v`.
#[inline(always)]
unsafe fn real_product<L: Lanes<Element = f64>>([a, b, c, d]: Places<4>, v: usize) -> L {
    // SAFETY: as above.
    unsafe {
        let real = vector::<L>(a, v).mul(vector::<L>(c, v));
        real.add(vector::<L>(b, v).mul(vector::<L>(d, v)))
    }
}

/// Im ψ*χ of vector `v`.
#[inline(always)]
unsafe fn imaginary_product<L: Lanes<Element = f64>>([a, b, c, d]: Places<4>, v: usize) -> L {
    // SAFETY: as above.
    unsafe {
        let imaginary = vector::<L>(a, v).mul(vector::<L>(d, v));
        imaginary.sub(vector::<L>(b, v).mul(vector::<L>(c, v)))
    }
}

/// Σ ψ*χ.
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn product<L: Lanes<Element = f64>>(psi: Parts, chi: Parts) -> Complex64 {
    // SAFETY: the caller has the instructions.
    unsafe {
        let (mut re, mut im) = (splat::<L>(0.0), splat::<L>(0.0));
        over_eights!(psi[0].len(), [psi[0], psi[1], chi[0], chi[1]], |places| {
            for v in 0..LANES / L::N {
                re[v] = re[v].add(real_product(places, v));
                im[v] = im[v].add(imaginary_product(places, v));
            }
        });
        Complex64::new(total(re), total(im))
    }
}

/// Σ ψ*f*χ.
///
/// # Safety
/// The machine must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn product_with<L: Lanes<Element = f64>>(psi: Parts, chi: Parts, factors: &[Complex64]) -> Complex64 {
    let count = psi[0].len();
    // SAFETY: the caller has the instructions.
    unsafe {
        let (mut re, mut im) = (splat::<L>(0.0), splat::<L>(0.0));
        for first in (0..count).step_by(CHUNK) {
            let here = first..(first + CHUNK).min(count);
            let (mut f_re, mut f_im) = ([0.0; CHUNK], [0.0; CHUNK]);
            for (n, factor) in factors[here.clone()].iter().enumerate() {
                (f_re[n], f_im[n]) = (factor.re, factor.im);
            }
            let ([a, b], [c, d]) = (psi.map(|part| &part[here.clone()]), chi.map(|part| &part[here.clone()]));
            over_eights!(here.len(), [a, b, c, d, f_re, f_im], |places| {
                let [a, b, c, d, f_re, f_im] = places;
                for v in 0..LANES / L::N {
                    let (x, y) = (
                        real_product::<L>([a, b, c, d], v),
                        imaginary_product::<L>([a, b, c, d], v),
                    );
                    let (f, g) = (vector::<L>(f_re, v), vector::<L>(f_im, v));
                    re[v] = re[v].add(f.mul(x).add(g.mul(y)));
                    im[v] = im[v].add(f.mul(y).sub(g.mul(x)));
                }
            });
        }
        Complex64::new(total(re), total(im))
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;

    use crate::backend::simd::{Kernel, Level};
    use crate::physics::noise::Noise;

    /// Sums as a kernel takes them, at every level: all numbers have the same bits.
    fn at_every_level<const N: usize>(sums: impl Sums<N> + Copy) -> [f64; N] {
        struct Run<'a, S, const N: usize>(S, &'a mut [f64; N]);
        impl<S: Sums<N>, const N: usize> Kernel<f64> for Run<'_, S, N> {
            #[inline(always)]
            unsafe fn run<L: Lanes<Element = f64>>(self) {
                // SAFETY: the caller's.
                *self.1 = unsafe { self.0.take::<L>() };
            }
        }
        let at = |level: Level| {
            let mut found = [0.0; N];
            level.run(Run(sums, &mut found));
            found
        };
        let first = at(Level::Portable);
        for level in Level::available() {
            assert_eq!(at(level).map(f64::to_bits), first.map(f64::to_bits), "{level:?}");
        }
        first
    }

    trait Sums<const N: usize> {
        unsafe fn take<L: Lanes<Element = f64>>(self) -> [f64; N];
    }

    /// Two fields, weights and factors.
    #[derive(Clone, Copy)]
    struct Of<'a>(Parts<'a>, Parts<'a>, &'a [f64], &'a [Complex64]);

    impl Sums<14> for Of<'_> {
        #[inline(always)]
        unsafe fn take<L: Lanes<Element = f64>>(self) -> [f64; 14] {
            let Self(psi, chi, weights, factors) = self;
            // SAFETY: the caller's.
            unsafe {
                let (found, energy) = moments::<L, f64>(psi, 5, Some(weights));
                let (product, other) = (product::<L>(psi, chi), product_with::<L>(psi, chi, factors));
                let alone = moments::<L, f64>(psi, 5, None).0;
                let same = f64::from(u8::from(alone == found || found.norm.is_nan()));
                [
                    found.norm,
                    found.first,
                    found.second,
                    found.peak,
                    energy,
                    weighted::<L, f64>(psi, weights),
                    weighted_squares::<L>(psi, weights),
                    densities::<L>(psi, chi),
                    dot::<L>(psi, chi),
                    product.re,
                    product.im,
                    other.re,
                    other.im,
                    same,
                ]
            }
        }
    }

    /// Every sum against the formula, added one by one: both are off by at most n ε times the sum of the moduli.
    #[test]
    fn sums_are_those_of_the_formulas() {
        let mut random = Noise::new(1);
        for count in [0, 1, 7, 8, 9, 64, 203] {
            let parts: Vec<Vec<f64>> = (0..5).map(|_| (0..count).map(|_| random.signed()).collect()).collect();
            let factors: Vec<Complex64> = (0..count)
                .map(|_| Complex64::new(random.signed(), random.signed()))
                .collect();
            let (psi, chi): (Parts, Parts) = ([&parts[0], &parts[1]], [&parts[2], &parts[3]]);
            let at = |psi: Parts, n: usize| Complex64::new(psi[0][n], psi[1][n]);
            let check = |found: f64, term: &dyn Fn(usize) -> f64| {
                let exact: f64 = (0..count).map(term).sum();
                let size: f64 = (0..count).map(|n| term(n).abs()).sum();
                // Terms of products that cancel are as large as the products: at most 10 times here.
                let allowed = (count + 8) as f64 * f64::EPSILON * size.max(count as f64);
                assert!((found - exact).abs() <= allowed, "{count}: {found} {exact}");
            };
            let found = at_every_level(Of(psi, chi, &parts[4], &factors));
            let density = |n: usize| at(psi, n).norm_sqr();
            check(found[0], &density);
            check(found[1], &|n| (n + 5) as f64 * density(n));
            check(found[2], &|n| ((n + 5) as f64).powi(2) * density(n));
            let peak = (0..count).map(|n| psi[0][n] * psi[0][n] + psi[1][n] * psi[1][n]);
            assert_eq!(found[3], peak.fold(0.0, f64::max));
            check(found[4], &|n| parts[4][n] * density(n));
            assert_eq!(found[4], found[5]);
            check(found[6], &|n| parts[4][n] * density(n).powi(2));
            check(found[7], &|n| density(n) * at(chi, n).norm_sqr());
            let term = |n: usize| at(psi, n).conj() * at(chi, n);
            check(found[8], &|n| term(n).re);
            check(found[9], &|n| term(n).re);
            check(found[10], &|n| term(n).im);
            check(found[11], &|n| (factors[n].conj() * term(n)).re);
            check(found[12], &|n| (factors[n].conj() * term(n)).im);
            assert_eq!(found[13], 1.0, "weights change the moments");
        }
    }

    /// What is no number is no peak, and makes all other sums none.
    #[test]
    fn what_is_no_number_is_no_peak() {
        let (re, zero) = ([1.0, f64::NAN, 2.0], [0.0; 3]);
        let (psi, factors) = ([&re[..], &zero[..]], [Complex64::ONE; 3]);
        let found = at_every_level(Of(psi, psi, &[1.0; 3], &factors));
        assert_eq!(found[3], 4.0);
        assert!([0, 1, 2, 4, 6, 7, 8].into_iter().all(|n| found[n].is_nan()));
    }
}
