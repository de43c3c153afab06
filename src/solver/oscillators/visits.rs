//! What touches single sites between steps: sources, damping, and whoever keeps a record. All of it is here, and every variant calls it for every row that it
//! has stepped: fusing steps changes nothing that is played or recorded.
//!
//! A step from t to t + Δt is `kick(t) · damp · sweeps · damp · kick(t + Δt)`: a kick adds ½Δt S/a^d to dq/dt, damping multiplies it by e^(−γ|Δt|) (γ is the rate
//! at which an amplitude falls: q_tt = … − 2γq_t). Both halves are the same, so a step is its own mirror image in time.

#![allow(unsafe_code, clippy::inline_always, reason = "works on rows of the sweeps")]

use super::layout::Layout;
use super::pair::damp;
use super::rows::{Row, Stretch};
use super::springs::repeat;
use crate::backend::memory::zeros;
use crate::backend::simd::Lanes;
use crate::field::Real;
use crate::grid::{Edge, Grid};
use crate::scene::Scenario;
use crate::solver::Taps;
use crate::solver::acoustic::medium::constants;
use rayon::prelude::*;
use std::ops::Range;

/// What sources add to momenta at one moment, by rows: (row, column, change of p).
pub(super) type Kicks<T> = Vec<(usize, usize, T)>;

/// e^(−γ|Δt|) per site of the rows that are damped.
pub(super) struct Damping<T> {
    /// Laid out like a field; empty where nothing is damped.
    factors: Vec<T>,
    rows: Vec<bool>,
}

impl<T: Real> Damping<T> {
    /// Nothing damped.
    pub(super) fn none() -> Self {
        Self {
            factors: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Reads layers and absorbing edges. An edge's layer of width L has γ(ξ) = 9c/L · ξ², ξ = depth/L: a wave that crosses it twice keeps e^(−12) of its energy
    /// if it runs straight on. Longer waves are turned back by the layer itself.
    pub(super) fn new(scenario: &Scenario, layout: &Layout, time_step: f64) -> Self {
        let grid = scenario.grid();
        let medium = scenario.medium();
        let absorbs = grid.absorb_width() > 0 && grid.edges()[..grid.rank()].contains(&Edge::Absorb);
        if !absorbs && !medium.has(crate::physics::Sets::Absorption) {
            return Self::none();
        }
        let speed = constants(scenario).map_or(0.0, |acoustic| acoustic.speed);
        let [nx, ny] = layout.size;
        let mut damping = Self {
            factors: zeros(layout.len()),
            rows: vec![false; ny],
        };
        let stride = layout.stride();
        (damping
            .factors
            .par_chunks_mut(stride)
            .zip(&mut damping.rows)
            .enumerate())
        .for_each_init(
            || vec![0.0; nx],
            |rates, (j, (factors, touched))| {
                medium.damping_row(j, 0, 0..nx, rates);
                for (i, rate) in rates.iter_mut().enumerate() {
                    for (axis, at) in [(0, i), (1, j)] {
                        *rate += edge_rate(grid, speed, axis, at);
                    }
                    factors[layout.column(i)] = T::of((-*rate * time_step.abs()).exp());
                }
                *touched = rates.iter().any(|rate| *rate != 0.0);
                repeat(layout, factors);
            },
        );
        damping
    }

    /// The factor at a place of the layout; `None` where nothing is damped.
    #[cfg(feature = "cuda")]
    pub(super) fn factor(&self, place: usize) -> Option<T> {
        self.factors.get(place).copied()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.factors.len() * size_of::<T>() + self.rows.len()
    }
}

/// γ of the absorbing edges of an axis, 1/s.
#[expect(clippy::cast_precision_loss, reason = "widths are small")]
fn edge_rate(grid: &Grid, speed: f64, axis: usize, at: usize) -> f64 {
    if axis >= grid.rank() || grid.edges()[axis] != Edge::Absorb {
        return 0.0;
    }
    let width = grid.absorb_width();
    let from_edge = at.min(grid.size()[axis] - 1 - at);
    if from_edge >= width {
        return 0.0;
    }
    // From the middle between the last free site and the layer's first.
    let depth = (width - from_edge) as f64 - 0.5;
    9.0 * speed / (width as f64 * grid.spacing()) * (depth / width as f64).powi(2)
}

/// The sites that detectors read, copied after every step of a batch.
pub(super) struct Windows<T> {
    /// Rows and columns, and where their numbers begin: q of all of its sites, then p or, where `moving`, Φ⁺.
    pub boxes: Vec<Window>,
    /// Whether a detector asks for energy or flux.
    pub moving: bool,
    /// Numbers of a step.
    per_step: usize,
    values: Vec<T>,
}

/// A box of sites.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Window {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    first: usize,
}

impl Window {
    fn sites(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Place of a row's q within a step.
    fn place(&self, j: usize) -> usize {
        self.first + (j - self.rows.start) * self.columns.len()
    }
}

/// Numbers that copies of a batch may take.
const MOST: usize = 1 << 20;

impl<T: Real> Windows<T> {
    /// Room for what `taps` read during `steps` steps; `None` where single steps serve better.
    pub(super) fn new(grid: &Grid, taps: &Taps, steps: usize) -> Option<Self> {
        let mut windows = Self {
            boxes: Vec::new(),
            moving: taps.ask_for_velocity(),
            per_step: 0,
            values: Vec::new(),
        };
        for tap in taps.taps() {
            let mut sides = [0, 1].map(|axis| tap.lo[axis]..tap.hi[axis].max(tap.lo[axis]));
            // Formulas of energy and flux read the neighbours.
            for (axis, side) in sides.iter_mut().enumerate() {
                let sites = grid.size()[axis];
                if grid.is_periodic(axis) && (side.start == 0 || side.end == sites) {
                    *side = 0..sites;
                }
                *side = side.start.saturating_sub(1)..(side.end + 1).min(sites);
            }
            let [columns, rows] = sides;
            let window = Window {
                rows,
                columns,
                first: windows.per_step,
            };
            windows.per_step += 2 * window.sites();
            windows.boxes.push(window);
        }
        let len = windows.per_step.checked_mul(steps)?;
        if len == 0 || len > MOST || steps < 2 {
            return None;
        }
        windows.values = vec![T::zero(); len];
        Some(windows)
    }

    /// Steps there is room for.
    pub(super) fn depth(&self) -> usize {
        self.values.len() / self.per_step.max(1)
    }

    /// q, and p or Φ⁺, of the columns of row `j` that window `n` holds after step `step`.
    pub(super) fn row(&self, step: usize, n: usize, j: usize) -> [&[T]; 2] {
        let window = &self.boxes[n];
        let place = step * self.per_step + window.place(j);
        let columns = window.columns.len();
        [place, place + window.sites()].map(|place| &self.values[place..place + columns])
    }
}

/// What a batch of steps does to single sites.
pub(super) struct Visits<'a, T> {
    pub layout: &'a Layout,
    /// At the start of the batch and after each of its steps; empty where nothing plays.
    pub kicks: Vec<Kicks<T>>,
    pub damping: &'a Damping<T>,
    windows: &'a [Window],
    per_step: usize,
    moving: bool,
    values: *mut T,
    peak: *mut T,
    potential: *mut T,
    time_step: T,
}

// SAFETY: only `after` writes through the pointers, to the places of sites that its caller alone works on.
unsafe impl<T: Real> Sync for Visits<'_, T> {}

impl<'a, T: Real> Visits<'a, T> {
    /// Visits that keep copies in `windows`, the largest |q| in `peak` and Φ⁺ in `potential` (both laid out like a field, or empty).
    pub(super) fn new(
        layout: &'a Layout,
        damping: &'a Damping<T>,
        windows: Option<&'a mut Windows<T>>,
        peak: &'a mut [T],
        (potential, time_step): (&'a mut [T], f64),
    ) -> Self {
        let start = |all: &'a mut [T]| {
            if all.is_empty() {
                std::ptr::null_mut()
            } else {
                all.as_mut_ptr()
            }
        };
        let mut visits = Self {
            layout,
            kicks: Vec::new(),
            damping,
            windows: &[],
            per_step: 0,
            moving: false,
            values: std::ptr::null_mut(),
            peak: start(peak),
            potential: start(potential),
            time_step: T::of(time_step),
        };
        if let Some(windows) = windows {
            visits.moving = windows.moving;
            visits.per_step = windows.per_step;
            visits.values = windows.values.as_mut_ptr();
            visits.windows = &windows.boxes;
        }
        visits
    }

    /// Before the sweeps of step `step` of the batch.
    ///
    /// # Safety
    /// As for the sweeps.
    #[inline(always)]
    pub(super) unsafe fn before<L: Lanes<Element = T>>(&self, step: usize, row: Row<T>, stretch: &Stretch) {
        unsafe {
            self.kick(step, row, stretch);
            self.damp::<L>(row, stretch);
        }
    }

    /// After them; `core` are the columns that the caller will write back.
    ///
    /// # Safety
    /// As for the sweeps; nobody else works on row `row.j` and columns `core`.
    #[inline(always)]
    pub(super) unsafe fn after<L: Lanes<Element = T>>(
        &self,
        step: usize,
        row: Row<T>,
        stretch: &Stretch,
        core: &Range<usize>,
    ) {
        unsafe {
            self.damp::<L>(row, stretch);
            self.kick(step + 1, row, stretch);
            if core.is_empty() {
                return;
            }
            if !self.potential.is_null() {
                for i in core.clone() {
                    let site = site(row, stretch, i);
                    *self.potential.add(self.layout.index(i, row.j)) += self.time_step * *site.q;
                }
            }
            for window in self.windows {
                self.copy(step, window, row, stretch, core);
            }
            if !self.peak.is_null() {
                for i in core.clone() {
                    let site = site(row, stretch, i);
                    let peak = self.peak.add(self.layout.index(i, row.j));
                    *peak = (*peak).max((*site.q).abs());
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn damp<L: Lanes<Element = T>>(&self, row: Row<T>, stretch: &Stretch) {
        if !self.damping.rows.get(row.j).copied().unwrap_or(false) {
            return;
        }
        unsafe {
            let factors = self
                .damping
                .factors
                .as_ptr()
                .wrapping_add(stretch.place(self.layout, row.j));
            damp::<L>(row.even.p, stretch.evens(), factors);
            damp::<L>(row.odd.p, stretch.odds(), factors.wrapping_add(self.layout.half));
        }
    }

    #[inline(always)]
    unsafe fn kick(&self, moment: usize, row: Row<T>, stretch: &Stretch) {
        let Some(kicks) = self.kicks.get(moment) else { return };
        let first = kicks.partition_point(|kick| kick.0 < row.j);
        for (_, column, change) in kicks[first..].iter().take_while(|kick| kick.0 == row.j) {
            let nx = self.layout.size[0];
            let mut at = column.cast_signed() - stretch.start;
            if self.layout.periodic[0] {
                at = at.rem_euclid(nx.cast_signed());
            }
            // Around a ring a block may hold a column twice.
            while at >= 0 && at < stretch.columns.cast_signed() {
                unsafe {
                    let p = place(row, at.cast_unsigned()).p;
                    *p += *change;
                }
                if !self.layout.periodic[0] {
                    break;
                }
                at += nx.cast_signed();
            }
        }
    }

    unsafe fn copy(&self, step: usize, window: &Window, row: Row<T>, stretch: &Stretch, core: &Range<usize>) {
        if !window.rows.contains(&row.j) {
            return;
        }
        let columns = window.columns.start.max(core.start)..window.columns.end.min(core.end);
        let to = step * self.per_step + window.place(row.j);
        for i in columns {
            unsafe {
                let site = site(row, stretch, i);
                let to = self.values.add(to + i - window.columns.start);
                *to = *site.q;
                *to.add(window.sites()) = if self.moving {
                    *self.potential.add(self.layout.index(i, row.j))
                } else {
                    *site.p
                };
            }
        }
    }
}

/// Column `i` of the grid in a stretch that holds it.
#[inline(always)]
unsafe fn site<T>(row: Row<T>, stretch: &Stretch, i: usize) -> super::pair::Sites<T> {
    unsafe { place(row, (i.cast_signed() - stretch.start).cast_unsigned()) }
}

/// The n-th column of a row.
#[inline(always)]
unsafe fn place<T>(row: Row<T>, n: usize) -> super::pair::Sites<T> {
    if n.is_multiple_of(2) {
        row.even.at(n / 2)
    } else {
        row.odd.at(n / 2)
    }
}
