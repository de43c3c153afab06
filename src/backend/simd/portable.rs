//! Vectors as arrays: what the compiler makes of them on any machine.

#![allow(unsafe_code, reason = "the trait's functions are unsafe for the sake of intrinsics")]

use super::Lanes;
use crate::field::Real;

/// N numbers.
#[derive(Clone, Copy, Debug)]
pub struct Array<T, const N: usize>([T; N]);

/// Whether the target always has a fused multiply-add.
const FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// a · b + c, in one instruction where the target always has it.
#[inline(always)]
fn fused<T: Real>(a: T, b: T, c: T) -> T {
    if FUSES { a.mul_add(b, c) } else { a * b + c }
}

// SAFETY: nothing here depends on an instruction set.
unsafe impl<T: Real, const N: usize> Lanes for Array<T, N> {
    type Element = T;
    const N: usize = N;
    const FUSES: bool = FUSES;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: N elements are there, by the trait's contract.
        Self(unsafe { from.cast::<[T; N]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: N elements are there, by the trait's contract.
        unsafe { to.cast::<[T; N]>().write_unaligned(self.0) }
    }
    #[inline(always)]
    unsafe fn splat(value: T) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] += b.0[i];
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn sub(self, b: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] -= b.0[i];
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn div(self, b: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] /= b.0[i];
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn mul(self, b: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] *= b.0[i];
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] = fused(all[i], b.0[i], c.0[i]);
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self {
        let mut all = self.0;
        for i in 0..N {
            all[i] = fused(-all[i], b.0[i], c.0[i]);
        }
        Self(all)
    }
    #[inline(always)]
    unsafe fn next(self, after: Self) -> Self {
        Self(std::array::from_fn(
            |i| if i + 1 < N { self.0[i + 1] } else { after.0[0] },
        ))
    }
    #[inline(always)]
    unsafe fn previous(self, before: Self) -> Self {
        Self(std::array::from_fn(
            |i| if i > 0 { self.0[i - 1] } else { before.0[N - 1] },
        ))
    }
    #[inline(always)]
    unsafe fn split(a: Self, b: Self) -> (Self, Self) {
        let at = |i: usize| if i < N { a.0[i] } else { b.0[i - N] };
        (
            Self(std::array::from_fn(|i| at(2 * i))),
            Self(std::array::from_fn(|i| at(2 * i + 1))),
        )
    }
    #[inline(always)]
    unsafe fn join(even: Self, odd: Self) -> (Self, Self) {
        let at = |i: usize| {
            if i.is_multiple_of(2) {
                even.0[i / 2]
            } else {
                odd.0[i / 2]
            }
        };
        (Self(std::array::from_fn(at)), Self(std::array::from_fn(|i| at(i + N))))
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| {
            // SAFETY: N bytes are there, by the trait's contract.
            let bits = unsafe { *bits.add(i) };
            if bits & bit == 0 { no.0[i] } else { yes.0[i] }
        }))
    }
}
