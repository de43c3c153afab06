//! Scenes that are edited while they run.

use super::{engine, largest_difference, scene};
use ripplon::engine::{Change, Engine};
use ripplon::field::FieldData;

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
    // And t = 0.
    assert_eq!(run.taps().times().len(), 11);
    run.update(scene(&["detector.1.at=[10.0, 8.0]"])).unwrap();
    assert_eq!(run.taps().times().len(), 0);
    assert_eq!(run.clock().steps, 10);
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
