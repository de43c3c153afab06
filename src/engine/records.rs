//! The records of detectors between two pictures, reduced to a size that can be drawn and sent.
//!
//! Several records are represented by their least and greatest: choosing one of several would alias a fast wave.

use crate::solver::Taps;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a batch.
const ROWS: usize = 64;
/// Batches that a frame contains: a window that misses some frames does not miss any record.
pub const BATCHES: usize = 8;

/// Values of some quantities at rising steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// The step up to which they go.
    pub step: u64,
    /// Times of the rows.
    pub times: Vec<f64>,
    /// `[quantity][row]`; NaN if a quantity has no record.
    pub columns: Vec<Vec<f64>>,
}

impl Records {
    /// No rows of `quantities` quantities.
    #[must_use]
    pub fn of(quantities: usize) -> Self {
        Self {
            columns: vec![Vec::new(); quantities],
            ..Self::default()
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Whether every column is as long as the times: data from another machine may be damaged.
    pub fn is_whole(&self) -> bool {
        self.columns.iter().all(|column| column.len() == self.times.len())
    }

    /// Appends a part of other rows of as many quantities.
    pub fn extend(&mut self, other: &Self, rows: Range<usize>) {
        self.times.extend_from_slice(&other.times[rows.clone()]);
        for (own, column) in self.columns.iter_mut().zip(&other.columns) {
            own.extend_from_slice(&column[rows.clone()]);
        }
    }

    /// Appends two rows for a part of some records: at its first and last time the least and the greatest value of each quantity, in the order in which they came. One or two rows are left
    /// as they are.
    pub fn push_extremes<C: AsRef<[f64]>>(&mut self, times: &[f64], columns: &[C], part: Range<usize>) {
        if part.len() <= 2 {
            self.times.extend_from_slice(&times[part.clone()]);
            for (own, column) in self.columns.iter_mut().zip(columns) {
                own.extend_from_slice(&column.as_ref()[part.clone()]);
            }
            return;
        }
        self.times.extend([times[part.start], times[part.end - 1]]);
        for (own, column) in self.columns.iter_mut().zip(columns) {
            let column = column.as_ref();
            match extremes(column, part.clone()) {
                Some(places) => own.extend(places.map(|place| column[place])),
                None => own.extend([f64::NAN; 2]),
            }
        }
    }
}

/// Where the least and the greatest finite of some values are, the earlier first.
pub fn extremes(values: &[f64], part: Range<usize>) -> Option<[usize; 2]> {
    let finite = || part.clone().filter(|n| values[*n].is_finite());
    let least = finite().min_by(|a, b| values[*a].total_cmp(&values[*b]))?;
    let greatest = finite().max_by(|a, b| values[*a].total_cmp(&values[*b]))?;
    Some([least.min(greatest), least.max(greatest)])
}

/// The latest batches of a run.
#[derive(Debug, Default)]
pub(super) struct RecordBatches {
    run: u64,
    /// Time of the last record that was taken.
    last: Option<f64>,
    batches: Vec<Arc<Records>>,
}

impl RecordBatches {
    /// Takes the records since the last call; `step` is the run's present step.
    pub(super) fn take(&mut self, taps: &Taps, (run, step): (u64, u64)) -> &[Arc<Records>] {
        let is_back = self.batches.last().is_some_and(|batch| step < batch.step);
        if run != self.run || is_back {
            *self = Self { run, ..Self::default() };
        }
        let (times, count) = (taps.times(), taps.taps().len());
        // The last record is never forgotten where records are thinned out.
        let seen = self.last.and_then(|last| times.iter().rposition(|time| *time == last));
        let new = seen.map_or(0, |place| place + 1)..times.len();
        if new.is_empty() || count == 0 {
            return &self.batches;
        }
        self.last = times.last().copied();
        let columns: Vec<&[f64]> = (0..count).map(|place| taps.values(place)).collect();
        let mut batch = Records {
            step,
            ..Records::of(count)
        };
        if new.len() <= ROWS {
            batch.times.extend_from_slice(&times[new.clone()]);
            for (own, column) in batch.columns.iter_mut().zip(&columns) {
                let present = |value: &f64| if Taps::is_absent(*value) { f64::NAN } else { *value };
                own.extend(column[new.clone()].iter().map(present));
            }
        } else {
            let parts = ROWS / 2;
            for part in 0..parts {
                let place = |part: usize| new.start + new.len() * part / parts;
                batch.push_extremes(times, &columns, place(part)..place(part + 1));
            }
        }
        if self.batches.len() == BATCHES {
            self.batches.remove(0);
        }
        self.batches.push(Arc::new(batch));
        &self.batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::solver::read_scene_text;

    const SCENE: &str = "format = 1\ntitle = \"t\"\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\n[[packet]]\ncenter = [30.0]\nwidth = [6.0]\n\
        [[detector]]\nname = \"a\"\nmeasure = \"probability\"\nregion = { min = [25.0], max = [35.0] }\n[[detector]]\nname = \"b\"\nmeasure = \"probability\"\nregion = { min = [10.0], max = [20.0] }\nevery = 4\n";

    fn engine() -> Engine {
        let (_, scenario) = read_scene_text(SCENE, None, &[]).unwrap();
        Engine::new(Arc::new(scenario)).unwrap()
    }

    #[test]
    fn batches_have_all_records_or_their_extremes() {
        let mut engine = engine();
        let mut batches = RecordBatches::default();
        engine.advance(9).unwrap();
        let first = batches.take(engine.taps(), (1, 9)).to_vec();
        assert_eq!((first.len(), first[0].step), (1, 9));
        assert_eq!(first[0].times, engine.taps().times());
        assert_eq!(first[0].columns[0], engine.taps().values(0));
        let (times, values) = engine.taps().series(1);
        let kept: Vec<(f64, f64)> = (first[0].times.iter().copied().zip(first[0].columns[1].iter().copied()))
            .filter(|(_, value)| value.is_finite())
            .collect();
        assert_eq!(
            kept,
            times.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>()
        );
        // Nothing new, no batch.
        assert_eq!(batches.take(engine.taps(), (1, 9)).len(), 1);
        let before = engine.taps().times().len();
        engine.advance(1000).unwrap();
        let second = batches.take(engine.taps(), (1, 1009)).to_vec();
        assert_eq!((second.len(), second[1].len()), (2, ROWS));
        let values = &engine.taps().values(0)[before..];
        let bounds = |values: &[f64]| {
            let finite = values.iter().copied().filter(|value| value.is_finite());
            finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], value| {
                [a.min(value), b.max(value)]
            })
        };
        assert_eq!(bounds(&second[1].columns[0]), bounds(values));
        // Thinned out, the last record stays.
        engine.limit_records(10);
        assert_eq!(batches.take(engine.taps(), (1, 1009)).len(), 2);
        // Another run, or an earlier step of this one, starts again.
        assert_eq!(batches.take(engine.taps(), (2, 1009)).len(), 1);
        assert_eq!(batches.take(engine.taps(), (2, 3)).len(), 1);
    }

    #[test]
    fn no_more_batches_are_kept_than_a_frame_holds() {
        let mut engine = engine();
        let mut batches = RecordBatches::default();
        for step in 1..20 {
            engine.advance(1).unwrap();
            let kept = batches.take(engine.taps(), (1, step));
            assert!(kept.len() <= BATCHES && kept.last().unwrap().step == step);
        }
    }

    #[test]
    fn extremes_come_in_their_order() {
        let values = [3.0, f64::NAN, 1.0, 2.0, 9.0, 4.0];
        assert_eq!(extremes(&values, 0..6), Some([2, 4]));
        assert_eq!(extremes(&values, 0..3), Some([0, 2]));
        assert_eq!(extremes(&values, 1..2), None);
        let mut rows = Records::of(1);
        rows.push_extremes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[values], 0..3);
        rows.push_extremes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[values], 3..3);
        assert_eq!((rows.times, rows.columns), (vec![0.0, 2.0], vec![vec![3.0, 1.0]]));
    }
}
