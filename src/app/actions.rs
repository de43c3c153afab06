//! What the window does with wishes: the actions of menus, keys and palette.

use super::background::{Ask, Opened};
use super::command::Action;
use super::demo::{Before, Demo, Turn};
use super::panels::{is_narrow, is_upright};
use super::settings::LeftTab;
use super::system;
use super::theme;
use super::time_panel::change_speed;
use super::tools::Tool;
use super::tour::Tour;
use super::window::{App, Wishes};
use crate::engine::{Command, Job, Status};
use crate::export::errand::{Errand, Product, To};
use crate::scene::lecture::{Lecture, Stop};
use crate::scene::scenario::{Flow, ViewMode};
use crate::solver;
use egui::ViewportCommand;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Scenes to begin with.
const NEW_QUANTUM: &str = include_str!("new_quantum_scene.toml");
const NEW_SOUND: &str = include_str!("new_sound_scene.toml");

impl App {
    /// Does what the panels asked for.
    pub(super) fn grant(&mut self, ctx: &egui::Context, wishes: Wishes) {
        if let Some(command) = wishes.command {
            self.worker.send(command);
        }
        if let Some(preset) = wishes.preset {
            self.background.open(preset, Vec::new());
        }
        if let Some(setting) = wishes.setting {
            match self.document.set(&setting) {
                // Another look at what runs is no other run.
                Ok(()) => self.begins_anew |= !setting.trim_start().starts_with("view."),
                Err(faults) => {
                    let lines = faults
                        .list
                        .iter()
                        .map(|fault| format!("{}; {}", fault.message, fault.remedy));
                    self.notices
                        .fault(format!("{setting} does not fit this scene"), lines.collect());
                }
            }
        }
        for action in wishes.actions {
            self.act(ctx, action);
        }
        if let Some(wish) = wishes.sound {
            if wish.listens {
                self.worker.send(Command::Run(wish.play()));
            } else {
                self.background.ask(Ask::Sound, &wish.detector, None);
                self.sound = Some(wish);
            }
        }
    }

    /// Does one action.
    pub fn act(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::New => self.new_scene(NEW_QUANTUM),
            Action::NewSound => self.new_scene(NEW_SOUND),
            Action::Open => self.ask(Ask::Open),
            Action::Save => {
                self.keep_view();
                if let Some(path) = self.document.scene_file().map(Path::to_owned) {
                    self.background.save(&self.document, path);
                } else {
                    self.ask(Ask::Save);
                }
            }
            Action::SaveAs => {
                self.keep_view();
                self.ask(Ask::Save);
            }
            Action::ScenesFolder => self.ask(Ask::Folder),
            Action::Connect => self.connect.open(),
            Action::CopyLink => self.copy_link(ctx),
            Action::ExportPicture => self.ask(Ask::Picture),
            Action::ExportFilm => self.film_dialogue.open(self.worker.last_frame()),
            Action::ExportField => self.ask(Ask::Field),
            Action::ExportRecords => self.ask(Ask::Records),
            Action::SaveCheckpoint => self.ask(Ask::Checkpoint),
            Action::Quit => ctx.send_viewport_cmd(ViewportCommand::Close),
            Action::Undo => self.undo_or_bring_back(),
            Action::Redo => {
                if self.document.redo() {
                    self.check();
                }
            }
            Action::PlayPause => self.play_or_pause(),
            Action::Step => {
                self.frame_history.leave();
                self.questions.step();
                self.worker.send(Command::Step(1));
            }
            Action::Reverse => self.worker.send(Command::Reverse),
            Action::BackToTurn => self.worker.send(Command::BackToTurn),
            Action::Earlier | Action::Later => {
                if self.worker.last_frame().status == Status::Running {
                    self.worker.send(Command::Pause);
                }
                self.frame_history.turn(if action == Action::Earlier { -1 } else { 1 });
            }
            Action::Reset => {
                self.frame_history.leave();
                self.history.clear();
                self.view.range.reset();
                self.worker.send(Command::Reset);
            }
            Action::Snapshot => self.worker.send(Command::Snapshot),
            Action::Restore => {
                self.frame_history.leave();
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

    fn play_or_pause(&mut self) {
        let running = self.worker.last_frame().status == Status::Running;
        if !running {
            self.frame_history.leave();
            self.questions.pass();
        }
        self.worker.send(if running { Command::Pause } else { Command::Play });
    }

    fn act_on_window(&mut self, ctx: &egui::Context, action: Action) {
        match action {
            Action::Fit => {
                self.view.camera.fit();
                self.view.fit_in_space();
            }
            Action::ShowPlane => self.show_as(ViewMode::Plane),
            Action::ShowRelief => {
                let flat = self.document.draft.view.mode == ViewMode::Relief;
                self.show_as(if flat { ViewMode::Plane } else { ViewMode::Relief });
            }
            Action::ShowFlow => self.show_flow(),
            Action::ShowSlices => self.show_as(ViewMode::Slices),
            Action::ShowVolume => self.show_as(ViewMode::Volume),
            Action::HidePanels => self.bare = !self.bare,
            Action::LeftPanel => {
                let alone = is_upright(ctx) || is_narrow(ctx);
                // The panel at the right stands in its place.
                let covered = alone && self.settings.right;
                self.settings.left = covered || !self.settings.left;
                self.settings.right &= !(self.settings.left && alone);
            }
            Action::RightPanel => {
                self.settings.right = !self.settings.right;
                self.settings.left &= !(self.settings.right && is_upright(ctx));
            }
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
            Action::Rest => {
                self.settings.rests = !self.settings.rests;
                self.worker.send(Command::Rest(self.settings.rests));
                self.notices.say(if self.settings.rests {
                    "A run rests at the end of its scene"
                } else {
                    "A run goes on past the end of its scene"
                });
            }
            Action::Contrast => {
                self.settings.contrast = !self.settings.contrast;
                theme::set_contrast(ctx, self.settings.contrast);
            }
            Action::Larger => self.resize(ctx, 1.1),
            Action::Smaller => self.resize(ctx, 1.0 / 1.1),
            Action::NormalSize => self.resize(ctx, 1.0 / self.settings.zoom),
            Action::Sweep => self.sweep.open ^= true,
            Action::RunHere => self.run_here(ctx),
            Action::MeasurePosition => self.measure_position(),
            Action::Levels if self.document.draft.acoustic.is_some() && !self.levels.open => {
                self.notices
                    .say("Only quantum scenes have levels; this one is of sound");
            }
            Action::Levels => self.levels.open ^= true,
            Action::Room => self.room.open ^= true,
            Action::Dispersion => self.dispersion.open ^= true,
            Action::Riddle => self.begin_riddle(),
            Action::ClearWaves => self.clear_waves(),
            Action::Projector => self.projector.toggle(),
            Action::Demo => self.toggle_demo(ctx),
            Action::Tour => self.tour = Some(Tour::default()),
            Action::Palette => self.palette.toggle(ctx),
            Action::Help => self.help.toggle(),
            _ => {}
        }
        ctx.request_repaint();
    }

    /// Two runs from the start, one of them with a fault.
    pub(super) fn begin_riddle(&mut self) {
        if self.document.draft.mirror.is_some() {
            self.notices.say("Scenes with a mirror have one run; open another one");
            return;
        }
        let draw = crate::platform::Instant::now()
            .duration_since(self.meter.started())
            .as_nanos();
        if !self.comparison.begin_riddle(&self.document.draft, draw as u64) {
            self.notices
                .say("Nothing of this scene can be wrong unseen; open another one");
            return;
        }
        // A relief and a view in space show one run alone.
        self.document.draft.view.mode = ViewMode::Plane;
        self.frame_history.leave();
        self.history.clear();
        self.worker.send(Command::Reset);
        self.worker.send(Command::Play);
    }

    /// The scene without its waves, from t = 0.
    fn clear_waves(&mut self) {
        let before = self.document.draft.clone();
        let draft = &mut self.document.draft;
        let sound = draft.acoustic.is_some();
        if sound && draft.sources.is_empty() {
            // Without pulses and sources the scene could not run.
            self.notices
                .say("Nothing else sounds here: a new wave, placed with P, takes the place of what there is");
            return;
        }
        if sound {
            draft.pulses.clear();
            draft.initial = None;
        } else {
            draft.packets.truncate(1);
        }
        if *draft == before {
            self.notices.say(if sound {
                "The scene has no waves at t = 0 to be cleared"
            } else {
                "A quantum scene needs a state at t = 0: there is nothing to be cleared beside it"
            });
        } else {
            self.begins_anew = true;
        }
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
        let view = &self.document.draft.view;
        let rank = self.document.draft.grid.size.len();
        if !tool.fits(sound) {
            self.notices
                .say("Sources are of scenes of sound; this one is of a quantum wave");
        } else if let Some(why) = tool.obstacle(rank, view.mode, view.quantity) {
            self.notices.say(why);
        } else {
            self.view.tools.tool = tool;
        }
    }

    /// Copies a link that opens this page with the scene as it is.
    fn copy_link(&mut self, ctx: &egui::Context) {
        let preset = self.document.preset().filter(|_| !self.document.is_modified());
        let Some(link) = system::link_to(preset, &self.document.draft.to_toml()) else {
            return;
        };
        self.notices.say(if self.document.names_files() {
            "The link is copied; pictures, arrays and sounds that the scene names are not in it".to_owned()
        } else {
            format!("The link is copied: {} signs", link.len())
        });
        ctx.copy_text(link);
    }

    /// Asks for a file or folder.
    pub(super) fn ask(&self, ask: Ask) {
        self.background
            .ask(ask, &self.document.draft.title, self.settings.own_folder());
    }

    /// Shows the scene in another way, where it has as many dimensions as that needs.
    fn show_as(&mut self, mode: ViewMode) {
        let rank = self.document.draft.grid.size.len();
        if mode.fits(rank) {
            self.document.draft.view.mode = mode;
        } else {
            let (word, needs) = (mode.as_str(), mode.needs());
            self.notices
                .say(format!("A view as {word} needs {needs}; this scene has {rank}"));
        }
    }

    /// Arrows, then streamlines, then nothing of what flows.
    fn show_flow(&mut self) {
        let file = &mut self.document.draft;
        let rank = file.grid.size.len();
        if rank != 2 || file.view.mode != ViewMode::Plane {
            self.notices
                .say("What flows is drawn over a plane: of a scene of two dimensions, shown as a picture".to_owned());
            return;
        }
        file.view.flow = match file.view.flow {
            Flow::None => Flow::Arrows,
            Flow::Arrows => Flow::Streamlines,
            Flow::Streamlines => Flow::None,
        };
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
        self.begin_lecture(ctx, Lecture::of_presets());
    }

    /// Shows the scenes of a lecture, from the one that is open.
    pub fn begin_lecture(&mut self, ctx: &egui::Context, lecture: Lecture) {
        let before = Before {
            bare: self.bare,
            full_screen: self.full_screen,
            zoom: self.settings.zoom,
        };
        let path = self.document.path().map(|path| path.to_string_lossy().into_owned());
        let open = self.document.preset().map(ToOwned::to_owned).or(path);
        let screen = ctx.input(|input| input.viewport().monitor_size);
        // In points at zoom 1.
        let height = screen.map(|screen| screen.y * ctx.zoom_factor());
        let demo = Demo::begin(lecture, open.as_deref(), before, height);
        ctx.set_zoom_factor(demo.zoom());
        self.bare = true;
        self.set_full_screen(ctx, true);
        if open.as_deref() != Some(demo.stop().scene.as_str()) {
            self.open_stop(demo.stop());
        }
        self.demo = Some(demo);
    }

    /// Opens a scene of a lecture, playing.
    fn open_stop(&mut self, stop: &Stop) {
        self.plays_first = true;
        self.background.open(stop.scene.clone(), stop.set.clone());
    }

    /// From scene to scene, each playing; or back to the window as it was.
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
            let stop = demo.stop().clone();
            self.open_stop(&stop);
        }
    }

    fn set_full_screen(&mut self, ctx: &egui::Context, full: bool) {
        self.full_screen = full;
        system::set_full_screen(ctx, full);
    }

    /// The draft gets camera and slices as they are, so that they are saved with it.
    pub(super) fn keep_view(&mut self) {
        if let Some(scenario) = &self.worker.last_frame().scenario {
            self.view.write_into(&mut self.document.draft.view, scenario);
            if let Some(plots) = self.scene_plots.as_ref().filter(|plots| !plots.is_empty()) {
                self.document.draft.view.plots.clone_from(plots);
            }
        }
    }

    /// An empty scene with one wave.
    fn new_scene(&mut self, text: &str) {
        match solver::read_scene_text(text, None, &[]) {
            Ok((file, scenario)) => {
                self.settings.tab = LeftTab::Scene;
                self.start(Opened {
                    file,
                    original: None,
                    scenario: Arc::new(scenario),
                    path: None,
                    preset: None,
                });
            }
            Err(faults) => self.refuse(&faults),
        }
    }

    /// Finds the particle somewhere; another seed each time, which the notice names.
    fn measure_position(&mut self) {
        static SEED: AtomicU64 = AtomicU64::new(1);
        if self.document.draft.acoustic.is_some() {
            self.notices
                .say("Sound is not found at one place; open a quantum scene, or take a detector");
            return;
        }
        let seed = SEED.fetch_add(1, Relaxed);
        self.frame_history.leave();
        let Some(scenario) = &self.worker.last_frame().scenario else {
            return;
        };
        let grid = scenario.grid();
        let longest = grid.size()[..grid.rank()].iter().copied().max().unwrap_or(1);
        #[expect(clippy::cast_precision_loss, reason = "site numbers are far below 2^52")]
        let width = (longest as f64 / 100.0).max(2.0) * grid.spacing();
        if scenario.model().quantum().is_some() {
            // No prediction of the scene is of a wave that was found somewhere.
            self.document.leave_unjudged();
        }
        let product = Product::Position { width, seed };
        self.worker
            .send(Command::Run(Job::of(Errand::new(product, To::Notice))));
    }
}
