//! Small planes a tile a block: the bits of strips, whatever the tiles and the steps of a launch.

use super::cases::{Case, POTENTIAL, WALLS, case, text};
use super::device::{build, needs_device};
use super::sums::stepped;
use ripplon::field::Precision;
use ripplon::scene::Scenario;
use ripplon::solver::read_scene_text;

/// Planes of several tiles, which end with the grid, within a row of four sites, or nowhere.
fn planes() -> Vec<Case> {
    let mass = "mass = 0.9";
    let interacting = "mass = 1.0\ninteraction = 0.8";
    vec![
        case("plain", &[300, 222], "\"wall\"", mass, POTENTIAL),
        case("walls", &[299, 223], "\"wall\"", mass, WALLS),
        case("walls on a ring", &[304, 141], "[\"periodic\", \"wall\"]", mass, WALLS),
        case("ring", &[304, 140], "\"periodic\"", mass, POTENTIAL),
        case("one tile", &[61, 27], "\"wall\"", mass, POTENTIAL),
        case("small ring", &[36, 34], "\"periodic\"", mass, POTENTIAL),
        case("flux", &[300, 222], "\"wall\"", "mass = 0.9\nflux = 0.01", WALLS),
        case(
            "flux on a ring",
            &[304, 100],
            "\"periodic\"",
            "mass = 0.9\nflux = 0.01",
            POTENTIAL,
        ),
        case("interaction", &[300, 222], "\"wall\"", interacting, POTENTIAL),
    ]
}

/// Sums, values, currents and largest values: in parts of tiles, across them and at the grid's ends.
const DETECTORS: &str = "[[detector]]\nname = \"part\"\nmeasure = \"probability\"\nregion = { min = [3.2, 0.7], max = [12.3, 7.1] }\n\
    [[detector]]\nname = \"corner\"\nmeasure = \"probability\"\nregion = { min = [0.0, 0.0], max = [5.0, 5.0] }\nevery = 3\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [1.0, 2.0], max = [17.0, 12.5] }\nmeasure = \"peak\"\n\
    [[detector]]\nname = \"line\"\nfrom = [15.0, 2.0]\nto = [15.0, 12.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"point\"\nat = [9.0, 12.0]\nmeasure = \"value\"\n";

fn scenario(case: &Case, order: u32, precision: &str, variant: &str, fused: Option<u32>) -> Scenario {
    let fused = fused.map_or(String::new(), |steps| format!("fused_steps = {steps}\n"));
    let text =
        text(case, order, ["cuda", precision, variant], DETECTORS).replace("[solver]\n", &format!("[solver]\n{fused}"));
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

/// The state and the bits of all records after so many steps a call, and the variant that ran.
fn follow(scenario: &Scenario, steps: &[u64]) -> (impl PartialEq + use<>, Vec<Vec<u64>>, String) {
    let (mut run, taps) = stepped(scenario, steps);
    let records = (0..taps.taps().len()).map(|n| taps.values(n).iter().map(|value| value.to_bits()).collect());
    (
        run.save().expect("a state").arrays,
        records.collect(),
        run.report().variant.to_string(),
    )
}

#[test]
fn tiles_have_the_bits_of_strips() {
    needs_device!();
    for case in planes() {
        for (precision, _) in Precision::ALL {
            for order in [2, 4] {
                let strips = follow(&scenario(&case, order, precision, "full-step", None), &[13]);
                for fused in [None, Some(1), Some(2), Some(5), Some(8)] {
                    let tiles = scenario(&case, order, precision, "tiles", fused);
                    for steps in [&[13][..], &[1, 2, 3, 1, 6]] {
                        let found = follow(&tiles, steps);
                        let name = format!("{}, {precision}, order {order}, {fused:?} fused, {steps:?}", case.name);
                        assert!(found.0 == strips.0, "{name}: the field");
                        assert_eq!(found.1, strips.1, "{name}: records");
                        // Flux and interaction have tiles in single precision alone.
                        let there = precision == "single"
                            || !["flux", "interaction"].iter().any(|of| case.quantum.contains(of));
                        assert_eq!(found.2, if there { "tiles" } else { "fused" }, "{name}");
                    }
                }
            }
        }
    }
}

/// What has no tiles is stepped in strips, and says so.
#[test]
fn what_has_no_tiles_takes_strips() {
    needs_device!();
    for size in [&[40][..], &[40, 24, 10]] {
        let case = Case {
            size,
            ..case("without", &[64, 48], "\"wall\"", "mass = 0.9", "")
        };
        let text = text(&case, 2, ["cuda", "single", "tiles"], "");
        let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
        let run = build(&scenario);
        assert_eq!(run.report().variant, "fused");
        assert!(
            run.report().details.contains("tiles are of planes"),
            "{}",
            run.report().details
        );
    }
}
