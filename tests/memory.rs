//! The window keeps its memory: a thousand frames of a running scene, in a process of their own.
#![cfg(feature = "gui")]

use ripplon::app::offscreen::Offscreen;

/// Frames in which fonts, shaders, histories and pools grow to their size.
const FIRST: usize = 300;

/// Frames that are watched.
const WATCHED: usize = 1000;

/// Bytes that the process may grow by in them: 4 KiB a frame. A picture of 640 x 400 pixels has a megabyte, a frame's triangles some hundred KiB, so that
/// what keeps either of them of every frame, or of every hundredth, is found; Mesa's software Vulkan grew by some hundred KiB a frame before OpenGL was taken.
const MOST: u64 = 4096 * WATCHED as u64;

#[test]
fn a_thousand_frames_leave_nothing_behind() {
    let Some(_) = Offscreen::memory() else {
        eprintln!("this system does not tell the memory of a process");
        return;
    };
    let mut window = Offscreen::open("free-packet", [640, 400]).unwrap();
    while window.app().frame().image.value.is_empty() {
        window.draw().unwrap();
    }
    window.play_or_pause();
    let mut run = |frames: usize| {
        for _ in 0..frames {
            window.draw().unwrap();
            if window.app().frame().rests {
                window.again();
            }
        }
        Offscreen::memory().unwrap()
    };
    let before = run(FIRST);
    let after = run(WATCHED);
    let growth = after.saturating_sub(before);
    assert!(growth <= MOST, "{growth} bytes in {WATCHED} frames, {MOST} are allowed");
    assert!(window.app().frame().clock.steps > 0, "it ran");
}
