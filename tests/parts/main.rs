//! A run in parts has the bits of a run that is not cut: fields, observables, records of detectors, pictures, saved states.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod implicit;
mod initial;
#[path = "../common/lines.rs"]
mod lines;
mod mirrors;
mod sound;

use ripplon::field::FieldData;
use ripplon::physics::Observables;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{self, Edit, FieldImage, ImageRequest, Solver, SolverState, Taps};

/// A scene without its `[solver]`, and the ways in which it is stepped.
struct Case {
    name: &'static str,
    size: &'static [usize],
    /// Edges of x and y, and of the last axis in space.
    edges: &'static [&'static str],
    scene: &'static str,
    solver: &'static [&'static str],
    quantities: &'static [Quantity],
}

const PSI: &[Quantity] = &[Quantity::Density, Quantity::Phase, Quantity::Real];

const SEEN_2D: &str = r#"
[[detector]]
name = "point"
at = [9.0, 43.0]
[[detector]]
name = "across"
from = [20.0, 5.0]
to = [20.0, 120.0]
every = 3
[[detector]]
name = "along"
from = [3.0, 43.0]
to = [40.0, 43.0]
[[detector]]
name = "box"
measure = "SUM"
region = { min = [10.0, 30.0], max = [30.0, 110.0] }
[[detector]]
name = "peak"
measure = "peak"
[[detector]]
name = "all"
measure = "SUM"
every = 5
"#;

const ENERGY: &str = r#"
[[detector]]
name = "energy"
measure = "energy"
region = { min = [4.0, 2.0], max = [33.0, 88.0] }
"#;

const PACKET_2D: &str = r#"
[quantum]
hopping = 1.0
[[packet]]
center = [20.0, 60.0]
width = [3.0, 9.0]
momentum = [0.5, 0.7]
[[layer]]
sets = "potential"
value = "0.3*sin(0.7*x) + 0.01*y"
mode = "add"
"#;

const PACKET_3D: &str = r#"
[quantum]
hopping = 1.0
[[packet]]
center = [8.0, 8.0, 30.0]
width = [3.0, 3.0, 9.0]
momentum = [0.5, 0.5, 0.7]
[[layer]]
sets = "potential"
value = "0.3*sin(0.7*x) + 0.01*z"
mode = "add"
[[detector]]
name = "point"
at = [9.0, 4.0, 31.0]
[[detector]]
name = "sheet"
from = [8.0, 2.0, 5.0]
to = [8.0, 12.0, 60.0]
every = 2
[[detector]]
name = "box"
measure = "probability"
region = { min = [2.0, 3.0, 10.0], max = [12.0, 9.0, 50.0] }
"#;

const TROTTER: &[&str] = &[
    "method = \"trotter\"\nvariant = \"naive\"\nprecision = \"double\"",
    "method = \"trotter\"\nvariant = \"vector\"\nprecision = \"single\"",
    "method = \"trotter\"\nvariant = \"vector\"\nprecision = \"double\"\norder = 4",
    "method = \"trotter\"\nvariant = \"blocked\"\nprecision = \"single\"\nfused_steps = 5",
    "method = \"trotter\"\nvariant = \"blocked\"\nprecision = \"double\"\nfused_steps = 3\norder = 4",
    "method = \"trotter\"\nvariant = \"naive\"\nprecision = \"single\"\norder = 1",
];

fn text(case: &Case, solver: &str, extra: &str, parts: usize) -> String {
    let edges: Vec<String> = case.edges.iter().map(|edge| format!("\"{edge}\"")).collect();
    let sound = case.scene.contains("[acoustic]");
    let sums = if sound { "pressure" } else { "probability" };
    let detectors = if case.size.len() == 2 {
        // Through the bonds that close a ring, or none.
        let last = case.size[1] - 1;
        let seam = format!("[[detector]]\nname = \"seam\"\nfrom = [3.0, {last}]\nto = [40.0, {last}]\nevery = 2\n");
        SEEN_2D.replace("SUM", sums) + &seam
    } else {
        String::new()
    };
    format!(
        "format = 1\n[grid]\nsize = {:?}\nspacing = 1.0\nabsorb_width = 6\nedges = [{}]\n{}\n{detectors}{extra}\n[solver]\nbackend = \"cpu\"\n{solver}\nparts = {parts}\n",
        case.size,
        edges.join(", "),
        case.scene,
    )
}

fn build(text: &str) -> (Box<dyn Solver>, Taps, ripplon::scene::Scenario) {
    let (_, scenario) = solver::read_scene_text(text, None, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let built = (solver::find(&scenario.solver().method).unwrap().build)(&scenario);
    let taps = Taps::of(&scenario);
    (built.unwrap_or_else(|error| panic!("{error}\n{text}")), taps, scenario)
}

/// Numbers that no symmetry hides.
fn shake(state: &mut SolverState) {
    let mut seed = 12345u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        #[expect(clippy::cast_precision_loss, reason = "31 bits")]
        let unit = (seed >> 33) as f64 / (1u64 << 31) as f64;
        unit - 0.5
    };
    for (_, array) in &mut state.arrays {
        #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
        match array {
            FieldData::Complex64(all) => all
                .iter_mut()
                .for_each(|z| (z.re, z.im) = (next() as f32, next() as f32)),
            FieldData::Complex128(all) => all.iter_mut().for_each(|z| (z.re, z.im) = (next(), next())),
            FieldData::Float32(all) => all.iter_mut().for_each(|x| *x = next() as f32),
            FieldData::Float64(all) => all.iter_mut().for_each(|x| *x = next()),
        }
    }
}

/// Everything that can be seen of a run: bits of arrays by name.
type Seen = Vec<(String, Vec<u8>)>;

fn see_sums(name: &str, sums: &Observables, seen: &mut Seen) {
    let mut all = vec![sums.norm, sums.energy, sums.peak, sums.invariant];
    all.extend(sums.position.iter().chain(&sums.spread));
    let bytes = all.iter().flat_map(|value| value.to_bits().to_le_bytes());
    seen.push((name.to_owned(), bytes.collect()));
}

fn look(run: &mut dyn Solver, taps: &Taps, case: &Case, seen: &mut Seen) {
    let state = run.save().unwrap();
    for (name, array) in &state.arrays {
        seen.push((format!("{name} at {}", state.clock.steps), array.bytes().to_vec()));
    }
    let mut numbers = |name: String, values: &[f64]| {
        seen.push((
            name,
            values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect(),
        ));
    };
    for (name, value) in &state.scalars {
        numbers(name.clone(), &[*value]);
    }
    numbers("times".to_owned(), taps.times());
    for n in 0..taps.taps().len() {
        numbers(format!("detector {n} at {}", state.clock.steps), taps.values(n));
    }
    let sums = run.observables().unwrap();
    see_sums(&format!("observables at {}", state.clock.steps), &sums, seen);
    for quantity in case.quantities {
        // Rows of texels that lie across cuts.
        let request = ImageRequest::new(
            *quantity,
            [1..case.size[0], 3..case.size[1]],
            case.size.get(2).map_or(0, |planes| planes / 2),
            [20, 30],
        );
        let mut image = FieldImage::default();
        run.image(&request, &mut image).unwrap();
        let texels = image.value.iter().chain(&image.phase);
        let bits = texels.flat_map(|texel| texel.to_bits().to_le_bytes()).collect();
        seen.push((format!("{} at {}", quantity.as_str(), state.clock.steps), bits));
    }
}

/// Steps a scene from random numbers, in calls of uneven length, changes Δt on the way, and looks.
fn follow(text: &str, case: &Case) -> Seen {
    let (mut run, mut taps, scenario) = build(text);
    let mut seen = Vec::new();
    look(run.as_mut(), &taps, case, &mut seen);
    run.advance(3, &mut taps).unwrap();
    look(run.as_mut(), &taps, case, &mut seen);
    let mut state = run.save().unwrap();
    shake(&mut state);
    state
        .scalars
        .retain(|(name, _)| name.starts_with("solver.") || name.starts_with("base"));
    run.load(&state).unwrap();
    run.observe(&mut taps).unwrap();
    taps.observe_every(run.sums_in_steps().then_some(3));
    for steps in [1, 7, 12] {
        run.advance(steps, &mut taps).unwrap();
    }
    taps.observe_every(None);
    for (clock, sums) in taps.take_observed() {
        see_sums(
            &format!("observables within steps at {}", clock.steps),
            &sums,
            &mut seen,
        );
    }
    look(run.as_mut(), &taps, case, &mut seen);
    let step = run.clock().time_step;
    run.edit(&scenario, &Edit::TimeStep(0.9 * step)).unwrap();
    run.advance(5, &mut Taps::default()).unwrap();
    if !scenario.time().imaginary {
        run.edit(&scenario, &Edit::Conjugate).unwrap();
        run.advance(9, &mut taps).unwrap();
    }
    let (field, clock) = (run.field().unwrap(), run.clock());
    run.set_field(&field, clock).unwrap();
    run.advance(6, &mut taps).unwrap();
    look(run.as_mut(), &taps, case, &mut seen);
    seen
}

fn compare(case: &Case, solver: &str, extra: &str) {
    let one = follow(&text(case, solver, extra, 1), case);
    for parts in [2, 3] {
        let cut = follow(&text(case, solver, extra, parts), case);
        assert_eq!(one.len(), cut.len(), "{}: {solver}", case.name);
        for ((name, whole), (_, cut)) in one.iter().zip(&cut) {
            let differ = whole.iter().zip(cut).filter(|(a, b)| a != b).count();
            assert!(
                whole.len() == cut.len() && differ == 0,
                "{} in {parts} parts: {differ} of {} bytes of {name} differ ({})",
                case.name,
                whole.len(),
                solver.replace('\n', ", ")
            );
        }
    }
}

/// Runs the case in all its ways.
fn check(case: &Case, extra: &str) {
    for solver in case.solver {
        compare(case, solver, extra);
    }
}

const PLANE: Case = Case {
    name: "plane",
    size: &[48, 130],
    edges: &["wall", "wall"],
    scene: PACKET_2D,
    solver: TROTTER,
    quantities: PSI,
};

const STEP: &str = "[time]\nstep = 0.1\n";

#[test]
fn psi_between_walls() {
    check(&PLANE, STEP);
}

#[test]
fn psi_on_a_torus_with_flux() {
    let edges = &["periodic", "periodic"];
    let scene =
        "[quantum]\nhopping = 1.0\nflux = 0.1\n[[packet]]\ncenter = [20.0, 60.0]\nwidth = 5.0\nmomentum = [0.5, 0.7]\n";
    check(
        &Case {
            edges,
            scene,
            name: "torus",
            ..PLANE
        },
        STEP,
    );
}

#[test]
fn psi_with_walls_absorption_and_interaction() {
    let edges = &["wall", "absorb"];
    let layers = "[[layer]]\nsets = \"wall\"\nshape = \"slits\"\nx = 25.0\nthickness = 2.0\ncenters = [50.0, 80.0]\nopening = 6.0\n\
                  [[layer]]\nsets = \"absorption\"\nshape = \"disk\"\ncenter = [10.0, 65.0]\nradius = 8.0\nvalue = 0.1\n";
    let case = Case {
        edges,
        name: "absorbing",
        ..PLANE
    };
    check(&case, &format!("{STEP}{layers}"));
    let scene = "[quantum]\nhopping = 1.0\ninteraction = 2.0\n[[packet]]\ncenter = [20.0, 60.0]\nwidth = 5.0\n";
    check(
        &Case {
            scene,
            name: "interacting",
            ..PLANE
        },
        STEP,
    );
}

/// Observables that `blocked` takes within its steps.
#[test]
fn psi_summed_within_steps() {
    const SOLVER: &[&str] = &[
        TROTTER[3],
        TROTTER[4],
        "method = \"trotter\"\nvariant = \"blocked\"\nprecision = \"single\"\norder = 1",
    ];
    const EDGES: [&[&str]; 3] = [&["wall", "wall"], &["periodic", "periodic"], &["wall", "absorb"]];
    let solver = SOLVER;
    for edges in EDGES {
        let case = Case {
            edges,
            name: "summed",
            solver,
            ..PLANE
        };
        let (run, ..) = build(&text(&case, solver[0], STEP, 2));
        assert!(run.sums_in_steps(), "{edges:?}");
        check(&case, STEP);
    }
}

#[test]
fn psi_that_is_driven() {
    let layers = "[[layer]]\nsets = \"potential\"\nshape = \"disk\"\ncenter = [10.0, 65.0]\nradius = 18.0\nvalue = 0.5\nmode = \"add\"\ndrive = \"sin(3*t)\"\n";
    check(
        &Case {
            name: "driven",
            ..PLANE
        },
        &format!("{STEP}{layers}"),
    );
}

#[test]
fn psi_in_imaginary_time() {
    const SOLVER: &[&str] = &[TROTTER[0], TROTTER[1], TROTTER[3]];
    let solver = SOLVER;
    let imaginary = "[time]\nstep = 0.1\nimaginary = true\n";
    check(
        &Case {
            solver,
            name: "imaginary",
            ..PLANE
        },
        imaginary,
    );
    let scene = "[quantum]\nhopping = 1.0\ninteraction = 2.0\n[[packet]]\ncenter = [20.0, 60.0]\nwidth = 5.0\n";
    check(
        &Case {
            solver,
            scene,
            name: "imaginary, interacting",
            ..PLANE
        },
        imaginary,
    );
}

#[test]
fn psi_in_space() {
    let size = &[20, 18, 94];
    let case = Case {
        size,
        edges: &["wall", "wall", "wall"],
        scene: PACKET_3D,
        name: "space",
        ..PLANE
    };
    check(&case, STEP);
    check(
        &Case {
            edges: &["wall", "periodic", "periodic"],
            name: "ring",
            ..case
        },
        STEP,
    );
}

const SOUND: &[Quantity] = &[Quantity::Pressure, Quantity::Peak, Quantity::Energy];

const FDTD: &[&str] = &[
    "method = \"fdtd\"\nvariant = \"stepwise\"\nprecision = \"double\"",
    "method = \"fdtd\"\nvariant = \"stepwise\"\nprecision = \"single\"\norder = 8",
    "method = \"fdtd\"\nvariant = \"tiled\"\nprecision = \"single\"\norder = 4\ndts = 2\ntower = 6",
    "method = \"fdtd\"\nvariant = \"tiled\"\nprecision = \"double\"\ndts = 3\ntower = 16",
];

const PULSE_2D: &str = r#"
[acoustic]
speed = 1.0
density = 1.0
[[pulse]]
center = [20.0, 60.0]
width = 4.0
amplitude = 1.0
[[source]]
at = [30.4, 44.3]
signal = "sine"
frequency = 0.05
amplitude = 0.3
[[source]]
at = [12.0, 80.0]
signal = "sine"
frequency = 0.07
velocity = [0.1, 0.4]
[[detector]]
name = "between"
at = [17.3, 86.6]
[[detector]]
name = "mean"
measure = "pressure"
region = { min = [4.0, 2.0], max = [33.0, 88.0] }
"#;

const ROOM: Case = Case {
    name: "room",
    size: &[48, 130],
    edges: &["wall", "soft"],
    scene: PULSE_2D,
    solver: FDTD,
    quantities: SOUND,
};

const SOUND_STEP: &str = "[time]\nstep = 0.3\n";

/// A checkpoint of four parts goes on in one, two and three.
#[test]
fn states_go_on_in_other_parts() {
    let of = |parts| text(&PLANE, TROTTER[3], STEP, parts);
    let (mut four, mut taps, _) = build(&of(4));
    four.advance(11, &mut taps).unwrap();
    let state = four.save().unwrap();
    four.advance(13, &mut taps).unwrap();
    let end = four.save().unwrap();
    for parts in [1, 2, 3] {
        let (mut other, mut taps, _) = build(&of(parts));
        other.load(&state).unwrap();
        other.advance(13, &mut taps).unwrap();
        assert_eq!(other.save().unwrap(), end, "{parts} parts");
    }
}

/// What cannot be cut is refused, with what to do.
#[test]
fn what_cannot_be_cut_is_refused() {
    let refused = |text: &str, words: &[&str]| {
        let faults = solver::read_scene_text(text, None, &[]).unwrap_err().to_string();
        for word in words {
            assert!(faults.contains(word), "{word}: {faults}");
        }
    };
    let of = |solver: &str, parts| text(&PLANE, solver, STEP, parts);
    refused(
        &of("method = \"split-step-fourier\"", 2),
        &["split-step-fourier", "trotter", "parts"],
    );
    refused(&of(TROTTER[0], 100), &["130 rows along y", "at most"]);
    // On NVIDIA devices, whether there are any here or not.
    let on = |method: &str, backend: &str, devices: &str| {
        let solver = format!("method = \"{method}\"\ndevices = {devices}");
        of(&solver, 1).replace("backend = \"cpu\"", &format!("backend = \"{backend}\""))
    };
    refused(&on("trotter", "cpu", "2"), &["solver.devices", "NVIDIA", "\"cuda\""]);
    refused(
        &on("trotter", "cuda", "0"),
        &["solver.devices", "0 is not possible", "\"all\""],
    );
    refused(
        &on("trotter", "cuda", "[0, 16]"),
        &["[0, 16] is not possible", "1 to 16"],
    );
    refused(&on("trotter", "cuda", "\"every\""), &["\"every\" is not possible"]);
    refused(&on("split-step-fourier", "cpu", "2"), &["solver.devices", "trotter"]);
}
