//! Fluxes of every step that do not end passes of many steps: the pressures that they read are gathered on the way, and when the batch has been stepped the velocity's potential
//! at those sites is followed through its steps and all the fluxes are summed at once, in the order and with the roundings of a sum after every step.

use super::params::{self, unsigned, whole};
use super::{Cuda, sources};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Stream};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::clock::RunClock;
use crate::solver::device::OnCuda;
use crate::solver::device::readback::{Region, SUMS};
use crate::solver::device::rows::grow;
use crate::solver::fdtd::lattice::Lattice;
use crate::solver::taps::Tap;

/// Sites that all fluxes read at most: more take longer than ending passes does, and their values go to the host beside those of detectors.
const MOST: usize = 4096;
/// Bytes of the sums of warps that are kept at a time.
const PARTS: usize = 32 << 20;

/// The fluxes that are followed in a batch.
pub(super) struct Follow<T: OnCuda> {
    gather: Kernel,
    follow: Kernel,
    measure: Kernel,
    total: Kernel,
    /// Numbers of the detectors.
    detectors: Vec<usize>,
    /// What they read, ascending.
    places: Vec<u32>,
    /// What the velocity follows from, of all gathered places before the first step and after each.
    potentials: Buffer<T>,
    parts: Buffer<f64>,
    totals: Buffer<f64>,
}

impl<T: OnCuda> Follow<T> {
    pub(super) fn new(stream: &Stream, precision: Precision) -> Result<Self, CudaError> {
        let kernel = |name| stream.kernel(sources::step(precision), name, 0);
        Ok(Self {
            gather: kernel("gather_potentials")?,
            follow: kernel("follow_potentials")?,
            measure: kernel("measure_followed")?,
            total: kernel("total_followed")?,
            detectors: Vec::new(),
            places: Vec::new(),
            potentials: stream.zeros("fluxes", 1)?,
            parts: stream.zeros("fluxes", 1)?,
            totals: stream.zeros("fluxes", 1)?,
        })
    }

    /// Whether a detector is followed in this batch.
    pub(super) fn has(&self, detector: usize) -> bool {
        self.detectors.contains(&detector)
    }

    /// The sites that are gathered for them.
    pub(super) fn places(&self) -> &[u32] {
        &self.places
    }

    /// For the report.
    pub(super) fn describe(&self) -> String {
        match self.detectors.len() {
            0 => String::new(),
            1 => ", 1 flux followed".to_owned(),
            many => format!(", {many} fluxes followed"),
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.potentials.bytes() + self.parts.bytes() + self.totals.bytes()
    }
}

/// The sites whose pressure the flux of a detector reads: those of its region, and along the axis that it crosses as far as the stencil reaches.
fn read_by(tap: &Tap, lattice: &Lattice, mut see: impl FnMut([usize; 3])) {
    let (axis, half) = (tap.across, lattice.half);
    let n = lattice.size[axis];
    let ring = lattice.edges[axis] == Edge::Periodic;
    for k in tap.lo[2]..tap.hi[2] {
        for j in tap.lo[1]..tap.hi[1] {
            for i in tap.lo[0]..tap.hi[0] {
                for ahead in 0..2 * half {
                    // From half − 1 below to half above.
                    let mut at = [i, j, k];
                    let there = at[axis] + ahead + 1;
                    if ring {
                        at[axis] = (there + half * n - half) % n;
                    } else if (half..n + half).contains(&there) {
                        at[axis] = there - half;
                    } else {
                        continue;
                    }
                    see(at);
                }
            }
        }
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Chooses the fluxes that are followed through the next steps: none where steps go one by one anyway, or where parts of a grid keep what rows add to them, and not those that are
    /// recorded so seldom that ending passes costs less than gathering after every step.
    pub(super) fn choose_followed(&mut self, taps: &Taps, steps: u64) {
        let (mut detectors, mut places) = (Vec::new(), Vec::new());
        let passes = (self.tiles.as_ref()).filter(|tiles| tiles.least_steps() as u64 <= steps && self.peak.is_none());
        if let (Some(tiles), true, false) = (passes, self.potential.is_some(), taps.keeps_rows()) {
            let often = |n: usize| taps.every()[n] < 2 * tiles.steps() as u64;
            let is_followed =
                |n: usize, tap: &Tap| tap.measure == Measure::Flux && Region::of(tap).is_some() && often(n);
            let fluxes = taps.taps().iter().enumerate();
            for (n, tap) in fluxes.filter(|(n, tap)| is_followed(*n, tap)) {
                let mut own = Vec::new();
                let region: usize = (0..3).map(|axis| tap.hi[axis] - tap.lo[axis]).product();
                if region <= MOST {
                    read_by(tap, &self.host.sweep.lattice, |at| own.push(unsigned(self.place(at))));
                }
                own.sort_unstable();
                own.dedup();
                if !own.is_empty() && places.len() + own.len() <= MOST {
                    detectors.push(n);
                    places.extend(own);
                }
            }
            places.sort_unstable();
            places.dedup();
        }
        (self.follow.detectors, self.follow.places) = (detectors, places);
    }

    fn gathered(&self) -> params::Gathered {
        let sites = self.events.parameters();
        params::Gathered {
            places: sites.gathers,
            pressures: sites.record,
            potentials: self.follow.potentials.address(),
            count: sites.count,
        }
    }

    /// Before the first of `steps` steps whose sites were said.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn begin_to_follow(&mut self, steps: usize) -> Result<(), CudaError> {
        let Some(potential) = self.potential.as_ref().map(Buffer::address) else {
            return Ok(());
        };
        if self.follow.detectors.is_empty() {
            return Ok(());
        }
        let count = self.events.gathers().len();
        grow(&self.stream, "fluxes", &mut self.follow.potentials, (steps + 1) * count)?;
        let (gathered, blocks) = (self.gathered(), unsigned(count.div_ceil(256)));
        debug_assert!(whole(count) == gathered.count, "{count} places");
        // SAFETY: the arguments are those of the kernel; places lie in the grid, and there is room for a value of each.
        unsafe {
            self.stream.launch(&self.follow.gather, (blocks, 1, 1), 256, |launch| {
                launch.arg(&gathered).arg(&potential);
            })
        }
    }

    /// After the last step of a batch, of the given clocks: writes what was followed into the detectors' values, step by step.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn sum_followed(
        &mut self,
        taps: &Taps,
        clocks: &[RunClock],
        values: &mut [Vec<f64>],
    ) -> Result<(), CudaError> {
        if self.follow.detectors.is_empty() {
            return Ok(());
        }
        let (gathered, steps) = (self.gathered(), whole(clocks.len()));
        let count = self.events.gathers().len();
        let (blocks, time_step) = (unsigned(count.div_ceil(32)), T::of(self.host.time_step));
        debug_assert!(
            self.follow.potentials.bytes() >= (clocks.len() + 1) * count * size_of::<T>(),
            "{steps} steps of {count} places"
        );
        // SAFETY: the arguments are those of the kernel; of every place there are as many pressures and one potential more than steps.
        unsafe {
            self.stream.launch(&self.follow.follow, (blocks, 1, 1), 32, |launch| {
                launch.arg(&gathered).arg(&time_step).arg(&steps);
            })?;
        }
        let due = |n: usize| -> Vec<usize> {
            (0..clocks.len())
                .filter(|step| taps.is_due(n, &clocks[*step]))
                .collect()
        };
        let all: Vec<(usize, Vec<usize>)> = self.follow.detectors.iter().map(|n| (*n, due(*n))).collect();
        let sums: usize = all.iter().map(|(_, due)| due.len()).sum();
        grow(&self.stream, "fluxes", &mut self.follow.totals, sums * SUMS)?;
        let mut done = 0;
        for (n, due) in &all {
            if let Some(region) = Region::of(&taps.taps()[*n]) {
                self.sum_region(&region, due, (gathered, done))?;
            }
            done += due.len();
        }
        let mut numbers = vec![0.0; sums * SUMS];
        if sums > 0 {
            self.stream.download("fluxes", &self.follow.totals, &mut numbers)?;
        }
        let mut numbers = numbers.as_chunks::<SUMS>().0.iter();
        for (n, due) in &all {
            for (step, sums) in due.iter().zip(&mut numbers) {
                values[*step][*n] = Region::value(&taps.taps()[*n], sums);
            }
        }
        Ok(())
    }

    /// Queues the sums over a region after those steps of a batch, which are evenly apart, behind the `done` first of all.
    #[allow(unsafe_code, reason = "kernel launches")]
    fn sum_region(
        &mut self,
        region: &Region,
        due: &[usize],
        (gathered, done): (params::Gathered, usize),
    ) -> Result<(), CudaError> {
        let every = due.get(1).map_or(1, |second| second - due[0]);
        let (blocks, block, warps) = region.launch(region.sharing());
        let launched = blocks as usize * block;
        let together = (PARTS / (launched * SUMS * size_of::<f64>())).clamp(1, due.len().max(1));
        grow(
            &self.stream,
            "fluxes",
            &mut self.follow.parts,
            together * launched * SUMS,
        )?;
        let (parts, threads) = (self.follow.parts.address(), unsigned(32 * block));
        for (n, due) in due.chunks(together).enumerate() {
            let follow = params::Follow {
                look: self.look(region),
                gathered,
                first: whole(due[0]),
                every: whole(every),
            };
            let first = done + n * together;
            let to = self.follow.totals.address() + (first * SUMS * size_of::<f64>()) as u64;
            let rows = unsigned(due.len());
            let (launched, warps) = (whole(launched), whole(warps));
            debug_assert!(
                self.follow.totals.bytes() >= (first + due.len()) * SUMS * size_of::<f64>(),
                "{rows} sums"
            );
            // SAFETY: the arguments are those of the kernels; there is room for the sums of every warp and step, and the steps are some of the batch.
            unsafe {
                self.stream
                    .launch(&self.follow.measure, (blocks, rows, 1), threads, |launch| {
                        launch.arg(&follow).arg(&parts);
                    })?;
                let sums = u32::try_from(SUMS).unwrap_or(1);
                self.stream.launch(&self.follow.total, (sums, rows, 1), 256, |launch| {
                    launch.arg(&parts).arg(&launched).arg(&warps).arg(&to);
                })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::physics::{Detector, Reading, Region as Place};

    fn sites(size: &[usize], edge: Edge, half: usize, line: [[f64; 3]; 2]) -> Vec<[usize; 3]> {
        let grid = Grid::new(size, 1.0).with_edges([edge; 3], 0);
        let [from, to] = line;
        let detector = Detector {
            name: "cut".to_owned(),
            region: Place::Line { from, to },
            measure: Measure::Flux,
            reading: Reading::Itself,
            over: None,
            every: 1,
            direction: [0.0; 3],
        };
        let taps = Taps::new(&grid, &[detector]);
        let mut all = Vec::new();
        read_by(&taps.taps()[0], &Lattice::new(&grid, half), |at| all.push(at));
        all
    }

    /// The bonds across a face reach as far as the stencil does, round a ring too, and not beyond an edge.
    #[test]
    fn fluxes_read_what_lies_across() {
        let line = [[3.0, 2.0, 0.0], [3.0, 3.0, 0.0]];
        let columns = |edge, half, x: f64| -> Vec<usize> {
            let line = line.map(|[_, y, z]| [x, y, z]);
            let all = sites(&[10, 8], edge, half, line);
            assert!(all.iter().all(|at| (2..=3).contains(&at[1])));
            all.iter().filter(|at| at[1] == 2).map(|at| at[0]).collect()
        };
        assert_eq!(columns(Edge::Wall, 1, 3.0), [3, 4]);
        assert_eq!(columns(Edge::Wall, 2, 3.0), [2, 3, 4, 5]);
        assert_eq!(columns(Edge::Wall, 4, 1.0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(columns(Edge::Periodic, 2, 0.0), [9, 0, 1, 2]);
        assert_eq!(columns(Edge::Periodic, 2, 9.0), [8, 9, 0, 1]);
    }
}
