//! Bohm's trajectories: dx/dt = j/|ψ|², from chosen places.
//!
//! Each step takes them from one field to the next by the classical Runge–Kutta scheme of order 4, with |ψ|² and j linear in between ([`Currents::between`] in space, their mean in time):
//! of order 2 in Δt and in the spacing, as the fields themselves. Where there is nothing (|ψ|² below a least value) a trajectory rests; at an edge that is no ring it stays on the grid.
//! D. Bohm, Phys. Rev. 85 (1952) 166, doi 10.1103/PhysRev.85.166; C. Philippidis, C. Dewdney, B. J. Hiley, Nuovo Cimento B 52 (1979) 15, doi 10.1007/BF02743566.

use super::Currents;
use crate::field::FieldData;

/// |ψ|² below which a trajectory rests: single precision has no digits of phase there that mean anything.
const LEAST: f64 = 1e-24;

/// One trajectory's start.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its name in tables and predictions.
    pub name: String,
    /// Where it begins, as lengths.
    pub from: [f64; 3],
    /// When.
    pub at: f64,
    /// The number of the list that it belongs to; those of a list are drawn alike.
    pub group: usize,
}

impl Trajectory {
    /// The names of its coordinates, as predictions write them.
    #[must_use]
    pub fn coordinates(&self, rank: usize) -> Vec<String> {
        let axes = ["x", "y", "z"].into_iter().take(rank);
        axes.map(|axis| format!("{}.{axis}", self.name)).collect()
    }
}

/// Where a trajectory stands after a step of `time_step` (with its sign) between two fields. Places are lengths; along a ring they may leave 0..L, so that a path is not broken.
#[must_use]
pub fn step(currents: &Currents, [before, after]: [&FieldData; 2], time_step: f64, from: [f64; 3]) -> [f64; 3] {
    let grid = currents.grid();
    let (rank, a) = (grid.rank(), grid.spacing());
    let velocity = |at: [f64; 3], part: f64| -> [f64; 3] {
        let sites = at.map(|length| length / a);
        let (early, late) = (currents.between(before, sites), currents.between(after, sites));
        let mix = |early: f64, late: f64| early + part * (late - early);
        let density = mix(early.0, late.0);
        if density.is_nan() || density < LEAST {
            return [0.0; 3];
        }
        std::array::from_fn(|axis| mix(early.1[axis], late.1[axis]) / density)
    };
    let moved = |by: f64, v: [f64; 3]| std::array::from_fn(|axis| from[axis] + by * v[axis]);
    let k1 = velocity(from, 0.0);
    let k2 = velocity(moved(0.5 * time_step, k1), 0.5);
    let k3 = velocity(moved(0.5 * time_step, k2), 0.5);
    let k4 = velocity(moved(time_step, k3), 1.0);
    let mut to = from;
    for axis in 0..rank {
        let mean = (k1[axis] + 2.0 * (k2[axis] + k3[axis]) + k4[axis]) / 6.0;
        to[axis] += time_step * mean;
        if !grid.is_periodic(axis) {
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let last = (grid.size()[axis] - 1) as f64 * a;
            to[axis] = to[axis].clamp(0.0, last);
        }
    }
    to
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::physics::reference::continuum;
    use crate::physics::{Medium, Quantum};
    use num_complex::Complex64;

    /// Of a free Gaussian at rest x(t) − c = (x(0) − c) σ(t)/σ(0) exactly (P. R. Holland, The Quantum Theory of Motion, 1993, section 4.7); at rest a lattice of a = σ/20 differs from the
    /// continuum by (a/σ)²/24 of the phase's curvature, some 1e-4, and linear interpolation by (a/σ)²/8 of |ψ|², which largely cancels in j/|ψ|².
    #[test]
    fn a_free_gaussian_takes_its_trajectories_apart() {
        let (a, sigma, n) = (0.05, 1.0, 401);
        let grid = Grid::new(&[n], a);
        let center = 0.5 * (n - 1) as f64 * a;
        let quantum = Quantum {
            hopping: 1.0 / (2.0 * a * a),
            diagonal: 1.0 / (a * a),
            mass: Some(1.0),
            interaction: 0.0,
            flux: 0.0,
        };
        let currents = Currents::of(&quantum, &Medium::new(grid, Vec::new()));
        let at = |t: f64| {
            let psi = |site: usize| -> Complex64 { continuum::gaussian(site as f64 * a, t, center, sigma, 0.0, 1.0) };
            FieldData::Complex128((0..n).map(psi).collect())
        };
        let (dt, steps) = (0.02, 100);
        let starts = [-1.5, -0.4, 0.0, 0.7, 1.9];
        let mut places = starts.map(|x| [center + x, 0.0, 0.0]);
        let mut before = at(0.0);
        for number in 1..=steps {
            let after = at(f64::from(number) * dt);
            for place in &mut places {
                *place = step(&currents, [&before, &after], dt, *place);
            }
            before = after;
        }
        let t = f64::from(steps) * dt;
        let growth = continuum::gaussian_spread(t, sigma, 1.0) / sigma;
        for (start, place) in starts.iter().zip(places) {
            let error = place[0] - center - start * growth;
            assert!(error.abs() < 2e-3, "from {start}: {error}");
        }
    }
}
