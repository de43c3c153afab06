//! The colour bar beside a field or a plot.

use super::overlay::{ceil, floor, frame, pixel, plain, signed};
use super::picture::{Picture, Rect};
use super::text::Align;
use super::theme::Theme;
use super::ticks::{Ticks, power_of_ten, ticks};
use crate::colormap::{Colormap, Levels};

/// Units of text that a bar with its numbers takes beside a field.
pub(super) const ROOM: f32 = 6.6;

/// What a colour bar shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColorBar<'a> {
    /// The sign of the quantity, with its unit.
    pub sign: &'a str,
    /// Its colours.
    pub map: &'a Colormap,
    /// The values at the ends of the map.
    pub levels: Levels,
    /// Exponent of the brightness.
    pub gamma: f32,
}

impl ColorBar<'_> {
    /// The levels that the bar spans, with about so many labels; of a field that has a single value, e.g. before a source plays, that value among all colours.
    pub fn ticks(&self, count: usize) -> (Levels, Ticks) {
        let Levels { low, high } = self.levels;
        let levels = self.levels.spread(self.map.kind);
        if levels == self.levels {
            let (low, high) = (f64::from(low), f64::from(high));
            // One number is no scale.
            let finer = (count..count + 4).map(|count| ticks(low, high, count));
            let found = finer.into_iter().find(|ticks| ticks.marks.len() >= 2);
            return (levels, found.unwrap_or_else(|| ticks(low, high, count)));
        }
        let marks = vec![(f64::from(low), plain(f64::from(low)))];
        (levels, Ticks { marks, exponent: 0 })
    }

    /// Draws the bar right of a field, its sign on the line `base`.
    pub fn draw(&self, picture: &mut Picture, (field, base): (Rect, f32), unit: f32, theme: &Theme) {
        // Beside a field of few rows it has room for its numbers, where the picture has.
        let below = picture.height.saturating_sub(field.y + ceil(unit));
        let bar = Rect {
            x: field.x + field.width + ceil(unit * 0.9),
            y: field.y,
            width: ceil(unit * 0.75),
            height: field.height.max(ceil(5.0 * unit).min(below)),
        };
        let count = (bar.height / ceil(unit * 3.0)).clamp(2, 6);
        let (levels, ticks) = self.ticks(count);
        let mapping = levels.mapping(self.map.kind);
        let (low, high) = (f64::from(levels.low), f64::from(levels.high));
        let value_at = |y: usize| {
            let part = (pixel(y) + 0.5) / pixel(bar.height);
            levels.high + (levels.low - levels.high) * part
        };
        for y in 0..bar.height {
            let color = self.map.table()[mapping.entry(value_at(y))];
            for x in 0..bar.width {
                picture.blend(signed(bar.x + x), signed(bar.y + y), color, 1.0);
            }
        }
        frame(picture, bar, theme);
        let style = theme.label(unit * 0.85);
        let right = pixel(bar.x + bar.width);
        for (value, label) in &ticks.marks {
            #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
            let part = 1.0 - (((value - low) / (high - low)) as f32).max(0.0).powf(self.gamma);
            let y = pixel(bar.y) + part * pixel(bar.height);
            let mark = Rect {
                x: bar.x + bar.width,
                y: floor(y.min(pixel(bar.y + bar.height - 1))),
                width: ceil(unit * 0.25),
                height: ceil(unit / 20.0),
            };
            picture.fill(mark, theme.line, 1.0);
            // Labels at the ends stay within the height of the field.
            // A field lower than a letter has them all at its lower end.
            let base = (y + 0.3 * unit)
                .max(pixel(bar.y) + 0.62 * unit)
                .min(pixel(bar.y + bar.height));
            style.draw(picture, right + unit * 0.45, base, Align::Left, label);
        }
        self.title(picture, (bar, base), unit, (ticks.exponent, theme));
    }

    /// The sign above a bar, with a power of ten.
    fn title(&self, picture: &mut Picture, (bar, base): (Rect, f32), unit: f32, (exponent, theme): (i32, &Theme)) {
        let room = pixel(picture.width) - pixel(bar.x) - 0.3 * unit;
        let fits = |words: &str| (room / theme.label(unit).width(words).max(1.0)).min(1.0);
        let power = power_of_ten(exponent);
        let title = format!("{} {power}", self.sign);
        // A sign with a long unit is set smaller, so that it ends within the picture, and stands above its power of ten where the letters would be too small.
        let lines = if fits(title.trim()) < 0.75 && !power.is_empty() {
            vec![(base - 0.75 * unit, self.sign), (base + 0.3 * unit, power.as_str())]
        } else {
            vec![(base, title.trim())]
        };
        let most = if lines.len() > 1 { 0.8 } else { 1.0 };
        for (base, words) in lines {
            let style = theme.label(unit * fits(words).min(most));
            style.draw(picture, pixel(bar.x), base, Align::Left, words);
        }
    }
}
