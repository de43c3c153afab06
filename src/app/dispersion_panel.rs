//! Dispersion in the window: ω against k of what runs in the scene, the lattice's and the continuum's curve over it.

use super::document::Document;
use super::plots::still;
use super::side_run::{DISPERSION, SideRun, share, share_done, window};
use super::theme;
use super::widgets::{fault, hint};
use crate::app::icon::Icon;
use crate::colormap::{self, Kind, Levels};
use crate::engine::dispersion::{self, DispersionReport};
use crate::physics::dispersion::Law;
use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, Ui, vec2};
use egui_plot::{Line, LineStyle, Plot, PlotBounds, PlotImage, PlotPoint, PlotPoints};
use std::sync::Arc;

/// Points of a drawn curve.
const POINTS: u32 = 400;
/// Power below has the colour of the ground, dB.
const RANGE: f64 = 50.0;
/// Pixels of a texture's side; more records or sites are joined, the strongest of them shown.
const MOST: usize = 1024;

/// The panel's state.
#[derive(Default)]
pub struct DispersionPanel {
    /// Whether it is shown.
    pub open: bool,
    run: SideRun<f64, DispersionReport>,
    /// How much of the run is done, of 1.
    done: f64,
    report: Option<DispersionReport>,
    /// The picture, and whether it is one for a light window.
    texture: Option<(bool, TextureHandle)>,
}

impl DispersionPanel {
    /// What was found last.
    #[must_use]
    pub fn report(&self) -> Option<&DispersionReport> {
        self.report.as_ref()
    }

    /// What went wrong last.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.run.fault()
    }

    /// Another scene has other waves.
    pub fn start_over(&mut self) {
        *self = Self {
            open: self.open,
            ..Self::default()
        };
    }

    /// Shows it.
    pub fn show(&mut self, place: (&egui::Context, Rect), document: &Document) {
        if let Some(report) = self.run.collect(|done| self.done = done) {
            self.report = Some(report);
        }
        if !self.open {
            return;
        }
        let mut open = true;
        window(place, DISPERSION, [560.0, 520.0], &mut open, |ui| {
            self.controls(ui, document);
            if let Some(text) = self.run.fault() {
                fault(ui, text);
            }
            if self.report.is_some() {
                self.picture(ui);
            } else {
                hint(
                    ui,
                    "Runs the scene to its end, records the wave along x, and transforms it in space and time: how much runs with each wave number k and frequency ω. \
                     Dashed is what the lattice's steps say of a uniform medium, the line is the continuum.",
                );
            }
        });
        self.open = open;
    }

    fn controls(&mut self, ui: &mut Ui, document: &Document) {
        ui.horizontal(|ui| {
            let icon = Icon::AudioWaveform;
            if (self.run).button(ui, icon, "Record", "Record the dispersion", "End the run") {
                self.begin(document, ui.ctx());
            }
            if self.run.is_running() {
                share_done(ui, self.done);
            } else if let Some(report) = &self.report {
                hint(
                    ui,
                    &format!("{} records, one every {} steps", report.records, report.stride),
                );
            }
        });
    }

    fn begin(&mut self, document: &Document, ctx: &egui::Context) {
        (self.report, self.texture, self.done) = (None, None, 0.0);
        self.run.begin("dispersion", document, ctx, |scenario, reporter| {
            let mut watch = |steps, all| reporter.tell(share(steps, all));
            dispersion::measure(&Arc::new(scenario), &mut watch).map_err(|error| error.to_string())
        });
    }

    fn picture(&mut self, ui: &mut Ui) {
        let Some(report) = &self.report else { return };
        hint(
            ui,
            &format!("Line: the continuum. Dashed: the steps on the lattice. Colours: the power, over {RANGE} dB."),
        );
        for text in report.unlike.iter().chain(&report.folds) {
            hint(ui, text);
        }
        let light = !ui.visuals().dark_mode;
        if self.texture.as_ref().is_none_or(|(of_light, _)| *of_light != light) {
            let image = colors(report, light);
            let texture = ui.ctx().load_texture("dispersion", image, TextureOptions::NEAREST);
            self.texture = Some((light, texture));
        }
        let Some((_, texture)) = &self.texture else { return };
        let is_sound = matches!(report.law, Law::Sound { .. });
        let (x_title, y_title) = if is_sound {
            ("k (rad/m)", "ω (rad/s)")
        } else {
            ("k", "ω")
        };
        let palette = theme::palette(ui);
        let [x, y] = report.dispersion.bounds();
        #[expect(clippy::cast_possible_truncation, reason = "a size on the screen")]
        let size = vec2((x[1] - x[0]) as f32, (y[1] - y[0]) as f32);
        let center = PlotPoint::new(f64::midpoint(x[0], x[1]), f64::midpoint(y[0], y[1]));
        let curve = |law: &dyn Fn(f64) -> Option<f64>| -> Vec<[f64; 2]> {
            let place = |n: u32| x[0] + (x[1] - x[0]) * f64::from(n) / f64::from(POINTS);
            // What lies above and below is cut off by the plot: left out, its neighbours would be joined.
            (0..=POINTS).map(place).filter_map(|k| Some([k, law(k)?])).collect()
        };
        let continuum = curve(&|k| Some(report.law.continuum(k)));
        let lattice = curve(&|k| report.law.lattice(k));
        let color = theme::line(ui, 1);
        let height = (ui.available_height() - 24.0).clamp(160.0, 900.0);
        let room = vec2(ui.available_width(), height);
        let shown = still(Plot::new("dispersion"), room, palette)
            .x_axis_label(x_title)
            .y_axis_label(y_title)
            .show(ui, |plot| {
                plot.image(PlotImage::new("power", texture.id(), center, size));
                plot.line(
                    Line::new("continuum", PlotPoints::from(continuum))
                        .color(color)
                        .width(1.5),
                );
                plot.line(
                    Line::new("lattice", PlotPoints::from(lattice))
                        .color(palette.strong)
                        .style(LineStyle::dashed_loose()),
                );
                plot.set_plot_bounds(PlotBounds::from_min_max([x[0], y[0]], [x[1], y[1]]));
            });
        shown
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Frequency over wave number"));
    }
}

/// The power in dB as a picture, the highest frequency at the top.
fn colors(report: &DispersionReport, light: bool) -> ColorImage {
    let found = &report.dispersion;
    let (columns, rows) = (found.wavenumbers.len(), found.frequencies.len());
    let [width, height] = [columns.min(MOST), rows.min(MOST)];
    let map = if light {
        colormap::auto_on_paper(Kind::Sequential)
    } else {
        colormap::auto(Kind::Sequential)
    };
    let table = map.table();
    let mapping = Levels { low: 0.0, high: 1.0 }.mapping(Kind::Sequential);
    let cells = |at: usize, pixels: usize, cells: usize| {
        at * cells / pixels..((at + 1) * cells / pixels).max(at * cells / pixels + 1)
    };
    let mut pixels = Vec::with_capacity(width * height);
    for up in (0..height).rev() {
        for across in 0..width {
            let strongest = cells(up, height, rows)
                .flat_map(|row| {
                    found.power[row * columns..][cells(across, width, columns)]
                        .iter()
                        .copied()
                })
                .fold(0.0, f64::max);
            #[expect(clippy::cast_possible_truncation, reason = "a colour")]
            let value = (1.0 + 10.0 * strongest.max(1e-300).log10() / RANGE).max(0.0) as f32;
            let [r, g, b] = table[mapping.entry(value)];
            pixels.push(Color32::from_rgb(r, g, b));
        }
    }
    ColorImage::new([width, height], pixels)
}
