//! The partition against elimination with pivots, for every size, number of blocks, level and width of vectors.

use super::delta::best_blocks;
use super::hamiltonian::Hamiltonian;
use super::line::Partitioned;
use super::partition::{Factorised, Partition, Thomas, Tridiagonal};
use super::propagator::Propagator;
use super::thomas::EndToEnd;
use crate::backend::simd::{Level, Vectors};
use crate::field::{Real, wide};
use crate::physics::reference::distance;
use crate::physics::reference::elimination::{solve_dense, solve_tridiagonal};
use crate::solver::clock::RunClock;
use crate::solver::read_scene_text;
use num_complex::{Complex, Complex64};

/// Numbers between −1 and 1, the same on every machine (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = (self.0 >> 11) as f64 / (1u64 << 53) as f64;
        2.0 * unit - 1.0
    }

    fn complex(&mut self) -> Complex64 {
        Complex64::new(self.next(), self.next())
    }
}

/// 1 + iΔt/2·H of a random line, with energies up to `height`.
fn crank_nicolson(rows: usize, dt: f64, height: f64, random: &mut Random) -> Tridiagonal {
    let mut matrix = Tridiagonal::zeros(rows);
    for i in 0..rows {
        matrix.diagonal[i] = Complex64::new(1.0, dt / 2.0 * height * random.next());
        if i > 0 {
            matrix.lower[i] = Complex64::new(0.0, -dt / 2.0);
            matrix.upper[i - 1] = Complex64::new(0.0, -dt / 2.0);
        }
    }
    matrix
}

/// Largest |Mx − d| against (|M||x| + |d|): the backward error of a solution.
fn backward_error(matrix: &Tridiagonal, x: &[Complex64], d: &[Complex64]) -> f64 {
    let mut worst = 0.0f64;
    for i in 0..x.len() {
        let mut residual = matrix.diagonal[i] * x[i] - d[i];
        let mut size = (matrix.diagonal[i] * x[i]).norm() + d[i].norm();
        if i > 0 {
            residual += matrix.lower[i] * x[i - 1];
            size += (matrix.lower[i] * x[i - 1]).norm();
        }
        if i + 1 < x.len() {
            residual += matrix.upper[i] * x[i + 1];
            size += (matrix.upper[i] * x[i + 1]).norm();
        }
        worst = worst.max(residual.norm() / size.max(f64::MIN_POSITIVE));
    }
    worst
}

/// The same system as a dense matrix.
fn dense(matrix: &Tridiagonal, d: &[Complex64]) -> Vec<Complex64> {
    let n = d.len();
    let rows = (0..n)
        .map(|i| {
            let mut row = vec![Complex64::ZERO; n + 1];
            row[i] = matrix.diagonal[i];
            if i > 0 {
                row[i - 1] = matrix.lower[i];
            }
            if i + 1 < n {
                row[i + 1] = matrix.upper[i];
            }
            row[n] = d[i];
            row
        })
        .collect();
    solve_dense(rows)
}

/// T⁻¹ is bounded by 1, so that a solution differs from the dense one by rounding of n-fold recurrences that contract: 1e-13.
#[test]
fn every_partition_agrees_with_dense_elimination() {
    let mut random = Random(7);
    for rows in [3, 4, 5, 8, 17, 64, 201] {
        for (dt, height) in [(0.05, 1.0), (2.5, 10.0), (1e3, 1.0), (1e-3, 1e6), (1.0, 0.0)] {
            let matrix = crank_nicolson(rows, dt, height, &mut random);
            let d: Vec<_> = (0..rows).map(|_| random.complex()).collect();
            let expected = dense(&matrix, &d);
            let mut x = d.clone();
            Thomas::new(&matrix).solve(&mut x);
            assert!(
                distance(&x, &expected) < 1e-12,
                "thomas {rows} {dt} {height}: {}",
                distance(&x, &expected)
            );
            for blocks in [2, 3, rows / 3, rows / 2]
                .into_iter()
                .filter(|blocks| (2..rows).contains(blocks))
            {
                for levels in 0..4 {
                    let mut x = d.clone();
                    Partition::new(&matrix, blocks, levels).solve(&mut x);
                    let miss = distance(&x, &expected);
                    assert!(
                        miss < 1e-12,
                        "{rows} rows, {blocks} blocks, {levels} levels, Δt {dt}, E {height}: {miss:.1e}"
                    );
                }
            }
        }
    }
}

/// A million rows, four levels: the equations are met to rounding.
#[test]
fn a_long_system_meets_its_equations() {
    let mut random = Random(11);
    let matrix = crank_nicolson(1_000_000, 0.7, 3.0, &mut random);
    let d: Vec<_> = (0..matrix.rows()).map(|_| random.complex()).collect();
    for levels in 1..=4 {
        let mut x = d.clone();
        Factorised::new(&matrix, levels).solve(&mut x);
        // Tens of operations of 1e-16 a row, errors of neighbours contract.
        let miss = backward_error(&matrix, &x, &d);
        assert!(miss < 1e-13, "{levels} levels: {miss:.1e}");
    }
}

fn hamiltonian<T: Real>(sites: usize, edges: &str, extra: &str) -> Hamiltonian<T> {
    let text = format!(
        "format = 1\n[grid]\nsize = [{sites}]\nspacing = 1.0\nedges = \"{edges}\"\nabsorb_width = 4\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.3\n\
         [solver]\nmethod = \"crank-nicolson\"\n[[packet]]\ncenter = [1.0]\nwidth = [2.0]\nmomentum = [0.5]\n\
         [[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"sin(3.7*x) + 0.5*cos(x*x)\"\n{extra}"
    );
    let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{}", faults.render(false)));
    Hamiltonian::new(&scenario, scenario.model().quantum().unwrap())
}

fn start<T: Real>(propagator: &mut dyn Propagator<T>, sites: usize) {
    let mut random = Random(3);
    let psi: Vec<Complex<T>> = (0..sites)
        .map(|_| Complex::new(T::of(random.next()), T::of(random.next())))
        .collect();
    propagator.change(&|site, value| *value = psi[site]);
}

fn field<T: Real>(propagator: &dyn Propagator<T>, sites: usize) -> Vec<Complex64> {
    let mut all = vec![Complex::<T>::default(); sites];
    propagator.read(0, &mut all);
    all.iter().copied().map(wide).collect()
}

/// 12 steps by both solvers, forwards; bits must not depend on batches.
fn compare<T: Vectors>(
    sites: usize,
    edges: &str,
    extra: &str,
    blocks: Option<usize>,
    levels: usize,
    dt: f64,
    allowed: f64,
) {
    let mut serial = EndToEnd::new(hamiltonian::<T>(sites, edges, extra));
    serial.set_step(dt);
    start(&mut serial, sites);
    serial.advance(&RunClock::new(dt), 12);
    let expected = field(&serial, sites);
    for level in Level::available() {
        let what = format!("{sites} sites, {edges}, {blocks:?} blocks, {levels} levels, Δt {dt}, {level:?}, {extra}");
        let line = hamiltonian::<T>(sites, edges, extra);
        let blocks = blocks.unwrap_or_else(|| best_blocks(&line, level));
        let mut lanes = Partitioned::new(line, blocks, levels, level);
        lanes.set_step(dt);
        start(&mut lanes, sites);
        assert_eq!(
            field(&lanes, sites),
            {
                let mut fresh = EndToEnd::new(hamiltonian::<T>(sites, edges, extra));
                start(&mut fresh, sites);
                field(&fresh, sites)
            },
            "{what}"
        );
        lanes.advance(&RunClock::new(dt), 12);
        let miss = distance(&field(&lanes, sites), &expected);
        assert!(miss < allowed, "{what}: {miss:.1e}");
    }
}

const WALL: &str = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [20.0]\nradius = 1.2\n";

/// Both solve T x = ψ to rounding, and the step is unitary: 12 steps differ by tens of ε.
#[test]
fn vectors_of_blocks_agree_with_the_serial_line() {
    for sites in [3, 4, 9, 31, 71, 200, 1001] {
        for edges in ["wall", "periodic", "absorb"] {
            // A ring has an even number of sites.
            let sites = if edges == "periodic" { sites + sites % 2 } else { sites };
            for extra in ["", WALL] {
                if sites < 31 && (extra == WALL || edges == "absorb") {
                    continue;
                }
                for (blocks, levels) in [(None, 1), (Some(2), 1), (Some(5), 2), (Some(sites / 2), 4)] {
                    for dt in [0.3, -0.3, 50.0] {
                        compare::<f64>(sites, edges, extra, blocks, levels, dt, 1e-12);
                        compare::<f32>(sites, edges, extra, blocks, levels, dt, 1e-4);
                    }
                }
            }
        }
    }
}

/// No potential, 10⁶ everywhere and at random, and steps far beyond what is sensible. A step errs by some ε‖T‖γ, ‖T⁻¹‖ ≤ 1, ‖T‖ ≤ 1 + Δt/2·(4J + E); no pivot is below 1,
/// so elimination makes numbers of at most ‖T‖ + (JΔt/2)² = γ‖T‖.
#[test]
fn pathological_lines_are_solved_alike() {
    let layer = |value: &str| format!("[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"{value}\"\n");
    for (value, height) in [("0", 0.0), ("1e6", 1e6), ("1e6*(2*random(x) - 1)", 1e6), ("-2", 2.0)] {
        for dt in [1e-3, 1.0, 1e4] {
            let half: f64 = dt / 2.0;
            let allowed = 192.0 * f64::EPSILON * (1.0 + half * (4.0 + height) + half * half);
            // Beyond this rounding is as large as ψ.
            if allowed > 1e-3 {
                continue;
            }
            for (edges, sites) in [("wall", 71), ("periodic", 70)] {
                for (blocks, levels) in [(None, 1), (Some(5), 2), (Some(35), 4)] {
                    compare::<f64>(sites, edges, &layer(value), blocks, levels, dt, allowed);
                    let single = allowed / f64::EPSILON * f64::from(f32::EPSILON);
                    if single < 0.05 {
                        compare::<f32>(sites, edges, &layer(value), blocks, levels, dt, single);
                    }
                }
            }
        }
    }
}

/// Whatever the step and the potential, ψ stays finite and keeps its norm: every pivot has a real part of at least 1. Per step ‖ψ‖ errs by rounding of ψ alone
/// where 2T⁻¹ψ is small, and by ε‖T‖‖T⁻¹‖ at worst, which the sum of 12 steps stays a hundred times below here.
#[test]
fn giant_steps_stay_finite() {
    let extra = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"1e6*(2*random(x) - 1)\"\n";
    for dt in [1e3, 1e6, -1e6] {
        let mut line = Partitioned::new(hamiltonian::<f64>(1001, "wall", extra), 40, 2, Level::best());
        line.set_step(dt);
        start(&mut line, 1001);
        let norm = |line: &Partitioned<f64>| field(line, 1001).iter().map(Complex64::norm_sqr).sum::<f64>();
        let before = norm(&line);
        line.advance(&RunClock::new(dt), 12);
        assert!(
            (norm(&line) / before - 1.0).abs() < 1e-6,
            "{dt}: {}",
            norm(&line) / before
        );
    }
}

/// As long as a real line, in every number of levels.
#[test]
fn a_long_line_agrees_with_the_serial_one() {
    for levels in 1..=4 {
        compare::<f64>(100_003, "wall", "", None, levels, 0.3, 1e-12);
    }
    compare::<f32>(100_003, "wall", "", Some(777), 3, 0.3, 1e-4);
    compare::<f64>(1_000_000, "periodic", "", None, 3, 0.3, 1e-12);
}

/// Sums in lanes are those of the sites: 32 additions in the field's precision, then double.
fn densities<T: Vectors>(sites: usize, blocks: usize, level: Level) {
    let mut line = Partitioned::new(hamiltonian::<T>(sites, "wall", ""), blocks, 1, level);
    line.set_step(0.3);
    start(&mut line, sites);
    line.advance(&RunClock::new(0.3), 3);
    let mut own = vec![Complex::default(); sites];
    line.read(0, &mut own);
    for range in [
        0..sites,
        0..sites / 2,
        sites / 3..sites - 1,
        sites - 7..sites,
        sites / 2..sites / 2,
    ] {
        let expected: f64 = own[range.clone()].iter().map(|psi| wide(*psi).norm_sqr()).sum();
        let mut part = vec![Complex::default(); range.len()];
        line.read(range.start, &mut part);
        assert_eq!(part, own[range.clone()]);
        if let Some(sum) = line.density(range.clone()) {
            let miss = (sum - expected).abs();
            let allowed = 64.0 * T::epsilon().wide() * expected;
            assert!(
                miss <= allowed,
                "{sites} sites, {blocks} blocks, {level:?}, {range:?}: {miss:e}"
            );
        } else {
            // A range without a whole block is read site by site.
            assert!(
                range.len() < 2 * (sites / blocks + 2),
                "{sites} {blocks} {level:?} {range:?}"
            );
        }
    }
}

#[test]
fn densities_of_ranges_are_those_of_their_sites() {
    for level in Level::available() {
        for (sites, blocks) in [(50, 4), (778, 16), (3001, 40), (3001, 200)] {
            densities::<f32>(sites, blocks, level);
            densities::<f64>(sites, blocks, level);
        }
    }
}

/// Norm over 10⁵ steps in double precision: 10⁵ · tens of 1e-16, falling at random.
#[test]
fn the_norm_stays() {
    let sites = 258;
    for edges in ["wall", "periodic"] {
        let line = hamiltonian::<f64>(sites, edges, "");
        let blocks = best_blocks(&line, Level::best());
        let mut line = Partitioned::new(line, blocks, 1, Level::best());
        line.set_step(0.3);
        start(&mut line, sites);
        let norm = |line: &Partitioned<f64>| field(line, sites).iter().map(Complex64::norm_sqr).sum::<f64>();
        let before = norm(&line);
        line.advance(&RunClock::new(0.3), 100_000);
        assert!(
            (norm(&line) / before - 1.0).abs() < 1e-11,
            "{edges}: {:.1e}",
            norm(&line) / before - 1.0
        );
    }
}

/// A step by elimination with pivots: banded (a ring is a line and its last site), and dense for few rows, which must agree.
fn pivoted<T: Real>(hamiltonian: &Hamiltonian<T>, dt: f64, psi: &[Complex64]) -> Vec<Complex64> {
    let (step, n, closed) = (hamiltonian.step(dt), psi.len(), hamiltonian.closes());
    let (off, rows) = (step.off, n - usize::from(closed));
    let diagonal: Vec<_> = (0..n).map(|i| hamiltonian.row(&step, i, &[]).unwrap()).collect();
    let beside = vec![off; rows - 1];
    let line = |d: Vec<Complex64>| solve_tridiagonal(&beside, &diagonal[..rows], &beside, d);
    let mut x = line(psi[..rows].to_vec());
    if closed {
        let mut ends = vec![Complex64::ZERO; rows];
        (ends[0], ends[rows - 1]) = (-off, -off);
        let z = line(ends);
        let last = (psi[rows] - off * (x[0] + x[rows - 1])) / (diagonal[rows] + off * (z[0] + z[rows - 1]));
        x.iter_mut().zip(&z).for_each(|(x, z)| *x += last * z);
        x.push(last);
    }
    if n <= 201 {
        let matrix = (0..n).map(|i| {
            let mut row = vec![Complex64::ZERO; n + 1];
            (row[i], row[n]) = (diagonal[i], psi[i]);
            for j in [(i + 1) % n, (i + n - 1) % n] {
                if closed || i.abs_diff(j) == 1 {
                    row[j] = off;
                }
            }
            row
        });
        let dense = solve_dense(matrix.collect());
        assert!(distance(&x, &dense) < 1e-13, "{n}: {:.1e}", distance(&x, &dense));
        x = dense;
    }
    x.iter().zip(psi).map(|(x, psi)| 2.0 * x - psi).collect()
}

/// One step errs by some ε‖T‖γ as in `pathological_lines_are_solved_alike`, a twelfth of its 192 twice over.
fn against_pivots<T: Vectors>(sites: usize, edges: &str, blocks: usize, levels: usize) {
    let (dt, height) = (0.7, 3.0);
    let extra = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"3*(2*random(x) - 1)\"\n";
    let allowed = 32.0 * T::epsilon().wide() * (1.0 + dt / 2.0 * (4.0 + height) + dt * dt / 4.0);
    let h = || hamiltonian::<T>(sites, edges, extra);
    let partitioned = Partitioned::new(h(), blocks, levels, Level::best());
    let lines: [Box<dyn Propagator<T>>; 2] = [Box::new(partitioned), Box::new(EndToEnd::new(h()))];
    for mut line in lines {
        line.set_step(dt);
        start(line.as_mut(), sites);
        let expected = pivoted(&h(), dt, &field(line.as_ref(), sites));
        line.advance(&RunClock::new(dt), 1);
        let miss = distance(&field(line.as_ref(), sites), &expected);
        assert!(
            miss < allowed,
            "{} {sites} {edges}, {blocks} blocks, {levels} levels: {miss:.1e}",
            line.variant()
        );
    }
}

#[test]
fn random_lines_agree_with_dense_and_banded_elimination() {
    for sites in [3usize, 4, 5, 16, 33, 200, 3001, 1_000_000] {
        let few = [2, sites.isqrt(), sites / 3, sites / 2].map(|blocks| blocks.max(2));
        let plans: Vec<_> = if sites < 10_000 {
            few.iter().flat_map(|b| (1..=4).map(move |l| (*b, l))).collect()
        } else {
            few.into_iter().zip(1..).collect()
        };
        for (blocks, levels) in plans {
            for (edges, sites) in [("wall", sites), ("periodic", sites + sites % 2)] {
                against_pivots::<f64>(sites, edges, blocks, levels);
                against_pivots::<f32>(sites, edges, blocks, levels);
            }
        }
    }
}

#[test]
fn driven_lines_are_factorised_anew_in_blocks_and_on_rings() {
    let extra = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.4*sin(x)\"\nmode = \"add\"\ndrive = \"cos(3*t)\"\n";
    for (edges, sites) in [("wall", 71), ("periodic", 70), ("absorb", 71), ("wall", 2001)] {
        for (blocks, levels) in [(None, 1), (Some(5), 2), (Some(35), 4)] {
            for walls in ["", WALL] {
                let extra = format!("{extra}{walls}");
                compare::<f64>(sites, edges, &extra, blocks, levels, 0.3, 1e-12);
                compare::<f32>(sites, edges, &extra, blocks, levels, -0.3, 1e-4);
            }
        }
    }
}

/// The sweep downwards that a pass takes ahead is of the field as it then is: short lines keep what it leaves, long ones make it anew.
#[test]
fn driven_lines_step_alike_together_and_one_by_one() {
    fn check<T: Vectors>(sites: usize, allowed: f64) {
        let extra = "[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"0.4*sin(x)\"\nmode = \"add\"\ndrive = \"cos(3*t)\"\n";
        let dt = 0.3;
        let fresh = |mut line: Box<dyn Propagator<T>>| {
            line.set_step(dt);
            start(&mut *line, sites);
            line
        };
        let run = |mut line: Box<dyn Propagator<T>>, together: u64| {
            let clock = RunClock::new(dt);
            for steps in (0..8).step_by(usize::try_from(together).unwrap()) {
                line.advance(&clock.after(steps), together);
                if steps + together == 4 {
                    line.change(&|site, psi| *psi = psi.conj() * T::of(if site % 2 == 0 { 1.0 } else { 0.5 }));
                }
            }
            field(&*line, sites)
        };
        let expected = run(
            fresh(Box::new(EndToEnd::new(hamiltonian::<T>(sites, "wall", extra)))),
            4,
        );
        for level in Level::available() {
            let line = || {
                let line = hamiltonian::<T>(sites, "wall", extra);
                let blocks = best_blocks(&line, level);
                fresh(Box::new(Partitioned::new(line, blocks, 1, level)))
            };
            let all = run(line(), 4);
            let miss = distance(&all, &expected);
            assert!(miss < allowed, "{sites} sites, {level:?}: {miss:.1e}");
            assert!(all == run(line(), 1), "{sites} sites, {level:?}: other bits one by one");
        }
    }
    for sites in [2001, 60_001] {
        check::<f64>(sites, 1e-12);
        check::<f32>(2 * sites, 1e-4);
    }
}
