//! Writing `[[note]]` and `[[theory]]` back.

use super::file::{DrawnFile, NoteFile, TheoryFile, ValueFile};
use super::write::{Writer, float, text};

pub(super) fn note(w: &mut Writer, note: &NoteFile) {
    w.item("note");
    w.number("at", note.at);
    w.optional("until", note.until);
    w.key("text", text(&note.text));
}

pub(super) fn theory(w: &mut Writer, theory: &TheoryFile) {
    let one = |value: &ValueFile| match value {
        ValueFile::Number(number) => float(*number),
        ValueFile::Formula(formula) => text(formula),
    };
    let list = |values: &[ValueFile]| format!("[{}]", values.iter().map(one).collect::<Vec<_>>().join(", "));
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
