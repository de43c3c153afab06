//! The whole field turned round.

use super::{engine, epsilon, plane, there_and_back};
use ripplon::field::Precision;
use ripplon::physics::Equation;
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, METHODS, Method};

/// Scenes of [`plane`] for everything that this machine can step, devices included; a device may refuse what it does not step.
fn every_target() -> Vec<(&'static Method, String, Precision, Scenario)> {
    let mut all = Vec::new();
    for method in METHODS {
        for target in method.present_targets() {
            for (variant, &precision) in
                (target.variants.iter()).flat_map(|v| target.precisions.iter().map(move |p| (v, p)))
            {
                let word = target.backend.as_str();
                let text =
                    plane(method, variant.id, precision).replace("backend = \"cpu\"", &format!("backend = \"{word}\""));
                match solver::read_scene_text(&text, None, &[]) {
                    Ok((_, scenario)) => {
                        let name = format!("{} {word} {} {}", method.id, variant.id, precision.as_str());
                        all.push((*method, name, precision, scenario));
                    }
                    Err(faults) => assert_eq!(target.backend, Backend::Cuda, "{}", faults.render(false)),
                }
            }
        }
    }
    all
}

#[test]
fn an_echo_brings_everything_back_but_what_was_perturbed() {
    for (method, name, precision, scenario) in every_target() {
        let text = format!("{}\n[mirror]\nmethod = \"echo\"\nat = 8.0\n", scenario.file().to_toml());
        let found = there_and_back(&mut engine(&text));
        // 80 steps of at most 20 roundings a site; leapfrog adds up its own linearly once more.
        let steps = 80.0;
        let limit = epsilon(precision)
            * if method.id == "fdtd" {
                steps * steps
            } else {
                20.0 * steps
            };
        assert!(found.error < limit && 1.0 - found.fidelity < limit, "{name}: {found:?}");
        let sets = match method.equation {
            Equation::Schrodinger => "potential",
            Equation::Acoustic => "speed",
        };
        let center = if scenario.grid().rank() == 3 {
            "[10.0, 8.0, 2.0]"
        } else {
            "[10.0, 8.0]"
        };
        let text = format!(
            "{text}perturbation = [{{ sets = \"{sets}\", shape = \"disk\", center = {center}, radius = 3.0, value = 0.5 }}]\n"
        );
        let found = there_and_back(&mut engine(&text));
        assert!(found.fidelity < 0.99, "{name}: {found:?}");
    }
}

#[test]
fn a_magnetic_field_must_be_turned_round_for_an_echo() {
    let run = |keep: bool| {
        let text = format!(
            "format = 1\n[grid]\nsize = [24, 20]\nspacing = 1.0\n[quantum]\nhopping = 1.0\nflux = 0.05\n[time]\nstep = 0.1\nend = 10.0\n[solver]\n\
             method = \"trotter\"\nprecision = \"double\"\nbackend = \"cpu\"\n[[packet]]\ncenter = [10.0, 9.0]\nwidth = [2.0, 2.0]\nmomentum = [0.8, \
             0.0]\n[mirror]\nmethod = \"echo\"\nat = 5.0\nkeep_flux = {keep}\n"
        );
        there_and_back(&mut engine(&text))
    };
    assert!(run(false).error < 1e-12);
    assert!(run(true).fidelity < 0.9);
}

/// Transducers play once a step. The automatic step of `chebyshev`, which is exact for every Δt, is JΔt = 0.1 with them, and the focus is that of a step half as long;
/// at 10/r, 25 times as long, its contrast is 30 % less.
#[test]
fn an_exact_method_plays_as_often_as_waves_need() {
    let contrast = |step: &str| {
        let text = format!(
            "format = 1\n[grid]\nsize = [80, 70]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\n{step}end = 120.0\n\
             [solver]\nmethod = \"chebyshev\"\nbackend = \"cpu\"\nprecision = \"double\"\n\
             [[packet]]\ncenter = [30.0, 30.0]\nwidth = [3.0, 3.0]\n\
             [mirror]\nmethod = \"reversal\"\nat = 60.0\n\
             transducers = {{ shape = \"ring\", center = [32.0, 32.0], radius = 24.0, count = 120 }}\n"
        );
        there_and_back(&mut engine(&text)).contrast
    };
    let (automatic, half) = (contrast(""), contrast("step = 0.1\n"));
    assert!((automatic / half - 1.0).abs() < 0.02, "{automatic} for {half}");
}
