//! A 2D field as a relief: its value as height, turned and tilted by hand.

use super::depth_marks;
use super::overlay::{self, Legend, Room};
use super::space_view::{TURN, zoom_and_turn};
use super::theme::{self, over_picture};
use super::theory_view;
use super::units::{Along, Units};
use super::view_state::ViewState;
use crate::engine::Frame;
use crate::render::medium::MediumImage;
use crate::scene::Scenario;
use crate::scene::scenario::{Orbit, Quantity};
use crate::space::camera::turn;
use crate::space::relief::{self, Paint, Projection, Surface};
use egui::{Align2, Color32, CursorIcon, FontId, Mesh, PointerButton, Pos2, Response, Sense, Stroke, Ui, vec2};

/// Vertices along an axis: fewer make steps of the crests of narrow waves.
pub const MOST: usize = 256;

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

/// Shows the relief in all the room there is.
pub fn show(ui: &mut Ui, view: &mut ViewState, sources: &Sources<'_>) -> Response {
    let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    view.follow_path(sources.scenario, sources.frame.clock.time);
    let before = view.orbit;
    navigate(ui, view, &response);
    view.follows &= view.orbit == before;
    let painter = ui.painter_at(area);
    let image = &sources.frame.image;
    let projection = Projection::new(&view.orbit, image.size, [area.min.into(), area.size().into()]);
    outline(&painter, &projection);
    if image.size[0] > 1 && image.size[1] > 1 && image.value.len() == image.size[0] * image.size[1] {
        let paint = Paint {
            map: sources.legend.map,
            levels: view.levels,
            gamma: view.gamma(),
            walls: &walls(sources.medium, image.size),
        };
        painter.add(mesh(&relief::surface(image, &projection, &paint)));
    }
    let clock = &sources.frame.clock;
    let room = Room::free(area).with_clock(&painter, clock.time, clock.time_step, sources.units.time);
    if view.show_detectors && !is_of_momenta(sources) {
        let spacing = sources.scenario.grid().spacing();
        let covered = image.size.map(|texels| texels * image.reduction.max(1));
        let standing = relief::standing(projection, (image, covered), view.levels);
        let place = |[x, y, _]: [f64; 3]| Some(standing([x / spacing + 0.5, y / spacing + 0.5]));
        let legend = overlay::legend_place(&painter, room, &sources.legend);
        let taken = legend.into_iter().chain([room.clock]).collect();
        depth_marks::show(&painter, (area, taken), (sources.scenario, sources.frame, None), place);
    }
    axes(&painter, &projection, sources);
    overlay::clock(&painter, room, clock.time, clock.time_step, sources.units.time);
    overlay::legend(&painter, room, &sources.legend);
    if view.show_theory {
        let notes = (sources.scenario.notes(), clock.time);
        let legend = overlay::legend_place(&painter, room, &sources.legend);
        theory_view::note_above(&painter, room, legend, notes);
    }
    (view.picture, view.area) = (area, area);
    response.widget_info(|| super::status::picture_info("Relief of the field", sources.frame));
    response
}

/// Nothing of the scene stands in the space of momenta.
fn is_of_momenta(sources: &Sources<'_>) -> bool {
    sources.frame.image.quantity == Some(Quantity::Momentum)
}

fn navigate(ui: &Ui, view: &mut ViewState, response: &Response) {
    let delta = response.drag_delta();
    // Two fingers zoom; the first of them would turn it as well.
    let zooms = ui.input(|input| input.multi_touch().is_some());
    if response.dragged_by(PointerButton::Primary) && !zooms {
        turn(&mut view.orbit, -TURN * f64::from(delta.x), TURN * f64::from(delta.y));
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    }
    zoom_and_turn(ui, view, response);
    view.orbit.elevation = view.orbit.elevation.clamp(Orbit::LOWEST_OVER_RELIEF, 90.0);
    view.orbit.target = None;
}

/// Whether a wall stands in the middle of each texel of a picture of `size`; empty where there are none.
fn walls(medium: &MediumImage, size: [usize; 2]) -> Vec<bool> {
    if medium.is_empty() {
        return Vec::new();
    }
    let place =
        |axis: usize, at: usize| ((2 * at + 1) * medium.size[axis] / (2 * size[axis])).min(medium.size[axis] - 1);
    let is_wall = |i: usize, j: usize| {
        let texel = medium.texels.get(place(0, i) + medium.size[0] * place(1, j));
        texel.is_some_and(|[_, wall]| *wall > 0.5)
    };
    let rows = 0..size[1];
    rows.flat_map(|j| (0..size[0]).map(move |i| (i, j)))
        .map(|(i, j)| is_wall(i, j))
        .collect()
}

fn mesh(surface: &Surface) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(surface.points.len());
    for (place, [r, g, b]) in surface.points.iter().zip(&surface.colors) {
        mesh.colored_vertex(Pos2::from(*place), Color32::from_rgb(*r, *g, *b));
    }
    mesh.indices = surface.triangles.as_flattened().to_vec();
    mesh
}

/// The ground.
fn outline(painter: &egui::Painter, projection: &Projection) {
    let ground = projection.ground().map(Pos2::from).to_vec();
    let stroke = Stroke::new(1.0, over_picture().gamma_multiply(0.35));
    painter.add(egui::Shape::closed_line(ground, stroke));
}

/// Names and ends of the axes: nearer than the wave, which hangs down before the ground where it is negative, and therefore over it, on a shade.
fn axes(painter: &egui::Painter, projection: &Projection, sources: &Sources<'_>) {
    for axis in 0..2 {
        let along = Along::of(
            sources.scenario,
            sources.frame.image.quantity,
            axis,
            sources.units.length,
        );
        let last = sources.scenario.grid().size()[axis].saturating_sub(1) as f64;
        let words = [
            (along.unit.show(along.at(0.0), 3), 0.7),
            (along.unit.show(along.at(last), 3), 0.7),
            (along.title(), 0.9),
        ];
        for (at, (text, strength)) in projection.labels(axis, 18.0).into_iter().zip(words) {
            let color = over_picture().gamma_multiply(strength);
            let galley = painter.layout_no_wrap(text, FontId::proportional(11.5), color);
            let rect = Align2::CENTER_CENTER.anchor_size(at.into(), galley.size());
            painter.rect_filled(rect.expand2(vec2(3.0, 0.0)), 3.0, theme::shade());
            painter.galley(rect.min, galley, color);
        }
    }
}
