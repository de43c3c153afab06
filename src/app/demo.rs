//! The mode for lecture halls: the picture alone on the whole screen, large type, from preset to preset by a clicker's keys.

use super::theme::{self, OVER_PICTURE};
use crate::scene::presets;
use egui::{FontId, Key, Modifiers};

/// How much larger everything is.
const ZOOM: f32 = 1.5;

/// What a clicker or a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next preset.
    Next,
    /// The one before.
    Previous,
    /// Back to the window as it was.
    End,
}

/// The mode under way.
#[derive(Debug)]
pub struct Demo {
    /// The preset that is shown.
    place: usize,
    /// How the window was before.
    pub before: Before,
}

/// How the window was before.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// The panels were hidden.
    pub bare: bool,
    /// The whole screen was taken.
    pub full_screen: bool,
    /// Size of everything.
    pub zoom: f32,
}

impl Demo {
    /// Begins with a preset, or with the first one where another scene is open.
    #[must_use]
    pub fn begin(preset: Option<&str>, before: Before) -> Self {
        let place = preset.and_then(|name| presets::all().iter().position(|preset| preset.name == name));
        Self {
            place: place.unwrap_or(0),
            before,
        }
    }

    /// The size of everything.
    #[must_use]
    pub fn zoom(&self) -> f32 {
        self.before.zoom * ZOOM
    }

    /// The preset to be shown.
    #[must_use]
    pub fn preset(&self) -> &'static str {
        presets::all()[self.place].name
    }

    /// Goes on or back; from the last to the first.
    pub fn turn(&mut self, turn: Turn) {
        let count = presets::all().len();
        self.place = match turn {
            Turn::Next => (self.place + 1) % count,
            Turn::Previous => (self.place + count - 1) % count,
            Turn::End => self.place,
        };
    }

    /// What the keys of this frame ask for. Clickers send Page Up and Page Down, F5 and Escape.
    #[must_use]
    pub fn pressed(ctx: &egui::Context) -> Option<Turn> {
        ctx.input_mut(|input| {
            let mut hit = |keys: &[Key]| keys.iter().any(|key| input.consume_key(Modifiers::NONE, *key));
            if hit(&[Key::PageDown, Key::ArrowRight, Key::N]) {
                Some(Turn::Next)
            } else if hit(&[Key::PageUp, Key::ArrowLeft]) {
                Some(Turn::Previous)
            } else if hit(&[Key::Escape, Key::F5]) {
                Some(Turn::End)
            } else {
                None
            }
        })
    }

    /// Title and place in a line below the picture.
    pub fn caption(&self, ui: &mut egui::Ui, title: &str) {
        let frame = egui::Frame::new()
            .fill(theme::of(true).canvas)
            .inner_margin(egui::Margin::symmetric(16, 6));
        egui::Panel::bottom("demo caption")
            .frame(frame)
            .resizable(false)
            .show(ui, |ui| {
                let text = |text: String, size: f32| {
                    egui::RichText::new(text)
                        .font(FontId::new(size, theme::strong_family()))
                        .color(OVER_PICTURE)
                };
                ui.horizontal(|ui| {
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        ui.label(text(format!("{} / {}", self.place + 1, presets::all().len()), 14.0));
                        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                            ui.add(egui::Label::new(text(title.to_owned(), 20.0)).truncate());
                        });
                    });
                });
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_go_round() {
        let before = Before {
            bare: false,
            full_screen: false,
            zoom: 1.0,
        };
        let mut demo = Demo::begin(Some("tunnelling"), before);
        assert_eq!(demo.preset(), "tunnelling");
        let mut seen = vec![demo.preset()];
        for _ in 1..presets::all().len() {
            demo.turn(Turn::Next);
            assert!(!seen.contains(&demo.preset()), "{}", demo.preset());
            seen.push(demo.preset());
        }
        demo.turn(Turn::Next);
        assert_eq!(demo.preset(), "tunnelling");
        demo.turn(Turn::Previous);
        assert_eq!(demo.preset(), *seen.last().unwrap());
        assert_eq!(Demo::begin(None, before).preset(), presets::all()[0].name);
    }
}
