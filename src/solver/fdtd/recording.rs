//! The output of a pass for the detectors ([`super::recorder`]), row by row.

use super::copies::Writer;
use super::motion::{Across, Crossing, End, Motion, Part};
use super::reading::{Reading, Take};
use super::scheme::Sweep;
use super::share::{Shared, View};
use super::single_bonds::SingleBond;
use crate::field::Real;
use crate::solver::taps::Tap;
use std::ops::Range;

/// Writes the numbers of a pass, from several tasks.
pub(super) struct Recording<'a, T> {
    pub(super) readings: &'a [Reading],
    pub(super) first: &'a [[u32; 2]],
    pub(super) hears: &'a [bool],
    pub(super) taps: &'a [Tap],
    pub(super) sites: &'a [usize],
    pub(super) bonds: &'a [SingleBond],
    pub(super) across: &'a [Across<T>],
    pub(super) ends: &'a [End],
    pub(super) crossing: &'a [Crossing<T>],
    pub(super) copies: Writer<'a, T>,
    pub(super) due: &'a [bool],
    pub(super) any: &'a [[bool; 4]],
    pub(super) spacing: f64,
    pub(super) time_step: f64,
    pub(super) values: Shared<'a, f64>,
    pub(super) heard: Shared<'a, T>,
}

impl<T: Real> Recording<'_, T> {
    /// The readings and sites of a row.
    fn of_row(&self, row: usize) -> (&[Reading], Range<usize>) {
        match self.first.get(row..row + 2) {
            Some([[reading, site], [last, last_site]]) => (
                &self.readings[*reading as usize..*last as usize],
                *site as usize..*last_site as usize,
            ),
            _ => (&[], 0..0),
        }
    }

    /// Whether pressures are taken at a level.
    pub(super) fn takes_pressures(&self, level: usize) -> bool {
        self.any.get(level).is_some_and(|any| any[0])
    }

    /// Whether energy or flux is.
    pub(super) fn takes_motion(&self, level: usize) -> bool {
        self.any.get(level).is_some_and(|any| any[1])
    }

    /// Whether energies of the whole grid are taken from every site's own numbers.
    pub(super) fn takes_whole(&self, level: usize) -> bool {
        self.any.get(level).is_some_and(|any| any[2])
    }

    /// Takes what every site of a row adds to the energy of the whole grid ([`super::tally`]), which is the same at two levels.
    pub(super) fn take_whole(&self, sweep: &Sweep<T>, levels: Range<usize>, row: usize, sums: [f64; 2]) {
        let energy = sweep.energy_of_sums(row, sums, [self.spacing, self.time_step]);
        for level in levels {
            for reading in self.of_row(row).0 {
                if reading.take == Take::Whole && self.is_due(level, reading) {
                    self.put(level, reading, energy);
                }
            }
        }
    }

    fn is_due(&self, level: usize, reading: &Reading) -> bool {
        self.due[level * self.taps.len() + reading.tap]
    }

    #[allow(unsafe_code, reason = "see `Shared`")]
    fn put(&self, level: usize, reading: &Reading, value: f64) {
        let place = level * self.readings.len() + reading.place;
        debug_assert!(reading.place < self.readings.len(), "place {}", reading.place);
        // SAFETY: a row of a level is stepped once, by one task, and each of its readings has a place of its own.
        unsafe { self.values.slice(place..place + 1)[0] = value };
    }

    /// Takes the pressures of a row that was stepped to `level`.
    pub(super) fn take_pressures(&self, sweep: &Sweep<T>, level: usize, row: usize, sites: &[T]) {
        if !self.hears.get(row).copied().unwrap_or(false) {
            return;
        }
        let (readings, heard) = self.of_row(row);
        for reading in readings.iter().filter(|reading| reading.take.is_pressure()) {
            if !self.is_due(level, reading) {
                continue;
            }
            let part = &sites[reading.columns.clone()];
            let value = match reading.take {
                Take::Pressures(reduction) => (sweep.sums.reduce)(part, reduction),
                _ => part[0].wide(),
            };
            self.put(level, reading, value);
        }
        let nx = sweep.lattice.size[0];
        let step = (level - 1) * self.sites.len();
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: as in `put`: every site has a place of its own in every step.
        let kept = unsafe { self.heard.slice(step + heard.start..step + heard.end) };
        for (kept, site) in kept.iter_mut().zip(&self.sites[heard]) {
            *kept = sites[site % nx];
        }
    }

    /// Takes energy and flux of a row at `level`, where pⁿ and Φ⁺ are those of that level around it.
    pub(super) fn take_motion(&self, sweep: &Sweep<T>, level: usize, row: usize, [now, potential]: [View<'_, T>; 2]) {
        let (readings, _) = self.of_row(row);
        self.take_readings(
            sweep,
            level,
            readings.iter().filter(|reading| reading.take.moves()),
            [now, potential],
        );
    }

    /// Takes fluxes at `level` from copies of pⁿ and Φ⁺.
    pub(super) fn take_flows(&self, sweep: &Sweep<T>, level: usize, copies: [View<'_, T>; 2]) {
        let flows = self.readings.iter().filter(|reading| reading.take == Take::CopiedFlux);
        self.take_readings(sweep, level, flows, copies);
    }

    fn take_readings<'r>(
        &self,
        sweep: &Sweep<T>,
        level: usize,
        readings: impl Iterator<Item = &'r Reading>,
        [now, potential]: [View<'_, T>; 2],
    ) {
        let motion = Motion {
            sweep,
            now,
            potential,
            spacing: self.spacing,
            time_step: self.time_step,
        };
        for reading in readings {
            if !self.is_due(level, reading) {
                continue;
            }
            let part = Part {
                row: reading.row,
                columns: reading.columns.clone(),
                bonds: &self.bonds[reading.bonds.clone()],
                across: &self.across[reading.across.clone()],
                ends: &self.ends[reading.ends.clone()],
                crossing: &self.crossing[reading.crossing.clone()],
            };
            let value = match reading.take {
                Take::Flux | Take::CopiedFlux => motion.flux(&part),
                Take::EnergyBeside => motion.energy_beside(&part),
                _ => motion.energy(&part),
            };
            self.put(level, reading, value);
        }
    }
}
