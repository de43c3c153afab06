//! What the engine asks of a run.

use super::media::Media;
use super::opening::Opening;
use super::problem::Problem;
use super::run::Run;
use super::stepper::OnDevice;
use crate::backend::threads;
use crate::field::{FieldData, Real, narrow};
use crate::physics::Observables;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::{Backend, Clock, Edit, FieldImage, ImageRequest, Report, Solver, SolverError, SolverState, Taps};
use num_complex::Complex;

impl<T: Real> Solver for Run<T> {
    fn report(&self) -> Report {
        Report {
            method: "trotter",
            variant: self.stepper.variant(),
            backend: self.stepper.device().map_or(Backend::Cpu, OnDevice::backend),
            precision: T::PRECISION,
            order: self.problem.order,
            threads: self.stepper.device().map_or_else(threads::count, OnDevice::units),
            details: self.stepper.details(),
            batch: self.stepper.batch(),
            note: self.note.clone(),
            memory: (self.stepper.memory() + self.media.memory() + self.held_bytes()) as u64,
        }
    }

    fn clock(&self) -> Clock {
        Clock {
            steps: self.steps(),
            time: self.time(),
            time_step: self.scheme.time_step,
        }
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        threads::run(|| {
            if !taps.is_empty() {
                self.advance_recording(steps, taps);
            } else if self.is_steady() {
                self.steady_steps(steps);
            } else {
                for _ in 0..steps {
                    self.single_step();
                }
            }
            match self.stepper.device().and_then(OnDevice::paced) {
                Some(fault) => Err(fault),
                None => Ok(()),
            }
        })
    }

    fn touch(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        threads::run(|| self.touch_sites(taps));
        self.checked(())
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        let mut problem = self.problem.clone();
        match edit {
            Edit::TimeStep(step) => problem.time_step = *step,
            Edit::Medium => {
                problem = Problem::new(scenario)?;
                problem.time_step = self.problem.time_step;
                if problem.grid != self.problem.grid {
                    return Err(SolverError::Unsupported("another grid needs a new run".into()));
                }
            }
            Edit::Conjugate => {}
        }
        self.apply_edit(problem, edit)
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        request.require_quantum()?;
        threads::run(|| {
            let closing = self.closing_for(request);
            if let Some(device) = self.stepper.device() {
                device.picture(request, closing.as_ref(), image);
                return self.checked(());
            }
            let first = request.z * self.problem.grid.size()[1];
            let run = &*self;
            image.fill_quantum(request, |j, out| {
                let mut sites = vec![Complex::<T>::default(); out.len()];
                run.closed_row(closing.as_ref(), first + j, request.x.clone(), &mut sites);
                for (out, site) in out.iter_mut().zip(&sites) {
                    *out = Complex::new(single(site.re), single(site.im));
                }
            });
            Ok(())
        })
    }

    fn begin_image(&mut self, request: &ImageRequest) -> Result<bool, SolverError> {
        request.require_quantum()?;
        let Some(device) = self.stepper.device() else {
            return Ok(false);
        };
        device.begin_picture(request, self.closing_for(request).as_ref());
        Ok(true)
    }

    fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        let Some(device) = self.stepper.device() else {
            return Ok(false);
        };
        if device.take_picture(image) {
            return Ok(true);
        }
        self.checked(false)
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        let sums = threads::run(|| self.measure());
        self.checked(sums)
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        let data = threads::run(|| T::complex_data(self.gather(self.closing().as_ref())));
        self.checked(data)
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        self.check_size(field)?;
        threads::run(|| {
            self.set_clock(clock)?;
            self.write_field(&|index| narrow(field.at(index)));
            self.weight = self.sum_of_squares();
            self.phase_whole_field(1.0);
            self.checked(())
        })
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        let arrays = threads::run(|| vec![("open".to_owned(), T::complex_data(self.gather(None)))]);
        #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
        let base_steps = self.base_steps as f64;
        self.checked(SolverState {
            clock: self.clock(),
            arrays,
            scalars: vec![
                ("base_time".into(), self.base_time),
                ("base_steps".into(), base_steps),
                ("weight".into(), self.weight),
            ],
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that `save` wrote"
    )]
    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let missing = |name: &str| SolverError::StateMismatch(format!("it has no `{name}`; was it saved by trotter?"));
        let (_, open) = (state.arrays.iter().find(|(name, _)| name == "open")).ok_or_else(|| missing("open"))?;
        let scalar = |name: &str| {
            (state.scalars.iter().find(|(known, _)| known == name))
                .map(|(_, value)| *value)
                .ok_or_else(|| missing(name))
        };
        let (base_time, base_steps, weight) = (scalar("base_time")?, scalar("base_steps")?, scalar("weight")?);
        self.check_size(open)?;
        threads::run(|| {
            self.set_clock(state.clock)?;
            self.base_time = base_time;
            self.base_steps = (base_steps as u64).min(state.clock.steps);
            self.weight = weight;
            self.write_field(&|index| narrow(open.at(index)));
            self.checked(())
        })
    }
}

impl<T: Real> Run<T> {
    /// What closes the field for a picture: |φ| = |ψ| unless half a step of absorption lies between them.
    fn closing_for(&self, request: &ImageRequest) -> Option<Opening> {
        if request.quantity == Quantity::Density && !self.media.absorbs() {
            None
        } else {
            self.closing()
        }
    }

    fn check_size(&self, field: &FieldData) -> Result<(), SolverError> {
        let sites = self.problem.grid.sites();
        if field.len() == sites {
            Ok(())
        } else {
            Err(SolverError::StateMismatch(format!(
                "it has {} sites and this run {sites}; load it into a run on the same grid",
                field.len()
            )))
        }
    }

    /// Closes ψ with the old constants, changes them, and opens it with the new ones.
    pub(super) fn apply_edit(&mut self, problem: Problem, edit: &Edit) -> Result<(), SolverError> {
        Self::check(&problem)?;
        threads::run(|| {
            self.phase_whole_field(-1.0);
            self.base_time = self.time();
            self.base_steps = self.steps();
            self.problem = problem;
            match edit {
                Edit::TimeStep(_) => self.prepare(),
                Edit::Medium => {
                    self.media = Media::new(&self.problem);
                    self.prepare();
                    let nx = self.problem.grid.size()[0];
                    if let Some(device) = self.stepper.device() {
                        device.turn(None, false);
                    } else if let Some(walls) = self.media.walls.as_deref() {
                        self.stepper.change(&|row, sites| {
                            for (site, _) in sites.iter_mut().zip(&walls[row * nx..]).filter(|(_, wall)| **wall) {
                                *site = Complex::default();
                            }
                        });
                    }
                }
                Edit::Conjugate => {
                    if let Some(device) = self.stepper.device() {
                        device.turn(None, true);
                    } else {
                        self.stepper
                            .change(&|_, sites| sites.iter_mut().for_each(|site| *site = site.conj()));
                    }
                }
            }
            self.phase_whole_field(1.0);
        });
        self.checked(())
    }
}

fn single<T: Real>(value: T) -> f32 {
    value.to_f32().unwrap_or(f32::NAN)
}
