//! Layers as they are written.

use crate::physics::{Mode, Sets, WallPole};
use crate::scene::codec::Fields;
use crate::scene::declare::{section, variants};
use crate::scene::decode::{Diagnostics, Section};
use crate::scene::schema::{Presence, Row};
use crate::scene::theory_file::ValueFile;
use crate::scene::write::Keys;
use std::path::PathBuf;

variants! {
    /// A layer's shape with its keys.
    #[derive(Clone, Debug, PartialEq)]
    pub enum ShapeFile, "shape" = or "everywhere", else everywhere, "which sites, see below" {
        /// all
        "everywhere" Everywhere
        /// min ≤ r ≤ max on every axis
        "box" Box {
            /// lower corner of a box
            min: Vec<f64> = required "[0.0, 0.0]";
            /// upper corner of a box
            max: Vec<f64> = required "[10.0, 10.0]";
        }
        /// distance ≤ radius (a ball in 3D, an interval in 1D)
        "disk" Disk {
            /// centre of a disk or ring
            center: Vec<f64> = required "[64.0, 64.0]";
            /// radius of a disk, half the width of a stroke
            radius: f64 = required "10.0";
        }
        /// inner ≤ distance ≤ outer
        "ring" Ring {
            /// centre
            center: Vec<f64> = required "[64.0, 64.0]";
            /// inner radius of a ring
            inner: f64 = required "20.0";
            /// outer radius of a ring
            outer: f64 = required "24.0";
        }
        /// inside, by the even–odd rule, or on an edge; along all z
        "polygon" Polygon {
            /// corners of a polygon in order, or the points of a stroke
            points: Vec<[f64; 2]> = required "[[0.0, 0.0], [8.0, 0.0], [4.0, 6.0]]", "at least 3 pairs";
        }
        /// within `radius` of the line through the points, as drawn by the brush; along all z
        "stroke" Stroke {
            /// points of the line
            points: Vec<[f64; 2]> = required "[[0.0, 0.0], [8.0, 0.0]]", "at least 1 pair";
            /// half its width
            radius: f64 = required "2.0";
        }
        /// a screen across x, of thickness `thickness` about `x`, except for openings of width `opening` about each y of `centers`
        "slits" Slits {
            /// middle of the screen of slits along x
            x: f64 = required "100.0";
            /// thickness of the screen
            thickness: f64 = required "2.0";
            /// centres of its openings along y
            centers: Vec<f64> = required "[40.0, 60.0]";
            /// width of an opening
            opening: f64 = required "4.0";
        }
        /// where the picture is not black; the grey level (0 to 1, times the opacity) multiplies the value. The picture is
        /// stretched over the grid, its top row at the largest y; each site takes the pixel at its middle
        "image" Image {
            /// a PNG (`image`) or NPY file (`array`), relative to the scene file
            file: PathBuf = required "\"map.png\"", "PNG";
        }
        /// all; the array, of the grid's shape, multiplies the value
        "array" Array {
            /// an NPY file, relative to the scene file
            file: PathBuf = required "\"potential.npy\"", "NPY: float32, float64, uint8, bool";
        }
    }
}

/// Where the word is none, which is reported: keys that belong to a shape are not looked at.
fn everywhere(_: &mut Section<'_>, _: &mut Diagnostics) -> ShapeFile {
    ShapeFile::Everywhere
}

section! {
    /// One `[[layer]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LayerFile, unknown = stray {
        /// `potential` (U), `hopping`, `flux`, `interaction` (quantum), `speed`, `density`, `impedance`,
        /// `attenuation` (acoustic), `wall`, `absorption` (both)
        sets: Sets = required ("\"potential\"", Sets::Potential);
        /// for `hopping`: the axis whose bonds it sets
        axis: Option<usize> = with (axis, "all");
        /// The shape with its keys.
        shape: ShapeFile = flat [];
        /// a number, or a formula of x, y, z and r
        value: Option<ValueFile> = maybe "required, but 1 for walls, pictures and arrays";
        /// `set` replaces the value of earlier layers, `add` adds to it
        mode: Mode = or [Mode::Set];
        /// a formula of t by which the value is multiplied; potentials only
        drive: Option<String> = maybe "none";
        /// `high` and `corner` of an impedance.
        pole: Option<WallPole> = flat [];
    }
}

impl LayerFile {
    /// Axes with their words.
    pub const AXES: [(&'static str, usize); 3] = [("x", 0), ("y", 1), ("z", 2)];

    /// A layer that sets a value and is not driven.
    #[must_use]
    pub fn new(sets: Sets, shape: ShapeFile, value: Option<ValueFile>) -> Self {
        Self {
            sets,
            axis: None,
            shape,
            value,
            mode: Mode::Set,
            drive: None,
            pole: None,
        }
    }
}

/// A word for an axis.
pub(in crate::scene) mod axis {
    use super::LayerFile;
    use crate::scene::decode::{Diagnostics, Section};
    use crate::scene::schema::Kind;
    use crate::scene::write::{Item, text};

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Option<usize> {
        section.word(key, &LayerFile::AXES, found)
    }

    #[expect(clippy::ref_option, reason = "a declaration hands on a reference to its field")]
    pub fn write(axis: &Option<usize>) -> Option<Item> {
        axis.map(|axis| Item::Value(text(LayerFile::AXES[axis.min(2)].0)))
    }

    pub fn kind() -> Kind {
        Kind::words(&LayerFile::AXES)
    }
}

impl Fields for Option<WallPole> {
    fn rows() -> Vec<Row> {
        let none = || Presence::Optional("none");
        vec![
            Row::of::<f64>(
                "high",
                none(),
                "with `corner`",
                "",
                "for `impedance`: ξ far above the corner",
            ),
            Row::of::<f64>(
                "corner",
                none(),
                "with `high`",
                "Hz",
                "for `impedance`: the frequency at which it changes from `value` to `high`",
            ),
        ]
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        // One of the two needs the other, but where neither belongs that alone is said.
        let mut unsaid = Diagnostics::default();
        let belongs = section.written("sets") == Some(Sets::Impedance.as_str());
        let missing = if belongs { found } else { &mut unsaid };
        (section.has("high") || section.has("corner")).then(|| WallPole {
            high: section.need("high", "1.0", missing),
            corner: section.need("corner", "1000.0", missing),
        })
    }

    fn write(&self, keys: &mut Keys) {
        if let Some(pole) = self {
            keys.push("high", &pole.high);
            keys.push("corner", &pole.corner);
        }
    }
}

/// A key of another shape.
fn stray(section: &Section<'_>, key: &str) -> Option<(String, String)> {
    let shapes = ShapeFile::variants();
    let owners: Vec<&str> = shapes
        .iter()
        .filter(|shape| shape.has(key))
        .map(|shape| shape.word)
        .collect();
    let owner = owners.first()?;
    let list = owners.join("\" or \"");
    if !section.has("shape") {
        return Some((
            format!("it belongs to shape \"{list}\", and no shape is given"),
            format!("add `shape = \"{owner}\"`"),
        ));
    }
    // What belongs to a shape that is not known, nobody knows.
    let word = section.written("shape")?;
    shapes.iter().any(|shape| shape.word == word).then(|| {
        (
            format!("shape \"{word}\" has no such key"),
            format!("it belongs to shape \"{list}\"; remove it"),
        )
    })
}
