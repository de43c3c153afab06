//! Why a run stopped, or why an edit is not applied.

use crate::app::document::Document;
use crate::app::icon::Icon;
use crate::app::theme;
use crate::engine::{Frame, Status};
use crate::scene::Fault;
use egui::{Align2, Rect, Ui, vec2};

/// Faults of an edit that are shown over the picture.
const MOST_FAULTS: usize = 3;

/// Why a run stopped, or why an edit is not applied: over the picture, which stays.
pub(super) fn banners(ui: &mut Ui, area: Rect, frame: &Frame, document: &Document) {
    let (icon, title, text) = if let Status::Failed(reason) = &frame.status {
        (Icon::CircleX, "The run has stopped", reason.to_string())
    } else if let Some(faults) = &document.faults {
        let mut lines: Vec<String> = faults.list.iter().take(MOST_FAULTS).map(Fault::in_words).collect();
        if faults.list.len() > MOST_FAULTS {
            lines.push(format!("… and {} more", faults.list.len() - MOST_FAULTS));
        }
        (Icon::TriangleAlert, "This edit is not applied", lines.join("\n"))
    } else {
        return;
    };
    let width = (area.width() - 64.0).clamp(160.0, 560.0);
    egui::Area::new(egui::Id::unique("banner"))
        // Below windows: the field that is at fault may stand in one.
        .order(egui::Order::Background)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(area.center_top() + vec2(0.0, 64.0))
        .show(ui.ctx(), |ui| {
            let palette = theme::palette(ui);
            egui::Frame::popup(ui.style())
                .stroke(egui::Stroke::new(1.0, palette.wrong))
                .inner_margin(12)
                .show(ui, |ui| {
                    ui.set_width(width);
                    ui.horizontal(|ui| {
                        ui.label(theme::icon(icon, 16.0).color(palette.wrong));
                        ui.label(egui::RichText::new(title).color(palette.strong));
                    });
                    ui.add(egui::Label::new(text).wrap().selectable(true));
                });
        });
}
