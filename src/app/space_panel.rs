//! How a scene of three dimensions is shown: plane, slices or volume, and what belongs to each.

use super::command::Action;
use super::opacity_curve;
use super::units::Units;
use super::view_panel;
use super::view_state::ViewState;
use super::widgets::{choice, hint, row};
use crate::scene::scenario::{Opacity, ViewMode};
use crate::scene::{Scenario, SceneFile};
use crate::space::frame::AXES;
use egui::Ui;

/// The modes with their names, what they do, and their actions.
const MODES: [(ViewMode, &str, &str, Action); 3] = [
    (
        ViewMode::Plane,
        "plane",
        "One plane of constant z, as in two dimensions.",
        Action::ShowPlane,
    ),
    (
        ViewMode::Slices,
        "slices",
        "Three planes in the box; drag their handles.",
        Action::ShowSlices,
    ),
    (
        ViewMode::Volume,
        "volume",
        "The whole field, seen through: what is small is clear.",
        Action::ShowVolume,
    ),
];

/// The presets of the opacity, with what they are for.
const PRESETS: [(&str, &str); 4] = [
    ("soft", "In proportion to the size."),
    ("faint", "Weak waves show beside strong ones."),
    ("solid", "Only the strong parts, nearly opaque."),
    ("shells", "Two shells of equal size."),
];

/// The choice of the mode.
pub fn mode_row(ui: &mut Ui, file: &mut SceneFile) {
    row(ui, "In space", "How three dimensions are shown.", |ui| {
        for (mode, title, about, action) in MODES {
            let keys = action
                .entry()
                .keys
                .first()
                .map(|key| super::command::shown(ui.ctx(), key));
            let about = format!("{about} ({})", keys.unwrap_or_default());
            ui.selectable_value(&mut file.view.mode, mode, title)
                .on_hover_text(about);
        }
    });
}

/// What belongs to the mode.
pub fn rows(ui: &mut Ui, file: &mut SceneFile, view: &mut ViewState, scenario: &Scenario) {
    match file.view.mode {
        ViewMode::Plane | ViewMode::Relief => {}
        ViewMode::Slices => slices(ui, view, scenario),
        ViewMode::Volume => volume(ui, file),
    }
}

fn slices(ui: &mut Ui, view: &mut ViewState, scenario: &Scenario) {
    let grid = scenario.grid();
    let length = Units::of(scenario, 1.0).length;
    for axis in 0..3 {
        let label = format!("Slice {}", AXES[axis]);
        let last = grid.size()[axis] - 1;
        row(
            ui,
            &label,
            "Where this slice stands; the one of z is also the plane of the line cut.",
            |ui| {
                ui.spacing_mut().slider_width = (ui.available_width() - 96.0).max(48.0);
                ui.add(egui::Slider::new(&mut view.slices[axis], 0..=last).show_value(false));
                ui.label(length.show(view.slices[axis] as f64 * grid.spacing(), 3));
            },
        );
    }
}

fn volume(ui: &mut Ui, file: &mut SceneFile) {
    let opacity = &mut file.view.opacity;
    let mut chosen = opacity.as_str().unwrap_or("points");
    let mut all: Vec<(&str, String, String)> = PRESETS
        .iter()
        .map(|(word, about)| (*word, (*word).to_owned(), (*about).to_owned()))
        .collect();
    if chosen == "points" {
        all.push(("points", "by hand".to_owned(), "The handles as they stand.".to_owned()));
    }
    let about = "What hides what is behind it, against the size of the value as a part of the range.";
    if row(ui, "Opacity", about, |ui| choice(ui, "Opacity", &mut chosen, all))
        && let Some((_, preset)) = Opacity::ALL.into_iter().find(|(word, _)| *word == chosen)
    {
        *opacity = preset;
    }
    let map = view_panel::map(file, view_panel::quantity(file), false);
    opacity_curve::show(ui, &mut file.view.opacity, map);
    hint(ui, "from nothing at the left to the end of the range at the right");
    row(
        ui,
        "Light",
        "What volumes look like from the eye: with light, steep flanks that face it are brighter.",
        |ui| {
            ui.checkbox(&mut file.view.shading, "along gradients");
        },
    );
}
