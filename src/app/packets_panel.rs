//! The packets that the field starts as.

use super::cards::List;
use super::layers_panel::point;
use super::number::number;
use super::widgets::{button, figure, hint, row};
use crate::app::icon::Icon;
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
        return;
    }
    if !file.eigenstates.is_empty() {
        eigenstates(ui, file);
        return;
    }
    let rank = file.grid.size.len().max(1);
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let a = file.grid.spacing;
    let hopping = file.quantum.as_ref().map_or(1.0, |quantum| {
        quantum
            .hopping
            .unwrap_or_else(|| 1.0 / (2.0 * quantum.mass.unwrap_or(1.0) * a * a))
    });
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
        let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
        file.packets.push(PacketFile {
            center: extent.iter().map(|length| length / 2.0).collect(),
            width: vec![(least / 16.0).max(a); rank],
            momentum: vec![0.0; rank],
            weight: 1.0,
        });
    }
}

/// The eigenstates that the field starts as; with the last one gone it needs a packet again.
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
            row(ui, "Level", "By rising energy, from 0.", |ui| {
                ui.add(DragValue::new(&mut state.level).range(0..=499).speed(0.05));
            });
            if several {
                row(ui, "Weight", "Amplitude relative to the others.", |ui| {
                    ui.push_id("weight", |ui| ui.add(number(&mut state.weight).speed(0.01)))
                });
                row(ui, "Phase", "In radians.", |ui| {
                    ui.push_id("phase", |ui| ui.add(number(&mut state.phase).speed(0.02)))
                });
            }
        },
    );
}

fn rows(ui: &mut Ui, packet: &mut PacketFile, rank: usize, speed: f64, several: bool) {
    packet.momentum.resize(rank, 0.0);
    point(ui, "Centre", &mut packet.center, speed);
    row(ui, "Width σ", "Standard deviation of |ψ|² along each axis.", |ui| {
        for (axis, width) in packet.width.iter_mut().enumerate() {
            ui.push_id(("width", axis), |ui| {
                ui.add(number(width).speed(speed / 4.0).range(f64::MIN_POSITIVE..=f64::MAX))
            });
        }
    });
    row(ui, "Momentum k", "ψ ~ exp(i k·r); the wavelength is 2π/k.", |ui| {
        for (axis, k) in packet.momentum.iter_mut().enumerate() {
            ui.push_id(("k", axis), |ui| ui.add(number(k).speed(0.005)));
        }
    });
    if several {
        row(ui, "Weight", "Amplitude relative to the other packets.", |ui| {
            ui.push_id("weight", |ui| ui.add(number(&mut packet.weight).speed(0.01)))
        });
    }
}

/// Wavelength and energy of a packet on its lattice.
fn speaking(packet: &PacketFile, a: f64, hopping: f64) -> String {
    let k = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
    // E = Σ 2J (1 − cos k a), the lattice's dispersion.
    let energy: f64 = packet
        .momentum
        .iter()
        .map(|k| 2.0 * hopping * (1.0 - (k * a).cos()))
        .sum();
    if k == 0.0 {
        return "At rest".to_owned();
    }
    format!(
        "λ = {} ({} sites), E = {}",
        figure(std::f64::consts::TAU / k, 3),
        figure(std::f64::consts::TAU / (k * a), 3),
        figure(energy, 3)
    )
}
