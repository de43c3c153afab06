//! Which block, vector, lane and row a site of the line is in.

/// The places of the rows of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub sites: usize,
    /// Blocks side by side in a vector.
    pub lanes: usize,
    /// Rows of a block.
    pub rows: usize,
    /// Vectors of blocks.
    pub vectors: usize,
}

/// A row's place.
pub(super) enum Place {
    Joint(usize),
    /// Offset of the real part.
    Inside(usize),
}

impl Geometry {
    pub fn new(sites: usize, lanes: usize, blocks: usize) -> Self {
        let rows = (sites - 1).div_ceil(blocks.max(1)).saturating_sub(1).max(1);
        let blocks = (sites - 1).div_ceil(rows + 1).max(1);
        Self {
            sites,
            lanes,
            rows,
            vectors: blocks.div_ceil(lanes),
        }
    }

    /// Numbers of one vector of blocks.
    pub fn numbers(&self) -> usize {
        self.rows * 2 * self.lanes
    }

    pub fn blocks(&self) -> usize {
        self.vectors * self.lanes
    }

    pub fn place(&self, site: usize) -> Place {
        let (block, row) = (site / (self.rows + 1), site % (self.rows + 1));
        if row == 0 {
            Place::Joint(block)
        } else {
            Place::Inside(self.offset(block / self.lanes, row - 1) + block % self.lanes)
        }
    }

    pub fn offset(&self, vector: usize, row: usize) -> usize {
        (vector * self.rows + row) * 2 * self.lanes
    }

    pub fn site(&self, vector: usize, row: usize, lane: usize) -> usize {
        (vector * self.lanes + lane) * (self.rows + 1) + 1 + row
    }
}
