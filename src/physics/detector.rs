//! Detectors: what is recorded every step.

use super::Equation;
use crate::words::worded;

worded! {
    /// What a detector records.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Measure {
        /// Quantum: |ψ| at a point. Acoustic: pressure at a point.
        Value = "value",
        /// Quantum: Σ|ψ|² a^d over a region.
        Probability = "probability",
        /// Quantum: probability current through a line. Acoustic: intensity p·v, summed over the line: W in 3D, W/m in 2D, W/m² in 1D.
        Flux = "flux",
        /// Acoustic: ∫ p²/2ρc² + ρv²/2 over a region: J in 3D, J/m in 2D, J/m² in 1D.
        Energy = "energy",
        /// Acoustic: pressure, averaged over a region.
        Pressure = "pressure",
        /// The largest |ψ|² or |p| seen so far in the region.
        Peak = "peak",
        /// Acoustic: the velocity of the medium at a point along the detector's direction, m/s.
        Velocity = "velocity",
    }
}

impl Measure {
    /// The unit of a sound detector's record on a grid of `rank` axes; detectors of ψ have none.
    #[must_use]
    pub fn unit(self, equation: Equation, rank: usize) -> &'static str {
        let of_rank = |units: [&'static str; 3]| units[rank.clamp(1, 3) - 1];
        match (equation, self) {
            (Equation::Schrodinger, _) => "",
            (Equation::Acoustic, Self::Value | Self::Pressure | Self::Peak) => "Pa",
            (Equation::Acoustic, Self::Velocity) => "m/s",
            (Equation::Acoustic, Self::Energy) => of_rank(["J/m²", "J/m", "J"]),
            (Equation::Acoustic, Self::Flux) => of_rank(["W/m²", "W/m", "W"]),
            (Equation::Acoustic, Self::Probability) => of_rank(["Pa² m", "Pa² m²", "Pa² m³"]),
        }
    }
}

/// Pressure of 0 dB, Pa (ISO 1683).
pub const REFERENCE_PRESSURE: f64 = 2e-5;

/// The level of silence, dB.
const SILENCE: f64 = -400.0;

worded! {
    /// How a detector converts its measure into its record.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Reading {
        /// Nothing else.
        #[default]
        Itself = "itself",
        /// Its mean.
        Mean = "mean",
        /// The root of its mean square.
        Rms = "rms",
        /// The level of the rms, 20 lg(p/20 µPa) in dB.
        Level = "level",
    }
}

impl Reading {
    /// What is averaged of a value.
    fn averaged(self, value: f64) -> f64 {
        if matches!(self, Self::Rms | Self::Level) {
            value * value
        } else {
            value
        }
    }

    /// The quantity that is averaged, for a reading.
    fn average_of(self, reading: f64) -> f64 {
        match self {
            Self::Itself | Self::Mean => reading,
            Self::Rms => reading * reading,
            Self::Level => (REFERENCE_PRESSURE * 10f64.powf(reading / 20.0)).powi(2),
        }
    }

    /// The reading of an average.
    fn of_average(self, average: f64) -> f64 {
        match self {
            Self::Itself | Self::Mean => average,
            Self::Rms => average.sqrt(),
            Self::Level => (10.0 * (average / REFERENCE_PRESSURE.powi(2)).log10()).max(SILENCE),
        }
    }

    /// The reading after a `value` that was measured `passed` seconds after the reading `before`, whose value was `last`,
    /// and `since` seconds after the first: the mean over the whole time, in which what is averaged goes straight from
    /// value to value (the trapezoidal rule; the first reading is that of its value), or with the time constant `over` a mean in which the past fades as
    /// e^(−t/over) (the time weighting of sound level meters, IEC 61672-1, there 0.125 s and 1 s). Such a mean begins
    /// with silence, (1/over) ∫ value e^(−(t − t′)/over) dt′ since the first, as a picture's does: its first reading is
    /// that of 0. What is averaged goes straight from value to value here too, for which the sum is exact.
    #[must_use]
    pub fn after(
        self,
        before: Option<f64>,
        [last, value]: [f64; 2],
        [passed, since]: [f64; 2],
        over: Option<f64>,
    ) -> f64 {
        if self == Self::Itself {
            return value;
        }
        let value = self.averaged(value);
        let (before, share, value) = match (before, over) {
            // What has just begun has not lasted yet.
            (None, Some(_)) => (0.0, 0.0, value),
            (Some(before), Some(over)) => {
                // No weight is negative, and so is no mean of squares.
                let [from, to] = fading(passed / over);
                let before = (-passed / over).exp() * self.average_of(before);
                return self.of_average(before + from * self.averaged(last) + to * value);
            }
            (Some(before), None) if since > 0.0 => {
                let between = f64::midpoint(self.averaged(last), value);
                (self.average_of(before), (passed / since).min(1.0), between)
            }
            (_, None) => (0.0, 1.0, value),
        };
        self.of_average(before + share * (value - before))
    }
}

/// The weights of both ends of a straight line in a mean that fades while d of its time constants pass: with s = 1 − e^(−d), s(1 + 1/d) − 1 of its beginning and 1 − s/d of its end.
fn fading(passed: f64) -> [f64; 2] {
    let all = -(-passed).exp_m1();
    // The next term of the series is d⁴/120.
    let end = if passed < 1e-3 {
        passed * (0.5 - passed * (1.0 / 6.0 - passed / 24.0))
    } else {
        1.0 - all / passed
    };
    [all - end, end]
}

/// Where a detector looks; lengths.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// The nearest site.
    Point([f64; 3]),
    /// From one point to another along an axis, in 3D also a plane between two of its corners; a flux goes through it along [`axis_across`]. In 1D
    /// all sites between, for a flux one.
    Line {
        /// One end.
        from: [f64; 3],
        /// The other end.
        to: [f64; 3],
    },
    /// min ≤ r ≤ max.
    Box {
        /// Lower corner.
        min: [f64; 3],
        /// Upper corner.
        max: [f64; 3],
    },
    /// The whole grid.
    Everywhere,
}

/// The axis normal to a line, or to a plane between two corners: the one along which it extends least, the first of several.
pub fn axis_across(from: &[f64], to: &[f64]) -> usize {
    let extents = || from.iter().zip(to).map(|(from, to)| (to - from).abs());
    let most = extents().fold(f64::MIN_POSITIVE, f64::max);
    // What differs by rounding is the same.
    let shares = extents().map(|extent| (extent / most * 1e9).round());
    let least = shares.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
    least.map_or(0, |(axis, _)| axis)
}

/// One detector of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Detector {
    /// Its name, unique in the scene.
    pub name: String,
    /// Where it looks.
    pub region: Region,
    /// What it records.
    pub measure: Measure,
    /// What it makes of that.
    pub reading: Reading,
    /// The time constant of its average, s; `None` = all of the run.
    pub over: Option<f64>,
    /// It records at steps whose number is a multiple of this; 1 or more.
    pub every: u64,
    /// The direction of a velocity, of length 1.
    pub direction: [f64; 3],
}

impl Detector {
    /// The unit of its record on a grid of `rank` axes; detectors of ψ have none.
    #[must_use]
    pub fn unit(&self, equation: Equation, rank: usize) -> &'static str {
        match self.reading {
            Reading::Level => "dB",
            _ => self.measure.unit(equation, rank),
        }
    }

    /// Whether its record swings about zero as what is heard does: a pressure or a velocity, and nothing that is made of it.
    pub fn is_sound(&self) -> bool {
        self.reading == Reading::Itself
            && matches!(self.measure, Measure::Value | Measure::Pressure | Measure::Velocity)
    }

    /// Whether it records the pressure itself, so that it can be used for room acoustics.
    pub fn hears(&self) -> bool {
        let point = matches!(self.region, Region::Point(_));
        self.reading == Reading::Itself
            && (self.measure == Measure::Pressure || (self.measure == Measure::Value && point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    #[test]
    fn lines_stand_across_the_axis_along_which_they_extend_least() {
        for (from, to, across) in [
            ([1.6, 1.0, 0.0], [1.6, 2.0, 0.0], 0),
            ([1.0, 1.6, 0.0], [2.0, 1.6 + 1e-12, 0.0], 1),
            ([1.0, 2.0, 0.0], [1.0 + 1e-13, 2.0, 0.0], 1),
            ([1.0, 2.0, 0.0], [1.0, 2.0, 0.0], 0),
        ] {
            assert_eq!(axis_across(&from[..2], &to[..2]), across, "{from:?} to {to:?}");
        }
        assert_eq!(axis_across(&[1.0, 1.0, 3.0], &[5.0, 4.0, 3.0]), 2);
        // Of two axes along which it does not extend, the first.
        assert_eq!(axis_across(&[1.0, 1.0, 3.0], &[1.0, 4.0, 3.0]), 0);
    }

    /// Of a sine of amplitude 2 Pa over whole periods: √2 Pa, 96.99 dB, and no mean. Sums over whole periods are exact.
    #[test]
    fn means_are_those_of_all_of_the_time() {
        let steps = 64 * 20;
        let read = |reading: Reading, over: Option<f64>| {
            let value = |n: i32| 2.0 * (TAU * f64::from(n) / 64.0).sin();
            (0..=steps).fold(None, |before, n| {
                let ends = [value((n - 1).max(0)), value(n)];
                Some(reading.after(before, ends, [1.0 / 64.0, f64::from(n) / 64.0], over))
            })
        };
        assert!((read(Reading::Rms, None).unwrap_or(0.0) - 2f64.sqrt()).abs() < 1e-12);
        assert!(read(Reading::Mean, None).unwrap_or(1.0).abs() < 1e-12);
        let level = 20.0 * (2f64.sqrt() / REFERENCE_PRESSURE).log10();
        assert!((read(Reading::Level, None).unwrap_or(0.0) - level).abs() < 1e-9);
        // The square swings by itself about its mean at twice the frequency; a mean that fades lets 1/(2ωT) of it through.
        let fading = read(Reading::Rms, Some(2.0)).unwrap_or(0.0).powi(2);
        assert!(
            (fading / 2.0 - 1.0).abs() < 1.0 / (8.0 * PI) + (-10.0f64).exp() + 0.01,
            "{fading}"
        );
        assert!(Reading::Level.after(None, [0.0; 2], [0.0, 0.0], None) <= SILENCE);
        assert!(
            (read(Reading::Level, Some(2.0)).unwrap_or(0.0) - 10.0 * (fading / REFERENCE_PRESSURE.powi(2)).log10())
                .abs()
                < 1e-9
        );
        assert!((Reading::Itself.after(Some(3.0), [2.0, -7.0], [1.0, 1.0], None) + 7.0).abs() < 1e-15);
    }

    /// What begins at t = 0 counts as what comes later: the mean of a ramp is half of its end, at even times and at uneven ones,
    /// and of 1, 0, 0 at even times it is ¼, half of the first step.
    #[test]
    fn means_count_their_first_record() {
        let read = |reading: Reading, records: &[[f64; 2]]| {
            let mut before = None;
            for (n, [t, value]) in records.iter().enumerate() {
                let [then, last] = records[n.saturating_sub(1)];
                before = Some(reading.after(before, [last, *value], [t - then, t - records[0][0]], None));
            }
            before.unwrap_or(f64::NAN)
        };
        let click = [[0.0, 1.0], [0.5, 0.0], [1.0, 0.0]];
        assert!((read(Reading::Mean, &click[..1]) - 1.0).abs() < 1e-15);
        assert!((read(Reading::Mean, &click[..2]) - 0.5).abs() < 1e-15);
        assert!((read(Reading::Mean, &click) - 0.25).abs() < 1e-15);
        assert!((read(Reading::Rms, &click) - 0.5).abs() < 1e-15);
        let ramp = [0.0, 0.1, 0.4, 0.5, 0.9].map(|t| [1.0 + t, 3.0 * t]);
        assert!((read(Reading::Mean, &ramp) - 1.35).abs() < 1e-14);
    }

    /// A constant pressure p that begins with the run makes p²(1 − e^(−t/T)), whether it is recorded at every step or at
    /// every fourth; one at a single step Δt leaves p² (Δt/T) e^(−t/T), up to (Δt/T)²/12, since it rises and falls in a step each, and one at t = 0 alone half of that, up to Δt/3T.
    #[test]
    fn means_that_fade_begin_with_silence() {
        let read = |reading: Reading, every: usize, pressure: &dyn Fn(u32) -> f64| {
            let (step, mut last, mut before) = (1e-3, 0.0, None);
            for n in (0..=500u32).step_by(every) {
                let t = step * f64::from(n);
                let from = pressure(n.saturating_sub(u32::try_from(every).unwrap_or(1)));
                before = Some(reading.after(before, [from, pressure(n)], [t - last, t], Some(0.125)));
                last = t;
            }
            before.unwrap_or(f64::NAN)
        };
        let rise = 1.0 - (-4.0f64).exp();
        for every in [1, 4] {
            assert!((read(Reading::Mean, every, &|_| 3.0) - 3.0 * rise).abs() < 1e-12);
            assert!((read(Reading::Rms, every, &|_| 3.0) - 3.0 * rise.sqrt()).abs() < 1e-12);
            let level = 10.0 * (9.0 * rise / REFERENCE_PRESSURE.powi(2)).log10();
            assert!((read(Reading::Level, every, &|_| 3.0) - level).abs() < 1e-9);
        }
        let share = 1e-3 / 0.125;
        let click = read(Reading::Level, 1, &|n| if n == 1 { 3.0 } else { 0.0 });
        let wanted = 10.0 * (9.0 * share * (-3.992f64).exp() / REFERENCE_PRESSURE.powi(2)).log10();
        assert!((click - wanted).abs() < 1e-4, "{click} for {wanted}");
        let first = read(Reading::Rms, 1, &|n| if n == 0 { 3.0 } else { 0.0 });
        let wanted = (4.5 * share * (-4.0f64).exp()).sqrt();
        assert!((first / wanted - 1.0).abs() < share / 4.0, "{first} for {wanted}");
    }

    /// A mean that fades is exact for what goes straight from record to record, however far these are apart: of the ramp t it is t − T + T e^(−t/T), at even times and at uneven ones. A sum of
    /// values is off by half of a record's distance.
    #[test]
    fn means_that_fade_know_straight_lines() {
        let over = 0.3;
        for times in [
            &[0.0, 0.5, 1.0][..],
            &[0.0, 1e-4, 0.01, 0.6, 0.6002, 1.0],
            &[0.0, 1.0],
            &[0.0, 40.0],
        ] {
            let (mut before, mut last) = (None, 0.0);
            for t in times {
                before = Some(Reading::Mean.after(before, [last, *t], [t - last, *t], Some(over)));
                last = *t;
            }
            let wanted = last - over + over * (-last / over).exp();
            let found = before.unwrap_or(f64::NAN);
            assert!((found - wanted).abs() < 1e-13 * last, "{times:?}: {found} for {wanted}");
        }
    }
}
