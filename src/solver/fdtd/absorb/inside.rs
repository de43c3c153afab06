//! A layer at a vector of sites.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::super::stencil::{FLUX, load, store};
use super::RowLayer;
use crate::backend::simd::Lanes;
use crate::field::Real;

/// Added to the sum of 1 − A of the axes of a site, where A may be 1.
pub(super) const SMALLEST_LOSS: f64 = 1e-12;

/// A layer at a vector of sites.
#[derive(Clone, Copy)]
pub(super) struct Inside<T, L> {
    pub(super) factors: Factors<L>,
    /// ψ of the faces below and above, ζ.
    pub(super) memory: [*mut T; 3],
}

/// The factors of a vector of sites: of the faces below and above and of the sites.
#[derive(Clone, Copy)]
pub(super) struct Factors<L> {
    pub(super) decay: [L; 3],
    pub(super) shift: [L; 3],
    /// (1 − A)/A of the sites.
    pub(super) loss_ratio: L,
}

impl<L: Lanes> Factors<L> {
    /// In the place of those of an axis that does not absorb.
    ///
    /// # Safety
    /// The processor must have the instructions of `L`; for all.
    #[inline(always)]
    pub(super) unsafe fn none() -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let zero = L::splat(L::Element::default());
            Self {
                decay: [zero; 3],
                shift: [zero; 3],
                loss_ratio: zero,
            }
        }
    }

    /// Of `count` slots along x from `slot` on, all N if `WHOLE`.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub(super) unsafe fn along<const WHOLE: bool>(layer: &RowLayer<L::Element>, slot: usize, count: usize) -> Self {
        let (from, apart) = (layer.factors.wrapping_add(slot), layer.apart);
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                decay: [
                    load::<L, WHOLE>(from, count),
                    load::<L, WHOLE>(from.wrapping_add(apart), count),
                    load::<L, WHOLE>(from.wrapping_add(2 * apart), count),
                ],
                shift: [
                    load::<L, WHOLE>(from.wrapping_add(3 * apart), count),
                    load::<L, WHOLE>(from.wrapping_add(4 * apart), count),
                    load::<L, WHOLE>(from.wrapping_add(5 * apart), count),
                ],
                loss_ratio: load::<L, WHOLE>(from.wrapping_add(6 * apart), count),
            }
        }
    }

    /// Of all sites of row `n`, of a layer along y or z.
    ///
    /// # Safety
    /// The row is there.
    #[inline(always)]
    pub(super) unsafe fn across(layer: &RowLayer<L::Element>, n: usize) -> Self {
        let (from, apart) = (layer.factors.wrapping_add(n * layer.next_factor), layer.apart);
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                decay: [
                    L::splat(*from),
                    L::splat(*from.wrapping_add(apart)),
                    L::splat(*from.wrapping_add(2 * apart)),
                ],
                shift: [
                    L::splat(*from.wrapping_add(3 * apart)),
                    L::splat(*from.wrapping_add(4 * apart)),
                    L::splat(*from.wrapping_add(5 * apart)),
                ],
                loss_ratio: L::splat(*from.wrapping_add(6 * apart)),
            }
        }
    }

    /// 1 − A of the sites.
    #[inline(always)]
    pub(super) unsafe fn loss(&self) -> L {
        // SAFETY: the caller's promise.
        unsafe { L::splat(L::Element::of(1.0)).sub(self.decay[2]) }
    }
}

impl<T: Real, L: Lanes<Element = T>> Inside<T, L> {
    /// Z from pⁿ around, and ζ of the next step; see [`super::super::cpml`]. `dense`: the density of the sites and of those below and above; Z is divided by it.
    #[inline(always)]
    pub(super) unsafe fn change<const H: usize, const WHOLE: bool>(
        &self,
        count: usize,
        here: L,
        (low, high): (&[L; H], &[L; H]),
        dense: Option<[L; 3]>,
    ) -> (L, L) {
        debug_assert!(count <= L::N, "{count} sites");
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
            if let Some([rho, lower, upper]) = dense {
                // The site's own over that of a face: 1 within a layer, whose density goes on along its normal, but not where sites only fill up its last vector.
                let twice = rho.add(rho);
                below = below.mul(twice.div(rho.add(lower)));
                above = above.mul(twice.div(rho.add(upper)));
            }
            let (lower, psi) = self.renew::<WHOLE>(0, count, below);
            store::<L, WHOLE>(psi, self.memory[0], count);
            let (upper, psi) = self.renew::<WHOLE>(1, count, above);
            store::<L, WHOLE>(psi, self.memory[1], count);
            let (z, zeta) = self.renew::<WHOLE>(2, count, upper.sub(lower));
            match dense {
                Some([rho, ..]) => (z.div(rho), zeta),
                None => (z, zeta),
            }
        }
    }

    /// A(m + g) + Bg of memory n, m, and that minus g, which it becomes.
    #[inline(always)]
    unsafe fn renew<const WHOLE: bool>(&self, n: usize, count: usize, g: L) -> (L, L) {
        // SAFETY: the caller's promise.
        unsafe {
            let old = load::<L, WHOLE>(self.memory[n], count);
            let sum = self.factors.shift[n].mul_add(g, self.factors.decay[n].mul(old.add(g)));
            (sum, sum.sub(g))
        }
    }
}

/// Corrects the ζ of a site's layers for the rounding of the pressure: `missed` is that rounding over λ². See [`super::super::cpml`].
///
/// # Safety
/// As for the steps of sites.
#[inline(always)]
pub(super) unsafe fn take<T: Real, L: Lanes<Element = T>, const D: usize>(
    inside: &[Option<Inside<T, L>>; D],
    zetas: &mut [L; D],
    missed: L,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut count = 0;
        let mut total = L::splat(T::of(SMALLEST_LOSS));
        for n in 0..D {
            if let Some(inside) = &inside[n] {
                count += 1;
                total = total.add(inside.factors.loss());
            }
        }
        let missed = if count > 1 { missed.div(total) } else { missed };
        for n in 0..D {
            if let Some(inside) = &inside[n] {
                let mut share = inside.factors.loss_ratio;
                if count > 1 {
                    share = share.mul(inside.factors.loss());
                }
                zetas[n] = missed.neg_mul_add(share, zetas[n]);
            }
        }
    }
}
