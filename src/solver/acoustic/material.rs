//! c and ρ of the medium at single sites, for sources.

use super::medium::constants;
use super::outward::Domain;
use crate::grid::Grid;
use crate::physics::{Medium, Sets};
use crate::scene::Scenario;

/// Sites of a row that are further apart than this are read apart.
const GAP: usize = 16;

/// c in m/s and ρ in kg/m³ at the sites of the scene's grid.
pub struct Material {
    /// c and ρ where no layer sets them.
    background: [f64; 2],
    /// What layers set, continued into absorbing edges; `None` where they set neither.
    layers: Option<(Medium, Domain)>,
}

impl Material {
    /// The same c and ρ everywhere.
    #[must_use]
    pub fn uniform(background: [f64; 2]) -> Self {
        let layers = None;
        Self { background, layers }
    }

    /// That of a scene, also where a window of its grid is stepped.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let Some(acoustic) = constants(scenario) else {
            return Self::uniform([1.0; 2]);
        };
        let medium = scenario.medium();
        let any = medium.has(Sets::Speed) || medium.has(Sets::Density);
        Self {
            background: [acoustic.speed, acoustic.density],
            layers: any.then(|| {
                let grid = scenario.grid().whole();
                let domain = Domain::new(&grid);
                (medium.over(grid), domain)
            }),
        }
    }

    /// Whether all sites have the same.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.layers.is_none()
    }

    /// c and ρ at a site.
    fn at(&self, site: [usize; 3]) -> [f64; 2] {
        let [c, density] = self.background;
        let Some((medium, domain)) = &self.layers else {
            return [c, density];
        };
        let [i, j, k] = [0, 1, 2].map(|axis| domain.at(axis, site[axis]));
        let (mut own, mut heavy) = ([c], [density]);
        // Moving sources ask at every step.
        if medium.has(Sets::Speed) {
            medium.speed_row(c, j, k, i..i + 1, &mut own);
        }
        if medium.has(Sets::Density) {
            medium.density_row(density, j, k, i..i + 1, &mut heavy);
        }
        [own[0], heavy[0]]
    }

    /// c at the site nearest to a place of `grid`, the scene's, and the ρ that a source pushes there. Of a force along an axis half acts on either face of the site, and a face has the mean
    /// density of its two sites, and that of its own site beside a wall, which nothing moves; a monopole, without an axis, is at the site itself.
    pub fn pushed(
        &self,
        grid: &Grid,
        at: [f64; 3],
        axis: Option<usize>,
        wall: impl Fn([usize; 3]) -> bool,
    ) -> [f64; 2] {
        let [c, here] = self.at(nearest(grid, at));
        let Some(axis) = axis.filter(|_| !self.is_uniform()) else {
            return [c, here];
        };
        let side = |step: f64| {
            let mut place = at;
            place[axis] += step * grid.spacing();
            let site = nearest(grid, place);
            if wall(site) { here } else { self.at(site)[1] }
        };
        [c, (side(-1.0) + 2.0 * here + side(1.0)) / 4.0]
    }

    /// Multiplies the shares of sites, in the order of memory, by their K = ρc² over that of this c and ρ.
    pub fn weigh(&self, shares: &mut [([usize; 3], f64)], [c, density]: [f64; 2]) {
        let Some((medium, domain)) = &self.layers else {
            return;
        };
        let (mut own, mut heavy) = (Vec::new(), Vec::new());
        // Moving sources ask at every step: rows at once, those that go round a ring in two pieces.
        for part in shares.chunk_by_mut(|(one, _), (next, _)| one[1..] == next[1..] && next[0] <= one[0] + GAP) {
            let ([first, j, k], last) = (part[0].0, part[part.len() - 1].0[0]);
            let (x, [j, k]) = (first..last + 1, domain.row(j, k));
            own.clear();
            own.resize(x.len(), self.background[0]);
            heavy.clear();
            heavy.resize(x.len(), self.background[1]);
            if medium.has(Sets::Speed) {
                domain.read_row(x.clone(), &mut own, |x, out| {
                    medium.speed_row(self.background[0], j, k, x, out);
                });
            }
            if medium.has(Sets::Density) {
                domain.read_row(x, &mut heavy, |x, out| {
                    medium.density_row(self.background[1], j, k, x, out);
                });
            }
            for ([i, ..], share) in part {
                *share *= (own[*i - first] / c).powi(2) * (heavy[*i - first] / density);
            }
        }
    }
}

/// The site nearest to a place.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "clamped to the grid's sites"
)]
fn nearest(grid: &Grid, at: [f64; 3]) -> [usize; 3] {
    [0, 1, 2].map(|axis| {
        let (sites, place) = (grid.size()[axis] as f64, (at[axis] / grid.spacing()).round());
        // Half a spacing behind the last site of a ring the first one is as near.
        let site = if grid.is_periodic(axis) {
            place.rem_euclid(sites)
        } else {
            place.clamp(0.0, sites - 1.0)
        };
        site as usize
    })
}
