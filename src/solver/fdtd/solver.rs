//! A run as the engine sees it.

use super::change::check_step;
use super::run::{Fdtd, Way};
use crate::backend::simd::{Level, Vectors};
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};

/// Names of the saved arrays.
const NOW: &str = "p";
const OLD: &str = "p_before";
const PEAK: &str = "peak";
const POTENTIAL: &str = "potential";

impl<T: Vectors> Solver for Fdtd<T> {
    fn report(&self) -> Report {
        let layers: usize = self.layers.iter().map(|layer| layer.psi.len() + layer.zeta.len()).sum();
        let values = self.now.len() + self.old.len() + self.peak.len() + self.potential.len() + layers;
        let half = self.sweep.lattice.half;
        let simd = Level::best().title();
        let (variant, details, batch) = match &self.way {
            Way::Stepwise => (
                "stepwise",
                format!(
                    "order {} in space, blocks of {} rows, {simd}",
                    2 * half,
                    self.sweep.block_rows()
                ),
                1,
            ),
            Way::Towers { variant, plan, .. } => (
                *variant,
                format!(
                    "order {} in space, dts {}, towers of {} steps, {simd}",
                    2 * half,
                    plan.dts,
                    plan.tower
                ),
                plan.tower as u64,
            ),
        };
        Report {
            method: "fdtd",
            variant,
            backend: Backend::Cpu,
            precision: T::PRECISION,
            order: 2,
            threads: threads::count(),
            details,
            batch,
            note: self.note.clone(),
            memory: (values * size_of::<T>()) as u64 + self.sweep.bytes(),
        }
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.ask_for_velocity() {
            self.watch_potential()?;
        }
        threads::run(|| self.take(steps, taps));
        Ok(())
    }

    fn touch(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        self.touch_sites(taps);
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
                self.combine([T::one(), T::zero(), T::zero()], true, 1.0);
                self.reverse_potential();
                self.sweep.settle(&self.now, &self.old, &mut self.layers);
                Ok(())
            }
        }
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_potential()
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.draw(request, image)
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
            let axis = ["x", "y", "z"][layer.shape.axis];
            arrays.push((format!("psi_{axis}"), T::real_data(layer.psi.clone())));
            arrays.push((format!("zeta_{axis}"), T::real_data(layer.zeta.clone())));
        }
        if !self.peak.is_empty() {
            arrays.push((PEAK.to_owned(), self.data(&self.peak)));
        }
        if !self.potential.is_empty() {
            arrays.push((POTENTIAL.to_owned(), self.data(&self.potential)));
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
            let axis = ["x", "y", "z"][layer.shape.axis];
            memories.push((
                array(&format!("psi_{axis}"), layer.psi.len())?,
                array(&format!("zeta_{axis}"), layer.zeta.len())?,
            ));
        }
        let peak = array(PEAK, sites).ok();
        let potential = array(POTENTIAL, sites).ok();
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
        self.rest();
        self.peak = Vec::new();
        if peak.is_some() {
            self.watch_peak()?;
        }
        if potential.is_some() {
            self.watch_potential()?;
        }
        let lattice = &self.sweep.lattice;
        for (from, to) in [(peak, &mut self.peak), (potential, &mut self.potential)] {
            let Some(from) = from else { continue };
            for row in 0..lattice.rows() {
                for (i, to) in to[lattice.sites(row)].iter_mut().enumerate() {
                    *to = T::of(from.at(row * lattice.size[0] + i).re);
                }
            }
        }
        if potential.is_some() {
            lattice.fill_all_ghosts(&mut self.potential, true);
        }
        Ok(())
    }
}

fn copy<T: Real>(from: &FieldData, to: &mut [T]) {
    for (i, to) in to.iter_mut().enumerate() {
        *to = T::of(from.at(i).re);
    }
}
