//! One step of rows, in place over the older level, and a sweep of such over the whole grid.
//!
//! A row is the unit of work of every variant: in every order of rows and steps, [`Sweep::rows`] does the same operations on the same
//! numbers, so that all variants agree to the bit.

use super::blocks::{Block, most_planes};
use super::bundle::Bundles;
use super::events::SiteEvents;
use super::lattice::{Ghost, Lattice};
use super::scheme::{Clean, Medium, Sweep, Way};
use super::segments::{Damped, ends};
use super::share::{Shared, View};
use super::stage::{Followed, Memory, Mode, Part, Scratch, Stage};
use crate::backend::simd::prefetch;
use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes of the rows that are stepped before the first of them is visited.
const VISITED: usize = 32 * 1024;

/// Prefetches the cache lines of some values of a row.
pub(super) fn ask<T>(row: *const T, values: Range<usize>) {
    let line = 64 / size_of::<T>();
    for i in values.step_by(line) {
        prefetch(row.wrapping_add(i));
    }
}

impl<T: Real> Sweep<T> {
    /// Steps to a level of a pass: `old` holds pⁿ⁻¹ and is overwritten as `mode` says; `now` is pⁿ, with ghosts along x filled. To be called in the pool.
    pub(super) fn run(
        &self,
        now: &[T],
        old: &mut [T],
        memories: &[Memory<'_, T>],
        mode: Mode<T>,
        followed: Followed<'_, T>,
        (events, level): (&SiteEvents<'_, T>, usize),
    ) {
        let stage = Stage {
            now: View::of(now),
            old: Shared::new(old),
            mode,
            memories,
            followed: followed.of_step(level),
            events,
            level,
        };
        let scratch = Scratch::new;
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

    /// Steps the rows of a part, with their ghosts and their events, and prefetches the rows `ahead`.
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
        // What is done to a row after its step shall find it in cache.
        let visited_rows = (VISITED / (planes * self.lattice.stride * size_of::<T>())).max(1);
        let longest = if stage.followed.is_empty() { count } else { visited_rows };
        let mut n = 0;
        while n < count {
            let row = start + n * step;
            let left = (count - n).min(longest);
            if matches!(stage.mode, Mode::Combine { .. }) || matches!(self.ways[row], Way::Alone(_)) && planes == 1 {
                for b in 0..planes {
                    // SAFETY: the caller's promise.
                    unsafe { self.alone(stage, row + b * ny, scratch) };
                }
                n += 1;
                continue;
            }
            let [run, way] = self.run_from(row, step, left);
            let (mut run, mut same) = (run, true);
            for b in 1..planes {
                let [rows, other] = self.run_from(row + b * ny, step, left);
                (run, same) = (run.min(rows), same && other == way);
            }
            if same && !matches!(self.ways[row], Way::Alone(_)) {
                let ahead = &ahead[(n * share).min(ahead.len())..((n + run) * share).min(ahead.len())];
                // SAFETY: the caller's promise.
                unsafe { self.run_of_rows(stage, self.ways[row], (row, step), [run, planes], ahead, scratch) };
            } else {
                // Planes that differ go one by one.
                for plane in (0..planes).map(|b| row + b * ny) {
                    if matches!(self.ways[plane], Way::Alone(_)) {
                        for n in 0..run {
                            // SAFETY: the caller's promise.
                            unsafe { self.alone(stage, plane + n * step, scratch) };
                        }
                    } else {
                        // SAFETY: the caller's promise.
                        unsafe { self.run_of_rows(stage, self.ways[plane], (plane, step), [run, 1], &[], scratch) };
                    }
                }
            }
            n += run;
        }
    }

    /// How many of the `most` rows from `row` on, `step` apart, are stepped alike, and the number of their way.
    fn run_from(&self, row: usize, step: usize, most: usize) -> [usize; 2] {
        let [rows, way] = self.alike[row].map(usize::from);
        if step == 1 {
            return [rows.min(most), way];
        }
        let others = (1..most).take_while(|n| usize::from(self.alike[row + n * step][1]) == way);
        [1 + others.count(), way]
    }

    /// Steps a row by itself, with all that happens in it.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    unsafe fn alone(&self, stage: &Stage<'_, T>, row: usize, scratch: &mut Scratch<T>) {
        let ny = self.lattice.size[1];
        // SAFETY: the caller's promise.
        unsafe {
            self.tally_rows(stage, std::iter::once(row));
            let span = stage.old.slice(self.lattice.span(row));
            self.row(stage, span, [row % ny, row / ny], scratch);
            self.visit(stage, (row, 1), (1, &stage.followed), scratch);
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
        let along = if step == 1 { 1 } else { 2 };
        let places = (0..planes).map(|b| [(start + b * ny) % ny, (start + b * ny) / ny]);
        let middle = self.middle(stage, way);
        let mirrored = matches!(way, Way::Clean(clean) if clean.is_plain()) && middle.len() == nx;
        // What is played or put beside walls comes after the kernel.
        let played = stage.events.play(stage.level) && rows().any(|row| stage.events.rows[row]);
        let follows = mirrored && !listed && !played && stage.followed.potential.is_some();
        let sums = follows && self.square_in_sums(start).is_some();
        if !sums {
            // SAFETY: the caller's promise.
            unsafe { self.tally_rows(stage, rows()) };
        }
        scratch.sums.clear();
        scratch.sums.resize(if follows { count * planes } else { 0 }, [0.0; 2]);
        match way {
            Way::Clean(clean) => {
                if clean.is_plain() {
                    let more = (ahead, &mut scratch.sums[..]);
                    self.plain_run(
                        stage,
                        clean.medium,
                        (start, step),
                        [count, planes],
                        middle.clone(),
                        more,
                    );
                }
                if !mirrored {
                    for at in places {
                        // SAFETY: the caller's promise.
                        unsafe {
                            self.layered(stage, clean, at, (along, count));
                            self.damped(stage, clean, at, (along, count));
                        }
                    }
                }
            }
            Way::Mixed(crossed, place) => {
                for at in places {
                    // SAFETY: the caller's promise.
                    unsafe { self.mixed(stage, (crossed, place), at, (along, count)) }
                }
            }
            Way::Alone(_) => {}
        }
        let mut stepped = 0;
        for row in walls() {
            // SAFETY: the caller's promise.
            let sites = unsafe { stage.old.slice(lattice.sites(row)) };
            stepped += self.walls.put(row, &scratch.beside[stepped..], sites);
        }
        scratch.put_kept(stage.memories);
        let mut without;
        let mut followed = &stage.followed;
        if follows {
            without = stage.followed;
            without.potential = None;
            followed = &without;
        }
        if sums {
            let rows = (0..count).flat_map(|n| (0..planes).map(move |b| start + n * step + b * ny));
            self.take_sums(stage, rows.zip(scratch.sums.iter().copied()));
        }
        if !mirrored {
            // The kernel has asked for as much of a row as it stepped.
            let plain = matches!(way, Way::Clean(clean) if clean.is_plain());
            let asked = if plain { middle.len() } else { 0 };
            for row in ahead {
                ask(*row, asked..nx);
            }
        }
        for first in (0..planes).map(|b| start + b * ny) {
            // SAFETY: the caller's promise.
            unsafe {
                if !mirrored || listed {
                    self.fill_ghosts_of(stage, (first, step), count);
                }
                self.visit(stage, (first, step), (count, followed), scratch);
            }
        }
    }

    /// The sites of a row between its ends in layers along x, or damped ones.
    fn middle(&self, stage: &Stage<'_, T>, way: Way) -> Range<usize> {
        let nx = self.lattice.size[0];
        let [low, high] = stage.ends();
        let mut middle = low.end..high.start.min(nx);
        let Way::Clean(Clean { damped, .. }) = way else {
            return middle;
        };
        let Damped::Ends([below, above]) = damped else {
            return 0..0;
        };
        let [first, last] = ends(nx);
        if below {
            middle.start = first.end;
        }
        if above {
            middle.end = last.start;
        }
        middle
    }

    /// Sites `inside` of bundles of rows that take the kernel alone; with Φ⁺ where there is room for the rows' `sums`.
    fn plain_run(
        &self,
        stage: &Stage<'_, T>,
        medium: Medium,
        (start, step): (usize, usize),
        [count, planes]: [usize; 2],
        inside: Range<usize>,
        (ahead, sums): (&[*const T], &mut [[f64; 2]]),
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
            let written = lattice.span(start).start..lattice.span(last).end;
            let out = stage.old.pointer(written.clone(), begin);
            let potential = (!sums.is_empty())
                .then(|| Self::follows(stage, written, begin, sums))
                .flatten();
            let kernels = if potential.is_some() {
                &self.follow_kernels
            } else {
                &self.bundle_kernels
            };
            kernels[planes.ilog2() as usize](&Bundles {
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
                potential,
            });
        }
    }

    /// What happens at sites of `count` rows that were just stepped, from row `first` on, `step` apart.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    unsafe fn visit(
        &self,
        stage: &Stage<'_, T>,
        (first, step): (usize, usize),
        (count, followed): (usize, &Followed<'_, T>),
        scratch: &mut Scratch<T>,
    ) {
        let (events, level, half) = (stage.events, stage.level, self.lattice.half);
        let rows = || (0..count).map(move |n| first + n * step);
        let busy = || rows().filter(|row| events.rows[*row]);
        if events.act(level) {
            for row in busy() {
                // SAFETY: the caller's promise.
                let span = unsafe { stage.old.slice(self.lattice.span(row)) };
                let n = span.len();
                if events.played[level - 1].apply(row, &mut span[half..n - half], &mut scratch.played) {
                    self.fill_ghosts(span);
                }
                let sites = &span[half..n - half];
                events.recording.take_pressures(self, level, row, sites);
                if events.recording.copies.writes() {
                    events.recording.copies.take(level, row, sites);
                }
            }
        }
        if !followed.is_empty() {
            let take = |range: Range<usize>| {
                // SAFETY: the rows belong to this task, as in the older level.
                unsafe {
                    let rows = [stage.now.slice(range.clone()), stage.old.slice(range.clone())];
                    followed.take(&self.sums, level, range, rows);
                }
            };
            if step == 1 {
                // What lies between two rows goes along.
                take(self.lattice.span(first).start..self.lattice.span(first + count - 1).end);
            } else {
                rows().for_each(|row| take(self.lattice.span(row)));
            }
        }
        if !events.recording.takes_motion(level - 1) {
            return;
        }
        // SAFETY: what is read of Φ⁺ is written when what is read of pⁿ is.
        let potential = unsafe { stage.followed.before(level - 1) };
        debug_assert!(potential.is_some(), "Φ⁺ of level {} is gone", level - 1);
        if let Some(potential) = potential {
            for row in busy() {
                events
                    .recording
                    .take_motion(self, level - 1, row, [stage.now, potential]);
            }
        }
    }

    /// The ghosts of some rows of the pressure, as above.
    ///
    /// # Safety
    /// As for [`Sweep::rows`].
    #[allow(unsafe_code, reason = "see `Shared`")]
    unsafe fn fill_ghosts_of(&self, stage: &Stage<'_, T>, (first, step): (usize, usize), count: usize) {
        for row in (0..count).map(|n| first + n * step) {
            // SAFETY: the caller's promise.
            self.fill_ghosts(unsafe { stage.old.slice(self.lattice.span(row)) });
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
            scratch.before.clear();
            scratch.before.extend_from_slice(&span[half..half + nx]);
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
