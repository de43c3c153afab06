//! Where sources and the transducers of a mirror stand, over pictures and films with overlays, as in the window.

use super::overlay::pixel;
use super::picture::{Picture, Rect};
use super::strokes::{clipped, line};
use super::theme::Theme;
use crate::grid::Grid;
use crate::physics::Source;
use crate::physics::source::Place;

/// Most transducers that are marked.
pub const MOST: usize = 512;

/// Of transducers, those that are marked: all, or every second, third, … of many.
pub fn some(sites: &[usize]) -> impl Iterator<Item = usize> {
    sites.iter().copied().step_by(sites.len().div_ceil(MOST).max(1))
}

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
                        dot(picture, field, place([x, y]), 0.4 * unit, theme);
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
        dot(picture, field, place([lengths(i), lengths(j)]), 0.28 * unit, theme);
    }
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
fn dot(picture: &mut Picture, field: Rect, [x, y]: [f32; 2], wide: f32, theme: &Theme) {
    let is_seen = (pixel(field.x)..pixel(field.x + field.width)).contains(&x)
        && (pixel(field.y)..pixel(field.y + field.height)).contains(&y);
    if is_seen {
        let wide = wide.max(2.0);
        for (color, thick, strength) in [(theme.ground, 1.5 * wide, 0.6), (theme.text, wide, 1.0)] {
            line(picture, (x, y), (x, y), color, thick, strength);
        }
    }
}
