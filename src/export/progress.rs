//! How far an export is, and a way to stop it: shared between the thread that works and the one that watches.

use super::ExportError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts the parts done of a total; clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Nothing of `total` parts is done.
    #[must_use]
    pub fn new(total: u64) -> Self {
        let progress = Self::default();
        progress.shared.total.store(total, Ordering::Relaxed);
        progress
    }

    /// Counts one more part.
    ///
    /// # Errors
    /// [`ExportError::Cancelled`] if it was requested.
    pub fn advance(&self) -> Result<(), ExportError> {
        self.shared.done.fetch_add(1, Ordering::Relaxed);
        self.check()
    }

    /// # Errors
    /// [`ExportError::Cancelled`] if it was requested.
    pub fn check(&self) -> Result<(), ExportError> {
        if self.is_cancelled() {
            Err(ExportError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Asks the working thread to stop; what was begun is removed.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether someone asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Parts done.
    pub fn done(&self) -> u64 {
        self.shared.done.load(Ordering::Relaxed)
    }

    /// Parts in all.
    pub fn total(&self) -> u64 {
        self.shared.total.load(Ordering::Relaxed)
    }
}
