//! What a locally reacting wall of a real impedance Z = ξρc absorbs.

/// R = (ξ − 1)/(ξ + 1): what comes back of the pressure at normal incidence.
#[must_use]
pub fn reflection(impedance: f64) -> f64 {
    if impedance.is_infinite() {
        return 1.0;
    }
    (impedance - 1.0) / (impedance + 1.0)
}

/// α₀ = 1 − R², the share of the energy that is taken at normal incidence.
#[must_use]
pub fn normal_absorption(impedance: f64) -> f64 {
    1.0 - reflection(impedance).powi(2)
}

/// The share of the energy that is taken of a diffuse sound, Paris' mean ∫ α(θ) sin 2θ dθ of α(θ) = 4ξ cos θ/(ξ cos θ + 1)²:
/// 8/ξ · (1 + 1/(1 + ξ) − (2/ξ) ln(1 + ξ)); 0.951 at most, at ξ = 1.57.
///
/// Source: Kuttruff 2016, Room Acoustics (6th ed.), §2.5, (2.49) for real impedances.
#[must_use]
pub fn random_absorption(impedance: f64) -> f64 {
    let xi = impedance;
    if xi < 1e-2 {
        // The bracket is the small difference of large numbers: its series begins with ξ²/3.
        return 8.0 * xi * (1.0 / 3.0 - xi / 2.0 + 3.0 * xi * xi / 5.0);
    }
    if xi.is_infinite() {
        return 0.0;
    }
    8.0 / xi * (1.0 + 1.0 / (1.0 + xi) - 2.0 / xi * xi.ln_1p())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    /// The mean by the midpoint rule over 20 000 angles: its error falls as their square, 1e-8.
    #[test]
    fn diffuse_sound_is_absorbed_as_its_mean_over_angles_says() {
        for xi in [0.02, 0.5, 1.0, 1.567, 5.0, 30.0, 1000.0] {
            let steps = 20_000;
            let width = FRAC_PI_2 / f64::from(steps);
            let mean: f64 = (0..steps)
                .map(|n| {
                    let angle = (f64::from(n) + 0.5) * width;
                    let projected = xi * angle.cos();
                    4.0 * projected / (projected + 1.0).powi(2) * (2.0 * angle).sin() * width
                })
                .sum();
            assert!((random_absorption(xi) - mean).abs() < 1e-7, "{xi}: {mean}");
        }
        assert!((random_absorption(1.567) - 0.951).abs() < 5e-4);
        // The series meets the formula where they change places: its next term is 8ξ·(2/3)ξ³ = 5e-8.
        let formula = |xi: f64| 8.0 / xi * (1.0 + 1.0 / (1.0 + xi) - 2.0 / xi * xi.ln_1p());
        assert!((random_absorption(0.009_999) - formula(0.009_999)).abs() < 1e-7);
        assert_eq!((reflection(3.0), normal_absorption(3.0)), (0.5, 0.75));
        assert_eq!(
            (reflection(f64::INFINITY), random_absorption(f64::INFINITY)),
            (1.0, 0.0)
        );
    }
}
