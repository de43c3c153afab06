//! Graphics adapters that compute, by Vulkan, Metal or DirectX 12: which there are, the one that is used, its buffers and kernels.
//!
//! Single precision only: WGSL has no numbers of 64 bits. Software adapters (Mesa's lavapipe, SwiftShader, WARP) do everything that the others do, slower than
//! this program's own steps on the processor; one is used only where it is named.

mod fault;
mod kernel;
mod stream;
mod template;

pub use fault::WgpuError;
pub use kernel::{Bind, Binding, Kernel};
pub use stream::{Buffer, Stream};
pub use template::expanded;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

/// The variable that names the adapter.
pub const VARIABLE: &str = "RIPPLON_ADAPTER";
/// The word for any software adapter.
pub const SOFTWARE: &str = "software";

/// Whether devices are opened with the limits of browsers.
static SMALL: AtomicBool = AtomicBool::new(false);
/// What [`name_adapter`] said.
static NAMED: Mutex<Option<String>> = Mutex::new(None);
/// The device that runs share, until it is lost.
static OPEN: Mutex<Option<Arc<Device>>> = Mutex::new(None);

/// An adapter, as `ripplon info` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Whether the processor does its work.
    pub software: bool,
    /// Kind, interface and driver, for people.
    pub details: String,
}

/// Every adapter, the fastest kind first; their places are their numbers.
#[must_use]
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(described).collect()
}

/// Uses the adapter with this number or this part of a name, or any software adapter for the word [`SOFTWARE`]; it goes before the variable [`VARIABLE`].
pub fn name_adapter(word: &str) {
    *NAMED.lock().unwrap_or_else(PoisonError::into_inner) = Some(word.to_owned());
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Lets a software adapter be used where nothing else is here and nobody named one: for those who ask for this back end by its name.
pub fn allow_software() {
    let all = adapters();
    if word().is_none() && !all.is_empty() && all.iter().all(|adapter| adapter.software) {
        name_adapter(SOFTWARE);
    }
}

/// Whether there is an adapter to compute on.
///
/// # Errors
/// Why there is none, in words for people.
pub fn available() -> Result<(), &'static str> {
    picked(&adapters(), word().as_deref()).map(|_| ())
}

/// The device, opened anew after it was lost.
///
/// # Errors
/// As [`available`], and what the driver says.
pub fn device() -> Result<Arc<Device>, WgpuError> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = open.as_ref().filter(|device| !device.is_lost()) {
        return Ok(Arc::clone(device));
    }
    let failed = |message: String| WgpuError::Call {
        what: "opening an adapter".to_owned(),
        message,
    };
    let all = found();
    let described: Vec<Adapter> = all.iter().map(described).collect();
    let place = picked(&described, word().as_deref()).map_err(|reason| failed(reason.to_owned()))?;
    let device = Device::open(&all[place], &described[place])?;
    Ok(Arc::clone(open.insert(Arc::new(device))))
}

/// Loses the device that runs share, for tests: as if the driver had taken it away.
#[doc(hidden)]
pub fn lose_device() {
    if let Some(device) = OPEN.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        device.raw.destroy();
    }
}

/// Opens the device anew, with the limits that every browser grants, for tests.
#[doc(hidden)]
pub fn limit_to_browsers() {
    SMALL.store(true, Ordering::Relaxed);
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// The word that names the adapter, if one does.
fn word() -> Option<String> {
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    named
        .or_else(|| std::env::var(VARIABLE).ok())
        .filter(|word| !word.is_empty())
}

/// Adapters with the interfaces that compute, the fastest kind first; asked for once.
fn found() -> &'static [wgpu::Adapter] {
    static FOUND: OnceLock<Vec<wgpu::Adapter>> = OnceLock::new();
    FOUND.get_or_init(enumerated)
}

fn enumerated() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        // The libraries of OpenGL write messages of their own.
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let mut all = ready(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    all.retain(|adapter| adapter.limits().max_compute_workgroups_per_dimension > 0);
    all.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    all
}

fn described(adapter: &wgpu::Adapter) -> Adapter {
    let info = adapter.get_info();
    let software = info.device_type == wgpu::DeviceType::Cpu;
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "discrete",
        wgpu::DeviceType::IntegratedGpu => "integrated",
        wgpu::DeviceType::VirtualGpu => "virtual",
        wgpu::DeviceType::Other => "of unknown kind",
        wgpu::DeviceType::Cpu => SOFTWARE,
    };
    let driver = [info.driver.as_str(), info.driver_info.as_str()].join(" ");
    Adapter {
        name: info.name,
        software,
        details: format!("{kind}, {:?}, {}", info.backend, driver.trim()),
    }
}

/// The place of the adapter that `word` names; without a word the first that is no software.
fn picked(all: &[Adapter], word: Option<&str>) -> Result<usize, &'static str> {
    if all.is_empty() {
        return Err("no graphics adapter with Vulkan, Metal or DirectX 12 is here");
    }
    let Some(word) = word else {
        return all.iter().position(|adapter| !adapter.software).ok_or(
            "only software adapters are here, which are slower than this program's own steps on the processor; to use one all the same, name it: --adapter software",
        );
    };
    let named = match word.parse::<usize>() {
        Ok(number) => Some(number).filter(|number| *number < all.len()),
        Err(_) if word == SOFTWARE => all.iter().position(|adapter| adapter.software),
        Err(_) => {
            let part = word.to_lowercase();
            all.iter()
                .position(|adapter| adapter.name.to_lowercase().contains(&part))
        }
    };
    named.ok_or("no adapter has the number or name that --adapter or RIPPLON_ADAPTER says; `ripplon info` lists them")
}

/// An adapter at work.
#[derive(Debug)]
pub struct Device {
    raw: wgpu::Device,
    queue: wgpu::Queue,
    /// The adapter's name.
    pub name: String,
    /// Whether the processor does its work.
    pub software: bool,
    limits: wgpu::Limits,
    /// Why it was lost.
    lost: Arc<OnceLock<String>>,
    /// What failed first since somebody asked.
    failed: Arc<Mutex<Option<String>>>,
    /// Kernels that were compiled, by source, entry and constants.
    kernels: Mutex<HashMap<String, Kernel>>,
}

impl Device {
    fn open(adapter: &wgpu::Adapter, described: &Adapter) -> Result<Self, WgpuError> {
        let limits = if SMALL.load(Ordering::Relaxed) {
            wgpu::Limits::default()
        } else {
            adapter.limits()
        };
        let asked = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("ripplon's steps"),
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        });
        let (raw, queue) = ready(asked).map_err(|error| WgpuError::Call {
            what: format!("opening {}", described.name),
            message: error.to_string(),
        })?;
        let lost = Arc::new(OnceLock::new());
        let failed = Arc::new(Mutex::new(None));
        let (mark, first) = (Arc::clone(&lost), Arc::clone(&failed));
        raw.set_device_lost_callback(move |reason, message| {
            let _ = mark.set(format!("{reason:?} {message}").trim().to_owned());
        });
        raw.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| error.to_string());
        }));
        Ok(Self {
            raw,
            queue,
            name: described.name.clone(),
            software: described.software,
            limits,
            lost,
            failed,
            kernels: Mutex::default(),
        })
    }

    /// Bytes of the largest buffer that a kernel can reach.
    pub fn largest_buffer(&self) -> u64 {
        self.limits
            .max_buffer_size
            .min(self.limits.max_storage_buffer_binding_size)
    }

    /// Bytes that the threads of a block share.
    pub fn workgroup_memory(&self) -> u32 {
        self.limits.max_compute_workgroup_storage_size
    }

    /// Blocks of a launch along one axis.
    pub fn most_blocks(&self) -> u32 {
        self.limits.max_compute_workgroups_per_dimension
    }

    fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// What failed since somebody asked.
    fn check(&self, what: &str) -> Result<(), WgpuError> {
        if let Some(reason) = self.lost.get() {
            return Err(WgpuError::Lost(reason.clone()));
        }
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(message) => Err(WgpuError::Call {
                what: what.to_owned(),
                message,
            }),
            None => Ok(()),
        }
    }
}

/// The value of a future of wgpu on a native system, where it is ready at once or soon.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, software: bool) -> Adapter {
        Adapter {
            name: name.to_owned(),
            software,
            details: String::new(),
        }
    }

    #[test]
    fn software_is_taken_only_where_it_is_named() {
        let slow = [adapter("llvmpipe (LLVM 15)", true)];
        let both = [adapter("Radeon", false), slow[0].clone()];
        assert!(picked(&[], None).is_err());
        assert!(picked(&slow, None).is_err_and(|reason| reason.contains("--adapter software")));
        assert_eq!(picked(&slow, Some(SOFTWARE)), Ok(0));
        assert_eq!(picked(&both, None), Ok(0));
        assert_eq!(picked(&both, Some(SOFTWARE)), Ok(1));
        assert_eq!(picked(&both, Some("LLVM")), Ok(1));
        assert_eq!(picked(&both, Some("1")), Ok(1));
        for wrong in ["2", "-1", "GeForce"] {
            assert!(picked(&both, Some(wrong)).is_err_and(|reason| reason.contains("ripplon info")));
        }
    }
}
