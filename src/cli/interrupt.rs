//! Ctrl-C: the first one asks, the second one ends.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether the user (or a batch system) asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt;

impl Interrupt {
    /// From here on Ctrl-C, SIGTERM and SIGHUP are heard instead of ending the program; a second one ends it at once.
    ///
    /// # Errors
    /// If the system refuses the handler.
    pub fn listen() -> anyhow::Result<Self> {
        ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                // As a shell reports a program that Ctrl-C ended.
                std::process::exit(130);
            }
        })?;
        Ok(Self)
    }

    /// Whether it was asked.
    #[must_use]
    pub fn asked(self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }
}
