//! Sums of eigenstates as initial states.

use super::Builder;
use super::state::{LEAST_NORM, scale_of};
use crate::grid::Grid;
use crate::physics::{Eigenstates, Medium};
use crate::units;
use num_complex::Complex64;

impl Builder<'_> {
    pub(super) fn eigenstates(&mut self, grid: &Grid) -> Option<Eigenstates> {
        /// More levels need more memory than a whole subspace may take.
        const HIGHEST: usize = 499;
        let before = self.found.faults.len();
        let most = HIGHEST.min(grid.sites() - 1);
        let mut terms: Vec<(usize, Complex64)> = Vec::new();
        let scale = scale_of(self.file.eigenstates.iter().map(|state| state.weight));
        for (index, state) in self.file.eigenstates.iter().enumerate() {
            let key = |name: &str| format!("eigenstate.{index}.{name}");
            if state.level > most && self.grid_is_own {
                let message = format!("{} is beyond {most}", state.level);
                self.found
                    .value(key("level"), message, "levels count from 0, by rising energy");
            }
            self.finite(&key("weight"), state.weight);
            self.finite(&key("phase"), state.phase);
            if terms.iter().any(|(level, _)| *level == state.level) {
                let message = format!("level {} is there twice", state.level);
                self.found
                    .value(key("level"), message, "give each level one weight and one phase");
            }
            terms.push((state.level, Complex64::from_polar(state.weight / scale, state.phase)));
        }
        if terms.iter().all(|(_, weight)| weight.norm_sqr() < LEAST_NORM) {
            let remedy = "give at least one [[eigenstate]] a weight";
            self.found
                .key("eigenstate", "the weights add up to a state of norm 0", remedy);
        }
        (self.found.faults.len() == before && self.grid_is_own).then(|| Eigenstates::new(terms))
    }

    /// Notes eigenstates of more levels than there are sites free of walls.
    pub(super) fn levels_of_medium(&mut self, medium: &Medium) {
        let Some((index, state)) = (self.file.eigenstates.iter().enumerate()).max_by_key(|(_, state)| state.level)
        else {
            return;
        };
        let grid = medium.grid();
        let [nx, ny, nz] = grid.size();
        let mut row = vec![false; nx];
        let mut free = 0;
        for n in 0..ny * nz {
            medium.wall_row(n % ny, n / ny, 0..nx, &mut row);
            free += row.iter().filter(|wall| !**wall).count();
            if free > state.level {
                return;
            }
        }
        let message = format!(
            "there is no level {}: {} free of walls have as many levels, counted from 0",
            state.level,
            units::counted(free as u64, "site")
        );
        self.found.value(
            format!("eigenstate.{index}.level"),
            message,
            "take a lower level, or fewer walls",
        );
    }
}
