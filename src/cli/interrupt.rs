//! Ctrl-C: the first one asks the run to stop, the second one ends the program.

use crate::engine::ends;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static LISTENING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

/// When the first one came.
static FIRST: OnceLock<Instant> = OnceLock::new();

/// A terminal that closes sends its signal through the system and through the shell: a second signal this soon does not count.
const ONE_EVENT: Duration = Duration::from_millis(500);

/// Whether the user (or a batch system) asked to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt;

impl Interrupt {
    /// From here on Ctrl-C, SIGTERM and SIGHUP are noted instead of ending the program; a second one ends it at once.
    ///
    /// # Errors
    /// If the system refuses the handler.
    pub fn listen() -> anyhow::Result<Self> {
        if LISTENING.swap(true, Ordering::Relaxed) {
            return Ok(Self);
        }
        ctrlc::set_handler(|| {
            let first = *FIRST.get_or_init(Instant::now);
            if ASKED.swap(true, Ordering::Relaxed) && first.elapsed() > ONE_EVENT {
                // As a shell reports a program that Ctrl-C ended.
                std::process::exit(130);
            }
        })?;
        Ok(Self)
    }

    /// Whether the run was asked to stop.
    #[must_use]
    pub fn asked(self) -> bool {
        ASKED.load(Ordering::Relaxed)
    }

    /// What a long task is told each time it asks.
    pub fn flow(self) -> ControlFlow<()> {
        ends(self.asked())
    }
}
