//! Copies of what fluxes read: the pressure of a few sites after every step.
//!
//! A flux through a line or a plane needs Φ⁺ beside it alone. Where that is a small part of a grid, its pressures are copied in every step, and when a pass ends Φ⁺ of these sites goes through the same steps
//! and the fluxes are taken from it, with the bits that they have from the whole arrays. Then no Φ⁺ of two levels is read and written, and that of the grid may grow in every second step ([`super::potential`]).

use super::lattice::Lattice;
use super::motion::Crossing;
use super::reading::{Reading, Take};
use super::row_sums::Follow;
use super::scheme::Sweep;
use super::share::{Shared, View};
use super::single_bonds::SingleBond;
use crate::field::Real;

/// Most sites that are copied, and the part of a grid that they are at most.
const MOST: usize = 4096;
const PART: usize = 16;

/// The copies of a pass.
pub(super) struct Copies<T> {
    /// The places in an array of what is copied, ascending.
    places: Vec<usize>,
    /// Where those of a row begin, for one row more than there are.
    first: Vec<u32>,
    /// Where the sites of the first row begin, and values from a row to the next.
    rows: [usize; 2],
    /// pⁿ, level by level.
    pressures: Vec<T>,
    /// Φ⁺ of one level.
    potential: Vec<T>,
    /// Whether fluxes are taken from them, also where these read nothing.
    taken: bool,
}

impl<T> Default for Copies<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            first: Vec::new(),
            rows: [0, 1],
            pressures: Vec::new(),
            potential: Vec::new(),
            taken: false,
        }
    }
}

impl<T: Real> Copies<T> {
    /// What all fluxes among some readings take, whose bonds then lead from copy to copy; none where that is too much.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32")]
    pub(super) fn new(
        lattice: &Lattice,
        readings: &mut [Reading],
        bonds: &mut [SingleBond],
        crossing: &mut [Crossing<T>],
    ) -> Self {
        let flows = || readings.iter().filter(|reading| reading.take == Take::Flux);
        let read: usize = flows()
            .map(|flow| 2 * (flow.bonds.len() + flow.crossing.len() * flow.columns.len()))
            .sum();
        let sites: usize = lattice.size.iter().product();
        // A wide stencil reads a site for several bonds.
        if read > 20 * MOST {
            return Self::default();
        }
        let mut places = Vec::with_capacity(read);
        for flow in flows() {
            places.extend(bonds[flow.bonds.clone()].iter().flat_map(SingleBond::places));
            let ends = crossing[flow.crossing.clone()]
                .iter()
                .flat_map(|crossing| crossing.values);
            places.extend(ends.flat_map(|end| end..end + flow.columns.len()));
        }
        places.sort_unstable();
        places.dedup();
        if places.len() > MOST.min(sites / PART) {
            return Self::default();
        }
        // Neighbours in a row stay neighbours.
        let place = |of: usize| places.partition_point(|other| *other < of);
        for flow in readings.iter_mut().filter(|reading| reading.take == Take::Flux) {
            flow.take = Take::CopiedFlux;
            bonds[flow.bonds.clone()].iter_mut().for_each(|bond| bond.lead(place));
            for crossing in &mut crossing[flow.crossing.clone()] {
                crossing.values = crossing.values.map(place);
            }
        }
        let first = (0..=lattice.rows()).map(|row| place(lattice.sites(row).start) as u32);
        Self {
            first: if places.is_empty() { Vec::new() } else { first.collect() },
            rows: [lattice.sites(0).start, lattice.stride],
            places,
            pressures: Vec::new(),
            potential: Vec::new(),
            taken: true,
        }
    }

    /// Whether fluxes are taken from copies.
    pub(super) fn are_taken(&self) -> bool {
        self.taken
    }

    /// The rows in which something is.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        let pairs = self.first.windows(2).enumerate();
        pairs.filter(|(_, pair)| pair[0] != pair[1]).map(|(row, _)| row)
    }

    /// Makes room for so many levels.
    pub(super) fn begin(&mut self, levels: usize) {
        self.pressures.resize(levels * self.places.len(), T::zero());
    }

    /// Copies pⁿ and Φ⁺ of the first level, if there is room.
    pub(super) fn copy(&mut self, [now, potential]: [&[T]; 2]) {
        if self.pressures.is_empty() {
            return;
        }
        for (copy, place) in self.pressures.iter_mut().zip(&self.places) {
            *copy = now[*place];
        }
        self.potential.clear();
        self.potential.extend(self.places.iter().map(|place| potential[*place]));
    }

    /// For the pressures of rows that are stepped.
    pub(super) fn writer(&mut self) -> Writer<'_, T> {
        Writer {
            places: &self.places,
            first: &self.first,
            rows: self.rows,
            pressures: Shared::new(&mut self.pressures),
        }
    }

    /// pⁿ and Φ⁺ of level `n`; to be asked for one level after the other.
    pub(super) fn level(&mut self, sweep: &Sweep<T>, n: usize, time_step: f64) -> [View<'_, T>; 2] {
        let sites = self.places.len();
        let pressure = &self.pressures[n * sites..(n + 1) * sites];
        if n > 0 {
            (sweep.sums.follow)(Follow {
                pressure,
                peak: None,
                potential: Some((None, &mut self.potential, T::of(time_step), None)),
            });
        }
        [View::of(pressure), View::of(&self.potential)]
    }
}

/// Writes copies, from several tasks.
pub(super) struct Writer<'a, T> {
    places: &'a [usize],
    first: &'a [u32],
    rows: [usize; 2],
    pressures: Shared<'a, T>,
}

impl<T: Real> Writer<'_, T> {
    /// Whether there are any in this pass.
    pub(super) fn writes(&self) -> bool {
        self.pressures.len() > 0
    }

    /// Copies what is read of a row that was stepped to `level`.
    pub(super) fn take(&self, level: usize, row: usize, sites: &[T]) {
        let Some([begin, end]) = self.first.get(row..row + 2) else {
            return;
        };
        let (begin, end) = (*begin as usize, *end as usize);
        let from = level * self.places.len();
        debug_assert!(begin <= end && from + end <= self.pressures.len(), "level {level}");
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: a row of a level is stepped once, by one task, and each of its sites has a place of its own.
        let copies = unsafe { self.pressures.slice(from + begin..from + end) };
        let start = self.rows[0] + row * self.rows[1];
        for (copy, place) in copies.iter_mut().zip(&self.places[begin..end]) {
            *copy = sites[place - start];
        }
    }
}
