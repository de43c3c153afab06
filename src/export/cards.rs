//! The cards of a film: title and run before it, predictions and measured values after it.

use super::facts::{self, figure};
use super::overlay::{pixel, shortened};
use super::paint::Painter;
use super::picture::Picture;
use super::text::{Align, Style};
use super::theme::Theme;
use crate::engine::expectations::judged_at;
use crate::engine::{Engine, Verdict};
use crate::scene::scenario::Expectation;
use std::sync::Arc;

/// Facts on the first card, predictions on the last one.
const MOST: usize = 6;

/// Words in lines that are at most so many pixels wide; a longer word has a line of its own.
pub(super) fn wrapped(style: Style, words: &str, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(last) if style.width(&format!("{last} {word}")) <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Sizes of a text that has no room at its full size.
const SIZES: [f32; 5] = [1.0, 0.9, 0.8, 0.7, 0.63];

/// Words in lines at the largest of [`SIZES`] at which all of them have room, with that size; at the smallest they end with `…` where they have none. `at` says for a size the style, and how many lines there may be.
pub(super) fn fitted(words: &str, room: f32, at: impl Fn(f32) -> (Style, usize)) -> (f32, Vec<String>) {
    let mut size = 1.0;
    let mut lines = Vec::new();
    for tried in SIZES {
        let (style, most) = at(tried);
        size = tried;
        lines = wrapped(style, words, room);
        if lines.len() <= most && lines.iter().all(|line| style.width(line) <= room) {
            return (size, lines);
        }
    }
    let (style, most) = at(size);
    let cut = lines.len() > most;
    lines.truncate(most);
    let last = lines.len().saturating_sub(1);
    for (n, line) in lines.iter_mut().enumerate() {
        let whole = if cut && n == last {
            format!("{line} …")
        } else {
            line.clone()
        };
        *line = shortened(&whole, |line| style.width(line) <= room);
    }
    (size, lines)
}

impl Painter {
    /// Paints the title with what runs.
    pub(super) fn title_card(&mut self, engine: &Engine) {
        let scenario = Arc::clone(engine.scenario());
        let facts = facts::rows(scenario.file(), &scenario, engine.clock().time_step);
        // Grid, medium and waves say what it is; the rest is for the lab book.
        let is_told = |name: &str| !matches!(name, "Edges" | "Detector" | "Runs until" | "Step Δt");
        let rows = facts.into_iter().filter(|(name, _)| is_told(name)).take(MOST);
        let rows = rows.map(|(name, value)| [name, value, String::new()]).collect();
        let title = scenario.title().to_owned();
        self.card(&title, rows, "");
    }

    /// Paints what was predicted and measured.
    pub(super) fn end_card(&mut self, engine: &Engine) {
        let scenario = Arc::clone(engine.scenario());
        let unit = scenario.model().equation().time_unit();
        let all = scenario.expectations().iter().zip(engine.verdicts()).enumerate();
        let rows: Vec<[String; 3]> = all
            .take(MOST)
            .map(|(place, (expectation, verdict))| {
                let what = expectation.subject.in_words(scenario.detectors());
                let word = word_of(*verdict, self.claims.expects(place));
                let values = values_of(expectation, *verdict, expectation.subject.unit(&scenario));
                let at = match verdict {
                    Verdict::Pending => figure(expectation.at),
                    _ => judged_at(expectation.at, &engine.clock(), figure),
                };
                [format!("{what}, t = {at}{unit}"), values, word.to_owned()]
            })
            .collect();
        let heading = if rows.is_empty() {
            scenario.title()
        } else {
            "Predicted and measured"
        };
        let heading = heading.to_owned();
        self.card(&heading, rows, "Ripplon, a laboratory for waves");
    }

    /// A heading in the middle, rows below it (name, value, verdict), a line at the foot.
    fn card(&mut self, heading: &str, rows: Vec<[String; 3]>, foot: &str) {
        let (width, height) = (self.picture.width, self.picture.height);
        let theme = self.theme;
        let mut picture = Picture::filled(width, height, theme.ground);
        let (w, h) = (pixel(width), pixel(height));
        let unit = (w / 56.0).min(h / 28.0).max(6.0) * if h > w { 1.5 } else { 1.0 };
        let room = 0.86 * w;
        let large = theme.title(2.2 * unit);
        let (names, values) = (
            theme.label(unit),
            Style {
                color: theme.text,
                ..theme.label(unit)
            },
        );
        let verdict = theme.title(unit);
        let lines_of = |style: Style, words: &str| -> Vec<String> {
            let lines = wrapped(style, words, room).into_iter();
            lines
                .map(|line| shortened(&line, |line| style.width(line) <= room))
                .collect()
        };
        let heading = lines_of(large, heading);
        // Name above value where both have no room beside each other; the verdict behind the name, or below it.
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|[name, value, word]| {
                let name = if word.is_empty() { name } else { format!("{name}:") };
                let mut heads: Vec<[String; 2]> = lines_of(names, &name)
                    .into_iter()
                    .map(|line| [line, String::new()])
                    .collect();
                match heads.last_mut() {
                    Some([line, own]) if names.width(&format!("{line} ")) + verdict.width(&word) <= room => *own = word,
                    _ => heads.push([String::new(), word]),
                }
                Row {
                    heads,
                    values: lines_of(values, &value),
                }
            })
            .collect();
        let all = 2.8 * unit * pixel(heading.len()) + 1.4 * unit + rows.iter().map(|row| row.height(unit)).sum::<f32>();
        let mut y = (0.5 * (h - all)).max(unit);
        for line in &heading {
            y += 2.8 * unit;
            large.draw(&mut picture, w / 2.0, y - 0.6 * unit, Align::Center, line);
        }
        y += 1.4 * unit;
        for row in rows {
            if y + row.height(unit) > h - 2.0 * unit {
                break;
            }
            for [line, word] in &row.heads {
                let line = if line.is_empty() || word.is_empty() {
                    line.clone()
                } else {
                    format!("{line} ")
                };
                let left = (w - names.width(&line) - verdict.width(word)) / 2.0;
                let said = Style {
                    color: verdict_color(theme, word),
                    ..verdict
                };
                names.draw(&mut picture, left, y + unit, Align::Left, &line);
                said.draw(&mut picture, left + names.width(&line), y + unit, Align::Left, word);
                y += 1.3 * unit;
            }
            y += 0.15 * unit;
            for line in &row.values {
                values.draw(&mut picture, w / 2.0, y + unit, Align::Center, line);
                y += 1.3 * unit;
            }
            y += 0.55 * unit;
        }
        names.draw(&mut picture, w / 2.0, h - 1.6 * unit, Align::Center, foot);
        self.picture = picture;
    }
}

/// A row of a card.
struct Row {
    /// Lines of its name, each with the verdict behind it, which the last has.
    heads: Vec<[String; 2]>,
    /// Lines of its value.
    values: Vec<String>,
}

impl Row {
    /// With the gap below it, pixels.
    fn height(&self, unit: f32) -> f32 {
        (1.3 * pixel(self.heads.len() + self.values.len()) + 0.7) * unit
    }
}

/// What was predicted and what was measured, with their unit if they have one.
fn values_of(expectation: &Expectation, verdict: Verdict, unit: &str) -> String {
    let with_unit = |value: String| format!("{value} {unit}").trim_end().to_owned();
    let measured = (verdict.measured()).map_or("–".to_owned(), |value| with_unit(figure(value)));
    let tolerance = with_unit(figure(expectation.tolerance));
    format!(
        "predicted {} ± {tolerance}, measured {measured}",
        figure(expectation.value)
    )
}

/// A verdict in words, of a prediction that is made of the scene or not: one that is not can be right, but not wrong.
fn word_of(verdict: Verdict, holds: bool) -> &'static str {
    match verdict {
        Verdict::Right(_) => "agrees",
        Verdict::Wrong(_) if holds => "disagrees",
        Verdict::Wrong(_) => "not judged",
        Verdict::Pending => "not reached",
    }
}

/// The colour of a verdict on the ground of a theme.
fn verdict_color(theme: &Theme, word: &str) -> [u8; 3] {
    match (theme.ground[0] < 128, word) {
        (true, "agrees") => [111, 194, 139],
        (true, "disagrees") => [224, 114, 108],
        (false, "agrees") => [31, 122, 68],
        (false, "disagrees") => [179, 50, 44],
        _ => theme.quiet,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of sound values have units, as in the window and on the command line; a minus is no hyphen, and a power of ten is raised.
    #[test]
    fn predicted_and_measured_values_have_their_unit() {
        let of = |name: &str, verdict| {
            let preset = crate::scene::presets::find(name).unwrap();
            let (_, scenario) = crate::solver::read_scene_text(preset.text, None, &[]).unwrap();
            let expectation = Expectation {
                value: -0.25,
                tolerance: 2e-5,
                ..scenario.expectations()[0].clone()
            };
            let unit = expectation.subject.unit(&scenario);
            values_of(&expectation, verdict, unit)
        };
        assert_eq!(
            of("tube", Verdict::Right(-0.250_01)),
            "predicted −0.25 ± 2 × 10⁻⁵ Pa, measured −0.25001 Pa"
        );
        assert_eq!(
            of("tube", Verdict::Pending),
            "predicted −0.25 ± 2 × 10⁻⁵ Pa, measured –"
        );
        assert_eq!(
            of("tunnelling", Verdict::Wrong(0.5)),
            "predicted −0.25 ± 2 × 10⁻⁵, measured 0.5"
        );
    }

    /// What holds of another scene all the same agrees, and what does not is not wrong.
    #[test]
    fn predictions_of_another_scene_are_not_judged() {
        assert_eq!(word_of(Verdict::Wrong(1.0), true), "disagrees");
        assert_eq!(word_of(Verdict::Wrong(1.0), false), "not judged");
        assert_eq!(word_of(Verdict::Right(1.0), false), "agrees");
        assert_eq!(word_of(Verdict::Pending, false), "not reached");
    }

    const WORDS: &str = "Two slits under a title that is far too long for a picture that stands upright on a telephone";

    #[test]
    fn words_are_set_smaller_before_they_are_cut_and_a_cut_is_seen() {
        let theme = Theme::light();
        let at = |most: usize| move |size: f32| (theme.title(30.0 * size), most);
        let room = 600.0;
        let lines = |most: usize| fitted(WORDS, room, at(most));
        // As many lines as they take: whole, at full size.
        let (size, whole) = lines(9);
        assert_eq!((size, whole.join(" ")), (1.0, WORDS.to_owned()));
        // One line less is enough for smaller letters.
        let (size, smaller) = lines(whole.len() - 1);
        assert!(size < 1.0, "{size}");
        assert_eq!(smaller.join(" "), WORDS);
        // Beyond that the end is cut off, which dots say.
        let (size, cut) = lines(1);
        assert_eq!((size, cut.len()), (0.63, 1));
        assert!(
            cut[0].ends_with('…') && WORDS.starts_with(cut[0].trim_end_matches(['…', ' '])),
            "{cut:?}"
        );
        assert!(fitted(WORDS, room, at(0)).1.is_empty());
        let word = "Donaudampfschifffahrtsgesellschaftskapitänsmütze".repeat(2);
        for (words, most) in [(WORDS, 1), (WORDS, 2), (word.as_str(), 3)] {
            let (size, lines) = fitted(words, room, at(most));
            let style = theme.title(30.0 * size);
            assert!(lines.iter().all(|line| style.width(line) <= room), "{lines:?}");
        }
    }
}
