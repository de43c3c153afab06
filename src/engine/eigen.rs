//! The spectrum of a scene: its lowest levels, or the energies that its own wave contains.

use super::{Engine, EngineError};
use crate::physics::eigen::{self, EigenError, Hamiltonian, Levels, Round};
use crate::scene::Scenario;
use num_complex::Complex64;
use rustfft::FftPlanner;
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How many times more energies are looked at than the recorded time tells apart.
const FINER: usize = 8;

/// Lines weaker than this share of the strongest are not told from the window's tails and rounding.
const WEAKEST: f64 = 1e-4;

/// The lowest `wanted` levels of a scene; `watch` hears of every round.
///
/// # Errors
/// If the scene has none, or not as many, memory runs out, or it was broken off.
pub fn levels(
    scenario: &Scenario,
    wanted: usize,
    watch: &mut dyn FnMut(Round) -> ControlFlow<()>,
) -> Result<Levels, EigenError> {
    let Some(quantum) = scenario.model().quantum() else {
        return Err(EigenError::NoLevels {
            what: "a scene of sound has no levels of energy".to_owned(),
            remedy: "take a quantum scene".to_owned(),
        });
    };
    let hamiltonian = Hamiltonian::new(scenario.grid(), &quantum, scenario.medium())?;
    eigen::lowest(&hamiltonian, wanted, watch)
}

/// A line in the spectrum of an autocorrelation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralLine {
    /// Its energy.
    pub energy: f64,
    /// |c|², the share of the first state in the eigenstates of this energy.
    pub weight: f64,
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
}

impl Autocorrelation {
    /// The time over which it was recorded.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    pub fn time(&self) -> f64 {
        (self.overlap.len() - 1) as f64 * self.time_step
    }

    /// Width of a line at half its height: 2π/T, of Hann's window over −T..T. Energies nearer than twice that are one line.
    #[must_use]
    pub fn resolution(&self) -> f64 {
        TAU / self.time()
    }

    /// Energies beyond ±π/Δt appear at others.
    #[must_use]
    pub fn highest(&self) -> f64 {
        PI / self.time_step
    }

    /// The lines of a record: S(E) = (1/T) ∫_{−T}^{T} w(t)⟨ψ(0)|ψ(t)⟩e^{iEt} dt with w = ½(1 + cos πt/T) and ⟨ψ(0)|ψ(−t)⟩ = ⟨ψ(0)|ψ(t)⟩*. It is real, and |c|² at the top of a line that
    /// stands alone.
    #[must_use]
    pub fn of(overlap: Vec<Complex64>, time_step: f64) -> Self {
        let mut found = Self {
            overlap,
            time_step,
            lines: Vec::new(),
        };
        found.lines = found.find();
        found
    }

    /// S at an energy, the trapezoidal sum over the steps.
    #[must_use]
    pub fn spectrum(&self, energy: f64) -> f64 {
        let steps = self.overlap.len() - 1;
        let terms = self.overlap.iter().enumerate();
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
        let sum: f64 = terms
            .map(|(n, value)| {
                let window = 0.5 * (1.0 + (PI * n as f64 / steps as f64).cos());
                let half = if n == 0 { 0.5 } else { 1.0 };
                half * window * (value * Complex64::cis(energy * n as f64 * self.time_step)).re
            })
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
        let steps = steps as f64;
        2.0 * sum / steps
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of steps")]
    fn find(&self) -> Vec<SpectralLine> {
        let steps = self.overlap.len().saturating_sub(1);
        if steps < 4 {
            return Vec::new();
        }
        let size = (FINER * 2 * steps).next_power_of_two();
        let mut all = vec![Complex64::ZERO; size];
        for (n, value) in self.overlap.iter().enumerate() {
            let window = 0.5 * (1.0 + (PI * n as f64 / steps as f64).cos());
            let half = if n == 0 { 0.5 } else { 1.0 };
            all[n] = value * (half * window);
        }
        // e^{+iEt}: the inverse transform.
        FftPlanner::new().plan_fft_inverse(size).process(&mut all);
        let bin = TAU / (size as f64 * self.time_step);
        let height = |m: usize| all[m % size].re;
        let strongest = (0..size).map(height).fold(0.0, f64::max);
        let mut lines: Vec<SpectralLine> = (0..size)
            .filter(|&m| height(m) > WEAKEST * strongest)
            .filter(|&m| height(m) >= height(m + size - 1) && height(m) > height(m + 1))
            .map(|m| {
                let signed = if 2 * m >= size {
                    m as f64 - size as f64
                } else {
                    m as f64
                };
                let energy = self.top(signed * bin, bin);
                SpectralLine {
                    energy,
                    weight: self.spectrum(energy),
                }
            })
            .collect();
        lines.sort_by(|a, b| a.energy.total_cmp(&b.energy));
        lines
    }

    /// The top of the line about `energy`, to less than a thousandth of what the window tells apart, by thirds.
    fn top(&self, energy: f64, bin: f64) -> f64 {
        let (mut low, mut high) = (energy - bin, energy + bin);
        while high - low > 1e-2 * bin {
            let third = (high - low) / 3.0;
            if self.spectrum(low + third) < self.spectrum(high - third) {
                low += third;
            } else {
                high -= third;
            }
        }
        f64::midpoint(low, high)
    }
}

/// Runs a scene to `end` with its overlap with the start taken after every step; `watch` hears of the steps done and may break it off.
///
/// # Errors
/// If the run fails; [`EngineError::Cancelled`] where it was broken off.
pub fn autocorrelation(
    scenario: Arc<Scenario>,
    end: f64,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Autocorrelation, EngineError> {
    let mut engine = Engine::new(scenario)?;
    let steps = engine.steps_until(end)?;
    let mut overlap = Vec::new();
    for step in 0..=steps {
        if step > 0 {
            engine.advance(1)?;
        }
        overlap.push(engine.overlap()?);
        if watch(step, steps).is_break() {
            return Err(EngineError::Cancelled("the autocorrelation"));
        }
    }
    Ok(Autocorrelation::of(overlap, engine.clock().time_step))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three exponentials: energies to a hundredth of the resolution, weights to what the tails of the others leave (Hann's fall as 1/E³).
    #[test]
    fn lines_stand_where_their_energies_are() {
        let (step, steps) = (0.1, 2000);
        let exact = [(-1.3, 0.2), (0.45, 0.5), (2.0, 0.3)];
        let record = (0..=steps)
            .map(|n| {
                let t = step * f64::from(n);
                exact
                    .iter()
                    .map(|(energy, weight)| Complex64::cis(-energy * t) * *weight)
                    .sum()
            })
            .collect();
        let found = Autocorrelation::of(record, step);
        assert!((found.resolution() - TAU / 200.0).abs() < 1e-12);
        let strong: Vec<&SpectralLine> = found.lines.iter().filter(|line| line.weight > 0.01).collect();
        assert_eq!(strong.len(), 3, "{:?}", found.lines);
        for (line, (energy, weight)) in strong.into_iter().zip(exact) {
            assert!((line.energy - energy).abs() < 0.01 * found.resolution(), "{line:?}");
            assert!((line.weight - weight).abs() < 1e-3, "{line:?}");
        }
    }
}
