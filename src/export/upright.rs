//! Pictures that are taller than wide, for phones: the field over the whole width, title and clock above it, colours and note below.

use super::cards::fitted;
use super::overlay::{Legend, ceil, floor, pixel};
use super::picture::{Picture, Rect};
use super::text::Align;
use super::theme::Theme;
use super::ticks::power_of_ten;
use crate::colormap::{Kind, phase_entry};
use std::f32::consts::TAU;

/// Units of text above the field: two lines of a title and the clock.
const ABOVE: f32 = 6.4;

/// Units of text below it: colours, and four lines of a note.
const BELOW: f32 = 9.6;

/// Units of text from the field's lower edge to the line that says what its tint stands for: between the field and the colours, which begin at 1.
const CAPTION: f32 = 0.75;

/// Pixels across in which words have room.
pub(super) const LEAST: usize = 160;

/// Whether a picture of this size has this layout.
pub fn is_upright([width, height]: [usize; 2]) -> bool {
    4 * height >= 5 * width
}

/// The size of text, and where a field of these proportions stands.
pub(super) fn layout([width, height]: [usize; 2], [nx, ny]: [usize; 2]) -> (f32, Rect) {
    let unit = (pixel(width) / 24.0).min(pixel(height) / 40.0).clamp(9.0, 80.0);
    let most = (pixel(height) - (ABOVE + BELOW) * unit).max(16.0);
    let share = pixel(ny) / pixel(nx);
    let (wide, high) = if pixel(width) * share <= most {
        (pixel(width), pixel(width) * share)
    } else {
        (most / share, most)
    };
    let left = pixel(height) - (ABOVE + BELOW) * unit - high;
    let rect = Rect {
        x: floor((pixel(width) - wide) / 2.0),
        y: floor(ABOVE * unit + left / 2.0),
        width: floor(wide).max(1),
        height: floor(high).max(1),
    };
    (unit, rect)
}

/// The canvas around a field of this size, where the field stands, and the size of text.
pub(super) fn around([width, height]: [usize; 2]) -> ([usize; 2], Rect, f32) {
    let wide = width.max(LEAST);
    let unit = (pixel(wide) / 24.0).clamp(9.0, 80.0);
    let above = ceil(ABOVE * unit);
    // It stays upright where the field itself is small.
    let high = (above + height + ceil(BELOW * unit)).max((5 * wide).div_ceil(4));
    let field = Rect::new((wide - width) / 2, above, width, height);
    ([wide, high], field, unit)
}

impl Legend<'_> {
    /// Draws title, clock and colours around a field that stands upright.
    pub(super) fn draw_upright(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        let middle = pixel(picture.width) / 2.0;
        let room = pixel(picture.width) - 2.0 * unit;
        let clock = self.clock();
        let mut base = pixel(field.y) - 0.7 * unit;
        theme.label(unit).draw(picture, middle, base, Align::Center, &clock);
        let (size, lines) = fitted(self.title, room, |size| {
            (theme.title(1.5 * unit * size), floor(2.0 / size))
        });
        let style = theme.title(1.5 * unit * size);
        base -= 1.8 * unit;
        for line in lines.iter().rev() {
            style.draw(picture, middle, base, Align::Center, line);
            base -= 1.9 * unit * size;
        }
        let bar = Rect {
            x: ceil(unit * 1.6),
            y: field.y + field.height + ceil(unit * 1.0),
            width: picture.width.saturating_sub(2 * ceil(unit * 1.6)).max(1),
            height: ceil(unit * 0.7),
        };
        if self.map.kind == Kind::Cyclic {
            self.hues(picture, bar, unit, theme);
        } else {
            self.colors_across(picture, bar, unit, theme);
        }
    }

    /// The colour bar from left to right, with its labels below.
    fn colors_across(&self, picture: &mut Picture, bar: Rect, unit: f32, theme: &Theme) {
        // With five wanted a range from −r to r has three at least.
        let (levels, ticks) = self.color_bar().ticks(5);
        let mapping = levels.mapping(self.map.kind);
        let (low, high) = (f64::from(levels.low), f64::from(levels.high));
        for x in 0..bar.width {
            let part = (pixel(x) + 0.5) / pixel(bar.width);
            let value = levels.low + (levels.high - levels.low) * part;
            let column = Rect {
                x: bar.x + x,
                width: 1,
                ..bar
            };
            picture.fill(column, self.map.table()[mapping.entry(value)], 1.0);
        }
        let style = theme.label(unit * 0.85);
        let below = pixel(bar.y + bar.height) + 1.15 * unit;
        for (value, label) in &ticks.marks {
            #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
            let part = (((value - low) / (high - low)) as f32).max(0.0).powf(self.gamma);
            let x = pixel(bar.x) + part * pixel(bar.width);
            style.draw(picture, x, below, Align::Center, label);
        }
        let title = format!("{} {}", self.sign, power_of_ten(ticks.exponent));
        let middle = pixel(picture.width) / 2.0;
        style.draw(picture, middle, below + 1.35 * unit, Align::Center, title.trim());
    }

    /// The hues of phases from −π to π.
    fn hues(&self, picture: &mut Picture, bar: Rect, unit: f32, theme: &Theme) {
        for x in 0..bar.width {
            let turn = (pixel(x) + 0.5) / pixel(bar.width) - 0.5;
            let column = Rect {
                x: bar.x + x,
                width: 1,
                ..bar
            };
            picture.fill(column, self.map.table()[phase_entry(turn * TAU)], 1.0);
        }
        let style = theme.label(unit * 0.85);
        let below = pixel(bar.y + bar.height) + 1.15 * unit;
        for (part, label) in [(0.0, "−π"), (0.5, "0"), (1.0, "π")] {
            let x = pixel(bar.x) + part * pixel(bar.width);
            style.draw(picture, x, below, Align::Center, label);
        }
        let middle = pixel(picture.width) / 2.0;
        style.draw(
            picture,
            middle,
            below + 1.35 * unit,
            Align::Center,
            "arg ψ, brightness |ψ|",
        );
    }
}

/// A line between field and colours, smaller where it is wider than the picture; nothing if it were too small to be read.
pub(super) fn caption(picture: &mut Picture, field: Rect, words: &str, (unit, theme): (f32, &Theme)) {
    let room = pixel(picture.width) - 2.0 * unit;
    let size = (room / theme.label(unit).width(words).max(1.0)).min(0.7);
    if words.is_empty() || size < 0.5 {
        return;
    }
    let middle = pixel(picture.width) / 2.0;
    let base = pixel(field.y + field.height) + CAPTION * unit;
    theme
        .label(unit * size)
        .draw(picture, middle, base, Align::Center, words);
}

/// A note below colours and field.
pub(super) fn note(picture: &mut Picture, field: Rect, words: &str, (unit, theme): (f32, &Theme)) {
    let first = pixel(field.y + field.height) + 6.0 * unit;
    let room = pixel(picture.height) - 0.35 * unit - first;
    let most = |size: f32| {
        if room < 0.0 {
            0
        } else {
            1 + floor(room / (1.45 * unit * size))
        }
    };
    let style = |size: f32| theme.title(1.05 * unit * size);
    let (size, lines) = fitted(words, pixel(picture.width) - 2.0 * unit, |size| {
        (style(size), most(size))
    });
    let middle = pixel(picture.width) / 2.0;
    for (n, line) in lines.iter().enumerate() {
        let base = first + pixel(n) * 1.45 * unit * size;
        style(size).draw(picture, middle, base, Align::Center, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "numbers of pixels")]
    fn fields_have_the_width_and_leave_room_for_words() {
        for (sites, size) in [
            ([1024, 512], [1080, 1920]),
            ([256, 256], [1080, 1920]),
            ([100, 400], [540, 960]),
        ] {
            let (unit, field) = layout(size, sites);
            assert!(field.y as f32 >= ABOVE * unit - 1.0, "{field:?}");
            assert!(
                (field.y + field.height) as f32 <= size[1] as f32 - BELOW * unit + 1.0,
                "{field:?}"
            );
            let kept = field.width as f64 * sites[1] as f64 / (field.height as f64 * sites[0] as f64);
            assert!((kept - 1.0).abs() < 0.01, "{field:?}");
        }
        for size in [[624, 1196], [40, 400], [9, 53], [256, 300], [2000, 4096]] {
            let (canvas, field, unit) = around(size);
            assert!(is_upright(canvas), "{size:?}");
            assert_eq!([field.width, field.height], size);
            assert!(
                field.y as f32 >= ABOVE * unit
                    && (field.y + field.height) as f32 <= canvas[1] as f32 - BELOW * unit + 1.0,
                "{field:?}"
            );
        }
        let (_, field) = layout([1080, 1920], [1024, 512]);
        assert_eq!((field.x, field.width), (0, 1080));
        assert!(is_upright([1080, 1920]) && !is_upright([1080, 1080]) && !is_upright([1920, 1080]));
    }
}
