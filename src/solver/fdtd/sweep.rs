//! One step of rows, in place over the older level, and a sweep of such over the whole grid.
//!
//! A row is the unit of work of every variant: whatever order rows and steps come in, [`Sweep::rows`] does the same operations on the same
//! numbers, so that all variants agree to the bit.

use super::blocks::{Block, most_planes};
use super::bundle::Bundles;
use super::cpml::Layer;
use super::events::SiteEvents;
use super::lattice::{Ghost, Lattice};
use super::scheme::{Medium, Sweep, Way};
use super::share::{Shared, View};
use super::stage::{Followed, Memory, Mode, Part, Scratch, Stage};
use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the rows that are stepped before the first of them is visited.
const VISITED: usize = 32 * 1024;

impl<T: Real> Sweep<T> {
    /// Steps to a level of a pass: `old` holds pⁿ⁻¹ and gets what `mode` says; `now` is pⁿ, with ghosts along x filled. To be called in the pool.
    pub(super) fn run(
        &self,
        now: &[T],
        old: &mut [T],
        layers: &mut [Layer<T>],
        mode: Mode<T>,
        followed: Followed<'_, T>,
        (events, level): (&SiteEvents<'_, T>, usize),
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
            followed,
            events,
            level,
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
            Mode::Combine { .. } => Way::Alone(None),
        };
        // What is done to a row after its step shall find it in cache.
        let visited_rows = (VISITED / (planes * self.lattice.stride * size_of::<T>())).max(1);
        let longest = if stage.followed.is_empty() { count } else { visited_rows };
        let mut n = 0;
        while n < count {
            let own = way(start + n * step);
            let alike = |n: &usize| (0..planes).all(|b| way(start + n * step + b * ny) == own);
            let run = (n..count).take(longest).take_while(alike).count();
            if run > 0 && !matches!(own, Way::Alone(_)) {
                let ahead = &ahead[(n * share).min(ahead.len())..((n + run) * share).min(ahead.len())];
                // SAFETY: the caller's promise.
                unsafe { self.run_of_rows(stage, own, (start + n * step, step), [run, planes], ahead, scratch) };
                n += run;
                continue;
            }
            for b in 0..planes {
                let row = start + n * step + b * ny;
                if let Way::Alone(_) = way(row) {
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
        let listed = !self.walls.is_empty() && self.faces.is_none();
        let walls = || {
            let rows = if listed { Some(rows()) } else { None };
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
        let medium = if let Way::Plain(medium) = way {
            Some(medium)
        } else {
            None
        };
        if let Some(medium) = medium {
            self.plain_run(stage, medium, (start, step), [count, planes], middle.clone(), ahead);
        }
        let boxed = medium.is_none();
        if boxed || middle.len() < nx {
            for b in 0..planes {
                let row = start + b * ny;
                let at = [row % ny, row / ny];
                let along = (if step == 1 { 1 } else { 2 }, count);
                // SAFETY: the caller's promise.
                unsafe { self.boxes(stage, way, at, along) };
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
        let quiet = stage.followed.is_empty() && rows().all(|row| stage.events_of(row).is_none());
        if mirrored && quiet && !listed {
            return;
        }
        for row in rows() {
            // SAFETY: the caller's promise.
            let span = unsafe { stage.old.slice(lattice.span(row)) };
            if !mirrored || listed {
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
        medium: Medium,
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
        debug_assert!(
            count > 0 && planes.is_power_of_two() && inside.end <= lattice.size[0],
            "{count} rows, {planes} planes"
        );
        let last = start + (count - 1) * step + (planes - 1) * ny;
        let stride = lattice.stride;
        let reach = lattice.half * [0, 1, ny][lattice.rank - 1];
        // Whole vectors lie before and behind the sites.
        let (lowest, highest) = (lattice.sites(start - reach.min(start)), lattice.sites(last + reach));
        let read = lowest.start - Lattice::FRONT..highest.end + Lattice::FRONT;
        let begin = lattice.sites(start).start + inside.start;
        let (square, uniform) = self.square_of(medium);
        let squares = (!self.material.squares.is_empty() && !uniform)
            .then(|| self.material.squares[begin..lattice.sites(last).end].as_ptr());
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
                square,
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

    /// What happens at sites of a row that was just stepped.
    fn visit(&self, stage: &Stage<'_, T>, row: usize, span: &mut [T]) {
        let half = self.lattice.half;
        let (events, level) = (stage.events_of(row), stage.level);
        if let Some(events) = events {
            let n = span.len();
            if events.played[level - 1].apply(row, &mut span[half..n - half]) {
                self.fill_ghosts(span);
            }
            events.recording.take_pressures(self, level, row, &span[half..n - half]);
        }
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: the row belongs to this task, as in the older level; what is read of Φ⁺ is written when what is read of pⁿ is.
        let before = unsafe {
            if !stage.followed.is_empty() {
                stage.followed.take(&self.sums, level, self.lattice.span(row), span);
            }
            stage.followed.before(level - 1)
        };
        if let (Some(events), Some(potential)) = (events, before) {
            events
                .recording
                .take_motion(self, level - 1, row, [stage.now, potential]);
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
        if matches!(mode, Mode::Combine { .. }) {
            scratch.before.copy_from_slice(&span[half..half + nx]);
        }
        scratch.clear();
        let listed = self.faces.is_none();
        if listed {
            self.step_beside(stage, [j, k], &span[half..half + nx], scratch);
        }
        self.negate_ghosts(now, j, k, &mut scratch.negative);
        self.stretches(stage, span, [j, k], &scratch.negative);
        let sites = &mut span[half..half + nx];
        if listed {
            self.walls.put(row, &scratch.beside, sites);
            scratch.put_kept(stage.memories);
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
}
