//! Plots under the picture: norm, energy, position, line cut, detectors.

use super::history::{FIXED, History};
use super::theme;
use super::view_state::{Cut, ViewState};
use super::widgets::{figure, round_below};
use crate::engine::Frame;
use egui::{Color32, Ui, vec2};
use egui_plot::{AxisHints, Corner, GridMark, Legend, Line, Plot, PlotBounds, PlotPoints};
use std::ops::RangeInclusive;

/// One plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// Values along a row or column of the picture.
    Cut,
    /// Mean x, y, z.
    Position,
    /// σx, σy, σz.
    Spread,
    /// Norm over its first value, minus 1.
    Norm,
    /// Mean of H.
    Energy,
    /// The detectors.
    Detectors,
}

impl Kind {
    /// Every plot with its title and what it shows.
    pub const ALL: [(Self, &'static str, &'static str); 6] = [
        (
            Self::Cut,
            "Line cut",
            "Values along the dashed line in the picture; drag the line to move it.",
        ),
        (Self::Position, "Position", "Mean position, weighted with |ψ|²."),
        (
            Self::Spread,
            "Spread",
            "Standard deviation of the position along each axis.",
        ),
        (
            Self::Norm,
            "Norm",
            "Norm over its value at t = 0, minus 1. A unitary scheme keeps it at rounding level.",
        ),
        (
            Self::Energy,
            "Energy",
            "Mean of H per norm, with (g/2)|ψ|^4 where the wave interacts.",
        ),
        (Self::Detectors, "Detectors", "What the scene's detectors record."),
    ];
}

/// Colours of several lines in one plot: Okabe and Ito's set, told apart by colour-blind eyes too.
const LINES: [Color32; 6] = [
    Color32::from_rgb(0x56, 0xb4, 0xe9),
    Color32::from_rgb(0xe6, 0x9f, 0x00),
    Color32::from_rgb(0x00, 0x9e, 0x73),
    Color32::from_rgb(0xcc, 0x79, 0xa7),
    Color32::from_rgb(0xd5, 0x5e, 0x00),
    Color32::from_rgb(0xf0, 0xe4, 0x42),
];

/// Shows the plots side by side.
pub fn show(ui: &mut Ui, shown: &mut Vec<Kind>, view: &mut ViewState, history: &History, frame: &Frame) {
    // The panel keeps its height whatever stands in it.
    ui.set_min_size(ui.available_size());
    let Some(scenario) = &frame.scenario else { return };
    let rank = scenario.grid().rank();
    let has_detectors = !scenario.detectors().is_empty();
    let offered = |kind: Kind| match kind {
        Kind::Cut => rank > 1,
        Kind::Detectors => has_detectors,
        _ => true,
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (kind, title, about) in Kind::ALL {
            if !offered(kind) {
                continue;
            }
            let on = shown.contains(&kind);
            if ui.selectable_label(on, title).on_hover_text(about).clicked() {
                if on {
                    shown.retain(|other| *other != kind);
                } else {
                    shown.push(kind);
                }
            }
        }
        if shown.contains(&Kind::Cut) && rank > 1 {
            ui.add_space(8.0);
            ui.separator();
            cut_choice(ui, view, scenario.grid().size());
        }
    });
    let all: Vec<Kind> = shown.iter().copied().filter(|kind| offered(*kind)).collect();
    if all.is_empty() {
        super::widgets::hint(ui, "Choose what to plot.");
        return;
    }
    let room = ui.available_size();
    let width = ((room.x - 8.0 * (all.len() - 1) as f32) / all.len() as f32).max(120.0);
    ui.horizontal(|ui| {
        for kind in all {
            ui.allocate_ui(vec2(width, room.y), |ui| {
                ui.vertical(|ui| one(ui, kind, vec2(width, room.y), view, history, frame, rank));
            });
        }
    });
}

fn cut_choice(ui: &mut Ui, view: &mut ViewState, size: [usize; 3]) {
    let before = view.cut;
    ui.selectable_value(&mut view.cut, Cut::Row, "along x");
    ui.selectable_value(&mut view.cut, Cut::Column, "along y");
    if view.cut != before {
        let axis = usize::from(view.cut == Cut::Row);
        view.cut_at = size[axis] as f64 / 2.0;
    }
}

fn one(ui: &mut Ui, kind: Kind, size: egui::Vec2, view: &ViewState, history: &History, frame: &Frame, rank: usize) {
    let palette = theme::palette(ui);
    // As many points as pixels say all that can be seen.
    let most = (size.x as usize).max(64);
    let axes = ["x", "y", "z"];
    let lines: Vec<(String, Vec<[f64; 2]>)> = match kind {
        Kind::Cut => vec![("cut".to_owned(), cut_points(view, frame))],
        Kind::Position => (0..rank)
            .map(|n| (format!("mean {}", axes[n]), history.points(2 + n, most)))
            .collect(),
        Kind::Spread => (0..rank)
            .map(|n| (format!("σ{}", axes[n]), history.points(5 + n, most)))
            .collect(),
        Kind::Norm => vec![("norm − 1".to_owned(), history.points(0, most))],
        Kind::Energy => vec![("energy".to_owned(), history.points(1, most))],
        Kind::Detectors => frame
            .scenario
            .iter()
            .flat_map(|scenario| scenario.detectors())
            .enumerate()
            .map(|(n, detector)| (detector.name.clone(), history.points(FIXED + n, most)))
            .collect(),
    };
    let title = Kind::ALL
        .iter()
        .find(|(known, _, _)| *known == kind)
        .map_or("", |(_, title, _)| title);
    let axis = match (kind, view.cut) {
        (Kind::Cut, Cut::Row) => "x",
        (Kind::Cut, Cut::Column) => "y",
        _ => "t",
    };
    let heading = format!("{title} over {axis}");
    ui.spacing_mut().item_spacing.y = 8.0;
    ui.label(egui::RichText::new(heading).size(11.5).color(palette.weak));
    let several = lines.len() > 1;
    let bounds = bounds(kind, &lines, view);
    let mut plot = Plot::new(("plot", kind as u8))
        .height((size.y - 24.0).max(48.0))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_background(false)
        .set_margin_fraction(vec2(0.0, 0.0))
        .x_grid_spacer(|input| marks(&input, 6.0))
        .y_grid_spacer(|input| marks(&input, 3.0))
        .grid_spacing(1.0..=40.0)
        .custom_x_axes(vec![AxisHints::new_x().formatter(tick).label_spacing(24.0..=40.0)])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .formatter(tick)
                .min_thickness(52.0)
                .label_spacing(14.0..=20.0),
        ])
        .label_formatter(|_| None)
        .grid_color(palette.line);
    if several {
        plot = plot.legend(Legend::default().position(Corner::RightTop).background_alpha(0.5));
    }
    plot.show(ui, |plot| {
        for (n, (name, points)) in lines.into_iter().enumerate() {
            let color = if several {
                LINES[n % LINES.len()]
            } else {
                palette.accent
            };
            plot.line(Line::new(name, PlotPoints::from(points)).color(color).width(1.5));
        }
        plot.set_plot_bounds(bounds);
    });
}

fn tick(mark: GridMark, _range: &RangeInclusive<f64>) -> String {
    // Rounding noise at zero is zero.
    let value = if mark.value.abs() < mark.step_size * 1e-6 {
        0.0
    } else {
        mark.value
    };
    figure(value, 3)
}

/// About `wanted` marks at round numbers.
fn marks(input: &egui_plot::GridInput, wanted: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let step_size = round_below((high - low) / wanted);
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
fn bounds(kind: Kind, lines: &[(String, Vec<[f64; 2]>)], view: &ViewState) -> PlotBounds {
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for point in lines.iter().flat_map(|(_, points)| points) {
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
        let least = if axis == 0 { 1e-9 } else { (size * 1e-6).max(1e-12) };
        if high[axis] - low[axis] < least {
            let middle = f64::midpoint(low[axis], high[axis]);
            (low[axis], high[axis]) = (middle - least, middle + least);
        }
    }
    let air = 0.06 * (high[1] - low[1]);
    PlotBounds::from_min_max([low[0], low[1] - air], [high[0], high[1] + air])
}

/// Values along the cut, over lengths.
fn cut_points(view: &ViewState, frame: &Frame) -> Vec<[f64; 2]> {
    let image = &frame.image;
    let Some(scenario) = &frame.scenario else {
        return Vec::new();
    };
    let a = scenario.grid().spacing();
    let [width, height] = image.size;
    if image.value.len() != width * height || width == 0 || image.reduction == 0 {
        return Vec::new();
    }
    let place =
        |axis: usize, n: usize| (image.origin[axis] as f64 + (n as f64 + 0.5) * image.reduction as f64 - 0.5) * a;
    let texel = |axis: usize| {
        let at = (view.cut_at - image.origin[axis] as f64) / image.reduction as f64;
        (at >= 0.0 && at < image.size[axis] as f64).then_some(at as usize)
    };
    match view.cut {
        Cut::Row => texel(1).map_or(Vec::new(), |row| {
            (0..width)
                .map(|n| [place(0, n), f64::from(image.value[n + width * row])])
                .collect()
        }),
        Cut::Column => texel(0).map_or(Vec::new(), |column| {
            (0..height)
                .map(|n| [place(1, n), f64::from(image.value[column + width * n])])
                .collect()
        }),
    }
}
