//! How loud a scene is: single precision holds numbers from 10⁻³⁸ to 10³⁸, and so squares of pressures from 10⁻¹⁹ to 10¹⁹ Pa.

use crate::physics::Initial;
use crate::scene::Scenario;

/// Pressures, Pa, below which parts of a scene's energy leave single precision, or above whose inverse.
const FAINT: f64 = 1e-15;
/// The largest power of two in a scale: its square is in range.
const MOST_POWER: f64 = 60.0;

/// The largest pressures of a scene, Pa, within some powers of ten: what sources play becomes a pressure that depends on grid and distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loudness {
    least: f64,
    most: f64,
}

impl Loudness {
    /// From the initial field and the sources of a scene that is stepped by Δt, s.
    pub fn of(scenario: &Scenario, time_step: f64) -> Self {
        let grid = scenario.grid();
        let a = grid.spacing();
        let volume: f64 = (0..grid.rank()).map(|_| a).product();
        let there = match scenario.initial() {
            Initial::Pulses(pulses) => pulses.iter().map(|pulse| pulse.amplitude.abs()).fold(0.0, f64::max),
            Initial::Array(field) => (0..field.len()).map(|n| field.at(n).re.abs()).fold(0.0, f64::max),
            Initial::Packets(_) | Initial::Eigenstates(_) => 0.0,
        };
        let mut own = Self {
            least: there,
            most: there,
        };
        for source in scenario.sources() {
            // In one step at a site, of a plane wave at its place, and as it is.
            let strength = source.amplitude.abs();
            let all = [
                strength * time_step * time_step / volume,
                strength * a / volume,
                strength,
            ];
            own.least = own.least.max(all.into_iter().fold(f64::INFINITY, f64::min));
            own.most = own.most.max(all.into_iter().fold(0.0, f64::max));
        }
        own
    }

    /// The power of two that brings pressures near 1, those of sources up to 10¹² where one of a plane wave is not that of a step: squares of both are in range.
    pub fn scale(self) -> f64 {
        let power = self.least.log2();
        if power.is_finite() {
            (-power.round()).clamp(-MOST_POWER, MOST_POWER).exp2()
        } else {
            1.0
        }
    }

    /// Whether products of pressures may leave single precision.
    pub fn leaves_single(self) -> bool {
        (self.most > 0.0 && self.most < FAINT) || self.least > 1.0 / FAINT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;
    use crate::solver::read_scene_text;

    fn loudness(text: &str, step: f64) -> Loudness {
        let (_, scenario) = read_scene_text(text, None, &[]).unwrap();
        Loudness::of(&scenario, step * scenario.grid().spacing())
    }

    #[test]
    fn pulses_and_sources_are_heard() {
        let of = |sound: &str| {
            let head = "format = 1\n[grid]\nsize = [20, 20]\nspacing = 0.1\n[acoustic]\nspeed = 343.0\n";
            loudness(&format!("{head}{sound}"), 1e-3)
        };
        let pulse = |amplitude: &str| {
            of(&format!(
                "[[pulse]]\ncenter = [1.0, 1.0]\nwidth = 0.2\namplitude = {amplitude}\n"
            ))
        };
        let beyond = |amplitude: &str| pulse(amplitude).leaves_single();
        assert_eq!(["1e-25", "-3.0", "1e5", "1e19"].map(beyond), [true, false, false, true]);
        assert_eq!(pulse("1.0").scale(), 1.0);
        assert_eq!(pulse("-1e3").scale(), 2.0_f64.powi(-10));
        assert_eq!(pulse("1e-25").scale(), 2.0_f64.powi(60));
        assert_eq!(pulse("0.0").scale(), 1.0);
        // From Δt²/a² of 1e-6 up to 1/a.
        let source = of("[[source]]\nat = [1.0, 1.0]\nsignal = \"sine\"\nfrequency = 100.0\namplitude = 2.0\n");
        assert!(
            (source.least - 2e-6).abs() < 1e-15 && (source.most - 20.0).abs() < 1e-9,
            "{source:?}"
        );
    }

    /// Sums in double precision are slow.
    #[test]
    fn no_preset_is_too_loud_or_too_quiet() {
        let sounds = (presets::all().iter()).filter(|preset| preset.text.contains("[acoustic]"));
        for preset in sounds {
            let loud = loudness(preset.text, 1e-3);
            assert!(!loud.leaves_single(), "{}: {loud:?}", preset.name);
            assert!(
                (1e-15..1e15).contains(&(1.0 / loud.scale())),
                "{}: {loud:?}",
                preset.name
            );
        }
    }
}
