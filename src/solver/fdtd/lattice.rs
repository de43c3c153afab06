//! How rows lie in memory, and which row or site stands for one beyond the edge.

use crate::field::Real;
use crate::grid::{Edge, Grid};
use crate::solver::acoustic::outward::Domain;
use std::ops::Range;

/// The image of a site beyond an edge.
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
    /// Those of the grid that this is a window of, and the site of it that is the first one here.
    pub whole: [usize; 3],
    /// See `whole`.
    pub first: [usize; 3],
    /// Dimensions.
    pub rank: usize,
    /// Edges per axis.
    pub edges: [Edge; 3],
    /// Sites of an absorbing layer.
    pub absorb_width: usize,
    /// The sites between the absorbing layers ([`Domain::bounds`]).
    pub inside: [[usize; 3]; 2],
    /// Half width of the stencil.
    pub half: usize,
    /// Values from one row to the next.
    pub stride: usize,
    /// Values in a row before its first site.
    pub front: usize,
}

impl Lattice {
    /// Values before the first site of the first row, and the least between two rows: a cache line of single precision.
    pub const FRONT: usize = 16;

    /// The lattice of `grid` for a stencil of half width `half`.
    #[must_use]
    pub fn new(grid: &Grid, half: usize) -> Self {
        // Rows start on cache lines, and an odd number of lines apart: rows of neighbouring planes then do not compete
        // for the same cache sets when a side is a power of two.
        const LINE: usize = Lattice::FRONT;
        let front = LINE;
        // The line between two rows holds ghosts of both: half is at most 4.
        let mut lines = (front + grid.size()[0]).div_ceil(LINE);
        if grid.rows() > 1 && lines.is_multiple_of(2) {
            lines += 1;
        }
        Self {
            size: grid.size(),
            whole: grid.whole().size(),
            first: [0, 1, 2].map(|axis| grid.global(axis, 0)),
            rank: grid.rank(),
            edges: grid.edges(),
            absorb_width: grid.absorb_width(),
            inside: Domain::new(grid).bounds(),
            half,
            stride: lines * LINE,
            front,
        }
    }

    /// Whether an axis ends in absorbing layers.
    pub fn is_absorbing(&self, axis: usize) -> bool {
        self.edges[axis] == Edge::Absorb && self.absorb_width > 0
    }

    /// Whether site `at` of an axis lies in one of its absorbing layers.
    pub fn absorbs_at(&self, axis: usize, at: usize) -> bool {
        self.place_in_layer(axis, at).is_some()
    }

    /// The place of site `at` of an axis in its absorbing layer, 0 outermost; `None` outside of layers.
    pub fn place_in_layer(&self, axis: usize, at: usize) -> Option<usize> {
        if !self.is_absorbing(axis) {
            // Windows of a ring go beyond its last site.
            return None;
        }
        let own = self.first[axis] + at;
        let place = own.min(self.whole[axis] - 1 - own);
        (place < self.absorb_width).then_some(place)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.size[1] * self.size[2]
    }

    /// Values of an array; behind the last row there is room for its ghosts.
    pub fn values(&self) -> usize {
        self.rows() * self.stride + self.front
    }

    /// The places of the sites of a row in an array.
    pub fn sites(&self, row: usize) -> Range<usize> {
        let first = row * self.stride + self.front;
        first..first + self.size[0]
    }

    /// The places of the sites of a row with `half` ghosts at either end.
    pub fn span(&self, row: usize) -> Range<usize> {
        let sites = self.sites(row);
        sites.start - self.half..sites.end + self.half
    }

    /// Place of a site.
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (j + self.size[1] * k) * self.stride + self.front + i
    }

    /// The sites of row `row` of an array.
    pub fn row<'a, T>(&self, all: &'a [T], row: usize) -> &'a [T] {
        &all[self.sites(row)]
    }

    /// The sites of row `row` with `half` ghosts at either end.
    pub fn row_with_ghosts<'a, T>(&self, all: &'a [T], row: usize) -> &'a [T] {
        &all[self.span(row)]
    }

    /// The row, or its image, at `offset` from row (j, k) along `axis` (1 or 2).
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

    /// Writes the ghosts of a row with both its ends ([`Self::span`]). `odd` says whether soft edges change the sign, as they do for the pressure and
    /// not for the medium.
    pub fn fill_ghosts<T: Real>(&self, span: &mut [T], odd: bool) {
        for mirror in self.mirrors(odd) {
            mirror.apply(span);
        }
    }

    /// The sites that the ghosts of a row repeat; `odd` as for [`Self::fill_ghosts`].
    pub fn mirrors(&self, odd: bool) -> Vec<Mirror> {
        let (n, half) = (self.size[0], self.half);
        let edge = if odd || self.edges[0] != Edge::Soft {
            self.edges[0]
        } else {
            Edge::Wall
        };
        let mut all = Vec::new();
        for k in 1..=half {
            for (to, at) in [
                (half - k, -k.cast_signed()),
                (half + n - 1 + k, (n - 1 + k).cast_signed()),
            ] {
                let (from, sign) = match ghost(edge, n, at) {
                    Ghost::Same(i) => (half + i, 1),
                    Ghost::Negative(i) => (half + i, -1),
                    Ghost::Zero => (half, 0),
                };
                all.push(Mirror { to, from, sign });
            }
        }
        all
    }

    /// [`Self::fill_ghosts`] of every row.
    pub fn fill_all_ghosts<T: Real>(&self, all: &mut [T], odd: bool) {
        let mirrors = self.mirrors(odd);
        for row in 0..self.rows() {
            let span = &mut all[self.span(row)];
            for mirror in &mirrors {
                mirror.apply(span);
            }
        }
    }

    /// Sites of a field in the order of [`crate::field::FieldData`].
    pub fn packed<T: Copy>(&self, all: &[T]) -> Vec<T> {
        let mut out = Vec::with_capacity(self.size.iter().product());
        for row in 0..self.rows() {
            out.extend_from_slice(self.row(all, row));
        }
        out
    }
}

/// A ghost at an end of a row and the site that it repeats; places count from the first ghost ([`Lattice::span`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// The ghost.
    pub to: usize,
    /// The site.
    pub from: usize,
    /// 1, −1, or 0 for a ghost that is 0.
    pub sign: i8,
}

impl Mirror {
    /// Writes the ghost.
    #[inline]
    pub fn apply<T: Real>(self, span: &mut [T]) {
        span[self.to] = match self.sign {
            0 => T::zero(),
            1 => span[self.from],
            _ => -span[self.from],
        };
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
