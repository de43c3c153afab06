//! Δt with its recommended and stable range, and the speed of the picture.

use super::theme;
use super::units::{Unit, Units};
use super::widgets::{hint, row, section, to_ends, warning};
use crate::app::icon::Icon;
use crate::engine::Command;
use crate::scene::{Scenario, SceneFile};
use crate::solver::{self, StepAdvice};
use egui::{Sense, Ui, vec2};
use std::sync::Arc;

/// Room for the value beside the slider of Δt.
const SLIDER_VALUE: f32 = 88.0;

/// Most steps per frame that the slider offers.
const MOST_STEPS: u64 = 4096;

/// Shows the section; edits `file` and returns what the worker shall be told.
pub fn show(
    ui: &mut Ui,
    file: &mut SceneFile,
    scenario: Option<&Arc<Scenario>>,
    time_step: f64,
    (steps_per_frame, standing): (&mut Option<u64>, Standing),
) -> Option<Command> {
    let mut command = None;
    section(ui, Icon::Clock, "Time", true, |ui| {
        if let Some(scenario) = scenario
            && let Some(advice) = advice(ui, scenario)
        {
            let unit = Units::of(scenario, time_step).time;
            step_rows(ui, file, &advice, time_step, (unit, standing));
        }
        command = speed_row(ui, steps_per_frame);
        if file.quantum.is_some() {
            ui.checkbox(&mut file.time.imaginary, "Find ground state (imaginary time)")
                .on_hover_text("Steps in t = −iτ: every state decays towards the ground state, and the norm is restored after each step.");
        }
    });
    command
}

/// What the method of a scene says about Δt, kept from frame to frame: it reads every bond of a medium whose bonds differ.
pub(super) fn advice(ui: &Ui, scenario: &Arc<Scenario>) -> Option<StepAdvice> {
    let id = egui::Id::unique("advice on the time step");
    let known = ui.data(|data| data.get_temp::<(Arc<Scenario>, StepAdvice)>(id));
    if let Some((_, advice)) = known.filter(|(of, _)| Arc::ptr_eq(of, scenario)) {
        return Some(advice);
    }
    let advice = solver::find(&scenario.solver().method)?.advice(scenario);
    ui.data_mut(|data| data.insert_temp(id, (Arc::clone(scenario), advice)));
    Some(advice)
}

/// How the scene under edit stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Δt is that of the scene as it was opened: its author's choice.
    pub own_step: bool,
    /// The present edit is not applied.
    pub refused: bool,
}

fn step_rows(
    ui: &mut Ui,
    file: &mut SceneFile,
    advice: &StepAdvice,
    time_step: f64,
    (unit, standing): (Unit, Standing),
) {
    let mut auto = file.time.step.is_none();
    let present = file
        .time
        .step
        .unwrap_or(if time_step == 0.0 { advice.auto } else { time_step.abs() });
    let mut step = present;
    let (low, high) = (advice.auto / 100.0, reach(advice, present));
    let tip = format!(
        "Recommended up to {}{}. {}",
        unit.show(advice.sensible, 3),
        advice
            .stability_limit
            .map_or(String::new(), |limit| format!(", stable up to {}", unit.show(limit, 3))),
        advice.because
    );
    row(ui, "Δt", &tip, |ui| {
        ui.spacing_mut().slider_width = (ui.available_width() - SLIDER_VALUE).max(40.0);
        let slider = ui.add(
            egui::Slider::new(&mut step, low..=high)
                .logarithmic(true)
                .clamping(egui::SliderClamping::Never)
                .custom_formatter(move |value, _| unit.show(value, 3))
                // What was not typed anew stays with all its digits.
                .custom_parser(move |text| {
                    let is_present = text == unit.show(present, 3);
                    if is_present { Some(present) } else { unit.parse(text) }
                })
                .update_while_editing(false),
        );
        // To the right end of what is accurate: further no key goes by itself.
        to_ends(ui, &slider, &mut step, low..=advice.sensible.min(high));
        slider.on_hover_text(&tip);
    });
    if step != present && step > 0.0 && step.is_finite() {
        file.time.step = Some(step);
        auto = false;
    }
    range_bar(ui, advice, low, high, step);
    if let Some(limit) = advice.stability_limit.filter(|limit| limit.is_finite()) {
        row(ui, "", "", |ui| {
            hint(ui, &format!("Stable up to {} in this medium.", unit.show(limit, 4)));
        });
    }
    row(ui, "", "", |ui| {
        if ui
            .checkbox(&mut auto, "automatic Δt")
            .on_hover_text(format!("Δt = {}. {}", unit.show(advice.auto, 3), advice.because))
            .changed()
        {
            file.time.step = if auto { None } else { Some(step) };
        }
    });
    if let Some(limit) = advice.stability_limit.filter(|limit| step > *limit) {
        let most = unit.show(0.98 * limit, 3);
        warning(
            ui,
            &format!("Unstable in this medium, and not applied: choose at most {most}, or automatic Δt."),
        );
    } else if standing.refused {
        warning(ui, "This edit is not applied: the banner over the picture says why.");
    } else if step > advice.sensible * 1.0001 && standing.own_step {
        hint(
            ui,
            "Larger than recommended by the scene's own choice: its lesson says what that changes.",
        );
    } else if step > advice.sensible * 1.0001 {
        warning(ui, "Larger than recommended: stable, but no longer accurate.");
    }
}

/// The largest Δt that the slider reaches.
fn reach(advice: &StepAdvice, present: f64) -> f64 {
    let limit = advice.stability_limit.unwrap_or(advice.sensible * 4.0);
    (limit.max(advice.sensible) * 1.25).max(present)
}

/// A thin bar under the slider: recommended, stable, beyond.
fn range_bar(ui: &mut Ui, advice: &StepAdvice, low: f64, high: f64, step: f64) {
    row(ui, "", "", |ui| {
        let width = (ui.available_width() - SLIDER_VALUE).max(40.0);
        let (rect, response) = ui.allocate_exact_size(vec2(width, 8.0), Sense::hover());
        let palette = theme::palette(ui);
        let x = |value: f64| {
            let at = (value.max(low) / low).ln() / (high / low).ln();
            egui::lerp(rect.left()..=rect.right(), at.clamp(0.0, 1.0) as f32)
        };
        let band = |from: f32, to: f32, color| {
            let band = egui::Rect::from_min_max(egui::pos2(from, rect.top() + 2.0), egui::pos2(to, rect.top() + 5.0));
            ui.painter().rect_filled(band, 1.5, color);
        };
        let recommended = x(advice.sensible);
        let stable = advice.stability_limit.map_or(rect.right(), x);
        band(rect.left(), recommended, palette.right);
        band(recommended, stable.max(recommended), palette.warning);
        band(stable.max(recommended), rect.right(), palette.wrong);
        ui.painter()
            .vline(x(step), rect.y_range(), egui::Stroke::new(2.0, palette.strong));
        response.on_hover_text("Green: recommended. Amber: stable, but inaccurate. Red: unstable.");
    });
}

fn speed_row(ui: &mut Ui, steps_per_frame: &mut Option<u64>) -> Option<Command> {
    let before = *steps_per_frame;
    row(
        ui,
        "Steps per frame",
        "Speed, apart from Δt: how many steps are taken between two pictures. Automatic takes as many as fit into a frame.",
        |ui| {
            let auto = ui.selectable_label(before.is_none(), "auto");
            if auto.clicked() {
                *steps_per_frame = if before.is_none() { Some(8) } else { None };
            }
            if let Some(steps) = steps_per_frame {
                ui.spacing_mut().slider_width = (ui.available_width() - 64.0).max(40.0);
                let slider = ui.add(egui::Slider::new(steps, 1..=MOST_STEPS).logarithmic(true));
                to_ends(ui, &slider, steps, 1..=MOST_STEPS);
            }
        },
    );
    (*steps_per_frame != before).then_some(Command::StepsPerFrame(*steps_per_frame))
}

/// Twice or half as many steps per frame.
#[must_use]
pub fn change_speed(steps: Option<u64>, running: u64, faster: bool) -> Option<u64> {
    let steps = steps.unwrap_or(running.max(1));
    Some(if faster { steps * 2 } else { steps / 2 }.clamp(1, MOST_STEPS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::units::NONE;

    /// A Δt beyond the advice is called what `ripplon check` calls it.
    #[test]
    fn a_large_step_is_larger_than_recommended() {
        let text = "format = 1\n[grid]\nsize = [40]\nspacing = 1.0\n[quantum]\n[time]\nstep = 0.3\n\
                    [[packet]]\ncenter = [20.0]\nwidth = [4.0]\n";
        let (mut file, _) = solver::read_scene_text(text, None, &[]).unwrap();
        let advice = StepAdvice {
            auto: 0.1,
            sensible: 0.2,
            stability_limit: None,
            because: "",
        };
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(420.0, 500.0));
        let shapes = theme::drawn(screen, |ui| {
            step_rows(ui, &mut file, &advice, 0.3, (NONE, Standing::default()));
        });
        let told: Vec<String> = theme::texts(&shapes).into_iter().map(|(text, _)| text).collect();
        assert!(
            told.iter().any(|text| text.contains("Larger than recommended")),
            "{told:?}"
        );
        assert!(!told.iter().any(|text| text.contains("ensible")), "{told:?}");
    }
}
