//! A chart with lines over two logarithmic axes, e.g. throughput against system size.

use super::Picture;
use super::overlay::{frame, pixel, plain};
use super::picture::Rect;
use super::strokes::{COLORS, Dashes, Scale, line, outline};
use super::text::{Align, Style};
use super::theme::Theme;
use crate::units::si;

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

impl Chart {
    /// The chart, dark on light; only its frame if there is no positive point.
    pub fn draw(&self, width: usize, height: usize) -> Picture {
        let theme = Theme::light();
        let mut picture = Picture::filled(width, height, theme.ground);
        let unit = (pixel(height) / 42.0).max(8.0);
        let space = |units: f32| super::overlay::ceil(unit * units);
        let (left, top) = (space(6.0), space(6.2));
        // The legend stands right of the frame and has the room that its longest line needs.
        let widest = (self.series.iter())
            .map(|series| legend(theme, unit).width(&series.label))
            .fold(0.0, f32::max);
        let beside = super::overlay::ceil(widest + unit * (LEGEND_AT + 1.0));
        let rect = Rect {
            x: left,
            y: top,
            width: width.saturating_sub(left + beside.max(space(6.0))).max(16),
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
                is_logarithmic: true,
            };
            let y = Scale {
                low: decade((y_low * 0.8).log10().floor()),
                high: y_high * 1.6,
                from: pixel(rect.y + rect.height),
                to: pixel(rect.y),
                is_logarithmic: true,
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
        let mut taken: Vec<[f32; 2]> = Vec::new();
        for (value, label) in &self.marks {
            let at = x.at(*value);
            line(picture, (at, pixel(rect.y)), (at, below), theme.line, 1.0, 0.25);
            // Of marks that stand close together the first has its words.
            let half = style.width(label) / 2.0 + 0.4 * unit;
            if taken.iter().all(|[from, to]| at + half <= *from || *to <= at - half) {
                style.draw(picture, at, below + 1.4 * unit, Align::Center, label);
                taken.push([at - half, at + half]);
            }
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
                    let label = level(value * part);
                    style.draw(
                        picture,
                        pixel(rect.x) - 0.5 * unit,
                        at + 0.3 * unit,
                        Align::Right,
                        &label,
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
        // The legend of many lines is as high as the frame.
        #[expect(clippy::cast_precision_loss, reason = "some dozens of lines")]
        let (room, count) = (pixel(rect.height) - 2.0 * unit, self.series.len().max(2) as f32);
        let pitch = (room / (count - 1.0)).min(1.7 * unit);
        for (n, series) in self.series.iter().enumerate() {
            let (color, mark) = look(n);
            let places: Vec<(f32, f32)> = (series.points.iter())
                .filter(|(x, y)| *x > 0.0 && *y > 0.0)
                .map(|point| (x.at(point.0), y.at(point.1)))
                .collect();
            stroke(picture, &places, color, series.broken, unit);
            for place in &places {
                mark.draw(picture, *place, color, unit);
            }
            #[expect(clippy::cast_precision_loss, reason = "some dozens of lines")]
            let level = pixel(rect.y) + unit + pitch * n as f32;
            let sample = [(right, level), (right + 2.0 * unit, level)];
            stroke(picture, &sample, color, series.broken, unit);
            mark.draw(picture, (right + unit, level), color, unit);
            legend(theme, unit).draw(
                picture,
                pixel(rect.x + rect.width) + LEGEND_AT * unit,
                level + 0.33 * unit,
                Align::Left,
                &series.label,
            );
        }
    }
}

/// A round number along the upright axis, with a prefix of SI.
fn level(value: f64) -> String {
    let text = si(value);
    let (number, prefix) = text.split_once(' ').unwrap_or((&text, ""));
    let number = plain(number.parse().unwrap_or(value));
    format!("{number} {prefix}").trim().to_owned()
}

/// What stands at a measured point. Lines of one colour have different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Disc,
    Square,
    Triangle,
    Cross,
    Diamond,
}

/// The marks of the first lines, one a colour, of those after them, and so on: no two of 35 lines look alike.
const MARKS: [Mark; 5] = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Cross, Mark::Diamond];

/// Colour and mark of a line by its number.
fn look(n: usize) -> ([u8; 3], Mark) {
    (COLORS[n % COLORS.len()], MARKS[n / COLORS.len() % MARKS.len()])
}

impl Mark {
    fn draw(self, picture: &mut Picture, (x, y): (f32, f32), color: [u8; 3], unit: f32) {
        let (half, thick) = (0.38 * unit, 0.16 * unit);
        let at = |right: f32, up: f32| (x + right * half, y - up * half);
        match self {
            Self::Disc => line(picture, (x, y), (x, y), color, unit * 0.6, 1.0),
            Self::Square => {
                let corners = [at(-0.9, -0.9), at(0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9)];
                outline(picture, &corners, color, thick);
            }
            Self::Triangle => outline(picture, &[at(-1.0, -0.8), at(1.0, -0.8), at(0.0, 1.1)], color, thick),
            Self::Cross => {
                line(picture, at(-0.9, -0.9), at(0.9, 0.9), color, thick, 1.0);
                line(picture, at(-0.9, 0.9), at(0.9, -0.9), color, thick, 1.0);
            }
            Self::Diamond => {
                let corners = [at(-1.1, 0.0), at(0.0, -1.1), at(1.1, 0.0), at(0.0, 1.1)];
                outline(picture, &corners, color, thick);
            }
        }
    }
}

/// Where the legend's words begin, in units right of the frame: behind a sample of the line.
const LEGEND_AT: f32 = 3.6;

/// How the legend is written.
fn legend(theme: &Theme, unit: f32) -> Style {
    theme.label(unit * 0.95)
}

/// A line through places, or one with gaps.
fn stroke(picture: &mut Picture, places: &[(f32, f32)], color: [u8; 3], broken: bool, unit: f32) {
    let thick = unit * 0.16;
    if broken {
        let dashes = Dashes {
            color,
            thick,
            dash: 0.4 * unit,
            gap: 0.4 * unit,
            strength: 1.0,
        };
        dashes.draw(picture, places, |_| true);
    } else {
        for pair in places.windows(2) {
            line(picture, pair[0], pair[1], color, thick, 1.0);
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
    fn marks_have_words_where_they_have_room_and_round_numbers() {
        let marked = |at: f64, words: &str| {
            let mut chart = chart(vec![(100.0, 1e6), (10_000.0, 1e9)]);
            chart.marks.push((at, words.to_owned()));
            chart.draw(900, 600).rgb
        };
        assert!(marked(105.0, "a neighbour") == marked(105.0, ""));
        assert!(marked(5000.0, "far away") != marked(5000.0, ""));
        assert_eq!([1e10, 5e5, 2e-4, 50.0].map(level), ["10 G", "500 k", "200 µ", "50"]);
    }

    #[test]
    fn a_legend_of_long_names_is_whole() {
        let mut chart = chart(vec![(100.0, 1e6), (10_000.0, 1e9)]);
        chart.series[0].label = "crank-nicolson, n-partition, cpu, double, order 2".to_owned();
        let picture = chart.draw(1360, 760);
        let blank = |x: usize| (0..picture.height).all(|y| picture.at(x, y) == picture.at(0, 0));
        // Between the last letter and the picture's edge is a margin of half a unit or more; the frame has kept its width.
        assert!((picture.width - 9..picture.width).all(blank));
        assert!(!(picture.width / 2..picture.width - 9).all(blank));
    }

    /// Colours come again after seven lines, with other marks: what the legend shows of two lines differs, and so do their points alone.
    #[test]
    fn no_two_of_many_lines_look_alike() {
        let many = COLORS.len() * MARKS.len();
        let drawn = |n: usize, with_line: bool| {
            let mut picture = Picture::filled(60, 40, [255; 3]);
            let (color, mark) = look(n);
            if with_line {
                stroke(&mut picture, &[(10.0, 20.0), (50.0, 20.0)], color, false, 18.0);
            }
            mark.draw(&mut picture, (30.0, 20.0), color, 18.0);
            picture
        };
        for with_line in [true, false] {
            let all: Vec<Picture> = (0..many).map(|n| drawn(n, with_line)).collect();
            for (n, one) in all.iter().enumerate() {
                for other in &all[..n] {
                    let apart = one.rgb.iter().zip(&other.rgb).filter(|(a, b)| a.abs_diff(**b) > 60);
                    assert!(apart.count() > 40, "line {n} looks like another one");
                }
            }
        }
    }

    /// The legend of more lines than the frame is high at the usual distance ends within the picture.
    #[test]
    fn a_legend_of_many_lines_is_whole() {
        let mut chart = chart(vec![(100.0, 1e6), (10_000.0, 1e9)]);
        chart.series = (0..34).map(|_| chart.series[0].clone()).collect();
        let picture = chart.draw(1360, 760);
        // The fifth, twelfth, … and the last have one colour, which nothing else beside the frame has.
        let (color, _) = look(33);
        let has = |y: &usize| (picture.width - 100..picture.width).any(|x| picture.at(x, *y) == color);
        let rows: Vec<usize> = (0..picture.height).filter(has).collect();
        let samples = 1 + rows.windows(2).filter(|pair| pair[1] > pair[0] + 30).count();
        assert_eq!(samples, 5, "{rows:?}");
    }

    #[test]
    fn nothing_to_draw_is_no_fault() {
        let picture = chart(vec![(0.0, -1.0)]).draw(300, 200);
        assert_eq!((picture.width, picture.height), (300, 200));
    }
}
