//! Steps in three dimensions.

use super::launch::{Equal, addresses};
use super::stacks::{Places, Work};
use super::{Cuda, OnCuda, params, rungs};
use crate::backend::cuda::{Buffer, CudaError, Kernel, Source, Stream, manifest};
use crate::field::Precision;
use crate::grid::Grid;
use crate::solver::device::{Ending, unsigned};
use crate::solver::trotter::differs;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::Substep;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

impl Ending {
    /// What is to be stepped `after` sub-steps before ghosts are copied, of so many pairs of planes; `None` where pairs do not fall on the cuts.
    fn work(&self, after: u64, pairs: usize) -> Option<Work> {
        let Self { core, sent } = self;
        let after = usize::try_from(after).ok()?;
        let fits = |end: usize| sent[end] == 0 || [core.start, core.end][end].is_multiple_of(2);
        if !fits(0) || !fits(1) {
            return None;
        }
        // A value travels a pair of planes in a sub-step.
        let low = (core.start / 2).saturating_sub(after);
        let high = core.end.div_ceil(2).saturating_add(after).min(pairs);
        Some(Work {
            pairs: low..high,
            sent: sent.map(|planes| if after == 0 { planes.div_ceil(2) } else { 0 }),
        })
    }
}

/// One shape of `space_steps`.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub source: Source,
    /// Steps a launch.
    pub steps: u32,
    /// Columns a lane.
    columns: u32,
}

/// Warps of a block of `trotter_space.cu`, and rows of each.
const WARPS: u32 = 8;
const ROWS: u32 = 4;

impl Shape {
    /// Columns and rows that a block writes.
    pub(super) fn core(&self) -> [u32; 2] {
        let halo = (2 * self.steps).div_ceil(self.columns) * self.columns;
        [32 * self.columns - 2 * halo, WARPS * ROWS - 4 * self.steps]
    }

    /// Of every tile, x fastest, a byte a pair of planes: whether one of the sites marked lies there, halo included.
    pub(super) fn tiles_with(&self, grid: &Grid, marks: &[bool]) -> Vec<u8> {
        let [nx, ny, nz] = grid.size();
        let core = self.core().map(|n| n as usize);
        let [across, along] = [nx.div_ceil(core[0]), ny.div_ceil(core[1])];
        let pairs = nz.div_ceil(2);
        let held = [32 * self.columns, WARPS * ROWS].map(|n| n as usize);
        // Sites of an axis that a tile holds, round a ring or within the edges.
        let reach = |axis: usize, tile: usize| -> Vec<usize> {
            let (n, halo) = (grid.size()[axis], (held[axis] - core[axis]) / 2);
            let first = tile * core[axis] + n * held[axis].div_ceil(n) - halo;
            let shift = n * held[axis].div_ceil(n);
            let inside = |at: &usize| grid.is_periodic(axis) || (shift..shift + n).contains(at);
            (first..first + held[axis]).filter(inside).map(|at| at % n).collect()
        };
        let columns: Vec<Vec<usize>> = (0..across).map(|tile| reach(0, tile)).collect();
        let has_mark = |tile: usize, pair: usize| {
            let planes = 2 * pair..(2 * pair + 2).min(nz);
            let columns = &columns[tile % across];
            planes.into_iter().any(|k| {
                (reach(1, tile / across).into_iter()).any(|j| columns.iter().any(|i| marks[(k * ny + j) * nx + i]))
            })
        };
        let tiles = (0..across * along * pairs).into_par_iter();
        tiles.map(|n| u8::from(has_mark(n / pairs, n % pairs))).collect()
    }

    /// Threads of a block.
    pub(super) fn threads() -> u32 {
        32 * WARPS
    }

    /// Shared memory of a block as `trotter_space.cu` counts it: a pair of planes and the phases of each stage; rows at the rims of warps.
    pub(super) fn shared(&self) -> u32 {
        let part = 32 * 16;
        WARPS * ((1 + self.steps) * 2 * ROWS * 2 * part + 8 * part)
    }
}

/// Whole steps in three dimensions, with an interaction or with bonds that differ, most steps a launch first.
pub(super) fn shapes(precision: Precision, interacts: bool, own: bool) -> Vec<Shape> {
    let modules = manifest::family("trotter_space").filter(|module| module.precision() == precision);
    let mut all: Vec<Shape> = modules
        .filter(|module| module.has("INTERACTION") == interacts && module.has("OWN") == own)
        .map(|module| Shape {
            source: Source::embedded(&module.name),
            steps: module.number("STEPS"),
            columns: module.number("COLUMNS"),
        })
        .collect();
    all.sort_by_key(|shape| std::cmp::Reverse(shape.steps));
    all
}

/// Whether a device with so much shared memory takes whole steps of a scene, as far as bonds that differ in three dimensions are concerned.
pub(super) fn holds_bonds(problem: &Problem, precision: Precision, most: u32) -> bool {
    let differ = problem.grid.rank() == 3 && differs(&problem.medium);
    !differ
        || shapes(precision, false, true)
            .iter()
            .any(|shape| shape.shared() <= most)
}

/// A shape of three dimensions, loaded.
pub(super) struct Loaded {
    pub shape: Shape,
    kernel: Kernel,
    /// The same with sums over regions.
    summing: Kernel,
    /// Where bonds differ, of each tile and pair of planes whether some there are unlike most others.
    unlike: Option<Buffer<u8>>,
    /// Blocks that the device holds at once, and what each steps beside its own.
    places: Places,
    tiles: [usize; 2],
    lists: Mutex<HashMap<Work, List>>,
}

/// The pieces of a launch on the device.
#[derive(Clone)]
struct List {
    pieces: Arc<Buffer<i32>>,
    count: usize,
    /// How many come first, since they are sent.
    early: usize,
}

impl Loaded {
    /// `marks`: of every site whether one of its bonds is unlike most others, where bonds differ.
    pub(super) fn new(stream: &Stream, shape: Shape, grid: &Grid, marks: Option<&[bool]>) -> Result<Self, CudaError> {
        let unlike = match marks {
            Some(marks) => {
                let tiles = shape.tiles_with(grid, marks);
                let buffer = stream.zeros("bonds", tiles.len())?;
                stream.upload("bonds", &tiles, &buffer)?;
                Some(buffer)
            }
            None => None,
        };
        let kernel = stream.kernel(shape.source, "space_steps", shape.shared())?;
        let capacity = stream.occupancy(&kernel, Shape::threads())? * stream.device().multiprocessors;
        let [columns, rows] = shape.core().map(|n| n as usize);
        let [nx, ny, _] = grid.size();
        Ok(Self {
            shape,
            kernel,
            summing: stream.kernel(shape.source, "summing_steps", shape.shared())?,
            unlike,
            places: Places {
                count: capacity.max(1) as usize,
                run_up: 2 * shape.steps as usize,
            },
            tiles: [nx.div_ceil(columns), ny.div_ceil(rows)],
            lists: Mutex::default(),
        })
    }

    /// The pieces for some work, which stay on the device.
    fn list(&self, stream: &Stream, work: &Work) -> Result<List, CudaError> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.get(work) {
            return Ok(list.clone());
        }
        let stacks = self.places.stacks(work, self.tiles);
        let pieces = stream.zeros("pieces of a launch", 4 * stacks.list.len())?;
        stream.upload("pieces of a launch", stacks.list.as_flattened(), &pieces)?;
        let list = List {
            pieces: Arc::new(pieces),
            count: stacks.list.len(),
            early: stacks.early,
        };
        lists.insert(work.clone(), list.clone());
        Ok(list)
    }
}

impl List {
    /// The address of some pieces, and how many there are.
    fn part(&self, part: Range<usize>) -> (u64, u32) {
        let first = self.pieces.address() + (part.start * size_of::<[i32; 4]>()) as u64;
        (first, unsigned(part.len()))
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Queues a launch of `space`, which sums over `regions`.
    pub(super) fn launch_space(
        &self,
        space: &Loaded,
        substep: &Substep,
        regions: Option<params::Regions>,
    ) -> Result<(), CudaError> {
        let work = Work::whole(self.grid.size()[2].div_ceil(2));
        let list = space.list(&self.stream, &work)?;
        self.put_in_space(&self.stream, (space, substep), list.part(0..list.count), regions)
    }

    /// Queues a launch of `space` for a part of a window: what is sent first where something is.
    fn launch_window(&self, space: &Loaded, substep: &Substep, work: &Work) -> Result<(), CudaError> {
        let list = space.list(&self.stream, work)?;
        let put = |stream: &Stream, part: Range<usize>| {
            if part.is_empty() {
                return Ok(());
            }
            self.put_in_space(stream, (space, substep), list.part(part), None)
        };
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        match early.as_mut().filter(|_| list.early > 0) {
            Some(early) => early.split(
                &self.stream,
                |stream| put(stream, 0..list.early),
                |stream| put(stream, list.early..list.count),
            ),
            None => put(&self.stream, 0..list.count),
        }
    }

    /// Puts the blocks of some pieces into a stream.
    #[allow(unsafe_code, reason = "a kernel launch")]
    fn put_in_space(
        &self,
        stream: &Stream,
        (space, substep): (&Loaded, &Substep),
        (pieces, count): (u64, u32),
        regions: Option<params::Regions>,
    ) -> Result<(), CudaError> {
        let Some(out) = &self.other else { return Ok(()) };
        let (alike, bonds) = (self.own.alike, self.bonds_in_space(space, substep));
        let parameters = params::Space {
            field: addresses(&self.field),
            out: addresses(out),
            table: addresses(&self.tables[substep.table]),
            pieces,
            grid: self.lattice,
            tangents: substep.angles.map(|angle| T::of((alike[2] * angle).tan())),
            secants: substep.angles.map(|angle| match &bonds {
                Some(_) => rungs::alone(angle, alike[2]),
                None => T::of(1.0 / angle.cos()),
            }),
            interaction: substep.interaction(self.phase_interaction).map(T::of),
        };
        debug_assert!(
            (self.field.iter().zip(out)).all(|(field, out)| field.bytes() == out.bytes()),
            "fields of one length"
        );
        let kernel = if regions.is_some() {
            &space.summing
        } else {
            &space.kernel
        };
        // SAFETY: the parameters are those of `space_steps` and `summing_steps`, with those of bonds where the module has OWN; all planes are pitch × ny × nz, and the kernel reads
        // and writes sites of the grid only, of which a row has a multiple of 16 bytes; there are as many pieces as blocks, each of tiles and planes of the grid. There is room for
        // the sums and copies of every step of the batch.
        unsafe {
            stream.launch(kernel, (count, 1, 1), Shape::threads(), |launch| {
                launch.arg(&parameters);
                if let Some(bonds) = &bonds {
                    launch.arg(bonds);
                }
                if let Some(regions) = &regions {
                    launch.arg(regions);
                }
            })
        }
    }

    /// What a launch is told of bonds that differ.
    fn bonds_in_space(&self, space: &Loaded, substep: &Substep) -> Option<params::SpaceBonds<T>> {
        let unlike = space.unlike.as_ref()?.address();
        let [planes, _] = self.own.rungs.as_ref()?.of(substep)?;
        let outer = substep.outer?;
        let of = |axis: usize, number: &dyn Fn(f64, f64) -> T| outer.map(|angle| number(angle, self.own.alike[axis]));
        let (tangent, secant) = (|angle: f64, alike: f64| T::of((alike * angle).tan()), rungs::alone);
        let swept = |angles: &[f64], first: usize| -> u32 {
            let bits = angles.iter().enumerate().filter(|(_, angle)| **angle != 0.0);
            bits.map(|(n, _)| 1 << (first + n)).sum()
        };
        Some(params::SpaceBonds {
            planes,
            unlike,
            tangents: [0, 1].map(|axis| of(axis, &tangent)),
            secants: [0, 1].map(|axis| of(axis, &secant)),
            sweeps: swept(&outer, 0) | swept(&outer, 4) | swept(&substep.angles, 8),
        })
    }

    /// Equal sub-steps in three dimensions in one launch, with `left` sub-steps to be taken in all; returns how many.
    pub(super) fn space_steps(&mut self, equal: &Equal, left: u64) -> u64 {
        let Some(out) = &self.other else { return 0 };
        let Some(space) = self.best_space(equal.count) else {
            return 0;
        };
        let steps = space.shape.steps;
        let launched = self.attempt(|| {
            self.before_writing(Some(out[0].address()))?;
            let regions = self.next_sums(equal.ends(steps));
            let ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
            let pairs = self.grid.size()[2].div_ceil(2);
            let work = (ending.as_ref()).and_then(|ending| ending.work(left - u64::from(steps), pairs));
            match work.filter(|_| regions.is_none()) {
                Some(work) => self.launch_window(space, equal.substep, &work),
                None => self.launch_space(space, equal.substep, regions),
            }
        });
        self.after_launch(launched.is_some(), steps)
    }

    /// The kernel to take for a run of `steps` equal steps: the fastest, or where none was measured the one with most steps.
    pub(super) fn best_space(&self, steps: u64) -> Option<&Loaded> {
        let seconds = |space: &&Loaded| {
            let known = self.measured.get(&(space.shape.source.name, space.shape.steps));
            known.copied().unwrap_or(1.0 / f64::from(space.shape.steps))
        };
        (self.space.iter())
            .filter(|space| u64::from(space.shape.steps) <= steps)
            .min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }

    /// Once a launch is queued, `field` is what it writes; returns the steps done.
    pub(super) fn after_launch(&mut self, launched: bool, steps: u32) -> u64 {
        if !launched {
            return 0;
        }
        if let Some(out) = &mut self.other {
            std::mem::swap(&mut self.field, out);
        }
        u64::from(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Edge;

    #[test]
    fn a_window_steps_what_its_core_still_needs() {
        let ending = Ending {
            core: 10..138,
            sent: [10, 0],
        };
        let work = |after| ending.work(after, 69).unwrap();
        assert_eq!((work(0).pairs, work(0).sent), (5..69, [5, 0]));
        assert_eq!((work(2).pairs, work(2).sent), (3..69, [0, 0]));
        assert_eq!(work(100).pairs, 0..69);
        let odd = Ending {
            core: 9..138,
            sent: [10, 0],
        };
        assert_eq!(odd.work(0, 69), None);
        // Only a cut must fall between two pairs.
        let last = Ending {
            core: 10..137,
            sent: [10, 0],
        };
        assert_eq!(last.work(0, 69).unwrap().pairs, 5..69);
    }

    /// Every tile that holds a marked site knows it, and no other.
    #[test]
    fn tiles_know_the_marks_that_they_hold() {
        for (precision, edges) in [(Precision::Single, Edge::Wall), (Precision::Double, Edge::Periodic)] {
            let shape = shapes(precision, false, true)[0];
            let grid = Grid::new(&[252, 60, 9], 1.0).with_edges([edges; 3], 0);
            let [cx, cy] = shape.core().map(|n| n as usize);
            let (across, along) = (252_usize.div_ceil(cx), 60_usize.div_ceil(cy));
            let halo = [(32 * shape.columns as usize - cx) / 2, (32 - cy) / 2];
            for site in [[0, 0, 0], [251, 59, 8], [cx - 1, cy, 3], [130, 31, 4]] {
                let mut marks = vec![false; grid.sites()];
                marks[grid.index(site)] = true;
                let found = shape.tiles_with(&grid, &marks);
                assert_eq!(found.len(), across * along * 5);
                let is_near = |axis: usize, tile: usize, n: usize| {
                    let (core, halo) = ([cx, cy][axis], halo[axis]);
                    // Sites of the tile are counted from its first one, one round later.
                    let from = tile * core + n;
                    let rounds = if edges == Edge::Periodic { 0..=2 } else { 1..=1 };
                    let at = |round: usize| site[axis] + round * n + halo;
                    rounds
                        .into_iter()
                        .any(|round| (from..from + core + 2 * halo).contains(&at(round)))
                };
                for (n, unlike) in found.iter().enumerate() {
                    let (tile, pair) = (n / 5, n % 5);
                    let expected =
                        is_near(0, tile % across, 252) && is_near(1, tile / across, 60) && site[2] / 2 == pair;
                    assert_eq!(*unlike == 1, expected, "{site:?}, tile {tile}, pair {pair}");
                }
            }
        }
    }
}
