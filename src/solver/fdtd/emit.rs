//! Sources at their sites.

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
    /// Place in lengths, delay beyond the source's, weight.
    points: Vec<([f64; 3], f64, f64)>,
}

impl Emitters {
    /// The sources on `grid`.
    pub fn new(grid: &Grid, sources: &[Source]) -> Self {
        let list = sources
            .iter()
            .map(|source| Emitter {
                points: points(grid, &source.place),
                source: source.clone(),
            })
            .collect();
        Self {
            grid: grid.clone(),
            list,
        }
    }

    /// Calls `add(site, S)` for every site that plays at time `t`; S is already divided by a^d. A source that stays plays at the nearest
    /// site; one that moves is spread over four sites an axis by a cubic B-spline, which keeps the grid out of its tone.
    pub fn play(&self, t: f64, mut add: impl FnMut([usize; 3], f64)) {
        let cell = self.grid.cell_volume();
        for Emitter { source, points } in &self.list {
            for (at, delay, weight) in points {
                let strength = source.amplitude * source.signal.at(t - source.delay - delay) * weight / cell;
                if strength == 0.0 {
                    continue;
                }
                if source.velocity == [0.0; 3] {
                    add(nearest(&self.grid, at), strength);
                } else {
                    let now = [0, 1, 2].map(|axis| at[axis] + source.velocity[axis] * t);
                    spread(&self.grid, now, |site, share| add(site, strength * share));
                }
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to the grid"
)]
fn nearest(grid: &Grid, at: &[f64; 3]) -> [usize; 3] {
    let size = grid.size();
    [0, 1, 2].map(|axis| (at[axis] / grid.spacing()).round().clamp(0.0, (size[axis] - 1) as f64) as usize)
}

/// The points of a place with delay and weight. A line's sites carry the length that they stand for.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn points(grid: &Grid, place: &Place) -> Vec<([f64; 3], f64, f64)> {
    match place {
        Place::Points(elements) => elements
            .iter()
            .map(|element| (element.at, element.delay, 1.0))
            .collect(),
        Place::Line { from, to } => {
            let (first, last) = (nearest(grid, from), nearest(grid, to));
            let steps = (0..3).map(|axis| first[axis].abs_diff(last[axis])).max().unwrap_or(0);
            let a = grid.spacing();
            let at = |n: usize| {
                [0, 1, 2].map(|axis| {
                    let part = if steps == 0 { 0.0 } else { n as f64 / steps as f64 };
                    a * (first[axis] as f64 + part * (last[axis] as f64 - first[axis] as f64))
                })
            };
            let length = (0..3)
                .map(|axis| (at(steps)[axis] - at(0)[axis]).powi(2))
                .sum::<f64>()
                .sqrt();
            let weight = if steps == 0 { a } else { length / steps as f64 };
            (0..=steps).map(|n| (at(n), 0.0, weight)).collect()
        }
    }
}

/// Shares of the sites around a point; they add up to 1, except where sites lie outside the grid and are left out.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sites outside the grid are left out before"
)]
fn spread(grid: &Grid, at: [f64; 3], mut add: impl FnMut([usize; 3], f64)) {
    let size = grid.size();
    let mut sites: Vec<([usize; 3], f64)> = vec![([0; 3], 1.0)];
    for axis in 0..grid.rank() {
        let place = at[axis] / grid.spacing();
        let mut next = Vec::with_capacity(4 * sites.len());
        for offset in -1..=2 {
            let site = place.floor() + f64::from(offset);
            if site < 0.0 || site > (size[axis] - 1) as f64 {
                continue;
            }
            let share = spline((place - site).abs());
            for (before, weight) in &sites {
                let mut moved = *before;
                moved[axis] = site as usize;
                next.push((moved, weight * share));
            }
        }
        sites = next;
    }
    for (site, share) in sites {
        add(site, share);
    }
}

/// The cubic B-spline at a distance in sites.
fn spline(d: f64) -> f64 {
    if d < 1.0 {
        2.0 / 3.0 - d * d + d * d * d / 2.0
    } else if d < 2.0 {
        (2.0 - d).powi(3) / 6.0
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let grid = Grid::new(&[20, 20], 0.5);
        for at in [[4.0, 5.0, 0.0], [4.13, 5.31, 0.0]] {
            let (mut sum, mut x) = (0.0, 0.0);
            spread(&grid, at, |site, share| {
                sum += share;
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let here = site[0] as f64 * 0.5;
                x += here * share;
            });
            // A partition of unity that keeps the centre of mass.
            assert!((sum - 1.0f64).abs() < 1e-14 && (x - at[0]).abs() < 1e-14);
        }
    }

    #[test]
    fn a_line_stands_for_its_length() {
        let grid = Grid::new(&[20, 20], 0.5);
        let line = points(
            &grid,
            &Place::Line {
                from: [2.0, 0.0, 0.0],
                to: [2.0, 9.5, 0.0],
            },
        );
        assert_eq!(line.len(), 20);
        assert!(line.iter().all(|(_, _, weight)| *weight == 0.5));
    }
}
