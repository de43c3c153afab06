//! Single sweeps (`kernels/oscillators_sweeps.wgsl`): the launches of a step, prepared once.

use super::super::layout::Layout;
use super::super::run::Oscillators;
use super::super::scheme::{Sweep, sweeps};
use super::super::springs::Table;
use super::medium::{Medium, ends, first_odd, pairs};
use super::planes::sites;
use crate::backend::wgpu::{Binding, Buffer, Kernel, Stream, WgpuError};
use crate::solver::adapter::{Launches, blocks, put_in, unsigned, whole};
use bytemuck::{Pod, Zeroable};

/// The text of the kernels.
const SOURCE: (&str, &str) = (
    "oscillators_sweeps",
    concat!(
        include_str!("../../../../kernels/oscillators.wgsl"),
        include_str!("../../../../kernels/oscillators_sweeps.wgsl"),
    ),
);
/// What they are given: constants, q, p, coefficients or factors.
const BINDINGS: [Binding; 4] = [Binding::Uniform, Binding::Write, Binding::Write, Binding::Read];
/// Threads of a block of `damp`.
const THREADS: usize = 256;

/// `Sweep` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Swept {
    size: [i32; 2],
    axis: i32,
    odd: i32,
    pairs: i32,
    rows_y: i32,
    ring: i32,
    first: i32,
    same: [f32; 4],
    low: [f32; 2],
    high: [f32; 2],
}

/// `Damped` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Damped {
    count: u32,
    rest: [u32; 3],
}

/// The launches of a step.
pub(super) struct Sweeps {
    /// Of each length of sub-step: its sweeps in order.
    substeps: Vec<Launches>,
    /// Before and after a step; none where nothing is damped.
    damps: Launches,
}

/// A launch of a kernel.
fn given(stream: &Stream, kernel: &Kernel, buffers: [&Buffer; 4], blocks: [usize; 3]) -> Launches {
    let given: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
    vec![(kernel.clone(), stream.device().bind(kernel, &given), blocks)]
}

/// The launch of a sweep over a field.
fn swept(
    stream: &Stream,
    kernel: &Kernel,
    (table, layout, sweep): (&Table<f32>, &Layout, Sweep),
    [q, p, bonds]: [&Buffer; 3],
) -> Result<Launches, WgpuError> {
    let Sweep { axis, odd } = sweep;
    let own = pairs(layout, axis, odd);
    let [nx, ny] = layout.size;
    let blocks = blocks(stream.device(), if axis == 0 { [own, ny] } else { [nx, own] });
    let [low, high] = ends(table, layout, axis, 0);
    let constants = Swept {
        size: layout.size.map(whole),
        axis: whole(axis),
        odd: i32::from(odd),
        pairs: whole(own),
        rows_y: whole(blocks[1]),
        ring: i32::from(layout.periodic[axis]),
        first: if odd { whole(first_odd(layout, axis)) } else { 0 },
        same: table.same[axis][usize::from(odd)],
        low,
        high,
    };
    let constants = stream.list("constants of a sweep", &[constants])?;
    Ok(given(stream, kernel, [&constants, q, p, bonds], blocks))
}

impl Sweeps {
    /// The sweeps of `host` over a field.
    pub(super) fn new(
        stream: &Stream,
        host: &Oscillators<f32>,
        medium: &Medium,
        [q, p]: &[Buffer; 2],
    ) -> Result<Self, WgpuError> {
        let layout = &host.springs.layout;
        let constants = [("EACH", f64::from(u8::from(medium.varies)))];
        let turn = stream.device().kernel(SOURCE, "turn", &BINDINGS, &constants)?;
        let mut substeps = Vec::new();
        for (table, bonds) in host.springs.tables.iter().zip(&medium.bonds) {
            let mut launches = Launches::new();
            for sweep in sweeps(layout.rank) {
                let buffers = [q, p, &bonds[sweep.axis]];
                launches.extend(swept(stream, &turn, (table, layout, *sweep), buffers)?);
            }
            substeps.push(launches);
        }
        let mut damps = Launches::new();
        if medium.damps {
            let count = sites(layout);
            let damp = stream.device().kernel(SOURCE, "damp", &BINDINGS, &[])?;
            let constants = Damped {
                count: unsigned(count),
                rest: [0; 3],
            };
            let constants = stream.list("constants", &[constants])?;
            let buffers = [&constants, q, p, &medium.factors];
            damps = given(stream, &damp, buffers, [count.div_ceil(THREADS), 1, 1]);
        }
        Ok(Self { substeps, damps })
    }

    /// Queues a step, of sub-steps of these lengths.
    pub(super) fn step(&self, stream: &Stream, lengths: &[usize]) -> Result<(), WgpuError> {
        put_in(stream, &self.damps)?;
        for length in lengths {
            put_in(stream, &self.substeps[*length])?;
        }
        put_in(stream, &self.damps)
    }
}
