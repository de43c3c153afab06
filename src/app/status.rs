//! The status line: where the run stands, how fast it is, what it costs. Every cell keeps its place.

use super::meter::Meter;
use super::theme;
use super::widgets::{signed, steady};
use crate::engine::{Frame, Status};
use crate::units;
use egui::{Align, FontId, Layout, Sense, Ui, vec2};

/// Shows the line.
pub fn show(ui: &mut Ui, frame: &Frame, meter: &Meter) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 16.0;
        let (word, about) = match &frame.status {
            Status::Starting => ("starting", "The solver is being built."),
            Status::Running if frame.clock.time_step < 0.0 => ("backwards", "Time runs backwards."),
            Status::Running => ("running", "The solver is stepping."),
            Status::Paused => ("paused", "Space lets it run."),
            Status::Failed(_) => (
                "stopped",
                "The run cannot go on; the picture shows its last good state.",
            ),
        };
        cell(ui, 9, word, about);
        cell(ui, 14, &format!("t {:>12}", steady(frame.clock.time, 3)), "Time.");
        cell(
            ui,
            15,
            &format!("step {:>10}", frame.clock.steps),
            "Steps taken since t = 0.",
        );
        let wide = ui.available_width();
        let rate = if frame.rate > 0.0 {
            units::si(frame.rate)
        } else {
            "–  ".to_owned()
        };
        cell(
            ui,
            21,
            &format!("{rate:>8}site-steps/s"),
            "Sites times steps per second of stepping.",
        );
        if wide > 480.0 {
            let fps = format!("{:>4.0} frames/s", frame.frames_per_second);
            cell(ui, 13, &fps, "Pictures per second that the solver delivers.");
        }
        let tip = meter.about();
        cell(ui, 11, &format!("UI {:>5.1} ms", meter.frame_ms()), &tip);
        if wide > 600.0 {
            let tip = "Norm over its value at t = 0, minus 1 (sound: energy). Absorbing edges make it fall.";
            cell(ui, 14, &format!("drift {}", signed(frame.drift)), tip);
        }
        if let Some(report) = &frame.report {
            if wide > 720.0 {
                cell(
                    ui,
                    10,
                    &format!("{:>10}", units::bytes(report.memory)),
                    "Memory that the solver holds.",
                );
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let text = format!(
                    "{} · {} · {} · {}",
                    report.method,
                    report.variant,
                    report.precision.word(),
                    report.backend.word()
                );
                let tip = super::method_panel::running(report);
                let color = theme::palette(ui).weak;
                ui.add(egui::Label::new(egui::RichText::new(text).monospace().color(color)).truncate())
                    .on_hover_text(tip);
            });
        }
    });
}

/// Text of a fixed width in characters.
fn cell(ui: &mut Ui, characters: usize, text: &str, about: &str) {
    let font = FontId::monospace(11.5);
    let advance = ui.fonts_mut(|fonts| fonts.glyph_width(&font, '0'));
    let (rect, response) = ui.allocate_exact_size(vec2(advance * characters as f32, 20.0), Sense::hover());
    let palette = theme::palette(ui);
    ui.painter_at(rect.expand(2.0))
        .text(rect.left_center(), egui::Align2::LEFT_CENTER, text, font, palette.text);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    response.on_hover_text(about);
}
