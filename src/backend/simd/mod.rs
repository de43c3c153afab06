//! Vectors of floating-point numbers of the width that the machine has.
//!
//! Kernels are written once, generic over [`Lanes`], marked `#[inline(always)]`, and entered through functions with
//! `#[target_feature]` that [`Level`] chooses at run time ([`Level::run`]). `RIPPLON_SIMD` = `avx512`, `avx2`, `neon` or
//! `portable` forces a level that the machine has; the others are then not used.

mod aligned;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
#[cfg(target_arch = "aarch64")]
mod neon;
mod operations;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;

pub use aligned::Aligned;
#[cfg(target_arch = "x86_64")]
pub use avx2::{Avx2F32, Avx2F64};
#[cfg(target_arch = "x86_64")]
pub use avx512::{Avx512F32, Avx512F64};
pub use dispatch::{Kernel, Vectors};
#[cfg(target_arch = "aarch64")]
pub use neon::{NeonF32, NeonF64};
pub use portable::Array;
#[cfg(target_arch = "x86_64")]
pub use sse2::{Sse2F32, Sse2F64};
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use wasm::{WasmF32, WasmF64};

use crate::field::Real;
use std::sync::OnceLock;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// AVX-512F: 64 bytes.
    Avx512,
    /// AVX2 and FMA: 32 bytes.
    Avx2,
    /// NEON: 16 bytes.
    Neon,
    /// SIMD of WebAssembly: 16 bytes.
    Simd128,
    /// What every processor of the kind has: SSE2 on x86-64 (16 bytes), elsewhere what the compiler makes of arrays. A page built for SIMD has no
    /// second kind.
    Portable,
}

impl Level {
    /// Every level that this machine has, the widest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        [Self::Avx512, Self::Avx2, Self::Neon, Self::Simd128, Self::Portable]
            .into_iter()
            .filter(|level| level.is_available())
            .collect()
    }

    /// Whether this machine has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        let has_fma = || is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f") && has_fma(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => has_fma(),
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Simd128 => cfg!(all(target_arch = "wasm32", target_feature = "simd128")),
            Self::Portable => !Self::Simd128.is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The widest level, or the one that `RIPPLON_SIMD` names.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(Self::choose)
    }

    fn choose() -> Self {
        let available = Self::available();
        let wanted = std::env::var("RIPPLON_SIMD").unwrap_or_default();
        let named = available.iter().find(|level| level.as_str() == wanted);
        if named.is_none() && !wanted.is_empty() {
            tracing::warn!("RIPPLON_SIMD = {wanted} is not one of this machine's levels and is ignored");
        }
        *named.unwrap_or(&available[0])
    }

    /// Its name in `RIPPLON_SIMD`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Simd128 => "simd128",
            Self::Portable => "portable",
        }
    }

    /// The name for the user.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2",
            Self::Neon => "NEON",
            Self::Simd128 => "SIMD128",
            Self::Portable => "portable",
        }
    }
}

/// The most numbers of a vector: 64 bytes of single precision.
const MOST_LANES: usize = 16;

/// A vector of numbers.
///
/// # Safety
/// Every function may only run on a machine that has the implementor's instruction set; pointers must be good for
/// [`Lanes::N`] elements, without any alignment.
#[allow(
    unsafe_code,
    clippy::missing_safety_doc,
    reason = "intrinsics; the contract is the trait's"
)]
pub unsafe trait Lanes: Copy {
    /// The number.
    type Element: Real;
    /// How many.
    const N: usize;
    /// Whether [`Lanes::mul_add`] and [`Lanes::neg_mul_add`] round once; the scalar remainder of a row must do the same.
    const FUSES: bool;
    /// Whether [`Lanes::shifted`] is one instruction, faster than a load that straddles two cache lines.
    const SHIFTS: bool = false;

    /// Reads N numbers.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// Writes N numbers.
    unsafe fn store(self, to: *mut Self::Element);
    /// Reads the first `count` ≤ N numbers and nothing behind them; 0 in the other lanes.
    #[inline(always)]
    unsafe fn load_some(from: *const Self::Element, count: usize) -> Self {
        debug_assert!(count <= Self::N, "{count} lanes");
        let mut all = [Self::Element::default(); MOST_LANES];
        // SAFETY: the caller has `count` numbers to read there, and as many have room.
        unsafe {
            for (i, number) in all.iter_mut().enumerate().take(count) {
                *number = *from.add(i);
            }
            Self::load(all.as_ptr())
        }
    }
    /// Writes the first `count` ≤ N lanes and nothing behind them.
    #[inline(always)]
    unsafe fn store_some(self, to: *mut Self::Element, count: usize) {
        debug_assert!(count <= Self::N, "{count} lanes");
        let mut all = [Self::Element::default(); MOST_LANES];
        // SAFETY: the caller has room for `count` numbers there, and N have room in `all`.
        unsafe {
            self.store(all.as_mut_ptr());
            for (i, number) in all.iter().enumerate().take(count) {
                *to.add(i) = *number;
            }
        }
    }
    /// The same number everywhere.
    unsafe fn splat(value: Self::Element) -> Self;
    /// self + b.
    #[must_use]
    unsafe fn add(self, b: Self) -> Self;
    /// self − b.
    #[must_use]
    unsafe fn sub(self, b: Self) -> Self;
    /// self / b.
    #[must_use]
    unsafe fn div(self, b: Self) -> Self;
    /// self · b.
    #[must_use]
    unsafe fn mul(self, b: Self) -> Self;
    /// self · b + c.
    #[must_use]
    unsafe fn mul_add(self, b: Self, c: Self) -> Self;
    /// c − self · b.
    #[must_use]
    unsafe fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Per lane the larger of self and |b|; self where b is no number.
    #[must_use]
    #[inline(always)]
    unsafe fn larger(self, b: Self) -> Self {
        let (mut most, mut other) = (
            [Self::Element::default(); MOST_LANES],
            [Self::Element::default(); MOST_LANES],
        );
        // SAFETY: N elements have room; instructions are the trait's contract.
        unsafe {
            self.store(most.as_mut_ptr());
            b.store(other.as_mut_ptr());
            for (most, other) in most.iter_mut().zip(other) {
                let size = num_traits::Float::abs(other);
                *most = if size > *most { size } else { *most };
            }
            Self::load(most.as_ptr())
        }
    }
    /// Lanes 1.. of self, then lane 0 of `after`.
    #[must_use]
    unsafe fn next(self, after: Self) -> Self;
    /// The last lane of `before`, then lanes ..N−1 of self.
    #[must_use]
    unsafe fn previous(self, before: Self) -> Self;
    /// Lanes `by`.. of self, then lanes ..`by` of `after`; `by` ≤ N.
    #[must_use]
    #[inline(always)]
    unsafe fn shifted(self, after: Self, by: usize) -> Self {
        debug_assert!(by <= Self::N, "by {by} lanes");
        let mut both = [Self::Element::default(); 2 * MOST_LANES];
        // SAFETY: 2N elements have room, and by + N ≤ 2N; instructions are the trait's contract.
        unsafe {
            self.store(both.as_mut_ptr());
            after.store(both.as_mut_ptr().add(Self::N));
            Self::load(both.as_ptr().add(by))
        }
    }
    /// Of 2N numbers a b: those at even places, those at odd places.
    unsafe fn split(a: Self, b: Self) -> (Self, Self);
    /// The inverse of [`Lanes::split`].
    unsafe fn join(even: Self, odd: Self) -> (Self, Self);
    /// Per lane: `yes` where `bits` has `bit`, `no` elsewhere.
    unsafe fn choose(bits: *const u8, bit: u8, yes: Self, no: Self) -> Self;
    /// Per lane: 0 where `bits` lacks `inside`, 1 where it has `partner`, `alone` elsewhere.
    #[inline(always)]
    unsafe fn multiplier(bits: *const u8, inside: u8, partner: u8, alone: Self) -> Self {
        // SAFETY: the caller has the instructions, and N bytes to read at `bits`.
        unsafe {
            let paired = Self::choose(bits, partner, Self::splat(Self::Element::of(1.0)), alone);
            Self::choose(bits, inside, paired, Self::splat(Self::Element::default()))
        }
    }
}

/// Prefetches a cache line into the second-level cache.
#[inline(always)]
#[allow(unsafe_code, reason = "a hint, for any address")]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does not fault, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests;
