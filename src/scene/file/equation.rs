//! Grid, equation, time and method as they are written.

use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::{Attenuation, Exchange};
use crate::scene::codec::{Codec, Fields, Kinded, Table, number_or_auto};
use crate::scene::declare::section;
use crate::scene::decode::{Decode, Diagnostics, Section, word};
use crate::scene::document::{Node, Value};
use crate::scene::scenario::{BackendChoice, Parameter, SolverChoice, TimeSpec};
use crate::scene::schema::{Kind, Presence, Row};
use crate::scene::write::{Item, Keys, text};
use std::collections::BTreeMap;

/// `grid.absorb_width` where a scene does not give it.
pub const ABSORB_WIDTH: usize = 32;

/// `edges`: one word for all axes or one word per axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EdgesFile {
    /// The same everywhere.
    All(Edge),
    /// x, y, z.
    PerAxis(Vec<Edge>),
}

impl Decode for EdgesFile {
    fn decode(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Self> {
        let mut edge = |node, path: &str| word(node, path, found, &Edge::ALL).unwrap_or(Edge::Wall);
        Some(match &node.value {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Self::PerAxis(
                    items
                        .map(|(axis, item)| edge(item, &format!("{path}.{axis}")))
                        .collect(),
                )
            }
            _ => Self::All(edge(node, path)),
        })
    }
}

impl Kinded for EdgesFile {
    fn kind() -> Kind {
        Vec::<Edge>::kind()
    }
}

impl Codec for EdgesFile {
    fn encode(&self) -> Item {
        match self {
            Self::All(edge) => edge.encode(),
            Self::PerAxis(list) => list.encode(),
        }
    }
}

section! {
    /// `[grid]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GridFile {
        /// sites along x, y, z
        size: Vec<usize> = required "[512, 512]", "1 to 3 whole numbers, each from 2; all must fit into memory";
        /// distance a between neighbouring sites
        spacing: f64 = required "0.5", "> 0";
        /// what happens at the edges of the grid, see below
        edges: EdgesFile = or [EdgesFile::All(Edge::Wall)], "one word, or one per axis";
        /// width in sites of the layer inside the grid at an absorbing edge
        absorb_width: Option<usize> = maybe "32", "two of them must leave a site";
    }
}

impl Default for GridFile {
    fn default() -> Self {
        Self {
            size: Vec::new(),
            spacing: 1.0,
            edges: EdgesFile::All(Edge::Wall),
            absorb_width: None,
        }
    }
}

section! {
    /// `[quantum]`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct QuantumFile {
        /// J = 1/(2 m a²), and 2J per axis on the diagonal, so that a plane wave at rest has energy 0
        mass: Option<f64> = maybe "1", "> 0";
        /// J itself, nothing on the diagonal: pure tight binding
        hopping: Option<f64> = maybe "-", "> 0; not with `mass`";
        /// g of g|ψ|² (Gross–Pitaevskii), where no layer sets it
        interaction: f64 = or [0.0];
        /// g₁₂ of two components, see below
        cross_interaction: f64 = or [0.0], "the last axis has two sites and ends at walls";
        /// magnetic flux φ through a plaquette (Landau gauge along x: hops to +x in row j carry
        /// e^(−2πiφj)). It is qB = 2πφ/a² along +z: φ > 0 turns packets clockwise, from +x towards −y
        flux: f64 = or [0.0], "two axes or more; on a periodic y axis flux × sites along y is whole", "flux quanta";
        /// Ω: the frame rotates about z through the middle of the grid, counterclockwise for Ω > 0
        rotation: f64 = or [0.0], "two axes or more, x and y not periodic, no layers of hopping but along z; m|Ω|ra ≤ π at the edges",
            "radians per unit of time";
        /// two particles on a line with the positions x and y: the symmetry of the state when they are exchanged, see below
        exchange: Option<Exchange> = maybe "none", "two axes of as many sites and the same edges";
    }
}

section! {
    /// `[acoustic]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AcousticFile: Default {
        /// sound speed, where no layer changes it
        speed: f64 = always [343.0], "> 0", "m/s";
        /// density, where no layer changes it
        density: f64 = always [1.2], "> 0", "kg/m³";
        /// the loss of waves with distance
        attenuation: Option<Attenuation> = maybe "none", "see below; by `fdtd` on the processor";
    }
}

impl Fields for Attenuation {
    fn rows() -> Vec<Row> {
        vec![
            Row::of::<f64>(
                "at",
                Presence::Required,
                "> 0",
                "Hz",
                "the frequency at which a wave loses `value`",
            ),
            Row::of::<f64>(
                "value",
                Presence::Required,
                "≥ 0",
                "dB/m",
                "attenuation at that frequency",
            ),
            Row::of::<f64>(
                "exponent",
                Presence::of(&1.0),
                "between 0 and 2",
                "",
                "exponent of the law",
            ),
            Row::of::<[f64; 2]>(
                "band",
                Presence::Optional("a quarter of `at` to four times it"),
                "1.5 to 10 000 times wide",
                "Hz",
                "where the law holds",
            ),
        ]
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        let at = section.need("at", "1e6", found);
        let band = section.get("band", found);
        Self {
            at,
            value: section.need("value", "50.0", found),
            exponent: section.get("exponent", found).unwrap_or(1.0),
            band: band.unwrap_or([at / 4.0, at * 4.0]),
        }
    }

    fn write(&self, keys: &mut Keys) {
        keys.push("at", &self.at);
        keys.push("value", &self.value);
        keys.push("exponent", &self.exponent);
        keys.push("band", &self.band);
    }
}

impl Table for Attenuation {}

section! {
    for TimeSpec {
        /// Δt. `"auto"` is the method's recommendation. It is halved until the steps follow drives, those on the way
        /// back from a mirror included, within 2 %. Then it is shortened so that a whole number of steps leads to `end`.
        /// With a mirror they lead to its `at`, and also to `end` if that takes at most a quarter more steps. For
        /// `chebyshev`, whose steps are long, they lead also to the times of predictions if that takes at most eight
        /// times as many
        step: Option<f64> = with (number_or_auto, "`\"auto\"`"), "> 0; for sound below the stability limit";
        /// when `run` and `render` stop; the window continues
        end: Option<f64> = maybe "none", "> 0";
        /// steps in imaginary time: the state relaxes towards the ground state. The norm is restored after every step;
        /// `interaction` uses the density at the start of a step, so that μ has an error of O(Δt²) and E of O(Δt⁴)
        imaginary: bool = or [false], "quantum; order 2 at most";
    }
}

section! {
    /// `[solver]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SolverFile: Default {
        /// see `ripplon list methods`
        method: Option<String> = maybe "the first for the equation";
        /// `auto`, `cpu`, `cuda`, `wgpu` (a graphics adapter, single precision; `auto` takes it only if no other back
        /// end has the variant, or in a [page](web.md#steps-on-webgpu))
        backend: BackendChoice = or [BackendChoice::Auto];
        /// `single`, `double`
        precision: Precision = or [Precision::Single];
        /// which of several ways of computing the same steps; `auto` is the fastest
        variant: String = or ["auto".to_owned()];
        /// The method's parameters by name; whether it has them is for the solver table to say.
        parameters: BTreeMap<String, Parameter> = flat [];
    }
}

impl SolverFile {
    /// The choice with the method filled in.
    pub fn choice(&self, default_method: &str) -> SolverChoice {
        SolverChoice {
            method: self.method.clone().unwrap_or_else(|| default_method.to_owned()),
            backend: self.backend,
            precision: self.precision,
            variant: self.variant.clone(),
            parameters: self.parameters.clone(),
        }
    }
}

/// All keys that are no others are parameters.
impl Fields for BTreeMap<String, Parameter> {
    fn rows() -> Vec<Row> {
        Vec::new()
    }

    fn read(section: &mut Section<'_>, found: &mut Diagnostics) -> Self {
        let entries = section.take_rest().into_iter();
        entries
            .filter_map(|entry| {
                let path = section.name(&entry.key);
                parameter(&entry.node, &path, found).map(|value| (entry.key.clone(), value))
            })
            .collect()
    }

    fn write(&self, keys: &mut Keys) {
        for (key, value) in self {
            let value = match value {
                Parameter::Integer(number) => number.to_string(),
                Parameter::Number(number) => number.encode().inline(),
                Parameter::Word(word) => text(word),
                Parameter::Integers(list) => format!("{list:?}"),
            };
            let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
            let key = if plain { key.clone() } else { text(key) };
            keys.optional_item(&key, Some(Item::Value(value)));
        }
    }
}

fn parameter(node: &Node, path: &str, found: &mut Diagnostics) -> Option<Parameter> {
    match &node.value {
        Value::Integer(_) => i64::decode(node, path, found).map(Parameter::Integer),
        Value::Float(_) => f64::decode(node, path, found).map(Parameter::Number),
        Value::String(word) => Some(Parameter::Word(word.clone())),
        Value::Array(_) => Vec::<i64>::decode(node, path, found).map(Parameter::Integers),
        other => {
            let message = format!("{} is {}", other.shown(), other.kind());
            found.value(
                path,
                message,
                "a parameter is a number, a word or a list of whole numbers",
            );
            None
        }
    }
}
