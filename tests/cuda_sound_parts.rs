//! Sound on grids that are cut into parts on NVIDIA devices: the bits of a run in one part. Without a device the tests say so and pass.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail where it stands")]

#[path = "common/device.rs"]
mod device;
#[path = "common/rooms.rs"]
mod rooms;
#[path = "common/saved.rs"]
mod saved;
#[path = "common/transduced.rs"]
mod transduced;

use device::{build, needs_device};
use ripplon::grid::Edge;
use ripplon::physics::Measure;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Solver, Taps, devices_here};
use rooms::{ALL, Case, DAMPED, DENSITY, DETECTORS, REGIONS, SOURCES, SPEED, WALLS, Way};
use saved::goes_to_one_and_back;
use transduced::{ACTS, Played, Score, compare};

/// A source that crosses the cuts, a region whose sites are summed where they lie, and what is recorded now and then.
const MORE: &str = "[[source]]\nat = [6.0, 2.0, 2.0]\nsignal = \"sine\"\nfrequency = 0.3\namplitude = 5.0\nvelocity = [0.1, 1.1, 0.8]\n\
    [[detector]]\nname = \"mean\"\nregion = { min = [1.0, 2.0, 1.0], max = [25.0, 17.5, 16.0] }\nmeasure = \"pressure\"\nevery = 3\n\
    [[detector]]\nname = \"crests\"\nmeasure = \"peak\"\nevery = 4\n\
    [[detector]]\nname = \"along\"\nfrom = [2.0, 15.0, 4.0]\nto = [25.0, 15.0, 9.0]\nmeasure = \"flux\"\n";

fn scene(case: &Case, way: [&str; 3], order: u32, devices: &str, sounds: &str) -> Scenario {
    let [method, precision, variant] = way;
    let way = Way {
        method,
        order,
        backend: "cuda",
        precision,
        variant,
        more: &format!("devices = {devices}"),
        sounds,
    };
    rooms::scene(case, &way)
}

/// Everything that can be seen of a run, by name, and how far numbers may be off, as a share of the largest: 0 is not at all.
type Seen = Vec<(String, Vec<u8>, Option<Vec<f64>>)>;

fn numbers(name: String, values: Vec<f64>, exact: bool, seen: &mut Seen) {
    if exact {
        let bits = values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect();
        seen.push((name, bits, None));
    } else {
        seen.push((name, Vec::new(), Some(values)));
    }
}

/// Whether energies have the same bits: where the axis that is cut is a ring, sites beside its ends are summed by other code than those inside, and they are not such sites in a part.
fn exact_energies(scenario: &Scenario) -> bool {
    scenario.grid().edges()[scenario.grid().rank() - 1] != Edge::Periodic
}

fn look(run: &mut dyn Solver, scenario: &Scenario, taps: &Taps, seen: &mut Seen) {
    let state = run.save().expect("the run saves");
    let at = state.clock.steps;
    for (name, array) in &state.arrays {
        seen.push((format!("{name} at {at}"), array.bytes().to_vec(), None));
    }
    let exact = exact_energies(scenario);
    let sums = run.observables().expect("the run sums");
    let mut places = vec![sums.norm, sums.peak];
    places.extend(sums.position.iter().chain(&sums.spread));
    numbers(format!("sums at {at}"), places, true, seen);
    // Without a velocity there is no energy of the sound.
    let energies = [sums.energy, sums.invariant].map(|energy| if energy.is_nan() { -1.0 } else { energy });
    numbers(format!("energies at {at}"), energies.to_vec(), exact, seen);
    numbers(format!("times at {at}"), taps.times().to_vec(), true, seen);
    for (n, tap) in taps.taps().iter().enumerate() {
        let name = format!("detector {n}, {:?}, at {at}", tap.measure);
        let values = taps.values(n).iter();
        let values = values.map(|value| if value.is_nan() { -1.0 } else { *value }).collect();
        numbers(name, values, exact || tap.measure != Measure::Energy, seen);
    }
}

fn draw(run: &mut dyn Solver, scenario: &Scenario, seen: &mut Seen) {
    let [nx, ny, nz] = scenario.grid().size();
    for quantity in [Quantity::Pressure, Quantity::Peak, Quantity::Energy] {
        let request = ImageRequest::new(quantity, [1..nx, 1..ny], nz / 2, [nx, ny]);
        let mut image = FieldImage::default();
        run.image(&request, &mut image).expect("the run draws");
        let values = image.value.iter().map(|value| f64::from(*value)).collect();
        let exact = quantity != Quantity::Energy || exact_energies(scenario);
        numbers(format!("a picture of {}", quantity.as_str()), values, exact, seen);
    }
}

/// Steps a scene from noise, in calls of uneven length, with edits, and looks.
fn follow(scenario: &Scenario) -> Seen {
    let mut run = build(scenario);
    let mut taps = Taps::of(scenario);
    let mut seen = Vec::new();
    look(run.as_mut(), scenario, &taps, &mut seen);
    run.set_field(&rooms::random(scenario.grid().sites()), rooms::start())
        .expect("the run takes a field");
    run.advance(29, &mut Taps::default()).expect("the run steps");
    look(run.as_mut(), scenario, &taps, &mut seen);
    run.observe(&mut taps).expect("the run observes");
    for steps in [1, 7, 38] {
        run.advance(steps, &mut taps).expect("the run steps");
    }
    look(run.as_mut(), scenario, &taps, &mut seen);
    draw(run.as_mut(), scenario, &mut seen);
    run.edit(scenario, &Edit::TimeStep(0.09)).expect("another step");
    run.advance(5, &mut Taps::default()).expect("the run steps");
    run.edit(scenario, &Edit::Conjugate).expect("the run turns back");
    run.edit(scenario, &Edit::Medium).expect("the medium again");
    run.advance(13, &mut taps).expect("the run steps");
    look(run.as_mut(), scenario, &taps, &mut seen);
    draw(run.as_mut(), scenario, &mut seen);
    seen
}

/// The first thing in which two runs differ.
fn difference(whole: &Seen, cut: &Seen) -> Option<String> {
    assert_eq!(whole.len(), cut.len());
    for ((name, bits, values), (_, others, other_values)) in whole.iter().zip(cut) {
        let differ = bits.iter().zip(others).filter(|(a, b)| a != b).count();
        if bits.len() != others.len() || differ > 0 {
            return Some(format!("{differ} of {} bytes of {name} differ", bits.len()));
        }
        if let (Some(a), Some(b)) = (values, other_values) {
            let largest = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            // Pictures are in single precision.
            let most = if name.starts_with("a picture") { 1e-5 } else { 1e-11 };
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= most * largest;
            if a.len() != b.len() || !a.iter().zip(b).all(near) {
                return Some(format!("{name}: {:?} {:?}", a.last(), b.last()));
            }
        }
    }
    None
}

/// On which devices parts stand: several on one, and where there are two, on both.
fn places() -> Vec<&'static str> {
    if devices_here() > 1 {
        vec!["[0, 1]", "[1, 0, 1]"]
    } else {
        vec!["[0, 0]", "[0, 0, 0]"]
    }
}

fn check(cases: &[Case], method: &str, ways: &[(&str, &str)], sounds: &str) {
    needs_device!();
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for case in cases {
        for &order in case.orders {
            for (precision, variant) in ways {
                let on = |devices: &str| scene(case, [method, precision, variant], order, devices, sounds);
                let whole = follow(&on("1"));
                for devices in places() {
                    compared += 1;
                    let name = format!("{}, order {order}, {precision}, {variant}, {devices}", case.name);
                    wrong.extend(difference(&whole, &follow(&on(devices))).map(|what| format!("{name}: {what}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 2 * cases.len(), "{compared} runs in parts");
}

/// What transducers hear, add and overwrite, sites at both ends of the axis that is cut and beside cuts among them.
#[test]
fn transducers_in_parts_have_the_bits_of_one() {
    needs_device!();
    let mut compared = 0;
    // Rings of oscillators have an even number of sites.
    let even: Vec<Case> = planes()
        .into_iter()
        .filter(|case| case.size[0] % 2 == 0)
        .take(2)
        .collect();
    for (cases, method, ways) in [
        (planes(), "fdtd", [("single", "tiled"), ("double", "stepwise")]),
        (spaces(), "fdtd", [("single", "auto"), ("double", "stepwise")]),
        (even, "oscillators", [("single", "fused"), ("double", "naive")]),
    ] {
        for case in &cases {
            let (row, all) = (case.size[0], case.size.iter().product::<usize>());
            let sites = [0, row + 3, all / 3, all / 2, all / 2 + row, all - row - 1, all - 1];
            let field = rooms::random(all);
            let score = Score {
                sites: &sites,
                field: &field,
                start: rooms::start(),
                steps: &[13, 70],
                loud: 1.0,
            };
            for (precision, variant) in ways {
                let on = |devices: &str| scene(case, [method, precision, variant], 2, devices, DETECTORS);
                for act in ACTS {
                    let mut whole = score.play(&on("1"), act);
                    for devices in places() {
                        compared += 1;
                        let name = format!("{}, {method}, {precision}, {variant}, {devices}, {act:?}", case.name);
                        let mut cut = score.play(&on(devices), act);
                        let arrays = |played: &mut Played| played.0.save().expect("the run saves").arrays;
                        assert!(arrays(&mut whole) == arrays(&mut cut), "{name}: fields differ");
                        let heard = |played: &Played| played.1.transducers().map(|own| own.heard().to_vec());
                        assert!(heard(&whole) == heard(&cut), "{name}: what was heard differs");
                        compare(&name, &mut whole, &mut cut, 1e-12);
                    }
                }
            }
        }
    }
    assert!(compared > 150, "{compared} runs in parts");
}

fn sounds() -> String {
    format!("{SOURCES}{DETECTORS}{REGIONS}{MORE}")
}

/// Cuts are uneven in most of them.
fn planes() -> Vec<Case> {
    let case = Case::new;
    vec![
        case("soft plate", &[130, 71], "\"soft\"", "", ALL),
        case("plate with speeds", &[133, 64], "[\"periodic\", \"wall\"]", SPEED, &[4]),
        case("small plate", &[52, 46], "[\"wall\", \"periodic\"]", "", &[2, 6]),
        case(
            "absorbing plate",
            &[128, 70],
            "\"absorb\"\nabsorb_width = 12",
            SPEED,
            ALL,
        ),
        case("densities", &[90, 61], "[\"soft\", \"wall\"]", DENSITY, &[2]),
        case(
            "absorbing densities",
            &[90, 61],
            "\"absorb\"\nabsorb_width = 9",
            DENSITY,
            &[2],
        ),
        case("obstacles on a torus", &[90, 61], "\"periodic\"", WALLS, &[2, 8]),
        case(
            "obstacles near absorbers",
            &[64, 75],
            "\"absorb\"\nabsorb_width = 14",
            WALLS,
            &[2, 8],
        ),
        case("damped", &[300, 241], "\"wall\"", DAMPED, &[2, 8]),
    ]
}

fn spaces() -> Vec<Case> {
    let case = Case::new;
    vec![
        case("room", &[100, 64, 70], "\"wall\"", "", ALL),
        case(
            "soft room",
            &[70, 45, 50],
            "[\"soft\", \"wall\", \"soft\"]",
            SPEED,
            &[4],
        ),
        case("torus", &[64, 48, 50], "\"periodic\"", "", &[2]),
        case("room with pillars", &[66, 48, 47], "\"wall\"", WALLS, &[2, 6]),
        case(
            "absorbing room",
            &[100, 64, 70],
            "\"absorb\"\nabsorb_width = 9",
            "",
            ALL,
        ),
        case("damped densities", &[66, 48, 37], "\"wall\"", DENSITY, &[2]),
    ]
}

#[test]
fn plates_in_parts_have_the_bits_of_one() {
    check(
        &planes(),
        "fdtd",
        &[("single", "tiled"), ("double", "stepwise")],
        &sounds(),
    );
}

#[test]
fn plates_with_still_sources_in_parts_have_the_bits_of_one() {
    check(
        &planes()[..4],
        "fdtd",
        &[("single", "stepwise"), ("double", "tiled")],
        &format!("{SOURCES}{DETECTORS}"),
    );
}

#[test]
fn rooms_in_parts_have_the_bits_of_one() {
    check(
        &spaces(),
        "fdtd",
        &[("single", "diamond-torre"), ("double", "stepwise")],
        &sounds(),
    );
}

#[test]
fn quiet_rooms_in_parts_have_the_bits_of_one() {
    check(
        &spaces()[..5],
        "fdtd",
        &[("single", "diamond-torre"), ("single", "stepwise")],
        "",
    );
}

#[test]
fn oscillators_in_parts_have_the_bits_of_one() {
    let case = |name, size, edges, layers| Case::new(name, size, edges, layers, &[2, 4]);
    let cases = [
        case("plate", &[260, 71], "\"wall\"", ""),
        case("odd plate", &[371, 53], "[\"wall\", \"soft\"]", ""),
        case("torus", &[256, 64], "\"periodic\"", ""),
        case("plate with speeds", &[134, 64], "[\"periodic\", \"wall\"]", SPEED),
        case("densities", &[90, 61], "[\"soft\", \"wall\"]", DENSITY),
        case("odd absorbing plate", &[141, 71], "\"absorb\"\nabsorb_width = 12", ""),
        case("obstacles on a torus", &[90, 62], "\"periodic\"", WALLS),
        case("damped", &[92, 61], "\"wall\"", DAMPED),
    ];
    check(
        &cases,
        "oscillators",
        &[("single", "fused"), ("double", "naive")],
        &sounds(),
    );
    check(&cases[..4], "oscillators", &[("double", "fused")], "");
}

/// What three parts have saved goes on in one, and the other way round.
#[test]
fn a_state_goes_from_parts_to_one_and_back() {
    needs_device!();
    let open = Case::new("open", &[66, 48, 61], "\"absorb\"\nabsorb_width = 7", "", &[2]);
    let plate = Case::new("plate", &[140, 70], "\"absorb\"\nabsorb_width = 12", "", &[2]);
    for (case, method) in [(open, "fdtd"), (plate, "fdtd"), (plate, "oscillators")] {
        let on = |devices: &str| scene(&case, [method, "single", "auto"], 2, devices, SOURCES);
        let name = format!("{} {method}", case.name);
        goes_to_one_and_back(&name, build(&on("[0, 0, 0]")), build(&on("1")));
    }
}
