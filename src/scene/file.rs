//! The scene file as it is written: every section, plain values, public fields. What the app edits and saves.
//!
//! Lists of coordinates have one number per axis of the grid. Nothing here is checked; [`super::build`] does that.

mod detector;
mod layer;
mod source;

pub use self::detector::{DetectorFile, MirrorFile, RegionFile, TransducersFile};
pub use self::layer::{LayerFile, ShapeFile};
pub use self::source::{PatternFile, SignalFile, SourceFile, SourcePlace};
use super::camera_path::CameraKey;
use super::scenario::{
    Brightness, ColorRange, Flow, Opacity, Orbit, Parameter, Plot, Quantity, SolverChoice, TimeSpec, ViewMode,
};
pub use super::theory_file::{DrawnFile, MarkFile, NoteFile, TheoryFile, ValueFile};
pub use super::trajectories::TrajectoryFile;
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::{Attenuation, Exchange};
use crate::scene::scenario::BackendChoice;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The only format there is.
pub const FORMAT: i64 = 1;
/// `grid.absorb_width` where a scene does not give it.
pub const ABSORB_WIDTH: usize = 32;

/// A whole scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneFile {
    /// The title; empty = none.
    pub title: String,
    /// Markdown, shown beside the picture; empty = none.
    pub about: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// `[grid]`.
    pub grid: GridFile,
    /// `[quantum]`; exactly one of this and `acoustic` is there in a valid scene.
    pub quantum: Option<QuantumFile>,
    /// `[acoustic]`.
    pub acoustic: Option<AcousticFile>,
    /// `[time]`.
    pub time: TimeSpec,
    /// `[solver]`.
    pub solver: SolverFile,
    /// `[[packet]]`.
    pub packets: Vec<PacketFile>,
    /// `[[eigenstate]]`.
    pub eigenstates: Vec<EigenstateFile>,
    /// `[[pulse]]`.
    pub pulses: Vec<PulseFile>,
    /// `file` of `[initial]`, relative to the scene file.
    pub initial: Option<PathBuf>,
    /// `[[layer]]`.
    pub layers: Vec<LayerFile>,
    /// `[[source]]`.
    pub sources: Vec<SourceFile>,
    /// `[[detector]]`.
    pub detectors: Vec<DetectorFile>,
    /// `[mirror]`.
    pub mirror: Option<MirrorFile>,
    /// `[view]`.
    pub view: ViewFile,
    /// `[[camera]]`.
    pub cameras: Vec<CameraKey>,
    /// `[[note]]`.
    pub notes: Vec<NoteFile>,
    /// `[[theory]]`.
    pub theories: Vec<TheoryFile>,
    /// `[[trajectory]]`.
    pub trajectories: Vec<TrajectoryFile>,
    /// `[[expect]]`.
    pub expectations: Vec<ExpectFile>,
    /// `[sweep]`.
    pub sweep: Option<SweepFile>,
    /// `[room]`.
    pub room: Option<RoomFile>,
}

/// `edges`: one word for all axes or one word per axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EdgesFile {
    /// The same everywhere.
    All(Edge),
    /// x, y, z.
    PerAxis(Vec<Edge>),
}

/// `[grid]`.
#[derive(Clone, Debug, PartialEq)]
pub struct GridFile {
    /// Sites along each axis.
    pub size: Vec<usize>,
    /// The spacing a.
    pub spacing: f64,
    /// What happens at the edges.
    pub edges: EdgesFile,
    /// Sites of the absorbing layer; `None` = [`ABSORB_WIDTH`].
    pub absorb_width: Option<usize>,
}

impl Default for GridFile {
    fn default() -> Self {
        Self {
            size: Vec::new(),
            spacing: 1.0,
            edges: EdgesFile::All(Edge::Wall),
            absorb_width: None,
        }
    }
}

/// `[quantum]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantumFile {
    /// Mass; 1 where neither mass nor hopping is given.
    pub mass: Option<f64>,
    /// Hopping, instead of a mass.
    pub hopping: Option<f64>,
    /// g of g|ψ|².
    pub interaction: f64,
    /// g₁₂ of two components, the two sites of the last axis.
    pub cross_interaction: f64,
    /// Flux through a plaquette, in flux quanta.
    pub flux: f64,
    /// Ω of a frame that rotates about z through the middle of the grid, radians per unit of time.
    pub rotation: f64,
    /// Of two particles on a line, whose places are x and y: what exchanging them does to the state.
    pub exchange: Option<Exchange>,
}

/// `[acoustic]`.
#[derive(Clone, Debug, PartialEq)]
pub struct AcousticFile {
    /// Sound speed, m/s.
    pub speed: f64,
    /// Density, kg/m³.
    pub density: f64,
    /// `attenuation`.
    pub attenuation: Option<Attenuation>,
}

impl Default for AcousticFile {
    fn default() -> Self {
        Self {
            speed: 343.0,
            density: 1.2,
            attenuation: None,
        }
    }
}

/// `[solver]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverFile {
    /// A method's id; `None` = the first of the table for the equation.
    pub method: Option<String>,
    /// Where it runs.
    pub backend: BackendChoice,
    /// In which precision.
    pub precision: Precision,
    /// A variant's id, or `auto`.
    pub variant: String,
    /// The method's parameters by name.
    pub parameters: BTreeMap<String, Parameter>,
}

impl Default for SolverFile {
    fn default() -> Self {
        Self {
            method: None,
            backend: BackendChoice::Auto,
            precision: Precision::Single,
            variant: "auto".to_owned(),
            parameters: BTreeMap::new(),
        }
    }
}

impl SolverFile {
    /// The choice with the method filled in.
    #[must_use]
    pub fn choice(&self, default_method: &str) -> SolverChoice {
        SolverChoice {
            method: self.method.clone().unwrap_or_else(|| default_method.to_owned()),
            backend: self.backend,
            precision: self.precision,
            variant: self.variant.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

/// One `[[packet]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PacketFile {
    /// Centre.
    pub center: Vec<f64>,
    /// Standard deviation of |ψ|² along each axis; one number stands for all axes.
    pub width: Vec<f64>,
    /// Momentum k; empty = at rest.
    pub momentum: Vec<f64>,
    /// Amplitude relative to the others.
    pub weight: f64,
}

/// One `[[eigenstate]]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EigenstateFile {
    /// Its number by rising energy, from 0.
    pub level: usize,
    /// Amplitude relative to the others.
    pub weight: f64,
    /// Phase in radians.
    pub phase: f64,
}

/// One `[[pulse]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct PulseFile {
    /// Centre, m.
    pub center: Vec<f64>,
    /// Width, m.
    pub width: f64,
    /// Amplitude, Pa.
    pub amplitude: f64,
}

/// `[view]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewFile {
    /// What is shown; `None` = density, or pressure for acoustic scenes.
    pub quantity: Option<Quantity>,
    /// A colour map, or `auto`.
    pub colormap: String,
    /// The range.
    pub range: ColorRange,
    /// How brightness grows with a value that is not negative.
    pub brightness: Brightness,
    /// How a scene of three dimensions is shown.
    pub mode: ViewMode,
    /// From where; `None` = the whole box from its upper right.
    pub camera: Option<Orbit>,
    /// Lengths at which the three slices stand; empty = the middle.
    pub slices: Vec<f64>,
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
    /// The corners of the part that is shown at first, `[min, max]`; `None` = all of it.
    pub region: Option<[Vec<f64>; 2]>,
}

impl Default for ViewFile {
    fn default() -> Self {
        Self {
            quantity: None,
            colormap: "auto".to_owned(),
            range: ColorRange::Auto,
            brightness: Brightness::Linear,
            mode: ViewMode::Plane,
            camera: None,
            slices: Vec::new(),
            opacity: Opacity::Soft,
            shading: false,
            cover: Vec::new(),
            over: None,
            flow: Flow::None,
            plots: Vec::new(),
            region: None,
        }
    }
}

/// One `[[expect]]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectFile {
    /// A detector's name; exactly one of this and `observable` is there in a valid scene.
    pub detector: Option<String>,
    /// A column of the observables.
    pub observable: Option<String>,
    /// When.
    pub at: f64,
    /// The prediction.
    pub value: f64,
    /// How far off still counts as right.
    pub tolerance: f64,
    /// Where the prediction comes from.
    pub because: String,
    /// A question to the user before the value is shown; empty = none.
    pub ask: String,
    /// When the window asks: the run waits there.
    pub ask_at: f64,
}

/// `[sweep]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepFile {
    /// Keys and their values, `key=low..high/count` or `key=a,b,c`.
    pub vary: Vec<String>,
    /// What is measured, `name@time`.
    pub measure: Vec<String>,
    /// A formula of x and y, or a word for a reference; empty = none.
    pub theory: String,
}

/// `[room]`: how a room is listened to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoomFile {
    /// The detector that listens; empty = the only one that records a pressure.
    pub at: String,
    /// A sound without a room, WAV.
    pub dry: Option<PathBuf>,
}

impl SceneFile {
    /// The files that the scene names, relative to where it lies.
    #[must_use]
    pub fn files(&self, origin: Option<&Path>) -> Vec<PathBuf> {
        let base = origin.and_then(Path::parent).unwrap_or(Path::new(""));
        let behind = self.mirror.iter().flat_map(|mirror| &mirror.perturbation);
        let layers = self.layers.iter().chain(behind).filter_map(|layer| match &layer.shape {
            ShapeFile::Image { file } | ShapeFile::Array { file } => Some(file),
            _ => None,
        });
        let signals = self.sources.iter().filter_map(|source| match &source.signal {
            SignalFile::File { file, .. } => Some(file),
            _ => None,
        });
        let dry = self.room.iter().filter_map(|room| room.dry.as_ref());
        let all = self.initial.iter().chain(layers).chain(signals).chain(dry);
        all.map(|file| base.join(file)).collect()
    }

    /// The names of these files, to be changed.
    pub fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        let behind = self.mirror.iter_mut().flat_map(|mirror| &mut mirror.perturbation);
        let layers = self.layers.iter_mut().chain(behind);
        let shapes = layers.filter_map(|layer| match &mut layer.shape {
            ShapeFile::Image { file } | ShapeFile::Array { file } => Some(file),
            _ => None,
        });
        let signals = self.sources.iter_mut().filter_map(|source| match &mut source.signal {
            SignalFile::File { file, .. } => Some(file),
            _ => None,
        });
        shapes.chain(signals).chain(&mut self.initial).collect()
    }
}
