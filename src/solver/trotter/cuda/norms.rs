//! The rows of a field whose norms are added.

use crate::grid::Grid;

/// Sites of a row that a block adds instead of a warp, whose loads are too few at a time for it.
pub(super) const LONG_ROW: usize = 1 << 14;

/// The rows whose norms are added: those of the grid, of a line pieces of [`LONG_ROW`] sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Norms {
    /// How many there are.
    pub count: usize,
    /// Sites of each but the last of a line, and from one to the next.
    pub sites: [usize; 2],
    /// Where the last ends.
    pub end: usize,
}

impl Norms {
    pub(super) fn of(grid: &Grid, pitch: usize) -> Self {
        let nx = grid.size()[0];
        if grid.rank() == 1 {
            return Self {
                count: nx.div_ceil(LONG_ROW),
                sites: [LONG_ROW; 2],
                end: nx,
            };
        }
        Self {
            count: grid.rows(),
            sites: [nx, pitch],
            end: grid.rows() * pitch,
        }
    }
}
