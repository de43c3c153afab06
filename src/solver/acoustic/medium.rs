//! The medium of an acoustic scene, for every method.

use super::outward::Domain;
use crate::backend::simd::Aligned;
use crate::field::Real;
use crate::physics::{Acoustic, Medium, Model, Sets};
use crate::scene::Scenario;
use crate::solver::SolverError;
use rayon::prelude::*;

/// The constants of an acoustic scene.
pub fn constants(scenario: &Scenario) -> Option<Acoustic> {
    match scenario.model() {
        Model::Acoustic(acoustic) => Some(*acoustic),
        Model::Quantum(_) => None,
    }
}

/// A zeroed array, or [`SolverError::OutOfMemory`].
pub fn allocate<T: Real>(len: usize, what: &str) -> Result<Vec<T>, SolverError> {
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| SolverError::OutOfMemory {
        what: what.to_owned(),
        needed: (len * size_of::<T>()) as u64,
        available: 0,
    })?;
    all.par_extend(rayon::iter::repeat_n(T::zero(), len));
    Ok(all)
}

/// The same in large pages, `lines` cache lines behind the start of a page ([`Aligned::try_zeros`]).
pub fn allocate_aligned<T: Real>(len: usize, lines: usize, what: &str) -> Result<Aligned<T>, SolverError> {
    Aligned::try_zeros(len, lines).ok_or_else(|| SolverError::OutOfMemory {
        what: what.to_owned(),
        needed: (len * size_of::<T>()) as u64,
        available: 0,
    })
}

/// Walls of a scene, one value a site, x fastest, continued into absorbing layers ([`crate::solver::acoustic::outward`]); empty where no layer sets one.
pub fn read_walls(scenario: &Scenario) -> Vec<bool> {
    let medium = scenario.medium();
    if medium.has(Sets::Wall) {
        marked(medium)
    } else {
        Vec::new()
    }
}

/// The same of a medium, for all sites of its grid.
pub(super) fn marked(medium: &Medium) -> Vec<bool> {
    let grid = medium.grid();
    let [nx, ny, _] = grid.size();
    let domain = Domain::new(grid);
    let mut walls = vec![false; grid.sites()];
    walls.par_chunks_mut(nx).enumerate().for_each(|(row, out)| {
        let [j, k] = domain.row(row % ny, row / ny);
        medium.wall_row(j, k, 0..nx, out);
        domain.fill_ends(out);
    });
    walls
}

/// Whether every site is a wall, continued into absorbing layers as in [`read_walls`]. Ends at the first site that is not a wall.
pub fn is_all_wall(scenario: &Scenario) -> bool {
    let medium = scenario.medium();
    if !medium.has(Sets::Wall) {
        return false;
    }
    let [nx, ny, _] = scenario.grid().size();
    let domain = Domain::new(scenario.grid());
    let mut walls = vec![false; nx];
    (0..scenario.grid().rows()).all(|row| {
        let [j, k] = domain.row(row % ny, row / ny);
        medium.wall_row(j, k, 0..nx, &mut walls);
        domain.fill_ends(&mut walls);
        walls.iter().all(|wall| *wall)
    })
}
