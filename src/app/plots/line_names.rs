//! The names of a plot's lines, in their colours, in one line.

use crate::export::overlay::shortened;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui};

/// Points between two names.
const GAP: f32 = 8.0;

/// The least width that a long name is cut to; what then finds no room stands in the explanation alone.
const LEAST: f32 = 40.0;

/// The widest that texts may be so that all have room together: short ones keep their width, long ones share what is left.
fn widest(widths: impl Iterator<Item = f32>, room: f32) -> f32 {
    let mut widths: Vec<f32> = widths.collect();
    widths.sort_by(f32::total_cmp);
    let mut left = room;
    for (n, width) in widths.iter().enumerate() {
        let even = left / (widths.len() - n) as f32;
        if *width > even {
            return even;
        }
        left -= width;
    }
    f32::INFINITY
}

/// Shows the names in what is left of a line, each cut where they do not all fit.
pub(super) fn show(ui: &mut Ui, names: &[(&str, Color32)], font: &FontId) {
    if names.is_empty() {
        return;
    }
    let width = |text: &str| {
        let galley = ui
            .painter()
            .layout_no_wrap(text.to_owned(), font.clone(), Color32::WHITE);
        galley.size().x
    };
    let room = ui.available_width() - GAP * (names.len() - 1) as f32;
    let limit = widest(names.iter().map(|(name, _)| width(name)), room).max(LEAST);
    let mut job = LayoutJob::default();
    for (name, color) in names {
        let gap = if job.is_empty() { 0.0 } else { GAP };
        let short = shortened(name, |text| width(text) <= limit);
        job.append(&short, gap, TextFormat::simple(font.clone(), *color));
    }
    let whole: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
    ui.add(egui::Label::new(job).truncate()).on_hover_text(whole.join("  "));
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_names_leave_room_for_short_ones() {
        let widest = |widths: &[f32], room| super::widest(widths.iter().copied(), room);
        assert!(widest(&[30.0, 50.0], 80.0).is_infinite(), "all fit");
        assert!((widest(&[300.0, 30.0, 50.0], 180.0) - 100.0).abs() < 1e-3);
        assert!((widest(&[300.0, 30.0, 200.0], 180.0) - 75.0).abs() < 1e-3);
    }
}
