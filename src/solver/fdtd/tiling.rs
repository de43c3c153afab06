//! Many steps of a part of the grid at a time: towers on diamonds (3D), diamonds of rows and steps (2D).
//!
//! Row (c, w) of step t - c along the axis that the diamonds cross, w along the one that the wave front follows - belongs to the tower
//! (i, j) whose strips hold u = w + c − st and v = w − c − st. A stencil of half width s reads rows whose u and v are no smaller, and
//! overwrites a level that only rows with u and v no larger still need. So towers with i + j descending, in any order or at once where it is
//! equal, each with t ascending, give what steps over the whole grid give, to the bit, in place on two levels (Levchenko et al. 2016, §4).
//! A tower is a diamond of (W/s)²/2 s² rows that slides by s a step along w; c stays. In two dimensions there is one w, and a tower is a diamond in c and t.
//!
//! Where c is periodic, strips repeat with its period: shifting c by it moves a tower to (i + M, j − M), its own image. Strips may have any
//! widths, so that no size is excluded. Along w there is no period: a front must start somewhere. Fronts follow z, or y where z is periodic and y is not.
//!
//! Absorbing layers add no requirement: the memory variables of a site follow from the pressure that its stencil reads ([`super::cpml`]).
//!
//! Where s is even and fronts follow z, planes go by pairs, w − w mod 2 in place of w: a stencil reaches s rows of such pairs at most, so that all of the above
//! holds, and diamonds have no single rows at their ends without a partner for a bundle ([`super::bundle`]).
//!
//! Traffic, s = h, W = 2hD: 4/D words a site and step within a tower, and 4/N_t for loading and leaving it, against 3 step by step.

use super::lattice::Lattice;
use super::stage::Part;
use crate::grid::Edge;
use std::collections::HashMap;
use std::ops::Range;

/// Strips of one coordinate: strip n is start(n) ≤ u < start(n + 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Strips {
    /// `count` strips to every `length`.
    count: i64,
    length: i64,
}

impl Strips {
    fn start(self, n: i64) -> i64 {
        (n * self.length).div_euclid(self.count)
    }

    fn strip(self, n: i64) -> Range<i64> {
        self.start(n)..self.start(n + 1)
    }

    /// The strip that holds a place.
    fn holding(self, at: i64) -> i64 {
        let mut n = (at * self.count).div_euclid(self.length);
        while self.start(n) > at {
            n -= 1;
        }
        while self.start(n + 1) <= at {
            n += 1;
        }
        n
    }
}

/// The cut of a grid into towers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tiling {
    /// s: rows by which a step leans.
    pub(super) slope: i64,
    /// Axis of the diamonds' width, 1 or 2.
    pub(super) cross: usize,
    /// Axis of the front, 2 or 1.
    pub(super) front: usize,
    /// Rows along them.
    crossing: i64,
    pub(super) fronts: i64,
    periodic: bool,
    strips: Strips,
    /// Rows along the front that have the same c: 2 or 1.
    together: i64,
}

/// A tower: its strips of u and v.
#[derive(Clone, Debug)]
pub(super) struct Tower {
    pub(super) u: Range<i64>,
    pub(super) v: Range<i64>,
    /// Steps in which it may have rows.
    pub(super) steps: Range<i64>,
    /// Places of the towers that have to be done before.
    pub(super) needs: Vec<usize>,
}

impl Tiling {
    /// Towers of width 2 · slope · `dts`; `None` where no front can start, since y and z are periodic, or where there are no rows.
    #[expect(clippy::cast_possible_wrap, reason = "sizes are far below 2^63")]
    pub(super) fn new(lattice: &Lattice, dts: usize) -> Option<Self> {
        let periodic = |axis: usize| lattice.edges[axis] == Edge::Periodic && lattice.size[axis] > 1;
        if lattice.rank < 2 || (periodic(1) && periodic(2)) {
            return None;
        }
        let (cross, front) = if periodic(2) { (2, 1) } else { (1, 2) };
        let (crossing, slope) = (lattice.size[cross] as i64, lattice.half as i64);
        let width = 2 * slope * dts as i64;
        let strips = if periodic(cross) {
            Strips {
                count: (crossing / width).max(1),
                length: crossing,
            }
        } else {
            Strips {
                count: 1,
                length: width,
            }
        };
        Some(Self {
            slope,
            cross,
            front,
            crossing,
            fronts: lattice.size[front] as i64,
            periodic: periodic(cross),
            strips,
            together: if cross == 1 && lattice.rank > 2 && slope % 2 == 0 {
                2
            } else {
                1
            },
        })
    }

    /// The towers of a pass of `steps` steps, each after all that it needs: i + j descends. What a row reads lies in its own strips and those after
    /// them, which are 2s wide at least.
    pub(super) fn towers(&self, steps: usize) -> Vec<Tower> {
        let steps = steps.cast_signed() as i64;
        let strips = self.strips;
        let lean = self.slope * steps;
        // u + v = 2(w − st), u − v = 2c.
        let last = 2 * strips.holding(self.fronts + self.crossing) + 2;
        let first = 2 * strips.holding(-lean - self.crossing) - 2;
        // On a ring of few strips the next one may be narrow, or the same one again.
        let narrow = self.periodic && strips.count < 4;
        let (mut towers, mut places) = (Vec::new(), HashMap::new());
        let mut before = 0..0;
        for sum in (first..=last).rev() {
            let candidates = if self.periodic {
                0..strips.count
            } else {
                // 2c = u − v lies between 0 and 2 `crossing`, faces a strip further out: that bounds i − j, and i + j is given.
                (sum - 2 * self.crossing / strips.length - 4).div_euclid(2)..(sum + 5).div_euclid(2)
            };
            let begin = towers.len();
            for j in candidates {
                let Some(mut tower) = self.tower(sum - j, j, steps) else {
                    continue;
                };
                tower.needs = if narrow {
                    before.clone().collect()
                } else {
                    let next = [(1, 0), (0, 1), (1, 1)].map(|(u, v)| self.named(sum - j + u, j + v));
                    next.iter().filter_map(|next| places.get(next)).copied().collect()
                };
                places.insert((sum - j, j), towers.len());
                towers.push(tower);
            }
            if towers.len() > begin {
                before = begin..towers.len();
            }
        }
        towers
    }

    /// The numbers that a tower goes by: on a ring it has several.
    fn named(&self, i: i64, j: i64) -> (i64, i64) {
        if !self.periodic {
            return (i, j);
        }
        let turn = j.div_euclid(self.strips.count) * self.strips.count;
        (i + turn, j - turn)
    }

    /// Tower (i, j), if it may have rows.
    fn tower(&self, i: i64, j: i64, steps: i64) -> Option<Tower> {
        let (u, v) = (self.strips.strip(i), self.strips.strip(j));
        let (most, least) = (u.end - 1 + v.end - 1, u.start + v.start);
        if !self.periodic {
            let c = (u.start - (v.end - 1)).div_euclid(2)..=(u.end - 1 - v.start).div_euclid(2);
            if *c.end() + self.slope + 1 < 0 || *c.start() - self.slope > self.crossing {
                return None;
            }
        }
        // 0 ≤ w = (u + v)/2 + st < fronts, with room for faces.
        let from = (-most).div_euclid(2 * self.slope) - 2;
        let to = (2 * self.fronts - least).div_euclid(2 * self.slope) + 2;
        let steps = from.max(1)..(to + 1).min(steps + 1);
        (!steps.is_empty()).then_some(Tower {
            u,
            v,
            steps,
            needs: Vec::new(),
        })
    }

    /// The c of a tower at step t and place w of the front, not yet wrapped or clipped.
    pub(super) fn run(&self, tower: &Tower, t: i64, w: i64) -> Range<i64> {
        let at = w - w.rem_euclid(self.together) - self.slope * t;
        (tower.u.start - at).max(at - tower.v.end + 1)..(tower.u.end - at).min(at - tower.v.start + 1)
    }

    /// The w at which a tower has rows at step t, clipped to the grid.
    fn fronts(&self, tower: &Tower, t: i64) -> Range<i64> {
        let lean = self.slope * t;
        let from = (tower.u.start + tower.v.start).div_euclid(2) + lean;
        let to = (tower.u.end + tower.v.end - 2).div_euclid(2) + lean + 1;
        // Those whose pair begins there.
        let (from, to) = (from + from.rem_euclid(self.together), to + to.rem_euclid(self.together));
        from.max(0)..to.min(self.fronts)
    }

    /// The rows that a tower steps at t: pairs of rows beside each other along z where c is y, single rows for the rest.
    pub(super) fn parts(&self, tower: &Tower, t: i64, parts: &mut Vec<Part>) {
        parts.clear();
        let mut put = |w: i64, c: Range<i64>, planes: usize| {
            let Ok(front) = usize::try_from(w) else { return };
            self.wrapped(c, |start, count| {
                parts.push(Part {
                    first: if self.cross == 1 {
                        [start, front]
                    } else {
                        [front, start]
                    },
                    along: self.cross,
                    count,
                    planes,
                });
            });
        };
        let fronts = self.fronts(tower, t);
        let mut w = fronts.start;
        while w < fronts.end {
            let (one, other) = (self.run(tower, t, w), self.run(tower, t, w + 1));
            let both = one.start.max(other.start)..one.end.min(other.end);
            if self.cross == 1 && w + 1 < fronts.end && !both.is_empty() {
                put(w, both.clone(), 2);
                for (w, all) in [(w, one), (w + 1, other)] {
                    put(w, all.start..both.start, 1);
                    put(w, both.end..all.end, 1);
                }
                w += 2;
            } else {
                put(w, one, 1);
                w += 1;
            }
        }
    }

    /// The c at place w of the front that a tower reads at step t: its rows and those within `half` of them.
    fn reach(&self, tower: &Tower, t: i64, w: i64, half: i64) -> Range<i64> {
        let own = self.run(tower, t, w);
        let mut all = if own.is_empty() {
            own
        } else {
            own.start - half..own.end + half
        };
        for beside in [self.run(tower, t, w - half), self.run(tower, t, w + half)] {
            if all.is_empty() {
                all = beside;
            } else if !beside.is_empty() {
                all = all.start.min(beside.start)..all.end.max(beside.end);
            }
        }
        all
    }

    /// Calls `visit(c, w)` for the rows of the level written at step t that the tower touches at step t + 1 for the first time.
    pub(super) fn coming(&self, tower: &Tower, t: i64, half: i64, mut visit: impl FnMut(usize, usize)) {
        let from = self.fronts(tower, t).start - half;
        for w in from.max(0)..(self.fronts(tower, t + 1).end + half).min(self.fronts) {
            let Ok(front) = usize::try_from(w) else { continue };
            let next = self.reach(tower, t + 1, w, half);
            let known = self.reach(tower, t - 1, w, half);
            let known = if known.is_empty() {
                next.start..next.start
            } else {
                known
            };
            for part in [
                next.start..known.start.min(next.end),
                known.end.max(next.start)..next.end,
            ] {
                self.wrapped(part, |start, count| {
                    (start..start + count).for_each(|c| visit(c, front));
                });
            }
        }
    }

    /// Calls `visit(start, count)` for the parts of a range of c that lie in the grid.
    pub(super) fn wrapped(&self, c: Range<i64>, mut visit: impl FnMut(usize, usize)) {
        let n = self.crossing;
        let mut part = |from: i64, to: i64| {
            if let (Ok(start), Ok(count)) = (usize::try_from(from), usize::try_from(to - from))
                && count > 0
            {
                visit(start, count);
            }
        };
        if !self.periodic {
            part(c.start.max(0), c.end.min(n));
            return;
        }
        let mut at = c.start;
        while at < c.end {
            let place = at.rem_euclid(n);
            let end = (at + n - place).min(c.end);
            part(place, place + end - at);
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;

    /// The tower in which a row comes, by (t, c, w).
    fn places(tiling: &Tiling, towers: &[Tower]) -> HashMap<(i64, i64, i64), usize> {
        let (mut all, mut parts) = (HashMap::new(), Vec::new());
        for (n, tower) in towers.iter().enumerate() {
            for t in tower.steps.clone() {
                tiling.parts(tower, t, &mut parts);
                for part in &parts {
                    for (n_along, plane) in (0..part.count).flat_map(|n| (0..part.planes).map(move |b| (n, b))) {
                        let mut at = part.first.map(|place| place.cast_signed() as i64);
                        at[part.along - 1] += n_along.cast_signed() as i64;
                        at[1] += plane.cast_signed() as i64;
                        let [c, w] = if tiling.cross == 1 { at } else { [at[1], at[0]] };
                        let row = (t, c, w);
                        assert!(all.insert(row, n).is_none(), "{row:?} comes twice");
                    }
                }
            }
        }
        all
    }

    /// For each tower, which ones are surely done before it begins.
    fn before(towers: &[Tower]) -> Vec<Vec<bool>> {
        let mut all: Vec<Vec<bool>> = Vec::new();
        for (n, tower) in towers.iter().enumerate() {
            let mut done = vec![false; towers.len()];
            for &needed in &tower.needs {
                assert!(needed < n, "it would be waited for forever");
                done[needed] = true;
                for (own, other) in done.iter_mut().zip(&all[needed]) {
                    *own |= other;
                }
            }
            all.push(done);
        }
        all
    }

    /// Every row comes once a step, after all that it reads: in a tower that is done by then, or earlier in the same one.
    #[test]
    fn rows_come_once_and_after_what_they_read() {
        let steps = 9;
        for (size, edges) in [
            (&[4, 13, 11][..], [Edge::Wall; 3]),
            (&[4, 14, 9], [Edge::Wall, Edge::Periodic, Edge::Soft]),
            (&[4, 9, 10], [Edge::Wall, Edge::Soft, Edge::Periodic]),
            (&[4, 37, 12], [Edge::Wall, Edge::Periodic, Edge::Wall]),
            (&[4, 5, 17], [Edge::Wall, Edge::Periodic, Edge::Absorb]),
            (&[4, 23], [Edge::Wall; 3]),
            (&[4, 20], [Edge::Periodic; 3]),
        ] {
            for (half, dts) in [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (4, 1)] {
                let lattice = Lattice::new(&Grid::new(size, 1.0).with_edges(edges, 2), half);
                let tiling = Tiling::new(&lattice, dts).unwrap();
                let towers = tiling.towers(steps);
                let (all, before) = (places(&tiling, &towers), before(&towers));
                let rows = lattice.rows() * steps;
                assert_eq!(all.len(), rows, "{size:?} {edges:?} {half} {dts}");
                let reach = tiling.slope;
                for (&(t, c, w), &tower) in &all {
                    for offset in -reach..=reach {
                        let beside = if tiling.periodic {
                            (c + offset).rem_euclid(tiling.crossing)
                        } else {
                            c + offset
                        };
                        for read in [(t - 1, beside, w), (t - 1, c, w + offset)] {
                            if let Some(&other) = all.get(&read) {
                                assert!(
                                    other == tower || before[tower][other],
                                    "{size:?} {edges:?} {half} {dts}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn strips_cover_the_line() {
        for (count, length) in [(1, 6), (3, 20), (4, 7), (5, 5)] {
            let strips = Strips { count, length };
            for at in -50..50 {
                assert!(strips.strip(strips.holding(at)).contains(&at));
                let n = strips.holding(at);
                assert_eq!(strips.start(n + count), strips.start(n) + length);
            }
        }
    }
}
