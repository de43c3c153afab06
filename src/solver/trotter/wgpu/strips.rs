//! Strips of columns, one a subgroup (`kernels/trotter_strips.wgsl`): for adapters whose lanes exchange numbers without memory.

use super::shapes::{BINDINGS, HALO, Shape};
use super::tiles::is_nested;
use crate::backend::wgpu::{Device, WgpuError, expanded};
use crate::solver::adapter::tile::{COLUMNS, MOST_STEPS};
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::Scheme;

const SOURCE: &str = concat!(
    include_str!("../../../../kernels/trotter.wgsl"),
    include_str!("../../../../kernels/trotter_steps.wgsl"),
    include_str!("../../../../kernels/along.wgsl"),
    include_str!("../../../../kernels/trotter_strips.wgsl"),
);
/// Threads of a block.
const THREADS: usize = 64;
/// Steps of a launch.
const STEPS: [usize; 4] = [6, 4, 2, 1];
/// Pairs of rows of a block: few keep a large adapter busy on a small grid, many step fewer rows twice.
const CHUNKS: [usize; 3] = [16, 32, 64];

/// One way for each number of rows that a block takes; none where they cannot take the scene's steps.
pub(super) fn shapes(
    (device, size, most): (&Device, [usize; 3], usize),
    problem: &Problem,
    scheme: &Scheme,
) -> Result<Vec<Vec<Shape>>, WgpuError> {
    // Blocks read at most this many rows beyond an edge.
    let high = size[1] >= 4 * MOST_STEPS;
    let plain = high && size[0].is_multiple_of(COLUMNS) && problem.quantum.flux == 0.0 && !is_nested(scheme);
    let Some(lanes) = device.fewest_lanes().filter(|_| plain) else {
        return Ok(Vec::new());
    };
    let has = |there: bool| f64::from(u8::from(there));
    let constants = [
        ("IMAGINARY", has(scheme.imaginary)),
        ("INTERACTION", has(problem.phase_interaction() != 0.0)),
    ];
    let halo_of = |steps: usize| (HALO * steps).div_ceil(COLUMNS);
    let pairs = size[1].div_ceil(2);
    // At least half of the lanes write.
    let mut kernels = Vec::new();
    for steps in (STEPS.into_iter()).filter(|steps| *steps <= most && lanes >= 4 * halo_of(*steps)) {
        #[expect(clippy::cast_possible_wrap, reason = "at most 6")]
        let written = [("STEPS", steps as i64), ("HALO", halo_of(steps) as i64)];
        let name = format!("trotter_strips {written:?}");
        let kernel = device.kernel((&name, &expanded(SOURCE, &written)), "steps", &BINDINGS, &constants)?;
        kernels.push((steps, kernel));
    }
    let blocks = |steps: usize, chunk: usize| {
        // As many strips as there may be, as wide as the smallest subgroups.
        let core = COLUMNS * (lanes - 2 * halo_of(steps));
        let strips = size[0].div_ceil(core) * lanes;
        [strips.div_ceil(THREADS), pairs.div_ceil(chunk), 1]
    };
    let ways = CHUNKS.map(|chunk| {
        let of_kernel = |(steps, kernel): &(usize, _)| Shape {
            kernel: Clone::clone(kernel),
            steps: *steps,
            blocks: blocks(*steps, chunk),
            chunk,
        };
        kernels.iter().map(of_kernel).collect()
    });
    Ok(if kernels.is_empty() { Vec::new() } else { ways.into() })
}
