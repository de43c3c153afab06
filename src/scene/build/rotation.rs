//! `quantum.rotation`: a frame rotating about z through the middle of the grid.

use super::Builder;
use crate::grid::Grid;
use crate::physics::{Model, Sets, rotating_frame};
use crate::scene::file::LayerFile;
use std::f64::consts::PI;

/// Whether a layer sets the hopping along x or y. Along z, about which the frame rotates, bonds have no phase of it, be they those of another mass or of two components.
fn changes_the_mass(layer: &LayerFile) -> bool {
    layer.sets == Sets::Hopping && layer.axis != Some(2)
}

impl Builder<'_> {
    /// Ω and the mass that it acts on; 0 if the frame is at rest or the scene cannot have a rotating one.
    pub(super) fn rotation(&mut self, grid: Option<&Grid>, model: Option<&Model>) -> [f64; 2] {
        const KEY: &str = "quantum.rotation";
        let none = [0.0, 1.0];
        let rotation = self.file.quantum.as_ref().map_or(0.0, |quantum| quantum.rotation);
        let (Some(grid), Some(quantum)) = (grid, model.and_then(Model::quantum)) else {
            return none;
        };
        if rotation == 0.0 || !self.grid_is_own {
            return none;
        }
        let turn = rotation / (2.0 * quantum.hopping);
        let most = rotating_frame::largest_phase(grid, turn);
        let fault = if grid.rank() == 1 {
            let message = "a line has no plane to rotate in".to_owned();
            Some((message, "use a grid of two axes or remove it"))
        } else if grid.is_periodic(0) || grid.is_periodic(1) {
            let message = "the frame rotates about z, and a periodic x or y axis has no middle".to_owned();
            Some((message, "let x and y end at walls or absorb"))
        } else if self.file.layers.iter().any(changes_the_mass) {
            let message = "the frame rotates with one mass in the plane, and a layer sets the hopping there".to_owned();
            Some((
                message,
                "let the layer set it along z alone (axis = \"z\"), or remove it or the rotation",
            ))
        } else if most > PI {
            let message = format!(
                "at the edge the frame moves by mΩra = {most:.3} radians a site, and a lattice has momenta up to π"
            );
            Some((message, "rotate more slowly, or take a smaller spacing or grid"))
        } else {
            None
        };
        match fault {
            Some((message, remedy)) => {
                self.found.value(KEY, message, remedy);
                none
            }
            None => [rotation, quantum.effective_mass(grid.spacing())],
        }
    }
}
