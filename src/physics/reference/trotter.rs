//! The Trotter–Suzuki step as the papers write it: eight half sweeps, bond by bond, in double precision.
//!
//! S₂(Δt) = P½ · xE½ xO½ yE½ yO½ zE½ zO½ · zO½ zE½ yO½ yE½ xO½ xE½ · P½ (left first), P½ = exp(−i(E + g|ψ|²)Δt/2) with
//! E at the middle of the step; S₁(Δt) = P, xE, xO, yE, yO, zE, zO with whole steps; S₄ is Suzuki's composition of five S₂
//! (Suzuki 1990, doi:10.1016/0375-9601(90)90962-N). What absorbs stands outside: a step of order 2 or 4 between two factors exp(−WΔt/2), one of order 1 after exp(−WΔt). Column pairing: a bond is even or odd by its lower site's coordinate along it.

use super::lattice::{Bond, Lattice};
use num_complex::Complex64;

/// 1/(4 − 4^{1/3}): the first two and last two substeps of Suzuki's fourth-order composition.
pub const SUZUKI: f64 = 0.414_490_771_794_375_7;

/// The splitting of one lattice. Slow and plain: for parity tests and `ripplon selftest`.
#[derive(Clone, Debug)]
pub struct TrotterSplitting {
    lattice: Lattice,
    /// xE, xO, yE, yO, zE, zO.
    sweeps: Vec<Vec<Bond>>,
    order: u32,
    imaginary: bool,
}

impl TrotterSplitting {
    /// The splitting of `order` 1, 2 or 4; `imaginary` replaces Δt by −iΔt (and leaves the norm to decay).
    #[must_use]
    pub fn new(lattice: Lattice, order: u32, imaginary: bool) -> Self {
        let sweeps = (0..3)
            .flat_map(|axis| [lattice.bonds(axis, 0), lattice.bonds(axis, 1)])
            .collect();
        Self {
            lattice,
            sweeps,
            order,
            imaginary,
        }
    }

    /// The lattice.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Takes `steps` steps of `dt` from `time`.
    pub fn advance(&self, psi: &mut [Complex64], time: f64, dt: f64, steps: u32) {
        for step in 0..steps {
            self.step(psi, time + f64::from(step) * dt, dt);
        }
    }

    /// One step from `time` to `time + dt`.
    pub fn step(&self, psi: &mut [Complex64], time: f64, dt: f64) {
        match self.order {
            1 => {
                self.absorb(psi, dt);
                self.kick(psi, time + dt / 2.0, dt);
                for sweep in &self.sweeps {
                    self.rotate(psi, sweep, dt);
                }
            }
            4 => {
                let mut at = time;
                self.absorb(psi, dt / 2.0);
                let weights = [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI];
                for weight in weights {
                    self.symmetric(psi, at, weight * dt);
                    at += weight * dt;
                }
                self.absorb(psi, dt / 2.0);
            }
            _ => {
                self.absorb(psi, dt / 2.0);
                self.symmetric(psi, time, dt);
                self.absorb(psi, dt / 2.0);
            }
        }
    }

    fn symmetric(&self, psi: &mut [Complex64], time: f64, dt: f64) {
        self.kick(psi, time + dt / 2.0, dt / 2.0);
        for sweep in self.sweeps.iter().chain(self.sweeps.iter().rev()) {
            self.rotate(psi, sweep, dt / 2.0);
        }
        self.kick(psi, time + dt / 2.0, dt / 2.0);
    }

    /// exp(−W|τ|) at every site: absorption acts forwards and backwards alike.
    fn absorb(&self, psi: &mut [Complex64], tau: f64) {
        for (value, w) in psi.iter_mut().zip(self.lattice.absorption()) {
            *value *= (-w * tau.abs()).exp();
        }
    }

    /// exp(−i(E(t) + g|ψ|²)τ) at every site.
    fn kick(&self, psi: &mut [Complex64], time: f64, tau: f64) {
        let energies: Vec<f64> = (self.lattice.diagonal(time).iter().enumerate())
            .map(|(site, e)| e + self.lattice.mean_field(psi, site))
            .collect();
        for (value, e) in psi.iter_mut().zip(energies) {
            *value *= if self.imaginary {
                Complex64::from((-e * tau).exp())
            } else {
                Complex64::cis(-e * tau)
            };
        }
    }

    /// exp(−iH_bond τ) for every bond of a sweep.
    fn rotate(&self, psi: &mut [Complex64], bonds: &[Bond], tau: f64) {
        for bond in bonds {
            let angle = self.lattice.quantum().hopping * bond.strength * tau;
            let (c, s) = if self.imaginary {
                (Complex64::from(angle.cosh()), Complex64::from(angle.sinh()))
            } else {
                (Complex64::from(angle.cos()), Complex64::new(0.0, angle.sin()))
            };
            let (p, q) = (psi[bond.from], psi[bond.to]);
            psi[bond.from] = c * p + s * bond.phase.conj() * q;
            psi[bond.to] = c * q + s * bond.phase * p;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Edge, Grid};
    use crate::physics::Quantum;
    use crate::physics::noise::Noise;
    use crate::physics::reference::{distance, norm};

    fn lattice(size: &[usize], flux: f64) -> Lattice {
        let edges = if flux == 0.0 {
            [Edge::Wall, Edge::Periodic, Edge::Wall]
        } else {
            [Edge::Wall; 3]
        };
        let grid = Grid::new(size, 1.0).with_edges(edges, 0);
        let quantum = Quantum {
            hopping: 1.0,
            diagonal: 0.5,
            flux,
            ..Quantum::default()
        };
        let mut noise = Noise::new(7);
        let potential: Vec<f64> = (0..grid.sites()).map(|_| noise.signed()).collect();
        Lattice::with_potential(&grid, &quantum, &potential)
    }

    fn random_state(sites: usize) -> Vec<Complex64> {
        let mut noise = Noise::new(99);
        (0..sites)
            .map(|_| Complex64::new(noise.signed(), noise.signed()))
            .collect()
    }

    #[test]
    fn orders_are_as_declared() {
        for (size, flux) in [(&[9][..], 0.0), (&[8, 6], 0.0), (&[6, 5], 0.03), (&[4, 4, 3], 0.0)] {
            let lattice = lattice(size, flux);
            let start = random_state(lattice.grid().sites());
            let exact = lattice.propagate(&start, 2.0);
            for order in [1, 2, 4] {
                let splitting = TrotterSplitting::new(lattice.clone(), order, false);
                let error = |steps: u32| {
                    let mut psi = start.clone();
                    splitting.advance(&mut psi, 0.0, 2.0 / f64::from(steps), steps);
                    assert!((norm(&psi) / norm(&start) - 1.0).abs() < 1e-12);
                    distance(&psi, &exact)
                };
                let slope = (error(40) / error(80)).log2();
                assert!(
                    (slope - f64::from(order)).abs() < 0.1,
                    "{size:?} order {order}: {slope}"
                );
            }
        }
    }

    #[test]
    fn ground_state_by_imaginary_time() {
        let lattice = lattice(&[6, 4], 0.0);
        let (energy, _) = lattice.ground_state();
        let splitting = TrotterSplitting::new(lattice.clone(), 2, true);
        let mut psi = random_state(24);
        for _ in 0..4000 {
            splitting.step(&mut psi, 0.0, 0.02);
            let scale = 1.0 / norm(&psi).sqrt();
            for value in &mut psi {
                *value *= scale;
            }
        }
        // The fixed point of S₂ is off by O(Δt²) in the state, O(Δt⁴) in the energy.
        assert!((lattice.energy(&psi, 0.0) - energy).abs() < 1e-6);
    }

    #[test]
    fn plane_wave_frequency() {
        // ALGORITHMS §1.3: exact for the splitting. In Bloch form the step mixes k and k + π only, so the state after n steps has overlap
        // with itself that oscillates; its eigenphases are ±Ω. Check by the trace of the 2 × 2 block.
        let grid = Grid::new(&[12], 1.0).with_edges([Edge::Periodic, Edge::Wall, Edge::Wall], 0);
        let quantum = Quantum {
            hopping: 1.0,
            ..Quantum::default()
        };
        let splitting = TrotterSplitting::new(Lattice::with_potential(&grid, &quantum, &[0.0; 12]), 2, false);
        let (dt, k) = (0.4, std::f64::consts::TAU / 12.0);
        let wave = |k: f64| -> Vec<Complex64> {
            (0..12)
                .map(|n| Complex64::cis(k * f64::from(n)) / 12f64.sqrt())
                .collect()
        };
        let trace: Complex64 = [k, k + std::f64::consts::PI]
            .into_iter()
            .map(|k| {
                let mut psi = wave(k);
                splitting.step(&mut psi, 0.0, dt);
                wave(k).iter().zip(&psi).map(|(a, b)| a.conj() * b).sum::<Complex64>()
            })
            .sum();
        let omega = super::super::chain::trotter_frequency(1.0, k, dt);
        assert!((trace - 2.0 * (omega * dt).cos()).norm() < 1e-13, "{trace}");
    }
}
