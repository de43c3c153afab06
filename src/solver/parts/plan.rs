//! Where a grid is cut, how many ghost rows that takes, and how often they are copied.

use super::super::method::{Backend, Method};
use super::KEY;
use crate::backend::ranks;
use crate::scene::{Objection, Scenario};
use std::ops::Range;

/// How a method can be cut for a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Rows on each side on which a row depends after one step.
    pub reach: usize,
    /// Rows beside a row that detectors and sums read.
    pub beside: usize,
    /// Parts and windows begin at multiples of it.
    pub unit: usize,
    /// Steps from one exchange of ghost rows to the next.
    pub steps: u64,
}

/// Parts of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::solver) struct Plan {
    /// The axis that is cut.
    pub axis: usize,
    /// The rows of each part, along that axis.
    pub parts: Vec<Range<usize>>,
    /// Ghost rows on each side that has a neighbour.
    pub ghosts: usize,
    /// Steps from exchange to exchange.
    pub steps: u64,
    /// Whether the first part is the last one's neighbour.
    pub ring: bool,
}

fn objection(message: impl Into<String>, remedy: impl Into<String>) -> Objection {
    Objection::new(format!("solver.{KEY}"), message, remedy)
}

/// Why a method cannot be cut for any scene.
pub(in crate::solver) fn refused(method: &Method) -> Objection {
    let others = super::super::methods::METHODS.iter();
    let others = others.filter(|other| other.split.is_some() && other.equation == method.equation);
    let ids: Vec<&str> = others.map(|other| other.id).collect();
    objection(
        format!(
            "\"{}\" cannot be cut into parts: it steps the grid as a whole",
            method.id
        ),
        format!(
            "remove `{KEY}` (one process), or take solver.method = \"{}\"",
            ids.join("\" or \"")
        ),
    )
}

impl Plan {
    /// The parts of a scenario, `None` where it is stepped as a whole.
    ///
    /// # Errors
    /// Why it cannot be cut.
    pub(in crate::solver) fn of(method: &Method, scenario: &Scenario) -> Result<Option<Self>, Objection> {
        let ranks = ranks::world().map_or(1, |world| world.count());
        let asked = usize::try_from(scenario.solver().integer(KEY, 1)).unwrap_or(1);
        let count = asked.max(ranks);
        if count <= 1 {
            return Ok(None);
        }
        let Some(split) = method.split else {
            return Err(refused(method));
        };
        if scenario
            .solver()
            .backend
            .named()
            .is_some_and(|backend| backend != Backend::Cpu)
        {
            let message = format!("a grid in {count} parts is stepped on the processor");
            return Err(objection(message, "write solver.backend = \"cpu\", or remove `parts`"));
        }
        if scenario.mirror().is_some() {
            let message = "a scene with a [mirror] cannot be cut into parts: its transducers reach the whole grid";
            return Err(objection(message, format!("remove `{KEY}`, and use one process")));
        }
        if scenario.grid().rank() < 2 {
            let message = "a grid of one dimension has no rows to be cut";
            return Err(objection(message, format!("remove `{KEY}`, and use one process")));
        }
        let plan = Self::new(&split(scenario)?, scenario, count);
        let least = plan.parts.iter().map(Range::len).min().unwrap_or(0);
        if least < plan.ghosts.max(1) {
            let rows = scenario.grid().size()[plan.axis];
            let most = (rows / (plan.ghosts + split(scenario)?.unit)).max(1);
            let message = format!(
                "{rows} rows along {} in {count} parts leave {least} to one, and its neighbours need {}",
                ["x", "y", "z"][plan.axis],
                plan.ghosts.max(1)
            );
            return Err(objection(
                message,
                format!("take at most {most} parts, or a larger grid"),
            ));
        }
        Ok(Some(plan))
    }

    /// Parts as equal as they can be.
    pub(in crate::solver) fn new(split: &Split, scenario: &Scenario, count: usize) -> Self {
        let grid = scenario.grid();
        let axis = grid.rank() - 1;
        let rows = grid.size()[axis];
        let start = |n: usize| {
            if n == count {
                rows
            } else {
                n * rows / count / split.unit * split.unit
            }
        };
        let parts: Vec<Range<usize>> = (0..count).map(|n| start(n)..start(n + 1)).collect();
        // Ghost rows come from the next part alone: low parts exchange more often.
        let least = parts.iter().map(Range::len).min().unwrap_or(0);
        let most = least.saturating_sub(split.beside + split.unit - 1) / split.reach.max(1);
        let steps = usize::try_from(split.steps).unwrap_or(1).min(most).max(1);
        Self {
            axis,
            parts,
            ghosts: (split.reach * steps + split.beside).next_multiple_of(split.unit),
            steps: steps as u64,
            ring: grid.is_periodic(axis),
        }
    }

    /// The first row of the window of a part, and the ghost rows below and above its own.
    pub(super) fn window(&self, part: usize) -> (usize, [usize; 2]) {
        let rows = self.parts.last().map_or(0, |last| last.end);
        let neighbour = [part > 0 || self.ring, part + 1 < self.parts.len() || self.ring];
        let ghosts = neighbour.map(|there| if there { self.ghosts } else { 0 });
        let first = (self.parts[part].start + rows - ghosts[0]) % rows;
        (first, ghosts)
    }

    /// The parts that a process holds.
    pub(super) fn of_rank(&self, rank: usize, ranks: usize) -> Range<usize> {
        let count = self.parts.len();
        rank * count / ranks..(rank + 1) * count / ranks
    }
}
