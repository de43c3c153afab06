//! The menu bar.

use super::command::{Action, Menu, actions};
use super::theme;
use crate::app::icon::Icon;
use egui::{Align, Layout, Ui};

/// What the menus must know to grey out what cannot be done.
#[derive(Clone, Copy, Debug)]
pub struct Can {
    /// There is an edit to take back.
    pub undo: bool,
    /// There is an edit to do again.
    pub redo: bool,
    /// There is a snapshot.
    pub restore: bool,
    /// A mirror has turned time.
    pub turned: bool,
    /// A scene runs.
    pub run: bool,
    /// It runs on another machine.
    pub elsewhere: bool,
    /// The scene is of sound.
    pub sound: bool,
}

impl Can {
    /// Whether an action can be done now.
    #[must_use]
    pub fn do_it(self, action: Action) -> bool {
        match action {
            Action::Undo => self.undo,
            Action::Redo => self.redo,
            Action::Restore => self.restore && self.run,
            Action::BackToTurn => self.turned && self.run,
            Action::RunHere => self.elsewhere,
            Action::SourceTool => self.sound,
            Action::MeasurePosition => self.run && !self.sound,
            Action::Levels => !self.sound,
            Action::PlayPause
            | Action::Step
            | Action::Reverse
            | Action::Reset
            | Action::Snapshot
            | Action::Earlier
            | Action::Later
            | Action::ExportPicture
            | Action::ExportField
            | Action::ExportFilm
            | Action::ExportRecords
            | Action::SaveCheckpoint => self.run,
            _ => true,
        }
    }
}

/// What a menu leaves of the window's height: the bar above it, and its frame.
const MENU_ROOM: f32 = 72.0;

/// Shows the bar; returns what was chosen. `on`: whether that which an action turns on and off is on.
pub fn show(ui: &mut Ui, title: &str, modified: bool, can: Can, on: &[(Action, bool)]) -> Option<Action> {
    let mut chosen = None;
    let is_on = |action: Action| on.iter().find(|(other, _)| *other == action).map(|(_, on)| *on);
    egui::MenuBar::new().ui(ui, |ui| {
        let palette = theme::palette(ui);
        ui.label(theme::icon(Icon::Waves, 16.0).color(palette.accent));
        for (name, menu) in Menu::ALL {
            ui.menu_button(name, |ui| {
                ui.set_min_width(240.0);
                // In a low window the rest is scrolled to; whatever fits into it is shown as a whole.
                let room = (ui.ctx().content_rect().height() - MENU_ROOM).max(120.0);
                let list = egui::ScrollArea::vertical().max_height(room).min_scrolled_height(room);
                list.show(ui, |ui| {
                    for entry in actions().filter(|entry| entry.menu == menu) {
                        let mut button = egui::Button::new((theme::icon(entry.icon, 15.0), entry.title));
                        if let Some(key) = entry.keys.first() {
                            button = button.shortcut_text(super::command::shown(ui.ctx(), key));
                        }
                        if let Some(on) = is_on(entry.action) {
                            button = button.selected(on);
                        }
                        let response = ui
                            .add_enabled(can.do_it(entry.action), button)
                            .accessible_name(entry.title);
                        if response.clicked() {
                            chosen = Some(entry.action);
                        }
                        response.on_hover_text(entry.about);
                    }
                });
            });
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // A phone held upright has room for the menus and two signs.
            let upright = super::panels::is_upright(ui.ctx());
            let word = |text: &'static str| if upright { "" } else { text };
            let shown = [Action::Theme, Action::RightPanel, Action::LeftPanel, Action::Palette];
            let panels = [Action::RightPanel, Action::LeftPanel];
            for &action in if upright { &panels[..] } else { &shown[..] } {
                let entry = action.entry();
                let icon = theme::icon(entry.icon, 15.0);
                let button = match action {
                    Action::RightPanel => {
                        egui::Button::selectable(is_on(action) == Some(true), (icon, word("Settings")))
                    }
                    Action::LeftPanel => egui::Button::selectable(is_on(action) == Some(true), (icon, word("Lessons"))),
                    _ => egui::Button::new(icon).frame_when_inactive(false),
                };
                let response = ui.add(button).accessible_name(entry.title);
                if response.clicked() {
                    chosen = Some(action);
                }
                let keys = entry.keys.first().map_or(String::new(), |key| {
                    format!("  {}", super::command::shown(ui.ctx(), key))
                });
                response.on_hover_text(format!("{}{keys}", entry.title));
            }
            if upright {
                return;
            }
            ui.centered_and_justified(|ui| {
                let text = if modified {
                    format!("{title} (edited)")
                } else {
                    title.to_owned()
                };
                ui.add(egui::Label::new(egui::RichText::new(text).color(palette.weak)).truncate());
            });
        });
    });
    chosen
}
