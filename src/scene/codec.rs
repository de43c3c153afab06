//! Values and sections of a scene: what the declarations of sections require of the types of their keys.

use super::decode::{Decode, Diagnostics, Reason, Section, word};
use super::document::{Node, Value};
use super::file::PatternFile;
use super::look::{Brightness, Flow, Quantity, ViewMode};
use super::scenario::BackendChoice;
use super::schema::{Kind, Row};
use super::write::{Item, Keys, float, path, text};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::mirror::{Drive, MirrorMethod};
use crate::physics::{Exchange, Measure, Mode, Reading, Sets};
use std::path::PathBuf;

/// A type that says what may be written.
pub(super) trait Kinded {
    fn kind() -> Kind;
}

/// A type whose values are read and written.
pub(super) trait Codec: Decode + Kinded {
    fn encode(&self) -> Item;
}

/// Several keys of a section that belong together.
pub(super) trait Fields: Sized {
    fn rows() -> Vec<Row>;
    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self;
    fn write(&self, keys: &mut Keys);
}

/// All keys of a section.
pub(super) trait Table: Fields {
    /// May know why a key does not belong.
    const UNKNOWN: Reason = |_, _| None;

    /// Reads it, and notes unknown keys.
    fn open(mut section: Section<'_>, found: &mut Diagnostics) -> Self {
        let table = Self::read(&mut section, found);
        section.close(found, Self::UNKNOWN);
        table
    }

    fn keys(&self) -> Keys {
        let mut keys = Keys::default();
        self.write(&mut keys);
        keys
    }
}

impl<T: Table> Decode for T {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        Section::open(node, path, found).map(|section| T::open(section, found))
    }
}

impl<T: Table> Kinded for T {
    fn kind() -> Kind {
        Kind::Table(T::rows)
    }
}

impl<T: Table> Codec for T {
    fn encode(&self) -> Item {
        Item::Table(self.keys())
    }
}

/// A list of sections.
pub(super) trait Many {
    fn kind() -> Kind;
}

impl<T: Table> Many for Vec<T> {
    fn kind() -> Kind {
        Kind::Tables(T::rows)
    }
}

impl<T: Kinded> Kinded for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }
}

/// Types whose text is one expression.
macro_rules! values {
    ($($type:ty: $kind:expr, |$value:ident| $text:expr;)*) => { $(
        impl Kinded for $type {
            fn kind() -> Kind {
                $kind
            }
        }
        impl Codec for $type {
            fn encode(&self) -> Item {
                let $value = self;
                Item::Value($text)
            }
        }
    )* };
}
pub(super) use values;

values! {
    f64: Kind::Number, |number| float(*number);
    usize: Kind::Whole, |number| number.to_string();
    bool: Kind::Flag, |flag| flag.to_string();
    String: Kind::Text, |own| text(own);
    PathBuf: Kind::File, |own| path(own);
    [f64; 2]: Kind::Numbers(2), |pair| list(pair);
    [f64; 3]: Kind::Numbers(3), |three| list(three);
}

fn list<T: Codec>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| item.encode().inline()).collect();
    format!("[{}]", items.join(", "))
}

impl<T: Kinded> Kinded for Vec<T> {
    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn encode(&self) -> Item {
        Item::Value(list(self))
    }
}

impl Decode for [f64; 3] {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        let list = Vec::<f64>::decode(node, path, found)?;
        let count = list.len();
        Self::try_from(list).ok().or_else(|| {
            let message = format!("{count} numbers where 3 belong");
            found.value(
                path,
                message,
                "write the lengths along x, y and z, e.g. [1.0, 1.0, 0.5]",
            );
            None
        })
    }
}

/// Enums that are [`worded`](crate::words).
macro_rules! words {
    ($($type:ident),*) => { $(
        impl Decode for $type {
            fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
                word(node, path, found, &Self::ALL)
            }
        }
        impl Kinded for $type {
            fn kind() -> Kind {
                Kind::words(&Self::ALL)
            }
        }
        impl Codec for $type {
            fn encode(&self) -> Item {
                Item::Value(text(self.as_str()))
            }
        }
    )* };
}

words! {
    BackendChoice, Brightness, Drive, Edge, Exchange, Flow, Measure, MirrorMethod, Mode, PatternFile, Precision, Quantity,
    Reading, Sets, ViewMode
}

/// The keys `min` and `max` of a box.
pub(super) mod corners {
    use super::super::schema::Presence;
    use super::{Diagnostics, Item, Keys, Kind, Kinded, Row, Section};

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Option<[Vec<f64>; 2]> {
        section.table(key, found).map(|mut section| {
            let corners = [
                section.need("min", "[0.0, 0.0]", found),
                section.need("max", "[10.0, 10.0]", found),
            ];
            section.close(found, |_, _| None);
            corners
        })
    }

    #[expect(clippy::ref_option, reason = "a declaration hands on a reference to its field")]
    pub fn write(corners: &Option<[Vec<f64>; 2]>) -> Option<Item> {
        let [min, max] = corners.as_ref()?;
        let mut keys = Keys::default();
        keys.push("min", min);
        keys.push("max", max);
        Some(Item::Table(keys))
    }

    pub fn kind() -> Kind {
        Kind::Table(|| {
            [("min", "the lower corner"), ("max", "the upper corner")]
                .map(|(key, meaning)| Row {
                    key,
                    kind: Vec::<f64>::kind(),
                    presence: Presence::Required,
                    limits: "",
                    unit: "",
                    meaning,
                })
                .into()
        })
    }
}

/// The two ends of a line, as keys of its section.
pub(super) mod ends {
    use super::{Diagnostics, Keys, Section};

    pub fn given(section: &Section<'_>) -> bool {
        section.has("from") || section.has("to")
    }

    pub fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> [Vec<f64>; 2] {
        [("from", "[1.0, 1.0]"), ("to", "[1.0, 2.0]")].map(|(key, example)| section.need(key, example, found))
    }

    pub fn write(keys: &mut Keys, [from, to]: [&Vec<f64>; 2]) {
        keys.push("from", from);
        keys.push("to", to);
    }
}

/// A text of several lines.
pub(super) mod long {
    use super::super::write::long_text;
    use super::{Diagnostics, Item, Kind, Section};

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> String {
        section.get(key, found).unwrap_or_default()
    }

    pub fn write(long: &str) -> Option<Item> {
        (!long.is_empty()).then(|| Item::Value(long_text(long)))
    }

    pub fn kind() -> Kind {
        Kind::Text
    }
}

/// A number or the word `auto`, which is `None`.
pub(super) mod number_or_auto {
    use super::{Codec, Decode, Diagnostics, Item, Kind, Section, Value};

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Option<f64> {
        let path = section.name(key);
        let node = section.node(key)?;
        match &node.value {
            Value::String(text) if text == "auto" => None,
            Value::String(_) => {
                let message = format!("{} is neither a number nor \"auto\"", node.value.shown());
                found.value(path, message, "write a number without quotes, or \"auto\"");
                None
            }
            _ => f64::decode(node, &path, found),
        }
    }

    #[expect(clippy::ref_option, reason = "a declaration hands on a reference to its field")]
    pub fn write(number: &Option<f64>) -> Option<Item> {
        number.as_ref().map(Codec::encode)
    }

    pub fn kind() -> Kind {
        Kind::Either(vec![Kind::Number, Kind::Words(vec!["auto"])])
    }
}
