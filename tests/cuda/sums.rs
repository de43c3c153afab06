//! Probabilities of regions, which fused steps sum on the way.

use super::cases::{cases, heard, random_field, tolerance};
use super::device::{build, skip};
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, Taps};

const REGIONS: &str = "[[detector]]\nname = \"part\"\nmeasure = \"probability\"\nregion = { min = [1.2, 0.7], max = [9.3, 7.1] }\n\
    [[detector]]\nname = \"edge\"\nmeasure = \"probability\"\nregion = { min = [0.0, 0.0], max = [2.0, 8.0] }\nevery = 3\n\
    [[detector]]\nname = \"site\"\nmeasure = \"probability\"\nregion = { min = [5.0, 5.0], max = [5.0, 5.0] }\n";

/// Records of a run of so many steps a call.
fn records(scenario: &Scenario, steps: &[u64]) -> Taps {
    let mut run = build(scenario);
    let start = Clock {
        time_step: 0.11,
        ..Clock::default()
    };
    run.set_field(&random_field(scenario.grid().sites()), start)
        .expect("a field");
    let mut taps = Taps::new(scenario.grid(), scenario.detectors());
    for steps in steps {
        run.advance(*steps, &mut taps).expect("steps");
    }
    taps
}

#[test]
fn regions_are_summed_on_the_way() {
    if skip() {
        return;
    }
    let planes = cases()
        .into_iter()
        .filter(|case| case.size.len() == 2 && !case.imaginary);
    let mut seen = 0;
    for case in planes.filter(|case| case.size[0] > 24 && case.size[1] > 18) {
        let expected = records(&heard(&case, 2, ["cpu", "double", "naive"], REGIONS), &[47]);
        for (word, precision) in Precision::ALL {
            let of = |variant: &str, steps: &[u64]| records(&heard(&case, 2, ["cuda", word, variant], REGIONS), steps);
            let fused = of("fused", &[47]);
            // Tables of driven layers are rounded at random, anew at every step.
            if !case.layers.contains("drive") {
                let bits = |taps: &Taps| -> Vec<Vec<u64>> {
                    let of = |detector: usize| taps.values(detector).iter().map(|value| value.to_bits()).collect();
                    (0..taps.taps().len()).map(of).collect()
                };
                let [batches, launches] = [of("fused", &[1, 13, 2, 31]), of("full-step", &[47])];
                assert!(bits(&fused) == bits(&batches), "{}, {word}: other batches", case.name);
                assert!(bits(&fused) == bits(&launches), "{}, {word}: other launches", case.name);
            }
            assert_eq!(fused.times(), expected.times());
            for detector in 0..expected.taps().len() {
                let largest = expected.values(0).iter().fold(0.0_f64, |most, value| most.max(*value));
                for (a, b) in fused.series(detector).1.iter().zip(expected.series(detector).1.iter()) {
                    // Three times the steps that the tolerance is for.
                    let off = (a - b).abs();
                    assert!(
                        off <= 10.0 * tolerance(precision) * largest,
                        "{}, {word}: {a} {b}",
                        case.name
                    );
                }
            }
            seen += 1;
        }
    }
    assert!(seen > 8, "{seen} planes are large enough");
}
