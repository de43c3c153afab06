//! One step of rows, in place over the older level, and a sweep of such over the whole grid.
//!
//! A row is the unit of work of every variant: whatever order rows and steps come in, [`Sweep::rows`] does the same operations on the same
//! numbers, so that all variants agree to the bit.

use super::absorb::{AbsorbKernel, absorb_kernel};
use super::blocks::{Block, blocks, most_planes};
use super::bundle::{BundleKernels, Bundles, bundle_kernels};
use super::cpml::Layer;
use super::lattice::{Ghost, Lattice, Mirror};
use super::material::Material;
use super::share::{Shared, View};
use super::sites::Acts;
use super::stage::{Memory, Mode, Part, Scratch, Stage, Watched};
use super::stencil::{Kernel, Rows, kernel};
use super::walls::Walls;
use crate::backend::simd::Vectors;
use crate::backend::threads;
use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// The fixed part of a run: all that a step reads besides the two levels.
pub struct Sweep<T> {
    /// Rows in memory.
    pub lattice: Lattice,
    /// λ², density, damping.
    pub material: Material<T>,
    /// One value a site, x fastest; empty where there are no walls.
    pub mask: Vec<bool>,
    /// Walls and what is beside them.
    pub walls: Walls,
    pub(super) kernel: Kernel<T>,
    bundle_kernels: BundleKernels<T>,
    pub(super) absorb_kernel: AbsorbKernel<T>,
    zero: Vec<T>,
    blocks: Vec<Block>,
    /// How each row is stepped.
    ways: Vec<Way>,
    /// Where the ghosts of a row come from.
    mirrors: Vec<Mirror>,
}

impl<T: Real> Sweep<T> {
    /// A sweep over `lattice`.
    pub fn new(lattice: Lattice, material: Material<T>, mask: Vec<bool>, walls: Walls) -> Self
    where
        T: Vectors,
    {
        let blocks = blocks(&lattice, size_of::<T>(), threads::count());
        let ways = ways(&lattice, &material);
        Self {
            kernel: kernel(lattice.half, lattice.rank),
            bundle_kernels: bundle_kernels(lattice.half, lattice.rank),
            absorb_kernel: absorb_kernel(lattice.half),
            zero: vec![T::zero(); lattice.stride],
            blocks,
            ways,
            mirrors: lattice.mirrors(true),
            lattice,
            material,
            mask,
            walls,
        }
    }

    /// Rows of a block, for the report.
    pub fn block_rows(&self) -> usize {
        self.blocks.first().map_or(0, |block| block.y.len())
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.material.bytes() + self.walls.bytes() + (self.mask.len() + self.ways.len()) as u64
    }

    /// Steps: `old` holds pⁿ⁻¹ and gets what `mode` says; `now` is pⁿ, with ghosts along x filled. To be called in the pool.
    pub(super) fn run(
        &self,
        now: &[T],
        old: &mut [T],
        layers: &mut [Layer<T>],
        watched: Watched<'_, T>,
        mode: Mode<T>,
        acts: &Acts<T>,
    ) {
        let now = View::of(now);
        let memories = if matches!(mode, Mode::Step) {
            Memory::of(layers)
        } else {
            Vec::new()
        };
        let stage = Stage {
            now,
            old: Shared::new(old),
            mode,
            memories: &memories,
            acts,
            visited: &[],
            watched,
            keeper: None,
        };
        let scratch = || Scratch::new(&self.lattice);
        let work = |scratch: &mut Scratch<T>, block: &Block| {
            let mut k = block.z.start;
            while k < block.z.end {
                let part = Part {
                    first: [block.y.start, k],
                    along: 1,
                    count: block.y.len(),
                    planes: self.planes(block.z.end - k),
                };
                let ahead = self.rows_ahead(&stage, part, std::mem::take(&mut scratch.ahead));
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: every row belongs to one block, and a block to one task; nobody writes pⁿ.
                unsafe {
                    self.rows(&stage, part, &ahead, scratch);
                };
                scratch.ahead = ahead;
                k += part.planes;
            }
        };
        if let [block] = &self.blocks[..] {
            work(&mut scratch(), block);
        } else {
            self.blocks.par_iter().for_each_init(scratch, work);
        }
    }

    /// Planes to bundle where `left` are left.
    fn planes(&self, left: usize) -> usize {
        let most = most_planes(&self.lattice);
        [4, 2].into_iter().find(|n| *n <= most.min(left)).unwrap_or(1)
    }

    /// The rows that the bundles of a part of a plane-by-plane sweep read for the first time, each bundle those of the next: the last planes of pⁿ that the
    /// stencil reaches, and what it is written over.
    fn rows_ahead(&self, stage: &Stage<'_, T>, part: Part, mut ahead: Vec<*const T>) -> Vec<*const T> {
        ahead.clear();
        let [_, ny, nz] = self.lattice.size;
        if nz == 1 {
            return ahead;
        }
        let [j, k] = part.first;
        for j in (j..j + part.count).map(|j| (j + 1).min(ny - 1)) {
            for k in k..k + part.planes {
                let (far, own) = (j + ny * (k + self.lattice.half).min(nz - 1), j + ny * k);
                ahead.push(stage.now.place(self.lattice.sites(far).start));
                ahead.push(stage.old.place(self.lattice.sites(own).start));
            }
        }
        ahead
    }

    /// Steps the rows of a part, with their ghosts and all that happens in them, and asks for the rows `ahead` meanwhile.
    ///
    /// # Safety
    /// Nobody else may touch these rows of `stage.old`, nor write the rows of `stage.now` within reach of the stencil or the memories of the absorbing
    /// layers that they read.
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn rows(&self, stage: &Stage<'_, T>, part: Part, ahead: &[*const T], scratch: &mut Scratch<T>) {
        let ny = self.lattice.size[1];
        let Part {
            first,
            along,
            count,
            planes,
        } = part;
        let step = if along == 1 { 1 } else { ny };
        let start = first[0] + ny * first[1];
        let share = ahead.len().div_ceil(count.max(1));
        let way = |row: usize| match stage.mode {
            Mode::Step => self.ways[row],
            Mode::Combine { .. } => Way::Alone,
        };
        let mut n = 0;
        while n < count {
            let own = way(start + n * step);
            let alike = |n: &usize| (0..planes).all(|b| way(start + n * step + b * ny) == own);
            let run = (n..count).take_while(alike).count();
            if run > 0 && own != Way::Alone {
                let ahead = &ahead[(n * share).min(ahead.len())..((n + run) * share).min(ahead.len())];
                // SAFETY: the caller's promise.
                unsafe { self.run_of_rows(stage, own, (start + n * step, step), [run, planes], ahead, scratch) };
                n += run;
                continue;
            }
            for b in 0..planes {
                let row = start + n * step + b * ny;
                if way(row) == Way::Alone {
                    // SAFETY: the caller's promise.
                    let span = unsafe { stage.old.slice(self.lattice.span(row)) };
                    self.row(stage, span, [row % ny, row / ny], scratch);
                    self.visit(stage, row, span);
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { self.run_of_rows(stage, way(row), (row, step), [1, 1], &[], scratch) };
                }
            }
            n += 1;
        }
    }

    /// Rows inside the grid that are stepped alike: `count` of them from row `start` on, `step` apart, in each of `planes` planes.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    unsafe fn run_of_rows(
        &self,
        stage: &Stage<'_, T>,
        way: Way,
        (start, step): (usize, usize),
        [count, planes]: [usize; 2],
        ahead: &[*const T],
        scratch: &mut Scratch<T>,
    ) {
        let lattice = &self.lattice;
        let [nx, ny, _] = lattice.size;
        let rows = || (0..planes).flat_map(|b| (0..count).map(move |n| start + n * step + b * ny));
        let walls = || {
            let rows = if self.walls.is_empty() { None } else { Some(rows()) };
            rows.into_iter().flatten().filter(|row| self.walls.concern(*row))
        };
        scratch.clear();
        for row in walls() {
            // SAFETY: the caller's promise.
            let before = unsafe { stage.old.slice(lattice.sites(row)) };
            self.step_beside(stage, [row % ny, row / ny], before, scratch);
        }
        let [low, high] = stage.ends();
        let middle = low.end..high.start.min(nx);
        let boxed = way != Way::Plain;
        if !boxed {
            self.plain_run(stage, (start, step), [count, planes], middle.clone(), ahead);
        }
        if boxed || middle.len() < nx {
            for b in 0..planes {
                let row = start + b * ny;
                let at = [row % ny, row / ny];
                let along = (if step == 1 { 1 } else { 2 }, count);
                // SAFETY: the caller's promise.
                unsafe {
                    self.boxes(stage, at, along, low.clone());
                    if boxed {
                        self.boxes(stage, at, along, middle.clone());
                    }
                    self.boxes(stage, at, along, high.start.min(nx)..high.end.min(nx));
                }
            }
        }
        let mut stepped = 0;
        for row in walls() {
            // SAFETY: the caller's promise.
            let sites = unsafe { stage.old.slice(lattice.sites(row)) };
            stepped += self.walls.put(row, &scratch.beside[stepped..], sites);
        }
        scratch.put_kept(stage.memories);
        let mirrored = !boxed && middle.len() == nx;
        let quiet = stage.watched.is_empty() && rows().all(|row| !stage.visits(row));
        if mirrored && quiet && self.walls.is_empty() {
            return;
        }
        for row in rows() {
            // SAFETY: the caller's promise.
            let span = unsafe { stage.old.slice(lattice.span(row)) };
            if !mirrored || self.walls.concern(row) {
                self.fill_ghosts(span);
            }
            if !quiet {
                self.visit(stage, row, span);
            }
        }
    }

    /// Sites `inside` of bundles of rows that take the kernel alone.
    fn plain_run(
        &self,
        stage: &Stage<'_, T>,
        (start, step): (usize, usize),
        [count, planes]: [usize; 2],
        inside: Range<usize>,
        ahead: &[*const T],
    ) {
        if inside.is_empty() {
            return;
        }
        let lattice = &self.lattice;
        let ny = lattice.size[1];
        let last = start + (count - 1) * step + (planes - 1) * ny;
        let stride = lattice.stride;
        let reach = lattice.half * [0, 1, ny][lattice.rank - 1];
        // Whole vectors lie before and behind the sites.
        let (lowest, highest) = (lattice.sites(start - reach.min(start)), lattice.sites(last + reach));
        let read = lowest.start - Lattice::FRONT..highest.end + Lattice::FRONT;
        let begin = lattice.sites(start).start + inside.start;
        let squares =
            (!self.material.squares.is_empty()).then(|| self.material.squares[begin..lattice.sites(last).end].as_ptr());
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: `read` covers all that the stencil reaches from plain rows, which are inside the grid; the rest is the promise of `rows`.
        unsafe {
            let now = stage.now.pointer(read, begin);
            let out = stage
                .old
                .pointer(lattice.span(start).start..lattice.span(last).end, begin);
            self.bundle_kernels[planes.ilog2() as usize](&Bundles {
                now,
                out,
                squares,
                square: self.material.square,
                y: stride,
                z: stride * ny,
                sites: inside.len(),
                count,
                step: step * stride,
                mirrors: if inside.len() == lattice.size[0] {
                    &self.mirrors
                } else {
                    &[]
                },
                ahead,
            });
        }
    }

    /// What happens at single sites of a row that was just stepped.
    fn visit(&self, stage: &Stage<'_, T>, row: usize, span: &mut [T]) {
        let half = self.lattice.half;
        let visited = stage.visits(row);
        if visited {
            let n = span.len();
            if stage.acts.apply(row, &mut span[half..n - half]) {
                self.fill_ghosts(span);
            }
        }
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: the row belongs to this task, as in the older level.
        let potential = unsafe { stage.watched.take(self.lattice.span(row), span) };
        if let Some((keeper, level)) = stage.keeper.filter(|_| visited) {
            keeper.keep(row, level, half, span, potential);
        }
    }

    /// The ghosts of a row of the pressure.
    fn fill_ghosts(&self, span: &mut [T]) {
        for mirror in &self.mirrors {
            mirror.apply(span);
        }
    }

    /// One row, with its ghosts.
    fn row(&self, stage: &Stage<'_, T>, span: &mut [T], [j, k]: [usize; 2], scratch: &mut Scratch<T>) {
        let lattice = &self.lattice;
        let (nx, half) = (lattice.size[0], lattice.half);
        let row = j + lattice.size[1] * k;
        let (now, mode) = (stage.now, stage.mode);
        let damping = match mode {
            Mode::Combine { damped: false, .. } => None,
            _ => self.material.damping(lattice, row),
        };
        if damping.is_some() || matches!(mode, Mode::Combine { .. }) {
            scratch.before.copy_from_slice(&span[half..half + nx]);
        }
        scratch.clear();
        self.step_beside(stage, [j, k], &span[half..half + nx], scratch);
        self.negate_ghosts(now, j, k, &mut scratch.negative);
        self.stretches(stage, span, [j, k], &scratch.negative);
        let sites = &mut span[half..half + nx];
        self.walls.put(row, &scratch.beside, sites);
        scratch.put_kept(stage.memories);
        if let Some(damping) = damping {
            let here = now.slice(lattice.sites(row));
            for (((new, before), rate), here) in sites.iter_mut().zip(&scratch.before).zip(damping).zip(here) {
                *new = *here + ((*new - *here) - *rate * (*here - *before)) / (T::one() + *rate);
            }
        }
        if let Mode::Combine {
            weights: [w0, w1, w2], ..
        } = mode
            && (w1, w2) != (T::zero(), T::zero())
        {
            let here = now.slice(lattice.sites(row));
            for ((new, here), before) in sites.iter_mut().zip(here).zip(&scratch.before) {
                *new = *here + (w0 * (*new - *here) + w2 * (*before - *here));
            }
        }
        self.fill_ghosts(span);
    }

    /// Collects −p of rows that an odd mirror puts beyond a soft edge, in the order in which `neighbours` wants them.
    fn negate_ghosts(&self, now: View<'_, T>, j: usize, k: usize, negative: &mut Vec<T>) {
        negative.clear();
        self.for_each_neighbour(j, k, |_, _, _, ghost| {
            if let Ghost::Negative(other) = ghost {
                negative.extend(now.slice(self.lattice.sites(other)).iter().map(|value| -*value));
            }
        });
    }

    fn for_each_neighbour(&self, j: usize, k: usize, mut visit: impl FnMut(usize, usize, usize, Ghost)) {
        for axis in 1..self.lattice.rank {
            for distance in 1..=self.lattice.half {
                for (side, offset) in [-distance.cast_signed(), distance.cast_signed()]
                    .into_iter()
                    .enumerate()
                {
                    visit(axis, distance - 1, side, self.lattice.neighbour_row(j, k, axis, offset));
                }
            }
        }
    }

    pub(super) fn neighbours<'a>(&'a self, now: View<'a, T>, j: usize, k: usize, negative: &'a [T]) -> Rows<'a, T> {
        let nx = self.lattice.size[0];
        let mut rows = Rows {
            x: now.slice(self.lattice.span(j + self.lattice.size[1] * k)),
            y: [[&self.zero[..nx]; 2]; 4],
            z: [[&self.zero[..nx]; 2]; 4],
        };
        let mut negatives = negative.chunks_exact(nx);
        self.for_each_neighbour(j, k, |axis, distance, side, ghost| {
            let row = match ghost {
                Ghost::Same(other) => now.slice(self.lattice.sites(other)),
                Ghost::Negative(_) => negatives.next().unwrap_or(&self.zero[..nx]),
                Ghost::Zero => &self.zero[..nx],
            };
            let rows = if axis == 1 { &mut rows.y } else { &mut rows.z };
            rows[distance][side] = row;
        });
        rows
    }

    /// The density around a row; beyond soft edges it is the last site's, so that the face has the density of the edge.
    pub(super) fn density_rows(&self, j: usize, k: usize) -> Rows<'_, T> {
        let density = &self.material.density;
        let row = j + self.lattice.size[1] * k;
        let own = self.lattice.row(density, row);
        let mut rows = Rows {
            x: self.lattice.row_with_ghosts(density, row),
            y: [[own; 2]; 4],
            z: [[own; 2]; 4],
        };
        self.for_each_neighbour(j, k, |axis, distance, side, ghost| {
            if let Ghost::Same(other) = ghost {
                let rows = if axis == 1 { &mut rows.y } else { &mut rows.z };
                rows[distance][side] = self.lattice.row(density, other);
            }
        });
        rows
    }
}

/// How a row is stepped. Rows beside one another that are stepped alike are stepped together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By itself: at the grid's edges, or damped.
    Alone,
    /// By the kernel of bundles, but for its ends in layers along x.
    Plain,
    /// By that of boxes: whether it lies in layers along y and z. Neither, where the density differs from site to site.
    Boxed([bool; 2]),
}

/// How the rows of a grid are stepped.
fn ways<T: Real>(lattice: &Lattice, material: &Material<T>) -> Vec<Way> {
    let half = lattice.half;
    (0..lattice.rows())
        .map(|row| {
            let at = [0, row % lattice.size[1], row / lattice.size[1]];
            let between = |axis: usize, width: usize| {
                let n = lattice.size[axis];
                (width..n.saturating_sub(width)).contains(&at[axis])
            };
            let crossed = [1, 2]
                .map(|axis| axis < lattice.rank && lattice.is_absorbing(axis) && !between(axis, lattice.absorb_width));
            if !(1..lattice.rank).all(|axis| between(axis, half)) || material.damping(lattice, row).is_some() {
                Way::Alone
            } else if crossed == [false; 2] && material.density.is_empty() {
                Way::Plain
            } else {
                Way::Boxed(crossed)
            }
        })
        .collect()
}
