//! Rows with parts of their own: plain ones, layers, walls in reach, damping, non-uniform density.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::super::bundle::{self, Bundles};
use super::super::segments::{Segment, Segments};
use super::super::stencil::of_stencil;
use super::general::{Axis, LayerBox};
use super::layered::Strip;
use super::parts::{Beyond, Damping};
use super::walk::{Squares, Walk};
use super::{AbsorbKernel, LayeredKernels, RowBox, inverse};
use crate::backend::simd::{self, Lanes, Level, Vectors};
use std::ops::Range;

/// Some rows with parts of their own.
pub(in super::super) struct MixedRows<'a, T> {
    pub(in super::super) rows: &'a RowBox<'a, T>,
    /// How many there are.
    pub(in super::super) count: usize,
    pub(in super::super) segments: &'a Segments<T>,
    /// The first row, and how many rows of the grid further the next one is.
    pub(in super::super) first: usize,
    pub(in super::super) step: usize,
    /// Whether x, y and z have layers here.
    pub(in super::super) absorbs: [bool; 3],
    /// Values from a row to those beside it along y and z, where the rows lie inside the grid.
    pub(in super::super) inner: Option<[usize; 2]>,
    /// ρ, if it differs from site to site.
    pub(in super::super) density: Option<*const T>,
    /// The faces of each site ([`super::super::faces`]), and bytes from those of a distance to those of the next.
    pub(in super::super) faces: Option<(*const u8, usize)>,
    /// γΔt, where rows are damped.
    pub(in super::super) damping: Damping<'a, T>,
    /// For parts with layers alone, and at the grid's edges plain ones.
    pub(in super::super) layered: &'a LayeredKernels<T>,
    /// For rare parts.
    pub(in super::super) general: AbsorbKernel<T>,
}

/// Steps such rows.
///
/// # Safety
/// See [`RowBox`].
pub(in super::super) type MixedKernel<T> = unsafe fn(&MixedRows<'_, T>);

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
pub(in super::super) fn mixed_kernel<T: Vectors>(half: usize, rank: usize) -> MixedKernel<T> {
    of_stencil!(step, T, half, rank)
}

/// # Safety
/// See [`MixedRows`].
unsafe fn step<T: Vectors, const H: usize, const D: usize>(all: &MixedRows<'_, T>) {
    Level::best().run(Mixed::<T, H, D>(all));
}

struct Mixed<'a, T, const H: usize, const D: usize>(&'a MixedRows<'a, T>);

impl<T: Vectors, const H: usize, const D: usize> simd::Kernel<T> for Mixed<'_, T, H, D> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        for n in 0..self.0.count {
            for segment in self.0.segments_of(n) {
                let rows = self.0.rows_with(segment, n);
                if !rows.is_empty() {
                    // SAFETY: the promise of the kernel's caller.
                    unsafe { self.0.segment::<L, H, D>(segment, rows) }
                }
            }
        }
    }
}

impl<T: Vectors> MixedRows<'_, T> {
    /// The parts of row `n`.
    fn segments_of(&self, n: usize) -> &[Segment<T>] {
        self.segments.of(self.first + n * self.step)
    }

    /// Whether a part has layers, or nothing at all, and no walls, damping or density.
    fn is_clean(&self, segment: &Segment<T>) -> bool {
        let look = &segment.look;
        !(look.walled || look.damped || look.dense && self.density.is_some())
    }

    /// The rows that are stepped together with a part of row `n`: ends of rows in layers along x take all rows from there on that have the same, and none if an earlier row took this one.
    fn rows_with(&self, segment: &Segment<T>, n: usize) -> Range<usize> {
        if segment.shift.is_none() || !self.is_clean(segment) {
            return n..n + 1;
        }
        let has = |n: &usize| {
            let parts = self.segments_of(*n);
            let end = if segment.sites.start == 0 {
                parts.first()
            } else {
                parts.last()
            };
            end == Some(segment)
        };
        if n > 0 && has(&(n - 1)) {
            return n..n;
        }
        n..n + 1 + (n + 1..self.count).take_while(has).count()
    }

    /// Steps a part of some rows, of one if it has more than layers.
    ///
    /// # Safety
    /// As for the kernel of the rows; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn segment<L: Lanes<Element = T>, const H: usize, const D: usize>(
        &self,
        segment: &Segment<T>,
        all: Range<usize>,
    ) {
        let (look, n) = (&segment.look, all.start);
        debug_assert!(
            all.end <= self.count && segment.sites.end <= self.rows.stride,
            "rows {all:?}"
        );
        debug_assert!(all.len() == 1 || self.is_clean(segment) && !look.plain, "rows {all:?}");
        // SAFETY: the caller's promise.
        unsafe {
            if look.plain
                && let Some(inner) = self.inner
            {
                self.plain::<L, H, D>(segment, n, inner);
                return;
            }
            let axes = [
                self.absorbs[0] && segment.shift.is_some(),
                self.absorbs[1],
                self.absorbs[2],
            ];
            let mut set = 0;
            for axis in 0..D {
                set += usize::from(axes[axis]) << axis;
            }
            let shift = segment.shift.unwrap_or(0);
            if self.is_clean(segment) {
                let strip = Strip {
                    sites: segment.sites.clone(),
                    shift,
                    rows: all,
                };
                if let Some(square) = look.square {
                    let mut rows = *self.rows;
                    (rows.square, rows.squares, rows.inverse) = (square, None, inverse(square));
                    (self.layered[set])(&rows, &strip);
                } else {
                    (self.layered[set])(self.rows, &strip);
                }
                return;
            }
            let beyond = self.beyond(segment, n);
            let sites = segment.sites.clone();
            let mut squares = Squares::<L>::of(self.rows.square, self.rows.inverse);
            if let Some(square) = look.square {
                squares = Squares::of(square, inverse(square));
            }
            let (rows, own) = (self.rows, look.square);
            match set {
                0 => Walk::<T, H, D, false, false, false>::new(rows, shift)
                    .with_square(own)
                    .row::<L, true>(sites, n, squares, beyond),
                1 => Walk::<T, H, D, true, false, false>::new(rows, shift)
                    .with_square(own)
                    .row::<L, true>(sites, n, squares, beyond),
                2 if D > 1 => Walk::<T, H, D, false, true, false>::new(rows, shift)
                    .with_square(own)
                    .row::<L, true>(sites, n, squares, beyond),
                4 if D > 2 => Walk::<T, H, D, false, false, true>::new(rows, shift)
                    .with_square(own)
                    .row::<L, true>(sites, n, squares, beyond),
                _ => self.crossed(segment, n, beyond),
            }
        }
    }

    /// What a part of row `n` has beside layers, at the row's first site.
    #[inline(always)]
    fn beyond(&self, segment: &Segment<T>, n: usize) -> Beyond<T> {
        let (look, at) = (&segment.look, n * self.rows.stride);
        let mut beyond = Beyond::NOTHING;
        if look.walled
            && let Some((near, plane)) = self.faces
        {
            beyond.faces = Some((near.wrapping_add(at), plane));
        }
        if look.damped {
            beyond.rates = self.damping.of(n);
        }
        if look.dense
            && let Some(density) = self.density
        {
            beyond.density = Some(density.wrapping_add(at));
        }
        beyond
    }

    /// Steps a plain part of row `n`, inside the grid.
    #[inline(always)]
    unsafe fn plain<L: Lanes<Element = T>, const H: usize, const D: usize>(
        &self,
        segment: &Segment<T>,
        n: usize,
        [y, z]: [usize; 2],
    ) {
        let at = n * self.rows.stride + segment.sites.start;
        let (mut square, mut squares) = (self.rows.square, None);
        if let Some(own) = segment.look.square {
            square = own;
        } else if let Some(from) = self.rows.squares {
            squares = Some(from.wrapping_add(at));
        }
        // SAFETY: a row of bundles reads what a box reads, whole vectors before and behind its sites at most.
        unsafe {
            bundle::row::<L, H, D>(&Bundles {
                now: self.rows.here.add(at),
                out: self.rows.out.add(at),
                squares,
                square,
                y,
                z,
                sites: segment.sites.len(),
                count: 1,
                step: 0,
                mirrors: &[],
                ahead: &[],
                potential: None,
            });
        }
    }

    /// Steps a part of row `n` in which layers cross, and walls, damping or densities are.
    #[cold]
    #[inline(never)]
    unsafe fn crossed(&self, segment: &Segment<T>, n: usize, beyond: Beyond<T>) {
        let at = n * self.rows.stride;
        let here = self.rows.here.wrapping_add(at);
        let near = |axis: usize, from: *const T, k: usize| match axis {
            0 => [from.wrapping_sub(k + 1), from.wrapping_add(k + 1)],
            _ => self.rows.beside[axis - 1][k].map(|offset| from.wrapping_offset(offset)),
        };
        let axes = std::array::from_fn(|axis| {
            let mut layer = self.rows.layers[axis];
            layer.factors = layer.factors.wrapping_add(n * layer.next_factor);
            layer.memory = layer.memory.map(|memory| memory.wrapping_add(n * layer.next_memory));
            Axis {
                near: std::array::from_fn(|k| near(axis, here, k)),
                density: beyond.density.map(|density| near(axis, density, 0)),
                layer: self.absorbs[axis].then_some(layer),
            }
        });
        // SAFETY: the caller's promise.
        unsafe {
            (self.general)(&LayerBox {
                here,
                out: self.rows.out.wrapping_add(at),
                squares: self.rows.squares.map(|squares| squares.wrapping_add(at)),
                square: self.rows.square,
                axes,
                segments: std::slice::from_ref(segment),
                beyond,
            });
        }
    }
}
