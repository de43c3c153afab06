//! Records of detectors, from what a [`Recorder`] kept of each step or from sums on a device.

use super::half_phase::HalfPhase;
use super::measure::ReadRow;
use super::recorder::Recorder;
use super::run::{KEPT, Trotter};
use super::whole_sums::WholeSums;
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::{Measure, Observables};
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::taps::{RowNumbers, Tap};
use crate::solver::totals::{Region, Totals};
use crate::solver::transducers::Act;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;

impl<T: Real> Trotter<T> {
    /// Takes steps, after each of which transducers act and detectors record; 0 steps: they act at the present time.
    pub(super) fn record_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        if self.stepper.device().is_some() {
            self.record_steps_on_device(clock, steps, taps);
            return;
        }
        let mut recorder = match self.recorder.take() {
            Some(recorder) if recorder.fits(taps) => recorder,
            _ => Recorder::new(
                &self.problem.grid,
                &self.media,
                self.scheme.open_damping,
                (taps, self.stepper.fused()),
                (self.whole_sums(taps), self.stepper.sums_regions()),
            ),
        };
        let mut done = 0;
        loop {
            // Transducers that play act between two steps.
            let steady = self.is_steady() && !taps.plays() && steps > 0;
            let start = clock.after(done);
            let left = steps - done;
            let (unseen, seen) = match (steady, recorder.direct() && !taps.transducers_act()) {
                (true, true) => (taps.until_observed(&start, taps.until_due(&start, left)) - 1, 1),
                // Passes of about equal length: halos are made for as many steps, whatever is taken.
                (true, false) => (0, left.div_ceil(left.div_ceil(recorder.depth() as u64))),
                (false, _) => (0, 1),
            };
            if unseen > 0 {
                self.steady_steps(unseen);
            }
            let start = start.after(unseen);
            let end = if steps > 0 { start.after(seen) } else { start };
            let after = |step: usize| if steady { start.after(step as u64 + 1) } else { end };
            let seen_steps = 0..usize::try_from(seen).unwrap_or(1);
            let records = |step: usize, tap: usize| taps.is_due(tap, &after(step));
            recorder.begin(seen_steps.len(), |step| taps.is_observed(&after(step)), records);
            if steady {
                self.recorded_steps(seen, &recorder);
            } else if steps > 0 {
                self.single_step(start.time());
            }
            if !steady {
                self.drive_sites(end.time(), taps);
                recorder.see(0, &|row, x, out| self.stepper.read(row, x, out));
                self.stepper.add_whole(0, &recorder);
            }
            let closing = self.last_half_phase(end.time());
            let drives = self.media.drives_at(end.time());
            if steady {
                self.hear(seen_steps.clone(), &recorder, closing.as_ref(), taps);
            }
            if taps.keeps_rows() {
                for step in seen_steps {
                    let record =
                        |n: usize, tap: &Tap| self.tap_rows(&recorder, step, n, tap, closing.as_ref(), &drives);
                    taps.push_rows(&after(step), record);
                    if let Some(sums) = recorder.whole().filter(|_| taps.is_observed(&after(step))) {
                        taps.push_observed_rows(sums.rows(step).map(Totals::to_numbers));
                    }
                }
                done += unseen + seen;
                if done >= steps {
                    break;
                }
                continue;
            }
            let own = &*taps;
            let grid = &self.problem.grid;
            let records: Vec<(Vec<f64>, Option<Observables>)> = (seen_steps.into_par_iter())
                .map(|step| {
                    let clock = after(step);
                    let value = |(n, tap)| {
                        if own.is_due(n, &clock) {
                            self.tap_value(&recorder, step, n, tap, closing.as_ref(), &drives)
                        } else {
                            Taps::ABSENT
                        }
                    };
                    let values = own.taps().iter().enumerate().map(value).collect();
                    let sums = recorder.whole().filter(|_| own.is_observed(&clock));
                    (values, sums.map(|sums| sums.totals(step).observables(grid)))
                })
                .collect();
            for (n, (values, observables)) in records.into_iter().enumerate() {
                taps.push(&after(n), &values);
                if let Some(observables) = observables {
                    taps.push_observed(&after(n), observables);
                }
            }
            done += unseen + seen;
            if done >= steps {
                break;
            }
        }
        self.recorder = Some(recorder);
    }

    /// Sums over all sites within steps, where they are asked for and the stepper takes them.
    fn whole_sums(&self, taps: &Taps) -> Option<WholeSums<T>> {
        taps.observed_every()?;
        let lanes = self.whole_lanes()?;
        // Without drives it is the same at all times.
        let closing = self.last_half_phase(0.0);
        let (grid, hopping) = (&self.problem.grid, self.problem.quantum.hopping);
        Some(WholeSums::new(grid, &self.media, closing.as_ref(), hopping, lanes))
    }

    /// Numbers of the vectors in which the stepper takes sums over all sites within steps, where steps are alike and the energy is that of a potential and of equal bonds.
    pub(super) fn whole_lanes(&self) -> Option<usize> {
        let plain = self.is_steady()
            && self.problem.strengths.is_none()
            && self.problem.bonds.is_none()
            && self.problem.medium.cross_interaction() == 0.0;
        self.stepper.whole_lanes().filter(|_| plain)
    }

    /// Appends what transducers recorded in steps that `recorder` has seen.
    fn hear(&self, steps: Range<usize>, recorder: &Recorder<T>, closing: Option<&HalfPhase>, taps: &mut Taps) {
        let Some(own) = taps.transducers_mut().as_mut().filter(|own| own.act() == Act::Record) else {
            return;
        };
        for step in steps {
            let (sites, phi): (Vec<usize>, Vec<Complex<T>>) = recorder.heard(step).unzip();
            let mut psi = Vec::with_capacity(phi.len());
            let mut from = 0;
            while from < sites.len() {
                let until = from + self.neighbours(&sites[from..]);
                psi.extend(self.closed_sites(closing, sites[from], &phi[from..until]));
                from = until;
            }
            own.hear(&psi);
        }
    }

    /// How many of the first of `sites`, which ascend, follow one another in a row.
    fn neighbours(&self, sites: &[usize]) -> usize {
        let nx = self.problem.grid.size()[0];
        let most = (nx - sites[0] % nx).min(sites.len());
        (1..most).find(|n| sites[*n] != sites[0] + n).unwrap_or(most)
    }

    /// The value of tap number `n` after step `step` of the batch that `recorder` has seen.
    fn tap_value(
        &self,
        recorder: &Recorder<T>,
        step: usize,
        n: usize,
        tap: &Tap,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> f64 {
        if let Some(value) = recorder.reduced(step, n) {
            return if tap.measure == Measure::Peak {
                value
            } else {
                value * tap.weight
            };
        }
        let read: ReadRow<T> = &|row, x, out| {
            if recorder.direct() {
                self.stepper.read(row, x, out);
            } else {
                recorder.read(step, n, row, x, out);
            }
        };
        let totals = self.totals_of(read, &Region::of(tap), closing, drives);
        totals.value(&self.problem.grid, tap)
    }

    /// What the rows of a tap add to its value, with the rows' numbers; see [`Self::record_of`].
    fn tap_rows(
        &self,
        recorder: &Recorder<T>,
        step: usize,
        n: usize,
        tap: &Tap,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> RowNumbers {
        if (0..3).any(|axis| tap.lo[axis] >= tap.hi[axis]) {
            return Vec::new();
        }
        if let Some(rows) = recorder.reduced_rows(step, n) {
            return rows;
        }
        let read: ReadRow<T> = &|row, x, out| {
            if recorder.direct() {
                self.stepper.read(row, x, out);
            } else {
                recorder.read(step, n, row, x, out);
            }
        };
        let rows = self.rows_of(read, &Region::of(tap), closing, drives);
        let own = rows.into_iter();
        own.map(|(row, totals)| (row, totals.of_measure(tap.measure))).collect()
    }

    /// The value of a tap from the numbers of all its rows and their sum.
    pub(super) fn record_of(grid: &Grid, tap: &Tap, (sum, rows): (f64, &[f64])) -> f64 {
        let totals = Totals {
            norm: sum,
            energy: sum,
            current: sum,
            peak: rows.iter().copied().fold(0.0, f64::max),
            ..Totals::default()
        };
        totals.value(grid, tap)
    }

    /// The same on a device: sums are queued after every step and stay there, and come to the host once a batch, so that steps do not wait for them.
    fn record_steps_on_device(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        if taps.keeps_rows() {
            self.record_rows_on_device(clock, steps, taps);
            return;
        }
        if self.sum_while_stepping(clock, steps, taps) {
            return;
        }
        if taps.plays() {
            self.largest = None;
        }
        let all = taps.taps().to_vec();
        let empty = |tap: &Tap| (0..3).any(|axis| tap.lo[axis] >= tap.hi[axis]);
        let asked = all.iter().filter(|tap| !empty(tap)).count();
        let most = (KEPT / asked.max(1)).max(1) as u64;
        let touches = self.stepper.device().filter(|_| taps.transducers_act());
        let most = touches.map_or(most, |device| most.min(device.most_transducer_steps(taps)));
        // The moments at which there is something to observe: after each step, or now.
        let moments: Vec<u64> = if steps == 0 { vec![0] } else { (1..=steps).collect() };
        // More detectors than places: one step at a time, as many detectors as fit.
        for batch in moments.chunks(usize::try_from(most).unwrap_or(1)) {
            let mut totals = Vec::new();
            let mut put = 0;
            if let Some(device) = self.stepper.device() {
                device.load_transducers(taps, batch.len());
            }
            let unseen = self.is_steady() && !taps.transducers_act();
            let mut ahead = 0;
            for (step, moment) in batch.iter().enumerate() {
                if *moment > 0 && unseen {
                    // Alike, and nobody looks before.
                    ahead += 1;
                    if step + 1 < batch.len() && !taps.any_due(&clock.after(*moment)) {
                        continue;
                    }
                    self.steady_steps(std::mem::take(&mut ahead));
                } else if *moment > 0 {
                    self.single_step(clock.after(moment - 1).time());
                }
                let time = clock.after(*moment).time();
                let phases = self.phases(time);
                let drives = self.media.drives_at(time);
                let Some(device) = self.stepper.device() else { return };
                device.step_transducers(step, phases.as_ref());
                let due = taps.any_due(&clock.after(*moment));
                for tap in all.iter().filter(|tap| due && !empty(tap)) {
                    if put == KEPT {
                        totals.extend(device.kept_totals(put));
                        put = 0;
                    }
                    let closing = phases.as_ref().map(|[closing, _]| closing);
                    device.keep_totals(put, &Region::of(tap), closing, &drives);
                    put += 1;
                }
            }
            if let Some(device) = self.stepper.device() {
                totals.extend(device.kept_totals(put));
                device.take_transducers(taps);
            }
            let mut totals = totals.iter();
            for moment in batch {
                if !taps.any_due(&clock.after(*moment)) {
                    continue;
                }
                let values: Vec<f64> = (all.iter())
                    .map(|tap| match (empty(tap), &self.problem.grid) {
                        (true, _) => 0.0,
                        (false, grid) => totals.next().map_or(f64::NAN, |totals| totals.value(grid, tap)),
                    })
                    .collect();
                taps.push(&clock.after(*moment), &values);
            }
        }
    }

    /// Steps of a part of a grid, and the rows of its detectors at those after which one records.
    fn record_rows_on_device(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        let acts = taps.transducers_act();
        let most = self
            .stepper
            .device()
            .filter(|_| acts)
            .map_or(u64::MAX, |device| device.most_transducer_steps(taps));
        let moments: Vec<u64> = if steps == 0 { vec![0] } else { (1..=steps).collect() };
        for batch in moments.chunks(usize::try_from(most).unwrap_or(usize::MAX)) {
            if let Some(device) = self.stepper.device() {
                device.load_transducers(taps, batch.len());
            }
            let mut ahead = 0;
            for (step, moment) in batch.iter().enumerate() {
                let now = clock.after(*moment);
                if *moment > 0 && !acts && self.is_steady() {
                    // Alike, and nobody looks before.
                    ahead += 1;
                    if step + 1 < batch.len() && !taps.any_due(&now) {
                        continue;
                    }
                    self.steady_steps(std::mem::take(&mut ahead));
                } else if *moment > 0 {
                    self.single_step(clock.after(moment - 1).time());
                }
                let phases = self.phases(now.time());
                let Some(device) = self.stepper.device() else { return };
                device.step_transducers(step, phases.as_ref());
                self.push_rows_on_device(&now, taps);
            }
            if let Some(device) = self.stepper.device() {
                device.take_transducers(taps);
            }
        }
    }

    /// Keeps what the rows of a part add to the detectors that record now.
    fn push_rows_on_device(&self, now: &RunClock, taps: &mut Taps) {
        let closing = self.last_half_phase(now.time());
        let drives = self.media.drives_at(now.time());
        let Some(device) = self.stepper.device() else { return };
        let ny = self.problem.grid.size()[1];
        taps.push_rows(now, |_, tap| {
            if (0..3).any(|axis| tap.lo[axis] >= tap.hi[axis]) {
                return Vec::new();
            }
            let region = Region::of(tap);
            let numbers =
                (region.lo[2]..region.hi[2]).flat_map(|k| (region.lo[1]..region.hi[1]).map(move |j| j + ny * k));
            let rows = device.row_totals(&region, closing.as_ref(), &drives);
            let own = rows.into_iter().map(|totals| totals.of_measure(tap.measure));
            numbers.zip(own).collect()
        });
    }
}
