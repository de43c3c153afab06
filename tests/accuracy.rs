//! Every row × variant × precision × order × rank of the table, on scenes with every feature, against two references that share no
//! code with the methods: the exact solution, and the method's own splitting written out site by site in double precision.

#![allow(clippy::unwrap_used, reason = "a test")]

mod common;

use common::{Case, Feature, cases, sound};
use num_complex::Complex64;
use ripplon::field::Precision;
use ripplon::physics::reference::elimination::solve_dense;
use ripplon::physics::reference::free::{self, Dispersion};
use ripplon::physics::reference::trotter::SUZUKI;
use ripplon::physics::reference::{Lattice, TrotterSplitting, distance};
use ripplon::scene::Scenario;
use ripplon::solver::EXACT;

const STEP: f64 = 0.05;
const STEPS: u32 = 20;

/// The splitting that the method declares, by plain code.
fn splitting(case: &Case, scenario: &Scenario) -> Vec<Complex64> {
    let lattice = common::lattice(scenario);
    let mut psi = common::start(scenario);
    match case.method.id {
        "trotter" => TrotterSplitting::new(lattice, case.order, false).advance(&mut psi, 0.0, STEP, STEPS),
        "split-step-fourier" => {
            let weights: &[f64] = if case.order == 4 {
                &[SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI]
            } else {
                &[1.0]
            };
            let mut time = 0.0;
            // With a backward substep the absorption stands outside.
            let absorbs = weights.len() == 1;
            let absorb = |psi: &mut [Complex64]| {
                for (value, w) in psi.iter_mut().zip(lattice.absorption()).filter(|_| !absorbs) {
                    *value *= (-w * STEP / 2.0).exp();
                }
            };
            for _ in 0..STEPS {
                absorb(&mut psi);
                for weight in weights {
                    let dt = weight * STEP;
                    kick(&lattice, &mut psi, time + dt / 2.0, dt / 2.0, absorbs);
                    let dispersion = Dispersion::lattice(&common::quantum(scenario), scenario.grid().rank());
                    psi = free::evolve(scenario.grid(), &psi, &dispersion, dt);
                    kick(&lattice, &mut psi, time + dt / 2.0, dt / 2.0, absorbs);
                    time += dt;
                }
                absorb(&mut psi);
            }
        }
        "crank-nicolson" => crank_nicolson(scenario, &lattice, &mut psi),
        "chebyshev" => psi = lattice.propagate(&psi, STEP * f64::from(STEPS)),
        other => panic!("the row `{other}` of the table has no accuracy case: write its splitting out here"),
    }
    psi
}

/// The median of some energies of a lattice where no wall stands.
fn median(lattice: &Lattice, energies: &[f64]) -> f64 {
    let open = energies.iter().zip(lattice.walls()).filter(|(_, wall)| !**wall);
    let mut all: Vec<f64> = open.map(|(energy, _)| *energy).collect();
    all.sort_by(f64::total_cmp);
    f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2])
}

/// The Cayley factors of the axes, each system solved by dense elimination; in 1D the energies are in the matrix, relative to medians, of which the phase is exact, in 2D in half
/// kicks (the scenes set a hopping, which puts nothing else on the diagonal).
fn crank_nicolson(scenario: &Scenario, lattice: &Lattice, psi: &mut [Complex64]) {
    let [nx, ny, _] = scenario.grid().size();
    let line = |axis: usize, n: usize| -> Vec<usize> {
        if axis == 0 {
            (0..nx).map(|i| n * nx + i).collect()
        } else {
            (0..ny).map(|j| j * nx + n).collect()
        }
    };
    // The drive is cos 3t: at π/6 there is the static part alone, and all of the driven one at 0.
    let drive = |time: f64| (3.0 * time).cos();
    let still = lattice.diagonal(std::f64::consts::FRAC_PI_6);
    let driven: Vec<f64> = (lattice.diagonal(0.0).iter().zip(&still))
        .map(|(all, still)| all - still)
        .collect();
    for step in 0..STEPS {
        let middle = (f64::from(step) + 0.5) * STEP;
        if ny == 1 {
            let reference = median(lattice, &still) + drive(middle) * median(lattice, &driven);
            let kick_only_interaction = |psi: &mut [Complex64]| {
                for value in psi.iter_mut() {
                    *value *= Complex64::cis(-lattice.quantum().interaction * value.norm_sqr() * STEP / 2.0);
                }
            };
            kick_only_interaction(psi);
            let diagonal: Vec<Complex64> = (lattice.diagonal(middle).iter().zip(lattice.absorption()))
                .map(|(e, w)| Complex64::new(*e - reference, -w))
                .collect();
            cayley(scenario, lattice, 0, &line(0, 0), &diagonal, STEP, psi);
            for value in psi.iter_mut() {
                *value *= Complex64::cis(-reference * STEP);
            }
            kick_only_interaction(psi);
        } else {
            kick(lattice, psi, middle, STEP / 2.0, true);
            for (axis, dt) in [(0, STEP / 2.0), (1, STEP), (0, STEP / 2.0)] {
                for n in 0..[ny, nx][axis] {
                    let sites = line(axis, n);
                    let diagonal = vec![Complex64::ZERO; sites.len()];
                    cayley(scenario, lattice, axis, &sites, &diagonal, dt, psi);
                }
            }
            kick(lattice, psi, middle, STEP / 2.0, true);
        }
    }
}

/// (1 + iH dt/2)⁻¹(1 − iH dt/2) of a line, H with this diagonal and −J between neighbours that are no walls.
fn cayley(
    scenario: &Scenario,
    lattice: &Lattice,
    axis: usize,
    sites: &[usize],
    diagonal: &[Complex64],
    dt: f64,
    psi: &mut [Complex64],
) {
    let n = sites.len();
    let mut h = vec![vec![Complex64::ZERO; n]; n];
    for a in 0..n {
        h[a][a] = diagonal[a];
        let b = (a + 1) % n;
        let bonded = b > a || scenario.grid().is_periodic(axis);
        if bonded && !lattice.walls()[sites[a]] && !lattice.walls()[sites[b]] {
            h[a][b] -= lattice.quantum().hopping;
            h[b][a] -= lattice.quantum().hopping;
        }
    }
    let half = Complex64::new(0.0, dt / 2.0);
    let rows = (0..n)
        .map(|a| {
            let mut row: Vec<_> = h[a].iter().map(|value| half * value).collect();
            row[a] += 1.0;
            let right: Complex64 = (0..n).map(|b| h[a][b] * psi[sites[b]]).sum();
            row.push(psi[sites[a]] - half * right);
            row
        })
        .collect();
    for (site, value) in sites.iter().zip(solve_dense(rows)) {
        psi[*site] = value;
    }
}

/// exp(−i(U + g|ψ|² − iW)τ); with both W and g, |ψ|² is the mean of before and after. W only if it `absorbs`.
fn kick(lattice: &Lattice, psi: &mut [Complex64], time: f64, tau: f64, absorbs: bool) {
    let g = lattice.quantum().interaction;
    for ((value, e), w) in psi.iter_mut().zip(lattice.diagonal(time)).zip(lattice.absorption()) {
        let decay = if absorbs { (-w * tau.abs()).exp() } else { 1.0 };
        let density = value.norm_sqr() * f64::midpoint(1.0, decay * decay);
        *value *= Complex64::from_polar(decay, -(e + g * density) * tau);
    }
}

/// Rounding of a run. Double: 1e-12 for some thousand operations of 1e-16 each. Single: each of the sweeps, phases and Fourier stages of a substep rounds at
/// 6e-8 a few times, independently: 3e-7 · √(number of them). Fewer than 12 a substep and axis, and 5 substeps at order 4.
fn rounding(case: &Case) -> f64 {
    match case.precision {
        Precision::Double => 1e-12,
        Precision::Single => {
            let substeps = if case.order == 4 { 5.0 } else { 1.0 };
            3e-7 * (f64::from(STEPS) * substeps * 12.0 * axes(case)).sqrt()
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "1 to 3")]
fn axes(case: &Case) -> f64 {
    case.rank as f64
}

/// Splitting error at most: both the step and the exponential agree with the Taylor series up to Δtᵖ, and what either has beyond is at
/// most (sΔt)^(p+1)/(p+1)! · e^{sΔt} a step, where s sums the norms of all parts and substeps (2J an axis, max|E| + max W + g max|ψ|²). Order 4 is of
/// order 2 where something absorbs.
fn splitting_bound(case: &Case, scenario: &Scenario) -> f64 {
    if case.order == EXACT {
        return 0.0;
    }
    let lattice = common::lattice(scenario);
    let potential = lattice
        .diagonal(0.0)
        .into_iter()
        .fold(0.0, |most: f64, e| most.max(e.abs()));
    let density = common::start(scenario)
        .iter()
        .map(Complex64::norm_sqr)
        .fold(0.0, f64::max);
    let interaction = lattice.quantum().interaction * density;
    let absorption = lattice.absorption().iter().fold(0.0, |most: f64, w| most.max(*w));
    let parts = 2.0 * axes(case) + potential + absorption + 4.0 * interaction;
    let substeps = if case.order == 4 { 8.0 * SUZUKI - 1.0 } else { 1.0 };
    let s = parts * substeps * STEP;
    let order = if absorption > 0.0 {
        case.order.min(2)
    } else {
        case.order
    };
    let factorial: f64 = (1..=order + 1).map(f64::from).product();
    2.0 * f64::from(STEPS) * s.powf(f64::from(order + 1)) / factorial * s.exp()
}

#[test]
fn every_row_agrees_with_its_own_splitting_and_with_the_exact_solution() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for case in cases() {
        for feature in Feature::ALL {
            if feature.refused(&case) {
                continue;
            }
            let scenario = common::scenario(&case, feature, STEP, "");
            let psi = common::run(&scenario, u64::from(STEPS));
            checked += 1;
            let parity = distance(&psi, &splitting(&case, &scenario));
            if parity.is_nan() || parity > rounding(&case) {
                wrong.push(format!(
                    "{case} {feature:?}: {parity:.2e} from its splitting, allowed {:.2e}",
                    rounding(&case)
                ));
            }
            let error = distance(&psi, &common::exact(&scenario, feature, STEP * f64::from(STEPS)));
            let allowed = splitting_bound(&case, &scenario) + rounding(&case);
            if error.is_nan() || error > allowed {
                wrong.push(format!(
                    "{case} {feature:?}: {error:.2e} from the exact solution, allowed {allowed:.2e}"
                ));
            }
        }
    }
    assert!(checked >= 100, "the table shrank to {checked} cases");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_a_method_cannot_do_is_refused_with_a_remedy() {
    for case in cases().iter().filter(|case| case.precision == Precision::Double) {
        for feature in Feature::ALL {
            let refusal = common::read(&common::scene(case, feature, STEP, "")).err();
            assert_eq!(
                refusal.is_some(),
                feature.refused(case),
                "{case} {feature:?}: {refusal:?}"
            );
        }
    }
}

/// Blocks much smaller than the grid, and steps fused across them: the same numbers as one pass a sweep.
#[test]
fn blocks_of_any_size_agree_with_the_splitting() {
    for case in cases() {
        let blocks = case
            .method
            .parameters
            .iter()
            .any(|p| p.key == "block" && p.variants.contains(&case.variant));
        if !blocks {
            continue;
        }
        for (block, fused) in [(16, 1), (16, 3), (24, 2)] {
            for feature in Feature::ALL.into_iter().filter(|feature| !feature.refused(&case)) {
                let text = common::scene(&case, feature, STEP, "");
                let sizes = vec![block; case.rank];
                let text = text.replace(
                    "[[packet]]",
                    &format!("block = {sizes:?}\nfused_steps = {fused}\n[[packet]]"),
                );
                let scenario = common::read(&text).unwrap_or_else(|faults| panic!("{case} {feature:?}: {faults}"));
                let parity = distance(&common::run(&scenario, u64::from(STEPS)), &splitting(&case, &scenario));
                assert!(
                    parity <= rounding(&case),
                    "{case} {feature:?} block {block} fused {fused}: {parity:.2e}"
                );
            }
        }
    }
}

/// Imaginary time ends in the ground state: off by O(Δt²) in the state and O(Δt⁴) in the energy, which is least there.
#[test]
fn imaginary_time_finds_the_ground_state() {
    for case in cases().into_iter().filter(|case| case.order == 2) {
        let size: &[usize] = [&[15][..], &[9, 7], &[6, 5, 4]][case.rank - 1];
        let text = common::scene_on(size, &case, Feature::Plain, 0.05, "");
        let text = text.replace("end = 2.0", "end = 2.0\nimaginary = true");
        let scenario = common::read(&text).unwrap_or_else(|faults| panic!("{case}: {faults}"));
        let mut solver = common::build(&scenario);
        solver.advance(4000, &mut ripplon::solver::Taps::default()).unwrap();
        let found = solver.observables().unwrap();
        let (energy, _) = common::lattice(&scenario).ground_state();
        // The state is mixed with others by at most (‖T‖ + ‖U‖)²Δt²/12 < 1 %, so its energy is up to 1e-4 · ‖H‖ above; single precision adds 1e-6.
        assert!(
            found.energy > energy - 2e-6 && found.energy < energy + 1e-3,
            "{case}: {} instead of {energy}",
            found.energy
        );
        assert!((found.norm - 1.0).abs() < 1e-5, "{case}: the norm is {}", found.norm);
    }
}

/// With a mass, split-step Fourier has the continuum: a free Gaussian on a ring, to the packet's tails.
#[test]
fn split_step_fourier_with_a_mass_is_the_continuum() {
    let text = "format = 1\n[grid]\nsize = [256]\nspacing = 0.25\nedges = \"periodic\"\n[quantum]\nmass = 1.3\n[time]\nstep = 0.5\n\
                [solver]\nmethod = \"split-step-fourier\"\nprecision = \"double\"\n\
                [[packet]]\ncenter = [20.0]\nwidth = [2.0]\nmomentum = [1.7]\n";
    let scenario = common::read(text).unwrap();
    let psi = common::run(&scenario, 16);
    let exact: Vec<Complex64> = (0..256)
        .map(|n| ripplon::physics::reference::continuum::gaussian(f64::from(n) * 0.25, 8.0, 20.0, 2.0, 1.7, 1.3))
        .collect();
    // Where the ring closes the packet is below e^{−(20/4)²} = 1e-11, and so is its spectrum at π/a.
    assert!(distance(&psi, &exact) < 1e-9, "{}", distance(&psi, &exact));
}

/// The scheme that an acoustic row declares, by plain code on the lattice of masses and springs.
fn sound_scheme(case: &Case, scenario: &Scenario, step: f64) -> Vec<f64> {
    let lattice = sound::lattice(scenario);
    let mut p = sound::noise(scenario);
    let rest = vec![0.0; p.len()];
    match case.method.id {
        "oscillators" => {
            let mut rate = rest;
            lattice.advance_pairs(&mut p, &mut rate, case.order, step, STEPS);
        }
        "fdtd" => {
            let rates = damping(scenario);
            let pull = lattice.acceleration(&p, &rest);
            let mut before: Vec<f64> = p.iter().zip(&pull).map(|(p, a)| p + step * step * a / 2.0).collect();
            for _ in 0..STEPS {
                let pull = lattice.acceleration(&p, &rest);
                for (n, before) in before.iter_mut().enumerate() {
                    let damped = rates[n] * step;
                    *before = (2.0 * p[n] + step * step * pull[n] - (1.0 - damped) * *before) / (1.0 + damped);
                }
                std::mem::swap(&mut p, &mut before);
            }
        }
        other => panic!("the row `{other}` of the table has no accuracy case: write its scheme out here"),
    }
    p
}

/// γ per site.
fn damping(scenario: &Scenario) -> Vec<f64> {
    let [nx, ny, _] = scenario.grid().size();
    let mut rates = vec![0.0; scenario.grid().sites()];
    for (row, rates) in rates.chunks_mut(nx).enumerate() {
        scenario.medium().damping_row(row % ny, row / ny, 0..nx, rates);
    }
    rates
}

/// Against its own scheme to rounding, in blocks of any size. Against the exact motion of the lattice to the splitting error: as in `splitting_bound`, where every
/// part of H (the bonds of one parity along an axis) moves q and v/ω by at most 2c/a ≤ 2.8 of this medium; leapfrog is within the same bound.
#[test]
fn every_acoustic_row_agrees_with_its_own_scheme_and_with_the_exact_motion() {
    const STEP: f64 = 0.02;
    let mut wrong = Vec::new();
    let mut checked = 0;
    for case in sound::cases() {
        let blocks = case
            .method
            .parameters
            .iter()
            .any(|p| p.key == "fused_steps" && p.variants.contains(&case.variant));
        let plans: &[(usize, usize)] = if blocks {
            &[(0, 0), (16, 1), (16, 3), (80, 2)]
        } else {
            &[(0, 0)]
        };
        for feature in sound::Feature::ALL {
            let Some(plain) = sound::scenario(&case, feature, STEP, "") else {
                continue;
            };
            let scheme = sound_scheme(&case, &plain, STEP);
            let exact = sound::exact(&plain, STEP * f64::from(STEPS));
            for &(block, fused) in plans {
                let sizes = vec![block; case.rank];
                let extra = if block == 0 {
                    String::new()
                } else {
                    format!("block = {sizes:?}\nfused_steps = {fused}\n")
                };
                let Some(scenario) = sound::scenario(&case, feature, STEP, &extra) else {
                    continue;
                };
                let p = sound::run(&scenario, u64::from(STEPS));
                checked += 1;
                let rounding = sound::rounding(&case, STEPS);
                let parity = sound::distance(&p, &scheme);
                if parity.is_nan() || parity > rounding {
                    wrong.push(format!(
                        "{case} {feature:?} {block}/{fused}: {parity:.2e} from its scheme, allowed {rounding:.2e}"
                    ));
                }
                let substeps = if case.order == 4 { 8.0 * SUZUKI - 1.0 } else { 1.0 };
                let s = 2.0 * axes(&case) * 2.8 * substeps * STEP;
                let factorial: f64 = (1..=case.order + 1).map(f64::from).product();
                let allowed =
                    2.0 * f64::from(STEPS) * s.powf(f64::from(case.order + 1)) / factorial * s.exp() + rounding;
                let error = sound::distance(&p, &exact);
                if error.is_nan() || error > allowed {
                    wrong.push(format!(
                        "{case} {feature:?}: {error:.2e} from the exact motion, allowed {allowed:.2e}"
                    ));
                }
            }
        }
    }
    assert!(checked >= 100, "the table shrank to {checked} cases");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}
