//! The picture of a 2D field or a plane of a 3D one: pan, zoom, overlays, line cut.

use super::camera::covered;
use super::flow_view;
use super::gestures;
use super::history::History;
use super::marks;
use super::medium_view;
use super::mirror_tool;
use super::overlay::{self, Legend, Room};
use super::pinch;
use super::strip_chart;
use super::theme::{self, over_picture};
use super::theory_view;
use super::toolbar;
use super::tools::{Ground, Tool};
use super::units::{Along, Units};
use super::view_panel;
use super::view_state::{Cut, ViewState};
use super::widgets::{figure, steady};
use crate::engine::Frame;
use crate::export::overlay::sign_of_difference;
use crate::render::{FieldPicture, MediumPicture, Placement, field::Coloring, medium::MediumImage};
use crate::scene::scenario::Quantity;
use crate::scene::{Scenario, SceneFile};
use eframe::egui_wgpu::RenderState;
use egui::{Align2, CursorIcon, PointerButton, Rect, Response, Sense, Stroke, Ui, pos2};

/// The graphics device, and the pictures on it.
pub type Device<'a> = (&'a RenderState, &'a FieldPicture, &'a MediumPicture);

/// What the picture is drawn from.
pub struct Sources<'a> {
    /// The graphics device; without one (a test without pictures) only the overlays are drawn.
    pub render: Option<Device<'a>>,
    /// The run.
    pub frame: &'a Frame,
    /// Its scene.
    pub scenario: &'a Scenario,
    /// The scene under edit.
    pub draft: &'a SceneFile,
    /// The colours and their meaning.
    pub legend: Legend<'a>,
    /// The medium over the field.
    pub medium: &'a MediumImage,
    /// Units of lengths and times.
    pub units: Units,
    /// What the detectors recorded.
    pub history: &'a History,
    /// Whether the panels are hidden: then the line cut is, too.
    pub bare: bool,
    /// Whether tools and line cut are left to another picture beside this one.
    pub passive: bool,
    /// Whether nothing may tell which of two runs this is.
    pub untold: bool,
    /// The quantity of two runs whose difference the picture is; `None` where it is the picture of a run.
    pub difference: Option<Quantity>,
}

impl Sources<'_> {
    /// Whether what only one of two pictures has is left out: tools, notes, charts, what flows.
    fn is_plain(&self) -> bool {
        self.passive || self.untold
    }

    /// What the picture shows, or shows the difference of.
    fn quantity(&self) -> Option<Quantity> {
        self.difference.or(self.frame.image.quantity)
    }

    /// Whether the picture shows |ψ(k)|².
    fn is_of_momenta(&self) -> bool {
        self.quantity() == Some(Quantity::Momentum)
    }

    fn along(&self, axis: usize) -> Along {
        Along::of(self.scenario, self.quantity(), axis, self.units.length)
    }
}

/// The marks of the detectors, to be drawn once what they stand over is.
fn marked(
    painter: &egui::Painter,
    (area, room): (Rect, Room),
    view: &ViewState,
    sources: &Sources<'_>,
) -> marks::Marked {
    let kept = marks::Kept {
        plane: plane(view, sources),
        legend: overlay::legend_place(painter, room, &sources.legend),
        clock: room.clock,
    };
    let scenario = sources.scenario;
    marks::detectors(
        painter,
        (area, kept),
        &view.camera,
        scenario.grid(),
        scenario.detectors(),
    )
}

/// The plane of 3D that is shown, as a length along z.
fn plane(view: &ViewState, sources: &Sources<'_>) -> Option<f64> {
    let grid = sources.scenario.grid();
    (grid.rank() == 3).then(|| view.plane() as f64 * grid.spacing())
}

/// Marks sources and detectors, with what these have recorded beside them.
fn listeners(
    ui: &Ui,
    painter: &egui::Painter,
    area: Rect,
    marked: marks::Marked,
    (view, sources): (&ViewState, &Sources<'_>),
) {
    let (grid, clock) = (sources.scenario.grid(), &sources.frame.clock);
    let playing = (sources.scenario.sources(), clock.time);
    let plane = plane(view, sources);
    marks::sources(painter, (area, plane), &view.camera, grid, playing);
    marked.draw(painter);
    if view.show_charts && !sources.is_plain() {
        let place = (area, &view.camera, grid.spacing());
        strip_chart::show(ui, painter, (place, plane), (sources.scenario, sources.history, clock));
    }
}

/// Shows the picture in all the room there is.
pub fn show(ui: &mut Ui, view: &mut ViewState, sources: &Sources<'_>) -> Response {
    let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    let size = sources.scenario.grid().size();
    let sites = [size[0], size[1]];
    view.camera.settle(area, sites);
    let on_cut = !sources.bare
        && !sources.is_plain()
        && !view.tools.holds(PointerButton::Primary)
        && cut_drag(ui, view, area, sites, &response);
    navigate(ui, view, area, sites, &response, on_cut);
    view.camera.settle(area, sites);
    let ground = ground(view, sources, sites);
    // Nothing of the scene stands in the space of momenta.
    let of_momenta = sources.is_of_momenta();
    // A length can be measured in either of two pictures.
    let in_hand = !of_momenta && (!sources.is_plain() || view.tools.tool == Tool::Ruler);
    if in_hand {
        gestures::interact(ui, view, area, &ground, &response);
    }

    let painter = ui.painter_at(area);
    let grid_rect = view.camera.rect(area, [0.0, 0.0], sites.map(|n| n as f64));
    paint(ui, view, area, grid_rect, sources);
    // The edge of the grid, where it is in view.
    painter.rect_stroke(
        grid_rect,
        0.0,
        Stroke::new(1.0, over_picture().gamma_multiply(0.25)),
        egui::StrokeKind::Outside,
    );
    if !sources.passive {
        view.picture = grid_rect.intersect(area);
        view.area = area;
    }
    let clock = &sources.frame.clock;
    let room = Room {
        picture: grid_rect,
        ..Room::free(area)
    };
    let room = room.with_clock(&painter, clock.time, clock.time_step, sources.units.time);
    if !of_momenta && !sources.is_plain() {
        let (clip, frame) = (painter.with_clip_rect(area.intersect(grid_rect)), sources.frame);
        flow_view::flow(&clip, area, &view.camera, frame, sources.scenario.view().flow);
        let spacing = sources.scenario.grid().spacing();
        flow_view::trajectories(&clip, area, &view.camera, spacing, frame);
    }
    let is_marked = view.show_detectors && !of_momenta;
    let marked = is_marked.then(|| marked(&painter, (area, room), view, sources));
    if view.show_theory && !of_momenta {
        let names = marked.iter().flat_map(|marked| &marked.names);
        theory(&painter, (area, grid_rect, room), view, sources, names);
    }
    let names = marked.as_ref().map_or(Vec::new(), |marked| marked.names.clone());
    if !sources.bare {
        draw_cut(&painter, view, area, grid_rect);
    }
    // Names stand over the lines.
    if of_momenta {
        let names = [0, 1].map(|axis| sources.along(axis).name);
        zero_lines(&painter, view, (area, grid_rect), sites, names);
    } else if let Some(marked) = marked {
        listeners(ui, &painter, area, marked, (view, sources));
    }
    let mirror = sources.frame.mirror.as_deref();
    if let Some(mirror) = mirror.filter(|_| view.show_detectors && !of_momenta) {
        mirror_tool::marks(
            &painter,
            area,
            &view.camera,
            sources.scenario.grid(),
            mirror,
            view.plane(),
        );
    }
    overlay::clock(&painter, room, clock.time, clock.time_step, sources.units.time);
    overlay::legend(&painter, room, &sources.legend);
    let along = sources.along(0);
    let name = if of_momenta { "Δkx = " } else { "" };
    let scale = overlay::scale_bar(&painter, room, &view.camera, along.step(), (name, along.unit));
    name_medium(&painter, room, view, sources);
    if view.show_theory && !sources.is_plain() {
        let notes = (sources.scenario.notes(), clock.time);
        let legend = overlay::legend_place(&painter, room, &sources.legend);
        let settings = toolbar::settings_rect(ui.ctx(), view.tools.tool);
        let taken = legend.into_iter().chain(settings).chain(names);
        view.note = theory_view::note(&painter, (room, scale), taken, notes);
    }
    if let Some(fields) = read_out(view, room, sources, &response) {
        view.tell(&painter, (room, Align2::RIGHT_BOTTOM), fields, sources.bare);
    }
    let pointer = response.hover_pos().or(response.interact_pointer_pos());
    if in_hand {
        gestures::draw(&painter, &view.camera, &view.tools, area, &ground, pointer);
    }
    let name = "Picture of the field";
    response.widget_info(|| {
        if sources.untold {
            egui::WidgetInfo::labeled(egui::Role::Image, true, name)
        } else {
            super::status::picture_info(name, sources.frame)
        }
    });
    response
}

/// Lines and circles of theory, whose labels keep clear of clock, legend and `names`, and what a note points at.
fn theory<'a>(
    painter: &egui::Painter,
    (area, grid_rect, room): (Rect, Rect, Room),
    view: &ViewState,
    sources: &Sources<'_>,
    names: impl Iterator<Item = &'a Rect>,
) {
    let (grid, t) = (sources.scenario.grid(), sources.frame.clock.time);
    let mut taken = vec![room.clock];
    taken.extend(overlay::legend_place(painter, room, &sources.legend));
    taken.extend(names);
    let theories = (sources.scenario.theories(), t);
    theory_view::outlines(
        painter,
        (area, grid_rect.intersect(area), taken),
        &view.camera,
        grid.spacing(),
        theories,
    );
    let notes = (sources.scenario.notes(), t);
    theory_view::ring(painter, area, &view.camera, grid.spacing(), notes);
}

/// What the veil over the picture stands for, where that is two quantities: above the scale bar.
fn name_medium(painter: &egui::Painter, room: Room, view: &ViewState, sources: &Sources<'_>) {
    let words = medium_view::meaning(sources.medium);
    if words.is_empty() || !view.show_medium || sources.is_of_momenta() {
        return;
    }
    let mut above = room;
    above.area.max.y -= SCALE_BAR;
    above.picture.max.y = above.picture.max.y.min(room.area.bottom()) - SCALE_BAR;
    overlay::plate(
        painter,
        above,
        Align2::LEFT_BOTTOM,
        words,
        egui::FontId::proportional(12.0),
    );
}

/// Height of the scale bar and the gap above it, points.
const SCALE_BAR: f32 = 44.0;

/// What the tools must know of the scene.
fn ground<'a>(view: &ViewState, sources: &Sources<'a>, sites: [usize; 2]) -> Ground<'a> {
    let grid = sources.scenario.grid();
    Ground {
        file: sources.draft,
        spacing: grid.spacing(),
        hopping: sources.scenario.model().quantum().map(|quantum| quantum.hopping),
        sites,
        z: (grid.rank() == 3).then(|| view.plane() as f64 * grid.spacing()),
        length: sources.units.length,
        image: Some(&sources.frame.image),
    }
}

fn navigate(ui: &Ui, view: &mut ViewState, area: Rect, sites: [usize; 2], response: &Response, on_cut: bool) {
    if let Some(pinch) = pinch::on(ui, area) {
        view.camera.zoom(area, sites, pinch.center, pinch.zoom);
        view.camera.pan(pinch.shift);
        return;
    }
    let held = [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle]
        .into_iter()
        .any(|button| {
            let taken = view.tools.holds(button) || (on_cut && button == PointerButton::Primary);
            response.dragged_by(button) && !taken
        });
    if held {
        view.camera.pan(response.drag_delta());
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    }
    if response.double_clicked() && !view.tools.holds(PointerButton::Primary) {
        view.camera.fit();
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll / 200.0).exp();
        view.camera.zoom(area, sites, pointer, factor);
    }
}

/// Moves the line cut by hand; whether the pointer is on it.
fn cut_drag(ui: &Ui, view: &mut ViewState, area: Rect, sites: [usize; 2], response: &Response) -> bool {
    const REACH: f32 = 6.0;
    let Some(pointer) = response.hover_pos().or(response.interact_pointer_pos()) else {
        return false;
    };
    let axis = usize::from(view.cut == Cut::Row);
    let line = view.camera.point_at(area, [view.cut_at, view.cut_at]);
    let distance = if view.cut == Cut::Row {
        (pointer.y - line.y).abs()
    } else {
        (pointer.x - line.x).abs()
    };
    let id = response.id.with("cut");
    let mut dragging = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or(false);
    if response.drag_started_by(PointerButton::Primary) {
        let origin = ui.input(|input| input.pointer.press_origin()).unwrap_or(pointer);
        let start = if view.cut == Cut::Row {
            (origin.y - line.y).abs()
        } else {
            (origin.x - line.x).abs()
        };
        dragging = start <= REACH;
    }
    if !response.dragged_by(PointerButton::Primary) {
        dragging = false;
    }
    ui.data_mut(|data| data.insert_temp(id, dragging));
    if dragging {
        let place = view.camera.site_at(area, pointer);
        view.cut_at = place[axis].clamp(0.0, sites[axis] as f64 - 0.001);
    }
    let near = dragging || (distance <= REACH && !ui.input(|input| input.pointer.any_down()));
    if near {
        ui.ctx().set_cursor_icon(if view.cut == Cut::Row {
            CursorIcon::ResizeVertical
        } else {
            CursorIcon::ResizeHorizontal
        });
    }
    dragging
}

fn paint(ui: &Ui, view: &ViewState, area: Rect, grid_rect: Rect, sources: &Sources<'_>) {
    let Some((render, field, medium)) = sources.render else {
        return;
    };
    let image = &sources.frame.image;
    if image.value.is_empty() {
        return;
    }
    let scale = ui.ctx().pixels_per_point();
    let (from, to) = covered(image);
    let rect = view.camera.rect(area, from, to);
    let placement = Placement::new(rect, image.size.map(|n| n as f32), scale);
    let texel = view.camera.scale() * image.reduction as f32;
    let coloring = Coloring {
        levels: sources.legend.levels,
        kind: sources.legend.map.kind,
        gamma: view.gamma(),
        smooth: texel < 10.0,
    };
    let clip = area.intersect(grid_rect);
    if !clip.is_positive() {
        return;
    }
    ui.painter().extend(
        field
            .callback(render, clip, placement, coloring)
            .map(egui::Shape::Callback),
    );
    if view.show_medium && sources.medium.size[0] > 0 && !sources.is_of_momenta() {
        let placement = Placement::new(grid_rect, sources.medium.size.map(|n| n as f32), scale);
        ui.painter().extend(
            medium
                .callback(render, clip, placement, theme::is_paper())
                .map(egui::Shape::Callback),
        );
    }
}

/// Where k = 0 along each axis, with the names of the axes at the ends of these lines.
fn zero_lines(
    painter: &egui::Painter,
    view: &ViewState,
    (area, grid_rect): (Rect, Rect),
    sites: [usize; 2],
    [across, up]: [&str; 2],
) {
    let at = view
        .camera
        .point_at(area, sites.map(|n| if n > 1 { (n / 2) as f64 + 0.5 } else { 0.5 }));
    let seen = grid_rect.intersect(area);
    if seen.is_positive() {
        let stroke = Stroke::new(1.0, over_picture().gamma_multiply(0.25));
        painter.hline(seen.x_range(), at.y, stroke);
        painter.vline(at.x, seen.y_range(), stroke);
        let name = |at: egui::Pos2, align: Align2, name: &str| {
            if seen.contains(at) {
                let color = over_picture().gamma_multiply(0.75);
                painter.text(at, align, name, egui::FontId::proportional(12.0), color);
            }
        };
        name(pos2(seen.right() - 6.0, at.y - 4.0), Align2::RIGHT_BOTTOM, across);
        // Clock and colours stand at the upper edge.
        name(pos2(at.x + 6.0, seen.bottom() - 4.0), Align2::LEFT_BOTTOM, up);
    }
}

fn draw_cut(painter: &egui::Painter, view: &ViewState, area: Rect, grid_rect: Rect) {
    let at = view.camera.point_at(area, [view.cut_at, view.cut_at]);
    let seen = grid_rect.intersect(area);
    let ends = match view.cut {
        Cut::Row => [pos2(seen.left(), at.y), pos2(seen.right(), at.y)],
        Cut::Column => [pos2(at.x, seen.top()), pos2(at.x, seen.bottom())],
    };
    if seen.is_positive() {
        let stroke = Stroke::new(1.0, over_picture().gamma_multiply(0.45));
        painter.add(egui::Shape::dashed_line(&ends, stroke, 4.0, 6.0));
    }
}

/// Place and value under the pointer.
fn read_out(view: &ViewState, room: Room, sources: &Sources<'_>, response: &Response) -> Option<Vec<(String, String)>> {
    let pointer = response.hover_pos()?;
    let grid = sources.scenario.grid();
    let place = view.camera.site_at(room.area, pointer);
    let inside = (0..2).all(|axis| place[axis] >= 0.0 && place[axis] < grid.size()[axis] as f64);
    if !inside {
        return None;
    }
    let image = &sources.frame.image;
    let texel = [0, 1].map(|axis| (place[axis] - image.origin[axis] as f64) / image.reduction.max(1) as f64);
    let mut fields: Vec<(String, String)> = [0, 1]
        .map(|axis| {
            let along = sources.along(axis);
            let digits = along.digits(grid.size()[axis]);
            (
                along.name.to_owned(),
                along.unit.show(along.at(place[axis].floor()), digits),
            )
        })
        .into();
    if (0..2).all(|axis| texel[axis] >= 0.0 && texel[axis] < image.size[axis] as f64) {
        let index = texel[0] as usize + image.size[0] * texel[1] as usize;
        if let Some(value) = image.value.get(index) {
            let name = name_of_value(image, sources.difference, sources.scenario);
            fields.push((name, figure(f64::from(*value), 3)));
        }
        if let Some(phase) = image.phase.get(index) {
            fields.push(("arg ψ".to_owned(), turns(*phase)));
        }
    }
    Some(fields)
}

/// A phase in units of π.
#[must_use]
pub fn turns(phase: f32) -> String {
    format!("{}π", steady(f64::from(phase) / std::f64::consts::PI, 2))
}

/// The formula of a picture's values, or of those of the difference of two runs, with the unit.
#[must_use]
pub fn name_of_value(image: &crate::solver::FieldImage, difference: Option<Quantity>, scenario: &Scenario) -> String {
    let equation = scenario.model().equation();
    let Some(quantity) = difference else {
        let unit = image
            .quantity
            .map_or("", |quantity| view_panel::unit(equation, quantity));
        return view_panel::with_unit(symbol(image), unit);
    };
    let (sign, unit) = view_panel::sign_and_unit(sign_of_difference(quantity, equation));
    view_panel::with_unit(sign, unit)
}

/// The formula of what a picture shows.
#[must_use]
pub fn symbol(image: &crate::solver::FieldImage) -> &'static str {
    use crate::scene::scenario::Quantity as Q;
    match image.quantity {
        Some(Q::Phase) => "|ψ|",
        Some(Q::Real) => "Re ψ",
        Some(Q::Imaginary) => "Im ψ",
        Some(Q::Pressure) => "p",
        Some(Q::Energy) => "w",
        Some(Q::Peak) => "peak",
        Some(Q::Momentum) => "|ψ(k)|²",
        Some(Q::Rms) => "p_rms",
        Some(Q::Level) => "L",
        Some(Q::Velocity) => "|v|",
        Some(Q::Intensity) => "|I|",
        _ => "|ψ|²",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::vec2;

    /// In the space of momenta each line of zero is the axis of the other momentum; one that is out of view has no name.
    #[test]
    fn axes_of_momenta_are_named() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(640.0, 480.0));
        let sites = [64, 48];
        let names = |pan: egui::Vec2| {
            theme::texts(&theme::drawn(area, |ui| {
                let mut view = ViewState::default();
                view.camera.settle(area, sites);
                view.camera.pan(pan);
                let grid_rect = view.camera.rect(area, [0.0, 0.0], [64.0, 48.0]);
                zero_lines(ui.painter(), &view, (area, grid_rect), sites, ["kx", "ky"]);
            }))
        };
        let all = names(vec2(0.0, 0.0));
        let [(across, at), (up, below)] = &all[..] else {
            panic!("{all:?}")
        };
        assert_eq!([across.as_str(), up.as_str()], ["kx", "ky"]);
        assert!(at.right() > 600.0 && at.bottom() < 242.0 && below.left() > 320.0 && below.bottom() > 450.0);
        let panned = names(vec2(0.0, 400.0));
        assert!(panned.iter().all(|(name, _)| name == "ky"), "{panned:?}");
    }
}
