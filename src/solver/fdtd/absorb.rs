//! Rows with more than an empty grid: absorbing layers of one or more axes ([`super::cpml`]), walls in reach, damping, non-uniform density.
//!
//! The input of a run of rows is given by pointers at its first site and distances from there, so that a call and its checks occur once a run and not once a row. [`layered`] steps rows
//! with nothing but layers, [`damped`] the ends of rows that are damped there alone, [`mixed`] rows each of which has parts of its own ([`super::segments`]), plain ones among them. [`general`] takes any row, also one whose
//! neighbours are elsewhere in memory, and is the slowest.

mod damped;
mod general;
mod inside;
mod layered;
mod mixed;
mod parts;
mod single;
mod walk;

pub(super) use damped::{DampedKernel, damped_kernel};
pub(super) use general::{AbsorbKernel, Axis, LayerBox, absorb_kernel};
pub(super) use layered::{LayeredKernels, Strip, layered_kernels};
pub(super) use mixed::{MixedKernel, MixedRows, mixed_kernel};
pub(super) use parts::{Beyond, Damping};
pub(super) use single::{Own, site_change, site_takes};

use super::faces::{SITE, lower};
use crate::backend::simd::Lanes;
use crate::field::Real;

/// Added to λ², which is 0 in walls, where nothing is missed.
const SMALLEST_SQUARE: f64 = 1e-30;

/// 1/λ², for the correction of ζ by the rounding of the pressure.
pub(super) fn inverse<T: Real>(square: T) -> T {
    (square + T::of(SMALLEST_SQUARE)).recip()
}

/// Values from a row to those k places below and above it along an axis, at [k − 1].
pub(super) type Beside = [[isize; 2]; 4];

/// Rows, one behind the other, that lie in the same layers.
///
/// All pointers must cover the sites that are stepped in each of `rows` rows; no other task may write what is read or access what is written.
#[derive(Clone, Copy)]
pub(super) struct RowBox<'a, T> {
    /// pⁿ at the first site of the first row.
    pub(super) here: *const T,
    /// pⁿ⁻¹, which becomes pⁿ⁺¹.
    pub(super) out: *mut T,
    /// λ² or κ of each site, if they differ.
    pub(super) squares: Option<*const T>,
    /// λ² otherwise.
    pub(super) square: T,
    /// 1/λ² of that ([`inverse`]).
    pub(super) inverse: T,
    /// From every row to those around it, along y and z.
    pub(super) beside: [&'a Beside; 2],
    /// The layers of x, y, z; of axes that do not absorb here, [`RowLayer::NONE`].
    pub(super) layers: [RowLayer<T>; 3],
    /// Values from a row to the next.
    pub(super) stride: usize,
}

/// A layer along one axis.
#[derive(Clone, Copy)]
pub(super) struct RowLayer<T> {
    /// A of the faces below and above and of the sites, B of these, (1 − A)/A: along x one for each slot, otherwise one for all sites of a row.
    pub(super) factors: *const T,
    /// Values from a kind of factor to the next.
    pub(super) apart: usize,
    /// Values from the factors of a row to those of the next.
    pub(super) next_factor: usize,
    /// ψ of the faces below and above, ζ: of each slot along x, otherwise of each site of a row.
    pub(super) memory: [*mut T; 3],
    /// Values from the memories of a row to those of the next.
    pub(super) next_memory: usize,
}

impl<T> RowLayer<T> {
    /// No layer.
    pub(super) const NONE: Self = Self {
        factors: std::ptr::null(),
        apart: 0,
        next_factor: 0,
        memory: [std::ptr::null_mut(); 3],
        next_memory: 0,
    };

    /// The memories of a slot of the first row.
    #[allow(clippy::inline_always, reason = "within kernels")]
    #[inline(always)]
    fn at(&self, slot: usize) -> [*mut T; 3] {
        let [below, above, site] = self.memory;
        [
            below.wrapping_add(slot),
            above.wrapping_add(slot),
            site.wrapping_add(slot),
        ]
    }
}

/// The faces of a vector of sites.
#[derive(Clone, Copy)]
struct Bits {
    near: *const u8,
    /// Bytes to those of distance 2.
    plane: usize,
}

impl Bits {
    /// Puts images in the place of neighbours beyond walls ([`super::faces`]).
    #[allow(unsafe_code, clippy::inline_always, reason = "as for all kernels")]
    #[inline(always)]
    unsafe fn mirror<L: Lanes, const H: usize>(self, axis: usize, here: L, low: &mut [L; H], high: &mut [L; H]) {
        debug_assert!(axis < 3, "axis {axis}");
        let [below, above] = [lower(axis), lower(axis) << 1];
        // SAFETY: the caller's promise.
        unsafe {
            let (first_low, first_high) = (low[0], high[0]);
            low[0] = L::choose(self.near, below, first_low, here);
            high[0] = L::choose(self.near, above, first_high, here);
            if H > 1 {
                let far = self.near.add(self.plane);
                let back_low = L::choose(self.near, below, first_low, high[0]);
                let back_high = L::choose(self.near, above, first_high, low[0]);
                low[1] = L::choose(far, below, low[1], back_low);
                high[1] = L::choose(far, above, high[1], back_high);
            }
        }
    }
}
