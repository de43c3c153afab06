//! Bohm's trajectories during a run, and the flow that is drawn over its picture.
//!
//! Trajectories take every step: they need the field before and after it. A method that records single sites within several steps takes several together ([`heard`]); with other methods each step is taken by itself and costs
//! a copy more: of the sites around each trajectory where the method reaches them, of the field elsewhere. The bits are the same.

mod heard;

use super::build::nearest_step;
use super::engine::Engine;
use super::{EngineError, Phase};
use crate::field::FieldData;
use crate::grid::SiteBox;
use crate::physics::current::PsiInBox;
use crate::physics::trajectory;
use crate::physics::{Currents, Trajectory, axes_in_space};
use crate::scene::Scenario;
use crate::scene::scenario::Flow;
use crate::solver::{Clock, SolverError, SolverState};
use crate::space::FlowMap;
use rayon::prelude::*;
use std::sync::Arc;

/// Names in a checkpoint.
const TIMES: &str = "trajectory.times";
const PLACES: &str = "trajectory.places";

/// The number of times that are kept: 1.5 MiB per trajectory.
const MOST_TIMES: usize = 1 << 16;

/// The smallest number of trajectories per thread: each takes some microseconds.
const FEWEST: usize = 16;

/// Where a trajectory looks that has not begun.
const NOWHERE: SiteBox = SiteBox {
    first: [0; 3],
    size: [0; 3],
};

/// The paths so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    starts: Vec<Trajectory>,
    times: Vec<f64>,
    /// The position of each at each time, lengths; NaN before it began. Those of one time are contiguous.
    places: Vec<[f64; 3]>,
    /// Whether all times are kept, for a table that is written from them.
    whole: bool,
}

/// A path as pictures show it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ShownPath {
    /// The index of its `[[trajectory]]`; those of one entry have one colour.
    pub group: usize,
    /// Its positions in a plane, lengths, since it began; the last is the present one.
    pub points: Vec<[f64; 2]>,
}

impl Paths {
    /// Those of a scene, which begin at the clock's time or later.
    #[must_use]
    pub fn of(scenario: &Scenario, clock: &Clock) -> Self {
        let mut paths = Self {
            starts: scenario.trajectories().to_vec(),
            ..Self::default()
        };
        if !paths.is_empty() {
            let row = vec![[f64::NAN; 3]; paths.starts.len()];
            paths.push(clock, row);
        }
        paths
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Their times.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The positions of all at one of the times, lengths; NaN before they began.
    pub fn row(&self, n: usize) -> &[[f64; 3]] {
        let count = self.starts.len();
        &self.places[n * count..(n + 1) * count]
    }

    /// Their present positions.
    pub fn now(&self) -> &[[f64; 3]] {
        self.times.len().checked_sub(1).map_or(&[], |last| self.row(last))
    }

    /// The coordinate of a prediction, `NAME.x`; `None` if it is about something else, or has not begun.
    pub fn by_name(&self, name: &str) -> Option<f64> {
        let (name, axis) = name.rsplit_once('.')?;
        let axis = ["x", "y", "z"].iter().position(|known| *known == axis)?;
        let place = self.starts.iter().position(|start| start.name == name)?;
        self.now().get(place).map(|at| at[axis]).filter(|value| !value.is_nan())
    }

    /// Adds a new row; trajectories whose time has come begin.
    fn push(&mut self, clock: &Clock, mut row: Vec<[f64; 3]>) {
        for (place, start) in row.iter_mut().zip(&self.starts) {
            if place[0].is_nan() && nearest_step(clock.time, start.at, clock.time_step.abs()) <= 0.0 {
                *place = start.from;
            }
        }
        self.times.push(clock.time);
        self.places.extend(row);
    }

    /// The sites that a step reads, for each trajectory in order; none for those that have not begun.
    fn boxes(&self, currents: &Currents, time_step: f64) -> Vec<SiteBox> {
        let around = |at: &[f64; 3]| {
            if at[0].is_nan() {
                NOWHERE
            } else {
                trajectory::around(currents, time_step, *at, 1)
            }
        };
        self.now().iter().map(around).collect()
    }

    /// The same; empty if they would be half of the field or more.
    fn few_boxes(&self, currents: &Currents, time_step: f64) -> Vec<SiteBox> {
        let mut boxes = self.boxes(currents, time_step);
        let sites: usize = boxes.iter().map(SiteBox::sites).sum();
        if 2 * sites >= currents.grid().sites() {
            boxes.clear();
        }
        boxes
    }

    /// Follows one step from field to field; `clock` is that after it.
    fn step(&mut self, currents: &Currents, [before, after]: [&Near; 2], clock: &Clock) {
        let by = clock.time_step;
        let moved = |(n, at): (usize, &[f64; 3])| match (&before.field, &after.field) {
            _ if at[0].is_nan() => *at,
            (Looked::Whole(before), Looked::Whole(after)) => trajectory::step(currents, [before, after], by, *at),
            (Looked::Parts(first), Looked::Parts(second)) => {
                let sites = before.boxes[n];
                let [first, second] = [&first[n], &second[n]].map(|values| PsiInBox { sites, values });
                trajectory::step(currents, [&first, &second], by, *at)
            }
            // Not met: a method reaches parts of its field or does not.
            _ => *at,
        };
        let row = (self.now().par_iter().enumerate()).with_min_len(FEWEST).map(moved);
        let row = row.collect();
        self.push(clock, row);
        self.limit();
    }

    /// Takes other trajectories: existing ones keep their paths, new ones begin here.
    fn update(&mut self, scenario: &Scenario, clock: &Clock) {
        if self.starts == scenario.trajectories() {
            return;
        }
        let mut next = Self {
            whole: self.whole,
            ..Self::of(scenario, clock)
        };
        let known: Vec<Option<usize>> = (next.starts.iter())
            .map(|start| self.starts.iter().position(|old| old == start))
            .collect();
        if known.iter().any(Option::is_some) {
            let fresh = next.now().to_vec();
            (next.times, next.places) = (self.times.clone(), Vec::new());
            for n in 0..self.times.len() {
                let last = n + 1 == self.times.len();
                let row = known.iter().zip(&fresh).map(|(known, fresh)| match known {
                    Some(place) => self.row(n)[*place],
                    None if last => *fresh,
                    None => [f64::NAN; 3],
                });
                next.places.extend(row);
            }
        }
        *self = next;
    }

    /// Keeps at most [`MOST_TIMES`] by forgetting every other one, unless all are needed; the last stays.
    fn limit(&mut self) {
        if self.whole || self.times.len() <= MOST_TIMES {
            return;
        }
        let last = self.times.len() - 1;
        let kept: Vec<usize> = (0..=last).filter(|n| (last - n).is_multiple_of(2)).collect();
        let places = kept.iter().flat_map(|n| self.row(*n).to_vec()).collect();
        self.times = kept.iter().map(|n| self.times[*n]).collect();
        self.places = places;
    }

    /// Forgets all times but the last.
    fn keep_last(&mut self) {
        let last = self.now().to_vec();
        self.times.drain(..self.times.len().saturating_sub(1));
        self.places = last;
    }

    /// At most about `most` points of each path.
    pub fn shown(&self, most: usize) -> Vec<ShownPath> {
        let stride = self.times.len().div_ceil(most.max(1)).max(1);
        let last = self.times.len().saturating_sub(1);
        let kept: Vec<usize> = (0..self.times.len())
            .filter(|n| (last - n).is_multiple_of(stride))
            .collect();
        let path = |place: usize| {
            let points = kept.iter().map(|n| self.row(*n)[place]);
            ShownPath {
                group: self.starts[place].group,
                points: points.filter(|at| !at[0].is_nan()).map(|[x, y, _]| [x, y]).collect(),
            }
        };
        (0..self.starts.len()).map(path).collect()
    }

    /// The paths up to the first time that is not before `time`.
    pub(super) fn until(&self, time: f64) -> Self {
        let mut part = self.clone();
        let rows = (self.times.iter().position(|known| *known >= time)).map_or(self.times.len(), |last| last + 1);
        part.times.truncate(rows);
        part.places.truncate(rows * self.starts.len());
        part
    }

    /// Adds the paths to a state that is saved.
    pub(super) fn store(&self, state: &mut SolverState) {
        if self.is_empty() {
            return;
        }
        let flat = self.places.as_flattened().to_vec();
        state
            .arrays
            .push((TIMES.to_owned(), FieldData::Float64(self.times.clone())));
        state.arrays.push((PLACES.to_owned(), FieldData::Float64(flat)));
    }

    /// Reads them from a state; data of other trajectories are ignored.
    pub(super) fn restore(&mut self, state: &mut SolverState) {
        let mut take = |name: &str| {
            let place = state.arrays.iter().position(|(known, _)| known == name)?;
            match state.arrays.remove(place).1 {
                FieldData::Float64(values) => Some(values),
                _ => None,
            }
        };
        let (times, flat) = (take(TIMES), take(PLACES));
        let Some((times, flat)) = times.zip(flat) else { return };
        if flat.len() == 3 * times.len() * self.starts.len() && !times.is_empty() {
            self.places = flat.chunks_exact(3).map(|at| [at[0], at[1], at[2]]).collect();
            self.times = times;
        }
    }
}

/// What is looked at of a field.
pub(super) enum Looked {
    /// All of it.
    Whole(FieldData),
    /// The sites of each box.
    Parts(Vec<FieldData>),
}

/// The field at one time at the sites that trajectories read.
pub(super) struct Near {
    /// Around each trajectory; none if the whole field is read anyway.
    pub(super) boxes: Vec<SiteBox>,
    field: Looked,
}

impl Near {
    /// Whether it contains what would be read in these boxes.
    fn serves(&self, boxes: &[SiteBox]) -> bool {
        // The whole, asked for in boxes that a method does not reach, is all that it gives.
        self.boxes == boxes || matches!(self.field, Looked::Whole(_)) && !self.boxes.is_empty()
    }
}

/// The currents, with the scene that they were made for.
pub(super) type KeptCurrents = Option<(Arc<Scenario>, Currents)>;

impl Engine {
    /// The paths so far.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Keeps the positions of all steps from now on: a table and a checkpoint are written from them.
    pub fn keep_whole_paths(&mut self) {
        self.paths.whole = true;
    }

    /// Drops all positions except the present ones; returns the number of times that are left.
    pub fn forget_paths(&mut self) -> usize {
        self.paths.keep_last();
        self.paths.times.len()
    }

    /// The field around trajectories before the next step, if there are any; `known` is the field after the last step, if nothing has happened since.
    pub(super) fn near_paths(&mut self, known: Option<(Option<Phase>, Near)>) -> Result<Option<Near>, EngineError> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let time_step = self.clock().time_step;
        let Some((scenario, currents)) = self.take_currents() else {
            return Ok(None);
        };
        let boxes = self.paths.few_boxes(&currents, time_step);
        self.currents = Some((scenario, currents));
        match known {
            Some((phase, near)) if phase == self.phase() && near.serves(&boxes) => Ok(Some(near)),
            _ => Ok(Some(self.field_near(boxes)?)),
        }
    }

    /// The present field in boxes; the whole field if there are none, or if the method cannot read a part of it.
    pub(super) fn field_near(&mut self, boxes: Vec<SiteBox>) -> Result<Near, SolverError> {
        let parts = if boxes.is_empty() {
            None
        } else {
            self.solver.field_in(&boxes)?
        };
        let field = match parts {
            Some(parts) => Looked::Parts(parts),
            None => Looked::Whole(self.solver.field()?),
        };
        Ok(Near { boxes, field })
    }

    /// Follows the step that was just taken.
    pub(super) fn follow_paths(&mut self, before: &Near, after: &Near) {
        let clock = self.clock();
        if let Some((scenario, currents)) = self.take_currents() {
            self.paths.step(&currents, [before, after], &clock);
            self.currents = Some((scenario, currents));
        }
    }

    /// The currents of the medium as it is now, to be returned; `None` for sound.
    fn take_currents(&mut self) -> KeptCurrents {
        let present = self.present_scenario();
        let kept = self.currents.take().filter(|(of, _)| Arc::ptr_eq(of, &present));
        kept.or_else(|| {
            let quantum = present.model().quantum()?;
            let currents = Currents::of(&quantum, present.medium());
            Some((present, currents))
        })
    }

    /// Continues with the trajectories of another scene.
    pub(super) fn update_paths(&mut self, scenario: &Scenario) {
        let clock = self.clock();
        self.paths.update(scenario, &clock);
    }

    /// The present flow in the plane, if the scene's view shows it. Of two components, along whose axis nothing moves, each has
    /// its own flow along x.
    ///
    /// # Errors
    /// If the back end fails.
    pub fn flow(&mut self) -> Result<Option<FlowMap>, EngineError> {
        let grid = self.scenario.grid().clone();
        if self.scenario.view().flow == Flow::None || grid.rank() != 2 {
            return Ok(None);
        }
        let [nx, ny, _] = grid.size();
        let Some((scenario, currents)) = self.take_currents() else {
            let means = self.solver.mean_intensity()?;
            let sites = nx * ny;
            let map = FlowMap::fill([nx, ny], |j, out| {
                for (i, flow) in out.iter_mut().enumerate() {
                    *flow = [0, 1].map(|axis| f64::from(means[axis * sites + j * nx + i]));
                }
            });
            return Ok(Some(map));
        };
        let field = self.solver.field();
        let space = axes_in_space(&grid);
        let map = field.map(|psi| {
            let row = |j: usize, out: &mut [[f64; 2]]| {
                for (i, flow) in out.iter_mut().enumerate() {
                    let along = |axis: usize| currents.at_site(&psi, [i, j, 0], axis);
                    *flow = [0, 1].map(|axis| if axis < space { along(axis) } else { 0.0 });
                }
            };
            if space < 2 {
                FlowMap::of_components([nx, ny], row)
            } else {
                FlowMap::fill([nx, ny], row)
            }
        });
        self.currents = Some((scenario, currents));
        Ok(Some(map?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes from one component to the other is no motion along y.
    #[test]
    fn components_flow_along_x_alone() {
        let text = "format = 1\n[grid]\nsize = [48, 2]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.1\n[solver]\nmethod = \"trotter\"\n\
                    [[packet]]\ncenter = [20.0, 0.0]\nwidth = [4.0, 0.3]\nmomentum = [0.5, 0.0]\n[view]\nflow = \"arrows\"\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let mut engine = Engine::new(Arc::new(scenario)).unwrap();
        engine.advance(4).unwrap();
        let flow = engine.flow().unwrap().unwrap();
        assert!(flow.values.iter().any(|flow| flow[0] > 1e-3));
        assert!(flow.values.iter().all(|flow| flow[1] == 0.0));
        assert!(flow.components);
    }

    /// One more than the most halves the times, the last among them; those that a table needs stay.
    #[test]
    fn times_are_thinned_where_no_table_needs_them() {
        for (whole, left) in [(false, MOST_TIMES / 2 + 1), (true, MOST_TIMES + 1)] {
            let start = Trajectory {
                name: "p".to_owned(),
                from: [0.0; 3],
                at: 0.0,
                group: 0,
            };
            let mut paths = Paths {
                starts: vec![start],
                whole,
                ..Paths::default()
            };
            for n in 0..=MOST_TIMES {
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let time = n as f64;
                paths.times.push(time);
                paths.places.push([time; 3]);
                paths.limit();
            }
            assert_eq!((paths.times.len(), paths.places.len()), (left, left));
            assert_eq!(paths.now(), [paths.row(left - 1)[0]]);
        }
    }
}
