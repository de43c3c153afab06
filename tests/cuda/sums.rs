//! What detectors record, which steps sum or copy on the way.

use super::bonds::named;
use super::cases::{Case, cases, heard, random_field, tolerance};
use super::device::{build, needs_device};
use ripplon::field::Precision;
use ripplon::physics::Measure;
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, Solver, Taps};

/// Three detectors beside that of the whole field.
fn regions(rank: usize) -> String {
    let of = |name: &str, min: [f64; 3], max: [f64; 3], every: &str| {
        let [min, max] = [min, max].map(|at| at[..rank].to_vec());
        format!(
            "[[detector]]\nname = \"{name}\"\nmeasure = \"probability\"\nregion = {{ min = {min:?}, max = {max:?} }}\n{every}"
        )
    };
    of("part", [1.2, 0.7, 0.8], [9.3, 7.1, 3.2], "")
        + &of("edge", [0.0; 3], [2.0, 8.0, 4.0], "every = 3\n")
        + &of("site", [5.0, 5.0, 2.0], [5.0, 5.0, 2.0], "")
}

/// A run from a random field, after so many steps a call, and what its detectors recorded.
pub fn stepped(scenario: &Scenario, steps: &[u64]) -> (Box<dyn Solver>, Taps) {
    let mut run = build(scenario);
    let start = Clock::at_start(0.11);
    run.set_field(&random_field(scenario.grid().sites()), start)
        .expect("a field");
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    for steps in steps {
        run.advance(*steps, &mut taps).expect("steps");
    }
    (run, taps)
}

/// Records of a run of so many steps a call.
fn records(scenario: &Scenario, steps: &[u64]) -> Taps {
    stepped(scenario, steps).1
}

/// More regions than a launch sums over, beside detectors that are asked of the field between steps.
fn crowd() -> String {
    let part = |n: i32| {
        let x = f64::from(n);
        format!(
            "[[detector]]\nname = \"part {n}\"\nmeasure = \"probability\"\nregion = {{ min = [{x:?}, 0.7], max = [{:?}, 7.1] }}\n",
            3.0 * x + 2.1
        )
    };
    let others = "[[detector]]\nname = \"line\"\nfrom = [15.0, 2.0]\nto = [15.0, 8.0]\nmeasure = \"flux\"\nevery = 2\n\
        [[detector]]\nname = \"point\"\nat = [9.0, 5.0]\nmeasure = \"value\"\n\
        [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0], max = [14.0, 7.5] }\nmeasure = \"peak\"\n";
    (1..4).map(part).collect::<String>() + others + &(4..7).map(part).collect::<String>()
}

/// A case at an order, stepped in all ways.
fn check(case: &Case, order: u32, detectors: &str) {
    let expected = records(&heard(case, order, ["cpu", "double", "naive"], detectors), &[47]);
    for (word, precision) in Precision::ALL {
        let name = format!("{}, order {order}, {word}", case.name);
        let of = |variant: &str, steps: &[u64]| records(&heard(case, order, ["cuda", word, variant], detectors), steps);
        let (fused, naive) = (of("fused", &[47]), of("naive", &[47]));
        // Tables of driven layers are rounded at random, anew at every step.
        if !case.layers.contains("drive") {
            let bits = |taps: &Taps| -> Vec<Vec<u64>> {
                let of = |detector: usize| taps.values(detector).iter().map(|value| value.to_bits()).collect();
                (0..taps.taps().len()).map(of).collect()
            };
            let [batches, launches] = [of("fused", &[1, 13, 2, 31]), of("full-step", &[47])];
            assert!(bits(&fused) == bits(&batches), "{name}: other batches");
            assert!(bits(&fused) == bits(&launches), "{name}: other launches");
            let medium = heard(case, order, ["cuda", word, "fused"], detectors);
            let medium = medium.medium();
            if case.size.len() == 2 && !medium.sets_bonds() && !medium.sets_interaction() {
                assert!(bits(&fused) == bits(&of("tiles", &[1, 13, 2, 31])), "{name}: tiles");
            }
        }
        for taps in [&fused, &naive] {
            assert_eq!(taps.times(), expected.times());
            for detector in 0..expected.taps().len() {
                let largest = expected.values(0).iter().fold(0.0_f64, |most, value| most.max(*value));
                for (a, b) in taps.series(detector).1.iter().zip(expected.series(detector).1.iter()) {
                    // Three times the steps that the tolerance is for.
                    let off = (a - b).abs();
                    assert!(off <= 10.0 * tolerance(precision) * largest, "{name}: {a} {b}");
                }
            }
        }
    }
}

#[test]
fn regions_are_summed_on_the_way() {
    needs_device!();
    let mut seen = [0; 3];
    let large = |case: &Case| case.size[0] > 24 && case.size.get(1).is_none_or(|ny| *ny > 18);
    for case in cases().iter().filter(|case| !case.imaginary && large(case)) {
        for order in [2, 4].into_iter().filter(|order| case.orders.contains(order)) {
            check(case, order, &regions(case.size.len()));
            seen[case.size.len() - 1] += 1;
        }
    }
    assert!(seen[0] > 5 && seen[1] > 16 && seen[2] > 12, "{seen:?}");
}

/// Values, currents and largest values: at sites, along lines over several strips, round the ends of rings, and more points than a warp asks for at a time.
fn amplitudes(case: &Case) -> String {
    let rank = case.size.len();
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let last: Vec<f64> = case.size.iter().map(|n| (n - 1) as f64 * 0.5).collect();
    let line = |name: &str, from: &[f64], to: &[f64], every: &str| {
        format!("[[detector]]\nname = \"{name}\"\nfrom = {from:?}\nto = {to:?}\nmeasure = \"flux\"\n{every}")
    };
    let crest = |name: &str, max: &[f64], every: &str| {
        let min = vec![1.0; rank];
        format!(
            "[[detector]]\nname = \"{name}\"\nregion = {{ min = {min:?}, max = {max:?} }}\nmeasure = \"peak\"\n{every}"
        )
    };
    let points = (0..if rank == 1 { 3 } else { 35 }).map(|n| {
        let at: Vec<f64> = last.iter().map(|last| f64::from(n) * 2.7 % last).collect();
        format!("[[detector]]\nname = \"point {n}\"\nat = {at:?}\nmeasure = \"value\"\n")
    });
    // Along the last axis at a column, and at the last column; along x at a row, and at the last row.
    let across = |axis: usize, at: f64| {
        let (mut from, mut to) = (vec![0.5; rank], last.clone());
        (from[axis], to[axis]) = (at, at);
        line(
            &format!("across {axis} at {at}"),
            &from,
            &to,
            if axis == 0 { "" } else { "every = 3\n" },
        )
    };
    let lines = (0..rank).flat_map(|axis| [across(axis, 3.0), across(axis, last[axis])]);
    lines.chain(points).collect::<String>()
        + &crest("crest", &last, "")
        + &crest("corner", &vec![4.0; rank], "every = 2\n")
}

/// Records of the moment are those of the step that led to it: copies have the bits of the field itself.
fn check_moment(case: &Case, detectors: &str) {
    for (word, _) in Precision::ALL {
        let scenario = heard(case, 2, ["cuda", word, "fused"], detectors);
        let mut run = build(&scenario);
        let start = Clock::at_start(0.11);
        run.set_field(&random_field(scenario.grid().sites()), start)
            .expect("a field");
        let mut taps = Taps::new(scenario.grid(), scenario.detectors());
        run.advance(11, &mut taps).expect("steps");
        let mut now = Taps::new(scenario.grid(), scenario.detectors());
        run.observe(&mut now).expect("a record");
        for (n, tap) in taps.taps().iter().enumerate() {
            // Sums over regions are rounded elsewhere, and others do not record at step 11.
            if matches!(tap.measure, Measure::Value | Measure::Flux) && scenario.detectors()[n].every == 1 {
                let [a, b] = [taps.values(n), now.values(n)].map(|all| *all.last().expect("a value"));
                assert!(
                    a.to_bits() == b.to_bits(),
                    "{}, {word}, detector {n}: {a} {b}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn amplitudes_are_sound_scenes() {
    for case in cases().iter().filter(|case| !case.imaginary && case.size[0] > 24) {
        let scenario = heard(case, 2, ["cpu", "double", "naive"], &amplitudes(case));
        let measures = |measure: Measure| scenario.detectors().iter().filter(|own| own.measure == measure).count();
        assert_eq!(measures(Measure::Flux), 2 * case.size.len(), "{}", case.name);
        assert!(
            measures(Measure::Value) > 2 && measures(Measure::Peak) == 2,
            "{}",
            case.name
        );
    }
}

#[test]
fn values_currents_and_peaks_are_taken_on_the_way() {
    needs_device!();
    // Of every kind of kernel and edge one.
    let chosen = [
        "ragged",
        "tube",
        "ring road",
        "absorbing",
        "obstacles on a torus",
        "flux and obstacles",
        "interaction",
        "driven",
        "line with walls and interaction",
        "absorbing line",
        "ring",
        "interacting cube",
        "tiles of a cube",
        "absorbing cube",
        "flux through a cube",
    ];
    let mut seen = 0;
    for case in cases().iter().filter(|case| chosen.contains(&case.name)) {
        let detectors = amplitudes(case);
        check_moment(case, &detectors);
        check(case, 2, &detectors);
        seen += 1;
    }
    for case in cases()
        .iter()
        .filter(|case| ["ragged", "ring", "tiles of a cube"].contains(&case.name))
    {
        check(case, 4, &amplitudes(case));
        seen += 1;
    }
    assert_eq!(seen, chosen.len() + 3);
}

/// Where bonds differ, kernels of whole steps sum and copy too.
#[test]
fn bonds_that_differ_record_on_the_way() {
    needs_device!();
    for name in ["random fluxes", "bonds on a torus", "fluxes round a tube"] {
        let case = named(name);
        let detectors = amplitudes(&case);
        check_moment(&case, &detectors);
        check(&case, 2, &detectors);
        check(&case, 4, &regions(2));
    }
    for name in ["tiles of bonds", "planes apart", "bonds on a torus in space"] {
        let case = named(name);
        let detectors = amplitudes(&case);
        check_moment(&case, &detectors);
        check(&case, 2, &detectors);
        check(&case, 4, &regions(3));
    }
    let upper = "[[detector]]\nname = \"upper\"\nmeasure = \"probability\"\nregion = { min = [3.0, 2.0, 0.5], max = [55.0, 27.0, 0.5] }\n\
        [[detector]]\nname = \"across\"\nfrom = [30.0, 1.0, 0.0]\nto = [30.0, 26.0, 0.5]\nmeasure = \"flux\"\n\
        [[detector]]\nname = \"crest\"\nregion = { min = [1.0, 1.0, 0.0], max = [64.0, 20.0, 0.5] }\nmeasure = \"peak\"\n";
    let thin = named("two planes that absorb");
    check_moment(&thin, upper);
    for order in [2, 4] {
        check(&thin, order, upper);
    }
}

#[test]
fn more_detectors_than_a_launch_sums_record_as_well() {
    needs_device!();
    let names = ["ragged", "obstacles", "absorbing"];
    let mut seen = 0;
    for case in cases().iter().filter(|case| names.contains(&case.name)) {
        check(case, 2, &crowd());
        seen += 1;
    }
    assert_eq!(seen, names.len());
}

/// Σ|ψ|², which steps restore, of rows and lines that fill no block, no warp and no vector, against sums on the host. A line is cut into pieces of 16384 sites.
#[test]
fn norms_count_every_site_once() {
    needs_device!();
    for size in [
        &[7][..],
        &[16_383],
        &[16_384],
        &[49_157],
        &[16_391, 6],
        &[61, 40],
        &[34, 20, 9],
    ] {
        for (word, precision) in Precision::ALL {
            let center: Vec<f64> = size.iter().map(|n| f64::from(*n) / 2.0).collect();
            // Imaginary time restores the norm in both precisions.
            let text = format!(
                "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.1\nend = 1.0\nimaginary = true\n\
                 [solver]\nmethod = \"trotter\"\nbackend = \"cuda\"\nprecision = \"{word}\"\n[[packet]]\ncenter = {center:?}\nwidth = 2.0\n"
            );
            let (_, scenario) = ripplon::solver::read_scene_text(&text, None, &[]).expect("a scene");
            let mut run = build(&scenario);
            let field = random_field(scenario.grid().sites());
            let clock = run.clock();
            run.set_field(&field, clock).expect("a field");
            let state = run.save().expect("a state");
            let weight = state
                .scalars
                .iter()
                .find(|(name, _)| name == "weight")
                .expect("a weight")
                .1;
            let own = run.field().expect("the field");
            let sum: f64 = (0..own.len()).map(|n| own.at(n).norm_sqr()).sum();
            let sites = f64::from(u32::try_from(own.len()).expect("few sites"));
            // Numbers of the field's precision, added in double: n roundings of sums at most as large as the last.
            let bound = sites * f64::EPSILON * sum;
            assert!(
                (weight - sum).abs() <= bound,
                "{size:?} {precision:?}: {weight} for {sum}"
            );
        }
    }
}
