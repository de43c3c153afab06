//! Sources of sound: where they stand and what they play.
//!
//! A source adds S(r, t) to the wave equation, p_tt = c²∇²p + S. A point plays S = amplitude · s(t − delay) · δ^d(r − r₀) and, in free space,
//! gives
//! - 1D: p = amplitude/(2c) ∫ s(t′) dt′ up to t − |x|/c,
//! - 2D: p = amplitude/(2πc²) ∫ s(t′) [(t − t′)² − r²/c²]^(−1/2) dt′ up to t − r/c,
//! - 3D: p = amplitude · s(t − r/c)/(4πc²r).
//!
//! A dipole is a force F = amplitude · s(t) along n, ρ ∂v/∂t = −∇p + F δ^d(r − r₀), so S = −c² amplitude s(t) n·∇δ^d. Across all of a grid it sends ±½ amplitude · s(t − |x|/c)
//! to either side. A source that goes one way adds the monopole that is as loud, S = c amplitude s′(t) δ^d: amplitude · s(t − x/c) along n, nothing against it;
//! of a point there comes (1 + cos θ)/2 of what goes straight on.
//!
//! Sources: Morse & Ingard 1968, Theoretical Acoustics, §7.1 (Green functions of the wave equation, dipoles); Olson 1940, Elements of Acoustical Engineering, ch. 11 (cardioid).

use super::sinc::{RADIUS, weight};
use crate::grid::Grid;
use std::f64::consts::PI;
use std::path::PathBuf;
use std::sync::Arc;

/// One element of a phased array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Its position, m.
    pub at: [f64; 3],
    /// Its delay in addition to the source's own, s.
    pub delay: f64,
}

/// Where a source stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Points, each of the whole amplitude.
    Points(Vec<Element>),
    /// A line of this amplitude per metre: the sound does not depend on the spacing, and a line across a 2D grid emits
    /// the plane wave of a point in 1D. Each site counts with the length of the line in its cell; an end at the
    /// outermost sites of the longest axis, or of another that is as long, reaches to the walls, half a spacing beyond.
    Line {
        /// One end, m.
        from: [f64; 3],
        /// The other end, m.
        to: [f64; 3],
    },
    /// A disk of this amplitude per square metre, normal to an axis, in three dimensions; the grid's edges cut it.
    Disk {
        /// Its centre, m; it may lie outside the grid.
        center: [f64; 3],
        /// Its radius, m.
        radius: f64,
        /// The axis normal to it, 0 to 2.
        normal: usize,
    },
}

/// Where a source sends its sound; unit vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pattern {
    /// Alike in all directions.
    #[default]
    Monopole,
    /// A force along this direction.
    Dipole([f64; 3]),
    /// A force and a monopole whose waves cancel behind it.
    OneWay([f64; 3]),
}

/// A recorded sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Samples per second.
    pub rate: f64,
    /// The samples.
    pub values: Vec<f64>,
    /// The file, as the scene names it.
    pub file: PathBuf,
}

/// s(t), 0 before t = 0. Every kind has a vanishing mean, whatever its phase, so that 1D and 2D keep no offset and the
/// pressure of a closed room does not grow with time, except a recording that has a mean, and a burst of one period or
/// of a number of periods that is not whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// (1 − 2u) exp(−u), u = (πf(t − 1.2/f))²: the spectrum peaks at f and has fallen by 20 dB at 2.2 f.
    Ricker {
        /// f, Hz.
        frequency: f64,
    },
    /// sin 2πft; its integral −cos(2πft)/2πf is faded in over two periods, so that no offset remains.
    Sine {
        /// f, Hz.
        frequency: f64,
    },
    /// `cycles` periods of sin 2πft under a Hann window. With two or more whole periods it has no mean; half a period is a push.
    Burst {
        /// f, Hz.
        frequency: f64,
        /// Periods.
        cycles: f64,
    },
    /// From one frequency to another, linearly, under a Hann window, minus the multiple of the window that removes the
    /// mean; made by [`Signal::chirp`].
    Chirp {
        /// First frequency, Hz.
        frequency: f64,
        /// Last frequency, Hz.
        to_frequency: f64,
        /// How long it lasts, s.
        duration: f64,
        /// The parts of the window that its sine and its cosine would leave.
        means: [f64; 2],
    },
    /// Samples from a file, with band-limited interpolation.
    Recording(Arc<Recording>),
}

/// One source of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Where it stands.
    pub place: Place,
    /// What it plays.
    pub signal: Signal,
    /// Where it sends it.
    pub pattern: Pattern,
    /// The factor of the signal: of points Pa m^d/s², Pa m^(d−1) with a direction.
    pub amplitude: f64,
    /// When it starts, s.
    pub delay: f64,
    /// What the phase of sines is ahead, rad.
    pub phase: f64,
    /// Its velocity from t = 0 on, m/s; 0 = at rest.
    pub velocity: [f64; 3],
}

impl Source {
    /// Where a part of it is at time t that was `at` a place at t = 0, m: one that crosses a periodic edge comes in again at the other side.
    pub fn moved(&self, at: [f64; 3], t: f64, grid: &Grid) -> [f64; 3] {
        let mut now: [f64; 3] = std::array::from_fn(|axis| at[axis] + self.velocity[axis] * t);
        for (axis, now) in now.iter_mut().enumerate().take(grid.rank()) {
            if grid.is_periodic(axis) {
                #[expect(clippy::cast_precision_loss, reason = "numbers of sites")]
                let extent = grid.size()[axis] as f64 * grid.spacing();
                *now = now.rem_euclid(extent);
            }
        }
        now
    }

    /// s(t − delay − `later`).
    pub fn signal_at(&self, t: f64, later: f64) -> f64 {
        self.signal.with_phase(t - self.delay - later, self.phase)
    }
}

impl Signal {
    /// A chirp from one frequency to another, Hz, over `duration`, s.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of points between two bounds"
    )]
    pub fn chirp(frequency: f64, to_frequency: f64, duration: f64) -> Self {
        /// Points of a period at which it is looked at, and the least and the most of all.
        const POINTS: f64 = 64.0;
        const ALL: [f64; 2] = [4096.0, 4194304.0];
        let periods = duration * frequency.max(to_frequency);
        let points = (POINTS * periods).clamp(ALL[0], ALL[1]) as u32;
        // The trapezoidal rule, which is exact to rounding for what vanishes smoothly at both ends.
        let means = (0..points).fold([0.0; 2], |[of_sine, of_cosine], n| {
            let u = f64::from(n) / f64::from(points);
            let turns = u * duration * (frequency + (to_frequency - frequency) * u / 2.0);
            let (sine, cosine) = (2.0 * PI * turns).sin_cos();
            [of_sine + hann(u) * sine, of_cosine + hann(u) * cosine]
        });
        Self::Chirp {
            frequency,
            to_frequency,
            duration,
            // The mean of the window is ½.
            means: means.map(|sum| 2.0 * sum / f64::from(points)),
        }
    }

    /// Whether it has a phase: sines with any window.
    pub fn has_phase(&self) -> bool {
        matches!(self, Self::Sine { .. } | Self::Burst { .. } | Self::Chirp { .. })
    }

    /// s(t).
    pub fn at(&self, t: f64) -> f64 {
        self.with_phase(t, 0.0)
    }

    /// s(t) with this phase lead of its sine, rad.
    fn with_phase(&self, t: f64, phase: f64) -> f64 {
        if t < 0.0 {
            return 0.0;
        }
        match self {
            Self::Ricker { frequency } => {
                let u = (PI * (frequency * t - 1.2)).powi(2);
                (1.0 - 2.0 * u) * (-u).exp()
            }
            Self::Sine { frequency } => {
                let turns = frequency * t;
                let (sine, cosine) = (2.0 * PI * turns + phase).sin_cos();
                if turns >= 2.0 {
                    return sine;
                }
                // d/dt of −w cos(2πft + φ)/2πf with w = sin²(πft/4).
                let fade = (PI * turns / 4.0).sin().powi(2);
                fade * sine - (PI * turns / 2.0).sin() * cosine / 8.0
            }
            Self::Burst { frequency, cycles } => {
                let turns = frequency * t;
                hann(turns / cycles) * (2.0 * PI * turns + phase).sin()
            }
            Self::Chirp {
                frequency,
                to_frequency,
                duration,
                means: [of_sine, of_cosine],
            } => {
                let turns = t * (frequency + (to_frequency - frequency) * t / (2.0 * duration));
                let mean = of_sine * phase.cos() + of_cosine * phase.sin();
                hann(t / duration) * ((2.0 * PI * turns + phase).sin() - mean)
            }
            Self::Recording(recording) => recording.at(t),
        }
    }

    /// The time of its middle, after its start; 0 if it has none: its focus in a time-reversal mirror is as long before 2T.
    pub fn middle(&self) -> f64 {
        match self {
            Self::Ricker { frequency } => 1.2 / frequency,
            Self::Burst { frequency, cycles } => cycles / (2.0 * frequency),
            Self::Chirp { duration, .. } => duration / 2.0,
            Self::Sine { .. } | Self::Recording(_) => 0.0,
        }
    }

    /// Its duration, s; after it there is silence (for a Ricker below 2e-5 of its peak); `None`: without end.
    pub fn duration(&self) -> Option<f64> {
        match self {
            Self::Sine { .. } => None,
            Self::Recording(recording) => {
                // A sample counts up to the radius behind it.
                #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
                let samples = (recording.values.len() + RADIUS.unsigned_abs() - 1) as f64;
                Some(samples / recording.rate)
            }
            Self::Ricker { .. } | Self::Burst { .. } | Self::Chirp { .. } => Some(2.0 * self.middle()),
        }
    }

    /// The highest frequency with more than a tenth of its strongest amplitude, Hz: what the spacing has to resolve.
    pub fn highest_frequency(&self) -> f64 {
        match self {
            Self::Ricker { frequency } => 2.2 * frequency,
            Self::Sine { frequency } => *frequency,
            // The Hann window's main lobe ends 2/duration away.
            Self::Burst { frequency, cycles } => frequency * (1.0 + 2.0 / cycles),
            Self::Chirp {
                frequency,
                to_frequency,
                ..
            } => frequency.max(*to_frequency),
            Self::Recording(recording) => recording.rate / 2.0,
        }
    }
}

/// sin²(πu) for u from 0 to 1, 0 beyond.
fn hann(u: f64) -> f64 {
    if (0.0..=1.0).contains(&u) {
        (PI * u).sin().powi(2)
    } else {
        0.0
    }
}

impl Recording {
    /// The sound at a time: a [windowed sinc](super::sinc), which keeps a tone below a quarter of the rate within 0.2 % (straight lines would take 19 % of one at a quarter), and is 0 from four samples
    /// behind the last one on.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "saturates beyond the ends, and samples are few"
    )]
    fn at(&self, t: f64) -> f64 {
        let place = t * self.rate;
        let before = place.floor() as isize;
        let own = |n: isize| usize::try_from(n).ok().and_then(|n| self.values.get(n));
        (1 - RADIUS..=RADIUS)
            .filter_map(|offset| {
                let n = before.saturating_add(offset);
                own(n).map(|value| value * weight(place - n as f64))
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The trapezoidal rule is exact to round-off for smooth functions that vanish at both ends.
    fn mean(signal: &Signal, end: f64) -> f64 {
        let n = 20_000;
        let step = end / f64::from(n);
        (0..n).map(|i| signal.at(f64::from(i) * step)).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn signals_start_at_zero_and_leave_no_offset() {
        // A Ricker's first 1.2 periods cut off exp(−14.2)·27 = 2e-5.
        let ricker = Signal::Ricker { frequency: 2.0 };
        assert!(ricker.at(0.0).abs() < 2.1e-5);
        assert!((ricker.at(0.6) - 1.0).abs() < 1e-15);
        assert!(mean(&ricker, 2.0).abs() < 1e-6);
        let burst = Signal::Burst {
            frequency: 3.0,
            cycles: 5.0,
        };
        assert!(mean(&burst, 5.0 / 3.0).abs() < 1e-12);
        assert_eq!(burst.at(1.7), 0.0);
        let chirp = Signal::chirp(1.0, 3.0, 2.0);
        assert!(chirp.at(1.0 - 1e-9).is_finite() && chirp.at(2.1) == 0.0);
        assert_eq!(Signal::Sine { frequency: 1.0 }.at(-0.3), 0.0);
        assert!((Signal::Sine { frequency: 1.0 }.at(10.25) - 1.0).abs() < 1e-12);
    }

    /// Whatever the phase.
    #[test]
    fn no_phase_leaves_an_offset() {
        let of = |signal: &Signal, phase: f64, from: f64, end: f64| {
            let n = 40_000;
            let step = (end - from) / f64::from(n);
            let at = |i: u32| signal.with_phase(from + f64::from(i) * step, phase);
            let sum: f64 = (1..n).map(at).sum();
            (sum + 0.5 * (at(0) + at(n))) * step
        };
        for phase in [0.0, 0.4, PI / 2.0, 2.0, -1.1] {
            for cycles in [2.0, 3.0, 7.0] {
                let frequency = 3.0;
                let burst = Signal::Burst { frequency, cycles };
                let left = of(&burst, phase, 0.0, cycles / frequency);
                assert!(left.abs() < 1e-9, "{cycles} periods, phase {phase}: {left}");
            }
            for [low, high, long] in [[1.0, 3.0, 2.0], [5.0, 0.5, 1.3], [40.0, 900.0, 0.1]] {
                let left = of(&Signal::chirp(low, high, long), phase, 0.0, long);
                assert!(left.abs() < 1e-9, "{low} to {high}, phase {phase}: {left}");
            }
            // The integral of a sine is −cos(2πft + φ)/2πf once it is faded in.
            let sine = Signal::Sine { frequency: 2.0 };
            for end in [1.0, 1.13, 1.4] {
                let found = of(&sine, phase, 0.0, 1.0) + of(&sine, phase, 1.0, end);
                let expected = -(4.0 * PI * end + phase).cos() / (4.0 * PI);
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{end}, phase {phase}: {found} {expected}"
                );
            }
            // Nothing jumps.
            let jump = (1..4000).map(|n| {
                let [a, b] = [n, n - 1].map(|n| sine.with_phase(f64::from(n) * 5e-4, phase));
                (a - b).abs()
            });
            assert!(jump.fold(0.0, f64::max) < 1.4 * 4.0 * PI * 5e-4);
        }
    }

    /// Its samples are kept, and so is a tone between them, up to a quarter of the rate; nothing is before the first and nothing long after the last.
    #[test]
    fn a_recording_plays_the_wave_that_it_samples() {
        let recording = |values: Vec<f64>| {
            let file = PathBuf::from("a.wav");
            Signal::Recording(Arc::new(Recording {
                rate: 10.0,
                values,
                file,
            }))
        };
        let short = recording(vec![0.0, 2.0, -2.0]);
        assert!((short.at(0.1) - 2.0).abs() < 1e-12 && (short.at(0.2) + 2.0).abs() < 1e-12);
        assert_eq!([short.at(-0.05), short.at(0.61)], [0.0; 2]);
        assert!(short.duration().unwrap() < 0.61);
        for samples in [4.0, 5.3, 8.0, 16.0] {
            let tone = |t: f64| (2.0 * PI * 10.0 / samples * t + 0.4).sin();
            let long = recording((0..100).map(|n| tone(f64::from(n) / 10.0)).collect());
            for n in 0..200 {
                let t = 4.0 + f64::from(n) * 0.0137;
                let off = long.at(t) - tone(t);
                assert!(off.abs() < 2e-3, "{samples} samples a period, {t}: off by {off}");
            }
        }
    }
}
