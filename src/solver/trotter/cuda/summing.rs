//! |ψ|² summed over regions while steps are fused (`summing_steps` of `kernels/trotter_fused.cu`): a sum for each step of a batch, in whole numbers of a unit, so that it does
//! not depend on how steps are cut into launches.

use super::params::{PARTS, REGIONS, Regions, whole};
use super::pieces::Cut;
use super::{Cuda, OnCuda};
use crate::backend::cuda::{Buffer, CudaError};
use crate::solver::device::rows::grow;
use crate::solver::totals::Region;
use rayon::prelude::*;
use std::sync::{MutexGuard, PoisonError};

/// Bits of the largest sum, which may grow by four more.
const BITS: i32 = 58;
/// Weights of all sites, and columns and rows, from and to, where they are 1.
type Weights<T> = (Buffer<T>, [[usize; 2]; 2]);

/// How kernels cut the plane, by their names, for regions.
type Cuts = (Vec<Region>, Vec<(&'static str, Cut)>);

/// What is summed in this batch.
pub(super) struct Summing<T: OnCuda> {
    regions: Option<Regions>,
    totals: Option<Buffer<u64>>,
    /// Binary exponent of the unit.
    unit: i32,
    cuts: Option<Cuts>,
    /// |ψ|²/|φ|² of every site, once it was asked for, and of what.
    weights: Option<(u64, Weights<T>)>,
}

impl<T: OnCuda> Summing<T> {
    /// Nothing.
    pub(super) fn none() -> Self {
        Self {
            regions: None,
            totals: None,
            unit: 0,
            cuts: None,
            weights: None,
        }
    }

    /// How a kernel cuts the plane.
    pub(super) fn cut(&self, kernel: &str) -> Option<Cut> {
        let (_, all) = self.cuts.as_ref()?;
        all.iter().find(|(name, _)| *name == kernel).map(|(_, cut)| cut.clone())
    }

    /// Forgets how the plane is cut: walls or kernels are others.
    pub(super) fn cut_again(&mut self) {
        self.cuts = None;
    }
}

impl<T: OnCuda> Cuda<T> {
    pub(super) fn summing(&self) -> MutexGuard<'_, Summing<T>> {
        self.summing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next launch sums, `steps` of them.
    pub(super) fn next_sums(&self, steps: u32) -> Option<Regions> {
        let mut summing = self.summing();
        let regions = summing.regions.as_mut()?;
        let now = *regions;
        regions.step += i32::try_from(steps).unwrap_or(0);
        Some(now)
    }

    /// See [`OnDevice::begin_sums`](super::super::run::OnDevice::begin_sums).
    pub(super) fn begin_summing(
        &self,
        regions: &[Region],
        steps: usize,
        largest: f64,
        weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))>,
    ) -> Result<bool, CudaError> {
        let fits = self.fused.iter().all(super::launch::Fused::sums);
        if self.grid.rank() != 2 || self.fused.is_empty() || !fits || regions.len() > REGIONS || regions.is_empty() {
            return Ok(false);
        }
        let exponent = if largest > 0.0 { largest.log2().ceil() } else { 0.0 };
        if !exponent.is_finite() {
            return Ok(false);
        }
        let mut summing = self.summing();
        if let Some((key, weight)) =
            weight.filter(|(key, _)| summing.weights.as_ref().is_none_or(|(own, _)| own != key))
        {
            summing.weights = None;
            summing.weights = Some((key, self.weights(weight)?));
        }
        if summing.cuts.as_ref().is_none_or(|(own, _)| own != regions) {
            let plane = self.plane_to_cut(regions);
            let cut = |fused: &super::launch::Fused| Some((fused.shape.source.name, fused.cut_with_sums(&plane)?));
            let all = self.fused.iter().filter_map(cut).collect();
            summing.cuts = Some((regions.to_vec(), all));
        }
        let mut totals = match summing.totals.take() {
            Some(totals) => totals,
            None => self.stream.zeros("records", 1)?,
        };
        let numbers = steps * regions.len() * PARTS;
        grow(&self.stream, "records", &mut totals, numbers)?;
        self.stream.upload("records", &vec![0_u64; numbers], &totals)?;
        #[expect(clippy::cast_possible_truncation, reason = "the exponent of a double")]
        let exponent = exponent as i32;
        // Kernels in single precision multiply by a number of single precision.
        if !(-60..=60).contains(&exponent) {
            return Ok(false);
        }
        summing.unit = exponent - BITS;
        let mut asked = Regions {
            count: whole(regions.len()),
            scale: f64::from(-summing.unit).exp2(),
            totals: totals.address(),
            ..Regions::default()
        };
        if let (Some((_, (weights, ones))), Some(_)) = (&summing.weights, weight) {
            (asked.weights, asked.ones) = (weights.address(), ones.map(|range| range.map(whole)));
        }
        for (n, region) in regions.iter().enumerate() {
            for (end, at) in [region.lo, region.hi].into_iter().enumerate() {
                asked.x[end][n] = whole(at[0]);
                asked.y[end][n] = whole(at[1]);
            }
        }
        summing.totals = Some(totals);
        summing.regions = Some(asked);
        Ok(true)
    }

    /// Weights of all sites, to the device.
    fn weights(&self, weight: &(dyn Fn(usize) -> T + Sync)) -> Result<Weights<T>, CudaError> {
        let [nx, ny, _] = self.grid.size();
        let mut all = vec![T::one(); self.pitch * ny];
        all.par_chunks_mut(self.pitch).enumerate().for_each(|(row, out)| {
            for (i, out) in out[..nx].iter_mut().enumerate() {
                *out = weight(row * nx + i);
            }
        });
        let is_one = |i: usize, j: usize| all[j * self.pitch + i] == T::one();
        // As far as the row and the column of the middle reach, if nothing in between is otherwise.
        let around = |n: usize, one: &dyn Fn(usize) -> bool| {
            let low = (0..n / 2).rev().find(|at| !one(*at)).map_or(0, |at| at + 1);
            let high = (n / 2..n).find(|at| !one(*at)).unwrap_or(n);
            [low, high]
        };
        let mut ones = [around(nx, &|i| is_one(i, ny / 2)), around(ny, &|j| is_one(nx / 2, j))];
        let [x, y] = ones;
        if (y[0]..y[1]).any(|j| (x[0]..x[1]).any(|i| !is_one(i, j))) {
            ones = [[0; 2]; 2];
        }
        let weights = self.stream.zeros("weights", all.len())?;
        self.stream.upload("weights", &all, &weights)?;
        Ok((weights, ones))
    }

    /// See [`OnDevice::take_sums`](super::super::run::OnDevice::take_sums).
    #[expect(clippy::cast_precision_loss, reason = "rounded once, to a double")]
    pub(super) fn take_summed(&self, count: usize) -> Result<Vec<f64>, CudaError> {
        let mut summing = self.summing();
        summing.regions = None;
        let mut numbers = vec![0_u64; count * PARTS];
        if let Some(totals) = &summing.totals {
            self.stream.download("records", totals, &mut numbers)?;
        }
        let value = |[sum, large]: &[u64; PARTS]| {
            if *large == 0 {
                *sum as f64 * f64::from(summing.unit).exp2()
            } else {
                f64::NAN
            }
        };
        Ok(numbers.as_chunks::<PARTS>().0.iter().map(value).collect())
    }
}
