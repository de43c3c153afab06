//! The end of a lesson: the picture rests there, to be seen again or to go on.

use super::theme;
use super::window::App;
use crate::engine::{Command, Status};
use egui::{Align2, vec2};

/// Seconds after which the mode for lecture halls begins anew.
const LOOP: f64 = 3.0;

impl App {
    /// Notes since when the run rests; in the mode for lecture halls it begins anew after a while.
    pub(super) fn follow_rest(&mut self, ctx: &egui::Context) {
        let frame = self.worker.last_frame();
        if !frame.rests || frame.status == Status::Running {
            self.resting = None;
            return;
        }
        let now = ctx.input(|input| input.time);
        let since = *self.resting.get_or_insert(now);
        if self.demo.is_none() {
            return;
        }
        if now - since >= LOOP {
            self.resting = None;
            self.again();
        } else {
            ctx.request_repaint_after_secs((LOOP - (now - since)) as f32);
        }
    }

    /// Back to t = 0, running.
    fn again(&mut self) {
        self.frame_history.leave();
        self.history.clear();
        self.view.range.reset();
        self.worker.send(Command::Reset);
        self.worker.send(Command::Play);
    }

    /// A line over the lower edge of the picture while the run rests.
    pub(super) fn show_rest(&mut self, ctx: &egui::Context) {
        let frame = self.worker.last_frame();
        let covered = self.tour.is_some() || self.demo.is_some() || self.frame_history.at().is_some();
        if self.resting.is_none() || covered || frame.question.is_some() {
            return;
        }
        let words = if frame.mirror.is_some() {
            "The wave is at its focus."
        } else if frame.clock.time_step < 0.0 {
            "Back at the start."
        } else {
            "The lesson ends here."
        };
        let area = self.canvas_area;
        let (mut again, mut on) = (false, false);
        egui::Area::new(egui::Id::unique("rest"))
            .order(egui::Order::Middle)
            .pivot(Align2::CENTER_BOTTOM)
            .fixed_pos(area.center_bottom() - vec2(0.0, 12.0))
            .show(ctx, |ui| {
                let palette = theme::palette(ui);
                let frame = egui::Frame::popup(ui.style()).inner_margin(8);
                frame.show(ui, |ui| {
                    ui.horizontal(|ui| {
                        ui.label(egui::RichText::new(words).color(palette.strong));
                        again = ui.button("Again").on_hover_text("Back to t = 0, and play.").clicked();
                        on = ui
                            .button("Go on")
                            .on_hover_text("Plays on. Run → Rest at the end turns this off.")
                            .clicked();
                    });
                });
            });
        if again {
            self.again();
        } else if on {
            self.worker.send(Command::Play);
        }
    }
}
