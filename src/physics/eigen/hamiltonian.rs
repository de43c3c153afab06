//! H of a scene, applied to a vector.

use super::EigenError;
use crate::grid::Grid;
use crate::physics::{Bonds, Exchange, Medium, Quantum, Sets};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Number of sites from which the rows of one vector are shared among threads; smaller vectors are given to threads as a whole.
const SHARED: usize = 1 << 15;

/// H of a lattice: diagonal, walls, hopping with the phases of a flux.
#[derive(Clone, Debug, PartialEq)]
pub struct Hamiltonian {
    grid: Grid,
    hopping: f64,
    flux: f64,
    /// D + U, x fastest.
    diagonal: Vec<f64>,
    /// Whether a wall stands there; empty if there is none.
    walls: Vec<bool>,
    /// Bonds that differ from one another, where layers set any.
    bonds: Option<Bonds>,
    /// For two particles of one symmetry: its sign, and the energy by which states of the other symmetry are raised above the spectrum.
    lifted: Option<[f64; 2]>,
}

impl Hamiltonian {
    /// H of a scene's grid, constants and medium.
    ///
    /// # Errors
    /// If it is not linear, changes in time or absorbs.
    pub fn new(grid: &Grid, quantum: &Quantum, medium: &Medium) -> Result<Self, EigenError> {
        let refused = |what: &str, remedy: &str| {
            Err(EigenError::NoLevels {
                what: what.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        if quantum.interaction != 0.0 || medium.sets_interaction() {
            return refused(
                "an interaction makes the equation nonlinear, and it has no levels",
                "set quantum.interaction = 0 and quantum.cross_interaction = 0, and remove layers of interaction",
            );
        }
        if !medium.drives().is_empty() {
            return refused(
                "a driven layer changes the Hamiltonian in time, and it has no levels",
                "remove the layer's `drive`",
            );
        }
        let absorbs = grid.edges()[..grid.rank()].contains(&crate::grid::Edge::Absorb);
        if absorbs || medium.has(Sets::Absorption) {
            return refused(
                "a scene that absorbs has states that decay, and no levels",
                "close it: grid.edges = \"wall\" or \"periodic\", and no layer of absorption",
            );
        }
        Self::static_part(grid, quantum, medium)
    }

    /// The linear part of H that is constant in time and does not absorb: a scene's eigenstates are those of this part.
    ///
    /// # Errors
    /// If the potential is not finite.
    pub fn static_part(grid: &Grid, quantum: &Quantum, medium: &Medium) -> Result<Self, EigenError> {
        let [nx, ny, _] = grid.size();
        let mut diagonal = vec![0.0; grid.sites()];
        let bonds = Bonds::of(quantum, medium);
        diagonal.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
            medium.potential_row(None, row % ny, row / ny, 0..nx, out);
            let mut own = vec![quantum.diagonal; nx];
            if let Some(bonds) = &bonds {
                bonds.diagonal_row(quantum, row, &mut own);
            }
            for (value, own) in out.iter_mut().zip(&own) {
                *value += own;
            }
        });
        let mut walls = Vec::new();
        if medium.has(Sets::Wall) {
            walls = vec![false; grid.sites()];
            for (row, out) in walls.chunks_mut(nx).enumerate() {
                medium.wall_row(row % ny, row / ny, 0..nx, out);
            }
        }
        if diagonal.iter().any(|value| !value.is_finite()) {
            return Err(EigenError::NoLevels {
                what: "the potential is not finite everywhere".to_owned(),
                remedy: "look for a formula that divides by zero".to_owned(),
            });
        }
        Ok(Self {
            grid: grid.clone(),
            hopping: quantum.hopping,
            flux: quantum.flux,
            diagonal,
            walls,
            bonds,
            lifted: None,
        })
    }

    /// The same for two particles on a line whose states have this symmetry: states of the other symmetry lie above all
    /// of them, so that the lowest levels are those of the particles.
    #[must_use]
    pub fn with_exchange(mut self, exchange: Exchange) -> Self {
        let (low, high) = self.bounds();
        self.lifted = Some([exchange.sign(), high - low]);
        self
    }

    /// Sites of the grid.
    pub fn sites(&self) -> usize {
        self.diagonal.len()
    }

    /// Sites that are no walls.
    pub fn free(&self) -> usize {
        self.sites() - self.walls.iter().filter(|wall| **wall).count()
    }

    /// The number of levels: one per site without a wall; for two particles as many as there are states of their symmetry.
    pub fn states(&self) -> usize {
        let Some([sign, _]) = self.lifted else {
            return self.free();
        };
        let nx = self.grid.size()[0];
        let both = (0..nx).filter(|i| !self.is_wall(i + nx * i)).count();
        let apart = (self.free() - both) / 2;
        if sign > 0.0 { apart + both } else { apart }
    }

    /// Whether a wall stands at a site.
    pub fn is_wall(&self, site: usize) -> bool {
        self.walls.get(site).copied().unwrap_or(false)
    }

    /// Whether H is real.
    pub fn is_real(&self) -> bool {
        match &self.bonds {
            Some(bonds) => bonds.is_real(),
            None => self.flux == 0.0,
        }
    }

    /// An interval that contains the spectrum (Gershgorin).
    pub fn bounds(&self) -> (f64, f64) {
        let free = (0..self.sites()).filter(|site| !self.is_wall(*site));
        let (low, high) = free.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), site| {
            (low.min(self.diagonal[site]), high.max(self.diagonal[site]))
        });
        let reach = self.reach();
        let lift = self.lifted.map_or(0.0, |[_, height]| height);
        (low - reach, high + reach + lift)
    }

    /// The most that the bonds of a site add to an energy or take from it, 2J per axis and more where layers raise it.
    pub fn reach(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
        let bonds = 2.0 * self.grid.rank() as f64;
        bonds * self.hopping.abs() * self.bonds.as_ref().map_or(1.0, Bonds::largest)
    }

    /// `out` ← α(H − c)v + βw, with w what stands in `out`. Vectors are 0 on walls, and stay so.
    pub fn apply(&self, v: &[Complex64], (c, alpha, beta): (f64, f64, f64), out: &mut [Complex64]) {
        let nx = self.grid.size()[0];
        let row = |(row, out): (usize, &mut [Complex64])| self.row(row, v, (c, alpha, beta), out);
        if v.len() >= SHARED {
            out.par_chunks_mut(nx).enumerate().for_each(row);
        } else {
            out.chunks_mut(nx).enumerate().for_each(row);
        }
    }

    fn row(&self, row: usize, v: &[Complex64], (c, alpha, beta): (f64, f64, f64), out: &mut [Complex64]) {
        let [nx, ny, nz] = self.grid.size();
        let (j, k) = (row % ny, row / ny);
        let first = row * nx;
        let here = &v[first..first + nx];
        // Along x a bond upwards is −J e^{iϕ} from left to right, ϕ = −2παj (Landau's gauge).
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let turn = Complex64::cis(-TAU * self.flux * j as f64);
        let row_at = |j: usize, k: usize| &v[nx * (j + ny * k)..][..nx];
        let mut beside: [Option<&[Complex64]>; 4] = [None; 4];
        let closes = |axis: usize, sites: usize| self.grid.is_periodic(axis) && sites > 1;
        for (axis, at, sites) in [(1, j, ny), (2, k, nz)] {
            if axis >= self.grid.rank() {
                continue;
            }
            let row = |n: usize| if axis == 1 { row_at(n, k) } else { row_at(j, n) };
            let up = if at + 1 < sites {
                Some(at + 1)
            } else {
                closes(axis, sites).then_some(0)
            };
            let down = if at > 0 {
                Some(at - 1)
            } else {
                closes(axis, sites).then_some(sites - 1)
            };
            beside[2 * axis - 2] = up.map(row);
            beside[2 * axis - 1] = down.map(row);
        }
        let ring = closes(0, nx);
        for (i, value) in out.iter_mut().enumerate() {
            if self.is_wall(first + i) {
                continue;
            }
            let lift = match self.lifted {
                Some([sign, height]) => (here[i] - v[j + nx * i] * sign) * (0.5 * height),
                None => Complex64::ZERO,
            };
            if let Some(bonds) = &self.bonds {
                let bound = bonds.around(first + i, v) * self.hopping;
                let applied = here[i] * (self.diagonal[first + i] - c) - bound + lift;
                *value = applied * alpha + *value * beta;
                continue;
            }
            let mut sum = Complex64::ZERO;
            for row in beside.into_iter().flatten() {
                sum += row[i];
            }
            if i > 0 {
                sum += turn * here[i - 1];
            } else if ring {
                sum += turn * here[nx - 1];
            }
            if i + 1 < nx {
                sum += turn.conj() * here[i + 1];
            } else if ring {
                sum += turn.conj() * here[0];
            }
            let applied = here[i] * (self.diagonal[first + i] - c) - sum * self.hopping + lift;
            *value = applied * alpha + *value * beta;
        }
    }
}
