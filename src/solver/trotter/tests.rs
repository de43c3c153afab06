//! Every variant against the eight-sweep reference in double precision, on random fields and media.

use super::blocked::{Blocked, Blockwise, Plan};
use super::naive::Naive;
use super::problem::Problem;
use super::run::Sweeper;
use super::vector::Vector;
use crate::backend::simd::Level;
use crate::field::{FieldData, Precision};
use crate::grid::{Edge, Grid};
use crate::physics::reference::{Lattice, TrotterSplitting, distance, norm};
use crate::physics::{Initial, Medium};
use crate::solver::Taps;
use case::Case;
use num_complex::Complex64;
use std::sync::Arc;
use trial::Trial;

mod case;
mod detectors;
mod plans;
mod sums;
mod trial;
mod vector;

/// Every variant that a case shall run on, in small and large blocks.
fn steppers<T: Blockwise>(problem: &Problem) -> Vec<Box<dyn Sweeper<T>>> {
    let mut all: Vec<Box<dyn Sweeper<T>>> = vec![
        Box::new(Naive::new(&problem.grid)),
        Box::new(Vector::new(&problem.grid, Level::best())),
    ];
    if super::differs(&problem.medium) {
        return all;
    }
    let substeps = if problem.order == 4 { 5 } else { 1 };
    for (block, fused) in [(&[][..], None), (&[40, 26, 14], Some(3))] {
        let plan = Plan::candidates(&problem.grid, problem.order, size_of::<T>(), block, fused).swap_remove(0);
        all.push(Box::new(Blocked::new(&problem.grid, plan, substeps)));
    }
    all
}

/// Every level of SIMD that this machine has.
fn every_level<T: Blockwise>(case: &Case) {
    let problem = case.problem();
    let mut expected = case.initial_values();
    TrotterSplitting::new(case.lattice(), case.order, false).advance(&mut expected, 0.0, case.dt, 7);
    for level in Level::available() {
        let mut plan = Plan::candidates(&problem.grid, problem.order, size_of::<T>(), &[], Some(2)).swap_remove(0);
        plan.level = level;
        let steppers: [Box<dyn Sweeper<T>>; 2] = [
            Box::new(Blocked::new(&problem.grid, plan, 1)),
            Box::new(Vector::new(&problem.grid, level)),
        ];
        for stepper in steppers {
            let mut run = Trial::new(problem.clone(), &case.initial(), stepper);
            run.advance(7, &mut Taps::default()).unwrap();
            let error = distance(&run.field().unwrap().to_complex128(), &expected);
            assert!(error < tolerance::<T>(case, 7), "{error:e}: {}", label(&run, case));
        }
    }
}

#[test]
fn every_level_of_simd() {
    for size in [&[301][..], &[301, 41], &[70, 13, 9]] {
        for walls in [false, true] {
            let case = Case {
                walls,
                ..Case::new(size, 2)
            };
            every_level::<f32>(&case);
            every_level::<f64>(&case);
        }
    }
}

fn runs<T: Blockwise>(case: &Case) -> Vec<Trial<T>> {
    let problem = case.problem();
    assert_eq!(problem.objections(), Vec::new(), "{case:?}");
    steppers::<T>(&problem)
        .into_iter()
        .map(|stepper| Trial::new(problem.clone(), &case.initial(), stepper))
        .collect()
}

fn label<T: Blockwise>(run: &Trial<T>, case: &Case) -> String {
    let report = run.report();
    format!("{} ({}) {case:?}", report.variant, report.details)
}

/// Rounding grows as the root of the number of sweeps: at most 12 per sub-step in 3D.
fn tolerance<T: Blockwise>(case: &Case, steps: u32) -> f64 {
    let sweeps = f64::from(steps * 12 * if case.order == 4 { 5 } else { 1 });
    match T::PRECISION {
        // On a handful of sites the same roundings meet again in every step and add up.
        Precision::Single if case.size.iter().product::<usize>() <= 8 => 3e-8 * sweeps,
        Precision::Single => 3e-7 * sweeps.sqrt(),
        Precision::Double => 1e-14 * sweeps.sqrt().max(10.0),
    }
}

fn check<T: Blockwise>(case: &Case) {
    let steps = 7;
    let mut expected = case.initial_values();
    let splitting = TrotterSplitting::new(case.lattice(), case.order, case.imaginary);
    let before = norm(&expected);
    for step in 0..steps {
        splitting.step(&mut expected, f64::from(step) * case.dt, case.dt);
        if case.imaginary {
            let scale = (before / norm(&expected)).sqrt();
            for value in &mut expected {
                *value *= scale;
            }
        }
    }
    let mut blocked = None;
    for (mut run, mut single) in runs::<T>(case).into_iter().zip(runs::<T>(case)) {
        let name = label(&run, case);
        run.advance(u64::from(steps), &mut Taps::default()).unwrap();
        for _ in 0..steps {
            single.advance(1, &mut Taps::default()).unwrap();
        }
        let field = run.field().unwrap();
        assert_eq!(field, single.field().unwrap(), "batches change bits: {name}");
        if run.report().variant == "blocked" {
            let first = blocked.get_or_insert_with(|| field.clone());
            assert_eq!(field, *first, "the choice of blocks changes bits: {name}");
        }
        let error = if before > 0.0 {
            distance(&field.to_complex128(), &expected)
        } else {
            norm(&field.to_complex128())
        };
        assert!(error < tolerance::<T>(case, steps), "{error:e}: {name}");
        assert!((run.clock().time - f64::from(steps) * case.dt).abs() < 1e-12);
    }
}

fn check_both(case: &Case) {
    check::<f32>(case);
    check::<f64>(case);
}

/// Both precisions of every size and order, each with what `with` changes of the plain case.
fn check_all(sizes: &[&[usize]], orders: &[u32], with: impl Fn(Case) -> Case) {
    for size in sizes {
        for order in orders {
            check_both(&with(Case::new(size, *order)));
        }
    }
}

/// A line, two planes and a box.
const SOME: &[&[usize]] = &[&[30], &[41, 23], &[130, 44], &[14, 12, 9]];

/// Tiny, odd, smaller than a vector, larger than a block, no multiples of anything.
const SIZES: &[&[usize]] = &[
    &[1],
    &[2],
    &[3],
    &[5],
    &[37],
    &[1000],
    &[1, 1],
    &[2, 1],
    &[1, 4],
    &[3, 3],
    &[17, 2],
    &[40, 31],
    &[301, 67],
    &[1, 1, 1],
    &[2, 3, 4],
    &[35, 6, 5],
    &[70, 33, 18],
];

#[test]
fn random_potential_at_all_sizes_and_orders() {
    check_all(SIZES, &[1, 2, 4], |case| case);
}

#[test]
fn interior_walls() {
    check_all(SIZES, &[1, 2, 4], |case| Case { walls: true, ..case });
}

#[test]
fn periodic_edges() {
    let sizes: &[&[usize]] = &[
        &[2],
        &[6],
        &[130],
        &[2, 2],
        &[4, 10],
        &[150, 38],
        &[400, 22],
        &[2, 4, 6],
        &[34, 12, 8],
    ];
    for walls in [false, true] {
        for edges in [
            [Edge::Periodic; 3],
            [Edge::Wall, Edge::Periodic, Edge::Wall],
            [Edge::Periodic, Edge::Wall, Edge::Periodic],
        ] {
            check_all(sizes, &[1, 2, 4], |case| Case { edges, walls, ..case });
        }
    }
}

#[test]
fn absorption_layers_and_edges() {
    for dt in [0.13, -0.13] {
        check_all(SOME, &[1, 2], |case| Case {
            edges: [Edge::Absorb; 3],
            absorb: true,
            dt,
            ..case
        });
    }
}

#[test]
fn magnetic_flux() {
    let sizes: &[&[usize]] = &[&[5, 4], &[40, 30], &[150, 40], &[12, 10, 7]];
    for walls in [false, true] {
        check_all(sizes, &[1, 2, 4], |case| Case {
            flux: 0.1,
            walls,
            ..case
        });
    }
    check_all(&[&[4, 10], &[150, 40]], &[2], |case| Case {
        flux: 0.1,
        edges: [Edge::Periodic; 3],
        ..case
    });
}

#[test]
fn bonds_that_differ() {
    let open: &[&[usize]] = &[
        &[2],
        &[37],
        &[1000],
        &[5, 4],
        &[40, 31],
        &[301, 67],
        &[12, 10, 7],
        &[35, 6, 5],
    ];
    let rings: &[&[usize]] = &[&[2], &[6], &[130], &[9000], &[2, 2], &[4, 10], &[150, 38], &[34, 12, 8]];
    for walls in [false, true] {
        check_all(open, &[1, 2, 4], |case| Case {
            bonds: true,
            flux: if case.size.len() > 1 { 0.1 } else { 0.0 },
            walls,
            ..case
        });
        check_all(rings, &[2], |case| Case {
            bonds: true,
            walls,
            edges: [Edge::Periodic; 3],
            ..case
        });
    }
    check_both(&Case {
        bonds: true,
        imaginary: true,
        ..Case::new(&[41, 23], 2)
    });
    check_both(&Case {
        bonds: true,
        walls: true,
        drive: true,
        absorb: true,
        interaction: 0.3,
        ..Case::new(&[90, 40], 2)
    });
}

#[test]
fn driven_potentials() {
    check_all(SOME, &[1, 2, 4], |case| Case { drive: true, ..case });
}

#[test]
fn interaction() {
    check_all(SOME, &[1, 2, 4], |case| Case {
        interaction: 0.4,
        ..case
    });
}

/// Layers set the interaction in places. In imaginary time the methods take the density at the start of a step, which the reference does not: the preset `interaction-step` holds that.
#[test]
fn interaction_of_layers() {
    check_all(SOME, &[1, 2, 4], |case| Case {
        interaction: 0.2,
        uneven: true,
        ..case
    });
}

/// The reference turns its bonds by the phases of a frame that rotates, in real and imaginary time, in planes and in space.
#[test]
fn rotation() {
    check_all(&SOME[1..], &[1, 2, 4], |case| Case { rotation: 0.15, ..case });
    check_all(&SOME[1..], &[2], |case| Case {
        rotation: -0.15,
        imaginary: true,
        ..case
    });
    // Bonds along z of their own, as between two components.
    check_all(&[&[14, 12, 9], &[41, 23, 2], &[40, 22, 2]], &[1, 2, 4], |case| Case {
        rotation: 0.15,
        bonds: true,
        cross: if case.size[2] == 2 { 0.4 } else { 0.0 },
        ..case
    });
    check_both(&Case {
        rotation: 0.1,
        interaction: 0.2,
        uneven: true,
        walls: true,
        drive: true,
        absorb: true,
        ..Case::new(&[90, 40], 2)
    });
}

/// Two components that act on each other, each on itself, and turn into each other.
#[test]
fn interaction_of_components() {
    let sizes: &[&[usize]] = &[&[31, 2], &[40, 2], &[41, 23, 2], &[130, 44, 2]];
    check_all(sizes, &[1, 2, 4], |case| Case {
        interaction: 0.3,
        cross: 0.5,
        uneven: case.order == 2,
        bonds: case.order == 4,
        ..case
    });
    check_all(sizes, &[2], |case| Case {
        interaction: 0.2,
        cross: -0.3,
        walls: true,
        drive: true,
        ..case
    });
}

#[test]
fn interaction_where_something_absorbs() {
    check_all(&[&[41, 23]], &[1, 2, 4], |case| Case {
        edges: [Edge::Absorb; 3],
        absorb: true,
        interaction: 0.4,
        ..case
    });
}

#[test]
fn imaginary_time() {
    for walls in [false, true] {
        check_all(&[&[1], &[30], &[41, 23], &[130, 44], &[14, 12, 9]], &[2], |case| Case {
            imaginary: true,
            walls,
            ..case
        });
    }
}

#[test]
fn everything_at_once() {
    check_both(&Case {
        walls: true,
        drive: true,
        flux: 0.05,
        interaction: 0.3,
        ..Case::new(&[90, 40], 4)
    });
}

fn reversal<T: Blockwise>(order: u32, bound: f64) {
    let case = Case::new(&[90, 42], order);
    for mut run in runs::<T>(&case) {
        let name = label(&run, &case);
        let start = run.field().unwrap().to_complex128();
        run.advance(100, &mut Taps::default()).unwrap();
        run.set_step(-case.dt);
        run.advance(100, &mut Taps::default()).unwrap();
        let error = distance(&run.field().unwrap().to_complex128(), &start);
        assert!(error < bound, "{error:e}: {name}");
        assert!(run.clock().time.abs() < 1e-12);
        assert_eq!(run.clock().steps, 200);
    }
}

#[test]
fn runs_backwards_to_where_it_started() {
    // 200 steps of 7 (35) factors: 3e-7 √(sweeps) and 3e-15 √(sweeps).
    reversal::<f32>(2, 1.2e-5);
    reversal::<f32>(4, 2.6e-5);
    reversal::<f64>(2, 1.1e-13);
    reversal::<f64>(4, 2.5e-13);
}

#[test]
fn a_saved_state_goes_on_bit_by_bit() {
    let case = Case {
        drive: true,
        interaction: 0.2,
        ..Case::new(&[70, 40], 2)
    };
    for (mut run, mut other) in runs::<f32>(&case).into_iter().zip(runs::<f32>(&case)) {
        run.advance(5, &mut Taps::default()).unwrap();
        let state = run.save().unwrap();
        other.advance(2, &mut Taps::default()).unwrap();
        other.load(&state).unwrap();
        run.advance(9, &mut Taps::default()).unwrap();
        other.advance(9, &mut Taps::default()).unwrap();
        assert_eq!(run.field().unwrap(), other.field().unwrap());
        assert_eq!(run.clock(), other.clock());
    }
}

/// A plane wave of a torus stays among the waves k and k + π of each axis, on which a step has the frequencies ±Ω_x ± Ω_y with
/// cos ΩΔt = cos²θ − sin²θ cos 2k: any five consecutive fields obey the recurrence whose roots are e^{i(±Ω_x ± Ω_y)Δt}.
fn dispersion<T: Blockwise>(bound: f64) {
    let case = Case {
        edges: [Edge::Periodic; 3],
        ..Case::new(&[150, 38], 2)
    };
    let mut problem = case.problem();
    problem.medium = Arc::new(Medium::new(problem.grid.clone(), Vec::new()));
    problem.quantum.diagonal = 0.0;
    let [nx, ny, _] = problem.grid.size();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let k = [11.0 / nx as f64, 5.0 / ny as f64].map(|turns| std::f64::consts::TAU * turns);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let wave = (0..nx * ny).map(|n| Complex64::cis(k[0] * (n % nx) as f64 + k[1] * (n / nx) as f64));
    let initial = Initial::Array(Arc::new(FieldData::Complex128(wave.collect())));
    let hopping = problem.quantum.hopping;
    let [a, b] = k.map(|k| (crate::physics::reference::chain::trotter_frequency(hopping, k, case.dt) * case.dt).cos());
    for stepper in steppers::<T>(&problem) {
        let mut run = Trial::new(problem.clone(), &initial, stepper);
        let fields: Vec<Vec<Complex64>> = (0..5)
            .map(|_| {
                run.advance(3, &mut Taps::default()).unwrap();
                run.field().unwrap().to_complex128()
            })
            .collect();
        // Three steps at a time: cos 3x = 4cos³x − 3cos x.
        let [a, b] = [a, b].map(|c| 4.0 * c * c * c - 3.0 * c);
        let (odd, even) = (-4.0 * a * b, 4.0 * (a * a + b * b) - 2.0);
        for n in 0..nx * ny {
            let [p, q, r, s, t] = [0, 1, 2, 3, 4].map(|step| fields[step][n]);
            let rest = (p + t + odd * (q + s) + even * r).norm();
            assert!(rest < bound, "{rest:e} at {n}: {}", label(&run, &case));
        }
    }
}

#[test]
fn plane_waves_have_the_frequency_of_the_splitting() {
    // 90 sweeps, coefficients that sum to 16.
    dispersion::<f32>(16.0 * 3e-7 * 90f64.sqrt());
    dispersion::<f64>(16.0 * 6e-16 * 90f64.sqrt());
}

#[test]
fn single_precision_does_not_drift() {
    // The aim is 1e-5 in 1e4 steps; with the folded factors merely rounded it is 5e-4.
    let mut case = Case::new(&[64, 48], 2);
    case.dt = 0.1;
    for mut run in runs::<f32>(&case) {
        let name = label(&run, &case);
        let before = run.observables().unwrap().norm;
        run.advance(10_000, &mut Taps::default()).unwrap();
        let drift = run.observables().unwrap().norm / before - 1.0;
        assert!(drift.abs() < 1e-5, "{drift:e}: {name}");
    }
}

#[test]
fn observables_agree_with_the_hamiltonian() {
    for (size, edges, flux) in [
        (&[31][..], [Edge::Wall; 3], 0.0),
        (&[40, 20], [Edge::Periodic; 3], 0.05),
        (&[6, 8, 10], [Edge::Periodic, Edge::Wall, Edge::Periodic], 0.0),
    ] {
        let case = Case {
            edges,
            flux,
            ..Case::new(size, 2)
        };
        let lattice = case.lattice();
        for mut run in runs::<f64>(&case) {
            run.advance(3, &mut Taps::default()).unwrap();
            let psi = run.field().unwrap().to_complex128();
            let seen = run.observables().unwrap();
            let weight = norm(&psi);
            assert!((seen.norm - weight * case.grid().cell_volume()).abs() < 1e-12 * weight);
            assert!(
                (seen.energy - lattice.energy(&psi, run.clock().time)).abs() < 1e-12,
                "{case:?}"
            );
        }
    }
}
