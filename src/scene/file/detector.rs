//! Detectors and transducers as they are written.

use super::layer::LayerFile;
use super::one_of_ways;
use crate::physics::mirror::{Drive, MirrorMethod};
use crate::physics::{Measure, Reading};
use crate::scene::codec::{Fields, Table, corners, ends};
use crate::scene::declare::{section, variants};
use crate::scene::decode::{Diagnostics, Section};
use crate::scene::schema::{Presence, Row};
use crate::scene::write::Keys;

/// Where a detector looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RegionFile {
    /// No key: the whole grid.
    #[default]
    Everywhere,
    /// `at`.
    Point(Vec<f64>),
    /// `from` and `to`.
    Line {
        /// One end.
        from: Vec<f64>,
        /// The other.
        to: Vec<f64>,
    },
    /// `region = { min, max }`.
    Box {
        /// Lower corner.
        min: Vec<f64>,
        /// Upper corner.
        max: Vec<f64>,
    },
}

impl Fields for RegionFile {
    fn rows() -> Vec<Row> {
        let whole = || Presence::Optional("the whole grid");
        let at = "a point, instead of a line or a box. `value`, `pressure` and `peak` of sound at a point are interpolated between sites with the \
                  weights of sources; everything else is taken at the nearest site";
        let mut rows = vec![
            Row::of::<Vec<f64>>("at", whole(), "", "", at),
            Row::of::<Vec<f64>>(
                "from",
                whole(),
                "with `to`",
                "",
                "one end of a line along an axis; in three dimensions also a corner of a plane across one",
            ),
            Row::of::<Vec<f64>>(
                "to",
                whole(),
                "with `from`",
                "",
                "its other end; across the line, both ends are less than a spacing apart",
            ),
            Row::of::<f64>("region", whole(), "`{ min, max }`", "", "all sites of a box"),
        ];
        rows[3].kind = corners::kind();
        rows
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        let ways = [section.has("at"), ends::given(section), section.has("region")];
        one_of_ways(section, &ways, "`at`, `from` and `to`, or `region`", None, found);
        if ways[0] {
            Self::Point(section.need("at", "[1.0, 2.0]", found))
        } else if ways[1] {
            let [from, to] = ends::read(section, found);
            Self::Line { from, to }
        } else if let Some([min, max]) = corners::read(section, "region", found) {
            Self::Box { min, max }
        } else {
            Self::Everywhere
        }
    }

    fn write(&self, keys: &mut Keys) {
        match self {
            Self::Everywhere => {}
            Self::Point(at) => keys.push("at", at),
            Self::Line { from, to } => ends::write(keys, [from, to]),
            Self::Box { min, max } => {
                keys.optional_item("region", corners::write(&Some([min.clone(), max.clone()])));
            }
        }
    }
}

section! {
    /// One `[[detector]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DetectorFile, unknown = stray {
        /// its name in tables and predictions
        name: String = required "\"right\"",
            "unique, without commas or quotes, and none of `step`, `t`, `omega`, `frequency`";
        /// Where it looks.
        region: RegionFile = flat [];
        /// what it records, see below
        measure: Option<Measure> = maybe "`value` at a point, `flux` through a line, `probability` (quantum) or `energy` (acoustic) in a region";
        /// it records at steps whose number is a multiple of this, at their exact times. Energy and flux of a large
        /// region cost most; at the steps between, they only cost what the velocity costs. Tables leave the cells of
        /// the other steps empty; at such a step `[[expect]]` and `[sweep]` use the value that would be recorded, for
        /// `mean`, `rms` and `level` the last one recorded. `peak` is the largest value of the recorded steps
        every: Option<usize> = maybe "1";
        /// `itself`, or a mean over time: `mean`, `rms` (root mean square), or for a pressure `level` (dB re 20 µPa);
        /// the mean of a flux is the mean intensity. Without `over` it is that of the time since the first record, by the
        /// trapezoidal rule over the records
        reading as "as": Reading = or [Reading::Itself];
        /// for `mean`, `rms` and `level`: the time constant in s with which the past fades, e^(−t/over), as in sound
        /// level meters (0.125 and 1 s, IEC 61672-1); it begins with silence, and what is averaged goes straight from
        /// record to record
        over: Option<f64> = maybe "all of the run", "", "s";
        /// for `velocity`: its direction, a vector of any length except 0
        direction: Vec<f64> = empty "required; x in one dimension";
    }
}

impl DetectorFile {
    /// A detector that records at every step what fits its place.
    #[must_use]
    pub fn new(name: String, region: RegionFile) -> Self {
        Self {
            name,
            region,
            measure: None,
            every: None,
            reading: Reading::Itself,
            over: None,
            direction: Vec::new(),
        }
    }
}

/// A key of a place.
fn stray(_: &Section<'_>, key: &str) -> Option<(String, String)> {
    match key {
        "at" | "from" | "to" | "region" => {
            Some(("the place is given already".to_owned(), "keep one of them".to_owned()))
        }
        "min" | "max" => Some((
            "it belongs in `region`".to_owned(),
            "write `region = { min = [..], max = [..] }`".to_owned(),
        )),
        _ => None,
    }
}

variants! {
    /// Where the transducers of a mirror stand.
    #[derive(Clone, Debug, PartialEq)]
    pub enum TransducersFile, "shape" = required "\"ring\"", else edges, "how they stand" {
        /// evenly spaced on a circle
        "ring" Ring {
            /// centre of the ring
            center: Vec<f64> = required "[128.0, 128.0]";
            /// radius of the ring
            radius: f64 = required "100.0";
            /// how many there are
            count: usize = required "64";
        }
        /// evenly spaced on a line
        "line" Line {
            /// one end of the line
            from: Vec<f64> = required "[10.0, 10.0]";
            /// its other end
            to: Vec<f64> = required "[10.0, 90.0]";
            /// how many there are
            count: usize = required "64";
        }
        /// on every edge site, inside absorbing edges
        "edges" Edges
        /// as listed
        "points" Points {
            /// the places
            points: Vec<Vec<f64>> = required "[[1.0, 1.0], [1.0, 1.1]]";
        }
    }
}

impl Table for TransducersFile {}

/// Where the word is none, which is reported.
fn edges(_: &mut Section<'_>, _: &mut Diagnostics) -> TransducersFile {
    TransducersFile::Edges
}

section! {
    /// `[mirror]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MirrorFile {
        /// `echo`: the whole field is reversed, ψ → ψ\* or dp/dt → −dp/dt. The others start with an empty field and
        /// play the record backwards: `reversal` adds it (sound: 2c dp/dt), `one-bit` adds its sign (quantum: its
        /// phase) at the largest amplitude (sound: after subtracting its straight-line fit), `inverse-filter` is exact
        method: MirrorMethod = required ("\"echo\"", MirrorMethod::Echo);
        /// when time is reversed
        at: f64 = required "40.0", "> 0";
        /// where its transducers are: `{ shape = "ring", center, radius, count }`, `{ shape = "line", from, to, count }`,
        /// `{ shape = "edges" }` (inside absorbing edges), `{ shape = "points", points }`
        transducers: Option<TransducersFile> = maybe "none", "needed by all methods but `echo`";
        /// `reversal` and `one-bit` only: how many of the transducers play, evenly chosen around the ring, along the
        /// line, or among the points in their order. All of them record, so that the way back can be repeated with
        /// another number without a new recording
        playing: Option<usize> = maybe "all", "≥ 1";
        /// how much of the record is played, from t = 0 on; the rest of the way back is silent
        record: Option<f64> = maybe "all of it", "> 0";
        /// Gaussian noise added to the record, as a fraction of its rms; for an echo, to the whole field
        noise: f64 = or [0.0], "≥ 0";
        /// layers, as in `[[layer]]`, that act only on the way back, after the scene's own; method and Δt are also checked for that medium, and an automatic Δt follows both
        perturbation: Vec<LayerFile> = tables [];
        /// normally the mirror also reverses the magnetic field; `true` keeps it, and the wave does not return
        keep_flux: bool = or [false];
        /// the seed of the noise
        seed: usize = or [1], "whole, ≥ 0";
        /// `inverse-filter` only. `hard` holds the sites at the recorded values; `soft` adds the signal given by the
        /// inverted matrix of impulse responses: what a real array would have to play (with `oscillators`, forces and
        /// displacements)
        drive: Drive = or [Drive::default()];
        /// `drive = "soft"` only: λ of (G†G + λ)⁻¹G†
        regularization: Option<f64> = maybe "0", "≥ 0";
    }
}
