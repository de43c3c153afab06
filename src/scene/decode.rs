//! From the tree to typed values; every mismatch becomes a fault, and reading continues.

use super::document::{Entry, Node, Value};
use std::path::PathBuf;

/// A fault named by its key; its place is looked up in the document afterwards.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KeyFault {
    pub key: String,
    /// Whether the key itself is underlined, not its value.
    pub on_key: bool,
    /// The characters of a text value that are at fault, from 0.
    pub within: Option<(usize, usize)>,
    pub message: String,
    pub remedy: String,
}

/// What has been found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    pub faults: Vec<KeyFault>,
}

impl Diagnostics {
    /// Notes a fault of a value.
    pub fn value(&mut self, key: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) {
        self.faults.push(KeyFault {
            key: key.into(),
            on_key: false,
            within: None,
            message: message.into(),
            remedy: remedy.into(),
        });
    }

    /// Notes a fault of a key.
    pub fn key(&mut self, key: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) {
        self.value(key, message, remedy);
        if let Some(last) = self.faults.last_mut() {
            last.on_key = true;
        }
    }
}

/// A type that a value of a scene can have.
pub(super) trait Decode: Sized {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self>;
}

fn mismatch<T>(node: &Node, path: &str, found: &mut Diagnostics, wanted: &str, remedy: &str) -> Option<T> {
    let message = format!("{} is {}, not {wanted}", node.value.shown(), node.value.kind());
    found.value(path, message, remedy);
    None
}

impl Decode for f64 {
    #[expect(clippy::cast_precision_loss, reason = "a whole number where any number may stand")]
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Integer(number) => Some(number as Self),
            Value::Float(number) if number.is_finite() => Some(number),
            Value::Float(_) => {
                let message = format!("{} is not a finite number", node.value.shown());
                found.value(path, message, "write a number of at most 1e308");
                None
            }
            _ => mismatch(node, path, found, "a number", "write a number without quotes, e.g. 0.5"),
        }
    }
}

impl Decode for i64 {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Integer(number) => Self::try_from(number).ok().or_else(|| {
                found.value(
                    path,
                    format!("{number} is too large"),
                    "at most 9223372036854775807 can be written",
                );
                None
            }),
            _ => mismatch(node, path, found, "a whole number", "write a whole number, e.g. 4"),
        }
    }
}

impl Decode for usize {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Integer(number) => Self::try_from(number).ok().or_else(|| {
                let (limit, remedy) = if number < 0 {
                    ("negative", "write a whole number of at least 0")
                } else {
                    ("too large", "write a smaller number")
                };
                found.value(path, format!("{number} is {limit}"), remedy);
                None
            }),
            _ => mismatch(node, path, found, "a whole number", "write a whole number, e.g. 512"),
        }
    }
}

impl Decode for bool {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match node.value {
            Value::Boolean(value) => Some(value),
            _ => mismatch(node, path, found, "true or false", "write true or false without quotes"),
        }
    }
}

impl Decode for String {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(text.clone()),
            _ => mismatch(node, path, found, "a text", "put the text in quotes"),
        }
    }
}

impl Decode for PathBuf {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        let text = String::decode(node, path, found)?;
        if text.is_empty() || text.contains('\0') {
            found.value(
                path,
                "this is not the name of a file",
                "name a file, relative to the scene file",
            );
            return None;
        }
        Some(text.into())
    }
}

/// A list; a single value counts as a list of one.
impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        let Value::Array(items) = &node.value else {
            return T::decode(node, path, found).map(|one| vec![one]);
        };
        // Every item is looked at, so that all faults are found.
        let decoded: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| T::decode(item, &format!("{path}.{index}"), found))
            .collect();
        decoded.into_iter().collect()
    }
}

/// Points in the plane.
impl Decode for [f64; 2] {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        let list = Vec::<f64>::decode(node, path, found)?;
        let count = list.len();
        Self::try_from(list).ok().or_else(|| {
            found.value(
                path,
                format!("{count} numbers where 2 belong"),
                "write a pair, e.g. [0.0, 1.0]",
            );
            None
        })
    }
}

/// One of several words, with the value of each.
pub(super) fn word<T: Copy>(node: &Node, path: &str, found: &mut Diagnostics, all: &[(&str, T)]) -> Option<T> {
    let allowed = || all.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
    let Value::String(text) = &node.value else {
        return mismatch(
            node,
            path,
            found,
            "a word",
            &format!("write one of {} in quotes", allowed()),
        );
    };
    if let Some((_, value)) = all.iter().find(|(word, _)| word == text) {
        return Some(*value);
    }
    let message = format!("{} is not known here", node.value.shown());
    let remedy = match nearest(text, all.iter().map(|(word, _)| *word)) {
        Some(near) => format!("did you mean \"{near}\"? Possible are {}", allowed()),
        None => format!("possible are {}", allowed()),
    };
    found.value(path, message, remedy);
    None
}

/// The closest of some words, if it is close.
pub(crate) fn nearest<'a>(word: &str, all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower: Vec<char> = word.chars().take(40).flat_map(char::to_lowercase).collect();
    let (distance, near) = all.map(|other| (distance(&lower, other), other)).min()?;
    (distance <= 1 + near.len().min(lower.len()) / 3).then_some(near)
}

/// Levenshtein distance, with a transposition of neighbours as one step.
fn distance(left: &[char], right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

/// May explain why a key does not belong in a section: what is wrong, and the remedy.
pub(super) type Reason = fn(&Section<'_>, &str) -> Option<(String, String)>;

/// A table whose keys are read one by one; keys that are never read are unknown.
pub(super) struct Section<'a> {
    pub path: String,
    entries: &'a [Entry],
    asked: Vec<&'static str>,
    /// Whether any other key may be there.
    open: bool,
}

impl<'a> Section<'a> {
    /// The table at a node, or a fault.
    pub fn open(node: &'a Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::Table(entries) => Some(Self {
                path: path.to_owned(),
                entries,
                asked: Vec::new(),
                open: false,
            }),
            _ => mismatch(
                node,
                path,
                found,
                "a table",
                "write it as a section or as { key = value }",
            ),
        }
    }

    /// The full name of a key in it.
    pub fn name(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The node of a key.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        self.entries
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.node)
    }

    /// Whether the key exists; does not count as reading it.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// A text or word as it is written; does not count as reading it.
    pub fn written(&self, key: &str) -> Option<&'a str> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        match &entry.node.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key that may be missing.
    pub fn get<T: Decode>(&mut self, key: &'static str, found: &mut Diagnostics) -> Option<T> {
        let path = self.name(key);
        self.node(key).and_then(|node| T::decode(node, &path, found))
    }

    /// The value of a required key; its default after a fault.
    pub fn need<T: Decode + Default>(&mut self, key: &'static str, example: &str, found: &mut Diagnostics) -> T {
        self.need_or(key, example, T::default(), found)
    }

    /// The same of a type without a default.
    pub fn need_or<T: Decode>(&mut self, key: &'static str, example: &str, stand_in: T, found: &mut Diagnostics) -> T {
        let path = self.name(key);
        let Some(node) = self.node(key) else {
            found.key(path, "is missing", format!("add a line such as `{key} = {example}`"));
            return stand_in;
        };
        T::decode(node, &path, found).unwrap_or(stand_in)
    }

    /// A section that must be there.
    pub fn block<T: Decode + Default>(&mut self, key: &'static str, remedy: &str, found: &mut Diagnostics) -> T {
        if !self.has(key) {
            found.key(self.name(key), "is missing", remedy);
        }
        self.get(key, found).unwrap_or_default()
    }

    /// One of several words.
    pub fn word<T: Copy>(&mut self, key: &'static str, all: &[(&str, T)], found: &mut Diagnostics) -> Option<T> {
        let path = self.name(key);
        self.node(key).and_then(|node| word(node, &path, found, all))
    }

    /// A list of tables (or one table).
    pub fn tables<T>(
        &mut self,
        key: &'static str,
        found: &mut Diagnostics,
        mut read: impl FnMut(Section<'a>, &mut Diagnostics) -> T,
    ) -> Vec<T> {
        let path = self.name(key);
        let Some(node) = self.node(key) else {
            return Vec::new();
        };
        let Value::Array(items) = &node.value else {
            let message = format!("{} is not a list of tables", node.value.shown());
            found.value(
                &path,
                message,
                format!("write the heading with two brackets: [[{path}]]"),
            );
            return Vec::new();
        };
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if let Some(section) = Section::open(item, &format!("{path}.{index}"), found) {
                list.push(read(section, found));
            }
        }
        list
    }

    /// A table that may be missing.
    pub fn table(&mut self, key: &'static str, found: &mut Diagnostics) -> Option<Section<'a>> {
        let path = self.name(key);
        self.node(key).and_then(|node| Section::open(node, &path, found))
    }

    /// Entries that nobody asked for yet.
    fn rest(&self) -> impl Iterator<Item = &'a Entry> {
        self.entries
            .iter()
            .filter(|entry| !self.asked.iter().any(|asked| entry.key == *asked))
    }

    /// All entries that have not been read; none of them counts as unknown.
    pub fn take_rest(&mut self) -> Vec<&'a Entry> {
        self.open = true;
        self.rest().collect()
    }

    /// Notes every key that was not read; `reason` may explain why it does not belong here.
    pub fn close(self, found: &mut Diagnostics, reason: Reason) {
        for entry in self.rest().filter(|_| !self.open) {
            let (message, remedy) = reason(&self, &entry.key).unwrap_or_else(|| {
                let remedy = match nearest(&entry.key, self.asked.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("possible here are {}", self.asked.join(", ")),
                };
                ("there is no such key".to_owned(), remedy)
            });
            found.key(self.name(&entry.key), message, remedy);
        }
    }
}
