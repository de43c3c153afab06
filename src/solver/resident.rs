//! Fields of sound that lie on a device while they are stepped, and with a stepper of the processor while something is changed: scenes are read, Δt is changed and states
//! are written by the one code, and checkpoints go from one back end to the other.

use crate::field::FieldData;
use crate::physics::Observables;
use crate::solver::clock::RunClock;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};

/// The part of such a field that a method provides; the rest is done here.
pub(in crate::solver) trait Resident: Send {
    /// The processor's stepper of the same method. It holds medium and constants, and the state only between [`Resident::pull`] and [`Resident::push`].
    type Host: Stepper;

    /// The host.
    fn host(&self) -> &Self::Host;
    /// The same, to be changed.
    fn host_mut(&mut self) -> &mut Self::Host;
    /// Copies the state to the host.
    fn pull(&mut self) -> Result<(), SolverError>;
    /// Copies the host's state to the device; the host frees it.
    fn push(&mut self) -> Result<(), SolverError>;
    /// Frees the host's copy of the state.
    fn let_go(&mut self);

    /// Changes the state on the host and copies it back; after an error the device keeps its state.
    fn on_host<R>(&mut self, change: impl FnOnce(&mut Self::Host) -> Result<R, SolverError>) -> Result<R, SolverError> {
        self.pull()?;
        let result = change(self.host_mut());
        self.push()?;
        result
    }

    /// Shows the state to the host, which frees it again.
    fn host_sees<R>(&mut self, look: impl FnOnce(&mut Self::Host) -> R) -> Result<R, SolverError> {
        self.pull()?;
        let result = look(self.host_mut());
        self.let_go();
        Ok(result)
    }

    /// See [`Stepper::parts`].
    fn describe(&self) -> Parts;
    /// Takes steps, after each of which transducers act and detectors record.
    fn take_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError>;
    /// See [`Stepper::apply_transducers`].
    fn drive_sites(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.on_host(|host| host.apply_transducers(clock, taps))
    }
    /// See [`Stepper::pace`].
    fn wait(&mut self) -> Result<(), SolverError>;
    /// Whether ∫p dt is kept, from which the velocity follows.
    fn keeps_velocity(&self) -> bool;
    /// See [`Stepper::keep_velocity`].
    fn watch_velocity(&mut self) -> Result<(), SolverError> {
        if !self.keeps_velocity() {
            self.on_host(Stepper::keep_velocity)?;
        }
        Ok(())
    }
    /// See [`Stepper::sums`].
    fn total(&mut self) -> Result<Observables, SolverError>;
    /// See [`Stepper::image`].
    fn picture(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError>;
    /// See [`Stepper::begin_image`].
    fn begin_picture(&mut self, _request: &ImageRequest) -> Result<bool, SolverError> {
        Ok(false)
    }
    /// See [`Stepper::take_image`].
    fn take_picture(&mut self, _image: &mut FieldImage) -> Result<bool, SolverError> {
        Ok(false)
    }
    /// See [`Stepper::field`].
    fn pressure(&mut self) -> Result<FieldData, SolverError>;
}

impl<D: Resident> Stepper for D {
    fn parts(&self) -> Parts {
        self.describe()
    }

    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        self.on_host(|host| host.set_step(clock, time_step))
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        self.on_host(|host| host.set_medium(setup, clock))
    }

    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError> {
        self.on_host(|host| host.conjugate(clock))
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        self.take_steps(clock, steps, &mut Taps::default())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.take_steps(clock, steps, taps)
    }

    /// Called once a run: the state is copied to the host.
    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        if taps.transducers_act() {
            return self.on_host(|host| host.observe(clock, taps));
        }
        if taps.ask_for_velocity() {
            self.watch_velocity()?;
        }
        self.host_sees(|host| host.observe(clock, taps))?
    }

    fn apply_transducers(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.drive_sites(clock, taps)
    }

    fn pace(&mut self) -> Result<(), SolverError> {
        self.wait()
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.watch_velocity()
    }

    fn sums(&mut self, _clock: &RunClock) -> Result<Observables, SolverError> {
        self.total()
    }

    fn image(&mut self, _clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        self.picture(request, image)
    }

    fn begin_image(&mut self, _clock: &RunClock, request: &ImageRequest) -> Result<bool, SolverError> {
        self.begin_picture(request)
    }

    fn take_image(&mut self, image: &mut FieldImage) -> Result<bool, SolverError> {
        self.take_picture(image)
    }

    fn field(&mut self, _clock: &RunClock) -> Result<FieldData, SolverError> {
        self.pressure()
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        self.on_host(|host| host.set_field(clock, field))
    }

    fn layout(&self) -> Vec<Plane> {
        self.host().layout()
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        self.host_sees(Stepper::save)?
    }

    fn load(&mut self, clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        self.on_host(|host| host.load(clock, arrays))
    }
}
