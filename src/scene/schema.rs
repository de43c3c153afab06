//! The scene format as rows: the source of the reference's tables and of the JSON schema for editors.

use super::codec::{Codec, Fields, Kinded};
use super::file::{FORMAT, SceneFile, ShapeFile, SignalFile, TransducersFile};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// One key of a section.
pub(super) struct Row {
    pub key: &'static str,
    pub kind: Kind,
    pub presence: Presence,
    pub limits: &'static str,
    pub unit: &'static str,
    /// What it means, as Markdown.
    pub meaning: &'static str,
}

/// What may follow a key.
pub(super) enum Kind {
    Number,
    Whole,
    Text,
    /// The name of a file.
    File,
    Flag,
    Words(Vec<&'static str>),
    /// So many numbers.
    Numbers(usize),
    /// A list, or one alone.
    List(Box<Self>),
    /// A list, and none alone.
    Only(Box<Self>),
    Either(Vec<Self>),
    Table(fn() -> Vec<Row>),
    Tables(fn() -> Vec<Row>),
}

/// What it means that a key is missing.
pub(super) enum Presence {
    Required,
    /// The default as TOML.
    Default(String),
    /// The default in words.
    Optional(&'static str),
}

/// A word of an enum with its keys (and their limits) and its meaning.
pub(super) struct Variant {
    pub word: &'static str,
    pub keys: Vec<(&'static str, &'static str)>,
    pub meaning: &'static str,
}

impl Variant {
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(own, _)| *own == key)
    }
}

impl Kind {
    pub fn words<T>(all: &[(&'static str, T)]) -> Self {
        Self::Words(all.iter().map(|(word, _)| *word).collect())
    }

    fn json(&self) -> Value {
        match self {
            Self::Number => json!({ "type": "number" }),
            Self::Whole => json!({ "type": "integer", "minimum": 0 }),
            Self::Text => json!({ "type": "string" }),
            Self::File => json!({ "type": "string", "minLength": 1 }),
            Self::Flag => json!({ "type": "boolean" }),
            Self::Words(words) => json!({ "type": "string", "enum": words }),
            Self::Numbers(count) => {
                json!({ "type": "array", "items": { "type": "number" }, "minItems": count, "maxItems": count })
            }
            Self::List(one) => json!({ "anyOf": [one.json(), { "type": "array", "items": one.json() }] }),
            Self::Only(one) => json!({ "type": "array", "items": one.json() }),
            Self::Either(kinds) => json!({ "anyOf": kinds.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Table(rows) => object(&rows()),
            Self::Tables(rows) => json!({ "type": "array", "items": object(&rows()) }),
        }
    }
}

impl Presence {
    pub fn of<T: Codec>(default: &T) -> Self {
        Self::Default(default.encode().inline())
    }

    /// As a cell of a table.
    fn shown(&self) -> String {
        match self {
            Self::Required => "required".to_owned(),
            Self::Default(text) if text.starts_with('"') => format!("`{text}`"),
            Self::Default(text) => text.strip_suffix(".0").unwrap_or(text).to_owned(),
            Self::Optional(text) => (*text).to_owned(),
        }
    }
}

impl Row {
    pub fn of<T: Kinded>(
        key: &'static str,
        presence: Presence,
        limits: &'static str,
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            key,
            kind: T::kind(),
            presence,
            limits,
            unit,
            meaning,
        }
    }

    fn json(&self) -> Value {
        let mut value = self.kind.json();
        if let (Value::Object(object), true) = (&mut value, matches!(self.kind, Kind::Number | Kind::Whole)) {
            object.extend(bound(self.limits));
        }
        let mut about = self.meaning.to_owned();
        let default = self.presence.shown();
        for (head, text) in [("Unit", self.unit), ("Limits", self.limits), ("Default", &default)] {
            if !text.is_empty() && text != "required" {
                let _ = write!(about, "\n\n{head}: {text}");
            }
        }
        value["description"] = json!(about);
        if let Presence::Default(text) = &self.presence
            && let Some(default) = from_toml(text)
        {
            value["default"] = default;
        }
        value
    }
}

/// The bound at the beginning of the limits, e.g. `> 0`.
fn bound(limits: &str) -> Option<(String, Value)> {
    let mut words = limits.split([' ', ';', ',']);
    let key = match words.next()? {
        ">" => "exclusiveMinimum",
        "≥" => "minimum",
        _ => return None,
    };
    let number: i64 = words.next()?.parse().ok()?;
    Some((key.to_owned(), json!(number)))
}

fn from_toml(text: &str) -> Option<Value> {
    let table: toml::Table = format!("value = {text}").parse().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// Adds rows for keys that are not yet present. Of variants that share a key the first describes it, without limits where
/// they differ.
pub(super) fn add_new(rows: &mut Vec<Row>, more: Vec<Row>) {
    for row in more {
        match rows.iter_mut().find(|own| own.key == row.key) {
            Some(own) if own.limits != row.limits => own.limits = "",
            Some(_) => {}
            None => rows.push(row),
        }
    }
}

/// The head's `format` with the other keys of a scene.
fn root() -> Vec<Row> {
    let mut rows = vec![Row::of::<usize>("format", Presence::Required, "", "", "1")];
    rows.extend(SceneFile::rows());
    rows
}

fn object(rows: &[Row]) -> Value {
    let properties: Map<String, Value> = rows.iter().map(|row| (row.key.to_owned(), row.json())).collect();
    let required: Vec<&str> = rows
        .iter()
        .filter(|row| matches!(row.presence, Presence::Required))
        .map(|row| row.key)
        .collect();
    let mut value = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        value["required"] = json!(required);
    }
    value
}

/// A JSON schema (draft 7) of scene files. Method, variant and the methods' parameters under `[solver]` are as free as
/// the format itself leaves them.
pub fn json() -> Value {
    let mut schema = object(&root());
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(format!("Ripplon scene, format {FORMAT}"));
    schema["properties"]["format"]["const"] = json!(FORMAT);
    schema["properties"]["solver"]["additionalProperties"] = json!(true);
    schema["oneOf"] = json!([{ "required": ["quantum"] }, { "required": ["acoustic"] }]);
    schema
}

/// The tables of the reference: the section's name (`head`, `grid`, …, `shapes`) and the lines.
pub fn tables() -> Vec<(&'static str, String)> {
    let (head, sections): (Vec<Row>, Vec<Row>) = root()
        .into_iter()
        .partition(|row| !matches!(row.kind, Kind::Table(_) | Kind::Tables(_)));
    let mut all = vec![("head", table(&head))];
    for row in sections {
        if let Kind::Table(rows) | Kind::Tables(rows) = row.kind {
            all.push((row.key, table(&rows())));
        }
    }
    all.push(("shapes", variants("shape", "sites", &ShapeFile::variants())));
    all.push(("signals", variants("signal", "what it is", &SignalFile::variants())));
    all.push((
        "transducers",
        variants("shape", "where they stand", &TransducersFile::variants()),
    ));
    all
}

/// All tables under headings.
pub fn markdown() -> String {
    let tables = tables();
    let parts: Vec<String> = tables
        .iter()
        .map(|(name, table)| format!("## {name}\n\n{table}"))
        .collect();
    parts.join("\n")
}

fn table(rows: &[Row]) -> String {
    let has_limits = rows.iter().any(|row| !row.limits.is_empty());
    let has_units = rows.iter().any(|row| !row.unit.is_empty());
    let line = |key: &str, default: &str, unit: &str, limits: &str, meaning: &str| {
        let mut cells = vec![key, default];
        cells.extend(has_units.then_some(unit));
        cells.extend(has_limits.then_some(limits));
        cells.push(meaning);
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
            .replace("|  |", "| |")
            .replace("|  |", "| |")
    };
    let mut out = line("key", "default", "unit", "limits", "meaning");
    out += &line("---", "---", "---", "---", "---");
    for row in rows {
        let key = format!("`{}`", row.key);
        out += &line(&key, &row.presence.shown(), row.unit, row.limits, row.meaning);
    }
    out
}

/// The words of a key with the keys that belong to each.
fn variants(head: &str, about: &str, variants: &[Variant]) -> String {
    let mut out = format!("| {head} | keys | {about} |\n| --- | --- | --- |\n");
    for variant in variants {
        let keys: Vec<String> = (variant.keys.iter())
            .map(|(key, limits)| match *limits {
                "" => format!("`{key}`"),
                limits => format!("`{key}` ({limits})"),
            })
            .collect();
        let line = format!("| `{}` | {} | {} |\n", variant.word, keys.join(", "), variant.meaning);
        out += &line.replace("|  |", "| |");
    }
    out
}
