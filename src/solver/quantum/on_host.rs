//! Methods that keep ψ on the processor as one array, x fastest: everything about the field that is not the method.

use super::{initial_field, record, sums, walls};
use crate::backend::threads;
use crate::field::{FieldData, Real, narrow, wide};
use crate::physics::{Measure, Observables, Quantum};
use crate::scene::Scenario;
use crate::solver::clock::RunClock;
use crate::solver::method::Backend;
use crate::solver::put_in::PutIn;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::transducers::Sites;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;

/// Takes steps of a field that [`OnHost`] keeps; all arrays x fastest.
pub trait Propagator<T: Real>: Send + Sync + Sized {
    /// For a scene and its constants; the first step is set by [`Propagator::set_step`].
    fn new(scenario: &Scenario, quantum: &Quantum, order: u32) -> Result<Self, SolverError>;

    /// Takes another Δt, signed; nothing is changed on an error.
    fn set_step(&mut self, time_step: f64) -> Result<(), SolverError>;

    /// A step from `time`.
    fn step(&mut self, psi: &mut [Complex<T>], time: f64);

    /// ⟨H⟩ without the part of [`Propagator::energy_at`], times Σ|ψ|².
    fn energy(&mut self, psi: &[Complex<T>]) -> f64;

    /// The diagonal part of H that [`Propagator::energy`] lacks, times |ψ|², at a site and time; `drives` from [`Propagator::drives`].
    fn energy_at(&self, _drives: &[f64], _site: usize, _density: f64) -> f64 {
        0.0
    }

    /// Values of drives at a time.
    fn drives(&self, _time: f64) -> Vec<f64> {
        Vec::new()
    }

    /// The variant, and the choices that were made, for the user.
    fn details(&self) -> (&'static str, String);

    /// Bytes held.
    fn memory(&self) -> usize;
}

/// ψ and how it is stepped.
pub struct OnHost<T: Real, P> {
    scenario: Scenario,
    quantum: Quantum,
    order: u32,
    /// Where ψ is 0; empty where no wall stands inside.
    walls: Vec<bool>,
    psi: Vec<Complex<T>>,
    propagator: P,
    /// What transducers have added to Σ|ψ|².
    put_in: PutIn,
}

impl<T: Real, P: Propagator<T>> OnHost<T, P> {
    /// ψ at t = 0.
    ///
    /// # Errors
    /// If there is no memory, or the scene is one of sound.
    pub fn new(setup: &Setup) -> Result<Self, SolverError> {
        let (scenario, order) = (&setup.scenario, setup.choice.order);
        let quantum = constants(setup)?;
        let mut propagator = P::new(scenario, &quantum, order)?;
        propagator.set_step(setup.time_step)?;
        Ok(Self {
            psi: initial_field(scenario)?,
            walls: walls(scenario.medium()),
            scenario: scenario.clone(),
            quantum,
            order,
            propagator,
            put_in: PutIn::new(scenario.grid(), scenario.initial()),
        })
    }

    fn sum_of_squares(&self) -> f64 {
        let rows: Vec<f64> = self
            .psi
            .par_chunks(self.scenario.grid().size()[0])
            .map(|row| row.iter().map(|psi| wide(*psi).norm_sqr()).sum())
            .collect();
        rows.into_iter().sum()
    }

    fn clear_walls(&mut self) {
        let sites = self.psi.par_iter_mut().zip(&self.walls);
        sites
            .filter(|(_, wall)| **wall)
            .for_each(|(psi, _)| *psi = Complex::default());
    }
}

/// The constants of a scene, which the table admits only if it is quantum.
pub(in crate::solver) fn constants(setup: &Setup) -> Result<Quantum, SolverError> {
    let quantum = setup.scenario.model().quantum();
    quantum.ok_or_else(|| SolverError::Unsupported(format!("{} steps quantum scenes only", setup.method.id)))
}

impl<T: Real, P> Sites for OnHost<T, P> {
    fn read(&self, site: usize) -> Complex64 {
        wide(self.psi[site])
    }

    fn overwrite(&mut self, site: usize, value: Complex64) {
        if self.walls.get(site) != Some(&true) {
            let before = self.read(site).norm_sqr();
            self.psi[site] = narrow(value);
            self.put_in.add(self.read(site).norm_sqr() - before);
        }
    }

    fn add(&mut self, site: usize, value: Complex64) {
        self.overwrite(site, wide(self.psi[site]) + value);
    }
}

impl<T: Real, P: Propagator<T>> Stepper for OnHost<T, P> {
    fn parts(&self) -> Parts {
        let (variant, details) = self.propagator.details();
        Parts {
            variant,
            backend: Backend::Cpu,
            threads: threads::count(),
            details,
            batch: 1,
            note: None,
            memory: (size_of_val(self.psi.as_slice()) + self.walls.len() + self.propagator.memory()) as u64,
        }
    }

    fn set_step(&mut self, _clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        self.propagator.set_step(time_step)
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        let quantum = constants(setup)?;
        let mut propagator = P::new(&setup.scenario, &quantum, self.order)?;
        propagator.set_step(clock.time_step())?;
        self.propagator = propagator;
        (self.scenario, self.quantum) = (setup.scenario.clone(), quantum);
        self.walls = walls(self.scenario.medium());
        self.clear_walls();
        Ok(())
    }

    fn conjugate(&mut self, _clock: &RunClock) -> Result<(), SolverError> {
        self.psi.par_iter_mut().for_each(|value| *value = value.conj());
        Ok(())
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        (0..steps).for_each(|n| self.propagator.step(&mut self.psi, clock.after(n).time()));
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        taps.apply_transducers(self);
        let mut all = taps.taps().iter().enumerate();
        let needs_energy = all.any(|(n, tap)| tap.measure == Measure::Energy && taps.is_due(n, clock));
        let energy = if needs_energy { self.sums(clock)?.energy } else { 0.0 };
        record(taps, clock, self.scenario.grid(), &self.quantum, energy, &self.psi);
        Ok(())
    }

    fn apply_transducers(&mut self, _clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        taps.apply_transducers(self);
        Ok(())
    }

    /// Rounded factors change the norm by up to 4e-7 a step, always the same way: 4e-3 after 10⁴ steps. Those of order 4, five times as many with parts that go back, by 2e-6.
    fn norm_drifts_within(&self) -> Option<u64> {
        Some(if self.order == 4 { 2 } else { 16 })
    }

    fn put_in(&self) -> Option<PutIn> {
        Some(self.put_in)
    }

    fn set_put_in(&mut self, numbers: [f64; 2]) {
        self.put_in.set(numbers);
    }

    fn weight(&mut self) -> Result<f64, SolverError> {
        Ok(self.sum_of_squares())
    }

    fn scale_to(&mut self, weight: f64) -> Result<(), SolverError> {
        let now = self.sum_of_squares();
        if now > 0.0 {
            let scale = T::of((weight / now).sqrt());
            self.psi.par_iter_mut().for_each(|value| *value = value.scale(scale));
        }
        Ok(())
    }

    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError> {
        let energy = self.propagator.energy(&self.psi);
        let (psi, propagator) = (&self.psi, &self.propagator);
        let drives = propagator.drives(clock.time());
        Ok(sums::totals(
            self.scenario.grid(),
            energy,
            |n| wide(psi[n]).norm_sqr(),
            |n, density| propagator.energy_at(&drives, n, density) * density,
        ))
    }

    fn image(&mut self, _clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let (grid, psi) = (self.scenario.grid(), &self.psi);
        image.fill_quantum(request, |j, out| {
            let first = grid.index([request.x.start, j, request.z]);
            for (value, psi) in out.iter_mut().zip(&psi[first..]) {
                *value = narrow(wide(*psi));
            }
        });
        Ok(())
    }

    fn field(&mut self, _clock: &RunClock) -> Result<FieldData, SolverError> {
        Ok(T::complex_data(self.psi.clone()))
    }

    fn set_field(&mut self, _clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        let sites = self.psi.par_iter_mut().enumerate();
        sites.for_each(|(n, value)| *value = narrow(field.at(n)));
        self.clear_walls();
        Ok(())
    }

    fn layout(&self) -> Vec<Plane> {
        vec![Plane::new("psi", self.psi.len())]
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        Ok(vec![Some(T::complex_data(self.psi.clone()))])
    }

    fn load(&mut self, clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        match arrays {
            [Some(psi)] => self.set_field(clock, psi),
            _ => Ok(()),
        }
    }
}
