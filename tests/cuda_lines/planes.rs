//! Planes: the same product of Cayley factors as the processor's.

use super::device::{build, distance, needs_device};
use super::{ABSORBS, CASES, Case, POTENTIAL, check_edits, is_sound, random, scene, start, tolerance};
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::{Edit, Taps};

/// Lines of one thread, of a part of a warp, a warp, several, in every shape of threads and rows; more lines than a block has, and fewer.
const SIZES: &[[usize; 2]] = &[
    [5, 7],
    [33, 70],
    [40, 300],
    [300, 44],
    [1031, 66],
    [66, 2051],
    [5000, 12],
    [12, 5001],
    [8200, 6],
    [6, 16_384],
];
/// Lines that are longer fit in single precision only.
const LONGEST_IN_DOUBLE: usize = 8192;
const STEPS: u64 = 12;
/// Of the tests of norms, edits and steps back, and of the longest lines.
const UNITARY: [usize; 2] = [130, 94];
const EDITED: [usize; 2] = [200, 90];
const BACK: [usize; 2] = [300, 44];
const BEYOND: [usize; 2] = [8200, 4];

fn even(case: &Case, size: [usize; 2]) -> [usize; 2] {
    if case.1 == "periodic" {
        size.map(|sites| sites.next_multiple_of(2))
    } else {
        size
    }
}

fn plane(case: &Case, size: [usize; 2], backend: &str, precision: &str) -> Scenario {
    scene(case, &even(case, size), backend, precision, 0.5)
}

/// A step has three solves and two phases where a line's has one solve; they round independently.
fn allowed(precision: Precision) -> f64 {
    2.0 * tolerance(precision)
}

const EDGES: Case = ("absorbing edges", "absorb", "", POTENTIAL, "");
const DAMPED: Case = (
    "absorption with interaction",
    "wall",
    "interaction = 2.0\n",
    ABSORBS,
    "",
);

/// Cases and the sizes they are tried at. Two layers of eight sites need room.
fn planes() -> impl Iterator<Item = (&'static Case, [usize; 2])> {
    let every = |case| SIZES.iter().map(move |size| (case, *size));
    (CASES.iter().chain([&EDGES, &DAMPED]).flat_map(every))
        .filter(|(case, size)| case.1 != "absorb" || size.iter().all(|sites| *sites > 16))
}

/// Also where there is no device.
#[test]
fn every_plane_is_a_sound_scene() {
    for (case, size) in planes() {
        is_sound(|backend| plane(case, size, backend, "double"));
    }
    for (case, size) in [
        (&CASES[0], UNITARY),
        (&CASES[8], EDITED),
        (&CASES[2], BACK),
        (&CASES[0], BEYOND),
    ] {
        is_sound(|backend| plane(case, size, backend, "double"));
    }
}

#[test]
fn planes_agree_with_the_processor() {
    needs_device!();
    let mut wrong = Vec::new();
    for (case, size) in planes() {
        let sites = even(case, size).iter().product();
        let field = random(sites);
        let mut reference = build(&plane(case, size, "cpu", "double"));
        reference.set_field(&field, start(0.5)).unwrap();
        reference.advance(STEPS, &mut Taps::default()).unwrap();
        let expected = reference.field().unwrap();
        let sums = reference.observables().unwrap();
        for (word, precision) in Precision::ALL {
            if precision == Precision::Double && size.iter().any(|sites| *sites > LONGEST_IN_DOUBLE) {
                continue;
            }
            let mut run = build(&plane(case, size, "cuda", word));
            run.set_field(&field, start(0.5)).unwrap();
            for steps in [1, 4, STEPS - 5] {
                run.advance(steps, &mut Taps::default()).unwrap();
            }
            let error = distance(&run.field().unwrap(), &expected);
            let name = format!("{}, {size:?}, {word}: {error:.1e} ({})", case.0, run.report().details);
            println!("{name}");
            if error.is_nan() || error > allowed(precision) {
                wrong.push(name.clone());
            }
            let found = run.observables().unwrap();
            for (what, a, b) in [("norm", found.norm, sums.norm), ("energy", found.energy, sums.energy)] {
                let off = (a - b).abs();
                if off.is_nan() || off > 8.0 * allowed(precision) * (1.0 + b.abs()) {
                    wrong.push(format!("{name}: {what} {a} instead of {b}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Three factors a step, each of which rounding changes by some ε: 4ε · 3000 = 2.7e-12 in double. In single the norm is given back every 64 steps, the last
/// time 40 before the end: 4ε · 120 = 5.7e-5 at worst.
#[test]
fn steps_of_a_plane_are_unitary() {
    needs_device!();
    for case in [&CASES[0], &CASES[2], &CASES[3], &CASES[4], &CASES[6]] {
        for (word, allowed) in [("double", 3e-12), ("single", 6e-5)] {
            let mut run = build(&plane(case, UNITARY, "cuda", word));
            run.set_field(&random(UNITARY.iter().product()), start(0.5)).unwrap();
            let before = run.observables().unwrap().norm;
            run.advance(1000, &mut Taps::default()).unwrap();
            let drift = run.observables().unwrap().norm / before - 1.0;
            println!("{}, {word}: {drift:.1e}", case.0);
            assert!(drift.abs() < allowed, "{}, {word}: {drift:.1e}", case.0);
        }
    }
}

#[test]
fn edits_and_checkpoints_of_planes_go_from_one_place_to_the_other() {
    needs_device!();
    let sites = even(&CASES[4], EDITED).iter().product();
    check_edits(sites, allowed(Precision::Double), |backend| {
        [4, 8].map(|case: usize| plane(&CASES[case], EDITED, backend, "double"))
    });
}

/// One step forwards and one back give the start: the product is symmetric.
#[test]
fn planes_run_back() {
    needs_device!();
    let scenario = plane(&CASES[2], BACK, "cuda", "double");
    let field = random(BACK.iter().product());
    let mut run = build(&scenario);
    run.set_field(&field, start(0.5)).unwrap();
    run.advance(20, &mut Taps::default()).unwrap();
    assert!(distance(&run.field().unwrap(), &field) > 0.1, "it did not move");
    run.edit(&scenario, &Edit::TimeStep(-0.5)).unwrap();
    run.advance(20, &mut Taps::default()).unwrap();
    assert!(distance(&run.field().unwrap(), &field) < allowed(Precision::Double) * 2.0);
}

#[test]
fn lines_that_no_block_reaches_over_are_refused_with_the_limit() {
    needs_device!();
    let scenario = plane(&CASES[0], BEYOND, "cuda", "double");
    let method = ripplon::solver::find("crank-nicolson").unwrap();
    let said = (method.build)(&scenario).err().expect("8192 is the most").to_string();
    assert!(said.contains("8192") && said.contains("8200"), "{said}");
    assert_eq!(
        build(&plane(&CASES[0], BEYOND, "cuda", "single")).report().variant,
        "n-partition"
    );
}
