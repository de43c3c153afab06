//! The radial equation of Gross and Pitaevskii in a round trap, m = ω = 1, solved by Newton's method.

use super::quantum;
use ripplon::scene::Scenario;
use std::f64::consts::PI;

/// Cells of the radius, and how far it goes.
const CELLS: usize = 3000;
const REACH: f64 = 12.0;

/// x of a tridiagonal system, by elimination without pivoting.
fn solve(lower: &[f64], diagonal: &[f64], upper: &[f64], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let (mut d, mut x) = (diagonal.to_vec(), right.to_vec());
    for i in 1..n {
        let by = lower[i] / d[i - 1];
        d[i] -= by * upper[i - 1];
        x[i] -= by * x[i - 1];
    }
    x[n - 1] /= d[n - 1];
    for i in (0..n - 1).rev() {
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i];
    }
    x
}

/// Energy a particle and √⟨x²⟩ of a state whose phase runs `turns` times round the middle: −½(u″ + u′/r) + (turns²/2r² + r²/2)u + g u³ = μu, 2π∫u²r dr = 1, on cells
/// with u at their middles.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn radial(g: f64, turns: i32) -> (f64, f64) {
    let h = REACH / CELLS as f64;
    let r: Vec<f64> = (0..CELLS).map(|i| (i as f64 + 0.5) * h).collect();
    let weight: Vec<f64> = r.iter().map(|r| 2.0 * PI * r * h).collect();
    let lower: Vec<f64> = r.iter().map(|r| -0.5 * (r - 0.5 * h) / (r * h * h)).collect();
    let upper: Vec<f64> = r.iter().map(|r| -0.5 * (r + 0.5 * h) / (r * h * h)).collect();
    let own: Vec<f64> = (r.iter().zip(&lower).zip(&upper))
        .map(|((r, lower), upper)| 0.5 * r * r + 0.5 * f64::from(turns * turns) / (r * r) - lower - upper)
        .collect();
    let sum = |of: &dyn Fn(usize) -> f64| (0..CELLS).map(|i| weight[i] * of(i)).sum::<f64>();
    let width = 1.0 + 0.2 * g.sqrt();
    let mut u: Vec<f64> = r
        .iter()
        .map(|r| r.powi(turns) * (-r * r / (2.0 * width)).exp())
        .collect();
    let scale = sum(&|i| u[i] * u[i]).sqrt();
    for value in &mut u {
        *value /= scale;
    }
    let mut mu = f64::from(turns + 1) + 0.1 * g;
    for _ in 0..60 {
        let beside = |i: usize| {
            let below = if i > 0 { lower[i] * u[i - 1] } else { 0.0 };
            below + u.get(i + 1).map_or(0.0, |next| upper[i] * next)
        };
        let off: Vec<f64> = (0..CELLS)
            .map(|i| beside(i) + (own[i] + g * u[i] * u[i] - mu) * u[i])
            .collect();
        let slope: Vec<f64> = (0..CELLS).map(|i| own[i] + 3.0 * g * u[i] * u[i] - mu).collect();
        let (a, b) = (solve(&lower, &slope, &upper, &off), solve(&lower, &slope, &upper, &u));
        // The step −a + δμ b keeps the norm 1.
        let missing = 1.0 - sum(&|i| u[i] * u[i]);
        let step = (missing + 2.0 * sum(&|i| u[i] * a[i])) / (2.0 * sum(&|i| u[i] * b[i]));
        for i in 0..CELLS {
            u[i] += step * b[i] - a[i];
        }
        mu += step;
        if step.abs() < 1e-12 * mu.abs() {
            break;
        }
    }
    assert!(
        (sum(&|i| u[i] * u[i]) - 1.0).abs() < 1e-9,
        "Newton's method has not converged"
    );
    let energy = mu - 0.5 * g * sum(&|i| u[i].powi(4));
    (energy, (0.5 * sum(&|i| u[i] * u[i] * r[i] * r[i])).sqrt())
}

/// The vortex in the frame that turns, and a hole in its middle.
pub(super) fn vortex(scenario: &Scenario) -> Vec<f64> {
    let quantum = quantum(scenario);
    let turning = scenario.medium().rotation();
    let (ideal, spread) = radial(0.0, 1);
    assert!(
        (ideal - 2.0).abs() < 1e-5 && (spread - 1.0).abs() < 1e-5,
        "{ideal} {spread}"
    );
    let (energy, spread) = radial(quantum.interaction, 1);
    let (without, _) = radial(quantum.interaction, 0);
    assert!(energy - turning < without, "the vortex is not the lower one");
    vec![energy - turning, spread, 1.0, 0.0]
}

/// A cloud of any interaction that swings in a round trap: its middle as one particle (W. Kohn, Phys. Rev. 123 (1961) 1242), seen from a frame that rotates, and its width once more after half a
/// period (L. P. Pitaevskii, A. Rosch, Phys. Rev. A 55 (1997) R853).
pub(super) fn foucault(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let (packet, omega) = (super::packets(scenario)[0], scenario.medium().rotation());
    let (middle, pulled) = (6.0, packet.center[0] - 6.0);
    let swing = |t: f64| pulled * t.cos();
    let sigma = packet.width[0];
    // Of a Gaussian in the plane ½⟨k²⟩ = 2/(8σ²), ½⟨r²⟩ = σ² + ½d², ½g∫n² = g/(8πσ²).
    let energy = 0.25 / sigma.powi(2)
        + sigma.powi(2)
        + 0.5 * pulled * pulled
        + quantum(scenario).interaction / (8.0 * PI * sigma.powi(2));
    vec![
        middle + swing(at[0]) * (omega * at[0]).cos(),
        middle - swing(at[1]) * (omega * at[1]).sin(),
        sigma,
        energy,
    ]
}

/// A cloud of vortices that rotates as a solid body, half way between two limits: n = (μ − ½m(ω² − Ω²)r²)/g without cores, R⁴ = 4g/πm(ω² − Ω²), ⟨x²⟩ = R²/6, L_z = mΩ⟨r²⟩; and cores
/// that fill all, where g counts 1.1596 times and L_z = ⟨r²⟩ − 1 (A. L. Fetter, Rev. Mod. Phys. 81 (2009) 647, sections IV and V).
pub(super) fn vortex_lattice(scenario: &Scenario) -> Vec<f64> {
    let omega = scenario.medium().rotation();
    let radius = (4.0 * quantum(scenario).interaction / (PI * (1.0 - omega * omega))).powf(0.25);
    let spread = radius / 6f64.sqrt() * f64::midpoint(1.0, 1.1596f64.powf(0.25));
    vec![spread, omega * 2.0 * spread * spread - 0.5]
}

/// A box whose right half has another g, m = 1. On both sides ψ′² = g(|ψ|² − n)² with g n = μ, so that beside a wall ψ = √n tanh(x/ξ), ξ = 1/√μ, on both; at the step the two slopes meet where
/// √g₁(n₁ − s) = √g₂(s − n₂). From there ∫(n − |ψ|²) dx = ∫dψ/√g. Returns the share of the right half and the density of the left.
pub(super) fn interaction_step(scenario: &Scenario) -> Vec<f64> {
    let grid = scenario.grid();
    let (sites, a) = (grid.size()[0], grid.spacing());
    let mut g = vec![0.0; sites];
    scenario
        .medium()
        .interaction_row(quantum(scenario).interaction, 0, 0, 0..sites, &mut g);
    assert_eq!(
        (g[sites / 2 - 1], g[sites / 2]),
        (g[0], g[sites - 1]),
        "the step is in the middle"
    );
    let (left, right) = (g[0], g[sites - 1]);
    #[expect(clippy::cast_precision_loss, reason = "sites")]
    let half = (sites as f64 + 1.0) * a / 2.0;
    let atoms = |mu: f64| {
        let (n, m) = (mu / left, mu / right);
        let met = (left.sqrt() * n + right.sqrt() * m) / (left.sqrt() + right.sqrt());
        let wall = mu.powf(-0.5);
        let lost = (n.sqrt() - met.sqrt()) / left.sqrt();
        let won = (met.sqrt() - m.sqrt()) / right.sqrt();
        [n * (half - wall) - lost, m * (half - wall) + won]
    };
    let (mut low, mut high) = (0.1, 100.0);
    while high - low > 1e-12 {
        let mu = f64::midpoint(low, high);
        if atoms(mu).iter().sum::<f64>() > 1.0 {
            high = mu;
        } else {
            low = mu;
        }
    }
    vec![atoms(low)[1], low / left]
}
