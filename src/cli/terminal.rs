//! What is printed. A reader that has seen enough (`| head -1`), a terminal that was hung up or a full disk under a log ends no run: what cannot be printed is left
//! out. Control characters of scenes (titles, names) do not reach the terminal.

use crate::atomic_file::faults;
use crate::backend::ranks;
use crate::scene::without_controls;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// A bar on a terminal, nothing elsewhere.
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

/// Why standard output did not take a line, if it was not that nobody reads any more.
static MISSED: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Prints a line to standard output. `false` where a pipe was closed: nobody reads any more.
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

/// Whether all that was printed reached standard output, or the reader that has seen enough.
///
/// # Errors
/// If a line is missing.
pub(super) fn all_printed() -> anyhow::Result<()> {
    match MISSED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => anyhow::bail!("what was to be printed is not whole: {error}; give it another place"),
        None => Ok(()),
    }
}

/// Prints a line to standard error, as it is: colours were put in by the program.
pub(super) fn error(line: fmt::Arguments<'_>) {
    if !ranks::is_first() {
        return;
    }
    // Nobody is left to be told.
    let _ = faults::call().and_then(|()| writeln!(std::io::stderr().lock(), "{line}"));
}

/// Prints a line to standard error from whichever process of several it is.
pub(super) fn last_words(line: fmt::Arguments<'_>) {
    // Nobody is left to be told.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints a line like `println!`, and never panics; `false` where nobody reads any more.
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

/// Tells all but the last of what went wrong, and gives that one back: every output is tried, whatever became of the others.
pub(super) fn all_told(mut failed: Vec<anyhow::Error>) -> anyhow::Result<()> {
    let Some(last) = failed.pop() else { return Ok(()) };
    for failure in failed {
        tell!("error: {failure:#}");
    }
    Err(last)
}

/// Lets a write beyond the largest file that the shell allows (`ulimit -f`) fail as any other, instead of ending the program without a word.
#[cfg(any(target_os = "linux", target_os = "macos"))]
#[allow(unsafe_code, reason = "a system call that the standard library does not offer")]
pub(super) fn ignore_file_size_signal() {
    use std::ffi::c_int;
    /// `SIGXFSZ` on these systems, but for Linux on MIPS, which Rust's tier 1 and 2 lack.
    const FILE_SIZE: c_int = 25;
    /// `SIG_IGN`.
    const IGNORE: usize = 1;
    /// `SIG_ERR`, for what is no signal.
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
