//! Rows inside the grid, several planes at a time.
//!
//! Work: as [`super::stencil`], operation by operation, so that both give the same bits, with fewer loads. Rows of a bundle of Z planes
//! in one column along z share what they read along it, 2H + Z rows instead of Z(2H + 1), and neighbours along x come from the aligned vectors
//! beside by permutation where that is one instruction: at order 8 and Z = 2 a vector of sites takes 15 loads, of which 6 come from the second-level
//! cache, instead of 25 (10), 8 of them across cache lines.
//!
//! The kernel prefetches rows that are needed later, a cache line a vector: rows are too short for the hardware prefetcher.

#![allow(unsafe_code, reason = "vector instructions")]

use super::lattice::Mirror;
use super::stencil::{first, level, next, term};
use super::tally::{RUN, Tally};
use crate::backend::simd::{self, Lanes, Level, Vectors, prefetch};
use crate::field::Real;

/// Bundles of rows, one behind the other, and their neighbours.
///
/// Every row must hold `sites` values from its pointer on and [`super::lattice::Lattice::FRONT`] more at either end, the nearest of which are
/// ghosts as far as the stencil reaches; so must all rows within its reach. No other task may write what is read or access what is written.
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
    /// Rows that are read soon, any number; every bundle prefetches its share.
    pub ahead: &'a [*const T],
    /// Φ⁺ of the same rows, for [`FollowKernels`].
    pub potential: Option<Follows<T>>,
}

/// Φ⁺ beside the pressure of some bundles.
#[derive(Clone, Copy)]
pub struct Follows<T> {
    /// Φ⁺ of pⁿ, or of pⁿ⁻¹ if it is `late`, at the first site of the first row.
    pub from: *const T,
    /// See `from`.
    pub late: bool,
    /// Where that of pⁿ⁺¹ is written, the same place or another.
    pub to: *mut T,
    /// Δt.
    pub step: T,
    /// Memory for the sums of [`super::tally`] of each row, bundle by bundle.
    pub sums: *mut [f64; 2],
}

/// Steps bundles in place, with the ghosts along x ([`super::stencil::Kernel`] says what).
///
/// # Safety
/// See [`Bundles`].
pub type BundleKernel<T> = unsafe fn(bundles: &Bundles<'_, T>);

/// Kernels for bundles of 1, 2 and 4 rows.
pub type BundleKernels<T> = [BundleKernel<T>; 3];

/// Those that step Φ⁺ as well.
pub type FollowKernels<T> = BundleKernels<T>;

/// The fastest kernels of half width `half` (1 to 4) in `rank` dimensions; several rows are bundled in three.
pub fn bundle_kernels<T: Vectors>(half: usize, rank: usize) -> BundleKernels<T> {
    by_half::<T, false>(half, rank)
}

/// The same with Φ⁺.
pub fn follow_kernels<T: Vectors>(half: usize, rank: usize) -> FollowKernels<T> {
    by_half::<T, true>(half, rank)
}

fn by_half<T: Vectors, const F: bool>(half: usize, rank: usize) -> BundleKernels<T> {
    match half {
        1 => by_rank::<T, 1, F>(rank),
        2 => by_rank::<T, 2, F>(rank),
        3 => by_rank::<T, 3, F>(rank),
        _ => by_rank::<T, 4, F>(rank),
    }
}

fn by_rank<T: Vectors, const H: usize, const F: bool>(rank: usize) -> BundleKernels<T> {
    match rank {
        1 => [step::<T, H, 1, 1, F>; 3],
        2 => [step::<T, H, 2, 1, F>; 3],
        _ => [step::<T, H, 3, 1, F>, step::<T, H, 3, 2, F>, step::<T, H, 3, 4, F>],
    }
}

/// # Safety
/// See [`Bundles`].
unsafe fn step<T: Vectors, const H: usize, const D: usize, const Z: usize, const F: bool>(bundles: &Bundles<'_, T>) {
    Level::best().run(Step::<T, H, D, Z, F> { bundles });
}

struct Step<'a, T, const H: usize, const D: usize, const Z: usize, const F: bool> {
    bundles: &'a Bundles<'a, T>,
}

impl<T: Vectors, const H: usize, const D: usize, const Z: usize, const F: bool> simd::Kernel<T>
    for Step<'_, T, H, D, Z, F>
{
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
                    potential: all.potential.map(|all| {
                        (
                            all.from.wrapping_add(far),
                            all.to.wrapping_add(far),
                            all.sums.wrapping_add(n * Z),
                        )
                    }),
                };
                bundle.step::<L, H, D, Z, F>(ahead.next().unwrap_or(&[]));
                for b in 0..Z {
                    all.mirror::<H>(bundle.out.add(b * all.z));
                    if F && let Some((_, to, _)) = bundle.potential {
                        all.mirror::<H>(to.add(b * all.z));
                    }
                }
            }
        }
    }
}

impl<T: Real> Bundles<'_, T> {
    /// The ghosts of the row whose first site is at `row`.
    ///
    /// # Safety
    /// As for the kernel.
    #[inline(always)]
    unsafe fn mirror<const H: usize>(&self, row: *mut T) {
        // SAFETY: ghosts stand at both ends of every row.
        let span = unsafe { std::slice::from_raw_parts_mut(row.sub(H), self.sites + 2 * H) };
        for mirror in self.mirrors {
            mirror.apply(span);
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
        potential: None,
    };
    // SAFETY: the caller's promise.
    unsafe { bundle.step::<L, H, D, 1, false>(&[]) }
}

/// One bundle.
struct Bundle<'a, T> {
    all: &'a Bundles<'a, T>,
    now: *const T,
    out: *mut T,
    squares: Option<*const T>,
    /// Φ⁺: where it is read, where it is written, where its rows' sums go.
    potential: Option<(*const T, *mut T, *mut [f64; 2])>,
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
    /// Φ⁺ of the first row: where it is read and where it is written.
    from: *const T,
    to: *mut T,
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
        self.from = self.from.wrapping_add(by);
        self.to = self.to.wrapping_add(by);
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
    unsafe fn step<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize, const F: bool>(
        &self,
        ahead: &[*const T],
    ) {
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
                from: self.potential.map_or(std::ptr::null(), |(from, ..)| from),
                to: self.potential.map_or(std::ptr::null_mut(), |(_, to, _)| to),
                y,
                z,
            };
            let step = L::splat(self.all.potential.map_or(T::zero(), |all| all.step));
            let late = self.all.potential.is_some_and(|all| all.late);
            let mut tallies = [Tally::<L>::new(); Z];
            let (mut left, mut here) = (loads::<L, Z>(&rows, L::N.wrapping_neg()), loads::<L, Z>(&rows, 0));
            for i in (0..whole).step_by(L::N) {
                ask(ahead, i);
                let right = loads::<L, Z>(&walk.rows, L::N);
                let was = self.vectors::<L, H, D, Z>(&walk, [&left, &here, &right]);
                if F {
                    for b in 0..Z {
                        let mut potential = L::load(further(walk.from, b, z));
                        if late {
                            potential = step.mul_add(here[b], potential);
                        }
                        tallies[b].add([here[b], was[b][0], potential]);
                        step.mul_add(was[b][1], potential).store(walk.to.wrapping_add(b * z));
                        if (i / L::N + 1).is_multiple_of(RUN) {
                            tallies[b].pour();
                        }
                    }
                }
                (left, here) = (here, right);
                walk.go(L::N);
            }
            if whole < n {
                for b in 0..Z {
                    let [here, before, new] = self.rest::<L, H, D>(b * z + whole, n - whole);
                    if F {
                        let mut potential = L::load_some(further(walk.from, b, z), n - whole);
                        if late {
                            potential = step.mul_add(here, potential);
                        }
                        tallies[b].add([here, before, potential]);
                        step.mul_add(new, potential)
                            .store_some(walk.to.wrapping_add(b * z), n - whole);
                    }
                }
            }
            if F && let Some((_, _, sums)) = self.potential {
                for b in 0..Z {
                    *sums.add(b) = tallies[b].sums();
                }
            }
        }
    }

    /// Steps a vector of every row of a bundle; beside `here` stand the vectors before and after it. Gives pⁿ⁻¹ and pⁿ⁺¹ of each.
    ///
    /// # Safety
    /// See [`Bundle::step`], for this and all that follow.
    #[inline(always)]
    unsafe fn vectors<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize>(
        &self,
        walk: &Walk<T, Z>,
        [left, here, right]: [&[L; Z]; 3],
    ) -> [[L; 2]; Z] {
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
            let mut both = [[here[0]; 2]; Z];
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
                let before = L::load(walk.old(b));
                both[b] = [before, next([here[b], before, factors[b]], sum)];
            }
            for (b, both) in both.iter().enumerate() {
                both[1].store(walk.old(b));
            }
            both
        }
    }

    /// What is left of a row, less than a vector, in the same order of operations; gives pⁿ, pⁿ⁻¹ and pⁿ⁺¹ there.
    #[inline(always)]
    unsafe fn rest<L: Lanes<Element = T>, const H: usize, const D: usize>(&self, place: usize, count: usize) -> [L; 3] {
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
            let before = L::load_some(out, count);
            let new = next([here, before, square], sum);
            new.store_some(out, count);
            [here, before, new]
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
