//! Where detectors, sources and the transducers of a mirror stand over a relief and in a box, as in exported pictures.

use super::marks::{free_place, name_in};
use super::theme::{self, over_picture};
use crate::engine::{Frame, MirrorFrame};
use crate::physics::Detector;
use crate::scene::Scenario;
use crate::space::marks::{self, Mark, Place};
use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};

/// Draws them in an area; names of detectors keep clear of what is `taken`. Of planes at the lengths `slices` what stands in them is drawn. `place` gives places on the screen for lengths
/// where these are seen.
pub fn show(
    painter: &Painter,
    (area, mut taken): (Rect, Vec<Rect>),
    (scenario, frame, slices): (&Scenario, &Frame, Option<[f64; 3]>),
    place: impl Fn([f64; 3]) -> Option<Place>,
) {
    let transducers = frame.mirror.as_deref().map_or(&[][..], MirrorFrame::marked);
    let playing = (scenario.sources(), frame.clock.time);
    for mark in marks::in_depth((playing, transducers, scenario.grid()), &place) {
        draw(painter, &mark);
    }
    let seen = |detector: &Detector| marks::of_detector(&detector.region, scenario.grid(), slices, &place);
    let all: Vec<(&Detector, Vec<Vec<Pos2>>)> = (scenario.detectors().iter())
        .map(|detector| (detector, seen(detector).into_iter().map(on_screen).collect()))
        .collect();
    let stroke = Stroke::new(1.0, theme::marks().accent.gamma_multiply(0.8));
    let halo = Stroke::new(3.0, theme::shade().gamma_multiply(0.6));
    for line in all.iter().flat_map(|(_, lines)| lines) {
        match line.as_slice() {
            [at] => painter.extend([halo, stroke].map(|stroke| Shape::circle_stroke(*at, 4.0, stroke))),
            line => {
                painter.line(line.to_vec(), halo);
                painter.extend(Shape::dashed_line(line, stroke, 6.0, 4.0));
            }
        }
    }
    // Names stand over the lines, at the highest place of each that is in view.
    for (detector, lines) in &all {
        let places = lines.iter().flatten().filter(|at| area.contains(**at));
        let Some(highest) = places.min_by(|one, other| one.y.total_cmp(&other.y)) else {
            continue;
        };
        let galley = name_in(painter, area, &detector.name);
        let corner = *highest + vec2(8.0, -18.0);
        let at = pos2(
            corner
                .x
                .min(area.right() - galley.size().x - 4.0)
                .max(area.left() + 4.0),
            corner.y.max(area.top() + 4.0),
        );
        let label = free_place(Rect::from_min_size(at, galley.size()), area, None, &taken);
        taken.push(label.expand2(vec2(8.0, 0.0)));
        painter.rect_filled(label.expand2(vec2(3.0, 0.0)), 2.0, theme::shade().gamma_multiply(0.6));
        painter.galley(label.min, galley, theme::marks().accent);
    }
}

fn draw(painter: &Painter, mark: &Mark) {
    let (color, halo) = (theme::marks().strong, theme::shade());
    match mark {
        Mark::Source(at) => {
            painter.circle_filled((*at).into(), 4.0, halo);
            painter.circle_filled((*at).into(), 2.5, color);
        }
        Mark::Line(lines) => {
            for stroke in [Stroke::new(4.0, halo), Stroke::new(2.0, color)] {
                for line in lines {
                    painter.line(on_screen(line.clone()), stroke);
                }
            }
        }
        Mark::Transducer(at) => {
            painter.circle_filled((*at).into(), 2.5, Color32::from_black_alpha(160));
            painter.circle_filled((*at).into(), 1.75, over_picture());
        }
    }
}

fn on_screen(line: Vec<Place>) -> Vec<Pos2> {
    line.into_iter().map(Pos2::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point, a box and a source stand where places are asked for, each detector with its name; where nothing is seen there is nothing.
    #[test]
    fn what_stands_in_a_plane_is_drawn_over_its_relief() {
        let text = "format = 1\n[grid]\nsize = [64, 64]\nspacing = 0.5\n[acoustic]\n[[source]]\nat = [10.0, 10.0]\nsignal = \"sine\"\nfrequency = 40.0\n\
                    [[detector]]\nname = \"ear\"\nat = [20.0, 20.0]\n\
                    [[detector]]\nname = \"half\"\nregion = { min = [5.0, 5.0], max = [25.0, 15.0] }\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(640.0, 640.0));
        let frame = Frame::default();
        let seen = |is_seen: bool| {
            let shapes = theme::drawn(area, |ui| {
                let place = |[x, y, _]: [f64; 3]| is_seen.then_some([20.0 * x as f32, 640.0 - 20.0 * y as f32]);
                show(ui.painter(), (area, Vec::new()), (&scenario, &frame, None), place);
            });
            let dots = shapes.iter().filter_map(|one| match &one.shape {
                Shape::Circle(dot) if dot.radius == 2.5 => Some(dot.center),
                _ => None,
            });
            let names: Vec<String> = theme::texts(&shapes).into_iter().map(|(name, _)| name).collect();
            (dots.collect::<Vec<Pos2>>(), names)
        };
        assert_eq!(
            seen(true),
            (vec![pos2(200.0, 440.0)], vec!["ear".to_owned(), "half".to_owned()])
        );
        assert_eq!(seen(false), (Vec::new(), Vec::new()));
    }
}
