//! Files that somebody mutated, files that ask for more than there is, and names that stand for no file: an error that says so, little memory, no panic.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod memory;
mod mutated;
mod sizes;

use ripplon::scene::Faults;
use ripplon::solver;
use std::path::Path;

/// What reading a scene file says; `Ok` where nothing is wrong.
fn check(path: &Path) -> Result<(), Faults> {
    solver::read_scene(&path.to_string_lossy(), &[]).map(|_| ())
}

/// A scene of 8 × 8 sites; `rest` follows it.
fn sound(rest: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [8, 8]\nspacing = 1.0\n[acoustic]\nspeed = 343.0\n[time]\nend = 0.01\n\
         [[pulse]]\ncenter = [3.0, 3.0]\nwidth = 1.0\n{rest}\n"
    )
}
