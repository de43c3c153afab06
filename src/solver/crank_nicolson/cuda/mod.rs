//! The N-shaped partition on an NVIDIA device: a line (`kernels/crank_nicolson.cu`), and all lines of a plane (`kernels/crank_nicolson_plane.cu`).
//!
//! A line: two launches a step: `rs` solves for the joints of all blocks, `line_step` substitutes and eliminates for the next step, so that ψ is read and written once; on a
//! short line one launch, in which every block solves for all joints. With a driven potential both halves are apart, since the matrix changes between them. A plane: two launches
//! a step, rows and columns. From compute capability 9.0 on, a launch starts while the one before ends, and itself waits for what that one writes. ψ stays on the device, where
//! sums and pictures are made; it is copied to the host as a whole when the field is read, and copied back after a change.
//!
//! Bytes a row and step of a line: 29 in single and 58 in double precision, inverse pivots and joints included.

mod field;
mod layout;
mod line;
mod on_device;
mod params;
mod plane;
mod shape;

use super::hamiltonian::Hamiltonian;
use super::propagator::Propagator;
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
use shape::{DOUBLE, PLANE_DOUBLE, PLANE_SINGLE, SINGLE, Shape, shape};

/// The row of targets.
pub(super) const TARGET: Target = Target {
    backend: Backend::Cuda,
    precisions: &[Precision::Single, Precision::Double],
    cut: true,
    variants: &[Variant {
        id: "n-partition",
        about: "A thread's rows are a block, its first row a joint; joints are partitioned again over the lanes of a warp, the warps of a block, and the blocks. In 2D many lines side by side, each within one block of threads.",
    }],
};

/// A line or plane on the device, with ψ = 0.
pub(super) fn on_device<T: OnCuda>(
    scenario: &Scenario,
    _choice: &Choice,
    quantum: Quantum,
    device: usize,
) -> Result<Box<dyn Propagator<T>>, SolverError> {
    let device = crate::solver::device::device(device)?;
    let grid = scenario.grid();
    let [nx, ny, _] = grid.size();
    let is_plane = grid.rank() > 1;
    let (line, [along_x, along_y]): (&[Shape], _) = match T::PRECISION {
        Precision::Single => (&SINGLE, PLANE_SINGLE),
        Precision::Double => (&DOUBLE, PLANE_DOUBLE),
    };
    let shapes = if is_plane {
        [
            shape(&along_x, nx, T::PRECISION, false)?,
            shape(&along_y, ny, T::PRECISION, true)?,
        ]
    } else {
        [shape(line, nx, T::PRECISION, true)?; 2]
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
