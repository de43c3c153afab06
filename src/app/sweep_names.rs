//! What stands at the axes of a sweep in the window: keys by the names that the scene's panels have for them, what is measured, and the units of both.

use super::view_panel::with_unit;
use super::widgets::figure;
use crate::scene::sweep::{Quantity, Sweep};
use crate::scene::{Scenario, SceneFile, key_unit};

/// A name with the unit of its values; quantum scenes have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) unit: &'static str,
}

impl Named {
    /// As it stands at an axis.
    pub(super) fn title(&self) -> String {
        with_unit(&self.name, self.unit)
    }

    /// A value of it.
    pub(super) fn show(&self, value: f64, digits: usize) -> String {
        let gap = if self.unit.is_empty() { "" } else { " " };
        format!("{}{gap}{}", figure(value, digits), self.unit)
    }
}

/// The names of what varies, and of what is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) keys: Vec<Named>,
    pub(super) measures: Vec<Named>,
}

impl Names {
    /// Those of a sweep over a scene, which is given as it is written and as it runs.
    pub(super) fn of(sweep: &Sweep, file: &SceneFile, scenario: &Scenario) -> Self {
        let measured = |quantity: &Quantity| {
            // A contrast has no unit.
            let wanted = quantity.resolve(scenario).ok().filter(|wanted| wanted.beside.is_none());
            Named {
                name: quantity.text(),
                unit: wanted.map_or("", |wanted| wanted.subject.unit(scenario)),
            }
        };
        Self {
            keys: sweep.axes.iter().map(|axis| of_key(&axis.key, file)).collect(),
            measures: sweep.measures.iter().map(measured).collect(),
        }
    }
}

/// A key that varies, by the names that the scene's panels have for it; the key itself where they have none.
fn of_key(key: &str, file: &SceneFile) -> Named {
    let parts: Vec<&str> = key.split('.').collect();
    Named {
        name: name(&parts).unwrap_or_else(|| key.to_owned()),
        unit: key_unit(key, file),
    }
}

fn name(parts: &[&str]) -> Option<String> {
    let of = |what: &str, noun: &str, n: &str| {
        let place: usize = n.parse().ok()?;
        Some(format!("{what} of {noun} {}", place + 1))
    };
    let along = |what: &str, axis: &str| {
        let axis = ["x", "y", "z"].get(axis.parse::<usize>().ok()?)?;
        Some(format!("{what} along {axis}"))
    };
    match *parts {
        ["packet", n, "momentum", axis] => along("Momentum k", axis).and_then(|what| of(&what, "packet", n)),
        ["packet", n, "width", axis] => along("Width σ", axis).and_then(|what| of(&what, "packet", n)),
        ["packet", n, "weight"] => of("Weight", "packet", n),
        ["detector", n, "at", axis] => along("Place", axis).and_then(|what| of(&what, "detector", n)),
        ["source", n, "frequency"] => of("Frequency", "source", n),
        ["source", n, "amplitude"] => of("Amplitude", "source", n),
        ["source", n, "delay"] => of("Delay", "source", n),
        ["pulse", n, "amplitude"] => of("Amplitude", "pulse", n),
        ["pulse", n, "width"] => of("Width w", "pulse", n),
        ["layer", n, "value"] => of("Value", "layer", n),
        ["mirror", "perturbation", n, "value"] => of("Value", "change", n),
        ["acoustic", "speed"] => Some("Sound speed".to_owned()),
        ["acoustic", "density"] => Some("Density".to_owned()),
        ["quantum", "interaction"] => Some("Interaction g".to_owned()),
        ["quantum", "cross_interaction"] => Some("Interaction g₁₂".to_owned()),
        ["quantum", "flux"] => Some("Flux α".to_owned()),
        ["quantum", "rotation"] => Some("Rotation Ω".to_owned()),
        ["grid", "spacing"] => Some("Spacing a".to_owned()),
        ["time", "step"] => Some("Δt".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (SceneFile, Scenario) {
        crate::solver::read_scene_text(text, None, &[]).unwrap()
    }

    const QUANTUM: &str = "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[[packet]]\ncenter = [30.0]\nwidth = [4.0]\n";

    #[test]
    fn keys_have_the_names_of_the_panels() {
        let (file, _) = read(QUANTUM);
        for (key, name) in [
            ("packet.0.momentum.0", "Momentum k along x of packet 1"),
            ("layer.1.value", "Value of layer 2"),
            ("detector.0.at.1", "Place along y of detector 1"),
            ("mirror.perturbation.0.value", "Value of change 1"),
            ("quantum.cross_interaction", "Interaction g₁₂"),
            ("time.step", "Δt"),
            ("layer.2.min.1", "layer.2.min.1"),
            ("packet.one.weight", "packet.one.weight"),
        ] {
            assert_eq!(of_key(key, &file).title(), name);
        }
    }

    #[test]
    fn keys_and_quantities_of_sound_have_their_units() {
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nend = 0.01\n\
                    [[pulse]]\ncenter = [3.0]\nwidth = 0.4\n\
                    [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [4.0]\nmax = [5.0]\nvalue = 200.0\n\
                    [[layer]]\nsets = \"density\"\nshape = \"box\"\nmin = [4.0]\nmax = [5.0]\nvalue = 2.0\n\
                    [[detector]]\nname = \"ear\"\nat = [5.0]\n\
                    [[detector]]\nname = \"loud\"\nat = [5.0]\nas = \"level\"\n\
                    [sweep]\nvary = [\"layer.0.value=200..400/3\"]\n\
                    measure = [\"ear@0.005\", \"loud\", \"energy\", \"x\", \"contrast(ear | peak)@0.01\"]\n";
        let (file, scenario) = read(text);
        for (key, title) in [
            ("layer.0.value", "Value of layer 1 (m/s)"),
            ("layer.1.value", "Value of layer 2 (kg/m³)"),
            ("layer.7.value", "Value of layer 8"),
            ("layer.0.min.0", "layer.0.min.0 (m)"),
            ("pulse.0.amplitude", "Amplitude of pulse 1 (Pa)"),
            ("source.2.frequency", "Frequency of source 3 (Hz)"),
            ("detector.0.at.0", "Place along x of detector 1 (m)"),
            ("acoustic.speed", "Sound speed (m/s)"),
            ("time.step", "Δt (s)"),
            ("solver.order", "solver.order"),
        ] {
            assert_eq!(of_key(key, &file).title(), title);
        }
        let names = Names::of(scenario.sweep().unwrap(), &file, &scenario);
        let units: Vec<&str> = names.measures.iter().map(|one| one.unit).collect();
        assert_eq!(units, ["Pa", "dB", "J/m²", "m", ""]);
        assert_eq!(names.measures[0].title(), "ear@0.005 (Pa)");
        assert_eq!(names.keys[0].show(250.0, 6), "250 m/s");
        let (file, scenario) = read(&format!(
            "{QUANTUM}[sweep]\nvary = [\"packet.0.momentum.0=0.2..1/3\"]\nmeasure = [\"x@1\"]\n"
        ));
        let names = Names::of(scenario.sweep().unwrap(), &file, &scenario);
        assert_eq!((names.measures[0].unit, names.keys[0].unit), ("", ""));
        assert_eq!(names.keys[0].show(0.25, 6), "0.25");
    }
}
