//! Energy and flux of parts of rows ([`super::energy`]), in vectors.
//!
//! A bond is added up once where both of its sites belong to the detector, by the lower of them, and half by either where they do not, or where one of them
//! stands beside a wall. In one medium vectors count the bonds of a grid without walls, and listed ones ([`super::single_bonds`]) correct what walls change.

use super::energy::Levels;
use super::lattice::Ghost;
use super::row_sums::{Bond, EnergyPart, FluxBond};
use super::scheme::Sweep;
use super::share::View;
use super::single_bonds::{SingleBond, energy_of, flux_of};
use super::stencil::COEFFICIENTS;
use crate::field::Real;
use crate::grid::Edge;
use crate::solver::taps::Tap;
use std::ops::Range;

/// Most parts that walls may cut a row into, for each so many sites.
const SITES_OF_PART: usize = 32;

/// Fewest columns whose flux is worth vectors.
const FEWEST: usize = 16;

/// pⁿ and Φ⁺ of one level, around the rows that are asked for.
pub(super) struct Motion<'a, T> {
    pub(super) sweep: &'a Sweep<T>,
    pub(super) now: View<'a, T>,
    pub(super) potential: View<'a, T>,
    /// a.
    pub(super) spacing: f64,
    /// Δt with its sign.
    pub(super) time_step: f64,
}

/// Sites of a row that a detector reads.
pub(super) struct Part<'a, T> {
    pub(super) row: usize,
    /// Those that vectors take.
    pub(super) columns: Range<usize>,
    /// Bonds that are added one by one.
    pub(super) bonds: &'a [SingleBond],
    /// Bonds to other rows.
    pub(super) across: &'a [Across<T>],
    /// Bonds along the row at the ends of `columns`.
    pub(super) ends: &'a [End],
    /// Bonds across a face.
    pub(super) crossing: &'a [Crossing<T>],
}

/// Bonds of all sites of a part to another row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Across<T> {
    /// Values to its sites.
    offset: isize,
    weight: T,
}

/// Bonds across a face from the sites of a part, one after the other, to as many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing<T> {
    /// Where both begin.
    places: [usize; 2],
    /// The same among what is read of pⁿ and Φ⁺.
    pub(super) values: [usize; 2],
    weight: T,
}

/// A bond along a row, of a site at an end of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    /// Sites from the part's first one to that and to the other.
    here: isize,
    there: isize,
    /// C/4ρ.
    weight: f64,
    /// How often it is added to the whole bonds from each site to the next.
    times: f64,
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

    /// Columns of a row, in a medium that differs from site to site cut where walls begin and end; whether a part is to be added up site by site.
    pub(super) fn parts_of_row(&self, row: usize, columns: Range<usize>) -> Vec<(Range<usize>, bool)> {
        if self.is_whole(row) || columns.is_empty() {
            return vec![(columns, false)];
        }
        if self.is_beside_soft_edge(row) {
            return vec![(columns, true)];
        }
        if self.material.squares.is_empty() && self.material.density.is_empty() {
            return vec![(columns, false)];
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

    /// The weight of bonds of length `d` in sums over vectors: with 1/ρ, or the 2 of 2/(ρ + ρ′).
    fn weight(&self, d: usize, share: f64) -> T {
        let material = &self.material;
        let inverse = if material.density.is_empty() {
            1.0 / material.uniform_density
        } else {
            2.0
        };
        T::of(COEFFICIENTS[self.lattice.half][d] * share * inverse)
    }

    /// The bonds of a row of a detector to other rows. `whole`: [`Sweep::is_whole`], by row.
    pub(super) fn bonds_across(&self, row: usize, tap: &Tap, whole: &[bool], all: &mut Vec<Across<T>>) {
        let lattice = &self.lattice;
        let at = [row % lattice.size[1], row / lattice.size[1]];
        let belongs = |axis: usize, place: Option<usize>, other: usize| {
            place.is_some_and(|place| (tap.lo[axis]..tap.hi[axis]).contains(&place)) && whole[row] && whole[other]
        };
        for (axis, d) in (1..lattice.rank).flat_map(|axis| (1..=lattice.half).map(move |d| (axis, d))) {
            for offset in [-d.cast_signed(), d.cast_signed()] {
                let Ghost::Same(other) = lattice.neighbour_row(at[0], at[1], axis, offset) else {
                    continue;
                };
                // ½ for a whole one, ¼ for a half.
                let share = match (
                    belongs(axis, at[axis - 1].checked_add_signed(offset), other),
                    offset > 0,
                ) {
                    (true, true) => 0.5,
                    (true, false) => continue,
                    (false, _) => 0.25,
                };
                all.push(Across {
                    offset: (other.cast_signed() - row.cast_signed()) * lattice.stride.cast_signed(),
                    weight: self.weight(d, share),
                });
            }
        }
    }

    /// The bonds along a row at the ends of some columns.
    pub(super) fn bonds_at_ends(&self, row: usize, columns: &Range<usize>, all: &mut Vec<End>) {
        let lattice = &self.lattice;
        let soft = lattice.edges[0] == Edge::Soft;
        let row = lattice.sites(row).start;
        let mut push = |x: usize, offset: isize, whole: f64| {
            // No other site counts the bond to the zero outside a soft edge.
            let share = if soft && self.node(offset) == Some(x) { 2.0 } else { 1.0 };
            let here = (x - columns.start).cast_signed();
            let place = row + x;
            let coefficient = COEFFICIENTS[lattice.half][offset.unsigned_abs()];
            all.push(End {
                here,
                there: here + offset,
                weight: coefficient / 4.0 * self.bond(place, place.wrapping_add_signed(offset)),
                times: share - whole,
            });
        };
        for d in 1..=lattice.half {
            for x in columns.end.saturating_sub(d).max(columns.start)..columns.end {
                push(x, d.cast_signed(), 2.0);
            }
            for x in columns.start..(columns.start + d).min(columns.end) {
                push(x, -d.cast_signed(), 0.0);
            }
        }
    }

    /// The bonds across the faces between some sites of a row and the next ones along `axis`.
    pub(super) fn crossing(&self, row: usize, columns: &Range<usize>, axis: usize, all: &mut Vec<Crossing<T>>) {
        let lattice = &self.lattice;
        if columns.is_empty() {
            return;
        }
        let site = [columns.start, row % lattice.size[1], row / lattice.size[1]];
        let sites = lattice.size[axis].cast_signed();
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
        for distance in 1..=lattice.half {
            for lower in 0..distance.cast_signed() {
                let lower = site[axis].cast_signed() - lower;
                if let (Some(here), Some(there)) = (place(lower), place(lower + distance.cast_signed())) {
                    all.push(Crossing {
                        places: [here, there],
                        values: [here, there],
                        weight: self.weight(distance, -0.5),
                    });
                }
            }
        }
    }

    /// Those of some columns of a row whose bonds across the faces to the next sites along `axis` vectors take: where no image is among them.
    pub(super) fn columns_across(&self, row: usize, columns: &Range<usize>, axis: usize) -> Range<usize> {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        let (half, at) = (lattice.half, [row % ny, row / ny]);
        let none = columns.start..columns.start;
        if !self.mask.is_empty() && !self.walls.are_listed() {
            return none;
        }
        if axis == 0 {
            let start = columns.start.max(half - 1).min(columns.end);
            let inside = start..columns.end.min(nx.saturating_sub(half)).max(start);
            return if self.walls.concern(row) || inside.len() < FEWEST {
                none
            } else {
                inside
            };
        }
        let at = at[axis - 1];
        let beyond = lattice.size[axis].saturating_sub(at + 1);
        let beside_edge = lattice.edges[axis] != Edge::Periodic && (at + 1).min(beyond) < half;
        // A wall within reach of a bond across the face is in reach of the row on either side of it.
        let step = [1, ny][axis - 1];
        let next = if beyond == 0 { row - at * step } else { row + step };
        let walled = || [row, next].into_iter().any(|row| self.walls.concern(row));
        if beside_edge || columns.len() < FEWEST || walled() {
            none
        } else {
            columns.clone()
        }
    }
}

impl<'a, T: Real> Motion<'a, T> {
    /// The energy of a part, per a^d.
    pub(super) fn energy(&self, part: &Part<'_, T>) -> f64 {
        // Each site has up to `half` bonds to other rows along each of two axes, to either side.
        let plain = match self.sweep.lattice.half {
            1 => self.plain_energy::<4>(part),
            2 => self.plain_energy::<8>(part),
            _ => self.plain_energy::<16>(part),
        };
        if part.bonds.is_empty() {
            plain
        } else {
            plain + energy_of(part.bonds, &self.levels())
        }
    }

    /// The same with the bonds of a grid without walls, at most `MOST` of a site to other rows.
    fn plain_energy<const MOST: usize>(&self, part: &Part<'_, T>) -> f64 {
        let Sweep { lattice, material, .. } = self.sweep;
        let (half, n) = (lattice.half, part.columns.len());
        let first = lattice.sites(part.row).start + part.columns.start;
        let ends = first - half..first + n + half;
        let dense = !material.density.is_empty();
        let mut along = [T::zero(); 4];
        for (d, along) in along[..half].iter_mut().enumerate() {
            *along = self.sweep.weight(d + 1, 0.5);
        }
        let mut across: [Bond<'_, T>; MOST] = [Bond::default(); MOST];
        for (bond, Across { offset, weight }) in across.iter_mut().zip(part.across) {
            let first = first.wrapping_add_signed(*offset);
            *bond = Bond {
                pressure: self.now.slice(first..first + n),
                potential: self.potential.slice(first..first + n),
                density: dense.then(|| &material.density[first..first + n]),
                weight: *weight,
            };
        }
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
            across: &across[..part.across.len()],
            rate: T::of(1.0 / self.time_step),
        });
        let ratio = self.time_step / self.spacing;
        (sum + self.ends(part.ends, first)) * ratio * ratio
    }

    /// What the bonds that leave a part along its row add to whole ones from each of its sites to the next.
    fn ends(&self, ends: &[End], first: usize) -> f64 {
        let value = |at: isize| {
            let place = first.wrapping_add_signed(at);
            [self.now.at(place).wide(), self.potential.at(place).wide()]
        };
        let add = |sum: f64, end: &End| {
            let ([p, phi], [q, psi]) = (value(end.here), value(end.there));
            let slope = (psi - phi) / self.time_step;
            sum + end.times * (end.weight * slope * (slope - (q - p)))
        };
        ends.iter().fold(0.0, add)
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

    /// The same site by site.
    pub(super) fn energy_beside(&self, part: &Part<'_, T>) -> f64 {
        let ny = self.sweep.lattice.size[1];
        let at = [part.row % ny, part.row / ny];
        let mut energies = vec![0.0; part.columns.len()];
        self.sweep
            .energy_row(&self.levels(), at, part.columns.clone(), &mut energies);
        energies.iter().sum()
    }

    /// The flux from the sites of a part across its face, per a^(d−1).
    pub(super) fn flux(&self, part: &Part<'_, T>) -> f64 {
        let single = flux_of(part.bonds, &self.levels());
        let n = part.columns.len();
        if n == 0 {
            return single;
        }
        let density = &self.sweep.material.density;
        let bond = |crossing: &Crossing<T>| {
            let both = |view: View<'a, T>| crossing.values.map(|first| view.slice(first..first + n));
            FluxBond {
                pressure: both(self.now),
                potential: both(self.potential),
                density: (!density.is_empty()).then(|| crossing.places.map(|first| &density[first..first + n])),
                weight: crossing.weight,
            }
        };
        let bonds: Vec<FluxBond<'_, T>> = part.crossing.iter().map(bond).collect();
        single + (self.sweep.sums.flux)(&bonds, T::of(self.time_step / 2.0)) / self.spacing
    }
}
