//! What detectors that average need beside their records: where a mean began, and what was measured last.

use crate::field::FieldData;

/// The name of this in a checkpoint.
const AVERAGED: &str = "taps.averaged";

/// Of one detector.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Averaged {
    /// The time of its first record.
    pub(super) since: f64,
    /// What it measured for its last record; `None` where that is not known.
    pub(super) last: Option<f64>,
}

/// Adds the state of all detectors to a checkpoint, if there is any.
pub(super) fn store(all: &[Averaged], arrays: &mut Vec<(String, FieldData)>) {
    if !all.is_empty() {
        let numbers = all.iter().flat_map(|own| [own.since, own.last.unwrap_or(f64::NAN)]);
        arrays.push((AVERAGED.to_owned(), FieldData::Float64(numbers.collect())));
    }
}

/// Takes that state from a checkpoint; what does not fit is ignored.
pub(super) fn take(all: &mut [Averaged], arrays: &mut Vec<(String, FieldData)>) {
    let Some(place) = arrays.iter().position(|(name, _)| name == AVERAGED) else {
        return;
    };
    if let FieldData::Float64(numbers) = arrays.remove(place).1 {
        for (own, numbers) in all.iter_mut().zip(numbers.chunks_exact(2)) {
            *own = Averaged {
                since: numbers[0],
                last: (!numbers[1].is_nan()).then_some(numbers[1]),
            };
        }
    }
}
