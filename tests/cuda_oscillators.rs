//! Coupled oscillators on the CUDA back end against the processor in double precision, and fused launches against single sweeps. Without a device the tests say so and
//! pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;
#[path = "common/echo.rs"]
mod echo;
#[path = "common/pairs.rs"]
mod pairs;
#[path = "common/rooms.rs"]
mod rooms;
#[path = "common/transduced.rs"]
mod transduced;

use device::{build, distance, skip};
use echo::echo;
use pairs::{KINDS, ORDERS, cases, check_transducers, scene, sounds, tolerance};
use ripplon::field::FieldData;
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Taps};
use rooms::{Case, SOURCES, check_checkpoints, check_pictures, differences, different_bits, random, start};

#[test]
fn every_case_is_a_scene() {
    for case in cases() {
        for &order in case.orders {
            let scenario = scene(&case, order, ["cpu", "single", "naive"], "", &sounds());
            assert_eq!(build(&scenario).report().method, "oscillators", "{}", case.name);
        }
    }
}

#[test]
fn sweeps_agree_with_the_processor() {
    if skip() {
        return;
    }
    let mut wrong = Vec::new();
    for case in cases() {
        for &order in case.orders {
            let expected = scene(&case, order, ["cpu", "double", "naive"], "", &sounds());
            for (word, precision) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let found = scene(&case, order, ["cuda", word, "naive"], "", &sounds());
                wrong.extend(differences(&name, &expected, &found, tolerance(precision)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// With and without sounds: with them launches end with every step.
#[test]
fn fused_launches_give_the_bits_of_sweeps() {
    if skip() {
        return;
    }
    let mut wrong = Vec::new();
    for case in cases() {
        for &order in case.orders {
            for (word, _) in Precision::ALL {
                for (more, sounds) in [
                    ("", ""),
                    ("", &*sounds()),
                    ("fused_steps = 2", ""),
                    ("fused_steps = 1", ""),
                ] {
                    let name = format!("{}, order {order}, {word}, {more} {}", case.name, sounds.len());
                    let sweeps = scene(&case, order, ["cuda", word, "naive"], "", sounds);
                    let fused = scene(&case, order, ["cuda", word, "fused"], more, sounds);
                    wrong.extend(different_bits(&name, [&sweeps, &fused], &[40, 3, 29]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn checkpoints_and_edits_go_from_one_place_to_the_other() {
    if skip() {
        return;
    }
    for case in cases() {
        for &order in case.orders {
            for variant in ["naive", "auto"] {
                let on_host = scene(&case, order, ["cpu", "double", "naive"], "", SOURCES);
                let on_device = scene(&case, order, ["cuda", "double", variant], "", SOURCES);
                check_checkpoints(case.name, &on_host, &on_device, 1e-12);
            }
        }
    }
}

#[test]
fn pictures_agree_and_show_their_moment() {
    if skip() {
        return;
    }
    for case in cases() {
        let on_host = scene(&case, 2, ["cpu", "double", "naive"], "", "");
        check_pictures(
            &case,
            &on_host,
            &scene(&case, 2, ["cuda", "double", "auto"], "", ""),
            1e-5,
        );
    }
}

/// A step of −Δt undoes one of Δt, sources included, where nothing is damped: 2·60 steps of roundings are left.
#[test]
fn runs_go_back() {
    if skip() {
        return;
    }
    for case in cases() {
        if case.edges.contains("absorb") || case.layers.contains("absorption") || case.layers.contains("wall") {
            continue;
        }
        let scenario = scene(&case, 4, ["cuda", "double", "auto"], "", SOURCES);
        let mut run = build(&scenario);
        let field = random(scenario.grid().sites());
        run.set_field(&field, start()).expect("a field");
        for step in [0.11, -0.11] {
            run.edit(&scenario, &Edit::TimeStep(step)).expect("a step");
            run.advance(60, &mut Taps::default()).expect("steps");
        }
        let off = distance(&run.field().expect("a field"), &field);
        assert!(off < 4.0 * tolerance(Precision::Double), "{}: {off:.1e}", case.name);
    }
}

/// Ten times the steps of [`tolerance`], and as much more where rounded coefficients turn all steps the same way.
#[test]
fn transducers_act_as_on_the_processor() {
    if skip() {
        return;
    }
    check_transducers(KINDS, ORDERS, &sounds(), |case, order| {
        let mut all: Vec<(String, Scenario, f64)> = Vec::new();
        for (word, precision) in Precision::ALL {
            for variant in ["naive", "fused"] {
                let scenario = scene(case, order, ["cuda", word, variant], "", &sounds());
                all.push((format!("{word}, {variant}"), scenario, 10.0 * tolerance(precision)));
            }
        }
        all
    });
}

/// The same cases where there is no device: blocks do what single sweeps do.
#[test]
fn transducers_of_the_processor_act_alike() {
    check_transducers(KINDS, ORDERS, &sounds(), |case, order| {
        let scenario = scene(case, order, ["cpu", "double", "blocked"], "", &sounds());
        vec![("blocked".to_owned(), scenario, 10.0 * tolerance(Precision::Double))]
    });
}

/// (q, p) → (q, −p) between as many steps there and back leaves rounding, where nothing is damped and no source plays.
fn check_echo(backend: &str, variants: &[&str]) {
    for case in cases() {
        if case.edges.contains("absorb") || case.layers.contains("absorption") {
            continue;
        }
        for &order in case.orders {
            for (word, precision) in Precision::ALL {
                for variant in variants {
                    let scenario = scene(&case, order, [backend, word, variant], "", "");
                    let mut run = build(&scenario);
                    run.set_field(&random(case.size.iter().product()), start())
                        .expect("a field");
                    // The same field as single numbers, walls taken out by the first step.
                    let first = run.field().expect("a field").to_complex128();
                    let first = FieldData::Float64(first.iter().map(|value| value.re).collect());
                    let off = echo(run.as_mut(), &scenario, &first);
                    // Four times the steps; rounded coefficients are the same on both ways.
                    let limit = 4.0 * tolerance(precision);
                    assert!(
                        off < limit,
                        "{}, order {order}, {word}, {variant}: {off:.1e}",
                        case.name
                    );
                }
            }
        }
    }
}

#[test]
fn echoes_come_back() {
    check_echo("cpu", &["naive", "blocked"]);
    if !skip() {
        check_echo("cuda", &["naive", "fused"]);
    }
}

#[test]
fn large_grids_go_to_the_device_by_themselves() {
    if skip() {
        return;
    }
    let [large, small] = [&[512, 256][..], &[64, 32]].map(|size| {
        let case = Case::new("plate", size, "\"wall\"", "", ORDERS);
        build(&scene(&case, 2, ["auto", "single", "auto"], "", ""))
            .report()
            .backend
            .as_str()
    });
    assert_eq!([large, small], ["cuda", "cpu"]);
}
