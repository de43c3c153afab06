//! A run on the processor: the field, the sweeps, the visits, and what they show.

use super::blocked::Blocked;
use super::field::Field;
use super::layout::Layout;
use super::measure::{Gauge, Read, Rows};
use super::plan::fastest;
use super::scheme::Scheme;
use super::springs::{Masses, Springs};
use super::visits::{Damping, Kicks, Visits, Windows};
use super::{check_step, naive, objections, order, stability, step_advice};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::FieldData;
use crate::physics::{Measure, Observables};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::emit::Emitters;
use crate::solver::fdtd::material::allocate;
use crate::solver::fdtd::observe::{Sums, single, total};
use crate::solver::taps::Tap;
use crate::solver::tiling::Plan;
use crate::solver::{Clock, FieldImage, ImageRequest, SolverError, Taps};
use num_complex::Complex64;
use rayon::prelude::*;

/// How steps are taken.
pub(super) enum Stepper<T> {
    Naive,
    Blocked(Box<Blocked<T>>),
}

/// The plan of the variant that a scene asks for; none where there are no blocks.
fn chosen_plan<T: Vectors>(scenario: &Scenario, masses: &Masses) -> Result<Option<Plan>, SolverError> {
    let settings = scenario.solver();
    match settings.variant.as_str() {
        "naive" => Ok(None),
        "auto" | "blocked" => {
            let block = settings.sizes("block");
            let fused = settings.sizes("fused_steps").first().copied();
            Ok(Some(fastest::<T>(
                scenario.grid(),
                masses,
                order(scenario),
                &block,
                fused,
            )))
        }
        other => Err(SolverError::Unsupported(format!(
            "oscillators has no variant `{other}` on the processor; take one of auto, naive, blocked"
        ))),
    }
}

/// A run of one scenario.
pub(super) struct Oscillators<T: Vectors> {
    pub(super) scenario: Scenario,
    pub(super) clock: Clock,
    pub(super) masses: Masses,
    pub(super) springs: Springs<T>,
    pub(super) damping: Damping<T>,
    emitters: Emitters,
    pub(super) stepper: Stepper<T>,
    pub(super) field: Field<T>,
    /// Largest |p| so far, once somebody asked for it; otherwise empty.
    pub(super) peak: Vec<T>,
    /// Φ⁺ = ∫q dt up to half a step later, where somebody asks for energy or flux; otherwise empty.
    pub(super) potential: Vec<T>,
    /// What the user should know beside.
    pub(super) note: Option<String>,
}

impl<T: Vectors> Oscillators<T> {
    /// A run at t = 0, by the variant that its scene asks for.
    pub(super) fn new(scenario: &Scenario, note: Option<String>) -> Result<Self, SolverError> {
        Self::planned(scenario, note, chosen_plan::<T>)
    }

    /// A run at t = 0, one pass a sweep.
    #[cfg(feature = "cuda")]
    pub(super) fn naive(scenario: &Scenario) -> Result<Self, SolverError> {
        Self::planned(scenario, None, |_, _| Ok(None))
    }

    fn planned(
        scenario: &Scenario,
        note: Option<String>,
        plan: impl FnOnce(&Scenario, &Masses) -> Result<Option<Plan>, SolverError>,
    ) -> Result<Self, SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        let time_step = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
        check_step(scenario, time_step)?;
        let grid = scenario.grid();
        let masses = threads::run(|| Masses::new(scenario))?;
        let scheme = Scheme::new(order(scenario), time_step);
        let substeps = scheme.substeps.len();
        let plan = plan(scenario, &masses)?;
        let pad = match &plan {
            Some(plan) if grid.is_periodic(0) => plan.fused * substeps,
            _ => 0,
        };
        let layout = Layout::new(grid, pad);
        let stepper = plan.map_or(Stepper::Naive, |plan| {
            Stepper::Blocked(Box::new(Blocked::new(grid, plan, substeps, &layout)))
        });
        let mut run = Self {
            emitters: Emitters::new(grid, scenario.sources(), &masses.walls),
            scenario: scenario.clone(),
            clock: Clock {
                steps: 0,
                time: 0.0,
                time_step,
            },
            damping: threads::run(|| Damping::new(scenario, &layout, time_step)),
            field: Field::new(&layout),
            springs: threads::run(|| Springs::new(&masses, layout, scheme)),
            masses,
            stepper,
            peak: Vec::new(),
            potential: Vec::new(),
            note,
        };
        run.fill_initial();
        if scenario.view().quantity == Quantity::Peak {
            run.watch_peak()?;
        }
        if scenario.asks_for_velocity() {
            run.watch_potential()?;
        }
        Ok(run)
    }

    fn fill_initial(&mut self) {
        let grid = self.scenario.grid().clone();
        let initial = self.scenario.initial().clone();
        self.put(
            |field| &mut field.q,
            |j, out| {
                let mut complex = vec![Complex64::ZERO; out.len()];
                initial.fill_row(&grid, j, 0, &mut complex);
                for (out, value) in out.iter_mut().zip(&complex) {
                    *out = T::of(value.re);
                }
            },
        );
    }

    /// Writes one of the arrays row by row; walls hold 0.
    pub(super) fn put(&mut self, which: impl Fn(&mut Field<T>) -> &mut Vec<T>, row: impl Fn(usize, &mut [T]) + Sync) {
        let (layout, masses) = (&self.springs.layout, &self.masses);
        let nx = layout.size[0];
        let all = which(&mut self.field);
        threads::run(|| {
            all.par_chunks_mut(layout.stride()).enumerate().for_each_init(
                || vec![T::zero(); nx],
                |values, (j, out)| {
                    row(j, values);
                    for (i, value) in values.iter().enumerate() {
                        out[layout.column(i)] = if masses.is_wall(i, j) { T::zero() } else { *value };
                    }
                },
            );
        });
    }

    /// Reads coefficients and damping for another Δt; the field stays.
    pub(super) fn change_step(&mut self, time_step: f64) {
        self.shift_potential(time_step);
        self.clock.time_step = time_step;
        let scheme = Scheme::new(order(&self.scenario), time_step);
        let layout = self.springs.layout.clone();
        // Frees the old coefficients before new ones are made.
        self.springs.tables = Vec::new();
        let (masses, scenario) = (&self.masses, &self.scenario);
        let (springs, damping) = threads::run(|| {
            let damping = Damping::new(scenario, &layout, time_step);
            (Springs::new(masses, layout, scheme), damping)
        });
        (self.springs, self.damping) = (springs, damping);
    }

    /// Reads the medium and the sources again: pressure and its rate stay.
    pub(super) fn read_medium(&mut self, scenario: &Scenario) -> Result<(), SolverError> {
        if let Some(objection) = objections(scenario).into_iter().next() {
            return Err(SolverError::Unsupported(objection));
        }
        if order(scenario) != order(&self.scenario) || scenario.grid() != self.scenario.grid() {
            return Err(SolverError::Unsupported(
                "another grid or order needs another solver".to_owned(),
            ));
        }
        // A faster medium may need a smaller step: the scene's own, if that is stable.
        let mut time_step = self.clock.time_step;
        if time_step.abs() > stability::limit(scenario, order(scenario)) {
            let wanted = scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto);
            check_step(scenario, wanted)?;
            time_step = wanted * time_step.signum();
        }
        let masses = threads::run(|| Masses::new(scenario))?;
        let old = std::mem::replace(&mut self.masses, masses);
        self.scenario = scenario.clone();
        self.emitters = Emitters::new(scenario.grid(), scenario.sources(), &self.masses.walls);
        let (layout, masses) = (&self.springs.layout, &self.masses);
        let nx = layout.size[0];
        let Field { q, p } = &mut self.field;
        threads::run(|| {
            let stride = layout.stride();
            (q.par_chunks_mut(stride).zip(p.par_chunks_mut(stride)).enumerate()).for_each(|(j, (q, p))| {
                let (mut before, mut after) = (super::springs::Row::default(), super::springs::Row::default());
                if !(old.uniform && masses.uniform) {
                    old.row(j, &mut before);
                    masses.row(j, &mut after);
                    for i in 0..nx {
                        let place = layout.column(i);
                        if masses.is_wall(i, j) {
                            (q[place], p[place]) = (T::zero(), T::zero());
                        } else {
                            p[place] *= T::of(after.mass[i] / before.mass[i]);
                        }
                    }
                }
            });
        });
        if !self.potential.is_empty() {
            for (j, row) in self.potential.chunks_mut(layout.stride()).enumerate() {
                for i in (0..nx).filter(|i| masses.is_wall(*i, j)) {
                    row[layout.column(i)] = T::zero();
                }
            }
        }
        self.change_step(time_step);
        Ok(())
    }

    /// What sources add to momenta at time `t` in half a step.
    pub(super) fn kicks(&self, t: f64) -> Kicks<T> {
        let half = self.clock.time_step / 2.0;
        let mut kicks = Vec::new();
        self.emitters.play(t, &self.masses.walls, |[i, j, _], strength| {
            kicks.push((j, i, T::of(half * strength * self.masses.mass(i, j))));
        });
        kicks.sort_by_key(|(row, column, _)| (*row, *column));
        kicks
    }

    /// Steps of a batch.
    pub(super) fn fused(&self) -> usize {
        match &self.stepper {
            Stepper::Naive => 1,
            Stepper::Blocked(blocked) => blocked.fused(),
        }
    }

    /// Takes a batch of steps; in the pool.
    pub(super) fn batch(&mut self, steps: usize, windows: Option<&mut Windows<T>>) {
        let mut times = vec![self.clock.time];
        for n in 0..steps {
            times.push(times[n] + self.clock.time_step);
        }
        let kicks = if self.scenario.sources().is_empty() {
            Vec::new()
        } else {
            times.iter().map(|t| self.kicks(*t)).collect()
        };
        let potential = (&mut self.potential[..], self.clock.time_step);
        let mut visits = Visits::new(&self.springs.layout, &self.damping, windows, &mut self.peak, potential);
        visits.kicks = kicks;
        match &mut self.stepper {
            Stepper::Naive => naive::steps(&mut self.field, &self.springs, &visits, steps),
            Stepper::Blocked(blocked) => blocked.pass(&mut self.field, &self.springs, &visits, steps),
        }
        self.clock.steps += steps as u64;
        self.clock.time = times[steps];
    }

    /// Takes steps and records every one of them; in the pool.
    pub(super) fn advance_recording(&mut self, steps: u64, taps: &mut Taps) {
        let grid = self.scenario.grid().clone();
        let most = self.fused().min(usize::try_from(steps).unwrap_or(usize::MAX));
        let mut windows = Windows::new(&grid, taps, most);
        let mut left = steps;
        while left > 0 {
            // Transducers act between two steps, and detectors see what they have done.
            let touches = taps.touches();
            let count = match &windows {
                Some(windows) if !touches => windows.depth(),
                None if !touches && taps.taps().is_empty() => self.fused(),
                _ => 1,
            };
            let count = count.min(usize::try_from(left).unwrap_or(usize::MAX));
            let before = self.clock;
            self.batch(count, windows.as_mut().filter(|_| !touches));
            self.touch_sites(taps);
            let mut time = before.time;
            for step in 0..count {
                time += before.time_step;
                let mut number = 0;
                let value = |tap: &Tap| {
                    let n = number;
                    number += 1;
                    match windows.as_ref().filter(|_| !touches) {
                        None if tap.moves() => self.tap_value(tap, &|j, i, phi, rate| self.read_sound(j, i, phi, rate)),
                        None => self.tap_value(tap, &|j, i, q, p| self.read(j, i, q, p)),
                        Some(windows) => self.tap_value(tap, &|j, i, first, second| {
                            let window = &windows.boxes[n];
                            let [q, other] = windows.row(step, n, j);
                            let at = i - window.columns.start;
                            for (n, (first, second)) in first.iter_mut().zip(second).enumerate() {
                                (*first, *second) = (q[at + n].wide(), other[at + n].wide());
                                if tap.moves() {
                                    (*first, *second) = self.centred(*second, *first);
                                }
                            }
                        }),
                    }
                };
                taps.record(time, value);
            }
            left -= count as u64;
        }
    }

    /// The value of a detector, from a field that `read` reads.
    fn tap_value(&self, tap: &Tap, read: Read) -> f64 {
        let gauge = self.gauge(read, tap.moves());
        if tap.measure == Measure::Energy {
            let [lo, hi] = [tap.lo[0], tap.hi[0]];
            let scratch = || (Rows::default(), vec![0.0; hi.saturating_sub(lo)]);
            return tap.sum_of_rows(scratch, |(rows, energies), j, _| {
                gauge.energy_row(rows, j, lo, hi, energies);
                energies.iter().sum()
            });
        }
        let mut rows = Rows::default();
        let mut momenta = vec![0.0; tap.hi[0].saturating_sub(tap.lo[0])];
        tap.acoustic(|j, _, out| match tap.measure {
            Measure::Flux => {
                for (i, out) in (tap.lo[0]..).zip(out) {
                    *out = gauge.flux(&mut rows, [i, j], tap.across);
                }
            }
            _ => read(j, tap.lo[0], out, &mut momenta),
        })
    }

    fn gauge<'a>(&'a self, read: Read<'a>, sound: bool) -> Gauge<'a> {
        Gauge {
            grid: self.scenario.grid(),
            masses: &self.masses,
            read,
            sound,
        }
    }

    /// Sites i.. of row `j`.
    fn read(&self, j: usize, i: usize, q: &mut [f64], p: &mut [f64]) {
        let layout = &self.springs.layout;
        let all = i..i + q.len();
        Field::read(layout, &self.field.q, j, all.clone(), |n, value| q[n] = value.wide());
        Field::read(layout, &self.field.p, j, all, |n, value| p[n] = value.wide());
    }

    /// Starts to keep the largest |p| of every site.
    pub(super) fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_empty() {
            self.peak = allocate(self.field.q.len(), "the largest pressures")?;
            for (peak, value) in self.peak.iter_mut().zip(&self.field.q) {
                *peak = value.abs();
            }
        }
        Ok(())
    }

    pub(super) fn sums(&self) -> Observables {
        let grid = self.scenario.grid();
        let [nx, ny, _] = grid.size();
        let read: Read = &|j, i, q, p| self.read(j, i, q, p);
        let read_sound: Read = &|j, i, phi, rate| self.read_sound(j, i, phi, rate);
        let gauge = self.gauge(read, false);
        let sound = (!self.potential.is_empty()).then(|| self.gauge(read_sound, true));
        let rows: Vec<Sums> = (0..ny)
            .into_par_iter()
            .map_init(
                || (Rows::default(), vec![0.0; nx], vec![0.0; nx], vec![0.0; nx]),
                |(rows, energies, q, p), j| {
                    let mut sum = |gauge: &Gauge| {
                        gauge.energy_row(rows, j, 0, nx, energies);
                        energies.iter().sum()
                    };
                    let invariant = sum(&gauge);
                    let energy = sound.as_ref().map_or(f64::NAN, sum);
                    self.read(j, 0, q, p);
                    Sums::of_row(q, [energy, invariant])
                },
            )
            .collect();
        total(&rows, grid)
    }

    /// One of the arrays, x fastest.
    pub(super) fn data(&self, all: &[T]) -> FieldData {
        let layout = &self.springs.layout;
        let [nx, ny] = layout.size;
        let mut out = Vec::with_capacity(nx * ny);
        for j in 0..ny {
            Field::read(layout, all, j, 0..nx, |_, value| out.push(value));
        }
        T::real_data(out)
    }

    pub(super) fn draw(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        match request.quantity {
            Quantity::Peak => self.watch_peak()?,
            Quantity::Energy => self.watch_potential()?,
            _ => {}
        }
        let layout = &self.springs.layout;
        let copy = |all: &[T], j: usize, out: &mut [f32]| {
            Field::read(layout, all, j, request.x.clone(), |n, value| {
                out[n] = single(value.wide());
            });
        };
        match request.quantity {
            Quantity::Pressure => image.fill_real(request, |j, out| copy(&self.field.q, j, out)),
            Quantity::Peak => image.fill_real(request, |j, out| copy(&self.peak, j, out)),
            Quantity::Energy => {
                let read: Read = &|j, i, phi, rate| self.read_sound(j, i, phi, rate);
                let gauge = self.gauge(read, true);
                image.fill_real(request, |j, out| {
                    let mut energies = vec![0.0; out.len()];
                    gauge.energy_row(&mut Rows::default(), j, request.x.start, request.x.end, &mut energies);
                    for (out, value) in out.iter_mut().zip(&energies) {
                        *out = single(*value);
                    }
                });
            }
            other => {
                return Err(SolverError::Unsupported(format!(
                    "view.quantity = \"{}\" is not a quantity of sound; choose pressure, energy or peak",
                    other.word()
                )));
            }
        }
        Ok(())
    }
}
