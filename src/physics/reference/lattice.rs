//! The Hamiltonian of a scene as a plain list of bonds and diagonal entries.

use super::chain::bessel_j;
use crate::grid::{Edge, Grid};
use crate::physics::{Expression, Medium, Quantum};
use num_complex::Complex64;
use std::ops::Range;

/// One bond: H has −J·`strength`·`phase` in row `to`, column `from`, and the conjugate in row `from`, column `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// Flat index of the lower site.
    pub from: usize,
    /// Flat index of its neighbour one step up the axis (across the edge: the first site of the line).
    pub to: usize,
    /// Peierls phase e^{iϕ} of hopping from `from` to `to`.
    pub phase: Complex64,
    /// What multiplies J.
    pub strength: f64,
}

/// H = −J Σ(e^{iϕ}|to⟩⟨from| + h.c.) + diagonal + U(r, t) − iW(r) + g|ψ|² of a scene, in double precision.
#[derive(Clone, Debug)]
pub struct Lattice {
    grid: Grid,
    quantum: Quantum,
    /// Diagonal constant plus static potential.
    potential: Vec<f64>,
    /// Potentials that functions of time multiply.
    driven: Vec<(Expression, Vec<f64>)>,
    absorption: Vec<f64>,
    walls: Vec<bool>,
    /// g at every site.
    interaction: Vec<f64>,
    /// g₁₂ of the components on the two sites of the last axis.
    cross_interaction: f64,
    /// What layers make of the bonds upwards from each site, by axis: the factor of J and the phase in turns.
    bonds: Option<[Vec<(f64, f64)>; 3]>,
    /// All of them, where layers set any.
    own: Vec<Bond>,
}

impl Lattice {
    /// The Hamiltonian of a medium; `absorption_scale` is what multiplies the strength of absorbing edges.
    #[must_use]
    pub fn new(grid: &Grid, quantum: &Quantum, medium: &Medium, absorption_scale: f64) -> Self {
        let [nx, ny, _] = grid.size();
        let rows = |fill: &dyn Fn(usize, usize, &mut [f64])| {
            let mut all = vec![0.0; grid.sites()];
            for (row, out) in all.chunks_mut(nx).enumerate() {
                fill(row % ny, row / ny, out);
            }
            all
        };
        let mut potential = rows(&|j, k, out| medium.potential_row(None, j, k, 0..nx, out));
        for value in &mut potential {
            *value += quantum.diagonal;
        }
        let driven = medium
            .drives()
            .iter()
            .enumerate()
            .map(|(g, drive)| {
                let part = rows(&|j, k, out| medium.potential_row(Some(g), j, k, 0..nx, out));
                (drive.clone(), part)
            })
            .collect();
        let absorption = rows(&|j, k, out| medium.absorption_row(absorption_scale, j, k, 0..nx, out));
        let mut walls = vec![false; grid.sites()];
        for (row, out) in walls.chunks_mut(nx).enumerate() {
            medium.wall_row(row % ny, row / ny, 0..nx, out);
        }
        let interaction = rows(&|j, k, out| medium.interaction_row(quantum.interaction, j, k, 0..nx, out));
        let mut lattice = Self {
            interaction,
            cross_interaction: medium.cross_interaction(),
            grid: grid.clone(),
            quantum: *quantum,
            potential,
            driven,
            absorption,
            walls,
            bonds: None,
            own: Vec::new(),
        };
        if medium.sets_bonds() {
            lattice.set_bonds(medium);
        }
        lattice
    }

    /// Takes over layers of hopping and flux. Every phase is the sum of the fluxes below it, every diagonal entry that of the bonds beside it.
    fn set_bonds(&mut self, medium: &Medium) {
        let grid = self.grid.clone();
        let [nx, ny, _] = grid.size();
        let rows = |fill: &dyn Fn(usize, usize, &mut [f64])| {
            let mut all = vec![0.0; grid.sites()];
            for (row, out) in all.chunks_mut(nx).enumerate() {
                fill(row % ny, row / ny, out);
            }
            all
        };
        let factors = [0, 1, 2].map(|axis| rows(&|j, k, out| medium.hopping_row(axis, j, k, 0..nx, out)));
        let fluxes = rows(&|j, k, out| medium.flux_row(j, k, 0..nx, out));
        let flux = |site: [usize; 3]| fluxes[grid.index(site)] + self.quantum.flux;
        let below = |[i, j, k]: [usize; 3]| (0..j).map(|j| flux([i, j, k])).sum::<f64>();
        // mΩa² = Ω/2J, as a part of a turn.
        let turns = medium.rotation() / (2.0 * self.quantum.hopping) / std::f64::consts::TAU;
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let all = [0, 1, 2].map(|axis| {
            let of = |site: usize| {
                let [x, y] = [0, 1].map(|axis| grid.site(site)[axis] as f64 - (grid.size()[axis] as f64 - 1.0) / 2.0);
                let phase = match axis {
                    0 => -below(grid.site(site)) - turns * y,
                    1 => turns * x,
                    _ => 0.0,
                };
                (factors[axis][site], phase)
            };
            (0..grid.sites()).map(of).collect::<Vec<_>>()
        });
        if self.quantum.mass.is_some() {
            for (n, value) in self.potential.iter_mut().enumerate() {
                *value -= self.quantum.diagonal;
                for (axis, factors) in all.iter().enumerate().take(grid.rank()) {
                    let (site, sites) = (grid.site(n), grid.size()[axis]);
                    let at = |to: usize| {
                        let mut other = site;
                        other[axis] = to;
                        factors[grid.index(other)].0.abs()
                    };
                    let (own, ring) = (site[axis], grid.is_periodic(axis));
                    let above = (own + 1 < sites || ring).then(|| at(own));
                    let below = (own > 0 || ring).then(|| at((own + sites - 1) % sites));
                    let one = above.or(below).unwrap_or_else(|| at(own));
                    *value += self.quantum.hopping * (above.unwrap_or(one) + below.unwrap_or(one));
                }
            }
        }
        self.bonds = Some(all);
        self.own = [0, 1, 2]
            .into_iter()
            .flat_map(|axis| [(axis, 0), (axis, 1)])
            .flat_map(|(axis, parity)| self.bonds(axis, parity))
            .collect();
    }

    /// A lattice with this static potential (x fastest, the diagonal constant not included) and nothing else.
    ///
    /// # Panics
    /// If the potential has not one value per site.
    #[must_use]
    pub fn with_potential(grid: &Grid, quantum: &Quantum, potential: &[f64]) -> Self {
        assert_eq!(potential.len(), grid.sites(), "one value a site");
        Self {
            grid: grid.clone(),
            quantum: *quantum,
            potential: potential.iter().map(|u| u + quantum.diagonal).collect(),
            driven: Vec::new(),
            absorption: vec![0.0; grid.sites()],
            walls: vec![false; grid.sites()],
            interaction: vec![quantum.interaction; grid.sites()],
            cross_interaction: 0.0,
            bonds: None,
            own: Vec::new(),
        }
    }

    /// The same with walls at these sites (x fastest): their bonds are left out.
    ///
    /// # Panics
    /// If there is not one value per site.
    #[must_use]
    pub fn with_walls(mut self, walls: Vec<bool>) -> Self {
        assert_eq!(walls.len(), self.grid.sites(), "one value a site");
        self.walls = walls;
        self
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The constants.
    pub fn quantum(&self) -> &Quantum {
        &self.quantum
    }

    /// Whether a wall stands at each site.
    pub fn walls(&self) -> &[bool] {
        &self.walls
    }

    /// W at each site.
    pub fn absorption(&self) -> &[f64] {
        &self.absorption
    }

    /// g|ψ|² of a site, and g₁₂|ψ|² of its other component.
    pub fn mean_field(&self, psi: &[Complex64], site: usize) -> f64 {
        let own = self.interaction[site] * psi[site].norm_sqr();
        if self.cross_interaction == 0.0 {
            return own;
        }
        let half = psi.len() / 2;
        own + self.cross_interaction * psi[(site + half) % (2 * half)].norm_sqr()
    }

    /// The real diagonal at time t: constant + U(r, t).
    pub fn diagonal(&self, time: f64) -> Vec<f64> {
        let mut all = self.potential.clone();
        for (drive, part) in &self.driven {
            let factor = drive.eval(&[time]);
            for (value, u) in all.iter_mut().zip(part) {
                *value += factor * u;
            }
        }
        all
    }

    /// The bonds along `axis` whose lower site has this parity (0 even, 1 odd) on that axis; across a periodic edge the
    /// lower site is the last one. No site is in two bonds of one list.
    pub fn bonds(&self, axis: usize, parity: usize) -> Vec<Bond> {
        let size = self.grid.size();
        let mut bonds = Vec::new();
        if size[axis] < 2 {
            return bonds;
        }
        for from in 0..self.grid.sites() {
            let site = self.grid.site(from);
            let at = site[axis];
            let last = at + 1 == size[axis];
            if at % 2 != parity || (last && self.grid.edges()[axis] != Edge::Periodic) {
                continue;
            }
            let mut next = site;
            next[axis] = if last { 0 } else { at + 1 };
            let to = self.grid.index(next);
            if self.walls[from] || self.walls[to] {
                continue;
            }
            let (strength, phase) = match &self.bonds {
                Some(own) => (
                    own[axis][from].0,
                    Complex64::cis(std::f64::consts::TAU * own[axis][from].1),
                ),
                None if axis == 0 => (1.0, self.phase(site[1])),
                None => (1.0, Complex64::ONE),
            };
            bonds.push(Bond {
                from,
                to,
                phase,
                strength,
            });
        }
        bonds
    }

    /// Hψ at time t, the nonlinear term g|ψ|² and −iW included.
    pub fn apply(&self, psi: &[Complex64], time: f64) -> Vec<Complex64> {
        let mut out = vec![Complex64::ZERO; psi.len()];
        self.apply_to(&self.diagonal(time), psi, &mut out);
        out
    }

    fn apply_to(&self, diagonal: &[f64], psi: &[Complex64], out: &mut [Complex64]) {
        for (n, (out, value)) in out.iter_mut().zip(psi).enumerate() {
            let energy = diagonal[n] + self.mean_field(psi, n);
            *out = value * Complex64::new(energy, -self.absorption[n]);
        }
        if self.bonds.is_some() {
            for bond in &self.own {
                let hop = -self.quantum.hopping * bond.strength * bond.phase;
                out[bond.to] += hop * psi[bond.from];
                out[bond.from] += hop.conj() * psi[bond.to];
            }
            return;
        }
        let mut stride = 1;
        for (axis, n) in self.grid.size().into_iter().enumerate() {
            let block = n * stride;
            for start in (0..psi.len()).step_by(block) {
                let hop = self.hopping_in_block(axis, start);
                self.hop(psi, out, start..start + block - stride, start + stride, hop);
                if n > 1 && self.grid.is_periodic(axis) {
                    self.hop(psi, out, start + block - stride..start + block, start, hop);
                }
            }
            stride = block;
        }
    }

    /// −J e^{iϕ} of the bonds along `axis` in the block that starts at a flat index (for x bonds: a row).
    fn hopping_in_block(&self, axis: usize, start: usize) -> Complex64 {
        if axis == 0 {
            -self.quantum.hopping * self.phase(self.grid.site(start)[1])
        } else {
            Complex64::from(-self.quantum.hopping)
        }
    }

    /// Landau gauge along x: e^{iϕ}, ϕ = −2πα j, on x bonds in row j.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    fn phase(&self, j: usize) -> Complex64 {
        Complex64::cis(-std::f64::consts::TAU * self.quantum.flux * j as f64)
    }

    fn hop(&self, psi: &[Complex64], out: &mut [Complex64], from: Range<usize>, to: usize, hop: Complex64) {
        let shut = self.walls.contains(&true);
        for (n, a) in from.enumerate() {
            let b = to + n;
            if !(shut && (self.walls[a] || self.walls[b])) {
                out[b] += hop * psi[a];
                out[a] += hop.conj() * psi[b];
            }
        }
    }

    /// Middle and half width of an interval that holds the spectrum at time t (Gershgorin), without the nonlinear term.
    pub fn bounds(&self, time: f64) -> (f64, f64) {
        let (low, high) = self
            .diagonal(time)
            .into_iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), e| {
                (low.min(e), high.max(e))
            });
        let axes = self.grid.size().into_iter().filter(|n| *n > 1).count();
        let factors = self.bonds.iter().flatten().flatten().map(|(factor, _)| factor.abs());
        let largest = self.bonds.as_ref().map_or(1.0, |_| factors.fold(0.0, f64::max));
        #[expect(clippy::cast_precision_loss, reason = "1 to 3")]
        let hops = 2.0 * axes as f64 * self.quantum.hopping.abs() * largest;
        let decay = self.absorption.iter().copied().fold(0.0, f64::max);
        (f64::midpoint(low, high), (high - low) / 2.0 + hops + decay)
    }

    /// e^{−iHt}ψ to round-off.
    ///
    /// Without absorption by Chebyshev polynomials, e^{−iHt} = e^{−ict} Σ (2 − δₙ₀)(−i)ⁿ Jₙ(rt) Tₙ((H − c)/r), cut where Jₙ vanishes
    /// (Tal-Ezer & Kosloff 1984, doi:10.1063/1.448136); with it by a Taylor series on pieces with ‖H‖τ ≤ 1 (24 terms:
    /// remainder 1/25! ≈ 6e-26).
    ///
    /// # Panics
    /// If the scene has a nonlinear term or driven layers; use [`Lattice::integrate`] there.
    pub fn propagate(&self, psi: &[Complex64], time: f64) -> Vec<Complex64> {
        assert!(
            self.driven.is_empty() && self.interaction.iter().all(|g| *g == 0.0) && self.cross_interaction == 0.0,
            "the exponential needs a linear, static Hamiltonian"
        );
        if self.absorption.iter().all(|w| *w == 0.0) {
            self.chebyshev(psi, time)
        } else {
            self.taylor(psi, time)
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive count"
    )]
    fn chebyshev(&self, psi: &[Complex64], time: f64) -> Vec<Complex64> {
        let (center, radius) = self.bounds(0.0);
        let diagonal: Vec<f64> = self.diagonal(0.0).into_iter().map(|e| e - center).collect();
        let argument = radius * time;
        let terms = argument.abs() as usize + (15.0 * argument.abs().cbrt()) as usize + 30;
        let weights = bessel_j(terms, argument);
        let mut sum: Vec<Complex64> = psi.iter().map(|value| value * weights[0]).collect();
        let mut previous = psi.to_vec();
        let mut here = vec![Complex64::ZERO; psi.len()];
        let mut next = here.clone();
        self.apply_to(&diagonal, psi, &mut here);
        for value in &mut here {
            *value /= radius;
        }
        let mut factor = Complex64::ONE;
        for weight in &weights[1..] {
            factor *= Complex64::new(0.0, -1.0);
            let part = 2.0 * weight * factor;
            for (sum, value) in sum.iter_mut().zip(&here) {
                *sum += part * value;
            }
            self.apply_to(&diagonal, &here, &mut next);
            for (next, previous) in next.iter_mut().zip(&previous) {
                *next = *next * (2.0 / radius) - previous;
            }
            std::mem::swap(&mut previous, &mut here);
            std::mem::swap(&mut here, &mut next);
        }
        let turn = Complex64::cis(-center * time);
        for value in &mut sum {
            *value *= turn;
        }
        sum
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive count"
    )]
    fn taylor(&self, psi: &[Complex64], time: f64) -> Vec<Complex64> {
        let diagonal = self.diagonal(0.0);
        let (center, radius) = self.bounds(0.0);
        let pieces = ((center.abs() + radius) * time.abs()).ceil().max(1.0) as u32;
        let tau = time / f64::from(pieces);
        let mut psi = psi.to_vec();
        let mut next = vec![Complex64::ZERO; psi.len()];
        for _ in 0..pieces {
            let mut term = psi.clone();
            for n in 1..=24 {
                self.apply_to(&diagonal, &term, &mut next);
                let factor = Complex64::new(0.0, -tau / f64::from(n));
                for ((term, next), sum) in term.iter_mut().zip(&next).zip(&mut psi) {
                    *term = next * factor;
                    *sum += *term;
                }
            }
        }
        psi
    }

    /// ψ(t₀ + t) from i ∂ψ/∂t = H(t, |ψ|²)ψ by the classical Runge–Kutta method in `steps` steps: for driven and
    /// nonlinear scenes. The error is about t·‖H‖⁵(t/steps)⁴/120.
    pub fn integrate(&self, psi: &[Complex64], start: f64, time: f64, steps: u32) -> Vec<Complex64> {
        let h = time / f64::from(steps);
        let slope = |psi: &[Complex64], at: f64| {
            let mut out = self.apply(psi, at);
            for value in &mut out {
                *value *= Complex64::new(0.0, -1.0);
            }
            out
        };
        let ahead = |psi: &[Complex64], k: &[Complex64], by: f64| -> Vec<Complex64> {
            psi.iter().zip(k).map(|(p, k)| p + k * by).collect()
        };
        let mut psi = psi.to_vec();
        for step in 0..steps {
            let t = start + h * f64::from(step);
            let k1 = slope(&psi, t);
            let k2 = slope(&ahead(&psi, &k1, h / 2.0), t + h / 2.0);
            let k3 = slope(&ahead(&psi, &k2, h / 2.0), t + h / 2.0);
            let k4 = slope(&ahead(&psi, &k3, h), t + h);
            for (n, value) in psi.iter_mut().enumerate() {
                *value += (k1[n] + 2.0 * k2[n] + 2.0 * k3[n] + k4[n]) * (h / 6.0);
            }
        }
        psi
    }

    /// ⟨H⟩/⟨ψ|ψ⟩ at time t, with (g/2)|ψ|⁴ for the nonlinear term.
    pub fn energy(&self, psi: &[Complex64], time: f64) -> f64 {
        let h = self.apply(psi, time);
        let full: f64 = psi.iter().zip(&h).map(|(p, q)| (p.conj() * q).re).sum();
        let quartic: f64 = (psi.iter().enumerate())
            .map(|(n, p)| self.mean_field(psi, n) * p.norm_sqr())
            .sum();
        (full - 0.5 * quartic) / super::norm(psi)
    }

    /// The least energy and its state (Σ|ψ|² = 1), by exp(−Hτ) without splitting, until the energy changes by less than
    /// 1e-14 of ‖H‖. Linear, static, W = 0; slow where the gap is small.
    pub fn ground_state(&self) -> (f64, Vec<Complex64>) {
        let (center, radius) = self.bounds(0.0);
        let diagonal: Vec<f64> = self.diagonal(0.0).into_iter().map(|e| e - center).collect();
        let mut psi: Vec<Complex64> = (0..self.grid.sites())
            .map(|n| if self.walls[n] { 0.0 } else { 1.0 })
            .map(Complex64::from)
            .collect();
        let mut energy = f64::INFINITY;
        // Pieces of τ = 4/r; what the series leaves out is a polynomial in H too and has the same eigenvectors.
        for _ in 0..200_000 {
            let mut term = psi.clone();
            for n in 1..=24 {
                let factor = -4.0 / (radius * f64::from(n));
                let mut next = vec![Complex64::ZERO; psi.len()];
                self.apply_to(&diagonal, &term, &mut next);
                term = next.iter().map(|v| v * factor).collect();
                psi.iter_mut().zip(&term).for_each(|(sum, value)| *sum += value);
            }
            let scale = 1.0 / super::norm(&psi).sqrt();
            for value in &mut psi {
                *value *= scale;
            }
            let now = self.energy(&psi, 0.0);
            if (energy - now).abs() < 1e-14 * radius {
                return (now, psi);
            }
            energy = now;
        }
        (energy, psi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::reference::distance;

    /// The bonds, the application, Chebyshev's and Taylor's series are four separate pieces of code: they must agree.
    #[test]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a small grid"
    )]
    fn pieces_agree() {
        let quantum = Quantum {
            hopping: 0.7,
            diagonal: 0.3,
            flux: 0.125,
            ..Quantum::default()
        };
        let grid = Grid::new(&[6, 8, 3], 1.0).with_edges([Edge::Wall, Edge::Periodic, Edge::Wall], 0);
        let potential: Vec<f64> = (0..grid.sites() as u32).map(|n| f64::from(n * 37 % 11) * 0.2).collect();
        let mut lattice = Lattice::with_potential(&grid, &quantum, &potential);
        lattice.walls[20] = true;
        let psi: Vec<Complex64> = (0..grid.sites())
            .map(|n| Complex64::cis(n as f64) * (n as f64).sqrt())
            .collect();
        let mut by_bonds: Vec<Complex64> = psi.iter().zip(lattice.diagonal(0.0)).map(|(p, e)| p * e).collect();
        for bond in (0..3)
            .flat_map(|axis| [lattice.bonds(axis, 0), lattice.bonds(axis, 1)])
            .flatten()
        {
            by_bonds[bond.to] -= 0.7 * bond.phase * psi[bond.from];
            by_bonds[bond.from] -= 0.7 * bond.phase.conj() * psi[bond.to];
        }
        assert!(distance(&lattice.apply(&psi, 0.0), &by_bonds) < 1e-15);
        let (one, other) = (lattice.chebyshev(&psi, 9.0), lattice.taylor(&psi, 9.0));
        assert!(distance(&one, &other) < 1e-13, "{}", distance(&one, &other));
        // Runge–Kutta: 9·5.2⁵·(9/20000)⁴/120 ≈ 1e-11.
        let third = lattice.integrate(&psi, 0.0, 9.0, 20_000);
        assert!(distance(&third, &one) < 3e-11, "{}", distance(&third, &one));
    }
}
