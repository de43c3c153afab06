//! Uniform and Gaussian noise that is the same on every machine.

use std::f64::consts::TAU;

/// What SplitMix64 counts up by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195) makes in this state: bits that look random.
pub(crate) fn scramble(state: u64) -> u64 {
    let mut bits = state.wrapping_add(STEP);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Random numbers from a seed, by SplitMix64.
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

    /// The next whole number below 2⁵³.
    fn next(&mut self) -> u64 {
        let bits = scramble(self.state);
        self.state = self.state.wrapping_add(STEP);
        bits >> 11
    }

    /// From (0, 1].
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn uniform(&mut self) -> f64 {
        (self.next() + 1) as f64 / (1u64 << 53) as f64
    }

    /// From [−1, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub fn signed(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Normally distributed, of mean 0 and variance 1, by the transform of Box and Muller (1958, doi:10.1214/aoms/1177706645).
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
