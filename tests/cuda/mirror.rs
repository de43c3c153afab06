//! Transducers and echoes on the device.

use super::cases::{Case, cases, random_field, scene};
use super::device::{build, needs_device, skip};
use super::echo::echo;
use super::transduced::{ACTS, Score, compare};
use ripplon::field::{FieldData, Precision};
use ripplon::scene::Scenario;
use ripplon::solver::Clock;

const START: Clock = Clock::at_start(0.11);

/// Corners, neighbours, the middle; in planes of obstacles one in a wall.
fn sites(case: &Case) -> Vec<usize> {
    let (nx, all) = (case.size[0], case.size.iter().product::<usize>());
    let mut sites = vec![0, 3, nx - 1, all / 3, all / 3 + 1, all / 2, all - 1];
    if case.size.len() == 2 && nx > 64 && case.size[1] > 40 {
        sites.push(40 * nx + 60);
    }
    sites.sort_unstable();
    sites.dedup();
    sites.retain(|site| *site < all);
    sites
}

/// One of every kind: what the steps do beside is compared elsewhere.
fn chosen() -> Vec<(Case, u32)> {
    let names = [
        ("ragged", 2),
        ("tube", 4),
        ("walls around", 1),
        ("absorbing", 2),
        ("obstacles", 2),
        ("flux and obstacles", 2),
        ("interaction", 2),
        ("driven", 2),
        ("ground state", 2),
        ("line", 2),
        ("ring", 4),
        ("line with walls and interaction", 2),
        ("ground state of a line", 2),
        ("cube", 2),
        ("aligned cube", 2),
        ("periodic cube", 2),
        ("obstacles in a cube", 2),
        ("absorbing cube", 2),
    ];
    let found: Vec<(Case, u32)> = (names.iter())
        .flat_map(|(name, order)| {
            let same = cases().into_iter().filter(|case| case.name == *name);
            same.map(|case| (case, *order)).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found.len(), names.len());
    found
}

/// Transducers in all cases: a reference and runs that shall do the same, each within its tolerance.
fn check(others: impl Fn(&Case, u32) -> Vec<(String, Scenario, f64)>) {
    for (case, order) in chosen() {
        let others = others(&case, order);
        let field = random_field(case.size.iter().product());
        let sites = sites(&case);
        // More steps than a batch of records holds; fewer where they are dear. What is played stays small beside an interaction, which would make of rounding what it likes.
        let steps: &[u64] = if case.size.len() == 3 { &[13, 30] } else { &[40, 270] };
        let score = Score {
            sites: &sites,
            field: &field,
            start: START,
            steps,
            loud: if case.quantum.contains("interaction") {
                0.02
            } else {
                1.0
            },
        };
        let reference = scene(&case, order, "cpu", "double", "naive");
        for act in ACTS {
            let mut expected = score.play(&reference, act);
            for (name, scenario, tolerance) in &others {
                let name = format!("{}, order {order}, {name}, {act:?}", case.name);
                compare(&name, &mut expected, &mut score.play(scenario, act), *tolerance);
            }
        }
    }
}

/// 310 steps of order 2 (5 sub-steps of order 4) round 20 to 100 numbers a site: n = 6,000 to 30,000 roundings of ε/2, which add up to between √n and n times that: 5e-6 to 2e-3 in
/// single precision (ε = 1.2e-7), 8e-15 to 3e-12 in double. An interaction of g|ψ|² = 0.14 lets what is off grow as e^(gnt), 150 times in these 34 units of time.
fn tolerance(case: &Case, precision: Precision) -> f64 {
    let limit = match precision {
        Precision::Single => 3e-4,
        Precision::Double => 1e-12,
    };
    if case.quantum.contains("interaction") {
        150.0 * limit
    } else {
        limit
    }
}

#[test]
fn transducers_act_as_on_the_processor() {
    needs_device!();
    check(|case, order| {
        let mut all = Vec::new();
        for (word, precision) in Precision::ALL {
            for variant in ["naive", "full-step", "fused", "tiles"] {
                let scenario = scene(case, order, "cuda", word, variant);
                all.push((format!("{word}, {variant}"), scenario, tolerance(case, precision)));
            }
        }
        all
    });
}

/// The same cases where there is no device: the variants of the processor do what its reference does.
#[test]
fn transducers_of_the_processor_act_alike() {
    check(|case, order| {
        let variants = ["vector", "blocked"].map(|variant| {
            let scenario = scene(case, order, "cpu", "double", variant);
            (variant.to_owned(), scenario, tolerance(case, Precision::Double))
        });
        variants.into_iter().collect()
    });
}

/// ψ → ψ* between as many steps there and back leaves rounding. A field through a flux would have to be turned round as well, and so would drives; absorption has no way back.
fn check_echo(backend: &str, variants: &[&str]) {
    for (case, order) in chosen() {
        let lasting = !case.imaginary
            && !case.edges.contains("absorb")
            && !case.quantum.contains("flux")
            && !case.layers.contains("drive")
            && order > 1;
        if !lasting {
            continue;
        }
        for (word, precision) in Precision::ALL {
            for variant in variants {
                let scenario = scene(&case, order, backend, word, variant);
                let mut run = build(&scenario);
                run.set_field(&random_field(case.size.iter().product()), START).unwrap();
                // Walls take their part.
                let first = run.field().unwrap().to_complex128();
                let start = FieldData::Complex128(first.iter().map(num_complex::Complex::conj).collect());
                let off = echo(run.as_mut(), &scenario, &start);
                // 120 steps, less than half of those above.
                let limit = tolerance(&case, precision) / 2.0;
                assert!(
                    off < limit,
                    "{}, order {order}, {word}, {variant}: {off:.1e}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn echoes_come_back() {
    check_echo("cpu", &["naive"]);
    if !skip() {
        check_echo("cuda", &["naive", "full-step", "fused", "tiles"]);
    }
}
