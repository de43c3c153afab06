//! The window: one file per panel. [`window::App`] holds the document (a scene file with undo), the worker's handle and the
//! view's state; data flows from the latest frame to the panels, wishes flow back as [`command::Action`]s, edits of the
//! draft and engine commands. Nothing here steps a solver or touches a file on the window's thread.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "points, pixels and site numbers are far below 2^24, and what is shown is rounded anyway"
)]

mod actions;
pub mod arrange;
pub mod array_panel;
pub mod background;
pub mod camera;
pub mod canvas;
pub mod cards;
pub mod carpet;
pub mod checks_panel;
pub mod command;
pub mod compare;
pub mod connect;
pub mod demo;
mod depth_marks;
mod detector_history;
pub mod detectors_panel;
pub mod dispersion_panel;
pub mod document;
pub mod dropped;
mod fallback;
pub mod field_view;
pub mod film;
pub mod film_panel;
mod flow_view;
pub mod formula_rows;
pub mod frame_history;
pub mod gain_plot;
pub mod gallery;
pub mod gestures;
pub mod graph_view;
mod guesses;
pub mod handles;
pub mod head_start;
pub mod help;
pub mod history;
pub mod icon;
pub mod layers_panel;
pub mod lesson_panel;
pub mod levels_panel;
#[cfg(any(test, target_family = "wasm"))]
mod link;
pub mod markdown;
pub mod marks;
pub mod medium_view;
pub mod menu;
pub mod meter;
pub mod method_panel;
pub mod mirror_panel;
pub mod mirror_plots;
pub mod mirror_strip;
pub mod mirror_tool;
mod names;
pub mod notice;
mod number;
#[cfg(not(target_family = "wasm"))]
pub mod offscreen;
pub mod opacity_curve;
mod outputs;
pub mod overlay;
pub mod packets_panel;
pub mod palette;
mod panels;
pub mod pictures;
mod pinch;
mod plot_lines;
pub mod plots;
pub mod projector;
pub mod prompt;
pub mod question;
pub mod recovery;
pub mod refine;
pub mod relief_view;
mod replaced;
mod rest;
pub mod riddle;
pub mod room_panel;
mod run_log;
pub mod scene_library;
pub mod scene_panel;
pub mod settings;
mod side_run;
#[cfg(test)]
mod signs;
pub mod sound;
pub mod sound_panel;
pub mod space_panel;
pub mod space_view;
pub mod status;
pub mod strip_chart;
mod sweep_names;
pub mod sweep_panel;
mod system;
mod task_results;
pub mod theme;
mod theory_panel;
mod theory_view;
pub mod thumbnails;
pub mod time_panel;
pub mod toolbar;
pub mod tools;
pub mod tour;
mod trajectories_panel;
pub mod transport;
pub mod units;
pub mod view_panel;
pub mod view_state;
pub mod walls_panel;
pub mod watcher;
mod wavelength;
pub mod widgets;
pub mod window;

pub use head_start::HeadStart;
pub use system::run;
#[cfg(not(target_family = "wasm"))]
pub use system::{connect_with, run_from};
pub use window::App;

/// The preset that the first start shows, playing.
pub const FIRST_PRESET: &str = "double-slit";

/// What the window opens with.
#[derive(Clone, Debug, Default)]
pub struct AppOptions {
    /// A preset's name or a scene file; `None` = the scene of the last time, or [`FIRST_PRESET`].
    pub scene: Option<String>,
    /// Overrides, `key.path=value`.
    pub set: Vec<String>,
    /// The scene, where it was read already.
    pub opened: Option<background::Opened>,
    /// A lecture to be shown at once.
    pub lecture: Option<crate::scene::lecture::Lecture>,
}
