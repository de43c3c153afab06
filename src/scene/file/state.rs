//! First states, predictions, sweeps and rooms as they are written.

use crate::scene::declare::section;
use std::path::PathBuf;

section! {
    /// One `[[packet]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PacketFile {
        /// c
        center: Vec<f64> = required "[60.0, 128.0]", "on the grid";
        /// w, the standard deviation of |ψ|²
        width: Vec<f64> = required "[8.0, 8.0]", "> 0; one number may stand for all axes";
        /// k; waves are well resolved up to about 0.6/a. With a flux it is the canonical momentum, like `px`
        momentum: Vec<f64> = empty "0", "|k| ≤ π/a along each axis";
        /// amplitude relative to the other packets
        weight: f64 = or [1.0];
    }
}

section! {
    /// One `[[eigenstate]]`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct EigenstateFile {
        /// its index in order of increasing energy
        level: usize = required "0", "0 to 499, each once";
        /// amplitude relative to the others; a state is real and positive at the site where it is largest, the first one if there are several
        weight: f64 = or [1.0];
        /// phase of its amplitude
        phase: f64 = or [0.0], "", "rad";
    }
}

section! {
    /// One `[[pulse]]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PulseFile {
        /// c
        center: Vec<f64> = required "[1.0, 2.0]", "on the grid", "m";
        /// w
        width: f64 = required "0.1", "> 0", "m";
        /// amplitude
        amplitude: f64 = or [1.0], "", "Pa";
    }
}

section! {
    /// `[initial]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct InitialFile {
        /// an NPY array instead of packets or pulses, see below
        file: PathBuf = required "\"psi.npy\"";
    }
}

/// `[initial]`, of which only the name of the file is kept.
pub(in crate::scene) mod initial {
    use super::{InitialFile, PathBuf};
    use crate::scene::codec::{Codec, Kinded};
    use crate::scene::decode::{Diagnostics, Section};
    use crate::scene::schema::Kind;
    use crate::scene::write::Item;

    pub fn read(section: &mut Section<'_>, key: &'static str, found: &mut Diagnostics) -> Option<PathBuf> {
        section.get::<InitialFile>(key, found).map(|initial| initial.file)
    }

    #[expect(clippy::ref_option, reason = "a declaration hands on a reference to its field")]
    pub fn write(file: &Option<PathBuf>) -> Option<Item> {
        let file = file.clone()?;
        Some(InitialFile { file }.encode())
    }

    pub fn kind() -> Kind {
        InitialFile::kind()
    }
}

section! {
    /// One `[[expect]]`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct ExpectFile {
        /// a detector's name; this or `observable`
        detector: Option<String> = maybe "";
        /// a whole-field quantity: `norm`, `energy`, `x`, `y`, `z`, `spread_x`, `spread_y`, `spread_z`, `peak`; `x` and
        /// `spread_x` are computed from coordinates, and jump when a wave crosses the seam of a periodic axis, and a field that is 0
        /// everywhere has none; for ψ
        /// also [those below](#observables-of-psi-that-need-its-phases), and the coordinates of a
        /// [`[[trajectory]]`](#trajectory-quantum), e.g. `upper.y`
        observable: Option<String> = maybe "";
        /// when
        at: f64 = required "40.0", "≥ 0";
        /// what is predicted
        value: f64 = required "0.5";
        /// the largest difference that counts as right
        tolerance: f64 = required "0.01", "> 0";
        /// where the prediction comes from
        because: String = empty "none";
        /// a question for the user: the window pauses at `ask_at`, takes a number, and only then shows the prediction (`ripplon run` does not ask)
        ask: String = empty "none";
        /// when to ask
        ask_at: f64 = or [0.0], "at most `at`";
    }
}

section! {
    /// `[sweep]`.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct SweepFile {
        /// keys as `--set` addresses them, with their values: `"packet.0.momentum.0=0.2..1.4/60"` means 60 values from
        /// 0.2 to 1.4, both included; with `log` after it their ratios are equal; `"solver.order=1,2,4"` lists the
        /// values. ` & key=formula` after them sets another key to a formula of the value `x`:
        /// `"layer.0.centers.1=130..150/11 & layer.0.centers.0=240 - x"`. The first key varies fastest
        vary: Vec<String> = required "[\"packet.0.momentum.0=0.2..1.4/60\"]";
        /// what is measured, `"NAME@T"`: a detector's name or an observable as in [`[[expect]]`](#expect) (the
        /// detector where both have the name), at the step nearest to T; without `@T` at the scene's end.
        /// `"contrast(NAME | NAME)@T"` is (a − b)/(a + b) of two with one unit, the visibility of fringes
        measure: Vec<String> = required "[\"norm@40\"]";
        /// the theory for the first quantity: a formula of `x` and `y`, the values of the first and second key; or
        /// `"transmission"`: for one packet on a line and a potential that is constant in time, T(k) from transfer
        /// matrices of the lattice, averaged over the packet's momenta
        theory: String = empty "none";
    }
}

section! {
    /// `[room]`: how a room is listened to.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct RoomFile {
        /// the detector to use; `--at` overrides it
        at: String = empty "the only detector of pressure";
        /// a dry WAV file (without reverberation), which `--wav` (or *Play* in the window) plays in the room; `--dry`
        /// overrides it. Without one the response itself is written
        dry: Option<PathBuf> = maybe "none";
    }
}
