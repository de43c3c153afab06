//! Which sweeps one pass takes, and the units of rows or planes in which it takes them.

use super::super::scheme::Sweep;
use super::layout::Layout;
use crate::backend::threads;
use std::ops::Range;

/// How the rows of the grid fall into units for the bonds of one parity along y or z: two rows that are joined, or one that has no partner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairing {
    /// Sites of the axis.
    count: usize,
    odd: bool,
    wrap: bool,
    /// Rows from site to site of the axis.
    step: usize,
    /// Units of one line along the axis.
    units: usize,
}

impl Pairing {
    /// `axis` 1 or 2.
    pub(super) fn new(layout: &Layout, axis: usize, odd: bool, periodic: bool) -> Self {
        let count = layout.size()[axis];
        let wrap = odd && periodic && count > 1;
        Self {
            count,
            odd,
            wrap,
            step: if axis == 1 { 1 } else { layout.size()[1] },
            units: if odd && !wrap { count / 2 + 1 } else { count.div_ceil(2) },
        }
    }

    /// Planes of the grid one by one.
    pub(super) fn single(layout: &Layout) -> Self {
        Self {
            count: 1,
            odd: false,
            wrap: false,
            step: layout.rows_of_plane(),
            units: 1,
        }
    }

    /// Units in all.
    pub(super) fn units(&self, layout: &Layout) -> usize {
        self.units * layout.rows() / self.count
    }

    /// The rows of a unit, lower and upper.
    fn rows(&self, unit: usize) -> [Option<usize>; 2] {
        // The axis's own units run slower than the rows inside a step and faster than what lies outside.
        let (inner, rest) = (unit % self.step, unit / self.step);
        let (own, outer) = (rest % self.units, rest / self.units);
        self.rows_from(inner + self.step * self.count * outer, own)
    }

    /// The rows of the line along the axis that begins with row `first`, in its unit number `own`.
    #[inline]
    fn rows_from(&self, first: usize, own: usize) -> [Option<usize>; 2] {
        let row = |site: usize| first + self.step * site;
        let within = |site: usize| (site < self.count).then(|| row(site));
        if !self.odd {
            [within(2 * own), within(2 * own + 1)]
        } else if self.wrap {
            let next = if 2 * own + 2 < self.count { 2 * own + 2 } else { 0 };
            [Some(row(2 * own + 1)), Some(row(next))]
        } else {
            [(2 * own).checked_sub(1).and_then(within), within(2 * own)]
        }
    }
}

/// Whether so many units are enough for all threads, so that none is cut.
pub(super) fn are_many(units: usize) -> bool {
    units >= 4 * threads::count()
}

/// How many of the `sweeps`, from the first on, stay in what one of them along `axis` or a later axis joins.
fn sweeps_around(sweeps: &[Sweep], axis: usize) -> usize {
    let within = |from: usize| sweeps[from..].iter().take_while(|sweep| sweep.axis < axis).count();
    match within(0) {
        before if before == sweeps.len() => before,
        before => before + 1 + within(before + 1),
    }
}

/// How many of the `sweeps`, from the first on, one pass takes.
fn sweeps_of_pass(layout: &Layout, sweeps: &[Sweep]) -> usize {
    if are_many(layout.planes() / 2) {
        sweeps_around(sweeps, 2)
    } else if are_many(layout.rows() / 2) {
        sweeps_around(sweeps, 1)
    } else {
        sweeps.len().min(1)
    }
}

/// The sweeps of each pass, and in it of each stage.
pub(super) fn passes(layout: &Layout, mut sweeps: &[Sweep]) -> Vec<Vec<Range<usize>>> {
    let (mut all, mut first) = (Vec::new(), 0);
    while !sweeps.is_empty() {
        let (mut own, rest) = sweeps.split_at(sweeps_of_pass(layout, sweeps));
        let mut stages = Vec::new();
        while !own.is_empty() {
            let count = sweeps_around(own, 1);
            stages.push(first..first + count);
            first += count;
            own = &own[count..];
        }
        all.push(stages);
        sweeps = rest;
    }
    all
}

/// The units of a pass: one plane or two that bonds along z join, in which its stages go through rows one after the other; or where it has one stage, one row or two.
pub(super) struct Units<'a> {
    layout: &'a Layout,
    /// How planes pair up, if units are planes.
    planes: Option<Pairing>,
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
            Some((_, pairing)) if are_many(layout.planes() / 2) => Some(*pairing),
            None if stages.len() > 1 => Some(Pairing::single(layout)),
            _ => None,
        };
        debug_assert!(planes.is_some() || stages.len() == 1, "one stage a pass over rows");
        Self { layout, planes, stages }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        match &self.planes {
            Some(planes) => planes.units(self.layout) / self.layout.rows_of_plane(),
            None => self.rows_or_pairs(0),
        }
    }

    /// Whether rows need not be cut.
    pub(super) fn are_whole(&self) -> bool {
        self.planes.is_some() || are_many(self.count())
    }

    /// Rows of the whole grid as a stage pairs them.
    fn rows_or_pairs(&self, stage: usize) -> usize {
        let units = |(_, pairing): &(usize, Pairing)| pairing.units(self.layout);
        self.stages[stage].as_ref().map_or(self.layout.rows(), units)
    }

    /// The planes of a unit, if units are planes.
    pub(super) fn planes(&self, unit: usize) -> [Option<usize>; 2] {
        let of_plane = self.layout.rows_of_plane();
        match &self.planes {
            Some(planes) => {
                let [lower, upper] = planes.rows(unit * of_plane);
                [lower.map(|row| row / of_plane), upper.map(|row| row / of_plane)]
            }
            None => [None; 2],
        }
    }

    /// How many rows or pairs of rows a stage has in a unit of these planes.
    #[inline]
    pub(super) fn pairs(&self, stage: usize, planes: [Option<usize>; 2]) -> usize {
        match &self.stages[stage] {
            _ if self.planes.is_none() => 1,
            Some((1, pairing)) => pairing.units * planes.iter().flatten().count(),
            Some(_) => self.layout.rows_of_plane(),
            None => self.layout.rows_of_plane() * planes.iter().flatten().count(),
        }
    }

    /// The rows of one of these, lower and upper. Planes by themselves are the first of the two.
    #[inline]
    pub(super) fn rows(
        &self,
        stage: usize,
        unit: usize,
        planes: [Option<usize>; 2],
        pair: usize,
    ) -> [Option<usize>; 2] {
        let of_plane = self.layout.rows_of_plane();
        // The first row of the plane that has number `pair` of `count` in each.
        let place = |count: usize| {
            let [first, second] = match planes {
                [Some(first), second] => [first, second.unwrap_or(first)],
                [None, second] => [second.unwrap_or(0); 2],
            };
            if pair < count {
                (first * of_plane, pair)
            } else {
                (second * of_plane, pair - count)
            }
        };
        match &self.stages[stage] {
            Some((_, pairing)) if self.planes.is_none() => {
                if self.layout.planes() == 1 {
                    pairing.rows_from(0, unit)
                } else {
                    pairing.rows(unit)
                }
            }
            None if self.planes.is_none() => [Some(unit), None],
            Some((1, pairing)) => {
                let (first, own) = place(pairing.units);
                pairing.rows_from(first, own)
            }
            Some(_) => {
                let row = |plane: usize| plane * of_plane + pair;
                let [lower, upper] = planes;
                [lower.map(row), upper.map(row)]
            }
            None => {
                let (first, row) = place(of_plane);
                [Some(first + row), None]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Edge, Grid};

    fn sweep(axis: usize, odd: bool) -> Sweep {
        Sweep { axis, odd, angle: 0.1 }
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
        let sweeps: Vec<Sweep> = nested.into_iter().map(|(axis, odd)| sweep(axis, odd)).collect();
        let of = |size: &[usize]| passes(&Layout::new(&Grid::new(size, 1.0)), &sweeps);
        assert_eq!(
            of(&[4, 4, many]),
            [vec![0..3, 3..4, 4..5], vec![5..6], vec![6..7, 7..8, 8..11]]
        );
        let by_rows = of(&[4, many, 2]);
        assert_eq!(
            by_rows,
            [
                vec![0..3],
                vec![3..4],
                vec![4..5],
                vec![5..6],
                vec![6..7],
                vec![7..8],
                vec![8..11]
            ]
        );
        assert_eq!(of(&[4, 2, 2]).len(), sweeps.len());
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
            ([4, many, 3], vec![Some((1, true, false))]),
            ([4, many, 2], vec![Some((2, false, false))]),
        ] {
            let layout = Layout::new(&Grid::new(&size, 1.0));
            let count = stages.len();
            let units = Units::new(&layout, stages);
            assert!(units.are_whole(), "{size:?}");
            for stage in 0..count {
                let mut seen = vec![0; layout.rows()];
                for unit in 0..units.count() {
                    let planes = units.planes(unit);
                    for pair in 0..units.pairs(stage, planes) {
                        for row in units.rows(stage, unit, planes, pair).into_iter().flatten() {
                            seen[row] += 1;
                        }
                    }
                }
                assert_eq!(seen, vec![1; layout.rows()], "{size:?} stage {stage}");
            }
        }
    }

    #[test]
    fn every_row_is_in_one_unit_with_its_neighbour() {
        for size in [[1, 1, 1], [1, 5, 1], [2, 6, 1], [1, 4, 5], [1, 2, 6], [1, 7, 2]] {
            for axis in [1, 2] {
                for periodic in [false, true] {
                    if periodic && size[axis] % 2 == 1 {
                        continue;
                    }
                    for odd in [false, true] {
                        check_pairing(size, axis, periodic, odd);
                    }
                }
            }
        }
    }

    fn check_pairing(size: [usize; 3], axis: usize, periodic: bool, odd: bool) {
        let edges = if periodic { Edge::Periodic } else { Edge::Wall };
        let layout = Layout::new(&Grid::new(&size, 1.0).with_edges([edges; 3], 0));
        let pairing = Pairing::new(&layout, axis, odd, periodic);
        let mut seen = vec![0; layout.rows()];
        for unit in 0..pairing.units(&layout) {
            let rows = pairing.rows(unit);
            for row in rows.into_iter().flatten() {
                seen[row] += 1;
            }
            if let [Some(lower), Some(upper)] = rows {
                let along = |row: usize| [row % size[1], row / size[1]][axis - 1];
                let across = |row: usize| [row / size[1], row % size[1]][axis - 1];
                assert_eq!(across(lower), across(upper));
                assert_eq!((along(lower) + 1) % size[axis], along(upper));
                assert_eq!(along(lower) % 2 == 1, odd);
            }
        }
        assert_eq!(seen, vec![1; layout.rows()], "{size:?} axis {axis} {periodic} {odd}");
        let bonds = (0..pairing.units(&layout))
            .filter(|unit| pairing.rows(*unit).iter().all(Option::is_some))
            .count();
        let along = if odd && !periodic {
            (size[axis] - 1) / 2
        } else {
            size[axis] / 2
        };
        assert_eq!(bonds, along * layout.rows() / size[axis]);
    }
}
