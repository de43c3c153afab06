//! Crank–Nicolson on the CUDA back end against elimination from end to end on the processor in double precision. Without a device the tests say so
//! and pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "../common/device.rs"]
mod device;
#[path = "../common/lines.rs"]
mod lines;
mod looks;
mod parts;
mod planes;
mod trials;

use device::{build, distance, needs_device};
use lines::{ABSORBS, DRIVEN, POTENTIAL};
use ripplon::field::{FieldData, Precision};
use ripplon::physics::Equation;
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, Edit, Taps, read_scene_text};

/// Name, edges, lines of `[quantum]`, layers, lines of `[time]`.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
    ("line", "wall", "", POTENTIAL, ""),
    ("ring", "periodic", "", POTENTIAL, ""),
    ("empty ring", "periodic", "", "", ""),
    ("obstacles", "wall", "", OBSTACLES, ""),
    ("obstacles on a ring", "periodic", "", OBSTACLES, ""),
    ("absorption", "wall", "", ABSORBS, ""),
    ("interaction", "wall", "interaction = 3.0\n", POTENTIAL, ""),
    ("driven", "wall", "", DRIVEN, ""),
    (
        "driven ring with interaction",
        "periodic",
        "interaction = 2.0\n",
        DRIVEN,
        "",
    ),
    ("imaginary", "wall", "", POTENTIAL, "imaginary = true\n"),
    ("imaginary ring", "periodic", "", POTENTIAL, "imaginary = true\n"),
];

const OBSTACLES: &str = "[[layer]]\nsets = \"potential\"\nvalue = \"0.6*sin(37.1*x)\"\n\
    [[layer]]\nsets = \"wall\"\nvalue = \"mod(x, 17) < 1\"\n[[layer]]\nsets = \"wall\"\nvalue = \"x < 3\"\n";
/// One block, several, a number that fills blocks to the last row; joints of blocks that one block solves for, every block, one with several warps, and 32 in parts.
const SIZES: &[usize] = &[3, 20, 300, 2048, 5000, 70_001, 600_001, 2_200_003];
const STEPS: u64 = 12;

fn scenario(case: &Case, size: usize, backend: &str, precision: &str, step: f64) -> Scenario {
    scene(case, &[sites(case, size)], backend, precision, step)
}

/// `case` on a grid of this size.
fn scene(case: &Case, size: &[usize], backend: &str, precision: &str, step: f64) -> Scenario {
    watched(case, "", size, backend, precision, step)
}

/// The same with detectors.
fn watched(case: &Case, detectors: &str, size: &[usize], backend: &str, precision: &str, step: f64) -> Scenario {
    on_devices(case, detectors, size, [backend, precision, ""], step)
}

/// The same with a back end, a precision and a line that says on which devices.
fn on_devices(
    case: &Case,
    detectors: &str,
    size: &[usize],
    [backend, precision, devices]: [&str; 3],
    step: f64,
) -> Scenario {
    let (name, edges, quantum, layers, time) = case;
    let ones = vec![1.0; size.len()];
    let width = if *edges == "absorb" { "absorb_width = 8\n" } else { "" };
    let variant = if backend == "cpu" { "thomas" } else { "auto" };
    let text = format!(
        "format = 1\ntitle = \"{name}\"\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = \"{edges}\"\n{width}[quantum]\nmass = 0.5\n{quantum}[time]\nstep = {step}\n{time}\
         [solver]\nmethod = \"crank-nicolson\"\nbackend = \"{backend}\"\nprecision = \"{precision}\"\nvariant = \"{variant}\"\n{devices}{layers}\
         [[packet]]\ncenter = {ones:?}\nwidth = {ones:?}\n{detectors}"
    );
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(error) => panic!("{text}\n{error}"),
    }
}

/// Rings have an even number of sites, and walls leave one free.
fn sites(case: &Case, size: usize) -> usize {
    match (case.0, case.1) {
        (_, "periodic") => size.next_multiple_of(2),
        ("obstacles", _) => size.max(4),
        _ => size,
    }
}

/// A solve rounds some twenty times a row, factors included, and a step of size Δt·J = 1/2 conditions the system by no more than 3: twelve steps
/// of 20 ε/2 at random, eight times over.
fn tolerance(precision: Precision) -> f64 {
    let epsilon = match precision {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => f64::EPSILON,
    };
    8.0 * 20.0 * epsilon / 2.0 * 12f64.sqrt()
}

fn start(step: f64) -> Clock {
    Clock::at_start(step)
}

fn random(sites: usize) -> FieldData {
    ripplon::engine::bench::random_field(Equation::Schrodinger, Precision::Double, sites, 11)
}

/// Cases and the sizes they are tried at. Long lines of random numbers once: they test the blocks, not the terms.
fn lines() -> impl Iterator<Item = (&'static Case, usize)> {
    let every = |case| SIZES.iter().map(move |size| (case, *size));
    (CASES.iter().flat_map(every)).filter(|(case, size)| *size < 500_000 || ["line", "ring"].contains(&case.0))
}

/// Reads the scene that a test gives a device, under the name that is known where there is none, and builds the one that it is compared with.
fn is_sound(scene: impl Fn(&str) -> Scenario) {
    scene("auto");
    let here = scene("cpu");
    assert_eq!(build(&here).report().variant, "thomas", "{}", here.title());
}

/// Also where there is no device.
#[test]
fn every_line_is_a_sound_scene() {
    for (case, size) in lines() {
        is_sound(|backend| scenario(case, size, backend, "double", 0.5));
    }
}

#[test]
fn lines_agree_with_the_processor() {
    needs_device!();
    let mut wrong = Vec::new();
    for (case, size) in lines() {
        let reference = scenario(case, size, "cpu", "double", 0.5);
        let mut reference = build(&reference);
        let field = random(sites(case, size));
        reference.set_field(&field, start(0.5)).unwrap();
        reference.advance(STEPS, &mut Taps::default()).unwrap();
        let expected = reference.field().unwrap();
        let sums = reference.observables().unwrap();
        for (word, precision) in Precision::ALL {
            let mut run = build(&scenario(case, size, "cuda", word, 0.5));
            run.set_field(&field, start(0.5)).unwrap();
            for steps in [1, 4, STEPS - 5] {
                run.advance(steps, &mut Taps::default()).unwrap();
            }
            let error = distance(&run.field().unwrap(), &expected);
            let name = format!(
                "{}, {size} sites, {word}: {error:.1e} ({})",
                case.0,
                run.report().details
            );
            println!("{name}");
            if error.is_nan() || error > tolerance(precision) {
                wrong.push(name.clone());
            }
            let norm = run.observables().unwrap().norm;
            let off = (norm - sums.norm).abs();
            if off.is_nan() || off > 4.0 * tolerance(precision) * sums.norm {
                wrong.push(format!("{name}: norm {norm} instead of {}", sums.norm));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn edits_and_checkpoints_go_from_one_place_to_the_other() {
    needs_device!();
    check_edits(5000, tolerance(Precision::Double), |backend| {
        [3, 0].map(|case: usize| scenario(&CASES[case], 5000, backend, "double", 0.5))
    });
}

/// Steps, edits and checkpoints of both back ends, in double precision: the first of `scenes` is that of the start, the other one has the medium
/// that is taken then.
fn check_edits(sites: usize, tolerance: f64, scenes: impl Fn(&str) -> [Scenario; 2]) {
    let mut runs = ["cpu", "cuda"].map(|backend| {
        let [first, other] = scenes(backend);
        let mut run = build(&first);
        run.set_field(&random(sites), start(0.5)).unwrap();
        run.advance(5, &mut Taps::default()).unwrap();
        run.edit(&first, &Edit::TimeStep(-0.2)).unwrap();
        run.advance(3, &mut Taps::default()).unwrap();
        run.edit(&other, &Edit::Medium).unwrap();
        run.edit(&other, &Edit::Conjugate).unwrap();
        run.advance(4, &mut Taps::default()).unwrap();
        run
    });
    let fields = runs.each_mut().map(|run| run.field().unwrap());
    assert!(distance(&fields[1], &fields[0]) < tolerance);
    // Each goes on from the other's checkpoint.
    let states = runs.each_mut().map(|run| run.save().unwrap());
    let [here, there] = &mut runs;
    here.load(&states[1]).unwrap();
    there.load(&states[0]).unwrap();
    for run in [&mut *here, &mut *there] {
        run.advance(6, &mut Taps::default()).unwrap();
    }
    assert!(distance(&there.field().unwrap(), &here.field().unwrap()) < tolerance);
}
