//! The command palette: every action and every preset by a few letters of its name.

use super::command::{ACTIONS, Action};
use super::theme;
use egui::{Align2, Key, Modifiers, vec2};
use lucide_icons::Icon;

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// An action.
    Do(Action),
    /// A preset, by its name.
    Preset(String),
}

/// The palette's state.
#[derive(Debug, Default)]
pub struct CommandPalette {
    open: bool,
    query: String,
    selected: usize,
}

struct Hit {
    choice: Choice,
    title: String,
    keys: String,
    icon: Icon,
}

impl CommandPalette {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        self.open = !self.open;
        self.query.clear();
        self.selected = 0;
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Shows it; `presets` are names with titles.
    pub fn show(&mut self, ctx: &egui::Context, presets: &[(String, String)]) -> Option<Choice> {
        if !self.open {
            return None;
        }
        let hits = self.hits(ctx, presets);
        self.selected = self.selected.min(hits.len().saturating_sub(1));
        let (up, down, enter, escape) = ctx.input_mut(|input| {
            (
                input.consume_key(Modifiers::NONE, Key::ArrowUp),
                input.consume_key(Modifiers::NONE, Key::ArrowDown),
                input.consume_key(Modifiers::NONE, Key::Enter),
                input.consume_key(Modifiers::NONE, Key::Escape),
            )
        });
        if down {
            self.selected = (self.selected + 1).min(hits.len().saturating_sub(1));
        }
        if up {
            self.selected = self.selected.saturating_sub(1);
        }
        let mut chosen = enter
            .then(|| hits.get(self.selected))
            .flatten()
            .map(|hit| hit.choice.clone());
        let moved = up || down;
        let modal = egui::Modal::new(egui::Id::unique("command palette"))
            .area(
                egui::Modal::default_area(egui::Id::unique("command palette"))
                    .anchor(Align2::CENTER_TOP, vec2(0.0, 96.0)),
            )
            .show(ctx, |ui| {
                ui.set_width(440.0_f32.min(ui.ctx().content_rect().width() - 64.0));
                let before = self.query.clone();
                let field = ui
                    .add(
                        egui::TextEdit::singleline(&mut self.query)
                            .desired_width(f32::INFINITY)
                            .margin(egui::Margin::same(8))
                            .hint_text("Type the name of a command or preset"),
                    )
                    .accessible_name("Command");
                field.request_focus();
                if self.query != before {
                    self.selected = 0;
                }
                list(ui, &hits, self.selected, moved)
            });
        let closes = modal.should_close();
        chosen = modal.inner.or(chosen);
        if chosen.is_some() || escape || closes {
            self.open = false;
        }
        chosen
    }

    fn hits(&self, ctx: &egui::Context, presets: &[(String, String)]) -> Vec<Hit> {
        let actions = ACTIONS
            .iter()
            .filter(|entry| entry.action != Action::Palette)
            .map(|entry| Hit {
                choice: Choice::Do(entry.action),
                title: entry.title.to_owned(),
                keys: entry
                    .keys
                    .first()
                    .map_or(String::new(), |key| super::command::shown(ctx, key)),
                icon: entry.icon,
            });
        let presets = presets.iter().map(|(name, title)| Hit {
            choice: Choice::Preset(name.clone()),
            title: format!("Preset: {title}"),
            keys: String::new(),
            icon: Icon::Waves,
        });
        let mut hits: Vec<(u32, Hit)> = actions
            .chain(presets)
            .filter_map(|hit| score(&self.query, &hit.title).map(|score| (score, hit)))
            .collect();
        hits.sort_by_key(|(score, _)| *score);
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}

fn list(ui: &mut egui::Ui, hits: &[Hit], selected: usize, moved: bool) -> Option<Choice> {
    let mut chosen = None;
    let palette = theme::palette(ui);
    egui::ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (n, hit) in hits.iter().enumerate() {
            let button = egui::Button::selectable(n == selected, (theme::icon(hit.icon, 15.0), hit.title.clone()))
                .right_text(egui::RichText::new(&hit.keys).monospace().color(palette.weak))
                .min_size(vec2(ui.available_width(), 28.0));
            let response = ui.add(button).accessible_name(&hit.title);
            if n == selected && moved {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                chosen = Some(hit.choice.clone());
            }
        }
        if hits.is_empty() {
            ui.label(egui::RichText::new("Nothing has such a name.").color(palette.weak));
        }
    });
    chosen
}

/// How well a query fits a title; less is better, `None` not at all. Its letters must stand in the title in order; gaps and
/// starts inside words cost.
fn score(query: &str, title: &str) -> Option<u32> {
    let title: Vec<char> = title.to_lowercase().chars().collect();
    let mut cost = 0;
    let mut at = 0;
    for letter in query.to_lowercase().chars().filter(|c| !c.is_whitespace()) {
        let found = (at..title.len()).find(|&n| title[n] == letter)?;
        let starts_word = found == 0 || !title[found - 1].is_alphanumeric();
        cost += match (found - at, starts_word) {
            (0, _) => 0,
            (_, true) => 1,
            (gap, false) => 3 + u32::try_from(gap).unwrap_or(u32::MAX / 2),
        };
        at = found + 1;
    }
    Some(cost)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn better_fits_come_first() {
        assert_eq!(score("", "Anything"), Some(0));
        assert_eq!(score("xyz", "Reset"), None);
        assert!(score("sn", "Snapshot") < score("sn", "One step now"));
        assert!(score("full", "Full screen") < score("full", "Fit to the whole window, fully and at last"));
        assert!(score("cp", "Command palette") < score("cp", "Back to snapshot: copy"));
    }
}
