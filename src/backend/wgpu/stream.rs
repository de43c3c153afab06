//! Buffers of an adapter, and what is queued for it: copies and launches, in order.
//!
//! Launches are collected and submitted in batches that take about [`SHORT`], as measured on the way: systems take an adapter away from a program whose batch
//! lasts seconds, and the window draws in between. Two batches are under way at most.

use super::system::{Landing, WAITS_FOR_ONE};
use super::{Bind, Device, Kernel, WgpuError};
use crate::platform::Instant;
use bytemuck::Pod;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The intended time of a batch.
const SHORT: Duration = Duration::from_millis(20);
/// Launches of the first batch, and of any.
const FIRST: usize = 16;
const MOST: usize = 4096;
/// Bytes that are copied at once.
const PIECE: usize = 32 << 20;
/// Bytes of an entry of a table of uniforms.
pub(super) const ENTRY: u64 = 256;

/// An array on the adapter; clones are the same array.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub(super) raw: Arc<Owned>,
}

/// The buffer of an array.
#[derive(Debug)]
pub(super) struct Owned(wgpu::Buffer);

impl Deref for Owned {
    type Target = wgpu::Buffer;

    fn deref(&self) -> &wgpu::Buffer {
        &self.0
    }
}

/// Buffers are destroyed explicitly: a browser frees them only when its garbage collector runs, and pictures would fill the adapter until then.
#[cfg(target_family = "wasm")]
impl Drop for Owned {
    fn drop(&mut self) {
        self.0.destroy();
    }
}

impl From<wgpu::Buffer> for Buffer {
    fn from(raw: wgpu::Buffer) -> Self {
        Self {
            raw: Arc::new(Owned(raw)),
        }
    }
}

impl Buffer {
    /// Whether it is the same array.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.raw, &other.raw)
    }

    /// Bytes of it.
    pub fn bytes(&self) -> u64 {
        self.raw.size()
    }
}

/// A launch that was queued.
struct Launch {
    kernel: Kernel,
    bind: Bind,
    entry: Option<u32>,
    blocks: [u32; 3],
}

/// A batch that was submitted.
struct Batch {
    index: wgpu::SubmissionIndex,
    launches: usize,
    /// The entry of the last of them.
    last: &'static str,
    since: Instant,
}

/// What is queued and not yet done.
struct Pending {
    launches: Vec<Launch>,
    /// Launches of a batch.
    most: usize,
    batch: Option<Batch>,
    /// When the adapter was last seen at the end of a batch.
    ended: Instant,
    landing: Landing,
}

/// Work for the adapter, in order.
pub struct Stream {
    device: Arc<Device>,
    pending: Mutex<Pending>,
}

impl Stream {
    /// A stream of a device.
    #[must_use]
    pub fn new(device: Arc<Device>) -> Self {
        Self {
            device,
            pending: Mutex::new(Pending {
                launches: Vec::new(),
                most: FIRST,
                batch: None,
                ended: Instant::now(),
                landing: Landing::default(),
            }),
        }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An array of `count` numbers, all 0.
    ///
    /// # Errors
    /// If the adapter has not enough memory.
    pub fn zeros<V: Pod>(&self, what: &str, count: usize) -> Result<Buffer, WgpuError> {
        let needed = (count.max(1) as u64)
            .saturating_mul(size_of::<V>() as u64)
            .next_multiple_of(16);
        let most = self.device.largest_buffer();
        if needed > most {
            return Err(WgpuError::TooLarge {
                what: what.to_owned(),
                needed,
                most,
            });
        }
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::UNIFORM
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        self.device.allocate(what, needed, usage).map(Buffer::from)
    }

    /// An array of these numbers; one number where there is none.
    ///
    /// # Errors
    /// As [`Stream::zeros`].
    pub fn list<V: Pod>(&self, what: &str, values: &[V]) -> Result<Buffer, WgpuError> {
        let buffer = self.zeros::<V>(what, values.len())?;
        // Nothing that was queued before uses this array.
        self.write(what, values, &buffer, 0)?;
        Ok(buffer)
    }

    /// Copies numbers to an array, from number `at` on.
    ///
    /// # Errors
    /// If the device fails.
    pub fn upload<V: Pod>(&self, what: &str, values: &[V], to: &Buffer, at: usize) -> Result<(), WgpuError> {
        // What was queued before reads what is there now.
        self.submit(&mut self.pending())?;
        self.write(what, values, to, at)
    }

    fn write<V: Pod>(&self, what: &str, values: &[V], to: &Buffer, at: usize) -> Result<(), WgpuError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let first = (at * size_of::<V>()) as u64;
        for (n, part) in bytes.chunks(PIECE).enumerate() {
            self.device
                .queue
                .write_buffer(&to.raw, first + (n * PIECE) as u64, part);
            if bytes.len() > PIECE {
                // The library keeps a copy of what is written until it was submitted.
                let index = self.device.queue.submit([]);
                self.device.wait(what, Some(index))?;
            }
        }
        self.device.check(what)
    }

    /// Copies numbers back, from number `at` on, after everything queued so far.
    ///
    /// # Errors
    /// If the device fails.
    pub fn download<V: Pod>(&self, what: &str, from: &Buffer, at: usize, to: &mut [V]) -> Result<(), WgpuError> {
        let mut pending = self.pending();
        self.submit(&mut pending)?;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(to);
        let first = (at * size_of::<V>()) as u64;
        for (n, part) in bytes.chunks_mut(PIECE).enumerate() {
            let from = (from, first + (n * PIECE) as u64);
            pending.landing.fetch(&self.device, what, from, part)?;
        }
        pending.ended = Instant::now();
        Ok(())
    }

    /// Queues a launch; `entry` of its table of uniforms, where it has one.
    ///
    /// # Errors
    /// If the device fails.
    pub fn launch(
        &self,
        kernel: &Kernel,
        bind: &Bind,
        entry: Option<usize>,
        blocks: [usize; 3],
    ) -> Result<(), WgpuError> {
        let most = self.device.most_blocks();
        let mut pending = self.pending();
        pending.launches.push(Launch {
            kernel: kernel.clone(),
            bind: bind.clone(),
            entry: entry.map(|entry| u32::try_from(entry as u64 * ENTRY).unwrap_or(u32::MAX)),
            blocks: blocks.map(|n| u32::try_from(n).unwrap_or(u32::MAX).clamp(1, most)),
        });
        if pending.launches.len() >= pending.most {
            self.submit(&mut pending)?;
        }
        Ok(())
    }

    /// Submits what was queued, and waits for the batch before.
    fn submit(&self, pending: &mut Pending) -> Result<(), WgpuError> {
        let Some(last) = pending.launches.last().map(|launch| launch.kernel.entry) else {
            return Ok(());
        };
        if !WAITS_FOR_ONE {
            // Later it would be waited for with the one that is submitted now.
            self.end(pending)?;
        }
        let mut encoder = self
            .device
            .raw
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for launch in &pending.launches {
                pass.set_pipeline(&launch.kernel.pipeline);
                pass.set_bind_group(0, &launch.bind.group, launch.entry.as_slice());
                let [x, y, z] = launch.blocks;
                pass.dispatch_workgroups(x, y, z);
            }
        }
        let now = Batch {
            index: self.device.queue.submit([encoder.finish()]),
            launches: pending.launches.len(),
            last,
            since: Instant::now(),
        };
        pending.launches.clear();
        self.end(pending)?;
        pending.batch = Some(now);
        self.device.check(&format!("kernel `{last}`"))
    }

    /// Waits for the batch that was submitted, and adapts the number of launches of a batch to its time.
    fn end(&self, pending: &mut Pending) -> Result<(), WgpuError> {
        let Some(batch) = pending.batch.take() else {
            return Ok(());
        };
        (self.device).wait(&format!("kernel `{}`", batch.last), Some(batch.index))?;
        let end = Instant::now();
        let took = (end - batch.since.max(pending.ended)).saturating_sub(self.device.idle_wait);
        pending.ended = end;
        // Towards as many launches as take the time that a batch shall take, twice as many at most. A batch may have been submitted before it was full.
        let fitting = SHORT.as_secs_f64() / took.as_secs_f64().max(1e-6);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a few thousands"
        )]
        let next = (batch.launches as f64 * fitting.min(2.0)) as usize;
        let next = if took > SHORT { next } else { next.max(pending.most) };
        pending.most = next.clamp(1, MOST);
        Ok(())
    }

    /// Waits for everything that was queued.
    ///
    /// # Errors
    /// What failed since the last such call.
    pub fn finish(&self) -> Result<(), WgpuError> {
        let mut pending = self.pending();
        self.submit(&mut pending)?;
        self.end(&mut pending)?;
        self.device.check("waiting for kernels")
    }
}
