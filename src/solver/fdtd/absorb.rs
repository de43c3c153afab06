//! Boxes of sites in which layers of one or more axes absorb ([`super::cpml`]), or whose density differs from site to site.
//!
//! A box is a part of a row, and the same part of the rows behind it: ends of rows in layers along x, rows in layers along y or z, corners. What a box reads is given by
//! pointers at its first site, so that a call and its checks are paid once a box and not once a row.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::stencil::{COEFFICIENTS, FLUX, first, term};
use crate::backend::simd::{self, Array, Lanes, Level, Vectors};
use crate::field::Real;
use std::ops::Range;

/// Parts of rows, all pointers at the first site of the first row.
///
/// Everything must reach the sites of all segments in each of `rows` rows, `stride` values apart; nobody else may write what is read or touch what is written.
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
    /// x, y, z, as many as there are.
    pub(super) axes: &'a [Axis<T>],
    /// The parts of a row.
    pub(super) segments: &'a [Segment],
    /// Rows.
    pub(super) rows: usize,
    /// Values from a row of the box to the next.
    pub(super) stride: usize,
}

/// A part of a row.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) sites: Range<usize>,
    /// What is added to a site's x for its slot of the layer along x (in wrapping arithmetic), if that absorbs here.
    pub(super) shift: Option<usize>,
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

/// The fastest kernel of half width `half` (1 to 4).
pub(super) fn absorb_kernel<T: Vectors>(half: usize) -> AbsorbKernel<T> {
    match half {
        1 => step::<T, 1>,
        2 => step::<T, 2>,
        3 => step::<T, 3>,
        _ => step::<T, 4>,
    }
}

/// # Safety
/// See [`LayerBox`].
unsafe fn step<T: Vectors, const H: usize>(all: &LayerBox<'_, T>) {
    Level::best().run(Absorb::<T, H>(all));
}

struct Absorb<'a, T, const H: usize>(&'a LayerBox<'a, T>);

impl<T: Vectors, const H: usize> simd::Kernel<T> for Absorb<'_, T, H> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        for row in 0..self.0.rows {
            for segment in self.0.segments {
                let Range { start: mut i, end } = segment.sites.clone();
                // SAFETY: i + N ≤ end in every call; the rest is the promise of the kernel's caller.
                unsafe {
                    while i + L::N <= end {
                        self.0.sites::<L, H>(segment, row, i);
                        i += L::N;
                    }
                    // What is left, in vectors that get shorter.
                    if L::N > 8 && i + 8 <= end {
                        self.0.sites::<Array<T, 8>, H>(segment, row, i);
                        i += 8;
                    }
                    if L::N > 4 && i + 4 <= end {
                        self.0.sites::<Array<T, 4>, H>(segment, row, i);
                        i += 4;
                    }
                    while i < end {
                        self.0.sites::<Array<T, 1>, H>(segment, row, i);
                        i += 1;
                    }
                }
            }
        }
    }
}

impl<T: Real> LayerBox<'_, T> {
    /// Steps the sites of a vector: from site `i` of row `row` of the box on.
    ///
    /// # Safety
    /// The row reaches as far as `i` + N; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const H: usize>(&self, segment: &Segment, row: usize, i: usize) {
        let at = row * self.stride + i;
        // SAFETY: the caller's promise.
        unsafe {
            let here = L::load(self.here.add(at));
            let mut rho = None;
            if let Some(density) = self.density {
                rho = Some(L::load(density.add(at)));
            }
            let mut sum = here;
            for (n, axis) in self.axes.iter().enumerate() {
                let slot = match (n, segment.shift) {
                    (0, Some(shift)) => Some(i.wrapping_add(shift)),
                    (0, None) => None,
                    _ => Some(i),
                };
                let layer = match (&axis.layer, slot) {
                    (Some(layer), Some(slot)) => Some((
                        layer,
                        Place {
                            row,
                            slot,
                            columns: n == 0,
                        },
                    )),
                    _ => None,
                };
                let part = axis.change::<L, H>(at, here, rho, layer);
                sum = if n == 0 { part } else { sum.add(part) };
            }
            let mut square = L::splat(self.square);
            if let Some(squares) = self.squares {
                square = L::load(squares.add(at));
            }
            let out = self.out.add(at);
            here.add(square.mul_add(sum, here.sub(L::load(out)))).store(out);
        }
    }
}

impl<T: Real> Axis<T> {
    /// The part of Lp of this axis; the layer's memories go on by a step.
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize>(
        &self,
        at: usize,
        here: L,
        rho: Option<L>,
        layer: Option<(&AxisLayer<T>, Place)>,
    ) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut low, mut high) = ([here; H], [here; H]);
            for k in 0..H {
                low[k] = L::load(self.near[k][0].add(at));
                high[k] = L::load(self.near[k][1].add(at));
            }
            if let Some((layer, place)) = layer {
                let z = layer.change::<L, H>(place, here, &low, &high);
                return match rho {
                    Some(rho) => z.div(rho),
                    None => z,
                };
            }
            if let (Some(rho), Some([below, above])) = (rho, self.density) {
                let below = low[0].sub(here).div(rho.add(L::load(below.add(at))));
                let above = high[0].sub(here).div(rho.add(L::load(above.add(at))));
                let sum = below.add(above);
                return sum.add(sum);
            }
            let level = here.add(here);
            let mut sum = first::<L, H>(low[0].add(high[0]), level);
            for k in 2..=H {
                sum = term::<L, H>(k, low[k - 1].add(high[k - 1]), level, sum);
            }
            sum
        }
    }
}

/// Where a vector of sites is in a layer.
#[derive(Clone, Copy)]
struct Place {
    /// Row of the box.
    row: usize,
    /// Slot along x, otherwise x.
    slot: usize,
    /// Whether each site has factors of its own: along x.
    columns: bool,
}

impl<T: Real> AxisLayer<T> {
    /// Z from pⁿ around; see [`super::cpml`].
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize>(
        &self,
        place: Place,
        here: L,
        low: &[L; H],
        high: &[L; H],
    ) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut below, mut above) = (here.sub(low[0]), high[0].sub(here));
            if H > 1 {
                let weight = L::splat(T::of(FLUX[H][0]));
                (below, above) = (weight.mul(below), weight.mul(above));
            }
            for m in 1..H {
                let weight = L::splat(T::of(FLUX[H][m]));
                below = weight.mul_add(high[m - 1].sub(low[m]), below);
                above = weight.mul_add(high[m].sub(low[m - 1]), above);
            }
            let lower = self.renew::<L>(0, place, below);
            let upper = self.renew::<L>(1, place, above);
            self.renew::<L>(2, place, upper.sub(lower))
        }
    }

    /// A(m + g) + Bg of a memory m, which becomes that minus g.
    #[inline(always)]
    unsafe fn renew<L: Lanes<Element = T>>(&self, n: usize, place: Place, g: L) -> L {
        let Place { row, slot, columns } = place;
        // SAFETY: the caller's promise.
        unsafe {
            let [decay, shift] = [n, n + 3].map(|n| {
                if columns {
                    L::load(self.factors[n].add(slot))
                } else {
                    L::splat(*self.factors[n].add(row * self.next_factor))
                }
            });
            let memory = self.memory[n].add(row * self.next_memory + slot);
            let sum = shift.mul_add(g, decay.mul(L::load(memory).add(g)));
            sum.sub(g).store(memory);
            sum
        }
    }
}

/// A, B and the memories of a site in a layer: of the faces below and above it, and of itself.
pub(super) type Own<T> = [[T; 3]; 3];

/// The part of Lp of one axis of one site from pⁿ `here` and `near`, which holds what stands k sites below and above at [k − 1]; the memories of `own` go on by a
/// step, if it lies in a layer. For sites beside walls, whose neighbours are mirrored one by one.
#[expect(clippy::needless_pass_by_value, reason = "a mutable borrow is passed on")]
pub(super) fn site_change<T: Real>(half: usize, here: T, near: &[[T; 2]; 4], own: Option<&mut Own<T>>) -> T {
    let Some([below, above, site]) = own else {
        let level = here + here;
        let weights = COEFFICIENTS[half][1..=half].iter().zip(near);
        return weights
            .map(|(c, [low, high])| T::of(*c) * ((*low + *high) - level))
            .sum();
    };
    let (mut lower, mut upper) = (T::zero(), T::zero());
    for (m, weight) in FLUX[half][..half].iter().enumerate() {
        let inner = if m == 0 { [here; 2] } else { near[m - 1] };
        lower += T::of(*weight) * (inner[1] - near[m][0]);
        upper += T::of(*weight) * (near[m][1] - inner[0]);
    }
    let renew = |[decay, shift, memory]: &mut [T; 3], g: T| {
        let sum = *shift * g + *decay * (*memory + g);
        *memory = sum - g;
        sum
    };
    let (lower, upper) = (renew(below, lower), renew(above, upper));
    renew(site, upper - lower)
}
