//! NEON, which every AArch64 processor has.

#![allow(unsafe_code, clippy::wildcard_imports, reason = "intrinsics")]

use super::Lanes;
use super::operations::{in_registers, plain_operations};
use std::arch::aarch64::*;

/// 4 singles.
#[derive(Clone, Copy, Debug)]
pub struct NeonF32(float32x4_t);
/// 2 doubles.
#[derive(Clone, Copy, Debug)]
pub struct NeonF64(float64x2_t);

// SAFETY: here and below only intrinsics of NEON, which callers of the trait must have; memory is read and written through
// accesses of N elements without alignment, which the trait's contract allows.
unsafe impl Lanes for NeonF32 {
    type Element = f32;
    const N: usize = 4;
    const FUSES: bool = true;

    plain_operations!(
        f32,
        vld1q_f32,
        vst1q_f32,
        vdupq_n_f32,
        vaddq_f32,
        vsubq_f32,
        vdivq_f32,
        vmulq_f32
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(vfmaq_f32(c.0, self.0, b.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(vfmsq_f32(c.0, self.0, b.0))
        }
        fn next(self, after: Self) -> Self {
            Self(vextq_f32::<1>(self.0, after.0))
        }
        fn previous(self, before: Self) -> Self {
            Self(vextq_f32::<3>(before.0, self.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (Self(vuzp1q_f32(a.0, b.0)), Self(vuzp2q_f32(a.0, b.0)))
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (Self(vzip1q_f32(even.0, odd.0)), Self(vzip2q_f32(even.0, odd.0)))
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let four = bits.cast::<u32>().read_unaligned();
            let bytes = vreinterpret_u8_u32(vdup_n_u32(four));
            let bits = vmovl_u16(vget_low_u16(vmovl_u8(bytes)));
            Self(vbslq_f32(vtstq_u32(bits, vdupq_n_u32(u32::from(bit))), yes.0, no.0))
        }
    }
}

// SAFETY: as above.
unsafe impl Lanes for NeonF64 {
    type Element = f64;
    const N: usize = 2;
    const FUSES: bool = true;

    plain_operations!(
        f64,
        vld1q_f64,
        vst1q_f64,
        vdupq_n_f64,
        vaddq_f64,
        vsubq_f64,
        vdivq_f64,
        vmulq_f64
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(vfmaq_f64(c.0, self.0, b.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(vfmsq_f64(c.0, self.0, b.0))
        }
        fn next(self, after: Self) -> Self {
            Self(vextq_f64::<1>(self.0, after.0))
        }
        fn previous(self, before: Self) -> Self {
            Self(vextq_f64::<1>(before.0, self.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (Self(vuzp1q_f64(a.0, b.0)), Self(vuzp2q_f64(a.0, b.0)))
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (Self(vzip1q_f64(even.0, odd.0)), Self(vzip2q_f64(even.0, odd.0)))
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let two = [u64::from(*bits), u64::from(*bits.add(1))];
            let bits = vld1q_u64(two.as_ptr());
            Self(vbslq_f64(vtstq_u64(bits, vdupq_n_u64(u64::from(bit))), yes.0, no.0))
        }
    }
}
