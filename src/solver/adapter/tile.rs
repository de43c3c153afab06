//! Tiles in registers of methods that turn pairs of sites, two numbers each, in two dimensions (`kernels/*_block.wgsl`): 128 threads, 16 side by side.

use crate::backend::wgpu::Device;

/// Sites of a tile across; threads below one another.
pub(in crate::solver) const ACROSS: usize = 64;
pub(in crate::solver) const DOWN: usize = 8;
/// Columns of a thread: halos begin at multiples.
pub(in crate::solver) const COLUMNS: usize = 4;
/// Steps of a launch at most, of two sites of halo each. With more there is little left of a tile: at 6, 40 × 40 or 40 × 8 sites.
pub(in crate::solver) const MOST_STEPS: usize = 6;

/// Rows of a thread, and steps of a launch where the scene does not say (with more, the halo costs more than memory traffic): what was fastest of Trotter–Suzuki on an H200, of
/// blocks of 24 KiB of workgroup memory, and of 16 KiB, which every adapter and browser has.
pub(in crate::solver) fn tile(device: &Device) -> (usize, usize) {
    if device.workgroup_memory() < 24 << 10 {
        (4, 2)
    } else {
        (8, 4)
    }
}
