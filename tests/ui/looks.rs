//! What the window looks like: every preset is a picture, and the window is compared with its snapshots.

use super::window::Window;
use egui::Key;
use egui_kittest::SnapshotOptions;
use egui_kittest::kittest::Queryable;
use egui_kittest::wgpu::{create_render_state, default_wgpu_setup};
use ripplon::engine::Status;
use ripplon::scene::presets;
use std::collections::HashSet;

/// Colours in the middle of the field's picture or graph.
fn colors(window: &mut Window) -> usize {
    let rect = window
        .harness
        .query_by_label("Picture of the field")
        .or_else(|| window.harness.query_by_label("Field in space"))
        .unwrap_or_else(|| window.harness.get_by_label("Graph of the field"))
        .rect();
    let image = window.harness.render().unwrap();
    let inner = rect.shrink2(rect.size() / 5.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels")]
    let pixels = |from: f32, to: f32| from.round() as u32..to.round() as u32;
    let mut seen = HashSet::new();
    for y in pixels(inner.top(), inner.bottom()) {
        for x in pixels(inner.left(), inner.right()) {
            seen.insert(*image.get_pixel(x, y));
        }
    }
    seen.len()
}

#[test]
fn every_preset_loads_and_shows_a_picture() {
    let mut window = Window::open();
    for preset in presets::all() {
        window.app().open(preset.name);
        let before = window.app().frame().run;
        window.wait(preset.name, |app| {
            assert!(
                app.notices().list().iter().all(|notice| !notice.fault),
                "{:?}",
                app.notices().list()
            );
            let loaded = app.document().preset() == Some(preset.name);
            // The run of before may still show pictures.
            let frame = app.frame();
            loaded && frame.run > before && frame.status != Status::Starting && !frame.image.value.is_empty()
        });
        assert!(
            !matches!(window.app().frame().status, Status::Failed(_)),
            "{}",
            preset.name
        );
        // One step, so that fields that start as a single site or at rest have spread.
        window.key(Key::Period);
        window.wait(&format!("a step of {}", preset.name), |app| {
            app.frame().clock.steps >= 1
        });
        window.settle();
        let mut colors = colors(&mut window);
        // A source at the rim of the picture has to be heard in its middle first.
        for steps in [150, 1500] {
            if colors > 40 {
                break;
            }
            window.key(Key::Space);
            window.wait(&format!("the wave in the middle of {}", preset.name), |app| {
                assert!(
                    !matches!(app.frame().status, Status::Failed(_)),
                    "{}: {:?}",
                    preset.name,
                    app.frame().status
                );
                // A lesson rests where it is over.
                let clock = &app.frame().clock;
                let end = app.frame().scenario.as_ref().and_then(|scenario| scenario.time().end);
                clock.steps > steps || end.is_some_and(|end| clock.time > end - clock.time_step)
            });
            if window.app().frame().status == Status::Running {
                window.key(Key::Space);
            }
            window.settle();
            colors = self::colors(&mut window);
        }
        // Ground, axes or frame, and labels alone are about a dozen shades; a packet or a curve has hundreds.
        assert!(colors > 40, "{}: {colors} colours", preset.name);
    }
}

/// A curve that turns within pixels ends where it turns: its flanks do not go on beyond that.
#[test]
fn a_peak_of_one_site_has_no_spikes() {
    let mut window = Window::open();
    window.show_scene(
        "format = 1\n[grid]\nsize = [200]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [100.0]\nwidth = [0.3]\n\
         [view]\nquantity = \"density\"\nrange = [0.0, 2.0]\n",
    );
    let area = window.harness.get_by_label("Graph of the field").rect();
    let image = window.harness.render().unwrap();
    // The plot within its axes, as the window has it; the axis ends 8 % above the range.
    let (top, bottom) = (area.top() + 64.0, area.bottom() - 56.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels")]
    let brightest = |values: [f32; 2]| {
        let row = |value: f32| (bottom - value / 2.16 * (bottom - top)).round() as u32;
        let (middle, reach) = (area.center().x as u32, area.width() as u32 / 4);
        let rows = row(values[1])..row(values[0]);
        rows.flat_map(|y| (middle - reach..middle + reach).map(move |x| (x, y)))
            .map(|(x, y)| image.get_pixel(x, y).0[..3].iter().copied().max().unwrap_or(0))
            .max()
    };
    // |ψ|² of the site is 0.992. Above it there are marks of the axes alone, a seventh as bright as the line.
    assert!(brightest([0.3, 0.6]) > Some(180), "{:?}", brightest([0.3, 0.6]));
    assert!(brightest([1.05, 1.4]) < Some(64), "{:?}", brightest([1.05, 1.4]));
}

/// Whether pictures of this machine can be compared: Mesa's software Vulkan computes the same everywhere but for
/// rounding; other drivers place lines and blend in their own ways.
pub fn comparable() -> bool {
    let state = create_render_state(default_wgpu_setup(), egui_wgpu_options());
    let info = state.adapter.get_info();
    let software = info.driver.contains("llvmpipe") || info.name.contains("llvmpipe");
    if !software {
        println!(
            "skipped: pictures are compared on Mesa's software Vulkan, and this is {} ({})",
            info.name, info.driver
        );
    }
    software
}

fn egui_wgpu_options() -> eframe::egui_wgpu::RendererOptions {
    eframe::egui_wgpu::RendererOptions::PREDICTABLE
}

/// What a picture may differ in. Glyphs and shapes are laid out by egui on the processor, the same on every machine; what
/// Mesa's versions and vector widths change is the rounding of blending and of `pow` in the shaders, one or two levels of
/// 255. The colour distance of two levels in every channel is 35215 · (2/255)² ≈ 2.2 on the comparison's scale, that of a
/// moved line or letter hundreds. Contour lines one pixel wide flip single pixels where their slope is rounded: at most
/// the pixels of one such line.
pub fn tolerance() -> SnapshotOptions {
    SnapshotOptions::new().threshold(2.5).max_failed_pixels(60)
}

/// Hides what differs from machine to machine: rates, memory and times in the status line, and the number of threads.
pub fn mask(window: &mut Window) {
    let bar = egui::Rect::from_min_max(egui::pos2(0.0, 768.0), egui::pos2(1280.0, 800.0));
    window.harness.mask(bar);
    // The panel with it may be folded.
    let threads = window
        .harness
        .query_by_label_contains("Running: ")
        .map(|node| node.rect());
    if let Some(threads) = threads {
        window.harness.mask(threads.expand(2.0));
    }
}

#[test]
fn the_window_looks_as_it_did() {
    if !comparable() {
        return;
    }
    let mut window = Window::open();
    mask(&mut window);
    window.harness.snapshot_options("window-at-rest", &tolerance());
    for step in 1..=20 {
        window.key(Key::Period);
        window.wait("a step", |app| app.frame().clock.steps == step);
    }
    window.settle();
    mask(&mut window);
    window.harness.snapshot_options("window-after-20-steps", &tolerance());
    window.click("Dark or light");
    mask(&mut window);
    window.harness.snapshot_options("window-in-light", &tolerance());
}
