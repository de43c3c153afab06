//! The cards of a film: title and run before it, predictions and measured values after it.

use super::facts::{self, figure, within};
use super::overlay::{pixel, shortened};
use super::paint::Painter;
use super::picture::Picture;
use super::text::{Align, Style};
use super::theme::Theme;
use crate::engine::expectations::judged_at;
use crate::engine::{Engine, Verdict};
use crate::scene::scenario::Expectation;
use crate::units::counted;
use std::sync::Arc;

/// A row of a card: name, value, verdict.
type Told = [String; 3];

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

/// Whether a card has room for rows.
type Fits<'a> = dyn Fn(&[Told]) -> bool + 'a;

impl Painter {
    /// Paints the title with what runs.
    pub(super) fn title_card(&mut self, engine: &Engine) {
        let scenario = Arc::clone(engine.scenario());
        let facts = facts::rows(scenario.file(), &scenario, engine.clock().time_step);
        let title = scenario.title().to_owned();
        self.card(&title, &|fits| title_rows(&facts, fits), "");
    }

    /// Paints what was predicted and measured.
    pub(super) fn end_card(&mut self, engine: &Engine) {
        let scenario = Arc::clone(engine.scenario());
        let all = scenario.expectations().iter().zip(engine.verdicts()).enumerate();
        let rows: Vec<Told> = all
            .map(|(place, (expectation, verdict))| {
                let what = expectation.subject.in_words(scenario.detectors());
                let word = word_of(*verdict, self.claims.expects(place));
                let values = values_of(expectation, *verdict, expectation.subject.unit(&scenario));
                let clock = engine.clock();
                let time = |t: f64| self.units.clock(t, clock.time_step);
                let at = match verdict {
                    Verdict::Pending => time(expectation.at),
                    _ => judged_at(expectation.at, &clock, time),
                };
                [format!("{what}, t = {at}"), values, word.to_owned()]
            })
            .collect();
        let heading = if rows.is_empty() {
            scenario.title()
        } else {
            "Predicted and measured"
        };
        let heading = heading.to_owned();
        self.card(
            &heading,
            &|fits| with_room(rows.clone(), 0, fits),
            "Ripplon, a laboratory for waves",
        );
    }

    /// A heading in the middle, rows below it, a line at the foot; `choose` gives the rows, from a judgement whether all of them have room.
    fn card(&mut self, heading: &str, choose: &dyn Fn(&Fits<'_>) -> Vec<Told>, foot: &str) {
        let (width, height) = (self.picture.width, self.picture.height);
        let theme = self.theme;
        let mut picture = Picture::filled(width, height, theme.ground);
        let (w, h) = (pixel(width), pixel(height));
        let setting = Setting::of([w, h], theme);
        let (unit, large) = (setting.unit, setting.large);
        let (names, values, verdict) = (setting.names, setting.values, setting.verdict);
        let heading = setting.lines(large, heading);
        let rows = choose(&|rows| setting.fits(heading.len(), rows));
        let all = setting.height(heading.len(), &rows);
        let mut y = (0.5 * (h - all)).min(h - 2.0 * unit - all).max(unit);
        for line in &heading {
            y += 2.8 * unit;
            large.draw(&mut picture, w / 2.0, y - 0.6 * unit, Align::Center, line);
        }
        y += 1.4 * unit;
        for row in rows.iter().map(|row| setting.row(row)) {
            // Of a very small picture not even the rows that are always kept have room; sums are rounded.
            if y + row.height(unit) > h - 2.0 * unit + 1.0 {
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

/// How the words of a card are set.
struct Setting {
    /// Pixels of the picture.
    size: [f32; 2],
    /// Size of text, pixels.
    unit: f32,
    /// Styles: of the heading, of names, values and verdicts.
    large: Style,
    names: Style,
    values: Style,
    verdict: Style,
}

impl Setting {
    fn of([w, h]: [f32; 2], theme: &Theme) -> Self {
        let unit = (w / 56.0).min(h / 28.0).max(6.0) * if h > w { 1.5 } else { 1.0 };
        Self {
            size: [w, h],
            unit,
            large: theme.title(2.2 * unit),
            names: theme.label(unit),
            values: Style {
                color: theme.text,
                ..theme.label(unit)
            },
            verdict: theme.title(unit),
        }
    }

    /// Pixels across for words.
    fn room(&self) -> f32 {
        0.86 * self.size[0]
    }

    fn lines(&self, style: Style, words: &str) -> Vec<String> {
        let lines = wrapped(style, words, self.room()).into_iter();
        lines
            .map(|line| shortened(&line, |line| style.width(line) <= self.room()))
            .collect()
    }

    /// Name above value; the verdict behind the name, or below it where both have no room beside each other.
    fn row(&self, [name, value, word]: &Told) -> Row {
        let name = if word.is_empty() {
            name.clone()
        } else {
            format!("{name}:")
        };
        let mut heads: Vec<[String; 2]> = self
            .lines(self.names, &name)
            .into_iter()
            .map(|line| [line, String::new()])
            .collect();
        let has_room = |line: &str| self.names.width(&format!("{line} ")) + self.verdict.width(word) <= self.room();
        match heads.last_mut() {
            Some([line, own]) if has_room(line) => own.clone_from(word),
            _ => heads.push([String::new(), word.clone()]),
        }
        Row {
            heads,
            values: self.lines(self.values, value),
        }
    }

    /// Pixels of a heading of so many lines with these rows.
    fn height(&self, heading: usize, rows: &[Told]) -> f32 {
        let rows: f32 = rows.iter().map(|row| self.row(row).height(self.unit)).sum();
        (2.8 * pixel(heading) + 1.4) * self.unit + rows
    }

    /// Whether all of them have room above the line at the foot.
    fn fits(&self, heading: usize, rows: &[Told]) -> bool {
        self.height(heading, rows) <= self.size[1] - 3.0 * self.unit
    }
}

/// The rows of the first card: grid, medium and waves say what it is; the rest is for the lab book. Where not all have room, those of one name become one, the most frequent first; the method, which is the last, always stands there.
fn title_rows(facts: &[(String, String)], fits: &Fits<'_>) -> Vec<Told> {
    let is_told = |name: &str| !matches!(name, "Edges" | "Detector" | "Runs until" | "Step Δt");
    let told = facts.iter().filter(|(name, _)| is_told(name));
    let mut rows: Vec<Told> = told
        .map(|(name, value)| [name.clone(), value.clone(), String::new()])
        .collect();
    while !fits(&rows) {
        let count = |row: &Told| rows.iter().filter(|other| other[0] == row[0]).count();
        // The first of equal ones.
        let Some((name, most)) = (rows.iter().rev().map(|row| (row[0].clone(), count(row)))).max_by_key(|(_, n)| *n)
        else {
            break;
        };
        if most < 2 {
            break;
        }
        let all = counted(most as u64, &name.to_lowercase());
        if let Some(first) = rows.iter_mut().find(|row| row[0] == name) {
            *first = [all, String::new(), String::new()];
        }
        rows.retain(|row| row[0] != name);
    }
    with_room(rows, 1, fits)
}

/// As many rows as have room, and how many are left out; the `kept` last ones stand behind that.
fn with_room(mut rows: Vec<Told>, kept: usize, fits: &Fits<'_>) -> Vec<Told> {
    if fits(&rows) {
        return rows;
    }
    let last = rows.split_off(rows.len().saturating_sub(kept));
    let all = rows.len();
    while rows.pop().is_some() {
        let more = [format!("and {} more", all - rows.len()), String::new(), String::new()];
        let some: Vec<Told> = rows.iter().cloned().chain([more]).chain(last.iter().cloned()).collect();
        if fits(&some) {
            return some;
        }
    }
    last
}

/// A row of a card with its lines.
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
    let digits = |value: f64| within(value, expectation.tolerance);
    let measured = (verdict.measured()).map_or("–".to_owned(), |value| with_unit(digits(value)));
    let tolerance = with_unit(figure(expectation.tolerance));
    format!(
        "predicted {} ± {tolerance}, measured {measured}",
        digits(expectation.value)
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
            "predicted −0.250000 ± 2 × 10⁻⁵ Pa, measured −0.250010 Pa"
        );
        assert_eq!(
            of("tube", Verdict::Pending),
            "predicted −0.250000 ± 2 × 10⁻⁵ Pa, measured –"
        );
        assert_eq!(
            of("tunnelling", Verdict::Wrong(0.5)),
            "predicted −0.250000 ± 2 × 10⁻⁵, measured 0.500000"
        );
    }

    /// Five packets in a row of their own leave room for the layers and the method; what has no room is counted.
    #[test]
    fn a_title_card_tells_the_method_and_what_is_left_out() {
        let preset = crate::scene::presets::find("laser-atom").unwrap();
        let (file, scenario) = crate::solver::read_scene_text(preset.text, None, &[]).unwrap();
        let facts = facts::rows(&file, &scenario, 0.05);
        let setting = Setting::of([640.0, 360.0], Theme::light());
        let names = |fits: &Fits<'_>| {
            let rows = title_rows(&facts, fits).into_iter();
            rows.map(|[name, _, _]| name).collect::<Vec<String>>()
        };
        assert_eq!(
            names(&|rows| setting.fits(1, rows)),
            ["Grid", "Mass m", "Hopping J", "5 packets", "Layer", "Layer", "Method"]
        );
        assert_eq!(names(&|_| true).len(), 11);
        let few = names(&|rows| rows.len() <= 4);
        assert_eq!(few, ["Grid", "Mass m", "and 3 more", "Method"]);
        assert_eq!(names(&|_| false), ["Method"]);
        let rows = vec![["a", "b", ""].map(str::to_owned); 9];
        let some = with_room(rows, 0, &|rows| rows.len() <= 5);
        assert_eq!((some.len(), some[4][0].as_str()), (5, "and 5 more"));
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
