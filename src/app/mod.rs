//! The window: one file per panel. [`window::App`] holds the document (a scene file with undo), the worker's handle and the
//! view's state; data flows from the latest frame to the panels, wishes flow back as [`command::Action`]s, edits of the
//! draft and engine commands. Nothing here steps a solver or touches a file on the window's thread.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "points, pixels and site numbers are far below 2^24, and what is shown is rounded anyway"
)]

mod actions;
pub mod arrange;
pub mod array_panel;
pub mod background;
pub mod camera;
pub mod canvas;
pub mod cards;
pub mod carpet;
pub mod checks_panel;
pub mod command;
pub mod compare;
pub mod demo;
pub mod detectors_panel;
pub mod document;
pub mod dropped;
pub mod field_view;
pub mod film;
pub mod film_panel;
pub mod frame_history;
pub mod gain_plot;
pub mod gallery;
pub mod gestures;
pub mod graph_view;
pub mod handles;
pub mod head_start;
pub mod help;
pub mod history;
pub mod layers_panel;
pub mod lesson_panel;
pub mod levels_panel;
pub mod markdown;
pub mod medium_view;
pub mod menu;
pub mod meter;
pub mod method_panel;
pub mod mirror_panel;
pub mod mirror_plots;
pub mod mirror_strip;
pub mod mirror_tool;
pub mod notice;
pub mod opacity_curve;
mod outputs;
pub mod overlay;
pub mod packets_panel;
pub mod palette;
mod panels;
pub mod pictures;
mod plot_lines;
pub mod plots;
pub mod prompt;
pub mod question;
pub mod recovery;
pub mod refine;
pub mod relief_view;
mod rest;
pub mod scene_library;
pub mod scene_panel;
pub mod settings;
pub mod sound;
pub mod sound_panel;
pub mod space_panel;
pub mod space_view;
pub mod status;
pub mod strip_chart;
pub mod sweep_panel;
mod task_results;
pub mod theme;
pub mod thumbnails;
pub mod time_panel;
pub mod toolbar;
pub mod tools;
pub mod tour;
pub mod transport;
pub mod units;
pub mod view_panel;
pub mod view_state;
pub mod watcher;
pub mod widgets;
pub mod window;

pub use head_start::HeadStart;
pub use window::App;

use eframe::egui_wgpu::{WgpuSetupCreateNew, wgpu};
use std::sync::Arc;
use std::time::Instant;

/// The preset that the first start shows, playing.
pub const FIRST_PRESET: &str = "double-slit";

/// What the window opens with.
#[derive(Clone, Debug, Default)]
pub struct AppOptions {
    /// A preset's name or a scene file; `None` = the scene of the last time, or [`FIRST_PRESET`].
    pub scene: Option<String>,
    /// Overrides, `key.path=value`.
    pub set: Vec<String>,
    /// The scene, where it was read already.
    pub opened: Option<background::Opened>,
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// If there is no display, no graphics adapter or no thread.
pub fn run(options: AppOptions) -> anyhow::Result<()> {
    let started = Instant::now();
    let head_start = HeadStart::new(&options, started)?;
    let mut native = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_app_id(head_start::APP_ID)
            .with_title("Ripplon")
            .with_inner_size([1440.0, 900.0])
            .with_min_inner_size([640.0, 400.0])
            .with_icon(icon()),
        ..Default::default()
    };
    let mut setup = WgpuSetupCreateNew::without_display_handle();
    // A GL adapter has fewer limits than the default asks for; what the adapter has is enough for this window.
    setup.device_descriptor = Arc::new(|adapter| wgpu::DeviceDescriptor {
        label: Some("ripplon"),
        required_limits: adapter.limits(),
        ..Default::default()
    });
    setup.native_adapter_selector = Some(Arc::new(adapter));
    native.wgpu_options.wgpu_setup = setup.into();
    eframe::run_native(
        head_start::APP_ID,
        native,
        Box::new(move |cc| Ok(Box::new(App::with_head_start(cc, options, head_start)?))),
    )
    .map_err(|error| anyhow::anyhow!("{error}"))
}

/// The adapter that draws the window: a graphics processor where there is one, the fastest first. Where the processor itself draws, OpenGL comes
/// before Vulkan: Mesa's software Vulkan keeps memory of every frame that is presented, some hundred KiB each.
fn adapter(adapters: &[wgpu::Adapter], surface: Option<&wgpu::Surface<'_>>) -> Result<wgpu::Adapter, String> {
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

/// The icon in the window's title bar.
fn icon() -> egui::IconData {
    const PNG: &[u8] = include_bytes!("../../assets/icon.png");
    // The file is part of the program; a test reads it. Without it the system's default is shown.
    image::load_from_memory(PNG).map_or_else(
        |_| egui::IconData::default(),
        |image| {
            let image = image.to_rgba8();
            egui::IconData {
                width: image.width(),
                height: image.height(),
                rgba: image.into_raw(),
            }
        },
    )
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

    #[test]
    fn the_icon_is_a_square_picture() {
        let icon = super::icon();
        assert_eq!((icon.width, icon.height), (256, 256));
    }
}
