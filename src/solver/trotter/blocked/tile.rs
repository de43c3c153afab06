//! One block: slabs of rows streamed in pairs through a pipeline with one stage per fused sub-step.
//!
//! Stage s takes row pair p right after stage s − 1 has finished it, sweeps it along x (and across the slab), then along the stream as far
//! as it can: even bonds of pair p, the odd bond to pair p − 1, the second even sweep and the phase of pair p − 1, which goes on to the
//! next stage. A stage therefore carries one pair; the pairs of all stages stay in L1 (2D) or L2 (3D), and memory is read and written once per
//! pass.

#![allow(unsafe_code, clippy::inline_always, reason = "drives the row kernels")]

use super::super::watch::Watch;
use super::kernel::{
    ACROSS, FLAG, FLUX, IMAGINARY, PLAIN, PairRows, Sweep, alone_row, between_rows, interact, join_row, phase_row,
    split_row, stream_rows, x_row,
};
use super::tiling::{Axis, Frames, Span, Tiling, copy_wrapped};
use crate::backend::simd::{Array, Lanes, Level, prefetch};
use crate::field::Real;

/// A sub-step's coefficients.
#[derive(Clone, Debug)]
pub(in super::super) struct Stage<T> {
    /// x and across, before (nested) or instead of [`Stage::after`].
    pub before: [Sweep<T>; 3],
    /// Nested: x and across, after the stream.
    pub after: [Sweep<T>; 3],
    /// Along the stream; along x in 1D.
    pub stream: [Sweep<T>; 3],
    /// Table of phases.
    pub table: usize,
    /// g τ of the interaction.
    pub interaction: T,
}

/// Bits of sites: of every site, or what columns, rows and slabs say together.
#[derive(Debug, Default)]
pub(in super::super) struct SiteBits {
    pub sites: Option<Vec<u8>>,
    pub x: Vec<u8>,
    pub across: Vec<u8>,
    pub stream: Vec<u8>,
}

/// A pass over the grid, shared by its blocks.
pub(in super::super) struct Pass<'a, T> {
    pub tiling: &'a Tiling,
    pub frames: &'a Frames<T>,
    /// re, im; blocks write their cores only.
    pub field: [*mut T; 2],
    /// Per table: c, s.
    pub tables: &'a [[Vec<T>; 2]],
    pub bits: &'a SiteBits,
    pub stages: &'a [Stage<T>],
    /// e^{−iϕ} per y, with flux.
    pub peierls: &'a [(T, T)],
    pub rank: usize,
    pub nested: bool,
    pub imaginary: bool,
    pub interacts: bool,
    /// Stages of a whole step.
    pub substeps: usize,
    /// Sees the field after every whole step.
    pub watch: Option<&'a Watch<T>>,
}

// SAFETY: blocks read and write disjoint cores of `field`; everything else is only read.
unsafe impl<T: Real> Sync for Pass<'_, T> {}

/// A block's place.
pub(in super::super) struct Block<'a> {
    pub x: &'a Span,
    pub across: &'a Span,
    pub stream: &'a Span,
}

/// Memory of one thread's block, kept between blocks.
#[derive(Default)]
pub(in super::super) struct Scratch<T> {
    numbers: Vec<T>,
    bytes: Vec<u8>,
    flags: Vec<bool>,
}

/// Row kernels for one precision, entered with the target features of a level.
pub(in super::super) trait Blockwise: Real {
    /// Runs one block.
    fn run(level: Level, pass: &Pass<Self>, block: &Block, scratch: &mut Scratch<Self>);
}

macro_rules! blockwise {
    ($real:ty, $avx512:ident, $avx2:ident, $lanes:literal) => {
        impl Blockwise for $real {
            fn run(level: Level, pass: &Pass<Self>, block: &Block, scratch: &mut Scratch<Self>) {
                #[cfg(target_arch = "x86_64")]
                {
                    use crate::backend::simd::{$avx2, $avx512};
                    #[target_feature(enable = "avx512f,avx2,fma")]
                    unsafe fn avx512(pass: &Pass<$real>, block: &Block, scratch: &mut Scratch<$real>) {
                        // SAFETY: the function has the features.
                        unsafe { Worker::<$avx512>::new(pass, block, scratch).run() }
                    }
                    #[target_feature(enable = "avx2,fma")]
                    unsafe fn avx2(pass: &Pass<$real>, block: &Block, scratch: &mut Scratch<$real>) {
                        // SAFETY: the function has the features.
                        unsafe { Worker::<$avx2>::new(pass, block, scratch).run() }
                    }
                    // SAFETY: `Level::available` has found the features.
                    match level {
                        Level::Avx512 => return unsafe { avx512(pass, block, scratch) },
                        Level::Avx2 => return unsafe { avx2(pass, block, scratch) },
                        Level::Portable => {}
                    }
                }
                let _ = level;
                // SAFETY: arrays need no features.
                unsafe { Worker::<Array<$real, $lanes>>::new(pass, block, scratch).run() }
            }
        }
    };
}
blockwise!(f32, Avx512F32, Avx2F32, 8);
blockwise!(f64, Avx512F64, Avx2F64, 4);

/// A block at work.
struct Worker<'a, L: Lanes> {
    pass: &'a Pass<'a, L::Element>,
    block: &'a Block<'a>,
    halo: usize,
    /// Lanes of a row: half its columns, a multiple of [`FLAG`].
    k: usize,
    /// Rows of a slab, even in 3D.
    height: usize,
    /// Row pairs (slab pairs) read.
    pairs: usize,
    /// Natural-order rows, re and im.
    row: *mut L::Element,
    /// The pair that goes from stage to stage: 2 slabs.
    new: *mut L::Element,
    /// Per stage: 2 slabs.
    carried: *mut L::Element,
    /// Per ring place and table: 2 slabs of phases.
    phases: *mut L::Element,
    row_bits: *mut u8,
    /// Bits of the block's columns, apart.
    x_bits: *mut u8,
    /// Per ring place: 2 slabs of bits.
    bits: *mut u8,
    /// Per ring place: flags of a slab pair.
    flags: *mut bool,
}

impl<'a, L: Lanes> Worker<'a, L> {
    #[inline(always)]
    fn new(pass: &'a Pass<'a, L::Element>, block: &'a Block<'a>, scratch: &'a mut Scratch<L::Element>) -> Self {
        let halo = 2 * pass.stages.len();
        let k = block.x.len(halo).div_ceil(2).next_multiple_of(FLAG);
        let rows = block.across.len(halo);
        let height = if pass.rank == 3 { rows.next_multiple_of(2) } else { 1 };
        let pairs = block.stream.len(halo).div_ceil(2);
        let ring = pass.stages.len() + 1;
        let slab = 4 * k * height;
        let numbers = 4 * k + 2 * slab + pass.stages.len() * 2 * slab + ring * pass.tables.len() * 2 * slab;
        let zero = L::Element::default();
        // 64 bytes more, to start on a cache line.
        let spare = 64 / size_of::<L::Element>();
        scratch.numbers.clear();
        scratch.numbers.resize(numbers + spare, zero);
        scratch.bytes.clear();
        scratch.bytes.resize(4 * k + ring * 4 * k * height, 0);
        scratch.flags.clear();
        scratch.flags.resize(ring * height * (k / FLAG), true);
        let row = scratch.numbers.as_mut_ptr();
        let row = row.wrapping_add(row.align_offset(64).min(spare));
        let new = row.wrapping_add(4 * k);
        let carried = new.wrapping_add(2 * slab);
        let row_bits = scratch.bytes.as_mut_ptr();
        Self {
            pass,
            block,
            halo,
            k,
            height,
            pairs,
            row,
            new,
            carried,
            phases: carried.wrapping_add(pass.stages.len() * 2 * slab),
            row_bits,
            x_bits: row_bits.wrapping_add(2 * k),
            bits: row_bits.wrapping_add(4 * k),
            flags: scratch.flags.as_mut_ptr(),
        }
    }

    // All that follows: pointers stay inside what `new` laid out; the machine has L's instruction set.

    #[inline(always)]
    unsafe fn run(&self) {
        unsafe {
            if self.pass.imaginary {
                self.stream::<IMAGINARY>();
            } else {
                self.stream::<0>();
            }
        }
    }

    #[inline(always)]
    unsafe fn stream<const MODE: u8>(&self) {
        unsafe {
            self.prepare_x_bits();
            if self.pass.rank == 1 {
                self.line::<MODE>();
                return;
            }
            let count = self.pass.stages.len();
            // Pairs count from 1; pair 0 and the one after the last are empty.
            for tick in 1..=self.pairs + count {
                if tick <= self.pairs {
                    self.load_pair(tick);
                } else if tick == self.pairs + 1 {
                    let bytes = 4 * self.k * self.height;
                    self.bits.add(self.place(tick) * bytes).write_bytes(0, bytes);
                    let flags = self.height * self.k / FLAG;
                    std::slice::from_raw_parts_mut(self.flags.add(self.place(tick) * flags), flags).fill(true);
                }
                for s in 0..count.min(tick) {
                    let pair = tick - s;
                    if pair > self.pairs + 1 {
                        continue;
                    }
                    if pair == self.pairs + 1 {
                        self.new.write_bytes(0, 2 * self.slab());
                    }
                    self.stage::<MODE>(s, pair);
                    self.show(s, pair - 1);
                }
                if tick > count {
                    self.store_pair(tick - count);
                }
            }
        }
    }

    fn slab(&self) -> usize {
        4 * self.k * self.height
    }

    /// Ring place of a pair.
    fn place(&self, pair: usize) -> usize {
        pair % (self.pass.stages.len() + 1)
    }

    #[inline(always)]
    unsafe fn new_row(&self, member: usize, h: usize) -> *mut L::Element {
        unsafe { self.new.add(member * self.slab() + h * 4 * self.k) }
    }

    #[inline(always)]
    unsafe fn carried_row(&self, stage: usize, member: usize, h: usize) -> *mut L::Element {
        unsafe { self.carried.add((2 * stage + member) * self.slab() + h * 4 * self.k) }
    }

    #[inline(always)]
    unsafe fn bits_row(&self, pair: usize, member: usize, h: usize) -> *mut u8 {
        unsafe {
            self.bits
                .add(((self.place(pair) * 2 + member) * self.height + h) * 2 * self.k)
        }
    }

    #[inline(always)]
    unsafe fn flags_row(&self, pair: usize, h: usize) -> *mut bool {
        unsafe { self.flags.add((self.place(pair) * self.height + h) * (self.k / FLAG)) }
    }

    #[inline(always)]
    unsafe fn phases_row(&self, pair: usize, table: usize, member: usize, h: usize) -> *mut L::Element {
        unsafe {
            let place = self.place(pair) * self.pass.tables.len() + table;
            self.phases.add((place * 2 + member) * self.slab() + h * 4 * self.k)
        }
    }

    /// Across and stream sites of row `h` of member 0 or 1 of a pair; may lie outside.
    fn sites(&self, pair: usize, member: usize, h: usize) -> (isize, isize) {
        let across = self.block.across.start(self.halo) + h.cast_signed();
        let stream = self.block.stream.start(self.halo) + (2 * (pair - 1) + member).cast_signed();
        (across, stream)
    }

    #[inline(always)]
    unsafe fn prepare_x_bits(&self) {
        unsafe {
            let natural = std::slice::from_raw_parts_mut(self.row_bits, 2 * self.k);
            let width = self.block.x.len(self.halo);
            natural.fill(0);
            let bits = &self.pass.bits.x;
            copy_wrapped(
                &self.pass.tiling.x,
                bits,
                self.block.x.start(self.halo),
                &mut natural[..width],
            );
            let apart = std::slice::from_raw_parts_mut(self.x_bits, 2 * self.k);
            split_bytes(natural, apart);
        }
    }

    /// Reads one plane of a row of the field into a row buffer's half.
    #[inline(always)]
    unsafe fn load_plane(&self, a: isize, s: isize, plane: usize, to: *mut L::Element) {
        unsafe {
            let (tiling, frames, halo) = (self.pass.tiling, self.pass.frames, self.halo);
            let (x, across, stream) = (self.block.x, self.block.across, self.block.stream);
            let out = std::slice::from_raw_parts_mut(self.row, 2 * self.k);
            let width = x.len(halo);
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
                copy_wrapped(&tiling.x, row, x.start(halo), &mut out[..width]);
            } else {
                let row = tiling.row(a.cast_unsigned(), s.cast_unsigned());
                let own = self.pass.field[plane].add(row * tiling.stride + x.core.start);
                let own = std::slice::from_raw_parts(own.cast_const(), x.core.len());
                let mut at = 0;
                if let Some(boundary) = x.left {
                    out[..halo].copy_from_slice(&frames.columns(tiling, boundary, row, plane)[..halo]);
                    at = halo;
                }
                out[at..at + own.len()].copy_from_slice(own);
                at += own.len();
                if let Some(boundary) = x.right {
                    out[at..at + halo].copy_from_slice(&frames.columns(tiling, boundary, row, plane)[halo..]);
                }
            }
            out[width..].fill(L::Element::default());
            split_row::<L>(self.row, to, self.k);
        }
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
        unsafe {
            let (k, tiling) = (self.k, self.pass.tiling);
            let (a, s) = self.sites(pair, member, h);
            let to = self.new_row(member, h);
            let bits = std::slice::from_raw_parts_mut(self.bits_row(pair, member, h), 2 * k);
            if !self.exists(a, s) {
                to.write_bytes(0, 4 * k);
                bits.fill(0);
                return;
            }
            self.load_plane(a, s, 0, to);
            self.load_plane(a, s, 1, to.add(2 * k));
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
                        split_row::<L>(numbers.as_ptr().add(start.cast_unsigned()), to.add(plane * 2 * k), k);
                    } else {
                        copy_wrapped(&tiling.x, numbers, start, &mut natural[..width]);
                        split_row::<L>(self.row, to.add(plane * 2 * k), k);
                    }
                }
            }
            if let Some(sites) = &self.pass.bits.sites {
                let natural = std::slice::from_raw_parts_mut(self.row_bits, 2 * k);
                natural[width..].fill(0);
                copy_wrapped(&tiling.x, &sites[row * tiling.stride..], start, &mut natural[..width]);
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
    unsafe fn load_pair(&self, pair: usize) {
        unsafe {
            let members = if self.pass.rank == 1 { 1 } else { 2 };
            for h in 0..self.height {
                for member in 0..members {
                    self.load_row(pair, member, h);
                }
                for flag in 0..self.k / FLAG {
                    let mut common = PLAIN;
                    for member in 0..members {
                        let bits = self.bits_row(pair, member, h);
                        for half in [0, self.k] {
                            let sixteen = bits.add(half + flag * FLAG).cast::<[u8; FLAG]>().read();
                            common &= sixteen.iter().fold(PLAIN, |all, bits| all & bits);
                        }
                    }
                    *self.flags_row(pair, h).add(flag) = common != PLAIN;
                }
            }
            self.prefetch_pair(pair + 2);
        }
    }

    /// Asks for the rows of a pair to come.
    #[inline(always)]
    unsafe fn prefetch_pair(&self, pair: usize) {
        if pair > self.pairs || self.pass.rank != 2 {
            return;
        }
        let tiling = self.pass.tiling;
        for member in 0..2 {
            let (a, s) = self.sites(pair, member, 0);
            if !self.exists(a, s) {
                continue;
            }
            let start = tiling.row(0, tiling.stream.wrap(s)) * tiling.stride + self.block.x.core.start;
            let line = 64 / size_of::<L::Element>();
            for at in (start..start + self.block.x.core.len()).step_by(line) {
                for plane in self.pass.field {
                    prefetch(plane.wrapping_add(at));
                }
                for table in self.pass.tables {
                    for plane in table {
                        prefetch(plane.as_ptr().wrapping_add(at));
                    }
                }
            }
        }
    }

    /// Writes the core of a finished pair.
    #[inline(always)]
    unsafe fn store_pair(&self, pair: usize) {
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
                    for plane in 0..2 {
                        join_row::<L>(
                            self.new_row(member, h).add(plane * 2 * self.k),
                            self.row,
                            self.k,
                            0..self.k,
                        );
                        let to = self.pass.field[plane].add(start);
                        to.copy_from_nonoverlapping(self.row.add(first), core.len());
                    }
                }
            }
        }
    }

    /// Shows the core of a pair that stage `s` has finished to whoever watches whole steps.
    #[inline(always)]
    unsafe fn show(&self, s: usize, pair: usize) {
        let Some(watch) = self.pass.watch else { return };
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
                for view in watch.views() {
                    let Some(x) = view.overlap(j, k, core) else { continue };
                    let first = (x.start.cast_signed() - x0).cast_unsigned();
                    let lanes = first / 2 / L::N * L::N..(first + x.len()).div_ceil(2).next_multiple_of(L::N);
                    // SAFETY: `lanes` lies within the rows, x within the lanes.
                    let parts = [0, 1].map(|plane| unsafe {
                        let from = self.new_row(member, h).add(plane * 2 * self.k);
                        let to = self.row.add(plane * 2 * self.k);
                        join_row::<L>(from, to, self.k, lanes.clone());
                        std::slice::from_raw_parts(to.add(first).cast_const(), x.len())
                    });
                    view.take(step, j, k, x.start, parts[0], parts[1]);
                }
            }
        }
    }

    /// x sweeps of a row at a site of y.
    #[inline(always)]
    unsafe fn x_sweeps<const MODE: u8>(
        &self,
        row: *mut L::Element,
        bits: *const u8,
        flags: *const bool,
        y: isize,
        sweeps: &[Sweep<L::Element>; 3],
    ) {
        unsafe {
            if sweeps.iter().all(|sweep| sweep.re == L::Element::default()) {
                return;
            }
            if self.pass.peierls.is_empty() {
                x_row::<L, MODE>(row, self.k, bits, flags, sweeps);
                return;
            }
            let count = self.pass.peierls.len().cast_signed();
            let phase = self.pass.peierls[y.rem_euclid(count).cast_unsigned()];
            let sweeps = sweeps.map(|sweep| sweep.turned(phase));
            if MODE & IMAGINARY == 0 {
                x_row::<L, FLUX>(row, self.k, bits, flags, &sweeps);
            } else {
                x_row::<L, { FLUX | IMAGINARY }>(row, self.k, bits, flags, &sweeps);
            }
        }
    }

    /// One stage takes a pair and gives the one before.
    #[inline(always)]
    unsafe fn stage<const MODE: u8>(&self, s: usize, pair: usize) {
        unsafe {
            let stage = &self.pass.stages[s];
            // Real time without walls or flux: x, stream and phases in one loop over the rows.
            let fused = MODE == 0 && !self.pass.nested;
            if !fused {
                self.across_and_x::<MODE>(pair, &stage.before, false);
            } else if self.pass.rank == 3 {
                for member in 0..2 {
                    self.across::<MODE>(pair, member, &stage.before);
                }
            }
            for h in 0..self.height {
                let rows = PairRows {
                    new: [self.new_row(0, h), self.new_row(1, h)],
                    carried: [self.carried_row(s, 0, h), self.carried_row(s, 1, h)],
                    bits: [
                        self.bits_row(pair - 1, 0, h),
                        self.bits_row(pair - 1, 1, h),
                        self.bits_row(pair, 0, h),
                        self.bits_row(pair, 1, h),
                    ],
                    dirty: [self.flags_row(pair - 1, h), self.flags_row(pair, h)],
                    phases: [
                        self.phases_row(pair - 1, stage.table, 0, h),
                        self.phases_row(pair - 1, stage.table, 1, h),
                    ],
                };
                if fused {
                    stream_rows::<L, 0, false>(&rows, self.k, &stage.before, &stage.stream);
                } else {
                    stream_rows::<L, MODE, true>(&rows, self.k, &stage.before, &stage.stream);
                }
            }
            if !fused {
                self.across_and_x::<MODE>(pair - 1, &stage.after, true);
                for member in 0..2 {
                    for h in 0..self.height {
                        let phases = self.phases_row(pair - 1, stage.table, member, h);
                        phase_row::<L>(self.new_row(member, h), phases, self.k);
                    }
                }
            }
            if self.pass.interacts {
                for row in 0..2 * self.height {
                    let row = std::slice::from_raw_parts_mut(self.new.add(row * 4 * self.k), 4 * self.k);
                    interact(row, stage.interaction, MODE & IMAGINARY != 0);
                }
            }
        }
    }

    /// Nested: x then across before the stream, across then x after it.
    #[inline(always)]
    unsafe fn across_and_x<const MODE: u8>(&self, pair: usize, sweeps: &[Sweep<L::Element>; 3], after: bool) {
        unsafe {
            for member in 0..2 {
                if after && self.pass.rank == 3 {
                    self.across::<MODE>(pair, member, sweeps);
                }
                for h in 0..self.height {
                    if pair == 0 {
                        break;
                    }
                    let (a, s) = self.sites(pair, member, h);
                    let y = if self.pass.rank == 3 { a } else { s };
                    let (bits, flags) = (self.bits_row(pair, member, h), self.flags_row(pair, h));
                    self.x_sweeps::<MODE>(self.new_row(member, h), bits, flags, y, sweeps);
                }
                if !after && self.pass.rank == 3 {
                    self.across::<MODE>(pair, member, sweeps);
                }
            }
        }
    }

    /// Sweeps across the rows of one slab of the new pair; numbers 0 and 2 are even, 1 is odd.
    #[inline(always)]
    unsafe fn across<const MODE: u8>(&self, pair: usize, member: usize, sweeps: &[Sweep<L::Element>; 3]) {
        unsafe {
            for (n, sweep) in sweeps.iter().enumerate() {
                if sweep.re == L::Element::default() {
                    continue;
                }
                let odd = n % 2;
                let row = |h: usize| self.new_row(member, h);
                let bits = |h: usize| self.bits_row(pair, member, h).cast_const();
                let flags = |h: usize| self.flags_row(pair, h).cast_const();
                for h in (odd..self.height - 1).step_by(2) {
                    let both = [bits(h), bits(h + 1)];
                    let dirty = [flags(h), flags(h + 1)];
                    between_rows::<L, MODE>(row(h), row(h + 1), self.k, both, dirty, ACROSS[odd], sweep);
                }
                if odd == 1 {
                    for h in [0, self.height - 1] {
                        alone_row::<L>(row(h), self.k, bits(h), ACROSS[1], sweep);
                    }
                }
            }
        }
    }

    /// One dimension: the whole block stays in L1 for all stages.
    #[inline(always)]
    unsafe fn line<const MODE: u8>(&self) {
        unsafe {
            self.load_pair(1);
            for (s, stage) in self.pass.stages.iter().enumerate() {
                let row = self.new_row(0, 0);
                let (bits, flags) = (self.bits_row(1, 0, 0), self.flags_row(1, 0));
                self.x_sweeps::<MODE>(row, bits, flags, 0, &stage.stream);
                phase_row::<L>(row, self.phases_row(1, stage.table, 0, 0), self.k);
                if self.pass.interacts {
                    let row = std::slice::from_raw_parts_mut(row, 4 * self.k);
                    interact(row, stage.interaction, MODE & IMAGINARY != 0);
                }
                self.show(s, 1);
            }
            self.store_pair(1);
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
