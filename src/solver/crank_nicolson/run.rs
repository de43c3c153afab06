//! The stepper: initial state, sums and states around a [`Propagator`], which holds the field in its own layout.

use super::delta::{best_blocks, blocks_of};
use super::hamiltonian::Hamiltonian;
use super::line::Partitioned;
use super::plane::Plane;
use super::propagator::{PART, Propagator};
use super::reference::Reference;
use super::thomas::EndToEnd;
use crate::backend::simd::{Level, Vectors};
use crate::backend::{ranks, threads};
use crate::field::{FieldData, Real, narrow, wide};
use crate::grid::Grid;
use crate::physics::{Observables, Quantum, StateSums};
use crate::rounding::truncated;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::clock::RunClock;
use crate::solver::quantum::on_host::constants;
use crate::solver::setup::{Choice, Number, Setup};
use crate::solver::stepper::{Parts, Plane as StatePlane, Stepper};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// ψ of one scenario and how it is stepped.
pub(super) struct CrankNicolson<T: Real> {
    pub(super) scenario: Scenario,
    pub(super) choice: Choice,
    pub(super) quantum: Quantum,
    /// It steps and holds χ = e^{iΦ}ψ.
    pub(super) propagator: Box<dyn Propagator<T>>,
    reference: Reference,
    /// Sites of its own: all but of a window.
    pub(super) core: Range<usize>,
    /// The NVIDIA device, where it is on one.
    device: usize,
    make: Make<T>,
}

/// Makes a propagator on one back end, on one of several devices there, with ψ = 0.
pub(super) type Make<T> = fn(&Scenario, &Choice, Quantum, usize) -> Result<Box<dyn Propagator<T>>, SolverError>;

/// A propagator on the processor.
#[expect(clippy::unnecessary_wraps, reason = "as `Make` wants it")]
pub(super) fn on_processor<T: Vectors>(
    scenario: &Scenario,
    choice: &Choice,
    quantum: Quantum,
    _device: usize,
) -> Result<Box<dyn Propagator<T>>, SolverError> {
    let level = Level::best();
    if scenario.grid().rank() > 1 {
        return Ok(Box::new(Plane::new(scenario, quantum, level)));
    }
    let hamiltonian = Hamiltonian::new(scenario, quantum);
    if choice.is("thomas") {
        return Ok(Box::new(EndToEnd::new(hamiltonian)));
    }
    let mut blocks = choice.blocks.unwrap_or_else(|| best_blocks(&hamiltonian, level));
    if scenario.grid().is_window() {
        // Its share of those of the whole line.
        let whole = scenario.grid().whole().sites();
        blocks = (blocks * hamiltonian.sites()).div_ceil(whole).max(level.lanes::<T>());
    }
    Ok(Box::new(Partitioned::new(hamiltonian, blocks, choice.levels, level)))
}

/// The blocks of a line on the processor that is cut into parts, the same in all processes: bits depend on them.
pub(super) fn blocks_of_parts<T: Vectors>(scenario: &Scenario) -> usize {
    let driven = !scenario.medium().drives().is_empty();
    let own = threads::run(|| blocks_of::<T>(scenario.grid().sites(), driven, Level::best()));
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let [blocks] = ranks::agree([own as f64]).map(truncated);
    blocks
}

impl<T: Number> CrankNicolson<T> {
    /// ψ at t = 0 on the back end of `make`; of a window not normalised yet.
    pub(super) fn new(setup: &Setup, make: Make<T>) -> Result<Self, SolverError> {
        let quantum = constants(setup)?;
        let mut stepper = Self {
            propagator: make(&setup.scenario, &setup.choice, quantum, setup.device)?,
            reference: Reference::of(&setup.scenario),
            core: 0..setup.scenario.grid().sites(),
            device: setup.device,
            scenario: setup.scenario.clone(),
            choice: setup.choice.clone(),
            quantum,
            make,
        };
        stepper.propagator.set_step(setup.time_step);
        stepper.set_initial();
        Ok(stepper)
    }

    pub(super) fn grid(&self) -> &Grid {
        self.scenario.grid()
    }

    fn set_initial(&mut self) {
        let grid = self.grid().clone();
        let [nx, ny, _] = grid.size();
        let initial = self.scenario.initial();
        let rows = initial.rows(&grid);
        let mut start = vec![Complex::<T>::default(); grid.sites()];
        start.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
            let mut wide = vec![Complex64::ZERO; nx];
            rows.fill(row % ny, row / ny, &mut wide);
            for (value, wide) in out.iter_mut().zip(wide) {
                *value = narrow(wide);
            }
        });
        self.propagator.change(&|site, psi| *psi = start[site]);
        if initial.normalised() && !grid.is_window() && self.totals(None).norm > 0.0 {
            self.rescale(1.0 / grid.cell_volume());
        }
    }

    /// Scales ψ whose Σ|ψ|², together with that of other windows, is `now`.
    pub(super) fn rescale_from(&mut self, now: f64, weight: f64) {
        if now > 0.0 && !self.propagator.scale_from(now, weight) {
            let scale = T::of((weight / now).sqrt());
            self.propagator.change(&|_, psi| *psi *= scale);
        }
    }

    /// Scales ψ to Σ|ψ|² = `weight`.
    fn rescale(&mut self, weight: f64) {
        if self.propagator.scale_to(weight) {
            return;
        }
        let now = self.totals(None).norm;
        self.rescale_from(now, weight);
    }

    /// e^{−iΦ}, which makes ψ of the propagator's field; `None` for 1.
    fn phase(&mut self, clock: &RunClock) -> Option<Complex64> {
        let angle = self.reference.angle(clock);
        (angle != 0.0).then(|| Complex64::from_polar(1.0, -angle))
    }

    /// Turns the propagator's field.
    fn turn(&mut self, angle: f64) {
        if angle != 0.0 {
            let factor = Complex64::from_polar(1.0, angle);
            self.propagator.change(&|_, psi| *psi = narrow(wide(*psi) * factor));
        }
    }

    /// ψ on the host.
    fn gather_turned(&mut self, clock: &RunClock) -> Result<Vec<Complex<T>>, SolverError> {
        let mut all = self.gather()?;
        if let Some(phase) = self.phase(clock) {
            all.par_iter_mut().for_each(|psi| *psi = narrow(wide(*psi) * phase));
        }
        Ok(all)
    }

    /// The propagator's field on the host.
    fn gather(&mut self) -> Result<Vec<Complex<T>>, SolverError> {
        self.propagator.fetch();
        self.propagator.fault()?;
        let mut all = vec![Complex::default(); self.grid().sites()];
        let propagator = &self.propagator;
        all.par_chunks_mut(PART)
            .enumerate()
            .for_each(|(part, out)| propagator.read(part * PART, out));
        Ok(all)
    }
}

impl<T: Number> Stepper for CrankNicolson<T> {
    fn parts(&self) -> Parts {
        Parts {
            variant: self.propagator.variant(),
            backend: self.propagator.backend(),
            threads: self.propagator.workers(),
            details: self.propagator.details(),
            batch: 1,
            note: None,
            memory: self.propagator.memory() as u64,
        }
    }

    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        let before = self.reference.angle(clock);
        let after = self.reference.angle(&clock.with_step(time_step));
        self.propagator.set_step(time_step);
        self.turn(after - before);
        Ok(())
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        let psi = self.gather()?;
        let quantum = constants(setup)?;
        let mut propagator = (self.make)(&setup.scenario, &self.choice, quantum, self.device)?;
        propagator.set_step(clock.time_step());
        propagator.change(&|site, value| *value = psi[site]);
        propagator.fault()?;
        (self.propagator, self.quantum) = (propagator, quantum);
        self.scenario = setup.scenario.clone();
        let before = self.reference.angle(clock);
        self.reference = Reference::of(&setup.scenario);
        let after = self.reference.angle(clock);
        self.turn(after - before);
        Ok(())
    }

    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError> {
        self.propagator.change(&|_, psi| *psi = psi.conj());
        let angle = self.reference.angle(clock);
        self.turn(2.0 * angle);
        Ok(())
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        self.propagator.advance(clock, steps);
        Ok(())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.record_steps(clock, steps, taps);
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.record_steps(clock, 0, taps);
        Ok(())
    }

    fn pace(&mut self) -> Result<(), SolverError> {
        self.propagator.fault()
    }

    /// Up to 1.6e-7 a step where a step solves along several axes.
    fn norm_drifts_within(&self) -> Option<u64> {
        Some(if self.scenario.grid().rank() > 1 { 32 } else { 64 })
    }

    fn weight(&mut self) -> Result<f64, SolverError> {
        self.propagator.fetch();
        self.propagator.fault()?;
        Ok(self.totals(None).norm)
    }

    fn scale_to(&mut self, weight: f64) -> Result<(), SolverError> {
        self.rescale(weight);
        Ok(())
    }

    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError> {
        self.measure(clock.time())
    }

    fn image(&mut self, clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        // A device draws the field as it is, whose density is that of ψ.
        let phase = if request.quantity == Quantity::Density {
            None
        } else {
            self.phase(clock)
        };
        if self.propagator.looks() && phase.is_none() {
            self.propagator.picture(request, image);
            return self.propagator.fault();
        }
        self.propagator.fetch();
        self.propagator.fault()?;
        let (grid, propagator) = (self.scenario.grid(), &self.propagator);
        image.fill_quantum(request, |j, out| {
            let mut sites = vec![Complex::<T>::default(); out.len()];
            propagator.read(grid.index([request.x.start, j, request.z]), &mut sites);
            for (value, psi) in out.iter_mut().zip(sites) {
                *value = narrow(phase.map_or(wide(psi), |phase| wide(psi) * phase));
            }
        });
        Ok(())
    }

    fn state_sums(
        &mut self,
        clock: &RunClock,
        start: &Arc<FieldData>,
        whole: bool,
    ) -> Result<Option<StateSums>, SolverError> {
        let mut sums = self.propagator.state_sums(start, whole);
        self.propagator.fault()?;
        if let (Some(sums), Some(phase)) = (&mut sums, self.phase(clock)) {
            sums.product *= phase;
        }
        Ok(sums)
    }

    fn field(&mut self, clock: &RunClock) -> Result<FieldData, SolverError> {
        Ok(T::complex_data(self.gather_turned(clock)?))
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        let back = self.phase(clock).map(|phase| phase.conj());
        let value = |site: usize| back.map_or(field.at(site), |back| field.at(site) * back);
        self.propagator.change(&|site, psi| *psi = narrow(value(site)));
        Ok(())
    }

    /// ψ where it is what the propagator holds, and in states of earlier versions; else χ, since only its bits make a run go on as if it had not been stopped.
    fn layout(&self) -> Vec<StatePlane> {
        let sites = self.grid().sites();
        if self.grid().rank() > 1 {
            return vec![StatePlane::new("psi", sites)];
        }
        ["psi", "psi_relative"]
            .map(|name| StatePlane::optional(name, sites))
            .into()
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        let own = Some(T::complex_data(self.gather()?));
        Ok(if self.grid().rank() > 1 {
            vec![own]
        } else if self.reference.is_zero() {
            vec![own, None]
        } else {
            vec![None, own]
        })
    }

    fn measured_settings(&self) -> Vec<(&'static str, usize)> {
        // A window has its share of those of the line.
        let own = self.propagator.blocks();
        let blocks = own.map(|own| self.choice.blocks.filter(|_| self.grid().is_window()).unwrap_or(own));
        blocks.map(|blocks| ("blocks", blocks)).into_iter().collect()
    }

    fn load(&mut self, clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        match arrays {
            [Some(psi)] | [Some(psi), None] => self.set_field(clock, psi),
            [_, Some(own)] => {
                self.propagator.change(&|site, psi| *psi = narrow(own.at(site)));
                Ok(())
            }
            _ => Err(SolverError::StateMismatch(
                "`psi` is missing; was it saved by crank-nicolson?".to_owned(),
            )),
        }
    }
}
