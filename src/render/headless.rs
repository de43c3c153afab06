//! A graphics device without a window, for measuring what it manages.

use eframe::egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration, WgpuSetup, WgpuSetupCreateNew};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The device that the window would draw with.
///
/// # Errors
/// Why there is none, in words for people.
pub fn device() -> Result<RenderState, String> {
    let setup = WgpuSetup::CreateNew(WgpuSetupCreateNew::without_display_handle());
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

/// The value of a future of this library on a native system, where it is ready at once or soon.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}
