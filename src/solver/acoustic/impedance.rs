//! Walls that take energy: a real impedance Z = ξρc on the rigid faces of walls and edges, locally reacting: p = Z v·n at each place by itself.
//!
//! Scheme: ∂p/∂n = −(1/ξc) ∂p/∂t on a face half a spacing outside the last site. In the flux form of the site's equation the face then carries −(1/ξc)p_t/a instead of 0:
//! p_tt = c²Lp − 2γp_t, L with the rigid face, and **γ = Σ c/(2aξ)** over the faces of the site that are no air. So a wall's impedance is a damping of the sites before it, which every method with
//! centred damping carries as it is: (1 + γΔt)pⁿ⁺¹ + (1 − γΔt)pⁿ⁻¹ = 2pⁿ + Δt²c²Lpⁿ.
//! Stability: that of rigid walls, for every ξ > 0 and every order in space. With E = ½‖(pⁿ⁺¹ − pⁿ)/cΔt‖² − ½⟨pⁿ⁺¹, Lpⁿ⟩, the energy that the rigid scheme keeps (L is symmetric), multiplying by pⁿ⁺¹ − pⁿ⁻¹ gives Eⁿ⁺¹ − Eⁿ = −Σ γ(pⁿ⁺¹ − pⁿ⁻¹)²/(2c²Δt) ≤ 0.
//! Reflection at normal incidence, order 2, θ = ka/2 and C = cos(ωΔt/2): **R = (ξ − C e^(−iθ))/(ξ + C e^(iθ))**, about the face; (ξ − 1)/(ξ + 1) as a → 0. What ξ = 1 sends back is tan(ka/4): 8 % at 20 points a wavelength; its error falls as a for ξ near 1, as a² in size for hard walls.
//! A face takes ξ from the site of the wall, at an edge of the grid from the site before it; ρc is that of the site before it.
//! Limits: ξ is real and the same at all frequencies: no springs, no masses, no waves inside the wall.
//!
//! References: Botteldooren 1995, doi:10.1121/1.413817 (impedance in FDTD); Kowalczyk & van Walstijn 2008, Acta Acustica 94, 891 (locally reacting surfaces, stability);
//! Kuttruff 2016, Room Acoustics, §2.3 (random incidence).

use super::outward::Domain;
use crate::grid::Edge;
use crate::physics::{Medium, Sets};
use crate::scene::Scenario;

/// The damping of a scene, row by row: layers of absorption and walls that take energy.
pub struct Damping<'a> {
    medium: &'a Medium,
    domain: Domain,
    walls: &'a [bool],
    speed: f64,
    edges: [Edge; 3],
    size: [usize; 3],
    rank: usize,
    spacing: f64,
    impedance: bool,
}

impl<'a> Damping<'a> {
    /// Of a scene whose walls stand at `walls` (one value a site, continued into absorbing layers; empty: nowhere); `None` where nothing is damped.
    pub fn of(scenario: &'a Scenario, walls: &'a [bool], speed: f64) -> Option<Self> {
        let (medium, grid) = (scenario.medium(), scenario.grid());
        let impedance = medium.has(Sets::Impedance);
        (impedance || medium.has(Sets::Absorption)).then(|| Self {
            medium,
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
            self.add_faces([j, k], out);
        }
    }

    fn is_wall(&self, [i, j, k]: [usize; 3]) -> bool {
        let [nx, ny, _] = self.size;
        self.walls.get(i + nx * (j + ny * k)).copied().unwrap_or(false)
    }

    fn add_faces(&self, [j, k]: [usize; 2], out: &mut [f64]) {
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
                for (i, rate) in out.iter_mut().enumerate() {
                    let site = [i, j, k];
                    if self.is_wall(site) {
                        continue;
                    }
                    let xi = match self.neighbour(site, axis, up) {
                        Some(at) if !self.is_wall(at) => continue,
                        Some(at) => beside.as_ref().unwrap_or(&own)[at[0]],
                        None if self.edges[axis] == Edge::Wall => own[i],
                        None => continue,
                    };
                    *rate += speed[i] / (2.0 * self.spacing * xi);
                }
            }
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
