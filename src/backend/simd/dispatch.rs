//! From a level chosen at run time to code compiled for its instructions.

#![allow(
    unsafe_code,
    reason = "functions with target features may only run where the features are, which is checked"
)]

#[cfg(not(any(
    all(target_arch = "x86_64", not(miri)),
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
use super::Array;
use super::{Lanes, Level};
use crate::field::Real;

/// A number and its vectors at every level.
pub trait Vectors: Real {
    /// 64 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Element = Self>;
    /// 32 bytes.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Element = Self>;
    /// 16 bytes.
    #[cfg(target_arch = "aarch64")]
    type Neon: Lanes<Element = Self>;
    /// What every machine of the target has: SSE2 on x86-64 (16 bytes), SIMD128 in a page, which is loaded each time and therefore
    /// has only this kind, elsewhere and under Miri an array of 32 bytes.
    type Portable: Lanes<Element = Self>;
}

impl Vectors for f32 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = super::Avx512F32;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = super::Avx2F32;
    #[cfg(target_arch = "aarch64")]
    type Neon = super::NeonF32;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    type Portable = super::Sse2F32;
    #[cfg(not(any(
        all(target_arch = "x86_64", not(miri)),
        all(target_arch = "wasm32", target_feature = "simd128")
    )))]
    type Portable = Array<Self, 8>;
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    type Portable = super::WasmF32;
}

impl Vectors for f64 {
    #[cfg(target_arch = "x86_64")]
    type Avx512 = super::Avx512F64;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = super::Avx2F64;
    #[cfg(target_arch = "aarch64")]
    type Neon = super::NeonF64;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    type Portable = super::Sse2F64;
    #[cfg(not(any(
        all(target_arch = "x86_64", not(miri)),
        all(target_arch = "wasm32", target_feature = "simd128")
    )))]
    type Portable = Array<Self, 4>;
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    type Portable = super::WasmF64;
}

/// Work written once for vectors of any width.
pub trait Kernel<T: Vectors> {
    /// Does the work. Mark it `#[inline(always)]`, so that it is compiled inside the function with the target features.
    ///
    /// # Safety
    /// The machine must have the instructions of `L`.
    unsafe fn run<L: Lanes<Element = T>>(self);
}

impl Level {
    /// Numbers of a vector.
    #[must_use]
    pub fn lanes<T: Vectors>(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => T::Avx512::N,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => T::Avx2::N,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => T::Neon::N,
            _ => T::Portable::N,
        }
    }

    /// Does the work with this level's instructions.
    ///
    /// # Panics
    /// If the machine lacks them; [`Level::available`] says what it has.
    #[inline]
    pub fn run<T: Vectors>(self, kernel: impl Kernel<T>) {
        assert!(
            self == Self::best() || self.is_available(),
            "this machine has no {}",
            self.title()
        );
        match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine has the features, as was just seen.
            Self::Avx512 => unsafe { avx512(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the machine has the features, as was just seen.
            Self::Avx2 => unsafe { avx2(kernel) },
            #[cfg(target_arch = "aarch64")]
            // SAFETY: the machine has the features, as was just seen.
            Self::Neon => unsafe { kernel.run::<T::Neon>() },
            // SAFETY: every machine of the target has these.
            _ => unsafe { kernel.run::<T::Portable>() },
        }
    }
}

/// # Safety
/// As the features say.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512<T: Vectors>(kernel: impl Kernel<T>) {
    // SAFETY: the function has the features.
    unsafe { kernel.run::<T::Avx512>() }
}

/// # Safety
/// As the features say.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<T: Vectors>(kernel: impl Kernel<T>) {
    // SAFETY: the function has the features.
    unsafe { kernel.run::<T::Avx2>() }
}
