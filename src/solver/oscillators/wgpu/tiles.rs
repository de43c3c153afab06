//! Several sub-steps of tiles in registers (`kernels/oscillators_block.wgsl`).

use super::super::layout::Layout;
use super::super::run::Oscillators;
use super::super::scheme::Part;
use super::super::springs::Table;
use super::medium::{Medium, ends, first_odd, pairs};
use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Device, Kernel, Stream, WgpuError, expanded};
use crate::solver::adapter::tile::{ACROSS, COLUMNS, DOWN, MOST_STEPS, tile};
use crate::solver::adapter::whole;
use crate::solver::setup::Choice;
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;

/// What is written out for a grid and a medium.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/oscillators.wgsl"),
    include_str!("../../../../kernels/along.wgsl"),
    include_str!("../../../../kernels/oscillators_block.wgsl"),
);
const BINDINGS: [Binding; 8] = [Uniform, Read, Read, Write, Write, Read, Read, Read];
/// Sites on every side that a sub-step takes from what a tile can write.
const HALO: usize = 2;

/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    periodic: [i32; 2],
    steps: i32,
    begins: u32,
    ends: u32,
    unused: u32,
    odd: [i32; 2],
    pairs: [i32; 2],
    same: [[[f32; 4]; 2]; 2],
    ends_of: [[[f32; 2]; 2]; 2],
}

/// The kernel, and the arguments of launches that are prepared once.
pub(super) struct Tiles {
    kernel: Kernel,
    /// Sub-steps of a launch at most.
    pub most: usize,
    rows: usize,
    binds: HashMap<(Part, usize), Bind>,
}

/// Whether there are tiles for a grid: long strips have more of them than a launch has blocks.
pub(super) fn fit(device: &Device, layout: &Layout) -> bool {
    layout.rank == 2 && layout.size.iter().all(|n| *n < 8 * device.most_blocks() as usize)
}

impl Tiles {
    /// The kernel for a grid and its medium.
    pub(super) fn new(stream: &Stream, layout: &Layout, medium: &Medium, choice: &Choice) -> Result<Self, WgpuError> {
        let (rows, steps) = tile(stream.device());
        // Sub-steps of so many whole steps.
        let substeps = if choice.order == 4 { 5 } else { 1 };
        let most = choice.fused_steps.map_or(steps, |n| n * substeps);
        #[expect(clippy::cast_possible_wrap, reason = "4 or 8")]
        let written = [
            ("ROWS", rows as i64),
            ("EACH", i64::from(medium.varies)),
            ("WIDE", i64::from(layout.size[0].is_multiple_of(COLUMNS))),
        ];
        let constants = [("DAMPED", f64::from(u8::from(medium.damps)))];
        let name = format!("oscillators_block {written:?}");
        let text = expanded(SOURCE, &written);
        Ok(Self {
            kernel: (stream.device()).kernel((&name, &text), "steps", &BINDINGS, &constants)?,
            most: most.clamp(1, MOST_STEPS),
            rows,
            binds: HashMap::new(),
        })
    }

    /// Queues whole steps, from planes number `now` on; returns the number of those that hold the field then.
    pub(super) fn steps(
        &mut self,
        stream: &Stream,
        host: &Oscillators<f32>,
        medium: &Medium,
        planes: &[[Buffer; 2]],
        (mut now, steps): (usize, usize),
    ) -> Result<usize, WgpuError> {
        let lengths = &host.springs.scheme.substeps;
        let count = steps * lengths.len();
        let mut at = 0;
        while at < count {
            let part = Part::next(lengths, at, count - at, self.most);
            at += part.count;
            let part = if medium.damps { part } else { part.unmarked() };
            let bind = if let Some(bind) = self.binds.get(&(part, now)) {
                bind.clone()
            } else {
                let table = (&host.springs.layout, &host.springs.tables[part.length]);
                let bind = self.bind(stream, table, medium, part, [&planes[now], &planes[1 - now]])?;
                self.binds.insert((part, now), bind.clone());
                bind
            };
            let halo = HALO * part.count;
            let core = [ACROSS - 2 * halo.next_multiple_of(COLUMNS), DOWN * self.rows - 2 * halo];
            let [nx, ny] = host.springs.layout.size;
            stream.launch(
                &self.kernel,
                &bind,
                None,
                [nx.div_ceil(core[0]), ny.div_ceil(core[1]), 1],
            )?;
            now = 1 - now;
        }
        Ok(now)
    }

    fn bind(
        &self,
        stream: &Stream,
        (layout, table): (&Layout, &Table<f32>),
        medium: &Medium,
        part: Part,
        [[q, p], [q_out, p_out]]: [&[Buffer; 2]; 2],
    ) -> Result<Bind, WgpuError> {
        let params = Params {
            size: layout.size.map(whole),
            periodic: layout.periodic.map(i32::from),
            steps: whole(part.count),
            begins: u32::from(part.begins),
            ends: part.ends,
            unused: 0,
            odd: [0, 1].map(|axis| whole(first_odd(layout, axis))),
            pairs: [false, true].map(|odd| whole(pairs(layout, 0, odd))),
            same: table.same,
            ends_of: [0, 1].map(|axis| ends(table, layout, axis, 0)),
        };
        let params = stream.list("constants of the steps", &[params])?;
        let [bonds_x, bonds_y] = &medium.bonds[part.length];
        let buffers = [&params, q, p, q_out, p_out, &medium.factors, bonds_x, bonds_y];
        let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
        Ok(stream.device().bind(&self.kernel, &pairs))
    }
}
