//! The depth of ghost rows: as many as a plan says are enough, and one unit fewer is not.

use crate::field::FieldData;
use crate::solver::cut::TRIAL;
use crate::solver::setup::plan;
use crate::solver::{Solver, Taps, find, read_scene_text};

const PSI: &str = "[quantum]\nhopping = 1.0\n[time]\nstep = 0.5\n[[packet]]\ncenter = [9.0, 30.0]\nwidth = 4.0\nmomentum = [0.5, 0.5]\n";
const SOUND: &str =
    "[acoustic]\nspeed = 1.0\ndensity = 1.0\n[time]\nstep = 0.3\n[[pulse]]\ncenter = [9.0, 30.0]\nwidth = 3.0\n";

fn text(scene: &str, solver: &str, parts: usize) -> String {
    // What an implicit step brings over a cut goes through some forty rows.
    let rows = if solver.contains("crank") { 160 } else { 80 };
    format!(
        "format = 1\n[grid]\nsize = [24, {rows}]\nspacing = 1.0\n{scene}[solver]\nbackend = \"cpu\"\nprecision = \"double\"\nparts = {parts}\n{solver}\n"
    )
}

/// A run whose ghost rows are `fewer` than the steps between two exchanges need.
fn run(scene: &str, solver: &str, fewer: usize, parts: usize) -> Box<dyn Solver> {
    let text = text(scene, solver, parts);
    let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
    // What order 4 brings through twenty rows in two steps is below rounding.
    let steps = if solver.contains("order = 4") { 1 } else { 2 };
    TRIAL.set(Some((steps, fewer)));
    let id = solver.split('"').nth(1).unwrap();
    let built = (find(id).unwrap().build)(&scenario);
    TRIAL.set(None);
    built.unwrap()
}

/// Numbers without a pattern, the same in every call.
fn shake(arrays: &mut [(String, FieldData)]) {
    for (_, array) in arrays {
        let number = |n: usize| {
            let n = u32::try_from(n).unwrap().wrapping_mul(2654435761);
            f64::from(n ^ (n >> 13)) / f64::from(u32::MAX) - 0.5
        };
        match array {
            FieldData::Complex128(all) => (all.iter_mut().enumerate()).for_each(|(n, z)| {
                (z.re, z.im) = (number(2 * n), number(2 * n + 1));
            }),
            FieldData::Float64(all) => all.iter_mut().enumerate().for_each(|(n, x)| *x = number(n)),
            _ => {}
        }
    }
}

#[test]
fn one_row_fewer_is_too_few() {
    let cases: [(&str, &str, usize); 6] = [
        (PSI, "method = \"trotter\"\nvariant = \"naive\"", 2),
        (PSI, "method = \"trotter\"\nvariant = \"blocked\"\nfused_steps = 2", 2),
        (PSI, "method = \"trotter\"\nvariant = \"vector\"\norder = 4", 2),
        (SOUND, "method = \"fdtd\"\nvariant = \"stepwise\"", 1),
        (SOUND, "method = \"fdtd\"\nvariant = \"stepwise\"\norder = 8", 1),
        (SOUND, "method = \"oscillators\"\nvariant = \"naive\"", 2),
    ];
    for (scene, solver, unit) in cases {
        let end = |fewer: usize, parts: usize| {
            let mut run = run(scene, solver, fewer, parts);
            let mut state = run.save().unwrap();
            shake(&mut state.arrays);
            run.load(&state).unwrap();
            run.advance(6, &mut Taps::default()).unwrap();
            run.save().unwrap().arrays
        };
        let whole = end(0, 1);
        assert!(whole == end(0, 2), "{solver}: the ghosts of the plan are too few");
        assert!(whole != end(unit, 2), "{solver}: {unit} fewer would do");
    }
}

/// The influence of an implicit step over a cut decays: with few ghost rows it is visible.
#[test]
fn an_implicit_step_reaches_further() {
    let solver = "method = \"crank-nicolson\"";
    let end = |fewer: Option<usize>, parts: usize| {
        let mut run = if let Some(fewer) = fewer {
            run(PSI, solver, fewer, parts)
        } else {
            let text = text(PSI, solver, parts);
            let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
            (find("crank-nicolson").unwrap().build)(&scenario).unwrap()
        };
        let mut state = run.save().unwrap();
        shake(&mut state.arrays);
        run.load(&state).unwrap();
        run.advance(6, &mut Taps::default()).unwrap();
        run.field().unwrap()
    };
    let far = |a: &FieldData, b: &FieldData| {
        let apart = (0..a.len()).map(|n| (a.at(n) - b.at(n)).norm());
        apart.fold(0.0, f64::max)
    };
    let whole = end(None, 1);
    assert!(far(&whole, &end(None, 2)) < 1e-13);
    assert!(far(&whole, &end(Some(0), 2)) > 1e-4);
}

#[test]
fn every_row_belongs_to_one_part() {
    for (rows, parts) in [(80, 3), (81, 4), (130, 2)] {
        let text = format!("format = 1\n[grid]\nsize = [24, {rows}]\nspacing = 1.0\n{PSI}[solver]\nparts = {parts}\n");
        let (_, scenario) = read_scene_text(&text, None, &[]).unwrap();
        let plan = plan(find("trotter").unwrap(), &scenario).unwrap().unwrap();
        let mut next = 0;
        for part in &plan.parts {
            assert!(
                part.start == next && part.start % 2 == 0 && part.len() >= plan.ghosts,
                "{plan:?}"
            );
            next = part.end;
        }
        assert_eq!(next, rows);
        let shared: Vec<_> = (0..2).flat_map(|rank| plan.of_rank(rank, 2)).collect();
        assert_eq!(shared, (0..parts).collect::<Vec<_>>());
    }
}
