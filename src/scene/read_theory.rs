//! `[[note]]` and `[[theory]]`, from the tree.

use super::decode::{Decode, Diagnostics, Section};
use super::document::{Node, Value};
use super::file::{DrawnFile, MarkFile, NoteFile, TheoryFile, ValueFile};
use super::look::Quantity;

pub(super) fn note(mut section: Section<'_>, found: &mut Diagnostics) -> NoteFile {
    let note = NoteFile {
        at: section.need("at", "12.0", found),
        until: section.get("until", found),
        text: section.need("text", "\"The wave reaches the wall.\"", found),
        mark: section.table("mark", found).map(|mut section| {
            let mark = MarkFile {
                center: section.need("center", "[4.0, \"343*t\"]", found),
                radius: section.need("radius", "1.0", found),
            };
            section.close(found, |_| None);
            mark
        }),
    };
    section.close(found, |_| None);
    note
}

pub(super) fn theory(mut section: Section<'_>, found: &mut Diagnostics) -> TheoryFile {
    const ONE: &str = "\"0.5*t\"";
    const TWO: &str = "[4.0, \"343*t\"]";
    let ways = ["detector", "cut", "from", "center"].map(|key| section.has(key));
    let drawn = match ways {
        [true, false, false, false] => DrawnFile::Detector {
            detector: section.need("detector", "\"gate\"", found),
            value: section.need("value", ONE, found),
        },
        [false, false, true, false] => DrawnFile::Line {
            from: section.need("from", TWO, found),
            to: section.need("to", TWO, found),
        },
        [false, false, false, true] => DrawnFile::Circle {
            center: section.need("center", TWO, found),
            radius: section.need("radius", ONE, found),
        },
        _ => {
            if !ways[1] || ways != [false, true, false, false] {
                let message = "it does not say what one thing it draws";
                let remedy =
                    "write one of `detector` and `value`, `cut` and `value`, `from` and `to`, `center` and `radius`";
                found.key(section.path.clone(), message, remedy);
                // One fault is enough: no key of it is unknown.
                for key in ["detector", "cut", "quantity", "value", "from", "to", "center", "radius"] {
                    section.node(key);
                }
            }
            DrawnFile::Cut {
                axis: section.word("cut", &[("x", 0), ("y", 1)], found).unwrap_or_default(),
                quantity: section.word("quantity", &Quantity::ALL, found),
                value: if ways[1] {
                    section.need("value", "\"exp(-(x - 40)^2)\"", found)
                } else {
                    ValueFile::default()
                },
            }
        }
    };
    let theory = TheoryFile {
        drawn,
        label: section.get("label", found).unwrap_or_default(),
        at: section.get("at", found),
        until: section.get("until", found),
    };
    section.close(found, |_| None);
    theory
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
