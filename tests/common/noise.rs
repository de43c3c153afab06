//! Random numbers for tests.

use ripplon::physics::noise::Noise;

/// Seeded values from −1 to 1.
pub fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut noise = Noise::new(seed);
    (0..len).map(|_| noise.signed()).collect()
}
