//! The largest stable Δt of a scene.
//!
//! −L is symmetric, so leapfrog is stable while Δt² times its largest eigenvalue stays below 4. Rows bound it (Gershgorin, taken per site, since a
//! mode can live on a few sites): (cΔt/a)² · rank · S ≤ 4 with S of [`super::stencil::symbol`] where the density is uniform; Δt²/a² · K Σ b ≤ 2 over a site's faces
//! where it is not. Walls and rigid edges only decrease the sums. A uniform medium attains the bound.

use super::stencil::courant_limit;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::acoustic::medium::{constants, read_walls};
use crate::solver::acoustic::outward::Domain;
use rayon::prelude::*;

/// The largest stable Δt; ∞ where nothing moves.
pub fn limit(scenario: &Scenario, half: usize) -> f64 {
    let Some(acoustic) = constants(scenario) else {
        return f64::INFINITY;
    };
    let medium = scenario.medium();
    let grid = scenario.grid();
    let (a, rank) = (grid.spacing(), grid.rank());
    if medium.has(Sets::Density) {
        return density_limit(scenario);
    }
    let fastest = if medium.has(Sets::Speed) {
        let (walls, domain) = (read_walls(scenario), Domain::new(grid));
        let [nx, ny, _] = grid.size();
        (0..grid.rows())
            .into_par_iter()
            .map_init(
                || vec![0.0; nx],
                |speed, row| {
                    let [j, k] = domain.row(row % ny, row / ny);
                    medium.speed_row(acoustic.speed, j, k, 0..nx, speed);
                    domain.fill_ends(speed);
                    speed
                        .iter()
                        .enumerate()
                        .filter(|(i, _)| !walls.get(row * nx + i).copied().unwrap_or(false))
                        .fold(0.0f64, |most, (_, c)| most.max(c.abs()))
                },
            )
            .reduce(|| 0.0, f64::max)
    } else {
        acoustic.speed
    };
    a * courant_limit(half, rank) / fastest
}

/// a √(2 / max K Σ b).
fn density_limit(scenario: &Scenario) -> f64 {
    let Some(acoustic) = constants(scenario) else {
        return f64::INFINITY;
    };
    let medium = scenario.medium();
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let size = grid.size();
    let (walls, domain) = (read_walls(scenario), Domain::new(grid));
    let density = |j: usize, k: usize, out: &mut Vec<f64>| {
        out.resize(nx, 0.0);
        let [inner_j, inner_k] = domain.row(j, k);
        medium.density_row(acoustic.density, inner_j, inner_k, 0..nx, out);
        domain.fill_ends(out);
        let row = j + ny * k;
        for (i, rho) in out.iter_mut().enumerate() {
            if walls.get(row * nx + i).copied().unwrap_or(false) {
                *rho = f64::INFINITY;
            }
        }
    };
    let most = (0..grid.rows())
        .into_par_iter()
        .map_init(
            || (vec![0.0; nx], Vec::new(), Vec::new(), vec![0.0; nx]),
            |(speed, own, other, sums), row| {
                let at = [0, row % ny, row / ny];
                let [j, k] = domain.row(at[1], at[2]);
                medium.speed_row(acoustic.speed, j, k, 0..nx, speed);
                domain.fill_ends(speed);
                density(at[1], at[2], own);
                sums.fill(0.0);
                // A soft edge's face counts with the site's own density; a rigid one carries nothing.
                let outside = |axis: usize, rho: f64| {
                    if grid.edges()[axis] == Edge::Soft {
                        1.0 / rho
                    } else {
                        0.0
                    }
                };
                for axis in 0..grid.rank() {
                    for up in [false, true] {
                        let last = if up { size[axis] - 1 } else { 0 };
                        let wrap = if up { 0 } else { size[axis] - 1 };
                        let next = |at: usize| {
                            if at == last {
                                grid.is_periodic(axis).then_some(wrap)
                            } else if up {
                                Some(at + 1)
                            } else {
                                Some(at - 1)
                            }
                        };
                        if axis == 0 {
                            for i in 0..nx {
                                sums[i] += next(i).map_or_else(|| outside(0, own[i]), |n| 2.0 / (own[i] + own[n]));
                            }
                            continue;
                        }
                        match next(at[axis]) {
                            Some(place) => {
                                let mut there = at;
                                there[axis] = place;
                                density(there[1], there[2], other);
                                for i in 0..nx {
                                    sums[i] += 2.0 / (own[i] + other[i]);
                                }
                            }
                            None => (0..nx).for_each(|i| sums[i] += outside(axis, own[i])),
                        }
                    }
                }
                (0..nx)
                    .filter(|i| own[*i].is_finite())
                    .fold(0.0f64, |most, i| most.max(own[i] * speed[i] * speed[i] * sums[i]))
            },
        )
        .reduce(|| 0.0, f64::max);
    grid.spacing() * (2.0 / most).sqrt()
}
