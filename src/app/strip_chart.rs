//! A small chart beside each probe in the picture: what it recorded lately.

use super::camera::Camera;
use super::history::History;
use super::marks;
use super::theme::{self, over_picture};
use super::widgets::figure;
use crate::physics::{Detector, Region};
use crate::scene::Scenario;
use crate::solver::Clock;
use egui::text::LayoutJob;
use egui::{FontId, Painter, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};

/// Points of a curve.
const RECORDS: usize = 240;

/// A chart's size, and the line of its value above the curve.
const SIZE: egui::Vec2 = vec2(128.0, 48.0);
const HEAD: f32 = 14.0;

/// Most charts at a time.
const MOST: usize = 6;

/// Whether any of the detectors is a probe.
#[must_use]
pub fn has_probes(detectors: &[Detector]) -> bool {
    detectors
        .iter()
        .any(|detector| matches!(detector.region, Region::Point(_)))
}

/// Draws the charts over `area`; `spacing` from site to site. Of a `plane` of 3D, those of the probes in it.
pub fn show(
    ui: &Ui,
    painter: &Painter,
    ((area, camera, spacing), plane): ((Rect, &Camera, f64), Option<f64>),
    (scenario, history, clock): (&Scenario, &History, &Clock),
) {
    let (equation, rank) = (scenario.model().equation(), scenario.grid().rank());
    let mut taken: Vec<Rect> = Vec::new();
    for (n, detector) in scenario.detectors().iter().enumerate() {
        let Region::Point(at) = &detector.region else { continue };
        if plane.is_some_and(|plane| !marks::looks_at(&detector.region, plane, spacing)) {
            continue;
        }
        let records = history.recent(n, clock, RECORDS);
        let Some([_, last]) = records.last() else { continue };
        // A length to a place in sites: site n stands in the middle of n..n+1.
        let point = camera.point_at(area, [at[0] / spacing + 0.5, at[1] / spacing + 0.5]);
        if !area.contains(point) || taken.len() == MOST {
            continue;
        }
        let rect = place(area, point, &taken);
        taken.push(rect);
        painter.rect_filled(rect, 4.0, theme::shade());
        let value = match detector.unit(equation, rank) {
            "" => figure(*last, 3),
            unit => format!("{} {unit}", figure(*last, 3)),
        };
        head(painter, rect, &detector.name, &value);
        curve(painter, rect, &records);
        let id = ui.scope_id().with(("strip chart", n));
        let response = ui.interact(rect, id, Sense::hover());
        let words = format!("Chart of {}: {value}", detector.name);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &words));
    }
}

/// The name of a probe at the left, cut short where the value at the right leaves no room for it.
fn head(painter: &Painter, rect: Rect, name: &str, value: &str) {
    const GAP: f32 = 6.0;
    let head = rect.shrink2(vec2(6.0, 2.0));
    let font = FontId::proportional(11.0);
    let value = painter.layout_no_wrap(value.to_owned(), font.clone(), over_picture());
    let at = pos2(head.right() - value.size().x, head.top());
    let accent = theme::marks().accent;
    let room = (at.x - GAP - head.left()).max(0.0);
    let mut job = LayoutJob::simple_singleline(name.to_owned(), font, accent);
    job.wrap = egui::text::TextWrapping::truncate_at_width(room);
    painter.galley(head.min, painter.layout_job(job), accent);
    painter.galley(at, value, over_picture());
}

/// Beside the probe and within the area, where no other chart stands.
fn place(area: Rect, point: Pos2, taken: &[Rect]) -> Rect {
    let room = area.shrink(8.0);
    let left = if point.x + 12.0 + SIZE.x > room.right() {
        point.x - 12.0 - SIZE.x
    } else {
        point.x + 12.0
    };
    let top = (point.y + 8.0).clamp(room.top(), (room.bottom() - SIZE.y).max(room.top()));
    let mut rect = Rect::from_min_size(pos2(left, top), SIZE);
    while let Some(other) = taken.iter().find(|other| other.intersects(rect)) {
        rect = rect.translate(vec2(0.0, other.bottom() + 2.0 - rect.top()));
    }
    rect
}

/// The records from left to right over the whole of their range; zero is a faint line, where it is within.
fn curve(painter: &Painter, rect: Rect, records: &[[f64; 2]]) {
    let plot = Rect::from_min_max(rect.min + vec2(6.0, HEAD + 2.0), rect.max - vec2(6.0, 4.0));
    let values = || records.iter().map(|record| record[1]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let span = high - low;
    if !span.is_finite() {
        return;
    }
    let height = |value: f64| {
        let part = if span > 0.0 { (value - low) / span } else { 0.5 };
        egui::lerp(plot.bottom()..=plot.top(), part as f32)
    };
    if low < 0.0 && high > 0.0 {
        let faint = Stroke::new(1.0, over_picture().gamma_multiply(0.25));
        painter.hline(plot.x_range(), height(0.0), faint);
    }
    // The latest record stands at the right end.
    let points = records
        .iter()
        .map(|[age, value]| pos2(plot.right() - plot.width() * *age as f32, height(*value)))
        .collect();
    painter.add(egui::Shape::line(points, Stroke::new(1.5, theme::marks().accent)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_do_not_touch() {
        let rect = Rect::from_min_size(pos2(10.0, 10.0), SIZE);
        for (name, elided) in [("ear", false), ("on the shore", true)] {
            let shapes = theme::drawn(rect, |ui| head(ui.painter(), rect, name, "−0.00298 Pa"));
            let texts: Vec<_> = (shapes.iter())
                .filter_map(|shape| match &shape.shape {
                    egui::Shape::Text(text) => Some(text),
                    _ => None,
                })
                .collect();
            let [name, value] = texts[..] else {
                panic!("{}", texts.len())
            };
            assert_eq!(name.galley.elided, elided, "{}", name.galley.text());
            let (name, value) = (name.visual_bounding_rect(), value.visual_bounding_rect());
            assert!(name.right() + 2.0 < value.left(), "{name:?} {value:?}");
            assert!(rect.contains_rect(name.union(value)), "{name:?} {value:?}");
        }
    }

    #[test]
    fn charts_stand_within_the_picture_and_not_on_each_other() {
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let mut taken = Vec::new();
        for point in [
            pos2(20.0, 20.0),
            pos2(24.0, 22.0),
            pos2(390.0, 150.0),
            pos2(200.0, 298.0),
        ] {
            let rect = place(area, point, &taken);
            assert!(taken.iter().all(|other: &Rect| !other.intersects(rect)), "{rect:?}");
            assert!(area.contains_rect(rect), "{rect:?}");
            taken.push(rect);
        }
    }
}
