//! The impulse response of a place: a record divided by what was played.

use super::decay::{ONSET, first_within};
use crate::physics::Source;
use crate::physics::spectrum::evenly;
use crate::rounding::truncated;
use num_complex::Complex64;
use rustfft::FftPlanner;

/// λ: the record is not divided by power below this share of the strongest.
pub(super) const REGULARIZATION: f64 = 1e-4;

/// The share of its largest value with which a record, or what was played, begins: small, as a signal that swells reaches a share of a record that is louder for its reverberation later than its own.
const BEGINNING: f64 = 1e-6;

/// Fewest samples of a response.
const FEWEST: usize = 64;

/// A response, evenly sampled from t = 0 of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// Seconds from one sample to the next.
    pub step: f64,
    /// h, in the record's unit per unit of the source and second; for a record that was used unchanged, in the record's unit.
    pub values: Vec<f64>,
    /// Its band, Hz: where the source (or the unchanged record) has more than λ of its strongest power.
    pub band: [f64; 2],
    /// Whether it was divided by a source's spectrum.
    pub deconvolved: bool,
    /// The sample in which the sound arrives.
    pub arrival: usize,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ResponseError {
    /// The record is too short or empty.
    #[error(
        "the record has {has} even samples of finite numbers, and a response needs {needs}; let the scene run longer (time.end)"
    )]
    Record {
        /// Samples.
        has: usize,
        /// Samples that are needed.
        needs: usize,
    },
    /// Nothing was heard.
    #[error(
        "nothing was heard there: every recorded pressure is 0; place the detector where the sound comes, or raise time.end"
    )]
    Silent,
    /// A source that plays one frequency continuously.
    #[error(
        "source.{source_number}.signal = \"sine\" plays one frequency and never ends, so it tells nothing of the others; play \"ricker\", \"burst\" or \"chirp\""
    )]
    Endless {
        /// Its place in the scene.
        source_number: usize,
    },
    /// Sources that play different signals.
    #[error(
        "source.{source_number} plays something else than source.0, and one record cannot be divided by both; leave one source, or give both the same signal and delay"
    )]
    Several {
        /// The first that differs.
        source_number: usize,
    },
    /// A source that moves has no impulse response.
    #[error("source.{source_number}.velocity: a source that moves has no impulse response; remove `velocity`")]
    Moving {
        /// Its place in the scene.
        source_number: usize,
    },
    /// The record is sampled too coarsely for the source's signal.
    #[error(
        "the record has {rate:.0} samples a second, and the source plays up to {plays:.0} Hz: more than half of that; let the detector record more often (`every`), or take a smaller time.step"
    )]
    Seldom {
        /// Samples per second.
        rate: f64,
        /// Highest frequency of the source, Hz.
        plays: f64,
    },
    /// The record ends before the source does.
    #[error(
        "the record lasts {lasts:.4} s and the source plays until {plays:.4} s; raise time.end above that by the reverberation time"
    )]
    SourceOutlasts {
        /// Seconds.
        lasts: f64,
        /// Seconds.
        plays: f64,
    },
}

impl Response {
    /// The response behind a record, with all `sources`: H = P·S*/(|S|² + λ·max|S|²), λ = 1e-4, S the spectrum of what
    /// was played, from t = 0 on. The last part of the record, as long as the signal, is left out, because the response
    /// to it is incomplete. Without sources (a scene that begins with pulses) the record is used unchanged, minus the
    /// static pressure that a pulse leaves in a closed room.
    ///
    /// # Errors
    /// See [`ResponseError`].
    pub fn of_record(times: &[f64], values: &[f64], sources: &[Source]) -> Result<Self, ResponseError> {
        let (record, step) = evenly(times, values).unwrap_or_default();
        let finite = record.iter().take_while(|value| value.is_finite()).count();
        if finite < FEWEST || finite < record.len() {
            return Err(ResponseError::Record {
                has: finite,
                needs: FEWEST.max(record.len()),
            });
        }
        if record.iter().all(|value| *value == 0.0) {
            return Err(ResponseError::Silent);
        }
        let Some(first) = sources.first() else {
            let arrival = first_within(&record, ONSET);
            let stays = staying(&record);
            let record: Vec<f64> = record.iter().map(|value| value - stays).collect();
            let power = spectrum(&record, (2 * record.len()).next_power_of_two());
            return Ok(Self {
                step,
                band: band(&power, step, REGULARIZATION),
                values: record,
                deconvolved: false,
                arrival,
            });
        };
        for (source_number, source) in sources.iter().enumerate() {
            if source.velocity != [0.0; 3] {
                return Err(ResponseError::Moving { source_number });
            }
            let alike = source.signal == first.signal && source.delay == first.delay && source.phase == first.phase;
            if !alike {
                return Err(ResponseError::Several { source_number });
            }
        }
        let Some(duration) = first.signal.duration() else {
            return Err(ResponseError::Endless { source_number: 0 });
        };
        let begin = times.first().copied().unwrap_or(0.0);
        Self::deconvolved(&record, (begin, step), first, duration)
    }

    /// See [`Response::of_record`]; `begin`: the time of the first sample.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    fn deconvolved(
        record: &[f64],
        (begin, step): (f64, f64),
        first: &Source,
        duration: f64,
    ) -> Result<Self, ResponseError> {
        let (lasts, delay) = (record.len() as f64 * step, first.delay);
        let left = record.len().saturating_sub(truncated((duration / step).ceil()));
        if left < FEWEST || lasts <= delay + duration {
            return Err(ResponseError::SourceOutlasts {
                lasts,
                plays: delay + duration,
            });
        }
        let plays = highest(first, duration, step);
        if plays * step > 0.5 {
            let rate = 1.0 / step;
            return Err(ResponseError::Seldom { rate, plays });
        }
        // Twice as long: what comes out is not wrapped round.
        let size = (2 * record.len()).next_power_of_two();
        // The delay shifts the response, whose time counts from the source's start.
        let played: Vec<f64> = (0..record.len())
            .map(|n| first.amplitude * first.signal_at(begin + n as f64 * step, 0.0))
            .collect();
        let source = spectrum(&played, size);
        let mut wave = spectrum(record, size);
        let strongest = source.iter().map(Complex64::norm_sqr).fold(0.0, f64::max);
        if strongest <= 0.0 {
            return Err(ResponseError::Silent);
        }
        let floor = REGULARIZATION * strongest;
        for (wave, source) in wave.iter_mut().zip(&source) {
            *wave *= source.conj() / (source.norm_sqr() + floor);
        }
        FftPlanner::new().plan_fft_inverse(size).process(&mut wave);
        let scale = 1.0 / (size as f64 * step);
        Ok(Self {
            step,
            values: wave[..left].iter().map(|value| scale * value.re).collect(),
            band: band(&source, step, REGULARIZATION),
            deconvolved: true,
            arrival: arrival(record, &played),
        })
    }
}

/// The sample of a response in which the sound arrives, from the record and what was played: both begin where they first come within 120 dB of their largest
/// value. A wave that is much weaker than what follows it still begins so, and rounding is far below.
///
/// The response itself does not tell: its band ends without a phase, so that low frequencies, which a closed room holds up, ring before anything
/// can have arrived.
fn arrival(record: &[f64], played: &[f64]) -> usize {
    first_within(record, BEGINNING).saturating_sub(first_within(played, BEGINNING))
}

/// The mean of the last quarter of a record.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn staying(record: &[f64]) -> f64 {
    let tail = &record[record.len() - record.len() / 4..];
    tail.iter().sum::<f64>() / tail.len().max(1) as f64
}

/// The highest frequency at which a source has more than a hundredth of its strongest power, Hz, found from samples
/// eight times as dense as every `step` s.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn highest(source: &Source, duration: f64, step: f64) -> f64 {
    let fine = (step / 8.0).min(duration / 1024.0);
    let samples = truncated((duration / fine).ceil());
    let at = |n: usize| source.signal_at(source.delay + (n as f64 + 0.5) * fine, 0.0);
    let played: Vec<f64> = (0..samples).map(at).collect();
    let size = (2 * samples).next_power_of_two();
    band(&spectrum(&played, size), fine, 1e-2)[1]
}

/// The spectrum of a record, padded with zeros.
pub(super) fn spectrum(values: &[f64], size: usize) -> Vec<Complex64> {
    let mut all: Vec<Complex64> = values.iter().copied().map(Complex64::from).collect();
    all.resize(size, Complex64::ZERO);
    FftPlanner::new().plan_fft_forward(size).process(&mut all);
    all
}

/// The lowest and the highest frequency with more than a share of the strongest power.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
fn band(spectrum: &[Complex64], step: f64, share: f64) -> [f64; 2] {
    let half = &spectrum[..=spectrum.len() / 2];
    let strongest = half.iter().map(Complex64::norm_sqr).fold(0.0, f64::max);
    let strong = |value: &Complex64| value.norm_sqr() > share * strongest;
    let bin = 1.0 / (spectrum.len() as f64 * step);
    let low = half.iter().position(strong).unwrap_or(0);
    let high = half.iter().rposition(strong).unwrap_or(0);
    [low as f64 * bin, high as f64 * bin]
}

/// The convolution of two sounds of one rate, Σ a_m b_(n−m), as long as both together minus one; by FFT.
#[expect(clippy::cast_precision_loss, reason = "counts of samples")]
pub fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let len = a.len() + b.len() - 1;
    let size = len.next_power_of_two();
    let mut wave = spectrum(a, size);
    for (one, other) in wave.iter_mut().zip(spectrum(b, size)) {
        *one *= other;
    }
    FftPlanner::new().plan_fft_inverse(size).process(&mut wave);
    wave[..len].iter().map(|value| value.re / size as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pulse leaves in a closed room is taken away, and the sound stays as it is.
    #[test]
    fn the_pressure_that_stays_is_no_sound() {
        let times: Vec<f64> = (0..4000).map(|n| f64::from(n) * 1e-3).collect();
        let sound = |t: f64| (-5.0 * t).exp() * (400.0 * t).sin();
        let of = |offset: f64| {
            let values: Vec<f64> = times.iter().map(|t| sound(*t) + offset).collect();
            Response::of_record(&times, &values, &[]).unwrap().values
        };
        for (value, t) in of(0.3).iter().zip(&times) {
            assert!((value - sound(*t)).abs() < 1e-8, "{t}: {value}");
        }
        assert_eq!(of(0.0).len(), times.len());
    }
}
