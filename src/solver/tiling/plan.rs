//! Block sizes and fused steps: those of the scene, or the fastest by a short measurement.

use super::{Axis, CHUNK, Tiling};
use crate::backend::simd::Level;
use crate::backend::threads;
use crate::grid::Grid;
use std::time::Duration;

/// Block sizes and depth.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::solver) struct Plan {
    /// Sites along each axis, halo included; the last axis of 2D and 3D grids is streamed and cut only to give every thread work.
    pub block: [usize; 3],
    /// Steps per pass.
    pub fused: usize,
    /// Instruction set.
    pub level: Level,
}

/// Columns and rows of a block, and steps, in single precision; the first of each rank serves small grids without measurement.
const LINES: &[([usize; 2], usize)] = &[([2048, 1], 16), ([4096, 1], 32), ([1024, 1], 8), ([8192, 1], 64)];
const PLANES: &[([usize; 2], usize)] = &[
    ([1024, 0], 8),
    ([1024, 0], 16),
    ([512, 0], 8),
    ([512, 0], 12),
    ([2048, 0], 8),
];
const VOLUMES: &[([usize; 2], usize)] = &[
    ([128, 32], 1),
    ([256, 16], 1),
    ([128, 16], 1),
    ([512, 16], 1),
    ([256, 32], 1),
    ([128, 32], 2),
];

impl Plan {
    /// Plans worth trying with what a scene gives, all different; the first fits common caches (48 KB of L1 and 1 MB of L2 a core).
    pub(in crate::solver) fn candidates(
        grid: &Grid,
        order: u32,
        real: usize,
        block: &[usize],
        fused: Option<usize>,
    ) -> Vec<Self> {
        let substeps = if order == 4 { 5 } else { 1 };
        let shrink = real / 4;
        let size = grid.size();
        let mut plans: Vec<Self> = Vec::new();
        for &([x, y], steps) in [LINES, PLANES, VOLUMES][grid.rank() - 1] {
            let mut chosen = match grid.rank() {
                1 => [x / shrink, 1, 1],
                2 => [x / shrink, size[1], 1],
                _ => [x / shrink, y, size[2]],
            };
            for (chosen, given) in chosen.iter_mut().zip(block) {
                *chosen = *given;
            }
            let plan = Self {
                block: chosen,
                fused: fused.unwrap_or_else(|| (steps / substeps).max(1)),
                level: Level::best(),
            };
            // Beyond the grid's width all widths are one.
            let same = |other: &Self| {
                other.fused == plan.fused
                    && (other.block == plan.block
                        || (other.block[1..] == plan.block[1..] && other.block[0].min(plan.block[0]) >= size[0]))
            };
            if !plans.iter().any(same) {
                plans.push(plan);
            }
        }
        plans
    }
}

/// Cuts a grid into blocks, along the stream as well where there would be too few for the threads.
pub(in crate::solver) fn cut(grid: &Grid, plan: &Plan, depth: usize) -> Tiling {
    let size = grid.size();
    let periodic = [0, 1, 2].map(|axis| grid.is_periodic(axis));
    let halo = 2 * depth;
    let core = |axis: usize, least: usize| plan.block[axis].saturating_sub(2 * halo).max(least);
    // Whole chunks: detectors add these up, and may not see where blocks end.
    let x = Axis::new(size[0], periodic[0], core(0, CHUNK) / CHUNK * CHUNK, CHUNK, halo);
    let whole = |axis: usize| Axis::new(size[axis], periodic[axis], size[axis].next_multiple_of(2), 2, halo);
    let single = || Axis::new(1, false, 2, 2, halo);
    let (across, stream, streamed) = match grid.rank() {
        1 => (single(), single(), 0),
        2 => (single(), whole(1), 1),
        _ => (Axis::new(size[1], periodic[1], core(1, 8), 2, halo), whole(2), 2),
    };
    let mut tiling = Tiling {
        x,
        across,
        stream,
        stride: stride(size[0]),
    };
    if streamed > 0 {
        let columns = tiling.x.spans.len() * tiling.across.spans.len();
        let threads = threads::count();
        // Blocks of equal size: a whole number a thread, or so many that the last ones do not matter.
        let sites = size[streamed];
        let enough =
            |segments: usize| (columns * segments).is_multiple_of(threads) || columns * segments >= 8 * threads;
        let longest = sites / (8 * depth).max(16);
        let segments = (1..=longest.max(1)).find(|&n| enough(n)).unwrap_or(1);
        tiling.stream = Axis::new(
            sites,
            periodic[streamed],
            (plan.block[streamed].next_multiple_of(2)).min(sites.div_ceil(segments).next_multiple_of(2)),
            2,
            halo,
        );
    }
    tiling
}

/// Numbers from row to row: whole cache lines, and not a whole number of pages, where rows would compete for the same
/// places of a cache.
fn stride(nx: usize) -> usize {
    let lines = nx.next_multiple_of(16);
    if lines.is_multiple_of(512) { lines + 16 } else { lines }
}

/// Below this size the usual plan is taken.
pub(in crate::solver) const LEAST_MEASURED: usize = 1 << 18;
/// Sites of the sample that is timed: fields within the caches, and beyond them.
const SAMPLES: [usize; 2] = [1 << 19, 1 << 21];
/// No candidate is timed after that.
pub(in crate::solver) const LONGEST: Duration = Duration::from_millis(150);
/// Bytes of field and phases that a last-level cache may hold.
const CACHED: usize = 64 << 20;
/// A grid of the same width with fewer rows, planes, or (1D) sites.
pub(in crate::solver) fn sample(grid: &Grid, real: usize) -> Grid {
    let beyond = grid.sites() * 4 * real > CACHED;
    let sites = SAMPLES[usize::from(beyond)];
    let mut size = grid.size()[..grid.rank()].to_vec();
    let last = size.len() - 1;
    let slice: usize = size[..last].iter().product();
    // Even, as a periodic axis must be.
    let count = size[last].min((sites / slice).max(32));
    size[last] = (count & !1).max(1);
    Grid::new(&size, grid.spacing()).with_edges(grid.edges(), grid.absorb_width())
}
