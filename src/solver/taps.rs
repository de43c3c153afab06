//! Taps: what reads or drives single sites, or reads regions, every step.

use super::acoustic::point::{self, Shares};
use super::clock::RunClock;
use super::transducers::{Act, Sites, Transducers};
use crate::field::Real;
use crate::grid::Grid;
use crate::physics::{Detector, Measure, Model, Reading, Region, Sets};
use crate::scene::Scenario;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::borrow::Cow;

/// What rows add to a detector's record, with the rows' numbers j + ny·k.
pub(super) type RowNumbers = Vec<(usize, f64)>;

/// The detectors of a scene at their sites, with what they have recorded, and the transducers of a mirror.
///
/// A method calls [`Taps::apply_transducers`] and then [`Taps::record`] after every step while [`Taps::is_empty`] is false, with access to its closed field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taps {
    taps: Vec<Tap>,
    /// `every[detector]`: the steps at which it records.
    every: Vec<u64>,
    /// What each makes of what it measures, and over how long; no more than the detectors of a scene have.
    readings: Vec<(Reading, Option<f64>)>,
    /// When each recorded first; empty before anything does.
    since: Vec<f64>,
    times: Vec<f64>,
    /// `values[detector][record]`; [`Taps::ABSENT`] where it did not record and another did.
    values: Vec<Vec<f64>>,
    transducers: Option<Transducers>,
    /// What the rows of each detector add to a record, record by record, where parts of a grid keep that instead of values.
    rows: Option<Vec<Vec<RowNumbers>>>,
}

/// One detector at its sites.
#[derive(Clone, Debug, PartialEq)]
pub struct Tap {
    /// What it records.
    pub measure: Measure,
    /// Sites lo ≤ site < hi on every axis.
    pub lo: [usize; 3],
    /// See `lo`.
    pub hi: [usize; 3],
    /// For a flux: the axis across the line, along which the current is counted positive.
    pub across: usize,
    /// a^d for sums over a region, a^(d−1) for a flux.
    pub weight: f64,
    /// Sites and weights of a point between sites whose pressure is recorded, in the order of memory; `lo` and `hi` enclose them. Otherwise empty.
    pub shares: Shares,
}

impl Taps {
    /// Stands for the value of a detector at a step at which it did not record: no number, with bits that no calculation gives.
    pub const ABSENT: f64 = f64::from_bits(0x7ff8_0000_0a65_5e17);

    /// Whether a value of [`Taps::values`] is none.
    #[must_use]
    pub fn is_absent(value: f64) -> bool {
        value.to_bits() == Self::ABSENT.to_bits()
    }

    /// The taps of a scene. Points that record the pressure are interpolated between sites ([`point`]), those of ψ stand at the nearest site.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let mut new = Self::new(scenario.grid(), scenario.detectors());
        new.place(scenario);
        new
    }

    /// Interpolates anew beside the walls of `scenario`, which has the same detectors. Records stay.
    pub fn place(&mut self, scenario: &Scenario) {
        let (grid, medium) = (scenario.grid(), scenario.medium());
        if !matches!(scenario.model(), Model::Acoustic(_)) {
            return;
        }
        let any = medium.has(Sets::Wall);
        let wall = |[i, j, k]: [usize; 3]| {
            let mut wall = [false];
            if any {
                medium.wall_row(j, k, i..i + 1, &mut wall);
            }
            wall[0]
        };
        for (tap, detector) in self.taps.iter_mut().zip(scenario.detectors()) {
            *tap = Tap::new(grid, detector);
            let pressure = matches!(tap.measure, Measure::Value | Measure::Pressure | Measure::Peak);
            if let (Region::Point(at), true) = (&detector.region, pressure) {
                tap.interpolate(point::shares(grid, &point::clamped(grid, *at), wall));
            }
        }
    }

    /// The taps of `detectors` on `grid`, points at the nearest site.
    #[must_use]
    pub fn new(grid: &Grid, detectors: &[Detector]) -> Self {
        let taps: Vec<Tap> = detectors.iter().map(|detector| Tap::new(grid, detector)).collect();
        Self {
            values: vec![Vec::new(); taps.len()],
            every: detectors.iter().map(|detector| detector.every).collect(),
            readings: detectors.iter().map(|own| (own.reading, own.over)).collect(),
            since: Vec::new(),
            taps,
            times: Vec::new(),
            transducers: None,
            rows: None,
        }
    }

    /// Detectors of a part of a grid, which record at the same steps as `self` and keep what their rows add to a record.
    pub(super) fn in_part(&self, taps: Vec<Tap>) -> Self {
        Self {
            values: vec![Vec::new(); taps.len()],
            every: self.every.clone(),
            taps,
            rows: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Whether rows are kept instead of values.
    pub(super) fn keeps_rows(&self) -> bool {
        self.rows.is_some()
    }

    /// Appends the record of a step of a part; those detectors that do not record at it have no rows.
    pub(super) fn push_rows(&mut self, clock: &RunClock, mut rows_of: impl FnMut(usize, &Tap) -> RowNumbers) {
        if !self.any_due(clock) {
            return;
        }
        let record = (self.taps.iter().enumerate())
            .map(|(n, tap)| {
                if self.is_due(n, clock) {
                    rows_of(n, tap)
                } else {
                    Vec::new()
                }
            })
            .collect();
        if let Some(rows) = &mut self.rows {
            rows.push(record);
        }
    }

    /// The records of a part, which are forgotten.
    pub(super) fn take_rows(&mut self) -> Vec<Vec<RowNumbers>> {
        self.rows.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The steps at which each detector records.
    pub(super) fn every(&self) -> &[u64] {
        &self.every
    }

    /// Whether there is nothing to record and no transducer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taps.is_empty() && !self.transducers_act()
    }

    /// Whether a detector needs the velocity of the medium.
    #[must_use]
    pub fn ask_for_velocity(&self) -> bool {
        self.taps.iter().any(Tap::moves)
    }

    /// Whether single sites are heard or driven after the next step.
    #[must_use]
    pub fn transducers_act(&self) -> bool {
        self.transducers
            .as_ref()
            .is_some_and(|transducers| !transducers.is_idle())
    }

    /// Whether single sites are driven after the next step.
    pub(super) fn plays(&self) -> bool {
        self.transducers_act() && self.transducers().is_some_and(|own| own.act() != Act::Record)
    }

    /// Lets the transducers do what is due after a step.
    pub fn apply_transducers(&mut self, field: &mut impl Sites) {
        if let Some(transducers) = &mut self.transducers {
            transducers.apply(field);
        }
    }

    /// The transducers, where there are any.
    #[must_use]
    pub fn transducers(&self) -> Option<&Transducers> {
        self.transducers.as_ref()
    }

    /// The same, to be changed.
    pub fn transducers_mut(&mut self) -> &mut Option<Transducers> {
        &mut self.transducers
    }

    /// The detectors at their sites.
    #[must_use]
    pub fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// Whether a detector records at this step.
    pub(super) fn is_due(&self, detector: usize, clock: &RunClock) -> bool {
        clock.steps().is_multiple_of(self.every[detector])
    }

    /// Whether any does.
    pub(super) fn any_due(&self, clock: &RunClock) -> bool {
        (0..self.taps.len()).any(|n| self.is_due(n, clock))
    }

    /// Steps, from 1 to `most`, until a detector records next, or `most` if none does before; 1 while transducers act after every step.
    pub(super) fn until_due(&self, clock: &RunClock, most: u64) -> u64 {
        if self.transducers_act() {
            return 1;
        }
        self.until_due_of(clock, most, |_| true)
    }

    /// Steps, from 1 to `most`, until one of some detectors records next, or `most` if none does before.
    pub(super) fn until_due_of(&self, clock: &RunClock, most: u64, some: impl Fn(&Tap) -> bool) -> u64 {
        let all = self.taps.iter().zip(&self.every).filter(|(tap, _)| some(tap));
        let next = all.map(|(_, every)| every - clock.steps() % every).min();
        next.map_or(most, |next| next.min(most)).max(1)
    }

    /// Whether every detector records at every step.
    #[must_use]
    pub fn records_all(&self) -> bool {
        self.every.iter().all(|every| *every == 1)
    }

    /// Appends the record of a step: the values of those detectors that record at it.
    pub(super) fn record(&mut self, clock: &RunClock, mut value: impl FnMut(usize, &Tap) -> f64) {
        let now: Vec<f64> = (self.taps.iter().enumerate())
            .map(|(n, tap)| {
                if self.is_due(n, clock) {
                    value(n, tap)
                } else {
                    Self::ABSENT
                }
            })
            .collect();
        self.push(clock, &now);
    }

    /// Appends the record of a step whose values are known, in the order of [`Taps::taps`]; those of detectors that do not record at it are left.
    pub(super) fn push(&mut self, clock: &RunClock, now: &[f64]) {
        if !self.any_due(clock) {
            return;
        }
        self.times.push(clock.time());
        for (n, &now) in now.iter().enumerate() {
            let mut now = if self.is_due(n, clock) { now } else { Self::ABSENT };
            if self.taps[n].measure == Measure::Peak && !Self::is_absent(now) {
                now = now.max(self.latest(n).unwrap_or(0.0));
            }
            if !Self::is_absent(now) {
                now = self.reading(n, clock.time(), now);
            }
            self.values[n].push(now);
        }
    }

    /// What a detector makes of a value that it measured now, before that is recorded.
    fn reading(&mut self, detector: usize, time: f64, value: f64) -> f64 {
        let (reading, over) = self.readings.get(detector).copied().unwrap_or_default();
        if reading == Reading::Itself {
            return value;
        }
        let last = (self.values[detector].iter()).rposition(|value| !Self::is_absent(*value));
        let Some(last) = last else {
            self.since.resize(self.taps.len(), time);
            self.since[detector] = time;
            return reading.after(None, value, [0.0; 2], over);
        };
        let since = self.since.get(detector).copied().unwrap_or(0.0);
        let passed = [self.times[last], since].map(|then| (time - then).abs());
        reading.after(Some(self.values[detector][last]), value, passed, over)
    }

    /// The last value that a detector recorded.
    #[must_use]
    pub fn latest(&self, detector: usize) -> Option<f64> {
        let values = self.values[detector].iter().rev();
        values.copied().find(|value| !Self::is_absent(*value))
    }

    /// Times and values of one detector, without the records of others.
    #[must_use]
    pub fn series(&self, detector: usize) -> (Cow<'_, [f64]>, Cow<'_, [f64]>) {
        let values = &self.values[detector];
        if !values.iter().any(|value| Self::is_absent(*value)) {
            return (Cow::Borrowed(&self.times), Cow::Borrowed(values));
        }
        let own = self
            .times
            .iter()
            .zip(values)
            .filter(|(_, value)| !Self::is_absent(**value));
        let (times, values): (Vec<f64>, Vec<f64>) = own.unzip();
        (Cow::Owned(times), Cow::Owned(values))
    }

    /// Times of the records: of all steps at which any detector recorded.
    #[must_use]
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The records of one detector, as long as [`Taps::times`]; [`Taps::ABSENT`] where it did not record.
    #[must_use]
    pub fn values(&self, detector: usize) -> &[f64] {
        &self.values[detector]
    }

    /// Takes over records that were made before, e.g. from a checkpoint; those that do not fit the detectors are left.
    pub fn restore(&mut self, times: Vec<f64>, values: Vec<Vec<f64>>) {
        if values.len() == self.taps.len() && values.iter().all(|records| records.len() == times.len()) {
            let first = |values: &Vec<f64>| values.iter().position(|value| !Self::is_absent(*value));
            let of = |values| first(values).map_or(0.0, |first: usize| times[first]);
            let itself = (self.readings.iter()).all(|(reading, _)| *reading == Reading::Itself);
            self.since = if itself {
                Vec::new()
            } else {
                values.iter().map(of).collect()
            };
            self.times = times;
            self.values = values;
        }
    }

    /// Forgets every other record of every detector but keeps the last: a run without end needs an end of its records.
    pub fn thin(&mut self) {
        let mut kept = vec![false; self.times.len()];
        for values in &mut self.values {
            let mut later = 0;
            for (value, kept) in values.iter_mut().zip(&mut kept).rev() {
                if Self::is_absent(*value) {
                    continue;
                }
                if later % 2 == 0 {
                    *kept = true;
                } else {
                    *value = Self::ABSENT;
                }
                later += 1;
            }
        }
        self.keep(&kept);
    }

    /// Forgets all records but the last of every detector.
    pub fn keep_last(&mut self) {
        let mut kept = vec![false; self.times.len()];
        for values in &mut self.values {
            let last = values.iter().rposition(|value| !Self::is_absent(*value));
            for (n, value) in values.iter_mut().enumerate() {
                if Some(n) == last {
                    kept[n] = true;
                } else {
                    *value = Self::ABSENT;
                }
            }
        }
        self.keep(&kept);
    }

    /// Forgets the records of some steps.
    fn keep(&mut self, kept: &[bool]) {
        let retain = |list: &mut Vec<f64>| {
            let mut kept = kept.iter();
            list.retain(|_| kept.next().copied().unwrap_or(true));
        };
        retain(&mut self.times);
        self.values.iter_mut().for_each(retain);
    }

    /// Forgets everything recorded (the geometry changed, or the run starts anew).
    pub fn clear(&mut self) {
        self.times.clear();
        for values in &mut self.values {
            values.clear();
        }
    }
}

impl Tap {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "clamped to the grid"
    )]
    fn new(grid: &Grid, detector: &Detector) -> Self {
        let a = grid.spacing();
        let size = grid.size();
        let rank = grid.rank();
        let nearest = |axis: usize, at: f64| (at / a).round().clamp(0.0, (size[axis] - 1) as f64) as usize;
        let mut lo = [0; 3];
        let mut hi = size;
        let mut across = 0;
        match &detector.region {
            Region::Everywhere => {}
            Region::Point(at) => {
                for axis in 0..rank {
                    lo[axis] = nearest(axis, at[axis]);
                    hi[axis] = lo[axis] + 1;
                }
            }
            Region::Line { from, to } => {
                for axis in 0..rank {
                    let (p, q) = (nearest(axis, from[axis]), nearest(axis, to[axis]));
                    lo[axis] = p.min(q);
                    hi[axis] = p.max(q) + 1;
                }
                // The line stands across the axis along which it extends least.
                across = (0..rank).min_by_key(|&axis| hi[axis] - lo[axis]).unwrap_or(0);
            }
            Region::Box { min, max } => {
                for axis in 0..rank {
                    let first = ((min[axis] / a - 1e-9).ceil().max(0.0) as usize).min(size[axis]);
                    let last = ((max[axis] / a + 1e-9).floor() + 1.0).clamp(0.0, size[axis] as f64) as usize;
                    lo[axis] = first;
                    hi[axis] = last.max(first);
                }
            }
        }
        let power = if detector.measure == Measure::Flux {
            rank - 1
        } else {
            rank
        };
        Self {
            measure: detector.measure,
            lo,
            hi,
            across,
            weight: a.powi(i32::try_from(power).unwrap_or(3)),
            shares: Vec::new(),
        }
    }

    /// Whether energy or its flux is recorded.
    #[must_use]
    pub fn moves(&self) -> bool {
        matches!(self.measure, Measure::Energy | Measure::Flux)
    }

    /// Reads several sites instead of one.
    fn interpolate(&mut self, shares: Shares) {
        if shares.len() < 2 {
            return;
        }
        for axis in 0..3 {
            let places = || shares.iter().map(|(site, _)| site[axis]);
            self.lo[axis] = places().min().unwrap_or(0);
            self.hi[axis] = places().max().unwrap_or(0) + 1;
        }
        self.shares = shares;
    }

    /// The value from what was taken of its rows, in their order.
    pub(super) fn value_of_rows(&self, values: &[f64]) -> f64 {
        if !self.shares.is_empty() {
            return self.interpolated(values.iter().copied());
        }
        let sum = || values.iter().sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        match self.measure {
            Measure::Peak => values.iter().fold(0.0, |most: f64, value| most.max(*value)),
            Measure::Value => values.first().copied().unwrap_or(0.0),
            Measure::Pressure => {
                let sites: usize = (0..3).map(|axis| self.hi[axis].saturating_sub(self.lo[axis])).product();
                if sites > 0 { sum() / sites as f64 } else { 0.0 }
            }
            Measure::Probability | Measure::Energy | Measure::Flux => sum() * self.weight,
        }
    }

    /// The value of an acoustic detector between sites from those of [`Tap::shares`].
    pub fn interpolated(&self, values: impl Iterator<Item = f64>) -> f64 {
        let sum: f64 = self
            .shares
            .iter()
            .zip(values)
            .map(|((_, weight), value)| weight * value)
            .sum();
        if self.measure == Measure::Peak { sum.abs() } else { sum }
    }

    /// The value of a quantum detector; `psi` gives ψ at a site, `hopping` is J. Energy is
    /// not local on a lattice and is taken from the observables instead.
    ///
    /// The current through a bond from site n to n+1 is 2J Im(ψₙ* ψₙ₊₁) a^d, i.e. probability per unit of time.
    pub fn quantum(&self, grid: &Grid, hopping: f64, psi: impl Fn([usize; 3]) -> Complex64) -> f64 {
        let mut sum = 0.0;
        let mut largest: f64 = 0.0;
        for k in self.lo[2]..self.hi[2] {
            for j in self.lo[1]..self.hi[1] {
                for i in self.lo[0]..self.hi[0] {
                    let here = psi([i, j, k]);
                    match self.measure {
                        Measure::Value => return here.norm(),
                        Measure::Flux => {
                            let mut next = [i, j, k];
                            next[self.across] += 1;
                            if next[self.across] < grid.size()[self.across] {
                                sum += 2.0 * hopping * (here.conj() * psi(next)).im;
                            }
                        }
                        Measure::Peak => largest = largest.max(here.norm_sqr()),
                        _ => sum += here.norm_sqr(),
                    }
                }
            }
        }
        match self.measure {
            Measure::Peak => largest,
            Measure::Flux => sum * grid.cell_volume(),
            _ => sum * self.weight,
        }
    }

    /// Σ|ψ|² a^d, or the largest |ψ|² of a peak. `read(j, k, out)` writes ψ at sites lo[0]..hi[0] of row (j, k); rows are read by all threads and added up in order.
    pub(super) fn density<T: Real>(&self, read: impl Fn(usize, usize, &mut [Complex<T>]) + Sync + Send) -> f64 {
        let sites = self.hi[0].saturating_sub(self.lo[0]);
        let scratch = || vec![Complex::default(); sites];
        if self.measure == Measure::Peak {
            let rows = self.of_rows(scratch, |psi: &mut Vec<Complex<T>>, j, k| {
                read(j, k, psi);
                psi.iter().fold(0.0, |most: f64, site| most.max(site.norm_sqr().wide()))
            });
            return rows.into_iter().fold(0.0, f64::max);
        }
        self.sum_of_rows(scratch, |psi: &mut Vec<Complex<T>>, j, k| {
            read(j, k, psi);
            // Sums beside each other, which vectors take.
            let mut sums = [0.0; 8];
            for part in psi.chunks(8) {
                for (sum, site) in sums.iter_mut().zip(part) {
                    *sum += site.norm_sqr().wide();
                }
            }
            sums.iter().sum()
        })
    }

    /// a^d times the sum over rows (j, k) of a region, by all threads; the order of additions is always the same. `scratch` makes what `row` works with.
    pub(super) fn sum_of_rows<S>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        row: impl Fn(&mut S, usize, usize) -> f64 + Sync + Send,
    ) -> f64 {
        self.of_rows(scratch, row).iter().sum::<f64>() * self.weight
    }

    /// A number of each row of a region.
    fn of_rows<S>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        row: impl Fn(&mut S, usize, usize) -> f64 + Sync + Send,
    ) -> Vec<f64> {
        /// Rows below which a task costs more than it gains.
        const FEWEST: usize = 16;
        let count = self.hi[1].saturating_sub(self.lo[1]);
        let rows = count * self.hi[2].saturating_sub(self.lo[2]);
        (0..rows)
            .into_par_iter()
            .with_min_len(FEWEST)
            .map_init(scratch, |scratch, n| {
                row(scratch, self.lo[1] + n % count, self.lo[2] + n / count)
            })
            .collect()
    }

    /// The value of an acoustic detector. `row(j, k, out)` writes, for sites `lo[0]..hi[0]` of row (j, k), what the measure asks for: the pressure,
    /// the energy per a^d, or for a flux the energy that flows along `across` to the next site per a^(d−1).
    pub fn acoustic(&self, mut row: impl FnMut(usize, usize, &mut [f64])) -> f64 {
        let mut values = vec![0.0; self.hi[0].saturating_sub(self.lo[0])];
        if !self.shares.is_empty() {
            let mut read = None;
            return self.interpolated(self.shares.iter().map(|([i, j, k], _)| {
                if read.replace((*j, *k)) != Some((*j, *k)) {
                    row(*j, *k, &mut values);
                }
                values[i - self.lo[0]]
            }));
        }
        let (mut sum, mut squares, mut largest, mut count) = (0.0, 0.0, 0.0f64, 0.0);
        for k in self.lo[2]..self.hi[2] {
            for j in self.lo[1]..self.hi[1] {
                row(j, k, &mut values);
                for value in &values {
                    if self.measure == Measure::Value {
                        return *value;
                    }
                    sum += value;
                    squares += value * value;
                    largest = largest.max(value.abs());
                    count += 1.0;
                }
            }
        }
        match self.measure {
            Measure::Peak => largest,
            Measure::Probability => squares * self.weight,
            Measure::Energy | Measure::Flux => sum * self.weight,
            Measure::Value | Measure::Pressure => {
                if count > 0.0 {
                    sum / count
                } else {
                    0.0
                }
            }
        }
    }
}
