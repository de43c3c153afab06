//! The axes of plots: how far they reach, and their marks.

use super::Kind;
use crate::app::theme;
use crate::app::view_state::ViewState;
use crate::app::widgets::{axis_label, figure, round_above, round_below};
use egui::vec2;
use egui_plot::{AxisHints, GridMark, HoverPosition, Plot, PlotBounds};
use std::ops::RangeInclusive;

/// Points that the figures of an upright axis take.
const FIGURES: f32 = 52.0;

/// A plot of this size that the pointer leaves alone: what it shows follows the run. Its axes have marks at round numbers, all of one form and strength, with room between them.
pub(in crate::app) fn still<'a>(plot: Plot<'a>, size: egui::Vec2, palette: &theme::Palette) -> Plot<'a> {
    let size = vec2(size.x, size.y.max(48.0));
    plot.height(size.y)
        // Room for five figures between two marks.
        .x_grid_spacer(move |input| marks(input.bounds, f64::from(size.x - FIGURES) / 48.0))
        .y_grid_spacer(move |input| upright_marks(input.bounds, size.y))
        .grid_spacing(1.0..=40.0)
        .custom_x_axes(vec![
            AxisHints::new_x()
                .formatter(move |mark, range| tick_within(&mark, range, size.x - FIGURES))
                .label_spacing(16.0..=24.0),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .formatter(|mark, range| tick(&mark, range))
                .min_thickness(FIGURES)
                .label_spacing(6.0..=LEAST_APART),
        ])
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_background(false)
        // Lines through the pointer without a value would say nothing.
        .show_crosshair(false)
        .label_formatter(value_at)
        .grid_color(palette.line)
}

/// The value of a line that the pointer is on.
fn value_at(place: &HoverPosition<'_>) -> Option<String> {
    let HoverPosition::NearDataPoint {
        plot_name, position, ..
    } = place
    else {
        return None;
    };
    let value = format!("{} at {}", figure(position.y, 4), figure(position.x, 4));
    Some(if plot_name.is_empty() {
        value
    } else {
        format!("{plot_name}: {value}")
    })
}

/// The label of a mark, in the form that all labels of its axis have.
fn tick(mark: &GridMark, range: &RangeInclusive<f64>) -> String {
    axis_label(mark.value, mark.step_size, range.start().abs().max(range.end().abs()))
}

/// The same along x, where a label that the end of the plot would cut is left out.
fn tick_within(mark: &GridMark, range: &RangeInclusive<f64>, width: f32) -> String {
    /// Points that a figure takes, at most.
    const FIGURE: f64 = 7.0;
    let label = tick(mark, range);
    let per_point = (range.end() - range.start()) / f64::from(width.max(1.0));
    let half = 0.5 * FIGURE * label.chars().count() as f64 * per_point;
    if mark.value + half > *range.end() {
        String::new()
    } else {
        label
    }
}

/// Points from mark to mark of an upright axis, as a rule and at least: the figures are that high.
const APART: f32 = 28.0;
const LEAST_APART: f32 = 8.0;

/// Marks of the upright axis of a plot of this height, closer to each other where else a single one would stand, which says nothing of how high a curve is.
fn upright_marks((low, high): (f64, f64), height: f32) -> Vec<GridMark> {
    let usual = marks((low, high), f64::from(height / APART));
    if usual.len() > 1 {
        return usual;
    }
    let step = round_below(low.abs().max(high.abs()));
    let closer = marks((low, high), (high - low) / step);
    if closer.len() > 1 { closer } else { usual }
}

/// At most `most` marks at round numbers.
fn marks((low, high): (f64, f64), most: f64) -> Vec<GridMark> {
    let step_size = round_above((high - low) / most.max(1.0));
    if step_size <= 0.0 || !step_size.is_finite() {
        return Vec::new();
    }
    let first = (low / step_size).ceil() as i64;
    let last = (high / step_size).floor() as i64;
    (first..=last.min(first + 64))
        .map(|n| GridMark {
            value: n as f64 * step_size,
            step_size,
        })
        .collect()
}

/// Bounds with a little air, that never collapse.
pub(super) fn bounds<'a>(kind: Kind, points: impl Iterator<Item = &'a [f64; 2]>, view: &ViewState) -> PlotBounds {
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for point in points {
        for axis in 0..2 {
            if point[axis].is_finite() {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
    }
    if kind == Kind::Cut {
        low[1] = f64::from(view.levels.low);
        high[1] = f64::from(view.levels.high);
    }
    for axis in 0..2 {
        if low[axis] > high[axis] {
            (low[axis], high[axis]) = (0.0, 1.0);
        }
        let size = low[axis].abs().max(high[axis].abs());
        if axis == 1 && size == 0.0 {
            // Nothing but zeros so far: no range of rounding errors around them.
            (low[axis], high[axis]) = (-1.0, 1.0);
            continue;
        }
        // A position that only rounding moves is a straight line.
        let share = if matches!(kind, Kind::Position | Kind::Spread) {
            1e-3
        } else {
            1e-6
        };
        let least = if axis == 0 { 1e-9 } else { (size * share).max(1e-12) };
        if high[axis] - low[axis] < least && axis == 0 {
            // A single record.
            high[axis] = low[axis] + 1.0;
        } else if high[axis] - low[axis] < least {
            let middle = f64::midpoint(low[axis], high[axis]);
            (low[axis], high[axis]) = (middle - least, middle + least);
        }
    }
    let air = 0.06 * (high[1] - low[1]);
    PlotBounds::from_min_max([low[0], low[1] - air], [high[0], high[1] + air])
}

#[cfg(test)]
mod tests {
    use super::{LEAST_APART, upright_marks, value_at};
    use egui_plot::{HoverPosition, PlotPoint};

    /// In low plots around zero as well.
    #[test]
    fn an_upright_axis_has_more_than_one_number() {
        for height in [62.0_f32, 80.0, 110.0, 300.0] {
            for high in [1.0, 1.7, 3.6, 5.0, 7.2, 9.9] {
                let marks = upright_marks((-1.06 * high, 1.06 * high), height);
                assert!(marks.len() > 1, "{height} {high}");
                let apart = marks[0].step_size / (2.12 * high) * f64::from(height - 20.0);
                assert!(apart >= f64::from(LEAST_APART) - 1e-9, "{height} {high}: {apart}");
            }
        }
    }

    #[test]
    fn a_line_tells_its_value_where_the_pointer_is_on_it() {
        let position = PlotPoint::new(83.2, 140.0);
        let on = |plot_name| {
            value_at(&HoverPosition::NearDataPoint {
                plot_name,
                position,
                index: 0,
            })
        };
        assert_eq!(on("mean x").as_deref(), Some("mean x: 140 at 83.2"));
        assert_eq!(on("").as_deref(), Some("140 at 83.2"));
        assert_eq!(value_at(&HoverPosition::Elsewhere { position }), None);
    }
}
