//! Records of probabilities that a device sums as it steps, beside other detectors.

use super::run::{KEPT, Trotter};
use super::stepper::SUMMED;
use crate::field::Real;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::taps::Tap;
use crate::solver::totals::{Region, Totals};

/// Steps of a batch.
const MOST: u64 = 1024;
/// Steps between records from which on sums after the steps cost less.
const SELDOM: u64 = 32;

/// What detectors ask of a device.
struct Asked {
    /// Regions of probabilities.
    regions: Vec<Region>,
    /// Detectors that are asked of the field between two steps.
    between: Vec<usize>,
}

/// Whether there is a site.
fn has_sites(tap: &Tap) -> bool {
    (0..3).all(|axis| tap.lo[axis] < tap.hi[axis])
}

impl Asked {
    fn of(taps: &[Tap]) -> Self {
        let (sums, between): (Vec<_>, Vec<_>) = (taps.iter().enumerate())
            .filter(|(_, tap)| has_sites(tap))
            .partition(|(_, tap)| tap.measure == Measure::Probability);
        Self {
            regions: sums.into_iter().map(|(_, tap)| Region::of(tap)).collect(),
            between: between.into_iter().map(|(n, _)| n).collect(),
        }
    }

    /// Steps of a batch, of `left`: as many as there is room for.
    fn batch(&self, left: u64) -> u64 {
        left.min(MOST).min((KEPT / self.between.len().max(1)) as u64)
    }

    /// The place, among the sums of a batch of `steps` steps, of region `region` after step `step`: the device has them in groups.
    fn place(&self, steps: usize, step: usize, region: usize) -> usize {
        let group = region - region % SUMMED;
        let count = (self.regions.len() - group).min(SUMMED);
        steps * group + step * count + region % SUMMED
    }
}

impl<T: Real> Trotter<T> {
    /// Steps and records, where detectors of probabilities are among the taps and the device sums these as it steps; `false` where it does not, and nothing was done.
    pub(super) fn sum_while_stepping(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> bool {
        // In imaginary time the norm is restored after a step.
        let plain = !self.scheme.imaginary && steps > 0 && !taps.transducers_act();
        let seldom = taps.until_due(&RunClock::new(1.0), SELDOM) >= SELDOM;
        let all = taps.taps().to_vec();
        let asked = Asked::of(&all);
        if !plain || seldom || asked.regions.is_empty() || asked.between.len() > KEPT {
            return false;
        }
        let largest = match self.largest {
            Some(largest) => largest,
            None => *self.largest.insert(self.sum_of_squares()),
        };
        let mut done = 0;
        while done < steps {
            let batch = asked.batch(steps - done);
            let count = usize::try_from(batch).unwrap_or(0);
            if !self.begin_sums(&asked, count, largest) {
                return done > 0;
            }
            let start = clock.after(done);
            let kept = self.summed_steps(&start, batch, &asked, taps);
            let Some(device) = self.stepper.device() else {
                return true;
            };
            let sums = device.take_sums(count * asked.regions.len());
            let totals = device.kept_totals(kept);
            let mut totals = totals.iter();
            for step in 0..count {
                let now = start.after(step as u64 + 1);
                let mut region = 0;
                let mut value = |(n, tap): (usize, &Tap)| {
                    if !has_sites(tap) {
                        return 0.0;
                    }
                    if tap.measure == Measure::Probability {
                        region += 1;
                        let sum = sums.get(asked.place(count, step, region - 1));
                        return sum.map_or(f64::NAN, |sum| sum * tap.weight);
                    }
                    if !taps.is_due(n, &now) {
                        return Taps::ABSENT;
                    }
                    let value = |totals: &Totals| totals.value(&self.problem.grid, tap);
                    totals.next().map_or(f64::NAN, value)
                };
                let values: Vec<f64> = all.iter().enumerate().map(&mut value).collect();
                taps.push(&now, &values);
            }
            done += batch;
        }
        true
    }

    /// Has the device sum regions after each of the next `steps` steps, if it can.
    fn begin_sums(&self, asked: &Asked, steps: usize, largest: f64) -> bool {
        let (media, open) = (&self.media, self.scheme.open_damping);
        let weight = |site: usize| media.closing_weight(site, open);
        let key = media.number() ^ open.to_bits().rotate_left(8);
        let weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))> =
            if media.absorbs() { Some((key, &weight)) } else { None };
        let device = self.stepper.device();
        device.is_some_and(|device| device.begin_sums(&asked.regions, steps, largest, weight))
    }

    /// Steps while sums are taken, in as few launches as those and the other detectors allow; returns how many numbers were kept for these.
    fn summed_steps(&mut self, clock: &RunClock, steps: u64, asked: &Asked, taps: &Taps) -> usize {
        let free = asked.between.is_empty() && asked.regions.len() <= SUMMED;
        if free && self.is_steady() {
            self.steady_steps(steps);
            return 0;
        }
        let mut kept = 0;
        for n in 0..steps {
            self.single_step(clock.after(n).time());
            let now = clock.after(n + 1);
            let due = |tap: &&usize| taps.is_due(**tap, &now);
            let closing = self.last_half_phase(now.time());
            let drives = self.media.drives_at(now.time());
            let Some(device) = self.stepper.device() else {
                return kept;
            };
            device.sum_others();
            for tap in asked.between.iter().filter(due) {
                let region = Region::of(&taps.taps()[*tap]);
                device.keep_totals(kept, &region, closing.as_ref(), &drives);
                kept += 1;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_a_batch_have_a_place_each() {
        let region = Region {
            lo: [0; 3],
            hi: [1; 3],
            across: None,
            energy: false,
        };
        for regions in 1..=10 {
            let asked = Asked {
                regions: vec![region; regions],
                between: Vec::new(),
            };
            let steps = 3;
            let mut places: Vec<usize> = (0..steps)
                .flat_map(|step| (0..regions).map(move |region| (step, region)))
                .map(|(step, region)| asked.place(steps, step, region))
                .collect();
            places.sort_unstable();
            assert_eq!(places, (0..steps * regions).collect::<Vec<_>>());
        }
    }
}
