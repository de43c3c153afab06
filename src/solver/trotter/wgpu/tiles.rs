//! Whole steps of tiles in workgroup memory (`kernels/trotter_tile.wgsl`).

use super::Wgpu;
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, WgpuError};
use crate::solver::trotter::naive::Turn;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::{Scheme, Substep};
use bytemuck::{Pod, Zeroable};

const SOURCE: (&str, &str) = ("trotter_tile", include_str!("../../../../kernels/trotter_tile.wgsl"));
const BINDINGS: [Binding; 6] = [
    Binding::Uniform,
    Binding::Read,
    Binding::Write,
    Binding::Read,
    Binding::Read,
    Binding::Read,
];
/// Sites of a tile: 16 KiB, which every adapter has.
const TILE: [usize; 2] = [64, 32];
/// Sites on every side that a step takes from what a tile can write.
const HALO: usize = 2;
/// Steps of a launch where the scene does not say; with more, the halo costs more than memory traffic.
pub(super) const STEPS: usize = 2;
/// With more there is little left of a tile: at 6, 40 × 8 sites.
pub(super) const MOST_STEPS: usize = 6;

/// `Params` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    periodic: [i32; 2],
    steps: i32,
    nested: i32,
    interaction: f32,
    unused: f32,
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
        let whole = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
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
                nested: 1,
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
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let constants = [
            ("W", TILE[0] as f64),
            ("H", TILE[1] as f64),
            ("WALLS", has(walls)),
            ("FLUX", has(problem.quantum.flux != 0.0)),
            ("IMAGINARY", has(scheme.imaginary)),
            ("INTERACTION", has(problem.phase_interaction() != 0.0)),
        ];
        let kernel = self.stream.device().kernel(SOURCE, "steps", &BINDINGS, &constants)?;
        let size = self.grid.size();
        let periodic = [0, 1].map(|axis| self.grid.is_periodic(axis));
        let launch = |substep: &Substep, steps: usize| -> Result<([Bind; 2], [usize; 3]), WgpuError> {
            #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
            let params = Params {
                interaction: substep.interaction(problem.phase_interaction()) as f32,
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
            let core = TILE.map(|sites| sites - 2 * HALO * steps);
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
