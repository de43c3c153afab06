//! Windows of a line or a plane that is cut into parts, and how deep their ghost rows are.
//!
//! An implicit step couples the whole line, but the influence of distant rows decays. A window is solved as if its ends were walls, with so many ghost rows that the difference
//! is below rounding where its own rows begin; several steps are taken before they are copied again, and nothing else is exchanged between parts.
//!
//! Bound: T = 1 + iΔt/2·H along the axis that is cut has θ = Δt|J|/2 beside its diagonal, whose real part is 1 at least. Weighted with e^{κx} its Hermitian part is above
//! 1 − 2θ sinh κ (S. Combes, L. Thomas 1973, doi:10.1007/BF01646473), in imaginary time above 1 + 2θ − 2θ cosh κ; κ is chosen so that this is 1/4. Then T⁻¹ is 4 at most in the
//! weighted norm and a step C = 2T⁻¹ − 1 is 9 at most, and the influence of the cut after k steps through d rows is below 9ᵏ θ e^{−κd} of the norm of ψ. It is held below 2⁻⁶⁴: d = (64 ln 2 + ln θ + k ln 9)/κ.
//! At Δt = 1/8J these are 19 rows and one more a step.
//! Bits depend on where the grid is cut, and not on which process or device has a part.

use super::METHOD;
use super::run::CrankNicolson;
use crate::grid::Grid;
use crate::physics::{Measure, Observables};
use crate::rounding::truncated;
use crate::scene::{Objection, Scenario};
use crate::solver::SolverError;
use crate::solver::clock::RunClock;
use crate::solver::method::Split;
use crate::solver::parts::Cut;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::setup::Number;
use crate::solver::taps::Tap;
use crate::solver::totals::Totals;
use num_complex::Complex;
use std::ops::Range;

/// Binary digits by which what comes over a cut has decayed.
const DIGITS: f64 = 64.0;
/// 2/(1/4) + 1: what a step does at most in the weighted norm.
const GROWTH: f64 = 9.0;

/// Rows that a scenario's method reaches over: those of any number of steps, and more of each step.
fn reach(hopping: f64, imaginary: bool, time_step: f64) -> (usize, usize) {
    let twice = (time_step * hopping).abs();
    let decay = if imaginary {
        (1.0 + 0.75 / twice).acosh()
    } else {
        (0.75 / twice).asinh()
    };
    let first = DIGITS * std::f64::consts::LN_2 + (twice / 2.0).max(1.0).ln();
    let [once, each] = [first, GROWTH.ln()].map(|log| truncated((log / decay).ceil().max(1.0)));
    // Sums read the row beside them.
    (once.saturating_add(1), each)
}

fn reach_of(scenario: &Scenario, time_step: f64) -> (usize, usize) {
    let hopping = scenario.model().quantum().map_or(0.0, |quantum| quantum.hopping);
    reach(hopping, scenario.time().imaginary, time_step)
}

/// Ghost rows for as many steps as make the first and the last pass of a call small beside the others; on a plane, whose ghost rows cost more, half as many.
#[expect(clippy::unnecessary_wraps, reason = "as the table wants it")]
pub(super) fn split(scenario: &Scenario) -> Result<Split, Objection> {
    let (beside, reach) = reach_of(scenario, METHOD.time_step(scenario));
    Ok(Split {
        reach,
        beside,
        unit: 1,
        steps: [if scenario.grid().rank() > 1 { 32 } else { 64 }; 2],
    })
}

impl<T: Number> CrankNicolson<T> {
    /// The sites of some rows; on a line each is one.
    fn sites_of(&self, rows: Range<usize>) -> Range<usize> {
        let [nx, ..] = self.grid().size();
        let row = if self.grid().rank() > 1 { nx } else { 1 };
        rows.start * row..rows.end * row
    }

    /// Sums over the core as numbers, positions counted in the whole grid.
    fn core_numbers(&mut self, time: f64) -> Result<[f64; NUMBERS], SolverError> {
        let mut sums = self.core_totals(Some(time))?;
        let (grid, lo) = (self.grid(), self.core_region().lo);
        for axis in 0..2 {
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let before = grid.global(axis, lo[axis]) as f64 - lo[axis] as f64;
            let first = sums.first[axis];
            sums.first[axis] = first + before * sums.norm;
            sums.second[axis] += 2.0 * before * first + before * before * sums.norm;
        }
        let ([x, y, _], [xx, yy, _]) = (sums.first, sums.second);
        Ok([sums.norm, sums.energy, x, xx, y, yy, sums.peak, 0.0])
    }
}

impl<T: Number> Cut for CrankNicolson<T> {
    fn read_rows(&mut self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), SolverError> {
        let sites = self.sites_of(rows);
        #[cfg(feature = "cuda")]
        if let Some(pieces) = self.propagator.pieces(sites.clone()) {
            return pieces.read(out).map_err(SolverError::from);
        }
        let mut psi = vec![Complex::<T>::default(); sites.len()];
        self.propagator.read(sites.start, &mut psi);
        out.extend_from_slice(bytemuck::cast_slice(&psi));
        Ok(())
    }

    fn write_rows(&mut self, rows: Range<usize>, bytes: &[u8]) -> Result<(), SolverError> {
        let psi: Vec<Complex<T>> = bytemuck::pod_collect_to_vec(bytes);
        let sites = self.sites_of(rows);
        self.propagator.write(sites.start, &psi);
        self.propagator.fault()
    }

    #[cfg(feature = "cuda")]
    fn pieces_of_rows(&mut self, rows: Range<usize>) -> Option<crate::backend::cuda::Pieces> {
        let sites = self.sites_of(rows);
        self.propagator.pieces(sites)
    }

    fn set_core(&mut self, rows: Range<usize>) {
        self.core = self.sites_of(rows);
    }

    fn sums_core(&self) -> bool {
        true
    }

    fn steps_between(&self, ghosts: usize, time_step: f64) -> Option<u64> {
        let (once, each) = reach_of(&self.scenario, time_step);
        let most = split(&self.scenario).map_or(1, |split| split.steps[1]);
        Some((ghosts.saturating_sub(once) / each) as u64).map(|steps| steps.min(most))
    }

    fn begin(&mut self, weight: Option<f64>) -> Result<(), SolverError> {
        if let Some(now) = weight {
            let weight = 1.0 / self.grid().cell_volume();
            self.rescale_from(now, weight);
        }
        self.propagator.fault()
    }

    fn weights(&mut self) -> Result<Vec<f64>, SolverError> {
        Ok(vec![self.core_totals(None)?.norm])
    }

    fn scale_from(&mut self, now: f64, weight: f64) {
        self.rescale_from(now, weight);
    }

    fn row_sums(&mut self, clock: &RunClock) -> Result<Vec<[f64; NUMBERS]>, SolverError> {
        Ok(vec![self.core_numbers(clock.time())?])
    }

    fn sums_of(&self, grid: &Grid, cores: &[[f64; NUMBERS]]) -> Observables {
        let mut all = Totals::default();
        for [norm, energy, x, xx, y, yy, peak, _] in cores {
            all.norm += norm;
            all.energy += energy;
            all.first = [all.first[0] + x, all.first[1] + y, 0.0];
            all.second = [all.second[0] + xx, all.second[1] + yy, 0.0];
            all.peak = all.peak.max(*peak);
        }
        all.observables(grid)
    }

    /// Each part has recorded what its core adds.
    fn record_of(&self, _grid: &Grid, tap: &Tap, cores: &[f64]) -> f64 {
        if tap.measure == Measure::Peak {
            cores.iter().fold(0.0, |most, value| f64::max(most, *value))
        } else {
            cores.iter().sum()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::crank_nicolson::hamiltonian::Step;

    /// What elimination brings from the end of a line through as many rows as the bound asks for, in steps whose diagonals are the worst: those of the middle of the band.
    #[test]
    fn what_comes_over_a_cut_has_decayed() {
        for imaginary in [false, true] {
            for twice in [0.01, 0.125, 0.5, 2.0, 20.0] {
                let (once, _) = reach(1.0, imaginary, twice);
                let step = Step::new(twice, 1.0, imaginary, -2.0);
                let slowest = if imaginary { -2.0 } else { 0.0 };
                let off = step.off / step.diagonal(slowest + if imaginary { 2.0 } else { 0.0 }, 0.0);
                // λ + 1/λ = −diagonal/off: the solution that decays.
                let half = -0.5 / off;
                let root = (half * half - 1.0).sqrt();
                let decay = (half + root).norm().min((half - root).norm());
                #[expect(clippy::cast_precision_loss, reason = "few rows")]
                let rows = once as f64;
                let left = decay.powf(rows);
                assert!(
                    left < 0.5_f64.powf(DIGITS),
                    "{twice}, {imaginary}: {left:e} after {once} rows"
                );
                assert!(rows < 4.0 + 100.0 * (1.0 + twice), "{twice}: {once} rows");
            }
        }
    }
}
