//! A simulated loss of the device, for tests.

use cudarc::driver::{DriverError, sys};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The error of the driver for a lost device.
pub(super) const LOST: DriverError = DriverError(sys::CUresult::CUDA_ERROR_ECC_UNCORRECTABLE);

/// Launches until it is lost; `NEVER`, or 0 when it is.
static LEFT: AtomicU64 = AtomicU64::new(NEVER);
const NEVER: u64 = u64::MAX;

/// Loses the device after so many launches of any kernel, for good; `None` brings it back.
#[doc(hidden)]
pub fn lose_device_after(launches: Option<u64>) {
    LEFT.store(launches.unwrap_or(NEVER), Relaxed);
}

/// Counts a launch; whether the device is lost.
pub(super) fn strikes() -> bool {
    let left = LEFT.load(Relaxed);
    if left != NEVER && left > 0 {
        LEFT.store(left - 1, Relaxed);
    }
    left == 0
}

/// Whether it is lost.
pub(super) fn lasts() -> bool {
    LEFT.load(Relaxed) == 0
}
