//! Sums over a region of a quantum field, and the values of detectors and observables from them.

use super::row_numbers::NUMBERS;
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

/// Threads of `measure_total` (`kernels/trotter_sweeps.cu`).
const STRIDE: usize = 256;

/// Adds `count` numbers in the order in which a device does: thread n of 256 adds the numbers n, n + 256, …, and then half of the threads add what the other half has, until one is
/// left.
pub(super) fn in_strides(count: usize, number: impl Fn(usize) -> f64, add: impl Fn(f64, f64) -> f64) -> f64 {
    let mut part = [0.0; STRIDE];
    for n in 0..count {
        part[n % STRIDE] = add(part[n % STRIDE], number(n));
    }
    let mut half = STRIDE / 2;
    while half > 0 {
        let (low, high) = part.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low = add(*low, *high);
        }
        half /= 2;
    }
    part[0]
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
    /// The sum over rows, each with its number j + ny·k, added in their order.
    pub(super) fn of_rows(ny: usize, rows: &[(usize, Self)]) -> Self {
        let mut totals = Self::default();
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        for (row, part) in rows {
            totals.norm += part.norm;
            totals.energy += part.energy;
            totals.current += part.current;
            if part.peak > totals.peak {
                totals.peak = part.peak;
            }
            totals.first[0] += part.first[0];
            totals.second[0] += part.second[0];
            for (axis, at) in [(1, row % ny), (2, row / ny)] {
                totals.first[axis] += at as f64 * part.norm;
                totals.second[axis] += (at * at) as f64 * part.norm;
            }
        }
        totals
    }

    /// The same, added as a device adds them ([`in_strides`]).
    pub(super) fn of_rows_in_strides(ny: usize, rows: &[(usize, Self)]) -> Self {
        let sum = |number: &dyn Fn(usize, &Self) -> f64| {
            let at = |n: usize| number(rows[n].0, &rows[n].1);
            in_strides(rows.len(), at, |sum, next| sum + next)
        };
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let place = |axis: usize, row: usize| (if axis == 1 { row % ny } else { row / ny }) as f64;
        let moment = |axis: usize| sum(&|row, part: &Self| place(axis, row) * part.norm);
        let second = |axis: usize| sum(&|row, part: &Self| place(axis, row) * place(axis, row) * part.norm);
        Self {
            norm: sum(&|_, part| part.norm),
            energy: sum(&|_, part| part.energy),
            first: [sum(&|_, part| part.first[0]), moment(1), moment(2)],
            second: [sum(&|_, part| part.second[0]), second(1), second(2)],
            peak: rows.iter().fold(0.0, |peak, (_, part)| f64::max(peak, part.peak)),
            current: sum(&|_, part| part.current),
        }
    }

    /// Stands for sums that could not be taken.
    pub(super) fn none() -> Self {
        Self {
            norm: f64::NAN,
            energy: f64::NAN,
            ..Self::default()
        }
    }

    /// The number of a row from which a measure is made.
    pub(super) fn of_measure(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Flux => self.current,
            Measure::Energy => self.energy,
            Measure::Peak => self.peak,
            Measure::Value | Measure::Probability | Measure::Pressure | Measure::Velocity => self.norm,
        }
    }

    /// Those of a row as plain numbers.
    pub(super) fn to_numbers(self) -> [f64; NUMBERS] {
        let [x, ..] = self.first;
        let [xx, ..] = self.second;
        [self.norm, self.energy, x, xx, self.peak, self.current, 0.0, 0.0]
    }

    /// The inverse of [`Totals::to_numbers`].
    pub(super) fn from_numbers(numbers: &[f64; NUMBERS]) -> Self {
        let [norm, energy, x, xx, peak, current, ..] = *numbers;
        Self {
            norm,
            energy,
            first: [x, 0.0, 0.0],
            second: [xx, 0.0, 0.0],
            peak,
            current,
        }
    }

    /// A detector's value from sums over its sites.
    pub(super) fn value(&self, grid: &Grid, tap: &Tap) -> f64 {
        match tap.measure {
            Measure::Peak => self.peak,
            Measure::Value | Measure::Velocity => self.norm.sqrt(),
            Measure::Flux => self.current * grid.cell_volume(),
            Measure::Energy => self.energy * tap.weight,
            Measure::Probability | Measure::Pressure => self.norm * tap.weight,
        }
    }

    /// As observables, lengths in the scene's unit.
    pub(super) fn observables(&self, grid: &Grid) -> Observables {
        let a = grid.spacing();
        // An empty field has no position: 0, and not 0/0, which would read as a field that is no longer finite.
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
