//! The window away from the machine: a run on one machine ([`server`]), its window on another ([`client`]), messages between them over one WebSocket.
//!
//! The border is the worker's: [`crate::engine::Command`]s go to the machine of the run, [`crate::engine::Frame`]s come from it ([`wire`], [`frame`]). Scenes travel as
//! text with the files that they name ([`scenes`]), pictures as fine as the link carries them ([`picture`], [`quality`]), files that were asked for in pieces between
//! the frames ([`files`]). Either end is one thread that waits for its socket and for what its own program has to say ([`socket`]).
//!
//! What a window asks for is numbered and kept until the other end has heard it, so that a link that is lost loses nothing; the run goes on without a window. A token
//! is asked for before anything else is read ([`hello`]). Nothing is encrypted: that is the business of `ssh -L`.

pub mod client;
pub mod files;
pub mod frame;
pub mod hello;
pub mod picture;
pub mod quality;
pub mod scenes;
pub mod server;
pub mod socket;
pub mod wire;

pub use client::{ConnectError, Remote, connect};
pub use hello::{PORT, Token};
pub use server::{ServeError, Server};
