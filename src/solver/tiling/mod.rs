//! How a grid is cut into blocks that take several steps while they stay in cache; shared by the methods that sweep over pairs of sites.
//!
//! A block takes n sub-steps on its core and a halo of 2n sites on every side that is not a wall (column pairing, even corners).

mod plan;

pub(super) use plan::{LEAST_MEASURED, LONGEST, Plan, cut, sample};

use crate::grid::Grid;
use crate::scene::Objection;
use std::ops::Range;

/// Columns of a chunk: blocks are cut at multiples of it, and detectors add up whole ones.
pub(super) const CHUNK: usize = 64;

/// Objections to periodic axes with an odd number of sites.
pub(super) fn ring_objections(grid: &Grid) -> Vec<Objection> {
    let odd = |axis: &usize| grid.is_periodic(*axis) && grid.size()[*axis] % 2 == 1;
    let object = |axis: usize| {
        let sites = grid.size()[axis];
        let name = ["x", "y", "z"][axis];
        Objection::new(
            "grid.size",
            format!(
                "a periodic axis needs an even number of sites for bonds to fall into two groups, and {name} has {sites}"
            ),
            format!("choose {} or {}", sites - 1, sites + 1),
        )
    };
    (0..grid.rank()).filter(odd).map(object).collect()
}

/// The part of an axis that a block updates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub core: Range<usize>,
    /// Boundary below, if there is a halo.
    pub left: Option<usize>,
    /// Boundary above.
    pub right: Option<usize>,
}

impl Span {
    /// First site read, for a halo of `halo` sites; negative where it wraps.
    pub(super) fn start(&self, halo: usize) -> isize {
        let start = self.core.start.cast_signed();
        if self.left.is_some() {
            start - halo.cast_signed()
        } else {
            start
        }
    }

    /// Sites read.
    pub(super) fn len(&self, halo: usize) -> usize {
        self.core.len() + halo * (usize::from(self.left.is_some()) + usize::from(self.right.is_some()))
    }
}

/// An axis cut into spans.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub sites: usize,
    pub periodic: bool,
    pub spans: Vec<Span>,
    /// Sites at which frames are kept: the first site above each.
    pub boundaries: Vec<usize>,
}

impl Axis {
    /// Equal spans of at most `most` sites, which begin at multiples of `unit` (even). Where the axis has ends no span is shorter than `halo`, even if `most` is: a
    /// neighbour would read beyond the end, and miss what happens there.
    pub(super) fn new(sites: usize, periodic: bool, most: usize, unit: usize, halo: usize) -> Self {
        let most = most.max(unit) / unit * unit;
        let length_of = |count: usize| sites.div_ceil(count).next_multiple_of(unit);
        let short = |count: usize| {
            let length = length_of(count);
            let last = sites - (sites.div_ceil(length) - 1) * length;
            sites > length && last.min(length) < halo
        };
        let mut count = sites.div_ceil(most);
        while !periodic && short(count) {
            count -= 1;
        }
        let length = length_of(count);
        let count = sites.div_ceil(length);
        let first = usize::from(!periodic);
        let boundary = |n: usize| {
            if n.is_multiple_of(count) {
                periodic.then_some(0)
            } else {
                Some(n - first)
            }
        };
        Self {
            sites,
            periodic,
            spans: (0..count)
                .map(|n| Span {
                    core: n * length..((n + 1) * length).min(sites),
                    left: boundary(n),
                    right: boundary(n + 1),
                })
                .collect(),
            boundaries: (first..count).map(|n| n * length).collect(),
        }
    }

    /// Sites from `start` on of one of its rows, see [`copy_wrapped`].
    pub(super) fn copy<T: Copy + Default>(&self, row: &[T], start: isize, out: &mut [T]) {
        copy_wrapped(self.sites, self.periodic, row, start, out);
    }

    /// A site number brought into the grid.
    pub(super) fn wrap(&self, site: isize) -> usize {
        site.rem_euclid(self.sites.cast_signed()).cast_unsigned()
    }
}

/// The grid cut along x, across (y of a 3D grid) and along the stream (y in 2D, z in 3D).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tiling {
    pub x: Axis,
    pub across: Axis,
    pub stream: Axis,
    /// Numbers from row to row.
    pub stride: usize,
}

impl Tiling {
    /// The flat number of a row.
    pub(super) fn row(&self, across: usize, stream: usize) -> usize {
        across + self.across.sites * stream
    }

    pub(super) fn rows(&self) -> usize {
        self.across.sites * self.stream.sites
    }

    /// Sites that blocks read for every site of the grid, with this halo.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub(super) fn redundancy(&self, halo: usize) -> f64 {
        [&self.x, &self.across, &self.stream]
            .map(|axis| axis.spans.iter().map(|span| span.len(halo)).sum::<usize>() as f64 / axis.sites as f64)
            .iter()
            .product()
    }
}

/// Sites from `start` on of a row of `sites`; past the edge they wrap, or are 0 (`T::default()`) where the row does not close on itself.
pub(super) fn copy_wrapped<T: Copy + Default>(sites: usize, periodic: bool, row: &[T], start: isize, out: &mut [T]) {
    let row = &row[..sites];
    let mut at = start;
    let mut out = out;
    while !out.is_empty() {
        if !periodic && (at < 0 || at >= sites.cast_signed()) {
            let count = if at < 0 {
                at.unsigned_abs().min(out.len())
            } else {
                out.len()
            };
            let (head, tail) = out.split_at_mut(count);
            head.fill(T::default());
            at += count.cast_signed();
            out = tail;
            continue;
        }
        let from = at.rem_euclid(sites.cast_signed()).cast_unsigned();
        let count = (sites - from).min(out.len());
        let (head, tail) = out.split_at_mut(count);
        head.copy_from_slice(&row[from..from + count]);
        at += count.cast_signed();
        out = tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all arguments, what a span reads beside itself ends in the span next to it; spans cover the axis and begin at multiples of their unit.
    #[test]
    fn no_span_is_shorter_than_what_its_neighbours_read() {
        for unit in [2, CHUNK] {
            for halo in [2, 16, 80] {
                for most in [unit, 3 * unit, 5 * unit + 1] {
                    for sites in 1..9 * unit {
                        for periodic in [false, true] {
                            let axis = Axis::new(sites, periodic, most, unit, halo);
                            let ends = (axis.spans.iter().map(|span| span.core.end)).collect::<Vec<_>>();
                            assert_eq!(axis.spans[0].core.start, 0);
                            assert_eq!(ends.last(), Some(&sites));
                            for (span, end) in axis.spans[1..].iter().zip(&ends) {
                                assert!(span.core.start == *end && end.is_multiple_of(unit));
                            }
                            let short = axis.spans.iter().any(|span| span.core.len() < halo);
                            assert!(
                                periodic || axis.spans.len() == 1 || !short,
                                "{sites} sites, {most}, {unit}, {halo}: {:?}",
                                axis.spans
                            );
                        }
                    }
                }
            }
        }
    }
}
