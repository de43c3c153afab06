//! Closed forms of time-reversal mirrors.

use std::f64::consts::PI;

/// Full width at half height of J₀(kr), in wavelengths: what a focus in the open has in two dimensions. J₀(1.52114) = ½.
pub const SPOT_2D: f64 = 2.0 * 1.521_144_057_7 / (2.0 * PI);

/// The same in wavelengths, mean over both axes, where waves come from angles up to `half_angle` on either side of an axis only, all with the same strength: across that axis the mean of
/// cos(kr sin φ) falls to a half, along it that of cos(kr cos φ). [`SPOT_2D`] is what all directions give.
pub fn spot_of_an_aperture(half_angle: f64) -> f64 {
    const PIECES: u32 = 2000;
    let mean = |kr: f64, along: bool| {
        let angles = (0..PIECES).map(|n| half_angle * ((2.0 * f64::from(n) + 1.0) / f64::from(PIECES) - 1.0));
        let parts = angles.map(|angle| if along { angle.cos() } else { angle.sin() });
        parts.map(|part| (kr * part).cos()).sum::<f64>() / f64::from(PIECES)
    };
    let half = |along: bool| {
        // The first crossing: means fall from 1 at 0, and at kr = 1 still exceed ½.
        let mut high = 1.0;
        while mean(high, along) > 0.5 {
            high += 0.01;
        }
        let mut low = high - 0.01;
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if mean(middle, along) > 0.5 {
                low = middle;
            } else {
                high = middle;
            }
        }
        2.0 * low / (2.0 * PI)
    };
    f64::midpoint(half(false), half(true))
}

/// The error that a plain mirror leaves of a packet on a chain after the best scaling: the site's answer weighs momenta by 1/v, v ∝ sin k.
///
/// √(1 − ⟨1/v⟩²/⟨1/v²⟩) over |ψ(k)|² ∝ exp(−2σ²(k − k₀)²), k₀ well inside (0, π) against 1/2σ.
///
/// Source: Pastawski, Danieli, Calvo, Foa Torres 2007, doi:10.1209/0295-5075/77/40001 (the propagator's 1/v).
pub fn plain_chain_error(momentum: f64, sigma: f64) -> f64 {
    // The midpoint rule is exact to round-off for a Gaussian of six standard deviations.
    let pieces = 4000;
    let width = 6.0 / (2.0 * sigma);
    let (mut weight, mut first, mut second) = (0.0, 0.0, 0.0);
    for n in 0..pieces {
        let k = momentum + width * ((2.0 * f64::from(n) + 1.0) / f64::from(pieces) - 1.0);
        let share = (-2.0 * (sigma * (k - momentum)).powi(2)).exp();
        let slow = 1.0 / k.sin();
        weight += share;
        first += share * slow;
        second += share * slow * slow;
    }
    (1.0 - first * first / (weight * second)).sqrt()
}

/// A closed room of two dimensions with rigid walls in which every place is as good as any other, and what is done in it.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// m².
    pub area: f64,
    /// Speed of sound, m/s.
    pub speed: f64,
    /// Length of the record, s.
    pub record: f64,
    /// How many transducers.
    pub transducers: f64,
    /// Whether they play one bit.
    pub one_bit: bool,
}

impl Room {
    /// The focus of a burst of `cycles` periods of `frequency` under a Hann window, over the rms of the field around it.
    ///
    /// With modes φₙ that are Gaussian random numbers, a focus adds M Σ wₙ; the background's variance has the modes' own M(M + 2) Σ wₙ², and M Σ wₙ² T_H/T of pairs of modes that the
    /// record does not tell apart, T_H = 2πρ(ω). So the square is MN/(M + 2 + T_H/T), N = (∫ρw)²/∫ρw², w = |ŝ(ω)|/ω, ρ = Aω/2πc² (Weyl). One bit of a Gaussian noise keeps 2/π
    /// of its power; the rest is noise, T_H/T becomes (π/2) T_H/T.
    ///
    /// Sources: Draeger & Fink 1997, doi:10.1103/PhysRevLett.79.407; Derode, Tourin & Fink 1999, doi:10.1063/1.370136 (one bit).
    pub fn contrast(&self, frequency: f64, cycles: f64) -> f64 {
        let end = cycles / frequency;
        let spectrum = |omega: f64| {
            // ∫ sin²(πt/end) sin(2πft) e^(iωt) dt by the midpoint rule, exact to round-off for what vanishes at both ends.
            let pieces = 400;
            let (mut re, mut im) = (0.0, 0.0);
            for n in 0..pieces {
                let t = (f64::from(n) + 0.5) * end / f64::from(pieces);
                let s = (PI * t / end).sin().powi(2) * (2.0 * PI * frequency * t).sin();
                re += s * (omega * t).cos();
                im += s * (omega * t).sin();
            }
            f64::hypot(re, im)
        };
        let pieces = 2000;
        let (mut first, mut second, mut unresolved) = (0.0, 0.0, 0.0);
        for n in 0..pieces {
            // Up to four times the burst's own.
            let omega = (f64::from(n) + 0.5) * 8.0 * PI * frequency / f64::from(pieces);
            let density = self.area * omega / (2.0 * PI * self.speed.powi(2));
            let weight = spectrum(omega) / omega;
            first += density * weight;
            second += density * weight * weight;
            unresolved += density * weight * weight * 2.0 * PI * density;
        }
        let modes = first * first / second * 8.0 * PI * frequency / f64::from(pieces);
        let ratio = unresolved / second / self.record * if self.one_bit { PI / 2.0 } else { 1.0 };
        (self.transducers * modes / (self.transducers + 2.0 + ratio)).sqrt()
    }

    /// The share of such a focus that is left when a convex obstacle of this perimeter was moved: of paths that have never met it, where it was or where it is.
    /// A path meets it P/πA times a metre (Cauchy's formula), and a record of the way L holds paths of all lengths up to it.
    pub fn left_after_moving(&self, perimeter: f64) -> f64 {
        let hits = 2.0 * perimeter / (PI * self.area) * self.speed * self.record;
        (1.0 - (-hits).exp()) / hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_band_is_weighed_by_its_slope() {
        // |cot k|/2σ to first order, and nothing in the middle of the band.
        let broad = plain_chain_error(1.0, 50.0);
        assert!((broad / (1.0f64.tan().recip() / 100.0) - 1.0).abs() < 1e-3, "{broad}");
        assert!(plain_chain_error(PI / 2.0, 50.0) < 1e-4);
    }

    #[test]
    fn all_directions_make_the_spot_of_the_plane() {
        assert!((spot_of_an_aperture(PI) - SPOT_2D).abs() < 1e-6);
        // One direction: cos kr = ½ along it.
        assert!(spot_of_an_aperture(1.0) > spot_of_an_aperture(1.2));
    }

    #[test]
    fn longer_records_and_more_transducers_help() {
        let room = Room {
            area: 4.584,
            speed: 343.0,
            record: 0.105,
            transducers: 1.0,
            one_bit: false,
        };
        let plain = room.contrast(2450.0, 2.0);
        assert!((plain - 15.14).abs() < 0.02, "{plain}");
        let more = Room {
            transducers: 3.0,
            ..room
        };
        assert!(more.contrast(2450.0, 2.0) > 1.4 * plain);
        let bit = Room { one_bit: true, ..room };
        assert!((bit.contrast(2450.0, 2.0) - 12.99).abs() < 0.02);
        // Without end all modes are told apart, and M + 2 is left: N = 1855.
        let long = Room { record: 1e9, ..room };
        assert!((long.contrast(2450.0, 2.0).powi(2) * 3.0 - 1855.0).abs() < 5.0);
        assert!((room.left_after_moving(1e-9) - 1.0).abs() < 1e-6);
    }
}
