//! Detectors and transducers as they are written.

use super::layer::LayerFile;
use crate::physics::mirror::{Drive, MirrorMethod};
use crate::physics::{Measure, Reading};

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

/// One `[[detector]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorFile {
    /// Unique name.
    pub name: String,
    /// Where it looks.
    pub region: RegionFile,
    /// What it records; `None` = `value` at a point, `flux` through a line, `probability` or `energy` in a region.
    pub measure: Option<Measure>,
    /// It records every n-th step; `None` = 1.
    pub every: Option<usize>,
    /// What it makes of that.
    pub reading: Reading,
    /// The time constant of its average, s; `None` = all of the run.
    pub over: Option<f64>,
    /// Of a velocity: along what; empty = along x, on a line.
    pub direction: Vec<f64>,
}

/// Where the transducers of a mirror stand.
#[derive(Clone, Debug, PartialEq)]
pub enum TransducersFile {
    /// Evenly on a circle.
    Ring {
        /// Centre.
        center: Vec<f64>,
        /// Radius.
        radius: f64,
        /// How many.
        count: usize,
    },
    /// Evenly on a line.
    Line {
        /// One end.
        from: Vec<f64>,
        /// The other.
        to: Vec<f64>,
        /// How many.
        count: usize,
    },
    /// On every edge site.
    Edges,
    /// One by one.
    Points {
        /// The places.
        points: Vec<Vec<f64>>,
    },
}

/// `[mirror]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorFile {
    /// How it works.
    pub method: MirrorMethod,
    /// When time turns.
    pub at: f64,
    /// Where its transducers stand.
    pub transducers: Option<TransducersFile>,
    /// How many transducers of a plain or one-bit mirror play; `None` = all.
    pub playing: Option<usize>,
    /// How much of the record is played, from t = 0 on; `None` = all.
    pub record: Option<f64>,
    /// Fraction of the rms that is added as noise.
    pub noise: f64,
    /// Layers on the way back only.
    pub perturbation: Vec<LayerFile>,
    /// Whether the magnetic field keeps its direction on the way back.
    pub keep_flux: bool,
    /// Seed of the noise.
    pub seed: usize,
    /// How an inverse filter drives the field.
    pub drive: Drive,
    /// Regularisation of the soft inverse filter.
    pub regularization: Option<f64>,
}
