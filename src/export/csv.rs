//! Tables of numbers as CSV: a line of names, then a line of numbers per record, each written so that reading it back gives
//! the same double.

use super::ExportError;
use crate::atomic_file::AtomicFile;
use crate::physics::Detector;
use crate::solver::Taps;
use std::io::{self, Write};
use std::path::Path;

/// Writes the records of detectors: one row per record with its time, one column per detector, empty if it did not
/// record. Returns the number of rows.
///
/// # Errors
/// If there is no detector, or the file cannot be written.
pub fn records(path: &Path, detectors: &[Detector], taps: &Taps) -> Result<usize, ExportError> {
    if detectors.is_empty() {
        return Err(ExportError::Encoder {
            format: "CSV",
            message: "the scene has no detector; place one with the probe".to_owned(),
        });
    }
    let names = detectors.iter().map(|detector| detector.name.as_str());
    let columns: Vec<&str> = std::iter::once("t").chain(names).collect();
    let mut csv = CsvWriter::create(path, &columns)?;
    let mut values = Vec::with_capacity(columns.len());
    for (place, time) in taps.times().iter().enumerate() {
        values.clear();
        values.push(*time);
        values.extend((0..detectors.len()).map(|detector| taps.values(detector)[place]));
        csv.row(&values)?;
    }
    csv.finish()?;
    Ok(taps.times().len())
}

/// Writes rows aside; [`CsvWriter::finish`] puts the file in place.
#[derive(Debug)]
pub struct CsvWriter {
    file: AtomicFile,
    columns: usize,
}

impl CsvWriter {
    /// Begins a table with these columns; names with a comma, a quote or a line break are quoted.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create<S: AsRef<str>>(path: &Path, columns: &[S]) -> Result<Self, ExportError> {
        let mut file = super::begin(path)?;
        let names: Vec<String> = columns.iter().map(|name| quoted(name.as_ref())).collect();
        writeln!(file, "{}", names.join(",")).map_err(ExportError::io(path))?;
        Ok(Self {
            file,
            columns: columns.len(),
        })
    }

    /// Appends a record of one number per column; [`Taps::ABSENT`] leaves its cell empty.
    ///
    /// # Errors
    /// If their number differs from the columns, or the disk is full.
    pub fn row(&mut self, values: &[f64]) -> Result<(), ExportError> {
        if values.len() != self.columns {
            return Err(ExportError::Encoder {
                format: "CSV",
                message: format!(
                    "a row of {} numbers in a table of {} columns",
                    values.len(),
                    self.columns
                ),
            });
        }
        let mut write = || -> io::Result<()> {
            for (n, value) in values.iter().enumerate() {
                let comma = if n == 0 { "" } else { "," };
                // Steps and counts as whole numbers; anything else so that it is read back exactly.
                if Taps::is_absent(*value) {
                    write!(self.file, "{comma}")?;
                } else if value.fract() == 0.0 && value.abs() < 1e15 {
                    write!(self.file, "{comma}{value:.0}")?;
                } else {
                    write!(self.file, "{comma}{value:?}")?;
                }
            }
            writeln!(self.file)
        };
        write().map_err(ExportError::io(self.file.target()))
    }

    /// Completes the table and puts it in place.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn finish(self) -> Result<(), ExportError> {
        super::complete(self.file)
    }
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
