//! Sound on the CUDA back end against the processor in double precision, and its towers against single steps. Without a device the tests say so and
//! pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;
#[path = "common/rooms.rs"]
mod rooms;
#[path = "common/transduced.rs"]
mod transduced;

use device::{build, needs_device};
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::Taps;
use rooms::{
    ALL, BESIDE_EDGES, Case, DAMPED, DENSITY, DETECTORS, REGIONS, SPEED, WALLS, cases, check_checkpoints,
    check_pictures, differences, different_bits, fdtd as scene, seams, tolerance,
};
use transduced::{ACTS, Score, compare};

/// Rooms that towers go through.
fn rooms() -> Vec<Case> {
    let damped_pillars: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n\
        [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0, 4.0]\nmax = [30.0, 16.0, 12.0]\nvalue = 0.4\n";
    let case = Case::new;
    vec![
        case("aligned", &[100, 64, 70], "\"wall\"", "", ALL),
        case("ragged", &[77, 61, 53], "\"wall\"", SPEED, ALL),
        case(
            "two blocks",
            &[300, 48, 50],
            "[\"periodic\", \"wall\", \"wall\"]",
            "",
            &[2, 4],
        ),
        case(
            "four blocks",
            &[801, 48, 40],
            "[\"soft\", \"periodic\", \"wall\"]",
            "",
            &[2, 4],
        ),
        case("soft", &[66, 63, 50], "\"soft\"", "", ALL),
        case(
            "eight ends of blocks",
            &[420, 48, 60],
            "[\"wall\", \"periodic\", \"wall\"]",
            SPEED,
            &[8],
        ),
        case(
            "sixteen blocks",
            &[900, 40, 48],
            "[\"periodic\", \"wall\", \"wall\"]",
            "",
            &[8],
        ),
        case("pillars", &[90, 64, 45], "\"wall\"", damped_pillars, &[2, 4]),
        case(
            "absorbing on all sides",
            &[100, 64, 70],
            "\"absorb\"\nabsorb_width = 9",
            "",
            &[2],
        ),
        case(
            "absorbing, four blocks",
            &[252, 72, 66],
            "[\"absorb\", \"wall\", \"absorb\"]\nabsorb_width = 20",
            SPEED,
            &[2],
        ),
        case(
            "absorbing, askew, with pillars",
            &[180, 61, 59],
            "[\"soft\", \"absorb\", \"absorb\"]\nabsorb_width = 8",
            damped_pillars,
            &[2],
        ),
    ]
}

/// Rooms whose segments are shared among several kernels of single steps: those for layers, for densities, for everything, and the plain one.
fn halls() -> Vec<Case> {
    let case = Case::new;
    let size: &[usize] = &[100, 80, 72];
    let open = "\"absorb\"\nabsorb_width = 10";
    let half_open = "[\"absorb\", \"wall\", \"absorb\"]\nabsorb_width = 10";
    vec![
        case("absorbing hall", size, open, SPEED, ALL),
        case("half-open hall", size, half_open, "", ALL),
        case("hall with pillars", size, open, WALLS, ALL),
        case("densities in a hall", size, open, DENSITY, &[2]),
        case("densities in a half-open hall", size, half_open, DENSITY, &[2]),
        case(
            "densities in a closed hall",
            size,
            "[\"soft\", \"wall\", \"periodic\"]",
            DENSITY,
            &[2],
        ),
    ]
}

#[test]
fn every_case_is_a_sound_scene() {
    for case in cases().into_iter().chain(halls()).chain(rooms()).chain(plates()) {
        for &order in case.orders {
            let sounds = format!("{DETECTORS}{REGIONS}{CHOIR}{MOVING}");
            let scenario = scene(&case, order, "cpu", "single", "stepwise", &sounds);
            assert_eq!(build(&scenario).report().method, "fdtd", "{}", case.name);
        }
    }
}

#[test]
fn single_steps_agree_with_the_processor() {
    needs_device!();
    let mut wrong = Vec::new();
    for case in cases().into_iter().chain(halls()) {
        let beside = if case.edges.contains("absorb") {
            String::new()
        } else {
            BESIDE_EDGES.to_owned() + &seams(&case)
        };
        let detectors = format!("{DETECTORS}{REGIONS}{CHOIR}{beside}");
        for &order in case.orders {
            let expected = scene(&case, order, "cpu", "double", "stepwise", &detectors);
            for (word, precision) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let found = scene(&case, order, "cuda", word, "stepwise", &detectors);
                wrong.extend(differences(&name, &expected, &found, tolerance(precision)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Transducers hear, add and overwrite on the device what they do on the processor; one of them stands in a wall.
#[test]
fn transducers_act_as_on_the_processor() {
    needs_device!();
    let case = Case::new("obstacles", &[90, 61], "[\"periodic\", \"wall\"]", WALLS, ALL);
    let expected = scene(&case, 4, "cpu", "double", "stepwise", DETECTORS);
    let found = scene(&case, 4, "cuda", "double", "auto", DETECTORS);
    let sites = [0, 7, 89, 90 * 22 + 32, 90 * 30 + 1, 90 * 31, 90 * 60 + 89];
    let field = rooms::random(expected.grid().sites());
    let score = Score {
        sites: &sites,
        field: &field,
        start: rooms::start(),
        steps: &[40, 290],
        loud: 1.0,
    };
    for act in ACTS {
        let name = format!("{}, {act:?}", case.name);
        compare(
            &name,
            &mut score.play(&expected, act),
            &mut score.play(&found, act),
            1e-11,
        );
    }
}

/// Plates that tiles go over.
fn plates() -> Vec<Case> {
    let case = Case::new;
    vec![
        case("plate", &[401, 250], "\"wall\"", "", ALL),
        case("smaller than a tile", &[52, 38], "[\"soft\", \"periodic\"]", "", ALL),
        case("soft plate", &[333, 90], "\"soft\"", SPEED, ALL),
        case("torus", &[256, 128], "\"periodic\"", SPEED, ALL),
        case("pillars", &[900, 700], "[\"wall\", \"soft\"]", WALLS, ALL),
        case(
            "absorbing, damped",
            &[1200, 1000],
            "\"absorb\"\nabsorb_width = 11",
            DAMPED,
            ALL,
        ),
    ]
}

/// Sources that fill a row and a column, one at an edge, and regions that are summed now and then.
const CHOIR: &str = "[[source]]\nfrom = [1.0, 3.0, 5.0]\nto = [24.0, 3.0, 5.0]\nsignal = \"sine\"\nfrequency = 0.15\namplitude = 3.0\n\
    [[source]]\nfrom = [21.5, 0.0, 5.0]\nto = [21.5, 18.0, 5.0]\nsignal = \"sine\"\nfrequency = 0.11\namplitude = 2.0\n\
    [[source]]\nat = [0.2, 0.1, 0.0]\nsignal = \"ricker\"\nfrequency = 0.2\namplitude = 9.0\n\
    [[detector]]\nname = \"cut\"\nfrom = [15.0, 2.0, 2.0]\nto = [15.0, 18.0, 8.0]\nmeasure = \"flux\"\nevery = 9\n\
    [[detector]]\nname = \"hall\"\nregion = { min = [2.0, 2.0, 2.0], max = [25.0, 17.5, 9.0] }\nmeasure = \"energy\"\nevery = 6\n";
/// One that drives through the plate and off it.
const MOVING: &str = "[[source]]\nat = [3.0, 5.3, 4.0]\nsignal = \"sine\"\nfrequency = 0.3\namplitude = 5.0\nvelocity = [2.1, 0.9, 0.0]\n";

#[test]
fn towers_give_the_bits_of_single_steps() {
    many_steps_give_the_bits_of_single_ones(&rooms(), "diamond-torre", DETECTORS);
}

#[test]
fn tiles_give_the_bits_of_single_steps() {
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled", DETECTORS);
}

/// Sources, records and the integral of the pressure are taken along.
#[test]
fn tiles_play_hear_and_integrate() {
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled", &format!("{DETECTORS}{CHOIR}"));
}

/// Fluxes of every step do not end passes: along both axes, at an edge or over the seam of a ring, beside a source, and now and then.
#[test]
fn tiles_follow_fluxes() {
    needs_device!();
    let flux = |name: &str, [from, to]: [&str; 2], more: &str| {
        format!("[[detector]]\nname = \"{name}\"\nfrom = [{from}]\nto = [{to}]\nmeasure = \"flux\"\n{more}")
    };
    let fluxes = [
        flux("across", ["21.0, 2.0, 5.0", "21.0, 18.0, 5.0"], ""),
        flux("along", ["2.0, 3.0, 5.0", "24.0, 3.0, 5.0"], ""),
        flux("edge", ["0.0, 0.0, 5.0", "0.0, 9.0, 5.0"], ""),
        flux("seldom", ["9.0, 2.0, 5.0", "9.0, 18.0, 5.0"], "every = 7\n"),
    ];
    let sources: String = CHOIR.split_inclusive("[[detector]]").take(1).collect();
    let sources = sources.trim_end_matches("[[detector]]");
    let point = "[[detector]]\nname = \"point\"\nat = [4.0, 8.5, 4.2]\nmeasure = \"value\"\n";
    let sounds = format!("{sources}{point}{}", fluxes.concat());
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled", &sounds);
    let followed = |scenario: &Scenario, steps: u64| {
        let mut run = build(scenario);
        run.advance(steps, &mut Taps::of(scenario)).unwrap();
        run.report().details.contains("fluxes followed")
    };
    let case = &plates()[0];
    let tiled = scene(case, 2, "cuda", "single", "tiled", &sounds);
    assert!(followed(&tiled, 40));
    // Nothing is fused.
    assert!(!followed(&tiled, 1));
    assert!(!followed(&scene(case, 2, "cuda", "single", "stepwise", &sounds), 40));
}

/// The map of the largest pressures, which states have beside the levels, is taken along too, where no velocity is kept.
#[test]
fn tiles_keep_the_largest_pressures() {
    let points =
        "[[detector]]\nname = \"point\"\nat = [4.0, 8.5, 4.2]\nmeasure = \"value\"\n[view]\nquantity = \"peak\"\n";
    let sources: String = CHOIR.split_inclusive("[[detector]]").take(1).collect();
    let sources = sources.trim_end_matches("[[detector]]");
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled", &format!("{sources}{points}"));
}

/// Planes too small for tiles go in blocks alone, where something takes more than the plain kernel.
#[test]
fn small_planes_give_the_bits_of_single_steps() {
    needs_device!();
    let (mut wrong, mut blocks) = (Vec::new(), 0);
    for case in plates() {
        for &order in case.orders {
            for (word, _) in Precision::ALL {
                for sounds in [
                    String::new(),
                    format!("{DETECTORS}{CHOIR}"),
                    format!("{DETECTORS}{MOVING}"),
                ] {
                    let name = format!("{}, order {order}, {word}", case.name);
                    let [single, own] =
                        ["stepwise", "auto"].map(|variant| scene(&case, order, "cuda", word, variant, &sounds));
                    blocks += usize::from(build(&own).report().variant == "tiled");
                    wrong.extend(different_bits(&name, [&single, &own], &[40, 3, 69]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(blocks > 0, "no plane went in blocks");
}

#[test]
fn tiles_hear_what_moves() {
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled", &format!("{DETECTORS}{MOVING}"));
}

/// Sites of transducers everywhere along the edges: images beyond a soft edge have the other sign, and must not be taken for the sites.
#[test]
fn transducers_in_tiles_give_the_bits_of_single_steps() {
    needs_device!();
    for case in plates() {
        let [nx, ny] = [case.size[0], case.size[1]];
        let mut sites: Vec<usize> = (0..nx)
            .flat_map(|i| [i, nx * (ny - 1) + i, nx * (ny / 2) + i])
            .collect();
        sites.extend((0..ny).flat_map(|j| [nx * j, nx * j + nx - 1, nx * j + nx - 2]));
        sites.sort_unstable();
        sites.dedup();
        let field = rooms::random(nx * ny);
        let score = Score {
            sites: &sites,
            field: &field,
            start: rooms::start(),
            steps: &[11, 64, 5],
            loud: 1.0,
        };
        for act in ACTS {
            let of = |variant: &str| {
                let scenario = scene(&case, 2, "cuda", "single", variant, DETECTORS);
                let (mut run, taps) = score.play(&scenario, act);
                assert_eq!(run.report().variant, variant, "{}", case.name);
                (run.save().unwrap(), taps)
            };
            let (single, tiled) = (of("stepwise"), of("tiled"));
            assert!(single.0 == tiled.0, "{}, {act:?}: fields differ", case.name);
            let heard = |taps: &Taps| taps.transducers().map(|own| own.heard().to_vec());
            assert!(
                heard(&single.1) == heard(&tiled.1),
                "{}, {act:?}: what was heard differs",
                case.name
            );
            assert!(
                rooms::same_records(&single.1, &tiled.1),
                "{}, {act:?}: records differ",
                case.name
            );
        }
    }
}

fn many_steps_give_the_bits_of_single_ones(cases: &[Case], variant: &str, sounds: &str) {
    needs_device!();
    let mut wrong = Vec::new();
    for case in cases {
        for &order in case.orders {
            for (word, _) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let single = scene(case, order, "cuda", word, "stepwise", sounds);
                let passes = scene(case, order, "cuda", word, variant, sounds);
                let report = build(&passes).report();
                if report.variant != variant {
                    // Shapes of towers that are not in the program need a compiler; clusters of blocks and bulk copies a device that has them.
                    println!("{name}: {}", report.details);
                    assert_ne!(variant, "tiled", "{name}");
                    let embedded = word == "single" && (order == 8 || case.edges.contains("absorb"));
                    assert!(
                        !embedded || case.size[0] % 4 != 0 || report.details.contains("this device"),
                        "{name}"
                    );
                    continue;
                }
                wrong.extend(different_bits(&name, [&single, &passes], &[40, 3, 69]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn checkpoints_and_edits_go_from_one_place_to_the_other() {
    needs_device!();
    for case in cases() {
        let on_host = scene(&case, 2, "cpu", "double", "stepwise", "");
        check_checkpoints(
            case.name,
            &on_host,
            &scene(&case, 2, "cuda", "double", "auto", ""),
            1e-12,
        );
    }
}

#[test]
fn pictures_agree_and_show_their_moment() {
    needs_device!();
    for case in cases().into_iter().filter(|case| case.size.len() > 1) {
        let on_host = scene(&case, 2, "cpu", "double", "stepwise", "");
        check_pictures(&case, &on_host, &scene(&case, 2, "cuda", "double", "auto", ""), 1e-5);
    }
}

/// What rounding adds to the speed of a pressure that rests in layers is damped, by every kernel that steps them.
#[test]
fn layers_hold_what_rests_in_them() {
    needs_device!();
    let plane: &[usize] = &[64, 24];
    let mut wrong = Vec::new();
    for order in [2, 4, 6, 8] {
        for (size, variant) in [(&[9, 8][..], "stepwise"), (plane, "tiled"), (&[12, 9, 10], "stepwise")] {
            let drift = rooms::drift_in_layers(size, order, "cuda", variant);
            if drift.is_nan() || drift > 0.01 {
                wrong.push(format!("order {order}, {variant}, {size:?}: {drift}"));
            }
        }
    }
    let drift = rooms::drift_in_layers(&[100, 24, 24], 2, "cuda", "diamond-torre");
    if drift.is_nan() || drift > 0.01 {
        wrong.push(format!("diamond-torre: {drift}"));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A pressure that rests in a guide beside a post stays what it is in single precision: layers damp the pressure there, and their memories take over what the step and its damping
/// are rounded by, together. Where the damping was rounded behind the step, what was left of noise grew without end, on the processor 2 and 1.6 times from the first look to the second.
#[test]
fn guides_with_obstacles_hold_what_rests() {
    needs_device!();
    let mut wrong = Vec::new();
    for (size, order, variant, looks) in [
        ([46, 5], 2, "stepwise", [200_000, 1_000_000]),
        ([46, 5], 2, "tiled", [200_000, 1_000_000]),
        ([56, 12], 8, "stepwise", [100_000, 400_000]),
        ([56, 12], 8, "tiled", [100_000, 400_000]),
    ] {
        let peaks = rooms::peaks_beside_a_post(&size, order, ("cuda", variant), looks);
        // Bound waves lose less than this.
        let change = peaks[1] / peaks[0] - 1.0;
        if change.is_nan() || change.abs() > 0.03 {
            wrong.push(format!("order {order}, {variant}: {peaks:?} Pa after {looks:?} steps"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
