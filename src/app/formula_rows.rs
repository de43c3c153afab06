//! A formula in a line of its own, with a slider for each of its constants and what is wrong with it.

use super::number::tidy;
use super::widgets::{fault, row, to_ends};
use crate::physics::expression::Expression;
use crate::physics::expression::constants::{constants, with_value};
use egui::Ui;

/// Edits a formula of `variables`; `name` for screen readers, `hint` where nothing is written.
pub fn formula_rows(ui: &mut Ui, text: &mut String, (name, hint): (&str, &str), variables: &'static [&'static str]) {
    ui.add(
        egui::TextEdit::singleline(text)
            .font(egui::TextStyle::Monospace)
            .desired_width(f32::INFINITY)
            .hint_text(hint),
    )
    .accessible_name(name);
    constant_rows(ui, text);
    if let Err(error) = Expression::parse(text, variables) {
        fault(ui, &error.to_string());
    }
}

/// A slider for each constant in front of a formula.
fn constant_rows(ui: &mut Ui, text: &mut String) {
    for constant in constants(text) {
        let mut value = constant.value;
        let reach = 2.0 * value.abs().max(0.5);
        let [low, high] = constant.range.unwrap_or([-reach, reach]);
        // Whole thousandths of the range: the formula stays short.
        let step = (high - low) / 1000.0;
        row(
            ui,
            &constant.name,
            "A constant of the formula: name = value in [from, to].",
            |ui| {
                ui.spacing_mut().slider_width = (ui.available_width() - 72.0).max(40.0);
                let slider = ui.add(
                    egui::Slider::new(&mut value, low..=high)
                        .step_by(step)
                        .clamping(egui::SliderClamping::Never),
                );
                to_ends(ui, &slider, &mut value, low..=high);
            },
        );
        if value != constant.value && value.is_finite() {
            *text = with_value(text, &constant, tidy(value));
            // The places of the others have moved.
            return;
        }
    }
}
