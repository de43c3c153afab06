//! The largest stable Δt of a scene.
//!
//! Every pair turns by an angle ωτ and drifts by its momentum times τ. Turns alone are stable for every τ, drifts are not: on an infinite uniform lattice the spectral radius of a step leaves
//! 1 at ω₀Δt = 1.7207 in 1D (twice the solution of x tan x = 1) and π/(2√2) = 1.1107 in 2D, ω₀ = √(k/m) = c/a. The five sub-steps of order 4 leave it at
//! π/2 in 1D (a narrow band of wavelengths, just above) and at the same π/(2√2) in 2D. Found by Bloch's theorem on cells of 2^d sites; a test does it again.
//!
//! In a medium ω₀² is taken as the largest of Σk/(2d m) over a site's bonds and k(1/m + 1/m′)/2 over bonds: both are k/m in a uniform one. That this is enough
//! is not proved; noise in random media stays bounded below it (a test).

use super::springs::{Masses, Row};
use crate::physics::Sets;
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
fn automatic(order: u32, rank: usize) -> f64 {
    if order == 4 {
        return 0.5;
    }
    let dimensions = if rank == 1 { 1.0 } else { 2.0 };
    (24.0 * dimensions * TOO_FAST).sqrt() / bound(order, rank)
}

/// γΔt up to which automatic steps follow layers of absorption, and up to which steps are recommended.
///
/// Damping is split off, and the pressure drifts by what a step's momenta are on average: waves that are slow beside γ meet tanh(γΔt)/Δt in place of γ, 1.3 % too little at 0.2 and 8 % at
/// 0.5. Above, a layer takes more of them than it should, which one of γ = 1/Δt does not send back.
const FOLLOWED: f64 = 0.2;
pub(super) const RESOLVED: f64 = 0.5;

/// By how many times absorption may shorten the automatic Δt.
const MOST_SHORTENED: f64 = 50.0;

/// The automatic and the largest recommended Δt of a scene whose largest stable one is `limit`.
pub(super) fn advised(scenario: &Scenario, order: u32, limit: f64) -> [f64; 2] {
    let free = automatic(order, scenario.grid().rank()) * limit;
    // ∞ where nothing is absorbed. Absorbing edges, whose γ is some c/L, are resolved by steps that resolve the lattice.
    let by = 1.0 / strongest_damping(scenario);
    let auto = free.min((FOLLOWED * by).max(free / MOST_SHORTENED));
    [auto, (0.95 * limit).min(RESOLVED * by).max(auto)]
}

/// The largest γ of the layers of a scene, 1/s.
pub(super) fn strongest_damping(scenario: &Scenario) -> f64 {
    let medium = scenario.medium();
    if !medium.has(Sets::Absorption) {
        return 0.0;
    }
    let [nx, ny, _] = scenario.grid().size();
    let of_row = |rates: &mut Vec<f64>, row: usize| {
        medium.damping_row(row % ny, row / ny, 0..nx, rates);
        rates.iter().copied().fold(0.0, f64::max)
    };
    (0..scenario.grid().rows())
        .into_par_iter()
        .map_init(|| vec![0.0; nx], of_row)
        .reduce(|| 0.0, f64::max)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::read_scene_text;

    /// Layers shorten automatic steps to γΔt = 0.2, down to a fiftieth; weak layers and absorbing edges do not.
    #[test]
    fn automatic_steps_follow_layers_of_absorption() {
        let advice = |edges: &str, value: &str| {
            let text = format!(
                "format = 1\n[grid]\nsize = [64, 32]\nspacing = 0.05\nedges = \"{edges}\"\nabsorb_width = 4\n[acoustic]\nspeed = 340.0\n[solver]\nmethod = \"oscillators\"\n\
                 [[pulse]]\ncenter = [1.6, 0.8]\nwidth = 0.2\n[[layer]]\nsets = \"absorption\"\nvalue = {value}\n"
            );
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
            advised(&scenario, 2, limit(&scenario, 2))
        };
        let [free, sensible] = advice("wall", "0");
        for edges in ["wall", "absorb"] {
            let weak = format!("{}", 0.19 / free);
            for value in ["0", weak.as_str()] {
                assert_eq!(advice(edges, value), [free, sensible], "{edges}, {value}");
            }
            let [auto, longest] = advice(edges, "\"1e5*(x > 2)\"");
            assert!((auto / 2e-6 - 1.0).abs() < 1e-12, "{auto}");
            assert!((longest / 5e-6 - 1.0).abs() < 1e-12, "{longest}");
            let [auto, longest] = advice(edges, "1e9");
            assert!(
                (50.0 * auto / free - 1.0).abs() < 1e-12 && longest <= auto,
                "{auto} {longest}"
            );
        }
    }
}
