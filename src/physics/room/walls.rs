//! What a locally reacting wall of an impedance Z = ξρc absorbs.

use crate::physics::WallPole;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// R = (ξ − 1)/(ξ + 1): the reflected pressure at normal incidence.
pub fn reflection(impedance: f64) -> f64 {
    if impedance.is_infinite() {
        return 1.0;
    }
    (impedance - 1.0) / (impedance + 1.0)
}

/// α₀ = 1 − R², the absorbed share of the energy at normal incidence.
pub fn normal_absorption(impedance: f64) -> f64 {
    1.0 - reflection(impedance).powi(2)
}

/// The absorbed share of the energy of diffuse sound, Paris' mean ∫ α(θ) sin 2θ dθ of α(θ) = 4ξ cos θ/(ξ cos θ + 1)²:
/// 8/ξ · (1 + 1/(1 + ξ) − (2/ξ) ln(1 + ξ)); 0.951 at most, at ξ = 1.57.
///
/// Source: Kuttruff 2016, Room Acoustics (6th ed.), §2.5, (2.49) for real impedances.
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

/// ξ at a frequency in Hz of a wall that has `low` far below its pole's corner: 1/ξ = 1/ξ_high + (1/ξ_low − 1/ξ_high)/(1 + if/corner).
pub fn impedance_at(low: f64, pole: &WallPole, frequency: f64) -> Complex64 {
    let high = 1.0 / pole.high;
    let slow = Complex64::new(1.0, frequency / pole.corner);
    1.0 / (high + (1.0 / low - high) / slow)
}

/// α₀ = 1 − |(ξ − 1)/(ξ + 1)|² of a complex ξ.
pub fn normal_absorption_of(impedance: Complex64) -> f64 {
    1.0 - ((impedance - 1.0) / (impedance + 1.0)).norm_sqr()
}

/// The share of the energy of diffuse sound that a wall of complex ξ = |ξ|e^(iμ) absorbs, Paris' mean of 1 − |(ξ cos θ − 1)/(ξ cos θ + 1)|²:
/// (8 cos μ/|ξ|)·[1 + (cos 2μ/sin μ)(1/|ξ|) arctan(|ξ| sin μ/(1 + |ξ| cos μ)) − (cos μ/|ξ|) ln(1 + 2|ξ| cos μ + |ξ|²)].
///
/// Source: Kuttruff 2016, Room Acoustics (6th ed.), §2.5.
pub fn random_absorption_of(impedance: Complex64) -> f64 {
    let (size, phase) = impedance.to_polar();
    // The fraction with the sine tends to 1/(1 + |ξ|), which the real formula has.
    if phase.abs() < 1e-6 {
        return random_absorption(size);
    }
    let (sine, cosine) = phase.sin_cos();
    let turned = (size * sine).atan2(1.0 + size * cosine);
    let logarithm = (1.0 + 2.0 * size * cosine + size * size).ln();
    8.0 * cosine / size * (1.0 + (2.0 * phase).cos() / sine * turned / size - cosine / size * logarithm)
}

/// The same in a plane, where sound comes equally from every angle θ and brings cos θ of its energy to a metre of the
/// wall: ∫ α(θ) cos θ dθ over 0..π/2.
///
/// By the substitution θ = (π/4)(1 + tanh(½π sinh s)), whose sums over s converge exponentially, also where α rises within 1/|ξ| of π/2.
///
/// Source: Takahasi & Mori 1974, doi:10.2977/prims/1195192451.
pub fn random_absorption_in_plane(impedance: Complex64) -> f64 {
    const STEPS: i32 = 64;
    const STEP: f64 = 1.0 / 16.0;
    if impedance.re.is_infinite() {
        return 0.0;
    }
    let sum: f64 = (-STEPS..=STEPS)
        .map(|n| {
            let s = f64::from(n) * STEP;
            let inner = FRAC_PI_2 * s.sinh();
            // π/2 − θ, without the loss of digits near 0.
            let from_grazing = FRAC_PI_2 / (1.0 + (2.0 * inner).exp());
            let slope = FRAC_PI_4 * FRAC_PI_2 * s.cosh() / inner.cosh().powi(2);
            let cosine = from_grazing.sin();
            // 1 − |(ξ cos θ − 1)/(ξ cos θ + 1)|², likewise.
            let taken = 4.0 * impedance.re * cosine / (impedance * cosine + 1.0).norm_sqr();
            taken * cosine * slope
        })
        .sum();
    sum * STEP
}

/// The absorbed share of the energy of diffuse sound in `rank` dimensions; on a line, where there is no diffuse sound, at normal incidence.
pub fn diffuse_absorption(impedance: Complex64, rank: usize) -> f64 {
    match rank {
        1 => normal_absorption_of(impedance),
        2 => random_absorption_in_plane(impedance),
        _ => random_absorption_of(impedance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    /// As below, of complex impedances; the phase of a passive wall lies within a quarter turn.
    #[test]
    fn complex_walls_absorb_as_their_mean_over_angles_says() {
        for (size, phase) in [(0.5, 0.3), (1.567, -1.0), (5.0, 1.4), (40.0, -0.7), (3.0, 1e-5)] {
            let xi = Complex64::from_polar(size, phase);
            let steps = 20_000;
            let width = FRAC_PI_2 / f64::from(steps);
            let mean: f64 = (0..steps)
                .map(|n| {
                    let angle = (f64::from(n) + 0.5) * width;
                    normal_absorption_of(xi * angle.cos()) * (2.0 * angle).sin() * width
                })
                .sum();
            let formula = random_absorption_of(xi);
            assert!((formula - mean).abs() < 1e-6, "{xi}: {formula}, {mean}");
        }
        let pole = WallPole {
            high: 2.0,
            corner: 500.0,
        };
        assert!((impedance_at(50.0, &pole, 1e-3) - 50.0).norm() < 1e-2);
        assert!((impedance_at(50.0, &pole, 1e9) - 2.0).norm() < 1e-3);
        // Half of either admittance is left at the corner, and half their difference is the imaginary part.
        let admittance = 1.0 / impedance_at(50.0, &pole, 500.0);
        assert!((admittance - Complex64::new(0.26, 0.24)).norm() < 1e-12);
    }

    /// Against the midpoint rule over 200 000 angles, whose error is 1e-10 of the integrand's second derivative, ξ² at most; against the closed form of ξ = 1,
    /// 4(π/2 − 2 + 2/3); and in the limits: 4ξ ∫cos²θ dθ = πξ of soft walls, 2π/ξ of hard ones, to first order.
    #[test]
    fn sound_in_a_plane_is_absorbed_as_its_mean_over_angles_says() {
        let steps = 200_000;
        let width = FRAC_PI_2 / f64::from(steps);
        for xi in
            [(0.3, 0.0), (1.567, -1.0), (5.0, 1.4), (30.0, 0.0), (100.0, 0.5)].map(|(r, t)| Complex64::from_polar(r, t))
        {
            let mean: f64 = (0..steps)
                .map(|n| {
                    let cosine = ((f64::from(n) + 0.5) * width).cos();
                    normal_absorption_of(xi * cosine) * cosine * width
                })
                .sum();
            let found = random_absorption_in_plane(xi);
            assert!(
                (found - mean).abs() < 1e-10 * xi.norm_sqr().max(1.0),
                "{xi}: {found}, {mean}"
            );
        }
        let of = |xi: f64| random_absorption_in_plane(Complex64::from(xi));
        assert!((of(1.0) - 4.0 * (FRAC_PI_2 - 2.0 + 2.0 / 3.0)).abs() < 1e-12);
        assert!((of(1e-4) / (PI * 1e-4) - 1.0).abs() < 2e-4);
        assert!((of(1e5) / (TAU / 1e5) - 1.0).abs() < 1e-3);
        assert_eq!(of(f64::INFINITY), 0.0);
        let xi = Complex64::from(30.0);
        let all = [1, 2, 3].map(|rank| diffuse_absorption(xi, rank));
        assert_eq!(all, [normal_absorption_of(xi), of(30.0), random_absorption(30.0)]);
    }

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
