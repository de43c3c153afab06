//! A run: clock, edits, sums and states around a [`Propagator`], which holds the field in a layout of its own.

use super::hamiltonian::Hamiltonian;
use super::line::Partitioned;
use super::plane::Plane;
use super::thomas::EndToEnd;
use super::{METHOD, Number, objections, step_advice};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Precision, Real, narrow, wide};
use crate::grid::{Edge, Grid};
use crate::physics::{Measure, Observables, Quantum, Sets};
use crate::scene::Scenario;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Steps after which a run in single precision gets its norm back.
const NORM_EVERY: u64 = 64;
/// Sites that one task sums.
const PART: usize = 4096;

/// A field and the steps of it.
pub(super) trait Propagator<T: Real>: Send + Sync {
    /// The variant's id.
    fn variant(&self) -> &'static str;
    /// What was chosen, for people.
    fn details(&self) -> String;
    /// Bytes held.
    fn memory(&self) -> usize;
    /// Fixes Δt and all that depends on it.
    fn set_step(&mut self, dt: f64);
    /// Steps from `time`; many at once give the same bits as one by one.
    fn advance(&mut self, time: f64, steps: u64);
    /// ψ of the sites from `first` on, x fastest.
    fn read(&self, first: usize, out: &mut [Complex<T>]);
    /// Changes ψ site by site; walls become zero.
    fn change(&mut self, change: &(dyn Fn(usize, &mut Complex<T>) + Sync));
    /// What the drives are worth at a time.
    fn drives_at(&self, time: f64) -> Vec<f64>;
    /// Diagonal of H at a site, without interaction.
    fn energy_at(&self, site: usize, drives: &[f64]) -> f64;
    /// Where it steps.
    fn backend(&self) -> Backend {
        Backend::Cpu
    }
    /// How many work at it.
    fn workers(&self) -> usize {
        threads::count()
    }
    /// Makes ψ as it stands ready for [`Self::read`].
    fn fetch(&mut self) {}
    /// Scales ψ to Σ|ψ|² = `weight`, if it can do so where ψ lies.
    fn scale_to(&mut self, _weight: f64) -> bool {
        false
    }
    /// What has gone wrong since it was asked last.
    fn fault(&mut self) -> Result<(), SolverError> {
        Ok(())
    }
}

/// A Crank–Nicolson run.
pub(super) struct Run<T: Real> {
    scenario: Scenario,
    quantum: Quantum,
    clock: Clock,
    /// Σ|ψ|² that imaginary time restores after each step, and single precision every [`NORM_EVERY`].
    weight: f64,
    propagator: Box<dyn Propagator<T>>,
    /// What the user should know beside.
    note: Option<String>,
}

impl<T: Number> Run<T> {
    /// A run at t = 0.
    pub(super) fn new(scenario: &Scenario) -> Result<Self, SolverError> {
        let quantum = scenario
            .model()
            .quantum()
            .ok_or_else(|| SolverError::Unsupported("crank-nicolson steps quantum scenes only".to_owned()))?;
        threads::run(|| {
            let (propagator, note) = propagator(scenario, quantum)?;
            let mut run = Self {
                propagator,
                note,
                scenario: scenario.clone(),
                quantum,
                clock: Clock {
                    steps: 0,
                    time: 0.0,
                    time_step: scenario.time().step.unwrap_or_else(|| step_advice(scenario).auto),
                },
                weight: 0.0,
            };
            run.propagator.set_step(run.clock.time_step);
            run.set_initial();
            run.propagator.fault()?;
            Ok(run)
        })
    }
}

/// A field and its steps, and what there is to say about the choice.
type Chosen<T> = (Box<dyn Propagator<T>>, Option<String>);

#[cfg_attr(
    not(feature = "cuda"),
    expect(clippy::unnecessary_wraps, reason = "devices may fail")
)]
fn propagator<T: Number>(scenario: &Scenario, quantum: Quantum) -> Result<Chosen<T>, SolverError> {
    #[cfg(feature = "cuda")]
    let note = match super::cuda::propagator(scenario, quantum)? {
        (Some(device), note) => return Ok((device, note)),
        (None, note) => note,
    };
    #[cfg(not(feature = "cuda"))]
    let note = None;
    Ok((on_processor(scenario, quantum), note))
}

fn on_processor<T: Vectors>(scenario: &Scenario, quantum: Quantum) -> Box<dyn Propagator<T>> {
    let level = Level::best();
    if scenario.grid().rank() > 1 {
        return Box::new(Plane::new(scenario, quantum, level));
    }
    let hamiltonian = Hamiltonian::new(scenario, quantum);
    let parameters = scenario.solver();
    if parameters.variant == "thomas" {
        return Box::new(EndToEnd::new(hamiltonian));
    }
    let count = |key: &str| usize::try_from(parameters.integer(key, 0)).unwrap_or(0);
    let blocks = match count("blocks") {
        0 => None,
        blocks => Some(blocks),
    };
    Box::new(Partitioned::new(hamiltonian, blocks, count("levels").max(1), level))
}

/// What a part of a row adds to the sums.
#[derive(Clone, Copy, Default)]
struct Sums {
    norm: f64,
    energy: f64,
    x: f64,
    xx: f64,
    peak: f64,
}

impl<T: Number> Run<T> {
    fn grid(&self) -> &Grid {
        self.scenario.grid()
    }

    fn set_initial(&mut self) {
        let grid = self.grid().clone();
        let [nx, ny, _] = grid.size();
        let initial = self.scenario.initial();
        let mut start = vec![Complex::<T>::default(); grid.sites()];
        start.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
            let mut wide = vec![Complex64::ZERO; nx];
            initial.fill_row(&grid, row % ny, row / ny, &mut wide);
            for (value, wide) in out.iter_mut().zip(wide) {
                *value = narrow(wide);
            }
        });
        self.propagator.change(&|site, psi| *psi = start[site]);
        self.weight = self.sums(None).0.norm;
        if initial.normalised() && self.weight > 0.0 {
            let wanted = 1.0 / grid.cell_volume();
            self.scale_to(wanted);
            self.weight = wanted;
        }
    }

    /// Scales ψ to Σ|ψ|² = `weight`.
    fn scale_to(&mut self, weight: f64) {
        if self.propagator.scale_to(weight) {
            return;
        }
        let now = self.sums(None).0.norm;
        if now > 0.0 {
            let scale = T::of((weight / now).sqrt());
            self.propagator.change(&|_, psi| *psi *= scale);
        }
    }

    fn keeps_norm(&self) -> bool {
        let (grid, medium) = (self.grid(), self.scenario.medium());
        let absorbs = medium.has(Sets::Absorption)
            || (grid.absorb_width() > 0 && grid.edges()[..grid.rank()].contains(&Edge::Absorb));
        T::PRECISION == Precision::Single && !absorbs
    }

    /// Steps without a look between.
    fn steps(&mut self, mut steps: u64) {
        let imaginary = self.scenario.time().imaginary;
        let keeps_norm = self.keeps_norm();
        while steps > 0 {
            let until = if imaginary {
                1
            } else if keeps_norm {
                NORM_EVERY - self.clock.steps % NORM_EVERY
            } else {
                steps
            };
            let batch = until.min(steps);
            self.propagator.advance(self.clock.time, batch);
            for _ in 0..batch {
                self.clock.time += self.clock.time_step;
            }
            self.clock.steps += batch;
            if imaginary || (keeps_norm && self.clock.steps.is_multiple_of(NORM_EVERY)) {
                self.scale_to(self.weight);
            }
            steps -= batch;
        }
    }

    /// Sums over the field, and position sums along y; energies where the drives are given. Parts are added in order, so that threads make no difference.
    fn sums(&self, drives: Option<&[f64]>) -> (Sums, [f64; 2]) {
        let grid = self.grid();
        let [nx, ny, _] = grid.size();
        let parts_of_row = nx.div_ceil(PART);
        let parts: Vec<Sums> = (0..ny * parts_of_row)
            .into_par_iter()
            .map(|part| {
                let (j, first) = (part / parts_of_row, part % parts_of_row * PART);
                self.part_sums(drives, j, first..(first + PART).min(nx))
            })
            .collect();
        let mut all = Sums::default();
        let mut along_y = [0.0; 2];
        for (n, part) in parts.iter().enumerate() {
            all.norm += part.norm;
            all.energy += part.energy;
            all.x += part.x;
            all.xx += part.xx;
            all.peak = if part.peak.is_nan() {
                f64::NAN
            } else {
                all.peak.max(part.peak)
            };
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let y = (n / parts_of_row) as f64;
            along_y[0] += y * part.norm;
            along_y[1] += y * y * part.norm;
        }
        (all, along_y)
    }

    fn part_sums(&self, drives: Option<&[f64]>, j: usize, x: std::ops::Range<usize>) -> Sums {
        let [nx, ny, _] = self.grid().size();
        let quantum = &self.quantum;
        let mut here = vec![Complex::default(); x.len() + 1];
        // The site after the part, for the bond to it.
        let inside = x.end < nx;
        self.propagator
            .read(j * nx + x.start, &mut here[..x.len() + usize::from(inside)]);
        if !inside && self.grid().is_periodic(0) {
            self.propagator.read(j * nx, &mut here[x.len()..]);
        }
        let mut above = vec![Complex::default(); if ny > 1 { x.len() } else { 0 }];
        if ny > 1 && (j + 1 < ny || self.grid().is_periodic(1)) {
            self.propagator.read((j + 1) % ny * nx + x.start, &mut above);
        }
        let mut sums = Sums::default();
        let mut bonds = 0.0;
        for (n, site) in x.enumerate() {
            let psi = wide(here[n]);
            let density = psi.norm_sqr();
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let at = site as f64;
            sums.norm += density;
            sums.x += at * density;
            sums.xx += at * at * density;
            sums.peak = if density > sums.peak || density.is_nan() {
                density
            } else {
                sums.peak
            };
            let Some(drives) = drives else { continue };
            let diagonal = self.propagator.energy_at(j * nx + site, drives) + 0.5 * quantum.interaction * density;
            sums.energy += density * diagonal;
            bonds += (psi.conj() * wide(here[n + 1])).re;
            if let Some(above) = above.get(n) {
                bonds += (psi.conj() * wide(*above)).re;
            }
        }
        sums.energy -= 2.0 * quantum.hopping * bonds;
        sums
    }

    fn measure(&self) -> Observables {
        let grid = self.grid();
        let drives = self.propagator.drives_at(self.clock.time);
        let (sums, along_y) = self.sums(Some(&drives));
        let a = grid.spacing();
        let mut position = [0.0; 3];
        let mut spread = [0.0; 3];
        for (axis, [first, second]) in [[sums.x, sums.xx], along_y].into_iter().enumerate() {
            let mean = first / sums.norm;
            position[axis] = mean * a;
            spread[axis] = (second / sums.norm - mean * mean).max(0.0).sqrt() * a;
        }
        Observables {
            norm: sums.norm * grid.cell_volume(),
            energy: sums.energy / sums.norm,
            position,
            spread,
            peak: sums.peak,
        }
    }

    fn psi_at(&self, site: [usize; 3]) -> Complex64 {
        let mut one = [Complex::default()];
        self.propagator.read(self.grid().index(site), &mut one);
        wide(one[0])
    }

    /// Re ψ*(Hψ) at a site.
    fn energy_of(&self, site: [usize; 3], drives: &[f64]) -> f64 {
        let grid = self.grid();
        let psi = self.psi_at(site);
        let mut around = Complex64::ZERO;
        for axis in 0..grid.rank() {
            let sites = grid.size()[axis];
            for (at_end, to) in [
                (site[axis] + 1 == sites, site[axis] + 1),
                (site[axis] == 0, site[axis] + sites - 1),
            ] {
                if !at_end || grid.is_periodic(axis) {
                    let mut other = site;
                    other[axis] = to % sites;
                    around += self.psi_at(other);
                }
            }
        }
        let density = psi.norm_sqr();
        let diagonal = self.propagator.energy_at(grid.index(site), drives) + 0.5 * self.quantum.interaction * density;
        density * diagonal - self.quantum.hopping * (psi.conj() * around).re
    }

    fn record(&self, taps: &mut Taps) {
        let grid = self.grid();
        let drives = self.propagator.drives_at(self.clock.time);
        taps.record(self.clock.time, |tap| {
            if tap.measure != Measure::Energy {
                return tap.quantum(grid, self.quantum.hopping, |site| self.psi_at(site));
            }
            let mut sum = 0.0;
            for j in tap.lo[1]..tap.hi[1] {
                for i in tap.lo[0]..tap.hi[0] {
                    sum += self.energy_of([i, j, 0], &drives);
                }
            }
            sum * tap.weight
        });
    }

    fn gather(&self) -> Vec<Complex<T>> {
        let mut all = vec![Complex::default(); self.grid().sites()];
        all.par_chunks_mut(PART)
            .enumerate()
            .for_each(|(part, out)| self.propagator.read(part * PART, out));
        all
    }
}

impl<T: Number> Solver for Run<T> {
    fn report(&self) -> Report {
        Report {
            method: METHOD.id,
            variant: self.propagator.variant(),
            backend: self.propagator.backend(),
            precision: T::PRECISION,
            order: 2,
            threads: self.propagator.workers(),
            details: self.propagator.details(),
            batch: 1,
            note: self.note.clone(),
            memory: self.propagator.memory() as u64,
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        threads::run(|| {
            if taps.is_empty() {
                self.steps(steps);
            } else {
                for _ in 0..steps {
                    self.steps(1);
                    self.propagator.fetch();
                    self.record(taps);
                }
            }
            self.propagator.fault()
        })
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        match edit {
            Edit::TimeStep(step) => {
                if self.scenario.time().imaginary && *step < 0.0 {
                    return Err(SolverError::Unsupported(
                        "imaginary time does not run backwards; take a positive step".to_owned(),
                    ));
                }
                self.clock.time_step = *step;
                threads::run(|| self.propagator.set_step(*step));
            }
            Edit::Medium => {
                if scenario.grid() != self.scenario.grid()
                    || scenario.time().imaginary != self.scenario.time().imaginary
                {
                    return Err(SolverError::Unsupported(
                        "another grid or kind of time starts the run anew".to_owned(),
                    ));
                }
                if let Some(objection) = objections(scenario).into_iter().next() {
                    return Err(SolverError::Unsupported(objection));
                }
                threads::run(|| {
                    self.propagator.fetch();
                    self.propagator.fault()?;
                    let psi = self.gather();
                    let quantum = scenario.model().quantum().unwrap_or(self.quantum);
                    let (mut propagator, note) = propagator(scenario, quantum)?;
                    propagator.set_step(self.clock.time_step);
                    propagator.change(&|site, value| *value = psi[site]);
                    propagator.fault()?;
                    (self.propagator, self.note, self.quantum) = (propagator, note, quantum);
                    self.scenario = scenario.clone();
                    self.weight = self.sums(None).0.norm;
                    Ok::<(), SolverError>(())
                })?;
            }
            Edit::Conjugate => threads::run(|| self.propagator.change(&|_, psi| *psi = psi.conj())),
        }
        self.propagator.fault()
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        request.require_quantum()?;
        self.propagator.fetch();
        self.propagator.fault()?;
        let grid = self.scenario.grid();
        let propagator = &self.propagator;
        threads::run(|| {
            image.fill_quantum(request, |j, out| {
                let mut sites = vec![Complex::<T>::default(); out.len()];
                propagator.read(grid.index([request.x.start, j, request.z]), &mut sites);
                for (value, psi) in out.iter_mut().zip(sites) {
                    *value = narrow(wide(psi));
                }
            });
        });
        Ok(())
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        self.propagator.fetch();
        self.propagator.fault()?;
        Ok(threads::run(|| self.measure()))
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        self.propagator.fetch();
        self.propagator.fault()?;
        Ok(T::complex_data(threads::run(|| self.gather())))
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        if field.len() != self.grid().sites() || !matches!(field, FieldData::Complex64(_) | FieldData::Complex128(_)) {
            return Err(SolverError::StateMismatch(format!(
                "the field has {} values, the grid {} complex ones",
                field.len(),
                self.grid().sites()
            )));
        }
        threads::run(|| {
            self.propagator.change(&|site, psi| *psi = narrow(field.at(site)));
            self.weight = self.sums(None).0.norm;
            if clock.time_step.to_bits() != self.clock.time_step.to_bits() {
                self.propagator.set_step(clock.time_step);
            }
            self.clock = clock;
        });
        self.propagator.fault()
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        Ok(SolverState {
            clock: self.clock,
            arrays: vec![("psi".to_owned(), self.field()?)],
            scalars: vec![("weight".to_owned(), self.weight)],
        })
    }

    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let (_, psi) = state
            .arrays
            .iter()
            .find(|(name, _)| name == "psi")
            .ok_or_else(|| SolverError::StateMismatch("it holds no array `psi`".to_owned()))?;
        self.set_field(psi, state.clock)?;
        if let Some((_, weight)) = state.scalars.iter().find(|(name, _)| name == "weight") {
            self.weight = *weight;
        }
        Ok(())
    }
}
