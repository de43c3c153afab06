//! DiamondTorre on the device: many steps of a tower of diamonds in one launch (`kernels/fdtd_torre.cu`,
//! `kernels/fdtd_torre_shared.cu`).
//!
//! A pass takes a multiple of 2·dts steps, up to `tower`, over the whole grid in one launch: blocks take towers in their order from a counter, and
//! wait for the two towers that theirs needs. Steps that are left over are taken one by one; both give the same bits.

mod pass;
mod shape;

pub(super) use shape::{BLOCK, Room, Shape};

use super::super::cpml;
use super::Cuda;
use super::params::{self, unsigned, whole};
use super::sources;
use crate::backend::cuda::{self, Buffer, CudaError, Kernel, Stream};
use crate::backend::machine;
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::solver::device::OnCuda;
use pass::Pass;

/// Why a scene is not stepped by towers; `None` where it is.
pub(super) fn objection(scenario: &Scenario, shape: Shape, capability: (i32, i32)) -> Option<String> {
    let (grid, medium) = (scenario.grid(), scenario.medium());
    let [nx, ny, _] = grid.size();
    let [_, across, along] = grid.edges();
    let why = if grid.rank() < 3 {
        "towers stand in three dimensions".to_owned()
    } else if along == Edge::Periodic {
        "towers lean along z and cannot close round a periodic z".to_owned()
    } else if shape.layers && shape.half > 1 {
        "absorbing edges go through towers at order 2; at others they are stepped one by one".to_owned()
    } else if medium.has(Sets::Density) {
        "a density per site is stepped one by one".to_owned()
    } else if ny < 2 * shape.width() || (across == Edge::Periodic && ny % shape.width() != 0) {
        format!(
            "towers want a multiple of {} sites along a periodic y, and twice as many at least",
            shape.width()
        )
    } else if let Some(why) = shape.objection(nx) {
        why
    } else if grid.edges()[0] == Edge::Absorb && !cpml::slots_of_end(0, grid.absorb_width(), nx).is_multiple_of(4) {
        "towers want absorbing edges along x of a multiple of 4 sites where a row is short".to_owned()
    } else if shape.room == Room::Shared && capability < (9, 0) {
        "this device has no bulk copies into shared memory".to_owned()
    } else if shape.cluster > 1 && capability < (9, 0) {
        format!("this device has no clusters of blocks, and without them towers hold {BLOCK} sites along x")
    } else {
        return None;
    };
    Some(why)
}

/// Whether towers are faster than single steps, as measured on an H200: the diamonds' rims cost less than what they save, and edges fall where
/// straight-line code goes on across them.
fn is_quick(shape: Shape, precision: Precision, scenario: &Scenario) -> bool {
    let grid = scenario.grid();
    let [_, ny, _] = grid.size();
    let [_, across, along] = grid.edges();
    let aligned = match across {
        Edge::Periodic => true,
        Edge::Wall | Edge::Absorb => ny % (shape.width() / 2) == 0,
        Edge::Soft => false,
    };
    let order = match precision {
        Precision::Single => shape.half <= 3 || shape.room == Room::Shared,
        Precision::Double => shape.half == 1,
    };
    aligned && order && along != Edge::Soft && grid.sites() >= LEAST_SITES
}

/// Fewer do not fill the device with towers.
const LEAST_SITES: usize = 1 << 24;

/// The kernel, and its buffers between launches.
pub(super) struct Torre {
    pub shape: Shape,
    /// Steps of a pass at most.
    pub steps: usize,
    kernel: Kernel,
    begin: Kernel,
    /// The next tower, and a flag for each.
    counter: Buffer<u32>,
    /// Rows that are not plain, and what of them is on the device.
    special: Option<Buffer<u8>>,
    marked: Vec<u8>,
}

impl Torre {
    /// Loads, or compiles, the kernel of a shape.
    ///
    /// # Errors
    /// If it is not in the binary and cannot be compiled here, or memory is short.
    fn new<T: OnCuda>(run: &Cuda<T>, shape: Shape, steps: usize) -> Result<Self, CudaError> {
        let stream = &run.stream;
        let source = match sources::torre(T::PRECISION, shape) {
            Some(source) => source,
            None => cuda::compiled(
                &sources::program(T::PRECISION, shape),
                machine::cache_folder().as_deref(),
            )?,
        };
        let shared = unsigned(shape.shared(T::PRECISION));
        let steps = (steps / shape.period()).max(1) * shape.period();
        let lattice = &run.host.sweep.lattice;
        let towers = Pass::new(shape, lattice.size, lattice.edges[1], steps).towers;
        Ok(Self {
            shape,
            steps,
            kernel: stream.kernel(source, "torre", shared)?,
            begin: stream.kernel(source, "begin", 0)?,
            counter: stream.zeros("the flags of towers", towers + 1)?,
            special: None,
            marked: Vec::new(),
        })
    }

    /// Description for the report.
    pub(super) fn describe(&self) -> String {
        let Shape { dts, cluster, room, .. } = self.shape;
        let blocks = if cluster > 1 {
            format!(", {cluster} blocks along x")
        } else {
            String::new()
        };
        let room = if room == Room::Shared { " in shared memory" } else { "" };
        format!("dts {dts}{room}, towers of {} steps{blocks}", self.steps)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.counter.bytes() + self.special.as_ref().map_or(0, Buffer::bytes)
    }

    /// Sets the rows that are not plain (empty: all are plain).
    pub(super) fn mark(&mut self, stream: &Stream, rows: Vec<u8>) -> Result<(), CudaError> {
        if self.marked == rows {
            return Ok(());
        }
        if rows.is_empty() {
            self.special = None;
        } else {
            let buffer = match self.special.take() {
                Some(buffer) => buffer,
                None => stream.zeros("rows that are not plain", rows.len())?,
            };
            stream.upload("rows that are not plain", &rows, &buffer)?;
            self.special = Some(buffer);
        }
        self.marked = rows;
        Ok(())
    }
}

impl<T: OnCuda> Cuda<T> {
    /// At most `most` steps in one launch, the first of which is step `n` of the batch; returns how many.
    #[allow(unsafe_code, reason = "kernel launches")]
    pub(super) fn pass(&mut self, n: usize, most: usize) -> Result<usize, CudaError> {
        let Some(torre) = &self.torre else { return Ok(0) };
        let shape = torre.shape;
        let steps = most.min(torre.steps) / shape.period() * shape.period();
        let operated = self.peak.is_some() || self.potential.is_some() || self.events.overwrites();
        if steps == 0 || operated {
            return Ok(0);
        }
        self.readback.before_any_writing(&self.stream)?;
        let lattice = &self.host.sweep.lattice;
        let pass = Pass::new(shape, lattice.size, lattice.edges[1], steps);
        let parameters = params::Torre {
            step: self.step_parameters(),
            sites: self.events.parameters(),
            special: torre.special.as_ref().map_or(0, Buffer::address),
            counter: torre.counter.address(),
            periods: whole(steps / shape.period()),
            first: i32::try_from(pass.first).unwrap_or(i32::MAX),
            towers: whole(pass.towers),
            even: whole(pass.even),
            odd: whole(pass.odd),
            plain: i32::from(self.medium.is_plain()),
            step_of_batch: whole(n),
        };
        let cluster = u32::try_from(shape.cluster).unwrap_or(1);
        let clusters = (self.stream.device().multiprocessors / cluster).max(1);
        let threads = u32::try_from(shape.threads(lattice.size[0])).unwrap_or(32);
        debug_assert!(
            torre.counter.bytes() >= (pass.towers + 1) * size_of::<u32>(),
            "{} towers",
            pass.towers
        );
        let (counter, count) = (torre.counter.address(), whole(pass.towers + 1));
        // SAFETY: the arguments are those of the kernels; the counter has room for the towers of the longest pass, the levels are those of a step,
        // and the lists hold every step of the batch.
        unsafe {
            self.stream.launch(&torre.begin, (64, 1, 1), 256, |launch| {
                launch.arg(&counter).arg(&count);
            })?;
            self.stream
                .launch(&torre.kernel, (clusters * cluster, 1, 1), threads, |launch| {
                    launch.arg(&parameters);
                })?;
        }
        // An even number of steps leaves the levels where they were.
        Ok(steps)
    }
}

/// The tower kernel for a scene.
///
/// # Errors
/// Why there is none, as a text for the user.
pub(super) fn fitting<T: OnCuda>(run: &Cuda<T>) -> Result<Torre, String> {
    let (stream, scenario, half) = (&run.stream, &run.host.scenario, run.host.sweep.lattice.half);
    let choice = &run.choice;
    let grid = scenario.grid();
    let layers = grid.edges().contains(&Edge::Absorb);
    let dts = choice.dts.unwrap_or_else(|| best_dts(half, T::PRECISION, layers));
    let speeds = scenario.medium().has(Sets::Speed);
    let shape = Shape::new(T::PRECISION, [half, dts, grid.size()[0]], speeds, layers);
    if let Some(why) = objection(scenario, shape, stream.device().capability) {
        return Err(why);
    }
    if shape.shared(T::PRECISION) > stream.device().most_shared() as usize {
        return Err(format!(
            "dts = {} at order {} needs more shared memory than a block of this device has; take a smaller one, or \"auto\"",
            shape.dts,
            2 * half
        ));
    }
    if choice.variant.is_none() && !is_quick(shape, T::PRECISION, scenario) {
        return Err("single steps are faster".to_owned());
    }
    // What enters and leaves at both ends of z costs as many planes as a tower has steps.
    let steps = choice.tower.unwrap_or(if grid.size()[2] < 1024 { 64 } else { 128 });
    Torre::new(run, shape, steps).map_err(|error| error.to_string())
}

/// The diamond that fills the registers, or, of order 8 and with absorbing layers, shared memory.
fn best_dts(half: usize, precision: Precision, layers: bool) -> usize {
    match (half, precision) {
        (1, Precision::Single) if layers => 8,
        (1, Precision::Single) => 4,
        (1, Precision::Double) => 3,
        (2 | 4, Precision::Single) => 2,
        _ => 1,
    }
}
