//! What the window does with answers, wishes and edits: the other half of [`App`].

use super::FIRST_PRESET;
use super::command::Action;
use super::demo::{Before, Demo, Turn};
use super::errands::{Ask, Opened, Outcome};
use super::film::{Filming, Order};
use super::film_panel::{What, Wish};
use super::theme;
use super::time_panel::change_speed;
use super::tools::Tool;
use super::tour::Tour;
use super::watcher::Watched;
use super::window::{App, Wishes};
use crate::engine::{Command, Engine, Job, Status};
use crate::export::film::Script;
use crate::export::paint::{Look, Painter};
use crate::export::{self, About, Format};
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
            self.take(ctx, outcome);
        }
        self.collect_film();
        self.worker.frame();
        if self.worker.is_backed_up() {
            ctx.request_repaint_after_secs(0.02);
        }
        let frame = self.worker.last_frame();
        self.history.record(frame);
        self.questions.follow(frame);
        self.tape.record(frame, ctx.input(|input| input.time));
        self.carpet.record(frame, &self.view);
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

    fn take(&mut self, ctx: &egui::Context, outcome: Outcome) {
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
            Outcome::Compared(Ok(scenario)) if self.comparison.on => {
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
            Outcome::Chosen(ask, path) => self.use_file(ctx, ask, path),
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
        self.comparison.start_over();
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
            self.errands.compare(file, self.document.path());
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
            Action::ExportFilm => self.film_dialogue.open(self.worker.last_frame()),
            Action::ExportField => self.ask(Ask::Field),
            Action::ExportRecords => self.ask(Ask::Records),
            Action::SaveCheckpoint => self.ask(Ask::Checkpoint),
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::Undo => self.moved(Self::undo),
            Action::Redo => self.moved(Self::redo),
            Action::PlayPause => {
                let running = self.worker.last_frame().status == Status::Running;
                if !running {
                    self.tape.leave();
                }
                self.worker.send(if running { Command::Pause } else { Command::Play });
            }
            Action::Step => {
                self.tape.leave();
                self.worker.send(Command::Step(1));
            }
            Action::Reverse => self.worker.send(Command::Reverse),
            Action::BackToTurn => self.worker.send(Command::BackToTurn),
            Action::Earlier | Action::Later => {
                if self.worker.last_frame().status == Status::Running {
                    self.worker.send(Command::Pause);
                }
                self.tape.turn(if action == Action::Earlier { -1 } else { 1 });
            }
            Action::Reset => {
                self.tape.leave();
                self.history.clear();
                self.view.range.reset();
                self.worker.send(Command::Reset);
            }
            Action::Snapshot => self.worker.send(Command::Snapshot),
            Action::Restore => {
                self.tape.leave();
                self.worker.send(Command::Restore);
            }
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
            | Action::MirrorTool
            | Action::RegionTool
            | Action::ArrangeTool
            | Action::RulerTool => {
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
            Action::ShowPlane => {
                self.view.relief = false;
                self.show_as(ViewMode::Plane);
            }
            Action::ShowRelief => self.toggle_relief(),
            Action::ShowSlices => self.show_as(ViewMode::Slices),
            Action::ShowVolume => self.show_as(ViewMode::Volume),
            Action::HidePanels => self.bare = !self.bare,
            Action::LeftPanel => self.settings.left = !self.settings.left,
            Action::RightPanel => self.settings.right = !self.settings.right,
            Action::Plots => self.settings.plots = !self.settings.plots,
            Action::FullScreen => {
                let full = !self.full_screen;
                self.set_full_screen(ctx, full);
            }
            Action::Theme => {
                self.settings.dark = !self.settings.dark;
                ctx.set_theme(if self.settings.dark {
                    egui::Theme::Dark
                } else {
                    egui::Theme::Light
                });
            }
            Action::Contrast => {
                self.settings.contrast = !self.settings.contrast;
                theme::set_contrast(ctx, self.settings.contrast);
            }
            Action::Larger => self.resize(ctx, 1.1),
            Action::Smaller => self.resize(ctx, 1.0 / 1.1),
            Action::NormalSize => self.resize(ctx, 1.0 / self.settings.zoom),
            Action::Demo => self.toggle_demo(ctx),
            Action::Tour => self.tour = Some(Tour::default()),
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
            Action::RegionTool => Tool::Region,
            Action::ArrangeTool => Tool::Arrange,
            Action::RulerTool => Tool::Ruler,
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
        } else if mode != ViewMode::Plane {
            let text = format!(
                "Only scenes of three dimensions are shown as {}; this one has {rank}",
                mode.word()
            );
            self.notices.say(text);
        }
    }

    /// Makes everything larger by a factor.
    fn resize(&mut self, ctx: &egui::Context, factor: f32) {
        self.settings.zoom = (self.settings.zoom * factor).clamp(0.5, 3.0);
        ctx.set_zoom_factor(self.settings.zoom);
    }

    /// Begins the mode for lecture halls, or ends it.
    fn toggle_demo(&mut self, ctx: &egui::Context) {
        if self.demo.is_some() {
            self.turn_demo(ctx, Turn::End);
            return;
        }
        let before = Before {
            bare: self.bare,
            full_screen: self.full_screen,
            zoom: ctx.zoom_factor(),
        };
        let demo = Demo::begin(self.document.preset(), before);
        ctx.set_zoom_factor(demo.zoom());
        self.bare = true;
        self.set_full_screen(ctx, true);
        if self.document.preset() != Some(demo.preset()) {
            self.plays_first = true;
            self.errands.open(demo.preset().to_owned(), Vec::new());
        }
        self.demo = Some(demo);
    }

    /// From preset to preset, each playing; or back to the window as it was.
    pub(super) fn turn_demo(&mut self, ctx: &egui::Context, turn: Turn) {
        if turn == Turn::End {
            if let Some(demo) = self.demo.take() {
                ctx.set_zoom_factor(demo.before.zoom);
                self.bare = demo.before.bare;
                self.set_full_screen(ctx, demo.before.full_screen);
            }
            return;
        }
        if let Some(demo) = &mut self.demo {
            demo.turn(turn);
            self.plays_first = true;
            self.errands.open(demo.preset().to_owned(), Vec::new());
        }
    }

    fn set_full_screen(&mut self, ctx: &egui::Context, full: bool) {
        self.full_screen = full;
        ctx.send_viewport_cmd(ViewportCommand::Fullscreen(full));
    }

    /// Shows a scene of two dimensions as a relief, or as a picture again.
    fn toggle_relief(&mut self) {
        let rank = self.document.draft.grid.size.len();
        if rank == 2 {
            self.view.relief = !self.view.relief;
        } else {
            self.notices.say(format!(
                "Only scenes of two dimensions are shown as a relief; this one has {rank}"
            ));
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
    fn use_file(&mut self, ctx: &egui::Context, ask: Ask, path: PathBuf) {
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
            Ask::Film(format) => self.film(ctx, format, path),
            Ask::Records => self.worker.send(Command::Run(Job::new(move |engine| {
                let rows = export::csv::records(&path, engine.scenario().detectors(), engine.taps());
                let rows = rows.map_err(|error| error.to_string())?;
                Ok(format!("{rows} records written to {}", path.display()))
            }))),
            Ask::Picture => {
                self.keep_view();
                let text = self.document.draft.to_toml();
                let Some(look) = self.look() else { return };
                self.worker.send(Command::Run(Job::new(move |engine| {
                    picture(engine, &path, &text, &look)?;
                    Ok(format!("Picture written to {}", path.display()))
                })));
            }
        }
    }
}

/// Films.
impl App {
    /// The scene as the window shows it, with title, clock and colours.
    fn look(&self) -> Option<Look> {
        let scenario = self.worker.last_frame().scenario.as_deref()?;
        let grid = scenario.grid();
        let mut look = Look::of(scenario);
        look.overlay = true;
        look.orbit = self.view.orbit;
        if grid.rank() == 3 {
            look.plane = Some(self.view.plane());
            look.slices = self.view.slices.map(|site| site as f64 * grid.spacing());
        }
        Some(look)
    }

    /// The sites in view along x and y.
    fn seen(&self, sites: [usize; 2]) -> [std::ops::Range<usize>; 2] {
        let area = self.canvas_area;
        if sites[1] > 1 {
            return self.view.camera.seen(area, sites);
        }
        let strip = super::graph_view::strip(super::graph_view::plot_area(area));
        let [x, _] = self.view.camera.seen(strip, sites);
        [x, 0..1]
    }

    /// Asks where the film of the dialogue shall go.
    pub(super) fn ask_for_film(&self) {
        if let Some(wanted) = self.film_dialogue.wanted() {
            self.ask(Ask::Film(wanted.format));
        }
    }

    /// Begins the film of the dialogue.
    fn film(&mut self, ctx: &egui::Context, format: Format, path: PathBuf) {
        if self.filming.is_some() {
            self.notices
                .say("A film is being made; end or cancel it before the next one");
            return;
        }
        self.keep_view();
        let scene = self.document.draft.to_toml();
        let frame = self.worker.last_frame();
        let (Some(wanted), Some(mut look), Some(scenario)) = (
            self.film_dialogue.wanted().cloned(),
            self.look(),
            frame.scenario.clone(),
        ) else {
            return;
        };
        look.overlay = wanted.overlay;
        if wanted.part {
            let [nx, ny, _] = scenario.grid().size();
            look.region = Some(self.seen([nx, ny]));
        }
        look.size = Some(wanted.size);
        let order = Order {
            scenario,
            look,
            format,
            path,
            scene,
            fps: wanted.fps,
        };
        let wake = {
            let ctx = ctx.clone();
            move || ctx.request_repaint()
        };
        let begun = match wanted.what {
            What::Scene => {
                let script = Script {
                    from: 0.0,
                    to: wanted.end,
                    pictures: wanted.pictures(),
                    fps: wanted.fps,
                };
                Filming::scene(order, script, wake).map_err(|error| error.to_string())
            }
            What::Now => Filming::recording(order, frame.clock.time_step, wake).map(|(filming, job)| {
                self.worker.send(Command::EachPicture(Some(job)));
                filming
            }),
        };
        match begun {
            Ok(filming) => self.filming = Some(filming),
            Err(text) => self.notices.fault("The film cannot be made", vec![text]),
        }
    }

    /// Ends or gives up the film under way.
    pub(super) fn end_film(&mut self, wish: Wish) {
        if let Some(filming) = &self.filming {
            if wish == Wish::Cancel {
                filming.progress.cancel();
            }
            if filming.records {
                self.worker.send(Command::EachPicture(None));
            }
        }
    }

    /// Says what came of the film under way, once it is done.
    fn collect_film(&mut self) {
        let Some(filming) = &self.filming else { return };
        let Some(result) = filming.result() else { return };
        let (path, records) = (filming.path.display().to_string(), filming.records);
        let cancelled = filming.progress.is_cancelled();
        let pictures = filming.progress.done();
        self.filming = None;
        if records {
            self.worker.send(Command::EachPicture(None));
        }
        match result {
            Ok(bytes) => self.notices.say(format!(
                "Film written to {path}: {pictures} pictures, {}",
                crate::units::bytes(bytes)
            )),
            Err(_) if cancelled => self.notices.say("The film was cancelled; nothing was written"),
            Err(text) => self.notices.fault("The film cannot be made", vec![text]),
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
