//! Play, step, reverse, reset, snapshot: the run by hand.

use super::command::Action;
use super::frame_history::FrameHistory;
use super::theme;
use super::units::Units;
use super::widgets::{action_button, to_ends};
use crate::app::icon::Icon;
use crate::engine::{Frame, Status};
use egui::{Align, Layout, Ui};

/// Shows the bar; returns what was asked for.
pub fn show(ui: &mut Ui, frame: &Frame, plots_open: bool, tape: &mut FrameHistory) -> Vec<Action> {
    let mut wishes = Vec::new();
    let mut looked = false;
    let mut add = |ui: &mut Ui, action, icon, words: &str, enabled| {
        if action_button(ui, action, icon, words, enabled) {
            wishes.push(action);
        }
    };
    let running = frame.status == Status::Running;
    let failed = matches!(frame.status, Status::Failed(_));
    let ready = frame.scenario.is_some();
    let narrow = ui.available_width() < 720.0;
    let roomy = ui.available_width() >= 376.0;
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
        // Where even these have no room, menu and keys have them.
        if roomy {
            ui.add_space(4.0);
            add(ui, Action::Snapshot, Icon::Camera, words("Snapshot"), ready && !failed);
            add(ui, Action::Restore, Icon::History, words("Back"), frame.has_snapshot);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let icon = if plots_open { Icon::ChevronDown } else { Icon::ChevronUp };
            add(ui, Action::Plots, icon, words("Plots"), true);
            add(ui, Action::Fit, Icon::Scan, words("Fit"), ready);
            ui.add_space(8.0);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add_space(8.0);
                looked = look_back(ui, frame, tape);
            });
        });
    });
    // What is looked back at would be overtaken.
    if looked && running {
        wishes.push(Action::PlayPause);
    }
    wishes
}

/// The least of it over the lower right corner of a picture that stands alone.
pub fn over_picture(ctx: &egui::Context, area: egui::Rect, running: bool) -> Vec<Action> {
    let mut wishes = Vec::new();
    egui::Area::new(egui::Id::unique("transport over the picture"))
        .order(egui::Order::Middle)
        .pivot(egui::Align2::RIGHT_BOTTOM)
        .fixed_pos(area.right_bottom() - egui::vec2(8.0, 8.0))
        .show(ctx, |ui| {
            let frame = egui::Frame::popup(ui.style()).inner_margin(4);
            frame.show(ui, |ui| {
                ui.horizontal(|ui| {
                    let play = if running { Icon::Pause } else { Icon::Play };
                    let buttons = [
                        (Action::PlayPause, play),
                        (Action::Reset, Icon::RotateCcw),
                        (Action::FullScreen, Icon::Maximize),
                        (Action::HidePanels, Icon::PanelLeft),
                    ];
                    for (action, icon) in buttons {
                        if action_button(ui, action, icon, "", true) {
                            wishes.push(action);
                        }
                    }
                });
            });
        });
    wishes
}

/// Least room for the slider through the last pictures.
const LEAST: f32 = 200.0;

/// The slider through the pictures of the last seconds; whether it was moved.
fn look_back(ui: &mut Ui, frame: &Frame, tape: &mut FrameHistory) -> bool {
    let room = ui.available_width();
    let Some(last) = tape.len().checked_sub(1).filter(|last| *last > 0 && room > LEAST) else {
        return false;
    };
    let mut at = tape.at().unwrap_or(last);
    let palette = theme::palette(ui);
    let text = match tape.at().and_then(|at| tape.time(at)) {
        Some(time) => {
            let unit = frame.scenario.as_deref().map_or(super::units::NONE, |scenario| {
                Units::of(scenario, frame.clock.time_step).time
            });
            format!("t = {}", unit.show(time, 4))
        }
        None => "now".to_owned(),
    };
    ui.spacing_mut().slider_width = (room - 112.0).min(320.0);
    let slider = egui::Slider::new(&mut at, 0..=last).show_value(false);
    let response = ui.name_inputs("Look back", |ui| ui.add(slider));
    let jumped = to_ends(ui, &response, &mut at, 0..=last);
    let response = response
        .on_hover_text("The pictures of the last seconds, as many as fit into memory. The run pauses and keeps its state; Play goes on from there. Keys: [ and ]");
    let color = if tape.at().is_some() {
        palette.accent
    } else {
        palette.weak
    };
    ui.label(egui::RichText::new(text).size(12.0).color(color));
    let moved = response.changed() || jumped;
    if moved {
        tape.look(at);
    }
    moved
}
