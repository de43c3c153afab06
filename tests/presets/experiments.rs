//! What the presets of experiments predict, from exact solutions.

use super::{Axis, moments, quantum};
use num_complex::Complex64;
use ripplon::physics::Packet;
use ripplon::physics::reference::{chain, transfer};
use ripplon::scene::Scenario;
use std::f64::consts::TAU;

/// What is measured of one axis: mean and spread of place and momentum, and the overlap with the start.
struct AxisMeasures {
    place: (f64, f64),
    momentum: (f64, f64),
    overlap: Complex64,
}

impl Axis {
    /// The axis in a harmonic trap.
    #[expect(clippy::cast_precision_loss, reason = "site numbers")]
    fn trapped(scenario: &Scenario, axis: usize, stiffness: f64) -> Self {
        let sites = scenario.grid().size()[axis];
        let middle = (sites - 1) as f64 / 2.0;
        let potential: Vec<f64> = (0..sites).map(|n| stiffness * (n as f64 - middle).powi(2)).collect();
        Self::with_potential(scenario, axis, &potential)
    }

    /// The momentum distribution by the plain sum Σ ψₙ e^{−ikn}.
    #[expect(clippy::cast_precision_loss, reason = "site numbers")]
    fn at(&self, time: f64) -> AxisMeasures {
        let psi = self.lattice.propagate(&self.start, time);
        let sites = psi.len();
        let middle = (sites - 1) as f64 / 2.0;
        let density: Vec<f64> = psi.iter().map(Complex64::norm_sqr).collect();
        let place = moments(&density);
        let (mut mean, mut square) = (0.0, 0.0);
        for m in 0..sites {
            let signed = if 2 * m >= sites {
                m as f64 - sites as f64
            } else {
                m as f64
            };
            let k = TAU * signed / sites as f64;
            let amplitude: Complex64 = (psi.iter().enumerate())
                .map(|(n, psi)| psi * Complex64::cis(-k * n as f64))
                .sum();
            let weight = amplitude.norm_sqr() / sites as f64;
            mean += k * weight;
            square += k * k * weight;
        }
        AxisMeasures {
            place: (place.0 - middle, place.1),
            momentum: (mean, (square - mean * mean).sqrt()),
            overlap: self.start.iter().zip(&psi).map(|(a, b)| a.conj() * b).sum(),
        }
    }
}

/// ½mω² = ¼·0.02² along both axes, which separate.
pub fn squeezed(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let stiffness = 0.25 * 0.02 * 0.02;
    let axes = [0, 1].map(|axis| Axis::trapped(scenario, axis, stiffness));
    let now = |time: f64| axes.each_ref().map(|axis| axis.at(time));
    let survival = |time: f64| {
        let [x, y] = now(time);
        (x.overlap * y.overlap).norm_sqr()
    };
    let [x, _] = now(at[0]);
    let [x_end, y_end] = now(at[2]);
    let lz = x_end.place.0 * y_end.momentum.0 - y_end.place.0 * x_end.momentum.0;
    vec![x.place.1 * x.momentum.1, survival(at[1]), lz, survival(at[3])]
}

/// Two barriers of 3 sites of 0.3, 14 sites apart.
pub fn through_two_walls(packet: &Packet, hopping: f64) -> f64 {
    let mut profile = vec![0.0; 20];
    profile[..3].fill(0.3);
    profile[17..].fill(0.3);
    transfer::packet_average(packet.momentum[0], packet.width[0], |k| {
        transfer::transmission(&profile, hopping, k)
    })
}

/// Share of a packet that an edge of a plateau sends back: ψ = e^{ikn} + r e^{−ikn} before it and t e^{ik′n} on it fit together where
/// r = (e^{ik} − e^{ik′})/(e^{ik′} − e^{−ik}).
pub fn sent_back_by_a_step(packet: &Packet, height: f64, hopping: f64) -> f64 {
    transfer::packet_average(packet.momentum[0], packet.width[0], |k| {
        let above = 2.0 * hopping * (1.0 - k.cos()) - height;
        if above <= 0.0 {
            return 1.0;
        }
        let on_it = (1.0 - above / (2.0 * hopping)).acos();
        let [before, there] = [k, on_it].map(Complex64::cis);
        ((before - there) / (there - before.conj())).norm_sqr()
    })
}

/// What presets that begin with eigenstates predict.
pub fn of_eigenstates(name: &str, scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    match name {
        "double-well" => double_well(scenario, at),
        "corral" => corral(at),
        "standing-flow" => standing_flow(scenario),
        other => panic!("{other} begins with eigenstates, and nothing is predicted of it"),
    }
}

/// φ₂₃ and φ₃₂ of a box, a quarter of a turn apart: the energy of both, 1/Σ|ψ|⁴, and 1 for ever.
fn standing_flow(scenario: &Scenario) -> Vec<f64> {
    let (hopping, [sites, ..]) = (quantum(scenario).hopping, scenario.grid().size());
    let energy = [2, 3].map(|mode| chain::box_energy(hopping, mode, sites));
    let squares = |mode: usize| (0..sites).map(move |j| chain::box_mode(mode, sites, j).powi(2));
    let product = |a: usize, b: usize| squares(a).zip(squares(b)).map(|(a, b)| a * b).sum::<f64>();
    // |ψ|² = (φ₂₃² + φ₃₂²)/2, and its square is a sum of products of one axis each.
    let fourth = 0.25 * (2.0 * product(2, 2) * product(3, 3) + 2.0 * product(2, 3).powi(2));
    vec![4.0 * hopping + energy[0] + energy[1], 1.0 / fourth, 1.0]
}

/// How many levels of a chain lie below an energy: signs of the pivots of H − E (Sturm).
fn below(diagonal: &[f64], energy: f64) -> usize {
    let mut pivot = 1.0;
    let mut count = 0;
    for (n, d) in diagonal.iter().enumerate() {
        pivot = d - energy - if n == 0 { 0.0 } else { 1.0 / pivot };
        count += usize::from(pivot < 0.0);
    }
    count
}

/// Level `number` of a chain with J = 1, by bisection.
fn level(diagonal: &[f64], number: usize) -> f64 {
    let (mut low, mut high) = (-1.0, 10.0);
    for _ in 0..120 {
        let middle = f64::midpoint(low, high);
        if below(diagonal, middle) > number {
            high = middle;
        } else {
            low = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The two lowest states of 0.03·((x/20)² − 1)² on 160 sites: levels by Sturm's sequences, states by the recursion from the left edge to the middle.
#[expect(clippy::cast_precision_loss, reason = "site numbers")]
fn double_well(scenario: &Scenario, at: &[f64]) -> Vec<f64> {
    let sites = scenario.grid().size()[0];
    let middle = (sites - 1) as f64 / 2.0;
    let diagonal: Vec<f64> = (0..sites)
        .map(|n| 2.0 + 0.03 * (((n as f64 - middle) / 20.0).powi(2) - 1.0).powi(2))
        .collect();
    let energies = [level(&diagonal, 0), level(&diagonal, 1)];
    let states = [(energies[0], 1.0), (energies[1], -1.0)].map(|(energy, sign)| {
        let mut half = vec![0.0, 1.0];
        for n in 0..sites / 2 - 1 {
            half.push((diagonal[n] - energy) * half[n + 1] - half[n]);
        }
        let half = &half[1..];
        let whole: Vec<f64> = half
            .iter()
            .copied()
            .chain(half.iter().rev().map(|value| sign * value))
            .collect();
        let norm = whole.iter().map(|value| value * value).sum::<f64>().sqrt();
        whole.into_iter().map(|value| value / norm).collect::<Vec<f64>>()
    });
    // Positive in the left well both: there they add at t = 0. Half a period later they cancel there.
    let later: Vec<f64> = states[0]
        .iter()
        .zip(&states[1])
        .map(|(a, b)| (a - b).powi(2) / 2.0)
        .collect();
    let half_period = std::f64::consts::PI / (energies[1] - energies[0]);
    assert!((at[1] - half_period).abs() < 2.0, "{half_period}");
    let survival = ((energies[1] - energies[0]) * at[0] / 2.0).cos().powi(2);
    vec![survival, moments(&later).0]
}

/// J₀ by its integral, (1/π)∫ cos(x sin θ) dθ: trapezoids are exact to rounding for a function of this period.
fn bessel_j0(x: f64) -> f64 {
    let points = 200;
    let sum: f64 = (0..points)
        .map(|n| (x * (std::f64::consts::PI * f64::from(n) / f64::from(points)).sin()).cos())
        .sum();
    sum / f64::from(points)
}

/// j²/(2mR²) with J = 1, R = 60.5, and the first three zeros of J₀.
fn corral(at: &[f64]) -> Vec<f64> {
    let zero = |mut low: f64, mut high: f64| {
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if bessel_j0(middle) * bessel_j0(low) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let energies = [zero(2.0, 3.0), zero(5.0, 6.0), zero(8.0, 9.0)].map(|j| (j / 60.5).powi(2));
    let amplitude: Complex64 = energies.iter().map(|energy| Complex64::cis(-energy * at[1])).sum();
    vec![energies.iter().sum::<f64>() / 3.0, amplitude.norm_sqr() / 9.0]
}
