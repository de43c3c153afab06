//! Play, step, reverse, reset, snapshot: the run by hand.

use super::command::Action;
use super::theme;
use super::widgets::action_button;
use crate::engine::{Frame, Status};
use egui::{Align, Layout, Ui};
use lucide_icons::Icon;

/// Shows the bar; returns what was asked for.
pub fn show(ui: &mut Ui, frame: &Frame, plots_open: bool) -> Option<Action> {
    let mut wish = None;
    let mut add = |ui: &mut Ui, action, icon, words: &str, enabled| {
        if action_button(ui, action, icon, words, enabled) {
            wish = Some(action);
        }
    };
    let running = frame.status == Status::Running;
    let failed = matches!(frame.status, Status::Failed(_));
    let ready = frame.scenario.is_some();
    let narrow = ui.available_width() < 720.0;
    let words = |text: &'static str| if narrow { "" } else { text };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let (icon, word) = if running {
            (Icon::Pause, "Pause")
        } else {
            (Icon::Play, "Play")
        };
        let palette = theme::palette(ui);
        ui.scope(|ui| {
            // The one button that is meant to be found first. Its width does not change with its word.
            let visuals = &mut ui.visuals_mut().widgets;
            visuals.inactive.weak_bg_fill = palette.accent_ground;
            visuals.inactive.fg_stroke.color = palette.strong;
            ui.allocate_ui_with_layout(
                egui::vec2(84.0, 28.0),
                Layout::left_to_right(Align::Center).with_main_justify(true),
                |ui| add(ui, Action::PlayPause, icon, word, ready && !failed),
            );
        });
        ui.add_space(4.0);
        add(ui, Action::Step, Icon::StepForward, words("Step"), ready && !failed);
        add(
            ui,
            Action::Reverse,
            Icon::ArrowLeftRight,
            words("Reverse"),
            ready && !failed,
        );
        add(ui, Action::Reset, Icon::RotateCcw, words("Reset"), ready);
        ui.add_space(4.0);
        add(ui, Action::Snapshot, Icon::Camera, words("Snapshot"), ready && !failed);
        add(ui, Action::Restore, Icon::History, words("Back"), frame.has_snapshot);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let icon = if plots_open { Icon::ChevronDown } else { Icon::ChevronUp };
            add(ui, Action::Plots, icon, words("Plots"), true);
            add(ui, Action::Fit, Icon::Scan, words("Fit"), ready);
        });
    });
    wish
}
