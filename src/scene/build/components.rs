//! `quantum.cross_interaction`: the effect of the density of one of two components on the other.

use super::Builder;
use crate::grid::Grid;

impl Builder<'_> {
    /// g₁₂; 0 if there are not two components.
    pub(super) fn cross_interaction(&mut self, grid: Option<&Grid>) -> f64 {
        let strength = self
            .file
            .quantum
            .as_ref()
            .map_or(0.0, |quantum| quantum.cross_interaction);
        let Some(grid) = grid.filter(|_| strength != 0.0 && self.grid_is_own) else {
            return 0.0;
        };
        let last = grid.rank() - 1;
        let axis = ["x", "y", "z"][last];
        let fault = if last == 0 {
            Some((
                "a line has one component".to_owned(),
                "give the grid a last axis of two sites".to_owned(),
            ))
        } else if grid.size()[last] != 2 {
            let message = format!(
                "components are the two sites of the last axis, and {axis} has {}",
                grid.size()[last]
            );
            Some((message, format!("take 2 sites along {axis}, or remove it")))
        } else if grid.is_periodic(last) {
            let message = format!("the two components would be neighbours twice, as {axis} is a ring");
            Some((
                message,
                format!("let {axis} end at walls: edges of \"wall\" as the last word"),
            ))
        } else {
            None
        };
        match fault {
            Some((message, remedy)) => {
                self.found.value("quantum.cross_interaction", message, remedy);
                0.0
            }
            None => strength,
        }
    }
}
