//! SIMD of WebAssembly; the web page is built for it (`.cargo/config.toml`).

#![allow(
    unsafe_code,
    clippy::wildcard_imports,
    reason = "memory is read and written by pointers"
)]

use super::Lanes;
use super::operations::{in_registers, plain_operations};
use std::arch::wasm32::*;

/// 4 singles.
#[derive(Clone, Copy, Debug)]
pub struct WasmF32(v128);
/// 2 doubles.
#[derive(Clone, Copy, Debug)]
pub struct WasmF64(v128);

// SAFETY: here and below only instructions that the whole program is built with; memory is read and written through accesses of N elements without alignment,
// which the trait's contract allows.
unsafe impl Lanes for WasmF32 {
    type Element = f32;
    const N: usize = 4;
    const FUSES: bool = false;

    plain_operations!(
        f32,
        v128_load,
        v128_store,
        f32x4_splat,
        f32x4_add,
        f32x4_sub,
        f32x4_div,
        f32x4_mul
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(f32x4_add(f32x4_mul(self.0, b.0), c.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(f32x4_sub(c.0, f32x4_mul(self.0, b.0)))
        }
        fn next(self, after: Self) -> Self {
            Self(i32x4_shuffle::<1, 2, 3, 4>(self.0, after.0))
        }
        fn previous(self, before: Self) -> Self {
            Self(i32x4_shuffle::<3, 4, 5, 6>(before.0, self.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (
                Self(i32x4_shuffle::<0, 2, 4, 6>(a.0, b.0)),
                Self(i32x4_shuffle::<1, 3, 5, 7>(a.0, b.0)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (
                Self(i32x4_shuffle::<0, 4, 1, 5>(even.0, odd.0)),
                Self(i32x4_shuffle::<2, 6, 3, 7>(even.0, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has N bytes to read at `bits`; the access needs no alignment.
        let four = unsafe { v128_load32_zero(bits.cast()) };
        let bits = u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(four));
        let lacks = i32x4_eq(v128_and(bits, u32x4_splat(u32::from(bit))), u32x4_splat(0));
        Self(v128_bitselect(no.0, yes.0, lacks))
    }
}

// SAFETY: as above.
unsafe impl Lanes for WasmF64 {
    type Element = f64;
    const N: usize = 2;
    const FUSES: bool = false;

    plain_operations!(
        f64,
        v128_load,
        v128_store,
        f64x2_splat,
        f64x2_add,
        f64x2_sub,
        f64x2_div,
        f64x2_mul
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(f64x2_add(f64x2_mul(self.0, b.0), c.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(f64x2_sub(c.0, f64x2_mul(self.0, b.0)))
        }
        fn next(self, after: Self) -> Self {
            Self(i64x2_shuffle::<1, 2>(self.0, after.0))
        }
        fn previous(self, before: Self) -> Self {
            Self(i64x2_shuffle::<1, 2>(before.0, self.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (
                Self(i64x2_shuffle::<0, 2>(a.0, b.0)),
                Self(i64x2_shuffle::<1, 3>(a.0, b.0)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (
                Self(i64x2_shuffle::<0, 2>(even.0, odd.0)),
                Self(i64x2_shuffle::<1, 3>(even.0, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has N bytes to read at `bits`.
        let bits = unsafe { u64x2(u64::from(*bits), u64::from(*bits.add(1))) };
        let lacks = i64x2_eq(v128_and(bits, u64x2_splat(u64::from(bit))), u64x2_splat(0));
        Self(v128_bitselect(no.0, yes.0, lacks))
    }
}
