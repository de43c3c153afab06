//! The red–black layout: where a site stands, which sites are open, and which rows a sweep joins.

use super::super::components::CrossPhase;
use super::kernel::TurnComponents;
use crate::backend::simd::{Aligned, Level, Vectors};
use crate::field::Real;
use crate::grid::Grid;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::Range;

/// Places that one dirty flag stands for, the longest vector of singles; rows are padded to whole multiples.
pub(super) const BLOCK: usize = 16;

/// Numbers of a plane that a thread takes at once.
const PART: usize = 4096;

/// Rows of half the grid's columns, numbered j + ny·k as everywhere.
///
/// Column x of a row stands at place x/2 of the row, in the red planes if x + y + z is even and in the black ones if it is odd. In a row of parity
/// p = (y + z) mod 2 the even columns are therefore red for p = 0 and black for p = 1. At the row's end there are a block of zeros or more, so that
/// vectors shifted by one place stay inside.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    size: [usize; 3],
    /// Places from row to row.
    pub(super) stride: usize,
}

impl Layout {
    pub(super) fn new(grid: &Grid) -> Self {
        let size = grid.size();
        Self {
            size,
            stride: size[0].div_ceil(2).next_multiple_of(BLOCK) + BLOCK,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.size[1] * self.size[2]
    }

    /// Sites along the axes.
    pub(super) fn size(&self) -> [usize; 3] {
        self.size
    }

    pub(super) fn rows_of_plane(&self) -> usize {
        self.size[1]
    }

    pub(super) fn planes(&self) -> usize {
        self.size[2]
    }

    /// Columns of the grid.
    pub(super) fn width(&self) -> usize {
        self.size[0]
    }

    /// Places of a row that hold sites, in whole blocks.
    pub(super) fn places(&self) -> usize {
        self.stride - BLOCK
    }

    /// (y + z) mod 2: the colour, 0 red and 1 black, of a row's even columns.
    pub(super) fn parity(&self, row: usize) -> usize {
        (row % self.size[1] + row / self.size[1]) % 2
    }

    /// y of a row.
    pub(super) fn y(&self, row: usize) -> usize {
        row % self.size[1]
    }
}

/// A complex number a site, in planes: re and im of red, re and im of black.
#[derive(Debug)]
pub(super) struct Planes<T> {
    layout: Layout,
    pub(super) planes: [Aligned<T>; 4],
}

impl<T: Real> Planes<T> {
    /// Zeros, in large pages: passes read many rows at once.
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            layout: layout.clone(),
            // At unlike places of a page.
            planes: [0, 16, 32, 48].map(|lines| Aligned::large(layout.stride * layout.rows(), lines)),
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.planes.iter().map(Aligned::memory).sum()
    }

    /// Sites `x` of a row in natural order.
    pub(super) fn read(&self, row: usize, x: Range<usize>, out: &mut [Complex<T>]) {
        let start = row * self.layout.stride;
        let parity = self.layout.parity(row);
        let part = |plane: usize| &self.planes[plane][start..start + self.layout.stride];
        let [even, odd] = [parity, 1 - parity].map(|colour| [part(2 * colour), part(2 * colour + 1)]);
        read_row(even, odd, x, out);
    }

    /// Replaces sites from `x` on of a row.
    pub(super) fn write(&mut self, row: usize, x: usize, values: &[Complex<T>]) {
        let start = row * self.layout.stride;
        let parity = self.layout.parity(row);
        for (x, value) in (x..).zip(values) {
            let colour = (x + parity) % 2;
            self.planes[2 * colour][start + x / 2] = value.re;
            self.planes[2 * colour + 1][start + x / 2] = value.im;
        }
    }

    /// Turns the components on the two sites of the last axis: a site and its other stand at the same place of planes of unlike colour.
    pub(super) fn turn_components(&mut self, phase: CrossPhase<T>, level: Level)
    where
        T: Vectors,
    {
        let half = self.layout.stride * self.layout.rows() / 2;
        let halves = (self.planes.each_mut()).map(|plane| plane.split_at_mut(half));
        let [
            (red_re, other_red_re),
            (red_im, other_red_im),
            (black_re, other_black_re),
            (black_im, other_black_im),
        ] = halves;
        let turn = |first: [&mut [T]; 2], second: [&mut [T]; 2]| {
            let [first, second] = [first, second].map(|[re, im]| re.par_chunks_mut(PART).zip(im.par_chunks_mut(PART)));
            first.zip(second).for_each(|((re, im), (other_re, other_im))| {
                level.run(TurnComponents {
                    phase,
                    first: [re, im],
                    second: [other_re, other_im],
                });
            });
        };
        turn([red_re, red_im], [other_black_re, other_black_im]);
        turn([black_re, black_im], [other_red_re, other_red_im]);
    }

    /// Multiplies all sites with a number.
    pub(super) fn scale(&mut self, factor: T) {
        for plane in &mut self.planes {
            let parts = plane.par_chunks_mut(PART);
            parts.for_each(|part| part.iter_mut().for_each(|value| *value *= factor));
        }
    }

    /// Changes, in parallel, the rows that `touched` names; `change` gets (row, sites in natural order).
    pub(super) fn change(
        &mut self,
        touched: &(dyn Fn(usize) -> bool + Sync),
        change: &(dyn Fn(usize, &mut [Complex<T>]) + Sync),
    ) {
        let (nx, stride, layout) = (self.layout.size[0], self.layout.stride, &self.layout);
        let [red_re, red_im, black_re, black_im] = &mut self.planes;
        let red = red_re.par_chunks_mut(stride).zip(red_im.par_chunks_mut(stride));
        let black = black_re.par_chunks_mut(stride).zip(black_im.par_chunks_mut(stride));
        (red.zip(black).enumerate())
            .with_min_len((PART / nx).max(1))
            .filter(|(row, _)| touched(*row))
            .for_each_init(
                || vec![Complex::default(); nx],
                |sites, (row, (red, black))| {
                    let ((even_re, even_im), (odd_re, odd_im)) = if layout.parity(row) == 0 {
                        (red, black)
                    } else {
                        (black, red)
                    };
                    join([even_re, even_im], [odd_re, odd_im], sites);
                    change(row, sites);
                    split(sites, [even_re, even_im], [odd_re, odd_im]);
                },
            );
    }
}

/// Sites `x` of a row in natural order: `even` and `odd` are real and imaginary parts of all its even and odd columns.
pub(super) fn read_row<T: Real>(even: [&[T]; 2], odd: [&[T]; 2], x: Range<usize>, out: &mut [Complex<T>]) {
    let mut out = &mut out[..x.len()];
    let mut place = x.start / 2;
    if !x.start.is_multiple_of(2)
        && let Some(first) = out.split_off_first_mut()
    {
        *first = Complex::new(odd[0][place], odd[1][place]);
        place += 1;
    }
    join(even.map(|part| &part[place..]), odd.map(|part| &part[place..]), out);
}

/// Sites of a row, from an even column on, in natural order: `even` and `odd` are real and imaginary parts of these columns.
fn join<T: Real>(even: [&[T]; 2], odd: [&[T]; 2], sites: &mut [Complex<T>]) {
    let (pairs, last) = sites.as_chunks_mut::<2>();
    let count = pairs.len();
    if let ([last], [re, im]) = (last, even) {
        *last = Complex::new(re[count], im[count]);
    }
    let ([even_re, even_im], [odd_re, odd_im]) = (even.map(|part| &part[..count]), odd.map(|part| &part[..count]));
    for (k, pair) in pairs.iter_mut().enumerate() {
        *pair = [Complex::new(even_re[k], even_im[k]), Complex::new(odd_re[k], odd_im[k])];
    }
}

/// The inverse of [`join`].
fn split<T: Real>(sites: &[Complex<T>], even: [&mut [T]; 2], odd: [&mut [T]; 2]) {
    let (pairs, last) = sites.as_chunks::<2>();
    let count = pairs.len();
    let [even_re, even_im] = even;
    if let [last] = last {
        (even_re[count], even_im[count]) = (last.re, last.im);
    }
    let (even_re, even_im) = (&mut even_re[..count], &mut even_im[..count]);
    let [odd_re, odd_im] = odd.map(|part| &mut part[..count]);
    for (k, [even, odd]) in pairs.iter().enumerate() {
        (even_re[k], even_im[k]) = (even.re, even.im);
        (odd_re[k], odd_im[k]) = (odd.re, odd.im);
    }
}

/// Which sites take part in bonds: those in the grid that are no walls.
///
/// A byte, 1 or 0, a site: the even columns of a row, then its odd ones, `stride` of each. Without walls all rows share one.
/// A flag says whether any site of a block, or the first of the next, is closed; all other blocks need no bytes.
#[derive(Debug, Default)]
pub(super) struct Open {
    bytes: Vec<u8>,
    dirty: Vec<bool>,
    /// Whether every row has its own.
    by_row: bool,
    stride: usize,
}

impl Open {
    pub(super) fn new(layout: &Layout, walls: Option<&[bool]>) -> Self {
        let (nx, stride) = (layout.size[0], layout.stride);
        let rows = if walls.is_some() { layout.rows() } else { 1 };
        let blocks = stride / BLOCK;
        let mut bytes = vec![0; rows * 2 * stride];
        let mut dirty = vec![true; rows * blocks];
        (bytes
            .par_chunks_mut(2 * stride)
            .zip(dirty.par_chunks_mut(blocks))
            .enumerate())
        .for_each(|(row, (bytes, dirty))| {
            for x in 0..nx {
                let wall = walls.is_some_and(|walls| walls[row * nx + x]);
                bytes[x % 2 * stride + x / 2] = u8::from(!wall);
            }
            let (even, odd) = bytes.split_at(stride);
            for (block, dirty) in dirty.iter_mut().enumerate() {
                let with_next = block * BLOCK..((block + 1) * BLOCK + 1).min(stride);
                *dirty = even[with_next.clone()]
                    .iter()
                    .chain(&odd[with_next])
                    .any(|open| *open == 0);
            }
        });
        Self {
            bytes,
            dirty,
            by_row: walls.is_some(),
            stride,
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + self.dirty.len()
    }

    /// Bytes of a row's even and odd columns, and its flags.
    pub(super) fn row(&self, row: usize) -> ([&[u8]; 2], &[bool]) {
        let (stride, row) = (self.stride, if self.by_row { row } else { 0 });
        let (even, odd) = self.bytes[row * 2 * stride..(row + 1) * 2 * stride].split_at(stride);
        let blocks = stride / BLOCK;
        ([even, odd], &self.dirty[row * blocks..(row + 1) * blocks])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: &[usize]) -> Layout {
        Layout::new(&Grid::new(size, 1.0))
    }

    #[test]
    fn sites_go_to_their_colour_and_come_back() {
        for size in [[1, 1, 1], [5, 4, 3], [33, 2, 2], [64, 3, 1]] {
            let layout = layout(&size);
            let mut planes = Planes::<f64>::new(&layout);
            let value = |row: usize, x: usize| {
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                Complex::new((1 + row * size[0] + x) as f64, -((1 + row) as f64))
            };
            planes.change(&|_| true, &|row, sites| {
                for (x, site) in sites.iter_mut().enumerate() {
                    *site = value(row, x);
                }
            });
            for row in 0..layout.rows() {
                for x in 0..size[0] {
                    // The seed's rule, written out.
                    let (y, z) = (row % size[1], row / size[1]);
                    let colour = (x + y + z) % 2;
                    let at = row * layout.stride + x / 2;
                    let [re, im] = [0, 1].map(|part| planes.planes[2 * colour + part][at]);
                    assert_eq!(Complex::new(re, im), value(row, x));
                    let mut out = [Complex::default()];
                    planes.read(row, x..x + 1, &mut out);
                    assert_eq!(out[0], value(row, x));
                }
            }
            let sum: f64 = planes
                .planes
                .iter()
                .flat_map(|plane| plane.iter())
                .map(|v| v.abs())
                .sum();
            let sites: f64 = (0..layout.rows())
                .flat_map(|row| (0..size[0]).map(move |x| value(row, x)))
                .map(|v| v.re.abs() + v.im.abs())
                .sum();
            assert_eq!(sum, sites, "places beyond the sites hold zeros");
        }
    }

    #[test]
    fn blocks_are_dirty_where_a_bond_may_miss() {
        let layout = layout(&[200, 3]);
        let open = Open::new(&layout, None);
        // 100 places a colour: the seventh block ends at 112.
        assert_eq!(open.row(2).1, [false, false, false, false, false, false, true, true]);
        let mut walls = vec![false; 600];
        walls[200 + 2 * 32] = true;
        let open = Open::new(&layout, Some(&walls));
        assert!(!open.row(0).1[1] && !open.row(1).1[0]);
        // Place 32 of the even columns begins the third block and is the neighbour of the second's last.
        assert!(open.row(1).1[1] && open.row(1).1[2] && !open.row(1).1[3]);
        assert_eq!((open.row(1).0[0][32], open.row(1).0[1][32]), (0, 1));
    }
}
