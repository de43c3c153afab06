//! What methods for sound share.

pub(super) mod edited;
pub mod emit;
pub mod guides;
pub mod impedance;
pub mod loudness;
pub mod material;
pub mod medium;
mod network;
pub mod outward;
pub mod point;
pub mod relaxation;
pub(super) mod sums;

use crate::grid::Edge;
use crate::scene::{Objection, Scenario};

/// Objections to what no method for sound supports.
pub(super) fn acoustic_objections(scenario: &Scenario) -> Vec<Objection> {
    let mut all = Vec::new();
    let grid = scenario.grid();
    let layers = scenario.medium().layers();
    if let Some((number, layer)) = layers.iter().enumerate().find(|(_, layer)| layer.drive.is_some()) {
        all.push(Objection::new(
            format!("layer.{number}.drive"),
            format!(
                "a layer that sets {:?} has a drive: the medium of sound does not change in time",
                layer.sets
            ),
            "remove `drive`",
        ));
    }
    if medium::is_all_wall(scenario) {
        all.push(Objection::new(
            "layer",
            "every site is a wall: there is nothing that could sound",
            "leave sites free of walls",
        ));
    }
    for axis in (0..grid.rank()).filter(|axis| grid.edges()[*axis] == Edge::Absorb) {
        let sites = grid.size()[axis];
        if 2 * grid.absorb_width() + 1 > sites {
            all.push(Objection::new(
                "grid.absorb_width",
                format!(
                    "absorb_width = {} leaves nothing of an axis of {sites} sites",
                    grid.absorb_width()
                ),
                format!("choose at most {}", (sites - 1) / 2),
            ));
        }
    }
    all
}
