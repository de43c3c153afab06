//! The velocity of the medium at a point, from the pressures around it: ρ ∂v/∂t = −∂p/∂n.
//!
//! The derivative along each axis is the difference of the pressures half a site to either side, which are interpolated between sites ([`point`]) with the same weights, so that a constant has
//! none; walls and edges are mirrors. It is sin(ka/2)/(ka/2) of the true one, as the scheme's own. The time integral is the trapezoidal rule over the steps, off by (ωΔt)²/12. v = 0 where it
//! begins. So every method and back end that records pressures at points records velocities, and no array of all sites is needed. ρ is that of the nearest site: within four sites of
//! a jump of the density the derivative is smeared.

use crate::grid::Grid;
use crate::solver::acoustic::point::{self, Shares};

/// Half the distance of the two places whose difference is taken, in spacings: a hair less than a half, so that both sides of the last site are the grid's.
const HALF: f64 = 0.5 - 1e-9;

/// Sites whose pressures with these weights add up to ∂p/∂n at a place; a site without weight where a wall stands.
pub(super) fn gradient(
    grid: &Grid,
    at: [f64; 3],
    direction: [f64; 3],
    wall: impl Fn([usize; 3]) -> bool + Copy,
) -> Shares {
    let at = point::clamped(grid, at);
    let mut all = Shares::new();
    for axis in (0..grid.rank()).filter(|axis| direction[*axis] != 0.0) {
        let beside = |side: f64| {
            let mut place = at;
            place[axis] += side * HALF * grid.spacing();
            point::shares(grid, &place, wall)
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

/// v of a detector, added up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Velocity {
    /// ρ at its place, kg/m³.
    pub(super) density: f64,
    /// Time, velocity and ∂p/∂n of the last record.
    last: Option<[f64; 3]>,
}

impl Velocity {
    pub(super) fn new(density: f64) -> Self {
        Self { density, last: None }
    }

    /// v at a time, where ∂p/∂n is `slope`.
    pub(super) fn after(&mut self, time: f64, slope: f64) -> f64 {
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
