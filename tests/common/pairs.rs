//! Coupled oscillators in scenes with every kind of medium and edge, for runs on devices.
#![allow(dead_code, reason = "each test takes what it needs")]

use super::rooms::{self, Case, DAMPED, DENSITY, DETECTORS, REGIONS, SOURCES, SPEED, WALLS, Way, random, start};
use super::transduced::{ACTS, Score, compare};
use ripplon::field::Precision;
use ripplon::scene::Scenario;

/// In Δt.
pub const ORDERS: &[u32] = &[2, 4];
const SPEEDS: &str = "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(3.1*x)\"\n";
const DENSITIES: &str = "[[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"1.3 + 0.4*sin(7.1*x)\"\n";
const QUIET: &str = "[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"0.1 + 0.1*sin(3.1*x)\"\n";
/// Damping beside a speed per site.
const MUFFLED: &str = "[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [16.0, 11.0]\nradius = 4.3\nvalue = 0.8\n\
    [[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0]\nmax = [30.0, 16.0]\nvalue = 0.4\n";

/// Ends between two lanes and inside one, even and odd numbers of sites, grids of one strip and of several, narrower and lower than a strip's halo.
pub fn cases() -> Vec<Case> {
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
        case("densities in fours", &[92, 45], "[\"periodic\", \"soft\"]", DENSITY),
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

pub fn scene(case: &Case, order: u32, [backend, precision, variant]: [&str; 3], more: &str, sounds: &str) -> Scenario {
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

pub fn sounds() -> String {
    format!("{SOURCES}{DETECTORS}{REGIONS}")
}

/// n multiply-adds a site, each off by at most ε/2 of an amplitude with random sign, add up to ε/2·√n. 31 steps of order 4 are 5·7 sweeps of 10 each, n = 11,000: 6e-6 in single (ε =
/// 1.2e-7), 1.2e-14 in double; eight times that covers coefficients, which are rounded once and used in every step.
pub fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 5e-5,
        Precision::Double => 1e-13,
    }
}

/// Cases in which transducers act: one of every kind of medium and edge.
pub const KINDS: &[&str] = &[
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

/// Transducers in some of the cases: runs of `others` hear, add and overwrite what the reference does, with `sounds` beside them; one site stands in a wall.
pub fn check_transducers(
    kinds: &[&str],
    orders: &[u32],
    sounds: &str,
    others: impl Fn(&Case, u32) -> Vec<(String, Scenario, f64)>,
) {
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
        for &order in orders {
            let field = random(all);
            let score = Score {
                sites: &sites,
                field: &field,
                start: start(),
                // More than a batch of records holds.
                steps: &[20, 270],
                loud: 1.0,
            };
            let reference = scene(&case, order, ["cpu", "double", "naive"], "", sounds);
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
