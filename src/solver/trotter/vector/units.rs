//! Which sweeps one pass takes, and the units of rows or planes in which it takes them.

use super::super::scheme::Sweep;
use super::layout::Layout;
use super::order::{self, Ends};
use super::pairing::Pairing;
use crate::backend::threads;

/// Bytes of field and phases of a pair of planes up to which it goes through its stages one after the other. Tests have pairs on either side.
const LARGEST_PAIR: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };

/// Whether so many units are enough for all threads, so that none is cut.
fn are_many(units: usize) -> bool {
    units >= 4 * threads::count()
}

/// Whether the units of all passes are whole planes or rows.
pub(super) fn are_whole(layout: &Layout) -> bool {
    are_many(layout.planes() / 2) || are_many(layout.rows() / 2)
}

/// An operation on all sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Act {
    Sweep(Sweep),
    /// The phases of a sub-step.
    Phases(usize),
}

/// Sweeps over pairs of rows, at most one of them along y or z, and phases after them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stage {
    pub sweeps: Vec<Sweep>,
    pub phases: Option<usize>,
}

impl Stage {
    fn joins_rows(&self) -> bool {
        self.sweeps.iter().any(|sweep| sweep.axis > 0)
    }
}

/// The stages of each pass: operations are combined as long as their sweeps join the same planes or rows, along z where there are planes for all threads, else along y or z.
pub(super) fn passes(layout: &Layout, acts: &[Act]) -> Vec<Vec<Stage>> {
    let outer = if are_many(layout.planes() / 2) {
        2
    } else if are_many(layout.rows() / 2) {
        1
    } else {
        return alone(acts);
    };
    let mut passes = vec![Vec::new()];
    let mut joined: Option<Sweep> = None;
    for act in acts {
        if let Act::Sweep(sweep) = act
            && sweep.axis >= outer
        {
            if joined.is_some_and(|one| (one.axis, one.odd) != (sweep.axis, sweep.odd)) {
                passes.push(Vec::new());
            }
            joined = Some(*sweep);
        }
        if let Some(stages) = passes.last_mut() {
            add(stages, *act);
        }
    }
    passes
}

/// Adds an act to the last of some stages, or to a new one.
fn add(stages: &mut Vec<Stage>, act: Act) {
    let takes = |stage: &Stage| match act {
        Act::Sweep(sweep) => stage.phases.is_none() && (sweep.axis == 0 || !stage.joins_rows()),
        Act::Phases(_) => stage.phases.is_none(),
    };
    if !stages.last().is_some_and(takes) {
        stages.push(Stage::default());
    }
    if let Some(stage) = stages.last_mut() {
        match act {
            Act::Sweep(sweep) => stage.sweeps.push(sweep),
            Act::Phases(substep) => stage.phases = Some(substep),
        }
    }
}

/// Where rows are cut: each sweep by itself, and phases with the sweep before them if they find its sites at the places of their own segment: not after odd bonds along x, whose upper
/// sites stand one place further.
fn alone(acts: &[Act]) -> Vec<Vec<Stage>> {
    let mut passes: Vec<Vec<Stage>> = Vec::new();
    for act in acts {
        let within = |sweep: &Sweep| sweep.axis > 0 || !sweep.odd;
        let last = passes.last_mut().and_then(|stages| stages.last_mut());
        match (act, last) {
            (Act::Phases(substep), Some(stage)) if stage.phases.is_none() && stage.sweeps.iter().all(within) => {
                stage.phases = Some(*substep);
            }
            (act, _) => {
                let mut stages = Vec::new();
                add(&mut stages, *act);
                passes.push(stages);
            }
        }
    }
    passes
}

/// The units of a pass: one plane or two that bonds along z join, or one row or two; its stages go through each of them one after the other.
pub(super) struct Units<'a> {
    layout: &'a Layout,
    /// How planes pair up, if units are planes.
    planes: Option<Pairing>,
    /// How rows pair up otherwise; none where no stage joins any.
    rows: Option<Pairing>,
    /// Of every stage, the axis along which its rows are joined, and how they pair up.
    stages: Vec<Option<(usize, Pairing)>>,
}

impl<'a> Units<'a> {
    /// Of stages with bonds along y or z: axis, whether they are odd, and whether the axis is periodic.
    pub(super) fn new(layout: &'a Layout, between: Vec<Option<(usize, bool, bool)>>) -> Self {
        let pairing = |(axis, odd, periodic)| (axis, Pairing::new(layout, axis, odd, periodic));
        let stages: Vec<_> = between.into_iter().map(|bonds| bonds.map(pairing)).collect();
        let along_z = stages.iter().flatten().find(|(axis, _)| *axis == 2);
        let planes = match along_z {
            _ if !are_many(layout.planes() / 2) => None,
            Some((_, pairing)) => Some(*pairing),
            None => Some(Pairing::single(layout)),
        };
        let rows = stages.iter().flatten().next().map(|(_, pairing)| *pairing);
        Self {
            layout,
            planes,
            rows: rows.filter(|_| planes.is_none()),
            stages,
        }
    }

    /// Planes that units are made of, or rows in two dimensions; none where units are rows of planes or are cut.
    pub(super) fn lines(&self) -> Option<usize> {
        match self.planes {
            Some(_) => Some(self.layout.planes()),
            None => (self.layout.planes() == 1 && self.are_whole()).then(|| self.layout.rows()),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match (&self.planes, &self.rows) {
            (Some(planes), _) => planes.units(self.layout) / self.layout.rows_of_plane(),
            (None, Some(rows)) => rows.units(self.layout),
            (None, None) => self.layout.rows(),
        }
    }

    /// Whether rows need not be cut.
    pub(super) fn are_whole(&self) -> bool {
        self.planes.is_some() || are_many(self.count())
    }

    /// The planes of a unit, or where units are rows its rows.
    #[inline]
    pub(super) fn members(&self, unit: usize) -> [Option<usize>; 2] {
        let of_plane = self.layout.rows_of_plane();
        match (&self.planes, &self.rows) {
            (Some(planes), _) => {
                let [lower, upper] = planes.rows(unit * of_plane);
                [lower.map(|row| row / of_plane), upper.map(|row| row / of_plane)]
            }
            (None, Some(rows)) if self.layout.planes() == 1 => rows.rows_from(0, unit),
            (None, Some(rows)) => rows.rows(unit),
            (None, None) => [Some(unit), None],
        }
    }

    /// How many rows or pairs of rows a stage has in a unit of these members.
    #[inline]
    pub(super) fn pairs(&self, stage: usize, members: [Option<usize>; 2]) -> usize {
        let count = usize::from(members[0].is_some()) + usize::from(members[1].is_some());
        match (&self.stages[stage], self.planes.is_some()) {
            (Some(_), false) => 1,
            (None, false) => count,
            (Some((1, pairing)), true) => pairing.units * count,
            (Some(_), true) => self.layout.rows_of_plane(),
            (None, true) => self.layout.rows_of_plane() * count,
        }
    }

    /// How many of these stand at different places along y: one plane's, or rows that lie in two planes.
    #[inline]
    pub(super) fn places(&self, stage: usize) -> usize {
        match &self.stages[stage] {
            Some((1, pairing)) => pairing.units,
            _ => self.layout.rows_of_plane(),
        }
    }

    /// Stages and places along y of units of planes, in an order in which few rows lie between the first stage and the last; empty where units are rows, have one stage, or stay in
    /// a core's cache in any case. `bytes` of field and phases a site.
    pub(super) fn order(&self, bytes: usize) -> Vec<[usize; 2]> {
        let rows = self.layout.rows_of_plane();
        let is_large = 2 * bytes * self.layout.width() * rows > LARGEST_PAIR;
        if self.planes.is_none() || self.stages.len() < 2 || !is_large {
            return Vec::new();
        }
        let ends = |stage: &Option<(usize, Pairing)>| -> Vec<Ends> {
            match stage {
                Some((1, pairing)) => (0..pairing.units)
                    .map(|own| {
                        let [lower, upper] = pairing.rows_from(0, own);
                        let first = lower.or(upper).unwrap_or(0);
                        [first, upper.unwrap_or(first)]
                    })
                    .collect(),
                _ => (0..rows).map(|row| [row; 2]).collect(),
            }
        };
        let stages: Vec<_> = self.stages.iter().map(ends).collect();
        order::whole(&stages, rows)
    }

    /// The rows of one of these, lower and upper. Rows by themselves are the first of the two.
    #[inline]
    pub(super) fn rows(&self, stage: usize, members: [Option<usize>; 2], pair: usize) -> [Option<usize>; 2] {
        let of_plane = self.layout.rows_of_plane();
        let [first, second] = match members {
            [Some(first), second] => [first, second.unwrap_or(first)],
            [None, second] => [second.unwrap_or(0); 2],
        };
        // The first row of the plane that has number `pair` of `count` in each.
        let place = |count: usize| {
            if pair < count {
                (first * of_plane, pair)
            } else {
                (second * of_plane, pair - count)
            }
        };
        match (&self.stages[stage], self.planes.is_some()) {
            (Some(_), false) => members,
            (None, false) => [Some(if pair == 0 { first } else { second }), None],
            (Some((1, pairing)), true) => {
                let (first, own) = place(pairing.units);
                pairing.rows_from(first, own)
            }
            (Some(_), true) => {
                let row = |plane: usize| plane * of_plane + pair;
                let [lower, upper] = members;
                [lower.map(row), upper.map(row)]
            }
            (None, true) => {
                let (first, row) = place(of_plane);
                [Some(first + row), None]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    fn sweep(axis: usize, odd: bool) -> Sweep {
        Sweep { axis, odd, angle: 0.1 }
    }

    /// What passes over a grid do: "xo" is an odd sweep along x, "!" a phase, a blank stands between stages.
    fn words(size: &[usize], acts: &[Act]) -> Vec<String> {
        let stage = |stage: &Stage| {
            let sweeps = stage.sweeps.iter().map(|sweep| {
                let axis = ["x", "y", "z"][sweep.axis];
                format!("{axis}{}", if sweep.odd { "o" } else { "e" })
            });
            sweeps.chain(stage.phases.map(|_| "!".to_owned())).collect::<String>()
        };
        let passes = passes(&Layout::new(&Grid::new(size, 1.0)), acts);
        let pass = |stages: &Vec<Stage>| stages.iter().map(stage).collect::<Vec<_>>().join(" ");
        passes.iter().map(pass).collect()
    }

    fn acts(axes: &[(usize, bool)], steps: usize) -> Vec<Act> {
        let sweeps = axes.iter().map(|(axis, odd)| Act::Sweep(sweep(*axis, *odd)));
        let step: Vec<Act> = sweeps.chain([Act::Phases(0)]).collect();
        step.repeat(steps)
    }

    #[test]
    fn sweeps_go_with_those_whose_rows_and_planes_they_stay_in() {
        let many = 8 * threads::count();
        let [e, o] = [false, true];
        let nested = [
            (0, e),
            (0, o),
            (1, e),
            (1, o),
            (2, e),
            (2, o),
            (2, e),
            (1, o),
            (1, e),
            (0, o),
            (0, e),
        ];
        let twice = acts(&nested, 2);
        assert_eq!(
            words(&[4, 4, many], &twice),
            [
                "xexoye yo ze",
                "zo",
                "ze yo yexoxe! xexoye yo ze",
                "zo",
                "ze yo yexoxe!"
            ]
        );
        assert_eq!(
            words(&[4, many, 2], &twice[..12]),
            ["xexoye", "yo", "ze", "zo", "ze", "yo", "yexoxe!"]
        );
        assert_eq!(words(&[4, 2, 2], &twice).len(), 22);
        let plain = [(0, e), (0, o), (0, e), (1, e), (1, o), (1, e)];
        let twice = acts(&plain, 2);
        assert_eq!(
            words(&[4, many], &twice),
            ["xexoxeye", "yo", "ye! xexoxeye", "yo", "ye!"]
        );
        // Phases do not find all sites of odd bonds along a row that is cut.
        assert_eq!(words(&[400], &acts(&[(0, e), (0, o)], 1)), ["xe", "xo", "!"]);
        assert_eq!(words(&[400], &acts(&[(0, o), (0, e)], 1)), ["xo", "xe!"]);
    }

    #[test]
    fn every_row_is_stepped_once_a_stage() {
        let many = 8 * threads::count();
        for (size, stages) in [
            (
                [4, 5, many],
                vec![Some((1, false, false)), Some((1, true, false)), Some((2, true, false))],
            ),
            ([4, 6, many], vec![Some((2, true, true)), None, Some((1, true, true))]),
            ([4, 6, many], vec![Some((1, false, true)), None]),
            ([4, many, 3], vec![Some((1, true, false)), None, Some((1, true, false))]),
            ([4, many, 2], vec![Some((2, false, false))]),
            ([4, many, 1], vec![None, None]),
        ] {
            let layout = Layout::new(&Grid::new(&size, 1.0));
            let count = stages.len();
            let units = Units::new(&layout, stages);
            assert!(units.are_whole(), "{size:?}");
            for stage in 0..count {
                let mut seen = vec![0; layout.rows()];
                for unit in 0..units.count() {
                    let members = units.members(unit);
                    for pair in 0..units.pairs(stage, members) {
                        for row in units.rows(stage, members, pair).into_iter().flatten() {
                            seen[row] += 1;
                        }
                    }
                }
                assert_eq!(seen, vec![1; layout.rows()], "{size:?} stage {stage}");
            }
        }
    }
}
