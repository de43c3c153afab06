//! Launches of `kernels/trotter_sweeps.wgsl`, prepared once and queued in every step.

use super::Wgpu;
use super::looks::SOURCE;
use crate::backend::wgpu::Binding::{Read, Uniform, Write};
use crate::backend::wgpu::{Bind, Binding, Buffer, Kernel, WgpuError};
use crate::solver::adapter::{Launches, blocks, put_in, unsigned, whole};
use crate::solver::trotter::naive::Turn;
use crate::solver::trotter::problem::Problem;
use crate::solver::trotter::scheme::{Scheme, Sweep};
use bytemuck::{Pod, Zeroable};
use num_complex::Complex;

const TURN: [Binding; 5] = [Uniform, Write, Read, Read, Read];
/// Threads of a block of all kernels but `turn`.
const THREADS: usize = 256;

/// `Sweep` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Turned {
    size: [i32; 3],
    axis: i32,
    odd: i32,
    pairs: i32,
    rows_y: i32,
    t: f32,
    s: f32,
    rest: [u32; 3],
}

/// `Phases` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Phases {
    count: u32,
    interaction: [f32; 2],
    rest: u32,
}

impl Wgpu {
    /// Constants, walls and launches of a scheme.
    pub(super) fn take_over(
        &mut self,
        problem: &Problem,
        scheme: &Scheme,
        walls: Option<&[bool]>,
    ) -> Result<(), WgpuError> {
        self.looks.prepare(problem);
        let (stream, sites) = (&self.stream, self.grid.sites());
        while self.tables.len() < scheme.tables.len() {
            self.tables.push(stream.zeros::<Complex<f32>>("phases", sites)?);
        }
        self.tables.truncate(scheme.tables.len());
        let drives = !problem.medium.drives().is_empty() || problem.has_mean_field();
        self.driven = drives.then(|| vec![vec![Complex::default(); sites]; scheme.tables.len()]);
        let mut bits = vec![0u32; walls.map_or(0, |walls| walls.len().div_ceil(32))];
        for (site, _) in walls.into_iter().flatten().enumerate().filter(|(_, wall)| **wall) {
            bits[site / 32] |= 1 << (site % 32);
        }
        self.walls = stream.list("walls", &bits)?;
        self.gauge = stream.list("bond phases", &problem.peierls::<f32>())?;
        let has = |there: bool| f64::from(u8::from(there));
        let turn = |flux: bool| {
            let constants = [
                ("WALLS", has(walls.is_some())),
                ("FLUX", has(flux)),
                ("IMAGINARY", has(scheme.imaginary)),
            ];
            stream.device().kernel(SOURCE, "turn", &TURN, &constants)
        };
        let mut substeps = Vec::new();
        if self.most == 0 {
            let (along_x, others) = (turn(problem.quantum.flux != 0.0)?, turn(false)?);
            for substep in &scheme.substeps {
                let mut launches = Vec::new();
                for sweep in substep.sweeps(self.grid.rank()) {
                    let kernel = if sweep.axis == 0 { &along_x } else { &others };
                    launches.extend(self.sweep(kernel, &sweep, scheme.imaginary)?);
                }
                let interaction = substep.interaction(problem.phase_interaction());
                launches.push(self.product(0, substep.table, interaction)?);
                substeps.push(launches);
            }
        }
        let products = |plane: usize| -> Result<Vec<Launches>, WgpuError> {
            (0..self.tables.len())
                .map(|table| Ok(vec![self.product(plane, table, [0.0; 2])?]))
                .collect()
        };
        let products = [products(0)?, if self.most > 0 { products(1)? } else { Vec::new() }];
        (self.products, self.substeps) = (products, substeps);
        self.whole_steps = (self.most > 0)
            .then(|| self.whole_steps(problem, scheme, walls.is_some()))
            .transpose()?;
        Ok(())
    }

    /// Every bond of one parity along an axis; nothing where there is none.
    fn sweep(&self, kernel: &Kernel, sweep: &Sweep, imaginary: bool) -> Result<Launches, WgpuError> {
        let size = self.grid.size();
        let [nx, ny, nz] = size;
        let (n, odd) = (size[sweep.axis], usize::from(sweep.odd));
        let wraps = sweep.odd && self.grid.is_periodic(sweep.axis);
        let pairs = n.saturating_sub(odd) / 2 + usize::from(wraps);
        if pairs == 0 {
            return Ok(Vec::new());
        }
        let (columns, rows) = match sweep.axis {
            0 => (pairs, ny * nz),
            1 => (nx, pairs * nz),
            _ => (nx, ny * pairs),
        };
        let blocks = blocks(self.stream.device(), [columns, rows]);
        let turn = Turn::<f32>::new(sweep.angle, imaginary);
        let constants = Turned {
            size: size.map(whole),
            axis: whole(sweep.axis),
            odd: whole(odd),
            pairs: whole(pairs),
            rows_y: whole(blocks[1]),
            t: turn.t,
            s: turn.s,
            rest: [0; 3],
        };
        let constants = self.stream.list("constants of a sweep", &[constants])?;
        let bind = self.bind(kernel, &constants, &self.planes[0], &self.walls);
        Ok(vec![(kernel.clone(), bind, blocks)])
    }

    /// A plane times a table, and the interaction's phase.
    fn product(
        &self,
        plane: usize,
        table: usize,
        interaction: [f64; 2],
    ) -> Result<(Kernel, Bind, [usize; 3]), WgpuError> {
        let constants = [("INTERACTION", f64::from(u8::from(interaction[0] != 0.0)))];
        let kernel = self.stream.device().kernel(SOURCE, "multiply", &TURN, &constants)?;
        let sites = self.grid.sites();
        #[expect(clippy::cast_possible_truncation, reason = "rounded to the precision of the run")]
        let constants = Phases {
            count: unsigned(sites),
            interaction: interaction.map(|g| g as f32),
            rest: 0,
        };
        let constants = self.stream.list("constants of the phases", &[constants])?;
        let bind = self.bind(&kernel, &constants, &self.planes[plane], &self.tables[table]);
        Ok((kernel, bind, [sites.div_ceil(THREADS), 1, 1]))
    }

    /// `third`: the table of a product; a sweep reads none.
    fn bind(&self, kernel: &Kernel, constants: &Buffer, plane: &Buffer, third: &Buffer) -> Bind {
        let buffers = [constants, plane, third, &self.walls, &self.gauge];
        let pairs: Vec<(Binding, &Buffer)> = TURN.into_iter().zip(buffers).collect();
        self.stream.device().bind(kernel, &pairs)
    }

    /// Queues launches.
    pub(super) fn put_in(&self, launches: &Launches) {
        self.attempt(|| put_in(&self.stream, launches));
    }
}
