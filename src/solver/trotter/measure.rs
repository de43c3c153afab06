//! Sums over regions of the field: observables, and what detectors need amplitudes for.
//!
//! All sums run over rows in parallel and add the rows in order, so that the result does not depend on the number of threads, nor the sum of a row on which other rows are summed.
//!
//! Bytes of a site: φ and the diagonal of H, once; operations: 8 to close it, 8 for its moments, 3 for its energy and 4 a bond. Rows come in blocks (in three dimensions of several planes), so that
//! the rows next to them, which are read as well, are few.

use super::closed;
use super::half_phase::HalfPhase;
use super::row_totals::{Beside, Couplings, Energy, RowOf};
use super::run::Trotter;
use crate::backend::simd::Level;
use crate::field::Real;
use crate::physics::Observables;
use crate::solver::lane_sums::Parts;
use crate::solver::totals::{Region, Totals};
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::ops::Range;

/// Reads sites of a row of φ: (row, sites, destination).
pub(super) type ReadRow<'a, T> = &'a (dyn Fn(usize, Range<usize>, &mut [Complex<T>]) + Sync);

/// Bytes of the rows of ψ that are kept together: they stay in a core's second cache.
const KEPT_BYTES: usize = 128 << 10;

/// What the sums over one region share.
struct Sums<'a, T> {
    read: ReadRow<'a, T>,
    region: &'a Region,
    closing: Option<&'a HalfPhase>,
    drives: &'a [f64],
    level: Level,
}

/// Rows that are summed together: sites along y and z.
#[derive(Clone, Debug)]
struct Block {
    j: Range<usize>,
    k: Range<usize>,
}

/// ψ at the sites of some rows of a region, with one more before and behind each.
#[derive(Clone, Debug, Default)]
struct Rows {
    width: usize,
    parts: [Vec<f64>; 2],
}

impl Rows {
    /// Room for `count` rows of `width` sites, those beside them included.
    fn new(width: usize, count: usize) -> Self {
        Self {
            width,
            parts: [vec![0.0; width * count], vec![0.0; width * count]],
        }
    }

    fn row(&self, n: usize) -> Parts<'_> {
        let sites = n * self.width..(n + 1) * self.width;
        self.parts.each_ref().map(|part| &part[sites.clone()])
    }

    /// Its sites in the region.
    fn inside(&self, n: usize) -> Parts<'_> {
        self.row(n).map(|part| &part[1..self.width - 1])
    }

    fn row_mut(&mut self, n: usize) -> [&mut [f64]; 2] {
        let sites = n * self.width..(n + 1) * self.width;
        self.parts.each_mut().map(|part| &mut part[sites.clone()])
    }
}

/// What a thread works on.
struct Scratch<T> {
    phi: Vec<Complex<T>>,
    /// Rows of a plane and of the next.
    planes: [Rows; 2],
    /// Single rows: that before the region along y, along z, and the other component.
    single: [Rows; 3],
}

impl<T: Real> Trotter<T> {
    /// Norm, ⟨H⟩, positions and spreads of ψ at `time`.
    pub(super) fn measure(&self, time: f64) -> Observables {
        let grid = &self.problem.grid;
        let (closing, drives) = (self.last_half_phase(time), self.media.drives_at(time));
        let totals = match self.stepper.device() {
            Some(device) => device.totals(&self.everywhere(true), closing.as_ref(), &drives),
            None => (self.stepper.totals((closing.as_ref(), &self.media), &drives))
                .unwrap_or_else(|| Totals::of_rows(grid.size()[1], &self.rows_at(time))),
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
        if (0..3).any(|axis| region.lo[axis] >= region.hi[axis]) {
            return Vec::new();
        }
        let width = region.hi[0] - region.lo[0] + 2;
        let together = (KEPT_BYTES / (16 * width)).clamp(4, 16);
        let sums = Sums {
            read,
            region,
            closing,
            drives,
            level: Level::best(),
        };
        let mut rows: Vec<(usize, Totals)> = blocks(region, together)
            .par_iter()
            .map_init(
                || Scratch {
                    phi: vec![Complex::default(); width],
                    planes: [(); 2].map(|()| Rows::new(width, together + 1)),
                    single: [(); 3].map(|()| Rows::new(width, 1)),
                },
                |scratch, block| self.block_totals(&sums, block, scratch),
            )
            .flatten_iter()
            .collect();
        if region.hi[2] - region.lo[2] > 1 {
            rows.sort_unstable_by_key(|(row, _)| *row);
        }
        rows
    }

    fn block_totals(&self, sums: &Sums<T>, block: &Block, scratch: &mut Scratch<T>) -> Vec<(usize, Totals)> {
        let ny = self.problem.grid.size()[1];
        let rank = self.problem.grid.rank();
        let asks = |axis: usize| axis < rank && (sums.region.energy || sums.region.across == Some(axis));
        let over = if asks(1) { self.next(block.j.end - 1, 1) } else { None };
        let mut rows = Vec::with_capacity(block.j.len() * block.k.len());
        self.close_plane(sums, block, block.k.start, over, scratch, 0);
        for k in block.k.clone() {
            let next_plane = if asks(2) { self.next(k, 2) } else { None };
            if let Some(next) = next_plane {
                self.close_plane(sums, block, next, over, scratch, 1);
            }
            for (n, j) in block.j.clone().enumerate() {
                let row = j + ny * k;
                let above = [
                    asks(1) && (n + 1 < block.j.len() || over.is_some()),
                    next_plane.is_some(),
                ];
                rows.push((row, self.row_totals(sums, row, (n, above), scratch)));
            }
            if next_plane.is_some() {
                scratch.planes.swap(0, 1);
            } else if k + 1 < block.k.end {
                self.close_plane(sums, block, k + 1, over, scratch, 0);
            }
        }
        rows
    }

    /// The rows of a block in a plane, and that over them.
    fn close_plane(
        &self,
        sums: &Sums<T>,
        block: &Block,
        k: usize,
        over: Option<usize>,
        scratch: &mut Scratch<T>,
        plane: usize,
    ) {
        let ny = self.problem.grid.size()[1];
        for (n, j) in block.j.clone().chain(over).enumerate() {
            let psi = scratch.planes[plane].row_mut(n);
            self.close(sums, j + ny * k, &mut scratch.phi, psi);
        }
    }

    /// Closes the sites of a region in a row, and those beside them to which bonds lead that are asked for; 0 stands for others.
    fn close(&self, sums: &Sums<T>, row: usize, phi: &mut [Complex<T>], psi: [&mut [f64]; 2]) {
        let nx = self.problem.grid.size()[0];
        let (lo, hi) = (sums.region.lo[0], sums.region.hi[0]);
        let [before, behind] = self.leaves(sums.region);
        let first = usize::from(!before || lo == 0);
        let last = hi - lo + 1 + usize::from(behind && hi < nx);
        let [re, im] = psi;
        let mut piece = |x0: usize, at: Range<usize>| {
            let phi = &mut phi[..at.len()];
            (sums.read)(row, x0..x0 + at.len(), phi);
            let psi = [&mut re[at.clone()], &mut im[at]];
            closed::close(sums.level, (sums.closing, &self.media), (row, x0), phi, psi);
        };
        piece(lo + first - 1, first..last);
        let end = hi - lo + 1;
        if before && lo == 0 && hi < nx {
            piece(nx - 1, 0..1);
        }
        if behind && hi == nx && lo > 0 {
            piece(0, end..end + 1);
        }
        if lo == 0 && hi == nx {
            let ring = self.problem.grid.is_periodic(0);
            for part in [re, im] {
                (part[0], part[end]) = if ring { (part[end - 1], part[1]) } else { (0.0, 0.0) };
            }
        }
    }

    /// Whether bonds along x that are asked for lead out of a region, before its first site and behind its last; round a ring they do.
    fn leaves(&self, region: &Region) -> [bool; 2] {
        let (nx, ring) = (self.problem.grid.size()[0], self.problem.grid.is_periodic(0));
        let current = region.across == Some(0);
        [
            region.energy && (region.lo[0] > 0 || ring),
            (region.energy || current) && (region.hi[0] < nx || ring),
        ]
    }

    /// The sums of a row, which is number n of its block; `above`: whether there are rows above it along y and z.
    fn row_totals(
        &self,
        sums: &Sums<T>,
        row: usize,
        (n, above): (usize, [bool; 2]),
        scratch: &mut Scratch<T>,
    ) -> Totals {
        let below = self.close_single(sums, row, scratch);
        let Scratch { planes, single, .. } = &*scratch;
        let nx = self.problem.grid.size()[0];
        let (region, x) = (sums.region, sums.region.lo[0]..sums.region.hi[0]);
        let here = planes[0].row(n);
        let along = self.along_x(row, &x);
        let upper = [
            above[0].then(|| planes[0].inside(n + 1)),
            above[1].then(|| planes[1].inside(n)),
        ];
        let couplings = |axis: usize, row: usize| {
            let bonds = self.problem.bonds.as_ref()?;
            Some(&bonds.along(axis)[row * nx..][x.clone()])
        };
        let energy = region.energy.then(|| {
            let beside = std::array::from_fn(|n| {
                let (axis, is_below) = (1 + n % 2, n > 1);
                let (psi, lower, weight) = if is_below {
                    (single[axis - 1].inside(0), below[axis - 1]?, 1.0)
                } else {
                    let next = self.next_row(row, axis)?;
                    (
                        upper[axis - 1]?,
                        row,
                        if self.is_inside(region, next, axis) { 2.0 } else { 1.0 },
                    )
                };
                Some(Beside {
                    psi,
                    weight,
                    couplings: couplings(axis, lower),
                    below: is_below,
                })
            });
            self.energy_of(sums, row, beside, single[2].inside(0))
        });
        let current = region.across.and_then(|axis| {
            let twice = 2.0 * self.problem.quantum.hopping;
            if axis > 0 {
                let next = upper[axis - 1]?;
                let coupling = couplings(axis, row);
                let coupling = coupling.map_or(Couplings::Same(Complex64::ONE), |all| {
                    Couplings::Each(all, Complex64::ONE)
                });
                return Some((next, coupling, twice));
            }
            let [_, behind] = self.leaves(region);
            let next = here.map(|part| &part[2..x.len() + 1 + usize::from(behind)]);
            Some((next, along, twice))
        });
        RowOf {
            psi: here,
            x0: x.start,
            along,
            energy,
            current,
        }
        .totals(sums.level)
    }

    /// Closes the rows below a row that lie outside the region, and the other component, where they are asked for; the rows below, by axes.
    fn close_single(&self, sums: &Sums<T>, row: usize, scratch: &mut Scratch<T>) -> [Option<usize>; 2] {
        let Scratch { phi, single, .. } = scratch;
        let mut below = [None; 2];
        if !sums.region.energy {
            return below;
        }
        for axis in 1..self.problem.grid.rank() {
            let first = self.place(row, axis).0 == sums.region.lo[axis];
            let previous = if first { self.previous_row(row, axis) } else { None };
            if let Some(previous) = previous.filter(|previous| !self.is_inside(sums.region, *previous, axis)) {
                self.close(sums, previous, phi, single[axis - 1].row_mut(0));
                below[axis - 1] = Some(previous);
            }
        }
        if self.problem.medium.cross_interaction() != 0.0 {
            let rows = self.problem.grid.rows();
            self.close(sums, (row + rows / 2) % rows, phi, single[2].row_mut(0));
        }
        below
    }

    /// What the energy of a row needs.
    fn energy_of<'a>(
        &'a self,
        sums: &Sums<T>,
        row: usize,
        beside: [Option<Beside<'a>>; 4],
        other: Parts<'a>,
    ) -> Energy<'a, T> {
        let [nx, ..] = self.problem.grid.size();
        let (lo, hi) = (sums.region.lo[0], sums.region.hi[0]);
        let sites = self.media.sites(row, lo, hi - lo);
        let parts = self.media.driven.iter().map(|(_, part)| &part[sites.clone()]);
        let cross = self.problem.medium.cross_interaction();
        let whole = lo == 0 && hi == nx;
        Energy {
            diagonal: &self.media.energy[sites.clone()],
            driven: parts.zip(sums.drives.iter().copied()).collect(),
            interaction: self.problem.quantum.interaction,
            strengths: self.problem.strengths.as_ref().map(|strengths| &strengths[sites]),
            other: (cross != 0.0).then_some((cross, other)),
            hopping: self.problem.quantum.hopping,
            closed: whole && self.problem.grid.is_periodic(0),
            leaves: self.leaves(sums.region),
            beside,
        }
    }

    /// f e^{iϕ} of the x bonds of a row from the sites `x` on; without layers f = 1 and ϕ = −2π·flux·y.
    fn along_x(&self, row: usize, x: &Range<usize>) -> Couplings<'_> {
        let [nx, ny, _] = self.problem.grid.size();
        if let Some(bonds) = &self.problem.bonds {
            let own = &bonds.along(0)[row * nx..][..nx];
            return Couplings::Each(&own[x.clone()], own[(x.start + nx - 1) % nx]);
        }
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let y = self.problem.grid.global(1, row % ny) as f64;
        Couplings::Same(Complex64::cis(-std::f64::consts::TAU * self.problem.quantum.flux * y))
    }

    /// Whether a row lies in a region along y or z.
    fn is_inside(&self, region: &Region, row: usize, axis: usize) -> bool {
        (region.lo[axis]..region.hi[axis]).contains(&self.place(row, axis).0)
    }

    /// The next site along y or z.
    fn next(&self, at: usize, axis: usize) -> Option<usize> {
        let count = self.problem.grid.size()[axis];
        if at + 1 < count {
            Some(at + 1)
        } else {
            self.problem.grid.is_periodic(axis).then_some(0)
        }
    }

    /// The row one site further along y or z.
    fn next_row(&self, row: usize, axis: usize) -> Option<usize> {
        let (at, _, stride) = self.place(row, axis);
        Some(row - at * stride + self.next(at, axis)? * stride)
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

/// The rows of a region in blocks of at most `together` rows, and as many planes, in their order.
fn blocks(region: &Region, together: usize) -> Vec<Block> {
    let ([_, j0, k0], [_, j1, k1]) = (region.lo, region.hi);
    let part = |from: usize, end: usize| from..(from + together).min(end);
    let planes = (k0..k1).step_by(together).map(|k| part(k, k1));
    planes
        .flat_map(|k| {
            (j0..j1).step_by(together).map(move |j| Block {
                j: part(j, j1),
                k: k.clone(),
            })
        })
        .collect()
}
