//! Row kernels of a block: sweeps in tan form on rows whose even and odd columns stand apart.
//!
//! A row of 2k columns is four arrays of k numbers: re of even columns, re of odd columns, im of even, im of odd. An even x bond
//! then joins numbers of equal index, an odd one index n of the odd columns with n + 1 of the even ones, a shift by one lane.
//!
//! In tan form a pair turns as p' = p + i t q, q' = q + i t p, t = tan(Jτ): two multiply-adds a site instead of two multiplications
//! and two multiply-adds; the cosine that is left out multiplies every site alike and is folded into the phase table. A site without a partner in
//! a sweep takes 1/cos in that very sweep (it does not commute with the next one); walls and sites outside take 0. Rows and
//! vectors without such sites take the branch without multipliers.
//!
//! Operations per site and step (2D, order 2): x and y three sweeps each of 2 multiply-adds, the phase 2 multiplications
//! and 2 multiply-adds: 16 instructions a vector of sites. Loads 6, stores 4 (new pair in and out, carried pair in and out, phases), all
//! but the phases from L1. With two 64-byte FMA pipes a core is bound at 8 cycles for 16 singles: 2 sites a cycle.

#![allow(
    unsafe_code,
    clippy::inline_always,
    reason = "SIMD; kernels must end up in the one function that has the target features"
)]

use super::super::scheme::alone;
use crate::backend::simd::Lanes;
use crate::field::Real;
use num_traits::Zero;
use std::ops::Range;

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
/// Lanes that one dirty flag stands for.
pub(super) const FLAG: usize = 16;

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
struct Wide<L> {
    re: L,
    im: L,
    alone: L,
}

impl<L: Lanes> Wide<L> {
    #[inline(always)]
    unsafe fn new(sweep: &Sweep<L::Element>) -> Self {
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
struct Complexes<L> {
    re: L,
    im: L,
}

// SAFETY of all functions below: pointers are good for the rows they name (`k` lanes times four; bits two times `k`), `k` is a multiple
// of FLAG and so of L::N, rows of one call do not overlap unless the same, and the machine has L's instruction set.
impl<L: Lanes> Complexes<L> {
    #[inline(always)]
    unsafe fn zero() -> Self {
        unsafe {
            let zero = L::splat(L::Element::zero());
            Self { re: zero, im: zero }
        }
    }

    #[inline(always)]
    unsafe fn load(row: *const L::Element, k: usize, at: usize) -> Self {
        unsafe {
            Self {
                re: L::load(row.add(at)),
                im: L::load(row.add(2 * k + at)),
            }
        }
    }

    #[inline(always)]
    unsafe fn store(self, row: *mut L::Element, k: usize, at: usize) {
        unsafe {
            self.re.store(row.add(at));
            self.im.store(row.add(2 * k + at));
        }
    }

    #[inline(always)]
    unsafe fn next(self, after: Self) -> Self {
        unsafe {
            Self {
                re: self.re.next(after.re),
                im: self.im.next(after.im),
            }
        }
    }

    #[inline(always)]
    unsafe fn previous(self, before: Self) -> Self {
        unsafe {
            Self {
                re: self.re.previous(before.re),
                im: self.im.previous(before.im),
            }
        }
    }

    /// self + i w q (imaginary time: + w q), for the lower site of a bond.
    #[inline(always)]
    unsafe fn lower<const MODE: u8>(self, q: Self, w: &Wide<L>) -> Self {
        unsafe {
            let (mut re, mut im) = if MODE & IMAGINARY == 0 {
                (w.re.minus_times(q.im, self.re), w.re.times_plus(q.re, self.im))
            } else {
                (w.re.times_plus(q.re, self.re), w.re.times_plus(q.im, self.im))
            };
            if MODE & FLUX != 0 {
                if MODE & IMAGINARY == 0 {
                    re = w.im.minus_times(q.re, re);
                    im = w.im.minus_times(q.im, im);
                } else {
                    re = w.im.minus_times(q.im, re);
                    im = w.im.times_plus(q.re, im);
                }
            }
            Self { re, im }
        }
    }

    /// self + i w* p (imaginary time: + w* p), for the upper site of a bond.
    #[inline(always)]
    unsafe fn upper<const MODE: u8>(self, p: Self, w: &Wide<L>) -> Self {
        unsafe {
            let (mut re, mut im) = if MODE & IMAGINARY == 0 {
                (w.re.minus_times(p.im, self.re), w.re.times_plus(p.re, self.im))
            } else {
                (w.re.times_plus(p.re, self.re), w.re.times_plus(p.im, self.im))
            };
            if MODE & FLUX != 0 {
                if MODE & IMAGINARY == 0 {
                    re = w.im.times_plus(p.re, re);
                    im = w.im.times_plus(p.im, im);
                } else {
                    re = w.im.times_plus(p.im, re);
                    im = w.im.minus_times(p.re, im);
                }
            }
            Self { re, im }
        }
    }

    /// Times the multiplier of each site.
    #[inline(always)]
    unsafe fn mask(self, bits: *const u8, partner: u8, w: &Wide<L>) -> Self {
        unsafe {
            let m = L::multiplier(bits, INSIDE, partner, w.alone);
            Self {
                re: self.re.times(m),
                im: self.im.times(m),
            }
        }
    }

    /// Times (c, s).
    #[inline(always)]
    unsafe fn turn(self, phase: Self) -> Self {
        unsafe {
            Self {
                re: self.im.minus_times(phase.im, self.re.times(phase.re)),
                im: self.im.times_plus(phase.re, self.re.times(phase.im)),
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
    unsafe { (p.lower::<MODE>(q, w), q.upper::<MODE>(p, w)) }
}

/// A pair turned by a sweep, its members multiplied by what `bits` say where the block is dirty.
#[inline(always)]
unsafe fn couple_masked<L: Lanes, const MODE: u8>(
    p: Complexes<L>,
    q: Complexes<L>,
    w: &Wide<L>,
    dirty: bool,
    bits: [*const u8; 2],
    partner: u8,
) -> (Complexes<L>, Complexes<L>) {
    unsafe {
        let (p, q) = couple::<L, MODE>(p, q, w);
        if dirty {
            (p.mask(bits[0], partner, w), q.mask(bits[1], partner, w))
        } else {
            (p, q)
        }
    }
}

/// Even and odd columns of a vector.
#[derive(Clone, Copy)]
struct Columns<L> {
    even: Complexes<L>,
    odd: Complexes<L>,
}

/// Loads columns and takes the first even sweep.
#[inline(always)]
unsafe fn x_begin<L: Lanes, const MODE: u8>(
    row: *const L::Element,
    k: usize,
    at: usize,
    w: &Wide<L>,
    dirty: bool,
    bits: *const u8,
) -> Columns<L> {
    unsafe {
        let (even, odd) = couple_masked::<L, MODE>(
            Complexes::load(row, k, at),
            Complexes::load(row, k, k + at),
            w,
            dirty,
            [bits.add(at), bits.add(k + at)],
            X[0],
        );
        Columns { even, odd }
    }
}

/// The odd sweep and the second even one, given the odd columns before and the even columns after.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "everything is a register")]
unsafe fn x_end<L: Lanes, const MODE: u8>(
    here: Columns<L>,
    before: Complexes<L>,
    after: Complexes<L>,
    odd_sweep: &Wide<L>,
    even_sweep: &Wide<L>,
    dirty: bool,
    bits: *const u8,
    k: usize,
    at: usize,
) -> Columns<L> {
    unsafe {
        let bits = [bits.add(at), bits.add(k + at)];
        let mut odd = here.odd.lower::<MODE>(here.even.next(after), odd_sweep);
        let mut even = here.even.upper::<MODE>(here.odd.previous(before), odd_sweep);
        if dirty {
            even = even.mask(bits[0], X[1], odd_sweep);
            odd = odd.mask(bits[1], X[1], odd_sweep);
        }
        let (even, odd) = couple_masked::<L, MODE>(even, odd, even_sweep, dirty, bits, X[0]);
        Columns { even, odd }
    }
}

/// The three x sweeps of one row (an angle of 0 leaves one out).
#[inline(always)]
pub(super) unsafe fn x_row<L: Lanes, const MODE: u8>(
    row: *mut L::Element,
    k: usize,
    bits: *const u8,
    dirty: *const bool,
    sweeps: &[Sweep<L::Element>; 3],
) {
    unsafe {
        let w = [Wide::new(&sweeps[0]), Wide::new(&sweeps[1]), Wide::new(&sweeps[2])];
        let mut here = x_begin::<L, MODE>(row, k, 0, &w[0], *dirty, bits);
        let mut before = Complexes::<L>::zero();
        let mut at = 0;
        while at < k {
            let is_dirty = *dirty.add(at / FLAG);
            let ahead = at + L::N;
            let next = if ahead < k {
                x_begin::<L, MODE>(row, k, ahead, &w[0], *dirty.add(ahead / FLAG), bits)
            } else {
                Columns {
                    even: Complexes::zero(),
                    odd: Complexes::zero(),
                }
            };
            let done = x_end::<L, MODE>(here, before, next.even, &w[1], &w[2], is_dirty, bits, k, at);
            done.even.store(row, k, at);
            done.odd.store(row, k, k + at);
            before = here.odd;
            here = next;
            at = ahead;
        }
    }
}

/// One sweep between two rows.
#[inline(always)]
pub(super) unsafe fn between_rows<L: Lanes, const MODE: u8>(
    p: *mut L::Element,
    q: *mut L::Element,
    k: usize,
    bits: [*const u8; 2],
    dirty: [*const bool; 2],
    partner: u8,
    sweep: &Sweep<L::Element>,
) {
    unsafe {
        let w = Wide::<L>::new(sweep);
        for at in (0..2 * k).step_by(L::N) {
            let flag = at % k / FLAG;
            let is_dirty = *dirty[0].add(flag) || *dirty[1].add(flag);
            let (new_p, new_q) = couple_masked::<L, MODE>(
                Complexes::load(p, k, at),
                Complexes::load(q, k, at),
                &w,
                is_dirty,
                [bits[0].add(at), bits[1].add(at)],
                partner,
            );
            new_p.store(p, k, at);
            new_q.store(q, k, at);
        }
    }
}

/// A sweep that leaves a row without partner: every site takes its multiplier.
#[inline(always)]
pub(super) unsafe fn alone_row<L: Lanes>(
    row: *mut L::Element,
    k: usize,
    bits: *const u8,
    partner: u8,
    sweep: &Sweep<L::Element>,
) {
    unsafe {
        let w = Wide::<L>::new(sweep);
        for at in (0..2 * k).step_by(L::N) {
            Complexes::load(row, k, at)
                .mask(bits.add(at), partner, &w)
                .store(row, k, at);
        }
    }
}

/// Phases of one row.
#[inline(always)]
pub(super) unsafe fn phase_row<L: Lanes>(row: *mut L::Element, phases: *const L::Element, k: usize) {
    unsafe {
        for at in (0..2 * k).step_by(L::N) {
            Complexes::<L>::load(row, k, at)
                .turn(Complexes::load(phases, k, at))
                .store(row, k, at);
        }
    }
}

/// What a stage does with one row pair.
pub(super) struct PairRows<T> {
    /// Rows C and D of the new pair; they leave holding rows A and B of the pair before, done.
    pub new: [*mut T; 2],
    /// Rows A and B, which wait for the odd sweep; they leave holding C and D.
    pub carried: [*mut T; 2],
    /// Bits of A, B, C, D.
    pub bits: [*const u8; 4],
    /// Dirty flags of A and B, and of C and D (either row).
    pub dirty: [*const bool; 2],
    /// Phases of A and B.
    pub phases: [*const T; 2],
}

/// Sweeps along the stream, and unless `NESTED` the x sweeps before and the phases after them.
#[inline(always)]
pub(super) unsafe fn stream_rows<L: Lanes, const MODE: u8, const NESTED: bool>(
    rows: &PairRows<L::Element>,
    k: usize,
    x: &[Sweep<L::Element>; 3],
    stream: &[Sweep<L::Element>; 3],
) {
    unsafe {
        let wx = [Wide::new(&x[0]), Wide::new(&x[1]), Wide::new(&x[2])];
        let ws = [Wide::new(&stream[0]), Wide::new(&stream[1]), Wide::new(&stream[2])];
        let zero = Complexes::<L>::zero();
        let mut c_here = stream_begin::<L, MODE, NESTED>(rows, 0, k, 0, &wx[0]);
        let mut d_here = stream_begin::<L, MODE, NESTED>(rows, 1, k, 0, &wx[0]);
        let (mut c_before, mut d_before) = (zero, zero);
        let mut at = 0;
        while at < k {
            let dirty = *rows.dirty[0].add(at / FLAG) || *rows.dirty[1].add(at / FLAG);
            let ahead = at + L::N;
            let nothing = Columns { even: zero, odd: zero };
            let (c_next, d_next) = if ahead < k {
                (
                    stream_begin::<L, MODE, NESTED>(rows, 0, k, ahead, &wx[0]),
                    stream_begin::<L, MODE, NESTED>(rows, 1, k, ahead, &wx[0]),
                )
            } else {
                (nothing, nothing)
            };
            let (c, d) = if NESTED {
                (c_here, d_here)
            } else {
                (
                    x_end::<L, MODE>(
                        c_here,
                        c_before,
                        c_next.even,
                        &wx[1],
                        &wx[2],
                        dirty,
                        rows.bits[2],
                        k,
                        at,
                    ),
                    x_end::<L, MODE>(
                        d_here,
                        d_before,
                        d_next.even,
                        &wx[1],
                        &wx[2],
                        dirty,
                        rows.bits[3],
                        k,
                        at,
                    ),
                )
            };
            stream_half::<L, MODE, NESTED>(rows, k, at, c.even, d.even, &ws, dirty);
            stream_half::<L, MODE, NESTED>(rows, k, k + at, c.odd, d.odd, &ws, dirty);
            (c_before, d_before) = (c_here.odd, d_here.odd);
            (c_here, d_here) = (c_next, d_next);
            at = ahead;
        }
    }
}

/// Loads columns of C or D; the first even x sweep unless `NESTED`.
#[inline(always)]
unsafe fn stream_begin<L: Lanes, const MODE: u8, const NESTED: bool>(
    rows: &PairRows<L::Element>,
    member: usize,
    k: usize,
    at: usize,
    w: &Wide<L>,
) -> Columns<L> {
    unsafe {
        let row = rows.new[member];
        if NESTED {
            Columns {
                even: Complexes::load(row, k, at),
                odd: Complexes::load(row, k, k + at),
            }
        } else {
            let dirty = *rows.dirty[1].add(at / FLAG);
            x_begin::<L, MODE>(row, k, at, w, dirty, rows.bits[2 + member])
        }
    }
}

/// The stream's sweeps at one vector of even or odd columns.
#[inline(always)]
unsafe fn stream_half<L: Lanes, const MODE: u8, const NESTED: bool>(
    rows: &PairRows<L::Element>,
    k: usize,
    at: usize,
    c: Complexes<L>,
    d: Complexes<L>,
    w: &[Wide<L>; 3],
    dirty: bool,
) {
    unsafe {
        let bits = rows.bits.map(|bits| bits.add(at));
        let [a_row, b_row] = rows.carried;
        let a = Complexes::load(a_row, k, at);
        let b = Complexes::load(b_row, k, at);
        let (c, d) = couple_masked::<L, MODE>(c, d, &w[0], dirty, [bits[2], bits[3]], STREAM[0]);
        let (b, c) = couple_masked::<L, MODE>(b, c, &w[1], dirty, [bits[1], bits[2]], STREAM[1]);
        let (mut a, mut b) = couple_masked::<L, MODE>(a, b, &w[2], dirty, [bits[0], bits[1]], STREAM[0]);
        c.store(a_row, k, at);
        d.store(b_row, k, at);
        if !NESTED {
            a = a.turn(Complexes::load(rows.phases[0], k, at));
            b = b.turn(Complexes::load(rows.phases[1], k, at));
        }
        a.store(rows.new[0], k, at);
        b.store(rows.new[1], k, at);
    }
}

/// The interaction's phase e^{−i g n} (imaginary time: e^{−g n}), n = |φ|², on a row.
#[inline(always)]
pub(super) fn interact<T: Real>(row: &mut [T], g: T, imaginary: bool) {
    let (re, im) = row.split_at_mut(row.len() / 2);
    for (re, im) in re.iter_mut().zip(im) {
        let exponent = g * (*re * *re + *im * *im);
        if imaginary {
            let factor = (-exponent).exp();
            (*re, *im) = (*re * factor, *im * factor);
        } else {
            let (sin, cos) = exponent.sin_cos();
            (*re, *im) = (*re * cos + *im * sin, *im * cos - *re * sin);
        }
    }
}

/// Natural order to columns apart: `from` 2k numbers, `to` k even ones, then k odd ones.
#[inline(always)]
pub(super) unsafe fn split_row<L: Lanes>(from: *const L::Element, to: *mut L::Element, k: usize) {
    unsafe {
        for at in (0..k).step_by(L::N) {
            let (even, odd) = L::split(L::load(from.add(2 * at)), L::load(from.add(2 * at + L::N)));
            even.store(to.add(at));
            odd.store(to.add(k + at));
        }
    }
}

/// The inverse of [`split_row`] for some lanes.
#[inline(always)]
pub(super) unsafe fn join_row<L: Lanes>(from: *const L::Element, to: *mut L::Element, k: usize, lanes: Range<usize>) {
    unsafe {
        for at in lanes.step_by(L::N) {
            let (a, b) = L::join(L::load(from.add(at)), L::load(from.add(k + at)));
            a.store(to.add(2 * at));
            b.store(to.add(2 * at + L::N));
        }
    }
}
