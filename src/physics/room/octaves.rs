//! Octaves of a response.
//!
//! |H(f)|² = 1/(1 + [Q(f/f_m − f_m/f)]⁶): the magnitude of a Butterworth band-pass of order 3 (6 poles), −3 dB at the edges f_m·10^(±3/20), taken without
//! phase in the frequency domain, so that a band neither comes late nor shifts its parts. f_m = 1000·10^(3n/10) Hz (IEC 61260-1, base ten).

use super::Response;
use super::response::spectrum;
use rustfft::FftPlanner;

/// Names of the octaves from n = −10 on (ISO 266).
const NOMINAL: [&str; 15] = [
    "1", "2", "4", "8", "16", "31.5", "63", "125", "250", "500", "1000", "2000", "4000", "8000", "16000",
];

/// One octave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Octave {
    /// n of f_m = 1000·10^(3n/10) Hz.
    pub number: i32,
}

impl Octave {
    /// f_m, Hz.
    #[must_use]
    pub fn middle(self) -> f64 {
        1000.0 * 10f64.powf(0.3 * f64::from(self.number))
    }

    /// Its edges, Hz.
    #[must_use]
    pub fn edges(self) -> [f64; 2] {
        [self.middle() * 10f64.powf(-0.15), self.middle() * 10f64.powf(0.15)]
    }

    /// B, Hz.
    #[must_use]
    pub fn width(self) -> f64 {
        let [low, high] = self.edges();
        high - low
    }

    /// Its name, Hz: rounded as in the standard, beyond its names to three digits.
    #[must_use]
    pub fn name(self) -> String {
        let place = usize::try_from(self.number + 10).ok();
        match place.and_then(|place| NOMINAL.get(place)) {
            Some(name) => (*name).to_owned(),
            None => crate::units::si(self.middle()).trim_end().to_owned(),
        }
    }

    /// |H|² at a frequency.
    #[must_use]
    pub fn gain(self, frequency: f64) -> f64 {
        if frequency <= 0.0 {
            return 0.0;
        }
        let [low, high] = self.edges();
        let middle = self.middle();
        let off = middle / (high - low) * (frequency / middle - middle / frequency);
        1.0 / (1.0 + off.powi(6))
    }
}

/// The octaves within a response's band, below half its rate, and above the frequency of one period in the whole response.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
pub fn octaves(response: &Response) -> Vec<Octave> {
    let [low, high] = response.band;
    let low = low.max(1.0 / (response.values.len() as f64 * response.step));
    let highest = high.min(0.5 / response.step);
    (-20..=40)
        .map(|number| Octave { number })
        .filter(|octave| octave.edges()[0] >= low && octave.edges()[1] <= highest)
        .collect()
}

/// The part of a response in an octave.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
pub fn filtered(values: &[f64], step: f64, octave: Octave) -> Vec<f64> {
    let size = (2 * values.len()).next_power_of_two();
    let mut wave = spectrum(values, size);
    let bin = 1.0 / (size as f64 * step);
    for (n, value) in wave.iter_mut().enumerate() {
        let frequency = n.min(size - n) as f64 * bin;
        *value *= octave.gain(frequency).sqrt() / size as f64;
    }
    FftPlanner::new().plan_fft_inverse(size).process(&mut wave);
    wave[..values.len()].iter().map(|value| value.re).collect()
}
