//! Crank–Nicolson in parts: what a step brings over a cut from beyond the ghost rows is below rounding, so that fields, records and pictures are those of one part up to the rounding of
//! another elimination.

use super::build;
use super::lines::{ABSORBS, DRIVEN, POTENTIAL};
use ripplon::field::FieldData;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{Edit, FieldImage, ImageRequest, Solver, Taps};

/// Name, edges, lines of `[quantum]`, layers, lines of `[time]`.
type Case = (&'static str, &'static str, &'static str, &'static str, &'static str);

const OBSTACLES: &str = "[[layer]]\nsets = \"potential\"\nvalue = \"0.6*sin(37.1*x)\"\n[[layer]]\nsets = \"wall\"\nvalue = \"mod(x, 17) < 1\"\n";
/// A line of this is stepped relative to its median, which is that of the whole in every part.
const RAISED: &str = "[[layer]]\nsets = \"potential\"\nvalue = \"5 + 0.6*sin(37.1*x) + 0.001*x\"\n[[layer]]\nsets = \"potential\"\nvalue = 3.0\nmode = \"add\"\ndrive = \"1 + sin(2*t)\"\n";
const CASES: &[Case] = &[
    ("walls", "wall", "", POTENTIAL, ""),
    ("ring", "periodic", "", POTENTIAL, ""),
    ("obstacles", "wall", "", OBSTACLES, ""),
    ("absorption", "absorb", "", ABSORBS, ""),
    ("interaction", "periodic", "interaction = 3.0\n", POTENTIAL, ""),
    ("driven", "wall", "", DRIVEN, ""),
    ("driven ring", "periodic", "", DRIVEN, ""),
    ("raised", "wall", "", RAISED, ""),
    ("imaginary", "wall", "", POTENTIAL, "imaginary = true\n"),
    (
        "imaginary, interacting",
        "periodic",
        "interaction = 2.0\n",
        POTENTIAL,
        "imaginary = true\n",
    ),
];

const ON_LINE: &str = "[[detector]]\nname = \"point\"\nat = [1530.0]\n[[detector]]\nname = \"box\"\nmeasure = \"probability\"\n\
    region = { min = [150.0], max = [2790.0] }\nevery = 3\n[[detector]]\nname = \"current\"\nmeasure = \"flux\"\nfrom = [1020.0]\nto = [1020.0]\n\
    [[detector]]\nname = \"seam\"\nmeasure = \"flux\"\nat = [2999.0]\n\
    [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n[[detector]]\nname = \"peak\"\nmeasure = \"peak\"\n";
const IN_PLANE: &str = "[[detector]]\nname = \"point\"\nat = [9.0, 131.0]\n[[detector]]\nname = \"box\"\nmeasure = \"probability\"\n\
    region = { min = [2.0, 30.0], max = [18.0, 220.0] }\nevery = 3\n[[detector]]\nname = \"across\"\nmeasure = \"flux\"\nfrom = [2.0, 130.0]\nto = [20.0, 130.0]\n\
    [[detector]]\nname = \"along\"\nmeasure = \"flux\"\nfrom = [7.0, 10.0]\nto = [7.0, 240.0]\n\
    [[detector]]\nname = \"seam\"\nmeasure = \"flux\"\nfrom = [2.0, 259.0]\nto = [20.0, 259.0]\n\
    [[detector]]\nname = \"all\"\nmeasure = \"probability\"\n[[detector]]\nname = \"peak\"\nmeasure = \"peak\"\n";

/// A line of 3000 sites, or a plane of 24 × 260.
fn text(case: &Case, line: bool, solver: &str, parts: usize) -> String {
    let (name, edges, quantum, layers, time) = case;
    let (grid, packet, detectors) = if line {
        (
            "size = [3001]\nspacing = 1.0",
            "center = [1200.0]\nwidth = 300.0",
            ON_LINE,
        )
    } else {
        (
            "size = [24, 260]\nspacing = 1.0",
            "center = [10.0, 120.0]\nwidth = 30.0",
            IN_PLANE,
        )
    };
    let grid = if *edges == "periodic" {
        grid.replace("3001", "3000")
    } else {
        grid.to_owned()
    };
    format!(
        "format = 1\ntitle = \"{name}\"\n[grid]\n{grid}\nedges = \"{edges}\"\nabsorb_width = 8\n[quantum]\nhopping = 1.0\n{quantum}[time]\nstep = 0.1\n{time}\
         {layers}[[packet]]\n{packet}\n{detectors}[solver]\nmethod = \"crank-nicolson\"\nbackend = \"cpu\"\n{solver}\nparts = {parts}\n"
    )
}

/// Numbers without a pattern at every site.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "any numbers will do"
)]
fn shaken(field: &FieldData) -> FieldData {
    let number = |n: usize| {
        let n = u32::try_from(n).unwrap().wrapping_mul(2654435761);
        f64::from(n ^ (n >> 13)) / f64::from(u32::MAX) - 0.5
    };
    let of =
        |n: usize, sites: usize| num_complex::Complex64::new(number(2 * n), number(2 * n + 1)) / (sites as f64).sqrt();
    match field {
        FieldData::Complex64(all) => {
            let narrow = |n| num_complex::Complex32::new(of(n, all.len()).re as f32, of(n, all.len()).im as f32);
            FieldData::Complex64((0..all.len()).map(narrow).collect())
        }
        other => FieldData::Complex128((0..other.len()).map(|n| of(n, other.len())).collect()),
    }
}

/// What is seen of a run: numbers by name, and the size in comparison with which they are right.
type Seen = Vec<(String, Vec<f64>, f64)>;

fn look(run: &mut dyn Solver, line: bool, seen: &mut Seen) {
    let at = run.clock().steps;
    let field = run.field().unwrap();
    let numbers: Vec<f64> = (0..field.len())
        .flat_map(|n| [field.at(n).re, field.at(n).im])
        .collect();
    let size = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
    seen.push((format!("the field at {at}"), numbers, size));
    let sums = run.observables().unwrap();
    seen.push((format!("the norm at {at}"), vec![sums.norm], sums.norm));
    seen.push((format!("the energy at {at}"), vec![sums.energy], 4.0));
    seen.push((format!("the peak at {at}"), vec![sums.peak], sums.peak));
    let places = [&sums.position[..2], &sums.spread[..2]].concat();
    seen.push((format!("places at {at}"), places, if line { 3000.0 } else { 260.0 }));
    for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real] {
        let (nx, ny) = if line { (3000, 1) } else { (24, 260) };
        let request = ImageRequest::new(quantity, [1..nx, usize::from(!line) * 3..ny], 0, [70, 30]);
        let mut image = FieldImage::default();
        run.image(&request, &mut image).unwrap();
        let texels: Vec<f64> = image.value.iter().map(|texel| f64::from(*texel)).collect();
        let most = texels.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert_eq!(texels.len(), image.size[0] * image.size[1]);
        seen.push((format!("{} at {at}", quantity.as_str()), texels, most));
    }
}

/// Steps a scene from random numbers in calls of uneven length, with two other Δt and back, and looks.
fn follow(text: &str, line: bool) -> Seen {
    let (mut run, mut taps, scenario) = build(text);
    let mut seen = Vec::new();
    look(run.as_mut(), line, &mut seen);
    let (field, clock) = (run.field().unwrap(), run.clock());
    run.set_field(&shaken(&field), clock).unwrap();
    run.observe(&mut taps).unwrap();
    for steps in [1, 7, 90] {
        run.advance(steps, &mut taps).unwrap();
    }
    look(run.as_mut(), line, &mut seen);
    let step = run.clock().time_step;
    for (factor, steps) in [(0.9, 5), (1.2, 40)] {
        run.edit(&scenario, &Edit::TimeStep(factor * step)).unwrap();
        run.advance(steps, &mut Taps::default()).unwrap();
    }
    if !scenario.time().imaginary {
        run.edit(&scenario, &Edit::Conjugate).unwrap();
        run.advance(9, &mut taps).unwrap();
    }
    run.edit(&scenario, &Edit::Medium).unwrap();
    run.advance(3, &mut taps).unwrap();
    look(run.as_mut(), line, &mut seen);
    for n in 0..taps.taps().len() {
        let values = taps.values(n).to_vec();
        let present = values.iter().copied().filter(|value| !Taps::is_absent(*value));
        let kept: Vec<f64> = present.collect();
        let most = kept.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        seen.push((
            format!("detector {n} ({} of {} kept)", kept.len(), values.len()),
            kept,
            most,
        ));
    }
    seen
}

/// A solve rounds some twenty times a row and conditions the system by no more than 3; 155 steps of 20 ε/2 at random, eight times over, as for devices.
fn tolerance(solver: &str) -> f64 {
    let epsilon = if solver.contains("double") {
        f64::EPSILON
    } else {
        f64::from(f32::EPSILON)
    };
    8.0 * 20.0 * epsilon / 2.0 * 155f64.sqrt()
}

fn check(case: &Case, line: bool, solver: &str) {
    let one = follow(&text(case, line, solver, 1), line);
    for parts in [2, 3] {
        let cut = follow(&text(case, line, solver, parts), line);
        assert_eq!(one.len(), cut.len(), "{}", case.0);
        for ((name, whole, size), (other, cut, _)) in one.iter().zip(&cut) {
            assert_eq!(
                (name, whole.len()),
                (other, cut.len()),
                "{} in {parts} parts, {solver}",
                case.0
            );
            // The phase of a texel whose ψ is nearly nothing is anything.
            let most = whole.iter().zip(cut).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(
                most <= tolerance(solver) * size,
                "{} in {parts} parts, {solver}: {name} is off by {most:e} of {size:e}",
                case.0
            );
        }
    }
}

#[test]
fn lines() {
    for case in CASES {
        for solver in [
            "variant = \"thomas\"\nprecision = \"double\"",
            "variant = \"n-partition\"\nprecision = \"single\"",
            "variant = \"n-partition\"\nprecision = \"double\"\nblocks = 50\nlevels = 2",
        ] {
            check(case, true, solver);
        }
    }
}

#[test]
fn planes() {
    for case in CASES {
        for precision in ["single", "double"] {
            check(case, false, &format!("precision = \"{precision}\""));
        }
    }
}

/// A step that reaches over the ghost rows is refused, and nothing is lost.
#[test]
fn too_long_a_step_is_refused() {
    let of = |parts| {
        text(
            &CASES[0],
            true,
            "variant = \"n-partition\"\nprecision = \"double\"",
            parts,
        )
    };
    let (mut run, mut taps, scenario) = build(&of(3));
    run.advance(70, &mut taps).unwrap();
    let before = run.save().unwrap();
    let refused = run.edit(&scenario, &Edit::TimeStep(50.0)).unwrap_err().to_string();
    assert!(refused.contains("50") && refused.contains("ghost rows"), "{refused}");
    assert_eq!(run.save().unwrap(), before);
    // And from the start, with what to do.
    let text = of(3).replace("step = 0.1", "step = 50.0");
    let faults = ripplon::solver::read_scene_text(&text, None, &[])
        .unwrap_err()
        .to_string();
    assert!(
        faults.contains("sites along x in 3 parts") && faults.contains("one part"),
        "{faults}"
    );
}

/// A checkpoint of three parts goes on in three to the bit, and in another number of them.
#[test]
fn states_go_on() {
    let of = |parts| {
        text(
            &CASES[5],
            true,
            "variant = \"n-partition\"\nprecision = \"double\"",
            parts,
        )
    };
    let (mut three, mut taps, _) = build(&of(3));
    three.advance(64, &mut taps).unwrap();
    let state = three.save().unwrap();
    three.advance(64, &mut taps).unwrap();
    let end = three.save().unwrap();
    for parts in [1, 2, 3] {
        let (mut other, mut taps, _) = build(&of(parts));
        other.load(&state).unwrap();
        other.advance(64, &mut taps).unwrap();
        let own = other.save().unwrap();
        if parts == 3 {
            assert_eq!(own, end);
        }
        let (own, end) = (&own.arrays[0].1, &end.arrays[0].1);
        let far = (0..own.len()).map(|n| (own.at(n) - end.at(n)).norm_sqr()).sum::<f64>();
        let size = (0..end.len()).map(|n| end.at(n).norm_sqr()).sum::<f64>();
        assert!(
            far <= tolerance("double").powi(2) * size,
            "{parts} parts: {far:e} of {size:e}"
        );
    }
}
