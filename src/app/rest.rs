//! The end of a lesson: the picture rests there, to be seen again or to go on.

use super::side_run;
use super::theme;
use super::widgets::{above_cards, below_cards, icon_button};
use super::window::App;
use crate::app::icon::Icon;
use crate::engine::{Command, Frame, Status};
use egui::{Align2, Rect, vec2};

/// Seconds after which the mode for lecture halls begins anew.
const LOOP: f64 = 3.0;

/// How a run rests.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// Since when, in seconds of the window's clock.
    since: Option<f64>,
    /// The line that says so was put away: it hides some of the picture.
    is_hidden: bool,
}

impl App {
    /// Notes since when the run rests; in the mode for lecture halls it begins anew after a while, unless somebody was asked: then what was said and
    /// what was measured stand there until the lecturer goes on.
    pub(super) fn follow_rest(&mut self, ctx: &egui::Context) {
        let frame = self.worker.last_frame();
        if !frame.rests || frame.status == Status::Running {
            self.resting = Resting::default();
            return;
        }
        let now = ctx.input(|input| input.time);
        let since = *self.resting.since.get_or_insert(now);
        if self.demo.is_none() || self.questions.was_answered() {
            return;
        }
        if now - since >= LOOP {
            self.resting = Resting::default();
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

    /// A line over the lower edge of the picture while the run rests; none over a low picture.
    pub(super) fn show_rest(&mut self, ctx: &egui::Context) {
        let frame = self.worker.last_frame();
        let covered = self.tour.is_some() || self.demo.is_some() || self.frame_history.at().is_some();
        let is_told = self.resting.since.is_some() && !self.resting.is_hidden;
        if !is_told || covered || self.questions.waiting(frame).is_some() {
            return;
        }
        let words = words(frame, self.document.preset().is_some());
        let id = egui::Id::unique("rest");
        let size = ctx
            .memory(|memory| memory.area_rect(id))
            .map_or(USUAL, |rect| rect.size());
        let panels = side_run::places(ctx);
        // Why an edit is not applied is said at the upper edge.
        let place = if self.view.graph.is_positive() && self.document.faults.is_none() {
            // The numbers of the axis are below it.
            let graph = beside(self.view.graph, &panels, size.x);
            let upper = at_upper_edge(size, graph, self.canvas_area.right());
            below_note(below_cards(ctx, upper), self.view.note)
        } else if self.canvas_area.height() < LEAST {
            return;
        } else {
            let room = beside_tools(self.canvas_area, self.view.area, size.x);
            let area = beside(room, &panels, size.x);
            let at = area.center_bottom() - vec2(0.0, 12.0);
            let free = above_cards(ctx, Align2::CENTER_BOTTOM.anchor_size(at, size));
            above_note(free, self.view.note, area.top() + CLOCK)
        };
        let (mut again, mut on, mut hide) = (false, false, false);
        egui::Area::new(id)
            .order(egui::Order::Middle)
            .pivot(Align2::CENTER_BOTTOM)
            .fixed_pos(place.center_bottom())
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
                        hide = icon_button(ui, Icon::X, "Hide this line", true).clicked();
                    });
                });
            });
        if again {
            self.again();
        } else if on {
            self.worker.send(Command::Play);
        }
        self.resting.is_hidden |= hide;
    }
}

/// What is said where a run rests. How near a wave has come to where it began is measured elsewhere: many mirrors bring it back in part only, or not at all.
fn words(frame: &Frame, is_lesson: bool) -> &'static str {
    if frame.clock.time_step < 0.0 {
        "Back at the start."
    } else if frame.mirror.is_some() {
        "The way back ends here."
    } else if is_lesson {
        "The lesson ends here."
    } else {
        "The scene ends here."
    }
}

/// The height of the room, in points, below which the line would hide what the picture ends with: there the buttons of the run are enough.
const LEAST: f32 = 280.0;

/// The size of the line before it was shown once.
const USUAL: egui::Vec2 = vec2(352.0, 46.0);

/// The picture beside the tools, in the middle of which notes stand as well; the whole canvas where that is too narrow for a line of this width, and where the picture is one of two.
pub(super) fn beside_tools(canvas: Rect, picture: Rect, width: f32) -> Rect {
    let is_one_of_two = picture.width() < 0.75 * canvas.width();
    if is_one_of_two || picture.width() < width + 16.0 {
        canvas
    } else {
        picture
    }
}

/// What panels over the right part of the picture leave of it for a line of this width; all of it where that is too little.
fn beside(area: Rect, panels: &[Rect], width: f32) -> Rect {
    let over = panels.iter().filter(|panel| panel.intersects(area));
    let right = over.map(Rect::left).fold(area.right(), f32::min);
    if right - area.left() < width + 16.0 {
        return area;
    }
    Rect::from_min_max(area.min, egui::pos2(right, area.bottom()))
}

/// The place of the line at the upper edge of a graph. Where it is wider than that, it leaves the numbers at the left free as far as it has room up to the `end` of the canvas.
fn at_upper_edge(size: egui::Vec2, graph: Rect, end: f32) -> Rect {
    let middle = Align2::CENTER_TOP.align_size_within_rect(size, graph.shrink(3.0));
    let over = (graph.left() - middle.left()).max(0.0);
    middle.translate(vec2(over.min((end - 4.0 - middle.right()).max(0.0)), 0.0))
}

/// What the clock takes of the height of a picture.
const CLOCK: f32 = 36.0;

/// The place of the line, above a note where it would cover that; in a picture that is too low for both, over the note, which is seen once the line is put away.
fn above_note(line: Rect, note: Option<Rect>, top: f32) -> Rect {
    let moved = note
        .filter(|note| note.expand(4.0).intersects(line))
        .map(|note| line.translate(vec2(0.0, note.top() - 8.0 - line.bottom())));
    moved.filter(|moved| moved.top() >= top).unwrap_or(line)
}

/// The same at the upper edge of a graph, below a note that stands there.
fn below_note(line: Rect, note: Option<Rect>) -> Rect {
    match note.filter(|note| note.intersects(line)) {
        Some(note) => line.translate(vec2(0.0, note.bottom() + 8.0 - line.top())),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    #[test]
    fn the_line_stands_beside_panels() {
        let area = Rect::from_min_max(pos2(264.0, 33.0), pos2(1280.0, 621.0));
        let panel = Rect::from_min_max(pos2(644.0, 73.0), pos2(1264.0, 600.0));
        assert_eq!(beside(area, &[], USUAL.x), area);
        let free = beside(area, &[panel], USUAL.x);
        assert!(
            !free.intersects(panel.shrink(1.0)) && free.width() > USUAL.x,
            "{free:?}"
        );
        let wide = panel.with_min_x(300.0);
        assert_eq!(beside(area, &[wide], USUAL.x), area, "no room is left");
    }

    #[test]
    fn the_line_stands_in_the_middle_of_the_picture() {
        let canvas = Rect::from_min_max(pos2(264.0, 33.0), pos2(1280.0, 621.0));
        let picture = canvas.with_min_x(302.0);
        assert_eq!(beside_tools(canvas, picture, USUAL.x), picture);
        let second = canvas.with_min_x(774.0);
        assert_eq!(beside_tools(canvas, second, USUAL.x), canvas, "one of two");
        let narrow = Rect::from_min_max(pos2(264.0, 33.0), pos2(640.0, 275.0));
        assert_eq!(beside_tools(narrow, narrow.with_min_x(336.0), USUAL.x), narrow);
        assert_eq!(beside_tools(canvas, Rect::NOTHING, USUAL.x), canvas, "no picture yet");
    }

    #[test]
    fn the_line_leaves_the_numbers_of_a_graph_free() {
        let size = vec2(310.0, 42.0);
        let wide = Rect::from_min_max(pos2(336.0, 97.0), pos2(1208.0, 565.0));
        let line = at_upper_edge(size, wide, 1280.0);
        assert!(wide.contains_rect(line) && (line.center().x - wide.center().x).abs() < 0.1);
        // In the smallest window: up to a figure at the left.
        let narrow = Rect::from_min_max(pos2(336.0, 97.0), pos2(568.0, 219.0));
        let line = at_upper_edge(size, narrow, 640.0);
        assert!(line.right() <= 640.0 && line.left() > narrow.left() - 12.0, "{line:?}");
        assert!(line.bottom() < narrow.bottom());
    }

    #[test]
    fn only_a_preset_is_a_lesson() {
        let frame = Frame::default();
        assert_eq!(
            [true, false].map(|is_lesson| words(&frame, is_lesson)),
            ["The lesson ends here.", "The scene ends here."]
        );
    }

    #[test]
    fn the_line_never_covers_a_note() {
        let line = Rect::from_center_size(pos2(500.0, 600.0), USUAL);
        assert_eq!(above_note(line, None, 36.0), line);
        let far = Rect::from_center_size(pos2(500.0, 100.0), vec2(300.0, 30.0));
        assert_eq!(above_note(line, Some(far), 36.0), line);
        let note = Rect::from_center_size(pos2(520.0, 610.0), vec2(600.0, 30.0));
        let moved = above_note(line, Some(note), 36.0);
        assert!(moved.bottom() < note.top() && moved.size() == line.size(), "{moved:?}");
        // The clock of a low picture stays free.
        assert_eq!(above_note(line, Some(note), moved.top() + 1.0), line);
        let below = below_note(line, Some(note));
        assert!(
            below.top() > note.bottom() && below_note(line, Some(far)) == line,
            "{below:?}"
        );
        assert!((moved.center().x - line.center().x).abs() < 1e-3);
    }
}
