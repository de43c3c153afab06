//! The input of one step for its rows, and the scratch memory of a task.

use super::cpml::{Layer, Shape};
use super::events::SiteEvents;
use super::row_sums::{Follow, SumKernels};
use super::share::{Shared, View};
use super::sweep::ask;
use crate::field::Real;
use std::ops::Range;

/// The values that a sweep writes over the older level.
#[derive(Clone, Copy)]
pub enum Mode<T> {
    /// pⁿ⁺¹; absorbing layers and damping act.
    Step,
    /// w₀pⁿ⁺¹ + w₁pⁿ + w₂pⁿ⁻¹, Σw = 1; absorbing layers are left alone.
    Combine {
        /// w₀, w₁, w₂.
        weights: [T; 3],
        /// Whether damping acts.
        damped: bool,
    },
}

/// Memory of one task.
pub(super) struct Scratch<T> {
    pub(super) before: Vec<T>,
    /// pⁿ⁺¹ of the sites beside walls of the rows that are stepped.
    pub(super) beside: Vec<T>,
    /// The memory variables of their layers then: which layer, the place, ψ below and above, ζ.
    pub(super) kept: Vec<(usize, usize, [T; 3])>,
    /// Negated rows beyond soft edges.
    pub(super) negative: Vec<T>,
    /// Rows that are read soon, to be prefetched.
    pub(super) ahead: Vec<*const T>,
    /// Rows whose memory variables are read soon, to be prefetched.
    pub(super) coming: Vec<usize>,
    /// The parts that a tower steps at once.
    pub(super) parts: Vec<Part>,
    /// Where the search for the signals of the next row begins.
    pub(super) played: usize,
    /// The sums of the rows that are stepped together ([`super::tally`]).
    pub(super) sums: Vec<[f64; 2]>,
}

/// Rows that are stepped together: `count` bundles of rows of `planes` planes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// y and z of the first row.
    pub(super) first: [usize; 2],
    /// The axis along which bundles follow one another, 1 or 2.
    pub(super) along: usize,
    pub(super) count: usize,
    /// 1, 2 or 4; 1 unless bundles follow one another along y.
    pub(super) planes: usize,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new() -> Self {
        Self {
            before: Vec::new(),
            beside: Vec::new(),
            kept: Vec::new(),
            negative: Vec::new(),
            ahead: Vec::new(),
            coming: Vec::new(),
            parts: Vec::new(),
            played: 0,
            sums: Vec::new(),
        }
    }

    /// Forgets what was stepped beside walls.
    pub(super) fn clear(&mut self) {
        self.beside.clear();
        self.kept.clear();
    }

    /// Writes the memory variables of sites beside walls to the layers.
    pub(super) fn put_kept(&self, memories: &[Memory<'_, T>]) {
        for (n, place, remembered) in &self.kept {
            #[allow(unsafe_code, reason = "see `Shared`")]
            // SAFETY: what is remembered of a row's sites belongs to the task that steps the row.
            let memory = unsafe { memories[*n].slices(*place..*place + 1) };
            for (memory, value) in memory.into_iter().zip(remembered) {
                memory[0] = *value;
            }
        }
    }
}

/// An absorbing layer and its memories, for several tasks.
pub(super) struct Memory<'a, T> {
    pub(super) shape: &'a Shape<T>,
    pub(super) psi: Shared<'a, T>,
    pub(super) zeta: Shared<'a, T>,
}

impl<'a, T: Copy> Memory<'a, T> {
    /// ψ of the faces below and above and ζ of some sites.
    ///
    /// # Safety
    /// No other task may use the memory variables of these sites while the slices live.
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn slices(&self, places: Range<usize>) -> [&'a mut [T]; 3] {
        let above = self.psi.len() / 2;
        debug_assert!(places.end <= above, "{places:?} of {above}");
        let upper = places.start + above..places.end + above;
        // SAFETY: the caller's promise.
        unsafe {
            [
                self.psi.slice(places.clone()),
                self.psi.slice(upper),
                self.zeta.slice(places),
            ]
        }
    }

    /// Prefetches the memory variables of a row, if it has any.
    pub(super) fn ask(&self, size: [usize; 3], row: usize)
    where
        T: Real,
    {
        if let Some(places) = self.shape.row(size, [row % size[1], row / size[1]]) {
            let above = self.psi.len() / 2;
            for first in [
                self.psi.place(places.start),
                self.psi.place(places.start + above),
                self.zeta.place(places.start),
            ] {
                ask(first, 0..places.len());
            }
        }
    }

    /// Pointers to the same, valid for all of `places`.
    pub(super) fn pointers(&self, places: Range<usize>) -> [*mut T; 3] {
        let above = self.psi.len() / 2;
        let upper = places.start + above..places.end + above;
        [
            self.psi.pointer(places.clone(), places.start),
            self.psi.pointer(upper.clone(), upper.start),
            self.zeta.pointer(places.clone(), places.start),
        ]
    }

    /// The layers of a run.
    pub(super) fn of(layers: &'a mut [Layer<T>]) -> Vec<Self> {
        layers
            .iter_mut()
            .map(|Layer { shape, psi, zeta }| Self {
                shape,
                psi: Shared::new(psi),
                zeta: Shared::new(zeta),
            })
            .collect()
    }
}

/// Per-site arrays beside the levels, with the same layout.
#[derive(Clone, Copy, Default)]
pub(super) struct Followed<'a, T> {
    /// Largest |p| so far.
    pub(super) peak: Option<Shared<'a, T>>,
    /// Φ⁺, where it grows.
    pub(super) potential: Option<Potential<'a, T>>,
    /// Φ⁺ that is kept in one place, where detectors may read it in steps in which it does not grow.
    still: Option<Shared<'a, T>>,
    /// By how much Φ⁺ grows in the steps to the levels of a pass, from level 1 on; empty: by Δt pⁿ⁺¹ in each.
    growth: &'a [Growth],
}

/// By how much Φ⁺ grows in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Not at all: what the step adds is added in the next one, with the same rounding.
    Later,
    /// By Δt pⁿ⁺¹.
    Once,
    /// By Δt pⁿ, then by Δt pⁿ⁺¹.
    Twice,
}

/// Φ⁺ of the levels of a pass.
#[derive(Clone, Copy)]
pub(super) struct Potential<'a, T> {
    /// As those of the pressure: level n is held by array n mod 2. `None` where it is updated in place and stands at the latest level of each row alone.
    pub(super) odd: Option<Shared<'a, T>>,
    pub(super) even: Shared<'a, T>,
    /// Δt, by which it grows.
    pub(super) step: T,
    /// Whether it stands at the level before the one that is stepped from.
    pub(super) late: bool,
}

impl<'a, T: Real> Potential<'a, T> {
    /// The array of a level.
    fn level(&self, level: usize) -> Shared<'a, T> {
        match self.odd {
            Some(odd) if level % 2 == 1 => odd,
            _ => self.even,
        }
    }
}

impl<'a, T: Real> Followed<'a, T> {
    /// The arrays of a run; empty ones are not kept.
    pub(super) fn of(peak: &'a mut [T], even: &'a mut [T], odd: Option<&'a mut [T]>, time_step: f64) -> Self {
        Self {
            peak: (!peak.is_empty()).then(|| Shared::new(peak)),
            potential: (!even.is_empty()).then(|| Potential {
                odd: odd.map(Shared::new),
                even: Shared::new(even),
                step: T::of(time_step),
                late: false,
            }),
            still: None,
            growth: &[],
        }
    }

    /// With Φ⁺ that grows as the steps of a pass say.
    pub(super) fn growing(mut self, growth: &'a [Growth]) -> Self {
        self.still = self.potential.as_ref().map(|potential| potential.even);
        self.growth = growth;
        self
    }

    /// The arrays in the step to a level of the pass.
    pub(super) fn of_step(mut self, level: usize) -> Self {
        if let Some(potential) = &mut self.potential {
            match self.growth.get(level - 1) {
                Some(Growth::Later) => self.potential = None,
                Some(Growth::Twice) => potential.late = true,
                Some(Growth::Once) | None => {}
            }
        }
        self
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.peak.is_none() && self.potential.is_none()
    }

    /// Prefetches the per-site arrays of some sites.
    pub(super) fn ask(&self, sites: &Range<usize>) {
        let potential = self.potential.iter().flat_map(|all| [Some(all.even), all.odd]);
        for all in potential.chain([self.peak]).flatten() {
            ask(all.place(sites.start), 0..sites.len());
        }
    }

    /// Φ⁺ of a level that is still there when its successor is stepped.
    ///
    /// # Safety
    /// As for pⁿ of that step.
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn before(&self, level: usize) -> Option<View<'a, T>> {
        let kept = match &self.potential {
            Some(potential) => potential.odd.map(|_| potential.level(level)),
            None => self.still,
        };
        // SAFETY: the caller's promise.
        kept.map(|kept| unsafe { kept.view() })
    }

    /// Φ⁺ from which that of `level` is made, and that, maybe in the same place.
    pub(super) fn potentials(&self, level: usize) -> Option<[Shared<'a, T>; 2]> {
        let potential = self.potential.as_ref()?;
        let from = potential.level(if potential.odd.is_some() { level - 1 } else { level });
        Some([from, potential.level(level)])
    }

    /// Takes over a row, with its ghosts, that was stepped from `now` to `level`.
    ///
    /// # Safety
    /// As for the row itself: it belongs to the caller alone.
    #[allow(unsafe_code, reason = "see `Shared`")]
    pub(super) unsafe fn take(&self, sums: &SumKernels<T>, level: usize, range: Range<usize>, [now, span]: [&[T]; 2]) {
        // SAFETY: the caller's promise; the rows of the level before are read as those of pⁿ are.
        unsafe {
            (sums.follow)(Follow {
                pressure: span,
                peak: self.peak.map(|peak| peak.slice(range.clone())),
                potential: self.potential.map(|all| {
                    let from = all.odd.map(|_| all.level(level - 1).view().slice(range.clone()));
                    let late = all.late.then_some(now);
                    (from, all.level(level).slice(range.clone()), all.step, late)
                }),
            });
        }
    }
}

/// The input of one step for its rows.
pub(super) struct Stage<'a, T> {
    /// pⁿ.
    pub(super) now: View<'a, T>,
    /// pⁿ⁻¹, overwritten as `mode` says.
    pub(super) old: Shared<'a, T>,
    pub(super) mode: Mode<T>,
    pub(super) memories: &'a [Memory<'a, T>],
    pub(super) followed: Followed<'a, T>,
    /// Events at sites.
    pub(super) events: &'a SiteEvents<'a, T>,
    /// The level that is stepped to, from 1 on.
    pub(super) level: usize,
}

impl<T: Real> Stage<'_, T> {
    /// The layer along an axis.
    pub(super) fn layer_of(&self, axis: usize) -> Option<&Memory<'_, T>> {
        self.memories.iter().find(|memory| memory.shape.axis == axis)
    }

    /// The sites at both ends of every row in which a layer along it absorbs.
    pub(super) fn ends(&self) -> [Range<usize>; 2] {
        self.layer_of(0)
            .map_or([0..0, usize::MAX..usize::MAX], |memory| memory.shape.ends())
    }
}
