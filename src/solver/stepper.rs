//! What a method on a back end has to provide. Clock, edits, norms, checkpoints and reports belong to [`Run`](super::run::Run).

use super::clock::RunClock;
use super::put_in::PutIn;
use super::setup::Setup;
use super::{Backend, FieldImage, ImageRequest, SolverError, Taps};
use crate::field::FieldData;
use crate::grid::SiteBox;
use crate::physics::{Observables, StateSums};
use std::ops::Range;
use std::sync::Arc;

/// What a stepper adds to [`Report`](super::Report).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parts {
    /// The variant that runs.
    pub variant: &'static str,
    pub backend: Backend,
    /// Threads or multiprocessors at work.
    pub threads: usize,
    /// The choices that were made, for the user.
    pub details: String,
    /// Steps that are taken at once unless fewer are asked for.
    pub batch: u64,
    /// A note for the user.
    pub note: Option<String>,
    /// Bytes held.
    pub memory: u64,
}

/// A named array of a stepper's state, x fastest where it has a value a site.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plane {
    /// The name in checkpoints.
    pub name: String,
    /// Numbers in it; complex ones for the Schrödinger equation, real ones for sound.
    pub values: usize,
    /// Whether a state may lack it.
    pub optional: bool,
    /// Arrays one after the other in it, each with as many values in every row of the grid's last axis.
    pub blocks: usize,
    /// The rows of the whole grid along that axis that it has, ascending; `None` = all.
    pub rows: Option<Vec<Range<usize>>>,
}

impl Plane {
    /// An array that every state has.
    pub(super) fn new(name: impl Into<String>, values: usize) -> Self {
        Self {
            name: name.into(),
            values,
            optional: false,
            blocks: 1,
            rows: None,
        }
    }

    /// An array that a state has where somebody asked for it.
    pub(super) fn optional(name: impl Into<String>, values: usize) -> Self {
        Self {
            optional: true,
            ..Self::new(name, values)
        }
    }
}

/// A method on a back end: a field in its own layout, and its steps.
///
/// All functions are called in the thread pool. `clock` is that of the state; only [`Run`](super::run::Run) moves it. Many steps in one call give the same
/// bits as single ones. After an error the state is that of the last successful call, or lost.
pub(super) trait Stepper: Send {
    /// Its description.
    fn parts(&self) -> Parts;

    /// Takes another Δt; the state stays that of the present time. Nothing is changed on an error that a limit of Δt causes.
    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError>;

    /// Reads medium, constants and sources again; the state stays, and so does Δt, which is stable in the new medium.
    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError>;

    /// ψ → ψ*; sound: dp/dt changes its sign.
    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError>;

    /// Takes steps while nothing records.
    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError>;

    /// Takes steps; after each of them transducers act, and then detectors record.
    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        let mut done = 0;
        while done < steps {
            let count = taps.until_due(&clock.after(done), steps - done);
            self.advance(&clock.after(done), count)?;
            done += count;
            self.observe(&clock.after(done), taps)?;
        }
        Ok(())
    }

    /// Lets transducers act at the present time, then detectors record. Asked by [`Stepper::advance_observed`] as given here, and after a norm was restored.
    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError>;

    /// Lets transducers act, without a record. Asked only where the method's row offers them.
    fn apply_transducers(&mut self, _clock: &RunClock, _taps: &mut Taps) -> Result<(), SolverError> {
        Ok(())
    }

    /// Ends a call of the engine: waits for the back end as far as it needs, and returns its errors.
    fn pace(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// After how many steps in single precision the norm has to be restored, because rounding changes it the same way in every step.
    fn norm_drifts_within(&self) -> Option<u64> {
        None
    }

    /// Σ|ψ|², without the cells' volume.
    fn weight(&mut self) -> Result<f64, SolverError> {
        Ok(0.0)
    }

    /// Scales ψ to Σ|ψ|² = `weight`; a field that is zero stays.
    fn scale_to(&mut self, _weight: f64) -> Result<(), SolverError> {
        Ok(())
    }

    /// Whether [`Stepper::put_in`] gives anything.
    fn counts_put_in(&self) -> bool {
        self.put_in().is_some()
    }

    /// What transducers have added to Σ|ψ|² since [`Stepper::set_put_in`]; `None` where it is not counted, so that the norm cannot be restored while they act.
    fn put_in(&self) -> Option<PutIn> {
        None
    }

    /// Continues the count from here, see [`PutIn::numbers`].
    fn set_put_in(&mut self, _numbers: [f64; 2]) {}

    /// Whether it makes pictures of means over time and of the velocity ([`Quantity::is_beside_steps`](crate::scene::scenario::Quantity::is_beside_steps)).
    fn shows_beside_steps(&self) -> bool {
        false
    }

    /// See [`Solver::keep_velocity`](super::Solver::keep_velocity).
    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// See [`Solver::mean_intensity`](super::Solver::mean_intensity); `None` where it is not supported.
    fn mean_intensity(&mut self) -> Result<Option<Vec<f32>>, SolverError> {
        Ok(None)
    }

    /// Sums over the field; NaN where it is not finite.
    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError>;

    /// See [`Solver::sums_in_steps`](super::Solver::sums_in_steps).
    fn sums_in_steps(&self) -> bool {
        false
    }

    /// Reduces the field to a picture of a quantity that fits the equation.
    fn image(&mut self, clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError>;

    /// See [`Solver::begin_image`](super::Solver::begin_image).
    fn begin_image(&mut self, _clock: &RunClock, _request: &ImageRequest) -> Result<bool, SolverError> {
        Ok(false)
    }

    /// See [`Solver::take_image`](super::Solver::take_image).
    fn take_image(&mut self, _image: &mut FieldImage) -> Result<bool, SolverError> {
        Ok(false)
    }

    /// See [`Solver::state_sums`](super::Solver::state_sums).
    fn state_sums(
        &mut self,
        _clock: &RunClock,
        _start: &Arc<FieldData>,
        _whole: bool,
    ) -> Result<Option<StateSums>, SolverError> {
        Ok(None)
    }

    /// ψ or p at the clock's time, x fastest.
    fn field(&mut self, clock: &RunClock) -> Result<FieldData, SolverError>;

    /// See [`Solver::field_in`](super::Solver::field_in).
    fn field_in(&mut self, _clock: &RunClock, _boxes: &[SiteBox]) -> Result<Option<Vec<FieldData>>, SolverError> {
        Ok(None)
    }

    /// Sets ψ, or p at rest, at the clock's time. The array has a value of the right kind for every site.
    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError>;

    /// The arrays of the state.
    fn layout(&self) -> Vec<Plane>;

    /// The state bit by bit, in the order of [`Stepper::layout`]; `None` for an optional array that is not kept.
    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError>;

    /// Settings of `[solver]` that a measurement chose and on which bits depend: they belong to the state, since another machine would choose others.
    fn measured_settings(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// Takes over such a state, whose Δt is set already. Sizes and kinds are those of the layout.
    fn load(&mut self, clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError>;
}
