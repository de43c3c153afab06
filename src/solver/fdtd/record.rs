//! The record of a step, some of whose values are known one step later.

use super::recorder::Recorder;
use crate::field::Real;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::taps::RowNumbers;

/// What a record has of a detector.
pub(super) enum Seen {
    Value(f64),
    Rows(RowNumbers),
}

/// A record that may wait for what is taken one step later.
pub(super) struct Record {
    clock: RunClock,
    values: Vec<Option<Seen>>,
    /// Detectors that are recorded at this step and have no value yet.
    waiting: Vec<bool>,
}

impl Record {
    /// The record of a level, with its clock.
    pub(super) fn new<T: Real>(recorder: &Recorder<T>, level: usize, clock: RunClock, taps: &Taps) -> Self {
        let due = |n: usize| taps.is_due(n, &clock);
        let all = 0..recorder.taps().len();
        Self {
            values: all
                .clone()
                .map(|n| (due(n) && !recorder.taps()[n].moves()).then(|| recorder.seen(level, n, taps.keeps_rows())))
                .collect(),
            waiting: all.map(|n| due(n) && recorder.taps()[n].moves()).collect(),
            clock,
        }
    }

    /// Whether a value is missing.
    pub(super) fn waits(&self) -> bool {
        self.waiting.contains(&true)
    }

    /// Whether that of a detector is.
    pub(super) fn waits_for(&self, n: usize) -> bool {
        self.waiting[n]
    }

    /// Appends it to the records, with what was missing from `level`.
    pub(super) fn close<T: Real>(mut self, recorder: &Recorder<T>, level: usize, taps: &mut Taps) {
        for (n, value) in self.values.iter_mut().enumerate() {
            if self.waiting[n] {
                *value = Some(recorder.seen(level, n, taps.keeps_rows()));
            }
        }
        if taps.keeps_rows() {
            taps.push_rows(&self.clock, |n, _| match self.values[n].take() {
                Some(Seen::Rows(rows)) => rows,
                _ => Vec::new(),
            });
            return;
        }
        let value = |seen: &Option<Seen>| {
            if let Some(Seen::Value(value)) = seen {
                *value
            } else {
                f64::NAN
            }
        };
        let values: Vec<f64> = self.values.iter().map(value).collect();
        taps.push(&self.clock, &values);
    }
}
