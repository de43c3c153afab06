//! How a scene of three dimensions is looked at: the words and numbers of `[view]` for it.

/// How a scene of three dimensions is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViewMode {
    /// One plane of constant z.
    #[default]
    Plane,
    /// Three planes that cross in the box.
    Slices,
    /// The whole volume, seen through.
    Volume,
}

impl ViewMode {
    /// Every mode with its word in a scene file.
    pub const ALL: [(&'static str, Self); 3] = [
        ("plane", Self::Plane),
        ("slices", Self::Slices),
        ("volume", Self::Volume),
    ];

    /// The word in a scene file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Plane => "plane",
            Self::Slices => "slices",
            Self::Volume => "volume",
        }
    }
}

/// From where a box is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Degrees round the z axis; 0 looks along y, with x to the right.
    pub azimuth: f64,
    /// Degrees above the plane of x and y; 90 looks down the z axis.
    pub elevation: f64,
    /// 1 shows the whole box.
    pub zoom: f64,
    /// What is looked at, as lengths; `None` = the middle of the grid.
    pub target: Option<[f64; 3]>,
}

impl Default for Orbit {
    fn default() -> Self {
        Self {
            azimuth: 30.0,
            elevation: 25.0,
            zoom: 1.0,
            target: None,
        }
    }
}

/// How opaque a value is in a volume, against its size as a part of the colour range.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Opacity {
    /// In proportion to the size.
    #[default]
    Soft,
    /// Weak waves show beside strong ones.
    Faint,
    /// Only the strong parts, nearly opaque.
    Solid,
    /// Two thin shells of equal size.
    Shells,
    /// Straight lines through points: part of the range and opacity, both 0…1, parts rising.
    Points(Vec<[f64; 2]>),
}

impl Opacity {
    /// Every preset with its word in a scene file.
    pub const ALL: [(&'static str, Self); 4] = [
        ("soft", Self::Soft),
        ("faint", Self::Faint),
        ("solid", Self::Solid),
        ("shells", Self::Shells),
    ];

    /// Most points of a curve by hand.
    pub const MOST_POINTS: usize = 8;

    /// The word of a preset; `None` for points.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        Self::ALL
            .iter()
            .find(|(_, preset)| preset == self)
            .map(|(word, _)| *word)
    }

    /// The points of the curve.
    #[must_use]
    pub fn points(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Soft => vec![[0.0, 0.0], [0.04, 0.0], [1.0, 0.6]],
            Self::Faint => vec![[0.0, 0.0], [0.015, 0.0], [0.15, 0.2], [1.0, 0.6]],
            Self::Solid => vec![[0.0, 0.0], [0.2, 0.0], [0.35, 0.7], [1.0, 0.98]],
            Self::Shells => vec![
                [0.0, 0.0],
                [0.2, 0.0],
                [0.24, 0.45],
                [0.28, 0.0],
                [0.62, 0.0],
                [0.68, 0.9],
                [0.74, 0.0],
                [1.0, 0.0],
            ],
            Self::Points(points) => points.clone(),
        }
    }
}
