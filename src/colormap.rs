//! Colour maps: from a value to an sRGB colour, the same in the window and in every exported picture.
//!
//! A map is a table of 256 sRGB entries. A [`Mapping`] turns a value into an entry: `floor(offset + scale·value + 1/2)`,
//! clamped to the table. The window's shader gets the two numbers and the table and does the same, so that window and export
//! agree. Sequential maps spend all entries on low…high. Diverging maps use entries 1…255, symmetric about entry 128, which is
//! neutral: a value of exactly zero has exactly the neutral colour.
//!
//! Phase pictures take the hue from a cyclic map and multiply its linear light by b³, where b in 0…1 is the
//! brightness. Oklab (B. Ottosson, 2020, <https://bottosson.github.io/posts/oklab/>) takes cube roots of linear light, so this
//! scales lightness and chroma by b and leaves the hue alone.

use colorgrad::Gradient;
use std::f64::consts::TAU;
use std::sync::OnceLock;

/// Entries of a map.
pub const ENTRIES: usize = 256;

/// An sRGB table, 8 bits a channel.
pub type Table = [[u8; 3]; ENTRIES];

/// What a map is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// From little to much.
    Sequential,
    /// Two sides of a neutral zero.
    Diverging,
    /// The end is the start again.
    Cyclic,
}

impl Kind {
    /// The word in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Diverging => "diverging",
            Self::Cyclic => "cyclic",
        }
    }
}

/// One colour map.
#[derive(Debug)]
pub struct Colormap {
    /// The name in scene files.
    pub id: &'static str,
    /// What it is good for.
    pub kind: Kind,
    /// One line for people.
    pub about: &'static str,
    make: fn() -> Table,
    table: OnceLock<Table>,
}

impl Colormap {
    const fn new(id: &'static str, kind: Kind, about: &'static str, make: fn() -> Table) -> Self {
        Self {
            id,
            kind,
            about,
            make,
            table: OnceLock::new(),
        }
    }

    /// The entries. Diverging: 1 is the most negative, 128 zero, 255 the most positive. Cyclic: entry n stands for the phase
    /// 2πn/256.
    #[must_use]
    pub fn table(&self) -> &Table {
        self.table.get_or_init(self.make)
    }

    /// Whether "nothing" is light in it, as white paper is: it is made for light pages.
    #[must_use]
    pub fn is_light(&self) -> bool {
        let nothing = match self.kind {
            Kind::Sequential => self.table()[0],
            Kind::Diverging => self.table()[128],
            Kind::Cyclic => [0; 3],
        };
        oklab(nothing)[0] > 0.7
    }

    /// The entries with an opaque alpha, as a texture wants them.
    #[must_use]
    pub fn rgba(&self) -> Vec<[u8; 4]> {
        self.table().iter().map(|&[r, g, b]| [r, g, b, 255]).collect()
    }
}

/// Every map, in the order that lists show them; the first of each kind is what `auto` takes.
pub static COLORMAPS: [Colormap; 20] = {
    use Kind::{Cyclic, Diverging, Sequential};
    use colorgrad::preset as p;
    [
        Colormap::new(
            "dawn",
            Sequential,
            "perceptually even, the window's black to blue to pale yellow; for dark views, colour-blind safe",
            || even(&DAWN),
        ),
        Colormap::new(
            "dusk",
            Sequential,
            "perceptually even, white to yellow to dark blue; for pages without a dark ground, colour-blind safe",
            || even(&DUSK),
        ),
        Colormap::new(
            "viridis",
            Sequential,
            "perceptually even, blue to green to yellow; colour-blind safe",
            || sequential(&p::viridis()),
        ),
        Colormap::new(
            "inferno",
            Sequential,
            "perceptually even, black to red to pale yellow",
            || sequential(&p::inferno()),
        ),
        Colormap::new(
            "magma",
            Sequential,
            "perceptually even, black to purple to pale pink",
            || sequential(&p::magma()),
        ),
        Colormap::new(
            "plasma",
            Sequential,
            "perceptually even, blue to pink to yellow",
            || sequential(&p::plasma()),
        ),
        Colormap::new(
            "cividis",
            Sequential,
            "blue to yellow, made to look alike to colour-blind and other eyes",
            || sequential(&p::cividis()),
        ),
        Colormap::new("greys", Sequential, "black to white", || {
            std::array::from_fn(|n| [u8::try_from(n).unwrap_or(255); 3])
        }),
        Colormap::new(
            "ink",
            Sequential,
            "white to black; for pages without a dark ground",
            || std::array::from_fn(|n| [255 - u8::try_from(n).unwrap_or(255); 3]),
        ),
        Colormap::new(
            "blues",
            Sequential,
            "white to dark blue; for pages without a dark ground",
            || sequential(&p::blues()),
        ),
        Colormap::new(
            "cubehelix",
            Sequential,
            "black to white through all hues (Green 2011)",
            || sequential(&p::cubehelix_default()),
        ),
        Colormap::new(
            "turbo",
            Sequential,
            "rainbow with much detail; not even, not colour-blind safe",
            || sequential(&p::turbo()),
        ),
        Colormap::new("rdbu", Diverging, "blue below, white at zero, red above", || {
            diverging(|s| gradient_color(&p::rd_bu(), 0.5 - 0.5 * s))
        }),
        Colormap::new(
            "tide",
            Diverging,
            "blue below, near black at zero, amber above; for dark views, colour-blind safe",
            || diverging(|s| encode(linear_from_oklab(tide(s)))),
        ),
        Colormap::new("puor", Diverging, "purple below, white at zero, orange above", || {
            diverging(|s| gradient_color(&p::pu_or(), 0.5 + 0.5 * s))
        }),
        Colormap::new(
            "brbg",
            Diverging,
            "brown below, white at zero, blue-green above; colour-blind safe",
            || diverging(|s| gradient_color(&p::br_bg(), 0.5 + 0.5 * s)),
        ),
        Colormap::new("prgn", Diverging, "purple below, white at zero, green above", || {
            diverging(|s| gradient_color(&p::pr_gn(), 0.5 + 0.5 * s))
        }),
        Colormap::new(
            "hue",
            Cyclic,
            "even circle of hues, all equally light: red is real positive, cyan real negative",
            || cyclic(hue),
        ),
        Colormap::new(
            "daynight",
            Cyclic,
            "yellow, white, blue, black: a circle that colour-blind eyes can read too",
            || cyclic(daynight),
        ),
        Colormap::new(
            "fourfold",
            Cyclic,
            "the circle of hues run through twice: equal colours for ψ and −ψ",
            || cyclic(|turn| hue(2.0 * turn)),
        ),
    ]
};

/// A colour map's name that does not exist, or does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColormapError {
    /// No such name.
    #[error("there is no colour map \"{name}\"; there are auto, {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A cyclic map for something that is not a phase, or the other way round.
    #[error("the colour map \"{name}\" is {kind}, and this picture needs one of {fitting}")]
    Unfitting {
        /// The name asked for.
        name: String,
        /// Its kind.
        kind: &'static str,
        /// Names that would do.
        fitting: String,
    },
}

/// The map with this name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Colormap> {
    COLORMAPS.iter().find(|map| map.id == id)
}

/// What `auto` means on a dark ground (the window's default, and all films): black at zero for what is never negative, near black
/// for what has a sign, the circle of hues for phases.
#[must_use]
pub fn auto(kind: Kind) -> &'static Colormap {
    let id = match kind {
        Kind::Sequential => "dawn",
        Kind::Diverging => "tide",
        Kind::Cyclic => "hue",
    };
    // The table holds all three; a test sees to it.
    find(id).unwrap_or(&COLORMAPS[0])
}

/// What `auto` means on a white ground: white at zero; hues of phases need a dark one.
#[must_use]
pub fn auto_on_paper(kind: Kind) -> &'static Colormap {
    let id = match kind {
        Kind::Sequential => "dusk",
        Kind::Diverging => "rdbu",
        Kind::Cyclic => "hue",
    };
    find(id).unwrap_or(&COLORMAPS[0])
}

/// The map that a scene's name stands for where a quantity wants `kind`: `auto`, or one that suits it. Sequential and
/// diverging maps may stand in for each other.
///
/// # Errors
/// If there is no such map, or it is cyclic and the quantity is not, or the other way round.
pub fn resolve(name: &str, kind: Kind) -> Result<&'static Colormap, ColormapError> {
    if name == "auto" {
        return Ok(auto(kind));
    }
    let names = |fits: &dyn Fn(&Colormap) -> bool| {
        let all: Vec<&str> = COLORMAPS.iter().filter(|map| fits(map)).map(|map| map.id).collect();
        all.join(", ")
    };
    let map = find(name).ok_or_else(|| ColormapError::Unknown {
        name: name.to_owned(),
        known: names(&|_| true),
    })?;
    let wants_cycle = kind == Kind::Cyclic;
    if (map.kind == Kind::Cyclic) == wants_cycle {
        return Ok(map);
    }
    Err(ColormapError::Unfitting {
        name: name.to_owned(),
        kind: map.kind.as_str(),
        fitting: names(&|map| (map.kind == Kind::Cyclic) == wants_cycle),
    })
}

/// The values at the two ends of a map.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Levels {
    /// At the lower end.
    pub low: f32,
    /// At the upper end.
    pub high: f32,
}

/// From a value to an entry: `floor(offset + scale·value + 1/2)`, clamped to 0…255.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping {
    /// Entry of the value 0.
    pub offset: f32,
    /// Entries per unit of the value.
    pub scale: f32,
}

impl Levels {
    /// The mapping of these levels to a map of this kind. Equal levels (an empty field) map everything to the lower end, or to
    /// the middle of a diverging map.
    #[must_use]
    pub fn mapping(self, kind: Kind) -> Mapping {
        let (first, entries) = match kind {
            Kind::Sequential | Kind::Cyclic => (0.0, 255.0),
            Kind::Diverging => (1.0, 254.0),
        };
        let span = self.high - self.low;
        if span <= 0.0 || !span.is_finite() {
            let offset = if kind == Kind::Diverging { 128.0 } else { 0.0 };
            return Mapping { offset, scale: 0.0 };
        }
        let scale = entries / span;
        Mapping {
            offset: first - scale * self.low,
            scale,
        }
    }

    /// Brightness 0…1 of a phase picture's |ψ|.
    #[must_use]
    pub fn brightness(self, value: f32) -> f32 {
        let span = self.high - self.low;
        if span > 0.0 {
            ((value - self.low) / span).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

impl Mapping {
    /// The entry of a value; 0 for NaN.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the table"
    )]
    pub fn entry(self, value: f32) -> usize {
        (self.offset + self.scale * value + 0.5).floor().clamp(0.0, 255.0) as usize
    }
}

/// The entry of a cyclic map for a phase in radians (any multiple of 2π away as well).
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a turn times 256, wrapped"
)]
pub fn phase_entry(phase: f32) -> usize {
    let turn = phase / std::f32::consts::TAU;
    ((turn - turn.floor()) * 256.0 + 0.5).floor() as usize % ENTRIES
}

/// The colour of a cyclic map for a phase in radians at a brightness of 0…1.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0…255 after clamping"
)]
pub fn phase_color(map: &Colormap, phase: f32, brightness: f32) -> [u8; 3] {
    let step = (brightness.clamp(0.0, 1.0) * 255.0 + 0.5).floor() as usize;
    dimmed(map.table()[phase_entry(phase)], step)
}

/// A colour at brightness `step`/255: its linear light times (step/255)³.
#[must_use]
pub fn dimmed(color: [u8; 3], step: usize) -> [u8; 3] {
    #[expect(clippy::cast_precision_loss, reason = "0…255")]
    let light = (step as f64 / 255.0).powi(3);
    encode(color.map(|channel| light * srgb_decode(f64::from(channel) / 255.0)))
}

/// sRGB value 0…1 to linear light (IEC 61966-2-1).
#[must_use]
pub fn srgb_decode(value: f64) -> f64 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// Linear light to sRGB value 0…1 (IEC 61966-2-1).
#[must_use]
pub fn srgb_encode(light: f64) -> f64 {
    if light <= 0.0031308 {
        light * 12.92
    } else {
        1.055 * light.powf(1.0 / 2.4) - 0.055
    }
}

/// Oklab (L, a, b) of an sRGB colour.
#[must_use]
pub fn oklab(color: [u8; 3]) -> [f64; 3] {
    let [r, g, b] = color.map(|channel| srgb_decode(f64::from(channel) / 255.0));
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

/// Linear sRGB light of an Oklab colour; outside 0…1 where sRGB has no such colour.
fn linear_from_oklab([lightness, a, b]: [f64; 3]) -> [f64; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0…255 after clamping"
)]
fn encode(light: [f64; 3]) -> [u8; 3] {
    light.map(|value| (srgb_encode(value.clamp(0.0, 1.0)) * 255.0).round() as u8)
}

/// Lightness and chroma of the circle of hues. At L = 0.75 sRGB holds every hue up to C = 0.1275, more than at any other lightness.
const HUE_LIGHTNESS: f64 = 0.75;
const HUE_CHROMA: f64 = 0.127;
/// Oklab hue of sRGB red, so that phase 0 (real, positive) is red; cyan is then opposite.
const HUE_OF_RED: f64 = 29.23 / 360.0 * TAU;

fn hue(turn: f64) -> [f64; 3] {
    let angle = HUE_OF_RED + TAU * turn;
    [HUE_LIGHTNESS, HUE_CHROMA * angle.cos(), HUE_CHROMA * angle.sin()]
}

/// An ellipse in the plane of lightness and blue–yellow, the two that colour-blind eyes keep, at even steps of length.
fn daynight(turn: f64) -> [f64; 3] {
    const YELLOW: f64 = 0.105;
    const LIGHT: f64 = 0.27;
    // The quarter arc from yellow to light as a table of lengths; the other quarters mirror it.
    const STEPS: u32 = 4096;
    let turn = turn - turn.floor();
    let quarter = (turn * 4.0).floor();
    let within = turn * 4.0 - quarter;
    let backwards = quarter.rem_euclid(2.0) > 0.5;
    let fraction = if backwards { 1.0 - within } else { within };
    let point = |n: u32| {
        let angle = f64::from(n) / f64::from(STEPS) * TAU / 4.0;
        (YELLOW * angle.cos(), LIGHT * angle.sin())
    };
    let length = |n: u32| {
        let ((b0, l0), (b1, l1)) = (point(n), point(n + 1));
        (b1 - b0).hypot(l1 - l0)
    };
    let target = fraction * (0..STEPS).map(length).sum::<f64>();
    let mut walked = 0.0;
    let mut n = 0;
    while n < STEPS && walked + length(n) / 2.0 < target {
        walked += length(n);
        n += 1;
    }
    let (b, l) = point(n);
    let b = if (1.0..3.0).contains(&quarter) { -b } else { b };
    let l = if quarter >= 2.0 { -l } else { l };
    [0.60 + l, 0.0, b]
}

/// From blue (−1) through near black (0) to amber (+1), with equal lightness on both sides.
fn tide(s: f64) -> [f64; 3] {
    let size = s.abs();
    let lightness = 0.16 + 0.68 * size;
    // Chroma rises fast, so that the sign shows at small values, and stays inside sRGB at both ends.
    let chroma = 0.125 * (1.0 - (1.0 - size).powi(2)) * (1.0 - 0.25 * size * size);
    let angle = if s < 0.0 { 240.0 } else { 65.0_f64 }.to_radians();
    [lightness, chroma * angle.cos(), chroma * angle.sin()]
}

/// Oklab points that `dawn` passes: from the ground of dark views, #08090a, through blue and rose to pale yellow. Lightness rises all the way
/// and the hues that colour-blind eyes keep, blue and yellow, stand at its two sides.
const DAWN: [[f64; 3]; 6] = [
    [0.1390, -0.0012, -0.0027],
    [0.31, 0.005, -0.105],
    [0.47, 0.055, -0.115],
    [0.64, 0.085, -0.005],
    [0.82, 0.045, 0.095],
    [0.97, -0.015, 0.075],
];

/// The same for white pages: from white through yellow and rose to dark blue.
const DUSK: [[f64; 3]; 6] = [
    [1.0, 0.0, 0.0],
    [0.92, 0.0, 0.075],
    [0.78, 0.06, 0.085],
    [0.62, 0.085, 0.0],
    [0.45, 0.045, -0.105],
    [0.27, 0.0, -0.095],
];

/// A smooth curve through points of Oklab (Catmull–Rom), walked at even steps of its length, so that equal steps of the value look equally far
/// apart.
#[expect(clippy::cast_precision_loss, reason = "a few thousand pieces")]
fn even(points: &[[f64; 3]]) -> Table {
    const PIECES: usize = 4096;
    let last = points.len() - 1;
    let at = |piece: usize| -> [f64; 3] {
        let place = piece as f64 / PIECES as f64 * last as f64;
        let n = (0..last).rev().find(|n| *n as f64 <= place).unwrap_or(0);
        let t = place - n as f64;
        let point = |offset: usize| points[(n + offset).saturating_sub(1).min(last)];
        std::array::from_fn(|axis| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|offset| point(offset)[axis]);
            let (bend, turn) = (2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * b - a - 3.0 * c + d);
            0.5 * (2.0 * b + t * (c - a + t * (bend + t * turn)))
        })
    };
    let apart = |p: [f64; 3], q: [f64; 3]| (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt();
    let mut lengths = vec![0.0];
    for piece in 0..PIECES {
        lengths.push(lengths[piece] + apart(at(piece), at(piece + 1)));
    }
    std::array::from_fn(|entry| {
        let wanted = lengths[PIECES] * entry as f64 / 255.0;
        let piece = lengths.partition_point(|length| *length < wanted).min(PIECES);
        encode(linear_from_oklab(at(piece)))
    })
}

#[expect(clippy::cast_precision_loss, reason = "0…255")]
fn cyclic(color: impl Fn(f64) -> [f64; 3]) -> Table {
    std::array::from_fn(|n| encode(linear_from_oklab(color(n as f64 / 256.0))))
}

#[expect(clippy::cast_precision_loss, reason = "0…255")]
fn sequential(gradient: &impl Gradient) -> Table {
    std::array::from_fn(|n| gradient_color(gradient, n as f64 / 255.0))
}

/// Entry 128 at s = 0, 1 and 255 at s = ∓1; entry 0 repeats entry 1.
#[expect(clippy::cast_precision_loss, reason = "0…255")]
fn diverging(color: impl Fn(f64) -> [u8; 3]) -> Table {
    std::array::from_fn(|n| color((n.max(1) as f64 - 128.0) / 127.0))
}

fn gradient_color(gradient: &impl Gradient, at: f64) -> [u8; 3] {
    #[expect(clippy::cast_possible_truncation, reason = "the crate works in single precision")]
    let [r, g, b, _] = gradient.at(at as f32).to_rgba8();
    [r, g, b]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a step of 8 bits moves Oklab by less than this anywhere outside the darkest shades.
    const ROUNDING: f64 = 0.004;

    #[test]
    fn names_are_unique_and_auto_fits() {
        for (n, map) in COLORMAPS.iter().enumerate() {
            assert!(COLORMAPS[..n].iter().all(|other| other.id != map.id), "{}", map.id);
        }
        for kind in [Kind::Sequential, Kind::Diverging, Kind::Cyclic] {
            assert_eq!((auto(kind).kind, auto(kind).is_light()), (kind, false));
            assert_eq!(
                (auto_on_paper(kind).kind, auto_on_paper(kind).is_light()),
                (kind, kind != Kind::Cyclic)
            );
            assert!(resolve("auto", kind).is_ok());
        }
        let unknown = resolve("virdis", Kind::Sequential);
        assert!(matches!(unknown, Err(ColormapError::Unknown { .. })));
        for (name, kind) in [("hue", Kind::Sequential), ("viridis", Kind::Cyclic)] {
            assert!(matches!(resolve(name, kind), Err(ColormapError::Unfitting { .. })));
        }
    }

    #[test]
    fn phases_are_equally_light_and_evenly_spaced() {
        let table = find("hue").unwrap().table();
        for n in 0..ENTRIES {
            let [l, a, b] = oklab(table[n]);
            assert!((l - HUE_LIGHTNESS).abs() < ROUNDING, "entry {n}: lightness {l}");
            assert!((a.hypot(b) - HUE_CHROMA).abs() < ROUNDING, "entry {n}: chroma");
            // Sixteen entries on, the step along the circle is 2 C sin(π/16), whatever the entry.
            let [_, a2, b2] = oklab(table[(n + 16) % ENTRIES]);
            let step = (a2 - a).hypot(b2 - b);
            assert!(
                (step - 2.0 * HUE_CHROMA * (TAU / 32.0).sin()).abs() < 2.0 * ROUNDING,
                "entry {n}: step {step}"
            );
        }
        let [r, g, b] = phase_color(find("hue").unwrap(), 0.0, 1.0);
        assert!(r > g && r > b, "a real positive value is red");
        let [r, g, b] = phase_color(find("hue").unwrap(), std::f32::consts::PI, 1.0);
        assert!(r < g && r < b, "a real negative value is cyan");
    }

    #[test]
    fn every_cycle_closes_and_has_even_steps() {
        for map in COLORMAPS.iter().filter(|map| map.kind == Kind::Cyclic) {
            let table = map.table();
            let step = |n: usize| {
                let (p, q) = (oklab(table[n]), oklab(table[(n + 8) % ENTRIES]));
                (0..3).map(|i| (p[i] - q[i]).powi(2)).sum::<f64>().sqrt()
            };
            let mean = (0..ENTRIES).map(step).sum::<f64>() / 256.0;
            for n in 0..ENTRIES {
                // Chords across a bend are a little shorter than along the straight.
                assert!(
                    (step(n) / mean - 1.0).abs() < 0.25,
                    "{} entry {n}: {} of {mean}",
                    map.id,
                    step(n)
                );
            }
        }
    }

    #[test]
    fn brightness_scales_oklab() {
        let map = find("hue").unwrap();
        let full = oklab(phase_color(map, 1.0, 1.0));
        let half = oklab(phase_color(map, 1.0, 128.0 / 255.0));
        for axis in 0..3 {
            assert!((half[axis] - full[axis] * 128.0 / 255.0).abs() < 2.0 * ROUNDING);
        }
        assert_eq!(phase_color(map, 1.0, 0.0), [0, 0, 0]);
    }

    #[test]
    fn zero_is_neutral_and_sides_mirror_each_other() {
        for map in COLORMAPS.iter().filter(|map| map.kind == Kind::Diverging) {
            let table = map.table();
            let [_, a, b] = oklab(table[128]);
            assert!(a.hypot(b) < 0.01, "{}: zero has chroma {}", map.id, a.hypot(b));
            // From zero outwards lightness only falls, or only rises, on both sides.
            let outwards = oklab(table[255])[0] - oklab(table[128])[0];
            for n in 4..128 {
                for (near, far) in [(132 - n, 128 - n), (124 + n, 128 + n)] {
                    let step = oklab(table[far])[0] - oklab(table[near])[0];
                    assert!(step * outwards.signum() > -ROUNDING, "{} entry {far}", map.id);
                }
            }
        }
        let tide = find("tide").unwrap().table();
        for n in 1..128 {
            // Equal by construction; outside sRGB a channel would be cut off and this would show it.
            assert!((oklab(tide[128 - n])[0] - oklab(tide[128 + n])[0]).abs() < 2.0 * ROUNDING);
        }
    }

    #[test]
    fn even_maps_get_lighter_all_the_way() {
        for id in ["dawn", "viridis", "inferno", "magma", "plasma", "cividis", "greys"] {
            let table = find(id).unwrap().table();
            for n in 4..ENTRIES {
                assert!(oklab(table[n])[0] > oklab(table[n - 4])[0], "{id} entry {n}");
            }
        }
    }

    /// What eyes without red or green cones see (Viénot, Brettel and Mollon 1999, for sRGB's primaries): linear light in, linear light out.
    fn dichromat([r, g, b]: [f64; 3], without_green: bool) -> [f64; 3] {
        let (long, middle, short) = (
            0.31399022 * r + 0.63951294 * g + 0.04649755 * b,
            0.15537241 * r + 0.75789446 * g + 0.08670142 * b,
            0.01775239 * r + 0.10944209 * g + 0.87256922 * b,
        );
        let (l, m) = if without_green {
            (long, 0.9513092 * long + 0.04866992 * short)
        } else {
            (1.05118294 * middle - 0.05116099 * short, middle)
        };
        [
            5.47221206 * l - 4.6419601 * m + 0.16963708 * short,
            -1.1252419 * l + 2.29317094 * m - 0.1678952 * short,
            0.02980165 * l - 0.19318073 * m + 1.16364789 * short,
        ]
    }

    #[test]
    fn dawn_and_dusk_are_even_and_safe_for_colour_blind_eyes() {
        for (id, ground) in [("dawn", [8, 9, 10]), ("dusk", [255; 3])] {
            let table = find(id).unwrap().table();
            for (found, wanted) in table[0].iter().zip(ground) {
                assert!(found.abs_diff(wanted) <= 1, "{id} begins at {:?}", table[0]);
            }
            let colors: Vec<[f64; 3]> = table.iter().map(|color| oklab(*color)).collect();
            let step = |n: usize| {
                let (p, q) = (colors[n], colors[n + 16]);
                (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt()
            };
            let mean = (0..ENTRIES - 16).map(step).sum::<f64>() / 240.0;
            for n in 0..ENTRIES - 16 {
                // Chords are a little shorter than the curve; a channel cut off at the edge of sRGB would show.
                assert!(
                    (step(n) / mean - 1.0).abs() < 0.15,
                    "{id} entry {n}: {} of {mean}",
                    step(n)
                );
            }
            // Light all the way up or down, for every eye.
            let sign = if id == "dawn" { 1.0 } else { -1.0 };
            for without_green in [false, true] {
                let luminance = |n: usize| {
                    let light = table[n].map(|channel: u8| srgb_decode(f64::from(channel) / 255.0));
                    let [r, g, b] = dichromat(light, without_green);
                    0.2126 * r + 0.7152 * g + 0.0722 * b
                };
                for n in 8..ENTRIES {
                    assert!(sign * (luminance(n) - luminance(n - 8)) > 0.0, "{id} entry {n}");
                }
            }
        }
    }

    #[test]
    fn entries_at_the_ends_and_at_zero() {
        let levels = Levels { low: -2.0, high: 2.0 };
        let signed = levels.mapping(Kind::Diverging);
        assert_eq!(
            [-9.0, -2.0, 0.0, 2.0, 9.0].map(|v| signed.entry(v)),
            [0, 1, 128, 255, 255]
        );
        let plain = Levels { low: 0.0, high: 2.0 }.mapping(Kind::Sequential);
        assert_eq!(
            [-1.0, 0.0, 2.0, 3.0, f32::NAN].map(|v| plain.entry(v)),
            [0, 0, 255, 255, 0]
        );
        let empty = Levels { low: 0.0, high: 0.0 }.mapping(Kind::Diverging);
        assert_eq!(empty.entry(0.0), 128);
        assert_eq!(phase_entry(0.0), 0);
        assert_eq!(phase_entry(-std::f32::consts::PI), 128);
        assert_eq!(phase_entry(std::f32::consts::PI), 128);
        assert_eq!(phase_entry(-1e-9), 0);
    }
}
