//! What transducers add to Σ|ψ|²: a sum whose bits do not depend on the order of its terms, and so not on how a grid is cut.

use crate::grid::Grid;
use crate::physics::Initial;

/// Binary digits that are kept below the Σ|ψ|² of a scene's start; 46 are left above it.
const BELOW: i32 = 80;

/// A sum in fixed point: every term is rounded to whole quanta, and those are added without rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PutIn {
    /// A power of two, 2⁻⁸⁰ of the scene's Σ|ψ|² at t = 0.
    quantum: f64,
    quanta: i128,
}

impl PutIn {
    /// The sum 0. Windows of a grid have the quantum of the whole.
    pub(super) fn new(grid: &Grid, initial: &Initial) -> Self {
        let normalised = 1.0 / grid.cell_volume();
        let start = match initial {
            Initial::Array(data) => (0..data.len()).map(|n| data.at(n).norm_sqr()).sum(),
            _ => normalised,
        };
        Self::of_scale(if start.is_normal() { start } else { normalised })
    }

    /// The sum 0, for sums that are about as large as `scale`.
    fn of_scale(scale: f64) -> Self {
        let exponent = i32::try_from(scale.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023;
        Self {
            // Numbers of quanta and their product with a quantum stay in the range of f64.
            quantum: 2f64.powi(exponent.clamp(-800, 800) - BELOW),
            quanta: 0,
        }
    }

    fn to_quanta(self, value: f64) -> i128 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "saturates: such a field has left all bounds"
        )]
        let quanta = (value / self.quantum).round() as i128;
        quanta
    }

    /// Adds a term.
    pub(super) fn add(&mut self, value: f64) {
        self.quanta = self.quanta.saturating_add(self.to_quanta(value));
    }

    /// Adds another sum of the same scene.
    pub(super) fn join(&mut self, quanta: i128) {
        self.quanta = self.quanta.saturating_add(quanta);
    }

    /// The number of quanta.
    pub(super) fn quanta(&self) -> i128 {
        self.quanta
    }

    /// The sum, rounded once.
    #[expect(clippy::cast_precision_loss, reason = "rounds")]
    pub(super) fn total(&self) -> f64 {
        self.quanta as f64 * self.quantum
    }

    /// The sum as two numbers, without rounding: the total, and its remainder.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the second has what the first lacks"
    )]
    pub(super) fn numbers(&self) -> [f64; 2] {
        let rounded = self.quanta as f64;
        let rest = self.quanta.saturating_sub(rounded as i128) as f64;
        [rounded, rest].map(|quanta| quanta * self.quantum)
    }

    /// Continues from such numbers.
    pub(super) fn set(&mut self, numbers: [f64; 2]) {
        self.quanta = 0;
        for number in numbers {
            self.add(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_has_the_same_bits() {
        let terms: Vec<f64> = (0..1000).map(|n| f64::from(n).sin() * 1e3f64.powi(n % 5 - 3)).collect();
        let sum_of = |terms: &mut dyn Iterator<Item = &f64>| {
            let mut sum = PutIn::of_scale(3.7);
            terms.for_each(|term| sum.add(*term));
            sum
        };
        let forwards = sum_of(&mut terms.iter());
        assert_eq!(forwards, sum_of(&mut terms.iter().rev()));
        let (mut even, odd) = (
            sum_of(&mut terms.iter().step_by(2)),
            sum_of(&mut terms.iter().skip(1).step_by(2)),
        );
        even.join(odd.quanta());
        assert_eq!(even, forwards);
        // As exact as the sum of the terms themselves, for they are far above a quantum.
        let exact: f64 = terms.iter().sum();
        assert!((forwards.total() - exact).abs() < 1e-12, "{} {exact}", forwards.total());
    }

    #[test]
    fn numbers_of_a_checkpoint_lose_nothing() {
        for scale in [1e-30, 1.0, 1e20] {
            let mut sum = PutIn::of_scale(scale);
            for n in 1..400 {
                sum.add(scale / f64::from(n));
            }
            let mut other = PutIn::of_scale(scale);
            other.set(sum.numbers());
            assert_eq!(sum, other);
            assert!(sum.numbers()[1] != 0.0, "the total alone would do");
        }
    }

    #[test]
    fn a_field_without_bounds_does_no_harm() {
        let mut sum = PutIn::of_scale(1.0);
        sum.add(f64::INFINITY);
        sum.add(1.0);
        sum.add(f64::NAN);
        assert!(sum.total() > 1e13);
    }
}
