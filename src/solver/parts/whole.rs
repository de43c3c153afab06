//! All parts of a run as one stepper.

use super::Cut;
use super::member::Member;
use super::outside::Outside;
use crate::backend::ranks::{self, Ranks};
use crate::field::FieldData;
use crate::physics::{Equation, Observables};
use crate::solver::clock::RunClock;
use crate::solver::cut::Plan;
use crate::solver::put_in::PutIn;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::{FieldImage, ImageRequest, PARTS_ALONG, SolverError, Taps};
use bytemuck::Pod;
use rayon::prelude::*;
use std::ops::Range;

/// A grid in parts; those of other processes are asked through `ranks`.
pub(in crate::solver) struct Whole<S> {
    pub(super) setup: Setup,
    pub(super) plan: Plan,
    pub(super) members: Vec<Member<S>>,
    ranks: Option<&'static dyn Ranks>,
    /// What travels to and from other processes.
    outside: Option<Outside>,
    /// Steps since ghosts were copied.
    spent: u64,
}

impl<S: Cut> Whole<S> {
    /// The state at t = 0, of the parts that `make` makes.
    ///
    /// # Errors
    /// Those of `make`.
    pub(in crate::solver) fn new(
        setup: &Setup,
        plan: Plan,
        make: impl Fn(&Setup) -> Result<S, SolverError>,
    ) -> Result<Self, SolverError> {
        let ranks = ranks::world();
        let mine = plan.of_rank(ranks.map_or(0, Ranks::rank), ranks.map_or(1, Ranks::count));
        // Processes on one machine take its devices in turn.
        let held = |rank: &usize| ranks.map_or(mine.len(), |all| plan.of_rank(*rank, all.count()).len());
        let (start, before) = (mine.start, ranks::before_here().iter().map(held).sum::<usize>());
        let device = |place: usize| setup.devices.of_part(before + place - start);
        let members = mine.map(|place| {
            let (first, [below, above]) = plan.window(place);
            let own = plan.parts[place].len();
            let rows = below + own + above;
            let mut window = setup.clone();
            window.scenario = setup.scenario.window(plan.axis, first, rows);
            window.device = device(place);
            let mut stepper = make(&window)?;
            let lines = (setup.scenario.grid().size()[1..plan.axis.max(1)].iter()).product::<usize>();
            stepper.set_core(below * lines..(below + own) * lines);
            Ok(Member {
                stepper,
                place,
                core: below..below + own,
                rows,
                taps: Taps::default(),
            })
        });
        let members = members.collect::<Result<_, SolverError>>()?;
        let mut whole = Self {
            setup: setup.clone(),
            plan,
            members,
            ranks,
            outside: None,
            spent: 0,
        };
        let lines = whole.lines();
        whole.outside = ranks.map(|ranks| Outside::new(ranks, &whole.plan, &mut whole.members, lines));
        #[cfg(feature = "cuda")]
        crate::solver::device::let_reach(whole.members.iter().map(|member| device(member.place)));
        let normalised = setup.scenario.initial().normalised();
        let weight = normalised.then(|| whole.total_weight()).transpose()?;
        for member in &mut whole.members {
            member.stepper.begin(weight)?;
        }
        whole.exchange()?;
        Ok(whole)
    }

    /// Lines along x in a row of the axis that is cut.
    pub(super) fn lines(&self) -> usize {
        if self.plan.axis == 2 {
            self.setup.scenario.grid().size()[1]
        } else {
            1
        }
    }

    /// Gathers values of all processes, in their order.
    pub(super) fn all<N: Pod>(&self, mine: Vec<N>) -> Vec<N> {
        match self.ranks {
            None => mine,
            Some(ranks) => {
                let all = ranks.gather(bytemuck::cast_slice(&mine));
                all.iter()
                    .flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, N>(bytes))
                    .collect()
            }
        }
    }

    /// A value of every line along x of the whole grid, or of every core, from those of the windows.
    fn of_lines<N: Pod + Send>(
        &mut self,
        values: impl Fn(&mut S) -> Result<Vec<N>, SolverError> + Sync,
    ) -> Result<Vec<N>, SolverError> {
        let lines = self.lines();
        let mut mine = Vec::new();
        // Each on its own device, where there are several.
        let all: Vec<Vec<N>> = (self.members.par_iter_mut())
            .map(|member| values(&mut member.stepper))
            .collect::<Result<_, _>>()?;
        for (member, all) in self.members.iter().zip(all) {
            let own = if member.stepper.sums_core() {
                0..all.len()
            } else {
                member.core.start * lines..member.core.end * lines
            };
            mine.extend_from_slice(&all[own]);
        }
        Ok(self.all(mine))
    }

    fn total_weight(&mut self) -> Result<f64, SolverError> {
        let rows = self.of_lines(S::weights)?;
        Ok(self.members[0].stepper.weight_of(&rows))
    }

    /// Copies ghost rows from the parts that own them.
    fn exchange(&mut self) -> Result<(), SolverError> {
        let sizes = [self.plan.ghosts, self.lines()];
        if let Some(outside) = &mut self.outside {
            outside.take(&mut self.members, sizes)?;
            outside.swap(None)?;
        }
        self.hand_out()
    }

    /// Writes all ghost rows; those that another process owns have come.
    fn hand_out(&mut self) -> Result<(), SolverError> {
        let (lines, ghosts, count) = (self.lines(), self.plan.ghosts, self.members.len());
        let mut neighbours: Vec<[usize; 2]> = (1..count).map(|n| [n - 1, n]).collect();
        if self.outside.is_none() && self.plan.ring && count > 1 {
            neighbours.push([count - 1, 0]);
        }
        #[cfg(feature = "cuda")]
        {
            let mut swaps = Vec::with_capacity(neighbours.len());
            neighbours.retain(|pair| {
                let swap = Member::pieces_of_ghosts(&mut self.members, *pair, [ghosts, lines]);
                let through_host = swap.is_none();
                swaps.extend(swap);
                through_host
            });
            crate::backend::cuda::Pieces::exchange_all(&swaps)?;
        }
        for pair in neighbours {
            Member::swap_ghosts(&mut self.members, pair, [ghosts, lines])?;
        }
        if let Some(outside) = &self.outside {
            outside.put(&mut self.members, lines)?;
        }
        self.spent = 0;
        Ok(())
    }

    /// Steps that can be taken from here, at most `left`. Copies the ghost rows first if what is left of them does not serve for all these steps: cutting a launch or a pass short costs more than a
    /// copy.
    fn ready(&mut self, left: u64) -> Result<u64, SolverError> {
        if self.spent > 0 && self.spent.saturating_add(left) > self.plan.steps {
            self.exchange()?;
        }
        Ok(left.min(self.plan.steps))
    }

    /// Takes some steps in all parts, side by side. At the end of a period their ghosts are copied: where a process has more than two parts, what its neighbours need
    /// travels while the inner ones are stepped.
    fn step(
        &mut self,
        steps: u64,
        advance: impl Fn(&mut Member<S>, u64) -> Result<(), SolverError> + Sync,
    ) -> Result<(), SolverError> {
        self.spent += steps;
        let all = |members: &mut [Member<S>]| (members.par_iter_mut()).try_for_each(|member| advance(member, steps));
        let count = self.members.len();
        let (sizes, copied) = ([self.plan.ghosts, self.lines()], self.spent >= self.plan.steps);
        let (Some(outside), true) = (&mut self.outside, copied && count >= 3) else {
            all(&mut self.members)?;
            return if copied { self.exchange() } else { Ok(()) };
        };
        let (first, rest) = self.members.split_at_mut(1);
        let (_, last) = rest.split_at_mut(count - 2);
        let (below, above) = rayon::join(|| all(first), || all(last));
        below.and(above)?;
        outside.take(&mut self.members, sizes)?;
        let mut stepped = Ok(());
        let inner = &mut self.members[1..count - 1];
        outside.swap(Some(&mut || stepped = all(inner)))?;
        stepped?;
        self.hand_out()
    }

    /// Applies a change, after which ghosts are copied before the next step.
    fn change(&mut self, mut change: impl FnMut(&mut S, &Self) -> Result<(), SolverError>) -> Result<(), SolverError> {
        self.exchange()?;
        let mut members = std::mem::take(&mut self.members);
        let changed = members
            .iter_mut()
            .try_for_each(|member| change(&mut member.stepper, self));
        self.members = members;
        self.spent = self.plan.steps;
        changed
    }

    /// Rows of `rows`, counted in the whole grid, that a plane has.
    fn held(plane: &Plane, rows: Range<usize>) -> usize {
        match &plane.rows {
            None => rows.len(),
            Some(held) => (held.iter())
                .map(|held| held.end.min(rows.end).saturating_sub(held.start.max(rows.start)))
                .sum(),
        }
    }

    /// Values of a plane of the whole grid in each of the rows that it has, in each of its blocks.
    fn values_of_row(&self, plane: &Plane, values: usize, rows: usize) -> usize {
        match &plane.rows {
            None => values / plane.blocks / rows,
            // One for each site.
            Some(_) => self.lines() * self.setup.scenario.grid().size()[0],
        }
    }

    /// Joins arrays over the windows, each of some blocks of rows, to one over the whole grid.
    fn join(&self, windows: &[FieldData], plane: &Plane) -> Option<FieldData> {
        let mut joined = windows.first()?.part(0..0);
        for n in 0..plane.blocks {
            let mut mine = joined.part(0..0);
            for (member, window) in self.members.iter().zip(windows) {
                let row = self.values_of_row(plane, window.len(), member.rows);
                let part = &self.plan.parts[member.place];
                let below = if plane.rows.is_some() {
                    Self::held(plane, part.start - member.core.start..part.start)
                } else {
                    member.core.start
                };
                let first = n * (window.len() / plane.blocks) + below * row;
                let values = Self::held(plane, part.clone()) * row;
                mine.append(window.part(first..first + values).bytes());
            }
            match self.ranks {
                None => joined.append(mine.bytes()),
                Some(ranks) => (ranks.gather(mine.bytes()).iter()).for_each(|bytes| joined.append(bytes)),
            }
        }
        Some(joined)
    }

    /// The window of a part on such an array.
    fn window_of(&self, member: &Member<S>, whole: &FieldData, plane: &Plane) -> FieldData {
        let (first, _) = self.plan.window(member.place);
        let rows = self.setup.scenario.grid().size()[self.plan.axis];
        let row = self.values_of_row(plane, whole.len(), rows);
        let block = whole.len() / plane.blocks;
        let mut window = whole.part(0..0);
        for n in 0..plane.blocks {
            let mut at = first;
            let mut left = member.rows;
            while left > 0 {
                let piece = left.min(rows - at);
                let start = n * block + Self::held(plane, 0..at) * row;
                let values = Self::held(plane, at..at + piece) * row;
                window.append(whole.part(start..start + values).bytes());
                at = (at + piece) % rows;
                left -= piece;
            }
        }
        window
    }

    /// What [`Stepper::field`] gives.
    fn field_plane(&self) -> Plane {
        Plane::new("", self.setup.scenario.grid().sites())
    }

    fn is_quantum(&self) -> bool {
        self.setup.scenario.model().equation() == Equation::Schrodinger
    }
}

impl<S: Cut> Stepper for Whole<S> {
    fn parts(&self) -> Parts {
        let own: Vec<Parts> = self.members.iter().map(|member| member.stepper.parts()).collect();
        let processes = self.outside.as_ref().map_or(String::new(), Outside::describe);
        Parts {
            details: format!(
                "{}{PARTS_ALONG}{}{processes}, {} ghost rows copied at least every {} steps; {}",
                self.plan.parts.len(),
                ["x", "y", "z"][self.plan.axis],
                self.plan.ghosts,
                self.plan.steps,
                own[0].details
            ),
            memory: own.iter().map(|parts| parts.memory).sum(),
            batch: self.plan.steps,
            ..own[0].clone()
        }
    }

    fn set_step(&mut self, clock: &RunClock, time_step: f64) -> Result<(), SolverError> {
        let ghosts = self.plan.ghosts;
        match self.members[0].stepper.steps_between(ghosts, time_step) {
            Some(0) => {
                return Err(SolverError::Unsupported(format!(
                    "a step of Δt = {time_step} reaches further than the {ghosts} ghost rows between the parts of this run; take a smaller Δt, or begin a run with this one"
                )));
            }
            Some(steps) => self.plan.steps = steps,
            None => {}
        }
        self.change(|stepper, _| stepper.set_step(clock, time_step))
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        self.exchange()?;
        for member in &mut self.members {
            let (first, _) = self.plan.window(member.place);
            let mut window = setup.clone();
            window.scenario = setup.scenario.window(self.plan.axis, first, member.rows);
            member.stepper.set_medium(&window, clock)?;
        }
        self.spent = self.plan.steps;
        self.setup = setup.clone();
        Ok(())
    }

    fn conjugate(&mut self, clock: &RunClock) -> Result<(), SolverError> {
        self.change(|stepper, _| stepper.conjugate(clock))
    }

    fn advance(&mut self, clock: &RunClock, steps: u64) -> Result<(), SolverError> {
        let mut done = 0;
        while done < steps {
            let piece = self.ready(steps - done)?;
            let from = clock.after(done);
            #[cfg(feature = "cuda")]
            let ghosts = (self.spent + piece >= self.plan.steps).then_some(self.plan.ghosts);
            self.step(piece, |member, steps| {
                #[cfg(feature = "cuda")]
                if let Some(ghosts) = ghosts {
                    member.before_copies(ghosts);
                }
                member.stepper.advance(&from, steps)
            })?;
            done += piece;
        }
        Ok(())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.follow(taps);
        let turn = self.lend_transducers(steps, taps);
        let mut done = 0;
        while done < steps {
            let piece = self.ready(steps - done)?;
            let from = clock.after(done);
            self.step(piece, |member, steps| {
                member.stepper.advance_observed(&from, steps, &mut member.taps)
            })?;
            self.record((1..=piece).map(|step| clock.after(done + step)), true, taps);
            done += piece;
        }
        self.take_transducers(turn, taps);
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.follow(taps);
        let turn = self.lend_transducers(1, taps);
        for member in &mut self.members {
            member.stepper.observe(clock, &mut member.taps)?;
        }
        self.record(std::iter::once(*clock), false, taps);
        self.take_transducers(turn, taps);
        Ok(())
    }

    fn apply_transducers(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        let turn = self.lend_transducers(1, taps);
        for member in &mut self.members {
            member.stepper.apply_transducers(clock, &mut member.taps)?;
        }
        self.take_transducers(turn, taps);
        Ok(())
    }

    fn pace(&mut self) -> Result<(), SolverError> {
        self.members.iter_mut().try_for_each(|member| member.stepper.pace())
    }

    fn norm_drifts_within(&self) -> Option<u64> {
        self.members[0].stepper.norm_drifts_within()
    }

    fn weight(&mut self) -> Result<f64, SolverError> {
        self.total_weight()
    }

    fn scale_to(&mut self, weight: f64) -> Result<(), SolverError> {
        let now = self.total_weight()?;
        for member in &mut self.members {
            member.stepper.scale_from(now, weight);
        }
        Ok(())
    }

    fn counts_put_in(&self) -> bool {
        self.members[0].stepper.counts_put_in()
    }

    fn put_in(&self) -> Option<PutIn> {
        self.sum_put_in()
    }

    fn set_put_in(&mut self, numbers: [f64; 2]) {
        for member in &mut self.members {
            let own = if member.place == 0 { numbers } else { [0.0; 2] };
            member.stepper.set_put_in(own);
        }
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.members
            .iter_mut()
            .try_for_each(|member| member.stepper.keep_velocity())
    }

    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError> {
        let rows: Vec<[f64; NUMBERS]> = self.of_lines(|stepper| stepper.row_sums(clock))?;
        Ok(self.members[0].stepper.sums_of(self.setup.scenario.grid(), &rows))
    }

    fn sums_in_steps(&self) -> bool {
        self.members[0].stepper.sums_in_steps()
    }

    fn image(&mut self, clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let quantum = self.is_quantum();
        self.draw(clock, request, image, quantum)
    }

    fn field(&mut self, clock: &RunClock) -> Result<FieldData, SolverError> {
        let own: Vec<FieldData> = (self.members.iter_mut())
            .map(|member| member.stepper.field(clock))
            .collect::<Result<_, _>>()?;
        let joined = self.join(&own, &self.field_plane());
        joined.ok_or_else(|| SolverError::Unsupported("a process has no part of the grid".to_owned()))
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        let plane = self.field_plane();
        let windows: Vec<FieldData> = self
            .members
            .iter()
            .map(|member| self.window_of(member, field, &plane))
            .collect();
        for (member, window) in self.members.iter_mut().zip(&windows) {
            member.stepper.set_field(clock, window)?;
        }
        self.exchange()
    }

    fn layout(&self) -> Vec<Plane> {
        let rows = self.setup.scenario.grid().size()[self.plan.axis];
        let own = self.members[0].rows;
        let planes = self.members[0].stepper.layout().into_iter();
        let all = planes.map(|plane| Plane {
            values: plane.blocks * self.values_of_row(&plane, plane.values, own) * Self::held(&plane, 0..rows),
            ..plane
        });
        all.collect()
    }

    fn save(&mut self) -> Result<Vec<Option<FieldData>>, SolverError> {
        let mut own: Vec<_> = (self.members.iter_mut())
            .map(|member| member.stepper.save().map(Vec::into_iter))
            .collect::<Result<_, _>>()?;
        // An array that one part keeps is kept by all.
        let planes = self.layout().into_iter().map(|plane| {
            let windows: Vec<FieldData> = own.iter_mut().filter_map(|arrays| arrays.next().flatten()).collect();
            self.join(&windows, &plane)
        });
        Ok(planes.collect())
    }

    fn measured_settings(&self) -> Vec<(&'static str, usize)> {
        self.members[0].stepper.measured_settings()
    }

    fn load(&mut self, clock: &RunClock, arrays: &[Option<&FieldData>]) -> Result<(), SolverError> {
        self.spent = 0;
        let planes = self.layout();
        for n in 0..self.members.len() {
            let windows: Vec<Option<FieldData>> = (arrays.iter().zip(&planes))
                .map(|(array, plane)| array.map(|array| self.window_of(&self.members[n], array, plane)))
                .collect();
            let windows: Vec<Option<&FieldData>> = windows.iter().map(Option::as_ref).collect();
            self.members[n].stepper.load(clock, &windows)?;
        }
        Ok(())
    }
}
