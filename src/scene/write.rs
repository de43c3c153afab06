//! Writing a scene back: sections in the order of the reference, defaults left out, numbers as short as they can be.

use super::codec::{Codec, Table};
use super::file::{FORMAT, SceneFile};
use std::fmt::Write;
use std::path::Path;

/// The shortest text of a number that reads back exactly.
pub(super) fn float(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() || size == 0.0 || (1e-4..1e15).contains(&size) {
        format!("{number:?}").replace("NaN", "nan")
    } else {
        format!("{number:e}")
    }
}

/// A number without what rounding left in its last digits: 0.30000000000000004 is 0.3. One that needs all of its digits stays.
pub(super) fn tidy(number: f64) -> f64 {
    let short: f64 = format!("{number:.12e}").parse().unwrap_or(number);
    if (short - number).abs() <= 4.0 * f64::EPSILON * number.abs() {
        short
    } else {
        number
    }
}

/// The shortest text of a number that was worked out, as a product of sites and spacing.
pub(super) fn tidy_float(number: f64) -> String {
    float(tidy(number))
}

/// A basic string; control characters are escaped.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text of several lines in triple quotes.
pub(super) fn long_text(long: &str) -> String {
    if !long.contains('\n') {
        return text(long);
    }
    let lines: Vec<String> = long
        .split('\n')
        .map(|line| {
            let quoted = text(line);
            let inner = &quoted[1..quoted.len() - 1];
            // Single quotes may stand as they are; three in a row would end the text.
            if inner.contains("\\\"\\\"\\\"") {
                inner.to_owned()
            } else {
                inner.replace("\\\"", "\"")
            }
        })
        .collect();
    let body = lines.join("\n");
    // A quote at the very end would join the closing three.
    let body = match body.strip_suffix('"') {
        Some(rest) if !rest.ends_with('\\') => format!("{rest}\\\""),
        _ => body,
    };
    format!("\"\"\"\n{body}\"\"\"")
}

pub(super) fn path(path: &Path) -> String {
    // Forward slashes work everywhere, so that a scene can be taken to another system.
    text(&path.to_string_lossy().replace('\\', "/"))
}

/// What follows a key.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A value as TOML.
    Value(String),
    /// A section.
    Table(Keys),
    /// A list of sections.
    Tables(Vec<Keys>),
}

impl Item {
    /// On one line.
    pub fn inline(self) -> String {
        let table = |keys: Keys| {
            let keys: Vec<String> = keys.lines().collect();
            match keys[..] {
                [] => "{}".to_owned(),
                _ => format!("{{ {} }}", keys.join(", ")),
            }
        };
        match self {
            Self::Value(value) => value,
            Self::Table(keys) => table(keys),
            Self::Tables(list) => format!("[{}]", list.into_iter().map(table).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// The keys of a section that are written, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Keys(Vec<(String, Item)>);

impl Keys {
    pub fn push<T: Codec>(&mut self, key: &str, value: &T) {
        self.0.push((key.to_owned(), value.encode()));
    }

    pub fn unless<T: Codec + PartialEq>(&mut self, key: &str, value: &T, default: &T) {
        if value != default {
            self.push(key, value);
        }
    }

    pub fn optional<T: Codec>(&mut self, key: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.push(key, value);
        }
    }

    pub fn optional_item(&mut self, key: &str, item: Option<Item>) {
        self.0.extend(item.map(|item| (key.to_owned(), item)));
    }

    pub fn tables<T: Table>(&mut self, key: &str, list: &[T]) {
        if !list.is_empty() {
            let list = list.iter().map(Table::keys).collect();
            self.0.push((key.to_owned(), Item::Tables(list)));
        }
    }

    fn lines(self) -> impl Iterator<Item = String> {
        self.0
            .into_iter()
            .map(|(key, item)| format!("{key} = {}", item.inline()))
    }
}

impl SceneFile {
    /// The scene as a text that reads back to the same scene.
    pub fn to_toml(&self) -> String {
        let mut out = format!("format = {FORMAT}\n");
        let block = |out: &mut String, heading: String, keys: Keys| {
            let _ = writeln!(out, "\n{heading}");
            for line in keys.lines() {
                let _ = writeln!(out, "{line}");
            }
        };
        for (key, item) in self.keys().0 {
            match item {
                Item::Value(value) => {
                    let _ = writeln!(out, "{key} = {value}");
                }
                Item::Table(keys) => block(&mut out, format!("[{key}]"), keys),
                Item::Tables(list) => {
                    for keys in list {
                        block(&mut out, format!("[[{key}]]"), keys);
                    }
                }
            }
        }
        out
    }
}
