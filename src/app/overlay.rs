//! What stands over the picture: clock, colour bar, scale bar, read-out.

use super::camera::Camera;
use super::theme::{self, over_picture};
use super::units::Unit;
use super::widgets::{axis_label, figure, round_below, steady};
use crate::colormap::{Colormap, Kind, Levels};
use crate::export::ticks::ticks;
use egui::{Align, Align2, Color32, FontId, Painter, Rect, Stroke, Vec2, pos2, vec2};

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
    let slot = layout("−0.000e−00 m", over_picture()).size();
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

/// The time, at the upper left. Its decimals follow Δt, so that the width stays.
pub fn clock(painter: &Painter, room: Room, time: f64, time_step: f64, unit: Unit) {
    let words = clock_words(time, time_step, unit);
    plate(painter, room, Align2::LEFT_TOP, words, CLOCK);
}

fn clock_words(time: f64, time_step: f64, unit: Unit) -> String {
    let time_step = time_step * unit.per;
    let time = steady(time * unit.per, clock_decimals(time_step.abs()));
    format!("t = {time}{}", unit.suffix())
}

/// Decimals of a clock with steps of this size.
fn clock_decimals(time_step: f64) -> usize {
    if time_step == 0.0 {
        return 2;
    }
    let decimals = (-time_step.log10().floor()).clamp(0.0, 6.0) as usize;
    // With steps of 2.5 a clock of whole numbers would be wrong at every second one.
    let is_whole = (time_step - time_step.round()).abs() < 1e-6 * time_step;
    decimals.max(usize::from(!is_whole))
}

/// A line of a round length, at the lower left; `spacing` from site to site, `name` before the number.
pub fn scale_bar(painter: &Painter, room: Room, camera: &Camera, spacing: f64, (name, unit): (&str, Unit)) {
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
}

/// What a colour means: the map, its range, the quantity and its unit.
pub struct Legend<'a> {
    /// The map.
    pub map: &'static Colormap,
    /// The map as a texture of 256 × 1.
    pub texture: egui::TextureId,
    /// Values at its ends.
    pub levels: Levels,
    /// Exponent of the brightness scale.
    pub gamma: f32,
    /// The quantity.
    pub title: &'a str,
    /// What else is to be said of the colours; empty as a rule.
    pub note: &'a str,
}

/// How the colours are explained.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// As a line with the values at its ends.
    Line,
    Bar,
    Wheel,
}

/// A line's colours, and its height.
const LINE: Vec2 = vec2(128.0, 8.0);
const LINE_HEIGHT: f32 = 24.0;

impl Form {
    /// A bar or a wheel stands beside the picture or over what has no edge; over the picture the colours take as little room as they can.
    fn of(room: Room, legend: &Legend<'_>) -> Option<Self> {
        let area = room.area;
        if area.height() < 160.0 || area.width() < 240.0 {
            None
        } else if area.height() < 320.0 || area.width() < 480.0 {
            Some(Self::Line)
        } else if legend.map.kind == Kind::Cyclic && room.beside() > 240.0 {
            Some(Self::Wheel)
        } else if legend.map.kind != Kind::Cyclic && room.beside() > 168.0 {
            Some(Self::Bar)
        } else {
            Some(Self::Line)
        }
    }
}

/// The words of a line of colours: before it, at its ends, after it.
fn line_words(legend: &Legend<'_>, width: f32) -> [String; 4] {
    let Levels { low, high } = legend.levels;
    let cyclic = legend.map.kind == Kind::Cyclic;
    let ends = if cyclic {
        ["−π".to_owned(), "π".to_owned()]
    } else {
        [low, high].map(|value| figure(f64::from(value), 3))
    };
    let [low, high_word] = ends;
    let title = match (width > 560.0, cyclic) {
        (false, _) => String::new(),
        (true, true) => "phase of ψ".to_owned(),
        (true, false) => legend.title.to_owned(),
    };
    let mut after = if cyclic {
        format!("brightest: |ψ| = {}", figure(f64::from(high), 2))
    } else {
        String::new()
    };
    if !legend.note.is_empty() && width > 760.0 {
        if !after.is_empty() {
            after.push_str(", ");
        }
        after.push_str(legend.note);
    }
    if width <= 560.0 {
        after.clear();
    }
    [title, low, high_word, after]
}

/// Where the colours are explained, if there is room for it.
#[must_use]
pub fn legend_place(painter: &Painter, room: Room, legend: &Legend<'_>) -> Option<Rect> {
    let layout = |text: String| {
        painter
            .layout_no_wrap(text, FontId::proportional(TEXT), over_picture())
            .size()
    };
    let size = match Form::of(room, legend)? {
        Form::Line => {
            let words = line_words(legend, room.area.width())
                .map(|word| if word.is_empty() { 0.0 } else { layout(word).x + 8.0 });
            vec2(words.iter().sum::<f32>() + LINE.x + 12.0, LINE_HEIGHT)
        }
        Form::Bar => {
            let title = layout(legend.title.to_owned());
            let note = note_galley(painter, legend).map_or(0.0, |galley| galley.size().y + 6.0);
            vec2(
                (title.x + 16.0).max(96.0),
                bar_height(room.area) + title.y + 28.0 + note,
            )
        }
        Form::Wheel => {
            let width = wheel_words(legend)
                .map(|line| layout(line).x)
                .into_iter()
                .fold(0.0, f32::max);
            vec2(width + 128.0, 88.0)
        }
    };
    clear_of_clock(room.corner(Align2::RIGHT_TOP, size), room)
}

/// A plate of the upper right corner, below the clock where it would cover that; nowhere where that leaves no room.
fn clear_of_clock(plate: Rect, room: Room) -> Option<Rect> {
    if !plate.intersects(room.clock) {
        return Some(plate);
    }
    let below = plate.translate(vec2(0.0, room.clock.bottom() - plate.top()));
    (below.bottom() <= room.area.bottom()).then_some(below)
}

/// The note under a bar, wrapped to its width.
fn note_galley(painter: &Painter, legend: &Legend<'_>) -> Option<std::sync::Arc<egui::Galley>> {
    let font = FontId::proportional(11.0);
    (!legend.note.is_empty())
        .then(|| painter.layout(legend.note.to_owned(), font, over_picture().gamma_multiply(0.7), 88.0))
}

/// The colour bar at the upper right; a wheel for phases.
pub fn legend(painter: &Painter, room: Room, legend: &Legend<'_>) {
    let (Some(form), Some(plate)) = (Form::of(room, legend), legend_place(painter, room, legend)) else {
        return;
    };
    painter.rect_filled(plate, 4.0, theme::shade());
    match form {
        Form::Line => line(painter, plate, room.area.width(), legend),
        Form::Bar => bar(painter, plate, bar_height(room.area), legend),
        Form::Wheel => wheel(painter, plate, legend),
    }
}

fn bar_height(area: Rect) -> f32 {
    (area.height() * 0.35).clamp(80.0, 192.0)
}

fn wheel_words(legend: &Legend<'_>) -> [String; 3] {
    [
        "hue: phase of ψ".to_owned(),
        "full brightness:".to_owned(),
        format!("|ψ| = {}", figure(f64::from(legend.levels.high), 2)),
    ]
}

/// The colours as a line with the values at its ends.
fn line(painter: &Painter, plate: Rect, width: f32, legend: &Legend<'_>) {
    let [title, low, high, after] = line_words(legend, width);
    let middle = plate.center().y;
    let weak = over_picture().gamma_multiply(0.75);
    let put = |x: f32, text: String, color| -> f32 {
        if text.is_empty() {
            return x;
        }
        let galley = painter.layout_no_wrap(text, FontId::proportional(TEXT), color);
        let width = galley.size().x;
        painter.galley(pos2(x, middle - galley.size().y / 2.0), galley, color);
        x + width + 8.0
    };
    let x = put(plate.left() + 8.0, title, weak);
    let x = put(x, low, over_picture());
    let bar = Rect::from_min_size(pos2(x, middle - LINE.y / 2.0), LINE);
    let inside = 0.5 / 256.0;
    let uv = Rect::from_min_max(pos2(inside, 0.5), pos2(1.0 - inside, 0.5));
    painter.image(legend.texture, bar, uv, Color32::WHITE);
    let x = put(bar.right() + 8.0, high, over_picture());
    put(x, after, weak);
}

fn bar(painter: &Painter, plate: Rect, height: f32, legend: &Legend<'_>) {
    let title = painter.layout_no_wrap(legend.title.to_owned(), FontId::proportional(TEXT), over_picture());
    painter.galley(plate.min + vec2(8.0, 6.0), title.clone(), over_picture());
    let bar = Rect::from_min_size(plate.min + vec2(8.0, title.size().y + 16.0), vec2(12.0, height));
    // The texture runs along x; turned by its corners' coordinates so that the top is its end. Of a map with two sides uneven levels
    // show a part.
    let Levels { low, high } = legend.levels;
    let mapping = legend.levels.mapping(legend.map.kind);
    let ends = [low, high].map(|value| mapping.entry(value) as f32);
    let [first, last] = if mapping.scale > 0.0 { ends } else { [0.0, 255.0] };
    let mut mesh = egui::Mesh::with_texture(legend.texture);
    for (corner, u) in [
        (bar.left_bottom(), first),
        (bar.right_bottom(), first),
        (bar.left_top(), last),
        (bar.right_top(), last),
    ] {
        // The middle of an entry has its colour.
        let u = (u + 0.5) / 256.0;
        mesh.vertices.push(egui::epaint::Vertex {
            pos: corner,
            uv: pos2(u, 0.5),
            color: Color32::WHITE,
        });
    }
    mesh.add_triangle(0, 1, 2);
    mesh.add_triangle(1, 2, 3);
    painter.add(mesh);
    for (at, label) in bar_marks(legend, (height / 32.0) as usize) {
        let y = egui::lerp(bar.bottom()..=bar.top(), at);
        painter.hline(bar.right()..=bar.right() + 4.0, y, Stroke::new(1.0, over_picture()));
        painter.text(
            pos2(bar.right() + 8.0, y),
            Align2::LEFT_CENTER,
            label,
            FontId::proportional(11.5),
            over_picture(),
        );
    }
    if let Some(note) = note_galley(painter, legend) {
        painter.galley(bar.left_bottom() + vec2(0.0, 10.0), note, over_picture());
    }
}

/// Round values with their places on the bar, from 0 to 1; the ends where there are none.
fn bar_marks(legend: &Legend<'_>, most: usize) -> Vec<(f32, String)> {
    let Levels { low, high } = legend.levels;
    let gamma = if legend.map.kind == Kind::Diverging {
        1.0
    } else {
        legend.gamma
    };
    let round = ticks(f64::from(low), f64::from(high), most.clamp(2, 6));
    let values: Vec<f64> = round.marks.iter().map(|(value, _)| *value).collect();
    let [first, second, ..] = values[..] else {
        return [(0.0, low), (1.0, high)]
            .map(|(at, value)| (at, figure(f64::from(value), 3)))
            .into();
    };
    let largest = f64::from(low.abs().max(high.abs()));
    let part = |value: f64| (((value - f64::from(low)) / f64::from(high - low)) as f32).clamp(0.0, 1.0);
    let mut marks: Vec<(f32, String)> = Vec::new();
    for value in values {
        let at = part(value).powf(gamma);
        // A scale that is bent crowds them at one end.
        if marks
            .last()
            .is_none_or(|(last, _)| at - last > 0.8 / (most.max(2) + 1) as f32)
        {
            marks.push((at, axis_label(value, second - first, largest)));
        }
    }
    marks
}

fn wheel(painter: &Painter, plate: Rect, legend: &Legend<'_>) {
    let font = FontId::proportional(TEXT);
    let lines = wheel_words(legend).map(|text| painter.layout_no_wrap(text, font.clone(), over_picture()));
    let mut y = plate.top() + 14.0;
    for line in lines {
        painter.galley(pos2(plate.left() + 12.0, y), line, over_picture());
        y += 20.0;
    }
    let center = plate.right_center() - vec2(56.0, 0.0);
    let (inner, outer) = (13.0, 25.0);
    let table = legend.map.table();
    let mut mesh = egui::Mesh::default();
    for n in 0..=64_u32 {
        let turn = n as f32 / 64.0;
        let [r, g, b] = table[(n * 4) as usize % 256];
        let color = Color32::from_rgb(r, g, b);
        let direction = vec2(
            (turn * std::f32::consts::TAU).cos(),
            -(turn * std::f32::consts::TAU).sin(),
        );
        mesh.colored_vertex(center + direction * inner, color);
        mesh.colored_vertex(center + direction * outer, color);
        if n > 0 {
            let last = 2 * n;
            mesh.add_triangle(last - 2, last - 1, last);
            mesh.add_triangle(last - 1, last, last + 1);
        }
    }
    painter.add(mesh);
    for (offset, align, text) in [
        (vec2(outer + 4.0, 0.0), Align2::LEFT_CENTER, "0"),
        (vec2(0.0, -outer - 2.0), Align2::CENTER_BOTTOM, "π/2"),
        (vec2(-outer - 4.0, 0.0), Align2::RIGHT_CENTER, "π"),
        (vec2(0.0, outer + 2.0), Align2::CENTER_TOP, "−π/2"),
    ] {
        painter.text(center + offset, align, text, FontId::proportional(11.0), over_picture());
    }
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
    fn a_clock_has_the_decimals_of_its_steps() {
        for (step, decimals) in [(2.5, 1), (1.0, 0), (0.02, 2), (0.0371, 2), (3.0, 0), (1e-9, 6)] {
            assert_eq!(clock_decimals(step), decimals, "{step}");
        }
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
