//! What differs between a window of the system and a page in a browser: how it starts, files and dialogues, sounds, titles. Everything else of the window knows only
//! this module and [`crate::platform`].

#[cfg(not(target_family = "wasm"))]
mod fonts;
#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod web;

#[cfg(not(target_family = "wasm"))]
pub use fonts::fonts_with;
#[cfg(not(target_family = "wasm"))]
pub use native::*;
#[cfg(target_family = "wasm")]
pub use web::*;
