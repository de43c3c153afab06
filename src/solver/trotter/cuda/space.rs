//! Steps in three dimensions.

use super::launch::{Equal, addresses};
use super::{Cuda, OnCuda, params};
use crate::backend::cuda::{CudaError, Kernel, PushKernelArg, Source, Stream, manifest};
use crate::field::Precision;
use crate::solver::trotter::scheme::Substep;

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

/// Whole steps in three dimensions, most steps a launch first.
pub(super) fn shapes(precision: Precision, interacts: bool) -> Vec<Shape> {
    let modules = manifest::family("trotter_space");
    let mut all: Vec<Shape> = modules
        .filter(|module| module.precision() == precision && module.has("INTERACTION") == interacts)
        .map(|module| Shape {
            source: Source::embedded(&module.name),
            steps: module.number("STEPS"),
            columns: module.number("COLUMNS"),
        })
        .collect();
    all.sort_by_key(|shape| std::cmp::Reverse(shape.steps));
    all
}

/// A shape of three dimensions, loaded.
pub(super) struct Loaded {
    pub shape: Shape,
    kernel: Kernel,
    /// The same with sums over regions.
    summing: Kernel,
    /// Blocks that the device holds at once.
    capacity: u32,
}

impl Loaded {
    pub(super) fn new(stream: &Stream, shape: Shape) -> Result<Self, CudaError> {
        let kernel = stream.kernel(shape.source, "space_steps", shape.shared())?;
        let capacity = stream.occupancy(&kernel, Shape::threads())? * stream.device().multiprocessors;
        Ok(Self {
            shape,
            kernel,
            summing: stream.kernel(shape.source, "summing_steps", shape.shared())?,
            capacity: capacity.max(1),
        })
    }

    /// Tiles along x and y, and the pairs of planes of a block for which all blocks, wave by wave, are done first.
    fn layout(&self, [nx, ny, nz]: [u32; 3]) -> (u32, u32, u32) {
        let [columns, rows] = self.shape.core();
        let (across, along) = (nx.div_ceil(columns), ny.div_ceil(rows));
        let pairs = nz.div_ceil(2);
        let time = |chunk: u32| {
            let blocks = u64::from(across * along) * u64::from(pairs.div_ceil(chunk));
            blocks.div_ceil(u64::from(self.capacity)) * u64::from(chunk + 2 * self.shape.steps)
        };
        let chunk = (1..=pairs.min(64))
            .map(|count| pairs.div_ceil(count))
            .min_by_key(|&chunk| time(chunk));
        (across, along, chunk.unwrap_or(pairs))
    }
}

impl<T: OnCuda> Cuda<T> {
    /// Puts in a launch of `space`, which sums over `regions`.
    #[allow(unsafe_code, reason = "a kernel launch")]
    pub(super) fn launch_space(
        &self,
        space: &Loaded,
        substep: &Substep,
        regions: Option<params::Regions>,
    ) -> Result<(), CudaError> {
        let Some(out) = &self.other else { return Ok(()) };
        let (across, along, chunk) = space.layout(self.grid.size().map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        let parameters = params::Space {
            field: addresses(&self.field),
            out: addresses(out),
            table: addresses(&self.tables[substep.table]),
            grid: self.lattice,
            chunk: i32::try_from(chunk).unwrap_or(i32::MAX),
            tangents: substep.angles.map(|angle| T::of(angle.tan())),
            secants: substep.angles.map(|angle| T::of(1.0 / angle.cos())),
            interaction: substep.interaction(self.phase_interaction).map(T::of),
        };
        debug_assert!(
            (self.field.iter().zip(out)).all(|(field, out)| field.bytes() == out.bytes()),
            "fields of one length"
        );
        let pairs = u32::try_from(self.grid.size()[2].div_ceil(2)).unwrap_or(0);
        let blocks = (across, along, pairs.div_ceil(chunk));
        let kernel = if regions.is_some() {
            &space.summing
        } else {
            &space.kernel
        };
        // SAFETY: the parameters are those of `space_steps` and `summing_steps`; all planes are pitch × ny × nz, and the kernel reads and writes sites of the grid only, of
        // which a row has a multiple of 16 bytes. There is room for the sums and copies of every step of the batch.
        unsafe {
            self.stream.launch(kernel, blocks, Shape::threads(), |launch| {
                launch.arg(&parameters);
                if let Some(regions) = &regions {
                    launch.arg(regions);
                }
            })
        }
    }

    /// Equal sub-steps in three dimensions in one launch; returns how many.
    pub(super) fn space_steps(&mut self, equal: &Equal) -> u64 {
        let Some(out) = &self.other else { return 0 };
        let Some(space) = self.best_space(equal.count) else {
            return 0;
        };
        let steps = space.shape.steps;
        let launched = self.attempt(|| {
            self.before_writing(Some(out[0].address()))?;
            self.launch_space(space, equal.substep, self.next_sums(equal.ends(steps)))
        });
        self.after_launch(launched.is_some(), steps)
    }

    /// The kernel to take for a run of `steps` equal steps: the fastest, or where none was measured the one with most steps.
    pub(super) fn best_space(&self, steps: u64) -> Option<&Loaded> {
        let seconds = |space: &&Loaded| {
            let known = self.measured.get(space.shape.source.name);
            known.copied().unwrap_or(1.0 / f64::from(space.shape.steps))
        };
        (self.space.iter())
            .filter(|space| u64::from(space.shape.steps) <= steps)
            .min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
    }

    /// Once a launch is put in, `field` is what it writes; returns the steps done.
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
