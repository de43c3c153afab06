//! Sweeps in the window: what varies and what is measured, and a plot that grows run by run with the theory dashed.

use super::document::Document;
use super::plots::still;
use super::side_run::{Reporter, SWEEP, SideRun, window};
use super::sweep_names::{Named, Names};
use super::theme;
use super::widgets::{button, fault, hint, row};
use crate::app::icon::Icon;
use crate::engine::Frame;
use crate::engine::sweep::{Stop, SweepError, SweepPlan, SweepPoint};
use crate::export::plot::range;
use crate::platform::Instant;
use crate::scene::SceneFile;
use crate::scene::file::SweepFile;
use crate::scene::sweep::Quantity;
use egui::{DragValue, Rect, Ui};
use egui_plot::{Line, LineStyle, Plot, PlotBounds, PlotPoint, PlotPoints, Points};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How near to a point a click must be, in points of the screen.
const NEAR: f32 = 12.0;

/// What a sweep says on its way.
enum Progress {
    /// It was read, what its axes are, and what theory says.
    Plan(Box<SweepPlan>, Names, Vec<Vec<[f64; 2]>>),
    Point(SweepPoint),
}

/// The panel's state.
#[derive(Default)]
pub struct SweepPanel {
    /// Whether it is shown.
    pub open: bool,
    run: SideRun<Progress, ()>,
    /// When it was begun.
    since: Option<Instant>,
    plan: Option<Box<SweepPlan>>,
    names: Names,
    lines: Vec<Vec<[f64; 2]>>,
    points: Vec<SweepPoint>,
    /// Which quantity is plotted.
    shown: usize,
    /// The run that is pointed out.
    chosen: usize,
}

impl SweepPanel {
    /// The runs that are done.
    #[must_use]
    pub fn points(&self) -> &[SweepPoint] {
        &self.points
    }

    /// Whether runs are under way.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.run.is_running()
    }

    /// Another scene: what was measured belongs to the one before.
    pub fn start_over(&mut self) {
        *self = Self {
            open: self.open,
            ..Self::default()
        };
    }

    /// Shows it; the settings of the run that shall be opened.
    pub fn show(
        &mut self,
        (ctx, picture): (&egui::Context, Rect),
        document: &mut Document,
        frame: &Frame,
    ) -> Option<Vec<String>> {
        self.collect();
        if !self.open {
            return None;
        }
        let (mut open, mut wish) = (true, None);
        window((ctx, picture), SWEEP, [520.0, 480.0], &mut open, |ui| {
            Self::fields(ui, &mut document.draft, frame);
            self.controls(ui, document);
            if let Some(text) = self.run.fault() {
                fault(ui, text);
            }
            wish = self.plot(ui);
        });
        self.open = open;
        wish
    }

    /// Takes over what the thread has said.
    fn collect(&mut self) {
        let _ = self.run.collect(|progress| match progress {
            Progress::Plan(plan, names, lines) => {
                (self.plan, self.names, self.lines) = (Some(plan), names, lines);
            }
            Progress::Point(point) => self.points.push(point),
        });
    }

    /// What varies, what is measured, the theory: parts of the scene, which undo and saving know.
    fn fields(ui: &mut Ui, draft: &mut SceneFile, frame: &Frame) {
        if draft.sweep.is_none() {
            hint(
                ui,
                "A sweep runs this scene once for each of several values, and plots what is measured.",
            );
            if ui
                .add(button(Icon::Plus, "Sweep"))
                .accessible_name("Add a sweep")
                .clicked()
            {
                draft.sweep = Some(suggested(draft, frame));
            }
            return;
        }
        if let Some(sweep) = &mut draft.sweep {
            let list = |ui: &mut Ui, name: &str, about: &str, texts: &mut Vec<String>| {
                row(ui, name, about, |ui| {
                    let mut text = texts.join("; ");
                    let edit = egui::TextEdit::singleline(&mut text).desired_width(f32::INFINITY);
                    let response = ui.add(edit);
                    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, name));
                    if response.changed() {
                        *texts = text.split(';').map(|one| one.trim_start().to_owned()).collect();
                    }
                });
            };
            let about = "key=low..high/count, or key=a,b,c, as --set addresses keys; & key=formula of x for keys that go with it; several with a semicolon between.";
            list(ui, "Vary", about, &mut sweep.vary);
            let about = "A detector's name or an observable, with @ and its time, or contrast(name | name)@time; several with a semicolon between.";
            list(ui, "Measure", about, &mut sweep.measure);
            row(
                ui,
                "Theory",
                "A formula of x (and y), the values that vary, or transmission: transfer matrices of the lattice.",
                |ui| {
                    let edit = egui::TextEdit::singleline(&mut sweep.theory).desired_width(f32::INFINITY);
                    let response = ui.add(edit);
                    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Theory"));
                },
            );
        }
    }

    fn controls(&mut self, ui: &mut Ui, document: &Document) {
        if document.draft.sweep.is_none() {
            return;
        }
        ui.horizontal(|ui| {
            let runs = self.plan.as_ref().map_or(0, |plan| plan.runs());
            if (self.run).button(ui, Icon::Play, "Run all", "Run the sweep", "End the sweep") {
                self.begin(document, ui.ctx());
            }
            let done = self.points.len();
            if self.run.is_running() {
                let seconds = self.since.map_or(0.0, |since| since.elapsed().as_secs_f64());
                ui.label(under_way(done, runs, seconds));
            } else if done > 0 {
                if ui.button("Copy table").on_hover_text("As CSV, a row a run.").clicked() {
                    ui.ctx().copy_text(self.table());
                }
                ui.label(format!("{done} of {runs} runs"));
            }
        });
    }

    /// Starts the thread.
    fn begin(&mut self, document: &Document, ctx: &egui::Context) {
        self.start_over();
        self.since = Some(Instant::now());
        let (file, origin) = (document.draft.clone(), document.path().map(ToOwned::to_owned));
        self.run.begin("sweep", document, ctx, move |scenario, reporter| {
            let sweep = scenario.sweep().cloned().ok_or("the scene has no [sweep]")?;
            let names = Names::of(&sweep, &file, &scenario);
            let text = file.to_toml();
            run(&SweepPlan { text, origin, sweep }, names, reporter).map_err(|error| error.to_string())
        });
    }

    /// What was measured, as CSV.
    fn table(&self) -> String {
        let Some(plan) = &self.plan else { return String::new() };
        let sweep = &plan.sweep;
        let mut head: Vec<String> = sweep.axes.iter().map(|axis| axis.key.clone()).collect();
        head.extend(sweep.measures.iter().map(Quantity::text));
        head.extend(sweep.theory.is_some().then(|| "theory".to_owned()));
        let mut order: Vec<&SweepPoint> = self.points.iter().collect();
        order.sort_by_key(|point| point.number);
        let rows = order.into_iter().map(|point| {
            let values = plan.values(point.number);
            let all = values.iter().chain(&point.measured).chain(&point.theory);
            let cell = |value: &f64| {
                if value.is_nan() {
                    String::new()
                } else {
                    format!("{value:?}")
                }
            };
            all.map(cell).collect::<Vec<_>>().join(",")
        });
        std::iter::once(head.join(","))
            .chain(rows)
            .collect::<Vec<_>>()
            .join("\n")
            + "\n"
    }

    /// The plot; the settings of the run that was clicked.
    fn plot(&mut self, ui: &mut Ui) -> Option<Vec<String>> {
        let plan = self.plan.as_ref()?;
        let sweep = &plan.sweep;
        if sweep.measures.len() > 1 {
            ui.horizontal(|ui| {
                for (n, quantity) in sweep.measures.iter().enumerate() {
                    ui.selectable_value(&mut self.shown, n, quantity.text());
                }
            });
        }
        let first = sweep.axes.first()?.values.len().max(1);
        let groups = plan.runs() / first;
        let place = |point: &SweepPoint| Some([*plan.values(point.number).first()?, *point.measured.get(self.shown)?]);
        let dashed: &[Vec<[f64; 2]>] = if self.shown == 0 { &self.lines } else { &[] };
        let everything = || {
            self.points
                .iter()
                .filter_map(place)
                .chain(dashed.iter().flatten().copied())
        };
        let span = |axis: usize, air: f64| range(everything().map(|point| point[axis]), air).unwrap_or([0.0, 1.0]);
        let (x, y) = (span(0, 0.03), span(1, 0.06));
        let palette = theme::palette(ui);
        let several: Vec<egui::Color32> = (0..groups).map(|n| theme::line(ui, n)).collect();
        let color = |group: usize, single| {
            if groups > 1 {
                several[group % several.len()]
            } else {
                single
            }
        };
        // High enough for the names of its axes, where the window is.
        let least = (ui.ctx().content_rect().height() / 3.0).clamp(120.0, 220.0);
        let height = (ui.available_height() - BELOW).clamp(least, 900.0);
        let size = egui::vec2(ui.available_width(), height);
        let title = |names: &[Named], n: usize| names.get(n).map_or(String::new(), Named::title);
        let shown = still(Plot::new("sweep"), size, palette)
            .x_axis_label(title(&self.names.keys, 0))
            .y_axis_label(title(&self.names.measures, self.shown))
            .sense(egui::Sense::click())
            .show(ui, |plot| {
                for (n, line) in dashed.iter().enumerate() {
                    let line = Line::new(format!("theory {n}"), PlotPoints::from(line.clone()));
                    let line = line.color(color(n, palette.weak));
                    plot.line(line.style(LineStyle::dashed_loose()).width(1.5));
                }
                for group in 0..groups {
                    let own = self.points.iter().filter(|point| point.number / first == group);
                    let points: Vec<[f64; 2]> = own.filter_map(place).collect();
                    let points = Points::new(format!("runs {group}"), PlotPoints::from(points));
                    plot.points(points.radius(3.5).color(color(group, palette.accent)));
                }
                plot.set_plot_bounds(PlotBounds::from_min_max([x[0], y[0]], [x[1], y[1]]));
            });
        shown
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "What the sweep measured"));
        let near = |at: egui::Pos2| {
            let distance = |point: &SweepPoint| {
                let [x, y] = place(point)?;
                Some(shown.transform.position_from_point(&PlotPoint::new(x, y)).distance(at))
            };
            let all = self
                .points
                .iter()
                .filter_map(|point| Some((point.number, distance(point)?)));
            all.filter(|(_, distance)| *distance < NEAR)
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(number, _)| number)
        };
        let pointed = shown.response.hover_pos().and_then(near);
        let clicked = shown.response.clicked().then_some(pointed).flatten();
        if let Some(number) = pointed {
            self.chosen = number;
        }
        let mut wish = clicked.map(|number| plan.settings(&plan.values(number)));
        ui.horizontal(|ui| {
            let last = plan.runs().saturating_sub(1);
            ui.add(DragValue::new(&mut self.chosen).range(0..=last).prefix("run "));
            if ui
                .button("Open this run")
                .on_hover_text("The scene with these values, from t = 0; it can be undone.")
                .clicked()
            {
                wish = Some(plan.settings(&plan.values(self.chosen)));
            }
        });
        self.result(ui);
        wish
    }

    /// The values of the run that is pointed out, and what it measured.
    fn result(&self, ui: &mut Ui) {
        let Some(plan) = &self.plan else { return };
        let values = plan.values(self.chosen);
        let keys = self.names.keys.iter().zip(&values);
        let set: Vec<String> = keys
            .map(|(key, value)| format!("{} = {}", key.name, key.show(*value, 6)))
            .collect();
        let point = self.points.iter().find(|point| point.number == self.chosen);
        let value = point.and_then(|point| Some((*point.measured.get(self.shown)?, point.theory)));
        let value = value.zip(self.names.measures.get(self.shown));
        let value = value.map_or(String::new(), |((value, theory), measure)| {
            let theory = theory.filter(|_| self.shown == 0);
            let theory = theory.map_or(String::new(), |theory| format!(", theory {}", measure.show(theory, 5)));
            format!(": {}{theory}", measure.show(value, 5))
        });
        result_line(ui, &format!("{}{value}", set.join(", ")), &plan.settings(&values));
    }
}

/// How far a sweep is after so many seconds; how long it still takes is known from its first run on.
fn under_way(done: usize, runs: usize, seconds: f64) -> String {
    if runs == 0 {
        return "being read".to_owned();
    }
    let counted = format!("{done} of {runs} runs");
    if done == 0 {
        return counted;
    }
    let left = seconds * runs.saturating_sub(done) as f64 / done as f64;
    format!("{counted}, {:.0} s left", left.ceil())
}

/// What stands below the plot: a row of controls, and the result.
const BELOW: f32 = 44.0 + RESULT;

/// Room for two lines.
const RESULT: f32 = 36.0;

/// The values of a run and what was measured, in room that stays the same whatever they are: the window does not grow by them. `settings` are told where
/// it is pointed at.
fn result_line(ui: &mut Ui, text: &str, settings: &[String]) {
    let color = theme::palette(ui).text;
    let font = egui::FontId::proportional(13.0);
    let mut job = egui::text::LayoutJob::simple(text.to_owned(), font, color, ui.available_width());
    job.wrap.max_rows = 2;
    let size = egui::vec2(ui.available_width(), RESULT);
    ui.allocate_ui_with_layout(size, egui::Layout::top_down(egui::Align::Min), |ui| {
        ui.set_min_height(RESULT);
        ui.add(egui::Label::new(job).wrap()).on_hover_text(settings.join(", "));
    });
}

/// A sweep to begin with: the first packet's momentum or the first source's frequency, and the first detector.
fn suggested(draft: &SceneFile, frame: &Frame) -> SweepFile {
    let end = draft.time.end.unwrap_or(100.0 * frame.clock.time_step.abs());
    let what = draft.detectors.first().map_or("norm", |detector| &detector.name);
    let vary = if draft.packets.is_empty() {
        "source.0.frequency=100..1000/10"
    } else {
        "packet.0.momentum.0=0.2..1.0/17"
    };
    SweepFile {
        vary: vec![vary.to_owned()],
        measure: vec![format!("{what}@{end}")],
        theory: String::new(),
    }
}

/// The thread: checks, runs.
fn run(plan: &SweepPlan, names: Names, reporter: &Reporter<Progress, ()>) -> Result<(), SweepError> {
    plan.check()?;
    let stop: Stop = Arc::new({
        let asked = reporter.stop();
        move || asked.load(Ordering::Relaxed)
    });
    let lines = plan.theory_lines(&stop)?;
    let _ = reporter.tell(Progress::Plan(Box::new(plan.clone()), names, lines));
    let found = |point: SweepPoint| {
        let _ = reporter.tell(Progress::Point(point));
    };
    plan.run(&[], &stop, &found).map(|_is_whole| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_yet_is_not_told() {
        assert_eq!(under_way(0, 0, 3.0), "being read");
        assert_eq!(under_way(0, 60, 3.0), "0 of 60 runs");
        assert_eq!(under_way(20, 60, 5.0), "20 of 60 runs, 10 s left");
    }
}
