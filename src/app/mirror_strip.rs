//! The timeline of a scene with a mirror: the way there, recorded, and the way back, replayed, as two strips beside the transport.

use super::command::Action;
use super::theme;
use super::units::Units;
use crate::engine::{Frame, Phase};
use egui::{Align2, FontId, Rect, Sense, Stroke, Ui, pos2, vec2};

/// Height of the strips.
const HEIGHT: f32 = 20.0;

/// Shows the strips, where the scene has a mirror; returns what was asked for.
pub fn show(ui: &mut Ui, frame: &Frame) -> Option<Action> {
    let (mirror, scenario) = (frame.mirror.as_ref()?, frame.scenario.as_ref()?);
    let palette = theme::palette(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click());
    let status = mirror.status;
    let turn = status.turn.max(1) as f32;
    let steps = frame.clock.steps as f32;
    let back = status.phase == Phase::Replay;
    let unit = Units::of(scenario, frame.clock.time_step).time;
    let moment = status.turn as f64 * frame.clock.time_step.abs();
    let half = (rect.width() - 4.0) / 2.0;
    let painter = ui.painter();
    for (n, (name, share)) in [
        ("record", if back { 1.0 } else { steps / turn }),
        ("replay", if back { (steps - turn) / turn } else { 0.0 }),
    ]
    .into_iter()
    .enumerate()
    {
        let left = rect.left() + n as f32 * (half + 4.0);
        let strip = Rect::from_min_size(pos2(left, rect.top()), vec2(half, HEIGHT));
        painter.rect_filled(strip, 3.0, palette.surface);
        let done = Rect::from_min_size(strip.min, vec2(half * share.clamp(0.0, 1.0), HEIGHT));
        painter.rect_filled(done, 3.0, palette.accent_ground);
        if (n == 1) == back {
            let x = done.right().min(strip.right() - 1.0);
            painter.vline(x, strip.y_range(), Stroke::new(2.0, palette.accent));
        }
        let text = |align: Align2, text: String, color| {
            painter.text(
                align.pos_in_rect(&strip.shrink2(vec2(8.0, 0.0))),
                align,
                text,
                FontId::proportional(11.5),
                color,
            );
        };
        text(Align2::LEFT_CENTER, name.to_owned(), palette.text);
        let end = if n == 0 { moment } else { 2.0 * moment };
        text(Align2::RIGHT_CENTER, format!("t = {}", unit.show(end, 4)), palette.weak);
    }
    let about = if status.turned {
        "Back to the moment of the reversal. The way back can then be taken again, with another method, noise or medium, without recording anew."
    } else {
        "What is recorded, and how far the way back has come. Time is reversed at the end of the first strip, or at once with T."
    };
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, status.turned, "Timeline of the mirror"));
    let clicked = response.clicked() && status.turned;
    response.on_hover_text(about);
    clicked.then_some(Action::BackToTurn)
}
