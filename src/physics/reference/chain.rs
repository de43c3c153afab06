//! Closed forms on a chain or square lattice, H = −J Σ(|n⟩⟨n+1| + h.c.), ħ = 1. Lengths in sites, k per site.

use std::f64::consts::PI;

/// J_0(x) … J_n(x), by downward recurrence (Miller's algorithm), to round-off of the largest.
///
/// Source: Abramowitz & Stegun 1964, §9.12, example 1; normalised by J₀ + 2ΣJ₂ₖ = 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "orders are small"
)]
pub fn bessel_j(n: usize, x: f64) -> Vec<f64> {
    let magnitude = x.abs();
    if magnitude == 0.0 {
        let mut zero = vec![0.0; n + 1];
        zero[0] = 1.0;
        return zero;
    }
    // Beyond |x| the J_n fall faster than exponentially; 20·|x|^{1/3} orders more leave nothing of 1e-16.
    let top = n.max(magnitude as usize + (20.0 * magnitude.cbrt()) as usize + 30) + 2;
    let mut all = vec![0.0; top + 2];
    all[top] = 1e-300;
    for order in (0..top).rev() {
        all[order] = 2.0 * (order + 1) as f64 / magnitude * all[order + 1] - all[order + 2];
        if all[order].abs() > 1e250 {
            for value in &mut all[order..] {
                *value *= 1e-250;
            }
        }
    }
    let sum: f64 = all[0] + 2.0 * all.iter().skip(2).step_by(2).sum::<f64>();
    all.truncate(n + 1);
    for (order, value) in all.iter_mut().enumerate() {
        *value /= sum;
        if x < 0.0 && order % 2 == 1 {
            *value = -*value;
        }
    }
    all
}

/// Mean and variance of the site of a packet ψ ∝ exp(−(n−n₀)²/4σ² + ik₀n) after t on the infinite chain, σ ≳ 1:
/// ⟨n⟩ = n₀ + ⟨v⟩t, Var = σ² + t² Var v, v = 2J sin k averaged over the packet's momenta (standard deviation 1/2σ).
pub fn packet_mean_and_variance(n0: f64, sigma: f64, k0: f64, hopping: f64, time: f64) -> (f64, f64) {
    let v = 2.0 * hopping * k0.sin() * (-1.0 / (8.0 * sigma * sigma)).exp();
    let square = 2.0 * hopping * hopping * (1.0 - (2.0 * k0).cos() * (-1.0 / (2.0 * sigma * sigma)).exp());
    (n0 + v * time, sigma * sigma + time * time * (square - v * v))
}

/// ε(k) = −2J cos k of one axis.
pub fn band(hopping: f64, k: f64) -> f64 {
    -2.0 * hopping * k.cos()
}

/// The angular frequency of a plane wave under the second-order Trotter step with Δt on one axis of a torus:
/// cos ΩΔt = cos²θ − sin²θ cos 2k, θ = JΔt (Ω ≈ 2J|cos k|; the sign of −2J cos k chooses the branch). Axes add.
pub fn trotter_frequency(hopping: f64, k: f64, dt: f64) -> f64 {
    let theta = hopping * dt;
    (theta.cos().powi(2) - theta.sin().powi(2) * (2.0 * k).cos()).acos() / dt
}

/// Energy −2J cos(nπ/(N+1)) of mode n = 1…N of a chain of N sites between walls.
#[expect(clippy::cast_precision_loss, reason = "mode numbers are small")]
pub fn box_energy(hopping: f64, mode: usize, sites: usize) -> f64 {
    -2.0 * hopping * (mode as f64 * PI / (sites + 1) as f64).cos()
}

/// Amplitude √(2/(N+1)) sin(nπ(j+1)/(N+1)) of that mode at site j.
#[expect(clippy::cast_precision_loss, reason = "mode numbers are small")]
pub fn box_mode(mode: usize, sites: usize, j: usize) -> f64 {
    let length = (sites + 1) as f64;
    // The angle repeats with 2(N+1); reducing whole numbers first keeps it exact.
    let turns = (mode * (j + 1)) % (2 * (sites + 1));
    (2.0 / length).sqrt() * (PI * turns as f64 / length).sin()
}

/// Mean site of a packet exp(−(n−n₀)²/4σ² + ik₀n) under U = F n, exactly on the infinite chain:
/// k(t) = k₀ − Ft, ⟨n⟩ = n₀ + (2J/F) e^{−1/8σ²} (cos k(t) − cos k₀).
pub fn bloch_mean(n0: f64, sigma: f64, k0: f64, hopping: f64, force: f64, time: f64) -> f64 {
    let average = (-1.0 / (8.0 * sigma * sigma)).exp();
    n0 + 2.0 * hopping / force * average * ((k0 - force * time).cos() - k0.cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bessel_values() {
        // Abramowitz & Stegun, tables 9.1 and 9.4.
        let j = bessel_j(20, 10.0);
        assert!((j[0] - -0.245_935_764_451_348_3).abs() < 1e-15);
        assert!((j[1] - 0.043_472_746_168_861_4).abs() < 1e-15);
        assert!((j[20] - 1.151_336_925e-5).abs() < 1e-14);
        assert!((bessel_j(0, 2.404_825_557_695_773)[0]).abs() < 1e-15);
        // Neumann: J₀² + 2ΣJₙ² = 1, also for large arguments.
        let j = bessel_j(900, 700.0);
        let sum: f64 = j[0] * j[0] + 2.0 * j[1..].iter().map(|v| v * v).sum::<f64>();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        assert!((bessel_j(3, -2.0)[3] + bessel_j(3, 2.0)[3]).abs() < 1e-16);
    }

    #[test]
    fn box_modes_are_orthonormal() {
        let product = |m: usize, n: usize| (0..9).map(|j| box_mode(m, 9, j) * box_mode(n, 9, j)).sum::<f64>();
        assert!((product(3, 3) - 1.0).abs() < 1e-14);
        assert!(product(3, 5).abs() < 1e-14);
    }
}
