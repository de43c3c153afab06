//! Displacements and momenta of a run on the processor.

use super::layout::Layout;
use super::pair::Sites;
use super::rows::Row;
use crate::backend::memory::zeros;
use crate::field::Real;
use std::ops::Range;

/// q and p, laid out as [`Layout`] says.
pub(super) struct Field<T> {
    pub q: Vec<T>,
    pub p: Vec<T>,
}

impl<T: Real> Field<T> {
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            q: zeros(layout.len()),
            p: zeros(layout.len()),
        }
    }

    /// Both arrays, for tasks that work on different rows.
    pub(super) fn shared(&mut self) -> [*mut T; 2] {
        [self.q.as_mut_ptr(), self.p.as_mut_ptr()]
    }

    /// A whole row of such arrays.
    pub(super) fn row([q, p]: [*mut T; 2], layout: &Layout, j: usize) -> Row<T> {
        let even = Sites { q, p }.at(layout.row(j));
        Row {
            j,
            even,
            odd: even.at(layout.half),
        }
    }

    /// Columns `x` of row `j` of one of the arrays.
    pub(super) fn read(layout: &Layout, all: &[T], j: usize, x: Range<usize>, mut to: impl FnMut(usize, T)) {
        for (n, i) in x.enumerate() {
            to(n, all[layout.index(i, j)]);
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.q.len() + self.p.len()) * size_of::<T>()
    }
}
