//! "Predict, then run": a question of the scene, asked while the run waits, and what the user predicted.

use super::theme;
use super::widgets::{card, figure};
use crate::engine::Frame;
use egui::{Align2, Key, Modifiers, vec2};

/// The questions of a scene and the answers to them.
#[derive(Debug, Default)]
pub struct Questions {
    /// The run that the answers belong to.
    run: u64,
    /// One place for each expectation.
    answers: Vec<Answer>,
    text: String,
    /// The question whose field had the focus already.
    fresh: Option<usize>,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Answer {
    #[default]
    Open,
    Skipped,
    Guess(f64),
}

impl Questions {
    /// Takes over a frame: another run asks again.
    pub fn follow(&mut self, frame: &Frame) {
        let count = frame
            .scenario
            .as_ref()
            .map_or(0, |scenario| scenario.expectations().len());
        if frame.run != self.run || self.answers.len() != count {
            *self = Self {
                run: frame.run,
                answers: vec![Answer::Open; count],
                ..Self::default()
            };
        }
    }

    /// What the user predicted for an expectation.
    #[must_use]
    pub fn guess(&self, place: usize) -> Option<f64> {
        match self.answers.get(place) {
            Some(Answer::Guess(value)) => Some(*value),
            _ => None,
        }
    }

    /// Whether the prediction of the scene is still to be kept from the user.
    #[must_use]
    pub fn hides(&self, place: usize) -> bool {
        self.answers.get(place) == Some(&Answer::Open)
    }

    /// Shows the question that the run waits at; whether it goes on.
    pub fn show(&mut self, ctx: &egui::Context, frame: &Frame, area: egui::Rect) -> bool {
        let Some((place, scenario)) = frame.question.zip(frame.scenario.as_ref()) else {
            return false;
        };
        let Some(expectation) = scenario.expectations().get(place) else {
            return false;
        };
        if !self.hides(place) {
            return false;
        }
        let width = 440.0_f32.min(area.width() - 32.0);
        let mut done = None;
        let at = (Align2::CENTER_BOTTOM, area.center_bottom() - vec2(0.0, 24.0));
        card(ctx, "question", at, width, |ui| {
            let palette = theme::palette(ui);
            ui.label(
                egui::RichText::new("Predict, then run")
                    .size(12.0)
                    .color(palette.accent),
            );
            ui.add(egui::Label::new(egui::RichText::new(&expectation.ask).size(15.0).color(palette.strong)).wrap());
            let field = ui
                .add(
                    egui::TextEdit::singleline(&mut self.text)
                        .desired_width(160.0)
                        .hint_text("a number"),
                )
                .accessible_name("Your prediction");
            if self.fresh != Some(place) {
                self.fresh = Some(place);
                field.request_focus();
            }
            let guess = number(&self.text);
            let enter = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            ui.horizontal(|ui| {
                let run = ui.add_enabled(guess.is_some(), egui::Button::new("Predict and run"));
                if run.clicked() || (enter && guess.is_some()) {
                    done = guess.map(Answer::Guess);
                }
                if ui.button("Skip").clicked() {
                    done = Some(Answer::Skipped);
                }
            });
        });
        let Some(answer) = done else { return false };
        self.answers[place] = answer;
        self.text.clear();
        true
    }

    /// What the user said, beside what was measured.
    #[must_use]
    pub fn said(&self, place: usize) -> Option<String> {
        self.guess(place).map(|value| figure(value, 5))
    }
}

/// A number as people type it: a decimal comma, a typographic minus.
fn number(text: &str) -> Option<f64> {
    let plain = text.trim().replace(',', ".").replace('−', "-");
    plain.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in [
            ("0.5", Some(0.5)),
            (" 0,5 ", Some(0.5)),
            ("−3", Some(-3.0)),
            ("-2,5e−3", Some(-2.5e-3)),
        ] {
            assert_eq!(number(text), value, "{text:?}");
        }
        for text in ["", "one", "1,2,3", "inf", "NaN", "1e999"] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }
}
