//! A run: two levels of pressure, the sweep, and the sources.

use super::change::check_step;
use super::cpml::Layer;
use super::emit::Emitters;
use super::lattice::Lattice;
use super::material::{Material, allocate, constants, read_walls};
use super::sweep::{Mode, Sweep};
use super::walls::Walls;
use super::{half, objections, step_advice};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::FieldData;
use crate::grid::Edge;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Clock, SolverError};
use num_complex::Complex64;
use rayon::prelude::*;

/// A run of one scenario.
pub struct Fdtd<T: Vectors> {
    pub(super) scenario: Scenario,
    pub(super) clock: Clock,
    pub(super) sweep: Sweep<T>,
    pub(super) layers: Vec<Layer<T>>,
    pub(super) emitters: Emitters,
    /// pⁿ with ghosts.
    pub(super) now: Vec<T>,
    /// pⁿ⁻¹ with ghosts: the level that the next step overwrites.
    pub(super) old: Vec<T>,
    /// Largest |p| so far, once somebody asked for it; otherwise empty.
    pub(super) peak: Vec<T>,
}

impl<T: Vectors> Fdtd<T> {
    /// A run at t = 0.
    pub fn new(scenario: &Scenario) -> Result<Self, SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        let time_step = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
        check_step(scenario, time_step)?;
        let lattice = Lattice::new(scenario.grid(), half(scenario));
        let (now, old) = (
            allocate(lattice.values(), "the pressure")?,
            allocate(lattice.values(), "the pressure")?,
        );
        let sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        let grid = scenario.grid();
        let mut layers = Vec::new();
        for axis in 0..grid.rank() {
            if grid.edges()[axis] == Edge::Absorb && grid.absorb_width() > 0 {
                layers.push(Layer::new(&sweep.lattice, axis, grid.absorb_width())?);
            }
        }
        let mut run = Self {
            emitters: Emitters::new(grid, scenario.sources()),
            scenario: scenario.clone(),
            clock: Clock {
                steps: 0,
                time: 0.0,
                time_step,
            },
            sweep,
            layers,
            now,
            old,
            peak: Vec::new(),
        };
        run.set_layer_step();
        run.fill_initial();
        run.start_at_rest();
        if scenario.view().quantity == Quantity::Peak {
            run.watch_peak()?;
        }
        Ok(run)
    }

    pub(super) fn set_layer_step(&mut self) {
        let speed = constants(&self.scenario).map_or(0.0, |acoustic| acoustic.speed);
        let courant = speed * self.clock.time_step / self.scenario.grid().spacing();
        for layer in &mut self.layers {
            layer.set_step(courant);
        }
    }

    pub(super) fn fill_initial(&mut self) {
        let grid = self.scenario.grid().clone();
        let initial = self.scenario.initial().clone();
        self.fill(|j, k, out| {
            let mut complex = vec![Complex64::ZERO; out.len()];
            initial.fill_row(&grid, j, k, &mut complex);
            for (out, value) in out.iter_mut().zip(&complex) {
                *out = T::of(value.re);
            }
        });
    }

    /// Writes pⁿ row by row; walls hold 0.
    pub(super) fn fill(&mut self, row: impl Fn(usize, usize, &mut [T]) + Sync) {
        let (lattice, mask) = (&self.sweep.lattice, &self.sweep.mask);
        let [nx, ny, _] = lattice.size;
        let now = &mut self.now;
        threads::run(|| {
            now.par_chunks_mut(lattice.stride).enumerate().for_each(|(n, all)| {
                let out = &mut all[lattice.front..lattice.front + nx];
                row(n % ny, n / ny, out);
                if let Some(walls) = mask.get(n * nx..(n + 1) * nx) {
                    for (value, wall) in out.iter_mut().zip(walls) {
                        if *wall {
                            *value = T::zero();
                        }
                    }
                }
                lattice.fill_ghosts(all, true);
            });
        });
    }

    /// The level before pⁿ for dp/dt = 0: p⁻ = p + ½Δt²a, which is p⁺ as well.
    pub(super) fn start_at_rest(&mut self) {
        self.old.copy_from_slice(&self.now);
        let half = T::of(0.5);
        self.combine([half, half, T::zero()], false);
        for layer in &mut self.layers {
            layer.psi.fill(T::zero());
        }
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
    }

    /// pⁿ⁻¹ ← w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹, without sources.
    pub(super) fn combine(&mut self, weights: [T; 3], damped: bool) {
        let (sweep, layers) = (&self.sweep, &mut self.layers);
        let (now, old) = (&self.now, &mut self.old);
        threads::run(|| sweep.run(now, old, layers, None, Mode::Combine { weights, damped }));
    }

    /// Adds `weight` · Δt² S(tₙ)/a^d to the level that was just written.
    pub(super) fn play(&mut self, weight: f64) {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let square = weight * self.clock.time_step * self.clock.time_step;
        let (old, mask, peak) = (&mut self.old, &self.sweep.mask, &mut self.peak);
        self.emitters.play(self.clock.time, |[i, j, k], strength| {
            let row = j + ny * k;
            if mask.get(row * nx + i).copied().unwrap_or(false) {
                return;
            }
            let place = lattice.index([i, j, k]);
            old[place] += T::of(square * strength);
            if let Some(peak) = peak.get_mut(place) {
                *peak = peak.max(old[place].abs());
            }
            if i < lattice.half || i + lattice.half >= nx {
                lattice.fill_ghosts(&mut old[row * lattice.stride..(row + 1) * lattice.stride], true);
            }
        });
    }

    /// One step; in the pool.
    pub(super) fn step(&mut self) {
        let peak = (!self.peak.is_empty()).then_some(&mut self.peak[..]);
        self.sweep
            .run(&self.now, &mut self.old, &mut self.layers, peak, Mode::Step);
        self.play(1.0);
        std::mem::swap(&mut self.now, &mut self.old);
        self.clock.steps += 1;
        self.clock.time += self.clock.time_step;
    }

    /// pⁿ from an array of the grid's size.
    pub(super) fn put(&mut self, field: &FieldData) {
        let [nx, ny, _] = self.sweep.lattice.size;
        self.fill(|j, k, out| {
            let first = nx * (j + ny * k);
            for (i, out) in out.iter_mut().enumerate() {
                *out = T::of(field.at(first + i).re);
            }
        });
    }
}

/// A sweep with the medium of a scene.
pub(super) fn sweep_of<T: Vectors>(
    scenario: &Scenario,
    lattice: Lattice,
    time_step: f64,
) -> Result<Sweep<T>, SolverError> {
    let mask = read_walls(scenario);
    let material = Material::new(scenario, &lattice, &mask, time_step)?;
    let walls = Walls::new(&lattice, &mask, material.density.is_empty());
    Ok(Sweep::new(lattice, material, mask, walls))
}
