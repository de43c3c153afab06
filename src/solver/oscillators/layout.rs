//! How sites lie in memory: rows along x, the even columns of a row first, then the odd ones.
//!
//! A pair along x then joins numbers of equal index (even pairs) or of indices that differ by one (odd pairs), a pair along y two rows: every sweep is the same
//! loop over four straight arrays, without shuffles.

use crate::grid::Grid;

/// Rows in memory, of fields and of coefficients alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Sites along x and y.
    pub size: [usize; 2],
    /// 1 or 2.
    pub rank: usize,
    /// Whether an axis closes on itself.
    pub periodic: [bool; 2],
    /// Places kept free before and after the columns of either parity: coefficients of a ring are repeated there.
    pub pad: usize,
    /// Numbers from the even columns of a row to the odd ones.
    pub half: usize,
}

impl Layout {
    /// The layout of `grid` (1D or 2D) with room for `pad` columns of either parity beyond the ends of a row.
    pub(super) fn new(grid: &Grid, pad: usize) -> Self {
        const LINE: usize = 16;
        let [nx, ny, _] = grid.size();
        let pad = pad.next_multiple_of(LINE);
        let mut half = (nx.div_ceil(2) + 2 * pad).next_multiple_of(LINE);
        // Rows a whole number of pages apart compete for the same places of a cache.
        if ny > 1 && half.is_multiple_of(256) {
            half += LINE;
        }
        Self {
            size: [nx, ny],
            rank: grid.rank(),
            periodic: [grid.is_periodic(0), grid.is_periodic(1)],
            pad,
            half,
        }
    }

    /// Numbers from row to row.
    pub(super) fn stride(&self) -> usize {
        2 * self.half
    }

    /// Numbers of a field.
    pub(super) fn len(&self) -> usize {
        self.stride() * self.size[1]
    }

    /// Columns of a parity.
    pub(super) fn columns(&self, odd: bool) -> usize {
        if odd {
            self.size[0] / 2
        } else {
            self.size[0].div_ceil(2)
        }
    }

    /// Place of column `i` within a row.
    pub(super) fn column(&self, i: usize) -> usize {
        self.pad + i / 2 + if i.is_multiple_of(2) { 0 } else { self.half }
    }

    /// Place of a site.
    pub(super) fn index(&self, i: usize, j: usize) -> usize {
        j * self.stride() + self.column(i)
    }

    /// Place of the first even column of a row.
    pub(super) fn row(&self, j: usize) -> usize {
        j * self.stride() + self.pad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_has_a_place_of_its_own() {
        for (size, pad) in [(&[7usize, 5][..], 0), (&[8, 4], 3), (&[33], 17), (&[512, 3], 0)] {
            let layout = Layout::new(&Grid::new(size, 1.0), pad);
            let mut seen = vec![false; layout.len()];
            for j in 0..layout.size[1] {
                for i in 0..layout.size[0] {
                    let place = layout.index(i, j);
                    assert!(!std::mem::replace(&mut seen[place], true));
                }
            }
            assert!(layout.half >= layout.columns(false) + 2 * layout.pad);
        }
    }
}
