//! AVX-512.

#![allow(
    unsafe_code,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::wildcard_imports,
    reason = "intrinsics; masks are bit patterns"
)]

use super::Lanes;
use super::operations::{fused_operations, in_registers, plain_operations};
use std::arch::x86_64::*;

/// 16 singles.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F32(__m512);
/// 8 doubles.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F64(__m512d);

/// Bits of the lowest `count` of so many lanes.
#[inline(always)]
fn lowest(count: usize, lanes: usize) -> u32 {
    debug_assert!(count <= lanes, "{count} of {lanes} lanes");
    (1 << count) - 1
}

// SAFETY: here and below only intrinsics of the instruction set, which callers of the trait must have; memory is read and written through
// accesses of N elements without alignment, which the trait's contract allows.
unsafe impl Lanes for Avx512F32 {
    type Element = f32;
    const N: usize = 16;
    const FUSES: bool = true;
    const SHIFTS: bool = true;

    plain_operations!(
        f32,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_set1_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_div_ps,
        _mm512_mul_ps
    );
    fused_operations!(_mm512_fmadd_ps, _mm512_fnmadd_ps);

    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller has the instructions, and `count` numbers to read there; other lanes are not touched.
        unsafe { Self(_mm512_maskz_loadu_ps(lowest(count, Self::N) as __mmask16, from)) }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f32, count: usize) {
        // SAFETY: the caller has the instructions, and room for `count` numbers there; other lanes are not touched.
        unsafe { _mm512_mask_storeu_ps(to, lowest(count, Self::N) as __mmask16, self.0) }
    }

    in_registers! {
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm512_max_ps(_mm512_abs_ps(b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            let shifted = _mm512_alignr_epi32::<1>(_mm512_castps_si512(after.0), _mm512_castps_si512(self.0));
            Self(_mm512_castsi512_ps(shifted))
        }
        fn previous(self, before: Self) -> Self {
            let shifted = _mm512_alignr_epi32::<15>(_mm512_castps_si512(self.0), _mm512_castps_si512(before.0));
            Self(_mm512_castsi512_ps(shifted))
        }
        fn shifted(self, after: Self, by: usize) -> Self {
            debug_assert!(by <= Self::N, "by {by} lanes");
            let first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let from = _mm512_add_epi32(first, _mm512_set1_epi32(by as i32));
            Self(_mm512_permutex2var_ps(self.0, from, after.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (
                Self(_mm512_permutex2var_ps(a.0, even, b.0)),
                Self(_mm512_permutex2var_ps(a.0, odd, b.0)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            (
                Self(_mm512_permutex2var_ps(even.0, low, odd.0)),
                Self(_mm512_permutex2var_ps(even.0, high, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let bits = _mm512_cvtepu8_epi32(_mm_loadu_si128(bits.cast()));
            let has = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(i32::from(bit)));
            Self(_mm512_mask_blend_ps(has, no.0, yes.0))
        }
    }
}

// SAFETY: as above.
unsafe impl Lanes for Avx512F64 {
    type Element = f64;
    const N: usize = 8;
    const FUSES: bool = true;
    const SHIFTS: bool = true;

    plain_operations!(
        f64,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_set1_pd,
        _mm512_add_pd,
        _mm512_sub_pd,
        _mm512_div_pd,
        _mm512_mul_pd
    );
    fused_operations!(_mm512_fmadd_pd, _mm512_fnmadd_pd);

    #[inline(always)]
    unsafe fn load_some(from: *const f64, count: usize) -> Self {
        // SAFETY: the caller has the instructions, and `count` numbers to read there; other lanes are not touched.
        unsafe { Self(_mm512_maskz_loadu_pd(lowest(count, Self::N) as __mmask8, from)) }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f64, count: usize) {
        // SAFETY: the caller has the instructions, and room for `count` numbers there; other lanes are not touched.
        unsafe { _mm512_mask_storeu_pd(to, lowest(count, Self::N) as __mmask8, self.0) }
    }

    in_registers! {
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm512_max_pd(_mm512_abs_pd(b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            let shifted = _mm512_alignr_epi64::<1>(_mm512_castpd_si512(after.0), _mm512_castpd_si512(self.0));
            Self(_mm512_castsi512_pd(shifted))
        }
        fn previous(self, before: Self) -> Self {
            let shifted = _mm512_alignr_epi64::<7>(_mm512_castpd_si512(self.0), _mm512_castpd_si512(before.0));
            Self(_mm512_castsi512_pd(shifted))
        }
        fn shifted(self, after: Self, by: usize) -> Self {
            debug_assert!(by <= Self::N, "by {by} lanes");
            let first = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let from = _mm512_add_epi64(first, _mm512_set1_epi64(by as i64));
            Self(_mm512_permutex2var_pd(self.0, from, after.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (
                Self(_mm512_permutex2var_pd(a.0, even, b.0)),
                Self(_mm512_permutex2var_pd(a.0, odd, b.0)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
            (
                Self(_mm512_permutex2var_pd(even.0, low, odd.0)),
                Self(_mm512_permutex2var_pd(even.0, high, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let bits = _mm512_cvtepu8_epi64(_mm_loadl_epi64(bits.cast()));
            let has = _mm512_test_epi64_mask(bits, _mm512_set1_epi64(i64::from(bit)));
            Self(_mm512_mask_blend_pd(has, no.0, yes.0))
        }
    }
}
