//! Sums over all sites, see [`WholeSums`]: rows are closed to ψ in vectors, and added up with the row above them.
//!
//! Operations of a vector of 2N sites: 8 to close it, 4 for |ψ|², 2 for the potential energy, 2 for its bonds inside, 2 and a shift for those to the next, 4 for those to the row above; 8 for the moments
//! and the peak. Loads: 10 of a row, and 4 of the closed row above.
//!
//! A pass of several steps closes rows in the block. After its last step a block is valid on its core only: rows are then read from memory.

#![allow(unsafe_code, reason = "SIMD, on row buffers")]

use super::super::whole_sums::{ALL, WholeSums};
use super::columns::Complexes;
use super::kernel::join_row;
use super::tile::Worker;
use crate::backend::simd::Lanes;
use crate::field::Real;
use crate::solver::tiling::CHUNK;
use num_traits::Zero;
use std::ops::Range;

/// Numbers of a vector of a closed row: re, im of its even and its odd columns.
const PARTS: usize = 4;
/// The most lanes of a vector.
const MOST: usize = 16;

/// The vectors of a row of φ.
#[derive(Clone, Copy)]
pub(super) enum Source<T> {
    /// In blocks of a row pair, from the first vector on.
    Lanes(*const T),
    /// re and im in the order of columns, from the first vector's first column on.
    Natural([*const T; 2]),
}

/// A row to be added up: ψ from its first vector on, the row above, and what follows along it.
pub(super) struct Closed<'a, T> {
    pub(super) row: usize,
    /// Vectors of the grid's row.
    pub(super) vectors: Range<usize>,
    pub(super) own: *const T,
    /// The row above.
    pub(super) above: Option<*const T>,
    /// Whether ψ of the next vector stands behind these.
    pub(super) goes_on: bool,
    /// ψ of the site that follows the grid's last column round a ring.
    pub(super) round: Option<[T; 2]>,
    pub(super) sums: &'a WholeSums<T>,
}

/// Closes `count` vectors of a row.
///
/// # Safety
/// The machine has the instructions of L; the source has so many vectors, the table 6N numbers each, and `to` room for 4N each.
#[inline(always)]
pub(super) unsafe fn close_row<L: Lanes>(
    source: Source<L::Element>,
    table: &[L::Element],
    count: usize,
    to: *mut L::Element,
) {
    debug_assert!(table.len() >= 6 * L::N * count, "{count} vectors");
    // SAFETY: the caller's.
    unsafe {
        let mut table = table.as_ptr();
        for v in 0..count {
            let (even, odd) = match source {
                Source::Lanes(from) => {
                    let from = from.add(8 * L::N * v);
                    (Complexes::<L>::load(from), Complexes::load(from.add(2 * L::N)))
                }
                Source::Natural([re, im]) => {
                    let (re, im) = (re.add(2 * L::N * v), im.add(2 * L::N * v));
                    let re = L::split(L::load(re), L::load(re.add(L::N)));
                    let im = L::split(L::load(im), L::load(im.add(L::N)));
                    (Complexes { re: re.0, im: im.0 }, Complexes { re: re.1, im: im.1 })
                }
            };
            let to = to.add(PARTS * L::N * v);
            even.turn(factor::<L>(table)).store(to);
            odd.turn(factor::<L>(table.add(L::N))).store(to.add(2 * L::N));
            table = table.add(6 * L::N);
        }
    }
}

/// c and s of a vector of even or odd columns.
#[inline(always)]
unsafe fn factor<L: Lanes>(table: *const L::Element) -> Complexes<L> {
    // SAFETY: the caller's: 6N numbers stand there, or 5N from the odd columns on.
    unsafe {
        Complexes {
            re: L::load(table),
            im: L::load(table.add(2 * L::N)),
        }
    }
}

/// ψ of a row's first column, of which φ is given: by the instructions that close whole vectors, so that its bits are the same.
#[inline(always)]
pub(super) unsafe fn close_first<L: Lanes>(
    sums: &WholeSums<L::Element>,
    row: usize,
    [re, im]: [L::Element; 2],
) -> [L::Element; 2] {
    let [c, s] = sums.first_factor(row);
    // SAFETY: the caller says that the machine has the instructions of L.
    unsafe {
        let phi = Complexes::<L> {
            re: L::splat(re),
            im: L::splat(im),
        };
        let psi = phi.turn(Complexes {
            re: L::splat(c),
            im: L::splat(s),
        });
        [numbers_of(psi.re)[0], numbers_of(psi.im)[0]]
    }
}

/// The lanes, and zeros behind them.
#[inline(always)]
unsafe fn numbers_of<L: Lanes>(lanes: L) -> [L::Element; MOST] {
    debug_assert!(L::N <= MOST, "{} lanes", L::N);
    let mut all = [L::Element::zero(); MOST];
    // SAFETY: N numbers have room; the caller says that the machine has the instructions of L.
    unsafe { lanes.store(all.as_mut_ptr()) };
    all
}

/// Σ of the lanes, in double precision.
#[inline(always)]
unsafe fn sum_of<L: Lanes>(lanes: L) -> f64 {
    // SAFETY: the caller's.
    let all = unsafe { numbers_of(lanes) };
    let mut wide = [0.0; MOST];
    for n in 0..L::N {
        wide[n] = all[n].wide();
    }
    let mut half = L::N / 2;
    while half > 0 {
        for n in 0..half {
            wide[n] += wide[n + half];
        }
        half /= 2;
    }
    wide[0]
}

/// The largest of the lanes, of which none is negative.
#[inline(always)]
unsafe fn largest_of<L: Lanes>(lanes: L) -> f64 {
    // SAFETY: the caller's.
    let mut all = unsafe { numbers_of(lanes) };
    let mut half = L::N / 2;
    while half > 0 {
        for n in 0..half {
            let other = all[n + half];
            all[n] = if other > all[n] { other } else { all[n] };
        }
        half /= 2;
    }
    all[0].wide()
}

/// Re a*b + c.
#[inline(always)]
unsafe fn add_product<L: Lanes>(a: Complexes<L>, b: Complexes<L>, c: L) -> L {
    // SAFETY: registers only; the caller says that the machine has the instructions of L.
    unsafe { a.im.mul_add(b.im, a.re.mul_add(b.re, c)) }
}

/// The sums of a chunk, in lanes; even and odd columns apart.
struct Parts<L> {
    bonds: [L; 2],
    potential: [L; 2],
    norm: [L; 2],
    first: [L; 2],
    second: [L; 2],
    peak: L,
}

impl<L: Lanes> Parts<L> {
    #[inline(always)]
    unsafe fn new() -> Self {
        // SAFETY: registers only; the caller says that the machine has the instructions of L.
        let zero = unsafe { L::splat(L::Element::zero()) };
        Self {
            bonds: [zero; 2],
            potential: [zero; 2],
            norm: [zero; 2],
            first: [zero; 2],
            second: [zero; 2],
            peak: zero,
        }
    }

    /// Adds even (0) or odd columns (1), whose diagonal of H and places in the chunk stand at `energies` and `places`.
    #[inline(always)]
    unsafe fn add_sites(
        &mut self,
        parity: usize,
        psi: Complexes<L>,
        energies: *const L::Element,
        [places, squares]: [*const L::Element; 2],
    ) {
        // SAFETY: the caller's: N numbers stand at each place.
        unsafe {
            let density = psi.im.mul_add(psi.im, psi.re.mul(psi.re));
            self.potential[parity] = L::load(energies).mul_add(density, self.potential[parity]);
            self.norm[parity] = self.norm[parity].add(density);
            self.first[parity] = L::load(places).mul_add(density, self.first[parity]);
            self.second[parity] = L::load(squares).mul_add(density, self.second[parity]);
            self.peak = self.peak.larger(density);
        }
    }
}

impl<T: Real> Closed<'_, T> {
    /// Adds up its chunks after step `step`.
    ///
    /// # Safety
    /// The machine has the instructions of L; closed rows have all vectors, and one more where they go on.
    #[inline(always)]
    pub(super) unsafe fn add<L: Lanes<Element = T>>(&self, step: usize) {
        let in_chunk = CHUNK / (2 * L::N);
        debug_assert!(self.vectors.start.is_multiple_of(in_chunk) && L::N == self.sums.lanes);
        let (table, columns) = (self.sums.table(self.row, self.vectors.start), &self.sums.columns);
        let count = self.vectors.len();
        // SAFETY: vectors below `count` are there, and the next where the rows go on.
        unsafe {
            for first in (0..count).step_by(in_chunk) {
                let mut parts = Parts::<L>::new();
                for v in first..(first + in_chunk).min(count) {
                    let own = self.own.add(PARTS * L::N * v);
                    let even = Complexes::<L>::load(own);
                    let odd = Complexes::<L>::load(own.add(2 * L::N));
                    let next = if v + 1 < count || self.goes_on {
                        Complexes::load(own.add(PARTS * L::N))
                    } else {
                        Complexes::zero()
                    };
                    parts.bonds[0] = add_product(even, odd, parts.bonds[0]);
                    parts.bonds[1] = add_product(odd, even.next(next), parts.bonds[1]);
                    if let Some(above) = self.above {
                        let above = above.add(PARTS * L::N * v);
                        parts.bonds[0] = add_product(even, Complexes::load(above), parts.bonds[0]);
                        parts.bonds[1] = add_product(odd, Complexes::load(above.add(2 * L::N)), parts.bonds[1]);
                    }
                    let energies = table.as_ptr().add(6 * L::N * v + 4 * L::N);
                    let at = 2 * L::N * (v - first);
                    let places = [columns[0].as_ptr().add(at), columns[1].as_ptr().add(at)];
                    parts.add_sites(0, even, energies, places);
                    let places = [places[0].add(L::N), places[1].add(L::N)];
                    parts.add_sites(1, odd, energies.add(L::N), places);
                }
                let is_last = first + in_chunk >= count;
                let round = if is_last { self.bond_round() } else { 0.0 };
                let bonds = sum_of(parts.bonds[0].add(parts.bonds[1])) + round;
                let potential = sum_of(parts.potential[0].add(parts.potential[1]));
                let numbers: [f64; ALL] = [
                    sum_of(parts.norm[0].add(parts.norm[1])),
                    sum_of(parts.first[0].add(parts.first[1])),
                    sum_of(parts.second[0].add(parts.second[1])),
                    largest_of(parts.peak),
                    potential - 2.0 * self.sums.hopping * bonds,
                ];
                let chunk = (self.vectors.start + first) / in_chunk;
                self.sums.put((step, self.row, chunk), &numbers);
            }
        }
    }

    /// Re ψ*ψ' of the bond from the grid's last column, which is in the last of the vectors, round to the first; 0 without one.
    #[inline(always)]
    unsafe fn bond_round(&self) -> f64 {
        let Some([re, im]) = self.round else { return 0.0 };
        let lanes = self.sums.lanes;
        let x = self.sums.nx - 1 - 2 * lanes * self.vectors.start;
        let place = x / (2 * lanes) * PARTS * lanes + x % 2 * 2 * lanes + x / 2 % lanes;
        debug_assert!(x / (2 * lanes) < self.vectors.len(), "column {x}");
        // SAFETY: the vector is one of those that are closed.
        let [last_re, last_im] = unsafe { [*self.own.add(place), *self.own.add(place + lanes)] };
        last_re.wide() * re.wide() + last_im.wide() * im.wide()
    }
}

/// Numbers of a closed row of so many columns, of one vector more, and of what follows it round a ring.
pub(super) fn closed_numbers(columns: usize, lanes: usize) -> usize {
    (columns.div_ceil(2 * lanes) + 2) * PARTS * lanes
}

/// Numbers that a block of 2k columns needs: the row under way and that before it of each step, and re and im of a row in the order of columns.
pub(super) fn scratch(k: usize, lanes: usize, steps: usize) -> usize {
    (steps + 1) * closed_numbers(2 * k, lanes) + 2 * (2 * k + 2 * lanes)
}

// Contract as in `tile`.
impl<L: Lanes> Worker<'_, L> {
    /// Adds up the rows of the core that are complete with the pair that stage `s` has finished, after a step that is not the pass's last.
    #[inline(always)]
    pub(super) unsafe fn add_whole(&self, s: usize, pair: usize) {
        let Some(sums) = self.pass.recorder.and_then(|recorder| recorder.whole()) else {
            return;
        };
        if pair == 0 || !(s + 1).is_multiple_of(self.pass.substeps) || s + 1 == self.pass.stages.len() {
            return;
        }
        let step = s / self.pass.substeps;
        if !sums.is_due(step) {
            return;
        }
        // SAFETY: as for what is called.
        unsafe { self.add_pair(sums, step, pair) };
    }

    #[inline(always)]
    unsafe fn add_pair(&self, sums: &WholeSums<L::Element>, step: usize, pair: usize) {
        let (core, rows) = (&self.block.x.core, &self.block.stream.core);
        let goes_on = core.end < sums.nx;
        let vectors = core.start / (2 * L::N)..core.end.div_ceil(2 * L::N);
        let count = vectors.len() + usize::from(goes_on);
        let numbers = closed_numbers(2 * self.k, L::N);
        // The lower row of a pair is added up as soon as the upper one is closed, and that one when the next pair comes: so one is kept of each step. Blocks begin with a lower row.
        let closed_rows = [self.sums, self.sums.wrapping_add((step + 1) * numbers)];
        for member in 0..2 {
            let (_, at) = self.sites(pair, member, 0);
            let is_own = at >= 0 && rows.contains(&at.cast_unsigned());
            let is_above = at == rows.end.cast_signed() && sums.above(rows.end - 1).is_some();
            if !is_own && !is_above {
                continue;
            }
            let row = self.pass.tiling.stream.wrap(at);
            let (now, before) = (closed_rows[member], closed_rows[1 - member]);
            let mut closed = Closed {
                row,
                vectors: vectors.clone(),
                own: now.cast_const(),
                above: None,
                goes_on,
                round: None,
                sums,
            };
            // SAFETY: `scratch` has made room for these rows; columns of the core and behind it that are closed lie in the block.
            unsafe {
                let source = self.source(core.start, member, numbers);
                close_row::<L>(source, sums.table(row, vectors.start), count, now);
                let [now_round, before_round] = [now, before].map(|row| row.add(numbers - 2));
                if sums.periodic[0] && core.end == sums.nx {
                    let [re, im] = close_first::<L>(sums, row, self.phi_at(member, core.end));
                    (*now_round, *now_round.add(1)) = (re, im);
                    closed.round = Some([re, im]);
                }
                if at > rows.start.cast_signed() {
                    let below = Closed {
                        row: (at - 1).cast_unsigned(),
                        vectors: vectors.clone(),
                        own: before.cast_const(),
                        above: Some(now.cast_const()),
                        round: closed.round.map(|_| [*before_round, *before_round.add(1)]),
                        ..closed
                    };
                    below.add::<L>(step);
                }
                if is_own && sums.above(row).is_none() {
                    closed.add::<L>(step);
                }
            }
        }
    }

    /// A row of the pair under way from column `x` of the grid on, where a vector of the grid's row begins.
    #[inline(always)]
    unsafe fn source(&self, x: usize, member: usize, numbers: usize) -> Source<L::Element> {
        let first = (x.cast_signed() - self.block.x.start(self.halo)).cast_unsigned();
        // SAFETY: rows have k lanes; behind the closed rows `scratch` has made room for 2k + 2N numbers of re, and of im, of which the last 2N stay 0.
        unsafe {
            let from = self.new_row(member, 0);
            if first.is_multiple_of(2 * L::N) {
                return Source::Lanes(from.add(4 * first).cast_const());
            }
            let steps = self.pass.stages.len() / self.pass.substeps;
            let re = self.sums.add((steps + 1) * numbers);
            let im = re.add(2 * self.k + 2 * L::N);
            join_row::<L>(from, re, 0..self.k);
            join_row::<L>(from.add(L::N), im, 0..self.k);
            Source::Natural([re.add(first).cast_const(), im.add(first).cast_const()])
        }
    }

    /// φ in an even column of a row of the pair under way.
    #[inline(always)]
    unsafe fn phi_at(&self, member: usize, x: usize) -> [L::Element; 2] {
        let column = (x.cast_signed() - self.block.x.start(self.halo)).cast_unsigned();
        let lane = column / 2;
        debug_assert!(column.is_multiple_of(2) && lane < self.k, "column {column}");
        // SAFETY: the lane is one of the row's k.
        unsafe {
            let from = self.new_row(member, 0).add(8 * (lane / L::N * L::N) + lane % L::N);
            [*from, *from.add(L::N)]
        }
    }
}
