//! Bonds that detectors add up one by one, listed before the first step: corrections of a row's energy for walls, and the flux through faces that vectors do not handle.

use super::energy::Levels;
use super::lattice::{Ghost, Lattice, ghost};
use super::scheme::Sweep;
use super::stencil::COEFFICIENTS;
use super::walls::{Term, for_each_crossing, is_wall};
use crate::field::Real;
use crate::grid::Edge;
use std::ops::Range;

/// A bond between two places of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct SingleBond {
    here: usize,
    there: usize,
    /// With which sign the value there counts; 0 for the zero outside a soft edge.
    sign: f64,
    /// Energies: weight and share of the bond over 4ρ. Fluxes: −C/ρ.
    weight: f64,
}

impl SingleBond {
    /// Its ends.
    pub(super) fn places(&self) -> [usize; 2] {
        [self.here, self.there]
    }

    /// Lets it lead between other places instead.
    pub(super) fn lead(&mut self, place: impl Fn(usize) -> usize) {
        (self.here, self.there) = (place(self.here), place(self.there));
    }

    /// What it has of the energy per a^(d−2).
    fn energy<T: Real>(&self, levels: &Levels<'_, T>) -> f64 {
        let ((p, q), (p1, q1)) = (levels.at(self.here), levels.at(self.there));
        self.weight * (self.sign * p1 - p) * (self.sign * q1 - q)
    }

    /// What flows along it per a^(d−1) and unit of time, at tₙ: mean pressure times slope, from both levels.
    fn flux<T: Real>(&self, levels: &Levels<'_, T>) -> f64 {
        let ((p, q), (p1, q1)) = (levels.at(self.here), levels.at(self.there));
        let pressure = ((p - q) + self.sign * (p1 - q1)) / (2.0 * levels.time_step);
        let slope = ((self.sign * p1 - p) + (self.sign * q1 - q)) / (2.0 * levels.spacing);
        self.weight * pressure * slope
    }
}

/// Their energy per a^d.
pub(super) fn energy_of<T: Real>(bonds: &[SingleBond], levels: &Levels<'_, T>) -> f64 {
    let sum: f64 = bonds.iter().map(|bond| bond.energy(levels)).sum();
    sum / (levels.spacing * levels.spacing)
}

/// The flux along them.
pub(super) fn flux_of<T: Real>(bonds: &[SingleBond], levels: &Levels<'_, T>) -> f64 {
    bonds.iter().map(|bond| bond.flux(levels)).sum()
}

impl<T: Real> Sweep<T> {
    /// The correction of the energy of some sites of a row, in which the plain stencil's bonds are counted for all sites, for its walls, in one medium. Empty far from walls.
    pub(super) fn wall_bonds(&self, row: usize, columns: &Range<usize>, bonds: &mut Vec<SingleBond>) {
        if !self.walls.concern(row) {
            return;
        }
        let Self { lattice, material, .. } = self;
        let [nx, ny, _] = lattice.size;
        let quarter = 1.0 / (4.0 * material.uniform_density);
        let first = lattice.sites(row).start;
        self.walls.for_each(lattice, row, |x, terms| {
            if columns.contains(&x) {
                // The bond to a site's own image has no energy.
                let terms = terms.iter().filter(|term| term.from != first + x || term.sign != 1.0);
                bonds.extend(terms.map(|Term { from, sign, weight }| {
                    // No other site counts the bond to the zero outside a soft edge.
                    let share = if *sign == 0.0 { 2.0 } else { 1.0 };
                    SingleBond {
                        here: first + x,
                        there: *from,
                        sign: *sign,
                        weight: share * weight * quarter,
                    }
                }));
            }
        });
        // A site in a wall has no energy, and bonds between such sites have none in any case.
        for x in columns.clone().filter(|x| self.mask[row * nx + x]) {
            let site = [x, row % ny, row / ny];
            for (axis, distance) in (0..lattice.rank).flat_map(|axis| (1..=lattice.half).map(move |d| (axis, d))) {
                let offset = distance.cast_signed();
                let near = [-offset, offset].map(|offset| site[axis].cast_signed() + offset);
                for at in near.map(|at| ghost(lattice.edges[axis], lattice.size[axis], at)) {
                    let (Ghost::Same(at) | Ghost::Negative(at)) = at else {
                        continue;
                    };
                    if !is_wall(lattice, &self.mask, site, axis, at) {
                        bonds.push(SingleBond {
                            here: first + x,
                            there: place(lattice, site, axis, at),
                            sign: 1.0,
                            weight: -COEFFICIENTS[lattice.half][distance] * quarter,
                        });
                    }
                }
            }
        }
    }

    /// The bonds across the faces between some sites of a row and the next ones along `axis`; at the last site none but round a ring.
    pub(super) fn crossing_bonds(
        &self,
        row: usize,
        columns: impl Iterator<Item = usize>,
        axis: usize,
        bonds: &mut Vec<SingleBond>,
    ) {
        let lattice = &self.lattice;
        let ny = lattice.size[1];
        for site in columns.map(|x| [x, row % ny, row / ny]) {
            if site[axis] + 1 >= lattice.size[axis] && lattice.edges[axis] != Edge::Periodic {
                continue;
            }
            for_each_crossing(lattice, &self.mask, site, axis, |bond| {
                let [here, there] = bond.ends.map(|at| place(lattice, site, axis, at));
                bonds.push(SingleBond {
                    here,
                    there,
                    sign: bond.sign,
                    weight: -COEFFICIENTS[lattice.half][bond.length] * self.bond(here, there),
                });
            });
        }
    }
}

/// Place in an array of site `at` of the line along `axis` through a site.
fn place(lattice: &Lattice, mut site: [usize; 3], axis: usize, at: usize) -> usize {
    site[axis] = at;
    lattice.index(site)
}
