//! The status line: where the run stands, how fast it is, what it costs. Every cell keeps its place.

use super::meter::Meter;
use super::theme;
use super::units::Units;
use super::widgets::{figure, signed, steady};
use crate::engine::{Frame, Link, LinkState, Status, Task};
use crate::grid::Edge;
use crate::physics::{Equation, Initial, Measure};
use crate::solver::Report;
use crate::units;
use egui::{Align, FontId, Layout, Sense, Ui, vec2};

/// Between two cells.
const GAP: f32 = 16.0;

/// Between the name of a cell and its value.
const NAME_GAP: f32 = 6.0;

/// The least room in which what runs is told.
const LEAST: f32 = 96.0;

/// The widest values of cells.
const STEPS: &str = "0000000";
const RATE: &str = "00.00 Msite-steps/s";
const FRAME_TIME: &str = "000.0 ms";
const FRAMES: &str = "000 frames/s";
const MEMORY: &str = "0000.00 MiB";
const UNDER_POINTER: &str = "−0.00×10⁻⁰⁰ m";

/// What the drift takes, with its widest name.
const DRIFT_ROOM: f32 = 152.0;

/// Shows the line.
pub fn show(
    ui: &mut Ui,
    frame: &Frame,
    task: Option<Task>,
    link: Option<&Link>,
    meter: &Meter,
    read_out: &[(String, String)],
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        // On a phone the first cells alone have room.
        let all = ui.available_width();
        let (word, about) = state(frame);
        cell(ui, "", word, "backwards", about);
        if let Some(link) = link {
            link_cell(ui, link);
        }
        if let Some(task) = task {
            ui.label(egui::RichText::new(progress(&task)).size(TEXT));
            return;
        }
        let unit = frame.scenario.as_deref().map_or(super::units::NONE, |scenario| {
            Units::of(scenario, frame.clock.time_step).time
        });
        let time = format!("{}{}", steady(frame.clock.time * unit.per, 3), unit.suffix());
        cell(ui, "t", &time, "−0000.000 ms", "Time.");
        // These cells give their place to what is under the pointer where both have no room.
        let pointer: f32 = read_out
            .iter()
            .map(|(name, _)| GAP + width(ui, name, UNDER_POINTER))
            .sum();
        let fits = |ui: &Ui, width: f32| width + pointer < ui.available_width();
        if all > 320.0 && fits(ui, width(ui, "step", STEPS)) {
            let steps = frame.clock.steps.to_string();
            cell(ui, "step", &steps, STEPS, "Steps taken since t = 0.");
        }
        let rate = if frame.rate > 0.0 {
            units::si(frame.rate)
        } else {
            "– ".to_owned()
        };
        let rate = format!("{rate}site-steps/s");
        if all > 480.0 && fits(ui, width(ui, "", RATE)) {
            let about = "Sites times steps per second of stepping.";
            cell(ui, "", &rate, RATE, about);
        }
        // What is told first goes last when the window is narrow.
        let wide = ui.available_width();
        if all > 600.0 && fits(ui, width(ui, "window", FRAME_TIME)) {
            let text = format!("{:.1} ms", meter.frame_ms());
            cell(ui, "window", &text, FRAME_TIME, &meter.about());
        }
        if wide > 500.0 && fits(ui, width(ui, "", FRAMES)) {
            let about = "Pictures per second that the solver delivers.";
            cell(ui, "", &pace(frame.frames_per_second), FRAMES, about);
        }
        if wide > 620.0 && fits(ui, DRIFT_ROOM) {
            drift_cell(ui, frame);
        }
        let Some(report) = &frame.report else { return };
        if wide > 740.0 && fits(ui, width(ui, "memory", MEMORY)) {
            let held = units::bytes(report.memory);
            let about = format!("Memory of the whole program; the solver holds {held} of it.");
            let shown = meter.memory().filter(|_| link.is_none()).map_or(held, units::bytes);
            cell(ui, "memory", &shown, MEMORY, &about);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if read_out.is_empty() {
                running(ui, report);
            } else {
                pointed_at(ui, read_out);
            }
        });
    });
}

/// What runs, where it has room.
fn running(ui: &mut Ui, report: &Report) {
    if ui.available_width() < LEAST {
        return;
    }
    let text = format!(
        "{} · {} · {} · {}",
        report.method,
        report.variant,
        report.precision.as_str(),
        report.backend.as_str()
    );
    let about = super::method_panel::running(report);
    let color = theme::palette(ui).weak;
    ui.add(egui::Label::new(egui::RichText::new(text).size(TEXT).color(color)).truncate())
        .on_hover_text(about);
}

/// Where the run is, and what the link to it carries.
fn link_cell(ui: &mut Ui, link: &Link) {
    let place = format!("The run is on {}, reached by {}", link.host, link.address);
    let (text, about) = match link.state() {
        LinkState::Connected(rate) => (
            format!("{}B/s", units::si(rate)),
            format!("{place}; so much comes from it."),
        ),
        LinkState::Lost(why) => (
            "link lost".to_owned(),
            format!("{place}. The link is lost: {why}. It is being connected again."),
        ),
        LinkState::Ended(why) => (
            "out of reach".to_owned(),
            format!("{place}. It is out of reach: {why}."),
        ),
    };
    cell(ui, &format!("on {}", link.host), &text, "out of reach", &about);
}

/// How far a long task within a step is, in words.
fn progress(task: &Task) -> String {
    let left = match task.seconds_left {
        Some(seconds) => format!(", about {:.0} s left", seconds.ceil()),
        None => String::new(),
    };
    format!("{}: {:.0} %{left}. Pause breaks it off.", task.what, 100.0 * task.done)
}

/// Place and value under the pointer: every value in room for the widest number, so that nothing moves.
fn pointed_at(ui: &mut Ui, fields: &[(String, String)]) {
    // On a phone the place alone has room.
    let mut left = ui.available_width();
    let fits = |(name, _): &&(String, String)| {
        left -= width(ui, name, UNDER_POINTER) + GAP;
        left + GAP >= 0.0
    };
    let count = fields.iter().take_while(fits).count();
    for (name, value) in fields[..count].iter().rev() {
        cell(ui, name, value, UNDER_POINTER, "Under the pointer.");
    }
}

/// Where the run stands, in words: what the picture's description says.
#[must_use]
pub fn describe(frame: &Frame) -> String {
    let Some(scenario) = frame.scenario.as_deref() else {
        return "Nothing runs yet.".to_owned();
    };
    let units = Units::of(scenario, frame.clock.time_step);
    let mut text = format!(
        "{}, {} at t = {}, step {}.",
        scenario.title(),
        state(frame).0,
        units.time.show(frame.clock.time, 4),
        frame.clock.steps
    );
    if let Some((_, sums)) = frame.observables {
        let place: Vec<String> = ["x", "y", "z"]
            .iter()
            .zip(sums.position)
            .take(scenario.grid().rank())
            .map(|(axis, at)| format!("{axis} = {}", units.length.show(at, 3)))
            .collect();
        let (name, value, _) = change(frame);
        text.push_str(&format!(
            " Mean position {}; {name} {}.",
            place.join(", "),
            value.trim()
        ));
    }
    for (detector, value) in scenario.detectors().iter().zip(&frame.detectors) {
        text.push_str(&format!(" {}: {}.", detector.name, super::widgets::figure(*value, 4)));
    }
    text
}

/// How a picture of the run is read out.
#[must_use]
pub fn picture_info(name: &str, frame: &Frame) -> egui::WidgetInfo {
    egui::WidgetInfo {
        current_text_value: Some(describe(frame)),
        ..egui::WidgetInfo::labeled(egui::Role::Image, true, name)
    }
}

fn state(frame: &Frame) -> (&'static str, &'static str) {
    match &frame.status {
        Status::Starting => ("starting", "The solver is being built."),
        Status::Running if frame.clock.time_step < 0.0 => ("backwards", "Time runs backwards."),
        Status::Running => ("running", "The solver is stepping."),
        Status::Paused => ("paused", "Space plays it."),
        Status::Failed(_) => (
            "stopped",
            "The run cannot go on; the picture shows its last good state.",
        ),
    }
}

fn drift_cell(ui: &mut Ui, frame: &Frame) {
    let (name, value, about) = change(frame);
    cell(ui, name, &value, "−0.00×10⁻⁰⁰ %", about);
}

const DRIFT: &str = "Norm (sound: energy) over its value at t = 0, minus 1. Nothing absorbs or drives the wave: what is not 0 is the scheme's error.";

/// So many pictures per second.
fn pace(rate: f64) -> String {
    let text = format!("{rate:.0}");
    let frames = if text == "1" { "frame" } else { "frames" };
    format!("{text} {frames}/s")
}

/// What is said of an energy that nothing sums.
const NOT_SUMMED: &str = "not summed";

const WHY_NOT_SUMMED: &str = "The energy is summed while the velocity of the medium is known: with a detector of energy or flux, or where the energy is shown.";

/// What became of norm or energy: its name, how much, and what it is. Energy that sources inject and what absorbing edges and media take is no error, and
/// has the name of what it is; only where neither is there it is the scheme's own drift.
fn change(frame: &Frame) -> (&'static str, String, &'static str) {
    let (drift, Some(scenario)) = (frame.drift, frame.scenario.as_deref()) else {
        return ("drift", signed(frame.drift), DRIFT);
    };
    let grid = scenario.grid();
    let absorbs = grid.edges()[..grid.rank()].contains(&Edge::Absorb) || scenario.takes_energy();
    let sound = scenario.model().equation() == Equation::Acoustic;
    if !scenario.sources().is_empty() {
        let about = "Energy over its value at t = 0, minus 1: what sources injected, less what is absorbed.";
        if matches!(scenario.initial(), Initial::Pulses(pulses) if pulses.is_empty()) {
            // Of nothing there is no share.
            let about = "The energy in the grid now. At t = 0 there was none: sources inject it, and it falls where it is absorbed.";
            let energy = frame.observables.map_or(0.0, |(_, sums)| sums.energy);
            if energy.is_nan() {
                return ("energy", NOT_SUMMED.to_owned(), WHY_NOT_SUMMED);
            }
            let unit = Measure::Energy.unit(Equation::Acoustic, grid.rank());
            return ("energy", format!("{} {unit}", figure(energy, 3)), about);
        }
        return balance(drift, about);
    }
    if scenario.listens() {
        let about = "Norm (sound: energy) over its value at t = 0, minus 1: what a mirror's transducers injected on the way back, less what is taken out and absorbed.";
        return balance(drift, about);
    }
    match (absorbs, sound) {
        (false, _) => ("drift", signed(drift), DRIFT),
        // Time that runs backwards gives back what was taken, and more where it goes on past the start.
        (true, _) if drift > LEAST_INJECTED => (
            "injected",
            percent(drift),
            "Norm (sound: energy) over its value at t = 0, minus 1. Where time runs backwards, what absorbs gives back what it took.",
        ),
        (true, true) => (
            "absorbed",
            taken(drift),
            "What the absorbing edges and media have taken, of the energy at t = 0.",
        ),
        (true, false) => (
            "absorbed",
            taken(drift),
            "What the absorbing edges and media have taken, of the norm at t = 0.",
        ),
    }
}

/// What was injected less what was absorbed, by the name of the larger of both.
fn balance(drift: f64, about: &'static str) -> (&'static str, String, &'static str) {
    if drift.is_nan() {
        ("injected", NOT_SUMMED.to_owned(), WHY_NOT_SUMMED)
    } else if drift < -LEAST_INJECTED {
        ("absorbed", percent(-drift), about)
    } else {
        ("injected", percent(drift), about)
    }
}

/// What is more than rounding adds to norm or energy.
const LEAST_INJECTED: f64 = 1e-4;

/// The share that is gone, in percent: what rounding adds is no absorption below zero.
fn taken(drift: f64) -> String {
    if drift > 0.0 { percent(0.0) } else { percent(-drift) }
}

/// A share in percent; what rounding leaves is none.
fn percent(share: f64) -> String {
    if share.abs() < 1e-6 {
        return "0 %".to_owned();
    }
    format!("{} %", figure(100.0 * share, 3).replace('-', "−"))
}

const TEXT: f32 = 12.0;

/// The width of a cell.
fn width(ui: &Ui, name: &str, widest: &str) -> f32 {
    let font = FontId::proportional(TEXT);
    let of = |text: &str| {
        let galley = ui
            .painter()
            .layout_no_wrap(text.to_owned(), font.clone(), egui::Color32::WHITE);
        galley.size().x
    };
    let gap = if name.is_empty() { 0.0 } else { NAME_GAP };
    of(name) + gap + of(widest)
}

/// A name of less weight, then a value in the room that `widest` takes: what follows stays where it is.
fn cell(ui: &mut Ui, name: &str, value: &str, widest: &str, about: &str) {
    let font = FontId::proportional(TEXT);
    let palette = theme::palette(ui);
    let layout = |text: &str, color| ui.painter().layout_no_wrap(text.to_owned(), font.clone(), color);
    let room = layout(widest, palette.text).size().x;
    let name_galley = layout(name, palette.weak);
    let value_galley = layout(value, palette.text);
    let (rect, response) = ui.allocate_exact_size(vec2(width(ui, name, widest), 20.0), Sense::hover());
    // A clip of its own would be a drawing command of its own, and the room is that of the widest text.
    let painter = ui.painter();
    let top = |galley: &egui::Galley| rect.center().y - galley.size().y / 2.0;
    let at = egui::pos2(rect.left(), top(&name_galley));
    painter.galley(at, name_galley, palette.weak);
    let at = egui::pos2(rect.right() - room, top(&value_galley));
    painter.galley(at, value_galley, palette.text);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {value}")));
    response.on_hover_text(about);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::Observables;
    use std::sync::Arc;

    fn told(edges: &str, more: &str, drift: f64, energy: f64) -> String {
        let text =
            format!("format = 1\n[grid]\nsize = [64]\nspacing = 1.0\nedges = \"{edges}\"\nabsorb_width = 8\n{more}");
        let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
        let frame = Frame {
            scenario: Some(Arc::new(scenario)),
            drift,
            observables: Some((
                1,
                Observables {
                    energy,
                    ..Observables::default()
                },
            )),
            ..Frame::default()
        };
        let (name, value, _) = change(&frame);
        format!("{name} {}", value.trim())
    }

    #[test]
    fn one_frame_is_no_frames() {
        assert_eq!([0.4, 1.2, 1.6].map(pace), ["0 frames/s", "1 frame/s", "2 frames/s"]);
    }

    #[test]
    fn what_is_absorbed_or_injected_is_no_drift() {
        let packet = "[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0]\nwidth = [4.0]\n";
        assert_eq!(told("absorb", packet, -0.1234, 0.0), "absorbed 12.3 %");
        assert_eq!(told("absorb", packet, 1e-8, 0.0), "absorbed 0 %");
        assert_eq!(told("absorb", packet, 6.81e-6, 0.0), "absorbed 0 %");
        assert_eq!(told("absorb", packet, 0.5, 0.0), "injected 50 %");
        assert_eq!(told("wall", packet, -1e-3, 0.0), "drift −1.0×10⁻³");
        let pulse = "[acoustic]\n[[pulse]]\ncenter = [30.0]\nwidth = 4.0\n";
        assert_eq!(told("absorb", pulse, -0.999, 0.0), "absorbed 99.9 %");
        assert_eq!(told("absorb", pulse, 6.81e-6, 0.0), "absorbed 0 %");
        let source = "[[source]]\nat = [30.0]\nsignal = \"sine\"\nfrequency = 20.0\n";
        assert_eq!(told("absorb", &format!("{pulse}{source}"), 0.25, 0.0), "injected 25 %");
        assert_eq!(told("absorb", &format!("{pulse}{source}"), -0.2, 0.0), "absorbed 20 %");
        // What has left before a mirror plays was not injected.
        let mirror = "[mirror]\nmethod = \"reversal\"\nat = 0.1\ntransducers = { shape = \"edges\" }\n";
        assert_eq!(told("absorb", &format!("{pulse}{mirror}"), -1.0, 0.0), "absorbed 100 %");
        assert_eq!(told("absorb", &format!("{pulse}{mirror}"), 0.5, 0.0), "injected 50 %");
        // From silence there is no share of anything.
        assert!(told("absorb", &format!("[acoustic]\n{source}"), 0.0, 0.0125).starts_with("energy 0.0125 J"));
        assert_eq!(
            told("absorb", &format!("[acoustic]\n{source}"), 0.0, f64::NAN),
            "energy not summed"
        );
        // Where a pulse was there, and nothing sums.
        assert_eq!(
            told("absorb", &format!("{pulse}{source}"), f64::NAN, 0.0),
            "injected not summed"
        );
    }
}
