//! What presets of two components, of trajectories and of condensates predict.

use super::{lattice, moments, packets, quantum};
use num_complex::Complex64;
use ripplon::physics::Quantum;
use ripplon::physics::reference::{Lattice, chain, initial_state};
use ripplon::scene::Scenario;
use std::f64::consts::TAU;
use std::ops::Range;

pub(super) fn predict(name: &str, scenario: &Scenario, at: &[f64]) -> Option<Vec<f64>> {
    match name {
        "bohm" => Some(bohm(scenario, at[0])),
        // Ω/2 = 0.05 J, the same everywhere.
        "rabi" => Some(vec![(0.05 * at[0]).sin().powi(2), 0.0]),
        "stern-gerlach" => Some(stern_gerlach(scenario, at[0])),
        "which-path" => Some(which_path(scenario, at[0])),
        "michelson" => Some(michelson(scenario, at[0])),
        "miscibility" => Some(miscibility(scenario, at[0])),
        "echo-in-a-field" => Some(echo_in_a_field(scenario)),
        // E/N of 1000 atoms in Table I of F. Dalfovo, S. Stringari, Phys. Rev. A 53 (1996) 2477, doi 10.1103/PhysRevA.53.2477.
        "condensate" => Some(vec![3.84]),
        _ => None,
    }
}

/// Bohm's trajectories of the free waves of a chain, ψ between sites by its Fourier sum: J = 1 and ε = 2 − 2 cos k.
struct Wave {
    k: Vec<f64>,
    amplitudes: Vec<Complex64>,
}

const SITES: usize = 512;

impl Wave {
    /// Gaussians (centre, σ of |ψ|², momentum) on a ring that they do not reach round.
    #[expect(clippy::cast_precision_loss, reason = "512 sites")]
    fn new(packets: &[[f64; 3]]) -> Self {
        let k: Vec<f64> = (0..SITES)
            .map(|m| {
                TAU * if 2 * m < SITES {
                    m as f64
                } else {
                    m as f64 - SITES as f64
                } / SITES as f64
            })
            .collect();
        // The transform of a Gaussian much wider than a site and much narrower than the ring is the continuum's.
        let amplitudes = (k.iter())
            .map(|k| {
                let one = |[c, sigma, k0]: &[f64; 3]| Complex64::cis(-k * c) * (-(sigma * (k - k0)).powi(2)).exp();
                packets.iter().map(one).sum()
            })
            .collect();
        Self { k, amplitudes }
    }

    fn psi(&self, x: f64, t: f64) -> Complex64 {
        let waves = self.k.iter().zip(&self.amplitudes);
        waves
            .map(|(k, a)| a * Complex64::cis(k * x - (2.0 - 2.0 * k.cos()) * t))
            .sum()
    }

    /// The current through the bond around x over |ψ(x)|².
    fn velocity(&self, x: f64, t: f64) -> f64 {
        let [before, at, after] = [-0.5, 0.0, 0.5].map(|by| self.psi(x + by, t));
        2.0 * (before.conj() * after).im / at.norm_sqr()
    }

    fn end(&self, mut x: f64, until: f64, steps: u32) -> f64 {
        let dt = until / f64::from(steps);
        for n in 0..steps {
            let t = f64::from(n) * dt;
            let k1 = self.velocity(x, t);
            let k2 = self.velocity(x + 0.5 * dt * k1, t + 0.5 * dt);
            let k3 = self.velocity(x + 0.5 * dt * k2, t + 0.5 * dt);
            let k4 = self.velocity(x + dt * k3, t + dt);
            x += dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
        }
        x
    }
}

/// Both axes are waves of their own: the packets differ in y alone, and their sum is a product.
fn bohm(scenario: &Scenario, time: f64) -> Vec<f64> {
    let [low, high] = packets(scenario)[..] else {
        panic!("two packets")
    };
    let y = Wave::new(&[low, high].map(|packet| [packet.center[1], packet.width[1], 0.0]));
    let x = Wave::new(&[[low.center[0], low.width[0], low.momentum[0]]]);
    let start = |name: &str| {
        let all = scenario.trajectories();
        all.iter().find(|one| one.name == name).unwrap().from
    };
    let along_y = |name: &str| y.end(start(name)[1], time, 400);
    let ends = vec![
        along_y("upper 1"),
        along_y("lower 1"),
        along_y("upper 4"),
        along_y("upper 8"),
        x.end(start("upper 4")[0], time, 400),
    ];
    assert!(ends[0] > 140.0 && ends[1] < 140.0, "{ends:?}");
    ends
}

/// A force ±F: k → k ± Ft, and the way is ∫2J sin k dt for each momentum of the packet.
fn stern_gerlach(scenario: &Scenario, time: f64) -> Vec<f64> {
    let (force, sigma) = (0.0076, packets(scenario)[0].width[1]);
    let hopping = quantum(scenario).hopping;
    let momenta = (-6000..=6000).map(|n| f64::from(n) * 1e-4);
    let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
    for k in momenta {
        let weight = (-2.0 * (sigma * k).powi(2)).exp();
        let way = 2.0 * hopping / force * (k.cos() - (k + force * time).cos());
        sum += weight;
        mean += weight * way;
        square += weight * way * way;
    }
    (mean, square) = (mean / sum, square / sum);
    let own = sigma * sigma + square - mean * mean;
    // Φ(z) by its integral.
    let z = mean / own.sqrt();
    let steps = 2000;
    let h = (z + 8.0) / f64::from(steps);
    let share: f64 = (0..steps)
        .map(|n| -8.0 + (f64::from(n) + 0.5) * h)
        .map(|x| (-0.5 * x * x).exp() * h / TAU.sqrt())
        .sum();
    vec![(own + mean * mean).sqrt(), 63.5, 0.5 * share, 0.5 * (1.0 - share)]
}

/// What is found in rows of a plane z, or of both.
fn in_rows(
    scenario: &Scenario,
    psi: &[Complex64],
    rows: std::ops::Range<usize>,
    planes: std::ops::Range<usize>,
) -> f64 {
    let [nx, ny, _] = scenario.grid().size();
    let row = |k: usize, j: usize| {
        psi[nx * (j + ny * k)..][..nx]
            .iter()
            .map(Complex64::norm_sqr)
            .sum::<f64>()
    };
    planes.map(|k| rows.clone().map(|j| row(k, j)).sum::<f64>()).sum()
}

/// The lattice propagated exactly, with the marker and without; cos φ of what is left of the contrast.
fn which_path(scenario: &Scenario, time: f64) -> Vec<f64> {
    let start = initial_state(scenario.grid(), scenario.initial());
    let psi = lattice(scenario).propagate(&start, time);
    let ny = scenario.grid().size()[1];
    let values = vec![
        in_rows(scenario, &psi, 87..94, 0..2),
        in_rows(scenario, &psi, 98..105, 0..2),
        in_rows(scenario, &psi, 0..ny, 1..2),
    ];
    // Almost all of the lower beam is marked, and the fringes are gone.
    assert!(
        values[2] > 0.45 && (values[0] / values[1] - 1.0).abs() < 0.1,
        "{values:?}"
    );
    values
}

/// Both points of light through the slits, and the mean of what the screen has at each of the steps of 0.1 from 0 on, by the trapezoidal rule from a value a unit of time.
fn michelson(scenario: &Scenario, time: f64) -> Vec<f64> {
    let [nx, ny, _] = scenario.grid().size();
    let rows = |psi: &[Complex64], from: usize, planes: Range<usize>| -> f64 {
        let site = |j: usize, k: usize| psi[(k * ny + j) * nx + 148].norm_sqr();
        planes.map(|k| (from..from + 3).map(|j| site(j, k)).sum::<f64>()).sum()
    };
    // The packets' energy as zero: the method's steps take (EΔt)⁶/144 off a wave.
    let quantum = Quantum {
        diagonal: 2.0 * 0.521_f64.cos() + 2.0,
        ..super::quantum(scenario)
    };
    let own = Lattice::new(scenario.grid(), &quantum, scenario.medium(), quantum.absorption_scale());
    let mut psi = initial_state(scenario.grid(), scenario.initial());
    let samples = 150;
    let (mut middle, mut beside, mut alone) = (0.0, 0.0, [0.0; 2]);
    for n in 0..samples {
        let from = time * f64::from(n) / f64::from(samples);
        // The strongest layers take 19 J, and a step of 0.1 is stable up to 27.
        psi = own.integrate(&psi, from, time / f64::from(samples), 10);
        let weight = if n + 1 < samples { 1.0 } else { 0.55 } / 150.1;
        middle += weight * rows(&psi, 99, 0..2);
        beside += weight * rows(&psi, 108, 0..2);
        // The brightest rows of one of the two, a quarter of a fringe off the middle, and its darkest.
        alone[0] += rows(&psi, 104, 0..1);
        alone[1] += rows(&psi, 94, 0..1);
    }
    let contrast = ((alone[0] - alone[1]) / (alone[0] + alone[1])).abs();
    assert!(contrast > 0.8, "one of the two alone has fringes: {alone:?}");
    vec![middle, beside]
}

/// Bogoliubov's equations: a ripple of δψ = ±0.005 cos kx in two components of the density n/2 each, ω² = ε(ε + n(g − g₁₂)) < 0 (C. J. Pethick, H. Smith, Bose–Einstein Condensation in
/// Dilute Gases (2008), section 12.1.1), added up over the 16 sites of its crest and its trough.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn miscibility(scenario: &Scenario, time: f64) -> Vec<f64> {
    let quantum = super::quantum(scenario);
    let [nx, ny, _] = scenario.grid().size();
    let k = 4.0 * std::f64::consts::TAU / nx as f64;
    let density = 1.0 / (nx * ny) as f64;
    let epsilon = 2.0 * quantum.hopping * (1.0 - k.cos());
    let square = epsilon * (epsilon + density * (quantum.interaction - scenario.medium().cross_interaction()));
    assert!(square < 0.0, "it does not grow");
    let crest: f64 = (56..72).map(|x| (k * (f64::from(x) - 63.5)).cos()).sum::<f64>() / 16.0;
    let ripple = 0.01 * crest * ((-square).sqrt() * time).cosh();
    let half = 16.0 * ny as f64 * density / 2.0;
    vec![half * (1.0 + ripple), half * (1.0 - ripple)]
}

/// There, ψ → ψ*, and on in the same field.
fn echo_in_a_field(scenario: &Scenario) -> Vec<f64> {
    let at = scenario.mirror().unwrap().at;
    let own = lattice(scenario);
    let start = initial_state(scenario.grid(), scenario.initial());
    let turned: Vec<Complex64> = own.propagate(&start, at).iter().map(Complex64::conj).collect();
    let back = own.propagate(&turned, at);
    let overlap: Complex64 = start.iter().zip(&back).map(|(a, b)| a * b).sum();
    assert!(overlap.norm_sqr() < 1e-4, "{overlap}");
    let [nx, ny, _] = scenario.grid().size();
    let density = |i: usize, j: usize| back[nx * j + i].norm_sqr();
    let columns: Vec<f64> = (0..nx).map(|i| (0..ny).map(|j| density(i, j)).sum()).collect();
    let rows: Vec<f64> = (0..ny).map(|j| (0..nx).map(|i| density(i, j)).sum()).collect();
    vec![0.0, moments(&columns).0, moments(&rows).0]
}

/// The currents of a packet that the closed form of a chain's mean knows: d⟨x⟩/dt is Σ j.
#[test]
fn currents_add_up_to_the_mean_velocity() {
    use ripplon::field::FieldData;
    use ripplon::grid::Grid;
    use ripplon::physics::{Currents, Initial, Medium, Packet};
    let grid = Grid::new(&[200], 1.0);
    let packet = Packet::new([100.0, 0.0, 0.0], [8.0, 1.0, 1.0], [0.7, 0.0, 0.0]);
    let model = ripplon::physics::Quantum {
        hopping: 1.0,
        ..ripplon::physics::Quantum::default()
    };
    let start = initial_state(&grid, &Initial::Packets(vec![packet]));
    let psi = FieldData::Complex128(Lattice::with_potential(&grid, &model, &[0.0; 200]).propagate(&start, 5.0));
    let currents = Currents::of(&model, &Medium::new(grid, Vec::new()));
    let sum: f64 = (0..199).map(|n| currents.through(&psi, [n, 0, 0], 0)).sum();
    let mean = |t: f64| chain::packet_mean_and_variance(100.0, 8.0, 0.7, 1.0, t).0;
    assert!((sum - (mean(6.0) - mean(5.0))).abs() < 1e-9, "{sum}");
}

/// Of three speeds on the way back the true one gives the sharpest picture, by a tenth at 2 %: of the waves that cross the middle of a pulse of 0.3 mm those 0.17 mm beside it bring
/// 1 − 2xD(x) = 0.73 with x = 0.17/(0.3 √2) and Dawson's D.
#[test]
fn a_picture_is_sharpest_at_the_true_speed() {
    use ripplon::engine::sweep::SweepPlan;
    use ripplon::scene::sweep::{Axis, Quantity};
    let scenario = super::read("autofocus");
    let mut sweep = scenario.sweep().unwrap().clone();
    sweep.axes = vec![Axis::parse("mirror.perturbation.0.value=1470,1500,1530").unwrap()];
    sweep.measures = vec![Quantity::parse("focus_contrast@2.4e-5")];
    let plan = SweepPlan {
        text: scenario.file().to_toml(),
        origin: None,
        sweep,
    };
    let stop: ripplon::engine::sweep::Stop = std::sync::Arc::new(|| false);
    let found = [0, 1, 2].map(|n| plan.measure(n, &stop).unwrap().unwrap().measured[0]);
    assert!(found[1] > 1.05 * found[0] && found[1] > 1.05 * found[2], "{found:?}");
}
