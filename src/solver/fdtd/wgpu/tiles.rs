//! Several steps of tiles in registers (`kernels/fdtd_block.wgsl`).

use super::super::run::Fdtd;
use super::super::stencil::COEFFICIENTS;
use super::Wgpu;
use super::medium::{edge_number, single};
use crate::backend::wgpu::{Binding, Buffer, Device, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::whole;
use bytemuck::{Pod, Zeroable};

/// What is written out for a grid and a medium.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/fdtd_block.wgsl"),
);
/// Steps of which a launch sees the operations, as the kernel has it.
pub(super) const MOST: usize = 8;
const BINDINGS: [Binding; 10] = [
    Binding::Uniform,
    Binding::Table(MOST as u64),
    Binding::Read,
    Binding::Read,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Read,
    Binding::Read,
    Binding::Write,
];
/// Sites of a tile across; threads below one another.
const ACROSS: usize = 64;
const DOWN: usize = 8;
/// Columns of a thread: halos begin at multiples.
const COLUMNS: usize = 4;

/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    edges: [i32; 2],
    steps: i32,
    operations: i32,
    square: f32,
    unused: f32,
    coefficients: [f32; 4],
}

/// The kernel.
pub(super) struct Tiles {
    kernel: Kernel,
    half: usize,
    /// Rows of a thread.
    rows: usize,
    /// Steps of a launch.
    pub(super) steps: usize,
}

/// Rows of a thread and steps of a launch: of blocks of 24 KiB of workgroup memory as on an H200 they were fastest, or so many that the halo leaves half of a tile, and of
/// 16 KiB, which every adapter and browser has. `None` where there are no tiles.
fn shape(device: &Device, host: &Fdtd<f32>) -> Option<(usize, usize)> {
    let roomy = device.workgroup_memory() >= 24 << 10;
    match (host.sweep.lattice.rank, host.sweep.lattice.half) {
        (2, 1) if roomy => Some((8, 8)),
        (2, 1) => Some((4, 4)),
        (2, 2) if roomy => Some((8, 4)),
        (2, 2) => Some((4, 2)),
        _ => None,
    }
}

/// Whether there are tiles for a grid: all sides have fewer than a launch has blocks.
pub(super) fn fit(device: &Device, host: &Fdtd<f32>) -> bool {
    let most = 16 * device.most_blocks() as usize;
    shape(device, host).is_some() && host.sweep.lattice.size.iter().all(|n| *n < most)
}

impl Tiles {
    /// The kernel for a grid and its medium; `None` where there is none.
    pub(super) fn new(stream: &Stream, host: &Fdtd<f32>) -> Result<Option<Self>, WgpuError> {
        let lattice = &host.sweep.lattice;
        let Some((rows, steps)) = shape(stream.device(), host).filter(|_| fit(stream.device(), host)) else {
            return Ok(None);
        };
        let walls = !host.sweep.mask.is_empty();
        let has = i64::from;
        #[expect(clippy::cast_possible_wrap, reason = "small numbers")]
        let written = [
            ("ROWS", rows as i64),
            ("HALF", lattice.half as i64),
            // Of the ends of threads there are two copies where they fit.
            ("BUFFERS", has(lattice.half == 1)),
            ("SQUARES", has(walls || !host.sweep.material.squares.is_empty())),
            ("WALLS", has(walls)),
            ("WIDE", has(lattice.size[0].is_multiple_of(COLUMNS))),
        ];
        let name = format!("fdtd_block {written:?}");
        let text = expanded(SOURCE, &written);
        Ok(Some(Self {
            kernel: (stream.device()).kernel((&name, &text), "steps", &BINDINGS, &[])?,
            half: lattice.half,
            rows,
            steps,
        }))
    }

    /// Rows of a tile.
    pub(super) fn height(&self) -> usize {
        DOWN * self.rows
    }

    /// Puts a launch of `steps` steps in, with the operations of the batch from its step `n` on, from one pair of levels into the other.
    pub(super) fn launch(&self, run: &Wgpu, n: usize, steps: usize) -> Result<(), WgpuError> {
        let lattice = &run.host.sweep.lattice;
        let (squares, square) = run.medium.squares_for_tiles();
        let [nx, ny, _] = lattice.size;
        let params = Params {
            size: [whole(nx), whole(ny)],
            edges: [0, 1].map(|axis| edge_number(lattice.edges[axis])),
            steps: whole(steps),
            operations: i32::from(run.operations.are_any()),
            square,
            unused: 0.0,
            coefficients: single(&COEFFICIENTS[self.half][1..]),
        };
        let params = run.stream.list("constants of the steps", &[params])?;
        let ([now, old], [now_out, old_out]) = (run.levels(), &run.pairs[1 - run.pair]);
        let [places, values] = &run.operations.lists;
        let (moments, record) = (&run.operations.moments, &run.operations.record);
        let buffers = [
            &params, moments, now, old, now_out, old_out, squares, places, values, record,
        ];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = run.stream.device().bind(&self.kernel, &pairs);
        let halo = self.half * steps;
        let core = [ACROSS - 2 * halo.next_multiple_of(COLUMNS), DOWN * self.rows - 2 * halo];
        let blocks = [nx.div_ceil(core[0]), ny.div_ceil(core[1]), 1];
        run.stream.launch(&self.kernel, &bind, Some(n), blocks)
    }
}
