//! Every variant on grids so small that an interpreter can step them: for Miri (`tests/miri`), and for blocks of very few sites.

use super::{Case, STEP, Trial, cases_among, distance, plainest, rounding};
use crate::engine::{Engine, bench};
use crate::field::Precision;
use crate::physics::Equation;
use crate::solver::{self, Backend};
use num_complex::Complex64;
use std::sync::Arc;

const STEPS: u32 = if cfg!(miri) { 1 } else { 5 };

/// What is tested: under an interpreter, which takes long for each, planes (whose loops are those of space but for the
/// outermost), the trial with most loops of its own, and each method's lowest order, whose substeps are those of the
/// others.
fn chosen(case: &Case, rank: usize, trial: Trial) -> bool {
    if cfg!(miri) {
        if rank != 2 && case.method.ranks.contains(&2) {
            return false;
        }
        let most = match case.method.equation {
            Equation::Acoustic => Trial::Guide,
            Equation::Schrodinger => Trial::Absorb,
        };
        return trial == most && bench::orders(case.method).into_iter().min() == Some(case.order);
    }
    [Trial::Wall, Trial::Periodic, Trial::Absorb, Trial::Inside, Trial::Guide].contains(&trial)
}

/// The text of a trial on a grid that is no multiple of a vector or block, with detectors of every kind that has a loop of its own.
fn scene(case: &Case, rank: usize, trial: Trial) -> String {
    const SIZES: [&str; 3] = if cfg!(miri) {
        ["[17]", "[7, 6]", "[6, 4, 5]"]
    } else {
        ["[37]", "[13, 11]", "[9, 7, 8]"]
    };
    // Periodic axes take pairs of sites.
    const EVEN: [&str; 3] = ["[38]", "[14, 10]", "[10, 6, 8]"];
    const CENTERS: [&str; 3] = if cfg!(miri) {
        ["[8.0]", "[3.0, 3.0]", "[3.0, 2.0, 2.0]"]
    } else {
        ["[18.0]", "[6.0, 5.0]", "[4.0, 3.0, 4.0]"]
    };
    let line = |line: &str| match line.split_once(" = ") {
        Some(("size", _)) if trial == Trial::Periodic => format!("size = {}", EVEN[rank - 1]),
        Some(("size", _)) => format!("size = {}", SIZES[rank - 1]),
        Some(("center", _)) => format!("center = {}", CENTERS[rank - 1]),
        Some(("absorb_width", _)) => "absorb_width = 2".to_owned(),
        Some(("min", _)) => format!(
            "min = {}",
            [
                "[5.0]",
                if cfg!(miri) { "[3.0, 2.0]" } else { "[5.0, 4.0]" },
                "[2.0, 2.0, 2.0]"
            ][rank - 1]
        ),
        Some(("max", _)) => format!("max = {}", ["[8.0]", "[8.0, 6.0]", "[3.0, 4.0, 5.0]"][rank - 1]),
        _ => line.to_owned(),
    };
    let text: Vec<String> = trial.scene(case, rank, STEP).lines().map(line).collect();
    let center = CENTERS[rank - 1];
    // A sum over the grid, and a place or region of its own.
    let (sum, place) = match case.method.equation {
        Equation::Acoustic => ("energy", format!("measure = \"value\"\nat = {center}")),
        Equation::Schrodinger => {
            let origin = ["[0.0]", "[0.0, 0.0]", "[0.0, 0.0, 0.0]"][rank - 1];
            (
                "probability",
                format!("measure = \"probability\"\nregion = {{ min = {origin}, max = {center} }}"),
            )
        }
    };
    format!(
        "{}\n[[detector]]\nname = \"all\"\nmeasure = \"{sum}\"\n[[detector]]\nname = \"there\"\n{place}\n",
        text.join("\n")
    )
}

#[test]
fn tiny_grids_agree_with_the_plainest_variant() {
    let mut ran = 0;
    let single = |case: &Case, rank, trial| {
        (case.precision == Precision::Single && chosen(case, rank, trial)).then(|| scene(case, rank, trial))
    };
    for (case, rank, trial) in cases_among(|backend| backend == Backend::Cpu, single) {
        let run = |case: &Case| -> (Vec<Complex64>, f64) {
            let text = scene(case, rank, trial);
            let (_, scenario) =
                solver::read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{text}\n{faults}"));
            let rounding = rounding(case, &scenario, f64::from(STEPS));
            let mut engine = Engine::new(Arc::new(scenario)).unwrap();
            engine.advance(u64::from(STEPS)).unwrap();
            (engine.field().unwrap().to_complex128(), rounding)
        };
        let (exact, _) = run(&plainest(&case));
        let (found, tolerance) = run(&case);
        let error = distance(&found, &exact);
        assert!(
            error <= tolerance,
            "{}: {error} > {tolerance}",
            scene(&case, rank, trial)
        );
        if cfg!(miri) {
            // An interpreter takes minutes in all: progress is printed.
            println!("{} {} in {rank}D: {error:.1e}", case.method.id, case.variant);
        }
        ran += 1;
    }
    assert!(ran > if cfg!(miri) { 8 } else { 100 }, "{ran}");
}
