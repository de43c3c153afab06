//! A chart with lines over two logarithmic axes, e.g. throughput against system size.

use super::Picture;
use super::overlay::{frame, pixel};
use super::picture::Rect;
use super::text::Align;
use super::theme::Theme;
use super::ticks::short;
use crate::units::si;

/// Colours that stay apart for every kind of sight (Okabe and Ito 2008).
pub(super) const COLORS: [[u8; 3]; 7] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [90, 90, 90],
];

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub label: String,
    /// (x, y), both positive, x rising.
    pub points: Vec<(f64, f64)>,
    /// Drawn with gaps.
    pub broken: bool,
}

/// Lines over two logarithmic axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The first line above it.
    pub title: String,
    /// The second line: where it was measured.
    pub subtitle: String,
    /// Marks along x: place and label.
    pub marks: Vec<(f64, String)>,
    /// What x is.
    pub along: String,
    /// What y is, with its unit.
    pub up: String,
    /// The lines; the legend has them in this order.
    pub series: Vec<Series>,
}

/// Positions of values along an axis of pixels.
#[derive(Clone, Copy)]
struct Scale {
    low: f64,
    high: f64,
    from: f32,
    to: f32,
}

impl Scale {
    fn at(self, value: f64) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "a position in the picture")]
        let part = ((value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())) as f32;
        self.from + part * (self.to - self.from)
    }
}

impl Chart {
    /// The chart, dark on light; nothing but its frame where there is no positive point.
    #[must_use]
    pub fn draw(&self, width: usize, height: usize) -> Picture {
        let theme = Theme::light();
        let mut picture = Picture::filled(width, height, theme.ground);
        let unit = (pixel(height) / 42.0).max(8.0);
        let space = |units: f32| super::overlay::ceil(unit * units);
        let (left, top) = (space(6.0), space(6.2));
        let rect = Rect {
            x: left,
            y: top,
            width: width.saturating_sub(left + space(17.0)).max(16),
            height: height.saturating_sub(top + space(4.5)).max(16),
        };
        theme
            .title(unit * 1.25)
            .draw(&mut picture, pixel(left), unit * 2.0, Align::Left, &self.title);
        let style = theme.label(unit * 0.95);
        style.draw(&mut picture, pixel(left), unit * 3.6, Align::Left, &self.subtitle);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ends = |pick: fn(&(f64, f64)) -> f64| {
            points()
                .map(pick)
                .filter(|value| value.is_finite() && *value > 0.0)
                .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        let ((x_low, x_high), (y_low, y_high)) = (ends(|point| point.0), ends(|point| point.1));
        if x_high > 0.0 && y_high > 0.0 {
            let decade = |value: f64| 10f64.powf(value);
            let x = Scale {
                low: x_low / 1.3,
                high: x_high * 1.3,
                from: pixel(rect.x),
                to: pixel(rect.x + rect.width),
            };
            let y = Scale {
                low: decade((y_low * 0.8).log10().floor()),
                high: y_high * 1.6,
                from: pixel(rect.y + rect.height),
                to: pixel(rect.y),
            };
            self.axes(&mut picture, rect, unit, theme, (x, y));
            self.lines(&mut picture, rect, unit, (x, y));
        }
        frame(&mut picture, rect, theme);
        picture
    }

    fn axes(&self, picture: &mut Picture, rect: Rect, unit: f32, theme: &Theme, (x, y): (Scale, Scale)) {
        let style = theme.label(unit * 0.9);
        let below = pixel(rect.y + rect.height);
        for (value, label) in &self.marks {
            let at = x.at(*value);
            line(picture, (at, pixel(rect.y)), (at, below), theme.line, 1.0, 0.25);
            style.draw(picture, at, below + 1.4 * unit, Align::Center, label);
        }
        // An axis of a decade or two would have one number or two: the marks between get theirs as well.
        let labels_between = y.high / y.low < 200.0;
        let mut value = y.low;
        while value <= y.high * 1.000_001 {
            for part in [1.0, 2.0, 5.0] {
                let at = y.at(value * part);
                if value * part > y.high {
                    break;
                }
                let right = pixel(rect.x + rect.width);
                let strength = if part == 1.0 { 0.5 } else { 0.15 };
                line(picture, (pixel(rect.x), at), (right, at), theme.line, 1.0, strength);
                if part == 1.0 || labels_between {
                    let label = si(value * part);
                    let (number, prefix) = label.split_once(' ').unwrap_or((&label, ""));
                    let label = format!("{} {prefix}", short(number.parse().unwrap_or(value * part)));
                    style.draw(
                        picture,
                        pixel(rect.x) - 0.5 * unit,
                        at + 0.3 * unit,
                        Align::Right,
                        label.trim(),
                    );
                }
            }
            value *= 10.0;
        }
        let middle = pixel(rect.x) + pixel(rect.width) / 2.0;
        let label = theme.label(unit);
        label.draw(picture, middle, below + 3.2 * unit, Align::Center, &self.along);
        label.draw(
            picture,
            pixel(rect.x),
            pixel(rect.y) - 0.5 * unit,
            Align::Left,
            &self.up,
        );
    }

    fn lines(&self, picture: &mut Picture, rect: Rect, unit: f32, (x, y): (Scale, Scale)) {
        let theme = Theme::light();
        let right = pixel(rect.x + rect.width) + unit;
        for (n, series) in self.series.iter().enumerate() {
            let color = COLORS[n % COLORS.len()];
            let places: Vec<(f32, f32)> = (series.points.iter())
                .filter(|(x, y)| *x > 0.0 && *y > 0.0)
                .map(|point| (x.at(point.0), y.at(point.1)))
                .collect();
            for pair in places.windows(2) {
                stroke(picture, pair[0], pair[1], color, unit * 0.16, series.broken, unit);
            }
            for place in &places {
                line(picture, *place, *place, color, unit * 0.6, 1.0);
            }
            #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
            let level = pixel(rect.y) + unit * (1.0 + 1.7 * n as f32);
            let sample = ((right, level), (right + 2.0 * unit, level));
            stroke(picture, sample.0, sample.1, color, unit * 0.16, series.broken, unit);
            line(
                picture,
                (right + unit, level),
                (right + unit, level),
                color,
                unit * 0.6,
                1.0,
            );
            let style = theme.label(unit * 0.95);
            style.draw(
                picture,
                right + 2.6 * unit,
                level + 0.33 * unit,
                Align::Left,
                &series.label,
            );
        }
    }
}

/// A line, or one with gaps of two thirds of a unit.
pub(super) fn stroke(
    picture: &mut Picture,
    from: (f32, f32),
    to: (f32, f32),
    color: [u8; 3],
    thick: f32,
    broken: bool,
    unit: f32,
) {
    if !broken {
        line(picture, from, to, color, thick, 1.0);
        return;
    }
    let length = (to.0 - from.0).hypot(to.1 - from.1).max(1e-3);
    let at = |way: f32| {
        let part = (way / length).min(1.0);
        (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
    };
    let mut way = 0.0;
    while way < length {
        line(picture, at(way), at(way + 0.4 * unit), color, thick, 1.0);
        way += 0.8 * unit;
    }
}

/// A line with round ends, `thick` pixels wide: each pixel is covered by its distance from it. A point is a disc.
pub(super) fn line(picture: &mut Picture, from: (f32, f32), to: (f32, f32), color: [u8; 3], thick: f32, strength: f32) {
    let reach = thick / 2.0 + 1.0;
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let square = (dx * dx + dy * dy).max(1e-12);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "positions in the picture, clipped by `blend`"
    )]
    let whole = |value: f32| value as i64;
    for y in whole((from.1.min(to.1) - reach).floor())..=whole((from.1.max(to.1) + reach).ceil()) {
        for x in whole((from.0.min(to.0) - reach).floor())..=whole((from.0.max(to.0) + reach).ceil()) {
            #[expect(clippy::cast_precision_loss, reason = "positions in the picture")]
            let (px, py) = (x as f32 + 0.5 - from.0, y as f32 + 0.5 - from.1);
            let part = ((px * dx + py * dy) / square).clamp(0.0, 1.0);
            let distance = (px - part * dx).hypot(py - part * dy);
            let covered = (thick / 2.0 + 0.5 - distance).clamp(0.0, 1.0).min(thick);
            picture.blend(x, y, color, covered * strength);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        Chart {
            title: "Throughput".to_owned(),
            subtitle: "somewhere".to_owned(),
            marks: vec![(100.0, "10²".to_owned())],
            along: "sites".to_owned(),
            up: "site-steps/s".to_owned(),
            series: vec![Series {
                label: "one".to_owned(),
                points,
                broken: false,
            }],
        }
    }

    #[test]
    fn a_larger_value_stands_higher() {
        // Two points; the column of each is found by its colour, the first series'.
        let picture = chart(vec![(100.0, 1e6), (10_000.0, 1e9)]).draw(900, 600);
        let rows = |columns: std::ops::Range<usize>| {
            let all = (0..picture.height).flat_map(|y| columns.clone().map(move |x| (x, y)));
            all.filter(|(x, y)| picture.at(*x, *y) == COLORS[0])
                .map(|(_, y)| y)
                .collect::<Vec<_>>()
        };
        let (left, right) = (rows(80..140), rows(560..640));
        let mean = |rows: &[usize]| rows.iter().sum::<usize>() / rows.len().max(1);
        assert!(!left.is_empty() && !right.is_empty());
        assert!(mean(&left) > mean(&right) + 100, "{} {}", mean(&left), mean(&right));
    }

    #[test]
    fn nothing_to_draw_is_no_fault() {
        let picture = chart(vec![(0.0, -1.0)]).draw(300, 200);
        assert_eq!((picture.width, picture.height), (300, 200));
    }
}
