//! The trait [`Solver`]: what the engine asks of a running method.
//!
//! A method is one row of [`METHODS`]: plain data that the method panel, `ripplon list methods` and the
//! validation of `[solver]` read, and a `build` function. A running method is a [`Solver`]; one virtual call covers a
//! batch of steps.

pub mod acoustic;
#[cfg(feature = "gui")]
mod adapter;
pub mod chebyshev;
mod check;
mod clock;
#[cfg(any(feature = "cuda", feature = "gui"))]
mod counts;
pub mod crank_nicolson;
mod cut;
#[cfg(feature = "cuda")]
mod device;
mod events;
pub mod fdtd;
#[cfg(any(feature = "cuda", feature = "gui"))]
mod gathered;
pub mod image;
mod lane_sums;
pub mod method;
pub mod methods;
mod motion;
pub mod oscillators;
mod parts;
mod placed;
pub mod placement;
mod put_in;
mod quantum;
#[cfg(any(feature = "cuda", feature = "gui"))]
mod resident;
mod row_numbers;
mod run;
mod setup;
pub mod split_step_fourier;
mod stepper;
pub mod taps;
mod tiling;
mod totals;
pub mod transducers;
pub mod trotter;
mod tune;
pub mod volume;
#[cfg(feature = "cuda")]
mod windows;

use crate::field::{FieldData, Precision};
use crate::grid::SiteBox;
use crate::physics::{Observables, StateSums};
use crate::scene::Scenario;
use std::sync::Arc;

pub use crate::backend::host_memory::free as free_memory;
pub use check::{MOST_STEPS, Table, read_scene, read_scene_text, validate_scene};
pub use cut::{Cutting, cutting, devices_here};
pub use image::{FieldImage, ImageRequest};
pub use method::{
    Backend, DEVICES, EXACT, Kind, Method, PARTS, Paper, ParameterSpec, Split, StepAdvice, Target, Variant, Work,
    order_word, run_elsewhere,
};
pub use methods::{METHODS, find};
pub use quantum::{initial_state, interaction_energy, soliton};
pub use taps::Taps;
pub use volume::{FieldVolume, VolumeRequest};

/// The description of a running solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The method.
    pub method: &'static str,
    /// The variant that runs (never `auto`).
    pub variant: &'static str,
    /// Where it runs.
    pub backend: Backend,
    /// In which precision.
    pub precision: Precision,
    /// The order in Δt, or [`EXACT`].
    pub order: u32,
    /// Threads or multiprocessors at work.
    pub threads: usize,
    /// Further choices, e.g. `block 512 × 4096, 8 fused steps, AVX-512`.
    pub details: String,
    /// Steps that are taken at once where that many are asked for: batches of a multiple are the fastest.
    pub batch: u64,
    /// A note for the user, e.g. why it does not run where it would be fastest.
    pub note: Option<String>,
    /// Bytes held.
    pub memory: u64,
}

/// Words with which a report says how a grid is cut, before what it says of each part.
const PARTS_ALONG: &str = " parts along ";

impl Report {
    /// How the grid is cut, and how ghost rows travel; `None` for a run in one part.
    pub fn cut(&self) -> Option<&str> {
        let (cut, _) = self.details.split_once("; ")?;
        cut.contains(PARTS_ALONG).then_some(cut)
    }
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Clock {
    /// Steps taken since t = 0, forwards and backwards alike.
    pub steps: u64,
    /// The time; falls while Δt is negative.
    pub time: f64,
    /// Δt with its sign.
    pub time_step: f64,
}

impl Clock {
    /// That of t = 0.
    pub const fn at_start(time_step: f64) -> Self {
        Self {
            steps: 0,
            time: 0.0,
            time_step,
        }
    }
}

/// A live change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Another Δt; negative runs backwards.
    TimeStep(f64),
    /// The scenario's medium or constants changed; everything that depends on them is read again.
    Medium,
    /// Time reversal: ψ → ψ*; sound: dp/dt changes its sign, p stays.
    Conjugate,
}

/// The motion of sound, x fastest.
#[derive(Clone, Debug)]
pub struct Motion {
    /// ∂p/∂t, Pa/s.
    pub rate: Vec<f64>,
    /// Φ = ∫p dt, Pa s, whose gradient is −ρ times the velocity of the medium; where it is kept.
    pub potential: Option<Vec<f64>>,
}

/// The whole inner state: what a checkpoint holds. Restoring it continues the run bit by bit.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverState {
    /// Where the run stood.
    pub clock: Clock,
    /// Named arrays; fields have the grid's size, x fastest.
    pub arrays: Vec<(String, FieldData)>,
    /// Named numbers.
    pub scalars: Vec<(String, f64)>,
}

/// Why a solver cannot be built or continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SolverError {
    /// Memory ran out.
    #[error("{what} needs {needed} bytes, and {available} are free; use a smaller grid or single precision")]
    OutOfMemory {
        /// What was to be allocated.
        what: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// The scenario asks for something that the method does not support.
    #[error("{0}")]
    Unsupported(String),
    /// A state that does not belong to this run.
    #[error("the saved state does not fit: {0}")]
    StateMismatch(String),
    /// The back end failed.
    #[error("{backend}: {message}")]
    Backend {
        /// Which.
        backend: &'static str,
        /// The kernel or call, and what it said.
        message: String,
    },
}

/// A method that runs one scenario.
pub trait Solver: Send {
    /// The description.
    fn report(&self) -> Report;

    /// Where the run stands.
    fn clock(&self) -> Clock;

    /// Where it will stand after so many more steps.
    fn clock_after(&self, steps: u64) -> Clock;

    /// Takes `steps` steps. Taps act at every one of them: fusing steps never changes what is recorded.
    ///
    /// # Errors
    /// If the back end fails. The state is then either that of the last successful call, or lost.
    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError>;

    /// Lets the transducers act and the detectors record at the present time, without a step.
    ///
    /// # Errors
    /// If the back end fails.
    fn observe(&mut self, taps: &mut Taps) -> Result<(), SolverError>;

    /// Lets the transducers act at the present time, without a step.
    ///
    /// # Errors
    /// If the method does not reach single sites, or the back end fails.
    fn apply_transducers(&mut self, _taps: &mut Taps) -> Result<(), SolverError> {
        Err(SolverError::Unsupported(format!(
            "{} does not reach single sites, which transducers need",
            self.report().method
        )))
    }

    /// Applies a change; `scenario` already contains it.
    ///
    /// # Errors
    /// If the method cannot do it without being built anew ([`SolverError::Unsupported`]).
    fn edit(&mut self, scenario: &Scenario, edit: &Edit) -> Result<(), SolverError>;

    /// Reduces the field to a picture. `image` keeps its allocations from call to call.
    ///
    /// # Errors
    /// If the back end fails, or the quantity does not fit the equation.
    fn image(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError>;

    /// Begins a picture of the present state, which [`Solver::take_image`] gives later; steps taken in between do not change it, nor wait
    /// for it. `false` if the method does not support this: call [`Solver::image`].
    ///
    /// # Errors
    /// If the back end fails, or the quantity does not fit the equation.
    fn begin_image(&mut self, _request: &ImageRequest) -> Result<bool, SolverError> {
        Ok(false)
    }

    /// The picture begun last, once; `false` if there is none. `image` keeps its allocations.
    ///
    /// # Errors
    /// If the back end fails.
    fn take_image(&mut self, _image: &mut FieldImage) -> Result<bool, SolverError> {
        Ok(false)
    }

    /// Reduces a field of three dimensions to a volume, by default plane by plane with [`Solver::image`]. `volume` keeps its allocations.
    ///
    /// # Errors
    /// If the back end fails, or the quantity does not fit the equation.
    fn volume(&mut self, request: &VolumeRequest, volume: &mut FieldVolume) -> Result<(), SolverError> {
        volume.fill(request, |plane, image| self.image(plane, image))
    }

    /// Sound: keeps the velocity of the medium from now on, which energy and flux need; it is 0 at the first call. Runs whose scene asks for it ([`Scenario::asks_for_velocity`]) keep it from
    /// the start.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// Sound: the mean intensity ⟨p v⟩ of every site, W/m², axis after axis, x fastest; kept from the first call on.
    ///
    /// # Errors
    /// If the method does not make it, or there is no memory for it.
    fn mean_intensity(&mut self) -> Result<Vec<f32>, SolverError>;

    /// Sums over the field; NaN where the field is not finite.
    ///
    /// # Errors
    /// If the back end fails.
    fn observables(&mut self) -> Result<Observables, SolverError>;

    /// Whether [`Solver::advance`] takes the observables of every n-th step within its steps, where taps ask for them ([`Taps::observe_every`]). They are rounded to the field's precision.
    fn sums_in_steps(&self) -> bool {
        false
    }

    /// The sums over ψ and `start`, ψ at t = 0, computed where ψ is stored; those over momenta and lines only if `whole`. `None` if the caller has to read the field instead.
    ///
    /// # Errors
    /// If the back end fails or has no memory for it.
    fn state_sums(&mut self, _start: &Arc<FieldData>, _whole: bool) -> Result<Option<StateSums>, SolverError> {
        Ok(None)
    }

    /// The field at the clock's time, merged half steps closed; x fastest.
    ///
    /// # Errors
    /// If the back end fails or the host has no memory for it.
    fn field(&mut self) -> Result<FieldData, SolverError>;

    /// The field at the clock's time in boxes of sites, each as an array with x fastest; `None` where a part costs as much as the whole; then call [`Solver::field`]. A site has the same bits in every box,
    /// which may differ in the last digit from those of the whole.
    ///
    /// # Errors
    /// As [`Solver::field`].
    fn field_in(&mut self, _boxes: &[SiteBox]) -> Result<Option<Vec<FieldData>>, SolverError> {
        Ok(None)
    }

    /// Replaces the field (any precision, same sites) and sets the clock.
    ///
    /// # Errors
    /// If the size or kind is another one.
    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError>;

    /// Changes ψ in its place: the clock and the norm that is restored stay what they were.
    ///
    /// # Errors
    /// As [`Solver::field`] and [`Solver::set_field`].
    fn change_field(&mut self, change: &mut (dyn FnMut(&mut FieldData) + Send)) -> Result<(), SolverError>;

    /// The motion of sound at the clock's time; `None` for ψ, which has no other state.
    ///
    /// # Errors
    /// If the back end fails or the host has no memory for it.
    fn motion(&mut self) -> Result<Option<Motion>, SolverError> {
        Ok(None)
    }

    /// Sets the motion of the pressure that [`Solver::set_field`] has set.
    ///
    /// # Errors
    /// If the size or kind is another one.
    fn set_motion(&mut self, _motion: &Motion) -> Result<(), SolverError> {
        Ok(())
    }

    /// The inner state, bit by bit.
    ///
    /// # Errors
    /// If the back end fails or the host has no memory for it.
    fn save(&mut self) -> Result<SolverState, SolverError>;

    /// Continues from a state of [`Solver::save`].
    ///
    /// # Errors
    /// If it belongs to another grid or method.
    fn load(&mut self, state: &SolverState) -> Result<(), SolverError>;
}
