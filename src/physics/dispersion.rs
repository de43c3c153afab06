//! ω against k of a wave that was recorded along a line: the power of its transform in space and time, and the laws that it is held against.
//!
//! F(k, ω) = Σ_n Σ_i w_n v_i u(x_i, t_n) e^{−ikx_i + iωt_n}, so that a wave e^{i(kx − ωt)} stands at (k, ω). w and v are Hann's windows; on a ring v = 1. A line is 4π/T wide between
//! its first zeros, and 8π/L along k with a window.

mod pairs;
mod steps;

pub use steps::Steps;

use num_complex::Complex64;
use rayon::prelude::*;
use rustfft::FftPlanner;
use std::f64::consts::{PI, TAU};

/// cΔt/a below which steps of pairs count as exact in time, which they are to 1e-9: ω has no digits left for such a short step.
const LEAST_TURN: f64 = 1e-4;

/// The power of a record at each wave number and frequency.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispersion {
    /// k, rising, radians per length.
    pub wavenumbers: Vec<f64>,
    /// ω, rising, radians per time.
    pub frequencies: Vec<f64>,
    /// |F|², 1 at its largest; a row of k for each ω.
    pub power: Vec<f64>,
}

/// How a line was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Sites of the line.
    pub sites: usize,
    /// Their distance.
    pub spacing: f64,
    /// The time from record to record.
    pub step: f64,
    /// Whether the line closes to a ring.
    pub is_ring: bool,
}

/// Hann's window of `count` places.
#[expect(clippy::cast_precision_loss, reason = "counts of sites and records")]
fn hann(count: usize) -> Vec<f64> {
    let place = |n: usize| (PI * (n as f64 + 0.5) / count as f64).sin().powi(2);
    (0..count).map(place).collect()
}

impl Dispersion {
    /// Where the cells of the first and the last wave number and frequency begin and end: of k, then of ω.
    pub fn bounds(&self) -> [[f64; 2]; 2] {
        [&self.wavenumbers, &self.frequencies].map(|middles| {
            let first = middles.first().copied().unwrap_or(0.0);
            let half = middles.get(1).map_or(0.5, |second| (second - first) / 2.0);
            [first - half, middles.last().copied().unwrap_or(0.0) + half]
        })
    }

    /// Of a record of whole lines, one after the other, with the frequencies from `lowest` to `highest`, which lie at most 2π/step apart.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "counts of sites and records"
    )]
    pub fn of(record: &[Complex64], sampling: Sampling, [lowest, highest]: [f64; 2]) -> Self {
        let Sampling {
            sites,
            spacing,
            step,
            is_ring,
        } = sampling;
        let times = record.len() / sites.max(1);
        let across = if is_ring { vec![1.0; sites] } else { hann(sites) };
        let along = hann(times);
        let mut planner = FftPlanner::new();
        let in_space = planner.plan_fft_forward(sites);
        let in_time = planner.plan_fft_inverse(times);
        let mut lines = record[..times * sites].to_vec();
        lines.par_chunks_mut(sites).zip(&along).for_each(|(line, window)| {
            for (value, own) in line.iter_mut().zip(&across) {
                *value *= window * own;
            }
            in_space.process(line);
        });
        let bin = TAU / (times as f64 * step);
        let first = (lowest / bin).ceil() as i64;
        #[expect(clippy::cast_sign_loss, reason = "not below 0")]
        let count = (((highest - lowest) / bin).floor().max(0.0) as usize + 1).min(times);
        let columns: Vec<Vec<f64>> = (0..sites)
            .into_par_iter()
            .map(|column| {
                // The lowest k first.
                let place = (column + sites - sites / 2) % sites;
                let mut series: Vec<Complex64> = (0..times).map(|n| lines[n * sites + place]).collect();
                in_time.process(&mut series);
                let at = |m: i64| series[m.rem_euclid(times.cast_signed() as i64).cast_unsigned() as usize].norm_sqr();
                (first..).take(count).map(at).collect()
            })
            .collect();
        let largest = columns.iter().flatten().fold(0.0, |most: f64, value| most.max(*value));
        let scale = if largest > 0.0 { 1.0 / largest } else { 0.0 };
        Self {
            wavenumbers: (0..sites)
                .map(|n| TAU * (n as f64 - (sites / 2) as f64) / (sites as f64 * spacing))
                .collect(),
            frequencies: (first..).take(count).map(|m| m as f64 * bin).collect(),
            power: (0..count)
                .flat_map(|row| columns.iter().map(move |column| column[row] * scale))
                .collect(),
        }
    }

    /// The part in which there is power above `weakest`, with a quarter more on each side; k as far to the left as to the right.
    #[must_use]
    pub fn cropped(&self, weakest: f64) -> Self {
        let (columns, rows) = (self.wavenumbers.len(), self.frequencies.len());
        let lit = |row: usize, column: usize| self.power[row * columns + column] > weakest;
        let lit_rows: Vec<usize> = (0..rows)
            .filter(|row| (0..columns).any(|column| lit(*row, column)))
            .collect();
        let middle = columns / 2;
        let far = (0..columns)
            .filter(|column| (0..rows).any(|row| lit(row, *column)))
            .map(|column| column.abs_diff(middle))
            .max();
        let (Some(low), Some(high), Some(far)) = (lit_rows.first(), lit_rows.last(), far) else {
            return self.clone();
        };
        let far = (far + far / 4 + 2).min(middle);
        let across = middle - far..(middle + far + 1).min(columns);
        let air = (high - low) / 4 + 2;
        let up = low.saturating_sub(air)..(high + air + 1).min(rows);
        Self {
            wavenumbers: self.wavenumbers[across.clone()].to_vec(),
            frequencies: self.frequencies[up.clone()].to_vec(),
            power: up
                .flat_map(|row| self.power[row * columns..][across.clone()].iter().copied())
                .collect(),
        }
    }

    /// For each k with power above `weakest`, (k, ω, power) of its strongest frequency, between the bins by a parabola through the logarithms, which is off by less than a twentieth of a
    /// bin for Hann's window.
    pub fn ridge(&self, weakest: f64) -> Vec<[f64; 3]> {
        let columns = self.wavenumbers.len();
        let bin = self
            .frequencies
            .get(1)
            .map_or(0.0, |second| second - self.frequencies[0]);
        let at = |row: usize, column: usize| self.power[row * columns + column];
        (0..columns)
            .filter_map(|column| {
                let rows = 0..self.frequencies.len();
                let top = rows.max_by(|a, b| at(*a, column).total_cmp(&at(*b, column)))?;
                let power = at(top, column);
                if power <= weakest {
                    return None;
                }
                let mut omega = self.frequencies[top];
                if top > 0 && top + 1 < self.frequencies.len() {
                    let [below, here, above] = [top - 1, top, top + 1].map(|row| at(row, column).max(1e-300).ln());
                    let bend = 2.0 * here - below - above;
                    if bend > 0.0 {
                        omega += bin * 0.5 * (above - below) / bend;
                    }
                }
                Some([self.wavenumbers[column], omega, power])
            })
            .collect()
    }
}

/// The dispersion relation of a uniform medium: ω of a wave along one axis, on the lattice and in the continuum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// ψ: ω = E₀ + 2J(1 − cos ka) or what steps make of it, and E₀ + J a²k².
    Quantum {
        /// J.
        hopping: f64,
        /// a.
        spacing: f64,
        /// E₀, the energy of a wave at rest.
        rest: f64,
        /// How it is stepped.
        steps: Steps,
    },
    /// Sound: sin(ωΔt/2) = (cΔt/2a) √S(ka), and ck. S is the symbol of −a²∂²/∂x² by central differences of an order, Σ
    /// 2((m − 1)!)²/(2m)! (2 sin(ka/2))^{2m} over m up to half of it. For pair partitioning, the frequency of the
    /// product of sweeps instead.
    Sound {
        /// c.
        speed: f64,
        /// a.
        spacing: f64,
        /// The order of the differences: 2, 4, 6 or 8; of pair partitioning that in Δt: 2 or 4.
        order: u32,
        /// Δt of steps by leapfrog or pair partitioning; 0 for steps that are exact in time.
        step: f64,
        /// The axes of a lattice that is stepped by pair partitioning; `None` for leapfrog.
        paired: Option<usize>,
    },
}

impl Law {
    /// ω(k) of the lattice; `None` if no such wave exists.
    pub fn lattice(&self, k: f64) -> Option<f64> {
        match *self {
            Self::Quantum {
                hopping,
                spacing,
                rest,
                steps,
            } => steps.omega(k * spacing, hopping, rest),
            Self::Sound {
                speed,
                spacing,
                order,
                step,
                paired: Some(axes),
            } if speed * step > LEAST_TURN * spacing => {
                let turns = k * spacing / TAU;
                let kappa = TAU * (turns - turns.round());
                pairs::turn(kappa, axes, order, speed * step / spacing).map(|turn| turn / step)
            }
            Self::Sound {
                speed,
                spacing,
                order,
                step,
                paired,
            } => {
                let (order, step) = if paired.is_some() { (2, 0.0) } else { (order, step) };
                let square = (2.0 * (k * spacing / 2.0).sin()).powi(2);
                let (mut symbol, mut term) = (0.0, square);
                for m in 1..=order / 2 {
                    let m = f64::from(m);
                    symbol += term;
                    // 2((m − 1)!)²/(2m)! s^{2m} to the next m.
                    term *= square * m * m / ((2.0 * m + 1.0) * (2.0 * m + 2.0));
                }
                let omega = speed / spacing * symbol.sqrt();
                if step == 0.0 {
                    return Some(omega);
                }
                let sine = omega * step / 2.0;
                (sine <= 1.0).then(|| 2.0 / step * sine.asin())
            }
        }
    }

    /// ω(k) of the continuum.
    pub fn continuum(&self, k: f64) -> f64 {
        match *self {
            Self::Quantum {
                hopping, spacing, rest, ..
            } => rest + hopping * (k * spacing).powi(2),
            Self::Sound { speed, .. } => speed * k.abs(),
        }
    }

    /// The lowest and the highest ω of the lattice.
    pub fn range(&self) -> [f64; 2] {
        match *self {
            Self::Quantum {
                hopping, spacing, rest, ..
            } => {
                let low = self.lattice(0.0).unwrap_or(rest);
                let top = self.lattice(PI / spacing).unwrap_or(rest + 4.0 * hopping);
                [low.min(top), low.max(top)]
            }
            Self::Sound { spacing, step, .. } => {
                let top = self.lattice(PI / spacing);
                [0.0, top.unwrap_or(PI / step)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three waves on a ring stand at their k and ω, those of negative ω too, to a twentieth of a bin.
    #[test]
    fn waves_stand_where_they_are() {
        let (sites, times, spacing, step) = (48_u32, 600, 0.5, 0.2);
        let sampling = Sampling {
            sites: sites as usize,
            spacing,
            step,
            is_ring: true,
        };
        let waves = [(3.0, 1.234, 1.0), (-7.0, -2.071, 0.7), (11.0, 4.4, 0.4)]
            .map(|(turns, omega, size)| (TAU * turns / (48.0 * spacing), omega, size));
        let record: Vec<Complex64> = (0..times)
            .flat_map(|n| (0..sites).map(move |i| (f64::from(n) * step, f64::from(i) * spacing)))
            .map(|(t, x)| {
                waves
                    .iter()
                    .map(|(k, omega, size)| Complex64::cis(k * x - omega * t) * *size)
                    .sum()
            })
            .collect();
        let found = Dispersion::of(&record, sampling, [-8.0, 8.0]);
        assert_eq!(found.power.len(), found.wavenumbers.len() * found.frequencies.len());
        let ridge = found.ridge(1e-3);
        assert_eq!(ridge.len(), 3, "{ridge:?}");
        let bin = TAU / (f64::from(times) * step);
        for (k, omega, size) in waves {
            let own = ridge.iter().find(|point| (point[0] - k).abs() < 1e-9);
            let [_, found, power] = own.unwrap_or_else(|| panic!("nothing at k = {k}: {ridge:?}"));
            assert!((found - omega).abs() < 0.05 * bin, "{found} is not {omega}");
            // A frequency between two bins loses at most (8/3π)² of the power, 1.42 dB.
            assert!(
                (0.69 * size * size..1.45 * size * size).contains(power),
                "{power} of {size}"
            );
        }
        let cropped = found.cropped(1e-3);
        assert!(
            cropped.wavenumbers.len() < found.wavenumbers.len() && cropped.frequencies.len() < found.frequencies.len()
        );
        assert_eq!(cropped.ridge(1e-3).len(), 3);
    }

    /// Orders 2 to 8 against the weights of Fornberg's differences, and the limits.
    #[test]
    fn symbols_are_those_of_the_differences() {
        let weights: [&[f64]; 4] = [
            &[1.0],
            &[4.0 / 3.0, -1.0 / 12.0],
            &[1.5, -0.15, 1.0 / 90.0],
            &[1.6, -0.2, 8.0 / 315.0, -1.0 / 560.0],
        ];
        for (order, weights) in [2, 4, 6, 8].into_iter().zip(weights) {
            let law = Law::Sound {
                speed: 3.0,
                spacing: 0.5,
                order,
                step: 0.0,
                paired: None,
            };
            for k in [0.1, 1.0, 2.0, 5.0, 6.0] {
                let symbol: f64 = (1..)
                    .zip(weights)
                    .map(|(n, w)| 2.0 * w * (1.0 - (f64::from(n) * k * 0.5).cos()))
                    .sum();
                let omega = law.lattice(k).unwrap();
                assert!((omega - 6.0 * symbol.sqrt()).abs() < 1e-12, "{order} {k}");
            }
            assert!((law.lattice(1e-3).unwrap() - law.continuum(1e-3)).abs() < 1e-9);
        }
        // At cΔt = a a line of order 2 has no dispersion.
        let magic = Law::Sound {
            speed: 2.0,
            spacing: 0.5,
            order: 2,
            step: 0.25,
            paired: None,
        };
        for k in [0.3, 2.0, 6.0] {
            assert!((magic.lattice(k).unwrap() - magic.continuum(k)).abs() < 1e-12);
        }
        let band = Law::Quantum {
            hopping: 2.0,
            spacing: 0.5,
            rest: 1.0,
            steps: Steps::Exact,
        };
        assert_eq!(band.range(), [1.0, 9.0]);
        assert!((band.lattice(TAU).unwrap() - 9.0).abs() < 1e-12 && (band.continuum(2.0) - 3.0).abs() < 1e-12);
    }

    /// Steps of pairs of order 1 and 2 in closed form, all at the band's ends, where bonds commute; order 4 is off by less than (JΔt)⁴ of J; none if a step is too long to tell.
    #[test]
    fn steps_change_the_band() {
        let (hopping, spacing, step) = (2.0, 0.5, 0.3);
        let band = |steps| Law::Quantum {
            hopping,
            spacing,
            rest: 1.0,
            steps,
        };
        let pairs = |order, step| band(Steps::Pairs { order, step });
        for k in [0.0, 0.7, 2.0, 3.0, 3.3, 5.0, TAU, 8.0] {
            let cosine = (k * spacing).cos();
            let exact = 1.0 + 2.0 * hopping * (1.0 - cosine);
            let closed = 5.0 - 2.0 / step * ((hopping * step).sin() * cosine).asin();
            for order in [1, 2] {
                assert!((pairs(order, step).lattice(k).unwrap() - closed).abs() < 1e-12, "{k}");
            }
            let fourth = pairs(4, step).lattice(k).unwrap();
            assert!(
                (fourth - exact).abs() < hopping * (hopping * step).powi(4),
                "{k}: {fourth}"
            );
        }
        assert_eq!(pairs(2, 0.8).lattice(1.0), None);
        assert_eq!(pairs(2, 0.8).range(), [1.0, 9.0]);
        let line = band(Steps::Cayley { axes: 1, step });
        assert!((line.range()[1] - 2.0 / step * (9.0 * step / 2.0).atan()).abs() < 1e-12);
        let top = band(Steps::Continuum).range()[1];
        assert!((top - 1.0 - hopping * PI * PI).abs() < 1e-12, "{top}");
    }
}
