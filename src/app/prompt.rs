//! The window's own question for a file, where the system shows no file dialogue.

use super::background::Ask;
use super::theme;
use super::widgets::hint;
use egui::{Key, Modifiers};
use std::path::{Path, PathBuf};

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was asked.
    pub ask: Ask,
    /// The file.
    pub path: PathBuf,
    /// Whether a file that is there may be replaced.
    pub replaces: bool,
}

/// The question's state.
#[derive(Debug, Default)]
pub struct PathPrompt {
    question: Option<Question>,
}

#[derive(Debug)]
struct Question {
    ask: Ask,
    text: String,
    /// The path that is taken already; the next answer with it replaces the file.
    taken: Option<PathBuf>,
    /// The text field has not had the focus yet.
    fresh: bool,
}

impl PathPrompt {
    /// Asks for a file; `suggestion` is a file name or empty.
    pub fn open(&mut self, ask: Ask, suggestion: String) {
        self.question = Some(Question {
            ask,
            text: suggestion,
            taken: None,
            fresh: true,
        });
    }

    /// Asks again, since there is such a file already.
    pub fn warn(&mut self, ask: Ask, path: PathBuf) {
        self.question = Some(Question {
            ask,
            text: path.display().to_string(),
            taken: Some(path),
            fresh: true,
        });
    }

    /// Whether it waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.question.is_some()
    }

    /// Shows the question; returns the answer once there is one.
    pub fn show(&mut self, ctx: &egui::Context) -> Option<Answer> {
        let question = self.question.as_mut()?;
        let escape = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let enter = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
        let modal = egui::Modal::new(egui::Id::unique("path prompt"))
            .frame(theme::modal(ctx))
            .show(ctx, |ui| {
                ui.set_width(520.0_f32.min(ui.ctx().content_rect().width() - 64.0));
                contents(ui, question)
            });
        let (done, cancelled) = modal.inner;
        let answer = (done || enter).then(|| question.answer()).flatten();
        if answer.is_some() || cancelled || escape || modal.should_close() {
            self.question = None;
        }
        answer
    }
}

impl Question {
    fn answer(&self) -> Option<Answer> {
        let path = resolve(&self.text, self.ask)?;
        let replaces = self.taken.as_ref() == Some(&path);
        Some(Answer {
            ask: self.ask,
            path,
            replaces,
        })
    }
}

/// The question itself; whether it was answered, whether it was given up.
fn contents(ui: &mut egui::Ui, question: &mut Question) -> (bool, bool) {
    let palette = theme::palette(ui);
    ui.heading(egui::RichText::new(question.ask.title()).color(palette.strong));
    ui.add_space(8.0);
    let id = egui::Id::unique("path of the prompt");
    let field = ui
        .add(
            egui::TextEdit::singleline(&mut question.text)
                .id(id)
                .desired_width(f32::INFINITY)
                .margin(egui::Margin::same(8))
                .hint_text("Path of the file"),
        )
        .accessible_name("Path of the file");
    if question.fresh && field.has_focus() {
        question.fresh = false;
        // All of it is selected: what is typed takes its place. The cursor of the question before means nothing here.
        let mut state = egui::text_edit::TextEditState::load(ui.ctx(), id).unwrap_or_default();
        let all = egui::text::CCursorRange::select_all_str(&question.text);
        state.cursor.set_char_range(Some(all));
        state.store(ui.ctx(), id);
    } else if question.fresh {
        field.request_focus();
    }
    let path = resolve(&question.text, question.ask);
    match &path {
        Some(path) if question.taken.as_ref() == Some(path) => {
            super::widgets::warning(ui, "There is a file of this name already; it will be replaced.");
        }
        Some(path) => hint(ui, &path.display().to_string()),
        None => hint(ui, "The system shows no file dialogue: type where the file is."),
    }
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        let word = match &path {
            Some(path) if question.taken.as_ref() == Some(path) => "Replace",
            _ => question.ask.verb(),
        };
        let done = ui.add_enabled(path.is_some(), egui::Button::new(word)).clicked();
        let cancelled = ui.button("Cancel").clicked();
        (done, cancelled)
    })
    .inner
}

/// The file that a text names: `~` is the home folder, a file to be written gets its ending, relative paths start at the
/// working directory. `None` where the text is empty.
fn resolve(text: &str, ask: Ask) -> Option<PathBuf> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut path = match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    if !ask.is_there() && path.extension().is_none() {
        path.set_extension(ask.ending());
    }
    Some(std::path::absolute(&path).unwrap_or_else(|_| Path::new(text).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where another question was answered before, whose text was longer.
    #[test]
    fn what_is_typed_takes_the_place_of_the_suggestion() {
        let ctx = egui::Context::default();
        let mut prompt = PathPrompt::default();
        for (suggestion, typed) in [("a-long-name-of-a-scene.png", "x"), ("short.png", "y")] {
            prompt.open(Ask::Picture, suggestion.to_owned());
            for events in [Vec::new(), Vec::new(), vec![egui::Event::Text(typed.to_owned())]] {
                let input = egui::RawInput {
                    events,
                    ..egui::RawInput::default()
                };
                let mut output = ctx.run_ui(input, |ui| {
                    prompt.show(ui.ctx());
                });
                output.textures_delta.clear();
            }
            assert_eq!(
                prompt.question.as_ref().map(|question| question.text.as_str()),
                Some(typed)
            );
        }
    }

    #[test]
    fn a_text_becomes_a_path() {
        assert_eq!(resolve("  ", Ask::Open), None);
        let named = |text, ask| resolve(text, ask).map(|path| path.display().to_string());
        assert_eq!(named("/a/b", Ask::Save).as_deref(), Some("/a/b.toml"));
        assert_eq!(named("/a/b.txt", Ask::Save).as_deref(), Some("/a/b.txt"));
        assert_eq!(named(" /a/b ", Ask::Open).as_deref(), Some("/a/b"));
        assert!(resolve("c.toml", Ask::Open).is_some_and(|path| path.is_absolute()));
    }
}
