//! Observables of sound from sums over rows, the same for every method and back end.

use crate::field::Real;
use crate::grid::Grid;
use crate::physics::Observables;
use crate::solver::row_numbers::NUMBERS;

/// Sums over one row.
pub(in crate::solver) struct Sums {
    square: f64,
    /// Σ p² i and Σ p² i².
    moments: [f64; 2],
    energy: f64,
    invariant: f64,
    peak: f64,
}

impl Sums {
    /// As plain numbers.
    fn to_numbers(&self) -> [f64; NUMBERS] {
        let [x, xx] = self.moments;
        [self.square, x, xx, self.energy, self.invariant, self.peak, 0.0, 0.0]
    }

    /// The inverse of [`Sums::to_numbers`].
    fn from_numbers(numbers: &[f64; NUMBERS]) -> Self {
        let [square, x, xx, energy, invariant, peak, ..] = *numbers;
        Self {
            square,
            moments: [x, xx],
            energy,
            invariant,
            peak,
        }
    }

    /// Sums over a row whose energy per a^d is known, and that which the scheme conserves.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub(in crate::solver) fn of_row<T: Real>(row: &[T], [energy, invariant]: [f64; 2]) -> Self {
        let mut sums = Self {
            square: 0.0,
            moments: [0.0; 2],
            energy,
            invariant,
            peak: 0.0,
        };
        for (i, p) in row.iter().enumerate() {
            let (p, x) = (p.wide(), i as f64);
            let square = p * p;
            sums.square += square;
            sums.moments[0] += square * x;
            sums.moments[1] += square * x * x;
            sums.peak = sums.peak.max(p.abs());
        }
        sums
    }
}

/// Sums of rows as plain numbers.
pub(in crate::solver) fn numbers(rows: &[Sums]) -> Vec<[f64; NUMBERS]> {
    rows.iter().map(Sums::to_numbers).collect()
}

/// Observables from such numbers of every row.
pub(in crate::solver) fn total_of_numbers(rows: &[[f64; NUMBERS]], grid: &Grid) -> Observables {
    let rows: Vec<Sums> = rows.iter().map(Sums::from_numbers).collect();
    total(&rows, grid)
}

/// Observables from the sums of every row, x fastest.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
pub(in crate::solver) fn total(rows: &[Sums], grid: &Grid) -> Observables {
    let [_, ny, _] = grid.size();
    let mut all = Observables::default();
    let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
    for (n, row) in rows.iter().enumerate() {
        let (y, z) = ((n % ny) as f64, (n / ny) as f64);
        all.norm += row.square;
        all.energy += row.energy;
        all.invariant += row.invariant;
        all.peak = all.peak.max(row.peak);
        first[0] += row.moments[0];
        second[0] += row.moments[1];
        for (axis, at) in [(1, y), (2, z)] {
            first[axis] += row.square * at;
            second[axis] += row.square * at * at;
        }
    }
    finished(all, first, second, grid)
}

/// Observables from sums over sites: `all` holds Σp² and energy per a^d, `first` and `second` the moments Σp²n and Σp²n² of the site numbers.
pub(in crate::solver) fn finished(mut all: Observables, first: [f64; 3], second: [f64; 3], grid: &Grid) -> Observables {
    let a = grid.spacing();
    for axis in 0..grid.rank() {
        // A field of zeros has no position: 0, and not 0/0, which would read as a field that is no longer finite.
        let mean = if all.norm == 0.0 { 0.0 } else { first[axis] / all.norm };
        let square = if all.norm == 0.0 { 0.0 } else { second[axis] / all.norm };
        all.position[axis] = mean * a;
        all.spread[axis] = (square - mean * mean).max(0.0).sqrt() * a;
    }
    all.norm *= grid.cell_volume();
    all.energy *= grid.cell_volume();
    all.invariant *= grid.cell_volume();
    if !all.norm.is_finite() {
        all.peak = f64::NAN;
    }
    all
}

/// A value of a picture.
#[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
pub(in crate::solver) fn single(value: f64) -> f32 {
    value as f32
}
