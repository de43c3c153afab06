//! Coupled oscillators on an adapter.

use super::adapter::needs_adapter;
use super::echo::echo;
use super::pairs::{KINDS, cases, check_transducers, scene, sounds, tolerance};
use super::rooms::{Case, DETECTORS, SOURCES, check_checkpoints, check_pictures, differences, random, start};
use ripplon::field::{FieldData, Precision};
use ripplon::scene::Scenario;

const SINGLE: Precision = Precision::Single;

fn on_adapter(case: &Case, order: u32, variant: &str, sounds: &str) -> Scenario {
    scene(case, order, ["wgpu", "single", variant], "", sounds)
}

/// Sources, and detectors of single sites.
fn near() -> String {
    format!("{SOURCES}{DETECTORS}")
}

/// Every rank, edge and medium at order 2, one of each at order 4, with sources and detectors of single sites; with detectors of energy and flux, while which the
/// processor steps, in some.
#[test]
fn sweeps_agree_with_the_processor() {
    needs_adapter!();
    let mut wrong = Vec::new();
    for case in cases() {
        for order in [2, 4] {
            if order == 4 && !KINDS.contains(&case.name) {
                continue;
            }
            let sounds = if order == 4 && case.name == "obstacles" {
                sounds()
            } else {
                near()
            };
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
