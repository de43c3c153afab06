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

use device::{build, distance, needs_device, skip};
use echo::echo;
use pairs::{KINDS, ORDERS, cases, check_transducers, scene, sounds, tolerance};
use ripplon::field::FieldData;
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Taps};
use rooms::{
    Case, DETECTORS, SOURCES, check_checkpoints, check_pictures, differences, different_bits, random, seams, start,
};

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
    needs_device!();
    let mut wrong = Vec::new();
    for case in cases() {
        for &order in case.orders {
            let sounds = sounds() + &seams(&case);
            let expected = scene(&case, order, ["cpu", "double", "naive"], "", &sounds);
            for (word, precision) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let found = scene(&case, order, ["cuda", word, "naive"], "", &sounds);
                wrong.extend(differences(&name, &expected, &found, tolerance(precision)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn fused_launches_give_the_bits_of_sweeps() {
    needs_device!();
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
    needs_device!();
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
    needs_device!();
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
    needs_device!();
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
    needs_device!();
    // Energies and fluxes keep a velocity, with which launches end with every step.
    for sounds in [sounds(), format!("{SOURCES}{DETECTORS}")] {
        check_transducers(KINDS, ORDERS, &sounds, |case, order| {
            let mut all: Vec<(String, Scenario, f64)> = Vec::new();
            for (word, precision) in Precision::ALL {
                for variant in ["naive", "fused"] {
                    let scenario = scene(case, order, ["cuda", word, variant], "", &sounds);
                    all.push((format!("{word}, {variant}"), scenario, 10.0 * tolerance(precision)));
                }
            }
            all
        });
    }
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
    needs_device!();
    let [large, small] = [&[512, 256][..], &[64, 32]].map(|size| {
        let case = Case::new("plate", size, "\"wall\"", "", ORDERS);
        build(&scene(&case, 2, ["auto", "single", "auto"], "", ""))
            .report()
            .backend
            .as_str()
    });
    assert_eq!([large, small], ["cuda", "cpu"]);
}

/// Regions that cells of four columns and two rows do not fit, one that all of the grid is, and one that records now and then; larger than those whose sites are gathered.
const PRESSURES: &str = "[[detector]]\nname = \"part\"\nregion = { min = [1.4, 0.6], max = [41.3, 29.9] }\nmeasure = \"pressure\"\n\
    [[detector]]\nname = \"crests\"\nregion = { min = [2.0, 1.0], max = [37.2, 25.6] }\nmeasure = \"peak\"\n\
    [[detector]]\nname = \"seldom\"\nregion = { min = [0.0, 0.0], max = [40.0, 24.0] }\nmeasure = \"pressure\"\nevery = 3\n\
    [[detector]]\nname = \"all\"\nmeasure = \"peak\"\n";

/// What detectors record of noise, in calls of so many steps, and the state at the end.
fn pressures(scenario: &Scenario, calls: &[u64]) -> (Vec<Vec<f64>>, Vec<FieldData>) {
    let mut run = build(scenario);
    run.set_field(&random(scenario.grid().sites()), start())
        .expect("a field");
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    for steps in calls {
        run.advance(*steps, &mut taps).expect("steps");
    }
    let records = (0..taps.taps().len()).map(|n| taps.values(n).to_vec()).collect();
    let state = run.save().expect("a state");
    (records, state.arrays.into_iter().map(|(_, array)| array).collect())
}

/// Sums inside launches: the same bits in launches of one step and of several, whatever the calls; those between sweeps to the rounding of a sum of eight pressures, 7 ε/2 of the largest, and of
/// sums in double precision one after the other, n ε.
#[test]
fn pressures_of_regions_are_summed_in_launches() {
    needs_device!();
    let bits = |records: &[Vec<f64>]| -> Vec<Vec<u64>> {
        let of = |values: &Vec<f64>| values.iter().map(|value| value.to_bits()).collect();
        records.iter().map(of).collect()
    };
    let mut seen = 0;
    for case in cases()
        .into_iter()
        .filter(|case| case.size.len() == 2 && case.size.iter().all(|n| *n > 36))
    {
        for &order in case.orders {
            for (word, precision) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let of = |variant: &str, more: &str| scene(&case, order, ["cuda", word, variant], more, PRESSURES);
                let fused = of("fused", "");
                let (records, state) = pressures(&fused, &[47]);
                let (in_calls, _) = pressures(&fused, &[1, 13, 2, 31]);
                let (singly, _) = pressures(&of("fused", "fused_steps = 1"), &[47]);
                let (swept, swept_state) = pressures(&of("naive", ""), &[47]);
                assert!(bits(&records) == bits(&in_calls), "{name}: other calls");
                assert!(bits(&records) == bits(&singly), "{name}: single steps");
                assert!(state == swept_state, "{name}: another state");
                let rounding = match precision {
                    Precision::Single => 5e-7,
                    Precision::Double => 1e-12,
                };
                for (n, (found, expected)) in records.iter().zip(&swept).enumerate() {
                    assert_eq!(found.len(), expected.len(), "{name}");
                    for ((a, b), most) in found.iter().zip(expected).zip(&records[3]) {
                        let off = if a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() };
                        assert!(off <= rounding * most, "{name}, detector {n}: {a} {b}");
                    }
                }
                assert!(
                    bits(&records[1..2]) == bits(&swept[1..2]) && bits(&records[3..]) == bits(&swept[3..]),
                    "{name}: peaks"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A source that moves over the plate, beside those that rest.
const MOVING: &str =
    "[[source]]\nat = [12.2, 4.7]\nvelocity = [0.35, 0.21]\nsignal = \"sine\"\nfrequency = 0.11\namplitude = 0.4\n";

/// Sources, detectors of single sites and sums over regions, all between the steps of a launch: the state and what sites record have the bits of single sweeps.
#[test]
fn launches_do_what_happens_at_sites() {
    needs_device!();
    let mut seen = 0;
    for case in cases()
        .into_iter()
        .filter(|case| case.size.len() == 2 && case.size.iter().all(|n| *n > 36))
    {
        for &order in case.orders {
            for (word, _) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let sounds = format!("{SOURCES}{MOVING}{PRESSURES}{DETECTORS}");
                let of = |variant: &str, more: &str| scene(&case, order, ["cuda", word, variant], more, &sounds);
                let (swept, expected) = pressures(&of("naive", ""), &[47]);
                for (more, calls) in [("", &[47_u64][..]), ("", &[1, 13, 2, 31]), ("fused_steps = 1", &[47])] {
                    let (records, state) = pressures(&of("fused", more), calls);
                    assert!(state == expected, "{name} {more} {calls:?}: another state");
                    for (n, (found, expected)) in records.iter().zip(&swept).enumerate().skip(4) {
                        assert!(
                            found.iter().zip(expected).all(|(a, b)| a.to_bits() == b.to_bits()),
                            "{name} {more} {calls:?}: detector {n}"
                        );
                        // One of them stands in a wall, where there is one.
                        let hears = case.layers.contains("wall") || found.iter().any(|value| *value != 0.0);
                        assert!(found.len() == expected.len() && hears, "{name}: detector {n}");
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}
