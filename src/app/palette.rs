//! The command palette: every action and every preset by a few letters of its name.

use super::command::{Action, actions};
use super::gallery::{Gallery, Known};
use super::theme;
use crate::app::icon::Icon;
use egui::{Align2, Event, Key, Modifiers, vec2};

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
    /// Opens or closes it. What was typed in the frame of its key belongs to its field: where a frame takes long, that is the beginning of a word.
    pub fn toggle(&mut self, ctx: &egui::Context) {
        self.open = !self.open;
        self.selected = 0;
        self.query = typed(ctx);
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Shows it, with the scenes of the gallery.
    pub fn show(&mut self, ctx: &egui::Context, gallery: &Gallery) -> Option<Choice> {
        if !self.open {
            return None;
        }
        // Before the field takes them.
        let (up, down, enter, escape) = ctx.input_mut(|input| {
            (
                input.consume_key(Modifiers::NONE, Key::ArrowUp),
                input.consume_key(Modifiers::NONE, Key::ArrowDown),
                input.consume_key(Modifiers::NONE, Key::Enter),
                input.consume_key(Modifiers::NONE, Key::Escape),
            )
        });
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
                if !field.has_focus() {
                    // So does what is typed before the field takes it.
                    self.query.push_str(&typed(ctx));
                }
                field.request_focus();
                if self.query != before {
                    self.selected = 0;
                }
                // Of what stands in the field now: letters and Enter may come in one frame.
                let hits = self.hits(ctx, gallery);
                let last = hits.len().saturating_sub(1);
                self.selected = self.selected.min(last);
                if down {
                    self.selected = (self.selected + 1).min(last);
                }
                if up {
                    self.selected = self.selected.saturating_sub(1);
                }
                let clicked = list(ui, &hits, self.selected, up || down);
                let entered = hits.get(self.selected).filter(|_| enter);
                clicked.or_else(|| entered.map(|hit| hit.choice.clone()))
            });
        let closes = modal.should_close();
        let chosen = modal.inner;
        if chosen.is_some() || escape || closes {
            self.open = false;
        }
        chosen
    }

    fn hits(&self, ctx: &egui::Context, gallery: &Gallery) -> Vec<Hit> {
        let actions = actions()
            .filter(|entry| entry.action != Action::Palette)
            .filter_map(|entry| {
                let hit = Hit {
                    choice: Choice::Do(entry.action),
                    title: entry.title.to_owned(),
                    keys: entry
                        .keys
                        .first()
                        .map_or(String::new(), |key| super::command::shown(ctx, key)),
                    icon: entry.icon,
                };
                Some((score(&self.query, entry.title)?, hit))
            });
        let scenes = gallery.scenes().filter_map(|scene| {
            let kind = if scene.own { "Scene" } else { "Preset" };
            let title = format!("{kind}: {}", scene.title);
            let hit = Hit {
                choice: Choice::Preset(scene.name.to_owned()),
                keys: String::new(),
                icon: Icon::Waves,
                title,
            };
            Some((scene_score(&self.query, &scene)?, hit))
        });
        let mut hits: Vec<(u32, Hit)> = actions.chain(scenes).collect();
        hits.sort_by_key(|(score, _)| *score);
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// The letters of this frame.
fn typed(ctx: &egui::Context) -> String {
    let letters = |event: &Event| match event {
        Event::Text(text) => Some(text.clone()),
        _ => None,
    };
    ctx.input(|input| input.events.iter().filter_map(letters).collect())
}

/// How well a query fits a scene: by its title, its name, a tag or a word of its text, in this order.
fn scene_score(query: &str, scene: &Known<'_>) -> Option<u32> {
    let query = query.trim().to_lowercase();
    let kind = if scene.own { "scene" } else { "preset" };
    let of_kind = query.strip_prefix(kind).map_or(query.as_str(), str::trim_start);
    let named = [scene.title, scene.name]
        .into_iter()
        .filter_map(|text| score(of_kind, text));
    let tagged = scene
        .tags
        .iter()
        .any(|tag| tag.to_lowercase().contains(of_kind))
        .then_some(TAGGED);
    let told = (of_kind.chars().count() > 2 && scene.about.contains(of_kind)).then_some(TAGGED + 1);
    named.chain(tagged).chain(told).min()
}

/// What a query costs that only a tag has: more than a name that begins with it, less than letters here and there.
const TAGGED: u32 = 3;

fn list(ui: &mut egui::Ui, hits: &[Hit], selected: usize, moved: bool) -> Option<Choice> {
    let mut chosen = None;
    let palette = theme::palette(ui);
    let room = (ui.ctx().content_rect().height() - 160.0).clamp(120.0, 360.0);
    // Whatever fits is shown: an area alone would be lower.
    let list = egui::ScrollArea::vertical().max_height(room).min_scrolled_height(room);
    list.show(ui, |ui| {
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

/// How well a query fits a title; less is better, `None` not at all. The title itself costs nothing, one that begins with the query 1, a word
/// that does 2. Otherwise its letters must stand in the title in order; gaps and starts inside words cost.
fn score(query: &str, title: &str) -> Option<u32> {
    let (query, title) = (query.trim().to_lowercase(), title.to_lowercase());
    if query.is_empty() || query == title.trim_end_matches('…') {
        return Some(0);
    }
    if let Some(place) = title.find(&query) {
        let starts_word = !title[..place].ends_with(char::is_alphanumeric);
        return Some(match (place, starts_word) {
            (0, _) => 1,
            (_, true) => 2,
            (_, false) => 4,
        });
    }
    let title: Vec<char> = title.chars().collect();
    let mut cost = 5;
    let mut at = 0;
    for letter in query.chars().filter(|c| !c.is_whitespace()) {
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
    use super::{CommandPalette, score};
    use crate::app::gallery::Gallery;
    use crate::app::scene_library::OwnScene;

    #[test]
    fn better_fits_come_first() {
        assert_eq!(score("", "Anything"), Some(0));
        assert_eq!(score("xyz", "Reset"), None);
        assert!(score("sn", "Snapshot") < score("sn", "One step now"));
        assert!(score("full", "Full screen") < score("full", "Fit to the whole window, fully and at last"));
        assert!(score("cp", "Command palette") < score("cp", "Back to snapshot: copy"));
        assert!(score("echo", "Echo") < score("echo", "Save checkpoint…"));
    }

    fn show(
        palette: &mut CommandPalette,
        (ctx, gallery): (&egui::Context, &Gallery),
        events: Vec<egui::Event>,
    ) -> Option<super::Choice> {
        let input = egui::RawInput {
            events,
            ..egui::RawInput::default()
        };
        let mut chosen = None;
        let mut output = ctx.run_ui(input, |ui| chosen = palette.show(ui.ctx(), gallery));
        output.textures_delta.clear();
        chosen
    }

    fn enter() -> egui::Event {
        egui::Event::Key {
            key: egui::Key::Enter,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: egui::Modifiers::NONE,
        }
    }

    fn letters(text: &str) -> egui::Event {
        egui::Event::Text(text.to_owned())
    }

    #[test]
    fn enter_takes_what_was_typed_in_the_same_frame() {
        let (gallery, ctx) = (Gallery::default(), egui::Context::default());
        let mut palette = CommandPalette::default();
        palette.toggle(&ctx);
        let mut frame = |events| show(&mut palette, (&ctx, &gallery), events);
        // The field takes letters once it has the focus.
        assert_eq!(frame(Vec::new()), None);
        assert_eq!(frame(Vec::new()), None);
        let chosen = frame(vec![letters("preset snell"), enter()]);
        assert_eq!(chosen, Some(super::Choice::Preset("snell".to_owned())));
    }

    /// Where frames take long, a word is typed before the field has the focus, and in several of them.
    #[test]
    fn letters_are_not_lost_before_the_field_takes_them() {
        let (gallery, ctx) = (Gallery::default(), egui::Context::default());
        let mut palette = CommandPalette::default();
        palette.toggle(&ctx);
        for part in ["pre", "set ", "sn", "ell"] {
            assert_eq!(show(&mut palette, (&ctx, &gallery), vec![letters(part)]), None);
        }
        assert_eq!(palette.query, "preset snell");
        let chosen = show(&mut palette, (&ctx, &gallery), vec![enter()]);
        assert_eq!(chosen, Some(super::Choice::Preset("snell".to_owned())));
    }

    #[test]
    fn own_scenes_are_no_presets_and_are_found_by_their_text() {
        let (mut gallery, ctx) = (Gallery::default(), egui::Context::default());
        gallery.set_own(vec![OwnScene {
            path: "/own/mine.toml".into(),
            title: "Mine".to_owned(),
            tags: Vec::new(),
            about: "how a kettle sings".to_owned(),
            stamp: None,
        }]);
        for query in ["kettle", "scene mine"] {
            let palette = CommandPalette {
                query: query.to_owned(),
                ..CommandPalette::default()
            };
            let hits = palette.hits(&ctx, &gallery);
            assert_eq!(hits[0].title, "Scene: Mine", "{query}");
        }
    }

    #[test]
    fn scenes_are_found_by_the_words_that_people_look_for() {
        let (gallery, ctx) = (Gallery::default(), egui::Context::default());
        for (query, wanted) in [
            ("doppler", "doppler"),
            ("snell", "snell"),
            ("refraction", "snell"),
            ("echo", "echo"),
            ("tunnel", "tunnelling"),
            ("preset pond", "pond"),
        ] {
            let palette = CommandPalette {
                query: query.to_owned(),
                ..CommandPalette::default()
            };
            let hits = palette.hits(&ctx, &gallery);
            let names: Vec<&str> = hits
                .iter()
                .take(4)
                .filter_map(|hit| match &hit.choice {
                    super::Choice::Preset(name) => Some(name.as_str()),
                    super::Choice::Do(_) => None,
                })
                .collect();
            assert!(names.contains(&wanted), "{query}: {names:?}");
        }
    }
}
