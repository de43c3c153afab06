//! A 2D field as a relief: its value as height, turned and tilted by hand.
//!
//! The surface is a lattice of at most [`MOST`] × [`MOST`] quads, drawn from the farthest to the nearest: for a height over a lattice that
//! order needs no depth buffer. Parallel projection, so that equal heights look equal everywhere.

use super::overlay::{self, Legend, Room};
use super::space_view::{TURN, zoom_and_turn};
use super::theme::OVER_PICTURE;
use super::units::{Along, Units};
use super::view_state::ViewState;
use crate::colormap::{Colormap, Kind, Levels, dimmed, phase_entry};
use crate::engine::Frame;
use crate::render::medium::MediumImage;
use crate::scene::Scenario;
use crate::scene::scenario::{Orbit, Quantity};
use crate::solver::{FieldImage, ImageRequest};
use crate::space::camera::turn;
use egui::{
    Align2, Color32, CursorIcon, FontId, Mesh, PointerButton, Pos2, Rect, Response, Sense, Stroke, Ui, pos2, vec2,
};

/// Most vertices along an axis.
pub const MOST: usize = 160;

/// Height of the largest value, as a part of the longer side.
const HEIGHT: f32 = 0.3;

/// What the relief is drawn from.
pub struct Sources<'a> {
    /// The run.
    pub frame: &'a Frame,
    /// Its scene.
    pub scenario: &'a Scenario,
    /// The colours and their meaning.
    pub legend: Legend<'a>,
    /// Walls; empty where the medium is not shown.
    pub medium: &'a MediumImage,
    /// Units of lengths and times.
    pub units: Units,
}

/// What the worker is asked for: all of the plane, as fine as the relief is.
#[must_use]
pub fn request(scenario: &Scenario, quantity: Quantity) -> ImageRequest {
    let [nx, ny, _] = scenario.grid().size();
    ImageRequest {
        quantity,
        x: 0..nx,
        y: 0..ny,
        z: 0,
        max_size: [MOST; 2],
    }
}

/// Shows the relief in all the room there is.
pub fn show(ui: &mut Ui, view: &mut ViewState, sources: &Sources<'_>) -> Response {
    let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    navigate(ui, view, &response);
    let painter = ui.painter_at(area);
    let image = &sources.frame.image;
    let projection = Projection::new(&view.orbit, image.size, area);
    base(&painter, &projection, sources);
    if image.size[0] > 1 && image.size[1] > 1 && image.value.len() == image.size[0] * image.size[1] {
        let colors = (sources.legend.map, view.levels, view.gamma());
        painter.add(surface(image, sources.medium, &projection, colors));
    }
    let room = Room {
        area,
        picture: Rect::NOTHING,
    };
    let clock = &sources.frame.clock;
    overlay::clock(&painter, room, clock.time, clock.time_step, sources.units.time);
    overlay::legend(&painter, room, &sources.legend);
    response.widget_info(|| super::status::picture_info("Relief of the field", sources.frame));
    response
}

fn navigate(ui: &Ui, view: &mut ViewState, response: &Response) {
    let delta = response.drag_delta();
    if response.dragged_by(PointerButton::Primary) {
        turn(&mut view.orbit, -TURN * f64::from(delta.x), TURN * f64::from(delta.y));
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    }
    zoom_and_turn(ui, view, response);
    // From below a relief shows nothing that it does not show from above.
    view.orbit.elevation = view.orbit.elevation.clamp(5.0, 90.0);
}

/// From texels and heights to points on the screen.
struct Projection {
    center: Pos2,
    /// Points a texel.
    scale: f32,
    /// Points a unit of height.
    rise: f32,
    turn: [f32; 2],
    tilt: [f32; 2],
    size: [usize; 2],
}

impl Projection {
    fn new(orbit: &Orbit, size: [usize; 2], area: Rect) -> Self {
        let [width, height] = size.map(|n| n.max(2) as f32);
        let (azimuth, elevation) = (orbit.azimuth.to_radians() as f32, orbit.elevation.to_radians() as f32);
        // However it is turned, it stays in view.
        let diagonal = width.hypot(height);
        let fit = (area.width() * 0.86 / diagonal).min(area.height() * 0.86 / (diagonal * 0.75));
        let scale = fit * orbit.zoom as f32;
        Self {
            center: area.center() + vec2(0.0, 0.06 * area.height()),
            scale,
            rise: HEIGHT * width.max(height) * scale * elevation.cos(),
            turn: [azimuth.cos(), azimuth.sin()],
            tilt: [elevation.cos(), elevation.sin()],
            size,
        }
    }

    /// A place in texels (the middle of texel n is n + ½) at a height in units of the range.
    fn point(&self, at: [f32; 2], height: f32) -> Pos2 {
        let [x, y] = [at[0] - self.size[0] as f32 / 2.0, at[1] - self.size[1] as f32 / 2.0];
        let [cos, sin] = self.turn;
        let (across, away) = (x * cos + y * sin, -x * sin + y * cos);
        pos2(
            self.center.x + across * self.scale,
            self.center.y - away * self.tilt[1] * self.scale - height * self.rise,
        )
    }

    /// Along each axis, whether larger places are farther away.
    fn farther(&self) -> [bool; 2] {
        [-self.turn[1] > 0.0, self.turn[0] > 0.0]
    }
}

/// Whether a wall stands at a texel of a picture of `size`.
fn is_wall(medium: &MediumImage, size: [usize; 2], at: [usize; 2]) -> bool {
    if medium.is_empty() {
        return false;
    }
    let place = |axis: usize| ((2 * at[axis] + 1) * medium.size[axis] / (2 * size[axis])).min(medium.size[axis] - 1);
    let texel = medium.texels.get(place(0) + medium.size[0] * place(1));
    texel.is_some_and(|[_, wall]| *wall > 0.5)
}

/// The surface as one mesh, lit from the upper left; walls are grey.
fn surface(
    image: &FieldImage,
    medium: &MediumImage,
    projection: &Projection,
    (map, levels, gamma): (&Colormap, Levels, f32),
) -> Mesh {
    let [width, height] = image.size;
    let span = levels.high.abs().max(levels.low.abs()).max(f32::MIN_POSITIVE);
    let heights: Vec<f32> = image
        .value
        .iter()
        .map(|value| (value / span).clamp(-1.2, 1.2))
        .collect();
    let mapping = levels.mapping(map.kind);
    let table = map.table();
    let steep = HEIGHT * width.max(height) as f32;
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(width * height);
    mesh.reserve_triangles(2 * width * height);
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
            let value = image.value[here];
            let [r, g, b] = match image.phase.get(here) {
                _ if is_wall(medium, image.size, [i, j]) => [0x9a, 0xa0, 0xaa],
                Some(phase) if map.kind == Kind::Cyclic => {
                    let bright = levels.brightness(value).powf(gamma).max(0.35);
                    dimmed(table[phase_entry(*phase)], (bright * 255.0) as usize)
                }
                _ if map.kind == Kind::Sequential && gamma < 1.0 => {
                    table[mapping.entry(levels.low + (levels.high - levels.low) * levels.brightness(value).powf(gamma))]
                }
                _ => table[mapping.entry(value)],
            };
            // The darkest colour of a map would hide the shape: everything gets some light of its own.
            let lit = |c: u8| ((f32::from(c) * 0.85 + 24.0) * (0.45 + 0.65 * light)).min(255.0) as u8;
            let place = projection.point([i as f32 + 0.5, j as f32 + 0.5], heights[here]);
            mesh.colored_vertex(place, Color32::from_rgb(lit(r), lit(g), lit(b)));
        }
    }
    let [far_x, far_y] = projection.farther();
    for row in 0..height - 1 {
        let j = if far_y { height - 2 - row } else { row };
        for column in 0..width - 1 {
            let i = if far_x { width - 2 - column } else { column };
            let corner = (i + width * j) as u32;
            let above = corner + width as u32;
            mesh.add_triangle(corner, corner + 1, above);
            mesh.add_triangle(corner + 1, above + 1, above);
        }
    }
    mesh
}

/// The ground with the names and ends of its axes.
fn base(painter: &egui::Painter, projection: &Projection, sources: &Sources<'_>) {
    let [width, height] = projection.size.map(|n| n as f32);
    let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
    let points: Vec<Pos2> = corners.iter().map(|corner| projection.point(*corner, 0.0)).collect();
    painter.add(egui::Shape::closed_line(
        points.clone(),
        Stroke::new(1.0, OVER_PICTURE.gamma_multiply(0.35)),
    ));
    let image = &sources.frame.image;
    let middle = projection.point([width / 2.0, height / 2.0], 0.0);
    for axis in 0..2 {
        // The edge of the two along this axis that is nearer to the eye.
        let edges = if axis == 0 { [[0, 1], [3, 2]] } else { [[0, 3], [1, 2]] };
        let low = |edge: &[usize; 2]| points[edge[0]].y + points[edge[1]].y;
        let edge = if low(&edges[0]) >= low(&edges[1]) {
            edges[0]
        } else {
            edges[1]
        };
        let along = Along::of(sources.scenario, image.quantity, axis, sources.units.length);
        let sites = sources.scenario.grid().size()[axis] as f64;
        let text = |painter: &egui::Painter, at: Pos2, text: String, strength: f32| {
            let away = (at - middle).normalized() * 18.0;
            painter.text(
                at + away,
                Align2::CENTER_CENTER,
                text,
                FontId::proportional(11.5),
                OVER_PICTURE.gamma_multiply(strength),
            );
        };
        for (corner, site) in edge.iter().zip([-0.5, sites - 0.5]) {
            let at = points[edge[0]].lerp(points[edge[1]], if *corner == edge[0] { 0.07 } else { 0.93 });
            text(painter, at, along.unit.show(along.at(site), 3), 0.7);
        }
        let at = points[edge[0]].lerp(points[edge[1]], 0.5);
        text(painter, at, along.title(), 0.9);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colormap;

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

    fn orbit(azimuth: f64, elevation: f64) -> Orbit {
        Orbit {
            azimuth,
            elevation,
            ..Orbit::default()
        }
    }

    #[test]
    fn a_larger_value_stands_higher_and_from_above_nothing_does() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let levels = Levels { low: 0.0, high: 2.0 };
        let map = colormap::auto(Kind::Sequential);
        for (elevation, rises) in [(30.0, true), (90.0, false)] {
            let projection = Projection::new(&orbit(20.0, elevation), [4, 3], area);
            let mesh = surface(&image(), &MediumImage::default(), &projection, (map, levels, 1.0));
            assert_eq!((mesh.vertices.len(), mesh.indices.len()), (12, 6 * 6));
            let flat = projection.point([1.5, 1.5], 0.0);
            let top = mesh.vertices[5].pos;
            assert!((top.x - flat.x).abs() < 1e-3);
            assert_eq!(flat.y - top.y > 20.0, rises, "{top:?} over {flat:?}");
        }
    }

    /// The order of the quads is from far to near, whatever the azimuth.
    #[test]
    fn the_nearest_quad_is_drawn_last() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let map = colormap::auto(Kind::Sequential);
        for azimuth in [10.0, 100.0, 190.0, 280.0] {
            let projection = Projection::new(&orbit(azimuth, 40.0), [4, 3], area);
            let mesh = surface(
                &image(),
                &MediumImage::default(),
                &projection,
                (map, Levels { low: 0.0, high: 2.0 }, 1.0),
            );
            // On level ground what is nearer to the eye is lower on the screen; the peak's neighbours aside.
            let y = |index: u32| {
                let n = index as usize;
                projection.point([(n % 4) as f32 + 0.5, (n / 4) as f32 + 0.5], 0.0).y
            };
            let mean = |quad: &[u32]| quad.iter().map(|index| y(*index)).sum::<f32>() / quad.len() as f32;
            let quads: Vec<f32> = mesh.indices.chunks(6).map(mean).collect();
            let last = quads.iter().copied().fold(f32::MIN, f32::max);
            let first = quads.iter().copied().fold(f32::MAX, f32::min);
            assert!((quads[0] - first).abs() < 1e-3, "{azimuth}: {quads:?}");
            assert!((quads[quads.len() - 1] - last).abs() < 1e-3, "{azimuth}: {quads:?}");
        }
    }
}
