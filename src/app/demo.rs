//! The mode for lecture halls: the picture alone on the whole screen, large type, from scene to scene by a clicker's keys: all presets, or those of a lecture.

use super::theme;
use crate::scene::lecture::{Lecture, Stop};
use egui::{FontId, Key, Modifiers};

/// How much larger everything is.
const ZOOM: f32 = 1.5;

/// Height of a screen on which it is that, points; on higher ones everything grows with the height, so that letters have the same share of it.
const HEIGHT: f32 = 1080.0;

/// What a clicker or a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next scene.
    Next,
    /// The one before.
    Previous,
    /// Back to the window as it was.
    End,
}

/// The mode under way.
#[derive(Debug)]
pub struct Demo {
    /// The scenes.
    lecture: Lecture,
    /// The one that is shown.
    place: usize,
    /// Since when, in seconds of the window's clock.
    since: Option<f64>,
    /// How the window was before.
    pub before: Before,
    /// How many times as high as [`HEIGHT`] the screen is, at least 1.
    tall: f32,
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
    /// Begins with a scene of a lecture, or with the first one where another scene is open; on a screen of this height, points, if that is known.
    #[must_use]
    pub fn begin(lecture: Lecture, scene: Option<&str>, before: Before, height: Option<f32>) -> Self {
        let place = scene.and_then(|name| lecture.stops.iter().position(|stop| stop.scene == name));
        Self {
            lecture,
            place: place.unwrap_or(0),
            since: None,
            before,
            tall: height.map_or(1.0, |height| (height / HEIGHT).clamp(1.0, 4.0)),
        }
    }

    /// The size of everything.
    #[must_use]
    pub fn zoom(&self) -> f32 {
        self.before.zoom * ZOOM * self.tall
    }

    /// The scene to be shown.
    #[must_use]
    pub fn stop(&self) -> &Stop {
        &self.lecture.stops[self.place]
    }

    /// Goes on or back; from the last to the first.
    pub fn turn(&mut self, turn: Turn) {
        let count = self.lecture.stops.len();
        self.since = None;
        self.place = match turn {
            Turn::Next => (self.place + 1) % count,
            Turn::Previous => (self.place + count - 1) % count,
            Turn::End => self.place,
        };
    }

    /// Follows the clock; whether the next scene is to come by itself. The last one stays.
    pub fn follow(&mut self, ctx: &egui::Context) -> bool {
        let now = ctx.input(|input| input.time);
        let since = *self.since.get_or_insert(now);
        let Some(minutes) = self.stop().minutes else {
            return false;
        };
        // The clock in the caption shows seconds.
        ctx.request_repaint_after_secs((1.0 - (now - since).fract()) as f32);
        self.stop().goes_on && now - since >= 60.0 * minutes && self.place + 1 < self.lecture.stops.len()
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

    /// Title, note, clock and place below the picture; `title` is that of the scene.
    pub fn caption(&self, ui: &mut egui::Ui, title: &str) {
        let stop = self.stop();
        let palette = theme::of(ui.visuals().dark_mode);
        let title = if stop.title.is_empty() { title } else { &stop.title };
        let frame = egui::Frame::new()
            .fill(palette.panel)
            .inner_margin(egui::Margin::symmetric(16, 6));
        egui::Panel::bottom("demo caption")
            .frame(frame)
            .resizable(false)
            .show(ui, |ui| {
                let text = |text: String, size: f32| {
                    egui::RichText::new(text)
                        .font(FontId::new(size, theme::strong_family()))
                        .color(palette.strong)
                };
                let mut on_one_line = None;
                ui.horizontal(|ui| {
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        ui.label(text(format!("{} / {}", self.place + 1, self.lecture.stops.len()), 14.0));
                        if let Some((words, late)) = self.time_left(ui.ctx()) {
                            ui.add_space(12.0);
                            let color = if late { palette.warning } else { palette.weak };
                            ui.label(text(words, 14.0).color(color));
                        }
                        on_one_line = one_line(ui, title);
                        if let Some(size) = on_one_line {
                            ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                                ui.label(text(title.to_owned(), size));
                            });
                        }
                    });
                });
                if on_one_line.is_none() {
                    ui.add(egui::Label::new(text(title.to_owned(), LEAST)).wrap());
                }
                if !stop.note.is_empty() {
                    let note = egui::RichText::new(&stop.note).size(15.0).color(palette.text);
                    ui.add(egui::Label::new(note).wrap());
                }
            });
    }

    /// How long the scene stands, of how long it is planned to; whether that is over.
    fn time_left(&self, ctx: &egui::Context) -> Option<(String, bool)> {
        let minutes = self.stop().minutes?;
        let elapsed = ctx.input(|input| input.time) - self.since?;
        let clock = |seconds: f64| format!("{:.0}:{:02.0}", (seconds / 60.0).floor(), (seconds % 60.0).floor());
        let words = format!("{} of {}", clock(elapsed), clock(60.0 * minutes));
        Some((words, elapsed > 60.0 * minutes))
    }
}

/// The size of a title's letters, and the least.
const TITLE: f32 = 20.0;
const LEAST: f32 = 15.0;

/// The size at which a title has room on the line that is left; `None` where it has to be wrapped.
fn one_line(ui: &egui::Ui, title: &str) -> Option<f32> {
    let font = FontId::new(TITLE, theme::strong_family());
    let galley = ui
        .painter()
        .layout_no_wrap(title.to_owned(), font, egui::Color32::WHITE);
    // A little less: letters grow in steps of a pixel.
    let size = TITLE * (0.98 * ui.available_width() / galley.size().x.max(1.0)).min(1.0);
    (size >= LEAST).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;

    const BEFORE: Before = Before {
        bare: false,
        full_screen: false,
        zoom: 1.0,
    };

    #[test]
    fn presets_go_round() {
        let mut demo = Demo::begin(Lecture::of_presets(), Some("tunnelling"), BEFORE, None);
        assert_eq!(demo.stop().scene, "tunnelling");
        let mut seen = vec![demo.stop().scene.clone()];
        for _ in 1..presets::all().len() {
            demo.turn(Turn::Next);
            assert!(!seen.contains(&demo.stop().scene), "{}", demo.stop().scene);
            seen.push(demo.stop().scene.clone());
        }
        demo.turn(Turn::Next);
        assert_eq!(demo.stop().scene, "tunnelling");
        demo.turn(Turn::Previous);
        assert_eq!(demo.stop().scene, *seen.last().unwrap());
        let first = Demo::begin(Lecture::of_presets(), None, BEFORE, Some(2160.0));
        assert_eq!(first.stop().scene, presets::all()[0].name);
        assert_eq!(
            [demo.zoom(), first.zoom()],
            [1.0, 2.0].map(|tall| BEFORE.zoom * ZOOM * tall)
        );
    }

    #[test]
    fn a_scene_with_a_time_gives_way_to_the_next_once_it_is_over() {
        let stop = |scene: &str, minutes, goes_on| Stop {
            scene: scene.to_owned(),
            minutes,
            goes_on,
            ..Stop::default()
        };
        let lecture = Lecture {
            stops: vec![stop("pond", Some(0.5), true), stop("mach", Some(0.5), true)],
            ..Lecture::default()
        };
        let mut demo = Demo::begin(lecture, None, BEFORE, Some(700.0));
        let ctx = egui::Context::default();
        let at = |demo: &mut Demo, time: f64| {
            let input = egui::RawInput {
                time: Some(time),
                ..egui::RawInput::default()
            };
            let mut goes_on = false;
            let mut output = ctx.run_ui(input, |ui| goes_on = demo.follow(ui.ctx()));
            output.textures_delta.clear();
            goes_on
        };
        assert!(!at(&mut demo, 100.0));
        assert!(!at(&mut demo, 129.0));
        assert_eq!(demo.time_left(&ctx), Some(("0:29 of 0:30".to_owned(), false)));
        assert!(at(&mut demo, 130.5));
        demo.turn(Turn::Next);
        assert!(!at(&mut demo, 131.0));
        assert!(!at(&mut demo, 500.0), "the last one stays");
        assert_eq!(demo.time_left(&ctx), Some(("6:09 of 0:30".to_owned(), true)));
    }
}
