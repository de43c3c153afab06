//! A field of three dimensions in its box: slices or a volume, turned, moved and zoomed by hand.

use super::depth_marks;
use super::opacity_curve::arrows;
use super::overlay::{self, Legend, Room};
use super::pictures::Pictures;
use super::refine::Shown;
use super::theme::{self, over_picture};
use super::theory_view;
use super::units::Units;
use super::view_state::ViewState;
use super::widgets::figure;
use crate::engine::Frame;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::solver::FieldVolume;
use crate::space::camera::{pan, turn, zoom};
use crate::space::frame::{AXES, outline, scales, wires};
use crate::space::marks::place_in_box;
use crate::space::stage::Plan;
use crate::space::{Camera, MediumVolume, Mode, Shape, Stage};
use egui::{
    Align2, CursorIcon, FontId, Key, Painter, PointerButton, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2, pos2,
};

/// Degrees per point of a drag.
pub(super) const TURN: f64 = 0.4;
/// Points between ticks.
const GAP: f32 = 56.0;

/// What the picture is drawn from.
pub struct Sources<'a> {
    /// The run.
    pub frame: &'a Frame,
    /// Its scene.
    pub scenario: &'a Scenario,
    /// Slices or volume.
    pub mode: Mode,
    /// The colours and their meaning.
    pub legend: Legend<'a>,
    /// The medium; empty where it is not shown.
    pub medium: &'a MediumVolume,
    /// Units of lengths and times.
    pub units: Units,
    /// The opacity's points.
    pub opacity: &'a [[f64; 2]],
    /// Lit along gradients.
    pub shading: bool,
    /// Whether the panels are hidden.
    pub bare: bool,
}

/// Shows the box in all the room there is.
pub fn show(ui: &mut Ui, view: &mut ViewState, pictures: Option<&mut Pictures>, sources: &Sources<'_>) -> Response {
    let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    let shape = Shape::of(sources.scenario.grid());
    let handle = (sources.mode == Mode::Slices)
        .then(|| handles(ui, view, &shape, area, &response))
        .flatten();
    view.follow_path(sources.scenario, sources.frame.clock.time);
    let before = view.orbit;
    navigate(ui, view, &shape, area, &response, handle.is_some());
    view.follows &= view.orbit == before;
    let painter = ui.painter_at(area);
    let camera = Camera::new(&view.orbit, &shape, area.size().into());
    lines(&painter, area, &shape, &camera, false);
    let field = sources
        .frame
        .volume
        .as_deref()
        .filter(|field| field.sites == shape.sites);
    if let (Some(field), Some(pictures)) = (field, pictures) {
        paint(ui, view, pictures, area, &shape, field, sources);
    }
    if sources.mode == Mode::Slices {
        slices(&painter, area, &shape, &camera, view, handle);
    }
    lines(&painter, area, &shape, &camera, true);
    let clock = &sources.frame.clock;
    let room = Room::free(area).with_clock(&painter, clock.time, clock.time_step, sources.units.time);
    let legend = overlay::legend_place(&painter, room, &sources.legend);
    let taken: Vec<Rect> = legend.into_iter().chain([room.clock]).collect();
    let marked = field.filter(|field| view.show_detectors && field.quantity != Some(Quantity::Momentum));
    if let Some(field) = marked {
        let (stage, lengths) = (
            plain_stage(area, view, &shape, field, sources),
            slice_lengths(view, &shape),
        );
        let place = |at: [f64; 3]| {
            let place = place_in_box(&stage, at);
            place.map(|[x, y]| [area.min.x + x, area.min.y + y])
        };
        let slices = (sources.mode == Mode::Slices).then_some(lengths);
        let scene = (sources.scenario, sources.frame, slices);
        depth_marks::show(&painter, (area, taken.clone()), scene, place);
    }
    axes(&painter, (area, &taken), &shape, &camera, sources.units);
    plates(&painter, room, sources, view.show_theory);
    if let (Mode::Slices, Some(field)) = (sources.mode, field)
        && let Some(fields) = read_out(&painter, area, view, &shape, field, sources, &response)
    {
        view.tell(&painter, (Room::free(area), Align2::RIGHT_BOTTOM), fields, sources.bare);
    }
    (view.picture, view.area) = (area, area);
    response.widget_info(|| super::status::picture_info("Field in space", sources.frame));
    response
}

fn navigate(ui: &Ui, view: &mut ViewState, shape: &Shape, area: Rect, response: &Response, on_handle: bool) {
    if let Some(pinch) = super::pinch::on(ui, area) {
        pan(&mut view.orbit, shape, area.size().into(), pinch.shift.into());
        zoom(&mut view.orbit, f64::from(pinch.zoom));
        return;
    }
    let delta = response.drag_delta();
    if response.dragged_by(PointerButton::Primary) && !on_handle {
        turn(&mut view.orbit, -TURN * f64::from(delta.x), TURN * f64::from(delta.y));
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    } else if delta != Vec2::ZERO && !on_handle {
        pan(&mut view.orbit, shape, area.size().into(), delta.into());
        ui.ctx().set_cursor_icon(CursorIcon::Move);
    }
    zoom_and_turn(ui, view, response);
}

/// What turns and zooms a box beside dragging: wheel, pinch, keys and double click.
pub(super) fn zoom_and_turn(ui: &Ui, view: &mut ViewState, response: &Response) {
    if response.double_clicked() {
        view.fit_in_space();
    }
    if response.hovered() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll / 200.0).exp();
        if (factor - 1.0).abs() > 1e-4 {
            zoom(&mut view.orbit, f64::from(factor));
        }
    }
    if response.has_focus() {
        let [right, up] = arrows(ui, response.id);
        if right != 0.0 || up != 0.0 {
            turn(&mut view.orbit, 100.0 * right, 100.0 * up);
        }
        let (closer, farther) = ui.input(|input| (input.key_pressed(Key::PageUp), input.key_pressed(Key::PageDown)));
        if closer || farther {
            zoom(&mut view.orbit, if closer { 1.25 } else { 0.8 });
        }
    }
}

/// Where the handle of a slice stands: the corner of its outline that is farthest from the middle of the box.
fn handle_at(shape: &Shape, camera: &Camera, axis: usize, at: f32) -> Option<[f32; 2]> {
    let middle = camera.project([0.0; 3])?;
    let corners = outline(shape, camera, axis, at)?;
    let far = |corner: &[f32; 2]| (corner[0] - middle[0]).hypot(corner[1] - middle[1]);
    corners.into_iter().max_by(|a, b| far(a).total_cmp(&far(b)))
}

fn world(shape: &Shape, view: &ViewState, axis: usize) -> f32 {
    shape.along(axis, view.slices[axis] as f64 * shape.spacing)
}

/// Moves the slices by their handles; the one that is held or under the pointer.
fn handles(ui: &Ui, view: &mut ViewState, shape: &Shape, area: Rect, response: &Response) -> Option<usize> {
    let camera = Camera::new(&view.orbit, shape, area.size().into());
    let id = response.id.with("slice");
    let mut held = ui.data(|data| data.get_temp::<Option<usize>>(id)).flatten();
    let pointer = response.hover_pos().or(response.interact_pointer_pos());
    let near = |point: Pos2| {
        (0..3).find(|axis| {
            handle_at(shape, &camera, *axis, world(shape, view, *axis))
                .is_some_and(|at| (area.min + Vec2::from(at) - point).length() < 11.0)
        })
    };
    if response.drag_started_by(PointerButton::Primary) {
        let origin = ui.input(|input| input.pointer.press_origin());
        held = origin.or(pointer).and_then(near);
        ui.data_mut(|data| data.insert_temp(id.with("part"), 0.0f32));
    }
    if !response.dragged_by(PointerButton::Primary) {
        held = None;
    }
    ui.data_mut(|data| data.insert_temp(id, held));
    let Some(axis) = held else {
        let over = pointer.and_then(near);
        if over.is_some() {
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
        return over.filter(|_| !ui.input(|input| input.pointer.any_down()));
    };
    // A step along the axis on the screen, and how many of it the drag goes.
    let mut point = [0.0; 3];
    point[axis] = world(shape, view, axis);
    let step = 1.0 / shape.sites.into_iter().max().unwrap_or(1) as f32;
    let mut next = point;
    next[axis] += step;
    if let (Some(a), Some(b)) = (camera.project(point), camera.project(next)) {
        let along = Vec2::from(b) - Vec2::from(a);
        let square = along.length_sq();
        // Whole sites; what is left over waits for the next frame.
        let part = ui.data(|data| data.get_temp::<f32>(id.with("part"))).unwrap_or(0.0)
            + if square > 1e-4 {
                response.drag_delta().dot(along) / square
            } else {
                0.0
            };
        let whole = part.trunc();
        ui.data_mut(|data| data.insert_temp(id.with("part"), part - whole));
        let last = shape.sites[axis] as f32 - 1.0;
        view.slices[axis] = (view.slices[axis] as f32 + whole).clamp(0.0, last) as usize;
    }
    ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    Some(axis)
}

/// Draws the field if that is due, and lays it over the area.
fn paint(
    ui: &Ui,
    view: &mut ViewState,
    pictures: &mut Pictures,
    area: Rect,
    shape: &Shape,
    field: &FieldVolume,
    sources: &Sources<'_>,
) {
    let scale = ui.ctx().pixels_per_point();
    let pixels = area.size() * scale;
    if pixels.x < 1.0 || pixels.y < 1.0 {
        return;
    }
    let time = ui.input(|input| input.time);
    if let Some((cost, seconds)) = pictures.volume.measured(&pictures.render) {
        view.refinement.measured(cost, seconds);
    }
    let shown = Shown {
        serial: sources.frame.image_serial,
        orbit: view.orbit,
        slices: view.slices,
        map: sources.legend.map.id,
        levels: view.levels,
        opacity: sources.opacity.to_vec(),
        shading: sources.shading,
        pixels: pixels.into(),
    };
    view.refinement.shows(shown, time);
    let texels = field.size.into_iter().max().unwrap_or(1);
    let fineness = view.refinement.fineness(f64::from(pixels.x * pixels.y), texels, time);
    if let Some(seconds) = view.refinement.until_rest(time) {
        ui.ctx().request_repaint_after_secs(seconds as f32 + 0.01);
    }
    let plan = Plan {
        shape: *shape,
        orbit: &view.orbit,
        viewport: [pixels.x, pixels.y].map(|n| (n * fineness.scale).round().max(1.0)),
        mode: sources.mode,
        slices: slice_lengths(view, shape),
        texels_per_step: fineness.texels_per_step,
        map: sources.legend.map,
        levels: view.levels,
        gamma: view.gamma(),
        opacity: sources.opacity,
        shading: sources.shading,
    };
    let stage = Stage::new(&plan, field, Some(sources.medium));
    pictures.volume.draw(&pictures.render, &stage);
    if pictures.volume.is_awaited() {
        // What it took says how fine the next one may be.
        ui.ctx().request_repaint_after_secs(0.01);
    }
    ui.painter().extend(
        (pictures.volume)
            .callback(&pictures.render, area, scale)
            .map(egui::Shape::Callback),
    );
}

fn lines(painter: &Painter, area: Rect, shape: &Shape, camera: &Camera, front: bool) {
    let strength = if front { 0.3 } else { 0.14 };
    let stroke = Stroke::new(1.0, over_picture().gamma_multiply(strength));
    for wire in wires(shape, camera).into_iter().filter(|wire| wire.front == front) {
        painter.line_segment(wire.ends.map(|end| area.min + Vec2::from(end)), stroke);
    }
}

fn slices(painter: &Painter, area: Rect, shape: &Shape, camera: &Camera, view: &ViewState, active: Option<usize>) {
    for axis in 0..3 {
        let at = world(shape, view, axis);
        let color = if active == Some(axis) {
            theme::marks().accent
        } else {
            over_picture().gamma_multiply(0.45)
        };
        if let Some(corners) = outline(shape, camera, axis, at) {
            let points = corners.map(|corner| area.min + Vec2::from(corner)).to_vec();
            painter.add(egui::Shape::closed_line(points, Stroke::new(1.0, color)));
        }
        if let Some(handle) = handle_at(shape, camera, axis, at) {
            let center = area.min + Vec2::from(handle);
            painter.circle(
                center,
                if active == Some(axis) { 7.0 } else { 5.5 },
                theme::canvas(),
                Stroke::new(1.5, if active == Some(axis) { color } else { over_picture() }),
            );
            painter.text(
                center,
                Align2::CENTER_CENTER,
                AXES[axis],
                FontId::proportional(9.5),
                over_picture(),
            );
        }
    }
}

/// Whether a number or a name has its place for itself: one that is cut would be another one.
fn is_free(words: Rect, area: Rect, taken: &[Rect]) -> bool {
    area.contains_rect(words) && taken.iter().all(|other| !other.intersects(words))
}

/// Round lengths along three edges, with the names of the axes, clear of what is `taken`.
fn axes(painter: &Painter, (area, taken): (Rect, &[Rect]), shape: &Shape, camera: &Camera, units: Units) {
    let stroke = Stroke::new(1.0, over_picture().gamma_multiply(0.5));
    let color = over_picture().gamma_multiply(0.75);
    for scale in scales(shape, camera, units.length.per, GAP) {
        let outward = Vec2::from(scale.outward);
        let mut widest = 0.0f32;
        let beside = |at: Pos2, size: Vec2, gap: f32| {
            let reach = gap + 0.5 * (outward.x.abs() * size.x + outward.y.abs() * size.y);
            Rect::from_center_size(at + outward * reach, size)
        };
        for (at, value) in &scale.ticks {
            let at = area.min + Vec2::from(*at);
            painter.line_segment([at, at + outward * 4.0], stroke);
            let value = if value.abs() < 1e-12 { 0.0 } else { *value };
            let galley = painter.layout_no_wrap(figure(value, 4), FontId::proportional(11.0), color);
            let rect = beside(at, galley.size(), 7.0);
            widest = widest.max(outward.x.abs() * galley.size().x + outward.y.abs() * galley.size().y);
            if is_free(rect, area, taken) {
                painter.galley(rect.min, galley, color);
            }
        }
        let title = units.length.after(AXES[scale.axis]);
        let galley = painter.layout_no_wrap(title, FontId::proportional(12.5), color);
        let rect = beside(area.min + Vec2::from(scale.middle), galley.size(), 12.0 + widest);
        if is_free(rect, area, taken) {
            painter.galley(rect.min, galley, color);
        }
    }
}

/// Below this height, in points, a picture is low.
const LOW: f32 = 340.0;

fn plates(painter: &Painter, room: Room, sources: &Sources<'_>, notes: bool) {
    let (clock, area) = (&sources.frame.clock, room.area);
    overlay::clock(painter, room, clock.time, clock.time_step, sources.units.time);
    overlay::legend(painter, room, &sources.legend);
    if notes {
        let notes = (sources.scenario.notes(), clock.time);
        let legend = overlay::legend_place(painter, room, &sources.legend);
        theory_view::note_above(painter, room, legend, notes);
    }
    let label = sources.medium.label();
    if sources.mode == Mode::Volume && !label.is_empty() {
        // In a low picture the axes are down there: it stands below the clock.
        let (room, at) = if area.height() < LOW {
            let below = Rect::from_min_max(area.min + Vec2::new(0.0, 36.0), area.max);
            (Room::free(below), Align2::LEFT_TOP)
        } else {
            (room, Align2::LEFT_BOTTOM)
        };
        overlay::plate(painter, room, at, label, FontId::proportional(12.0));
    }
}

/// The lengths at which the slices stand.
fn slice_lengths(view: &ViewState, shape: &Shape) -> [f64; 3] {
    std::array::from_fn(|axis| view.slices[axis] as f64 * shape.spacing)
}

/// The box over the area, of which places are asked and no colours.
fn plain_stage(area: Rect, view: &ViewState, shape: &Shape, field: &FieldVolume, sources: &Sources<'_>) -> Stage {
    let plan = Plan {
        shape: *shape,
        orbit: &view.orbit,
        viewport: area.size().into(),
        mode: sources.mode,
        slices: slice_lengths(view, shape),
        texels_per_step: 1.0,
        map: sources.legend.map,
        levels: view.levels,
        gamma: 1.0,
        opacity: &[],
        shading: false,
    };
    Stage::new(&plan, field, None)
}

/// Place and value of the slice under the pointer.
fn read_out(
    painter: &Painter,
    area: Rect,
    view: &ViewState,
    shape: &Shape,
    field: &FieldVolume,
    sources: &Sources<'_>,
    response: &Response,
) -> Option<Vec<(String, String)>> {
    let pointer = response.hover_pos()?;
    let stage = plain_stage(area, view, shape, field, sources);
    let at = pointer - area.min;
    let (_, place) = stage.slice(stage.camera.ray([at.x, at.y]))?;
    let lengths = shape.lengths(place);
    let site: [usize; 3] = std::array::from_fn(|axis| {
        let site = (lengths[axis] / shape.spacing).round().max(0.0) as usize;
        site.min(shape.sites[axis] - 1)
    });
    let [first, second] = field.at(site)?;
    let length = sources.units.length;
    let mut fields: Vec<(String, String)> = (0..3)
        .map(|axis| (AXES[axis].to_owned(), length.show(site[axis] as f64 * shape.spacing, 4)))
        .collect();
    if field.quantity == Some(Quantity::Phase) {
        fields.push(("|ψ|".to_owned(), figure(f64::from(first.hypot(second)), 3)));
        fields.push(("arg ψ".to_owned(), super::field_view::turns(second.atan2(first))));
    } else {
        let name = super::field_view::name_of_value(&sources.frame.image, None, sources.scenario);
        fields.push((name, figure(f64::from(first), 3)));
    }
    painter.circle_stroke(
        pos2(pointer.x, pointer.y),
        3.0,
        Stroke::new(1.0, over_picture().gamma_multiply(0.5)),
    );
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::vec2;

    #[test]
    fn a_number_that_would_be_cut_is_left_out() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 400.0));
        let legend = Rect::from_min_size(pos2(500.0, 10.0), vec2(90.0, 200.0));
        let number = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(24.0, 14.0));
        assert!(is_free(number(300.0, 200.0), area, &[legend]));
        assert!(
            !is_free(number(490.0, 150.0), area, &[legend]),
            "it is under the legend"
        );
        assert!(!is_free(number(300.0, 392.0), area, &[legend]), "it leaves the picture");
    }
}
