//! A frame that rotates about z through the middle of the grid, as condensates are stirred.
//!
//! H = p²/2m + V − Ω L_z = (p − A)²/2m + V − ½mΩ²ρ² with A = mΩ (−y, x), x, y and ρ counted from the middle of the grid: the field qB = 2mΩ along z in the symmetric gauge, and
//! the centrifugal potential. On the lattice the hop from a site to the next one along an axis carries e^{iϕ}, ϕ = ∫A·dl along the bond (R. Peierls, Z. Phys. 80 (1933) 763). In this gauge
//! p is the momentum of the frame at rest, so that packets, L_z and ⟨p⟩ mean what they mean there (A. L. Fetter, Rev. Mod. Phys. 81 (2009) 647, sections II and III,
//! doi 10.1103/RevModPhys.81.647).

use super::layer::{Layer, Mode, Sets, Shape, Value};
use super::{Expression, expression};
use crate::grid::Grid;

/// The middle of the grid in sites along an axis, about which a frame rotates.
#[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
fn middle(grid: &Grid, axis: usize) -> f64 {
    (grid.size()[axis] - 1) as f64 / 2.0
}

/// ϕ of the bond from a site to the next along x (0) or y (1), radians, for `turn` = mΩa²; 0 along z.
pub fn phase(grid: &Grid, turn: f64, axis: usize, [i, j, _]: [usize; 3]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    match axis {
        0 => -turn * (j as f64 - middle(grid, 1)),
        1 => turn * (i as f64 - middle(grid, 0)),
        _ => 0.0,
    }
}

/// The largest |ϕ| of a bond of the grid, radians, for `turn` = mΩa²: waves at rest in the frame of the trap move by that much a site in the rotating one.
pub fn largest_phase(grid: &Grid, turn: f64) -> f64 {
    turn.abs() * middle(grid, 0).max(middle(grid, 1))
}

/// −½mΩ²ρ² as a layer.
pub(super) fn centrifugal(grid: &Grid, rotation: f64, mass: f64) -> Layer {
    let half = 0.5 * mass * rotation * rotation;
    let [x, y] = [0, 1].map(|axis| middle(grid, axis) * grid.spacing());
    let formula = format!("-{half:e}*((x - {x:e})^2 + (y - {y:e})^2)");
    Layer {
        mode: Mode::Add,
        ..Layer::new(
            Sets::Potential,
            Shape::Everywhere,
            Expression::parse(&formula, expression::SPACE).map_or(Value::Number(f64::NAN), Value::Expression),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::{Bonds, Medium, Quantum};
    use std::f64::consts::TAU;

    /// The phases round every plaquette add up to qBa² = 2mΩa², the same everywhere, and the potential is −½mΩ²ρ².
    #[test]
    fn a_uniform_field_and_the_centrifugal_potential() {
        let (mass, omega, a) = (1.5, 0.7, 0.25);
        let grid = Grid::new(&[7, 6], a);
        let hopping = 1.0 / (2.0 * mass * a * a);
        let quantum = Quantum {
            hopping,
            diagonal: 4.0 * hopping,
            mass: Some(mass),
            interaction: 0.0,
            flux: 0.0,
        };
        for turned in [false, true] {
            let mut medium = Medium::new(grid.clone(), Vec::new()).rotating(omega, mass);
            if turned {
                medium = medium.with_flux_turned();
            }
            let bonds = Bonds::of(&quantum, &medium).expect("bonds of their own");
            let site = |i, j| grid.index([i, j, 0]);
            for j in 0..5 {
                for i in 0..6 {
                    let round = bonds.at(0, site(i, j)) * bonds.at(1, site(i + 1, j))
                        / (bonds.at(0, site(i, j + 1)) * bonds.at(1, site(i, j)));
                    let expected = 2.0 * mass * omega * a * a * if turned { -1.0 } else { 1.0 };
                    assert!((round.arg() - expected).abs() < 1e-14 && expected.abs() < TAU / 2.0);
                }
            }
            let mut row = [0.0; 7];
            medium.potential_row(None, 1, 0, 0..7, &mut row);
            for (i, value) in row.iter().enumerate() {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let square = a * a * ((i as f64 - 3.0).powi(2) + 1.5 * 1.5);
                let expected = -0.5 * mass * omega * omega * square;
                assert!((value - expected).abs() < 1e-14, "{value} is not {expected}");
            }
        }
    }
}
