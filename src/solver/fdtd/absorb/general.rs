//! Any row, with any images for the rows around it: at soft edges, where layers cross beside walls, in layers of changing density. Its contents are looked up at every vector.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::super::segments::Segment;
use super::super::stencil::{first, load, of_stencil, store, term};
use super::inside::{Factors, Inside, take};
use super::parts::Beyond;
use super::walk::Squares;
use super::{Bits, RowLayer, SITE, SMALLEST_SQUARE, inverse};
use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::{Precision, Real};

/// A row and its input, all pointers at its first site.
///
/// All pointers must cover the sites of all segments; no other task may write what is read or access what is written.
#[derive(Clone, Copy)]
pub(in super::super) struct LayerBox<'a, T> {
    /// pⁿ.
    pub(in super::super) here: *const T,
    /// pⁿ⁻¹, which becomes pⁿ⁺¹.
    pub(in super::super) out: *mut T,
    /// λ² or κ of each site, if they differ.
    pub(in super::super) squares: Option<*const T>,
    /// λ² otherwise.
    pub(in super::super) square: T,
    /// x, y, z; of as many as there are.
    pub(in super::super) axes: [Axis<T>; 3],
    /// Its parts, none of them plain.
    pub(in super::super) segments: &'a [Segment<T>],
    /// Faces, γΔt and ρ.
    pub(in super::super) beyond: Beyond<T>,
}

/// The input of a row along one axis.
#[derive(Clone, Copy)]
pub(in super::super) struct Axis<T> {
    /// Neighbours k sites below and above at [k − 1].
    pub(in super::super) near: [[*const T; 2]; 4],
    /// ρ of the nearest ones.
    pub(in super::super) density: Option<[*const T; 2]>,
    /// The axis' layer, if it absorbs here.
    pub(in super::super) layer: Option<RowLayer<T>>,
}

/// Steps a row: pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² Σ Z), where the plain second difference stands for Z along axes that do not absorb; with a density, of order 2,
/// (2 (p′ − p)/(ρ + ρ′)) on both faces, and κ for λ².
///
/// # Safety
/// See [`LayerBox`].
pub(in super::super) type AbsorbKernel<T> = unsafe fn(&LayerBox<'_, T>);

/// The fastest kernel of half width `half` (1 to 4) in `rank` dimensions.
pub(in super::super) fn absorb_kernel<T: Vectors>(half: usize, rank: usize) -> AbsorbKernel<T> {
    of_stencil!(step, T, half, rank)
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
        for segment in self.0.segments {
            // SAFETY: the promise of the kernel's caller.
            unsafe { self.0.segment::<L, H, D>(segment) }
        }
    }
}

impl<T: Vectors> LayerBox<'_, T> {
    /// Steps a part of the row.
    ///
    /// # Safety
    /// As for the kernel of the row; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn segment<L: Lanes<Element = T>, const H: usize, const D: usize>(&self, segment: &Segment<T>) {
        debug_assert!(!segment.look.plain, "a plain part");
        // SAFETY: vectors reach no further than the part; the rest is the caller's promise.
        unsafe {
            let square = segment.look.square.unwrap_or(self.square);
            let squares = Squares::<L>::of(square, inverse(square));
            // Their factors are set here, once a part; memories and factors along x follow at every vector.
            let mut inside = [None; D];
            for axis in 1..D {
                if let Some(layer) = &self.axes[axis].layer {
                    inside[axis] = Some(Inside {
                        factors: Factors::across(layer, 0),
                        memory: layer.memory,
                    });
                }
            }
            let mut i = segment.sites.start;
            while i < segment.sites.end {
                let count = (segment.sites.end - i).min(L::N);
                if count == L::N {
                    self.vector::<L, H, D, true>(segment, (i, count), squares, &mut inside);
                } else {
                    self.vector::<L, H, D, false>(segment, (i, count), squares, &mut inside);
                }
                i += L::N;
            }
        }
    }

    /// Steps `count` sites from `i` on, all N if `WHOLE`; `inside` has the factors along y and z.
    #[inline(always)]
    unsafe fn vector<L: Lanes<Element = T>, const H: usize, const D: usize, const WHOLE: bool>(
        &self,
        segment: &Segment<T>,
        (i, count): (usize, usize),
        squares: Squares<L>,
        inside: &mut [Option<Inside<T, L>>; D],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if let (Some(layer), Some(shift)) = (&self.axes[0].layer, segment.shift) {
                let slot = i.wrapping_add(shift);
                inside[0] = Some(Inside {
                    factors: Factors::along::<WHOLE>(layer, slot, count),
                    memory: layer.at(slot),
                });
            }
            for axis in 1..D {
                if let (Some(layer), Some(inside)) = (&self.axes[axis].layer, &mut inside[axis]) {
                    inside.memory = layer.at(i);
                }
            }
            self.sites::<L, H, D, WHOLE>(segment, (i, count), squares, inside);
        }
    }

    /// The same, with what is known of layers.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const H: usize, const D: usize, const WHOLE: bool>(
        &self,
        segment: &Segment<T>,
        (i, count): (usize, usize),
        squares: Squares<L>,
        inside: &[Option<Inside<T, L>>; D],
    ) {
        debug_assert!(i + count <= segment.sites.end, "site {i}");
        let look = &segment.look;
        // SAFETY: the caller's promise.
        unsafe {
            let here = load::<L, WHOLE>(self.here.add(i), count);
            let mut rho = None;
            let mut bits = None;
            if look.dense
                && let Some(density) = self.beyond.density
            {
                rho = Some(load::<L, WHOLE>(density.add(i), count));
            }
            if look.walled
                && let Some((faces, plane)) = self.beyond.faces
            {
                let near = faces.add(i);
                bits = Some(Bits { near, plane });
                // Walls have none that is finite.
                rho = rho.map(|rho| L::choose(near, SITE, rho, L::splat(T::one())));
            }
            let mut sum = here;
            let mut zetas = [here; D];
            for n in 0..D {
                let axis = &self.axes[n];
                let (mut low, mut high) = ([here; H], [here; H]);
                for k in 0..H {
                    low[k] = load::<L, WHOLE>(axis.near[k][0].add(i), count);
                    high[k] = load::<L, WHOLE>(axis.near[k][1].add(i), count);
                }
                if let Some(bits) = bits {
                    bits.mirror::<L, H>(n, here, &mut low, &mut high);
                }
                let (part, zeta) = axis.change::<L, H, WHOLE>((i, count), here, rho, (&low, &high), inside[n].as_ref());
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
                square = load::<L, WHOLE>(squares.add(i), count);
                if T::PRECISION == Precision::Single {
                    inverse = L::splat(T::one()).div(square.add(L::splat(T::of(SMALLEST_SQUARE))));
                }
            }
            let out = self.out.add(i);
            let before = load::<L, WHOLE>(out, count);
            let speed = here.sub(before);
            let mut change = square.mul_add(sum, speed);
            if look.damped
                && let Some(rates) = self.beyond.rates
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
                take::<T, L, D>(inside, &mut zetas, missed.mul(inverse));
            }
            for n in 0..D {
                if let Some(inside) = &inside[n] {
                    store::<L, WHOLE>(zetas[n], inside.memory[2], count);
                }
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
            let mut dense = None;
            if let (Some(rho), Some([below, above])) = (rho, self.density) {
                dense = Some([
                    rho,
                    load::<L, WHOLE>(below.add(at), count),
                    load::<L, WHOLE>(above.add(at), count),
                ]);
            }
            if let Some(inside) = inside {
                return inside.change::<H, WHOLE>(count, here, (low, high), dense);
            }
            if let Some([rho, below, above]) = dense {
                let below = low[0].sub(here).div(rho.add(below));
                let above = high[0].sub(here).div(rho.add(above));
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
