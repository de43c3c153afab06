//! What happens at single sites in every step: sources and transducers act, detectors and transducers look.
//!
//! Both are known by row before steps begin, so that whoever steps a row - a sweep over the grid or a tower that is many steps ahead of its
//! neighbours - does what belongs to that row and that step, and nothing else.

use super::lattice::{Ghost, Lattice};
use super::share::Shared;
use crate::field::Real;
use crate::physics::Measure;
use crate::solver::Taps;
use crate::solver::acoustic::emit::Emitters;
use crate::solver::transducers::Act;
use num_complex::Complex64;

/// What sources and transducers do in one step, by rows.
pub(super) struct Acts<T> {
    /// Row, place in the row, what is added to pⁿ⁺¹ there; rows ascend, and in a row the sources keep their order.
    list: Vec<(u32, u32, T)>,
    /// The same for values that pⁿ⁺¹ is held at, after what is added.
    held: Vec<(u32, u32, T)>,
}

impl<T> Default for Acts<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            held: Vec::new(),
        }
    }
}

impl<T: Real> Acts<T> {
    /// What plays from tₙ to tₙ₊₁: `weight` · Δt² S(tₙ)/a^d.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn new(
        emitters: &Emitters,
        lattice: &Lattice,
        mask: &[bool],
        (time, time_step): (f64, f64),
        weight: f64,
    ) -> Self {
        let ny = lattice.size[1];
        let square = weight * time_step * time_step;
        let mut list = Vec::new();
        emitters.play(time, mask, |[i, j, k], strength| {
            list.push(((j + ny * k) as u32, i as u32, T::of(square * strength)));
        });
        list.sort_by_key(|(row, _, _)| *row);
        Self { list, held: Vec::new() }
    }

    /// Joins what transducers play after this step: `signal` at `sites`, which ascend, a source density or, if `holds`, the pressure itself.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn join(
        &mut self,
        nx: usize,
        mask: &[bool],
        (sites, signal): (&[usize], &[Complex64]),
        (time_step, holds): (f64, bool),
    ) {
        let open = (sites.iter().zip(signal)).filter(|(site, _)| !mask.get(**site).copied().unwrap_or(false));
        let place = |site: usize| ((site / nx) as u32, (site % nx) as u32);
        if holds {
            self.held.extend(open.map(|(&site, value)| {
                let (row, x) = place(site);
                (row, x, T::of(value.re))
            }));
            return;
        }
        let square = time_step * time_step;
        self.list.extend(open.map(|(&site, value)| {
            let (row, x) = place(site);
            (row, x, T::of(square * value.re))
        }));
        // Stable: behind the sources of the same row.
        self.list.sort_by_key(|(row, _, _)| *row);
    }

    /// Acts on the sites of a row; whether there was anything to add.
    pub(super) fn apply(&self, row: usize, sites: &mut [T]) -> bool {
        fn own<T>(list: &[(u32, u32, T)], row: usize) -> impl Iterator<Item = &(u32, u32, T)> {
            let first = list.partition_point(|(other, _, _)| (*other as usize) < row);
            list[first..]
                .iter()
                .take_while(move |(other, _, _)| *other as usize == row)
        }
        let mut any = false;
        for (_, x, add) in own(&self.list, row) {
            sites[*x as usize] += *add;
            any = true;
        }
        for (_, x, value) in own(&self.held, row) {
            sites[*x as usize] = *value;
            any = true;
        }
        any
    }

    /// Whether nothing plays.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.held.is_empty()
    }

    /// The rows where something plays.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.list.iter().chain(&self.held).map(|(row, _, _)| *row as usize)
    }
}

/// The rows that detectors read, and what stood in them at every step of a pass.
pub(super) struct Records<T> {
    /// The place of a row among those kept, or [`Records::NONE`].
    slots: Vec<u32>,
    rows: Vec<usize>,
    stride: usize,
    /// Kept rows of levels 0, 1, 2, …, one level after the other.
    values: Vec<T>,
    /// The same of Φ⁺, where it is kept and a detector asks for it.
    potential: Vec<T>,
    /// Whether one does.
    moving: bool,
}

impl<T: Real> Records<T> {
    const NONE: u32 = u32::MAX;
    /// Most bytes that a pass keeps.
    const MOST: usize = 32 << 20;

    /// The rows that `taps` read.
    #[expect(clippy::cast_possible_truncation, reason = "a grid has far fewer than 2^32 rows")]
    pub(super) fn new(lattice: &Lattice, taps: &Taps) -> Self {
        let mut new = Self {
            slots: Vec::new(),
            rows: Vec::new(),
            stride: lattice.stride,
            values: Vec::new(),
            potential: Vec::new(),
            moving: taps.ask_for_velocity(),
        };
        let heard = taps.transducers().filter(|own| own.act() == Act::Record);
        if taps.taps().is_empty() && heard.is_none() {
            return new;
        }
        let mut wanted = vec![false; lattice.rows()];
        for site in heard.map_or(&[][..], |own| own.sites()) {
            wanted[site / lattice.size[0]] = true;
        }
        for tap in taps.taps() {
            // What moves and flows at a site takes its neighbours to know.
            let around = matches!(tap.measure, Measure::Energy | Measure::Flux);
            for k in tap.lo[2]..tap.hi[2] {
                for j in tap.lo[1]..tap.hi[1] {
                    wanted[j + lattice.size[1] * k] = true;
                    for axis in 1..if around { lattice.rank } else { 0 } {
                        let half = lattice.half.cast_signed();
                        for offset in -half..=half {
                            if let Ghost::Same(row) | Ghost::Negative(row) = lattice.neighbour_row(j, k, axis, offset) {
                                wanted[row] = true;
                            }
                        }
                    }
                }
            }
        }
        new.slots = vec![Self::NONE; lattice.rows()];
        for (row, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            new.slots[row] = new.rows.len() as u32;
            new.rows.push(row);
        }
        new
    }

    /// The most steps of a pass whose records still fit.
    pub(super) fn longest(&self) -> usize {
        let arrays = if self.moving { 2 } else { 1 };
        let level = arrays * self.rows.len() * self.stride * size_of::<T>();
        Self::MOST
            .checked_div(level)
            .map_or(usize::MAX, |levels| levels.max(2) - 1)
    }

    /// Makes room for `steps` steps after the level `now`, which becomes level 0, and `potential` (empty: not kept) beside it.
    pub(super) fn begin(&mut self, now: &[T], potential: &[T], steps: usize) {
        let level = self.rows.len() * self.stride;
        let moving = self.moving && !potential.is_empty();
        let start = |all: &mut Vec<T>, from: &[T]| {
            all.clear();
            all.resize(level * (steps + 1), T::zero());
            for (slot, row) in self.rows.iter().enumerate() {
                let first = row * self.stride + Lattice::BETWEEN;
                all[slot * self.stride..(slot + 1) * self.stride].copy_from_slice(&from[first..first + self.stride]);
            }
        };
        start(&mut self.values, now);
        if moving {
            start(&mut self.potential, potential);
        }
    }

    /// The rows kept.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Where rows of all steps are written to.
    pub(super) fn writer(&mut self) -> Keeper<'_, T> {
        Keeper {
            slots: &self.slots,
            level: self.rows.len() * self.stride,
            stride: self.stride,
            values: Shared::new(&mut self.values),
            potential: (!self.potential.is_empty()).then(|| Shared::new(&mut self.potential)),
        }
    }

    /// The value of a site, by flat index, in level `n`; its row is kept.
    pub(super) fn site(&self, n: usize, nx: usize, site: usize) -> T {
        let slot = n * self.rows.len() + self.slots[site / nx] as usize;
        self.values[slot * self.stride + Lattice::FRONT - Lattice::BETWEEN + site % nx]
    }

    /// The kept rows of level `n`, and where each row lies among them.
    pub(super) fn level(&self, n: usize) -> (&[T], &[u32]) {
        let level = self.rows.len() * self.stride;
        (&self.values[n * level..(n + 1) * level], &self.slots)
    }

    /// Φ⁺ of the kept rows of level `n`.
    pub(super) fn potential(&self, n: usize) -> Option<&[T]> {
        let level = self.rows.len() * self.stride;
        self.potential.get(n * level..(n + 1) * level).filter(|_| level > 0)
    }
}

/// Writes rows into [`Records`] from several tasks.
pub(super) struct Keeper<'a, T> {
    slots: &'a [u32],
    level: usize,
    stride: usize,
    values: Shared<'a, T>,
    potential: Option<Shared<'a, T>>,
}

impl<T: Real> Keeper<'_, T> {
    /// Keeps a row of level `n`, if a detector reads it. `span`, and Φ⁺ beside it, have `half` ghosts at either end.
    pub(super) fn keep(&self, row: usize, n: usize, half: usize, span: &[T], potential: Option<&[T]>) {
        let Some(&slot) = self.slots.get(row).filter(|slot| **slot != Records::<T>::NONE) else {
            return;
        };
        let first = n * self.level + slot as usize * self.stride + Lattice::FRONT - Lattice::BETWEEN - half;
        #[allow(unsafe_code, reason = "see `Shared`")]
        // SAFETY: a row of a level is stepped once, by one task.
        let kept = unsafe { self.values.slice(first..first + span.len()) };
        kept.copy_from_slice(span);
        if let (Some(to), Some(from)) = (&self.potential, potential) {
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: as above.
            let kept = unsafe { to.slice(first..first + from.len()) };
            kept.copy_from_slice(from);
        }
    }
}
