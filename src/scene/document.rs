//! A scene text as a tree in which every value has its place, with `--set` overrides applied.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// Bytes of the text.
    Text(Range<usize>),
    /// The override with this number.
    Setting(usize),
}

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub place: Place,
    pub node: Node,
}

/// A TOML value; integers beyond 128 bits are floats.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

impl Value {
    /// The type's name in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a text",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Boolean(_) => "a truth value",
            Self::Datetime(_) => "a date",
            Self::Array(_) => "a list",
            Self::Table(_) => "a table",
        }
    }

    /// The value in messages, shortened.
    pub fn shown(&self) -> String {
        let full = match self {
            Self::String(text) => format!("{text:?}"),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => super::write::float(*number),
            Self::Boolean(value) => value.to_string(),
            Self::Datetime(text) => text.clone(),
            Self::Array(items) => {
                let shown: Vec<String> = items.iter().take(8).map(|item| item.value.shown()).collect();
                format!("[{}]", shown.join(", "))
            }
            Self::Table(_) => "{ … }".to_owned(),
        };
        if full.chars().count() > 60 {
            full.chars().take(57).chain("…".chars()).collect()
        } else {
            full
        }
    }
}

/// The tree of a scene text.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub root: Node,
}

/// The remedy where the syntax error at a byte of the text is the comma of a number such as `5,0`.
fn decimal_comma(text: &str, at: usize) -> Option<String> {
    let whole = text.get(..at)?.rsplit_once('=')?.1.trim();
    let after = text.get(at..)?.strip_prefix(',')?;
    let end = after.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(after.len());
    let is_number = whole.parse::<i64>().is_ok() && end > 0;
    is_number.then(|| format!("write a decimal point: {whole}.{}", &after[..end]))
}

/// A fault of the text itself or of an override.
#[derive(Clone, Debug)]
pub(super) struct TextFault {
    pub place: Place,
    pub message: String,
    pub remedy: String,
}

impl Document {
    /// Parses a text, up to the first syntax error.
    pub fn parse(text: &str) -> Result<Self, TextFault> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self {
                root: Node {
                    place: Place::Text(0..0),
                    value: Value::Table(entries(table.get_ref())),
                },
            }),
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                let remedy = decimal_comma(text, span.start).unwrap_or_else(|| {
                    "a scene is lines of `key = value` under headings such as [grid]; texts are in quotes".to_owned()
                });
                Err(TextFault {
                    place: Place::Text(span),
                    message: format!("this is not TOML: {}", error.message().trim().replace('\n', "; ")),
                    remedy,
                })
            }
        }
    }

    /// Applies override number `number`, `key.path=value`.
    pub fn set(&mut self, number: usize, setting: &str) -> Result<(), TextFault> {
        let place = Place::Setting(number);
        let fault = |message: String, remedy: &str| TextFault {
            place: place.clone(),
            message,
            remedy: remedy.to_owned(),
        };
        let example = "write e.g. --set solver.order=4 or --set packet.0.momentum=[1,0]";
        let Some((path, text)) = setting.split_once('=') else {
            return Err(fault(format!("`{setting}` has no `=`"), example));
        };
        let keys: Vec<&str> = path.trim().split('.').map(str::trim).collect();
        if keys.iter().any(|key| key.is_empty()) || keys.len() > 16 {
            return Err(fault(format!("`{path}` is not a key of a scene"), example));
        }
        let value = match DeValue::parse(text.trim()) {
            Ok(parsed) => value(parsed.get_ref(), &|_| place.clone()),
            Err(_) => Value::String(text.trim().to_owned()),
        };
        let node = Node {
            place: place.clone(),
            value,
        };
        insert(&mut self.root, &keys, node).map_err(|(message, remedy)| fault(message, &remedy))
    }

    /// The place of a key, or of the deepest part of it that exists: (place, whether all of it exists).
    pub fn locate(&self, path: &str, on_key: bool) -> (Place, bool) {
        let mut node = &self.root;
        let mut place = node.place.clone();
        if path.is_empty() {
            return (place, true);
        }
        for key in path.split('.') {
            let next = match &node.value {
                Value::Table(table) => table
                    .iter()
                    .find(|entry| entry.key == key)
                    .map(|entry| (&entry.node, if on_key { &entry.place } else { &entry.node.place })),
                Value::Array(items) => key
                    .parse()
                    .ok()
                    .and_then(|index: usize| items.get(index))
                    .map(|item| (item, &item.place)),
                _ => None,
            };
            let Some((inner, at)) = next else {
                return (place, false);
            };
            node = inner;
            place = at.clone();
        }
        (place, true)
    }

    /// The place of a fault: of the key or its value, or of some characters of a text value.
    pub fn place_of(&self, text: &str, path: &str, on_key: bool, within: Option<(usize, usize)>) -> Place {
        let (place, there) = self.locate(path, on_key);
        let (Place::Text(range), Some((first, last)), true) = (&place, within, there) else {
            return place;
        };
        // Characters can be counted only where the text stands in simple quotes without escapes.
        let raw = text.get(range.clone()).unwrap_or("");
        let inner = raw
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|inner| !inner.contains(['\\', '\n']) && !inner.starts_with('"'));
        let Some(inner) = inner else { return place };
        let byte = |count: usize| inner.char_indices().nth(count).map_or(inner.len(), |(at, _)| at);
        Place::Text(range.start + 1 + byte(first)..range.start + 1 + byte(last))
    }
}

fn insert(root: &mut Node, keys: &[&str], new: Node) -> Result<(), (String, String)> {
    let mut node = root;
    for (depth, key) in keys.iter().enumerate() {
        let path = keys[..=depth].join(".");
        let place = new.place.clone();
        node = match &mut node.value {
            Value::Table(table) => {
                let found = table.iter().position(|entry| entry.key == *key);
                let index = found.unwrap_or_else(|| {
                    // A number after a key that is not there yet starts a list.
                    let list = keys.get(depth + 1).is_some_and(|next| next.parse::<usize>().is_ok());
                    table.push(Entry {
                        key: (*key).to_owned(),
                        place: place.clone(),
                        node: Node {
                            place: place.clone(),
                            value: if list {
                                Value::Array(Vec::new())
                            } else {
                                Value::Table(Vec::new())
                            },
                        },
                    });
                    table.len() - 1
                });
                if depth + 1 == keys.len() {
                    // What is wrong with the key is the override's doing, not the file's.
                    table[index].place = place;
                }
                &mut table[index].node
            }
            Value::Array(items) => {
                let parent = keys[..depth].join(".");
                let count = items.len();
                let Ok(index) = key.parse::<usize>() else {
                    return Err((
                        format!("`{parent}` is a list, and `{key}` is not a number"),
                        format!("name the entry by its number from 0, e.g. {parent}.0"),
                    ));
                };
                if index > count {
                    return Err((
                        format!(
                            "`{parent}` has {count} {}, and {index} is beyond",
                            if count == 1 { "entry" } else { "entries" }
                        ),
                        format!("entries are numbered from 0; {parent}.{count} would add one"),
                    ));
                }
                if index == count {
                    items.push(Node {
                        place,
                        value: Value::Table(Vec::new()),
                    });
                }
                &mut items[index]
            }
            other => {
                let parent = keys[..depth].join(".");
                return Err((
                    format!("`{parent}` is {}, so there is no `{path}`", other.kind()),
                    format!("set `{parent}` as a whole"),
                ));
            }
        };
    }
    *node = new;
    Ok(())
}

fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    table_entries(table, &Place::Text)
}

fn table_entries(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Vec<Entry> {
    table
        .iter()
        .map(|(key, item)| Entry {
            key: key.get_ref().to_string(),
            place: place(key.span()),
            node: node(item, place),
        })
        .collect()
}

fn node(item: &Spanned<DeValue<'_>>, place: &dyn Fn(Range<usize>) -> Place) -> Node {
    Node {
        place: place(item.span()),
        value: value(item.get_ref(), place),
    }
}

fn value(value: &DeValue<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i128::from_str_radix(&digits, number.radix()).map_or_else(
                |_| Value::Float(digits.parse().unwrap_or(f64::INFINITY)),
                Value::Integer,
            )
        }
        DeValue::Float(number) => Value::Float(number.as_str().replace('_', "").parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(date) => Value::Datetime(date.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| node(item, place)).collect()),
        DeValue::Table(table) => Value::Table(table_entries(table, place)),
    }
}
