//! Lists of a scene's parts (layers, packets, detectors, …) as cards that fold, are copied, moved and removed.

use super::theme;
use super::widgets::icon_button;
use crate::app::icon::Icon;
use egui::{AtomExt, Ui};

/// What a list is called, and how its cards behave.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// One of its parts, e.g. `layer`.
    pub noun: &'static str,
    /// The order matters: cards can be moved.
    pub ordered: bool,
    /// The last card cannot be removed.
    pub needed: bool,
}

/// What is done to the list as a whole.
#[derive(Clone, Copy, Debug)]
enum Change {
    Remove(usize),
    Up(usize),
    Down(usize),
    Copy(usize),
}

impl List {
    /// Shows a card for every item; `title` names one in a few words, `body` shows what it consists of.
    pub fn show<T: Clone>(
        self,
        ui: &mut Ui,
        items: &mut Vec<T>,
        title: impl Fn(&T) -> String,
        mut body: impl FnMut(&mut Ui, &mut T),
    ) {
        let mut change = None;
        let count = items.len();
        for (n, item) in items.iter_mut().enumerate() {
            let title = title(item);
            ui.push_id((self.noun, n), |ui| {
                let wish = self.card(ui, n, count, &title, |ui| body(ui, item));
                change = change.or(wish);
            });
        }
        match change {
            Some(Change::Remove(n)) => {
                items.remove(n);
            }
            Some(Change::Up(n)) => items.swap(n, n - 1),
            Some(Change::Down(n)) => items.swap(n, n + 1),
            Some(Change::Copy(n)) => items.insert(n + 1, items[n].clone()),
            None => {}
        }
    }

    fn card(self, ui: &mut Ui, n: usize, count: usize, title: &str, contents: impl FnOnce(&mut Ui)) -> Option<Change> {
        let mut change = None;
        let name = |verb: &str| format!("{verb} {} {}", self.noun, n + 1);
        egui::Frame::new()
            .fill(theme::palette(ui).surface.gamma_multiply(0.6))
            .corner_radius(4)
            .inner_margin(8)
            .show(ui, |ui| {
                ui.set_width(ui.available_width());
                let id = ui.make_persistent_id("open");
                let mut state = egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, false);
                ui.horizontal(|ui| {
                    let sign = if state.is_open() {
                        Icon::ChevronUp
                    } else {
                        Icon::ChevronDown
                    };
                    // What is left beside the button that removes: an icon between two paddings, and the gap before it.
                    let removes = 14.0 + 2.0 * ui.spacing().button_padding.x + ui.spacing().item_spacing.x;
                    let width = (ui.available_width() - removes - 4.0).max(40.0);
                    // Long ones are cut.
                    let header = header(ui, sign, title, width).on_hover_text(title);
                    if header.accessible_name(format!("{}: {title}", name(""))).clicked() {
                        state.toggle(ui);
                    }
                    let removable = !self.needed || count > 1;
                    if icon_button(ui, Icon::Trash2, &name("Remove"), removable).clicked() {
                        change = Some(Change::Remove(n));
                    }
                });
                state.show_body_unindented(ui, |ui| {
                    contents(ui);
                    ui.horizontal(|ui| {
                        if self.ordered {
                            if icon_button(ui, Icon::ChevronUp, "Earlier", n > 0).clicked() {
                                change = Some(Change::Up(n));
                            }
                            if icon_button(ui, Icon::ChevronDown, "Later (the last one wins)", n + 1 < count).clicked()
                            {
                                change = Some(Change::Down(n));
                            }
                        }
                        if icon_button(ui, Icon::Copy, &name("Copy"), true).clicked() {
                            change = Some(Change::Copy(n));
                        }
                    });
                });
            });
        change
    }
}

/// The line of a card that folds it: words flush left, over the whole width.
fn header(ui: &mut Ui, sign: Icon, title: &str, width: f32) -> egui::Response {
    // What grows pushes the words to the left; they are cut where they are too long, and not the sign, as the first text would be.
    let words = title.to_owned().atom_shrink(true);
    let button = egui::Button::new((theme::icon(sign, 13.0), words, egui::Atom::grow()))
        .frame_when_inactive(false)
        .truncate()
        .min_size(egui::vec2(width, 24.0));
    ui.allocate_ui_with_layout(
        egui::vec2(width, 24.0),
        egui::Layout::left_to_right(egui::Align::Center),
        |ui| ui.add(button),
    )
    .inner
}
