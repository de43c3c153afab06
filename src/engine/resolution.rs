//! Warnings about waves for which the grid of a scene is too coarse, and about what its model does not cover.

mod absorbed;
mod forces;
mod hidden;
mod idle;
mod losses;
mod quantum;
mod rounded;
mod uneven;

pub use idle::{impedances as impedances_at_work, layers as idle_layers};
pub use losses::strongest as strongest_loss;
pub use quantum::{in_motion, sent_back};

use super::dispersion;
use crate::physics::dispersion::{Law, Steps};
use crate::physics::{Initial, Model, Sets, Value};
use crate::scene::Scenario;
use crate::scene::file::SignalFile;
use crate::units::{self, four_digits as figure};
use std::f64::consts::{PI, TAU};

/// Fewest sites per wavelength that a lattice should have.
const SITES_PER_WAVELENGTH: f64 = 8.0;
/// Fewest sites per width of a pulse: a Gaussian of width w contains waves down to about 2πw/3.
const SITES_PER_PULSE: f64 = 2.0;

/// The largest relative error of a medium's law of attenuation.
pub const MOST_MISSED: f64 = 0.05;

/// A number of sites that is below the fewest: two digits.
fn sites(count: f64) -> String {
    format!("{count:.1}")
}

/// The waves in a scene that its grid slows down or cannot carry, with steps of `time_step`, each with a remedy. The
/// slowest speed of sound that a layer sets by a number counts; speeds by formula, and what a recording plays, are not
/// checked. What the scene's model does not cover follows ([`not_covered`]).
pub fn too_coarse(scenario: &Scenario, time_step: f64) -> Vec<String> {
    let law = dispersion::law(scenario, time_step);
    let mut out = Vec::new();
    match law {
        // What Fourier modes carry with a mass is the continuum's.
        Law::Quantum {
            steps: Steps::Continuum,
            ..
        } => {}
        Law::Quantum { spacing, hopping, .. } => {
            out.extend(quantum::packets(scenario, spacing));
            out.extend(quantum::clouds(scenario, hopping));
        }
        Law::Sound { .. } => {
            out.extend(sources(scenario, law));
            out.extend(pulses(scenario));
        }
    }
    out.extend(not_covered(scenario, time_step, scenario.time().end));
    out
}

/// What in a scene is beyond the validity of its model, with value, limit and remedy: losses that relaxations do not
/// follow, packets, sources and detectors in places that are damped or silent, layers that absorb more than steps of
/// `time_step` resolve, and what single precision cannot resolve and no signal has in these steps until `end`.
pub fn not_covered(scenario: &Scenario, time_step: f64, end: Option<f64>) -> Vec<String> {
    (losses::told(scenario).into_iter())
        .chain(aliased(scenario, time_step))
        .chain(quantum::exchanged(scenario))
        .chain(hidden::told(scenario))
        .chain(absorbed::told(scenario, time_step))
        .chain(uneven::told(scenario))
        .chain(forces::told(scenario))
        .chain(rounded::told(scenario, time_step, end))
        .collect()
}

/// What a source plays.
struct Played {
    /// Its number.
    source: usize,
    /// Its highest frequency, Hz.
    own: f64,
    /// The lowest and the highest frequency in the medium, Hz: behind and ahead of a moving source, f/(1 ± v/c).
    heard: [f64; 2],
    /// Whether it moves.
    moves: bool,
}

/// What each source plays; recordings are not known, nor is the frequency ahead of a source that is faster than sound. c
/// is the speed without layers.
fn played(scenario: &Scenario) -> impl Iterator<Item = Played> {
    let sources = scenario.file().sources.iter().enumerate();
    let speed = match scenario.model() {
        Model::Acoustic(acoustic) => acoustic.speed,
        Model::Quantum(_) => f64::INFINITY,
    };
    sources.filter_map(move |(number, source)| {
        let [lowest, highest] = match source.signal {
            SignalFile::Sine { frequency } | SignalFile::Ricker { frequency } | SignalFile::Burst { frequency, .. } => {
                [frequency; 2]
            }
            SignalFile::Chirp {
                frequency,
                to_frequency,
                ..
            } => [frequency.min(to_frequency), frequency.max(to_frequency)],
            SignalFile::File { .. } => return None,
        };
        let mach = source.velocity.iter().map(|v| v * v).sum::<f64>().sqrt() / speed;
        let ahead = if mach < 1.0 { 1.0 - mach } else { 1.0 };
        Some(Played {
            source: number,
            own: highest,
            heard: [lowest / (1.0 + mach), highest / ahead],
            moves: mach > 0.0,
        })
    })
}

/// Whether steps of `time_step` sample what a source plays less than twice a period.
fn is_aliased(own: &Played, time_step: f64) -> bool {
    2.0 * own.own * time_step.abs() > 1.0
}

/// A source that plays higher than half of the rate of the steps, the highest of several: they take its signal once
/// each, and what they take is that of a lower frequency, |f − n/Δt| with the nearest whole number n.
fn aliased(scenario: &Scenario, time_step: f64) -> Option<String> {
    let above = played(scenario).filter(|own| is_aliased(own, time_step));
    let highest = above.max_by(|one, other| one.own.total_cmp(&other.own))?;
    let (f, rate) = (highest.own, 1.0 / time_step.abs());
    Some(format!(
        "Steps of Δt = {} carry no frequency above 1/(2Δt) = {}Hz: what source.{} plays at {}Hz sounds as {}Hz. Use a lower frequency, or a Δt below {} (time.step, or a finer spacing).",
        figure(time_step.abs()),
        units::si(0.5 * rate),
        highest.source,
        units::si(f),
        units::si((f - (f / rate).round() * rate).abs()),
        figure(0.5 / f)
    ))
}

/// The highest frequency of the sources that the steps sample, compared with the sites per wavelength and the band of
/// the lattice.
fn sources(scenario: &Scenario, law: Law) -> Option<String> {
    let (
        Model::Acoustic(acoustic),
        Law::Sound {
            order,
            step,
            spacing,
            paired,
            ..
        },
    ) = (scenario.model(), law)
    else {
        return None;
    };
    let layers = scenario.medium().layers().iter();
    let set = layers.filter_map(|layer| match layer.value {
        Value::Number(speed) if layer.sets == Sets::Speed && speed > 0.0 => Some(speed),
        _ => None,
    });
    // The slowest medium has the shortest waves.
    let speed = set.fold(acoustic.speed, f64::min);
    // What steps do not sample sounds at another frequency, see `aliased`.
    let sampled = played(scenario).filter(|own| !is_aliased(own, step));
    let all = sampled.map(|own| (own.heard[1], own.moves));
    let (highest, moves) = all.fold((0.0, false), |most, own| if own.0 > most.0 { own } else { most });
    let ahead = if moves { " ahead of what moves" } else { "" };
    let length = speed / (highest * spacing);
    let slow = Law::Sound {
        speed,
        spacing,
        order,
        step,
        paired,
    };
    let carried = slow.lattice(PI / spacing).map_or(f64::INFINITY, |omega| omega / TAU);
    if highest > carried {
        return Some(format!(
            "The grid carries no waves above {}Hz along its axes: what a source plays at {}Hz{ahead} decays beside it. Use a finer spacing or a lower frequency.",
            units::si(carried),
            units::si(highest)
        ));
    }
    (length < SITES_PER_WAVELENGTH).then(|| {
        format!(
            "Only {} sites per wavelength at {}Hz{ahead}: the grid slows the sound down. Use a finer spacing or a lower frequency.",
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
mod tests {
    use super::*;
    use crate::solver;

    fn said(text: &str) -> String {
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        too_coarse(&scenario, 1e-4).join("\n")
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
        // Ahead of a source at 0.6 c tones are 2.5 times as high: 3.4 sites at 100 Hz.
        let moving = |velocity: f64, order: u32| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\nspeed = 340.0\n[solver]\nmethod = \"fdtd\"\norder = {order}\n\
                 [[source]]\nat = [10.0]\nsignal = \"sine\"\nfrequency = 40.0\nvelocity = [{velocity}]\n"
            ))
        };
        assert_eq!(moving(10.0, 2), "");
        let told = moving(204.0, 8);
        assert!(
            told.starts_with("Only 3.4 sites per wavelength at 100.0 Hz ahead of what moves"),
            "{told}"
        );
    }

    /// Steps of 0.1 ms sample up to 5 kHz: 6 and 14 kHz are taken for 4 kHz. What they sample and the grid does not carry decays beside its source.
    #[test]
    fn sources_are_held_against_the_steps() {
        for (frequency, heard) in [("6.000 kHz", 6e3), ("14.00 kHz", 14e3)] {
            let told = sound(heard, "");
            assert!(
                told.starts_with(&format!(
                    "Steps of Δt = 0.0001 carry no frequency above 1/(2Δt) = 5.000 kHz: what source.0 plays at {frequency} sounds as 4.000 kHz."
                )),
                "{told}"
            );
            assert!(!told.contains("decays"), "{told}");
        }
        assert!(sound(6e3, "").ends_with("a Δt below 8.333e-5 (time.step, or a finer spacing)."));
        let sampled = sound(4.9e3, "");
        assert!(sampled.contains("4.900 kHz decays beside it"), "{sampled}");
        assert!(!sampled.contains("sounds as"), "{sampled}");
        // One that is sampled is still held against the grid beside one that is not.
        let both = sound(6e3, "[[source]]\nat = [20.0]\nsignal = \"ricker\"\nfrequency = 120.0\n");
        assert!(
            both.contains("at 120.0 Hz decays beside it") && both.contains("source.1 plays"),
            "{both}"
        );
        // Runs and pictures print what is not covered.
        let text = "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\n[[source]]\nat = [10.0]\nsignal = \"chirp\"\nfrequency = 40.0\n\
                    to_frequency = 6e3\nduration = 1.0\n";
        let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap();
        assert!(
            not_covered(&scenario, 1e-4, None)
                .join("")
                .contains("source.0 plays at 6.000 kHz")
        );
        assert!(!not_covered(&scenario, 8e-5, None).join("").contains("source.0"));
    }

    /// A cloud of width 2 on a line is 1/5 dense, J is ½: waves of 4 sites come from g|ψ|² = J(π/2)² = 1.23, g = 6.2.
    #[test]
    fn interactions_are_held_against_the_grid() {
        let cloud = |quantum: &str, time: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n{quantum}\n[time]\n{time}\n[[packet]]\ncenter = [30.0]\nwidth = 2.0\n"
            ))
        };
        assert_eq!(cloud("interaction = 6.0", ""), "");
        for strong in ["interaction = 6.4", "interaction = -6.4"] {
            let told = cloud(strong, "");
            assert!(
                told.contains("healing length") && told.contains("have 3.9 sites per wavelength"),
                "{told}"
            );
        }
        assert_eq!(cloud("interaction = 6.4\nhopping = 0.5", ""), "");
        // Dilute at first, and drawn together: 2/(m|g|) is 1.0 sites at g = −2, 2.0 at −1.
        let told = cloud("interaction = -2.0", "");
        assert!(
            told.starts_with("The interaction g = -2 draws ψ together")
                && told.contains("w = 2/(m|g|) of only 1.0 sites"),
            "{told}"
        );
        for resolved in [
            "interaction = -1.0",
            "interaction = 2.0",
            "interaction = -2.0\nhopping = 0.5",
        ] {
            assert_eq!(cloud(resolved, ""), "", "{resolved}");
        }
        assert_eq!(cloud("interaction = -2.0", "imaginary = true"), "");
        assert_eq!(cloud("interaction = 6.4", "imaginary = true"), "");
    }

    /// The other symmetry grows as Δt² in real time, with one method.
    #[test]
    fn what_does_not_keep_the_exchange_is_told() {
        let two = |method: &str, more: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [32, 32]\nspacing = 1.0\n[quantum]\n{more}\n[solver]\nmethod = \"{method}\"\n[[packet]]\ncenter = [10.0, 20.0]\nwidth = 3.0\n"
            ))
        };
        let exchange = "exchange = \"antisymmetric\"";
        assert!(two("crank-nicolson", exchange).contains("keeps the symmetry of two particles only up to"));
        assert_eq!(two("crank-nicolson", ""), "");
        assert_eq!(two("trotter", exchange), "");
        assert_eq!(
            two("crank-nicolson", &format!("{exchange}\n[time]\nimaginary = true")),
            ""
        );
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
        // Fourier modes with a mass have the continuum's law, those of a tight-binding lattice have the lattice's.
        let by_modes = |quantum: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[quantum]\n{quantum}\n[solver]\nmethod = \"split-step-fourier\"\n[[packet]]\ncenter = [30.0]\nwidth = 6.0\n\
                 momentum = [1.6]\n"
            ))
        };
        assert_eq!(by_modes("mass = 1.0"), "");
        assert!(by_modes("hopping = 0.5").starts_with("Only 3.9 sites per wavelength"));
        // With a flux the wavelength is that of the motion: at row 16 rest is k = π, and k = 0 the top of the band.
        let bent = |momentum: f64, own: &str| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64, 32]\nspacing = 1.0\n[quantum]\nmass = 0.5\n{own}\n[[packet]]\ncenter = [32.0, 16.0]\nwidth = [6.0, 2.0]\n\
                 momentum = [{momentum}, 0.0]\n"
            ))
        };
        let flux = "flux = 0.03125";
        assert!(bent(0.0, flux).starts_with("Only 2.0 sites per wavelength"));
        assert_eq!(bent(3.1, flux), "");
        assert_eq!(bent(0.0, ""), "");
        assert!(bent(3.1, "").starts_with("Only 2.0 sites per wavelength"));
        let pulse = |width: f64| {
            said(&format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 1.0\n[acoustic]\n[[pulse]]\ncenter = [30.0]\nwidth = {width}\n"
            ))
        };
        assert_eq!(pulse(3.0), "");
        assert!(pulse(1.5).starts_with("A pulse is only 1.5 sites wide"));
    }
}
