//! What is asked of a run: records, observables, pictures.

use super::energy::Levels;
use super::run::Fdtd;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::{FieldData, Real};
use crate::grid::Grid;
use crate::physics::Observables;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::medium::allocate;
use crate::solver::totals::NUMBERS;
use crate::solver::{FieldImage, ImageRequest, SolverError};
use rayon::prelude::*;

impl<T: Vectors> Fdtd<T> {
    /// Starts to keep the largest |p| of every site.
    pub(super) fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_empty() {
            self.peak = allocate(self.now.len(), "the largest pressures")?;
            for (peak, value) in self.peak.iter_mut().zip(self.now.iter()) {
                *peak = value.abs();
            }
        }
        Ok(())
    }

    /// See [`crate::solver::Solver::image`].
    pub(super) fn draw(&mut self, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        match request.quantity {
            Quantity::Peak => self.watch_peak()?,
            Quantity::Energy => self.watch_potential()?,
            quantity => self.watch_means(quantity)?,
        }
        if request.quantity.is_beside_steps() {
            self.draw_motion(request, image);
            return Ok(());
        }
        let lattice = &self.sweep.lattice;
        let levels = self.sound().unwrap_or_else(|| self.levels());
        let copy = |all: &[T], j: usize, out: &mut [f32]| {
            let first = lattice.index([request.x.start, j, request.z]);
            for (out, value) in out.iter_mut().zip(&all[first..]) {
                *out = single(value.wide());
            }
        };
        match request.quantity {
            Quantity::Peak => threads::run(|| image.fill_real(request, |j, out| copy(&self.peak, j, out))),
            Quantity::Energy => threads::run(|| {
                image.fill_real(request, |j, out| {
                    let mut energies = vec![0.0; lattice.size[0]];
                    self.sweep
                        .energy_row(&levels, [j, request.z], 0..lattice.size[0], &mut energies);
                    for (out, value) in out.iter_mut().zip(&energies[request.x.start..]) {
                        *out = single(*value);
                    }
                });
            }),
            _ => threads::run(|| image.fill_real(request, |j, out| copy(&self.now, j, out))),
        }
        Ok(())
    }

    pub(super) fn total(&self) -> Observables {
        total(&self.sums_of_rows(), self.scenario.grid())
    }

    /// Sums over every row.
    pub(super) fn sums_of_rows(&self) -> Vec<Sums> {
        let lattice = &self.sweep.lattice;
        let [nx, ny, _] = lattice.size;
        let (levels, sound) = (self.levels(), self.sound());
        (0..lattice.rows())
            .into_par_iter()
            .map_init(
                || vec![0.0; nx],
                |energies, row| {
                    let mut sum = |levels: &Levels<'_, T>| {
                        self.sweep.energy_row(levels, [row % ny, row / ny], 0..nx, energies);
                        energies.iter().sum()
                    };
                    let invariant = sum(&levels);
                    let energy = sound.as_ref().map_or(f64::NAN, sum);
                    Sums::of_row(lattice.row(&self.now, row), [energy, invariant])
                },
            )
            .collect()
    }

    pub(super) fn data(&self, all: &[T]) -> FieldData {
        T::real_data(self.sweep.lattice.packed(all))
    }
}

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
    pub(in crate::solver) fn to_numbers(&self) -> [f64; NUMBERS] {
        let [x, xx] = self.moments;
        [self.square, x, xx, self.energy, self.invariant, self.peak, 0.0, 0.0]
    }

    /// The inverse of [`Sums::to_numbers`].
    pub(in crate::solver) fn from_numbers(numbers: &[f64; NUMBERS]) -> Self {
        let [square, x, xx, energy, invariant, peak, ..] = *numbers;
        Self {
            square,
            moments: [x, xx],
            energy,
            invariant,
            peak,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    /// Sums over a row whose energy per a^d is known, and that which the scheme conserves.
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
        // Silence stands nowhere: 0, and not 0/0, which would read as a field that is no longer finite.
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

#[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
pub(in crate::solver) fn single(value: f64) -> f32 {
    value as f32
}
