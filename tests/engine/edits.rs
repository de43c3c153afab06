//! Scenes that are edited while they run.

use super::{engine, largest_difference, scene, scene_from};
use ripplon::engine::{Change, Engine};
use ripplon::field::FieldData;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{FieldImage, ImageRequest};

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
fn other_detectors_begin_with_the_record_of_now() {
    let mut run = engine(&[]);
    run.advance(10).unwrap();
    // And t = 0.
    assert_eq!(run.taps().times().len(), 11);
    run.update(scene(&["detector.1.at=[10.0, 8.0]"])).unwrap();
    assert_eq!(run.taps().times(), [run.clock().time]);
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

/// A ping in a room of 40 × 30 sites, with a probe that is switched.
const PING: &str = r#"
format = 1
[grid]
size = [40, 30]
spacing = 0.1
edges = "wall"
[acoustic]
speed = 343.0
[time]
step = 1.4e-4
[solver]
method = "fdtd"
backend = "cpu"
[[pulse]]
center = [1.0, 1.1]
width = 0.25
[[detector]]
name = "raw"
at = [2.5, 1.5]
[[detector]]
name = "switched"
at = [2.5, 1.5]
[view]
quantity = "pressure"
"#;

/// In the window another picture is chosen while the scene runs: the run goes on as if nobody had looked, in every variant, and means are of what came since.
#[test]
fn pictures_of_means_are_switched_to_while_it_runs() {
    let sites = 40 * 30;
    for variant in ["stepwise", "tiled"] {
        let own = format!("solver.variant={variant}");
        let mut untouched = Engine::new(scene_from(PING, &[&own])).unwrap();
        untouched.advance(25).unwrap();
        let mut after = Vec::new();
        for _ in 0..30 {
            untouched.advance(1).unwrap();
            after.push(untouched.field().unwrap());
        }
        let mean_square = |site: usize| after.iter().map(|p| p.at(site).re.powi(2)).sum::<f64>() / 30.0;
        let loudest = (0..sites).map(mean_square).fold(0.0, f64::max);
        for quantity in [Quantity::Rms, Quantity::Level, Quantity::Velocity, Quantity::Intensity] {
            let mut run = Engine::new(scene_from(PING, &[&own])).unwrap();
            run.advance(25).unwrap();
            let view = format!("view.quantity={}", quantity.as_str());
            let change = run.update(scene_from(PING, &[&own, &view])).unwrap();
            assert_eq!(change, Change::Kept, "{variant}, {view}");
            let request = ImageRequest::new(quantity, [0..40, 0..30], 0, [40, 30]);
            let mut image = FieldImage::default();
            run.image(&request, &mut image).unwrap();
            run.advance(30).unwrap();
            run.image(&request, &mut image).unwrap();
            assert_eq!(run.field().unwrap(), after[29], "{variant}, {view}");
            assert_eq!(image.value.len(), sites);
            for (site, value) in image.value.iter().enumerate() {
                let (value, square) = (f64::from(*value), mean_square(site));
                match quantity {
                    Quantity::Rms => assert!(
                        (value - square.sqrt()).abs() < 1e-5 * loudest.sqrt(),
                        "site {site}: {value}"
                    ),
                    Quantity::Level => {
                        let level = (10.0 * (square / (20e-6f64).powi(2)).log10()).max(0.0);
                        assert!((value - level).abs() < 0.01, "site {site}: {value} for {level}");
                    }
                    _ => assert!(value.is_finite() && value >= 0.0, "site {site}: {value}"),
                }
            }
            assert!(
                image.value.iter().any(|value| *value > 0.0),
                "{variant}, {view}: nothing is seen"
            );
            // And back, with the same bits.
            assert_eq!(run.update(scene_from(PING, &[&own])).unwrap(), Change::Kept);
            run.advance(5).unwrap();
            let mut on = Engine::new(scene_from(PING, &[&own])).unwrap();
            on.advance(60).unwrap();
            assert_eq!(run.field().unwrap(), on.field().unwrap(), "{variant}, {view}");
        }
    }
}

/// A detector's reading or measure is switched while the scene runs: records begin anew with that of now, and are of what came since.
#[test]
fn readings_are_switched_to_while_it_runs() {
    for variant in ["stepwise", "tiled"] {
        let own = format!("solver.variant={variant}");
        for switch in [
            "detector.1.as=rms",
            "detector.1.as=mean",
            "detector.1.as=level",
            "detector.1.measure=velocity",
        ] {
            let mut run = Engine::new(scene_from(PING, &[&own])).unwrap();
            run.advance(25).unwrap();
            let mut settings = vec![own.as_str(), switch];
            if switch.ends_with("velocity") {
                settings.push("detector.1.direction=[1.0, 0.0]");
            }
            let change = run.update(scene_from(PING, &settings)).unwrap();
            assert!(change < Change::Restarted, "{variant}, {switch}: {change:?}");
            assert_eq!(run.clock().steps, 25);
            run.advance(30).unwrap();
            let [raw, switched] = [0, 1].map(|detector| run.taps().values(detector).to_vec());
            assert_eq!((raw.len(), switched.len()), (31, 31), "{variant}, {switch}");
            // By the trapezoidal rule, as means without a time constant are taken.
            let mean = |of: fn(f64) -> f64| {
                let ends = f64::midpoint(of(raw[0]), of(raw[30]));
                (ends + raw[1..30].iter().map(|p| of(*p)).sum::<f64>()) / 30.0
            };
            let rms = mean(|p| p * p).sqrt();
            let last = switched[30];
            let expected = match switch {
                "detector.1.as=rms" => rms,
                "detector.1.as=mean" => mean(|p| p),
                "detector.1.as=level" => 20.0 * (rms / 20e-6).log10(),
                // From rest at the switch: what the slopes since then have made of it, m/s; p/ρc of the largest is the measure.
                _ => {
                    let most = raw.iter().fold(0.0f64, |most, p| most.max(p.abs()));
                    assert!(
                        last.abs() > 1e-5 * most && last.abs() < most / 41.0,
                        "{variant}: {last}, {most} Pa"
                    );
                    continue;
                }
            };
            // One rounding a record, of a number that is no larger than the largest record: 30 of them.
            let miss = (last - expected).abs() / expected.abs().max(rms);
            assert!(miss < 1e-13, "{variant}, {switch}: {last} for {expected}");
        }
    }
}

/// A wall that is built after a snapshot stops the flow of the snapshot, too: returned to, the closed half of the room keeps its mean pressure, from which an unending flow would take 0.03 Pa in 300 steps. Single precision rounds
/// the rate between two levels to 6e-8 Pa a step.
#[test]
fn a_snapshot_knows_walls_that_are_built_later() {
    let wall = "layer=[{sets=\"wall\",shape=\"box\",min=[1.55,-1.0],max=[1.75,9.0]}]";
    let mut run = Engine::new(scene_from(PING, &[])).unwrap();
    run.advance(25).unwrap();
    run.snapshot().unwrap();
    run.advance(10).unwrap();
    let present = run.field().unwrap();
    assert_eq!(run.update(scene_from(PING, &[wall])).unwrap(), Change::Edited);
    assert_eq!(run.clock().steps, 35);
    let mean = |run: &mut Engine| {
        let field = run.field().unwrap();
        let sites = (0..40 * 30).filter(|site| site % 40 < 16);
        sites.map(|site| field.at(site).re).sum::<f64>() / (16.0 * 30.0)
    };
    let before = (0..40 * 30)
        .filter(|site| site % 40 < 16)
        .map(|site| present.at(site).re);
    assert!((mean(&mut run) - before.sum::<f64>() / (16.0 * 30.0)).abs() < 1e-6);
    run.restore().unwrap();
    assert_eq!(run.clock().steps, 25);
    let first = mean(&mut run);
    assert!(first > 0.01, "nothing is there: {first}");
    run.advance(900).unwrap();
    let last = mean(&mut run);
    assert!((last - first).abs() < 1e-3, "{first} and then {last}");
}

/// A wall that is built together with another precision or method, for which the solver is built anew, stops the flow as well.
#[test]
fn walls_that_come_with_another_solver_stop_the_flow() {
    let wall = "layer=[{sets=\"wall\",shape=\"box\",min=[1.55,-1.0],max=[1.75,9.0]}]";
    for other in ["solver.precision=double", "solver.method=oscillators"] {
        let mut run = Engine::new(scene_from(PING, &[])).unwrap();
        run.advance(25).unwrap();
        assert_eq!(run.update(scene_from(PING, &[wall, other])).unwrap(), Change::Rebuilt);
        assert_eq!(run.clock().steps, 25);
        let mean = |run: &mut Engine| {
            let field = run.field().unwrap();
            let sites = (0..40 * 30).filter(|site| site % 40 < 16);
            sites.map(|site| field.at(site).re).sum::<f64>() / (16.0 * 30.0)
        };
        let first = mean(&mut run);
        run.advance(900).unwrap();
        let last = mean(&mut run);
        assert!((last - first).abs() < 1e-3, "{other}: {first} and then {last}");
    }
}
