//! How a scene of three dimensions is shown: plane, slices or volume, and what belongs to each.

use super::cards::List;
use super::command::Action;
use super::opacity_curve;
use super::units::{Unit, Units};
use super::view_panel;
use super::view_state::ViewState;
use super::widgets::{Explained, button, choice, hint, row, to_ends};
use crate::app::icon::Icon;
use crate::scene::camera_path::CameraKey;
use crate::scene::scenario::{Opacity, ViewMode};
use crate::scene::{Scenario, SceneFile};
use crate::space::frame::AXES;
use egui::{DragValue, Ui};

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
                let slider = ui.add(egui::Slider::new(&mut view.slices[axis], 0..=last).show_value(false));
                to_ends(ui, &slider, &mut view.slices[axis], 0..=last);
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
    let map = view_panel::map(file, view_panel::quantity(file), super::theme::is_paper());
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

const KEYS: List = List {
    noun: "camera key",
    ordered: false,
    needed: false,
};

/// The camera's path: its keys, and one more where the camera stands at time t.
pub fn path(ui: &mut Ui, file: &mut SceneFile, view: &mut ViewState, (t, unit): (f64, Unit)) {
    let shown = |at: f64| unit.show(at, 4);
    let title = |key: &CameraKey| {
        let [azimuth, elevation] = [key.orbit.azimuth, key.orbit.elevation].map(|angle| format!("{angle:.0}°"));
        format!("t = {}: {azimuth}, {elevation}", shown(key.at))
    };
    KEYS.show(ui, &mut file.cameras, title, |ui, key| {
        let speed = (key.at.abs() / 100.0).max(1e-9);
        let about = "When the camera is there; 0 or later.";
        row(ui, "At t", about, |ui| {
            let time = DragValue::new(&mut key.at).range(0.0..=f64::MAX).speed(speed);
            let time = time
                .custom_formatter(move |at, _| unit.show(at, 4))
                .custom_parser(move |text| unit.parse(text));
            ui.add(time).explained(about);
        });
        for (label, value, ends) in [
            ("Azimuth", &mut key.orbit.azimuth, -360.0..=360.0),
            ("Elevation", &mut key.orbit.elevation, -90.0..=90.0),
        ] {
            let about = format!("{}° to {}°, as the mouse turns the view.", ends.start(), ends.end());
            row(ui, label, &about, |ui| {
                let field = DragValue::new(value).range(ends).speed(0.5).max_decimals(1);
                ui.add(field.suffix("°")).explained(&about)
            });
        }
        let about = "0.25 to 40; 1 shows the whole.";
        row(ui, "Zoom", about, |ui| {
            let field = DragValue::new(&mut key.orbit.zoom).range(0.25..=40.0).speed(0.01);
            ui.add(field).explained(about)
        });
    });
    row(
        ui,
        "Path",
        "Where the camera goes in films and while it runs, smoothly from key to key.",
        |ui| {
            let add = ui
                .add(button(Icon::Video, "Add key here"))
                .on_hover_text("The camera is to be where it is now, at the time that the clock shows.");
            if add.clicked() {
                let spacing = (file.time.end.unwrap_or(t.abs())).abs() * 1e-6;
                file.cameras.retain(|key| (key.at - t).abs() > spacing);
                file.cameras.push(CameraKey {
                    at: t.max(0.0),
                    orbit: view.orbit,
                });
                file.cameras.sort_by(|a, b| a.at.total_cmp(&b.at));
                view.follows = false;
            }
            if file.cameras.len() > 1 {
                ui.checkbox(&mut view.follows, "follow it");
            }
        },
    );
}
