//! What the window does with answers, wishes and edits: the other half of [`App`].

use super::FIRST_PRESET;
use super::command::Action;
use super::errands::{Ask, Opened, Outcome};
use super::time_panel::change_speed;
use super::tools::Tool;
use super::watcher::Watched;
use super::window::{App, Wishes};
use crate::engine::{Command, Engine, Job, Status};
use crate::export::paint::{Look, Painter};
use crate::export::{self, About};
use crate::scene::presets;
use crate::scene::scenario::ViewMode;
use crate::scene::{Faults, Scenario, SceneFile};
use crate::solver;
use egui::ViewportCommand;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Seconds that a scene shall take to its end, at 60 pictures a second.
const SHOW_SECONDS: f64 = 16.0;

impl App {
    /// Takes over what came in since the last frame.
    pub(super) fn collect(&mut self, ctx: &egui::Context) {
        self.errands.watch(Watched {
            scene: self.document.scene_file().map(Path::to_owned),
            folder: self.settings.own_folder().map(Path::to_owned),
        });
        let outcomes: Vec<Outcome> = self.errands.outcomes().collect();
        for outcome in outcomes {
            self.take(outcome);
        }
        self.worker.frame();
        if self.worker.is_backed_up() {
            ctx.request_repaint_after_secs(0.02);
        }
        let frame = self.worker.last_frame();
        self.history.record(frame);
        if let Some(notice) = &frame.notice
            && notice.serial != self.noticed
        {
            self.noticed = notice.serial;
            if notice.is_error {
                self.notices.fault("The engine reports", vec![notice.text.to_string()]);
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
                self.errands.medium(&wanted.0, wanted.1);
                self.medium_of = Some(wanted);
            }
        }
        self.ask_for_space();
        let title = match &self.document.draft.title {
            title if title.is_empty() => "Ripplon".to_owned(),
            title => format!("{title} – Ripplon"),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
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
            self.errands.space(scenario);
            self.space_of = Some(scenario.clone());
        }
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Opened(Ok(opened)) => self.start(*opened),
            Outcome::Opened(Err(faults)) => self.refuse(&faults),
            Outcome::Checked { revision, result } if revision == self.document.revision() => match result {
                Ok(scenario) => {
                    self.document.faults = None;
                    self.apply(scenario);
                }
                Err(faults) => self.document.faults = Some(faults),
            },
            // An answer about a draft that is no longer the present one.
            Outcome::Checked { .. } => {}
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
                }
            }
            Outcome::Saved(file, path) => {
                self.notices.say(format!("Saved as {}", path.display()));
                self.settings.remember(&path);
                self.document.mark_saved(*file, path);
            }
            Outcome::Rewritten(path, read) => self.reread(&path, read),
            Outcome::Shelf(scenes) => self.gallery.set_own(scenes),
            Outcome::Chosen(ask, path) => self.use_file(ask, path),
            Outcome::NoDialogue(ask, suggestion) => self.prompt.open(ask, suggestion),
            Outcome::Taken(ask, path) => self.prompt.warn(ask, path),
            Outcome::Dropped(dropped) => {
                let text = super::dropped::add(&mut self.document.draft, dropped);
                self.notices.say(text);
            }
            Outcome::Failed(title, text) => self.notices.fault(title, vec![text]),
        }
    }

    /// Starts a scene that was read.
    fn start(&mut self, opened: Opened) {
        self.worker.send(Command::Load(opened.scenario.clone()));
        self.show(opened);
    }

    /// Shows a scene that the worker has.
    pub(super) fn show(&mut self, opened: Opened) {
        if let Some(path) = &opened.path {
            self.settings.remember(path);
        }
        self.document.open(opened.file, opened.path, opened.preset);
        self.view.start_over(&opened.scenario);
        self.view.tools.start_over(&self.document.draft);
        self.history.clear();
        self.notices.clear("The scene cannot be opened");
        self.steps_per_frame = Some(pace(&opened.scenario));
        self.worker.send(Command::StepsPerFrame(self.steps_per_frame));
        if std::mem::take(&mut self.plays_first) {
            self.worker.send(Command::Play);
        }
        self.first_try = false;
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
    fn check(&mut self) {
        let path = self.document.path().map(Path::to_owned);
        self.errands
            .check(self.document.revision(), &self.document.draft, path.as_deref());
    }

    fn refuse(&mut self, faults: &Faults) {
        self.notices.fault("The scene cannot be opened", lines(faults));
        // The scene of the last time is gone or broken: the first start's scene instead of an empty window.
        if std::mem::take(&mut self.first_try) {
            let fallback = presets::find(FIRST_PRESET).or(presets::all().first());
            if let Some(preset) = fallback {
                self.errands.open(preset.name.to_owned(), Vec::new());
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

    /// Does what the panels asked for.
    pub(super) fn grant(&mut self, ctx: &egui::Context, wishes: Wishes) {
        if let Some(command) = wishes.command {
            self.worker.send(command);
        }
        if let Some(preset) = wishes.preset {
            self.errands.open(preset, Vec::new());
        }
        for action in wishes.actions {
            self.act(ctx, action);
        }
        if let Some(wish) = wishes.sound {
            if wish.listens {
                self.worker
                    .send(Command::Run(Job::new(move |engine| wish.play(engine))));
            } else {
                self.errands.ask(Ask::Sound, &wish.detector, None);
                self.sound = Some(wish);
            }
        }
    }

    /// Does one action.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Open => self.ask(Ask::Open),
            Action::Save => {
                self.keep_view();
                if let Some(path) = self.document.scene_file().map(Path::to_owned) {
                    self.errands.save(&self.document.draft, path);
                } else {
                    self.ask(Ask::Save);
                }
            }
            Action::SaveAs => {
                self.keep_view();
                self.ask(Ask::Save);
            }
            Action::ScenesFolder => self.ask(Ask::Folder),
            Action::ExportPicture => self.ask(Ask::Picture),
            Action::ExportField => self.ask(Ask::Field),
            Action::SaveCheckpoint => self.ask(Ask::Checkpoint),
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::Undo => self.moved(Self::undo),
            Action::Redo => self.moved(Self::redo),
            Action::PlayPause => {
                let running = self.worker.last_frame().status == Status::Running;
                self.worker.send(if running { Command::Pause } else { Command::Play });
            }
            Action::Step => self.worker.send(Command::Step(1)),
            Action::Reverse => self.worker.send(Command::Reverse),
            Action::BackToTurn => self.worker.send(Command::BackToTurn),
            Action::Reset => {
                self.history.clear();
                self.view.range.reset();
                self.worker.send(Command::Reset);
            }
            Action::Snapshot => self.worker.send(Command::Snapshot),
            Action::Restore => self.worker.send(Command::Restore),
            Action::Slower | Action::Faster => {
                let running = self.worker.last_frame().steps_per_frame;
                self.steps_per_frame = change_speed(self.steps_per_frame, running, action == Action::Faster);
                self.worker.send(Command::StepsPerFrame(self.steps_per_frame));
            }
            Action::MoveTool
            | Action::PacketTool
            | Action::SourceTool
            | Action::BrushTool
            | Action::ProbeTool
            | Action::MirrorTool => {
                self.take_tool(action);
            }
            _ => self.act_on_window(ctx, action),
        }
    }

    fn act_on_window(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Fit => {
                self.view.camera.fit();
                self.view.fit_in_space();
            }
            Action::ShowPlane => self.show_as(ViewMode::Plane),
            Action::ShowSlices => self.show_as(ViewMode::Slices),
            Action::ShowVolume => self.show_as(ViewMode::Volume),
            Action::HidePanels => self.bare = !self.bare,
            Action::LeftPanel => self.settings.left = !self.settings.left,
            Action::RightPanel => self.settings.right = !self.settings.right,
            Action::Plots => self.settings.plots = !self.settings.plots,
            Action::FullScreen => {
                self.full_screen = !self.full_screen;
                ctx.send_viewport_cmd(ViewportCommand::Fullscreen(self.full_screen));
            }
            Action::Theme => {
                self.settings.dark = !self.settings.dark;
                ctx.set_theme(if self.settings.dark {
                    egui::Theme::Dark
                } else {
                    egui::Theme::Light
                });
            }
            Action::Palette => self.palette.toggle(),
            Action::Help => self.help = !self.help,
            _ => {}
        }
        ctx.request_repaint();
    }

    /// Takes a tool into the hand, where the scene has it.
    fn take_tool(&mut self, action: Action) {
        let sound = self.document.draft.acoustic.is_some();
        let tool = match action {
            Action::PacketTool if sound => Tool::Pulse,
            Action::PacketTool => Tool::Packet,
            Action::SourceTool => Tool::Source,
            Action::BrushTool => Tool::Brush,
            Action::ProbeTool => Tool::Probe,
            Action::MirrorTool => Tool::Mirror,
            _ => Tool::Move,
        };
        if tool.fits(sound) {
            self.view.tools.tool = tool;
        }
    }

    /// Asks for a file or folder.
    fn ask(&self, ask: Ask) {
        self.errands
            .ask(ask, &self.document.draft.title, self.settings.own_folder());
    }

    /// Shows a scene of three dimensions in another way.
    fn show_as(&mut self, mode: ViewMode) {
        let rank = self.document.draft.grid.size.len();
        if rank == 3 {
            self.document.draft.view.mode = mode;
        } else {
            let text = format!(
                "Only scenes of three dimensions are shown as {}; this one has {rank}",
                mode.word()
            );
            self.notices.say(text);
        }
    }

    /// The draft gets camera and slices as they are, so that they are saved with it.
    fn keep_view(&mut self) {
        if let Some(scenario) = &self.worker.last_frame().scenario {
            self.view.write_into(&mut self.document.draft.view, scenario);
        }
    }

    fn undo(&mut self) -> bool {
        self.document.undo()
    }

    fn redo(&mut self) -> bool {
        self.document.redo()
    }

    fn moved(&mut self, change: fn(&mut Self) -> bool) {
        if change(self) {
            self.check();
        }
    }

    /// Reads or writes a file that was chosen.
    fn use_file(&mut self, ask: Ask, path: PathBuf) {
        match ask {
            Ask::Open => self.open(&path.to_string_lossy()),
            Ask::Save => {
                self.document.prepare_for(&path);
                self.errands.save(&self.document.draft, path);
            }
            Ask::Folder => {
                self.notices.say(format!("Your scenes are those in {}", path.display()));
                self.settings.folder = Some(path);
            }
            Ask::Checkpoint => self.worker.send(Command::SaveCheckpoint(path)),
            Ask::Field => self.worker.send(Command::Run(Job::new(move |engine| {
                let field = engine.field().map_err(|error| error.to_string())?;
                export::npy::save(&path, engine.scenario().grid(), &field).map_err(|error| error.to_string())?;
                Ok(format!("Field written to {}", path.display()))
            }))),
            Ask::Sound => {
                if let Some(wish) = self.sound.clone() {
                    self.worker.send(Command::Run(Job::new(move |engine| {
                        let written = wish.write(engine, &path)?;
                        Ok(format!("Sound written to {}: {written}", path.display()))
                    })));
                }
            }
            Ask::Picture => {
                self.keep_view();
                let text = self.document.draft.to_toml();
                let (plane, orbit) = (self.view.plane(), self.view.orbit);
                let slices = self.view.slices;
                self.worker.send(Command::Run(Job::new(move |engine| {
                    let grid = engine.scenario().grid();
                    let mut look = Look::of(engine.scenario());
                    look.overlay = true;
                    look.orbit = orbit;
                    if grid.rank() == 3 {
                        look.plane = Some(plane);
                        look.slices = slices.map(|site| site as f64 * grid.spacing());
                    }
                    picture(engine, &path, &text, &look)?;
                    Ok(format!("Picture written to {}", path.display()))
                })));
            }
        }
    }
}

/// What is wrong with a scene, for a notice: where it stands, then fault by fault.
fn lines(faults: &Faults) -> Vec<String> {
    let described = faults.list.iter().map(|fault| {
        let place = fault
            .location
            .as_ref()
            .map_or(String::new(), |at| format!("line {}, column {}: ", at.line, at.column));
        let key = if fault.key.is_empty() {
            String::new()
        } else {
            format!("{}: ", fault.key)
        };
        format!("{place}{key}{}; {}", fault.message, fault.remedy)
    });
    std::iter::once(faults.origin.clone()).chain(described).collect()
}

/// Writes the field as the scene shows it, without the panels.
fn picture(engine: &mut Engine, path: &Path, scene: &str, look: &Look) -> Result<(), String> {
    let scenario = engine.scenario().clone();
    let clock = engine.clock();
    let mut painter = Painter::new(scenario.clone(), look, clock.time_step).map_err(|error| error.to_string())?;
    let about = About {
        title: scenario.title().to_owned(),
        scene: Some(scene.to_owned()),
        comment: format!("Ripplon, t = {}", clock.time),
    };
    let painted = painter.shoot(engine, 0.0).map_err(|error| error.to_string())?;
    export::png::save(path, painted, &about).map_err(|error| error.to_string())
}

/// Steps per frame with which a scene reaches its end in [`SHOW_SECONDS`] at 60 pictures a second.
fn pace(scenario: &Scenario) -> u64 {
    let step = scenario.time().step.unwrap_or_else(|| {
        solver::find(&scenario.solver().method).map_or(1.0, |method| (method.step_advice)(scenario).auto)
    });
    let steps = scenario
        .time()
        .end
        .map_or(8.0, |end| end / step.abs() / (60.0 * SHOW_SECONDS));
    (steps.ceil() as u64).clamp(1, 4096)
}
