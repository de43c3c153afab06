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
use super::stencil::{advance, advance_site};
use crate::backend::simd::{self, Lanes, Level, Vectors, prefetch};

/// Bundles of rows, one behind the other, and where their neighbours lie.
///
/// Every row must hold `sites` values from its pointer on, the half width of the stencil more at either end, and so must all rows within reach of the
/// stencil; nobody else may write what is read or touch what is written.
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
        let share = all.ahead.len().div_ceil(all.count.max(1));
        for n in 0..all.count {
            let far = n * all.step;
            let ahead = &all.ahead[(n * share).min(all.ahead.len())..((n + 1) * share).min(all.ahead.len())];
            // SAFETY: the pointers reach what is read and written ([`Bundles`]); instructions are the caller's contract.
            unsafe {
                let bundle = Bundle {
                    all,
                    now: all.now.add(far),
                    out: all.out.add(far),
                    squares: all.squares.map(|squares| squares.add(far)),
                };
                bundle.step::<L, H, D, Z>(ahead);
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

/// One bundle.
struct Bundle<'a, T> {
    all: &'a Bundles<'a, T>,
    now: *const T,
    out: *mut T,
    squares: Option<*const T>,
}

impl<T: Vectors> Bundle<'_, T> {
    /// # Safety
    /// See [`Bundles`]; the processor must have the instructions of `L`.
    #[inline(always)]
    unsafe fn step<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize>(&self, ahead: &[*const T]) {
        let (n, z) = (self.all.sites, self.all.z);
        let whole = n - n % L::N;
        // SAFETY: at every vector i + N ≤ n. Ghosts beyond it are read by loads that end or begin with them, so that nothing of the next row is touched.
        unsafe {
            if whole > 0 {
                let row = |b: usize| self.now.add(b * z);
                let mut here: [L; Z] = std::array::from_fn(|b| L::load(row(b)));
                let mut left = here;
                if L::SHIFTS {
                    left = std::array::from_fn(|b| {
                        let ghosts = L::load(row(b).sub(H));
                        ghosts.shifted(ghosts, H)
                    });
                }
                let mut i = 0;
                while i + L::N < whole {
                    if i * size_of::<T>() % LINE == 0 {
                        for from in ahead {
                            prefetch(from.wrapping_add(i));
                        }
                    }
                    let right: [L; Z] = std::array::from_fn(|b| L::load(row(b).add(i + L::N)));
                    self.vectors::<L, H, D, Z>(i, [&left, &here, &right]);
                    (left, here) = (here, right);
                    i += L::N;
                }
                let mut right = here;
                if L::SHIFTS {
                    right = std::array::from_fn(|b| {
                        let ghosts = L::load(row(b).add(i + H));
                        ghosts.shifted(ghosts, L::N - H)
                    });
                }
                for from in ahead {
                    prefetch(from.wrapping_add(i));
                }
                self.vectors::<L, H, D, Z>(i, [&left, &here, &right]);
            }
            for b in 0..Z {
                for i in whole..n {
                    self.site::<L, H, D>(b * z + i);
                }
            }
        }
    }

    /// A vector of every row of the bundle, at site `i`; beside `here` stand the vectors before and after it.
    #[inline(always)]
    unsafe fn vectors<L: Lanes<Element = T>, const H: usize, const D: usize, const Z: usize>(
        &self,
        i: usize,
        [left, here, right]: [&[L; Z]; 3],
    ) {
        let Bundles { y, z, .. } = *self.all;
        // SAFETY: the caller's promise.
        unsafe {
            let own = self.now.add(i);
            // What stands k = 1 … H rows below and above the bundle; of ranks without z, not used.
            let column = |far: isize| {
                if D > 2 {
                    L::load(own.offset(far * z.cast_signed()))
                } else {
                    here[0]
                }
            };
            let below: [L; H] = std::array::from_fn(|k| column(-1 - k.cast_signed()));
            let above: [L; H] = std::array::from_fn(|k| column((Z + k).cast_signed()));
            let at = |place: usize| {
                if place < H {
                    below[H - 1 - place]
                } else if place < H + Z {
                    here[place - H]
                } else {
                    above[place - H - Z]
                }
            };
            let new: [L; Z] = std::array::from_fn(|b| {
                let row = own.add(b * z);
                let square = self
                    .squares
                    .map_or(L::splat(self.all.square), |squares| L::load(squares.add(i + b * z)));
                let all = [here[b], L::load(self.out.add(i + b * z)), square];
                advance::<L, H, D>(all, |k| {
                    let mut pairs = if L::SHIFTS {
                        left[b].shifted(here[b], L::N - k).plus(here[b].shifted(right[b], k))
                    } else {
                        L::load(row.sub(k)).plus(L::load(row.add(k)))
                    };
                    if D > 1 {
                        pairs = pairs.plus(L::load(row.sub(k * y)).plus(L::load(row.add(k * y))));
                    }
                    if D > 2 {
                        pairs = pairs.plus(at(H + b - k).plus(at(H + b + k)));
                    }
                    pairs
                })
            });
            for (b, new) in new.into_iter().enumerate() {
                new.store(self.out.add(i + b * z));
            }
        }
    }

    /// What is left of a row.
    #[inline(always)]
    unsafe fn site<L: Lanes<Element = T>, const H: usize, const D: usize>(&self, place: usize) {
        let Bundles { y, z, .. } = *self.all;
        // SAFETY: the caller's promise.
        unsafe {
            let (row, out) = (self.now.add(place), self.out.add(place));
            let square = self.squares.map_or(self.all.square, |squares| *squares.add(place));
            *out = advance_site::<L, H, D>([*row, *out, square], |k| {
                let mut pairs = *row.sub(k) + *row.add(k);
                if D > 1 {
                    pairs += *row.sub(k * y) + *row.add(k * y);
                }
                if D > 2 {
                    pairs += *row.sub(k * z) + *row.add(k * z);
                }
                pairs
            });
        }
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;
