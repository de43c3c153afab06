//! The window as a whole: its state, and one frame of it.

mod seen;

use super::background::Errands;
use super::carpet::Carpet;
use super::command::{self, Action};
use super::compare::Comparison;
use super::connect::ConnectDialogue;
use super::demo::{Demo, Turn};
use super::dispersion_panel::DispersionPanel;
use super::document::Document;
use super::film::Filming;
use super::film_panel::FilmDialogue;
use super::frame_history::FrameHistory;
use super::gallery::Gallery;
use super::head_start::HeadStart;
use super::help::Help;
use super::history::History;
use super::levels_panel::LevelsPanel;
use super::meter::Meter;
use super::notice::Notices;
use super::palette::CommandPalette;
use super::pictures::{Bar, Pictures};
use super::plots::Kind;
use super::projector::Projector;
use super::prompt::PathPrompt;
use super::question::Questions;
use super::recovery::Recovery;
use super::refine::Refinement;
use super::replaced::Replaced;
use super::rest::Resting;
use super::room_panel::RoomPanel;
use super::run_log::RunLog;
use super::settings::{KEY, Settings};
use super::sound::SoundWish;
use super::sweep_panel::SweepPanel;
use super::system;
use super::tools::Tool;
use super::tour::Tour;
use super::view_state::ViewState;
use super::{AppOptions, dropped, mirror_panel, theme};
use crate::engine::{Command, Worker};
use crate::platform::Instant;
use crate::render::medium::MediumImage;
use crate::scene::Scenario;
use crate::space::MediumVolume;
use egui::Ui;
use std::path::Path;
use std::sync::Arc;

/// The program's window.
pub struct App {
    pub(super) worker: Worker,
    pub(super) background: Errands,
    pub(super) document: Document,
    pub(super) view: ViewState,
    pub(super) settings: Settings,
    pub(super) gallery: Gallery,
    pub(super) history: History,
    pub(super) frame_history: FrameHistory,
    pub(super) carpet: Carpet,
    pub(super) comparison: Comparison,
    /// The end of the second run was asked for.
    pub(super) ended: bool,
    pub(super) notices: Notices,
    pub(super) recovery: Recovery,
    /// The edited scene that another one took the place of.
    pub(super) replaced: Option<Replaced>,
    pub(super) palette: CommandPalette,
    pub(super) prompt: PathPrompt,
    pub(super) connect: ConnectDialogue,
    pub(super) questions: Questions,
    pub(super) demo: Option<Demo>,
    pub(super) tour: Option<Tour>,
    pub(super) film_dialogue: FilmDialogue,
    pub(super) filming: Option<Filming>,
    pub(super) sweep: SweepPanel,
    pub(super) levels: LevelsPanel,
    pub(super) room: RoomPanel,
    pub(super) dispersion: DispersionPanel,
    /// The next scene that was checked begins at t = 0 and runs.
    pub(super) begins_anew: bool,
    pub(super) help: Help,
    /// The picture alone.
    pub(super) bare: bool,
    pub(super) full_screen: bool,
    /// Whether a dialogue was open in the frame before.
    was_asking: bool,
    /// The picture in a second window.
    pub(super) projector: Projector,
    pub(super) meter: Meter,
    pub(super) pictures: Option<Pictures>,
    pub(super) bar: Bar,
    pub(super) medium: MediumImage,
    /// The scenario and plane that the medium's picture was asked for.
    pub(super) medium_of: Option<(Arc<Scenario>, usize)>,
    /// The medium of a scene of three dimensions, and the scene that it was asked for.
    pub(super) space: MediumVolume,
    pub(super) space_of: Option<Arc<Scenario>>,
    /// The plots that are chosen in a scene that names some.
    pub(super) scene_plots: Option<Vec<Kind>>,
    pub(super) steps_per_frame: Option<u64>,
    /// Whether the engine was asked for the measures of ψ.
    pub(super) asked_for_state: bool,
    /// Runs as soon as the next scene is there.
    pub(super) plays_first: bool,
    /// Runs every preset that is opened.
    pub(super) plays_presets: bool,
    /// How the run rests where its lesson is over.
    pub(super) resting: Resting,
    /// The first scene was told to run and does not yet.
    pub(super) starting: bool,
    /// What the log was told of the run.
    pub(super) run_log: RunLog,
    /// The worker's notice that was shown last.
    pub(super) noticed: u64,
    /// The last scene that was asked for, to fall back from.
    pub(super) first_try: bool,
    /// Steps per frame of a scene on another machine, for a run that waits at its start.
    pub(super) pace_at_start: Option<u64>,
    pub(super) title: String,
    /// Where the picture stands.
    pub(super) canvas_area: egui::Rect,
    /// The detector whose sound a file is being asked for.
    pub(super) sound: Option<SoundWish>,
}

/// What a frame's panels ask for.
#[derive(Default)]
pub(super) struct Wishes {
    pub(super) actions: Vec<Action>,
    pub(super) preset: Option<String>,
    /// A change of the scene, `key = value`.
    pub(super) setting: Option<String>,
    pub(super) command: Option<Command>,
    pub(super) sound: Option<SoundWish>,
}

impl App {
    /// The window's state; the scene is read in the background.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn new(cc: &eframe::CreationContext<'_>, options: AppOptions, started: Instant) -> std::io::Result<Self> {
        Self::with_head_start(cc, options, HeadStart::idle(started)?)
    }

    /// The window's state, with a worker that may have a scene already.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn with_head_start(
        cc: &eframe::CreationContext<'_>,
        options: AppOptions,
        head_start: HeadStart,
    ) -> std::io::Result<Self> {
        let ctx = &cc.egui_ctx;
        let meter = Meter::new(head_start.started);
        meter.note("window and graphics are there");
        theme::install(ctx);
        let settings: Settings = (cc.storage.and_then(|storage| eframe::get_value(storage, KEY))).unwrap_or_default();
        ctx.set_theme(if settings.dark {
            egui::Theme::Dark
        } else {
            egui::Theme::Light
        });
        theme::set_contrast(ctx, settings.contrast);
        // The window keeps the size, and has the keys in its own table.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        if settings.zoom.is_finite() && settings.zoom > 0.0 {
            ctx.set_zoom_factor(settings.zoom.clamp(0.5, 3.0));
        }
        head_start.wake.set(ctx);
        let background = Errands::start(ctx)?;
        if head_start.opened.is_none() {
            let scene = options
                .scene
                .or_else(|| settings.scene.clone())
                .unwrap_or_else(|| super::FIRST_PRESET.to_owned());
            background.open(scene, options.set);
        }
        let pictures = cc.wgpu_render_state.as_ref().map(|render| {
            // What is wrong with a drawing command is logged, not the end of the program.
            render.device.on_uncaptured_error(Arc::new(|error| {
                tracing::error!("graphics: {error}");
            }));
            Pictures::new(render)
        });
        meter.note("shaders are compiled");
        let cache = background.cache.as_deref().and_then(Path::parent);
        let keeps = cc.storage.is_some();
        let recovery = cache.filter(|_| keeps).map(|cache| cache.join("unsaved"));
        let mut app = Self {
            worker: head_start.worker,
            background,
            document: Document::default(),
            view: ViewState::default(),
            gallery: Gallery::default(),
            history: History::default(),
            frame_history: FrameHistory::default(),
            carpet: Carpet::default(),
            comparison: Comparison::default(),
            ended: false,
            notices: Notices::default(),
            // Only a program that remembers from start to start keeps anything.
            recovery: Recovery::new(recovery),
            replaced: None,
            palette: CommandPalette::default(),
            prompt: PathPrompt::default(),
            connect: ConnectDialogue::default(),
            questions: Questions::default(),
            demo: None,
            // Whoever starts the program for the first time is shown the first steps.
            tour: (cc.storage.is_some() && !settings.toured).then(Tour::default),
            film_dialogue: FilmDialogue::default(),
            filming: None,
            sweep: SweepPanel::default(),
            levels: LevelsPanel::default(),
            room: RoomPanel::default(),
            dispersion: DispersionPanel::default(),
            begins_anew: false,
            help: Help::default(),
            bare: false,
            full_screen: settings.full_screen,
            was_asking: false,
            projector: Projector::default(),
            meter,
            pictures,
            bar: Bar::default(),
            medium: MediumImage::default(),
            medium_of: None,
            space: MediumVolume::default(),
            space_of: None,
            scene_plots: None,
            steps_per_frame: None,
            asked_for_state: false,
            plays_first: true,
            plays_presets: true,
            resting: Resting::default(),
            starting: false,
            run_log: RunLog::default(),
            noticed: 0,
            first_try: true,
            pace_at_start: None,
            title: String::new(),
            canvas_area: egui::Rect::NOTHING,
            sound: None,
            settings,
        };
        if cc.storage.is_some() && !system::IN_PAGE {
            // The window system has kept the last state of the screen, which may have been that of a lecture.
            system::set_full_screen(ctx, app.full_screen);
        }
        if let Some(opened) = head_start.opened {
            app.show_first(opened);
        }
        if let Some(lecture) = options.lecture {
            app.tour = None;
            app.begin_lecture(ctx, lecture);
        }
        Ok(app)
    }

    /// The same, waiting at t = 0 once a scene is there.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.plays_first = false;
        self.plays_presets = false;
        self
    }

    /// The same, with every panel open.
    #[must_use]
    pub fn with_all_panels(mut self) -> Self {
        self.settings.right = true;
        self.settings.plots = true;
        self.settings.tab = super::settings::LeftTab::Gallery;
        self
    }

    /// The same, asking for files by itself instead of through the system's dialogues.
    #[must_use]
    pub fn with_own_dialogues(mut self) -> Self {
        self.background.system_dialogues = false;
        self
    }

    /// The same, with pictures in space that at rest have every pixel, however long one takes.
    #[must_use]
    pub fn unhurried(mut self) -> Self {
        self.view.refinement = Refinement::unhurried();
        self
    }

    /// The same, with the user's own scenes in this folder.
    #[must_use]
    pub fn with_own_scenes(mut self, folder: &Path) -> Self {
        self.settings.folder = Some(folder.to_owned());
        self
    }

    /// The same, with unsaved edits kept in this folder.
    #[must_use]
    pub fn with_recovery(mut self, folder: &Path) -> Self {
        self.look_for_unsaved(folder);
        self
    }

    /// Looks for unsaved edits of earlier runs in this folder, and keeps this one's there.
    pub fn look_for_unsaved(&mut self, folder: &Path) {
        self.recovery = Recovery::new(Some(folder.to_owned()));
    }

    /// The same, with pictures of the user's own scenes kept in this folder.
    #[must_use]
    pub fn with_cache(mut self, folder: &Path) -> Self {
        self.background.cache = Some(folder.to_owned());
        self
    }

    /// Whether something is open that has the keys for itself.
    pub(super) fn is_asking(&self) -> bool {
        self.help.is_open()
            || self.palette.is_open()
            || self.prompt.is_open()
            || self.film_dialogue.is_open()
            || self.connect.is_open()
            || self.recovery.asks()
    }

    /// Reads a preset or a file in the background and starts it.
    pub fn open(&self, scene: &str) {
        self.background.open(scene.to_owned(), Vec::new());
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        // A frame that is laid out again is one frame.
        if ctx.current_pass_index() == 0 {
            self.meter.begin();
        }
        let mut wishes = Wishes::default();
        // The window system has keys and buttons of its own for it.
        self.full_screen = ctx
            .input(|input| input.viewport().fullscreen)
            .unwrap_or(self.full_screen);
        self.collect(&ctx);
        if self.is_asking() && !self.was_asking {
            // What the pointer rests at is no longer told of: it would stand over the dialogue until the pointer is moved.
            ctx.input_mut(|input| input.pointer = egui::PointerState::default());
        }
        self.was_asking = self.is_asking();
        if !self.was_asking {
            if self.demo.is_some()
                && let Some(turn) = Demo::pressed(&ctx)
            {
                self.turn_demo(&ctx, turn);
            }
            wishes.actions.extend(command::pressed(&ctx));
            wishes.actions.extend(self.projector.take_actions());
            let in_hand = self.view.tools.tool != Tool::Move && !ctx.text_edit_focused();
            if in_hand && ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
                self.view.tools.tool = Tool::Move;
            }
        }
        if self.demo.as_mut().is_some_and(|demo| demo.follow(&ctx)) {
            self.turn_demo(&ctx, Turn::Next);
        }
        for file in dropped::files(&ctx) {
            self.background.take_dropped(&file);
        }
        if !self.bare {
            self.panels(ui, &mut wishes);
        } else if let Some(demo) = &self.demo {
            demo.caption(ui, &self.document.draft.title);
        }
        self.centre(ui);
        self.overlays(&ctx, &mut wishes);
        self.grant(&ctx, wishes);
        self.submit_edit(&ctx);
        let shown = self.worker.last_frame();
        self.document.follow(shown.run, shown.clock.steps);
        if mirror_panel::turned_by_hand(shown).is_some() {
            self.document.leave_unjudged();
        }
        self.keep_safe(&ctx);
        self.guard_close(&ctx);
        self.submit_comparison();
        self.ask_for_state();
        if self.worker.work() {
            ctx.request_repaint();
        }
        self.meter.end(frame.info().cpu_usage);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        system::keep_scene(storage, &self.document);
        let path = self.document.path().filter(|_| system::FOLDERS);
        let path = path.map(|path| path.display().to_string());
        // The next start without a link shows what was shown last without one.
        if self.worker.link().is_none() {
            self.settings.scene = path.or_else(|| self.document.preset().map(ToOwned::to_owned));
        }
        let before = self.demo.as_ref().map(|demo| demo.before.full_screen);
        self.settings.full_screen = before.unwrap_or(self.full_screen);
        eframe::set_value(storage, KEY, &self.settings);
    }

    fn on_exit(&mut self) {
        self.recovery.clear();
        self.meter.log();
    }

    fn clear_color(&self, _visuals: &egui::Visuals) -> [f32; 4] {
        theme::of(true).canvas.to_normalized_gamma_f32()
    }
}
