//! `[[note]]` and `[[theory]]` as they are written.

use super::codec::{Codec, Fields, Kinded, values};
use super::declare::section;
use super::decode::{Decode, Diagnostics, Section};
use super::document::{Node, Value};
use super::look::Quantity;
use super::schema::{Kind, Presence, Row};
use super::write::{Item, Keys, float, text};

/// A value that may be a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueFile {
    /// A number.
    Number(f64),
    /// A formula; its variables depend on the key.
    Formula(String),
}

impl Default for ValueFile {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl Decode for ValueFile {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        match &node.value {
            Value::String(text) => Some(Self::Formula(text.clone())),
            Value::Integer(_) | Value::Float(_) => f64::decode(node, path, found).map(Self::Number),
            other => {
                let message = format!("{} is {}, not a number or a formula", other.shown(), other.kind());
                found.value(path, message, "write e.g. 0.35 or \"0.5*(x-10)^2\"");
                None
            }
        }
    }
}

values! {
    ValueFile: Kind::Either(vec![Kind::Number, Kind::Text]), |value| match value {
        Self::Number(number) => float(*number),
        Self::Formula(formula) => text(formula),
    };
}

section! {
    /// One `[[note]]`, as written.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct NoteFile {
        /// when it appears, in units of `time.end`
        at: f64 = required "12.0", "≥ 0";
        /// when it goes
        until: Option<f64> = maybe "the next note";
        /// what it says
        text: String = required "\"The wave reaches the wall.\"";
        /// what it points at: `{ center = [x, y], radius = r }` is a ring in a plane, `{ center = [x], radius = r
        /// }` a band of a graph; lengths may be [formulas](#formulas) of `t` in quotes
        mark: Option<MarkFile> = maybe "none";
    }
}

section! {
    /// `mark` of a `[[note]]`: a circle in a plane, an interval of a line.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct MarkFile {
        /// its middle, lengths or formulas of t
        center: Vec<ValueFile> = required "[4.0, \"343*t\"]";
        /// its radius, likewise
        radius: ValueFile = required "1.0";
    }
}

/// What a `[[theory]]` draws, as written; lengths and values are numbers or formulas of t.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawnFile {
    /// Over the plot of a detector.
    Detector {
        /// Its name.
        detector: String,
        /// A formula of t.
        value: ValueFile,
    },
    /// Over the line cut, or the graph of a scene on a line.
    Cut {
        /// Along x (0) or y (1).
        axis: usize,
        /// The predicted quantity; `None` = density, or pressure of sound.
        quantity: Option<Quantity>,
        /// A formula of x, y and t.
        value: ValueFile,
    },
    /// A straight line in the picture.
    Line {
        /// One end.
        from: Vec<ValueFile>,
        /// The other.
        to: Vec<ValueFile>,
    },
    /// A circle in the picture.
    Circle {
        /// Its middle.
        center: Vec<ValueFile>,
        /// Its radius.
        radius: ValueFile,
    },
}

/// The axes along which a cut goes.
const CUTS: [(&str, usize); 2] = [("x", 0), ("y", 1)];

impl Fields for DrawnFile {
    fn rows() -> Vec<Row> {
        let none = || Presence::Optional("");
        let quantity = Presence::Optional("`density`, or `pressure` for sound");
        let over_cut = "over the line cut along this axis, and over the graph of a scene on a line; or";
        let of_cut =
            "of a cut: for pictures of this quantity (see [`[view]`](#view)); the graph of phases shows `density`";
        let mut rows = vec![
            Row::of::<String>(
                "detector",
                none(),
                "with `value`",
                "",
                "over the plot of this detector; or",
            ),
            Row::of::<String>("cut", none(), "with `value`", "", over_cut),
            Row::of::<Quantity>("quantity", quantity, "with `cut`", "", of_cut),
            Row::of::<ValueFile>(
                "value",
                none(),
                "",
                "",
                "of a detector a formula of `t`, of a cut of `x`, `y` and `t`",
            ),
            Row::of::<Vec<ValueFile>>(
                "from",
                none(),
                "with `to`",
                "",
                "one end of a straight line in a plane,",
            ),
            Row::of::<Vec<ValueFile>>(
                "to",
                none(),
                "with `from`",
                "",
                "and its other end; each length may be a formula of `t`; or",
            ),
            Row::of::<Vec<ValueFile>>(
                "center",
                none(),
                "with `radius`",
                "",
                "centre of a circle in a plane, likewise",
            ),
            Row::of::<ValueFile>(
                "radius",
                none(),
                "with `center`",
                "",
                "its radius; where it is not positive the circle is not drawn",
            ),
        ];
        rows[1].kind = Kind::words(&CUTS);
        rows
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        const ONE: &str = "\"0.5*t\"";
        const TWO: &str = "[4.0, \"343*t\"]";
        let ways = ["detector", "cut", "from", "center"].map(|key| section.has(key));
        match ways {
            [true, false, false, false] => Self::Detector {
                detector: section.need("detector", "\"gate\"", found),
                value: section.need("value", ONE, found),
            },
            [false, false, true, false] => Self::Line {
                from: section.need("from", TWO, found),
                to: section.need("to", TWO, found),
            },
            [false, false, false, true] => Self::Circle {
                center: section.need("center", TWO, found),
                radius: section.need("radius", ONE, found),
            },
            _ => {
                if !ways[1] || ways != [false, true, false, false] {
                    let message = "it must draw exactly one thing";
                    let remedy = "write one of `detector` and `value`, `cut` and `value`, `from` and `to`, `center` and `radius`";
                    found.key(section.path.clone(), message, remedy);
                    // One fault is enough: no key of it is unknown.
                    for row in Self::rows() {
                        section.node(row.key);
                    }
                }
                Self::Cut {
                    axis: section.word("cut", &CUTS, found).unwrap_or_default(),
                    quantity: section.get("quantity", found),
                    value: if ways[1] {
                        section.need("value", "\"exp(-(x - 40)^2)\"", found)
                    } else {
                        ValueFile::default()
                    },
                }
            }
        }
    }

    fn write(&self, keys: &mut Keys) {
        match self {
            Self::Detector { detector, value } => {
                keys.push("detector", detector);
                keys.push("value", value);
            }
            Self::Cut { axis, quantity, value } => {
                keys.optional_item("cut", Some(Item::Value(text(CUTS[*axis].0))));
                keys.optional("quantity", quantity.as_ref());
                keys.push("value", value);
            }
            Self::Line { from, to } => {
                keys.push("from", from);
                keys.push("to", to);
            }
            Self::Circle { center, radius } => {
                keys.push("center", center);
                keys.push("radius", radius);
            }
        }
    }
}

section! {
    /// One `[[theory]]`, as written.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TheoryFile {
        /// What is drawn.
        drawn: DrawnFile = flat [];
        /// a word beside it
        label: String = empty "none";
        /// when it appears
        at: Option<f64> = maybe "the start";
        /// when it goes
        until: Option<f64> = maybe "never";
    }
}
