//! Graphics adapters that compute, by Vulkan, Metal or DirectX 12, and by WebGPU in a browser's page: which there are, the one that is used, its buffers and kernels.
//!
//! Single precision only: WGSL has no numbers of 64 bits. Software adapters (Mesa's lavapipe, SwiftShader, WARP) do everything that the others do, slower than
//! this program's own steps on the processor; one is used only where it is named.

mod fault;
mod kernel;
mod stream;
#[cfg_attr(target_family = "wasm", path = "page.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "native.rs")]
mod system;
mod template;

pub use fault::WgpuError;
pub use kernel::{Bind, Binding, Kernel};
pub use stream::{Buffer, Stream};
#[cfg(not(target_family = "wasm"))]
pub use system::{
    SOFTWARE, VARIABLE, adapters, allow_software, available, device, limit_to_browsers, lose_device, name_adapter,
    ready,
};
#[cfg(target_family = "wasm")]
pub use system::{available, device, open, settle};
pub use template::expanded;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// An adapter, as `ripplon info` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Whether the processor does its work.
    pub software: bool,
    /// Kind, interface and driver, for the user.
    pub details: String,
}

/// An opened adapter.
#[derive(Debug)]
pub struct Device {
    raw: wgpu::Device,
    queue: wgpu::Queue,
    /// The adapter's name.
    pub name: String,
    /// Whether the processor does its work.
    pub software: bool,
    limits: wgpu::Limits,
    /// Lanes of its smallest subgroups, where kernels may use them.
    fewest_lanes: Option<u32>,
    /// Why it was lost.
    lost: Arc<OnceLock<String>>,
    /// The first error since the last query.
    failed: Arc<Mutex<Option<String>>>,
    /// Kernels that were compiled, by source, entry and constants.
    kernels: Mutex<HashMap<String, Kernel>>,
    /// The time of a wait without work.
    idle_wait: Duration,
}

impl Device {
    async fn open(adapter: &wgpu::Adapter, described: &Adapter, limits: wgpu::Limits) -> Result<Self, WgpuError> {
        let features = system::optional_features() & adapter.features();
        let asked = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("ripplon's steps"),
            required_features: features,
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        });
        let (raw, queue) = asked.await.map_err(|error| WgpuError::Call {
            what: format!("opening {}", described.name),
            message: error.to_string(),
        })?;
        let lost = Arc::new(OnceLock::new());
        let failed = Arc::new(Mutex::new(None));
        let (mark, first) = (Arc::clone(&lost), Arc::clone(&failed));
        raw.set_device_lost_callback(move |reason, message| {
            let _ = mark.set(format!("{reason:?} {message}").trim().to_owned());
            system::after_loss();
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
            fewest_lanes: (features.contains(wgpu::Features::SUBGROUP)).then(|| adapter.get_info().subgroup_min_size),
            lost,
            failed,
            kernels: Mutex::default(),
            idle_wait: Duration::ZERO,
        })
    }

    /// A buffer, its contents 0.
    fn allocate(&self, what: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, WgpuError> {
        self.check(what)?;
        let made = self.watched(&[wgpu::ErrorFilter::OutOfMemory], || {
            self.raw.create_buffer(&wgpu::BufferDescriptor {
                label: Some(what),
                size: bytes,
                usage,
                mapped_at_creation: false,
            })
        });
        let raw = made.map_err(|_| WgpuError::OutOfMemory {
            what: what.to_owned(),
            needed: bytes,
        })?;
        self.check(what).map(|()| raw)
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

    /// Lanes of its smallest subgroups, whose lanes exchange numbers; none where kernels may not.
    pub fn fewest_lanes(&self) -> Option<usize> {
        self.fewest_lanes.map(|lanes| lanes as usize)
    }

    /// Maximum number of blocks of a launch along one axis.
    pub fn most_blocks(&self) -> u32 {
        self.limits.max_compute_workgroups_per_dimension
    }

    fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// The first error since the last query.
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
