use super::*;
use crate::grid::{Edge, Grid};
use crate::physics::expression::SPACE;
use crate::physics::{Exchange, Expression, Layer, Medium, Quantum, Sets, Shape, Value};
use std::f64::consts::{PI, TAU};

fn quantum(flux: f64, rank: f64) -> Quantum {
    Quantum {
        hopping: 1.0,
        diagonal: 2.0 * rank,
        mass: Some(0.5),
        interaction: 0.0,
        flux,
    }
}

fn layer(sets: Sets, shape: Shape, value: Value) -> Layer {
    Layer::new(sets, shape, value)
}

fn found(hamiltonian: &Hamiltonian, wanted: usize) -> Levels {
    let levels = lowest(hamiltonian, wanted, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(levels.converged, "{:?}", levels.round);
    levels
}

/// H as a dense matrix, column by column.
fn matrix(hamiltonian: &Hamiltonian) -> Vec<Vec<Complex64>> {
    let n = hamiltonian.sites();
    (0..n)
        .map(|site| {
            let mut unit = vec![Complex64::ZERO; n];
            unit[site] = Complex64::ONE;
            let mut out = vec![Complex64::ZERO; n];
            hamiltonian.apply(&unit, (0.0, 1.0, 0.0), &mut out);
            out
        })
        .collect()
}

/// All eigenvalues of a real symmetric matrix by cyclic rotations, rising: another solver than the one under test.
fn jacobi(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let angle = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                let (s, c) = angle.sin_cos();
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for i in 0..n {
                    (a[p][i], a[q][i]) = (c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn real(matrix: &[Vec<Complex64>]) -> Vec<Vec<f64>> {
    matrix
        .iter()
        .map(|row| row.iter().map(|value| value.re).collect())
        .collect()
}

/// [[Re, −Im], [Im, Re]]: every eigenvalue of the Hermitian matrix twice.
fn doubled(matrix: &[Vec<Complex64>]) -> Vec<Vec<f64>> {
    let upper = matrix
        .iter()
        .map(|row| row.iter().map(|v| v.re).chain(row.iter().map(|v| -v.im)).collect());
    let lower = matrix
        .iter()
        .map(|row| row.iter().map(|v| v.im).chain(row.iter().map(|v| v.re)).collect());
    upper.chain(lower).collect()
}

fn random_medium(grid: &Grid, strength: &str) -> Medium {
    let formula = Expression::parse(&format!("{strength}*random(x, y, 3)"), SPACE).unwrap();
    Medium::new(
        grid.clone(),
        vec![layer(Sets::Potential, Shape::Everywhere, Value::Expression(formula))],
    )
}

/// H with layers of hopping and flux is that of the reference lattice, which sums phases and diagonal by itself.
#[test]
fn bonds_are_those_of_the_lattice() {
    use crate::physics::reference::Lattice;
    for (size, edges) in [
        (&[9][..], [Edge::Periodic, Edge::Wall, Edge::Wall]),
        (&[7, 6], [Edge::Wall; 3]),
        (&[6, 5], [Edge::Periodic, Edge::Wall, Edge::Wall]),
        (&[4, 3, 5], [Edge::Wall, Edge::Wall, Edge::Periodic]),
    ] {
        let grid = Grid::new(size, 1.0).with_edges(edges, 0);
        let formula = |text: &str| Value::Expression(Expression::parse(text, SPACE).unwrap());
        let own = |axis: usize, text: &str| Layer {
            axis: Some(axis),
            ..layer(Sets::Hopping, Shape::Everywhere, formula(text))
        };
        let mut layers = random_medium(&grid, "3").layers().to_vec();
        layers.push(own(0, "0.5 + random(x, y, z, 1)"));
        if size.len() > 1 {
            layers.push(own(1, "random(x, y, z, 2) - 0.3"));
            layers.push(layer(Sets::Flux, Shape::Everywhere, formula("random(x, y, z, 4)")));
        }
        let medium = Medium::new(grid.clone(), layers);
        let constants = Quantum {
            mass: Some(0.7),
            ..quantum(if size.len() > 1 { 0.13 } else { 0.0 }, 2.0)
        };
        let hamiltonian = Hamiltonian::new(&grid, &constants, &medium).unwrap();
        assert_eq!(hamiltonian.is_real(), size.len() == 1);
        let lattice = Lattice::new(&grid, &constants, &medium, 0.0);
        for site in 0..grid.sites() {
            let mut one = vec![Complex64::ZERO; grid.sites()];
            one[site] = Complex64::ONE;
            let mut out = vec![Complex64::ZERO; grid.sites()];
            hamiltonian.apply(&one, (0.0, 1.0, 0.0), &mut out);
            for (own, exact) in out.iter().zip(lattice.apply(&one, 0.0)) {
                assert!((own - exact).norm() < 1e-13, "{size:?}, site {site}: {own} {exact}");
            }
        }
        let (low, high) = hamiltonian.bounds();
        let values = jacobi(doubled(&matrix(&hamiltonian)));
        assert!(values.iter().all(|value| (low..=high).contains(value)));
    }
}

/// The first ten levels of random potentials within 1e-10 of a dense solver: closed, periodic, with walls and with a flux.
#[test]
fn ten_levels_are_those_of_a_dense_matrix() {
    for (edges, flux, walled) in [
        ([Edge::Wall; 3], 0.0, false),
        ([Edge::Periodic, Edge::Wall, Edge::Wall], 0.0, true),
        ([Edge::Wall; 3], 0.13, false),
    ] {
        let grid = Grid::new(&[12, 12], 1.0).with_edges(edges, 0);
        let mut medium = random_medium(&grid, "3");
        if walled {
            let mut layers = medium.layers().to_vec();
            let shape = Shape::Box {
                min: [4.0, 2.0, 0.0],
                max: [5.0, 6.0, 0.0],
            };
            layers.push(layer(Sets::Wall, shape, Value::Number(1.0)));
            medium = Medium::new(grid.clone(), layers);
        }
        let hamiltonian = Hamiltonian::new(&grid, &quantum(flux, 2.0), &medium).unwrap();
        let levels = found(&hamiltonian, 10);
        let mut dense = matrix(&hamiltonian);
        for (site, row) in dense
            .iter_mut()
            .enumerate()
            .filter(|(site, _)| hamiltonian.is_wall(*site))
        {
            // Far above what is asked for.
            row[site] = Complex64::from(1e3);
        }
        let values: Vec<f64> = if flux == 0.0 {
            jacobi(real(&dense))
        } else {
            jacobi(doubled(&dense)).into_iter().step_by(2).collect()
        };
        for (level, exact) in levels.list.iter().zip(&values) {
            assert!((level.energy - exact).abs() < 1e-10, "{} {exact}", level.energy);
            assert!(level.residual < 2e-10, "{}", level.residual);
        }
        // Orthonormal, and 0 on walls.
        for (n, a) in levels.list.iter().enumerate() {
            for (m, b) in levels.list.iter().enumerate() {
                let product: Complex64 = a.state.iter().zip(&b.state).map(|(a, b)| a.conj() * b).sum();
                let wanted = if n == m { 1.0 } else { 0.0 };
                assert!((product - wanted).norm() < 1e-12, "{n} {m} {product}");
            }
            let outside = (0..grid.sites()).filter(|site| hamiltonian.is_wall(*site));
            assert!(outside.into_iter().all(|site| a.state[site] == Complex64::ZERO));
        }
    }
}

/// A box and a torus: E = Σ 2J(1 − cos k), k = πn/(N + 1) or 2πn/N; degenerate levels as often as they are.
#[test]
fn closed_forms_with_their_degeneracies() {
    let sides = [30usize, 30];
    for periodic in [false, true] {
        let edge = if periodic { Edge::Periodic } else { Edge::Wall };
        let grid = Grid::new(&sides, 1.0).with_edges([edge; 3], 0);
        let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 2.0), &Medium::new(grid.clone(), Vec::new())).unwrap();
        let levels = found(&hamiltonian, 9);
        let along: Vec<f64> = (0..30)
            .map(|n| {
                if periodic {
                    TAU * f64::from(n) / 30.0
                } else {
                    PI * f64::from(n + 1) / 31.0
                }
            })
            .map(|k| 2.0 * (1.0 - k.cos()))
            .collect();
        let mut exact: Vec<f64> = along.iter().flat_map(|a| along.iter().map(move |b| a + b)).collect();
        exact.sort_by(f64::total_cmp);
        for (level, exact) in levels.list.iter().zip(&exact) {
            assert!((level.energy - exact).abs() < 1e-11, "{} {exact}", level.energy);
        }
        let counts: Vec<usize> = levels.list.iter().map(|level| level.degeneracy).collect();
        // Of the box (1,1), (1,2)², (2,2), (1,3)², (2,3)², (1,4); of the torus 0, four of ±1, four of (±1, ±1).
        let wanted: &[usize] = if periodic {
            &[1, 4, 4, 4, 4, 4, 4, 4, 4]
        } else {
            &[1, 2, 2, 1, 2, 2, 2, 2, 2]
        };
        assert_eq!(counts, wanted);
        let round = levels.round;
        assert!(round.applications > 0 && round.converged == 9);
    }
}

/// Of a torus, whose levels are 1, 4, 4-fold: a last energy that is cut off by the number of levels is as often there as with more of them.
#[test]
fn degeneracies_do_not_depend_on_how_many_levels_are_wanted() {
    let grid = Grid::new(&[12, 12], 1.0).with_edges([Edge::Periodic; 3], 0);
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 2.0), &Medium::new(grid.clone(), Vec::new())).unwrap();
    for wanted in 1..=9 {
        let levels = found(&hamiltonian, wanted);
        for (n, level) in levels.list.iter().enumerate() {
            let times = level.times().unwrap_or_default();
            let right = if n == 0 {
                times.is_empty()
            } else {
                times.ends_with("4-fold")
            };
            assert!(right, "level {n} of {wanted}: {}, {times}", level.energy);
        }
    }
}

/// A box beside a potential far above its levels, one cut in two by a tall site, and one beside a deep site: levels of a line, none of which occurs twice, however wide the spectrum.
#[test]
fn a_tall_potential_makes_no_degeneracies() {
    let grid = Grid::new(&[60], 1.0);
    for (formula, wanted) in [
        ("1e7*(x>39)", 6),
        ("1e8*(x>39)", 4),
        ("1e6*(x==20)", 6),
        ("-1e6*(x==20)", 4),
    ] {
        let value = Value::Expression(Expression::parse(formula, SPACE).unwrap());
        let medium = Medium::new(grid.clone(), vec![layer(Sets::Potential, Shape::Everywhere, value)]);
        let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 1.0), &medium).unwrap();
        let levels = found(&hamiltonian, wanted);
        for level in &levels.list {
            assert_eq!(
                level.times(),
                None,
                "{formula}: {} {:.1e}",
                level.energy,
                level.residual
            );
        }
        if formula.ends_with("(x>39)") {
            // A closed box of 40 sites up to the share 1/U that leaks, and up to what rounding in products with U leaves: 46 ε U were seen.
            let most = if formula.starts_with("1e8") {
                100.0 * f64::EPSILON * 1e8
            } else {
                1e-6
            };
            for (n, level) in (1..).zip(&levels.list) {
                let exact = 2.0 * (1.0 - (PI * f64::from(n) / 41.0).cos());
                assert!(
                    (level.energy - exact).abs() < most,
                    "{formula}: {} {exact}",
                    level.energy
                );
            }
        }
    }
}

/// One site so deep that rounding hides the others: simple levels are not said to be several, as their residuals of some hundredths would allow; nor is any that has not converged.
#[test]
fn levels_that_have_not_converged_have_no_degeneracy() {
    let grid = Grid::new(&[40], 1.0);
    let value = Value::Expression(Expression::parse("-1e10*(x==20)", SPACE).unwrap());
    let medium = Medium::new(grid.clone(), vec![layer(Sets::Potential, Shape::Everywhere, value)]);
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 1.0), &medium).unwrap();
    let levels = lowest(&hamiltonian, 4, &mut |_| ControlFlow::Continue(())).unwrap();
    for level in &levels.list {
        assert_eq!(level.times(), None, "{} {:.1e}", level.energy, level.residual);
    }
    let told = |converged| {
        let several = Level {
            degeneracy: 4,
            converged,
            open: false,
            ..levels.list[0].clone()
        };
        several.times()
    };
    assert_eq!((told(false), told(true).as_deref()), (None, Some("4-fold")));
}

/// A constant of 10⁶ leaves energies four digits fewer than the width of the spectrum asks for, and they converge as far as that.
#[test]
fn a_constant_potential_lets_levels_converge() {
    let grid = Grid::new(&[40], 1.0);
    let medium = Medium::new(
        grid.clone(),
        vec![layer(Sets::Potential, Shape::Everywhere, Value::Number(1e6))],
    );
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 1.0), &medium).unwrap();
    for (n, level) in (1..).zip(&found(&hamiltonian, 4).list) {
        let exact = 1e6 + 2.0 * (1.0 - (PI * f64::from(n) / 41.0).cos());
        assert!((level.energy - exact).abs() < 1e-8, "{} {exact}", level.energy);
        assert_eq!(level.times(), None);
    }
}

/// Two boxes alike behind a wall have each level twice, beside a tall potential too.
#[test]
fn a_tall_potential_hides_no_degeneracies() {
    let grid = Grid::new(&[60], 1.0);
    let value = Value::Expression(Expression::parse("1e6*(x>40)", SPACE).unwrap());
    let wall = Shape::Box {
        min: [20.0, 0.0, 0.0],
        max: [20.0, 0.0, 0.0],
    };
    let layers = vec![
        layer(Sets::Potential, Shape::Everywhere, value),
        layer(Sets::Wall, wall, Value::Number(1.0)),
        layer(
            Sets::Wall,
            Shape::Box {
                min: [41.0, 0.0, 0.0],
                max: [41.0, 0.0, 0.0],
            },
            Value::Number(1.0),
        ),
    ];
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 1.0), &Medium::new(grid.clone(), layers)).unwrap();
    for level in &found(&hamiltonian, 6).list {
        assert_eq!(level.times().as_deref(), Some("2-fold"), "{}", level.energy);
    }
}

/// Twenty sites without bonds have one energy and ten another: more than a search for two levels looks at, which says so.
#[test]
fn a_degeneracy_that_is_cut_off_says_so() {
    let grid = Grid::new(&[30], 1.0);
    let constants = Quantum {
        hopping: 0.0,
        ..quantum(0.0, 1.0)
    };
    let formula = Value::Expression(Expression::parse("floor(x/20)", SPACE).unwrap());
    let medium = Medium::new(grid.clone(), vec![layer(Sets::Potential, Shape::Everywhere, formula)]);
    let hamiltonian = Hamiltonian::new(&grid, &constants, &medium).unwrap();
    for (wanted, times) in [(2, "at least "), (20, "20-fold")] {
        for level in &found(&hamiltonian, wanted).list {
            let said = level.times();
            assert!(said.as_deref().is_some_and(|said| said.starts_with(times)), "{said:?}");
        }
    }
}

/// Forty lines side by side without bonds between them have every level forty times, more often than the search has vectors: a filter whose edge lies at the highest Ritz value would gain nothing,
/// and sixty rounds of it would leave residuals of some 1e-10.
#[test]
fn levels_of_more_states_than_are_searched_converge() {
    let grid = Grid::new(&[32, 40], 1.0);
    let apart = Layer {
        axis: Some(1),
        ..layer(Sets::Hopping, Shape::Everywhere, Value::Number(0.0))
    };
    let medium = Medium::new(grid.clone(), vec![apart]);
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 2.0), &medium).unwrap();
    let levels = found(&hamiltonian, 5);
    assert!(levels.round.number < 15, "{:?}", levels.round);
    let exact = 2.0 * (1.0 - (PI / 33.0).cos());
    for level in &levels.list {
        assert!((level.energy - exact).abs() < 1e-11, "{} {exact}", level.energy);
        assert_eq!(level.times().as_deref(), Some("at least 11-fold"));
    }
}

/// On Lieb's lattice of 10 × 10 sites (25 cells: 25 states have E = 0, 25 are lower) the last level that is asked for lies in the flat band in the middle of the spectrum: the search
/// has fewer vectors than the band has states, and low levels far below keep its filters short.
#[test]
fn levels_that_end_in_a_flat_band_converge() {
    let grid = Grid::new(&[10, 10], 1.0).with_edges([Edge::Periodic; 3], 0);
    let formula = Value::Expression(Expression::parse("mod(x,2)*mod(y,2)", SPACE).unwrap());
    let medium = Medium::new(grid.clone(), vec![layer(Sets::Wall, Shape::Everywhere, formula)]);
    let constants = Quantum {
        diagonal: 0.0,
        mass: None,
        ..quantum(0.0, 2.0)
    };
    let hamiltonian = Hamiltonian::new(&grid, &constants, &medium).unwrap();
    let below = 25;
    for wanted in [below + 1, below + 2, below + 4] {
        let levels = found(&hamiltonian, wanted);
        assert!(levels.round.number < 30, "{wanted}: {:?}", levels.round);
        assert!(levels.list[below - 1].energy < -0.1);
        for level in &levels.list[below..] {
            let said = level.times();
            assert!(level.energy.abs() < 1e-10, "{}", level.energy);
            assert!(
                said.as_deref().is_some_and(|said| said.starts_with("at least")),
                "{said:?}"
            );
        }
    }
}

/// Two free particles in a box have levels E_a + E_b: bosons with a ≤ b, fermions with a < b, and states of that symmetry; all of them in a small box, and no more.
#[test]
fn two_particles_have_the_levels_of_their_symmetry() {
    for (exchange, sign) in [(Exchange::Symmetric, 1.0), (Exchange::Antisymmetric, -1.0)] {
        for (sites, wanted) in [(20usize, 8), (4, if sign > 0.0 { 10 } else { 6 })] {
            let grid = Grid::new(&[sites, sites], 1.0);
            let medium = Medium::new(grid.clone(), Vec::new());
            let hamiltonian = (Hamiltonian::new(&grid, &quantum(0.0, 2.0), &medium).unwrap()).with_exchange(exchange);
            #[expect(clippy::cast_precision_loss, reason = "a small grid")]
            let one = |n: usize| 2.0 * (1.0 - (PI * (n + 1) as f64 / (sites + 1) as f64).cos());
            let pairs = (0..sites).flat_map(|a| (a..sites).map(move |b| (a, b)));
            let allowed = pairs.filter(|(a, b)| sign > 0.0 || a != b);
            let mut exact: Vec<f64> = allowed.map(|(a, b)| one(a) + one(b)).collect();
            exact.sort_by(f64::total_cmp);
            for (level, exact) in found(&hamiltonian, wanted).list.iter().zip(&exact) {
                assert!(
                    (level.energy - exact).abs() < 1e-10,
                    "{exchange:?}: {} {exact}",
                    level.energy
                );
                for n in 0..sites * sites {
                    let exchanged = level.state[n / sites + sites * (n % sites)];
                    assert!(
                        (level.state[n] - exchanged * sign).norm() < 1e-6,
                        "{exchange:?} {exact}"
                    );
                }
            }
            if sites == 4 {
                assert_eq!(wanted, exact.len());
                assert!(lowest(&hamiltonian, wanted + 1, &mut |_| ControlFlow::Continue(())).is_err());
            }
        }
    }
}

/// All levels of a small space, and one more than there are.
#[test]
fn as_many_as_there_are_and_no_more() {
    let grid = Grid::new(&[5], 1.0);
    let hamiltonian = Hamiltonian::new(&grid, &quantum(0.0, 1.0), &random_medium(&grid, "1")).unwrap();
    let exact = jacobi(real(&matrix(&hamiltonian)));
    for (level, exact) in found(&hamiltonian, 5).list.iter().zip(exact) {
        assert!((level.energy - exact).abs() < 1e-13);
    }
    let fault = lowest(&hamiltonian, 6, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(
        fault,
        EigenError::Count {
            wanted: 6,
            sites: 5,
            most: 5
        }
    ));
    assert_eq!(
        lowest(&hamiltonian, 2, &mut |_| ControlFlow::Break(())),
        Err(EigenError::Cancelled)
    );
}

#[test]
fn what_has_no_levels_is_refused() {
    let grid = Grid::new(&[16], 1.0);
    let empty = Medium::new(grid.clone(), Vec::new());
    let mut interacting = quantum(0.0, 1.0);
    interacting.interaction = 1.0;
    assert!(
        Hamiltonian::new(&grid, &interacting, &empty)
            .unwrap_err()
            .to_string()
            .contains("interaction")
    );
    let open = grid.clone().with_edges([Edge::Absorb; 3], 4);
    let fault = Hamiltonian::new(&open, &quantum(0.0, 1.0), &Medium::new(open.clone(), Vec::new())).unwrap_err();
    assert!(fault.to_string().contains("grid.edges"));
}
