//! Records of what a device sums or copies as it steps, beside other detectors.

use super::run::{KEPT, Trotter};
use super::stepper::{SUMMED, Watched};
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

/// How the value of a detector is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// It has no site: 0.
    None,
    /// From the sum over a region, or its largest value.
    Region(usize),
    /// From copies of the field.
    Copied(usize),
    /// From the field between two steps.
    Between,
}

/// What detectors ask of a device.
struct Asked {
    watched: Watched,
    how: Vec<How>,
    /// Detectors that are asked of the field between two steps.
    between: Vec<usize>,
    /// Steps of a batch at most.
    most: usize,
}

/// Whether there is a site.
fn has_sites(tap: &Tap) -> bool {
    (0..3).all(|axis| tap.lo[axis] < tap.hi[axis])
}

impl Asked {
    /// `copied_steps`: of how many steps sums over regions can be taken from copies, 0 where they cannot.
    fn of(taps: &[Tap], copied_steps: impl Fn(&[Region]) -> usize) -> Self {
        let amplitudes = |tap: &Tap| has_sites(tap) && matches!(tap.measure, Measure::Value | Measure::Flux);
        let copied: Vec<Region> = taps.iter().filter(|tap| amplitudes(tap)).map(Region::of).collect();
        let steps = copied_steps(&copied);
        let mut asked = Self {
            watched: Watched::default(),
            how: Vec::with_capacity(taps.len()),
            between: Vec::new(),
            most: usize::MAX,
        };
        for (n, tap) in taps.iter().enumerate() {
            let watched = &mut asked.watched;
            asked.how.push(match tap.measure {
                _ if !has_sites(tap) => How::None,
                Measure::Probability | Measure::Peak => {
                    watched.regions.push(Region::of(tap));
                    watched.peaks.push(tap.measure == Measure::Peak);
                    How::Region(watched.regions.len() - 1)
                }
                _ if amplitudes(tap) && steps > 0 => {
                    watched.copied.push(Region::of(tap));
                    asked.most = steps;
                    How::Copied(watched.copied.len() - 1)
                }
                _ => {
                    asked.between.push(n);
                    How::Between
                }
            });
        }
        asked
    }

    /// Steps of a batch, of `left`: as many as there is room for.
    fn batch(&self, left: u64) -> u64 {
        let most = (KEPT / self.between.len().max(1)).min(self.most);
        left.min(MOST).min(most as u64)
    }

    /// The place, among the sums of a batch of `steps` steps, of region `region` after step `step`: the device has them in groups.
    fn place(&self, steps: usize, step: usize, region: usize) -> usize {
        let group = region - region % SUMMED;
        let count = (self.watched.regions.len() - group).min(SUMMED);
        steps * group + step * count + region % SUMMED
    }
}

impl<T: Real> Trotter<T> {
    /// Steps and records, where the device serves some of the detectors as it steps; `false` where there are none, and nothing was done.
    pub(super) fn sum_while_stepping(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> bool {
        // In imaginary time the norm is restored after a step.
        let plain = !self.scheme.imaginary && steps > 0 && !taps.transducers_act();
        let seldom = taps.until_due(&RunClock::new(1.0), SELDOM) >= SELDOM;
        if !plain || seldom {
            return false;
        }
        let all = taps.taps().to_vec();
        // Where a drive changes what closes the field, steps go one by one in any case.
        let device = self.stepper.device().filter(|_| self.is_steady());
        let asked = Asked::of(&all, |regions| device.map_or(0, |device| device.copied_steps(regions)));
        let watched = &asked.watched;
        if (watched.regions.is_empty() && watched.copied.is_empty()) || asked.between.len() > KEPT {
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
            let closing = self.last_half_phase(start.after(batch).time());
            let Some(device) = self.stepper.device() else {
                return true;
            };
            let sums = device.take_sums(count * watched.regions.len());
            let copied = if watched.copied.is_empty() {
                Vec::new()
            } else {
                device.take_copied(count, closing.as_ref())
            };
            let totals = device.kept_totals(kept);
            let mut totals = totals.iter();
            for step in 0..count {
                let now = start.after(step as u64 + 1);
                let mut value = |(n, tap): (usize, &Tap)| {
                    let of = |totals: &Totals| totals.value(&self.problem.grid, tap);
                    match asked.how[n] {
                        How::None => 0.0,
                        How::Region(region) => {
                            let weight = if watched.peaks[region] { 1.0 } else { tap.weight };
                            let sum = sums.get(asked.place(count, step, region));
                            sum.map_or(f64::NAN, |sum| sum * weight)
                        }
                        _ if !taps.is_due(n, &now) => Taps::ABSENT,
                        How::Copied(region) => copied.get(step * watched.copied.len() + region).map_or(f64::NAN, of),
                        How::Between => totals.next().map_or(f64::NAN, of),
                    }
                };
                let values: Vec<f64> = all.iter().enumerate().map(&mut value).collect();
                taps.push(&now, &values);
            }
            done += batch;
        }
        true
    }

    /// Has the device take what is asked for after each of the next `steps` steps, if it can.
    fn begin_sums(&self, asked: &Asked, steps: usize, largest: f64) -> bool {
        let (media, open) = (&self.media, self.scheme.open_damping);
        let weight = |site: usize| media.closing_weight(site, open);
        let key = media.number() ^ open.to_bits().rotate_left(8);
        let weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))> =
            if media.absorbs() { Some((key, &weight)) } else { None };
        let device = self.stepper.device();
        device.is_some_and(|device| device.begin_sums(&asked.watched, steps, largest, weight))
    }

    /// Steps while sums are taken, in as few launches as those and the other detectors allow; returns how many numbers were kept for these.
    fn summed_steps(&mut self, clock: &RunClock, steps: u64, asked: &Asked, taps: &Taps) -> usize {
        let free = asked.between.is_empty() && asked.watched.regions.len() <= SUMMED;
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

    fn tap(measure: Measure, hi: [usize; 3]) -> Tap {
        Tap {
            measure,
            lo: [0; 3],
            hi,
            whole: false,
            across: 0,
            weight: 1.0,
            shares: Vec::new(),
            open: None,
        }
    }

    #[test]
    fn sums_of_a_batch_have_a_place_each() {
        for regions in 1..=10 {
            let asked = Asked::of(&vec![tap(Measure::Probability, [1; 3]); regions], |_| 0);
            let steps = 3;
            let mut places: Vec<usize> = (0..steps)
                .flat_map(|step| (0..regions).map(move |region| (step, region)))
                .map(|(step, region)| asked.place(steps, step, region))
                .collect();
            places.sort_unstable();
            assert_eq!(places, (0..steps * regions).collect::<Vec<_>>());
        }
    }

    #[test]
    fn detectors_go_where_the_device_takes_them() {
        let taps = [
            tap(Measure::Flux, [1, 4, 1]),
            tap(Measure::Probability, [2, 2, 1]),
            tap(Measure::Value, [5, 5, 1]),
            tap(Measure::Peak, [3, 3, 1]),
            tap(Measure::Energy, [3, 3, 1]),
            tap(Measure::Value, [0, 5, 1]),
        ];
        let asked = Asked::of(&taps, |regions| if regions.len() == 2 { 100 } else { 0 });
        assert_eq!(
            asked.how,
            [
                How::Copied(0),
                How::Region(0),
                How::Copied(1),
                How::Region(1),
                How::Between,
                How::None
            ]
        );
        assert_eq!(asked.watched.peaks, [false, true]);
        // A value is that of the first site.
        assert_eq!(asked.watched.copied[1].hi, [1; 3]);
        assert_eq!((asked.batch(1000), asked.batch(7)), (100, 7));
        let without = Asked::of(&taps, |_| 0);
        assert_eq!(without.between, [0, 2, 4]);
        assert!(without.watched.copied.is_empty());
        assert_eq!(without.batch(5000), 1024);
    }
}
