//! Variant `blocked`: several whole steps on a block that stays in cache.
//!
//! 2D: a block's rows stream in pairs through a pipeline with one stage a sub-step. A stage takes pair n: x sweeps on its two rows, the even bond between
//! them, the odd bond to pair n − 1, the second even bond of pair n − 1 and its x sweeps, which completes pair n − 1 for the next stage. The rows
//! between the first stage and the last, 2(stages + 1) of them, stay in cache in a ring, each where it was read. 1D: a block is one row.
//!
//! Halo: 2 sites a sub-step and side. A pass reads one copy of the field and writes another; memory is read and written once for all of its steps. The same
//! row kernels in the same order as `naive`: the same bits.

#![allow(unsafe_code, reason = "drives the row kernels")]

use super::events::SiteEvents;
use super::field::Field;
use super::layout::Layout;
use super::pair::Sites;
use super::rows::{Row, Stretch, Turns};
use super::springs::Springs;
use crate::backend::simd::{Kernel, Lanes, Vectors};
use crate::backend::threads;
use crate::field::Real;
use crate::grid::Grid;
use crate::solver::tiling::{Axis, Plan, Span, Tiling, copy_wrapped, cut};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Blocks, and the second copy of the field.
pub(super) struct Blocked<T> {
    plan: Plan,
    /// Sub-steps of a pass at most.
    depth: usize,
    tiling: Tiling,
    other: Field<T>,
    /// Rows of blocks at work, per thread.
    scratch: Vec<Mutex<Vec<T>>>,
}

impl<T: Vectors> Blocked<T> {
    /// Blocks for `grid` as `plan` says; a step has `substeps` sub-steps.
    pub(super) fn new(grid: &Grid, plan: Plan, substeps: usize, layout: &Layout) -> Self {
        let depth = plan.fused * substeps;
        Self {
            tiling: cut(grid, &plan, depth),
            plan,
            depth,
            other: Field::new(layout),
            scratch: (0..threads::count()).map(|_| Mutex::default()).collect(),
        }
    }

    /// Other blocks.
    pub(super) fn set_plan(&mut self, grid: &Grid, plan: Plan, substeps: usize) {
        self.depth = plan.fused * substeps;
        self.tiling = cut(grid, &plan, self.depth);
        self.plan = plan;
    }

    /// How the grid is cut.
    pub(super) fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// Steps of a pass.
    pub(super) fn fused(&self) -> usize {
        self.plan.fused
    }

    /// The choices that were made, for the user.
    pub(super) fn details(&self) -> String {
        let halo = 2 * self.depth;
        let x = self.tiling.x.spans[0].len(halo);
        let block = if self.tiling.stream.sites == 1 {
            x.to_string()
        } else {
            format!("{x} × {}", self.tiling.stream.spans[0].len(halo))
        };
        format!(
            "block {block}, {} fused steps, {}",
            self.plan.fused,
            self.plan.level.title()
        )
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.other.bytes()
    }

    /// Takes at most [`Blocked::fused`] steps in one pass over the grid.
    pub(super) fn pass(&mut self, field: &mut Field<T>, springs: &Springs<T>, events: &SiteEvents<T>, steps: usize) {
        let stages: Vec<usize> = (0..steps)
            .flat_map(|_| springs.scheme.substeps.iter().copied())
            .collect();
        let pass = Pass {
            springs,
            events,
            from: [&field.q, &field.p],
            to: self.other.shared(),
            substeps: springs.scheme.substeps.len(),
            stages: &stages,
            stream: &self.tiling.stream,
        };
        let blocks: Vec<(&Span, &Span)> = (self.tiling.stream.spans.iter())
            .flat_map(|y| self.tiling.x.spans.iter().map(move |x| (x, y)))
            .collect();
        let (level, scratch) = (self.plan.level, &self.scratch);
        blocks.par_iter().with_max_len(1).for_each(|(x, y)| {
            // One scratch a thread, so nobody waits here.
            let place = rayon::current_thread_index().unwrap_or(0) % scratch.len();
            let mut scratch = scratch[place].lock().unwrap_or_else(PoisonError::into_inner);
            level.run(Block::new(&pass, x, y, &mut scratch));
        });
        std::mem::swap(field, &mut self.other);
    }
}

/// A pass over the grid, shared by its blocks.
struct Pass<'a, T> {
    springs: &'a Springs<T>,
    events: &'a SiteEvents<'a, T>,
    from: [&'a [T]; 2],
    /// Blocks write their cores only.
    to: [*mut T; 2],
    /// Per stage: the number of its length of sub-step.
    stages: &'a [usize],
    /// Stages of a whole step.
    substeps: usize,
    stream: &'a Axis,
}

// SAFETY: blocks write disjoint cores; everything else is only read.
unsafe impl<T: Real> Sync for Pass<'_, T> {}

/// A block at work.
struct Block<'a, T> {
    pass: &'a Pass<'a, T>,
    core: Range<usize>,
    y: &'a Span,
    stretch: Stretch,
    /// Rows read, and the first of them.
    height: usize,
    first: isize,
    /// Rows of the ring.
    ring: usize,
    /// Numbers of the even or the odd columns of a row in the ring.
    width: usize,
    rows: *mut T,
}

impl<'a, T: Vectors> Block<'a, T> {
    fn new(pass: &'a Pass<'a, T>, x: &'a Span, y: &'a Span, scratch: &'a mut Vec<T>) -> Self {
        const LINE: usize = 64;
        let halo = 2 * pass.stages.len();
        let stretch = Stretch {
            start: x.start(halo),
            columns: x.len(halo),
            low_end: x.left.is_none(),
            high_end: x.right.is_none(),
            ring: false,
        };
        let numbers = LINE / size_of::<T>();
        // An odd number of lines: rows of the ring then do not compete for the same places of the first cache.
        let lines = stretch.evens().div_ceil(numbers) | 1;
        let width = lines * numbers;
        let ring = 2 * (pass.stages.len() + 1);
        scratch.clear();
        scratch.resize(ring * 4 * width + numbers, T::zero());
        let rows = scratch.as_mut_ptr();
        Self {
            pass,
            core: x.core.clone(),
            y,
            stretch,
            height: y.len(halo),
            first: y.start(halo),
            ring,
            width,
            rows: {
                let skipped = rows.align_offset(LINE).min(numbers);
                debug_assert!(skipped + ring * 4 * width <= scratch.len(), "{skipped} numbers skipped");
                rows.wrapping_add(skipped)
            },
        }
    }

    /// Row n of the block.
    #[inline(always)]
    fn row(&self, n: usize) -> Row<T> {
        debug_assert!(n < self.height, "row {n} of {}", self.height);
        let start = self.rows.wrapping_add(n % self.ring * 4 * self.width);
        let even = Sites {
            q: start,
            p: start.wrapping_add(2 * self.width),
        };
        Row {
            j: self.pass.stream.wrap(self.first + n.cast_signed()),
            even,
            odd: even.at(self.width),
        }
    }

    /// Whether row n is one of the block's own, whose neighbours do not compute it as well.
    fn owns(&self, n: usize) -> bool {
        let at = self.first + n.cast_signed();
        at >= 0 && self.y.core.contains(&at.cast_unsigned())
    }

    /// Reads row n.
    #[inline(always)]
    fn load(&self, n: usize) {
        let layout = &self.pass.springs.layout;
        let row = self.row(n);
        let start = self.stretch.start / 2;
        for (odd, sites, count) in [
            (false, row.even, self.stretch.evens()),
            (true, row.odd, self.stretch.odds()),
        ] {
            let columns = layout.columns(odd);
            let first = layout.row(row.j) + if odd { layout.half } else { 0 };
            debug_assert!(count <= self.width, "{count} columns");
            for (from, to) in self.pass.from.iter().zip([sites.q, sites.p]) {
                // SAFETY: a row of the ring, which is as wide as the stretch.
                let to = unsafe { std::slice::from_raw_parts_mut(to, count) };
                copy_wrapped(columns, layout.periodic[0], &from[first..first + columns], start, to);
            }
        }
    }

    /// Writes the core's columns of row n, if the row is its own.
    #[inline(always)]
    fn save(&self, n: usize) {
        if n >= self.height || !self.owns(n) {
            return;
        }
        let layout = &self.pass.springs.layout;
        let row = self.row(n);
        let skipped = (self.core.start.cast_signed() - self.stretch.start).cast_unsigned() / 2;
        for (odd, sites, count) in [
            (false, row.even, self.core.len().div_ceil(2)),
            (true, row.odd, self.core.len() / 2),
        ] {
            let place = layout.row(row.j) + self.core.start / 2 + if odd { layout.half } else { 0 };
            let sites = sites.at(skipped);
            for (from, to) in [sites.q, sites.p].into_iter().zip(self.pass.to) {
                // SAFETY: cores do not overlap, begin at even columns, and lie within the grid.
                unsafe { to.add(place).copy_from_nonoverlapping(from, count) };
            }
        }
    }

    /// The step of the pass that stage `s` belongs to, if it begins it or ends it.
    fn begins(&self, s: usize) -> Option<usize> {
        s.is_multiple_of(self.pass.substeps).then_some(s / self.pass.substeps)
    }

    fn ends(&self, s: usize) -> Option<usize> {
        self.begins(s + 1).map(|next| next - 1)
    }

    /// Row n as it enters stage `s`: what comes before a step, and the first sweeps along x.
    #[inline(always)]
    unsafe fn enter<L: Lanes<Element = T>>(&self, s: usize, turns: &Turns<T>, n: usize) {
        // SAFETY: rows below `height` stay in the ring, and the caller says that the machine has L's instructions.
        unsafe {
            if n >= self.height {
                return;
            }
            let row = self.row(n);
            if let Some(step) = self.begins(s) {
                self.pass.events.before::<L>(step, row, &self.stretch);
            }
            turns.along::<L>(row, false);
            turns.along::<L>(row, true);
        }
    }

    /// Row n as it leaves stage `s`.
    #[inline(always)]
    unsafe fn leave<L: Lanes<Element = T>>(&self, s: usize, turns: &Turns<T>, n: usize) {
        // SAFETY: rows below `height` stay in the ring, and the caller says that the machine has L's instructions.
        unsafe {
            if n >= self.height {
                return;
            }
            let row = self.row(n);
            if self.pass.springs.layout.rank > 1 {
                turns.along::<L>(row, true);
            }
            turns.along::<L>(row, false);
            if let Some(step) = self.ends(s) {
                let none = 0..0;
                let core = if self.owns(n) { &self.core } else { &none };
                self.pass.events.after::<L>(step, row, &self.stretch, core);
            }
        }
    }

    /// Bonds along y between rows n and n + 1, of which one may be missing: beyond the grid's edge, or the block's.
    #[inline(always)]
    unsafe fn between<L: Lanes<Element = T>>(&self, turns: &Turns<T>, n: isize, odd: bool) {
        // SAFETY: rows below `height` stay in the ring, and the caller says that the machine has L's instructions.
        unsafe {
            let upper = (n + 1).cast_unsigned();
            if n < 0 {
                if self.y.left.is_none() {
                    turns.rim::<L>(self.row(0), false);
                }
            } else if upper < self.height {
                turns.between::<L>(self.row(n.cast_unsigned()), self.row(upper), odd);
            } else if upper == self.height && self.y.right.is_none() {
                turns.rim::<L>(self.row(n.cast_unsigned()), true);
            }
        }
    }

    /// Stage `s` takes pair `n` and completes the one before.
    #[inline(always)]
    unsafe fn stage<L: Lanes<Element = T>>(&self, s: usize, n: usize) {
        // SAFETY: rows below `height` stay in the ring, and the caller says that the machine has L's instructions.
        unsafe {
            let turns = Turns {
                layout: &self.pass.springs.layout,
                table: &self.pass.springs.tables[self.pass.stages[s]],
                stretch: self.stretch,
            };
            let at = 2 * n.cast_signed();
            self.enter::<L>(s, &turns, 2 * n);
            self.enter::<L>(s, &turns, 2 * n + 1);
            self.between::<L>(&turns, at, false);
            self.between::<L>(&turns, at - 1, true);
            if n > 0 {
                self.between::<L>(&turns, at - 2, false);
                self.leave::<L>(s, &turns, 2 * n - 2);
                self.leave::<L>(s, &turns, 2 * n - 1);
            }
        }
    }
}

impl<T: Vectors> Kernel<T> for Block<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        let stages = self.pass.stages.len();
        // SAFETY: rows stay inside the ring; the machine has L's instructions.
        unsafe {
            if self.pass.springs.layout.rank == 1 {
                self.load(0);
                for s in 0..stages {
                    let turns = Turns {
                        layout: &self.pass.springs.layout,
                        table: &self.pass.springs.tables[self.pass.stages[s]],
                        stretch: self.stretch,
                    };
                    self.enter::<L>(s, &turns, 0);
                    self.leave::<L>(s, &turns, 0);
                }
                self.save(0);
                return;
            }
            let pairs = self.height.div_ceil(2);
            for tick in 0..pairs + stages {
                for n in [2 * tick, 2 * tick + 1] {
                    if n < self.height {
                        self.load(n);
                    }
                }
                for s in 0..stages.min(tick + 1) {
                    // One beyond the last completes it.
                    if tick - s <= pairs {
                        self.stage::<L>(s, tick - s);
                    }
                }
                if tick >= stages {
                    self.save(2 * (tick - stages));
                    self.save(2 * (tick - stages) + 1);
                }
            }
        }
    }
}
