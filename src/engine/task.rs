//! A long task within a step (the impulse responses of a mirror): its progress for the window, and its cancellation.

use crate::platform::Instant;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a long task is told when it asks: to stop, or to continue.
pub fn ends(stop: bool) -> ControlFlow<()> {
    if stop {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// The task of the present step, and its progress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub what: &'static str,
    /// From 0 to 1.
    pub done: f64,
    /// Remaining time at the rate so far; `None` at the beginning.
    pub seconds_left: Option<f64>,
}

/// What the worker's thread and its owner share in addition to commands and frames.
#[derive(Debug, Default)]
pub struct Watched {
    /// Commands that were sent and those that were received, settings of frames left out.
    sent: AtomicU64,
    heard: AtomicU64,
    task: Mutex<Option<(Task, Instant)>>,
}

impl Watched {
    /// Notes a command that a long task must not delay.
    pub(super) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that it was received.
    pub(super) fn heard(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the progress; `Break` if the task is to stop.
    pub(super) fn note(&self, what: &'static str, done: f64) -> ControlFlow<()> {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = task.filter(|(own, _)| own.what == what && own.done <= done);
        let begun = begun.map_or_else(Instant::now, |(_, begun)| begun);
        let seconds_left = (done > 0.02).then(|| begun.elapsed().as_secs_f64() * (1.0 - done) / done);
        *task = Some((
            Task {
                what,
                done,
                seconds_left,
            },
            begun,
        ));
        ends(self.sent.load(Ordering::Relaxed) > self.heard.load(Ordering::Relaxed))
    }

    /// Sets the progress of the task of a run on another machine.
    pub fn show(&self, task: Option<Task>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = task.map(|task| (task, Instant::now()));
    }

    /// Notes that the step is over.
    pub(super) fn clear(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The present task.
    pub(super) fn task(&self) -> Option<Task> {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        task.map(|(task, _)| task)
    }
}
