//! The lattice of sound as masses and springs: its exact motion, and its splitting into pairs written out site by site.
//!
//! Every method whose space is of second order steps this lattice: m = 1/K and k = 1/(ρ a²) per cell, ρ the mean of both sites; q̇ = v, m v̇ = −Σ k(q − q′) − 2γ m v. Plain, slow, in
//! double precision, and it shares no code with the solvers.
//!
//! References: H. L. Calvo, E. P. Danieli, H. M. Pastawski, Physica B 398 (2007) 317; M. Suzuki, Phys. Lett. A 146 (1990) 319.

use super::trotter::SUZUKI;
use crate::grid::{Edge, Grid};
use crate::physics::{Acoustic, Medium};

/// A spring: its axis, whether it begins at an odd site, its ends (the second missing for the spring of a soft edge), its stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spring {
    axis: usize,
    odd: bool,
    from: usize,
    to: Option<usize>,
    stiffness: f64,
}

/// Masses, springs and damping of an acoustic scene.
#[derive(Clone, Debug, PartialEq)]
pub struct OscillatorLattice {
    rank: usize,
    cell: f64,
    /// 1/K per site.
    mass: Vec<f64>,
    damping: Vec<f64>,
    walls: Vec<bool>,
    springs: Vec<Spring>,
}

impl OscillatorLattice {
    /// The lattice of a scene; absorbing edges are taken as rigid ones.
    #[must_use]
    pub fn new(grid: &Grid, acoustic: &Acoustic, medium: &Medium) -> Self {
        let [nx, ny, _] = grid.size();
        let sites = grid.sites();
        let (mut speed, mut density) = (vec![0.0; sites], vec![0.0; sites]);
        let (mut damping, mut walls) = (vec![0.0; sites], vec![false; sites]);
        for row in 0..grid.rows() {
            let (j, k, all) = (row % ny, row / ny, row * nx..(row + 1) * nx);
            medium.speed_row(acoustic.speed, j, k, 0..nx, &mut speed[all.clone()]);
            medium.density_row(acoustic.density, j, k, 0..nx, &mut density[all.clone()]);
            medium.damping_row(j, k, 0..nx, &mut damping[all.clone()]);
            medium.wall_row(j, k, 0..nx, &mut walls[all]);
        }
        let square = grid.spacing().powi(2);
        let mut springs = Vec::new();
        for n in 0..sites {
            let site = grid.site(n);
            for axis in 0..grid.rank() {
                let (at, last) = (site[axis], grid.size()[axis] - 1);
                let odd = !at.is_multiple_of(2);
                let soft = grid.edges()[axis] == Edge::Soft;
                let alone = |odd| Spring {
                    axis,
                    odd,
                    from: n,
                    to: None,
                    stiffness: if soft { 1.0 / (density[n] * square) } else { 0.0 },
                };
                let ring = grid.is_periodic(axis);
                if at == 0 && !ring {
                    springs.push(alone(true));
                }
                if at == last && !ring {
                    springs.push(alone(odd));
                    continue;
                }
                let mut next = site;
                next[axis] = if at == last { 0 } else { at + 1 };
                let to = grid.index(next);
                springs.push(Spring {
                    axis,
                    odd,
                    from: n,
                    to: Some(to),
                    stiffness: if walls[n] || walls[to] {
                        0.0
                    } else {
                        2.0 / ((density[n] + density[to]) * square)
                    },
                });
            }
        }
        let mass = speed.iter().zip(&density).map(|(c, rho)| 1.0 / (rho * c * c)).collect();
        Self {
            rank: grid.rank(),
            cell: grid.cell_volume(),
            mass,
            damping,
            walls,
            springs,
        }
    }

    /// v̇ for displacements q and rates v; 0 in walls.
    pub fn acceleration(&self, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; q.len()];
        for spring in &self.springs {
            let other = spring.to.map_or(0.0, |to| q[to]);
            let pull = spring.stiffness * (other - q[spring.from]);
            force[spring.from] += pull;
            if let Some(to) = spring.to {
                force[to] -= pull;
            }
        }
        for (n, force) in force.iter_mut().enumerate() {
            *force = if self.walls[n] {
                0.0
            } else {
                *force / self.mass[n] - 2.0 * self.damping[n] * v[n]
            };
        }
        force
    }

    /// q and v a time later, by the Taylor series of the exponential in pieces short enough for it to end at round-off.
    pub fn propagate(&self, q: &[f64], v: &[f64], time: f64) -> (Vec<f64>, Vec<f64>) {
        let mut stiffest = vec![0.0; q.len()];
        for spring in &self.springs {
            for n in [Some(spring.from), spring.to].into_iter().flatten() {
                stiffest[n] += spring.stiffness / self.mass[n];
            }
        }
        let square = stiffest.iter().fold(0.0f64, |most, k| most.max(*k));
        let fastest = (2.0 * square).sqrt() + self.damping.iter().fold(0.0f64, |most, g| most.max(2.0 * g));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
        let pieces = (time.abs() * fastest).ceil().max(1.0) as u32;
        let h = time / f64::from(pieces);
        let (mut q, mut v) = (q.to_vec(), v.to_vec());
        for _ in 0..pieces {
            let (mut a, mut b) = (q.clone(), v.clone());
            // |h·G| ≤ 1 in the norm of the energy: 1/24! = 2e-24.
            for order in 1..24 {
                let scale = h / f64::from(order);
                let c = self.acceleration(&a, &b);
                a = b.iter().map(|b| b * scale).collect();
                b = c.iter().map(|c| c * scale).collect();
                q.iter_mut().zip(&a).for_each(|(q, a)| *q += a);
                v.iter_mut().zip(&b).for_each(|(v, b)| *v += b);
            }
        }
        (q, v)
    }

    /// ½ Σ v²m a^d + ½ Σ k (q − q′)² a^d.
    pub fn energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let moving: f64 = self.mass.iter().zip(v).map(|(m, v)| m * v * v / 2.0).sum();
        let bent: f64 = self
            .springs
            .iter()
            .map(|spring| {
                let other = spring.to.map_or(0.0, |to| q[to]);
                spring.stiffness * (other - q[spring.from]).powi(2) / 2.0
            })
            .sum();
        self.cell * (moving + bent)
    }

    /// Steps of the pair partitioning of order 2 or 4: palindromes of sweeps over the bonds of one axis and parity, each bond with a 2d-th of the kinetic
    /// energy of its sites.
    pub fn advance_pairs(&self, q: &mut [f64], v: &mut [f64], order: u32, dt: f64, steps: u32) {
        let weights: &[f64] = if order == 4 {
            &[SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI]
        } else {
            &[1.0]
        };
        let groups: Vec<(usize, bool)> = (0..self.rank).flat_map(|axis| [(axis, false), (axis, true)]).collect();
        let damp = |v: &mut [f64]| {
            for (v, rate) in v.iter_mut().zip(&self.damping) {
                *v *= (-rate * dt.abs()).exp();
            }
        };
        for _ in 0..steps {
            damp(v);
            for weight in weights {
                for (axis, odd) in groups.iter().chain(groups.iter().rev()) {
                    for spring in self.springs.iter().filter(|s| (s.axis, s.odd) == (*axis, *odd)) {
                        self.swing(spring, q, v, weight * dt / 2.0);
                    }
                }
            }
            damp(v);
        }
    }

    /// The motion of one bond, or of a site that has none, for a time.
    fn swing(&self, spring: &Spring, q: &mut [f64], v: &mut [f64], time: f64) {
        #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
        let share = 2.0 * self.rank as f64;
        let i = spring.from;
        let Some(j) = spring.to else {
            if spring.stiffness == 0.0 {
                q[i] += v[i] * time / share;
                return;
            }
            let w = (spring.stiffness / (share * self.mass[i])).sqrt();
            let (s, c) = (w * time).sin_cos();
            (q[i], v[i]) = (q[i] * c + v[i] * s / (share * w), v[i] * c - share * w * q[i] * s);
            return;
        };
        if spring.stiffness == 0.0 {
            q[i] += v[i] * time / share;
            q[j] += v[j] * time / share;
            return;
        }
        // Momenta of bonds: P = m v, masses M = share · m.
        let (m1, m2) = (share * self.mass[i], share * self.mass[j]);
        let (p1, p2) = (self.mass[i] * v[i], self.mass[j] * v[j]);
        let total = m1 + m2;
        let reduced = m1 * m2 / total;
        let w = (spring.stiffness / reduced).sqrt();
        let (s, c) = (w * time).sin_cos();
        let centre = (m1 * q[i] + m2 * q[j]) / total + (p1 + p2) * time / total;
        let (r, pi) = (q[i] - q[j], (m2 * p1 - m1 * p2) / total);
        let (r, pi) = (r * c + pi * s / (reduced * w), pi * c - reduced * w * r * s);
        q[i] = centre + m2 / total * r;
        q[j] = centre - m1 / total * r;
        v[i] = (m1 / total * (p1 + p2) + pi) / self.mass[i];
        v[j] = (m2 / total * (p1 + p2) - pi) / self.mass[j];
    }
}

/// ω of a plane wave on the uniform lattice: 2(c/a)√(Σ sin²(kᵢa/2)), `phases` the kᵢa.
pub fn lattice_frequency(speed: f64, spacing: f64, phases: &[f64]) -> f64 {
    let sum: f64 = phases.iter().map(|phase| (phase / 2.0).sin().powi(2)).sum();
    2.0 * speed / spacing * sum.sqrt()
}

/// q at a distance of n sites from the one site of an infinite chain that was displaced by 1 and let go: J₂ₙ(2ω₀t), ω₀ = c/a.
pub fn one_displaced(distance: usize, speed: f64, spacing: f64, time: f64) -> f64 {
    super::chain::bessel_j(2 * distance, 2.0 * speed / spacing * time)
        .last()
        .copied()
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACOUSTIC: Acoustic = Acoustic {
        speed: 1.3,
        density: 0.7,
        attenuation: None,
    };

    /// A mode of a rigid room swings at the lattice's frequency; Taylor pieces round at 1e-16 each.
    #[test]
    fn modes_of_a_room_swing_at_the_lattice_frequency() {
        let grid = Grid::new(&[9, 6], 0.5);
        let lattice = OscillatorLattice::new(&grid, &ACOUSTIC, &Medium::new(grid.clone(), Vec::new()));
        let phases = [2.0, 3.0].map(|m: f64| m * std::f64::consts::PI);
        let phases = [phases[0] / 9.0, phases[1] / 6.0];
        let mode: Vec<f64> = (0..54)
            .map(|n| {
                let [i, j, _] = grid.site(n);
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let at = [i as f64 + 0.5, j as f64 + 0.5];
                (phases[0] * at[0]).cos() * (phases[1] * at[1]).cos()
            })
            .collect();
        let time = 3.7;
        let (q, _) = lattice.propagate(&mode, &vec![0.0; 54], time);
        let factor = (lattice_frequency(1.3, 0.5, &phases) * time).cos();
        for (q, mode) in q.iter().zip(&mode) {
            assert!((q - factor * mode).abs() < 1e-13);
        }
    }

    #[test]
    fn one_displaced_mass_spreads_as_bessel_functions() {
        let grid = Grid::new(&[81], 1.0);
        let lattice = OscillatorLattice::new(&grid, &ACOUSTIC, &Medium::new(grid.clone(), Vec::new()));
        let mut start = vec![0.0; 81];
        start[40] = 1.0;
        // Edges 40 sites away are reached by J₈₀(20.8) = 1e-33.
        let (q, _) = lattice.propagate(&start, &vec![0.0; 81], 8.0);
        for n in 0..20 {
            assert!((q[40 + n] - one_displaced(n, 1.3, 1.0, 8.0)).abs() < 1e-13);
        }
    }
}
