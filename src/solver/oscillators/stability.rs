//! The largest stable Δt of a scene.
//!
//! Every pair turns by an angle ωτ and drifts by its momentum times τ. Turns alone are stable for every τ, drifts are not: on an infinite uniform lattice the spectral radius of a step leaves
//! 1 at ω₀Δt = 1.7207 in 1D (twice the solution of x tan x = 1) and π/(2√2) = 1.1107 in 2D, ω₀ = √(k/m) = c/a. The five sub-steps of order 4 leave it at
//! π/2 in 1D (a narrow band of wavelengths, just above) and at the same π/(2√2) in 2D. Found by Bloch's theorem on cells of 2^d sites; a test does it again.
//!
//! In a medium ω₀² is taken as the largest of Σk/(2d m) over a site's bonds and k(1/m + 1/m′)/2 over bonds: both are k/m in a uniform one. That this is enough
//! is not proved; noise in random media stays bounded below it (a test).

use super::springs::{Masses, Row};
use crate::scene::Scenario;
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// ω₀Δt at the limit.
pub(super) fn bound(order: u32, rank: usize) -> f64 {
    match (order, rank) {
        (4, 1) => FRAC_PI_2,
        (_, 1) => 1.720_667_178_038_759,
        _ => FRAC_PI_2 / SQRT_2,
    }
}

/// By which part of c steps of order 2 may make long waves too fast where Δt is left to the program.
const TOO_FAST: f64 = 0.005;

/// The automatic Δt as a part of the largest stable one.
///
/// In a step of order 2 long waves run at c (1 + (ω₀Δt)²/(24 d) + O(Δt⁴)) in d dimensions, in every direction: the automatic step is √(24 d · 0.005)/ω₀, 0.346/ω₀ on a line and 0.490/ω₀ in
/// a plane, with ω₀ where sound is fastest. Steps of order 4, five sub-steps, are half the largest stable one: their waves are 3·10⁻⁴ too slow on a line, 2·10⁻⁵ in a plane.
pub(super) fn automatic(order: u32, rank: usize) -> f64 {
    if order == 4 {
        return 0.5;
    }
    let dimensions = if rank == 1 { 1.0 } else { 2.0 };
    (24.0 * dimensions * TOO_FAST).sqrt() / bound(order, rank)
}

/// The largest stable Δt; ∞ where nothing moves.
pub(super) fn limit(scenario: &Scenario, order: u32) -> f64 {
    let Ok(masses) = Masses::new(scenario) else {
        return f64::INFINITY;
    };
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let rank = grid.rank();
    let fastest = if masses.uniform {
        masses.stiffness()
    } else {
        let shares = if rank == 1 { 2.0 } else { 4.0 };
        (0..ny)
            .into_par_iter()
            .map_init(
                || (Row::default(), Row::default(), Row::default()),
                |(row, above, below), j| {
                    masses.row(j, row);
                    masses.row((j + 1) % ny, above);
                    masses.row((j + ny - 1) % ny, below);
                    let mut most = 0.0f64;
                    for i in 0..nx {
                        let pair = |k: f64, m: f64| k * (1.0 / row.mass[i] + 1.0 / m) / 2.0;
                        let before = if i > 0 { row.x[i - 1] } else { row.x[nx - 1] };
                        // Of a line that does not close, the last site's bond along x is 0, and so is that of the last row along y.
                        let below = if j > 0 || grid.is_periodic(1) { below.y[i] } else { 0.0 };
                        let soft: f64 = row.soft.iter().map(|soft| soft[i]).sum();
                        let sum = (before + row.x[i] + below + row.y[i] + soft) / (shares * row.mass[i]);
                        most = most
                            .max(sum)
                            .max(pair(row.x[i], row.mass[(i + 1) % nx]))
                            .max(pair(row.y[i], above.mass[i]));
                    }
                    most
                },
            )
            .reduce(|| 0.0, f64::max)
    };
    bound(order, rank) / fastest.sqrt()
}
