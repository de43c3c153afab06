//! What differs from system to system below the window: the clock, and work that goes on beside it. A page in a browser has no threads: there such work
//! is done between two of its frames, in pieces that end soon.

#[cfg(feature = "gui")]
mod aside;
#[cfg(all(feature = "mp4", not(feature = "h264")))]
pub mod video;

#[cfg(feature = "gui")]
pub use aside::{aside, aside_in_pieces, guarded, next, queue};
#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;
#[cfg(target_family = "wasm")]
pub use web_time::Instant;

/// Whether there are threads beside the window's.
pub const THREADS: bool = cfg!(not(target_family = "wasm"));
