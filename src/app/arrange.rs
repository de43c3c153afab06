//! Tools that take things by the hand or measure: handles on the parts of a scene, the ruler, regions that are recorded.

use super::camera::Camera;
use super::handles::{Handle, Part, handles, name};
use super::theme::{self, over_picture};
use super::tools::{Ground, Tool, Tools, Work};
use super::wavelength;
use super::widgets::figure;
use egui::{Align2, Color32, FontId, Key, Modifiers, Painter, PointerButton, Pos2, Rect, Response, Stroke, Ui, vec2};

/// How near, in points, a handle is taken.
const REACH: f32 = 11.0;

/// What is held and chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hold {
    /// The handle that is dragged.
    held: Option<(Part, usize)>,
    /// The part that keys move.
    pub chosen: Option<Part>,
    /// The two ends of the ruler or of a region under way, in sites, and the tool that drew them.
    pub band: Option<(Tool, [[f64; 2]; 2])>,
}

fn on_screen(camera: &Camera, area: Rect, ground: &Ground<'_>, at: [f64; 2]) -> Pos2 {
    camera.point_at(area, at.map(|length| length / ground.spacing + 0.5))
}

/// Lets one of these tools work on the picture.
pub fn interact(ui: &Ui, tools: &mut Tools, camera: &Camera, area: Rect, ground: &Ground<'_>, response: &Response) {
    if tools.tool == Tool::Arrange {
        arrange(ui, tools, camera, area, ground, response);
    } else {
        measure(ui, tools, camera, area, ground, response);
    }
}

fn arrange(ui: &Ui, tools: &mut Tools, camera: &Camera, area: Rect, ground: &Ground<'_>, response: &Response) {
    let all = handles(ground.file);
    let near = |pos: Pos2| {
        all.iter()
            .map(|handle| (on_screen(camera, area, ground, handle.at).distance(pos), handle))
            .filter(|(distance, _)| *distance <= REACH)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, handle)| *handle)
    };
    if let Some(pos) = response.hover_pos()
        && near(pos).is_some()
    {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grab);
    }
    let pointer = response.interact_pointer_pos();
    if response.drag_started_by(PointerButton::Primary) || response.clicked() {
        let origin = ui.input(|input| input.pointer.press_origin()).or(pointer);
        let taken = origin.and_then(near);
        tools.hold.chosen = taken.map(|handle| handle.part);
        tools.hold.held = taken.map(|handle| (handle.part, handle.knob));
    }
    let of = |(part, knob)| all.iter().find(|handle| handle.part == part && handle.knob == knob);
    if response.dragged_by(PointerButton::Primary)
        && let (Some(pos), Some(handle)) = (pointer, tools.hold.held.and_then(of))
    {
        let free = ui.input(|input| input.modifiers.alt);
        let site = camera.site_at(area, pos).map(|site| site - 0.5);
        // Whole sites, but half ones where a part has its middle between two.
        let to = site.map(|site| if free { site } else { (2.0 * site).round() / 2.0 } * ground.spacing);
        if to != handle.at {
            tools.work.push(Work::Bring(*handle, to));
        }
    } else {
        tools.hold.held = None;
    }
    keys(ui, tools, ground);
}

/// Nothing is in the hand any more: a region that was being drawn is none, a measured length stays.
pub(super) fn let_go(tools: &mut Tools) {
    tools.hold.held = None;
    if matches!(tools.hold.band, Some((Tool::Region, _))) {
        tools.hold.band = None;
    }
}

/// Arrow keys move the chosen part by a site, with Shift by a tenth; Delete takes it away.
fn keys(ui: &Ui, tools: &mut Tools, ground: &Ground<'_>) {
    let Some(part) = tools.hold.chosen else { return };
    if ui.memory(|memory| memory.focused().is_some()) {
        return;
    }
    let (by, gone) = ui.input_mut(|input| {
        let mut by = [0.0, 0.0];
        for (modifiers, step) in [(Modifiers::SHIFT, 0.1), (Modifiers::NONE, 1.0)] {
            for (key, axis, sign) in [
                (Key::ArrowLeft, 0, -1.0),
                (Key::ArrowRight, 0, 1.0),
                (Key::ArrowDown, 1, -1.0),
                (Key::ArrowUp, 1, 1.0),
            ] {
                let count = input.count_and_consume_key(modifiers, key);
                by[axis] += sign * step * count as f64 * ground.spacing;
            }
        }
        (by, input.consume_key(Modifiers::NONE, Key::Delete))
    });
    if by != [0.0; 2] {
        tools.work.push(Work::Shift(part, by));
    }
    if gone {
        tools.work.push(Work::Remove(part));
        tools.hold.chosen = None;
    }
}

fn measure(ui: &Ui, tools: &mut Tools, camera: &Camera, area: Rect, ground: &Ground<'_>, response: &Response) {
    let pressed = response.is_pointer_button_down_on() && ui.input(|input| input.pointer.primary_down());
    let origin = ui.input(|input| input.pointer.press_origin());
    match (pressed, origin, response.interact_pointer_pos()) {
        (true, Some(origin), Some(pos)) => {
            let within = |site: [f64; 2]| [0, 1].map(|axis| site[axis].clamp(0.0, ground.sites[axis] as f64));
            let ends = [origin, pos].map(|pos| within(camera.site_at(area, pos)));
            tools.hold.band = Some((tools.tool, ends));
        }
        // Let go.
        (false, ..) if tools.tool == Tool::Region => {
            // What the ruler measured is no region.
            if let Some((Tool::Region, [a, b])) = tools.hold.band.take()
                && (a[0] - b[0]).abs() >= 1.0
                && (a[1] - b[1]).abs() >= 1.0
            {
                let corner = |pick: fn(f64, f64) -> f64| {
                    [0, 1].map(|axis| (pick(a[axis], b[axis]) - 0.5).round().max(0.0) * ground.spacing)
                };
                tools.work.push(Work::Region(corner(f64::min), corner(f64::max)));
            }
        }
        _ => {}
    }
}

/// What these tools show over the picture.
pub fn draw(painter: &Painter, camera: &Camera, tools: &Tools, area: Rect, ground: &Ground<'_>) {
    match (tools.tool, tools.hold.band) {
        (Tool::Arrange, _) => draw_handles(painter, camera, tools, area, ground),
        (Tool::Ruler, Some((Tool::Ruler, ends))) => ruler(painter, camera, area, ground, ends),
        (Tool::Region, Some((Tool::Region, [a, b]))) => {
            let rect = Rect::from_two_pos(camera.point_at(area, a), camera.point_at(area, b));
            painter.rect_stroke(
                rect,
                0.0,
                Stroke::new(1.5, theme::marks().accent),
                egui::StrokeKind::Middle,
            );
        }
        _ => {}
    }
}

fn draw_handles(painter: &Painter, camera: &Camera, tools: &Tools, area: Rect, ground: &Ground<'_>) {
    for Handle { part, knob, at } in handles(ground.file) {
        let point = on_screen(camera, area, ground, at);
        if !area.contains(point) {
            continue;
        }
        let chosen = tools.hold.chosen == Some(part);
        let color = if chosen { theme::marks().accent } else { over_picture() };
        let ground_color = theme::shade();
        if knob == 0 {
            painter.circle(
                point,
                6.0,
                ground_color,
                Stroke::new(if chosen { 2.5 } else { 1.5 }, color),
            );
            if chosen {
                plate(painter, area, point, &name(ground.file, part), color);
            }
        } else {
            let square = Rect::from_center_size(point, vec2(8.0, 8.0));
            painter.rect(
                square,
                1.0,
                ground_color,
                Stroke::new(1.5, color),
                egui::StrokeKind::Middle,
            );
        }
    }
}

fn ruler(painter: &Painter, camera: &Camera, area: Rect, ground: &Ground<'_>, [a, b]: [[f64; 2]; 2]) {
    let (from, to) = (camera.point_at(area, a), camera.point_at(area, b));
    let stroke = Stroke::new(1.5, over_picture());
    painter.line_segment([from, to], stroke);
    let across = (to - from).normalized().rot90() * 5.0;
    for end in [from, to] {
        painter.line_segment([end - across, end + across], stroke);
    }
    let [dx, dy] = [0, 1].map(|axis| (b[axis] - a[axis]) * ground.spacing);
    let unit = ground.length;
    let wave = (ground.image).and_then(|image| wavelength::along(image, [a, b]));
    let wave = wave.map_or(String::new(), |sites| {
        format!("   λ = {}", unit.show(sites * ground.spacing, 3))
    });
    let text = format!(
        "{}   Δx = {}   Δy = {}   {}°{wave}",
        unit.show(dx.hypot(dy), 4),
        unit.show(dx, 3),
        unit.show(dy, 3),
        figure(dy.atan2(dx).to_degrees(), 3)
    );
    plate(painter, area, to, &text, over_picture());
}

/// Words beside a point, within the picture.
fn plate(painter: &Painter, area: Rect, at: Pos2, text: &str, color: Color32) {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(12.5), color);
    let rect = Align2::LEFT_BOTTOM.anchor_size(at + vec2(10.0, -10.0), galley.size() + vec2(12.0, 6.0));
    let rect = rect.translate(vec2(
        (area.right() - 8.0 - rect.right()).min(0.0),
        (area.top() + 8.0 - rect.top()).max(0.0),
    ));
    painter.rect_filled(rect, 4.0, theme::shade());
    painter.galley(rect.min + vec2(6.0, 3.0), galley, color);
}
