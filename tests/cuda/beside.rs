//! What is read of a run on the device while it goes on: records, pictures, edits.

use super::bonds::named;
use super::cases::{cases, scene};
use super::device::{build, distance, needs_device};
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Taps};

#[test]
fn edits_pictures_and_records_agree() {
    needs_device!();
    let names = [
        "walls around",
        "absorbing",
        "obstacles",
        "flux",
        "interaction",
        "driven",
    ];
    let alike = cases().into_iter().filter(|case| names.contains(&case.name));
    let differing = [
        "random bonds",
        "random fluxes",
        "turning frame",
        "bonds that absorb",
        "driven bonds",
        "interactions of sites",
        "components",
    ];
    let all = alike.map(|case| (case, "fused"));
    for (case, variant) in all.chain(differing.map(|name| (named(name), "naive"))) {
        let scenario = scene(&case, 2, "cpu", "double", "naive");
        let mut cpu = build(&scenario);
        let on_device = scene(&case, 2, "cuda", "double", variant);
        let mut gpu = build(&on_device);
        let mut records = [
            Taps::new(scenario.grid(), scenario.detectors()),
            Taps::new(scenario.grid(), scenario.detectors()),
        ];
        for (run, scenario, taps) in [(&mut cpu, &scenario, 0), (&mut gpu, &on_device, 1)] {
            run.advance(7, &mut records[taps]).expect("steps");
            run.edit(scenario, &Edit::TimeStep(0.07)).expect("another step");
            run.advance(8, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::Conjugate).expect("conjugates");
            run.edit(scenario, &Edit::Medium).expect("the medium again");
            run.advance(5, &mut records[taps]).expect("steps");
        }
        assert_eq!(cpu.clock(), gpu.clock(), "{}", case.name);
        assert!(
            distance(&gpu.field().expect("a field"), &cpu.field().expect("a field")) < 4e-13,
            "{}",
            case.name
        );
        let [expected, found] = &records;
        assert_eq!(expected.times(), found.times());
        for detector in 0..scenario.detectors().len() {
            for (a, b) in expected.values(detector).iter().zip(found.values(detector)) {
                assert!((a - b).abs() < 1e-12, "{}, detector {detector}: {a} {b}", case.name);
            }
        }
        for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
            for most in [[300, 300], [50, 20]] {
                let [nx, ny, _] = scenario.grid().size();
                let request = ImageRequest::new(quantity, [3..nx - 2, 1..ny], 0, most);
                let (mut a, mut b) = (FieldImage::default(), FieldImage::default());
                cpu.image(&request, &mut a).expect("a picture");
                gpu.image(&request, &mut b).expect("a picture");
                assert_eq!(
                    (a.size, a.origin, a.reduction, a.quantity),
                    (b.size, b.origin, b.reduction, b.quantity)
                );
                let largest = a.value.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
                for (i, (x, y)) in a.value.iter().zip(&b.value).enumerate() {
                    // Values are single, and sums of at most a few hundred of them.
                    assert!(
                        (x - y).abs() <= 1e-5 * largest,
                        "{} {quantity:?} {i}: {x} {y}",
                        case.name
                    );
                    if quantity == Quantity::Phase && x.abs() > 1e-3 * largest {
                        let turn = (a.phase[i] - b.phase[i]).abs();
                        assert!(
                            turn.min(std::f32::consts::TAU - turn) < 1e-2,
                            "{} {i}: {turn}",
                            case.name
                        );
                    }
                }
            }
        }
    }
}

/// A picture that was begun shows the state of that moment, whatever steps come before it is taken.
#[test]
fn pictures_beside_stepping_show_their_moment() {
    needs_device!();
    for case in cases().iter().filter(|case| case.size.len() > 1) {
        for variant in ["naive", "fused"] {
            let mut run = build(&scene(case, 2, "cuda", "single", variant));
            let [nx, ny, nz] = [0, 1, 2].map(|axis| case.size.get(axis).copied().unwrap_or(1));
            for quantity in [Quantity::Density, Quantity::Phase, Quantity::Density] {
                run.advance(5, &mut Taps::default()).expect("steps");
                let request = ImageRequest::new(quantity, [0..nx, 0..ny], nz / 2, [64, 64]);
                let (mut now, mut later) = (FieldImage::default(), FieldImage::default());
                run.image(&request, &mut now).expect("a picture");
                assert!(run.begin_image(&request).expect("a picture is begun"));
                for steps in [1, 7, 2] {
                    run.advance(steps, &mut Taps::default()).expect("steps");
                }
                assert!(run.take_image(&mut later).expect("a picture"));
                assert!(now == later, "{}, {variant}, {quantity:?}", case.name);
                assert!(!run.take_image(&mut later).expect("none is left"));
            }
        }
    }
}
