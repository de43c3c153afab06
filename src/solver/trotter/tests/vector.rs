//! `vector` against `naive`, which shares its coefficients and nothing of its layout, at every level of SIMD.

use super::*;
use crate::backend::threads;

/// Widths around multiples of every vector's length, also such that a colour ends in the middle of one; heights and depths odd and even.
const WIDTHS: &[&[usize]] = &[
    &[1],
    &[2],
    &[9],
    &[31],
    &[32],
    &[33],
    &[34],
    &[65],
    &[131],
    &[1, 2],
    &[2, 3],
    &[7, 1],
    &[16, 5],
    &[33, 4],
    &[62, 7],
    &[1, 1, 2],
    &[2, 2, 2],
    &[5, 4, 3],
    &[35, 3, 4],
];

/// Rounding of two runs that differ in the order of multiply-adds alone.
fn agree<T: Blockwise>(case: &Case, steps: u32) {
    let problem = case.problem();
    assert_eq!(problem.objections(), Vec::new(), "{case:?}");
    let run = |stepper: Box<dyn Sweeper<T>>| {
        let mut run = Trial::new(problem.clone(), &case.initial(), stepper);
        run.advance(u64::from(steps), &mut Taps::default()).unwrap();
        run
    };
    let mut naive = run(Box::new(Naive::new(&problem.grid)));
    let expected = naive.field().unwrap().to_complex128();
    for level in Level::available() {
        let mut vector = run(Box::new(Vector::new(&problem.grid, level)));
        let found = vector.field().unwrap().to_complex128();
        let error = if norm(&expected) > 0.0 {
            distance(&found, &expected)
        } else {
            norm(&found)
        };
        assert!(
            error <= tolerance::<T>(case, steps),
            "{error:e}: {}",
            label(&vector, case)
        );
        let (one, other) = (vector.observables().unwrap(), naive.observables().unwrap());
        assert!((one.norm - other.norm).abs() <= 2.0 * tolerance::<T>(case, steps) * other.norm);
    }
}

fn agree_in_both(case: &Case) {
    agree::<f32>(case, 5);
    agree::<f64>(case, 5);
}

#[test]
fn agrees_with_naive_on_every_feature() {
    for size in WIDTHS {
        for order in [1, 2, 4] {
            let plain = Case::new(size, order);
            let flux = if size.len() > 1 { 0.07 } else { 0.0 };
            let mut cases = vec![
                plain.clone(),
                Case {
                    walls: true,
                    flux,
                    interaction: 0.3,
                    drive: true,
                    ..plain.clone()
                },
                Case {
                    flux,
                    dt: -0.11,
                    ..plain.clone()
                },
            ];
            if order < 4 {
                cases.push(Case {
                    edges: [Edge::Absorb; 3],
                    absorb: true,
                    walls: true,
                    ..plain.clone()
                });
                cases.push(Case {
                    imaginary: true,
                    walls: true,
                    flux,
                    interaction: 0.2,
                    ..plain.clone()
                });
                cases.push(Case {
                    imaginary: true,
                    ..plain
                });
            }
            for case in cases {
                agree_in_both(&case);
            }
        }
    }
}

#[test]
fn agrees_with_naive_on_rings_and_tori() {
    for size in [
        &[2][..],
        &[30],
        &[32],
        &[34],
        &[2, 2],
        &[32, 4],
        &[66, 10],
        &[2, 2, 2],
        &[34, 4, 6],
    ] {
        for order in [1, 2, 4] {
            for walls in [false, true] {
                for axis in 0..=3 {
                    let mut edges = [Edge::Periodic; 3];
                    if axis < 3 {
                        edges = [Edge::Wall; 3];
                        edges[axis] = Edge::Periodic;
                    }
                    let case = Case {
                        edges,
                        walls,
                        ..Case::new(size, order)
                    };
                    agree_in_both(&case);
                    // Whole quanta through the torus.
                    #[expect(clippy::cast_precision_loss, reason = "a small count")]
                    let flux = 1.0 / size.get(1).map_or(1.0, |ny| *ny as f64);
                    if size.len() > 1 {
                        agree_in_both(&Case { flux, ..case });
                    }
                }
            }
        }
    }
}

/// Rows that are cut into segments, and bands of many rows.
#[test]
fn agrees_with_naive_on_long_rows_and_many_of_them() {
    for size in [&[40_001][..], &[20_002, 3], &[70, 600], &[18, 30, 61]] {
        for order in [1, 2] {
            for walls in [false, true] {
                agree_in_both(&Case {
                    walls,
                    ..Case::new(size, order)
                });
            }
        }
    }
    agree_in_both(&Case {
        edges: [Edge::Periodic; 3],
        ..Case::new(&[40_000], 2)
    });
}

/// Walls, flux and interaction, and bonds that differ.
fn with_walls_and_with_bonds(plain: &Case) -> [Case; 2] {
    [
        Case {
            walls: true,
            flux: 0.07,
            interaction: 0.3,
            ..plain.clone()
        },
        Case {
            bonds: true,
            ..plain.clone()
        },
    ]
}

/// So many planes and rows that no thread has to share one: sweeps go through a plane or a pair of rows together, in the order of the scheme.
#[test]
fn agrees_with_naive_where_sweeps_go_together() {
    let many = 8 * threads::count();
    for size in [
        &[9, 6, many][..],
        &[33, 12, many],
        &[12, 33, many],
        &[7, many + 1],
        &[34, many, 2],
    ] {
        for order in [2, 4] {
            let plain = Case::new(size, order);
            let [wall, ring] = [Edge::Wall, Edge::Periodic];
            let rings = Case {
                edges: [wall, if size[1] % 2 == 0 { ring } else { wall }, ring],
                ..plain.clone()
            };
            for case in with_walls_and_with_bonds(&plain).into_iter().chain([rings, plain]) {
                agree_in_both(&case);
            }
        }
        agree_in_both(&Case {
            imaginary: true,
            walls: true,
            interaction: 0.2,
            ..Case::new(size, 2)
        });
    }
}

/// So many rows or planes that several passes go through bands of them together, over their ends and edges: the bits and the records are those of single steps.
#[test]
fn passes_over_bands_change_nothing() {
    let many = 32 * threads::count();
    for size in [&[21, many + 1][..], &[16, many], &[4, 5, many + 1], &[4, 6, many]] {
        for order in [1, 2, 4] {
            let plain = Case::new(size, order);
            let mut cases = Vec::from(with_walls_and_with_bonds(&plain));
            if size.iter().all(|sites| sites % 2 == 0) {
                cases.push(Case {
                    edges: [Edge::Periodic; 3],
                    ..plain
                });
            }
            for case in cases {
                check_both(&case);
                if order == 2 {
                    detectors::check_records_of_both(&case);
                }
            }
        }
    }
}

/// A flux turns the bonds along x by rounded phases; shears keep that from feeding or draining any row.
#[test]
fn single_precision_does_not_drift_with_a_flux() {
    let case = Case {
        flux: 0.07,
        dt: 0.1,
        ..Case::new(&[40, 30], 2)
    };
    let problem = case.problem();
    let stepper = Box::new(Vector::<f32>::new(&problem.grid, Level::best()));
    let mut run = Trial::new(problem, &case.initial(), stepper);
    let before = run.observables().unwrap().norm;
    run.advance(10_000, &mut Taps::default()).unwrap();
    let drift = run.observables().unwrap().norm / before - 1.0;
    // As without flux.
    assert!(drift.abs() < 1e-5, "{drift:e}");
}

/// A state is in natural order, whoever saved it.
#[test]
fn states_pass_from_variant_to_variant() {
    for size in [&[37][..], &[38, 21], &[9, 6, 5]] {
        let case = Case {
            walls: true,
            interaction: 0.2,
            ..Case::new(size, 2)
        };
        for from in 0..runs::<f32>(&case).len() {
            let mut saved = runs::<f32>(&case).swap_remove(from);
            saved.advance(9, &mut Taps::default()).unwrap();
            let state = saved.save().unwrap();
            for mut other in runs::<f32>(&case) {
                other.load(&state).unwrap();
                let name = format!("{} to {}", saved.report().variant, other.report().variant);
                assert_eq!(other.field().unwrap(), saved.field().unwrap(), "{name}");
                assert_eq!(other.clock(), saved.clock(), "{name}");
            }
        }
    }
}
