//! What several methods share on one kind of hardware.

pub mod ceilings;
pub mod host_memory;
pub mod machine;
pub mod memory;
pub mod ranks;
pub mod simd;
pub mod threads;

/// NVIDIA devices.
#[cfg(feature = "cuda")]
pub mod cuda;

/// Graphics adapters of any make.
#[cfg(feature = "gui")]
pub mod wgpu;
