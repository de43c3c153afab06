//! The run on another machine: the question for its address and token, what is said while the link to it is lost, and back to this machine.

use super::background::Opened;
use super::command::Action;
use super::run_log::RunLog;
use super::system;
use super::theme;
use super::window::{App, Wishes};
use crate::engine::{Command, LinkState, Worker};
use egui::{Key, Modifiers};
use std::fmt;

/// A run on another machine, and the scene that it runs.
pub struct Connected {
    /// Its worker, as if it were here.
    pub worker: Worker,
    /// The scene that runs there.
    pub opened: Opened,
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}

/// The question for a run on another machine.
#[derive(Debug, Default)]
pub struct ConnectDialogue {
    stage: Stage,
    address: String,
    token: String,
    /// Why the last attempt failed.
    fault: Option<String>,
    /// The text field has not had the focus yet.
    fresh: bool,
}

/// What the question waits for.
#[derive(Debug, Default, PartialEq)]
enum Stage {
    /// It is closed.
    #[default]
    Closed,
    /// The user's answer.
    Asking,
    /// The other machine's.
    Connecting,
}

impl ConnectDialogue {
    /// Asks; what was typed the last time stands there.
    pub fn open(&mut self) {
        if self.stage == Stage::Closed {
            self.stage = Stage::Asking;
            self.fault = None;
            self.fresh = true;
        }
    }

    /// Whether it waits for an answer.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Shows the question; address and token once they are there.
    pub fn show(&mut self, ctx: &egui::Context) -> Option<(String, String)> {
        if !self.is_open() {
            return None;
        }
        let escape = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
        let enter = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
        let modal = egui::Modal::new(egui::Id::unique("connect"))
            .frame(theme::modal(ctx))
            .show(ctx, |ui| {
                ui.set_width(520.0_f32.min(ui.ctx().content_rect().width() - 64.0));
                self.contents(ui)
            });
        let (done, cancelled) = modal.inner;
        if cancelled || escape || modal.should_close() {
            self.stage = Stage::Closed;
            return None;
        }
        if self.stage == Stage::Asking && (done || enter) && self.is_complete() {
            self.stage = Stage::Connecting;
            self.fault = None;
            return Some((self.address.trim().to_owned(), self.token.trim().to_owned()));
        }
        None
    }

    fn is_complete(&self) -> bool {
        !self.address.trim().is_empty() && !self.token.trim().is_empty()
    }

    /// The question itself; whether it was answered, whether it was given up.
    fn contents(&mut self, ui: &mut egui::Ui) -> (bool, bool) {
        let palette = theme::palette(ui);
        ui.heading(egui::RichText::new("Connect to a run").color(palette.strong));
        ui.add_space(8.0);
        said(
            ui,
            palette.weak,
            "Start `ripplon serve SCENE` on the other machine. It prints the `ssh -L` line to type here in a terminal, the port and the token.",
        );
        ui.add_space(8.0);
        let asking = self.stage == Stage::Asking;
        let (fresh, fields) = (
            std::mem::take(&mut self.fresh),
            [
                ("Address", "7421, or HOST:PORT", &mut self.address),
                ("Token", "32 letters and digits", &mut self.token),
            ],
        );
        for (n, (name, about, text)) in fields.into_iter().enumerate() {
            ui.label(name);
            let field = egui::TextEdit::singleline(text)
                .desired_width(f32::INFINITY)
                .margin(egui::Margin::same(8))
                .hint_text(about);
            let field = ui.add_enabled(asking, field).accessible_name(name);
            if fresh && n == 0 {
                field.request_focus();
            }
            ui.add_space(4.0);
        }
        if let Some(fault) = &self.fault {
            said(ui, palette.warning, fault);
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let done = ui.add_enabled(asking && self.is_complete(), egui::Button::new("Connect"));
            let cancelled = ui.button("Cancel").clicked();
            if !asking {
                ui.spinner();
                ui.label("Connecting…");
            }
            (done.clicked(), cancelled)
        })
        .inner
    }
}

/// A text that names commands, in letters of their own.
fn said(ui: &mut egui::Ui, color: egui::Color32, text: &str) {
    let job = super::markdown::job(text, theme::palette(ui), 12.0, color);
    ui.add(egui::Label::new(job).wrap());
}

impl App {
    /// Shows the scene that the worker has at the start: one that runs on another machine is left as it is.
    pub(super) fn show_first(&mut self, opened: Opened) {
        if self.worker.link().is_some() {
            self.show_as_it_runs(opened);
        } else {
            self.show(opened);
        }
    }

    /// Goes on with what came of an attempt to connect.
    pub(super) fn take_connection(&mut self, ctx: &egui::Context, result: Result<Box<Connected>, String>) {
        // Who has given up waiting does not want another scene any more.
        if self.connect.stage != Stage::Connecting {
            return;
        }
        match result {
            Ok(connected) => {
                self.connect.stage = Stage::Closed;
                let Connected { worker, opened } = *connected;
                self.change_worker(worker);
                self.show_as_it_runs(opened);
                if let Some(link) = self.worker.link() {
                    let host = &link.host;
                    self.notices.say(format!(
                        "Connected to {host}; the run goes on there when this window is closed"
                    ));
                }
            }
            Err(fault) => {
                self.connect.stage = Stage::Asking;
                self.connect.fault = Some(fault);
            }
        }
        ctx.request_repaint();
    }

    /// The scene that is shown runs here from its start; a run on another machine goes on there.
    pub(super) fn run_here(&mut self, ctx: &egui::Context) {
        if self.worker.link().is_none() {
            self.notices.say("The run is on this machine");
            return;
        }
        let scenario = self.worker.last_frame().scenario.clone();
        let wake = ctx.clone();
        match Worker::start(scenario, move || wake.request_repaint()) {
            Ok(worker) => {
                system::disconnect();
                self.change_worker(worker);
                self.history.clear();
                self.worker.send(Command::StepsPerFrame(self.steps_per_frame));
                self.worker.send(Command::Rest(self.settings.rests));
                // Edits that were not taken there.
                self.check();
            }
            Err(error) => self
                .notices
                .fault("The system gives no thread", vec![error.to_string()]),
        }
    }

    /// Another engine from now on: nothing that was asked of the one before counts.
    fn change_worker(&mut self, worker: Worker) {
        self.worker = worker;
        self.noticed = 0;
        self.asked_for_state = false;
        self.ended = false;
        self.starting = false;
        self.comparison.start_over();
        self.frame_history.leave();
        self.run_log = RunLog::default();
    }

    /// The dialogue, and what is to be said of the link.
    pub(super) fn show_connection(&mut self, ctx: &egui::Context, wishes: &mut Wishes) {
        if let Some((address, token)) = self.connect.show(ctx) {
            self.background.connect(address, token);
        }
        let Some(link) = self.worker.link() else { return };
        let (title, text, is_over) = match link.state() {
            LinkState::Connected(_) => return,
            LinkState::Lost(why) => (
                format!("The link to {} is lost", link.host),
                format!(
                    "{}. The run goes on there; this is the last picture that came. Connecting again…",
                    capital(&why)
                ),
                false,
            ),
            LinkState::Ended(why) => (
                format!("The run on {} is out of reach", link.host),
                format!("{}. This is the last picture that came.", capital(&why)),
                true,
            ),
        };
        let at = (
            egui::Align2::CENTER_TOP,
            self.canvas_area.center_top() + egui::vec2(0.0, 24.0),
        );
        let width = 440.0_f32.min(self.canvas_area.width() - 32.0).max(160.0);
        super::widgets::card(ctx, "link", at, width, |ui| {
            let palette = theme::palette(ui);
            ui.label(egui::RichText::new(title).color(palette.warning));
            ui.add(egui::Label::new(text).wrap());
            if is_over {
                ui.horizontal(|ui| {
                    for action in [Action::Connect, Action::RunHere] {
                        if ui.button(action.entry().title).clicked() {
                            wishes.actions.push(action);
                        }
                    }
                });
            }
        });
    }
}

/// A sentence that begins as one.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
