//! The step of one site, for sites beside walls, whose neighbours are mirrored one by one.

use super::super::stencil::{COEFFICIENTS, FLUX};
use super::inside::SMALLEST_LOSS;
use crate::field::Real;

/// What the vectors do with `missed` = pⁿ⁺¹ as it was rounded less what it should be, over λ², for a site with memories of its own and (1 − A)/A `ratios`.
pub(in super::super) fn site_takes<T: Real>(own: &mut [Option<Own<T>>; 3], ratios: [T; 3], missed: T) {
    let loss = |own: &Own<T>| T::one() - own[2][0];
    let mut shares = ratios;
    let mut missed = missed;
    if own.iter().flatten().count() > 1 {
        missed /= own.iter().flatten().map(loss).sum::<T>() + T::of(SMALLEST_LOSS);
        for (share, own) in shares.iter_mut().zip(own.iter()) {
            *share *= own.as_ref().map_or(T::zero(), loss);
        }
    }
    for (share, own) in shares.iter().zip(own) {
        if let Some(own) = own {
            own[2][2] -= missed * *share;
        }
    }
}

/// A, B and the memories of a site in a layer: of the faces below and above it, and of itself.
pub(in super::super) type Own<T> = [[T; 3]; 3];

/// The part of Lp of one axis of one site from pⁿ `here` and `near`, which holds what stands k sites below and above at [k − 1]; the memories of `own` go on by a
/// step, if it lies in a layer. For sites beside walls, whose neighbours are mirrored one by one.
#[expect(clippy::needless_pass_by_value, reason = "a mutable borrow is passed on")]
pub(in super::super) fn site_change<T: Real>(half: usize, here: T, near: &[[T; 2]; 4], own: Option<&mut Own<T>>) -> T {
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
