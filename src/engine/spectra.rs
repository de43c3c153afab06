//! The detectors' spectra during a run, computed rarely enough not to slow it.

use super::Engine;
use super::pacing::TimeBudget;
use crate::physics::Spectrum;
use crate::platform::Instant;
use std::sync::Arc;
use std::time::Duration;

/// Number of records of a live spectrum: a few milliseconds of work.
const MOST: usize = 1 << 16;

/// One spectrum a detector.
pub(super) struct Spectra {
    list: Arc<[Option<Spectrum>]>,
    /// The number of records they were computed from.
    records: usize,
    ration: TimeBudget,
}

impl Default for Spectra {
    fn default() -> Self {
        Self {
            list: Arc::default(),
            records: 0,
            // Twice a second, and at most a fiftieth of the time.
            ration: TimeBudget::new(2.0, 0.02),
        }
    }
}

impl Spectra {
    /// Those taken last.
    pub(super) fn latest(&self) -> Arc<[Option<Spectrum>]> {
        Arc::clone(&self.list)
    }

    /// Computes them again if there are other records and, unless `at_once`, if it is time; `now` counts from any fixed moment.
    pub(super) fn take(&mut self, engine: &Engine, now: Duration, at_once: bool) {
        let taps = engine.taps();
        let records = taps.times().len();
        if records == self.records || !(at_once || self.ration.allows(now)) {
            return;
        }
        let begin = Instant::now();
        self.list = (0..taps.taps().len())
            .map(|place| {
                let (times, values) = taps.series(place);
                Spectrum::of(&times, &values, MOST)
            })
            .collect();
        self.records = records;
        self.ration.spent(now, begin.elapsed());
    }
}
