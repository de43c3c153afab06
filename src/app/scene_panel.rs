//! The scene: what it is about, its packets, layers and detectors.

use super::document::Document;
use super::number::{ANY, POSITIVE, number_in, number_row, tidy};
use super::sound::SoundWish;
use super::widgets::{Explained, figure, hint, row, section};
use super::{
    detectors_panel, layers_panel, mirror_panel, packets_panel, sound_panel, theme, theory_panel, trajectories_panel,
};
use crate::app::icon::Icon;
use crate::engine::Frame;
use crate::grid::Edge;
use crate::scene::file::{EdgesFile, GridFile, QuantumFile};
use crate::scene::{Fault, SceneFile};
use egui::Ui;

/// The section of the layers, in quantum scenes and in those of sound.
pub const LAYERS: [&str; 2] = ["Potential and walls", "Medium and walls"];

/// Shows the panel; edits the document's draft, and returns what shall be heard.
pub fn show(ui: &mut Ui, document: &mut Document, frame: &Frame) -> Option<SoundWish> {
    title(ui, &mut document.draft.title);
    if let Some(path) = document.path() {
        hint(ui, &path.display().to_string());
    }
    standing(ui, document);
    let file = &mut document.draft;
    section(ui, Icon::LayoutGrid, "Grid", false, |ui| grid(ui, file));
    if file.acoustic.is_none() {
        section(ui, Icon::Waves, "Packets", false, |ui| packets_panel::show(ui, file));
    } else {
        section(ui, Icon::Waves, "Pulses", false, |ui| sound_panel::pulses(ui, file));
        section(ui, Icon::Volume2, "Sources", false, |ui| sound_panel::sources(ui, file));
    }
    let name = LAYERS[usize::from(file.acoustic.is_some())];
    section(ui, Icon::Layers, name, true, |ui| layers_panel::show(ui, file));
    section(ui, Icon::FlipHorizontal2, "Mirror", false, |ui| {
        mirror_panel::show(ui, file, mirror_panel::turned_by_hand(frame));
    });
    let mut sound = None;
    section(ui, Icon::Target, "Detectors", false, |ui| {
        sound = detectors_panel::show(ui, file);
    });
    if file.acoustic.is_none() {
        section(ui, Icon::MoveUpRight, "Trajectories", false, |ui| {
            trajectories_panel::show(ui, file);
        });
    }
    section(ui, Icon::Spline, "Theory and notes", false, |ui| {
        theory_panel::show(ui, file);
    });
    sound
}

/// What the scene is called: under this name it stands in the gallery and in films.
fn title(ui: &mut Ui, title: &mut String) {
    // A long one is wrapped, and stays one line of text.
    let field = egui::TextEdit::multiline(title)
        .font(egui::FontId::proportional(17.0))
        .text_color(theme::palette(ui).strong)
        .hint_text("Untitled")
        .desired_rows(1)
        .return_key(None)
        .desired_width(f32::INFINITY);
    let response = ui.add(field).accessible_name("Title of the scene").explained(
        "The scene's title: in the gallery, in pictures and films. Edit it before you save a scene of your own.",
    );
    if response.changed() && title.contains(['\n', '\r']) {
        *title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// Whether the draft is saved and runs, on one line whatever it says: the controls below stay where they are while something is edited.
fn standing(ui: &mut Ui, document: &Document) {
    let palette = theme::palette(ui);
    let (text, color) = match (&document.faults, document.is_modified(), document.path()) {
        (Some(_), ..) => ("This edit is not applied yet.", palette.wrong),
        (None, true, Some(_)) => ("Edited.", palette.weak),
        (None, true, None) => ("Edited; not saved in a file yet.", palette.weak),
        (None, false, Some(_)) => ("As saved.", palette.weak),
        (None, false, None) => ("As it was opened.", palette.weak),
    };
    let words = egui::RichText::new(text).size(12.0).color(color);
    let response = ui.add(egui::Label::new(words).truncate());
    if let Some(faults) = &document.faults {
        let lines: Vec<String> = faults.list.iter().map(Fault::in_words).collect();
        response.on_hover_text(lines.join("\n"));
    }
}

const SITES: &str = "Sites along each axis, at least 2. A change starts the scene anew.";

fn grid(ui: &mut Ui, file: &mut SceneFile) {
    row(ui, "Sites", SITES, |ui| {
        for (axis, n) in file.grid.size.iter_mut().enumerate() {
            ui.push_id(("size", axis), |ui| {
                ui.add(
                    egui::DragValue::new(n)
                        .range(2..=1 << 30)
                        .clamp_existing_to_range(false)
                        .speed(1.0)
                        .update_while_editing(false),
                )
                .explained(SITES)
            });
        }
    });
    let sound = file.acoustic.is_some();
    let about = "Distance between neighbouring sites; above 0. A change starts the scene anew.";
    row(ui, "Spacing a", about, |ui| {
        let speed = file.grid.spacing / 100.0;
        let field = number_in(&mut file.grid.spacing, if sound { "m" } else { "" })
            .range(POSITIVE)
            .speed(speed);
        ui.add(field.update_while_editing(false)).explained(about)
    });
    let about = if sound {
        "Wall: rigid, the pressure comes back upright. Soft: an open end, it comes back upside down. Periodic: it enters again on the other side. Absorb: it is swallowed in a layer."
    } else {
        "Wall: the wave is reflected. Periodic: it enters again on the other side. Absorb: it is swallowed in a layer."
    };
    match &mut file.grid.edges {
        EdgesFile::All(edge) => {
            edge_row(ui, "Edges", about, edge, sound);
        }
        EdgesFile::PerAxis(edges) => {
            for (edge, label) in edges
                .iter_mut()
                .zip(["Edges along x", "Edges along y", "Edges along z"])
            {
                edge_row(ui, label, about, edge, sound);
            }
        }
    }
    let spacing = file.grid.spacing;
    if let Some(acoustic) = &mut file.acoustic {
        let about = "Of the medium, where no layer changes it; above 0.";
        let pace = |value: f64| value.abs() / 100.0;
        let (speed, density) = (pace(acoustic.speed), pace(acoustic.density));
        number_row(
            ui,
            ("Sound speed", about),
            &mut acoustic.speed,
            ("m/s", speed),
            POSITIVE,
        );
        number_row(
            ui,
            ("Density", about),
            &mut acoustic.density,
            ("kg/m³", density),
            POSITIVE,
        );
        super::walls_panel::attenuation_rows(ui, acoustic, tidy(acoustic.speed / (32.0 * spacing)));
    }
    let (grid, quantum) = (&file.grid, &mut file.quantum);
    if let Some(quantum) = quantum {
        quantum_rows(ui, grid, quantum);
    }
}

/// What only quantum scenes have.
fn quantum_rows(ui: &mut Ui, grid: &GridFile, quantum: &mut QuantumFile) {
    if quantum.hopping.is_none() {
        let mut mass = quantum.mass.unwrap_or(1.0);
        let about = "m of p²/2m, with ħ = 1; above 0. The hopping is J = 1/(2ma²).";
        let pace = mass / 100.0;
        if number_row(ui, ("Mass m", about), &mut mass, ("", pace), POSITIVE).changed() {
            quantum.mass = Some(mass);
        }
    }
    let about = "g|ψ|² of the nonlinear Schrödinger equation: above 0 the wave repels itself, below 0 it attracts itself. An energy times a length, area or volume.";
    number_row(ui, ("Interaction g", about), &mut quantum.interaction, ("", 0.01), ANY);
    if grid.size.len() > 1 && grid.size.last() == Some(&2) {
        let about = "The two sites of the last axis are components of a condensate: each has g₁₂|ψ|² of the other beside its own g|ψ|². As g.";
        number_row(
            ui,
            ("Interaction g₁₂", about),
            &mut quantum.cross_interaction,
            ("", 0.01),
            ANY,
        );
    }
    if grid.size.len() > 1 {
        let about = "Magnetic flux through a plaquette of a², in flux quanta; 1 more is the same.";
        number_row(ui, ("Flux α", about), &mut quantum.flux, ("", 0.0005), ANY);
        let about = "The frame rotates about z through the middle of the grid: H − Ω L_z. Radians per unit of time; m|Ω|ra is at most π at the edges.";
        number_row(ui, ("Rotation Ω", about), &mut quantum.rotation, ("", 0.002), ANY);
    }
    let hopping = quantum
        .hopping
        .unwrap_or_else(|| 1.0 / (2.0 * quantum.mass.unwrap_or(1.0) * grid.spacing.powi(2)));
    hint(
        ui,
        &format!(
            "ħ = 1, hopping J = {}, band width {} per axis.",
            figure(hopping, 4),
            figure(4.0 * hopping, 4)
        ),
    );
}

fn edge_row(ui: &mut Ui, label: &str, about: &str, edge: &mut Edge, sound: bool) {
    row(ui, label, about, |ui| {
        let all = Edge::ALL
            .iter()
            // For ψ a soft edge is a wall.
            .filter(|(_, known)| sound || *known != Edge::Soft)
            .map(|(word, known)| (*known, (*word).to_owned(), String::new()));
        super::widgets::choice(ui, label, edge, all)
    });
}
