//! Large arrays.

use crate::field::Real;

/// Bytes from which arrays use large pages.
const LARGE: usize = 4 << 20;

/// `count` zeros; where the system offers large pages (2 MiB on x86-64 Linux), in these. Kernels that walk down many rows at once otherwise
/// spend much of their time on looking up 4 KiB pages.
pub fn zeros<T: Real>(count: usize) -> Vec<T> {
    let mut numbers = vec![T::zero(); count];
    if count * size_of::<T>() >= LARGE {
        ask_for_large_pages(&mut numbers);
    }
    numbers
}

/// As [`zeros`], or `None` where there is no memory for them.
pub fn try_zeros<T: Real>(count: usize) -> Option<Vec<T>> {
    let mut numbers: Vec<T> = Vec::new();
    numbers.try_reserve_exact(count).ok()?;
    // Before the pages are touched.
    if count * size_of::<T>() >= LARGE {
        ask_for_large_pages(numbers.spare_capacity_mut());
    }
    numbers.resize(count, T::zero());
    Some(numbers)
}

/// Advises the kernel of the operating system; this changes speed only.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a system call that the standard library does not offer")]
fn ask_for_large_pages<T>(numbers: &mut [T]) {
    use std::ffi::{c_int, c_void};
    const PAGE: usize = 4096;
    /// `MADV_HUGEPAGE` of Linux, the same on all its architectures but PA-RISC, which Rust's tier 1 and 2 lack.
    const HUGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    let bytes = size_of_val(numbers);
    let start = numbers.as_mut_ptr().cast::<u8>();
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        let length = (bytes - skipped) / PAGE * PAGE;
        debug_assert!(skipped + length <= bytes, "{length} of {bytes} bytes");
        // SAFETY: the range lies within the array and begins at a page; the advice leaves what is stored there as it is.
        unsafe { madvise(start.wrapping_add(skipped).cast(), length, HUGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &mut [T]) {}

#[cfg(test)]
mod tests {
    #[test]
    fn large_arrays_are_zeros_to_the_last() {
        for count in [0, 7, (4 << 20) / 8, 2_000_003] {
            let numbers = super::zeros::<f64>(count);
            assert_eq!(numbers.len(), count);
            assert!(numbers.iter().all(|n| n.to_bits() == 0));
        }
    }
}
