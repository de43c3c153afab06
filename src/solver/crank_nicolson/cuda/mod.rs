//! The N-shaped partition of a line on an NVIDIA device (`kernels/crank_nicolson.cu`).
//!
//! Two launches a step: `rs` solves for the joints of all blocks, `line_step` substitutes and eliminates for the next step, so that ψ is read and written once. With
//! a driven potential both halves are apart, since the matrix changes between them. ψ stays on the device; it comes to the host as a whole when somebody looks
//! at it, and goes back when somebody changed it.
//!
//! Bytes a row and step: 25 in single and 50 in double precision, coefficients included, which are made anew from E in every launch. Stored ones would take 40
//! or more of their own.

mod line;
mod params;

use super::hamiltonian::Hamiltonian;
use super::run::Propagator;
use crate::backend::cuda::{self, Kind, Source, source};
use crate::backend::simd::Vectors;
use crate::field::Precision;
use crate::physics::Quantum;
use crate::scene::Scenario;
use crate::scene::scenario::BackendChoice;
use crate::solver::{Backend, SolverError, Target, Variant};

/// A real that the processor and the device can hold.
pub(super) trait OnCuda: Vectors + Kind {}
impl OnCuda for f32 {}
impl OnCuda for f64 {}

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    variants: &[Variant {
        id: "n-partition",
        about: "One dimension. A thread's rows are a block, its first row a joint; joints are partitioned again over the lanes of a warp, the warps of a block, and the blocks.",
    }],
};

/// Below this launches cost more than the sites they step, and the processor is faster.
const FEWEST_SITES: usize = 1 << 15;

/// The kernels for one number of rows a thread.
#[derive(Clone, Copy, Debug)]
struct Shape {
    source: Source,
    /// Rows of a thread.
    rows: usize,
}

/// Few rows are the fastest; more reach further.
const SINGLE: [Shape; 2] = [
    of_rows(source!("crank_nicolson_f32_8"), 8),
    of_rows(source!("crank_nicolson_f32_16"), 16),
];
const DOUBLE: [Shape; 1] = [of_rows(source!("crank_nicolson_f64_8"), 8)];

const fn of_rows(source: Source, rows: usize) -> Shape {
    Shape { source, rows }
}

/// Threads of a block.
const THREADS: usize = 256;
/// Threads of `rs`, and joints that each may have.
const SOLVERS: usize = 1024;
const JOINTS: usize = 8;

/// The first shape that reaches over a line.
fn shape(precision: Precision, sites: usize) -> Result<Shape, SolverError> {
    let all: &[Shape] = match precision {
        Precision::Single => &SINGLE,
        Precision::Double => &DOUBLE,
    };
    let reach = |shape: &Shape| SOLVERS * JOINTS * THREADS * shape.rows;
    let most = all.iter().map(reach).max().unwrap_or(0);
    (all.iter().find(|shape| sites <= reach(shape)).copied()).ok_or_else(|| {
        SolverError::Unsupported(format!(
            "crank-nicolson takes at most {most} sites in {} precision on a device, and the line has {sites}; take backend = \"cpu\"",
            precision.word()
        ))
    })
}

/// A propagator on the device, if there is to be one, and what there is to say.
type Chosen<T> = (Option<Box<dyn Propagator<T>>>, Option<String>);

/// A line on the device where the scene asks for it, or leaves it open and it is the better place.
pub(super) fn propagator<T: OnCuda>(scenario: &Scenario, quantum: Quantum) -> Result<Chosen<T>, SolverError> {
    let choice = scenario.solver();
    let asked = choice.backend == BackendChoice::Cuda;
    let (sites, rank) = (scenario.grid().sites(), scenario.grid().rank());
    let open = choice.backend == BackendChoice::Auto && choice.variant == "auto" && rank == 1 && sites >= FEWEST_SITES;
    if !(asked || open && cuda::device().is_ok()) {
        return Ok((None, None));
    }
    if !["auto", "n-partition"].contains(&choice.variant.as_str()) {
        return Err(SolverError::Unsupported(format!(
            "crank-nicolson has no variant `{}` on cuda; take auto or n-partition",
            choice.variant
        )));
    }
    match on_device(scenario, quantum) {
        Err(error) if !asked => {
            tracing::warn!("on the processor instead of the NVIDIA device: {error}");
            Ok((None, Some(format!("not on the NVIDIA device: {error}"))))
        }
        built => Ok((Some(built?), None)),
    }
}

fn on_device<T: OnCuda>(scenario: &Scenario, quantum: Quantum) -> Result<Box<dyn Propagator<T>>, SolverError> {
    let device = crate::solver::device::device()?;
    let shape = shape(T::PRECISION, scenario.grid().sites())?;
    let hamiltonian = Hamiltonian::new(scenario, quantum);
    let line = line::OnDevice::new(device, hamiltonian, shape).map_err(SolverError::from)?;
    Ok(Box::new(line))
}
