//! Vectors of sites, and sweeps over them; bits and levels of sites that lack a partner.

#![allow(unsafe_code, reason = "SIMD")]

use super::super::scheme::alone;
use crate::backend::simd::Lanes;
use crate::field::Real;
use num_traits::Zero;

/// The site is in the grid and no wall.
pub(super) const INSIDE: u8 = 1;
/// It has a partner in even, odd sweeps along x.
pub(super) const X: [u8; 2] = [2, 4];
/// Across the rows of a slab (y of a 3D grid).
pub(super) const ACROSS: [u8; 2] = [8, 16];
/// Along the stream of slabs (y in 2D, z in 3D).
pub(super) const STREAM: [u8; 2] = [32, 64];
/// Nothing special.
pub(super) const PLAIN: u8 = 127;
/// Lanes whose sites one level describes.
pub(super) const FLAG: usize = 16;

/// Levels of special sites among FLAG lanes of a row pair. All have every partner and lie inside.
pub(super) const NONE: u8 = 0;
/// Some lie outside, or have no partner in odd sweeps along x: a block's end along x. Sites outside hold zeros and stay zero in all other
/// sweeps, where both partners are outside.
pub(super) const ENDS: u8 = 1;
/// Anything else: multipliers in every sweep.
pub(super) const ANY: u8 = 2;

/// The level that a site's bits need.
pub(super) fn level(bits: u8) -> u8 {
    if bits == PLAIN {
        NONE
    } else if bits == 0 || bits | X[1] == PLAIN {
        ENDS
    } else {
        ANY
    }
}

/// Sweeps are cosh/sinh: p' = p + t q.
pub(super) const IMAGINARY: u8 = 1;
/// x bonds carry phases.
pub(super) const FLUX: u8 = 2;

/// Coefficients of a sweep: t e^{−iϕ}, and 1/cos for sites without partner.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Sweep<T> {
    pub re: T,
    pub im: T,
    pub alone: T,
}

impl<T: Real> Sweep<T> {
    /// A sweep by an angle.
    pub(super) fn new(angle: f64, imaginary: bool) -> Self {
        Self {
            re: T::of(if imaginary { angle.tanh() } else { angle.tan() }),
            im: T::zero(),
            alone: T::of(alone::<T>(angle, imaginary)),
        }
    }

    /// The same with the phase e^{−iϕ} = (cos, sin) on its bonds.
    pub(super) fn turned(self, (cos, sin): (T, T)) -> Self {
        Self {
            re: self.re * cos,
            im: self.re * sin,
            alone: self.alone,
        }
    }
}

/// Coefficients in registers.
#[derive(Clone, Copy)]
pub(super) struct Wide<L> {
    pub re: L,
    pub im: L,
    pub alone: L,
}

impl<L: Lanes> Wide<L> {
    #[inline(always)]
    pub(super) unsafe fn new(sweep: &Sweep<L::Element>) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            Self {
                re: L::splat(sweep.re),
                im: L::splat(sweep.im),
                alone: L::splat(sweep.alone),
            }
        }
    }
}

/// A vector of complex numbers.
#[derive(Clone, Copy)]
pub(super) struct Complexes<L> {
    pub re: L,
    pub im: L,
}

// Contract of all functions below: pointers are good for the rows they name (`k` lanes in blocks; bits two times `k`), `k` is a multiple
// of FLAG and so of L::N, rows of one call do not overlap unless the same, and the machine has L's instruction set.
impl<L: Lanes> Complexes<L> {
    #[inline(always)]
    pub(super) unsafe fn zero() -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let zero = L::splat(L::Element::zero());
            Self { re: zero, im: zero }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn load(from: *const L::Element) -> Self {
        // SAFETY: the caller's: a whole block, 2N numbers a half, begins here.
        unsafe {
            Self {
                re: L::load(from),
                im: L::load(from.add(L::N)),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn store(self, to: *mut L::Element) {
        // SAFETY: the caller's: a whole block, 2N numbers a half, begins here.
        unsafe {
            self.re.store(to);
            self.im.store(to.add(L::N));
        }
    }

    #[inline(always)]
    pub(super) unsafe fn next(self, after: Self) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                re: self.re.next(after.re),
                im: self.im.next(after.im),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn previous(self, before: Self) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                re: self.re.previous(before.re),
                im: self.im.previous(before.im),
            }
        }
    }

    // A minus goes with the variable: with w it would be kept in a register of its own.

    /// self + i w q (imaginary time: + w q), for the lower site of a bond.
    #[inline(always)]
    pub(super) unsafe fn lower<const MODE: u8>(self, q: Self, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let (mut re, mut im) = if MODE & IMAGINARY == 0 {
                (q.im.neg_mul_add(w.re, self.re), w.re.mul_add(q.re, self.im))
            } else {
                (w.re.mul_add(q.re, self.re), w.re.mul_add(q.im, self.im))
            };
            if MODE & FLUX != 0 {
                if MODE & IMAGINARY == 0 {
                    re = q.re.neg_mul_add(w.im, re);
                    im = q.im.neg_mul_add(w.im, im);
                } else {
                    re = q.im.neg_mul_add(w.im, re);
                    im = w.im.mul_add(q.re, im);
                }
            }
            Self { re, im }
        }
    }

    /// self + i w* p (imaginary time: + w* p), for the upper site of a bond.
    #[inline(always)]
    pub(super) unsafe fn upper<const MODE: u8>(self, p: Self, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let (mut re, mut im) = if MODE & IMAGINARY == 0 {
                (p.im.neg_mul_add(w.re, self.re), w.re.mul_add(p.re, self.im))
            } else {
                (w.re.mul_add(p.re, self.re), w.re.mul_add(p.im, self.im))
            };
            if MODE & FLUX != 0 {
                if MODE & IMAGINARY == 0 {
                    re = w.im.mul_add(p.re, re);
                    im = w.im.mul_add(p.im, im);
                } else {
                    re = w.im.mul_add(p.im, re);
                    im = p.re.neg_mul_add(w.im, im);
                }
            }
            Self { re, im }
        }
    }

    /// Times the multiplier of each site.
    #[inline(always)]
    pub(super) unsafe fn mask(self, bits: *const u8, partner: u8, w: &Wide<L>) -> Self {
        // SAFETY: the caller's: bits of N sites begin at `bits`.
        unsafe {
            let m = L::multiplier(bits, INSIDE, partner, w.alone);
            Self {
                re: self.re.mul(m),
                im: self.im.mul(m),
            }
        }
    }

    /// Times (c, s).
    #[inline(always)]
    pub(super) unsafe fn turn(self, phase: Self) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                re: self.im.neg_mul_add(phase.im, self.re.mul(phase.re)),
                im: self.im.mul_add(phase.re, self.re.mul(phase.im)),
            }
        }
    }
}

/// A pair turned by a sweep.
#[inline(always)]
unsafe fn couple<L: Lanes, const MODE: u8>(
    p: Complexes<L>,
    q: Complexes<L>,
    w: &Wide<L>,
) -> (Complexes<L>, Complexes<L>) {
    // SAFETY: registers only; the caller says that the machine has L's instruction set.
    unsafe { (p.lower::<MODE>(q, w), q.upper::<MODE>(p, w)) }
}

/// A pair turned by a sweep, its members multiplied by what `bits` say where that is asked for.
#[inline(always)]
pub(super) unsafe fn couple_masked<L: Lanes, const MODE: u8>(
    p: Complexes<L>,
    q: Complexes<L>,
    w: &Wide<L>,
    masked: bool,
    bits: [*const u8; 2],
    partner: u8,
) -> (Complexes<L>, Complexes<L>) {
    // SAFETY: the caller's: bits of N sites begin at both of `bits`, which are read only where `masked`.
    unsafe {
        let (p, q) = couple::<L, MODE>(p, q, w);
        if masked {
            (p.mask(bits[0], partner, w), q.mask(bits[1], partner, w))
        } else {
            (p, q)
        }
    }
}

/// Even and odd columns of a vector.
#[derive(Clone, Copy)]
pub(super) struct Columns<L> {
    pub even: Complexes<L>,
    pub odd: Complexes<L>,
}

/// The block of a row that holds lanes `at`..`at` + N.
#[inline(always)]
unsafe fn block<L: Lanes>(row: *const L::Element, at: usize) -> *const L::Element {
    debug_assert!(at.is_multiple_of(L::N), "lane {at}");
    // SAFETY: the caller's: `at` is a multiple of N below `k`, and a row of `k` lanes has blocks of 8N numbers, 8 a
    // lane, beside its partner's.
    unsafe { row.add(8 * at) }
}

impl<L: Lanes> Columns<L> {
    #[inline(always)]
    pub(super) unsafe fn zero() -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                even: Complexes::zero(),
                odd: Complexes::zero(),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn load(row: *const L::Element, at: usize) -> Self {
        // SAFETY: the caller's: a whole block, 2N numbers a half, begins here.
        unsafe {
            let from = block::<L>(row, at);
            Self {
                even: Complexes::load(from),
                odd: Complexes::load(from.add(2 * L::N)),
            }
        }
    }

    #[inline(always)]
    pub(super) unsafe fn store(self, row: *mut L::Element, at: usize) {
        // SAFETY: the caller's: a whole block, 2N numbers a half, begins here.
        unsafe {
            let to = block::<L>(row, at).cast_mut();
            self.even.store(to);
            self.odd.store(to.add(2 * L::N));
        }
    }

    /// Sites without partner or inside walls take their multipliers, if `masked`.
    #[inline(always)]
    pub(super) unsafe fn mask(
        self,
        masked: bool,
        bits: *const u8,
        k: usize,
        at: usize,
        partner: u8,
        w: &Wide<L>,
    ) -> Self {
        // SAFETY: the caller's: bits of N sites begin at `bits`, here and, for odd columns, `k` further on.
        unsafe {
            if !masked {
                return self;
            }
            Self {
                even: self.even.mask(bits.add(at), partner, w),
                odd: self.odd.mask(bits.add(k + at), partner, w),
            }
        }
    }

    /// Times (c, s).
    #[inline(always)]
    pub(super) unsafe fn turn(self, phase: Self) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                even: self.even.turn(phase.even),
                odd: self.odd.turn(phase.odd),
            }
        }
    }

    /// The even sweep along x.
    #[inline(always)]
    pub(super) unsafe fn x_even<const MODE: u8>(self, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                even: self.even.lower::<MODE>(self.odd, w),
                odd: self.odd.upper::<MODE>(self.even, w),
            }
        }
    }

    /// The odd sweep along x, given the odd columns before and the even columns after.
    #[inline(always)]
    pub(super) unsafe fn x_odd<const MODE: u8>(self, before: Complexes<L>, after: Complexes<L>, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                odd: self.odd.lower::<MODE>(self.even.next(after), w),
                even: self.even.upper::<MODE>(self.odd.previous(before), w),
            }
        }
    }

    /// A sweep between two rows, the lower first.
    #[inline(always)]
    pub(super) unsafe fn couple<const MODE: u8>(self, upper: Self, w: &Wide<L>) -> (Self, Self) {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let even = couple::<L, MODE>(self.even, upper.even, w);
            let odd = couple::<L, MODE>(self.odd, upper.odd, w);
            (
                Self {
                    even: even.0,
                    odd: odd.0,
                },
                Self {
                    even: even.1,
                    odd: odd.1,
                },
            )
        }
    }
}
