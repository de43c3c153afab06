//! The scenes that come with the program, embedded from `presets/`.

/// A scene that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on the command line: the file's name without its extension.
    pub name: &'static str,
    /// The scene file.
    pub text: &'static str,
}

/// Presets by the names of their files.
macro_rules! presets {
    ($($name:literal,)*) => {
        &[$( Preset { name: $name, text: include_str!(concat!("../../presets/", $name, ".toml")) }, )*]
    };
}

/// Every preset, in the order that lists show them. A file in `presets/` that is missing here fails `tests/scene.rs`.
static PRESETS: &[Preset] = presets![
    "double-slit",
    "bohm",
    "which-path",
    "michelson",
    "free-packet",
    "one-site",
    "step",
    "tunnelling",
    "double-barrier",
    "resonance-line",
    "transmission",
    "ring",
    "coherent-state",
    "squeezed",
    "double-well",
    "corral",
    "standing-flow",
    "box-revival",
    "bloch-oscillation",
    "cyclotron",
    "rabi",
    "miscibility",
    "stern-gerlach",
    "stadium",
    "vortex",
    "vortex-lattice",
    "foucault",
    "condensate",
    "interaction-step",
    "two-particles",
    "aharonov-bohm",
    "ssh",
    "anderson",
    "laser-atom",
    "laser-atom-long",
    "tube",
    "two-media",
    "quarter-wave",
    "side-branch",
    "damped-tube",
    "curtain",
    "tissue",
    "piston",
    "line-array",
    "beats",
    "stopped-pipe",
    "reciprocity",
    "pond",
    "clap-3d",
    "snell",
    "sea-floor",
    "room-modes",
    "room-response",
    "room-3d",
    "coupled-rooms",
    "sabine",
    "flutter-echo",
    "waveguide",
    "elliptic-room",
    "zone-plate",
    "talbot",
    "doppler",
    "mach",
    "echo",
    "loschmidt-echo",
    "echo-in-a-field",
    "two-site-mirror",
    "inverse-filter",
    "ring-mirror",
    "one-transducer",
    "one-bit-mirror",
    "moved-table",
    "autofocus",
    "through-the-forest",
];

/// Every preset, in the order that lists show them.
pub fn all() -> &'static [Preset] {
    PRESETS
}

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
