//! The engine without a thread: batches, predictions, live edits, snapshots, checkpoints.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod accepted;
mod carried;
mod checkpoints;
mod edits;
mod means;
mod sweeps;
mod without_thread;
mod worker;

use ripplon::engine::{Engine, EngineError, Verdict};
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{FieldImage, ImageRequest, read_scene_text};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A packet that runs into a barrier, seen by two detectors; small enough for a debug build.
const SCENE: &str = r#"
format = 1
title = "Test"
[grid]
size = [48, 32]
spacing = 0.5
[quantum]
mass = 1.0
[time]
step = 0.02
end = 1.0
[solver]
method = "trotter"
variant = "naive"
precision = "single"
[[packet]]
center = [8.0, 8.0]
width = [2.0, 2.0]
momentum = [1.5, 0.3]
[[layer]]
sets = "potential"
shape = "box"
min = [12.0, 0.0]
max = [13.0, 16.0]
value = 1.5
[[detector]]
name = "right"
region = { min = [13.5, 0.0], max = [24.0, 16.0] }
measure = "probability"
[[detector]]
name = "point"
at = [12.0, 8.0]
measure = "value"
[[expect]]
observable = "norm"
at = 0.5
value = 1.0
tolerance = 1e-4
because = "Every step is unitary."
[[expect]]
detector = "right"
at = 0.733
value = 0.9
tolerance = 0.01
because = "A prediction that is wrong on purpose."
"#;

fn scene(overrides: &[&str]) -> Arc<Scenario> {
    scene_from(SCENE, overrides)
}

fn scene_from(text: &str, overrides: &[&str]) -> Arc<Scenario> {
    let overrides: Vec<String> = overrides.iter().map(|&s| s.to_owned()).collect();
    match read_scene_text(text, None, &overrides) {
        Ok((_, scenario)) => Arc::new(scenario),
        Err(faults) => panic!("{}", faults.render(false)),
    }
}

fn engine(overrides: &[&str]) -> Engine {
    Engine::new(scene(overrides)).unwrap()
}

/// Every method and precision whose runs must not depend on how they are cut.
const RUNS: &[&[&str]] = &[
    &["solver.precision=single", "solver.order=1"],
    &["solver.precision=single", "solver.order=2"],
    &["solver.precision=single", "solver.order=4"],
    &["solver.precision=double", "solver.order=2"],
    &["solver.precision=double", "solver.order=4"],
    &["solver.variant=blocked", "solver.precision=single"],
    &[
        "solver.variant=blocked",
        "solver.precision=double",
        "solver.fused_steps=3",
    ],
    &["solver.variant=blocked", "solver.order=4", "solver.fused_steps=2"],
    &["solver.variant=vector", "solver.precision=single", "solver.order=1"],
    &["solver.variant=vector", "solver.precision=double", "solver.order=2"],
    &["solver.variant=vector", "solver.precision=single", "solver.order=4"],
    &[
        "solver.method=split-step-fourier",
        "solver.variant=auto",
        "solver.precision=single",
    ],
    &[
        "solver.method=split-step-fourier",
        "solver.variant=auto",
        "solver.precision=double",
    ],
    &[
        "solver.method=crank-nicolson",
        "solver.variant=auto",
        "solver.precision=single",
    ],
    &[
        "solver.method=chebyshev",
        "solver.variant=auto",
        "solver.precision=single",
    ],
    &[
        "solver.method=chebyshev",
        "solver.variant=auto",
        "solver.precision=double",
    ],
];

/// Bit-wise, so that NaN equals itself and 0 differs from −0. A failure does not print thousands of numbers.
fn same_bits(a: &FieldData, b: &FieldData) -> bool {
    let bits = |field: &FieldData| -> Vec<(u64, u64)> {
        let sites = field.to_complex128();
        sites.iter().map(|z| (z.re.to_bits(), z.im.to_bits())).collect()
    };
    bits(a) == bits(b)
}

fn largest_difference(a: &FieldData, b: &FieldData) -> f64 {
    let pairs = a.to_complex128().into_iter().zip(b.to_complex128());
    pairs.map(|(x, y)| (x - y).norm()).fold(0.0, f64::max)
}

#[test]
fn the_cut_into_batches_changes_nothing() {
    for overrides in RUNS {
        let mut whole = engine(overrides);
        whole.advance(50).unwrap();
        for cut in [1, 7] {
            let mut pieces = engine(overrides);
            let mut left = 50;
            while left > 0 {
                let n = left.min(cut);
                pieces.advance(n).unwrap();
                left -= n;
            }
            assert!(
                same_bits(&whole.field().unwrap(), &pieces.field().unwrap()),
                "{overrides:?}"
            );
            assert_eq!(whole.taps(), pieces.taps(), "{overrides:?}");
            assert_eq!(whole.verdicts(), pieces.verdicts(), "{overrides:?}");
            assert_eq!(whole.clock(), pieces.clock(), "{overrides:?}");
        }
    }
}

#[test]
fn expectations_are_measured_at_their_steps() {
    let mut run = engine(&[]);
    assert_eq!(run.verdicts(), [Verdict::Pending; 2]);
    let end = run.run_until(1.0, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!((end.steps, end.reached), (50, true));
    // The norm at t = 0.5, step 25: measured apart.
    let mut apart = engine(&[]);
    apart.advance(25).unwrap();
    assert_eq!(run.verdicts()[0], Verdict::Right(apart.observables().unwrap().norm));
    // The step nearest to 0.733 is 37 (t = 0.74): the 37th record after that of t = 0.
    let record = run.taps().values(0)[37];
    assert_eq!(run.verdicts()[1], Verdict::Wrong(record));
}

#[test]
fn a_run_can_be_stopped_between_batches() {
    let mut run = engine(&[]);
    let mut calls = 0;
    let end = run
        .run_steps(1000, &mut |engine, progress| {
            calls += 1;
            assert_eq!(engine.clock().steps, progress.done);
            ControlFlow::Break(())
        })
        .unwrap();
    assert!(!end.reached && end.steps < 1000 && calls == 1);
    assert_eq!(run.clock().steps, end.steps);
}

#[test]
fn an_end_that_lies_behind_is_refused() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    let error = run.run_until(0.1, &mut |_, _| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, EngineError::Behind { .. }), "{error}");
    // Backwards it lies ahead.
    run.reverse().unwrap();
    let end = run.run_until(0.1, &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert_eq!(end.steps, 5);
}

/// A detector that records every tenth step is judged by what it would record at the 25th, and by its last record no more: that is what it records there at every step.
#[test]
fn a_prediction_does_not_wait_for_a_record() {
    let quantum = "[quantum]\n[solver]\nmethod = \"trotter\"\nprecision = \"double\"\n[[packet]]\ncenter = [20.0]\nwidth = 2.0\nmomentum = [1.0]\n";
    let sound = "[acoustic]\nspeed = 1.0\n[solver]\nmethod = \"fdtd\"\nprecision = \"double\"\n[[pulse]]\ncenter = [20.0]\nwidth = 3.0\n";
    let region = "region = { min = [21.0], max = [40.0] }";
    for (head, measures) in [
        (quantum, &["value", "probability", "flux"][..]),
        (sound, &["value", "pressure", "energy", "flux"]),
    ] {
        let measured = |every: u32| {
            let mut text =
                format!("format = 1\n[grid]\nsize = [96]\nspacing = 0.5\n[time]\nstep = 0.1\nend = 4.0\n{head}");
            for measure in measures {
                let place = if ["value", "flux"].contains(measure) {
                    "at = 22.0"
                } else {
                    region
                };
                text += &format!(
                    "[[detector]]\nname = \"{measure}\"\nmeasure = \"{measure}\"\n{place}\nevery = {every}\n\
                     [[expect]]\ndetector = \"{measure}\"\nat = 2.5\nvalue = 0.0\ntolerance = 1e-9\n"
                );
            }
            let mut run = Engine::new(scene_from(&text, &[])).unwrap();
            run.advance(27).unwrap();
            let values = run.verdicts().iter().map(|verdict| verdict.measured().unwrap());
            (values.collect::<Vec<f64>>(), run.taps().latest(0).unwrap())
        };
        let ((always, _), (seldom, last)) = (measured(1), measured(10));
        for (n, measure) in measures.iter().enumerate() {
            let apart = (always[n] - seldom[n]).abs();
            assert!(
                apart <= 1e-12 * always[n].abs(),
                "{measure}: {} and {}",
                always[n],
                seldom[n]
            );
        }
        assert!(
            (always[0] - last).abs() > 1e-3 * last.abs(),
            "the last record is another"
        );
    }
}

#[test]
fn time_turned_round_comes_back_to_the_start() {
    for overrides in RUNS {
        // A step of order 1 with −Δt takes its sweeps in the same order and so is not the inverse of one with Δt.
        if overrides.contains(&"solver.order=1") {
            continue;
        }
        let mut run = engine(overrides);
        let start = run.field().unwrap();
        run.advance(40).unwrap();
        assert!(
            largest_difference(&start, &run.field().unwrap()) > 0.01,
            "{overrides:?}: nothing moved"
        );
        run.reverse().unwrap();
        run.advance(40).unwrap();
        // 80 steps of at most 100 rounded operations a site, each off by at most half an epsilon of |ψ| < 0.3, adding up in
        // the worst case.
        let epsilon = if overrides.contains(&"solver.precision=double") {
            f64::EPSILON
        } else {
            f64::from(f32::EPSILON)
        };
        let tolerance = 80.0 * 100.0 * 0.3 * epsilon / 2.0;
        let difference = largest_difference(&start, &run.field().unwrap());
        assert!(difference < tolerance, "{overrides:?}: {difference:e} > {tolerance:e}");
        // t = 40·0.02 − 40·0.02, each product rounded once.
        assert!(
            run.clock().time.abs() < 1e-12,
            "{overrides:?}: t = {}",
            run.clock().time
        );
        assert_eq!(run.clock().steps, 80);
    }
}

#[test]
fn records_are_limited_by_halving() {
    let mut run = engine(&[]);
    // With that of t = 0 there are 21.
    run.advance(20).unwrap();
    let all = run.taps().clone();
    run.limit_records(21);
    assert_eq!(run.taps(), &all, "at the limit nothing is lost");
    run.limit_records(20);
    let odd = |values: &[f64]| values.iter().copied().step_by(2).collect::<Vec<f64>>();
    assert_eq!(run.taps().times(), odd(all.times()));
    assert_eq!(run.taps().values(1), odd(all.values(1)));
    assert_eq!(run.taps().times().last(), all.times().last());
}

#[test]
fn a_snapshot_is_gone_back_to_bit_by_bit() {
    for overrides in RUNS {
        let mut run = engine(overrides);
        assert!(matches!(run.restore(), Err(EngineError::NoSnapshot)));
        run.advance(13).unwrap();
        run.snapshot().unwrap();
        run.advance(29).unwrap();
        let (field, taps, verdicts) = (run.field().unwrap(), run.taps().clone(), run.verdicts().to_vec());
        run.restore().unwrap();
        assert_eq!(run.clock().steps, 13);
        run.advance(29).unwrap();
        assert!(same_bits(&field, &run.field().unwrap()), "{overrides:?}");
        assert_eq!((&taps, verdicts.as_slice()), (run.taps(), run.verdicts()));
    }
}

#[test]
fn a_picture_shows_the_field() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    let field = run.field().unwrap();
    let request = ImageRequest::new(ripplon::scene::scenario::Quantity::Density, [0..48, 0..32], 0, [48, 32]);
    let mut image = FieldImage::default();
    run.image(&request, &mut image).unwrap();
    assert_eq!(image.size, [48, 32]);
    for (index, value) in image.value.iter().enumerate() {
        // Squares and a sum of two in single precision: three roundings.
        let exact = field.at(index).norm_sqr();
        assert!(
            (f64::from(*value) - exact).abs() <= 3.0 * f64::from(f32::EPSILON) * exact,
            "site {index}"
        );
    }
}

#[test]
fn an_estimate_says_memory_and_steps() {
    let estimate = Engine::estimate(&scene(&[]), None).unwrap();
    assert_eq!(estimate.steps, Some(50));
    assert!(estimate.memory >= 48 * 32 * 8, "at least one field");
    assert!(estimate.measured.is_none());
    let probed = Engine::estimate(&scene(&[]), Some(std::time::Duration::from_millis(20))).unwrap();
    let (rate, report) = probed.measured.unwrap();
    assert!(rate > 0.0 && report.method == "trotter");
}
