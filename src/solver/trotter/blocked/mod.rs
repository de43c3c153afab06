//! Variant `blocked`: several whole steps on a block that stays in cache (after Bederián and Dente 2011, section 4.6).
//!
//! Layout: planes re and im, x fastest, in place; phases c and s alike. See [`tile`] for the pipeline, [`kernel`] for the arithmetic and
//! its bound, [`tiling`](crate::solver::tiling) for halos and frames. Deviations from the paper: column pairing (halo 2 instead of 3 to 4
//! sites a step), six sweeps instead of eight, tan form, blocks streamed through a pipeline of row pairs instead of held whole, in place
//! with saved frames instead of two copies of the field.
//!
//! Memory: field 1, phases 1 (order 4: 2), frames 4n/width with n fused sub-steps, in copies of the field. A test holds it to 2.2 and a potential.
//! Bytes a site and pass (single): field 16, phases 8, divided by the fused steps.

mod bits;
mod columns;
mod frames;
mod kernel;
mod plan;
mod rows;
mod sums;
mod sums_in_memory;
mod tile;

use super::problem::Problem;
use super::recorder::Recorder;
use super::run::{Correction, RowChange, Sweeper};
use super::scheme::{Scheme, Substep, alone};
use crate::backend::memory::zeros;
use crate::backend::simd::Level;
use crate::backend::threads;
use crate::field::Real;
use crate::grid::Grid;
pub(super) use crate::solver::tiling::Plan;
use crate::solver::tiling::{Tiling, cut};
use bits::SiteBits;
use columns::{ACROSS, STREAM, Sweep, X};
use frames::Frames;
use num_complex::Complex;
pub(super) use plan::{Way, fastest};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
pub(super) use tile::Blockwise;
use tile::{Block, Pass, Scratch, Stage};

/// Numbers of a plane that a thread changes at once.
const PART: usize = 4096;

/// The field in planes.
pub(super) struct Blocked<T> {
    grid: Grid,
    plan: Plan,
    /// Sub-steps per pass at most.
    depth: usize,
    tiling: Tiling,
    frames: Frames<T>,
    field: [Vec<T>; 2],
    tables: Vec<[Vec<T>; 2]>,
    bits: Arc<SiteBits>,
    stages: Vec<Stage<T>>,
    peierls: Vec<(T, T)>,
    nested: bool,
    imaginary: bool,
    interaction: f64,
    /// Memory of blocks at work, per thread.
    scratch: Vec<Mutex<Scratch<T>>>,
}

impl<T: Blockwise> Blocked<T> {
    pub(super) fn new(grid: &Grid, plan: Plan, substeps: usize) -> Self {
        let depth = plan.fused * substeps;
        let tiling = cut(grid, &plan, depth);
        let plane = || zeros(tiling.stride * grid.rows());
        Self {
            field: [plane(), plane()],
            grid: grid.clone(),
            plan,
            depth,
            tiling,
            frames: Frames::default(),
            tables: Vec::new(),
            bits: Arc::default(),
            stages: Vec::new(),
            peierls: Vec::new(),
            nested: false,
            imaginary: false,
            interaction: 0.0,
            scratch: (0..threads::count()).map(|_| Mutex::default()).collect(),
        }
    }

    /// Other blocks; the field stays.
    fn set_plan(&mut self, plan: Plan) {
        self.depth = plan.fused * self.stages.len();
        self.tiling = cut(&self.grid, &plan, self.depth);
        self.plan = plan;
    }

    fn whole_steps(&self, steps: u64) -> Vec<Stage<T>> {
        (0..steps).flat_map(|_| self.stages.clone()).collect()
    }

    /// The level whose vectors blocks have ([`Blockwise::run`]).
    fn vectors(&self) -> Level {
        match self.plan.level {
            level @ (Level::Avx512 | Level::Avx2) => level,
            level if !Level::Portable.is_available() => level,
            _ => Level::Portable,
        }
    }

    /// Takes these stages in one pass over the grid; `recorder` sees the field after every whole step.
    fn pass(&mut self, stages: &[Stage<T>], recorder: Option<&Recorder<T>>) {
        let halo = 2 * stages.len();
        let [re, im] = &mut self.field;
        self.frames.take(&self.tiling, halo, [re.as_slice(), im.as_slice()]);
        let pass = Pass {
            tiling: &self.tiling,
            frames: &self.frames,
            field: [re.as_mut_ptr(), im.as_mut_ptr()],
            tables: &self.tables,
            bits: &self.bits,
            stages,
            peierls: &self.peierls,
            rank: self.grid.rank(),
            nested: self.nested,
            imaginary: self.imaginary,
            interacts: self.interaction != 0.0,
            substeps: self.stages.len(),
            recorder,
        };
        let (x, across, stream) = (
            &self.tiling.x.spans,
            &self.tiling.across.spans,
            &self.tiling.stream.spans,
        );
        let blocks: Vec<Block> = (stream.iter())
            .flat_map(|stream| {
                (across.iter()).flat_map(move |across| x.iter().map(move |x| Block { x, across, stream }))
            })
            .collect();
        let (level, scratch) = (self.plan.level, &self.scratch);
        blocks.par_iter().with_max_len(1).for_each(|block| {
            // One scratch a thread, so nobody waits here.
            let place = rayon::current_thread_index().unwrap_or(0) % scratch.len();
            let mut scratch = scratch[place].lock().unwrap_or_else(PoisonError::into_inner);
            T::run(level, &pass, block, &mut scratch);
        });
    }
}

impl<T: Real> Stage<T> {
    fn new(substep: &Substep, rank: usize, imaginary: bool, interaction: f64) -> Self {
        let sweep = |angle: f64| Sweep::new(angle, imaginary);
        let stream = substep.angles.map(sweep);
        let (before, after) = match substep.outer {
            Some([e, o, o_after, e_after]) if rank > 1 => (
                [sweep(e), sweep(o), sweep(0.0)],
                [sweep(0.0), sweep(o_after), sweep(e_after)],
            ),
            _ => (stream, [sweep(0.0); 3]),
        };
        Self {
            before,
            after,
            stream,
            table: substep.table,
            interaction: substep.interaction(interaction).map(T::of),
        }
    }
}

impl<T: Blockwise> Sweeper<T> for Blocked<T> {
    fn variant(&self) -> &'static str {
        "blocked"
    }

    fn details(&self) -> String {
        let rank = self.grid.rank();
        let spans = [&self.tiling.x, &self.tiling.across, &self.tiling.stream];
        let axes: &[usize] = match rank {
            1 => &[0],
            2 => &[0, 2],
            _ => &[0, 1, 2],
        };
        let sizes: Vec<String> = (axes.iter())
            .map(|&axis| spans[axis].spans[0].len(2 * self.depth).to_string())
            .collect();
        format!(
            "block {}, {} fused steps, {}",
            sizes.join(" × "),
            self.plan.fused,
            self.plan.level.title()
        )
    }

    fn memory(&self) -> usize {
        let planes = 2 + 2 * self.tables.len();
        planes * self.field[0].len() * size_of::<T>()
            + self.frames.memory()
            + self.bits.sites.as_ref().map_or(0, Vec::len)
    }

    fn tan_form(&self) -> bool {
        true
    }

    /// 1/cos of sites without partner is rounded like everything else, the same way in every step: up to 6e-8 a sweep at the
    /// grid's edge and along walls. The phases there take it back.
    fn corrections(&self, scheme: &Scheme) -> Option<Correction> {
        let mut missing: Vec<(u8, f64)> = Vec::new();
        let rank = self.grid.rank();
        let mut add = |partner: u8, angle: f64| {
            let exact = alone::<T>(angle, scheme.imaginary);
            missing.push((partner, exact / T::of(exact).wide()));
        };
        let axes: &[[u8; 2]] = match rank {
            1 => &[X],
            2 => &[X, STREAM],
            _ => &[X, ACROSS, STREAM],
        };
        for substep in &scheme.substeps {
            for (axis, partner) in axes.iter().enumerate() {
                match substep.outer {
                    Some([e, o, o_after, e_after]) if axis + 1 < rank => {
                        for (odd, angle) in [(0, e), (1, o), (1, o_after), (0, e_after)] {
                            add(partner[odd], angle);
                        }
                    }
                    _ => {
                        let [e, o, e_after] = substep.angles;
                        for (odd, angle) in [(0, e), (1, o), (0, e_after)] {
                            add(partner[odd], angle);
                        }
                    }
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "1 or 5")]
        let share = 1.0 / scheme.substeps.len() as f64;
        let of_bits: Vec<f64> = (0..=u8::MAX)
            .map(|site| {
                let without = missing.iter().filter(|(partner, _)| site & partner == 0);
                without.map(|(_, factor)| factor).product::<f64>().powf(share)
            })
            .collect();
        let bits = Arc::clone(&self.bits);
        let (across, stride) = (self.tiling.across.sites, self.tiling.stride);
        Some(Box::new(move |row, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let site = bits.sites.as_ref().map_or_else(
                    || bits.x[i] & bits.across[row % across] & bits.stream[row / across],
                    |sites| sites[row * stride + i],
                );
                *out = of_bits[usize::from(site)];
            }
        }))
    }

    fn prepare(&mut self, problem: &Problem, scheme: &Scheme, walls: Option<&[bool]>) {
        let numbers = self.field[0].len();
        self.tables
            .resize_with(scheme.tables.len(), || [zeros(numbers), zeros(numbers)]);
        self.bits = Arc::new(SiteBits::new(&self.grid, walls, self.tiling.stride));
        self.imaginary = scheme.imaginary;
        self.interaction = problem.phase_interaction();
        let rank = self.grid.rank();
        self.nested = rank > 1 && scheme.substeps[0].outer.is_some();
        self.stages = (scheme.substeps.iter())
            .map(|substep| Stage::new(substep, rank, self.imaginary, self.interaction))
            .collect();
        self.peierls.clear();
        if problem.quantum.flux != 0.0 {
            self.peierls.extend((0..self.grid.size()[1]).map(|y| {
                #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
                let (sin, cos) =
                    (std::f64::consts::TAU * problem.quantum.flux * self.grid.global(1, y) as f64).sin_cos();
                (T::of(cos), T::of(sin))
            }));
        }
    }

    fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let sites = row * self.tiling.stride + x.start..row * self.tiling.stride + x.end;
        let [re, im] = &self.field;
        for (out, (re, im)) in out.iter_mut().zip(re[sites.clone()].iter().zip(&im[sites])) {
            *out = Complex::new(*re, *im);
        }
    }

    fn scale(&mut self, factor: T) {
        for plane in &mut self.field {
            let parts = plane.par_chunks_mut(PART);
            parts.for_each(|part| part.iter_mut().for_each(|value| *value *= factor));
        }
    }

    fn change(&mut self, change: RowChange<T>) {
        let nx = self.grid.size()[0];
        change_planes(&mut self.field, nx, self.tiling.stride, &|_| true, change);
    }

    fn write(&mut self, row: usize, x: usize, values: &[Complex<T>]) {
        let start = row * self.tiling.stride + x;
        let [re, im] = &mut self.field;
        for (n, value) in values.iter().enumerate() {
            (re[start + n], im[start + n]) = (value.re, value.im);
        }
    }

    fn fill_table(&mut self, table: usize, touched: &(dyn Fn(usize) -> bool + Sync), fill: RowChange<T>) {
        let nx = self.grid.size()[0];
        change_planes(&mut self.tables[table], nx, self.tiling.stride, touched, fill);
    }

    fn apply_table(&mut self, table: usize) {
        let [c, s] = &self.tables[table];
        let stride = self.tiling.stride;
        let [re, im] = &mut self.field;
        (re.par_chunks_mut(stride).zip(im.par_chunks_mut(stride)).enumerate()).for_each(|(row, (re, im))| {
            let at = row * stride;
            for (i, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let value = Complex::new(*re, *im) * Complex::new(c[at + i], s[at + i]);
                (*re, *im) = (value.re, value.im);
            }
        });
    }

    fn substep(&mut self, _scheme: &Scheme, i: usize) {
        let stage = [self.stages[i].clone()];
        self.pass(&stage, None);
    }

    fn steps(&mut self, _scheme: &Scheme, steps: u64) {
        let mut left = steps;
        while left > 0 {
            let count = left.min(self.plan.fused as u64);
            self.pass(&self.whole_steps(count), None);
            left -= count;
        }
    }

    fn fused(&self) -> usize {
        self.plan.fused
    }

    fn recorded(&mut self, _scheme: &Scheme, steps: u64, recorder: &Recorder<T>) {
        self.pass(&self.whole_steps(steps), Some(recorder));
        self.add_whole(
            usize::try_from(steps).map_or(0, |steps| steps.saturating_sub(1)),
            recorder,
        );
    }

    fn whole_lanes(&self) -> Option<usize> {
        let plain = self.grid.rank() == 2 && self.peierls.is_empty() && !self.imaginary && self.interaction == 0.0;
        plain.then(|| self.vectors().lanes::<T>())
    }

    fn add_whole(&self, step: usize, recorder: &Recorder<T>) {
        if let Some(sums) = recorder.whole().filter(|sums| sums.is_due(step)) {
            let [re, im] = &self.field;
            sums_in_memory::add_field(sums, step, ([re, im], self.tiling.stride), self.vectors());
        }
    }
}

/// Changes rows of two planes in parallel, through complex rows.
fn change_planes<T: Real>(
    planes: &mut [Vec<T>; 2],
    nx: usize,
    stride: usize,
    touched: &(dyn Fn(usize) -> bool + Sync),
    change: RowChange<T>,
) {
    let [re, im] = planes;
    (re.par_chunks_mut(stride).zip(im.par_chunks_mut(stride)).enumerate())
        .with_min_len((PART / nx).max(1))
        .filter(|(row, _)| touched(*row))
        .for_each_init(
            || vec![Complex::default(); nx],
            |sites, (row, (re, im))| {
                for (site, (re, im)) in sites.iter_mut().zip(re.iter().zip(im.iter())) {
                    *site = Complex::new(*re, *im);
                }
                change(row, sites);
                for (site, (re, im)) in sites.iter().zip(re.iter_mut().zip(im)) {
                    (*re, *im) = (site.re, site.im);
                }
            },
        );
}
