//! From the tree to [`SceneFile`]: types, words and unknown keys. Ranges are checked in [`super::build`].

use super::codec::{Fields, Table};
use super::decode::{Diagnostics, Section};
use super::document::{Document, Value};
use super::file::{FORMAT, SceneFile};

/// Whether a document is a lecture: it has [[scene]], and no grid.
pub(super) fn is_lecture(document: &Document) -> bool {
    let has = |key| document.locate(key, true).1;
    has("scene") && !has("grid")
}

/// Whether a document is a scene: it has a grid, and no [[scene]].
pub(super) fn is_scene(document: &Document) -> bool {
    let has = |key| document.locate(key, true).1;
    has("grid") && !has("scene")
}

/// Reads the whole document; faults are noted, and a placeholder takes the place of a faulty value.
pub(super) fn scene(document: &Document, found: &mut Diagnostics) -> SceneFile {
    let Some(mut root) = Section::open(&document.root, "", found) else {
        return SceneFile::default();
    };
    match root.node("format").map(|node| &node.value) {
        Some(Value::Integer(number)) if *number == i128::from(FORMAT) => {}
        Some(other) => found.value(
            "format",
            format!("{} is not a format that this version reads", other.shown()),
            format!("write `format = {FORMAT}`, or use a newer version of the program"),
        ),
        None => found.key(
            "format",
            "is missing",
            format!("begin the file with `format = {FORMAT}`"),
        ),
    }
    let scene = SceneFile::read(&mut root, found);
    root.close(found, SceneFile::UNKNOWN);
    scene
}
