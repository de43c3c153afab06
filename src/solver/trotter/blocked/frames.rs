//! Frames that let blocks work in place.
//!
//! A block writes its core back where it read it, so its neighbours' halos must be kept: before a pass, the 2n sites on either side of every
//! boundary are copied to frames. On an axis that closes on itself the edge is such a boundary.

use crate::field::Real;
use crate::solver::tiling::{Axis, Tiling};
use rayon::prelude::*;

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
                    tiling.x.copy(&plane[row * stride..], start, out);
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
