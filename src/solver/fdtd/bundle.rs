//! Rows inside the grid, several planes at a time.
//!
//! Work: as [`super::stencil`], operation by operation, so that both give the same bits. What is saved are loads. Rows of a bundle of Z planes that stand
//! in one column along z share what they read along it, 2H + Z rows instead of Z(2H + 1), and neighbours along x come from the aligned vectors
//! beside by permutation where that is one instruction: at order 8 and Z = 2 a vector of sites takes 15 loads, of which 6 come from the second-level
//! cache, instead of 25 (10), 8 of them across cache lines.
//!
//! While it goes, the kernel asks for rows that will be needed later, a cache line a vector: rows are too short for the processor to find out by itself.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::lattice::Mirror;
use super::stencil::{first, level, next, term};
use crate::backend::simd::{self, Lanes, Level, Vectors, prefetch};

/// Bundles of rows, one behind the other, and where their neighbours lie.
///
/// Every row must hold `sites` values from its pointer on and [`super::lattice::Lattice::FRONT`] more at either end, the nearest of which are
/// ghosts as far as the stencil reaches; so must all rows within its reach. Nobody else may write what is read or touch what is written.
pub struct Bundles<'a, T> {
    /// pⁿ at the first site of the first row.
    pub now: *const T,
    /// pⁿ⁻¹ there, which becomes pⁿ⁺¹.
    pub out: *mut T,
    /// λ² there, if every site has its own.
    pub squares: Option<*const T>,
    /// λ² otherwise.
    pub square: T,
    /// Values from a row to the one beside it along y, in 2D and 3D.
    pub y: usize,
    /// The same along z, in 3D; rows of a bundle are as far apart.
    pub z: usize,
    /// Sites of a row.
    pub sites: usize,
    /// Bundles.
    pub count: usize,
    /// Values from a bundle to the next.
    pub step: usize,
    /// The ghosts at both ends.
    pub mirrors: &'a [Mirror],
    /// Rows that will be read soon, any number; every bundle asks for its share.
    pub ahead: &'a [*const T],
}

/// Steps bundles in place, with the ghosts along x ([`super::stencil::Kernel`] says what).
///
/// # Safety
/// See [`Bundles`].
pub type BundleKernel<T> = unsafe fn(bundles: &Bundles<'_, T>);

/// Kernels for bundles of 1, 2 and 4 rows.
pub type BundleKernels<T> = [BundleKernel<T>; 3];

/// The fastest kernels of half width `half` (1 to 4) in `rank` dimensions; several rows are bundled in three.
#[must_use]
pub fn bundle_kernels<T: Vectors>(half: usize, rank: usize) -> BundleKernels<T> {
    match half {
        1 => by_rank::<T, 1>(rank),
        2 => by_rank::<T, 2>(rank),
        3 => by_rank::<T, 3>(rank),
        _ => by_rank::<T, 4>(rank),
    }
}

fn by_rank<T: Vectors, const H: usize>(rank: usize) -> BundleKernels<T> {
    match rank {
        1 => [step::<T, H, 1, 1>; 3],
        2 => [step::<T, H, 2, 1>; 3],
        _ => [step::<T, H, 3, 1>, step::<T, H, 3, 2>, step::<T, H, 3, 4>],
    }
}

/// # Safety
/// See [`Bundles`].
unsafe fn step<T: Vectors, const H: usize, const D: usize, const Z: usize>(bundles: &Bundles<'_, T>) {
    Level::best().run(Step::<T, H, D, Z> { bundles });
}

struct Step<'a, T, const H: usize, const D: usize, const Z: usize> {
    bundles: &'a Bundles<'a, T>,
}

impl<T: Vectors, const H: usize, const D: usize, const Z: usize> simd::Kernel<T> for Step<'_, T, H, D, Z> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let all = self.bundles;
        debug_assert!(D < 2 || all.y >= all.sites, "rows {} apart", all.y);
        debug_assert!(D < 3 || all.z >= all.y, "planes {} apart", all.z);
        let mut ahead = all.ahead.chunks(all.ahead.len().div_ceil(all.count.max(1)).max(1));
        for n in 0..all.count {
            let far = n * all.step;
            // SAFETY: the pointers reach what is read and written ([`Bundles`]); instructions are the caller's contract.
            unsafe {
                let bundle = Bundle {
                    all,
                    now: all.now.add(far),
                    out: all.out.add(far),
                    squares: all.squares.map(|squares| squares.add(far)),
                };
                bundle.step::<L, H, D, Z>(ahead.next().unwrap_or(&[]));
                for b in 0..Z {
                    let span = std::slice::from_raw_parts_mut(bundle.out.add(b * all.z).sub(H), all.sites + 2 * H);
                    for mirror in all.mirrors {
                        mirror.apply(span);
                    }
                }
            }
        }
    }
}

/// A row by itself, for another kernel.
///
/// # Safety
/// See [`Bundles`]; the processor must have the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn row<L: Lanes, const H: usize, const D: usize>(all: &Bundles<'_, L::Element>)
where
    L::Element: Vectors,
{
    let bundle = Bundle {
        all,
        now: all.now,
        out: all.out,
        squares: all.squares,
    };
    // SAFETY: the caller's promise.
    unsafe { bundle.step::<L, H, D, 1>(&[]) }
}

/// One bundle.
struct Bundle<'a, T> {
    all: &'a Bundles<'a, T>,
    now: *const T,
    out: *mut T,
    squares: Option<*const T>,
}

/// Where a bundle is. Pointers that move with the sites stay in registers, of which there are few; all other places are these and a multiple of
/// the distance between rows, which instructions add by themselves.
struct Walk<T, const Z: usize> {
    /// The next vector of sites of each row.
    rows: [*const T; Z],
    /// H rows below each of them along y.
    lowest: [*const T; Z],
    /// H planes below the first row.
    down: *const T,
    /// pⁿ⁻¹ of the first row.
    out: *mut T,
    /// λ² of the first row, if every site has its own.
    squares: Option<*const T>,
    /// Values from a row to the next along y and z.
    y: usize,
    z: usize,
}

/// `p` and n distances of `d` values further.
#[inline(always)]
fn further<T>(p: *const T, n: usize, d: usize) -> *const T {
    p.wrapping_add(n * d)
}

impl<T: Vectors, const Z: usize> Walk<T, Z> {
    /// To the next vector.
    #[inline(always)]
    fn go(&mut self, by: usize) {
        for b in 0..Z {
            self.rows[b] = self.rows[b].wrapping_add(by);
            self.lowest[b] = self.lowest[b].wrapping_add(by);
        }
        self.down = self.down.wrapping_add(by);
        self.out = self.out.wrapping_add(by);
        if let Some(squares) = &mut self.squares {
            *squares = squares.wrapping_add(by);
        }
    }

    /// pⁿ⁻¹ of row b.
    #[inline(always)]
    fn old(&self, b: usize) -> *mut T {
        self.out.wrapping_add(b * self.z)
    }
}

impl<T: Vectors> Bundle<'_, T> {
    /// # Safety
    /// See [`Bundles`]; the processor must have the instructions of `L`.
    #[inline(always)]
    unsafe fn step<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize>(&self, ahead: &[*const T]) {
        let Bundles { sites: n, y, z, .. } = *self.all;
        let whole = n - n % L::N;
        let (mut rows, mut lowest) = ([self.now; Z], [self.now; Z]);
        for b in 0..Z {
            rows[b] = further(self.now, b, z);
            lowest[b] = if D > 1 { rows[b].wrapping_sub(H * y) } else { rows[b] };
        }
        // SAFETY: at every vector the walk is at a site i with i + N ≤ n; whole vectors lie before and behind all sites ([`Bundles`]).
        unsafe {
            let mut walk = Walk {
                rows,
                lowest,
                down: if D > 2 { self.now.wrapping_sub(H * z) } else { self.now },
                out: self.out,
                squares: self.squares,
                y,
                z,
            };
            let (mut left, mut here) = (loads::<L, Z>(&rows, L::N.wrapping_neg()), loads::<L, Z>(&rows, 0));
            for i in (0..whole).step_by(L::N) {
                ask(ahead, i);
                let right = loads::<L, Z>(&walk.rows, L::N);
                self.vectors::<L, H, D, Z>(&walk, [&left, &here, &right]);
                (left, here) = (here, right);
                walk.go(L::N);
            }
            if whole < n {
                for b in 0..Z {
                    self.rest::<L, H, D>(b * z + whole, n - whole);
                }
            }
        }
    }

    /// Steps a vector of every row of a bundle; beside `here` stand the vectors before and after it.
    ///
    /// # Safety
    /// See [`Bundle::step`], for this and all that follow.
    #[inline(always)]
    unsafe fn vectors<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize>(
        &self,
        walk: &Walk<T, Z>,
        [left, here, right]: [&[L; Z]; 3],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            // What stands 1 … H rows below and above the bundle along z; of ranks without z, not used.
            let (mut below, mut above) = ([here[0]; H], [here[0]; H]);
            if D > 2 {
                for k in 0..H {
                    below[H - 1 - k] = L::load(further(walk.down, k, walk.z));
                    above[k] = L::load(further(walk.rows[Z - 1], k + 1, walk.z));
                }
            }
            let mut factors = [L::splat(self.all.square); Z];
            if let Some(squares) = walk.squares {
                for (b, factor) in factors.iter_mut().enumerate() {
                    *factor = L::load(further(squares, b, walk.z));
                }
            }
            let mut new = *here;
            for b in 0..Z {
                let around = Around {
                    x: [left[b], here[b], right[b]],
                    row: walk.rows[b],
                    lowest: walk.lowest[b],
                    y: walk.y,
                    column: (&below, here, &above),
                    b,
                };
                let level = level::<L, D>(here[b]);
                // No loop: shifts by k lanes are constants only where k is one.
                let mut sum = first::<L, H>(around.pairs::<D>(1), level);
                if H > 1 {
                    sum = term::<L, H>(2, around.pairs::<D>(2), level, sum);
                }
                if H > 2 {
                    sum = term::<L, H>(3, around.pairs::<D>(3), level, sum);
                }
                if H > 3 {
                    sum = term::<L, H>(4, around.pairs::<D>(4), level, sum);
                }
                new[b] = next([here[b], L::load(walk.old(b)), factors[b]], sum);
            }
            for (b, new) in new.into_iter().enumerate() {
                new.store(walk.old(b));
            }
        }
    }

    /// What is left of a row, less than a vector, in the same order of operations.
    #[inline(always)]
    unsafe fn rest<L: Lanes<Element = T>, const H: usize, const D: usize>(&self, place: usize, count: usize) {
        let Bundles { y, z, .. } = *self.all;
        // SAFETY: the caller's promise; no more than `count` sites, and what stands around them, are touched.
        unsafe {
            let (row, out) = (self.now.add(place), self.out.add(place));
            let here = L::load_some(row, count);
            let level = level::<L, D>(here);
            let mut sum = here;
            for k in 1..=H {
                let mut pairs = L::load_some(row.sub(k), count).add(L::load_some(row.add(k), count));
                if D > 1 {
                    let (lower, upper) = (row.sub(k * y), row.add(k * y));
                    pairs = pairs.add(L::load_some(lower, count).add(L::load_some(upper, count)));
                }
                if D > 2 {
                    let (lower, upper) = (row.sub(k * z), row.add(k * z));
                    pairs = pairs.add(L::load_some(lower, count).add(L::load_some(upper, count)));
                }
                sum = if k == 1 {
                    first::<L, H>(pairs, level)
                } else {
                    term::<L, H>(k, pairs, level, sum)
                };
            }
            let mut square = L::splat(self.all.square);
            if let Some(squares) = self.squares {
                square = L::load_some(squares.add(place), count);
            }
            next([here, L::load_some(out, count), square], sum).store_some(out, count);
        }
    }
}

/// The vectors `by` values behind some places. No closures with vectors in this file: they would have no vector instructions.
#[inline(always)]
unsafe fn loads<L: Lanes, const Z: usize>(from: &[*const L::Element; Z], by: usize) -> [L; Z] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut all = [L::load(from[0].wrapping_add(by)); Z];
        for (b, vector) in all.iter_mut().enumerate() {
            *vector = L::load(from[b].wrapping_add(by));
        }
        all
    }
}

/// A vector of sites and what stands around it.
struct Around<'a, L: Lanes, const H: usize, const Z: usize> {
    /// The vectors before, at and behind the sites.
    x: [L; 3],
    /// The sites.
    row: *const L::Element,
    /// H rows below them along y.
    lowest: *const L::Element,
    /// Values from a row to the next along y.
    y: usize,
    /// Rows below the bundle along z, from the nearest on, its own, and rows above it.
    column: (&'a [L; H], &'a [L; Z], &'a [L; H]),
    /// Which of the bundle's rows this is.
    b: usize,
}

impl<L: Lanes, const H: usize, const Z: usize> Around<'_, L, H, Z> {
    /// The sum of what stands k sites away on all axes.
    #[inline(always)]
    unsafe fn pairs<const D: usize>(&self, k: usize) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let [left, here, right] = self.x;
            let mut sum = if L::SHIFTS {
                left.shifted(here, L::N - k).add(here.shifted(right, k))
            } else {
                L::load(self.row.sub(k)).add(L::load(self.row.add(k)))
            };
            if D > 1 {
                let lower = L::load(further(self.lowest, H - k, self.y));
                sum = sum.add(lower.add(L::load(further(self.row, k, self.y))));
            }
            if D > 2 {
                let (below, own, above) = self.column;
                let b = self.b;
                let lower = if k <= b { own[b - k] } else { below[k - b - 1] };
                let upper = if b + k < Z { own[b + k] } else { above[b + k - Z] };
                sum = sum.add(lower.add(upper));
            }
            sum
        }
    }
}

/// Asks for the line at value `i` of some rows, once a line.
#[inline(always)]
fn ask<T>(rows: &[*const T], i: usize) {
    const LINE: usize = 64;
    if (i * size_of::<T>()).is_multiple_of(LINE) {
        for row in rows {
            prefetch(row.wrapping_add(i));
        }
    }
}
