//! Lines that try the elimination: no potential, potentials of 10⁶, steps far beyond what is sensible, a hundred thousand steps.

use super::device::{build, distance, needs_device};
use super::{Case, is_sound, random, scenario, start};
use ripplon::field::Precision;
use ripplon::solver::Taps;

/// A step errs by some ε‖T‖γ, ‖T⁻¹‖ ≤ 1, ‖T‖ ≤ 1 + Δt/2·(4J + E); no pivot is below 1, so elimination makes numbers of at most ‖T‖ + (JΔt/2)² = γ‖T‖: 12 steps of
/// 16 times that.
fn allowed(epsilon: f64, height: f64, dt: f64) -> f64 {
    192.0 * epsilon * (1.0 + dt / 2.0 * (4.0 + height) + dt * dt / 4.0)
}

/// Layers, and the largest |U| of each.
const LAYERS: [(&str, f64); 4] = [
    ("[[layer]]\nsets = \"potential\"\nvalue = \"0\"\n", 0.0),
    ("[[layer]]\nsets = \"potential\"\nvalue = \"1e6\"\n", 1e6),
    (
        "[[layer]]\nsets = \"potential\"\nvalue = \"1e6*(2*random(x) - 1)\"\n",
        1e6,
    ),
    ("[[layer]]\nsets = \"potential\"\nvalue = \"-2\"\n", 2.0),
];
const PLACES: [(&str, usize); 4] = [("wall", 71), ("periodic", 70), ("wall", 5001), ("periodic", 70_000)];
const TIME_STEPS: [f64; 3] = [0.001, 1.5, 10_000.5];

fn pathological(edges: &'static str, layer: &'static str) -> Case {
    ("pathological", edges, "", layer, "")
}

/// A line that goes on for long.
fn lasting(edges: &'static str) -> Case {
    let layer = "[[layer]]\nsets = \"potential\"\nvalue = \"0.6*(random(x) - 0.5)\"\n";
    ("long", edges, "", layer, "")
}

/// Also where there is no device.
#[test]
fn every_trial_is_a_sound_scene() {
    for (layer, _) in LAYERS {
        for (edges, size) in PLACES {
            for dt in TIME_STEPS {
                is_sound(|backend| scenario(&pathological(edges, layer), size, backend, "double", dt));
            }
        }
    }
    for edges in ["wall", "periodic"] {
        is_sound(|backend| scenario(&lasting(edges), 4096, backend, "double", 0.1));
    }
}

#[test]
fn pathological_lines_are_solved_as_the_processor_solves_them() {
    needs_device!();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (layer, height) in LAYERS {
        for dt in TIME_STEPS {
            for (edges, size) in PLACES {
                let case = pathological(edges, layer);
                let field = random(size);
                let run = |backend: &str, precision: &str| {
                    let mut run = build(&scenario(&case, size, backend, precision, dt));
                    run.set_field(&field, start(dt)).unwrap();
                    run.advance(12, &mut Taps::default()).unwrap();
                    run.field().unwrap()
                };
                let expected = run("cpu", "double");
                for (word, precision) in Precision::ALL {
                    let epsilon = match precision {
                        Precision::Single => f64::from(f32::EPSILON),
                        Precision::Double => f64::EPSILON,
                    };
                    let (found, allowed) = (run("cuda", word), allowed(epsilon, height, dt));
                    let name = format!("{size} sites, {edges}, {word}, Δt {dt}, {}", layer.trim());
                    assert!(
                        (0..found.len()).all(|site| found.at(site).norm_sqr().is_finite()),
                        "{name}: not finite"
                    );
                    // Beyond this rounding is as large as ψ.
                    if allowed > 0.05 {
                        continue;
                    }
                    compared += 1;
                    let error = distance(&found, &expected);
                    println!("{name}: {error:.1e} of {allowed:.1e}");
                    if error.is_nan() || error > allowed {
                        wrong.push(format!("{name}: {error:.1e}, allowed {allowed:.1e}"));
                    }
                }
            }
        }
    }
    assert!(compared > 30, "{compared}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rounded coefficients change the norm by some ε a step, the same way: 4ε · 10⁵ = 9e-11 in double; in single at most 64 steps of it, 64ε = 8e-6, until the norm is given
/// back.
#[test]
fn the_norm_stays_over_a_hundred_thousand_steps() {
    needs_device!();
    for edges in ["wall", "periodic"] {
        let case = lasting(edges);
        for (word, precision) in Precision::ALL {
            let mut run = build(&scenario(&case, 4096, "cuda", word, 0.1));
            run.set_field(&random(4096), start(0.1)).unwrap();
            let before = run.observables().unwrap().norm;
            run.advance(100_000, &mut Taps::default()).unwrap();
            let drift = run.observables().unwrap().norm / before - 1.0;
            println!("{edges}, {word}: {drift:.1e}");
            let allowed = if precision == Precision::Double { 2e-10 } else { 1e-5 };
            assert!(drift.abs() < allowed, "{edges}, {word}: {drift:.1e}");
        }
    }
}
