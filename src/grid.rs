//! The lattice: number of sites, spacing and what happens at each edge.
//!
//! Site (i, j, k) stands at (i·a, j·a, k·a), i from 0; x runs fastest in memory, so the flat index of a site is
//! `i + nx·(j + ny·k)`. Axes that a scene does not use have one site.

use crate::rounding::truncated;
use crate::words::worded;
use std::fmt;
use std::ops::Range;

worded! {
    /// What happens where the lattice ends, per axis.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Edge {
        /// Quantum: the bond across the edge is left out (ψ = 0 one spacing outside). Acoustic: rigid.
        Wall = "wall",
        /// Quantum: the same as [`Edge::Wall`]. Acoustic: pressure release, p = 0 one spacing outside.
        Soft = "soft",
        /// The last site is a neighbour of the first.
        Periodic = "periodic",
        /// An absorbing layer of `absorb_width` sites inside the grid, closed by a wall.
        Absorb = "absorb",
    }
}

/// A regular lattice of one, two or three dimensions with the same spacing along every axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    size: [usize; 3],
    rank: usize,
    spacing: f64,
    edges: [Edge; 3],
    absorb_width: usize,
    window: Option<Window>,
}

/// Where some rows of a larger grid stand in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    axis: usize,
    /// The row of the larger grid that is row 0 here.
    first: usize,
    /// Rows of the larger grid, and what happens at its ends.
    rows: usize,
    edge: Edge,
}

impl Grid {
    /// A lattice of `size` sites (1 to 3 axes, each at least 1) at `spacing`, closed by walls.
    ///
    /// # Panics
    /// If `size` has no or more than three entries; scene files are checked before they come here.
    #[must_use]
    pub fn new(size: &[usize], spacing: f64) -> Self {
        assert!((1..=3).contains(&size.len()), "a grid has 1 to 3 axes");
        let mut all = [1; 3];
        all[..size.len()].copy_from_slice(size);
        Self {
            size: all,
            rank: size.len(),
            spacing,
            edges: [Edge::Wall; 3],
            absorb_width: 0,
            window: None,
        }
    }

    /// `rows` rows of this grid along `axis`, from row `first` on; on a periodic axis the row behind the last is the first. Where rows are cut
    /// off, there is a wall.
    #[must_use]
    pub fn window(&self, axis: usize, first: usize, rows: usize) -> Self {
        let mut part = self.clone();
        part.window = Some(Window {
            axis,
            first,
            rows: self.size[axis],
            edge: self.edges[axis],
        });
        part.size[axis] = rows;
        if self.is_periodic(axis) {
            part.edges[axis] = Edge::Wall;
        }
        part
    }

    /// The grid that this is a window of, or this one.
    #[must_use]
    pub fn whole(&self) -> Self {
        let mut whole = self.clone();
        if let Some(window) = whole.window.take() {
            whole.size[window.axis] = window.rows;
            whole.edges[window.axis] = window.edge;
        }
        whole
    }

    /// Whether it is a window of a larger grid.
    pub fn is_window(&self) -> bool {
        self.window.is_some()
    }

    /// The sites of an axis that are site `at` of the whole grid: none, one, or of a ring's window several.
    pub fn locals(&self, axis: usize, at: usize) -> impl Iterator<Item = usize> + use<> {
        let (first, rows) = match self.window {
            Some(window) if window.axis == axis => ((at + window.rows - window.first) % window.rows, window.rows),
            _ => (at, self.size[axis]),
        };
        (first..self.size[axis]).step_by(rows)
    }

    /// The number that site `at` of an axis has in the whole grid.
    pub fn global(&self, axis: usize, at: usize) -> usize {
        match self.window {
            Some(window) if window.axis == axis => (window.first + at) % window.rows,
            _ => at,
        }
    }

    /// Sites `x` of a row as stretches of the whole grid's: how many come before each of them in `x`, and its sites there. One, but in a ring's window on x.
    pub fn stretches(&self, x: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let (first, end) = match self.window {
            Some(window) if window.axis == 0 => ((window.first + x.start) % window.rows, window.rows),
            _ => (x.start, usize::MAX),
        };
        let (sites, mut done) = (x.len(), 0);
        std::iter::from_fn(move || {
            let start = if done == 0 { first } else { 0 };
            let stretch = start..end.min(start + sites - done);
            let before = done;
            done += stretch.len();
            (!stretch.is_empty()).then_some((before, stretch))
        })
    }

    /// The site of an axis that is site `at` of the whole grid, counted from the window's first; beyond its last where the window does not hold it.
    pub fn local(&self, axis: usize, at: usize) -> usize {
        match self.window {
            Some(window) if window.axis == axis => (at + window.rows - window.first) % window.rows,
            _ => at,
        }
    }

    /// The same lattice with other edges; `absorb_width` counts sites.
    #[must_use]
    pub fn with_edges(mut self, edges: [Edge; 3], absorb_width: usize) -> Self {
        self.edges = edges;
        self.absorb_width = absorb_width;
        self
    }

    /// Sites along x, y, z; unused axes have 1.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Number of dimensions, 1 to 3.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many axes a place has: all, but where the last one has two sites and does not close on itself, these are the two components of ψ and no places.
    pub fn place_axes(&self) -> usize {
        let (whole, last) = (self.whole(), self.rank - 1);
        let components = last > 0 && whole.size[last] == 2 && !whole.is_periodic(last);
        self.rank - usize::from(components)
    }

    /// The spacing a.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The edges of x, y, z.
    pub fn edges(&self) -> [Edge; 3] {
        self.edges
    }

    /// Width in sites of the absorbing layer of axes that have one.
    pub fn absorb_width(&self) -> usize {
        self.absorb_width
    }

    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.size.iter().product()
    }

    /// Number of rows along x: ny·nz.
    pub fn rows(&self) -> usize {
        self.size[1] * self.size[2]
    }

    /// The site of an axis nearest to a coordinate; its first or last one outside.
    #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
    pub fn nearest_on(&self, axis: usize, at: f64) -> usize {
        truncated((at / self.spacing).round().clamp(0.0, (self.size[axis] - 1) as f64))
    }

    /// The site nearest to a point.
    pub fn nearest(&self, at: [f64; 3]) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.nearest_on(axis, at[axis]))
    }

    /// Flat index of site (i, j, k).
    pub fn index(&self, site: [usize; 3]) -> usize {
        site[0] + self.size[0] * (site[1] + self.size[1] * site[2])
    }

    /// Site of a flat index.
    pub fn site(&self, index: usize) -> [usize; 3] {
        let [nx, ny, _] = self.size;
        [index % nx, index / nx % ny, index / (nx * ny)]
    }

    /// Length, area or volume that one site stands for: a^d.
    pub fn cell_volume(&self) -> f64 {
        self.spacing.powi(i32::try_from(self.rank).unwrap_or(3))
    }

    /// Whether an axis closes on itself.
    pub fn is_periodic(&self, axis: usize) -> bool {
        self.edges[axis] == Edge::Periodic
    }

    /// The site behind another along an axis, round a ring the first behind the last.
    pub fn next(&self, mut site: [usize; 3], axis: usize) -> Option<[usize; 3]> {
        site[axis] += 1;
        if site[axis] == self.size[axis] {
            if !self.is_periodic(axis) {
                return None;
            }
            site[axis] = 0;
        }
        Some(site)
    }

    /// The way along an axis from the coordinate `from` to `to`; on a periodic axis of the whole grid the shorter one of both round the ring.
    pub fn way(&self, axis: usize, from: f64, to: f64) -> f64 {
        let (rows, edge) = match self.window {
            Some(window) if window.axis == axis => (window.rows, window.edge),
            _ => (self.size[axis], self.edges[axis]),
        };
        let way = to - from;
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let round = rows as f64 * self.spacing;
        if edge == Edge::Periodic && way.abs() > round / 2.0 {
            way - round * (way / round).round()
        } else {
            way
        }
    }

    /// The shape of an array as NPY writes it, C order: (nx,), (ny, nx) or (nz, ny, nx).
    pub fn shape(&self) -> Vec<usize> {
        self.size[..self.rank].iter().rev().copied().collect()
    }
}

/// A box of sites. Along a ring it may go round the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteBox {
    /// Its first site.
    pub first: [usize; 3],
    /// Sites along each axis, at most those of the grid.
    pub size: [usize; 3],
}

impl SiteBox {
    /// Number of sites.
    pub fn sites(&self) -> usize {
        self.size.iter().product()
    }

    /// Where a site of the grid stands in an array of the box, x fastest; `None` outside of it.
    pub fn index(&self, grid: &Grid, site: [usize; 3]) -> Option<usize> {
        let mut inside = [0; 3];
        for axis in 0..3 {
            // Both lie on the grid: less than a turn apart.
            let (sites, first) = (grid.size()[axis], self.first[axis]);
            debug_assert!(site[axis] < sites && first < sites, "{site:?} in {self:?}");
            inside[axis] = if site[axis] < first {
                site[axis] + sites - first
            } else {
                site[axis] - first
            };
            if inside[axis] >= self.size[axis] {
                return None;
            }
        }
        Some(inside[0] + self.size[0] * (inside[1] + self.size[1] * inside[2]))
    }

    /// The rows of the grid (j + ny·k) that it has, in the order of its array.
    pub fn rows(&self, grid: &Grid) -> impl Iterator<Item = usize> + use<> {
        let ([_, ny, nz], [_, j0, k0], [_, height, depth]) = (grid.size(), self.first, self.size);
        (0..depth).flat_map(move |k| (0..height).map(move |j| (j0 + j) % ny + ny * ((k0 + k) % nz)))
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.size[..self.rank].iter().map(ToString::to_string).collect();
        write!(f, "{}", sizes.join(" × "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_window_know_their_place() {
        let ring = Grid::new(&[4, 10], 1.0).with_edges([Edge::Wall, Edge::Periodic, Edge::Wall], 0);
        let part = ring.window(1, 8, 6);
        let rows: Vec<usize> = (0..6).map(|row| part.global(1, row)).collect();
        assert_eq!(rows, [8, 9, 0, 1, 2, 3]);
        assert!(part.is_window() && !part.is_periodic(1) && part.sites() == 24);
        assert_eq!(part.whole(), ring);
        assert_eq!([8, 1, 7].map(|row| part.local(1, row)), [0, 3, 9]);
        assert_eq!(part.stretches(1..3).collect::<Vec<_>>(), [(0, 1..3)]);
    }

    #[test]
    fn ways_along_a_ring_are_the_shorter_ones() {
        let ring = Grid::new(&[4, 10], 0.5).with_edges([Edge::Wall, Edge::Periodic, Edge::Wall], 0);
        for grid in [&ring, &ring.window(1, 8, 6)] {
            let way = |from, to| grid.way(1, from, to);
            assert_eq!([way(0.0, 4.5), way(4.5, 0.0), way(1.0, 2.0)], [-0.5, 0.5, 1.0]);
            // Half a turn either way is as long, and stays what it is.
            assert_eq!([way(0.0, 2.5), way(2.5, 0.0)], [2.5, -2.5]);
            assert_eq!(grid.way(0, 0.0, 1.5), 1.5);
        }
    }

    #[test]
    fn sites_of_a_window_on_a_line_know_their_place() {
        let ring = Grid::new(&[10], 1.0).with_edges([Edge::Periodic, Edge::Wall, Edge::Wall], 0);
        let part = ring.window(0, 7, 9);
        let of = |x: Range<usize>| part.stretches(x).collect::<Vec<_>>();
        assert_eq!(of(0..9), [(0, 7..10), (3, 0..6)]);
        assert_eq!(of(1..3), [(0, 8..10)]);
        assert_eq!(of(4..6), [(0, 1..3)]);
        assert_eq!(of(5..5), []);
    }
}
