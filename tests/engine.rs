//! The engine without a thread: batches, predictions, live edits, snapshots, checkpoints.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use proptest::prelude::*;
use ripplon::engine::{Change, Checkpoint, CheckpointError, Engine, EngineError, Verdict};
use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{FieldImage, ImageRequest, read_scene_text};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, OnceLock};

#[path = "engine/worker.rs"]
mod worker;

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
    // The step nearest to 0.733 is 37 (t = 0.74): the 37th record.
    let record = run.taps().values(0)[36];
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
fn an_edited_scene_goes_on_or_starts_anew() {
    let mut run = engine(&[]);
    run.advance(20).unwrap();
    let field = run.field().unwrap();
    let same = |run: &mut Engine, change: Change, expected: Change| {
        assert_eq!(change, expected);
        assert_eq!(run.clock().steps, 20, "{expected:?}");
        // What is carried over is the closed field: closing the half step of the potential costs one complex product.
        let rounding = 4.0 * f64::from(f32::EPSILON) * 0.3;
        assert!(
            largest_difference(&run.field().unwrap(), &field) <= rounding,
            "{expected:?}"
        );
    };

    let change = run.update(scene(&["title=Other", "view.quantity=phase"])).unwrap();
    same(&mut run, change, Change::Kept);
    assert_eq!(run.scenario().title(), "Other");

    let change = run.update(scene(&["time.step=0.01"])).unwrap();
    same(&mut run, change, Change::Edited);
    assert_eq!(run.clock().time_step.to_bits(), 0.01f64.to_bits());

    let change = run.update(scene(&["time.step=0.01", "layer.0.value=3.0"])).unwrap();
    same(&mut run, change, Change::Edited);

    let change = run.update(scene(&["time.step=0.01", "solver.order=4"])).unwrap();
    same(&mut run, change, Change::Rebuilt);
    assert_eq!(run.report().order, 4);
    assert!((run.clock().time - 0.4).abs() < 1e-12);

    let change = run
        .update(scene(&["time.step=0.01", "solver.precision=double"]))
        .unwrap();
    same(&mut run, change, Change::Rebuilt);
    assert!(matches!(run.field().unwrap(), FieldData::Complex128(_)));

    let change = run
        .update(scene(&[
            "time.step=0.01",
            "solver.method=split-step-fourier",
            "solver.variant=auto",
        ]))
        .unwrap();
    same(&mut run, change, Change::Rebuilt);

    assert_eq!(
        run.update(scene(&["packet.0.momentum=[1.0, 0.0]"])).unwrap(),
        Change::Restarted
    );
    assert_eq!(run.clock().steps, 0);
    run.advance(3).unwrap();
    assert_eq!(run.update(scene(&["grid.size=[64, 32]"])).unwrap(), Change::Restarted);
    assert_eq!(run.clock().steps, 0);
    assert_eq!(run.field().unwrap().len(), 64 * 32);
}

#[test]
fn an_edited_medium_acts_from_the_next_step() {
    let mut untouched = engine(&[]);
    untouched.advance(40).unwrap();
    let mut edited = engine(&[]);
    edited.advance(20).unwrap();
    edited.update(scene(&["layer.0.value=3.0"])).unwrap();
    edited.advance(20).unwrap();
    assert!(
        largest_difference(&untouched.field().unwrap(), &edited.field().unwrap()) > 1e-3,
        "the edit did nothing"
    );
    // Taken back before the next step, it leaves nothing behind but two closed half steps.
    let mut back = engine(&[]);
    back.advance(20).unwrap();
    back.update(scene(&["layer.0.value=3.0"])).unwrap();
    back.update(scene(&[])).unwrap();
    back.advance(20).unwrap();
    // Rounding of 1e-7 · 0.3 in a unitary evolution stays as large as it is, in the worst case times √sites.
    let rounding = 8.0 * f64::from(f32::EPSILON) * 0.3 * (48.0f64 * 32.0).sqrt();
    assert!(largest_difference(&untouched.field().unwrap(), &back.field().unwrap()) <= rounding);
}

#[test]
fn an_edit_keeps_the_direction_of_time() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    run.reverse().unwrap();
    assert_eq!(run.update(scene(&["time.step=0.01"])).unwrap(), Change::Edited);
    assert_eq!(run.clock().time_step.to_bits(), (-0.01f64).to_bits());
    assert_eq!(
        run.update(scene(&["time.step=0.01", "solver.order=4"])).unwrap(),
        Change::Rebuilt
    );
    assert_eq!(run.clock().time_step.to_bits(), (-0.01f64).to_bits());
}

#[test]
fn other_detectors_begin_with_empty_records() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    assert_eq!(run.taps().times().len(), 10);
    run.update(scene(&["detector.1.at=[10.0, 8.0]"])).unwrap();
    assert_eq!(run.taps().times().len(), 0);
    assert_eq!(run.clock().steps, 10);
}

#[test]
fn records_are_limited_by_halving() {
    let mut run = engine(&[]);
    run.advance(21).unwrap();
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
fn a_snapshot_outlives_another_solver_and_a_reset() {
    let mut run = engine(&[]);
    run.advance(13).unwrap();
    let field = run.field().unwrap();
    run.snapshot().unwrap();
    run.advance(10).unwrap();
    run.update(scene(&["solver.method=split-step-fourier", "solver.variant=auto"]))
        .unwrap();
    assert_eq!(run.clock().steps, 23);
    run.reset().unwrap();
    assert_eq!(run.clock().steps, 0);
    run.restore().unwrap();
    assert_eq!(run.clock().steps, 13);
    // Closed once: one complex product in single precision, |ψ| < 0.3.
    assert!(largest_difference(&field, &run.field().unwrap()) <= 4.0 * f64::from(f32::EPSILON) * 0.3);
}

#[test]
fn a_picture_shows_the_field() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    let field = run.field().unwrap();
    let request = ImageRequest {
        quantity: ripplon::scene::scenario::Quantity::Density,
        x: 0..48,
        y: 0..32,
        z: 0,
        max_size: [48, 32],
    };
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

/// A run of 50 steps with a checkpoint after 21, written to `path`.
fn checkpointed(overrides: &[&str], path: &Path) -> Engine {
    let mut run = engine(overrides);
    run.keep_observables(5).unwrap();
    run.advance(21).unwrap();
    run.save_checkpoint(path).unwrap();
    run.advance(29).unwrap();
    run
}

#[test]
fn a_resumed_run_is_the_uninterrupted_one_bit_by_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    for overrides in RUNS {
        let mut whole = checkpointed(overrides, &path);
        let (mut resumed, remarks) = Engine::resume(scene(overrides), &path).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
        assert_eq!(resumed.clock().steps, 21);
        resumed.advance(29).unwrap();
        assert!(
            same_bits(&whole.field().unwrap(), &resumed.field().unwrap()),
            "{overrides:?}"
        );
        assert_eq!(whole.clock(), resumed.clock());
        assert_eq!(whole.taps(), resumed.taps());
        assert_eq!(whole.log(), resumed.log());
        assert_eq!(whole.log().unwrap().rows.len(), 11);
        assert_eq!(whole.verdicts(), resumed.verdicts());
        assert_eq!(whole.drift().to_bits(), resumed.drift().to_bits());
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    checkpointed(&[], &path);
    let refused = |overrides: &[&str]| match Engine::resume(scene(overrides), &path) {
        Err(EngineError::Checkpoint(CheckpointError::Mismatch { what, .. })) => what,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{overrides:?} was taken"),
    };
    let what = refused(&["grid.size=[64, 32]"]);
    assert!(what.contains("48 × 32") && what.contains("64 × 32"), "{what}");
    assert!(refused(&["grid.spacing=0.4"]).contains("[grid]"));
    assert!(refused(&["packet.0.momentum=[0.0, 0.0]"]).contains("initial state"));
}

#[test]
fn what_differs_from_a_checkpoint_acts_from_there_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    let mut live = engine(&[]);
    live.keep_observables(5).unwrap();
    live.advance(21).unwrap();
    live.save_checkpoint(&path).unwrap();
    for (overrides, remark) in [
        (&["layer.0.value=2.0"][..], "[layer]"),
        (&["time.step=0.01"], "time.step"),
        (&["solver.precision=double"], "[solver]"),
        (&["detector.1.name=other"], "[detector]"),
    ] {
        let (mut resumed, remarks) = Engine::resume(scene(overrides), &path).unwrap();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(remarks[0].ends_with(remark), "{remarks:?}");
        // The same as editing the running scene, bit by bit.
        let (mut edited, _) = Engine::resume(scene(&[]), &path).unwrap();
        edited.update(scene(overrides)).unwrap();
        resumed.advance(9).unwrap();
        edited.advance(9).unwrap();
        assert!(
            same_bits(&resumed.field().unwrap(), &edited.field().unwrap()),
            "{overrides:?}"
        );
        assert_eq!(resumed.taps(), edited.taps());
    }
    let (_, remarks) = Engine::resume(scene(&["time.end=5.0", "view.quantity=phase", "title=Longer"]), &path).unwrap();
    assert!(remarks.is_empty(), "{remarks:?}");
}

#[test]
fn a_file_that_is_no_checkpoint_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.ripplon");
    assert!(matches!(Checkpoint::read(&path), Err(CheckpointError::Read { .. })));
    for content in [
        &b""[..],
        b"RIPPLON",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<c8', 'fortran_order': False",
        &[0; 4096],
    ] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(Checkpoint::read(&path), Err(CheckpointError::Foreign { .. })));
    }
    let mut newer = good_checkpoint().to_vec();
    newer[16] = 2;
    std::fs::write(&path, newer).unwrap();
    assert!(matches!(
        Checkpoint::read(&path),
        Err(CheckpointError::Version { found: 2, .. })
    ));
}

#[test]
fn a_checkpoint_that_cannot_be_written_leaves_the_last_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut run = engine(&[]);
    let error = run.save_checkpoint(&dir.path().join("no/such/directory")).unwrap_err();
    assert!(
        matches!(error, EngineError::Checkpoint(CheckpointError::Write { .. })),
        "{error}"
    );
    assert!(!error.is_input());
    let path = dir.path().join("run.ripplon");
    run.save_checkpoint(&path).unwrap();
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["run.ripplon"], "nothing else is left behind");
}

/// The bytes of a sound checkpoint.
fn good_checkpoint() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.ripplon");
        checkpointed(
            &[
                "grid.size=[48]",
                "packet.0.center=[8.0]",
                "packet.0.width=[2.0]",
                "packet.0.momentum=[1.5]",
                "layer.0.min=[12.0]",
                "layer.0.max=[13.0]",
                "detector.0.region={ min = [13.5], max = [20.0] }",
                "detector.1.at=[12.0]",
            ],
            &path,
        );
        std::fs::read(&path).unwrap()
    })
}

fn read_bytes(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    Checkpoint::read(file.path())
}

#[test]
fn a_sound_checkpoint_is_read() {
    let checkpoint = read_bytes(good_checkpoint()).unwrap();
    assert_eq!(checkpoint.state.clock.steps, 21);
    assert_eq!(checkpoint.records.len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A CRC-32 finds every burst of up to 32 bits, so a changed byte never passes, wherever it is.
    #[test]
    fn a_changed_byte_is_found(place in any::<prop::sample::Index>(), by in 1u8..=255) {
        let mut bytes = good_checkpoint().to_vec();
        let place = place.index(bytes.len());
        bytes[place] ^= by;
        prop_assert!(read_bytes(&bytes).is_err());
    }

    #[test]
    fn a_cut_is_found(place in any::<prop::sample::Index>()) {
        let bytes = good_checkpoint();
        prop_assert!(read_bytes(&bytes[..place.index(bytes.len())]).is_err());
    }

    #[test]
    fn more_bytes_are_found(place in any::<prop::sample::Index>(), more in prop::collection::vec(any::<u8>(), 1..40)) {
        let mut bytes = good_checkpoint().to_vec();
        let place = place.index(bytes.len() + 1);
        bytes.splice(place..place, more);
        prop_assert!(read_bytes(&bytes).is_err());
    }

    /// Digits of the header changed into others keep it valid JSON: lengths and counts that lie must not be believed.
    #[test]
    fn a_lying_header_is_found(place in any::<prop::sample::Index>(), digit in b'0'..=b'9') {
        let mut bytes = good_checkpoint().to_vec();
        let header = u32::from_le_bytes(bytes[20..24].try_into().unwrap()) as usize;
        let digits: Vec<usize> = (24..24 + header).filter(|&n| bytes[n].is_ascii_digit()).collect();
        let place = digits[place.index(digits.len())];
        prop_assume!(bytes[place] != digit);
        bytes[place] = digit;
        prop_assert!(read_bytes(&bytes).is_err());
    }
}
