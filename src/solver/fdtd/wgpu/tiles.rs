//! Several steps of tiles a launch: in registers where the medium has nothing but speeds, and walls at order 2 (`registers.rs`), otherwise with the step of a site
//! (`mixed.rs`).

use super::super::run::Fdtd;
use super::Wgpu;
use super::medium::Medium;
use super::mixed::Mixed;
use super::registers::Registers;
use crate::backend::wgpu::{Buffer, Device, Stream, WgpuError};
use std::ops::Range;

/// Steps of which a launch sees the operations, as the kernels have it.
pub(super) const MOST: usize = 8;
/// Sites of a tile across, and of a row of threads down; columns of a thread, at whose multiples halos begin.
pub(super) const ACROSS: usize = 64;
pub(super) const DOWN: usize = 8;
pub(super) const COLUMNS: usize = 4;

/// Rows of a thread in registers, and steps of a launch at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rows: usize,
    pub steps: usize,
}

/// Shapes for a grid, the usual one first: of blocks of 24 KiB of workgroup memory as on an H200 they were fastest of tiles in registers, or so many that the halo leaves
/// half of a tile, and of 16 KiB, which every adapter and browser has. Others may be faster where tiles are mixed: with fewer steps less is stepped twice, and small
/// grids have more of small tiles. None where there are no tiles.
fn shapes(device: &Device, host: &Fdtd<f32>) -> Vec<Shape> {
    let roomy = device.workgroup_memory() >= 24 << 10;
    let all: &[(usize, usize)] = match (host.sweep.lattice.rank, host.sweep.lattice.half) {
        (2, 1) if roomy => &[(8, 8), (8, 4), (4, 4)],
        (2, 1) => &[(4, 4), (4, 2)],
        (2, 2) if roomy => &[(8, 4), (8, 2), (4, 4), (4, 2)],
        (2, 2) => &[(4, 2), (4, 4)],
        _ => &[],
    };
    all.iter().map(|&(rows, steps)| Shape { rows, steps }).collect()
}

/// Shapes of tiles for a grid and its medium, the usual one first; none where there are no tiles.
pub(super) fn all(device: &Device, host: &Fdtd<f32>, medium: &Medium) -> Vec<Shape> {
    let mut shapes = shapes(device, host);
    let there = medium.mixed().is_some() || medium.is_plain_everywhere();
    if !(there && fit(device, host)) {
        shapes.clear();
    }
    if medium.mixed().is_none() {
        shapes.truncate(1);
    }
    shapes
}

/// Whether there are tiles for a grid: all sides have fewer than a launch has blocks.
pub(super) fn fit(device: &Device, host: &Fdtd<f32>) -> bool {
    let most = 16 * device.most_blocks() as usize;
    !shapes(device, host).is_empty() && host.sweep.lattice.size.iter().all(|n| *n < most)
}

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
    fn of(host: &Fdtd<f32>, down: usize, steps: usize) -> Self {
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

/// The kernels, and launches of them.
pub(super) struct Tiles {
    shape: Shape,
    /// Tiles in registers, where there are any.
    registers: Option<Registers>,
    /// All others.
    mixed: Option<Mixed>,
}

impl Tiles {
    /// The kernels for a grid and its medium, between two pairs of levels, with a shape that is one of [`all`].
    pub(super) fn new(
        stream: &Stream,
        host: &Fdtd<f32>,
        medium: &Medium,
        pairs: &[[Buffer; 2]],
        shape: Shape,
    ) -> Result<Self, WgpuError> {
        let of_steps = |steps| Cut::of(host, DOWN * shape.rows, steps);
        let mut cuts: Vec<Cut> = (1..=shape.steps).map(of_steps).collect();
        let whole = of_steps(shape.steps);
        // For a few tiles a kernel of their own takes longer.
        let in_registers = medium.is_plain() && whole.in_registers() >= whole.others();
        if !in_registers {
            cuts.iter_mut().for_each(|cut| cut.plain = [0..0, 0..0]);
        }
        let registers = in_registers.then(|| Registers::new(stream, host, medium, pairs, (shape.rows, &cuts)));
        let mixed = (medium.mixed()).map(|planes| Mixed::new(stream, medium, planes, shape.rows, &cuts));
        Ok(Self {
            shape,
            registers: registers.transpose()?,
            mixed: mixed.transpose()?,
        })
    }

    /// A description of how steps are taken.
    pub(super) fn how(&self) -> String {
        let one_by_one = match (&self.registers, &self.mixed) {
            (_, None) => "",
            (Some(_), Some(_)) => ", a site at a time at absorbing edges",
            (None, Some(_)) => ", a site at a time",
        };
        let Shape { rows, steps } = self.shape;
        format!("tiles of {} rows, {steps} fused steps{one_by_one}", DOWN * rows)
    }

    /// Steps of a launch at most.
    pub(super) fn steps(&self) -> usize {
        self.shape.steps
    }

    /// Whether there are tiles that are not in registers.
    pub(super) fn are_mixed(&self) -> bool {
        self.mixed.is_some()
    }

    /// Queues launches of `steps` steps, with the operations of the batch from its step `n` on, from one pair of levels into the other.
    pub(super) fn launch(&mut self, run: &Wgpu, n: usize, steps: usize) -> Result<(), WgpuError> {
        if let Some(mixed) = &mut self.mixed {
            mixed.launch(run, [run.pair, run.newer], n, steps)?;
        }
        match &self.registers {
            Some(registers) => registers.launch(run, n, steps),
            None => Ok(()),
        }
    }
}
