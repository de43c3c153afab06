//! Parts of rows in layers, a loop for each set of axes that absorb: which pointers and factors a loop needs is known when it is compiled, so that they stay in registers.
//!
//! Ends of rows in layers along x are a vector or two wide: they are stepped column by column, with the factors along x in registers. Everything else goes row by row.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::RowBox;
use super::parts::Beyond;
use super::walk::{Squares, Walk};
use crate::backend::simd::{self, Lanes, Level, Vectors};
use std::ops::Range;

/// Sites of some rows of a box.
#[derive(Clone)]
pub(in super::super) struct Strip {
    pub(in super::super) sites: Range<usize>,
    /// What is added to a site's x for its slot of the layer along x (in wrapping arithmetic), where that absorbs.
    pub(in super::super) shift: usize,
    pub(in super::super) rows: Range<usize>,
}

/// Steps a strip: pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² Σ Z), where the plain second difference stands for Z along axes that do not absorb; without any layer, as [`super::super::stencil`] does.
///
/// # Safety
/// See [`RowBox`].
pub(in super::super) type LayeredKernel<T> = unsafe fn(&RowBox<'_, T>, &Strip);

/// Kernels for the sets of axes that absorb: x counts 1, y 2, z 4.
pub(in super::super) type LayeredKernels<T> = [LayeredKernel<T>; 8];

/// The fastest kernels of half width `half` (1 to 4) in `rank` dimensions.
pub(in super::super) fn layered_kernels<T: Vectors>(half: usize, rank: usize) -> LayeredKernels<T> {
    match half {
        1 => by_rank::<T, 1>(rank),
        2 => by_rank::<T, 2>(rank),
        3 => by_rank::<T, 3>(rank),
        _ => by_rank::<T, 4>(rank),
    }
}

fn by_rank<T: Vectors, const H: usize>(rank: usize) -> LayeredKernels<T> {
    match rank {
        1 => {
            let [none, x]: [LayeredKernel<T>; 2] = [
                step::<T, H, 1, false, false, false>,
                step::<T, H, 1, true, false, false>,
            ];
            [none, x, none, x, none, x, none, x]
        }
        2 => {
            let [none, x]: [LayeredKernel<T>; 2] = [
                step::<T, H, 2, false, false, false>,
                step::<T, H, 2, true, false, false>,
            ];
            let [y, both]: [LayeredKernel<T>; 2] =
                [step::<T, H, 2, false, true, false>, step::<T, H, 2, true, true, false>];
            [none, x, y, both, none, x, y, both]
        }
        _ => [
            step::<T, H, 3, false, false, false>,
            step::<T, H, 3, true, false, false>,
            step::<T, H, 3, false, true, false>,
            step::<T, H, 3, true, true, false>,
            step::<T, H, 3, false, false, true>,
            step::<T, H, 3, true, false, true>,
            step::<T, H, 3, false, true, true>,
            step::<T, H, 3, true, true, true>,
        ],
    }
}

/// # Safety
/// See [`RowBox`].
unsafe fn step<T: Vectors, const H: usize, const D: usize, const X: bool, const Y: bool, const Z: bool>(
    rows: &RowBox<'_, T>,
    strip: &Strip,
) {
    Level::best().run(Step::<T, H, D, X, Y, Z> { rows, strip });
}

struct Step<'a, T, const H: usize, const D: usize, const X: bool, const Y: bool, const Z: bool> {
    rows: &'a RowBox<'a, T>,
    strip: &'a Strip,
}

impl<T: Vectors, const H: usize, const D: usize, const X: bool, const Y: bool, const Z: bool> simd::Kernel<T>
    for Step<'_, T, H, D, X, Y, Z>
{
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let Strip { sites, shift, rows } = self.strip;
        debug_assert!(rows.len() < 2 || sites.len() <= self.rows.stride, "{sites:?}");
        let all = Walk::<T, H, D, X, Y, Z>::new(self.rows, *shift);
        // SAFETY: the promise of the kernel's caller.
        unsafe {
            let squares = Squares::of(self.rows.square, self.rows.inverse);
            if !X {
                for n in rows.clone() {
                    all.row::<L, false>(sites.clone(), n, squares, Beyond::NOTHING);
                }
                return;
            }
            let mut i = sites.start;
            while i < sites.end {
                let count = (sites.end - i).min(L::N);
                if count == L::N {
                    all.column::<L, true>((i, count), rows.clone(), squares);
                } else {
                    all.column::<L, false>((i, count), rows.clone(), squares);
                }
                i += L::N;
            }
        }
    }
}
