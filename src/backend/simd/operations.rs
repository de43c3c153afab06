//! What the implementations of [`Lanes`](super::Lanes) share: the operations that are one instruction a vector in every set, and the frame of the others.

/// Inside an `impl Lanes`: reading, writing, one number in every lane, sums, differences, quotients and products, by intrinsics in this order.
macro_rules! plain_operations {
    ($element:ty, $load:ident, $store:ident, $splat:ident, $add:ident, $sub:ident, $div:ident, $mul:ident) => {
        #[inline(always)]
        unsafe fn load(from: *const $element) -> Self {
            // SAFETY: the caller has the instructions, and N numbers to read there; the access needs no alignment.
            unsafe { Self($load(from.cast())) }
        }
        #[inline(always)]
        unsafe fn store(self, to: *mut $element) {
            // SAFETY: the caller has the instructions, and room for N numbers there; the access needs no alignment.
            unsafe { $store(to.cast(), self.0) }
        }
        #[inline(always)]
        unsafe fn splat(value: $element) -> Self {
            // SAFETY: the caller has the instructions; registers alone are touched.
            #[allow(unused_unsafe, reason = "those of WebAssembly are safe")]
            unsafe {
                Self($splat(value))
            }
        }
        $crate::backend::simd::operations::of_two!(add, $add);
        $crate::backend::simd::operations::of_two!(sub, $sub);
        $crate::backend::simd::operations::of_two!(div, $div);
        $crate::backend::simd::operations::of_two!(mul, $mul);
    };
}

/// Inside an `impl Lanes`: one operation of two vectors.
macro_rules! of_two {
    ($name:ident, $intrinsic:ident) => {
        $crate::backend::simd::operations::in_registers! {
            fn $name(self, b: Self) -> Self {
                Self($intrinsic(self.0, b.0))
            }
        }
    };
}

/// Inside an `impl Lanes`: functions that touch registers alone, and no memory.
macro_rules! in_registers {
    ($(fn $name:ident($($parameters:tt)*) -> $out:ty { $($body:tt)* })*) => {$(
        #[inline(always)]
        unsafe fn $name($($parameters)*) -> $out {
            // SAFETY: the caller has the instructions; registers alone are touched.
            #[allow(unused_unsafe, reason = "those of WebAssembly are safe")]
            unsafe {
                $($body)*
            }
        }
    )*};
}

/// Inside an `impl Lanes`: a b + c and c − a b, rounded once, by intrinsics of a, b, c.
#[cfg(target_arch = "x86_64")]
macro_rules! fused_operations {
    ($mul_add:ident, $neg_mul_add:ident) => {
        $crate::backend::simd::operations::in_registers! {
            fn mul_add(self, b: Self, c: Self) -> Self {
                Self($mul_add(self.0, b.0, c.0))
            }
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                Self($neg_mul_add(self.0, b.0, c.0))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(in crate::backend::simd) use fused_operations;
pub(in crate::backend::simd) use {in_registers, of_two, plain_operations};
