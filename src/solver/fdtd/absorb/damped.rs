//! Damped ends of rows that are plain otherwise, as beside walls with an impedance.
//!
//! Every row of a room with such walls has two of them, so many rows are stepped a call; the sites between them use the kernels of empty grids.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::super::stencil::of_stencil;
use super::RowBox;
use super::layered::Strip;
use super::parts::{Beyond, Damping};
use super::walk::{Squares, Walk};
use crate::backend::simd::{self, Lanes, Level, Vectors};

/// Steps a strip in which no layer absorbs, of rows that are all damped, by the operations of [`super::mixed`].
///
/// # Safety
/// See [`RowBox`].
pub(in super::super) type DampedKernel<T> = unsafe fn(&RowBox<'_, T>, &Strip, &Damping<'_, T>);

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
pub(in super::super) fn damped_kernel<T: Vectors>(half: usize, rank: usize) -> DampedKernel<T> {
    of_stencil!(step, T, half, rank)
}

/// # Safety
/// See [`RowBox`].
unsafe fn step<T: Vectors, const H: usize, const D: usize>(
    rows: &RowBox<'_, T>,
    strip: &Strip,
    damping: &Damping<'_, T>,
) {
    Level::best().run(Step::<T, H, D> { rows, strip, damping });
}

struct Step<'a, T, const H: usize, const D: usize> {
    rows: &'a RowBox<'a, T>,
    strip: &'a Strip,
    damping: &'a Damping<'a, T>,
}

impl<T: Vectors, const H: usize, const D: usize> simd::Kernel<T> for Step<'_, T, H, D> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let Strip { sites, rows, .. } = self.strip;
        let all = Walk::<T, H, D, false, false, false>::new(self.rows, 0);
        // SAFETY: the promise of the kernel's caller; rates are as long as rows.
        unsafe {
            let squares = Squares::of(self.rows.square, self.rows.inverse);
            for n in rows.clone() {
                let mut beyond = Beyond::NOTHING;
                beyond.rates = self.damping.of(n);
                debug_assert!(beyond.rates.is_some(), "row {n}");
                all.row::<L, true>(sites.clone(), n, squares, beyond);
            }
        }
    }
}
