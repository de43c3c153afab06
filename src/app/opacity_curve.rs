//! The curve of opacity against size, with handles that are dragged or moved with the arrow keys.

use super::theme;
use crate::colormap::{Colormap, Kind};
use crate::scene::scenario::Opacity;
use egui::{Color32, CursorIcon, Key, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};

const HEIGHT: f32 = 88.0;
const REACH: f32 = 7.0;

/// Shows the curve; moving a handle makes it one by hand. The ground is the colour map, as bright as it is opaque.
pub fn show(ui: &mut Ui, opacity: &mut Opacity, map: &Colormap) {
    let palette = theme::marks();
    let (outer, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let painter = ui.painter_at(outer);
    painter.rect_filled(outer, 4.0, theme::canvas());
    let plot = outer.shrink(REACH + 1.0);
    let mut points = opacity.points();
    let place = |point: [f64; 2]| {
        pos2(
            egui::lerp(plot.x_range(), point[0] as f32),
            egui::lerp(plot.bottom()..=plot.top(), point[1] as f32),
        )
    };
    ground(&painter, plot, &points, map);
    let line: Vec<Pos2> = points.iter().map(|point| place(*point)).collect();
    painter.add(egui::Shape::line(line, Stroke::new(1.5, theme::over_picture())));
    let mut moved = false;
    for n in 0..points.len() {
        let at = place(points[n]);
        let id = ui.scope_id().with(("opacity", n));
        let rect = Rect::from_center_size(at, vec2(2.0 * REACH, 2.0 * REACH));
        let handle = ui
            .interact(rect, id, Sense::click_and_drag())
            .on_hover_cursor(CursorIcon::Grab);
        let text = format!("Opacity handle {}", n + 1);
        handle.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, &text));
        let mut by = [0.0, 0.0];
        if handle.dragged() {
            let delta = handle.drag_delta();
            by = [f64::from(delta.x / plot.width()), f64::from(-delta.y / plot.height())];
        }
        if handle.has_focus() {
            let keys = arrows(ui, id);
            by = [by[0] + keys[0], by[1] + keys[1]];
        }
        if by != [0.0, 0.0] {
            let low = if n > 0 { points[n - 1][0] } else { 0.0 };
            let high = points.get(n + 1).map_or(1.0, |next| next[0]);
            points[n] = [
                (points[n][0] + by[0]).clamp(low, high),
                (points[n][1] + by[1]).clamp(0.0, 1.0),
            ];
            moved = true;
        }
        let active = handle.hovered() || handle.dragged() || handle.has_focus();
        let color = if active { palette.accent } else { theme::over_picture() };
        painter.circle_filled(place(points[n]), if active { 5.0 } else { 3.5 }, color);
        let [part, opaque] = points[n];
        handle.on_hover_text(format!(
            "{:.0} % opaque over a twentieth of the box, at {:.0} % of the range.\nDrag, or use the arrow keys.",
            100.0 * opaque,
            100.0 * part
        ));
    }
    if moved {
        for point in &mut points {
            // As many digits as can be told apart.
            *point = point.map(|number| (number * 1000.0).round() / 1000.0);
        }
        *opacity = Opacity::Points(points);
    }
}

/// What the arrow keys ask of the handle that has the focus, Shift for fine steps.
pub fn arrows(ui: &Ui, id: egui::Id) -> [f64; 2] {
    ui.memory_mut(|memory| {
        memory.set_focus_lock_filter(
            id,
            egui::EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..egui::EventFilter::default()
            },
        );
    });
    ui.input(|input| {
        let step = if input.modifiers.shift { 0.005 } else { 0.05 };
        let count = |key: Key| if input.key_pressed(key) { step } else { 0.0 };
        [
            count(Key::ArrowRight) - count(Key::ArrowLeft),
            count(Key::ArrowUp) - count(Key::ArrowDown),
        ]
    })
}

/// The colours of sizes from nothing to the largest, fading into the ground where they are clear.
fn ground(painter: &egui::Painter, plot: Rect, points: &[[f64; 2]], map: &Colormap) {
    const COLUMNS: u16 = 64;
    let mut mesh = egui::Mesh::default();
    for n in 0..=COLUMNS {
        let part = f64::from(n) / f64::from(COLUMNS);
        let entry = match map.kind {
            Kind::Diverging => 128 + (part * 127.0) as usize,
            Kind::Sequential | Kind::Cyclic => (part * 255.0) as usize,
        };
        let [r, g, b] = map.table()[entry];
        let opaque = crate::space::transfer::opacity(points, part) as f32;
        let color = Color32::from_rgb(r, g, b).gamma_multiply(0.85 * opaque.sqrt());
        let x = egui::lerp(plot.x_range(), part as f32);
        mesh.colored_vertex(pos2(x, plot.top()), color);
        mesh.colored_vertex(pos2(x, plot.bottom()), color);
        if n > 0 {
            let last = 2 * u32::from(n);
            mesh.add_triangle(last - 2, last - 1, last);
            mesh.add_triangle(last - 1, last, last + 1);
        }
    }
    painter.add(mesh);
}
