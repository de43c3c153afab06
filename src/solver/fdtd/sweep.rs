//! One step of rows, in place over the older level, and a sweep of such over the whole grid.
//!
//! A row is the unit of work of every variant: whatever order rows and steps come in, [`Sweep::rows`] does the same operations on the same
//! numbers, so that all variants agree to the bit.

use super::blocks::{Block, most_planes};
use super::bundle::Bundles;
use super::cpml::Layer;
use super::events::SiteEvents;
use super::lattice::{Ghost, Lattice};
use super::scheme::Sweep;
use super::share::{Shared, View};
use super::stage::{Followed, Memory, Mode, Part, Scratch, Stage};
use crate::field::Real;
use rayon::prelude::*;

/// Bytes of the rows that are stepped before the first of them is visited.
const VISITED: usize = 32 * 1024;

impl<T: Real> Sweep<T> {
    /// Steps: `old` holds pⁿ⁻¹ and gets what `mode` says; `now` is pⁿ, with ghosts along x filled. To be called in the pool.
    pub(super) fn run(
        &self,
        now: &[T],
        old: &mut [T],
        layers: &mut [Layer<T>],
        mode: Mode<T>,
        followed: Followed<'_, T>,
        events: &SiteEvents<'_, T>,
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
            level: 1,
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
        let simple = |row: usize| self.plain[row] && matches!(stage.mode, Mode::Step);
        // What is done to a row after its step shall find it in cache.
        let visited_rows = (VISITED / (planes * self.lattice.stride * size_of::<T>())).max(1);
        let mut n = 0;
        while n < count {
            let simple_bundle = |n: &usize| (0..planes).all(|b| simple(start + n * step + b * ny));
            let longest = if stage.followed.is_empty() { count } else { visited_rows };
            let run = (n..count).take(longest).take_while(simple_bundle).count();
            if run > 0 {
                let ahead = &ahead[(n * share).min(ahead.len())..((n + run) * share).min(ahead.len())];
                self.plain_run(stage, start + n * step, step, run, planes, ahead);
                n += run;
                continue;
            }
            for b in 0..planes {
                let mut at = first;
                at[along - 1] += n;
                at[1] += b;
                let row = start + n * step + b * ny;
                if simple(row) {
                    self.plain_run(stage, row, step, 1, 1, &[]);
                    continue;
                }
                // SAFETY: the caller's promise.
                let span = unsafe { stage.old.slice(self.lattice.span(row)) };
                self.row(stage, span, at, scratch);
                self.visit(stage, row, span);
            }
            n += 1;
        }
    }

    /// Bundles of rows that take the kernel alone.
    fn plain_run(
        &self,
        stage: &Stage<'_, T>,
        start: usize,
        step: usize,
        count: usize,
        planes: usize,
        ahead: &[*const T],
    ) {
        let lattice = &self.lattice;
        let ny = lattice.size[1];
        // Layers at the ends of rows have a kernel of their own.
        let ends = stage.ends();
        let inside = ends[0].end..ends[1].start.min(lattice.size[0]);
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
        let rows = || (0..planes).flat_map(|b| (0..count).map(move |n| start + n * step + b * ny));
        if inside.len() < lattice.size[0] {
            for row in rows() {
                #[allow(unsafe_code, reason = "see `Shared`")]
                // SAFETY: the promise of `rows`.
                let span = unsafe { stage.old.slice(lattice.span(row)) };
                self.stretches(stage, span, [row % ny, row / ny], &[], false);
                self.fill_ghosts(span);
            }
        }
        if stage.followed.is_empty() && rows().all(|row| stage.events_of(row).is_none()) {
            return;
        }
        for row in rows() {
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: the promise of `rows`.
            let span = unsafe { stage.old.slice(lattice.span(row)) };
            self.visit(stage, row, span);
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
        let damping = match mode {
            Mode::Combine { damped: false, .. } => None,
            _ => self.material.damping(lattice, row),
        };
        if damping.is_some() || matches!(mode, Mode::Combine { .. }) {
            scratch.before.copy_from_slice(&span[half..half + nx]);
        }
        self.step_beside(stage, [j, k], &span[half..half + nx], scratch);
        self.negate_ghosts(now, j, k, &mut scratch.negative);
        self.stretches(stage, span, [j, k], &scratch.negative, true);
        let sites = &mut span[half..half + nx];
        self.walls.put(row, &scratch.beside, sites);
        for (n, place, remembered) in &scratch.kept {
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: what is remembered of a row's sites belongs to the task that steps the row.
            let memory = unsafe { stage.memories[*n].slices(*place..*place + 1) };
            for (memory, value) in memory.into_iter().zip(remembered) {
                memory[0] = *value;
            }
        }
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
}
