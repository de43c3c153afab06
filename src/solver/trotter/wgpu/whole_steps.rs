//! Launches of whole steps in a plane, of tiles (`tiles.rs`) or strips (`strips.rs`), and which of them are taken.

use super::shapes::{BINDINGS, Shape};
use super::{Wgpu, strips, tiles};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, WgpuError};
use crate::platform::Instant;
use crate::solver::adapter::whole;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::{Scheme, Substep, alone};
use bytemuck::{Pod, Zeroable};
use std::time::Duration;

/// Launches that are timed.
const TIMED: u32 = 4;

/// `Params` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Params {
    size: [i32; 2],
    periodic: [i32; 2],
    steps: i32,
    chunk: i32,
    interaction: [f32; 2],
    x_even: [f32; 2],
    x_odd: [f32; 2],
    x_odd_again: [f32; 2],
    x_even_again: [f32; 2],
    y_even: [f32; 2],
    y_odd: [f32; 2],
    y_even_again: [f32; 2],
    rest: [f32; 2],
}

impl Params {
    fn new(size: [usize; 3], periodic: [bool; 2], substep: &Substep, imaginary: bool) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
        let turn = |angle: f64| {
            let tangent = if imaginary { angle.tanh() } else { angle.tan() };
            [tangent, alone::<f32>(angle, imaginary)].map(|number| number as f32)
        };
        let [even, odd, again] = substep.angles.map(turn);
        let plain = Self {
            size: [whole(size[0]), whole(size[1])],
            periodic: periodic.map(i32::from),
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

/// The whole steps that are possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    /// The fastest.
    All,
    /// `fused` or `full-step`.
    Tiles,
    /// `strips`, where they can be.
    Strips,
}

/// A launch, from the first plane into the second and back.
struct Launch {
    kernel: Kernel,
    steps: usize,
    binds: [Bind; 2],
    blocks: [usize; 3],
}

/// Launches of each sub-step, those of most steps first.
pub(super) struct WholeSteps(Vec<Vec<Launch>>);

impl Wgpu {
    /// The launches of a scheme: the fastest ones of those that may be taken.
    pub(super) fn whole_steps(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        walls: bool,
    ) -> Result<WholeSteps, WgpuError> {
        let made = (self.stream.device(), self.grid.size(), self.most);
        let strips = match self.ways {
            Ways::All | Ways::Strips if !walls => strips::shapes(made, problem, scheme)?,
            _ => Vec::new(),
        };
        let only = self.ways == Ways::Strips && !strips.is_empty();
        let mut all = Vec::new();
        if !only {
            all.push(tiles::shapes(made, problem, scheme, walls)?);
        }
        all.extend(strips);
        let mut made = (all.into_iter())
            .map(|shapes| self.launches(problem, scheme, &shapes))
            .collect::<Result<Vec<_>, WgpuError>>()?;
        let place = match self.quickest.filter(|place| *place < made.len()) {
            Some(known) => known,
            None => self.quickest_of(&made)?,
        };
        self.quickest = Some(place);
        if self.ways != Ways::Tiles {
            self.variant = if only || place > 0 { "strips" } else { "fused" };
            self.because = (self.ways == Ways::Strips && !only).then_some(
                "strips are for planes of at least 24 rows without walls or flux inside, rows of a multiple of 4 sites and adapters with subgroups, these are tiles",
            );
        }
        Ok(made.swap_remove(place))
    }

    fn launches(&self, problem: &Problem, scheme: &Scheme, shapes: &[Shape]) -> Result<WholeSteps, WgpuError> {
        let size = self.grid.size();
        let periodic = [0, 1].map(|axis| self.grid.is_periodic(axis));
        let launch = |substep: &Substep, shape: &Shape| -> Result<Launch, WgpuError> {
            #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
            let params = Params {
                steps: whole(shape.steps),
                chunk: whole(shape.chunk),
                interaction: substep.interaction(problem.phase_interaction()).map(|g| g as f32),
                ..Params::new(size, periodic, substep, scheme.imaginary)
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
                self.stream.device().bind(&shape.kernel, &pairs)
            };
            Ok(Launch {
                kernel: shape.kernel.clone(),
                steps: shape.steps,
                binds: [bind(0), bind(1)],
                blocks: shape.blocks,
            })
        };
        let of_substep = |substep| shapes.iter().map(|shape| launch(substep, shape)).collect();
        let all: Result<Vec<Vec<Launch>>, WgpuError> = scheme.substeps.iter().map(of_substep).collect();
        all.map(WholeSteps)
    }

    /// Which of them take the least time a step. They write the plane that is not the field.
    fn quickest_of(&self, all: &[WholeSteps]) -> Result<usize, WgpuError> {
        let mut best = (Duration::MAX, 0);
        for (place, WholeSteps(launches)) in all.iter().enumerate().filter(|_| all.len() > 1) {
            let Some(launch) = launches.first().and_then(|launches| launches.first()) else {
                continue;
            };
            let put_in = || (self.stream).launch(&launch.kernel, &launch.binds[self.now], None, launch.blocks);
            // The first one waits for what the driver does once.
            put_in()?;
            self.stream.finish()?;
            let start = Instant::now();
            for _ in 0..TIMED {
                put_in()?;
            }
            self.stream.finish()?;
            let took = start.elapsed() / u32::try_from(launch.steps).unwrap_or(1);
            tracing::debug!("{} of {place}: {took:?} a step", launch.steps);
            if took < best.0 {
                best = (took, place);
            }
        }
        Ok(best.1)
    }

    /// `count` sub-steps from sub-step `first` on; like ones in a row go into one launch.
    pub(super) fn step(&mut self, scheme: &Scheme, first: usize, count: usize) {
        let all = scheme.substeps.len();
        let (mut at, mut left) = (first % all, count);
        while left > 0 {
            let substep = &scheme.substeps[at];
            let like = |n: &usize| substep.is_like(&scheme.substeps[(at + n) % all]);
            let steps = 1 + (1..left.min(self.most)).take_while(like).count();
            let Some(WholeSteps(launches)) = &self.whole_steps else {
                return;
            };
            let Some(launch) = launches[at].iter().find(|launch| launch.steps <= steps) else {
                return;
            };
            let steps = launch.steps;
            let launched =
                self.attempt(|| (self.stream).launch(&launch.kernel, &launch.binds[self.now], None, launch.blocks));
            if launched.is_none() {
                return;
            }
            self.now = 1 - self.now;
            (at, left) = ((at + steps) % all, left - steps);
        }
    }
}
