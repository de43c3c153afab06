//! What forces take of the slope of the pressure: ρ ∂v/∂t = f − ∂p/∂n.
//!
//! A source with a direction is a force, and holds up a step of the pressure at its place, A s(t) across a layer, which by itself moves nothing. On the lattice it is the field U with c²LU + S = 0 along the
//! force's axis, S the source on its sites ([`emit`]): S is −∇δ by the central difference whose symbol is half the derivative of that of L, so that U has the symbol ½ d ln λ/dk. With
//! λ = s q(s), s = sin²(ka/2), U at the distance j is ½ sgn j + (1/2π) ∫ ½ (d ln q/dk) sin jk dk in steps, ½ sgn j at order 2. The slope of U, with a detector's own weights, is the force that it reads. What is left of the
//! slope accelerates the medium, and stays finite however fine the grid is. A one-way source also puts in volume: through its place v rises from 0 to p/ρc, and the detector there reads what lies between.
//!
//! Left out are sources that move. Beside walls the step is that of a force without them, and so is that where speed or density change within some sites.

use super::velocity::gradient;
use crate::grid::Grid;
use crate::physics::Source;
use crate::physics::sinc::RADIUS;
use crate::physics::source::Pattern;
use crate::solver::acoustic::{emit, point};
use std::f64::consts::TAU;

/// Sites beside a force after which its step is flat, to 10⁻⁷.
const REACH: usize = 16;
/// Points of a turn at which symbols are summed: what is left out is as small as U's part beyond them.
const POINTS: u32 = 64;

/// The forces of a source as a detector reads them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Felt {
    source: Source,
    /// Delays, s, and slopes per unit of the signal, Pa/m.
    parts: Vec<(f64, f64)>,
}

impl Felt {
    /// The slope of the pressure that they hold up at a time, Pa/m.
    pub(super) fn slope(&self, time: f64) -> f64 {
        let of = |(delay, slope): &(f64, f64)| slope * self.source.signal_at(time, *delay);
        self.parts.iter().map(of).sum()
    }
}

/// U at the distances 0, 1, 2, … from a force, for half the scheme's order in space.
fn step(half: usize) -> [f64; REACH + 1] {
    let mut all = [0.5; REACH + 1];
    all[0] = 0.0;
    for n in 0..POINTS {
        let k = TAU * f64::from(n) / f64::from(POINTS);
        let s = (k / 2.0).sin().powi(2);
        // q = Σ cₙ sⁿ of (ka)²/4 = s Σ cₙ sⁿ, cₙ/cₙ₋₁ = 4n²/((2n + 1)(2n + 2)), and its derivative.
        let (mut q, mut slope, mut c, mut power) = (1.0, 0.0, 1.0, 1.0);
        for n in (1..half).filter_map(|n| u32::try_from(n).ok()).map(f64::from) {
            c *= 4.0 * n * n / ((2.0 * n + 1.0) * (2.0 * n + 2.0));
            slope += n * c * power;
            power *= s;
            q += c * power;
        }
        let weight = slope / q * k.sin() / 4.0 / f64::from(POINTS);
        let mut distance = 0.0;
        for value in &mut all {
            *value += weight * (distance * k).sin();
            distance += 1.0;
        }
    }
    all
}

/// The way from one place to another along an axis, sites; on a ring the shorter one.
fn way(grid: &Grid, axis: usize, from: usize, to: usize) -> isize {
    let sites = grid.size()[axis].cast_signed();
    let way = to.cast_signed() - from.cast_signed();
    if grid.is_periodic(axis) {
        (way + sites / 2).rem_euclid(sites) - sites / 2
    } else {
        way
    }
}

/// The forces that a detector of the velocity at a place, lengths, along a direction reads.
pub(super) fn felt(
    (grid, sources, half): (&Grid, &[Source], usize),
    (at, direction): ([f64; 3], [f64; 3]),
    (wall, takes): (impl Fn([usize; 3]) -> bool + Copy, bool),
) -> Vec<Felt> {
    let step = step(half);
    let mut all = Vec::new();
    for axis in (0..grid.rank()).filter(|axis| direction[*axis] != 0.0) {
        let mut along = [0.0; 3];
        along[axis] = direction[axis];
        let slopes = gradient(grid, at, along, (wall, takes));
        for source in sources {
            let force = match source.pattern {
                Pattern::Dipole(force) | Pattern::OneWay(force) if source.velocity == [0.0; 3] => force[axis],
                _ => 0.0,
            };
            if force == 0.0 {
                continue;
            }
            let unit = source.amplitude * force * grid.spacing() / grid.cell_volume();
            let mut parts: Vec<(f64, f64)> = Vec::new();
            for (place, delay, weight) in emit::points(grid, &source.place) {
                let place = point::within(grid, place);
                let sites = [grid.nearest(place), grid.nearest(at)];
                let near = (0..grid.rank()).all(|other| {
                    let reach = 2 * RADIUS.unsigned_abs() + 2 + if other == axis { REACH } else { 0 };
                    way(grid, other, sites[0][other], sites[1][other]).unsigned_abs() <= reach
                });
                if !near {
                    continue;
                }
                let mut slope = 0.0;
                for (from, share) in point::shares(grid, &place, wall) {
                    for (to, own) in &slopes {
                        if (0..3).any(|other| other != axis && from[other] != to[other]) {
                            continue;
                        }
                        let way = way(grid, axis, from[axis], to[axis]);
                        let height = step[way.unsigned_abs().min(REACH)];
                        slope += own * share * if way < 0 { -height } else { height };
                    }
                }
                let slope = unit * weight * slope;
                match parts.last_mut() {
                    Some((known, sum)) if *known == delay => *sum += slope,
                    _ => parts.push((delay, slope)),
                }
            }
            all.extend((!parts.is_empty()).then(|| Felt {
                source: source.clone(),
                parts,
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// U solves L U = D at every order: the second difference of it is the first difference of δ, with the weights of both, and at order 4 its part beside ½ falls by 7 − √48 a site.
    #[test]
    fn a_step_is_what_its_force_holds() {
        let second = [
            &[1.0][..],
            &[4.0 / 3.0, -1.0 / 12.0],
            &[1.5, -3.0 / 20.0, 1.0 / 90.0],
            &[1.6, -0.2, 8.0 / 315.0, -1.0 / 560.0],
        ];
        for weights in second {
            let step = step(weights.len());
            let at = |j: isize| {
                let height = step[j.unsigned_abs().min(REACH)];
                if j < 0 { -height } else { height }
            };
            for j in -8..=8_isize {
                let mut found = 0.0;
                let mut force = 0.0;
                for (weight, n) in weights.iter().zip(1_isize..) {
                    found += weight * (at(j + n) + at(j - n) - 2.0 * at(j));
                    // Half the derivative of the symbol: ±n/2 of each weight.
                    if j.abs() == n {
                        #[expect(clippy::cast_precision_loss, reason = "at most 4")]
                        let share = weight * n as f64 / 2.0;
                        force -= if j > 0 { share } else { -share };
                    }
                }
                assert!(
                    (found - force).abs() < 1e-7,
                    "order {}, {j}: {found} for {force}",
                    2 * weights.len()
                );
            }
        }
        assert!((step(2)[1] - 0.5 - 0.5 * (7.0 - 48f64.sqrt())).abs() < 1e-12);
    }
}
