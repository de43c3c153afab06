//! Coupled oscillators on an adapter.

use super::adapter::needs_adapter;
use super::device::build;
use super::echo::echo;
use super::pairs::{KINDS, cases, check_transducers, scene, sounds, tolerance};
use super::rooms::{
    Case, DETECTORS, SOURCES, WALLS, check_checkpoints, check_pictures, differences, random, seams, start,
};
use ripplon::field::{FieldData, Precision};
use ripplon::scene::Scenario;
use ripplon::scene::scenario::Quantity;
use ripplon::solver::{FieldImage, ImageRequest, Taps};

const SINGLE: Precision = Precision::Single;

fn on_adapter(case: &Case, order: u32, variant: &str, sounds: &str) -> Scenario {
    scene(case, order, ["wgpu", "single", variant], "", sounds)
}

/// Sources, and detectors of single sites.
fn near() -> String {
    format!("{SOURCES}{DETECTORS}")
}

/// Every rank, edge and medium at order 2, one of each at order 4, with sources, and detectors of single sites, energy and flux.
#[test]
fn sweeps_agree_with_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in cases() {
        for order in [2, 4] {
            if order == 4 && !KINDS.contains(&case.name) {
                continue;
            }
            let sounds = sounds();
            let expected = scene(&case, order, ["cpu", "double", "naive"], "", &sounds);
            let found = on_adapter(&case, order, "naive", &sounds);
            let name = format!("{}, order {order}", case.name);
            wrong.extend(differences(&name, &expected, &found, tolerance(SINGLE)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Tiles do what single sweeps do, several sub-steps a launch and, with sources and detectors, step by step.
#[test]
fn tiles_agree_with_single_sweeps() {
    needs_adapter!();
    let whole = [
        "odd plate",
        "low plate",
        "narrow plate",
        "torus that ends in a lane",
        "small torus",
        "upright tube",
        "torus with densities",
        "densities in fours",
        "damped torus",
        "absorbing plate",
        "muffled",
    ];
    for name in whole {
        check_tiles(name, 2, "", "");
    }
    check_tiles("obstacles", 2, "", &near());
    check_tiles("plate", 2, "fused_steps = 6", "");
    check_tiles("densities", 4, "", "");
    check_tiles("damped", 4, "fused_steps = 1", &near());
}

/// Tiles of one case beside single sweeps: each may be off by the tolerance.
pub fn check_tiles(name: &str, order: u32, more: &str, sounds: &str) {
    let all = cases();
    let case = all.iter().find(|case| case.name == name).expect("a case");
    let single = on_adapter(case, order, "naive", sounds);
    let tiled = scene(case, order, ["wgpu", "single", "fused"], more, sounds);
    assert_eq!(super::device::build(&tiled).report().variant, "fused", "{name}");
    let wrong = differences(name, &single, &tiled, 2.0 * tolerance(SINGLE));
    assert!(wrong.is_empty(), "order {order}, {more}\n{}", wrong.join("\n"));
}

/// 290 steps, more than a batch holds: ten times those of [`tolerance`], and as much more where rounded coefficients turn all steps the same way.
#[test]
fn transducers_act_as_on_the_processor() {
    needs_adapter!();
    let kinds = ["odd line", "obstacles", "damped torus"];
    check_transducers(&kinds, &[2], &near(), |case, order| {
        let found = on_adapter(case, order, "auto", &near());
        vec![("tiles, or sweeps of a line".to_owned(), found, 10.0 * tolerance(SINGLE))]
    });
}

/// On both in single precision, of as many steps as in [`tolerance`]: each may be off by that.
#[test]
fn checkpoints_and_edits_go_from_one_place_to_the_other() {
    needs_adapter!();
    for case in cases() {
        let on_host = scene(&case, 2, ["cpu", "single", "naive"], "", SOURCES);
        let there = on_adapter(&case, 2, "auto", SOURCES);
        check_checkpoints(case.name, &on_host, &there, 2.0 * tolerance(SINGLE));
    }
}

#[test]
fn pictures_agree() {
    needs_adapter!();
    let kinds = [
        "odd line",
        "soft plate",
        "torus with densities",
        "absorbing plate",
        "obstacles",
        "muffled",
    ];
    for case in cases().iter().filter(|case| kinds.contains(&case.name)) {
        let on_host = scene(case, 2, ["cpu", "single", "naive"], "", "");
        // A hundred steps go by between the first picture and the last.
        check_pictures(case, &on_host, &on_adapter(case, 2, "auto", ""), 3e-4);
    }
}

/// Detectors that are summed on the adapter: those that read more than 65536 sites, and lines at the last sites of both axes, through which sound goes round a ring or not at all.
#[test]
fn detectors_of_many_sites_agree_with_the_processor() {
    needs_adapter!();
    let whole = "[[detector]]\nname = \"NAME\"\nregion = { min = [0.0, 0.0], max = [165.0, 104.0] }\nmeasure = \"NAME\"\nevery = EVERY\n";
    let named = |name: &str, every: &str| whole.replace("NAME", name).replace("EVERY", every);
    let all = named("energy", "1") + &named("pressure", "3") + &named("peak", "2");
    let mut wrong = Vec::new();
    for (size, edges, layers) in [
        (&[332, 211][..], "[\"periodic\", \"soft\"]", ""),
        (&[352, 230], "\"absorb\"\nabsorb_width = 12", WALLS),
    ] {
        let case = Case::new("many sites", size, edges, layers, &[2]);
        let lines = if edges.contains("absorb") {
            String::new()
        } else {
            seams(&case)
        };
        let sounds = format!("{}{all}{lines}", near());
        let expected = scene(&case, 2, ["cpu", "double", "naive"], "", &sounds);
        for variant in ["naive", "fused"] {
            let found = on_adapter(&case, 2, variant, &sounds);
            let name = format!("{edges}, {variant}");
            wrong.extend(differences(&name, &expected, &found, tolerance(SINGLE)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Observables and pictures of energies are made on the adapter from the state that the processor has, to the bit: they differ by the rounding of sums, at most 24 additions of numbers of one
/// sign, which are themselves off by some 6 roundings, 3.6e-6. Detectors of energy and flux see five steps more on either, each as far off as in [`tolerance`].
#[test]
fn sums_are_those_of_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in cases() {
        let on_host = scene(&case, 2, ["cpu", "single", "naive"], "", &sounds());
        let on_device = on_adapter(&case, 2, "auto", &sounds());
        let [mut here, mut there] = [build(&on_host), build(&on_device)];
        let size = on_host.grid().size();
        here.set_field(&random(size.iter().product()), start())
            .expect("a field");
        let request = ImageRequest::new(Quantity::Energy, [0..size[0], 0..size[1]], 0, [500, 500]);
        let [mut a, mut b] = [FieldImage::default(), FieldImage::default()];
        // From the first picture on the velocity is kept.
        here.image(&request, &mut a).expect("a picture");
        here.advance(7, &mut Taps::default()).expect("steps");
        there.load(&here.save().expect("a state")).expect("the state fits");
        here.image(&request, &mut a).expect("a picture");
        there.image(&request, &mut b).expect("a picture");
        let largest = a.value.iter().fold(0.0_f32, |most, value| most.max(*value));
        let far = |(x, y): (&f32, &f32)| (x - y).abs() > 4e-6 * largest || y.is_nan();
        if a.value.iter().zip(&b.value).any(far) {
            wrong.push(format!("{}: the energies", case.name));
        }
        let [a, b] = [&mut here, &mut there].map(|run| run.observables().expect("sums"));
        let lengths = |n: usize| 0.5 * f64::from(u32::try_from(size[n]).unwrap());
        let close = |x: f64, y: f64, scale: f64| (x - y).abs() <= 4e-6 * scale;
        if !close(a.norm, b.norm, a.norm)
            || !close(a.energy, b.energy, a.energy)
            || !close(a.invariant, b.invariant, a.invariant)
            || !close(a.peak, b.peak, a.peak)
            || (0..2).any(|n| !close(a.position[n], b.position[n], lengths(n)))
            || (0..2).any(|n| !close(a.spread[n], b.spread[n], 2.0 * lengths(n)))
        {
            wrong.push(format!("{}: {b:?}, should be {a:?}", case.name));
        }
        let taps = [&mut here, &mut there].map(|run| {
            let mut taps = Taps::new(on_host.grid(), on_host.detectors());
            run.advance(5, &mut taps).expect("steps");
            taps
        });
        for detector in 0..on_host.detectors().len() {
            let [a, b] = taps.each_ref().map(|taps| taps.values(detector));
            let scale = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let far = |(x, y): (&f64, &f64)| (x - y).abs() > 4.0 * tolerance(SINGLE) * scale || y.is_nan();
            if a.iter().zip(b).any(far) {
                wrong.push(format!(
                    "{}: detector {detector} says {b:?}, should say {a:?}",
                    case.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// (q, p) → (q, −p) between as many steps there and back leaves the rounding of four times the steps of [`tolerance`]; rounded coefficients are the same on both ways.
#[test]
fn echoes_come_back() {
    needs_adapter!();
    let kinds = ["odd line", "small torus", "obstacles"];
    for case in cases().iter().filter(|case| kinds.contains(&case.name)) {
        let scenario = on_adapter(case, 4, "auto", "");
        let mut run = super::device::build(&scenario);
        run.set_field(&random(case.size.iter().product()), start())
            .expect("a field");
        let first = run.field().expect("a field").to_complex128();
        let first = FieldData::Float64(first.iter().map(|value| value.re).collect());
        let off = echo(run.as_mut(), &scenario, &first);
        assert!(off < 4.0 * tolerance(SINGLE), "{}: {off:.1e}", case.name);
    }
}
