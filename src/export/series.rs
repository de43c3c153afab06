//! Snapshots of a part of the field during a run, in one HDF5 file.

use super::ExportError;
use super::openpmd::{Contents, Head, LONGEST_TEXT, Mesh, Snapshots};
use crate::atomic_file::AtomicFile;
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::Equation;
use crate::rounding::truncated;
use crate::scene::{Scenario, read_draft};
use crate::solver::Clock;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

/// The largest number of snapshots in a file: the time to add one grows with their number, to some milliseconds.
pub const MOST_SNAPSHOTS: u64 = 10_000;

/// The time between two tables of contents, by which a file is read whose run was killed.
const BETWEEN: Duration = Duration::from_secs(5);
/// As many times longer than it takes to write one, so that it is rarely a kill's moment.
const RARELY: u32 = 100;
/// As many times longer than what it costs with all that waits for the disk.
const CHEAPLY: u32 = 20;

/// The sites of a snapshot: every n-th of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    first: [usize; 3],
    count: [usize; 3],
    stride: [usize; 3],
}

impl Selection {
    /// Every `stride`-th site along each axis, from the first site of `region` on: its least and greatest coordinate along each axis, lengths; `None` = the whole grid.
    ///
    /// # Errors
    /// What is wrong, and what to write instead.
    pub fn new(grid: &Grid, region: Option<&[[f64; 2]]>, stride: &[usize]) -> Result<Self, String> {
        let rank = grid.rank();
        let mut own = Self {
            first: [0; 3],
            count: grid.size(),
            stride: [1; 3],
        };
        match stride {
            [] => {}
            [one] => own.stride[..rank].fill(*one),
            several if several.len() == rank => own.stride[..rank].copy_from_slice(several),
            several => {
                return Err(format!(
                    "--stride has {} numbers, and the grid {rank} axes; give one number, or one an axis",
                    several.len()
                ));
            }
        }
        if let Some(region) = region {
            if region.len() != rank {
                return Err(format!(
                    "--region has {} ranges, and the grid {rank} axes; give one an axis, as in {}",
                    region.len(),
                    vec!["0..10"; rank].join(",")
                ));
            }
            for (axis, range) in region.iter().enumerate() {
                (own.first[axis], own.count[axis]) = inside(grid, axis, *range)?;
            }
        }
        for axis in 0..rank {
            own.count[axis] = own.count[axis].div_ceil(own.stride[axis]);
        }
        Ok(own)
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.count.iter().product()
    }

    /// The values of a field of `grid` at these sites, x fastest.
    pub fn of(&self, grid: &Grid, field: &FieldData) -> FieldData {
        match field {
            FieldData::Complex64(values) => FieldData::Complex64(self.pick(grid, values)),
            FieldData::Complex128(values) => FieldData::Complex128(self.pick(grid, values)),
            FieldData::Float32(values) => FieldData::Float32(self.pick(grid, values)),
            FieldData::Float64(values) => FieldData::Float64(self.pick(grid, values)),
        }
    }

    fn pick<T: Copy>(&self, grid: &Grid, values: &[T]) -> Vec<T> {
        let along = |axis: usize| (0..self.count[axis]).map(move |n| self.first[axis] + n * self.stride[axis]);
        let mut picked = Vec::with_capacity(self.sites());
        for k in along(2) {
            for j in along(1) {
                let row = grid.index([0, j, k]);
                picked.extend(along(0).map(|i| values[row + i]));
            }
        }
        picked
    }

    fn mesh(&self, scenario: &Scenario) -> Mesh {
        let grid = scenario.grid();
        // openPMD names the slowest axis first.
        let axes = || (0..grid.rank()).rev();
        #[expect(clippy::cast_precision_loss, reason = "sites along an axis are far below 2^53")]
        let lengths = |counts: [usize; 3]| axes().map(|axis| counts[axis] as f64 * grid.spacing()).collect();
        let (name, unit) = match scenario.model().equation() {
            Equation::Schrodinger => ("psi", [0.0; 7]),
            // Pa = kg/(m s²)
            Equation::Acoustic => ("p", [-1.0, 1.0, -2.0, 0.0, 0.0, 0.0, 0.0]),
        };
        Mesh {
            name,
            shape: axes().map(|axis| self.count[axis]).collect(),
            spacing: lengths(self.stride),
            offset: lengths(self.first),
            unit,
        }
    }
}

/// The first site of a range along an axis, and how many there are.
fn inside(grid: &Grid, axis: usize, [from, to]: [f64; 2]) -> Result<(usize, usize), String> {
    let name = ["x", "y", "z"][axis];
    let a = grid.spacing();
    #[expect(clippy::cast_precision_loss, reason = "sites along an axis are far below 2^53")]
    let last = (grid.size()[axis] - 1) as f64;
    // Ends may miss a site by rounding.
    let (first, end) = ((from / a - 1e-9).ceil().max(0.0), (to / a + 1e-9).floor().min(last));
    if first > end || from.is_nan() || to.is_nan() {
        return Err(format!(
            "--region: {from}..{to} along {name} holds no site; they stand every {a} from 0 to {}",
            last * a
        ));
    }
    // Rounding apart, also what is half a spacing outside the last site, where rigid edges are, is the grid's.
    if from < -a * 0.501 || to > (last + 0.501) * a {
        return Err(format!(
            "--region: {from}..{to} along {name} reaches beyond the grid, whose sites stand from 0 to {}",
            last * a
        ));
    }
    let (first, end) = (truncated(first), truncated(end));
    Ok((first, end - first + 1))
}

/// The snapshots of a finished file with which a run goes on after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// Steps of those that stay, ascending.
    pub kept: Vec<u64>,
    /// Steps of those that the run makes again.
    later: Vec<u64>,
}

impl Before {
    /// Looks whether a run of `scenario` from step `after` on, whose snapshots are the sites of `selection` in numbers
    /// of `bytes` bytes, can go on with the file at `path`. The end of the scene and its `[solver]` may be other ones.
    ///
    /// # Errors
    /// What differs.
    pub fn of(
        path: &Path,
        scenario: &Scenario,
        (selection, bytes): (&Selection, usize),
        after: u64,
    ) -> Result<Self, String> {
        let contents = Contents::of(path, &selection.mesh(scenario), bytes)
            .map_err(|error| format!("this is no complete series of snapshots ({error})"))?;
        if !is_same_scene(contents.scene.as_deref(), scenario) {
            return Err("its snapshots are those of another scene".to_owned());
        }
        if !contents.fits {
            return Err("its snapshots have other sites (--region, --stride) or another precision".to_owned());
        }
        let (kept, later) = contents.steps.into_iter().partition(|step| *step <= after);
        Ok(Self { kept, later })
    }
}

/// Whether the scene of a file is that of a run, but for what a resumed run may change.
fn is_same_scene(text: Option<&str>, scenario: &Scenario) -> bool {
    let file = scenario.file();
    let own = file.to_toml();
    let Some(text) = text else {
        return own.len() > LONGEST_TEXT;
    };
    text == own
        || read_draft(text).is_ok_and(|mut draft| {
            draft.time.end = file.time.end;
            draft.solver.clone_from(&file.solver);
            draft.to_toml() == own
        })
}

/// A file of snapshots that is being written.
#[expect(missing_debug_implementations, reason = "the library's file has none")]
pub struct SeriesWriter {
    path: PathBuf,
    selection: Selection,
    /// `None` if this process writes no files.
    open: Option<Open>,
}

/// The file that is written.
struct Open {
    file: AtomicFile,
    /// The name by which HDF5 writes it.
    part: PathBuf,
    /// The library's own view of it; `None` if it could not write a table of contents.
    snapshots: Option<Snapshots>,
    /// From when on a snapshot is followed by a table of contents.
    next_table: Instant,
}

impl Open {
    /// Writes a table of contents.
    fn settle(&mut self, path: &Path) -> Result<(), ExportError> {
        let begun = Instant::now();
        // The disk has the snapshots before the table that names them.
        let waited = self.file.flushed().and_then(fs::File::sync_data);
        waited.map_err(ExportError::io(path))?;
        let writing = Instant::now();
        if let Some(snapshots) = self.snapshots.take() {
            self.snapshots = Some(snapshots.settle(&self.part).map_err(failed(path))?);
        }
        let pause = (CHEAPLY * begun.elapsed()).max(RARELY * writing.elapsed());
        self.next_table = Instant::now() + pause.max(BETWEEN);
        Ok(())
    }
}

impl SeriesWriter {
    /// Begins a file; it appears at `path` when it is [complete](Self::finish). With snapshots `before` it goes on with a
    /// copy of the file that is there, and replaces it. What a process leaves that is killed can be read with the snapshots
    /// up to the last table of contents.
    ///
    /// # Errors
    /// If it cannot be written there.
    pub fn create(
        path: &Path,
        scenario: &Scenario,
        selection: Selection,
        before: Option<&Before>,
    ) -> Result<Self, ExportError> {
        let file = super::begin(path)?;
        let part = file.part().map_err(ExportError::io(path))?;
        let snapshots = match (&part, before) {
            (Some(part), Some(before)) => {
                fs::copy(path, part).map_err(ExportError::io(path))?;
                let snapshots = Snapshots::go_on(part, selection.mesh(scenario), &before.later);
                Some(snapshots.map_err(failed(path))?)
            }
            (Some(part), None) => {
                let scene = scenario.file().to_toml();
                let head = Head {
                    title: scenario.title(),
                    scene: &scene,
                };
                Some(Snapshots::create(part, &head, selection.mesh(scenario)).map_err(failed(path))?)
            }
            (None, _) => None,
        };
        let open = part.map(|part| Open {
            file,
            part,
            snapshots,
            next_table: Instant::now() + BETWEEN,
        });
        Ok(Self {
            path: path.to_owned(),
            selection,
            open,
        })
    }

    /// Adds a field of the whole grid as it was at a step.
    ///
    /// # Errors
    /// If the disk is full, or the folder has been removed, with the file in it.
    pub fn push(&mut self, grid: &Grid, clock: &Clock, field: &FieldData) -> Result<(), ExportError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        if matches!(open.part.try_exists(), Ok(false)) {
            let reason = io::Error::from(io::ErrorKind::NotFound);
            return Err(ExportError::io(&self.path)(reason));
        }
        let Some(snapshots) = &mut open.snapshots else {
            return Err(ExportError::Encoder {
                format: "HDF5",
                message: format!("{}: its table of contents could not be written", self.path.display()),
            });
        };
        let field = self.selection.of(grid, field);
        snapshots
            .push(clock.steps, clock.time, clock.time_step, &field)
            .map_err(failed(&self.path))?;
        if Instant::now() < open.next_table {
            return Ok(());
        }
        open.settle(&self.path)
    }

    /// Completes the file and puts it in its place.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn finish(self) -> Result<(), ExportError> {
        let Some(open) = self.open else {
            return Ok(());
        };
        match open.snapshots {
            Some(snapshots) => snapshots.finish().map_err(failed(&self.path))?,
            // A table of contents failed; the one before it may still be whole.
            None => Snapshots::readable(&open.part).map_err(failed(&self.path))?,
        }
        super::complete(open.file)
    }
}

/// For `map_err` on a path.
fn failed(path: &Path) -> impl FnOnce(rust_hdf5::Hdf5Error) -> ExportError + use<> {
    let path = path.to_owned();
    move |error| match of_system(error) {
        Ok(reason) => ExportError::Io { path, reason },
        Err(other) => ExportError::Encoder {
            format: "HDF5",
            message: format!("{}: {other}", path.display()),
        },
    }
}

/// What the system said, for which there are remedies. The library keeps some of it within an error of its own that it shows to nobody but in its words: `… (os error 28)`.
fn of_system(error: rust_hdf5::Hdf5Error) -> Result<io::Error, rust_hdf5::Hdf5Error> {
    if let rust_hdf5::Hdf5Error::Io(reason) = error {
        return Ok(reason);
    }
    let words = error.to_string();
    let code = words
        .rsplit_once("(os error ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let code = code.and_then(|(code, _)| code.parse().ok());
    code.map(io::Error::from_raw_os_error).ok_or(error)
}

#[cfg(test)]
mod tests;
