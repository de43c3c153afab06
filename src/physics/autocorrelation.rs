//! The energies that a wave contains, from its autocorrelation.
//!
//! S(E) = (1/T) ∫_{−T}^{T} w(t) ⟨ψ(0)|ψ(t)⟩ e^{iEt} dt with Hann's window w = ½(1 + cos πt/T), the sum over the steps, and ⟨ψ(0)|ψ(−t)⟩ = ⟨ψ(0)|ψ(t)⟩*. With ψ(0) = Σ c_k φ_k it is
//! Σ |c_k|² W(E − E_k), where W, the window's transform, is known: W = [½D(θ) + ¼D(θ − π/N) + ¼D(θ + π/N)]/N, θ = EΔt, D = sin Nθ cot θ/2. Lines are taken away one after the other, the
//! strongest first, and after each all are fitted again to what the others leave, so that neither the window's side lobes (3 % of a line next to it) are taken for lines nor neighbours shift each other.
//!
//! States that decay have peaks as wide as they decay fast, which are no such lines: records of scenes that absorb are fitted by exponentials that decay instead ([`Autocorrelation::decaying`]).
//!
//! Limits: energies nearer than 2π/T, the width of W at half its height, are not resolved by it: where lines are nearer than two widths, exponentials take their place, or they are marked ([`SpectralLine::crowded`]); what lies next to a line nearer than a few of those is told if its weight is above 1 % of it over the square of
//! their distance in widths, and if it is twice what all lines together leave of the spectrum: rounding, or a continuum. A record tells energies apart modulo 2π/Δt: those of a known
//! [range](Autocorrelation::within) that is no wider stand where they are, of others those beyond ±π/Δt at others.
//!
//! References: Feit, Fleck & Steiger 1982, doi:10.1016/0021-9991(82)90091-2 (energies from the autocorrelation, Hann's window); Högbom 1974, Astron. Astrophys. Suppl. 15, 417 (taking lines away).

mod crowded;
mod decaying;
mod filter_bank;
mod linear;
mod pencil;

use crate::rounding::truncated;
use num_complex::Complex64;
use rustfft::FftPlanner;
use std::f64::consts::{PI, TAU};

/// How many times finer the grid of energies is than the resolution of the record.
const FINER: usize = 8;

/// Lines weaker than this share of the strongest cannot be distinguished from rounding.
const WEAKEST: f64 = 1e-4;

/// Next to a line, a weaker one needs this share of it, over the square of their distance in widths.
const BESIDE: f64 = 1e-2;

/// How many times what all lines leave a line needs: noise has no sign, and what of it stands up may be somewhat more than what hangs down and is left.
const ABOVE: f64 = 2.0;

/// Widths beyond which a line leaves nothing: 64⁻³ of it.
const FAR: f64 = 64.0;

/// Most lines.
const MOST: usize = 500;

/// A line in the spectrum of an autocorrelation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralLine {
    /// Its energy.
    pub energy: f64,
    /// |c|², the share of the initial state in the eigenstates of this energy. Where states decay |d|, [`Decay`].
    pub weight: f64,
    /// How it decays, where that was fitted.
    pub decay: Option<Decay>,
    /// Whether it belongs to a group nearer than twice 2π/T that the record does not tell apart: energies and weights are those of the group as a whole.
    pub crowded: bool,
}

/// The decay of a line d e^{−i(E − iΓ/2)t}, d = |d| e^{iφ}. States of a Hamiltonian that absorbs are not orthogonal, so that d is ⟨ψ(0)|φ⟩⟨χ|ψ(0)⟩ with the state φ and the one χ that is orthogonal to
/// all others: a complex number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decay {
    /// Γ ≥ 0, of |e^{−i(E − iΓ/2)t}|² = e^{−Γt}.
    pub rate: f64,
    /// How far E and Γ/2 may be off: what fits of other parts of the record differ by, and what steps round.
    pub error: f64,
    /// φ, −π to π.
    pub phase: f64,
}

/// The energies of a wave from its autocorrelation.
#[derive(Clone, Debug, PartialEq)]
pub struct Autocorrelation {
    /// ⟨ψ(0)|ψ(nΔt)⟩ from n = 0 on.
    pub overlap: Vec<Complex64>,
    /// Δt.
    pub time_step: f64,
    /// The lines, by rising energy.
    pub lines: Vec<SpectralLine>,
    /// The energies that H can have, if they are known: [`Autocorrelation::within`].
    pub range: Option<[f64; 2]>,
    /// The share of Σ|⟨ψ(0)|ψ(nΔt)⟩|² that the lines leave, where they are fitted with their decay; at most 1.
    pub rest: Option<f64>,
    /// Fits that were dropped, because they left more than there was.
    pub dropped: usize,
}

/// D, and its limit at 0.
fn comb(theta: f64, steps: f64) -> f64 {
    let (sine, cosine) = (0.5 * theta).sin_cos();
    if sine.abs() < 1e-9 {
        2.0 * steps * (steps * theta).cos()
    } else {
        (steps * theta).sin() * cosine / sine
    }
}

/// W: 1 at 0.
fn line_shape(theta: f64, steps: f64) -> f64 {
    let aside = PI / steps;
    (0.5 * comb(theta, steps) + 0.25 * (comb(theta - aside, steps) + comb(theta + aside, steps))) / steps
}

impl Autocorrelation {
    /// The fewest steps of a record whose lines are fitted with their decay.
    pub const LEAST: u64 = 24;

    /// A record of which no lines are known.
    fn unread(overlap: Vec<Complex64>, time_step: f64) -> Self {
        Self {
            overlap,
            time_step,
            lines: Vec::new(),
            range: None,
            rest: None,
            dropped: 0,
        }
    }

    /// The lines of a record; none of fewer than four steps.
    #[must_use]
    pub fn of(overlap: Vec<Complex64>, time_step: f64) -> Self {
        let mut found = Self::unread(overlap, time_step);
        if found.steps() >= 4 {
            found.lines = found.find();
            crowded::settle(&mut found);
        }
        found
    }

    /// The lines of a record of states that may decay, each with its rate; none of fewer than 24 steps. `rounding`: how far a step may change amplitudes by rounding, as a share of them; errors
    /// are no smaller than that, and than the rounding of the energies. Lines nearer than 2π/T are told apart as far as rounding lets them; what cannot be told, as a continuum, is left out and
    /// counts to the [rest](Autocorrelation::rest). Lines of the rest that last, with more than 1 % of the record, have no [`Decay`].
    #[must_use]
    pub fn decaying(overlap: Vec<Complex64>, time_step: f64, rounding: f64) -> Self {
        let found = decaying::lines_of(&overlap, rounding);
        let mut lines: Vec<SpectralLine> = (found.lines.iter())
            .map(|line| SpectralLine {
                energy: line.theta / time_step,
                weight: line.amplitude.norm(),
                decay: Some(Decay {
                    rate: (2.0 * line.damping / time_step).max(0.0),
                    error: (line.error + rounding.max(f64::EPSILON * line.theta.abs())) / time_step,
                    phase: line.amplitude.arg(),
                }),
                crowded: false,
            })
            .collect();
        let first = overlap.first().map_or(0.0, |value| value.norm());
        lines.extend(crowded::left_behind(found.rest, time_step, 1e-2 * first));
        lines.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        Self {
            lines,
            rest: Some(found.share),
            dropped: found.dropped,
            ..Self::unread(overlap, time_step)
        }
    }

    fn steps(&self) -> usize {
        self.overlap.len().saturating_sub(1)
    }

    /// The same as a number.
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    fn count(&self) -> f64 {
        self.steps() as f64
    }

    /// The time over which it was recorded.
    pub fn time(&self) -> f64 {
        self.count() * self.time_step
    }

    /// Width of a line at half its height, 2π/T.
    pub fn resolution(&self) -> f64 {
        TAU / self.time()
    }

    /// The range of energies that is resolved: from the lowest that H can have, or −π/Δt, over 2π/Δt. Others are aliased into it.
    pub fn shown(&self) -> [f64; 2] {
        let least = self
            .range
            .map_or(-PI / self.time_step, |[low, _]| low - self.resolution());
        [least, least + TAU / self.time_step]
    }

    /// Whether H can have energies that the steps cannot distinguish.
    pub fn folds(&self) -> bool {
        self.range.is_some_and(|[_, high]| high > self.shown()[1])
    }

    /// Lines at energies that H cannot have.
    pub fn outside(&self) -> impl Iterator<Item = &SpectralLine> {
        let high = self.range.map_or(f64::INFINITY, |[_, high]| high + self.resolution());
        self.lines.iter().filter(move |line| line.energy > high)
    }

    /// The same if H only has energies within `range`: lines are placed at the energies in it.
    #[must_use]
    pub fn within(mut self, range: [f64; 2]) -> Self {
        self.range = Some(range);
        let [least, end] = self.shown();
        for line in &mut self.lines {
            line.energy = least + (line.energy - least).rem_euclid(end - least);
        }
        self.lines.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        self
    }

    /// The same of steps that compress energies by their distance from `reference`, tan((Ω − E₀)Δt/2) = (ε − E₀)Δt/2: lines are placed at ε, where their place is certain.
    #[must_use]
    pub fn uncompressed(mut self, reference: f64) -> Self {
        if self.folds() {
            return self;
        }
        let half = self.time_step / 2.0;
        for line in &mut self.lines {
            let Some(decay) = &mut line.decay else {
                line.energy = reference + ((line.energy - reference) * half).tan() / half;
                continue;
            };
            let own = (Complex64::new(line.energy - reference, -decay.rate / 2.0) * half).tan();
            line.energy = reference + own.re / half;
            decay.rate = -2.0 * own.im / half;
            decay.error *= (1.0 + own * own).norm();
        }
        self
    }

    /// The windowed record, the half of t ≥ 0; its real part counts twice.
    fn windowed(&self) -> impl Iterator<Item = Complex64> + '_ {
        let steps = self.count();
        self.overlap.iter().enumerate().map(move |(n, value)| {
            #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
            let window = 0.5 * (1.0 + (PI * n as f64 / steps).cos());
            let half = if n == 0 { 0.5 } else { 1.0 };
            value * (2.0 * half * window / steps)
        })
    }

    /// S at an energy.
    pub fn spectrum(&self, energy: f64) -> f64 {
        self.at(energy * self.time_step)
    }

    fn at(&self, theta: f64) -> f64 {
        let terms = self.windowed().enumerate();
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
        terms
            .map(|(n, value)| (value * Complex64::cis(theta * n as f64)).re)
            .sum()
    }

    /// S at the places of a grid of angles θ = EΔt from 0 to 2π.
    fn grid(&self) -> Vec<f64> {
        let mut all = vec![Complex64::ZERO; (FINER * 2 * self.steps()).next_power_of_two()];
        for (place, value) in all.iter_mut().zip(self.windowed()) {
            *place = value;
        }
        // e^{+iEt}: the inverse transform.
        FftPlanner::new().plan_fft_inverse(all.len()).process(&mut all);
        all.iter().map(|value| value.re).collect()
    }

    fn find(&self) -> Vec<SpectralLine> {
        let mut grid = self.grid();
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
        let bin = TAU / grid.len() as f64;
        let weakest = WEAKEST * grid.iter().copied().fold(0.0, f64::max);
        let mut lines = Lines {
            all: Vec::new(),
            steps: self.count(),
        };
        let mut left = grid.clone();
        // Each takes away what is above a third of the largest: 3⁻⁹ is below the weakest. Some more, as what was hidden appears.
        for _ in 0..24 {
            let found = tops(&left, weakest);
            if found.is_empty() || lines.all.len() + found.len() > MOST {
                break;
            }
            #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
            lines.all.extend(found.iter().map(|&place| Line {
                theta: place as f64 * bin,
                weight: left[place],
            }));
            for _ in 0..30 {
                let moved = lines.fit(
                    bin,
                    |theta| (theta / bin).round() * bin,
                    |theta| grid[place(theta, &grid)],
                );
                if moved < 1e-3 * bin {
                    break;
                }
            }
            lines.merge();
            left.clone_from(&grid);
            lines.take_away(&mut left);
        }
        for _ in 0..3 {
            lines.fit(0.25 * bin, |theta| theta, |theta| self.at(theta));
        }
        lines.merge();
        lines.take_away(&mut grid);
        let rest = grid.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        lines.tell(weakest.max(ABOVE * rest), self.time_step)
    }
}

/// The place of a grid over 0 to 2π next to an angle.
#[expect(clippy::cast_precision_loss, reason = "numbers of places")]
fn place(theta: f64, grid: &[f64]) -> usize {
    let turns = (theta / TAU).rem_euclid(1.0);
    truncated((turns * grid.len() as f64).round()) % grid.len()
}

/// The tops of what is left that are above a third of the largest, and above `weakest`.
fn tops(left: &[f64], weakest: f64) -> Vec<usize> {
    let size = left.len();
    let least = weakest.max(left.iter().copied().fold(0.0, f64::max) / 3.0);
    (0..size)
        .filter(|&m| left[m] > least && left[m] >= left[(m + size - 1) % size] && left[m] > left[(m + 1) % size])
        .collect()
}

/// θ = EΔt and |c|².
#[derive(Clone, Copy)]
struct Line {
    theta: f64,
    weight: f64,
}

/// The angle from one to another, −π to π.
fn apart(a: f64, b: f64) -> f64 {
    let turns = (a - b) / TAU;
    TAU * (turns - turns.round())
}

/// Lines of records of so many steps.
struct Lines {
    all: Vec<Line>,
    steps: f64,
}

impl Lines {
    /// The angle that stands for the width of a line at half its height.
    fn width(&self) -> f64 {
        TAU / self.steps
    }

    /// What line `k` leaves where it is alone: S minus the others.
    fn without(&self, k: usize, theta: f64, value: f64) -> f64 {
        let others = self.all.iter().enumerate().filter(|(j, _)| *j != k);
        let near = others.filter_map(|(_, other)| {
            let aside = apart(theta, other.theta);
            (aside.abs() < FAR * self.width()).then(|| other.weight * line_shape(aside, self.steps))
        });
        value - near.sum::<f64>()
    }

    /// Puts every line at the top of what the others leave: that of a parabola through three places `h` apart, of which `middle` says the middle one. The furthest that any was moved.
    fn fit(&mut self, h: f64, middle: impl Fn(f64) -> f64, value: impl Fn(f64) -> f64) -> f64 {
        let mut furthest = 0.0f64;
        for k in 0..self.all.len() {
            let before = self.all[k].theta;
            let theta = middle(before);
            let [low, top, high] = [theta - h, theta, theta + h].map(|at| self.without(k, at, value(at)));
            let bend = low - 2.0 * top + high;
            let shift = if bend < 0.0 {
                (0.5 * (low - high) / bend).clamp(-1.0, 1.0)
            } else {
                0.0
            };
            self.all[k] = Line {
                theta: theta + shift * h,
                weight: top - 0.25 * (low - high) * shift,
            };
            furthest = furthest.max(apart(self.all[k].theta, before).abs());
        }
        furthest
    }

    /// Makes one of lines that stand on each other, and drops those that have become nothing.
    fn merge(&mut self) {
        let near = 0.25 * self.width();
        let mut kept: Vec<Line> = Vec::new();
        self.all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for line in self.all.drain(..).filter(|line| line.weight > 0.0) {
            match kept
                .iter_mut()
                .find(|known| apart(known.theta, line.theta).abs() < near)
            {
                Some(known) => known.weight += line.weight,
                None => kept.push(line),
            }
        }
        self.all = kept;
    }

    /// Takes the lines out of S on a grid over 0 to 2π.
    fn take_away(&self, left: &mut [f64]) {
        let size = left.len();
        #[expect(clippy::cast_precision_loss, reason = "numbers of places")]
        let bin = TAU / size as f64;
        let reach = truncated(FAR * self.width() / bin).min(size / 2);
        for line in &self.all {
            let middle = place(line.theta, left);
            for n in 0..2 * reach {
                let m = (middle + size - reach + n) % size;
                #[expect(clippy::cast_precision_loss, reason = "numbers of places")]
                let aside = apart(m as f64 * bin, line.theta);
                left[m] -= line.weight * line_shape(aside, self.steps);
            }
        }
    }

    /// The resolved lines, by rising energy.
    fn tell(&self, weakest: f64, time_step: f64) -> Vec<SpectralLine> {
        let stands = |line: &Line| {
            line.weight > weakest
                && self.all.iter().all(|other| {
                    let widths = apart(line.theta, other.theta).abs() / self.width();
                    other.weight <= line.weight || line.weight * widths * widths > BESIDE * other.weight
                })
        };
        let mut told: Vec<SpectralLine> = (self.all.iter().filter(|line| stands(line)))
            .map(|line| SpectralLine {
                energy: apart(line.theta, 0.0) / time_step,
                weight: line.weight,
                decay: None,
                crowded: false,
            })
            .collect();
        told.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::noise::Noise;

    fn record(exact: &[(f64, f64)], step: f64, steps: u32) -> Vec<Complex64> {
        (0..=steps)
            .map(|n| {
                let t = step * f64::from(n);
                let terms = exact
                    .iter()
                    .map(|(energy, weight)| Complex64::cis(-energy * t) * *weight);
                terms.sum()
            })
            .collect()
    }

    /// Exact exponentials: what the parabola and the three last fits leave is far below a thousandth of the resolution, and there are no lines but those.
    #[test]
    fn lines_stand_where_their_energies_are() {
        let exact = [(-1.3, 0.2), (0.45, 0.5), (2.0, 0.299), (2.2, 0.001)];
        let found = Autocorrelation::of(record(&exact, 0.1, 2000), 0.1);
        assert!((found.resolution() - TAU / 200.0).abs() < 1e-12);
        assert_eq!(found.lines.len(), 4, "{:?}", found.lines);
        for (line, (energy, weight)) in found.lines.iter().zip(exact) {
            assert!((line.energy - energy).abs() < 1e-3 * found.resolution(), "{line:?}");
            assert!((line.weight - weight).abs() < 1e-5, "{line:?}");
            assert!((found.spectrum(line.energy) - weight).abs() < 1e-4, "{line:?}");
        }
    }

    /// Two levels one width apart, as a double well has them: their tops alone would stand a sixth of a width off.
    #[test]
    fn neighbours_do_not_shift_each_other() {
        let (low, high) = (0.015_018, 0.016_501);
        let found = Autocorrelation::of(record(&[(low, 0.6), (high, 0.4)], 5.0, 848), 5.0);
        assert!((high - low) / found.resolution() < 1.01);
        let [first, second] = found.lines[..] else {
            panic!("{:?}", found.lines)
        };
        for (line, (energy, weight)) in [(first, (low, 0.6)), (second, (high, 0.4))] {
            assert!((line.energy - energy).abs() < 1e-2 * found.resolution(), "{line:?}");
            assert!((line.weight - weight).abs() < 1e-2, "{line:?}");
        }
    }

    /// Noise of a hundredth makes no lines, of which there were dozens above 1e-4 of the strongest.
    #[test]
    fn what_noise_leaves_is_no_line() {
        let mut noise = Noise::new(11);
        let mut noise = || 1e-2 * noise.signed();
        let mut record = record(&[(0.7, 0.6), (1.9, 0.4)], 0.2, 400);
        for value in &mut record {
            *value += Complex64::new(noise(), noise());
        }
        let found = Autocorrelation::of(record, 0.2);
        assert_eq!(found.lines.len(), 2, "{:?}", found.lines);
        for (line, (energy, weight)) in found.lines.iter().zip([(0.7, 0.6), (1.9, 0.4)]) {
            // The mean of 4000 values of 6e-3 each, with a window of ¾: some 1e-4.
            assert!(
                (line.energy - energy).abs() < 1e-3 && (line.weight - weight).abs() < 1e-3,
                "{line:?}"
            );
        }
    }

    /// Steps of 1 tell energies apart modulo 2π: those of a band from 0 to 6 stand where they are, of a wider one they may be others, and what the band does not hold is told.
    #[test]
    fn energies_stand_within_their_range() {
        let exact = [(0.4, 0.2), (2.9, 0.3), (5.7, 0.5)];
        let found = || Autocorrelation::of(record(&exact, 1.0, 800), 1.0);
        assert!(found().lines[0].energy < 0.0, "beyond π");
        let known = found().within([0.0, 6.0]);
        assert!(!known.folds() && known.outside().next().is_none());
        for (line, (energy, _)) in known.lines.iter().zip(exact) {
            assert!((line.energy - energy).abs() < 1e-3 * known.resolution(), "{line:?}");
        }
        assert!(found().within([0.0, 7.0]).folds());
        let outside = found().within([0.0, 4.0]);
        let [line] = outside.outside().copied().collect::<Vec<_>>()[..] else {
            panic!("{:?}", outside.lines)
        };
        assert!((line.energy - 5.7).abs() < 1e-3, "{line:?}");
    }

    /// Levels 1.3 to 1.6 widths apart, between which S does not fall by half, are lines of their own.
    #[test]
    fn levels_beside_each_other_are_told_apart() {
        let width = TAU / 200.0;
        let levels: Vec<(f64, f64)> = (0..8u8)
            .map(f64::from)
            .map(|n| (0.1 + width * (1.3 * n + 0.02 * n * n), 0.1))
            .collect();
        let found = Autocorrelation::of(record(&levels, 0.2, 1000), 0.2);
        assert_eq!(found.lines.len(), 8, "{:?}", found.lines);
        for (line, (energy, _)) in found.lines.iter().zip(&levels) {
            assert!((line.energy - energy).abs() < 0.1 * width, "{line:?}");
        }
    }

    /// Implicit steps compress ε − E₀ to Ω − E₀ = (2/Δt) arctan((ε − E₀)Δt/2), also of an ε = E − iΓ/2 that decays.
    #[test]
    fn decaying_lines_are_uncompressed() {
        let (step, reference) = (0.2, 1.5);
        let exact = [(2.0, 0.02), (4.5, 0.1)];
        let record = |n: u16| -> Complex64 {
            let term = |(energy, rate): (f64, f64)| {
                let half = step / 2.0;
                let compressed = (Complex64::new(energy - reference, -rate / 2.0) * half).atan() / half;
                (-Complex64::I * (compressed + reference) * step * f64::from(n)).exp() * 0.5
            };
            exact.into_iter().map(term).sum()
        };
        let found = Autocorrelation::decaying((0..=400).map(record).collect(), step, 0.0);
        assert!((found.lines[1].energy - 4.5).abs() > 0.05, "{:?}", found.lines);
        let found = found.within([0.0, 8.0]).uncompressed(reference);
        assert_eq!(found.lines.len(), 2, "{:?}", found.lines);
        assert!(found.rest.is_some_and(|rest| rest < 1e-12), "{:?}", found.rest);
        for (line, (energy, rate)) in found.lines.iter().zip(exact) {
            let decay = line.decay.unwrap();
            assert!(
                (line.energy - energy).abs() < 1e-7 && (decay.rate - rate).abs() < 1e-7,
                "{line:?}"
            );
            assert!(decay.error < 1e-6 && decay.phase.abs() < 1e-6, "{line:?}");
            assert!((line.weight - 0.5).abs() < 1e-6, "{line:?}");
        }
    }

    /// Rounding of single precision makes no lines; nor does a wave of one energy have side lobes.
    #[test]
    fn one_energy_is_one_line() {
        let mut noise = Noise::new(7);
        let mut noise = || 0.5e-7 * noise.signed();
        let mut record = record(&[(0.7, 1.0)], 0.05, 1000);
        for value in &mut record {
            *value += Complex64::new(noise(), noise());
        }
        let found = Autocorrelation::of(record, 0.05);
        assert_eq!(found.lines.len(), 1, "{:?}", found.lines);
        assert!((found.lines[0].energy - 0.7).abs() < 1e-6 && (found.lines[0].weight - 1.0).abs() < 1e-6);
        assert!(
            Autocorrelation::of(vec![Complex64::new(1.0, 0.0); 3], 1.0)
                .lines
                .is_empty()
        );
    }
}
