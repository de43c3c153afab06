//! Bonds, sites and components that differ, on the device against the processor.

use super::cases::{BOXES, Case, DRIVEN, POTENTIAL, WALLS, case, random_field, scene, text};
use super::device::{build, distance, needs_device, skip};
use super::echo::echo;
use super::transduced::{ACTS, Score, compare};
use super::{agree, tolerance};
use ripplon::engine::{Engine, Verdict};
use ripplon::field::{FieldData, Precision};
use ripplon::physics::Sets;
use ripplon::scene::presets;
use ripplon::solver::{Clock, Taps, read_scene, read_scene_text};
use std::sync::Arc;

const START: Clock = Clock::at_start(0.11);

/// Bonds at random, of both signs.
const HOPPING: &str = "[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nshape = \"everywhere\"\nvalue = \"1.4*random(x, y, z, 1) - 0.3\"\n\
    [[layer]]\nsets = \"hopping\"\naxis = \"y\"\nshape = \"everywhere\"\nvalue = \"1.4*random(x, y, z, 2) - 0.3\"\n";
const CHAIN: &str =
    "[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nshape = \"everywhere\"\nvalue = \"1.4*random(x) - 0.3\"\n";
const UPWARDS: &str =
    "[[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"everywhere\"\nvalue = \"1.4*random(x, y, z, 3) - 0.3\"\n";
/// Planes that few bonds join.
const APART: &str = "[[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"everywhere\"\nvalue = 0.0\n\
    [[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"box\"\nmin = [8.0, 6.0, 0.5]\nmax = [33.0, 11.0, 2.0]\nvalue = 0.4\n";
/// Weak bonds along z, and a box at the border of tiles in which others differ too.
const BOXED: &str = "[[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"everywhere\"\nvalue = 0.6\n\
    [[layer]]\nsets = \"hopping\"\naxis = \"x\"\nshape = \"box\"\nmin = [29.0, 6.0, 1.0]\nmax = [31.0, 11.0, 2.5]\nvalue = -0.7\n\
    [[layer]]\nsets = \"hopping\"\naxis = \"y\"\nshape = \"box\"\nmin = [20.0, 13.5, 0.0]\nmax = [30.5, 14.5, 1.5]\nvalue = 1.2\n";
const FLUX: &str = "[[layer]]\nsets = \"flux\"\nshape = \"everywhere\"\nvalue = \"random(x, y, z, 4) - 0.5\"\n";
const STRENGTHS: &str =
    "[[layer]]\nsets = \"interaction\"\nshape = \"everywhere\"\nvalue = \"1.6*random(x, y, z, 5) - 0.4\"\n";
const POSITIVE: &str =
    "[[layer]]\nsets = \"interaction\"\nshape = \"everywhere\"\nvalue = \"1.6*random(x, y, z, 5)\"\n";

const SHAKEN: &str =
    "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.6*cos(0.7*x + z)\"\ndrive = \"sin(3*t)\"\n";

/// A case whose layers are these.
fn of(
    (name, size): (&'static str, &'static [usize]),
    (edges, quantum): (&'static str, &'static str),
    layers: &[&str],
) -> Case {
    // The tests' cases are made once.
    case(name, size, edges, quantum, Box::leak(layers.concat().into_boxed_str()))
}

fn imaginary(case: &Case) -> Case {
    Case {
        orders: &[1, 2],
        imaginary: true,
        ..case.clone()
    }
}

fn bonds() -> Vec<Case> {
    let hopping = "hopping = 1.0";
    vec![
        of(("chain", &[301]), ("\"wall\"", hopping), &[CHAIN, STRENGTHS]),
        of(("ring of bonds", &[1000]), ("\"periodic\"", "mass = 0.9"), &[CHAIN]),
        of(
            ("random bonds", &[140, 90]),
            ("\"wall\"", "mass = 0.9"),
            &[HOPPING, POTENTIAL],
        ),
        of(("tiny bonds", &[5, 3]), ("\"wall\"", hopping), &[HOPPING, FLUX]),
        of(
            ("random fluxes", &[139, 89]),
            ("\"wall\"", "hopping = 1.0\nflux = 0.013"),
            &[FLUX, WALLS],
        ),
        of(
            ("bonds on a torus", &[132, 64]),
            ("\"periodic\"", hopping),
            &[HOPPING, WALLS],
        ),
        of(
            ("fluxes round a tube", &[130, 88]),
            ("[\"periodic\", \"wall\"]", hopping),
            &[HOPPING, FLUX, POTENTIAL],
        ),
        of(
            ("turning frame", &[97, 80]),
            ("\"wall\"", "mass = 0.9\nrotation = 0.05"),
            &[POTENTIAL],
        ),
        of(
            ("bonds that absorb", &[131, 88]),
            ("\"absorb\"\nabsorb_width = 17", "hopping = 1.0\nflux = 0.013"),
            &[HOPPING, FLUX, STRENGTHS],
        ),
        of(
            ("driven bonds", &[90, 80]),
            ("\"wall\"", hopping),
            &[DRIVEN, HOPPING, FLUX],
        ),
        imaginary(&of(
            ("ground state in a turning frame", &[90, 80]),
            ("\"wall\"", "mass = 1.0\ninteraction = 0.8\nrotation = 0.05"),
            &[POTENTIAL],
        )),
        of(
            ("cube of bonds", &[37, 22, 19]),
            ("\"wall\"", "mass = 0.9\nflux = 0.01"),
            &[HOPPING, UPWARDS, FLUX, POTENTIAL],
        ),
        of(
            ("periodic cube of bonds", &[36, 22, 20]),
            ("\"periodic\"", hopping),
            &[HOPPING, UPWARDS, POTENTIAL],
        ),
        of(
            ("tiles of bonds", &[132, 66, 14]),
            ("\"wall\"", "mass = 0.9\nflux = 0.01"),
            &[HOPPING, UPWARDS, FLUX, POTENTIAL],
        ),
        of(
            ("planes apart", &[124, 60, 9]),
            ("[\"periodic\", \"wall\", \"wall\"]", hopping),
            &[APART, POTENTIAL],
        ),
        of(
            ("bonds on a torus in space", &[128, 36, 12]),
            ("\"periodic\"", hopping),
            &[BOXED, POTENTIAL],
        ),
        of(
            ("obstacles between planes", &[72, 60, 10]),
            ("\"wall\"", "mass = 0.9"),
            &[BOXED, BOXES],
        ),
        of(
            ("two planes that absorb", &[132, 56, 2]),
            ("[\"absorb\", \"absorb\", \"wall\"]\nabsorb_width = 9", hopping),
            &[APART, POTENTIAL],
        ),
        of(
            ("turning cube", &[40, 36, 11]),
            ("\"wall\"", "mass = 0.9\ninteraction = 0.5\nrotation = 0.1"),
            &[],
        ),
    ]
}

fn sites() -> Vec<Case> {
    let mass = "mass = 1.0\ninteraction = 0.3";
    vec![
        of(
            ("interactions of sites", &[140, 90]),
            ("\"wall\"", mass),
            &[STRENGTHS, POTENTIAL],
        ),
        of(
            ("interactions that absorb", &[121, 88]),
            ("\"absorb\"\nabsorb_width = 17", mass),
            &[STRENGTHS, WALLS],
        ),
        of(
            ("driven interactions", &[90, 80]),
            ("\"periodic\"", mass),
            &[DRIVEN, STRENGTHS],
        ),
        of(
            ("cube of interactions", &[37, 22, 19]),
            ("\"wall\"", mass),
            &[STRENGTHS, POTENTIAL],
        ),
        imaginary(&of(
            ("ground state of interactions", &[90, 80]),
            ("\"wall\"", mass),
            &[POSITIVE, POTENTIAL],
        )),
    ]
}

fn components() -> Vec<Case> {
    let both = "mass = 1.0\ninteraction = 0.8\ncross_interaction = 0.6";
    let spins = "[[layer]]\nsets = \"hopping\"\naxis = \"z\"\nshape = \"everywhere\"\nvalue = 0.3\n";
    vec![
        of(
            ("components", &[60, 44, 2]),
            ("[\"periodic\", \"wall\", \"wall\"]", both),
            &[spins, POTENTIAL],
        ),
        of(
            ("components of lines", &[303, 2]),
            ("\"wall\"", both),
            &["[[layer]]\nsets = \"hopping\"\naxis = \"y\"\nshape = \"everywhere\"\nvalue = 0.0\n"],
        ),
        of(
            ("components that absorb", &[64, 56, 2]),
            (
                "[\"absorb\", \"absorb\", \"wall\"]\nabsorb_width = 9",
                "hopping = 1.0\ncross_interaction = 0.9",
            ),
            &[SHAKEN, STRENGTHS],
        ),
        imaginary(&of(
            ("ground state of components", &[50, 40, 2]),
            ("\"wall\"", both),
            &[spins, POTENTIAL],
        )),
        imaginary(&of(
            ("ground state of components that repel", &[50, 40, 2]),
            ("\"wall\"", "hopping = 1.0\ncross_interaction = 0.6"),
            &[POSITIVE, POTENTIAL],
        )),
    ]
}

fn all() -> Vec<Case> {
    [bonds(), sites(), components()].concat()
}

pub fn named(name: &str) -> Case {
    all().into_iter().find(|case| case.name == name).unwrap()
}

/// Every scene is read, and something differs in it; variants of whole steps and parts refuse what they cannot do, with a remedy.
#[test]
fn what_differs_is_read() {
    for case in all() {
        for &order in case.orders {
            let scenario = scene(&case, order, "cpu", "single", "naive");
            let medium = scenario.medium();
            assert!(
                medium.sets_bonds() || medium.has(Sets::Interaction) || medium.cross_interaction() != 0.0,
                "{}",
                case.name
            );
            assert_eq!(build(&scenario).report().order, order, "{}", case.name);
        }
        let written = text(&case, 2, ["cpu", "single", "blocked"], "");
        let faults = read_scene_text(&written, None, &[]).unwrap_err().to_string();
        assert!(faults.contains("sites that are alike"), "{}: {faults}", case.name);
    }
}

#[test]
fn bonds_agree_with_the_processor() {
    differing(&bonds());
}

#[test]
fn sites_agree_with_the_processor() {
    differing(&sites());
}

#[test]
fn components_agree_with_the_processor() {
    differing(&components());
}

/// A bond with a phase takes four operations more, which the tolerance has room for: 14 steps of order 4 are 70 sub-steps of at most 15 sweeps, each of at most 10 roundings of ε/2; √10500·ε/2 = 6e-6 in
/// single precision (3e-5 are allowed), and 1.1e-14 (2e-13) in double. Tangents, sines and strengths are rounded once, which changes H by 6e-8 of itself, as it does energies.
fn differing(cases: &[Case]) {
    needs_device!();
    let mut wrong = Vec::new();
    for case in cases {
        agree(case, &["naive", "full-step", "fused"], &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn calls_of_any_length_give_the_same_bits() {
    needs_device!();
    for name in ["turning frame", "bonds that absorb", "components"] {
        let case = named(name);
        for (word, _) in Precision::ALL {
            let mut once = build(&scene(&case, 4, "cuda", word, "naive"));
            let mut often = build(&scene(&case, 4, "cuda", word, "auto"));
            assert_eq!(often.report().variant, "naive");
            once.advance(9, &mut Taps::default()).unwrap();
            for steps in [1, 5, 3] {
                often.advance(steps, &mut Taps::default()).unwrap();
            }
            assert_eq!(
                once.save().unwrap().arrays,
                often.save().unwrap().arrays,
                "{name}, {word}"
            );
        }
    }
}

/// Launches of many steps and of one, in all orders: bonds like all others are stepped by one body of the kernel or by the other, as pieces and launches have it.
#[test]
fn whole_steps_give_the_same_bits() {
    needs_device!();
    let mut seen = 0;
    for case in bonds() {
        for (word, _) in Precision::ALL {
            for &order in case.orders {
                let mut once = build(&scene(&case, order, "cuda", word, "fused"));
                if once.report().variant != "fused" {
                    continue;
                }
                let mut often = build(&scene(&case, order, "cuda", word, "fused"));
                let mut full = build(&scene(&case, order, "cuda", word, "full-step"));
                assert_eq!([often.report().variant, full.report().variant], ["fused", "full-step"]);
                once.advance(13, &mut Taps::default()).unwrap();
                for steps in [1, 2, 3, 1, 6] {
                    often.advance(steps, &mut Taps::default()).unwrap();
                }
                full.advance(13, &mut Taps::default()).unwrap();
                // Tables of driven layers are rounded at random, anew at every step.
                if !case.layers.contains("drive") {
                    let state = once.save().unwrap().arrays;
                    for other in [&mut often, &mut full] {
                        assert!(
                            state == other.save().unwrap().arrays,
                            "{}, order {order}, {word}",
                            case.name
                        );
                    }
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 2 * 3 * 5, "{seen}");
}

/// In three dimensions tiles in which bonds differ are stepped by a body that reads each: beyond the reach of such bonds it gives the bits of the other one.
#[test]
fn tiles_give_the_same_bits_with_and_without_bonds_that_differ() {
    needs_device!();
    let far = "[[layer]]\nsets = \"hopping\"\naxis = \"y\"\nshape = \"box\"\nmin = [0.0, 0.0, 0.0]\nmax = [0.5, 0.5, 0.5]\nvalue = 0.9\n";
    let near = "[[layer]]\nsets = \"hopping\"\naxis = \"x\"\nshape = \"box\"\nmin = [40.0, 30.0, 2.0]\nmax = [41.0, 31.0, 3.0]\nvalue = 0.7\n";
    let size = [248, 120, 16];
    for quantum in ["hopping = 1.0", "mass = 0.8"] {
        let of = |layers: &[&str]| of(("tiles", &[248, 120, 16]), ("\"wall\"", quantum), layers);
        let cases = [of(&[far, BOXED]), of(&[far, BOXED, near])];
        for (word, _) in Precision::ALL {
            for order in [1, 2, 4] {
                let fields = cases.each_ref().map(|case| {
                    let mut run = build(&scene(case, order, "cuda", word, "fused"));
                    assert_eq!(run.report().variant, "fused");
                    run.set_field(&random_field(size.iter().product()), START).unwrap();
                    run.advance(1, &mut Taps::default()).unwrap();
                    run.field().unwrap().to_complex128()
                });
                // A sub-step of order 4 spreads by two sites, five of them by ten; bonds that differ have sites 80 to 83, 60 to 63, 4 to 7.
                let beyond = |site: usize| {
                    let at = [site % size[0], site / size[0] % size[1], site / (size[0] * size[1])];
                    let box_of = [[80, 83], [60, 63], [4, 7]];
                    let off = at
                        .iter()
                        .zip(box_of)
                        .map(|(at, [from, to])| from.max(*at).max(to) - to + from.max(*at) - *at);
                    off.max().unwrap_or(0) > 12
                };
                let (mut other, mut seen) = (0, 0);
                for site in 0..fields[0].len() {
                    let same = fields[0][site] == fields[1][site];
                    if beyond(site) {
                        assert!(same, "{quantum}, {word}, order {order}: site {site}");
                        seen += 1;
                    } else if !same {
                        other += 1;
                    }
                }
                assert!(
                    other > 50 && seen > 300_000,
                    "{other} sites differ, {seen} were compared"
                );
            }
        }
    }
}

#[test]
fn checkpoints_go_from_one_place_to_the_other() {
    needs_device!();
    for name in ["random fluxes", "interactions of sites", "components"] {
        let case = named(name);
        let mut cpu = build(&scene(&case, 2, "cpu", "double", "vector"));
        let mut gpu = build(&scene(&case, 2, "cuda", "double", "auto"));
        cpu.advance(9, &mut Taps::default()).unwrap();
        gpu.load(&cpu.save().unwrap()).unwrap();
        assert_eq!(
            gpu.save().unwrap().arrays,
            cpu.save().unwrap().arrays,
            "{name}: bit by bit"
        );
        gpu.advance(9, &mut Taps::default()).unwrap();
        cpu.advance(9, &mut Taps::default()).unwrap();
        let off = distance(&gpu.field().unwrap(), &cpu.field().unwrap());
        assert!(off < tolerance(Precision::Double), "{name}: {off:.1e}");
        let back = gpu.save().unwrap();
        cpu.load(&back).unwrap();
        assert_eq!(cpu.clock(), gpu.clock());
    }
}

/// 190 steps of order 2, some 20 to 50 roundings a site each: n = 4,000 to 10,000 of ε/2, between √n and n times which they add up to, 4e-6 to 6e-4 in single precision and 7e-15 to 1.1e-12 in double. With
/// g|ψ|² < 1.2 at first, which spreads, what is off grows by no more than ten times in these 21 units of time.
fn of_long_runs(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 1e-3,
        Precision::Double => 2e-12,
    }
}

#[test]
fn transducers_act_as_on_the_processor() {
    needs_device!();
    for name in [
        "chain",
        "random fluxes",
        "turning frame",
        "interactions that absorb",
        "components",
    ] {
        let case = named(name);
        let all: usize = case.size.iter().product();
        let field = random_field(all);
        let sites = [0, 3, all / 3, all / 3 + 1, all / 2, all - 1];
        let score = Score {
            sites: &sites,
            field: &field,
            start: START,
            steps: &[40, 150],
            loud: 0.02,
        };
        for act in ACTS {
            let mut expected = score.play(&scene(&case, 2, "cpu", "double", "naive"), act);
            for (word, precision) in Precision::ALL {
                let mut found = score.play(&scene(&case, 2, "cuda", word, "naive"), act);
                let name = format!("{name}, {word}, {act:?}");
                compare(&name, &mut expected, &mut found, of_long_runs(precision));
            }
        }
    }
}

/// ψ → ψ* between as many steps there and back, where nothing has a phase.
#[test]
fn echoes_come_back() {
    needs_device!();
    for name in ["chain", "random bonds", "interactions of sites", "components"] {
        let case = named(name);
        for (word, precision) in Precision::ALL {
            let scenario = scene(&case, 2, "cuda", word, "auto");
            let mut run = build(&scenario);
            run.set_field(&random_field(case.size.iter().product()), START).unwrap();
            let first = run.field().unwrap().to_complex128();
            let start = FieldData::Complex128(first.iter().map(num_complex::Complex::conj).collect());
            let off = echo(run.as_mut(), &scenario, &start);
            assert!(off < of_long_runs(precision), "{name}, {word}: {off:.1e}");
        }
    }
}

/// Every preset in which bonds, sites or components differ, as it is shipped but for the back end.
#[test]
fn presets_keep_their_predictions() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for preset in presets::all() {
        let (_, scenario) = read_scene(preset.name, &[]).unwrap_or_else(|faults| panic!("{faults}"));
        let medium = scenario.medium();
        if !(medium.sets_bonds() || medium.sets_interaction()) || scenario.solver().method != "trotter" {
            continue;
        }
        seen += 1;
        if skip() {
            continue;
        }
        let (_, scenario) = read_scene(preset.name, &["solver.backend=cuda".to_owned()]).unwrap();
        let mut engine = Engine::new(Arc::new(scenario.clone())).unwrap();
        let until = scenario.expectations().iter().map(|expectation| expectation.at);
        let until = until.fold(0.0, f64::max);
        engine.advance(engine.steps_until(until).unwrap()).unwrap();
        for (expectation, verdict) in scenario.expectations().iter().zip(engine.verdicts()) {
            println!(
                "{}: {verdict:?} of {} ± {}",
                preset.name, expectation.value, expectation.tolerance
            );
            if !matches!(verdict, Verdict::Right(_)) {
                wrong.push(format!("{}: {verdict:?} of {}", preset.name, expectation.value));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 8, "{seen} presets");
}

/// Sites that differ are cut into parts, bonds are not.
#[test]
fn parts_know_their_sites() {
    needs_device!();
    let on = |case: &Case, devices: &str| {
        let text = text(case, 2, ["cuda", "single", "auto"], "");
        let text = text.replace("[solver]\n", &format!("[solver]\ndevices = {devices}\n"));
        read_scene_text(&text, None, &[]).map(|(_, scenario)| scenario)
    };
    for name in [
        "interactions of sites",
        "cube of interactions",
        "ground state of interactions",
    ] {
        let case = named(name);
        let [whole, cut] = ["1", "[0, 0]"].map(|devices| {
            let scenario = on(&case, devices).unwrap_or_else(|faults| panic!("{faults}"));
            let mut run = build(&scenario);
            run.set_field(&random_field(scenario.grid().sites()), START).unwrap();
            run.advance(29, &mut Taps::default()).unwrap();
            (run.save().unwrap().arrays, run.observables().unwrap().values(3))
        });
        assert!(whole == cut, "{name}");
    }
    for name in ["random bonds", "turning frame", "components"] {
        let faults = on(&named(name), "[0, 0]").unwrap_err().to_string();
        assert!(
            faults.contains("stepped as a whole") && faults.contains("devices"),
            "{name}: {faults}"
        );
    }
}
