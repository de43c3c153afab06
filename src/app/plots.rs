//! Plots under the picture: norm, energy, position, line cut, detectors.

mod axes;
mod line_names;

use super::carpet::Carpet;
use super::history::History;
use super::plot_lines::{Part, Sources, heading, lines, theory};
use super::units::Units;
use super::view_state::{Cut, ViewState, middle};
use super::widgets::Explained;
use super::{gain_plot, mirror_plots, theme};
use crate::colormap::Colormap;
use crate::engine::Frame;
use crate::physics::Equation;
pub use crate::scene::scenario::Plot as Kind;
use crate::scene::scenario::Quantity;
use axes::bounds;
pub(super) use axes::still;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, Ui, vec2};
use egui_plot::{Line, LineStyle, Plot, PlotPoints};

/// What is measured with pictures, in words.
const PER_PICTURE: &str = "Measured at most once a picture, not at every step: what swings faster than that is not seen as it is. Fewer steps a frame (−) show more of it; detectors record every step.";

/// Height of a line of a plot's caption.
const LINE: f32 = 16.0;

/// The least width of a plot.
const LEAST: f32 = 152.0;

/// Height of a plot's title, of the names of its lines, and of the gap below.
const CAPTION: f32 = 40.0;

impl Kind {
    /// Every plot with its title and what it shows.
    pub const ALL: [(Self, &'static str, &'static str); 20] = [
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
        (
            Self::Momentum,
            "Momentum",
            "Mean momentum ⟨p⟩ = Σ k|ψ(k)|² along each axis, ħ = 1.",
        ),
        (
            Self::Uncertainty,
            "Δx·Δp",
            "Product of the standard deviations of place and momentum along each axis. ½ is the least, and Gaussian packets have it.",
        ),
        (
            Self::AngularMomentum,
            "Angular momentum",
            "⟨L_z⟩ = ⟨x p_y − y p_x⟩ about the middle of the grid.",
        ),
        (
            Self::Overlap,
            "Overlap",
            "The autocorrelation ⟨ψ(0)|ψ(t)⟩, real and imaginary part, and its square, the probability to find the state of t = 0 again.",
        ),
        (
            Self::Participation,
            "Participation",
            "(Σ|ψ|²)²/Σ|ψ|⁴: how many sites the wave covers.",
        ),
        (
            Self::Purity,
            "Purity",
            "Tr ρ² of x alone: 1 where ψ is a product, less where x and y know of each other. Of two particles on a line, how pure the state of one is.",
        ),
        (
            Self::Marginals,
            "Marginals",
            "What is seen of |ψ|², summed along y and along x: of two particles on a line, where each of them is.",
        ),
        (
            Self::Detectors,
            "Detectors",
            "What the scene's detectors record; those with different units, or different measures of ψ, stand in plots of their own.",
        ),
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
            "What the transducers of a mirror hear and what they play: sensor over time, each at its own brightness; of up to eight, from the least to the greatest value at each moment.",
        ),
        (
            Self::Focus,
            "Focus",
            "The wave at t = 0 and the best focus on the way back, around the place where it began.",
        ),
        (
            Self::Gain,
            "Gain",
            "How far the focus stands out, for each way back that was taken: go back to the reversal (U) and play with fewer transducers or less of the record. Dashed: the law √(transducers × record).",
        ),
        (
            Self::Difference,
            "Difference",
            "log₁₀ of ‖second − first‖ / ‖first‖ of the two runs that are compared.",
        ),
    ];

    /// Whether it shows measures of ψ that the engine takes only on demand.
    #[must_use]
    pub fn is_of_state(self) -> bool {
        matches!(
            self,
            Self::Momentum
                | Self::Uncertainty
                | Self::AngularMomentum
                | Self::Overlap
                | Self::Participation
                | Self::Purity
        )
    }

    /// Whether it is measured with the pictures rather than at every step.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        self.is_of_state()
            || matches!(
                self,
                Self::Carpet
                    | Self::Position
                    | Self::Spread
                    | Self::Norm
                    | Self::Energy
                    | Self::Fidelity
                    | Self::Difference
            )
    }

    /// What it shows, and how often that is measured.
    #[must_use]
    pub fn about(self) -> String {
        let known = Self::ALL.iter().find(|(known, ..)| *known == self);
        let about = known.map_or("", |(.., about)| about);
        if self.is_sampled() {
            format!("{about} {PER_PICTURE}")
        } else {
            about.to_owned()
        }
    }

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

/// Whether a run has something for a plot to show.
fn offered(kind: Kind, frame: &Frame) -> bool {
    let Some(scenario) = &frame.scenario else { return false };
    match kind {
        Kind::Cut => scenario.grid().rank() > 1,
        kind if kind.is_of_state() => {
            let flat = !matches!(kind, Kind::AngularMomentum | Kind::Purity) || scenario.grid().rank() > 1;
            flat && scenario.model().equation() == Equation::Schrodinger
        }
        Kind::Marginals => {
            let shown = matches!(frame.image.quantity, Some(Quantity::Density | Quantity::Phase));
            shown && scenario.grid().rank() == 2 && scenario.model().equation() == Equation::Schrodinger
        }
        Kind::Detectors | Kind::Spectrum => !scenario.detectors().is_empty(),
        Kind::Fidelity | Kind::Focus => frame.mirror.is_some(),
        Kind::Signals => frame.mirror.as_ref().is_some_and(|mirror| mirror.status.heard > 0),
        Kind::Gain => gain_plot::offered(frame),
        Kind::Difference => frame.compared.is_some(),
        _ => true,
    }
}

/// The plots that are chosen, and whether they belong to the scene.
pub struct Chosen<'a> {
    /// Those that are shown.
    pub shown: &'a mut Vec<Kind>,
    /// Whether they are written into the scene.
    pub own: &'a mut bool,
}

/// The names of the plots in a line; whether one was chosen. While the plots are folded (`open` is false) choosing one shows it.
pub fn names(ui: &mut Ui, plots: &mut Chosen<'_>, frame: &Frame, open: bool) -> bool {
    let shown = &mut *plots.shown;
    let Some(scenario) = &frame.scenario else { return false };
    let equation = scenario.model().equation();
    let mut chosen = false;
    let seen = if open { shown.clone() } else { Vec::new() };
    let low = open && ui.ctx().content_rect().height() < LOW;
    // Scenes with a mirror have more of them than a narrow window has room for.
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(2.0, 2.0);
        ui.spacing_mut().interact_size.y = 20.0;
        ui.spacing_mut().button_padding = vec2(6.0, 2.0);
        let mut name = |ui: &mut Ui, kind: Kind| {
            let on = open && shown.contains(&kind);
            if ui
                .selectable_label(on, kind.title(equation))
                .explained(kind.about())
                .clicked()
            {
                chosen = true;
                if on {
                    shown.retain(|other| *other != kind);
                } else if !shown.contains(&kind) {
                    shown.push(kind);
                }
            }
        };
        // What is asked for rarely has a menu, and in a low window all that is not chosen: all names would take the picture's room, or the plots'.
        let (rare, usual): (Vec<_>, Vec<_>) = Kind::ALL
            .into_iter()
            .map(|(kind, ..)| kind)
            .filter(|kind| offered(*kind, frame))
            .partition(|kind| (low || kind.is_of_state()) && !seen.contains(kind));
        for kind in usual {
            name(ui, kind);
        }
        ui.menu_button("More", |ui| {
            for kind in rare {
                name(ui, kind);
            }
            ui.checkbox(plots.own, "Keep with the scene")
                .on_hover_text("Writes the plots that are chosen into the scene, which then opens with them.");
        });
    });
    chosen
}

/// Below this height of the window, in points, the plots need the room that their names would take.
const LOW: f32 = 480.0;

/// Shows the plots side by side.
pub fn show(ui: &mut Ui, plots: &mut Chosen<'_>, view: &mut ViewState, records: &mut Records<'_>, frame: &Frame) {
    // The panel keeps its height whatever stands in it.
    ui.set_min_size(ui.available_size());
    ui.spacing_mut().item_spacing.y = 4.0;
    let Some(scenario) = &frame.scenario else { return };
    let rank = scenario.grid().rank();
    let equation = scenario.model().equation();
    names(ui, plots, frame, true);
    let all: Vec<Part> = plots
        .shown
        .iter()
        .filter(|kind| offered(**kind, frame))
        .flat_map(|kind| Part::all(*kind, scenario))
        .collect();
    if all.is_empty() {
        super::widgets::hint(ui, "Choose what to plot.");
        return;
    }
    let size = scenario.grid().size();
    let mut cut = view.cut;
    // The direction is chosen over the first plot that follows it.
    let chooses = all
        .iter()
        .map(|part| part.kind)
        .find(|kind| rank > 1 && matches!(kind, Kind::Cut | Kind::Carpet));
    let sources = Sources {
        view,
        history: records.history,
        frame,
        units: Units::of(scenario, frame.clock.time_step),
        rank,
    };
    // A part of its own: what stands in it does not change the panel's height.
    let room = ui.available_rect_before_wrap();
    let mut inner = ui.new_child(egui::UiBuilder::new().id_salt("plots").max_rect(room));
    let (ui, room) = (&mut inner, room.size());
    let even = (room.x - 8.0 * (all.len() - 1) as f32) / all.len() as f32;
    // More of them than there is room for are scrolled to, over a bar below them.
    let plot = vec2(even.max(LEAST), room.y - if even < LEAST { 12.0 } else { 0.0 });
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            for part in all {
                let kind = part.kind;
                let mut choice = Some(&mut cut).filter(|_| chooses == Some(kind));
                ui.allocate_ui(plot, |ui| {
                    ui.vertical(|ui| match kind {
                        Kind::Signals => mirror_plots::signals(ui, frame, plot),
                        Kind::Focus => mirror_plots::focus(ui, frame, scenario, records.map, plot),
                        Kind::Gain => gain_plot::show(ui, frame, &sources.units, plot),
                        Kind::Carpet => {
                            let heading = Carpet::heading(sources.view, frame);
                            caption(ui, (&heading, &kind.about()), std::iter::empty(), choice.take(), plot.x);
                            let (rect, _) =
                                ui.allocate_exact_size(vec2(plot.x, plot.y - CAPTION), egui::Sense::hover());
                            let colors = (records.map, sources.view.levels);
                            records.carpet.show(ui, rect, colors, frame);
                        }
                        _ => one(ui, part, kind.title(equation), (plot, choice.take()), &sources),
                    });
                });
            }
        });
    });
    if cut != view.cut {
        view.cut = cut;
        view.cut_at = middle(size[usize::from(cut == Cut::Row)]);
    }
}

/// Which way the line cut goes, in the line of a caption.
fn cut_choice(ui: &mut Ui, cut: &mut Cut) {
    ui.spacing_mut().button_padding = vec2(6.0, 0.0);
    ui.spacing_mut().interact_size.y = LINE;
    for (this, words) in [(Cut::Row, "along x"), (Cut::Column, "along y")] {
        ui.selectable_value(cut, this, egui::RichText::new(words).size(11.5));
    }
}

fn one(ui: &mut Ui, part: Part, title: &str, (size, cut): (egui::Vec2, Option<&mut Cut>), sources: &Sources<'_>) {
    let kind = part.kind;
    let palette = theme::palette(ui);
    // As many points as pixels say all that can be seen.
    let mut lines = lines(kind, sources, (size.x as usize).max(64));
    // An empty field has no position: there is nothing to draw, and the outline of a line through it would be a wedge. A spectrum has gaps instead.
    for (_, points) in lines.iter_mut().filter(|_| kind != Kind::Spectrum) {
        points.retain(|point| point.iter().all(|value| value.is_finite()));
    }
    let mut theory = theory(kind, sources, &lines);
    theory.retain(|(about, _)| part.shows(*about, sources));
    let several = lines.len() > 1;
    let colors: Vec<Color32> = (0..lines.len())
        .map(|n| if several { theme::line(ui, n) } else { palette.accent })
        .collect();
    // A detector has the same colour in whichever plot it stands.
    let lines: Vec<_> = (lines.into_iter().zip(colors.iter().copied()).enumerate())
        .filter(|(n, _)| part.shows(*n, sources))
        .map(|(_, line)| line)
        .collect();
    let names = lines.iter().map(|((name, _), color)| (name.as_str(), *color));
    // A single line whose name is the title's needs none.
    let names = names.filter(|(name, _)| !name.is_empty() && (several || !name.eq_ignore_ascii_case(title)));
    let heading = heading(part, title, sources);
    caption(ui, (&heading, &kind.about()), names, cut, size.x);
    let shown = (lines.iter().map(|(line, _)| line)).chain(theory.iter().map(|(_, line)| line));
    let bounds = bounds(kind, shown.flat_map(|(_, points)| points), sources.view);
    let shown = still(
        Plot::new(("plot", kind as u8, part.scale)),
        size - vec2(0.0, CAPTION),
        palette,
    )
    .set_margin_fraction(vec2(0.0, 0.0))
    .show(ui, |plot| {
        for ((name, points), color) in lines {
            for piece in pieces(&points) {
                let line = Line::new(name.as_str(), PlotPoints::from(piece.to_vec()));
                plot.line(line.color(color).width(1.5));
            }
        }
        for (about, (name, points)) in theory {
            let line = Line::new(name, PlotPoints::from(points)).color(colors[about].gamma_multiply(0.8));
            plot.line(line.style(LineStyle::dashed_dense()).width(1.5));
        }
        plot.set_plot_bounds(bounds);
    });
    let name = format!("Plot: {heading}");
    let described = || egui::WidgetInfo::labeled(egui::Role::Image, true, &name);
    shown.response.widget_info(described);
}

/// A line without the points that have no value: what is left between them.
fn pieces(points: &[[f64; 2]]) -> impl Iterator<Item = &[[f64; 2]]> {
    let split = points.split(|point| point.iter().any(|value| !value.is_finite()));
    split.filter(|piece| !piece.is_empty())
}

/// The title of a plot and, under it, the names of its lines in their colours (over the plot they would hide what they explain), or which way
/// it is cut.
fn caption<'a>(
    ui: &mut Ui,
    (heading, about): (&str, &str),
    names: impl Iterator<Item = (&'a str, Color32)>,
    cut: Option<&mut Cut>,
    width: f32,
) {
    let font = FontId::proportional(11.5);
    let names: Vec<(&str, Color32)> = names.collect();
    ui.spacing_mut().item_spacing.y = 0.0;
    let weak = theme::palette(ui).weak;
    ui.allocate_ui(vec2(width, LINE), |ui| {
        ui.set_min_height(LINE);
        let job = LayoutJob::single_section(heading.to_owned(), TextFormat::simple(font.clone(), weak));
        ui.add(egui::Label::new(job).truncate()).explained(about);
    });
    ui.allocate_ui(vec2(width, LINE), |ui| {
        ui.set_min_height(LINE);
        if let Some(cut) = cut {
            // A row is as high as the controls that its parent has: no higher than the line.
            ui.spacing_mut().interact_size.y = LINE;
            ui.horizontal(|ui| {
                cut_choice(ui, cut);
                line_names::show(ui, &names, &font);
            });
        } else {
            line_names::show(ui, &names, &font);
        }
    });
    ui.add_space(CAPTION - 2.0 * LINE);
}
