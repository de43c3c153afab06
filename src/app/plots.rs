//! Plots under the picture: norm, energy, position, line cut, detectors.

use super::carpet::Carpet;
use super::gain_plot;
use super::history::{FIXED, History};
use super::mirror_plots;
use super::theme;
use super::units::{Along, Units};
use super::view_state::{Cut, ViewState};
use super::widgets::{figure, round_above};
use crate::colormap::Colormap;
use crate::engine::Frame;
use crate::physics::Equation;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui, vec2};
use egui_plot::{AxisHints, GridMark, Line, Plot, PlotBounds, PlotPoints};
use std::ops::RangeInclusive;

/// Height of a line of a plot's caption.
const LINE: f32 = 16.0;

/// Powers below this share of the strongest line are drawn as this.
const LEAST_POWER: f64 = 1e-12;

/// Height of a plot's title, of the names of its lines, and of the gap below.
const CAPTION: f32 = 40.0;

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
    /// The detectors' power by frequency.
    Spectrum,
    /// How good the focus of a mirror is.
    Fidelity,
    /// What its transducers hear and play.
    Signals,
    /// The focus before and after.
    Focus,
    /// The line cut over time.
    Carpet,
    /// How far two runs are apart.
    Difference,
    /// The focus of each way back, over transducers and record.
    Gain,
}

impl Kind {
    /// Every plot with its title and what it shows.
    pub const ALL: [(Self, &'static str, &'static str); 13] = [
        (
            Self::Cut,
            "Line cut",
            "Values along the dashed line in the picture; drag the line to move it.",
        ),
        (
            Self::Carpet,
            "Carpet",
            "The values along the dashed line over the whole run: place across, time upwards. It begins anew where the line is moved.",
        ),
        (
            Self::Position,
            "Position",
            "Mean position, weighted with |ψ|² (sound: p²).",
        ),
        (
            Self::Spread,
            "Spread",
            "Standard deviation of the position along each axis.",
        ),
        (
            Self::Norm,
            "Norm",
            "Norm (sound: energy) over its value at t = 0, minus 1. Without absorption the scheme keeps it at rounding level.",
        ),
        (
            Self::Energy,
            "Energy",
            "Mean of H per norm, with (g/2)|ψ|⁴ where the wave interacts (sound: the energy that the scheme conserves).",
        ),
        (Self::Detectors, "Detectors", "What the scene's detectors record."),
        (
            Self::Spectrum,
            "Spectrum",
            "What the scene's detectors record, by frequency: mean off, Hann window, FFT. Decades of the power, down to 10⁻¹² of the strongest line.",
        ),
        (
            Self::Fidelity,
            "Fidelity",
            "|⟨ψ(0)|ψ⟩|² of the wave that a mirror brings back; where a source made it, the focus over the rms of the field.",
        ),
        (
            Self::Signals,
            "Signals",
            "What the transducers of a mirror hear and what they play: sensor over time, each at its own brightness.",
        ),
        (
            Self::Focus,
            "Focus",
            "The wave at t = 0 and the best focus on the way back, around the place where it began.",
        ),
        (
            Self::Gain,
            "Gain",
            "How far the focus stands out, for each way back that was taken: go back to the turn (U) and play with fewer transducers or less of the record. Dashed: the law √(transducers × record).",
        ),
        (
            Self::Difference,
            "Difference",
            "log₁₀ of ‖second − first‖ / ‖first‖ of the two runs that are compared.",
        ),
    ];

    /// The title in a scene of this equation.
    #[must_use]
    pub fn title(self, equation: Equation) -> &'static str {
        if (self, equation) == (Self::Norm, Equation::Acoustic) {
            return "Energy drift";
        }
        Self::ALL
            .iter()
            .find(|(known, _, _)| *known == self)
            .map_or("", |(_, title, _)| title)
    }
}

/// What the plots show beside the frame.
pub struct Records<'a> {
    /// Sums and detectors over time.
    pub history: &'a History,
    /// The line cut over time.
    pub carpet: &'a mut Carpet,
    /// The colours of the picture.
    pub map: &'static Colormap,
}

/// Shows the plots side by side.
pub fn show(ui: &mut Ui, shown: &mut Vec<Kind>, view: &mut ViewState, records: &mut Records<'_>, frame: &Frame) {
    // The panel keeps its height whatever stands in it.
    ui.set_min_size(ui.available_size());
    ui.spacing_mut().item_spacing.y = 4.0;
    let Some(scenario) = &frame.scenario else { return };
    let rank = scenario.grid().rank();
    let equation = scenario.model().equation();
    let has_detectors = !scenario.detectors().is_empty();
    let offered = |kind: Kind| match kind {
        Kind::Cut => rank > 1,
        Kind::Detectors | Kind::Spectrum => has_detectors,
        Kind::Fidelity | Kind::Focus => frame.mirror.is_some(),
        Kind::Signals => frame.mirror.as_ref().is_some_and(|mirror| mirror.status.heard > 0),
        Kind::Gain => gain_plot::offered(frame),
        Kind::Difference => frame.compared.is_some(),
        _ => true,
    };
    // Scenes with a mirror have more of them than a narrow window has room for.
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (kind, _, about) in Kind::ALL {
            if !offered(kind) {
                continue;
            }
            let on = shown.contains(&kind);
            let title = kind.title(equation);
            if ui.selectable_label(on, title).on_hover_text(about).clicked() {
                if on {
                    shown.retain(|other| *other != kind);
                } else {
                    shown.push(kind);
                }
            }
        }
        if (shown.contains(&Kind::Cut) || shown.contains(&Kind::Carpet)) && rank > 1 {
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
    let sources = Sources {
        view,
        history: records.history,
        frame,
        units: Units::of(scenario, frame.clock.time_step),
        rank,
    };
    let room = ui.available_size();
    let width = ((room.x - 8.0 * (all.len() - 1) as f32) / all.len() as f32).max(120.0);
    ui.horizontal(|ui| {
        for kind in all {
            ui.allocate_ui(vec2(width, room.y), |ui| {
                let size = vec2(width, room.y);
                ui.vertical(|ui| match kind {
                    Kind::Signals => mirror_plots::signals(ui, frame, size),
                    Kind::Focus => mirror_plots::focus(ui, frame, scenario, records.map, size),
                    Kind::Gain => gain_plot::show(ui, frame, &sources.units, size),
                    Kind::Carpet => {
                        caption(ui, &Carpet::heading(sources.view, frame), std::iter::empty(), width);
                        let (rect, _) = ui.allocate_exact_size(vec2(width, size.y - CAPTION), egui::Sense::hover());
                        let colors = (records.map, sources.view.levels);
                        records.carpet.show(ui, rect, colors, frame);
                    }
                    _ => one(ui, kind, kind.title(equation), size, &sources),
                });
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

/// What the plots are drawn from.
struct Sources<'a> {
    view: &'a ViewState,
    history: &'a History,
    frame: &'a Frame,
    units: Units,
    rank: usize,
}

/// A line with its name.
type Named = (String, Vec<[f64; 2]>);

/// The lines of a plot.
fn lines(kind: Kind, sources: &Sources<'_>, most: usize) -> Vec<Named> {
    let Sources {
        view,
        history,
        frame,
        units,
        rank,
    } = sources;
    let over_time = |column: usize, scale: f64| {
        let mut points = history.points(column, most);
        for [t, value] in &mut points {
            *t *= units.time.per;
            *value *= scale;
        }
        points
    };
    let axes = ["x", "y", "z"];
    match kind {
        Kind::Cut => vec![("cut".to_owned(), cut_points(view, frame, units))],
        Kind::Position => (0..*rank)
            .map(|n| (format!("mean {}", axes[n]), over_time(2 + n, units.length.per)))
            .collect(),
        Kind::Spread => (0..*rank)
            .map(|n| (format!("σ{}", axes[n]), over_time(5 + n, units.length.per)))
            .collect(),
        Kind::Norm => vec![("norm − 1".to_owned(), over_time(0, 1.0))],
        Kind::Energy => vec![("energy".to_owned(), over_time(1, 1.0))],
        Kind::Detectors => frame
            .scenario
            .iter()
            .flat_map(|scenario| scenario.detectors())
            .enumerate()
            .map(|(n, detector)| (detector.name.clone(), over_time(FIXED + n, 1.0)))
            .collect(),
        Kind::Spectrum => spectra(frame, units, most),
        Kind::Fidelity => {
            let contrast = is_contrast(frame);
            let mut points = history.mirror(if contrast { 2 } else { 0 }, most);
            for point in &mut points {
                point[0] *= units.time.per;
            }
            vec![(mirror_plots::summary(frame, units.length), points)]
        }
        Kind::Difference => {
            let mut points = history.differences(most);
            for [t, _] in &mut points {
                *t *= units.time.per;
            }
            vec![("difference".to_owned(), points)]
        }
        // They have no lines.
        Kind::Signals | Kind::Focus | Kind::Carpet | Kind::Gain => Vec::new(),
    }
}

/// Whether a mirror is judged by its contrast: a source leaves nothing at t = 0 to compare with.
fn is_contrast(frame: &Frame) -> bool {
    let found = frame.mirror.as_ref().and_then(|mirror| mirror.refocus);
    found.is_some_and(|(_, _, found)| found.fidelity == 0.0)
}

/// The title of a plot: what over what, with units.
fn heading(kind: Kind, title: &str, sources: &Sources<'_>) -> String {
    let units = sources.units;
    let along = |axis| {
        let frame = sources.frame;
        let title = |scenario: &_| Along::of(scenario, frame.image.quantity, axis, units.length).title();
        frame.scenario.as_deref().map_or(String::new(), title)
    };
    let over = match (kind, sources.view.cut) {
        (Kind::Cut, Cut::Row) => along(0),
        (Kind::Cut, Cut::Column) => along(1),
        (Kind::Spectrum, _) if sound(sources.frame) => "f (Hz)".to_owned(),
        (Kind::Spectrum, _) => "ω".to_owned(),
        _ => units.time.after("t"),
    };
    let what = match kind {
        Kind::Position | Kind::Spread => units.length.after(title),
        Kind::Energy if sound(sources.frame) => format!("{title} (J)"),
        Kind::Spectrum => "log₁₀ power".to_owned(),
        Kind::Fidelity if is_contrast(sources.frame) => "Focus over rms".to_owned(),
        Kind::Difference => "log₁₀ difference".to_owned(),
        _ => title.to_owned(),
    };
    format!("{what} over {over}")
}

fn one(ui: &mut Ui, kind: Kind, title: &str, size: egui::Vec2, sources: &Sources<'_>) {
    let palette = theme::palette(ui);
    // As many points as pixels say all that can be seen.
    let lines = lines(kind, sources, (size.x as usize).max(64));
    let several = lines.len() > 1;
    let colors: Vec<Color32> = (0..lines.len())
        .map(|n| if several { theme::line(ui, n) } else { palette.accent })
        .collect();
    let names = lines.iter().map(|(name, _)| name.as_str()).zip(colors.iter().copied());
    let names = names.filter(|_| several || kind == Kind::Fidelity);
    caption(ui, &heading(kind, title, sources), names, size.x);
    let bounds = bounds(kind, &lines, sources.view);
    Plot::new(("plot", kind as u8))
        .height((size.y - CAPTION).max(48.0))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .show_background(false)
        .set_margin_fraction(vec2(0.0, 0.0))
        // Room for five figures between two marks.
        .x_grid_spacer(move |input| marks(&input, f64::from(size.x - 52.0) / 48.0))
        .y_grid_spacer(move |input| marks(&input, f64::from(size.y - CAPTION) / 28.0))
        .grid_spacing(1.0..=40.0)
        .custom_x_axes(vec![AxisHints::new_x().formatter(tick).label_spacing(16.0..=24.0)])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .formatter(tick)
                .min_thickness(52.0)
                .label_spacing(14.0..=20.0),
        ])
        .label_formatter(|_| None)
        .grid_color(palette.line)
        .show(ui, |plot| {
            for ((name, points), color) in lines.into_iter().zip(colors) {
                plot.line(Line::new(name, PlotPoints::from(points)).color(color).width(1.5));
            }
            plot.set_plot_bounds(bounds);
        });
}

/// The title of a plot and, under it, the names of its lines in their colours: over the plot they would hide what they
/// explain.
fn caption<'a>(ui: &mut Ui, heading: &str, names: impl Iterator<Item = (&'a str, Color32)>, width: f32) {
    let font = FontId::proportional(11.5);
    let mut whole = String::new();
    let mut job = LayoutJob::default();
    for (name, color) in names {
        let gap = if whole.is_empty() { 0.0 } else { 8.0 };
        job.append(name, gap, TextFormat::simple(font.clone(), color));
        whole.push_str(name);
        whole.push_str("  ");
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let line = |job: LayoutJob| egui::Label::new(job).truncate();
    let weak = theme::palette(ui).weak;
    ui.allocate_ui(vec2(width, LINE), |ui| {
        ui.set_min_height(LINE);
        ui.add(line(LayoutJob::single_section(
            heading.to_owned(),
            TextFormat::simple(font, weak),
        )));
    });
    ui.allocate_ui(vec2(width, LINE), |ui| {
        ui.set_min_height(LINE);
        if !whole.is_empty() {
            ui.add(line(job)).on_hover_text(whole.trim());
        }
    });
    ui.add_space(CAPTION - 2.0 * LINE);
}

fn sound(frame: &Frame) -> bool {
    let scenario = frame.scenario.as_deref();
    scenario.is_some_and(|scenario| scenario.model().equation() == Equation::Acoustic)
}

/// The label of a mark, with as many decimals as its neighbours differ by.
fn tick(mark: GridMark, _range: &RangeInclusive<f64>) -> String {
    // Rounding noise at zero is zero.
    let value = if mark.value.abs() < mark.step_size * 1e-6 {
        0.0
    } else {
        mark.value
    };
    let steps = (value / mark.step_size).abs().max(1.0);
    figure(value, 1 + steps.log10().ceil() as usize)
}

/// At most `most` marks at round numbers.
fn marks(input: &egui_plot::GridInput, most: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
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

/// Decades of power over frequency, one line a detector, as far as any of them has something to say: f in sound, ω = 2πf in quantum scenes.
fn spectra(frame: &Frame, units: &Units, most: usize) -> Vec<Named> {
    let Some(scenario) = &frame.scenario else {
        return Vec::new();
    };
    let per_cycle = if units.time.name.is_empty() {
        std::f64::consts::TAU
    } else {
        1.0
    };
    let found = frame.spectra.iter().flatten();
    let highest = found
        .map(|one| one.reach(LEAST_POWER) as f64 * one.step)
        .fold(0.0, f64::max)
        * 1.1;
    let named = scenario.detectors().iter().zip(frame.spectra.iter());
    named
        .map(|(detector, spectrum)| {
            let points = spectrum.as_ref().map_or(Vec::new(), |spectrum| {
                let shown = ((highest / spectrum.step) as usize).min(spectrum.power.len());
                let together = shown.div_ceil(most).max(1);
                let largest = spectrum.power.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                // Of frequencies that share a pixel the strongest is seen.
                let part = |(n, powers): (usize, &[f64])| {
                    let place = (n * together) as f64 + (powers.len() - 1) as f64 / 2.0;
                    let power = powers.iter().copied().fold(0.0, f64::max);
                    [
                        place * spectrum.step * per_cycle,
                        power.max(largest * LEAST_POWER).log10(),
                    ]
                };
                spectrum.power[..shown].chunks(together).enumerate().map(part).collect()
            });
            (detector.name.clone(), points)
        })
        .collect()
}

/// Values along the cut, over lengths or momenta.
fn cut_points(view: &ViewState, frame: &Frame, units: &Units) -> Vec<[f64; 2]> {
    let image = &frame.image;
    let Some(scenario) = &frame.scenario else {
        return Vec::new();
    };
    let [width, height] = image.size;
    if image.value.len() != width * height || width == 0 || image.reduction == 0 {
        return Vec::new();
    }
    let place = |axis: usize, n: usize| {
        let along = Along::of(scenario, image.quantity, axis, units.length);
        along.at(image.origin[axis] as f64 + (n as f64 + 0.5) * image.reduction as f64 - 0.5) * along.unit.per
    };
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
