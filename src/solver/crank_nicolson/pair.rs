//! A vector of complex numbers: real parts in one register, imaginary parts in another.

#![allow(unsafe_code, reason = "vectors of the back end")]

use crate::backend::simd::Lanes;
use num_complex::Complex;

/// N complex numbers. In memory N real parts, then N imaginary parts.
///
/// Every function may only run on a machine that has the implementor's instruction set ([`Lanes`]); pointers must be good for 2N numbers.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub re: V,
    pub im: V,
}

impl<V: Lanes> Pair<V> {
    #[inline(always)]
    pub(super) unsafe fn load(from: *const V::Element) -> Self {
        // SAFETY: the type's contract.
        unsafe { Self::load_apart(from, from.add(V::N)) }
    }

    /// Of complex numbers that lie side by side.
    #[inline(always)]
    pub(super) unsafe fn load_beside(from: *const Complex<V::Element>) -> Self {
        let from = from.cast::<V::Element>();
        // SAFETY: the type's contract; a complex number is its real and its imaginary part.
        unsafe {
            let (re, im) = V::split(V::load(from), V::load(from.add(V::N)));
            Self { re, im }
        }
    }

    /// As complex numbers side by side.
    #[inline(always)]
    pub(super) unsafe fn store_beside(self, to: *mut Complex<V::Element>) {
        let to = to.cast::<V::Element>();
        // SAFETY: as above.
        unsafe {
            let (low, high) = V::join(self.re, self.im);
            low.store(to);
            high.store(to.add(V::N));
        }
    }

    /// Real and imaginary parts from different places.
    #[inline(always)]
    pub(super) unsafe fn load_apart(re: *const V::Element, im: *const V::Element) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: V::load(re),
                im: V::load(im),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn store(self, to: *mut V::Element) {
        // SAFETY: the type's contract.
        unsafe {
            self.re.store(to);
            self.im.store(to.add(V::N));
        }
    }

    #[inline(always)]
    pub(super) unsafe fn splat(value: Complex<V::Element>) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: V::splat(value.re),
                im: V::splat(value.im),
            }
        }
    }

    /// self · b.
    #[inline(always)]
    pub(super) unsafe fn mul(self, b: Self) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: self.im.neg_mul_add(b.im, self.re.mul(b.re)),
                im: self.im.mul_add(b.re, self.re.mul(b.im)),
            }
        }
    }

    /// self · b + c.
    #[inline(always)]
    pub(super) unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: self.im.neg_mul_add(b.im, self.re.mul_add(b.re, c.re)),
                im: self.im.mul_add(b.re, self.re.mul_add(b.im, c.im)),
            }
        }
    }

    /// self − b.
    #[inline(always)]
    pub(super) unsafe fn sub(self, b: Self, one: V) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: b.re.neg_mul_add(one, self.re),
                im: b.im.neg_mul_add(one, self.im),
            }
        }
    }
}

/// Most lanes of any level.
pub(super) const WIDEST: usize = 16;

/// Transposes N vectors of N numbers. Joining row i with row i + N/2 rotates the bits of every number's address, row then column, by one; log₂N of them
/// exchange row and column.
///
/// # Safety
/// As [`Lanes`].
#[inline(always)]
pub(super) unsafe fn transpose<V: Lanes>(rows: &mut [V; WIDEST]) {
    debug_assert!(V::N <= WIDEST && V::N.is_power_of_two(), "{} lanes", V::N);
    for _ in 0..V::N.trailing_zeros() {
        let old = *rows;
        for i in 0..V::N / 2 {
            // SAFETY: the caller's.
            (rows[2 * i], rows[2 * i + 1]) = unsafe { V::join(old[i], old[i + V::N / 2]) };
        }
    }
}
