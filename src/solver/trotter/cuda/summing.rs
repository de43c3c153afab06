//! |ψ|² summed over regions, or its largest value there, by the kernels that step (`summing_steps`), or by one that follows a step where these take less than one (`sum_cells`): a sum for each step of a batch, in
//! whole numbers of a unit (`kernels/trotter_sums.cuh`), so that it does not depend on how steps are cut into launches, nor on the variant's.

use super::copies::Copies;
use super::launch::{BLOCKS, addresses};
use super::params::{PARTS, REGIONS, Regions, Sum, whole};
use super::pieces::{Cut, Plane};
use super::{Cuda, OnCuda};
use crate::backend::cuda::{Buffer, CudaError};
use crate::solver::device::rows::grow;
use crate::solver::totals::Region;
use crate::solver::trotter::run::Watched;
use rayon::prelude::*;
use std::sync::{MutexGuard, PoisonError};

/// Sites before an absorbing layer that may be left out of the box without weights.
const RIM: usize = 8;
/// Bits of the largest sum, which may grow by four more.
const BITS: i32 = 58;
/// Weights of all sites, and columns, rows and planes, from and to, where they are 1.
type Weights<T> = (Buffer<T>, [[usize; 2]; 3]);

/// How kernels cut the plane, by their names, for regions, whether largest values are taken of some, and the columns without weights.
type Cuts = ((Vec<Region>, bool, Option<[usize; 2]>), Vec<(&'static str, Cut)>);

/// The sums of this batch.
pub(super) struct Summing<T: OnCuda> {
    regions: Option<Regions>,
    /// Those that launches do not take, in groups.
    others: Vec<Regions>,
    totals: Option<Buffer<u64>>,
    /// Of every region, whether its largest value is taken.
    peaks: Vec<bool>,
    pub(super) copies: Option<Copies<T>>,
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
            others: Vec::new(),
            totals: None,
            peaks: Vec::new(),
            copies: None,
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
        (self.cuts, self.copies) = (None, None);
    }
}

/// Columns, rows and planes, from and to, of a box around the middle in which every site is `one`; empty where the middle has none.
///
/// It reaches as far as the lines through the middle, less a few sites: where layers of two axes meet, their absorptions add up to a weight that is not 1 while each alone is rounded away.
fn plain_box(size: [usize; 3], is_one: &(dyn Fn([usize; 3]) -> bool + Sync)) -> [[usize; 2]; 3] {
    let around = |axis: usize| {
        let one = |at: usize| {
            let mut site = size.map(|n| n / 2);
            site[axis] = at;
            is_one(site)
        };
        let n = size[axis];
        let low = (0..n / 2).rev().find(|at| !one(*at)).map_or(0, |at| at + 1);
        let high = (n / 2..n).find(|at| !one(*at)).unwrap_or(n);
        [low, high]
    };
    let lines = [0, 1, 2].map(around);
    let less = |cut: usize| {
        let axis = |axis: usize| {
            let [low, high] = lines[axis];
            // What ends with the grid needs no room before a layer.
            let low = if low == 0 { 0 } else { low + cut };
            let high = if high == size[axis] {
                high
            } else {
                high.saturating_sub(cut)
            };
            [low, high]
        };
        [0, 1, 2].map(axis)
    };
    let is_plain = |[x, y, z]: &[[usize; 2]; 3]| {
        let rows = (y[1].saturating_sub(y[0])) * z[1].saturating_sub(z[0]);
        (0..rows).into_par_iter().all(|row| {
            let (j, k) = (y[0] + row % (y[1] - y[0]), z[0] + row / (y[1] - y[0]));
            (x[0]..x[1]).all(|i| is_one([i, j, k]))
        })
    };
    let boxes = (0..=RIM).map(less);
    let plain = boxes.into_iter().find(is_plain).unwrap_or_default();
    let is_empty = plain.iter().any(|[low, high]| low >= high);
    if is_empty { [[0; 2]; 3] } else { plain }
}

impl<T: OnCuda> Cuda<T> {
    pub(super) fn summing(&self) -> MutexGuard<'_, Summing<T>> {
        self.summing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sums of the next launch, if there are any: after those of its sub-steps of which `ends` has a bit.
    pub(super) fn next_sums(&self, ends: u32) -> Option<Regions> {
        let mut summing = self.summing();
        let regions = summing.regions.as_mut().filter(|_| ends != 0)?;
        let now = Regions { ends, ..*regions };
        regions.step += whole(ends.count_ones() as usize);
        Some(now)
    }

    /// Over how many regions the next launch sums; `None` if nothing is recorded.
    pub(super) fn summed_regions(&self) -> Option<usize> {
        let summing = self.summing();
        summing
            .regions
            .as_ref()
            .map(|regions| usize::try_from(regions.count).unwrap_or(0))
    }

    /// Queues the sums after a sub-step, if it is the last of a step and something is summed; for kernels that do not sum themselves.
    pub(super) fn sum_cells(&self, ends: u32) {
        if let Some(regions) = self.next_sums(ends) {
            self.launch_sums(regions);
        }
    }

    /// See [`OnDevice::sum_others`](super::super::run::OnDevice::sum_others).
    pub(super) fn sum_other_cells(&self) {
        let groups = self.summing().others.len();
        for group in 0..groups {
            let regions = {
                let mut summing = self.summing();
                let regions = &mut summing.others[group];
                regions.step += 1;
                Regions {
                    step: regions.step - 1,
                    ends: 1,
                    ..*regions
                }
            };
            self.launch_sums(regions);
        }
    }

    /// Queues sums over the present field.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn launch_sums(&self, regions: Regions) {
        let count = usize::try_from(regions.count).unwrap_or(0);
        // Whole cells, of two rows and as many columns as 16 bytes hold.
        let cell = [16 / whole(size_of::<T>()), 2, 1];
        let (mut lo, mut hi) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let [from, to] = regions.bounds[axis];
            let low = from[..count].iter().min().copied().unwrap_or(0);
            lo[axis] = low - low % cell[axis];
            hi[axis] = to[..count].iter().max().copied().unwrap_or(0);
        }
        let cells = |axis: usize| u64::try_from((hi[axis] - lo[axis] + cell[axis] - 1) / cell[axis]).unwrap_or(0);
        let cells: u64 = (0..3).map(cells).product();
        debug_assert!(
            (0..3).all(|axis| lo[axis] >= 0 && hi[axis] <= self.lattice.size[axis]),
            "regions in the grid"
        );
        let parameters = Sum {
            field: addresses(&self.field),
            grid: self.lattice,
            lo,
            hi,
            regions,
        };
        let blocks = u32::try_from(cells.div_ceil(256))
            .unwrap_or(u32::MAX)
            .clamp(1, BLOCKS / 2);
        self.attempt(|| {
            // SAFETY: the argument is that of `sum_cells`, which reads whole cells of regions in the grid; rows are padded to whole ones. There is room for the sums of
            // every step of the batch.
            unsafe {
                self.stream
                    .launch(self.kernel("sum_cells"), (blocks, 1, 1), 256, |launch| {
                        launch.arg(&parameters);
                    })
            }
        });
    }

    /// See [`OnDevice::begin_sums`](super::super::run::OnDevice::begin_sums).
    pub(super) fn begin_summing(
        &self,
        watched: &Watched,
        steps: usize,
        largest: f64,
        weight: Option<(u64, &(dyn Fn(usize) -> T + Sync))>,
    ) -> Result<bool, CudaError> {
        let regions = &watched.regions[..];
        debug_assert_eq!(regions.len(), watched.peaks.len());
        if regions.is_empty() && watched.copied.is_empty() {
            return Ok(false);
        }
        let exponent = if largest > 0.0 { largest.log2().ceil() } else { 0.0 };
        if !exponent.is_finite() {
            return Ok(false);
        }
        let mut summing = self.summing();
        if let Some((key, weight)) =
            weight.filter(|(key, _)| !regions.is_empty() && summing.weights.as_ref().is_none_or(|(own, _)| own != key))
        {
            summing.weights = None;
            summing.weights = Some((key, self.weights(weight)?));
        }
        let first = &regions[..regions.len().min(REGIONS)];
        let peaks = watched.peaks.iter().take(REGIONS).any(|peak| *peak);
        let weighed = summing.weights.as_ref().filter(|_| weight.is_some());
        let plain = weighed.map(|(_, (_, ones))| ones[0]);
        let is_so = |(of, with, beside): &(Vec<Region>, bool, _)| of == first && *with == peaks && *beside == plain;
        if !summing.cuts.as_ref().is_some_and(|(own, _)| is_so(own)) {
            let plane = Plane {
                plain,
                ..self.plane_to_cut(Some(first))
            };
            let cut =
                |fused: &super::launch::Fused| Some((fused.shape.source.name, fused.cut_with_sums(&plane, peaks)?));
            let all = self.fused.iter().filter_map(cut).collect();
            summing.cuts = Some(((first.to_vec(), peaks, plain), all));
        }
        summing.copies = self.begin_copies(summing.copies.take(), &watched.copied, steps)?;
        summing.peaks.clone_from(&watched.peaks);
        let mut totals = match summing.totals.take() {
            Some(totals) => totals,
            None => self.stream.zeros("records", 1)?,
        };
        let numbers = steps * regions.len() * PARTS;
        grow(&self.stream, "records", &mut totals, numbers)?;
        if numbers > 0 {
            self.stream.upload("records", &vec![0_u64; numbers], &totals)?;
        }
        #[expect(clippy::cast_possible_truncation, reason = "the exponent of a double")]
        let exponent = exponent as i32;
        // Kernels in single precision multiply by a number of single precision.
        if !(-60..=60).contains(&exponent) {
            return Ok(false);
        }
        summing.unit = exponent - BITS;
        let (scale, totals_at) = (f64::from(-summing.unit).exp2(), totals.address());
        let weights = match &summing.weights {
            Some((_, (weights, ones))) if weight.is_some() => (weights.address(), ones.map(|range| range.map(whole))),
            _ => (0, [[0; 2]; 3]),
        };
        let copies = (summing.copies.as_ref()).filter(|copies| copies.are_of(&watched.copied));
        let group = |(n, regions): (usize, &[Region])| {
            let before = steps * n * REGIONS * PARTS * size_of::<u64>();
            let mut asked = Regions {
                count: whole(regions.len()),
                scale,
                totals: totals_at + before as u64,
                weights: weights.0,
                ones: weights.1,
                ..Regions::default()
            };
            for (n, region) in regions.iter().enumerate() {
                for (axis, bounds) in asked.bounds.iter_mut().enumerate() {
                    (bounds[0][n], bounds[1][n]) = (whole(region.lo[axis]), whole(region.hi[axis]));
                }
            }
            let peaks = watched.peaks.iter().skip(n * REGIONS).take(REGIONS).enumerate();
            asked.peaks = peaks.map(|(n, peak)| u32::from(*peak) << n).sum();
            if let Some(copies) = copies.filter(|_| n == 0) {
                copies.tell(&mut asked);
            }
            asked
        };
        // Copies alone are made beside no region.
        let all = if regions.is_empty() {
            vec![regions]
        } else {
            regions.chunks(REGIONS).collect()
        };
        let mut groups: Vec<Regions> = all.into_iter().enumerate().map(group).collect();
        let others = groups.split_off(1);
        summing.regions = groups.pop();
        summing.others = others;
        summing.totals = Some(totals);
        Ok(true)
    }

    /// Weights of all sites, to the device.
    fn weights(&self, weight: &(dyn Fn(usize) -> T + Sync)) -> Result<Weights<T>, CudaError> {
        let size = self.grid.size();
        let [nx, ny, nz] = size;
        let mut all = vec![T::one(); self.pitch * ny * nz];
        all.par_chunks_mut(self.pitch).enumerate().for_each(|(row, out)| {
            for (i, out) in out[..nx].iter_mut().enumerate() {
                *out = weight(row * nx + i);
            }
        });
        let ones = plain_box(size, &|[i, j, k]| all[(j + ny * k) * self.pitch + i] == T::one());
        let weights = self.stream.zeros("weights", all.len())?;
        self.stream.upload("weights", &all, &weights)?;
        Ok((weights, ones))
    }

    /// See [`OnDevice::take_sums`](super::super::run::OnDevice::take_sums).
    #[expect(clippy::cast_precision_loss, reason = "rounded once, to a double")]
    pub(super) fn take_summed(&self, count: usize) -> Result<Vec<f64>, CudaError> {
        let mut summing = self.summing();
        summing.regions = None;
        summing.others.clear();
        let mut numbers = vec![0_u64; count * PARTS];
        if let Some(totals) = summing.totals.as_ref().filter(|_| count > 0) {
            self.stream.download("records", totals, &mut numbers)?;
        }
        let all = summing.peaks.chunks(REGIONS);
        let steps = count / summing.peaks.len().max(1);
        let peaks = all.flat_map(|group| std::iter::repeat_n(group, steps).flatten().copied());
        let value = |([sum, large], peak): (&[u64; PARTS], bool)| {
            if peak {
                f64::from_bits(*sum)
            } else if *large == 0 {
                *sum as f64 * f64::from(summing.unit).exp2()
            } else {
                f64::NAN
            }
        };
        Ok(numbers.as_chunks::<PARTS>().0.iter().zip(peaks).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight of absorption that grows with the fourth power of the depth in layers of so many sites at both ends of axes.
    fn weight(size: [usize; 3], width: [usize; 3], strength: f64, site: [usize; 3]) -> f32 {
        let depth = |axis: usize| {
            let (at, n) = (site[axis], size[axis]);
            let inside = (width[axis].saturating_sub(at)).max((at + width[axis] + 1).saturating_sub(n));
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let share = inside as f64 / width[axis].max(1) as f64;
            strength * share.powi(4)
        };
        #[expect(clippy::cast_possible_truncation, reason = "as the tables have it")]
        let weight = (0..3).map(depth).sum::<f64>().exp() as f32;
        weight
    }

    #[test]
    fn corners_whose_absorptions_add_up_are_left_out() {
        let (size, width) = ([96, 80, 1], [32, 32, 0]);
        let is_one = |site| weight(size, width, 0.05, site) == 1.0;
        // One layer alone is rounded away at its rim, two are not.
        assert!(is_one([31, 40, 0]) && is_one([48, 31, 0]) && !is_one([31, 31, 0]));
        let [x, y, z] = plain_box(size, &is_one);
        assert!((32..=34).contains(&x[0]) && (62..=64).contains(&x[1]), "{x:?}");
        assert!((32..=34).contains(&y[0]) && (46..=48).contains(&y[1]), "{y:?}");
        assert_eq!(z, [0, 1]);
        assert!((y[0]..y[1]).all(|j| (x[0]..x[1]).all(|i| is_one([i, j, 0]))));
    }

    #[test]
    fn boxes_without_layers_are_the_grid_and_without_plain_sites_empty() {
        assert_eq!(plain_box([20, 10, 3], &|_| true), [[0, 20], [0, 10], [0, 3]]);
        assert_eq!(plain_box([20, 10, 3], &|_| false), [[0; 2]; 3]);
        // Ones in one axis alone: the others end with the grid.
        let along = |[i, _, _]: [usize; 3]| (4..16).contains(&i);
        assert_eq!(plain_box([20, 10, 3], &along), [[4, 16], [0, 10], [0, 3]]);
        // A layer in the middle of the rest.
        let scattered = |[i, j, _]: [usize; 3]| (i + 3 * j) % 7 != 3;
        let found = plain_box([40, 40, 1], &scattered);
        let [x, y, _] = found;
        assert!(
            (y[0]..y[1]).all(|j| (x[0]..x[1]).all(|i| scattered([i, j, 0]))),
            "{found:?}"
        );
    }
}
