//! What a scene says while it runs, over the picture: theory as dashed lines, notes on a plate at the lower edge.

use super::camera::Camera;
use super::overlay::Room;
use super::theme::{self, over_picture};
use super::widgets::{above_cards, below_cards};
use crate::export::theory::label_places;
use crate::scene::Scenario;
use crate::scene::scenario::Quantity;
use crate::scene::theory::{Note, Theory};
use egui::{Align2, FontId, Galley, Painter, Pos2, Rect, Shape, Stroke, Vec2, pos2, vec2};
use std::sync::Arc;

/// A dash and the gap after it, points.
pub const DASHES: [f32; 2] = [6.0, 4.0];

/// Most of the picture's width that a note takes.
const SHARE: f32 = 0.8;

/// Lines and circles over a plane, as far as its grid is `seen`; `spacing` from site to site. Their labels keep clear of what is `taken` and of each other.
pub fn outlines(
    painter: &Painter,
    (area, seen, mut taken): (Rect, Rect, Vec<Rect>),
    camera: &Camera,
    spacing: f64,
    (theories, t): (&[Theory], f64),
) {
    let clip = painter.with_clip_rect(seen);
    for theory in theories {
        let Some(points) = theory.outline(t) else { continue };
        // A length to a place in sites: site n stands in the middle of n..n+1.
        let place = |[x, y]: &[f64; 2]| camera.point_at(area, [x / spacing + 0.5, y / spacing + 0.5]);
        let points: Vec<Pos2> = points.iter().map(place).collect();
        dashed(&clip, &points);
        label(painter, (area, seen), &points, &theory.label, &mut taken);
    }
}

/// A dashed line, dark below light, so that it is seen over every colour.
pub fn dashed(painter: &Painter, points: &[Pos2]) {
    let under = Stroke::new(3.0, theme::shade());
    let over = Stroke::new(1.5, over_picture());
    for stroke in [under, over] {
        painter.extend(Shape::dashed_line(points, stroke, DASHES[0], DASHES[1]));
    }
}

/// A label beside the end of a line or the highest point of a circle that is seen; elsewhere on them where that place is taken.
fn label(painter: &Painter, (area, seen): (Rect, Rect), points: &[Pos2], words: &str, taken: &mut Vec<Rect>) {
    if words.is_empty() {
        return;
    }
    let points: Vec<[f32; 2]> = points.iter().map(|point| [point.x, point.y]).collect();
    let galley = painter.layout_no_wrap(words.to_owned(), FontId::proportional(12.0), over_picture());
    let room = area.shrink(4.0);
    let size = galley.size() + vec2(8.0, 4.0);
    let beside = |[x, y]: [f32; 2]| {
        let left = (x + 4.0).clamp(room.left(), (room.right() - size.x).max(room.left()));
        let top = (y - size.y - 2.0).clamp(room.top(), (room.bottom() - size.y).max(room.top()));
        Rect::from_min_size(pos2(left, top), size)
    };
    // What ends at the edge of the grid is seen.
    let seen = seen.expand(0.5);
    let all = label_places(&points).into_iter();
    let mut places = (all.filter(|[x, y]| seen.contains(pos2(*x, *y))))
        .map(beside)
        .peekable();
    let Some(first) = places.peek().copied() else { return };
    let rect = places
        .find(|place| taken.iter().all(|other| !other.intersects(*place)))
        .unwrap_or(first);
    taken.push(rect);
    painter.rect_filled(rect, 3.0, theme::shade());
    painter.galley(rect.min + vec2(4.0, 2.0), galley, over_picture());
}

/// What theory says along a graph at time t: values at places between two lengths, as many as points of the screen.
pub fn along_cut(
    scenario: &Scenario,
    (axis, quantity, across): (usize, Quantity, f64),
    t: f64,
    (from, to, count): (f64, f64, usize),
) -> Vec<(String, Vec<[f64; 2]>)> {
    let theories = scenario.theories().iter();
    let curves = theories.filter_map(|theory| Some((theory, theory.over_cut(axis, quantity, across, t)?)));
    curves
        .map(|(theory, value)| {
            let place = |n: usize| from + (to - from) * n as f64 / count.max(2).saturating_sub(1) as f64;
            let points = (0..count.max(2)).map(place).map(|x| [x, value(x)]);
            let name = if theory.label.is_empty() {
                "theory"
            } else {
                &theory.label
            };
            (name.to_owned(), points.filter(|point| point[1].is_finite()).collect())
        })
        .collect()
}

/// What a note has beyond its text.
const AROUND: Vec2 = vec2(24.0, 12.0);

/// Below this width or height, points, room is scarce.
const SCARCE: Vec2 = vec2(400.0, 280.0);

/// Size of a note's letters, and of those where room is scarce.
const LETTERS: [f32; 2] = [15.0, 12.5];

/// The sizes of letters that a room has, the largest first.
fn letters_of(room: Room) -> &'static [f32] {
    let size = room.area.size();
    &LETTERS[usize::from(size.x < SCARCE.x || size.y < SCARCE.y)..]
}

/// The words of a note in lines for a plate of this width; nothing where that is too narrow.
fn words(painter: &Painter, (width, letters): (f32, f32), (notes, t): (&[Note], f64)) -> Option<Arc<Galley>> {
    laid_out(painter, (width, letters), Note::of_time(notes, t)?)
}

fn laid_out(painter: &Painter, (width, letters): (f32, f32), note: &Note) -> Option<Arc<Galley>> {
    let (width, font) = (width - AROUND.x, FontId::proportional(letters));
    (width >= 80.0).then(|| painter.layout(note.text.clone(), font, over_picture(), width))
}

/// The width of a plate, as a rule.
fn usual_width(room: Room) -> f32 {
    (room.area.width() * SHARE).min(640.0)
}

fn put(painter: &Painter, rect: Rect, galley: Arc<Galley>) -> Rect {
    painter.rect_filled(rect, 6.0, theme::shade());
    painter.galley(rect.min + AROUND / 2.0, galley, over_picture());
    rect
}

/// The note of time t on a plate at the lower edge of a picture with a scale bar; where it stands. Nothing where a card takes that place and the room
/// above the card is `taken`, as in small windows: the note comes back with its place.
pub fn note(
    painter: &Painter,
    (room, scale): (Room, Rect),
    taken: impl IntoIterator<Item = Rect>,
    notes: (&[Note], f64),
) -> Option<Rect> {
    let galley = words(painter, (usual_width(room), letters_of(room)[0]), notes)?;
    let usual = above_scale(room.corner(Align2::CENTER_BOTTOM, galley.size() + AROUND), scale);
    let moved = above_cards(painter.ctx(), usual);
    stands_clear(usual, moved, room, taken).then(|| put(painter, moved, galley))
}

/// Whether a note that a card `moved` from its usual place stays in its room and covers neither the clock nor what is `taken`.
fn stands_clear(usual: Rect, moved: Rect, room: Room, taken: impl IntoIterator<Item = Rect>) -> bool {
    let mut taken = taken.into_iter().chain([room.clock]);
    moved == usual || (moved.top() >= room.area.top() && !taken.any(|other| other.intersects(moved)))
}

/// The place of a note, above the scale bar where it would cover that.
fn above_scale(note: Rect, scale: Rect) -> Rect {
    if note.intersects(scale) {
        note.translate(vec2(0.0, scale.top() - 2.0 - note.bottom()))
    } else {
        note
    }
}

/// The same at the upper edge of a picture in space, between the clock and the legend where it would cover one of them, or below the clock.
pub fn note_above(painter: &Painter, room: Room, legend: Option<Rect>, notes: (&[Note], f64)) -> Option<Rect> {
    let letters = letters_of(room)[0];
    let galley = words(painter, (usual_width(room), letters), notes)?;
    let usual = room.corner(Align2::CENTER_TOP, galley.size() + AROUND);
    let strips = clear_strips(room, legend, usual);
    let put = |rect, galley| Some(put(painter, below_cards(painter.ctx(), rect), galley));
    for strip in strips {
        if let Some(galley) = words(painter, (strip.width(), letters), notes) {
            let size = galley.size() + AROUND;
            return put(Align2::CENTER_TOP.align_size_within_rect(size, strip), galley);
        }
    }
    put(usual, galley)
}

/// The least width of a note beside a clock or a legend.
const BESIDE: f32 = 240.0;

/// Where a note may stand that in its usual place would cover the clock or the legend; nothing where it covers neither.
fn clear_strips(room: Room, legend: Option<Rect>, usual: Rect) -> Vec<Rect> {
    let covered = [Some(room.clock), legend];
    if !covered.into_iter().flatten().any(|taken| taken.intersects(usual)) {
        return Vec::new();
    }
    let end = room.area.right() - 16.0;
    let strip = |left: f32, top: f32, right: f32| Rect::from_min_max(pos2(left, top), pos2(right, room.area.bottom()));
    let beside_legend = legend.map_or(end, |legend| legend.left() - 8.0);
    let (left, below_clock) = (room.area.left() + 16.0, room.clock.bottom() + 4.0);
    let below_both = legend.map_or(below_clock, |legend| below_clock.max(legend.bottom() + 4.0));
    let narrow = [
        strip(room.clock.right() + 8.0, usual.top(), beside_legend),
        strip(left, below_clock, beside_legend),
    ];
    let wide = narrow.into_iter().filter(|strip| strip.width() >= BESIDE);
    wide.chain([strip(left, below_both, end)]).collect()
}

/// The same for a graph in a room with a clock: neither the axes below it, nor the clock and the `title` above it are covered.
pub fn note_of_graph(
    painter: &Painter,
    room: Room,
    (plot, title): (Rect, Rect),
    notes: (&[Note], f64),
) -> Option<Rect> {
    let letters = letters_of(room);
    let galley = words(painter, (usual_width(room), letters[0]), notes)?;
    let rect = over_graph(room, plot, galley.size() + AROUND);
    let put = |rect, galley| Some(put(painter, below_cards(painter.ctx(), rect), galley));
    if !rect.intersects(plot) {
        return put(rect, galley);
    }
    let least = words(painter, (plot.width(), *letters.last()?), notes);
    if rect.height() > MOST_OF_PLOT * plot.height() || rect.width() > plot.width() {
        let strips = beside_clock(room, plot, title);
        for (letters, strip) in letters.iter().flat_map(|letters| strips.map(|strip| (*letters, strip))) {
            let narrow = words(painter, (strip.width(), letters), notes);
            if let Some(narrow) = narrow.filter(|galley| galley.size().y + AROUND.y <= strip.height()) {
                let size = narrow.size() + AROUND;
                return put(Align2::CENTER_BOTTOM.align_size_within_rect(size, strip), narrow);
            }
        }
        if let Some(least) = least {
            return put(over_graph(room, plot, least.size() + AROUND), least);
        }
    }
    put(rect, galley)
}

/// What a graph in little room leaves above its plot, so that its longest note stands beside the clock. It stays while notes come and go.
pub fn head_of_graph(painter: &Painter, room: Room, plot: Rect, notes: &[Note]) -> f32 {
    /// Width and height of a clock, and the least height of a plot.
    const CLOCK: Vec2 = vec2(132.0, 28.0);
    const LOWEST: f32 = 72.0;
    let [letters] = *letters_of(room) else { return 0.0 };
    let room = Room {
        clock: room.corner(Align2::LEFT_TOP, CLOCK),
        ..room
    };
    let [strip, _] = beside_clock(room, plot, Rect::NOTHING);
    let galleys = notes
        .iter()
        .filter_map(|note| laid_out(painter, (strip.width(), letters), note));
    let highest = galleys.map(|galley| galley.size().y + AROUND.y).fold(0.0, f32::max);
    let head = (highest - strip.height()).max(0.0);
    if plot.height() - head < LOWEST { 0.0 } else { head }
}

/// The part of a plot's height from which on a note hides the wave.
const MOST_OF_PLOT: f32 = 0.25;

/// What is free above a plot, at the right of the clock: above its title, and, at the right of that, down to the plot.
fn beside_clock(room: Room, plot: Rect, title: Rect) -> [Rect; 2] {
    let area = room.area.shrink(8.0);
    let left = area.left().max(room.clock.right() + 8.0);
    [(left, TITLE), (left.max(title.right() + 8.0), 3.0)]
        .map(|(left, gap)| Rect::from_min_max(pos2(left, area.top()), pos2(area.right(), plot.top() - gap)))
}

/// Height of the title above a plot, points.
const TITLE: f32 = 20.0;

/// Where a note of a size stands at a graph: above the plot where it has room there, else at its upper edge, where waves seldom reach.
fn over_graph(room: Room, plot: Rect, size: Vec2) -> Rect {
    let above = Align2::CENTER_TOP.align_size_within_rect(size, room.area.shrink(8.0));
    if above.bottom() < plot.top() - TITLE && !above.intersects(room.clock) {
        above
    } else {
        Align2::CENTER_TOP.align_size_within_rect(size, plot.shrink(3.0))
    }
}

/// What the note of time t points at in a plane: a ring; `spacing` from site to site.
pub fn ring(painter: &Painter, area: Rect, camera: &Camera, spacing: f64, (notes, t): (&[Note], f64)) {
    let Some((center, radius)) = marked(notes, t) else {
        return;
    };
    let [x, y] = center[..] else { return };
    let middle = camera.point_at(area, [x / spacing + 0.5, y / spacing + 0.5]);
    let radius = (radius / spacing) as f32 * camera.scale();
    for stroke in [Stroke::new(3.5, theme::shade()), Stroke::new(1.5, over_picture())] {
        painter.circle_stroke(middle, radius, stroke);
    }
}

/// The same over a graph: the band between two places that `x_of` gives for lengths.
pub fn interval(painter: &Painter, plot: Rect, x_of: impl Fn(f64) -> f32, (notes, t): (&[Note], f64)) {
    let Some((center, radius)) = marked(notes, t) else {
        return;
    };
    let [x] = center[..] else { return };
    let ends = [x_of(x - radius), x_of(x + radius)];
    let band = Rect::from_x_y_ranges(ends[0]..=ends[1], plot.y_range()).intersect(plot);
    if !band.is_positive() {
        return;
    }
    painter.rect_filled(band, 0.0, over_picture().gamma_multiply(0.08));
    for x in ends.into_iter().filter(|x| plot.x_range().contains(*x)) {
        painter.vline(x, plot.y_range(), Stroke::new(1.5, over_picture().gamma_multiply(0.8)));
    }
}

fn marked(notes: &[Note], t: f64) -> Option<(Vec<f64>, f64)> {
    Note::of_time(notes, t)?.mark.as_ref()?.at(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::graph_view::plot_area;

    /// Also where the picture ends above the lower edge of its room.
    #[test]
    fn a_note_stands_above_the_scale_bar_that_it_would_cover() {
        let scale = Rect::from_min_max(pos2(10.0, 470.0), pos2(130.0, 506.0));
        let wide = Rect::from_min_max(pos2(100.0, 475.0), pos2(500.0, 503.0));
        let lifted = above_scale(wide, scale);
        assert!(!lifted.intersects(scale) && lifted.size() == wide.size(), "{lifted:?}");
        assert!(scale.top() - lifted.bottom() < 4.0);
        let narrow = wide.with_min_x(140.0);
        assert_eq!(above_scale(narrow, scale), narrow);
    }

    /// In a small window a card leaves no room for it below clock, colours and names.
    #[test]
    fn a_note_that_a_card_moved_covers_nothing() {
        let area = Rect::from_min_max(pos2(300.0, 33.0), pos2(700.0, 275.0));
        let room = Room {
            clock: Rect::from_min_max(pos2(316.0, 49.0), pos2(448.0, 77.0)),
            ..Room::free(area)
        };
        let usual = Rect::from_min_max(pos2(340.0, 225.0), pos2(660.0, 259.0));
        let legend = Rect::from_min_max(pos2(420.0, 81.0), pos2(684.0, 105.0));
        let clear = |up: f32| stands_clear(usual, usual.translate(vec2(0.0, -up)), room, [legend]);
        assert_eq!([0.0, 100.0, 140.0, 170.0].map(clear), [true, true, false, false]);
        let free = |up: f32| stands_clear(usual, usual.translate(vec2(0.0, -up)), Room::free(area), []);
        assert_eq!([170.0, 195.0].map(free), [true, false], "beyond the upper edge");
        // What does not move is where the scene's author wants it.
        assert!(stands_clear(usual, usual, room, [usual]));
    }

    /// A ring that has left the grid is not drawn beside it.
    #[test]
    fn theory_ends_with_the_grid() {
        let text = "format = 1\n[grid]\nsize = [64, 64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0, 30.0]\nwidth = [4.0, 4.0]\n\
                    [[theory]]\ncenter = [32.0, 32.0]\nradius = \"40 + 7*t\"\nlabel = \"ring\"\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let area = Rect::from_min_size(pos2(0.0, 0.0), vec2(960.0, 640.0));
        let mut camera = Camera::default();
        camera.settle(area, [64, 64]);
        let seen = camera.rect(area, [0.0; 2], [64.0; 2]).intersect(area);
        // The corners are 45 sites away from the middle.
        for (t, labels) in [(0.0, 1), (1.0, 0)] {
            let shapes = theme::drawn(area, |ui| {
                let theories = (scenario.theories(), t);
                outlines(ui.painter(), (area, seen, Vec::new()), &camera, 1.0, theories);
            });
            assert_eq!(theme::texts(&shapes).len(), labels, "{t}");
            let lines = (shapes.iter()).filter(|clipped| matches!(clipped.shape, Shape::LineSegment { .. }));
            assert!(
                lines.into_iter().all(|clipped| seen.contains_rect(clipped.clip_rect)),
                "{t}"
            );
        }
    }

    #[test]
    fn a_note_in_space_covers_neither_clock_nor_legend() {
        let usual_of =
            |area: Rect| Align2::CENTER_TOP.align_size_within_rect(vec2(0.8 * area.width(), 31.0), area.shrink(16.0));
        // The last is a line of colours, which in narrow pictures stands below the clock.
        let bar = vec2(114.0, 200.0);
        for (width, strips, size) in [
            (400.0, 2, bar),
            (536.0, 3, bar),
            (2000.0, 0, bar),
            (376.0, 1, vec2(268.0, 24.0)),
        ] {
            let area = Rect::from_min_size(pos2(264.0, 33.0), vec2(width, 440.0));
            let clock = Rect::from_min_size(area.min + vec2(16.0, 16.0), vec2(110.0, 28.0));
            let top = if size == bar { area.top() + 16.0 } else { clock.bottom() };
            let legend = Rect::from_min_size(pos2(area.right() - 16.0 - size.x, top), size);
            let room = Room {
                clock,
                ..Room::free(area)
            };
            let mut usual = usual_of(area);
            if strips == 0 {
                usual = usual.shrink2(vec2(700.0, 0.0));
            }
            let found = clear_strips(room, Some(legend), usual);
            assert_eq!(found.len(), strips, "{width}");
            for strip in found {
                assert!(
                    !strip.intersects(clock) && !strip.intersects(legend) && strip.width() > 200.0,
                    "{strip:?}"
                );
            }
        }
    }

    /// Words of three lines in usual letters at the size of the smallest window.
    #[test]
    fn in_a_small_window_a_note_leaves_a_graph_free() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0]\nwidth = [4.0]\n\
                    [[note]]\nat = 0.0\ntext = \"Half of the pulse goes to each side. The dashed line is theory: f(x − ct)/2 + f(x + ct)/2.\"\n";
        let (_, scenario) = crate::solver::read_scene_text(text, None, &[]).unwrap();
        let area = Rect::from_min_size(pos2(264.0, 33.0), vec2(376.0, 242.0));
        let room = Room {
            clock: Rect::from_min_size(area.min + vec2(16.0, 16.0), vec2(110.0, 28.0)),
            ..Room::free(area)
        };
        let mut stands = None;
        theme::drawn(area, |ui| {
            let mut plot = plot_area(area);
            plot.min.y += head_of_graph(ui.painter(), room, plot, scenario.notes());
            let title = Rect::from_min_max(plot.min - vec2(0.0, 19.0), plot.min + vec2(90.0, -4.0));
            let note = note_of_graph(ui.painter(), room, (plot, title), (scenario.notes(), 0.0));
            stands = note.map(|note| (note, plot, title));
        });
        let (note, plot, title) = stands.unwrap();
        for taken in [plot, title, room.clock] {
            assert!(!note.intersects(taken), "{note:?} {taken:?}");
        }
        assert!(area.contains_rect(note) && plot.height() >= 72.0, "{note:?} {plot:?}");
    }

    #[test]
    fn a_note_covers_neither_axes_nor_clock_nor_title_of_a_graph() {
        for width in [400.0, 700.0, 1200.0] {
            let area = Rect::from_min_size(pos2(40.0, 30.0), vec2(width, 500.0));
            let plot = plot_area(area);
            let room = Room {
                clock: Rect::from_min_size(area.min + vec2(16.0, 16.0), vec2(100.0, 28.0)),
                ..Room::free(area)
            };
            let title = Rect::from_min_max(plot.min - vec2(0.0, 19.0), plot.min + vec2(90.0, -4.0));
            let strips = beside_clock(room, plot, title);
            for (strip, lines) in strips.into_iter().zip([1.0, 2.0]) {
                assert!(!strip.intersects(room.clock) && !strip.intersects(title), "{strip:?}");
                assert!(strip.bottom() < plot.top() && area.contains_rect(strip), "{strip:?}");
                assert!(
                    strip.height() >= lines * LETTERS[0] * 1.3 + AROUND.y,
                    "{lines} lines have room: {strip:?}"
                );
            }
            for lines in [1.0, 3.0] {
                let size = vec2((0.8 * width).min(640.0), 12.0 + 19.0 * lines);
                let note = over_graph(room, plot, size);
                assert!(area.contains_rect(note) && !note.intersects(room.clock), "{note:?}");
                assert!(note.bottom() < plot.bottom(), "the ticks are below the plot: {note:?}");
                let title = Rect::from_min_max(plot.min - vec2(0.0, 19.0), pos2(plot.right(), plot.top()));
                assert!(!note.intersects(title), "{note:?} {title:?}");
            }
        }
    }
}
