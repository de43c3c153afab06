//! Trotter–Suzuki on an adapter.

use super::adapter::needs_adapter;
use super::cases::{cases, random_field, scene, tolerance};
use super::device::{build, distance};
use ripplon::field::Precision;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Clock, Edit, FieldImage, ImageRequest, Solver, Taps};

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

/// Angles differ by whole turns as well.
fn turned(a: f32, b: f32) -> f32 {
    let off = (a - b).rem_euclid(std::f32::consts::TAU);
    off.min(std::f32::consts::TAU - off)
}

/// Pictures of every quantity of two runs in the same state: some ten roundings of single precision of the largest value; phases where ψ is a tenth of its largest.
fn pictures_differ(name: &str, [here, there]: [&mut dyn Solver; 2], [nx, ny, nz]: [usize; 3]) -> Vec<String> {
    let mut wrong = Vec::new();
    for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
        for most in [[500, 500], [50, 20]] {
            let request = ImageRequest::new(quantity, [1..nx, 1.min(ny - 1)..ny], nz / 2, most);
            let [mut a, mut b] = [FieldImage::default(), FieldImage::default()];
            here.image(&request, &mut a).expect("a picture");
            there.image(&request, &mut b).expect("a picture");
            assert_eq!((a.size, a.origin, a.reduction), (b.size, b.origin, b.reduction));
            assert_eq!((a.quantity, a.phase.len()), (b.quantity, b.phase.len()));
            let largest = a.value.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            let far = |(x, y): (&f32, &f32)| (x - y).abs() > 2e-6 * largest || y.is_nan();
            if a.value.iter().zip(&b.value).any(far) {
                wrong.push(format!("{name}: {quantity:?} of {most:?}"));
            }
            // The angle of a sum of up to 49 sites, which may have cancelled to a tenth of what was added.
            let mean = |n: usize| a.value[n] >= 0.1 * largest;
            let phases = a.phase.iter().zip(&b.phase).enumerate();
            if a.reduction == 1
                && phases
                    .filter(|(n, _)| mean(*n))
                    .any(|(_, (x, y))| turned(*x, *y).is_nan() || turned(*x, *y) > 2e-5)
            {
                wrong.push(format!("{name}: phases of {most:?}"));
            }
        }
    }
    wrong
}

/// Observables and pictures are made on the adapter from the state that the processor has, to the bit: they differ by the rounding of closing phases and of sums, at most 24 additions of
/// terms that are themselves off by some 4 roundings, 3.5e-6 of the sum of the terms' moduli. The state is another one later, after a change of Δt and of the medium, and as drives change.
#[test]
fn observables_and_pictures_are_those_of_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in cases() {
        let orders = [case.orders.first(), case.orders.last()];
        for &order in orders.into_iter().flatten() {
            let scenes = [("cpu", "naive"), ("wgpu", "auto")]
                .map(|(backend, variant)| scene(&case, order, backend, "single", variant));
            let [mut here, mut there] = [build(&scenes[0]), build(&scenes[1])];
            let size = scenes[0].grid().size();
            here.set_field(&random_field(size.iter().product()), Clock::at_start(0.11))
                .expect("a field");
            for stage in 0..3 {
                let name = format!("{}, order {order}, stage {stage}", case.name);
                here.advance(3, &mut Taps::default()).expect("steps");
                there.load(&here.save().expect("a state")).expect("the state fits");
                let [a, b] = [&mut here, &mut there].map(|run| run.observables().expect("sums"));
                // No site adds more to the energy than the largest eigenvalue of |H| times its density: 1.3 + 0.9 of potentials, 12 J of bonds, J below 1, and g|ψ|².
                let close = |x: f64, y: f64, scale: f64| (x - y).abs() <= 3.5e-6 * scale;
                let lengths = |n: usize| 2.0 * f64::from(u32::try_from(size[n]).unwrap());
                if !close(a.norm, b.norm, a.norm)
                    || !close(a.energy, b.energy, 15.0)
                    || !close(a.peak, b.peak, a.peak)
                    || (0..3).any(|n| !close(a.position[n], b.position[n], lengths(n)))
                    || (0..3).any(|n| !close(a.spread[n], b.spread[n], 2.0 * lengths(n)))
                {
                    wrong.push(format!("{name}: {b:?}, should be {a:?}"));
                }
                wrong.extend(pictures_differ(&name, [here.as_mut(), there.as_mut()], size));
                for (run, scenario) in [&mut here, &mut there].into_iter().zip(&scenes) {
                    let edit = if stage == 0 { Edit::TimeStep(0.07) } else { Edit::Medium };
                    run.edit(scenario, &edit).expect("an edit");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
