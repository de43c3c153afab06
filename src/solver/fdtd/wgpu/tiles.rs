//! Several steps of tiles a launch: in registers where the medium has nothing but speeds, and walls at order 2 (`registers.rs`), otherwise with the step of a site
//! (`mixed.rs`).

use super::super::run::Fdtd;
use super::medium::Medium;
use super::mixed::Mixed;
use super::pass::{Cut, DOWN, Pass};
use super::registers::Registers;
use crate::backend::wgpu::{Buffer, Device, Stream, WgpuError};

/// Rows of a thread in registers, and steps of a launch at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rows: usize,
    pub steps: usize,
}

/// Shapes for a grid, the usual one first: of blocks of 24 KiB of workgroup memory as on an H200 they were fastest of tiles in registers, or so many that the halo leaves
/// half of a tile, and of 16 KiB, which every adapter and browser has. Others may be faster where none is in registers: with fewer steps less is stepped twice, and small
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
            for cut in &mut cuts {
                cut.plain = [0..0, 0..0];
            }
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

    /// Whether there are tiles in registers.
    pub(super) fn are_in_registers(&self) -> bool {
        self.registers.is_some()
    }

    /// Queues launches of a pass.
    pub(super) fn launch(&mut self, pass: &Pass) -> Result<(), WgpuError> {
        if let Some(mixed) = &mut self.mixed {
            mixed.launch(pass)?;
        }
        match &self.registers {
            Some(registers) => registers.launch(pass),
            None => Ok(()),
        }
    }
}
