//! Which graphics adapter draws the window.

use eframe::egui_wgpu::wgpu;
use std::sync::Arc;

/// A graphics processor where there is one, the fastest kind first. Where the processor itself draws, OpenGL comes before Vulkan: Mesa's
/// software Vulkan (22.3 was read) copies a shader into its pipeline and compiles it anew whenever uniforms that it branches on are bound,
/// as those of egui are in every frame, and frees the copies with the pipeline; that is 1 to 2 MB a frame.
///
/// # Errors
/// Where none can draw there, in words for people.
pub fn choose(adapters: &[wgpu::Adapter], surface: Option<&wgpu::Surface<'_>>) -> Result<wgpu::Adapter, String> {
    let fitting = adapters
        .iter()
        .filter(|adapter| surface.is_none_or(|surface| adapter.is_surface_supported(surface)));
    // The first of those that are equally good: systems list them in their own order.
    let best = fitting.min_by_key(|adapter| {
        let info = adapter.get_info();
        rank(info.device_type, info.backend)
    });
    let none = "no graphics adapter can draw into a window; install a driver for Vulkan or OpenGL, e.g. Mesa's";
    best.cloned().ok_or_else(|| none.to_owned())
}

/// What is asked of the adapter: all that it has. One of OpenGL has fewer limits than the default asks for, which are enough for this
/// window.
pub fn descriptor() -> Arc<dyn Fn(&wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> + Send + Sync> {
    Arc::new(|adapter| wgpu::DeviceDescriptor {
        label: Some("ripplon"),
        required_limits: adapter.limits(),
        ..Default::default()
    })
}

/// How late an adapter is taken.
fn rank(kind: wgpu::DeviceType, backend: wgpu::Backend) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu if backend == wgpu::Backend::Gl => 4,
        wgpu::DeviceType::Cpu => 5,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn software_vulkan_is_the_last_choice() {
        use eframe::egui_wgpu::wgpu::{Backend, DeviceType};
        let all = [
            (DeviceType::DiscreteGpu, Backend::Vulkan),
            (DeviceType::IntegratedGpu, Backend::Vulkan),
            (DeviceType::VirtualGpu, Backend::Vulkan),
            (DeviceType::Other, Backend::Gl),
            (DeviceType::Cpu, Backend::Gl),
            (DeviceType::Cpu, Backend::Vulkan),
        ];
        assert!(all.is_sorted_by_key(|(kind, backend)| super::rank(*kind, *backend)));
    }
}
