//! Energies and decay rates of a record: harmonic inversion.
//!
//! C(t) = Σ_k d_k e^{−i(E_k − iΓ_k/2)t}, the record of a Hamiltonian that absorbs. Each [band](FilterBank) of it is a sum of few exponentials, which the [matrix pencil](super::pencil) tells. The whole record shows states that
//! last; they are taken out of it, and what is left is looked at again over its first half, quarter, …, where states that decay faster stand out from noise. A narrow band needs a long time, so each length has bands as narrow
//! as it can tell.
//!
//! An exponential is a line if two other fits find it as well, one without the first eighth of the time and one without the last: what noise, a continuum or an unresolved pile of levels make depends on where
//! the record begins and ends. How far they are apart is the error that is told, or twice that of noise if it is more. A line needs an error below a hundredth of Γ/2 + 2/T, an amplitude of five times its noise, and to be seen where it decays: of e⁻¹⁴ at
//! most at the end, and in a shortened record of e⁻² at least, as others were to be found in the longer one. Steps round: states that last may seem to grow, by no more than the rounding of a step.
//!
//! Lines of a shortened record are fitted to what those of longer ones left, and have their errors too, times the ratio of the amplitudes, where they are near; above a tenth of Γ/2 + 2/T they are none. Lines that take nothing away from the record are none.
//!
//! Resolution: by the noise and no longer by 2π/T alone. At the rounding of single precision three levels half of 2π/T apart are told to 10⁻⁴ of it, and rows of eight at 1.3 to 1.6; more and nearer ones are left out.
//!
//! Cost: for N steps some N/40 bands, of which those that hold more than 10⁻⁵ of the strongest take three pencils of 10⁸ operations.
//!
//! References: Wall & Neuhauser 1995, J. Chem. Phys. 102, 8011; Mandelshtam & Taylor 1997, doi:10.1063/1.475324 (harmonic inversion in narrow windows); those of the pencil and the bank.

use super::filter_bank::{Channel, FilterBank};
use super::pencil::{Pole, poles};
use super::{WEAKEST, apart};
use num_complex::Complex64;
use rayon::prelude::*;
use std::f64::consts::PI;

/// The shortest record that is looked at.
const SHORTEST: usize = 24;

/// Bands below this share of the strongest have no lines.
const EMPTY: f64 = 1e-5;

/// The other fits leave out this part of the time.
const PART: usize = 8;

/// The error of a line at most, over Γ/2 + 2/T: a larger one takes tails like t^(−1/2) for slow states.
const SURE: f64 = 1e-2;

/// The same with what the errors of others add.
const SURE_BESIDE: f64 = 0.1;

/// Times the noise of its amplitude that a line needs.
const SEEN: f64 = 5.0;

/// The most that a state may have decayed at the end of a record, ΓT/2.
const FASTEST: f64 = 14.0;

/// The least of that in a shortened record.
const SLOWEST: f64 = 2.0;

/// How often a length is looked at: strong lines may hide weak ones of their band until they are taken out.
const PASSES: usize = 3;

/// How many widths, of decay and of the record together, an error reaches.
const REACH: f64 = 4.0;

/// An exponential d e^{−(iθ + γ)n} of a record.
#[derive(Clone, Copy)]
pub(super) struct Decaying {
    /// θ = EΔt, −π to π.
    pub(super) theta: f64,
    /// γ = ΓΔt/2; less than 0 by no more than its error and that of rounding.
    pub(super) damping: f64,
    /// d.
    pub(super) amplitude: Complex64,
    /// How far θ and γ may be off, without what every step rounds.
    pub(super) error: f64,
}

/// What was found in a record.
pub(super) struct Found {
    /// The lines.
    pub(super) lines: Vec<Decaying>,
    /// What they leave of the record.
    pub(super) rest: Vec<Complex64>,
    /// The share of Σ|C|² that this is, 0 to 1.
    pub(super) share: f64,
    /// Fits that were no lines, because the record without them was larger.
    pub(super) dropped: usize,
}

fn square(record: &[Complex64]) -> f64 {
    record.iter().map(Complex64::norm_sqr).sum()
}

/// The lines of a record whose steps round amplitudes by a share of `rounding` at most.
pub(super) fn lines_of(record: &[Complex64], rounding: f64) -> Found {
    let mut found = Found {
        lines: Vec::new(),
        rest: record.to_vec(),
        share: 0.0,
        dropped: 0,
    };
    let total = square(record);
    if total == 0.0 || !total.is_finite() {
        return found;
    }
    let mut top = None;
    let mut length = record.len();
    while length >= SHORTEST {
        for _ in 0..PASSES {
            let mut new = of_length(&found, length, rounding, &mut top);
            if new.is_empty() {
                break;
            }
            for line in &mut new {
                line.error += passed_on(line, &found.lines, length);
            }
            new.retain(|line| is_sure(line, length));
            let count = new.len();
            found.rest = without(&mut new, found.rest);
            found.dropped += count - new.len();
            found.lines.extend(new);
        }
        length /= 2;
    }
    let amplitude = |line: &Decaying| line.amplitude.norm();
    let strongest = found.lines.iter().map(amplitude).fold(0.0, f64::max);
    found.lines.retain(|line| amplitude(line) > WEAKEST * strongest);
    found.share = (square(&found.rest) / total).min(1.0);
    found
}

/// Takes lines out of a record. If it is larger then, they are taken one by one, the surest first, and those that make it larger are dropped.
fn without(lines: &mut Vec<Decaying>, mut record: Vec<Complex64>) -> Vec<Complex64> {
    let mut left = record.clone();
    for line in lines.iter() {
        take_out(line, &mut left);
    }
    if square(&left) <= square(&record) {
        return left;
    }
    lines.retain(|line| {
        let mut left = record.clone();
        take_out(line, &mut left);
        let explains = square(&left) < square(&record);
        if explains {
            record = left;
        }
        explains
    });
    record
}

/// Whether a line is sure enough with what others pass on to it.
#[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
fn is_sure(line: &Decaying, length: usize) -> bool {
    line.error <= SURE_BESIDE * (line.damping.abs() + 2.0 / length as f64)
}

/// What errors of lines that were taken out before add to the error of one that is fitted to what they left, over so many steps.
#[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
fn passed_on(line: &Decaying, before: &[Decaying], length: usize) -> f64 {
    let near = before.iter().filter(|known| {
        let width = (line.damping + known.damping).max(0.0) + PI / length as f64;
        apart(line.theta, known.theta).hypot(line.damping - known.damping) < REACH * width
    });
    near.map(|known| known.error * known.amplitude.norm() / line.amplitude.norm())
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
fn take_out(line: &Decaying, record: &mut [Complex64]) {
    let log = Complex64::new(-line.damping, -line.theta);
    for (n, value) in record.iter_mut().enumerate() {
        *value -= line.amplitude * (log * n as f64).exp();
    }
}

/// The lines that the first numbers of what is left of a record show, and that are not known. `top`: the largest number of any band, from the first record on.
fn of_length(before: &Found, length: usize, rounding: f64, top: &mut Option<f64>) -> Vec<Decaying> {
    let record = &before.rest[..length];
    let shortened = length < before.rest.len();
    let bank = FilterBank::of(record);
    let largest = |channel: &Channel| channel.signal.iter().map(|value| value.norm()).fold(0.0, f64::max);
    let top = *top.get_or_insert_with(|| bank.channels.iter().map(&largest).fold(0.0, f64::max));
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    let steps = record.len() as f64;
    let judge = Judge {
        bank: &bank,
        steps,
        rounding,
        shortened,
    };
    let mut found: Vec<Decaying> = (bank.channels.par_iter())
        .filter(|channel| largest(channel) > EMPTY * top)
        .flat_map_iter(|channel| judge.lines(channel))
        .collect();
    found.sort_by(|a, b| a.error.total_cmp(&b.error));
    // Of a line in two bands the surer one.
    let mut kept: Vec<Decaying> = Vec::new();
    for line in found {
        let same = |known: &Decaying| {
            let aside = apart(line.theta, known.theta).hypot(line.damping - known.damping);
            aside <= (3.0 * (line.error + known.error)).max(0.05 * known.damping.max(1.0 / steps))
        };
        if !kept.iter().chain(&before.lines).any(same) {
            kept.push(line);
        }
    }
    kept
}

/// What tells lines from other exponentials.
struct Judge<'a> {
    bank: &'a FilterBank,
    /// Steps of the record.
    steps: f64,
    /// What a step rounds.
    rounding: f64,
    /// Whether states that last were to be found in a longer one.
    shortened: bool,
}

impl Judge<'_> {
    fn lines(&self, channel: &Channel) -> Vec<Decaying> {
        let all = poles(&channel.signal);
        if all.is_empty() {
            return Vec::new();
        }
        let part = channel.signal.len() / PART;
        let late = poles(&channel.signal[part..]);
        let early = poles(&channel.signal[..channel.signal.len() - part]);
        (all.iter())
            .filter_map(|pole| self.line(pole, [&late, &early], channel.middle))
            .collect()
    }

    /// The line of an exponential, if it is one.
    fn line(&self, pole: &Pole, others: [&[Pole]; 2], middle: f64) -> Option<Decaying> {
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
        let thinning = self.bank.thinning as f64;
        let distance = |other: &Pole| {
            let aside = apart(other.log.im, pole.log.im);
            aside.hypot(other.log.re - pole.log.re)
        };
        let moved = others.map(|all| all.iter().map(distance).fold(f64::INFINITY, f64::min));
        let error = moved[0].max(moved[1]).max(2.0 * pole.log_noise) / thinning;
        let damping = -pole.log.re / thinning;
        let aside = -apart(pole.log.im, 0.0) / thinning;
        let gone = damping * self.steps;
        let sure = error <= SURE * (damping.abs() + 2.0 / self.steps);
        let seen = pole.amplitude.norm() >= SEEN * pole.amplitude_noise;
        let decays = damping >= -3.0 * error - self.rounding && gone <= FASTEST && (!self.shortened || gone >= SLOWEST);
        (sure && seen && decays && self.bank.holds(aside)).then(|| Decaying {
            theta: apart(middle + aside, 0.0),
            damping,
            amplitude: pole.amplitude / self.bank.gain(Complex64::new(-damping, -aside)),
            error,
        })
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "tests")]
mod tests {
    use super::*;
    use crate::physics::noise::Noise;
    use std::f64::consts::TAU;

    /// A record of (θ, γ, weight) with noise of this size in real and imaginary parts.
    fn record(exact: &[[f64; 3]], steps: usize, size: f64) -> Vec<Complex64> {
        let mut noise = Noise::new(5);
        let mut noise = || size * noise.normal();
        (0..steps)
            .map(|n| {
                let term = |line: &[f64; 3]| (Complex64::new(-line[1], -line[0]) * n as f64).exp() * line[2];
                exact.iter().map(term).sum::<Complex64>() + Complex64::new(noise(), noise())
            })
            .collect()
    }

    /// As many lines as there are, each within its error and `tolerance` of the width 2π/T, weights within a hundredth.
    fn agree(exact: &[[f64; 3]], steps: usize, size: f64, tolerance: f64) {
        let Found {
            lines: found,
            share: left,
            ..
        } = lines_of(&record(exact, steps, size), 0.0);
        let told: Vec<[f64; 3]> = (found.iter())
            .map(|line| [line.theta, line.damping, line.amplitude.norm()])
            .collect();
        assert_eq!(found.len(), exact.len(), "{told:?} {exact:?}");
        for [theta, damping, weight] in exact {
            let off = |line: &&Decaying| apart(line.theta, *theta).hypot(line.damping - damping);
            let line = found.iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
            let limit = tolerance * TAU / steps as f64;
            assert!(off(&line) < limit && line.error < 100.0 * limit, "{theta}: {told:?}");
            assert!(
                off(&line) < 10.0 * (line.error + f64::EPSILON),
                "{theta}: {} {}",
                off(&line),
                line.error
            );
            assert!((line.amplitude - weight).norm() < 1e-2 * weight, "{theta}: {told:?}");
        }
        assert!(left < 1e-3, "{left}");
    }

    /// Three levels half a width apart, which windows cannot tell, a weak one, and rounding of single precision; they decay not at all up to 10/T.
    #[test]
    fn crowded_levels_have_their_rates() {
        let width = TAU / 400.0;
        for rate in [1e-4, 1e-2, 1.0, 10.0] {
            let damping = rate / 800.0;
            let exact = [
                [0.5, damping, 0.3],
                [0.5 + 0.5 * width, 1.3 * damping, 0.2],
                [0.5 + width, 0.8 * damping, 0.25],
                [2.5, 2.0 * damping, 3e-3],
            ];
            agree(&exact, 400, 1e-7, 1e-3);
        }
    }

    /// Eight levels, and a state that decays within a thirtieth of the record beside them.
    #[test]
    fn many_levels_stay_beside_a_state_that_decays() {
        let width = TAU / 480.0;
        let mut exact: Vec<[f64; 3]> = (0..8u8)
            .map(f64::from)
            .map(|n| [0.1 + 1.6 * width * n, 2e-4 * (1.0 + 0.1 * n), 0.1])
            .collect();
        exact.push([2.0, 0.06, 0.2]);
        agree(&exact, 480, 1e-8, 1e-2);
    }

    /// States that decay within a thirtieth of the record have their rates from its first parts.
    #[test]
    fn fast_states_are_found_in_the_beginning() {
        agree(
            &[[0.09, 0.0, 0.2], [0.2, 0.03, 0.4], [0.4, 0.04, 0.4]],
            1000,
            1e-7,
            1e-3,
        );
    }

    /// Noise alone has no lines, and noise of a hundredth makes none beside two.
    #[test]
    fn noise_makes_no_lines() {
        agree(&[[0.7, 1.0 / 600.0, 0.6], [1.9, 1.0 / 300.0, 0.4]], 300, 1e-3, 1e-2);
        let found = lines_of(&record(&[], 300, 1.0), 0.0);
        assert_eq!((found.lines.len(), found.share), (0, 1.0));
        assert!(lines_of(&[Complex64::ZERO; 100], 0.0).lines.is_empty());
        assert!(lines_of(&[], 0.0).lines.is_empty());
    }

    /// A packet that spreads in space, ⟨ψ(0)|ψ(t)⟩ = (1 + it/τ)^(−3/2), is no sum of exponentials: with the rounding of single precision there is no line.
    #[test]
    fn a_continuum_is_no_line() {
        let mut noise = Noise::new(2);
        let record: Vec<Complex64> = (0..300u16)
            .map(|n| Complex64::new(1.0, 0.2 * f64::from(n)).powf(-1.5) + 1e-7 * noise.normal())
            .collect();
        let found = lines_of(&record, 0.0).lines;
        let told: Vec<f64> = found.iter().map(|line| line.amplitude.norm()).collect();
        assert!(told.is_empty(), "{told:?}");
    }

    /// Lines that are fitted to what others left have errors no smaller than those leave, and what leaves more than there was is dropped.
    #[test]
    fn errors_are_passed_on() {
        let line = |theta: f64, weight: f64, error: f64| Decaying {
            theta,
            damping: 0.01,
            amplitude: weight.into(),
            error,
        };
        let before = [line(0.5, 0.8, 1e-6), line(2.0, 0.8, 1e-3)];
        let passed = passed_on(&line(0.51, 0.2, 1e-12), &before, 400);
        assert!((passed - 4e-6).abs() < 1e-18, "{passed}");
        let record = record(&[[0.5, 0.01, 0.8]], 400, 0.0);
        let mut lines = vec![line(0.5, 0.8, 1e-9), line(1.5, 30.0, 1e-12)];
        let rest = without(&mut lines, record);
        assert_eq!(lines.len(), 1);
        assert!(square(&rest) < 1e-20);
    }

    /// The levels of a double well, doublets nearer than 2π/T among them, in steps of 0.6 without noise: one of 0.004 was hidden by stronger ones of its band until they were taken out.
    #[test]
    fn strong_lines_hide_no_weak_ones() {
        let levels = [
            [1.1542, 0.3967],
            [1.1542, 0.3967],
            [3.3658, 0.0004],
            [3.3658, 0.0004],
            [5.4130, 0.0592],
            [5.4132, 0.0592],
            [7.2741, 0.0038],
            [7.2787, 0.0039],
            [8.8620, 0.0106],
            [8.9478, 0.0117],
            [10.0153, 0.0044],
            [10.5028, 0.0054],
            [11.3309, 0.0047],
            [12.1361, 0.0049],
            [13.0105, 0.0045],
            [13.9146, 0.0040],
            [14.8464, 0.0035],
            [15.7983, 0.0031],
        ];
        let exact: Vec<[f64; 3]> = (levels.iter())
            .filter(|level| level[0] > 5.0)
            .map(|[energy, weight]| [apart(0.6 * energy, 0.0), 0.0, *weight])
            .collect();
        let all = levels.map(|[energy, weight]| [0.6 * energy, 0.0, weight]);
        let found = lines_of(&record(&all, 1667, 0.0), 0.0).lines;
        for [theta, _, weight] in exact {
            let line = found.iter().find(|line| apart(line.theta, theta).abs() < 1e-7);
            let line = line.unwrap_or_else(|| panic!("{theta} {weight}"));
            assert!((line.amplitude - weight).norm() < 1e-3 * weight, "{theta} {weight}");
        }
    }
}
