//! The N-shaped partition on an NVIDIA device: a line (`kernels/crank_nicolson.cu`), and all lines of a plane (`kernels/crank_nicolson_plane.cu`).
//!
//! A line: two launches a step: `rs` solves for the joints of all blocks, `line_step` substitutes and eliminates for the next step, so that ψ is read and written once; on a
//! short line one launch, in which every block solves for all joints. With a driven potential both halves are apart, since the matrix changes between them. A plane: two launches
//! a step, rows and columns. From compute capability 9.0 on, a launch starts while the one before ends, and waits itself for what that one writes. ψ stays on the device, where
//! sums and pictures are made; it comes to the host as a whole when somebody asks for the field, and goes back when somebody changed it.
//!
//! Bytes a row and step of a line: 29 in single and 58 in double precision, inverse pivots and joints included.

mod field;
mod layout;
mod line;
mod on_device;
mod params;
mod plane;

use super::hamiltonian::Hamiltonian;
use super::run::Propagator;
use crate::backend::cuda::Source;
use crate::field::Precision;
use crate::physics::Quantum;
use crate::scene::Scenario;
use crate::solver::SolverError;
pub(super) use crate::solver::device::OnCuda;
use crate::solver::method::{Backend, Target, Variant};
use crate::solver::setup::Choice;
use line::Line;
use on_device::OnDevice;
use plane::Plane;

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    variants: &[Variant {
        id: "n-partition",
        about: "A thread's rows are a block, its first row a joint; joints are partitioned again over the lanes of a warp, the warps of a block, and the blocks. In 2D many lines side by side, each within one block of threads.",
    }],
};

/// The kernels for one number of rows a thread.
#[derive(Clone, Copy, Debug)]
struct Shape {
    source: Source,
    /// Rows of a thread.
    rows: usize,
    /// Most threads of a block.
    threads: usize,
    /// Sites of the longest line.
    reach: usize,
}

/// Few rows are the fastest; more reach further.
const SINGLE: [Shape; 2] = [of_rows("crank_nicolson_f32_8", 8), of_rows("crank_nicolson_f32_16", 16)];
const DOUBLE: [Shape; 1] = [of_rows("crank_nicolson_f64_8", 8)];
/// The same for the lines of a plane, along x and along y. Threads of small blocks may have more registers; where those do not bind, many threads hide more.
const PLANE_SINGLE: [[Shape; 2]; 2] = [
    [
        in_block("crank_nicolson_plane_f32_8_1024", 8, 1024),
        in_block("crank_nicolson_plane_f32_16_1024", 16, 1024),
    ],
    [
        in_block("crank_nicolson_plane_f32_16_512", 16, 512),
        in_block("crank_nicolson_plane_f32_16_1024", 16, 1024),
    ],
];
const PLANE_DOUBLE: [[Shape; 2]; 2] = [[
    in_block("crank_nicolson_plane_f64_8_512", 8, 512),
    in_block("crank_nicolson_plane_f64_8_1024", 8, 1024),
]; 2];

const fn of_rows(name: &'static str, rows: usize) -> Shape {
    Shape {
        source: Source::embedded(name),
        rows,
        threads: THREADS,
        reach: PARTS * PART_THREADS * FEW * THREADS * rows,
    }
}

/// A line is within one block.
const fn in_block(name: &'static str, rows: usize, threads: usize) -> Shape {
    Shape {
        source: Source::embedded(name),
        rows,
        threads,
        reach: threads * rows,
    }
}

/// Threads of a block.
const THREADS: usize = 256;
/// As in the kernels: most joints of blocks that a thread has, most threads that share them, and parts that many joints are divided into, with most threads of one.
const FEW: usize = 2;
const SOLVERS: usize = 512;
const PARTS: usize = 32;
const PART_THREADS: usize = 128;

/// The first shape that reaches over lines of so many sites.
fn shape(all: &[Shape], sites: usize, precision: Precision) -> Result<Shape, SolverError> {
    (all.iter().find(|shape| sites <= shape.reach).copied()).ok_or_else(|| {
        SolverError::Unsupported(format!(
            "crank-nicolson takes lines of at most {} sites in {} precision on a device, and a line has {sites}; take backend = \"cpu\"",
            all.iter().map(|shape| shape.reach).max().unwrap_or(0),
            precision.word()
        ))
    })
}

/// A line or plane on the device, with ψ = 0.
pub(super) fn on_device<T: OnCuda>(
    scenario: &Scenario,
    _choice: &Choice,
    quantum: Quantum,
) -> Result<Box<dyn Propagator<T>>, SolverError> {
    let device = crate::solver::device::device()?;
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let is_plane = grid.rank() > 1;
    let (line, [along_x, along_y]): (&[Shape], _) = match T::PRECISION {
        Precision::Single => (&SINGLE, PLANE_SINGLE),
        Precision::Double => (&DOUBLE, PLANE_DOUBLE),
    };
    let shapes = if is_plane {
        [shape(&along_x, nx, T::PRECISION)?, shape(&along_y, ny, T::PRECISION)?]
    } else {
        [shape(line, nx, T::PRECISION)?; 2]
    };
    let needed = super::memory(scenario);
    crate::solver::device::check_count(grid, grid.sites() as u64)?;
    crate::solver::device::check_room(grid, T::PRECISION, super::METHOD.id, needed, device.free_memory())?;
    if is_plane {
        let plane = Plane::new(device, scenario, quantum, shapes).map_err(SolverError::from)?;
        return Ok(Box::new(OnDevice::new(plane)));
    }
    let hamiltonian = Hamiltonian::new(scenario, quantum);
    let line = Line::new(device, grid, hamiltonian, shapes[0]).map_err(SolverError::from)?;
    Ok(Box::new(OnDevice::new(line)))
}
