//! The files that `ripplon run` writes.

use super::InputError;
use super::figures::short;
use super::named::{self, Output};
use super::run::RunArgs;
#[cfg(feature = "hdf5")]
use super::series::Series;
use super::terminal::tell;
use crate::engine::Engine;
use crate::engine::eigen;
use crate::engine::log::Row;
use crate::export::csv::CsvWriter;
use crate::export::npy;
use crate::physics::{Equation, Observables, Refocus, Spectrum, StateMeasures, axes_in_space};
use crate::scene::Scenario;
use crate::solver::Taps;
use std::path::PathBuf;
use std::sync::Arc;

/// Open files; each appears under its name when it is complete.
pub(super) struct Outputs {
    observables: Option<CsvWriter>,
    /// Whether they include the measures of ψ.
    with_state: bool,
    /// Rows of the engine's log that have been written.
    written: usize,
    detectors: Option<CsvWriter>,
    /// Records of the engine's detectors that have been written.
    recorded: usize,
    spectra: Option<CsvWriter>,
    field: Option<PathBuf>,
    #[cfg(feature = "hdf5")]
    series: Option<Series>,
    trajectories: Option<CsvWriter>,
    /// Times of the trajectories that have been written.
    followed: usize,
    /// What the engine need not keep once it has been written.
    forget: Forget,
}

/// The parts of a run that nothing needs after they have been written.
#[derive(Clone, Copy, Debug)]
struct Forget {
    /// Rows of observables; checkpoints contain all of them.
    rows: bool,
    /// Records of detectors; checkpoints, spectra, sounds need all of them.
    records: bool,
}

impl Outputs {
    /// The requested files, with their options.
    pub(super) fn named(args: &RunArgs) -> Vec<Output<'_>> {
        let files = named::given([
            ("--save", &args.save),
            ("--observables", &args.observables),
            ("--detectors", &args.detectors),
            ("--spectra", &args.spectra),
            ("--trajectories", &args.trajectories),
            ("--gains", &args.gains),
            ("--checkpoint", &args.checkpoint),
        ])
        .into_iter();
        #[cfg(feature = "hdf5")]
        let files = files.chain(args.series.named());
        files.collect()
    }

    /// Whether all records of the detectors stay in memory until the end.
    pub(super) fn keeps_records(args: &RunArgs) -> bool {
        args.checkpoint.is_some() || args.spectra.is_some() || !args.sounds.wav.is_empty()
    }

    /// Opens the files of a run of `total` steps.
    #[cfg_attr(
        not(feature = "hdf5"),
        expect(unused_variables, reason = "snapshots alone ask how long the run is")
    )]
    pub(super) fn create(args: &RunArgs, total: u64, engine: &mut Engine) -> anyhow::Result<Self> {
        let scenario = Arc::clone(engine.scenario());
        let observables = match &args.observables {
            None => None,
            Some(path) => {
                let mut columns = vec!["step", "t"];
                let headers = Observables::headers(scenario.model().equation(), scenario.grid().rank());
                columns.extend(headers.iter().map(String::as_str));
                if scenario.mirror().is_some() {
                    let sound = scenario.model().equation() == Equation::Acoustic;
                    let header = |name| {
                        if sound && name == "focus_width" {
                            "focus_width (m)"
                        } else {
                            name
                        }
                    };
                    columns.extend(Refocus::COLUMNS.map(header));
                }
                if args.state {
                    columns.extend(StateMeasures::columns(scenario.grid().rank()));
                }
                Some(CsvWriter::create(path, &columns)?)
            }
        };
        let of_detectors = |option: &str, path: &Option<PathBuf>, first: &[&'static str]| -> anyhow::Result<_> {
            let Some(path) = path else { return Ok(None) };
            if scenario.detectors().is_empty() {
                return Err(InputError(format!(
                    "{option}: the scene has none; add a [[detector]], or use --observables"
                ))
                .into());
            }
            let names = scenario.detectors().iter().map(|detector| detector.name.as_str());
            let columns: Vec<&str> = first.iter().copied().chain(names).collect();
            Ok(Some(CsvWriter::create(path, &columns)?))
        };
        let detectors = of_detectors("--detectors", &args.detectors, &["step", "t"])?;
        let frequency = match scenario.model().equation() {
            Equation::Schrodinger => "omega",
            Equation::Acoustic => "frequency (Hz)",
        };
        let spectra = of_detectors("--spectra", &args.spectra, &[frequency])?;
        let trajectories = match &args.trajectories {
            None => None,
            Some(_) if scenario.trajectories().is_empty() => {
                let message = "--trajectories: the scene has none; add a [[trajectory]]";
                return Err(InputError(message.to_owned()).into());
            }
            Some(path) => {
                let space = axes_in_space(scenario.grid());
                let own = scenario.trajectories().iter().flat_map(|one| one.coordinates(space));
                let columns: Vec<String> = std::iter::once("t".to_owned()).chain(own).collect();
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                Some(CsvWriter::create(path, &columns)?)
            }
        };
        if trajectories.is_some() {
            engine.keep_whole_paths();
        }
        let mut outputs = Self {
            observables,
            with_state: args.state,
            written: 0,
            detectors,
            spectra,
            recorded: 0,
            field: args.save.clone(),
            #[cfg(feature = "hdf5")]
            series: Series::create(&args.series, (args.every, total), args.resume.is_some(), engine)?,
            trajectories,
            followed: 0,
            forget: Forget {
                rows: args.checkpoint.is_none(),
                records: !Self::keeps_records(args),
            },
        };
        outputs.rows(engine)?;
        Ok(outputs)
    }

    /// Writes observables and records that are new since the last call, and lets the engine drop what is no longer needed.
    ///
    /// # Errors
    /// If the disk is full.
    pub(super) fn rows(&mut self, engine: &mut Engine) -> anyhow::Result<()> {
        // A table that cannot be written is given up; it is not tried again at the end.
        let observables = self.observables(engine).inspect_err(|_| self.observables = None);
        let records = self.records(engine).inspect_err(|_| self.detectors = None);
        // The last one stays: the next row, predictions and peaks go on from it.
        let paths = self.paths(engine).inspect_err(|_| self.trajectories = None);
        if self.forget.rows {
            self.written = engine.forget_rows();
            self.followed = engine.forget_paths();
        }
        if self.forget.records {
            self.recorded = engine.forget_records();
        }
        observables.and(records).and(paths)
    }

    /// Steps until the next snapshot of a series.
    #[cfg(feature = "hdf5")]
    pub(super) fn until_snapshot(&self, engine: &Engine) -> Option<u64> {
        self.series.as_ref().map(|series| series.until_next(engine))
    }

    /// Writes a snapshot if one is due. A file that cannot take it is completed with those that it has.
    ///
    /// # Errors
    /// If the disk would be full.
    #[cfg(feature = "hdf5")]
    pub(super) fn snapshot(&mut self, engine: &mut Engine) -> anyhow::Result<()> {
        match &mut self.series {
            Some(series) => series.push(engine),
            None => Ok(()),
        }
    }

    /// One row per step; cells of trajectories that have not begun are empty.
    fn paths(&mut self, engine: &Engine) -> anyhow::Result<()> {
        let Some(csv) = &mut self.trajectories else {
            return Ok(());
        };
        let (space, paths) = (axes_in_space(engine.scenario().grid()), engine.paths());
        for n in self.followed.min(paths.times().len())..paths.times().len() {
            let places = paths.row(n).iter().flat_map(|at| at.iter().take(space));
            let cells = places.map(|value| if value.is_nan() { Taps::ABSENT } else { *value });
            csv.row(&std::iter::once(paths.times()[n]).chain(cells).collect::<Vec<_>>())?;
        }
        self.followed = paths.times().len();
        Ok(())
    }

    fn observables(&mut self, engine: &Engine) -> anyhow::Result<()> {
        let (Some(csv), Some(log)) = (&mut self.observables, engine.log()) else {
            return Ok(());
        };
        for row in &log.rows[self.written..] {
            csv.row(&cells(row, engine.scenario(), self.with_state))?;
        }
        self.written = log.rows.len();
        Ok(())
    }

    /// The row of the step at which a run ends, if it is not a multiple of the sampling.
    fn closing_row(&mut self, engine: &mut Engine) -> anyhow::Result<()> {
        // Every process of a run takes part in its sums, whether it writes or not.
        let Some(row) = engine.closing_row()? else {
            return Ok(());
        };
        self.observables(engine)?;
        if let Some(csv) = &mut self.observables {
            csv.row(&cells(&row, engine.scenario(), self.with_state))?;
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "step numbers are far below 2^53")]
    fn records(&mut self, engine: &Engine) -> anyhow::Result<()> {
        let Some(csv) = &mut self.detectors else {
            return Ok(());
        };
        let taps = engine.taps();
        let now = engine.clock();
        let count = taps.times().len();
        let mut values = Vec::new();
        for (place, time) in taps.times().iter().enumerate().skip(self.recorded) {
            values.clear();
            // Where all detectors record every step, the last record belongs to the present one.
            let ago = if taps.records_all() {
                (count - 1 - place) as f64
            } else {
                ((now.time - time) / now.time_step).round()
            };
            values.extend([now.steps as f64 - ago, *time]);
            values.extend((0..taps.taps().len()).map(|detector| taps.values(detector)[place]));
            csv.row(&values)?;
        }
        self.recorded = count;
        Ok(())
    }

    /// Completes all tables, even if some fail; returns the errors.
    pub(super) fn finish_records(&mut self, engine: &mut Engine) -> Vec<anyhow::Error> {
        let observables = self
            .observables(engine)
            .and_then(|()| Ok(self.observables.take().map_or(Ok(()), CsvWriter::finish)?));
        let records = self
            .records(engine)
            .and_then(|()| Ok(self.detectors.take().map_or(Ok(()), CsvWriter::finish)?));
        let spectra = match self.spectra.take() {
            Some(csv) => write_spectra(csv, engine),
            None => Ok(()),
        };
        let trajectories = self
            .paths(engine)
            .and_then(|()| Ok(self.trajectories.take().map_or(Ok(()), CsvWriter::finish)?));
        let tables = [observables, records, spectra, trajectories].into_iter();
        #[cfg(feature = "hdf5")]
        let tables = tables.chain(self.series.take().map(Series::finish));
        tables.filter_map(Result::err).collect()
    }

    /// Completes all files, even if some fail; returns the errors.
    pub(super) fn finish(&mut self, engine: &mut Engine) -> Vec<anyhow::Error> {
        let closed = self.closing_row(engine);
        let mut failed = self.finish_records(engine);
        failed.extend(closed.err());
        if let Some(path) = &self.field {
            let mut save = || -> anyhow::Result<()> {
                let field = engine.field()?;
                Ok(npy::save(path, engine.scenario().grid(), &field)?)
            };
            failed.extend(save().err());
        }
        failed
    }
}

/// The cells of a row of observables.
#[expect(clippy::cast_precision_loss, reason = "step numbers are far below 2^53")]
fn cells(row: &Row, scenario: &Scenario, with_state: bool) -> Vec<f64> {
    let rank = scenario.grid().rank();
    let known = |value: f64| if value.is_nan() { Taps::ABSENT } else { value };
    let mut values = vec![row.step as f64, row.time];
    // The place and the momentum of nothing, like the fidelity to nothing, are empty cells; so is ⟨H⟩/⟨ψ|ψ⟩.
    let observables = row.observables.told(scenario.model().equation());
    values.extend(observables.values(rank).into_iter().map(known));
    let is_empty = row.observables.norm == 0.0;
    // Rows of a checkpoint do not have them.
    if scenario.mirror().is_some() {
        let of = |refocus: Refocus| refocus.values().map(known);
        values.extend(row.refocus.map_or([Taps::ABSENT; 6], of));
    }
    if with_state {
        let absent = || vec![Taps::ABSENT; StateMeasures::columns(rank).len()];
        let state = row.state.map_or_else(absent, |state| state.values(rank));
        values.extend(
            state
                .into_iter()
                .map(|value| if is_empty { known(value) } else { value }),
        );
    }
    values
}

/// One row per frequency, one column per detector, empty if the detector's own spectrum has no such frequency: one that
/// records at every n-th step has fewer, and one that recorded too little none, with a warning.
///
/// # Errors
/// If every detector recorded too little for a spectrum, or the disk is full.
#[expect(clippy::cast_precision_loss, reason = "numbers of records are far below 2^53")]
fn write_spectra(mut csv: CsvWriter, engine: &Engine) -> anyhow::Result<()> {
    let taps = engine.taps();
    let spectra: Vec<Option<Spectrum>> = (0..taps.taps().len())
        .map(|place| {
            let (times, values) = taps.series(place);
            Spectrum::of(&times, &values, usize::MAX)
        })
        .collect();
    let Some(first) = spectra.iter().flatten().next() else {
        anyhow::bail!(
            "--spectra: the run is too short for a spectrum, which needs more than its {} records; run longer, or leave it out",
            taps.times().len()
        );
    };
    let per_cycle = match engine.scenario().model().equation() {
        Equation::Schrodinger => std::f64::consts::TAU,
        Equation::Acoustic => 1.0,
    };
    // Frequencies of two spectra are the same where they differ by rounding alone.
    let finest = spectra
        .iter()
        .flatten()
        .map(|spectrum| spectrum.step)
        .fold(first.step, f64::min);
    let mut next = vec![0; spectra.len()];
    loop {
        let at =
            |spectrum: &Spectrum, place: usize| (place < spectrum.power.len()).then_some(place as f64 * spectrum.step);
        let waiting = spectra
            .iter()
            .zip(&next)
            .filter_map(|(spectrum, place)| at(spectrum.as_ref()?, *place));
        let Some(frequency) = waiting.reduce(f64::min) else {
            break;
        };
        let mut row = vec![frequency * per_cycle];
        for (spectrum, place) in spectra.iter().zip(&mut next) {
            let here = spectrum
                .as_ref()
                .filter(|spectrum| at(spectrum, *place).is_some_and(|own| own - frequency < 1e-6 * finest));
            row.push(here.map_or(Taps::ABSENT, |spectrum| spectrum.power[*place]));
            *place += usize::from(here.is_some());
        }
        csv.row(&row)?;
    }
    csv.finish()?;
    note_folds(engine.scenario(), &spectra);
    let names = engine.scenario().detectors().iter().map(|detector| &detector.name);
    let short: Vec<String> = names
        .zip(&spectra)
        .filter(|(_, spectrum)| spectrum.is_none())
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    if !short.is_empty() {
        tell!(
            "warning: --spectra: {} recorded too little for a spectrum, and the column is empty; run longer, or let the detector record more often (`every`)",
            short.join(", ")
        );
    }
    Ok(())
}

/// Notes where ψ can have frequencies, differences of its energies, that the records do not tell from lower ones: a method that is exact takes long steps.
#[expect(clippy::cast_precision_loss, reason = "counts of frequencies")]
fn note_folds(scenario: &Scenario, spectra: &[Option<Spectrum>]) {
    let Some([low, high]) = eigen::energies(scenario) else {
        return;
    };
    let last =
        |spectrum: &Spectrum| spectrum.power.len().saturating_sub(1) as f64 * spectrum.step * std::f64::consts::TAU;
    let told = spectra.iter().flatten().map(last).fold(f64::INFINITY, f64::min);
    if told < 0.9 * (high - low) {
        tell!(
            "note: --spectra: energies of the scene differ by up to {}, and records tell frequencies apart up to {}: higher ones are seen at lower places; take a shorter step with --set time.step=…",
            short(high - low),
            short(told)
        );
    }
}
