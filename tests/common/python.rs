//! Python environments with packages from PyPI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The folder of an environment with these packages, made once and kept; none, with a printed reason, where they do not install.
pub fn environment(name: &str, packages: &[&str]) -> Option<PathBuf> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    let complete = place.join("complete");
    if !complete.exists() {
        let made = done(Command::new("python3").args(["-m", "venv"]).arg(&place));
        let mut pip = Command::new(place.join("bin/python"));
        if !made || !done(pip.args(["-m", "pip", "install", "-q"]).args(packages)) {
            println!("skipped: {packages:?} do not install (no Python, no pip, or no network)");
            return None;
        }
        let marked = std::fs::write(&complete, "");
        assert!(marked.is_ok(), "the target folder is not writable: {marked:?}");
    }
    Some(place)
}
