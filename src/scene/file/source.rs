//! Sources as they are written.

use super::layer::LayerFile;
use super::one_of_ways;
use crate::scene::codec::{Fields, ends};
use crate::scene::declare::{section, variants};
use crate::scene::decode::{Diagnostics, Section};
use crate::scene::schema::{Kind, Presence, Row};
use crate::scene::write::{Item, Keys, text};
use crate::words::worded;
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

impl Fields for SourcePlace {
    fn rows() -> Vec<Row> {
        let none = || Presence::Optional("");
        let mut rows = vec![
            Row::of::<Vec<f64>>("at", none(), "", "m", "one place; or"),
            Row::of::<Vec<f64>>("from", none(), "with `to`", "m", "one end of a line,"),
            Row::of::<Vec<f64>>(
                "to",
                none(),
                "with `from`",
                "m",
                "and its other end; an end at the outermost sites (within 1e-4 of a spacing) of the axis along which the line is longest, or of another along which it is as long, reaches to the wall; or",
            ),
            Row::of::<Vec<Vec<f64>>>("points", none(), "", "m", "a list of places: a phased array,"),
            Row::of::<Vec<f64>>(
                "delays",
                Presence::Optional("0"),
                "with `points`",
                "s",
                "each with a delay; or",
            ),
            Row::of::<Vec<f64>>(
                "center",
                none(),
                "three dimensions",
                "m",
                "centre of a disk: a piston; the grid's edges cut it, and it continues across periodic ones; wider than the grid, it is a plane",
            ),
            Row::of::<f64>("radius", none(), "with `center`", "m", "radius of the disk"),
            Row::of::<String>("normal", none(), "with `center`", "", "the axis normal to the disk"),
        ];
        rows[7].kind = Kind::words(&LayerFile::AXES);
        rows
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        let ways = [
            section.has("at"),
            ends::given(section),
            section.has("points"),
            section.has("center"),
        ];
        let list = "`at`, `from` and `to`, `points`, or `center`";
        one_of_ways(section, &ways, list, Some("at = [1.0, 2.0]"), found);
        if ways[0] {
            Self::Point(section.need("at", "[1.0, 2.0]", found))
        } else if ways[1] {
            let [from, to] = ends::read(section, found);
            Self::Line { from, to }
        } else if ways[2] {
            Self::Points {
                points: section.need("points", "[[1.0, 1.0], [1.0, 1.1]]", found),
                delays: section.get("delays", found).unwrap_or_default(),
            }
        } else if ways[3] {
            Self::Disk {
                center: section.need("center", "[1.0, 1.0, 0.0]", found),
                radius: section.need("radius", "0.1", found),
                normal: if section.has("normal") {
                    section.word("normal", &LayerFile::AXES, found).unwrap_or(2)
                } else {
                    section.need::<String>("normal", "\"z\"", found);
                    2
                },
            }
        } else {
            Self::Point(Vec::new())
        }
    }

    fn write(&self, keys: &mut Keys) {
        match self {
            Self::Point(at) => keys.push("at", at),
            Self::Line { from, to } => ends::write(keys, [from, to]),
            Self::Points { points, delays } => {
                keys.push("points", points);
                keys.unless("delays", delays, &Vec::new());
            }
            Self::Disk { center, radius, normal } => {
                keys.push("center", center);
                keys.push("radius", radius);
                keys.optional_item("normal", Some(Item::Value(text(LayerFile::AXES[*normal].0))));
            }
        }
    }
}

worded! {
    /// Where a source sends its sound.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum PatternFile {
        /// Alike in all directions.
        #[default]
        Monopole = "monopole",
        /// A force along `direction`.
        Dipole = "dipole",
        /// Along `direction`, and not against it.
        OneWay = "one-way",
    }
}

variants! {
    /// What a source sends.
    #[derive(Clone, Debug, PartialEq)]
    pub enum SignalFile, "signal" = required "\"ricker\"", else unknown,
        "`ricker`, `sine`, `burst` (a sine under a Hann window), `chirp` (from one frequency to another), `file`" {
        /// Ricker's wavelet
        "ricker" Ricker {
            /// frequency; required except for `file`
            frequency: f64 = required "1000.0", "> 0", "Hz";
        }
        /// a continuous sine
        "sine" Sine {
            /// frequency
            frequency: f64 = required "1000.0", "> 0", "Hz";
        }
        /// `cycles` periods of a sine under a Hann window
        "burst" Burst {
            /// frequency
            frequency: f64 = required "1000.0", "> 0", "Hz";
            /// periods of `burst`
            cycles: f64 = always [5.0];
        }
        /// from one frequency to another, linearly over `duration`
        "chirp" Chirp {
            /// frequency at its start
            frequency: f64 = required "1000.0", "> 0", "Hz";
            /// frequency at the end of `chirp`
            to_frequency: f64 = required "2000.0", "> 0", "Hz";
            /// duration of `chirp`
            duration: f64 = required "0.01", "> 0", "s";
        }
        /// samples of a file, with band-limited interpolation
        "file" File {
            /// for `file`: a WAV file, or an NPY file with `rate`, relative to the scene file
            file: PathBuf = required "\"signal.wav\"";
            /// samples per second of an NPY file
            rate: Option<f64> = maybe "that of a WAV file", "> 0", "Hz";
        }
    }
}

/// Where the word is none, which is reported, any signal will do; only what is wrong with its frequency is said.
fn unknown(section: &mut Section<'_>, found: &mut Diagnostics) -> SignalFile {
    SignalFile::Ricker {
        frequency: section.get("frequency", found).unwrap_or(1.0),
    }
}

section! {
    /// One `[[source]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SourceFile, unknown = stray {
        /// Where it stands.
        place: SourcePlace = flat [];
        /// What it sends.
        signal: SignalFile = flat [];
        /// `monopole`: the same in all directions; `dipole`: a force; `one-way`: a force, with a monopole that cancels its wave behind the source
        pattern: PatternFile = or [PatternFile::Monopole];
        /// for `dipole` and `one-way`: the direction, a vector of any length except 0
        direction: Vec<f64> = empty "the axis of a disk, x in one dimension";
        /// phase lead of the sine of `sine`, `burst` and `chirp`
        phase: f64 = or [0.0], "", "rad";
        /// `monopole`: Pa m^d/s² for a point, Pa m^(d−1)/s² per metre of a line, Pa m/s² per square metre of a disk.
        /// `dipole`, `one-way`: the force of a point in Pa m^(d−1); for a line across the whole plane or a disk across
        /// the whole space, Pa
        amplitude: f64 = or [1.0];
        /// delay of the signal
        delay: f64 = or [0.0], "≥ 0", "s";
        /// velocity of a moving source. It is silent outside the grid; along a periodic axis it re-enters at the other end
        velocity: Vec<f64> = empty "0", "", "m/s";
    }
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

/// A key of another place or signal.
fn stray(_: &Section<'_>, key: &str) -> Option<(String, String)> {
    let mut rows = SourcePlace::rows().into_iter().chain(SignalFile::rows());
    rows.any(|row| row.key == key).then(|| {
        (
            "it does not belong to a source of this kind".to_owned(),
            "remove it, or change `signal` or the place".to_owned(),
        )
    })
}
