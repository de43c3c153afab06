//! Steps of a plane against the same product of Cayley factors, line by line in double precision.

use super::partition::{Thomas, Tridiagonal};
use super::plane::Plane;
use super::propagator::Propagator;
use super::tile::WIDE;
use crate::backend::simd::{Level, Vectors};
use crate::field::wide;
use crate::physics::Sets;
use crate::physics::reference::distance;
use crate::scene::Scenario;
use crate::solver::clock::RunClock;
use crate::solver::read_scene_text;
use num_complex::{Complex, Complex64};

fn scene(size: [usize; 2], edges: &str, extra: &str) -> Scenario {
    let text = format!(
        "format = 1\n[grid]\nsize = [{}, {}]\nspacing = 1.0\nedges = \"{edges}\"\n[quantum]\nhopping = 1.0\n[time]\nstep = 0.3\n\
         [solver]\nmethod = \"crank-nicolson\"\n[[packet]]\ncenter = [1.0, 1.0]\nwidth = [2.0, 2.0]\nmomentum = [0.5, 0.0]\n\
         [[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"sin(3.7*x) + 0.5*cos(x*y)\"\n{extra}",
        size[0], size[1]
    );
    let (_, scenario) = read_scene_text(&text, None, &[]).unwrap_or_else(|faults| panic!("{}", faults.render(false)));
    scenario
}

/// ψ ← 2T⁻¹ψ − ψ on a line, T = 1 + iτ/2·H with H = `own` on the diagonal and −1 beside it; walls stand apart. A ring is cut at its last site, whose value joins the two ends.
fn cayley(psi: &mut [Complex64], walls: &[bool], own: f64, tau: f64, closed: bool) {
    let n = psi.len();
    let off = Complex64::new(0.0, -tau / 2.0);
    let bond = |a: usize, b: usize| if walls[a] || walls[b] { Complex64::ZERO } else { off };
    let diagonal = Complex64::new(1.0, tau / 2.0 * own);
    let rows = if closed { n - 1 } else { n };
    let mut matrix = Tridiagonal::zeros(rows);
    for i in 0..rows {
        matrix.diagonal[i] = diagonal;
        if i > 0 {
            matrix.lower[i] = bond(i - 1, i);
            matrix.upper[i - 1] = bond(i - 1, i);
        }
    }
    let thomas = Thomas::new(&matrix);
    let mut y = psi[..rows].to_vec();
    thomas.solve(&mut y);
    if closed {
        let (first, last) = (bond(n - 1, 0), bond(n - 2, n - 1));
        let mut z = vec![Complex64::ZERO; rows];
        z[0] -= first;
        z[rows - 1] -= last;
        thomas.solve(&mut z);
        let joint = (psi[n - 1] - first * y[0] - last * y[rows - 1]) / (diagonal + first * z[0] + last * z[rows - 1]);
        for (y, z) in y.iter_mut().zip(&z) {
            *y += joint * z;
        }
        y.push(joint);
    }
    for (psi, y) in psi.iter_mut().zip(&y) {
        *psi = 2.0 * y - *psi;
    }
}

fn expected(scenario: &Scenario, mut psi: Vec<Complex64>, dt: f64, steps: u32) -> Vec<Complex64> {
    let [nx, ny, _] = scenario.grid().size();
    let own = scenario.model().quantum().unwrap().diagonal / 2.0;
    let mut walls = vec![false; nx * ny];
    if scenario.medium().has(Sets::Wall) {
        for (j, row) in walls.chunks_mut(nx).enumerate() {
            scenario.medium().wall_row(j, 0, 0..nx, row);
        }
    }
    let mut potential = vec![0.0; nx * ny];
    for (j, row) in potential.chunks_mut(nx).enumerate() {
        scenario.medium().potential_row(None, j, 0, 0..nx, row);
    }
    let factor = |psi: &mut [Complex64], axis: usize, tau: f64| {
        let closed = scenario.grid().is_periodic(axis);
        let (lines, sites) = [(ny, nx), (nx, ny)][axis];
        let at = |line: usize, k: usize| if axis == 0 { line * nx + k } else { k * nx + line };
        for line in 0..lines {
            let mut own_psi: Vec<_> = (0..sites).map(|k| psi[at(line, k)]).collect();
            let own_walls: Vec<_> = (0..sites).map(|k| walls[at(line, k)]).collect();
            cayley(&mut own_psi, &own_walls, own, tau, closed);
            for (k, value) in own_psi.iter().enumerate() {
                psi[at(line, k)] = *value;
            }
        }
    };
    let kick = |psi: &mut [Complex64]| {
        for (psi, energy) in psi.iter_mut().zip(&potential) {
            *psi *= Complex64::from_polar(1.0, -energy * dt / 2.0);
        }
    };
    for (psi, wall) in psi.iter_mut().zip(&walls) {
        if *wall {
            *psi = Complex64::ZERO;
        }
    }
    for _ in 0..steps {
        kick(&mut psi);
        factor(&mut psi, 0, dt / 2.0);
        factor(&mut psi, 1, dt);
        factor(&mut psi, 0, dt / 2.0);
        kick(&mut psi);
    }
    psi
}

/// A number between −1 and 1 for each site, the same on every machine.
#[expect(clippy::cast_precision_loss, reason = "24 bits")]
fn random(site: usize) -> f64 {
    let bits = (site as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / 8_388_608.0 - 1.0
}

/// Three steps; every factor is unitary and solved to some ε.
fn compare<T: Vectors>(size: [usize; 2], edges: &str, extra: &str, dt: f64, allowed: f64) {
    const STEPS: u32 = 3;
    let scenario = scene(size, edges, extra);
    let quantum = scenario.model().quantum().unwrap();
    let sites = size[0] * size[1];
    let start: Vec<Complex<T>> = (0..sites)
        .map(|n| Complex::new(T::of(random(2 * n)), T::of(random(2 * n + 1))))
        .collect();
    let expected = expected(&scenario, start.iter().copied().map(wide).collect(), dt, STEPS);
    for level in Level::available() {
        for panel in [1, WIDE] {
            let mut plane = Plane::<T>::new(&scenario, quantum, level);
            plane.panel = panel * level.lanes::<T>();
            plane.set_step(dt);
            plane.change(&|site, psi| *psi = start[site]);
            plane.advance(&RunClock::new(dt), u64::from(STEPS));
            let mut found = vec![Complex::<T>::default(); sites];
            plane.read(0, &mut found);
            let found: Vec<_> = found.into_iter().map(wide).collect();
            let miss = distance(&found, &expected);
            assert!(
                miss < allowed,
                "{size:?}, {edges}, {level:?}, {panel} vectors, Δt {dt}, {extra}: {miss:.1e}"
            );
        }
    }
}

/// Whole squares and what is left of them, wide tiles, single vectors and parts of one, open lines and rings, with and without walls inside.
#[test]
fn planes_step_by_the_product_of_their_lines() {
    let wall = "[[layer]]\nsets = \"wall\"\nshape = \"disk\"\ncenter = [20.0, 3.0]\nradius = 2.2\n";
    for size in [[4, 4], [38, 22], [300, 6], [6, 70]] {
        for edges in ["wall", "periodic"] {
            for extra in ["", wall] {
                if extra == wall && size[0] < 30 {
                    continue;
                }
                for dt in [0.3, -0.3, 20.0] {
                    compare::<f64>(size, edges, extra, dt, 1e-12);
                    compare::<f32>(size, edges, extra, dt, 2e-5);
                }
            }
        }
    }
}
