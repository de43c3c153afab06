//! NVIDIA devices through the driver alone.
//!
//! The driver's library is looked for when a device is first asked for; a program built with this module starts without it. Kernels
//! are PTX in the binary (`archive`), compiled by the driver for the device at hand (it keeps the result in its own cache); `kernels/build` makes the archive
//! from the CUDA C++ in `kernels`, as `kernels/manifest.toml` lists it (`manifest`).

mod archive;
mod ceilings;
mod differences;
mod early;
mod fault;
mod locked;
pub(crate) mod manifest;
mod nccl;
mod nvrtc;
mod pieces;
mod queue;
mod source;
mod stream;

pub use ceilings::DeviceCeilings;
pub use early::{Early, Sent};
#[doc(hidden)]
pub use fault::lose_device_after;
pub use locked::LockedBytes;
pub use nccl::{Devices as DevicesOfProcess, Nccl, describe as describe_nccl};
pub use nvrtc::{Needs, Program, compiled, compiler};
pub use pieces::{Piece, Pieces};
pub use queue::Arguments;
pub use source::Source;
pub(crate) use source::parameters;
pub use stream::{Buffer, DeviceRepr, Event, Kernel, Kind, PinnedBuffer, Stream, ValidAsZeroBits};

use cudarc::driver::{CudaContext, CudaModule, sys};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The PTX is of version 8.3.
const OLDEST_DRIVER: i32 = 12_030;
/// Asynchronous copies into shared memory.
const LEAST_CAPABILITY: (i32, i32) = (8, 0);

/// What went wrong on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CudaError {
    /// A call or kernel failed.
    #[error("{what}: {message}")]
    Call {
        /// The kernel, or what was being done.
        what: String,
        /// What the driver said.
        message: String,
    },
    /// A kernel that is not in the binary and cannot be compiled here.
    #[error("{0}")]
    NotCompiled(String),
    /// The device's memory ran out.
    #[error(
        "{what} needs {needed} bytes of the device, and {available} are free; use a smaller grid, single precision or backend = \"cpu\""
    )]
    OutOfMemory {
        /// What was to be allocated.
        what: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
}

/// An NVIDIA device.
pub struct Device {
    /// Its number, from 0.
    pub number: usize,
    context: Arc<CudaContext>,
    modules: Mutex<HashMap<&'static str, Arc<CudaModule>>>,
    /// The most shared memory that was ever asked for a kernel, by module and entry: kernels are those of every run.
    shared: Mutex<HashMap<(&'static str, &'static str), u32>>,
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Version of CUDA that the driver supports, 1000·major + 10·minor.
    pub driver: i32,
}

/// Maximum number of devices of one machine.
pub const MOST_DEVICES: usize = 16;
static DEVICES: [OnceLock<Result<Device, String>>; MOST_DEVICES] = [const { OnceLock::new() }; MOST_DEVICES];

/// The first device, which solvers use where a scene names none.
///
/// # Errors
/// Why there is none, as a text for the user.
pub fn device() -> Result<&'static Device, &'static str> {
    device_at(0)
}

/// The device with this number.
///
/// # Errors
/// Why there is none, as a text for the user.
pub fn device_at(number: usize) -> Result<&'static Device, &'static str> {
    let place = DEVICES.get(number).ok_or("no machine has that many NVIDIA devices")?;
    place.get_or_init(|| find(number)).as_ref().map_err(String::as_str)
}

/// Number of usable devices of this machine.
pub fn count() -> usize {
    if device().is_err() {
        return 0;
    }
    let all = CudaContext::device_count().unwrap_or(0);
    usize::try_from(all).unwrap_or(0).min(MOST_DEVICES)
}

#[allow(unsafe_code, reason = "the driver's library is C")]
fn find(number: usize) -> Result<Device, String> {
    // SAFETY: opens libcuda by name and closes it; its initialisers are the driver's own.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVIDIA driver is installed".into());
    }
    let mut driver = 0;
    // SAFETY: writes one integer through a pointer that lives through the call; needs no initialisation.
    let code = unsafe { sys::cuDriverGetVersion(&raw mut driver) };
    if code != sys::CUresult::CUDA_SUCCESS {
        return Err(format!("the NVIDIA driver does not answer: {code:?}"));
    }
    if driver < OLDEST_DRIVER {
        return Err(format!(
            "the NVIDIA driver is for CUDA {}, and 12.3 is the oldest that serves; update the driver",
            version(driver)
        ));
    }
    let context = CudaContext::new(number).map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => "there is a driver but no NVIDIA device".to_owned(),
        sys::CUresult::CUDA_ERROR_INVALID_DEVICE => format!("this machine has no NVIDIA device {number}"),
        _ => format!("the NVIDIA device does not start: {}", words(&error)),
    })?;
    // SAFETY: every stream here has one stream; where two work on the same buffers, marks order them.
    unsafe { context.disable_event_tracking() };
    let ask = || -> Result<Device, cudarc::driver::DriverError> {
        let capability = context.compute_capability()?;
        let count = context.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Ok(Device {
            number,
            name: context.name()?,
            memory: context.total_mem()? as u64,
            multiprocessors: u32::try_from(count).unwrap_or(1),
            capability,
            driver,
            modules: Mutex::default(),
            shared: Mutex::default(),
            context: Arc::clone(&context),
        })
    };
    let device = ask().map_err(|error| format!("the NVIDIA device does not answer: {}", words(&error)))?;
    if device.capability < LEAST_CAPABILITY {
        return Err(format!(
            "{} has compute capability {}.{}, and 8.0 (Ampere, 2020) is the least that serves",
            device.name, device.capability.0, device.capability.1
        ));
    }
    Ok(device)
}

impl Device {
    /// Whether both are the same.
    pub fn is(&self, other: &Self) -> bool {
        self.number == other.number
    }

    /// One line for the user.
    pub fn describe(&self) -> String {
        format!(
            "{}, {} multiprocessors, {}, driver for CUDA {}",
            self.name,
            self.multiprocessors,
            crate::units::bytes(self.memory),
            version(self.driver)
        )
    }

    /// Bytes that a run may allocate: the free memory, and at most `RIPPLON_CUDA_MEMORY`.
    pub fn free_memory(&self) -> u64 {
        let free = self.context.mem_get_info().map_or(0, |(free, _)| free as u64);
        let limit = std::env::var("RIPPLON_CUDA_MEMORY")
            .ok()
            .and_then(|text| text.trim().parse().ok());
        free.min(limit.unwrap_or(u64::MAX))
    }

    /// Bytes of shared memory that a block may have.
    pub fn most_shared(&self) -> u32 {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let most = self.context.attribute(attribute).unwrap_or(48 * 1024);
        u32::try_from(most).unwrap_or(0)
    }

    /// Lets this device and another one copy directly between their memories, where the machine can do that and `RIPPLON_PEER_ACCESS` is not `none`. Calling it again is no error.
    #[allow(unsafe_code, reason = "the driver's library is C")]
    pub fn reach(&self, other: &Self) {
        // For machines whose devices say that they reach each other and do not.
        if std::env::var_os("RIPPLON_PEER_ACCESS").is_some_and(|word| word == "none") {
            return;
        }
        for (own, peer) in [(self, other), (other, self)] {
            if own.number == peer.number || own.context.bind_to_thread().is_err() {
                continue;
            }
            // SAFETY: both contexts live as long as the program, and the driver's pool of the peer as well. Where the devices cannot reach each other, or do so already,
            // nothing changes: copies then go through the host.
            unsafe {
                let _ = sys::cuCtxEnablePeerAccess(peer.context.cu_ctx(), 0);
                let mut pool = std::ptr::null_mut();
                if sys::cuDeviceGetDefaultMemPool(&raw mut pool, peer.context.cu_device())
                    == sys::CUresult::CUDA_SUCCESS
                {
                    let access = sys::CUmemAccessDesc {
                        location: sys::CUmemLocation {
                            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                            id: own.context.cu_device(),
                        },
                        flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                    };
                    let _ = sys::cuMemPoolSetAccess(pool, &raw const access, 1);
                }
            }
        }
    }

    /// Lets this thread call the driver for this device.
    fn bind(&self, what: &str) -> Result<(), CudaError> {
        let bound = self.context.bind_to_thread();
        bound.map_err(|error| failed(what, &error))
    }

    /// Whether a kernel may start while the one before still runs.
    pub(crate) fn overlaps_launches(&self) -> bool {
        self.capability >= (9, 0)
    }

    fn module(&self, source: Source) -> Result<Arc<CudaModule>, CudaError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(source.name) {
            return Ok(Arc::clone(module));
        }
        let text = source.ptx()?;
        let ptx = if self.overlaps_launches() && text.contains(EARLY) {
            cudarc::nvrtc::Ptx::from_src(overlapping(text))
        } else {
            cudarc::nvrtc::Ptx::from_src(text)
        };
        let module = self
            .context
            .load_module(ptx)
            .map_err(|error| failed(format!("loading the kernels of {}", source.name), &error))?;
        modules.insert(source.name, Arc::clone(&module));
        Ok(module)
    }
}

/// Prefix of the instructions for overlapping kernels (compute capability 9.0). They are comments in the PTX, so that older devices take the same text.
const EARLY: &str = "// griddepcontrol";

/// PTX with these instructions.
fn overlapping(ptx: &str) -> String {
    ptx.replace(".target sm_80", ".target sm_90")
        .replace(EARLY, &EARLY[3..])
}

fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

fn failed(what: impl Into<String>, error: &cudarc::driver::DriverError) -> CudaError {
    CudaError::Call {
        what: what.into(),
        message: words(error),
    }
}

/// The driver's message for an error.
fn words(error: &cudarc::driver::DriverError) -> String {
    let name = format!("{:?}", error.0);
    match error.error_string() {
        Ok(text) => format!("{} ({name})", text.to_string_lossy()),
        Err(_) => name,
    }
}
