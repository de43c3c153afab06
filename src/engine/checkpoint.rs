//! Checkpoint files: a run's whole state in one file that is complete or not there ([`AtomicFile`]).
//!
//! Little-endian. Layout:
//!
//! | bytes | content |
//! | --- | --- |
//! | 16 | `RIPPLON-CHECKPT\n` |
//! | 4 | format version, u32 |
//! | 4 | length of the header, u32 |
//! | … | header, JSON: scene (TOML), clock, what the arrays are. Real numbers stand as their bits, so that nothing is rounded |
//! | … | the arrays in the header's order, x fastest |
//! | … | times of the records, then the records of each detector, f64 |
//! | … | kept observables, a row each: step u64, then time and observables, f64, and the measures of ψ where the header says so |
//! | 4 | CRC-32 of everything before |
//!
//! The header fixes the file's length, and nothing is allocated that the file is not long enough for.

use crate::atomic_file::AtomicFile;
use crate::field::FieldData;
use crate::file_error::explained;
use crate::physics::{Observables, StateMeasures};
use crate::solver::{Clock, SolverState};
use num_complex::Complex;
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use super::log::{ObservableLog, Row};

const MAGIC: &[u8; 16] = b"RIPPLON-CHECKPT\n";
/// The format that is written; 2 added the vectors of the processor to format 1, and 3 the purity to the measures of ψ. Older ones are read as well.
pub const VERSION: u32 = 3;
/// Longest header; scenes are a few KiB.
const LONGEST_HEADER: u64 = 64 << 20;
/// Values per row of the kept observables after the step: time and nine numbers.
const ROW: usize = 10;
/// Values of the measures of ψ, where they are kept.
const STATE: usize = 14;
/// How many there were before format 3.
const STATE_BEFORE: usize = 13;
const _: () = assert!(
    cfg!(target_endian = "little"),
    "checkpoints are written as they lie in memory"
);

/// Why a checkpoint was not written or not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckpointError {
    /// The file could not be written; a file that was there before is unchanged.
    #[error("{}: the checkpoint cannot be written: {message}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// The file could not be read.
    #[error("{}: the checkpoint cannot be read: {message}; name a file that --checkpoint wrote", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        message: String,
    },
    /// Another kind of file.
    #[error("{}: this is not a checkpoint of Ripplon; give a file that --checkpoint wrote", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later format.
    #[error("{}: checkpoint format {found}, and this version reads {VERSION}; use a newer version of the program", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// Truncated or changed.
    #[error("{}: the checkpoint is damaged ({what}); use an earlier one or start again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        what: String,
    },
    /// It belongs to another scene.
    #[error("{}: the checkpoint does not fit the scene: {what}", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// Which value differs, and what to change.
        what: String,
    },
}

/// Everything that a run needs to continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// What ran.
    pub run: RunInfo,
    /// The solver's state.
    pub state: SolverState,
    /// Times of the records.
    pub times: Vec<f64>,
    /// Records of each detector, as long as `times`.
    pub records: Vec<Vec<f64>>,
    /// Kept observables.
    pub log: Option<ObservableLog>,
    /// At t = 0.
    pub initial: Observables,
    /// What each expectation measured, if it did.
    pub measured: Vec<Option<f64>>,
}

/// What ran when a checkpoint was written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    /// Version of the program.
    pub program: String,
    /// The processor's vectors, on which last bits may depend; empty if nobody wrote them down.
    #[serde(default)]
    pub vectors: String,
    /// The scene file, with everything that was overridden.
    pub scene: String,
    /// The method's id.
    pub method: String,
    /// The variant that ran.
    pub variant: String,
    /// The back end's word.
    pub backend: String,
    /// The precision's word.
    pub precision: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    run: RunInfo,
    steps: u64,
    time: Bits,
    time_step: Bits,
    arrays: Vec<Array>,
    scalars: Vec<(String, Bits)>,
    records: u64,
    detectors: u64,
    log: Option<LogHeader>,
    initial: [Bits; 9],
    measured: Vec<Option<Bits>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogHeader {
    every: u64,
    rows: u64,
    /// Whether the rows have the measures of ψ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    state: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Array {
    name: String,
    kind: ArrayKind,
    length: u64,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ArrayKind {
    Complex64,
    Complex128,
    Float32,
    Float64,
}

/// A real number that JSON does not round.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
struct Bits(u64);

impl From<f64> for Bits {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

impl Bits {
    fn real(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl ArrayKind {
    fn of(data: &FieldData) -> Self {
        match data {
            FieldData::Complex64(_) => Self::Complex64,
            FieldData::Complex128(_) => Self::Complex128,
            FieldData::Float32(_) => Self::Float32,
            FieldData::Float64(_) => Self::Float64,
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Self::Float32 => 4,
            Self::Complex64 | Self::Float64 => 8,
            Self::Complex128 => 16,
        }
    }
}

fn numbers(observables: &Observables) -> [f64; 9] {
    let Observables {
        norm,
        energy,
        position: [x, y, z],
        spread: [sx, sy, sz],
        peak,
        invariant: _,
    } = *observables;
    [norm, energy, x, y, z, sx, sy, sz, peak]
}

fn observables([norm, energy, x, y, z, sx, sy, sz, peak]: [f64; 9]) -> Observables {
    Observables {
        norm,
        energy,
        position: [x, y, z],
        spread: [sx, sy, sz],
        peak,
        invariant: 0.0,
    }
}

fn state_numbers(state: &StateMeasures) -> [f64; STATE] {
    let StateMeasures {
        momentum: [px, py, pz],
        momentum_spread: [sx, sy, sz],
        uncertainty: [ux, uy, uz],
        angular_momentum,
        overlap,
        participation,
        purity,
    } = *state;
    [
        px,
        py,
        pz,
        sx,
        sy,
        sz,
        ux,
        uy,
        uz,
        angular_momentum,
        overlap.re,
        overlap.im,
        participation,
        purity,
    ]
}

/// The measures of ψ of a row; NaN for those that an older format lacks.
fn read_measures(source: &mut Hashed<impl Read>, version: u32) -> io::Result<[f64; STATE]> {
    if version >= 3 {
        return source.read_row();
    }
    let mut all = [f64::NAN; STATE];
    all[..STATE_BEFORE].copy_from_slice(&source.read_row::<STATE_BEFORE>()?);
    Ok(all)
}

fn state([px, py, pz, sx, sy, sz, ux, uy, uz, lz, re, im, participation, purity]: [f64; STATE]) -> StateMeasures {
    StateMeasures {
        momentum: [px, py, pz],
        momentum_spread: [sx, sy, sz],
        uncertainty: [ux, uy, uz],
        angular_momentum: lz,
        overlap: Complex::new(re, im),
        participation,
        purity,
    }
}

impl Checkpoint {
    /// Writes the file, complete or not at all.
    ///
    /// # Errors
    /// [`CheckpointError::Write`]; a file at `path` is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let failed = |error: io::Error| CheckpointError::Write {
            path: path.to_owned(),
            message: explained(&error),
        };
        let mut out = Hashed::new(AtomicFile::create(path).map_err(failed)?);
        self.write_to(&mut out).map_err(failed)?;
        let checksum = out.hash.finalize();
        let mut file = out.inner;
        file.write_all(&checksum.to_le_bytes()).map_err(failed)?;
        file.commit().map_err(failed)
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let header = Header {
            run: self.run.clone(),
            steps: self.state.clock.steps,
            time: self.state.clock.time.into(),
            time_step: self.state.clock.time_step.into(),
            arrays: self
                .state
                .arrays
                .iter()
                .map(|(name, data)| Array {
                    name: name.clone(),
                    kind: ArrayKind::of(data),
                    length: data.len() as u64,
                })
                .collect(),
            scalars: self
                .state
                .scalars
                .iter()
                .map(|(name, value)| (name.clone(), (*value).into()))
                .collect(),
            records: self.times.len() as u64,
            detectors: self.records.len() as u64,
            log: self.log.as_ref().map(|log| LogHeader {
                every: log.every,
                rows: log.rows.len() as u64,
                state: log.with_state,
            }),
            initial: numbers(&self.initial).map(Bits::from),
            measured: self.measured.iter().map(|value| value.map(Bits::from)).collect(),
        };
        let header = serde_json::to_vec(&header)?;
        let length = u32::try_from(header.len()).map_err(|_| io::Error::other("the scene is too long"))?;
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&header)?;
        for (_, data) in &self.state.arrays {
            out.write_all(match data {
                FieldData::Complex64(values) => bytemuck::cast_slice(values),
                FieldData::Complex128(values) => bytemuck::cast_slice(values),
                FieldData::Float32(values) => bytemuck::cast_slice(values),
                FieldData::Float64(values) => bytemuck::cast_slice(values),
            })?;
        }
        out.write_all(bytemuck::cast_slice(&self.times))?;
        for values in &self.records {
            out.write_all(bytemuck::cast_slice(values))?;
        }
        let with_state = self.log.as_ref().is_some_and(|log| log.with_state);
        for row in self.log.iter().flat_map(|log| &log.rows) {
            out.write_all(&row.step.to_le_bytes())?;
            out.write_all(&row.time.to_le_bytes())?;
            out.write_all(bytemuck::cast_slice(&numbers(&row.observables)))?;
            if with_state {
                // Rows from before they were asked for have none.
                let values = row.state.as_ref().map_or([f64::NAN; STATE], state_numbers);
                out.write_all(bytemuck::cast_slice(&values))?;
            }
        }
        Ok(())
    }

    /// Reads a file; nothing of it is used unless all of it is valid.
    ///
    /// # Errors
    /// If it cannot be read, is something else, of a later format, or damaged.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let unreadable = |error: io::Error| CheckpointError::Read {
            path: path.to_owned(),
            message: error.to_string(),
        };
        let (file, length) = crate::input_file::open(path).map_err(unreadable)?;
        Self::read_from(BufReader::with_capacity(1 << 18, file), length, path)
    }

    fn read_from(source: impl Read, length: u64, path: &Path) -> Result<Self, CheckpointError> {
        let damaged = |what: String| CheckpointError::Damaged {
            path: path.to_owned(),
            what,
        };
        let cut = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("it is cut off".to_owned()),
            _ => CheckpointError::Read {
                path: path.to_owned(),
                message: error.to_string(),
            },
        };
        let mut source = Hashed::new(source);
        let mut magic = [0; 16];
        if source.read_exact(&mut magic).is_err() || magic != *MAGIC {
            return Err(CheckpointError::Foreign { path: path.to_owned() });
        }
        let found = source.read_u32().map_err(cut)?;
        if !(1..=VERSION).contains(&found) {
            return Err(CheckpointError::Version {
                path: path.to_owned(),
                found,
            });
        }
        let header_length = u64::from(source.read_u32().map_err(cut)?);
        if header_length > LONGEST_HEADER.min(length) {
            return Err(damaged(format!("its header would have {header_length} bytes")));
        }
        let header: Vec<u8> = source.read_values(header_length).map_err(cut)?;
        let header: Header = serde_json::from_slice(&header).map_err(|error| damaged(format!("header: {error}")))?;
        let expected = header.file_length(header_length, found);
        if expected != Some(length) {
            return Err(damaged(match expected {
                Some(expected) if length < expected => format!("{length} bytes of {expected}: it is cut off"),
                _ => "its length is not what its header says".to_owned(),
            }));
        }
        let checkpoint = header.read_rest(&mut source, found).map_err(cut)?;
        let computed = source.hash.clone().finalize();
        let stored = source.read_u32().map_err(cut)?;
        if computed != stored {
            return Err(damaged(format!("checksum {stored:08x}, content {computed:08x}")));
        }
        Ok(checkpoint)
    }
}

impl Header {
    /// Length of the file in a format, in bytes; `None` if it overflows.
    fn file_length(&self, header: u64, version: u32) -> Option<u64> {
        let mut sum = (MAGIC.len() as u64 + 4 + 4 + 4).checked_add(header)?;
        for array in &self.arrays {
            sum = sum.checked_add(array.length.checked_mul(array.kind.bytes())?)?;
        }
        let records = self.detectors.checked_add(1)?.checked_mul(self.records)?;
        sum = sum.checked_add(records.checked_mul(8)?)?;
        let rows = self.log.as_ref().map_or(0, |log| log.rows);
        let state = self.log.as_ref().is_some_and(|log| log.state);
        let measures = if version < 3 { STATE_BEFORE } else { STATE };
        let values = ROW + 1 + if state { measures } else { 0 };
        sum.checked_add(rows.checked_mul(8 * values as u64)?)
    }

    fn read_rest(self, source: &mut Hashed<impl Read>, version: u32) -> io::Result<Checkpoint> {
        let mut arrays = Vec::new();
        for Array { name, kind, length } in self.arrays {
            let data = match kind {
                ArrayKind::Complex64 => FieldData::Complex64(source.read_values::<Complex<f32>>(length)?),
                ArrayKind::Complex128 => FieldData::Complex128(source.read_values::<Complex<f64>>(length)?),
                ArrayKind::Float32 => FieldData::Float32(source.read_values(length)?),
                ArrayKind::Float64 => FieldData::Float64(source.read_values(length)?),
            };
            arrays.push((name, data));
        }
        let times = source.read_values(self.records)?;
        // Without records the number of detectors is not bounded by the file's length.
        let detectors = if self.records == 0 { 0 } else { self.detectors };
        let records = (0..detectors)
            .map(|_| source.read_values(self.records))
            .collect::<io::Result<_>>()?;
        let log = match self.log {
            None => None,
            Some(header) => {
                let mut log = ObservableLog::new(header.every);
                log.with_state = header.state;
                for _ in 0..header.rows {
                    let step = source.read_values::<u64>(1)?[0];
                    let [time, rest @ ..] = source.read_row::<ROW>()?;
                    log.rows.push(Row {
                        step,
                        time,
                        observables: observables(rest),
                        refocus: None,
                        state: if header.state {
                            // Of a row with measures the overlap is a number, though ψ be 0 everywhere.
                            Some(state(read_measures(source, version)?)).filter(|state| !state.overlap.re.is_nan())
                        } else {
                            None
                        },
                    });
                }
                Some(log)
            }
        };
        Ok(Checkpoint {
            run: self.run,
            state: SolverState {
                clock: Clock {
                    steps: self.steps,
                    time: self.time.real(),
                    time_step: self.time_step.real(),
                },
                arrays,
                scalars: self
                    .scalars
                    .into_iter()
                    .map(|(name, value)| (name, value.real()))
                    .collect(),
            },
            times,
            records,
            log,
            initial: observables(self.initial.map(Bits::real)),
            measured: self.measured.into_iter().map(|value| value.map(Bits::real)).collect(),
        })
    }
}

/// Passes bytes through and sums them up.
struct Hashed<T> {
    inner: T,
    hash: crc32fast::Hasher,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hash: crc32fast::Hasher::new(),
        }
    }
}

impl<T: Write> Write for Hashed<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Hashed<T> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash.update(bytes);
        Ok(())
    }

    fn read_u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn read_row<const N: usize>(&mut self) -> io::Result<[f64; N]> {
        let mut row = [0.0; N];
        self.read_exact(bytemuck::cast_slice_mut(&mut row))?;
        Ok(row)
    }

    /// The length was checked against the file's before.
    fn read_values<V: bytemuck::Pod>(&mut self, length: u64) -> io::Result<Vec<V>> {
        let length = usize::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut values = Vec::new();
        values
            .try_reserve_exact(length)
            .map_err(|_| io::Error::new(io::ErrorKind::OutOfMemory, "not enough memory for it"))?;
        values.resize(length, V::zeroed());
        self.read_exact(bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }
}
