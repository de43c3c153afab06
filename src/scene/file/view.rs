//! `[view]` and `[[camera]]` as they are written.

use crate::scene::camera_path::CameraKey;
use crate::scene::codec::{Codec, Kinded, corners};
use crate::scene::declare::section;
use crate::scene::decode::{Decode, Diagnostics, word};
use crate::scene::document::{Node, Value};
use crate::scene::look::{Brightness, Flow, Opacity, Orbit, Plot, Quantity, ViewMode};
use crate::scene::scenario::ColorRange;
use crate::scene::schema::Kind;
use crate::scene::write::{Item, text};

section! {
    /// `[view]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ViewFile: Default {
        /// `density`, `phase`, `real`, `imaginary`, `momentum` (quantum), `pressure`, `rms`, `level`, `velocity`,
        /// `intensity` (acoustic), `energy`, `peak`. `rms` is √⟨p²⟩ in Pa, `level` the same in dB re 20 µPa (0 and
        /// above), `velocity` |v| of the medium in m/s, `intensity` |⟨p v⟩| in W/m²: means since the start, or since
        /// they were first shown; these four need `fdtd` on the processor. `momentum` is |ψ(k)|² with k from −π/a to
        /// π/a along each axis, k = 0 in the middle; `energy` of ψ is shared between the ends of each bond, so that its
        /// sum is ⟨H⟩, for sound it is p²/(2ρc²) + ρv²/2 in J/m³; `peak` is the largest value so far, over all steps
        quantity: Option<Quantity> = maybe "`density`, or `pressure` for sound";
        /// see `ripplon list colormaps`; phases need a cyclic one. `auto` takes a diverging map for quantities that may
        /// be negative, such as an energy of ψ
        colormap: String = or ["auto".to_owned()];
        /// `auto` (follows the field; restarts when a mirror's transducers begin to play), `locked` (set by the first
        /// frame), or `[low, high]`. Zero keeps the neutral colour of a diverging map
        range: ColorRange = or [ColorRange::Auto];
        /// the brightness of values that are not negative, such as densities: `linear` (proportional), or `root`
        /// (proportional to the square root, which shows faint waves next to strong ones; the colour bar is labelled
        /// accordingly). It does not apply to pressures and other signed quantities
        brightness: Brightness = or [Brightness::Linear];
        /// `plane` (in colours; in three dimensions one plane of constant z); two dimensions only: `relief` (the value
        /// as height above the plane); three dimensions only: `slices` (three planes in the box) or `volume` (the whole
        /// field, translucent)
        mode: ViewMode = or [ViewMode::Plane];
        /// for a relief, slices or a volume: `{ azimuth, elevation, zoom, target }`, see below
        camera: Option<Orbit> = maybe "the whole";
        /// three dimensions only: the positions `[x, y, z]` of the slices; the last is also that of the plane
        slices: Vec<f64> = empty "the middle";
        /// the opacity of a volume: `soft` (proportional to the size of the value), `faint` (weak waves are visible
        /// next to strong ones), `solid` (only strong ones), `shells` (two surfaces of constant value), or 2 to 8
        /// points `[[size, opacity], ...]`
        opacity: Opacity = or [Opacity::Soft];
        /// shades a volume by its gradients
        shading: bool = or [false];
        /// for `rms`, `level`, `intensity` and the flow of sound: the time constant with which the past fades
        over: Option<f64> = maybe "all of the run", "", "s";
        /// two dimensions only, over a plane: `arrows` or `streamlines` of the flow. For ψ it is the probability
        /// current j = Im ψ\*∇ψ/m of the lattice's bonds at the time of the picture, with magnetic field and rotation;
        /// of two components it is that of each, along x alone; for sound the mean intensity ⟨p v⟩ (like `intensity`, with `fdtd` on the processor, and `over` as its time
        /// constant). The length of an arrow is proportional to the square root of the flow; arrows below 1 % of the
        /// strongest in view are left out
        flow: Flow = or [Flow::None];
        /// the time shown by the scene's picture in the gallery, or a list of times, which are shown together, like a multiple exposure
        cover: Vec<f64> = with (cover, "half of `time.end`");
        /// the plots to show with the scene, in order: `cut`, `carpet`, `position`, `spread`, `norm`, `energy`,
        /// `momentum`, `uncertainty`, `angular-momentum`, `overlap`, `participation`, `purity`, `marginals`,
        /// `detectors`, `spectrum`, `fidelity`, `signals`, `focus`. In the window, *More, Keep with the scene* stores the chosen ones here
        plots: Vec<Plot> = with (plots, "the user's own choice");
        /// the part of a line or plane that the window shows at first, and that pictures and films show: `{ min = [x,
        /// y], max = [x, y] }`; in three dimensions, of every plane (`mode = "plane"`). Momenta are always shown whole
        region: Option<[Vec<f64>; 2]> = with (corners, "all of it");
    }
}

section! {
    for Orbit {
        /// about the z axis: 0 looks along y with x to the right, 90 looks against x
        azimuth: f64 = or [Orbit::default().azimuth], "−360 to 360", "degrees";
        /// above the plane of x and y: 90 looks down the z axis, as a plane does
        elevation: f64 = or [Orbit::default().elevation], "−90 to 90; of a relief 5 to 90", "degrees";
        /// at 1 the whole box is in view
        zoom: f64 = or [Orbit::default().zoom], "0.25 to 40";
        /// the point that it looks at, as three coordinates; not for a relief
        target: Option<[f64; 3]> = maybe "the middle of the grid";
    }
}

section! {
    for CameraKey {
        /// its time, different from those of the other keys
        at: f64 = required "0.0", "≥ 0";
        /// From where it looks.
        orbit: Orbit = flat [];
    }
}

impl Decode for ColorRange {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Value::Array(_)) {
            return <[f64; 2]>::decode(node, path, found).map(|[low, high]| Self::Fixed(low, high));
        }
        word(node, path, found, &[("auto", Self::Auto), ("locked", Self::Locked)])
    }
}

impl Kinded for ColorRange {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Words(vec!["auto", "locked"]), Kind::Numbers(2)])
    }
}

impl Codec for ColorRange {
    fn encode(&self) -> Item {
        match *self {
            Self::Auto => Item::Value(text("auto")),
            Self::Locked => Item::Value(text("locked")),
            Self::Fixed(low, high) => [low, high].encode(),
        }
    }
}

impl Decode for Opacity {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        if matches!(node.value, Value::Array(_)) {
            return Vec::decode(node, path, found).map(Self::Points);
        }
        let word = word(node, path, found, &Self::ALL.map(|(word, _)| (word, word)))?;
        let preset = Self::ALL.into_iter().find(|(known, _)| *known == word);
        preset.map(|(_, opacity)| opacity)
    }
}

impl Kinded for Opacity {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::words(&Self::ALL), Kind::List(Box::new(Kind::Numbers(2)))])
    }
}

impl Codec for Opacity {
    fn encode(&self) -> Item {
        match self {
            Self::Points(points) => points.encode(),
            preset => Item::Value(text(preset.as_str().unwrap_or("soft"))),
        }
    }
}

/// A time, or several.
mod cover {
    use super::{Codec, Diagnostics, Item, Kind, Kinded};
    use crate::scene::decode::Section;

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Vec<f64> {
        section.get(key, found).unwrap_or_default()
    }

    pub fn write(times: &[f64]) -> Option<Item> {
        match times {
            [] => None,
            [time] => Some(time.encode()),
            times => Some(times.to_vec().encode()),
        }
    }

    pub fn kind() -> Kind {
        Vec::<f64>::kind()
    }
}

/// The words of plots; a plot that has none is left out.
mod plots {
    use super::{Diagnostics, Item, Kind, Plot, Value, text, word};
    use crate::scene::decode::Section;

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Vec<Plot> {
        let path = section.name(key);
        let Some(node) = section.node(key) else {
            return Vec::new();
        };
        let Value::Array(items) = &node.value else {
            let message = format!("{} is not a list of plots", node.value.shown());
            found.value(&path, message, "write e.g. [\"detectors\", \"cut\"]");
            return Vec::new();
        };
        let words = items.iter().enumerate();
        words
            .filter_map(|(n, item)| word(item, &format!("{path}.{n}"), found, &Plot::WORDS))
            .collect()
    }

    pub fn write(plots: &[Plot]) -> Option<Item> {
        let words: Vec<String> = plots.iter().filter_map(|plot| plot.word()).map(text).collect();
        (!words.is_empty()).then(|| Item::Value(format!("[{}]", words.join(", "))))
    }

    pub fn kind() -> Kind {
        Kind::Only(Box::new(Kind::words(&Plot::WORDS)))
    }
}
