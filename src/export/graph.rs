//! A field along a line as a graph: |ψ|² as an area coloured by phase, the potential as a faint line on a scale of its own, walls as grey bands.

use super::overlay::{ceil, floor, frame, pixel, shortened, signed};
use super::picture::{Picture, Rect, mixed};
use super::text::Align;
use super::theme::Theme;
use super::ticks::{Ticks, power_of_ten, short, ticks};
use crate::space::medium::line_ends;

/// The medium below a graph.
#[derive(Clone, Debug)]
pub struct GraphMedium {
    /// Values minus the background, one per column of pixels.
    pub levels: Vec<f32>,
    /// Its sign.
    pub sign: &'static str,
    /// Its unit, with a leading space where there is one.
    pub unit: &'static str,
    /// Its background.
    pub base: f64,
}

impl GraphMedium {
    /// The smallest and the largest level, including 0.
    fn ends(&self) -> [f32; 2] {
        let ends = |[low, high]: [f32; 2], &level: &f32| [low.min(level), high.max(level)];
        self.levels.iter().fold([0.0; 2], ends)
    }

    /// What it is, in words.
    fn label(&self) -> String {
        let [low, high] = self.ends();
        let value = |level: f32| short(self.base + f64::from(level));
        let Self { sign, unit, base, .. } = self;
        let all = if low < 0.0 || *base != 0.0 {
            format!("{sign} from {} to {}{unit}", value(low), value(high))
        } else {
            format!("{sign} ≤ {}{unit}", value(high))
        };
        let [_, top] = line_ends(&self.levels);
        if top < high {
            format!("{all}, drawn up to {}{unit}", value(top))
        } else {
            all
        }
    }
}

/// Units of text across a strip of hues; its names stand at both ends.
pub const STRIP: f32 = 8.0;

/// The contents of a graph; all arrays have one entry per column of pixels.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// The curve.
    pub values: &'a [f32],
    /// The colour under it.
    pub colors: &'a [[u8; 3]],
    /// Values at the lower and upper edge.
    pub range: [f32; 2],
    /// Lengths at the left and right edge.
    pub span: [f64; 2],
    /// Potential, or sound speed and density; the second is dashed.
    pub media: &'a [GraphMedium],
    /// Columns that stand in a wall; empty if there is none.
    pub walls: &'a [bool],
    /// What the curve is.
    pub sign: &'a str,
    /// What the horizontal axis is.
    pub along: &'a str,
    /// Whether a strip of hues stands in the middle above it, [`STRIP`] units of text wide at most.
    pub hues: bool,
}

impl Graph<'_> {
    /// Draws it with its axes; the curve's area is `rect`.
    pub fn draw(&self, picture: &mut Picture, rect: Rect, unit: f32, theme: &Theme) {
        let [low, high] = self.range;
        let height = pixel(rect.height);
        let to_y = |value: f32| pixel(rect.y) + (high - value) / (high - low).max(f32::MIN_POSITIVE) * height;
        self.grid(picture, rect, unit, theme, &to_y);
        for (x, _) in self.walls.iter().enumerate().filter(|(_, wall)| **wall) {
            let column = Rect {
                x: rect.x + x,
                width: 1,
                ..rect
            };
            picture.fill(column, theme.wall, 0.55);
        }
        self.media(picture, rect, unit, theme);
        let base = to_y(0.0_f32.clamp(low, high));
        for (x, (value, color)) in self.values.iter().zip(self.colors).enumerate() {
            let y = to_y(value.clamp(low, high));
            column(picture, rect, x, [y.min(base), y.max(base)], *color, 0.9);
        }
        let ys: Vec<f32> = self.values.iter().map(|value| to_y(value.clamp(low, high))).collect();
        let bright: Vec<[u8; 3]> = self.colors.iter().map(|c| mixed(*c, theme.text, 0.6)).collect();
        let is_wall = |x: usize| self.walls.get(x) == Some(&true) && self.values[x] == 0.0;
        curve(picture, rect, (&ys, &is_wall), |x| bright[x], (unit / 9.0).max(1.4));
        frame(picture, rect, theme);
    }

    /// Round values along the vertical axis, so many that their labels stand apart.
    fn upright(&self, rect: Rect, unit: f32) -> Ticks {
        let count = (rect.height / ceil(unit * 2.6)).clamp(2, 6);
        ticks(f64::from(self.range[0]), f64::from(self.range[1]), count)
    }

    /// What the curve is, with the power of ten of its labels.
    fn title(&self, upright: &Ticks) -> String {
        let title = format!("{} {}", self.sign, power_of_ten(upright.exponent));
        title.trim().to_owned()
    }

    /// How wide what the curve is stands above its upper left corner, pixels.
    pub(super) fn title_width(&self, rect: Rect, unit: f32, theme: &Theme) -> f32 {
        theme.label(unit).width(&self.title(&self.upright(rect, unit)))
    }

    fn grid(&self, picture: &mut Picture, rect: Rect, unit: f32, theme: &Theme, to_y: &dyn Fn(f32) -> f32) {
        let style = theme.label(unit * 0.85);
        let upright = self.upright(rect, unit);
        for (value, label) in &upright.marks {
            #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
            let y = to_y(*value as f32);
            let line = Rect {
                y: floor(y).min(rect.y + rect.height - 1),
                height: 1,
                ..rect
            };
            picture.fill(line, theme.text, if *value == 0.0 { 0.25 } else { 0.08 });
            style.draw(picture, pixel(rect.x) - 0.5 * unit, y + 0.3 * unit, Align::Right, label);
        }
        theme.label(unit).draw(
            picture,
            pixel(rect.x),
            pixel(rect.y) - 0.7 * unit,
            Align::Left,
            &self.title(&upright),
        );
        let count = (rect.width / ceil(unit * 6.0)).clamp(2, 8);
        let [left, right] = self.span;
        let level = ticks(left, right, count);
        let below = pixel(rect.y + rect.height);
        for (value, label) in &level.marks {
            #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
            let part = ((value - left) / (right - left)) as f32;
            let x = pixel(rect.x) + part * pixel(rect.width);
            let mark = Rect {
                x: floor(x).min(rect.x + rect.width - 1),
                y: rect.y + rect.height,
                width: 1,
                height: ceil(unit * 0.3),
            };
            picture.fill(mark, theme.line, 1.0);
            style.draw(picture, x, below + 1.3 * unit, Align::Center, label);
        }
        let title = format!("{} {}", self.along, power_of_ten(level.exponent));
        let middle = pixel(rect.x) + pixel(rect.width) / 2.0;
        theme
            .label(unit)
            .draw(picture, middle, below + 2.5 * unit, Align::Center, title.trim());
    }

    fn media(&self, picture: &mut Picture, rect: Rect, unit: f32, theme: &Theme) {
        let height = pixel(rect.height);
        let bottom = pixel(rect.y + rect.height);
        let shown: Vec<(&GraphMedium, [f32; 2])> =
            (self.media.iter().map(|medium| (medium, line_ends(&medium.levels))))
                .filter(|(_, [low, high])| high > low)
                .collect();
        for (place, (medium, [low, high])) in shown.iter().enumerate() {
            // Four fifths of the height, from the lower edge up.
            let ys: Vec<f32> = (medium.levels.iter())
                .map(|u| pixel(rect.y) + height * (1.0 - 0.8 * (u - low) / (high - low)))
                .collect();
            for (x, y) in ys.iter().enumerate() {
                column(picture, rect, x, [*y, bottom], theme.hill, 0.07);
            }
            let dash = if place == 0 { 0 } else { ceil(unit * 0.4) };
            stairs(picture, rect, &ys, theme.quiet, ((unit / 14.0).max(1.0), dash));
        }
        let labels: Vec<String> = (shown.iter().enumerate())
            .map(|(place, (medium, _))| format!("{}{}", if place == 0 { "" } else { "dashed " }, medium.label()))
            .collect();
        let labels = labels.join(", ");
        // What the curve is stands on the same line, on the left, and hues in the middle.
        let room = if self.hues {
            (pixel(rect.width) - STRIP * unit) / 2.0 - 2.0 * unit
        } else {
            pixel(rect.width) - self.title_width(rect, unit, theme) - unit
        };
        let size = 0.85 * (room / theme.label(0.85 * unit).width(&labels).max(1.0)).clamp(0.65, 1.0);
        let style = theme.label(size * unit);
        let labels = shortened(&labels, |labels| style.width(labels) <= room);
        let right = pixel(rect.x + rect.width);
        style.draw(picture, right, pixel(rect.y) - 0.7 * unit, Align::Right, &labels);
    }
}

/// Fills column `x` of `rect` between two heights, with partial coverage at both ends.
fn column(picture: &mut Picture, rect: Rect, x: usize, [top, bottom]: [f32; 2], color: [u8; 3], cover: f32) {
    for y in floor(top).max(rect.y)..ceil(bottom).min(rect.y + rect.height) {
        let part = (bottom.min(pixel(y + 1)) - top.max(pixel(y))).clamp(0.0, 1.0);
        picture.blend(signed(rect.x + x), signed(y), color, cover * part);
    }
}

/// A line through (column, y), `thick` pixels wide: in each column it covers the heights that the curve passes from the middle to the
/// last column to the middle to the next. It ends at walls, where nothing waves.
fn curve(
    picture: &mut Picture,
    rect: Rect,
    (ys, is_wall): (&[f32], &dyn Fn(usize) -> bool),
    color: impl Fn(usize) -> [u8; 3],
    thick: f32,
) {
    for (x, &y) in ys.iter().enumerate().filter(|(x, _)| !is_wall(*x)) {
        let to = |beside: usize| f32::midpoint(y, if is_wall(beside) { y } else { ys[beside] });
        let (last, next) = (to(x.saturating_sub(1)), to((x + 1).min(ys.len() - 1)));
        let (top, bottom) = (y.min(last).min(next) - thick / 2.0, y.max(last).max(next) + thick / 2.0);
        let clipped = [top.max(pixel(rect.y)), bottom.min(pixel(rect.y + rect.height))];
        column(picture, rect, x, clipped, color(x), 1.0);
    }
}

/// A line that jumps between two columns, as box potentials do; with dashes as long as their gaps, or none.
fn stairs(picture: &mut Picture, rect: Rect, ys: &[f32], color: [u8; 3], (thick, dash): (f32, usize)) {
    let is_drawn = |x: usize| dash == 0 || (x / dash).is_multiple_of(2);
    for (x, &y) in ys.iter().enumerate().filter(|(x, _)| is_drawn(*x)) {
        let next = ys[(x + 1).min(ys.len() - 1)];
        let (top, bottom) = (y.min(next) - thick / 2.0, y.max(next) + thick / 2.0);
        column(picture, rect, x, [top, bottom], color, 0.75);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hill between steep slopes is drawn on a scale on which it is seen, and the words say so; a plain hill has them all.
    #[test]
    fn scales_are_cut_for_hills_between_slopes() {
        let medium = |levels: Vec<f32>| GraphMedium {
            levels,
            sign: "U",
            unit: "",
            base: 0.0,
        };
        let well = medium(
            (0..=200_u8)
                .map(|n| (f32::from(n) / 100.0 - 1.0) * 3.0)
                .map(|x| (x * x - 1.0).powi(2))
                .collect(),
        );
        assert!(well.label().starts_with("U ≤ 64.0, drawn up to 3"), "{}", well.label());
        assert_eq!(medium(vec![0.0, 1.0, 0.0]).label(), "U ≤ 1.00");
    }

    /// The curve of a sound ends at a wall as high as it is there, and does not fall to 0 within it.
    #[test]
    fn curves_end_at_walls() {
        let theme = Theme::light();
        let rect = Rect::new(20, 20, 200, 100);
        let walls: Vec<bool> = (0..200).map(|x| x < 50).collect();
        let values: Vec<f32> = walls.iter().map(|wall| if *wall { 0.0 } else { 0.5 }).collect();
        let curve = |walls: &[bool]| {
            let mut picture = Picture::filled(240, 140, theme.ground);
            let ys: Vec<f32> = values.iter().map(|value| 120.0 - 100.0 * value).collect();
            super::curve(&mut picture, rect, (&ys, &|x| walls[x]), |_| [200, 0, 0], 2.0);
            let drawn = |x: usize| (0..140).filter(|y| picture.at(x, *y) != theme.ground).count();
            [drawn(20 + 25), drawn(20 + 50), drawn(20 + 150)]
        };
        assert_eq!(curve(&walls), [0, 2, 2]);
        assert!(curve(&[false; 200])[1] > 20);
    }

    /// In a narrow picture what the medium is stands clear of what the curve is.
    #[test]
    fn the_names_of_the_medium_keep_clear_of_that_of_the_curve() {
        let (theme, unit) = (Theme::light(), 12.0);
        let rect = Rect::new(60, 40, 240, 100);
        let values = [0.5; 240];
        let medium = |sign, base| GraphMedium {
            levels: (0..240u8).map(f32::from).collect(),
            sign,
            unit: " m/s",
            base,
        };
        let media = [medium("c", 1500.0), medium("ρ", 1000.0)];
        let drawn = |media, hues| {
            let graph = Graph {
                values: &values,
                colors: &[[200, 0, 0]; 240],
                range: [0.0, 1.0],
                span: [0.0, 1.0],
                media,
                walls: &[],
                sign: "p (Pa)",
                along: "x",
                hues,
            };
            let mut picture = Picture::filled(320, 200, theme.ground);
            graph.draw(&mut picture, rect, unit, theme);
            picture
        };
        let differ = |hues, columns: std::ops::Range<usize>| {
            let (with, without) = (drawn(&media, hues), drawn(&[], hues));
            let places = columns.flat_map(|x| (0..rect.y).map(move |y| (x, y)));
            places.filter(|(x, y)| with.at(*x, *y) != without.at(*x, *y)).count()
        };
        let title = rect.x + ceil(theme.label(unit).width("p (Pa)"));
        assert_eq!(differ(false, 0..title + 6), 0);
        assert!(differ(false, title + 6..320) > 100);
        // Beside a strip of hues as well, whose right end has a name.
        let strip = rect.x + rect.width / 2 + ceil(STRIP / 2.0 * unit) + ceil(1.5 * unit);
        assert_eq!(differ(true, 0..strip), 0);
        assert!(differ(true, strip..320) > 30);
    }
}
