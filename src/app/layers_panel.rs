//! The layers of the medium as a list: add, remove, reorder, shape, value, drive.

use super::cards::List;
use super::formula_rows::formula_rows;
use super::number::{ANY, NOT_NEGATIVE, POSITIVE, number, number_in, number_row, tidy};
use super::walls_panel::{self, Stands};
use super::widgets::{Explained, button, choice, fields, hint, icon_button, row};
use crate::app::icon::Icon;
use crate::physics::expression::{SPACE, TIME};
use crate::physics::{Equation, Mode, Sets};
use crate::scene::SceneFile;
use crate::scene::file::{LayerFile, ShapeFile, ValueFile};
use egui::Ui;
use std::ops::RangeInclusive;

const LIST: List = List {
    noun: "layer",
    ordered: true,
    needed: false,
};

/// Shows the list; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile) {
    let rank = file.grid.size.len().max(1);
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let quantum = file.acoustic.is_none();
    LIST.show(ui, &mut file.layers, title, |ui, layer| {
        body(ui, layer, rank, &extent, quantum);
    });
    if file.layers.is_empty() {
        hint(ui, "Nothing stands in the way of the wave.");
    }
    ui.horizontal_wrapped(|ui| {
        let (name, read) = if quantum {
            ("Potential", "Add potential")
        } else {
            ("Medium", "Add medium")
        };
        if ui.add(button(Icon::Plus, name)).accessible_name(read).clicked() {
            file.layers.push(match &file.acoustic {
                // Slower than the background: any Δt that runs there runs with it.
                Some(acoustic) => new_layer(Sets::Speed, &extent, tidy(0.5 * acoustic.speed)),
                None => new_layer(Sets::Potential, &extent, 0.5),
            });
        }
        if ui.add(button(Icon::Plus, "Wall")).accessible_name("Add wall").clicked() {
            let mut wall = new_layer(Sets::Wall, &extent, 1.0);
            wall.value = None;
            file.layers.push(wall);
        }
    });
}

/// Shows layers that act on the way back from a mirror only.
pub fn returning(ui: &mut Ui, layers: &mut Vec<LayerFile>, extent: &[f64], quantum: bool) {
    const CHANGES: List = List {
        noun: "change",
        ordered: true,
        needed: false,
    };
    ui.push_id("returning", |ui| {
        CHANGES.show(ui, layers, title, |ui, layer| {
            body(ui, layer, extent.len().max(1), extent, quantum);
        });
    });
}

/// A box in the middle of the grid.
fn new_layer(sets: Sets, extent: &[f64], value: f64) -> LayerFile {
    let shape = ShapeFile::Box {
        min: extent.iter().map(|length| tidy(length * 0.45)).collect(),
        max: extent.iter().map(|length| tidy(length * 0.55)).collect(),
    };
    LayerFile::new(sets, shape, Some(ValueFile::Number(value)))
}

fn title(layer: &LayerFile) -> String {
    let what = match layer.sets {
        Sets::Potential => "Potential",
        Sets::Speed => "Sound speed",
        Sets::Density => "Density",
        Sets::Wall if walls_panel::stands(layer) == Stands::Nowhere => "No wall",
        Sets::Wall => "Wall",
        Sets::Absorption => "Absorption",
        Sets::Impedance => "Impedance of walls",
        Sets::Attenuation => "Attenuation",
        Sets::Hopping => "Hopping",
        Sets::Flux => "Magnetic flux",
        Sets::Interaction => "Interaction",
    };
    let value = match &layer.value {
        Some(ValueFile::Number(number)) if layer.sets != Sets::Wall => {
            format!(" {}", super::widgets::figure(*number, 4))
        }
        _ => String::new(),
    };
    format!("{what}{value}, {}", layer.shape.as_str())
}

fn body(ui: &mut Ui, layer: &mut LayerFile, rank: usize, extent: &[f64], quantum: bool) {
    let offered: &[(Sets, &str)] = if quantum {
        &[
            (Sets::Potential, "potential U"),
            (Sets::Wall, "wall"),
            (Sets::Absorption, "absorption W"),
            (Sets::Hopping, "hopping of bonds"),
            (Sets::Flux, "magnetic flux"),
            (Sets::Interaction, "interaction g"),
        ]
    } else {
        &[
            (Sets::Speed, "sound speed"),
            (Sets::Density, "density"),
            (Sets::Wall, "wall"),
            (Sets::Absorption, "absorption"),
            (Sets::Impedance, "impedance of walls Z/ρc"),
            (Sets::Attenuation, "attenuation (dB/m)"),
        ]
    };
    row(ui, "Sets", "The quantity that the layer sets.", |ui| {
        let all = offered
            .iter()
            .map(|(sets, title)| (*sets, (*title).to_owned(), String::new()));
        let other = choice(ui, "Sets", &mut layer.sets, all);
        if other && layer.sets == Sets::Wall {
            // What was the value of a potential says nothing of where a wall stands.
            layer.value = None;
        }
    });
    axis_row(ui, layer, rank);
    shape_rows(ui, &mut layer.shape, (rank, extent), if quantum { "" } else { "m" });
    if layer.sets == Sets::Wall {
        walls_panel::standing_rows(ui, layer);
    } else {
        value_rows(ui, layer, quantum);
        row(
            ui,
            "Mode",
            "Set replaces what the layers before left; add adds to it.",
            |ui| {
                ui.selectable_value(&mut layer.mode, Mode::Set, "set");
                ui.selectable_value(&mut layer.mode, Mode::Add, "add");
            },
        );
    }
    walls_panel::impedance_rows(ui, layer, rank);
    if layer.sets == Sets::Potential {
        drive_rows(ui, layer);
    }
}

/// Which bonds a layer of hopping sets.
fn axis_row(ui: &mut Ui, layer: &mut LayerFile, rank: usize) {
    if layer.sets != Sets::Hopping {
        layer.axis = None;
        return;
    }
    let about = "The bonds from the layer's sites to the next ones along this axis. The value multiplies the kinetic hopping J.";
    row(ui, "Bonds", about, |ui| {
        ui.selectable_value(&mut layer.axis, None, "all");
        for (name, axis) in &LayerFile::AXES[..rank.min(3)] {
            ui.selectable_value(&mut layer.axis, Some(*axis), *name);
        }
    });
}

/// The unit of what a layer sets, and what its number means with its limits.
pub fn meaning(sets: Sets, quantum: bool) -> (&'static str, &'static str) {
    let words = match sets {
        Sets::Potential => "The potential U, an energy.",
        Sets::Speed => "The sound speed; above 0.",
        Sets::Density => "The density; above 0.",
        Sets::Impedance => "The impedance of walls over that of the medium beside them, Z/ρc: 0.01 to 1e6.",
        Sets::Attenuation => "What a wave loses at the frequency of the scene's law; 0 or more.",
        Sets::Absorption if quantum => "W of the potential U − iW, an energy: |ψ|² falls as exp(−2Wt). 0 or more.",
        Sets::Absorption => "The rate γ with which an amplitude falls, exp(−γt); 0 or more.",
        Sets::Hopping => "The factor of the kinetic hopping J of the bonds.",
        Sets::Flux => "The magnetic flux through a plaquette of a², in flux quanta; 1 more is the same.",
        Sets::Interaction => "g of g|ψ|²; below 0 the wave attracts itself.",
        Sets::Wall => "",
    };
    let equation = if quantum {
        Equation::Schrodinger
    } else {
        Equation::Acoustic
    };
    (sets.unit(equation), words)
}

/// What the value of such a layer may be.
pub fn limits(sets: Sets) -> RangeInclusive<f64> {
    match sets {
        Sets::Speed | Sets::Density => POSITIVE,
        Sets::Absorption | Sets::Attenuation => NOT_NEGATIVE,
        Sets::Impedance => 0.01..=1e6,
        Sets::Potential | Sets::Wall | Sets::Hopping | Sets::Flux | Sets::Interaction => ANY,
    }
}

fn value_rows(ui: &mut Ui, layer: &mut LayerFile, quantum: bool) {
    let mut formula = matches!(layer.value, Some(ValueFile::Formula(_)));
    let about =
        "A number, or a formula of x, y, z and r (the distance from the shape's centre), e.g. 0.5*0.01*(x-128)^2.";
    let was = formula;
    row(ui, "Value", about, |ui| {
        // Both words have room in a card of a panel that nobody made wider.
        ui.spacing_mut().button_padding.x = 4.0;
        ui.selectable_value(&mut formula, false, "number");
        ui.selectable_value(&mut formula, true, "formula");
    });
    if formula != was {
        layer.value = Some(match &layer.value {
            Some(ValueFile::Number(number)) => ValueFile::Formula(number.to_string()),
            _ => ValueFile::Number(1.0),
        });
    }
    let (unit, meaning) = meaning(layer.sets, quantum);
    match layer.value.get_or_insert(ValueFile::Number(1.0)) {
        ValueFile::Number(number) => {
            let speed = (number.abs() / 100.0).max(0.001);
            // One that is added may be below the limits of the sum.
            let range = if layer.mode == Mode::Add {
                ANY
            } else {
                limits(layer.sets)
            };
            row(ui, "", "", |ui| {
                let field = number_in(number, unit).speed(speed).range(range);
                ui.name_inputs("Value", |ui| ui.add(field).explained(meaning))
            });
        }
        ValueFile::Formula(text) => {
            let hint = "formula of x, y, z, r; e.g. a = 0.5 in [0, 1]; a*x^2";
            formula_rows(ui, text, ("Formula of the value", hint), SPACE);
        }
    }
}

fn drive_rows(ui: &mut Ui, layer: &mut LayerFile) {
    let mut driven = layer.drive.is_some();
    row(
        ui,
        "Drive",
        "The layer's value is multiplied by this function of t, e.g. 1 + 0.1*sin(2*pi*t).",
        |ui| ui.checkbox(&mut driven, "varies in time"),
    );
    if driven != layer.drive.is_some() {
        layer.drive = driven.then(|| "cos(0.1*t)".to_owned());
    }
    if let Some(drive) = &mut layer.drive {
        formula_rows(ui, drive, ("Drive", "function of t"), TIME);
    }
}

fn shape_rows(ui: &mut Ui, shape: &mut ShapeFile, (rank, extent): (usize, &[f64]), unit: &'static str) {
    let mut kind = shape.as_str();
    let offered: &[&'static str] = match (rank, &*shape) {
        (_, ShapeFile::Image { .. }) => &["image", "everywhere", "box", "disk"],
        (_, ShapeFile::Array { .. }) => &["array", "everywhere", "box", "disk"],
        (_, ShapeFile::Polygon { .. }) => &["polygon", "everywhere", "box", "disk", "ring", "slits"],
        (_, ShapeFile::Stroke { .. }) => &["stroke", "everywhere", "box", "disk", "ring", "slits"],
        (1, _) => &["everywhere", "box"],
        _ => &["everywhere", "box", "disk", "ring", "slits"],
    };
    let all = offered.iter().map(|word| (*word, (*word).to_owned(), String::new()));
    if row(ui, "Shape", "Where the layer applies.", |ui| {
        choice(ui, "Shape", &mut kind, all)
    }) {
        *shape = fresh(kind, extent);
    }
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    match shape {
        ShapeFile::Everywhere => {}
        ShapeFile::Box { min, max } => {
            point(ui, ("From", unit), PLACE, min, speed);
            point(ui, ("To", unit), PLACE, max, speed);
        }
        ShapeFile::Disk { center, radius } => {
            point(ui, ("Centre", unit), PLACE, center, speed);
            length(
                ui,
                ("Radius", "Sites at most this far from the centre belong to it."),
                radius,
                (unit, speed),
            );
        }
        ShapeFile::Ring { center, inner, outer } => {
            point(ui, ("Centre", unit), PLACE, center, speed);
            let about = "Sites between the two radii belong to the ring.";
            number_row(ui, ("Inner radius", about), inner, (unit, speed), NOT_NEGATIVE);
            length(ui, ("Outer radius", about), outer, (unit, speed));
        }
        ShapeFile::Slits {
            x,
            thickness,
            centers,
            opening,
        } => {
            number_row(
                ui,
                ("Screen at x", "The middle of the screen, which stands across x."),
                x,
                (unit, speed),
                ANY,
            );
            length(
                ui,
                ("Thickness", "Of the screen along x; above 0."),
                thickness,
                (unit, speed),
            );
            length(
                ui,
                ("Opening", "Width of each slit along y; above 0."),
                opening,
                (unit, speed),
            );
            slit_centers(ui, centers, (unit, speed), extent);
        }
        ShapeFile::Stroke { points, radius } => {
            hint(ui, &format!("A stroke of the brush through {} points.", points.len()));
            length(
                ui,
                ("Radius", "Half the width of the stroke; above 0."),
                radius,
                (unit, speed),
            );
        }
        ShapeFile::Polygon { points } => hint(ui, &format!("{} corners, given in the scene file.", points.len())),
        ShapeFile::Image { file } | ShapeFile::Array { file } => hint(ui, &format!("From {}.", file.display())),
    }
}

fn fresh(kind: &str, extent: &[f64]) -> ShapeFile {
    let center: Vec<f64> = extent.iter().map(|length| tidy(length * 0.5)).collect();
    let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
    let wide = extent.get(1).copied().unwrap_or(least);
    match kind {
        "box" => ShapeFile::Box {
            min: extent.iter().map(|length| tidy(length * 0.45)).collect(),
            max: extent.iter().map(|length| tidy(length * 0.55)).collect(),
        },
        "disk" => ShapeFile::Disk {
            center,
            radius: tidy(least * 0.1),
        },
        "ring" => ShapeFile::Ring {
            center,
            inner: tidy(least * 0.3),
            outer: tidy(least * 0.35),
        },
        "slits" => ShapeFile::Slits {
            x: tidy(extent[0] * 0.5),
            thickness: tidy(extent[0] * 0.01),
            centers: vec![tidy(wide * 0.45), tidy(wide * 0.55)],
            opening: tidy(wide * 0.04),
        },
        _ => ShapeFile::Everywhere,
    }
}

fn slit_centers(ui: &mut Ui, centers: &mut Vec<f64>, (unit, speed): (&'static str, f64), extent: &[f64]) {
    let about = "Centres of the openings along y.";
    row(ui, "Slits at y", about, |ui| {
        fields(ui, |ui| {
            for (n, center) in centers.iter_mut().enumerate() {
                let field = number_in(center, unit).speed(speed);
                ui.name_inputs(format!("Slit {} at y", n + 1), |ui| ui.add(field).explained(about));
            }
            if icon_button(ui, Icon::Plus, "Add a slit", true).clicked() {
                centers.push(tidy(extent.get(1).copied().unwrap_or(1.0) * 0.5));
            }
            if icon_button(ui, Icon::X, "Remove the last slit", !centers.is_empty()).clicked() {
                centers.pop();
            }
        });
    });
}

/// What the coordinates of a place are.
pub const PLACE: &str = "A place, in lengths from the first site along each axis.";

/// Coordinates of a point, one field an axis; their unit stands at the name, as all of them have it.
pub fn point(ui: &mut Ui, (label, unit): (&str, &str), about: &str, at: &mut [f64], speed: f64) {
    let title = if unit.is_empty() {
        label.to_owned()
    } else {
        format!("{label} ({unit})")
    };
    row(ui, &title, about, |ui| {
        fields(ui, |ui| {
            for (value, name) in at.iter_mut().zip(["x", "y", "z"]) {
                ui.name_inputs(format!("{label} {name}"), |ui| {
                    ui.add(number(value).speed(speed)).explained(format!("{name}. {about}"))
                });
            }
        });
    });
}

/// A length above 0.
pub fn length(ui: &mut Ui, words: (&str, &str), value: &mut f64, unit_and_pace: (&'static str, f64)) {
    number_row(ui, words, value, unit_and_pace, POSITIVE);
}
