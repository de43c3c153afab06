//! Colour maps: from a value to an sRGB colour, the same in the window and in every exported picture.
//!
//! A map is a table of 256 sRGB entries. A [`Mapping`] turns a value into an entry: `floor(offset + scale·value + 1/2)`,
//! clamped to the table. The window's shader gets the two numbers and the table and does the same, so that window and export
//! agree. Sequential maps spend all entries on low…high. Diverging maps use entries 1…255, symmetric about entry 128, which is
//! neutral: a value of exactly zero has exactly the neutral colour, also where low and high are not equally far from it.
//!
//! Phase pictures take the hue from a cyclic map and multiply its linear light by b³, where b in 0…1 is the
//! brightness. Oklab (B. Ottosson, 2020, <https://bottosson.github.io/posts/oklab/>) takes cube roots of linear light, so this
//! scales lightness and chroma by b and leaves the hue alone.

mod curves;

use crate::words::worded;
use curves::{
    DAWN, DUSK, cyclic, daynight, diverging, encode, even, gradient_color, hue, linear_from_oklab, sequential, tide,
};
pub use curves::{oklab, srgb_decode, srgb_encode};
use std::sync::{LazyLock, OnceLock};

/// Entries of a map.
pub const ENTRIES: usize = 256;

/// An sRGB table, 8 bits a channel.
pub type Table = [[u8; 3]; ENTRIES];

worded! {
    /// What a map is good for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Kind {
        /// From little to much.
        Sequential = "sequential",
        /// Two sides of a neutral zero.
        Diverging = "diverging",
        /// The end is the start again.
        Cyclic = "cyclic",
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
    pub fn table(&self) -> &Table {
        self.table.get_or_init(self.make)
    }

    /// Whether "nothing" is light in it, as white paper is: it is made for light pages.
    pub fn is_light(&self) -> bool {
        let nothing = match self.kind {
            Kind::Sequential => self.table()[0],
            Kind::Diverging => self.table()[128],
            Kind::Cyclic => [0; 3],
        };
        oklab(nothing)[0] > 0.7
    }

    /// The entries with an opaque alpha, as a texture wants them.
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
pub fn find(id: &str) -> Option<&'static Colormap> {
    COLORMAPS.iter().find(|map| map.id == id)
}

/// What `auto` means on a dark ground (the window's default, and all films): black at zero for what is never negative, near black
/// for what has a sign, the circle of hues for phases.
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
    /// the middle of a diverging map. That middle is zero wherever the levels hold zero: of uneven ones the end that is nearer to it has
    /// a fainter colour. Levels that lie on one side of zero spread over the whole map.
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
        if kind == Kind::Diverging && self.low <= 0.0 && self.high >= 0.0 {
            let scale = 127.0 / self.high.max(-self.low);
            return Mapping { offset: 128.0, scale };
        }
        let scale = entries / span;
        Mapping {
            offset: first - scale * self.low,
            scale,
        }
    }

    /// The levels that a colour bar spans: these, or a range around the value of a field that has a single one.
    #[must_use]
    pub fn spread(self, kind: Kind) -> Self {
        if self.high > self.low || !(self.high - self.low).is_finite() {
            return self;
        }
        let reach = self.low.abs().max(1.0);
        Self {
            low: self.low - if kind == Kind::Diverging { reach } else { 0.0 },
            high: self.low + reach,
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
        // Above 0 a conversion is the floor, and without it a call for each pixel.
        (self.offset + self.scale * value + 0.5).clamp(0.0, 255.0) as usize
    }

    /// The entries of a row of values: those of [`Mapping::entry`], in a loop that becomes vectors.
    #[inline(always)]
    pub fn entries(self, values: &[f32], entries: &mut [u8]) {
        for (entry, value) in entries.iter_mut().zip(values) {
            *entry = low_byte(whole((self.offset + self.scale * value).clamp(0.0, 255.0)));
        }
    }
}

/// floor(x + 1/2) of 0…2²²; of anything else no number in particular. Adding 2²³, whose neighbours are whole numbers apart, does it: a conversion
/// would care for what does not fit, and that keeps a loop from becoming vectors.
#[inline(always)]
pub fn whole(x: f32) -> u32 {
    const UNIT: f32 = 8_388_608.0;
    let even = (x + UNIT) - UNIT;
    let up = if x - even >= 0.5 { even + 1.0 } else { even };
    (up + UNIT).to_bits() & 0x007F_FFFF
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "of a table of 256 entries")]
fn low_byte(entry: u32) -> u8 {
    entry as u8
}

/// The entry of a cyclic map for a phase in radians (any multiple of 2π away as well).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a turn times 256, wrapped"
)]
pub fn phase_entry(phase: f32) -> usize {
    let turn = phase / std::f32::consts::TAU;
    // Above 0 a conversion is the floor.
    ((turn - turn.floor()) * 256.0 + 0.5) as usize % ENTRIES
}

/// The entry of a cyclic map for the phase of re + i·im: that of [`phase_entry`] without its arc tangent, which takes most of
/// the time of a picture; 0 for 0.
///
/// The arc tangent of 0…1 is a polynomial (odd powers to the 11th, least greatest error: 2e-6), a ten-thousandth of an entry.
#[inline(always)]
pub fn direction_entry(re: f32, im: f32) -> usize {
    let (across, up) = (re.abs(), im.abs());
    let (low, high) = if up > across { (across, up) } else { (up, across) };
    let t = if high > 0.0 { low / high } else { 0.0 };
    let t2 = t * t;
    let polynomial = 0.999_977_26
        + t2 * (-0.332_623_47 + t2 * (0.193_543_46 + t2 * (-0.116_432_87 + t2 * (0.052_653_32 - t2 * 0.011_721_2))));
    let entries = 128.0 / std::f32::consts::PI;
    let first = entries * t * polynomial;
    let second = if up > across { 64.0 - first } else { first };
    let third = if re < 0.0 { 128.0 - second } else { second };
    let angle = if im < 0.0 { -third } else { third };
    whole(angle + 256.0) as usize % ENTRIES
}

/// The colour of a cyclic map for a phase in radians at a brightness of 0…1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0…255 after clamping"
)]
pub fn phase_color(map: &Colormap, phase: f32, brightness: f32) -> [u8; 3] {
    let step = (brightness.clamp(0.0, 1.0) * 255.0 + 0.5).floor() as usize;
    dimmed(map.table()[phase_entry(phase)], step)
}

/// The colours of a cyclic map at every brightness: entry by entry, 256 steps from dark to full each (see [`dimmed`]).
pub fn shades(map: &Colormap) -> Vec<[u8; 3]> {
    let of = |color: &[u8; 3]| {
        let color = *color;
        (0..ENTRIES).map(move |step| dimmed(color, step))
    };
    map.table().iter().flat_map(of).collect()
}

/// A colour at brightness `step`/255: its linear light times (step/255)³.
pub fn dimmed(color: [u8; 3], step: usize) -> [u8; 3] {
    /// Every channel at every brightness: a film has millions of pixels a second.
    static DIMMED: LazyLock<Vec<[u8; ENTRIES]>> = LazyLock::new(|| {
        let at = |step: usize| {
            #[expect(clippy::cast_precision_loss, reason = "0…255")]
            let light = (step as f64 / 255.0).powi(3);
            std::array::from_fn(|channel| {
                #[expect(clippy::cast_precision_loss, reason = "0…255")]
                let value = light * srgb_decode(channel as f64 / 255.0);
                encode([value; 3])[0]
            })
        };
        (0..ENTRIES).map(at).collect()
    });
    let dimmed = &DIMMED[step.min(ENTRIES - 1)];
    color.map(|channel| dimmed[usize::from(channel)])
}

#[cfg(test)]
mod tests;
