//! Sums over rows: against the Hamiltonian, and the same bits on any number of threads and whoever takes them.

use super::*;
use crate::solver::row_numbers::NUMBERS;
use crate::solver::totals::{Region, Totals};

/// Cases with everything that sums treat apart, rows and planes in several blocks.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (size, edges) in [
        (&[61][..], [Edge::Wall; 3]),
        (&[66, 50], [Edge::Periodic; 3]),
        (&[45, 37], [Edge::Wall; 3]),
        (&[6, 36, 20], [Edge::Periodic, Edge::Wall, Edge::Periodic]),
        (&[5, 19, 35], [Edge::Wall; 3]),
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
        ..Case::new(&[45, 37], 2)
    });
    cases.push(Case {
        edges: [Edge::Absorb; 3],
        absorb: true,
        ..Case::new(&[150, 40], 2)
    });
    cases.push(Case {
        cross: 0.5,
        interaction: 0.3,
        ..Case::new(&[41, 23, 2], 2)
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
