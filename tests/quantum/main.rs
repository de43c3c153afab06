//! What quantum methods share beside accuracy and conservation: constants in the potential, ground states of nonlinear scenes, absorbing edges, the sign of a magnetic flux, frames that rotate, components, trajectories.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests on small grids")]

#[path = "../common/mod.rs"]
mod common;
mod components;
mod constant;
mod edges;
mod flux;
mod ground_state;
mod rotation;
mod trajectories;
