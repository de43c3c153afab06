//! The velocity of the medium at a point, from the pressures around it: ρ ∂v/∂t = −∂p/∂n, and from the forces of sources ([`super::forces`]).
//!
//! The derivative along each axis is the difference of the pressures half a site to either side, which are interpolated between sites ([`point`]) with the same weights, so that a constant has
//! none; walls and edges are mirrors. It is sin(ka/2)/(ka/2) of the true one, as the scheme's own. The time integral is the trapezoidal rule over the steps, off by (ωΔt)²/12. v = 0 where it
//! begins. So every method and back end that records pressures at points records velocities, and no array of all sites is needed. ρ is that of the nearest site: within four sites of
//! a jump of the density the derivative is smeared.

use super::forces::Felt;
use crate::grid::Grid;
use crate::physics::sinc::RADIUS;
use crate::solver::acoustic::point::{self, Shares};

/// Sites beside a place that its slope is made of where no wall is near.
const FAR: isize = RADIUS + 1;
/// Sites that a slope beside a wall that takes energy is made of.
const NODES: isize = 4;

/// Half the distance of the two places whose difference is taken, in spacings.
const HALF: f64 = 0.5;

/// Sites whose pressures with these weights add up to ∂p/∂n at a place; a site without weight where the nearest one is a wall. Between the face of a wall or a rigid edge and the first site
/// before it one of the two places lies behind the face, which mirrors it. Where walls take energy (`takes`) the slope goes on up to them instead ([`beside_wall`]).
pub(super) fn gradient(
    grid: &Grid,
    at: [f64; 3],
    direction: [f64; 3],
    (wall, takes): (impl Fn([usize; 3]) -> bool + Copy, bool),
) -> Shares {
    let at = point::within(grid, at);
    let mut all = Shares::new();
    for axis in (0..grid.rank()).filter(|axis| direction[*axis] != 0.0) {
        if let Some(own) = takes.then(|| beside_wall(grid, at, axis, wall)).flatten() {
            all.extend(own.into_iter().map(|(site, weight)| (site, weight * direction[axis])));
            continue;
        }
        let beside = |side: f64| {
            let mut way = [0.0; 3];
            way[axis] = side * HALF * grid.spacing();
            point::shares_beside(grid, &at, way, wall)
        };
        let (before, behind) = (beside(-1.0), beside(1.0));
        if before.is_empty() || behind.is_empty() {
            return vec![([0; 3], 0.0)];
        }
        let factor = direction[axis] / grid.spacing();
        all.extend(before.into_iter().map(|(site, weight)| (site, -weight * factor)));
        all.extend(behind.into_iter().map(|(site, weight)| (site, weight * factor)));
    }
    point::one_entry_a_site(&mut all);
    all
}

/// Sites whose pressures with these weights add up to the slope along an axis where walls or edges are near along it; `None` where none are, or too little room for it.
///
/// At a wall that takes energy the pressure has a slope, ∂p/∂n = −(1/ξc) ∂p/∂t, which a mirror would hide. The slope is that of the polynomial through four sites, which goes on to the face whatever the wall does, a
/// hundredth off at 35 sites a wavelength and some per cent at 17. The last site before a face is left out where there is room: wide stencils take the face for a mirror there.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "places and sites beside each other"
)]
fn beside_wall(grid: &Grid, at: [f64; 3], axis: usize, wall: impl Fn([usize; 3]) -> bool + Copy) -> Option<Shares> {
    let (place, center) = (at[axis] / grid.spacing(), grid.nearest(at));
    let off = place
        - if grid.is_periodic(axis) {
            place.round()
        } else {
            center[axis] as f64
        };
    let sites = grid.size()[axis].cast_signed();
    let moved = |mut site: [usize; 3], by: isize| {
        let to = site[axis].cast_signed() + by;
        let to = if grid.is_periodic(axis) {
            to.rem_euclid(sites)
        } else {
            to
        };
        site[axis] = usize::try_from(to).ok().filter(|_| to < sites)?;
        (!wall(site)).then_some(site)
    };
    let open = |up: isize| {
        (1..=FAR)
            .take_while(|n| moved(center, up * n).is_some())
            .last()
            .unwrap_or(0)
    };
    let (below, above) = (open(-1), open(1));
    if below == FAR && above == FAR {
        return None;
    }
    let face = |open: isize| isize::from(open < FAR);
    let (mut low, mut high) = (face(below) - below, above - face(above));
    if high - low + 1 < NODES {
        (low, high) = (-below, above);
    }
    let count = NODES.min(high - low + 1);
    if count < 2 {
        return None;
    }
    let first = ((off - (count - 1) as f64 / 2.0).round() as isize).clamp(low, high - count + 1);
    let nodes: Vec<isize> = (first..first + count).collect();
    // The derivative of Lagrange's polynomial of a node.
    let weight = |own: isize| -> f64 {
        let others = || nodes.iter().filter(move |other| **other != own);
        let without = |left: isize| {
            others()
                .filter(move |other| **other != left)
                .map(|other| off - *other as f64)
        };
        let all: f64 = others().map(|other| (own - other) as f64).product();
        others().map(|left| without(*left).product::<f64>()).sum::<f64>() / all
    };
    // The other axes between their sites, as everywhere.
    let mut on_site = at;
    on_site[axis] = at[axis] - off * grid.spacing();
    let mut shares = Shares::new();
    for (site, share) in point::shares(grid, &on_site, wall) {
        for node in &nodes {
            shares.push((moved(site, *node)?, share * weight(*node) / grid.spacing()));
        }
    }
    (!shares.is_empty()).then_some(shares)
}

/// v of a detector, added up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Velocity {
    /// ρ at its place, kg/m³.
    pub(super) density: f64,
    /// The forces of sources there.
    pub(super) forces: Vec<Felt>,
    /// Time, velocity and ∂p/∂n of the last record.
    last: Option<[f64; 3]>,
}

impl Velocity {
    pub(super) fn new(density: f64) -> Self {
        Self {
            density,
            forces: Vec::new(),
            last: None,
        }
    }

    /// v at a time, where ∂p/∂n is `slope`.
    pub(super) fn after(&mut self, time: f64, slope: f64) -> f64 {
        let slope = slope - self.forces.iter().map(|force| force.slope(time)).sum::<f64>();
        let velocity = self.last.map_or(0.0, |[then, velocity, before]| {
            velocity - (time - then) * f64::midpoint(before, slope) / self.density
        });
        self.last = Some([time, velocity, slope]);
        velocity
    }

    /// Its state for a checkpoint; NaN before the first record.
    pub(super) fn numbers(&self) -> [f64; 3] {
        self.last.unwrap_or([f64::NAN; 3])
    }

    /// Continues from such a state.
    pub(super) fn restore(&mut self, numbers: [f64; 3]) {
        self.last = (!numbers[0].is_nan()).then_some(numbers);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::cast_precision_loss, reason = "small grids")]

    use super::*;
    use crate::grid::Edge;
    use std::f64::consts::PI;

    /// A standing wave before a rigid face, by an edge or by a wall inside, and before a soft edge: its slope between the last site and the face as well as elsewhere. The difference over a site
    /// is sin(ka/2)/(ka/2) of the slope, 0.5 % less at 18 sites a wavelength, the weights are off by 0.12 %.
    #[test]
    fn slopes_are_known_up_to_the_faces() {
        // (edge, first and last site before walls, place of the node of the slope or of the pressure)
        for (edge, [first, last], beyond) in [
            (Edge::Wall, [0, 35], 0.5),
            (Edge::Wall, [5, 40], 0.5),
            (Edge::Soft, [0, 34], 1.0),
        ] {
            let size = if first == 0 { last + 1 } else { 46 };
            let grid = Grid::new(&[size, 7], 0.5).with_edges([edge, Edge::Periodic, Edge::Wall], 0);
            let (left, right) = (first as f64 - beyond, last as f64 + beyond);
            let k = 4.0 * PI / (right - left);
            let soft = edge == Edge::Soft;
            let pressure = |x: f64| {
                if soft {
                    (k * (x - left)).sin()
                } else {
                    (k * (x - left)).cos()
                }
            };
            let slope = |x: f64| {
                if soft {
                    k * (k * (x - left)).cos()
                } else {
                    -k * (k * (x - left)).sin()
                }
            };
            let [near, far] = [first, last].map(|site| site as f64);
            for x in [
                near - 0.49,
                near - 0.2,
                near,
                near + 0.3,
                near + 3.7,
                far - 0.6,
                far + 0.3,
                far + 0.49,
            ] {
                let wall = |[i, ..]: [usize; 3]| !(first..=last).contains(&i);
                let all = gradient(&grid, [0.5 * x, 1.1, 0.0], [1.0, 0.0, 0.0], (wall, false));
                let found: f64 = all.iter().map(|(site, weight)| weight * pressure(site[0] as f64)).sum();
                let off = 0.5 * found - slope(x);
                assert!(
                    off.abs() < 0.008 * k,
                    "{edge:?}, from {first}, {x}: off by {off} of {k}"
                );
            }
        }
    }
}
