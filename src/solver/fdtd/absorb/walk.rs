//! The step of sites of rows that lie in the same layers, a type for each set of axes that absorb: which pointers and factors a loop needs is known when it is compiled.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::super::stencil::{first, level, load, next, store, term};
use super::inside::{Factors, Inside, SMALLEST_LOSS};
use super::parts::Beyond;
use super::{Beside, Bits, RowBox, RowLayer, SITE, SMALLEST_SQUARE};
use crate::backend::simd::{Lanes, Vectors};
use crate::field::Precision;
use std::ops::Range;

/// λ² where it is the same at all sites of a part, and 1/λ².
#[derive(Clone, Copy)]
pub(super) struct Squares<L> {
    pub(super) square: L,
    pub(super) inverse: L,
}

impl<L: Lanes> Squares<L> {
    /// # Safety
    /// The processor must have the instructions of `L`.
    #[inline(always)]
    pub(super) unsafe fn of(square: L::Element, inverse: L::Element) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                square: L::splat(square),
                inverse: L::splat(inverse),
            }
        }
    }
}

/// A box for a loop: copies of its distances, in local values that the compiler can keep in registers.
#[derive(Clone, Copy)]
pub(super) struct Walk<T, const H: usize, const D: usize, const X: bool, const Y: bool, const Z: bool> {
    here: *const T,
    out: *mut T,
    squares: Option<*const T>,
    beside: [[[isize; 2]; H]; 2],
    layers: [RowLayer<T>; 3],
    stride: usize,
    shift: usize,
}

/// Where a vector of sites is.
#[derive(Clone, Copy)]
struct Spot<T> {
    here: *const T,
    out: *mut T,
    squares: Option<*const T>,
    memory: [[*mut T; 3]; 3],
    count: usize,
}

impl<T: Vectors, const H: usize, const D: usize, const X: bool, const Y: bool, const Z: bool> Walk<T, H, D, X, Y, Z> {
    #[inline(always)]
    pub(super) fn new(rows: &RowBox<'_, T>, shift: usize) -> Self {
        let mut beside = [[[0; 2]; H]; 2];
        for axis in 0..D - 1 {
            let from: &Beside = rows.beside[axis];
            beside[axis].copy_from_slice(&from[..H]);
        }
        Self {
            here: rows.here,
            out: rows.out,
            squares: rows.squares,
            beside,
            layers: rows.layers,
            stride: rows.stride,
            shift,
        }
    }

    /// The same where λ² is `own`, if it is that of all sites that are stepped.
    #[inline(always)]
    pub(super) fn with_square(mut self, own: Option<T>) -> Self {
        if own.is_some() {
            self.squares = None;
        }
        self
    }

    /// `count` sites from `i` on of row `n`.
    #[inline(always)]
    fn spot(&self, n: usize, i: usize, count: usize) -> Spot<T> {
        let at = n * self.stride + i;
        let mut squares = None;
        if let Some(from) = self.squares {
            squares = Some(from.wrapping_add(at));
        }
        let mut memory = [[std::ptr::null_mut(); 3]; 3];
        for axis in 0..D {
            if [X, Y, Z][axis] {
                let slot = if axis == 0 { i.wrapping_add(self.shift) } else { i };
                let layer = &self.layers[axis];
                for kind in 0..3 {
                    memory[axis][kind] = layer.memory[kind].wrapping_add(n * layer.next_memory + slot);
                }
            }
        }
        Spot {
            here: self.here.wrapping_add(at),
            out: self.out.wrapping_add(at),
            squares,
            memory,
            count,
        }
    }

    /// The factors of the layers along y and z at row `n`; those along x of nobody.
    #[inline(always)]
    unsafe fn across<L: Lanes<Element = T>>(&self, n: usize) -> [Factors<L>; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut all = [Factors::none(); 3];
            if Y {
                all[1] = Factors::across(&self.layers[1], n);
            }
            if Z {
                all[2] = Factors::across(&self.layers[2], n);
            }
            all
        }
    }

    /// Steps a column of vectors.
    ///
    /// # Safety
    /// As for the kernel; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    pub(super) unsafe fn column<L: Lanes<Element = T>, const WHOLE: bool>(
        &self,
        (i, count): (usize, usize),
        rows: Range<usize>,
        squares: Squares<L>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let along = Factors::along::<WHOLE>(&self.layers[0], i.wrapping_add(self.shift), count);
            for n in rows {
                let mut factors = self.across::<L>(n);
                factors[0] = along;
                self.sites::<L, WHOLE, false>(self.spot(n, i, count), squares, &factors, Beyond::NOTHING);
            }
        }
    }

    /// Steps some sites of row `n`.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    pub(super) unsafe fn row<L: Lanes<Element = T>, const MIXED: bool>(
        &self,
        sites: Range<usize>,
        n: usize,
        squares: Squares<L>,
        beyond: Beyond<T>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut factors = self.across::<L>(n);
            let mut i = sites.start;
            while i + L::N <= sites.end {
                if X {
                    factors[0] = Factors::along::<true>(&self.layers[0], i.wrapping_add(self.shift), L::N);
                }
                self.sites::<L, true, MIXED>(self.spot(n, i, L::N), squares, &factors, beyond.at(i));
                i += L::N;
            }
            if i < sites.end {
                let count = sites.end - i;
                if X {
                    factors[0] = Factors::along::<false>(&self.layers[0], i.wrapping_add(self.shift), count);
                }
                self.sites::<L, false, MIXED>(self.spot(n, i, count), squares, &factors, beyond.at(i));
            }
        }
    }

    /// Steps a vector of sites, all N if `WHOLE`; walls, damping and densities are looked for if `MIXED`.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const WHOLE: bool, const MIXED: bool>(
        &self,
        spot: Spot<T>,
        Squares {
            mut square,
            mut inverse,
        }: Squares<L>,
        factors: &[Factors<L>; 3],
        beyond: Beyond<T>,
    ) {
        let count = spot.count;
        debug_assert!(count > 0 && count <= L::N && (count == L::N || !WHOLE), "{count} sites");
        let layered = X || Y && D > 1 || Z && D > 2;
        // SAFETY: the caller's promise.
        unsafe {
            let here = load::<L, WHOLE>(spot.here, count);
            if let Some(squares) = spot.squares {
                square = load::<L, WHOLE>(squares, count);
                if layered && T::PRECISION == Precision::Single {
                    inverse = L::splat(T::one()).div(square.add(L::splat(T::of(SMALLEST_SQUARE))));
                }
            }
            let before = load::<L, WHOLE>(spot.out, count);
            if !layered && !MIXED {
                let sum = self.plain::<L, WHOLE>(spot, here);
                store::<L, WHOLE>(next([here, before, square], sum), spot.out, count);
                return;
            }
            let mut rho = None;
            if MIXED
                && H == 1
                && let Some(density) = beyond.density
            {
                rho = Some(load::<L, WHOLE>(density, count));
                if let Some((near, _)) = beyond.faces {
                    // Walls have none that is finite.
                    rho = rho.map(|rho| L::choose(near, SITE, rho, L::splat(T::one())));
                }
            }
            let mut zetas = [here; 3];
            let mut sum = here;
            for axis in 0..D {
                let (part, zeta) = self.axis::<L, WHOLE, MIXED>(axis, spot, (here, rho), factors, beyond);
                zetas[axis] = zeta;
                sum = if axis == 0 { part } else { sum.add(part) };
            }
            if MIXED && let Some((near, _)) = beyond.faces {
                sum = L::choose(near, SITE, sum, L::splat(T::zero()));
            }
            let speed = here.sub(before);
            let mut change = square.mul_add(sum, speed);
            if MIXED && let Some(rates) = beyond.rates {
                let rate = load::<L, WHOLE>(rates, count);
                change = rate.neg_mul_add(speed, change).div(L::splat(T::one()).add(rate));
            }
            let new = here.add(change);
            store::<L, WHOLE>(new, spot.out, count);
            if !layered {
                return;
            }
            if T::PRECISION == Precision::Single {
                let mut missed = new.sub(here).sub(change);
                if let Some(rho) = rho {
                    missed = missed.mul(rho);
                }
                Self::take(factors, &mut zetas, missed.mul(inverse));
            }
            for axis in 0..D {
                if [X, Y, Z][axis] {
                    store::<L, WHOLE>(zetas[axis], spot.memory[axis][2], count);
                }
            }
        }
    }

    /// The part of Lp of an axis, and ζ of the next step, which is not yet stored, if it absorbs; the layer's other memories go on by a step.
    #[inline(always)]
    unsafe fn axis<L: Lanes<Element = T>, const WHOLE: bool, const MIXED: bool>(
        &self,
        axis: usize,
        spot: Spot<T>,
        (here, rho): (L, Option<L>),
        factors: &[Factors<L>; 3],
        beyond: Beyond<T>,
    ) -> (L, L) {
        let count = spot.count;
        // SAFETY: the caller's promise.
        unsafe {
            let (mut low, mut high) = ([here; H], [here; H]);
            for k in 0..H {
                let [below, above] = self.neighbours(spot.here, axis, k);
                low[k] = load::<L, WHOLE>(below, count);
                high[k] = load::<L, WHOLE>(above, count);
            }
            if MIXED && let Some((near, plane)) = beyond.faces {
                Bits { near, plane }.mirror::<L, H>(axis, here, &mut low, &mut high);
            }
            let mut dense = None;
            if let (Some(rho), Some(density)) = (rho, beyond.density) {
                let [below, above] = self.neighbours(density, axis, 0);
                dense = Some([rho, load::<L, WHOLE>(below, count), load::<L, WHOLE>(above, count)]);
            }
            if [X, Y, Z][axis] {
                let inside = Inside {
                    factors: factors[axis],
                    memory: spot.memory[axis],
                };
                return inside.change::<H, WHOLE>(count, here, (&low, &high), dense);
            }
            if let Some([rho, below, above]) = dense {
                let below = low[0].sub(here).div(rho.add(below));
                let above = high[0].sub(here).div(rho.add(above));
                let half = below.add(above);
                return (half.add(half), here);
            }
            let level = here.add(here);
            let mut part = first::<L, H>(low[0].add(high[0]), level);
            for k in 2..=H {
                part = term::<L, H>(k, low[k - 1].add(high[k - 1]), level, part);
            }
            (part, here)
        }
    }

    /// What stands k + 1 sites below and above a site of an array along an axis.
    #[inline(always)]
    fn neighbours(&self, here: *const T, axis: usize, k: usize) -> [*const T; 2] {
        if axis == 0 {
            [here.wrapping_sub(k + 1), here.wrapping_add(k + 1)]
        } else {
            let [below, above] = self.beside[axis - 1][k];
            [here.wrapping_offset(below), here.wrapping_offset(above)]
        }
    }

    /// L pⁿ where nothing absorbs.
    #[inline(always)]
    unsafe fn plain<L: Lanes<Element = T>, const WHOLE: bool>(&self, spot: Spot<T>, here: L) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let level = level::<L, D>(here);
            let mut sum = here;
            for k in 0..H {
                let mut pairs = here;
                for axis in 0..D {
                    let [below, above] = self.neighbours(spot.here, axis, k);
                    let pair = load::<L, WHOLE>(below, spot.count).add(load::<L, WHOLE>(above, spot.count));
                    pairs = if axis == 0 { pair } else { pairs.add(pair) };
                }
                sum = if k == 0 {
                    first::<L, H>(pairs, level)
                } else {
                    term::<L, H>(k + 1, pairs, level, sum)
                };
            }
            sum
        }
    }

    /// Corrects the ζ of the sites' layers for the rounding of the pressure: as [`super::inside::take`].
    #[inline(always)]
    unsafe fn take<L: Lanes<Element = T>>(factors: &[Factors<L>; 3], zetas: &mut [L; 3], mut missed: L) {
        let several = usize::from(X) + usize::from(Y) + usize::from(Z) > 1;
        // SAFETY: the caller's promise.
        unsafe {
            if several {
                let mut total = L::splat(T::of(SMALLEST_LOSS));
                for axis in 0..D {
                    if [X, Y, Z][axis] {
                        total = total.add(factors[axis].loss());
                    }
                }
                missed = missed.div(total);
            }
            for axis in 0..D {
                if [X, Y, Z][axis] {
                    let mut share = factors[axis].loss_ratio;
                    if several {
                        share = share.mul(factors[axis].loss());
                    }
                    zetas[axis] = missed.neg_mul_add(share, zetas[axis]);
                }
            }
        }
    }
}
