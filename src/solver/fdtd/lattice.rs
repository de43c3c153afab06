//! How rows lie in memory, and which row or site stands for one beyond the edge.

use crate::field::Real;
use crate::grid::{Edge, Grid};

/// What stands for a site beyond an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ghost {
    /// The value of this site.
    Same(usize),
    /// The negative value of this site: an odd mirror.
    Negative(usize),
    /// Zero: the mirror's node itself.
    Zero,
}

/// The site that stands for site `at` of an axis of `n`; `at` may lie any distance outside.
///
/// Rigid edges (and absorbing ones, whose layer they close) are an even mirror half a spacing outside, soft ones an odd mirror one
/// spacing outside.
#[must_use]
#[expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "sizes are far below 2^63, remainders are not negative"
)]
pub fn ghost(edge: Edge, n: usize, at: isize) -> Ghost {
    let sites = n as isize;
    match edge {
        _ if (0..sites).contains(&at) => Ghost::Same(at as usize),
        Edge::Periodic => Ghost::Same(at.rem_euclid(sites) as usize),
        Edge::Wall | Edge::Absorb => {
            let turn = at.rem_euclid(2 * sites);
            Ghost::Same(turn.min(2 * sites - 1 - turn) as usize)
        }
        Edge::Soft => {
            let turn = (at + 1).rem_euclid(2 * (sites + 1));
            match turn.cmp(&(sites + 1)) {
                _ if turn == 0 => Ghost::Zero,
                std::cmp::Ordering::Less => Ghost::Same((turn - 1) as usize),
                std::cmp::Ordering::Equal => Ghost::Zero,
                std::cmp::Ordering::Greater => Ghost::Negative((2 * (sites + 1) - turn - 1) as usize),
            }
        }
    }
}

/// Rows of the grid in memory: x fastest, each row with ghost sites at both ends, so that the kernels need no cases along x. Rows and planes
/// beyond an edge are not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    /// Sites along x, y, z.
    pub size: [usize; 3],
    /// Dimensions.
    pub rank: usize,
    /// Edges per axis.
    pub edges: [Edge; 3],
    /// Half width of the stencil.
    pub half: usize,
    /// Values from one row to the next.
    pub stride: usize,
    /// Values in a row before its first site.
    pub front: usize,
}

impl Lattice {
    /// The lattice of `grid` for a stencil of half width `half`.
    #[must_use]
    pub fn new(grid: &Grid, half: usize) -> Self {
        // Rows start on cache lines, and an odd number of lines apart: rows of neighbouring planes then do not compete
        // for the same cache sets when a side is a power of two.
        const LINE: usize = 16;
        let front = LINE;
        let mut lines = (front + grid.size()[0] + half).div_ceil(LINE);
        if grid.rows() > 1 && lines.is_multiple_of(2) {
            lines += 1;
        }
        Self {
            size: grid.size(),
            rank: grid.rank(),
            edges: grid.edges(),
            half,
            stride: lines * LINE,
            front,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.size[1] * self.size[2]
    }

    /// Values of an array.
    #[must_use]
    pub fn values(&self) -> usize {
        self.rows() * self.stride
    }

    /// Place of a site.
    #[must_use]
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (j + self.size[1] * k) * self.stride + self.front + i
    }

    /// The sites of row `row` of an array.
    #[must_use]
    pub fn row<'a, T>(&self, all: &'a [T], row: usize) -> &'a [T] {
        &all[row * self.stride + self.front..][..self.size[0]]
    }

    /// The sites of row `row` with `half` ghosts at either end.
    #[must_use]
    pub fn row_with_ghosts<'a, T>(&self, all: &'a [T], row: usize) -> &'a [T] {
        &all[row * self.stride + self.front - self.half..][..self.size[0] + 2 * self.half]
    }

    /// What stands for row (j, k) moved by `offset` along `axis` (1 or 2).
    #[must_use]
    pub fn neighbour_row(&self, j: usize, k: usize, axis: usize, offset: isize) -> Ghost {
        let [_, ny, nz] = self.size;
        let (at, n) = if axis == 1 { (j, ny) } else { (k, nz) };
        let row = |place: usize| if axis == 1 { place + ny * k } else { j + ny * place };
        match ghost(self.edges[axis], n, at.cast_signed() + offset) {
            Ghost::Same(place) => Ghost::Same(row(place)),
            Ghost::Negative(place) => Ghost::Negative(row(place)),
            Ghost::Zero => Ghost::Zero,
        }
    }

    /// Writes the ghosts of a row (`stride` values). `odd` says whether soft edges change the sign, as they do for the pressure and
    /// not for the medium.
    pub fn fill_ghosts<T: Real>(&self, row: &mut [T], odd: bool) {
        let n = self.size[0];
        for k in 1..=self.half {
            for (place, at) in [
                (self.front - k, -k.cast_signed()),
                (self.front + n - 1 + k, (n - 1 + k).cast_signed()),
            ] {
                let edge = if odd || self.edges[0] != Edge::Soft {
                    self.edges[0]
                } else {
                    Edge::Wall
                };
                row[place] = match ghost(edge, n, at) {
                    Ghost::Same(i) => row[self.front + i],
                    Ghost::Negative(i) => -row[self.front + i],
                    Ghost::Zero => T::zero(),
                };
            }
        }
    }

    /// Sites of a field in the order of [`crate::field::FieldData`].
    #[must_use]
    pub fn packed<T: Copy>(&self, all: &[T]) -> Vec<T> {
        let mut out = Vec::with_capacity(self.size.iter().product());
        for row in 0..self.rows() {
            out.extend_from_slice(self.row(all, row));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors() {
        let places = |edge, n: usize| (-5..8).map(|at| ghost(edge, n, at)).collect::<Vec<_>>();
        use Ghost::{Negative as N, Same as S, Zero as Z};
        assert_eq!(
            places(Edge::Wall, 3),
            [
                S(1),
                S(2),
                S(2),
                S(1),
                S(0),
                S(0),
                S(1),
                S(2),
                S(2),
                S(1),
                S(0),
                S(0),
                S(1)
            ]
        );
        assert_eq!(
            places(Edge::Soft, 3),
            [Z, N(2), N(1), N(0), Z, S(0), S(1), S(2), Z, N(2), N(1), N(0), Z]
        );
        assert_eq!(
            places(Edge::Periodic, 3)[3..10],
            [S(1), S(2), S(0), S(1), S(2), S(0), S(1)]
        );
        assert_eq!(ghost(Edge::Wall, 1, 4), S(0));
        assert_eq!(ghost(Edge::Soft, 1, -2), N(0));
    }
}
