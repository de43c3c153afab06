//! Two dimensions: Strang's product of Cayley factors, a vector of lines at a time.
//!
//! Scheme: P½ · C_x(Δt/2) C_y(Δt) C_x(Δt/2) · P½ with the potential in P: each factor is unitary, the product symmetric, so −Δt runs it back exactly.
//! (Peaceman and Rachford's (1+iB)⁻¹(1−iA)(1+iA)⁻¹(1−iB) would save a solve and is unitary only where A and B commute.)
//! Layout: x fastest, rows an odd number of cache lines apart; `tile.rs` says how lines get into vectors. The last x solve of a step, both phases and the first x solve of the next are one pass over
//! the rows, so that a step goes over the field twice.
//! Cost: 3 solves of 12 multiply-adds a site and step, transposing along x, and the phases. There are enough lines to work in parallel without a partition.

#![allow(unsafe_code, reason = "threads share a field whose columns they divide")]

use super::hamiltonian::Step;
use super::propagator::Propagator;
use super::thomas::Coefficients;
use super::tile::{Factors, Place, SHORT, Scratch, Tile, WIDE};
use crate::backend::simd::{Aligned, Level, Vectors};
use crate::backend::threads;
use crate::field::{Real, narrow};
use crate::grid::Grid;
use crate::physics::{Quantum, Sets};
use crate::scene::Scenario;
use crate::solver::clock::RunClock;
use crate::solver::quantum::kick::Kick;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// p, q and ζ of the lines along an axis; ζ is empty for open lines.
enum Lines<T> {
    /// The same for all, by site.
    Alike {
        p: Vec<Complex<T>>,
        q: Vec<Complex<T>>,
        ring: Vec<Complex<T>>,
    },
    /// Interior walls: as the field lies; p = −2q/off.
    Each { q: Vec<Complex<T>>, ring: Vec<Complex<T>> },
}

/// A field on a plane.
pub(super) struct Plane<T: Real> {
    grid: Grid,
    quantum: Quantum,
    level: Level,
    kick: Kick<T>,
    walls: Vec<bool>,
    imaginary: bool,
    /// |ψ|² at the start of a step in imaginary time with an interaction, x fastest; otherwise empty.
    density: Vec<T>,
    /// Real and imaginary parts of one site after the other; rows `pitch` sites apart.
    psi: Aligned<T>,
    pitch: usize,
    /// x with half the step, y with the whole one.
    lines: [Lines<T>; 2],
    scales: [Complex<T>; 2],
    dt: f64,
    /// Columns of a wide tile.
    pub(super) panel: usize,
    /// One a thread.
    scratch: Vec<Mutex<Scratch<T>>>,
}

/// Whether a wall stands at a site, x fastest; empty where none stands anywhere.
pub(super) fn walls(scenario: &Scenario) -> Vec<bool> {
    let medium = scenario.medium();
    let [nx, ny, _] = scenario.grid().size();
    let mut walls = Vec::new();
    if medium.has(Sets::Wall) {
        walls = vec![false; nx * ny];
        for (j, row) in walls.chunks_mut(nx).enumerate() {
            medium.wall_row(j, 0, 0..nx, row);
        }
    }
    walls
}

/// The field, shared by threads that work on different lines.
struct Shared<T>(*mut Complex<T>);

// SAFETY: each thread reads and writes the sites of its own lines only.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(&self) -> *mut Complex<T> {
        self.0
    }
}

/// Sites from a row of `nx` to the next: an odd number of cache lines. Columns of a power of two of bytes apart would share a few places of the caches, and be gone from
/// them on the way back.
fn pitch<T>(nx: usize) -> usize {
    let line = 64 / size_of::<Complex<T>>();
    (nx.div_ceil(line) | 1) * line
}

impl<T: Vectors> Plane<T> {
    /// A plane with ψ = 0.
    pub(super) fn new(scenario: &Scenario, quantum: Quantum, level: Level) -> Self {
        let grid = scenario.grid().clone();
        let medium = scenario.medium();
        let imaginary = scenario.time().imaginary;
        let [nx, ny, _] = grid.size();
        let walls = walls(scenario);
        let pitch = pitch::<T>(nx);
        let empty = || Lines::Alike {
            p: Vec::new(),
            q: Vec::new(),
            ring: Vec::new(),
        };
        Self {
            quantum,
            level,
            kick: Kick::new(medium, quantum.absorption_scale(), quantum.interaction, imaginary),
            walls,
            imaginary,
            density: Vec::new(),
            psi: Aligned::large(2 * pitch * ny, 0),
            pitch,
            lines: [empty(), empty()],
            scales: [Complex::default(); 2],
            // Wide tiles as long as every thread gets two of them.
            panel: level.lanes::<T>()
                * if ny <= SHORT && nx >= 2 * WIDE * level.lanes::<T>() * threads::count() {
                    WIDE
                } else {
                    1
                },
            grid,
            dt: 0.0,
            scratch: (0..threads::count()).map(|_| Mutex::default()).collect(),
        }
    }

    /// Coefficients of the lines along an axis for a step of `dt`.
    fn lines(&self, axis: usize, step: &Step, diagonal: Complex64) -> Lines<T> {
        let [nx, ny, _] = self.grid.size();
        let sites = [nx, ny][axis];
        let closed = self.grid.is_periodic(axis);
        if self.walls.is_empty() {
            let coefficients = Coefficients::new(step, sites, closed, |_| Some(diagonal));
            let all = |values: &[Complex64]| values.iter().copied().map(narrow).collect();
            let p: Vec<_> = coefficients.q.iter().map(|q| step.scale() * q).collect();
            return Lines::Alike {
                p: all(&p),
                q: all(&coefficients.q),
                ring: all(&coefficients.ring.unwrap_or_default()),
            };
        }
        let pitch = self.pitch;
        let mut q = vec![Complex::default(); pitch * ny];
        let mut ring = if closed { q.clone() } else { Vec::new() };
        for line in 0..[ny, nx][axis] {
            let place = |k: usize, apart: usize| if axis == 0 { line * apart + k } else { k * apart + line };
            let at = |k: usize| place(k, pitch);
            let is_wall = |k: usize| self.walls[place(k, nx)];
            let coefficients = Coefficients::new(step, sites, closed, |k| (!is_wall(k)).then_some(diagonal));
            for (k, value) in coefficients.q.iter().enumerate() {
                q[at(k)] = narrow(*value);
            }
            for (k, value) in coefficients.ring.iter().flatten().enumerate() {
                ring[at(k)] = narrow(*value);
            }
        }
        Lines::Each { q, ring }
    }

    /// One Cayley factor of the lines of a tile.
    ///
    /// # Safety
    /// `field` points at site `base`, all sites of `place`, counted from there, are good, and nobody else uses them meanwhile.
    unsafe fn cayley(&self, axis: usize, place: Place, base: usize, field: *mut Complex<T>) {
        let factors = match &self.lines[axis] {
            Lines::Alike { p, q, ring } => Factors::Alike { p, q, ring },
            Lines::Each { q, ring } => Factors::Each {
                scale: self.scales[axis],
                q: &q[base..],
                ring: ring.get(base..).unwrap_or(&[]),
            },
        };
        let thread = rayon::current_thread_index().unwrap_or(0) % self.scratch.len();
        let mut scratch = self.scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
        self.level.run(Tile {
            field,
            place,
            factors,
            scratch: &mut scratch,
        });
    }

    /// A pass over the rows: the end of a step whose drives are `ending`, and the beginning of one whose drives are `beginning`.
    fn rows(&mut self, ending: Option<&[f64]>, beginning: Option<&[f64]>) {
        let (nx, pitch) = (self.grid.size()[0], self.pitch);
        let lanes = self.level.lanes::<T>();
        let mut psi = std::mem::replace(&mut self.psi, Aligned::zeros(0));
        let this = &*self;
        let field: &mut [Complex<T>] = bytemuck::cast_slice_mut(&mut psi[..]);
        field
            .par_chunks_mut(pitch * lanes)
            .enumerate()
            .for_each(|(tile, sites)| {
                let place = Place {
                    first: 0,
                    sites: nx,
                    along: 1,
                    lines: sites.len() / pitch,
                    across: pitch,
                };
                let first = tile * lanes * pitch;
                let kick = |drives: &[f64], sites: &mut [Complex<T>]| {
                    for (line, sites) in sites.chunks_mut(pitch).enumerate() {
                        this.kick
                            .apply(0, drives, (tile * lanes + line) * nx, &mut sites[..nx], &this.density);
                    }
                };
                if let Some(drives) = ending {
                    // SAFETY: the chunk is this closure's and has the tile's sites.
                    unsafe { this.cayley(0, place, first, sites.as_mut_ptr()) };
                    kick(drives, sites);
                }
                if let Some(drives) = beginning {
                    kick(drives, sites);
                    // SAFETY: as above.
                    unsafe { this.cayley(0, place, first, sites.as_mut_ptr()) };
                }
            });
        self.psi = psi;
    }

    /// Keeps |ψ|² of every site for the mean field of a step.
    fn hold_density(&mut self) {
        let [nx, ny, _] = self.grid.size();
        self.density.resize(nx * ny, T::zero());
        let psi: &[Complex<T>] = bytemuck::cast_slice(&self.psi[..]);
        (self.density.par_chunks_mut(nx).zip(psi.par_chunks(self.pitch))).for_each(|(density, psi)| {
            for (density, psi) in density.iter_mut().zip(psi) {
                *density = psi.norm_sqr();
            }
        });
    }

    /// The columns in tiles: wide ones, then single vectors.
    fn panels(&self) -> Vec<Place> {
        let [nx, ny, _] = self.grid.size();
        let lanes = self.level.lanes::<T>();
        let mut panels = Vec::new();
        let mut first = 0;
        while first < nx {
            let left = nx - first;
            let lines = if left >= self.panel {
                self.panel
            } else {
                left.min(lanes)
            };
            panels.push(Place {
                first,
                sites: ny,
                along: self.pitch,
                lines,
                across: 1,
            });
            first += lines;
        }
        panels
    }

    /// The y factor of all columns.
    fn columns(&mut self) {
        let field = Shared(self.psi.as_mut_ptr().cast::<Complex<T>>());
        let this = &*self;
        self.panels().into_par_iter().for_each(|place| {
            // SAFETY: tiles have different columns, and `self.psi` is used through `field` alone meanwhile.
            unsafe { this.cayley(1, place, 0, field.get()) };
        });
    }
}

impl<T: Vectors> Propagator<T> for Plane<T> {
    fn variant(&self) -> &'static str {
        "thomas"
    }

    fn details(&self) -> String {
        let [nx, ny, _] = self.grid.size();
        format!(
            "lines of {nx} and {ny}, {} at a time, {}",
            self.level.lanes::<T>(),
            self.level.title()
        )
    }

    fn memory(&self) -> usize {
        let lines: usize = self
            .lines
            .iter()
            .map(|lines| match lines {
                Lines::Alike { p, q, ring } => p.len() + q.len() + ring.len(),
                Lines::Each { q, ring } => q.len() + ring.len(),
            })
            .sum();
        self.psi.memory()
            + lines * size_of::<Complex<T>>()
            + self.kick.memory()
            + self.walls.len()
            + size_of_val(self.density.as_slice())
    }

    fn set_step(&mut self, dt: f64) {
        self.dt = dt;
        self.kick.set_steps(&[dt / 2.0], true);
        let steps = Step::of_plane(dt, &self.quantum, self.imaginary);
        for (axis, (step, diagonal)) in steps.into_iter().enumerate() {
            self.lines[axis] = self.lines(axis, &step, diagonal);
            self.scales[axis] = narrow(step.scale());
        }
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) {
        let mut ending = None;
        if self.kick.has_mean_field() {
            // The norm is restored between any two steps, so that there is one.
            debug_assert_eq!(steps, 1);
            self.hold_density();
        }
        for n in 0..steps {
            let drives = self.kick.drive_values(clock.after(n).time() + self.dt / 2.0);
            self.rows(ending.as_deref(), Some(&drives));
            self.columns();
            ending = Some(drives);
        }
        if ending.is_some() {
            self.rows(ending.as_deref(), None);
        }
    }

    fn read(&self, first: usize, out: &mut [Complex<T>]) {
        let psi: &[Complex<T>] = bytemuck::cast_slice(&self.psi[..]);
        let nx = self.grid.size()[0];
        let (mut site, mut out) = (first, out);
        while !out.is_empty() {
            let (row, column) = (site / nx, site % nx);
            let (part, rest) = out.split_at_mut(out.len().min(nx - column));
            let from = row * self.pitch + column;
            part.copy_from_slice(&psi[from..from + part.len()]);
            site += part.len();
            out = rest;
        }
    }

    fn write(&mut self, first: usize, values: &[Complex<T>]) {
        let nx = self.grid.size()[0];
        let psi: &mut [Complex<T>] = bytemuck::cast_slice_mut(&mut self.psi[..]);
        let (mut site, mut values) = (first, values);
        while !values.is_empty() {
            let (row, column) = (site / nx, site % nx);
            let (part, rest) = values.split_at(values.len().min(nx - column));
            let to = row * self.pitch + column;
            psi[to..to + part.len()].copy_from_slice(part);
            site += part.len();
            values = rest;
        }
    }

    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync)) {
        let (walls, nx) = (&self.walls, self.grid.size()[0]);
        let psi: &mut [Complex<T>] = bytemuck::cast_slice_mut(&mut self.psi[..]);
        psi.par_chunks_mut(self.pitch).enumerate().for_each(|(row, psi)| {
            for (site, psi) in (row * nx..).zip(&mut psi[..nx]) {
                if walls.get(site).copied().unwrap_or(false) {
                    *psi = Complex::default();
                } else {
                    change(site, psi);
                }
            }
        });
    }

    fn drives_at(&self, time: f64) -> Vec<f64> {
        self.kick.drive_values(time)
    }

    fn energy_at(&self, site: usize, drives: &[f64]) -> f64 {
        self.quantum.diagonal + self.kick.energy(drives, site, 0.0)
    }
}
