//! Bonds that differ from one another: layers that set the hopping or the magnetic flux of parts of the lattice.
//!
//! H = −J Σ_b (f_b e^{iϕ_b} |upper⟩⟨lower| + h.c.) + diagonal. A bond belongs to its lower site along its axis; across a periodic edge that is the last site.
//! f is what hopping layers leave (1 where there are none). Fluxes stand in plaquettes of the x–y plane, each numbered by its lowest site, and the bonds along x carry the sum of those below:
//! ϕ(i, j) = −2π (φ j + Σ_{j' < j} Φ(i, j')), the Landau gauge of a uniform flux φ and its extension to Φ that differ from place to place
//! (R. Peierls, Z. Phys. 80 (1933) 763; D. R. Hofstadter, Phys. Rev. B 14 (1976) 2239, doi 10.1103/PhysRevB.14.2239). A frame that rotates adds the phases of
//! [`rotating_frame`].

use super::{Medium, Packet, Quantum, Sets, rotating_frame};
use crate::grid::Grid;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// f e^{iϕ} of every bond.
#[derive(Clone, Debug, PartialEq)]
pub struct Bonds {
    grid: Grid,
    /// Per axis, x fastest: the bond from a site to the next.
    couplings: Vec<Vec<Complex64>>,
    largest: f64,
}

impl Bonds {
    /// The bonds of a medium over a whole grid, the uniform flux of `quantum` included; `None` if no layer sets any, so
    /// that all are alike except for that flux.
    #[must_use]
    pub fn of(quantum: &Quantum, medium: &Medium) -> Option<Self> {
        if !medium.sets_bonds() {
            return None;
        }
        let grid = medium.grid().clone();
        let [nx, ny, _] = grid.size();
        let mut couplings: Vec<Vec<Complex64>> = Vec::new();
        let mut row = vec![0.0; nx];
        for axis in 0..grid.rank() {
            let mut all = vec![Complex64::ONE; grid.sites()];
            if medium.has(Sets::Hopping) {
                for (n, out) in all.chunks_mut(nx).enumerate() {
                    medium.hopping_row(axis, n % ny, n / ny, 0..nx, &mut row);
                    for (coupling, factor) in out.iter_mut().zip(&row) {
                        coupling.re = *factor;
                    }
                }
            }
            couplings.push(all);
        }
        if grid.rank() > 1 {
            let mut below = vec![0.0; nx];
            for (n, out) in couplings[0].chunks_mut(nx).enumerate() {
                if n % ny == 0 {
                    below.fill(0.0);
                }
                for (coupling, turns) in out.iter_mut().zip(&below) {
                    *coupling *= Complex64::cis(-TAU * turns);
                }
                medium.flux_row(n % ny, n / ny, 0..nx, &mut row);
                for (sum, own) in below.iter_mut().zip(&row) {
                    *sum += own + quantum.flux;
                }
            }
        }
        if medium.rotation() != 0.0 {
            // mΩa² with m = 1/(2Ja²).
            let turn = medium.rotation() / (2.0 * quantum.hopping);
            for (axis, all) in couplings.iter_mut().enumerate() {
                for (site, coupling) in all.iter_mut().enumerate() {
                    *coupling *= Complex64::cis(rotating_frame::phase(&grid, turn, axis, grid.site(site)));
                }
            }
        }
        let moduli = couplings.iter().flatten().map(|coupling| coupling.norm());
        Some(Self {
            grid,
            largest: moduli.fold(0.0, f64::max),
            couplings,
        })
    }

    /// f e^{iϕ} of the bond from a site, by its flat index, to the next along `axis`.
    pub fn at(&self, axis: usize, site: usize) -> Complex64 {
        self.couplings[axis][site]
    }

    /// Those of all sites, x fastest.
    pub fn along(&self, axis: usize) -> &[Complex64] {
        &self.couplings[axis]
    }

    /// Σ f e^{iϕ} ψ over the neighbours of a site: what −J multiplies in (Hψ) there. `psi` is x fastest, and 0 on walls.
    pub fn around(&self, site: usize, psi: &[Complex64]) -> Complex64 {
        let mut sum = Complex64::ZERO;
        self.beside(site, |other, coupling| sum += coupling * psi[other]);
        sum
    }

    /// Calls `each` with every neighbour of a site and the coupling from there to the site.
    pub fn beside(&self, site: usize, mut each: impl FnMut(usize, Complex64)) {
        let mut stride = 1;
        for (axis, sites) in self.grid.size().into_iter().enumerate().take(self.grid.rank()) {
            let at = site / stride % sites;
            let ring = self.grid.is_periodic(axis) && sites > 1;
            if at > 0 {
                each(site - stride, self.couplings[axis][site - stride]);
            } else if ring {
                let last = site + (sites - 1) * stride;
                each(last, self.couplings[axis][last]);
            }
            if at + 1 < sites {
                each(site + stride, self.couplings[axis][site].conj());
            } else if ring {
                each(site - (sites - 1) * stride, self.couplings[axis][site].conj());
            }
            stride *= sites;
        }
    }

    /// Whether no bond has a phase.
    pub fn is_real(&self) -> bool {
        self.couplings.iter().flatten().all(|coupling| coupling.im == 0.0)
    }

    /// The largest |f|.
    pub fn largest(&self) -> f64 {
        self.largest
    }

    /// The diagonal of the sites of a row without U: J Σ |f_b| over the two bonds of each axis if the scene gives a
    /// mass, and 0 if it gives the hopping. A bond that leaves the grid counts as the one on the other side of its
    /// site, so that a plane wave at rest has energy 0 wherever the mass does not change (D. J. BenDaniel, C. B. Duke,
    /// Phys. Rev. 152 (1966) 683, doi 10.1103/PhysRev.152.683). Where f is negative along every axis, the energy of the
    /// wave whose sign alternates from site to site is 0, and that of a wave at rest the largest of the band.
    pub fn diagonal_row(&self, quantum: &Quantum, row: usize, out: &mut [f64]) {
        out.fill(quantum.diagonal);
        if quantum.mass.is_none() {
            return;
        }
        let nx = self.grid.size()[0];
        for (i, value) in out.iter_mut().enumerate() {
            let site = row * nx + i;
            let mut sum = 0.0;
            let mut stride = 1;
            for (axis, sites) in self.grid.size().into_iter().enumerate().take(self.grid.rank()) {
                let at = site / stride % sites;
                let own = site;
                let before = if at > 0 {
                    Some(site - stride)
                } else {
                    self.grid.is_periodic(axis).then(|| site + (sites - 1) * stride)
                };
                let leaves = at + 1 == sites && !self.grid.is_periodic(axis);
                let factor = |site: usize| self.couplings[axis][site].norm();
                let below = before.map_or_else(|| factor(own), factor);
                sum += below + if leaves && before.is_some() { below } else { factor(own) };
                stride *= sites;
            }
            *value = quantum.hopping * sum;
        }
    }
}

/// ϕ of the bond from a site to the next along an axis: of the flux and of a frame that rotates, as in [`Bonds`].
pub fn phase(quantum: &Quantum, medium: &Medium, axis: usize, site: [usize; 3]) -> f64 {
    let [i, j, k] = site;
    let mut turns = 0.0;
    if axis == 0 && medium.grid().rank() > 1 {
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let uniform = quantum.flux * j as f64;
        turns = uniform;
        if medium.has(Sets::Flux) {
            let mut own = [0.0];
            for below in 0..j {
                medium.flux_row(below, k, i..i + 1, &mut own);
                turns += own[0];
            }
        }
    }
    let rotated = match medium.rotation() {
        0.0 => 0.0,
        rotation => rotating_frame::phase(medium.grid(), rotation / (2.0 * quantum.hopping), axis, site),
    };
    rotated - TAU * turns
}

/// Packets with the momentum by which they move at the site next to their centre, k − ϕ/a within ±π/a, in place of the canonical k: the energy of a wave is −2J cos(ka − ϕ) per axis.
#[must_use]
pub fn in_motion(quantum: &Quantum, medium: &Medium, packets: &[Packet]) -> Vec<Packet> {
    let grid = medium.grid();
    if quantum.flux == 0.0 && !medium.has(Sets::Flux) && medium.rotation() == 0.0 {
        return packets.to_vec();
    }
    let moving = |packet: &Packet| {
        let site = grid.nearest(packet.center);
        let mut found = *packet;
        for (axis, k) in found.momentum.iter_mut().enumerate().take(grid.rank()) {
            let angle = *k * grid.spacing() - phase(quantum, medium, axis, site);
            *k = (angle - TAU * (angle / TAU).round()) / grid.spacing();
        }
        found
    };
    packets.iter().map(moving).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;
    use crate::physics::{Layer, Shape, Value};

    fn layer(sets: Sets, axis: Option<usize>, value: f64, min: [f64; 3], max: [f64; 3]) -> Layer {
        Layer {
            axis,
            ..Layer::new(sets, Shape::Box { min, max }, Value::Number(value))
        }
    }

    fn quantum() -> Quantum {
        Quantum {
            hopping: 0.5,
            diagonal: 2.0,
            mass: Some(1.0),
            interaction: 0.0,
            flux: 0.0,
        }
    }

    #[test]
    fn no_layer_no_bonds() {
        let grid = Grid::new(&[4, 3], 1.0);
        assert!(Bonds::of(&quantum(), &Medium::new(grid, Vec::new())).is_none());
    }

    /// Round every plaquette the phases add up to its flux, whatever the layers: −ϕ of the x bond below, +ϕ of that above.
    #[test]
    fn a_plaquette_holds_its_flux() {
        let grid = Grid::new(&[5, 6], 1.0);
        let flux = layer(Sets::Flux, None, 0.3, [1.0, 2.0, 0.0], [2.0, 3.0, 0.0]);
        let quantum = Quantum {
            flux: 0.07,
            ..quantum()
        };
        let bonds = Bonds::of(&quantum, &Medium::new(grid.clone(), vec![flux])).unwrap();
        for j in 0..5 {
            for i in 0..4 {
                let site = |i: usize, j: usize| grid.index([i, j, 0]);
                // Right, up, left, down.
                let round = bonds.at(0, site(i, j))
                    * bonds.at(1, site(i + 1, j))
                    * bonds.at(0, site(i, j + 1)).conj()
                    * bonds.at(1, site(i, j)).conj();
                let inside = (1..=2).contains(&i) && (2..=3).contains(&j);
                let expected = Complex64::cis(TAU * (0.07 + if inside { 0.3 } else { 0.0 }));
                assert!(
                    (round - expected).norm() < 1e-14,
                    "({i}, {j}): {round} is not {expected}"
                );
            }
        }
    }

    /// A plane wave at rest has energy 0 where the factors do not change, whatever they are.
    #[test]
    fn a_wave_at_rest_has_no_energy() {
        for edge in [Edge::Wall, Edge::Periodic] {
            let grid = Grid::new(&[4, 6], 1.0).with_edges([edge; 3], 0);
            let all = [0.0; 3];
            let layers = vec![
                layer(Sets::Hopping, Some(0), 3.0, all, [9.0; 3]),
                layer(Sets::Hopping, Some(1), 0.5, all, [9.0; 3]),
            ];
            let bonds = Bonds::of(&quantum(), &Medium::new(grid, layers)).unwrap();
            let mut row = [0.0; 4];
            for n in 0..6 {
                bonds.diagonal_row(&quantum(), n, &mut row);
                assert_eq!(row, [0.5 * (2.0 * 3.0 + 2.0 * 0.5); 4], "row {n} of {edge:?}");
            }
            assert!((bonds.largest() - 3.0).abs() < 1e-15);
        }
    }

    /// Where the factors are negative, it is the wave whose sign alternates that has energy 0: the sum counts magnitudes.
    #[test]
    fn an_alternating_wave_has_no_energy_between_negative_bonds() {
        let grid = Grid::new(&[6], 1.0).with_edges([Edge::Periodic; 3], 0);
        let negative = layer(Sets::Hopping, None, -3.0, [0.0; 3], [9.0; 3]);
        let bonds = Bonds::of(&quantum(), &Medium::new(grid, vec![negative])).unwrap();
        let mut row = [0.0; 6];
        bonds.diagonal_row(&quantum(), 0, &mut row);
        let energy = |sign: f64| {
            let psi: Vec<Complex64> = (0..6).map(|n| Complex64::from(f64::powi(sign, n))).collect();
            [2, 3].map(|n| (psi[n].conj() * (psi[n] * row[n] - bonds.around(n, &psi) * quantum().hopping)).re)
        };
        assert_eq!(energy(-1.0), [0.0; 2]);
        // 4J|f| = 6 is the largest energy of the band.
        assert_eq!(energy(1.0), [6.0; 2]);
    }

    #[test]
    fn a_layer_sets_the_bonds_of_its_axis() {
        let grid = Grid::new(&[3, 3], 1.0);
        let one = layer(Sets::Hopping, Some(1), 0.25, [1.0; 3], [1.0; 3]);
        let bonds = Bonds::of(&quantum(), &Medium::new(grid, vec![one])).unwrap();
        for site in 0..9 {
            assert_eq!(bonds.at(0, site), Complex64::ONE);
            assert_eq!(bonds.at(1, site).re, if site == 4 { 0.25 } else { 1.0 });
        }
    }
    /// The phase of a single bond is that of the table, with fluxes of the scene and of layers, and in a frame that rotates.
    #[test]
    fn a_phase_is_that_of_its_bond() {
        let grid = Grid::new(&[5, 6, 2], 0.5);
        let flux = layer(Sets::Flux, None, 0.3, [0.5, 1.0, 0.0], [1.0, 1.5, 0.5]);
        let constants = Quantum {
            flux: 0.07,
            ..quantum()
        };
        for medium in [
            Medium::new(grid.clone(), vec![flux.clone()]),
            Medium::new(grid.clone(), vec![flux])
                .rotating(0.2, 1.0)
                .with_flux_turned(),
        ] {
            let bonds = Bonds::of(&constants, &medium).unwrap();
            for site in 0..grid.sites() {
                for axis in 0..3 {
                    let own = Complex64::cis(phase(&constants, &medium, axis, grid.site(site)));
                    let known = bonds.at(axis, site);
                    assert!((own - known).norm() < 1e-12, "{site} {axis}: {own} {known}");
                }
            }
        }
    }

    /// At row 16 a flux of 1/32 turns a bond by −π: what is at rest there has k = ±π, and k = 0 is at the top of the band.
    #[test]
    fn packets_move_by_their_kinetic_momentum() {
        let constants = Quantum {
            flux: 0.03125,
            ..quantum()
        };
        let medium = Medium::new(Grid::new(&[64, 32], 1.0), Vec::new());
        let packet = |row: f64, k: [f64; 3]| Packet::new([32.0, row, 0.0], [6.0, 2.0, 1.0], k);
        let moving = |row: f64, k: [f64; 3]| in_motion(&constants, &medium, &[packet(row, k)])[0].momentum;
        let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!((moving(16.0, [0.0; 3])[0].abs() - TAU / 2.0).abs() < 1e-12);
        assert!(near(moving(16.0, [3.1, 0.4, 0.0]), [3.1 - TAU / 2.0, 0.4, 0.0]));
        assert!(near(moving(8.0, [0.1, 0.0, 0.0]), [0.1 + TAU / 4.0, 0.0, 0.0]));
        let plain = Quantum { flux: 0.0, ..constants };
        let same = in_motion(&plain, &medium, &[packet(16.0, [4.0, 0.0, 0.0])]);
        assert!(near(same[0].momentum, [4.0, 0.0, 0.0]));
    }
}
