//! Room acoustics in the window: how the scene is heard at a detector, as a table of octaves and the curves of the decay.

use super::document::Document;
use super::plots::still;
use super::side_run::{ROOM, SideRun, share, share_done, window};
use super::theme;
use super::widgets::{button, choice, fault, hint, row};
use crate::app::icon::Icon;
use crate::engine::room::{self, RoomReport};
use crate::export::heard;
use crate::physics::room::{BandDecay, Line as Fit, TooShort};
use crate::physics::{Measure, Reading};
use crate::scene::file::{DetectorFile, RegionFile};
use egui::{Rect, Ui};
use egui_plot::{Line, LineStyle, Plot, PlotBounds, PlotPoints};
use std::sync::Arc;

/// Points of a drawn curve.
const POINTS: usize = 600;

/// Levels below are not drawn, dB.
const LOWEST: f64 = -70.0;

/// The panel's state.
#[derive(Default)]
pub struct RoomPanel {
    /// Whether it is shown.
    pub open: bool,
    /// What playing said last.
    said: Option<String>,
    run: SideRun<f64, RoomReport>,
    /// How much of the run is done, of 1.
    done: f64,
    report: Option<RoomReport>,
}

impl RoomPanel {
    /// What was found last.
    #[must_use]
    pub fn report(&self) -> Option<&RoomReport> {
        self.report.as_ref()
    }

    /// What went wrong last.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        self.run.fault()
    }

    /// Another scene sounds otherwise.
    pub fn start_over(&mut self) {
        *self = Self {
            open: self.open,
            ..Self::default()
        };
    }

    /// Shows it.
    pub fn show(&mut self, place: (&egui::Context, Rect), document: &mut Document) {
        if let Some(report) = self.run.collect(|done| self.done = done) {
            self.report = Some(report);
        }
        if !self.open {
            return;
        }
        let mut open = true;
        window(place, ROOM, [620.0, 520.0], &mut open, |ui| {
            self.controls(ui, document);
            self.sound_row(ui, document);
            if let Some(said) = &self.said {
                hint(ui, said);
            }
            if let Some(text) = self.run.fault() {
                fault(ui, text);
            }
            match &self.report {
                Some(report) => {
                    table(ui, report);
                    curves(ui, report);
                }
                None => hint(
                    ui,
                    "Runs the scene to its end, divides what the detector heard by what the source played, and sums the echoes from behind (Schroeder 1965). \
                     T30 is the time of 60 dB, read between −5 and −35 dB.",
                ),
            }
        });
        self.open = open;
    }

    fn controls(&mut self, ui: &mut Ui, document: &mut Document) {
        let draft = &mut document.draft;
        let names: Vec<String> = draft
            .detectors
            .iter()
            .filter(|one| hears(one))
            .map(|one| one.name.clone())
            .collect();
        if draft.acoustic.is_none() || names.is_empty() {
            hint(ui, "Needs a scene of sound with a detector of pressure at a place.");
            return;
        }
        let own = draft.room.as_ref().map_or("", |room| room.at.as_str());
        let mut listener = names.iter().position(|name| name == own).unwrap_or(0);
        if row(
            ui,
            "Listen at",
            "The detector whose record is taken; kept with the scene.",
            |ui| {
                let all = names
                    .iter()
                    .enumerate()
                    .map(|(n, name)| (n, name.clone(), String::new()));
                choice(ui, "Listen at", &mut listener, all)
            },
        ) {
            draft.room.get_or_insert_default().at.clone_from(&names[listener]);
        }
        ui.horizontal(|ui| {
            if (self.run).button(ui, Icon::Ear, "Listen", "Listen to the room", "End the run") {
                self.begin(&names[listener], document, ui.ctx());
            }
            if self.run.is_running() {
                share_done(ui, self.done);
            }
        });
    }

    /// A dry sound, and what it sounds like in the room.
    fn sound_row(&mut self, ui: &mut Ui, document: &mut Document) {
        let Some(report) = &self.report else { return };
        let draft = &mut document.draft;
        let mut dry = (draft.room.as_ref())
            .and_then(|room| room.dry.as_ref())
            .map_or(String::new(), |path| path.to_string_lossy().into_owned());
        let about = "A WAV file without a room in it, named relative to the scene; kept with it. Without one the response itself is played.";
        let changed = row(ui, "Dry sound", about, |ui| {
            let edit = egui::TextEdit::singleline(&mut dry).desired_width(f32::INFINITY);
            let response = ui.add(edit.hint_text("speech.wav"));
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Dry sound"));
            response.changed()
        });
        if changed {
            let path = std::path::PathBuf::from(dry.trim());
            draft.room.get_or_insert_default().dry = (!dry.trim().is_empty()).then_some(path);
        }
        let about = "Plays it with the system's player, as it is heard at the detector.";
        let play = ui.add(button(Icon::Volume2, "Play")).on_hover_text(about);
        if play.accessible_name("Play the sound in the room").clicked() {
            let file = draft.room.as_ref().and_then(|room| room.dry.clone());
            let base = document
                .path()
                .and_then(std::path::Path::parent)
                .unwrap_or(std::path::Path::new(""));
            let dry = file.map(|file| heard::read_dry(&base.join(file))).transpose();
            let played = dry.and_then(|dry| {
                super::system::play(&super::background::file_name(&report.detector, "wav"), |path| {
                    heard::save(path, &report.response, dry).map_err(|error| error.to_string())
                })
            });
            self.said = Some(played.unwrap_or_else(|message| message));
        }
    }

    fn begin(&mut self, name: &str, document: &Document, ctx: &egui::Context) {
        (self.report, self.done, self.said) = (None, 0.0, None);
        let name = name.to_owned();
        self.run
            .begin("room acoustics", document, ctx, move |scenario, reporter| {
                let mut watch = |steps, all| reporter.tell(share(steps, all));
                room::measure(&Arc::new(scenario), Some(&name), &mut watch).map_err(|error| error.to_string())
            });
    }
}

/// Whether a detector of the draft records the pressure at a place.
fn hears(detector: &DetectorFile) -> bool {
    let point = matches!(detector.region, RegionFile::Point(_));
    detector.reading == Reading::Itself
        && match detector.measure {
            None | Some(Measure::Value) => point,
            Some(measure) => measure == Measure::Pressure,
        }
}

fn name(band: &BandDecay) -> String {
    band.octave
        .map_or("all".to_owned(), |octave| format!("{} Hz", octave.name()))
}

fn table(ui: &mut Ui, report: &RoomReport) {
    let cell = |ui: &mut Ui, line: &Result<Fit, TooShort>| match line {
        Ok(line) => ui.label(format!("{:.3} s", line.time)),
        Err(short) => ui.label("–").on_hover_text(short.to_string()),
    };
    egui::ScrollArea::vertical()
        .id_salt("octaves")
        .max_height(180.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            egui::Grid::new("room acoustics")
                .striped(true)
                .num_columns(8)
                .show(ui, |ui| {
                    let heads = [
                        ("Octave", "The band of the filter (IEC 61260); all: the whole response."),
                        ("EDT", "Early decay time, from the first 10 dB."),
                        ("T20", "From −5 to −25 dB, as 60 dB."),
                        ("T30", "From −5 to −35 dB, as 60 dB."),
                        ("C50", "Clarity of speech: the first 50 ms over the rest, dB."),
                        ("C80", "Clarity of music: the first 80 ms over the rest, dB."),
                        ("D50", "Share of the energy in the first 50 ms."),
                        ("Decay", "How far the record decays. T20 needs 35 dB, T30 45."),
                    ];
                    for (head, meaning) in heads {
                        ui.strong(head).on_hover_text(meaning);
                    }
                    ui.end_row();
                    for (n, band) in report.bands.iter().enumerate() {
                        let color = line_color(ui, n);
                        ui.label(egui::RichText::new(name(band)).color(color));
                        let Some(decay) = &band.decay else {
                            ui.label("silent");
                            ui.end_row();
                            continue;
                        };
                        cell(ui, &decay.edt);
                        cell(ui, &decay.t20);
                        cell(ui, &decay.t30);
                        match &decay.balance {
                            Ok(balance) => {
                                let why = decay.too_short_for_clarity().unwrap_or_default();
                                let share = balance.d50.map(|share| format!("{:.0} %", 100.0 * share));
                                for cell in [balance.c50.map(decibels), balance.c80.map(decibels), share] {
                                    match cell {
                                        Some(text) => ui.label(text),
                                        None => ui.weak("–").on_hover_text(why.as_str()),
                                    };
                                }
                            }
                            Err(short) => {
                                for _ in 0..3 {
                                    ui.weak("–").on_hover_text(short.to_string());
                                }
                            }
                        }
                        match decay.echoes() {
                            Some(short) => ui.weak("–").on_hover_text(short.to_string()),
                            None => ui.label(format!("{:.0} dB", decay.range)),
                        };
                        ui.end_row();
                    }
                });
        });
}

/// The colour of a band in the table and in the plot; the first is the whole response.
fn line_color(ui: &Ui, n: usize) -> egui::Color32 {
    if n == 0 {
        theme::palette(ui).strong
    } else {
        theme::line(ui, n)
    }
}

/// A level as the other panels write it, with a minus and not a hyphen.
fn decibels(level: f64) -> String {
    format!("{level:.1} dB").replace('-', "−")
}

fn curves(ui: &mut Ui, report: &RoomReport) {
    hint(
        ui,
        "Level (dB) over t (s), octaves in the colours of the table; dashed is the line of T30.",
    );
    let palette = theme::palette(ui);
    let height = (ui.available_height() - 8.0).clamp(140.0, 600.0);
    let mut longest: f64 = 0.0;
    let mut lines = Vec::new();
    for (n, band) in report.bands.iter().enumerate() {
        let Some(decay) = &band.decay else { continue };
        let every = decay.levels.len().div_ceil(POINTS).max(1);
        let points: Vec<[f64; 2]> = decay
            .levels
            .iter()
            .enumerate()
            .step_by(every)
            .map(|(n, level)| [n as f64 * decay.step, *level])
            .take_while(|point| point[1] > LOWEST)
            .collect();
        longest = points.last().map_or(longest, |point| longest.max(point[0]));
        let color = line_color(ui, n);
        let fit = decay.t30.ok().map(|line| {
            let at = |level: f64| [(line.start - level) * line.time / 60.0, level];
            vec![at(line.start.min(-5.0)), at(-35.0)]
        });
        lines.push((name(band), points, fit, color));
    }
    let size = egui::vec2(ui.available_width(), height);
    let shown = still(Plot::new("decay"), size, palette).show(ui, |plot| {
        for (name, points, fit, color) in lines {
            plot.line(
                Line::new(name.clone(), PlotPoints::from(points))
                    .color(color)
                    .width(1.5),
            );
            if let Some(fit) = fit {
                let fit = Line::new(format!("T30 of {name}"), PlotPoints::from(fit)).color(palette.weak);
                plot.line(fit.style(LineStyle::dashed_loose()));
            }
        }
        plot.set_plot_bounds(PlotBounds::from_min_max([0.0, LOWEST], [longest.max(1e-6), 3.0]));
    });
    shown
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Decay in dB over seconds"));
}
