//! On a native system: which adapters there are, the one that is used, and what waits for it.

use super::{Adapter, Buffer, Device, WgpuError};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The variable that names the adapter.
pub const VARIABLE: &str = "RIPPLON_ADAPTER";
/// The word for any software adapter.
pub const SOFTWARE: &str = "software";

/// Whether devices are opened with the limits of browsers.
static SMALL: AtomicBool = AtomicBool::new(false);
/// The argument of [`name_adapter`].
static NAMED: Mutex<Option<String>> = Mutex::new(None);
/// The device that runs share, until it is lost.
static OPEN: Mutex<Option<Arc<Device>>> = Mutex::new(None);

/// After this time without an answer the driver counts as hung.
const PATIENCE: Duration = Duration::from_mins(1);
/// Whether one submission of several can be waited for.
pub(super) const WAITS_FOR_ONE: bool = true;

/// Every adapter, the fastest kind first; the index is the number.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(described).collect()
}

/// Uses the adapter with this number or this part of a name, or any software adapter for the word [`SOFTWARE`]; it goes before the variable [`VARIABLE`].
pub fn name_adapter(word: &str) {
    *NAMED.lock().unwrap_or_else(PoisonError::into_inner) = Some(word.to_owned());
    *OPEN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Allows a software adapter where there is no other and none is named; for commands that name this back end.
pub fn allow_software() {
    let all = adapters();
    if word().is_none() && !all.is_empty() && all.iter().all(|adapter| adapter.software) {
        name_adapter(SOFTWARE);
    }
}

/// Whether there is an adapter to compute on.
///
/// # Errors
/// Why there is none, as a text for the user.
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
        what: "graphics adapter".to_owned(),
        message,
    };
    let all = found();
    let described: Vec<Adapter> = all.iter().map(described).collect();
    let place = picked(&described, word().as_deref()).map_err(|reason| failed(reason.to_owned()))?;
    let limits = if SMALL.load(Ordering::Relaxed) {
        wgpu::Limits::default()
    } else {
        all[place].limits()
    };
    let device = ready(Device::open(&all[place], &described[place], limits))?;
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

/// The index of the adapter that `word` names; without a word that of the first which is not software.
fn picked(all: &[Adapter], word: Option<&str>) -> Result<usize, &'static str> {
    if all.is_empty() {
        return Err("no graphics adapter with Vulkan, Metal or DirectX 12 is here");
    }
    let Some(word) = word else {
        return all.iter().position(|adapter| !adapter.software).ok_or(
            "only a software adapter is present, and the processor is faster; to use it all the same, name it with --adapter software",
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

/// Features that an adapter may lack.
pub(super) fn optional_features() -> wgpu::Features {
    if SMALL.load(Ordering::Relaxed) {
        wgpu::Features::empty()
    } else {
        wgpu::Features::SUBGROUP
    }
}

/// The device is opened anew when it is asked for.
pub(super) fn after_loss() {}

impl Device {
    /// Runs a closure; an error of the driver is returned.
    pub(super) fn watched<T>(&self, filters: &[wgpu::ErrorFilter], work: impl FnOnce() -> T) -> Result<T, String> {
        let scopes: Vec<_> = filters
            .iter()
            .map(|filter| self.raw.push_error_scope(*filter))
            .collect();
        let made = work();
        let errors = scopes.into_iter().rev().filter_map(|scope| ready(scope.pop()));
        // All of them are closed.
        match errors.reduce(|first, _| first) {
            Some(error) => Err(error.to_string()),
            None => Ok(made),
        }
    }

    /// Waits for a submission, or for all of them.
    pub(super) fn wait(&self, what: &str, index: Option<wgpu::SubmissionIndex>) -> Result<(), WgpuError> {
        let waited = self.raw.poll(wgpu::PollType::Wait {
            submission_index: index,
            timeout: Some(PATIENCE),
        });
        if waited.is_err() {
            // A device that is lost says so when it is asked once more.
            let _ = self.raw.poll(wgpu::PollType::Poll);
        }
        self.check(what)?;
        waited.map(|_| ()).map_err(|error| WgpuError::Call {
            what: what.to_owned(),
            message: format!("the driver does not answer: {error}"),
        })
    }
}

/// Buffers for read-back.
#[derive(Default)]
pub(super) struct Landing(Option<wgpu::Buffer>);

impl Landing {
    /// Copies bytes of a buffer back, from byte `first` on, a multiple of 4, after everything that was submitted.
    pub(super) fn fetch(
        &mut self,
        device: &Device,
        what: &str,
        (from, first): (&Buffer, u64),
        to: &mut [u8],
    ) -> Result<(), WgpuError> {
        let size = to.len() as u64;
        let known = self.0.take().filter(|landing| landing.size() >= size);
        let landing = if let Some(landing) = known {
            landing
        } else {
            let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            device.allocate("what comes back", size.next_power_of_two().max(1 << 16), usage)?
        };
        let mut encoder = device
            .raw
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&from.raw, first, &landing, 0, size);
        let index = device.queue.submit([encoder.finish()]);
        let slice = landing.slice(..size);
        // Whether it could be mapped is asked below.
        slice.map_async(wgpu::MapMode::Read, |_| {});
        device.wait(what, Some(index))?;
        let view = slice.get_mapped_range().map_err(|error| WgpuError::Call {
            what: what.to_owned(),
            message: error.to_string(),
        })?;
        to.copy_from_slice(&view);
        drop(view);
        landing.unmap();
        self.0 = Some(landing);
        Ok(())
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
