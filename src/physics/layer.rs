//! Layers: shapes that set a quantity of the medium.

use super::{Equation, Expression};
use crate::words::worded;
use std::path::PathBuf;
use std::sync::Arc;

worded! {
    /// The quantity that a layer sets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Sets {
        /// U of a quantum scene.
        Potential = "potential",
        /// Sound speed, m/s.
        Speed = "speed",
        /// Density, kg/m³.
        Density = "density",
        /// Sites that the wave cannot enter: their bonds are left out.
        Wall = "wall",
        /// Quantum: W of E − iW. Acoustic: damping rate.
        Absorption = "absorption",
        /// Z/ρc of the rigid faces of walls and edges, which then absorb energy (see `solver::acoustic::impedance`).
        Impedance = "impedance",
        /// Attenuation of sound in the medium at the frequency of `acoustic.attenuation`, dB/m.
        Attenuation = "attenuation",
        /// The factor of the hopping J of bonds (see [`super::bonds`]).
        Hopping = "hopping",
        /// Magnetic flux through plaquettes of the x–y plane, in flux quanta.
        Flux = "flux",
        /// g of g|ψ|².
        Interaction = "interaction",
    }
}

impl Sets {
    /// Whether a scene of this equation has such a quantity.
    #[must_use]
    pub fn fits(self, equation: Equation) -> bool {
        match self {
            Self::Potential | Self::Hopping | Self::Flux | Self::Interaction => equation == Equation::Schrodinger,
            Self::Speed | Self::Density | Self::Impedance | Self::Attenuation => equation == Equation::Acoustic,
            Self::Wall | Self::Absorption => true,
        }
    }

    /// The unit of its values in a scene of this equation; those of ψ have none.
    #[must_use]
    pub fn unit(self, equation: Equation) -> &'static str {
        match self {
            Self::Speed => "m/s",
            Self::Density => "kg/m³",
            Self::Attenuation => "dB/m",
            Self::Absorption if equation == Equation::Acoustic => "1/s",
            Self::Absorption
            | Self::Impedance
            | Self::Potential
            | Self::Hopping
            | Self::Flux
            | Self::Interaction
            | Self::Wall => "",
        }
    }
}

worded! {
    /// How a layer combines with the layers before it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Mode {
        /// Replaces it.
        Set = "set",
        /// Adds to it.
        Add = "add",
    }
}

/// The value of a layer at its sites.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The same everywhere.
    Number(f64),
    /// A formula of x, y, z and r (distance from the shape's centre; from the grid's centre if it has none).
    Expression(Expression),
}

/// An array or picture read from a file, sampled at sites: x fastest, sizes as the grid's; a picture is stretched over
/// the grid and its grey level runs 0 to 1 (black to white), row 0 of the picture at the largest y.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Sites along x, y, z.
    pub size: [usize; 3],
    /// One value per site, x fastest.
    pub values: Vec<f64>,
    /// The file, as the scene names it.
    pub file: PathBuf,
}

/// Where a layer applies. Coordinates are lengths; unused axes are ignored.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Every site.
    Everywhere,
    /// min ≤ r ≤ max on every axis.
    Box {
        /// Lower corner.
        min: [f64; 3],
        /// Upper corner.
        max: [f64; 3],
    },
    /// Distance from the centre ≤ radius.
    Disk {
        /// The centre.
        center: [f64; 3],
        /// The radius.
        radius: f64,
    },
    /// inner ≤ distance ≤ outer.
    Ring {
        /// The centre.
        center: [f64; 3],
        /// Inner radius.
        inner: f64,
        /// Outer radius.
        outer: f64,
    },
    /// Inside a polygon in the x–y plane (even–odd rule) or on its border.
    Polygon {
        /// Its corners, in order.
        points: Vec<[f64; 2]>,
    },
    /// Within `radius` of a line through points in the x–y plane, as drawn by a brush. One point is a dot.
    Stroke {
        /// The line's points, in order; at least one.
        points: Vec<[f64; 2]>,
        /// Half its width.
        radius: f64,
    },
    /// A screen across x with openings: x within `thickness` around `x`, except where y is within half an `opening` of
    /// a slit's centre.
    Slits {
        /// Position of the screen's middle along x.
        x: f64,
        /// Its thickness along x.
        thickness: f64,
        /// Centres of the slits along y.
        centers: Vec<f64>,
        /// Width of a slit along y.
        opening: f64,
    },
    /// A picture's grey levels: the layer applies where the level is not 0, and multiplies the value by it.
    Image(Arc<Samples>),
    /// An array's values: the layer applies everywhere and multiplies the value (1 where none is given) by them.
    Array(Arc<Samples>),
}

/// An impedance that depends on the frequency: 1/ξ = 1/ξ_high + (1/ξ_low − 1/ξ_high)/(1 + if/corner), ξ_low the layer's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WallPole {
    /// ξ far above the corner.
    pub high: f64,
    /// The frequency between the two, Hz.
    pub corner: f64,
}

/// One layer of the medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The quantity.
    pub sets: Sets,
    /// The axis whose bonds it sets; `None` = all. Hopping only.
    pub axis: Option<usize>,
    /// Where.
    pub shape: Shape,
    /// The value.
    pub value: Value,
    /// How it combines with the layers before.
    pub mode: Mode,
    /// The value is multiplied by this function of t.
    pub drive: Option<Expression>,
    /// How an impedance depends on the frequency; `None` = it does not.
    pub pole: Option<WallPole>,
}

impl Layer {
    /// A layer that replaces earlier values, for all axes, constant in time.
    pub fn new(sets: Sets, shape: Shape, value: Value) -> Self {
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
