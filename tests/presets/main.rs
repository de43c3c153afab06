//! Every preset's predictions: computed again from exact solutions that share no code with the solvers, and then measured in the preset
//! as it is shipped.

#![allow(clippy::unwrap_used, reason = "a test")]

mod arrays;
mod bonds;
mod condensate;
mod experiments;
mod flows;
mod pairs;
mod room;
mod sound;
mod theory;
mod tolerances;

use num_complex::Complex64;
use ripplon::engine::{Engine, Verdict};
use ripplon::grid::Edge;
use ripplon::grid::Grid;
use ripplon::physics::reference::free::{self, Dispersion};
use ripplon::physics::reference::{Lattice, chain, initial_state, mirrors, transfer};
use ripplon::physics::{Initial, Model, Packet, Quantum};
use ripplon::scene::{Expectation, Scenario, presets};
use ripplon::solver;
use std::sync::Arc;

fn read(name: &str) -> Scenario {
    match solver::read_scene(name, &[]) {
        Ok((_, scenario)) => scenario,
        Err(faults) => panic!("{}", faults.render(false)),
    }
}

fn quantum(scenario: &Scenario) -> Quantum {
    match scenario.model() {
        Model::Quantum(quantum) => *quantum,
        Model::Acoustic(_) => panic!("a quantum preset"),
    }
}

fn packets(scenario: &Scenario) -> Vec<Packet> {
    match scenario.initial() {
        Initial::Packets(packets) => packets.clone(),
        other => panic!("packets, not {other:?}"),
    }
}

/// One axis of a scene whose potential separates, as a chain of its own (spacing 1 in all presets).
struct Axis {
    lattice: Lattice,
    start: Vec<Complex64>,
}

impl Axis {
    /// The axis with the potential along the line through the first site.
    fn new(scenario: &Scenario, axis: usize) -> Self {
        let potential = (0..scenario.grid().size()[axis])
            .map(|n| {
                let mut at = [0, 0, 0];
                at[axis] = n;
                let mut value = [0.0];
                scenario
                    .medium()
                    .potential_row(None, at[1], at[2], at[0]..at[0] + 1, &mut value);
                value[0]
            })
            .collect::<Vec<f64>>();
        Self::with_potential(scenario, axis, &potential)
    }

    fn with_potential(scenario: &Scenario, axis: usize, potential: &[f64]) -> Self {
        let grid = Grid::new(&[scenario.grid().size()[axis]], 1.0);
        let packet = packets(scenario)[0];
        let along = Packet::new(
            [packet.center[axis], 0.0, 0.0],
            [packet.width[axis], 1.0, 1.0],
            [packet.momentum[axis], 0.0, 0.0],
        );
        Self {
            start: initial_state(&grid, &Initial::Packets(vec![along])),
            lattice: Lattice::with_potential(&grid, &quantum(scenario), potential),
        }
    }

    /// |ψ|² at a time.
    fn density(&self, time: f64) -> Vec<f64> {
        self.lattice
            .propagate(&self.start, time)
            .iter()
            .map(Complex64::norm_sqr)
            .collect()
    }

    fn mean(&self, time: f64) -> f64 {
        moments(&self.density(time)).0
    }

    fn spread(&self, time: f64) -> f64 {
        moments(&self.density(time)).1
    }
}

/// Mean and standard deviation.
#[expect(clippy::cast_precision_loss, reason = "sites")]
fn moments(density: &[f64]) -> (f64, f64) {
    let sum = |power: i32| {
        density
            .iter()
            .enumerate()
            .map(|(n, p)| (n as f64).powi(power) * p)
            .sum::<f64>()
    };
    let mean = sum(1) / sum(0);
    (mean, (sum(2) / sum(0) - mean * mean).sqrt())
}

/// What the exact solutions say about each expectation, in the order of the file.
fn predict(name: &str, scenario: &Scenario) -> Vec<f64> {
    let at: Vec<f64> = scenario.expectations().iter().map(|e| e.at).collect();
    if let Model::Acoustic(acoustic) = scenario.model() {
        return sound::predict(name, scenario, acoustic.speed, &at);
    }
    let known = bonds::predict(name, scenario, &at).or_else(|| flows::predict(name, scenario, &at));
    if let Some(values) = known {
        return values;
    }
    let packet = match scenario.initial() {
        Initial::Packets(packets) => packets[0],
        _ => return experiments::of_eigenstates(name, scenario, &at),
    };
    let hopping = quantum(scenario).hopping;
    match name {
        "double-slit" => double_slit(scenario, at[0]),
        "free-packet" => {
            let along = |axis: usize| {
                let (mean, variance) = chain::packet_mean_and_variance(
                    packet.center[axis],
                    packet.width[axis],
                    packet.momentum[axis],
                    hopping,
                    at[0],
                );
                (mean, variance.sqrt())
            };
            vec![along(0).0, along(0).1, along(1).1]
        }
        "one-site" => {
            let core = |time: f64| {
                let j = chain::bessel_j(40, 2.0 * hopping * time);
                (j[0] * j[0] + 2.0 * j[1..].iter().map(|v| v * v).sum::<f64>()).powi(2)
            };
            vec![2f64.sqrt() * hopping * at[0], core(at[1]), core(at[2])]
        }
        "tunnelling" => {
            let passed = transfer::packet_average(packet.momentum[0], packet.width[0], |k| {
                transfer::barrier_transmission(0.3, 6, hopping, k)
            });
            vec![passed, 1.0 - passed]
        }
        "step" => {
            let back = experiments::sent_back_by_a_step(&packet, 0.3, hopping);
            vec![back, 1.0 - back]
        }
        "double-barrier" => packets(scenario)
            .iter()
            .map(|packet| 0.5 * through_pair(packet, hopping))
            .collect(),
        "resonance-line" => {
            let passed = through_pair(&packet, hopping);
            vec![passed, 1.0 - passed]
        }
        "ring" | "laser-atom" => predict_by_integration(name, scenario, &at),
        "laser-atom-long" => near_the_atom(scenario, &at),
        "coherent-state" => {
            let trap = |axis: usize| {
                let sites = u32::try_from(scenario.grid().size()[axis]).unwrap();
                let middle = f64::from(sites - 1) / 2.0;
                let potential: Vec<f64> = (0..sites).map(|n| 0.25e-4 * (f64::from(n) - middle).powi(2)).collect();
                Axis::with_potential(scenario, axis, &potential)
            };
            vec![trap(0).mean(at[0]), trap(0).mean(at[1]), trap(1).mean(at[2])]
        }
        "transmission" => vec![experiments::through_two_walls(&packet, hopping)],
        "squeezed" => experiments::squeezed(scenario, &at),
        "box-revival" => box_revival(scenario, &at),
        "bloch-oscillation" => {
            let mean = |time| {
                chain::bloch_mean(
                    packet.center[0],
                    packet.width[0],
                    packet.momentum[0],
                    hopping,
                    0.02,
                    time,
                )
            };
            vec![mean(at[0]), mean(at[1]), packet.width[0]]
        }
        "cyclotron" => {
            let orbit: Vec<(f64, f64)> = at.iter().map(|time| harper(scenario, *time)).collect();
            vec![orbit[0].1, orbit[1].0, orbit[2].0]
        }
        "anderson" => {
            let (x, y) = (
                Axis::new(scenario, 0),
                Axis::with_potential(scenario, 1, &vec![0.0; 512]),
            );
            let beyond: f64 = x.density(at[3])[317..].iter().sum();
            vec![x.spread(at[0]), x.spread(at[1]), y.spread(at[2]), beyond]
        }
        // Its own inverse: nothing is lost, and nothing differs.
        "echo" => vec![1.0, 0.0],
        "loschmidt-echo" => vec![loschmidt(scenario)],
        "two-site-mirror" => vec![mirrors::plain_chain_error(packet.momentum[0], packet.width[0]), 0.0],
        "inverse-filter" => vec![0.0, 1.0],
        other => panic!("the preset `{other}` has no independent prediction here"),
    }
}

/// |⟨ψ(0)*| e^(−i(H + Σ)T) (e^(−iHT) ψ(0))*⟩|², by Chebyshev polynomials on the same lattice.
fn loschmidt(scenario: &Scenario) -> f64 {
    let mirror = scenario.mirror().unwrap();
    let quantum = quantum(scenario);
    let start = initial_state(scenario.grid(), scenario.initial());
    let there = lattice(scenario).propagate(&start, mirror.at);
    let turned: Vec<Complex64> = there.iter().map(Complex64::conj).collect();
    let disturbed = Lattice::new(scenario.grid(), &quantum, &mirror.medium, quantum.absorption_scale());
    let back = disturbed.propagate(&turned, mirror.at);
    // ⟨ψ(0)*|back⟩ = Σ ψ(0) back.
    start
        .iter()
        .zip(&back)
        .map(|(a, b)| a * b)
        .sum::<Complex64>()
        .norm_sqr()
}

/// Share of a packet that passes two barriers of 5 sites and 0.3, 14 sites apart.
fn through_pair(packet: &Packet, hopping: f64) -> f64 {
    let mut profile = vec![0.0; 24];
    profile[..5].fill(0.3);
    profile[19..].fill(0.3);
    transfer::packet_average(packet.momentum[0], packet.width[0], |k| {
        transfer::transmission(&profile, hopping, k)
    })
}

/// Scenes without an exact solution: the same lattice by Runge and Kutta's method in small steps.
fn predict_by_integration(name: &str, scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    if name == "ring" {
        // Waves of the ring have energies up to 0.5: a step of 0.2 leaves 1e-4, and stays stable, 8J · 0.2 < 2.8.
        return integrated(scenario, at, 0.2)
            .iter()
            .map(|psi| within(scenario, psi, 148..193, 105..151))
            .collect();
    }
    // Up to 46 a.u. on the grid: 46 · 0.03 < 2.8; the electron's own energies are below 2: 2⁵ · 0.03⁴ · 200/120 = 4e-5.
    let psi = integrated(scenario, at, 0.03);
    let density: Vec<f64> = psi[1].iter().map(Complex64::norm_sqr).collect();
    vec![
        lattice(scenario).energy(&initial_state(scenario.grid(), scenario.initial()), 0.0),
        0.25 * moments(&density).0,
        0.25 * within(scenario, &psi[2], 944..1104, 0..1),
    ]
}

/// On the long line nothing leaves the atom while the predictions last, so that the short line says the same, its middle shifted: a state that falls as e^(−|x|) is
/// far below rounding where the short line's layers begin.
fn near_the_atom(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let short = read("laser-atom");
    let psi = integrated(&short, at, 0.03);
    let density: Vec<f64> = psi[1].iter().map(Complex64::norm_sqr).collect();
    let shift = packets(scenario)[0].center[0] - packets(&short)[0].center[0];
    vec![
        lattice(&short).energy(&initial_state(short.grid(), short.initial()), 0.0),
        0.25 * moments(&density).0 + shift,
        0.25 * within(&short, &psi[2], 944..1104, 0..1),
    ]
}

/// The whole scene as a lattice.
fn lattice(scenario: &Scenario) -> Lattice {
    let quantum = quantum(scenario);
    Lattice::new(scenario.grid(), &quantum, scenario.medium(), quantum.absorption_scale())
}

/// ψ at these times, which rise, by Runge and Kutta's method in steps of at most `step`.
fn integrated(scenario: &Scenario, times: &[f64], step: f64) -> Vec<Vec<Complex64>> {
    let lattice = lattice(scenario);
    let mut psi = initial_state(scenario.grid(), scenario.initial());
    let mut now = 0.0;
    times
        .iter()
        .map(|time| {
            let span = time - now;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "thousands")]
            let steps = (span / step).ceil().max(1.0) as u32;
            psi = lattice.integrate(&psi, now, span, steps);
            now = *time;
            psi.clone()
        })
        .collect()
}

/// Σ|ψ|² over a box of sites.
fn within(scenario: &Scenario, psi: &[Complex64], x: std::ops::Range<usize>, y: std::ops::Range<usize>) -> f64 {
    let nx = scenario.grid().size()[0];
    y.map(|j| psi[j * nx..][x.clone()].iter().map(Complex64::norm_sqr).sum::<f64>())
        .sum()
}

/// The upper half of the scene with a mirror below, which the lattice Hamiltonian allows: the bond across the middle joins two equal
/// amplitudes, −J on the diagonal. Until this time nothing has reached the absorbing layers.
fn double_slit(scenario: &Scenario, time: f64) -> Vec<f64> {
    let [nx, ny, _] = scenario.grid().size();
    let grid = Grid::new(&[nx, ny / 2], 1.0);
    let quantum = quantum(scenario);
    let half = ny / 2;
    let mut potential = vec![0.0; grid.sites()];
    potential[..nx].fill(-quantum.hopping);
    let mut walls = vec![false; grid.sites()];
    let mut start = vec![Complex64::ZERO; grid.sites()];
    let whole = initial_state(scenario.grid(), scenario.initial());
    for (j, (walls, start)) in walls.chunks_mut(nx).zip(start.chunks_mut(nx)).enumerate() {
        scenario.medium().wall_row(j + half, 0, 0..nx, walls);
        start.copy_from_slice(&whole[(j + half) * nx..(j + half + 1) * nx]);
    }
    let psi = Lattice::with_potential(&grid, &quantum, &potential)
        .with_walls(walls)
        .propagate(&start, time);
    // Rows of the half grid (j = 0 is y = 256); boxes that reach below the middle count twice what is above it.
    let within = |x: std::ops::Range<usize>, y: std::ops::Range<usize>| -> f64 {
        y.map(|j| psi[j * nx..][x.clone()].iter().map(Complex64::norm_sqr).sum::<f64>())
            .sum()
    };
    vec![
        2.0 * within(334..nx, 0..half),
        2.0 * within(460..501, 0..4),
        within(460..501, 265 - 256..273 - 256),
    ]
}

/// Each axis on its own, by the continuum's modes of the box.
fn box_revival(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let dispersion = Dispersion::Continuum {
        mass: quantum(scenario).mass.unwrap(),
        spacing: 1.0,
    };
    let density = |axis: usize, time: f64| -> Vec<f64> {
        let start = Axis::with_potential(scenario, axis, &vec![0.0; scenario.grid().size()[axis]]).start;
        free::evolve_chain(&start, Edge::Wall, &dispersion, time)
            .iter()
            .map(Complex64::norm_sqr)
            .collect()
    };
    let quarter: f64 = (0..2)
        .map(|axis| density(axis, at[0])[..127].iter().sum::<f64>())
        .product();
    vec![quarter, moments(&density(0, at[1])).0, moments(&density(0, at[2])).1]
}

/// ⟨x⟩ and ⟨y⟩ of a separable packet in a magnetic field: k_x is conserved, and for each k_x the y axis is a chain with the potential
/// −2J cos(k_x + 2παj) (Harper 1955). The grid is closed into a ring along x, which the packet never goes round.
#[expect(clippy::cast_precision_loss, reason = "sites")]
fn harper(scenario: &Scenario, time: f64) -> (f64, f64) {
    use std::f64::consts::TAU;
    let [nx, ny, _] = scenario.grid().size();
    let quantum = quantum(scenario);
    let flat = vec![0.0; nx.max(ny)];
    let x = Axis::with_potential(scenario, 0, &flat[..nx]).start;
    let y = Axis::with_potential(scenario, 1, &flat[..ny]);
    let mut psi = vec![Complex64::ZERO; nx * ny];
    for mode in 0..nx {
        let k = TAU * mode as f64 / nx as f64;
        let amplitude: Complex64 = x
            .iter()
            .enumerate()
            .map(|(i, g)| g * Complex64::cis(-k * i as f64))
            .sum();
        if amplitude.norm() < 1e-7 {
            continue;
        }
        let potential: Vec<f64> = (0..ny)
            .map(|j| -2.0 * quantum.hopping * (k + TAU * quantum.flux * j as f64).cos())
            .collect();
        let column = Axis::with_potential(scenario, 1, &potential)
            .lattice
            .propagate(&y.start, time);
        for (i, part) in psi.chunks_mut(ny).enumerate() {
            let wave = amplitude * Complex64::cis(k * i as f64) / nx as f64;
            for (value, h) in part.iter_mut().zip(&column) {
                *value += wave * h;
            }
        }
    }
    let along_x: Vec<f64> = psi
        .chunks(ny)
        .map(|part| part.iter().map(Complex64::norm_sqr).sum())
        .collect();
    let along_y: Vec<f64> = (0..ny)
        .map(|j| psi[j..].iter().step_by(ny).map(Complex64::norm_sqr).sum())
        .collect();
    (moments(&along_x).0, moments(&along_y).0)
}

/// The number in the file is the prediction, written with four digits or more.
fn check_written(name: &str, scenario: &Scenario, wrong: &mut Vec<String>) {
    let predicted = predict(name, scenario);
    assert_eq!(predicted.len(), scenario.expectations().len(), "{name}");
    for (expectation, value) in scenario.expectations().iter().zip(predicted) {
        if (expectation.value - value).abs() > 0.1 * expectation.tolerance.min(value.abs()) {
            wrong.push(format!(
                "{name}: {} at {}: the file says {}, the reference {value:.6e}",
                subject(scenario, expectation),
                expectation.at,
                expectation.value
            ));
        }
    }
}

fn subject(scenario: &Scenario, expectation: &Expectation) -> String {
    match &expectation.subject {
        ripplon::scene::scenario::Subject::Detector(n) => scenario.detectors()[*n].name.clone(),
        ripplon::scene::scenario::Subject::Observable(name) => name.clone(),
    }
}

fn run(name: &str, scenario: Scenario, wrong: &mut Vec<String>) {
    let until = scenario.expectations().iter().map(|e| e.at).fold(0.0, f64::max);
    let mut engine = Engine::new(Arc::new(scenario)).unwrap();
    engine.advance(engine.steps_until(until).unwrap()).unwrap();
    let scenario = Arc::clone(engine.scenario());
    for (expectation, verdict) in scenario.expectations().iter().zip(engine.verdicts()) {
        if !matches!(verdict, Verdict::Right(_)) {
            wrong.push(format!(
                "{name}: {} at {}: predicted {} ± {}, {verdict:?}",
                subject(&scenario, expectation),
                expectation.at,
                expectation.value,
                expectation.tolerance
            ));
        }
    }
}

#[test]
fn predictions_are_those_of_the_exact_solutions() {
    let mut wrong = Vec::new();
    for preset in presets::all() {
        check_written(preset.name, &read(preset.name), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_preset_keeps_its_promises() {
    let mut wrong = Vec::new();
    for preset in presets::all() {
        run(preset.name, read(preset.name), &mut wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Both approximate the same lattice to order 2: each keeps the predictions, and the fields of half the way differ by what the steps' errors are. The packet's waves have energies of up to 0.5 and meet walls of 0.5:
/// (0.5 + 0.5)³ Δt² t/12 = 0.05 at Δt = 0.1 and t = 60 at worst.
#[test]
fn the_ring_is_the_same_by_crank_nicolson_and_by_trotter() {
    let mut wrong = Vec::new();
    let fields: Vec<_> = ["crank-nicolson", "trotter"]
        .map(|method| {
            let overrides = [format!("solver.method={method}"), "solver.precision=double".to_owned()];
            let (_, scenario) =
                solver::read_scene("ring", &overrides).unwrap_or_else(|faults| panic!("{}", faults.render(false)));
            run(&format!("ring by {method}"), scenario.clone(), &mut wrong);
            let mut engine = Engine::new(Arc::new(scenario)).unwrap();
            engine.advance(600).unwrap();
            engine.field().unwrap()
        })
        .into();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let (mut apart, mut norm) = (0.0, 0.0);
    for site in 0..fields[0].len() {
        apart += (fields[0].at(site) - fields[1].at(site)).norm_sqr();
        norm += fields[0].at(site).norm_sqr();
    }
    let miss = (apart / norm).sqrt();
    assert!(miss < 0.05, "{miss}");
}
