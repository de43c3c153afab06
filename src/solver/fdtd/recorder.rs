//! Records of detectors and transducers, taken from each row while it is in cache.
//!
//! Pressures and their sums are taken from a row when it was stepped. Energy and flux need Φ⁺ and pⁿ of neighbours too: they are computed one step later, when the row's next
//! step reads those neighbours anyway, or by a sweep of their own after the last step. Every row or part of a row has a number of its own a step; a
//! detector's numbers are added up in the order of rows, so that records have the same bits however steps are fused.

use super::lattice::Lattice;
use super::recording::Recording;
use super::row_sums::Reduction;
use super::scheme::Sweep;
use super::share::Shared;
use super::single_bonds::SingleBond;
use crate::field::Real;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::taps::{RowNumbers, Tap};
use crate::solver::transducers::Act;
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of numbers that are kept until a pass ends.
const MOST: usize = 32 << 20;

/// The quantity that is taken from a part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// p of one site.
    Site,
    /// A sum over pressures.
    Pressures(Reduction),
    /// Energy of a row of a detector of the whole grid, from every site's own numbers ([`super::whole`]).
    Whole,
    /// Energy of sites, the bonds of walls apart.
    Energy,
    /// Energy site by site: in or beside walls in a medium that differs, or beside a soft edge.
    EnergyBeside,
    /// What flows to the next site along an axis.
    Flux(usize),
}

impl Take {
    /// Whether it takes Φ of neighbours.
    pub(super) fn moves(self) -> bool {
        matches!(self, Self::Energy | Self::EnergyBeside | Self::Flux(_))
    }

    /// Whether it takes pressures.
    pub(super) fn is_pressure(self) -> bool {
        matches!(self, Self::Site | Self::Pressures(_))
    }
}

/// A number that is taken from a row in every step.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) row: usize,
    pub(super) tap: usize,
    pub(super) take: Take,
    /// Those that vectors take.
    pub(super) columns: Range<usize>,
    /// Of [`Recorder::bonds`], what is added one by one.
    pub(super) bonds: Range<usize>,
    /// Its place among the numbers of a step.
    pub(super) place: usize,
}

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
    /// Whether energies of the whole grid are added up from every site's own numbers.
    own: bool,
    /// Steps of a pass.
    depth: usize,
    values: Vec<f64>,
    heard: Vec<T>,
    /// Which detectors' numbers are wanted, level by level.
    due: Vec<bool>,
    /// Whether any pressures are, any energy or flux, and any energy of the whole grid from every site's own numbers, level by level.
    any: Vec<[bool; 3]>,
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
        new.places = new.readings.iter().map(|reading| reading.row).collect();
        new.sort(&sweep.lattice);
        let step = new.readings.len() * size_of::<f64>() + new.sites.len() * size_of::<T>();
        // Pairs of levels stay together.
        new.depth = (MOST / step).saturating_sub(1).min(longest).max(1 + usize::from(own));
        new
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
        let mut add = |row: usize, columns: Range<usize>, take: Take| {
            if columns.is_empty() {
                return;
            }
            let (begin, mut inside) = (bonds.len(), columns.clone());
            match take {
                Take::Energy => sweep.wall_bonds(row, &columns, bonds),
                Take::Flux(axis) => {
                    inside = sweep.columns_across(row, &columns, axis);
                    let single = (columns.start..inside.start).chain(inside.end..columns.end);
                    sweep.crossing_bonds(row, single, axis, bonds);
                }
                _ => {}
            }
            readings.push(Reading {
                row,
                tap: n,
                take,
                columns: inside,
                bonds: begin..bonds.len(),
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
                Measure::Energy => {
                    for (columns, beside) in sweep.parts_of_row(row, columns.clone()) {
                        add(row, columns, if beside { Take::EnergyBeside } else { Take::Energy });
                    }
                }
                Measure::Flux => add(row, columns.clone(), Take::Flux(tap.across)),
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
        pairs.filter(|(_, pair)| pair[0] != pair[1]).map(|(row, _)| row)
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
        self.any.clear();
        self.any.extend((0..=steps).map(|level| {
            let due = self.due[level * taps..].iter().zip(&self.taps);
            let mut any = [!self.sites.is_empty(), false, false];
            for (_, tap) in due.filter(|(due, _)| **due) {
                any[kind(tap, self.own)] = true;
            }
            any
        }));
    }

    /// Whether Φ of the level before the last is needed when its successor exists.
    pub(super) fn needs_both_potentials(&self) -> bool {
        let taps = self.taps.len();
        let before_last = self.due.len().saturating_sub(taps);
        (0..before_last).any(|n| self.due[n] && kind(&self.taps[n % taps], self.own) == 1)
    }

    /// The writer of the numbers of a pass.
    pub(super) fn recording(&mut self, spacing: f64, time_step: f64) -> Recording<'_, T> {
        Recording {
            readings: &self.readings,
            first: &self.first,
            hears: &self.hears,
            taps: &self.taps,
            sites: &self.sites,
            whole: &self.whole,
            bonds: &self.bonds,
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
    fn seen(&self, level: usize, n: usize, keeps_rows: bool) -> Seen {
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

/// Whether a detector takes the energy of the whole grid.
pub(super) fn is_whole(tap: &Tap) -> bool {
    tap.whole && tap.measure == Measure::Energy
}

/// Which of what is recorded a detector takes, as in [`Recorder::any`].
fn kind(tap: &Tap, own: bool) -> usize {
    match (tap.moves(), own && is_whole(tap)) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

/// What a record has of a detector.
enum Seen {
    Value(f64),
    Rows(RowNumbers),
}

/// A record that may wait for what is taken one step later.
pub(super) struct Record {
    clock: RunClock,
    values: Vec<Option<Seen>>,
    /// Detectors that are recorded at this step and have no value yet.
    waiting: Vec<bool>,
}

impl Record {
    /// The record of a level, with its clock.
    pub(super) fn new<T: Real>(recorder: &Recorder<T>, level: usize, clock: RunClock, taps: &Taps) -> Self {
        let due = |n: usize| taps.is_due(n, &clock);
        let all = 0..recorder.taps.len();
        Self {
            values: all
                .clone()
                .map(|n| (due(n) && !recorder.taps[n].moves()).then(|| recorder.seen(level, n, taps.keeps_rows())))
                .collect(),
            waiting: all.map(|n| due(n) && recorder.taps[n].moves()).collect(),
            clock,
        }
    }

    /// Whether a value is missing.
    pub(super) fn waits(&self) -> bool {
        self.waiting.contains(&true)
    }

    /// Whether that of a detector is.
    pub(super) fn waits_for(&self, n: usize) -> bool {
        self.waiting[n]
    }

    /// Appends it to the records, with what was missing from `level`.
    pub(super) fn close<T: Real>(mut self, recorder: &Recorder<T>, level: usize, taps: &mut Taps) {
        for (n, value) in self.values.iter_mut().enumerate() {
            if self.waiting[n] {
                *value = Some(recorder.seen(level, n, taps.keeps_rows()));
            }
        }
        if taps.keeps_rows() {
            taps.push_rows(&self.clock, |n, _| match self.values[n].take() {
                Some(Seen::Rows(rows)) => rows,
                _ => Vec::new(),
            });
            return;
        }
        let value = |seen: &Option<Seen>| {
            if let Some(Seen::Value(value)) = seen {
                *value
            } else {
                f64::NAN
            }
        };
        let values: Vec<f64> = self.values.iter().map(value).collect();
        taps.push(&self.clock, &values);
    }
}

/// The sites that transducers hear.
fn listeners(taps: &Taps) -> Arc<[usize]> {
    let own = taps.transducers().filter(|own| own.act() == Act::Record);
    own.map_or_else(|| Arc::from([]), |own| Arc::clone(own.sites()))
}
