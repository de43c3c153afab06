//! Which parts the rows of a box have, and which of them are damped.

use super::super::segments::{Segment, Segments};
use crate::field::Real;

/// Which parts the rows of a box have.
#[derive(Clone, Copy)]
pub(in super::super) enum Parts<'a, T> {
    /// The same.
    Alike(&'a [Segment<T>]),
    /// Their own: those of the first row of the box, and how many rows of the grid further the next one is.
    Own(&'a Segments<T>, usize, usize),
}

impl<'a, T: Real> Parts<'a, T> {
    #[inline(always)]
    pub(super) fn of(self, n: usize) -> &'a [Segment<T>] {
        match self {
            Self::Alike(all) => all,
            Self::Own(all, first, step) => all.of(first + n * step),
        }
    }
}

/// γΔt of the rows of a box that are damped.
#[derive(Clone, Copy)]
pub(in super::super) struct Damping<'a, T> {
    /// The first row of the box, and how many rows of the grid further the next one is.
    pub(in super::super) first: usize,
    pub(in super::super) step: usize,
    /// Which of the damped rows each row of the grid is.
    pub(in super::super) rows: &'a [Option<u32>],
    /// γΔt of these, each as long as a row.
    pub(in super::super) rates: &'a [T],
    /// Sites of a row.
    pub(in super::super) sites: usize,
}

impl<T: Real> Damping<'_, T> {
    /// Where the rates of row `n` of the box begin.
    #[inline(always)]
    pub(super) fn of(self, n: usize) -> Option<*const T> {
        let place = (*self.rows.get(self.first + n * self.step)?)? as usize;
        Some(self.rates[place * self.sites..][..self.sites].as_ptr())
    }
}
