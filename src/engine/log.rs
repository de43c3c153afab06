//! The observables of a run at every n-th step.

use crate::physics::{Observables, Refocus, StateMeasures};

/// One row of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The step.
    pub step: u64,
    /// Its time.
    pub time: f64,
    /// What was measured.
    pub observables: Observables,
    /// Measures of the focus of a mirror, where there is one.
    pub refocus: Option<Refocus>,
    /// Observables of ψ that need its phases, if they were requested.
    pub state: Option<StateMeasures>,
}

/// Rows at the multiples of `every` steps, from the first step of the run on.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservableLog {
    /// Steps from row to row, at least 1.
    pub every: u64,
    /// Whether the rows have the measures of ψ.
    pub with_state: bool,
    /// The rows so far.
    pub rows: Vec<Row>,
}

impl ObservableLog {
    /// An empty log.
    #[must_use]
    pub fn new(every: u64) -> Self {
        Self {
            every: every.max(1),
            with_state: false,
            rows: Vec::new(),
        }
    }

    /// Steps from `step` to the next row.
    pub fn until_next(&self, step: u64) -> u64 {
        self.every - step % self.every
    }

    /// Whether a row belongs at `step` and is not there yet.
    pub fn is_due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every) && self.rows.last().is_none_or(|row| row.step < step)
    }
}
