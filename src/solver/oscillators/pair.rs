//! The flow of pairs: two masses M₁, M₂ and the spring k between them, exactly, for a time τ.
//!
//! With μ = M₁M₂/(M₁ + M₂) and ω = √(k/μ) the centre of mass drifts, and the distance r = q₁ − q₂ turns with its momentum by ωτ. A turn is three shears, so the flow
//! is a kick, a drift and a kick:
//!
//! p₁ −= κr, p₂ += κr; q₁ += A p₁ + B p₂, q₂ += B p₁ + C p₂; p₁ −= κr, p₂ += κr;
//! κ = μω tan(ωτ/2), A = τ/M + (M₂/M)² σ, B = τ/M − (M₁M₂/M²) σ, C = τ/M + (M₁/M)² σ, σ = sin(ωτ)/(μω), M = M₁ + M₂.
//!
//! 10 instructions a pair, against 13 of turning sums and differences. Kicks and drifts conserve volume for any rounding, and what one mass of a pair
//! gains in a kick the other loses.
//!
//! A removed bond has κ = B = 0, A = τ/M₁, C = τ/M₂: both masses drift. A site without a partner in a sweep still owns its share of
//! the kinetic energy: it drifts as well (a free end), or swings on the spring of a soft edge: κ = Mω tan(ωτ/2), A = sin(ωτ)/(Mω), ω = √(k/M).
//!
//! Source: H. L. Calvo, E. P. Danieli, H. M. Pastawski, Physica B 398 (2007) 317, §2; the shears: every rotation of the plane is three (e.g. A. Paeth 1986).

#![allow(unsafe_code, reason = "SIMD")]

use crate::backend::simd::Lanes;
use num_traits::Float;

/// κ, A, B, C of a pair.
pub(super) type Pair<T> = [T; 4];
/// κ, A of a site without a partner.
pub(super) type Lone<T> = [T; 2];

/// The coefficients of a pair of masses with a spring of stiffness `k` (0: none) for a time `tau`.
pub(super) fn pair(m1: f64, m2: f64, k: f64, tau: f64) -> Pair<f64> {
    if k == 0.0 {
        return [0.0, tau / m1, 0.0, tau / m2];
    }
    let total = m1 + m2;
    let reduced = m1 * m2 / total;
    let omega = (k / reduced).sqrt();
    let swing = (omega * tau).sin() / (reduced * omega);
    let (s1, s2) = (m1 / total, m2 / total);
    [
        reduced * omega * (omega * tau / 2.0).tan(),
        tau / total + s2 * s2 * swing,
        tau / total - s1 * s2 * swing,
        tau / total + s1 * s1 * swing,
    ]
}

/// The coefficients of a mass on a spring of stiffness `k` (0: a free end) for a time `tau`.
pub(super) fn lone(m: f64, k: f64, tau: f64) -> Lone<f64> {
    if k == 0.0 {
        return [0.0, tau / m];
    }
    let omega = (k / m).sqrt();
    [m * omega * (omega * tau / 2.0).tan(), (omega * tau).sin() / (m * omega)]
}

/// Pointers to the numbers of some sites.
pub(super) struct Sites<T> {
    /// Displacements: the pressure.
    pub q: *mut T,
    /// Momenta.
    pub p: *mut T,
}

impl<T> Clone for Sites<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Sites<T> {}

impl<T> Sites<T> {
    /// The sites `n` further on; may be formed, though not used, outside the arrays.
    pub(super) fn at(self, n: usize) -> Self {
        Self {
            q: self.q.wrapping_add(n),
            p: self.p.wrapping_add(n),
        }
    }
}

/// Coefficients of neighbouring pairs.
#[derive(Clone, Copy)]
pub(super) enum Coefficients<'a, T> {
    /// The same for all.
    Same(&'a Pair<T>),
    /// κ, A, B, C of each.
    Each([*const T; 4]),
}

// Contract of all functions below: the machine has L's instructions; sites and coefficients are good for `n` numbers, and the two lists of sites
// share none.

/// Turns `n` pairs.
#[inline(always)]
pub(super) unsafe fn pairs<L: Lanes>(
    a: Sites<L::Element>,
    b: Sites<L::Element>,
    n: usize,
    coefficients: Coefficients<L::Element>,
) {
    debug_assert!(n == 0 || (a.q != b.q && a.p != b.p), "pairs have two sites");
    // SAFETY: vectors end at n − n % N and single numbers at `n`, for which the caller says that sites and
    // coefficients are good.
    unsafe {
        match coefficients {
            Coefficients::Same(same) => {
                // Not by `map`: its closure would be compiled apart, without the vectors' instructions, and called for every vector.
                let [k, own, mixed, other] = *same;
                let wide = [L::splat(k), L::splat(own), L::splat(mixed), L::splat(other)];
                for i in (0..n - n % L::N).step_by(L::N) {
                    turn(a.at(i), b.at(i), wide);
                }
                for i in n - n % L::N..n {
                    turn_one::<L>(a.at(i), b.at(i), *same);
                }
            }
            Coefficients::Each(each) => {
                let [k, own, mixed, other] = each;
                for i in (0..n - n % L::N).step_by(L::N) {
                    let wide = [
                        L::load(k.add(i)),
                        L::load(own.add(i)),
                        L::load(mixed.add(i)),
                        L::load(other.add(i)),
                    ];
                    turn(a.at(i), b.at(i), wide);
                }
                for i in n - n % L::N..n {
                    turn_one::<L>(a.at(i), b.at(i), [*k.add(i), *own.add(i), *mixed.add(i), *other.add(i)]);
                }
            }
        }
    }
}

/// Pairs of one vector, in registers.
#[inline(always)]
pub(super) unsafe fn turned<L: Lanes>([q1, p1]: [L; 2], [q2, p2]: [L; 2], [k, a, b, c]: [L; 4]) -> [[L; 2]; 2] {
    // SAFETY: registers only; the caller says that the machine has L's instructions.
    unsafe {
        let r = q1.sub(q2);
        let p1 = r.neg_mul_add(k, p1);
        let p2 = r.mul_add(k, p2);
        let q1 = p2.mul_add(b, p1.mul_add(a, q1));
        let q2 = p2.mul_add(c, p1.mul_add(b, q2));
        let r = q1.sub(q2);
        [[q1, r.neg_mul_add(k, p1)], [q2, r.mul_add(k, p2)]]
    }
}

#[inline(always)]
pub(super) unsafe fn load<L: Lanes>(sites: Sites<L::Element>) -> [L; 2] {
    // SAFETY: the caller's: N numbers begin at both.
    unsafe { [L::load(sites.q), L::load(sites.p)] }
}

#[inline(always)]
pub(super) unsafe fn store<L: Lanes>(sites: Sites<L::Element>, [q, p]: [L; 2]) {
    // SAFETY: the caller's: N numbers begin at both.
    unsafe {
        q.store(sites.q);
        p.store(sites.p);
    }
}

#[inline(always)]
unsafe fn turn<L: Lanes>(a: Sites<L::Element>, b: Sites<L::Element>, w: [L; 4]) {
    // SAFETY: the caller's: N sites begin at both, and the two share none.
    unsafe {
        let [first, second] = turned(load::<L>(a), load::<L>(b), w);
        store(a, first);
        store(b, second);
    }
}

/// x·y + z, rounded as the vectors of `L` round it.
#[inline(always)]
fn fma<L: Lanes>(x: L::Element, y: L::Element, z: L::Element) -> L::Element {
    if L::FUSES { x.mul_add(y, z) } else { x * y + z }
}

/// One pair, with the operations of [`turned`].
#[inline(always)]
pub(super) unsafe fn turn_one<L: Lanes>(
    first: Sites<L::Element>,
    second: Sites<L::Element>,
    [k, a, b, c]: Pair<L::Element>,
) {
    debug_assert!(first.q != second.q && first.p != second.p, "a pair has two sites");
    // SAFETY: the caller's: both sites are there, and are two.
    unsafe {
        let (q1, p1, q2, p2) = (*first.q, *first.p, *second.q, *second.p);
        let r = q1 - q2;
        let (p1, p2) = (fma::<L>(-r, k, p1), fma::<L>(r, k, p2));
        let q1 = fma::<L>(p2, b, fma::<L>(p1, a, q1));
        let q2 = fma::<L>(p2, c, fma::<L>(p1, b, q2));
        let r = q1 - q2;
        (*first.q, *first.p) = (q1, fma::<L>(-r, k, p1));
        (*second.q, *second.p) = (q2, fma::<L>(r, k, p2));
    }
}

/// One site without a partner.
#[inline(always)]
pub(super) unsafe fn swing_one<L: Lanes>(site: Sites<L::Element>, [k, a]: Lone<L::Element>) {
    // SAFETY: the caller's: the site is there.
    unsafe {
        let p = fma::<L>(-*site.q, k, *site.p);
        let q = fma::<L>(p, a, *site.q);
        (*site.q, *site.p) = (q, fma::<L>(-q, k, p));
    }
}

/// A row of sites without partners, with a κ and an A each.
#[inline(always)]
pub(super) unsafe fn swings<L: Lanes>(sites: Sites<L::Element>, n: usize, [k, a]: [*const L::Element; 2]) {
    // SAFETY: vectors end at n − n % N and single numbers at `n`, for which the caller says that sites and
    // coefficients are good.
    unsafe {
        for i in (0..n - n % L::N).step_by(L::N) {
            let [q, p] = load::<L>(sites.at(i));
            let (k, a) = (L::load(k.add(i)), L::load(a.add(i)));
            let p = q.neg_mul_add(k, p);
            let q = p.mul_add(a, q);
            store(sites.at(i), [q, q.neg_mul_add(k, p)]);
        }
        for i in n - n % L::N..n {
            swing_one::<L>(sites.at(i), [*k.add(i), *a.add(i)]);
        }
    }
}

/// Multiplies the momenta of a row with a factor each.
#[inline(always)]
pub(super) unsafe fn damp<L: Lanes>(p: *mut L::Element, n: usize, factors: *const L::Element) {
    // SAFETY: vectors end at n − n % N and single numbers at `n`, for which the caller says that momenta and factors
    // are good.
    unsafe {
        for i in (0..n - n % L::N).step_by(L::N) {
            L::load(p.add(i)).mul(L::load(factors.add(i))).store(p.add(i));
        }
        for i in n - n % L::N..n {
            *p.add(i) *= *factors.add(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::simd::Array;

    /// The textbook flow: the centre of mass drifts, the distance turns.
    fn exact([q1, p1, q2, p2]: [f64; 4], m1: f64, m2: f64, k: f64, t: f64) -> [f64; 4] {
        let m = m1 + m2;
        let (mu, centre, total) = (m1 * m2 / m, (m1 * q1 + m2 * q2) / m, p1 + p2);
        let (r, pi, w) = (q1 - q2, (m2 * p1 - m1 * p2) / m, (k / mu).sqrt());
        let (s, c) = (w * t).sin_cos();
        let centre = centre + total * t / m;
        let (r, pi) = (r * c + pi * s / (mu * w), pi * c - mu * w * r * s);
        [
            centre + m2 / m * r,
            m1 / m * total + pi,
            centre - m1 / m * r,
            m2 / m * total - pi,
        ]
    }

    /// Ten operations of relative rounding 1e-16 on numbers near 1.
    #[test]
    fn three_shears_are_the_exact_flow() {
        for (m1, m2, k, t) in [(1.3, 2.1, 0.7, 0.9), (2.0, 2.0, 1.0, -0.4), (0.5, 40.0, 0.3, 1.2)] {
            let start = [0.3, 0.5, -0.2, 0.8];
            let [mut q1, mut p1, mut q2, mut p2] = start;
            let sites = |q: &mut f64, p: &mut f64| Sites { q, p };
            // SAFETY: four numbers of their own.
            unsafe {
                turn_one::<Array<f64, 4>>(sites(&mut q1, &mut p1), sites(&mut q2, &mut p2), pair(m1, m2, k, t));
            }
            for (found, expected) in [q1, p1, q2, p2].iter().zip(exact(start, m1, m2, k, t)) {
                assert!((found - expected).abs() < 5e-15, "{found} {expected}");
            }
        }
    }

    #[test]
    fn a_mass_on_a_spring_swings_and_a_free_one_drifts() {
        let (m, k, t): (f64, f64, f64) = (1.7, 0.9, 0.8);
        let w = (k / m).sqrt();
        let swing = |k: f64| {
            let (mut q, mut p) = (0.4, -0.6);
            let site = Sites {
                q: &raw mut q,
                p: &raw mut p,
            };
            // SAFETY: two numbers of their own.
            unsafe { swing_one::<Array<f64, 4>>(site, lone(m, k, t)) };
            [q, p]
        };
        let [q, p] = swing(k);
        let (s, c) = (w * t).sin_cos();
        assert!((q - (0.4 * c - 0.6 * s / (m * w))).abs() < 1e-15);
        assert!((p - (-0.6 * c - m * w * 0.4 * s)).abs() < 1e-15);
        assert_eq!(swing(0.0), [0.4 - 0.6 * (t / m), -0.6]);
    }
}
