//! The division of the grid into tasks that fit the caches.

use super::lattice::Lattice;
use std::ops::Range;

/// Bytes of the second-level cache that the planes of a block may fill.
const CACHE: usize = 1024 * 1024;
/// Below this many sites one thread is faster than several.
const LEAST_SITES: usize = 16 * 1024;

/// Rows y of planes z, swept plane by plane, so that the planes that a stencil reads stay in cache.
pub(super) struct Block {
    pub(super) y: Range<usize>,
    pub(super) z: Range<usize>,
}

/// Planes of the bundles of a sweep: the fastest for each order.
pub(super) fn most_planes(lattice: &Lattice) -> usize {
    match (lattice.rank, lattice.half) {
        (3, 1 | 2) => 4,
        (3, _) => 2,
        _ => 1,
    }
}

/// Cuts the grid so that the planes which a block reads stay in a core's cache, and every thread has several blocks.
pub(super) fn blocks(lattice: &Lattice, bytes: usize, threads: usize) -> Vec<Block> {
    let [nx, ny, nz] = lattice.size;
    let half = lattice.half;
    if threads == 1 && nz == 1 || nx * ny * nz < LEAST_SITES {
        return vec![Block { y: 0..ny, z: 0..nz }];
    }
    let (rows, planes) = if nz == 1 {
        (ny.div_ceil(4 * threads).max(2 * half), 1)
    } else {
        // For a bundle 2h planes more than it has of the newer level, and its own of the older.
        let fitting = CACHE / ((2 * half + 2 * most_planes(lattice)) * lattice.stride * bytes);
        (
            fitting.clamp(4 * half, ny.max(4 * half)),
            nz.div_ceil(2 * threads).max(8 * half),
        )
    };
    let mut blocks = Vec::new();
    for z in (0..nz).step_by(planes) {
        for y in (0..ny).step_by(rows) {
            blocks.push(Block {
                y: y..(y + rows).min(ny),
                z: z..(z + planes).min(nz),
            });
        }
    }
    blocks
}
