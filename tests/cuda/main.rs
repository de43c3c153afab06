//! The CUDA back end against the processor in double precision, and the embedded PTX against its sources. Without a device the parity tests
//! say so and pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

mod beside;
mod bonds;
mod cases;
#[path = "../common/device.rs"]
mod device;
#[path = "../common/echo.rs"]
mod echo;
mod faults;
mod mirror;
mod parts;
mod programs;
#[path = "../common/python.rs"]
mod python;
#[path = "../common/saved.rs"]
mod saved;
mod state;
mod sums;
mod tiles;
#[path = "../common/transduced.rs"]
mod transduced;

use cases::{Case, DRIVEN, cases, random_field, scene, tolerance};
use device::{build, distance, needs_device};
use ripplon::backend::cuda;
use ripplon::field::Precision;
use ripplon::solver::{Clock, Taps};

#[test]
fn every_case_is_a_sound_scene() {
    for case in cases() {
        for &order in case.orders {
            let run = build(&scene(&case, order, "cpu", "single", "naive"));
            assert_eq!(run.report().order, order, "{}", case.name);
        }
    }
}

const STEPS: u64 = 14;

#[test]
fn every_variant_agrees_with_the_processor() {
    needs_device!();
    let mut wrong = Vec::new();
    for case in cases() {
        agree(&case, &["naive", "full-step", "fused", "tiles"], &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Holds a case in all orders and both precisions by some variants on the device against the processor; what is off goes into `wrong`.
fn agree(case: &Case, variants: &[&str], wrong: &mut Vec<String>) {
    for &order in case.orders {
        let mut reference = build(&scene(case, order, "cpu", "double", "naive"));
        let sites = case.size.iter().product();
        let start = Clock::at_start(0.11);
        reference
            .set_field(&random_field(sites), start)
            .expect("the reference takes a field");
        // Walls take their part of it.
        let field = reference.field().expect("the reference gives its field");
        reference
            .advance(STEPS, &mut Taps::default())
            .expect("the reference steps");
        let expected = reference.field().expect("the reference gives its field");
        let sums = reference.observables().expect("the reference sums");
        for (word, precision) in Precision::ALL {
            for variant in variants {
                let name = format!("{}, order {order}, {word}, {variant}", case.name);
                let mut run = build(&scene(case, order, "cuda", word, variant));
                run.set_field(&field, start)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                run.advance(STEPS, &mut Taps::default())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let found = run.field().unwrap_or_else(|error| panic!("{name}: {error}"));
                let off = distance(&found, &expected);
                if off.is_nan() || off > tolerance(precision) {
                    wrong.push(format!("{name}: ψ is off by {off:.1e} ({})", run.report().details));
                    continue;
                }
                let measured = run.observables().unwrap_or_else(|error| panic!("{name}: {error}"));
                let pairs = measured.values(3).into_iter().zip(sums.values(3));
                let scale = sums.values(3).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                for (place, (a, b)) in pairs.enumerate() {
                    if (a - b).abs() > 10.0 * tolerance(precision) * scale {
                        wrong.push(format!("{name}: observable {place} is {a}, should be {b}"));
                    }
                }
                println!("{name}: {off:.1e} ({})", run.report().details);
            }
        }
    }
}

#[test]
fn batches_give_the_same_bits() {
    needs_device!();
    for case in cases().into_iter().filter(|case| case.size.len() > 1) {
        for (word, _) in Precision::ALL {
            let order = 2;
            let mut once = build(&scene(&case, order, "cuda", word, "fused"));
            let mut often = build(&scene(&case, order, "cuda", word, "fused"));
            let mut full = build(&scene(&case, order, "cuda", word, "full-step"));
            once.advance(13, &mut Taps::default()).expect("steps");
            for steps in [1, 2, 3, 1, 6] {
                often.advance(steps, &mut Taps::default()).expect("steps");
            }
            full.advance(13, &mut Taps::default()).expect("steps");
            let state = once.save().expect("a state");
            if case.layers != DRIVEN {
                // Tables of driven layers are rounded at random, anew at every step.
                assert_eq!(
                    state.arrays,
                    often.save().expect("a state").arrays,
                    "{}, {word}",
                    case.name
                );
                assert_eq!(
                    state.arrays,
                    full.save().expect("a state").arrays,
                    "{}, {word}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn checkpoints_go_from_one_place_to_the_other() {
    needs_device!();
    let all = cases();
    for case in all
        .iter()
        .filter(|case| ["walls around", "obstacles", "cube"].contains(&case.name))
    {
        let mut cpu = build(&scene(case, 2, "cpu", "double", "naive"));
        let mut gpu = build(&scene(case, 2, "cuda", "double", "auto"));
        cpu.advance(9, &mut Taps::default()).expect("steps");
        gpu.load(&cpu.save().expect("a state")).expect("the state fits");
        assert_eq!(
            gpu.save().expect("a state").arrays,
            cpu.save().expect("a state").arrays,
            "bit by bit"
        );
        gpu.advance(9, &mut Taps::default()).expect("steps");
        cpu.advance(9, &mut Taps::default()).expect("steps");
        let back = gpu.save().expect("a state");
        assert!(distance(&gpu.field().expect("a field"), &cpu.field().expect("a field")) < 2e-13);
        cpu.load(&back).expect("the state fits");
        assert_eq!(cpu.clock(), gpu.clock());
    }
}

/// Numbers of fused steps that are not in the program: the same bits as single steps.
#[test]
fn any_number_of_fused_steps_gives_the_same_bits() {
    needs_device!();
    if let Err(reason) = cuda::compiler() {
        println!("skipped: {reason}");
        return;
    }
    let all = cases();
    for case in all
        .iter()
        .filter(|case| ["ragged", "torus", "obstacles", "flux", "line"].contains(&case.name))
    {
        for (word, _) in Precision::ALL {
            let mut full = build(&scene(case, 2, "cuda", word, "full-step"));
            full.advance(23, &mut Taps::default()).expect("steps");
            let expected = full.save().expect("a state").arrays;
            for steps in [1, 5, 8, 10] {
                let key = format!("fused\"\nfused_steps = {steps}\n#");
                let mut run = build(&scene(case, 2, "cuda", word, &key));
                run.advance(23, &mut Taps::default()).expect("steps");
                assert_eq!(
                    run.save().expect("a state").arrays,
                    expected,
                    "{}, {word}, {steps}",
                    case.name
                );
                println!("{}, {word}: {}", case.name, run.report().details);
            }
        }
    }
}
