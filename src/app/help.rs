//! The overlay that lists keys and gestures.

use super::command::{Menu, actions};
use super::theme;
use egui::vec2;

/// Gestures of the mouse.
const GESTURES: [(&str, &str); 8] = [
    ("Wheel", "zoom at the pointer"),
    ("Drag", "move the picture (any button)"),
    ("Drag in space", "turn (left), move (right)"),
    ("Drag a knob", "move a slice; arrow keys turn"),
    ("Double click", "the whole grid in view"),
    ("Drag the dashed line", "move the line cut"),
    ("Drag a number", "change it; a double click types it"),
    ("Drop a file", "open a scene"),
];

/// Shows the overlay; returns false once it was closed.
pub fn show(ctx: &egui::Context) -> bool {
    let modal = egui::Modal::new(egui::Id::unique("help"))
        .frame(theme::modal(ctx))
        .show(ctx, |ui| {
            let palette = theme::palette(ui);
            ui.set_width(640.0_f32.min(ui.ctx().content_rect().width() - 64.0));
            ui.heading(egui::RichText::new("Keys and mouse").color(palette.strong));
            ui.add_space(8.0);
            let most = (ui.ctx().content_rect().height() - 160.0).max(120.0);
            egui::ScrollArea::vertical()
                .auto_shrink([false, true])
                .max_height(most)
                .show(ui, |ui| {
                    // Room for the scroll bar, so that it covers nothing.
                    ui.set_max_width(ui.available_width() - 12.0);
                    ui.spacing_mut().item_spacing.x = 32.0;
                    ui.columns(2, |columns| {
                        for (n, (title, menu)) in Menu::ALL.into_iter().enumerate() {
                            let ui = &mut columns[usize::from(n >= 3)];
                            ui.label(egui::RichText::new(title).color(palette.accent));
                            for entry in actions().filter(|entry| entry.menu == menu && !entry.keys.is_empty()) {
                                let keys: Vec<String> = entry
                                    .keys
                                    .iter()
                                    .map(|key| super::command::shown(ui.ctx(), key))
                                    .collect();
                                line(ui, entry.title, &keys.join(", "));
                            }
                            ui.add_space(8.0);
                        }
                        let ui = &mut columns[1];
                        ui.label(egui::RichText::new("Mouse").color(palette.accent));
                        for (gesture, effect) in GESTURES {
                            line(ui, effect, gesture);
                        }
                    });
                });
            ui.add_space(8.0);
            ui.vertical_centered(|ui| ui.button("Close").clicked()).inner
        });
    !(modal.inner || modal.should_close())
}

fn line(ui: &mut egui::Ui, what: &str, keys: &str) {
    let palette = theme::palette(ui);
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, 20.0), egui::Sense::hover());
    let painter = ui.painter();
    painter.text(
        rect.left_center(),
        egui::Align2::LEFT_CENTER,
        what,
        egui::FontId::proportional(13.0),
        palette.text,
    );
    painter.text(
        rect.right_center(),
        egui::Align2::RIGHT_CENTER,
        keys,
        egui::FontId::monospace(11.5),
        palette.weak,
    );
}
