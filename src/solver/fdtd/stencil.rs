//! One row of one step: coefficients and kernels.

#![allow(unsafe_code, reason = "vector instructions")]

use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::Real;
use std::ops::Range;

/// C₀ … C₄ of the one-axis second difference of order 2h, in row h: p″ ≈ Σₖ₌₀ Cₖ (p₊ₖ + p₋ₖ), so that C₀ is half a centre weight.
///
/// Source: Levchenko, Perepelkina & Zakirov 2016, doi:10.3390/computation4030029, coefficient table.
pub const COEFFICIENTS: [[f64; 5]; 5] = [
    [0.0; 5],
    [-1.0, 1.0, 0.0, 0.0, 0.0],
    [-5.0 / 4.0, 4.0 / 3.0, -1.0 / 12.0, 0.0, 0.0],
    [-49.0 / 36.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0, 0.0],
    [-205.0 / 144.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0],
];

/// The weights of the flux through a face, in row h: g = Σₘ₌₁ wₘ (p₊ₘ₋½ − p₋ₘ₊½), wₘ = Σₖ₌ₘ Cₖ, for the absorbing layers. The difference of g between the two
/// faces of a site is the second difference of [`COEFFICIENTS`].
pub const FLUX: [[f64; 4]; 5] = [
    [0.0; 4],
    [1.0, 0.0, 0.0, 0.0],
    [5.0 / 4.0, -1.0 / 12.0, 0.0, 0.0],
    [49.0 / 36.0, -5.0 / 36.0, 1.0 / 90.0, 0.0],
    [
        205.0 / 144.0,
        -1.0 / 5.0 + 8.0 / 315.0 - 1.0 / 560.0,
        8.0 / 315.0 - 1.0 / 560.0,
        -1.0 / 560.0,
    ],
];

/// The largest eigenvalue of −p″ on one axis, times a²: 2|C₀| + 2Σ|Cₖ|, attained at the shortest wave.
pub fn symbol(half: usize) -> f64 {
    2.0 * COEFFICIENTS[half].iter().map(|c| c.abs()).sum::<f64>()
}

/// The largest c Δt/a at which the scheme is stable: 2/√(rank · [`symbol`]).
#[expect(clippy::cast_precision_loss, reason = "1 to 3")]
pub fn courant_limit(half: usize, rank: usize) -> f64 {
    2.0 / (rank as f64 * symbol(half)).sqrt()
}

/// The rows that a step of one row reads. All slices are as long as the row, except `x`, which holds `half` sites more at either end.
pub struct Rows<'a, T> {
    /// The row itself with its neighbours along x.
    pub x: &'a [T],
    /// Rows j − k and j + k at [k − 1], in 2D and 3D.
    pub y: [[&'a [T]; 2]; 4],
    /// Rows of planes k − k′ and k + k′, in 3D.
    pub z: [[&'a [T]; 2]; 4],
}

impl<T> Rows<'_, T> {
    /// A part of the row.
    pub(super) fn part(&self, sites: Range<usize>, half: usize) -> Rows<'_, T> {
        Rows {
            x: &self.x[sites.start..sites.end + 2 * half],
            y: self.y.map(|pair| pair.map(|row| &row[sites.clone()])),
            z: self.z.map(|pair| pair.map(|row| &row[sites.clone()])),
        }
    }
}

/// Steps a row in place: `old` holds pⁿ⁻¹ and gets pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² L pⁿ), λ² = `square` or one of `squares` per site. The inner bracket
/// is small where the wave is well resolved, so that single precision loses one rounding a step and not two.
///
/// This kernel takes its neighbours from anywhere in memory, as rows at edges need; [`super::bundle`] does the same for the rest, several rows at a time.
pub type Kernel<T> = fn(old: &mut [T], rows: &Rows<'_, T>, square: T, squares: Option<&[T]>);

/// The function `$step::<$T, H, D>` of a half width H (1 to 4) in D dimensions.
macro_rules! of_stencil {
    ($step:ident, $T:ty, $half:expr, $rank:expr) => {
        match ($half, $rank) {
            (1, 1) => $step::<$T, 1, 1>,
            (1, 2) => $step::<$T, 1, 2>,
            (1, _) => $step::<$T, 1, 3>,
            (2, 1) => $step::<$T, 2, 1>,
            (2, 2) => $step::<$T, 2, 2>,
            (2, _) => $step::<$T, 2, 3>,
            (3, 1) => $step::<$T, 3, 1>,
            (3, 2) => $step::<$T, 3, 2>,
            (3, _) => $step::<$T, 3, 3>,
            (_, 1) => $step::<$T, 4, 1>,
            (_, 2) => $step::<$T, 4, 2>,
            _ => $step::<$T, 4, 3>,
        }
    };
}
pub(super) use of_stencil;

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
pub fn kernel<T: Vectors>(half: usize, rank: usize) -> Kernel<T> {
    of_stencil!(step_row, T, half, rank)
}

fn step_row<T: Vectors, const H: usize, const D: usize>(
    old: &mut [T],
    rows: &Rows<'_, T>,
    square: T,
    squares: Option<&[T]>,
) {
    Level::best().run(Step::<T, H, D> {
        old,
        rows,
        square,
        squares,
    });
}

/// See [`Kernel`].
struct Step<'a, T, const H: usize, const D: usize> {
    old: &'a mut [T],
    rows: &'a Rows<'a, T>,
    square: T,
    squares: Option<&'a [T]>,
}

impl<T: Vectors, const H: usize, const D: usize> simd::Kernel<T> for Step<'_, T, H, D> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        // SAFETY: the caller's contract.
        unsafe { row::<L, H, D>(self.old, self.rows, self.square, self.squares) }
    }
}

/// Starts of rows that are at least `n` long; of those that a rank has not, of the row itself.
#[inline(always)]
fn starts<T, const H: usize>(from: &[[&[T]; 2]; 4], used: bool, own: &[T], n: usize) -> [[*const T; 2]; H] {
    std::array::from_fn(|k| {
        [0, 1].map(|side| {
            if used {
                from[k][side][..n].as_ptr()
            } else {
                own.as_ptr()
            }
        })
    })
}

/// What the sum over the neighbours at one distance is in a constant field: 2D p, rounded once, as the sum itself is.
///
/// L p is summed from differences to this, Σ Cₖ (Σ p − 2D p): a uniform field stays uniform to the bit, for any rounding of the Cₖ.
/// With a weight for the site itself the rounded weights would leave a sum of about 10⁻⁷, under which the mean grows like a wave of imaginary frequency.
///
/// # Safety
/// The processor must have the instructions of `L`, for the four.
#[inline(always)]
pub(super) unsafe fn level<L: Lanes, const D: usize>(here: L) -> L {
    // SAFETY: instructions as the caller promises.
    unsafe { L::splat(L::Element::of(f64::from([0u8, 2, 4, 6][D]))).mul(here) }
}

/// The first part of L pⁿ of a vector of sites; `pairs` is the sum of the sites at distance 1 on all axes.
#[inline(always)]
pub(super) unsafe fn first<L: Lanes, const H: usize>(pairs: L, level: L) -> L {
    // SAFETY: instructions as the caller promises.
    unsafe {
        let difference = pairs.sub(level);
        if H == 1 {
            difference
        } else {
            L::splat(L::Element::of(COEFFICIENTS[H][1])).mul(difference)
        }
    }
}

/// With part k ≥ 2: `pairs` is the sum of the sites at distance k on all axes.
#[inline(always)]
pub(super) unsafe fn term<L: Lanes, const H: usize>(k: usize, pairs: L, level: L, sum: L) -> L {
    // SAFETY: instructions as the caller promises.
    unsafe { L::splat(L::Element::of(COEFFICIENTS[H][k])).mul_add(pairs.sub(level), sum) }
}

/// pⁿ⁺¹ from pⁿ, pⁿ⁻¹, λ² and L pⁿ. See [`Kernel`].
#[inline(always)]
pub(super) unsafe fn next<L: Lanes>([here, before, square]: [L; 3], sum: L) -> L {
    // SAFETY: instructions as the caller promises.
    unsafe { here.add(square.mul_add(sum, here.sub(before))) }
}

/// `count` numbers of a vector, all N if `WHOLE`.
///
/// # Safety
/// They are there; the processor must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn load<L: Lanes, const WHOLE: bool>(from: *const L::Element, count: usize) -> L {
    debug_assert!(count <= L::N && !from.is_null(), "{count} sites");
    // SAFETY: the caller's promise.
    unsafe {
        if WHOLE {
            L::load(from)
        } else {
            L::load_some(from, count)
        }
    }
}

/// Writes `count` numbers of a vector, all N if `WHOLE`.
///
/// # Safety
/// As for [`load`], with room for them.
#[inline(always)]
pub(super) unsafe fn store<L: Lanes, const WHOLE: bool>(vector: L, to: *mut L::Element, count: usize) {
    debug_assert!(count <= L::N && !to.is_null(), "{count} sites");
    // SAFETY: the caller's promise.
    unsafe {
        if WHOLE {
            vector.store(to);
        } else {
            vector.store_some(to, count);
        }
    }
}

/// L p of one site from its neighbours ([`super::walls::Around`]), in the order of the kernels.
pub(super) fn site_sum<T: Real>(half: usize, rank: usize, here: T, around: &[[[T; 2]; 4]; 3]) -> T {
    let level = T::of([0.0, 2.0, 4.0, 6.0][rank]) * here;
    let mut sum = T::zero();
    for (k, weight) in COEFFICIENTS[half][1..=half].iter().enumerate() {
        let pair = |axis: usize| around[axis][k][0] + around[axis][k][1];
        let mut pairs = pair(0);
        for axis in 1..rank {
            pairs += pair(axis);
        }
        sum += T::of(*weight) * (pairs - level);
    }
    sum
}

/// See [`Kernel`].
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn row<L: Lanes, const H: usize, const D: usize>(
    old: &mut [L::Element],
    rows: &Rows<'_, L::Element>,
    square: L::Element,
    squares: Option<&[L::Element]>,
) {
    let n = old.len();
    let mut around = Around::<L::Element, H> {
        x: rows.x[..n + 2 * H].as_ptr(),
        y: starts(&rows.y, D > 1, rows.x, n),
        z: starts(&rows.z, D > 2, rows.x, n),
        square,
        squares: None,
        out: old.as_mut_ptr(),
    };
    if let Some(squares) = squares {
        around.squares = Some(squares[..n].as_ptr());
    }
    let whole = n - n % L::N;
    // SAFETY: every row holds n values (`x` 2H more) from its start on, and no site from n on is stepped; instructions as the caller promises.
    unsafe {
        for i in (0..whole).step_by(L::N) {
            around.step::<L, D, true>(i, L::N);
        }
        if whole < n {
            around.step::<L, D, false>(whole, n - whole);
        }
    }
}

/// Where a row and what stands around it begin.
struct Around<T, const H: usize> {
    /// H sites before the row.
    x: *const T,
    y: [[*const T; 2]; H],
    z: [[*const T; 2]; H],
    square: T,
    squares: Option<*const T>,
    out: *mut T,
}

impl<T: Real, const H: usize> Around<T, H> {
    /// Steps `count` sites from `i` on, a whole vector or less.
    ///
    /// # Safety
    /// They are there; the processor must have the instructions of `L`.
    #[inline(always)]
    unsafe fn step<L: Lanes<Element = T>, const D: usize, const WHOLE: bool>(&self, i: usize, count: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let here = load::<L, WHOLE>(self.x.add(i + H), count);
            let level = level::<L, D>(here);
            let mut all = here;
            for k in 1..=H {
                let (low, high) = (self.x.add(i + H - k), self.x.add(i + H + k));
                let mut sum = load::<L, WHOLE>(low, count).add(load::<L, WHOLE>(high, count));
                if D > 1 {
                    let [low, high] = self.y[k - 1];
                    let pair = load::<L, WHOLE>(low.add(i), count).add(load::<L, WHOLE>(high.add(i), count));
                    sum = sum.add(pair);
                }
                if D > 2 {
                    let [low, high] = self.z[k - 1];
                    let pair = load::<L, WHOLE>(low.add(i), count).add(load::<L, WHOLE>(high.add(i), count));
                    sum = sum.add(pair);
                }
                all = if k == 1 {
                    first::<L, H>(sum, level)
                } else {
                    term::<L, H>(k, sum, level, all)
                };
            }
            let mut square = L::splat(self.square);
            if let Some(squares) = self.squares {
                square = load::<L, WHOLE>(squares.add(i), count);
            }
            let out = self.out.add(i);
            store::<L, WHOLE>(next([here, load::<L, WHOLE>(out, count), square], all), out, count);
        }
    }
}
