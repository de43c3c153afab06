//! Layers as they are written.

use crate::physics::{Mode, Sets, WallPole};
use crate::scene::theory_file::ValueFile;
use std::path::PathBuf;

/// A layer's shape with its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ShapeFile {
    /// `everywhere`.
    #[default]
    Everywhere,
    /// `box`.
    Box {
        /// Lower corner.
        min: Vec<f64>,
        /// Upper corner.
        max: Vec<f64>,
    },
    /// `disk`.
    Disk {
        /// Centre.
        center: Vec<f64>,
        /// Radius.
        radius: f64,
    },
    /// `ring`.
    Ring {
        /// Centre.
        center: Vec<f64>,
        /// Inner radius.
        inner: f64,
        /// Outer radius.
        outer: f64,
    },
    /// `polygon`.
    Polygon {
        /// Corners in order.
        points: Vec<[f64; 2]>,
    },
    /// `stroke`.
    Stroke {
        /// Points of the line.
        points: Vec<[f64; 2]>,
        /// Half its width.
        radius: f64,
    },
    /// `slits`.
    Slits {
        /// Middle of the screen along x.
        x: f64,
        /// Its thickness.
        thickness: f64,
        /// Centres of the openings along y.
        centers: Vec<f64>,
        /// Width of an opening.
        opening: f64,
    },
    /// `image`.
    Image {
        /// A PNG file, relative to the scene file.
        file: PathBuf,
    },
    /// `array`.
    Array {
        /// An NPY file, relative to the scene file.
        file: PathBuf,
    },
}

impl ShapeFile {
    /// The word in a scene file.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Box { .. } => "box",
            Self::Disk { .. } => "disk",
            Self::Ring { .. } => "ring",
            Self::Polygon { .. } => "polygon",
            Self::Stroke { .. } => "stroke",
            Self::Slits { .. } => "slits",
            Self::Image { .. } => "image",
            Self::Array { .. } => "array",
        }
    }
}

/// One `[[layer]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerFile {
    /// The quantity.
    pub sets: Sets,
    /// The axis whose bonds a layer of hopping sets, 0 to 2; `None` = all.
    pub axis: Option<usize>,
    /// Where.
    pub shape: ShapeFile,
    /// The value; `None` = 1 (allowed for walls, images and arrays).
    pub value: Option<ValueFile>,
    /// How it combines with the layers before.
    pub mode: Mode,
    /// A formula of t that the value is multiplied by.
    pub drive: Option<String>,
    /// `high` and `corner` of an impedance.
    pub pole: Option<WallPole>,
}

impl LayerFile {
    /// Axes with their words.
    pub const AXES: [(&'static str, usize); 3] = [("x", 0), ("y", 1), ("z", 2)];

    /// A layer that sets a value and is not driven.
    #[must_use]
    pub fn new(sets: Sets, shape: ShapeFile, value: Option<ValueFile>) -> Self {
        Self {
            sets,
            axis: None,
            shape,
            value,
            mode: Mode::Set,
            drive: None,
            pole: None,
        }
    }
}
