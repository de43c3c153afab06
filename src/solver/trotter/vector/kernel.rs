//! Kernels on places of rows: bonds between two arrays, and phases.
//!
//! A bond (p, q) turns in three shears, p += A q; q += B p; p += A q, of determinant 1 whatever the rounding. In real time A = i w, B = i ρ w*, in
//! imaginary time A = w, B = ρ w*, with w = t e^{−iϕ}, ρ = s/t and [`Turn`]'s t and s; ϕ is the bond's Peierls phase. Then A B is real, so
//! that the turn of rounded numbers is still similar to a rotation and no amplitude drifts. Without flux w is real and 6
//! multiply-adds turn a pair; with it 10 multiply-adds and 4 multiplications.
//!
//! A bond that is missing has w = 0 and leaves its sites as they are, bit for bit.

#![allow(unsafe_code, reason = "SIMD")]

use super::super::components::CrossPhase;
use super::super::naive::Turn;
use super::layout::BLOCK;
use crate::backend::simd::{Kernel, Lanes, Vectors};
use crate::field::Real;
use num_complex::Complex;
use std::ops::Range;

/// Sweeps are cosh/sinh.
pub(super) const IMAGINARY: u8 = 1;
/// Bonds carry phases.
pub(super) const FLUX: u8 = 2;

/// The coefficients of a bond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coupling<T> {
    /// t e^{−iϕ}.
    w: Complex<T>,
    /// s.
    s: T,
    /// s/t.
    ratio: T,
}

impl<T: Real> Coupling<T> {
    /// For bonds with the phase e^{iϕ} = `gauge`.
    pub(super) fn new(turn: Turn<T>, gauge: Option<Complex<T>>) -> Self {
        Self {
            w: gauge.map_or(Complex::new(turn.t, T::zero()), |gauge| gauge.conj() * turn.t),
            s: turn.s,
            ratio: if turn.t == T::zero() {
                T::zero()
            } else {
                turn.s / turn.t
            },
        }
    }

    /// Whether bonds leave their sites as they are.
    fn turns_nothing(&self) -> bool {
        let zero = T::zero();
        self.w.re == zero && self.w.im == zero && self.s == zero
    }

    /// w (re, im), s and s/t.
    pub(super) fn numbers(&self) -> [T; 4] {
        [self.w.re, self.w.im, self.s, self.ratio]
    }
}

/// The sites of one colour in a row, from some place on.
#[derive(Clone, Copy)]
pub(super) struct Sites<T> {
    pub re: *mut T,
    pub im: *mut T,
}

impl<T> Sites<T> {
    /// From `places` further on.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub(super) unsafe fn from(self, places: usize) -> Self {
        // SAFETY: the caller's contract.
        unsafe {
            Self {
                re: self.re.add(places),
                im: self.im.add(places),
            }
        }
    }
}

/// A coupling in registers.
#[derive(Clone, Copy)]
struct Wide<L> {
    re: L,
    im: L,
    s: L,
    ratio: L,
}

/// A vector of complex numbers.
#[derive(Clone, Copy)]
struct Complexes<L> {
    re: L,
    im: L,
}

// Contract of all that follows: pointers are good for the places named, lower and upper sites do not overlap, and the machine
// has L's instruction set.
impl<L: Lanes> Wide<L> {
    #[inline(always)]
    unsafe fn new(coupling: &Coupling<L::Element>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                re: L::splat(coupling.w.re),
                im: L::splat(coupling.w.im),
                s: L::splat(coupling.s),
                ratio: L::splat(coupling.ratio),
            }
        }
    }

    /// Nothing where either site is closed.
    #[inline(always)]
    unsafe fn masked(&self, open: [*const u8; 2]) -> Self {
        // SAFETY: the caller's: bytes of N sites begin at both of `open`.
        unsafe {
            let one = L::splat(num_traits::one());
            let both = L::multiplier(open[0], 1, 1, one).mul(L::multiplier(open[1], 1, 1, one));
            Self {
                re: self.re.mul(both),
                im: self.im.mul(both),
                s: self.s.mul(both),
                ratio: self.ratio,
            }
        }
    }
}

impl<L: Lanes> Complexes<L> {
    #[inline(always)]
    unsafe fn load(sites: Sites<L::Element>, at: usize) -> Self {
        // SAFETY: the caller's: N places begin at `at`.
        unsafe {
            Self {
                re: L::load(sites.re.add(at)),
                im: L::load(sites.im.add(at)),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, sites: Sites<L::Element>, at: usize) {
        // SAFETY: the caller's: N places begin at `at`.
        unsafe {
            self.re.store(sites.re.add(at));
            self.im.store(sites.im.add(at));
        }
    }

    /// self + i w q (imaginary time: + w q).
    #[inline(always)]
    unsafe fn lower<const MODE: u8>(self, q: Self, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let Self { mut re, mut im } = self;
            if MODE & IMAGINARY == 0 {
                (re, im) = (w.re.neg_mul_add(q.im, re), w.re.mul_add(q.re, im));
                if MODE & FLUX != 0 {
                    (re, im) = (w.im.neg_mul_add(q.re, re), w.im.neg_mul_add(q.im, im));
                }
            } else {
                (re, im) = (w.re.mul_add(q.re, re), w.re.mul_add(q.im, im));
                if MODE & FLUX != 0 {
                    (re, im) = (w.im.neg_mul_add(q.im, re), w.im.mul_add(q.re, im));
                }
            }
            Self { re, im }
        }
    }

    /// self + i s p (imaginary time: + s p); with flux + i ρ w* p (+ ρ w* p).
    #[inline(always)]
    unsafe fn upper<const MODE: u8>(self, p: Self, w: &Wide<L>) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            let (p, s) = if MODE & FLUX == 0 {
                (p, w.s)
            } else {
                let turned = Self {
                    re: w.im.mul_add(p.im, w.re.mul(p.re)),
                    im: w.im.neg_mul_add(p.re, w.re.mul(p.im)),
                };
                (turned, w.ratio)
            };
            if MODE & IMAGINARY == 0 {
                Self {
                    re: s.neg_mul_add(p.im, self.re),
                    im: s.mul_add(p.re, self.im),
                }
            } else {
                Self {
                    re: s.mul_add(p.re, self.re),
                    im: s.mul_add(p.im, self.im),
                }
            }
        }
    }

    /// Times (c, s).
    #[inline(always)]
    unsafe fn mul(self, factor: Self) -> Self {
        // SAFETY: registers only; the caller says that the machine has L's instruction set.
        unsafe {
            Self {
                re: self.im.neg_mul_add(factor.im, self.re.mul(factor.re)),
                im: self.im.mul_add(factor.re, self.re.mul(factor.im)),
            }
        }
    }
}

/// The coefficients of each bond of a line of places. Bonds that are missing have w = s = 0.
#[derive(Clone, Copy)]
pub(super) struct Couplings<'a, T> {
    /// w (re, im), s and s/t.
    pub numbers: [*const T; 4],
    /// Those of most bonds, and a flag for each block of places in which all have them: they are not read there.
    pub most: &'a Coupling<T>,
    pub alike: *const bool,
}

impl<T> Couplings<'_, T> {
    /// Those of a single place.
    ///
    /// # Safety
    /// It is there.
    #[inline(always)]
    pub(super) unsafe fn of_place(self, place: usize) -> Self {
        Self {
            // SAFETY: the caller's contract.
            numbers: self.numbers.map(|all| unsafe { all.add(place) }),
            alike: &raw const UNLIKE,
            ..self
        }
    }
}

/// The flag of a block whose bonds are to be read.
static UNLIKE: bool = false;

/// Turns the bonds between `places` of two arrays, each by a coupling of its own.
#[inline(always)]
pub(super) unsafe fn turn_own_bonds<L: Lanes, const MODE: u8>(
    lower: Sites<L::Element>,
    upper: Sites<L::Element>,
    places: Range<usize>,
    couplings: Couplings<'_, L::Element>,
) {
    debug_assert!(places.len().is_multiple_of(L::N), "{places:?}");
    debug_assert!(lower.re != upper.re && lower.im != upper.im, "bonds join two arrays");
    // SAFETY: the caller's: `places` are whole vectors of both arrays and of the couplings, with a flag a BLOCK of them.
    unsafe {
        let most = Wide::<L>::new(couplings.most);
        let [re, im, s, ratio] = couplings.numbers;
        let none = couplings.most.turns_nothing();
        let mut at = places.start;
        while at < places.end {
            let alike = *couplings.alike.add(at / BLOCK);
            if alike && none {
                at += L::N;
                continue;
            }
            let w = if alike {
                most
            } else {
                Wide {
                    re: L::load(re.add(at)),
                    im: L::load(im.add(at)),
                    s: L::load(s.add(at)),
                    ratio: L::load(ratio.add(at)),
                }
            };
            let p = Complexes::<L>::load(lower, at);
            let q = Complexes::<L>::load(upper, at);
            let p = p.lower::<MODE>(q, &w);
            let q = q.upper::<MODE>(p, &w);
            let p = p.lower::<MODE>(q, &w);
            p.store(lower, at);
            q.store(upper, at);
            at += L::N;
        }
    }
}

/// Turns the bonds between `places` of two arrays; `open` are the bytes of lower and upper sites, `dirty` the flags of their rows.
#[inline(always)]
pub(super) unsafe fn turn_bonds<L: Lanes, const MODE: u8>(
    lower: Sites<L::Element>,
    upper: Sites<L::Element>,
    places: Range<usize>,
    open: [*const u8; 2],
    dirty: [*const bool; 2],
    coupling: &Coupling<L::Element>,
) {
    debug_assert!(places.len().is_multiple_of(L::N), "{places:?}");
    debug_assert!(lower.re != upper.re && lower.im != upper.im, "bonds join two arrays");
    // SAFETY: the caller's: `places` are whole vectors of both arrays, with a byte each, and a flag a BLOCK of them.
    unsafe {
        let whole = Wide::<L>::new(coupling);
        let mut at = places.start;
        while at < places.end {
            let p = Complexes::<L>::load(lower, at);
            let q = Complexes::<L>::load(upper, at);
            let block = at / BLOCK;
            let w = if *dirty[0].add(block) || *dirty[1].add(block) {
                whole.masked([open[0].add(at), open[1].add(at)])
            } else {
                whole
            };
            let p = p.lower::<MODE>(q, &w);
            let q = q.upper::<MODE>(p, &w);
            let p = p.lower::<MODE>(q, &w);
            p.store(lower, at);
            q.store(upper, at);
            at += L::N;
        }
    }
}

/// Components that turn each other.
pub(super) struct TurnComponents<'a, T> {
    pub phase: CrossPhase<T>,
    pub first: [&'a mut [T]; 2],
    pub second: [&'a mut [T]; 2],
}

impl<T: Vectors> Kernel<T> for TurnComponents<'_, T> {
    #[inline(always)]
    unsafe fn run<L: Lanes<Element = T>>(self) {
        self.phase.turn(self.first, self.second);
    }
}

/// Multiplies the sites at `places` with factors.
#[inline(always)]
pub(super) unsafe fn multiply<L: Lanes>(
    sites: Sites<L::Element>,
    factors: [*const L::Element; 2],
    places: Range<usize>,
) {
    debug_assert!(places.len().is_multiple_of(L::N), "{places:?}");
    // SAFETY: the caller's: `places` are whole vectors of the field and of both factors.
    unsafe {
        let mut at = places.start;
        while at < places.end {
            let factor = Complexes {
                re: L::load(factors[0].add(at)),
                im: L::load(factors[1].add(at)),
            };
            Complexes::<L>::load(sites, at).mul(factor).store(sites, at);
            at += L::N;
        }
    }
}
