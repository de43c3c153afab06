//! Tiles in registers (`kernels/trotter_block.wgsl`), for every scene in a plane.

use super::shapes::{BINDINGS, HALO, Shape};
use crate::backend::wgpu::{Device, WgpuError, expanded};
use crate::solver::adapter::tile::{ACROSS, COLUMNS, DOWN, tile};
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::Scheme;

/// What is written out for a grid and a scene.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/trotter.wgsl"),
    include_str!("../../../../kernels/trotter_steps.wgsl"),
    include_str!("../../../../kernels/along.wgsl"),
    include_str!("../../../../kernels/trotter_block.wgsl"),
);

/// Any number of steps of a launch, most first.
pub(super) fn shapes(
    (device, size, most): (&Device, [usize; 3], usize),
    problem: &Problem,
    scheme: &Scheme,
    walls: bool,
) -> Result<Vec<Shape>, WgpuError> {
    let has = |there: bool| f64::from(u8::from(there));
    let constants = [
        ("WALLS", has(walls)),
        ("FLUX", has(problem.quantum.flux != 0.0)),
        ("IMAGINARY", has(scheme.imaginary)),
        ("INTERACTION", has(problem.phase_interaction() != 0.0)),
    ];
    let (rows, _) = tile(device);
    #[expect(clippy::cast_possible_wrap, reason = "4 or 8")]
    let written = [
        ("ROWS", rows as i64),
        ("NESTED", i64::from(is_nested(scheme))),
        ("WIDE", i64::from(size[0].is_multiple_of(COLUMNS))),
        ("FLUX", i64::from(problem.quantum.flux != 0.0)),
    ];
    let name = format!("trotter_block {written:?}");
    let kernel = device.kernel((&name, &expanded(SOURCE, &written)), "steps", &BINDINGS, &constants)?;
    let shape = |steps: usize| {
        let halo = HALO * steps;
        let core = [ACROSS - 2 * halo.next_multiple_of(COLUMNS), DOWN * rows - 2 * halo];
        Shape {
            kernel: kernel.clone(),
            steps,
            blocks: [size[0].div_ceil(core[0]), size[1].div_ceil(core[1]), 1],
            chunk: 0,
        }
    };
    Ok((1..=most).rev().map(shape).collect())
}

/// Whether sweeps of one axis stand within those of the other.
pub(super) fn is_nested(scheme: &Scheme) -> bool {
    scheme.substeps.iter().any(|substep| substep.outer.is_some())
}
