//! Detects unstable runs: the energy of a field that nothing drives must not grow.

use crate::physics::Observables;

/// Energy and largest pressure of an undriven field, over what they were, beyond which a run is unstable. Energy alone may be that of rounding, where the
/// field was nearly at rest; pressure alone grows where waves meet.
const MOST_ENERGY: f64 = 2.0;
const MOST_PEAK: f64 = 1.5;
/// The same over what they were when the energy was least, as long as more than this part of the first energy is there: below may be what rounding leaves.
const MOST_ENERGY_AGAIN: f64 = 10.0;
const MOST_PEAK_AGAIN: f64 = 3.0;
const LEAST_ENERGY: f64 = 1e-4;

/// Observables of a field that nothing drives: its energy may not grow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undriven {
    /// The first ones after the last edit.
    first: Observables,
    /// Those of the least energy since.
    least: Observables,
}

impl Undriven {
    pub(super) fn new(now: Observables) -> Self {
        Self { first: now, least: now }
    }

    /// By how much the energy has grown, if by more than an unfed field's can.
    pub(super) fn growth(&self, now: &Observables) -> Option<f64> {
        let beyond = |of: &Observables, energy: f64, peak: f64| {
            now.invariant > energy * of.invariant && now.peak > peak * of.peak
        };
        if beyond(&self.first, MOST_ENERGY, MOST_PEAK) {
            return Some(now.invariant / self.first.invariant);
        }
        let counts = now.invariant > LEAST_ENERGY * self.first.invariant;
        let again = counts && beyond(&self.least, MOST_ENERGY_AGAIN, MOST_PEAK_AGAIN);
        again.then(|| now.invariant / self.least.invariant)
    }

    /// Takes the next observables.
    pub(super) fn with(self, now: Observables) -> Self {
        let least = if now.invariant < self.least.invariant {
            now
        } else {
            self.least
        };
        Self { least, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that had nearly left and grows again stops, too; the remainder of rounding does not.
    #[test]
    fn growing_again_is_growth() {
        let at = |energy: f64, peak: f64| Observables {
            invariant: energy,
            peak,
            ..Observables::default()
        };
        let since = Undriven::new(at(1.0, 1.0)).with(at(1e-3, 0.02)).with(at(2e-3, 0.03));
        assert_eq!(since.growth(&at(5e-3, 0.03)), None);
        assert_eq!(since.growth(&at(0.02, 0.03)), None);
        assert_eq!(since.growth(&at(0.02, 0.07)), Some(20.0));
        let gone = since.with(at(1e-9, 1e-5));
        assert_eq!(gone.growth(&at(9e-5, 1e-2)), None);
        assert_eq!(since.growth(&at(3.0, 2.0)), Some(3.0));
    }
}
