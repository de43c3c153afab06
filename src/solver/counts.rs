//! Counts as NVIDIA devices and graphics adapters take them, in 32 bits: grids and buffers beyond were refused.

/// A count.
pub(super) fn whole(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The same without a sign.
pub(super) fn unsigned(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
