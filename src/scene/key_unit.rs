//! Units of the keys of a scene.

use super::file::{LayerFile, SceneFile};
use crate::physics::Equation;

/// The unit of a key as `--set` addresses it, e.g. `source.0.delay`; empty where it has none. Quantum scenes have ħ = 1 and any unit of length: of theirs
/// only phases have one. Amplitudes of sources, whose unit depends on where they stand, have none here.
#[must_use]
pub fn key_unit(key: &str, file: &SceneFile) -> &'static str {
    let parts: Vec<&str> = key.split('.').collect();
    if let ["eigenstate" | "source", _, "phase"] = parts[..] {
        return "rad";
    }
    if file.acoustic.is_none() {
        return "";
    }
    match parts[..] {
        ["mirror", "perturbation", n, ref rest @ ..] => {
            let behind = file.mirror.as_ref().map(|mirror| mirror.perturbation.as_slice());
            of_layer(rest, n, behind.unwrap_or_default())
        }
        ["layer", n, ref rest @ ..] => of_layer(rest, n, &file.layers),
        ["source", _, ref rest @ ..] => of_source(rest),
        ["grid", "spacing"]
        | ["pulse", _, "width" | "center"]
        | ["pulse", _, "center", _]
        | ["detector", _, "at" | "from" | "to"]
        | ["detector", _, "at" | "from" | "to", _]
        | ["detector", _, "region", "min" | "max"]
        | ["detector", _, "region", "min" | "max", _]
        | ["mirror", "transducers", "radius" | "center" | "from" | "to", ..]
        | ["mirror", "transducers", "points", _, ..] => "m",
        ["time", "step" | "end"]
        | ["mirror", "at" | "record"]
        | ["detector", _, "over"]
        | ["view", "over"]
        | ["note" | "expect", _, "at"] => "s",
        ["pulse", _, "amplitude"] => "Pa",
        ["acoustic", "speed"] => "m/s",
        ["acoustic", "density"] => "kg/m³",
        ["acoustic", "attenuation", "at"] | ["acoustic", "attenuation", "band", _] => "Hz",
        ["acoustic", "attenuation", "value"] => "dB/m",
        _ => "",
    }
}

/// Of a key of a layer of sound, the one of this number among `layers`.
fn of_layer(key: &[&str], n: &str, layers: &[LayerFile]) -> &'static str {
    match *key {
        ["value"] => {
            let layer = n.parse().ok().and_then(|n: usize| layers.get(n));
            layer.map_or("", |layer| layer.sets.unit(Equation::Acoustic))
        }
        ["corner"] => "Hz",
        ["radius" | "inner" | "outer" | "x" | "thickness" | "opening" | "min" | "max" | "center"]
        | ["min" | "max" | "center" | "centers", _]
        | ["points", _, _] => "m",
        _ => "",
    }
}

/// Of a key of a source.
fn of_source(key: &[&str]) -> &'static str {
    match *key {
        ["frequency" | "to_frequency" | "rate"] => "Hz",
        ["delay" | "duration"] | ["delays", _] => "s",
        ["velocity"] | ["velocity", _] => "m/s",
        ["radius" | "at" | "from" | "to" | "center"] | ["at" | "from" | "to" | "center", _] | ["points", _, ..] => "m",
        _ => "",
    }
}
