//! The packets that the field starts as.

use super::cards::List;
use super::layers_panel::{PLACE, point};
use super::number::{ANY, POSITIVE, number, number_row};
use super::widgets::{Explained, button, fields, figure, hint, row};
use crate::app::icon::Icon;
use crate::physics::Sets;
use crate::scene::SceneFile;
use crate::scene::file::PacketFile;
use egui::{DragValue, Ui};

const LIST: List = List {
    noun: "packet",
    ordered: false,
    needed: true,
};

/// Shows the list; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile) {
    if let Some(path) = &file.initial {
        hint(ui, &format!("The field starts as {}.", path.display()));
        instead(ui, file);
        return;
    }
    if !file.eigenstates.is_empty() {
        eigenstates(ui, file);
        instead(ui, file);
        return;
    }
    let rank = file.grid.size.len().max(1);
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let a = file.grid.spacing;
    let quantum = file.quantum.as_ref();
    let hopping = quantum.map_or(1.0, |quantum| {
        quantum
            .hopping
            .unwrap_or_else(|| 1.0 / (2.0 * quantum.mass.unwrap_or(1.0) * a * a))
    });
    // With a flux or a rotation the energy is not one of k alone.
    let bends = quantum.is_some_and(|quantum| quantum.flux != 0.0 || quantum.rotation != 0.0)
        || file.layers.iter().any(|layer| layer.sets == Sets::Flux);
    let hopping = (!bends).then_some(hopping);
    let several = file.packets.len() > 1;
    LIST.show(
        ui,
        &mut file.packets,
        |packet| speaking(packet, a, hopping),
        |ui, packet| rows(ui, packet, rank, speed, several),
    );
    if ui
        .add(button(Icon::Plus, "Packet"))
        .accessible_name("Add packet")
        .clicked()
    {
        file.packets.push(fresh(&extent, a));
    }
}

/// A packet at rest in the middle of the grid.
fn fresh(extent: &[f64], a: f64) -> PacketFile {
    let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
    PacketFile {
        center: extent.iter().map(|length| length / 2.0).collect(),
        width: vec![(least / 16.0).max(a); extent.len()],
        momentum: vec![0.0; extent.len()],
        weight: 1.0,
    }
}

/// The way back to packets, where the field starts as something else.
fn instead(ui: &mut Ui, file: &mut SceneFile) {
    let response = ui
        .add(button(Icon::Plus, "Packet instead"))
        .accessible_name("Start from a packet instead")
        .on_hover_text("The field starts as a packet at rest in the middle of the grid.");
    if response.clicked() {
        let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
        file.initial = None;
        file.eigenstates.clear();
        file.packets = vec![fresh(&extent, file.grid.spacing)];
    }
}

/// The eigenstates that the field starts as; the last one stays.
fn eigenstates(ui: &mut Ui, file: &mut SceneFile) {
    hint(
        ui,
        "The field starts as eigenstates of the scene: Run, Levels shows them.",
    );
    const STATES: List = List {
        noun: "eigenstate",
        ordered: false,
        needed: true,
    };
    let several = file.eigenstates.len() > 1;
    STATES.show(
        ui,
        &mut file.eigenstates,
        |state| format!("Level {}", state.level),
        |ui, state| {
            let about = "By rising energy, 0 to 499.";
            row(ui, "Level", about, |ui| {
                let field = DragValue::new(&mut state.level).range(0..=499).speed(0.05);
                ui.add(field).explained(about);
            });
            if several {
                let about = "Amplitude relative to the others.";
                number_row(ui, ("Weight", about), &mut state.weight, ("", 0.01), ANY);
                number_row(
                    ui,
                    ("Phase", "Phase of its amplitude."),
                    &mut state.phase,
                    ("rad", 0.02),
                    ANY,
                );
            }
        },
    );
}

fn rows(ui: &mut Ui, packet: &mut PacketFile, rank: usize, speed: f64, several: bool) {
    packet.momentum.resize(rank, 0.0);
    point(ui, ("Centre", ""), PLACE, &mut packet.center, speed);
    let about = "Standard deviation of |ψ|² along each axis, a length; above 0.";
    row(ui, "Width σ", about, |ui| {
        fields(ui, |ui| {
            for width in &mut packet.width {
                let field = number(width).speed(speed / 4.0).range(POSITIVE);
                ui.add(field).explained(about);
            }
        });
    });
    let about = "ψ ~ exp(i k·r), in radians per length: the wavelength is 2π/k. At most π/a along each axis; up to 0.6/a waves are well resolved.";
    row(ui, "Momentum k", about, |ui| {
        fields(ui, |ui| {
            for k in &mut packet.momentum {
                ui.add(number(k).speed(0.005)).explained(about);
            }
        });
    });
    if several {
        let about = "Amplitude relative to the other packets.";
        number_row(ui, ("Weight", about), &mut packet.weight, ("", 0.01), ANY);
    }
}

/// Wavelength of a packet on its lattice and, if J is given, energy.
fn speaking(packet: &PacketFile, a: f64, hopping: Option<f64>) -> String {
    let k = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
    // E = Σ 2J (1 − cos k a), the lattice's dispersion.
    let energy = hopping.map(|hopping| {
        let along = packet.momentum.iter().map(|k| 2.0 * hopping * (1.0 - (k * a).cos()));
        along.sum::<f64>()
    });
    if k == 0.0 {
        let words = if hopping.is_some() { "At rest" } else { "k = 0" };
        return words.to_owned();
    }
    format!(
        "λ = {} ({} sites){}",
        figure(std::f64::consts::TAU / k, 3),
        figure(std::f64::consts::TAU / (k * a), 3),
        energy.map_or(String::new(), |energy| format!(", E = {}", figure(energy, 3)))
    )
}
