//! Several steps of trajectories at once: within fused steps the method records the sites that they can reach, as it records transducers.

use super::{Looked, NOWHERE, Near, Paths};
use crate::engine::EngineError;
use crate::engine::engine::Engine;
use crate::field::FieldData;
use crate::grid::{Grid, SiteBox};
use crate::physics::{Currents, trajectory};
use crate::solver;
use crate::solver::transducers::Transducers;
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;

/// The largest number of steps taken together: in more steps a trajectory can move further, so that more sites are recorded.
const TOGETHER: u64 = 8;

/// At most one site in this many is recorded: recording a site costs some ten times as much as stepping it.
const ONE_OF: usize = 8;

/// ψ at the sites around trajectories, after each of some steps.
struct Heard {
    /// Ascending.
    sites: Arc<[usize]>,
    /// `[step * sites + n]`
    rows: Vec<Complex64>,
}

/// The columns of a box in a row of `nx` sites: along a ring it may go around the end.
fn along(own: &SiteBox, nx: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let [first, size] = [own.first[0], own.size[0]];
    let until = (first + size).min(nx);
    [first..until, 0..first + size - until].into_iter()
}

impl Heard {
    /// What it has in boxes after a step, from 0.
    fn near(&self, step: usize, grid: &Grid, boxes: Vec<SiteBox>) -> Near {
        let count = self.sites.len();
        let row = &self.rows[step * count..(step + 1) * count];
        let nx = grid.size()[0];
        let values = |own: &SiteBox| {
            let mut values = Vec::with_capacity(own.sites());
            for line in own.rows(grid) {
                for part in along(own, nx) {
                    let from = line * nx + part.start;
                    let place = self.sites.partition_point(|site| *site < from);
                    let part = place..place + part.len();
                    debug_assert!(part.is_empty() || self.sites[part.end - 1] + 1 == from + part.len());
                    values.extend_from_slice(&row[part]);
                }
            }
            FieldData::Complex128(values)
        };
        let field = Looked::Parts(boxes.iter().map(values).collect());
        Near { boxes, field }
    }
}

impl Paths {
    /// The sites that `steps` steps may read, ascending; `None` if they are too many to be recorded.
    fn sites_of(&self, currents: &Currents, time_step: f64, steps: u64, until: f64) -> Option<Vec<usize>> {
        let grid = currents.grid();
        let around = |(at, start): (&[f64; 3], &trajectory::Trajectory)| match at[0].is_nan() {
            false => trajectory::around(currents, time_step, *at, steps),
            // It may begin on the way.
            true if start.at <= until + time_step.abs() => trajectory::around(currents, time_step, start.from, steps),
            true => NOWHERE,
        };
        let nx = grid.size()[0];
        let mut runs = Vec::new();
        for own in self.now().iter().zip(&self.starts).map(around) {
            if own.sites() > grid.sites() / ONE_OF {
                return None;
            }
            for line in own.rows(grid) {
                runs.extend(along(&own, nx).map(|part| line * nx + part.start..line * nx + part.end));
            }
        }
        runs.sort_unstable_by_key(|run| run.start);
        let mut sites: Vec<usize> = Vec::new();
        for run in runs {
            // Boxes overlap.
            let from = sites.last().map_or(run.start, |last| run.start.max(last + 1));
            sites.extend(from..run.end);
        }
        (sites.len() <= grid.sites() / ONE_OF).then_some(sites)
    }
}

impl Engine {
    /// Takes several steps at once, at most `most`, and follows the trajectories in them; returns their number, 0 if
    /// the method does not record single sites or has others to record.
    pub(in crate::engine) fn follow_together(&mut self, most: u64) -> Result<u64, EngineError> {
        let report = self.solver.report();
        let hears = solver::find(report.method).is_some_and(|method| method.transducers.contains(&report.backend));
        if most < 2 || self.paths.is_empty() || self.taps.transducers().is_some() || !hears {
            return Ok(0);
        }
        let Some((scenario, currents)) = self.take_currents() else {
            return Ok(0);
        };
        let taken = self.heard_steps(&currents, most);
        self.currents = Some((scenario, currents));
        taken
    }

    fn heard_steps(&mut self, currents: &Currents, most: u64) -> Result<u64, EngineError> {
        let grid = currents.grid();
        let start = self.clock();
        let mut steps = most.min(TOGETHER);
        let sites = loop {
            let until = start.time.max(self.solver.clock_after(steps).time);
            match self.paths.sites_of(currents, start.time_step, steps, until) {
                Some(sites) => break sites,
                None if steps < 4 => return Ok(0),
                None => steps /= 2,
            }
        };
        let clocks: Vec<_> = (1..=steps).map(|step| self.solver.clock_after(step)).collect();
        let mut before = self.field_near(self.paths.boxes(currents, start.time_step))?;
        // A whole field may be rounded in another way than what is recorded: how a run is cut would change the last bits.
        if matches!(before.field, Looked::Whole(_)) {
            return Ok(0);
        }
        let sites: Arc<[usize]> = sites.into();
        *self.taps.transducers_mut() = Some(Transducers::listening(Arc::clone(&sites), Vec::new()));
        let result = self.solver.advance(steps, &mut self.taps);
        let rows = (self.taps.transducers_mut().take()).map_or_else(Vec::new, Transducers::into_heard);
        self.guard(result)?;
        let heard = Heard { sites, rows };
        for (step, clock) in clocks.iter().enumerate() {
            let after = heard.near(step, grid, before.boxes.clone());
            self.paths.step(currents, [&before, &after], clock);
            let boxes = self.paths.boxes(currents, start.time_step);
            before = if boxes == after.boxes {
                after
            } else {
                heard.near(step, grid, boxes)
            };
        }
        Ok(steps)
    }
}
