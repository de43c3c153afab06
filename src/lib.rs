//! Ripplon: a desktop laboratory for waves.
//!
//! Layers, from the bottom: [`units`], [`grid`], [`field`], files; [`physics`]; [`scene`] and [`backend`]; [`solver`]; [`space`]; [`engine`]; [`export`] and
//! `render`; `remote`; `app` and [`cli`]. Arrows point down only; `tests/architecture.rs` enforces it.

// Every block of unsafe code says why it is sound.
#![deny(clippy::undocumented_unsafe_blocks)]
// What is printed goes through `cli::terminal`, which does not panic where nobody reads.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "gui")]
pub mod app;
#[cfg_attr(target_family = "wasm", path = "atomic_file_in_memory.rs")]
pub(crate) mod atomic_file;
pub mod backend;
mod base64;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
pub mod colormap;
pub mod engine;
pub mod export;
pub mod field;
mod file_error;
pub mod grid;
pub(crate) mod input_file;
#[cfg(target_family = "wasm")]
pub(crate) mod memory_files;
pub mod physics;
pub(crate) mod platform;
#[cfg(not(target_family = "wasm"))]
pub mod remote;
#[cfg(feature = "gui")]
pub mod render;
mod rounding;
pub mod scene;
pub mod solver;
pub mod space;
pub mod units;
mod words;
