//! Packets in a chain: plain mirrors, inverse filters, noise, thickness.

use super::{chain, close, engine, points, reached, there_and_back};
use ripplon::engine::Phase;
use ripplon::field::Precision;
use ripplon::solver::Backend;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

#[test]
fn an_inverse_filter_is_exact_where_a_plain_mirror_is_not() {
    use std::f64::consts::FRAC_PI_2;
    let pair = points(&[100.0, 101.0]);
    let run = |center, width, momentum, bumps: &[(f64, f64)], at, method: &str, sites: &str| {
        let text = chain(
            center,
            width,
            momentum,
            bumps,
            at,
            &format!("method = \"{method}\"\n{sites}"),
        );
        there_and_back(&mut engine(&text))
    };
    // What is left inside when recording stops bounds what the inverse filter leaves: 1e-12 and 1e-11 here, from the packet's tails.
    let found = run(50.0, 5.0, FRAC_PI_2, &[], 400.0, "inverse-filter", &pair);
    assert!(found.residual < 1e-11 && found.error < 1e-11, "{found:?}");
    close(
        run(50.0, 5.0, FRAC_PI_2, &[], 400.0, "reversal", &pair).scaled_error,
        6.9e-3,
        "plain, k = π/2",
    );
    let found = run(50.0, 5.0, 1.0, &[], 900.0, "inverse-filter", &pair);
    assert!(found.residual < 2e-11 && found.error < 2e-11, "{found:?}");
    let found = run(50.0, 5.0, 1.0, &[], 900.0, "reversal", &pair);
    close(found.scaled_error, 6.56e-2, "plain, k = 1");
    assert!((found.fidelity - 0.995702).abs() < 5e-4, "{found:?}");
    let found = run(50.0, 5.0, FRAC_PI_2, &[(90.0, 1.0)], 1500.0, "inverse-filter", &pair);
    close(found.error, 4.24e-7, "reverberant");
    let leaky = [(90.0, 2.0)];
    let found = run(50.0, 3.0, 1.2, &leaky, 1800.0, "inverse-filter", &pair);
    close(found.residual, 1.2e-2, "residual of a leaky cavity");
    close(found.error, 7.62e-3, "leaky cavity");
    close(
        run(50.0, 3.0, 1.2, &leaky, 1800.0, "reversal", &pair).scaled_error,
        7.18e-2,
        "plain, leaky cavity",
    );
    let both = points(&[1498.0, 1499.0, 1600.0, 1601.0]);
    let bumps = [(1510.0, 1.5), (1590.0, 1.5)];
    close(
        run(1550.0, 3.0, 1.2, &bumps, 1200.0, "inverse-filter", &both).error,
        5.8e-4,
        "two sides",
    );
    close(
        run(1550.0, 3.0, 1.2, &bumps, 1200.0, "reversal", &both).scaled_error,
        7.26e-2,
        "plain, two sides",
    );
}

#[test]
fn a_soft_inverse_filter_plays_what_the_hard_one_does() {
    let pair = points(&[100.0, 101.0]);
    let run = |drive: &str| {
        let mirror = format!("method = \"inverse-filter\"\ndrive = \"{drive}\"\n{pair}");
        let mut engine = engine(&chain(50.0, 5.0, 1.0, &[], 300.0, &mirror));
        there_and_back(&mut engine);
        engine.field().unwrap().to_complex128()
    };
    let apart = run("hard")
        .iter()
        .zip(run("soft"))
        .map(|(a, b)| (a - b).norm_sqr())
        .sum::<f64>()
        .sqrt();
    // What wraps round is e^(−18) = 1.5e-8 of the record's end, where the wave has left.
    assert!(apart < 1e-8, "{apart:e}");
}

#[test]
fn impulse_responses_say_how_far_they_are_and_can_be_broken_off() {
    let mirror = format!(
        "method = \"inverse-filter\"\ndrive = \"soft\"\n{}",
        points(&[100.0, 101.0])
    );
    let text = chain(50.0, 5.0, 1.0, &[], 60.0, &mirror);
    let mut whole = engine(&text);
    whole.advance(400).unwrap();
    let mut run = engine(&text);
    // Wants the first task to end at its third look, and the next one to go on.
    let told = Arc::new(Mutex::new(Vec::new()));
    run.set_watch(Box::new({
        let told = Arc::clone(&told);
        move |task, done| {
            let mut told = told.lock().unwrap();
            told.push((task, done));
            if told.len() == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }));
    let end = run.run_steps(400, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(!end.reached);
    let turn = run.mirror().unwrap().turn;
    assert_eq!(
        (end.steps, run.clock().steps),
        (turn, turn),
        "the run stands before its turn"
    );
    assert_eq!(run.mirror().unwrap().phase, Phase::Record);
    assert!(run.failure().is_none());
    run.advance(400 - turn).unwrap();
    assert_eq!(run.field().unwrap(), whole.field().unwrap());
    let told = told.lock().unwrap();
    assert!(told.iter().any(|(task, _)| *task == "solving for the signal"));
    assert!(
        told[3..]
            .windows(2)
            .all(|pair| pair[0].0 != pair[1].0 || pair[0].1 <= pair[1].1)
    );
    assert!(told.iter().all(|(_, done)| (0.0..=1.0).contains(done)));
}

/// λ weighs the error of the signal against its size: G is of order 1 here, so λ = 1e-3 leaves about as much, and the smaller λ the less.
#[test]
fn a_regularised_filter_is_nearly_right() {
    let error = |regularization: f64| {
        let mirror = format!(
            "method = \"inverse-filter\"\ndrive = \"soft\"\nregularization = {regularization:?}\n{}",
            points(&[100.0, 101.0])
        );
        there_and_back(&mut engine(&chain(50.0, 5.0, 1.0, &[], 300.0, &mirror))).error
    };
    let (rough, fine, exact) = (error(1e-3), error(1e-5), error(0.0));
    assert!(
        rough < 1e-2 && fine < rough / 10.0 && exact < fine,
        "{rough:e} {fine:e} {exact:e}"
    );
}

/// Noise of half the wave's rms on the turned field keeps its size and its distance: the fidelity is 1/(1 + ν²). On a record only what the
/// mirror sends back into the line counts.
#[test]
fn noise_costs_fidelity() {
    let run = |method: &str| {
        let mirror = format!("method = \"{method}\"\nnoise = 0.5\n{}", points(&[100.0, 101.0]));
        there_and_back(&mut engine(&chain(50.0, 5.0, 1.0, &[], 150.0, &mirror)))
    };
    // 4000 complex numbers: 3 % of ν² = 0.25, and as much for the overlap.
    let found = run("echo");
    assert!((found.fidelity - 0.8).abs() < 0.02, "{found:?}");
    let found = run("reversal");
    assert!((0.05..0.99).contains(&found.fidelity), "{found:?}");
}

#[test]
fn a_mirror_is_as_thick_as_the_scheme_needs() {
    use std::f64::consts::FRAC_PI_2;
    let run = |sites: &str| {
        let mirror = format!("method = \"inverse-filter\"\n{sites}");
        let mut engine = engine(&chain(50.0, 5.0, FRAC_PI_2, &[], 400.0, &mirror));
        let own = engine.mirror_sites().unwrap();
        let hard: Vec<usize> = own.hard.iter().map(|&place| own.all[place]).collect();
        (hard, there_and_back(&mut engine).error)
    };
    let at = |x: f64| format!("transducers = {{ shape = \"line\", from = [{x:?}], to = [{x:?}], count = 1 }}");
    // The last even bond of a step joins 100 and 101: two sites from an even one on, three from an odd one.
    let (hard, error) = run(&at(100.0));
    assert!(hard == [100, 101] && error < 1e-11, "{hard:?} {error:e}");
    let (hard, error) = run(&at(101.0));
    assert!(hard == [101, 102, 103] && error < 1e-11, "{hard:?} {error:e}");
    close(run(&points(&[101.0, 102.0])).1, 1.6e-2, "two sites from an odd one on");
    close(run(&points(&[100.0])).1, 0.165, "one site");
}

/// A packet of one site holds the whole band: what is slow stays inside, and a plain mirror weighs it by 1/v.
#[test]
fn a_packet_of_the_whole_band_leaves_its_slow_part_inside() {
    let run = |method: &str| {
        let mirror = format!("method = \"{method}\"\n{}", points(&[100.0, 101.0]));
        there_and_back(&mut engine(&chain(50.0, 1.0, 1.0, &[], 1800.0, &mirror)))
    };
    let found = run("inverse-filter");
    close(found.residual, 7.2e-2, "residual of the whole band");
    close(found.error, 7.08e-2, "whole band");
    let found = run("reversal");
    close(found.scaled_error, 0.813, "plain, whole band");
    close(found.fidelity, 0.339, "fidelity of a plain mirror, whole band");
}

/// The same as on the processor, and to rounding, by every variant of a device.
#[test]
fn devices_bring_a_packet_back() {
    for (method, variant, precision) in reached(Backend::Cuda) {
        if method.id != "trotter" || precision == Precision::Single {
            continue;
        }
        let run = |mirror: &str| {
            let mirror = format!("method = \"{mirror}\"\n{}", points(&[100.0, 101.0]));
            let text = chain(50.0, 5.0, std::f64::consts::FRAC_PI_2, &[], 400.0, &mirror)
                .replace("\"cpu\"", "\"cuda\"")
                .replace("\"vector\"", &format!("\"{variant}\""));
            let mut engine = engine(&text);
            assert_eq!(engine.report().backend, Backend::Cuda);
            there_and_back(&mut engine)
        };
        let found = run("inverse-filter");
        assert!(found.residual < 1e-11 && found.error < 1e-11, "{variant}: {found:?}");
        let found = run("inverse-filter\"\ndrive = \"soft");
        assert!(found.error < 1e-8, "{variant}, soft: {found:?}");
        close(run("reversal").scaled_error, 6.9e-3, variant);
    }
}
