//! Gaussian noise that is the same on every machine.

use std::f64::consts::TAU;

/// Normally distributed numbers of mean 0 and variance 1, from a seed.
///
/// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195) through the transform of Box and Muller (1958, doi:10.1214/aoms/1177706645).
#[derive(Clone, Debug)]
pub struct Noise {
    state: u64,
    spare: Option<f64>,
}

impl Noise {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: seed,
            spare: None,
        }
    }

    /// From (0, 1].
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((z >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// The next normally distributed number.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let (sin, cos) = (TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sin);
        radius * cos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of 10⁵ numbers: within 4 standard errors, 4/√n and 4√(2/n).
    #[test]
    fn is_normal_and_repeatable() {
        let draw = |seed| {
            let mut noise = Noise::new(seed);
            (0..100_000).map(|_| noise.normal()).collect::<Vec<f64>>()
        };
        let numbers = draw(7);
        assert_eq!(numbers, draw(7));
        assert_ne!(numbers, draw(8));
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(
            mean.abs() < 0.0127 && (variance - 1.0).abs() < 0.0179,
            "{mean} {variance}"
        );
    }
}
