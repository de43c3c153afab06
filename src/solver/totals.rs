//! Sums over a region of a quantum field, and what detectors and observables make of them.

use super::taps::Tap;
use crate::grid::Grid;
use crate::physics::{Measure, Observables};

/// Sites lo ≤ site < hi, and what is wanted of them beside norm and moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Region {
    pub lo: [usize; 3],
    pub hi: [usize; 3],
    /// Current along this axis.
    pub across: Option<usize>,
    pub energy: bool,
}

/// Sums over a region, site numbers for positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    /// Σ|ψ|².
    pub norm: f64,
    /// Σ Re ψ*(Hψ), bonds that leave the region counted half.
    pub energy: f64,
    /// Σ x|ψ|², …
    pub first: [f64; 3],
    /// Σ x²|ψ|², …
    pub second: [f64; 3],
    /// Largest |ψ|².
    pub peak: f64,
    /// Σ 2J Im(ψₐ* e^{−iϕ} ψ_b) over the bonds upwards along `across`.
    pub current: f64,
}

impl Region {
    /// What a tap asks of sums over its sites.
    pub(super) fn of(tap: &Tap) -> Self {
        let first_only = tap.measure == Measure::Value && tap.hi[0] > tap.lo[0];
        Self {
            lo: tap.lo,
            hi: if first_only { tap.lo.map(|at| at + 1) } else { tap.hi },
            across: (tap.measure == Measure::Flux).then_some(tap.across),
            energy: tap.measure == Measure::Energy,
        }
    }
}

impl Totals {
    /// A detector's value from sums over its sites.
    pub(super) fn value(&self, grid: &Grid, tap: &Tap) -> f64 {
        match tap.measure {
            Measure::Peak => self.peak,
            Measure::Value => self.norm.sqrt(),
            Measure::Flux => self.current * grid.cell_volume(),
            Measure::Energy => self.energy * tap.weight,
            Measure::Probability | Measure::Pressure => self.norm * tap.weight,
        }
    }

    /// As observables, lengths in the scene's unit.
    pub(super) fn observables(&self, grid: &Grid) -> Observables {
        let a = grid.spacing();
        // An empty field stands nowhere: 0, and not 0/0, which would read as a field that is no longer finite.
        let by = if self.norm == 0.0 { 1.0 } else { self.norm };
        let mean = self.first.map(|sum| sum / by);
        let spread = [0, 1, 2].map(|n| (self.second[n] / by - mean[n] * mean[n]).max(0.0).sqrt() * a);
        Observables {
            norm: self.norm * grid.cell_volume(),
            energy: self.energy / by,
            position: mean.map(|m| m * a),
            spread,
            peak: if self.norm.is_nan() { f64::NAN } else { self.peak },
            invariant: 0.0,
        }
    }
}
