//! "Predict, then run": a question of the scene, asked while the run waits, and what was predicted: by the user, or, in the mode for lecture halls, by a class.

use super::guesses;
use super::theme;
use super::widgets::{card, fault, figure, typed};
use crate::engine::Frame;
use crate::scene::Scenario;
use egui::{Align2, Key, Modifiers, Pos2, Rect, pos2, vec2};

/// The questions of a scene and the answers to them.
#[derive(Debug, Default)]
pub struct Questions {
    /// The run that the answers belong to.
    run: u64,
    /// One place for each expectation.
    answers: Vec<Answer>,
    text: String,
    /// What a class has called out so far.
    called: Vec<f64>,
    /// The question whose field had the focus already.
    fresh: Option<usize>,
    /// What was entered last is no number.
    refused: bool,
    /// The question that the run stopped at, until it plays on: single steps lead past it and leave it open.
    waiting: Option<usize>,
    /// The question that was left open by playing on.
    passed: Option<usize>,
    /// Whether the run goes step by step, by hand.
    by_hand: bool,
}

/// What became of a question.
#[derive(Clone, Debug, Default, PartialEq)]
enum Answer {
    #[default]
    Open,
    Skipped,
    /// What was predicted; by a class, in the order in which it was called out.
    Guesses(Vec<f64>),
}

/// What a question's card was told.
enum Said {
    /// One guess of the user's.
    One(f64),
    /// The class has said all.
    All,
    Nothing,
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
        // What is played on leaves its last frame behind for a moment.
        let asked = frame.question.filter(|place| self.passed != Some(*place));
        self.waiting = asked.or(self.waiting);
    }

    /// The run goes on by a step by hand. Then a question that it comes to takes no key from the next one.
    pub fn step(&mut self) {
        self.by_hand = true;
    }

    /// The run plays on: a question that waits stays open.
    pub fn pass(&mut self) {
        self.by_hand = false;
        self.passed = self.waiting.take().or(self.passed);
    }

    /// A question that waits is passed over, as something else is asked; whether the run goes on, told once: it does unless it goes step by step.
    pub fn give_way(&mut self, frame: &Frame) -> bool {
        let waiting = self.waiting(frame).filter(|place| self.passed != Some(*place));
        if waiting.is_some() {
            self.passed = waiting;
            self.waiting = None;
        }
        waiting.is_some() && !self.by_hand
    }

    /// The question that waits for an answer.
    #[must_use]
    pub fn waiting(&self, frame: &Frame) -> Option<usize> {
        frame.question.or(self.waiting).filter(|place| self.hides(*place))
    }

    /// Whether somebody said or skipped something.
    #[must_use]
    pub fn was_answered(&self) -> bool {
        self.answers.iter().any(|answer| *answer != Answer::Open)
    }

    /// What was predicted for an expectation.
    #[must_use]
    pub fn guesses(&self, place: usize) -> &[f64] {
        match self.answers.get(place) {
            Some(Answer::Guesses(values)) => values,
            _ => &[],
        }
    }

    /// Whether the prediction of the scene is still to be kept from the user.
    #[must_use]
    pub fn hides(&self, place: usize) -> bool {
        self.answers.get(place) == Some(&Answer::Open)
    }

    /// Whether a question of the scene is still to be answered; one that the run was played past is not.
    #[must_use]
    pub fn is_open(&self, scenario: &Scenario) -> bool {
        let mut all = scenario.expectations().iter().enumerate();
        all.any(|(place, expectation)| !expectation.ask.is_empty() && self.hides(place) && self.passed != Some(place))
    }

    /// Shows the question that the run waits at, in a room in which the picture stands; whether it goes on. A class says one number after the other.
    pub fn show(&mut self, ctx: &egui::Context, frame: &Frame, ([room, picture], class): ([Rect; 2], bool)) -> bool {
        let Some((place, scenario)) = self.waiting(frame).zip(frame.scenario.as_ref()) else {
            return false;
        };
        let Some(expectation) = scenario.expectations().get(place) else {
            return false;
        };
        let (at, width) = standing(room, picture);
        let mut done = None;
        card(ctx, "question", (Align2::CENTER_BOTTOM, at), width, |ui| {
            let palette = theme::palette(ui);
            let heading = if class {
                "What does the class say?"
            } else {
                "Predict, then run"
            };
            // In a low window the question alone says enough.
            if room.height() >= LOW {
                ui.label(egui::RichText::new(heading).size(12.0).color(palette.accent));
            }
            ui.add(egui::Label::new(egui::RichText::new(&expectation.ask).size(15.0).color(palette.strong)).wrap());
            if class && !self.called.is_empty() {
                guesses::strip(ui, &self.called, None);
            }
            done = self.answer_rows(ui, place, class);
        });
        self.answers[place] = match done {
            None => return false,
            Some(Said::Nothing) => Answer::Skipped,
            Some(Said::One(value)) => Answer::Guesses(vec![value]),
            Some(Said::All) => Answer::Guesses(std::mem::take(&mut self.called)),
        };
        self.text.clear();
        self.refused = false;
        true
    }

    /// The field and the buttons, in a row so that little of the picture is hidden; what was said, once that is all.
    fn answer_rows(&mut self, ui: &mut egui::Ui, place: usize, class: bool) -> Option<Said> {
        let done = ui.horizontal_wrapped(|ui| self.answer_row(ui, place, class)).inner;
        if self.refused {
            fault(ui, "This is no number. Type one, such as 0.25, then Enter.");
        }
        done
    }

    fn answer_row(&mut self, ui: &mut egui::Ui, place: usize, class: bool) -> Option<Said> {
        let field = ui
            .add(
                egui::TextEdit::singleline(&mut self.text)
                    // The same field whatever stands above it: it keeps the keyboard.
                    .id(egui::Id::unique("prediction"))
                    .desired_width(160.0)
                    .hint_text(if class { "a number, then Enter" } else { "a number" }),
            )
            .accessible_name("Your prediction");
        if self.fresh != Some(place) {
            self.fresh = Some(place);
            self.called.clear();
            if !self.by_hand {
                field.request_focus();
            }
        }
        let guess = number(&self.text);
        let enter = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
        let empty = self.text.trim().is_empty();
        if enter && guess.is_none() {
            // Enter took the keyboard from the field, and what is typed next would be keys of the window.
            field.request_focus();
            self.refused = true;
        }
        self.refused &= guess.is_none() && !empty;
        let (can, words) = if class {
            (!self.called.is_empty(), "Run")
        } else {
            (guess.is_some(), "Predict and run")
        };
        let run = ui.add_enabled(can, egui::Button::new(words)).clicked();
        let mut done = None;
        if class {
            if let Some(value) = guess.filter(|_| enter) {
                self.called.push(value);
                self.text.clear();
                field.request_focus();
            } else if run || (enter && can && empty) {
                done = Some(Said::All);
            }
        } else if run || enter {
            done = guess.map(Said::One);
        }
        if ui.button("Skip").clicked() {
            done = Some(Said::Nothing);
        }
        done
    }

    /// Shows what a class said beside what was measured, once it is, while the run rests or goes on.
    pub fn show_result(&self, ctx: &egui::Context, frame: &Frame, area: egui::Rect) {
        let Some(scenario) = &frame.scenario else { return };
        let measured = |place: usize| frame.verdicts.get(place).and_then(|verdict| verdict.measured());
        // The one that was measured last.
        let all = scenario.expectations().iter().enumerate();
        let told = all.filter(|(place, _)| !self.guesses(*place).is_empty() && measured(*place).is_some());
        let Some((place, expectation)) = told.max_by(|(_, a), (_, b)| a.at.total_cmp(&b.at)) else {
            return;
        };
        let at = (Align2::CENTER_TOP, area.center_top() + vec2(0.0, 12.0));
        card(ctx, "class", at, 440.0_f32.min(area.width() - 32.0), |ui| {
            let palette = theme::palette(ui);
            ui.add(egui::Label::new(egui::RichText::new(&expectation.ask).color(palette.strong)).wrap());
            guesses::strip(ui, self.guesses(place), measured(place));
        });
    }

    /// What was said, beside what was measured.
    #[must_use]
    pub fn said(&self, place: usize) -> Option<String> {
        match self.guesses(place) {
            [] => None,
            [one] => Some(figure(*one, 5)),
            many => Some(format!(
                "{} said {} in the middle",
                many.len(),
                figure(guesses::median(many), 3)
            )),
        }
    }
}

/// Height of a room for the picture, in points, in which each line of the card hides a good part of it.
const LOW: f32 = 240.0;

/// Where the lower middle of the card stands, and the width of what it holds: beside the picture where there is room, else over its lower edge, as low as can be.
fn standing(room: Rect, picture: Rect) -> (Pos2, f32) {
    const WIDEST: f32 = 440.0;
    // The field for a number, and what narrower lines would make of the words.
    const LEAST: f32 = 200.0;
    // The margins and edges of the card, with a gap to both sides.
    const BESIDE: f32 = 2.0 * (16.0 + 1.0 + 8.0);
    let low = room.bottom() - 8.0;
    let left = Rect::from_x_y_ranges(room.left()..=picture.left(), room.y_range());
    let right = Rect::from_x_y_ranges(picture.right()..=room.right(), room.y_range());
    let wider = if right.width() >= left.width() { right } else { left };
    let beside = wider.width() - BESIDE;
    if picture.is_positive() && beside >= LEAST && room.height() >= LOW {
        return (pos2(wider.center().x, low), beside.min(WIDEST));
    }
    (pos2(room.center().x, low), (room.width() - BESIDE).clamp(160.0, WIDEST))
}

/// A number as people type it: a decimal comma, a typographic minus.
fn number(text: &str) -> Option<f64> {
    let plain = typed(&text.trim().replace(',', "."));
    plain.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{LOW, number, standing};
    use egui::{Rect, pos2, vec2};

    /// Beside a narrow picture the card hides nothing of it; else it stands at the lower end of the room.
    #[test]
    fn the_card_stands_beside_a_narrow_picture() {
        let room = Rect::from_min_max(pos2(302.0, 33.0), pos2(952.0, 526.0));
        let card = |room: Rect, picture: Rect| {
            let (at, width) = standing(room, picture);
            // As wide as it is with its margins, and a question of some lines high.
            let size = vec2(width + 34.0, 150.0);
            Rect::from_min_size(at - vec2(size.x / 2.0, size.y), size)
        };
        let narrow = Rect::from_center_size(room.center(), vec2(120.0, 490.0));
        let beside = card(room, narrow);
        assert!(
            !beside.intersects(narrow) && room.contains_rect(beside),
            "{beside:?} {narrow:?}"
        );
        // What was moved to the right has its room at the left.
        let moved = narrow.translate(vec2(200.0, 0.0));
        assert!(card(room, moved).right() < moved.left());
        for wide in [room, room.shrink2(vec2(100.0, 0.0)), Rect::NOTHING] {
            let below = card(room, wide);
            assert!((below.width() - 440.0 - 34.0).abs() < 1e-3, "{wide:?}");
            assert!((below.center().x - room.center().x).abs() < 1e-3 && below.bottom() > room.bottom() - 12.0);
        }
        // In a small window it is no wider than the room.
        let small = Rect::from_min_size(pos2(302.0, 33.0), vec2(330.0, LOW - 40.0));
        assert!(small.contains_rect(card(small, narrow)));
    }

    #[test]
    fn numbers_are_read_as_people_type_them() {
        for (text, value) in [
            ("0.5", Some(0.5)),
            (" 0,5 ", Some(0.5)),
            ("−3", Some(-3.0)),
            ("-2,5e−3", Some(-2.5e-3)),
            ("−2,5×10⁻³", Some(-2.5e-3)),
        ] {
            assert_eq!(number(text), value, "{text:?}");
        }
        for text in ["", "one", "1,2,3", "inf", "NaN", "1e999"] {
            assert_eq!(number(text), None, "{text:?}");
        }
    }
}
