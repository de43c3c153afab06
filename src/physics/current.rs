//! The probability current of ψ on the lattice, and the velocity of Bohm's trajectories.
//!
//! With H = −J Σ_b (c_b |upper⟩⟨lower| + h.c.) + diagonal, d|ψ|²/dt at a site is what its bonds bring: through the bond from `lower` to `upper` there flows
//! j = 2Ja Im[(c ψ_lower)* ψ_upper], in units of density times velocity; for c = 1 and J = 1/(2ma²) it is the lattice's (1/m) Im ψ*∂ψ. A magnetic field and a frame that rotates
//! are in the phases of c ([`Bonds`]), so that j does not depend on the gauge.
//!
//! Where the last axis has two sites between walls they are the components of one particle ([`axes_in_space`]): its density in space is ρ₁ + ρ₂ and its current j₁ + j₂, that of Pauli's equation without the term
//! of the spin, whose divergence is 0 (D. Bohm, R. Schiller, J. Tiomno, Suppl. Nuovo Cimento 1 (1955) 48; D. Bohm, B. J. Hiley, The Undivided Universe, 1993, chapter 10). What the coupling
//! takes from one component it gives to the other, so that d(ρ₁ + ρ₂)/dt = −div (j₁ + j₂).

use super::{Bonds, Medium, Quantum, Sets};
use crate::field::FieldData;
use crate::grid::{Grid, SiteBox};
use num_complex::Complex64;
use std::f64::consts::TAU;

/// What ψ is read from.
pub trait Psi {
    /// ψ at a site of the grid.
    fn value(&self, grid: &Grid, site: [usize; 3]) -> Complex64;
}

impl Psi for FieldData {
    fn value(&self, grid: &Grid, site: [usize; 3]) -> Complex64 {
        self.at(grid.index(site))
    }
}

/// ψ in a box of sites.
#[derive(Clone, Copy, Debug)]
pub struct PsiInBox<'a> {
    /// Its sites.
    pub sites: SiteBox,
    /// Their values, x fastest.
    pub values: &'a FieldData,
}

impl Psi for PsiInBox<'_> {
    /// 0 outside the box.
    fn value(&self, grid: &Grid, site: [usize; 3]) -> Complex64 {
        let inside = self.sites.index(grid, site);
        debug_assert!(inside.is_some(), "site {site:?} of {:?}", self.sites);
        inside.map_or(Complex64::ZERO, |at| self.values.at(at))
    }
}

/// The axes of a grid along which a particle moves, the first ones: all of them, but a last axis of two sites between walls, which are the two components of ψ.
pub fn axes_in_space(grid: &Grid) -> usize {
    let last = grid.rank() - 1;
    let components = last > 0 && grid.size()[last] == 2 && !grid.is_periodic(last);
    grid.rank() - usize::from(components)
}

/// The bonds of a scene, from which currents are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Currents {
    grid: Grid,
    /// 2Ja.
    factor: f64,
    flux: f64,
    bonds: Option<Bonds>,
    /// Walls, x fastest; empty = none.
    walls: Vec<bool>,
    /// The strongest bond, 1 without layers of hopping.
    strongest: f64,
}

impl Currents {
    /// Those of a scene.
    #[must_use]
    pub fn of(quantum: &Quantum, medium: &Medium) -> Self {
        let grid = medium.grid().clone();
        let [nx, ny, _] = grid.size();
        let mut walls = Vec::new();
        if medium.has(Sets::Wall) {
            walls = vec![false; grid.sites()];
            for (row, out) in walls.chunks_mut(nx).enumerate() {
                medium.wall_row(row % ny, row / ny, 0..nx, out);
            }
        }
        let bonds = Bonds::of(quantum, medium);
        let norms = |bonds: &Bonds| {
            let all = (0..grid.rank()).flat_map(|axis| bonds.along(axis));
            all.fold(0.0f64, |most, bond| most.max(bond.norm()))
        };
        Self {
            factor: 2.0 * quantum.hopping * grid.spacing(),
            flux: quantum.flux,
            strongest: bonds.as_ref().map_or(1.0, norms),
            bonds,
            walls,
            grid,
        }
    }

    /// The fastest group velocity of the lattice, 2Ja times its strongest bond.
    pub fn fastest(&self) -> f64 {
        self.factor * self.strongest
    }

    /// The lattice.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The site after one along an axis; `None` if the grid ends.
    fn next(&self, site: [usize; 3], axis: usize) -> Option<[usize; 3]> {
        let sites = self.grid.size()[axis];
        let mut next = site;
        if site[axis] + 1 < sites {
            next[axis] += 1;
        } else if self.grid.is_periodic(axis) && sites > 1 {
            next[axis] = 0;
        } else {
            return None;
        }
        Some(next)
    }

    /// j through the bond from a site to the next along an axis; 0 if there is no bond.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn through(&self, psi: &impl Psi, site: [usize; 3], axis: usize) -> f64 {
        let Some(next) = self.next(site, axis) else { return 0.0 };
        let lower = self.grid.index(site);
        if !self.walls.is_empty() && (self.walls[lower] || self.walls[self.grid.index(next)]) {
            return 0.0;
        }
        let coupling = match &self.bonds {
            Some(bonds) => bonds.at(axis, lower),
            None if axis == 0 && self.flux != 0.0 => Complex64::cis(-TAU * self.flux * site[1] as f64),
            None => {
                let [a, b] = [site, next].map(|site| psi.value(&self.grid, site));
                return self.factor * (a.conj() * b).im;
            }
        };
        self.factor * ((coupling * psi.value(&self.grid, site)).conj() * psi.value(&self.grid, next)).im
    }

    /// j at a site along an axis: the mean of its two bonds.
    pub fn at_site(&self, psi: &impl Psi, site: [usize; 3], axis: usize) -> f64 {
        let sites = self.grid.size()[axis];
        let mut before = site;
        let below = if site[axis] > 0 {
            before[axis] -= 1;
            self.through(psi, before, axis)
        } else if self.grid.is_periodic(axis) && sites > 1 {
            before[axis] = sites - 1;
            self.through(psi, before, axis)
        } else {
            0.0
        };
        f64::midpoint(below, self.through(psi, site, axis))
    }

    /// |ψ|² and j at a position in sites, linear between sites and between the middles of bonds; site n is at n. Places
    /// beyond the ends count as the ends, those of a ring as what they are. Both of two components together, wherever the position is along their axis, along which nothing moves.
    pub fn between(&self, psi: &impl Psi, at: [f64; 3]) -> (f64, [f64; 3]) {
        let space = axes_in_space(&self.grid);
        let mut at = at;
        if let Some(component) = at.get_mut(space).filter(|_| space < self.grid.rank()) {
            *component = 0.0;
        }
        let density = self.linear(at, [0.0; 3], |site| {
            self.of_components(site, |site| psi.value(&self.grid, site).norm_sqr())
        });
        let mut current = [0.0; 3];
        for (axis, current) in current.iter_mut().enumerate().take(space) {
            let mut shift = [0.0; 3];
            shift[axis] = 0.5;
            *current = self.linear(at, shift, |site| {
                self.of_components(site, |site| self.through(psi, site, axis))
            });
            // Half a site outside the first site nothing flows, as behind the last, whose bond leads nowhere.
            if !self.grid.is_periodic(axis) {
                *current *= (at[axis] + 0.5).clamp(0.0, 1.0);
            }
        }
        (density, current)
    }

    /// The sum of a value over the components at a site of the first of them; the value itself where there is one.
    fn of_components(&self, site: [usize; 3], value: impl Fn([usize; 3]) -> f64) -> f64 {
        let space = axes_in_space(&self.grid);
        if space == self.grid.rank() {
            return value(site);
        }
        let mut other = site;
        other[space] = 1;
        value(site) + value(other)
    }

    /// A value of sites that are shifted by `shift` from their indices, linear in between.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "places on the grid, far below 2^52"
    )]
    fn linear(&self, at: [f64; 3], shift: [f64; 3], value: impl Fn([usize; 3]) -> f64) -> f64 {
        let rank = self.grid.rank();
        let (mut low, mut part) = ([0_usize; 3], [0.0; 3]);
        let mut high = [0_usize; 3];
        for axis in 0..rank {
            let sites = self.grid.size()[axis];
            let place = at[axis] - shift[axis];
            if self.grid.is_periodic(axis) {
                let floor = place.floor();
                low[axis] = floor.rem_euclid(sites as f64) as usize % sites;
                high[axis] = (low[axis] + 1) % sites;
                part[axis] = place - floor;
            } else {
                let place = place.clamp(0.0, (sites - 1) as f64);
                low[axis] = (place.floor() as usize).min(sites.saturating_sub(2));
                high[axis] = (low[axis] + 1).min(sites - 1);
                part[axis] = place - low[axis] as f64;
            }
        }
        let mut sum = 0.0;
        for corner in 0..1_usize << rank {
            let (mut site, mut weight) = ([0; 3], 1.0);
            for axis in 0..rank {
                let upper = corner >> axis & 1 == 1;
                site[axis] = if upper { high[axis] } else { low[axis] };
                weight *= if upper { part[axis] } else { 1.0 - part[axis] };
            }
            if weight != 0.0 {
                sum += weight * value(site);
            }
        }
        sum
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "tests on small grids")]
mod tests {
    use super::*;
    use crate::grid::Edge;

    fn quantum(flux: f64) -> Quantum {
        Quantum {
            hopping: 0.7,
            flux,
            ..Quantum::default()
        }
    }

    /// A plane wave carries |ψ|² · 2Ja sin(ka) everywhere, between sites as well: both are constant.
    #[test]
    fn a_plane_wave_carries_its_density_at_the_group_velocity() {
        let (n, a) = (24, 0.5);
        let grid = Grid::new(&[n, 4], a).with_edges([Edge::Periodic; 3], 0);
        let k = TAU * 3.0 / (n as f64 * a);
        let psi = FieldData::Complex128(
            (0..grid.sites())
                .map(|site| Complex64::cis(k * a * grid.site(site)[0] as f64) * 0.3)
                .collect(),
        );
        let currents = Currents::of(&quantum(0.0), &Medium::new(grid, Vec::new()));
        let expected = 0.09 * 2.0 * 0.7 * a * (k * a).sin();
        for x in [0.0, 3.2, 23.9, 24.7, -0.4] {
            let (density, current) = currents.between(&psi, [x, 1.3, 0.0]);
            assert!((density - 0.09).abs() < 1e-14);
            assert!(
                (current[0] - expected).abs() < 1e-14 && current[1].abs() < 1e-14,
                "{current:?}"
            );
        }
    }

    /// At the first site as at the last: seen in a mirror, currents between sites have the opposite sign along its axis, and all else is the same.
    #[test]
    fn both_ends_of_an_axis_are_alike() {
        let grid = Grid::new(&[6, 5], 0.5);
        let value = |n: usize| Complex64::new((n as f64 * 1.7).sin(), (n as f64 * 0.9).cos());
        let psi = FieldData::Complex128((0..30).map(value).collect());
        let turned = |axis: usize| {
            let site = |n: usize| {
                let mut site = grid.site(n);
                site[axis] = grid.size()[axis] - 1 - site[axis];
                grid.index(site)
            };
            FieldData::Complex128((0..30).map(|n| value(site(n))).collect())
        };
        let currents = Currents::of(&quantum(0.0), &Medium::new(grid.clone(), Vec::new()));
        for axis in 0..2 {
            let last = (grid.size()[axis] - 1) as f64;
            for place in [-0.3, 0.0, 0.2, 0.5, 0.9, 1.7] {
                let mut at = [2.3, 1.6, 0.0];
                at[axis] = place;
                let (density, current) = currents.between(&psi, at);
                at[axis] = last - place;
                let (mirrored, seen) = currents.between(&turned(axis), at);
                assert!((density - mirrored).abs() < 1e-12, "axis {axis}, {place}");
                for along in 0..2 {
                    let sign = if along == axis { -1.0 } else { 1.0 };
                    assert!(
                        (current[along] - sign * seen[along]).abs() < 1e-12,
                        "axis {axis}, {place}: {current:?} {seen:?}"
                    );
                }
            }
            // At a site it is the mean of its bonds.
            for site in [[0, 2, 0], [5, 4, 0], [3, 0, 0]] {
                let (_, current) = currents.between(&psi, site.map(|n: usize| n as f64));
                assert!((current[axis] - currents.at_site(&psi, site, axis)).abs() < 1e-12);
            }
        }
    }

    /// What flows into a site is what its density gains: d|ψ|²/dt = 2 Im ψ*(Hψ) = −div j, with a flux as without.
    #[test]
    fn the_current_is_what_the_density_gains() {
        let grid = Grid::new(&[5, 6], 1.0);
        let values: Vec<Complex64> = (0..30)
            .map(|n| Complex64::new((f64::from(n) * 1.7).sin(), (f64::from(n) * 0.9).cos()))
            .collect();
        for flux in [0.0, 0.13] {
            let quantum = quantum(flux);
            let currents = Currents::of(&quantum, &Medium::new(grid.clone(), Vec::new()));
            let psi = FieldData::Complex128(values.clone());
            for site in 0..30 {
                let [i, j, _] = grid.site(site);
                let mut around = Complex64::ZERO;
                let turn = Complex64::cis(-TAU * flux * j as f64);
                if i > 0 {
                    around += turn * values[site - 1];
                }
                if i < 4 {
                    around += turn.conj() * values[site + 1];
                }
                if j > 0 {
                    around += values[site - 5];
                }
                if j < 5 {
                    around += values[site + 5];
                }
                let gain = 2.0 * (values[site].conj() * (-quantum.hopping * around)).im;
                let at = |i: usize, j: usize, axis| currents.through(&psi, [i, j, 0], axis);
                let mut brought = -at(i, j, 0) - at(i, j, 1);
                if i > 0 {
                    brought += at(i - 1, j, 0);
                }
                if j > 0 {
                    brought += at(i, j - 1, 1);
                }
                assert!((gain - brought).abs() < 1e-13, "site {site}: {gain} is not {brought}");
            }
        }
    }
}
