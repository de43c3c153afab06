//! The overlay that lists keys and gestures.

use super::command::{Menu, actions};
use super::theme;
use egui::vec2;

/// What keys do in a control that has the focus.
const SLIDERS: [(&str, &str); 3] = [
    ("Tab", "to the next control"),
    ("Left, Right", "a slider a little on"),
    ("Home, End", "a slider to its ends"),
];

/// Gestures of the mouse, and of fingers.
const GESTURES: [(&str, &str); 10] = [
    ("Wheel", "zoom at the pointer"),
    ("Drag", "move the picture (any button)"),
    ("Drag in space", "turn (left), move (right)"),
    ("Drag a knob", "move a slice; arrow keys turn"),
    ("Double click", "the whole grid in view"),
    ("Drag the dashed line", "move the line cut"),
    ("Drag a number", "change it; a double click types it"),
    ("Drop a file", "open a scene"),
    ("One finger, pen", "as the left button"),
    ("Two fingers", "move and zoom the picture"),
];

/// The overlay, while it is shown.
#[derive(Debug, Default)]
pub struct Help {
    open: bool,
    /// What the lines are searched for.
    search: String,
}

/// A part of the list: its heading, and what keys or gestures do.
type Part = (&'static str, Vec<(&'static str, String)>);

impl Help {
    /// Shows it, or not.
    pub fn toggle(&mut self) {
        self.open = !self.open;
        self.search.clear();
    }

    /// Whether it is shown.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Shows it, where it is open.
    pub fn show(&mut self, ctx: &egui::Context) {
        if !self.open {
            return;
        }
        let modal = egui::Modal::new(egui::Id::unique("help"))
            .frame(theme::modal(ctx))
            .show(ctx, |ui| self.contents(ui));
        if modal.inner || modal.should_close() {
            self.open = false;
        }
    }

    /// What is searched for and found, in as many columns as fit; whether it is to be closed.
    fn contents(&mut self, ui: &mut egui::Ui) -> bool {
        let window = ui.ctx().content_rect();
        let width = 1000.0_f32.min(window.width() - 64.0);
        let count = if width >= 880.0 {
            3
        } else if width >= 520.0 {
            2
        } else {
            1
        };
        ui.set_width(width);
        let palette = theme::palette(ui);
        ui.horizontal(|ui| {
            ui.heading(egui::RichText::new("Keys and mouse").color(palette.strong));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let field = egui::TextEdit::singleline(&mut self.search).desired_width(220.0);
                let field = ui.add(field.hint_text("Search")).accessible_name("Search keys");
                // Nothing else takes text here.
                if !field.has_focus() {
                    field.request_focus();
                }
            });
        });
        ui.add_space(8.0);
        let found = self.found(ui.ctx());
        if found.is_empty() {
            super::widgets::hint(ui, "No key or gesture is called so.");
        }
        let room = (window.height() - 168.0).max(120.0);
        egui::ScrollArea::vertical()
            .auto_shrink([false, true])
            .max_height(room)
            .min_scrolled_height(room)
            .show(ui, |ui| {
                // Room for the scroll bar, so that it covers nothing.
                ui.set_max_width(ui.available_width() - 12.0);
                ui.spacing_mut().item_spacing = vec2(32.0, 0.0);
                let parts = columns(&found, count);
                ui.columns(count, |columns| {
                    for (ui, parts) in columns.iter_mut().zip(parts) {
                        for (title, lines) in parts {
                            ui.label(egui::RichText::new(*title).color(palette.accent));
                            for (what, keys) in lines {
                                line(ui, what, keys);
                            }
                            ui.add_space(8.0);
                        }
                    }
                });
            });
        ui.add_space(8.0);
        ui.vertical_centered(|ui| ui.button("Close").clicked()).inner
    }

    /// The parts whose lines hold every word that is searched for, in what they do, their keys or their heading.
    fn found(&self, ctx: &egui::Context) -> Vec<Part> {
        let wanted = self.search.to_lowercase();
        let matches = |title: &str, what: &str, keys: &str| {
            let line = format!("{title} {what} {keys}").to_lowercase();
            wanted.split_whitespace().all(|word| line.contains(word))
        };
        let menus = Menu::ALL.into_iter().map(|(title, menu)| {
            let entries = actions().filter(|entry| entry.menu == menu && !entry.keys.is_empty());
            let lines = entries.map(|entry| {
                let keys: Vec<String> = entry.keys.iter().map(|key| super::command::shown(ctx, key)).collect();
                (entry.title, keys.join(", "))
            });
            (title, lines.collect::<Vec<_>>())
        });
        let listed = |title, lines: &[(&'static str, &'static str)]| {
            let lines = lines.iter().map(|(gesture, effect)| (*effect, (*gesture).to_owned()));
            (title, lines.collect::<Vec<_>>())
        };
        let others = [listed("Sliders and numbers", &SLIDERS), listed("Mouse", &GESTURES)];
        menus
            .chain(others)
            .map(|(title, mut lines)| {
                lines.retain(|(what, keys)| matches(title, what, keys));
                (title, lines)
            })
            .filter(|(_, lines)| !lines.is_empty())
            .collect()
    }
}

/// The parts in columns: each stands in the one that is the shortest so far.
fn columns(parts: &[Part], count: usize) -> Vec<Vec<&Part>> {
    let mut columns = vec![Vec::new(); count];
    let mut heights = vec![0; count];
    for part in parts {
        let shortest = (0..count).min_by_key(|n| heights[*n]).unwrap_or(0);
        // A heading and the gap below a part take the room of two lines.
        heights[shortest] += part.1.len() + 2;
        columns[shortest].push(part);
    }
    columns
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keep_the_order_and_share_the_height() {
        let part = |title, lines| (title, vec![("what", String::new()); lines]);
        let parts = [part("a", 6), part("b", 3), part("c", 9), part("d", 5), part("e", 2)];
        let columns = columns(&parts, 3);
        let titles: Vec<Vec<&str>> = columns
            .iter()
            .map(|column| column.iter().map(|(title, _)| *title).collect())
            .collect();
        assert_eq!(titles, [vec!["a", "e"], vec!["b", "d"], vec!["c"]]);
    }

    #[test]
    fn every_word_must_be_found() {
        let ctx = egui::Context::default();
        let found = |search: &str| {
            let help = Help {
                open: true,
                search: search.to_owned(),
            };
            let parts = help.found(&ctx);
            parts
                .into_iter()
                .flat_map(|(_, lines)| lines)
                .map(|(what, _)| what)
                .collect::<Vec<_>>()
        };
        assert_eq!(found("reverse time"), ["Reverse time"]);
        assert_eq!(found("slider home"), ["a slider to its ends"]);
        assert!(found("F5").contains(&"Demo"));
        assert!(found("no such thing").is_empty());
        assert!(found("").len() > 40);
    }
}
