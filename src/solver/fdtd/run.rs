//! A run: two levels of pressure, the sweep, the sources, and what is asked of them.

use super::cpml::Layer;
use super::emit::Emitters;
use super::energy::Levels;
use super::lattice::Lattice;
use super::material::{Material, allocate, constants, read_walls};
use super::sweep::{Mode, Sweep};
use super::walls::Walls;
use super::{half, objections, stability, step_advice};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::grid::{Edge, Grid};
use crate::physics::{Measure, Observables};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};
use num_complex::Complex64;
use rayon::prelude::*;

/// Names of the saved arrays.
const NOW: &str = "p";
const OLD: &str = "p_before";
const PEAK: &str = "peak";

/// A run of one scenario.
pub struct Fdtd<T: Vectors> {
    scenario: Scenario,
    clock: Clock,
    sweep: Sweep<T>,
    layers: Vec<Layer<T>>,
    emitters: Emitters,
    /// pⁿ with ghosts.
    now: Vec<T>,
    /// pⁿ⁻¹ with ghosts: the level that the next step overwrites.
    old: Vec<T>,
    /// Largest |p| so far, once somebody asked for it; otherwise empty.
    peak: Vec<T>,
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

    fn set_layer_step(&mut self) {
        let speed = constants(&self.scenario).map_or(0.0, |acoustic| acoustic.speed);
        let courant = speed * self.clock.time_step / self.scenario.grid().spacing();
        for layer in &mut self.layers {
            layer.set_step(courant);
        }
    }

    fn fill_initial(&mut self) {
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
    fn fill(&mut self, row: impl Fn(usize, usize, &mut [T]) + Sync) {
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
    fn start_at_rest(&mut self) {
        self.old.copy_from_slice(&self.now);
        let half = T::of(0.5);
        self.combine([half, half, T::zero()], false);
        for layer in &mut self.layers {
            layer.psi.fill(T::zero());
        }
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
    }

    /// pⁿ⁻¹ ← w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹, without sources.
    fn combine(&mut self, weights: [T; 3], damped: bool) {
        let (sweep, layers) = (&self.sweep, &mut self.layers);
        let (now, old) = (&self.now, &mut self.old);
        threads::run(|| sweep.run(now, old, layers, None, Mode::Combine { weights, damped }));
    }

    /// Changes Δt at time tₙ: the level before becomes p(tₙ − Δt′) on the parabola through pⁿ⁻¹, pⁿ and pⁿ⁺¹, which is exactly pⁿ⁺¹ for
    /// Δt′ = −Δt. What the absorbing layers remember stays.
    fn change_step(&mut self, time_step: f64) -> Result<(), SolverError> {
        let ratio = time_step / self.clock.time_step;
        #[expect(clippy::float_cmp, reason = "nothing to do")]
        if ratio == 1.0 {
            return Ok(());
        }
        let weights = [
            ratio * (ratio - 1.0) / 2.0,
            1.0 - ratio * ratio,
            ratio * (ratio + 1.0) / 2.0,
        ];
        self.combine(weights.map(T::of), true);
        self.play(weights[0]);
        self.clock.time_step = time_step;
        self.set_layer_step();
        let walls = std::mem::take(&mut self.sweep.walls);
        let mask = std::mem::take(&mut self.sweep.mask);
        let lattice = self.sweep.lattice.clone();
        // Frees the old medium before the new one is read.
        self.sweep.material.squares = Vec::new();
        self.sweep.material.density = Vec::new();
        let material = threads::run(|| Material::new(&self.scenario, &lattice, &mask, time_step))?;
        self.sweep = Sweep::new(lattice, material, mask, walls);
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        Ok(())
    }

    /// Adds `weight` · Δt² S(tₙ)/a^d to the level that was just written.
    fn play(&mut self, weight: f64) {
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
    fn step(&mut self) {
        let peak = (!self.peak.is_empty()).then_some(&mut self.peak[..]);
        self.sweep
            .run(&self.now, &mut self.old, &mut self.layers, peak, Mode::Step);
        self.play(1.0);
        std::mem::swap(&mut self.now, &mut self.old);
        self.clock.steps += 1;
        self.clock.time += self.clock.time_step;
    }

    fn levels(&self) -> Levels<'_, T> {
        Levels {
            now: &self.now,
            old: &self.old,
            spacing: self.scenario.grid().spacing(),
            time_step: self.clock.time_step,
        }
    }

    fn record(&self, taps: &mut Taps) {
        let lattice = &self.sweep.lattice;
        let levels = self.levels();
        let mut energies = vec![0.0; lattice.size[0]];
        taps.record(self.clock.time, |tap| {
            tap.acoustic(|j, k, out| match tap.measure {
                Measure::Energy => {
                    self.sweep.energy_row(&levels, j, k, &mut energies);
                    out.copy_from_slice(&energies[tap.lo[0]..tap.hi[0]]);
                }
                Measure::Flux => {
                    for (i, out) in (tap.lo[0]..).zip(out) {
                        *out = self.sweep.flux(&levels, [i, j, k], tap.across);
                    }
                }
                _ => {
                    let first = lattice.index([tap.lo[0], j, k]);
                    for (out, value) in out.iter_mut().zip(&self.now[first..]) {
                        *out = value.wide();
                    }
                }
            })
        });
    }

    /// Starts to keep the largest |p| of every site.
    fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_empty() {
            self.peak = allocate(self.now.len(), "the largest pressures")?;
            for (peak, value) in self.peak.iter_mut().zip(&self.now) {
                *peak = value.abs();
            }
        }
        Ok(())
    }

    /// Reads the medium and the sources again.
    fn read_medium(&mut self, scenario: &Scenario) -> Result<(), SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        if half(scenario) != self.sweep.lattice.half || scenario.grid() != self.scenario.grid() {
            return Err(SolverError::Unsupported(
                "another grid or order needs another solver".to_owned(),
            ));
        }
        // A faster medium may need a smaller step: the scene's own, if that is stable.
        let sign = self.clock.time_step.signum();
        let limit = stability::limit(scenario, half(scenario));
        if self.clock.time_step.abs() > limit {
            let wanted = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
            check_step(scenario, wanted)?;
            self.change_step(wanted * sign)?;
        }
        self.scenario = scenario.clone();
        self.emitters = Emitters::new(scenario.grid(), scenario.sources());
        let lattice = self.sweep.lattice.clone();
        let time_step = self.clock.time_step;
        self.sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        self.set_layer_step();
        self.clear_walls();
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        Ok(())
    }

    /// Sites inside walls hold 0.
    fn clear_walls(&mut self) {
        let lattice = &self.sweep.lattice;
        let nx = lattice.size[0];
        for (row, walls) in self.sweep.mask.chunks_exact(nx).enumerate() {
            if !walls.contains(&true) {
                continue;
            }
            for level in [&mut self.now, &mut self.old] {
                let all = &mut level[row * lattice.stride..(row + 1) * lattice.stride];
                for (value, wall) in all[lattice.front..].iter_mut().zip(walls) {
                    if *wall {
                        *value = T::zero();
                    }
                }
                lattice.fill_ghosts(all, true);
            }
        }
    }

    fn sums(&self) -> Observables {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let grid = self.scenario.grid();
        let levels = self.levels();
        let rows: Vec<Sums> = (0..lattice.rows())
            .into_par_iter()
            .map_init(
                || vec![0.0; nx],
                |energies, row| {
                    self.sweep.energy_row(&levels, row % ny, row / ny, energies);
                    Sums::of_row(lattice.row(&self.now, row), energies)
                },
            )
            .collect();
        total(&rows, grid)
    }

    fn data(&self, all: &[T]) -> FieldData {
        T::real_data(self.sweep.lattice.packed(all))
    }
}

/// Sums over one row.
struct Sums {
    square: f64,
    /// Σ p² i and Σ p² i².
    moments: [f64; 2],
    energy: f64,
    peak: f64,
}

impl Sums {
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    fn of_row<T: Real>(row: &[T], energies: &[f64]) -> Self {
        let mut sums = Self {
            square: 0.0,
            moments: [0.0; 2],
            energy: energies.iter().sum(),
            peak: 0.0,
        };
        for (i, p) in row.iter().enumerate() {
            let (p, x) = (p.wide(), i as f64);
            let square = p * p;
            sums.square += square;
            sums.moments[0] += square * x;
            sums.moments[1] += square * x * x;
            sums.peak = sums.peak.max(p.abs());
        }
        sums
    }
}

#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn total(rows: &[Sums], grid: &Grid) -> Observables {
    let [_, ny, _] = grid.size();
    let mut all = Observables::default();
    let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
    for (n, row) in rows.iter().enumerate() {
        let (y, z) = ((n % ny) as f64, (n / ny) as f64);
        all.norm += row.square;
        all.energy += row.energy;
        all.peak = all.peak.max(row.peak);
        first[0] += row.moments[0];
        second[0] += row.moments[1];
        for (axis, at) in [(1, y), (2, z)] {
            first[axis] += row.square * at;
            second[axis] += row.square * at * at;
        }
    }
    let a = grid.spacing();
    for axis in 0..grid.rank() {
        // Silence stands nowhere: 0, and not 0/0, which would read as a field that is no longer finite.
        let mean = if all.norm == 0.0 { 0.0 } else { first[axis] / all.norm };
        let square = if all.norm == 0.0 { 0.0 } else { second[axis] / all.norm };
        all.position[axis] = mean * a;
        all.spread[axis] = (square - mean * mean).max(0.0).sqrt() * a;
    }
    all.norm *= grid.cell_volume();
    all.energy *= grid.cell_volume();
    if !all.norm.is_finite() {
        all.peak = f64::NAN;
    }
    all
}

fn check_step(scenario: &Scenario, time_step: f64) -> Result<(), SolverError> {
    let limit = stability::limit(scenario, half(scenario));
    if time_step.abs() <= limit {
        return Ok(());
    }
    Err(SolverError::Unsupported(format!(
        "Δt = {time_step:e} is unstable in this medium: the limit is {limit:e}; choose at most {:e}, or step = \"auto\"",
        0.98 * limit
    )))
}

fn sweep_of<T: Vectors>(scenario: &Scenario, lattice: Lattice, time_step: f64) -> Result<Sweep<T>, SolverError> {
    let mask = read_walls(scenario);
    let material = Material::new(scenario, &lattice, &mask, time_step)?;
    let walls = Walls::new(&lattice, &mask, material.density.is_empty());
    Ok(Sweep::new(lattice, material, mask, walls))
}

impl<T: Vectors> Solver for Fdtd<T> {
    fn report(&self) -> Report {
        let layers: usize = self.layers.iter().map(|layer| layer.psi.len() + layer.zeta.len()).sum();
        let values = self.now.len() + self.old.len() + self.peak.len() + layers;
        Report {
            method: "fdtd",
            variant: "stepwise",
            backend: Backend::Cpu,
            precision: T::PRECISION,
            order: 2,
            threads: threads::count(),
            details: format!(
                "order {} in space, blocks of {} rows, {}",
                2 * self.sweep.lattice.half,
                self.sweep.block_rows(),
                Level::best().title()
            ),
            batch: 1,
            note: None,
            memory: (values * size_of::<T>()) as u64 + self.sweep.bytes(),
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        threads::run(|| {
            for _ in 0..steps {
                self.step();
                if !taps.is_empty() {
                    self.record(taps);
                }
            }
        });
        Ok(())
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        match edit {
            Edit::TimeStep(step) => {
                check_step(&self.scenario, *step)?;
                self.change_step(*step)
            }
            Edit::Medium => self.read_medium(scenario),
            Edit::Conjugate => {
                self.combine([T::one(), T::zero(), T::zero()], true);
                self.play(1.0);
                self.sweep.settle(&self.now, &self.old, &mut self.layers);
                Ok(())
            }
        }
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        if request.quantity == Quantity::Peak {
            self.watch_peak()?;
        }
        let lattice = &self.sweep.lattice;
        let levels = self.levels();
        let copy = |all: &[T], j: usize, out: &mut [f32]| {
            let first = lattice.index([request.x.start, j, request.z]);
            for (out, value) in out.iter_mut().zip(&all[first..]) {
                *out = single(value.wide());
            }
        };
        match request.quantity {
            Quantity::Pressure => threads::run(|| image.fill_real(request, |j, out| copy(&self.now, j, out))),
            Quantity::Peak => threads::run(|| image.fill_real(request, |j, out| copy(&self.peak, j, out))),
            Quantity::Energy => threads::run(|| {
                image.fill_real(request, |j, out| {
                    let mut energies = vec![0.0; lattice.size[0]];
                    self.sweep.energy_row(&levels, j, request.z, &mut energies);
                    for (out, value) in out.iter_mut().zip(&energies[request.x.start..]) {
                        *out = single(*value);
                    }
                });
            }),
            other => {
                return Err(SolverError::Unsupported(format!(
                    "view.quantity = \"{}\" is not a quantity of sound; choose pressure, energy or peak",
                    other.word()
                )));
            }
        }
        Ok(())
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        Ok(threads::run(|| self.sums()))
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        Ok(self.data(&self.now))
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        let sites = self.scenario.grid().sites();
        if field.len() != sites || matches!(field, FieldData::Complex64(_) | FieldData::Complex128(_)) {
            return Err(SolverError::StateMismatch(format!(
                "a pressure of {sites} real values is needed, and this array holds {}",
                field.len()
            )));
        }
        check_step(&self.scenario, clock.time_step)?;
        self.change_step(clock.time_step)?;
        self.clock = clock;
        self.put(field);
        self.start_at_rest();
        self.peak = Vec::new();
        Ok(())
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        let mut arrays = vec![
            (NOW.to_owned(), self.data(&self.now)),
            (OLD.to_owned(), self.data(&self.old)),
        ];
        for layer in &self.layers {
            let axis = ["x", "y", "z"][layer.axis];
            arrays.push((format!("psi_{axis}"), T::real_data(layer.psi.clone())));
            arrays.push((format!("zeta_{axis}"), T::real_data(layer.zeta.clone())));
        }
        if !self.peak.is_empty() {
            arrays.push((PEAK.to_owned(), self.data(&self.peak)));
        }
        Ok(SolverState {
            clock: self.clock,
            arrays,
            scalars: Vec::new(),
        })
    }

    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let sites = self.scenario.grid().sites();
        let array = |name: &str, len: usize| {
            let found = state
                .arrays
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, data)| data);
            match found {
                Some(data) if data.len() == len => Ok(data),
                Some(data) => Err(SolverError::StateMismatch(format!(
                    "`{name}` holds {} values where {len} belong",
                    data.len()
                ))),
                None => Err(SolverError::StateMismatch(format!("`{name}` is missing"))),
            }
        };
        let (now, old) = (array(NOW, sites)?, array(OLD, sites)?);
        let mut memories = Vec::new();
        for layer in &self.layers {
            let axis = ["x", "y", "z"][layer.axis];
            memories.push((
                array(&format!("psi_{axis}"), layer.psi.len())?,
                array(&format!("zeta_{axis}"), layer.zeta.len())?,
            ));
        }
        let peak = array(PEAK, sites).ok();
        // The medium of the saved step, before the levels are those of that step.
        self.change_step(state.clock.time_step)?;
        for (layer, (psi, zeta)) in self.layers.iter_mut().zip(memories) {
            copy(psi, &mut layer.psi);
            copy(zeta, &mut layer.zeta);
        }
        self.clock = state.clock;
        self.put(old);
        std::mem::swap(&mut self.now, &mut self.old);
        self.put(now);
        self.peak = Vec::new();
        if let Some(peak) = peak {
            self.watch_peak()?;
            let lattice = &self.sweep.lattice;
            for row in 0..lattice.rows() {
                for i in 0..lattice.size[0] {
                    self.peak[row * lattice.stride + lattice.front + i] = T::of(peak.at(row * lattice.size[0] + i).re);
                }
            }
        }
        Ok(())
    }
}

impl<T: Vectors> Fdtd<T> {
    /// pⁿ from an array of the grid's size.
    fn put(&mut self, field: &FieldData) {
        let [nx, ny, _] = self.sweep.lattice.size;
        self.fill(|j, k, out| {
            let first = nx * (j + ny * k);
            for (i, out) in out.iter_mut().enumerate() {
                *out = T::of(field.at(first + i).re);
            }
        });
    }
}

fn copy<T: Real>(from: &FieldData, to: &mut [T]) {
    for (i, to) in to.iter_mut().enumerate() {
        *to = T::of(from.at(i).re);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
fn single(value: f64) -> f32 {
    value as f32
}
