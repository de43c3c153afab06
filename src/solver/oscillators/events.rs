//! Events at sites between steps: sources, damping, transducers, and detectors. Every variant calls them for every row that it
//! has stepped: fusing steps changes nothing that is played or recorded.
//!
//! A step from t to t + Δt is `kick(t) · damp · sweeps · damp · kick(t + Δt)`: a kick adds ½Δt S/a^d to dq/dt, damping multiplies it by e^(−γ|Δt|) (γ is the rate
//! at which an amplitude falls: q_tt = … − 2γq_t). Both halves are the same, so a step is its own mirror image in time.

#![allow(unsafe_code, reason = "works on rows of the sweeps")]

use super::layout::Layout;
use super::pair::damp;
use super::rows::{Row, Stretch};
use super::springs::repeat;
use crate::backend::memory::zeros;
use crate::backend::simd::Lanes;
use crate::field::Real;
use crate::grid::{Edge, Grid};
use crate::physics::Measure;
use crate::scene::Scenario;
use crate::solver::Taps;
use crate::solver::acoustic::medium::constants;
use crate::solver::events::{Partials, Reduction, Sites, reduce_chunk};
use crate::solver::taps::{RowNumbers, Tap};
use crate::solver::tiling::CHUNK;
use crate::solver::transducers::Act;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The kicks of sources at one moment, by rows: (row, column, change of p).
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
    /// if it runs straight on. The layer itself reflects longer waves.
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
    #[cfg(any(feature = "cuda", feature = "gui"))]
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
    let at = grid.global(axis, at);
    let from_edge = at.min(grid.whole().size()[axis] - 1 - at);
    if from_edge >= width {
        return 0.0;
    }
    // From the middle between the last free site and the layer's first.
    let depth = (width - from_edge) as f64 - 0.5;
    9.0 * speed / (width as f64 * grid.spacing()) * (depth / width as f64).powi(2)
}

/// The records of detectors and transducers in a batch of steps.
pub(super) struct Recorder<T> {
    /// Of each detector.
    kept: Vec<Kept>,
    /// Whether a detector asks for energy or flux.
    moving: bool,
    /// Whether copies of even one step would be too large: energy and flux are read from the field itself.
    direct: bool,
    /// Numbers that are copied of a step.
    per_step: usize,
    values: Vec<T>,
    /// Sites that transducers hear, ascending.
    sites: Arc<[usize]>,
    /// `heard[step * sites + n]`: q and p.
    heard: Vec<[T; 2]>,
    depth: usize,
}

/// What is kept of the sites that a detector reads.
enum Kept {
    Reduced(Partials),
    Copy(Window),
}

/// A box of sites: rows and columns, and where their numbers begin: q of all of them, then p or, where energy or flux is asked for, Φ⁺.
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

impl<T: Real> Recorder<T> {
    /// Memory for the records of `taps` in at most `steps` steps.
    pub(super) fn new(grid: &Grid, taps: &Taps, steps: usize) -> Self {
        let heard = taps.transducers().filter(|own| own.act() == Act::Record);
        let mut new = Self {
            kept: Vec::new(),
            moving: taps.ask_for_velocity(),
            direct: false,
            per_step: 0,
            values: Vec::new(),
            sites: heard.map_or_else(|| Arc::from([]), |own| Arc::clone(own.sites())),
            heard: Vec::new(),
            depth: steps.max(1),
        };
        for tap in taps.taps() {
            let reduction = match tap.measure {
                Measure::Pressure => Some(Reduction::Sum),
                Measure::Probability => Some(Reduction::Squares),
                Measure::Peak => Some(Reduction::Largest),
                Measure::Value | Measure::Velocity | Measure::Flux | Measure::Energy => None,
            };
            let kept = if let Some(reduction) = reduction.filter(|_| tap.shares.is_empty()) {
                Kept::Reduced(Partials::new(Sites { lo: tap.lo, hi: tap.hi }, reduction))
            } else {
                let window = window(grid, tap, new.per_step);
                new.per_step += 2 * window.sites();
                Kept::Copy(window)
            };
            new.kept.push(kept);
        }
        new.direct = new.per_step > MOST;
        if new.direct {
            new.per_step = 0;
        }
        let sums = new.kept.iter().map(|kept| match kept {
            Kept::Reduced(partials) => partials.per_step(),
            Kept::Copy(_) => 0,
        });
        let numbers = new.per_step + 2 * new.sites.len() + sums.sum::<usize>();
        new.depth = new.depth.min(MOST / numbers.max(1)).max(1);
        for kept in &mut new.kept {
            if let Kept::Reduced(partials) = kept {
                partials.make_room(new.depth);
            }
        }
        new.values = vec![T::zero(); new.depth * new.per_step];
        new.heard = vec![[T::zero(); 2]; new.depth * new.sites.len()];
        new
    }

    /// Steps there is room for.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether energy and flux are read from the field, when a batch has ended.
    pub(super) fn reads_field(&self) -> bool {
        self.direct
    }

    /// The sum or maximum of each row of detector `n` after step `step`; `None` for one whose sites are copied.
    pub(super) fn reduced(&self, step: usize, n: usize) -> Option<RowNumbers> {
        match &self.kept[n] {
            Kept::Reduced(partials) => Some((partials.sites.lo[1]..).zip(partials.rows(step)).collect()),
            Kept::Copy(_) => None,
        }
    }

    /// The first column copied for detector `n`.
    pub(super) fn first_column(&self, n: usize) -> usize {
        match &self.kept[n] {
            Kept::Copy(window) => window.columns.start,
            Kept::Reduced(_) => 0,
        }
    }

    /// q, and p or Φ⁺, of the columns of row `j` that are copied for detector `n` after step `step`.
    pub(super) fn row(&self, step: usize, n: usize, j: usize) -> [&[T]; 2] {
        let Kept::Copy(window) = &self.kept[n] else {
            return [&[]; 2];
        };
        let place = step * self.per_step + window.place(j);
        let columns = window.columns.len();
        [place, place + window.sites()].map(|place| &self.values[place..place + columns])
    }

    /// What transducers recorded in `steps` steps, one step after the other.
    pub(super) fn heard(&self, steps: usize) -> &[[T; 2]] {
        &self.heard[..steps * self.sites.len()]
    }
}

/// The sites that the formula of a detector reads.
fn window(grid: &Grid, tap: &Tap, first: usize) -> Window {
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
    Window { rows, columns, first }
}

/// The signals of transducers after a step, by rows: (row, column, q, p), to be added or to be put there.
pub(super) type Played<T> = Vec<(usize, usize, [T; 2])>;

/// Events at sites in a batch of steps.
pub(super) struct SiteEvents<'a, T> {
    pub layout: &'a Layout,
    /// At the start of the batch and after each of its steps; empty where nothing plays.
    pub kicks: Vec<Kicks<T>>,
    /// The signals of transducers after each step; empty where there are none.
    pub played: Vec<Played<T>>,
    /// Whether it overwrites q and p.
    pub holds: bool,
    pub damping: &'a Damping<T>,
    recorder: Option<&'a Recorder<T>>,
    values: *mut T,
    heard: *mut [T; 2],
    peak: *mut T,
    potential: *mut T,
    time_step: T,
}

// SAFETY: only `after` writes through the pointers, to the places of sites that its caller alone works on.
unsafe impl<T: Real> Sync for SiteEvents<'_, T> {}

impl<'a, T: Real> SiteEvents<'a, T> {
    /// Events that are recorded by `recorder`, with the largest |q| in `peak` and Φ⁺ in `potential` (both laid out like a field, or empty).
    pub(super) fn new(
        layout: &'a Layout,
        damping: &'a Damping<T>,
        recorder: Option<&'a mut Recorder<T>>,
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
        let mut events = Self {
            layout,
            kicks: Vec::new(),
            played: Vec::new(),
            holds: false,
            damping,
            recorder: None,
            values: std::ptr::null_mut(),
            heard: std::ptr::null_mut(),
            peak: start(peak),
            potential: start(potential),
            time_step: T::of(time_step),
        };
        if let Some(recorder) = recorder {
            events.values = recorder.values.as_mut_ptr();
            events.heard = recorder.heard.as_mut_ptr();
            events.recorder = Some(recorder);
        }
        events
    }

    /// Before the sweeps of step `step` of the batch.
    ///
    /// # Safety
    /// As for the sweeps.
    #[inline(always)]
    pub(super) unsafe fn before<L: Lanes<Element = T>>(&self, step: usize, row: Row<T>, stretch: &Stretch) {
        // SAFETY: the caller's.
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
        // SAFETY: the caller's: `core` lies in the stretch, so that its sites are there, and in the grid, so that a
        // potential and a peak have a place for each; nobody else works on them.
        unsafe {
            self.damp::<L>(row, stretch);
            self.kick(step + 1, row, stretch);
            self.play(step, row, stretch);
            if core.is_empty() {
                return;
            }
            if !self.potential.is_null() {
                for i in core.clone() {
                    let site = site(row, stretch, i);
                    *self.potential.add(self.layout.index(i, row.j)) += self.time_step * *site.q;
                }
            }
            if let Some(recorder) = self.recorder {
                self.record(recorder, step, row, stretch, core);
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
        // SAFETY: a row of factors is as long as a row of the grid, of which the stretch is a part, wrapped where
        // the row is a ring.
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
            // SAFETY: the caller's; the column is one of the grid.
            unsafe {
                self.at_column(row, stretch, *column, |site| *site.p += *change);
            }
        }
    }

    /// What transducers play after a step.
    #[inline(always)]
    unsafe fn play(&self, step: usize, row: Row<T>, stretch: &Stretch) {
        let Some(played) = self.played.get(step) else { return };
        let first = played.partition_point(|played| played.0 < row.j);
        for (_, column, [q, p]) in played[first..].iter().take_while(|played| played.0 == row.j) {
            // SAFETY: the caller's; the column is one of the grid.
            unsafe {
                self.at_column(row, stretch, *column, |site| {
                    if self.holds {
                        (*site.q, *site.p) = (*q, *p);
                    } else {
                        *site.q += *q;
                        *site.p += *p;
                    }
                });
            }
        }
    }

    /// Changes a column wherever a stretch holds it: around a ring a block may hold one twice.
    #[inline(always)]
    unsafe fn at_column(
        &self,
        row: Row<T>,
        stretch: &Stretch,
        column: usize,
        mut change: impl FnMut(super::pair::Sites<T>),
    ) {
        let nx = self.layout.size[0];
        let mut at = column.cast_signed() - stretch.start;
        if self.layout.periodic[0] {
            at = at.rem_euclid(nx.cast_signed());
        }
        while at >= 0 && at < stretch.columns.cast_signed() {
            // SAFETY: `at` is a column of the stretch.
            unsafe { change(place(row, at.cast_unsigned())) };
            if !self.layout.periodic[0] {
                break;
            }
            at += nx.cast_signed();
        }
    }

    /// What is recorded of the columns `core` of a row.
    unsafe fn record(&self, recorder: &Recorder<T>, step: usize, row: Row<T>, stretch: &Stretch, core: &Range<usize>) {
        for kept in &recorder.kept {
            // SAFETY: the caller's: `core` lies in the stretch and in the grid; every site that is recorded has a place
            // of its own in every step, and nobody else works on this row's.
            unsafe {
                match kept {
                    Kept::Copy(_) if recorder.direct => {}
                    Kept::Copy(window) => self.copy(step * recorder.per_step, window, row, stretch, core),
                    Kept::Reduced(partials) => reduce(step, partials, row, stretch, core),
                }
            }
        }
        let nx = self.layout.size[0];
        let own = row.j * nx + core.start..row.j * nx + core.end;
        let first = recorder.sites.partition_point(|site| *site < own.start);
        for (n, at) in recorder.sites[first..]
            .iter()
            .take_while(|at| **at < own.end)
            .enumerate()
        {
            // SAFETY: the caller's: `core` lies in the stretch and in the grid; every site that is recorded has a place
            // of its own in every step, and nobody else works on this row's.
            unsafe {
                let site = site(row, stretch, at % nx);
                *self.heard.add(step * recorder.sites.len() + first + n) = [*site.q, *site.p];
            }
        }
    }

    /// Copies the columns of a row that a window holds; the numbers of the step begin at `first`.
    unsafe fn copy(&self, first: usize, window: &Window, row: Row<T>, stretch: &Stretch, core: &Range<usize>) {
        if !window.rows.contains(&row.j) {
            return;
        }
        let moving = self.recorder.is_some_and(|recorder| recorder.moving);
        let columns = window.columns.start.max(core.start)..window.columns.end.min(core.end);
        let to = first + window.place(row.j);
        for i in columns {
            // SAFETY: `i` lies in `core`, so that its site is there, and in the window, which has a place for it in
            // each of its two halves.
            unsafe {
                let site = site(row, stretch, i);
                let to = self.values.add(to + i - window.columns.start);
                *to = *site.q;
                *to.add(window.sites()) = if moving {
                    *self.potential.add(self.layout.index(i, row.j))
                } else {
                    *site.p
                };
            }
        }
    }
}

/// Adds up, or finds the largest of, the chunks of a row.
unsafe fn reduce<T: Real>(step: usize, partials: &Partials, row: Row<T>, stretch: &Stretch, core: &Range<usize>) {
    let Some(common) = partials.sites.overlap(row.j, 0, core) else {
        return;
    };
    let mut start = common.start;
    while start < common.end {
        let chunk = start / CHUNK;
        let end = ((chunk + 1) * CHUNK).min(common.end);
        let mut numbers = [T::zero(); CHUNK];
        for (number, i) in numbers[start % CHUNK..].iter_mut().zip(start..end) {
            // SAFETY: the stretch holds the core.
            let value = unsafe { *site(row, stretch, i).q };
            *number = match partials.reduction {
                Reduction::Largest => value.abs(),
                Reduction::Squares => value * value,
                Reduction::Sum => value,
            };
        }
        partials.put(
            step,
            partials.place(row.j, 0, chunk),
            reduce_chunk(&numbers, partials.reduction),
        );
        start = end;
    }
}

/// Column `i` of the grid in a stretch that holds it.
#[inline(always)]
unsafe fn site<T>(row: Row<T>, stretch: &Stretch, i: usize) -> super::pair::Sites<T> {
    debug_assert!(
        (0..stretch.columns.cast_signed()).contains(&(i.cast_signed() - stretch.start)),
        "column {i} is not in {stretch:?}"
    );
    // SAFETY: the caller's: column `i` is one of the stretch.
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
