//! Norm, energy and moments, summed in double precision row by row, so that they do not depend on the number of threads.

use super::{SplitStepFourier, axis};
use crate::field::Real;
use crate::physics::Observables;
use num_complex::Complex;
use rayon::prelude::*;

impl<T: Real> SplitStepFourier<T> {
    /// Σ|ψ|², summed by rows so that it does not depend on threads.
    pub(super) fn sum_of_squares(&self) -> f64 {
        let nx = self.scenario.grid().size()[0];
        let rows: Vec<f64> = self
            .psi
            .par_chunks(nx)
            .map(|row| row.iter().map(square).sum())
            .collect();
        rows.into_iter().sum()
    }

    /// Σ ε|ψ_k|² over all axes; uses `lines`.
    fn kinetic(&mut self) -> f64 {
        let [nx, ny, _] = self.scenario.grid().size();
        let axes = &self.axes;
        let rows: Vec<f64> = self
            .psi
            .par_chunks(nx)
            .map_init(
                || (axes[0].work(), vec![Complex::default(); nx]),
                |(work, line), row| {
                    line.copy_from_slice(row);
                    axes[0].line_energy(line, work)
                },
            )
            .collect();
        let mut total: f64 = rows.into_iter().sum();
        let mut inner = nx;
        for axis in &axes[1..] {
            let energies = axis::gather(&self.psi, &mut self.lines, axis, inner, |line, work| {
                axis.line_energy(line, work)
            });
            total += energies.into_iter().sum::<f64>();
            inner *= ny;
        }
        total
    }

    /// Sums over the field, with the drives of `time`; NaN where it is not finite.
    pub(super) fn total(&mut self, time: f64) -> Observables {
        let grid = self.scenario.grid().clone();
        let nx = grid.size()[0];
        let drives = self.kick.drive_values(time);
        let kick = &self.kick;
        // Per row: Σρ, Σxρ, Σx²ρ, ΣUρ, max ρ.
        let rows: Vec<[f64; 5]> = self
            .psi
            .par_chunks(nx)
            .enumerate()
            .map(|(n, row)| {
                let mut sums = [0.0; 5];
                for (i, value) in row.iter().enumerate() {
                    let density = square(value);
                    #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
                    let x = i as f64 * grid.spacing();
                    sums[0] += density;
                    sums[1] += x * density;
                    sums[2] += x * x * density;
                    sums[3] += kick.energy(&drives, n * nx + i, density) * density;
                    sums[4] = f64::max(sums[4], density);
                }
                sums
            })
            .collect();
        let kinetic = self.kinetic();
        let mut total = [0.0; 4];
        let mut peak = 0.0f64;
        let mut moments = [[0.0; 2]; 3];
        for (n, sums) in rows.iter().enumerate() {
            for (total, sum) in total.iter_mut().zip(sums) {
                *total += sum;
            }
            peak = peak.max(sums[4]);
            let site = grid.site(n * nx);
            for axis in 1..grid.rank() {
                #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
                let at = site[axis] as f64 * grid.spacing();
                moments[axis][0] += at * sums[0];
                moments[axis][1] += at * at * sums[0];
            }
        }
        moments[0] = [total[1], total[2]];
        let norm = total[0];
        // An empty field stands nowhere.
        let by = if norm == 0.0 { 1.0 } else { norm };
        let position = moments.map(|[first, _]| first / by);
        let spread = [0, 1, 2].map(|axis| (moments[axis][1] / by - position[axis].powi(2)).max(0.0).sqrt());
        Observables {
            norm: norm * grid.cell_volume(),
            energy: (kinetic + total[3]) / by,
            position,
            spread,
            peak,
            invariant: 0.0,
        }
    }
}

fn square<T: Real>(value: &Complex<T>) -> f64 {
    value.re.wide().powi(2) + value.im.wide().powi(2)
}
