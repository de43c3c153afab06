//! Notices: what went wrong or was done, in a corner, without stopping anything.

use super::theme;
use super::widgets::{card_rect, seen_rect};
use crate::app::icon::Icon;

/// How long a plain notice stays, in seconds; faults stay until they are closed.
const STAYS: f64 = 5.0;

/// One notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// A few words.
    pub title: String,
    /// The details, one line each.
    pub lines: Vec<String>,
    /// Whether something is wrong.
    pub fault: bool,
    /// When it was shown first.
    since: Option<f64>,
}

/// The notices of a window, newest last.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    list: Vec<Notice>,
}

impl Notices {
    /// Says that something was done.
    pub fn say(&mut self, title: impl Into<String>) {
        self.push(title.into(), Vec::new(), false);
    }

    /// Says what is wrong, with all faults.
    pub fn fault(&mut self, title: impl Into<String>, lines: Vec<String>) {
        self.push(title.into(), lines, true);
    }

    fn push(&mut self, title: String, lines: Vec<String>, fault: bool) {
        self.list.retain(|notice| notice.title != title);
        self.list.push(Notice {
            title,
            lines,
            fault,
            since: None,
        });
        if self.list.len() > 4 {
            self.list.remove(0);
        }
    }

    /// Takes back what is no longer so: notices whose titles begin like this.
    pub fn clear(&mut self, title: &str) {
        self.list.retain(|notice| !notice.title.starts_with(title));
    }

    /// Takes back all faults: what they were said of is there no longer.
    pub fn clear_faults(&mut self) {
        self.list.retain(|notice| !notice.fault);
    }

    /// The notices that are shown.
    #[must_use]
    pub fn list(&self) -> &[Notice] {
        &self.list
    }

    /// Shows them over `area`, at its lower right.
    pub fn show(&mut self, ctx: &egui::Context, area: egui::Rect) {
        let now = ctx.input(|input| input.time);
        for notice in &mut self.list {
            notice.since.get_or_insert(now);
        }
        self.list
            .retain(|notice| notice.fault || notice.since.is_none_or(|since| now - since < STAYS));
        if self.list.is_empty() {
            return;
        }
        ctx.request_repaint_after_secs(1.0);
        let mut closed = None;
        egui::Area::new(egui::Id::unique("notices"))
            .order(egui::Order::Foreground)
            .pivot(egui::Align2::RIGHT_BOTTOM)
            .fixed_pos(corner(ctx, area))
            .show(ctx, |ui| {
                ui.set_max_width((area.width() - 32.0).clamp(160.0, 440.0));
                for (n, notice) in self.list.iter().enumerate() {
                    if card(ui, notice, n) {
                        closed = Some(n);
                    }
                }
            });
        if let Some(n) = closed {
            self.list.remove(n);
        }
    }
}

/// The lower right corner of the notices: over `area`, above the line that offers to play on where they would cover its buttons.
fn corner(ctx: &egui::Context, area: egui::Rect) -> egui::Pos2 {
    let corner = area.right_bottom() - egui::vec2(16.0, 16.0);
    let size = card_rect(ctx, "notices").map_or(egui::Vec2::ZERO, |rect| rect.size());
    let place = egui::Align2::RIGHT_BOTTOM.anchor_size(corner, size);
    match seen_rect(ctx, egui::Order::Middle, "rest").filter(|line| line.intersects(place)) {
        // Not where they would lose their upper ends.
        Some(line) if line.top() - 8.0 - size.y > area.top() => egui::pos2(corner.x, line.top() - 8.0),
        _ => corner,
    }
}

/// The greatest height of the details of a notice; they are scrolled beyond it.
const DETAILS: f32 = 240.0;

/// Room for the button that closes a notice.
const CLOSE: f32 = 32.0;

fn card(ui: &mut egui::Ui, notice: &Notice, n: usize) -> bool {
    let palette = theme::palette(ui);
    let (sign, color) = if notice.fault {
        (Icon::TriangleAlert, palette.warning)
    } else {
        (Icon::Info, palette.accent)
    };
    let mut close = false;
    egui::Frame::popup(ui.style())
        .fill(palette.surface)
        .inner_margin(12)
        .show(ui, |ui| {
            ui.horizontal_top(|ui| {
                ui.label(theme::icon(sign, 16.0).color(color));
                // A long title is wrapped beside the button.
                let room = (ui.available_width() - CLOSE).max(80.0);
                let title = egui::RichText::new(&notice.title).color(palette.strong);
                ui.allocate_ui(egui::vec2(room, 0.0), |ui| ui.add(egui::Label::new(title).wrap()));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::TOP), |ui| {
                    close = ui
                        .push_id(("close notice", n), |ui| {
                            ui.add(egui::Button::new(theme::icon(Icon::X, 14.0)).frame(false))
                        })
                        .inner
                        .accessible_name("Close notice")
                        .clicked();
                });
            });
            if !notice.lines.is_empty() {
                // Whatever fits is shown: an area alone would be lower.
                egui::ScrollArea::vertical()
                    .id_salt(("notice", n))
                    .max_height(DETAILS)
                    .min_scrolled_height(DETAILS)
                    .show(ui, |ui| {
                        for line in &notice.lines {
                            ui.add(egui::Label::new(line).wrap().selectable(true));
                        }
                    });
            }
        });
    close
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Id, Order, Rect, pos2, vec2};

    /// All faults of a scene are seen at once where there is room for them.
    #[test]
    fn the_details_of_a_fault_have_their_room() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0));
        let mut notices = Notices::default();
        let lines = (0..30).map(|n| format!("line {n}: there is no such key")).collect();
        notices.fault("The scene cannot be opened", lines);
        for _ in 0..4 {
            let input = egui::RawInput {
                screen_rect: Some(screen),
                ..egui::RawInput::default()
            };
            let mut output = ctx.run_ui(input, |ui| notices.show(ui.ctx(), screen));
            output.textures_delta.clear();
        }
        let card = card_rect(&ctx, "notices").unwrap();
        assert!(card.height() > DETAILS, "{card:?}");
    }

    #[test]
    fn a_fault_leaves_the_buttons_of_a_run_that_rests_free() {
        let ctx = egui::Context::default();
        theme::install(&ctx);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0));
        let mut notices = Notices::default();
        notices.fault(
            "The scene cannot be opened",
            vec!["titel: there is no such key".to_owned()],
        );
        let mut frames = |rests: bool| {
            for _ in 0..4 {
                let input = egui::RawInput {
                    screen_rect: Some(screen),
                    ..egui::RawInput::default()
                };
                let mut output = ctx.run_ui(input, |ui| {
                    if rests {
                        let line = egui::Area::new(Id::unique("rest")).order(Order::Middle);
                        line.fixed_pos(pos2(400.0, 540.0))
                            .show(ui.ctx(), |ui| ui.allocate_space(vec2(200.0, 40.0)));
                    }
                    notices.show(ui.ctx(), screen);
                });
                output.textures_delta.clear();
            }
            card_rect(&ctx, "notices").unwrap()
        };
        let free = frames(false);
        assert!(free.bottom() > 580.0, "{free:?}");
        let moved = frames(true);
        assert!(moved.bottom() < 540.0 && moved.size() == free.size(), "{moved:?}");
    }
}
