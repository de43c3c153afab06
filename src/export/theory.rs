//! The annotations of a scene in pictures and films: theory as dashed lines, notes on a band at the lower edge of the field.

use super::overlay::pixel;
use super::picture::{Picture, Rect};
use super::strokes::{Dashes, clipped};
use super::text::Align;
use super::theme::Theme;
use crate::rounding::truncated;

/// A dashed line through points, pixels, clipped to a rectangle: light over dark, so that it is seen over every colour.
fn dashed(picture: &mut Picture, field: Rect, points: &[[f32; 2]], (unit, theme): (f32, &Theme)) {
    let [left, top] = [pixel(field.x), pixel(field.y)];
    let [right, bottom] = [pixel(field.x + field.width), pixel(field.y + field.height)];
    let thick = (unit / 8.0).max(1.2);
    let inside = |(x, y): (f32, f32)| {
        let reach = thick;
        (left + reach..right - reach).contains(&x) && (top + reach..bottom - reach).contains(&y)
    };
    let places: Vec<(f32, f32)> = points.iter().map(|[x, y]| (*x, *y)).collect();
    for (color, thick, strength) in [(theme.ground, 2.0 * thick, 0.6), (theme.text, thick, 1.0)] {
        let dashes = Dashes {
            color,
            thick,
            dash: 0.5 * unit,
            gap: 0.35 * unit,
            strength,
        };
        dashes.draw(picture, &places, inside);
    }
}

/// Where a label can be placed beside a dashed line, the best place first: at its end and back from there; of a circle
/// or another line of more points at the highest and down from there.
pub fn label_places(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    /// Places along a line.
    const PLACES: u8 = 12;
    if let [from, to] = points {
        let at = |n: u8| {
            let back = f32::from(n) / f32::from(PLACES);
            [0, 1].map(|axis| to[axis] + back * (from[axis] - to[axis]))
        };
        return (0..PLACES).map(at).collect();
    }
    let mut places = points.to_vec();
    places.sort_by(|a, b| a[1].total_cmp(&b[1]));
    places
}

/// The places of a line, pixels, and its label.
pub type Labelled<'a> = (Vec<[f32; 2]>, &'a str);

/// Draws lines of theory, and beside each its label, clear of the other labels, of a place that is taken, and, where there is room, of all lines.
pub fn lines(
    picture: &mut Picture,
    field: Rect,
    (lines, taken): (&[Labelled<'_>], Option<Rect>),
    (unit, theme): (f32, &Theme),
) {
    for (points, _) in lines {
        dashed(picture, field, points, (unit, theme));
    }
    // Quiet words could not be read where the field is bright.
    let style = super::text::Style {
        color: theme.text,
        ..theme.label(unit * 0.9)
    };
    let taken = taken.map(|rect| [rect.x, rect.y, rect.width, rect.height].map(pixel));
    let mut taken: Vec<[f32; 4]> = taken.into_iter().collect();
    for (points, words) in lines {
        let width = style.width(words);
        let Some(spots) = spots(field, points, width, unit).filter(|_| !words.is_empty()) else {
            continue;
        };
        let plate = |[x, y]: [f32; 2]| [x - 0.3 * unit, y - 0.95 * unit, width + 0.6 * unit, 1.3 * unit];
        let apart = |a: [f32; 4], b: &[f32; 4]| {
            (0..2).any(|axis| a[axis] + a[axis + 2] <= b[axis] || b[axis] + b[axis + 2] <= a[axis])
        };
        let is_free = |at: &&[f32; 2]| taken.iter().all(|other| apart(plate(**at), other));
        // Lines have a width.
        let wider = |[x, y, w, h]: [f32; 4]| [x - 0.25 * unit, y - 0.25 * unit, w + 0.5 * unit, h + 0.5 * unit];
        let is_struck = |at: [f32; 2]| {
            let mut pieces = lines.iter().flat_map(|(points, _)| points.windows(2));
            pieces.any(|piece| clipped(wider(plate(at)), [piece[0], piece[1]]).is_some())
        };
        let clear = spots.iter().filter(is_free).find(|at| !is_struck(**at));
        let Some(at) = clear.or_else(|| spots.iter().find(is_free)).or(spots.first()).copied() else {
            continue;
        };
        // A line that passes behind the words would strike them through.
        shade(picture, plate(at), theme, if is_struck(at) { 0.92 } else { 0.72 });
        taken.push(plate(at));
        style.draw(picture, at[0], at[1], Align::Left, words);
    }
}

/// Where words of a width may begin within the field, beside places of a line that are seen: above it, then below; `None` if the field is too narrow for them.
fn spots(field: Rect, points: &[[f32; 2]], width: f32, unit: f32) -> Option<Vec<[f32; 2]>> {
    /// Places along a line.
    const PLACES: usize = 64;
    let [left, top] = [pixel(field.x), pixel(field.y)];
    let [right, bottom] = [pixel(field.x + field.width), pixel(field.y + field.height)];
    let is_seen = |[x, y]: &[f32; 2]| (left..=right).contains(x) && (top..=bottom).contains(y);
    if width + unit >= right - left || bottom - top < 2.0 * unit {
        return None;
    }
    let seen: Vec<[f32; 2]> = label_places(points).into_iter().filter(is_seen).collect();
    let places = seen.iter().step_by(seen.len().div_ceil(PLACES).max(1));
    let beside = places.flat_map(|at| {
        let sides = [at[0] + 0.7 * unit, at[0] - 0.7 * unit - width];
        [at[1] - 0.7 * unit, at[1] + 1.5 * unit].map(|y| sides.map(|x| [x, y]))
    });
    let within = |[x, y]: [f32; 2]| {
        [
            x.min(right - width - 0.5 * unit).max(left + 0.5 * unit),
            y.min(bottom - 0.5 * unit).max(top + 1.2 * unit),
        ]
    };
    Some(beside.flatten().map(within).collect())
}

/// What a note points at: a ring of so many pixels around a place, light over dark, clipped to a rectangle.
pub fn ring(picture: &mut Picture, field: Rect, (middle, radius): ([f32; 2], f32), (unit, theme): (f32, &Theme)) {
    /// Pieces of the ring: its chords leave it by less than 1/2000 of the radius.
    const PIECES: u16 = 128;
    if !radius.is_finite() || radius <= 0.0 {
        return;
    }
    let at = |n: u16| {
        let angle = std::f32::consts::TAU * f32::from(n) / f32::from(PIECES);
        (middle[0] + radius * angle.cos(), middle[1] + radius * angle.sin())
    };
    let [left, top] = [pixel(field.x), pixel(field.y)];
    let [right, bottom] = [pixel(field.x + field.width), pixel(field.y + field.height)];
    let inside = |(x, y): (f32, f32)| (left..right).contains(&x) && (top..bottom).contains(&y);
    let thick = (unit / 7.0).max(1.5);
    for (color, thick, strength) in [(theme.ground, 2.0 * thick, 0.6), (theme.text, thick, 1.0)] {
        for n in 0..PIECES {
            if inside(at(n)) && inside(at(n + 1)) {
                super::strokes::line(picture, at(n), at(n + 1), color, thick, strength);
            }
        }
    }
}

/// The same on a line: a faint band between two columns, with its ends drawn.
pub fn interval(picture: &mut Picture, field: Rect, ends: [f32; 2], (unit, theme): (f32, &Theme)) {
    let [left, right] = [pixel(field.x), pixel(field.x + field.width)];
    let [from, to] = ends.map(|x| x.clamp(left, right));
    if to - from < 1.0 {
        return;
    }
    let band = Rect {
        x: truncated(from.into()),
        width: truncated((to - from).into()),
        ..field
    };
    picture.fill(band, theme.text, 0.08);
    let (top, bottom) = (pixel(field.y), pixel(field.y + field.height));
    for (x, own) in [from, to].into_iter().zip(ends) {
        // An end that lies outside the field is not seen.
        if (x - own).abs() < 0.5 {
            super::strokes::line(picture, (x, top), (x, bottom), theme.text, (unit / 10.0).max(1.2), 0.8);
        }
    }
}

/// Where a note stands in its field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stand {
    /// At its upper edge.
    Top,
    /// So far above its lower edge, pixels.
    Bottom(f32),
    /// So far below its lower edge, pixels, where there is room for it: as wide as the picture.
    Below(f32),
}

/// Pixels across that a note below a field has.
pub fn across_below(picture: &Picture, field: Rect, unit: f32) -> f32 {
    let middle = pixel(field.x) + pixel(field.width) / 2.0;
    2.0 * middle.min(pixel(picture.width) - middle) - 2.0 * unit
}

/// A note on a band in the field, in as many lines as it needs; nothing if it would hide more than half of the field.
pub fn note(picture: &mut Picture, field: Rect, (words, stand): (&str, Stand), (unit, theme): (f32, &Theme)) {
    let style = theme.title(unit);
    let middle = pixel(field.x) + pixel(field.width) / 2.0;
    let room = match stand {
        Stand::Below(_) => across_below(picture, field, unit),
        _ => pixel(field.width) * 0.9,
    };
    let lines = super::cards::wrapped(style, words, room);
    let height = pixel(lines.len()) * 1.4 * unit + 0.8 * unit;
    let lift = match stand {
        Stand::Top | Stand::Below(_) => 0.0,
        Stand::Bottom(lift) => lift,
    };
    if lines.is_empty()
        || height + lift > pixel(field.height) / 2.0
        || lines.iter().any(|line| style.width(line) > room)
    {
        return;
    }
    let width = lines.iter().map(|line| style.width(line)).fold(0.0, f32::max) + 1.6 * unit;
    let top = match stand {
        Stand::Top => pixel(field.y),
        Stand::Below(drop) => pixel(field.y + field.height) + drop,
        Stand::Bottom(lift) => pixel(field.y + field.height) - height - lift,
    };
    // Below the field there is nothing behind it.
    if !matches!(stand, Stand::Below(_)) {
        shade(picture, [middle - width / 2.0, top, width, height], theme, 0.72);
    }
    for (n, line) in lines.iter().enumerate() {
        let base = top + 0.4 * unit + (pixel(n) + 0.78) * 1.4 * unit;
        style.draw(picture, middle, base, Align::Center, line);
    }
}

/// Ground behind words, with a coverage: x, y, width, height.
fn shade(picture: &mut Picture, rect: [f32; 4], theme: &Theme, cover: f32) {
    let whole = |value: f32| truncated(value.round().into());
    let (x, y) = (whole(rect[0]).min(picture.width), whole(rect[1]).min(picture.height));
    let rect = Rect {
        x,
        y,
        width: whole(rect[2]).min(picture.width - x),
        height: whole(rect[3]).min(picture.height - y),
    };
    picture.fill(rect, theme.ground, cover);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Rect = Rect::new(10, 10, 100, 60);

    fn touched(picture: &Picture, ground: [u8; 3]) -> Vec<(usize, usize)> {
        let all = (0..picture.height).flat_map(|y| (0..picture.width).map(move |x| (x, y)));
        all.filter(|(x, y)| picture.at(*x, *y) != ground).collect()
    }

    #[test]
    fn a_dashed_line_has_gaps_and_stays_within_the_field() {
        let theme = Theme::light();
        let mut picture = Picture::filled(120, 80, [90, 20, 20]);
        dashed(&mut picture, FIELD, &[[-500.0, 40.0], [700.0, 40.0]], (10.0, theme));
        let touched = touched(&picture, [90, 20, 20]);
        assert!(
            touched
                .iter()
                .all(|(x, y)| (10..110).contains(x) && (38..43).contains(y)),
            "{touched:?}"
        );
        let is_dash = |x: usize| (0..3).all(|n| picture.at(x, 40)[n].abs_diff(theme.text[n]) < 60);
        let row: Vec<bool> = (14..106).map(is_dash).collect();
        assert!(row.contains(&true) && row.contains(&false));
    }

    /// A line that rises to the right edge, where its label stands, and another one that passes where the label of the first would be: no letter has a dash behind it.
    #[test]
    fn labels_of_theory_are_not_struck_through() {
        let theme = Theme::light();
        let field = Rect::new(0, 0, 300, 200);
        let rising = vec![[0.0, 190.0], [300.0, 40.0]];
        let words = "theory of it";
        let width = theme.label(9.0).width(words);
        let [x, y] = spots(field, &rising, width, 10.0).unwrap()[0];
        let level = vec![[0.0, y - 4.0], [300.0, y - 4.0]];
        let drawn = |words: &[&str; 2]| {
            let mut picture = Picture::filled(300, 200, [90, 20, 20]);
            let both = [(rising.clone(), words[0]), (level.clone(), words[1])];
            lines(&mut picture, field, (&both, None), (10.0, theme));
            picture
        };
        let (bare, with) = (drawn(&[""; 2]), drawn(&[words, ""]));
        let changed = |x: usize, y: usize| with.at(x, y) != bare.at(x, y);
        let places: Vec<(usize, usize)> = (0..200).flat_map(|y| (0..300).map(move |x| (x, y))).collect();
        let plate: Vec<&(usize, usize)> = places.iter().filter(|(x, y)| changed(*x, *y)).collect();
        assert!(plate.len() > 500, "{}", plate.len());
        // Where its ground lies nothing but the field was before.
        assert!(plate.iter().all(|(x, y)| bare.at(*x, *y) == [90, 20, 20]), "{x} {y}");
        // Their letters have the colour of text: stems of some three pixels, over the line.
        let mut picture = Picture::filled(300, 200, [250, 180, 110]);
        let level = [(vec![[0.0, 150.0], [300.0, 150.0]], "III")];
        lines(&mut picture, field, (&level, None), (40.0, theme));
        assert!((0..300).any(|x| (0..130).any(|y| picture.at(x, y) == theme.text)));
    }

    #[test]
    fn a_note_is_wrapped_within_the_field_and_left_out_where_it_would_hide_it() {
        let theme = Theme::light();
        let words = "The wave reaches the wall: look at the two slits.";
        let mut picture = Picture::filled(120, 80, [90, 20, 20]);
        note(&mut picture, FIELD, (words, Stand::Bottom(4.0)), (8.0, theme));
        assert!(touched(&picture, [90, 20, 20]).is_empty());
        note(&mut picture, FIELD, ("The wall", Stand::Bottom(4.0)), (8.0, theme));
        let touched = touched(&picture, [90, 20, 20]);
        assert!(!touched.is_empty());
        assert!(
            touched
                .iter()
                .all(|(x, y)| (10..110).contains(x) && (40..70).contains(y)),
            "{touched:?}"
        );
    }
}
