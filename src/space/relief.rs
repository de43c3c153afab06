//! A field of two dimensions as a relief: its values as heights over the plane, from one side above.
//!
//! The surface is a lattice of quads, drawn from the farthest to the nearest: for heights over a lattice that order needs no depth buffer.
//! Parallel projection, so that equal heights look equal everywhere. The window and the exports draw the same triangles.

use super::SteppedMedium;
use crate::colormap::{Colormap, Kind, Levels, dimmed, phase_entry};
use crate::physics::Sets;
use crate::scene::Scenario;
use crate::scene::scenario::{Orbit, Quantity};
use crate::solver::{FieldImage, ImageRequest};

/// Vertices along an axis that are enough for a small picture.
pub const MOST: usize = 160;

/// Brightness of a phase on the ground, of what a full amplitude has.
const DIM: f32 = 0.35;
/// What the hues of phases have in common.
const GREY: f32 = 150.0;

/// Height of the largest value, as a part of the longer side.
const HEIGHT: f32 = 0.3;

/// A place in a picture: x to the right, y downwards.
pub type Place = [f32; 2];

/// What the solver is asked for: all of a plane of `size` sites, `most` texels along an axis.
pub fn request(size: [usize; 3], quantity: Quantity, most: usize) -> ImageRequest {
    ImageRequest::new(quantity, [0..size[0], 0..size[1]], 0, [most; 2])
}

/// From texels and heights to places in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    center: Place,
    /// Pixels a texel.
    scale: f32,
    /// Pixels a unit of height.
    rise: f32,
    turn: [f32; 2],
    tilt: f32,
    size: [usize; 2],
}

impl Projection {
    /// Of `size` texels into a rectangle of a picture, given by its upper left corner and its sides.
    #[must_use]
    pub fn new(orbit: &Orbit, size: [usize; 2], [corner, room]: [Place; 2]) -> Self {
        let [width, height] = size.map(|n| n.max(2) as f32);
        let (azimuth, elevation) = (orbit.azimuth.to_radians() as f32, orbit.elevation.to_radians() as f32);
        // However it is turned, it stays in view.
        let diagonal = width.hypot(height);
        let fit = (room[0] * 0.86 / diagonal).min(room[1] * 0.86 / (diagonal * 0.75));
        let scale = fit * orbit.zoom as f32;
        Self {
            center: [corner[0] + room[0] / 2.0, corner[1] + 0.56 * room[1]],
            scale,
            rise: HEIGHT * width.max(height) * scale * elevation.cos(),
            turn: [azimuth.cos(), azimuth.sin()],
            tilt: elevation.sin(),
            size,
        }
    }

    /// A place in texels (the middle of texel n is n + ½) at a height in units of the range.
    pub fn point(&self, at: [f32; 2], height: f32) -> Place {
        let [x, y] = [at[0] - self.size[0] as f32 / 2.0, at[1] - self.size[1] as f32 / 2.0];
        let [cos, sin] = self.turn;
        let (across, away) = (x * cos + y * sin, -x * sin + y * cos);
        [
            self.center[0] + across * self.scale,
            self.center[1] - away * self.tilt * self.scale - height * self.rise,
        ]
    }

    /// Along each axis, whether larger places are farther away.
    fn farther(&self) -> [bool; 2] {
        [-self.turn[1] > 0.0, self.turn[0] > 0.0]
    }

    /// The corners of the ground, in turn.
    pub fn ground(&self) -> [Place; 4] {
        let [width, height] = self.size.map(|n| n as f32);
        [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]].map(|corner| self.point(corner, 0.0))
    }

    /// Where the words of an axis stand, `gap` pixels off the nearer of its edges: its low end, its high end, its title.
    pub fn labels(&self, axis: usize, gap: f32) -> [Place; 3] {
        let corners = self.ground();
        let edges = if axis == 0 { [[0, 1], [3, 2]] } else { [[0, 3], [1, 2]] };
        let low = |edge: [usize; 2]| corners[edge[0]][1] + corners[edge[1]][1];
        let [from, to] = if low(edges[0]) >= low(edges[1]) {
            edges[0]
        } else {
            edges[1]
        };
        let middle = self.point(self.size.map(|n| n as f32 / 2.0), 0.0);
        [0.1, 0.9, 0.5].map(|part| {
            let at: Place = std::array::from_fn(|n| corners[from][n] + part * (corners[to][n] - corners[from][n]));
            let away = [at[0] - middle[0], at[1] - middle[1]];
            let length = away[0].hypot(away[1]).max(1e-6);
            std::array::from_fn(|n| at[n] + away[n] / length * gap)
        })
    }
}

/// Colours of a surface.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// The map.
    pub map: &'a Colormap,
    /// Values at its ends; the larger of their sizes has the full height.
    pub levels: Levels,
    /// Exponent of the brightness.
    pub gamma: f32,
    /// One a texel; empty where there are none.
    pub walls: &'a [bool],
}

/// The surface of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// One a texel, x fastest.
    pub points: Vec<Place>,
    /// sRGB, lit, one a texel.
    pub colors: Vec<[u8; 3]>,
    /// Corners of triangles, the farthest first.
    pub triangles: Vec<[u32; 3]>,
}

/// The height of a value, in units of the range.
pub fn height_of(value: f32, levels: Levels) -> f32 {
    let span = levels.high.abs().max(levels.low.abs()).max(f32::MIN_POSITIVE);
    (value / span).clamp(-1.2, 1.2)
}

/// Where a place stands on the surface of a picture of so many sites, from the places in sites (site n stands in the middle of n to n + 1).
pub fn standing(
    projection: Projection,
    (image, sites): (&FieldImage, [usize; 2]),
    levels: Levels,
) -> impl Fn([f64; 2]) -> Place {
    move |at| {
        let texels: [f32; 2] = std::array::from_fn(|n| (at[n] / sites[n].max(1) as f64 * image.size[n] as f64) as f32);
        let [i, j] = [0, 1].map(|n| (texels[n].max(0.0) as usize).min(image.size[n].saturating_sub(1)));
        let value = image.value.get(i + image.size[0] * j).copied().unwrap_or(0.0);
        projection.point(texels, height_of(value, levels))
    }
}

/// The surface of a picture, lit from the upper left; walls are grey.
pub fn surface(image: &FieldImage, projection: &Projection, paint: &Paint<'_>) -> Surface {
    let [width, height] = image.size;
    let Paint { map, levels, .. } = *paint;
    let heights: Vec<f32> = image.value.iter().map(|value| height_of(*value, levels)).collect();
    let steep = HEIGHT * width.max(height) as f32;
    let mut surface = Surface::default();
    for j in 0..height {
        for i in 0..width {
            let at = |i: usize, j: usize| heights[i.min(width - 1) + width * j.min(height - 1)];
            let here = i + width * j;
            let slope = [
                (at(i + 1, j) - at(i.saturating_sub(1), j)) * steep / 2.0,
                (at(i, j + 1) - at(i, j.saturating_sub(1))) * steep / 2.0,
            ];
            // n = (−∂h/∂x, −∂h/∂y, 1), light from (−1, 1, 2) over √6.
            let length = (slope[0] * slope[0] + slope[1] * slope[1] + 1.0).sqrt();
            let light = ((slope[0] - slope[1] + 2.0) / (length * 6f32.sqrt())).max(0.0);
            let color = if paint.walls.get(here) == Some(&true) {
                [0x9a, 0xa0, 0xaa]
            } else {
                color(image, here, (map, levels, paint.gamma))
            };
            // The darkest colour of a map would hide the shape: everything gets some light of its own.
            let lit = |c: u8| ((f32::from(c) * 0.85 + 24.0) * (0.45 + 0.65 * light)).min(255.0) as u8;
            let place = [i as f32 + 0.5, j as f32 + 0.5];
            surface.points.push(projection.point(place, heights[here]));
            surface.colors.push(color.map(lit));
        }
    }
    let [far_x, far_y] = projection.farther();
    let [y_away, x_away] = [projection.turn[0], -projection.turn[1]];
    for row in 0..height.saturating_sub(1) {
        let j = if far_y { height - 2 - row } else { row };
        for column in 0..width.saturating_sub(1) {
            let i = if far_x { width - 2 - column } else { column };
            let corner = (i + width * j) as u32;
            let above = corner + width as u32;
            let height = |n: u32| heights[n as usize];
            // Along the contour: across it a steep flank would have the teeth of a saw.
            let rises = (height(corner + 1) - height(above)).abs();
            let falls = (height(corner) - height(above + 1)).abs();
            let (mut halves, far_last) = if rises <= falls {
                let halves = [[corner, corner + 1, above], [corner + 1, above + 1, above]];
                (halves, x_away + y_away > 0.0)
            } else {
                let halves = [[corner, corner + 1, above + 1], [corner, above + 1, above]];
                (halves, y_away > x_away)
            };
            if far_last {
                halves.reverse();
            }
            surface.triangles.extend(halves);
        }
    }
    surface
}

fn color(image: &FieldImage, here: usize, (map, levels, gamma): (&Colormap, Levels, f32)) -> [u8; 3] {
    let value = image.value[here];
    let mapping = levels.mapping(map.kind);
    let table = map.table();
    match image.phase.get(here) {
        Some(phase) if map.kind == Kind::Cyclic => {
            // Ground stays visible where there is next to nothing, but the phase of nothing is no colour.
            let bright = levels.brightness(value).powf(gamma);
            let saturation = (bright / DIM).min(1.0);
            let colored = table[phase_entry(*phase)].map(|c| (GREY + (f32::from(c) - GREY) * saturation) as u8);
            dimmed(colored, (bright.max(DIM) * 255.0) as usize)
        }
        _ if map.kind == Kind::Sequential && gamma < 1.0 => {
            let bright = levels.brightness(value).powf(gamma);
            table[mapping.entry(levels.low + (levels.high - levels.low) * bright)]
        }
        _ => table[mapping.entry(value)],
    }
}

/// Whether a wall stands in the middle of each of `size` texels of a plane of `sites`; empty where there are no walls.
pub fn walls(scenario: &Scenario, size: [usize; 2]) -> Vec<bool> {
    if !scenario.medium().has(Sets::Wall) {
        return Vec::new();
    }
    let (sites, stepped) = (scenario.grid().size(), SteppedMedium::new(scenario));
    let site = |axis: usize, texel: usize| ((2 * texel + 1) * sites[axis] / (2 * size[axis])).min(sites[axis] - 1);
    let mut row = vec![false; sites[0]];
    let mut found = Vec::with_capacity(size[0] * size[1]);
    for j in 0..size[1] {
        stepped.wall_row([site(1, j), 0], 0..sites[0], &mut row);
        found.extend((0..size[0]).map(|i| row[site(0, i)]));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colormap;

    const AREA: [Place; 2] = [[0.0, 0.0], [400.0, 300.0]];

    fn image() -> FieldImage {
        let mut value = vec![0.0; 12];
        value[5] = 2.0;
        FieldImage {
            size: [4, 3],
            reduction: 1,
            value,
            quantity: Some(Quantity::Density),
            ..FieldImage::default()
        }
    }

    fn paint(walls: &[bool]) -> Paint<'_> {
        Paint {
            map: colormap::auto(Kind::Sequential),
            levels: Levels { low: 0.0, high: 2.0 },
            gamma: 1.0,
            walls,
        }
    }

    fn orbit(azimuth: f64, elevation: f64) -> Orbit {
        Orbit {
            azimuth,
            elevation,
            ..Orbit::default()
        }
    }

    #[test]
    fn a_larger_value_stands_higher_and_from_above_nothing_does() {
        for (elevation, rises) in [(30.0, true), (90.0, false)] {
            let projection = Projection::new(&orbit(20.0, elevation), [4, 3], AREA);
            let found = surface(&image(), &projection, &paint(&[]));
            assert_eq!((found.points.len(), found.triangles.len()), (12, 2 * 6));
            let flat = projection.point([1.5, 1.5], 0.0);
            let top = found.points[5];
            assert!((top[0] - flat[0]).abs() < 1e-3);
            assert_eq!(flat[1] - top[1] > 20.0, rises, "{top:?} over {flat:?}");
        }
    }

    /// The order of the quads is from far to near, whatever the azimuth.
    #[test]
    fn the_nearest_quad_is_drawn_last() {
        for azimuth in [10.0, 100.0, 190.0, 280.0] {
            let projection = Projection::new(&orbit(azimuth, 40.0), [4, 3], AREA);
            let found = surface(&image(), &projection, &paint(&[]));
            // On level ground what is nearer to the eye is lower in the picture; the peak's neighbours aside.
            let y = |index: u32| {
                let n = index as usize;
                projection.point([(n % 4) as f32 + 0.5, (n / 4) as f32 + 0.5], 0.0)[1]
            };
            let mean = |quad: &[[u32; 3]]| quad.iter().flatten().map(|index| y(*index)).sum::<f32>() / 6.0;
            let quads: Vec<f32> = found.triangles.chunks(2).map(mean).collect();
            let last = quads.iter().copied().fold(f32::MIN, f32::max);
            let first = quads.iter().copied().fold(f32::MAX, f32::min);
            assert!((quads[0] - first).abs() < 1e-3, "{azimuth}: {quads:?}");
            assert!((quads[quads.len() - 1] - last).abs() < 1e-3, "{azimuth}: {quads:?}");
        }
    }

    /// Flanks of waves that go along either diagonal are cut along their crests, and of each quad the farther half is drawn first.
    #[test]
    fn quads_are_cut_along_the_contours() {
        let size = [6, 5];
        for (slope, azimuth) in [(1.0, 10.0), (-1.0, 100.0), (1.0, 190.0), (-1.0, 280.0)] {
            let place = |n: usize| [(n % size[0]) as f32, (n / size[0]) as f32];
            let phase = |n: usize| -> f32 {
                let [i, j] = place(n);
                i + slope * j
            };
            let image = FieldImage {
                size,
                value: (0..30).map(|n| phase(n).sin()).collect(),
                ..image()
            };
            let projection = Projection::new(&orbit(azimuth, 40.0), size, AREA);
            let found = surface(&image, &projection, &paint(&[]));
            for [first, second] in found.triangles.as_chunks().0 {
                let shared: Vec<usize> = first
                    .iter()
                    .filter(|n| second.contains(n))
                    .map(|n| *n as usize)
                    .collect();
                assert!(
                    shared.len() == 2 && phase(shared[0]) == phase(shared[1]),
                    "{slope}: {shared:?}"
                );
                let away = |half: &[u32; 3]| -> f32 {
                    let own = half.iter().find(|n| !shared.contains(&(**n as usize))).unwrap();
                    projection.point(place(*own as usize), 0.0)[1]
                };
                assert!(away(first) < away(second), "{slope}, {azimuth}");
            }
        }
    }

    /// The ground has one colour whatever the phase of nothing is, and a full amplitude has that of its phase.
    #[test]
    fn the_phase_of_nothing_is_no_colour() {
        let mut image = image();
        image.phase = (0..12).map(|n| n as f32 * 0.5).collect();
        let map = colormap::auto(Kind::Cyclic);
        let levels = Levels { low: 0.0, high: 2.0 };
        let spread = |[r, g, b]: [u8; 3]| r.max(g).max(b) - r.min(g).min(b);
        for n in 0..12 {
            let found = color(&image, n, (map, levels, 1.0));
            assert_eq!(spread(found) > 20, n == 5, "{n}: {found:?}");
            assert!(
                n == 5 || found == color(&image, 0, (map, levels, 1.0)),
                "{n}: {found:?}"
            );
        }
        image.value = vec![2.0; 12];
        for n in 0..12 {
            assert_eq!(
                color(&image, n, (map, levels, 1.0)),
                dimmed(map.table()[phase_entry(image.phase[n])], 255)
            );
        }
    }

    #[test]
    fn walls_are_grey_and_words_stand_outside() {
        let projection = Projection::new(&orbit(30.0, 30.0), [4, 3], AREA);
        let mut walls = [false; 12];
        walls[0] = true;
        let found = surface(&image(), &projection, &paint(&walls));
        let grey = |[r, g, b]: [u8; 3]| r.abs_diff(g) < 16 && g.abs_diff(b) < 16;
        // Site 5 is the crest; where nothing is the map is as dark as grey can be.
        assert!(grey(found.colors[0]) && !grey(found.colors[5]), "{:?}", found.colors);
        let lowest = projection
            .ground()
            .map(|corner| corner[1])
            .into_iter()
            .fold(f32::MIN, f32::max);
        for axis in 0..2 {
            let [_, _, title] = projection.labels(axis, 18.0);
            let middle = projection.point([2.0, 1.5], 0.0);
            assert!(
                title[1] > middle[1] && title[1] < lowest + 18.0,
                "axis {axis}: {title:?}"
            );
        }
    }
}
