//! What the device can do at most, measured with `kernels/ceilings.cu`.

use super::{CudaError, Device, Kind, PushKernelArg, Queue, Source};
use std::time::Instant;

const SOURCE: Source = Source::embedded("ceilings");

/// Bytes of each of the two arrays of the copy: many times any cache.
const ARRAY: usize = 2 << 30;
/// Chains of multiply-adds a thread, as the kernel has them.
const CHAINS: f64 = 16.0;
/// Rounds of all chains in a launch: some milliseconds.
const ROUNDS: i32 = 20_000;

/// The ceilings of one run; each is the best of several launches.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceCeilings {
    /// The device.
    pub name: String,
    /// Bytes per second copied within its memory, read and written counted.
    pub copy: f64,
    /// Multiply-adds per second in single precision.
    pub fma_single: f64,
    /// The same in double precision.
    pub fma_double: f64,
}

impl DeviceCeilings {
    /// Measures for about `seconds`, launches of warming up included.
    ///
    /// # Errors
    /// If the device has no room for two arrays, or fails.
    pub fn measure(device: &'static Device, seconds: f64) -> Result<Self, CudaError> {
        let queue = Queue::new(device)?;
        Ok(Self {
            name: device.name.clone(),
            copy: copy(&queue, seconds / 3.0)?,
            fma_single: multiply_adds::<f32>(&queue, "multiply_adds_single", seconds / 3.0)?,
            fma_double: multiply_adds::<f64>(&queue, "multiply_adds_double", seconds / 3.0)?,
        })
    }
}

/// The best rate of `work`, `units` a call.
fn best(queue: &Queue, seconds: f64, units: f64, work: impl Fn() -> Result<(), CudaError>) -> Result<f64, CudaError> {
    work()?;
    queue.finish()?;
    let begin = Instant::now();
    let mut best: f64 = 0.0;
    let mut calls = 0;
    while calls < 5 || begin.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        work()?;
        queue.finish()?;
        best = best.max(units / start.elapsed().as_secs_f64().max(1e-9));
        calls += 1;
    }
    Ok(best)
}

/// Blocks that fill the device several times over.
fn blocks(queue: &Queue) -> u32 {
    queue.device().multiprocessors * 32
}

#[allow(unsafe_code, reason = "a kernel launch")]
#[expect(clippy::cast_precision_loss, reason = "bytes of one launch")]
fn copy(queue: &Queue, seconds: f64) -> Result<f64, CudaError> {
    let bytes = usize::try_from(queue.device().free_memory() / 4)
        .unwrap_or(ARRAY)
        .min(ARRAY)
        / 16
        * 16;
    let from = queue.zeros::<u8>("an array to copy from", bytes)?;
    let to = queue.zeros::<u8>("an array to copy to", bytes)?;
    let kernel = queue.kernel(SOURCE, "copy", 0)?;
    let (from, to, count) = (from.address(), to.address(), (bytes / 16) as u64);
    best(queue, seconds, 2.0 * bytes as f64, || {
        // SAFETY: the arguments are those of `copy`; both buffers hold `count` times 16 bytes and live until `best` has waited.
        unsafe {
            queue.launch(&kernel, (blocks(queue), 1, 1), 256, |launch| {
                launch.arg(&to).arg(&from).arg(&count);
            })
        }
    })
}

#[allow(unsafe_code, reason = "a kernel launch")]
fn multiply_adds<T: Kind + From<f32>>(queue: &Queue, entry: &'static str, seconds: f64) -> Result<f64, CudaError> {
    let threads = blocks(queue) * 256;
    let sums = queue.zeros::<T>("sums of multiply-adds", threads as usize)?;
    let kernel = queue.kernel(SOURCE, entry, 0)?;
    // Values stay near one.
    let (out, factor, term) = (sums.address(), T::from(0.999_999), T::from(1e-6));
    let units = f64::from(threads) * CHAINS * f64::from(ROUNDS);
    best(queue, seconds, units, || {
        // SAFETY: the arguments are those of the kernel, and `sums` holds a number for each thread.
        unsafe {
            queue.launch(&kernel, (blocks(queue), 1, 1), 256, |launch| {
                launch.arg(&out).arg(&factor).arg(&term).arg(&ROUNDS);
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::manifest;

    #[test]
    fn every_module_is_asked_for() {
        manifest::assert_asked("ceilings", &[SOURCE]);
    }
}
