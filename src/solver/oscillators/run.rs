//! The state on the processor: the field, the sweeps, the events at sites.

use super::blocked::Blocked;
use super::events::{Damping, Kicks, Recorder, SiteEvents};
use super::field::Field;
use super::layout::Layout;
use super::measure::{EnergyProbe, Read, Rows};
use super::naive;
use super::plan::fastest;
use super::scheme::Scheme;
use super::springs::{Masses, Springs};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::FieldData;
use crate::physics::{Measure, Observables};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::emit::Emitters;
use crate::solver::acoustic::medium::allocate;
use crate::solver::acoustic::outward::Domain;
use crate::solver::acoustic::sums::{Sums, single, total};
use crate::solver::clock::RunClock;
use crate::solver::setup::{Choice, Setup};
use crate::solver::taps::{RowNumbers, Tap};
use crate::solver::tiling::Plan;
use crate::solver::transducers::Act;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use num_complex::Complex64;
use rayon::prelude::*;

/// The schedule of steps.
pub(super) enum Schedule<T> {
    Naive,
    Blocked(Box<Blocked<T>>),
}

/// The plan of the variant that a scene asks for; none where there are no blocks.
fn chosen_plan<T: Vectors>(setup: &Setup, masses: &Masses) -> Option<Plan> {
    let Choice {
        order,
        block,
        fused_steps,
        ..
    } = &setup.choice;
    let grid = setup.scenario.grid();
    (!setup.choice.is("naive")).then(|| fastest::<T>(grid, masses, *order, block, *fused_steps))
}

/// q and p of one scenario, with the medium for sweeps.
pub(super) struct Oscillators<T: Vectors> {
    pub(super) scenario: Scenario,
    pub(super) order: u32,
    /// Δt with its sign.
    pub(super) time_step: f64,
    pub(super) masses: Masses,
    pub(super) springs: Springs<T>,
    pub(super) damping: Damping<T>,
    emitters: Emitters,
    pub(super) schedule: Schedule<T>,
    pub(super) field: Field<T>,
    /// Largest |p| so far, if it is kept; otherwise empty.
    pub(super) peak: Vec<T>,
    /// Φ⁺ = ∫q dt up to half a step later, where energy or flux is asked for; otherwise empty.
    pub(super) potential: Vec<T>,
}

impl<T: Vectors> Oscillators<T> {
    /// The state at t = 0, stepped by the variant that its scene asks for.
    pub(super) fn new(setup: &Setup) -> Result<Self, SolverError> {
        Self::planned(setup, chosen_plan::<T>)
    }

    /// The same, stepped by one pass a sweep.
    #[cfg(any(feature = "cuda", feature = "gui"))]
    pub(super) fn naive(setup: &Setup) -> Result<Self, SolverError> {
        Self::planned(setup, |_, _| None)
    }

    fn planned(setup: &Setup, plan: impl FnOnce(&Setup, &Masses) -> Option<Plan>) -> Result<Self, SolverError> {
        let (scenario, order, time_step) = (&setup.scenario, setup.choice.order, setup.time_step);
        let grid = scenario.grid();
        let masses = threads::run(|| Masses::new(scenario))?;
        let scheme = Scheme::new(order, time_step);
        let substeps = scheme.substeps.len();
        let plan = plan(setup, &masses);
        let pad = match &plan {
            Some(plan) if grid.is_periodic(0) => plan.fused * substeps,
            _ => 0,
        };
        let layout = Layout::new(grid, pad);
        let schedule = plan.map_or(Schedule::Naive, |plan| {
            Schedule::Blocked(Box::new(Blocked::new(grid, plan, substeps, &layout)))
        });
        let mut state = Self {
            emitters: Emitters::of(scenario, &masses.walls, 1),
            scenario: scenario.clone(),
            order,
            time_step,
            damping: threads::run(|| Damping::new(scenario, &layout, time_step)),
            field: Field::new(&layout),
            springs: threads::run(|| Springs::new(&masses, layout, scheme)),
            masses,
            schedule,
            peak: Vec::new(),
            potential: Vec::new(),
        };
        state.fill_initial();
        if scenario.view().quantity == Quantity::Peak {
            state.watch_peak()?;
        }
        if scenario.asks_for_velocity() {
            state.watch_potential()?;
        }
        Ok(state)
    }

    fn fill_initial(&mut self) {
        let grid = self.scenario.grid().clone();
        let initial = self.scenario.initial().clone();
        let rows = initial.rows(&grid);
        self.put(
            |field| &mut field.q,
            |j, out| {
                let mut complex = vec![Complex64::ZERO; out.len()];
                rows.fill(j, 0, &mut complex);
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

    /// Reads coefficients and damping for a Δt; the field stays.
    pub(super) fn read_coefficients(&mut self, time_step: f64) {
        self.shift_potential(time_step);
        self.time_step = time_step;
        let scheme = Scheme::new(self.order, time_step);
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
        let masses = threads::run(|| Masses::new(scenario))?;
        let old = std::mem::replace(&mut self.masses, masses);
        self.scenario = scenario.clone();
        self.emitters = Emitters::of(scenario, &self.masses.walls, 1);
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
        self.read_coefficients(self.time_step);
        Ok(())
    }

    /// The kicks of sources at time `t` in half a step.
    pub(super) fn kicks(&self, t: f64) -> Kicks<T> {
        let half = self.time_step / 2.0;
        let mut kicks = Vec::new();
        self.emitters.play(t, &self.masses.walls, |[i, j, _], strength| {
            kicks.push((j, i, T::of(half * strength * self.masses.mass(i, j))));
        });
        kicks.sort_by_key(|(row, column, _)| (*row, *column));
        kicks
    }

    /// Steps of a batch.
    pub(super) fn fused(&self) -> usize {
        match &self.schedule {
            Schedule::Naive => 1,
            Schedule::Blocked(blocked) => blocked.fused(),
        }
    }

    /// Takes a batch of steps, with signals and records of transducers.
    pub(super) fn batch(
        &mut self,
        clock: &RunClock,
        steps: usize,
        taps: &mut Taps,
        recorder: Option<&mut Recorder<T>>,
    ) {
        let kicks = if self.scenario.sources().is_empty() {
            Vec::new()
        } else {
            let moments = 0..=steps as u64;
            moments.map(|n| self.kicks(clock.after(n).time())).collect()
        };
        let (played, holds) = self.played(steps, taps);
        let potential = (&mut self.potential[..], self.time_step);
        let mut events = SiteEvents::new(&self.springs.layout, &self.damping, recorder, &mut self.peak, potential);
        (events.kicks, events.played, events.holds) = (kicks, played, holds);
        match &mut self.schedule {
            Schedule::Naive => naive::steps(&mut self.field, &self.springs, &events, steps),
            Schedule::Blocked(blocked) => blocked.pass(&mut self.field, &self.springs, &events, steps),
        }
    }

    /// Takes steps, after each of which transducers act and detectors record.
    pub(super) fn take_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        let grid = self.scenario.grid().clone();
        let most = self.fused().min(usize::try_from(steps).unwrap_or(usize::MAX));
        let mut recorder = Recorder::new(&grid, taps, most);
        let mut done = 0;
        while done < steps {
            let start = clock.after(done);
            let mut left = steps - done;
            if recorder.reads_field() {
                left = taps.until_due(&start, left);
            }
            let count = recorder.depth().min(usize::try_from(left).unwrap_or(usize::MAX));
            done += count as u64;
            self.batch(&start, count, taps, Some(&mut recorder));
            if let Some(own) = taps.transducers_mut().as_mut().filter(|own| own.act() == Act::Record) {
                let heard = recorder.heard(count).iter();
                own.hear(
                    &heard
                        .map(|[q, p]| Complex64::new(q.wide(), p.wide()))
                        .collect::<Vec<_>>(),
                );
            }
            for step in 0..count {
                record(&start.after(step as u64 + 1), taps, |n, tap| {
                    self.recorded(&recorder, step, n, tap)
                });
            }
        }
    }

    /// Lets transducers act on the field, then detectors record it.
    pub(super) fn see(&mut self, clock: &RunClock, taps: &mut Taps) {
        self.drive_sites(taps);
        record(clock, taps, |_, tap| self.seen(tap));
    }

    /// What rows add to detector `n` after a step of the last batch; to one that is read from the field, at the end of it.
    fn recorded(&self, recorder: &Recorder<T>, step: usize, n: usize, tap: &Tap) -> RowNumbers {
        if let Some(rows) = recorder.reduced(step, n) {
            return rows;
        }
        if recorder.reads_field() {
            return self.seen(tap);
        }
        self.rows_of_tap(tap, &|j, i, first, second| {
            let at = i - recorder.first_column(n);
            let [q, other] = recorder.row(step, n, j);
            for (n, (first, second)) in first.iter_mut().zip(second).enumerate() {
                (*first, *second) = (q[at + n].wide(), other[at + n].wide());
                if tap.moves() {
                    (*first, *second) = self.centred(*second, *first);
                }
            }
        })
    }

    /// What rows add to a detector now.
    fn seen(&self, tap: &Tap) -> RowNumbers {
        if tap.moves() {
            self.rows_of_tap(tap, &|j, i, phi, rate| self.read_sound(j, i, phi, rate))
        } else {
            self.rows_of_tap(tap, &|j, i, q, p| self.read(j, i, q, p))
        }
    }

    /// What rows add to a detector, from a field that `read` reads.
    fn rows_of_tap(&self, tap: &Tap, read: Read) -> RowNumbers {
        let gauge = self.gauge(read, tap.moves());
        let [lo, hi] = [tap.lo[0], tap.hi[0]];
        let columns = hi.saturating_sub(lo);
        if !tap.shares.is_empty() {
            let value = |([i, j, _], _): &([usize; 3], f64)| {
                let (mut q, mut p) = ([0.0], [0.0]);
                read(*j, *i, &mut q, &mut p);
                (*j, q[0])
            };
            return tap.shares.iter().map(value).collect();
        }
        let rows = if columns > 0 { tap.lo[1]..tap.hi[1] } else { 0..0 };
        if tap.measure == Measure::Energy {
            let scratch = || (Rows::default(), vec![0.0; columns]);
            let sum = |(rows, energies): &mut (Rows, Vec<f64>), j: usize| {
                gauge.energy_row(rows, j, lo, hi, energies);
                (j, energies.iter().sum())
            };
            return rows.into_par_iter().with_min_len(16).map_init(scratch, sum).collect();
        }
        let (mut scratch, mut values, mut momenta) = (Rows::default(), vec![0.0; columns], vec![0.0; columns]);
        let mut number = |j: usize| {
            if tap.measure == Measure::Flux {
                return (lo..hi).map(|i| gauge.flux(&mut scratch, [i, j], tap.across)).sum();
            }
            read(j, lo, &mut values, &mut momenta);
            match tap.measure {
                Measure::Value => values[0],
                Measure::Probability => values.iter().map(|value| value * value).sum(),
                Measure::Peak => values.iter().fold(0.0, |most: f64, value| most.max(value.abs())),
                _ => values.iter().sum(),
            }
        };
        let count = if tap.measure == Measure::Value { 1 } else { rows.len() };
        rows.take(count).map(|j| (j, number(j))).collect()
    }

    fn gauge<'a>(&'a self, read: Read<'a>, sound: bool) -> EnergyProbe<'a> {
        EnergyProbe {
            grid: self.scenario.grid(),
            inside: Domain::new(self.scenario.grid()).bounds(),
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

    pub(super) fn total(&self) -> Observables {
        total(&self.sums_of_rows(), self.scenario.grid())
    }

    /// Sums over every row.
    pub(super) fn sums_of_rows(&self) -> Vec<Sums> {
        let grid = self.scenario.grid();
        let [nx, ny, _] = grid.size();
        let read: Read = &|j, i, q, p| self.read(j, i, q, p);
        let read_sound: Read = &|j, i, phi, rate| self.read_sound(j, i, phi, rate);
        let gauge = self.gauge(read, false);
        let sound = (!self.potential.is_empty()).then(|| self.gauge(read_sound, true));
        (0..ny)
            .into_par_iter()
            .map_init(
                || (Rows::default(), vec![0.0; nx], vec![0.0; nx], vec![0.0; nx]),
                |(rows, energies, q, p), j| {
                    let mut sum = |gauge: &EnergyProbe| {
                        gauge.energy_row(rows, j, 0, nx, energies);
                        energies.iter().sum()
                    };
                    let invariant = sum(&gauge);
                    let energy = sound.as_ref().map_or(f64::NAN, sum);
                    self.read(j, 0, q, p);
                    Sums::of_row(q, [energy, invariant])
                },
            )
            .collect()
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
            _ => image.fill_real(request, |j, out| copy(&self.field.q, j, out)),
        }
        Ok(())
    }
}

/// Records what `rows_of` gives of each detector: its value, or the rows themselves where parts of a grid keep them.
fn record(clock: &RunClock, taps: &mut Taps, rows_of: impl Fn(usize, &Tap) -> RowNumbers) {
    if taps.keeps_rows() {
        taps.push_rows(clock, rows_of);
        return;
    }
    taps.record(clock, |n, tap| {
        let numbers: Vec<f64> = rows_of(n, tap).iter().map(|(_, number)| *number).collect();
        tap.value_of_rows(&numbers)
    });
}
