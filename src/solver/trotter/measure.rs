//! Sums over the field: observables and detectors.
//!
//! All sums run over rows in parallel and add the rows in order, so that the result does not depend on the number of threads.

use super::run::{OnDevice, Opening, Region, Run, Totals};
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::{Measure, Observables};
use crate::solver::Taps;
use crate::solver::taps::Tap;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

/// What one row adds.
#[derive(Clone, Copy, Default)]
struct RowSums {
    norm: f64,
    energy: f64,
    x: f64,
    xx: f64,
    peak: f64,
}

impl<T: Real> Run<T> {
    /// Norm, ⟨H⟩, positions and spreads of ψ now.
    pub(super) fn measure(&self) -> Observables {
        let grid = &self.problem.grid;
        let [_, ny, nz] = grid.size();
        let closing = self.closing();
        let drives = self.media.drives_at(self.time());
        if let Some(device) = self.stepper.device() {
            let totals = device.totals(&self.everywhere(true), closing.as_ref(), &drives);
            return totals.observables(grid);
        }
        let rows: Vec<RowSums> = (0..grid.rows())
            .into_par_iter()
            .map_init(
                || RowBuffers::new(grid.size()[0]),
                |buffers, row| self.row_sums(closing.as_ref(), &drives, row, buffers),
            )
            .collect();
        let mut sums = RowSums::default();
        let (mut first, mut second) = ([0.0; 3], [0.0; 3]);
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        for (row, part) in rows.iter().enumerate() {
            sums.norm += part.norm;
            sums.energy += part.energy;
            sums.peak = if part.peak.is_nan() {
                part.peak
            } else {
                sums.peak.max(part.peak)
            };
            let (y, z) = ((row % ny) as f64, (row / ny) as f64);
            first[0] += part.x;
            second[0] += part.xx;
            first[1] += y * part.norm;
            second[1] += y * y * part.norm;
            first[2] += z * part.norm;
            second[2] += z * z * part.norm;
        }
        debug_assert_eq!(rows.len(), ny * nz);
        let a = grid.spacing();
        let mean = first.map(|sum| sum / sums.norm);
        let mut spread = [0.0; 3];
        for axis in 0..3 {
            spread[axis] = (second[axis] / sums.norm - mean[axis] * mean[axis]).max(0.0).sqrt() * a;
        }
        Observables {
            norm: sums.norm * grid.cell_volume(),
            energy: sums.energy / sums.norm,
            position: mean.map(|m| m * a),
            spread,
            peak: sums.peak,
        }
    }

    fn row_sums(&self, closing: Option<&Opening>, drives: &[f64], row: usize, buffers: &mut RowBuffers<T>) -> RowSums {
        let grid = &self.problem.grid;
        let quantum = &self.problem.quantum;
        let nx = grid.size()[0];
        self.closed_row(closing, row, 0..nx, &mut buffers.here);
        let mut sums = RowSums::default();
        let mut bonds = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        for (i, site) in buffers.here.iter().enumerate() {
            let density = density(*site);
            let x = i as f64;
            sums.norm += density;
            sums.x += x * density;
            sums.xx += x * x * density;
            sums.peak = if density > sums.peak || density.is_nan() {
                density
            } else {
                sums.peak
            };
            sums.energy += density * (self.media.energy_at(row * nx + i, drives) + 0.5 * quantum.interaction * density);
        }
        let turn = self.peierls(row);
        for pair in buffers.here.windows(2) {
            bonds += (wide(pair[0]).conj() * turn * wide(pair[1])).re;
        }
        if grid.is_periodic(0) {
            bonds += (wide(buffers.here[nx - 1]).conj() * turn * wide(buffers.here[0])).re;
        }
        for axis in 1..grid.rank() {
            if let Some(next) = self.next_row(row, axis) {
                self.closed_row(closing, next, 0..nx, &mut buffers.next);
                for (a, b) in buffers.here.iter().zip(&buffers.next) {
                    bonds += a.re.wide() * b.re.wide() + a.im.wide() * b.im.wide();
                }
            }
        }
        sums.energy -= 2.0 * quantum.hopping * bonds;
        sums
    }

    /// e^{−iϕ} of the x bonds of a row, ϕ = −2π·flux·y.
    pub(super) fn peierls(&self, row: usize) -> Complex64 {
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let y = (row % self.problem.grid.size()[1]) as f64;
        Complex64::cis(std::f64::consts::TAU * self.problem.quantum.flux * y)
    }

    /// The row one site further along y or z.
    fn next_row(&self, row: usize, axis: usize) -> Option<usize> {
        let [_, ny, nz] = self.problem.grid.size();
        let (at, count, stride) = if axis == 1 {
            (row % ny, ny, 1)
        } else {
            (row / ny, nz, ny)
        };
        if at + 1 < count {
            Some(row + stride)
        } else if self.problem.grid.is_periodic(axis) {
            Some(row - (count - 1) * stride)
        } else {
            None
        }
    }

    /// Appends one record of every detector.
    pub(super) fn record(&self, taps: &mut Taps) {
        let closing = self.closing();
        let drives = self.media.drives_at(self.time());
        taps.record(self.time(), |tap| self.tap_value(closing.as_ref(), &drives, tap));
    }

    fn tap_value(&self, closing: Option<&Opening>, drives: &[f64], tap: &Tap) -> f64 {
        let grid = &self.problem.grid;
        let ny = grid.size()[1];
        let x = tap.lo[0]..tap.hi[0];
        if x.is_empty() {
            return 0.0;
        }
        // |φ| = |ψ| unless half a step of absorption lies between them.
        if let Some(device) = self.stepper.device() {
            return device_tap(device, grid, closing, drives, tap);
        }
        let modulus_only = matches!(tap.measure, Measure::Value | Measure::Probability | Measure::Peak);
        let closing = if modulus_only && !self.media.absorbs() {
            None
        } else {
            closing
        };
        let rows: Vec<usize> = (tap.lo[2]..tap.hi[2])
            .flat_map(|k| (tap.lo[1]..tap.hi[1]).map(move |j| j + ny * k))
            .collect();
        let parts: Vec<f64> = rows
            .par_iter()
            .with_min_len(8)
            .map_init(
                || RowBuffers::new(x.len() + 1),
                |buffers, &row| self.tap_row(closing, drives, tap, row, x.clone(), buffers),
            )
            .collect();
        match tap.measure {
            Measure::Peak => parts.iter().fold(0.0, |a: f64, &b| a.max(b)),
            Measure::Value => parts.first().map_or(0.0, |square| square.sqrt()),
            Measure::Flux => parts.iter().sum::<f64>() * grid.cell_volume(),
            _ => parts.iter().sum::<f64>() * tap.weight,
        }
    }

    /// What a row adds to a detector. Energy is Σ Re ψ*(Hψ) over the region's sites: bonds that leave the region count half.
    fn tap_row(
        &self,
        closing: Option<&Opening>,
        drives: &[f64],
        tap: &Tap,
        row: usize,
        x: Range<usize>,
        buffers: &mut RowBuffers<T>,
    ) -> f64 {
        let nx = self.problem.grid.size()[0];
        let here = &mut buffers.here[..x.len()];
        self.closed_row(closing, row, x.clone(), here);
        let squares = here.iter().map(|site| density(*site));
        match tap.measure {
            Measure::Peak => squares.fold(0.0, f64::max),
            Measure::Value => squares.take(1).sum(),
            Measure::Flux => self.flux(closing, tap.across, row, x, buffers),
            Measure::Energy => {
                let quantum = &self.problem.quantum;
                let mut whole = vec![Complex::default(); nx];
                self.hopped(closing, row, &mut whole);
                (here.iter().zip(x))
                    .map(|(site, i)| {
                        let square = density(*site);
                        let diagonal = self.media.energy_at(row * nx + i, drives) + 0.5 * quantum.interaction * square;
                        square * diagonal - quantum.hopping * (wide(*site).conj() * whole[i]).re
                    })
                    .sum()
            }
            Measure::Probability | Measure::Pressure => squares.sum(),
        }
    }

    /// Σ 2J Im(ψₐ* e^{−iϕ} ψ_b) over the bonds that leave a row's sites `x` along an axis.
    fn flux(
        &self,
        closing: Option<&Opening>,
        across: usize,
        row: usize,
        x: Range<usize>,
        buffers: &mut RowBuffers<T>,
    ) -> f64 {
        let nx = self.problem.grid.size()[0];
        let count = x.len();
        let turn = if across == 0 { self.peierls(row) } else { Complex64::ONE };
        let next = &mut buffers.next[..count];
        if across == 0 {
            let inside = x.end.min(nx - 1).saturating_sub(x.start);
            next.fill(Complex::default());
            self.closed_row(closing, row, x.start + 1..x.start + 1 + inside, &mut next[..inside]);
            if inside < count && self.problem.grid.is_periodic(0) {
                self.closed_row(closing, row, 0..1, &mut next[inside..=inside]);
            }
        } else if let Some(other) = self.next_row(row, across) {
            self.closed_row(closing, other, x, next);
        } else {
            return 0.0;
        }
        let current: f64 = (buffers.here[..count].iter().zip(next.iter()))
            .map(|(a, b)| (wide(*a).conj() * turn * wide(*b)).im)
            .sum();
        2.0 * self.problem.quantum.hopping * current
    }

    /// Σ over neighbours of ψ (with Peierls phases) for every site of a row.
    fn hopped(&self, closing: Option<&Opening>, row: usize, out: &mut [Complex64]) {
        let grid = &self.problem.grid;
        let [nx, ny, nz] = grid.size();
        let mut sites = vec![Complex::default(); nx];
        self.closed_row(closing, row, 0..nx, &mut sites);
        let turn = self.peierls(row);
        for i in 0..nx {
            if i + 1 < nx || grid.is_periodic(0) {
                let next = (i + 1) % nx;
                out[i] += turn * wide(sites[next]);
                out[next] += turn.conj() * wide(sites[i]);
            }
        }
        for axis in 1..grid.rank() {
            let (at, count, stride) = if axis == 1 {
                (row % ny, ny, 1)
            } else {
                (row / ny, nz, ny)
            };
            let previous = if at > 0 {
                Some(row - stride)
            } else {
                grid.is_periodic(axis).then(|| row + (count - 1) * stride)
            };
            for other in [self.next_row(row, axis), previous].into_iter().flatten() {
                self.closed_row(closing, other, 0..nx, &mut sites);
                for (out, site) in out.iter_mut().zip(&sites) {
                    *out += wide(*site);
                }
            }
        }
    }
}

impl Totals {
    /// As observables, lengths in the scene's unit.
    fn observables(&self, grid: &Grid) -> Observables {
        let a = grid.spacing();
        let mean = self.first.map(|sum| sum / self.norm);
        let spread = [0, 1, 2].map(|n| (self.second[n] / self.norm - mean[n] * mean[n]).max(0.0).sqrt() * a);
        Observables {
            norm: self.norm * grid.cell_volume(),
            energy: self.energy / self.norm,
            position: mean.map(|m| m * a),
            spread,
            peak: if self.norm.is_nan() { f64::NAN } else { self.peak },
        }
    }
}

/// A detector's value from sums on the device.
fn device_tap<T: Real>(
    device: &dyn OnDevice<T>,
    grid: &Grid,
    closing: Option<&Opening>,
    drives: &[f64],
    tap: &Tap,
) -> f64 {
    let mut region = Region {
        lo: tap.lo,
        hi: tap.hi,
        across: (tap.measure == Measure::Flux).then_some(tap.across),
        energy: tap.measure == Measure::Energy,
    };
    if tap.measure == Measure::Value {
        region.hi = tap.lo.map(|at| at + 1);
    }
    let totals = device.totals(&region, closing, drives);
    match tap.measure {
        Measure::Peak => totals.peak,
        Measure::Value => totals.norm.sqrt(),
        Measure::Flux => totals.current * grid.cell_volume(),
        Measure::Energy => totals.energy * tap.weight,
        Measure::Probability | Measure::Pressure => totals.norm * tap.weight,
    }
}

struct RowBuffers<T> {
    here: Vec<Complex<T>>,
    next: Vec<Complex<T>>,
}

impl<T: Real> RowBuffers<T> {
    fn new(count: usize) -> Self {
        Self {
            here: vec![Complex::default(); count],
            next: vec![Complex::default(); count],
        }
    }
}

fn wide<T: Real>(value: Complex<T>) -> Complex64 {
    Complex64::new(value.re.wide(), value.im.wide())
}

fn density<T: Real>(value: Complex<T>) -> f64 {
    wide(value).norm_sqr()
}
