//! Detectors: what is recorded every step.

/// What a detector records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Quantum: |ψ| at a point. Acoustic: pressure at a point.
    Value,
    /// Quantum: Σ|ψ|² a^d over a region.
    Probability,
    /// Quantum: probability current through a line. Acoustic: energy flux.
    Flux,
    /// Energy in a region.
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

    /// The word in a scene file.
    #[must_use]
    pub fn word(self) -> &'static str {
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
}
