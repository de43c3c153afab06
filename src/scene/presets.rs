//! The scenes that come with the program, embedded from `presets/`.

/// A scene that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on the command line: the file's name without its ending.
    pub name: &'static str,
    /// The scene file.
    pub text: &'static str,
}

/// Every preset, in the order that lists show them. A file in `presets/` that is missing here fails `tests/scene.rs`.
static PRESETS: &[Preset] = &[
    Preset {
        name: "double-slit",
        text: include_str!("../../presets/double-slit.toml"),
    },
    Preset {
        name: "bohm",
        text: include_str!("../../presets/bohm.toml"),
    },
    Preset {
        name: "which-path",
        text: include_str!("../../presets/which-path.toml"),
    },
    Preset {
        name: "michelson",
        text: include_str!("../../presets/michelson.toml"),
    },
    Preset {
        name: "free-packet",
        text: include_str!("../../presets/free-packet.toml"),
    },
    Preset {
        name: "one-site",
        text: include_str!("../../presets/one-site.toml"),
    },
    Preset {
        name: "step",
        text: include_str!("../../presets/step.toml"),
    },
    Preset {
        name: "tunnelling",
        text: include_str!("../../presets/tunnelling.toml"),
    },
    Preset {
        name: "double-barrier",
        text: include_str!("../../presets/double-barrier.toml"),
    },
    Preset {
        name: "resonance-line",
        text: include_str!("../../presets/resonance-line.toml"),
    },
    Preset {
        name: "transmission",
        text: include_str!("../../presets/transmission.toml"),
    },
    Preset {
        name: "ring",
        text: include_str!("../../presets/ring.toml"),
    },
    Preset {
        name: "coherent-state",
        text: include_str!("../../presets/coherent-state.toml"),
    },
    Preset {
        name: "squeezed",
        text: include_str!("../../presets/squeezed.toml"),
    },
    Preset {
        name: "double-well",
        text: include_str!("../../presets/double-well.toml"),
    },
    Preset {
        name: "corral",
        text: include_str!("../../presets/corral.toml"),
    },
    Preset {
        name: "standing-flow",
        text: include_str!("../../presets/standing-flow.toml"),
    },
    Preset {
        name: "box-revival",
        text: include_str!("../../presets/box-revival.toml"),
    },
    Preset {
        name: "bloch-oscillation",
        text: include_str!("../../presets/bloch-oscillation.toml"),
    },
    Preset {
        name: "cyclotron",
        text: include_str!("../../presets/cyclotron.toml"),
    },
    Preset {
        name: "rabi",
        text: include_str!("../../presets/rabi.toml"),
    },
    Preset {
        name: "miscibility",
        text: include_str!("../../presets/miscibility.toml"),
    },
    Preset {
        name: "stern-gerlach",
        text: include_str!("../../presets/stern-gerlach.toml"),
    },
    Preset {
        name: "stadium",
        text: include_str!("../../presets/stadium.toml"),
    },
    Preset {
        name: "vortex",
        text: include_str!("../../presets/vortex.toml"),
    },
    Preset {
        name: "vortex-lattice",
        text: include_str!("../../presets/vortex-lattice.toml"),
    },
    Preset {
        name: "foucault",
        text: include_str!("../../presets/foucault.toml"),
    },
    Preset {
        name: "condensate",
        text: include_str!("../../presets/condensate.toml"),
    },
    Preset {
        name: "interaction-step",
        text: include_str!("../../presets/interaction-step.toml"),
    },
    Preset {
        name: "two-particles",
        text: include_str!("../../presets/two-particles.toml"),
    },
    Preset {
        name: "aharonov-bohm",
        text: include_str!("../../presets/aharonov-bohm.toml"),
    },
    Preset {
        name: "ssh",
        text: include_str!("../../presets/ssh.toml"),
    },
    Preset {
        name: "anderson",
        text: include_str!("../../presets/anderson.toml"),
    },
    Preset {
        name: "laser-atom",
        text: include_str!("../../presets/laser-atom.toml"),
    },
    Preset {
        name: "laser-atom-long",
        text: include_str!("../../presets/laser-atom-long.toml"),
    },
    Preset {
        name: "tube",
        text: include_str!("../../presets/tube.toml"),
    },
    Preset {
        name: "two-media",
        text: include_str!("../../presets/two-media.toml"),
    },
    Preset {
        name: "quarter-wave",
        text: include_str!("../../presets/quarter-wave.toml"),
    },
    Preset {
        name: "side-branch",
        text: include_str!("../../presets/side-branch.toml"),
    },
    Preset {
        name: "damped-tube",
        text: include_str!("../../presets/damped-tube.toml"),
    },
    Preset {
        name: "curtain",
        text: include_str!("../../presets/curtain.toml"),
    },
    Preset {
        name: "tissue",
        text: include_str!("../../presets/tissue.toml"),
    },
    Preset {
        name: "piston",
        text: include_str!("../../presets/piston.toml"),
    },
    Preset {
        name: "line-array",
        text: include_str!("../../presets/line-array.toml"),
    },
    Preset {
        name: "beats",
        text: include_str!("../../presets/beats.toml"),
    },
    Preset {
        name: "stopped-pipe",
        text: include_str!("../../presets/stopped-pipe.toml"),
    },
    Preset {
        name: "reciprocity",
        text: include_str!("../../presets/reciprocity.toml"),
    },
    Preset {
        name: "pond",
        text: include_str!("../../presets/pond.toml"),
    },
    Preset {
        name: "clap-3d",
        text: include_str!("../../presets/clap-3d.toml"),
    },
    Preset {
        name: "snell",
        text: include_str!("../../presets/snell.toml"),
    },
    Preset {
        name: "sea-floor",
        text: include_str!("../../presets/sea-floor.toml"),
    },
    Preset {
        name: "room-modes",
        text: include_str!("../../presets/room-modes.toml"),
    },
    Preset {
        name: "room-response",
        text: include_str!("../../presets/room-response.toml"),
    },
    Preset {
        name: "room-3d",
        text: include_str!("../../presets/room-3d.toml"),
    },
    Preset {
        name: "coupled-rooms",
        text: include_str!("../../presets/coupled-rooms.toml"),
    },
    Preset {
        name: "sabine",
        text: include_str!("../../presets/sabine.toml"),
    },
    Preset {
        name: "flutter-echo",
        text: include_str!("../../presets/flutter-echo.toml"),
    },
    Preset {
        name: "waveguide",
        text: include_str!("../../presets/waveguide.toml"),
    },
    Preset {
        name: "elliptic-room",
        text: include_str!("../../presets/elliptic-room.toml"),
    },
    Preset {
        name: "zone-plate",
        text: include_str!("../../presets/zone-plate.toml"),
    },
    Preset {
        name: "talbot",
        text: include_str!("../../presets/talbot.toml"),
    },
    Preset {
        name: "doppler",
        text: include_str!("../../presets/doppler.toml"),
    },
    Preset {
        name: "mach",
        text: include_str!("../../presets/mach.toml"),
    },
    Preset {
        name: "echo",
        text: include_str!("../../presets/echo.toml"),
    },
    Preset {
        name: "loschmidt-echo",
        text: include_str!("../../presets/loschmidt-echo.toml"),
    },
    Preset {
        name: "echo-in-a-field",
        text: include_str!("../../presets/echo-in-a-field.toml"),
    },
    Preset {
        name: "two-site-mirror",
        text: include_str!("../../presets/two-site-mirror.toml"),
    },
    Preset {
        name: "inverse-filter",
        text: include_str!("../../presets/inverse-filter.toml"),
    },
    Preset {
        name: "ring-mirror",
        text: include_str!("../../presets/ring-mirror.toml"),
    },
    Preset {
        name: "one-transducer",
        text: include_str!("../../presets/one-transducer.toml"),
    },
    Preset {
        name: "one-bit-mirror",
        text: include_str!("../../presets/one-bit-mirror.toml"),
    },
    Preset {
        name: "moved-table",
        text: include_str!("../../presets/moved-table.toml"),
    },
    Preset {
        name: "autofocus",
        text: include_str!("../../presets/autofocus.toml"),
    },
    Preset {
        name: "through-the-forest",
        text: include_str!("../../presets/through-the-forest.toml"),
    },
];

/// Every preset, in the order that lists show them.
pub fn all() -> &'static [Preset] {
    PRESETS
}

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
