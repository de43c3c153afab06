//! Finite differences on an adapter.

use super::adapter::needs_adapter;
use super::rooms::{
    self, ALL, BESIDE_EDGES, Case, DETECTORS, REGIONS, WALLS, cases, check_checkpoints, check_pictures, differences,
    different_bits, fdtd as scene, seams, tolerance,
};
use super::transduced::{ACTS, Score, compare};
use ripplon::backend::wgpu;
use ripplon::field::Precision;
use ripplon::scene::Scenario;

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

/// What differs between a run in single steps and one in tiles, from the same noise. Tiles that go a site at a time take the same step: on a software adapter the same bits. Compilers of hardware
/// may join a product and a sum in one kernel and not in the other.
fn apart(name: &str, scenes: [&Scenario; 2]) -> Vec<String> {
    let report = super::device::build(scenes[1]).report();
    assert_eq!(report.variant, "tiled", "{name}: {}", report.details);
    if report.details.ends_with("a site at a time") && wgpu::device().is_ok_and(|device| device.software) {
        return different_bits(name, scenes, &[13, 18, 1, 40]).into_iter().collect();
    }
    differences(name, scenes[0], scenes[1], tolerance(Precision::Single))
}

/// Plates with what tiles in registers cannot do: absorbing edges of one axis or both, next to a torus smaller than a tile, absorption, densities, walls at order 4; some large enough for tiles
/// in registers between the layers.
fn with_layers() -> Vec<Case> {
    let obstacles: &str = concat!(
        "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y)\"\n",
        "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n",
    );
    let case = Case::new;
    vec![
        case("open", &[201, 130], "\"absorb\"\nabsorb_width = 12", rooms::SPEED, ALL),
        case("open, large", &[612, 503], "\"absorb\"\nabsorb_width = 9", "", ALL),
        case(
            "open, large, speeds",
            &[612, 504],
            "\"absorb\"\nabsorb_width = 9",
            rooms::SPEED,
            &[2],
        ),
        case(
            "open, large, obstacles",
            &[611, 505],
            "\"absorb\"\nabsorb_width = 9",
            obstacles,
            &[2, 4],
        ),
        case(
            "guide",
            &[401, 61],
            "[\"absorb\", \"soft\"]\nabsorb_width = 7",
            obstacles,
            ALL,
        ),
        case(
            "long guide",
            &[1403, 61],
            "[\"absorb\", \"wall\"]\nabsorb_width = 7",
            WALLS,
            ALL,
        ),
        case(
            "grating",
            &[97, 38],
            "[\"absorb\", \"periodic\"]\nabsorb_width = 11",
            WALLS,
            ALL,
        ),
        case(
            "grating on its side",
            &[52, 141],
            "[\"periodic\", \"absorb\"]\nabsorb_width = 11",
            rooms::DAMPED,
            ALL,
        ),
        case("layers that meet", &[52, 38], "\"absorb\"\nabsorb_width = 18", "", ALL),
        case(
            "densities",
            &[133, 70],
            "[\"absorb\", \"soft\"]\nabsorb_width = 9",
            rooms::DENSITY,
            &[2],
        ),
        case("densities on a torus", &[90, 61], "\"periodic\"", rooms::DENSITY, &[2]),
        case("damped", &[90, 61], "[\"soft\", \"wall\"]", rooms::DAMPED, ALL),
        case("walls at order 4", &[190, 161], "[\"soft\", \"wall\"]", WALLS, &[4]),
    ]
}

/// Tiles with layers, absorption, densities and walls in them step, add signals and gather as single steps do.
#[test]
pub fn tiles_with_layers_agree_with_single_steps() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in &with_layers() {
        for order in [2, 4].into_iter().filter(|order| case.orders.contains(order)) {
            // What is summed every fifth step ends passes.
            let detectors = if case.name == "open" {
                DETECTORS.to_owned() + &REGIONS.replace("measure", "every = 5\nmeasure")
            } else {
                DETECTORS.to_owned()
            };
            let [single, tiled] =
                ["stepwise", "tiled"].map(|variant| scene(case, order, "wgpu", "single", variant, &detectors));
            let name = format!("{}, order {order}", case.name);
            let details = super::device::build(&tiled).report().details;
            let in_registers = ["large", "guide"].iter().any(|word| case.name.contains(word))
                && (order == 2 || !case.layers.contains("wall"));
            let expected = if in_registers {
                "a site at a time at absorbing edges"
            } else {
                "a site at a time"
            };
            assert!(details.ends_with(expected), "{name}: {details}");
            wrong.extend(apart(&name, [&single, &tiled]));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The same on plates of any size, with edges, layers, media and sources by chance.
#[test]
fn tiles_agree_with_single_steps_by_chance() {
    needs_adapter!();
    let mut wrong = Vec::new();
    let mut state = 20_u64;
    // Knuth's generator
    let mut below = |n: u32| -> u32 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        u32::try_from((state >> 33) % u64::from(n)).unwrap()
    };
    for n in 0..24 {
        let sides = [52 + below(150), 40 + below(150)];
        let size = sides.map(|sites| sites as usize);
        let edges = ["absorb", "wall", "soft", "periodic", "absorb"];
        let edges = format!(
            "[\"{}\", \"{}\"]\nabsorb_width = {}",
            edges[below(5) as usize],
            edges[below(5) as usize],
            3 + below(13)
        );
        let media = ["", rooms::SPEED, rooms::DENSITY, WALLS, rooms::DAMPED];
        let medium = below(5) as usize;
        let order = if medium == 2 { 2 } else { [2, 4][below(2) as usize] };
        let mut layers = media[medium].to_owned();
        if below(2) == 0 && medium != 3 {
            layers += WALLS;
        }
        // Sites are half a metre apart.
        for detector in 0..5 {
            let at = sides.map(|sites| 0.5 * f64::from(below(sites)));
            layers += &format!("[[source]]\nat = {at:?}\nsignal = \"sine\"\nfrequency = 0.3\namplitude = 20.0\n");
            let at = sides.map(|sites| 0.5 * f64::from(below(sites)));
            layers += &format!("[[detector]]\nname = \"at {detector}\"\nat = {at:?}\nmeasure = \"pressure\"\n");
        }
        let name = format!("{n}: {size:?} {edges}, medium {medium}, order {order}");
        let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let case = Case::new(
            "by chance",
            Box::leak(Box::new(size)),
            leaked(edges),
            leaked(layers),
            ALL,
        );
        let [single, tiled] =
            ["stepwise", "tiled"].map(|variant| scene(&case, order, "wgpu", "single", variant, DETECTORS));
        wrong.extend(apart(&name, [&single, &tiled]));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
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
            wrong.extend(apart(&format!("{}, order {order}", case.name), [&single, &tiled]));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Transducers hear, add and overwrite on the adapter what they do on the processor; one of them stands in a wall.
#[test]
pub fn transducers_act_as_on_the_processor() {
    needs_adapter!();
    let ring = Case::new("obstacles", &[90, 61], "[\"periodic\", \"wall\"]", WALLS, ALL);
    let open = Case::new(
        "obstacles in the open",
        &[90, 61],
        "\"absorb\"\nabsorb_width = 9",
        WALLS,
        ALL,
    );
    let sites = [0, 7, 89, 90 * 22 + 32, 90 * 30 + 1, 90 * 31, 90 * 60 + 89];
    let cases = [(ring, &["stepwise", "single-launch", "tiled"][..]), (open, &["tiled"])];
    for (case, variants) in cases {
        let expected = scene(&case, 4, "cpu", "single", "stepwise", DETECTORS);
        let field = rooms::random(expected.grid().sites());
        let score = Score {
            sites: &sites,
            field: &field,
            start: rooms::start(),
            steps: &[40, 290],
            loud: 1.0,
        };
        for (act, variant) in (ACTS.into_iter()).flat_map(|act| variants.iter().map(move |variant| (act, variant))) {
            let found = scene(&case, 4, "wgpu", "single", variant, DETECTORS);
            assert_eq!(super::device::build(&found).report().variant, *variant);
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
}

#[test]
fn checkpoints_and_edits_go_from_one_place_to_the_other() {
    needs_adapter!();
    for case in cases() {
        let [on_host, there] = ["cpu", "wgpu"].map(|backend| scene(&case, 2, backend, "single", "auto", ""));
        check_checkpoints(case.name, &on_host, &there, tolerance(Precision::Single));
        // 9 steps are two passes, 8 one more: memory variables lie beside either pair of levels.
        if case.size.len() == 2 {
            let tiled = scene(&case, 2, "wgpu", "single", "tiled", "");
            check_checkpoints(case.name, &on_host, &tiled, tolerance(Precision::Single));
        }
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
        let variants = ["stepwise", "single-launch", "tiled"];
        for variant in variants.into_iter().take(if order == 2 { 3 } else { 2 }) {
            let drift = rooms::drift_in_layers(&[9, 8], order, "wgpu", variant);
            assert!(drift < 0.01, "order {order}, {variant}: {drift}");
        }
    }
}
