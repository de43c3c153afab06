//! Copies rows of the field, of phases and of bits between memory and a block.

#![allow(unsafe_code, reason = "fills and empties the row buffers")]

use super::columns::{FLAG, NONE, PLAIN, level};
use super::kernel::{AHEAD, join_row, split_row};
use super::tile::Worker;
use crate::backend::simd::Lanes;
use crate::solver::events::sum_halves;
use crate::solver::tiling::{Axis, CHUNK, Span};
use crate::solver::trotter::recorder::Reading;
use num_traits::Zero;
use std::ops::Range;

// Contract as in `tile`.
impl<L: Lanes> Worker<'_, L> {
    #[inline(always)]
    pub(super) unsafe fn prepare_x_bits(&self) {
        // SAFETY: both buffers have 2k bytes of their own in `Scratch::bytes`.
        unsafe {
            let natural = std::slice::from_raw_parts_mut(self.row_bits, 2 * self.k);
            let width = self.block.x.len(self.halo);
            natural.fill(0);
            let bits = &self.pass.bits.x;
            self.pass
                .tiling
                .x
                .copy(bits, self.block.x.start(self.halo), &mut natural[..width]);
            let apart = std::slice::from_raw_parts_mut(self.x_bits, 2 * self.k);
            split_bytes(natural, apart);
        }
    }

    /// Reads one plane of a row of the field into a row buffer's half.
    #[inline(always)]
    unsafe fn load_plane(&self, a: isize, s: isize, plane: usize, to: *mut L::Element) {
        // SAFETY: `row` has 4k numbers, of which 2k are used; the block's core lies in the field, whose rows are
        // `stride` apart; other blocks write other cores.
        unsafe {
            let (tiling, frames, halo) = (self.pass.tiling, self.pass.frames, self.halo);
            let (x, across, stream) = (self.block.x, self.block.across, self.block.stream);
            let out = std::slice::from_raw_parts_mut(self.row, 2 * self.k);
            let width = x.len(halo);
            debug_assert!(width <= 2 * self.k, "{width} columns");
            // Distance below (negative) or above the core.
            let beside = |span: &Span, at: isize| {
                let (start, end) = (span.core.start.cast_signed(), span.core.end.cast_signed());
                if at < start {
                    Some((span.left, at - start + halo.cast_signed()))
                } else if at >= end {
                    Some((span.right, at - end + halo.cast_signed()))
                } else {
                    None
                }
            };
            let whole_row = match (beside(stream, s), beside(across, a)) {
                (Some((Some(boundary), i)), _) => {
                    Some(frames.stream_row(tiling, boundary, i.cast_unsigned(), tiling.across.wrap(a), plane))
                }
                (None, Some((Some(boundary), i))) => {
                    Some(frames.across_row(tiling, boundary, s.cast_unsigned(), i.cast_unsigned(), plane))
                }
                _ => None,
            };
            if let Some(row) = whole_row {
                tiling.x.copy(row, x.start(halo), &mut out[..width]);
                out[width..].fill(L::Element::default());
                split_row::<L>(self.row, to, 0..self.k);
                return;
            }
            let row = tiling.row(a.cast_unsigned(), s.cast_unsigned());
            let own = self.pass.field[plane].add(row * tiling.stride + x.core.start);
            let own = std::slice::from_raw_parts(own.cast_const(), x.core.len());
            // Columns of the core, and lanes whose columns all lie in it: these need no copy.
            let core = if x.left.is_some() { halo } else { 0 };
            let lanes = self.own_lanes();
            let after = core + own.len();
            let (first, last) = ((2 * lanes.start).min(after), (2 * lanes.end).min(after));
            if let Some(boundary) = x.left {
                out[..halo].copy_from_slice(&frames.columns(tiling, boundary, row, plane)[..halo]);
            }
            out[core..first].copy_from_slice(&own[..first - core]);
            out[last..after].copy_from_slice(&own[last - core..]);
            if let Some(boundary) = x.right {
                out[after..width].copy_from_slice(&frames.columns(tiling, boundary, row, plane)[halo..]);
            }
            out[width..].fill(L::Element::default());
            split_row::<L>(self.row, to, 0..lanes.start);
            split_row::<L>(own.as_ptr().add(first - core), to, lanes.clone());
            split_row::<L>(self.row.add(2 * lanes.end), to, lanes.end..self.k);
        }
    }

    /// Lanes whose columns lie in the core, whole vectors.
    fn own_lanes(&self) -> Range<usize> {
        let core = if self.block.x.left.is_some() { self.halo } else { 0 };
        let start = core.div_ceil(2).next_multiple_of(L::N);
        let end = (core + self.block.x.core.len()) / (2 * L::N) * L::N;
        start..end.max(start)
    }

    /// Whether a row lies in the grid (or wraps into it).
    fn exists(&self, a: isize, s: isize) -> bool {
        let tiling = self.pass.tiling;
        let within = |axis: &Axis, at: isize| axis.periodic || (0..axis.sites.cast_signed()).contains(&at);
        within(&tiling.across, a) && within(&tiling.stream, s)
    }

    /// Reads field, phases and bits of a row.
    #[inline(always)]
    unsafe fn load_row(&self, pair: usize, member: usize, h: usize) {
        // SAFETY: the buffers of the pair, member and row have the lengths that `Worker::new` gave them; a table has
        // `stride` numbers a row, and the whole row is read from it only where it lies in the grid.
        unsafe {
            let (k, tiling) = (self.k, self.pass.tiling);
            let (a, s) = self.sites(pair, member, h);
            let to = self.new_row(member, h);
            let bits = std::slice::from_raw_parts_mut(self.bits_row(pair, member, h), 2 * k);
            if !self.exists(a, s) {
                for at in (0..k).step_by(L::N) {
                    to.add(8 * at).write_bytes(0, 4 * L::N);
                }
                bits.fill(0);
                return;
            }
            self.load_plane(a, s, 0, to);
            self.load_plane(a, s, 1, to.add(L::N));
            let (a, s) = (tiling.across.wrap(a), tiling.stream.wrap(s));
            let row = tiling.row(a, s);
            let start = self.block.x.start(self.halo);
            let width = self.block.x.len(self.halo);
            let natural = std::slice::from_raw_parts_mut(self.row, 2 * k);
            for (table, planes) in self.pass.tables.iter().enumerate() {
                let to = self.phases_row(pair, table, member, h);
                for (plane, numbers) in planes.iter().enumerate() {
                    let numbers = &numbers[row * tiling.stride..(row + 1) * tiling.stride];
                    if start >= 0 && start.cast_unsigned() + 2 * k <= tiling.x.sites {
                        let from = numbers.as_ptr().add(start.cast_unsigned());
                        split_row::<L>(from, to.add(plane * L::N), 0..k);
                    } else {
                        tiling.x.copy(numbers, start, &mut natural[..width]);
                        split_row::<L>(self.row, to.add(plane * L::N), 0..k);
                    }
                }
            }
            if let Some(sites) = &self.pass.bits.sites {
                let natural = std::slice::from_raw_parts_mut(self.row_bits, 2 * k);
                natural[width..].fill(0);
                tiling
                    .x
                    .copy(&sites[row * tiling.stride..], start, &mut natural[..width]);
                split_bytes(natural, bits);
            } else {
                let rest = self.pass.bits.across[a] & self.pass.bits.stream[s];
                let x_bits = std::slice::from_raw_parts(self.x_bits.cast_const(), 2 * k);
                for (bits, x) in bits.iter_mut().zip(x_bits) {
                    *bits = x & rest;
                }
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn load_pair(&self, pair: usize) {
        // SAFETY: levels of k/FLAG groups and bits of 2k sites belong to each row of the ring; FLAG of them are read
        // at a time.
        unsafe {
            let members = if self.pass.rank == 1 { 1 } else { 2 };
            for h in 0..self.height {
                for member in 0..members {
                    self.load_row(pair, member, h);
                }
                for flag in 0..self.k / FLAG {
                    let mut highest = NONE;
                    for member in 0..members {
                        let bits = self.bits_row(pair, member, h);
                        for half in [0, self.k] {
                            let sixteen = bits.add(half + flag * FLAG).cast::<[u8; FLAG]>().read();
                            if sixteen != [PLAIN; FLAG] {
                                highest = sixteen.iter().fold(highest, |most, bits| most.max(level(*bits)));
                            }
                        }
                    }
                    *self.levels_row(pair, h).add(flag) = highest;
                }
            }
        }
    }

    /// Rows of the next pair that stage `s` prefetches: each stage its share.
    #[inline(always)]
    pub(super) fn ahead(&self, s: usize, pair: usize) -> [*const L::Element; AHEAD] {
        let nothing = [self.row.cast_const(); AHEAD];
        if pair > self.pairs || self.pass.rank != 2 {
            return nothing;
        }
        let (tiling, stages) = (self.pass.tiling, self.pass.stages.len());
        // Rows of both members: re, im, and c and s of every table.
        let planes = 2 + 2 * self.pass.tables.len();
        let mut rows = nothing;
        for (row, n) in rows
            .iter_mut()
            .zip((2 * planes * s).div_ceil(stages)..(2 * planes * (s + 1)).div_ceil(stages))
        {
            let (_, at) = self.sites(pair, n / planes, 0);
            if !self.exists(0, at) {
                continue;
            }
            let start = tiling.row(0, tiling.stream.wrap(at)) * tiling.stride + self.block.x.core.start;
            let plane = n % planes;
            let from = match plane.checked_sub(2) {
                None => self.pass.field[plane].cast_const(),
                Some(plane) => self.pass.tables[plane / 2][plane % 2].as_ptr(),
            };
            *row = from.wrapping_add(start);
        }
        rows
    }

    /// Writes the core of a finished pair.
    #[inline(always)]
    pub(super) unsafe fn store_pair(&self, pair: usize) {
        // SAFETY: the core lies in the field and belongs to this block alone; `row` has room for 2k numbers.
        unsafe {
            for h in 0..self.height {
                for member in 0..if self.pass.rank == 1 { 1 } else { 2 } {
                    let (a, s) = self.sites(pair, member, h);
                    let inside = |span: &Span, at: isize| at >= 0 && span.core.contains(&at.cast_unsigned());
                    if !inside(self.block.across, a) || !inside(self.block.stream, s) {
                        continue;
                    }
                    let (tiling, core) = (self.pass.tiling, &self.block.x.core);
                    let first = (core.start.cast_signed() - self.block.x.start(self.halo)).cast_unsigned();
                    let start = tiling.row(a.cast_unsigned(), s.cast_unsigned()) * tiling.stride + core.start;
                    let lanes = self.own_lanes();
                    let ends = [
                        0..lanes.start,
                        lanes.end..self.k.min((first + core.len()).div_ceil(2).next_multiple_of(L::N)),
                    ];
                    for plane in 0..2 {
                        let from = self.new_row(member, h).add(plane * L::N);
                        let to = self.pass.field[plane].add(start);
                        join_row::<L>(from, to.wrapping_add(2 * lanes.start - first), lanes.clone());
                        for end in &ends {
                            // Lanes that the core shares with its halo.
                            join_row::<L>(from, self.row.add(2 * end.start), end.clone());
                            let columns = (2 * end.start).max(first)..(2 * end.end).min(first + core.len());
                            if !columns.is_empty() {
                                to.add(columns.start - first)
                                    .copy_from_nonoverlapping(self.row.add(columns.start), columns.len());
                            }
                        }
                    }
                }
            }
        }
    }

    /// Columns of a row that was stepped, re and im, side by side; the block's first is `x0`.
    #[inline(always)]
    unsafe fn columns(&self, x: &Range<usize>, x0: isize, member: usize, h: usize) -> [&[L::Element]; 2] {
        let first = (x.start.cast_signed() - x0).cast_unsigned();
        let lanes = first / 2 / L::N * L::N..(first + x.len()).div_ceil(2).next_multiple_of(L::N);
        debug_assert!(lanes.end <= self.k && first + x.len() <= 2 * self.k, "{x:?} from {x0}");
        let mut parts = [&[][..]; 2];
        // No closure: it would not have the instruction set of this function.
        for (plane, part) in parts.iter_mut().enumerate() {
            // SAFETY: `lanes` lies within the rows, x within the lanes.
            unsafe {
                let to = self.row.add(plane * 2 * self.k);
                let from = self.new_row(member, h).add(plane * L::N);
                join_row::<L>(from, to.add(2 * lanes.start), lanes.clone());
                *part = std::slice::from_raw_parts(to.add(first).cast_const(), x.len());
            }
        }
        parts
    }

    /// Shows columns `x` of a row to a reading: sums of whole chunks are taken where they lie.
    #[inline(always)]
    unsafe fn show_to(
        &self,
        reading: &Reading<L::Element>,
        step: usize,
        [j, k]: [usize; 2],
        x: Range<usize>,
        (x0, member, h): (isize, usize, usize),
    ) {
        // Chunks are as wide as whole vectors: all of them begin with one, or none.
        let vector = (2 * L::N).cast_signed();
        let begins = ((x.start / CHUNK * CHUNK).cast_signed() - x0).rem_euclid(vector) == 0;
        let aligned = begins && CHUNK.is_multiple_of(2 * L::N);
        let mut at = x.start;
        while at < x.end {
            let chunk = at / CHUNK;
            let end = if aligned {
                ((chunk + 1) * CHUNK).min(x.end)
            } else {
                x.end
            };
            let plain = if aligned && end - at == CHUNK {
                reading.plain_sum(j, k, chunk)
            } else {
                None
            };
            if let Some((partials, place)) = plain {
                let lane = (at.cast_signed() - x0).cast_unsigned() / 2;
                // SAFETY: the chunk lies within the row, and begins with one of its vectors.
                let sum = unsafe { Self::sum_of_squares(self.new_row(member, h).add(8 * lane)) };
                partials.put(step, place, sum);
            } else {
                // SAFETY: the caller's promise.
                let [re, im] = unsafe { self.columns(&(at..end), x0, member, h) };
                reading.take(step, j, k, at, re, im);
            }
            at = end;
        }
    }

    /// Σ|φ|² of a chunk whose vectors begin at `from`.
    #[inline(always)]
    unsafe fn sum_of_squares(from: *const L::Element) -> f64 {
        let mut halves = [[L::Element::zero(); CHUNK / 2]; 2];
        // No closure: it would not have the instruction set of this function.
        for at in (0..CHUNK / 2).step_by(L::N) {
            for (half, all) in halves.iter_mut().enumerate() {
                // SAFETY: the caller's promise; `all` holds N numbers from `at` on.
                unsafe {
                    let from = from.add(8 * at + 2 * half * L::N);
                    let (re, im) = (L::load(from), L::load(from.add(L::N)));
                    re.mul(re).add(im.mul(im)).store(all.as_mut_ptr().add(at));
                }
            }
        }
        sum_halves(&halves[0], &halves[1])
    }

    /// Passes the core of a pair that stage `s` has finished to the recorder of whole steps.
    #[inline(always)]
    pub(super) unsafe fn show(&self, s: usize, pair: usize) {
        let Some(recorder) = self.pass.recorder else { return };
        if pair == 0 || !(s + 1).is_multiple_of(self.pass.substeps) {
            return;
        }
        let step = s / self.pass.substeps;
        let x0 = self.block.x.start(self.halo);
        let core = &self.block.x.core;
        for h in 0..self.height {
            for member in 0..if self.pass.rank == 1 { 1 } else { 2 } {
                let (a, s) = self.sites(pair, member, h);
                let inside = |span: &Span, at: isize| at >= 0 && span.core.contains(&at.cast_unsigned());
                if !inside(self.block.across, a) || !inside(self.block.stream, s) {
                    continue;
                }
                let (a, s) = (a.cast_unsigned(), s.cast_unsigned());
                let (j, k) = if self.pass.rank == 3 { (a, s) } else { (s, 0) };
                for reading in recorder.readings() {
                    let Some(x) = reading.overlap(step, j, k, core) else {
                        continue;
                    };
                    // SAFETY: x lies within the core.
                    unsafe { self.show_to(reading, step, [j, k], x, (x0, member, h)) };
                }
                if let Some(x) = recorder.heard_columns(j, k, core) {
                    // SAFETY: as above.
                    let [re, im] = unsafe { self.columns(&x, x0, member, h) };
                    recorder.hear(step, j, k, x.start, re, im);
                }
            }
        }
    }
}

/// Even places, then odd places.
#[inline(always)]
fn split_bytes(natural: &[u8], apart: &mut [u8]) {
    let (even, odd) = apart.split_at_mut(natural.len() / 2);
    for ((pair, even), odd) in natural.chunks_exact(2).zip(even).zip(odd) {
        *even = pair[0];
        *odd = pair[1];
    }
}
