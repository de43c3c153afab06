//! Sound on the CUDA back end against the processor in double precision, and its towers against single steps. Without a device the tests say so and
//! pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;

use device::{build, distance, skip};
use ripplon::field::{FieldData, Precision};
use ripplon::physics::Equation;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Clock, Edit, FieldImage, ImageRequest, Taps, read_scene_text};

#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    size: &'static [usize],
    edges: &'static str,
    layers: &'static str,
    orders: &'static [u32],
}

const SPEED: &str =
    "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y + 13.3*z)\"\n";
const DENSITY: &str = "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y)\"\n\
    [[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"1.3 + 0.4*sin(7.1*x + 1.7*y + 3.3*z)\"\n";
const WALLS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [24.0, 3.0, 4.0]\nmax = [24.6, 14.0, 12.0]\nvalue = 1\n";
const DAMPED: &str = "[[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0, 4.0]\nmax = [30.0, 16.0, 12.0]\nvalue = 0.4\n";
const ALL: &[u32] = &[2, 4, 6, 8];

/// Heard and seen in every case of two and three dimensions.
const SOURCES: &str = "[[source]]\nat = [12.0, 13.0, 9.0]\nsignal = \"sine\"\nfrequency = 0.21\namplitude = 30.0\n\
    [[source]]\nfrom = [4.0, 17.0, 5.0]\nto = [9.0, 17.0, 5.0]\nsignal = \"ricker\"\nfrequency = 0.3\namplitude = 20.0\n\
    [[source]]\nat = [12.0, 13.0, 9.0]\nsignal = \"sine\"\nfrequency = 0.4\namplitude = 10.0\n";
const DETECTORS: &str = "[[detector]]\nname = \"point\"\nat = [14.0, 12.0, 8.0]\nmeasure = \"pressure\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0, 3.0], max = [6.0, 7.5, 6.0] }\nmeasure = \"peak\"\n";
const REGIONS: &str = "[[detector]]\nname = \"line\"\nfrom = [15.0, 2.0, 2.0]\nto = [15.0, 18.0, 8.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"room\"\nregion = { min = [2.0, 2.0, 2.0], max = [25.0, 17.5, 9.0] }\nmeasure = \"energy\"\n";

fn cases() -> Vec<Case> {
    let case = |name, size, edges, layers, orders| Case {
        name,
        size,
        edges,
        layers,
        orders,
    };
    let order2: &[u32] = &[2];
    vec![
        case("line", &[701], "\"wall\"", "", ALL),
        case(
            "ring with speeds",
            &[700],
            "\"periodic\"",
            "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(3.1*x)\"\n",
            ALL,
        ),
        case("absorbing line", &[300], "\"absorb\"\nabsorb_width = 17", "", ALL),
        case("soft plate", &[130, 71], "\"soft\"", "", ALL),
        case("plate with speeds", &[133, 64], "[\"periodic\", \"wall\"]", SPEED, ALL),
        case("small plate", &[52, 38], "[\"wall\", \"periodic\"]", "", ALL),
        case(
            "absorbing plate",
            &[128, 70],
            "\"absorb\"\nabsorb_width = 12",
            SPEED,
            ALL,
        ),
        case("densities", &[90, 61], "[\"soft\", \"wall\"]", DENSITY, order2),
        case(
            "absorbing densities",
            &[90, 61],
            "\"absorb\"\nabsorb_width = 9",
            DENSITY,
            order2,
        ),
        case("obstacles", &[90, 61], "[\"soft\", \"wall\"]", WALLS, ALL),
        case("obstacles on a torus", &[90, 61], "\"periodic\"", WALLS, ALL),
        case(
            "obstacles near absorbers",
            &[64, 45],
            "\"absorb\"\nabsorb_width = 14",
            WALLS,
            ALL,
        ),
        case("damped", &[90, 61], "\"wall\"", DAMPED, ALL),
        case("room", &[66, 48, 37], "\"wall\"", "", ALL),
        case("soft room", &[70, 45, 40], "[\"soft\", \"wall\", \"soft\"]", SPEED, ALL),
        case("torus", &[64, 48, 40], "\"periodic\"", "", ALL),
        case("room with pillars", &[66, 48, 37], "\"wall\"", WALLS, ALL),
        case(
            "absorbing room",
            &[66, 45, 40],
            "\"absorb\"\nabsorb_width = 10",
            "",
            ALL,
        ),
        case("damped densities", &[66, 48, 37], "\"wall\"", DENSITY, order2),
    ]
}

/// Rooms that towers go through.
fn rooms() -> Vec<Case> {
    let damped_pillars: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n\
        [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0, 4.0]\nmax = [30.0, 16.0, 12.0]\nvalue = 0.4\n";
    let case = |name, size, edges, layers, orders| Case {
        name,
        size,
        edges,
        layers,
        orders,
    };
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
        case("pillars", &[90, 64, 45], "\"wall\"", damped_pillars, &[2, 4]),
    ]
}

fn scene(case: &Case, order: u32, backend: &str, precision: &str, variant: &str, detectors: &str) -> Scenario {
    let rank = case.size.len();
    // Coordinates beyond the rank are cut off by the shape of the lists.
    let fit = |text: &str| {
        let mut out = String::new();
        for part in text.split_inclusive(']') {
            match part.rfind('[').filter(|_| part.contains(',')) {
                Some(open) if part.ends_with(']') => {
                    let list: Vec<&str> = part[open + 1..part.len() - 1].split(',').map(str::trim).collect();
                    let numbers = list.iter().all(|word| word.parse::<f64>().is_ok());
                    let kept = if numbers && list.len() > rank {
                        &list[..rank]
                    } else {
                        &list[..]
                    };
                    out.push_str(&format!("{}[{}]", &part[..open], kept.join(", ")));
                }
                _ => out.push_str(part),
            }
        }
        out
    };
    let sources = if rank > 1 { fit(SOURCES) } else { String::new() };
    let detectors = if rank > 1 { fit(detectors) } else { String::new() };
    let text = format!(
        "format = 1\ntitle = \"{}\"\n[grid]\nsize = {:?}\nspacing = 0.5\nedges = {}\n[acoustic]\nspeed = 1.0\ndensity = 1.2\n[time]\nstep = 0.11\n\
         [solver]\nmethod = \"fdtd\"\nbackend = \"{backend}\"\nprecision = \"{precision}\"\nvariant = \"{variant}\"\norder = {order}\n\
         {}{}{sources}{detectors}",
        case.name,
        case.size,
        case.edges,
        fit("[[pulse]]\ncenter = [9.0, 8.0, 7.0]\nwidth = 1.0\namplitude = 1.0\n"),
        fit(case.layers)
    );
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

fn random(sites: usize) -> FieldData {
    ripplon::engine::bench::random_field(Equation::Acoustic, Precision::Double, sites, 5)
}

/// A step rounds about 20 times a site, at random, but what is off in pⁿ − pⁿ⁻¹ goes on from step to step: n steps of errors that add up as n^(3/2). 31 steps:
/// ε/2·√20·170 = 4.6e-5 in single (ε = 1.2e-7), 8.5e-14 in double; the field is about as large as at the start.
fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 5e-5,
        Precision::Double => 1e-13,
    }
}

fn start() -> Clock {
    Clock {
        time_step: 0.11,
        ..Clock::default()
    }
}

#[test]
fn every_case_is_a_sound_scene() {
    for case in cases().into_iter().chain(rooms()).chain(plates()) {
        for &order in case.orders {
            let scenario = scene(
                &case,
                order,
                "cpu",
                "single",
                "stepwise",
                &format!("{DETECTORS}{REGIONS}"),
            );
            assert_eq!(build(&scenario).report().method, "fdtd", "{}", case.name);
        }
    }
}

#[test]
fn single_steps_agree_with_the_processor() {
    if skip() {
        return;
    }
    let mut wrong = Vec::new();
    let detectors = format!("{DETECTORS}{REGIONS}");
    for case in cases() {
        for &order in case.orders {
            let scenario = scene(&case, order, "cpu", "double", "stepwise", &detectors);
            let mut reference = build(&scenario);
            let field = random(scenario.grid().sites());
            reference
                .set_field(&field, start())
                .expect("the reference takes a field");
            let mut records = Taps::new(scenario.grid(), scenario.detectors());
            reference.advance(31, &mut records).expect("the reference steps");
            let expected = reference.field().expect("a field");
            let sums = reference.observables().expect("sums").values(3);
            for (word, precision) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let scenario = scene(&case, order, "cuda", word, "stepwise", &detectors);
                let mut run = build(&scenario);
                run.set_field(&field, start())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let mut taps = Taps::new(scenario.grid(), scenario.detectors());
                run.advance(13, &mut taps)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                run.advance(18, &mut taps)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                let off = distance(&run.field().expect("a field"), &expected);
                if off.is_nan() || off > tolerance(precision) {
                    wrong.push(format!("{name}: p is off by {off:.1e} ({})", run.report().details));
                    continue;
                }
                let found = run.observables().expect("sums").values(3);
                for (place, (a, b)) in found.iter().zip(&sums).enumerate() {
                    // Squares are off by twice as much; energies are differences of levels, a Δt/λ ≈ 10 times smaller than these.
                    if (a - b).abs() > 100.0 * tolerance(precision) * b.abs().max(1e-3) {
                        wrong.push(format!("{name}: observable {place} is {a}, should be {b}"));
                    }
                }
                assert_eq!(records.times(), taps.times());
                for detector in 0..scenario.detectors().len() {
                    let scale = records
                        .values(detector)
                        .iter()
                        .fold(0.0_f64, |most, value| most.max(value.abs()));
                    for (a, b) in taps.values(detector).iter().zip(records.values(detector)) {
                        if (a - b).abs() > 100.0 * tolerance(precision) * scale {
                            wrong.push(format!("{name}: detector {detector} says {a}, should say {b}"));
                            break;
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Plates that tiles go over.
fn plates() -> Vec<Case> {
    let case = |name, size, edges, layers, orders| Case {
        name,
        size,
        edges,
        layers,
        orders,
    };
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

#[test]
fn towers_give_the_bits_of_single_steps() {
    many_steps_give_the_bits_of_single_ones(&rooms(), "diamond-torre");
}

#[test]
fn tiles_give_the_bits_of_single_steps() {
    many_steps_give_the_bits_of_single_ones(&plates(), "tiled");
}

fn many_steps_give_the_bits_of_single_ones(cases: &[Case], variant: &str) {
    if skip() {
        return;
    }
    let mut wrong = Vec::new();
    for case in cases {
        for &order in case.orders {
            for (word, _) in Precision::ALL {
                let name = format!("{}, order {order}, {word}", case.name);
                let scenario = scene(case, order, "cuda", word, "stepwise", DETECTORS);
                let (mut one, mut many) = (
                    build(&scenario),
                    build(&scene(case, order, "cuda", word, variant, DETECTORS)),
                );
                if many.report().variant != variant {
                    // Shapes of towers that are not in the program need a compiler.
                    println!("{name}: {}", many.report().details);
                    assert_ne!(variant, "tiled", "{name}");
                    continue;
                }
                let field = random(scenario.grid().sites());
                let mut records = [(); 2].map(|()| Taps::new(scenario.grid(), scenario.detectors()));
                for (run, taps) in [&mut one, &mut many].into_iter().zip(&mut records) {
                    run.set_field(&field, start())
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                    for steps in [40, 3, 69] {
                        run.advance(steps, taps)
                            .unwrap_or_else(|error| panic!("{name}: {error}"));
                    }
                }
                if one.save().expect("a state") != many.save().expect("a state") {
                    let off = distance(&many.field().expect("a field"), &one.field().expect("a field"));
                    wrong.push(format!("{name}: off by {off:.1e} ({})", many.report().details));
                }
                if records[0] != records[1] {
                    wrong.push(format!("{name}: records differ"));
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
        let scenario = scene(&case, 2, "cpu", "double", "stepwise", "");
        let on_device = scene(&case, 2, "cuda", "double", "auto", "");
        let (mut cpu, mut gpu) = (build(&scenario), build(&on_device));
        cpu.set_field(&random(scenario.grid().sites()), start())
            .expect("a field");
        cpu.advance(9, &mut Taps::default()).expect("steps");
        gpu.load(&cpu.save().expect("a state")).expect("the state fits");
        assert_eq!(
            gpu.save().expect("a state"),
            cpu.save().expect("a state"),
            "{}: bit by bit",
            case.name
        );
        for (run, scenario) in [(&mut cpu, &scenario), (&mut gpu, &on_device)] {
            run.advance(9, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::TimeStep(0.07)).expect("another step");
            run.advance(8, &mut Taps::default()).expect("steps");
            run.edit(scenario, &Edit::Conjugate).expect("turns");
            run.edit(scenario, &Edit::Medium).expect("the medium again");
            run.advance(5, &mut Taps::default()).expect("steps");
        }
        let off = distance(&gpu.field().expect("a field"), &cpu.field().expect("a field"));
        assert!(off < 1e-12, "{}: {off:.1e}", case.name);
        assert_eq!(cpu.clock(), gpu.clock());
        cpu.load(&gpu.save().expect("a state")).expect("the state fits");
    }
}

#[test]
fn pictures_agree_and_show_their_moment() {
    if skip() {
        return;
    }
    for case in cases().into_iter().filter(|case| case.size.len() > 1) {
        let (mut cpu, mut gpu) = (
            build(&scene(&case, 2, "cpu", "double", "stepwise", "")),
            build(&scene(&case, 2, "cuda", "double", "auto", "")),
        );
        let sites = case.size.iter().product();
        for run in [&mut cpu, &mut gpu] {
            run.set_field(&random(sites), start()).expect("a field");
            run.advance(3, &mut Taps::default()).expect("steps");
        }
        let [nx, ny, nz] = [0, 1, 2].map(|axis| case.size.get(axis).copied().unwrap_or(1));
        for quantity in [Quantity::Pressure, Quantity::Energy, Quantity::Peak] {
            for most in [[300, 300], [20, 11]] {
                let request = ImageRequest {
                    quantity,
                    x: 1..nx,
                    y: 1..ny - 1,
                    z: nz / 2,
                    max_size: most,
                };
                let (mut a, mut b, mut later) = (FieldImage::default(), FieldImage::default(), FieldImage::default());
                cpu.image(&request, &mut a).expect("a picture");
                gpu.image(&request, &mut b).expect("a picture");
                assert_eq!(
                    (a.size, a.origin, a.reduction, a.quantity),
                    (b.size, b.origin, b.reduction, b.quantity)
                );
                let largest = a.value.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
                for (x, y) in a.value.iter().zip(&b.value) {
                    assert!((x - y).abs() <= 1e-5 * largest, "{} {quantity:?}: {x} {y}", case.name);
                }
                assert!(gpu.begin_image(&request).expect("a picture is begun"));
                for steps in [1, 9, 2] {
                    cpu.advance(steps, &mut Taps::default()).expect("steps");
                    gpu.advance(steps, &mut Taps::default()).expect("steps");
                }
                assert!(gpu.take_image(&mut later).expect("a picture"));
                assert!(later == b, "{}, {quantity:?}", case.name);
                assert!(!gpu.take_image(&mut later).expect("none is left"));
            }
        }
    }
}
