//! Exact free evolution on boxes and tori, axis by axis: e^{−iHt} of a chain is a sum over its modes.
//!
//! With G(d) = (1/M) Σ_q e^{−iε(q)t} cos(q d) over the M momenta q = 2πm/M, the propagator of a ring of M sites is
//! K(j, l) = G(j − l); that of N sites between walls is, by images on a ring of M = 2(N+1), K(j, l) = G(j − l) − G(j + l + 2). Cost: O(N²)
//! for the table, O(N) a site for each axis; no Fourier transform is used.

use crate::grid::{Edge, Grid};
use crate::physics::Quantum;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// What kinetic energy a mode has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dispersion {
    /// ε = diagonal − 2J cos(ka): what the lattice has; `diagonal` per axis.
    Lattice {
        /// J.
        hopping: f64,
        /// Constant of one axis.
        diagonal: f64,
    },
    /// ε = k²/2m.
    Continuum {
        /// m.
        mass: f64,
        /// a.
        spacing: f64,
    },
}

impl Dispersion {
    /// The lattice's own, of a scene of `rank` axes.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
    pub fn lattice(quantum: &Quantum, rank: usize) -> Self {
        Self::Lattice {
            hopping: quantum.hopping,
            diagonal: quantum.diagonal / rank as f64,
        }
    }

    /// Energy of momentum q per site, −π ≤ q ≤ π.
    pub fn energy(&self, q: f64) -> f64 {
        match *self {
            Self::Lattice { hopping, diagonal } => diagonal - 2.0 * hopping * q.cos(),
            Self::Continuum { mass, spacing } => (q / spacing).powi(2) / (2.0 * mass),
        }
    }
}

/// e^{−iHt} of one chain of `sites` sites, row by row.
#[expect(clippy::cast_precision_loss, reason = "sizes are small")]
pub fn propagator(sites: usize, edge: Edge, dispersion: &Dispersion, time: f64) -> Vec<Complex64> {
    let periodic = edge == Edge::Periodic;
    let ring = if periodic { sites } else { 2 * (sites + 1) };
    let phases: Vec<Complex64> = (0..ring)
        .map(|m| {
            let m = if 2 * m > ring { m as f64 - ring as f64 } else { m as f64 };
            Complex64::cis(-dispersion.energy(TAU * m / ring as f64) * time) / ring as f64
        })
        .collect();
    let cosines: Vec<f64> = (0..ring).map(|n| (TAU * n as f64 / ring as f64).cos()).collect();
    let green: Vec<Complex64> = (0..ring)
        .map(|d| phases.iter().enumerate().map(|(m, p)| p * cosines[m * d % ring]).sum())
        .collect();
    let mut kernel = Vec::with_capacity(sites * sites);
    for j in 0..sites {
        for l in 0..sites {
            let direct = green[j.abs_diff(l)];
            kernel.push(if periodic {
                direct
            } else {
                direct - green[(j + l + 2) % ring]
            });
        }
    }
    kernel
}

/// ψ(t) of a chain without potential.
pub fn evolve_chain(psi: &[Complex64], edge: Edge, dispersion: &Dispersion, time: f64) -> Vec<Complex64> {
    let kernel = propagator(psi.len(), edge, dispersion, time);
    kernel
        .chunks(psi.len())
        .map(|row| row.iter().zip(psi).map(|(k, p)| k * p).sum())
        .collect()
}

/// ψ(t) on a grid of any rank without potential: one axis after the other, which is exact because they commute. An
/// absorbing edge counts as a wall.
pub fn evolve(grid: &Grid, psi: &[Complex64], dispersion: &Dispersion, time: f64) -> Vec<Complex64> {
    let size = grid.size();
    let mut psi = psi.to_vec();
    let mut stride = 1;
    for (axis, &n) in size.iter().enumerate().take(grid.rank()) {
        let kernel = propagator(n, grid.edges()[axis], dispersion, time);
        let mut out = vec![Complex64::ZERO; psi.len()];
        for start in (0..psi.len()).filter(|index| grid.site(*index)[axis] == 0) {
            for (j, row) in kernel.chunks(n).enumerate() {
                out[start + j * stride] = row.iter().enumerate().map(|(l, k)| k * psi[start + l * stride]).sum();
            }
        }
        psi = out;
        stride *= n;
    }
    psi
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::reference::{Lattice, distance, initial_state};
    use crate::physics::{Initial, Packet};

    #[test]
    fn agrees_with_the_exponential_of_the_hamiltonian() {
        let quantum = Quantum {
            hopping: 0.8,
            diagonal: 1.5,
            ..Quantum::default()
        };
        let grid = Grid::new(&[10, 7, 3], 1.0).with_edges([Edge::Periodic, Edge::Wall, Edge::Wall], 0);
        let packet = Packet::new([4.0, 2.0, 1.0], [1.5; 3], [0.7, -0.4, 0.2]);
        let psi = initial_state(&grid, &Initial::Packets(vec![packet]));
        let exact = Lattice::with_potential(&grid, &quantum, &vec![0.0; grid.sites()]).propagate(&psi, 3.0);
        let free = evolve(&grid, &psi, &Dispersion::lattice(&quantum, 3), 3.0);
        // Both are exact; hundreds of operations of double precision each.
        assert!(distance(&free, &exact) < 1e-12, "{}", distance(&free, &exact));
    }

    #[test]
    fn continuum_gaussian_on_a_ring() {
        // Spectral in space: the packet's tails at the far side are e^{−(20/4)²}.
        use crate::physics::reference::continuum::gaussian;
        let n = 160;
        let a = 0.25;
        let at = |t: f64| -> Vec<Complex64> {
            (0..n)
                .map(|i| gaussian(f64::from(i) * a, t, 15.0, 1.5, 2.0, 1.0))
                .collect()
        };
        let dispersion = Dispersion::Continuum { mass: 1.0, spacing: a };
        let moved = evolve_chain(&at(0.0), Edge::Periodic, &dispersion, 3.0);
        assert!(distance(&moved, &at(3.0)) < 1e-7, "{}", distance(&moved, &at(3.0)));
    }
}
