//! Stretches of a row in which layers of one or more axes absorb ([`super::cpml`]).

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "vector instructions; kernels must end up in the one function that has the target features"
)]

use super::stencil::{COEFFICIENTS, FLUX, first, term};
use crate::backend::simd::{self, Array, Lanes, Level, Vectors};
use crate::field::Real;

/// A stretch of a row. All slices are as long as `here`, but for factors that are the same for all of its sites.
pub(super) struct Stretch<'a, 'b, T> {
    /// pⁿ.
    pub(super) here: &'a [T],
    /// pⁿ⁻¹, which becomes pⁿ⁺¹.
    pub(super) out: &'a mut [T],
    /// λ² or κ of each site, if they differ.
    pub(super) squares: Option<&'a [T]>,
    /// λ² otherwise.
    pub(super) square: T,
    /// ρ, if it differs from site to site.
    pub(super) density: Option<&'a [T]>,
    /// x, y, z, as many as there are.
    pub(super) axes: &'b mut [Axis<'a, T>],
}

/// What a stretch reads along one axis.
pub(super) struct Axis<'a, T> {
    /// Neighbours k sites below and above at [k − 1].
    pub(super) near: [[&'a [T]; 2]; 4],
    /// ρ of the nearest ones.
    pub(super) density: Option<[&'a [T]; 2]>,
    /// The axis' layer, if it absorbs here.
    pub(super) layer: Option<AxisLayer<'a, T>>,
}

/// A layer along one axis.
pub(super) struct AxisLayer<'a, T> {
    /// A of the faces below and above and of the sites.
    pub(super) factors: [&'a [T]; 3],
    /// Whether there is one for each site, as along x, or one for all.
    pub(super) columns: bool,
    /// ψ of the faces below and above, ζ.
    pub(super) memory: [&'a mut [T]; 3],
}

/// Steps a stretch: pⁿ⁺¹ = pⁿ + ((pⁿ − pⁿ⁻¹) + λ² Σ Z), where the plain second difference stands for Z along axes that do not absorb.
pub(super) type AbsorbKernel<T> = fn(Stretch<'_, '_, T>);

/// The fastest kernel of half width `half` (1 to 4).
pub(super) fn absorb_kernel<T: Vectors>(half: usize) -> AbsorbKernel<T> {
    match half {
        1 => step::<T, 1>,
        2 => step::<T, 2>,
        3 => step::<T, 3>,
        _ => step::<T, 4>,
    }
}

fn step<T: Vectors, const H: usize>(stretch: Stretch<'_, '_, T>) {
    let n = stretch.here.len();
    let long = |slice: Option<&[T]>| slice.is_none_or(|slice| slice.len() == n);
    assert!(stretch.out.len() == n && long(stretch.squares) && long(stretch.density));
    for axis in &*stretch.axes {
        assert!(axis.near[..H].iter().flatten().all(|near| near.len() == n));
        assert!(axis.density.iter().flatten().all(|density| density.len() == n));
        if let Some(layer) = &axis.layer {
            let factors = if layer.columns { n } else { 1 };
            assert!(layer.factors.iter().all(|all| all.len() == factors));
            assert!(layer.memory.iter().all(|memory| memory.len() == n));
        }
    }
    Level::best().run(Absorb::<T, H>(stretch));
}

struct Absorb<'a, 'b, T, const H: usize>(Stretch<'a, 'b, T>);

impl<T: Vectors, const H: usize> simd::Kernel<T> for Absorb<'_, '_, T, H> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(mut self) {
        let n = self.0.here.len();
        let whole = n - n % L::N;
        // SAFETY: every slice holds n values, as `step` has seen, and i + N ≤ n; instructions as the caller promises.
        unsafe {
            for i in (0..whole).step_by(L::N) {
                self.0.sites::<L, H>(i);
            }
            for i in whole..n {
                self.0.sites::<Array<T, 1>, H>(i);
            }
        }
    }
}

impl<T: Real> Stretch<'_, '_, T> {
    /// Steps the sites of a vector.
    ///
    /// # Safety
    /// The slices reach as far as `i` + N; the processor must have the instructions of `L`; for all that follow.
    #[inline(always)]
    unsafe fn sites<L: Lanes<Element = T>, const H: usize>(&mut self, i: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let here = L::load(self.here.as_ptr().add(i));
            let mut rho = None;
            if let Some(density) = self.density {
                rho = Some(L::load(density.as_ptr().add(i)));
            }
            let mut sum = here;
            for (n, axis) in self.axes.iter_mut().enumerate() {
                let part = axis.change::<L, H>(i, here, rho);
                sum = if n == 0 { part } else { sum.add(part) };
            }
            let mut square = L::splat(self.square);
            if let Some(squares) = self.squares {
                square = L::load(squares.as_ptr().add(i));
            }
            let out = self.out.as_mut_ptr().add(i);
            here.add(square.mul_add(sum, here.sub(L::load(out)))).store(out);
        }
    }
}

impl<T: Real> Axis<'_, T> {
    /// The part of Lp of this axis; the layer's memories go on by a step.
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize>(&mut self, i: usize, here: L, rho: Option<L>) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut low, mut high) = ([here; H], [here; H]);
            for k in 0..H {
                low[k] = L::load(self.near[k][0].as_ptr().add(i));
                high[k] = L::load(self.near[k][1].as_ptr().add(i));
            }
            if let Some(layer) = &mut self.layer {
                let z = layer.change::<L, H>(i, here, &low, &high);
                return match rho {
                    Some(rho) => z.div(rho),
                    None => z,
                };
            }
            if let (Some(rho), Some([below, above])) = (rho, self.density) {
                let below = low[0].sub(here).div(rho.add(L::load(below.as_ptr().add(i))));
                let above = high[0].sub(here).div(rho.add(L::load(above.as_ptr().add(i))));
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

impl<T: Real> AxisLayer<'_, T> {
    /// Z from pⁿ around; see [`super::cpml`].
    #[inline(always)]
    unsafe fn change<L: Lanes<Element = T>, const H: usize>(
        &mut self,
        i: usize,
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
            let lower = self.renew::<L>(0, i, below);
            let upper = self.renew::<L>(1, i, above);
            self.renew::<L>(2, i, upper.sub(lower))
        }
    }

    /// A(m + g) of a memory m, which becomes that minus g.
    #[inline(always)]
    unsafe fn renew<L: Lanes<Element = T>>(&mut self, n: usize, i: usize, g: L) -> L {
        // SAFETY: the caller's promise.
        unsafe {
            let factor = if self.columns {
                L::load(self.factors[n].as_ptr().add(i))
            } else {
                L::splat(self.factors[n][0])
            };
            let memory = self.memory[n].as_mut_ptr().add(i);
            let sum = factor.mul(L::load(memory).add(g));
            sum.sub(g).store(memory);
            sum
        }
    }
}

/// A and the memories of a site in a layer: of the faces below and above it, and of itself.
pub(super) type Own<T> = [[T; 2]; 3];

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
    let renew = |[factor, memory]: &mut [T; 2], g: T| {
        let sum = *factor * (*memory + g);
        *memory = sum - g;
        sum
    };
    let (lower, upper) = (renew(below, lower), renew(above, upper));
    renew(site, upper - lower)
}
