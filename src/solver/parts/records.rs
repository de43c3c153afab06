//! Detectors of a grid in parts: each part keeps what its rows add to a record, and all of it is added in the order of rows.

use super::Cut;
use super::whole::Whole;
use crate::physics::Measure;
use crate::rounding::truncated;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::taps::{RowNumbers, Tap};

impl<S: Cut> Whole<S> {
    /// Lets the parts keep the rows of these detectors, and of the observables where they are asked for.
    pub(super) fn follow(&mut self, taps: &Taps) {
        for n in 0..self.members.len() {
            let own: Vec<Tap> = taps.taps().iter().map(|tap| self.tap_in(n, tap)).collect();
            let known = &self.members[n].taps;
            let same = known.taps() == own && known.whole() == taps.taps() && known.every() == taps.every();
            if !same || !known.keeps_rows() {
                self.members[n].taps = taps.in_part(own);
            }
            self.members[n].taps.observe_every(taps.observed_every());
        }
    }

    /// The part of a detector in a part: its own rows of it, and the ghost rows that belong to it as well.
    fn tap_in(&self, n: usize, tap: &Tap) -> Tap {
        let (axis, member) = (self.plan.axis, &self.members[n]);
        let part = &self.plan.parts[member.place];
        let mut own = tap.clone();
        if tap.measure == Measure::Value && tap.shares.is_empty() {
            own.hi[axis] = own.hi[axis].min(own.lo[axis] + 1);
        }
        let all = own.lo[axis]..own.hi[axis];
        let common = all.start.max(part.start)..all.end.min(part.end);
        let by_core = member.stepper.sums_core();
        let (mut lo, mut hi) = (member.core.start, member.core.start);
        if !common.is_empty() {
            lo = member.core.start + common.start - part.start;
            hi = lo + common.len();
            let rows = self.setup.scenario.grid().size()[axis];
            let (first, _) = self.plan.window(member.place);
            let place = |row: usize| (first + row) % rows;
            // Not across the seam of a ring: there one part counts half of a bond at either end, which rounds differently.
            while !by_core && lo > 0 && place(lo) > 0 && all.contains(&place(lo - 1)) {
                lo -= 1;
            }
            while !by_core && hi < member.rows && place(hi) > 0 && all.contains(&place(hi)) {
                hi += 1;
            }
        }
        // A point between sites: those of its sites that stand in rows of the part.
        own.shares.retain(|(site, _)| part.contains(&site[axis]));
        for (site, _) in &mut own.shares {
            site[axis] = member.core.start + site[axis] - part.start;
        }
        if own.shares.is_empty() && !tap.shares.is_empty() {
            hi = lo;
        }
        (own.lo[axis], own.hi[axis]) = (lo, hi);
        own
    }

    /// Appends the records that the parts have kept of steps at these clocks, or, where they did not step, of what they observed.
    pub(super) fn record(&mut self, clocks: impl Iterator<Item = RunClock>, stepped: bool, taps: &mut Taps) {
        let lines = self.lines();
        let detectors = taps.taps().len();
        let clocks: Vec<RunClock> = clocks.collect();
        self.record_observed(&clocks, taps);
        let due: Vec<RunClock> = clocks.into_iter().filter(|clock| taps.any_due(clock)).collect();
        let mut own: Vec<Vec<Vec<RowNumbers>>> = Vec::new();
        for member in &mut self.members {
            let mut records = member.taps.take_rows();
            if !member.stepper.sums_core() {
                for rows in records.iter_mut().flatten() {
                    rows.retain(|(row, _)| member.core.contains(&(row / lines)));
                }
            }
            own.push(records);
        }
        if due.is_empty() {
            return;
        }
        // For each part, record and detector: how many numbers, and the numbers.
        #[expect(clippy::cast_precision_loss, reason = "numbers of rows")]
        let message = own
            .iter()
            .flatten()
            .flatten()
            .flat_map(|rows| std::iter::once(rows.len() as f64).chain(rows.iter().map(|(_, number)| *number)));
        let mine = message.collect();
        let mut all = self.all(mine).into_iter();
        let mut numbers = vec![Vec::new(); due.len() * detectors];
        for _ in 0..self.plan.parts.len() {
            for rows in &mut numbers {
                let count = truncated(all.next().unwrap_or(0.0));
                rows.extend(all.by_ref().take(count));
            }
        }
        let grid = self.setup.scenario.grid();
        for (clock, numbers) in due.iter().zip(numbers.chunks(detectors.max(1))) {
            let own = &self.members[0].stepper;
            let values: Vec<f64> = (taps.taps().iter().zip(numbers))
                .map(|(tap, rows)| {
                    if stepped {
                        own.record_of(grid, tap, rows)
                    } else {
                        own.observed_of(grid, tap, rows)
                    }
                })
                .collect();
            taps.push(clock, &values);
        }
    }

    /// Appends the observables that the parts have kept the rows of, at these clocks.
    fn record_observed(&mut self, clocks: &[RunClock], taps: &mut Taps) {
        let lines = self.lines();
        let mut mine: Vec<[f64; NUMBERS]> = Vec::new();
        for member in &mut self.members {
            let own = member.core.start * lines..member.core.end * lines;
            let all = member.taps.take_observed_rows();
            for rows in all.chunks_exact(member.rows * lines) {
                mine.extend_from_slice(&rows[own.clone()]);
            }
        }
        let due: Vec<&RunClock> = clocks.iter().filter(|clock| taps.is_observed(clock)).collect();
        if due.is_empty() {
            return;
        }
        let all = self.all(mine);
        // Part by part, and step by step in each of them.
        let mut steps: Vec<Vec<[f64; NUMBERS]>> = vec![Vec::new(); due.len()];
        let mut left = &all[..];
        for part in &self.plan.parts {
            for rows in &mut steps {
                let Some((own, others)) = left.split_at_checked(part.len() * lines) else {
                    return;
                };
                rows.extend_from_slice(own);
                left = others;
            }
        }
        let (grid, stepper) = (self.setup.scenario.grid(), &self.members[0].stepper);
        for (clock, rows) in due.into_iter().zip(&steps) {
            taps.push_observed(clock, stepper.sums_of(grid, rows));
        }
    }
}
