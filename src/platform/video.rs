//! The encoder of H.264 that a browser has (WebCodecs). It works beside the page, so that what it made comes back later. The program has none of the kind.

#[cfg_attr(target_family = "wasm", path = "video/page.rs")]
#[cfg_attr(not(target_family = "wasm"), path = "video/none.rs")]
mod system;

#[cfg(target_family = "wasm")]
pub use system::ask;
pub use system::{Encoder, is_there};

/// A film.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "nobody makes a film of it"))]
pub struct Order {
    /// Pixels, even.
    pub size: [usize; 2],
    /// Pictures a second.
    pub fps: f64,
    /// The colours, by WebCodecs' name of their matrix.
    pub matrix: &'static str,
}
