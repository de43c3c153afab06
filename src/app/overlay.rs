//! What stands over the picture: clock, colour bar, scale bar, read-out.

mod legend;

use super::camera::Camera;
use super::theme::{self, over_picture};
use super::units::Unit;
use super::widgets::{figure, round_below, steady};
use crate::units::clock_decimals;
use egui::{Align, Align2, FontId, Painter, Rect, Stroke, Vec2, pos2, vec2};
pub use legend::{Legend, legend, legend_place};

const TEXT: f32 = 12.0;

/// The clock's letters.
const CLOCK: FontId = FontId::proportional(16.0);

/// What a plate has beyond its text.
const PLATE: Vec2 = vec2(16.0, 8.0);

/// Between a plate and the edge of the canvas or of the picture.
const GAP: f32 = 3.0;

/// Where plates may stand.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The canvas.
    pub area: Rect,
    /// The picture in it; nothing where a plate may stand anywhere.
    pub picture: Rect,
    /// Where the clock stands; nothing where it is not known.
    pub clock: Rect,
}

impl Room {
    /// Room without a picture that plates must not cross.
    #[must_use]
    pub fn free(area: Rect) -> Self {
        Self {
            area,
            picture: Rect::NOTHING,
            clock: Rect::NOTHING,
        }
    }

    /// The same with the place of the clock taken.
    #[must_use]
    pub fn with_clock(self, painter: &Painter, time: f64, time_step: f64, unit: Unit) -> Self {
        let words = clock_words(time, time_step, unit);
        let size = painter.layout_no_wrap(words, CLOCK, over_picture()).size();
        Self {
            clock: self.corner(Align2::LEFT_TOP, size + PLATE),
            ..self
        }
    }

    /// The place of a plate in a corner: outside the picture where that leaves room, else within it, never across its edge.
    #[must_use]
    pub fn corner(&self, align: Align2, size: Vec2) -> Rect {
        let gap = if self.picture.is_positive() { GAP } else { 16.0 };
        let outer = align.align_size_within_rect(size, self.area.shrink(gap));
        let seen = self.picture.intersect(self.area);
        if !outer.intersects(seen) || seen.contains_rect(outer) {
            return outer;
        }
        let inner = align.align_size_within_rect(size, seen.shrink(GAP));
        if seen.contains_rect(inner) { inner } else { outer }
    }

    /// The width that is free beside the picture.
    fn beside(&self) -> f32 {
        if self.picture.is_positive() {
            self.area.right() - self.picture.right()
        } else {
            self.area.width()
        }
    }
}

/// Text on a shade.
pub fn plate(painter: &Painter, room: Room, align: Align2, text: String, font: FontId) {
    let galley = painter.layout_no_wrap(text, font, over_picture());
    let rect = room.corner(align, galley.size() + PLATE);
    painter.rect_filled(rect, 4.0, theme::shade());
    painter.galley(rect.min + vec2(8.0, 4.0), galley, over_picture());
}

/// Names with their values on a shade in a corner, clear of the clock and of a `note` that stands there: every value has a place as wide as the widest
/// number, so that nothing moves while it changes.
pub fn fields(painter: &Painter, (room, corner): (Room, Align2), note: Option<Rect>, fields: &[(String, String)]) {
    let font = FontId::proportional(TEXT);
    let layout = |text: &str, color| painter.layout_no_wrap(text.to_owned(), font.clone(), color);
    let slot = layout("−0.00×10⁻⁰⁰ m", over_picture()).size();
    let names: Vec<_> = fields
        .iter()
        .map(|(name, _)| layout(name, over_picture().gamma_multiply(0.7)))
        .collect();
    let width: f32 = names.iter().map(|name| name.size().x + slot.x + 8.0).sum();
    let rect = fields_place(vec2(width + 16.0, slot.y + 8.0), (room, corner), note);
    painter.rect_filled(rect, 4.0, theme::shade());
    let mut x = rect.left() + 8.0;
    for (name, (_, value)) in names.into_iter().zip(fields) {
        let value = layout(value, over_picture());
        let after = x + name.size().x + 6.0;
        painter.galley(pos2(x, rect.top() + 4.0), name, over_picture());
        x = after + slot.x + 2.0;
        painter.galley(pos2(after, rect.top() + 4.0), value, over_picture());
    }
}

/// Where a plate of a size stands in a corner, clear of the clock and of a `note`.
fn fields_place(size: Vec2, (room, corner): (Room, Align2), note: Option<Rect>) -> Rect {
    let rect = room.corner(corner, size);
    let rect = clear_of_clock(rect, room).unwrap_or(rect);
    let Some(note) = note.filter(|note| note.intersects(rect)) else {
        return rect;
    };
    let beside = if corner.y() == Align::Min {
        note.bottom() + GAP - rect.top()
    } else {
        note.top() - GAP - rect.bottom()
    };
    rect.translate(vec2(0.0, beside))
}

/// The time, at the upper left. Its decimals follow Δt, so that the width stays and no step is rounded away.
pub fn clock(painter: &Painter, room: Room, time: f64, time_step: f64, unit: Unit) {
    let words = clock_words(time, time_step, unit);
    plate(painter, room, Align2::LEFT_TOP, words, CLOCK);
}

fn clock_words(time: f64, time_step: f64, unit: Unit) -> String {
    let time_step = time_step * unit.per;
    let time = steady(time * unit.per, clock_decimals(time_step.abs()));
    format!("t = {time}{}", unit.suffix())
}

/// A line of a round length, at the lower left; `spacing` from site to site, `name` before the number. Where it stands.
pub fn scale_bar(painter: &Painter, room: Room, camera: &Camera, spacing: f64, (name, unit): (&str, Unit)) -> Rect {
    let points_per_length = f64::from(camera.scale()) / (spacing * unit.per);
    let length = round_below(140.0 / points_per_length);
    let width = (length * points_per_length) as f32;
    let text = format!("{name}{}{}", figure(length, 3), unit.suffix());
    let galley = painter.layout_no_wrap(text, FontId::proportional(TEXT), over_picture());
    let size = vec2(width.max(galley.size().x) + 16.0, galley.size().y + 20.0);
    let rect = room.corner(Align2::LEFT_BOTTOM, size);
    painter.rect_filled(rect, 4.0, theme::shade());
    let x = rect.left() + 8.0;
    let y = rect.bottom() - 8.0;
    let stroke = Stroke::new(1.5, over_picture());
    painter.hline(x..=x + width, y, stroke);
    painter.vline(x, y - 4.0..=y, stroke);
    painter.vline(x + width, y - 4.0..=y, stroke);
    painter.galley(
        pos2(x + (width - galley.size().x).max(0.0) / 2.0, rect.top() + 3.0),
        galley,
        over_picture(),
    );
    rect
}

/// A plate of the upper right corner, below the clock where it would cover that; nowhere where that leaves no room.
fn clear_of_clock(plate: Rect, room: Room) -> Option<Rect> {
    if !plate.intersects(room.clock) {
        return Some(plate);
    }
    let below = plate.translate(vec2(0.0, room.clock.bottom() - plate.top()));
    (below.bottom() <= room.area.bottom()).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plate_never_stands_across_the_edge_of_the_picture() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0));
        let size = vec2(120.0, 40.0);
        let whole = Room {
            picture: area,
            ..Room::free(area)
        };
        assert_eq!(whole.corner(Align2::LEFT_TOP, size).min, pos2(3.0, 3.0));
        let low = Room {
            picture: area.shrink2(vec2(16.0, 100.0)),
            ..Room::free(area)
        };
        assert_eq!(low.corner(Align2::LEFT_TOP, size).min, pos2(3.0, 3.0), "above it");
        let high = Room {
            picture: area.shrink2(vec2(60.0, 30.0)),
            ..Room::free(area)
        };
        assert_eq!(high.corner(Align2::LEFT_TOP, size).min, pos2(63.0, 33.0), "within it");
        let tiny = Room {
            picture: Rect::from_min_size(pos2(20.0, 20.0), vec2(30.0, 30.0)),
            ..Room::free(area)
        };
        assert_eq!(tiny.corner(Align2::LEFT_TOP, size).min, pos2(3.0, 3.0));
    }

    #[test]
    fn values_stand_clear_of_clock_and_note() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 400.0));
        let clock = Rect::from_min_size(pos2(16.0, 16.0), vec2(300.0, 28.0));
        let room = Room {
            clock,
            ..Room::free(area)
        };
        let size = vec2(330.0, 24.0);
        let below = fields_place(size, (room, Align2::RIGHT_TOP), None);
        assert!(!below.intersects(clock.shrink(1.0)) && below.top() < 60.0, "{below:?}");
        let note = Rect::from_min_size(pos2(100.0, 352.0), vec2(400.0, 32.0));
        let above = fields_place(size, (room, Align2::RIGHT_BOTTOM), Some(note));
        assert!(above.bottom() < note.top(), "{above:?}");
        let note = Rect::from_min_size(pos2(100.0, 8.0), vec2(400.0, 31.0));
        let free = Room::free(area);
        let under = fields_place(size, (free, Align2::RIGHT_TOP), Some(note));
        assert!(under.top() > note.bottom(), "{under:?}");
    }

    #[test]
    fn a_legend_never_covers_the_clock() {
        let area = Rect::from_min_size(pos2(10.0, 20.0), vec2(240.0, 200.0));
        let plate = |width: f32, height: f32| Room::free(area).corner(Align2::RIGHT_TOP, vec2(width, height));
        let room = Room {
            clock: Room::free(area).corner(Align2::LEFT_TOP, vec2(100.0, 30.0)),
            ..Room::free(area)
        };
        assert_eq!(clear_of_clock(plate(60.0, 40.0), room), Some(plate(60.0, 40.0)));
        let moved = clear_of_clock(plate(180.0, 40.0), room).unwrap();
        assert!(!moved.intersects(room.clock.shrink(1.0)) && area.contains_rect(moved));
        assert_eq!(clear_of_clock(plate(180.0, 170.0), room), None);
    }
}
