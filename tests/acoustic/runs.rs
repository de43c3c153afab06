//! Runs: reversal, changes of Δt, saving, precision, edits.

use crate::{ORDERS, SPACING, SPEED, advance, build, largest_difference, noise, scene, sections, start, step, values};
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Solver, SolverState, Taps};
use std::f64::consts::PI;

const OBSTACLES: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [0.4, 0.3]\nradius = 0.1\nvalue = 1\n\
    [[layer]]\nsets = \"speed\"\nshape = \"box\"\nmin = [0.5, 0.0]\nmax = [0.7, 0.6]\nvalue = 500\n";
const SOURCE: &str = "[[source]]\nat = [0.2, 0.2]\nsignal = \"sine\"\nfrequency = 1500\namplitude = 1e7\n";

/// Leapfrog is its own inverse: there and back is the start, up to roundings.
#[test]
fn time_turns_round() {
    for order in ORDERS {
        let text = sections(
            &[40, 30],
            "\"wall\"",
            0.3,
            &format!("precision = \"double\"\norder = {order}"),
        ) + OBSTACLES
            + SOURCE;
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let before = values(solver.as_mut());
        advance(solver.as_mut(), 400);
        let there = values(solver.as_mut());
        solver
            .edit(&scenario, &Edit::TimeStep(-scenario.time().step.unwrap()))
            .unwrap();
        assert_eq!(values(solver.as_mut()), there, "the field itself stays");
        advance(solver.as_mut(), 400);
        let clock = solver.clock();
        assert!(clock.time.abs() < 1e-15 && clock.steps == 800);
        let error = largest_difference(&values(solver.as_mut()), &before);
        // 800 roundings of fields of some 10, integrated twice: 1e-15 · 800^1.5.
        assert!(error < 3e-11, "order {order}: {error:e}");
    }
}

/// dp/dt → −dp/dt: an echo without sources, with Δt still positive.
#[test]
fn conjugation_makes_an_echo() {
    let text = sections(
        &[40, 30],
        "[\"soft\", \"periodic\"]",
        0.3,
        "precision = \"double\"\norder = 4",
    ) + OBSTACLES;
    let scenario = scene(&text);
    let mut solver = build(&scenario);
    let before = values(solver.as_mut());
    advance(solver.as_mut(), 400);
    solver.edit(&scenario, &Edit::Conjugate).unwrap();
    advance(solver.as_mut(), 400);
    let error = largest_difference(&values(solver.as_mut()), &before);
    assert!(error < 1e-11 && solver.clock().time_step > 0.0, "{error:e}");
}

/// Another Δt in the middle of a run does not disturb the wave: the error stays of second order.
#[test]
fn the_step_can_change_during_a_run() {
    let error = |courant: f64| {
        let text = sections(&[32, 20], "\"periodic\"", courant, "precision = \"double\"\norder = 8");
        let scenario = scene(&text);
        let mut solver = build(&scenario);
        let kappa = 2.0 * PI / 32.0;
        let mode: Vec<f64> = (0..640).map(|n| (kappa * f64::from(n % 32)).cos()).collect();
        start(solver.as_mut(), &mode);
        let steps = (20.0 / courant).round() as u64;
        advance(solver.as_mut(), steps);
        solver.edit(&scenario, &Edit::TimeStep(step(courant / 2.0))).unwrap();
        advance(solver.as_mut(), steps);
        solver.edit(&scenario, &Edit::TimeStep(step(courant))).unwrap();
        advance(solver.as_mut(), steps);
        // Order 8 at 32 points a wavelength is exact in space to 1e-9.
        let t = 2.5 * steps as f64 * step(courant);
        let factor = (SPEED / SPACING * kappa * t).cos();
        let expected: Vec<f64> = mode.iter().map(|p| p * factor).collect();
        largest_difference(&values(solver.as_mut()), &expected)
    };
    let (coarse, fine) = (error(0.4), error(0.2));
    let order = (coarse / fine).log2();
    assert!(
        coarse < 0.02 && (order - 2.0).abs() < 0.15,
        "order {order} from {coarse:e} and {fine:e}"
    );
}

fn state_bits(state: &SolverState) -> Vec<(String, Vec<u64>)> {
    let bits = |data: &ripplon::field::FieldData| (0..data.len()).map(|i| data.at(i).re.to_bits()).collect();
    state
        .arrays
        .iter()
        .map(|(name, data)| (name.clone(), bits(data)))
        .collect()
}

/// One call with n steps is n calls with one; a saved state goes on as if nothing had happened. With everything that holds a memory.
#[test]
fn batches_and_saved_states_are_exact_to_the_bit() {
    for precision in ["single", "double"] {
        for (order, rank) in [(2, 2), (8, 2), (4, 3), (2, 1)] {
            let solver = format!("precision = \"{precision}\"\norder = {order}");
            let text = match rank {
                1 => sections(&[900], "\"absorb\"", 0.4, &solver),
                2 => sections(&[200, 130], "\"absorb\"", 0.3, &solver) + OBSTACLES + SOURCE,
                _ => sections(&[32, 33, 34], "\"absorb\"", 0.3, &solver),
            };
            let scenario = scene(&text);
            let (mut one, mut many) = (build(&scenario), build(&scenario));
            let request = ImageRequest::new(Quantity::Peak, [0..20, 0..1], 0, [20, 1]);
            for solver in [&mut one, &mut many] {
                solver.image(&request, &mut FieldImage::default()).unwrap();
            }
            advance(one.as_mut(), 60);
            (0..60).for_each(|_| advance(many.as_mut(), 1));
            let (saved, other) = (one.save().unwrap(), many.save().unwrap());
            assert_eq!(saved.clock, other.clock);
            assert_eq!(
                state_bits(&saved),
                state_bits(&other),
                "{precision}, order {order}, {rank}D"
            );
            let mut resumed = build(&scenario);
            resumed.load(&saved).unwrap();
            advance(one.as_mut(), 40);
            advance(resumed.as_mut(), 40);
            assert_eq!(state_bits(&one.save().unwrap()), state_bits(&resumed.save().unwrap()));
        }
    }
}

/// A state moves on into another precision and order with its motion, not only its pressure.
#[test]
fn a_state_moves_into_another_precision_and_order() {
    let text = |solver: &str| sections(&[60, 50], "\"periodic\"", 0.3, solver);
    let mut double = build(&scene(&text("precision = \"double\"\norder = 4")));
    let mut single = build(&scene(&text("precision = \"single\"\norder = 8")));
    let kappa = 2.0 * PI * 2.0 / 60.0;
    let mode: Vec<f64> = (0..3000).map(|n| (kappa * f64::from(n % 60)).cos()).collect();
    start(double.as_mut(), &mode);
    advance(double.as_mut(), 30);
    single.load(&double.save().unwrap()).unwrap();
    advance(double.as_mut(), 30);
    advance(single.as_mut(), 30);
    let error = largest_difference(&values(double.as_mut()), &values(single.as_mut()));
    // Order 4 at 30 points a wavelength: κ⁴/90 = 2e-5 of a phase of 60 · 0.3 · κ = 3.8 at most.
    let lost = largest_difference(&values(double.as_mut()), &mode);
    assert!(error < 1e-4 && lost > 0.1, "{error:e}");
}

#[test]
fn single_precision_follows_double() {
    for order in ORDERS {
        let text = |precision: &str| {
            sections(
                &[60, 50],
                "\"wall\"",
                0.3,
                &format!("precision = \"{precision}\"\norder = {order}"),
            ) + OBSTACLES
        };
        let (mut single, mut double) = (build(&scene(&text("single"))), build(&scene(&text("double"))));
        let steps = 200;
        advance(single.as_mut(), steps);
        advance(double.as_mut(), steps);
        let error = largest_difference(&values(single.as_mut()), &values(double.as_mut()));
        // One rounding of 2⁻²⁴ of |p| < 1 a step, and as much in λ²; leapfrog integrates them twice, as a random walk:
        // 6e-8 · 200^1.5/√3 = 1e-4.
        assert!(error < 1e-4 && error > 0.0, "order {order}: {error:e}");
    }
}

/// Blocks, threads and rows near their borders: a grid cut into many blocks gives what its transpose gives.
#[test]
fn a_transposed_scene_gives_the_transposed_field() {
    let (nx, ny, nz) = (40, 36, 44);
    let solver = "precision = \"double\"\norder = 6";
    let mut one = build(&scene(&sections(
        &[nx, ny, nz],
        "[\"wall\", \"soft\", \"periodic\"]",
        0.3,
        solver,
    )));
    let mut two = build(&scene(&sections(
        &[nz, nx, ny],
        "[\"periodic\", \"wall\", \"soft\"]",
        0.3,
        solver,
    )));
    let pressure = noise(nx * ny * nz, 2);
    let turned = |p: &[f64]| {
        let mut out = vec![0.0; p.len()];
        for (n, value) in p.iter().enumerate() {
            let (i, j, k) = (n % nx, n / nx % ny, n / (nx * ny));
            out[k + nz * (i + nx * j)] = *value;
        }
        out
    };
    start(one.as_mut(), &pressure);
    start(two.as_mut(), &turned(&pressure));
    advance(one.as_mut(), 50);
    advance(two.as_mut(), 50);
    let error = largest_difference(&turned(&values(one.as_mut())), &values(two.as_mut()));
    assert!(error < 1e-12, "{error:e}");
}

/// Pictures: pressure as a mean over a texel, the peak as the largest, energy that adds up.
#[test]
fn pictures_show_pressure_energy_and_peak() {
    let scenario = scene(&sections(&[40, 30], "\"wall\"", 0.3, "precision = \"double\""));
    let mut solver = build(&scenario);
    let mut image = FieldImage::default();
    let mut picture = |solver: &mut dyn Solver, quantity| {
        let request = ImageRequest::new(quantity, [0..40, 0..30], 0, [20, 15]);
        solver.image(&request, &mut image).unwrap();
        image.value.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>()
    };
    picture(solver.as_mut(), Quantity::Peak);
    advance(solver.as_mut(), 30);
    let p = values(solver.as_mut());
    let shown = picture(solver.as_mut(), Quantity::Pressure);
    let mean = (p[2 + 40 * 4] + p[3 + 40 * 4] + p[2 + 40 * 5] + p[3 + 40 * 5]) / 4.0;
    assert!((shown[1 + 20 * 2] - mean).abs() < 1e-7);
    let energy: f64 = picture(solver.as_mut(), Quantity::Energy).iter().sum::<f64>() * 4.0 * SPACING * SPACING;
    assert!((energy / solver.observables().unwrap().energy - 1.0).abs() < 1e-5);
    let peak = picture(solver.as_mut(), Quantity::Peak);
    // The pulse's own top at t = 0 is nowhere exceeded.
    assert!(peak.iter().all(|v| *v >= 0.0) && (peak[0] - 1.0).abs() < 0.5);
    let request = ImageRequest::new(Quantity::Density, [0..40, 0..30], 0, [20, 15]);
    assert!(
        solver.image(&request, &mut image).is_err(),
        "density is not a quantity of sound"
    );
}

/// A wall painted into a run: the wave inside it is gone, and outside it goes on.
#[test]
fn walls_can_be_painted_during_a_run() {
    let text = sections(&[40, 30], "\"wall\"", 0.3, "precision = \"single\"\norder = 4");
    let mut solver = build(&scene(&text));
    advance(solver.as_mut(), 40);
    let painted = scene(&(text + OBSTACLES));
    solver.edit(&painted, &Edit::Medium).unwrap();
    let inside = 16 + 40 * 12;
    assert_eq!(values(solver.as_mut())[inside], 0.0);
    solver.advance(400, &mut Taps::default()).unwrap();
    let p = values(solver.as_mut());
    assert_eq!(p[inside], 0.0);
    assert!(p.iter().any(|p| p.abs() > 1e-3) && p.iter().all(|p| p.abs() < 10.0));
}
