//! Copies of φ at the sites that detectors of values and currents read, made by the kernels that step (`kernels/trotter_sums.cuh`) after each step of a batch, and the sums over them: the kernel that
//! sums over a region of the field reads the copies instead, all steps at once, so that a record has the bits that a single step would give it.

use super::choice::Schedule;
use super::launch::BLOCKS;
use super::measures::totals_of;
use super::params::{self, Boxed, Copied, SUMS, whole};
use super::{Cuda, OnCuda};
use crate::backend::cuda::{Buffer, CudaError};
use crate::grid::Grid;
use crate::solver::device::rows::grow;
use crate::solver::totals::Region;
use crate::solver::trotter::run::{HalfPhase, Totals};
use std::collections::BTreeSet;

/// Bytes of copies at most, and of the sums over rows that are added up at a time.
const ROOM: usize = 64 << 20;
/// Row pairs of a piece: short, since all that hold boxes are under way at once and steps last as long as one of them.
const PIECE: usize = 4;
/// Batches of fewer steps are not worth copies.
const LEAST: usize = 8;

/// The copies of a batch.
pub(super) struct Copies<T: OnCuda> {
    regions: Vec<Region>,
    /// Of each region, its sites and those beyond it that bonds round a ring lead to.
    boxes: Vec<[Boxed; 2]>,
    /// Sites of a step.
    sites: usize,
    /// Those with sites, for the kernels that copy.
    list: Buffer<i32>,
    count: usize,
    /// Pieces of a plane that are stepped for the boxes' sake, by kernels' names.
    pieces: Vec<(&'static str, Buffer<i32>, usize)>,
    kept: Buffer<T>,
    rows: Buffer<f64>,
    records: Buffer<f64>,
}

/// The boxes of sites that sums over a region read, the first one with the region in it: bonds are counted at their lower sites.
fn boxes_of(grid: &Grid, region: &Region) -> [([usize; 3], [usize; 3]); 2] {
    let (lo, mut hi) = (region.lo, region.hi);
    let mut beyond = ([0; 3], [0; 3]);
    if let Some(axis) = region.across {
        let size = grid.size()[axis];
        if hi[axis] < size {
            hi[axis] += 1;
        } else if axis < grid.rank() && grid.is_periodic(axis) && lo[axis] > 0 {
            beyond = (lo, hi);
            (beyond.0[axis], beyond.1[axis]) = (0, 1);
        }
    }
    [(lo, hi), beyond]
}

fn sites_in((lo, hi): &([usize; 3], [usize; 3])) -> usize {
    (0..3).map(|axis| hi[axis] - lo[axis]).product()
}

/// Pieces of strips of `core` columns in which boxes have sites, as `trotter_fused.cu` takes them: the strip, and row pairs from and to.
fn pieces_of(core: usize, boxes: &[[Boxed; 2]]) -> Vec<[i32; 4]> {
    let (core, long) = (whole(core), whole(PIECE));
    let mut all = BTreeSet::new();
    for own in boxes
        .iter()
        .flatten()
        .filter(|own| own.bounds.iter().all(|[from, to]| from < to))
    {
        let [[x0, x1], [y0, y1], _] = own.bounds;
        for strip in x0 / core..=(x1 - 1) / core {
            all.extend((y0 / 2 / long..=(y1 - 1) / 2 / long).map(|piece| (strip, piece)));
        }
    }
    all.into_iter()
        .map(|(strip, piece)| [strip, piece * long, (piece + 1) * long, 0])
        .collect()
}

/// The most steps of which `ROOM` holds copies of so many sites.
fn most_steps(sites: usize, bytes: usize) -> usize {
    ROOM / (2 * bytes * sites).max(1)
}

impl<T: OnCuda> Cuda<T> {
    /// See [`OnDevice::copied_steps`](super::super::run::OnDevice::copied_steps).
    pub(super) fn most_copied_steps(&self, regions: &[Region]) -> usize {
        if self.schedule == Schedule::Naive || (self.grid.rank() == 3 && self.space.is_empty()) {
            return 0;
        }
        let boxes = regions.iter().flat_map(|region| boxes_of(&self.grid, region));
        let steps = most_steps(boxes.map(|own| sites_in(&own)).sum(), size_of::<T>());
        if steps < LEAST { 0 } else { steps }
    }

    /// Memory for the copies of `steps` steps, in `copies` if they were for the same regions.
    pub(super) fn begin_copies(
        &self,
        copies: Option<Copies<T>>,
        regions: &[Region],
        steps: usize,
    ) -> Result<Option<Copies<T>>, CudaError> {
        if regions.is_empty() {
            return Ok(copies);
        }
        let mut copies = match copies.filter(|copies| copies.regions == regions) {
            Some(copies) => copies,
            None => self.new_copies(regions)?,
        };
        grow(
            &self.stream,
            "copies for detectors",
            &mut copies.kept,
            2 * steps * copies.sites,
        )?;
        grow(
            &self.stream,
            "records",
            &mut copies.records,
            steps * regions.len() * SUMS,
        )?;
        Ok(Some(copies))
    }

    fn new_copies(&self, regions: &[Region]) -> Result<Copies<T>, CudaError> {
        let mut sites = 0;
        let mut boxes = Vec::with_capacity(regions.len());
        for region in regions {
            boxes.push(boxes_of(&self.grid, region).map(|own| {
                let first = sites;
                sites += sites_in(&own);
                let (lo, hi) = own;
                let bounds = [0, 1, 2].map(|axis| [whole(lo[axis]), whole(hi[axis])]);
                Boxed {
                    bounds,
                    first: whole(first),
                    unused: 0,
                }
            }));
        }
        let some = |own: &&Boxed| own.bounds.iter().all(|[from, to]| from < to);
        let numbers: Vec<i32> = (boxes.iter().flatten().filter(some))
            .flat_map(|own| {
                let [[x0, x1], [y0, y1], [z0, z1]] = own.bounds;
                [x0, x1, y0, y1, z0, z1, own.first, 0]
            })
            .collect();
        debug_assert!(i32::try_from(sites).is_ok(), "{sites} sites");
        let mut pieces = Vec::new();
        let planes = if self.grid.rank() == 2 { &self.fused[..] } else { &[] };
        for fused in planes {
            let with_boxes = pieces_of(fused.shape.core() as usize, &boxes);
            let list = self.stream.zeros("pieces with boxes", 4 * with_boxes.len().max(1))?;
            self.stream.upload("pieces with boxes", &with_boxes.concat(), &list)?;
            pieces.push((fused.shape.source.name, list, with_boxes.len()));
        }
        let list = self.stream.zeros("boxes for detectors", numbers.len().max(1))?;
        self.stream.upload("boxes for detectors", &numbers, &list)?;
        Ok(Copies {
            regions: regions.to_vec(),
            boxes,
            sites,
            list,
            count: numbers.len() / 8,
            pieces,
            kept: self.stream.zeros("copies for detectors", 1)?,
            rows: self.stream.zeros("sums over rows", 1)?,
            records: self.stream.zeros("records", 1)?,
        })
    }

    /// The sums over copies of the last `steps` steps, step by step, in each the regions in their order.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn take_copies(&self, steps: usize, closing: Option<&HalfPhase>) -> Result<Vec<Totals>, CudaError> {
        let mut summing = self.summing();
        let Some(copies) = &mut summing.copies else {
            return Ok(Vec::new());
        };
        let sums = self.sums();
        let count = copies.regions.len();
        for (n, (region, boxes)) in copies.regions.iter().zip(&copies.boxes).enumerate() {
            let rows = (region.hi[1] - region.lo[1]) * (region.hi[2] - region.lo[2]);
            let bytes_of_step = rows * SUMS * size_of::<f64>();
            let at_once = (ROOM / bytes_of_step.max(1)).clamp(1, steps.max(1)).min(65535);
            grow(&self.stream, "sums over rows", &mut copies.rows, at_once * rows * SUMS)?;
            for first in (0..steps).step_by(at_once) {
                let now = at_once.min(steps - first);
                let parameters = params::Measure {
                    rows: copies.rows.address(),
                    copied: Copied {
                        from: copies.kept.address() + (2 * first * copies.sites * size_of::<T>()) as u64,
                        boxes: *boxes,
                        sites: whole(copies.sites),
                    },
                    ..self.measuring(&sums, region, (closing, &[]))
                };
                self.launch_rows(&self.stream, &parameters, now)?;
                let (from, rows) = (copies.rows.address(), whole(rows));
                let apart = whole(count * SUMS);
                let to = copies.records.address() + ((first * count + n) * SUMS * size_of::<f64>()) as u64;
                let blocks = u32::try_from(now).unwrap_or(BLOCKS);
                debug_assert!(copies.records.bytes() >= steps * count * SUMS * size_of::<f64>());
                // SAFETY: the arguments are those of the kernel; at `from` there are the rows of `now` steps, and from `to` on there is room for a result of each, `apart` numbers
                // from one to the next.
                unsafe {
                    self.stream
                        .launch(self.kernel("measure_total"), (blocks, 1, 1), 256, |launch| {
                            launch.arg(&from).arg(&rows).arg(&to).arg(&apart);
                        })?;
                }
            }
        }
        let mut numbers = vec![f64::NAN; steps * count * SUMS];
        self.stream.download("records", &copies.records, &mut numbers)?;
        let records = numbers.as_chunks::<SUMS>().0.iter();
        Ok(records.map(|record| totals_of(*record)).collect())
    }
}

impl<T: OnCuda> Copies<T> {
    /// Arguments of kernels that copy.
    pub(super) fn tell(&self, regions: &mut params::Regions) {
        regions.box_count = whole(self.count);
        regions.sites = whole(self.sites);
        regions.boxes = self.list.address();
        regions.copies = self.kept.address();
    }

    /// The pieces that a kernel steps for them.
    pub(super) fn pieces(&self, kernel: &str) -> Option<(&Buffer<i32>, usize)> {
        let own = self.pieces.iter().find(|(name, ..)| *name == kernel)?;
        Some((&own.1, own.2))
    }

    /// Whether they are of these regions.
    pub(super) fn are_of(&self, regions: &[Region]) -> bool {
        self.regions == regions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;

    fn region(lo: [usize; 3], hi: [usize; 3], across: Option<usize>) -> Region {
        Region {
            lo,
            hi,
            across,
            energy: false,
        }
    }

    #[test]
    fn currents_read_the_sites_to_which_their_bonds_lead() {
        let walls = Grid::new(&[40, 30], 1.0);
        let line = region([15, 2, 0], [16, 30, 1], Some(0));
        let [own, beyond] = boxes_of(&walls, &line);
        assert_eq!(own, ([15, 2, 0], [17, 30, 1]));
        assert_eq!((sites_in(&own), sites_in(&beyond)), (56, 0));
        let last = region([39, 2, 0], [40, 30, 1], Some(0));
        assert_eq!(boxes_of(&walls, &last).map(|own| sites_in(&own)), [28, 0]);
        let ring = Grid::new(&[40, 30], 1.0).with_edges([Edge::Periodic; 3], 0);
        let [own, beyond] = boxes_of(&ring, &last);
        assert_eq!(own, ([39, 2, 0], [40, 30, 1]));
        assert_eq!(beyond, ([0, 2, 0], [1, 30, 1]));
        // Round the whole ring every site is there.
        let all = region([0, 3, 0], [40, 4, 1], Some(0));
        assert_eq!(boxes_of(&ring, &all).map(|own| sites_in(&own)), [40, 0]);
        let point = region([7, 8, 0], [8, 9, 1], None);
        assert_eq!(boxes_of(&ring, &point), [([7, 8, 0], [8, 9, 1]), ([0; 3], [0; 3])]);
    }

    #[test]
    fn pieces_hold_every_site_of_boxes_once() {
        let boxed = |x: [i32; 2], y: [i32; 2]| Boxed {
            bounds: [x, y, [0, 1]],
            ..Boxed::default()
        };
        let none = Boxed::default();
        let boxes = [
            [boxed([99, 101], [6, 18]), none],
            [boxed([100, 101], [7, 8]), none],
            [boxed([399, 400], [0, 1]), boxed([0, 1], [0, 1])],
        ];
        let pieces = pieces_of(100, &boxes);
        assert_eq!(
            pieces,
            [
                [0, 0, 4, 0],
                [0, 4, 8, 0],
                [0, 8, 12, 0],
                [1, 0, 4, 0],
                [1, 4, 8, 0],
                [1, 8, 12, 0],
                [3, 0, 4, 0]
            ]
        );
    }

    #[test]
    fn copies_have_a_bounded_size() {
        assert_eq!(most_steps(2 * 4096, 4), 1024);
        assert!(most_steps(1, 8) > 1 << 20);
        assert!(most_steps(1 << 22, 4) < LEAST);
    }
}
