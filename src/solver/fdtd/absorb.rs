//! Boxes of sites in which layers of one or more axes absorb ([`super::cpml`]), or which have walls in reach, are damped, or differ in density.
//!
//! A box is a row, or parts of it, and the rows behind it: ends of rows in layers along x, rows in layers along y or z, corners; or rows each of which has parts of its own, plain ones
//! among them ([`super::segments`]). What a box reads is given by pointers at its first site, so that a call and its checks are paid once a box and not once a row.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::bundle::{self, Bundles};
use super::faces::{SITE, lower};
use super::segments::{Segment, Segments};
use super::stencil::{COEFFICIENTS, FLUX, first, load, store, term};
use crate::backend::simd::{self, Lanes, Level, Vectors};
use crate::field::{Precision, Real};
use std::ops::Range;

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
    /// γΔt, for rows with parts of their own.
    pub(super) damping: Option<Damping<'a, T>>,
}

/// Which parts the rows of a box have.
#[derive(Clone, Copy)]
pub(super) enum Parts<'a, T> {
    /// The same.
    Alike(&'a [Segment<T>]),
    /// Their own: those of the first row of the box, and how many rows of the grid further the next one is.
    Own(&'a Segments<T>, usize, usize),
}

impl<'a, T: Real> Parts<'a, T> {
    #[inline(always)]
    fn of(self, n: usize) -> &'a [Segment<T>] {
        match self {
            Self::Alike(all) => all,
            Self::Own(all, first, step) => all.of(first + n * step),
        }
    }
}

/// γΔt of the rows of a box that are damped.
#[derive(Clone, Copy)]
pub(super) struct Damping<'a, T> {
    /// Which of the damped rows each row of the grid is.
    pub(super) rows: &'a [Option<u32>],
    /// γΔt of these, each as long as a row.
    pub(super) rates: &'a [T],
    /// Sites of a row.
    pub(super) sites: usize,
}

impl<T: Real> Damping<'_, T> {
    /// Where the rates of a row begin.
    #[inline(always)]
    fn of(self, row: usize) -> Option<*const T> {
        let place = (*self.rows.get(row)?)? as usize;
        Some(self.rates[place * self.sites..][..self.sites].as_ptr())
    }
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
        for n in 0..all.rows {
            let row = Row { n, rates: all.rates(n) };
            for segment in all.parts.of(n) {
                let segment = &segment.clone();
                let Range { start: mut i, end } = segment.sites.clone();
                // SAFETY: i and the number of sites reach no further than `end`; the rest is the promise of the kernel's caller.
                unsafe {
                    if segment.look.plain {
                        all.plain::<L, H, D>(segment, n);
                        continue;
                    }
                    while i + L::N <= end {
                        all.sites::<L, H, D, true>(segment, &row, i, L::N);
                        i += L::N;
                    }
                    if i < end {
                        all.sites::<L, H, D, false>(segment, &row, i, end - i);
                    }
                }
            }
        }
    }
}

/// A row of a box.
struct Row<T> {
    n: usize,
    /// γΔt, if any of its sites is damped.
    rates: Option<*const T>,
}

/// The faces of a vector of sites.
#[derive(Clone, Copy)]
struct Bits {
    near: *const u8,
    /// Bytes to those of distance 2.
    plane: usize,
}

impl<T: Real> LayerBox<'_, T> {
    #[inline(always)]
    fn rates(&self, n: usize) -> Option<*const T> {
        match (self.parts, self.damping) {
            (Parts::Own(_, first, step), Some(damping)) => damping.of(first + n * step),
            _ => None,
        }
    }

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

    /// Steps `count` sites of a vector, all N if `WHOLE`: from site `i` of a row of the box on.
    ///
    /// # Safety
    /// The row reaches as far as `i` + `count`; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const H: usize, const D: usize, const WHOLE: bool>(
        &self,
        segment: &Segment<T>,
        row: &Row<T>,
        i: usize,
        count: usize,
    ) {
        debug_assert!(
            row.n < self.rows && i + count <= segment.sites.end,
            "row {}, site {i}",
            row.n
        );
        let at = row.n * self.stride + i;
        let look = &segment.look;
        // SAFETY: the caller's promise.
        unsafe {
            let here = load::<L, WHOLE>(self.here.add(at), count);
            let mut rho = None;
            if look.dense
                && let Some(density) = self.density
            {
                rho = Some(load::<L, WHOLE>(density.add(at), count));
            }
            let mut bits = None;
            if look.walled
                && let Some((faces, plane)) = self.faces
            {
                let near = faces.add(at);
                bits = Some(Bits { near, plane });
            }
            let mut sum = here;
            let mut layers = [None; D];
            for n in 0..D {
                let axis = &self.axes[n];
                let slot = match (n, segment.shift) {
                    (0, Some(shift)) => Some(i.wrapping_add(shift)),
                    (0, None) => None,
                    _ => Some(i),
                };
                let layer = match (&axis.layer, slot) {
                    (Some(layer), Some(slot)) => Some((
                        layer,
                        Place {
                            row: row.n,
                            slot,
                            columns: n == 0,
                            count,
                        },
                    )),
                    _ => None,
                };
                let (mut low, mut high) = ([here; H], [here; H]);
                for k in 0..H {
                    low[k] = load::<L, WHOLE>(axis.near[k][0].add(at), count);
                    high[k] = load::<L, WHOLE>(axis.near[k][1].add(at), count);
                }
                if let Some(bits) = bits {
                    bits.mirror::<L, H>(n, here, &mut low, &mut high);
                }
                layers[n] = layer;
                let part = axis.change::<L, H, WHOLE>((at, count), here, rho, (&low, &high), layer);
                sum = if n == 0 { part } else { sum.add(part) };
            }
            if let Some(bits) = bits {
                sum = L::choose(bits.near, SITE, sum, L::splat(T::zero()));
            }
            let mut square = L::splat(look.square.unwrap_or(self.square));
            if look.square.is_none()
                && let Some(squares) = self.squares
            {
                square = load::<L, WHOLE>(squares.add(at), count);
            }
            let out = self.out.add(at);
            let before = load::<L, WHOLE>(out, count);
            let change = square.mul_add(sum, here.sub(before));
            let mut new = here.add(change);
            // Of the step without damping, which other variants put on the row afterwards.
            let mut missed = new.sub(here).sub(change);
            if look.damped
                && let Some(rates) = row.rates
            {
                let rate = load::<L, WHOLE>(rates.add(i), count);
                let change = rate.neg_mul_add(here.sub(before), new.sub(here));
                new = here.add(change.div(L::splat(T::one()).add(rate)));
            }
            store::<L, WHOLE>(new, out, count);
            if T::PRECISION == Precision::Single {
                if let Some(rho) = rho {
                    missed = missed.mul(rho);
                }
                take::<T, L, D, WHOLE>(&layers, missed, square);
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
    /// The part of Lp of this axis; the layer's memories go on by a step.
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize, const WHOLE: bool>(
        &self,
        (at, count): (usize, usize),
        here: L,
        rho: Option<L>,
        (low, high): (&[L; H], &[L; H]),
        layer: Option<(&AxisLayer<T>, Place)>,
    ) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some((layer, place)) = layer {
                let z = layer.change::<L, H, WHOLE>(place, here, low, high);
                return match rho {
                    Some(rho) => z.div(rho),
                    None => z,
                };
            }
            if let (Some(rho), Some([below, above])) = (rho, self.density) {
                let below = low[0].sub(here).div(rho.add(load::<L, WHOLE>(below.add(at), count)));
                let above = high[0].sub(here).div(rho.add(load::<L, WHOLE>(above.add(at), count)));
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
    /// Sites of the vector.
    count: usize,
}

impl<T: Real> AxisLayer<T> {
    /// Z from pⁿ around; see [`super::cpml`].
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize, const WHOLE: bool>(
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
            let lower = self.renew::<L, WHOLE>(0, place, below);
            let upper = self.renew::<L, WHOLE>(1, place, above);
            self.renew::<L, WHOLE>(2, place, upper.sub(lower))
        }
    }

    /// A(m + g) + Bg of a memory m, which becomes that minus g.
    #[inline(always)]
    unsafe fn renew<L: Lanes<Element = T>, const WHOLE: bool>(&self, n: usize, place: Place, g: L) -> L {
        let Place { row, count, .. } = place;
        // SAFETY: the caller's promise.
        unsafe {
            let (decay, shift) = (self.factor::<L, WHOLE>(n, place), self.factor::<L, WHOLE>(n + 3, place));
            let memory = self.memory[n].add(row * self.next_memory + place.slot);
            let sum = shift.mul_add(g, decay.mul(load::<L, WHOLE>(memory, count).add(g)));
            store::<L, WHOLE>(sum.sub(g), memory, count);
            sum
        }
    }

    /// Lets ζ take over what rounding has put into the pressure, its share of it: `missed` is that, over λ² and the sum of 1 − A of the axes.
    #[inline(always)]
    unsafe fn take_share<L: Lanes<Element = T>, const WHOLE: bool>(&self, place: Place, missed: L) {
        // SAFETY: the caller's promise.
        unsafe {
            let decay = self.factor::<L, WHOLE>(2, place);
            let loss = L::splat(T::one()).sub(decay);
            self.give::<L, WHOLE>(place, missed.mul(loss.mul(loss).div(decay)));
        }
    }

    /// ζ less `share`.
    #[inline(always)]
    unsafe fn give<L: Lanes<Element = T>, const WHOLE: bool>(&self, place: Place, share: L) {
        // SAFETY: the caller's promise.
        unsafe {
            let memory = self.memory[2].add(place.row * self.next_memory + place.slot);
            store::<L, WHOLE>(load::<L, WHOLE>(memory, place.count).sub(share), memory, place.count);
        }
    }

    /// Factors `n` of a vector of sites. No closures with vectors: they would have no vector instructions.
    #[inline(always)]
    unsafe fn factor<L: Lanes<Element = T>, const WHOLE: bool>(&self, n: usize, place: Place) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            if place.columns {
                load::<L, WHOLE>(self.factors[n].add(place.slot), place.count)
            } else {
                L::splat(*self.factors[n].add(place.row * self.next_factor))
            }
        }
    }
}

/// Lets the ζ of a site's layers take over `missed`, what rounding has put into the pressure. See [`super::cpml`].
///
/// # Safety
/// As for the steps of sites.
#[inline(always)]
unsafe fn take<T: Real, L: Lanes<Element = T>, const D: usize, const WHOLE: bool>(
    layers: &[Option<(&AxisLayer<T>, Place)>; D],
    missed: L,
    square: L,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let one = L::splat(T::one());
        // λ² is 0 in walls, where nothing is missed.
        let least = L::splat(T::of(SMALLEST_PRODUCT));
        let mut all = layers.iter().flatten();
        match (all.next(), all.next()) {
            (Some((layer, place)), None) => {
                let decay = layer.factor::<L, WHOLE>(2, *place);
                let share = missed.mul(one.sub(decay)).div(square.mul_add(decay, least));
                layer.give::<L, WHOLE>(*place, share);
            }
            (Some(_), Some(_)) => {
                let mut total = L::splat(T::of(SMALLEST_LOSS));
                for (layer, place) in layers.iter().flatten() {
                    total = total.add(one.sub(layer.factor::<L, WHOLE>(2, *place)));
                }
                let missed = missed.div(square.mul_add(total, least));
                for (layer, place) in layers.iter().flatten() {
                    layer.take_share::<L, WHOLE>(*place, missed);
                }
            }
            (None, _) => {}
        }
    }
}

/// Added to the sum of 1 − A of the axes of a site, where A may be 1.
const SMALLEST_LOSS: f64 = 1e-12;
/// Added to λ² times that sum.
const SMALLEST_PRODUCT: f64 = 1e-30;

/// What the vectors do with `missed` = pⁿ⁺¹ as it was rounded less what it should be, over λ², for a site with memories of its own.
pub(super) fn site_takes<T: Real>(own: &mut [Option<Own<T>>; 3], missed: T) {
    let loss = |own: &Own<T>| T::one() - own[2][0];
    let total: T = own.iter().flatten().map(loss).sum();
    let missed = missed / (total + T::of(SMALLEST_LOSS));
    for own in own.iter_mut().flatten() {
        let share = missed * (loss(own) * loss(own) / own[2][0]);
        own[2][2] -= share;
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
