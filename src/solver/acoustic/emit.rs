//! Sources at their sites.

use super::point::{Shares, clamped, shares};
use crate::grid::Grid;
use crate::physics::Source;
use crate::physics::source::Place;

/// The sources of a scene at their sites.
pub struct Emitters {
    grid: Grid,
    list: Vec<Emitter>,
}

struct Emitter {
    source: Source,
    points: Vec<Point>,
}

/// One point of a source.
struct Point {
    /// Place in lengths; of a source that moves, at t = 0.
    at: [f64; 3],
    /// What it waits beyond the source's own delay.
    delay: f64,
    /// The length of a line for which it stands, or 1.
    weight: f64,
    /// Its sites while it stays.
    shares: Shares,
}

impl Emitters {
    /// The sources on `grid`; `walls` has one value a site, x fastest, or is empty.
    #[must_use]
    pub fn new(grid: &Grid, sources: &[Source], walls: &[bool]) -> Self {
        let place = |at: [f64; 3], delay: f64, weight: f64, stays: bool| Point {
            shares: if stays {
                shares(grid, &clamped(grid, at), |site| is_wall(grid, walls, site))
            } else {
                Vec::new()
            },
            at,
            delay,
            weight,
        };
        let list = sources
            .iter()
            .map(|source| Emitter {
                points: points(grid, &source.place)
                    .into_iter()
                    .map(|(at, delay, weight)| place(at, delay, weight, source.velocity == [0.0; 3]))
                    .collect(),
                source: source.clone(),
            })
            .collect();
        Self {
            grid: grid.clone(),
            list,
        }
    }

    /// Calls `add(site, S)` for every site that plays at time `t`; S is already divided by a^d. Sites in walls never play. A source that moves off the grid is silent; where an
    /// axis is periodic it comes in at the other end.
    pub fn play(&self, t: f64, walls: &[bool], mut add: impl FnMut([usize; 3], f64)) {
        let cell = self.grid.cell_volume();
        for Emitter { source, points } in &self.list {
            // The points of a line play the same at the same time.
            let mut last = None;
            for point in points {
                let signal = match last {
                    Some((delay, signal)) if delay == point.delay => signal,
                    _ => source.signal.at(t - source.delay - point.delay),
                };
                last = Some((point.delay, signal));
                let strength = source.amplitude * signal * point.weight / cell;
                if strength == 0.0 {
                    continue;
                }
                let moved;
                let shares = if source.velocity == [0.0; 3] {
                    &point.shares
                } else {
                    let now = [0, 1, 2].map(|axis| point.at[axis] + source.velocity[axis] * t);
                    moved = shares(&self.grid, &now, |site| is_wall(&self.grid, walls, site));
                    &moved
                };
                for (site, share) in shares {
                    add(*site, strength * share);
                }
            }
        }
    }
}

fn is_wall(grid: &Grid, walls: &[bool], site: [usize; 3]) -> bool {
    !walls.is_empty() && walls[grid.index(site)]
}

/// The points of a place with delay and weight. A line has one in every plane of sites across its longest axis, with the length that it stands for.
fn points(grid: &Grid, place: &Place) -> Vec<([f64; 3], f64, f64)> {
    match place {
        Place::Points(elements) => elements
            .iter()
            .map(|element| (element.at, element.delay, 1.0))
            .collect(),
        Place::Line { from, to } => {
            let a = grid.spacing();
            let [from, to] = [from, to].map(|end| clamped(grid, *end));
            let extent = |axis: usize| (to[axis] - from[axis]).abs();
            let along = (0..grid.rank()).fold(0, |best, axis| if extent(axis) > extent(best) { axis } else { best });
            let [first, last] = [from, to].map(|end| (end[along] / a).round());
            let count = (last - first).abs();
            if count == 0.0 {
                return vec![(from, 0.0, a)];
            }
            let slope = [0, 1, 2].map(|axis| (to[axis] - from[axis]) / (to[along] - from[along]));
            let at = |n: f64| {
                let place = a * (first + n * (last - first) / count);
                let mut at = [0, 1, 2].map(|axis| from[axis] + slope[axis] * (place - from[along]));
                at[along] = place;
                clamped(grid, at)
            };
            let weight = a * slope.iter().map(|s| s * s).sum::<f64>().sqrt();
            let mut all = Vec::new();
            let mut n = 0.0;
            while n <= count {
                all.push((at(n), 0.0, weight));
                n += 1.0;
            }
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_for_its_length() {
        let grid = Grid::new(&[20, 20], 0.5);
        let line = |from: [f64; 3], to: [f64; 3]| points(&grid, &Place::Line { from, to });
        let straight = line([2.0, 0.0, 0.0], [2.0, 9.5, 0.0]);
        assert_eq!(straight.len(), 20);
        assert!(straight.iter().all(|(at, _, weight)| *weight == 0.5 && at[0] == 2.0));
        // Half as far along y as along x: √(1 + ¼) · a each, and the points lie on the line between the sites.
        let oblique = line([1.0, 1.1, 0.0], [7.0, 4.1, 0.0]);
        assert_eq!(oblique.len(), 13);
        for (at, _, weight) in oblique {
            assert!((weight - 0.5 * 1.25f64.sqrt()).abs() < 1e-12);
            assert!((at[1] - 1.1 - (at[0] - 1.0) / 2.0).abs() < 1e-12);
        }
    }
}
