//! Whole steps of tiles in registers (`kernels/trotter_block.wgsl`).

use super::Wgpu;
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, WgpuError, expanded};
use crate::solver::adapter::tile::{ACROSS, COLUMNS, DOWN, tile};
use crate::solver::adapter::whole;
use crate::solver::trotter::naive::Turn;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::{Scheme, Substep};
use bytemuck::{Pod, Zeroable};

/// What is written out for a grid and a scene.
const SOURCE: &str = concat!(
    include_str!("../../../../kernels/trotter.wgsl"),
    include_str!("../../../../kernels/trotter_block.wgsl"),
);
const BINDINGS: [Binding; 6] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Write,
    Binding::Read,
    Binding::Read,
    Binding::Read,
];
/// Sites on every side that a step takes from what a tile can write.
const HALO: usize = 2;
/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    periodic: [i32; 2],
    steps: i32,
    unused: f32,
    interaction: [f32; 2],
    x_even: [f32; 2],
    x_odd: [f32; 2],
    x_odd_again: [f32; 2],
    x_even_again: [f32; 2],
    y_even: [f32; 2],
    y_odd: [f32; 2],
    y_even_again: [f32; 2],
    unused_too: [f32; 2],
}

/// The kernel, and what it is given for each sub-step and number of steps.
pub(super) struct Tiles {
    kernel: Kernel,
    /// At [sub-step][steps − 1], from the first plane into the second and back.
    launches: Vec<Vec<([Bind; 2], [usize; 3])>>,
}

impl Params {
    fn new(size: [usize; 3], periodic: [bool; 2], substep: &Substep, steps: usize, imaginary: bool) -> Self {
        let turn = |angle: f64| {
            let turn = Turn::<f32>::new(angle, imaginary);
            [turn.t, turn.s]
        };
        let [even, odd, again] = substep.angles.map(turn);
        let plain = Self {
            size: [whole(size[0]), whole(size[1])],
            periodic: periodic.map(i32::from),
            steps: whole(steps),
            x_even: even,
            x_odd: odd,
            x_even_again: again,
            y_even: even,
            y_odd: odd,
            y_even_again: again,
            ..Self::default()
        };
        match substep.outer.map(|angles| angles.map(turn)) {
            None => plain,
            Some([even, odd, odd_again, even_again]) => Self {
                x_even: even,
                x_odd: odd,
                x_odd_again: odd_again,
                x_even_again: even_again,
                ..plain
            },
        }
    }
}

impl Wgpu {
    /// The launches of a scheme.
    pub(super) fn tiles(&self, problem: &Problem, scheme: &Scheme, walls: bool) -> Result<Tiles, WgpuError> {
        let has = |there: bool| f64::from(u8::from(there));
        let constants = [
            ("WALLS", has(walls)),
            ("FLUX", has(problem.quantum.flux != 0.0)),
            ("IMAGINARY", has(scheme.imaginary)),
            ("INTERACTION", has(problem.phase_interaction() != 0.0)),
        ];
        let size = self.grid.size();
        let (rows, _) = tile(self.stream.device());
        #[expect(clippy::cast_possible_wrap, reason = "4 or 8")]
        let written = [
            ("ROWS", rows as i64),
            (
                "NESTED",
                i64::from(scheme.substeps.iter().any(|substep| substep.outer.is_some())),
            ),
            ("WIDE", i64::from(size[0].is_multiple_of(COLUMNS))),
            ("FLUX", i64::from(problem.quantum.flux != 0.0)),
        ];
        let name = format!("trotter_block {written:?}");
        let text = expanded(SOURCE, &written);
        let kernel = (self.stream.device()).kernel((&name, &text), "steps", &BINDINGS, &constants)?;
        let periodic = [0, 1].map(|axis| self.grid.is_periodic(axis));
        let launch = |substep: &Substep, steps: usize| -> Result<([Bind; 2], [usize; 3]), WgpuError> {
            #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
            let params = Params {
                interaction: substep.interaction(problem.phase_interaction()).map(|g| g as f32),
                ..Params::new(size, periodic, substep, steps, scheme.imaginary)
            };
            let params = self.stream.list("constants of the steps", &[params])?;
            let bind = |from: usize| {
                let table = &self.tables[substep.table];
                let buffers = [
                    &params,
                    &self.planes[from],
                    &self.planes[1 - from],
                    table,
                    &self.walls,
                    &self.gauge,
                ];
                let pairs: Vec<(Binding, &Buffer)> = BINDINGS.into_iter().zip(buffers).collect();
                self.stream.device().bind(&kernel, &pairs)
            };
            let halo = HALO * steps;
            let core = [ACROSS - 2 * halo.next_multiple_of(COLUMNS), DOWN * rows - 2 * halo];
            let blocks = [size[0].div_ceil(core[0]), size[1].div_ceil(core[1]), 1];
            Ok(([bind(0), bind(1)], blocks))
        };
        let launches = scheme.substeps.iter().map(|substep| {
            let of_steps = (1..=self.most).map(|steps| launch(substep, steps));
            of_steps.collect::<Result<Vec<_>, _>>()
        });
        Ok(Tiles {
            launches: launches.collect::<Result<_, _>>()?,
            kernel,
        })
    }

    /// `count` sub-steps from sub-step `first` on; like ones in a row go into one launch.
    pub(super) fn tiled(&mut self, scheme: &Scheme, first: usize, count: usize) {
        let all = scheme.substeps.len();
        let (mut at, mut left) = (first % all, count);
        while left > 0 {
            let substep = &scheme.substeps[at];
            let like = |n: &usize| substep.is_like(&scheme.substeps[(at + n) % all]);
            let steps = 1 + (1..left.min(self.most)).take_while(like).count();
            let Some(tiles) = &self.tiles else { return };
            let (binds, blocks) = &tiles.launches[at][steps - 1];
            let launched = self.attempt(|| self.stream.launch(&tiles.kernel, &binds[self.now], None, *blocks));
            if launched.is_none() {
                return;
            }
            self.now = 1 - self.now;
            (at, left) = ((at + steps) % all, left - steps);
        }
    }
}
