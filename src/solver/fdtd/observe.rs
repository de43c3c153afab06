//! Records, observables and pictures of a run.

use super::energy::Levels;
use super::run::{Fdtd, PEAK};
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::FieldData;
use crate::physics::Observables;
use crate::scene::scenario::Quantity;
use crate::solver::acoustic::medium::allocate_aligned;
use crate::solver::acoustic::sums::{Sums, single, total};
use crate::solver::{FieldImage, ImageRequest, SolverError};
use rayon::prelude::*;

impl<T: Vectors> Fdtd<T> {
    /// Starts to keep the largest |p| of every site.
    pub(super) fn watch_peak(&mut self) -> Result<(), SolverError> {
        if self.peak.is_empty() {
            self.peak = allocate_aligned(self.now.len(), PEAK, "the largest pressures")?;
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

    /// Rows along the grid's last axis.
    pub(super) fn last_rows(&self) -> usize {
        let lattice = &self.sweep.lattice;
        lattice.size[lattice.rank - 1]
    }

    pub(super) fn data(&self, all: &[T]) -> FieldData {
        T::real_data(self.sweep.lattice.packed(all))
    }
}
