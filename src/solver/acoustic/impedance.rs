//! Walls that take energy: a real impedance Z = ξρc on the rigid faces of walls and edges, locally reacting: p = Z v·n at each place by itself.
//!
//! Scheme: ∂p/∂n = −(1/ξc) ∂p/∂t on a face half a spacing outside the last site. In the flux form of the site's equation the face then carries −(1/ξc)p_t/a instead of 0:
//! p_tt = c²Lp − 2γp_t, L with the rigid face, and **γ = Σ c/(2aξ)** over the faces of the site that are walls or edges. So a wall's impedance is a damping of the sites before it, which every method with
//! centred damping supports without change: (1 + γΔt)pⁿ⁺¹ + (1 − γΔt)pⁿ⁻¹ = 2pⁿ + Δt²c²Lpⁿ.
//! Stability: that of rigid walls, for every ξ > 0 and every order in space. With E = ½‖(pⁿ⁺¹ − pⁿ)/cΔt‖² − ½⟨pⁿ⁺¹, Lpⁿ⟩, the energy that the rigid scheme keeps (L is symmetric), multiplying by pⁿ⁺¹ − pⁿ⁻¹ gives Eⁿ⁺¹ − Eⁿ = −Σ γ(pⁿ⁺¹ − pⁿ⁻¹)²/(2c²Δt) ≤ 0.
//! Reflection at normal incidence, order 2, θ = ka/2 and C = cos(ωΔt/2): **R = (ξ − C e^(−iθ))/(ξ + C e^(iθ))**, about the face; (ξ − 1)/(ξ + 1) as a → 0. For ξ = 1 R is tan(ka/4): 8 % at 20 points a wavelength; its error falls as a for ξ near 1, as a² in size for hard walls.
//! A face takes ξ from the site of the wall, at an edge of the grid from the site before it; ρc is that of the site before it.
//! A wall whose impedance changes from one value to another at a corner frequency also has a memory variable: [`super::relaxation`].
//! Limits: no springs, no waves inside the wall.
//!
//! References: Botteldooren 1995, doi:10.1121/1.413817 (impedance in FDTD); Kowalczyk & van Walstijn 2008, Acta Acustica 94, 891 (locally reacting surfaces, stability);
//! Kuttruff 2016, Room Acoustics, §2.3 (random incidence).

use super::outward::Domain;
use super::relaxation::{Bulk, Pole, attenuation_row, bulk};
use crate::grid::Edge;
use crate::physics::{Medium, Sets};
use crate::scene::Scenario;

/// The damping of a scene, row by row: layers of absorption and walls that take energy.
pub struct Damping<'a> {
    scenario: &'a Scenario,
    medium: &'a Medium,
    /// Relaxations of the medium.
    bulk: Vec<Bulk>,
    time_step: f64,
    domain: Domain,
    walls: &'a [bool],
    speed: f64,
    edges: [Edge; 3],
    size: [usize; 3],
    rank: usize,
    spacing: f64,
    impedance: bool,
}

/// The damping of a face.
pub struct Taken {
    /// γ of the site before it, 1/s, the part without memory.
    pub rate: f64,
    /// Its memory, with its Δγ in 1/s.
    pub memory: Option<(Pole, f64)>,
}

impl<'a> Damping<'a> {
    /// Of a scene whose walls stand at `walls` (one value a site, continued into absorbing layers; empty: nowhere), of the scene's speed and for a Δt; `None` where nothing is damped.
    pub fn of(scenario: &'a Scenario, walls: &'a [bool], (speed, time_step): (f64, f64)) -> Option<Self> {
        let (medium, grid) = (scenario.medium(), scenario.grid());
        let impedance = medium.has(Sets::Impedance);
        let bulk = bulk(scenario, time_step);
        (impedance || medium.has(Sets::Absorption) || !bulk.is_empty()).then(|| Self {
            scenario,
            medium,
            bulk,
            time_step,
            domain: Domain::new(grid),
            walls,
            speed,
            edges: grid.edges(),
            size: grid.size(),
            rank: grid.rank(),
            spacing: grid.spacing(),
            impedance,
        })
    }

    /// γ of the sites of row (j, k), 1/s.
    pub fn row(&self, j: usize, k: usize, out: &mut [f64]) {
        let nx = self.size[0];
        let [own_j, own_k] = self.domain.row(j, k);
        self.medium.damping_row(own_j, own_k, 0..nx, out);
        self.domain.fill_ends(out);
        if self.impedance {
            self.for_each_face([j, k], |x, face| out[x] += face.rate);
        }
        if !self.bulk.is_empty() {
            // γ∞ + βΔγ = m(1 − β)/2τ of each relaxation.
            let share: f64 = self.bulk.iter().map(|own| own.rate * (1.0 - own.pole.beta)).sum();
            let mut values = vec![0.0; nx];
            attenuation_row(self.scenario, [j, k], &mut values);
            for (x, (out, value)) in out.iter_mut().zip(&values).enumerate() {
                if !self.is_wall([x, j, k]) {
                    *out += share * value;
                }
            }
        }
    }

    fn is_wall(&self, [i, j, k]: [usize; 3]) -> bool {
        let [nx, ny, _] = self.size;
        self.walls.get(i + nx * (j + ny * k)).copied().unwrap_or(false)
    }

    /// Calls `visit(x, face)` for the faces of row (j, k) at walls and edges.
    pub fn for_each_face(&self, [j, k]: [usize; 2], mut visit: impl FnMut(usize, Taken)) {
        let nx = self.size[0];
        let own = self.impedance(j, k);
        let [row_j, row_k] = self.domain.row(j, k);
        let mut speed = vec![0.0; nx];
        self.medium.speed_row(self.speed, row_j, row_k, 0..nx, &mut speed);
        self.domain.fill_ends(&mut speed);
        for axis in 0..self.rank {
            for up in [false, true] {
                let beside = if axis == 0 {
                    None
                } else {
                    self.neighbour([0, j, k], axis, up)
                        .map(|at| self.impedance(at[1], at[2]))
                };
                for i in 0..nx {
                    let site = [i, j, k];
                    if self.is_wall(site) {
                        continue;
                    }
                    let (xi, of) = match self.neighbour(site, axis, up) {
                        Some(at) if !self.is_wall(at) => continue,
                        Some(at) => (beside.as_ref().unwrap_or(&own)[at[0]], at),
                        None if self.edges[axis] == Edge::Wall => (own[i], site),
                        None => continue,
                    };
                    visit(i, self.face(speed[i] / (2.0 * self.spacing), xi, of));
                }
            }
        }
    }

    /// The damping of a face of the wall at a site, with the admittance 1/ξ; `rate` is that of ξ = 1.
    fn face(&self, rate: f64, xi: f64, [i, j, k]: [usize; 3]) -> Taken {
        let site = [self.domain.at(0, i), self.domain.at(1, j), self.domain.at(2, k)];
        let Some(own) = self.medium.wall_pole(site).filter(|_| xi.is_finite()) else {
            return Taken {
                rate: rate / xi,
                memory: None,
            };
        };
        let pole = Pole::new(1.0 / (std::f64::consts::TAU * own.corner), self.time_step);
        let step = rate * (1.0 / xi - 1.0 / own.high);
        Taken {
            rate: rate / own.high + pole.beta * step,
            memory: Some((pole, step)),
        }
    }

    /// ξ along a row.
    fn impedance(&self, j: usize, k: usize) -> Vec<f64> {
        let nx = self.size[0];
        let [j, k] = self.domain.row(j, k);
        let mut row = vec![0.0; nx];
        self.medium.impedance_row(j, k, 0..nx, &mut row);
        self.domain.fill_ends(&mut row);
        row
    }

    /// The site beside one; `None` beyond an edge that is not periodic.
    fn neighbour(&self, mut site: [usize; 3], axis: usize, up: bool) -> Option<[usize; 3]> {
        let (at, n) = (site[axis], self.size[axis]);
        let last = if up { at + 1 == n } else { at == 0 };
        if last && self.edges[axis] != Edge::Periodic {
            return None;
        }
        site[axis] = if up { (at + 1) % n } else { (at + n - 1) % n };
        Some(site)
    }
}
