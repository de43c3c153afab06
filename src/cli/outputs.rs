//! The files that `ripplon run` writes.

use super::InputError;
use super::run::RunArgs;
use crate::engine::Engine;
use crate::export::aside::Aside;
use crate::export::csv::CsvWriter;
use crate::export::npy;
use crate::physics::Observables;
use std::path::PathBuf;

/// Open files; each appears in its place when it is complete.
pub(super) struct Outputs {
    observables: Option<CsvWriter>,
    /// Rows of the engine's log that were written.
    written: usize,
    detectors: Option<CsvWriter>,
    field: Option<PathBuf>,
}

impl Outputs {
    /// Finds out whether everything can be written.
    ///
    /// # Errors
    /// [`InputError`] with the first file that cannot.
    pub(super) fn check(args: &RunArgs) -> Result<(), InputError> {
        for path in [&args.save, &args.observables, &args.detectors, &args.checkpoint]
            .into_iter()
            .flatten()
        {
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
                columns.extend(Observables::columns(
                    scenario.model().equation(),
                    scenario.grid().rank(),
                ));
                Some(CsvWriter::create(path, &columns)?)
            }
        };
        let detectors = match &args.detectors {
            None => None,
            Some(_) if scenario.detectors().is_empty() => {
                return Err(InputError(
                    "--detectors: the scene has none; add a [[detector]], or use --observables".to_owned(),
                )
                .into());
            }
            Some(path) => {
                let names = scenario.detectors().iter().map(|detector| detector.name.as_str());
                let columns: Vec<&str> = ["step", "t"].into_iter().chain(names).collect();
                Some(CsvWriter::create(path, &columns)?)
            }
        };
        let mut outputs = Self {
            observables,
            written: 0,
            detectors,
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
