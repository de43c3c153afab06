//! Everything that is wrong with a scene, each with its place, and how it is shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A place in a scene file; lines and columns count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Line.
    pub line: usize,
    /// Column of the first offending character.
    pub column: usize,
    /// Characters that are underlined, at least 1, at most to the end of the line.
    pub length: usize,
    /// The whole line.
    pub text: String,
}

impl Location {
    /// The place of a range of bytes in a text; ranges outside or inside a character are moved to the next boundary.
    #[must_use]
    pub fn find(text: &str, range: &Range<usize>) -> Self {
        let boundary = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (boundary(range.start), boundary(range.end));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line_text = text[line_start..line_end].trim_end_matches('\r');
        let column = text[line_start..start].chars().count() + 1;
        let length = text[start..end.clamp(start, line_end)].trim_end().chars().count();
        Self {
            line: text[..line_start].matches('\n').count() + 1,
            column,
            length: length.max(1),
            text: line_text.to_owned(),
        }
    }
}

/// A change of a scene on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The option.
    pub option: &'static str,
    /// What it says, `KEY=VALUE`.
    pub words: String,
}

/// One fault of a scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The key in the scene, e.g. `packet.0.width`; empty for a fault of the text itself.
    pub key: String,
    /// What is wrong: the offending value and the limit.
    pub message: String,
    /// What to change.
    pub remedy: String,
    /// Where in the file; `None` if the scene was not read from a text.
    pub location: Option<Location>,
    /// The `--set` that the value came from, instead of a place in the file.
    pub setting: Option<Setting>,
}

impl Fault {
    /// Key, fault and remedy on one line, where the text is not at hand.
    pub fn in_words(&self) -> String {
        let key = if self.key.is_empty() {
            String::new()
        } else {
            format!("{}: ", self.key)
        };
        format!("{key}{}; {}", self.message, self.remedy)
    }
}

/// All faults of a scene, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    /// The file or preset.
    pub origin: String,
    /// The faults; never empty.
    pub list: Vec<Fault>,
}

/// The longest line that is shown whole; for longer lines the part around the fault is shown.
const LINE_LIMIT: usize = 140;

/// The largest number of faults that are shown; the text says how many more there are.
const MOST_SHOWN: usize = 20;

impl Faults {
    /// One fault about a scene as a whole, e.g. a file that cannot be read.
    #[must_use]
    pub fn one(origin: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            origin: origin.into(),
            list: vec![Fault {
                key: String::new(),
                message: message.into(),
                remedy: remedy.into(),
                location: None,
                setting: None,
            }],
        }
    }

    /// Records that an option other than `--set` made these changes.
    #[must_use]
    pub fn set_by(mut self, option: &'static str, changes: &[String]) -> Self {
        for setting in self.list.iter_mut().filter_map(|fault| fault.setting.as_mut()) {
            if changes.contains(&setting.words) {
                setting.option = option;
            }
        }
        self
    }

    /// The faults as text, the first twenty of them, with the offending lines underlined; `colored` for a terminal.
    pub fn render(&self, colored: bool) -> String {
        let paint = |code: &str, text: &str| {
            if colored {
                format!("\x1b[{code}m{text}\x1b[0m")
            } else {
                text.to_owned()
            }
        };
        let arrow = paint("1;34", "-->");
        let bar = paint("1;34", "|");
        let origin = without_controls(&self.origin);
        let mut lines = Vec::new();
        for fault in self.list.iter().take(MOST_SHOWN) {
            let what = if fault.key.is_empty() {
                fault.message.clone()
            } else {
                format!("{}: {}", fault.key, fault.message)
            };
            let what = without_controls(&what);
            lines.push(format!("{}: {}", paint("1;31", "error"), paint("1", &what)));
            match (&fault.setting, &fault.location) {
                (Some(Setting { option, words }), _) => {
                    lines.push(format!("  {arrow} {option} {}", without_controls(words)));
                }
                (None, Some(place)) => {
                    let number = place.line.to_string();
                    let margin = " ".repeat(number.len());
                    let (shown, column) = window(place);
                    let length = place.length.min(shown.chars().count().saturating_sub(column).max(1));
                    let under = paint("1;31", &"^".repeat(length));
                    lines.push(format!("{margin} {arrow} {origin}:{}:{}", place.line, place.column));
                    lines.push(format!("{margin} {bar}"));
                    lines.push(format!("{} {bar} {shown}", paint("1;34", &number)));
                    lines.push(format!("{margin} {bar} {}{under}", " ".repeat(column)));
                }
                (None, None) => lines.push(format!("  {arrow} {origin}")),
            }
            if !fault.remedy.is_empty() {
                lines.push(format!(
                    "  {} {}",
                    paint("1;34", "= help:"),
                    without_controls(&fault.remedy)
                ));
            }
            lines.push(String::new());
        }
        let count = match self.list.len() {
            1 => "1 fault".to_owned(),
            n if n > MOST_SHOWN => format!("{n} faults, the first {MOST_SHOWN} of which are shown,"),
            n => format!("{n} faults"),
        };
        lines.push(format!("{}: {count} in {origin}", paint("1;31", "error")));
        lines.join("\n")
    }
}

/// Whether a character changes the order in which a terminal shows those after it, whatever they are (embeddings,
/// overrides and isolates of the Unicode bidirectional algorithm). Texts that are written from right to left need none
/// of them.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text for a terminal: characters that could move its cursor, recolour it or reorder a line become `�`: control
/// characters except line breaks and tabs, and those that change the order of letters.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && c != '\n' && c != '\t' || reorders(c);
    if text.contains(harmful) {
        Cow::Owned(text.replace(harmful, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The part of a line that is shown, tabs as single blanks, and the column of the fault in it, from 0.
fn window(place: &Location) -> (String, usize) {
    let clean = |c: char| if c.is_control() || reorders(c) { ' ' } else { c };
    let column = place.column - 1;
    let count = place.text.chars().count();
    if count <= LINE_LIMIT {
        return (place.text.chars().map(clean).collect(), column);
    }
    let start = column.saturating_sub(LINE_LIMIT / 2).min(count - LINE_LIMIT);
    let mut shown: String = place.text.chars().skip(start).take(LINE_LIMIT).map(clean).collect();
    let mut shift = 0;
    if start > 0 {
        shown.insert_str(0, "… ");
        shift = 2;
    }
    if start + LINE_LIMIT < count {
        shown.push_str(" …");
    }
    (shown, column - start + shift)
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}
