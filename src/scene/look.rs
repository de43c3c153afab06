//! How a scene of two or three dimensions is shown: the words and numbers of `[view]` for it.

use crate::colormap::Kind;
use crate::physics::Equation;
use crate::words::worded;

worded! {
    /// How brightness depends on a value that is not negative.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Brightness {
        /// In proportion to it.
        #[default]
        Linear = "linear",
        /// As its square root: faint waves are visible next to strong ones.
        Root = "root",
    }
}

impl Brightness {
    /// The exponent of the value.
    #[must_use]
    pub fn exponent(self) -> f32 {
        match self {
            Self::Linear => 1.0,
            Self::Root => 0.5,
        }
    }
}

worded! {
    /// The flow that is drawn over a plane: the probability current of ψ, the mean intensity of sound.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Flow {
        /// Nothing.
        #[default]
        None = "none",
        /// Arrows, whose length grows with the flow.
        Arrows = "arrows",
        /// Lines along it.
        Streamlines = "streamlines",
    }
}

worded! {
    /// What a picture shows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    pub enum Quantity {
        /// |ψ|².
        Density = "density",
        /// Phase as hue, |ψ| as brightness.
        Phase = "phase",
        /// Re ψ.
        Real = "real",
        /// Im ψ.
        Imaginary = "imaginary",
        /// p.
        Pressure = "pressure",
        /// Energy density.
        Energy = "energy",
        /// The largest |ψ|² or |p| seen so far.
        Peak = "peak",
        /// |ψ(k)|².
        Momentum = "momentum",
        /// √⟨p²⟩.
        Rms = "rms",
        /// 20 lg(√⟨p²⟩/20 µPa), dB; at least 0.
        Level = "level",
        /// |v| of the medium.
        Velocity = "velocity",
        /// |⟨p v⟩|.
        Intensity = "intensity",
    }
}

impl Quantity {
    /// Whether it exists for a field of this equation.
    #[must_use]
    pub fn fits(self, equation: Equation) -> bool {
        match self {
            Self::Density | Self::Phase | Self::Real | Self::Imaginary | Self::Momentum => {
                equation == Equation::Schrodinger
            }
            Self::Pressure | Self::Rms | Self::Level | Self::Velocity | Self::Intensity => {
                equation == Equation::Acoustic
            }
            Self::Energy | Self::Peak => true,
        }
    }

    /// Whether it is updated with every step: means over time, and the velocity of the medium.
    #[must_use]
    pub fn is_beside_steps(self) -> bool {
        matches!(self, Self::Rms | Self::Level | Self::Velocity | Self::Intensity)
    }

    /// What a graph shows for it: |ψ|² if a picture shows |ψ| and phase.
    #[must_use]
    pub fn graphed(self) -> Self {
        if self == Self::Phase { Self::Density } else { self }
    }

    /// The kind of colour map that shows it.
    #[must_use]
    pub fn map_kind(self) -> Kind {
        match self {
            Self::Phase => Kind::Cyclic,
            Self::Real | Self::Imaginary | Self::Pressure => Kind::Diverging,
            Self::Density
            | Self::Energy
            | Self::Peak
            | Self::Momentum
            | Self::Rms
            | Self::Level
            | Self::Velocity
            | Self::Intensity => Kind::Sequential,
        }
    }

    /// The kind of map that `auto` takes: for an energy of ψ, which deep potentials make negative, a diverging one.
    #[must_use]
    pub fn auto_kind(self, equation: Equation) -> Kind {
        match (self, equation) {
            (Self::Energy, Equation::Schrodinger) => Kind::Diverging,
            _ => self.map_kind(),
        }
    }
}

worded! {
    /// How a scene is shown.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    pub enum ViewMode {
        /// In colours: a scene of two dimensions, or one plane of constant z.
        #[default]
        Plane = "plane",
        /// Two dimensions with the value as height.
        Relief = "relief",
        /// Three planes that cross in the box.
        Slices = "slices",
        /// The whole volume, seen through.
        Volume = "volume",
    }
}

impl ViewMode {
    /// The number of dimensions that it is for; `None` = any.
    #[must_use]
    pub fn rank(self) -> Option<usize> {
        match self {
            Self::Plane => None,
            Self::Relief => Some(2),
            Self::Slices | Self::Volume => Some(3),
        }
    }

    /// Whether scenes with this number of dimensions can be shown in this way.
    #[must_use]
    pub fn fits(self, rank: usize) -> bool {
        self.rank().is_none_or(|wanted| wanted == rank)
    }

    /// What it needs, for messages, e.g. `a scene of three dimensions`.
    #[must_use]
    pub fn needs(self) -> &'static str {
        match self.rank() {
            Some(2) => "a scene of two dimensions",
            Some(_) => "a scene of three dimensions",
            None => "any scene",
        }
    }
}

/// One of the plots under the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Plot {
    /// Values along a row or column of the picture.
    Cut,
    /// Mean x, y, z.
    Position,
    /// σx, σy, σz.
    Spread,
    /// Norm over its first value, minus 1.
    Norm,
    /// Mean of H.
    Energy,
    /// Mean momentum.
    Momentum,
    /// Δx·Δp.
    Uncertainty,
    /// Mean angular momentum.
    AngularMomentum,
    /// Overlap with the start.
    Overlap,
    /// Sites that the state covers.
    Participation,
    /// The purity of the state of one of two particles.
    Purity,
    /// |ψ|² summed along each axis.
    Marginals,
    /// The detectors.
    Detectors,
    /// The detectors' power by frequency.
    Spectrum,
    /// How good the focus of a mirror is.
    Fidelity,
    /// What its transducers hear and play.
    Signals,
    /// The focus before and after.
    Focus,
    /// The line cut over time.
    Carpet,
    /// How far two runs are apart.
    Difference,
    /// The focus of each way back, over transducers and record.
    Gain,
}

impl Plot {
    /// The plots that a scene file may name, with their words.
    pub const WORDS: [(&'static str, Self); 18] = [
        ("cut", Self::Cut),
        ("carpet", Self::Carpet),
        ("position", Self::Position),
        ("spread", Self::Spread),
        ("norm", Self::Norm),
        ("energy", Self::Energy),
        ("momentum", Self::Momentum),
        ("uncertainty", Self::Uncertainty),
        ("angular-momentum", Self::AngularMomentum),
        ("overlap", Self::Overlap),
        ("participation", Self::Participation),
        ("purity", Self::Purity),
        ("marginals", Self::Marginals),
        ("detectors", Self::Detectors),
        ("spectrum", Self::Spectrum),
        ("fidelity", Self::Fidelity),
        ("signals", Self::Signals),
        ("focus", Self::Focus),
    ];

    /// The word in a scene file; `None` if no file names it.
    #[must_use]
    pub fn word(self) -> Option<&'static str> {
        let known = Self::WORDS.iter().find(|(_, plot)| *plot == self);
        known.map(|(word, _)| *word)
    }
}

/// From where a box is looked at.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Orbit {
    /// Degrees about the z axis; 0 looks along y, with x to the right.
    pub azimuth: f64,
    /// Degrees above the plane of x and y; 90 looks down the z axis.
    pub elevation: f64,
    /// 1 shows the whole box.
    pub zoom: f64,
    /// The target, as coordinates; `None` = the middle of the grid.
    pub target: Option<[f64; 3]>,
}

impl Orbit {
    /// The smallest elevation of a relief: below it, the front hides the rest.
    pub const LOWEST_OVER_RELIEF: f64 = 5.0;
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

/// The opacity of a value in a volume, against its size as a fraction of the colour range.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Opacity {
    /// In proportion to the size.
    #[default]
    Soft,
    /// Weak waves are visible next to strong ones.
    Faint,
    /// Only the strong parts, nearly opaque.
    Solid,
    /// Two thin shells of equal size.
    Shells,
    /// Straight lines through points: fraction of the range and opacity, both 0…1, fractions rising.
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
    pub fn as_str(&self) -> Option<&'static str> {
        Self::ALL
            .iter()
            .find(|(_, preset)| preset == self)
            .map(|(word, _)| *word)
    }

    /// The points of the curve.
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
