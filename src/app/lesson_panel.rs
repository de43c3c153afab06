//! The lesson: what the scene is about, what to look for, and whether its predictions come true.

use super::document::Document;
use super::question::Questions;
use super::widgets::{hint, icon_button};
use super::{checks_panel, markdown, theme};
use crate::app::icon::Icon;
use crate::engine::Frame;
use crate::scene::presets;
use egui::{Align, Layout, Ui};

/// What is asked for in a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Another preset, by name.
    Open(String),
    /// A change of the scene, `key = value`.
    Try(String),
}

/// Shows the panel, with the predictions where `questions` are given.
pub fn show(ui: &mut Ui, document: &Document, frame: &Frame, questions: Option<&Questions>) -> Option<Wish> {
    let mut wanted = steps(ui, document.preset()).map(Wish::Open);
    let color = theme::palette(ui).strong;
    ui.add(egui::Label::new(egui::RichText::new(document.title()).size(17.0).color(color)).wrap());
    if document.draft.about.trim().is_empty() {
        hint(ui, "This scene has no text. “about” in its file is shown here.");
    } else {
        wanted = markdown::show(ui, &document.draft.about).map(Wish::Try).or(wanted);
    }
    if let Some(questions) = questions {
        ui.add_space(8.0);
        checks_panel::show(ui, frame, questions, &document.checks());
    }
    wanted
}

/// From lesson to lesson.
fn steps(ui: &mut Ui, present: Option<&str>) -> Option<String> {
    let all = presets::all();
    let place = present.and_then(|name| all.iter().position(|preset| preset.name == name))?;
    let mut wanted = None;
    ui.horizontal(|ui| {
        let text = format!("Lesson {} of {}", place + 1, all.len());
        ui.label(egui::RichText::new(text).size(12.0).color(theme::palette(ui).weak));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, Icon::ChevronRight, "Next lesson", place + 1 < all.len()).clicked() {
                wanted = all.get(place + 1);
            }
            if icon_button(ui, Icon::ChevronLeft, "Lesson before", place > 0).clicked() {
                wanted = place.checked_sub(1).and_then(|place| all.get(place));
            }
        });
    });
    wanted.map(|preset| preset.name.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::app::command::actions;
    use crate::app::plots::Kind;
    use crate::app::scene_panel::LAYERS;
    use crate::scene::presets;

    /// What stands between two signs in a text, at each place.
    fn between<'a>(text: &'a str, first: &'a str, last: &'a [char]) -> impl Iterator<Item = &'a str> {
        let found = text.split(first).skip(1);
        found.filter_map(move |rest| rest.split(last).next())
    }

    /// Menus, sections and plots that a lesson sends its reader to are there, by that name.
    #[test]
    fn lessons_name_what_the_window_has() {
        let mut count = 0;
        for preset in presets::all() {
            let (file, _) = crate::solver::read_scene(preset.name, &[]).unwrap();
            let (text, name) = (&file.about, preset.name);
            for entry in between(text, "*Run, ", &['*']) {
                let known = actions().any(|action| action.title.trim_end_matches('…') == entry);
                assert!(known, "{name}: the menu Run has no {entry}");
                count += 1;
            }
            for section in between(text, "(Scene, ", &[',', ')']) {
                let own = LAYERS[usize::from(file.acoustic.is_some())];
                assert_eq!(section, own, "{name}");
                count += 1;
            }
            for plot in between(text, "plot *", &['*']).chain(between(text, "plots *", &['*'])) {
                let known = Kind::ALL.iter().any(|(_, title, _)| *title == plot);
                assert!(known, "{name}: there is no plot {plot}");
                count += 1;
            }
            assert!(!text.contains("logarithmic axis"), "{name}: no plot has one");
        }
        assert!(count > 20, "{count}");
    }
}
