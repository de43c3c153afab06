//! How loud a scene is: single precision holds numbers from 10⁻³⁸ to 10³⁸, and so squares of pressures from 10⁻¹⁹ to 10¹⁹ Pa.

use crate::physics::source::{Pattern, Place};
use crate::physics::{Initial, Source};
use crate::scene::Scenario;

/// Pressures, Pa, below which parts of a scene's energy leave single precision. Products below 10⁻³⁸ lose digits: 10⁻⁴ of the energy where pressures are 10⁻¹⁷ Pa, as they are up to a thousandth
/// of what a source plays at its place.
const FAINT: f64 = 1e-14;
/// Those above which squares may leave it: what a source plays in a step may grow by a factor of 10⁶.
const LOUD: f64 = 1e13;
/// The largest power of two in a scale: its square is in range.
const MOST_POWER: f64 = 60.0;

/// The largest pressure of a scene where it begins, Pa, within some powers of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loudness {
    pressure: f64,
}

impl Loudness {
    /// From the initial field and the sources of a scene that is stepped by Δt, s.
    pub fn of(scenario: &Scenario, time_step: f64) -> Self {
        let there = match scenario.initial() {
            Initial::Pulses(pulses) => pulses.iter().map(|pulse| pulse.amplitude.abs()).fold(0.0, f64::max),
            Initial::Array(field) => (0..field.len()).map(|n| field.at(n).re.abs()).fold(0.0, f64::max),
            Initial::Packets(_) | Initial::Eigenstates(_) => 0.0,
        };
        let grid = scenario.grid();
        let played = |source: &Source| at_place(source, (grid.spacing(), grid.rank()), time_step);
        Self {
            pressure: scenario.sources().iter().map(played).fold(there, f64::max),
        }
    }

    /// With pressures that are there beside what begins: what sources played before an edit.
    pub fn beside(self, pressures: &[f32]) -> Self {
        let there = pressures
            .iter()
            .fold(0.0_f32, |most, pressure| most.max(pressure.abs()));
        Self {
            pressure: self.pressure.max(f64::from(there)),
        }
    }

    /// The power of two that brings pressures near 1; their squares are in range as long as they differ from that of a place by less than 10¹⁸.
    pub fn scale(self) -> f64 {
        let power = self.pressure.log2();
        if power.is_finite() {
            (-power.round()).clamp(-MOST_POWER, MOST_POWER).exp2()
        } else {
            1.0
        }
    }

    /// Whether products of pressures may leave single precision.
    pub fn leaves_single(self) -> bool {
        self.pressure > 0.0 && !(FAINT..=LOUD).contains(&self.pressure)
    }
}

/// What a source plays at a site of its place, Pa: a monopole in a step, A Δt²/a^d of a point, and one with a direction as the plane wave of its layer, A a/a^d. Lines and disks have their
/// amplitude by length and area.
fn at_place(source: &Source, (spacing, rank): (f64, usize), time_step: f64) -> f64 {
    let along = match source.place {
        Place::Points(_) => 0,
        Place::Line { .. } => 1,
        Place::Disk { .. } => 2,
    };
    let in_cell: f64 = (along..rank).map(|_| spacing).product();
    let played = match source.pattern {
        Pattern::Monopole => time_step * time_step,
        _ => spacing,
    };
    source.amplitude.abs() * played / in_cell
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
        // Δt²/a² is 1e-6, and a line has a site each 0.1 m.
        let source = |place: &str, amplitude: f64| {
            of(&format!(
                "[[source]]\n{place}\nsignal = \"sine\"\nfrequency = 100.0\namplitude = {amplitude:e}\n"
            ))
        };
        let (point, line) = ("at = [1.0, 1.0]", "from = [1.0, 0.0]\nto = [1.0, 1.9]");
        let forward = "from = [1.0, 0.0]\nto = [1.0, 1.9]\npattern = \"one-way\"\ndirection = [1.0, 0.0]";
        for (place, pressure) in [(point, 2e-6), (line, 2e-7), (forward, 2.0)] {
            let found = source(place, 2.0);
            assert!((found.pressure / pressure - 1.0).abs() < 1e-9, "{place}: {found:?}");
        }
        // Pressures are some 1e-6 of the amplitudes of such points.
        assert_eq!(source(point, 1.0).scale(), 2.0_f64.powi(20));
        assert_eq!(source(point, 1e-13).scale(), 2.0_f64.powi(60));
        let quiet = source(point, 1.0);
        assert_eq!(quiet.beside(&[0.0, 1e-8, f32::NAN]).scale(), quiet.scale());
        assert_eq!(quiet.beside(&[0.0, -1024.0]).scale(), 2.0_f64.powi(-10));
        let beyond = |amplitude: f64| source(point, amplitude).leaves_single();
        assert_eq!(
            [1e-13, 1e-11, 1e-3, 1e12, 1e24].map(beyond),
            [true, true, false, false, true]
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
