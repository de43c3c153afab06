//! What methods on an NVIDIA device share: the choice of the device, operations on single sites between steps, sums and pictures beside the steps, and the
//! conversion of the device's errors.

pub(super) mod events;
pub(super) mod readback;
pub(super) mod rows;
pub(super) mod state;
pub(super) mod texels;
pub(super) mod transducers;

pub(super) use super::counts::{unsigned, whole};

use super::SolverError;
use crate::backend::cuda::{self, CudaError, Device, Kind};
use crate::backend::simd::Vectors;
use crate::field::Precision;
use crate::grid::Grid;
use std::ops::Range;

/// A real that the processor and the device can hold.
pub(super) trait OnCuda: Vectors + Kind {}
impl OnCuda for f32 {}
impl OnCuda for f64 {}

/// The rows or planes of a window that are its own, along the axis that is cut, and how many of them at the lower and upper end neighbours copy: they are copied directly after
/// the next steps.
#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) core: Range<usize>,
    pub(super) sent: [usize; 2],
}

/// Row pairs of a chunk of one step that is not worth cutting: its halo is a sixteenth.
const SHORT: u32 = 32;

/// Row pairs that a warp of a fused kernel writes: all blocks at once, `chunks` of them along y, but no chunk so short that most of it is halo.
pub(super) fn chunk_of(pairs: u32, chunks: u32, steps: u32) -> u32 {
    let chunks = chunks.max(1);
    let whole = pairs.div_ceil(chunks).max(steps);
    if steps == 1 {
        // Bound by memory: several blocks one after the other even out what single ones wait for.
        pairs.div_ceil(4 * chunks).max(SHORT).min(whole)
    } else {
        whole
    }
}

/// Refuses planes that are too large for the device's counts.
pub(super) fn check_count(grid: &Grid, numbers: u64) -> Result<(), SolverError> {
    let [_, ny, nz] = grid.size();
    if u32::try_from(numbers).is_ok() && ny * nz <= i32::MAX as usize / 2 {
        return Ok(());
    }
    Err(SolverError::Unsupported(format!(
        "the device counts sites in 32 bits, and {grid} has {}; take a smaller grid, several parts where the method cuts the scene (devices = [0, 0]), or backend = \"cpu\"",
        grid.sites()
    )))
}

/// Refuses a run that needs more memory than the device has free, before anything is allocated.
pub(super) fn check_room(
    grid: &Grid,
    precision: Precision,
    method: &str,
    needed: u64,
    free: u64,
) -> Result<(), SolverError> {
    if needed <= free {
        return Ok(());
    }
    Err(SolverError::OutOfMemory {
        what: format!("cuda: {method} on {grid} sites in {} precision", precision.as_str()),
        needed,
        available: free,
    })
}

/// The device with this number, or why there is none.
///
/// # Errors
/// The reason that `ripplon info` gives as well.
pub(super) fn device(number: usize) -> Result<&'static Device, SolverError> {
    cuda::device_at(number).map_err(|reason| SolverError::Backend {
        backend: "cuda",
        message: reason.to_owned(),
    })
}

/// Lets devices of neighbouring parts copy from each other directly, if the run is on devices.
pub(super) fn let_reach(numbers: impl Iterator<Item = usize>) {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    for (n, one) in numbers.iter().enumerate() {
        for other in &numbers[n + 1..] {
            if let (Ok(one), Ok(other)) = (cuda::device_at(*one), cuda::device_at(*other)) {
                one.reach(other);
            }
        }
    }
}

impl From<CudaError> for SolverError {
    fn from(error: CudaError) -> Self {
        match error {
            CudaError::OutOfMemory {
                what,
                needed,
                available,
            } => Self::OutOfMemory {
                what: format!("cuda: {what}"),
                needed,
                available,
            },
            CudaError::NotCompiled(message) => Self::Unsupported(message),
            CudaError::Call { .. } => Self::Backend {
                backend: "cuda",
                message: error.to_string(),
            },
        }
    }
}
