//! How the window is laid out: panels around the picture, and what stands over it.

use super::canvas::{self, Canvas};
use super::command::Action;
use super::compare;
use super::film_panel;
use super::gallery::Shelves;
use super::menu::{self, Can};
use super::palette::Choice;
use super::settings::LeftTab;
use super::tools::{Tool, Work};
use super::tour::Seen;
use super::widgets::hint;
use super::window::{App, Wishes};
use super::{
    checks_panel, dropped, lesson_panel, method_panel, mirror_strip, plots, rest, riddle, scene_panel, status, system,
    theme, time_panel, tools, transport, view_panel,
};
use crate::engine::{Command, Phase, Status};
use crate::scene::scenario::ViewMode;
use egui::{Margin, Panel, ScrollArea, Ui};

/// What stands in place of the plots while one of two runs is sought that is wrong.
const HIDDEN: &str = "Plots and predictions are of the run that is right, and would tell which it is. They are back once you have answered.";

/// Below this width, in points, the left panel gives way to the picture.
const NARROW: f32 = 1040.0;

/// Below this width, in points, a page is on a phone held upright, where panels stand below the picture.
const UPRIGHT: f32 = 600.0;

/// Whether it is one.
pub(super) fn is_upright(ctx: &egui::Context) -> bool {
    system::IN_PAGE && ctx.content_rect().width() < UPRIGHT
}

/// Whether there is room for one of the panels at the sides only.
pub(super) fn is_narrow(ctx: &egui::Context) -> bool {
    ctx.content_rect().width() < NARROW
}

impl App {
    pub(super) fn panels(&mut self, ui: &mut Ui, wishes: &mut Wishes) {
        let can = Can {
            undo: self.document.can_undo() || self.replaced.is_some(),
            redo: self.document.can_redo(),
            restore: self.worker.last_frame().has_snapshot,
            turned: (self.worker.last_frame().mirror.as_ref()).is_some_and(|mirror| mirror.status.turned),
            run: self.worker.last_frame().scenario.is_some(),
            elsewhere: self.worker.link().is_some(),
            sound: self.document.draft.acoustic.is_some(),
        };
        let fill = theme::palette(ui).panel;
        let bar = |x, y| egui::Frame::new().fill(fill).inner_margin(Margin::symmetric(x, y));
        Panel::top("menu").frame(bar(16, 4)).resizable(false).show(ui, |ui| {
            wishes.actions.extend(menu::show(
                ui,
                self.document.title(),
                self.document.is_modified(),
                can,
                &[
                    (
                        Action::LeftPanel,
                        self.settings.left && !(self.settings.right && is_narrow(ui.ctx())),
                    ),
                    (Action::RightPanel, self.settings.right),
                    (Action::Plots, self.settings.plots),
                    (Action::FullScreen, self.full_screen),
                    (Action::Rest, self.settings.rests),
                    (Action::Contrast, self.settings.contrast),
                ],
            ));
        });
        Panel::bottom("status")
            .frame(bar(16, 2))
            .resizable(false)
            .show(ui, |ui| {
                // What stands in the line belongs to the picture that is seen.
                let present = self.worker.last_frame();
                status::show(
                    ui,
                    self.frame_history.frame(present).unwrap_or(present),
                    self.worker.task(),
                    self.worker.link(),
                    &self.meter,
                    &self.view.read_out,
                );
            });
        let side = egui::Frame::new().fill(fill).inner_margin(Margin {
            left: 16,
            right: 8,
            top: 8,
            bottom: 8,
        });
        if is_upright(ui.ctx()) {
            self.below(ui, wishes, side);
        } else {
            self.sides(ui, wishes, side);
        }
        self.bottom(ui, wishes, bar(16, 4));
    }

    /// The panels at the left and at the right of the picture.
    fn sides(&mut self, ui: &mut Ui, wishes: &mut Wishes, side: egui::Frame) {
        // A narrow window has room for one side panel beside the picture: the one on the right stays.
        let narrow = is_narrow(ui.ctx()) && self.settings.right;
        let mut left = self.settings.left && !narrow;
        Panel::left("left")
            .frame(side)
            .default_size(264.0)
            .size_range(240.0..=420.0)
            .show_collapsible(ui, &mut left, |ui| self.left(ui, wishes));
        if !narrow {
            self.settings.left = left;
        }
        let mut right = self.settings.right;
        Panel::right("right")
            .frame(side)
            .default_size(328.0)
            .size_range(312.0..=440.0)
            .show_collapsible(ui, &mut right, |ui| self.right(ui, wishes));
        self.settings.right = right;
    }

    /// One of both below it.
    fn below(&mut self, ui: &mut Ui, wishes: &mut Wishes, frame: egui::Frame) {
        if !self.settings.left && !self.settings.right {
            return;
        }
        let height = ui.available_height();
        Panel::bottom("below")
            .frame(frame)
            .default_size(0.4 * height)
            .size_range(0.2 * height..=0.6 * height)
            .show(ui, |ui| {
                if self.settings.right {
                    self.right(ui, wishes);
                } else {
                    self.left(ui, wishes);
                }
            });
    }

    fn left(&mut self, ui: &mut Ui, wishes: &mut Wishes) {
        let tab = &mut self.settings.tab;
        let tabs = [
            (LeftTab::Gallery, "Gallery"),
            (LeftTab::Lesson, "Lesson"),
            (LeftTab::Scene, "Scene"),
        ];
        ui.columns(tabs.len(), |columns| {
            for (column, (this, title)) in columns.iter_mut().zip(tabs) {
                let button = egui::Button::selectable(*tab == this, title);
                if column.add_sized([column.available_width(), 28.0], button).clicked() {
                    *tab = this;
                }
            }
        });
        ScrollArea::vertical()
            // Another lesson begins at its top.
            .id_salt((
                "left",
                self.settings.tab,
                self.document.preset().filter(|_| self.settings.tab == LeftTab::Lesson),
            ))
            .auto_shrink(false)
            .show(ui, |ui| {
                // Room for the scroll bar, so that it covers nothing.
                ui.set_max_width(ui.available_width() - 8.0);
                match self.settings.tab {
                    LeftTab::Gallery => {
                        let open = self.document.path().map(|path| path.to_string_lossy());
                        let present = open.as_deref().or(self.document.preset());
                        let shelves = Shelves {
                            folder: self.settings.own_folder(),
                            recent: &self.settings.recent,
                        };
                        wishes.preset = self.gallery.show(ui, present, &shelves);
                    }
                    LeftTab::Lesson => {
                        let frame = self.worker.last_frame();
                        // What is measured stands in one place: at the right, where that is open.
                        let right = self.settings.right;
                        let questions = Some(&self.questions).filter(|_| !right && !self.comparison.hides());
                        match lesson_panel::show(ui, &self.document, frame, questions) {
                            Some(lesson_panel::Wish::Open(preset)) => wishes.preset = Some(preset),
                            Some(lesson_panel::Wish::Try(setting)) => wishes.setting = Some(setting),
                            None => {}
                        }
                    }
                    LeftTab::Scene => {
                        wishes.sound = scene_panel::show(ui, &mut self.document, self.worker.last_frame());
                    }
                }
            });
    }

    fn right(&mut self, ui: &mut Ui, wishes: &mut Wishes) {
        let frame = self.worker.last_frame();
        let checks = self.document.checks();
        let standing = time_panel::Standing {
            own_step: self.document.has_own_step(),
            refused: self.document.faults.is_some(),
        };
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            // The panel and its sections keep their width whatever stands in them: a row that is a little too wide pushes nothing aside.
            let mut room = ui.available_rect_before_wrap();
            room.max.x -= 8.0;
            let scenario = frame.scenario.as_deref();
            let report = frame.report.as_deref();
            let step = frame.clock.time_step;
            let file = &mut self.document.draft;
            let mut section = |ui: &mut Ui, name: &str, contents: &mut dyn FnMut(&mut Ui)| {
                room.min.y = ui.cursor().top();
                let mut inner = ui.new_child(egui::UiBuilder::new().id_salt(("right", name)).max_rect(room));
                contents(&mut inner);
                let bottom = egui::pos2(room.right(), inner.min_rect().bottom());
                ui.advance_cursor_after_rect(egui::Rect::from_min_max(room.min, bottom));
            };
            section(ui, "view", &mut |ui| {
                view_panel::show(ui, file, &mut self.view, scenario, frame.clock.time);
            });
            section(ui, "time", &mut |ui| {
                let speed = (&mut self.steps_per_frame, standing);
                wishes.command = time_panel::show(ui, file, frame.scenario.as_ref(), step, speed);
            });
            section(ui, "method", &mut |ui| method_panel::show(ui, file, scenario, report));
            let hides = self.comparison.hides();
            section(ui, "checks", &mut |ui| {
                if !hides {
                    checks_panel::show(ui, frame, &self.questions, &checks);
                }
            });
            let (mode, rank) = (file.view.mode, file.grid.size.len());
            let flat = mode == ViewMode::Plane || !mode.fits(rank);
            section(ui, "compare", &mut |ui| {
                compare::show(ui, &mut self.comparison, frame, flat);
            });
        });
    }

    /// The plots that are chosen: those of the scene, where it names some, else the user's own.
    pub(super) fn chosen_plots(&mut self) -> &mut Vec<plots::Kind> {
        let named = &self.document.draft.view.plots;
        if named.is_empty() {
            self.scene_plots = None;
        }
        if self.scene_plots.is_some() || !named.is_empty() {
            self.scene_plots.get_or_insert_with(|| named.clone())
        } else if self.worker.last_frame().mirror.is_some() {
            &mut self.settings.shown_with_mirror
        } else {
            &mut self.settings.shown
        }
    }

    /// Takes over what was chosen; another choice among the plots of a scene is no edit of it, as another view is none.
    fn choose_plots(&mut self, shown: Vec<plots::Kind>, own: bool) {
        let named = &mut self.document.draft.view.plots;
        if own == named.is_empty() {
            // Without a plot there is nothing to be kept.
            *named = if own { shown.clone() } else { Vec::new() };
        }
        *self.chosen_plots() = shown;
    }

    fn bottom(&mut self, ui: &mut Ui, wishes: &mut Wishes, frame_style: egui::Frame) {
        let mut open = self.settings.plots;
        let mut own = !self.document.draft.view.plots.is_empty();
        let mut shown = self.chosen_plots().clone();
        // In a low window the picture keeps the larger part.
        let most = (0.45 * ui.available_height() - 16.0).clamp(104.0, 480.0);
        Panel::bottom("plots")
            .frame(frame_style)
            .default_size(208.0_f32.min(most))
            .size_range(136.0_f32.min(most)..=most)
            .show_collapsible(ui, &mut open, |ui| {
                let present = self.worker.last_frame();
                let own = &mut own;
                let mut chosen = plots::Chosen { shown: &mut shown, own };
                let frame = self.frame_history.frame(present).unwrap_or(present);
                let line = self.document.draft.grid.size.len() == 1;
                let quantity = frame.image.quantity.filter(|_| !line);
                let quantity = quantity.unwrap_or_else(|| view_panel::quantity(&self.document.draft));
                let mut records = plots::Records {
                    history: &self.history,
                    carpet: &mut self.carpet,
                    map: view_panel::map(&self.document.draft, quantity, theme::is_paper()),
                };
                if self.comparison.hides() {
                    ui.set_min_size(ui.available_size());
                    hint(ui, HIDDEN);
                    return;
                }
                plots::show(ui, &mut chosen, &mut self.view, &mut records, frame);
            });
        self.settings.plots = open;
        if !open {
            Panel::bottom("names of plots")
                .frame(frame_style)
                .resizable(false)
                .show(ui, |ui| {
                    let own = &mut own;
                    let mut chosen = plots::Chosen { shown: &mut shown, own };
                    self.settings.plots = plots::names(ui, &mut chosen, self.worker.last_frame(), false);
                });
        }
        self.choose_plots(shown, own);
        Panel::bottom("transport")
            .frame(frame_style)
            .resizable(false)
            .show(ui, |ui| {
                wishes.actions.extend(mirror_strip::show(ui, self.worker.last_frame()));
                let frame = self.worker.last_frame();
                let shown = transport::show(ui, frame, self.settings.plots, &mut self.frame_history);
                wishes.actions.extend(shown);
            });
    }

    pub(super) fn centre(&mut self, ui: &mut Ui) {
        let request = egui::CentralPanel::no_frame()
            .show(ui, |ui| {
                let area = ui.max_rect();
                self.canvas_area = area;
                let present = self.worker.last_frame();
                let again = self.frame_history.frame(present);
                let second = if again.is_none() {
                    self.comparison.second(present)
                } else {
                    None
                };
                let canvas = Canvas {
                    second,
                    frame: again.unwrap_or(present),
                    document: &self.document,
                    medium: &self.medium,
                    space: &self.space,
                    history: &self.history,
                    bare: self.bare,
                    scale: None,
                    lecture: self.demo.is_some(),
                };
                let request = canvas::show(ui, &canvas, &mut self.view, self.pictures.as_mut(), &mut self.bar);
                self.notices.show(ui.ctx(), area);
                request
            })
            .inner;
        let request = self.project(ui.ctx(), request);
        let mirror = self.worker.last_frame().mirror.as_ref();
        let returning = mirror.is_some_and(|mirror| mirror.status.phase == Phase::Replay);
        for work in self.view.tools.take_work() {
            // Whoever places a probe wants to see what it says.
            self.view.show_charts |= matches!(work, Work::Probe(_));
            if matches!(work, Work::Layer { goes_on: false, .. }) {
                // A stroke stays where it began, though time is reversed while it is drawn.
                self.view.tools.returning = returning;
            }
            tools::apply(&mut self.document.draft, work, self.view.tools.returning);
        }
        if !self.worker.last_frame().image.value.is_empty() && self.meter.picture() {
            // The next frame tells when this one was done.
            ui.ctx().request_repaint();
        }
        if let Some(wanted) = request
            && self.view.asked.as_ref() != Some(&wanted)
        {
            let before = self.view.asked.replace(wanted.clone());
            if before.as_ref().is_none_or(|before| before.volume != wanted.volume) {
                self.worker.send(Command::Volume(wanted.volume));
            }
            if before.is_none_or(|before| before.image != wanted.image) {
                self.worker.send(Command::View(wanted.image));
            }
        }
    }

    /// Which of two runs is wrong, where that is asked.
    fn show_riddle(&mut self, ctx: &egui::Context) {
        let Some(riddle) = &mut self.comparison.riddle else {
            return;
        };
        let asked = riddle.verdict().is_none();
        let wish = riddle.show(ctx, self.canvas_area, self.comparison.score);
        if let Some(right) = riddle.verdict().filter(|_| asked) {
            self.comparison.score[0] += u32::from(right);
            self.comparison.score[1] += 1;
        }
        match wish {
            Some(riddle::Wish::Another) => self.begin_riddle(),
            Some(riddle::Wish::End) => self.comparison.start_over(),
            None => {}
        }
    }

    /// The first steps, where they are wanted.
    fn show_tour(&mut self, ctx: &egui::Context) {
        let frame = self.worker.last_frame();
        let seen = Seen {
            runs: frame.status == Status::Running,
            waits: frame.rests || self.questions.waiting(frame).is_some(),
            backwards: frame.clock.time_step < 0.0,
            tool: self.view.tools.tool != Tool::Move,
            palette: self.palette.is_open(),
            help: self.help.is_open(),
            steps: frame.clock.steps,
        };
        let held = self.is_asking() || ctx.text_edit_focused();
        let began = std::mem::take(&mut self.starting);
        self.starting = began && !seen.runs;
        if let Some(tour) = self.tour.as_mut().filter(|_| began) {
            tour.begin_anew();
        }
        // A question of the scene is answered first: both cards listen to Enter. Buttons and plots, which the steps are about as well, stay free.
        let is_asked = self.questions.waiting(frame).is_some();
        if let Some(tour) = &mut self.tour {
            if is_asked {
                tour.hold(seen);
            } else if !tour.show(ctx, seen, held, self.canvas_area) {
                self.tour = None;
                self.settings.toured = true;
            }
        }
    }

    /// The room for the picture, and the picture in it; of two runs all of the canvas, and of a picture that has not been shown nothing.
    fn rooms(&self) -> [egui::Rect; 2] {
        let room = rest::beside_tools(self.canvas_area, self.view.area, 0.0);
        let is_whole = room == self.view.area;
        [room, if is_whole { self.view.picture } else { room }]
    }

    pub(super) fn overlays(&mut self, ctx: &egui::Context, wishes: &mut Wishes) {
        if self.palette.is_open() {
            match self.palette.show(ctx, &self.gallery) {
                Some(Choice::Do(action)) => wishes.actions.push(action),
                Some(Choice::Preset(name)) => wishes.preset = Some(name),
                None => {}
            }
        }
        if let Some(answer) = self.prompt.show(ctx) {
            self.background.typed(answer.ask, answer.path, answer.replaces);
        }
        let folder = self.settings.own_folder();
        if self.film_dialogue.show(ctx, self.worker.last_frame(), folder) {
            self.ask_for_film();
        }
        if let Some(filming) = &self.filming
            && let Some(wish) = film_panel::progress(ctx, filming, self.canvas_area)
        {
            self.end_film(wish);
        }
        let frame = self.worker.last_frame();
        let area = self.canvas_area;
        if let Some(settings) = self.sweep.show((ctx, area), &mut self.document, frame) {
            self.background.vary(&self.document, settings);
        }
        self.levels.show((ctx, area), &mut self.document);
        self.room.show((ctx, area), &mut self.document);
        self.dispersion.show((ctx, area), &self.document);
        let (class, rooms) = (self.demo.is_some(), self.rooms());
        let frame = self.worker.last_frame();
        let goes_on = if self.comparison.riddle.is_some() {
            self.questions.give_way(frame)
        } else {
            self.questions.show(ctx, frame, (rooms, class))
        };
        if goes_on {
            self.worker.send(Command::Play);
        }
        if class {
            self.questions.show_result(ctx, self.worker.last_frame(), area);
        }
        self.show_connection(ctx, wishes);
        self.show_riddle(ctx);
        self.show_tour(ctx);
        self.show_rest(ctx);
        self.offer_recovery(ctx);
        // A page in a course has readers without a keyboard.
        if system::IN_PAGE && self.bare && self.demo.is_none() {
            let running = self.worker.last_frame().status == Status::Running;
            wishes.actions.extend(transport::over_picture(ctx, area, running));
        }
        self.help.show(ctx);
        dropped::veil(ctx);
    }
}
