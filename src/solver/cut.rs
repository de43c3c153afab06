//! Where a grid is cut, how many ghost rows that takes, and how often they are copied.

use super::method::{Backend, DEVICES, Method, PARTS, Split};
use crate::backend::ranks::{self, Ranks};
use crate::physics::Equation;
use crate::scene::{Objection, Scenario};
#[cfg(test)]
use std::cell::Cell;
use std::ops::Range;

#[cfg(test)]
thread_local! {
    /// Steps from exchange to exchange, and ghost rows that are left out of those which they need.
    pub(super) static TRIAL: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Parts of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
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

/// The NVIDIA devices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Devices {
    /// Whether the scene names them.
    pub named: bool,
    /// Their numbers, at least one; a part takes the next one in turn.
    pub numbers: Vec<usize>,
}

/// Sites that a device has at least where a scene asks for all devices: with fewer, copying ghost rows costs more than another device brings.
const LEAST_ON_DEVICE: usize = 1 << 25;

/// Own rows of a part for each ghost row on a side, where a method may step longer from exchange to exchange: ghost rows are stepped as well.
const ROWS_OF_A_GHOST: usize = 12;

impl Devices {
    /// The device of a part.
    pub(super) fn of_part(&self, part: usize) -> usize {
        self.numbers.get(part % self.numbers.len().max(1)).copied().unwrap_or(0)
    }

    /// How many share a grid of so many sites where a scene asks for all.
    pub(super) fn worth(sites: usize) -> usize {
        (sites / LEAST_ON_DEVICE).min(devices_here()).max(1)
    }

    /// The one that a process takes where a scene names none: those of a launcher on one machine take one each.
    pub(super) fn of_rank() -> usize {
        ranks::before_here().len() % devices_here().max(1)
    }
}

/// NVIDIA devices of this machine.
pub fn devices_here() -> usize {
    #[cfg(feature = "cuda")]
    return crate::backend::cuda::count();
    #[cfg(not(feature = "cuda"))]
    0
}

/// How the grid of a scene would be cut into some parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutting {
    /// Rows of each part, along the slowest axis.
    pub rows: Vec<usize>,
    /// Ghost rows of each part below and above its own.
    pub ghosts: Vec<[usize; 2]>,
    /// Steps from one copy of ghost rows to the next.
    pub every: u64,
}

/// How the grid of a scene would be cut into `parts`; `None` where its method, or the number of rows, does not allow it.
pub fn cutting(method: &Method, scenario: &Scenario, parts: usize) -> Option<Cutting> {
    let split = method.split?(scenario).ok()?;
    if parts == 0 {
        return None;
    }
    let plan = Plan::new(&split, scenario, parts);
    if plan.parts.iter().any(|rows| rows.len() < plan.ghosts.max(1)) {
        return None;
    }
    Some(Cutting {
        rows: plan.parts.iter().map(Range::len).collect(),
        ghosts: (0..parts).map(|part| plan.window(part).1).collect(),
        every: plan.steps,
    })
}

fn objection(message: impl Into<String>, remedy: impl Into<String>) -> Objection {
    Objection::new(format!("solver.{PARTS}"), message, remedy)
}

/// Why a method cannot be cut for any scene that says so by `key`.
pub(super) fn refused(method: &Method, key: &str) -> Objection {
    let other = match method.equation {
        Equation::Schrodinger => "trotter",
        Equation::Acoustic => "fdtd",
    };
    Objection::new(
        format!("solver.{key}"),
        format!(
            "\"{}\" cannot be cut into parts: it steps the grid as a whole",
            method.id
        ),
        format!("remove `{key}` (one process), or take solver.method = \"{other}\""),
    )
}

/// Refuses a line, for methods that cut planes and bodies alone.
pub(super) fn needs_rows(scenario: &Scenario) -> Result<(), Objection> {
    if scenario.grid().rank() > 1 {
        return Ok(());
    }
    let other = match scenario.model().equation() {
        Equation::Schrodinger => ", or take solver.method = \"crank-nicolson\"",
        Equation::Acoustic => "",
    };
    let (message, remedy) = match ranks::world().map_or(1, Ranks::count) {
        1 => (
            "this method does not cut a grid of one dimension".to_owned(),
            format!("remove `{PARTS}` and `{DEVICES}`"),
        ),
        count => (
            format!("{count} processes were started, and this method does not cut a grid of one dimension"),
            "start one process, without the launcher".to_owned(),
        ),
    };
    Err(objection(message, format!("{remedy}{other}")))
}

impl Plan {
    /// The parts of a scenario, `None` where it is stepped as a whole.
    ///
    /// # Errors
    /// Why it cannot be cut.
    pub(super) fn of(
        method: &Method,
        scenario: &Scenario,
        (asked, backend): (usize, Option<Backend>),
        devices: &Devices,
    ) -> Result<Option<Self>, Objection> {
        if devices.named && backend.is_some_and(|backend| backend != Backend::Cuda) {
            let message = format!("`{DEVICES}` are NVIDIA devices, and the scene asks for another back end");
            let remedy = "write solver.backend = \"cuda\", or remove `devices`";
            return Err(Objection::new(format!("solver.{DEVICES}"), message, remedy));
        }
        let ranks = ranks::world().map_or(1, Ranks::count);
        let count = asked
            .max(ranks)
            .max(if devices.named { devices.numbers.len() } else { 1 });
        if count <= 1 {
            return Ok(None);
        }
        let Some(split) = method.split else {
            return Err(refused(method, PARTS));
        };
        let there = if devices.named { Some(Backend::Cuda) } else { backend };
        let cut = |backend: Backend| (method.targets.iter()).any(|target| target.backend == backend && target.cut);
        if let Some(backend) = there.filter(|backend| !cut(*backend)) {
            let message = format!(
                "\"{}\" steps a grid in {count} parts on the processor, not on {}",
                method.id,
                backend.as_str()
            );
            return Err(objection(
                message,
                "write solver.backend = \"cpu\", or remove `parts` and `devices`",
            ));
        }
        let plan = Self::new(&split(scenario)?, scenario, count);
        let least = plan.parts.iter().map(Range::len).min().unwrap_or(0);
        if least < plan.ghosts.max(1) {
            let rows = scenario.grid().size()[plan.axis];
            let most = (rows / (plan.ghosts + split(scenario)?.unit)).max(1);
            let message = format!(
                "{rows} {} along {} in {count} parts leave {least} to one, and its neighbours need {}",
                if plan.axis == 0 { "sites" } else { "rows" },
                ["x", "y", "z"][plan.axis],
                plan.ghosts.max(1)
            );
            let fewer = if most == 1 {
                "use one part".to_owned()
            } else {
                format!("take at most {most} parts")
            };
            return Err(objection(message, fewer + ", or a larger grid"));
        }
        Ok(Some(plan))
    }

    /// Parts as equal as they can be.
    pub(super) fn new(split: &Split, scenario: &Scenario, count: usize) -> Self {
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
        let [few, many] = split.steps.map(|steps| usize::try_from(steps).unwrap_or(1));
        let cheap = least / ROWS_OF_A_GHOST / split.reach.max(1);
        let steps = many.min(cheap).max(few).min(most).max(1);
        let ghosts = split.reach * steps + split.beside;
        #[cfg(test)]
        let (steps, ghosts) = match TRIAL.get() {
            Some((steps, fewer)) => (steps, split.reach * steps - fewer),
            None => (steps, ghosts),
        };
        Self {
            axis,
            parts,
            ghosts: ghosts.next_multiple_of(split.unit),
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
