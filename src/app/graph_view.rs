//! The picture of a 1D field over x, filled: |ψ|² coloured by the phase, other values by the colour map; the medium on a
//! scale of its own.

use super::flow_view;
use super::gestures;
use super::marks;
use super::overlay::{self, Room};
use super::theme::{self, over_picture};
use super::theory_view;
use super::tools::{Ground, Tool};
use super::units::{Along, Units};
use super::view_panel::no_hues;
use super::view_state::ViewState;
use super::widgets::{axis_label, figure, round_above, round_below};
use crate::colormap::Levels;
use crate::engine::{Frame, hues_have_room};
use crate::render::{
    Curve, Placement,
    curve::{Drawing, Fill},
    medium::{MediumImage, MediumPart},
};
use crate::scene::scenario::Quantity;
use crate::scene::{Scenario, SceneFile};
use crate::space::medium::line_ends;
use eframe::egui_wgpu::RenderState;
use egui::{
    Align2, CursorIcon, FontId, Painter, PointerButton, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, pos2, vec2,
};

/// What the graph is drawn from.
pub struct Sources<'a> {
    /// The graphics device; without one only axes are drawn.
    pub render: Option<(&'a RenderState, &'a Curve)>,
    /// The run.
    pub frame: &'a Frame,
    /// Its scene.
    pub scenario: &'a Scenario,
    /// The draft that the mirror tool edits; `None` where nothing is edited.
    pub draft: Option<&'a SceneFile>,
    /// The potential, one row.
    pub medium: &'a MediumImage,
    /// Name of the value with its formula.
    pub title: &'a str,
    /// Whether the scene asks for the phase, and it is said where it cannot be seen.
    pub asks_for_phase: bool,
    /// The range of what the worker gives.
    pub levels: Levels,
    /// Units of lengths and times.
    pub units: Units,
    /// The quantity of two runs whose difference the graph is; `None` where it is the graph of a run.
    pub difference: Option<Quantity>,
}

impl Sources<'_> {
    /// What the graph shows, or shows the difference of.
    fn quantity(&self) -> Option<Quantity> {
        self.difference.or(self.frame.image.quantity)
    }

    /// Whether it stands over the momenta.
    fn is_of_momenta(&self) -> bool {
        self.quantity() == Some(Quantity::Momentum)
    }
}

/// Shows the graph in all the room there is.
pub fn show(ui: &mut Ui, view: &mut ViewState, sources: &Sources<'_>) -> Response {
    let (area, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    let sites = sources.scenario.grid().size()[0];
    let painter = ui.painter_at(area);
    let mut plot = plot_area(area);
    if view.show_theory {
        plot.min.y += theory_view::head_of_graph(&painter, Room::free(area), plot, sources.scenario.notes());
    }
    let placing = sources
        .draft
        .filter(|_| view.tools.tool == Tool::Mirror && !sources.is_of_momenta());
    navigate(ui, view, plot, sites, &response, placing.is_some());
    if let Some(file) = placing {
        let ground = Ground {
            file,
            spacing: sources.scenario.grid().spacing(),
            hopping: None,
            sites: [sites, 1],
            z: None,
            length: sources.units.length,
            image: None,
        };
        gestures::interact(ui, view, strip(plot), &ground, &response);
    }
    if !plot.is_positive() {
        return response;
    }
    let signed = sources.levels.low < 0.0;
    let shown = scale(sources.levels, sources.frame);
    // 8% of air above the highest value; silence has an axis all the same.
    let top = if shown.high > 0.0 {
        f64::from(shown.high) * 1.08
    } else {
        1.0
    };
    let bottom = if signed { -top } else { 0.0 };
    let title = axes(&painter, plot, view, sources, [bottom, top]);
    if !sources.is_of_momenta() {
        potential(&painter, plot, view, sources);
    }
    curve(ui, plot, view, sources, bottom, top);
    if !sources.is_of_momenta() {
        transducers(&painter, plot, view, sources.frame);
        let along = along(sources);
        let x = |length: f64| x_of(view, plot, along.site(length) + 0.5);
        if view.show_detectors {
            marks::detectors_of_line(&painter, plot, x, sources.scenario.detectors());
        }
        flow_view::marks(&painter, plot, x, sources.frame);
    }
    // What is predicted is the value, not the difference of two runs.
    if view.show_theory && sources.difference.is_none() {
        theory(&painter, plot, view, sources, [bottom, top]);
    }
    let clock = &sources.frame.clock;
    let room = Room::free(area).with_clock(&painter, clock.time, clock.time_step, sources.units.time);
    overlay::clock(&painter, room, clock.time, clock.time_step, sources.units.time);
    if view.show_theory {
        let notes = (sources.scenario.notes(), clock.time);
        view.note = theory_view::note_of_graph(&painter, room, (plot, title), notes);
    }
    if let Some(fields) = read_out(&painter, plot, view, sources, &response) {
        // Numbers and name of the axis stand below the plot.
        let corner = (room, Align2::RIGHT_TOP);
        view.tell(&painter, corner, fields, sources.draft.is_none());
    }
    (view.picture, view.area) = (area, area);
    view.graph = view.graph.union(plot);
    response.widget_info(|| super::status::picture_info("Graph of the field", sources.frame));
    response
}

/// What theory says of the graph, dashed.
fn theory(painter: &Painter, plot: Rect, view: &ViewState, sources: &Sources<'_>, [bottom, top]: [f64; 2]) {
    let Some(quantity) = sources.frame.image.quantity.map(Quantity::graphed) else {
        return;
    };
    let along = along(sources);
    let length = |point: Pos2| along.at(view.camera.site_at(strip(plot), point)[0] - 0.5);
    let ends = (
        length(plot.left_center()),
        length(plot.right_center()),
        plot.width() as usize,
    );
    let clip = painter.with_clip_rect(plot);
    let x = |length: f64| x_of(view, plot, along.site(length) + 0.5);
    if !sources.is_of_momenta() {
        let notes = (sources.scenario.notes(), sources.frame.clock.time);
        theory_view::interval(&clip, plot, x, notes);
    }
    for (_, points) in theory_view::along_cut(sources.scenario, (0, quantity, 0.0), sources.frame.clock.time, ends) {
        let place = |[x, value]: &[f64; 2]| {
            let y = egui::remap(*value, bottom..=top, f64::from(plot.bottom())..=f64::from(plot.top()));
            pos2(x_of(view, plot, along.site(*x) + 0.5), y as f32)
        };
        theory_view::dashed(&clip, &points.iter().map(place).collect::<Vec<_>>());
    }
}

/// Where a mirror's transducers stand: marks on the axis.
fn transducers(painter: &Painter, plot: Rect, view: &ViewState, frame: &Frame) {
    let Some(mirror) = frame.mirror.as_ref().filter(|_| view.show_detectors) else {
        return;
    };
    for site in mirror.marked() {
        let x = x_of(view, plot, *site as f64 + 0.5);
        if plot.x_range().contains(x) {
            painter.vline(
                x,
                plot.bottom() - 12.0..=plot.bottom(),
                Stroke::new(1.5, over_picture()),
            );
        }
    }
}

fn along(sources: &Sources<'_>) -> Along {
    Along::of(sources.scenario, sources.quantity(), 0, sources.units.length)
}

/// The range of what is drawn: |ψ|² where |ψ| and phase are shown.
fn scale(levels: Levels, frame: &Frame) -> Levels {
    if frame.image.quantity == Some(Quantity::Phase) {
        Levels {
            low: 0.0,
            high: levels.high * levels.high,
        }
    } else {
        levels
    }
}

fn navigate(ui: &Ui, view: &mut ViewState, plot: Rect, sites: usize, response: &Response, placing: bool) {
    // Along x only: the camera sees a strip as high as it likes.
    let strip = strip(plot);
    let all = [sites, 1];
    view.camera.settle_row(strip, sites);
    if let Some(pinch) = super::pinch::on(ui, plot) {
        let center = pos2(pinch.center.x, strip.center().y);
        view.camera.zoom(strip, all, center, pinch.zoom);
        view.camera.pan(vec2(pinch.shift.x, 0.0));
        view.camera.settle_row(strip, sites);
        return;
    }
    if [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle]
        .into_iter()
        .any(|button| response.dragged_by(button) && !(placing && button == PointerButton::Primary))
    {
        view.camera.pan(vec2(response.drag_delta().x, 0.0));
        ui.ctx().set_cursor_icon(CursorIcon::Grabbing);
    }
    if response.double_clicked() && !placing {
        view.camera.fit();
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll / 200.0).exp();
        view.camera.zoom(strip, all, pos2(pointer.x, strip.center().y), factor);
    }
    view.camera.settle_row(strip, sites);
}

/// The strip that the camera looks at: as wide as the plot.
#[must_use]
pub fn strip(plot: Rect) -> Rect {
    Rect::from_center_size(plot.center(), vec2(plot.width(), 1.0))
}

/// The plot inside the picture's area.
#[must_use]
pub fn plot_area(area: Rect) -> Rect {
    Rect::from_min_max(area.min + vec2(72.0, 64.0), area.max - vec2(72.0, 56.0))
}

fn x_of(view: &ViewState, plot: Rect, site: f64) -> f32 {
    view.camera.point_at(strip(plot), [site, 0.5]).x
}

/// Lines, numbers and names of both axes; where the title of the upright one stands.
fn axes(painter: &Painter, plot: Rect, view: &ViewState, sources: &Sources<'_>, [bottom, top]: [f64; 2]) -> Rect {
    let line = Stroke::new(1.0, over_picture().gamma_multiply(0.14));
    let font = FontId::proportional(11.5);
    let text = over_picture().gamma_multiply(0.75);
    let along = along(sources);
    let per = along.unit.per;
    // Site n is drawn from n to n + 1.
    let at = |point: Pos2| along.at(view.camera.site_at(strip(plot), point)[0] - 0.5) * per;
    let (left, right) = (at(plot.left_center()), at(plot.right_center()));
    let step = x_step([left, right], plot.width());
    let mut tick = (left / step).ceil() * step;
    while tick <= right {
        let x = x_of(view, plot, along.site(tick / per) + 0.5);
        if x >= plot.left() && x <= plot.right() {
            painter.vline(x, plot.y_range(), line);
            let label = axis_label(tick, step, left.abs().max(right.abs()));
            painter.text(
                pos2(x, plot.bottom() + 8.0),
                Align2::CENTER_TOP,
                label,
                font.clone(),
                text,
            );
        }
        tick += step;
    }
    painter.text(
        plot.center_bottom() + vec2(0.0, 28.0),
        Align2::CENTER_TOP,
        along.title(),
        FontId::proportional(12.5),
        text,
    );
    let step = y_step(top - bottom, plot.height());
    let mut tick = (bottom / step).ceil() * step;
    while tick <= top {
        let y = egui::remap(tick, bottom..=top, f64::from(plot.bottom())..=f64::from(plot.top())) as f32;
        painter.hline(plot.x_range(), y, line);
        let label = axis_label(tick, step, top.abs().max(bottom.abs()));
        painter.text(
            pos2(plot.left() - 8.0, y),
            Align2::RIGHT_CENTER,
            label,
            font.clone(),
            text,
        );
        tick += step;
    }
    painter.text(
        plot.left_top() - vec2(0.0, 4.0),
        Align2::LEFT_BOTTOM,
        match fill(painter.ctx(), view, sources) {
            Fill::Phases => BY_PHASE.to_owned(),
            // What was asked for cannot be seen.
            Fill::Plain if sources.asks_for_phase => format!("{}; {}", sources.title, no_hues(sources.scenario, false)),
            Fill::Plain | Fill::Values => sources.title.to_owned(),
        },
        FontId::proportional(12.5),
        text,
    )
}

/// From mark to mark upwards: four of them or more, as far as there is room for their numbers.
fn y_step(span: f64, height: f32) -> f64 {
    /// Height of a number, points.
    const NUMBER: f64 = 15.0;
    let usual = round_below((span / 4.0).max(1e-30));
    usual.max(round_above(span * NUMBER / f64::from(height.max(1.0))))
}

/// From mark to mark along x: six of them or more, as far as there is room for their numbers.
fn x_step([left, right]: [f64; 2], width: f32) -> f64 {
    /// Points that a figure takes, and the gap between two numbers.
    const FIGURE: f64 = 7.0;
    const GAP: f64 = 14.0;
    let span = right - left;
    let usual = round_below(span / 6.0).max(f64::MIN_POSITIVE);
    let figures = |value: f64| axis_label(value, usual, left.abs().max(right.abs())).chars().count();
    let number = FIGURE * figures(left).max(figures(right)) as f64 + GAP;
    usual.max(round_above(span * number / f64::from(width.max(1.0))))
}

fn potential(painter: &Painter, plot: Rect, view: &ViewState, sources: &Sources<'_>) {
    let medium = sources.medium;
    if !view.show_medium || medium.is_empty() || medium.size[1] != 1 {
        return;
    }
    let per_texel = medium.sites[0] as f64 / medium.size[0] as f64;
    let ends = |n: usize| [n, n + 1].map(|n| x_of(view, plot, n as f64 * per_texel));
    let clip = painter.with_clip_rect(plot);
    for (n, _) in medium.texels.iter().enumerate().filter(|(_, [_, wall])| *wall > 0.5) {
        let [x0, x1] = ends(n);
        let rect = Rect::from_x_y_ranges(x0..=x1.max(x0 + 1.0), plot.y_range());
        clip.rect_filled(rect, 0.0, theme::marks().weak.gamma_multiply(0.6));
    }
    let seen = medium.parts.iter().filter(|part| part.limit > 0.0);
    // Words at the right, each below those before it where they would stand over each other.
    let mut taken: Vec<Rect> = Vec::new();
    for (place, part) in seen.enumerate() {
        level_line((painter, &clip, plot), part, (place > 0, &ends), &mut taken);
    }
}

/// A quantity of the medium as a line over its own scale, the second one dashed, with its name and its ends at the right.
fn level_line(
    (painter, clip, plot): (&Painter, &Painter, Rect),
    part: &MediumPart,
    (dashed, ends): (bool, &dyn Fn(usize) -> [f32; 2]),
    taken: &mut Vec<Rect>,
) {
    let [low, high] = line_ends(&part.levels);
    let span = (high - low).max(1e-6);
    let color = over_picture().gamma_multiply(0.7);
    // The medium takes the lower 60% of the plot, and hides the top of the wave nowhere but where slopes leave the scale.
    let y_of = |level: f32| plot.bottom() - (level - low) / span * plot.height() * 0.6;
    let mut points: Vec<Pos2> = Vec::with_capacity(2 * part.levels.len());
    for (n, level) in part.levels.iter().enumerate() {
        let [x0, x1] = ends(n);
        // What leaves the scale goes on out of sight, but not for ever: a dashed line is made of its dashes.
        let y = y_of(*level).max(plot.top() - 4.0 * plot.height());
        if x1 - x0 > 2.0 {
            points.push(pos2(x0, y));
            points.push(pos2(x1, y));
        } else {
            points.push(pos2(f32::midpoint(x0, x1), y));
        }
    }
    let stroke = Stroke::new(1.5, color);
    if dashed {
        clip.extend(Shape::dashed_line(&points, stroke, 6.0, 4.0));
    } else {
        clip.add(Shape::line(points, stroke));
    }
    let mut words = |at: Pos2, align: Align2, text: String, size: f32| {
        // In lines that the margin is wide enough for.
        let room = (painter.clip_rect().right() - at.x - 2.0).max(24.0);
        let galley = painter.layout(text, FontId::proportional(size), color, room);
        let mut rect = align.anchor_size(at, galley.size());
        while let Some(other) = taken.iter().find(|other| other.intersects(rect)) {
            rect = rect.translate(vec2(0.0, other.bottom() + 0.5 - rect.top()));
        }
        taken.push(rect);
        painter.galley(rect.min, galley, color);
    };
    let right = plot.right() + 8.0;
    let title = if dashed {
        format!("dashed: {}", part.title)
    } else {
        part.title.to_owned()
    };
    words(pos2(right, y_of(high) - 12.0), Align2::LEFT_BOTTOM, title, 12.5);
    for level in [high, low] {
        let value = figure(part.base + f64::from(level) * part.limit, 3);
        words(
            pos2(right, y_of(level)),
            Align2::LEFT_CENTER,
            format!("{value}{}", part.unit),
            11.5,
        );
    }
}

/// The title of a graph with hues.
const BY_PHASE: &str = "|ψ|², coloured by phase";

/// Hues where a wavelength has room for them.
fn fill(ctx: &egui::Context, view: &ViewState, sources: &Sources<'_>) -> Fill {
    if sources.frame.image.quantity != Some(Quantity::Phase) {
        Fill::Values
    } else if hues_have_room(
        sources.scenario,
        f64::from(view.camera.scale() * ctx.pixels_per_point()),
    ) {
        Fill::Phases
    } else {
        Fill::Plain
    }
}

fn curve(ui: &Ui, plot: Rect, view: &ViewState, sources: &Sources<'_>, bottom: f64, top: f64) {
    let Some((render, curve)) = sources.render else {
        return;
    };
    let image = &sources.frame.image;
    if image.value.is_empty() {
        return;
    }
    let scale = ui.ctx().pixels_per_point();
    let first = image.origin[0] as f64;
    let last = first + (image.size[0] * image.reduction) as f64;
    let rect = Rect::from_x_y_ranges(x_of(view, plot, first)..=x_of(view, plot, last), plot.y_range());
    let placement = Placement::new(rect, [image.size[0] as f32, 1.0], scale);
    let zero = egui::remap(0.0, bottom..=top, f64::from(plot.bottom())..=f64::from(plot.top()));
    let height = (zero - f64::from(plot.top())) * f64::from(scale);
    let drawing = Drawing {
        base: zero as f32 * scale,
        height: height as f32,
        low: 0.0,
        high: top as f32,
        fill: fill(ui.ctx(), view, sources),
        zero: if bottom < 0.0 { 0.5 } else { 0.0 },
        line: if theme::is_paper() {
            [0.09, 0.1, 0.12, 0.85]
        } else {
            [0.93, 0.95, 0.97, 0.9]
        },
    };
    ui.painter().extend(
        curve
            .callback(render, plot, placement, drawing)
            .map(egui::Shape::Callback),
    );
}

fn read_out(
    painter: &Painter,
    plot: Rect,
    view: &ViewState,
    sources: &Sources<'_>,
    response: &Response,
) -> Option<Vec<(String, String)>> {
    let pointer = response.hover_pos().filter(|pointer| plot.contains(*pointer))?;
    let site = view.camera.site_at(strip(plot), pointer)[0].floor();
    let image = &sources.frame.image;
    let texel = (site - image.origin[0] as f64) / image.reduction.max(1) as f64;
    if site < 0.0 || texel < 0.0 {
        return None;
    }
    let value = image.value.get(texel as usize)?;
    let phased = image.quantity == Some(Quantity::Phase);
    let value = if phased { value * value } else { *value };
    let name = if phased {
        "|ψ|²".to_owned()
    } else {
        super::field_view::name_of_value(image, sources.difference, sources.scenario)
    };
    let along = along(sources);
    let digits = along.digits(sources.scenario.grid().size()[0]);
    let mut fields = vec![
        (along.name.to_owned(), along.unit.show(along.at(site), digits)),
        (name, figure(f64::from(value), 3)),
    ];
    if let Some(phase) = image.phase.get(texel as usize) {
        fields.push(("arg ψ".to_owned(), super::field_view::turns(*phase)));
    }
    painter.vline(
        pointer.x,
        plot.y_range(),
        Stroke::new(1.0, over_picture().gamma_multiply(0.3)),
    );
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::{x_step, y_step};

    /// A graph beside plots in the smallest window is 45 points high.
    #[test]
    fn numbers_of_a_low_graph_have_room() {
        for (height, step) in [(400.0, 0.2), (120.0, 0.2), (45.0, 0.5), (20.0, 1.0)] {
            assert!(
                (y_step(1.08, height) - step).abs() < 1e-12,
                "{height}: {}",
                y_step(1.08, height)
            );
        }
    }

    /// In half of a window there are fewer numbers, not numbers on each other.
    #[test]
    fn numbers_of_an_axis_have_room() {
        let steps = [871.0, 470.0, 198.0].map(|width| x_step([500.0, 1400.0], width).round());
        assert_eq!(steps, [100.0, 100.0, 200.0]);
        for (ends, width) in [
            ([0.0, 262_144.0], 300.0),
            ([131_030.0, 131_120.0], 415.0),
            ([-35.0, 35.0], 120.0),
        ] {
            let apart = x_step(ends, width) / (ends[1] - ends[0]) * f64::from(width);
            // Two figures and the gap at least, five figures in thousands.
            let least = if ends[1] > 1e3 { 50.0 } else { 28.0 };
            assert!(apart >= least, "{ends:?}: {apart} points from mark to mark");
        }
    }
}
