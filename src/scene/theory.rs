//! `[[note]]` and `[[theory]]`: texts that appear while a scene runs, and theoretical curves, drawn over pictures and plots.

use super::look::Quantity;
use crate::physics::Expression;

/// One `[[note]]`, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// When it appears.
    pub at: f64,
    /// When it goes, at the latest.
    pub until: f64,
    /// What it says.
    pub text: String,
    /// What it points at.
    pub mark: Option<Mark>,
}

/// What a note points at: a circle in a plane, an interval on a line. All numbers are formulas of t.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Its middle; of a line x alone.
    pub center: Vec<Expression>,
    /// Its radius, half of its length.
    pub radius: Expression,
}

impl Mark {
    /// Middle and radius at time t; `None` if a formula has no value or the radius is not positive.
    pub fn at(&self, t: f64) -> Option<(Vec<f64>, f64)> {
        let center: Vec<f64> = self.center.iter().map(|length| length.eval(&[t])).collect();
        let radius = self.radius.eval(&[t]);
        let good = center.iter().all(|length| length.is_finite()) && radius.is_finite() && radius > 0.0;
        good.then_some((center, radius))
    }
}

impl Note {
    /// The note at time t: the one that appeared last, if it is still shown.
    #[must_use]
    pub fn of_time(notes: &[Self], t: f64) -> Option<&Self> {
        // The first of two that begin at once gives way to the second, as in a file that is read from above.
        let last = notes
            .iter()
            .filter(|note| note.at <= t)
            .max_by(|a, b| a.at.total_cmp(&b.at))?;
        (t < last.until).then_some(last)
    }
}

/// Names that the formula of a line cut may use.
pub const CUT: &[&str] = &["x", "y", "t"];

/// Pieces of a drawn circle: its chords leave it by less than 1/2000 of the radius.
const PIECES: u32 = 128;

/// What a `[[theory]]` draws.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// Over the plot of a detector: a formula of t.
    Detector(usize, Expression),
    /// Over a line cut along an axis through a picture of a quantity: a formula of [`CUT`].
    Cut(usize, Quantity, Expression),
    /// From one point to another, formulas of t.
    Line([Expression; 2], [Expression; 2]),
    /// Centre and radius, formulas of t.
    Circle([Expression; 2], Expression),
}

/// One `[[theory]]`, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    /// What is drawn.
    pub drawn: Drawn,
    /// A word beside it; empty = none.
    pub label: String,
    /// When it appears.
    pub at: f64,
    /// When it goes.
    pub until: f64,
}

impl Theory {
    /// Whether it is drawn at time t.
    pub fn is_shown(&self, t: f64) -> bool {
        (self.at..self.until).contains(&t)
    }

    /// What is drawn in the picture at time t: points as lengths, joined in order. Empty if it belongs to a plot, is
    /// not shown, or a formula has no value.
    pub fn outline(&self, t: f64) -> Option<Vec<[f64; 2]>> {
        if !self.is_shown(t) {
            return None;
        }
        let at = |point: &[Expression; 2]| [point[0].eval(&[t]), point[1].eval(&[t])];
        let points = match &self.drawn {
            Drawn::Line(from, to) => vec![at(from), at(to)],
            Drawn::Circle(center, radius) => {
                let ([x, y], r) = (at(center), radius.eval(&[t]));
                if r <= 0.0 {
                    return None;
                }
                let angle = |n: u32| std::f64::consts::TAU * f64::from(n) / f64::from(PIECES);
                (0..=PIECES)
                    .map(|n| [x + r * angle(n).cos(), y + r * angle(n).sin()])
                    .collect()
            }
            _ => return None,
        };
        points
            .iter()
            .flatten()
            .all(|length| length.is_finite())
            .then_some(points)
    }

    /// The prediction over a line cut through `along`-coordinates at time t, with the other coordinate `across`; `None` if it is for something else.
    pub fn over_cut(&self, axis: usize, quantity: Quantity, across: f64, t: f64) -> Option<impl Fn(f64) -> f64 + '_> {
        match &self.drawn {
            Drawn::Cut(own, of, value) if *own == axis && *of == quantity && self.is_shown(t) => {
                Some(move |along: f64| {
                    let [x, y] = if axis == 0 { [along, across] } else { [across, along] };
                    value.eval(&[x, y, t])
                })
            }
            _ => None,
        }
    }

    /// The prediction for a detector as a function of t; `None` if it is for something else.
    pub fn of_detector(&self, detector: usize) -> Option<impl Fn(f64) -> f64 + '_> {
        match &self.drawn {
            Drawn::Detector(own, value) if *own == detector => {
                Some(|t: f64| if self.is_shown(t) { value.eval(&[t]) } else { f64::NAN })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::expression::TIME;

    fn note(at: f64, until: f64, text: &str) -> Note {
        Note {
            at,
            until,
            text: text.to_owned(),
            mark: None,
        }
    }

    #[test]
    fn the_note_that_appeared_last_is_shown_until_it_goes() {
        let notes = [
            note(2.0, f64::INFINITY, "second"),
            note(0.0, 1.0, "first"),
            note(5.0, 6.0, "third"),
        ];
        let shown =
            [0.0, 0.5, 1.0, 2.0, 4.9, 5.0, 6.0].map(|t| Note::of_time(&notes, t).map(|note| note.text.as_str()));
        let words = [
            Some("first"),
            Some("first"),
            None,
            Some("second"),
            Some("second"),
            Some("third"),
            None,
        ];
        assert_eq!(shown, words);
        assert_eq!(Note::of_time(&notes, -1.0), None);
    }

    #[test]
    fn a_mark_follows_its_formulas_while_they_have_values() {
        let parse = |text| Expression::parse(text, TIME).unwrap();
        let mark = Mark {
            center: vec![parse("2*t"), parse("5")],
            radius: parse("1/t"),
        };
        assert_eq!(mark.at(0.5), Some((vec![1.0, 5.0], 2.0)));
        assert_eq!(mark.at(0.0), None, "1/0 is not a radius");
        assert_eq!(mark.at(-1.0), None, "and −1 is none");
    }

    #[test]
    fn a_circle_grows_with_time() {
        let parse = |text| Expression::parse(text, TIME).unwrap();
        let theory = Theory {
            drawn: Drawn::Circle([parse("3"), parse("4 + t")], parse("2*t")),
            label: String::new(),
            at: 0.0,
            until: 10.0,
        };
        assert_eq!(theory.outline(0.0), None);
        assert_eq!(theory.outline(10.0), None);
        let points = theory.outline(1.5).unwrap();
        assert_eq!(points.first().map(|[x, _]| *x), Some(6.0));
        for [x, y] in points {
            assert!(((x - 3.0).hypot(y - 5.5) - 3.0).abs() < 1e-12);
        }
    }
}
