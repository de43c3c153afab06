//! Imaginary time with an interaction ends in the ground state of Gross and Pitaevskii's equation: held against Newton's method on the same lattice.

use crate::common::{self, Case, cases};
use num_complex::Complex64;
use ripplon::engine::{Engine, eigen};
use ripplon::field::Precision;
use ripplon::physics::reference::Lattice;
use ripplon::physics::reference::elimination::solve_dense;
use ripplon::scene::Scenario;
use ripplon::solver::Taps;
use std::ops::ControlFlow;
use std::sync::Arc;

/// g in one to three dimensions: the interaction is several times the kinetic energy.
const INTERACTION: [f64; 3] = [20.0, 100.0, 100.0];
const SIZES: [&[usize]; 3] = [&[24], &[20, 18], &[8, 7, 8]];
const SPACING: [f64; 3] = [0.5, 0.6, 1.0];

/// A harmonic trap around the middle; `step` = 0 leaves Δt to the method.
fn scene(case: &Case, step: f64) -> Scenario {
    let (size, a) = (SIZES[case.rank - 1], SPACING[case.rank - 1]);
    let middle: Vec<f64> = size.iter().map(|n| (*n as f64 - 1.0) * a / 2.0).collect();
    let trap: Vec<String> = (["x", "y", "z"].iter().zip(&middle))
        .map(|(axis, middle)| format!("0.5*({axis} - {middle})^2"))
        .collect();
    let step = if step > 0.0 {
        format!("step = {step:?}\n")
    } else {
        String::new()
    };
    common::read(&format!(
        "format = 1\n[grid]\nsize = {size:?}\nspacing = {a:?}\nedges = \"wall\"\n[quantum]\nhopping = {:?}\ninteraction = {:?}\n\
         [time]\n{step}end = 12.0\nimaginary = true\n[solver]\nmethod = {:?}\nbackend = \"cpu\"\nvariant = {:?}\nprecision = {:?}\n\
         [[packet]]\ncenter = {middle:?}\nwidth = {:?}\n\
         [[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"{}\"\n",
        0.5 / (a * a),
        INTERACTION[case.rank - 1],
        case.method.id,
        case.variant,
        case.precision.as_str(),
        vec![1.5; case.rank],
        trap.join(" + "),
    ))
    .unwrap_or_else(|faults| panic!("{case}: {faults}"))
}

/// Hψ without interaction, per site.
fn linear(lattice: &Lattice, psi: &[f64]) -> Vec<f64> {
    let psi: Vec<Complex64> = psi.iter().map(|value| Complex64::from(*value)).collect();
    lattice.apply(&psi, 0.0).iter().map(|value| value.re).collect()
}

/// ⟨H⟩ + g/2 ∫ψ⁴ and μ = ⟨H⟩ + g ∫ψ⁴, from the bottom of the band.
fn energies(scenario: &Scenario, psi: &[f64]) -> [f64; 2] {
    let grid = scenario.grid();
    let quantum = common::quantum(scenario);
    let mut free = quantum;
    free.interaction = 0.0;
    let lattice = Lattice::new(grid, &free, scenario.medium(), 0.0);
    let h: f64 = linear(&lattice, psi).iter().zip(psi).map(|(h, psi)| h * psi).sum();
    let quartic: f64 = psi.iter().map(|psi| psi.powi(4)).sum();
    let norm: f64 = psi.iter().map(|psi| psi * psi).sum();
    let bottom = 2.0 * quantum.hopping * grid.rank() as f64;
    let density = 1.0 / (norm * grid.cell_volume());
    [0.5, 1.0].map(|share| h / norm + bottom + share * quantum.interaction * quartic * density / norm)
}

/// The positive solution of Hψ + gψ³ = μψ, ∫ψ² = 1, by Newton's method from a state near it.
fn newton(scenario: &Scenario, start: &[f64]) -> Vec<f64> {
    let grid = scenario.grid();
    let quantum = common::quantum(scenario);
    let mut free = quantum;
    free.interaction = 0.0;
    let lattice = Lattice::new(grid, &free, scenario.medium(), 0.0);
    let (n, g, cell) = (start.len(), quantum.interaction, grid.cell_volume());
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|site| {
            let mut unit = vec![0.0; n];
            unit[site] = 1.0;
            linear(&lattice, &unit)
        })
        .collect();
    let mut psi = start.to_vec();
    let bottom = 2.0 * quantum.hopping * grid.rank() as f64;
    let mut mu = energies(scenario, &psi)[1] - bottom;
    for _ in 0..5 {
        let h = linear(&lattice, &psi);
        let mut rows: Vec<Vec<Complex64>> = (0..n)
            .map(|i| {
                let mut row: Vec<Complex64> = columns.iter().map(|column| Complex64::from(column[i])).collect();
                row[i] += 3.0 * g * psi[i] * psi[i] - mu;
                row.push(Complex64::from(-psi[i]));
                row.push(Complex64::from(mu * psi[i] - h[i] - g * psi[i].powi(3)));
                row
            })
            .collect();
        let mut last: Vec<Complex64> = psi.iter().map(|psi| Complex64::from(2.0 * cell * psi)).collect();
        last.push(Complex64::ZERO);
        last.push(Complex64::from(
            1.0 - cell * psi.iter().map(|psi| psi * psi).sum::<f64>(),
        ));
        rows.push(last);
        let change = solve_dense(rows);
        for (psi, change) in psi.iter_mut().zip(&change) {
            *psi += change.re;
        }
        mu += change[n].re;
    }
    let h = linear(&lattice, &psi);
    let miss = (0..n)
        .map(|i| (h[i] + g * psi[i].powi(3) - mu * psi[i]).abs())
        .fold(0.0, f64::max);
    assert!(miss < 1e-11, "Newton's method is off by {miss:.1e}");
    // Of the solutions the one without a node is the ground state.
    assert!(psi.iter().all(|psi| *psi > 0.0));
    psi
}

/// What a run ends with.
fn relaxed(scenario: &Scenario) -> Vec<f64> {
    let mut solver = common::build(scenario);
    let steps = (12.0 / solver.clock().time_step).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
    solver.advance(steps as u64, &mut Taps::default()).unwrap();
    let psi = solver.field().unwrap().to_complex128();
    let sign = psi[psi.len() / 2].re.signum();
    psi.iter().map(|psi| sign * psi.re).collect()
}

/// Relative errors of E and μ.
fn errors(scenario: &Scenario, exact: [f64; 2]) -> [f64; 2] {
    let found = energies(scenario, &relaxed(scenario));
    [0, 1].map(|n| found[n] / exact[n] - 1.0)
}

fn exact(case: &Case) -> [f64; 2] {
    let mut double = *case;
    double.precision = Precision::Double;
    let scenario = scene(&double, 0.0);
    energies(&scenario, &newton(&scenario, &relaxed(&scenario)))
}

/// E and μ at the methods' own Δt, every method, variant, precision and rank. μ is off by O(Δt²), E, which is least there, by O(Δt⁴); single precision adds 1e-6.
#[test]
fn the_mean_field_is_that_of_the_ground_state() {
    let mut wrong = Vec::new();
    let mut known: [Option<[f64; 2]>; 3] = [None; 3];
    for case in cases().into_iter().filter(|case| case.order == 2) {
        let exact = *known[case.rank - 1].get_or_insert_with(|| exact(&case));
        let [energy, mu] = errors(&scene(&case, 0.0), exact);
        if energy.abs() > 1e-4 || mu.abs() > 1e-4 {
            wrong.push(format!("{case}: E {energy:+.1e}, μ {mu:+.1e}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Half the step, a quarter of the error in μ.
#[test]
fn the_mean_field_is_of_second_order() {
    let double = |case: &Case| case.order == 2 && case.rank < 3 && case.precision == Precision::Double;
    for case in cases().into_iter().filter(double) {
        let exact = exact(&case);
        let [coarse, fine] = [0.04, 0.02].map(|step| errors(&scene(&case, step), exact)[1]);
        let ratio = coarse / fine;
        // The next order is (Δt ‖H‖)² = 1/10 of it.
        assert!(
            (3.4..4.6).contains(&ratio),
            "{case}: {coarse:+.2e}, {fine:+.2e}, ratio {ratio:.2}"
        );
    }
}

/// Two fermions that repel each other in a trap stay fermions while they relax. Rounding of the other symmetry would have grown by e^{0.26 · 200} = 10²² up to the end, which makes bosons of them in double precision, too.
/// The steps' own ground state is off by O(Δt²), its energy by O(Δt⁴).
#[test]
fn fermions_stay_fermions_in_imaginary_time() {
    for method in ["trotter", "crank-nicolson", "split-step-fourier"] {
        for precision in ["single", "double"] {
            let scene = |exchange: &str| {
                common::read(&format!(
                    "format = 1\n[grid]\nsize = [24, 24]\nspacing = 0.5\n[quantum]\nhopping = 1.0\nexchange = \"{exchange}\"\n[time]\nstep = 0.05\nend = 200.0\nimaginary = true\n\
                     [solver]\nmethod = \"{method}\"\nbackend = \"cpu\"\nprecision = \"{precision}\"\n[[packet]]\ncenter = [4.0, 7.0]\nwidth = 1.0\n\
                     [[layer]]\nsets = \"potential\"\nvalue = \"0.3*((x - 5.75)^2 + (y - 5.75)^2) + 1/(1 + (x - y)^2)\"\n"
                ))
                .unwrap()
            };
            let [bosons, fermions] = ["symmetric", "antisymmetric"].map(|exchange| {
                let found = eigen::levels(&scene(exchange), 1, &mut |_| ControlFlow::Continue(()));
                found.unwrap().list[0].energy
            });
            assert!(fermions - bosons > 0.2, "{bosons} {fermions}");
            let mut engine = Engine::new(Arc::new(scene("antisymmetric"))).unwrap();
            for steps in [3, 997, 3000] {
                engine.advance(steps).unwrap();
            }
            let seen = engine.observables().unwrap();
            let (energy, norm) = (seen.energy, seen.norm);
            // One rounding to single precision: what is restored is the norm of the start.
            assert!((norm - 1.0).abs() < 2e-7, "{method}, {precision}: norm {norm}");
            assert!(
                (energy - fermions).abs() < 2e-3,
                "{method}, {precision}: {energy} for {fermions}"
            );
            let psi = engine.field().unwrap().to_complex128();
            for n in 0..24 * 24 {
                let exchanged = psi[n / 24 + 24 * (n % 24)];
                assert!((psi[n] + exchanged).norm() < 1e-6, "{method}, {precision} at {n}");
            }
        }
    }
}
