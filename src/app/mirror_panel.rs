//! The mirror of a scene: how and when time is reversed, where its transducers stand, and what differs on the way back.

use super::layers_panel::{PLACE, length, point, returning};
use super::mirror_tool::{fresh, turn};
use super::number::{POSITIVE, number_row, tidy};
use super::widgets::{button, choice, figure, hint, row};
use crate::app::icon::Icon;
use crate::engine::Frame;
use crate::engine::build::steps_between;
use crate::physics::MirrorMethod;
use crate::physics::mirror::Drive;
use crate::scene::SceneFile;
use crate::scene::file::{MirrorFile, TransducersFile};
use egui::{DragValue, Ui};

/// When a run has turned time, where that is another time than its scene's: a key turns it at once.
#[must_use]
pub fn turned_by_hand(frame: &Frame) -> Option<f64> {
    let status = frame.mirror.as_ref()?.status;
    let at = frame.scenario.as_ref()?.mirror()?.at;
    let step = frame.clock.time_step.abs();
    let (turn, due) = (status.turn as f64, steps_between(0.0, at, step).max(1) as f64);
    (status.turned && (turn - due).abs() > 0.5).then_some(turn * step)
}

/// Shows the section's contents; edits `file`. `turned`: as [`turned_by_hand`] says.
pub fn show(ui: &mut Ui, file: &mut SceneFile, turned: Option<f64>) {
    let extent: Vec<f64> = file.grid.size.iter().map(|&n| n as f64 * file.grid.spacing).collect();
    let Some(mirror) = &mut file.mirror else {
        hint(
            ui,
            "Time runs one way. With a mirror the wave is recorded, turned round, and comes back.",
        );
        if ui
            .add(button(Icon::Plus, "Mirror"))
            .accessible_name("Add mirror")
            .clicked()
        {
            file.mirror = Some(fresh(turn(file)));
        }
        return;
    };
    let quantum = file.acoustic.is_none();
    let flux = file.quantum.as_ref().is_some_and(|quantum| quantum.flux != 0.0);
    settings(ui, mirror, (&extent, turned), (flux, quantum));
    if mirror.perturbation.is_empty() {
        hint(
            ui,
            "Nothing differs on the way back. What the brush paints then acts there only.",
        );
    } else {
        hint(ui, "On the way back only:");
        returning(ui, &mut mirror.perturbation, &extent, quantum);
    }
    ui.horizontal(|ui| {
        // The last layer of the list, for the way back only: painted with the brush, moved here.
        let movable = !file.layers.is_empty();
        let response = ui
            .add_enabled(movable, button(Icon::ChevronDown, "Last layer: way back only"))
            .on_hover_text("Takes the last layer of the list, e.g. what the brush painted last, out of the scene: it acts on the way back only.");
        if response.clicked()
            && let Some(layer) = file.layers.pop()
        {
            mirror.perturbation.push(layer);
        }
    });
    if ui
        .add(button(Icon::X, "Remove"))
        .accessible_name("Remove mirror")
        .clicked()
    {
        file.mirror = None;
    }
}

/// How and when time is reversed.
fn settings(
    ui: &mut Ui,
    mirror: &mut MirrorFile,
    (extent, turned): (&[f64], Option<f64>),
    (flux, quantum): (bool, bool),
) {
    let [length, time] = if quantum { [""; 2] } else { ["m", "s"] };
    let before = mirror.method;
    row(
        ui,
        "Reversed by",
        "What happens at the reversal. Another one can be chosen on the way back: the record is kept.",
        |ui| {
            choice(ui, "How time is reversed", &mut mirror.method, methods());
        },
    );
    if before != mirror.method && mirror.method != MirrorMethod::Echo && mirror.transducers.is_none() {
        mirror.transducers = Some(TransducersFile::Edges);
    }
    let pace = (mirror.at.abs() / 200.0).max(1e-9);
    let about = "The time of the reversal; above 0. The key T reverses time at once.";
    number_row(ui, ("Reversed at", about), &mut mirror.at, (time, pace), POSITIVE);
    if let Some(turned) = turned {
        by_hand(ui, &mut mirror.at, turned, time);
    }
    if mirror.method != MirrorMethod::Echo {
        transducers(ui, mirror, extent, length);
        played(ui, mirror, time);
    }
    let about = "Added to what was recorded, as a part of its rms: 0 to 100.";
    number_row(ui, ("Noise", about), &mut mirror.noise, ("", 0.002), 0.0..=100.0);
    if mirror.method == MirrorMethod::InverseFilter {
        row(ui, "Drive", "", |ui| {
            let all = [
                (
                    Drive::Hard,
                    "hard",
                    "The sites are held at the recorded values: exact, without any inversion.",
                ),
                (
                    Drive::Soft,
                    "soft",
                    "The signal that a real array would have to add, from the inverted impulse responses.",
                ),
            ];
            choice(
                ui,
                "How it drives",
                &mut mirror.drive,
                all.map(|(drive, word, about)| (drive, word.to_owned(), about.to_owned())),
            );
        });
    }
    if flux {
        ui.checkbox(&mut mirror.keep_flux, "The magnetic field stays")
            .on_hover_text(
                "Turning time round turns the magnetic field round as well; if it stays, the wave does not come back.",
            );
    }
}

/// Says that time was reversed by hand, and lets the scene do so then.
fn by_hand(ui: &mut Ui, at: &mut f64, turned: f64, unit: &str) {
    let turned_at = format!("t = {} {unit}", figure(turned, 4));
    let turned_at = turned_at.trim_end();
    hint(
        ui,
        &format!(
            "Time was reversed by hand at {turned_at}. After a reset, in films and in the file it is reversed at the time above."
        ),
    );
    let response = ui
        .add(button(Icon::ArrowLeftRight, "Always reverse then"))
        .accessible_name("Always reverse then")
        .on_hover_text(format!("Makes {turned_at} the time at which the scene reverses time."));
    if response.clicked() {
        // Without the digits that a product of steps leaves behind.
        *at = format!("{turned:.9e}").parse().unwrap_or(turned);
    }
}

/// What of the record is played, and by how many.
fn played(ui: &mut Ui, mirror: &mut MirrorFile, unit: &'static str) {
    let all = match &mirror.transducers {
        Some(TransducersFile::Ring { count, .. } | TransducersFile::Line { count, .. }) => Some(*count),
        Some(TransducersFile::Points { points }) => Some(points.len()),
        Some(TransducersFile::Edges) | None => None,
    };
    if let Some(all) = all.filter(|_| mirror.method != MirrorMethod::InverseFilter) {
        let mut playing = mirror.playing.map_or(all, |playing| playing.min(all));
        row(
            ui,
            "Playing",
            "How many of the transducers play, evenly spaced: the record is kept, so the way back can be taken again with fewer.",
            |ui| {
                let field = DragValue::new(&mut playing).range(1..=all.max(1)).speed(0.1);
                if ui.add(field).accessible_name("Playing").changed() {
                    mirror.playing = (playing < all).then_some(playing);
                }
            },
        );
    }
    let mut record = mirror.record.map_or(mirror.at, |record| record.min(mirror.at));
    let about = "From t = 0 to here, at most to the reversal; the rest of the record stays silent on the way back.";
    let pace = (mirror.at.abs() / 200.0).max(1e-9);
    let range = f64::MIN_POSITIVE..=mirror.at.abs().max(f64::MIN_POSITIVE);
    if number_row(ui, ("Record played", about), &mut record, (unit, pace), range).changed() {
        mirror.record = (record < mirror.at).then_some(record);
    }
}

fn methods() -> [(MirrorMethod, String, String); 4] {
    [
        (
            MirrorMethod::Echo,
            "echo",
            "The whole field is turned round: ψ → ψ*, dp/dt → −dp/dt.",
        ),
        (
            MirrorMethod::Reversal,
            "time-reversal mirror",
            "The transducers play what they heard, backwards.",
        ),
        (
            MirrorMethod::OneBit,
            "one-bit mirror",
            "They play its sign alone, at full power.",
        ),
        (
            MirrorMethod::InverseFilter,
            "perfect inverse filter",
            "They hold the field at what they heard: exact inside a closed mirror.",
        ),
    ]
    .map(|(method, title, about)| (method, title.to_owned(), about.to_owned()))
}

/// The shape that transducers stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Ring,
    Line,
    Edges,
    Points,
}

fn shape_of(transducers: &TransducersFile) -> Shape {
    match transducers {
        TransducersFile::Ring { .. } => Shape::Ring,
        TransducersFile::Line { .. } => Shape::Line,
        TransducersFile::Edges => Shape::Edges,
        TransducersFile::Points { .. } => Shape::Points,
    }
}

/// Transducers of another shape, in the middle of the grid.
fn other(shape: Shape, extent: &[f64]) -> TransducersFile {
    let least = extent.iter().copied().fold(f64::INFINITY, f64::min);
    let middle: Vec<f64> = extent.iter().map(|length| tidy(length / 2.0)).collect();
    let across = extent.len().min(2) - 1;
    let end = |share: f64| {
        let mut at = middle.clone();
        at[across] = tidy(extent[across] * share);
        at
    };
    match shape {
        Shape::Ring => TransducersFile::Ring {
            center: middle,
            radius: tidy(0.4 * least),
            count: 64,
        },
        Shape::Line => TransducersFile::Line {
            from: end(0.25),
            to: end(0.75),
            count: 32,
        },
        Shape::Edges => TransducersFile::Edges,
        Shape::Points => TransducersFile::Points { points: vec![middle] },
    }
}

fn transducers(ui: &mut Ui, mirror: &mut MirrorFile, extent: &[f64], unit: &'static str) {
    let own = mirror.transducers.get_or_insert(TransducersFile::Edges);
    let mut shape = shape_of(own);
    row(
        ui,
        "Placed",
        "Where the transducers stand; the mirror tool (M) places them in the picture.",
        |ui| {
            let all = [
                (Shape::Ring, "on a ring"),
                (Shape::Line, "on a line"),
                (Shape::Edges, "along the edges"),
                (Shape::Points, "one by one"),
            ];
            choice(
                ui,
                "Where transducers stand",
                &mut shape,
                all.map(|(shape, title)| (shape, title.to_owned(), String::new())),
            );
        },
    );
    if shape != shape_of(own) {
        *own = other(shape, extent);
    }
    let pace = extent.iter().copied().fold(0.0, f64::max) / 400.0;
    let count = |ui: &mut Ui, count: &mut usize| {
        row(
            ui,
            "Count",
            "1 to 65536, half a wavelength apart or closer; an inverse filter closes the gaps by itself.",
            |ui| {
                ui.add(DragValue::new(count).range(1..=65536).speed(0.2))
                    .accessible_name("Count");
            },
        );
    };
    match own {
        TransducersFile::Ring {
            center,
            radius,
            count: n,
        } => {
            point(ui, ("Centre", unit), PLACE, center, pace);
            length(ui, ("Radius", "Of the ring; above 0."), radius, (unit, pace));
            count(ui, n);
        }
        TransducersFile::Line { from, to, count: n } => {
            point(ui, ("From", unit), PLACE, from, pace);
            point(ui, ("To", unit), PLACE, to, pace);
            count(ui, n);
        }
        TransducersFile::Edges => hint(ui, "On every site along the edges, inside absorbing layers."),
        TransducersFile::Points { points } => {
            hint(ui, &format!("{} transducers, one by one.", points.len()));
        }
    }
}
