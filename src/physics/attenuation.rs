//! Power-law attenuation of a medium, made of relaxations.
//!
//! Wanted: α(f) = α₁ (f/f₁)^y. A medium whose compressibility relaxes, κ(ω) = κ∞(1 + Σ mₗ/(1 + iωτₗ)), has k² = (ω/c∞)²(1 + Σ mₗ/(1 + iωτₗ)), α = −Im k, and to first order in m
//! α = (ω/2c∞) Σ mₗ ωτₗ/(1 + ω²τₗ²). The times stand evenly on a logarithmic scale over the band, 2.5 times beyond both ends, above exponents of 1.5 ten times beyond the upper one; mₗ ≥ 0 are the least squares of α/wanted − 1 at 60 frequencies. What is
//! heard is causal: waves are slower at low frequencies than at high ones, as much as Kramers and Kronig's relations ask for. `speed` is c∞, that of waves far above the band.
//!
//! References: Nachman, Smith & Waag 1990, doi:10.1121/1.400317 (relaxations in the wave equation); Szabo 1994, doi:10.1121/1.410434 (power laws and causality);
//! Lawson & Hanson 1974, Solving Least Squares Problems, ch. 23 (non-negative least squares).

use num_complex::Complex64;
use std::f64::consts::TAU;

/// dB of an amplitude that falls by e.
pub const DB_PER_NEPER: f64 = 8.685_889_638_065_036;

/// Frequencies at which the curve is fitted.
const FITTED: u32 = 60;
/// How far beyond the band the first and the last relaxation are.
const BEYOND: f64 = 2.5;
/// The steepest law: that of heat conduction and viscosity.
pub const STEEPEST: f64 = 2.0;
/// Laws above this need relaxations far above the band, [`BEYOND_STEEP`] times, which slow all waves in it.
const STEEP: f64 = 1.5;
/// How far beyond the band the last relaxation of a steep law is: ω²τ²/(1 + ω²τ²) is within 1 % of a square.
const BEYOND_STEEP: f64 = 10.0;

/// The law of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attenuation {
    /// f₁, Hz.
    pub at: f64,
    /// α₁, dB/m, where no layer changes it.
    pub value: f64,
    /// y, 0 to [`STEEPEST`].
    pub exponent: f64,
    /// The band in which the law holds, Hz.
    pub band: [f64; 2],
}

/// One relaxation of the compressibility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    /// τ, s.
    pub time: f64,
    /// m/c∞ of a medium with 1 dB/m at f₁, s/m.
    pub strength: f64,
}

impl Attenuation {
    /// The wanted attenuation at a frequency in Hz of a medium with `value` dB/m at f₁, dB/m.
    pub fn wanted(&self, value: f64, frequency: f64) -> f64 {
        value * (frequency / self.at).powf(self.exponent)
    }

    /// Frequencies of the band, evenly on a logarithmic scale.
    pub fn frequencies(&self, count: u32) -> impl Iterator<Item = f64> + use<> {
        let [low, high] = self.band;
        (0..count).map(move |n| low * (high / low).powf(f64::from(n) / f64::from(count - 1)))
    }

    /// The relaxations that make the law.
    pub fn relaxations(&self) -> Vec<Relaxation> {
        let beyond = if self.exponent > STEEP { BEYOND_STEEP } else { BEYOND };
        let [low, high] = [self.band[0] / BEYOND, self.band[1] * beyond];
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most some dozens"
        )]
        let count = 2 + (1.5 * (self.band[1] / self.band[0]).log10()).ceil().max(0.0) as u32;
        let corners: Vec<f64> = (0..count)
            .map(|n| low * (high / low).powf(f64::from(n) / f64::from(count - 1)))
            .collect();
        // Of 1 dB/m at f₁, each frequency weighted by what is wanted there.
        let column = |corner: f64| -> Vec<f64> {
            self.frequencies(FITTED)
                .map(|f| {
                    let ratio = f / corner;
                    DB_PER_NEPER * TAU * f / 2.0 * ratio / (1.0 + ratio * ratio) / self.wanted(1.0, f)
                })
                .collect()
        };
        let columns: Vec<Vec<f64>> = corners.iter().map(|corner| column(*corner)).collect();
        let strengths = not_negative(&columns);
        (corners.iter().zip(strengths))
            .filter(|(_, strength)| *strength > 0.0)
            .map(|(corner, strength)| Relaxation {
                time: 1.0 / (TAU * corner),
                strength,
            })
            .collect()
    }
}

impl Attenuation {
    /// The largest relative error of the law within the band for a medium of speed c∞ with `value` dB/m at f₁: relaxations are fitted to weak losses.
    pub fn missed(&self, relaxations: &[Relaxation], speed: f64, value: f64) -> f64 {
        if value == 0.0 {
            return 0.0;
        }
        let off = |f: f64| plane_wave(relaxations, speed, value, f)[0] / self.wanted(value, f) - 1.0;
        let all = self.frequencies(65).map(off);
        all.fold(0.0, |most: f64, off| most.max(off.abs()))
    }
}

/// Attenuation in dB/m and phase speed in m/s of a plane wave of `frequency` Hz in a medium of `speed` c∞ with `value` dB/m at f₁; exact, of any strength.
pub fn plane_wave(relaxations: &[Relaxation], speed: f64, value: f64, frequency: f64) -> [f64; 2] {
    let omega = TAU * frequency;
    let share = |own: &Relaxation| value * own.strength * speed / Complex64::new(1.0, omega * own.time);
    let index = (1.0 + relaxations.iter().map(share).sum::<Complex64>()).sqrt();
    [-index.im * omega / speed * DB_PER_NEPER, speed / index.re]
}

/// x ≥ 0 with the least |Σ xₗ columnₗ − 1|², one number after the other until nothing changes: the sum is convex, so that this ends in its only least value.
fn not_negative(columns: &[Vec<f64>]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let products: Vec<Vec<f64>> = (columns.iter())
        .map(|a| columns.iter().map(|b| dot(a, b)).collect())
        .collect();
    let sums: Vec<f64> = columns.iter().map(|column| column.iter().sum()).collect();
    let mut found = vec![0.0; columns.len()];
    for _ in 0..20_000 {
        let mut moved = 0.0_f64;
        for n in 0..found.len() {
            let before: f64 = found[n];
            let left = sums[n] - dot(&products[n], &found);
            found[n] = (before + left / products[n][n]).max(0.0);
            moved = moved.max((found[n] - before).abs() * products[n][n].sqrt());
        }
        if moved < 1e-9 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relaxations_follow_power_laws_within_two_per_cent() {
        // A steep law of 0.01 dB/m at 2 kHz takes more than the tenths of a decibel a wavelength at 100 kHz for which the fit is made.
        let value = |exponent: f64| if exponent > STEEP { 0.001 } else { 0.01 };
        for exponent in [0.5, 1.0, 1.1, 1.5, 1.6, 1.8, 2.0] {
            for ratio in [4.0, 10.0, 30.0, 100.0] {
                let law = Attenuation {
                    at: 2000.0,
                    value: value(exponent),
                    exponent,
                    band: [1000.0, 1000.0 * ratio],
                };
                let made = law.relaxations();
                for f in law.frequencies(97) {
                    let [db, _] = plane_wave(&made, 1500.0, law.value, f);
                    let off = db / law.wanted(law.value, f) - 1.0;
                    assert!(off.abs() < 0.02, "y = {exponent}, band 1:{ratio}, {f} Hz: {off}");
                }
            }
        }
    }

    /// The figures of the scene format's reference: what the law misses at most, with up to so many decibels a wavelength in the band, up to exponent 1.5 and above.
    #[test]
    fn stronger_losses_miss_the_law_by_more() {
        const SPEED: f64 = 1500.0;
        for (lost, most) in [(1e-6, [0.014, 0.023]), (0.1, [0.018, 0.032]), (0.3, [0.035, 0.06])] {
            for exponent in [0.5, 1.0, 1.5, 1.51, 1.8, 2.0] {
                for ratio in [2.0, 4.0, 10.0, 20.0, 100.0] {
                    let band = [1000.0, 1000.0 * ratio];
                    // Of a wavelength most is lost at the upper end, below an exponent of 1 at the lower.
                    let end = band[usize::from(exponent >= 1.0)];
                    let value = lost * end / SPEED;
                    let law = Attenuation {
                        at: end,
                        value,
                        exponent,
                        band,
                    };
                    let missed = law.missed(&law.relaxations(), SPEED, value);
                    let limit = most[usize::from(exponent > STEEP)];
                    assert!(missed < limit, "y = {exponent}, band 1:{ratio}, {lost} dB: {missed}");
                }
            }
        }
    }

    /// Szabo's relation for y = 1: 1/c(f₁) − 1/c(f₂) = (2α₁/π ω₁) ln(f₂/f₁), α₁ in Np/m. Inside the band the relaxations know the law beyond it only 2.5 times further, which leaves a tenth of it.
    #[test]
    fn waves_are_as_slow_as_causality_asks() {
        let law = Attenuation {
            at: 1e6,
            value: 50.0,
            exponent: 1.0,
            band: [1e5, 1e7],
        };
        let made = law.relaxations();
        let speed = |f: f64| plane_wave(&made, 1540.0, law.value, f)[1];
        let [low, high] = [5e5, 2e6];
        let wanted = 2.0 * law.value / DB_PER_NEPER / (std::f64::consts::PI * TAU * law.at) * f64::ln(high / low);
        let found = 1.0 / speed(low) - 1.0 / speed(high);
        assert!((found / wanted - 1.0).abs() < 0.1, "{found} for {wanted}");
    }
}
