//! The medium over a picture: walls solid, the potential (for sound: speed and density minus the background) as a faint
//! tint with contour lines, so that slits, barriers and interfaces can be seen and the wave still shows through.

use super::picture::{Picture, Rect};
use super::theme::Theme;
use crate::physics::{Layer, Sets, Value};
use crate::rounding::truncated;
use crate::scene::Scenario;
use crate::solver::ImageRequest;
use crate::space::medium::combined;
use crate::space::{SteppedMedium, Subject};
use rayon::prelude::*;

/// Contour lines between the least and the greatest level.
const CONTOURS: f32 = 6.0;
/// If more than this share of the picture would be contour, as for a random potential, there is only the tint.
const MOST_CONTOUR: f32 = 0.12;

/// The medium of a scene, sampled for a picture.
#[derive(Clone, Debug)]
pub struct Shade {
    /// Samples along x and y.
    size: [usize; 2],
    walls: Vec<bool>,
    /// The static potential, then what each drive multiplies; or speed or density minus the background, or parts of both.
    parts: Vec<Vec<f32>>,
    /// Whether it varies smoothly from site to site.
    smooth: bool,
    /// What the tint stands for, e.g. `sound speed 1500 … 3000 m/s`; empty if there is none, or it moves.
    meaning: String,
    /// What was drawn last: a film's pictures share it while no drive moves.
    drawn: Option<Drawn>,
}

/// An overlay of a rectangle, ready to be drawn on a picture.
#[derive(Clone, Debug)]
struct Drawn {
    rect: Rect,
    drives: Vec<f64>,
    colors: [[u8; 3]; 4],
    /// Of each row the bytes from the first pixel that is covered to the last.
    rows: Vec<CoveredRow>,
}

/// Bytes of a row of pixels, red, green and blue in turn.
#[derive(Clone, Debug, Default)]
struct CoveredRow {
    /// The first of them within the rectangle.
    first: usize,
    /// The colour that lies over each.
    over: Vec<u8>,
    /// How much it covers of what is under it, of 255.
    covers: Vec<u8>,
}

impl CoveredRow {
    /// Of the covers of a row (see [`Shade::covers`]) and the colours of walls at the rim and inside, hills and wells.
    fn new(covers: &[f32], [wall, stone, hill, well]: [[u8; 3]; 4]) -> Self {
        let is_covered = |cover: &f32| *cover != 0.0;
        let (Some(first), Some(last)) = (covers.iter().position(is_covered), covers.iter().rposition(is_covered))
        else {
            return Self::default();
        };
        let mut row = Self {
            first: 3 * first,
            ..Self::default()
        };
        for cover in &covers[first..=last] {
            let (color, part) = match *cover {
                RIM => (wall, 1.0),
                INSIDE => (stone, 1.0),
                cover if cover < 0.0 => (well, -cover),
                cover => (hill, cover),
            };
            row.over.extend(color);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0…255")]
            let part = (255.0 * part.min(1.0) + 0.5) as u8;
            row.covers.extend([part; 3]);
        }
        row
    }

    /// Lays it on the bytes of a row: whole numbers, so that the loop becomes vectors.
    fn lay(&self, row: &mut [u8]) {
        let under = row.get_mut(self.first..).unwrap_or_default();
        for ((under, over), cover) in under.iter_mut().zip(&self.over).zip(&self.covers) {
            let [below, above, cover] = [*under, *over, *cover].map(u16::from);
            // Rounded division by 255.
            let sum = below * (255 - cover) + above * cover + 128;
            *under = ((sum + (sum >> 8)) >> 8) as u8;
        }
    }
}

/// The cover of walls at their rim, and farther inside: a wall as large as half of the picture is not what one looks at.
const RIM: f32 = 2.0;
const INSIDE: f32 = 3.0;

impl Shade {
    /// Samples what `request` shows for a picture of `pixels`; `None` if there is nothing to see.
    #[must_use]
    pub fn new(scenario: &Scenario, request: &ImageRequest, pixels: [usize; 2]) -> Option<Self> {
        let medium = scenario.medium();
        let subjects = Subject::all(scenario, 0.0);
        let has_walls = medium.has(Sets::Wall);
        if !has_walls && subjects.is_empty() {
            return None;
        }
        let stepped = SteppedMedium::new(scenario);
        // Whole sites per sample, so that thin slits in a large grid are not missed.
        let step = (request.x.len() / pixels[0].max(1))
            .min(request.y.len() / pixels[1].max(1))
            .max(1);
        let size = [request.x.len().div_ceil(step), request.y.len().div_ceil(step)];
        let mut walls = vec![false; if has_walls { size[0] * size[1] } else { 0 }];
        walls.par_chunks_mut(size[0]).enumerate().for_each_init(
            || vec![false; request.x.len()],
            |row, (line, out)| {
                for j in sampled(line, step, request) {
                    stepped.wall_row([j, request.z], request.x.clone(), row);
                    for (i, wall) in row.iter().enumerate() {
                        out[i / step] |= *wall;
                    }
                }
            },
        );
        let (meaning, parts) = if let Some(Subject::Potential(drives)) = subjects.first() {
            let groups = std::iter::once(None).chain((0..drives.len()).map(Some));
            let of = |group| {
                levels(request, step, size, |j, row| {
                    medium.potential_row(group, j, request.z, request.x.clone(), row);
                })
            };
            let parts: Vec<Vec<f32>> = groups.map(of).collect();
            let still = parts.first().filter(|_| parts.len() == 1);
            (
                still.map_or_else(String::new, |still| meaning(&subjects[0], still)),
                parts,
            )
        } else {
            let of = |subject: &Subject| {
                levels(request, step, size, |j, row| {
                    stepped.row(subject, [j, request.z], request.x.clone(), &mut [], row);
                })
            };
            let parts: Vec<Vec<f32>> = subjects.iter().map(of).collect();
            let meanings = subjects
                .iter()
                .zip(&parts)
                .map(|(subject, part)| meaning(subject, part));
            let meanings: Vec<String> = meanings.filter(|meaning| !meaning.is_empty()).collect();
            (meanings.join(", "), together(parts))
        };
        let smooth = |layer: &Layer| {
            matches!(layer.sets, Sets::Potential | Sets::Speed | Sets::Density)
                && matches!(layer.value, Value::Expression(_))
        };
        Some(Self {
            meaning,
            size,
            walls,
            parts,
            smooth: medium.layers().iter().any(smooth),
            drawn: None,
        })
    }

    /// What the tint stands for; empty if there is none, or it moves.
    pub fn meaning(&self) -> &str {
        &self.meaning
    }

    /// Draws it over a field in `rect`; `drives` are the factors of the driven parts now.
    pub fn draw(&mut self, picture: &mut Picture, rect: Rect, drives: &[f64], theme: &Theme) {
        let colors = [theme.wall, theme.stone, theme.hill, theme.well];
        let same = |drawn: &Drawn| drawn.rect == rect && drawn.drives == drives && drawn.colors == colors;
        if !self.drawn.as_ref().is_some_and(same) {
            let covers = self.covers(rect, drives);
            self.drawn = Some(Drawn {
                rect,
                drives: drives.to_vec(),
                colors,
                rows: (covers.par_chunks(rect.width.max(1)))
                    .map(|covers| CoveredRow::new(covers, colors))
                    .collect(),
            });
        }
        let Some(drawn) = &self.drawn else { return };
        let across = 3 * picture.width;
        let rows = picture.rgb.par_chunks_mut(across).skip(rect.y);
        rows.zip(&drawn.rows)
            .for_each(|(row, covered)| covered.lay(&mut row[3 * rect.x..]));
    }

    /// What lies over each pixel of `rect`, by rows from the top: how much a tint covers, −1…1, below 0 that of wells; [`RIM`] and [`INSIDE`] where a wall stands.
    fn covers(&self, rect: Rect, drives: &[f64]) -> Vec<f32> {
        let levels = self.levels(rect, drives);
        let contour = levels
            .as_ref()
            .map(|levels| contours(levels, rect, 1 + rect.height / 1000));
        let mut covers = vec![0.0f32; rect.width * rect.height];
        covers.par_chunks_mut(rect.width).enumerate().for_each(|(y, row)| {
            for (x, cover) in row.iter_mut().enumerate() {
                let n = x + rect.width * y;
                if let Some(levels) = &levels {
                    let at_contour = contour.as_ref().is_some_and(|contour| contour[n]);
                    let size = if at_contour { 0.4 } else { 0.16 * levels[n].abs() };
                    if size > 0.002 {
                        *cover = if levels[n] < 0.0 { -size } else { size };
                    }
                }
                if self.is_wall(x, y, rect) {
                    *cover = if self.is_inside(x, y, rect) { INSIDE } else { RIM };
                }
            }
        });
        covers
    }

    fn is_wall(&self, x: usize, y: usize, rect: Rect) -> bool {
        !self.walls.is_empty() && self.walls[self.sample(x, y, rect)]
    }

    /// Whether all that is near a pixel of a wall is wall, too; at the edge of the picture it goes on.
    fn is_inside(&self, x: usize, y: usize, rect: Rect) -> bool {
        let rim = 1 + rect.height / 400;
        let near = |at: usize, last: usize| [at.saturating_sub(rim), at, (at + rim).min(last)];
        near(y, rect.height - 1)
            .into_iter()
            .all(|y| near(x, rect.width - 1).into_iter().all(|x| self.is_wall(x, y, rect)))
    }

    /// The nearest sample of a pixel; pixel rows run downwards, samples upwards.
    fn sample(&self, x: usize, y: usize, rect: Rect) -> usize {
        let i = (2 * x + 1) * self.size[0] / (2 * rect.width);
        let j = (2 * (rect.height - 1 - y) + 1) * self.size[1] / (2 * rect.height);
        i + self.size[0] * j
    }

    /// The potential over its largest size, −1…1, per pixel; `None` if it is nowhere different from 0.
    fn levels(&self, rect: Rect, drives: &[f64]) -> Option<Vec<f32>> {
        let mut sum = self.parts.first()?.clone();
        let mut largest: Vec<f32> = sum.iter().map(|u| u.abs()).collect();
        for (part, drive) in self.parts[1..].iter().zip(drives) {
            #[expect(clippy::cast_possible_truncation, reason = "shown with 8 bits")]
            let drive = *drive as f32;
            for (n, value) in part.iter().enumerate() {
                sum[n] += drive * value;
                largest[n] += value.abs();
            }
        }
        // The scale doesn't move with the drives.
        let scale = largest.iter().copied().fold(0.0, f32::max);
        if scale <= 0.0 {
            return None;
        }
        // Beyond the outermost samples the line through the last two goes on.
        let place = |at: f32, samples: usize| {
            let first = floor(at).min(samples.saturating_sub(2));
            (first, (first + 1).min(samples - 1), at - small(first))
        };
        let rows = (0..rect.height).into_par_iter().flat_map_iter(|y| {
            let sum = &sum;
            (0..rect.width).map(move |x| {
                let value = if self.smooth {
                    let fx = (small(x) + 0.5) * small(self.size[0]) / small(rect.width) - 0.5;
                    let fy = (small(rect.height - 1 - y) + 0.5) * small(self.size[1]) / small(rect.height) - 0.5;
                    let ((i0, i1, tx), (j0, j1, ty)) = (place(fx, self.size[0]), place(fy, self.size[1]));
                    let along = |j: usize| {
                        let (a, b) = (sum[i0 + self.size[0] * j], sum[i1 + self.size[0] * j]);
                        a + (b - a) * tx
                    };
                    along(j0) + (along(j1) - along(j0)) * ty
                } else {
                    sum[self.sample(x, y, rect)]
                };
                value / scale
            })
        });
        Some(rows.collect())
    }
}

/// Rows of sites that a line of samples stands for: at most four of them.
fn sampled(line: usize, step: usize, request: &ImageRequest) -> impl Iterator<Item = usize> + use<> {
    let first = request.y.start + line * step;
    let last = (first + step).min(request.y.end);
    (first..last).step_by(step.div_ceil(4))
}

/// The line that says what a tint stands for; empty if it stands for nothing.
pub(super) fn tint(meaning: &str) -> String {
    if meaning.is_empty() {
        String::new()
    } else {
        format!("tint: {meaning}")
    }
}

/// What the levels of a subject are, from the least to the greatest; empty if they are all the same.
pub(super) fn meaning(subject: &Subject, levels: &[f32]) -> String {
    let (low, high) = levels
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), level| {
            (low.min(*level), high.max(*level))
        });
    if low >= high {
        return String::new();
    }
    let (title, _, unit, base) = subject.name();
    // Three figures of their distance: beyond that is where sites happen to lie on a smooth hill.
    let figure = 10f64.powf(f64::from(high - low).log10().floor() - 2.0);
    let shown = |level: f32| super::overlay::plain(((base + f64::from(level)) / figure).round() * figure);
    format!("{title} {} … {}{unit}", shown(low), shown(high))
}

/// Speed and density in one picture, each over its largest distance from the background: where the speed is that, the density shows.
fn together(mut parts: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
    if parts.len() < 2 {
        return parts;
    }
    for part in &mut parts {
        let largest = part.iter().map(|level| level.abs()).fold(0.0, f32::max);
        if largest > 0.0 {
            for level in part.iter_mut() {
                *level /= largest;
            }
        }
    }
    let pairs = parts[0].iter().zip(&parts[1]);
    vec![pairs.map(|(speed, density)| combined([*speed, *density])).collect()]
}

/// Values of a row minus the background, sampled: of each sample's sites the one that is furthest from 0.
fn levels(request: &ImageRequest, step: usize, size: [usize; 2], fill: impl Fn(usize, &mut [f64]) + Sync) -> Vec<f32> {
    let mut values = vec![0.0f32; size[0] * size[1]];
    values.par_chunks_mut(size[0]).enumerate().for_each_init(
        || vec![0.0f64; request.x.len()],
        |row, (line, out)| {
            for j in sampled(line, step, request) {
                fill(j, row);
                for (i, value) in row.iter().enumerate() {
                    #[expect(clippy::cast_possible_truncation, reason = "shown with 8 bits")]
                    let value = *value as f32;
                    if value.abs() > out[i / step].abs() {
                        out[i / step] = value;
                    }
                }
            }
        },
    );
    values
}

/// Pixels where the level changes, `thick` pixels wide; none at all where they would cover too much.
fn contours(levels: &[f32], rect: Rect, thick: usize) -> Vec<bool> {
    let (low, high) = levels.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), &v| {
        (lo.min(v), hi.max(v))
    });
    let mut lines = vec![false; levels.len()];
    if high - low < 1e-6 {
        return lines;
    }
    let band = |n: usize| floor((levels[n] - low) / (high - low) * (CONTOURS - 1.0) + 0.5);
    let mut count = 0.0;
    for y in 0..rect.height {
        for x in 0..rect.width {
            let n = x + rect.width * y;
            let here = band(n);
            let differs = |other: usize| band(other) != here;
            if (x + 1 < rect.width && differs(n + 1)) || (y + 1 < rect.height && differs(n + rect.width)) {
                count += 1.0;
                for dy in 0..thick.min(rect.height - y) {
                    for dx in 0..thick.min(rect.width - x) {
                        lines[n + dx + rect.width * dy] = true;
                    }
                }
            }
        }
    }
    if count > MOST_CONTOUR * small(levels.len()) {
        lines.fill(false);
    }
    lines
}

#[expect(clippy::cast_precision_loss, reason = "counts of pixels and sites")]
fn small(n: usize) -> f32 {
    n as f32
}

fn floor(value: f32) -> usize {
    truncated(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::picture::mixed;

    /// What sampling makes of the lowest place of a trap is no figure of the trap.
    #[test]
    fn levels_are_named_to_three_figures_of_their_distance() {
        let potential = Subject::Potential(Vec::new());
        for (levels, said) in [
            ([1.25e-5, 1.3432], "potential 0 … 1.34"),
            ([-1.493, 1.494], "potential −1.49 … 1.49"),
            ([0.0, 33.75], "potential 0 … 33.8"),
        ] {
            assert_eq!(meaning(&potential, &levels), said);
        }
        assert_eq!(
            meaning(&Subject::Speed(1500.0), &[-2.0, 40.0]),
            "sound speed 1498 … 1540 m/s"
        );
    }

    /// A wall and a medium that begin at the border of an absorbing layer go on through it; a faster and a denser place are both drawn and named.
    #[test]
    fn media_are_drawn_as_they_are_stepped() {
        let layer = |sets: &str, [left, right]: [u32; 2], [low, high]: [u32; 2], value: f64| {
            format!(
                "[[layer]]\nsets = \"{sets}\"\nshape = \"box\"\nmin = [{left}.0, {low}.0]\nmax = [{right}.0, {high}.0]\nvalue = {value:?}\n"
            )
        };
        let text = format!(
            "format = 1\n[grid]\nsize = [40, 30]\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 6\n[acoustic]\n[[pulse]]\ncenter = [25.0, 15.0]\nwidth = 2.0\n{}{}{}",
            layer("wall", [20, 21], [6, 12], 1.0),
            layer("speed", [30, 33], [10, 20], 500.0),
            layer("density", [10, 12], [10, 20], 3.0)
        );
        let (_, scenario) = crate::solver::read_scene_text(&text, None, &[]).unwrap();
        let request = ImageRequest::new(crate::scene::scenario::Quantity::Pressure, [0..40, 0..30], 0, [40, 30]);
        let shade = Shade::new(&scenario, &request, [40, 30]).unwrap();
        assert_eq!(shade.meaning(), "sound speed 343 … 500 m/s, density 1.2 … 3 kg/m³");
        let rect = Rect::new(0, 0, 40, 30);
        let covers = shade.covers(rect, &[]);
        let at = |i: usize, j: usize| covers[i + 40 * (29 - j)];
        for (j, is_wall) in [(0, true), (5, true), (12, true), (13, false), (29, false)] {
            assert_eq!(at(20, j) >= RIM, is_wall, "{j}");
        }
        for (i, is_tinted) in [(5, false), (11, true), (15, false), (32, true), (36, true), (39, true)] {
            assert_eq!(at(i, 15) > 0.0, is_tinted, "{i}");
        }
    }

    #[test]
    fn a_row_is_laid_on_as_pixels_are_mixed() {
        let colors = [[10, 20, 30], [200, 100, 0], [255, 255, 255], [0, 90, 160]];
        let covers = [0.0, 0.0, RIM, INSIDE, 0.4, -0.16, 0.0, 1.0, 0.003, 0.0];
        let before: Vec<u8> = (0..30u8).map(|n| n.wrapping_mul(67)).collect();
        let mut row = before.clone();
        CoveredRow::new(&covers, colors).lay(&mut row);
        for ((cover, was), is) in covers.iter().zip(before.chunks_exact(3)).zip(row.chunks_exact(3)) {
            let was = [was[0], was[1], was[2]];
            let expected = match *cover {
                RIM => colors[0],
                INSIDE => colors[1],
                cover if cover < 0.0 => mixed(was, colors[3], -cover),
                cover => mixed(was, colors[2], cover),
            };
            // A cover in 255 parts is off by 1/510 of a difference of 255, and each way is rounded.
            let near = |(a, b): (&u8, &u8)| a.abs_diff(*b) <= 1;
            assert!(is.iter().zip(&expected).all(near), "{cover}: {is:?} {expected:?}");
            if cover.abs() >= 1.0 || *cover == 0.0 {
                assert_eq!(is, expected, "{cover}");
            }
        }
        CoveredRow::new(&[0.0; 4], colors).lay(&mut row);
        CoveredRow::new(&covers, colors).lay(&mut []);
    }
}
