//! What flows over the picture of a plane, and Bohm's trajectories.

use super::camera::Camera;
use super::theme::{self, over_picture};
use crate::engine::Frame;
use crate::export::flow::PATHS;
use crate::scene::scenario::Flow;
use crate::space::flow::Stroke as FlowStroke;
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, Vec2};

/// Points of the screen from arrow to arrow, and from line to line.
const APART: f32 = 26.0;

/// The colour of the trajectories of a list.
#[must_use]
pub fn color(group: usize) -> Color32 {
    let [r, g, b] = PATHS[group % PATHS.len()];
    Color32::from_rgb(r, g, b)
}

/// Arrows or streamlines in what is seen of a plane.
pub fn flow(painter: &Painter, area: Rect, camera: &Camera, frame: &Frame, kind: Flow) {
    let Some(map) = &frame.flow else { return };
    let scale = f64::from(camera.scale()).max(1e-9);
    let step = f64::from(APART) / scale;
    let corners = [area.left_bottom(), area.right_top()].map(|corner| camera.site_at(area, corner));
    let strokes = match kind {
        Flow::None => return,
        Flow::Arrows => map.arrows(corners, step),
        Flow::Streamlines => map.streamlines(corners, 0.8 * step),
    };
    let place = |at: [f64; 2]| camera.point_at(area, at);
    for stroke in [Stroke::new(3.0, theme::shade()), Stroke::new(1.3, over_picture())] {
        for line in &strokes {
            draw(painter, line, place, stroke);
        }
    }
}

fn draw(painter: &Painter, line: &FlowStroke, place: impl Fn([f64; 2]) -> Pos2, stroke: Stroke) {
    let points: Vec<Pos2> = line.points.iter().map(|at| place(*at)).collect();
    let own = match points.as_slice() {
        [from, to] => from.distance(*to),
        _ => APART,
    };
    painter.add(Shape::line(points, stroke));
    let (at, along) = line.head;
    let tip = place(at);
    // On the screen y points down.
    let along = Vec2::new(along[0] as f32, -along[1] as f32);
    let reach = (0.45 * own).min(6.0);
    for side in [along.rot90(), -along.rot90()] {
        painter.line_segment([tip - reach * (0.85 * along + 0.5 * side), tip], stroke);
    }
}

/// Trajectories over a plane; `spacing` from site to site.
pub fn trajectories(painter: &Painter, area: Rect, camera: &Camera, spacing: f64, frame: &Frame) {
    // A length to a place in sites: site n stands in the middle of n..n+1.
    let place = |[x, y]: &[f64; 2]| camera.point_at(area, [x / spacing + 0.5, y / spacing + 0.5]);
    for path in frame.paths.iter() {
        let points: Vec<Pos2> = path.points.iter().map(place).collect();
        for stroke in [Stroke::new(3.0, theme::shade()), Stroke::new(1.6, color(path.group))] {
            painter.add(Shape::line(points.clone(), stroke));
        }
    }
    for path in frame.paths.iter() {
        if let Some(last) = path.points.last().map(place) {
            painter.circle(last, 4.0, color(path.group), Stroke::new(1.0, theme::shade()));
        }
    }
}

/// Trajectories of a line: where each stands, on the axis; `x_of` gives points of the screen for lengths.
pub fn marks(painter: &Painter, plot: Rect, x_of: impl Fn(f64) -> f32, frame: &Frame) {
    for path in frame.paths.iter() {
        let Some(x) = path.points.last().map(|[x, _]| x_of(*x)) else {
            continue;
        };
        if plot.x_range().contains(x) {
            let at = egui::pos2(x, plot.bottom() - 5.0);
            painter.circle(at, 4.0, color(path.group), Stroke::new(1.0, theme::shade()));
        }
    }
}
