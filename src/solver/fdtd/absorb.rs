//! Boxes of sites in which layers of one or more axes absorb ([`super::cpml`]), or which have walls in reach, are damped, or differ in density.
//!
//! A box is a row, or parts of it, and the rows behind it: ends of rows in layers along x, rows in layers along y or z, corners; or rows each of which has parts of its own, plain ones
//! among them ([`super::segments`]). What a box reads is given by pointers at its first site, so that a call and its checks are paid once a box and not once a row.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

mod inside;
mod parts;
mod single;

pub(super) use parts::{Damping, Parts};
pub(super) use single::{Own, site_change, site_takes};

use super::bundle::{self, Bundles};
use super::faces::{SITE, lower};
use super::segments::Segment;
use super::stencil::{first, load, store, term};
use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::{Precision, Real};
use inside::{Factors, Inside, take};
use std::ops::Range;

/// Added to λ², which is 0 in walls, where nothing is missed.
const SMALLEST_SQUARE: f64 = 1e-30;

/// Parts of rows, all pointers at the first site of the first row.
///
/// Everything must reach the sites of all segments in each of `rows` rows, `stride` values apart; nobody else may write what is read or touch what is written.
#[derive(Clone, Copy)]
pub(super) struct LayerBox<'a, T> {
    /// pⁿ.
    pub(super) here: *const T,
    /// pⁿ⁻¹, which becomes pⁿ⁺¹.
    pub(super) out: *mut T,
    /// λ² or κ of each site, if they differ.
    pub(super) squares: Option<*const T>,
    /// λ² otherwise.
    pub(super) square: T,
    /// ρ, if it differs from site to site.
    pub(super) density: Option<*const T>,
    /// x, y, z; of as many as there are.
    pub(super) axes: [Axis<T>; 3],
    /// The parts of each row.
    pub(super) parts: Parts<'a, T>,
    /// Rows.
    pub(super) rows: usize,
    /// Values from a row of the box to the next.
    pub(super) stride: usize,
    /// Values from a row to those beside it along y and z, for plain parts.
    pub(super) beside: [usize; 2],
    /// The faces of each site ([`super::faces`]), and bytes from those of a distance to those of the next.
    pub(super) faces: Option<(*const u8, usize)>,
    /// γΔt, where rows are damped.
    pub(super) damping: Option<Damping<'a, T>>,
}

/// What a box reads along one axis.
#[derive(Clone, Copy)]
pub(super) struct Axis<T> {
    /// Neighbours k sites below and above at [k − 1].
    pub(super) near: [[*const T; 2]; 4],
    /// ρ of the nearest ones.
    pub(super) density: Option<[*const T; 2]>,
    /// The axis' layer, if it absorbs here.
    pub(super) layer: Option<AxisLayer<T>>,
}

/// A layer along one axis.
#[derive(Clone, Copy)]
pub(super) struct AxisLayer<T> {
    /// A of the faces below and above and of the sites, then B: one for each slot along x, otherwise one for all sites of a row.
    pub(super) factors: [*const T; 6],
    /// (1 − A)/A of the sites, laid out likewise.
    pub(super) loss_ratios: *const T,
    /// Values from the factors of a row to those of the next.
    pub(super) next_factor: usize,
    /// ψ of the faces below and above, ζ: of each slot along x, otherwise of each site of a row.
    pub(super) memory: [*mut T; 3],
    /// Values from the memories of a row to those of the next.
    pub(super) next_memory: usize,
}

/// Steps a box: pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² Σ Z), where the plain second difference stands for Z along axes that do not absorb; with a density, of order 2,
/// (2 (p′ − p)/(ρ + ρ′)) on both faces, and κ for λ².
///
/// # Safety
/// See [`LayerBox`].
pub(super) type AbsorbKernel<T> = unsafe fn(&LayerBox<'_, T>);

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
pub(super) fn absorb_kernel<T: Vectors>(half: usize, rank: usize) -> AbsorbKernel<T> {
    match half {
        1 => by_rank::<T, 1>(rank),
        2 => by_rank::<T, 2>(rank),
        3 => by_rank::<T, 3>(rank),
        _ => by_rank::<T, 4>(rank),
    }
}

fn by_rank<T: Vectors, const H: usize>(rank: usize) -> AbsorbKernel<T> {
    match rank {
        1 => step::<T, H, 1>,
        2 => step::<T, H, 2>,
        _ => step::<T, H, 3>,
    }
}

/// # Safety
/// See [`LayerBox`].
unsafe fn step<T: Vectors, const H: usize, const D: usize>(all: &LayerBox<'_, T>) {
    Level::best().run(Absorb::<T, H, D>(all));
}

struct Absorb<'a, T, const H: usize, const D: usize>(&'a LayerBox<'a, T>);

impl<T: Vectors, const H: usize, const D: usize> simd::Kernel<T> for Absorb<'_, T, H, D> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        // Copies: what lies where nothing is written need not be read again after each vector.
        let all = *self.0;
        // In three dimensions memory binds, and rows are read from end to end; otherwise factors of columns stay in registers.
        let high = if D < 3 && matches!(all.parts, Parts::Alike(_)) {
            all.rows
        } else {
            1
        };
        // SAFETY: the promise of the kernel's caller.
        unsafe {
            for n in (0..all.rows).step_by(high.max(1)) {
                for segment in all.parts.of(n) {
                    all.segment::<L, H, D>(&segment.clone(), n..n + high);
                }
            }
        }
    }
}

/// λ² where it is the same at all sites of a part, and 1/λ².
#[derive(Clone, Copy)]
struct Squares<L> {
    square: L,
    inverse: L,
}

/// Where a vector of sites is.
#[derive(Clone, Copy)]
struct Spot {
    /// Row of the box.
    row: usize,
    /// First site.
    i: usize,
    /// Sites of the vector.
    count: usize,
}

/// The faces of a vector of sites.
#[derive(Clone, Copy)]
struct Bits {
    near: *const u8,
    /// Bytes to those of distance 2.
    plane: usize,
}

impl<T: Real> LayerBox<'_, T> {
    /// Steps a plain part of row `n`.
    ///
    /// # Safety
    /// As for the kernel of the box; the processor must have the instructions of `L`.
    #[inline(always)]
    unsafe fn plain<L: Lanes<Element = T>, const H: usize, const D: usize>(&self, segment: &Segment<T>, n: usize)
    where
        T: Vectors,
    {
        debug_assert!(n < self.rows, "row {n}");
        let at = n * self.stride + segment.sites.start;
        let square = segment.look.square;
        // SAFETY: a row of bundles reads what a box reads, whole vectors before and behind its sites at most.
        unsafe {
            bundle::row::<L, H, D>(&Bundles {
                now: self.here.add(at),
                out: self.out.add(at),
                squares: self.squares.filter(|_| square.is_none()).map(|squares| squares.add(at)),
                square: square.unwrap_or(self.square),
                y: self.beside[0],
                z: self.beside[1],
                sites: segment.sites.len(),
                count: 1,
                step: 0,
                mirrors: &[],
                ahead: &[],
            });
        }
    }

    /// Steps a part of some rows.
    ///
    /// # Safety
    /// As for the kernel of the box; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn segment<L: Lanes<Element = T>, const H: usize, const D: usize>(
        &self,
        segment: &Segment<T>,
        rows: Range<usize>,
    ) where
        T: Vectors,
    {
        let look = segment.look;
        let dense = look.dense && self.density.is_some();
        let absorbs = |axis: usize| axis < D && self.axes[axis].layer.is_some();
        // SAFETY: the caller's promise.
        unsafe {
            if look.plain {
                for n in rows {
                    self.plain::<L, H, D>(segment, n);
                }
                return;
            }
            let general = dense || look.walled || look.damped;
            let [x, y, z] = [absorbs(0) && segment.shift.is_some(), absorbs(1), absorbs(2)];
            // Each set of axes has a loop of its own.
            let from = match (general, x, y, z) {
                (false, true, false, false) => self.part::<L, H, D, true, true, false, false>(segment, rows.clone()),
                (false, false, true, false) if D > 1 => {
                    self.part::<L, H, D, true, false, true, false>(segment, rows.clone())
                }
                (false, true, true, false) if D > 1 => {
                    self.part::<L, H, D, true, true, true, false>(segment, rows.clone())
                }
                (false, false, false, true) if D > 2 => {
                    self.part::<L, H, D, true, false, false, true>(segment, rows.clone())
                }
                (false, true, false, true) if D > 2 => {
                    self.part::<L, H, D, true, true, false, true>(segment, rows.clone())
                }
                (false, false, true, true) if D > 2 => {
                    self.part::<L, H, D, true, false, true, true>(segment, rows.clone())
                }
                (false, true, true, true) if D > 2 => {
                    self.part::<L, H, D, true, true, true, true>(segment, rows.clone())
                }
                _ => self.part::<L, H, D, false, true, true, true>(segment, rows.clone()),
            };
            if from < segment.sites.end {
                self.rest::<L, H, D>(segment, rows, from);
            }
        }
    }

    /// What all vectors of a part multiply with.
    #[inline(always)]
    unsafe fn squares_of<L: Lanes<Element = T>>(&self, segment: &Segment<T>) -> Squares<L> {
        let square = segment.look.square.unwrap_or(self.square);
        // SAFETY: instructions are the caller's promise.
        unsafe {
            Squares {
                square: L::splat(square),
                inverse: L::splat((square + T::of(SMALLEST_SQUARE)).recip()),
            }
        }
    }

    /// Steps the sites of some rows from `from` on, less than a vector. One for all sets of axes: no more than a vector a row, but as much code as each of them.
    #[inline(always)]
    unsafe fn rest<L: Lanes<Element = T>, const H: usize, const D: usize>(
        &self,
        segment: &Segment<T>,
        rows: Range<usize>,
        from: usize,
    ) {
        let count = segment.sites.end - from;
        debug_assert!(count < L::N, "{count} sites");
        // SAFETY: vectors reach no further than the part; the rest is the caller's promise.
        unsafe {
            let squares = self.squares_of::<L>(segment);
            for row in rows {
                let spot = Spot { row, i: from, count };
                let mut inside = [None; D];
                for (axis, inside) in inside.iter_mut().enumerate() {
                    let factors = self.factors::<L, false>(axis, (segment, from, count), row);
                    *inside = self.inside(axis, (segment, spot), factors);
                }
                self.sites::<L, H, D, false, false>(segment, spot, squares, inside);
            }
        }
    }

    /// Steps the whole vectors of a part of some rows: one that has nothing but layers of axes X, Y and Z if `CLEAN`, otherwise with whatever it has of these.
    /// Returns the first site behind them.
    #[inline(always)]
    unsafe fn part<
        L: Lanes<Element = T>,
        const H: usize,
        const D: usize,
        const CLEAN: bool,
        const X: bool,
        const Y: bool,
        const Z: bool,
    >(
        &self,
        segment: &Segment<T>,
        rows: Range<usize>,
    ) -> usize {
        let Range { start, end } = segment.sites.clone();
        // SAFETY: vectors reach no further than `end`; the rest is the caller's promise.
        unsafe {
            let squares = self.squares_of::<L>(segment);
            let mut i = start;
            if CLEAN && X {
                // Columns of vectors, whose factors along x stay in registers.
                while i + L::N <= end {
                    let along = self.factors::<L, true>(0, (segment, i, L::N), 0);
                    for n in rows.clone() {
                        let spot = Spot { row: n, i, count: L::N };
                        let mut inside = [None; D];
                        inside[0] = self.inside(0, (segment, spot), along);
                        if D > 1 && Y {
                            let factors = self.factors::<L, true>(1, (segment, i, L::N), n);
                            inside[1] = self.inside(1, (segment, spot), factors);
                        }
                        if D > 2 && Z {
                            let factors = self.factors::<L, true>(2, (segment, i, L::N), n);
                            inside[2] = self.inside(2, (segment, spot), factors);
                        }
                        self.sites::<L, H, D, true, CLEAN>(segment, spot, squares, inside);
                    }
                    i += L::N;
                }
            } else {
                for n in rows.clone() {
                    let mut across = [None; D];
                    for axis in 1..D {
                        if [X, Y, Z][axis] {
                            across[axis] = self.factors::<L, true>(axis, (segment, start, L::N), n);
                        }
                    }
                    i = start;
                    while i + L::N <= end {
                        let spot = Spot { row: n, i, count: L::N };
                        let mut inside = [None; D];
                        if X {
                            let along = self.factors::<L, true>(0, (segment, i, L::N), n);
                            inside[0] = self.inside(0, (segment, spot), along);
                        }
                        for axis in 1..D {
                            inside[axis] = self.inside(axis, (segment, spot), across[axis]);
                        }
                        self.sites::<L, H, D, true, CLEAN>(segment, spot, squares, inside);
                        i += L::N;
                    }
                }
            }
            i
        }
    }

    /// What a layer along an axis multiplies with at `count` sites from i on of a row, if it absorbs there. No closures with vectors: they would have no vector instructions.
    #[inline(always)]
    unsafe fn factors<L: Lanes<Element = T>, const WHOLE: bool>(
        &self,
        axis: usize,
        (segment, i, count): (&Segment<T>, usize, usize),
        row: usize,
    ) -> Option<Factors<L>> {
        let Some(layer) = &self.axes[axis].layer else {
            return None;
        };
        // SAFETY: the caller's promise.
        unsafe {
            if axis > 0 {
                let at = row * layer.next_factor;
                let [a, b, c, d, e, f] = layer.factors;
                return Some(Factors {
                    decay: [L::splat(*a.add(at)), L::splat(*b.add(at)), L::splat(*c.add(at))],
                    shift: [L::splat(*d.add(at)), L::splat(*e.add(at)), L::splat(*f.add(at))],
                    loss_ratio: L::splat(*layer.loss_ratios.add(at)),
                });
            }
            let at = i.wrapping_add(segment.shift?);
            let [a, b, c, d, e, f] = layer.factors;
            Some(Factors {
                decay: [
                    load::<L, WHOLE>(a.add(at), count),
                    load::<L, WHOLE>(b.add(at), count),
                    load::<L, WHOLE>(c.add(at), count),
                ],
                shift: [
                    load::<L, WHOLE>(d.add(at), count),
                    load::<L, WHOLE>(e.add(at), count),
                    load::<L, WHOLE>(f.add(at), count),
                ],
                loss_ratio: load::<L, WHOLE>(layer.loss_ratios.add(at), count),
            })
        }
    }

    /// A layer along an axis at a vector of sites with these factors.
    #[inline(always)]
    unsafe fn inside<L: Copy>(
        &self,
        axis: usize,
        (segment, spot): (&Segment<T>, Spot),
        factors: Option<Factors<L>>,
    ) -> Option<Inside<T, L>> {
        let (Some(layer), Some(factors)) = (&self.axes[axis].layer, factors) else {
            return None;
        };
        let slot = if axis > 0 {
            spot.i
        } else {
            spot.i.wrapping_add(segment.shift.unwrap_or(0))
        };
        let at = spot.row * layer.next_memory + slot;
        let [below, above, site] = layer.memory;
        // SAFETY: the caller's promise.
        let memory = unsafe { [below.add(at), above.add(at), site.add(at)] };
        Some(Inside { factors, memory })
    }

    /// Steps a vector of sites, all N if `WHOLE`, with nothing but layers if `CLEAN`.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const H: usize, const D: usize, const WHOLE: bool, const CLEAN: bool>(
        &self,
        segment: &Segment<T>,
        Spot { row, i, count }: Spot,
        squares: Squares<L>,
        inside: [Option<Inside<T, L>>; D],
    ) {
        debug_assert!(row < self.rows && i + count <= segment.sites.end, "row {row}, site {i}");
        let at = row * self.stride + i;
        let look = &segment.look;
        // SAFETY: the caller's promise.
        unsafe {
            let here = load::<L, WHOLE>(self.here.add(at), count);
            let mut rho = None;
            let mut bits = None;
            if !CLEAN {
                if look.dense
                    && let Some(density) = self.density
                {
                    rho = Some(load::<L, WHOLE>(density.add(at), count));
                }
                if look.walled
                    && let Some((faces, plane)) = self.faces
                {
                    let near = faces.add(at);
                    bits = Some(Bits { near, plane });
                }
            }
            let mut sum = here;
            let mut zetas = [here; D];
            for n in 0..D {
                let axis = &self.axes[n];
                let (mut low, mut high) = ([here; H], [here; H]);
                for k in 0..H {
                    low[k] = load::<L, WHOLE>(axis.near[k][0].add(at), count);
                    high[k] = load::<L, WHOLE>(axis.near[k][1].add(at), count);
                }
                if let Some(bits) = bits {
                    bits.mirror::<L, H>(n, here, &mut low, &mut high);
                }
                let (part, zeta) =
                    axis.change::<L, H, WHOLE>((at, count), here, rho, (&low, &high), inside[n].as_ref());
                zetas[n] = zeta;
                sum = if n == 0 { part } else { sum.add(part) };
            }
            if let Some(bits) = bits {
                sum = L::choose(bits.near, SITE, sum, L::splat(T::zero()));
            }
            let Squares {
                mut square,
                mut inverse,
            } = squares;
            if look.square.is_none()
                && let Some(squares) = self.squares
            {
                square = load::<L, WHOLE>(squares.add(at), count);
                if T::PRECISION == Precision::Single {
                    inverse = L::splat(T::one()).div(square.add(L::splat(T::of(SMALLEST_SQUARE))));
                }
            }
            let out = self.out.add(at);
            let before = load::<L, WHOLE>(out, count);
            let speed = here.sub(before);
            let mut change = square.mul_add(sum, speed);
            if !CLEAN
                && look.damped
                && let Some(rates) = self.damping.and_then(|damping| damping.of(row))
            {
                let rate = load::<L, WHOLE>(rates.add(i), count);
                change = rate.neg_mul_add(speed, change).div(L::splat(T::one()).add(rate));
            }
            let new = here.add(change);
            let mut missed = new.sub(here).sub(change);
            store::<L, WHOLE>(new, out, count);
            if T::PRECISION == Precision::Single {
                if let Some(rho) = rho {
                    missed = missed.mul(rho);
                }
                take::<T, L, D>(&inside, &mut zetas, missed.mul(inverse));
            }
            for n in 0..D {
                if let Some(inside) = &inside[n] {
                    store::<L, WHOLE>(zetas[n], inside.memory[2], count);
                }
            }
        }
    }
}

impl Bits {
    /// Puts images in the place of neighbours beyond walls ([`super::faces`]).
    #[inline(always)]
    unsafe fn mirror<L: Lanes, const H: usize>(self, axis: usize, here: L, low: &mut [L; H], high: &mut [L; H]) {
        let [below, above] = [lower(axis), lower(axis) << 1];
        // SAFETY: the caller's promise.
        unsafe {
            let (first_low, first_high) = (low[0], high[0]);
            low[0] = L::choose(self.near, below, first_low, here);
            high[0] = L::choose(self.near, above, first_high, here);
            if H > 1 {
                let far = self.near.add(self.plane);
                let back_low = L::choose(self.near, below, first_low, high[0]);
                let back_high = L::choose(self.near, above, first_high, low[0]);
                low[1] = L::choose(far, below, low[1], back_low);
                high[1] = L::choose(far, above, high[1], back_high);
            }
        }
    }
}

impl<T: Real> Axis<T> {
    /// The part of Lp of this axis, and ζ of the next step, which is not yet stored, if it absorbs; the layer's other memories go on by a step.
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize, const WHOLE: bool>(
        &self,
        (at, count): (usize, usize),
        here: L,
        rho: Option<L>,
        (low, high): (&[L; H], &[L; H]),
        inside: Option<&Inside<T, L>>,
    ) -> (L, L) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(inside) = inside {
                let (z, zeta) = inside.change::<H, WHOLE>(count, here, low, high);
                return match rho {
                    Some(rho) => (z.div(rho), zeta),
                    None => (z, zeta),
                };
            }
            if let (Some(rho), Some([below, above])) = (rho, self.density) {
                let below = low[0].sub(here).div(rho.add(load::<L, WHOLE>(below.add(at), count)));
                let above = high[0].sub(here).div(rho.add(load::<L, WHOLE>(above.add(at), count)));
                let sum = below.add(above);
                return (sum.add(sum), here);
            }
            let level = here.add(here);
            let mut sum = first::<L, H>(low[0].add(high[0]), level);
            for k in 2..=H {
                sum = term::<L, H>(k, low[k - 1].add(high[k - 1]), level, sum);
            }
            (sum, here)
        }
    }
}
