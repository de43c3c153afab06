//! The table of methods, and what the engine asks of a running one.
//!
//! A method is one row of [`METHODS`]: plain data from which the control panel, `ripplon list methods` and the
//! validation of `[solver]` are read off, and a `build` function. A running method answers to [`Solver`]; one virtual call covers a
//! batch of steps.

pub mod acoustic;
mod check;
pub mod crank_nicolson;
#[cfg(feature = "cuda")]
mod device;
pub mod fdtd;
pub mod image;
pub mod oscillators;
pub mod placement;
pub mod split_step_fourier;
pub mod taps;
mod tiling;
mod totals;
pub mod transducers;
pub mod trotter;
pub mod volume;

use crate::field::{FieldData, Precision};
use crate::physics::{Equation, Observables};
use crate::scene::Scenario;

pub use check::{Table, free_memory, read_scene, read_scene_text, validate_scene};
pub use image::{FieldImage, ImageRequest};
pub use taps::Taps;
pub use volume::{FieldVolume, VolumeRequest};

/// Every method, in the order that lists show them.
pub static METHODS: &[&Method] = &[
    &trotter::METHOD,
    &crank_nicolson::METHOD,
    &split_step_fourier::METHOD,
    &fdtd::METHOD,
    &oscillators::METHOD,
];

/// Hardware that a method can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// This machine's processor.
    Cpu,
    /// An NVIDIA device.
    Cuda,
}

impl Backend {
    /// The word in a scene file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }

    /// Whether it is there: in this build and on this machine.
    ///
    /// # Errors
    /// Why not, in words for people.
    pub fn presence(self) -> Result<(), &'static str> {
        match self {
            Self::Cpu => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda => crate::backend::cuda::device().map(|_| ()),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err("this build was made without the feature `cuda`"),
        }
    }
}

/// A way of computing the same steps, on one back end.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The key in scene files.
    pub id: &'static str,
    /// One line: what it does and what it is good for.
    pub about: &'static str,
}

/// What a method offers on one back end.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The back end.
    pub backend: Backend,
    /// Its precisions.
    pub precisions: &'static [Precision],
    /// Its variants, the simplest first; `auto` is always allowed and not listed.
    pub variants: &'static [Variant],
}

/// The kind of a parameter, with limits and default.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One of these whole numbers.
    OneOf {
        /// Allowed values.
        values: &'static [i64],
        /// Used where a scene says nothing.
        default: i64,
    },
    /// A whole number between limits, or `auto` (the default): chosen by the method.
    Count {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// One whole number per axis between limits, or `auto` (the default).
    Sizes {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
}

/// A parameter of a method.
#[derive(Clone, Copy, Debug)]
pub struct ParameterSpec {
    /// The key in scene files.
    pub key: &'static str,
    /// The label in the window.
    pub title: &'static str,
    /// The tooltip: formula, effect, source.
    pub about: &'static str,
    /// Kind, limits, default.
    pub kind: Kind,
    /// Variants that it concerns; empty = all.
    pub variants: &'static [&'static str],
}

/// Where a method comes from.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Author, year, title.
    pub citation: &'static str,
    /// DOI, if it has one.
    pub doi: &'static str,
}

/// What a method says about Δt for a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepAdvice {
    /// What `step = "auto"` takes.
    pub auto: f64,
    /// Beyond this the result is no longer accurate (or no longer stable, where `stability_limit` says so).
    pub sensible: f64,
    /// The scheme blows up beyond this; `None` where it is stable for every Δt.
    pub stability_limit: Option<f64>,
    /// How these were found, for the tooltip.
    pub because: &'static str,
}

/// The least work of one step at one site, for a machine without overheads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Multiply, add and multiply-add instructions, counted per lane: a vector of 16 numbers does 16 at once.
    pub instructions: f64,
    /// Bytes moved if every step reads and writes the field once, in place, and nothing stays in a cache; fusing steps goes below.
    pub bytes: f64,
}

/// One row of the table.
pub struct Method {
    /// The key in scene files.
    pub id: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// One paragraph for people.
    pub about: &'static str,
    /// The equation it steps.
    pub equation: Equation,
    /// Orders in Δt that it has; tested. The parameter `order` chooses where there are several.
    pub orders: &'static [u32],
    /// Dimensions it works in.
    pub ranks: &'static [usize],
    /// Back ends, precisions, variants.
    pub targets: &'static [Target],
    /// Its own parameters.
    pub parameters: &'static [ParameterSpec],
    /// Where it comes from.
    pub papers: &'static [Paper],
    /// Δt for a scenario.
    pub step_advice: fn(&Scenario) -> StepAdvice,
    /// What a scenario asks that the method cannot do, each with what to change; empty = it can be built.
    pub objections: fn(&Scenario) -> Vec<String>,
    /// Bytes that a run will need.
    pub memory: fn(&Scenario) -> u64,
    /// Grows a set of sites by those on which its values depend in one step: how thick a mirror must be that keeps out what is behind
    /// it. `None` where every site depends on all others.
    pub reach: Option<fn(&Scenario, &mut [bool])>,
    /// Back ends on which single sites can be heard and driven ([`Solver::touch`], and [`Taps::touch`] in every step).
    pub transducers: &'static [Backend],
    /// The least that a step of the scheme costs a site, whatever the variant: what `bench` measures against.
    pub work: fn(&Scenario) -> Work,
    /// A solver at t = 0.
    pub build: fn(&Scenario) -> Result<Box<dyn Solver>, SolverError>,
}

impl Method {
    /// The targets whose back end is there.
    pub fn present_targets(&self) -> impl Iterator<Item = &'static Target> + use<> {
        self.targets.iter().filter(|target| target.backend.presence().is_ok())
    }
}

/// The method with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.id == id)
}

/// What a running solver says of itself.
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
    /// The order in Δt.
    pub order: u32,
    /// Threads or multiprocessors at work.
    pub threads: usize,
    /// What was chosen for the rest, e.g. `block 512 × 4096, 8 fused steps, AVX-512`.
    pub details: String,
    /// Steps that are taken at once where that many are asked for: batches of a multiple are the fastest.
    pub batch: u64,
    /// What the user should know beside, e.g. why it does not run where it would be fastest.
    pub note: Option<String>,
    /// Bytes held.
    pub memory: u64,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Steps taken since t = 0, forwards and backwards alike.
    pub steps: u64,
    /// The time; falls while Δt is negative.
    pub time: f64,
    /// Δt with its sign.
    pub time_step: f64,
}

/// A live change.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Another Δt; negative runs backwards.
    TimeStep(f64),
    /// The scenario's medium or constants changed; everything that depends on them is read again.
    Medium,
    /// ψ → ψ*; pressure: dp/dt changes its sign. The field stays, and what follows runs back.
    Conjugate,
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

/// Why a solver could not be built or go on.
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
    /// The scenario asks for something that the method has not.
    #[error("{0}")]
    Unsupported(String),
    /// The field is no longer finite.
    #[error("the field is no longer finite at step {steps}, t = {time}; {remedy}")]
    NonFinite {
        /// Step of the check that found it.
        steps: u64,
        /// Its time.
        time: f64,
        /// What to change.
        remedy: String,
    },
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

/// A method at work on one scenario.
pub trait Solver: Send {
    /// What runs.
    fn report(&self) -> Report;

    /// Where the run stands.
    fn clock(&self) -> Clock;

    /// Takes `steps` steps. Taps see every one of them: fusing steps never changes what is recorded.
    ///
    /// # Errors
    /// If the back end fails; the state is then that of the last call that succeeded or lost, never mixed silently.
    fn advance(&mut self, steps: u64, taps: &mut Taps) -> Result<(), SolverError>;

    /// Lets the transducers do what is due now, without a step.
    ///
    /// # Errors
    /// If the method does not reach single sites, or the back end fails.
    fn touch(&mut self, _taps: &mut Taps) -> Result<(), SolverError> {
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
    /// for it. `false` if the method has no such thing: ask [`Solver::image`].
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

    /// Sound: keeps from now on what energy and its flux need beside the pressure, the velocity of the medium, if nobody did; it counts as 0 now. Runs whose scene asks for it ([`Scenario::asks_for_velocity`]) keep it from
    /// the start.
    ///
    /// # Errors
    /// If there is no memory for it.
    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    /// Sums over the field; NaN where the field is not finite.
    ///
    /// # Errors
    /// If the back end fails.
    fn observables(&mut self) -> Result<Observables, SolverError>;

    /// The field at the clock's time, merged half steps closed; x fastest.
    ///
    /// # Errors
    /// If the back end fails or the host has no memory for it.
    fn field(&mut self) -> Result<FieldData, SolverError>;

    /// Replaces the field (any precision, same sites) and sets the clock.
    ///
    /// # Errors
    /// If the size or kind is another one.
    fn set_field(&mut self, field: &FieldData, clock: Clock) -> Result<(), SolverError>;

    /// The inner state, bit by bit.
    ///
    /// # Errors
    /// If the back end fails or the host has no memory for it.
    fn save(&mut self) -> Result<SolverState, SolverError>;

    /// Continues from a state that [`Solver::save`] gave.
    ///
    /// # Errors
    /// If it belongs to another grid or method.
    fn load(&mut self, state: &SolverState) -> Result<(), SolverError>;
}
