//! What a device has to say, as errors of solvers.

use super::SolverError;
use crate::backend::cuda::{self, CudaError, Device};

/// The device, or why there is none.
///
/// # Errors
/// The reason that `ripplon info` gives as well.
pub(super) fn device() -> Result<&'static Device, SolverError> {
    cuda::device().map_err(|reason| SolverError::Backend {
        backend: "cuda",
        message: reason.to_owned(),
    })
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
