//! A record in narrow bands of frequency, each with few numbers.
//!
//! Channel k of 2D is y_k(m) = Σ_n h(n) C(mD + n) e^{iπk(mD + n)/D}: the band of angles θ = EΔt about πk/D, of which every D-th number is kept. h is a low pass of length 20D with Kaiser's window: 1 up to
//! π/2D, below [`STOP`] decibels from 3π/2D on, so that what the thinning folds into |θ| < π/2D is suppressed. Only sums over whole filters are kept; a sum of exponentials Σ d u^n stays one,
//! Σ d H(u) u^{mD} with H(u) = Σ h(n) u^n, growing or decaying alike. All channels of an m are one Fourier transform of length 2D.
//!
//! References: Kaiser 1974, Proc. IEEE Int. Symp. Circuits Syst., 20 (window); Crochiere & Rabiner 1983, Multirate Digital Signal Processing, section 7.2 (channels by a Fourier transform).

use num_complex::Complex64;
use rustfft::FftPlanner;
use std::f64::consts::PI;

/// Numbers of the record for each number that a channel may have; a record that is no longer is one channel.
const LONGEST: usize = 160;

/// How far other bands are suppressed, in decibels: below the rounding of single precision.
const STOP: f64 = 150.0;

/// A band.
pub(super) struct Channel {
    /// The angle in its middle.
    pub(super) middle: f64,
    /// Its numbers, from that of the record's first ones on.
    pub(super) signal: Vec<Complex64>,
}

/// All bands of a record.
pub(super) struct FilterBank {
    /// Steps between the numbers of a channel, D.
    pub(super) thinning: usize,
    /// The bands.
    pub(super) channels: Vec<Channel>,
    filter: Vec<f64>,
}

impl FilterBank {
    pub(super) fn of(record: &[Complex64]) -> Self {
        let thinning = record.len().div_ceil(LONGEST).max(1);
        if thinning == 1 {
            let whole = Channel {
                middle: 0.0,
                signal: record.to_vec(),
            };
            return Self {
                thinning,
                channels: vec![whole],
                filter: vec![1.0],
            };
        }
        let filter = low_pass(thinning);
        let count = 2 * thinning;
        #[expect(clippy::cast_precision_loss, reason = "numbers of channels")]
        let middle = |k: usize| PI * k as f64 / thinning as f64;
        let mut channels: Vec<Channel> = (0..count)
            .map(|k| Channel {
                middle: middle(k),
                signal: Vec::new(),
            })
            .collect();
        // e^{+iEt}: the inverse transform.
        let transform = FftPlanner::new().plan_fft_inverse(count);
        for (m, piece) in record.windows(filter.len()).step_by(thinning).enumerate() {
            let mut folded = vec![Complex64::ZERO; count];
            for (n, (value, weight)) in piece.iter().zip(&filter).enumerate() {
                folded[n % count] += value * weight;
            }
            transform.process(&mut folded);
            for (k, (channel, value)) in channels.iter_mut().zip(folded).enumerate() {
                channel
                    .signal
                    .push(if (k * m).is_multiple_of(2) { value } else { -value });
            }
        }
        Self {
            thinning,
            channels,
            filter,
        }
    }

    /// H of an exponential that a step multiplies by e^`log`, turned into the band's middle.
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    pub(super) fn gain(&self, log: Complex64) -> Complex64 {
        let terms = self.filter.iter().enumerate();
        terms.map(|(n, weight)| (log * n as f64).exp() * weight).sum()
    }

    /// Whether an angle from a band's middle belongs to this band; neighbours share a little.
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    pub(super) fn holds(&self, aside: f64) -> bool {
        self.thinning == 1 || aside.abs() * self.thinning as f64 <= 0.51 * PI
    }
}

/// h for a thinning by D, of sum 1.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of filters"
)]
fn low_pass(thinning: usize) -> Vec<f64> {
    let cut = PI / thinning as f64;
    // Kaiser's formulas for a transition from cut/2 to 3 cut/2.
    let length = ((STOP - 8.0) / (2.285 * cut)).ceil() as usize | 1;
    let beta = 0.1102 * (STOP - 8.7);
    let half = (length - 1) as f64 / 2.0;
    let all: Vec<f64> = (0..length)
        .map(|n| {
            let from_middle = n as f64 - half;
            let x = cut * from_middle;
            let sinc = if x.abs() < 1e-9 { 1.0 } else { x.sin() / x };
            let inside = 1.0 - (from_middle / half).powi(2);
            sinc * bessel(beta * inside.max(0.0).sqrt())
        })
        .collect();
    let sum: f64 = all.iter().sum();
    all.iter().map(|value| value / sum).collect()
}

/// I₀ by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..200u8 {
        term *= (x / (2.0 * f64::from(k))).powi(2);
        sum += term;
        if term < f64::EPSILON * sum {
            break;
        }
    }
    sum
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;

    /// A decaying wave is the same wave in its band, times H, of about e^{−0.2}, half a filter's decay; bands beyond the next have nothing of it.
    #[test]
    fn a_wave_stays_a_wave_in_its_band() {
        let (theta, damping) = (1.0, 0.004);
        let record: Vec<Complex64> = (0..700u16)
            .map(|n| (Complex64::new(-damping, -theta) * f64::from(n)).exp())
            .collect();
        let bank = FilterBank::of(&record);
        assert_eq!((bank.thinning, bank.channels.len()), (5, 10));
        let mut held = 0;
        for channel in &bank.channels {
            let turns = (theta - channel.middle) / (2.0 * PI);
            let aside = 2.0 * PI * (turns - turns.round());
            let own = Complex64::new(-damping, -aside);
            let gain = bank.gain(own);
            for (m, value) in channel.signal.iter().enumerate() {
                let exact = gain * (own * (5 * m) as f64).exp();
                assert!((value - exact).norm() < 1e-12, "{m}: {value} {exact}");
            }
            if bank.holds(aside) {
                held += 1;
                assert!((gain.norm() - 1.0).abs() < 0.25, "{gain}");
            }
            if aside.abs() > 1.5 * PI / 5.0 {
                assert!(channel.signal[0].norm() < 2e-7, "{aside}: {}", channel.signal[0]);
            }
        }
        assert_eq!(held, 1);
    }

    /// I₀(1) and I₀(15), Abramowitz & Stegun, table 9.8.
    #[test]
    fn bessel_function() {
        assert!((bessel(1.0) - 1.266_065_877_752_008).abs() < 1e-14);
        assert!((bessel(15.0) / 339_649.373_297_914 - 1.0).abs() < 1e-12);
    }
}
