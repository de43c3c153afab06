//! Warnings about waves for which the grid of a scene is too coarse.

use super::dispersion;
use crate::physics::dispersion::Law;
use crate::physics::{Initial, Model, Sets, Value};
use crate::scene::Scenario;
use crate::scene::file::SignalFile;
use crate::units;
use std::f64::consts::{PI, TAU};

/// Fewest sites per wavelength that a lattice should have.
const SITES_PER_WAVELENGTH: f64 = 8.0;
/// Fewest sites of a pulse's width: a Gaussian of width w holds waves down to about 2πw/3.
const SITES_PER_PULSE: f64 = 2.0;

/// A number of sites that is below the fewest: two digits.
fn sites(count: f64) -> String {
    format!("{count:.1}")
}

/// What a scene holds of waves that its grid slows down or does not carry, with steps of `time_step`, each with a remedy. The slowest speed of sound that a layer sets by a number counts;
/// speeds by formula, and what a recording plays, are not checked.
#[must_use]
pub fn too_coarse(scenario: &Scenario, time_step: f64) -> Vec<String> {
    let law = dispersion::law(scenario, time_step);
    let mut out = Vec::new();
    match law {
        Law::Quantum { spacing, .. } => out.extend(packets(scenario, spacing)),
        Law::Sound { .. } => {
            out.extend(sources(scenario, law));
            out.extend(pulses(scenario));
        }
    }
    out
}

/// Packets with few sites per wavelength.
fn packets(scenario: &Scenario, spacing: f64) -> Vec<String> {
    let Initial::Packets(packets) = scenario.initial() else {
        return Vec::new();
    };
    let lengths = packets.iter().map(|packet| {
        let k = packet.momentum.iter().map(|k| k * k).sum::<f64>().sqrt();
        TAU / (k * spacing)
    });
    // π/4 as scenes write it, with seven digits, is eight sites.
    (lengths.filter(|length| *length < SITES_PER_WAVELENGTH * (1.0 - 1e-6)))
        .map(|length| {
            format!(
                "Only {} sites per wavelength: the lattice slows the packet down (v = 2Ja sin ka). Use a finer spacing or a smaller momentum.",
                sites(length)
            )
        })
        .collect()
}

/// The highest frequency of the sources, against the sites of its wave and the band of the lattice.
fn sources(scenario: &Scenario, law: Law) -> Option<String> {
    let (
        Model::Acoustic(acoustic),
        Law::Sound {
            order, step, spacing, ..
        },
    ) = (scenario.model(), law)
    else {
        return None;
    };
    let set = scenario.medium().layers().iter().filter_map(|layer| match layer.value {
        Value::Number(speed) if layer.sets == Sets::Speed && speed > 0.0 => Some(speed),
        _ => None,
    });
    // The slowest medium has the shortest waves.
    let speed = set.fold(acoustic.speed, f64::min);
    let played = scenario.file().sources.iter().filter_map(|source| match source.signal {
        SignalFile::Sine { frequency } | SignalFile::Ricker { frequency } | SignalFile::Burst { frequency, .. } => {
            Some(frequency)
        }
        SignalFile::Chirp {
            frequency,
            to_frequency,
            ..
        } => Some(frequency.max(to_frequency)),
        SignalFile::File { .. } => None,
    });
    let highest = played.fold(0.0, f64::max);
    let length = speed / (highest * spacing);
    let slow = Law::Sound {
        speed,
        spacing,
        order,
        step,
    };
    let carried = slow.lattice(PI / spacing).map_or(f64::INFINITY, |omega| omega / TAU);
    if highest > carried {
        return Some(format!(
            "The grid carries no waves above {}Hz along its axes: what a source plays at {}Hz decays beside it. Use a finer spacing or a lower frequency.",
            units::si(carried),
            units::si(highest)
        ));
    }
    (length < SITES_PER_WAVELENGTH).then(|| {
        format!(
            "Only {} sites per wavelength at {}Hz: the grid slows the sound down. Use a finer spacing or a lower frequency.",
            sites(length),
            units::si(highest)
        )
    })
}

/// The narrowest pulse, if it is too narrow.
fn pulses(scenario: &Scenario) -> Option<String> {
    let Initial::Pulses(pulses) = scenario.initial() else {
        return None;
    };
    let widths = pulses.iter().map(|pulse| pulse.width / scenario.grid().spacing());
    let narrow = widths.fold(f64::INFINITY, f64::min);
    (narrow < SITES_PER_PULSE).then(|| {
        format!(
            "A pulse is only {} sites wide: its shortest waves are not resolved. Use a finer spacing or a wider pulse.",
            sites(narrow)
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail where it stands")]
mod tests {
    use super::*;
    use crate::solver;

    fn said(text: &str) -> String {
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        too_coarse(&scenario, 1e-9).join("\n")
    }

    /// A line of sound with a = 1 m and c = 340 m/s; order 2 carries up to c/πa = 108 Hz, order 8 to 138 Hz.
    fn sound(frequency: f64, more: &str) -> String {
        said(&format!(
            "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\nspeed = 340.0\n[solver]\nmethod = \"fdtd\"\n{more}\n\
             [[source]]\nat = [10.0]\nsignal = \"sine\"\nfrequency = {frequency}\n"
        ))
    }

    #[test]
    fn sources_are_held_against_the_grid() {
        assert_eq!(sound(40.0, ""), "");
        assert!(sound(85.0, "").starts_with("Only 4.0 sites per wavelength at 85.00 Hz"));
        let beyond = sound(120.0, "");
        assert!(beyond.starts_with("The grid carries no waves above 108"), "{beyond}");
        assert!(sound(120.0, "order = 8").starts_with("Only 2.8 sites"));
        let slow = "[[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [30.0]\nmax = [40.0]\nvalue = 85.0";
        assert!(sound(40.0, slow).starts_with("The grid carries no waves above 27"));
    }

    #[test]
    fn packets_and_pulses_are_held_against_the_grid() {
        let packet = |momentum: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n[[packet]]\ncenter = [30.0]\nwidth = 6.0\nmomentum = [{momentum}]\n"
            ))
        };
        // π/4 as scenes have it.
        assert_eq!(packet(std::f64::consts::FRAC_PI_4 * (1.0 + 1e-7)), "");
        assert!(packet(1.6).starts_with("Only 3.9 sites per wavelength"));
        let pulse = |width: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\n[[pulse]]\ncenter = [30.0]\nwidth = {width}\n"
            ))
        };
        assert_eq!(pulse(3.0), "");
        assert!(pulse(1.5).starts_with("A pulse is only 1.5 sites wide"));
    }
}
