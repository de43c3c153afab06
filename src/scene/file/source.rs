//! Sources as they are written.

use std::path::PathBuf;

/// Where a source stands.
#[derive(Clone, Debug, PartialEq)]
pub enum SourcePlace {
    /// `at`.
    Point(Vec<f64>),
    /// `from` and `to`.
    Line {
        /// One end.
        from: Vec<f64>,
        /// The other.
        to: Vec<f64>,
    },
    /// `points`, each with a delay.
    Points {
        /// The elements.
        points: Vec<Vec<f64>>,
        /// Seconds, one per element; empty = none.
        delays: Vec<f64>,
    },
    /// `center`, `radius` and `normal`.
    Disk {
        /// Its centre.
        center: Vec<f64>,
        /// Its radius.
        radius: f64,
        /// The axis that it stands across.
        normal: usize,
    },
}

/// Where a source sends its sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatternFile {
    /// Alike in all directions.
    #[default]
    Monopole,
    /// A force along `direction`.
    Dipole,
    /// Along `direction`, and not against it.
    OneWay,
}

impl PatternFile {
    /// The words in a scene file.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("monopole", Self::Monopole),
        ("dipole", Self::Dipole),
        ("one-way", Self::OneWay),
    ];

    /// The word in a scene file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Monopole => "monopole",
            Self::Dipole => "dipole",
            Self::OneWay => "one-way",
        }
    }
}

/// What a source sends.
#[derive(Clone, Debug, PartialEq)]
pub enum SignalFile {
    /// Ricker's wavelet.
    Ricker {
        /// Hz.
        frequency: f64,
    },
    /// A sine that goes on.
    Sine {
        /// Hz.
        frequency: f64,
    },
    /// `cycles` periods of a sine under a Hann window.
    Burst {
        /// Hz.
        frequency: f64,
        /// Periods.
        cycles: f64,
    },
    /// From one frequency to another, linearly over `duration`.
    Chirp {
        /// Hz.
        frequency: f64,
        /// Hz.
        to_frequency: f64,
        /// s.
        duration: f64,
    },
    /// Samples of a file.
    File {
        /// WAV or NPY, relative to the scene file.
        file: PathBuf,
        /// Samples per second of an NPY file.
        rate: Option<f64>,
    },
}

/// One `[[source]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Where.
    pub place: SourcePlace,
    /// What.
    pub signal: SignalFile,
    /// Where it sends it.
    pub pattern: PatternFile,
    /// Along what, of any length; empty for a monopole, and for a disk that sends along its normal.
    pub direction: Vec<f64>,
    /// Pa.
    pub amplitude: f64,
    /// s.
    pub delay: f64,
    /// rad.
    pub phase: f64,
    /// m/s; empty = it stays.
    pub velocity: Vec<f64>,
}

impl SourceFile {
    /// A monopole that plays from t = 0 on where it stands.
    #[must_use]
    pub fn new(place: SourcePlace, signal: SignalFile, amplitude: f64) -> Self {
        Self {
            place,
            signal,
            pattern: PatternFile::Monopole,
            direction: Vec::new(),
            amplitude,
            delay: 0.0,
            phase: 0.0,
            velocity: Vec::new(),
        }
    }
}
