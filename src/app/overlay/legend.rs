//! What a colour means: a bar, a wheel of phases or a line beside or over the picture.

use super::{Room, TEXT, clear_of_clock};
use crate::app::theme::{self, over_picture};
use crate::app::widgets::{axis_label, figure};
use crate::colormap::{Colormap, Kind, Levels};
use crate::export::ticks::ticks;
use egui::{Align2, Color32, FontId, Painter, Rect, Stroke, Vec2, pos2, vec2};

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
    /// Its sign with the unit: what a small picture has room for.
    pub short: &'a str,
    /// What else is to be said of the colours; empty as a rule.
    pub note: &'a str,
}

impl Legend<'_> {
    /// Whether the brightness is no straight line.
    fn is_bent(&self) -> bool {
        self.map.kind != Kind::Diverging && self.gamma != 1.0
    }
}

/// What a line of colours says of a brightness that is the square root of the value.
const ROOT: &str = "root scale";

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
    } else if low < high {
        [low, high].map(|value| figure(f64::from(value), 3))
    } else {
        // As before a source plays: a bar from 0 to 0 would say that its colours are one.
        [String::new(), format!("{} everywhere", figure(f64::from(low), 3))]
    };
    let [low, high_word] = ends;
    let title = match (width > 560.0, cyclic) {
        (false, true) => "arg ψ".to_owned(),
        (false, false) => legend.short.to_owned(),
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
    // The ends of the bar are the same on either scale.
    if legend.is_bent() {
        after = if after.is_empty() {
            ROOT.to_owned()
        } else {
            format!("{after}, {ROOT}")
        };
    }
    [title, low, high_word, after]
}

/// The same and the width of the plate, without the words that a room of this width has no place for: first those after the line, then the title.
fn fitting_words(painter: &Painter, legend: &Legend<'_>, width: f32) -> ([String; 4], f32) {
    let length = |text: &String| {
        let galley = painter.layout_no_wrap(text.clone(), FontId::proportional(TEXT), over_picture());
        if text.is_empty() { 0.0 } else { galley.size().x + 8.0 }
    };
    let mut words = line_words(legend, width);
    let total = |words: &[String; 4]| words.iter().map(length).sum::<f32>() + LINE.x + 12.0;
    for spared in [3, 0] {
        if total(&words) > width - 32.0 {
            words[spared].clear();
        }
    }
    let total = total(&words);
    (words, total)
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
        Form::Line => vec2(fitting_words(painter, legend, room.area.width()).1, LINE_HEIGHT),
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
    let ([title, low, high, after], _) = fitting_words(painter, legend, width);
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
    let gamma = if legend.is_bent() { legend.gamma } else { 1.0 };
    if low >= high {
        // All colours are shown, and where among them the value is.
        let at = if legend.map.kind == Kind::Diverging { 0.5 } else { 0.0 };
        return vec![(at, figure(f64::from(low), 3))];
    }
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
    use crate::colormap;

    fn of(kind: Kind, [low, high]: [f32; 2], gamma: f32) -> Legend<'static> {
        Legend {
            map: colormap::auto(kind),
            texture: egui::TextureId::default(),
            levels: Levels { low, high },
            gamma,
            title: "p",
            short: "p (Pa)",
            note: "",
        }
    }

    /// Before a source plays the bar does not go from 0 to 0.
    #[test]
    fn a_field_of_one_value_says_so() {
        let silent = of(Kind::Diverging, [0.0, 0.0], 1.0);
        assert_eq!(bar_marks(&silent, 6), [(0.5, "0".to_owned())]);
        assert_eq!(line_words(&silent, 800.0), ["p", "", "0 everywhere", ""]);
        let empty = of(Kind::Sequential, [0.0, 0.0], 0.5);
        assert_eq!(bar_marks(&empty, 6), [(0.0, "0".to_owned())]);
    }

    /// Without it the numbers of a small picture would be of nothing.
    #[test]
    fn a_short_line_of_colours_names_its_quantity_and_unit() {
        let title = |kind, width| line_words(&of(kind, [-1.0, 1.0], 1.0), width)[0].clone();
        assert_eq!(
            [400.0, 800.0].map(|width| title(Kind::Diverging, width)),
            ["p (Pa)", "p"]
        );
        assert_eq!(title(Kind::Cyclic, 400.0), "arg ψ");
        // It is drawn, and within the picture.
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(340.0, 200.0));
        let bent = of(Kind::Sequential, [0.0, 1.25e-5], 0.5);
        let shapes = theme::drawn(area, |ui| super::legend(ui.painter(), Room::free(area), &bent));
        let texts = theme::texts(&shapes);
        assert!(texts.iter().any(|(text, _)| text == "p (Pa)"), "{texts:?}");
        assert!(texts.iter().all(|(_, place)| area.contains_rect(*place)), "{texts:?}");
    }

    /// A line of colours has marks at its ends alone, which are the same on both scales.
    #[test]
    fn a_line_of_colours_names_a_root_scale() {
        let after = |kind, gamma, width| line_words(&of(kind, [0.0, 2.0], gamma), width)[3].clone();
        assert_eq!(after(Kind::Sequential, 0.5, 800.0), "root scale");
        assert_eq!(after(Kind::Sequential, 0.5, 300.0), "root scale");
        assert_eq!(after(Kind::Sequential, 1.0, 800.0), "");
        assert_eq!(after(Kind::Diverging, 0.5, 800.0), "");
        assert_eq!(after(Kind::Cyclic, 0.5, 800.0), "brightest: |ψ| = 2, root scale");
    }
}
