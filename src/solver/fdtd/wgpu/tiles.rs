//! Several steps of tiles in workgroup memory (`kernels/fdtd_tile.wgsl`).

use super::super::run::Fdtd;
use super::super::stencil::COEFFICIENTS;
use super::Wgpu;
use super::medium::{edge_number, single, whole};
use crate::backend::wgpu::{Binding, Buffer, Kernel, Stream, WgpuError};
use bytemuck::{Pod, Zeroable};

const SOURCE: (&str, &str) = ("fdtd_tile", include_str!("../../../../kernels/fdtd_tile.wgsl"));
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
/// Sites of a tile: 16 KiB of two levels, which every adapter has.
const TILE: [usize; 2] = [64, 32];

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
    /// Steps of a launch.
    pub(super) steps: usize,
}

/// Steps of a launch: so many that the halo leaves two thirds of a tile. `None` where tiles are not worth their halo.
pub(super) fn step_count(host: &Fdtd<f32>) -> Option<usize> {
    match (host.sweep.lattice.rank, host.sweep.lattice.half) {
        (2, 1) => Some(4),
        (2, 2) => Some(2),
        _ => None,
    }
}

impl Tiles {
    /// The kernel for a grid; `None` where there is none, or a side has more tiles than a launch has blocks.
    pub(super) fn new(stream: &Stream, host: &Fdtd<f32>) -> Result<Option<Self>, WgpuError> {
        let lattice = &host.sweep.lattice;
        let most = 16 * stream.device().most_blocks() as usize;
        let Some(steps) = step_count(host).filter(|_| lattice.size.iter().all(|n| *n < most)) else {
            return Ok(None);
        };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let constants = [
            ("HALF", lattice.half as f64),
            ("W", TILE[0] as f64),
            ("H", TILE[1] as f64),
            ("SQUARES", f64::from(u8::from(!host.sweep.material.squares.is_empty()))),
        ];
        Ok(Some(Self {
            kernel: stream.device().kernel(SOURCE, "steps", &BINDINGS, &constants)?,
            half: lattice.half,
            steps,
        }))
    }

    /// Puts a launch of `steps` steps in, with the operations of the batch from its step `n` on, from one pair of levels into the other.
    pub(super) fn launch(&self, run: &Wgpu, n: usize, steps: usize) -> Result<(), WgpuError> {
        let lattice = &run.host.sweep.lattice;
        let (squares, square) = run.medium.squares();
        let [nx, ny, _] = lattice.size;
        let params = Params {
            size: [whole(nx), whole(ny)],
            edges: [0, 1].map(|axis| edge_number(lattice.edges[axis])),
            steps: whole(steps),
            operations: i32::from(run.beside.busy),
            square,
            unused: 0.0,
            coefficients: single(&COEFFICIENTS[self.half][1..]),
        };
        let params = run.stream.list("constants of the steps", &[params])?;
        let ([now, old], [now_out, old_out]) = (run.levels(), &run.pairs[1 - run.pair]);
        let [places, values] = &run.beside.lists;
        let (moments, record) = (&run.beside.moments, &run.beside.record);
        let buffers = [
            &params, moments, now, old, now_out, old_out, squares, places, values, record,
        ];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        let bind = run.stream.device().bind(&self.kernel, &pairs);
        let core = TILE.map(|sites| sites - 2 * self.half * steps);
        let blocks = [nx.div_ceil(core[0]), ny.div_ceil(core[1]), 1];
        run.stream.launch(&self.kernel, &bind, Some(n), blocks)
    }
}
