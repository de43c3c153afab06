//! The scene file as it is written: every section, plain values, public fields. What the app edits and saves.
//!
//! Lists of coordinates have one number per axis of the grid. Nothing here is checked; [`super::build`] does that.

mod detector;
mod equation;
mod layer;
mod source;
mod state;
mod view;

pub use self::detector::{DetectorFile, MirrorFile, RegionFile, TransducersFile};
pub use self::equation::{ABSORB_WIDTH, AcousticFile, EdgesFile, GridFile, QuantumFile, SolverFile};
pub use self::layer::{LayerFile, ShapeFile};
pub use self::source::{PatternFile, SignalFile, SourceFile, SourcePlace};
use self::state::initial;
pub use self::state::{EigenstateFile, ExpectFile, InitialFile, PacketFile, PulseFile, RoomFile, SweepFile};
pub use self::view::ViewFile;
use super::camera_path::CameraKey;
use super::codec::{Fields, long};
use super::declare::section;
use super::decode::{Diagnostics, Section};
use super::scenario::TimeSpec;
use super::schema::Kind;
pub use super::theory_file::{DrawnFile, MarkFile, NoteFile, TheoryFile, ValueFile};
pub use super::trajectories::TrajectoryFile;
use std::path::{Path, PathBuf};

/// The only format there is.
pub const FORMAT: i64 = 1;

section! {
    /// A whole scene.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SceneFile, unknown = misplaced {
        /// shown in lists and in the window
        title: String = empty "none";
        /// Markdown, shown beside the picture
        about: String = with (long, "none");
        /// words to find it by
        tags: Vec<String> = empty "`[]`";
        /// the lattice on which the wave lives
        grid: GridFile = block "add a section [grid] with `size = [512, 512]` and `spacing = 0.5`";
        /// Schrödinger's equation; a scene has exactly one of `[quantum]` and `[acoustic]`
        quantum: Option<QuantumFile> = maybe "none";
        /// sound; a scene has exactly one of `[quantum]` and `[acoustic]`
        acoustic: Option<AcousticFile> = maybe "none";
        /// steps and end
        time: TimeSpec = empty "all keys at their defaults";
        /// method, back end, precision; the method's own parameters are keys of this section
        solver: SolverFile = empty "all keys at their defaults";
        /// Gaussians, summed, then normalised (quantum)
        packets as "packet": Vec<PacketFile> = tables [];
        /// eigenstates of the scene's own Hamiltonian, summed and normalised, instead of packets (quantum)
        eigenstates as "eigenstate": Vec<EigenstateFile> = tables [];
        /// pressure amplitude · exp(−|r−c|²/(2w²)) at t = 0, with dp/dt = 0 (acoustic)
        pulses as "pulse": Vec<PulseFile> = tables [];
        /// the state at t = 0 from a file
        initial: Option<PathBuf> = with (initial, "none");
        /// the medium: layers are applied in order; the last one to set a site wins
        layers as "layer": Vec<LayerFile> = tables [];
        /// what plays (acoustic)
        sources as "source": Vec<SourceFile> = tables [];
        /// what is recorded
        detectors as "detector": Vec<DetectorFile> = tables [];
        /// time reversal: the wave is recorded up to `at`, then time is reversed, and as many steps lead back
        mirror: Option<MirrorFile> = maybe "none";
        /// how the scene is shown
        view: ViewFile = empty "all keys at their defaults";
        /// the camera at a time, with `mode = "relief"`, `"slices"` or `"volume"`
        cameras as "camera": Vec<CameraKey> = tables [];
        /// text that is shown while the scene runs
        notes as "note": Vec<NoteFile> = tables [];
        /// a theoretical curve, drawn as a dashed line while the scene runs
        theories as "theory": Vec<TheoryFile> = tables [];
        /// Bohm's trajectories, dx/dt = j/|ψ|² (quantum)
        trajectories as "trajectory": Vec<TrajectoryFile> = tables [];
        /// a prediction, which the program compares with the run
        expectations as "expect": Vec<ExpectFile> = tables [];
        /// runs of the same scene with other values
        sweep: Option<SweepFile> = maybe "none";
        /// how a room is listened to
        room: Option<RoomFile> = maybe "none";
    }
}

/// A section's name in the plural, or a key that belongs in a section.
fn misplaced(_: &Section<'_>, key: &str) -> Option<(String, String)> {
    let rows = SceneFile::rows();
    let is_list = |kind: &Kind| matches!(kind, Kind::Tables(_));
    let singular = key.strip_suffix('s').unwrap_or_default();
    if rows.iter().any(|row| row.key == singular && is_list(&row.kind)) {
        let remedy = format!("write [[{singular}]], once for each");
        return Some(("there is no such section".to_owned(), remedy));
    }
    let places = rows.iter().filter_map(|row| {
        let (own, number) = match &row.kind {
            Kind::Table(own) => (own(), ""),
            Kind::Tables(own) => (own(), ".0"),
            _ => return None,
        };
        let is_there = own.iter().any(|own| own.key == key);
        is_there.then(|| format!("`{}{number}.{key}`", row.key))
    });
    let places: Vec<String> = places.collect();
    if places.is_empty() {
        return None;
    }
    let remedy = format!("did you mean {}?", places.join(" or "));
    Some(("it stands in no section".to_owned(), remedy))
}

/// Notes a fault unless exactly one (or, without an example, at most one) of several ways was taken.
fn one_of_ways(section: &Section<'_>, ways: &[bool], list: &str, example: Option<&str>, found: &mut Diagnostics) {
    match (ways.iter().filter(|way| **way).count(), example) {
        (0, Some(example)) => found.key(
            &section.path,
            format!("does not say where it is: {list} is missing"),
            format!("add e.g. `{example}`"),
        ),
        (0 | 1, _) => {}
        _ => found.key(
            &section.path,
            format!("gives its place twice; {list} exclude each other"),
            "keep one of them",
        ),
    }
}

impl SceneFile {
    /// The files that the scene names, relative to its folder.
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
