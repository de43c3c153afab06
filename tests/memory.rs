//! The window's memory: one test alone in its process, whose memory is that of all its threads.
#![cfg(feature = "gui")]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use ripplon::app::offscreen::Offscreen;

/// Frames that are drawn while a scene runs leave nothing behind: what a frame has, textures, buffers, pictures of the run, is let go.
/// 64 MiB in 1000 frames of 640 × 400 pixels are 67 kB a frame, a sixteenth of one picture. Mesa's software Vulkan (22.3), which keeps
/// a copy of a shader a frame (`render/adapter.rs`), grows by 890 MiB; the window draws with OpenGL there, and so does this.
#[test]
fn a_thousand_frames_leave_nothing_in_memory() {
    if Offscreen::memory().is_none() {
        return;
    }
    let mut window = match Offscreen::open("tube", [640, 400]) {
        Ok(window) => window,
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    if window.adapter().ends_with("(Cpu, Vulkan)") {
        println!(
            "skipped: {} keeps shaders, and there is no software OpenGL",
            window.adapter()
        );
        return;
    }
    while window.app().frame().image.value.is_empty() {
        window.draw().unwrap();
    }
    window.play_or_pause();
    let mut frames = |count: usize| {
        for _ in 0..count {
            window.draw().unwrap();
            if window.app().frame().rests {
                window.again();
            }
        }
        Offscreen::memory().unwrap()
    };
    let before = frames(200);
    let after = frames(1000);
    let grown = after.saturating_sub(before) >> 20;
    assert!(grown < 64, "{grown} MiB in a thousand frames");
}
