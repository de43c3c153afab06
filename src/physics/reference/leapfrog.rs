//! Leapfrog steps of the wave equation, site by site: pⁿ⁺¹ = 2pⁿ − pⁿ⁻¹ + (cΔt/a)² L pⁿ, one speed a site, from rest.
//!
//! L has the central second difference of order 2h along every axis, weights 2(−1)^(k+1) (h!)²/(k²(h−k)!(h+k)!) (Fornberg 1988,
//! doi:10.1090/S0025-5718-1988-0935077-0), and sites beyond an edge are those of a torus or of an even mirror half a spacing outside.

use crate::grid::Grid;

/// The weight of the sites k apart, k ≥ 1.
fn weight(half: u32, k: u32) -> f64 {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
    sign * factorial(half).powi(2) / (f64::from(k * k) * factorial(half - k) * factorial(half + k))
}

/// The site that stands for one that may lie outside an axis of `n`.
fn inside(n: usize, periodic: bool, at: isize) -> usize {
    let sites = n.cast_signed();
    let turn = if periodic {
        at.rem_euclid(sites)
    } else {
        at.rem_euclid(2 * sites)
    };
    turn.min(2 * sites - 1 - turn).cast_unsigned()
}

/// c² L p of order 2 · `half` in units of 1/Δt²; `courant` holds cΔt/a per site. Edges are periodic or rigid.
fn acceleration(grid: &Grid, half: u32, courant: &[f64], p: &[f64]) -> Vec<f64> {
    let [nx, ny, _] = grid.size();
    let size = grid.size();
    let value = |site: [usize; 3]| p[site[0] + nx * (site[1] + ny * site[2])];
    (0..p.len())
        .map(|index| {
            let site = grid.site(index);
            let mut sum = 0.0;
            for axis in 0..grid.rank() {
                for k in 1..=half {
                    let distance = (k as usize).cast_signed();
                    for offset in [-distance, distance] {
                        let mut other = site;
                        other[axis] = inside(size[axis], grid.is_periodic(axis), site[axis].cast_signed() + offset);
                        sum += weight(half, k) * (value(other) - p[index]);
                    }
                }
            }
            courant[index] * courant[index] * sum
        })
        .collect()
}

/// The pressure after `steps` steps from `start` at rest; arguments as in the head of this file.
pub fn leapfrog(grid: &Grid, order: u32, courant: &[f64], start: &[f64], steps: u32) -> Vec<f64> {
    let half = order / 2;
    let mut now = start.to_vec();
    // p⁻ = p⁺ at rest.
    let mut before: Vec<f64> = (now.iter().zip(acceleration(grid, half, courant, &now)))
        .map(|(p, a)| p + a / 2.0)
        .collect();
    for _ in 0..steps {
        let change = acceleration(grid, half, courant, &now);
        for ((old, new), change) in before.iter_mut().zip(&now).zip(change) {
            *old = 2.0 * new - *old + change;
        }
        std::mem::swap(&mut before, &mut now);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_central_differences() {
        let expected: [&[f64]; 4] = [
            &[1.0],
            &[4.0 / 3.0, -1.0 / 12.0],
            &[1.5, -0.15, 1.0 / 90.0],
            &[1.6, -0.2, 8.0 / 315.0, -1.0 / 560.0],
        ];
        for (half, weights) in (1..).zip(expected) {
            for (k, expected) in (1..).zip(weights) {
                assert!((weight(half, k) - expected).abs() < 1e-15, "{half} {k}");
            }
        }
    }

    #[test]
    fn mirrors_and_tori_fold_back() {
        let places = |periodic| (-4..6).map(|at| inside(3, periodic, at)).collect::<Vec<_>>();
        assert_eq!(places(false), [2, 2, 1, 0, 0, 1, 2, 2, 1, 0]);
        assert_eq!(places(true), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    /// A wave along a ring turns by sin²(ωΔt/2) = λ² sin²(κ/2) a step.
    #[test]
    fn a_wave_has_its_frequency() {
        let grid = Grid::new(&[16], 1.0).with_edges([crate::grid::Edge::Periodic; 3], 0);
        let kappa = std::f64::consts::PI / 4.0;
        let start: Vec<f64> = (0..16).map(|i| (kappa * f64::from(i)).cos()).collect();
        let end = leapfrog(&grid, 2, &[0.5; 16], &start, 40);
        let omega = 2.0 * (0.5 * (kappa / 2.0).sin()).asin();
        for (p, q) in start.iter().zip(end) {
            assert!((p * (40.0 * omega).cos() - q).abs() < 1e-13);
        }
    }
}
