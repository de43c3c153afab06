//! What the window does with answers: what came in since the last frame, and scenes that were read or checked.

use super::background::{Opened, Outcome};
use super::settings::LeftTab;
use super::watcher::Watched;
use super::window::App;
use super::{FIRST_PRESET, system};
use crate::engine::{Command, Status};
use crate::physics::{Equation, StateMeasures};
use crate::scene::scenario::Subject;
use crate::scene::{Faults, Scenario, SceneFile, presets};
use crate::solver;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds that a scene shall take to its end, at 60 pictures a second.
const SHOW_SECONDS: f64 = 16.0;

impl App {
    /// Takes over what came in since the last frame.
    pub(super) fn collect(&mut self, ctx: &egui::Context) {
        self.background.watch(Watched {
            scene: self.document.scene_file().map(Path::to_owned),
            folder: self.settings.own_folder().map(Path::to_owned),
        });
        self.background.find_fonts();
        let outcomes: Vec<Outcome> = self.background.outcomes().collect();
        for outcome in outcomes {
            self.take(ctx, outcome);
        }
        self.collect_film();
        system::hand_out();
        self.worker.frame();
        if self.worker.is_backed_up() {
            ctx.request_repaint_after_secs(0.02);
        }
        let frame = self.worker.last_frame();
        let waits_at_start = frame.clock.steps == 0 && frame.status == Status::Paused;
        let is_known = frame.scenario.is_some() && frame.status != Status::Starting;
        if is_known
            && let Some(steps) = self.pace_at_start.take()
            && waits_at_start
        {
            self.steps_per_frame = Some(steps);
            self.worker.send(Command::StepsPerFrame(self.steps_per_frame));
            self.worker.send(Command::Rest(self.settings.rests));
        }
        let frame = self.worker.last_frame();
        self.history.record(frame);
        self.questions.follow(frame);
        self.run_log.follow(frame);
        self.frame_history.record(frame, ctx.input(|input| input.time));
        self.carpet.record(frame, &self.view);
        if let Some(notice) = &frame.notice
            && notice.serial != self.noticed
        {
            self.noticed = notice.serial;
            if notice.is_error {
                self.notices.fault("This did not work", vec![notice.text.to_string()]);
            } else {
                self.notices.say(notice.text.to_string());
            }
        }
        // On the way back from a mirror the medium may be another one.
        if let Some(scenario) = frame
            .mirror
            .as_ref()
            .map(|mirror| &mirror.present)
            .or(frame.scenario.as_ref())
        {
            let wanted = (scenario.clone(), self.view.plane());
            let known = self
                .medium_of
                .as_ref()
                .is_some_and(|(of, plane)| Arc::ptr_eq(of, &wanted.0) && *plane == wanted.1);
            if !known {
                self.background.medium(&wanted.0, wanted.1);
                self.medium_of = Some(wanted);
            }
        }
        self.ask_for_space();
        self.follow_rest(ctx);
        let title = match &self.document.draft.title {
            title if title.is_empty() => "Ripplon".to_owned(),
            title => format!("{title} – Ripplon"),
        };
        if title != self.title {
            system::set_title(ctx, &title);
            self.title = title;
        }
    }

    /// Has the engine take the measures of ψ while a plot or a prediction shows one.
    pub(super) fn ask_for_state(&mut self) {
        let frame = self.worker.last_frame();
        let Some(scenario) = &frame.scenario else { return };
        let predicted = scenario
            .expectations()
            .iter()
            .any(|expectation| matches!(&expectation.subject, Subject::Observable(name) if StateMeasures::has(name)));
        let quantum = scenario.model().equation() == Equation::Schrodinger;
        let plotted = self.settings.plots && self.chosen_plots().iter().any(|kind| kind.is_of_state());
        let wanted = (plotted || predicted) && quantum;
        if wanted != self.asked_for_state {
            self.asked_for_state = wanted;
            self.worker.send(Command::StateMeasures(wanted));
        }
    }

    /// Has the medium of a scene of three dimensions made anew where it has changed.
    fn ask_for_space(&mut self) {
        let Some(scenario) = &self.worker.last_frame().scenario else {
            return;
        };
        let known = self.space_of.as_ref().is_some_and(|of| {
            Arc::ptr_eq(of, scenario) || (of.medium() == scenario.medium() && of.model() == scenario.model())
        });
        if !known {
            self.background.space(scenario);
            self.space_of = Some(scenario.clone());
        }
    }

    fn take(&mut self, ctx: &egui::Context, outcome: Outcome) {
        match outcome {
            Outcome::Opened(Ok(opened)) => self.start(*opened),
            Outcome::Opened(Err(faults)) => self.refuse(&faults),
            Outcome::Checked { revision, result } if revision == self.document.revision() => match result {
                Ok(scenario) => {
                    self.document.faults = None;
                    let scenario = self.with_words_that_hold(scenario);
                    self.apply(scenario);
                }
                Err(faults) => self.document.faults = Some(faults),
            },
            Outcome::Compared(Ok(scenario)) if self.comparison.on => {
                self.comparison.scenario = Some(Arc::clone(&scenario));
                self.worker.send(Command::Compare(Some(scenario)));
            }
            // Answers about a draft that is no longer the present one.
            Outcome::Checked { .. } | Outcome::Compared(Ok(_)) => {}
            Outcome::Compared(Err(faults)) => {
                self.comparison.on = false;
                self.notices.fault("The second run cannot start", lines(&faults));
            }
            Outcome::Medium(of, image) => {
                let current = self
                    .medium_of
                    .as_ref()
                    .is_some_and(|(scenario, _)| Arc::ptr_eq(scenario, &of));
                if current {
                    if let Some(pictures) = &mut self.pictures {
                        pictures.take_medium(&image);
                    }
                    self.medium = image;
                    self.projector.take_medium();
                }
            }
            Outcome::Space(of, volume) => {
                if self
                    .space_of
                    .as_ref()
                    .is_some_and(|scenario| Arc::ptr_eq(scenario, &of))
                {
                    if let Some(pictures) = &mut self.pictures {
                        pictures.take_medium_volume(&volume);
                    }
                    self.space = volume;
                    self.projector.take_medium();
                }
            }
            // A run of a scene that is no longer open would be an edit of another one.
            Outcome::Varied(opened, _) if opened != self.document.opened() => {}
            Outcome::Varied(_, Ok(file)) => {
                self.document.draft = *file;
                self.begins_anew = true;
            }
            Outcome::Varied(_, Err(faults)) => self.notices.fault("The run cannot be opened", lines(&faults)),
            Outcome::Restored(opened) => {
                self.start(*opened);
                self.document.mark_unsaved();
                self.check();
            }
            Outcome::BroughtBack(opened, replaced) => self.take_back(*opened, *replaced),
            Outcome::Saved(opened, file, path) => self.take_saved(opened, *file, path),
            Outcome::Rewritten(path, read) => self.reread(&path, read),
            Outcome::Shelf(scenes) => {
                self.background.draw_covers(&scenes);
                self.gallery.set_own(scenes);
            }
            Outcome::Cover(path, picture) => self.gallery.set_cover(&path, &picture),
            Outcome::Fonts(fonts) => super::fallback::add(ctx, fonts),
            Outcome::Chosen(ask, path) => self.use_file(ctx, ask, path),
            Outcome::NoDialogue(ask, suggestion) => self.prompt.open(ask, suggestion),
            Outcome::Taken(ask, path) => self.prompt.warn(ask, path),
            Outcome::Dropped(dropped) => {
                let text = super::dropped::add(&mut self.document.draft, dropped);
                self.notices.say(text);
            }
            Outcome::Connected(result) => self.take_connection(ctx, result),
            Outcome::Failed(title, text) => self.notices.fault(title, vec![text]),
        }
    }

    /// The scene was written.
    fn take_saved(&mut self, opened: u64, file: SceneFile, path: PathBuf) {
        self.notices.say(format!("Saved as {}", path.display()));
        self.settings.remember(&path);
        if opened != self.document.opened() {
            // Another scene was opened meanwhile, which has a file of its own or none.
            return;
        }
        // What the file says is from now on said of what is in it.
        let checks = self.document.checks();
        if checks.mixed && checks.edited {
            self.notices.say(WHEN_EDITED);
        }
        let before = checks.claims;
        self.document.mark_saved(file, path);
        if self.document.checks().claims != before {
            self.check();
        }
        self.recovery.clear();
    }

    /// What a scene says of itself is not said of another one: neither drawn nor exported.
    fn with_words_that_hold(&self, scenario: Arc<Scenario>) -> Arc<Scenario> {
        let claims = self.document.checks().claims;
        if claims.notes.iter().chain(&claims.theories).all(|holds| *holds) {
            scenario
        } else {
            Arc::new(scenario.with_words(&claims))
        }
    }

    /// Starts a scene that was read.
    pub(super) fn start(&mut self, opened: Opened) {
        self.worker.send(Command::Load(opened.scenario.clone()));
        self.show(opened);
    }

    /// Shows a scene that the worker has.
    pub(super) fn show(&mut self, opened: Opened) {
        let is_preset = opened.preset.is_some();
        let steps = pace(&opened.scenario);
        self.pace_at_start = None;
        self.take_up(opened);
        self.steps_per_frame = Some(steps);
        self.worker.send(Command::StepsPerFrame(self.steps_per_frame));
        self.worker.send(Command::Rest(self.settings.rests));
        if std::mem::take(&mut self.plays_first) || (is_preset && self.plays_presets) {
            self.worker.send(Command::Play);
            self.starting = true;
        }
        self.first_try = false;
    }

    /// Shows a scene that another machine has. A run that is under way is left as it is; one that waits at its start is shown as it would be here.
    pub(super) fn show_as_it_runs(&mut self, opened: Opened) {
        self.pace_at_start = Some(pace(&opened.scenario));
        self.take_up(opened);
        self.steps_per_frame = None;
        self.plays_first = false;
        self.first_try = false;
    }

    fn take_up(&mut self, opened: Opened) {
        if let Some(path) = &opened.path {
            self.settings.remember(path);
        }
        let is_preset = opened.preset.is_some();
        if is_preset && !opened.file.about.trim().is_empty() {
            // What a preset is about is read first.
            self.settings.tab = LeftTab::Lesson;
        }
        self.keep_replaced();
        self.document.open(opened.file, opened.path, opened.preset);
        self.document.set_original(opened.original);
        // What was wished for the scene before is not of this one.
        self.begins_anew = false;
        self.frame_history.leave();
        self.view.start_over(&opened.scenario);
        self.scene_plots = None;
        self.comparison.start_over();
        self.sweep.start_over();
        self.levels.start_over();
        self.room.start_over();
        self.dispersion.start_over();
        self.view.tools.start_over(&self.document.draft);
        self.history.clear();
        if !self.first_try {
            // They were said of the scene before; the fault of a link, which stands there before any scene, was not.
            self.notices.clear_faults();
        }
        if self.document.checks().edited {
            // What the scene says of itself is not said of it with other values.
            self.check();
        }
    }

    /// The open scene's file was written by another program: it is taken over, as an edit that can be undone, unless edits would be lost.
    fn reread(&mut self, path: &Path, read: Result<Box<SceneFile>, Faults>) {
        if self.document.scene_file() != Some(path) {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match read {
            Ok(file) if self.document.is_modified() => {
                if !self.document.is_saved_as(&file) {
                    self.notices.say(format!(
                        "{name} was changed by another program; your edits are kept. Open it again to take over what it says now"
                    ));
                }
            }
            Ok(file) => {
                if self.document.reload(*file) {
                    self.notices
                        .say(format!("{name} was changed by another program and read again"));
                    self.check();
                }
            }
            Err(faults) => self
                .notices
                .fault(format!("{name} was changed and cannot be read"), lines(&faults)),
        }
    }

    /// Has the present draft checked, and then run.
    pub(super) fn check(&mut self) {
        let path = self.document.path().map(Path::to_owned);
        self.background
            .check(self.document.revision(), &self.document.draft, path.as_deref());
    }

    pub(super) fn refuse(&mut self, faults: &Faults) {
        let title = match faults.list.len() {
            1 => CANNOT_BE_OPENED.to_owned(),
            count => format!("{CANNOT_BE_OPENED}: {count} faults"),
        };
        self.notices.clear(CANNOT_BE_OPENED);
        self.notices.fault(title, lines(faults));
        // The scene of the last time is gone or broken: the first start's scene instead of an empty window.
        if std::mem::take(&mut self.first_try) {
            let fallback = presets::find(FIRST_PRESET).or(presets::all().first());
            if let Some(preset) = fallback {
                self.background.open(preset.name.to_owned(), Vec::new());
            }
        }
    }

    /// Goes on with an edited scene.
    fn apply(&mut self, scenario: Arc<Scenario>) {
        let size = scenario.grid().size();
        let other = self
            .worker
            .last_frame()
            .scenario
            .as_ref()
            .is_none_or(|present| present.grid().size() != size);
        if other {
            self.view.start_over(&scenario);
        }
        self.worker.send(Command::Update(scenario));
        if std::mem::take(&mut self.begins_anew) {
            self.frame_history.leave();
            self.history.clear();
            self.worker.send(Command::Reset);
            self.worker.send(Command::Play);
        }
    }

    /// Sends an edit of this frame to be checked; all of a drag or of typing is one edit.
    pub(super) fn submit_edit(&mut self, ctx: &egui::Context) {
        if self.document.touch() {
            self.check();
        }
        let busy = ctx.input(|input| input.pointer.any_down()) || ctx.text_edit_focused();
        if !busy {
            self.document.end_gesture();
        }
    }

    /// Has the second run checked where it shall be another one than before, or ends it.
    pub(super) fn submit_comparison(&mut self) {
        let frame = self.worker.last_frame();
        let time_step = frame.clock.time_step;
        let runs = frame.compared.is_some();
        if !self.comparison.on && runs && !self.ended {
            self.worker.send(Command::Compare(None));
            self.ended = true;
        }
        self.ended &= runs && !self.comparison.on;
        // While an edit is being checked the draft is not what runs.
        if self.document.faults.is_some() {
            return;
        }
        let revision = self.document.revision();
        if let Some(file) = self.comparison.wants(&self.document.draft, revision, time_step) {
            self.background.compare(file, self.document.path());
        }
    }
}

/// What a file does not hold of edits that were made while the scene ran.
const WHEN_EDITED: &str = "Edits were made while it ran. In the file they act from the start, those of a mirror's way back from the reversal on";

/// The title of a scene's faults.
const CANNOT_BE_OPENED: &str = "The scene cannot be opened";

/// What is wrong with a scene, for a notice: where it stands, then fault by fault.
fn lines(faults: &Faults) -> Vec<String> {
    let described = faults.list.iter().map(|fault| {
        let place = fault
            .location
            .as_ref()
            .map_or(String::new(), |at| format!("line {}, column {}: ", at.line, at.column));
        format!("{place}{}", fault.in_words())
    });
    std::iter::once(faults.origin.clone()).chain(described).collect()
}

/// Steps per frame with which a scene reaches its end in [`SHOW_SECONDS`] at 60 pictures a second.
fn pace(scenario: &Scenario) -> u64 {
    let step = solver::find(&scenario.solver().method).map_or(1.0, |method| method.time_step(scenario));
    let steps = scenario
        .time()
        .end
        .map_or(8.0, |end| end / step.abs() / (60.0 * SHOW_SECONDS));
    (steps.ceil() as u64).clamp(1, 4096)
}
