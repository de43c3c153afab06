//! Several steps of tiles in registers (`kernels/fdtd_block.wgsl`), where the medium has nothing but speeds, and walls at order 2.

use super::super::run::Fdtd;
use super::super::stencil::COEFFICIENTS;
use super::medium::{Medium, edge_number, single};
use super::pass::{COLUMNS, Cut, MOST, Pass};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::whole;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// What is written out for a grid and a medium.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/fdtd.wgsl"),
    include_str!("../../../../kernels/moment.wgsl"),
    include_str!("../../../../kernels/fdtd_block.wgsl"),
);
/// Constants, both levels, where they are written, speeds; then what happens at single sites.
const BINDINGS: [Binding; 9] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Read,
    Binding::Write,
    Binding::Write,
    Binding::Read,
    Binding::Table(MOST as u64),
    Binding::Read,
    Binding::Write,
];
/// Those of a launch in which nothing happens at single sites.
const PLAIN: usize = 6;
/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    edges: [i32; 2],
    steps: i32,
    square: f32,
    first: [i32; 2],
    coefficients: [f32; 4],
}

/// The kernels, and launches of them.
pub(super) struct Registers {
    plain: Kernel,
    /// Writes tiles anew in which anything happens at single sites.
    operating: Kernel,
    /// Of each number of steps from one on.
    launches: Vec<Launch>,
}

/// A launch of some steps.
struct Launch {
    params: Buffer,
    /// What the plain kernel reads and writes: of each pair, and of each level of it that may be the newer one.
    binds: [[Bind; 2]; 2],
    /// Tiles across and down; none: there are no such tiles.
    blocks: Option<[usize; 3]>,
}

impl Registers {
    /// The kernels for a grid and its medium, between two pairs of levels: rows of a thread, and of each number of steps from one on how the grid is cut.
    pub(super) fn new(
        stream: &Stream,
        host: &Fdtd<f32>,
        medium: &Medium,
        pairs: &[[Buffer; 2]],
        (rows, cuts): (usize, &[Cut]),
    ) -> Result<Self, WgpuError> {
        let lattice = &host.sweep.lattice;
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
        let launch = |(n, cut): (usize, &Cut)| -> Result<Launch, WgpuError> {
            let params = Params {
                size: [whole(lattice.size[0]), whole(lattice.size[1])],
                edges: [0, 1].map(|axis| edge_number(lattice.edges[axis])),
                steps: whole(n + 1),
                square,
                first: cut.plain.each_ref().map(|tiles| whole(tiles.start)),
                coefficients: single(&COEFFICIENTS[lattice.half][1..]),
            };
            let params = stream.list("constants of the steps", &[params])?;
            let bind = |from: &[Buffer; 2], newer: usize, to: &[Buffer; 2]| {
                let buffers = [&params, &from[newer], &from[1 - newer], &to[0], &to[1], squares];
                let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
                stream.device().bind(&plain, &pairs)
            };
            let binds = [(0, 1), (1, 0)].map(|(from, to)| [0, 1].map(|newer| bind(&pairs[from], newer, &pairs[to])));
            let [across, down] = cut.plain.each_ref().map(Range::len);
            let blocks = (cut.in_registers() > 0).then_some([across, down, 1]);
            Ok(Launch { params, binds, blocks })
        };
        let launches = cuts.iter().enumerate().map(launch).collect::<Result<_, WgpuError>>()?;
        Ok(Self {
            plain,
            operating,
            launches,
        })
    }

    /// Queues launches of a pass.
    pub(super) fn launch(&self, pass: &Pass) -> Result<(), WgpuError> {
        let Some(launch) = self.launches.get(pass.steps - 1) else {
            return Ok(());
        };
        let Some(blocks) = launch.blocks else {
            return Ok(());
        };
        (pass.stream).launch(&self.plain, &launch.binds[pass.pair][pass.newer], None, blocks)?;
        let operations = pass.operations;
        if !operations.are_any() {
            return Ok(());
        }
        let [now, old, now_out, old_out] = pass.levels();
        let (squares, _) = pass.medium.squares_for_tiles();
        let buffers = [
            &launch.params,
            now,
            old,
            now_out,
            old_out,
            squares,
            &operations.moments,
            &operations.lists,
            &operations.record,
        ];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = pass.stream.device().bind(&self.operating, &pairs);
        pass.stream.launch(&self.operating, &bind, Some(pass.first), blocks)
    }
}
