//! Which rows or planes bonds along y or z join.

use super::layout::Layout;

/// The units of rows of the grid for the bonds of one parity along y or z: two rows that are joined, or one that has no partner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairing {
    /// Sites of the axis.
    count: usize,
    odd: bool,
    wrap: bool,
    /// Rows from site to site of the axis.
    step: usize,
    /// Units of one line along the axis.
    pub(super) units: usize,
}

impl Pairing {
    /// `axis` 1 or 2.
    pub(super) fn new(layout: &Layout, axis: usize, odd: bool, periodic: bool) -> Self {
        let count = layout.size()[axis];
        let wrap = odd && periodic && count > 1;
        Self {
            count,
            odd,
            wrap,
            step: if axis == 1 { 1 } else { layout.size()[1] },
            units: if odd && !wrap { count / 2 + 1 } else { count.div_ceil(2) },
        }
    }

    /// Planes of the grid one by one.
    pub(super) fn single(layout: &Layout) -> Self {
        Self {
            count: 1,
            odd: false,
            wrap: false,
            step: layout.rows_of_plane(),
            units: 1,
        }
    }

    /// Units in all.
    pub(super) fn units(&self, layout: &Layout) -> usize {
        self.units * layout.rows() / self.count
    }

    /// The rows of a unit, lower and upper.
    pub(super) fn rows(&self, unit: usize) -> [Option<usize>; 2] {
        // The axis's own units run slower than the rows inside a step and faster than what lies outside.
        let (inner, rest) = (unit % self.step, unit / self.step);
        let (own, outer) = (rest % self.units, rest / self.units);
        self.rows_from(inner + self.step * self.count * outer, own)
    }

    /// The rows of the line along the axis that begins with row `first`, in its unit number `own`.
    #[inline]
    pub(super) fn rows_from(&self, first: usize, own: usize) -> [Option<usize>; 2] {
        let row = |site: usize| first + self.step * site;
        let within = |site: usize| (site < self.count).then(|| row(site));
        if !self.odd {
            [within(2 * own), within(2 * own + 1)]
        } else if self.wrap {
            let next = if 2 * own + 2 < self.count { 2 * own + 2 } else { 0 };
            [Some(row(2 * own + 1)), Some(row(next))]
        } else {
            [(2 * own).checked_sub(1).and_then(within), within(2 * own)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Edge, Grid};

    #[test]
    fn every_row_is_in_one_unit_with_its_neighbour() {
        for size in [[1, 1, 1], [1, 5, 1], [2, 6, 1], [1, 4, 5], [1, 2, 6], [1, 7, 2]] {
            for axis in [1, 2] {
                for periodic in [false, true] {
                    if periodic && size[axis] % 2 == 1 {
                        continue;
                    }
                    for odd in [false, true] {
                        check_pairing(size, axis, periodic, odd);
                    }
                }
            }
        }
    }

    fn check_pairing(size: [usize; 3], axis: usize, periodic: bool, odd: bool) {
        let edges = if periodic { Edge::Periodic } else { Edge::Wall };
        let layout = Layout::new(&Grid::new(&size, 1.0).with_edges([edges; 3], 0));
        let pairing = Pairing::new(&layout, axis, odd, periodic);
        let mut seen = vec![0; layout.rows()];
        for unit in 0..pairing.units(&layout) {
            let rows = pairing.rows(unit);
            for row in rows.into_iter().flatten() {
                seen[row] += 1;
            }
            if let [Some(lower), Some(upper)] = rows {
                let along = |row: usize| [row % size[1], row / size[1]][axis - 1];
                let across = |row: usize| [row / size[1], row % size[1]][axis - 1];
                assert_eq!(across(lower), across(upper));
                assert_eq!((along(lower) + 1) % size[axis], along(upper));
                assert_eq!(along(lower) % 2 == 1, odd);
            }
        }
        assert_eq!(seen, vec![1; layout.rows()], "{size:?} axis {axis} {periodic} {odd}");
        let bonds = (0..pairing.units(&layout))
            .filter(|unit| pairing.rows(*unit).iter().all(Option::is_some))
            .count();
        let along = if odd && !periodic {
            (size[axis] - 1) / 2
        } else {
            size[axis] / 2
        };
        assert_eq!(bonds, along * layout.rows() / size[axis]);
    }
}
