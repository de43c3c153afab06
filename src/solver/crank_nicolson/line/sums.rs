//! Σ|ψ|² of the blocks of a vector, lane by lane.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use crate::backend::simd::{Kernel, Lanes, Vectors};

/// Adds |ψ|² of the rows of each lane of a vector of blocks, `[row][re | im][lane]`.
///
/// Sums of [`ROWS`] rows are taken in the field's precision, and these in double: of a single field they are right to 2·10⁻⁶, the rounding of 32 additions.
pub(super) struct LaneSums<'a, T> {
    pub psi: &'a [T],
    pub sums: &'a mut [f64; LANES],
}

/// The most lanes that a vector has.
pub(super) const LANES: usize = 16;

/// Rows whose sum is taken in the field's precision.
const ROWS: usize = 32;

impl<T: Vectors> Kernel<T> for LaneSums<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        let mut lanes = [T::zero(); LANES];
        debug_assert!(
            V::N <= LANES && self.psi.len().is_multiple_of(2 * V::N),
            "{} numbers",
            self.psi.len()
        );
        for part in self.psi.chunks(ROWS * 2 * V::N) {
            // SAFETY: a row has 2N numbers, and whole rows make up the vector; `lanes` holds N.
            unsafe {
                let mut sum = V::splat(T::zero());
                for row in part.chunks_exact(2 * V::N) {
                    let (re, im) = (V::load(row.as_ptr()), V::load(row.as_ptr().add(V::N)));
                    sum = re.mul_add(re, im.mul_add(im, sum));
                }
                sum.store(lanes.as_mut_ptr());
            }
            for (sum, lane) in self.sums.iter_mut().zip(&lanes[..V::N]) {
                *sum += lane.wide();
            }
        }
    }
}
