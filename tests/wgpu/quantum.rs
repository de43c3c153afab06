//! Trotter–Suzuki on an adapter.

use super::adapter::needs_adapter;
use super::cases::{cases, random_field, scene, tolerance};
use super::device::{build, distance};
use ripplon::field::Precision;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Clock, Edit, FieldImage, ImageRequest, Taps};

const STEPS: u64 = 14;

/// Every order, rank, edge and kind of scene, with what detectors record in each step.
#[test]
fn sweeps_agree_with_the_processor() {
    needs_adapter!();
    let tolerance = tolerance(Precision::Single);
    let mut wrong = Vec::new();
    let mut strips = 0;
    for case in cases() {
        for &order in case.orders {
            let start = Clock::at_start(0.11);
            let scenario = scene(&case, order, "cpu", "double", "naive");
            let mut reference = build(&scenario);
            reference
                .set_field(&random_field(case.size.iter().product()), start)
                .expect("a field");
            // Walls take their part of it.
            let field = reference.field().expect("a field");
            let mut records = Taps::new(scenario.grid(), scenario.detectors());
            reference.advance(STEPS / 2, &mut records).expect("steps");
            reference.advance(STEPS / 2, &mut Taps::default()).expect("steps");
            let expected = reference.field().expect("a field");
            let variants = if case.size.len() == 2 {
                &["naive", "full-step", "fused", "strips"][..]
            } else {
                &["naive"]
            };
            let mut in_tan_form = None;
            for variant in variants {
                let name = format!("{}, order {order}, {variant}", case.name);
                let mut run = build(&scene(&case, order, "wgpu", "single", variant));
                run.set_field(&field, start)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let mut taps = Taps::new(scenario.grid(), scenario.detectors());
                run.advance(STEPS / 2, &mut taps)
                    .and_then(|()| run.advance(STEPS / 2, &mut Taps::default()))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let found = run.field().unwrap_or_else(|error| panic!("{name}: {error}"));
                let report = run.report();
                if report.variant == "strips" {
                    strips += 1;
                } else if *variant == "strips" {
                    assert!(report.details.contains("strips are for"), "{name}: {}", report.details);
                    continue;
                }
                assert_eq!(report.variant, *variant);
                // The same operations on the same numbers, which a compiler of shaders on a graphics card may join otherwise.
                if *variant != "naive" && report.details.contains("llvmpipe") {
                    let first = in_tan_form.get_or_insert_with(|| found.clone());
                    if *first != found {
                        wrong.push(format!("{name}: bits differ from those of other whole steps"));
                    }
                }
                let off = distance(&found, &expected);
                if off.is_nan() || off > tolerance {
                    wrong.push(format!("{name}: ψ is off by {off:.1e} ({})", run.report().details));
                    continue;
                }
                assert_eq!(records.times(), taps.times());
                for detector in 0..scenario.detectors().len() {
                    let (a, b) = (records.values(detector), taps.values(detector));
                    let scale = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                    let far = |(a, b): (&f64, &f64)| (a - b).abs() > 30.0 * tolerance * scale || b.is_nan();
                    if a.iter().zip(b).any(far) {
                        wrong.push(format!("{name}: detector {detector} says {b:?}, should say {a:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(strips > 8, "{strips} in strips");
}

/// States go from the processor to the adapter and back; edits in mid-run, and pictures.
#[test]
fn checkpoints_edits_and_pictures_agree() {
    needs_adapter!();
    let all = cases();
    let names = [
        "walls around",
        "absorbing",
        "obstacles",
        "flux",
        "interaction",
        "driven",
    ];
    for case in all.iter().filter(|case| names.contains(&case.name)) {
        let scenes =
            [("cpu", "naive"), ("wgpu", "fused")].map(|(backend, variant)| scene(case, 2, backend, "single", variant));
        let [mut here, mut there] = [build(&scenes[0]), build(&scenes[1])];
        here.advance(5, &mut Taps::default()).expect("steps");
        there.load(&here.save().expect("a state")).expect("the state fits");
        assert_eq!(
            there.save().expect("a state").arrays,
            here.save().expect("a state").arrays,
            "{}",
            case.name
        );
        for (run, scenario) in [&mut here, &mut there].into_iter().zip(&scenes) {
            run.advance(7, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::TimeStep(0.07)).expect("another step");
            run.advance(8, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::Conjugate).expect("conjugates");
            run.edit(scenario, &Edit::Medium).expect("the medium again");
            run.advance(5, &mut Taps::default()).expect("steps");
        }
        assert_eq!(here.clock(), there.clock(), "{}", case.name);
        let off = distance(&there.field().expect("a field"), &here.field().expect("a field"));
        assert!(off < tolerance(Precision::Single), "{}: {off:.1e}", case.name);
        let [nx, ny, _] = scenes[0].grid().size();
        for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
            let request = ImageRequest::new(quantity, [3..nx - 2, 1..ny], 0, [50, 20]);
            let [mut a, mut b] = [FieldImage::default(), FieldImage::default()];
            here.image(&request, &mut a).expect("a picture");
            there.image(&request, &mut b).expect("a picture");
            let largest = a.value.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            for (x, y) in a.value.iter().zip(&b.value) {
                assert!((x - y).abs() <= 1e-3 * largest, "{} {quantity:?}: {x} {y}", case.name);
            }
        }
    }
}
