//! Writing `[[note]]` and `[[theory]]` back.

use super::file::{DrawnFile, NoteFile, TheoryFile, ValueFile};
use super::write::{Writer, float, text};

pub(super) fn note(w: &mut Writer, note: &NoteFile) {
    w.item("note");
    w.number("at", note.at);
    w.optional("until", note.until);
    w.key("text", text(&note.text));
    if let Some(mark) = &note.mark {
        let value = format!("{{ center = {}, radius = {} }}", list(&mark.center), one(&mark.radius));
        w.key("mark", value);
    }
}

fn one(value: &ValueFile) -> String {
    match value {
        ValueFile::Number(number) => float(*number),
        ValueFile::Formula(formula) => text(formula),
    }
}

fn list(values: &[ValueFile]) -> String {
    format!("[{}]", values.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub(super) fn theory(w: &mut Writer, theory: &TheoryFile) {
    w.item("theory");
    match &theory.drawn {
        DrawnFile::Detector { detector, value } => {
            w.key("detector", text(detector));
            w.key("value", one(value));
        }
        DrawnFile::Cut { axis, quantity, value } => {
            w.key("cut", text(["x", "y"][*axis]));
            if let Some(quantity) = quantity {
                w.key("quantity", text(quantity.as_str()));
            }
            w.key("value", one(value));
        }
        DrawnFile::Line { from, to } => {
            w.key("from", list(from));
            w.key("to", list(to));
        }
        DrawnFile::Circle { center, radius } => {
            w.key("center", list(center));
            w.key("radius", one(radius));
        }
    }
    w.key_unless(theory.label.is_empty(), "label", text(&theory.label));
    w.optional("at", theory.at);
    w.optional("until", theory.until);
}
