//! The spectrum of a record over time: what a detector heard, by frequency.
//!
//! Scheme: mean off, Hann window w_n = sin²(πn/(N−1)), FFT; power = |2 Σ w_n x_n e^{−2πifn}|² / (Σ w_n)², so that a line A cos(2πft) in the middle of a bin has the
//! power A². Lines closer than two bins are one. Reference: F. J. Harris 1978, On the use of windows for harmonic analysis, doi:10.1109/PROC.1978.10837.

use num_complex::Complex64;
use rustfft::FftPlanner;

/// The smallest number of records for a meaningful spectrum.
const FEWEST: usize = 16;

/// Power by frequency, evenly spaced from 0 on.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Spectrum {
    /// Cycles per unit of time from one entry to the next: 1/(length of the record).
    pub step: f64,
    /// Amplitude squared of the line at each frequency, up to half the rate of recording; in the record's unit squared.
    pub power: Vec<f64>,
}

impl Spectrum {
    /// The spectrum of `values` at rising or falling `times`, of the last `most` at most. `None` for fewer than 16, or for numbers that are not finite.
    ///
    /// Uneven records (older ones thinned out, Δt changed) are interpolated linearly at the widest spacing in them.
    #[must_use]
    pub fn of(times: &[f64], values: &[f64], most: usize) -> Option<Self> {
        let skip = times.len().min(values.len()).saturating_sub(most);
        let (times, values) = (times.get(skip..)?, values.get(skip..)?);
        let (mut even, spacing) = evenly(times, values)?;
        let count = even.len();
        if count < FEWEST || !even.iter().all(|value| value.is_finite()) {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of records")]
        let length = count as f64;
        let mean = even.iter().sum::<f64>() / length;
        let mut weight = 0.0;
        let mut wave: Vec<Complex64> = even
            .drain(..)
            .enumerate()
            .map(|(n, value)| {
                #[expect(clippy::cast_precision_loss, reason = "counts of records")]
                let window = (std::f64::consts::PI * n as f64 / (length - 1.0)).sin().powi(2);
                weight += window;
                Complex64::from(window * (value - mean))
            })
            .collect();
        FftPlanner::new().plan_fft_forward(count).process(&mut wave);
        let scale = (2.0 / weight).powi(2);
        Some(Self {
            step: 1.0 / (length * spacing),
            power: wave[..=count / 2]
                .iter()
                .map(|value| scale * value.norm_sqr())
                .collect(),
        })
    }

    /// Entries up to the last frequency whose power is above `share` of the largest one.
    pub fn reach(&self, share: f64) -> usize {
        let largest = self.power.iter().copied().fold(0.0, f64::max);
        let last = self.power.iter().rposition(|power| *power > share * largest);
        last.map_or(0, |last| last + 1)
    }
}

/// The record at even times, and their spacing.
pub(super) fn evenly(times: &[f64], values: &[f64]) -> Option<(Vec<f64>, f64)> {
    let gaps = || times.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let (least, widest) = gaps().fold((f64::INFINITY, 0.0_f64), |(low, high), gap| {
        (low.min(gap), high.max(gap))
    });
    let (first, last) = (*times.first()?, *times.last()?);
    if !widest.is_finite() || widest <= 0.0 {
        return None;
    }
    if widest - least < 1e-6 * widest {
        return Some((values.to_vec(), widest));
    }
    // Backwards from the newest, whose time is a multiple of the widest spacing away from records that were thinned out.
    let back = (last - first).signum();
    let mut even = Vec::new();
    let mut upper = times.len() - 1;
    let mut time = last;
    // Times are sums of steps: the oldest may lie beyond its multiple by their rounding.
    while (time - first) * back >= -1e-6 * widest {
        while upper > 1 && (times[upper - 1] - time) * back >= 0.0 {
            upper -= 1;
        }
        let (from, to) = (times[upper - 1], times[upper]);
        let part = if to == from { 1.0 } else { (time - from) / (to - from) };
        even.push(values[upper - 1] + part * (values[upper] - values[upper - 1]));
        #[expect(clippy::cast_precision_loss, reason = "counts of records")]
        let steps = even.len() as f64;
        time = last - back * widest * steps;
    }
    even.reverse();
    Some((even, widest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// Two lines, of amplitudes 3 and 1e-3, on bins 50 and 170 of 1000 records of 0.1, on a ground of 7.
    fn wave(t: f64) -> f64 {
        7.0 + 3.0 * (TAU * 0.5 * t + 0.4).cos() + 1e-3 * (TAU * 1.7 * t).sin()
    }

    /// A Hann window's own line is three bins wide and falls as f⁻⁶ in power beyond; the window's N − 1 shifts bins by 1/N, which costs 1e-6 of a line's power.
    #[test]
    fn lines_have_their_amplitudes_squared() {
        let times: Vec<f64> = (0..1000).map(|n| 0.1 * f64::from(n)).collect();
        let values: Vec<f64> = times.iter().map(|t| wave(*t)).collect();
        let spectrum = Spectrum::of(&times, &values, usize::MAX).unwrap();
        assert!((spectrum.step - 0.01).abs() < 1e-12);
        assert_eq!(spectrum.power.len(), 501);
        assert!((spectrum.power[50] / 9.0 - 1.0).abs() < 1e-4, "{}", spectrum.power[50]);
        assert!(
            (spectrum.power[170] / 1e-6 - 1.0).abs() < 1e-2,
            "{}",
            spectrum.power[170]
        );
        assert!(spectrum.power[110] < 1e-10, "{}", spectrum.power[110]);
        assert!(spectrum.power[0] < 1e-10);
        assert_eq!(spectrum.reach(1e-8), 172);
        assert_eq!(Spectrum::of(&times[..15], &values[..15], 99), None);
        let mut broken = values.clone();
        broken[7] = f64::NAN;
        assert_eq!(Spectrum::of(&times, &broken, usize::MAX), None);
        // The last ones only, and backwards in time.
        assert_eq!(Spectrum::of(&times, &values, 200).unwrap().power.len(), 101);
        let back: Vec<f64> = times.iter().map(|t| -t).collect();
        assert_eq!(Spectrum::of(&back, &values, usize::MAX).unwrap().power, spectrum.power);
    }

    /// Older records at double spacing: as if all had it.
    #[test]
    fn thinned_records_are_read_at_their_widest_spacing() {
        let times: Vec<f64> = (0..1000)
            .filter(|n| *n >= 500 || n % 2 == 1)
            .map(|n| 0.1 * f64::from(n))
            .collect();
        let values: Vec<f64> = times.iter().map(|t| wave(*t)).collect();
        let spectrum = Spectrum::of(&times, &values, usize::MAX).unwrap();
        assert!((spectrum.step * 500.0 * 0.2 - 1.0).abs() < 1e-9);
        assert!((spectrum.power[50] / 9.0 - 1.0).abs() < 1e-4, "{}", spectrum.power[50]);
    }
}
