//! A scene after validation.

use super::camera_path::CameraKey;
use super::file::SceneFile;
pub use super::look::{Brightness, Flow, Opacity, Orbit, Plot, Quantity, ViewMode};
use super::sweep::Sweep;
use super::theory::{Note, Theory};
use crate::field::Precision;
use crate::grid::Grid;
use crate::physics::{
    Detector, Equation, Expression, Initial, Measure, Medium, Mirror, Model, Sets, Source, Trajectory,
};
use crate::words::worded;
use num_complex::Complex64;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// |ψ|² below this is 0 in single precision.
const LEAST_DENSITY: f64 = 1e-60;

/// A method parameter as a scene gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// A whole number.
    Integer(i64),
    /// A real number.
    Number(f64),
    /// A word, e.g. `auto`.
    Word(String),
    /// Several whole numbers, e.g. a block's sizes.
    Integers(Vec<i64>),
}

worded! {
    /// The back end that a scene names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum BackendChoice {
        /// The fastest that is there.
        Auto = "auto",
        /// This one or an error.
        Cpu = "cpu",
        /// This one or an error.
        Cuda = "cuda",
        /// This one or an error.
        Wgpu = "wgpu",
    }
}

/// `[solver]`: method, back end, precision, variant and the method's own parameters by name.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverChoice {
    /// A method's id.
    pub method: String,
    /// Where it runs.
    pub backend: BackendChoice,
    /// In which precision.
    pub precision: Precision,
    /// A variant's id, or `auto`.
    pub variant: String,
    /// Parameters that the scene sets; others have the table's default.
    pub parameters: BTreeMap<String, Parameter>,
}

impl SolverChoice {
    /// A whole-number parameter, or `default` if the scene does not set it or sets `auto`.
    pub fn integer(&self, key: &str, default: i64) -> i64 {
        match self.parameters.get(key) {
            Some(Parameter::Integer(value)) => *value,
            _ => default,
        }
    }

    /// Whole numbers of a parameter, one per axis; none if the scene does not set it or sets `auto`.
    pub fn sizes(&self, key: &str) -> Vec<usize> {
        let whole = |value: &i64| usize::try_from(*value).ok();
        match self.parameters.get(key) {
            Some(Parameter::Integer(value)) => whole(value).into_iter().collect(),
            Some(Parameter::Integers(values)) => values.iter().filter_map(whole).collect(),
            _ => Vec::new(),
        }
    }
}

/// `[time]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeSpec {
    /// Δt; `None` = the method's advice.
    pub step: Option<f64>,
    /// When `run` and `render` stop.
    pub end: Option<f64>,
    /// Quantum: relax towards the ground state.
    pub imaginary: bool,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum ColorRange {
    /// By each frame.
    Auto,
    /// By the first frame.
    Locked,
    /// By hand.
    Fixed(f64, f64),
}

/// `[view]`.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What is shown.
    pub quantity: Quantity,
    /// A colour map's name, or `auto`.
    pub colormap: String,
    /// The range.
    pub range: ColorRange,
    /// How brightness depends on a value that is not negative.
    pub brightness: Brightness,
    /// How a scene of three dimensions is shown.
    pub mode: ViewMode,
    /// From where.
    pub camera: Orbit,
    /// Lengths along x, y, z at which the slices stand; the last is that of the plane. `None` = the middle of the grid.
    pub slices: Option<[f64; 3]>,
    /// How opaque values are in a volume.
    pub opacity: Opacity,
    /// Whether a volume is lit along its gradients.
    pub shading: bool,
    /// The times that the scene's picture in a gallery shows, all at once; none = the middle of its run.
    pub cover: Vec<f64>,
    /// The time constant of means, s; `None` = all of the run.
    pub over: Option<f64>,
    /// What is drawn of the current of ψ or the intensity of sound.
    pub flow: Flow,
    /// The plots that suit the scene; empty = the user's own choice.
    pub plots: Vec<Plot>,
    /// The corners of the part that is shown at first, lengths along x and y; `None` = all of the grid, and always of momenta.
    pub region: Option<[[f64; 2]; 2]>,
}

/// What a prediction is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A detector of the scene, by position in its list.
    Detector(usize),
    /// A column of the observables, e.g. `x` or `norm`.
    Observable(String),
}

/// One `[[expect]]`: a prediction that is measured while the scene runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// What is measured.
    pub subject: Subject,
    /// When.
    pub at: f64,
    /// The predicted value.
    pub value: f64,
    /// How far off still counts as right (absolute).
    pub tolerance: f64,
    /// Where the prediction comes from.
    pub because: String,
    /// A question to the user before the value is shown; empty = none.
    pub ask: String,
    /// When the window asks: the run waits there.
    pub ask_at: f64,
}

/// Which notes, theories and predictions of a scene hold, one for each in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// `[[note]]`.
    pub notes: Vec<bool>,
    /// `[[theory]]`.
    pub theories: Vec<bool>,
    /// `[[expect]]`.
    pub expectations: Vec<bool>,
}

/// Those of a list that hold; what nothing is known of stays.
pub(super) fn held<T: Clone>(list: &[T], holds: &[bool]) -> Vec<T> {
    let keep = |n: usize| holds.get(n).copied().unwrap_or(true);
    let all = list.iter().enumerate();
    all.filter(|(n, _)| keep(*n)).map(|(_, one)| one.clone()).collect()
}

/// A validated scene. Cheap to clone and to share between threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub(super) title: String,
    pub(super) grid: Grid,
    pub(super) model: Model,
    pub(super) time: TimeSpec,
    pub(super) solver: SolverChoice,
    pub(super) initial: Initial,
    pub(super) medium: Arc<Medium>,
    pub(super) sources: Vec<Source>,
    pub(super) mirror: Option<Arc<Mirror>>,
    pub(super) detectors: Vec<Detector>,
    pub(super) view: View,
    pub(super) cameras: Vec<CameraKey>,
    pub(super) notes: Vec<Note>,
    pub(super) theories: Vec<Theory>,
    pub(super) trajectories: Vec<Trajectory>,
    pub(super) expectations: Vec<Expectation>,
    pub(super) sweep: Option<Sweep>,
    pub(super) room: Option<Room>,
    /// Where it was read from, for messages.
    pub(super) origin: Option<PathBuf>,
    /// As it was written, with everything that was overridden.
    pub(super) file: Arc<SceneFile>,
}

/// `[room]`: how a room is listened to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Room {
    /// The detector that listens; `None` = the only one that records a pressure.
    pub at: Option<String>,
    /// A sound without a room, WAV.
    pub dry: Option<PathBuf>,
}

impl View {
    /// The last of the times that the picture in a gallery shows: that of pictures which show one.
    pub fn last_cover(&self) -> Option<f64> {
        self.cover.iter().copied().reduce(f64::max)
    }
}

impl Scenario {
    /// Whether a run of `other` can go on as this scene: the same sites, equation and state at t = 0. Everything else
    /// can be changed while it runs.
    pub fn continues(&self, other: &Self) -> bool {
        let same_array = match (&self.initial, &other.initial) {
            // The same array in memory need not be compared number by number.
            (Initial::Array(own), Initial::Array(theirs)) => Arc::ptr_eq(own, theirs),
            _ => false,
        };
        self.grid == other.grid
            && self.model.equation() == other.model.equation()
            && (same_array || self.initial == other.initial)
    }

    /// Whether walls stand wherever ψ is at t = 0; false for sound, which may begin in silence.
    pub fn is_walled_in(&self) -> bool {
        // Eigenstates avoid walls, and are not looked for before they are needed.
        let eigenstates = matches!(self.initial, Initial::Eigenstates(_));
        if self.model.equation() != Equation::Schrodinger || !self.medium.has(Sets::Wall) || eigenstates {
            return false;
        }
        let [nx, ny, _] = self.grid.size();
        let initial = self.initial.rows(&self.grid);
        let free = |row: usize| {
            let (mut walls, mut psi) = (vec![false; nx], vec![Complex64::ZERO; nx]);
            self.medium.wall_row(row % ny, row / ny, 0..nx, &mut walls);
            initial.fill(row % ny, row / ny, &mut psi);
            walls
                .iter()
                .zip(&psi)
                .any(|(wall, psi)| !wall && psi.norm_sqr() >= LEAST_DENSITY)
        };
        !(0..self.grid.rows()).into_par_iter().any(free)
    }

    /// The same scene under another title.
    #[must_use]
    pub fn titled(&self, title: String) -> Self {
        Self { title, ..self.clone() }
    }

    /// The same scene with those of its notes and theories that hold; its predictions stay.
    #[must_use]
    pub fn with_words(&self, claims: &Claims) -> Self {
        let file = SceneFile {
            notes: held(&self.file.notes, &claims.notes),
            theories: held(&self.file.theories, &claims.theories),
            ..SceneFile::clone(&self.file)
        };
        Self {
            notes: held(&self.notes, &claims.notes),
            theories: held(&self.theories, &claims.theories),
            file: Arc::new(file),
            ..self.clone()
        }
    }

    /// The same scene with those of its predictions that hold.
    #[must_use]
    pub fn with_predictions(&self, claims: &Claims) -> Self {
        let file = SceneFile {
            expectations: held(&self.file.expectations, &claims.expectations),
            ..SceneFile::clone(&self.file)
        };
        Self {
            expectations: held(&self.expectations, &claims.expectations),
            file: Arc::new(file),
            ..self.clone()
        }
    }

    /// The title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The title, or `otherwise` where there is none.
    pub fn title_or<'a>(&'a self, otherwise: &'a str) -> &'a str {
        if self.title.is_empty() { otherwise } else { &self.title }
    }
    /// The lattice.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }
    /// The equation and its constants.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// `[time]`.
    pub fn time(&self) -> &TimeSpec {
        &self.time
    }
    /// `[solver]`.
    pub fn solver(&self) -> &SolverChoice {
        &self.solver
    }
    /// The state at t = 0.
    pub fn initial(&self) -> &Initial {
        &self.initial
    }
    /// The layers over the grid.
    pub fn medium(&self) -> &Arc<Medium> {
        &self.medium
    }
    /// Whether the medium takes energy, anywhere inside the grid or at its walls.
    pub fn takes_energy(&self) -> bool {
        let attenuates = matches!(&self.model, Model::Acoustic(acoustic) if acoustic.attenuation.is_some());
        attenuates || self.medium.absorbs()
    }
    /// The sources of sound.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
    /// The mirror.
    pub fn mirror(&self) -> Option<&Arc<Mirror>> {
        self.mirror.as_ref()
    }
    /// Whether a mirror hears or drives single sites.
    pub fn listens(&self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.listens())
    }
    /// The factors of driven parts, each list with the times from which and to which they act: to the end, or to the reversal of a mirror and in its medium from there on, to the end or for as long again.
    /// A scene without an end is followed for `unending`.
    pub fn drives(&self, unending: f64) -> Vec<([f64; 2], &[Expression])> {
        let end = self.time().end;
        let Some(mirror) = &self.mirror else {
            return vec![([0.0, end.unwrap_or(unending)], self.medium.drives())];
        };
        let end = end.unwrap_or(2.0 * mirror.at);
        let there = ([0.0, mirror.at.min(end)], self.medium.drives());
        let back = (end > mirror.at).then(|| ([mirror.at, end], mirror.medium.drives()));
        std::iter::once(there).chain(back).collect()
    }
    /// The scene on the way back from its mirror: the perturbed medium, no sources, and the magnetic field reversed.
    #[must_use]
    pub fn returning(&self) -> Self {
        let mut back = self.clone();
        if let Some(mirror) = &self.mirror {
            back.medium = Arc::clone(&mirror.medium);
            back.sources.clear();
            if let (Model::Quantum(quantum), false) = (&mut back.model, mirror.keep_flux) {
                quantum.flux = -quantum.flux;
                if mirror.medium.has(Sets::Flux) || mirror.medium.rotation() != 0.0 {
                    back.medium = Arc::new(mirror.medium.with_flux_turned());
                }
            }
        }
        back
    }
    /// The same scene with the medium, the constants and the sources of another one on its grid.
    #[must_use]
    pub fn in_medium_of(&self, other: &Self) -> Self {
        Self {
            medium: Arc::clone(&other.medium),
            model: other.model,
            sources: other.sources.clone(),
            ..self.clone()
        }
    }
    /// The scene on some rows of its grid, see [`Grid::window`]. State, medium and sources stay where they are; detectors and mirrors mean the
    /// whole grid.
    #[must_use]
    pub fn window(&self, axis: usize, first: usize, rows: usize) -> Self {
        let mut part = self.clone();
        part.grid = self.grid.window(axis, first, rows);
        part.medium = Arc::new(self.medium.over(part.grid.clone()));
        part
    }
    /// Leaves out the sources, as where impulse responses are measured.
    pub fn silence_sources(&mut self) {
        self.sources.clear();
    }
    /// The detectors.
    pub fn detectors(&self) -> &[Detector] {
        &self.detectors
    }
    /// Whether anything in a scene of sound needs the velocity of the medium: a detector of energy or flux, the picture, or a prediction.
    pub fn asks_for_velocity(&self) -> bool {
        let energy =
            |expectation: &Expectation| matches!(&expectation.subject, Subject::Observable(name) if name == "energy");
        matches!(self.model, Model::Acoustic(_))
            && (matches!(
                self.view.quantity,
                Quantity::Energy | Quantity::Velocity | Quantity::Intensity
            ) || self.view.flow != Flow::None
                || self.expectations.iter().any(energy)
                || (self.detectors.iter()).any(|detector| matches!(detector.measure, Measure::Energy | Measure::Flux)))
    }
    /// `[view]`.
    pub fn view(&self) -> &View {
        &self.view
    }
    /// From where a relief or a box is looked at at time t: along the camera's path, where the scene has one.
    pub fn camera_at(&self, t: f64) -> Orbit {
        CameraKey::orbit_at(&self.cameras, t).unwrap_or(self.view.camera)
    }
    /// `[[camera]]`, in order of time.
    pub fn cameras(&self) -> &[CameraKey] {
        &self.cameras
    }
    /// The notes.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
    /// Theoretical curves, drawn over pictures and plots.
    pub fn theories(&self) -> &[Theory] {
        &self.theories
    }
    /// Bohm's trajectories, each with its start.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }
    /// What of the view needs one more pass over the grid after every step and therefore `fdtd` on the processor, in
    /// words: means over time, the velocity, the flow of sound.
    pub fn shown_beside_steps(&self) -> Option<&'static str> {
        if self.view.quantity.is_beside_steps() {
            return Some(self.view.quantity.as_str());
        }
        let sound = matches!(self.model, Model::Acoustic(_));
        (sound && self.view.flow != Flow::None).then(|| self.view.flow.as_str())
    }
    /// Whether the mean intensity is shown, as a picture or by arrows.
    pub fn shows_intensity(&self) -> bool {
        let sound = matches!(self.model, Model::Acoustic(_));
        sound && (self.view.quantity == Quantity::Intensity || self.view.flow != Flow::None)
    }
    /// The predictions.
    pub fn expectations(&self) -> &[Expectation] {
        &self.expectations
    }
    /// `[sweep]`.
    pub fn sweep(&self) -> Option<&Sweep> {
        self.sweep.as_ref()
    }
    /// `[room]`.
    pub fn room(&self) -> Option<&Room> {
        self.room.as_ref()
    }
    /// The scene as it was written, with all overrides; checkpoints and pictures carry it.
    pub fn file(&self) -> &Arc<SceneFile> {
        &self.file
    }
    /// The file, if it came from one.
    pub fn origin(&self) -> Option<&std::path::Path> {
        self.origin.as_deref()
    }
}
