//! What detectors recorded over a run, thinned out as it grows: of records that share a place the least and the greatest stay.

use crate::engine::Records;
use crate::engine::records::extremes;
use crate::solver::Clock;
use std::collections::VecDeque;

/// Rows kept; when there are more, two stand for four.
const MOST: usize = 4096;
/// Frames over which [`DetectorHistory::recent`] looks back.
const FRAMES: usize = 240;

/// Rows of some quantities over time, of which the least and the greatest stay where there are too many.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    rows: Records,
    /// Rows of which two are kept.
    together: usize,
    /// Rows of which there are not yet so many.
    pending: Records,
}

impl Default for Kept {
    fn default() -> Self {
        Self::of(0)
    }
}

impl Kept {
    /// No rows of so many quantities.
    pub(super) fn of(quantities: usize) -> Self {
        Self {
            rows: Records::of(quantities),
            together: 2,
            pending: Records::of(quantities),
        }
    }

    /// How many quantities there are.
    pub(super) fn quantities(&self) -> usize {
        self.rows.columns.len()
    }

    /// Whether there are no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.pending.is_empty()
    }

    /// Takes over the rows of a batch of as many quantities.
    pub(super) fn add(&mut self, batch: &Records) {
        let mut next = 0;
        while next < batch.len() {
            let part = next..batch.len().min(next + self.together - self.pending.len());
            next = part.end;
            self.pending.extend(batch, part);
            if self.pending.len() == self.together {
                let pending = std::mem::replace(&mut self.pending, Records::of(batch.columns.len()));
                self.rows
                    .push_extremes(&pending.times, &pending.columns, 0..pending.len());
            }
            if self.rows.len() > MOST {
                self.thin();
            }
        }
    }

    fn thin(&mut self) {
        let all = std::mem::take(&mut self.rows);
        self.rows = Records::of(all.columns.len());
        for first in (0..all.len()).step_by(4) {
            let part = first..all.len().min(first + 4);
            self.rows.push_extremes(&all.times, &all.columns, part);
        }
        self.together *= 2;
    }

    /// Times and values of a quantity, oldest first; NaN where it has none.
    pub(super) fn all(&self, quantity: usize) -> Vec<[f64; 2]> {
        let mut newest = Records::of(self.pending.columns.len());
        newest.push_extremes(&self.pending.times, &self.pending.columns, 0..self.pending.len());
        let of = |rows: &Records| -> Vec<[f64; 2]> {
            let values = rows.columns.get(quantity).map_or(&[][..], Vec::as_slice);
            rows.times
                .iter()
                .zip(values)
                .map(|(time, value)| [*time, *value])
                .collect()
        };
        let mut points = of(&self.rows);
        points.extend(of(&newest));
        points
    }
}

/// The records of a run's detectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DetectorHistory {
    kept: Kept,
    /// The last batch that was taken over.
    taken: Option<u64>,
    /// The last frame's step, which may be before that, and its time.
    last: Option<(u64, f64)>,
    /// Time that each of the latest frames has taken up.
    frames: VecDeque<f64>,
}

impl DetectorHistory {
    /// Takes over those of a frame's batches that are new; a jump back in steps (a reset, a restored snapshot) drops what came before.
    pub(super) fn record<'a>(&mut self, batches: impl Iterator<Item = &'a Records>, (step, time): (u64, f64)) {
        if self.last.is_some_and(|(last, _)| step < last) {
            *self = Self::default();
        }
        let seen = self.last.map(|(_, time)| time);
        for batch in batches {
            if self.taken.is_none_or(|last| batch.step > last) {
                self.add(batch);
                self.taken = Some(batch.step);
            }
        }
        if self.last.is_none_or(|(last, _)| step > last) {
            self.last = Some((step, time));
            self.frames.push_back(seen.map_or(0.0, |seen| (time - seen).abs()));
            if self.frames.len() > FRAMES {
                self.frames.pop_front();
            }
        }
    }

    fn add(&mut self, batch: &Records) {
        if self.kept.quantities() != batch.columns.len() {
            *self = Self {
                kept: Kept::of(batch.columns.len()),
                last: self.last,
                ..Self::default()
            };
        }
        self.kept.add(batch);
    }

    /// Times and values of a detector, oldest first, those that are there.
    fn all(&self, detector: usize) -> Vec<[f64; 2]> {
        let mut points = self.kept.all(detector);
        points.retain(|point| point[1].is_finite());
        points
    }

    /// Values of a detector over time, at most `most` points and the two ends.
    pub(super) fn points(&self, detector: usize, most: usize) -> Vec<[f64; 2]> {
        thinned(self.all(detector), most)
    }

    /// Values of a detector over the latest frames up to a picture's clock, at most `most` points and the two ends: how far back each is, as a part of the time that so many frames take up, and the value.
    pub(super) fn recent(&self, detector: usize, clock: &Clock, most: usize) -> Vec<[f64; 2]> {
        let passed: f64 = self.frames.iter().sum();
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let span = passed * FRAMES as f64 / self.frames.len().max(1) as f64;
        let mut all = self.all(detector);
        // A picture that is looked back at has nothing of what came after it.
        let reach = 0.5 * clock.time_step.abs();
        let is_before = |[time, _]: &[f64; 2]| (time - clock.time) * clock.time_step.signum() <= reach;
        all.truncate(all.iter().rposition(is_before).map_or(0, |last| last + 1));
        let Some([mut after, _]) = all.last().copied() else {
            return Vec::new();
        };
        // Time may run backwards.
        let mut age = 0.0;
        let mut latest = Vec::new();
        for [time, value] in all.into_iter().rev() {
            age += (after - time).abs();
            after = time;
            if age > span {
                break;
            }
            latest.push([if span > 0.0 { age / span } else { 0.0 }, value]);
        }
        latest.reverse();
        thinned(latest, most)
    }
}

/// At most `most` of some points and the two ends; of those that share a place the least and the greatest.
pub(super) fn thinned(points: Vec<[f64; 2]>, most: usize) -> Vec<[f64; 2]> {
    let (count, most) = (points.len(), most.max(2));
    if count <= most {
        return points;
    }
    let values: Vec<f64> = points.iter().map(|point| point[1]).collect();
    let together = (2 * count).div_ceil(most);
    let mut places = vec![0];
    for first in (0..count).step_by(together) {
        let part = first..(first + together).min(count);
        match extremes(&values, part) {
            Some(both) => places.extend(both),
            None => places.push(first),
        }
    }
    places.push(count - 1);
    places.dedup();
    places.into_iter().map(|place| points[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of each of so many steps from `from` on; `step` is the time as well.
    fn batch(from: u64, count: u64, value: impl Fn(u64) -> f64) -> Records {
        let steps = || from..from + count;
        Records {
            step: from + count - 1,
            times: steps().map(|step| step as f64).collect(),
            columns: vec![steps().map(&value).collect()],
        }
    }

    fn take(history: &mut DetectorHistory, batch: &Records) {
        history.record(std::iter::once(batch), (batch.step, batch.step as f64));
    }

    #[test]
    fn peaks_of_a_fast_wave_stay_whatever_the_length_of_the_run() {
        let mut history = DetectorHistory::default();
        // A tone of seven steps a period, whose phase at the frames would be a slow wave; one record is a peak.
        let tone = |step: u64| match step {
            100_003 => 5.0,
            _ => (step as f64 * std::f64::consts::TAU / 7.0).sin(),
        };
        for frame in 0..25_000 {
            take(&mut history, &batch(frame * 8, 8, tone));
        }
        assert!(history.kept.rows.len() <= MOST && history.kept.together > 64);
        let points = history.points(0, 400);
        assert!(points.len() <= 402, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
        assert_eq!(points.iter().filter(|point| point[1] == 5.0).count(), 1);
        // Everywhere the band from −0.97 to 0.97, within two pixels of each other.
        for part in points.chunks_exact(4) {
            assert!(part.iter().any(|point| point[1] > 0.97), "{part:?}");
            assert!(part.iter().any(|point| point[1] < -0.97), "{part:?}");
        }
        assert_eq!(points.last().unwrap()[0], 199_999.0);
    }

    #[test]
    fn what_was_seen_is_not_taken_twice_and_a_jump_back_begins_anew() {
        let mut history = DetectorHistory::default();
        let batches = [batch(0, 5, |step| step as f64), batch(5, 3, |step| step as f64)];
        history.record(batches.iter().take(1), (4, 4.0));
        history.record(batches.iter(), (7, 7.0));
        history.record(batches.iter(), (7, 7.0));
        let expected: Vec<[f64; 2]> = (0..8).map(|step| [f64::from(step); 2]).collect();
        assert_eq!(history.points(0, 100), expected);
        history.record(batches.iter().take(1), (4, 4.0));
        assert_eq!(history.points(0, 100), expected[..5]);
    }

    #[test]
    fn other_detectors_begin_anew_and_missing_records_are_no_points() {
        let mut history = DetectorHistory::default();
        take(
            &mut history,
            &batch(0, 4, |step| if step % 2 == 0 { 1.0 } else { f64::NAN }),
        );
        assert_eq!(history.points(0, 100).iter().filter(|point| point[1] != 1.0).count(), 0);
        assert!(!history.points(0, 100).is_empty() && history.points(1, 100).is_empty());
        let mut two = batch(4, 4, |_| 2.0);
        two.columns.push(vec![3.0; 4]);
        take(&mut history, &two);
        assert_eq!(history.points(1, 100), [4.0, 5.0, 6.0, 7.0].map(|time| [time, 3.0]));
    }

    #[test]
    fn the_latest_frames_are_shown_by_their_age() {
        let mut history = DetectorHistory::default();
        for frame in 0..1000 {
            take(&mut history, &batch(frame * 2, 2, |step| step as f64));
        }
        let at = |time: f64| Clock {
            steps: 0,
            time,
            time_step: 1.0,
        };
        let recent = history.recent(0, &at(1999.0), 10_000);
        // 240 frames of two steps.
        assert!(
            (recent[0][0] - 1.0).abs() < 0.01 && recent[0][1] >= 1999.0 - 480.0,
            "{:?}",
            recent[0]
        );
        assert_eq!(*recent.last().unwrap(), [0.0, 1999.0]);
        assert!(recent.windows(2).all(|pair| pair[0][0] >= pair[1][0]));
        assert!(history.recent(0, &at(1999.0), 50).len() <= 52);
        // Of an earlier picture what was recorded up to it.
        assert_eq!(*history.recent(0, &at(1900.0), 10_000).last().unwrap(), [0.0, 1900.0]);
    }
}
