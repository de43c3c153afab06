//! Row kernels of a block: sweeps in tan form on rows whose even and odd columns stand apart.
//!
//! A row of 2k columns is stored in blocks of 2N columns, N the lanes of a vector: re of the even columns, im of the even, re of the odd, im of the
//! odd. An even x bond then joins numbers of equal index, an odd one index n of the odd columns with n + 1 of the even ones, a shift by
//! one lane. Blocks of the two rows of a pair alternate, so that one running pointer with constant offsets reaches
//! all eight vectors; block n of a row stands 8N numbers after block n − 1.
//!
//! In tan form a pair turns as p' = p + i t q, q' = q + i t p, t = tan(Jτ): two multiply-adds a site instead of two multiplications
//! and two multiply-adds; the cosine that is left out multiplies every site alike and is folded into the phase table. A site without a partner in
//! a sweep takes 1/cos in that very sweep (it does not commute with the next one); walls and sites outside take 0. Rows and
//! vectors without such sites take the branch without multipliers.
//!
//! Operations per site and step (2D, order 2): x and y three sweeps each of 2 multiply-adds, the phase 2 multiplications
//! and 2 multiply-adds: 16 instructions a vector of sites. Loads 6, stores 4 (new pair in and out, carried pair in and out, phases), all
//! but the phases from L1. With two 64-byte FMA pipes a core is bound at 8 cycles for 16 singles: 2 sites a cycle.

#![allow(unsafe_code, reason = "SIMD")]

use super::super::interaction::interact_chunk;
use super::columns::{ANY, Columns, Complexes, ENDS, FLAG, NONE, STREAM, Sweep, Wide, X, couple_masked};
use crate::backend::simd::{Lanes, prefetch};
use crate::field::Real;
use std::ops::Range;

// Contract of all functions below: as in `columns`.

/// Sweeps along x of one row (an angle of 0 leaves one out): with `WHOLE` all three, otherwise the odd one, the second even one, and the
/// phases.
#[inline(always)]
pub(super) unsafe fn x_row<L: Lanes, const MODE: u8, const WHOLE: bool>(
    row: *mut L::Element,
    k: usize,
    bits: *const u8,
    levels: *const u8,
    sweeps: &[Sweep<L::Element>; 3],
    phases: *const L::Element,
) {
    debug_assert!(k.is_multiple_of(FLAG) && FLAG.is_multiple_of(L::N), "{k} lanes");
    // SAFETY: rows and bits are those of `k` lanes, levels of k/FLAG groups. Plain steps end a vector before lanes
    // of another level or at `k`.
    unsafe {
        let mut line = XLine::<L, MODE, WHOLE> {
            row,
            k,
            bits,
            phases,
            w: [Wide::new(&sweeps[0]), Wide::new(&sweeps[1]), Wide::new(&sweeps[2])],
            before: Complexes::zero(),
            here: Columns::zero(),
        };
        line.here = if *levels == ANY {
            line.begin::<ANY>(0)
        } else {
            line.begin::<NONE>(0)
        };
        let mut at = 0;
        while at < k {
            let (end, next) = plain_until::<L>([levels, levels], at, k, NONE);
            while at < end {
                line.step::<NONE>(at);
                at += L::N;
            }
            if at < k {
                if next == ENDS {
                    line.step::<ENDS>(at);
                } else {
                    line.step::<ANY>(at);
                }
                at += L::N;
            }
        }
    }
}

/// A row in the middle of its x sweeps.
struct XLine<L: Lanes, const MODE: u8, const WHOLE: bool> {
    row: *mut L::Element,
    k: usize,
    bits: *const u8,
    phases: *const L::Element,
    w: [Wide<L>; 3],
    before: Complexes<L>,
    here: Columns<L>,
}

impl<L: Lanes, const MODE: u8, const WHOLE: bool> XLine<L, MODE, WHOLE> {
    /// Lanes after the first even sweep, if there is one.
    #[inline(always)]
    unsafe fn begin<const LEVEL: u8>(&self, at: usize) -> Columns<L> {
        // SAFETY: `at` is below `k`, or `k` itself at level NONE: past a row stands another row or what
        // `Worker::new` laid out behind it.
        unsafe {
            let lanes = Columns::<L>::load(self.row, at);
            if !WHOLE {
                return lanes;
            }
            lanes
                .x_even::<MODE>(&self.w[0])
                .mask(LEVEL == ANY, self.bits, self.k, at, X[0], &self.w[0])
        }
    }

    /// Finishes the lanes at `at`; those after them take the first sweep. Past the row's end there is something to read, and what it
    /// gives at level [`NONE`] stays within the halo.
    #[inline(always)]
    unsafe fn step<const LEVEL: u8>(&mut self, at: usize) {
        // SAFETY: `at` is below `k`; the lanes after it are those of `begin`.
        unsafe {
            let (k, bits, w) = (self.k, self.bits, &self.w);
            let ahead = at + L::N;
            let next = if LEVEL == NONE || ahead < k {
                self.begin::<LEVEL>(ahead)
            } else {
                Columns::zero()
            };
            let done = (self.here.x_odd::<MODE>(self.before, next.even, &w[1]))
                .mask(LEVEL >= ENDS, bits, k, at, X[1], &w[1])
                .x_even::<MODE>(&w[2])
                .mask(LEVEL == ANY, bits, k, at, X[0], &w[2]);
            let done = if WHOLE {
                done
            } else {
                done.turn(Columns::load(self.phases, at))
            };
            done.store(self.row, at);
            self.before = self.here.odd;
            self.here = next;
        }
    }
}

/// The end of the stretch of lanes from `at` on that two lists of levels, neither above `most`, leave to plain steps, and the level of the step after it. A
/// step begins the lanes after its own: the one before lanes of level [`ANY`] is of that level too.
#[inline(always)]
unsafe fn plain_until<L: Lanes>(levels: [*const u8; 2], at: usize, k: usize, most: u8) -> (usize, u8) {
    // SAFETY: groups are counted up to k/FLAG, of which both lists have as many.
    unsafe {
        let mut flag = at / FLAG;
        let mut level = NONE;
        while flag < k / FLAG {
            level = (*levels[0].add(flag)).max(*levels[1].add(flag));
            if level > most {
                break;
            }
            flag += 1;
        }
        if flag == k / FLAG {
            return (k, NONE);
        }
        // Several vectors may share a level.
        let lanes = (flag * FLAG).max(at);
        if level == ENDS {
            // The lanes after these may need all multipliers.
            let after = (at.max(lanes) + L::N) / FLAG;
            let next = if after < k / FLAG {
                (*levels[0].add(after)).max(*levels[1].add(after))
            } else {
                NONE
            };
            return (lanes, level.max(next));
        }
        (lanes.saturating_sub(L::N), level)
    }
}

/// One sweep between two rows.
#[inline(always)]
pub(super) unsafe fn between_rows<L: Lanes, const MODE: u8>(
    p: *mut L::Element,
    q: *mut L::Element,
    k: usize,
    bits: [*const u8; 2],
    levels: [*const u8; 2],
    partner: u8,
    sweep: &Sweep<L::Element>,
) {
    debug_assert!(k.is_multiple_of(L::N), "{k} lanes");
    // SAFETY: the contract of `columns`: rows, bits and levels are those of `k` lanes, and `at` stays below `k` in
    // steps of N.
    unsafe {
        let w = Wide::<L>::new(sweep);
        for at in (0..k).step_by(L::N) {
            let flag = at / FLAG;
            let any = *levels[0].add(flag) == ANY || *levels[1].add(flag) == ANY;
            let (new_p, new_q) = Columns::<L>::load(p, at).couple::<MODE>(Columns::load(q, at), &w);
            let new_p = new_p.mask(any, bits[0], k, at, partner, &w);
            let new_q = new_q.mask(any, bits[1], k, at, partner, &w);
            new_p.store(p, at);
            new_q.store(q, at);
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
    debug_assert!(k.is_multiple_of(L::N), "{k} lanes");
    // SAFETY: the contract of `columns`: rows, bits and levels are those of `k` lanes, and `at` stays below `k` in
    // steps of N.
    unsafe {
        let w = Wide::<L>::new(sweep);
        for at in (0..k).step_by(L::N) {
            Columns::<L>::load(row, at)
                .mask(true, bits, k, at, partner, &w)
                .store(row, at);
        }
    }
}

/// Phases of one row.
#[inline(always)]
pub(super) unsafe fn phase_row<L: Lanes>(row: *mut L::Element, phases: *const L::Element, k: usize) {
    // SAFETY: the contract of `columns`: rows, bits and levels are those of `k` lanes, and `at` stays below `k` in
    // steps of N.
    unsafe {
        for at in (0..k).step_by(L::N) {
            Columns::<L>::load(row, at)
                .turn(Columns::load(phases, at))
                .store(row, at);
        }
    }
}

/// Rows that a stage prefetches.
pub(super) const AHEAD: usize = 2;

/// The data of a stage for one row pair. The upper row of a pair stands 4N numbers after the lower.
pub(super) struct PairRows<T> {
    /// Rows C and D of the new pair; they leave holding rows A and B of the pair before, done.
    pub new: *mut T,
    /// Rows A and B, which wait for the odd sweep; they leave holding C and D.
    pub carried: *mut T,
    /// Bits of A, B, C, D.
    pub bits: [*const u8; 4],
    /// Levels of A and B, and of C and D (the higher of both rows).
    pub levels: [*const u8; 2],
    /// Phases of A and B.
    pub phases: *const T,
    /// Rows of memory that are needed next: prefetched while this stage computes.
    pub ahead: [*const T; AHEAD],
}

/// What [`stream_rows`] does beside the sweeps along the stream: nothing.
pub(super) const STREAM_ONLY: u8 = 0;
/// The first half of a nested step: an even and an odd sweep along x before them.
pub(super) const OUTER: u8 = 1;
/// A whole step: three sweeps along x before them, phases after them.
pub(super) const WHOLE: u8 = 2;

/// Sweeps along the stream, and what `KIND` says.
#[inline(always)]
pub(super) unsafe fn stream_rows<L: Lanes, const MODE: u8, const KIND: u8>(
    rows: &PairRows<L::Element>,
    k: usize,
    x: &[Sweep<L::Element>; 3],
    stream: &[Sweep<L::Element>; 3],
) {
    debug_assert!(k.is_multiple_of(FLAG) && FLAG.is_multiple_of(L::N), "{k} lanes");
    // SAFETY: the contract of `columns`: rows, bits and levels are those of `k` lanes, and `at` stays below `k` in
    // steps of N.
    unsafe {
        let w = [Wide::new(&stream[0]), Wide::new(&stream[1]), Wide::new(&stream[2])];
        let mut line = PairLine::<L, MODE, KIND> {
            rows,
            k,
            // A whole step has the same angles along both axes: fewer registers.
            x: if KIND == WHOLE {
                w
            } else {
                [Wide::new(&x[0]), Wide::new(&x[1]), Wide::new(&x[2])]
            },
            w,
            before: [Complexes::zero(); 2],
            here: [Columns::zero(); 2],
        };
        line.here = if *rows.levels[1] == ANY {
            line.begin::<ANY>(0)
        } else {
            line.begin::<NONE>(0)
        };
        // Without sweeps along x the ends of a block are like any other sites.
        let most = if KIND == STREAM_ONLY { ENDS } else { NONE };
        let mut at = 0;
        while at < k {
            let (end, next) = plain_until::<L>(rows.levels, at, k, most);
            while at < end {
                line.step::<NONE>(at);
                at += L::N;
            }
            if at < k {
                if next == ENDS {
                    line.step::<ENDS>(at);
                } else {
                    line.step::<ANY>(at);
                }
                at += L::N;
            }
        }
    }
}

/// A pair in the middle of its sweeps.
struct PairLine<'a, L: Lanes, const MODE: u8, const KIND: u8> {
    rows: &'a PairRows<L::Element>,
    k: usize,
    x: [Wide<L>; 3],
    w: [Wide<L>; 3],
    before: [Complexes<L>; 2],
    here: [Columns<L>; 2],
}

impl<L: Lanes, const MODE: u8, const KIND: u8> PairLine<'_, L, MODE, KIND> {
    /// Lanes of C and D, after the first even x sweep if there is one.
    #[inline(always)]
    unsafe fn begin<const LEVEL: u8>(&self, at: usize) -> [Columns<L>; 2] {
        // SAFETY: `at` is below `k`, or `k` itself at level NONE: past a row stands another row or what
        // `Worker::new` laid out behind it.
        unsafe {
            let row = |member: usize| self.rows.new.cast_const().add(member * 4 * L::N);
            let [c, d] = [Columns::<L>::load(row(0), at), Columns::<L>::load(row(1), at)];
            if KIND == STREAM_ONLY {
                return [c, d];
            }
            let w = &self.x[0];
            [
                c.x_even::<MODE>(w)
                    .mask(LEVEL == ANY, self.rows.bits[2], self.k, at, X[0], w),
                d.x_even::<MODE>(w)
                    .mask(LEVEL == ANY, self.rows.bits[3], self.k, at, X[0], w),
            ]
        }
    }

    /// Finishes the lanes at `at`.
    #[inline(always)]
    unsafe fn step<const LEVEL: u8>(&mut self, at: usize) {
        // SAFETY: `at` is below `k`; the lanes after it are those of `begin`.
        unsafe {
            let (k, bits, x) = (self.k, &self.rows.bits, &self.x);
            for row in self.rows.ahead {
                // A vector of lanes has two vectors of columns.
                prefetch(row.wrapping_add(2 * at));
                prefetch(row.wrapping_add(2 * at + L::N));
            }
            let ahead = at + L::N;
            let next = if LEVEL == NONE || ahead < k {
                self.begin::<LEVEL>(ahead)
            } else {
                [Columns::zero(); 2]
            };
            let [mut c, mut d] = self.here;
            if KIND != STREAM_ONLY {
                c = (c.x_odd::<MODE>(self.before[0], next[0].even, &x[1])).mask(
                    LEVEL >= ENDS,
                    bits[2],
                    k,
                    at,
                    X[1],
                    &x[1],
                );
                d = (d.x_odd::<MODE>(self.before[1], next[1].even, &x[1])).mask(
                    LEVEL >= ENDS,
                    bits[3],
                    k,
                    at,
                    X[1],
                    &x[1],
                );
            }
            if KIND == WHOLE {
                c = c.x_even::<MODE>(&x[2]).mask(LEVEL == ANY, bits[2], k, at, X[0], &x[2]);
                d = d.x_even::<MODE>(&x[2]).mask(LEVEL == ANY, bits[3], k, at, X[0], &x[2]);
            }
            self.half::<LEVEL>(at, 0, c.even, d.even);
            self.half::<LEVEL>(at, 1, c.odd, d.odd);
            self.before = [self.here[0].odd, self.here[1].odd];
            self.here = next;
        }
    }

    /// The stream's sweeps at the even or odd columns of a block.
    #[inline(always)]
    unsafe fn half<const LEVEL: u8>(&self, at: usize, odd: usize, c: Complexes<L>, d: Complexes<L>) {
        // SAFETY: `at` is below `k`, and the upper row of a pair stands 4N numbers after the lower in every block.
        unsafe {
            let w = &self.w;
            let place = 8 * at + odd * 2 * L::N;
            let carried = self.rows.carried.add(place);
            let upper = 4 * L::N;
            let (a, b) = (Complexes::<L>::load(carried), Complexes::<L>::load(carried.add(upper)));
            let mut bits = self.rows.bits;
            for bits in &mut bits {
                *bits = bits.add(odd * self.k + at);
            }
            let (c, d) = couple_masked::<L, MODE>(c, d, &w[0], LEVEL == ANY, [bits[2], bits[3]], STREAM[0]);
            let (b, c) = couple_masked::<L, MODE>(b, c, &w[1], LEVEL == ANY, [bits[1], bits[2]], STREAM[1]);
            let (mut a, mut b) = couple_masked::<L, MODE>(a, b, &w[2], LEVEL == ANY, [bits[0], bits[1]], STREAM[0]);
            c.store(carried);
            d.store(carried.add(upper));
            if KIND == WHOLE {
                let phases = self.rows.phases.add(place);
                a = a.turn(Complexes::load(phases));
                b = b.turn(Complexes::load(phases.add(upper)));
            }
            let new = self.rows.new.add(place);
            a.store(new);
            b.store(new.add(upper));
        }
    }
}

/// The interaction's phase on a row in blocks, which `phases` have multiplied.
#[inline(always)]
pub(super) unsafe fn interact_row<L: Lanes>(
    row: *mut L::Element,
    phases: *const L::Element,
    k: usize,
    g: [L::Element; 2],
) {
    debug_assert!(k.is_multiple_of(L::N), "{k} lanes");
    const { assert!(matches!(L::N, 2 | 4 | 8 | 16), "vectors of 2 to 16 numbers") };
    for at in (0..k).step_by(L::N) {
        for half in 0..2 {
            let place = 8 * at + half * 2 * L::N;
            // SAFETY: each vector of a block of the row has N numbers of its own, and nothing else refers to them; phases lie alike.
            unsafe {
                let (re, factors) = (row.add(place), phases.add(place));
                match L::N {
                    16 => interact_vectors::<L::Element, 16>(re, factors, g),
                    8 => interact_vectors::<L::Element, 8>(re, factors, g),
                    4 => interact_vectors::<L::Element, 4>(re, factors, g),
                    _ => interact_vectors::<L::Element, 2>(re, factors, g),
                }
            }
        }
    }
}

/// The same of N real parts and as many imaginary ones behind them.
#[inline(always)]
unsafe fn interact_vectors<T: Real, const N: usize>(re: *mut T, factors: *const T, g: [T; 2]) {
    // SAFETY: the caller's: 2 N numbers stand at both, and nothing else refers to those of `re`.
    unsafe {
        let (real, imaginary) = (&mut *re.cast::<[T; N]>(), &mut *re.add(N).cast::<[T; N]>());
        let factors = [&*factors.cast::<[T; N]>(), &*factors.add(N).cast::<[T; N]>()];
        interact_chunk(real, imaginary, factors, None, g);
    }
}

/// Lanes of one plane from natural order into a row's blocks: `from` stands at the first of their columns, `to` at the row's first number
/// of that plane.
#[inline(always)]
pub(super) unsafe fn split_row<L: Lanes>(from: *const L::Element, to: *mut L::Element, lanes: Range<usize>) {
    debug_assert!(
        lanes.is_empty() || (lanes.end - lanes.start).is_multiple_of(L::N),
        "{lanes:?}"
    );
    // SAFETY: the caller's: 2 numbers a lane are read from `from`, and blocks of `lanes` written to `to`.
    unsafe {
        let first = lanes.start;
        for at in lanes.step_by(L::N) {
            let from = from.add(2 * (at - first));
            let (even, odd) = L::split(L::load(from), L::load(from.add(L::N)));
            even.store(to.add(8 * at));
            odd.store(to.add(8 * at + 2 * L::N));
        }
    }
}

/// The inverse of [`split_row`].
#[inline(always)]
pub(super) unsafe fn join_row<L: Lanes>(from: *const L::Element, to: *mut L::Element, lanes: Range<usize>) {
    debug_assert!(
        lanes.is_empty() || (lanes.end - lanes.start).is_multiple_of(L::N),
        "{lanes:?}"
    );
    // SAFETY: the caller's: blocks of `lanes` are read from `from`, and 2 numbers a lane written to `to`.
    unsafe {
        let first = lanes.start;
        for at in lanes.step_by(L::N) {
            let (a, b) = L::join(L::load(from.add(8 * at)), L::load(from.add(8 * at + 2 * L::N)));
            let to = to.add(2 * (at - first));
            a.store(to);
            b.store(to.add(L::N));
        }
    }
}
