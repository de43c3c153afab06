//! The files that `ripplon run` writes.

use super::InputError;
use super::run::RunArgs;
use crate::engine::Engine;
use crate::export::aside::Aside;
use crate::export::csv::CsvWriter;
use crate::export::npy;
use crate::physics::{Equation, Observables, Refocus, Spectrum};
use std::path::PathBuf;

/// Open files; each appears in its place when it is complete.
pub(super) struct Outputs {
    observables: Option<CsvWriter>,
    /// Rows of the engine's log that were written.
    written: usize,
    detectors: Option<CsvWriter>,
    spectra: Option<CsvWriter>,
    field: Option<PathBuf>,
}

impl Outputs {
    /// Finds out whether everything can be written.
    ///
    /// # Errors
    /// [`InputError`] with the first file that cannot.
    pub(super) fn check(args: &RunArgs) -> Result<(), InputError> {
        let all = [
            &args.save,
            &args.observables,
            &args.detectors,
            &args.spectra,
            &args.checkpoint,
        ];
        for path in all.into_iter().flatten() {
            Aside::create(path).map_err(|error| InputError(error.to_string()))?;
        }
        Ok(())
    }

    /// Opens the files.
    pub(super) fn create(args: &RunArgs, engine: &Engine) -> anyhow::Result<Self> {
        let scenario = engine.scenario();
        let observables = match &args.observables {
            None => None,
            Some(path) => {
                let mut columns = vec!["step", "t"];
                let headers = Observables::headers(scenario.model().equation(), scenario.grid().rank());
                columns.extend(headers.iter().map(String::as_str));
                if scenario.mirror().is_some() {
                    columns.extend(Refocus::COLUMNS);
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
            Equation::Acoustic => "frequency",
        };
        let spectra = of_detectors("--spectra", &args.spectra, &[frequency])?;
        let mut outputs = Self {
            observables,
            written: 0,
            detectors,
            spectra,
            field: args.save.clone(),
        };
        outputs.rows(engine)?;
        Ok(outputs)
    }

    /// Writes the observables that are new since the last call.
    #[expect(clippy::cast_precision_loss, reason = "step numbers are far below 2^53")]
    pub(super) fn rows(&mut self, engine: &Engine) -> anyhow::Result<()> {
        let (Some(csv), Some(log)) = (&mut self.observables, engine.log()) else {
            return Ok(());
        };
        let rank = engine.scenario().grid().rank();
        for row in &log.rows[self.written..] {
            let mut values = vec![row.step as f64, row.time];
            values.extend(row.observables.values(rank));
            if let Some(refocus) = &row.refocus {
                values.extend(refocus.values());
            }
            csv.row(&values)?;
        }
        self.written = log.rows.len();
        Ok(())
    }

    /// Completes the tables.
    #[expect(clippy::cast_precision_loss, reason = "step numbers are far below 2^53")]
    pub(super) fn finish_records(&mut self, engine: &Engine) -> anyhow::Result<()> {
        self.rows(engine)?;
        if let Some(csv) = self.observables.take() {
            csv.finish()?;
        }
        if let Some(mut csv) = self.detectors.take() {
            let taps = engine.taps();
            // One record a step; the last one belongs to the present step.
            let last = engine.clock().steps;
            let count = taps.times().len() as u64;
            let mut values = Vec::new();
            for (place, time) in taps.times().iter().enumerate() {
                values.clear();
                values.extend([(last + 1 + place as u64 - count) as f64, *time]);
                values.extend((0..taps.taps().len()).map(|detector| taps.values(detector)[place]));
                csv.row(&values)?;
            }
            csv.finish()?;
        }
        if let Some(mut csv) = self.spectra.take() {
            write_spectra(&mut csv, engine)?;
            csv.finish()?;
        }
        Ok(())
    }

    /// Completes everything.
    pub(super) fn finish(&mut self, engine: &mut Engine) -> anyhow::Result<()> {
        self.finish_records(engine)?;
        if let Some(path) = &self.field {
            let field = engine.field()?;
            npy::save(path, engine.scenario().grid(), &field)?;
        }
        Ok(())
    }
}

/// One row a frequency, one column a detector; nothing where a run was too short to have frequencies.
#[expect(clippy::cast_precision_loss, reason = "numbers of records are far below 2^53")]
fn write_spectra(csv: &mut CsvWriter, engine: &Engine) -> anyhow::Result<()> {
    let taps = engine.taps();
    let spectra: Vec<Spectrum> = (0..taps.taps().len())
        .filter_map(|place| Spectrum::of(taps.times(), taps.values(place), usize::MAX))
        .collect();
    let Some(first) = spectra.first().filter(|_| spectra.len() == taps.taps().len()) else {
        return Ok(());
    };
    let per_cycle = match engine.scenario().model().equation() {
        Equation::Schrodinger => std::f64::consts::TAU,
        Equation::Acoustic => 1.0,
    };
    for place in 0..first.power.len() {
        let mut row = vec![place as f64 * first.step * per_cycle];
        row.extend(spectra.iter().map(|spectrum| spectrum.power[place]));
        csv.row(&row)?;
    }
    Ok(())
}
