//! The packets that the field starts as.

use super::layers_panel::point;
use super::theme;
use super::widgets::{button, figure, hint, icon_button, row};
use crate::scene::SceneFile;
use crate::scene::file::PacketFile;
use egui::{DragValue, Ui};
use lucide_icons::Icon;

/// Shows the list; edits `file`.
pub fn show(ui: &mut Ui, file: &mut SceneFile) {
    if let Some(path) = &file.initial {
        hint(ui, &format!("The field starts as {}.", path.display()));
        return;
    }
    let rank = file.grid.size.len().max(1);
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let speed = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let a = file.grid.spacing;
    let hopping = file.quantum.as_ref().map(|quantum| {
        quantum
            .hopping
            .unwrap_or_else(|| 1.0 / (2.0 * quantum.mass.unwrap_or(1.0) * a * a))
    });
    let mut removed = None;
    let several = file.packets.len() > 1;
    for (n, packet) in file.packets.iter_mut().enumerate() {
        ui.push_id(("packet", n), |ui| {
            egui::Frame::new()
                .fill(theme::palette(ui).surface.gamma_multiply(0.6))
                .corner_radius(4)
                .inner_margin(8)
                .show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    ui.horizontal(|ui| {
                        ui.label(egui::RichText::new(format!("Packet {}", n + 1)).color(theme::palette(ui).strong));
                        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                            if icon_button(ui, Icon::Trash2, &format!("Remove packet {}", n + 1), several).clicked() {
                                removed = Some(n);
                            }
                        });
                    });
                    rows(ui, packet, rank, speed, several);
                    if let Some(j) = hopping {
                        hint(ui, &speaking(packet, a, j));
                    }
                });
        });
    }
    if let Some(n) = removed {
        file.packets.remove(n);
    }
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

fn rows(ui: &mut Ui, packet: &mut PacketFile, rank: usize, speed: f64, several: bool) {
    packet.momentum.resize(rank, 0.0);
    point(ui, "Centre", &mut packet.center, speed);
    row(ui, "Width σ", "Standard deviation of |ψ|² along each axis.", |ui| {
        for (axis, width) in packet.width.iter_mut().enumerate() {
            ui.push_id(("width", axis), |ui| {
                ui.add(
                    DragValue::new(width)
                        .speed(speed / 4.0)
                        .range(1e-6..=1e9)
                        .max_decimals(4),
                )
            });
        }
    });
    row(ui, "Momentum k", "ψ ~ exp(i k·r); the wavelength is 2π/k.", |ui| {
        for (axis, k) in packet.momentum.iter_mut().enumerate() {
            ui.push_id(("k", axis), |ui| ui.add(DragValue::new(k).speed(0.005).max_decimals(5)));
        }
    });
    if several {
        row(ui, "Weight", "Amplitude relative to the other packets.", |ui| {
            ui.push_id("weight", |ui| {
                ui.add(DragValue::new(&mut packet.weight).speed(0.01).max_decimals(4))
            })
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
        return "At rest.".to_owned();
    }
    format!(
        "Wavelength {} ({} sites), energy {}",
        figure(std::f64::consts::TAU / k, 3),
        figure(std::f64::consts::TAU / (k * a), 3),
        figure(energy, 3)
    )
}
