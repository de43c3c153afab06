//! Finite differences on an adapter.

use super::adapter::needs_adapter;
use super::rooms::{
    self, ALL, BESIDE_EDGES, Case, DETECTORS, REGIONS, WALLS, cases, check_checkpoints, check_pictures, differences,
    fdtd as scene, seams, tolerance,
};
use super::transduced::{ACTS, Score, compare};
use ripplon::field::Precision;

/// Grids with a core that has a kernel of its own, with what it leaves to the other one: layers, walls, edges.
fn with_cores() -> Vec<Case> {
    let layers = "[\"absorb\", \"wall\", \"soft\"]\nabsorb_width = 5";
    let both = concat!(
        "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y)\"\n",
        "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n",
    );
    vec![
        Case::new("core of a plate", &[160, 97], "\"absorb\"\nabsorb_width = 9", "", ALL),
        Case::new(
            "core of a plate with walls",
            &[160, 97],
            "\"absorb\"\nabsorb_width = 9",
            both,
            ALL,
        ),
        Case::new("core of a room", &[100, 61, 57], layers, rooms::SPEED, ALL),
        Case::new("core of a room with pillars", &[72, 52, 41], "\"wall\"", WALLS, ALL),
    ]
}

/// Every order, rank, kind of edge and medium; sources, detectors of sites and of regions, sums.
#[test]
fn steps_agree_with_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in with_cores() {
        let details = super::device::build(&scene(&case, 8, "wgpu", "single", "stepwise", ""))
            .report()
            .details;
        assert!(details.contains("in the core"), "{}: {details}", case.name);
    }
    for case in cases().into_iter().chain(with_cores()) {
        for &order in case.orders {
            // Detectors of energy and flux end launches: once an edge and medium.
            let detectors = if order == 2 {
                format!("{DETECTORS}{REGIONS}")
            } else {
                DETECTORS.to_owned()
            };
            let expected = scene(&case, order, "cpu", "double", "stepwise", &detectors);
            let variants = if case.size.len() == 2 && order <= 4 {
                &["stepwise", "single-launch", "tiled"][..]
            } else {
                &["stepwise", "single-launch"]
            };
            for variant in variants {
                let name = format!("{}, order {order}, {variant}", case.name);
                let found = scene(&case, order, "wgpu", "single", variant, &detectors);
                wrong.extend(differences(&name, &expected, &found, tolerance(Precision::Single)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What flows within reach of edges and walls, where bonds to images cross a face.
#[test]
fn fluxes_beside_edges_agree_with_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    let edged = |case: &Case| case.size.len() == 2 && !case.edges.contains("absorb");
    for case in cases().into_iter().filter(edged) {
        for &order in case.orders {
            let detectors = BESIDE_EDGES.to_owned() + &seams(&case);
            let expected = scene(&case, order, "cpu", "double", "stepwise", &detectors);
            let found = scene(&case, order, "wgpu", "single", "stepwise", &detectors);
            let name = format!("{}, order {order}", case.name);
            wrong.extend(differences(&name, &expected, &found, tolerance(Precision::Single)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Small grids are stepped in single launches, larger ones are not: there it is said.
#[test]
fn single_launches_are_for_small_grids() {
    needs_adapter!();
    let taken = |size: &'static [usize], variant| {
        let case = Case::new("plate", size, "\"wall\"", WALLS, ALL);
        let report = super::device::build(&scene(&case, 8, "wgpu", "single", variant, "")).report();
        (report.variant, report.details)
    };
    assert_eq!(taken(&[90, 61], "auto").0, "single-launch");
    assert_eq!(taken(&[90, 61], "stepwise").0, "stepwise");
    let (variant, details) = taken(&[1024, 513], "single-launch");
    assert!(
        variant == "stepwise" && details.contains("half a million sites"),
        "{variant}: {details}"
    );
}

/// Tiles step, add signals and gather as single steps do, also across edges of tiles and in images of a torus.
#[test]
pub fn tiles_agree_with_single_steps() {
    needs_adapter!();
    let cases = [
        Case::new("plate", &[201, 130], "\"wall\"", "", ALL),
        Case::new(
            "torus smaller than a tile",
            &[52, 38],
            "\"periodic\"",
            rooms::SPEED,
            ALL,
        ),
        Case::new("soft", &[133, 70], "[\"soft\", \"periodic\"]", rooms::SPEED, ALL),
        Case::new("walls", &[90, 61], "[\"soft\", \"wall\"]", WALLS, &[2]),
    ];
    let mut wrong = Vec::new();
    for case in &cases {
        for order in [2, 4].into_iter().filter(|order| case.orders.contains(order)) {
            let [single, tiled] =
                ["stepwise", "tiled"].map(|variant| scene(case, order, "wgpu", "single", variant, DETECTORS));
            assert_eq!(super::device::build(&tiled).report().variant, "tiled", "{}", case.name);
            let name = format!("{}, order {order}", case.name);
            wrong.extend(differences(&name, &single, &tiled, tolerance(Precision::Single)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Transducers hear, add and overwrite on the adapter what they do on the processor; one of them stands in a wall.
#[test]
pub fn transducers_act_as_on_the_processor() {
    needs_adapter!();
    let case = Case::new("obstacles", &[90, 61], "[\"periodic\", \"wall\"]", WALLS, ALL);
    let expected = scene(&case, 4, "cpu", "single", "stepwise", DETECTORS);
    let sites = [0, 7, 89, 90 * 22 + 32, 90 * 30 + 1, 90 * 31, 90 * 60 + 89];
    let field = rooms::random(expected.grid().sites());
    let score = Score {
        sites: &sites,
        field: &field,
        start: rooms::start(),
        steps: &[40, 290],
        loud: 1.0,
    };
    for (act, variant) in (ACTS.into_iter()).flat_map(|act| ["stepwise", "single-launch"].map(|variant| (act, variant)))
    {
        let found = scene(&case, 4, "wgpu", "single", variant, DETECTORS);
        let name = format!("{}, {act:?}, {variant}", case.name);
        // 330 steps instead of the 31 of `tolerance`: (330/31)^1.5 as much.
        compare(
            &name,
            &mut score.play(&expected, act),
            &mut score.play(&found, act),
            35.0 * tolerance(Precision::Single),
        );
    }
}

#[test]
fn checkpoints_and_edits_go_from_one_place_to_the_other() {
    needs_adapter!();
    for case in cases() {
        let [on_host, there] = ["cpu", "wgpu"].map(|backend| scene(&case, 2, backend, "single", "auto", ""));
        check_checkpoints(case.name, &on_host, &there, tolerance(Precision::Single));
    }
}

#[test]
fn pictures_agree() {
    needs_adapter!();
    let cases = cases();
    for case in cases
        .iter()
        .filter(|case| case.size.len() > 1 && case.layers.len() < 200)
    {
        let [on_host, there] = ["cpu", "wgpu"].map(|backend| scene(case, 2, backend, "single", "auto", ""));
        // A hundred steps go by between the first picture and the last.
        check_pictures(case, &on_host, &there, 3e-4);
    }
}

/// What rounding adds to the speed of a pressure that rests in layers is damped.
#[test]
fn layers_hold_what_rests_in_them() {
    needs_adapter!();
    for order in [2, 8] {
        for variant in ["stepwise", "single-launch"] {
            let drift = rooms::drift_in_layers(&[9, 8], order, "wgpu", variant);
            assert!(drift < 0.01, "order {order}, {variant}: {drift}");
        }
    }
}

/// Squares of pressures of 1e-20 and 1e19 Pa are beyond single precision; energies, fluxes and norms of such sound are not.
#[test]
fn weak_and_strong_sound_has_its_energy() {
    needs_adapter!();
    for method in ["fdtd", "oscillators"] {
        let heard = |amplitude: f64| {
            let text = format!(
                "format = 1\ntitle = \"loud\"\n[grid]\nsize = [70, 40]\nspacing = 0.01\n[acoustic]\nspeed = 343.0\n[time]\nstep = 5e-6\n\
                 [solver]\nmethod = \"{method}\"\nbackend = \"wgpu\"\nprecision = \"single\"\n\
                 [[pulse]]\ncenter = [0.3, 0.2]\nwidth = 0.04\namplitude = {amplitude:e}\n\
                 [[detector]]\nname = \"room\"\nmeasure = \"energy\"\nregion = {{ min = [0.05, 0.05], max = [0.45, 0.3] }}\n\
                 [[detector]]\nname = \"line\"\nmeasure = \"flux\"\nfrom = [0.4, 0.02]\nto = [0.4, 0.35]\n"
            );
            let (_, scenario) = ripplon::solver::read_scene_text(&text, None, &[]).unwrap();
            let mut taps = ripplon::solver::Taps::of(&scenario);
            let mut run = super::device::build(&scenario);
            run.advance(40, &mut taps).unwrap();
            let all = run.observables().unwrap();
            let square = amplitude * amplitude;
            let [room, line] = [0, 1].map(|n| taps.values(n).last().map_or(f64::NAN, |last| last / square));
            let sums = [all.norm / square, all.energy / square, all.invariant / square];
            [
                room,
                line,
                sums[0],
                sums[1],
                sums[2],
                all.peak / amplitude,
                all.position[0],
                all.spread[1],
            ]
        };
        let expected = heard(1.0);
        for amplitude in [1e-20, 1e19] {
            for (place, (a, b)) in heard(amplitude).iter().zip(&expected).enumerate() {
                // 40 steps of roundings of 6e-8 in other places.
                assert!(
                    b.abs() > 0.0 && (a / b - 1.0).abs() < 1e-4,
                    "{method}, {amplitude:e}, {place}: {a:e} for {b:e}"
                );
            }
        }
    }
}
