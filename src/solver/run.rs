//! A run: the only implementation of [`Solver`]. It alone moves the clock, checks and applies edits, restores norms, and writes and reads checkpoints. A [`Stepper`]
//! provides the method.

use super::clock::RunClock;
use super::motion;
use super::parts::{Cut, Whole};
use super::setup::Setup;
use super::stepper::{Plane, Stepper};
use super::{Clock, Edit, FieldImage, ImageRequest, Motion, Report, Solver, SolverError, SolverState, Taps};
use crate::backend::threads;
use crate::field::{FieldData, Precision};
use crate::grid::SiteBox;
use crate::physics::{Equation, Observables, StateSums};
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use std::sync::Arc;

/// Scalars of a checkpoint.
const BASE_TIME: &str = "base_time";
const BASE_STEPS: &str = "base_steps";
/// Σ|ψ|²; checkpoints of earlier versions of split-step-fourier call it `norm`.
const WEIGHT: [&str; 2] = ["weight", "norm"];
/// What transducers added to Σ|ψ|² since it was restored: the sum as a number, and what that lacks.
const PUT_IN: [&str; 2] = ["put_in", "put_in.rest"];
/// What the names of settings that a measurement chose begin with.
const SETTINGS: &str = "solver.";

/// Σ|ψ|² that is restored, and after how many steps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Norm {
    every: u64,
    weight: f64,
}

/// A stepper at work on a scenario.
pub(super) struct Run<S> {
    setup: Setup,
    clock: RunClock,
    norm: Option<Norm>,
    stepper: S,
}

impl<S: Stepper + 'static> Run<S> {
    /// The same for a method that may be cut: in the parts that the scene or a launcher asks for.
    ///
    /// # Errors
    /// As [`Run::boxed`].
    pub(super) fn in_parts(
        setup: Setup,
        make: impl Fn(&Setup) -> Result<S, SolverError> + Send,
    ) -> Result<Box<dyn Solver>, SolverError>
    where
        S: Cut,
    {
        match setup.plan.clone() {
            None => Self::boxed(setup, make),
            Some(plan) => Run::boxed(setup, |setup| Whole::new(setup, plan, make)),
        }
    }

    /// A run at t = 0 of the stepper that `make` makes in the thread pool.
    ///
    /// # Errors
    /// Those of `make`, and of a back end that fails at once.
    pub(super) fn boxed(
        setup: Setup,
        make: impl FnOnce(&Setup) -> Result<S, SolverError> + Send,
    ) -> Result<Box<dyn Solver>, SolverError> {
        threads::run(|| {
            let mut run = Self {
                clock: RunClock::new(setup.time_step),
                stepper: make(&setup)?,
                norm: None,
                setup,
            };
            run.measure_norm()?;
            run.stepper.pace()?;
            Ok(Box::new(run) as Box<dyn Solver>)
        })
    }
}

impl<S: Stepper> Run<S> {
    /// Refuses pictures that this stepper does not support.
    fn shows(&self, quantity: Quantity) -> Result<(), SolverError> {
        if quantity.is_beside_steps() && !self.stepper.shows_beside_steps() {
            return Err(SolverError::Unsupported(format!(
                "pictures of \"{}\" are made by fdtd on the processor; set solver.method = \"fdtd\" and solver.backend = \"cpu\", or show the pressure",
                quantity.as_str()
            )));
        }
        Ok(())
    }

    /// Steps after which the norm is restored: imaginary time changes it in every step; rounding to single precision does little by little, which shows where
    /// nothing else does. A correction every step would be smaller than the rounding of what it multiplies.
    fn norm_every(&self) -> Option<u64> {
        if self.setup.is_imaginary() {
            return Some(1);
        }
        let single = self.setup.choice.precision == Precision::Single;
        let driven = self.setup.scenario.mirror().is_some_and(|mirror| mirror.listens());
        let uncounted = driven && !self.stepper.counts_put_in();
        if !single || self.setup.absorbs() || uncounted {
            return None;
        }
        self.stepper.norm_drifts_within()
    }

    /// Takes the present norm as the one to restore.
    fn measure_norm(&mut self) -> Result<(), SolverError> {
        self.stepper.set_put_in([0.0; 2]);
        self.norm = match self.norm_every() {
            Some(every) => Some(Norm {
                every,
                weight: self.stepper.weight()?,
            }),
            None => None,
        };
        Ok(())
    }

    /// Restores the norm. What transducers added since is no rounding and stays; imaginary time keeps the norm of its start whatever is added.
    fn restore_norm(&mut self) -> Result<(), SolverError> {
        let counts = !self.setup.is_imaginary();
        match &mut self.norm {
            Some(norm) => {
                let put_in = self.stepper.put_in().filter(|_| counts);
                norm.weight = (norm.weight + put_in.map_or(0.0, |sum| sum.total())).max(0.0);
                self.stepper.set_put_in([0.0; 2]);
                self.stepper.scale_to(norm.weight)
            }
            None => Ok(()),
        }
    }

    /// Steps until the norm is restored after the last of them; `None` if it never is.
    fn until_norm(&self) -> Option<u64> {
        self.norm.map(|norm| norm.every - self.clock.steps() % norm.every)
    }

    fn take(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        let mut left = steps;
        // What a device lets transducers play is not counted: the norm is taken anew after it.
        let uncounted = taps.plays() && !self.setup.is_imaginary() && !self.stepper.counts_put_in();
        while left > 0 {
            let restores = self.until_norm().filter(|until| *until <= left && !uncounted);
            // The last step before the norm is restored is observed after that.
            let whole = restores.unwrap_or(left);
            let free = if restores.is_some() { whole - 1 } else { whole };
            if taps.is_empty() {
                self.stepper.advance(&self.clock, whole)?;
                self.clock = self.clock.after(whole);
                if restores.is_some() {
                    self.restore_norm()?;
                }
            } else {
                if free > 0 {
                    self.stepper.advance_observed(&self.clock, free, taps)?;
                    self.clock = self.clock.after(free);
                }
                if restores.is_some() {
                    self.stepper.advance(&self.clock, 1)?;
                    self.clock = self.clock.after(1);
                    self.restore_norm()?;
                    self.stepper.observe(&self.clock, taps)?;
                }
            }
            left -= whole;
        }
        if uncounted {
            self.measure_norm()?;
        }
        self.stepper.pace()
    }

    /// Lets detectors know the forces of sources.
    fn feel(&self, taps: &mut Taps) {
        if taps.hear_velocity() {
            taps.feel(&self.setup.scenario, motion::half_order(&self.stepper, &self.setup));
        }
    }

    /// Another Δt from here on.
    fn set_step(&mut self, time_step: f64) -> Result<(), SolverError> {
        self.setup.check_step(time_step)?;
        if time_step.to_bits() != self.clock.time_step().to_bits() {
            self.stepper.set_step(&self.clock, time_step)?;
            self.clock = self.clock.with_step(time_step);
        }
        Ok(())
    }

    fn set_medium(&mut self, scenario: &Scenario) -> Result<(), SolverError> {
        let next = self.setup.with_medium(scenario)?;
        // A faster medium may need a smaller step: the scene's own.
        if !next.is_stable(self.clock.time_step()) {
            self.set_step(next.time_step.copysign(self.clock.time_step()))?;
        }
        let added = motion::added_by_edit(&mut self.stepper, &self.setup, (&self.clock, &next.scenario))?;
        self.stepper.set_medium(&next, &self.clock)?;
        self.setup = next;
        if let Some(added) = added {
            motion::add(&mut self.stepper, &self.setup, (&self.clock, &added))?;
        }
        if self.setup.is_imaginary() {
            return Ok(());
        }
        self.measure_norm()
    }

    fn edit_now(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        match edit {
            Edit::TimeStep(step) => self.set_step(*step)?,
            Edit::Medium => self.set_medium(scenario)?,
            Edit::Conjugate => self.stepper.conjugate(&self.clock)?,
        }
        self.stepper.pace()
    }

    fn equation(&self) -> Equation {
        self.setup.scenario.model().equation()
    }

    /// Refuses an array of another size or kind.
    fn check_array(&self, name: &str, array: &FieldData, values: usize) -> Result<(), SolverError> {
        let complex = matches!(array, FieldData::Complex64(_) | FieldData::Complex128(_));
        let wanted = self.equation() == Equation::Schrodinger;
        if array.len() == values && complex == wanted {
            return Ok(());
        }
        let kind = |complex: bool| if complex { "complex" } else { "real" };
        Err(SolverError::StateMismatch(format!(
            "{name} has {} {} values where {values} {} ones belong; use it with a scene of its own grid and equation",
            array.len(),
            kind(complex),
            kind(wanted)
        )))
    }

    fn replace_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        self.check_array("the field", field, self.setup.scenario.grid().sites())?;
        self.set_step(clock.time_step)?;
        self.clock = RunClock::from_saved(clock, None);
        self.stepper.set_field(&self.clock, field)?;
        self.measure_norm()?;
        self.stepper.pace()
    }

    fn saved(&mut self) -> Result<SolverState, SolverError> {
        let planes = self.stepper.layout();
        let arrays = planes.into_iter().zip(self.stepper.save()?);
        let (base_time, base_steps) = self.clock.base();
        #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
        let mut scalars = vec![
            (BASE_TIME.to_owned(), base_time),
            (BASE_STEPS.to_owned(), base_steps as f64),
        ];
        if let Some(norm) = self.norm {
            scalars.push((WEIGHT[0].to_owned(), norm.weight));
            if let Some(put_in) = self.stepper.put_in() {
                let [total, rest] = put_in.numbers();
                scalars.push((PUT_IN[0].to_owned(), total));
                // Most states have none, among them those of earlier versions.
                scalars.extend((rest != 0.0).then(|| (PUT_IN[1].to_owned(), rest)));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "settings are far below 2^52")]
        let settings = (self.stepper.measured_settings().into_iter())
            .map(|(key, value)| (format!("{SETTINGS}{key}"), value as f64));
        scalars.extend(settings);
        Ok(SolverState {
            clock: self.clock.public(),
            arrays: arrays.filter_map(|(plane, data)| Some((plane.name, data?))).collect(),
            scalars,
        })
    }

    /// The array of a state for a plane of the layout.
    fn plane_of<'a>(&self, state: &'a SolverState, plane: &Plane) -> Result<Option<&'a FieldData>, SolverError> {
        let Some((_, array)) = state.arrays.iter().find(|(name, _)| *name == plane.name) else {
            if plane.optional {
                return Ok(None);
            }
            return Err(SolverError::StateMismatch(format!(
                "`{}` is missing; was it saved by {}?",
                plane.name, self.setup.method.id
            )));
        };
        self.check_array(&format!("`{}`", plane.name), array, plane.values)?;
        Ok(Some(array))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that `save` wrote"
    )]
    fn take_over(&mut self, state: &SolverState) -> Result<(), SolverError> {
        let planes = self.stepper.layout();
        let arrays: Vec<Option<&FieldData>> = (planes.iter())
            .map(|plane| self.plane_of(state, plane))
            .collect::<Result<_, _>>()?;
        let scalar = |name: &str| {
            let found = state.scalars.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| *value)
        };
        let base = scalar(BASE_TIME).zip(scalar(BASE_STEPS).map(|steps| steps as u64));
        self.set_step(state.clock.time_step)?;
        self.clock = RunClock::from_saved(state.clock, base);
        self.stepper.load(&self.clock, &arrays)?;
        match (&mut self.norm, WEIGHT.into_iter().find_map(scalar)) {
            (Some(norm), Some(weight)) => {
                norm.weight = weight;
                self.stepper.set_put_in(PUT_IN.map(|name| scalar(name).unwrap_or(0.0)));
            }
            _ => self.measure_norm()?,
        }
        self.stepper.pace()
    }
}

impl SolverState {
    /// Forgets the norm to restore: a caller that changes the arrays defines a new norm.
    pub(crate) fn forget_norm(&mut self) {
        let known = |name: &str| WEIGHT.contains(&name) || PUT_IN.contains(&name);
        self.scalars.retain(|(name, _)| !known(name));
    }
}

impl<S: Stepper> Solver for Run<S> {
    fn report(&self) -> Report {
        let parts = self.stepper.parts();
        let notes: Vec<&str> = [&self.setup.note, &parts.note]
            .into_iter()
            .filter_map(Option::as_deref)
            .collect();
        Report {
            method: self.setup.method.id,
            variant: parts.variant,
            backend: parts.backend,
            precision: self.setup.choice.precision,
            order: self.setup.order(),
            threads: parts.threads,
            details: parts.details,
            batch: parts.batch,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            memory: parts.memory,
        }
    }

    fn clock(&self) -> Clock {
        self.clock.public()
    }

    fn clock_after(&self, steps: u64) -> Clock {
        self.clock.after(steps).public()
    }

    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.feel(taps);
        threads::run(|| self.take(steps, taps))
    }

    fn observe(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        self.feel(taps);
        threads::run(|| {
            self.stepper.observe(&self.clock, taps)?;
            self.stepper.pace()
        })
    }

    fn apply_transducers(&mut self, taps: &mut Taps) -> Result<(), SolverError> {
        let method = self.setup.method;
        if !method.transducers.contains(&self.stepper.parts().backend) {
            return Err(SolverError::Unsupported(format!(
                "{} does not reach single sites, which transducers need; use solver.method = \"trotter\" or \"fdtd\"",
                method.id
            )));
        }
        threads::run(|| {
            self.stepper.apply_transducers(&self.clock, taps)?;
            self.stepper.pace()
        })
    }

    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError> {
        threads::run(|| self.edit_now(scenario, edit))
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        threads::run(|| self.stepper.keep_velocity())
    }

    fn mean_intensity(&mut self) -> Result<Vec<f32>, SolverError> {
        let made = threads::run(|| self.stepper.mean_intensity())?;
        made.ok_or_else(|| {
            let remedy = "set solver.method = \"fdtd\" and solver.backend = \"cpu\", or view.flow = \"none\"";
            SolverError::Unsupported(format!("where sound flows is shown by fdtd on the processor; {remedy}"))
        })
    }

    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        request.require(self.equation())?;
        self.shows(request.quantity)?;
        threads::run(|| self.stepper.image(&self.clock, request, image))
    }

    fn begin_image(&mut self, request: &ImageRequest) -> Result<bool, SolverError> {
        request.require(self.equation())?;
        self.shows(request.quantity)?;
        threads::run(|| self.stepper.begin_image(&self.clock, request))
    }

    fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        threads::run(|| self.stepper.take_image(image))
    }

    fn observables(&mut self) -> Result<Observables, SolverError> {
        threads::run(|| self.stepper.sums(&self.clock))
    }

    fn sums_in_steps(&self) -> bool {
        self.stepper.sums_in_steps()
    }

    fn state_sums(&mut self, start: &Arc<FieldData>, whole: bool) -> Result<Option<StateSums>, SolverError> {
        threads::run(|| self.stepper.state_sums(&self.clock, start, whole))
    }

    fn field(&mut self) -> Result<FieldData, SolverError> {
        threads::run(|| self.stepper.field(&self.clock))
    }

    fn field_in(&mut self, boxes: &[SiteBox]) -> Result<Option<Vec<FieldData>>, SolverError> {
        threads::run(|| self.stepper.field_in(&self.clock, boxes))
    }

    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError> {
        threads::run(|| self.replace_field(field, clock))
    }

    fn change_field(&mut self, change: &mut (dyn FnMut(&mut FieldData) + Send)) -> Result<(), SolverError> {
        threads::run(|| {
            let mut field = self.stepper.field(&self.clock)?;
            change(&mut field);
            self.stepper.set_field(&self.clock, &field)?;
            self.restore_norm()?;
            self.stepper.pace()
        })
    }

    fn motion(&mut self) -> Result<Option<Motion>, SolverError> {
        threads::run(|| motion::of(&mut self.stepper, &self.setup, &self.clock))
    }

    fn set_motion(&mut self, motion: &Motion) -> Result<(), SolverError> {
        threads::run(|| motion::give(&mut self.stepper, &self.setup, (&self.clock, motion)))
    }

    fn save(&mut self) -> Result<SolverState, SolverError> {
        threads::run(|| self.saved())
    }

    fn load(&mut self, state: &SolverState) -> Result<(), SolverError> {
        threads::run(|| self.take_over(state))
    }
}
