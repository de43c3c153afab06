//! SSE2, which every x86-64 processor has: the portable level there. In builds with little optimisation the compiler would split
//! arrays of the same width into single numbers, and every kernel would become several times as large.

#![allow(unsafe_code, clippy::wildcard_imports, reason = "intrinsics")]

use super::Lanes;
use super::operations::{in_registers, plain_operations};
use std::arch::x86_64::*;

/// 4 singles.
#[derive(Clone, Copy, Debug)]
pub struct Sse2F32(__m128);
/// 2 doubles.
#[derive(Clone, Copy, Debug)]
pub struct Sse2F64(__m128d);

// SAFETY: here and below only instructions that every x86-64 processor has; memory is read and written through accesses of N elements
// without alignment, which the trait's contract allows.
unsafe impl Lanes for Sse2F32 {
    type Element = f32;
    const N: usize = 4;
    const FUSES: bool = false;

    plain_operations!(
        f32,
        _mm_loadu_ps,
        _mm_storeu_ps,
        _mm_set1_ps,
        _mm_add_ps,
        _mm_sub_ps,
        _mm_div_ps,
        _mm_mul_ps
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(_mm_add_ps(_mm_mul_ps(self.0, b.0), c.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(_mm_sub_ps(c.0, _mm_mul_ps(self.0, b.0)))
        }
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm_max_ps(_mm_andnot_ps(_mm_set1_ps(-0.0), b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            let moved = _mm_move_ss(self.0, after.0);
            Self(_mm_shuffle_ps::<0b00_11_10_01>(moved, moved))
        }
        fn previous(self, before: Self) -> Self {
            let moved = _mm_shuffle_ps::<0b10_01_00_11>(self.0, self.0);
            Self(_mm_move_ss(moved, _mm_shuffle_ps::<0b11_11_11_11>(before.0, before.0)))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (
                Self(_mm_shuffle_ps::<0b10_00_10_00>(a.0, b.0)),
                Self(_mm_shuffle_ps::<0b11_01_11_01>(a.0, b.0)),
            )
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (
                Self(_mm_unpacklo_ps(even.0, odd.0)),
                Self(_mm_unpackhi_ps(even.0, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        debug_assert!(!bits.is_null() && bit != 0, "bit {bit}");
        // SAFETY: the caller has N bytes to read at `bits`; the access needs no alignment.
        unsafe {
            let zero = _mm_setzero_si128();
            let four = _mm_cvtsi32_si128(bits.cast::<i32>().read_unaligned());
            let wide = _mm_unpacklo_epi16(_mm_unpacklo_epi8(four, zero), zero);
            let kept = _mm_and_si128(wide, _mm_set1_epi32(i32::from(bit)));
            let lacks = _mm_castsi128_ps(_mm_cmpeq_epi32(kept, zero));
            Self(_mm_or_ps(_mm_and_ps(lacks, no.0), _mm_andnot_ps(lacks, yes.0)))
        }
    }
}

// SAFETY: as above.
unsafe impl Lanes for Sse2F64 {
    type Element = f64;
    const N: usize = 2;
    const FUSES: bool = false;

    plain_operations!(
        f64,
        _mm_loadu_pd,
        _mm_storeu_pd,
        _mm_set1_pd,
        _mm_add_pd,
        _mm_sub_pd,
        _mm_div_pd,
        _mm_mul_pd
    );

    in_registers! {
        fn mul_add(self, b: Self, c: Self) -> Self {
            Self(_mm_add_pd(_mm_mul_pd(self.0, b.0), c.0))
        }
        fn neg_mul_add(self, b: Self, c: Self) -> Self {
            Self(_mm_sub_pd(c.0, _mm_mul_pd(self.0, b.0)))
        }
        fn larger(self, b: Self) -> Self {
            // The second operand is taken where either is no number.
            Self(_mm_max_pd(_mm_andnot_pd(_mm_set1_pd(-0.0), b.0), self.0))
        }
        fn next(self, after: Self) -> Self {
            Self(_mm_shuffle_pd::<0b01>(self.0, after.0))
        }
        fn previous(self, before: Self) -> Self {
            Self(_mm_shuffle_pd::<0b01>(before.0, self.0))
        }
        fn split(a: Self, b: Self) -> (Self, Self) {
            (Self(_mm_unpacklo_pd(a.0, b.0)), Self(_mm_unpackhi_pd(a.0, b.0)))
        }
        fn join(even: Self, odd: Self) -> (Self, Self) {
            (
                Self(_mm_unpacklo_pd(even.0, odd.0)),
                Self(_mm_unpackhi_pd(even.0, odd.0)),
            )
        }
    }
    #[inline(always)]
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self {
        debug_assert!(!bits.is_null() && bit != 0, "bit {bit}");
        // SAFETY: the caller has N bytes to read at `bits`.
        unsafe {
            let [first, second] = [*bits, *bits.add(1)].map(|byte| i32::from(byte & bit));
            let kept = _mm_setr_epi32(first, first, second, second);
            let lacks = _mm_castsi128_pd(_mm_cmpeq_epi32(kept, _mm_setzero_si128()));
            Self(_mm_or_pd(_mm_and_pd(lacks, no.0), _mm_andnot_pd(lacks, yes.0)))
        }
    }
}
