//! What a class predicted, as dots over a scale, and what was measured, as a bar through them.

use super::theme;
use super::widgets::{axis_label, figure, round_below};
use egui::{Align2, FontId, Stroke, Ui, pos2, vec2};

/// Height of the dots and of the scale below them.
const DOTS: f32 = 72.0;
const SCALE: f32 = 24.0;

/// Dots that stand in one column at most; more of them stand closer.
const COLUMN: usize = 8;

/// The value in the middle of all; of an even number of them the mean of both.
#[must_use]
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// The values at the ends of the scale: all guesses and what was measured, with air.
fn ends(values: &[f64], measured: Option<f64>) -> [f64; 2] {
    let all = values.iter().copied().chain(measured);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let air = if high > low {
        0.08 * (high - low)
    } else {
        low.abs().max(1.0) * 0.1
    };
    [low - air, high + air]
}

/// How many of the values before each stand in its column, of so many columns over the scale.
fn stacked(values: &[f64], [low, high]: [f64; 2], columns: usize) -> Vec<(usize, usize)> {
    let mut heights = vec![0; columns];
    values
        .iter()
        .map(|value| {
            let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
            let column = ((part * columns as f64) as usize).min(columns - 1);
            heights[column] += 1;
            (column, heights[column] - 1)
        })
        .collect()
}

/// Draws them over the width that there is.
pub fn strip(ui: &mut Ui, values: &[f64], measured: Option<f64>) {
    let palette = theme::palette(ui);
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, DOTS + SCALE), egui::Sense::hover());
    let range = ends(values, measured);
    let x_of = |value: f64| {
        egui::remap(
            value,
            range[0]..=range[1],
            f64::from(rect.left())..=f64::from(rect.right()),
        ) as f32
    };
    let base = rect.top() + DOTS;
    let painter = ui.painter_at(rect);
    painter.hline(rect.x_range(), base, Stroke::new(1.0, palette.line));
    let step = round_below((range[1] - range[0]) / 5.0);
    let mut tick = (range[0] / step).ceil() * step;
    while tick <= range[1] {
        let label = axis_label(tick, step, range[0].abs().max(range[1].abs()));
        let font = FontId::proportional(11.5);
        painter.text(
            pos2(x_of(tick), base + 4.0),
            Align2::CENTER_TOP,
            label,
            font,
            palette.weak,
        );
        tick += step;
    }
    let radius = 4.0_f32;
    let columns = ((width / (2.5 * radius)) as usize).max(1);
    let places = stacked(values, range, columns);
    let highest = places.iter().map(|(_, height)| height + 1).max().unwrap_or(1);
    let rise = (DOTS - 2.0 * radius) / highest.max(COLUMN) as f32;
    for (column, height) in places {
        let x = rect.left() + (column as f32 + 0.5) * width / columns as f32;
        let y = base - radius - 2.0 - rise * height as f32;
        painter.circle_filled(pos2(x, y), radius, palette.accent);
    }
    let mut words = format!("{} said, {} in the middle", values.len(), figure(median(values), 3));
    if let Some(value) = measured {
        painter.vline(x_of(value), rect.top()..=base, Stroke::new(3.0, palette.right));
        words = format!("{words}; measured {}", figure(value, 4));
    }
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &words));
    ui.label(egui::RichText::new(words).size(13.0).color(palette.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_guesses() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn equal_guesses_stand_on_each_other_and_all_stand_within_the_scale() {
        let values = [0.1, 0.5, 0.1, 0.9, 0.1];
        let range = ends(&values, Some(1.3));
        assert!(range[0] < 0.1 && range[1] > 1.3);
        let places = stacked(&values, range, 10);
        let first = places[0].0;
        assert_eq!([places[0], places[2], places[4]], [(first, 0), (first, 1), (first, 2)]);
        assert!(places.iter().all(|(column, _)| *column < 10) && places[3].0 > places[1].0);
        // One value alone has a scale all the same.
        let [low, high] = ends(&[2.0], None);
        assert!(low < 2.0 && high > 2.0);
    }
}
