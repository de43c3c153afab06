//! Two fingers on a picture: they move and zoom it, whatever tool is in the hand.

use egui::{Pos2, Rect, Response, Ui, Vec2};

/// What two fingers did since the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinch {
    /// The point between them.
    pub center: Pos2,
    /// How much farther apart they are.
    pub zoom: f32,
    /// Where that point went.
    pub shift: Vec2,
}

/// The fingers on `area`; `None` while fewer than two touch it.
pub fn on(ui: &Ui, area: Rect) -> Option<Pinch> {
    let touch = ui.input(egui::InputState::multi_touch)?;
    area.contains(touch.start_pos).then_some(Pinch {
        center: touch.center_pos,
        zoom: touch.zoom_delta,
        shift: touch.translation_delta,
    })
}

/// Whether a gesture on the picture belongs to two fingers: until the last one is lifted, so that the finger that stays starts nothing.
pub fn holds(ui: &Ui, area: Rect, response: &Response) -> bool {
    let id = response.id.with("pinched");
    let before = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or(false);
    let now = on(ui, area).is_some();
    // A touch that the system takes away lets no button go: then the next press is another gesture.
    let goes_on = ui.input(|input| {
        let alone = input.pointer.any_pressed() && !now;
        (input.any_touches() || input.pointer.any_down()) && !alone
    });
    let held = now || (before && goes_on);
    if held != before {
        ui.data_mut(|data| data.insert_temp(id, held));
    }
    held || before
}
