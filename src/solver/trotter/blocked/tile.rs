//! One block: slabs of rows streamed in pairs through a pipeline with one stage per fused sub-step.
//!
//! Stage s takes row pair p right after stage s − 1 has finished it, sweeps it along x (and across the slab), then along the stream as far
//! as it can: even bonds of pair p, the odd bond to pair p − 1, the second even sweep and the phase of pair p − 1, which goes on to the
//! next stage. A stage therefore carries one pair; the pairs of all stages stay in L1 (2D) or L2 (3D), and memory is read and written once per
//! pass.

#![allow(unsafe_code, reason = "drives the row kernels")]

use super::super::recorder::Recorder;
use super::bits::SiteBits;
use super::columns::{ACROSS, ANY, FLAG, FLUX, IMAGINARY, Sweep};
use super::frames::Frames;
use super::kernel::{
    OUTER, PairRows, STREAM_ONLY, WHOLE, alone_row, between_rows, interact_row, phase_row, stream_rows, x_row,
};
use super::sums;
use crate::backend::simd::{Lanes, Level, Vectors};
use crate::field::Real;
use crate::solver::tiling::{Span, Tiling};

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
    /// g τ of the interaction, for the densities after and before the phases.
    pub interaction: [T; 2],
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
    pub recorder: Option<&'a Recorder<T>>,
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
    sums: Vec<T>,
    bytes: Vec<u8>,
    levels: Vec<u8>,
}

/// Row kernels for one precision, entered with the target features of a level.
pub(in super::super) trait Blockwise: Vectors {
    /// Runs one block.
    fn run(level: Level, pass: &Pass<Self>, block: &Block, scratch: &mut Scratch<Self>);
}

macro_rules! blockwise {
    ($real:ty, $avx512:ident, $avx2:ident) => {
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
                        // SAFETY: pointers stay inside what `new` laid out; the caller says that the machine has L's
                        // instruction set.
                        Level::Avx512 => return unsafe { avx512(pass, block, scratch) },
                        // SAFETY: pointers stay inside what `new` laid out; the caller says that the machine has L's
                        // instruction set.
                        Level::Avx2 => return unsafe { avx2(pass, block, scratch) },
                        Level::Neon | Level::Simd128 | Level::Portable => {}
                    }
                }
                let _ = level;
                // SAFETY: every machine of the target has these.
                unsafe { Worker::<<$real as Vectors>::Portable>::new(pass, block, scratch).run() }
            }
        }
    };
}
blockwise!(f32, Avx512F32, Avx2F32);
blockwise!(f64, Avx512F64, Avx2F64);

/// A block at work.
pub(super) struct Worker<'a, L: Lanes> {
    pub(super) pass: &'a Pass<'a, L::Element>,
    pub(super) block: &'a Block<'a>,
    pub(super) halo: usize,
    /// Lanes of a row: half its columns, a multiple of [`FLAG`].
    pub(super) k: usize,
    /// Rows of a slab, even in 3D.
    pub(super) height: usize,
    /// Row pairs (slab pairs) read.
    pub(super) pairs: usize,
    /// Natural-order rows, re and im.
    pub(super) row: *mut L::Element,
    /// The pair that goes from stage to stage: 2 slabs.
    pub(super) new: *mut L::Element,
    /// Per stage: 2 slabs.
    carried: *mut L::Element,
    /// Per ring place and table: 2 slabs of phases.
    phases: *mut L::Element,
    /// Buffers for sums over all sites, see [`sums`](super::sums).
    pub(super) sums: *mut L::Element,
    pub(super) row_bits: *mut u8,
    /// Bits of the block's columns, apart.
    pub(super) x_bits: *mut u8,
    /// Per ring place: 2 slabs of bits.
    bits: *mut u8,
    /// Per ring place: levels of a slab pair.
    levels: *mut u8,
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
        scratch.levels.clear();
        scratch.levels.resize(ring * height * (k / FLAG), ANY);
        let row = scratch.numbers.as_mut_ptr();
        let row = row.wrapping_add(row.align_offset(64).min(spare));
        let new = row.wrapping_add(4 * k);
        let carried = new.wrapping_add(2 * slab);
        scratch.sums.clear();
        if pass.recorder.is_some_and(|recorder| recorder.whole().is_some()) {
            let steps = pass.stages.len() / pass.substeps;
            scratch.sums.resize(sums::scratch(k, L::N, steps), zero);
        }
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
            sums: scratch.sums.as_mut_ptr(),
            row_bits,
            x_bits: row_bits.wrapping_add(2 * k),
            bits: row_bits.wrapping_add(4 * k),
            levels: scratch.levels.as_mut_ptr(),
        }
    }

    // Contract of all that follows: the machine has L's instruction set; pairs, members, rows and stages are those that `new` made room for.

    #[inline(always)]
    unsafe fn run(&self) {
        // SAFETY: pointers stay inside what `new` laid out; the caller says that the machine has L's instruction
        // set.
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
        // SAFETY: pairs 1 to `pairs` + 1 and stages below their count are those that `new` made room for; bits and
        // levels of one place of the ring are filled whole.
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
                    let count = self.height * self.k / FLAG;
                    self.levels.add(self.place(tick) * count).write_bytes(ANY, count);
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
                    if self.pass.rank == 2 {
                        self.add_whole(s, pair - 1);
                    }
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
    pub(super) unsafe fn new_row(&self, member: usize, h: usize) -> *mut L::Element {
        // SAFETY: two members and `height` rows of a slab pair, which `in_pair` keeps within 2 slabs.
        unsafe { self.new.add(self.in_pair(member, h)) }
    }

    /// Place of a row in a slab pair: rows of equal height alternate block by block.
    fn in_pair(&self, member: usize, h: usize) -> usize {
        debug_assert!(member < 2 && h < self.height, "row {h} of member {member}");
        h * 8 * self.k + member * 4 * L::N
    }

    #[inline(always)]
    unsafe fn carried_row(&self, stage: usize, member: usize, h: usize) -> *mut L::Element {
        debug_assert!(stage < self.pass.stages.len(), "stage {stage}");
        // SAFETY: a slab pair a stage.
        unsafe { self.carried.add(stage * 2 * self.slab() + self.in_pair(member, h)) }
    }

    #[inline(always)]
    pub(super) unsafe fn bits_row(&self, pair: usize, member: usize, h: usize) -> *mut u8 {
        debug_assert!(member < 2 && h < self.height, "row {h} of member {member}");
        // SAFETY: 2k bytes a row, `height` rows a member, two members a place of the ring.
        unsafe {
            self.bits
                .add(((self.place(pair) * 2 + member) * self.height + h) * 2 * self.k)
        }
    }

    #[inline(always)]
    pub(super) unsafe fn levels_row(&self, pair: usize, h: usize) -> *mut u8 {
        debug_assert!(h < self.height, "row {h}");
        // SAFETY: k/FLAG bytes a row, `height` rows a place of the ring.
        unsafe { self.levels.add((self.place(pair) * self.height + h) * (self.k / FLAG)) }
    }

    #[inline(always)]
    pub(super) unsafe fn phases_row(&self, pair: usize, table: usize, member: usize, h: usize) -> *mut L::Element {
        debug_assert!(table < self.pass.tables.len(), "table {table}");
        // SAFETY: a slab pair a table, all tables a place of the ring.
        unsafe {
            let place = self.place(pair) * self.pass.tables.len() + table;
            self.phases.add(place * 2 * self.slab() + self.in_pair(member, h))
        }
    }

    /// Across and stream sites of row `h` of member 0 or 1 of a pair; may lie outside.
    pub(super) fn sites(&self, pair: usize, member: usize, h: usize) -> (isize, isize) {
        let across = self.block.across.start(self.halo) + h.cast_signed();
        let stream = self.block.stream.start(self.halo) + (2 * (pair - 1) + member).cast_signed();
        (across, stream)
    }

    /// x sweeps of a row at a site of y.
    #[inline(always)]
    unsafe fn x_sweeps<const MODE: u8>(
        &self,
        row: *mut L::Element,
        bits: *const u8,
        levels: *const u8,
        y: isize,
        sweeps: &[Sweep<L::Element>; 3],
    ) {
        // SAFETY: row, bits and levels are those of one row of `k` lanes.
        unsafe {
            if sweeps.iter().all(|sweep| sweep.re == L::Element::default()) {
                return;
            }
            if self.pass.peierls.is_empty() {
                x_row::<L, MODE, true>(row, self.k, bits, levels, sweeps, row);
                return;
            }
            let count = self.pass.peierls.len().cast_signed();
            let phase = self.pass.peierls[y.rem_euclid(count).cast_unsigned()];
            let sweeps = sweeps.map(|sweep| sweep.turned(phase));
            if MODE & IMAGINARY == 0 {
                x_row::<L, FLUX, true>(row, self.k, bits, levels, &sweeps, row);
            } else {
                x_row::<L, { FLUX | IMAGINARY }, true>(row, self.k, bits, levels, &sweeps, row);
            }
        }
    }

    /// One stage takes a pair and gives the one before.
    #[inline(always)]
    unsafe fn stage<const MODE: u8>(&self, s: usize, pair: usize) {
        // SAFETY: rows of pairs `pair` and `pair` − 1 are in the ring; members are 0 and 1, rows below `height`.
        unsafe {
            let stage = &self.pass.stages[s];
            // Real time without walls or flux: x, stream and phases in one loop over the rows. With walls: two loops.
            let whole = MODE == 0 && !self.pass.nested;
            let outer = self.pass.nested && self.pass.rank == 2 && self.pass.peierls.is_empty();
            if !whole && !outer {
                self.across_and_x::<MODE>(pair, &stage.before, false);
            } else if self.pass.rank == 3 {
                for member in 0..2 {
                    self.across::<MODE>(pair, member, &stage.before);
                }
            }
            for h in 0..self.height {
                let rows = PairRows {
                    new: self.new_row(0, h),
                    carried: self.carried_row(s, 0, h),
                    bits: [
                        self.bits_row(pair - 1, 0, h),
                        self.bits_row(pair - 1, 1, h),
                        self.bits_row(pair, 0, h),
                        self.bits_row(pair, 1, h),
                    ],
                    levels: [self.levels_row(pair - 1, h), self.levels_row(pair, h)],
                    phases: self.phases_row(pair - 1, stage.table, 0, h),
                    ahead: self.ahead(s, pair + s + 1),
                };
                if whole {
                    stream_rows::<L, 0, WHOLE>(&rows, self.k, &stage.before, &stage.stream);
                } else if outer {
                    stream_rows::<L, MODE, OUTER>(&rows, self.k, &stage.before, &stage.stream);
                } else {
                    stream_rows::<L, MODE, STREAM_ONLY>(&rows, self.k, &stage.before, &stage.stream);
                }
            }
            if outer {
                for member in 0..2 {
                    let (row, phases) = (
                        self.new_row(member, 0),
                        self.phases_row(pair - 1, stage.table, member, 0),
                    );
                    let (bits, levels) = (self.bits_row(pair - 1, member, 0), self.levels_row(pair - 1, 0));
                    x_row::<L, MODE, false>(row, self.k, bits, levels, &stage.after, phases);
                }
            } else if !whole {
                self.across_and_x::<MODE>(pair - 1, &stage.after, true);
                for member in 0..2 {
                    for h in 0..self.height {
                        let phases = self.phases_row(pair - 1, stage.table, member, h);
                        phase_row::<L>(self.new_row(member, h), phases, self.k);
                    }
                }
            }
            if self.pass.interacts {
                for h in 0..self.height {
                    for member in 0..2 {
                        let phases = self.phases_row(pair - 1, stage.table, member, h);
                        interact_row::<L>(self.new_row(member, h), phases, self.k, stage.interaction);
                    }
                }
            }
        }
    }

    /// Nested: x then across before the stream, across then x after it.
    #[inline(always)]
    unsafe fn across_and_x<const MODE: u8>(&self, pair: usize, sweeps: &[Sweep<L::Element>; 3], after: bool) {
        // SAFETY: rows of this pair are in the ring; members are 0 and 1, rows below `height`.
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
                    let (bits, levels) = (self.bits_row(pair, member, h), self.levels_row(pair, h));
                    self.x_sweeps::<MODE>(self.new_row(member, h), bits, levels, y, sweeps);
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
        // SAFETY: rows `h` and `h` + 1 are below `height`, and are two rows.
        unsafe {
            for (n, sweep) in sweeps.iter().enumerate() {
                if sweep.re == L::Element::default() {
                    continue;
                }
                let odd = n % 2;
                let row = |h: usize| self.new_row(member, h);
                let bits = |h: usize| self.bits_row(pair, member, h).cast_const();
                let levels = |h: usize| self.levels_row(pair, h).cast_const();
                for h in (odd..self.height - 1).step_by(2) {
                    let both = [bits(h), bits(h + 1)];
                    let levels = [levels(h), levels(h + 1)];
                    between_rows::<L, MODE>(row(h), row(h + 1), self.k, both, levels, ACROSS[odd], sweep);
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
        // SAFETY: one pair of one row, which `load_pair` has filled.
        unsafe {
            self.load_pair(1);
            for (s, stage) in self.pass.stages.iter().enumerate() {
                let row = self.new_row(0, 0);
                let (bits, levels) = (self.bits_row(1, 0, 0), self.levels_row(1, 0));
                self.x_sweeps::<MODE>(row, bits, levels, 0, &stage.stream);
                let phases = self.phases_row(1, stage.table, 0, 0);
                phase_row::<L>(row, phases, self.k);
                if self.pass.interacts {
                    interact_row::<L>(row, phases, self.k, stage.interaction);
                }
                self.show(s, 1);
            }
            self.store_pair(1);
        }
    }
}
