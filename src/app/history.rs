//! What the plots show: sums and detectors as they come, thinned out as they grow.

use super::detector_history::{DetectorHistory, Kept, thinned};
use crate::engine::{Frame, Records};
use crate::physics::StateMeasures;
use crate::solver::Clock;

/// Some quantities over time, thinned out as they grow: of records that share a place the least and the greatest stay.
#[derive(Clone, Debug, Default, PartialEq)]
struct Series {
    kept: Kept,
    last_step: Option<u64>,
}

impl Series {
    /// Takes over the values at a step; a jump back in steps (a reset, a restored snapshot) drops what came before.
    fn record(&mut self, step: u64, time: f64, values: &[f64]) {
        if self.last_step == Some(step) {
            return;
        }
        if self.last_step.is_some_and(|last| step < last) || self.kept.quantities() != values.len() {
            self.kept = Kept::of(values.len());
        }
        self.last_step = Some(step);
        self.kept.add(&Records {
            step,
            times: vec![time],
            columns: values.iter().map(|value| vec![*value]).collect(),
        });
    }

    /// At most `most` points and the two ends.
    fn points(&self, column: usize, most: usize) -> Vec<[f64; 2]> {
        thinned(self.kept.all(column), most)
    }
}

/// Whole-field sums and detectors over time. The sums are taken less often than the detectors, of which every record counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The run that the records are of.
    run: u64,
    /// Drift, energy, x, y, z, σx, σy, σz.
    sums: Series,
    detectors: DetectorHistory,
    /// Fidelity, error after scaling, contrast of the focus.
    mirror: Series,
    /// The measures of ψ, three axes of each.
    state: Series,
    /// log₁₀ of the difference to a second run.
    differences: Series,
}

/// Columns of the sums; those of the detectors follow.
pub const FIXED: usize = 8;

impl History {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes over what a new frame brings. What an earlier run left is forgotten: after another scene was asked for, frames of the one before
    /// it may still come in.
    pub fn record(&mut self, frame: &Frame) {
        if frame.run != self.run {
            *self = Self {
                run: frame.run,
                ..Self::default()
            };
        }
        let clock = &frame.clock;
        let batches = frame.records.iter().map(|batch| &**batch);
        self.detectors.record(batches, (clock.steps, clock.time));
        if let Some((step, time, found)) = frame.mirror.as_ref().and_then(|mirror| mirror.refocus) {
            self.mirror
                .record(step, time, &[found.fidelity, found.scaled_error, found.contrast]);
        }
        if let Some((step, time, found)) = &frame.state {
            self.state.record(*step, *time, &found.values(3));
        }
        match frame.compared.as_ref().map(|compared| compared.difference) {
            Some(Some((step, time, difference))) => {
                // Runs that agree to the bit have no logarithm.
                self.differences.record(step, time, &[difference.max(1e-17).log10()]);
            }
            Some(None) => {}
            None => self.differences = Series::default(),
        }
        let Some((step, sums)) = frame.observables else {
            return;
        };
        let sums = (frame.scenario.as_ref()).map_or(sums, |scenario| sums.told(scenario.model().equation()));
        // The sums may be older than the picture.
        let behind = clock.steps.saturating_sub(step) as f64;
        let mut values = [0.0; FIXED];
        values[..2].copy_from_slice(&[frame.drift, sums.energy]);
        values[2..5].copy_from_slice(&sums.position);
        values[5..].copy_from_slice(&sums.spread);
        if sums.norm == 0.0 {
            // Before a source has begun there is nothing anywhere that could have a place.
            values[2..].fill(f64::NAN);
        }
        self.sums.record(step, clock.time - behind * clock.time_step, &values);
    }

    /// log₁₀ of the relative difference to a second run over time, at most `most` points.
    #[must_use]
    pub fn differences(&self, most: usize) -> Vec<[f64; 2]> {
        self.differences.points(0, most)
    }

    /// Number of records of the sums that are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sums.kept.all(0).len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sums.kept.is_empty()
    }

    /// A measure of a mirror as points over time, at most `most` of them: fidelity, error after scaling, contrast of the focus.
    #[must_use]
    pub fn mirror(&self, column: usize, most: usize) -> Vec<[f64; 2]> {
        self.mirror.points(column, most)
    }

    /// A measure of ψ as points over time, at most `most` of them; its column by name, e.g. `px`.
    #[must_use]
    pub fn state(&self, column: &str, most: usize) -> Vec<[f64; 2]> {
        let place = StateMeasures::columns(3).iter().position(|known| *known == column);
        place.map_or(Vec::new(), |place| self.state.points(place, most))
    }

    /// What a detector recorded over the latest frames up to a picture's clock, at most `most` points: how far back, as a part of their time, and
    /// the value.
    #[must_use]
    pub fn recent(&self, detector: usize, clock: &Clock, most: usize) -> Vec<[f64; 2]> {
        self.detectors.recent(detector, clock, most)
    }

    /// The records of one column as points over time, at most `most` of them.
    #[must_use]
    pub fn points(&self, column: usize, most: usize) -> Vec<[f64; 2]> {
        match column.checked_sub(FIXED) {
            None => self.sums.points(column, most),
            Some(detector) => self.detectors.points(detector, most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Records;
    use crate::physics::Observables;
    use crate::solver::Clock;
    use std::sync::Arc;

    fn frame(step: u64) -> Frame {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let time = step as f64 * 0.5;
        Frame {
            clock: Clock {
                steps: step,
                time,
                time_step: 0.5,
            },
            observables: Some((
                step,
                Observables {
                    norm: 1.0,
                    energy: time,
                    ..Observables::default()
                },
            )),
            detectors: vec![2.0 * time],
            records: vec![Arc::new(Records {
                step,
                times: vec![time],
                columns: vec![vec![2.0 * time]],
            })],
            ..Frame::default()
        }
    }

    #[test]
    fn keeps_each_step_once_and_starts_anew_after_a_reset() {
        let mut history = History::default();
        for step in [0, 1, 1, 2] {
            history.record(&frame(step));
        }
        assert_eq!(history.points(1, 100), [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]);
        assert_eq!(history.points(FIXED, 100)[2], [1.0, 2.0]);
        history.record(&frame(0));
        assert_eq!(history.len(), 1);
    }

    #[test]
    fn where_there_is_no_wave_there_is_no_place() {
        let mut history = History::default();
        let mut still = frame(0);
        if let Some((_, sums)) = &mut still.observables {
            sums.norm = 0.0;
        }
        history.record(&still);
        history.record(&frame(1));
        for column in 2..FIXED {
            let points = history.points(column, 100);
            assert!(points[0][1].is_nan() && points[1][1] == 0.0, "{column}: {points:?}");
        }
    }

    #[test]
    fn another_run_leaves_nothing_of_the_one_before() {
        let mut history = History::default();
        for step in [0, 1, 2] {
            history.record(&frame(step));
        }
        // Asked for another scene, the window forgets; a late frame of the old run comes in all the same.
        history.clear();
        history.record(&frame(3));
        assert_eq!(history.len(), 1);
        // The new run's first frame the window sees is one of a later step than that.
        let next = Frame { run: 1, ..frame(5) };
        history.record(&next);
        assert_eq!(history.points(1, 100), [[2.5, 2.5]]);
        assert_eq!(history.points(FIXED, 100), [[2.5, 5.0]]);
    }

    #[test]
    fn sums_older_than_the_picture_stand_at_their_own_time() {
        let mut history = History::default();
        let mut late = frame(4);
        late.clock.steps = 10;
        late.clock.time = 5.0;
        history.record(&late);
        assert_eq!(history.points(1, 100), [[2.0, 2.0]]);
    }

    #[test]
    fn long_runs_are_thinned_out_evenly() {
        /// Rows that are kept, see [`Kept`].
        const MOST: usize = 4096;
        let mut history = History::default();
        for step in 0..20_000 {
            history.record(&frame(step));
        }
        assert!(history.len() <= MOST + 2);
        let points = history.points(1, 2 * MOST);
        let steps: Vec<f64> = points.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
        // Two rows stand for 16 steps.
        let largest = steps.iter().copied().fold(0.0, f64::max);
        assert!(largest <= 16.0 * 0.5, "a gap of {largest}");
        assert!(points.last().unwrap()[0] > 9990.0, "the newest record is kept");
    }

    /// Every second record of a mean that turns round at every step is a constant, and nearly every second one a slow beat.
    #[test]
    fn a_fast_mean_keeps_its_band() {
        let mut history = History::default();
        for step in 0..30_000_u32 {
            let mut one = frame(u64::from(step));
            if let Some((_, sums)) = &mut one.observables {
                sums.energy = (f64::from(step) * 0.996 * std::f64::consts::PI).cos();
            }
            history.record(&one);
        }
        for part in history.points(1, 400).chunks_exact(4) {
            let ends = part.iter().fold([0.0_f64; 2], |[low, high], point| {
                [low.min(point[1]), high.max(point[1])]
            });
            assert!(ends[0] < -0.9 && ends[1] > 0.9, "{part:?}");
        }
    }
}
