//! Taps: detectors and transducers, which read regions or single sites, or drive sites, in every step.

mod averaged;
mod forces;
mod tap;
mod velocity;

pub use tap::Tap;

use super::Clock;
use super::acoustic::point;
use super::clock::RunClock;
use super::row_numbers::NUMBERS;
use super::transducers::{Act, Sites, Transducers};
use crate::field::FieldData;
use crate::grid::Grid;
use crate::physics::{Detector, Measure, Model, Observables, Reading, Region, Sets, Source};
use crate::scene::Scenario;
use averaged::Averaged;
use std::borrow::Cow;
use velocity::Velocity;

/// The name of the state of velocities in a checkpoint.
const VELOCITIES: &str = "taps.velocities";

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
    /// Those that record velocities, with their numbers.
    velocities: Vec<(usize, Velocity)>,
    /// The sources whose forces they know, and half the order in space with which these play.
    felt: Option<(Vec<Source>, usize)>,
    /// What each needs to go on with a mean; empty before the first record of one.
    averaged: Vec<Averaged>,
    times: Vec<f64>,
    /// `values[detector][record]`; [`Taps::ABSENT`] where it did not record and another did.
    values: Vec<Vec<f64>>,
    transducers: Option<Transducers>,
    /// What the rows of each detector add to a record, record by record, where parts of a grid keep that instead of values.
    rows: Option<Vec<Vec<RowNumbers>>>,
    /// Steps from one measurement of the observables to the next, where a method takes them within its steps, and those since [`Taps::take_observed`].
    observed_every: Option<u64>,
    observed: Vec<(Clock, Observables)>,
    /// What every row adds to those, step by step, where parts of a grid keep that.
    observed_rows: Vec<[f64; NUMBERS]>,
    /// The detectors of the whole grid, where these are those of a part; otherwise empty.
    whole: Vec<Tap>,
}

/// Whether a site is a wall.
fn is_wall(scenario: &Scenario, [i, j, k]: [usize; 3]) -> bool {
    let mut wall = [false];
    let medium = scenario.medium();
    if medium.has(Sets::Wall) {
        medium.wall_row(j, k, i..i + 1, &mut wall);
    }
    wall[0]
}

impl Taps {
    /// Stands for the value of a detector at a step at which it did not record: no number, with bits that no calculation gives.
    pub const ABSENT: f64 = f64::from_bits(0x7ff8_0000_0a65_5e17);

    /// Whether a value of [`Taps::values`] is absent.
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
        let Model::Acoustic(acoustic) = scenario.model() else {
            return;
        };
        self.felt = None;
        let any = medium.has(Sets::Wall);
        let wall = |site| is_wall(scenario, site);
        for (n, (tap, detector)) in self.taps.iter_mut().zip(scenario.detectors()).enumerate() {
            *tap = Tap::new(grid, detector);
            let pressure = matches!(tap.measure, Measure::Value | Measure::Pressure | Measure::Peak);
            if let (Region::Point(at), true) = (&detector.region, pressure) {
                if detector.measure != Measure::Velocity {
                    tap.interpolate(point::shares(grid, &point::within(grid, *at), wall));
                    continue;
                }
                tap.read_shares(velocity::gradient(
                    grid,
                    *at,
                    detector.direction,
                    (wall, medium.has(Sets::Impedance)),
                ));
                let [i, j, k] = grid.nearest(*at);
                let mut density = [0.0];
                medium.density_row(acoustic.density, j, k, i..i + 1, &mut density);
                match self.velocities.iter_mut().find(|(place, _)| *place == n) {
                    Some((_, known)) => known.density = density[0],
                    None => self.velocities.push((n, Velocity::new(density[0]))),
                }
            } else if any && tap.measure == Measure::Pressure {
                tap.open = Some(tap.open_sites(scenario));
            }
        }
    }

    /// Whether any detector records the velocity.
    pub(super) fn hear_velocity(&self) -> bool {
        !self.velocities.is_empty()
    }

    /// Lets detectors of the velocity know the forces of a scene's sources, which play with this half of the order in space; `scenario` has the same detectors.
    pub(super) fn feel(&mut self, scenario: &Scenario, half: usize) {
        let known = (self.felt.as_ref()).is_some_and(|(sources, own)| sources == scenario.sources() && *own == half);
        if known {
            return;
        }
        let (grid, sources) = (scenario.grid(), scenario.sources());
        for (n, velocity) in &mut self.velocities {
            if let Some((Region::Point(at), direction)) =
                (scenario.detectors().get(*n)).map(|own| (&own.region, own.direction))
            {
                let place = (*at, direction);
                velocity.forces = {
                    let takes = scenario.medium().has(Sets::Impedance);
                    forces::felt((grid, sources, half), place, (|site| is_wall(scenario, site), takes))
                };
            }
        }
        self.felt = Some((sources.to_vec(), half));
    }

    /// The taps of `detectors` on `grid`, points at the nearest site.
    #[must_use]
    pub fn new(grid: &Grid, detectors: &[Detector]) -> Self {
        let taps: Vec<Tap> = detectors.iter().map(|detector| Tap::new(grid, detector)).collect();
        Self {
            values: vec![Vec::new(); taps.len()],
            every: detectors.iter().map(|detector| detector.every).collect(),
            readings: detectors.iter().map(|own| (own.reading, own.over)).collect(),
            velocities: Vec::new(),
            felt: None,
            averaged: Vec::new(),
            taps,
            times: Vec::new(),
            transducers: None,
            rows: None,
            observed_every: None,
            observed: Vec::new(),
            observed_rows: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// The same detectors, which record at every step.
    #[must_use]
    pub fn at_every_step(mut self) -> Self {
        self.every.fill(1);
        self
    }

    /// Detectors of a part of a grid, which record at the same steps as `self` and keep what their rows add to a record.
    pub(super) fn in_part(&self, taps: Vec<Tap>) -> Self {
        Self {
            values: vec![Vec::new(); taps.len()],
            every: self.every.clone(),
            taps,
            rows: Some(Vec::new()),
            whole: self.taps.clone(),
            ..Self::default()
        }
    }

    /// The detectors of the whole grid, of which those of a part are pieces.
    pub(super) fn whole(&self) -> &[Tap] {
        if self.rows.is_some() { &self.whole } else { &self.taps }
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
    pub fn is_empty(&self) -> bool {
        self.taps.is_empty() && !self.transducers_act() && self.observed_every.is_none()
    }

    /// Asks for the observables of every n-th step, or for none; of a method that has them within its steps ([`Solver::sums_in_steps`](super::Solver::sums_in_steps)).
    pub fn observe_every(&mut self, every: Option<u64>) {
        self.observed_every = every.map(|every| every.max(1));
    }

    /// The observables since the last call, and the clocks at which they were taken.
    pub fn take_observed(&mut self) -> Vec<(Clock, Observables)> {
        std::mem::take(&mut self.observed)
    }

    /// Steps from one measurement of the observables to the next, where they are asked for.
    pub(super) fn observed_every(&self) -> Option<u64> {
        self.observed_every
    }

    /// Whether the observables of a step are asked for.
    pub(super) fn is_observed(&self, clock: &RunClock) -> bool {
        self.observed_every
            .is_some_and(|every| clock.steps().is_multiple_of(every))
    }

    /// Steps, from 1 to `most`, until they are asked for next.
    pub(super) fn until_observed(&self, clock: &RunClock, most: u64) -> u64 {
        let next = self.observed_every.map(|every| every - clock.steps() % every);
        next.map_or(most, |next| next.min(most)).max(1)
    }

    /// Keeps the observables of a step.
    pub(super) fn push_observed(&mut self, clock: &RunClock, observables: Observables) {
        self.observed.push((clock.public(), observables));
    }

    /// Keeps what the rows of a part add to the observables of a step.
    pub(super) fn push_observed_rows(&mut self, rows: impl Iterator<Item = [f64; NUMBERS]>) {
        self.observed_rows.extend(rows);
    }

    /// Those of a part, which are forgotten.
    pub(super) fn take_observed_rows(&mut self) -> Vec<[f64; NUMBERS]> {
        std::mem::take(&mut self.observed_rows)
    }

    /// Whether a detector needs the velocity of the medium.
    pub fn ask_for_velocity(&self) -> bool {
        self.taps.iter().any(Tap::moves)
    }

    /// Whether single sites are recorded or driven after the next step.
    pub fn transducers_act(&self) -> bool {
        self.transducers
            .as_ref()
            .is_some_and(|transducers| !transducers.is_idle())
    }

    /// Whether single sites are driven after the next step.
    pub(super) fn plays(&self) -> bool {
        self.transducers_act() && self.transducers().is_some_and(|own| own.act() != Act::Record)
    }

    /// Lets the transducers act after a step.
    pub fn apply_transducers(&mut self, field: &mut impl Sites) {
        if let Some(transducers) = &mut self.transducers {
            transducers.apply(field);
        }
    }

    /// The transducers, where there are any.
    pub fn transducers(&self) -> Option<&Transducers> {
        self.transducers.as_ref()
    }

    /// The same, to be changed.
    pub fn transducers_mut(&mut self) -> &mut Option<Transducers> {
        &mut self.transducers
    }

    /// The detectors at their sites.
    pub fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// Whether a detector records at this step.
    pub(super) fn is_due(&self, detector: usize, clock: &RunClock) -> bool {
        let every = self.every[detector];
        every == 1 || clock.steps().is_multiple_of(every)
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

    /// Steps, from 1 to `most`, until one of some detectors (by number) records next, or `most` if none does before.
    pub(super) fn until_due_of(&self, clock: &RunClock, most: u64, some: impl Fn(usize) -> bool) -> u64 {
        let all = self.every.iter().enumerate().filter(|(n, _)| some(*n));
        let next = all.map(|(_, every)| every - clock.steps() % every).min();
        next.map_or(most, |next| next.min(most)).max(1)
    }

    /// Whether every detector records at every step.
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
                if let Some((_, velocity)) = self.velocities.iter_mut().find(|(place, _)| *place == n) {
                    now = velocity.after(clock.time(), now);
                }
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
        if last.is_none() {
            self.averaged.resize(self.taps.len(), Averaged::default());
            self.averaged[detector].since = time;
        }
        let Averaged { since, last: measured } = self.averaged.get(detector).copied().unwrap_or_default();
        if let Some(own) = self.averaged.get_mut(detector) {
            own.last = Some(value);
        }
        let Some(last) = last else {
            return reading.after(None, [value; 2], [0.0; 2], over);
        };
        let passed = [self.times[last], since].map(|then| (time - then).abs());
        let ends = [measured.unwrap_or(value), value];
        reading.after(Some(self.values[detector][last]), ends, passed, over)
    }

    /// The last value that a detector recorded.
    pub fn latest(&self, detector: usize) -> Option<f64> {
        let values = self.values[detector].iter().rev();
        values.copied().find(|value| !Self::is_absent(*value))
    }

    /// Times and values of one detector, without the records of others.
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
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The records of one detector, as long as [`Taps::times`]; [`Taps::ABSENT`] where it did not record.
    pub fn values(&self, detector: usize) -> &[f64] {
        &self.values[detector]
    }

    /// Takes over records that were made before, e.g. from a checkpoint, without what [`Taps::take`] reads; those that do not fit the detectors are ignored.
    pub fn restore(&mut self, times: Vec<f64>, values: Vec<Vec<f64>>) {
        if values.len() == self.taps.len() && values.iter().all(|records| records.len() == times.len()) {
            let first = |values: &Vec<f64>| values.iter().position(|value| !Self::is_absent(*value));
            let of = |values| Averaged {
                since: first(values).map_or(0.0, |first: usize| times[first]),
                last: None,
            };
            let itself = (self.readings.iter()).all(|(reading, _)| *reading == Reading::Itself);
            self.averaged = if itself {
                Vec::new()
            } else {
                values.iter().map(of).collect()
            };
            self.times = times;
            self.values = values;
        }
    }

    /// The state of means and velocities, by name, for a checkpoint.
    pub(crate) fn store(&self, arrays: &mut Vec<(String, FieldData)>) {
        averaged::store(&self.averaged, arrays);
        if !self.velocities.is_empty() {
            let all = self.velocities.iter().flat_map(|(_, velocity)| velocity.numbers());
            arrays.push((VELOCITIES.to_owned(), FieldData::Float64(all.collect())));
        }
    }

    /// Reads that state from a checkpoint; what does not fit is ignored.
    pub(crate) fn take(&mut self, arrays: &mut Vec<(String, FieldData)>) {
        averaged::take(&mut self.averaged, arrays);
        let Some(place) = arrays.iter().position(|(name, _)| name == VELOCITIES) else {
            return;
        };
        if let FieldData::Float64(numbers) = arrays.remove(place).1 {
            for ((_, velocity), numbers) in self.velocities.iter_mut().zip(numbers.chunks_exact(3)) {
                velocity.restore([numbers[0], numbers[1], numbers[2]]);
            }
        }
    }

    /// Forgets every other record of every detector but keeps the last, so that a run without end has bounded records.
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
        self.observed.clear();
        self.observed_rows.clear();
        for values in &mut self.values {
            values.clear();
        }
        for (_, velocity) in &mut self.velocities {
            velocity.restore([f64::NAN; 3]);
        }
    }
}
