//! Sums over regions of the field: observables, and what detectors need amplitudes for.
//!
//! All sums run over rows in parallel and add the rows in order, so that the result does not depend on the number of threads.

use super::half_phase::HalfPhase;
use super::run::Trotter;
use crate::field::{Real, wide};
use crate::physics::Observables;
use crate::solver::totals::{Region, Totals};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

/// Reads sites of a row of φ: (row, sites, where to).
pub(super) type ReadRow<'a, T> = &'a (dyn Fn(usize, Range<usize>, &mut [Complex<T>]) + Sync);

/// What the sums over one region share.
struct Sums<'a, T> {
    read: ReadRow<'a, T>,
    region: &'a Region,
    closing: Option<&'a HalfPhase>,
    drives: &'a [f64],
}

impl<T: Real> Trotter<T> {
    /// Norm, ⟨H⟩, positions and spreads of ψ at `time`.
    pub(super) fn measure(&self, time: f64) -> Observables {
        let grid = &self.problem.grid;
        let totals = match self.stepper.device() {
            Some(device) => {
                let closing = self.last_half_phase(time);
                device.totals(&self.everywhere(true), closing.as_ref(), &self.media.drives_at(time))
            }
            None => Totals::of_rows(grid.size()[1], &self.rows_at(time)),
        };
        totals.observables(grid)
    }

    /// Sums over every row of ψ at `time`, for a field on the host.
    pub(super) fn rows_at(&self, time: f64) -> Vec<(usize, Totals)> {
        let closing = self.last_half_phase(time);
        let drives = self.media.drives_at(time);
        let read: ReadRow<T> = &|row, x, out| self.stepper.read(row, x, out);
        self.rows_of(read, &self.everywhere(true), closing.as_ref(), &drives)
    }

    /// Sums over a region of the sites that `read` gives.
    pub(super) fn totals_of(
        &self,
        read: ReadRow<T>,
        region: &Region,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> Totals {
        let rows = self.rows_of(read, region, closing, drives);
        Totals::of_rows(self.problem.grid.size()[1], &rows)
    }

    /// The same row by row, with the rows' numbers; a row has only its moments along x.
    pub(super) fn rows_of(
        &self,
        read: ReadRow<T>,
        region: &Region,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> Vec<(usize, Totals)> {
        let ny = self.problem.grid.size()[1];
        let rows: Vec<usize> = (region.lo[2]..region.hi[2])
            .flat_map(|k| (region.lo[1]..region.hi[1]).map(move |j| j + ny * k))
            .collect();
        let width = region.hi[0].saturating_sub(region.lo[0]);
        if width == 0 {
            return Vec::new();
        }
        let sums = Sums {
            read,
            region,
            closing,
            drives,
        };
        rows.par_iter()
            .with_min_len(8)
            .map_init(
                || [vec![Complex::default(); width], vec![Complex::default(); width]],
                |buffers, &row| (row, self.row_totals(&sums, row, buffers)),
            )
            .collect()
    }

    /// Sites of a row of ψ.
    fn closed(&self, sums: &Sums<T>, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let x0 = x.start;
        (sums.read)(row, x, out);
        if let Some(closing) = sums.closing {
            closing.apply(&self.media, row, x0, out);
        }
    }

    fn row_totals(&self, sums: &Sums<T>, row: usize, buffers: &mut [Vec<Complex<T>>; 2]) -> Totals {
        let quantum = &self.problem.quantum;
        let [nx, ..] = self.problem.grid.size();
        let x = sums.region.lo[0]..sums.region.hi[0];
        let [here, other] = buffers;
        self.closed(sums, row, x.clone(), here);
        let mut totals = Totals::default();
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        for (i, site) in x.clone().zip(here.iter()) {
            let density = wide(*site).norm_sqr();
            let x = i as f64;
            totals.norm += density;
            totals.first[0] += x * density;
            totals.second[0] += x * x * density;
            if density > totals.peak {
                totals.peak = density;
            }
            if sums.region.energy {
                let diagonal = self.media.energy_at(row * nx + i, sums.drives);
                let g = self.problem.interaction_at(row * nx + i);
                totals.energy += density * (diagonal + 0.5 * g * density);
            }
        }
        let cross = self.problem.medium.cross_interaction();
        if sums.region.energy && cross != 0.0 {
            let rows = self.problem.grid.rows();
            self.closed(sums, (row + rows / 2) % rows, x.clone(), other);
            // Each of the two has half of g₁₂n₁n₂.
            let pairs = here.iter().zip(other.iter());
            let both: f64 = pairs.map(|(a, b)| wide(*a).norm_sqr() * wide(*b).norm_sqr()).sum();
            totals.energy += 0.5 * cross * both;
        }
        if sums.region.energy {
            let bonds = self.bonds_along_x(sums, row, here) + self.bonds_between_rows(sums, row, here, other);
            totals.energy -= quantum.hopping * bonds;
        }
        if let Some(axis) = sums.region.across {
            totals.current = 2.0 * quantum.hopping * self.current(sums, axis, row, here, other);
        }
        totals
    }

    /// Σ Re ψₐ* e^{−iϕ} ψ_b over the x bonds of a row of a region: twice those inside it, once those that leave it.
    fn bonds_along_x(&self, sums: &Sums<T>, row: usize, here: &[Complex<T>]) -> f64 {
        let nx = self.problem.grid.size()[0];
        let periodic = self.problem.grid.is_periodic(0);
        let (lo, hi) = (sums.region.lo[0], sums.region.hi[0]);
        let turn = self.along_x(row);
        let bond = |i: usize, a: Complex<T>, b: Complex<T>| (wide(a).conj() * turn(i) * wide(b)).re;
        let inside: f64 = (lo..hi)
            .zip(here.windows(2))
            .map(|(i, pair)| bond(i, pair[0], pair[1]))
            .sum();
        let (first, last) = (here[0], here[here.len() - 1]);
        if lo == 0 && hi == nx {
            return 2.0 * (inside + if periodic { bond(nx - 1, last, first) } else { 0.0 });
        }
        let site = |i: usize| {
            let mut one = [Complex::default()];
            self.closed(sums, row, i..i + 1, &mut one);
            one[0]
        };
        let mut leaving = 0.0;
        if hi < nx || periodic {
            leaving += bond(hi - 1, last, site(hi % nx));
        }
        if lo > 0 || periodic {
            let before = (lo + nx - 1) % nx;
            leaving += bond(before, site(before), first);
        }
        2.0 * inside + leaving
    }

    /// The same for the bonds to the rows beside it; every bond inside the region is counted once, from below, with weight 2.
    fn bonds_between_rows(&self, sums: &Sums<T>, row: usize, here: &[Complex<T>], other: &mut [Complex<T>]) -> f64 {
        let [nx, ny, _] = self.problem.grid.size();
        let region = sums.region;
        let x = region.lo[0]..region.hi[0];
        let mut bonds = 0.0;
        for axis in 1..self.problem.grid.rank() {
            let at = |row: usize| if axis == 1 { row % ny } else { row / ny };
            let inside = |row: usize| (region.lo[axis]..region.hi[axis]).contains(&at(row));
            // `lower`: the row from whose sites the bonds go up.
            let mut add = |next: usize, lower: usize, weight: f64| {
                self.closed(sums, next, x.clone(), other);
                let dot = |a: &Complex<T>, b: &Complex<T>| a.re.wide() * b.re.wide() + a.im.wide() * b.im.wide();
                let pairs = here.iter().zip(other.iter());
                let sum: f64 = match &self.problem.bonds {
                    None => pairs.map(|(a, b)| dot(a, b)).sum(),
                    Some(bonds) => {
                        let factors = &bonds.along(axis)[lower * nx..][x.clone()];
                        // f e^{iϕ} leads from the lower row to the upper one.
                        let hop = |a: &Complex<T>, b: &Complex<T>, factor: &Complex64| {
                            let (a, b) = if lower == row { (a, b) } else { (b, a) };
                            (wide(*a).conj() * factor.conj() * wide(*b)).re
                        };
                        pairs.zip(factors).map(|((a, b), factor)| hop(a, b, factor)).sum()
                    }
                };
                bonds += weight * sum;
            };
            if let Some(next) = self.next_row(row, axis) {
                add(next, row, if inside(next) { 2.0 } else { 1.0 });
            }
            if at(row) == region.lo[axis]
                && let Some(previous) = self.previous_row(row, axis)
                && !inside(previous)
            {
                add(previous, previous, 1.0);
            }
        }
        bonds
    }

    /// Σ Im ψₐ* e^{−iϕ} ψ_b over the bonds upwards along an axis.
    fn current(&self, sums: &Sums<T>, axis: usize, row: usize, here: &[Complex<T>], next: &mut [Complex<T>]) -> f64 {
        let nx = self.problem.grid.size()[0];
        let x = sums.region.lo[0]..sums.region.hi[0];
        if axis == 0 {
            let inside = x.end.min(nx - 1).saturating_sub(x.start);
            next.fill(Complex::default());
            self.closed(sums, row, x.start + 1..x.start + 1 + inside, &mut next[..inside]);
            if inside < x.len() && self.problem.grid.is_periodic(0) {
                self.closed(sums, row, 0..1, &mut next[inside..=inside]);
            }
        } else if let Some(other) = self.next_row(row, axis) {
            self.closed(sums, other, x.clone(), next);
        } else {
            return 0.0;
        }
        let along_x = self.along_x(row);
        let turn = |i: usize| match &self.problem.bonds {
            _ if axis == 0 => along_x(i),
            None => Complex64::ONE,
            Some(bonds) => bonds.at(axis, row * nx + i).conj(),
        };
        (x.zip(here.iter().zip(next.iter())))
            .map(|(i, (a, b))| (wide(*a).conj() * turn(i) * wide(*b)).im)
            .sum()
    }

    /// f e^{−iϕ} of the x bonds of a row by the numbers of their sites; without layers f = 1 and ϕ = −2π·flux·y.
    fn along_x(&self, row: usize) -> impl Fn(usize) -> Complex64 + '_ {
        let nx = self.problem.grid.size()[0];
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let y = self.problem.grid.global(1, row % self.problem.grid.size()[1]) as f64;
        let same = Complex64::cis(std::f64::consts::TAU * self.problem.quantum.flux * y);
        let bonds = self.problem.bonds.as_deref();
        move |i| bonds.map_or(same, |bonds| bonds.at(0, row * nx + i).conj())
    }

    /// The row one site further along y or z.
    fn next_row(&self, row: usize, axis: usize) -> Option<usize> {
        let (at, count, stride) = self.place(row, axis);
        if at + 1 < count {
            Some(row + stride)
        } else if self.problem.grid.is_periodic(axis) {
            Some(row - (count - 1) * stride)
        } else {
            None
        }
    }

    /// The row one site before along y or z.
    fn previous_row(&self, row: usize, axis: usize) -> Option<usize> {
        let (at, count, stride) = self.place(row, axis);
        if at > 0 {
            Some(row - stride)
        } else {
            (self.problem.grid.is_periodic(axis)).then(|| row + (count - 1) * stride)
        }
    }

    /// Site of a row along y or z, sites of that axis, and rows from one to the next.
    fn place(&self, row: usize, axis: usize) -> (usize, usize, usize) {
        let [_, ny, nz] = self.problem.grid.size();
        if axis == 1 {
            (row % ny, ny, 1)
        } else {
            (row / ny, nz, ny)
        }
    }
}
