//! Detectors: what is recorded every step.

use super::Equation;

/// What a detector records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Quantum: |ψ| at a point. Acoustic: pressure at a point.
    Value,
    /// Quantum: Σ|ψ|² a^d over a region.
    Probability,
    /// Quantum: probability current through a line. Acoustic: intensity p·v, summed over the line: W in 3D, W/m in 2D, W/m² in 1D.
    Flux,
    /// Acoustic: ∫ p²/2ρc² + ρv²/2 over a region: J in 3D, J/m in 2D, J/m² in 1D.
    Energy,
    /// Acoustic: pressure, averaged over a region.
    Pressure,
    /// The largest |ψ|² or |p| seen so far in the region.
    Peak,
}

impl Measure {
    /// Every measure with its word in a scene file.
    pub const ALL: [(&'static str, Self); 6] = [
        ("value", Self::Value),
        ("probability", Self::Probability),
        ("flux", Self::Flux),
        ("energy", Self::Energy),
        ("pressure", Self::Pressure),
        ("peak", Self::Peak),
    ];

    /// The unit of what a detector of sound records on a grid of `rank` axes; those of ψ have none.
    #[must_use]
    pub fn unit(self, equation: Equation, rank: usize) -> &'static str {
        let of_rank = |units: [&'static str; 3]| units[rank.clamp(1, 3) - 1];
        match (equation, self) {
            (Equation::Schrodinger, _) => "",
            (Equation::Acoustic, Self::Value | Self::Pressure | Self::Peak) => "Pa",
            (Equation::Acoustic, Self::Energy) => of_rank(["J/m²", "J/m", "J"]),
            (Equation::Acoustic, Self::Flux) => of_rank(["W/m²", "W/m", "W"]),
            (Equation::Acoustic, Self::Probability) => of_rank(["Pa² m", "Pa² m²", "Pa² m³"]),
        }
    }

    /// The word in a scene file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        super::word_in(&Self::ALL, self)
    }
}

/// Where a detector looks; lengths.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// The nearest site.
    Point([f64; 3]),
    /// From one point to another; in 1D and for flux it stands across the axis that it does not run along.
    Line {
        /// One end.
        from: [f64; 3],
        /// The other end.
        to: [f64; 3],
    },
    /// min ≤ r ≤ max.
    Box {
        /// Lower corner.
        min: [f64; 3],
        /// Upper corner.
        max: [f64; 3],
    },
    /// The whole grid.
    Everywhere,
}

/// One detector of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    /// Its name, unique in the scene.
    pub name: String,
    /// Where it looks.
    pub region: Region,
    /// What it records.
    pub measure: Measure,
    /// It records at steps whose number is a multiple of this; 1 or more.
    pub every: u64,
}
