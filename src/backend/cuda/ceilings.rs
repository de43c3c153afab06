//! Limits of the device, measured with `kernels/ceilings.cu`.

use super::{CudaError, Device, Kind, Source, Stream};
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
    /// If the device has not enough memory for two arrays, or fails.
    pub fn measure(device: &'static Device, seconds: f64) -> Result<Self, CudaError> {
        let stream = Stream::new(device)?;
        Ok(Self {
            name: device.name.clone(),
            copy: copy(&stream, seconds / 3.0)?,
            fma_single: multiply_adds::<f32>(&stream, "multiply_adds_single", seconds / 3.0)?,
            fma_double: multiply_adds::<f64>(&stream, "multiply_adds_double", seconds / 3.0)?,
        })
    }
}

/// The best rate of `work`, `units` a call.
fn best(stream: &Stream, seconds: f64, units: f64, work: impl Fn() -> Result<(), CudaError>) -> Result<f64, CudaError> {
    work()?;
    stream.finish()?;
    let begin = Instant::now();
    let mut best: f64 = 0.0;
    let mut calls = 0;
    while calls < 5 || begin.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        work()?;
        stream.finish()?;
        best = best.max(units / start.elapsed().as_secs_f64().max(1e-9));
        calls += 1;
    }
    Ok(best)
}

/// Blocks that fill the device several times over.
fn blocks(stream: &Stream) -> u32 {
    stream.device().multiprocessors * 32
}

#[allow(unsafe_code, reason = "a kernel launch")]
#[expect(clippy::cast_precision_loss, reason = "bytes of one launch")]
fn copy(stream: &Stream, seconds: f64) -> Result<f64, CudaError> {
    let bytes = usize::try_from(stream.device().free_memory() / 4)
        .unwrap_or(ARRAY)
        .min(ARRAY)
        / 16
        * 16;
    let from = stream.zeros::<u8>("an array to copy from", bytes)?;
    let to = stream.zeros::<u8>("an array to copy to", bytes)?;
    debug_assert!(from.bytes() == to.bytes() && bytes.is_multiple_of(16), "{bytes} bytes");
    let kernel = stream.kernel(SOURCE, "copy", 0)?;
    let (from, to, count) = (from.address(), to.address(), (bytes / 16) as u64);
    best(stream, seconds, 2.0 * bytes as f64, || {
        // SAFETY: the arguments are those of `copy`; both buffers hold `count` times 16 bytes and live until `best` has waited.
        unsafe {
            stream.launch(&kernel, (blocks(stream), 1, 1), 256, |launch| {
                launch.arg(&to).arg(&from).arg(&count);
            })
        }
    })
}

#[allow(unsafe_code, reason = "a kernel launch")]
fn multiply_adds<T: Kind + From<f32>>(stream: &Stream, entry: &'static str, seconds: f64) -> Result<f64, CudaError> {
    let threads = blocks(stream) * 256;
    let sums = stream.zeros::<T>("sums of multiply-adds", threads as usize)?;
    let kernel = stream.kernel(SOURCE, entry, 0)?;
    // Values stay near one.
    let (out, factor, term) = (sums.address(), T::from(0.999_999), T::from(1e-6));
    let units = f64::from(threads) * CHAINS * f64::from(ROUNDS);
    best(stream, seconds, units, || {
        // SAFETY: the arguments are those of the kernel, and `sums` holds a number for each thread.
        unsafe {
            stream.launch(&kernel, (blocks(stream), 1, 1), 256, |launch| {
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
