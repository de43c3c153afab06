//! Title, clock, colour bar and scale bar around a field, in the margins that [`Margins`] leaves for them.

use super::color_bar::ColorBar;
use super::picture::{Picture, Rect};
use super::text::Align;
use super::theme::Theme;
use super::ticks::{number, round_down, short};
use crate::colormap::{Colormap, Kind, Levels, dimmed, direction_entry};
use crate::physics::Equation;
use crate::rounding::truncated;
use crate::scene::scenario::Quantity;

/// Room around a field, pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    /// Left of it.
    pub left: usize,
    /// Above it.
    pub top: usize,
    /// Right of it.
    pub right: usize,
    /// Below it.
    pub bottom: usize,
}

impl Margins {
    /// Room for title, clock and colour bar around a field, for text of `unit` pixels.
    #[must_use]
    pub fn for_field(unit: f32) -> Self {
        let room = |units: f32| ceil(units * unit);
        Self {
            left: room(1.2),
            top: room(2.6),
            right: room(super::color_bar::ROOM),
            bottom: room(1.2),
        }
    }

    /// Room for the axes of a graph, and for title and clock if they are wanted.
    #[must_use]
    pub fn for_graph(unit: f32, titled: bool) -> Self {
        let room = |units: f32| ceil(units * unit);
        Self {
            left: room(4.2),
            top: room(if titled { 4.4 } else { 2.2 }),
            right: room(1.6),
            bottom: room(3.0),
        }
    }

    /// What is left of a canvas.
    pub fn inside(&self, width: usize, height: usize) -> Rect {
        Rect {
            x: self.left,
            y: self.top,
            width: width.saturating_sub(self.left + self.right).max(1),
            height: height.saturating_sub(self.top + self.bottom).max(1),
        }
    }
}

/// How much of what is below a scale bar its ground covers.
const SCALE_GROUND: f32 = 0.6;

/// What the legend says.
#[derive(Clone, Debug)]
pub struct Legend<'a> {
    /// The scene's title.
    pub title: &'a str,
    /// The time, in `time_unit`.
    pub time: f64,
    /// Which plane of a box is shown, e.g. `z = 1.2 m`; empty for all else.
    pub plane: String,
    /// Decimals of the clock, the same in the whole film.
    pub decimals: usize,
    /// The sign of what is shown.
    pub sign: &'static str,
    /// In which colours.
    pub map: &'a Colormap,
    /// Values at the ends of the map.
    pub levels: Levels,
    /// Exponent of the brightness.
    pub gamma: f32,
    /// Width of the field as a length, in `length_unit`.
    pub length: f64,
    /// Unit of lengths, e.g. ` m`; empty if the scene has none.
    pub length_unit: String,
    /// Unit of times, likewise.
    pub time_unit: String,
}

/// The sign of a quantity with its unit: p (Pa).
pub fn sign(quantity: Quantity, equation: Equation) -> &'static str {
    signs(quantity, equation).0
}

/// The same of a difference of two runs.
pub fn sign_of_difference(quantity: Quantity, equation: Equation) -> &'static str {
    signs(quantity, equation).1
}

fn signs(quantity: Quantity, equation: Equation) -> (&'static str, &'static str) {
    match quantity {
        Quantity::Energy if equation == Equation::Acoustic => ("energy (J/m³)", "Δ energy (J/m³)"),
        Quantity::Peak if equation == Equation::Acoustic => ("peak (Pa)", "Δ peak (Pa)"),
        Quantity::Density => ("|ψ|²", "Δ|ψ|²"),
        Quantity::Phase => ("arg ψ", "|Δψ|"),
        Quantity::Real => ("Re ψ", "Δ Re ψ"),
        Quantity::Imaginary => ("Im ψ", "Δ Im ψ"),
        Quantity::Pressure => ("p (Pa)", "Δp (Pa)"),
        Quantity::Energy => ("energy", "Δ energy"),
        Quantity::Peak => ("peak |ψ|²", "Δ peak |ψ|²"),
        Quantity::Momentum => ("|ψ(k)|²", "Δ|ψ(k)|²"),
        Quantity::Rms => ("p rms (Pa)", "Δp rms (Pa)"),
        Quantity::Level => ("L (dB)", "ΔL (dB)"),
        Quantity::Velocity => ("|v| (m/s)", "Δ|v| (m/s)"),
        Quantity::Intensity => ("|I| (W/m²)", "Δ|I| (W/m²)"),
    }
}

/// A text shortened with `…` until it fits; empty if fewer than three letters would be left.
pub fn shortened(text: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut kept = text;
    let mut shown = text.to_owned();
    while !fits(&shown) {
        let Some((end, _)) = kept.char_indices().next_back() else {
            break;
        };
        kept = kept[..end].trim_end();
        shown = if kept.chars().count() < 3 {
            kept = "";
            String::new()
        } else {
            format!("{kept}…")
        };
    }
    shown
}

impl Legend<'_> {
    /// Draws title, clock and colours around a field in space, whose lengths stand at its box.
    pub fn draw_in_space(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        self.head(picture, field, pixel(field.y) - 0.95 * unit, unit, theme);
        self.colors(picture, field, unit, theme);
    }

    fn colors(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        if self.map.kind == Kind::Cyclic {
            self.wheel(picture, field, unit, theme);
        } else {
            let base = pixel(field.y) - 0.95 * unit;
            self.color_bar().draw(picture, (field, base), unit, theme);
        }
    }

    /// Draws everything around a field that stands at `field`; its scale bar lies over what is drawn in it.
    pub fn draw(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        let base = pixel(field.y) - 0.95 * unit;
        self.head(picture, field, base, unit, theme);
        frame(picture, field, theme);
        self.colors(picture, field, unit, theme);
    }

    /// The time, in words, behind the plane of a box.
    pub(super) fn clock(&self) -> String {
        let time = format!("t = {}{}", number(self.time, self.decimals), self.time_unit);
        if self.plane.is_empty() {
            time
        } else {
            format!("{}, {time}", self.plane)
        }
    }

    /// Title on the left, clock on the right, on a base line above a field; a title that is too long is cut.
    pub fn head(&self, picture: &mut Picture, field: Rect, base: f32, unit: f32, theme: &Theme) {
        let (left, title) = self.title_above(field, unit, theme);
        let title_style = theme.title(unit * 1.15);
        title_style.draw(picture, left, base, Align::Left, &title);
        let right = pixel(field.x + field.width);
        theme
            .label(unit)
            .draw(picture, right, base, Align::Right, &self.clock());
    }

    /// Where the title above a field begins, and what of it has room before the clock.
    fn title_above(&self, field: Rect, unit: f32, theme: &Theme) -> (f32, String) {
        let style = theme.title(unit * 1.15);
        let end = pixel(field.x + field.width) - theme.label(unit).width(&self.clock()) - unit;
        // Over a narrow field a long title begins farther left.
        let left = pixel(field.x).min((end - style.width(self.title)).max(unit));
        // Differences of places are rounded.
        let room = end - left + 0.1;
        (left, shortened(self.title, |title| style.width(title) <= room))
    }

    /// Its colour bar.
    pub(super) fn color_bar(&self) -> ColorBar<'_> {
        ColorBar {
            sign: self.sign,
            map: self.map,
            levels: self.levels,
            gamma: self.gamma,
        }
    }

    /// A disc: hue by angle, brightness by distance from its centre.
    fn wheel(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        let radius = 1.75 * unit;
        let center = (pixel(field.x + field.width) + 3.3 * unit, pixel(field.y) + 3.0 * unit);
        let reach = i64::try_from(ceil(radius) + 1).unwrap_or(0);
        let middle = (signed(floor(center.0)), signed(floor(center.1)));
        for y in middle.1 - reach..=middle.1 + reach {
            for x in middle.0 - reach..=middle.0 + reach {
                #[expect(clippy::cast_precision_loss, reason = "positions inside a picture")]
                let (dx, dy) = (x as f32 + 0.5 - center.0, center.1 - y as f32 - 0.5);
                let distance = dx.hypot(dy);
                let cover = (radius + 0.5 - distance).clamp(0.0, 1.0);
                let step = floor((distance / radius).min(1.0) * 255.0 + 0.5);
                let color = dimmed(self.map.table()[direction_entry(dx, dy)], step);
                picture.blend(x, y, color, cover);
            }
        }
        let style = theme.label(unit * 0.8);
        let gap = radius + 0.3 * unit;
        let (x, y) = center;
        style.draw(picture, x + gap, y + 0.28 * unit, Align::Left, "+1");
        style.draw(picture, x - gap, y + 0.28 * unit, Align::Right, "−1");
        style.draw(picture, x, y - gap, Align::Center, "+i");
        style.draw(picture, x, y + gap + 0.6 * unit, Align::Center, "−i");
        let most = format!("|ψ| ≤ {}", short(f64::from(self.levels.high)));
        style.draw(picture, x, y + gap + 2.3 * unit, Align::Center, &most);
    }

    /// The scale bar of a field: what it is called, its width in pixels and the ground on which it stands; `None` if it has no room.
    pub(super) fn scale(&self, field: Rect, unit: f32, theme: &Theme) -> Option<(String, f32, Rect)> {
        let length = round_down(self.length / 4.0);
        #[expect(clippy::cast_possible_truncation, reason = "a length in the picture")]
        let width = (length / self.length) as f32 * pixel(field.width);
        if !(width.is_finite() && width >= 8.0) || pixel(field.height) < 5.0 * unit {
            return None;
        }
        let label = format!("{}{}", plain(length), self.length_unit);
        let wide = width.max(theme.label(unit * 0.85).width(&label));
        let ground = Rect {
            x: field.x + ceil(unit * 0.6),
            y: field.y + field.height - ceil(unit * 2.4),
            width: ceil(wide + unit),
            height: ceil(unit * 1.8),
        };
        Some((label, width, ground))
    }

    pub(super) fn scale_bar(&self, picture: &mut Picture, field: Rect, unit: f32, theme: &Theme) {
        let Some((label, width, ground)) = self.scale(field, unit, theme) else {
            return;
        };
        // What lies below is seen through it: words and bar have a rim to be read on.
        picture.fill(ground, theme.ground, SCALE_GROUND);
        let middle = pixel(ground.x) + pixel(ground.width) / 2.0;
        let bar = Rect {
            x: floor(middle - width / 2.0),
            y: ground.y + ceil(unit * 1.35),
            width: ceil(width),
            height: ceil(unit * 0.14),
        };
        let rim = ceil(unit * 0.08);
        let around = Rect {
            x: bar.x.saturating_sub(rim),
            y: bar.y.saturating_sub(rim),
            width: bar.width + 2 * rim,
            height: bar.height + 2 * rim,
        };
        picture.fill(around, theme.ground, 1.0);
        picture.fill(bar, theme.text, 1.0);
        let text = super::text::Style {
            color: theme.text,
            ..theme.label(unit * 0.85)
        };
        let at = (middle, pixel(ground.y) + unit * 0.98);
        text.draw_rimmed(picture, at, Align::Center, &label, theme.ground);
    }
}

/// 1, 2 or 5 times a power of ten, without needless digits.
pub(super) fn plain(value: f64) -> String {
    if value.abs() < 1e-12 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.3}").replace('-', "−");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        short(value)
    }
}

/// A line of text below a field, at its right, smaller where it is wider than the field; nothing if it were too small to be read.
pub fn caption(picture: &mut Picture, field: Rect, unit: f32, theme: &Theme, text: &str) {
    let size = (pixel(field.width) / theme.label(unit).width(text).max(1.0)).min(0.8);
    if text.is_empty() || size < 0.55 {
        return;
    }
    let style = theme.label(unit * size);
    let (right, below) = (pixel(field.x + field.width), pixel(field.y + field.height));
    style.draw(picture, right, below + 0.88 * unit, Align::Right, text);
}

/// A line around a rectangle, just outside it.
pub fn frame(picture: &mut Picture, rect: Rect, theme: &Theme) {
    let (x, y) = (rect.x.saturating_sub(1), rect.y.saturating_sub(1));
    let line = |x, y, width, height| Rect { x, y, width, height };
    for side in [
        line(x, y, rect.width + 2, 1),
        line(x, rect.y + rect.height, rect.width + 2, 1),
        line(x, y, 1, rect.height + 2),
        line(rect.x + rect.width, y, 1, rect.height + 2),
    ] {
        picture.fill(side, theme.line, 0.6);
    }
}

#[expect(clippy::cast_precision_loss, reason = "positions inside a picture")]
pub(super) fn pixel(n: usize) -> f32 {
    n as f32
}

#[expect(clippy::cast_possible_wrap, reason = "positions inside a picture")]
pub(super) fn signed(n: usize) -> i64 {
    n as i64
}

pub(super) fn ceil(value: f32) -> usize {
    truncated(value.ceil().max(1.0).into())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub(super) fn floor(value: f32) -> usize {
    value.floor().max(0.0) as usize
}

#[cfg(test)]
mod tests;
