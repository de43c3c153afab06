//! Closed forms of the continuum, H = p²/2m, ħ = 1.

use num_complex::Complex64;
use std::f64::consts::PI;

/// The free Gaussian of ψ(x, 0) ∝ exp(−(x−x₀)²/4σ² + ik(x−x₀)), normalised to ∫|ψ|² = 1, at time t:
/// a = 1 + it/2mσ², ψ = (2πσ²)^{−1/4} a^{−1/2} exp[−(x−x₀−kt/m)²/4σ²a + ik(x−x₀) − ik²t/2m].
pub fn gaussian(x: f64, time: f64, center: f64, sigma: f64, k: f64, mass: f64) -> Complex64 {
    let a = Complex64::new(1.0, time / (2.0 * mass * sigma * sigma));
    let d = x - center;
    let moved = d - k * time / mass;
    let exponent =
        -moved * moved / (4.0 * sigma * sigma * a) + Complex64::new(0.0, k * d - k * k * time / (2.0 * mass));
    (2.0 * PI * sigma * sigma).powf(-0.25) / a.sqrt() * exponent.exp()
}

/// Its standard deviation σ(t) = σ √(1 + t²/4m²σ⁴).
pub fn gaussian_spread(time: f64, sigma: f64, mass: f64) -> f64 {
    sigma * (1.0 + (time / (2.0 * mass * sigma * sigma)).powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// i ∂ψ/∂t + ψ''/2m by central differences: O(h²) with h = 1e-3 and derivatives of order 10.
    fn residual(psi: impl Fn(f64, f64) -> Complex64, mass: f64, x: f64, t: f64) -> f64 {
        let h = 1e-3;
        let rate = (psi(x, t + h) - psi(x, t - h)) / (2.0 * h);
        let bend = (psi(x + h, t) + psi(x - h, t) - 2.0 * psi(x, t)) / (h * h);
        (Complex64::i() * rate + bend / (2.0 * mass)).norm()
    }

    #[test]
    fn they_solve_the_equation() {
        for (x, t) in [(0.3, 0.2), (-1.0, 1.7), (2.2, 0.9)] {
            assert!(residual(|x, t| gaussian(x, t, 0.2, 0.8, 1.3, 1.5), 1.5, x, t) < 1e-5);
        }
        assert!((gaussian_spread(2.0, 1.0, 1.0) - 2f64.sqrt()).abs() < 1e-15);
    }
}
