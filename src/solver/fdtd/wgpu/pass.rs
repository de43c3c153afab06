//! What tiles of both kinds share: how a grid is cut, and what a pass of some steps reads and writes.

use super::super::run::Fdtd;
use super::medium::Medium;
use crate::backend::wgpu::{Buffer, Stream};
use crate::solver::adapter::operations::Operations;
use std::ops::Range;

/// Steps of which a launch sees the operations, as the kernels have it.
pub(super) const MOST: usize = 8;
/// Sites of a tile across, and of a row of threads down; columns of a thread, at whose multiples halos begin.
const ACROSS: usize = 64;
pub(super) const DOWN: usize = 8;
pub(super) const COLUMNS: usize = 4;

/// How launches of some steps cut a grid into tiles.
pub(super) struct Cut {
    /// Sites on every side of a tile that are not written.
    pub halo: [usize; 2],
    /// Tiles of each axis.
    pub tiles: [usize; 2],
    /// Of each axis the tiles that are in registers.
    pub plain: [Range<usize>; 2],
}

impl Cut {
    /// That of `steps` steps, with tiles of `down` rows.
    pub(super) fn of(host: &Fdtd<f32>, down: usize, steps: usize) -> Self {
        let lattice = &host.sweep.lattice;
        let reach = lattice.half * steps;
        let halo = [reach.next_multiple_of(COLUMNS), reach];
        let core = [ACROSS - 2 * halo[0], down - 2 * halo[1]];
        let tiles = [0, 1].map(|axis| lattice.size[axis].div_ceil(core[axis]));
        let plain = [0, 1].map(|axis| {
            let Some(layer) = host.layers.iter().find(|layer| layer.shape.axis == axis) else {
                return 0..tiles[axis];
            };
            // Those of which no site is in a layer
            let width = layer.shape.width();
            let first = (width + halo[axis]).div_ceil(core[axis]);
            let room = (lattice.size[axis] - width + halo[axis]).checked_sub(core[axis] + 2 * halo[axis]);
            first..room.map_or(0, |room| room / core[axis] + 1).max(first)
        });
        Self { halo, tiles, plain }
    }

    /// Tiles in registers.
    pub(super) fn in_registers(&self) -> usize {
        self.plain[0].len() * self.plain[1].len()
    }

    /// All others.
    pub(super) fn others(&self) -> usize {
        self.tiles[0] * self.tiles[1] - self.in_registers()
    }
}

/// Some steps from one pair of levels into the other.
pub(super) struct Pass<'a> {
    pub stream: &'a Stream,
    pub medium: &'a Medium,
    pub operations: &'a Operations,
    pub pairs: &'a [[Buffer; 2]],
    /// The pair that is read, and which level of it is pⁿ.
    pub pair: usize,
    pub newer: usize,
    /// Its first step in the batch, and how many it takes.
    pub first: usize,
    pub steps: usize,
}

impl Pass<'_> {
    /// pⁿ and the level before it, and where those after the pass go.
    pub(super) fn levels(&self) -> [&Buffer; 4] {
        let (read, [now, old]) = (&self.pairs[self.pair], &self.pairs[1 - self.pair]);
        [&read[self.newer], &read[1 - self.newer], now, old]
    }
}
