//! A long task within a step, the impulse responses of a mirror, as whoever watches the worker sees it and breaks it off.

use crate::platform::Instant;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What is done within the present step, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// What.
    pub what: &'static str,
    /// From 0 to 1.
    pub done: f64,
    /// What is left at the rate so far; `None` at the beginning.
    pub seconds_left: Option<f64>,
}

/// What the worker's thread and its owner share beside commands and frames.
#[derive(Debug, Default)]
pub struct Watched {
    /// Commands that were sent and those that were heard, settings of frames left out.
    sent: AtomicU64,
    heard: AtomicU64,
    task: Mutex<Option<(Task, Instant)>>,
}

impl Watched {
    /// A command is under way that a long task must not hold up.
    pub(super) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// It was heard.
    pub(super) fn heard(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// How far a task is; `Break` where it shall end.
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
        if self.sent.load(Ordering::Relaxed) > self.heard.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// How far the task of a run on another machine is.
    pub fn show(&self, task: Option<Task>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = task.map(|task| (task, Instant::now()));
    }

    /// The step is over.
    pub(super) fn clear(&self) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The present task.
    pub(super) fn task(&self) -> Option<Task> {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        task.map(|(task, _)| task)
    }
}
