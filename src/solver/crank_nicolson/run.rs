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
use crate::physics::{Observables, Quantum, Sets};
use crate::scene::Scenario;
use crate::solver::totals::{Region, Totals};
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Steps after which a run in single precision gets its norm back.
const NORM_EVERY: u64 = 64;
/// Sites that one task sums.
pub(super) const PART: usize = 4096;
/// Sums that [`Propagator::keep_totals`] keeps.
pub(super) const KEPT: usize = 4096;

/// A field and the steps of it.
pub(super) trait Propagator<T: Real>: Send + Sync {
    /// The variant's id.
    fn variant(&self) -> &'static str;
    /// What was chosen, for people.
    fn details(&self) -> String;
    /// Blocks that a line is cut into, on which the last bits depend.
    fn blocks(&self) -> Option<usize> {
        None
    }
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
    /// Whether it sums and draws where ψ lies; otherwise that is done from [`Self::read`].
    fn looks(&self) -> bool {
        false
    }
    /// Sums over regions, none of them empty, with the energies of `time`, and keeps them from `place` on, below [`KEPT`].
    fn keep_totals(&mut self, _time: f64, _regions: &[Region], _place: usize) {}
    /// The first `count` of them; NaN after a fault.
    fn kept_totals(&mut self, _count: usize) -> Vec<Totals> {
        Vec::new()
    }
    /// Draws ψ.
    fn picture(&mut self, _request: &ImageRequest, _image: &mut FieldImage) {}
    /// What has gone wrong since it was asked last.
    fn fault(&mut self) -> Result<(), SolverError> {
        Ok(())
    }
}

/// A Crank–Nicolson run.
pub(super) struct Run<T: Real> {
    pub(super) scenario: Scenario,
    pub(super) quantum: Quantum,
    pub(super) clock: Clock,
    /// Σ|ψ|² that imaginary time restores after each step, and single precision every [`NORM_EVERY`].
    weight: f64,
    pub(super) propagator: Box<dyn Propagator<T>>,
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

impl<T: Number> Run<T> {
    pub(super) fn grid(&self) -> &Grid {
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
        self.weight = self.totals(None).norm;
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
        let now = self.totals(None).norm;
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
    pub(super) fn steps(&mut self, mut steps: u64) {
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
                self.advance_recording(steps, taps);
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
                    self.weight = self.totals(None).norm;
                    Ok::<(), SolverError>(())
                })?;
            }
            Edit::Conjugate => threads::run(|| self.propagator.change(&|_, psi| *psi = psi.conj())),
        }
        self.propagator.fault()
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        request.require_quantum()?;
        if self.propagator.looks() {
            self.propagator.picture(request, image);
            return self.propagator.fault();
        }
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
        threads::run(|| self.measure())
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
            self.weight = self.totals(None).norm;
            if clock.time_step.to_bits() != self.clock.time_step.to_bits() {
                self.propagator.set_step(clock.time_step);
            }
            self.clock = clock;
        });
        self.propagator.fault()
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        // A stopwatch chose them, here or on another machine: they belong to the run.
        #[expect(clippy::cast_precision_loss, reason = "blocks are far below 2^52")]
        let blocks = self
            .propagator
            .blocks()
            .map(|blocks| ("solver.blocks".to_owned(), blocks as f64));
        Ok(SolverState {
            clock: self.clock,
            arrays: vec![("psi".to_owned(), self.field()?)],
            scalars: [("weight".to_owned(), self.weight)].into_iter().chain(blocks).collect(),
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
