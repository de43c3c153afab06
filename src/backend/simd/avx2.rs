//! AVX2 with FMA.

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

/// 8 singles.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F32(__m256);
/// 4 doubles.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F64(__m256d);

/// All bits of the lowest `count` of 8 lanes.
#[inline(always)]
unsafe fn lowest_f32(count: usize) -> __m256i {
    debug_assert!(count <= 8, "{count} of 8 lanes");
    // SAFETY: the caller has the instructions; registers alone are touched.
    unsafe {
        _mm256_cmpgt_epi32(
            _mm256_set1_epi32(count as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        )
    }
}

/// All bits of the lowest `count` of 4 lanes.
#[inline(always)]
unsafe fn lowest_f64(count: usize) -> __m256i {
    debug_assert!(count <= 4, "{count} of 4 lanes");
    // SAFETY: the caller has the instructions; registers alone are touched.
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

// SAFETY: here and below only intrinsics of the instruction set, which callers of the trait must have; memory is read and written through
// accesses of N elements without alignment, which the trait's contract allows.
unsafe impl Lanes for Avx2F32 {
    type Element = f32;
    const N: usize = 8;
    const FUSES: bool = true;

    plain_operations!(
        f32,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_set1_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_div_ps,
        _mm256_mul_ps
    );
    fused_operations!(_mm256_fmadd_ps, _mm256_fnmadd_ps);

    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> Self {
        // SAFETY: the caller has the instructions, and `count` numbers to read there; other lanes are not touched.
        unsafe { Self(_mm256_maskload_ps(from, lowest_f32(count))) }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f32, count: usize) {
        // SAFETY: the caller has the instructions, and room for `count` numbers there; other lanes are not touched.
        unsafe { _mm256_maskstore_ps(to, lowest_f32(count), self.0) }
    }

    in_registers! {
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm256_max_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0), b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            let first = _mm256_blend_ps::<1>(self.0, after.0);
            Self(_mm256_permutevar8x32_ps(
                first,
                _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0),
            ))
        }
        fn previous(self, before: Self) -> Self {
            let last = _mm256_blend_ps::<0x80>(self.0, before.0);
            Self(_mm256_permutevar8x32_ps(
                last,
                _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6),
            ))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            // Even and odd places of each half: a0 a2 b0 b2 | a4 a6 b4 b6.
            let even = _mm256_castps_pd(_mm256_shuffle_ps::<0b10_00_10_00>(a.0, b.0));
            let odd = _mm256_castps_pd(_mm256_shuffle_ps::<0b11_01_11_01>(a.0, b.0));
            (
                Self(_mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(even))),
                Self(_mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(odd))),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            let low = _mm256_unpacklo_ps(even.0, odd.0);
            let high = _mm256_unpackhi_ps(even.0, odd.0);
            (
                Self(_mm256_permute2f128_ps::<0x20>(low, high)),
                Self(_mm256_permute2f128_ps::<0x31>(low, high)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let bits = _mm256_cvtepu8_epi32(_mm_loadl_epi64(bits.cast()));
            let kept = _mm256_and_si256(bits, _mm256_set1_epi32(i32::from(bit)));
            let lacks = _mm256_castsi256_ps(_mm256_cmpeq_epi32(kept, _mm256_setzero_si256()));
            Self(_mm256_blendv_ps(yes.0, no.0, lacks))
        }
    }
}

// SAFETY: as above.
unsafe impl Lanes for Avx2F64 {
    type Element = f64;
    const N: usize = 4;
    const FUSES: bool = true;

    plain_operations!(
        f64,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_add_pd,
        _mm256_sub_pd,
        _mm256_div_pd,
        _mm256_mul_pd
    );
    fused_operations!(_mm256_fmadd_pd, _mm256_fnmadd_pd);

    #[inline(always)]
    unsafe fn load_some(from: *const f64, count: usize) -> Self {
        // SAFETY: the caller has the instructions, and `count` numbers to read there; other lanes are not touched.
        unsafe { Self(_mm256_maskload_pd(from, lowest_f64(count))) }
    }
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f64, count: usize) {
        // SAFETY: the caller has the instructions, and room for `count` numbers there; other lanes are not touched.
        unsafe { _mm256_maskstore_pd(to, lowest_f64(count), self.0) }
    }

    in_registers! {
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm256_max_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            Self(_mm256_permute4x64_pd::<0b00_11_10_01>(_mm256_blend_pd::<1>(
                self.0, after.0,
            )))
        }
        fn previous(self, before: Self) -> Self {
            Self(_mm256_permute4x64_pd::<0b10_01_00_11>(_mm256_blend_pd::<8>(
                self.0, before.0,
            )))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            let even = _mm256_unpacklo_pd(a.0, b.0);
            let odd = _mm256_unpackhi_pd(a.0, b.0);
            (
                Self(_mm256_permute4x64_pd::<0b11_01_10_00>(even)),
                Self(_mm256_permute4x64_pd::<0b11_01_10_00>(odd)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            let low = _mm256_unpacklo_pd(even.0, odd.0);
            let high = _mm256_unpackhi_pd(even.0, odd.0);
            (
                Self(_mm256_permute2f128_pd::<0x20>(low, high)),
                Self(_mm256_permute2f128_pd::<0x31>(low, high)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let bits = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits.cast::<i32>().read_unaligned()));
            let kept = _mm256_and_si256(bits, _mm256_set1_epi64x(i64::from(bit)));
            let lacks = _mm256_castsi256_pd(_mm256_cmpeq_epi64(kept, _mm256_setzero_si256()));
            Self(_mm256_blendv_pd(yes.0, no.0, lacks))
        }
    }
}
