//! What methods on a graphics adapter share: conversion of errors, launches that are prepared once, and operations on a field of sound beside its steps.

pub(super) mod beside;
pub(super) mod frame;
pub(super) mod operations;
pub(super) mod patches;
pub(super) mod places;
pub(super) mod sound_sums;
pub(super) mod summed;
pub(super) mod tile;

pub(super) use super::counts::{unsigned, whole};

use super::SolverError;
use crate::backend::wgpu::{self, Bind, Buffer, Device, Kernel, Stream, WgpuError};
use bytemuck::Pod;

/// Columns and rows of a block of threads that goes through a plane row by row.
const BLOCK: [usize; 2] = [64, 4];

/// Kernels with what they are given, and blocks of threads, in order: prepared once and queued in every step.
pub(super) type Launches = Vec<(Kernel, Bind, [usize; 3])>;

/// Work for the adapter that is used.
///
/// # Errors
/// The reason that `ripplon info` gives as well.
pub(super) fn stream() -> Result<Stream, SolverError> {
    Ok(Stream::new(wgpu::device()?))
}

/// The name of the adapter that a web page may take for scenes that name no back end; `None` for a software adapter.
pub(super) fn for_the_page() -> Option<String> {
    if cfg!(not(target_family = "wasm")) {
        return None;
    }
    let device = wgpu::device().ok().filter(|device| !device.software);
    device.map(|device| device.name.clone())
}

/// Queues launches.
///
/// # Errors
/// If the device fails.
pub(super) fn put_in(stream: &Stream, launches: &Launches) -> Result<(), WgpuError> {
    for (kernel, bind, blocks) in launches {
        stream.launch(kernel, bind, None, *blocks)?;
    }
    Ok(())
}

/// Blocks of 64 x 4 threads for so many columns and rows. Kernels take their rows from y and z: row of blocks z · (the second number here) + y.
pub(super) fn blocks(device: &Device, [columns, rows]: [usize; 2]) -> [usize; 3] {
    let most = device.most_blocks() as usize;
    let down = rows.div_ceil(BLOCK[1]);
    [columns.div_ceil(BLOCK[0]), down.min(most), down.div_ceil(most)]
}

/// Blocks of a launch for so many numbers, one each and some that have none: number y · (the first number here) + x.
pub(super) fn blocks_of(device: &Device, count: usize) -> [usize; 3] {
    let most = device.most_blocks() as usize;
    [count.min(most), count.div_ceil(most), 1]
}

/// Makes a buffer larger if necessary; its contents are lost then.
pub(super) fn grow<V: Pod>(stream: &Stream, what: &str, buffer: &mut Buffer, count: usize) -> Result<(), WgpuError> {
    if buffer.bytes() < (count * size_of::<V>()) as u64 {
        *buffer = stream.zeros::<V>(what, count.next_power_of_two())?;
    }
    Ok(())
}

impl From<WgpuError> for SolverError {
    fn from(error: WgpuError) -> Self {
        match error {
            WgpuError::TooLarge { .. } => {
                Self::Unsupported(format!("wgpu: {error}; take a smaller grid, or backend = \"cpu\""))
            }
            WgpuError::OutOfMemory { .. } => Self::Backend {
                backend: "wgpu",
                message: format!("{error}; take a smaller grid, or backend = \"cpu\""),
            },
            WgpuError::Lost(_) | WgpuError::Call { .. } => Self::Backend {
                backend: "wgpu",
                message: error.to_string(),
            },
        }
    }
}
