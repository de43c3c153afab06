//! Where sources and the transducers of a mirror stand, over pictures and films with overlays: over flat ones as in the window.

use super::overlay::pixel;
use super::picture::{Picture, Rect};
use super::strokes::{clipped, line};
use super::theme::Theme;
use crate::grid::Grid;
use crate::physics::Source;
use crate::physics::source::Place;
use crate::space::Stage;
pub use crate::space::marks::some;
use crate::space::marks::{self, Mark};

/// Whether the nearest plane of 3D to a place from one end to another, along z, is this one; `spacing` from plane to plane.
pub fn is_in(plane: f64, [one, other]: [f64; 2], spacing: f64) -> bool {
    let half = 0.5 * spacing * (1.0 + 1e-9);
    one.min(other) - half <= plane && plane <= one.max(other) + half
}

/// Draws where sources stand at time t: points as dots, lines as lines. Of a plane of 3D, at a length along z, those in it. `place` gives pixels for lengths.
pub fn sources(
    picture: &mut Picture,
    field: Rect,
    ((sources, t), grid, plane): ((&[Source], f64), &Grid, Option<f64>),
    place: impl Fn([f64; 2]) -> [f32; 2],
    (unit, theme): (f32, &Theme),
) {
    let is_seen = |ends: [f64; 2]| plane.is_none_or(|plane| is_in(plane, ends, grid.spacing()));
    for source in sources {
        let now = |at: [f64; 3]| source.moved(at, t, grid);
        match &source.place {
            Place::Points(elements) => {
                for [x, y, z] in elements.iter().map(|element| now(element.at)) {
                    if is_seen([z, z]) {
                        disc(picture, field, place([x, y]), 0.4 * unit, theme);
                    }
                }
            }
            Place::Line { from, to } => {
                let [from, to] = [now(*from), now(*to)];
                let ends = [from, to].map(|[x, y, _]| place([x, y]));
                let room = [field.x, field.y, field.width, field.height].map(pixel);
                if let Some([from, to]) = clipped(room, ends).filter(|_| is_seen([from[2], to[2]])) {
                    for (color, thick, strength) in [(theme.ground, unit / 3.0, 0.6), (theme.text, unit / 6.0, 1.0)] {
                        line(picture, from.into(), to.into(), color, thick, strength);
                    }
                }
            }
            Place::Disk { .. } => {}
        }
    }
}

/// Draws the transducers of a mirror, by flat index, in the plane of this number.
pub fn transducers(
    picture: &mut Picture,
    field: Rect,
    (sites, grid, plane): (&[usize], &Grid, usize),
    place: impl Fn([f64; 2]) -> [f32; 2],
    (unit, theme): (f32, &Theme),
) {
    let lengths = |n: usize| super::look::index(n) * grid.spacing();
    let all = some(sites).map(|site| grid.site(site));
    for [i, j, _] in all.filter(|[_, _, k]| *k == plane) {
        disc(picture, field, place([lengths(i), lengths(j)]), 0.28 * unit, theme);
    }
}

/// Draws where sources stand at time t, and the transducers of a mirror, by flat index, in a picture with depth. `place` gives pixels for lengths where these are seen.
pub fn in_depth(
    picture: &mut Picture,
    field: Rect,
    marked: ((&[Source], f64), &[usize], &Grid),
    place: impl Fn([f64; 3]) -> Option<[f32; 2]>,
    (unit, theme): (f32, &Theme),
) {
    let room = [field.x, field.y, field.width, field.height].map(pixel);
    for mark in marks::in_depth(marked, place) {
        match mark {
            Mark::Source(at) => disc(picture, field, at, 0.4 * unit, theme),
            Mark::Line(parts) => {
                let pieces = parts.iter().flat_map(|part| part.windows(2));
                let pieces: Vec<[[f32; 2]; 2]> = pieces.filter_map(|ends| clipped(room, [ends[0], ends[1]])).collect();
                for (color, thick) in [(theme.ground, unit / 3.0), (theme.text, unit / 6.0)] {
                    for [from, to] in &pieces {
                        line(picture, (*from).into(), (*to).into(), color, thick, 1.0);
                    }
                }
            }
            Mark::Transducer(at) => disc(picture, field, at, 0.28 * unit, theme),
        }
    }
}

/// Where a length of a box stands in the picture; of slices only what stands in one of them and is not behind another.
pub fn place_in_box(stage: &Stage, field: Rect, at: [f64; 3]) -> Option<[f32; 2]> {
    let [x, y] = marks::place_in_box(stage, at)?;
    Some([pixel(field.x) + x, pixel(field.y) + y])
}

/// Draws the transducers of a mirror on the axis of a graph; `x_of` gives columns for sites.
pub fn transducers_of_line(
    picture: &mut Picture,
    field: Rect,
    sites: &[usize],
    x_of: impl Fn(usize) -> f32,
    (unit, theme): (f32, &Theme),
) {
    let below = pixel(field.y + field.height);
    let seen = pixel(field.x)..pixel(field.x + field.width);
    for x in some(sites).map(x_of).filter(|x| seen.contains(x)) {
        line(
            picture,
            (x, below - unit),
            (x, below),
            theme.text,
            (unit / 8.0).max(1.0),
            1.0,
        );
    }
}

/// A disc, light over dark, so that it is seen over every colour; nothing outside of the field.
fn disc(picture: &mut Picture, field: Rect, [x, y]: [f32; 2], wide: f32, theme: &Theme) {
    let is_seen = (pixel(field.x)..pixel(field.x + field.width)).contains(&x)
        && (pixel(field.y)..pixel(field.y + field.height)).contains(&y);
    if is_seen {
        let wide = wide.max(2.0);
        for (color, thick, strength) in [(theme.ground, 1.5 * wide, 0.6), (theme.text, wide, 1.0)] {
            line(picture, (x, y), (x, y), color, thick, strength);
        }
    }
}
