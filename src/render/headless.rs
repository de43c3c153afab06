//! A graphics device without a window, for measuring what it manages.

use super::adapter;
use crate::backend::wgpu::ready;
use eframe::egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration, WgpuSetup, WgpuSetupCreateNew};
use std::sync::Arc;

/// The device that the window would draw with.
///
/// # Errors
/// Why there is none, in words for people.
pub fn device() -> Result<RenderState, String> {
    let mut setup = WgpuSetupCreateNew::without_display_handle();
    setup.device_descriptor = adapter::descriptor();
    setup.native_adapter_selector = Some(Arc::new(adapter::choose));
    let setup = WgpuSetup::CreateNew(setup);
    let config = WgpuConfiguration {
        wgpu_setup: setup.clone(),
        ..WgpuConfiguration::default()
    };
    let instance = ready(setup.new_instance());
    ready(RenderState::create(
        &config,
        &instance,
        None,
        RendererOptions::default(),
    ))
    .map_err(|error| format!("no graphics device: {error}; `ripplon info` says what there is"))
}
