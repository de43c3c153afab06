//! A plot over two axes: measured points, lines, and theory drawn with gaps.

use super::Picture;
use super::color_bar::{self, ColorBar};
use super::overlay::{ceil, floor, frame, pixel, shortened};
use super::picture::Rect;
use super::strokes::{COLORS, Dashes, Scale, clipped, line};
use super::text::{Align, Style};
use super::theme::Theme;
use super::ticks::{power_of_ten, ratio_ticks, ticks};
use crate::colormap::{self, Kind, Levels};

/// How the points of a set are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Each as a disc.
    Points,
    /// As a line.
    Line,
    /// As a line with gaps: theory.
    Dashed,
}

/// A set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What it is.
    pub label: String,
    /// (x, y); what is not finite is left out, and a line has a gap there.
    pub points: Vec<[f64; 2]>,
    /// How it is shown.
    pub shown: Shown,
    /// The index of its colour; theory has that of its points.
    pub color: usize,
}

/// Values in cells of equal size, drawn in colours below the curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// One per cell, rows from below, each from the left.
    pub values: Vec<f64>,
    /// Cells of a row, and rows.
    pub size: [usize; 2],
    /// The outer ends of the first and the last cell of a row.
    pub x: [f64; 2],
    /// The same of the rows.
    pub y: [f64; 2],
    /// The values of the first and the last colour.
    pub levels: [f64; 2],
    /// Whether values below 0 have colours of their own; the levels are even ones then.
    pub signed: bool,
    /// What the values are, with their unit: over the colour bar.
    pub sign: String,
}

/// A plot over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// The line above it.
    pub title: String,
    /// What x is.
    pub along: String,
    /// Whether the x axis is logarithmic; x is above 0 then.
    pub has_ratios: bool,
    /// What y is.
    pub up: String,
    /// Cells below the curves; the axes then fit them.
    pub ground: Option<Ground>,
    /// What is drawn, from below.
    pub curves: Vec<Curve>,
}

/// The smallest range that contains all values, with some margin; `None` if there is none.
pub fn range(values: impl Iterator<Item = f64>, air: f64) -> Option<[f64; 2]> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return None;
    }
    // A single value has room to both sides.
    let span = if high > low { high - low } else { high.abs().max(1.0) };
    Some([low - air * span, high + air * span])
}

impl Plot {
    /// The plot, dark on light; only its frame if there is no point.
    pub fn draw(&self, width: usize, height: usize) -> Picture {
        let theme = Theme::light();
        let mut picture = Picture::filled(width, height, theme.ground);
        let unit = (pixel(height) / 42.0).max(8.0);
        let space = |units: f32| ceil(unit * units);
        let left = space(6.5);
        let beside = if self.ground.is_some() { color_bar::ROOM } else { 2.0 };
        let across = width.saturating_sub(left + space(beside)).max(16);
        let legend = self.legend_rows(pixel(across), unit);
        let top = space(5.0 + LEGEND_ROW * pixel(legend.len().saturating_sub(1)));
        let rect = Rect {
            x: left,
            y: top,
            width: across,
            height: height.saturating_sub(top + space(5.0)).max(16),
        };
        // A long title is set smaller, and one that is longer still is cut.
        let room = pixel(width) - pixel(left) - unit;
        let whole = theme.title(unit * 1.2).width(&self.title).max(1.0);
        let style = theme.title(unit * 1.2 * (room / whole).clamp(0.7, 1.0));
        let title = shortened(&self.title, |title| style.width(title) <= room + 0.1);
        style.draw(&mut picture, pixel(left), unit * 1.9, Align::Left, &title);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let place = |[x, _]: &[f64; 2]| if self.has_ratios { x.ln() } else { *x };
        let value = |place: f64| if self.has_ratios { place.exp() } else { place };
        let x = match &self.ground {
            Some(ground) => Some(ground.x),
            None => range(points().map(place), 0.03).map(|ends| ends.map(value)),
        };
        let y =
            (self.ground.as_ref()).map_or_else(|| range(points().map(|point| point[1]), 0.06), |ground| Some(ground.y));
        if let Some(ground) = &self.ground {
            ground.draw(&mut picture, rect);
            let base = pixel(rect.y) - TITLE_OF_AXIS * unit;
            ground.color_bar().draw(&mut picture, (rect, base), unit, theme);
        }
        if let Some((x, y)) = x.zip(y) {
            let x = Scale {
                low: x[0],
                high: x[1],
                from: pixel(rect.x),
                to: pixel(rect.x + rect.width),
                is_logarithmic: self.has_ratios,
            };
            let y = Scale {
                low: y[0],
                high: y[1],
                from: pixel(rect.y + rect.height),
                to: pixel(rect.y),
                is_logarithmic: false,
            };
            self.axes(&mut picture, rect, unit, (x, y));
            self.curves(&mut picture, unit, (x, y));
        }
        draw_legend(&mut picture, rect, unit, &legend);
        frame(&mut picture, rect, theme);
        picture
    }

    fn axes(&self, picture: &mut Picture, rect: Rect, unit: f32, (x, y): (Scale, Scale)) {
        let theme = Theme::light();
        let style = theme.label(unit * 0.9);
        let below = pixel(rect.y + rect.height);
        let count = (rect.width / ceil(unit * 6.0)).clamp(2, 10);
        let across = if self.has_ratios {
            ratio_ticks(x.low, x.high, count)
        } else {
            ticks(x.low, x.high, count)
        };
        for (value, label) in &across.marks {
            let at = x.at(*value);
            let mark = Rect {
                x: floor(at),
                width: 1,
                ..rect
            };
            picture.fill(mark, theme.line, 0.35);
            style.draw(picture, at, below + 1.4 * unit, Align::Center, label);
        }
        let upright = ticks(y.low, y.high, (rect.height / ceil(unit * 3.0)).clamp(2, 8));
        for (value, label) in &upright.marks {
            let at = y.at(*value);
            let mark = Rect {
                y: floor(at),
                height: 1,
                ..rect
            };
            picture.fill(mark, theme.line, 0.35);
            style.draw(
                picture,
                pixel(rect.x) - 0.5 * unit,
                at + 0.3 * unit,
                Align::Right,
                label,
            );
        }
        let label = theme.label(unit);
        let titled = |name: &str, exponent: i32| format!("{name} {}", power_of_ten(exponent)).trim().to_owned();
        let middle = pixel(rect.x) + pixel(rect.width) / 2.0;
        let along = titled(&self.along, across.exponent);
        label.draw(picture, middle, below + 3.4 * unit, Align::Center, &along);
        let up = titled(&self.up, upright.exponent);
        let base = pixel(rect.y) - TITLE_OF_AXIS * unit;
        label.draw(picture, pixel(rect.x), base, Align::Left, &up);
    }

    /// Draws the curves, up to the frame.
    fn curves(&self, picture: &mut Picture, unit: f32, (x, y): (Scale, Scale)) {
        let field = [x.from, y.to, x.to - x.from, y.from - y.to];
        let is_seen = |(across, down)| (x.from..=x.to).contains(&across) && (y.to..=y.from).contains(&down);
        for curve in &self.curves {
            let color = COLORS[curve.color % COLORS.len()];
            let places = curve.points.iter().map(|point| (x.at(point[0]), y.at(point[1])));
            let places: Vec<(f32, f32)> = places.collect();
            for places in places.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
                match curve.shown {
                    Shown::Points => {
                        for place in places {
                            line(picture, *place, *place, color, unit * 0.55, 1.0);
                        }
                    }
                    Shown::Line => {
                        let pairs = places.windows(2).map(|pair| [pair[0].into(), pair[1].into()]);
                        for [from, to] in pairs.filter_map(|pair| clipped(field, pair)) {
                            line(picture, from.into(), to.into(), color, unit * 0.14, 1.0);
                        }
                    }
                    Shown::Dashed => dashed(unit, color).draw(picture, places, is_seen),
                }
            }
        }
    }

    /// Names of the curves in rows that have room above the upper right corner, where there are several curves.
    fn legend_rows(&self, across: f32, unit: f32) -> Vec<Vec<(&Curve, String)>> {
        if self.curves.len() < 2 {
            return Vec::new();
        }
        let style = legend_style(unit);
        // What y is stands on the same line, on the left, with a power of ten.
        let up = match self.up.as_str() {
            "" => 0.0,
            up => Theme::light().label(unit).width(up) + 4.0 * unit,
        };
        let room = (across - up).max(across / 3.0);
        let mut rows: Vec<Vec<(&Curve, String)>> = Vec::new();
        let mut left = 0.0;
        for curve in self.curves.iter().filter(|curve| !curve.label.is_empty()) {
            let sign = curve.sign_width(unit);
            let label = shortened(&curve.label, |label| sign + style.width(label) <= room);
            let wide = sign + style.width(&label);
            if let Some(row) = rows.last_mut().filter(|_| wide <= left) {
                row.push((curve, label));
            } else {
                rows.push(vec![(curve, label)]);
                left = room;
            }
            left -= wide + LEGEND_GAP * unit;
        }
        rows
    }
}

impl Curve {
    /// The width of its sign in the legend with the gap behind it, pixels.
    fn sign_width(&self, unit: f32) -> f32 {
        match self.shown {
            Shown::Points => 0.6 * unit,
            Shown::Line | Shown::Dashed => 2.2 * unit,
        }
    }
}

/// Units of text from the line of what y and the colours are to the frame.
const TITLE_OF_AXIS: f32 = 0.6;

/// Units of text from row to row of a legend.
const LEGEND_ROW: f32 = 1.5;

/// Units of text between two names of a legend, the radius of a disc within.
const LEGEND_GAP: f32 = 1.2;

fn legend_style(unit: f32) -> Style {
    Theme::light().label(unit * 0.95)
}

/// Draws the rows of a legend over the upper right corner, the last just above it.
fn draw_legend(picture: &mut Picture, rect: Rect, unit: f32, rows: &[Vec<(&Curve, String)>]) {
    let style = legend_style(unit);
    for (above, row) in rows.iter().rev().enumerate() {
        let mut at = pixel(rect.x + rect.width);
        let level = pixel(rect.y) - (0.9 + LEGEND_ROW * pixel(above)) * unit;
        for (curve, label) in row.iter().rev() {
            let color = COLORS[curve.color % COLORS.len()];
            style.draw(picture, at, level + 0.33 * unit, Align::Right, label);
            at -= style.width(label);
            let (from, to) = (at - curve.sign_width(unit), at - 0.6 * unit);
            match curve.shown {
                Shown::Points => line(picture, (to, level), (to, level), color, unit * 0.55, 1.0),
                Shown::Line => line(picture, (from, level), (to, level), color, unit * 0.14, 1.0),
                Shown::Dashed => dashed(unit, color).draw(picture, &[(from, level), (to, level)], |_| true),
            }
            at = from - LEGEND_GAP * unit;
        }
    }
}

impl Ground {
    /// The bar of its colours.
    fn color_bar(&self) -> ColorBar<'_> {
        let kind = if self.signed { Kind::Diverging } else { Kind::Sequential };
        #[expect(clippy::cast_possible_truncation, reason = "colours")]
        let [low, high] = self.levels.map(|level| level as f32);
        ColorBar {
            sign: &self.sign,
            map: colormap::auto_on_paper(kind),
            levels: Levels { low, high },
            gamma: 1.0,
        }
    }

    /// Fills a rectangle; a pixel has the mean of the cells that it covers, or the cell in which it lies.
    fn draw(&self, picture: &mut Picture, rect: Rect) {
        let ColorBar { map, levels, .. } = self.color_bar();
        let (mapping, table) = (levels.mapping(map.kind), map.table());
        let cells = |at: usize, pixels: usize, cells: usize| {
            let from = at * cells / pixels;
            from..((at + 1) * cells / pixels).clamp(from + 1, cells.max(from + 1))
        };
        for up in 0..rect.height {
            let rows = cells(up, rect.height, self.size[1]);
            for across in 0..rect.width {
                let columns = cells(across, rect.width, self.size[0]);
                let mut sum = 0.0;
                for row in rows.clone() {
                    sum += self.values[row * self.size[0]..][columns.clone()].iter().sum::<f64>();
                }
                #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a colour")]
                let value = (sum / (rows.len() * columns.len()) as f64) as f32;
                picture.set(
                    rect.x + across,
                    rect.y + rect.height - 1 - up,
                    table[mapping.entry(value)],
                );
            }
        }
    }
}

/// Theory.
fn dashed(unit: f32, color: [u8; 3]) -> Dashes {
    Dashes {
        color,
        thick: unit * 0.14,
        dash: 0.55 * unit,
        gap: 0.4 * unit,
        strength: 1.0,
    }
}

#[cfg(test)]
mod tests;
