//! Records of detectors and transducers, taken from each row while it is in cache.
//!
//! Pressures and their sums are taken from a row when it was stepped. Energy and flux need Φ⁺ and pⁿ of neighbours too: they are computed one step later, when the row's next
//! step reads those neighbours anyway, or by a sweep of their own after the last step. Every row or part of a row has a number of its own a step; a
//! detector's numbers are added up in the order of rows, so that records have the same bits however steps are fused.

use super::copies::Copies;
use super::lattice::Lattice;
use super::motion::{Across, Crossing, End};
use super::reading::{Reading, Take};
use super::record::{Record, Seen};
use super::recording::Recording;
use super::row_sums::Reduction;
use super::scheme::Sweep;
use super::share::Shared;
use super::single_bonds::SingleBond;
use crate::field::Real;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::taps::Tap;
use crate::solver::transducers::Act;
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of numbers that are kept until a pass ends.
const MOST: usize = 32 << 20;

/// The readings of the rows of a lattice, with memory for the numbers of some steps.
pub(super) struct Recorder<T> {
    taps: Vec<Tap>,
    /// Sites that transducers hear, ascending.
    sites: Arc<[usize]>,
    /// By rows.
    readings: Vec<Reading>,
    /// Where the readings of a row begin, and its sites; for one row more than there are. Empty without any.
    first: Vec<[u32; 2]>,
    /// Rows of which pressures are taken. Empty without any readings or sites.
    hears: Vec<bool>,
    /// Where the numbers of a detector begin among those of a step.
    of_tap: Vec<usize>,
    /// The row of each number.
    places: Vec<usize>,
    /// Rows whose energy the vectors add up as a whole.
    whole: Vec<bool>,
    /// Bonds that are added one by one.
    bonds: Vec<SingleBond>,
    /// Bonds of parts of rows to other rows and at their ends: relative to a part's place, and the same of many.
    across: Vec<Across<T>>,
    ends: Vec<End>,
    /// Bonds across faces, from as many sites to as many.
    crossing: Vec<Crossing<T>>,
    /// What fluxes read, if that is little.
    copies: Copies<T>,
    /// Whether energies of the whole grid are added up from every site's own numbers.
    own: bool,
    /// Steps of a pass.
    depth: usize,
    values: Vec<f64>,
    heard: Vec<T>,
    /// Which detectors' numbers are wanted, level by level.
    due: Vec<bool>,
    /// Whether any pressures are, any energy or flux, any energy of the whole grid from every site's own numbers, and any flux from copies, level by level.
    any: Vec<[bool; 4]>,
    /// Room for the values of a level.
    seen: Vec<f64>,
}

impl<T: Real> Recorder<T> {
    /// The readings of `taps` from the rows of a sweep, for passes of at most `longest` steps. `own`: whether energies of the whole grid may be added up from every site's own numbers.
    pub(super) fn new(sweep: &Sweep<T>, taps: &Taps, longest: usize, own: bool) -> Self {
        let mut new = Self {
            taps: taps.taps().to_vec(),
            sites: listeners(taps),
            readings: Vec::new(),
            first: Vec::new(),
            hears: Vec::new(),
            of_tap: vec![0],
            places: Vec::new(),
            whole: Vec::new(),
            bonds: Vec::new(),
            across: Vec::new(),
            ends: Vec::new(),
            crossing: Vec::new(),
            copies: Copies::default(),
            own,
            depth: longest,
            values: Vec::new(),
            heard: Vec::new(),
            due: Vec::new(),
            any: Vec::new(),
            seen: Vec::new(),
        };
        if taps.ask_for_velocity() {
            new.whole = (0..sweep.lattice.rows()).map(|row| sweep.is_whole(row)).collect();
        }
        for n in 0..new.taps.len() {
            new.read(sweep, n);
            new.of_tap.push(new.readings.len());
        }
        if new.readings.is_empty() && new.sites.is_empty() {
            return new;
        }
        new.copies = Copies::new(&sweep.lattice, &mut new.readings, &mut new.bonds, &mut new.crossing);
        new.places = new.readings.iter().map(|reading| reading.row).collect();
        new.sort(&sweep.lattice);
        let step = new.readings.len() * size_of::<f64>() + new.sites.len() * size_of::<T>();
        // Pairs of levels stay together.
        new.depth = (MOST / step).saturating_sub(1).min(longest).max(1 + usize::from(own));
        new
    }

    /// The detectors.
    pub(super) fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// Whether it was made for these detectors and transducers, and adds up energies of the whole grid so.
    pub(super) fn fits(&self, taps: &Taps, own: bool) -> bool {
        self.taps == taps.taps() && self.sites == listeners(taps) && self.own == own
    }

    /// Whether energies of the whole grid are added up from every site's own numbers.
    pub(super) fn own(&self) -> bool {
        self.own
    }

    /// Steps that there is room for.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Adds the readings of a detector.
    fn read(&mut self, sweep: &Sweep<T>, n: usize) {
        let (tap, own) = (self.taps[n].clone(), self.own);
        let ny = sweep.lattice.size[1];
        let (readings, bonds) = (&mut self.readings, &mut self.bonds);
        let (all_across, all_ends, whole) = (&mut self.across, &mut self.ends, &self.whole);
        let crossing = &mut self.crossing;
        let (mut across, mut ends) = (0..0, 0..0);
        let mut add = |row: usize, columns: Range<usize>, take: Take| {
            if columns.is_empty() {
                return;
            }
            let (begin, first_crossing, mut inside) = (bonds.len(), crossing.len(), columns.clone());
            match take {
                Take::Energy => {
                    sweep.wall_bonds(row, &columns, bonds);
                    across = shared(all_across, &across, |all| sweep.bonds_across(row, &tap, whole, all));
                    ends = shared(all_ends, &ends, |all| sweep.bonds_at_ends(row, &columns, all));
                }
                Take::Flux => {
                    let axis = tap.across;
                    inside = if sweep.sums_wide {
                        columns.start..columns.start
                    } else {
                        sweep.columns_across(row, &columns, axis)
                    };
                    let single = (columns.start..inside.start).chain(inside.end..columns.end);
                    sweep.crossing_bonds(row, single, axis, bonds);
                    sweep.crossing(row, &inside, axis, crossing);
                }
                _ => {}
            }
            readings.push(Reading {
                row,
                tap: n,
                take,
                columns: inside,
                bonds: begin..bonds.len(),
                across: across.clone(),
                ends: ends.clone(),
                crossing: first_crossing..crossing.len(),
                place: readings.len(),
            });
        };
        if !tap.shares.is_empty() {
            for ([i, j, k], _) in &tap.shares {
                add(j + ny * k, *i..i + 1, Take::Site);
            }
            return;
        }
        let columns = tap.lo[0]..tap.hi[0];
        let rows = (tap.lo[2]..tap.hi[2]).flat_map(|k| (tap.lo[1]..tap.hi[1]).map(move |j| j + ny * k));
        if tap.measure == Measure::Value {
            if let Some(row) = rows.take(1).next().filter(|_| !columns.is_empty()) {
                add(row, columns.start..columns.start + 1, Take::Site);
            }
            return;
        }
        for row in rows {
            match tap.measure {
                Measure::Energy if own && is_whole(&tap) => add(row, columns.clone(), Take::Whole),
                Measure::Energy if sweep.sums_wide => add(row, columns.clone(), Take::EnergyBeside),
                Measure::Energy => {
                    for (columns, beside) in sweep.parts_of_row(row, columns.clone()) {
                        add(row, columns, if beside { Take::EnergyBeside } else { Take::Energy });
                    }
                }
                Measure::Flux => add(row, columns.clone(), Take::Flux),
                Measure::Peak => add(row, columns.clone(), Take::Pressures(Reduction::Largest)),
                Measure::Probability => add(row, columns.clone(), Take::Pressures(Reduction::Squares)),
                Measure::Value | Measure::Velocity | Measure::Pressure => {
                    add(row, columns.clone(), Take::Pressures(Reduction::Sum));
                }
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "fewer readings than 2^32")]
    fn sort(&mut self, lattice: &Lattice) {
        self.readings.sort_by_key(|reading| reading.row);
        self.hears = vec![false; lattice.rows()];
        let pressures = self.readings.iter().filter(|reading| reading.take.is_pressure());
        let rows = pressures.map(|reading| reading.row);
        for row in rows.chain(self.sites.iter().map(|site| site / lattice.size[0])) {
            self.hears[row] = true;
        }
        let (mut reading, mut site) = (0, 0);
        for row in 0..=lattice.rows() {
            while self.readings.get(reading).is_some_and(|reading| reading.row < row) {
                reading += 1;
            }
            while self.sites.get(site).is_some_and(|site| site / lattice.size[0] < row) {
                site += 1;
            }
            self.first.push([reading as u32, site as u32]);
        }
    }

    /// The rows from which something is taken.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        let pairs = self.first.windows(2).enumerate();
        let own = pairs.filter(|(_, pair)| pair[0] != pair[1]).map(|(row, _)| row);
        own.chain(self.copies.rows())
    }

    /// Which of what is recorded a detector takes, as in [`Recorder::any`].
    fn kind(&self, tap: &Tap) -> usize {
        match (tap.moves(), tap.measure == Measure::Flux) {
            (false, _) => 0,
            (true, true) if self.copies.are_taken() => 3,
            (true, false) if self.own && is_whole(tap) => 2,
            (true, _) => 1,
        }
    }

    /// Whether a detector reads Φ⁺ of the whole grid one step later.
    pub(super) fn follows(&self, n: usize) -> bool {
        self.kind(&self.taps[n]) == 1
    }

    /// Makes room for a pass of `steps` steps. `due(level, detector)` says whose numbers are wanted at level 0, where the pass begins, and at those after it.
    pub(super) fn begin(&mut self, steps: usize, due: impl Fn(usize, usize) -> bool) {
        let taps = self.taps.len();
        self.values.resize(self.readings.len() * (steps + 1), 0.0);
        self.heard.resize(self.sites.len() * steps, T::zero());
        self.due.clear();
        self.due.extend(
            (0..=steps)
                .flat_map(|level| (0..taps).map(move |tap| (level, tap)))
                .map(|(level, tap)| due(level, tap)),
        );
        let mut all = std::mem::take(&mut self.any);
        all.clear();
        all.extend((0..=steps).map(|level| {
            let due = self.due[level * taps..].iter().zip(&self.taps);
            let mut any = [!self.sites.is_empty(), false, false, false];
            for (_, tap) in due.filter(|(due, _)| **due) {
                any[self.kind(tap)] = true;
            }
            any
        }));
        self.any = all;
        let copied = self.any.iter().any(|any| any[3]);
        self.copies.begin(if copied { steps + 1 } else { 0 });
    }

    /// Steps of the pass, and whether energy or flux is wanted of a level of it.
    pub(super) fn motion(&self) -> (usize, impl Fn(usize) -> bool) {
        (self.any.len().saturating_sub(1), |level| self.any[level][1])
    }

    /// Copies what fluxes read of pⁿ and Φ⁺ of the level where a pass begins.
    pub(super) fn copy(&mut self, levels: [&[T]; 2]) {
        self.copies.copy(levels);
    }

    /// Takes fluxes at some levels of a pass from copies, the first of which is where it began.
    pub(super) fn take_flows(&mut self, sweep: &Sweep<T>, (spacing, time_step): (f64, f64), levels: Range<usize>) {
        if !self.any[levels.clone()].iter().any(|any| any[3]) {
            return;
        }
        let mut copies = std::mem::take(&mut self.copies);
        let recording = self.recording(spacing, time_step);
        for (n, level) in levels.enumerate() {
            recording.take_flows(sweep, level, copies.level(sweep, n, time_step));
        }
        self.copies = copies;
    }

    /// The writer of the numbers of a pass.
    pub(super) fn recording(&mut self, spacing: f64, time_step: f64) -> Recording<'_, T> {
        Recording {
            readings: &self.readings,
            first: &self.first,
            hears: &self.hears,
            taps: &self.taps,
            sites: &self.sites,
            bonds: &self.bonds,
            across: &self.across,
            ends: &self.ends,
            crossing: &self.crossing,
            copies: self.copies.writer(),
            due: &self.due,
            any: &self.any,
            spacing,
            time_step,
            values: Shared::new(&mut self.values),
            heard: Shared::new(&mut self.heard),
        }
    }

    /// What a detector has seen at a level, in the order of rows.
    fn numbers(&self, level: usize, n: usize) -> &[f64] {
        let step = level * self.readings.len();
        &self.values[step + self.of_tap[n]..step + self.of_tap[n + 1]]
    }

    /// What a detector has seen at a level: its value, or in a part of a grid its rows.
    pub(super) fn seen(&self, level: usize, n: usize, keeps_rows: bool) -> Seen {
        let numbers = self.numbers(level, n);
        if keeps_rows {
            let rows = self.places[self.of_tap[n]..self.of_tap[n + 1]].iter();
            Seen::Rows(rows.copied().zip(numbers.iter().copied()).collect())
        } else {
            Seen::Value(self.taps[n].value_of_rows(numbers))
        }
    }

    /// Appends the record of a level that does not wait for numbers.
    pub(super) fn record(&mut self, level: usize, clock: RunClock, taps: &mut Taps) {
        if taps.keeps_rows() {
            Record::new(self, level, clock, taps).close(self, level, taps);
            return;
        }
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        seen.extend((self.taps.iter().enumerate()).map(|(n, tap)| {
            if taps.is_due(n, &clock) {
                tap.value_of_rows(self.numbers(level, n))
            } else {
                Taps::ABSENT
            }
        }));
        taps.push(&clock, &seen);
        self.seen = seen;
    }

    /// Appends what transducers recorded in the pass, one step after the other.
    pub(super) fn hand_over(&self, taps: &mut Taps) {
        if let Some(own) = taps.transducers_mut().as_mut().filter(|own| own.act() == Act::Record) {
            let heard: Vec<Complex64> = self.heard.iter().map(|value| Complex64::from(value.wide())).collect();
            own.hear(&heard);
        }
    }
}

/// Where among `all` stands what `put` appends: at `before`, if that is the same.
fn shared<B: PartialEq>(all: &mut Vec<B>, before: &Range<usize>, put: impl FnOnce(&mut Vec<B>)) -> Range<usize> {
    let begin = all.len();
    put(all);
    if all[before.clone()] == all[begin..] {
        all.truncate(begin);
        return before.clone();
    }
    begin..all.len()
}

/// Whether a detector takes the energy of the whole grid.
pub(super) fn is_whole(tap: &Tap) -> bool {
    tap.whole && tap.measure == Measure::Energy
}

/// The sites that transducers hear.
fn listeners(taps: &Taps) -> Arc<[usize]> {
    let own = taps.transducers().filter(|own| own.act() == Act::Record);
    own.map_or_else(|| Arc::from([]), |own| Arc::clone(own.sites()))
}
