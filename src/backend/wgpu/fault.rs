//! Errors of an adapter.

/// An error of the adapter, its driver or a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WgpuError {
    /// The adapter has no memory for it.
    #[error("out of memory: {what} needs {needed} bytes")]
    OutOfMemory {
        /// What was to be allocated.
        what: String,
        /// Bytes asked for.
        needed: u64,
    },
    /// More than a buffer of the adapter may hold.
    #[error("{what} needs a buffer of {needed} bytes, and those of this adapter hold {most}")]
    TooLarge {
        /// What was to be allocated.
        what: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes of the largest buffer that a kernel can reach.
        most: u64,
    },
    /// The device is gone: a fault of the driver, or it was taken away.
    #[error("the device was lost: {0}")]
    Lost(String),
    /// A call failed.
    #[error("{what}: {message}")]
    Call {
        /// The kernel or call.
        what: String,
        /// What the driver said.
        message: String,
    },
}

impl WgpuError {
    /// Whether memory was lacking, so that work for which there is another way can go on.
    pub fn lacks_memory(&self) -> bool {
        matches!(self, Self::TooLarge { .. } | Self::OutOfMemory { .. })
    }
}
