//! The flow over a plane, and trajectories, in pictures and films.

use super::overlay::pixel;
use super::picture::{Picture, Rect};
use super::strokes::{BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, line};
use super::theme::Theme;
use crate::engine::trajectories::ShownPath;
use crate::space::flow::Stroke;

/// Colours of trajectories, list by list, that stay apart over dark and light fields.
pub const PATHS: [[u8; 3]; 6] = [SKY, ORANGE, GREEN, PURPLE, VERMILION, BLUE];

/// Draws strokes with heads, light over dark; `place` gives pixels for places in sites.
pub fn strokes(
    picture: &mut Picture,
    field: Rect,
    strokes: &[Stroke],
    place: impl Fn([f64; 2]) -> [f32; 2],
    (unit, theme): (f32, &Theme),
) {
    let thick = (unit / 11.0).max(1.0);
    for (color, thick, strength) in [(theme.ground, 2.2 * thick, 0.55), (theme.text, thick, 0.95)] {
        for stroke in strokes {
            let points: Vec<[f32; 2]> = stroke.points.iter().map(|at| place(*at)).collect();
            path(picture, field, &points, (color, thick, strength));
            let (at, along) = stroke.head;
            let tip = place(at);
            let next = place([at[0] + along[0], at[1] + along[1]]);
            let (dx, dy) = (next[0] - tip[0], next[1] - tip[1]);
            let size = dx.hypot(dy).max(1e-6);
            let own = (points[0][0] - points[points.len() - 1][0]).hypot(points[0][1] - points[points.len() - 1][1]);
            let reach = (0.4 * unit).min(0.45 * own.max(0.8 * unit));
            for side in [1.0, -1.0] {
                // Wings stand half a right angle off, backwards.
                let (x, y) = (dx / size, dy / size);
                let wing = [
                    tip[0] - reach * (0.85 * x + 0.5 * side * y),
                    tip[1] - reach * (0.85 * y - 0.5 * side * x),
                ];
                path(picture, field, &[wing, tip], (color, thick, strength));
            }
        }
    }
}

/// Draws trajectories, each in a colour of its own with a disc where it stands.
pub fn trajectories(
    picture: &mut Picture,
    field: Rect,
    paths: &[ShownPath],
    place: impl Fn([f64; 2]) -> [f32; 2],
    (unit, theme): (f32, &Theme),
) {
    let thick = (unit / 9.0).max(1.2);
    let color_of = |path: &ShownPath| PATHS[path.group % PATHS.len()];
    for shown in paths {
        let color = color_of(shown);
        let points: Vec<[f32; 2]> = shown.points.iter().map(|at| place(*at)).collect();
        path(picture, field, &points, (theme.ground, 2.2 * thick, 0.6));
        path(picture, field, &points, (color, thick, 1.0));
    }
    for shown in paths {
        let Some(last) = shown.points.last().map(|at| place(*at)) else {
            continue;
        };
        for (color, thick) in [(theme.ground, 0.7 * unit), (color_of(shown), 0.5 * unit)] {
            path(picture, field, &[last, last], (color, thick, 1.0));
        }
    }
}

/// A line through places, only where it lies in the field.
fn path(picture: &mut Picture, field: Rect, points: &[[f32; 2]], (color, thick, strength): ([u8; 3], f32, f32)) {
    let [left, top] = [pixel(field.x), pixel(field.y)];
    let [right, bottom] = [pixel(field.x + field.width), pixel(field.y + field.height)];
    let inside = |[x, y]: [f32; 2]| (left..right).contains(&x) && (top..bottom).contains(&y);
    for pair in points.windows(2).filter(|pair| inside(pair[0]) && inside(pair[1])) {
        line(picture, pair[0].into(), pair[1].into(), color, thick, strength);
    }
}
