//! Sweeps over one row or two, whole or a stretch of them in a block.

#![allow(unsafe_code, reason = "SIMD")]

use super::layout::Layout;
use super::pair::{Coefficients, Sites, pairs, swing_one, swings, turn_one};
use super::scheme::Sweep;
use super::springs::Table;
use crate::backend::simd::Lanes;
use crate::field::Real;

/// Columns of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// The first, even; negative where it wraps.
    pub start: isize,
    /// How many.
    pub columns: usize,
    /// Whether the row begins there, and does not close on itself.
    pub low_end: bool,
    /// Whether the row ends there, and does not close on itself.
    pub high_end: bool,
    /// Whether it is a whole row that closes on itself.
    pub ring: bool,
}

impl Stretch {
    /// A whole row.
    pub(super) fn whole(layout: &Layout) -> Self {
        let ring = layout.periodic[0];
        Self {
            start: 0,
            columns: layout.size[0],
            low_end: !ring,
            high_end: !ring,
            ring,
        }
    }

    /// Even columns.
    pub(super) fn evens(&self) -> usize {
        self.columns.div_ceil(2)
    }

    /// Odd columns.
    pub(super) fn odds(&self) -> usize {
        self.columns / 2
    }

    /// Place of its first even column of row `j` in an array of the grid.
    pub(super) fn place(&self, layout: &Layout, j: usize) -> usize {
        layout.row(j).wrapping_add_signed(self.start / 2)
    }

    /// The same within a row.
    pub(super) fn column(&self, layout: &Layout) -> usize {
        layout.pad.wrapping_add_signed(self.start / 2)
    }
}

/// A stretch of a row: its even and its odd columns.
pub(super) struct Row<T> {
    /// The number of the row.
    pub j: usize,
    pub even: Sites<T>,
    pub odd: Sites<T>,
}

impl<T> Clone for Row<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Row<T> {}

/// The coefficients of the sweeps of one sub-step.
pub(super) struct Turns<'a, T> {
    pub layout: &'a Layout,
    pub table: &'a Table<T>,
    pub stretch: Stretch,
}

// Contract of all functions below: the machine has L's instructions; rows are good for the stretch and share no number.
impl<T: Real> Turns<'_, T> {
    /// Pairs along x of one parity, and the sites that they leave alone.
    #[inline(always)]
    pub(super) unsafe fn along<L: Lanes<Element = T>>(&self, row: Row<T>, odd: bool) {
        // SAFETY: a stretch has `evens` even and `odds` odd columns; every pair that is turned lies among them, and
        // tables have as many numbers from its place on.
        unsafe {
            let Stretch {
                low_end,
                high_end,
                ring,
                ..
            } = self.stretch;
            let (evens, odds) = (self.stretch.evens(), self.stretch.odds());
            debug_assert!(evens > 0, "a stretch has a column");
            let place = self.stretch.place(self.layout, row.j);
            let sweep = Sweep { axis: 0, odd };
            let ends = &self.table.ends;
            if odd {
                let place = place + self.layout.half;
                pairs::<L>(row.odd, row.even.at(1), evens - 1, self.table.of(sweep, place));
                if low_end {
                    swing_one::<L>(row.even, ends[0][row.j]);
                }
                if high_end && evens == odds {
                    swing_one::<L>(row.odd.at(odds - 1), ends[1][row.j]);
                }
                if ring {
                    let last = odds - 1;
                    let pair = match self.table.of(sweep, place + last) {
                        Coefficients::Same(same) => *same,
                        Coefficients::Each(each) => each.map(|row| *row),
                    };
                    turn_one::<L>(row.odd.at(last), row.even, pair);
                }
            } else {
                pairs::<L>(row.even, row.odd, odds, self.table.of(sweep, place));
                if high_end && evens > odds {
                    swing_one::<L>(row.even.at(odds), ends[1][row.j]);
                }
            }
        }
    }

    /// Pairs of a row and the one above it.
    #[inline(always)]
    pub(super) unsafe fn between<L: Lanes<Element = T>>(&self, lower: Row<T>, upper: Row<T>, odd: bool) {
        // SAFETY: a stretch has `evens` even and `odds` odd columns; every pair that is turned lies among them, and
        // tables have as many numbers from its place on.
        unsafe {
            let place = self.stretch.place(self.layout, lower.j);
            let sweep = Sweep { axis: 1, odd };
            let of = |place| self.table.of(sweep, place);
            pairs::<L>(lower.even, upper.even, self.stretch.evens(), of(place));
            pairs::<L>(lower.odd, upper.odd, self.stretch.odds(), of(place + self.layout.half));
        }
    }

    /// A first or last row in the sweep that leaves it alone.
    #[inline(always)]
    pub(super) unsafe fn rim<L: Lanes<Element = T>>(&self, row: Row<T>, high: bool) {
        // SAFETY: a stretch has `evens` even and `odds` odd columns; every pair that is turned lies among them, and
        // tables have as many numbers from its place on.
        unsafe {
            let column = self.stretch.column(self.layout);
            swings::<L>(row.even, self.stretch.evens(), self.table.rim(high, column));
            swings::<L>(
                row.odd,
                self.stretch.odds(),
                self.table.rim(high, column + self.layout.half),
            );
        }
    }
}
