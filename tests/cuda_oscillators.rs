//! Coupled oscillators on the CUDA back end against the processor in double precision, and fused launches against single sweeps. Without a device the tests say so and
//! pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;
#[path = "common/echo.rs"]
mod echo;
#[path = "common/rooms.rs"]
mod rooms;
#[path = "common/transduced.rs"]
mod transduced;

use device::{build, distance, skip};
use echo::echo;
use ripplon::field::FieldData;
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Taps};
use rooms::{
    Case, DAMPED, DENSITY, DETECTORS, REGIONS, SOURCES, SPEED, WALLS, Way, check_checkpoints, check_pictures,
    differences, different_bits, random, start,
};
use transduced::{ACTS, Score, compare};

const ORDERS: &[u32] = &[2, 4];
const SPEEDS: &str = "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(3.1*x)\"\n";
const DENSITIES: &str = "[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"1.3 + 0.4*sin(7.1*x)\"\n";
const QUIET: &str = "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"0.1 + 0.1*sin(3.1*x)\"\n";
/// Damping beside a speed per site.
const MUFFLED: &str = "[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [16.0, 11.0]\nradius = 4.3\nvalue = 0.8\n\
    [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0]\nmax = [30.0, 16.0]\nvalue = 0.4\n";

/// Ends between two lanes and inside one, even and odd numbers of sites, grids of one strip and of several, narrower and lower than a strip's halo.
fn cases() -> Vec<Case> {
    let case = |name, size, edges, layers| Case::new(name, size, edges, layers, ORDERS);
    vec![
        case("line", &[704], "\"wall\"", ""),
        case("odd line", &[701], "\"soft\"", ""),
        case("short line", &[9], "\"wall\"", ""),
        case("ring", &[1504], "\"periodic\"", ""),
        case("ring that ends in a lane", &[702], "\"periodic\"", ""),
        case("ring with speeds", &[702], "\"periodic\"", SPEEDS),
        case("line with densities", &[701], "\"soft\"", DENSITIES),
        case("absorbing line", &[703], "\"absorb\"\nabsorb_width = 17", ""),
        case("damped ring", &[480], "\"periodic\"", QUIET),
        case("plate", &[260, 71], "\"wall\"", ""),
        case("soft plate", &[130, 70], "\"soft\"", ""),
        case("odd plate", &[371, 53], "[\"wall\", \"soft\"]", ""),
        case("low plate", &[133, 3], "[\"soft\", \"wall\"]", ""),
        case("narrow plate", &[3, 133], "[\"wall\", \"soft\"]", ""),
        case("torus", &[256, 64], "\"periodic\"", ""),
        case("torus that ends in a lane", &[302, 46], "\"periodic\"", ""),
        case("small torus", &[10, 4], "\"periodic\"", ""),
        case("tube", &[134, 61], "[\"periodic\", \"wall\"]", ""),
        case("upright tube", &[135, 64], "[\"soft\", \"periodic\"]", ""),
        case("plate with speeds", &[134, 64], "[\"periodic\", \"wall\"]", SPEED),
        case("densities", &[90, 61], "[\"soft\", \"wall\"]", DENSITY),
        case(
            "densities to the edge of a line of memory",
            &[127, 61],
            "\"soft\"",
            DENSITY,
        ),
        case("torus with densities", &[254, 62], "\"periodic\"", DENSITY),
        case("absorbing plate", &[140, 70], "\"absorb\"\nabsorb_width = 12", ""),
        case("odd absorbing plate", &[141, 71], "\"absorb\"\nabsorb_width = 12", ""),
        case("absorbing speeds", &[141, 70], "\"absorb\"\nabsorb_width = 12", SPEED),
        case("obstacles", &[90, 61], "[\"soft\", \"wall\"]", WALLS),
        case("obstacles on a torus", &[90, 62], "\"periodic\"", WALLS),
        case("damped", &[92, 61], "\"wall\"", DAMPED),
        case("damped torus", &[90, 62], "\"periodic\"", DAMPED),
        case("muffled", &[90, 61], "\"soft\"", MUFFLED),
    ]
}

fn scene(case: &Case, order: u32, [backend, precision, variant]: [&str; 3], more: &str, sounds: &str) -> Scenario {
    let way = Way {
        method: "oscillators",
        order,
        backend,
        precision,
        variant,
        more,
        // On small grids nothing stands where sounds are made and heard.
        sounds: if case.size.iter().all(|n| *n > 36) { sounds } else { "" },
    };
    rooms::scene(case, &way)
}

fn sounds() -> String {
    format!("{SOURCES}{DETECTORS}{REGIONS}")
}

/// n multiply-adds a site, each off by at most ε/2 of an amplitude with random sign, add up to ε/2·√n. 31 steps of order 4 are 5·7 sweeps of 10 each, n = 11,000: 6e-6 in single (ε =
/// 1.2e-7), 1.2e-14 in double; eight times that covers coefficients, which are rounded once and used in every step.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 5e-5,
        Precision::Double => 1e-13,
    }
}

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

/// Transducers in one of every kind of medium and edge: runs of `others` hear, add and overwrite what the reference does, sources and detectors beside them; one site stands in a wall.
fn check_transducers(others: impl Fn(&Case, u32) -> Vec<(String, Scenario, f64)>) {
    let kinds = [
        "odd line",
        "ring with speeds",
        "absorbing line",
        "odd plate",
        "torus that ends in a lane",
        "densities",
        "obstacles",
        "damped torus",
        "absorbing speeds",
    ];
    let chosen: Vec<Case> = cases().into_iter().filter(|case| kinds.contains(&case.name)).collect();
    assert_eq!(chosen.len(), kinds.len());
    for case in chosen {
        let (nx, all) = (case.size[0], case.size.iter().product::<usize>());
        let mut sites = vec![0, 3, nx - 1, all / 3, all / 3 + 1, all / 2, all - 1];
        if case.size.len() == 2 {
            // In the disk of obstacles, where sound is made, where it is heard.
            sites.extend([[32, 22], [24, 26], [28, 24]].map(|[i, j]| j * nx + i));
        }
        sites.sort_unstable();
        sites.dedup();
        for &order in case.orders {
            let field = random(all);
            let score = Score {
                sites: &sites,
                field: &field,
                start: start(),
                // More than a batch of records holds.
                steps: &[20, 270],
                loud: 1.0,
            };
            let reference = scene(&case, order, ["cpu", "double", "naive"], "", &sounds());
            let others = others(&case, order);
            for act in ACTS {
                let mut expected = score.play(&reference, act);
                for (name, scenario, tolerance) in &others {
                    let name = format!("{}, order {order}, {name}, {act:?}", case.name);
                    compare(&name, &mut expected, &mut score.play(scenario, act), *tolerance);
                }
            }
        }
    }
}

/// Ten times the steps of [`tolerance`], and as much more where rounded coefficients turn all steps the same way.
#[test]
fn transducers_act_as_on_the_processor() {
    if skip() {
        return;
    }
    check_transducers(|case, order| {
        let mut all = Vec::new();
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
    check_transducers(|case, order| {
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
