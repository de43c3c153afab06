//! One pass over the grid: sweeps that need only a pair of rows, or of planes, which stay in cache, and the phases.
//!
//! Bonds along y of one parity join rows in pairs, those along z planes; bonds along x stay in a row, those along x and y in a plane. So sweeps before and after one along y or z
//! go unit by unit with it. In a large pair of planes each row has them as soon as its neighbours allow ([`super::order`]), so that few rows are in use at a time. Every bond is turned by the operations that a sweep of its own would turn it by: the bits are the same.

#![allow(unsafe_code, reason = "drives the kernels; threads write rows of the same planes")]

use super::super::interaction::interact;
use super::super::naive::Turn;
use super::super::recorder::Recorder;
use super::bonds::OwnSweep;
use super::kernel::{Coupling, FLUX, IMAGINARY, Sites, multiply, turn_bonds, turn_own_bonds};
use super::layout::{BLOCK, Layout, Open, Planes, read_row};
use super::units::Units;
use crate::backend::simd::{Array, Kernel, Lanes, Level, Vectors};
use crate::backend::threads;
use crate::field::Real;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;

/// Fewest sites of a band, times the sweeps over each: the work of a thread in the time that it takes to wake one.
pub(super) const FEWEST_SITES: usize = 1 << 13;
/// Places of a segment, where rows are too few for the threads.
const SEGMENT: usize = 4096;

/// The bonds of a sweep.
#[derive(Clone, Copy)]
pub(super) struct Bonds<'a, T> {
    pub axis: usize,
    pub odd: bool,
    pub periodic: bool,
    pub turn: Turn<T>,
    /// Couplings of their own.
    pub own: Option<OwnSweep<'a, T>>,
}

/// The phases of a pass, after its bonds.
#[derive(Clone, Copy)]
pub(super) struct Phases<'a, T> {
    pub factors: &'a Planes<T>,
    /// g τ of the interaction, for the densities after and before the factors, where g is the same at all sites.
    pub interaction: [T; 2],
    /// g at every site in the planes of real parts, and τ, where layers set it.
    pub strengths: Option<(&'a Planes<T>, [T; 2])>,
}

/// Sweeps over pairs of rows, in this order.
pub(super) struct Work<'a, T> {
    /// Bonds along x.
    pub before: Vec<Bonds<'a, T>>,
    /// Bonds along y or z, if any, which say how rows pair up; without, units are single rows.
    pub between: Option<Bonds<'a, T>>,
    /// Bonds along x.
    pub after: Vec<Bonds<'a, T>>,
    pub phases: Option<Phases<'a, T>>,
    /// The step of the batch that these phases end, where it is read.
    pub seen: Option<(usize, &'a Recorder<T>)>,
}

/// A pass over a field.
pub(super) struct Pass<'a, T> {
    layout: &'a Layout,
    field: [*mut T; 4],
    open: &'a Open,
    /// e^{iϕ} of the x bonds, per y; empty without flux.
    peierls: &'a [Complex<T>],
    /// One after the other, to each unit.
    stages: Vec<Work<'a, T>>,
    units: Units<'a>,
    /// The order of stages within a unit ([`Units::order`]).
    order: Vec<[usize; 2]>,
    /// Pieces of a row that are done apart.
    segments: usize,
}

// SAFETY: every unit and segment reads and writes places of `field` that belong to no other one.
unsafe impl<T: Real> Sync for Pass<'_, T> {}

impl<'a, T: Vectors> Pass<'a, T> {
    pub(super) fn new(
        layout: &'a Layout,
        field: &mut Planes<T>,
        open: &'a Open,
        peierls: &'a [Complex<T>],
        work: Vec<Work<'a, T>>,
    ) -> Self {
        let between = |work: &Work<'a, T>| (work.between.as_ref()).map(|bonds| (bonds.axis, bonds.odd, bonds.periodic));
        let units = Units::new(layout, work.iter().map(between).collect());
        let segments = if units.are_whole() {
            1
        } else {
            layout.places().div_ceil(SEGMENT)
        };
        debug_assert!(segments == 1 || work.len() == 1 && work[0].sweeps() < 2, "rows are cut");
        Self {
            layout,
            field: field.planes.each_mut().map(|plane| plane.as_mut_ptr()),
            open,
            peierls,
            stages: work,
            order: units.order(4 * size_of::<T>()),
            units,
            segments,
        }
    }

    /// Rows or planes that whole units join, if units are whole ones.
    pub(super) fn lines(&self) -> Option<usize> {
        self.units.lines()
    }

    /// How many units there are.
    pub(super) fn units(&self) -> usize {
        self.units.count()
    }

    /// The lines of a unit.
    pub(super) fn members(&self, unit: usize) -> [Option<usize>; 2] {
        self.units.members(unit)
    }

    /// Sites, times the sweeps over each.
    pub(super) fn work(&self) -> usize {
        let sweeps: usize = self.stages.iter().map(Work::sweeps).sum();
        2 * self.layout.places() * self.layout.rows() * sweeps.max(1)
    }

    /// Runs it, in bands of adjacent units.
    pub(super) fn run(&self, level: Level) {
        let items = self.units.count() * self.segments;
        let bands = (self.work() / FEWEST_SITES).clamp(1, 4 * threads::count()).min(items);
        let item = |n: usize| Item {
            pass: 0,
            unit: n / self.segments,
            segment: n % self.segments,
        };
        let band = |n: usize| {
            let items: Vec<Item> = (n * items / bands..(n + 1) * items / bands).map(item).collect();
            take(std::slice::from_ref(self), &items, level);
        };
        if bands == 1 {
            band(0);
        } else {
            (0..bands).into_par_iter().with_max_len(1).for_each(band);
        }
    }

    /// Even (0) or odd (1) columns of a row.
    ///
    /// # Safety
    /// The row exists.
    #[inline(always)]
    unsafe fn columns(&self, row: usize, odd: usize) -> Sites<T> {
        let colour = self.layout.parity(row) ^ odd;
        let start = row * self.layout.stride;
        // SAFETY: every plane holds `stride` places a row.
        unsafe {
            Sites {
                re: self.field[2 * colour].add(start),
                im: self.field[2 * colour + 1].add(start),
            }
        }
    }

    fn places(&self, segment: usize) -> Range<usize> {
        let blocks = self.layout.places() / BLOCK;
        let start = |segment: usize| segment * blocks / self.segments * BLOCK;
        start(segment)..start(segment + 1)
    }

    /// Bonds and phases of a unit.
    ///
    /// # Safety
    /// The machine has L's instructions; nobody else is at this segment of the unit's rows.
    #[inline(always)]
    unsafe fn unit<L: Lanes<Element = T>>(&self, unit: usize, segment: usize) {
        let members = self.units.members(unit);
        for [stage, place] in &self.order {
            let all = *place..self.units.pairs(*stage, members);
            for pair in all.step_by(self.units.places(*stage)) {
                let rows = self.units.rows(*stage, members, pair);
                // SAFETY: the caller's; the rows are of the unit.
                unsafe { self.rows_of_unit::<L>(&self.stages[*stage], rows, segment) };
            }
        }
        if !self.order.is_empty() {
            return;
        }
        for (n, work) in self.stages.iter().enumerate() {
            for pair in 0..self.units.pairs(n, members) {
                let rows = self.units.rows(n, members, pair);
                // SAFETY: as above.
                unsafe { self.rows_of_unit::<L>(work, rows, segment) };
            }
        }
    }

    /// Bonds and phases of a pair of rows.
    #[inline(always)]
    unsafe fn rows_of_unit<L: Lanes<Element = T>>(&self, work: &Work<'_, T>, rows: [Option<usize>; 2], segment: usize) {
        let places = self.places(segment);
        // SAFETY: rows and segments lie in the grid; instructions as the caller promises.
        unsafe {
            for row in rows.into_iter().flatten() {
                for bonds in &work.before {
                    self.along_x::<L>(bonds, row, segment, places.clone());
                }
            }
            if let ([Some(lower), Some(upper)], Some(bonds)) = (rows, &work.between) {
                let coupling = Coupling::new(bonds.turn, None);
                if let Some(own) = &bonds.own {
                    self.own_between_rows::<L>([lower, upper], places.clone(), own, bonds.turn.imaginary);
                } else if bonds.turn.imaginary {
                    self.between_rows::<L, IMAGINARY>([lower, upper], places.clone(), &coupling);
                } else {
                    self.between_rows::<L, 0>([lower, upper], places.clone(), &coupling);
                }
            }
            for row in rows.into_iter().flatten() {
                for bonds in &work.after {
                    self.along_x::<L>(bonds, row, segment, places.clone());
                }
                if let Some(phases) = &work.phases {
                    self.finish::<L>(phases, row, places.clone());
                }
                if let Some((step, recorder)) = work.seen {
                    self.show(step, recorder, row);
                }
            }
        }
    }

    /// Lets detectors read a row as it leaves a step.
    #[inline(never)]
    unsafe fn show(&self, step: usize, recorder: &Recorder<T>, row: usize) {
        debug_assert!(self.segments == 1, "rows are cut");
        let (start, stride) = (row * self.layout.stride, self.layout.stride);
        let parity = self.layout.parity(row);
        // SAFETY: every plane holds `stride` places a row, and nobody else is at this one.
        let part = |plane: usize| unsafe { std::slice::from_raw_parts(self.field[plane].add(start), stride) };
        let [even, odd] = [parity, 1 - parity].map(|colour| [part(2 * colour), part(2 * colour + 1)]);
        recorder.see_row(step, row, &|x, out| read_row(even, odd, x, out));
    }

    /// Bonds along y or z: site by site between columns of the same number, which are of opposite colours.
    #[inline(always)]
    unsafe fn between_rows<L: Lanes<Element = T>, const MODE: u8>(
        &self,
        rows: [usize; 2],
        places: Range<usize>,
        coupling: &Coupling<T>,
    ) {
        let open = [self.open.row(rows[0]), self.open.row(rows[1])];
        let dirty = [open[0].1.as_ptr(), open[1].1.as_ptr()];
        for odd in 0..2 {
            // SAFETY: the caller's; the rows differ.
            unsafe {
                turn_bonds::<L, MODE>(
                    self.columns(rows[0], odd),
                    self.columns(rows[1], odd),
                    places.clone(),
                    [open[0].0[odd].as_ptr(), open[1].0[odd].as_ptr()],
                    dirty,
                    coupling,
                );
            }
        }
    }

    /// The same with couplings of their own.
    #[inline(always)]
    unsafe fn own_between_rows<L: Lanes<Element = T>>(
        &self,
        [lower, upper]: [usize; 2],
        places: Range<usize>,
        own: &OwnSweep<'_, T>,
        imaginary: bool,
    ) {
        for odd in 0..2 {
            // SAFETY: the caller's; the rows differ, and couplings are as long as rows.
            unsafe {
                let (lower_sites, upper) = (self.columns(lower, odd), self.columns(upper, odd));
                let (couplings, places) = (own.columns(lower, odd), places.clone());
                match (own.has_phases(), imaginary) {
                    (false, false) => turn_own_bonds::<L, 0>(lower_sites, upper, places, couplings),
                    (false, true) => turn_own_bonds::<L, IMAGINARY>(lower_sites, upper, places, couplings),
                    (true, false) => turn_own_bonds::<L, FLUX>(lower_sites, upper, places, couplings),
                    (true, true) => turn_own_bonds::<L, { FLUX | IMAGINARY }>(lower_sites, upper, places, couplings),
                }
            }
        }
    }

    /// Bonds along x with couplings of their own, see [`Self::along_x`].
    #[inline(always)]
    unsafe fn own_in_row<L: Lanes<Element = T>, const MODE: u8>(
        &self,
        bonds: &Bonds<'_, T>,
        own: &OwnSweep<'_, T>,
        row: usize,
        places: Range<usize>,
    ) {
        // SAFETY: the caller's; rows hold a block more than `places`, so that the next place is always there.
        unsafe {
            let (even, odd) = (self.columns(row, 0), self.columns(row, 1));
            if !bonds.odd {
                turn_own_bonds::<L, MODE>(even, odd, places, own.columns(row, 0));
                return;
            }
            let half = self.layout.width() / 2;
            let wraps = bonds.periodic && half > 0;
            let couplings = own.columns(row, 1);
            if !wraps || !places.contains(&(half - 1)) {
                turn_own_bonds::<L, MODE>(odd, even.from(1), places, couplings);
                return;
            }
            // The bond across the edge has the place of the last column, but not its neighbour: vectors up to it, single sites up to the edge, then the bond itself.
            let whole = places.start + (half - 1 - places.start) / L::N * L::N;
            turn_own_bonds::<L, MODE>(odd, even.from(1), places.start..whole, couplings);
            turn_own_bonds::<Array<T, 1>, MODE>(odd, even.from(1), whole..half - 1, couplings);
            let last = odd.from(half - 1);
            turn_own_bonds::<Array<T, 1>, MODE>(last, even, 0..1, couplings.of_place(half - 1));
        }
    }

    /// Bonds along x: even ones join the same place of both colours, odd ones a place of the odd columns with the next one of the
    /// even columns.
    #[inline(always)]
    unsafe fn along_x<L: Lanes<Element = T>>(
        &self,
        bonds: &Bonds<'_, T>,
        row: usize,
        segment: usize,
        places: Range<usize>,
    ) {
        if let Some(own) = &bonds.own {
            // SAFETY: the caller's.
            unsafe {
                match (own.has_phases(), bonds.turn.imaginary) {
                    (false, false) => self.own_in_row::<L, 0>(bonds, own, row, places),
                    (false, true) => self.own_in_row::<L, IMAGINARY>(bonds, own, row, places),
                    (true, false) => self.own_in_row::<L, FLUX>(bonds, own, row, places),
                    (true, true) => self.own_in_row::<L, { FLUX | IMAGINARY }>(bonds, own, row, places),
                }
            }
            return;
        }
        let coupling = Coupling::new(bonds.turn, self.peierls.get(self.layout.y(row)).copied());
        // SAFETY: the caller's.
        unsafe {
            match (self.peierls.is_empty(), bonds.turn.imaginary) {
                (true, false) => self.in_row::<L, 0>(bonds, row, segment, places, &coupling),
                (true, true) => self.in_row::<L, IMAGINARY>(bonds, row, segment, places, &coupling),
                (false, false) => self.in_row::<L, FLUX>(bonds, row, segment, places, &coupling),
                (false, true) => self.in_row::<L, { FLUX | IMAGINARY }>(bonds, row, segment, places, &coupling),
            }
        }
    }

    #[inline(always)]
    unsafe fn in_row<L: Lanes<Element = T>, const MODE: u8>(
        &self,
        bonds: &Bonds<'_, T>,
        row: usize,
        segment: usize,
        places: Range<usize>,
        coupling: &Coupling<T>,
    ) {
        let (open, dirty) = self.open.row(row);
        let dirty = [dirty.as_ptr(); 2];
        // SAFETY: the caller's; rows hold a block more than `places`, so that the next place is always there.
        unsafe {
            let (even, odd) = (self.columns(row, 0), self.columns(row, 1));
            if !bonds.odd {
                turn_bonds::<L, MODE>(even, odd, places, [open[0].as_ptr(), open[1].as_ptr()], dirty, coupling);
                return;
            }
            let shifted = [open[1].as_ptr(), open[0][1..].as_ptr()];
            turn_bonds::<L, MODE>(odd, even.from(1), places, shifted, dirty, coupling);
            let half = self.layout.width() / 2;
            if bonds.periodic && half > 0 && segment + 1 == self.segments {
                // From the last column round to the first, which no other odd bond touches.
                let ends = [open[1][half - 1..].as_ptr(), open[0].as_ptr()];
                let last = odd.from(half - 1);
                turn_bonds::<Array<T, 1>, MODE>(last, even, 0..1, ends, [&raw const ALWAYS; 2], coupling);
            }
        }
    }

    /// Phases of a row's places.
    #[inline(always)]
    unsafe fn finish<L: Lanes<Element = T>>(&self, phases: &Phases<'_, T>, row: usize, places: Range<usize>) {
        let start = row * self.layout.stride;
        for colour in 0..2 {
            // SAFETY: tables are as large as the field.
            unsafe {
                let sites = self.columns(row, colour ^ self.layout.parity(row));
                let [c, s] = [
                    &phases.factors.planes[2 * colour],
                    &phases.factors.planes[2 * colour + 1],
                ];
                multiply::<L>(sites, [c.as_ptr().add(start), s.as_ptr().add(start)], places.clone());
                if phases.strengths.is_none() && phases.interaction[0] == T::zero() {
                    continue;
                }
                let first = start + places.start;
                let factors = [&c[first..][..places.len()], &s[first..][..places.len()]];
                let re = std::slice::from_raw_parts_mut(sites.re.add(places.start), places.len());
                let im = std::slice::from_raw_parts_mut(sites.im.add(places.start), places.len());
                match phases.strengths {
                    Some((own, scale)) => {
                        let own = &own.planes[2 * colour][first..][..places.len()];
                        interact(re, im, factors, Some(own), scale);
                    }
                    None => interact(re, im, factors, None, phases.interaction),
                }
            }
        }
    }
}

/// The flag of a block whose bytes are to be looked at.
static ALWAYS: bool = true;

/// A segment of a unit of one of some passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    pass: usize,
    unit: usize,
    segment: usize,
}

impl Item {
    /// A whole unit.
    pub(super) fn new(pass: usize, unit: usize) -> Self {
        Self { pass, unit, segment: 0 }
    }
}

/// Takes items one after the other; no other thread may use them at the same time.
pub(super) fn take<T: Vectors>(passes: &[Pass<'_, T>], items: &[Item], level: Level) {
    level.run(Band { passes, items });
}

/// Items of one thread.
struct Band<'a, T> {
    passes: &'a [Pass<'a, T>],
    items: &'a [Item],
}

impl<T> Work<'_, T> {
    fn sweeps(&self) -> usize {
        self.before.len() + usize::from(self.between.is_some()) + self.after.len()
    }
}

impl<T: Vectors> Kernel<T> for Band<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        for item in self.items {
            // SAFETY: the level's instructions are there; items of all threads differ.
            unsafe { self.passes[item.pass].unit::<L>(item.unit, item.segment) };
        }
    }
}
