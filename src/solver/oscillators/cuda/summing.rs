//! Batches of steps whose launches also do the work between steps: operations on single sites ([`visits`](super::visits)), and sums over regions
//! (`kernels/oscillators_cells.cuh`), of which a launch leaves a number a cell of 4 columns and two rows, which a kernel behind it adds up.
//!
//! For means and peaks of the pressure, in a plane, where neither largest pressures nor a velocity are kept.

use super::launches::{Between, Launches};
use super::params::{self, REGIONS};
use super::visits::{Extent, Visits};
use super::{Cuda, sources};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::device::readback::Region;
use crate::solver::device::rows::grow;
use crate::solver::device::{OnCuda, unsigned, whole};
use crate::solver::oscillators::scheme::Part;
use crate::solver::taps::Tap;

/// Cells that a block adds, about, and blocks that share a sum at most.
const CELLS: usize = 4096;
const BLOCKS: usize = 256;

/// Its buffers on the device.
pub(super) struct Summing<T: OnCuda> {
    add_cells: Kernel,
    cells: Buffer<T>,
    parts: Buffer<f64>,
    done: Buffer<u32>,
    totals: Buffer<f64>,
}

impl<T: OnCuda> Summing<T> {
    fn new(stream: &Stream) -> Result<Self, CudaError> {
        Ok(Self {
            add_cells: stream.kernel(sources::sums(T::PRECISION), "add_cells", 0)?,
            cells: stream.zeros("cells of regions", 1)?,
            parts: stream.zeros("sums", 1)?,
            done: stream.zeros("sums", 1)?,
            totals: stream.zeros("records", 1)?,
        })
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes() + self.parts.bytes() + self.done.bytes() + self.totals.bytes()
    }
}

/// The sum of a measure among those of [`Region::value`]; `None` where launches do not take it.
fn sum_of(tap: &Tap) -> Option<usize> {
    match tap.measure {
        Measure::Peak => Some(8),
        Measure::Value | Measure::Pressure => Some(10),
        _ => None,
    }
}

/// Regions, with the numbers of their detectors and sums.
type Asked = Vec<(usize, usize, Region)>;

/// The cells of regions, without addresses.
fn cells_of(asked: &Asked) -> params::Cells {
    let mut cells = params::Cells {
        count: whole(asked.len()),
        ..params::Cells::default()
    };
    let mut first = 0;
    for (n, (_, sum, region)) in asked.iter().enumerate() {
        for (axis, bounds) in cells.bounds.iter_mut().enumerate() {
            (bounds[0][n], bounds[1][n]) = (whole(region.lo[axis]), whole(region.hi[axis]));
        }
        let cells_along = |axis: usize, size: usize| region.hi[axis].div_ceil(size) - region.lo[axis] / size;
        cells.across[n] = whole(cells_along(0, 4));
        cells.peaks |= u32::from(*sum == 8) << n;
        first += cells_along(0, 4) * cells_along(1, 2);
        cells.first[n + 1] = unsigned(first);
    }
    cells
}

impl<T: OnCuda> Cuda<T> {
    /// What launches sum of these detectors, if they can do all that is to be done between steps.
    fn asked(&self, taps: &Taps) -> Option<Asked> {
        let quiet = self.peak.is_none() && self.potential.is_none() && !taps.keeps_rows();
        if !quiet || !matches!(self.launches, Launches::Fused(_)) {
            return None;
        }
        let of = |(n, tap): (usize, &Tap)| -> Option<Option<(usize, usize, Region)>> {
            let Some(region) = Region::of(tap) else {
                return Some(None);
            };
            sum_of(tap).map(|sum| Some((n, sum, region)))
        };
        let all: Option<Vec<_>> = taps.taps().iter().enumerate().map(of).collect();
        let asked: Asked = all?.into_iter().flatten().collect();
        (asked.len() <= REGIONS).then_some(asked)
    }

    /// Takes a batch of steps whose launches also do the work between them; `kicked`: places of sources. `false` where they cannot, and nothing was done.
    pub(super) fn fused_batch(
        &mut self,
        clock: &RunClock,
        steps: usize,
        kicked: &[u32],
        taps: &mut Taps,
    ) -> Result<bool, CudaError> {
        let Some(asked) = self.asked(taps) else {
            return Ok(false);
        };
        self.load_visits(kicked, steps)?;
        if self.events.adds() {
            self.operate(0, 1, false)?;
        }
        let clocks: Vec<RunClock> = (1..=steps as u64).map(|n| clock.after(n)).collect();
        let due = |clock: &RunClock| asked.iter().any(|(n, ..)| taps.is_due(*n, clock));
        let due: Vec<bool> = clocks.iter().map(due).collect();
        let mut summing = match self.summing.take() {
            Some(summing) => summing,
            None => Summing::new(&self.stream)?,
        };
        let taken = self.take_summed(&mut summing, &asked, &due);
        self.summing = Some(summing);
        let numbers = taken?;
        let mut sums = numbers.chunks_exact(asked.len().max(1));
        let mut records = Vec::with_capacity(steps);
        for (clock, due) in clocks.iter().zip(&due) {
            let mut record = vec![0.0; taps.taps().len()];
            if let Some(sums) = due.then(|| sums.next()).flatten() {
                for ((n, ..), number) in asked.iter().zip(sums) {
                    if taps.is_due(*n, clock) {
                        record[*n] = taps.taps()[*n].acoustic_of(*number);
                    }
                }
            }
            records.push(record);
        }
        if !taps.is_empty() {
            self.events.record(&self.stream, taps, &clocks, records)?;
        }
        self.transducers.finish(&self.stream, taps)?;
        Ok(true)
    }

    /// Says what happens at single sites in the next batch.
    fn load_visits(&mut self, kicked: &[u32], steps: usize) -> Result<(), CudaError> {
        let mut visits = match self.visits.take() {
            Some(visits) => visits,
            None => Visits::new(&self.stream)?,
        };
        let layout = &self.host.springs.layout;
        let plane = Extent {
            size: layout.size,
            pitch: self.pitch,
            periodic: layout.periodic,
        };
        let sites = (kicked, &self.events, &self.transducers);
        let loaded = visits.load(&self.stream, plane, self.launches.shapes(), sites, steps);
        self.visits = Some(visits);
        loaded
    }

    /// Takes the steps, and gives the sums of those that are due, region by region.
    fn take_summed(&mut self, summing: &mut Summing<T>, asked: &Asked, due: &[bool]) -> Result<Vec<f64>, CudaError> {
        let cells = cells_of(asked);
        let of_step = cells.first[asked.len()] as usize;
        let count = due.iter().filter(|due| **due).count() * asked.len();
        // Steps that end in a launch at most.
        let most = self.launches.most();
        let blocks = of_step.div_ceil(CELLS).clamp(1, BLOCKS);
        let sums = most * asked.len();
        let Summing {
            cells: room,
            parts,
            done,
            totals,
            ..
        } = summing;
        grow(&self.stream, "cells of regions", room, of_step * most)?;
        grow(&self.stream, "sums", parts, sums * blocks)?;
        grow(&self.stream, "sums", done, sums)?;
        grow(&self.stream, "records", totals, count)?;
        let substeps = self.host.springs.scheme.substeps.clone();
        let (mut at, mut kept) = (0, 0);
        while at < due.len() * substeps.len() {
            let part = Part::next(&substeps, at, due.len() * substeps.len() - at, most);
            let taken = self.taken_at_once(part);
            // Steps that end in this launch and are due.
            let wanted = |n: &usize| part.ends >> n & 1 == 1 && due[(at + n + 1) / substeps.len() - 1];
            let ends = (0..taken).filter(wanted).fold(0, |bits, n| bits | 1 << n);
            let now = params::Cells {
                ends,
                cells: summing.cells.address(),
                ..cells
            };
            let visits = self.visits.as_ref();
            let between = Between {
                cells: (ends != 0).then_some(now),
                visits: visits.and_then(|visits| visits.launch(taken, at / substeps.len())),
            };
            at += self.launch(part, &between)?;
            if ends != 0 {
                let steps = ends.count_ones();
                self.add_cells(summing, &now, (blocks, steps), kept)?;
                kept += steps as usize * asked.len();
            }
        }
        debug_assert_eq!(kept, count);
        let mut numbers = vec![0.0; count];
        if count == 0 {
            return Ok(numbers);
        }
        self.stream.download("records", &summing.totals, &mut numbers)?;
        Ok(numbers)
    }

    /// Adds the cells that a launch left after `steps` steps, to the totals from `place` on.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn add_cells(
        &self,
        summing: &Summing<T>,
        cells: &params::Cells,
        (blocks, steps): (usize, u32),
        place: usize,
    ) -> Result<(), CudaError> {
        let regions = cells.count.unsigned_abs();
        let sums = (steps * regions) as usize;
        debug_assert!(summing.totals.bytes() >= (place + sums) * size_of::<f64>());
        debug_assert!(summing.parts.bytes() >= sums * blocks * size_of::<f64>());
        let parameters = params::Adding {
            cells: cells.cells,
            count: cells.count,
            first: cells.first,
            peaks: cells.peaks,
            parts: summing.parts.address(),
            done: summing.done.address(),
            out: summing.totals.address() + (place * size_of::<f64>()) as u64,
        };
        let grid = (u32::try_from(blocks).unwrap_or(1), regions, steps);
        // SAFETY: the argument is that of `add_cells`; there are the cells of so many steps, a part a block, a count a sum, and room for the sums.
        unsafe {
            self.stream.launch(&summing.add_cells, grid, 256, |launch| {
                launch.arg(&parameters);
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells begin at multiples of 4 columns and 2 rows, and those of regions follow each other.
    #[test]
    fn regions_have_whole_cells() {
        let region = |lo: [usize; 2], hi: [usize; 2]| Region {
            lo: [lo[0], lo[1], 0],
            hi: [hi[0], hi[1], 1],
            across: None,
            energy: false,
        };
        let cells = cells_of(&vec![
            (0, 10, region([0, 0], [16, 8])),
            (2, 8, region([3, 1], [5, 2])),
            (3, 10, region([4, 2], [8, 4])),
        ]);
        assert_eq!(cells.count, 3);
        assert_eq!(cells.first[..4], [0, 16, 18, 19]);
        assert_eq!(cells.across[..3], [4, 2, 1]);
        assert_eq!(cells.peaks, 0b010);
        assert_eq!(cells.bounds[1], [[0, 1, 2, 0], [8, 2, 4, 0]]);
    }
}
