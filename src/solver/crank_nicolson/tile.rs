//! One Cayley factor of a few lines of a plane, a vector of lines at a time.
//!
//! Scheme: with q = −off/pivot and p = −2q/off, E_k = q_k E_{k−1} + p_k ψ_k from the first site to the last, Y_k = q_k Y_{k+1} + E_k from the last to the first, ψ ← Y − ψ: 12 multiply-adds a
//! site, of which one complex one waits for the site before. A ring: Y −= ζ (Y_0 − Y_{n−1}).
//! Layout: lines that run along y lie side by side in the field already and are solved where they are, two vectors of them at once where E and ψ of both stay in half of the second-level
//! cache, one otherwise; rows of the field are an odd number of cache lines apart, so that ψ spreads over all of that cache and is still there on the way back. Lines that run along x go through squares of N × N sites, transposed in registers, into `[site][re | im][lane]`.
//! Bytes: the field is read and written once from memory; E and ψ stay in the second-level cache up to some 4096 sites a line.

#![allow(unsafe_code, reason = "entered with the target features of a level")]

use super::pair::{Pair, WIDEST, transpose};
use crate::backend::simd::{Aligned, Kernel, Lanes, Vectors, prefetch};
use crate::field::Real;
use num_complex::Complex;
use std::ops::Range;

/// Vectors of columns that are solved at once where they are short enough.
pub(super) const WIDE: usize = 2;
/// Sites of the longest columns of which so many are.
pub(super) const SHORT: usize = 2048;
/// Rows of the field that are asked for ahead of their use.
const AHEAD: usize = 32;

/// Where the sites of a tile's lines are: site k of line l at `first` + k·`along` + l·`across`; `along` or `across` is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub first: usize,
    pub sites: usize,
    pub along: usize,
    pub lines: usize,
    pub across: usize,
}

/// p, q and ζ along the lines; ζ is empty for open lines.
#[derive(Clone, Copy)]
pub(super) enum Factors<'a, T> {
    /// By site, the same for all lines.
    Alike {
        p: &'a [Complex<T>],
        q: &'a [Complex<T>],
        ring: &'a [Complex<T>],
    },
    /// By site of the field, from where `place` counts.
    Each {
        scale: Complex<T>,
        q: &'a [Complex<T>],
        ring: &'a [Complex<T>],
    },
}

/// What a thread keeps between tiles, on cache lines.
pub(super) struct Scratch<T> {
    psi: Aligned<T>,
    /// E, then Y of a ring.
    right: Aligned<T>,
    q: Aligned<T>,
    ring: Aligned<T>,
}

impl<T: Real> Default for Scratch<T> {
    fn default() -> Self {
        let [psi, right, q, ring] = [(); 4].map(|()| Aligned::zeros(0));
        Self { psi, right, q, ring }
    }
}

/// Lines at work: at most N, or N·[`WIDE`] that run along y.
pub(super) struct Tile<'a, T> {
    /// The site from which `place` counts.
    pub field: *mut Complex<T>,
    pub place: Place,
    pub factors: Factors<'a, T>,
    pub scratch: &'a mut Scratch<T>,
}

impl<T: Vectors> Kernel<T> for Tile<'_, T> {
    #[inline(always)]
    unsafe fn run<V: Lanes<Element = T>>(self) {
        let Place {
            sites, along, lines, ..
        } = self.place;
        let direct = along > 1 && (lines == V::N || lines == WIDE * V::N);
        let numbers = sites * 2 * V::N;
        if let Factors::Alike { p, q, ring } = self.factors {
            debug_assert!(p.len() >= sites && q.len() >= sites, "{} factors", q.len());
            debug_assert!(ring.is_empty() || ring.len() >= sites, "{} factors", ring.len());
        }
        debug_assert!(direct || lines <= V::N, "{lines} lines");
        let Scratch { psi, right, q, ring } = self.scratch;
        let each = matches!(self.factors, Factors::Each { .. });
        grow(right, numbers * lines.div_ceil(V::N));
        if !direct {
            for (array, needed) in [(psi, true), (q, each), (ring, each)] {
                grow(array, if needed { numbers } else { 0 });
                // Lanes without a line.
                if needed && lines < V::N {
                    array.fill(T::zero());
                }
            }
        }
        let Scratch { psi, right, q, ring } = self.scratch;
        let work = Lines {
            field: self.field,
            place: self.place,
            psi: psi.as_mut_ptr(),
            right: right.as_mut_ptr(),
            own_q: q.as_mut_ptr(),
            own_ring: ring.as_mut_ptr(),
            factors: self.factors,
        };
        // SAFETY: the caller's; the arrays were just made long enough.
        unsafe {
            match (direct, lines == WIDE * V::N, each) {
                (true, true, false) => work.solve::<V, true, true, WIDE>(),
                (true, true, true) => work.solve::<V, false, true, WIDE>(),
                (true, false, false) => work.solve::<V, true, true, 1>(),
                (true, false, true) => work.solve::<V, false, true, 1>(),
                (false, _, false) => work.solve::<V, true, false, 1>(),
                (false, _, true) => work.solve::<V, false, false, 1>(),
            }
        }
    }
}

fn grow<T: Real>(array: &mut Aligned<T>, numbers: usize) {
    if array.len() < numbers {
        *array = Aligned::large(numbers, 0);
    }
}

/// A tile's pointers. `ALIKE`: factors of all lines are the same; `DIRECT`: lines are solved in the field itself, W vectors at once; otherwise in `psi`.
///
/// Every function may only run where V's instructions are, with the sites of `place` good and nobody else's, and the arrays 2·V::N numbers a site and vector long.
#[derive(Clone, Copy)]
struct Lines<'a, T> {
    field: *mut Complex<T>,
    place: Place,
    psi: *mut T,
    right: *mut T,
    own_q: *mut T,
    own_ring: *mut T,
    factors: Factors<'a, T>,
}

impl<'a, T: Real> Lines<'a, T> {
    #[inline(always)]
    unsafe fn solve<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool, const W: usize>(self) {
        let sites = self.place.sites;
        let part = |n: usize| n * V::N..((n + 1) * V::N).min(sites);
        let parts = sites.div_ceil(V::N);
        // SAFETY: the type's contract.
        unsafe {
            let mut above = [Pair::<V>::splat(Complex::default()); W];
            for n in 0..parts {
                if !DIRECT {
                    self.gather_all::<V, ALIKE>(part(n));
                }
                self.eliminate::<V, ALIKE, DIRECT, W>(part(n), &mut above);
            }
            let open = self.ring().is_empty();
            let mut below = [Pair::<V>::splat(Complex::default()); W];
            for n in (0..parts).rev() {
                self.substitute::<V, ALIKE, DIRECT, W>(part(n), open, &mut below);
                if open && !DIRECT {
                    self.scatter::<V>(part(n));
                }
            }
            if open {
                return;
            }
            let one = V::splat(T::one());
            for w in 0..W {
                let last = Pair::load(self.right.add(((sites - 1) * W + w) * 2 * V::N));
                below[w] = below[w].sub(last, one);
            }
            for n in 0..parts {
                self.close::<V, ALIKE, DIRECT, W>(part(n), &below);
                if !DIRECT {
                    self.scatter::<V>(part(n));
                }
            }
        }
    }

    /// E of some sites.
    #[inline(always)]
    unsafe fn eliminate<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool, const W: usize>(
        self,
        sites: Range<usize>,
        above: &mut [Pair<V>; W],
    ) {
        // SAFETY: the type's contract.
        unsafe {
            let mut last = *above;
            for k in sites {
                if DIRECT {
                    self.ask::<V, W>(k.wrapping_add(AHEAD));
                }
                for w in 0..W {
                    let (p, q) = self.p_and_q::<V, ALIKE, DIRECT>(k, w);
                    last[w] = q.mul_add(last[w], p.mul(self.psi_at::<V, DIRECT>(k, w)));
                    last[w].store(self.right.add((k * W + w) * 2 * V::N));
                }
            }
            *above = last;
        }
    }

    /// Y from E, from the last of some sites to the first, and the new ψ of open lines.
    #[inline(always)]
    unsafe fn substitute<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool, const W: usize>(
        self,
        sites: Range<usize>,
        open: bool,
        below: &mut [Pair<V>; W],
    ) {
        // SAFETY: the type's contract.
        unsafe {
            let one = V::splat(T::one());
            let mut last = *below;
            for k in sites.rev() {
                if DIRECT {
                    self.ask::<V, W>(k.wrapping_sub(AHEAD));
                }
                for w in 0..W {
                    let at = self.right.add((k * W + w) * 2 * V::N);
                    let (_, q) = self.p_and_q::<V, ALIKE, DIRECT>(k, w);
                    last[w] = q.mul_add(last[w], Pair::load(at));
                    if open {
                        let psi = last[w].sub(self.psi_at::<V, DIRECT>(k, w), one);
                        self.set_psi::<V, DIRECT>(k, w, psi);
                    } else {
                        last[w].store(at);
                    }
                }
            }
            *below = last;
        }
    }

    /// The new ψ of some sites of rings, from Y and what it turns by.
    #[inline(always)]
    unsafe fn close<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool, const W: usize>(
        self,
        sites: Range<usize>,
        turn: &[Pair<V>; W],
    ) {
        // SAFETY: the type's contract.
        unsafe {
            let one = V::splat(T::one());
            for k in sites {
                for w in 0..W {
                    let zeta = self.factor::<V, ALIKE, DIRECT>(self.ring(), self.own_ring, k, w);
                    let y = Pair::load(self.right.add((k * W + w) * 2 * V::N)).sub(zeta.mul(turn[w]), one);
                    let psi = y.sub(self.psi_at::<V, DIRECT>(k, w), one);
                    self.set_psi::<V, DIRECT>(k, w, psi);
                }
            }
        }
    }

    fn ring(self) -> &'a [Complex<T>] {
        match self.factors {
            Factors::Alike { ring, .. } | Factors::Each { ring, .. } => ring,
        }
    }

    #[inline(always)]
    unsafe fn p_and_q<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool>(
        self,
        k: usize,
        w: usize,
    ) -> (Pair<V>, Pair<V>) {
        // SAFETY: the type's contract; p and q have a number for every site.
        unsafe {
            match self.factors {
                Factors::Alike { p, q, .. } => (Pair::splat(*p.get_unchecked(k)), Pair::splat(*q.get_unchecked(k))),
                Factors::Each { scale, q, .. } => {
                    let q = self.factor::<V, ALIKE, DIRECT>(q, self.own_q, k, w);
                    (Pair::splat(scale).mul(q), q)
                }
            }
        }
    }

    /// A coefficient of W·N lines: the same for all, from the field's layout, or from the lanes' own.
    #[inline(always)]
    unsafe fn factor<V: Lanes<Element = T>, const ALIKE: bool, const DIRECT: bool>(
        self,
        all: &[Complex<T>],
        own: *const T,
        k: usize,
        w: usize,
    ) -> Pair<V> {
        // SAFETY: the type's contract.
        unsafe {
            if ALIKE {
                Pair::splat(*all.get_unchecked(k))
            } else if DIRECT {
                Pair::load_beside(all.as_ptr().add(self.place.first + k * self.place.along + w * V::N))
            } else {
                Pair::load(own.add(k * 2 * V::N))
            }
        }
    }

    #[inline(always)]
    unsafe fn psi_at<V: Lanes<Element = T>, const DIRECT: bool>(self, k: usize, w: usize) -> Pair<V> {
        // SAFETY: the type's contract.
        unsafe {
            if DIRECT {
                Pair::load_beside(self.field.add(self.place.first + k * self.place.along + w * V::N))
            } else {
                Pair::load(self.psi.add(k * 2 * V::N))
            }
        }
    }

    #[inline(always)]
    unsafe fn set_psi<V: Lanes<Element = T>, const DIRECT: bool>(self, k: usize, w: usize, psi: Pair<V>) {
        // SAFETY: the type's contract.
        unsafe {
            if DIRECT {
                psi.store_beside(self.field.add(self.place.first + k * self.place.along + w * V::N));
            } else {
                psi.store(self.psi.add(k * 2 * V::N));
            }
        }
    }

    /// Asks for a row of the field, which may lie beyond it.
    #[inline(always)]
    fn ask<V: Lanes<Element = T>, const W: usize>(self, k: usize) {
        let row = self.place.first.wrapping_add(k.wrapping_mul(self.place.along));
        for site in (0..W * V::N).step_by(64 / size_of::<Complex<T>>()) {
            prefetch(self.field.wrapping_add(row.wrapping_add(site)));
        }
    }

    /// ψ, and factors that differ from line to line, of some sites into the lanes.
    #[inline(always)]
    unsafe fn gather_all<V: Lanes<Element = T>, const ALIKE: bool>(self, sites: Range<usize>) {
        // SAFETY: the type's contract.
        unsafe {
            self.gather::<V>(self.field, self.psi, sites.clone());
            if let (false, Factors::Each { q, ring, .. }) = (ALIKE, self.factors) {
                self.gather::<V>(q.as_ptr(), self.own_q, sites.clone());
                if !ring.is_empty() {
                    self.gather::<V>(ring.as_ptr(), self.own_ring, sites);
                }
            }
        }
    }

    /// Whether these sites of all lines are a square that lies along x.
    #[inline(always)]
    fn is_square<V: Lanes<Element = T>>(self, sites: &Range<usize>) -> bool {
        self.place.along == 1 && self.place.lines == V::N && sites.len() == V::N
    }

    /// Some sites of all lines from the field's layout into the lanes'.
    #[inline(always)]
    unsafe fn gather<V: Lanes<Element = T>>(self, from: *const Complex<T>, to: *mut T, sites: Range<usize>) {
        let Place {
            first,
            along,
            lines,
            across,
            ..
        } = self.place;
        // SAFETY: the type's contract.
        unsafe {
            if !self.is_square::<V>(&sites) {
                for k in sites {
                    for line in 0..lines {
                        let value = *from.add(first + k * along + line * across);
                        *to.add(k * 2 * V::N + line) = value.re;
                        *to.add(k * 2 * V::N + V::N + line) = value.im;
                    }
                }
                return;
            }
            let mut re = [V::splat(T::zero()); WIDEST];
            let mut im = re;
            for line in 0..V::N {
                let pair = Pair::<V>::load_beside(from.add(first + line * across + sites.start));
                (re[line], im[line]) = (pair.re, pair.im);
            }
            transpose(&mut re);
            transpose(&mut im);
            for k in 0..V::N {
                let (re, im) = (re[k], im[k]);
                Pair { re, im }.store(to.add((sites.start + k) * 2 * V::N));
            }
        }
    }

    /// Some sites of all lines back into the field.
    #[inline(always)]
    unsafe fn scatter<V: Lanes<Element = T>>(self, sites: Range<usize>) {
        let Place {
            first,
            along,
            lines,
            across,
            ..
        } = self.place;
        // SAFETY: the type's contract.
        unsafe {
            if !self.is_square::<V>(&sites) {
                for k in sites {
                    for line in 0..lines {
                        let at = self.psi.add(k * 2 * V::N + line);
                        *self.field.add(first + k * along + line * across) = Complex::new(*at, *at.add(V::N));
                    }
                }
                return;
            }
            let mut re = [V::splat(T::zero()); WIDEST];
            let mut im = re;
            for k in 0..V::N {
                let pair = Pair::<V>::load(self.psi.add((sites.start + k) * 2 * V::N));
                (re[k], im[k]) = (pair.re, pair.im);
            }
            transpose(&mut re);
            transpose(&mut im);
            for line in 0..V::N {
                let (re, im) = (re[line], im[line]);
                Pair { re, im }.store_beside(self.field.add(first + line * across + sites.start));
            }
        }
    }
}
