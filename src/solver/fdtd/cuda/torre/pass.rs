//! The order of towers: which there are in a pass over a grid, and which is taken first.

use super::Shape;
use crate::grid::Edge;

/// The towers of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// The largest stage, taken first.
    pub first: i64,
    /// Towers of a stage of even and of odd number.
    pub even: usize,
    pub odd: usize,
    pub towers: usize,
}

impl Pass {
    /// The towers over `steps` steps of a grid of ny × nz rows.
    #[expect(
        clippy::cast_possible_wrap,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes are far below 2^31"
    )]
    pub(super) fn new(shape: Shape, [_, ny, nz]: [usize; 3], across: Edge, steps: usize) -> Self {
        let half_width = (shape.width() / 2) as i64;
        let (even, odd) = if across == Edge::Periodic {
            (ny / shape.width(), ny / shape.width())
        } else {
            let last = (ny - 1) / (half_width as usize) + 1;
            (last / 2 + 1, last.div_ceil(2))
        };
        let half = shape.half as i64;
        // z = s W/2 + h t + a with 0 <= a <= W - 2 meets the grid for some t.
        let first = (nz as i64 - 1 - half).div_euclid(half_width);
        let last = -((half * steps as i64 + 2 * half_width - 2).div_euclid(half_width));
        let stages = (first - last + 1) as usize;
        let top = if first & 1 == 0 { even } else { odd };
        Self {
            first,
            even,
            odd,
            towers: stages / 2 * (even + odd) + if stages & 1 == 1 { top } else { 0 },
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
mod tests {
    use super::*;
    use crate::field::Precision;
    use crate::solver::fdtd::lattice::{Ghost, ghost};

    /// Steps a pass by stamps: every cell knows the time of both its levels, and every read must find the time before. Towers are taken in any order
    /// that their two flags allow.
    fn march(shape: Shape, [ny, nz]: [usize; 2], edges: [Edge; 2], steps: usize, mut random: u64) {
        let width = shape.width() as i64;
        let (half, periodic) = (shape.half as i64, edges[0] == Edge::Periodic);
        let pass = Pass::new(shape, [1, ny, nz], edges[0], steps);
        let in_tile = |a: i64, c: i64| (-1..=width - 2).contains(&(a + c)) && (0..width).contains(&(a - c));
        let mut towers = Vec::new();
        let mut stage = pass.first;
        while towers.len() < pass.towers {
            let odd = stage & 1;
            let count = if odd == 1 { pass.odd } else { pass.even };
            towers.extend((0..count as i64).map(|n| (stage, 2 * n + odd)));
            stage -= 1;
        }
        assert_eq!(towers.len(), pass.towers);
        let all = towers.clone();
        let around = |d: i64| {
            if periodic {
                d.rem_euclid((pass.even + pass.odd) as i64)
            } else {
                d
            }
        };
        let mut times = [vec![0_i64; ny * nz], vec![-1_i64; ny * nz]];
        let find = |edge: Edge, n: usize, at: i64| match ghost(edge, n, at as isize) {
            Ghost::Same(at) | Ghost::Negative(at) => Some(at),
            Ghost::Zero => None,
        };
        while !towers.is_empty() {
            let ready: Vec<usize> = (0..towers.len())
                .filter(|n| {
                    let (s, d) = towers[*n];
                    [d - 1, d + 1]
                        .into_iter()
                        .all(|d| !towers.contains(&(s + 1, around(d))))
                })
                .collect();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (s, d) = towers.swap_remove(ready[(random >> 33) as usize % ready.len()]);
            for t in 1..=steps as i64 {
                for a in 0..width - 1 {
                    for c in -width / 2..width / 2 {
                        let z = s * width / 2 + half * t + a;
                        let mut y = d * width / 2 + c;
                        if periodic {
                            y = y.rem_euclid(ny as i64);
                        }
                        if !in_tile(a, c) || !(0..nz as i64).contains(&z) || !(0..ny as i64).contains(&y) {
                            continue;
                        }
                        let at = |y: usize, z: usize| y + ny * z;
                        let [now, old] = [(t - 1) & 1, t & 1].map(|n| n as usize);
                        for k in -half..=half {
                            let y_to = find(edges[0], ny, y + k).map(|y| at(y, z as usize));
                            let z_to = find(edges[1], nz, z + k).map(|z| at(y as usize, z));
                            for place in [y_to, z_to].into_iter().flatten() {
                                assert_eq!(
                                    times[now][place],
                                    t - 1,
                                    "{shape:?} tower {s} {d}, t = {t}, {y} {z}, {k}"
                                );
                            }
                        }
                        let own = &mut times[old][at(y as usize, z as usize)];
                        assert_eq!(*own, t - 2, "{shape:?}, {all:?}");
                        *own = t;
                    }
                }
            }
        }
        let steps = steps as i64;
        for (level, last) in [(steps & 1, steps), ((steps - 1) & 1, steps - 1)] {
            assert!(times[level as usize].iter().all(|time| *time == last));
        }
    }

    #[test]
    fn towers_find_every_value_at_its_time() {
        for (half, dts) in [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (4, 1), (4, 2), (1, 8)] {
            let shape = Shape::new(Precision::Single, [half, dts, 8], false, false);
            let width = shape.width();
            for (edge, ny) in [
                (Edge::Wall, 2 * width + width / 2),
                (Edge::Wall, 2 * width + 1),
                (Edge::Soft, 3 * width - 1),
                (Edge::Periodic, 3 * width),
            ] {
                for along in [Edge::Wall, Edge::Soft] {
                    for (nz, periods) in [(2 * width + 3, 1), (3 * width, 3), (5, 2)] {
                        march(shape, [ny, nz], [edge, along], periods * shape.period(), 7 + ny as u64);
                    }
                }
            }
        }
    }
}
