//! Transfer matrices of a chain: εψₙ = −J(ψₙ₊₁ + ψₙ₋₁) + Uₙψₙ, so ψₙ₋₁ = ((Uₙ − ε)/J)ψₙ − ψₙ₊₁; ε = −2J cos k is
//! measured from the middle of the band, k per site.
//!
//! In more dimensions they hold along an axis on which alone the potential depends: the other axes separate.

use super::chain::band;
use num_complex::Complex64;

/// Momentum per site of a wave where the potential is higher by `rise`, from `k` of the same energy, both between 0 and
/// π; `None` if no such wave exists.
///
/// sin²(q/2) = sin²(k/2) − rise/4J.
pub fn momentum_on(rise: f64, hopping: f64, k: f64) -> Option<f64> {
    if rise == 0.0 {
        return Some(k);
    }
    let square = (k / 2.0).sin().powi(2) - rise / (4.0 * hopping);
    (square > 0.0 && square < 1.0).then(|| 2.0 * square.sqrt().asin())
}

/// Probability that a wave of momentum 0 < k < π passes sites with the potential `profile`, with U = 0 on both sides.
pub fn transmission(profile: &[f64], hopping: f64, k: f64) -> f64 {
    transmission_between(profile, [0.0; 2], hopping, k)
}

/// Probability that a wave of momentum 0 < k < π passes sites with the potential `profile`, from the potential `before`
/// to the potential `behind`: the ratio of the currents; 0 if no wave of its energy exists behind.
///
/// Behind the profile ψ = e^{iqn}; carried back through it, ψ = Ae^{ikn} + Be^{−ikn} in front, and T = (sin q/sin k)/|A|².
pub fn transmission_between(profile: &[f64], [before, behind]: [f64; 2], hopping: f64, k: f64) -> f64 {
    let energy = before + band(hopping, k);
    let Some(q) = momentum_on(behind - before, hopping, k) else {
        return 0.0;
    };
    // The outgoing form holds from the last site of the profile on, because the equation one site further has the potential behind.
    let (mut here, mut next) = (Complex64::ONE, Complex64::cis(q));
    for u in profile.iter().rev() {
        (here, next) = (here * ((u - energy) / hopping) - next, here);
    }
    // Now `here` is at site −1 and `next` at site 0, where ψ = A + B and ψ₋₁ = Ae^{−ik} + Be^{ik}.
    let incoming = (here - next * Complex64::cis(k)) / Complex64::new(0.0, -2.0 * k.sin());
    q.sin() / k.sin() / incoming.norm_sqr()
}

/// The closed form of [`transmission`] for `sites` sites of one height:
/// T = 1/[1 + (U/2J)² |sin(nq)/sin q|²/sin²k], cos q = cos k + U/2J (q complex inside the barrier).
pub fn barrier_transmission(height: f64, sites: usize, hopping: f64, k: f64) -> f64 {
    let q = Complex64::from(k.cos() + height / (2.0 * hopping)).acos();
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let n = sites as f64;
    let ratio = if q.norm() < 1e-9 {
        Complex64::from(n)
    } else {
        (q * n).sin() / q.sin()
    };
    1.0 / (1.0 + (height / (2.0 * hopping)).powi(2) * ratio.norm_sqr() / k.sin().powi(2))
}

/// The mean of f over the momenta of a packet ψ ∝ exp(−n²/4σ² + ik₀n): |ψ(k)|² is a Gaussian of standard deviation 1/2σ
/// about k₀ (σ in sites, ≳ 1). Momenta below 0 count as f = 0: they move away. Trapezoids over ±8 deviations.
pub fn packet_average(k0: f64, sigma: f64, f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: u32 = 16_000;
    let deviation = 1.0 / (2.0 * sigma);
    let (mut sum, mut weight) = (0.0, 0.0);
    for n in 0..=POINTS {
        let z = 16.0 * f64::from(n) / f64::from(POINTS) - 8.0;
        let density = (-z * z / 2.0).exp();
        let k = k0 + z * deviation;
        weight += density;
        if k > 1e-9 && k < std::f64::consts::PI - 1e-9 {
            sum += density * f(k);
        }
    }
    sum / weight
}

/// Momenta in `low..high` at which the transmission through `profile` has a maximum above `least`, with that maximum, to 1e-10.
pub fn resonances(profile: &[f64], hopping: f64, low: f64, high: f64, least: f64) -> Vec<(f64, f64)> {
    const POINTS: u32 = 20_000;
    let step = (high - low) / f64::from(POINTS);
    let t = |k: f64| transmission(profile, hopping, k);
    let mut found = Vec::new();
    for n in 1..POINTS {
        let k = low + step * f64::from(n);
        if t(k) < t(k - step) || t(k) <= t(k + step) {
            continue;
        }
        // Golden section.
        let (mut a, mut b) = (k - step, k + step);
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        while b - a > 1e-11 {
            let (c, d) = (b - golden * (b - a), a + golden * (b - a));
            if t(c) > t(d) {
                b = d;
            } else {
                a = c;
            }
        }
        let k = f64::midpoint(a, b);
        if t(k) > least {
            found.push((k, t(k)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_and_closed_form_agree() {
        for (height, sites) in [(0.2, 6), (0.35, 6), (-0.7, 3), (3.0, 2), (1.0, 9)] {
            for k in [0.1, 0.5, 1.3, 2.9] {
                let matrix = transmission(&vec![height; sites], 1.0, k);
                let closed = barrier_transmission(height, sites, 1.0, k);
                assert!(
                    (matrix - closed).abs() < 1e-12,
                    "{height} {sites} {k}: {matrix} {closed}"
                );
            }
        }
        // One impurity: T = 1/(1 + U²/4J²sin²k).
        let one = transmission(&[0.6], 1.5, 0.8);
        assert!((one - 1.0 / (1.0 + 0.36 / (9.0 * 0.8f64.sin().powi(2)))).abs() < 1e-14);
    }

    /// A step, both of whose forms hold at the two sites beside it: T = sin k sin q/sin²((k + q)/2), from either side.
    #[test]
    fn steps_pass_as_their_closed_form_says() {
        let step = |k: f64, q: f64| k.sin() * q.sin() / f64::midpoint(k, q).sin().powi(2);
        for (rise, k) in [(0.4, 0.8), (-0.7, 0.3), (1.1, 2.0), (-2.5, 1.0)] {
            let hopping = 1.3;
            let q = momentum_on(rise, hopping, k).unwrap();
            assert!((band(hopping, k) - rise - band(hopping, q)).abs() < 1e-14);
            for base in [0.0, 5.0] {
                let up = transmission_between(&[], [base, base + rise], hopping, k);
                let down = transmission_between(&[], [base + rise, base], hopping, q);
                assert!(
                    (up - step(k, q)).abs() < 1e-13 && (down - step(k, q)).abs() < 1e-13,
                    "{rise} {k}: {up} {down}"
                );
                // Sites of either lead belong to it.
                let longer = [base, base, base + rise];
                assert!((transmission_between(&longer, [base, base + rise], hopping, k) - up).abs() < 1e-13);
            }
        }
        // Above the energy, and beyond the band of what lies lower.
        assert_eq!(transmission_between(&[], [0.0, 1.0], 1.0, 0.5), 0.0);
        assert_eq!(transmission_between(&[], [0.0, -3.0], 1.0, 2.5), 0.0);
    }

    #[test]
    fn known_numbers() {
        // Independent values: a barrier of 6 sites of 0.2J at k = 0.5, and a double barrier 5+14+5 of 0.3J.
        assert!((barrier_transmission(0.2, 6, 1.0, 0.5) - 0.52720).abs() < 5e-6);
        let mut profile = vec![0.0; 24];
        profile[..5].fill(0.3);
        profile[19..].fill(0.3);
        let found = resonances(&profile, 1.0, 0.05, 0.53, 0.99);
        let expected = [0.1758, 0.3481, 0.5117];
        assert_eq!(found.len(), 3, "{found:?}");
        for ((k, t), e) in found.iter().zip(expected) {
            assert!((k - e).abs() < 1e-4 && *t > 1.0 - 1e-9, "{k} {t}");
        }
    }

    #[test]
    fn averages() {
        // ⟨k²⟩ = k₀² + 1/4σ².
        let mean = packet_average(1.0, 5.0, |k| k * k);
        assert!((mean - 1.01).abs() < 1e-9, "{mean}");
    }
}
