//! Energy and flux of parts of rows ([`super::energy`]), in vectors.
//!
//! A bond is added up once where both of its sites belong to the detector, by the lower of them, and half by either where they do not, or where one of them
//! stands beside a wall.

use super::energy::Levels;
use super::lattice::Ghost;
use super::row_sums::{Bond, EnergyPart, FluxBond};
use super::scheme::Sweep;
use super::share::View;
use super::stencil::COEFFICIENTS;
use crate::field::Real;
use crate::grid::Edge;
use crate::solver::taps::Tap;
use std::ops::Range;

/// Most bonds of a site to other rows: up to four along each of two axes, to either side.
const MOST_BONDS: usize = 16;

/// Most parts that walls may cut a row into, for each so many sites.
const SITES_OF_PART: usize = 32;

/// pⁿ and Φ⁺ of one level, around the rows that are asked for.
pub(super) struct Motion<'a, T> {
    pub(super) sweep: &'a Sweep<T>,
    /// [`Sweep::is_whole`], by row.
    pub(super) whole: &'a [bool],
    pub(super) now: View<'a, T>,
    pub(super) potential: View<'a, T>,
    /// a.
    pub(super) spacing: f64,
    /// Δt with its sign.
    pub(super) time_step: f64,
}

/// Sites of a row that a detector reads.
pub(super) struct Part<'a> {
    pub(super) row: usize,
    pub(super) columns: Range<usize>,
    pub(super) tap: &'a Tap,
}

impl<T: Real> Sweep<T> {
    /// Whether all bonds of a row are those of the stencil: no wall stands in it or beside it, and no soft edge within reach across it.
    pub(super) fn is_whole(&self, row: usize) -> bool {
        !self.walls.concern(row) && !self.is_beside_soft_edge(row)
    }

    fn is_beside_soft_edge(&self, row: usize) -> bool {
        let lattice = &self.lattice;
        let [j, k] = [row % lattice.size[1], row / lattice.size[1]];
        let half = lattice.half.cast_signed();
        (1..lattice.rank)
            .filter(|axis| lattice.edges[*axis] == Edge::Soft)
            .flat_map(|axis| (-half..=half).map(move |offset| (axis, offset)))
            .any(|(axis, offset)| !matches!(lattice.neighbour_row(j, k, axis, offset), Ghost::Same(_)))
    }

    /// Columns of a row cut where walls begin and end; whether a part is in or beside one.
    pub(super) fn parts_of_row(&self, row: usize, columns: Range<usize>) -> Vec<(Range<usize>, bool)> {
        if self.is_whole(row) || columns.is_empty() {
            return vec![(columns, false)];
        }
        if self.is_beside_soft_edge(row) {
            return vec![(columns, true)];
        }
        let nx = self.lattice.size[0];
        let mut beside = self.mask[row * nx..(row + 1) * nx].to_vec();
        for x in self.walls.beside(row) {
            beside[*x] = true;
        }
        let mut parts: Vec<(Range<usize>, bool)> = Vec::new();
        for x in columns.clone() {
            match parts.last_mut() {
                Some((part, kind)) if *kind == beside[x] => part.end = x + 1,
                _ => parts.push((x..x + 1, beside[x])),
            }
        }
        if parts.len() > 2 + columns.len() / SITES_OF_PART {
            return vec![(columns, true)];
        }
        parts
    }
}

impl<'a, T: Real> Motion<'a, T> {
    /// The energy of a part far from walls, per a^d.
    pub(super) fn energy(&self, part: &Part<'_>) -> f64 {
        let Sweep { lattice, material, .. } = self.sweep;
        let (half, n) = (lattice.half, part.columns.len());
        let first = self.first(part.row, part);
        let ends = first - half..first + n + half;
        let dense = !material.density.is_empty();
        // 1/ρ, or the 2 of 2/(ρ + ρ′).
        let inverse = if dense { 2.0 } else { 1.0 / material.uniform_density };
        let weight = |d: usize, share: f64| T::of(COEFFICIENTS[half][d] * share * inverse);
        let mut along = [T::zero(); 4];
        for (d, along) in along[..half].iter_mut().enumerate() {
            *along = weight(d + 1, 0.5);
        }
        let mut across: [Bond<'_, T>; MOST_BONDS] = [Bond::default(); MOST_BONDS];
        let mut bonds = 0;
        self.across(part, |other, d, share| {
            let first = self.first(other, part);
            across[bonds] = Bond {
                pressure: self.now.slice(first..first + n),
                potential: self.potential.slice(first..first + n),
                density: dense.then(|| &material.density[first..first + n]),
                weight: weight(d, share),
            };
            bonds += 1;
        });
        let kappa = (!material.squares.is_empty()).then(|| &material.squares[first..first + n]);
        let compression = match (kappa, dense) {
            (None, _) => 0.5 / (material.square.wide() * material.uniform_density),
            (Some(_), false) => 0.5 / material.uniform_density,
            (Some(_), true) => 0.5,
        };
        let sum = (self.sweep.sums.energy)(&EnergyPart {
            pressure: self.now.slice(ends.clone()),
            potential: self.potential.slice(ends.clone()),
            density: dense.then(|| &material.density[ends]),
            kappa,
            compression: T::of(compression),
            along: &along[..half],
            across: &across[..bonds],
            rate: T::of(1.0 / self.time_step),
        });
        let ratio = self.time_step / self.spacing;
        (sum + self.ends(part, first)) * ratio * ratio
    }

    /// Place of a part's first column in a row.
    fn first(&self, row: usize, part: &Part<'_>) -> usize {
        self.sweep.lattice.sites(row).start + part.columns.start
    }

    /// Calls `visit(row, distance, share)` for the bonds to other rows: ½ for a whole one, ¼ for a half.
    fn across(&self, part: &Part<'_>, mut visit: impl FnMut(usize, usize, f64)) {
        let lattice = &self.sweep.lattice;
        let ny = lattice.size[1];
        let at = [part.row % ny, part.row / ny];
        let belongs = |axis: usize, place: Option<usize>, row: usize| {
            place.is_some_and(|place| (part.tap.lo[axis]..part.tap.hi[axis]).contains(&place))
                && self.whole[part.row]
                && self.whole[row]
        };
        for axis in 1..lattice.rank {
            for d in 1..=lattice.half {
                for up in [false, true] {
                    let offset = if up { d.cast_signed() } else { -d.cast_signed() };
                    let Ghost::Same(other) = lattice.neighbour_row(at[0], at[1], axis, offset) else {
                        continue;
                    };
                    match (belongs(axis, at[axis - 1].checked_add_signed(offset), other), up) {
                        (true, true) => visit(other, d, 0.5),
                        (true, false) => {}
                        (false, _) => visit(other, d, 0.25),
                    }
                }
            }
        }
    }

    /// What the bonds that leave a part along its row add to whole ones from each of its sites to the next.
    fn ends(&self, part: &Part<'_>, first: usize) -> f64 {
        let columns = &part.columns;
        let value = |place: usize| [self.now.at(place).wide(), self.potential.at(place).wide()];
        let quarter = |x: usize, offset: isize| {
            let here = first + x - columns.start;
            let there = here.wrapping_add_signed(offset);
            let ([p, phi], [q, psi]) = (value(here), value(there));
            let slope = (psi - phi) / self.time_step;
            let weight = COEFFICIENTS[self.sweep.lattice.half][offset.unsigned_abs()] / 4.0;
            // No other site counts the bond to the zero outside a soft edge.
            let share = if self.sweep.node(offset) == Some(x) { 2.0 } else { 1.0 };
            (share, weight * self.sweep.bond(here, there) * slope * (slope - (q - p)))
        };
        let mut sum = 0.0;
        for d in 1..=self.sweep.lattice.half {
            for x in columns.end.saturating_sub(d).max(columns.start)..columns.end {
                let (share, energy) = quarter(x, d.cast_signed());
                sum += (share - 2.0) * energy;
            }
            for x in columns.start..(columns.start + d).min(columns.end) {
                let (share, energy) = quarter(x, -d.cast_signed());
                sum += share * energy;
            }
        }
        sum
    }

    /// Φ⁺ and Φ⁻.
    fn levels(&self) -> Levels<'a, T> {
        Levels {
            newer: self.potential,
            other: self.now,
            mix: [1.0, -self.time_step],
            spacing: self.spacing,
            time_step: self.time_step,
        }
    }

    /// The energy of a part in or beside walls, per a^d.
    pub(super) fn energy_beside(&self, part: &Part<'_>) -> f64 {
        let ny = self.sweep.lattice.size[1];
        let at = [part.row % ny, part.row / ny];
        let mut energies = vec![0.0; part.columns.len()];
        self.sweep
            .energy_row(&self.levels(), at, part.columns.clone(), &mut energies);
        energies.iter().sum()
    }

    /// What flows from the sites of a part to the next ones along `axis`, per a^(d−1).
    pub(super) fn flux(&self, part: &Part<'_>, axis: usize) -> f64 {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let (half, columns) = (lattice.half, &part.columns);
        let at = [part.row % ny, part.row / ny];
        // Along the row, bonds of sites near its ends may leave it.
        let inside = match axis {
            _ if !self.sweep.mask.is_empty() => columns.start..columns.start,
            0 => {
                let start = columns.start.max(half - 1).min(columns.end);
                start..columns.end.min(nx.saturating_sub(half)).max(start)
            }
            _ if self.is_face_beside_edge(at[axis - 1], axis) => columns.start..columns.start,
            _ => columns.clone(),
        };
        let single = (columns.start..inside.start).chain(inside.end..columns.end);
        let levels = self.levels();
        let mut sum: f64 = single.map(|x| self.sweep.flux(&levels, [x, at[0], at[1]], axis)).sum();
        if !inside.is_empty() {
            let bonds = self.crossing(part.row, &inside, axis);
            sum += (self.sweep.sums.flux)(&bonds, T::of(self.time_step / 2.0)) / self.spacing;
        }
        sum
    }

    /// Whether images in an edge have bonds across the face behind site `at` of an axis.
    fn is_face_beside_edge(&self, at: usize, axis: usize) -> bool {
        let lattice = &self.sweep.lattice;
        let beyond = lattice.size[axis].saturating_sub(at + 1);
        lattice.edges[axis] != Edge::Periodic && (at + 1).min(beyond) < lattice.half
    }

    /// The bonds across the faces between some sites of a row and the next ones along `axis`.
    fn crossing(&self, row: usize, columns: &Range<usize>, axis: usize) -> Vec<FluxBond<'a, T>> {
        let Sweep { lattice, material, .. } = self.sweep;
        let ny = lattice.size[1];
        let site = [columns.start, row % ny, row / ny];
        let (n, sites) = (columns.len(), lattice.size[axis].cast_signed());
        let mut bonds = Vec::new();
        if axis > 0 && site[axis] + 1 >= lattice.size[axis] {
            return bonds;
        }
        let place = |at: isize| {
            let at = if axis > 0 && lattice.edges[axis] == Edge::Periodic {
                at.rem_euclid(sites)
            } else {
                at
            };
            let mut there = site;
            there[axis] = usize::try_from(at).ok().filter(|_| at < sites)?;
            Some(lattice.index(there))
        };
        let dense = !material.density.is_empty();
        let inverse = if dense { 2.0 } else { 1.0 / material.uniform_density };
        for distance in 1..=lattice.half {
            for lower in 0..distance.cast_signed() {
                let lower = site[axis].cast_signed() - lower;
                let (Some(here), Some(there)) = (place(lower), place(lower + distance.cast_signed())) else {
                    continue;
                };
                let both = |view: View<'a, T>| [here, there].map(|first| view.slice(first..first + n));
                bonds.push(FluxBond {
                    pressure: both(self.now),
                    potential: both(self.potential),
                    density: dense.then(|| [here, there].map(|first| &material.density[first..first + n])),
                    weight: T::of(-0.5 * COEFFICIENTS[lattice.half][distance] * inverse),
                });
            }
        }
        bonds
    }
}
