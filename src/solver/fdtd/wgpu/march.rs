//! The core of a grid, which no edge and no absorbing layer reaches, with kernels of its own, and the list of all other sites.

use super::super::run::Fdtd;
use super::super::stencil::COEFFICIENTS;
use super::medium::single;
use crate::backend::wgpu::Binding;
use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::solver::adapter::whole;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// The kernel's text.
pub(super) const SOURCE: &str = include_str!("../../../../kernels/fdtd_march.wgsl");
/// Its arguments.
pub(super) const BINDINGS: [Binding; 5] = [Uniform, Read, Write, Read, Read];
/// Columns of a thread; threads of a block along x, and across.
const COLUMNS: usize = 4;
const THREADS: [usize; 2] = [32, 4];
/// Rows or planes of a thread: at most, at least, and so few that this many threads have work.
const LONGEST: usize = 32;
const SHORTEST: usize = 4;
const BUSY: usize = 1 << 17;

/// `Params` of `kernels/fdtd_march.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
pub(super) struct Params {
    first: [i32; 3],
    chunk: i32,
    end: [i32; 3],
    square: f32,
    row: i32,
    plane: i32,
    unused: [i32; 2],
    coefficients: [f32; 4],
}

/// The sites of each axis in the core.
pub(super) struct Core([Range<usize>; 3]);

impl Core {
    /// The core of a grid of two or three axes with one density, whose rows come in fours; `None` where half of the sites or more are not in it, or some of it absorb.
    pub(super) fn of(host: &Fdtd<f32>) -> Option<Self> {
        let lattice = &host.sweep.lattice;
        let size = lattice.size;
        let plain = host.layers.is_empty() && host.sweep.mask.is_empty();
        if (lattice.rank == 2 && lattice.half == 1 && plain) // A thread a site is as fast there.
            || lattice.rank < 2 || !size[0].is_multiple_of(COLUMNS) || !host.sweep.material.density.is_empty()
        {
            return None;
        }
        let mut axes = size.map(|n| 0..n);
        for (axis, sites) in axes.iter_mut().enumerate().take(lattice.rank) {
            let layer = host.layers.iter().find(|layer| layer.shape.axis == axis);
            let reach = layer
                .map_or(0, |layer| layer.shape.width())
                .max(lattice.half)
                .next_multiple_of(if axis == 0 { COLUMNS } else { 1 });
            *sites = reach..size[axis].saturating_sub(reach).max(reach);
        }
        let core = Self(axes);
        // Absorption stands in layers too, at the ends of guides.
        let damped = |row: usize| {
            let rates = host.sweep.material.damping(lattice, row);
            rates.is_some_and(|rates| rates[core.0[0].clone()].iter().any(|rate| *rate != 0.0))
        };
        if (0..lattice.rows()).any(|row| core.has_row(size, row) && damped(row)) {
            return None;
        }
        let within: usize = core.0.iter().map(ExactSizeIterator::len).product();
        (2 * within > size.iter().product()).then_some(core)
    }

    /// Whether row j + ny·k has sites of the core.
    fn has_row(&self, [_, ny, _]: [usize; 3], row: usize) -> bool {
        self.0[1].contains(&(row % ny)) && self.0[2].contains(&(row / ny))
    }

    /// The sites that the core's kernel leaves to the other one: those around the core, and those of it that `beside` says of a row.
    pub(super) fn others<R: Iterator<Item = usize>>(&self, size: [usize; 3], beside: impl Fn(usize) -> R) -> Vec<u32> {
        let [nx, ny, nz] = size;
        let xs = &self.0[0];
        let mut all = Vec::new();
        for row in 0..ny * nz {
            let first = row * nx;
            if self.has_row(size, row) {
                all.extend(first..first + xs.start);
                all.extend(beside(row).filter(|x| xs.contains(x)).map(|x| first + x));
                all.extend(first + xs.end..first + nx);
            } else {
                all.extend(first..first + nx);
            }
        }
        all.into_iter().map(crate::solver::adapter::unsigned).collect()
    }

    /// The constants of the kernel, and the blocks of a launch.
    pub(super) fn launch(&self, host: &Fdtd<f32>) -> (Params, [usize; 3]) {
        let lattice = &host.sweep.lattice;
        let [xs, ys, zs] = &self.0;
        let [nx, ny, _] = lattice.size;
        let (across, along) = if lattice.rank == 3 { (ys.len(), zs) } else { (1, ys) };
        let fours = xs.len() / COLUMNS;
        let chunk = (fours * across * along.len() / BUSY).clamp(SHORTEST, LONGEST);
        let parts = along.len().div_ceil(chunk);
        let blocks = if lattice.rank == 3 {
            [fours.div_ceil(THREADS[0]), across.div_ceil(THREADS[1]), parts]
        } else {
            [fours.div_ceil(THREADS[0]), parts.div_ceil(THREADS[1]), 1]
        };
        let params = Params {
            first: [xs.start / COLUMNS, ys.start, zs.start].map(whole),
            chunk: whole(chunk),
            end: [xs.end / COLUMNS, ys.end, zs.end].map(whole),
            square: host.sweep.material.square,
            row: whole(nx / COLUMNS),
            plane: whole(nx / COLUMNS * ny),
            coefficients: single(&COEFFICIENTS[lattice.half][1..]),
            ..Params::default()
        };
        (params, blocks)
    }
}
