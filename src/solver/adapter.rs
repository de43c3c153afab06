//! What methods on a graphics adapter share: its errors as those of solvers.

use super::SolverError;
use crate::backend::wgpu::{self, Stream, WgpuError};

/// Work for the adapter that is used.
///
/// # Errors
/// The reason that `ripplon info` gives as well.
pub(super) fn stream() -> Result<Stream, SolverError> {
    Ok(Stream::new(wgpu::device()?))
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
