//! Printed output. A reader that stops early (`| head -1`), a terminal that was closed or a full disk under a log does
//! not end a run: what cannot be printed is left out. Control characters of scenes (titles, names) do not reach the
//! terminal.

use crate::atomic_file::faults;
use crate::backend::ranks;
use crate::scene::without_controls;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// A progress bar on a terminal, nothing elsewhere.
pub(super) fn bar(total: u64, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// Why standard output did not take a line, unless the reader has gone.
static MISSED: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Prints a line to standard output. `false` if a pipe was closed and nobody reads any more.
pub(super) fn out(line: fmt::Arguments<'_>) -> bool {
    if !ranks::is_first() {
        return true;
    }
    let line = line.to_string();
    let text = without_controls(&line);
    let done = faults::call().and_then(|()| writeln!(std::io::stdout().lock(), "{text}"));
    let Err(error) = done else { return true };
    if error.kind() == ErrorKind::BrokenPipe {
        return false;
    }
    let mut missed = MISSED.lock().unwrap_or_else(PoisonError::into_inner);
    missed.get_or_insert(error);
    true
}

/// Whether all that was printed reached standard output, or its reader stopped early.
///
/// # Errors
/// If a line is missing.
pub(super) fn all_printed() -> anyhow::Result<()> {
    match MISSED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => anyhow::bail!("the output is incomplete: {error}; write it elsewhere"),
        None => Ok(()),
    }
}

/// Prints a line to standard error unchanged: its colours come from the program.
pub(super) fn error(line: fmt::Arguments<'_>) {
    if !ranks::is_first() {
        return;
    }
    // Nobody is left to be told.
    let _ = faults::call().and_then(|()| writeln!(std::io::stderr().lock(), "{line}"));
}

/// Prints a line to standard error, from any of several processes.
pub(super) fn last_words(line: fmt::Arguments<'_>) {
    // Nobody is left to be told.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints a line like `println!`, and never panics; `false` if nobody reads any more.
macro_rules! say {
    ($($part:tt)*) => { $crate::cli::terminal::out(format_args!($($part)*)) };
}

/// Prints a line like `eprintln!`, without control characters, and never panics.
macro_rules! tell {
    ($($part:tt)*) => {
        $crate::cli::terminal::error(format_args!("{}", $crate::scene::without_controls(&format!($($part)*))))
    };
}

pub(super) use {say, tell};

/// Prints all errors but the last, and returns that one: every output is tried, even if others failed.
pub(super) fn all_told(mut failed: Vec<anyhow::Error>) -> anyhow::Result<()> {
    let Some(last) = failed.pop() else { return Ok(()) };
    for failure in failed {
        tell!("error: {failure:#}");
    }
    Err(last)
}

/// Lets a write beyond the file size limit of the shell (`ulimit -f`) fail like any other, instead of ending the program without a message.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[allow(unsafe_code, reason = "a system call that the standard library does not offer")]
pub(super) fn ignore_file_size_signal() {
    use std::ffi::c_int;
    /// `SIGXFSZ` on these systems, except Linux on MIPS, which is not in Rust's tiers 1 and 2.
    const FILE_SIZE: c_int = 25;
    /// `SIG_IGN`.
    const IGNORE: usize = 1;
    /// `SIG_ERR`, for an unknown signal.
    const REFUSED: usize = usize::MAX;
    unsafe extern "C" {
        fn signal(signal: c_int, handler: usize) -> usize;
    }
    // SAFETY: `signal` is called with a signal that can be ignored and with the value that says so; no handler runs.
    let before = unsafe { signal(FILE_SIZE, IGNORE) };
    debug_assert_ne!(before, REFUSED, "signal {FILE_SIZE} cannot be ignored");
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn ignore_file_size_signal() {}
