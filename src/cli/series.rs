//! `ripplon run --series`: snapshots of the field during a run.

use super::InputError;
use super::figures::short;
use super::named::Output;
use super::numbers::whole;
use super::terminal::tell;
use crate::atomic_file::AtomicFile;
use crate::backend::ranks;
use crate::engine::Engine;
use crate::export::series::{Before, MOST_SNAPSHOTS, Selection, SeriesWriter};
use crate::export::{ExportError, free_space};
use crate::field::Precision;
use crate::physics::Equation;
use crate::scene::Scenario;
use crate::units;
use clap::Args;
use std::path::{Path, PathBuf};

/// Snapshots of a run without `--every`.
const USUAL: u64 = 100;

/// The space left free on a disk: other programs write there as well.
const LEFT_FREE: u64 = 64 << 20;

/// The file of snapshots, and their contents.
#[derive(Args, Debug)]
pub(super) struct SeriesArgs {
    /// Write snapshots of the field to one file, one every N steps (--every N; HDF5, openPMD 1.1)
    #[arg(long, value_name = "F.h5", group = "repeated")]
    series: Option<PathBuf>,
    /// The part of the grid in the snapshots: lowest and highest coordinate along each axis, e.g. 20..60,0..80 (default: the whole grid)
    #[arg(long, value_name = "X..X,Y..Y", requires = "series", value_delimiter = ',', allow_hyphen_values = true, value_parser = range)]
    region: Option<Vec<[f64; 2]>>,
    /// Only every N-th site in the snapshots: one number, or one per axis [default: 1]
    #[arg(long, value_name = "N|N,N", requires = "series", value_delimiter = ',', value_parser = whole(1_u32, None))]
    stride: Option<Vec<u32>>,
}

/// `A..B`
fn range(text: &str) -> Result<[f64; 2], String> {
    let wrong = || "write a range for each axis, as in 20..60,0..80".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
    Ok([number(from)?, number(to)?])
}

impl SeriesArgs {
    /// The file, if there is to be one.
    pub(super) fn named(&self) -> Option<Output<'_>> {
        Some(("--series", self.series.as_deref()?))
    }

    /// Checks before the run that the file can be written as such files are: piece by piece, not from beginning to end.
    /// A run that continues from a checkpoint goes on with the file that is there.
    pub(super) fn check_place(&self, scenario: &Scenario, goes_on: bool) -> Result<(), InputError> {
        let Some(path) = &self.series else { return Ok(()) };
        let place = AtomicFile::create(path).and_then(|file| file.part());
        place.map_err(|error| InputError(ExportError::io(path)(error).to_string()))?;
        self.before(scenario, scenario.solver().precision, goes_on.then_some(0))?;
        Ok(())
    }

    /// The snapshots of the file that is there, with which a run goes on after a step; `None` if a file begins.
    ///
    /// # Errors
    /// If what is there is not the beginning of the run.
    fn before(
        &self,
        scenario: &Scenario,
        precision: Precision,
        after: Option<u64>,
    ) -> Result<Option<Before>, InputError> {
        let (Some(path), Some(after)) = (&self.series, after) else {
            return Ok(None);
        };
        if !path.is_file() {
            return Ok(None);
        }
        let selection = self.selection(scenario)?;
        let before = Before::of(
            path,
            scenario,
            (&selection, bytes_of_a_site(scenario, precision)),
            after,
        );
        before.map(Some).map_err(|reason| {
            InputError(format!(
                "--series {}: the resumed run does not go on with this file: {reason}; name another file",
                path.display()
            ))
        })
    }

    /// The sites of a snapshot.
    pub(super) fn selection(&self, scenario: &Scenario) -> Result<Selection, InputError> {
        let stride: Vec<usize> = (self.stride.iter().flatten()).map(|stride| *stride as usize).collect();
        Selection::new(scenario.grid(), self.region.as_deref(), &stride).map_err(InputError)
    }
}

/// Snapshots that are being written.
pub(super) struct Series {
    path: PathBuf,
    every: u64,
    /// Bytes of a snapshot.
    bytes: u64,
    writer: SeriesWriter,
}

impl Series {
    /// Begins the requested file, with the present field if its step is one of those.
    ///
    /// # Errors
    /// If it does not fit on the disk.
    pub(super) fn create(
        args: &SeriesArgs,
        (every, total): (Option<u64>, u64),
        goes_on: bool,
        engine: &mut Engine,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = &args.series else { return Ok(None) };
        let now = engine.clock().steps;
        let precision = engine.report().precision;
        let scenario = engine.scenario();
        let selection = args.selection(scenario)?;
        let before = args.before(scenario, precision, goes_on.then_some(now))?;
        let bytes = (selection.sites() * bytes_of_a_site(scenario, precision)) as u64;
        let every = every.unwrap_or_else(|| (total / USUAL).max(1));
        let kept: &[u64] = before.as_ref().map_or(&[], |before| &before.kept);
        check_room(path, (kept.len() as u64, total / every + 1), bytes, every)?;
        let writer = SeriesWriter::create(path, scenario, selection, before.as_ref())?;
        let mut series = Self {
            path: path.clone(),
            every,
            bytes,
            writer,
        };
        // Of several processes the one that writes has the file, and all take part in a snapshot.
        let [has] = ranks::agree([f64::from(u8::from(kept.contains(&now)))]);
        if has == 0.0 {
            series.push(engine)?;
        }
        Ok(Some(series))
    }

    /// Steps until the next snapshot.
    pub(super) fn until_next(&self, engine: &Engine) -> u64 {
        self.every - engine.clock().steps % self.every
    }

    /// Writes the present field if its step is one of those.
    ///
    /// # Errors
    /// If the disk would be full.
    pub(super) fn push(&mut self, engine: &mut Engine) -> anyhow::Result<()> {
        let clock = engine.clock();
        if !clock.steps.is_multiple_of(self.every) {
            return Ok(());
        }
        let free = free_space(&self.path).unwrap_or(u64::MAX);
        // Of several processes one writes, and all end.
        let [lacks] = ranks::agree([f64::from(u8::from(free < self.bytes.saturating_add(LEFT_FREE)))]);
        if lacks != 0.0 {
            anyhow::bail!(
                "--series {}: {} are free there, and a snapshot takes {}; the run ends here, with the snapshots so far",
                self.path.display(),
                units::bytes(free),
                units::bytes(self.bytes)
            );
        }
        let field = engine.field()?;
        let written = self.writer.push(engine.scenario().grid(), &clock, &field);
        written.map_err(|error| {
            let (steps, time) = (clock.steps, short(clock.time));
            anyhow::anyhow!("--series {error}; the run ends at step {steps}, t = {time}")
        })
    }

    /// Completes the file. If a snapshot could not be written, the file has those before it.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        let finished = self.writer.finish();
        finished.map_err(|error| anyhow::anyhow!("--series {error}; its snapshots are lost"))
    }
}

/// Bytes of a number of the field.
fn bytes_of_a_site(scenario: &Scenario, precision: Precision) -> usize {
    let numbers = match scenario.model().equation() {
        Equation::Schrodinger => 2,
        Equation::Acoustic => 1,
    };
    precision.bytes() * numbers
}

/// Prints how large the file will be with `kept` snapshots that it has and `new` ones: beside it the old one stays until the end.
///
/// # Errors
/// If there is no room for it, or there are too many snapshots.
fn check_room(path: &Path, (kept, new): (u64, u64), bytes: u64, every: u64) -> Result<(), InputError> {
    let shown = path.display();
    let snapshots = kept + new;
    if snapshots > MOST_SNAPSHOTS {
        let remedy = match MOST_SNAPSHOTS.saturating_sub(kept) {
            0 => "name another file".to_owned(),
            room => format!("take --every {} or more", (every * new).div_ceil(room)),
        };
        return Err(InputError(format!(
            "--series {shown}: {snapshots} snapshots, and a file takes {MOST_SNAPSHOTS}; {remedy}"
        )));
    }
    let all = bytes.saturating_mul(snapshots);
    let free = free_space(path);
    if let Some(free) = free.filter(|free| *free < all.saturating_add(LEFT_FREE)) {
        return Err(InputError(format!(
            "--series {shown}: {} of {} take {}, and {} are free there; take a larger --every, a --region, a --stride, or write elsewhere",
            units::counted(snapshots, "snapshot"),
            units::bytes(bytes),
            units::bytes(all),
            units::bytes(free)
        )));
    }
    let room = free.map_or_else(String::new, |free| format!("; {} are free there", units::bytes(free)));
    tell!(
        "note: {shown}: {} of {}, {} in all{room}",
        units::counted(snapshots, "snapshot"),
        units::bytes(bytes),
        units::bytes(all)
    );
    Ok(())
}
