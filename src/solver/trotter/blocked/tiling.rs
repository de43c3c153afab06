//! How a grid is cut into blocks, and the frames that let blocks work in place.
//!
//! A block takes n fused sub-steps on its core and a halo of 2n sites on every side that is not a wall (column pairing, even corners). It
//! writes its core back where it read it, so its neighbours' halos must be kept: before a pass, the 2n sites on either side of every
//! boundary are copied to frames. On an axis that closes on itself the edge is such a boundary.

use crate::field::Real;
use rayon::prelude::*;
use std::ops::Range;

/// The part of an axis that a block updates.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Span {
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
pub(in super::super) struct Axis {
    pub sites: usize,
    pub periodic: bool,
    pub spans: Vec<Span>,
    /// Sites at which frames are kept: the first site above each.
    pub boundaries: Vec<usize>,
}

impl Axis {
    /// Equal spans of at most `most` sites, which begin at multiples of `unit` (even).
    pub(super) fn new(sites: usize, periodic: bool, most: usize, unit: usize) -> Self {
        let most = most.max(unit) / unit * unit;
        let count = sites.div_ceil(most);
        let length = sites.div_ceil(count).next_multiple_of(unit);
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

    /// A site number brought into the grid.
    pub(super) fn wrap(&self, site: isize) -> usize {
        site.rem_euclid(self.sites.cast_signed()).cast_unsigned()
    }
}

/// The grid cut along x, across (y of a 3D grid) and along the stream (y in 2D, z in 3D).
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Tiling {
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

/// Copies of the sites beside boundaries, re and im planes.
#[derive(Debug, Default)]
pub(in super::super) struct Frames<T> {
    halo: usize,
    /// Per boundary, row, plane: 2·halo columns.
    x: Vec<T>,
    /// Per boundary, stream site, 2·halo rows, plane: a row.
    across: Vec<T>,
    /// Per boundary, 2·halo slabs, across site, plane: a row.
    stream: Vec<T>,
}

impl<T: Real> Frames<T> {
    pub(super) fn memory(&self) -> usize {
        (self.x.capacity() + self.across.capacity() + self.stream.capacity()) * size_of::<T>()
    }

    /// Copies all frames of a field.
    pub(super) fn take(&mut self, tiling: &Tiling, halo: usize, planes: [&[T]; 2]) {
        self.halo = halo;
        let (rows, stride) = (tiling.rows(), tiling.stride);
        let (across, stream) = (tiling.across.sites, tiling.stream.sites);
        let copy_row = |out: &mut [T], row: usize| {
            for (out, plane) in out.chunks_exact_mut(stride).zip(planes) {
                out.copy_from_slice(&plane[row * stride..(row + 1) * stride]);
            }
        };
        self.x.resize(tiling.x.boundaries.len() * rows * 4 * halo, T::zero());
        (self.x.par_chunks_mut(4 * halo * 16).enumerate()).for_each(|(chunk, out)| {
            for (n, out) in out.chunks_exact_mut(4 * halo).enumerate() {
                let n = chunk * 16 + n;
                let (boundary, row) = (tiling.x.boundaries[n / rows], n % rows);
                let start = boundary.cast_signed() - halo.cast_signed();
                for (out, plane) in out.chunks_exact_mut(2 * halo).zip(planes) {
                    copy_wrapped(&tiling.x, &plane[row * stride..], start, out);
                }
            }
        });
        let near = |axis: &Axis, boundary: usize, i: usize| {
            let site = boundary.cast_signed() - halo.cast_signed() + i.cast_signed();
            (axis.periodic || (0..axis.sites.cast_signed()).contains(&site)).then(|| axis.wrap(site))
        };
        let boundaries = &tiling.across.boundaries;
        self.across
            .resize(boundaries.len() * stream * 4 * halo * stride, T::zero());
        (self.across.par_chunks_mut(2 * stride).enumerate()).for_each(|(n, out)| {
            let (i, s, b) = (n % (2 * halo), n / (2 * halo) % stream, n / (2 * halo) / stream);
            if let Some(a) = near(&tiling.across, boundaries[b], i) {
                copy_row(out, tiling.row(a, s));
            }
        });
        let boundaries = &tiling.stream.boundaries;
        self.stream
            .resize(boundaries.len() * 4 * halo * across * stride, T::zero());
        (self.stream.par_chunks_mut(2 * stride).enumerate()).for_each(|(n, out)| {
            let (a, i, b) = (n % across, n / across % (2 * halo), n / across / (2 * halo));
            if let Some(s) = near(&tiling.stream, boundaries[b], i) {
                copy_row(out, tiling.row(a, s));
            }
        });
    }

    /// 2·halo columns around an x boundary.
    pub(super) fn columns(&self, tiling: &Tiling, boundary: usize, row: usize, plane: usize) -> &[T] {
        let at = ((boundary * tiling.rows() + row) * 2 + plane) * 2 * self.halo;
        &self.x[at..at + 2 * self.halo]
    }

    /// Row `i` of the 2·halo around a boundary across.
    pub(super) fn across_row(&self, tiling: &Tiling, boundary: usize, stream: usize, i: usize, plane: usize) -> &[T] {
        let at = (((boundary * tiling.stream.sites + stream) * 2 * self.halo + i) * 2 + plane) * tiling.stride;
        &self.across[at..at + tiling.stride]
    }

    /// A row of slab `i` of the 2·halo around a boundary of the stream.
    pub(super) fn stream_row(&self, tiling: &Tiling, boundary: usize, i: usize, across: usize, plane: usize) -> &[T] {
        let at = (((boundary * 2 * self.halo + i) * tiling.across.sites + across) * 2 + plane) * tiling.stride;
        &self.stream[at..at + tiling.stride]
    }
}

/// Columns from `start` on of a row; past the edge they wrap, or are 0 (`T::default()`) where the axis has walls.
pub(super) fn copy_wrapped<T: Copy + Default>(axis: &Axis, row: &[T], start: isize, out: &mut [T]) {
    let row = &row[..axis.sites];
    let mut at = start;
    let mut out = out;
    while !out.is_empty() {
        if !axis.periodic && (at < 0 || at >= axis.sites.cast_signed()) {
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
        let from = axis.wrap(at);
        let count = (axis.sites - from).min(out.len());
        let (head, tail) = out.split_at_mut(count);
        head.copy_from_slice(&row[from..from + count]);
        at += count.cast_signed();
        out = tail;
    }
}
