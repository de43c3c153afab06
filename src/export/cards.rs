//! The cards of a film: its title with what runs before it, what was predicted and measured after it.

use super::facts::{self, figure};
use super::overlay::pixel;
use super::paint::Painter;
use super::picture::Picture;
use super::text::{Align, Style};
use crate::engine::{Engine, Verdict};
use crate::physics::Equation;
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
        let unit = match scenario.model().equation() {
            Equation::Acoustic => " s",
            Equation::Schrodinger => "",
        };
        let all = scenario.expectations().iter().zip(engine.verdicts());
        let rows: Vec<[String; 3]> = all
            .take(MOST)
            .map(|(expectation, verdict)| {
                let what = expectation.subject.in_words(scenario.detectors());
                let (measured, word) = match verdict {
                    Verdict::Right(value) => (figure(*value), "agrees"),
                    Verdict::Wrong(value) => (figure(*value), "disagrees"),
                    Verdict::Pending => ("–".to_owned(), "not reached"),
                };
                let values = format!(
                    "predicted {} ± {}, measured {measured}",
                    figure(expectation.value),
                    figure(expectation.tolerance)
                );
                [
                    format!("{what}, t = {}{unit}", figure(expectation.at)),
                    values,
                    word.to_owned(),
                ]
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
        let heading = wrapped(large, heading, room);
        // Name above value where both have no room beside each other.
        let rows: Vec<(String, Vec<String>, String)> = rows
            .into_iter()
            .map(|[name, value, word]| (name, wrapped(values, &value, room), word))
            .collect();
        let row_height = |lines: usize| (1.45 + 1.3 * pixel(lines) + 0.55) * unit;
        let all = 2.8 * unit * pixel(heading.len())
            + 1.4 * unit
            + rows.iter().map(|(_, lines, _)| row_height(lines.len())).sum::<f32>();
        let mut y = (0.5 * (h - all)).max(unit);
        for line in &heading {
            y += 2.8 * unit;
            large.draw(&mut picture, w / 2.0, y - 0.6 * unit, Align::Center, line);
        }
        y += 1.4 * unit;
        for (name, lines, word) in rows {
            if y + row_height(lines.len()) > h - 2.0 * unit {
                break;
            }
            let ink = match word.as_str() {
                "agrees" => verdict_color(theme.ground, true),
                "disagrees" => verdict_color(theme.ground, false),
                _ => theme.quiet,
            };
            let head = if word.is_empty() {
                name.clone()
            } else {
                format!("{name}: ")
            };
            let wide = names.width(&head) + names.width(&word);
            names.draw(&mut picture, (w - wide) / 2.0, y + unit, Align::Left, &head);
            let said = Style {
                color: ink,
                ..theme.title(unit)
            };
            said.draw(
                &mut picture,
                (w - wide) / 2.0 + names.width(&head),
                y + unit,
                Align::Left,
                &word,
            );
            y += 1.45 * unit;
            for line in &lines {
                values.draw(&mut picture, w / 2.0, y + unit, Align::Center, line);
                y += 1.3 * unit;
            }
            y += 0.55 * unit;
        }
        names.draw(&mut picture, w / 2.0, h - 1.6 * unit, Align::Center, foot);
        self.picture = picture;
    }
}

/// The colour of a verdict over a ground.
fn verdict_color(ground: [u8; 3], agrees: bool) -> [u8; 3] {
    match (ground[0] < 128, agrees) {
        (true, true) => [111, 194, 139],
        (true, false) => [224, 114, 108],
        (false, true) => [31, 122, 68],
        (false, false) => [179, 50, 44],
    }
}
