//! Sums over the field and records of detectors: on the device of ψ if the propagator supports it, otherwise on the host.

use super::propagator::{KEPT, PART};
use super::run::CrankNicolson;
use crate::field::wide;
use crate::physics::{Measure, Observables};
use crate::solver::clock::RunClock;
use crate::solver::setup::Number;
use crate::solver::taps::Tap;
use crate::solver::totals::{Region, Totals};
use crate::solver::{SolverError, Taps};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

/// Sums that are added up side by side.
const LANES: usize = 8;

/// Whether a detector has no site here.
fn is_empty(tap: &Tap) -> bool {
    (0..3).any(|axis| tap.hi[axis] <= tap.lo[axis])
}

impl<T: Number> CrankNicolson<T> {
    /// Norm, ⟨H⟩, positions and spreads of ψ, with the drives of `time`.
    pub(super) fn measure(&mut self, time: f64) -> Result<Observables, SolverError> {
        Ok(self.core_totals(Some(time))?.observables(self.grid()))
    }

    /// All sites, or those of a window that are its own.
    pub(super) fn core_region(&self) -> Region {
        let [nx, ny, _] = self.grid().size();
        let Range { start, end } = self.core;
        let (lo, hi) = if ny > 1 {
            ([0, start / nx, 0], [nx, end / nx, 1])
        } else {
            ([start, 0, 0], [end, 1, 1])
        };
        Region {
            lo,
            hi,
            across: None,
            energy: true,
        }
    }

    /// Sums over these, positions as the window counts them; energies where a time is given.
    pub(super) fn core_totals(&mut self, time: Option<f64>) -> Result<Totals, SolverError> {
        if self.propagator.looks() {
            let region = Region {
                energy: time.is_some(),
                ..self.core_region()
            };
            self.propagator.keep_totals(time.unwrap_or(0.0), &[region], 0);
            let kept = self.propagator.kept_totals(1);
            self.propagator.fault()?;
            return Ok(kept.first().copied().unwrap_or_default());
        }
        self.propagator.fetch();
        self.propagator.fault()?;
        let drives = time.map(|time| self.propagator.drives_at(time));
        Ok(self.totals(drives.as_deref()))
    }

    /// The same from ψ as [`super::propagator::Propagator::read`] gives it; energies where the drives are given. Parts are added in order, so that threads make no difference.
    pub(super) fn totals(&self, drives: Option<&[f64]>) -> Totals {
        let Region { lo, hi, .. } = self.core_region();
        let parts_of_row = (hi[0] - lo[0]).div_ceil(PART);
        let parts: Vec<Totals> = (0..(hi[1] - lo[1]) * parts_of_row)
            .into_par_iter()
            .map(|part| {
                let (j, first) = (lo[1] + part / parts_of_row, lo[0] + part % parts_of_row * PART);
                self.part_totals(drives, j, first..(first + PART).min(hi[0]))
            })
            .collect();
        let mut all = Totals::default();
        for part in parts {
            all.norm += part.norm;
            all.energy += part.energy;
            for axis in 0..2 {
                all.first[axis] += part.first[axis];
                all.second[axis] += part.second[axis];
            }
            all.peak = all.peak.max(part.peak);
        }
        all
    }

    fn part_totals(&self, drives: Option<&[f64]>, j: usize, x: Range<usize>) -> Totals {
        let [nx, ny, _] = self.grid().size();
        let quantum = &self.quantum;
        let mut here = vec![Complex::default(); x.len() + 1];
        // The site after the part, for the bond to it.
        let inside = x.end < nx;
        self.propagator
            .read(j * nx + x.start, &mut here[..x.len() + usize::from(inside)]);
        if !inside && self.grid().is_periodic(0) {
            self.propagator.read(j * nx, &mut here[x.len()..]);
        }
        let mut above = vec![Complex::default(); if ny > 1 { x.len() } else { 0 }];
        if ny > 1 && (j + 1 < ny || self.grid().is_periodic(1)) {
            self.propagator.read((j + 1) % ny * nx + x.start, &mut above);
        }
        let mut energies = vec![0.0; if drives.is_some() { x.len() } else { 0 }];
        if let Some(drives) = drives {
            self.propagator.energies(j * nx + x.start, drives, &mut energies);
        }
        // Several sums side by side, so that none waits for its own last addition.
        let [mut norm, mut first, mut second, mut energy, mut bonds, mut peak] = [[0.0; LANES]; 6];
        for (n, site) in x.enumerate() {
            let lane = n % LANES;
            let psi = wide(here[n]);
            let density = psi.norm_sqr();
            #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
            let at = site as f64;
            norm[lane] += density;
            first[lane] += at * density;
            second[lane] += at * at * density;
            peak[lane] = density.max(peak[lane]);
            let Some(own) = energies.get(n) else { continue };
            energy[lane] += density * (own + 0.5 * quantum.interaction * density);
            bonds[lane] += (psi.conj() * wide(here[n + 1])).re;
            if let Some(above) = above.get(n) {
                bonds[lane] += (psi.conj() * wide(*above)).re;
            }
        }
        let added = |lanes: [f64; LANES]| lanes.iter().sum::<f64>();
        let norm = added(norm);
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let y = j as f64;
        Totals {
            norm,
            energy: added(energy) - 2.0 * quantum.hopping * added(bonds),
            first: [added(first), y * norm, 0.0],
            second: [added(second), y * y * norm, 0.0],
            peak: peak.into_iter().fold(0.0, f64::max),
            ..Totals::default()
        }
    }

    /// Takes steps and records every one of them; none: records the present ψ.
    pub(super) fn record_steps(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) {
        let all = taps.taps().to_vec();
        let regions: Vec<Option<Region>> = (all.iter())
            .map(|tap| (!is_empty(tap)).then(|| Region::of(tap)))
            .collect();
        let asked: Vec<Region> = regions.iter().flatten().copied().collect();
        let moments: Vec<u64> = if steps == 0 { vec![0] } else { (1..=steps).collect() };
        if !self.propagator.looks() || asked.len() > KEPT {
            let mut done = 0;
            loop {
                if steps > 0 {
                    let count = taps.until_due(&clock.after(done), steps - done);
                    self.propagator.advance(&clock.after(done), count);
                    done += count;
                }
                self.propagator.fetch();
                self.record(&clock.after(done), taps);
                if done >= steps {
                    return;
                }
            }
        }
        // Sums are queued after every step and come to the host once a batch, so that steps do not wait for them.
        let most = KEPT / asked.len().max(1);
        for batch in moments.chunks(most) {
            let mut put = 0;
            for moment in batch {
                if *moment > 0 {
                    self.propagator.advance(&clock.after(moment - 1), 1);
                }
                let now = clock.after(*moment);
                if taps.any_due(&now) {
                    self.propagator.keep_totals(now.time(), &asked, put);
                    put += asked.len();
                }
            }
            let totals = self.propagator.kept_totals(put);
            let mut totals = totals.iter();
            for moment in batch {
                if !taps.any_due(&clock.after(*moment)) {
                    continue;
                }
                let values: Vec<f64> = (all.iter().zip(&regions))
                    .map(|(tap, region)| match region {
                        None => 0.0,
                        Some(_) => totals.next().map_or(f64::NAN, |totals| totals.value(self.grid(), tap)),
                    })
                    .collect();
                let now = clock.after(*moment);
                if taps.keeps_rows() {
                    taps.push_rows(&now, |n, _| vec![(0, values[n])]);
                } else {
                    taps.push(&now, &values);
                }
            }
        }
    }

    fn psi_at(&self, site: [usize; 3]) -> Complex64 {
        let mut one = [Complex::default()];
        self.propagator.read(self.grid().index(site), &mut one);
        wide(one[0])
    }

    /// Re ψ*(Hψ) at a site.
    fn energy_of(&self, site: [usize; 3], drives: &[f64]) -> f64 {
        let grid = self.grid();
        let psi = self.psi_at(site);
        let mut around = Complex64::ZERO;
        for axis in 0..grid.rank() {
            let sites = grid.size()[axis];
            for (at_end, to) in [
                (site[axis] + 1 == sites, site[axis] + 1),
                (site[axis] == 0, site[axis] + sites - 1),
            ] {
                if !at_end || grid.is_periodic(axis) {
                    let mut other = site;
                    other[axis] = to % sites;
                    around += self.psi_at(other);
                }
            }
        }
        let density = psi.norm_sqr();
        let diagonal = self.propagator.energy_at(grid.index(site), drives) + 0.5 * self.quantum.interaction * density;
        density * diagonal - self.quantum.hopping * (psi.conj() * around).re
    }

    fn record(&self, clock: &RunClock, taps: &mut Taps) {
        let drives = self.propagator.drives_at(clock.time());
        if taps.keeps_rows() {
            taps.push_rows(clock, |_, tap| vec![(0, self.value_of(tap, &drives))]);
        } else {
            taps.record(clock, |_, tap| self.value_of(tap, &drives));
        }
    }

    /// What a detector records; 0 where it has no sites.
    fn value_of(&self, tap: &Tap, drives: &[f64]) -> f64 {
        let grid = self.grid();
        if is_empty(tap) {
            return 0.0;
        }
        if tap.measure == Measure::Probability
            && grid.rank() == 1
            && let Some(sum) = self.propagator.density(tap.lo[0]..tap.hi[0])
        {
            return sum * tap.weight;
        }
        if matches!(tap.measure, Measure::Probability | Measure::Peak) {
            return tap.density(|j, _, out| self.propagator.read(grid.index([tap.lo[0], j, 0]), out));
        }
        if tap.measure != Measure::Energy {
            return tap.quantum(grid, |_| self.quantum.hopping.into(), |site| self.psi_at(site));
        }
        let mut sum = 0.0;
        for j in tap.lo[1]..tap.hi[1] {
            for i in tap.lo[0]..tap.hi[0] {
                sum += self.energy_of([i, j, 0], drives);
            }
        }
        sum * tap.weight
    }
}
