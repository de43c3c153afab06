//! Where detectors and sources stand, over the picture.

use super::camera::Camera;
use super::theme;
use crate::export::marks::is_in;
use crate::export::overlay::shortened;
use crate::grid::Grid;
use crate::physics::source::Place;
use crate::physics::{Detector, Region, Source};
use egui::{FontId, Galley, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};
use std::sync::Arc;

const TEXT: f32 = 12.0;

/// Which part of the picture's width a name may take; a longer one is cut, and stands in the panel as a whole.
const WIDEST: f32 = 0.4;

/// A place in lengths as one in sites: site n stands in the middle of n..n+1.
fn in_sites(at: [f64; 3], spacing: f64) -> [f64; 2] {
    [at[0] / spacing + 0.5, at[1] / spacing + 0.5]
}

/// Whether a detector looks at sites of a plane of 3D, at a length along z; `spacing` from plane to plane.
pub fn looks_at(region: &Region, plane: f64, spacing: f64) -> bool {
    match region {
        Region::Everywhere => true,
        Region::Point(at) => is_in(plane, [at[2]; 2], spacing),
        Region::Line { from, to } => is_in(plane, [from[2], to[2]], spacing),
        // A box has the sites between its corners alone.
        Region::Box { min, max } => is_in(plane, [min[2], max[2]], 1e-6 * spacing),
    }
}

/// Where sources stand at time t: points as dots, lines as lines. Those that move are marked where they are, and those that cross the grid's end where they come in again. Of a plane of 3D, those in it.
pub fn sources(
    painter: &Painter,
    (area, plane): (Rect, Option<f64>),
    camera: &Camera,
    grid: &Grid,
    (sources, t): (&[Source], f64),
) {
    let a = grid.spacing();
    let color = theme::marks().strong;
    let halo = theme::shade();
    for source in sources {
        let moved = |at: [f64; 3]| source.moved(at, t, grid);
        let is_seen = |one: [f64; 3], other: [f64; 3]| plane.is_none_or(|plane| is_in(plane, [one[2], other[2]], a));
        let on_screen = |now: [f64; 3]| camera.point_at(area, in_sites(now, a));
        match &source.place {
            Place::Points(elements) => {
                let all = elements.iter().map(|element| moved(element.at));
                for point in all.filter(|at| is_seen(*at, *at)).map(on_screen) {
                    painter.circle_filled(point, 4.0, halo);
                    painter.circle_filled(point, 2.5, color);
                }
            }
            Place::Line { from, to } => {
                let ends = [moved(*from), moved(*to)];
                if is_seen(ends[0], ends[1]) {
                    let ends = ends.map(on_screen);
                    painter.line_segment(ends, Stroke::new(4.0, halo));
                    painter.line_segment(ends, Stroke::new(2.0, color));
                }
            }
            Place::Disk { .. } => {}
        }
    }
}

/// What names keep clear of.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Where the colours are explained.
    pub legend: Option<Rect>,
    /// Where the clock stands; nothing where it is not known.
    pub clock: Rect,
    /// The plane of 3D that is shown, as a length along z: what does not look at it is not drawn there.
    pub plane: Option<f64>,
}

/// Marks that are drawn once what they stand over is.
#[derive(Default)]
pub struct Marked {
    /// Where names stand.
    pub names: Vec<Rect>,
    shapes: Vec<Shape>,
}

impl Marked {
    /// Draws them.
    pub fn draw(self, painter: &Painter) {
        painter.extend(self.shapes);
    }
}

/// The detectors' regions with their names, for the caller to draw.
#[must_use]
pub fn detectors(
    painter: &Painter,
    (area, kept): (Rect, Kept),
    camera: &Camera,
    grid: &Grid,
    detectors: &[Detector],
) -> Marked {
    let a = grid.spacing();
    let stroke = Stroke::new(1.0, theme::marks().accent.gamma_multiply(0.8));
    // Below each line a wider one in the shade of plates, so that it is seen on every colour.
    let halo = Stroke::new(3.0, theme::shade().gamma_multiply(0.6));
    let place = |at: &[f64; 3]| in_sites(*at, a);
    let Marked { mut names, mut shapes } = Marked::default();
    let mut taken = vec![kept.clock];
    let mut named: Vec<(Rect, Pos2, &str)> = Vec::new();
    let is_seen = |detector: &&Detector| kept.plane.is_none_or(|plane| looks_at(&detector.region, plane, a));
    for detector in detectors.iter().filter(is_seen) {
        let (rect, corner) = match &detector.region {
            Region::Everywhere => continue,
            Region::Point(at) => {
                let point = camera.point_at(area, place(at));
                shapes.extend([halo, stroke].map(|stroke| Shape::circle_stroke(point, 4.0, stroke)));
                (Rect::from_center_size(point, vec2(8.0, 8.0)), point + vec2(8.0, -18.0))
            }
            Region::Line { from, to } => {
                let ends = [camera.point_at(area, place(from)), camera.point_at(area, place(to))];
                shapes.push(Shape::line_segment(ends, halo));
                shapes.extend(Shape::dashed_line(&ends, stroke, 6.0, 4.0));
                (
                    Rect::from_two_pos(ends[0], ends[1]),
                    pos2(ends[0].x.max(ends[1].x) + 4.0, ends[0].y.min(ends[1].y)),
                )
            }
            Region::Box { min, max } => {
                let whole = grid.size().map(|sites| sites as f64);
                let sites = camera.rect(area, place(min), place(max)).expand(camera.scale() / 2.0);
                // What a region names beyond the grid holds no site.
                let rect = sites.intersect(camera.rect(area, [0.0; 2], [whole[0], whole[1]]));
                let corners = [
                    rect.left_top(),
                    rect.right_top(),
                    rect.right_bottom(),
                    rect.left_bottom(),
                    rect.left_top(),
                ];
                shapes.extend(Shape::dashed_line(&corners, stroke, 6.0, 4.0));
                // A small region has its name beside it.
                let small = rect.height() < 24.0 || rect.width() < 64.0;
                let inside = rect.left_top() + vec2(4.0, 4.0);
                let beside = pos2(rect.right() + 4.0, rect.center().y - 8.0);
                (rect, if small { beside } else { inside })
            }
        };
        if rect.intersects(area) {
            named.push((rect, corner, detector.name.as_str()));
        }
    }
    // From the top down: a name that has no room moves down, and stands below those of regions above its own.
    named.sort_by(|(_, one, _), (_, other, _)| one.y.total_cmp(&other.y));
    for (rect, corner, name) in named {
        let galley = name_in(painter, area, name);
        let at = pos2(
            // A name that is wider than the picture begins at its left.
            corner
                .x
                .min(area.right() - galley.size().x - 4.0)
                .max(area.left() + 4.0),
            corner.y.min(area.bottom() - 20.0).max(area.top() + 4.0),
        );
        let label = free_place(Rect::from_min_size(at, galley.size()), rect, kept.legend, &taken);
        // Two names with no gap between them read as one.
        taken.push(label.expand2(vec2(8.0, 0.0)));
        let plate = label.expand2(vec2(3.0, 0.0));
        shapes.push(Shape::rect_filled(plate, 2.0, theme::shade().gamma_multiply(0.6)));
        shapes.push(Shape::galley(label.min, galley, theme::marks().accent));
        names.push(plate);
    }
    Marked { names, shapes }
}

/// A name as it is written over a picture, cut where it is too long.
pub(super) fn name_in(painter: &Painter, area: Rect, name: &str) -> Arc<Galley> {
    let layout =
        |text: &str| painter.layout_no_wrap(text.to_owned(), FontId::proportional(TEXT), theme::marks().accent);
    let widest = (WIDEST * area.width()).max(120.0);
    layout(&shortened(name, |text| layout(text).size().x <= widest))
}

/// The same over a graph: lines across the plot at places that `x_of` gives for lengths, with the names at its upper edge.
pub fn detectors_of_line(painter: &Painter, plot: Rect, x_of: impl Fn(f64) -> f32, detectors: &[Detector]) {
    let color = theme::marks().accent;
    let clip = painter.with_clip_rect(plot);
    let mut taken = Vec::new();
    for detector in detectors {
        let ends = match &detector.region {
            Region::Point(at) => vec![at[0]],
            Region::Box { min, max } => vec![min[0], max[0]],
            Region::Everywhere | Region::Line { .. } => continue,
        };
        let seen: Vec<f32> = (ends.into_iter().map(&x_of))
            .filter(|x| plot.x_range().contains(*x))
            .collect();
        for x in &seen {
            let line = [pos2(*x, plot.top()), pos2(*x, plot.bottom())];
            clip.add(egui::Shape::dashed_line(
                &line,
                Stroke::new(1.0, color.gamma_multiply(0.5)),
                3.0,
                5.0,
            ));
        }
        let Some(first) = seen.first() else { continue };
        let galley = painter.layout_no_wrap(detector.name.clone(), FontId::proportional(TEXT), color);
        let left = (first + 4.0).min(plot.right() - galley.size().x - 2.0);
        let label = free_place(
            Rect::from_min_size(pos2(left, plot.top() + 2.0), galley.size()),
            plot,
            None,
            &taken,
        );
        taken.push(label);
        clip.rect_filled(label.expand2(vec2(3.0, 0.0)), 2.0, theme::shade().gamma_multiply(0.6));
        clip.galley(label.min, galley, color);
    }
}

/// Where the name of `region` stands: below the legend where it would cover that, or at the left of the region where this leaves no room in it, and further down where it would cover another name.
pub(super) fn free_place(mut label: Rect, region: Rect, legend: Option<Rect>, taken: &[Rect]) -> Rect {
    if let Some(legend) = legend.filter(|legend| legend.intersects(label)) {
        let below = label.translate(vec2(0.0, legend.bottom() + 2.0 - label.top()));
        label = if region.contains_rect(below) {
            below
        } else {
            let right = region.left().min(legend.left()) - 4.0;
            label.translate(vec2(right - label.right(), 0.0))
        };
    }
    while let Some(other) = taken.iter().find(|other| other.intersects(label)) {
        label = label.translate(vec2(0.0, other.bottom() + 1.0 - label.top()));
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of detectors along a line stand within its plot and not on each other; those out of view have none.
    #[test]
    fn detectors_of_a_line_are_named() {
        let text = "format = 1\n[grid]\nsize = [100]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0]\nwidth = [4.0]\n\
                    [[detector]]\nname = \"slit\"\nat = [96.0]\n[[detector]]\nname = \"screen\"\nregion = { min = [95.0], max = [97.0] }\n\
                    [[detector]]\nname = \"far\"\nat = [10.0]\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let plot = Rect::from_min_size(pos2(50.0, 40.0), vec2(400.0, 200.0));
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(640.0, 480.0));
        let names = theme::texts(&theme::drawn(screen, |ui| {
            let x_of = |length: f64| 50.0 + 8.0 * (length as f32 - 50.0);
            detectors_of_line(ui.painter(), plot, x_of, scenario.detectors());
        }));
        assert!(
            names.iter().map(|(name, _)| name.as_str()).eq(["slit", "screen"]),
            "{names:?}"
        );
        assert!(!names[0].1.intersects(names[1].1) && names.iter().all(|(_, rect)| plot.contains_rect(*rect)));
    }

    /// In a plane of 3D only what is in it is drawn.
    #[test]
    fn what_stands_in_another_plane_is_not_drawn() {
        let text = "format = 1\n[grid]\nsize = [64, 64, 8]\nspacing = 0.5\n[acoustic]\n[[source]]\nat = [10.0, 10.0, 1.0]\nsignal = \"sine\"\nfrequency = 40.0\n\
                    [[detector]]\nname = \"near\"\nat = [20.0, 20.0, 1.1]\n[[detector]]\nname = \"far\"\nat = [20.0, 10.0, 3.0]\n\
                    [[detector]]\nname = \"slab\"\nregion = { min = [5.0, 5.0, 0.0], max = [25.0, 25.0, 1.0] }\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(640.0, 640.0));
        let seen = |plane: f64| {
            let shapes = theme::drawn(area, |ui| {
                let mut camera = Camera::default();
                camera.settle(area, [64, 64]);
                let (painter, grid) = (ui.painter(), scenario.grid());
                let kept = Kept {
                    legend: None,
                    clock: Rect::NOTHING,
                    plane: Some(plane),
                };
                sources(painter, (area, Some(plane)), &camera, grid, (scenario.sources(), 0.0));
                detectors(painter, (area, kept), &camera, grid, scenario.detectors()).draw(painter);
            });
            let dots = shapes
                .iter()
                .filter(|one| matches!(&one.shape, egui::Shape::Circle(dot) if dot.radius == 2.5));
            let mut names: Vec<String> = theme::texts(&shapes).into_iter().map(|(name, _)| name).collect();
            names.sort();
            (dots.count(), names)
        };
        assert_eq!(seen(1.0), (1, vec!["near".to_owned(), "slab".to_owned()]));
        assert_eq!(seen(3.0), (0, vec!["far".to_owned()]));
        assert_eq!(seen(0.0), (0, vec!["slab".to_owned()]));
    }

    /// A region in the upper left corner of a plane, where the clock stands, and two regions that are closer than their names are high.
    #[test]
    fn names_keep_clear_of_the_clock_and_stand_as_their_regions_do() {
        let text = "format = 1\n[grid]\nsize = [64, 64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0, 30.0]\nwidth = [4.0, 4.0]\n\
                    [[detector]]\nname = \"marker\"\nregion = { min = [0.0, 40.0], max = [20.0, 63.0] }\n\
                    [[detector]]\nname = \"lower\"\nregion = { min = [40.0, 30.0], max = [50.0, 30.0] }\n\
                    [[detector]]\nname = \"upper\"\nregion = { min = [40.0, 31.0], max = [50.0, 31.0] }\n\
                    [[detector]]\nname = \"half as far\"\nat = [20.0, 20.0]\n\
                    [[detector]]\nname = \"outside\"\nat = [26.5, 20.0]\n\
                    [[detector]]\nname = \"a name for a whole line of text that nobody would read over a picture\"\nat = [50.0, 50.0]\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(640.0, 640.0));
        let kept = Kept {
            legend: None,
            clock: Rect::from_min_size(pos2(3.0, 3.0), vec2(100.0, 28.0)),
            plane: None,
        };
        let mut camera = Camera::default();
        camera.settle(area, [64, 64]);
        let mut places = Vec::new();
        let shapes = theme::drawn(area, |ui| {
            let marked = detectors(
                ui.painter(),
                (area, kept),
                &camera,
                scenario.grid(),
                scenario.detectors(),
            );
            places.clone_from(&marked.names);
            marked.draw(ui.painter());
        });
        let names = theme::texts(&shapes);
        // Labels of theory keep clear of all of them.
        let covered = |rect: &Rect| places.iter().any(|place| place.expand(1.0).contains_rect(*rect));
        assert!(
            places.len() == names.len() && names.iter().all(|(_, rect)| covered(rect)),
            "{places:?}"
        );
        let of = |name: &str| names.iter().find(|(text, _)| text == name).unwrap().1;
        let marker = of("marker");
        assert!(marker.top() > kept.clock.bottom() && marker.top() < 80.0, "{marker:?}");
        assert!(of("upper").bottom() <= of("lower").top());
        let cut = shapes.iter().any(|clipped| match &clipped.shape {
            egui::Shape::Text(text) => {
                text.galley.text().starts_with("a name")
                    && text.galley.text().ends_with('…')
                    && text.galley.size().x <= WIDEST * area.width()
            }
            _ => false,
        });
        assert!(cut);
        // Side by side there is a gap, or they stand one below the other.
        let (left, right) = (of("half as far"), of("outside"));
        assert!(
            right.left() > left.right() + 6.0 || right.top() >= left.bottom(),
            "{left:?} {right:?}"
        );
    }

    #[test]
    fn names_cover_neither_the_legend_nor_each_other() {
        let at = |x, y, width, height| Rect::from_min_size(pos2(x, y), vec2(width, height));
        let legend = at(900.0, 16.0, 96.0, 220.0);
        let name = |x, y, taken: &[Rect]| {
            let region = Rect::from_center_size(pos2(x, y), vec2(8.0, 8.0));
            free_place(at(x + 8.0, y - 18.0, 60.0, 16.0), region, Some(legend), taken)
        };
        assert_eq!(name(300.0, 100.0, &[]), at(308.0, 82.0, 60.0, 16.0));
        for x in [860.0, 895.0, 940.0] {
            let label = name(x, 100.0, &[]);
            assert!(!label.intersects(legend) && label.right() < x, "{label:?}");
        }
        let first = name(860.0, 100.0, &[]);
        let second = name(862.0, 102.0, &[first]);
        assert!(!second.intersects(first) && !second.intersects(legend));
    }
}
