//! An absorbing layer is outside the domain: medium and walls at the layer's inner border continue outwards, constant along its normal, and in
//! corners those of the corner's site.
//!
//! A layer is then a uniform guide, in which its coordinate along the normal separates from the others; there absorbing by stretched
//! coordinates reflects nothing before it is discretised, and does not amplify. Walls or a medium that change along the normal inside a layer would make it
//! unstable.

use crate::grid::{Edge, Grid};
use std::ops::Range;

/// The sites inside all layers, axis by axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The grid, which may be a window of a larger one.
    grid: Grid,
    /// Sites of the whole grid.
    inner: [Range<usize>; 3],
}

impl Domain {
    /// The domain of a grid, or of that which it is a window of; without absorbing edges all of it.
    #[must_use]
    pub fn new(window: &Grid) -> Self {
        let grid = window.whole();
        let size = grid.size();
        let inner = [0, 1, 2].map(|axis| {
            let absorbs = axis < grid.rank() && grid.edges()[axis] == Edge::Absorb;
            let width = if absorbs && 2 * grid.absorb_width() < size[axis] {
                grid.absorb_width()
            } else {
                0
            };
            width..size[axis] - width
        });
        Self {
            grid: window.clone(),
            inner,
        }
    }

    /// All of a grid, for methods whose layers have the medium of the scene.
    #[must_use]
    pub fn whole(grid: &Grid) -> Self {
        Self {
            grid: grid.clone(),
            inner: grid.whole().size().map(|sites| 0..sites),
        }
    }

    /// Reads the sites `x` of a row by `read`, those in layers from the nearest ones inside, which may be elsewhere in the row. `read` fills a part of the row.
    pub fn read_row<V: Copy + Default>(&self, x: Range<usize>, out: &mut [V], read: impl Fn(Range<usize>, &mut [V])) {
        read(x.clone(), out);
        let Range { start, end } = self.inner[0];
        let [before, behind] = [x.start..start.min(x.end), end.max(x.start)..x.end];
        for (border, sites) in [(start, before), (end - 1, behind)] {
            if !sites.is_empty() {
                let mut value = [V::default()];
                read(border..border + 1, &mut value);
                out[sites.start - x.start..sites.end - x.start].fill(value[0]);
            }
        }
    }

    /// The sites of the grid that lie in it: from the first to before the second, axis by axis.
    pub fn bounds(&self) -> [[usize; 3]; 2] {
        let size = self.grid.size();
        let whole = self.grid.whole().size();
        let mut bounds = [[0; 3], size];
        for (axis, inner) in self.inner.iter().enumerate() {
            // Windows of a ring, which has no layers, go beyond its last site.
            if inner.len() < whole[axis] {
                let here = |site: usize| site.saturating_sub(self.grid.global(axis, 0)).min(size[axis]);
                (bounds[0][axis], bounds[1][axis]) = (here(inner.start), here(inner.end));
            }
        }
        bounds
    }

    /// The site of an axis whose medium site `at` has. It may be beyond the last site of a window: the medium is that of the whole grid.
    pub fn at(&self, axis: usize, at: usize) -> usize {
        let Range { start, end } = self.inner[axis];
        let own = self.grid.global(axis, at);
        let inside = own.clamp(start, end - 1);
        if inside == own {
            at
        } else {
            self.grid.local(axis, inside)
        }
    }

    /// y and z whose medium row (j, k) has.
    pub fn row(&self, j: usize, k: usize) -> [usize; 2] {
        [self.at(1, j), self.at(2, k)]
    }

    /// Gives the sites at both ends of a row the values of the nearest ones inside.
    pub fn fill_ends<V: Copy>(&self, row: &mut [V]) {
        let Range { start, end } = self.inner[0];
        if let (Some(first), Some(last)) = (row.get(start).copied(), row.get(end - 1).copied()) {
            row[..start].fill(first);
            row[end..].fill(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_go_on_outwards() {
        let grid = Grid::new(&[9, 7], 1.0).with_edges([Edge::Absorb, Edge::Absorb, Edge::Wall], 2);
        let domain = Domain::new(&grid);
        let mut row = [0, 1, 2, 3, 4, 5, 6, 7, 8];
        domain.fill_ends(&mut row);
        assert_eq!(row, [2, 2, 2, 3, 4, 5, 6, 6, 6]);
        assert_eq!([0, 1, 2, 4, 5, 6].map(|j| domain.row(j, 0)[0]), [2, 2, 2, 4, 4, 4]);
        // Rows 4, 5 and 6 of 7: all have the medium of row 4.
        let window = Domain::new(&grid.window(1, 4, 3));
        assert_eq!([0, 1, 2].map(|j| window.row(j, 0)[0]), [0, 0, 0]);
        // Rows 0 and 1: both have that of row 2, which is not theirs.
        let window = Domain::new(&grid.window(1, 0, 2));
        assert_eq!([0, 1].map(|j| window.row(j, 0)[0]), [2, 2]);
        assert_eq!(domain.bounds(), [[2, 2, 0], [7, 5, 1]]);
        assert_eq!(window.bounds(), [[2, 2, 0], [7, 2, 1]]);
        assert_eq!(Domain::new(&grid.window(1, 4, 3)).bounds(), [[2, 0, 0], [7, 1, 1]]);
        let read = |x: Range<usize>, out: &mut [usize]| {
            for (out, site) in out.iter_mut().zip(x) {
                *out = site;
            }
        };
        for (x, seen) in [
            (0..9, vec![2, 2, 2, 3, 4, 5, 6, 6, 6]),
            (4..8, vec![4, 5, 6, 6]),
            (0..2, vec![2, 2]),
            (7..9, vec![6, 6]),
        ] {
            let mut row = vec![0; x.len()];
            domain.read_row(x.clone(), &mut row, read);
            assert_eq!(row, seen);
            Domain::whole(&grid).read_row(x.clone(), &mut row, read);
            assert_eq!(row, x.collect::<Vec<_>>());
        }
        let closed = Domain::new(&Grid::new(&[3], 1.0));
        assert_eq!([0, 1, 2].map(|at| closed.at(0, at)), [0, 1, 2]);
    }
}
