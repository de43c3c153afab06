//! Guides: grids that absorb along one axis and are closed (rigid, soft or periodic) along another.
//!
//! At an obstacle in a guide waves below the cutoff are bound: they never leave, and their decaying part reaches into the absorbing layers. A guide that does not change along its
//! absorbing axis has no bound waves, whatever its cross-section. Absorbing layers depend on which of the two it is ([`crate::solver::fdtd::cpml`]).

use super::medium::constants;
use super::outward::Domain;
use crate::grid::{Edge, Grid};
use crate::physics::{Medium, Sets};
use crate::scene::Scenario;
use rayon::prelude::*;

/// The kind of grid that absorbing layers close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// A grid that absorbs along all axes.
    Open,
    /// A guide that does not change along its axis.
    Guide,
    /// A guide with walls, speeds or densities that change along an axis on which it absorbs.
    GuideWithObstacles,
}

impl Surroundings {
    /// The kind of a scene; that of the whole grid for a window.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let grid = scenario.grid().whole();
        if !is_guide(&grid) {
            Self::Open
        } else if may_change(scenario.medium()) && changes_along(scenario, &grid) {
            Self::GuideWithObstacles
        } else {
            Self::Guide
        }
    }

    /// Whether a scene may be a guide with obstacles, as far as can be said without looking at its sites.
    pub fn may_have_obstacles(scenario: &Scenario) -> bool {
        is_guide(&scenario.grid().whole()) && may_change(scenario.medium())
    }
}

fn absorbs(grid: &Grid, axis: usize) -> bool {
    grid.edges()[axis] == Edge::Absorb && grid.absorb_width() > 0
}

fn is_guide(grid: &Grid) -> bool {
    let mut axes = 0..grid.rank();
    let closed = |axis: usize| grid.size()[axis] > 1 && !absorbs(grid, axis);
    axes.clone().any(|axis| absorbs(grid, axis)) && axes.any(closed)
}

fn may_change(medium: &Medium) -> bool {
    [Sets::Wall, Sets::Speed, Sets::Density]
        .iter()
        .any(|sets| medium.has(*sets))
}

/// Walls, speeds and densities of a row; what stands inside walls does not count.
#[derive(PartialEq)]
struct Row {
    walls: Vec<bool>,
    speeds: Vec<f64>,
    densities: Vec<f64>,
}

impl Row {
    fn new(scenario: &Scenario, medium: &Medium, domain: &Domain, [j, k]: [usize; 2]) -> Self {
        let nx = medium.grid().size()[0];
        let [j, k] = domain.row(j, k);
        let mut row = Self {
            walls: vec![false; nx],
            speeds: vec![1.0; nx],
            densities: vec![1.0; nx],
        };
        if medium.has(Sets::Wall) {
            medium.wall_row(j, k, 0..nx, &mut row.walls);
        }
        if let Some(acoustic) = constants(scenario) {
            if medium.has(Sets::Speed) {
                medium.speed_row(acoustic.speed, j, k, 0..nx, &mut row.speeds);
            }
            if medium.has(Sets::Density) {
                medium.density_row(acoustic.density, j, k, 0..nx, &mut row.densities);
            }
        }
        domain.fill_ends(&mut row.walls);
        domain.fill_ends(&mut row.speeds);
        domain.fill_ends(&mut row.densities);
        for (i, wall) in row.walls.iter().enumerate() {
            if *wall {
                (row.speeds[i], row.densities[i]) = (0.0, 0.0);
            }
        }
        row
    }

    /// Whether it is the same at all its sites.
    fn is_even(&self) -> bool {
        self.walls.iter().all(|wall| *wall == self.walls[0])
            && self.speeds.iter().all(|speed| *speed == self.speeds[0])
            && self.densities.iter().all(|density| *density == self.densities[0])
    }
}

/// Whether the medium changes along an axis that absorbs.
fn changes_along(scenario: &Scenario, grid: &Grid) -> bool {
    let medium = scenario.medium().over(grid.clone());
    let domain = Domain::new(grid);
    let ny = grid.size()[1];
    (0..grid.rows()).into_par_iter().any(|row| {
        let at = [row % ny, row / ny];
        let own = Row::new(scenario, &medium, &domain, at);
        (0..grid.rank())
            .filter(|axis| absorbs(grid, *axis))
            .any(|axis| match axis {
                0 => !own.is_even(),
                _ if at[axis - 1] == 0 => false,
                // Each row against the one before it.
                _ => {
                    let mut before = at;
                    before[axis - 1] -= 1;
                    domain.row(before[0], before[1]) != domain.row(at[0], at[1])
                        && own != Row::new(scenario, &medium, &domain, before)
                }
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(edges: &str, layer: &str) -> Surroundings {
        let text = format!(
            "format = 1\n[grid]\nsize = [20, 12]\nspacing = 1.0\nedges = {edges}\nabsorb_width = 4\n[acoustic]\nspeed = 1.0\n[time]\nstep = 0.1\n[[pulse]]\ncenter = [6.0, 6.0]\nwidth = 2.0\n{layer}"
        );
        let (_, scenario) = crate::scene::read_text(&text, None, &[], &crate::solver::Table).unwrap();
        Surroundings::of(&scenario)
    }

    #[test]
    fn what_stands_in_a_guide_is_an_obstacle_unless_it_goes_on_for_ever() {
        let box_of = |sets: &str, min: [f64; 2], max: [f64; 2], value: f64| {
            format!("[[layer]]\nsets = \"{sets}\"\nshape = \"box\"\nmin = {min:?}\nmax = {max:?}\nvalue = {value}\n")
        };
        let post = box_of("wall", [9.0, 3.0], [10.0, 5.0], 1.0);
        let shelf = box_of("wall", [0.0, 3.0], [30.0, 5.0], 1.0);
        // Only in the layer, where the medium of the border goes on instead.
        let hidden = box_of("wall", [0.0, 3.0], [2.0, 5.0], 1.0);
        let across = "[\"absorb\", \"wall\"]";
        assert_eq!(surroundings("\"absorb\"", &post), Surroundings::Open);
        assert_eq!(surroundings("\"wall\"", &post), Surroundings::Open);
        assert_eq!(surroundings(across, ""), Surroundings::Guide);
        assert_eq!(surroundings(across, &shelf), Surroundings::Guide);
        assert_eq!(surroundings(across, &hidden), Surroundings::Guide);
        for sets in ["speed", "density"] {
            assert_eq!(
                surroundings(across, &box_of(sets, [0.0, 3.0], [30.0, 5.0], 0.5)),
                Surroundings::Guide
            );
            assert_eq!(
                surroundings(across, &box_of(sets, [9.0, 3.0], [10.0, 5.0], 0.5)),
                Surroundings::GuideWithObstacles
            );
        }
        assert_eq!(surroundings(across, &post), Surroundings::GuideWithObstacles);
        let upright = box_of("wall", [9.0, 0.0], [10.0, 20.0], 1.0);
        assert_eq!(surroundings("[\"wall\", \"absorb\"]", &upright), Surroundings::Guide);
        assert_eq!(
            surroundings("[\"periodic\", \"absorb\"]", &post),
            Surroundings::GuideWithObstacles
        );
    }
}
