//! A vector of complex numbers: real parts in one register, imaginary parts in another.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vectors of the back end; kernels must end up in the function that has the target features"
)]

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
    pub(super) unsafe fn times(self, b: Self) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: self.im.minus_times(b.im, self.re.times(b.re)),
                im: self.im.times_plus(b.re, self.re.times(b.im)),
            }
        }
    }

    /// self · b + c.
    #[inline(always)]
    pub(super) unsafe fn times_plus(self, b: Self, c: Self) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: self.im.minus_times(b.im, self.re.times_plus(b.re, c.re)),
                im: self.im.times_plus(b.re, self.re.times_plus(b.im, c.im)),
            }
        }
    }

    /// self + b.
    #[inline(always)]
    pub(super) unsafe fn plus(self, b: Self, one: V) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: b.re.times_plus(one, self.re),
                im: b.im.times_plus(one, self.im),
            }
        }
    }

    /// self − b.
    #[inline(always)]
    pub(super) unsafe fn minus(self, b: Self, one: V) -> Self {
        // SAFETY: the type's contract.
        unsafe {
            Self {
                re: b.re.minus_times(one, self.re),
                im: b.im.minus_times(one, self.im),
            }
        }
    }
}
