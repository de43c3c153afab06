//! A run: two levels of pressure, the sweep, and the sources.

use super::change::check_step;
use super::cpml::Layer;
use super::energy::Levels;
use super::lattice::Lattice;
use super::material::{Material, constants, read_walls};
use super::plan::{Given, Plan, fastest};
use super::share::Shared;
use super::sites::{Acts, Records};
use super::stage::{Memory, Mode, Watched};
use super::sweep::Sweep;
use super::tiling::Tiling;
use super::torre::Pass;
use super::walls::Walls;
use super::{half, objections, step_advice};
use crate::backend::simd::{Aligned, Vectors};
use crate::backend::threads;
use crate::field::FieldData;
use crate::grid::Edge;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::emit::Emitters;
use crate::solver::{Clock, SolverError, Taps};
use num_complex::Complex64;
use rayon::prelude::*;

/// The order in which rows and steps come; it changes speed only.
pub(super) enum Way {
    /// Step by step over the whole grid.
    Stepwise,
    /// Tower by tower.
    Towers {
        /// The variant's id.
        variant: &'static str,
        plan: Plan,
        tiling: Tiling,
    },
}

impl Way {
    /// What a scene asks for, or why that is not possible.
    fn new<T: Vectors>(scenario: &Scenario, lattice: &Lattice) -> Result<Self, String> {
        let large = scenario.grid().sites() >= LEAST_TILED;
        let variant = match (scenario.solver().variant.as_str(), lattice.rank) {
            ("diamond-torre", _) => TORRE,
            ("tiled", _) => TILED,
            ("auto", 2) if large => TILED,
            ("auto", 3) if large => TORRE,
            _ => return Ok(Self::Stepwise),
        };
        let whole = |key: &str| {
            usize::try_from(scenario.solver().integer(key, 0))
                .ok()
                .filter(|n| *n > 0)
        };
        let given = Given {
            dts: whole("dts"),
            tower: whole("tower"),
        };
        let plan = fastest::<T>(lattice, given);
        match Tiling::new(lattice, plan.dts) {
            Some(tiling) => Ok(Self::Towers { variant, plan, tiling }),
            None => {
                Err("a torus in y and z has no place where towers could start: it is stepped as a whole".to_owned())
            }
        }
    }
}

/// Ids of the variants that take many steps of a part at a time.
const TORRE: &str = "diamond-torre";
const TILED: &str = "tiled";
/// Smaller grids stay in the caches anyway.
const LEAST_TILED: usize = 1 << 19;

/// A run of one scenario.
pub struct Fdtd<T: Vectors> {
    pub(super) scenario: Scenario,
    /// The order in which rows and steps come.
    pub(super) way: Way,
    pub(super) clock: Clock,
    pub(super) sweep: Sweep<T>,
    pub(super) layers: Vec<Layer<T>>,
    pub(super) emitters: Emitters,
    /// pⁿ with ghosts.
    pub(super) now: Aligned<T>,
    /// pⁿ⁻¹ with ghosts: the level that the next step overwrites.
    pub(super) old: Aligned<T>,
    /// Largest |p| so far, once somebody asked for it; otherwise empty.
    pub(super) peak: Vec<T>,
    /// Φ⁺ = ∫p dt up to tₙ + Δt/2 with ghosts, where somebody asks for energy or flux; otherwise empty.
    pub(super) potential: Vec<T>,
    /// What the user should know beside.
    pub(super) note: Option<String>,
}

impl<T: Vectors> Fdtd<T> {
    /// A run at t = 0, step by step.
    pub fn new(scenario: &Scenario) -> Result<Self, SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        let time_step = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
        check_step(scenario, time_step)?;
        let lattice = Lattice::new(scenario.grid(), half(scenario));
        let (now, old) = (level(&lattice, 0)?, level(&lattice, BESIDE)?);
        let sweep = threads::run(|| sweep_of(scenario, lattice, time_step))?;
        let grid = scenario.grid();
        let mut layers = Vec::new();
        for axis in 0..grid.rank() {
            if grid.edges()[axis] == Edge::Absorb && grid.absorb_width() > 0 {
                layers.push(Layer::new(&sweep.lattice, axis, grid.absorb_width())?);
            }
        }
        let mut run = Self {
            emitters: Emitters::new(grid, scenario.sources(), &sweep.mask),
            way: Way::Stepwise,
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
            potential: Vec::new(),
            note: None,
        };
        run.set_layer_step();
        run.fill_initial();
        run.start_at_rest();
        if scenario.view().quantity == Quantity::Peak {
            run.watch_peak()?;
        }
        if scenario.asks_for_velocity() {
            run.watch_potential()?;
        }
        Ok(run)
    }

    /// The same run, by the variant that its scene asks for, with what there is to say beside.
    #[must_use]
    pub(super) fn in_its_order(mut self, note: Option<String>) -> Self {
        self.note = note;
        match Way::new::<T>(&self.scenario, &self.sweep.lattice) {
            Ok(way) => self.way = way,
            Err(why) => self.note = Some(self.note.map_or_else(|| why.clone(), |note| format!("{note}; {why}"))),
        }
        self
    }

    pub(super) fn set_layer_step(&mut self) {
        let speed = constants(&self.scenario).map_or(0.0, |acoustic| acoustic.speed);
        let courant = speed * self.clock.time_step / self.scenario.grid().spacing();
        for layer in &mut self.layers {
            layer.shape.set_step(courant);
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
            now.par_chunks_exact_mut(lattice.stride)
                .enumerate()
                .for_each(|(n, all)| {
                    let out = &mut all[lattice.front..lattice.front + nx];
                    row(n % ny, n / ny, out);
                    if let Some(walls) = mask.get(n * nx..(n + 1) * nx) {
                        for (value, wall) in out.iter_mut().zip(walls) {
                            if *wall {
                                *value = T::zero();
                            }
                        }
                    }
                });
            lattice.fill_all_ghosts(now, true);
        });
    }

    /// The level before pⁿ for dp/dt = 0: p⁻ = p + ½Δt²a, which is p⁺ as well.
    pub(super) fn start_at_rest(&mut self) {
        self.old.copy_from_slice(&self.now);
        let half = T::of(0.5);
        self.combine([half, half, T::zero()], false, 0.0);
        for layer in &mut self.layers {
            layer.psi.fill(T::zero());
        }
        self.sweep.settle(&self.now, &self.old, &mut self.layers);
        self.rest();
    }

    /// pⁿ⁻¹ ← w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹, sources played with the weight `played`.
    pub(super) fn combine(&mut self, weights: [T; 3], damped: bool, played: f64) {
        let acts = self.acts(self.clock.time, played);
        let (sweep, layers) = (&self.sweep, &mut self.layers);
        let (now, old) = (&self.now, &mut self.old);
        threads::run(|| {
            sweep.run(
                now,
                old,
                layers,
                Watched::default(),
                Mode::Combine { weights, damped },
                &acts,
            )
        });
    }

    /// What sources add to the step from `time`.
    pub(super) fn acts(&self, time: f64, weight: f64) -> Acts<T> {
        if weight == 0.0 {
            return Acts::default();
        }
        let Sweep { lattice, mask, .. } = &self.sweep;
        Acts::new(&self.emitters, lattice, mask, (time, self.clock.time_step), weight)
    }

    /// Steps and records; in the pool.
    pub(super) fn take(&mut self, steps: u64, taps: &mut Taps) {
        let mut records = match &self.way {
            Way::Towers { .. } => Records::new(&self.sweep.lattice, taps),
            Way::Stepwise => Records::new(&self.sweep.lattice, &Taps::default()),
        };
        let mut left = steps;
        while left > 0 {
            let longest = match &self.way {
                Way::Towers { plan, .. } => plan.tower.min(records.longest()),
                Way::Stepwise => 1,
            };
            let now = longest.min(usize::try_from(left).unwrap_or(longest));
            if now > 1 {
                self.pass(now, &mut records, taps);
            } else {
                self.step();
                self.touch_sites(taps);
                if !taps.taps().is_empty() {
                    self.record(&self.levels(), self.sound().as_ref(), self.clock.time, taps);
                }
            }
            left -= now as u64;
        }
    }

    /// Many steps, tower by tower; in the pool.
    fn pass(&mut self, steps: usize, records: &mut Records<T>, taps: &mut Taps) {
        let Way::Towers { tiling, .. } = &self.way else { return };
        let mut times = Vec::with_capacity(steps);
        let mut time = self.clock.time;
        let mut acts = Vec::with_capacity(steps);
        for _ in 0..steps {
            acts.push(self.acts(time, 1.0));
            time += self.clock.time_step;
            times.push(time);
        }
        self.join_transducers(&mut acts, taps);
        let mut visited = vec![false; self.sweep.lattice.rows()];
        for row in acts.iter().flat_map(Acts::rows).chain(records.rows().iter().copied()) {
            visited[row] = true;
        }
        records.begin(&self.now, &self.potential, steps);
        let keeper = records.writer();
        let memories = Memory::of(&mut self.layers);
        self.sweep.towers(
            tiling,
            &Pass {
                levels: [Shared::new(&mut self.now), Shared::new(&mut self.old)],
                memories: &memories,
                acts: &acts,
                visited: &visited,
                watched: Watched::of(&mut self.peak, &mut self.potential, self.clock.time_step),
                keeper: &keeper,
            },
        );
        if steps % 2 == 1 {
            std::mem::swap(&mut self.now, &mut self.old);
        }
        self.clock.steps += steps as u64;
        self.clock.time = time;
        self.hear(records, steps, taps);
        if taps.taps().is_empty() {
            return;
        }
        for (n, time) in times.into_iter().enumerate() {
            let ((old, slots), (now, _)) = (records.level(n), records.level(n + 1));
            let levels = Levels {
                newer: now,
                other: old,
                slots: Some(slots),
                ..self.levels()
            };
            let sound = records.potential(n + 1).map(|potential| Levels {
                newer: potential,
                other: now,
                mix: [1.0, -self.clock.time_step],
                ..levels
            });
            self.record(&levels, sound.as_ref(), time, taps);
        }
    }

    /// One step; in the pool.
    pub(super) fn step(&mut self) {
        let acts = self.acts(self.clock.time, 1.0);
        let watched = Watched::of(&mut self.peak, &mut self.potential, self.clock.time_step);
        self.sweep
            .run(&self.now, &mut self.old, &mut self.layers, watched, Mode::Step, &acts);
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

/// Cache lines by which the older level is shifted in its page against the newer one, so that stores into one never lie at the
/// places of a page that the next loads from the other read.
pub(super) const BESIDE: usize = 37;

/// A level of the pressure.
pub(super) fn level<T: Vectors>(lattice: &Lattice, lines: usize) -> Result<Aligned<T>, SolverError> {
    Aligned::try_zeros(lattice.values(), lines).ok_or_else(|| SolverError::OutOfMemory {
        what: "the pressure".to_owned(),
        needed: (lattice.values() * size_of::<T>()) as u64,
        available: 0,
    })
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
