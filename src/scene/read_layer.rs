//! `[[layer]]` from the tree.

use super::decode::{Diagnostics, Section};
use super::file::{LayerFile, ShapeFile};
use crate::physics::{Mode, Sets, WallPole};

/// Every shape's word with its keys.
const SHAPES: [(&str, &[&str]); 9] = [
    ("everywhere", &[]),
    ("box", &["min", "max"]),
    ("disk", &["center", "radius"]),
    ("ring", &["center", "inner", "outer"]),
    ("polygon", &["points"]),
    ("stroke", &["points", "radius"]),
    ("slits", &["x", "thickness", "centers", "opening"]),
    ("image", &["file"]),
    ("array", &["file"]),
];

pub(super) fn layer(mut section: Section<'_>, found: &mut Diagnostics) -> LayerFile {
    let sets = if section.has("sets") {
        section.word("sets", &Sets::ALL, found).unwrap_or(Sets::Potential)
    } else {
        section.need::<String>("sets", "\"potential\"", found);
        Sets::Potential
    };
    let axis = section.word("axis", &LayerFile::AXES, found);
    let words = SHAPES.map(|(word, _)| (word, word));
    // Without a shape, keys that belong to one are reported with it below.
    let word = section.word("shape", &words, found).unwrap_or("everywhere");
    let known_shape = !section.has("shape")
        || word != "everywhere"
        || section.get::<String>("shape", &mut Diagnostics::default()).as_deref() == Some("everywhere");
    let shape = shape(word, &mut section, found);
    let value = section.get("value", found);
    let mode = section.word("mode", &Mode::ALL, found).unwrap_or(Mode::Set);
    let drive = section.get("drive", found);
    // One of the two needs the other, but where neither belongs that alone is said.
    let mut unsaid = Diagnostics::default();
    let missing = if sets == Sets::Impedance {
        &mut *found
    } else {
        &mut unsaid
    };
    let pole = (section.has("high") || section.has("corner")).then(|| WallPole {
        high: section.need("high", "1.0", missing),
        corner: section.need("corner", "1000.0", missing),
    });
    let given = section.has("shape");
    section.close(found, |key| {
        let owners: Vec<&str> = SHAPES
            .iter()
            .filter(|(_, keys)| keys.contains(&key))
            .map(|(owner, _)| *owner)
            .collect();
        let owner = owners.first()?;
        let list = owners.join("\" or \"");
        if given {
            known_shape.then(|| {
                (
                    format!("shape \"{word}\" has no such key"),
                    format!("it belongs to shape \"{list}\"; remove it"),
                )
            })
        } else {
            Some((
                format!("it belongs to shape \"{list}\", and no shape is given"),
                format!("add `shape = \"{owner}\"`"),
            ))
        }
    });
    LayerFile {
        sets,
        axis,
        shape,
        value,
        mode,
        drive,
        pole,
    }
}

fn shape(word: &str, section: &mut Section<'_>, found: &mut Diagnostics) -> ShapeFile {
    match word {
        "box" => ShapeFile::Box {
            min: section.need("min", "[0.0, 0.0]", found),
            max: section.need("max", "[10.0, 10.0]", found),
        },
        "disk" => ShapeFile::Disk {
            center: section.need("center", "[64.0, 64.0]", found),
            radius: section.need("radius", "10.0", found),
        },
        "ring" => ShapeFile::Ring {
            center: section.need("center", "[64.0, 64.0]", found),
            inner: section.need("inner", "20.0", found),
            outer: section.need("outer", "24.0", found),
        },
        "polygon" => ShapeFile::Polygon {
            points: section.need("points", "[[0.0, 0.0], [8.0, 0.0], [4.0, 6.0]]", found),
        },
        "stroke" => ShapeFile::Stroke {
            points: section.need("points", "[[0.0, 0.0], [8.0, 0.0]]", found),
            radius: section.need("radius", "2.0", found),
        },
        "slits" => ShapeFile::Slits {
            x: section.need("x", "100.0", found),
            thickness: section.need("thickness", "2.0", found),
            centers: section.need("centers", "[40.0, 60.0]", found),
            opening: section.need("opening", "4.0", found),
        },
        "image" => ShapeFile::Image {
            file: section.need("file", "\"map.png\"", found),
        },
        "array" => ShapeFile::Array {
            file: section.need("file", "\"potential.npy\"", found),
        },
        _ => ShapeFile::Everywhere,
    }
}
