//! The medium for the step: λ² or κ per site, density, damping.

use super::cpml::leak;
use super::lattice::{Ghost, Lattice};
use crate::field::Real;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::SolverError;
use crate::solver::acoustic::guides::Surroundings;
use crate::solver::acoustic::impedance::Damping;
use crate::solver::acoustic::medium::{allocate, constants};
use crate::solver::acoustic::outward::Domain;
use rayon::prelude::*;
use std::ops::Range;

/// Everything of the medium that a step needs, except walls. Arrays lie as [`Lattice`] says.
pub struct Material<T> {
    /// λ² = (cΔt/a)² where it is the same everywhere.
    pub square: T,
    /// λ² per site where a layer sets the speed; κ = ρc²Δt²/a² per site where a layer sets the density. Otherwise empty.
    pub squares: Vec<T>,
    /// ρ per site with ghosts, ∞ in walls so that their faces carry nothing; empty where no layer sets the density.
    pub density: Vec<T>,
    /// ρ where it is the same everywhere.
    pub uniform_density: f64,
    /// The kind of grid that absorbing layers close.
    pub surroundings: Surroundings,
    /// γΔt of the rows that are damped, one after the other, each as long as the grid is wide.
    damping: Vec<T>,
    /// Which of them belongs to a row; empty where nothing is damped.
    damped_rows: Vec<Option<u32>>,
}

impl<T: Real> Material<T> {
    /// λ² everywhere, density 1, no damping.
    pub fn uniform(square: T) -> Self {
        Self {
            square,
            squares: Vec::new(),
            density: Vec::new(),
            uniform_density: 1.0,
            surroundings: Surroundings::Open,
            damping: Vec::new(),
            damped_rows: Vec::new(),
        }
    }

    /// Reads the medium for a step of `time_step`; `walls`: whether each site is a wall (empty: none is).
    pub fn new(scenario: &Scenario, lattice: &Lattice, walls: &[bool], time_step: f64) -> Result<Self, SolverError> {
        let Some(acoustic) = constants(scenario) else {
            return Err(SolverError::Unsupported("fdtd steps acoustic scenes only".to_owned()));
        };
        let medium = scenario.medium();
        let domain = Domain::new(scenario.grid());
        let ratio = time_step / scenario.grid().spacing();
        let mut material = Self {
            uniform_density: acoustic.density,
            surroundings: Surroundings::of(scenario),
            ..Self::uniform(T::of((acoustic.speed * ratio).powi(2)))
        };
        let [nx, ny, _] = lattice.size;
        let front = lattice.front;
        let with_density = medium.has(Sets::Density);
        if with_density {
            material.density = allocate(lattice.values(), "the density")?;
            material
                .density
                .par_chunks_exact_mut(lattice.stride)
                .enumerate()
                .for_each_init(
                    || vec![0.0; nx],
                    |values, (row, out)| {
                        let [j, k] = domain.row(row % ny, row / ny);
                        medium.density_row(acoustic.density, j, k, 0..nx, values);
                        domain.fill_ends(values);
                        for (i, value) in values.iter().enumerate() {
                            let wall = walls.get(row * nx + i).copied().unwrap_or(false);
                            out[front + i] = if wall { T::infinity() } else { T::of(*value) };
                        }
                    },
                );
            lattice.fill_all_ghosts(&mut material.density, false);
        }
        if with_density || medium.has(Sets::Speed) {
            material.squares = allocate(lattice.values(), "the sound speed")?;
            material
                .squares
                .par_chunks_exact_mut(lattice.stride)
                .enumerate()
                .for_each_init(
                    || (vec![0.0; nx], vec![1.0; nx]),
                    |(speed, density), (row, out)| {
                        let [j, k] = domain.row(row % ny, row / ny);
                        medium.speed_row(acoustic.speed, j, k, 0..nx, speed);
                        domain.fill_ends(speed);
                        if with_density {
                            medium.density_row(acoustic.density, j, k, 0..nx, density);
                            domain.fill_ends(density);
                        }
                        for (i, (c, rho)) in speed.iter().zip(density.iter()).enumerate() {
                            let wall = walls.get(row * nx + i).copied().unwrap_or(false);
                            out[front + i] = if wall {
                                T::zero()
                            } else {
                                T::of(rho * (c * ratio).powi(2))
                            };
                        }
                    },
                );
        }
        let damping = Damping::of(scenario, walls, (acoustic.speed, time_step));
        if damping.is_some() || material.surroundings == Surroundings::GuideWithObstacles {
            material.read_damping(damping.as_ref(), scenario, lattice, time_step);
        }
        Ok(material)
    }

    #[expect(clippy::cast_possible_truncation, reason = "rows are far fewer than 2^32")]
    fn read_damping(&mut self, damping: Option<&Damping<'_>>, scenario: &Scenario, lattice: &Lattice, time_step: f64) {
        let [nx, ny, _] = lattice.size;
        let leak = Leak::new(self.surroundings, scenario, lattice, time_step);
        let mut values = vec![0.0; nx];
        self.damped_rows = vec![None; lattice.rows()];
        for row in 0..lattice.rows() {
            values.fill(0.0);
            if let Some(damping) = damping {
                damping.row(row % ny, row / ny, &mut values);
                for value in &mut values {
                    *value *= time_step;
                }
            }
            if let Some(leak) = &leak {
                leak.add([row % ny, row / ny], &mut values);
            }
            if values.iter().any(|value| *value != 0.0) {
                self.damped_rows[row] = Some((self.damping.len() / nx) as u32);
                self.damping.extend(values.iter().map(|value| T::of(*value)));
            }
        }
    }

    /// γΔt of a row's sites, if any of them is damped.
    pub fn damping(&self, lattice: &Lattice, row: usize) -> Option<&[T]> {
        let place = (*self.damped_rows.get(row)?)? as usize;
        let nx = lattice.size[0];
        Some(&self.damping[place * nx..][..nx])
    }

    /// The rows that are damped: which of [`Self::rates`] belongs to each; empty where nothing is damped.
    pub(super) fn damped_rows(&self) -> &[Option<u32>] {
        &self.damped_rows
    }

    /// γΔt of the damped rows, one after the other, each as long as the grid is wide.
    pub(super) fn rates(&self) -> &[T] {
        &self.damping
    }

    /// λ² of some sites of a row, if it is the same for all and, where densities differ, so is the density of all that their stencils read. `None` where the grid has but one λ².
    pub(super) fn uniform_square(&self, lattice: &Lattice, row: usize, sites: &Range<usize>) -> Option<T> {
        let places = |row: usize, before: usize| {
            let first = lattice.sites(row).start;
            first + sites.start - before..first + sites.end + before
        };
        let same = |values: &[T], value: T| values.iter().all(|other| *other == value);
        let own = &self.squares.get(places(row, 0))?;
        let square = *own.first()?;
        if !same(own, square) {
            return None;
        }
        if self.density.is_empty() {
            return Some(square);
        }
        let density = self.density[places(row, 0).start];
        let [j, k] = [row % lattice.size[1], row / lattice.size[1]];
        let beside = (1..lattice.rank).flat_map(|axis| [(axis, -1), (axis, 1)]);
        let alike = same(&self.density[places(row, 1)], density)
            && beside
                .into_iter()
                .all(|(axis, offset)| match lattice.neighbour_row(j, k, axis, offset) {
                    Ghost::Same(other) => same(&self.density[places(other, 0)], density),
                    Ghost::Negative(_) | Ghost::Zero => true,
                });
        let quotient = T::of(square.wide() / density.wide());
        alike.then_some(quotient)
    }

    /// κ = ρc²Δt²/a² of a site, by its place in an array.
    pub fn kappa(&self, index: usize) -> f64 {
        let own = if self.squares.is_empty() {
            self.square
        } else {
            self.squares[index]
        };
        if self.density.is_empty() {
            own.wide() * self.uniform_density
        } else {
            own.wide()
        }
    }

    /// The largest λ of sites given by their places in an array.
    pub fn largest_courant(&self, places: impl Iterator<Item = usize>) -> f64 {
        if self.squares.is_empty() {
            return self.square.wide().sqrt();
        }
        let rho = |index: usize| self.density.get(index).map_or(1.0, |rho| rho.wide());
        let squares = places.map(|index| self.squares[index].wide() / rho(index));
        squares.fold(0.0, f64::max).sqrt()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let values = self.squares.len() + self.density.len() + self.damping.len();
        (values * size_of::<T>() + self.damped_rows.len() * size_of::<Option<u32>>()) as u64
    }
}

/// The largest cΔt/a of the layers of `width` sites at both ends of an axis of the grid that a scene's is a window of, rounded as a [`Material`] of all of it is.
pub(super) fn courants_of_whole<T: Real>(scenario: &Scenario, axis: usize, width: usize, time_step: f64) -> [f64; 2] {
    let Some(acoustic) = constants(scenario) else {
        return [0.0; 2];
    };
    let grid = scenario.grid().whole();
    let medium = scenario.medium().over(grid.clone());
    let ratio = time_step / grid.spacing();
    let with_density = medium.has(Sets::Density);
    if !with_density && !medium.has(Sets::Speed) {
        return [T::of((acoustic.speed * ratio).powi(2)).wide().sqrt(); 2];
    }
    let (domain, [nx, ny, _]) = (Domain::new(&grid), grid.size());
    [width, grid.size()[axis] - 1 - width].map(|at| {
        // The medium of a layer is that of its inner border.
        let sites = if axis == 0 { at..at + 1 } else { 0..nx };
        let on_border = |row: &usize| axis == 0 || [row % ny, row / ny][axis - 1] == at;
        let largest = |row: usize| {
            let [j, k] = domain.row(row % ny, row / ny);
            let (mut walls, mut speed) = (vec![false; sites.len()], vec![0.0; sites.len()]);
            let mut density = vec![1.0; sites.len()];
            medium.wall_row(j, k, sites.clone(), &mut walls);
            medium.speed_row(acoustic.speed, j, k, sites.clone(), &mut speed);
            if with_density {
                medium.density_row(acoustic.density, j, k, sites.clone(), &mut density);
            }
            if axis > 0 {
                domain.fill_ends(&mut walls);
                domain.fill_ends(&mut speed);
                domain.fill_ends(&mut density);
            }
            let square = |((wall, speed), density): ((&bool, &f64), &f64)| {
                if *wall {
                    return 0.0;
                }
                let square = T::of(density * (speed * ratio).powi(2));
                let density = if with_density { T::of(*density).wide() } else { 1.0 };
                square.wide() / density
            };
            walls.iter().zip(&speed).zip(&density).map(square).fold(0.0, f64::max)
        };
        let rows = (0..grid.rows()).into_par_iter().filter(on_border);
        rows.map(largest).reduce(|| 0.0, f64::max).sqrt()
    })
}

/// The damping in the layers of a guide with obstacles ([`super::cpml`]).
struct Leak<'a> {
    scenario: &'a Scenario,
    lattice: &'a Lattice,
    domain: Domain,
    /// The Courant number of speed 1.
    ratio: f64,
}

impl<'a> Leak<'a> {
    fn new(surroundings: Surroundings, scenario: &'a Scenario, lattice: &'a Lattice, time_step: f64) -> Option<Self> {
        (surroundings == Surroundings::GuideWithObstacles).then(|| Self {
            scenario,
            lattice,
            domain: Domain::new(scenario.grid()),
            ratio: time_step / scenario.grid().spacing(),
        })
    }

    /// Adds γΔt to that of the sites of row (j, k), in both directions of time; where layers cross, that of both.
    fn add(&self, at: [usize; 2], out: &mut [f64]) {
        let Some(acoustic) = constants(self.scenario) else {
            return;
        };
        let (size, width) = (self.lattice.size, self.lattice.absorb_width);
        let place = |axis: usize, at: usize| self.lattice.place_in_layer(axis, at);
        let crossed = [1, 2].map(|axis| place(axis, at[axis - 1]));
        let mut speed = vec![acoustic.speed; out.len()];
        if self.scenario.medium().has(Sets::Speed) {
            let [j, k] = self.domain.row(at[0], at[1]);
            self.scenario
                .medium()
                .speed_row(acoustic.speed, j, k, 0..size[0], &mut speed);
            self.domain.fill_ends(&mut speed);
        }
        // Rows of one speed ask for one layer.
        let mut known = (f64::NAN, Vec::new());
        for (i, (value, speed)) in out.iter_mut().zip(&speed).enumerate() {
            let layers = [place(0, i), crossed[0], crossed[1]];
            if layers.iter().any(Option::is_some) {
                let courant = speed * self.ratio;
                if known.0 != courant {
                    known = (courant, leak(Surroundings::GuideWithObstacles, width, courant));
                }
                *value += layers.into_iter().flatten().map(|site| known.1[site]).sum::<f64>();
            }
        }
    }
}
