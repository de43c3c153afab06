//! Sources at their sites.

use super::outward::Domain;
use super::point::{Shares, clamped, shares};
use crate::grid::Grid;
use crate::physics::source::Place;
use crate::physics::{Medium, Sets, Source};
use crate::scene::Scenario;

/// The sources of a scene at their sites.
pub struct Emitters {
    /// The grid that is stepped.
    window: Grid,
    /// The grid of the scene.
    grid: Grid,
    /// The medium of the scene where a window is stepped, whose walls do not tell of those beside it.
    beside: Option<(Medium, Domain)>,
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
    /// The sources of a scene; `walls` has one value a site of its grid, x fastest, or is empty.
    #[must_use]
    pub fn of(scenario: &Scenario, walls: &[bool]) -> Self {
        let (window, medium) = (scenario.grid(), scenario.medium());
        let beside = (window.is_window() && medium.has(Sets::Wall)).then(|| {
            let grid = window.whole();
            (medium.over(grid.clone()), Domain::new(&grid))
        });
        Self::placed(window, scenario.sources(), walls, beside)
    }

    #[cfg(test)]
    fn new(grid: &Grid, sources: &[Source], walls: &[bool]) -> Self {
        Self::placed(grid, sources, walls, None)
    }

    fn placed(window: &Grid, sources: &[Source], walls: &[bool], beside: Option<(Medium, Domain)>) -> Self {
        let mut new = Self {
            grid: window.whole(),
            window: window.clone(),
            beside,
            list: Vec::new(),
        };
        let place = |at: [f64; 3], delay: f64, weight: f64, stays: bool| Point {
            shares: if stays {
                shares(&new.grid, &clamped(&new.grid, at), |site| new.is_wall(walls, site))
            } else {
                Vec::new()
            },
            at,
            delay,
            weight,
        };
        let list = (sources.iter())
            .map(|source| Emitter {
                points: points(&new.grid, &source.place)
                    .into_iter()
                    .map(|(at, delay, weight)| place(at, delay, weight, source.velocity == [0.0; 3]))
                    .collect(),
                source: source.clone(),
            })
            .collect();
        new.list = list;
        new
    }

    /// Whether a wall stands at a site of the scene's grid.
    fn is_wall(&self, walls: &[bool], [i, j, k]: [usize; 3]) -> bool {
        let Some((medium, domain)) = &self.beside else {
            return !walls.is_empty() && walls[self.grid.index([i, j, k])];
        };
        let ([j, k], i) = (domain.row(j, k), domain.at(0, i));
        let mut wall = [false];
        medium.wall_row(j, k, i..i + 1, &mut wall);
        wall[0]
    }

    /// The sites of sources that stay, each with the number of its channel and its share of what that plays; `None` where a source moves. A channel is a run of points that play the same.
    #[must_use]
    pub fn players(&self) -> Option<Vec<([usize; 3], usize, f64)>> {
        if self.list.iter().any(|emitter| emitter.source.velocity != [0.0; 3]) {
            return None;
        }
        let channels = self.list.iter().flat_map(Emitter::channels).enumerate();
        let shares = |(channel, points): (usize, &'_ [Point])| -> Vec<([usize; 3], usize, f64)> {
            let all = points.iter().flat_map(|point| &point.shares);
            all.map(|(site, share)| (*site, channel, *share)).collect()
        };
        Some(channels.flat_map(shares).collect())
    }

    /// How many sites play, about: those of sources that move count once for each point.
    #[must_use]
    pub fn sites(&self) -> usize {
        let points = self.list.iter().flat_map(|emitter| &emitter.points);
        points.map(|point| point.shares.len().max(1)).sum()
    }

    /// The strength of every channel at time `t`: a site plays its share of it. As [`Emitters::play`] says.
    #[must_use]
    pub fn strengths(&self, t: f64) -> Vec<f64> {
        let cell = self.grid.cell_volume();
        let of = |emitter: &Emitter| -> Vec<f64> {
            let source = &emitter.source;
            let strength = |points: &[Point]| {
                let signal = source.signal.at(t - source.delay - points[0].delay);
                source.amplitude * signal * points[0].weight / cell
            };
            emitter.channels().map(strength).collect()
        };
        self.list.iter().flat_map(of).collect()
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
                    moved = shares(&self.grid, &now, |site| self.is_wall(walls, site));
                    &moved
                };
                for ([i, j, k], share) in shares {
                    for j in self.window.locals(1, *j) {
                        for k in self.window.locals(2, *k) {
                            add([*i, j, k], strength * share);
                        }
                    }
                }
            }
        }
    }
}

impl Emitter {
    /// Runs of points that play the same.
    fn channels(&self) -> impl Iterator<Item = &[Point]> {
        let alike = |a: &Point, b: &Point| a.delay == b.delay && a.weight == b.weight;
        self.points.chunk_by(alike)
    }
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
    fn channels_play_what_sites_are_given() {
        use crate::physics::source::{Element, Signal};
        let grid = Grid::new(&[40, 30], 0.5);
        let source = |place: Place, velocity: [f64; 3]| Source {
            place,
            signal: Signal::Sine { frequency: 0.3 },
            amplitude: 7.0,
            delay: 0.2,
            velocity,
        };
        let element = |x: f64, delay: f64| Element {
            at: [x, 6.1, 0.0],
            delay,
        };
        let points = Place::Points(vec![element(3.0, 0.0), element(3.3, 0.4), element(4.0, 0.4)]);
        let line = Place::Line {
            from: [2.0, 3.0, 0.0],
            to: [6.0, 3.0, 0.0],
        };
        let still = [source(points, [0.0; 3]), source(line.clone(), [0.0; 3])];
        let emitters = Emitters::new(&grid, &still, &[]);
        let players = emitters.players().expect("nothing moves");
        for t in [0.3, 1.7, 40.0] {
            let strengths = emitters.strengths(t);
            // Two moments of the points, and the line.
            assert_eq!(strengths.len(), 3);
            let (mut played, mut expected) = (Vec::new(), Vec::new());
            for (site, channel, share) in &players {
                played.push((*site, strengths[*channel] * share));
            }
            emitters.play(t, &[], |site, strength| expected.push((site, strength)));
            played.retain(|(_, strength)| *strength != 0.0);
            expected.retain(|(_, strength)| *strength != 0.0);
            assert_eq!(played, expected, "t = {t}");
        }
        assert!(
            Emitters::new(&grid, &[source(line, [1.0, 0.0, 0.0])], &[])
                .players()
                .is_none()
        );
    }

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
