//! Two runs from one state, in step: what the second one does differently, and how both are shown.

use super::riddle::Riddle;
use super::theme;
use super::units::Units;
use super::widgets::{choice, figure, hint, row, section};
use crate::app::icon::Icon;
use crate::colormap::Levels;
use crate::engine::{Compared, Frame, RangeKeeper, difference};
use crate::field::Precision;
use crate::scene::file::DrawnFile;
use crate::scene::scenario::{BackendChoice, ColorRange};
use crate::scene::{Scenario, SceneFile};
use crate::solver::{self, Backend, METHODS};
use egui::Ui;
use std::sync::Arc;

pub use crate::export::pair::Show;

/// What the second run does differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other {
    /// Its method; `None` = the same one.
    pub method: Option<&'static str>,
    /// Its Δt is that of the first run over this.
    pub divisor: u32,
    /// Its precision; `None` = the same one.
    pub precision: Option<Precision>,
    /// Where it runs; `None` = where the first run does.
    pub backend: Option<BackendChoice>,
}

impl Default for Other {
    /// The test that every scene should pass: half of Δt.
    fn default() -> Self {
        Self {
            method: None,
            divisor: 2,
            precision: None,
            backend: None,
        }
    }
}

impl Other {
    /// What it does differently, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let method = self
            .method
            .map(|id| solver::find(id).map_or(id, |row| row.title).to_owned());
        let step = (self.divisor != 1).then(|| format!("Δt/{}", self.divisor));
        let precision = self
            .precision
            .map(|precision| format!("{} precision", precision.as_str()));
        let backend = self.backend.map(|backend| backend.as_str().to_owned());
        let all: Vec<String> = [method, step, precision, backend].into_iter().flatten().collect();
        if all.is_empty() {
            "again".to_owned()
        } else {
            all.join(", ")
        }
    }

    /// The scene of the second run, where the first one steps by `time_step`.
    #[must_use]
    pub fn scene(&self, file: &SceneFile, time_step: f64) -> SceneFile {
        let mut other = file.clone();
        if let Some(method) = self.method {
            other.solver.method = Some(method.to_owned());
            "auto".clone_into(&mut other.solver.variant);
            // Parameters are the method's own.
            other.solver.parameters.clear();
        }
        if let Some(precision) = self.precision {
            other.solver.precision = precision;
        }
        if let Some(backend) = self.backend {
            other.solver.backend = backend;
            "auto".clone_into(&mut other.solver.variant);
        }
        other.time.step = Some(file.time.step.unwrap_or(time_step.abs()) / f64::from(self.divisor));
        // What is predicted and recorded is the first run's, and with it all that names a detector.
        other.expectations.clear();
        other.detectors.clear();
        other
            .theories
            .retain(|theory| !matches!(theory.drawn, DrawnFile::Detector { .. }));
        other.sweep = None;
        other.room = None;
        other
    }
}

/// The comparison's state.
#[derive(Default)]
pub struct Comparison {
    /// Whether two runs are wanted.
    pub on: bool,
    /// The second one.
    pub other: Other,
    /// How they are shown.
    pub show: Show,
    /// The second run is the first one with a fault, to be found.
    pub riddle: Option<Riddle>,
    /// Riddles that were solved, and all.
    pub score: [u32; 2],
    /// The second run's scene, once it was checked.
    pub scenario: Option<Arc<Scenario>>,
    /// The second run as it was asked for: what it does differently, the draft's revision, Δt.
    asked: Option<(Other, u64, f64)>,
    /// The second run's frame, or that of the difference, and what they were made of.
    shown: Option<Box<Frame>>,
    made_of: Option<(u64, Show)>,
    keeper: Option<RangeKeeper>,
    /// The range of the difference.
    levels: Levels,
}

/// What is shown of the second run.
#[derive(Clone, Copy)]
pub struct Second<'a> {
    /// Its picture, or the difference.
    pub frame: &'a Frame,
    /// Which of the two.
    pub show: Show,
    /// The range of the difference.
    pub levels: Levels,
    /// Whether the second run stands at the left.
    pub swapped: bool,
    /// Whether it is not said what runs, only A and B.
    pub riddle: bool,
}

/// Marks the serial numbers of pictures of a second run or a difference.
const OTHERS: u64 = 1 << 62;

impl Comparison {
    /// Another scene: one run.
    pub fn start_over(&mut self) {
        *self = Self {
            score: self.score,
            ..Self::default()
        };
    }

    /// Begins a riddle about a scene; whether there is one.
    pub fn begin_riddle(&mut self, file: &SceneFile, draw: u64) -> bool {
        self.start_over();
        self.riddle = Riddle::of(file, draw);
        self.on = self.riddle.is_some();
        self.on
    }

    /// Whether a run that is wrong is still to be found.
    #[must_use]
    pub fn hides(&self) -> bool {
        self.riddle.as_ref().is_some_and(Riddle::hides)
    }

    /// The scene to be checked for the second run, if it is another one than was asked for last.
    pub fn wants(&mut self, file: &SceneFile, revision: u64, time_step: f64) -> Option<SceneFile> {
        if !self.on || time_step == 0.0 {
            self.asked = None;
            return None;
        }
        let asked = Some((self.other, revision, time_step.abs()));
        if self.asked == asked {
            return None;
        }
        self.asked = asked;
        let Some(riddle) = &self.riddle else {
            return Some(self.other.scene(file, time_step));
        };
        // The same method, step by step.
        let same = Other {
            divisor: 1,
            ..Other::default()
        };
        Some(same.scene(&riddle.scene(file)?, time_step))
    }

    /// The second run or the difference, to be shown.
    pub fn second(&mut self, present: &Frame) -> Option<Second<'_>> {
        let compared = present.compared.as_ref().filter(|_| self.on)?;
        let of = Some((present.image_serial, self.show));
        if self.made_of != of || self.shown.is_none() {
            let image = match self.show {
                Show::Beside => compared.image.clone(),
                Show::Difference => difference(&present.image, &compared.image)?,
            };
            if self.show == Show::Difference {
                let keeper = self.keeper.get_or_insert_with(|| RangeKeeper::new(ColorRange::Auto));
                self.levels = keeper.levels(&image, 1.0 / 30.0);
            }
            let kind = if self.show == Show::Beside { 0 } else { OTHERS >> 1 };
            self.shown = Some(Box::new(Frame {
                serial: present.serial,
                scenario: present.scenario.clone(),
                status: present.status.clone(),
                clock: compared.clock,
                report: Some(Arc::clone(&compared.report)),
                image,
                image_serial: OTHERS | kind | present.image_serial,
                ..Frame::default()
            }));
            self.made_of = of;
        }
        Some(Second {
            frame: self.shown.as_deref()?,
            show: self.show,
            levels: self.levels,
            riddle: self.riddle.is_some(),
            swapped: self.riddle.as_ref().is_some_and(|riddle| riddle.left),
        })
    }
}

/// What runs in one of the two, in a few words.
#[must_use]
pub fn title(scenario: &Scenario, report: &solver::Report, time_step: f64) -> String {
    let unit = Units::of(scenario, time_step).time;
    format!(
        "{} · {} · {} · {} · Δt = {}",
        report.method,
        report.variant,
        report.precision.as_str(),
        report.backend.as_str(),
        unit.show(time_step.abs(), 3)
    )
}

/// Shows the section. `flat`: the field is shown as a picture or a graph, which is how two of them are shown.
pub fn show(ui: &mut Ui, comparison: &mut Comparison, frame: &Frame, flat: bool) {
    section(ui, Icon::Columns2, "Compare", false, |ui| {
        let Some(scenario) = &frame.scenario else {
            hint(ui, "Nothing runs yet.");
            return;
        };
        if scenario.mirror().is_some() {
            comparison.on = false;
            hint(
                ui,
                "Scenes with a mirror have one run: what is sent back is its own record.",
            );
            return;
        }
        if comparison.riddle.is_some() {
            hint(ui, "Which of the two runs is wrong is asked over the picture.");
            return;
        }
        ui.checkbox(&mut comparison.on, "a second run from the present state")
            .on_hover_text("Both runs go on in step; the picture shows both, or their difference, and the plot “Difference” its size.");
        if !comparison.on {
            return;
        }
        other_rows(ui, &mut comparison.other, scenario);
        row(
            ui,
            "Show",
            "Both pictures with one range, or the second less the first.",
            |ui| {
                ui.selectable_value(&mut comparison.show, Show::Beside, "side by side");
                ui.selectable_value(&mut comparison.show, Show::Difference, "difference");
            },
        );
        if !flat {
            hint(
                ui,
                "A relief and a view in space show the first run alone: choose the plane (1) to see both.",
            );
        }
        let Some(compared) = &frame.compared else {
            hint(ui, "The second run is being prepared.");
            return;
        };
        verdict(ui, compared);
    });
}

fn verdict(ui: &mut Ui, compared: &Compared) {
    let Some((_, _, difference)) = compared.difference else {
        return;
    };
    let color = theme::palette(ui).strong;
    let (text, power) = told(difference);
    ui.label(egui::RichText::new(text).color(color))
        .on_hover_text("‖second − first‖ / ‖first‖ over all sites. A scheme of order p differs by the p-th power of Δt: half of Δt makes it 4 times smaller for order 2, 16 times for order 4.");
    if let Some(text) = power {
        hint(ui, &text);
    }
}

/// What is said of a relative difference, and of its power of ten, which 0 has not.
fn told(difference: f64) -> (String, Option<String>) {
    if difference == 0.0 {
        return ("They do not differ at all.".to_owned(), None);
    }
    (
        format!("They differ by {} of the field's size.", figure(difference, 3)),
        Some(format!("log₁₀ of it: {}", figure(difference.log10(), 3))),
    )
}

fn other_rows(ui: &mut Ui, other: &mut Other, scenario: &Scenario) {
    let equation = scenario.model().equation();
    let rank = scenario.grid().rank();
    let own = scenario.solver();
    let methods = METHODS
        .iter()
        .filter(|row| row.equation == equation && row.ranks.contains(&rank) && row.id != own.method)
        .map(|row| (Some(row.id), row.title.to_owned(), row.about.to_owned()));
    let same = std::iter::once((None, "the same method".to_owned(), String::new()));
    row(ui, "2nd method", "The method of the second run.", |ui| {
        choice(ui, "2nd method", &mut other.method, same.chain(methods))
    });
    row(ui, "2nd Δt", "Δt of the second run.", |ui| {
        for (divisor, title) in [(1, "Δt"), (2, "Δt/2"), (4, "Δt/4")] {
            ui.selectable_value(&mut other.divisor, divisor, title);
        }
    });
    row(ui, "2nd precision", "The precision of the second run.", |ui| {
        ui.selectable_value(&mut other.precision, None, "same");
        for (precision, title) in [(Precision::Single, "single"), (Precision::Double, "double")] {
            ui.selectable_value(&mut other.precision, Some(precision), title);
        }
    });
    let method = solver::find(other.method.unwrap_or(&own.method));
    let backends: Vec<Backend> = method
        .into_iter()
        .flat_map(solver::Method::present_targets)
        .map(|target| target.backend)
        .collect();
    if backends.len() > 1 {
        row(ui, "2nd back end", "Where the second run is computed.", |ui| {
            ui.selectable_value(&mut other.backend, None, "same");
            for backend in backends {
                ui.selectable_value(&mut other.backend, Some(BackendChoice::from(backend)), backend.title());
            }
        });
    } else {
        other.backend = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_alike_have_no_power_of_ten() {
        assert_eq!(told(0.0), ("They do not differ at all.".to_owned(), None));
        let (differ, power) = told(0.01);
        assert!(differ.contains("0.01 of"), "{differ}");
        assert_eq!(power.as_deref(), Some("log₁₀ of it: −2"));
    }

    #[test]
    fn the_other_scene_steps_by_a_part() {
        let file = super::super::background::read("double-slit", &["time.step=0.04".to_owned()])
            .unwrap()
            .file;
        let other = Other {
            method: Some("split-step-fourier"),
            divisor: 4,
            precision: Some(Precision::Double),
            backend: None,
        };
        let scene = other.scene(&file, -0.1);
        assert_eq!(scene.time.step, Some(0.01));
        assert_eq!(scene.solver.method.as_deref(), Some("split-step-fourier"));
        assert!(scene.solver.parameters.is_empty() && scene.expectations.is_empty());
        // Whatever a scene says of its detectors, a second run has none.
        for preset in crate::scene::presets::all() {
            let opened = super::super::background::read(preset.name, &[]).unwrap();
            let (file, scenario) = (opened.file, opened.scenario);
            let method = solver::find(&scenario.solver().method).unwrap();
            let scene = Other::default().scene(&file, method.time_step(&scenario));
            let found = crate::solver::validate_scene(&scene, None);
            assert!(
                file.mirror.is_some() || found.is_ok(),
                "{}: {:?}",
                preset.name,
                found.err()
            );
        }
        let mut auto = file;
        auto.time.step = None;
        assert_eq!(Other::default().scene(&auto, -0.1).time.step, Some(0.05));
    }
}
