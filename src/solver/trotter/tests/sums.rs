//! Sums over rows: against the Hamiltonian, and the same bits on any number of threads and by any caller.

use super::*;
use crate::physics::Observables;
use crate::solver::Clock;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::totals::{Region, Totals};

/// Cases with everything that sums treat apart, rows and planes in several blocks.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (size, edges) in [
        (&[61][..], [Edge::Wall; 3]),
        (&[66, 18], [Edge::Periodic; 3]),
        (&[13, 37], [Edge::Wall; 3]),
        (&[4, 18, 18], [Edge::Periodic, Edge::Wall, Edge::Periodic]),
        (&[3, 17, 19], [Edge::Wall; 3]),
    ] {
        let plain = Case {
            edges,
            ..Case::new(size, 2)
        };
        let walls = edges == [Edge::Wall; 3];
        cases.push(Case {
            interaction: 0.4,
            ..plain.clone()
        });
        cases.push(Case {
            drive: true,
            walls: true,
            interaction: 0.3,
            uneven: true,
            ..plain.clone()
        });
        if size.len() > 1 {
            cases.push(Case {
                flux: if walls { 0.07 } else { 0.0 },
                bonds: true,
                ..plain.clone()
            });
            cases.push(Case {
                rotation: if walls { 0.1 } else { 0.0 },
                ..plain.clone()
            });
        }
        cases.push(plain);
    }
    cases.push(Case {
        flux: 0.1,
        ..Case::new(&[13, 37], 2)
    });
    cases.push(Case {
        edges: [Edge::Absorb; 3],
        absorb: true,
        ..Case::new(&[70, 20], 2)
    });
    cases.push(Case {
        cross: 0.5,
        interaction: 0.3,
        ..Case::new(&[13, 18, 2], 2)
    });
    cases
}

fn bits(rows: &[(usize, Totals)]) -> Vec<(usize, [u64; NUMBERS])> {
    let own = rows.iter().map(|(row, totals)| (*row, totals.to_numbers()));
    own.map(|(row, numbers)| (row, numbers.map(f64::to_bits))).collect()
}

fn check_sums<T: Blockwise>(case: &Case) {
    let lattice = case.lattice();
    let grid = case.grid();
    for mut run in runs::<T>(case) {
        run.advance(3, &mut Taps::default()).unwrap();
        let psi = run.field().unwrap().to_complex128();
        let seen = run.observables().unwrap();
        let weight = norm(&psi);
        // Sites of ψ are rounded to T behind the sums; the diagonal is held in T as well, and |H| is below 20.
        let epsilon = if T::PRECISION == Precision::Single { 1e-5 } else { 1e-12 };
        let label = label(&run, case);
        let expected = weight * grid.cell_volume();
        assert!((seen.norm - expected).abs() < epsilon * expected, "{label}");
        let energy = lattice.energy(&psi, run.clock().time);
        assert!(
            (seen.energy - energy).abs() < epsilon,
            "{} {energy}: {label}",
            seen.energy
        );
        for axis in 0..grid.rank() {
            #[expect(clippy::cast_precision_loss, reason = "site numbers")]
            let first: f64 = (0..psi.len())
                .map(|n| grid.site(n)[axis] as f64 * 0.5 * psi[n].norm_sqr())
                .sum();
            assert!((seen.position[axis] - first / weight).abs() < 30.0 * epsilon, "{label}");
        }
        let whole = Region {
            lo: [0; 3],
            hi: grid.size(),
            across: Some(0),
            energy: true,
        };
        let rows = run.rows(1, &whole);
        assert_eq!(rows.len(), grid.rows());
        assert_eq!(bits(&run.rows(2, &whole)), bits(&rows), "{label}: two threads");
        // Rows inside a part of the grid have the sums that they have in the whole.
        let mut part = whole;
        for axis in 1..grid.rank() {
            (part.lo[axis], part.hi[axis]) = (grid.size()[axis] / 5, grid.size()[axis] * 4 / 5);
        }
        let parts = bits(&run.rows(2, &part));
        let place = |row: usize, axis: usize| [0, row % grid.size()[1], row / grid.size()[1]][axis];
        let inner = |row: usize| {
            (1..grid.rank()).all(|axis| (part.lo[axis] + 1..part.hi[axis] - 1).contains(&place(row, axis)))
        };
        let own = bits(&rows);
        for (row, numbers) in parts.iter().filter(|(row, _)| inner(*row)) {
            assert_eq!(own[*row], (*row, *numbers), "{label}: row {row}");
        }
    }
}

#[test]
fn sums_are_those_of_the_hamiltonian_on_any_threads() {
    for case in cases() {
        check_sums::<f64>(&case);
        check_sums::<f32>(&case);
    }
}

/// Observables that are taken within steps: those of sums between steps but for rounding to T, and the same bits on any number of threads, however steps are fused and blocks are cut.
fn check_observed<T: Blockwise>(case: &Case) {
    let mut first = None;
    let all = || runs::<T>(case).into_iter().filter(Trial::sums_in_steps);
    for ((mut run, mut other), single) in all().zip(all()).zip(all()) {
        let label = label(&run, case);
        let rows = run.observed(2, &[5, 1, 8], 1);
        assert_eq!(rows.len(), 14, "{label}");
        let third: Vec<_> = rows.iter().filter(|(clock, _)| clock.steps % 3 == 0).copied().collect();
        assert_eq!(other.observed(1, &[14], 3), third, "{label}: one thread, every third");
        if let Some(first) = &first {
            assert_eq!(rows, *first, "{label}: blocks");
            continue;
        }
        check_rows(single, &rows, &label);
        first = Some(rows);
    }
    assert!(first.is_some(), "{case:?}");
}

/// Observables of every step, against sums between steps.
fn check_rows<T: Blockwise>(mut run: Trial<T>, rows: &[(Clock, Observables)], label: &str) {
    // ψ and every term are rounded a few times, by ε/2 each; |E| and the bonds of a site are below 20, a line below 160.
    let epsilon = if T::PRECISION == Precision::Single {
        1.2e-7
    } else {
        2.3e-16
    };
    let close = |a: f64, b: f64, size: f64| (a - b).abs() <= 10.0 * epsilon * size;
    for (clock, row) in rows {
        run.advance(1, &mut Taps::default()).unwrap();
        assert_eq!(*clock, run.clock());
        let exact = run.observables().unwrap();
        let mut pairs = vec![
            (row.norm, exact.norm, exact.norm),
            (row.peak, exact.peak, exact.peak),
            (row.energy, exact.energy, 20.0),
        ];
        for axis in 0..2 {
            pairs.push((row.position[axis], exact.position[axis], 160.0));
            // A difference of squares, over twice the root.
            let [a, b] = [row.spread[axis], exact.spread[axis]].map(|spread| spread * spread);
            pairs.push((a, b, 160.0 * 160.0));
        }
        for (a, b, size) in pairs {
            assert!(close(a, b, size), "{a} {b}: {row:?} {exact:?}: {label}");
        }
    }
}

#[test]
fn observables_within_steps_are_those_between_them() {
    // Several blocks along x, the last one cut short; whole chunks; less than a vector; a column.
    let mut cases = vec![Case::new(&[64, 12], 2), Case::new(&[3, 5], 2), Case::new(&[1, 30], 4)];
    cases.extend([1, 2, 4].map(|order| Case::new(&[161, 13], order)));
    for size in [[150, 8], [128, 6], [2, 2], [34, 12]] {
        cases.push(Case {
            edges: [Edge::Periodic; 3],
            ..Case::new(&size, 2)
        });
    }
    let plain = Case::new(&[150, 14], 2);
    cases.push(Case {
        edges: [Edge::Periodic, Edge::Wall, Edge::Wall],
        walls: true,
        ..plain.clone()
    });
    cases.push(Case {
        edges: [Edge::Wall, Edge::Periodic, Edge::Wall],
        dt: -0.13,
        ..plain.clone()
    });
    cases.push(Case {
        edges: [Edge::Absorb; 3],
        absorb: true,
        ..plain
    });
    for case in cases {
        check_observed::<f64>(&case);
        check_observed::<f32>(&case);
    }
}

/// What ends steadiness or asks for phases of bonds is left to sums between steps.
#[test]
fn other_terms_are_not_summed_within_steps() {
    let plain = Case::new(&[12, 10], 2);
    let others = [
        Case {
            flux: 0.07,
            ..plain.clone()
        },
        Case {
            interaction: 0.4,
            ..plain.clone()
        },
        Case {
            uneven: true,
            ..plain.clone()
        },
        Case {
            drive: true,
            ..plain.clone()
        },
        Case {
            bonds: true,
            ..plain.clone()
        },
        Case {
            imaginary: true,
            ..plain.clone()
        },
        Case::new(&[30], 2),
        Case::new(&[6, 6, 6], 2),
    ];
    for case in others {
        assert!(!runs::<f32>(&case).iter().any(Trial::sums_in_steps), "{case:?}");
    }
    assert!(runs::<f32>(&plain).iter().any(Trial::sums_in_steps));
}
