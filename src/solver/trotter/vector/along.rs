//! Sweeps along x that follow each other, and phases after them, in one pass over a row.
//!
//! Odd bonds join a place of the odd columns with the next one of the even columns. A vector of these is taken together with the first lane of the one behind it, so that the even
//! bonds before and after, and the phases, find all their sites in registers. Each bond is turned by the operations of a sweep of its own: the bits are the same. A vector of sites
//! is read and written once instead of once a sweep, and nothing is read back at other places than it was just written at, which processors wait for.

#![allow(
    unsafe_code,
    reason = "SIMD; kernels must end up in the one function that has the target features"
)]

use super::kernel::{Complexes, Coupling, Sites, Wide};
use super::layout::BLOCK;
use crate::backend::simd::Lanes;
use std::ops::Range;

/// A row, and what is done to it.
pub(super) struct Along<T> {
    /// Its even and odd columns.
    pub columns: [Sites<T>; 2],
    /// The bytes of both, and the flags of their blocks.
    pub open: [*const u8; 2],
    pub dirty: *const bool,
    /// Even bonds before the odd ones.
    pub before: Option<Coupling<T>>,
    /// Odd bonds, none of them across the grid's edge.
    pub odd: Coupling<T>,
    /// Even bonds after them.
    pub after: Option<Coupling<T>>,
    /// Then the factors (c, s) of both columns.
    pub factors: Option<[[*const T; 2]; 2]>,
}

/// Even bonds of a vector of places.
#[derive(Clone, Copy)]
struct Even<L: Lanes> {
    w: Wide<L>,
    open: [*const u8; 2],
    dirty: *const bool,
}

// Contract of what follows: as of `turn_along`.
impl<L: Lanes> Even<L> {
    #[inline(always)]
    #[expect(clippy::manual_map, reason = "a closure may not end up in the kernel")]
    unsafe fn new(row: &Along<L::Element>, coupling: Option<&Coupling<L::Element>>) -> Option<Self> {
        match coupling {
            None => None,
            Some(coupling) => Some(Self {
                // SAFETY: the caller's.
                w: unsafe { Wide::new(coupling) },
                open: row.open,
                dirty: row.dirty,
            }),
        }
    }

    #[inline(always)]
    unsafe fn turn<const MODE: u8>(&self, at: usize, sites: [Complexes<L>; 2]) -> [Complexes<L>; 2] {
        // SAFETY: the caller's.
        unsafe {
            if *self.dirty.add(at / BLOCK) {
                let w = self.w.masked([self.open[0].add(at), self.open[1].add(at)]);
                Complexes::turn::<MODE>(sites, &w)
            } else {
                Complexes::turn::<MODE>(sites, &self.w)
            }
        }
    }
}

/// A vector of both columns, turned by even bonds if there are any.
#[inline(always)]
unsafe fn read<L: Lanes, const MODE: u8>(
    columns: [Sites<L::Element>; 2],
    bonds: Option<&Even<L>>,
    at: usize,
) -> [Complexes<L>; 2] {
    // SAFETY: the caller's.
    unsafe {
        let sites = [Complexes::load(columns[0], at), Complexes::load(columns[1], at)];
        match bonds {
            Some(bonds) => bonds.turn::<MODE>(at, sites),
            None => sites,
        }
    }
}

/// Turns all bonds of a row, `places` from the first on, which the row holds a vector more than.
#[inline(always)]
pub(super) unsafe fn turn_along<L: Lanes, const MODE: u8>(row: &Along<L::Element>, places: Range<usize>) {
    debug_assert!(
        !places.is_empty() && places.len().is_multiple_of(L::N),
        "whole vectors: {places:?}"
    );
    let [even_columns, odd_columns] = row.columns;
    // SAFETY: the caller's: `places` are whole vectors of both columns, of their bytes and of the factors, with a flag a BLOCK of them.
    unsafe {
        let (before, after) = (Even::new(row, row.before.as_ref()), Even::new(row, row.after.as_ref()));
        let between = Wide::<L>::new(&row.odd);
        let [mut even, mut odd] = read::<L, MODE>(row.columns, before.as_ref(), places.start);
        // No odd bond joins the first column.
        even.store(even_columns, places.start);
        let mut upper_before = Complexes::splat(even_columns, places.start);
        let mut at = places.start;
        while at < places.end {
            let next = at + L::N;
            let [next_even, next_odd] = if next < places.end {
                read::<L, MODE>(row.columns, before.as_ref(), next)
            } else {
                [Complexes::load(even_columns, next), odd]
            };
            let w = if *row.dirty.add(at / BLOCK) {
                between.masked([row.open[1].add(at), row.open[0].add(at + 1)])
            } else {
                between
            };
            let [lower, upper] = Complexes::turn::<MODE>([odd, even.next(next_even)], &w);
            let mut sites = [upper.previous(upper_before), lower];
            if let Some(bonds) = &after {
                sites = bonds.turn::<MODE>(at, sites);
            }
            if let Some([even, odd]) = row.factors {
                sites[0] = sites[0].mul(Complexes::load_parts(even, at));
                sites[1] = sites[1].mul(Complexes::load_parts(odd, at));
            }
            sites[0].store(even_columns, at);
            sites[1].store(odd_columns, at);
            upper_before = upper;
            [even, odd] = [next_even, next_odd];
            at = next;
        }
    }
}
