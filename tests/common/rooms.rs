//! Scenes of sound with every kind of medium and edge, and comparisons of a run on a device with one of the processor.
#![allow(dead_code, reason = "each test takes what it needs")]

use super::device::{build, distance};
use ripplon::field::{FieldData, Precision};
use ripplon::physics::Equation;
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Clock, Edit, FieldImage, ImageRequest, Taps, read_scene_text};

/// A scene: grid, medium, orders to test.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub size: &'static [usize],
    pub edges: &'static str,
    pub layers: &'static str,
    pub orders: &'static [u32],
}

pub const SPEED: &str =
    "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y + 13.3*z)\"\n";
pub const DENSITY: &str = "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(37.1*x + 91.7*y)\"\n\
    [[layer]]\nsets = \"density\"\nshape = \"everywhere\"\nvalue = \"1.3 + 0.4*sin(7.1*x + 1.7*y + 3.3*z)\"\n";
pub const WALLS: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [16.0, 11.0, 9.0]\nradius = 4.3\nvalue = 1\n\
    [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [24.0, 3.0, 4.0]\nmax = [24.6, 14.0, 12.0]\nvalue = 1\n";
pub const DAMPED: &str = "[[layer]]\nsets = \"absorption\"\nshape = \"box\"\nmin = [20.0, 8.0, 4.0]\nmax = [30.0, 16.0, 12.0]\nvalue = 0.4\n";

/// Heard and seen in every case of two and three dimensions.
pub const SOURCES: &str = "[[source]]\nat = [12.0, 13.0, 9.0]\nsignal = \"sine\"\nfrequency = 0.21\namplitude = 30.0\n\
    [[source]]\nfrom = [4.0, 17.0, 5.0]\nto = [9.0, 17.0, 5.0]\nsignal = \"ricker\"\nfrequency = 0.3\namplitude = 20.0\n\
    [[source]]\nat = [12.0, 13.0, 9.0]\nsignal = \"sine\"\nfrequency = 0.4\namplitude = 10.0\n";
pub const DETECTORS: &str = "[[detector]]\nname = \"point\"\nat = [14.0, 12.0, 8.0]\nmeasure = \"pressure\"\n\
    [[detector]]\nname = \"crest\"\nregion = { min = [3.0, 4.0, 3.0], max = [6.0, 7.5, 6.0] }\nmeasure = \"peak\"\n";
pub const REGIONS: &str = "[[detector]]\nname = \"line\"\nfrom = [15.0, 2.0, 2.0]\nto = [15.0, 18.0, 8.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"room\"\nregion = { min = [2.0, 2.0, 2.0], max = [25.0, 17.5, 9.0] }\nmeasure = \"energy\"\n";
/// Lines one and two sites from edges, where wide stencils have bonds to images across them, and one that ends at a wall of [`WALLS`].
pub const BESIDE_EDGES: &str = "[[detector]]\nname = \"beside x\"\nfrom = [0.5, 1.0, 2.0]\nto = [0.5, 18.0, 8.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"beside y\"\nfrom = [1.0, 1.0, 2.0]\nto = [25.0, 1.0, 8.0]\nmeasure = \"flux\"\n\
    [[detector]]\nname = \"beside a wall\"\nfrom = [23.0, 3.0, 5.0]\nto = [23.0, 14.0, 8.0]\nmeasure = \"flux\"\n";

/// Lines, or planes in rooms, at the last sites of both axes: what flows through them goes round a ring, or nothing does.
pub fn seams(case: &Case) -> String {
    let last = |axis: usize| 0.5 * f64::from(u32::try_from(case.size[axis] - 1).unwrap_or(0));
    if case.size.len() < 2 {
        return String::new();
    }
    let (x, y) = (last(0), last(1));
    format!(
        "[[detector]]\nname = \"seam of x\"\nfrom = [{x:?}, 1.0, 2.0]\nto = [{x:?}, 18.0, 8.0]\nmeasure = \"flux\"\n\
         [[detector]]\nname = \"seam of y\"\nfrom = [1.0, {y:?}, 2.0]\nto = [25.0, {y:?}, 8.0]\nmeasure = \"flux\"\n"
    )
}

impl Case {
    pub fn new(
        name: &'static str,
        size: &'static [usize],
        edges: &'static str,
        layers: &'static str,
        orders: &'static [u32],
    ) -> Self {
        Self {
            name,
            size,
            edges,
            layers,
            orders,
        }
    }
}

/// Every order in space.
pub const ALL: &[u32] = &[2, 4, 6, 8];

/// Lines, plates and rooms with every kind of edge and medium.
pub fn cases() -> Vec<Case> {
    let case = Case::new;
    let order2: &[u32] = &[2];
    vec![
        case("line", &[701], "\"wall\"", "", ALL),
        case(
            "ring with speeds",
            &[700],
            "\"periodic\"",
            "[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"1 + 0.2*sin(3.1*x)\"\n",
            ALL,
        ),
        case("absorbing line", &[300], "\"absorb\"\nabsorb_width = 17", "", ALL),
        case("soft plate", &[130, 71], "\"soft\"", "", ALL),
        case("plate with speeds", &[133, 64], "[\"periodic\", \"wall\"]", SPEED, ALL),
        case("small plate", &[52, 38], "[\"wall\", \"periodic\"]", "", ALL),
        case(
            "absorbing plate",
            &[128, 70],
            "\"absorb\"\nabsorb_width = 12",
            SPEED,
            ALL,
        ),
        case("densities", &[90, 61], "[\"soft\", \"wall\"]", DENSITY, order2),
        case(
            "absorbing densities",
            &[90, 61],
            "\"absorb\"\nabsorb_width = 9",
            DENSITY,
            order2,
        ),
        case("obstacles", &[90, 61], "[\"soft\", \"wall\"]", WALLS, ALL),
        case("obstacles on a torus", &[90, 61], "\"periodic\"", WALLS, ALL),
        case(
            "obstacles near absorbers",
            &[64, 45],
            "\"absorb\"\nabsorb_width = 14",
            WALLS,
            ALL,
        ),
        case("damped", &[90, 61], "\"wall\"", DAMPED, ALL),
        case("room", &[66, 48, 37], "\"wall\"", "", ALL),
        case("soft room", &[70, 45, 40], "[\"soft\", \"wall\", \"soft\"]", SPEED, ALL),
        case("torus", &[64, 48, 40], "\"periodic\"", "", ALL),
        case("room with pillars", &[66, 48, 37], "\"wall\"", WALLS, ALL),
        case(
            "absorbing room",
            &[66, 45, 40],
            "\"absorb\"\nabsorb_width = 10",
            "",
            ALL,
        ),
        case("damped densities", &[66, 48, 37], "\"wall\"", DENSITY, order2),
    ]
}

/// A step rounds about 20 times a site, at random, but what is off in pⁿ − pⁿ⁻¹ goes on from step to step: n steps of errors that add up as n^(3/2). 31 steps:
/// ε/2·√20·170 = 4.6e-5 in single (ε = 1.2e-7), 8.5e-14 in double; the field is about as large as at the start.
pub fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 5e-5,
        Precision::Double => 1e-13,
    }
}

/// Who steps a case, and what is heard.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub method: &'a str,
    pub order: u32,
    pub backend: &'a str,
    pub precision: &'a str,
    pub variant: &'a str,
    /// More lines of `[solver]`.
    pub more: &'a str,
    /// Sources and detectors; coordinates beyond the rank are cut off. Nothing is heard on lines.
    pub sounds: &'a str,
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub fn scene(case: &Case, way: &Way) -> Scenario {
    let rank = case.size.len();
    // Coordinates beyond the rank are cut off by the shape of the lists.
    let fit = |text: &str| {
        let mut out = String::new();
        for part in text.split_inclusive(']') {
            match part.rfind('[').filter(|_| part.contains(',')) {
                Some(open) if part.ends_with(']') => {
                    let list: Vec<&str> = part[open + 1..part.len() - 1].split(',').map(str::trim).collect();
                    let numbers = list.iter().all(|word| word.parse::<f64>().is_ok());
                    let kept = if numbers && list.len() > rank {
                        &list[..rank]
                    } else {
                        &list[..]
                    };
                    out.push_str(&format!("{}[{}]", &part[..open], kept.join(", ")));
                }
                _ => out.push_str(part),
            }
        }
        out
    };
    let sounds = if rank > 1 { fit(way.sounds) } else { String::new() };
    let center: Vec<f64> = (case.size.iter().zip([9.0_f64, 8.0, 7.0]))
        .map(|(sites, at)| at.min(0.5 * (sites - 1) as f64))
        .collect();
    let Way {
        method,
        order,
        backend,
        precision,
        variant,
        more,
        ..
    } = way;
    let text = format!(
        "format = 1\ntitle = \"{}\"\n[grid]\nsize = {:?}\nspacing = 0.5\nedges = {}\n[acoustic]\nspeed = 1.0\ndensity = 1.2\n[time]\nstep = 0.11\n\
         [solver]\nmethod = \"{method}\"\nbackend = \"{backend}\"\nprecision = \"{precision}\"\nvariant = \"{variant}\"\norder = {order}\n{more}\n\
         {}{}{sounds}",
        case.name,
        case.size,
        case.edges,
        format_args!("[[pulse]]\ncenter = {center:?}\nwidth = 1.0\namplitude = 1.0\n"),
        fit(case.layers)
    );
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{faults}\n{text}"),
    }
}

/// The same by finite differences with [`SOURCES`].
pub fn fdtd(case: &Case, order: u32, backend: &str, precision: &str, variant: &str, detectors: &str) -> Scenario {
    let sounds = format!("{SOURCES}{detectors}");
    let way = Way {
        method: "fdtd",
        order,
        backend,
        precision,
        variant,
        more: "",
        sounds: &sounds,
    };
    scene(case, &way)
}

/// Noise, the same in every run.
pub fn random(sites: usize) -> FieldData {
    ripplon::engine::bench::random_field(Equation::Acoustic, Precision::Double, sites, 5)
}

/// The beginning of every run.
pub fn start() -> Clock {
    Clock::at_start(0.11)
}

/// What differs between a run of `found` and one of `expected` from the same noise: field, sums, records, each beyond `tolerance` (sums and records beyond a hundred
/// times as much: squares are off by twice as much, and energies are differences of what is larger).
pub fn differences(name: &str, expected: &Scenario, found: &Scenario, tolerance: f64) -> Vec<String> {
    let mut wrong = Vec::new();
    let field = random(expected.grid().sites());
    let mut all = [expected, found].map(|scenario| {
        let mut run = build(scenario);
        run.set_field(&field, start())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut taps = Taps::new(scenario.grid(), scenario.detectors());
        for steps in [13, 18] {
            run.advance(steps, &mut taps)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        (run, taps)
    });
    let [(reference, records), (run, taps)] = &mut all;
    let off = distance(&run.field().expect("a field"), &reference.field().expect("a field"));
    if off.is_nan() || off > tolerance {
        return vec![format!("{name}: p is off by {off:.1e} ({})", run.report().details)];
    }
    let sums = reference.observables().expect("sums").values(3);
    let sums_found = run.observables().expect("sums").values(3);
    for (place, (a, b)) in sums_found.iter().zip(&sums).enumerate() {
        if (a - b).abs() > 100.0 * tolerance * b.abs().max(1e-3) {
            wrong.push(format!("{name}: observable {place} is {a}, should be {b}"));
        }
    }
    assert_eq!(records.times(), taps.times());
    for detector in 0..expected.detectors().len() {
        let scale = records
            .values(detector)
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        for (a, b) in taps.values(detector).iter().zip(records.values(detector)) {
            if (a - b).abs() > 100.0 * tolerance * scale {
                wrong.push(format!("{name}: detector {detector} says {a}, should say {b}"));
                break;
            }
        }
    }
    wrong
}

/// States and edits go from the processor to the device and back; both scenes have the same precision, whose rounding explains a difference of `tolerance`.
pub fn check_checkpoints(name: &str, on_host: &Scenario, on_device: &Scenario, tolerance: f64) {
    let (mut cpu, mut gpu) = (build(on_host), build(on_device));
    cpu.set_field(&random(on_host.grid().sites()), start())
        .expect("a field");
    cpu.advance(9, &mut Taps::default()).expect("steps");
    gpu.load(&cpu.save().expect("a state")).expect("the state fits");
    assert_eq!(
        gpu.save().expect("a state"),
        cpu.save().expect("a state"),
        "{name}: bit by bit"
    );
    for (run, scenario) in [(&mut cpu, on_host), (&mut gpu, on_device)] {
        run.advance(9, &mut Taps::default()).expect("steps");
        run.edit(scenario, &Edit::TimeStep(0.07)).expect("another step");
        run.advance(8, &mut Taps::default()).expect("steps");
        run.edit(scenario, &Edit::Conjugate).expect("turns");
        run.edit(scenario, &Edit::Medium).expect("the medium again");
        run.advance(5, &mut Taps::default()).expect("steps");
    }
    let off = distance(&gpu.field().expect("a field"), &cpu.field().expect("a field"));
    assert!(off < tolerance, "{name}: {off:.1e}");
    assert_eq!(cpu.clock(), gpu.clock());
    cpu.load(&gpu.save().expect("a state")).expect("the state fits");
}

/// Pictures agree within `tolerance` of their largest value, and where they can be begun ahead, they show the moment at which that was done; both scenes have the
/// same precision.
pub fn check_pictures(case: &Case, on_host: &Scenario, on_device: &Scenario, tolerance: f32) {
    let (mut cpu, mut gpu) = (build(on_host), build(on_device));
    let sites = case.size.iter().product();
    for run in [&mut cpu, &mut gpu] {
        run.set_field(&random(sites), start()).expect("a field");
        run.advance(3, &mut Taps::default()).expect("steps");
    }
    let [nx, ny, nz] = [0, 1, 2].map(|axis| case.size.get(axis).copied().unwrap_or(1));
    for quantity in [Quantity::Pressure, Quantity::Energy, Quantity::Peak] {
        for most in [[300, 300], [20, 11]] {
            let request = ImageRequest::new(quantity, [1..nx, 1.min(ny - 1)..(ny - 1).max(1)], nz / 2, most);
            let (mut a, mut b, mut later) = (FieldImage::default(), FieldImage::default(), FieldImage::default());
            cpu.image(&request, &mut a).expect("a picture");
            gpu.image(&request, &mut b).expect("a picture");
            assert_eq!(
                (a.size, a.origin, a.reduction, a.quantity),
                (b.size, b.origin, b.reduction, b.quantity)
            );
            let largest = a.value.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
            for (x, y) in a.value.iter().zip(&b.value) {
                assert!(
                    (x - y).abs() <= tolerance * largest,
                    "{} {quantity:?}: {x} {y}",
                    case.name
                );
            }
            let ahead = gpu.begin_image(&request).expect("a picture is begun");
            for steps in [1, 9, 2] {
                cpu.advance(steps, &mut Taps::default()).expect("steps");
                gpu.advance(steps, &mut Taps::default()).expect("steps");
            }
            assert_eq!(gpu.take_image(&mut later).expect("a picture"), ahead);
            assert!(!ahead || later == b, "{}, {quantity:?}", case.name);
            assert!(!gpu.take_image(&mut later).expect("none is left"));
        }
    }
}

/// Whether two records are the same to the bit: what is absent is no number, and would differ from itself.
pub fn same_records(a: &Taps, b: &Taps) -> bool {
    let bits = |taps: &Taps| -> Vec<Vec<u64>> {
        let of = |detector: usize| taps.values(detector).iter().map(|value| value.to_bits()).collect();
        (0..taps.taps().len()).map(of).collect()
    };
    a.times() == b.times() && bits(a) == bits(b)
}

/// Whether two runs from the same noise have the same states and records, to the bit, after each of these numbers of steps; what differs.
pub fn different_bits(name: &str, scenes: [&Scenario; 2], steps: &[u64]) -> Option<String> {
    let field = random(scenes[0].grid().sites());
    let mut all = scenes.map(|scenario| (build(scenario), Taps::new(scenario.grid(), scenario.detectors())));
    for (run, _) in &mut all {
        run.set_field(&field, start())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for &steps in steps {
        for (run, taps) in &mut all {
            run.advance(steps, taps)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let [(one, records), (many, others)] = &mut all;
        if one.save().expect("a state") != many.save().expect("a state") {
            let off = distance(&many.field().expect("a field"), &one.field().expect("a field"));
            return Some(format!(
                "{name}: after {} steps off by {off:.1e} ({})",
                one.clock().steps,
                many.report().details
            ));
        }
        if !same_records(records, others) {
            return Some(format!("{name}: records differ"));
        }
    }
    None
}

/// How far a pressure drifts that layers of 3 sites hold in single precision, at a thousandth below the largest step: what noise of height 1 has left after 2·10⁴ steps, 2·10⁵ steps later.
/// Each step rounds by ε/2 of it, and layers damp the speeds that come of that within some 10 steps: a walk of 6·10⁻⁸ · 10 · √(2·10⁵) = 3·10⁻⁴. Undamped speeds made it 0.2.
#[allow(
    dead_code,
    clippy::cast_precision_loss,
    reason = "processors are tested in their own way; small numbers"
)]
pub fn drift_in_layers(size: &[usize], order: usize, backend: &str, variant: &str) -> f64 {
    let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
    let step = 0.999 * 2.0 / (size.len() as f64 * symbol).sqrt();
    let text = format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 1.0\nedges = \"absorb\"\nabsorb_width = 3\n[acoustic]\nspeed = 1.0\ndensity = 1.2\n[time]\nstep = {step}\n\
         [solver]\nmethod = \"fdtd\"\nbackend = \"{backend}\"\nprecision = \"single\"\nvariant = \"{variant}\"\norder = {order}\n[[pulse]]\ncenter = {:?}\nwidth = 1.0\n",
        vec![3.0; size.len()]
    );
    let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let mut run = build(&scenario);
    let clock = Clock::at_start(step);
    run.set_field(&random(scenario.grid().sites()), clock).expect("a field");
    let mut after = |steps: u64| {
        run.advance(steps, &mut Taps::default()).expect("steps");
        run.field().expect("a field")
    };
    let (settled, later) = (after(20_000), after(200_000));
    let drifts = (0..settled.len()).map(|n| (later.at(n).re - settled.at(n).re).abs());
    drifts.fold(0.0, f64::max)
}

/// The largest pressures in a guide that is closed by layers of 20 sites, beside a post, after two numbers of steps from noise in single precision, at a thousandth below the largest step.
#[allow(
    dead_code,
    clippy::cast_precision_loss,
    reason = "processors are tested in their own way; small numbers"
)]
pub fn peaks_beside_a_post(size: &[usize], order: usize, place: (&str, &str), looks: [u64; 2]) -> [f64; 2] {
    let (backend, variant) = place;
    let symbol = [4.0, 16.0 / 3.0, 272.0 / 45.0, 2048.0 / 315.0][order / 2 - 1];
    let step = 0.999 * 0.025 * 2.0 / (size.len() as f64 * symbol).sqrt();
    let text = format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = 0.025\nedges = [\"absorb\", \"wall\"]\nabsorb_width = 20\n[acoustic]\nspeed = 1.0\ndensity = 1.2\n\
         [time]\nstep = {step}\n[solver]\nmethod = \"fdtd\"\nbackend = \"{backend}\"\nprecision = \"single\"\nvariant = \"{variant}\"\norder = {order}\n\
         [[pulse]]\ncenter = [0.1, 0.1]\nwidth = 0.025\n[[layer]]\nsets = \"wall\"\nshape = \"everywhere\"\n\
         value = \"(abs(x - 0.525) < 0.02)*(abs(y - 0.05) < 0.03)\"\n"
    );
    let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{faults}\n{text}"));
    let mut run = build(&scenario);
    assert_eq!(run.report().variant, variant);
    let clock = Clock::at_start(step);
    run.set_field(&random(scenario.grid().sites()), clock).expect("a field");
    let mut done = 0;
    looks.map(|steps| {
        run.advance(steps - done, &mut Taps::default()).expect("steps");
        done = steps;
        run.observables().expect("sums").peak
    })
}
