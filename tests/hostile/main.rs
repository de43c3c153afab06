//! Files that somebody mutated, files that ask for more than there is, and names that stand for no file: an error that says so, little memory, no panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod decoders;
mod memory;
mod mutated;
mod sizes;

use decoders::{check, sound};
