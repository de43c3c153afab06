//! Norm, energy and moments, summed in double precision row by row, so that they do not depend on the number of threads.

use crate::grid::Grid;
use crate::physics::Observables;
use rayon::prelude::*;

/// Sums over a field whose site of flat index n has the density `density(n)` and adds `energy(n, density)` to the energy, beside `energy_beside`.
pub fn totals(
    grid: &Grid,
    energy_beside: f64,
    density: impl Fn(usize) -> f64 + Sync,
    energy: impl Fn(usize, f64) -> f64 + Sync,
) -> Observables {
    let nx = grid.size()[0];
    // Per row: Σρ, Σxρ, Σx²ρ, energy, max ρ.
    let rows: Vec<[f64; 5]> = (0..grid.rows())
        .into_par_iter()
        .map(|row| {
            let mut sums = [0.0; 5];
            for i in 0..nx {
                let density = density(row * nx + i);
                #[expect(clippy::cast_precision_loss, reason = "sites are far below 2^52")]
                let x = i as f64 * grid.spacing();
                sums[0] += density;
                sums[1] += x * density;
                sums[2] += x * x * density;
                sums[3] += energy(row * nx + i, density);
                sums[4] = f64::max(sums[4], density);
            }
            sums
        })
        .collect();
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
        energy: (energy_beside + total[3]) / by,
        position,
        spread,
        peak,
        invariant: 0.0,
    }
}
