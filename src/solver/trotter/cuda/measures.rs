//! Sums over regions of the present field.

use super::bonds::OwnBonds;
use super::launch::addresses;
use super::norms::{LONG_ROW, Norms};
use super::params::{self, SUMS, filled, unsigned, whole};
use super::{Cuda, OnCuda, Sums};
use crate::backend::cuda::{CudaError, Stream};
use crate::solver::trotter::run::{HalfPhase, Region, Totals};

impl<T: OnCuda> Cuda<T> {
    /// Σ|φ|² of every row, which stay in `sums.norms`; returns how many there are.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn norms_of_rows(&self, stream: &Stream, sums: &Sums<T>) -> Result<usize, CudaError> {
        let rows = Norms::of(&self.grid, self.pitch);
        debug_assert!(sums.norms.bytes() >= rows.count * size_of::<f64>(), "{rows:?}");
        debug_assert!(self.field[0].bytes() >= rows.end * size_of::<T>(), "{rows:?}");
        let [nx, pitch] = rows.sites;
        let parameters = params::Rows {
            field: addresses(&self.field),
            pitch: pitch as u64,
            end: rows.end as u64,
            nx: whole(nx),
            count: whole(rows.count),
            norms: sums.norms.address(),
        };
        let (threads, at_once) = if nx >= LONG_ROW { (1024, 1) } else { (128, 4) };
        let blocks = unsigned(rows.count.div_ceil(at_once)).min(65535);
        // SAFETY: the argument is that of the kernel; it reads sites of the field up to `end`, and at `norms` there is room for every row.
        unsafe {
            stream.launch(self.kernel("norm_rows"), (blocks, 1, 1), threads, |launch| {
                launch.arg(&parameters);
            })?;
        }
        Ok(rows.count)
    }

    /// Σ|φ|², as the first number of `sums.totals`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn total_norm(&self, stream: &Stream, sums: &Sums<T>) -> Result<(), CudaError> {
        let count = whole(self.norms_of_rows(stream, sums)?);
        let (from, to) = (sums.norms.address(), sums.totals.address());
        // SAFETY: the arguments are those of the kernel; at `from` there are `count` numbers, and at `to` there is room for one.
        unsafe {
            stream.launch(self.kernel("norm_total"), (1, 1, 1), 256, |launch| {
                launch.arg(&from).arg(&count).arg(&to);
            })
        }
    }

    /// Arguments of sums over the rows of a region; the sums stay in `sums.rows`.
    pub(super) fn measuring(
        &self,
        sums: &Sums<T>,
        region: &Region,
        (closing, drives): (Option<&HalfPhase>, &[f64]),
    ) -> params::Measure {
        params::Measure {
            field: addresses(&self.field),
            medium: self.medium(sums),
            closing: self.closing(closing),
            grid: self.lattice,
            lo: region.lo.map(whole),
            hi: region.hi.map(whole),
            across: region.across.map_or(-1, whole),
            energy: i32::from(region.energy),
            hopping: self.hopping,
            interaction: if self.own.strengths { 1.0 } else { self.interaction },
            drives: filled(drives),
            flux: self.flux,
            rows: sums.rows.address(),
            place: params::Place::new(&self.grid),
            cross: self.own.cross,
            bonds: self.own.bonds.as_ref().map_or([[0; 2]; 3], OwnBonds::couplings),
            copied: params::Copied::default(),
        }
    }

    /// Sums over every row of a region, which stay in `sums.rows`; returns how many rows there are.
    pub(super) fn sum_rows(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        seen: (Option<&HalfPhase>, &[f64]),
    ) -> Result<usize, CudaError> {
        let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
        debug_assert!(
            sums.rows.bytes() >= rows * SUMS * size_of::<f64>(),
            "sums of {rows} rows"
        );
        self.launch_rows(stream, &self.measuring(sums, region, seen), 1)?;
        Ok(rows)
    }

    /// Queues sums over the rows of a region; of copies those of `steps` steps, at most 65535.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn launch_rows(
        &self,
        stream: &Stream,
        parameters: &params::Measure,
        steps: usize,
    ) -> Result<(), CudaError> {
        let [x, y, z] = [0, 1, 2].map(|axis| (parameters.hi[axis] - parameters.lo[axis]).unsigned_abs() as usize);
        // Which threads add a row depends on its length alone, so that its sum has the same bits in a part and in the whole.
        let (threads, at_once) = if x >= LONG_ROW { (1024, 1) } else { (128, 4) };
        let blocks = unsigned((y * z).div_ceil(at_once)).min(65535);
        let steps = unsigned(steps);
        // SAFETY: the argument is that of the kernel; at `rows` there is room for every row of the region and step.
        unsafe {
            stream.launch(self.kernel("measure_rows"), (blocks, steps, 1), threads, |launch| {
                launch.arg(parameters);
            })
        }
    }

    /// Sums over a region, to the address `to` on the device.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn reduce(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        seen: (Option<&HalfPhase>, &[f64]),
        to: u64,
    ) -> Result<(), CudaError> {
        let (count, from) = (whole(self.sum_rows(stream, sums, region, seen)?), sums.rows.address());
        let apart = whole(SUMS);
        // SAFETY: the arguments are those of the kernel; at `from` there are `count` rows, and at `to` there is room for one.
        unsafe {
            stream.launch(self.kernel("measure_total"), (1, 1, 1), 256, |launch| {
                launch.arg(&from).arg(&count).arg(&to).arg(&apart);
            })
        }
    }

    /// Sums over a region of the present field.
    pub(super) fn measure(
        &self,
        stream: &Stream,
        sums: &Sums<T>,
        region: &Region,
        closing: Option<&HalfPhase>,
        drives: &[f64],
    ) -> Result<[f64; SUMS], CudaError> {
        self.reduce(stream, sums, region, (closing, drives), sums.totals.address())?;
        let mut numbers = [0.0; SUMS];
        stream.download("sums", &sums.totals, &mut numbers)?;
        Ok(numbers)
    }
}

/// The result of `measure_total`, by name.
pub(super) fn totals_of([norm, energy, x, xx, y, yy, z, zz, peak, current]: [f64; SUMS]) -> Totals {
    Totals {
        norm,
        energy,
        first: [x, y, z],
        second: [xx, yy, zz],
        peak,
        current,
    }
}
