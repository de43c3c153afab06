//! One stream of work on a device: buffers, kernels, copies.

use super::queue::{Arguments, Queue};
use super::{CudaError, Device, Source, failed, fault, words};
use cudarc::driver::{CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, PinnedHostSlice, sys};
pub use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

/// What a buffer may hold.
pub trait Kind: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static {}
impl<T: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static> Kind for T {}

/// An array on the device.
pub struct Buffer<T: Kind> {
    slice: CudaSlice<T>,
    address: u64,
    queue: Arc<Queue>,
}

impl<T: Kind> Drop for Buffer<T> {
    fn drop(&mut self) {
        // Its memory is freed in the stream's order: what was queued before and may use it comes first.
        self.queue.flush_and_keep_failure();
    }
}

impl<T: Kind> Buffer<T> {
    /// Its address there, as a kernel's parameter. Valid while the buffer lives.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.slice.num_bytes()
    }
}

/// A point in a stream: everything that was queued before.
pub struct Event(CudaEvent);

/// Page-locked host memory that a copy fills while the caller continues.
pub struct PinnedBuffer<T: Kind> {
    memory: PinnedHostSlice<T>,
    /// A mark behind the latest copy.
    filled: Option<Event>,
    count: usize,
}

impl<T: Kind> PinnedBuffer<T> {
    /// Numbers that fit.
    pub fn room(&self) -> usize {
        self.memory.len()
    }
}

impl<T: Kind> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        // The memory must not be freed while a copy writes to it; a device that failed writes no more.
        if let Some(mark) = &self.filled {
            let _ = mark.0.synchronize();
        }
    }
}

/// A kernel, ready to launch.
#[derive(Clone, Debug)]
pub struct Kernel {
    function: CudaFunction,
    name: &'static str,
    shared: u32,
    /// Whether its blocks share memory in clusters.
    clustered: bool,
}

/// A stream of work: what is queued runs in order.
#[derive(Clone)]
pub struct Stream {
    pub(super) device: &'static Device,
    queue: Arc<Queue>,
    /// The kernel queued last, for errors that are reported later.
    last: Arc<Mutex<&'static str>>,
}

impl Stream {
    /// A stream of its own.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn new(device: &'static Device) -> Result<Self, CudaError> {
        let stream = device
            .context
            .new_stream()
            .map_err(|error| failed("making a stream", &error))?;
        Ok(Self::of(device, stream))
    }

    /// A stream of its own whose work comes before that of others wherever both wait for a place on the device.
    ///
    /// # Errors
    /// If the driver refuses.
    pub(super) fn urgent(device: &'static Device) -> Result<Self, CudaError> {
        let made = || {
            let (_, highest) = cudarc::driver::result::stream::get_priority_range()?;
            device.context.new_stream_with_priority(highest)
        };
        device.bind("making a stream")?;
        Ok(Self::of(
            device,
            made().map_err(|error| failed("making a stream", &error))?,
        ))
    }

    fn of(device: &'static Device, stream: Arc<CudaStream>) -> Self {
        Self {
            device,
            queue: Arc::new(Queue::new(device, stream)),
            last: Arc::new(Mutex::new("none")),
        }
    }

    /// Whether both are the same stream.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    /// The driver's stream, with everything queued before.
    pub(super) fn stream(&self) -> Result<&Arc<CudaStream>, CudaError> {
        self.queue.stream()
    }

    /// A number that changes with every launch that is queued and every wait.
    pub(super) fn puts(&self) -> u64 {
        self.queue.puts()
    }

    /// The device.
    pub fn device(&self) -> &'static Device {
        self.device
    }

    /// An array of zeros; `what` names it in errors.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`] with the sizes.
    pub fn zeros<T: Kind>(&self, what: &str, count: usize) -> Result<Buffer<T>, CudaError> {
        let stream = self.stream()?;
        let slice = stream.alloc_zeros::<T>(count).map_err(|error| {
            if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                CudaError::OutOfMemory {
                    what: what.to_owned(),
                    needed: (count * size_of::<T>()) as u64,
                    available: self.device.free_memory(),
                }
            } else {
                failed(format!("allocating {what}"), &error)
            }
        })?;
        let address = slice.device_ptr(stream).0;
        Ok(Buffer {
            slice,
            address,
            queue: Arc::clone(&self.queue),
        })
    }

    /// Copies from the host, after everything queued before; the source may be reused at once. The buffer counts as the device's: what is
    /// queued in one stream runs in order, so that a shared reference suffices.
    ///
    /// # Errors
    /// If `from` is longer than the buffer, or the copy fails.
    pub fn upload<T: Kind>(&self, what: &str, from: &[T], to: &Buffer<T>) -> Result<(), CudaError> {
        self.upload_at(what, from, to, 0)
    }

    /// As [`Stream::upload`], to the places of the buffer from `at` on.
    ///
    /// # Errors
    /// If `from` does not fit, or the copy fails.
    #[allow(unsafe_code, reason = "the driver copies through addresses")]
    pub fn upload_at<T: Kind>(&self, what: &str, from: &[T], to: &Buffer<T>, at: usize) -> Result<(), CudaError> {
        let what = || format!("copying {what} to the device");
        let room = to.slice.len().saturating_sub(at);
        if from.len() > room {
            return Err(CudaError::Call {
                what: what(),
                message: format!("{} values do not fit into {room}", from.len()),
            });
        }
        let address = to.address + (at * size_of::<T>()) as u64;
        self.device
            .context
            .bind_to_thread()
            .map_err(|error| failed(what(), &error))?;
        let stream = self.stream()?.cu_stream();
        // SAFETY: the buffer has room for `from`, which lives until `finish` has waited for the copy.
        unsafe { cudarc::driver::result::memcpy_htod_async(address, from, stream) }
            .map_err(|error| failed(what(), &error))?;
        self.finish()
    }

    /// Copies to the host, after everything queued before.
    ///
    /// # Errors
    /// If the copy or anything before it failed.
    pub fn download<T: Kind>(&self, what: &str, from: &Buffer<T>, to: &mut [T]) -> Result<(), CudaError> {
        self.download_at(what, from, 0, to)
    }

    /// As [`Stream::download`], from the places of the buffer from `at` on, of which there must be as many as `to` holds.
    ///
    /// # Errors
    /// If the copy or anything before it failed.
    pub fn download_at<T: Kind>(&self, what: &str, from: &Buffer<T>, at: usize, to: &mut [T]) -> Result<(), CudaError> {
        self.stream()?
            .memcpy_dtoh(&from.slice.slice(at..at + to.len()), to)
            .map_err(|error| failed(format!("copying {what} from the device"), &error))?;
        self.finish()
    }

    /// An array on the host for [`Stream::send`].
    ///
    /// # Errors
    /// If the host cannot allocate page-locked memory.
    #[allow(unsafe_code, reason = "the memory comes as it was left")]
    pub fn pinned<T: Kind>(&self, what: &str, count: usize) -> Result<PinnedBuffer<T>, CudaError> {
        // SAFETY: every pattern of bits is a number (`Kind`), and only what a copy has filled is read.
        unsafe { self.device.context.alloc_pinned_with_flags::<T>(count, 0) }
            .map(|memory| PinnedBuffer {
                memory,
                filled: None,
                count: 0,
            })
            .map_err(|error| failed(format!("host memory for {what}"), &error))
    }

    /// Begins to copy `count` numbers to the host, after everything queued before; [`Stream::landed`] waits for them.
    ///
    /// # Errors
    /// If memory is short, or the copy cannot start.
    #[allow(unsafe_code, reason = "the driver copies through addresses")]
    pub fn send<T: Kind>(
        &self,
        what: &str,
        from: &Buffer<T>,
        count: usize,
        to: &mut PinnedBuffer<T>,
    ) -> Result<(), CudaError> {
        let what = || format!("copying {what} from the device");
        let room = to.room().min(from.slice.len());
        if count > room {
            return Err(CudaError::Call {
                what: what(),
                message: format!("{count} values do not fit into {room}"),
            });
        }
        let stream = self.stream()?.cu_stream();
        let mut begin = || -> Result<(), cudarc::driver::DriverError> {
            self.device.context.bind_to_thread()?;
            let memory = &mut to.memory.as_mut_slice()?[..count];
            // SAFETY: the buffer is as long as `memory`, which `PinnedBuffer` keeps in place, and unread, until the copy is done.
            unsafe { cudarc::driver::result::memcpy_dtoh_async(memory, from.address, stream) }
        };
        begin().map_err(|error| failed(what(), &error))?;
        to.count = count;
        to.filled = Some(self.mark()?);
        Ok(())
    }

    /// The numbers of the latest [`Stream::send`]; waits for them.
    ///
    /// # Errors
    /// If the copy or anything before it failed.
    pub fn landed<'a, T: Kind>(&self, landing: &'a PinnedBuffer<T>) -> Result<&'a [T], CudaError> {
        if let Some(mark) = &landing.filled {
            self.reach(mark)?;
        }
        let all = landing.memory.as_slice().map_err(|error| self.late(&error))?;
        Ok(&all[..landing.count])
    }

    /// A mark behind everything queued so far.
    ///
    /// # Errors
    /// If the driver refuses, or something queued before has failed.
    pub fn mark(&self) -> Result<Event, CudaError> {
        self.stream()?
            .record_event(None)
            .map(Event)
            .map_err(|error| failed("marking a place among the kernels", &error))
    }

    /// What is queued from now on waits, on the device, for a mark of another stream.
    ///
    /// # Errors
    /// If the driver refuses, or something queued before has failed.
    pub fn wait_for(&self, mark: &Event) -> Result<(), CudaError> {
        self.stream()?
            .wait(&mark.0)
            .map_err(|error| failed("ordering kernels of two streams", &error))
    }

    /// Waits here until the stream has passed a mark of its own.
    ///
    /// # Errors
    /// If anything before it failed.
    pub fn reach(&self, mark: &Event) -> Result<(), CudaError> {
        mark.0.synchronize().map_err(|error| self.late(&error))
    }

    fn late(&self, error: &cudarc::driver::DriverError) -> CudaError {
        CudaError::Call {
            what: format!(
                "kernel {} or one before it",
                self.last.lock().unwrap_or_else(PoisonError::into_inner)
            ),
            message: format!(
                "{}; what the device held is lost: go on from a snapshot or checkpoint, or reset (with backend = \"auto\" the \
                 processor takes over)",
                words(error)
            ),
        }
    }

    /// A kernel of a module, with `shared` bytes of dynamic shared memory a block.
    ///
    /// # Errors
    /// If the driver cannot compile the module or the device has not that much shared memory.
    pub fn kernel(&self, source: Source, entry: &'static str, shared: u32) -> Result<Kernel, CudaError> {
        let module = self.device.module(source)?;
        let function = module
            .load_function(entry)
            .map_err(|error| failed(format!("kernel {entry} of {}", source.name), &error))?;
        if shared > 48 * 1024 {
            // Another run may need more shared memory for the same kernel, and still launches it.
            let mut asked = self.device.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let most = asked
                .get(&(source.name, entry))
                .map_or(shared, |most| shared.max(*most));
            function
                .set_attribute(
                    sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                    i32::try_from(most).unwrap_or(i32::MAX),
                )
                .map_err(|error| {
                    failed(
                        format!(
                            "kernel {entry} of {} wants {shared} bytes of shared memory",
                            source.name
                        ),
                        &error,
                    )
                })?;
            asked.insert((source.name, entry), most);
            // Clusters of sixteen blocks are not portable and have to be allowed; an older driver does not know this attribute.
            let _ = function.set_attribute(
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                1,
            );
        }
        // An older driver knows neither this attribute nor such kernels.
        let width = function.get_attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        Ok(Kernel {
            clustered: width.is_ok_and(|width| width > 1),
            function,
            name: if matches!(entry, "fused_steps" | "summing_steps" | "space_steps") {
                source.name
            } else {
                entry
            },
            shared,
        })
    }

    /// Blocks of a kernel that one multiprocessor holds.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn occupancy(&self, kernel: &Kernel, threads: u32) -> Result<u32, CudaError> {
        kernel
            .function
            .occupancy_max_active_blocks_per_multiprocessor(threads, kernel.shared as usize, None)
            .map_err(|error| failed(format!("kernel {}", kernel.name), &error))
    }

    fn count_launch(&self, kernel: &Kernel) -> Result<(), CudaError> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = kernel.name;
        if fault::strikes() {
            return Err(failed(format!("kernel {}", kernel.name), &fault::LOST));
        }
        Ok(())
    }

    /// Queues a kernel. It is submitted together with others, at the latest when something else is queued or waited for.
    ///
    /// # Safety
    /// The arguments must be those of the kernel, their addresses must belong to living buffers of this stream that are as large
    /// as the kernel takes them to be.
    ///
    /// # Errors
    /// With the kernel's name, if it or one before it cannot start.
    #[allow(unsafe_code, reason = "a launch hands addresses to the device")]
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        grid: (u32, u32, u32),
        threads: u32,
        arguments: impl FnOnce(&mut Arguments),
    ) -> Result<(), CudaError> {
        debug_assert!((1..=1024).contains(&threads), "{}: {threads} threads", kernel.name);
        debug_assert!(grid.0 <= i32::MAX.cast_unsigned(), "{}: {grid:?}", kernel.name);
        debug_assert!(grid.1 <= 65535 && grid.2 <= 65535, "{}: {grid:?}", kernel.name);
        self.count_launch(kernel)?;
        let grid = (grid.0.max(1), grid.1.max(1), grid.2.max(1));
        let function = (kernel.function.cu_function(), kernel.name);
        if kernel.clustered {
            // Kernels with clusters are submitted alone: in a chain a kernel would inherit the cluster size of the one that it replaces.
            self.queue.flush()?;
        }
        // SAFETY: the caller's.
        unsafe { self.queue.push(function, grid, (threads, kernel.shared), arguments) }?;
        if kernel.clustered { self.queue.flush() } else { Ok(()) }
    }

    /// As [`Stream::launch`], of a kernel that may start while the one queued before still runs, since it waits for that one itself where it first
    /// needs what that one writes ([`super::EARLY`]). `arguments` point to the kernel's parameters, in their order.
    ///
    /// # Safety
    /// As [`Stream::launch`]; and what the kernel reads before it waits must be done by then.
    ///
    /// # Errors
    /// As [`Stream::launch`].
    #[allow(unsafe_code, reason = "a launch hands addresses to the device")]
    pub unsafe fn launch_early(
        &self,
        kernel: &Kernel,
        blocks: u32,
        threads: u32,
        arguments: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        debug_assert!((1..=1024).contains(&threads), "{}: {threads} threads", kernel.name);
        debug_assert!(blocks <= i32::MAX.cast_unsigned(), "{}: {blocks} blocks", kernel.name);
        debug_assert!(arguments.iter().all(|argument| !argument.is_null()), "{}", kernel.name);
        self.count_launch(kernel)?;
        let stream = self.stream()?.cu_stream();
        let mut overlaps = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue {
                programmaticStreamSerializationAllowed: 1,
            },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: blocks.max(1),
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: kernel.shared,
            hStream: stream,
            attrs: &raw mut overlaps,
            numAttrs: u32::from(self.device.overlaps_launches()),
        };
        let mut launch = || {
            self.device.context.bind_to_thread()?;
            // SAFETY: the caller's; all pointers live through the call, which copies what they point to.
            unsafe {
                sys::cuLaunchKernelEx(
                    &raw const config,
                    kernel.function.cu_function(),
                    arguments.as_mut_ptr(),
                    std::ptr::null_mut(),
                )
            }
            .result()
        };
        launch().map_err(|error| failed(format!("kernel {}", kernel.name), &error))
    }

    /// Waits until everything queued is done.
    ///
    /// # Errors
    /// If any of it failed.
    pub fn finish(&self) -> Result<(), CudaError> {
        if fault::lasts() {
            return Err(self.late(&fault::LOST));
        }
        self.stream()?.synchronize().map_err(|error| self.late(&error))
    }
}
