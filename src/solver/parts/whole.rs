//! All parts of a run as one stepper.

use super::Cut;
use crate::backend::ranks::{self, Ranks};
use crate::field::FieldData;
use crate::physics::{Equation, Observables};
use crate::solver::clock::RunClock;
use crate::solver::cut::Plan;
use crate::solver::setup::Setup;
use crate::solver::stepper::{Parts, Plane, Stepper};
use crate::solver::totals::NUMBERS;
use crate::solver::{FieldImage, ImageRequest, SolverError, Taps};
use bytemuck::Pod;
use std::ops::Range;

/// A part: a stepper on its window.
pub(super) struct Member<S> {
    pub(super) stepper: S,
    /// Its place among all parts.
    pub(super) place: usize,
    /// Its own rows along the axis that is cut, counted in its window.
    pub(super) core: Range<usize>,
    /// Rows of its window along that axis.
    pub(super) rows: usize,
    /// The detectors in its window.
    pub(super) taps: Taps,
}

/// A grid in parts; those of other processes are asked through `ranks`.
pub(in crate::solver) struct Whole<S> {
    pub(super) setup: Setup,
    pub(super) plan: Plan,
    pub(super) members: Vec<Member<S>>,
    ranks: Option<&'static dyn Ranks>,
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
        let members = mine.map(|place| {
            let (first, [below, above]) = plan.window(place);
            let own = plan.parts[place].len();
            let rows = below + own + above;
            let mut window = setup.clone();
            window.scenario = setup.scenario.window(plan.axis, first, rows);
            Ok(Member {
                stepper: make(&window)?,
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
            spent: 0,
        };
        let weight = setup.scenario.initial().normalised().then(|| whole.total_weight());
        for member in &mut whole.members {
            member.stepper.begin(weight)?;
        }
        whole.exchange();
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

    /// What all processes bring, in their order.
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

    /// A value of every line along x of the whole grid, from those of the windows.
    fn of_lines<N: Pod>(&mut self, mut values: impl FnMut(&mut S) -> Vec<N>) -> Vec<N> {
        let lines = self.lines();
        let mine = self.members.iter_mut().flat_map(|member| {
            let all = values(&mut member.stepper);
            all[member.core.start * lines..member.core.end * lines].to_vec()
        });
        let mine = mine.collect();
        self.all(mine)
    }

    fn total_weight(&mut self) -> f64 {
        self.of_lines(S::weights).iter().sum()
    }

    /// Copies ghost rows from those who own them.
    fn exchange(&mut self) {
        let lines = self.lines();
        let ghosts = self.plan.ghosts;
        let mut down = Vec::new();
        let mut up = Vec::new();
        for member in &mut self.members {
            let core = &member.core;
            let mut read = |rows: Range<usize>| {
                let mut bytes = Vec::new();
                member
                    .stepper
                    .read_rows(rows.start * lines..rows.end * lines, &mut bytes);
                bytes
            };
            down.push(read(core.start..core.start + ghosts));
            up.push(read(core.end - ghosts..core.end));
        }
        let count = self.members.len();
        let (first, last) = (&down[0], &up[count - 1]);
        let [before, after] = match self.ranks {
            Some(ranks) => ranks.swap(first, last),
            None => [last.clone(), first.clone()],
        };
        for (n, member) in self.members.iter_mut().enumerate() {
            let below = if n == 0 { &before } else { &up[n - 1] };
            let above = down.get(n + 1).unwrap_or(&after);
            if member.core.start > 0 {
                member.stepper.write_rows(0..member.core.start * lines, below);
            }
            if member.core.end < member.rows {
                let rows = member.core.end * lines..member.rows * lines;
                member.stepper.write_rows(rows, above);
            }
        }
        self.spent = 0;
    }

    /// Steps that can be taken from here, at most `left`; ghosts are copied where they are spent.
    fn ready(&mut self, left: u64) -> u64 {
        if self.spent >= self.plan.steps {
            self.exchange();
        }
        left.min(self.plan.steps - self.spent)
    }

    /// Applies a change, after which ghosts are copied before the next step.
    fn change(&mut self, mut change: impl FnMut(&mut S, &Self) -> Result<(), SolverError>) -> Result<(), SolverError> {
        self.exchange();
        let mut members = std::mem::take(&mut self.members);
        let changed = members
            .iter_mut()
            .try_for_each(|member| change(&mut member.stepper, self));
        self.members = members;
        self.spent = self.plan.steps;
        changed
    }

    /// Joins arrays over the windows, each of some blocks of rows, to one over the whole grid.
    fn join(&self, windows: &[FieldData], blocks: usize) -> Option<FieldData> {
        let mut joined = windows.first()?.part(0..0);
        for n in 0..blocks {
            let mut mine = joined.part(0..0);
            for (member, window) in self.members.iter().zip(windows) {
                let (block, row) = (window.len() / blocks, window.len() / blocks / member.rows);
                let first = n * block + member.core.start * row;
                mine.append(window.part(first..first + member.core.len() * row).bytes());
            }
            match self.ranks {
                None => joined.append(mine.bytes()),
                Some(ranks) => (ranks.gather(mine.bytes()).iter()).for_each(|bytes| joined.append(bytes)),
            }
        }
        Some(joined)
    }

    /// The window of a part on such an array.
    fn window_of(&self, member: &Member<S>, whole: &FieldData, blocks: usize) -> FieldData {
        let (first, _) = self.plan.window(member.place);
        let rows = self.setup.scenario.grid().size()[self.plan.axis];
        let (block, row) = (whole.len() / blocks, whole.len() / blocks / rows);
        let mut window = whole.part(0..0);
        for n in 0..blocks {
            let mut at = first;
            let mut left = member.rows;
            while left > 0 {
                let piece = left.min(rows - at);
                let start = n * block + at * row;
                window.append(whole.part(start..start + piece * row).bytes());
                at = (at + piece) % rows;
                left -= piece;
            }
        }
        window
    }

    fn is_quantum(&self) -> bool {
        self.setup.scenario.model().equation() == Equation::Schrodinger
    }
}

impl<S: Cut> Stepper for Whole<S> {
    fn parts(&self) -> Parts {
        let own: Vec<Parts> = self.members.iter().map(|member| member.stepper.parts()).collect();
        let processes = self
            .ranks
            .map_or(String::new(), |ranks| format!(" in {} processes", ranks.count()));
        Parts {
            details: format!(
                "{} parts along {}{processes}, {} ghost rows copied every {} steps; {}",
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
        self.change(|stepper, _| stepper.set_step(clock, time_step))
    }

    fn set_medium(&mut self, setup: &Setup, clock: &RunClock) -> Result<(), SolverError> {
        self.exchange();
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
            let piece = self.ready(steps - done);
            for member in &mut self.members {
                member.stepper.advance(&clock.after(done), piece)?;
            }
            self.spent += piece;
            done += piece;
        }
        Ok(())
    }

    fn advance_observed(&mut self, clock: &RunClock, steps: u64, taps: &mut Taps) -> Result<(), SolverError> {
        self.follow(taps);
        let mut done = 0;
        while done < steps {
            let piece = self.ready(steps - done);
            for member in &mut self.members {
                let (stepper, own) = (&mut member.stepper, &mut member.taps);
                stepper.advance_observed(&clock.after(done), piece, own)?;
            }
            self.spent += piece;
            self.record((1..=piece).map(|step| clock.after(done + step)), taps);
            done += piece;
        }
        Ok(())
    }

    fn observe(&mut self, clock: &RunClock, taps: &mut Taps) -> Result<(), SolverError> {
        self.follow(taps);
        for member in &mut self.members {
            member.stepper.observe(clock, &mut member.taps)?;
        }
        self.record(std::iter::once(*clock), taps);
        Ok(())
    }

    fn pace(&mut self) -> Result<(), SolverError> {
        self.members.iter_mut().try_for_each(|member| member.stepper.pace())
    }

    fn norm_drifts_within(&self) -> Option<u64> {
        self.members[0].stepper.norm_drifts_within()
    }

    fn weight(&mut self) -> Result<f64, SolverError> {
        Ok(self.total_weight())
    }

    fn scale_to(&mut self, weight: f64) -> Result<(), SolverError> {
        let now = self.total_weight();
        for member in &mut self.members {
            member.stepper.scale_from(now, weight);
        }
        Ok(())
    }

    fn put_in(&self) -> Option<f64> {
        self.members[0].stepper.put_in()
    }

    fn set_put_in(&mut self, weight: f64) {
        for member in &mut self.members {
            member.stepper.set_put_in(weight);
        }
    }

    fn keep_velocity(&mut self) -> Result<(), SolverError> {
        self.members
            .iter_mut()
            .try_for_each(|member| member.stepper.keep_velocity())
    }

    fn sums(&mut self, clock: &RunClock) -> Result<Observables, SolverError> {
        let rows: Vec<[f64; NUMBERS]> = self.of_lines(|stepper| stepper.row_sums(clock));
        Ok(S::sums_of(self.setup.scenario.grid(), &rows))
    }

    fn image(&mut self, clock: &RunClock, request: &ImageRequest, image: &mut FieldImage) -> Result<(), SolverError> {
        let quantum = self.is_quantum();
        self.draw(clock, request, image, quantum)
    }

    fn field(&mut self, clock: &RunClock) -> Result<FieldData, SolverError> {
        let own: Vec<FieldData> = (self.members.iter_mut())
            .map(|member| member.stepper.field(clock))
            .collect::<Result<_, _>>()?;
        let joined = self.join(&own, 1);
        joined.ok_or_else(|| SolverError::Unsupported("a process has no part of the grid".to_owned()))
    }

    fn set_field(&mut self, clock: &RunClock, field: &FieldData) -> Result<(), SolverError> {
        let windows: Vec<FieldData> = self
            .members
            .iter()
            .map(|member| self.window_of(member, field, 1))
            .collect();
        for (member, window) in self.members.iter_mut().zip(&windows) {
            member.stepper.set_field(clock, window)?;
        }
        self.exchange();
        Ok(())
    }

    fn layout(&self) -> Vec<Plane> {
        // All arrays have as many values in each row.
        let rows = self.setup.scenario.grid().size()[self.plan.axis];
        let own = self.members[0].rows;
        let planes = self.members[0].stepper.layout().into_iter();
        let all = planes.map(|plane| Plane {
            values: plane.values / own * rows,
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
            self.join(&windows, plane.blocks)
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
                .map(|(array, plane)| array.map(|array| self.window_of(&self.members[n], array, plane.blocks)))
                .collect();
            let windows: Vec<Option<&FieldData>> = windows.iter().map(Option::as_ref).collect();
            self.members[n].stepper.load(clock, &windows)?;
        }
        Ok(())
    }
}
