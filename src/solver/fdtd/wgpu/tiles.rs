//! Several steps of tiles in registers (`kernels/fdtd_block.wgsl`).

use super::super::run::Fdtd;
use super::super::stencil::COEFFICIENTS;
use super::Wgpu;
use super::medium::{Medium, edge_number, single};
use crate::backend::wgpu::{Bind, Binding, Buffer, Device, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::whole;
use bytemuck::{Pod, Zeroable};

/// What is written out for a grid and a medium.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/moment.wgsl"),
    include_str!("../../../../kernels/fdtd_block.wgsl"),
);
/// Steps of which a launch sees the operations, as the kernel has it.
pub(super) const MOST: usize = 8;
/// Constants, both levels, where they are written, speeds; then what happens at single sites.
const BINDINGS: [Binding; 10] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Read,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Table(MOST as u64),
    Binding::Read,
    Binding::Read,
    Binding::Write,
];
/// Those of a launch in which nothing happens at single sites.
const PLAIN: usize = 6;
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
    square: f32,
    unused: [f32; 2],
    coefficients: [f32; 4],
}

/// The kernels, and launches of them.
pub(super) struct Tiles {
    plain: Kernel,
    operating: Kernel,
    half: usize,
    /// Rows of a thread.
    rows: usize,
    /// Of each number of steps from one on.
    launches: Vec<Launch>,
}

/// Steps of tiles.
struct Launch {
    params: Buffer,
    /// What the plain kernel reads and writes: of each pair, and of each level of it that may be the newer one.
    binds: [[Bind; 2]; 2],
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
    /// The kernels for a grid and its medium, between two pairs of levels; `None` where there are none.
    pub(super) fn new(
        stream: &Stream,
        host: &Fdtd<f32>,
        medium: &Medium,
        pairs: &[[Buffer; 2]],
    ) -> Result<Option<Self>, WgpuError> {
        let lattice = &host.sweep.lattice;
        let (Some((rows, steps)), [first, second]) = (
            shape(stream.device(), host).filter(|_| fit(stream.device(), host)),
            pairs,
        ) else {
            return Ok(None);
        };
        let walls = !host.sweep.mask.is_empty();
        let has = i64::from;
        let kernel = |operates: bool| {
            #[expect(clippy::cast_possible_wrap, reason = "small numbers")]
            let written = [
                ("ROWS", rows as i64),
                ("HALF", lattice.half as i64),
                // Of the ends of threads there are two copies where they fit.
                ("BUFFERS", has(lattice.half == 1 && !operates)),
                ("SQUARES", has(walls || !host.sweep.material.squares.is_empty())),
                ("WALLS", has(walls)),
                ("WIDE", has(lattice.size[0].is_multiple_of(COLUMNS))),
                ("OPERATES", has(operates)),
            ];
            let name = format!("fdtd_block {written:?}");
            let bindings = if operates { &BINDINGS } else { &BINDINGS[..PLAIN] };
            (stream.device()).kernel((&name, &expanded(SOURCE, &written)), "steps", bindings, &[])
        };
        let (plain, operating) = (kernel(false)?, kernel(true)?);
        let (squares, square) = medium.squares_for_tiles();
        let launch = |steps: usize| -> Result<Launch, WgpuError> {
            let params = Params {
                size: [whole(lattice.size[0]), whole(lattice.size[1])],
                edges: [0, 1].map(|axis| edge_number(lattice.edges[axis])),
                steps: whole(steps),
                square,
                unused: [0.0; 2],
                coefficients: single(&COEFFICIENTS[lattice.half][1..]),
            };
            let params = stream.list("constants of the steps", &[params])?;
            let bind = |from: &[Buffer; 2], newer: usize, to: &[Buffer; 2]| {
                let buffers = [&params, &from[newer], &from[1 - newer], &to[0], &to[1], squares];
                let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
                stream.device().bind(&plain, &pairs)
            };
            let binds = [(first, second), (second, first)].map(|(from, to)| [0, 1].map(|newer| bind(from, newer, to)));
            Ok(Launch { params, binds })
        };
        let launches = (1..=steps).map(launch).collect::<Result<_, WgpuError>>()?;
        Ok(Some(Self {
            plain,
            operating,
            half: lattice.half,
            rows,
            launches,
        }))
    }

    /// Rows of a tile.
    pub(super) fn height(&self) -> usize {
        DOWN * self.rows
    }

    /// Steps of a launch at most.
    pub(super) fn steps(&self) -> usize {
        self.launches.len()
    }

    /// Queues launches of `steps` steps, with the operations of the batch from its step `n` on, from one pair of levels into the other.
    pub(super) fn launch(&self, run: &Wgpu, n: usize, steps: usize) -> Result<(), WgpuError> {
        let [nx, ny, _] = run.host.sweep.lattice.size;
        let Some(launch) = self.launches.get(steps - 1) else {
            return Ok(());
        };
        let halo = self.half * steps;
        let core = [ACROSS - 2 * halo.next_multiple_of(COLUMNS), DOWN * self.rows - 2 * halo];
        let blocks = [nx.div_ceil(core[0]), ny.div_ceil(core[1]), 1];
        run.stream
            .launch(&self.plain, &launch.binds[run.pair][run.newer], None, blocks)?;
        if !run.operations.are_any() {
            return Ok(());
        }
        let ([now, old], [now_out, old_out]) = (run.levels(), &run.pairs[1 - run.pair]);
        let (squares, _) = run.medium.squares_for_tiles();
        let [places, values] = &run.operations.lists;
        let (moments, record) = (&run.operations.moments, &run.operations.record);
        let buffers = [
            &launch.params,
            now,
            old,
            now_out,
            old_out,
            squares,
            moments,
            places,
            values,
            record,
        ];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = run.stream.device().bind(&self.operating, &pairs);
        run.stream.launch(&self.operating, &bind, Some(n), blocks)
    }
}
