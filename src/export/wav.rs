//! A detector's record as sound: WAV with PCM of 16, 24 or 32 bits or 32-bit floats.
//!
//! A record of one value every Δt is a sound of 1/Δt samples per second. It is played `speed` times as fast (below 1:
//! slower, which brings ultrasound into the audible range), and converted to the file's rate by a sum over a sinc with
//! a Kaiser window: y(t) = Σ xₙ h(t − nΔt)Δt, flat up to 90 % of the lower of the two Nyquist frequencies and 90 dB
//! down at that frequency. The ratio of the two rates can be any number, and is often in the hundreds; the sum is taken
//! directly, since the windows of resampling libraries are counted in samples of the record and are too short for such
//! ratios.
//!
//! Reference: Kaiser 1974, Nonrecursive digital filter design using the I₀-sinh window function; Smith & Gossett 1984,
//! doi:10.1109/ICASSP.1984.1172555 (resampling by any ratio).

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of samples are far below 2^52, positive, and limited before they are rounded"
)]

use super::ExportError;
use crate::rounding::truncated;
use hound::{SampleFormat, WavSpec, WavWriter};
use rayon::prelude::*;
use std::f64::consts::PI;
use std::path::Path;

/// The highest value written, where 1 is full scale.
const PEAK: f64 = 0.9;

/// Longest sound, s.
const LONGEST: f64 = 3600.0;

/// Half the window, in samples of the slower of the two rates: with [`BETA`] the filter falls within a tenth of the Nyquist frequency.
const HALF_WINDOW: f64 = 57.0;

/// Kaiser's parameter for 90 dB.
const BETA: f64 = 8.96;

/// How a sample is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Whole numbers of 16 bits.
    #[default]
    Pcm16,
    /// Whole numbers of 24 bits.
    Pcm24,
    /// Whole numbers of 32 bits.
    Pcm32,
    /// Floats of 32 bits.
    Float,
}

impl Encoding {
    /// Every encoding with its word on the command line.
    pub const ALL: [(&'static str, Self); 4] = [
        ("16", Self::Pcm16),
        ("24", Self::Pcm24),
        ("32", Self::Pcm32),
        ("float", Self::Float),
    ];

    fn bits(self) -> u16 {
        match self {
            Self::Pcm16 => 16,
            Self::Pcm24 => 24,
            Self::Pcm32 | Self::Float => 32,
        }
    }
}

/// How a record becomes a sound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WavOptions {
    /// Samples per second of the file.
    pub rate: u32,
    /// How many times faster than in the scene it is played.
    pub speed: f64,
    /// How a sample is written.
    pub encoding: Encoding,
}

impl Default for WavOptions {
    fn default() -> Self {
        Self {
            rate: 48_000,
            speed: 1.0,
            encoding: Encoding::Pcm16,
        }
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// How long it plays, s.
    pub seconds: f64,
    /// The factor of every value, chosen so that the highest is [`PEAK`]; 1 for silence.
    pub gain: f64,
    /// The highest frequency of the scene in the file, Hz.
    pub highest: f64,
}

impl Written {
    /// Length, gain and band, in a few words.
    pub fn words(&self) -> String {
        use crate::units::si;
        format!(
            "{}s, frequencies up to {}Hz of the scene, values multiplied by {:.4e}",
            si(self.seconds),
            si(self.highest),
            self.gain
        )
    }
}

/// Writes a record, aside, then in place. `times` and `values` have the same length; what was recorded before time was
/// last reversed is left out, and a thinned record is interpolated linearly.
///
/// # Errors
/// If there are not two records, the sound would last longer than an hour, or the file cannot be written.
pub fn save(path: &Path, times: &[f64], values: &[f64], options: &WavOptions) -> Result<Written, ExportError> {
    let fault = |message: String| ExportError::Encoder { format: "WAV", message };
    let (step, record) = even(times, values).ok_or_else(|| {
        let message = "a sound needs two records of one direction of time; let the scene run longer, or let its detector record more often";
        fault(message.to_owned())
    })?;
    let rate = options.speed / step;
    let seconds = record.len() as f64 / rate;
    if seconds.is_nan() || seconds > LONGEST {
        return Err(fault(format!(
            "the sound would last {seconds:.0} s, and the longest is {LONGEST} s; play it faster than {} times",
            options.speed
        )));
    }
    let mut sound = resample(&record, rate, f64::from(options.rate));
    let largest = sound.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    if !largest.is_finite() {
        return Err(fault("the record holds values that are not finite".to_owned()));
    }
    let gain = if largest > 0.0 { PEAK / largest } else { 1.0 };
    for value in &mut sound {
        *value *= gain;
    }
    write(path, &sound, options)?;
    Ok(Written {
        seconds,
        gain,
        highest: 0.45 * rate.min(f64::from(options.rate)) / options.speed,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "values are below 1")]
fn write(path: &Path, sound: &[f64], options: &WavOptions) -> Result<(), ExportError> {
    let spec = WavSpec {
        channels: 1,
        sample_rate: options.rate,
        bits_per_sample: options.encoding.bits(),
        sample_format: if options.encoding == Encoding::Float {
            SampleFormat::Float
        } else {
            SampleFormat::Int
        },
    };
    let fault = |error: hound::Error| match error {
        hound::Error::IoError(source) => ExportError::io(path)(source),
        other => ExportError::Encoder {
            format: "WAV",
            message: other.to_string(),
        },
    };
    let mut file = super::begin(path)?;
    let mut writer = WavWriter::new(&mut file, spec).map_err(fault)?;
    let full = 2f64.powi(i32::from(options.encoding.bits()) - 1) - 1.0;
    for value in sound {
        if options.encoding == Encoding::Float {
            writer.write_sample(*value as f32).map_err(fault)?;
        } else {
            writer.write_sample((value * full).round() as i32).map_err(fault)?;
        }
    }
    writer.finalize().map_err(fault)?;
    super::complete(file)
}

/// The last stretch of a record in which time runs one way, one value every smallest step.
fn even(times: &[f64], values: &[f64]) -> Option<(f64, Vec<f64>)> {
    let count = times.len().min(values.len());
    let (times, values) = (&times[..count], &values[..count]);
    let forward = times.last()? > times.get(count.checked_sub(2)?)?;
    let turns = |pair: &[f64]| (pair[1] > pair[0]) != forward || pair[1] == pair[0];
    let first = times.windows(2).rposition(turns).map_or(0, |place| place + 1);
    let (times, values) = (&times[first..], &values[first..]);
    let step = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).abs())
        .fold(f64::INFINITY, f64::min);
    let length = (times.last()? - times.first()?).abs();
    if times.len() < 2 || step.is_nan() || step <= 0.0 {
        return None;
    }
    // Thinned records lie further apart; times of equal steps differ by rounding only.
    if length < step * (times.len() as f64 - 0.5) {
        return Some((length / (times.len() - 1) as f64, values.to_vec()));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    let len = (length / step).round() as usize + 1;
    let mut place = 0;
    let record = (0..len).map(|n| {
        let along = step * n as f64;
        let way = |place: usize| (times[place] - times[0]).abs();
        while place + 2 < times.len() && way(place + 1) < along {
            place += 1;
        }
        let part = ((along - way(place)) / (way(place + 1) - way(place))).clamp(0.0, 1.0);
        values[place] * (1.0 - part) + values[place + 1] * part
    });
    Some((step, record.collect()))
}

/// A record of `from` samples per second at `to` samples per second.
pub fn resample(record: &[f64], from: f64, to: f64) -> Vec<f64> {
    let slower = from.min(to);
    let half = HALF_WINDOW / slower;
    let filter = Filter::new();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an hour at most")]
    let len = ((record.len() as f64 / from * to).ceil() as usize).max(1);
    (0..len)
        .into_par_iter()
        .map(|n| {
            let t = n as f64 / to;
            let (first, last) = (
                truncated(((t - half) * from).ceil()),
                truncated(((t + half) * from).floor()).min(record.len() - 1),
            );
            let sum: f64 = (first..=last)
                .map(|m| record[m] * filter.at((t - m as f64 / from) * slower))
                .sum();
            sum * slower / from
        })
        .collect()
}

/// The filter's impulse response over the time in samples of the slower rate, read from a table between whose points lie straight lines: with 1024 points to
/// a zero crossing they are (π/1024)²/8 = 1.2e-6 off, 118 dB down.
struct Filter(Vec<f64>);

impl Filter {
    const POINTS: f64 = 1024.0;

    fn new() -> Self {
        let whole = bessel_i0(BETA);
        let len = truncated(HALF_WINDOW * Self::POINTS) + 2;
        let response = |n: usize| {
            let d = n as f64 / Self::POINTS;
            let window = bessel_i0(BETA * (1.0 - (d / HALF_WINDOW).powi(2)).max(0.0).sqrt()) / whole;
            0.95 * sinc(0.95 * d) * window
        };
        Self((0..len).map(response).collect())
    }

    fn at(&self, d: f64) -> f64 {
        let place = d.abs() * Self::POINTS;
        let n = truncated(place).min(self.0.len() - 2);
        let part = place - n as f64;
        self.0[n] + (self.0[n + 1] - self.0[n]) * part
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) }
}

/// The modified Bessel function of order 0, by its series (Abramowitz & Stegun 1964, §9.6.12).
fn bessel_i0(x: f64) -> f64 {
    let square = x * x / 4.0;
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..40 {
        term *= square / f64::from(n * n);
        sum += term;
        if term < 1e-12 * sum {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn tone(frequency: f64, rate: f64, len: usize) -> Vec<f64> {
        (0..len).map(|n| (TAU * frequency * n as f64 / rate).sin()).collect()
    }

    /// Up and down by uneven ratios: a tone stays itself, one beyond the lower Nyquist frequency is gone.
    #[test]
    fn tones_survive_and_what_a_file_cannot_hold_does_not() {
        for (from, to) in [(171_900.3, 48_000.0), (9_731.0, 48_000.0), (3.1e6, 44_100.0)] {
            let frequency = 0.4 * f64::min(from, to);
            let len = (from * 0.02) as usize;
            let sound = resample(&tone(frequency, from, len), from, to);
            // Away from the ends, where the record begins and stops within the window; ripple of 90 dB is 3e-5.
            let edge = (1.2 * HALF_WINDOW / f64::min(from, to) * to) as usize;
            for n in edge..sound.len() - edge {
                let expected = (TAU * frequency * n as f64 / to).sin();
                assert!((sound[n] - expected).abs() < 1e-4, "{from} → {to}, sample {n}");
            }
            if from > to {
                let gone = resample(&tone(0.52 * to, from, len), from, to);
                let left = gone[edge..gone.len() - edge].iter().fold(0.0f64, |m, v| m.max(v.abs()));
                assert!(left < 1e-4, "{from} → {to}: {left}");
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let (rate, frequency) = (200_000.0, 10_000.0);
        let times: Vec<f64> = (1..=4000).map(|n| f64::from(n) / rate).collect();
        let values: Vec<f64> = tone(frequency, rate, 4000).iter().map(|v| 3.0 * v).collect();
        for (_, encoding) in Encoding::ALL {
            let path = folder.path().join("a.wav");
            let options = WavOptions {
                rate: 44_100,
                speed: 0.1,
                encoding,
            };
            let written = save(&path, &times, &values, &options).unwrap();
            assert!((written.seconds - 0.2).abs() < 1e-9);
            assert!((written.gain - 0.3).abs() < 0.003, "{}", written.gain);
            let mut reader = hound::WavReader::open(&path).unwrap();
            let spec = reader.spec();
            assert_eq!((spec.sample_rate, spec.bits_per_sample), (44_100, encoding.bits()));
            let sound: Vec<f64> = if encoding == Encoding::Float {
                reader.samples::<f32>().map(|v| f64::from(v.unwrap())).collect()
            } else {
                let full = 2f64.powi(i32::from(encoding.bits()) - 1) - 1.0;
                reader.samples::<i32>().map(|v| f64::from(v.unwrap()) / full).collect()
            };
            assert_eq!(sound.len(), 8820);
            // 10 kHz ten times slower: 1 kHz.
            for n in 500..8000 {
                let expected = PEAK * (TAU * 1000.0 * n as f64 / 44_100.0).sin();
                assert!((sound[n] - expected).abs() < 2e-3, "{encoding:?} {n}");
            }
        }
    }

    #[test]
    fn thinned_and_turned_records_are_taken_as_they_are() {
        let line = |times: &[f64]| times.iter().map(|t| 2.0 * t).collect::<Vec<f64>>();
        let times = [1.0, 3.0, 5.0, 6.0, 7.0];
        let (step, record) = even(&times, &line(&times)).unwrap();
        assert_eq!((step, record), (1.0, vec![2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]));
        let times = [1.0, 2.0, 3.0, 2.0, 1.0];
        assert_eq!(even(&times, &line(&times)).unwrap().1, [6.0, 4.0, 2.0]);
        assert!(even(&[1.0], &[1.0]).is_none() && even(&[], &[]).is_none());
    }

    #[test]
    fn silence_and_sounds_without_end_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wav");
        let times = [0.0, 1.0, 2.0];
        let written = save(&path, &times, &[0.0; 3], &WavOptions::default()).unwrap();
        assert_eq!(written.gain, 1.0);
        let slow = WavOptions {
            speed: 1e-6,
            ..WavOptions::default()
        };
        let error = save(&path, &times, &[0.0; 3], &slow).unwrap_err().to_string();
        assert!(error.contains("3600"), "{error}");
        assert!(save(&path, &[], &[], &WavOptions::default()).is_err());
    }
}
