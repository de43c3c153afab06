//! Side branches, loudspeakers in step, a room by Sabine's law.

use num_complex::Complex64;
use ripplon::physics::source::Place;
use ripplon::physics::{Initial, Region, Signal, room};
use ripplon::scene::Scenario;
use std::f64::consts::{FRAC_PI_4, LN_10, PI, TAU};

fn tone(signal: &Signal) -> f64 {
    match signal {
        Signal::Sine { frequency } => *frequency,
        other => panic!("a tone, not {other:?}"),
    }
}

/// T of a branch that is a quarter of a wave deep at the first source's tone, for the second's; of a plane wave of 1 Pa the rms.
pub(super) fn side_branch(scenario: &Scenario) -> Vec<f64> {
    let [stopped, passed] = [0, 1].map(|n| tone(&scenario.sources()[n].signal));
    let width_ratio = 0.04 / 0.1;
    let passes = |f: f64| 1.0 / (0.5 * width_ratio * (0.5 * PI * f / stopped).tan()).hypot(1.0);
    assert!(passes(stopped) < 1e-10);
    vec![0.0, passes(passed) / 2f64.sqrt()]
}

/// H₀⁽¹⁾(z) for large z: √(2/πz) e^{i(z − π/4)} Σ (−i)ᵐ ((2m)!)²…, term by term from the last (Abramowitz and Stegun 9.2.7 to 9.2.10).
fn hankel(z: f64) -> Complex64 {
    let (mut sum, mut term) = (Complex64::ZERO, Complex64::ONE);
    for m in 0..8 {
        sum += term;
        let odd = f64::from(2 * m + 1);
        term *= Complex64::new(0.0, -odd * odd / (8.0 * z * f64::from(m + 1)));
    }
    (2.0 / (PI * z)).sqrt() * Complex64::cis(z - FRAC_PI_4) * sum
}

/// The rms of Σ A/4c² H₀(kr) e^{iωτ} at every detector.
pub(super) fn line_array(scenario: &Scenario, speed: f64) -> Vec<f64> {
    let source = &scenario.sources()[0];
    let omega = TAU * tone(&source.signal);
    let Place::Points(points) = &source.place else {
        panic!("a list of places")
    };
    let heard = |at: [f64; 3]| {
        let sum: Complex64 = points
            .iter()
            .map(|point| {
                let r = (at[0] - point.at[0]).hypot(at[1] - point.at[1]);
                hankel(omega * r / speed) * Complex64::cis(omega * point.delay)
            })
            .sum();
        source.amplitude / (4.0 * speed * speed) * sum.norm() / 2f64.sqrt()
    };
    let detectors = scenario.detectors().iter();
    detectors
        .map(|detector| match detector.region {
            Region::Point(at) => heard(at),
            ref other => panic!("a point, not {other:?}"),
        })
        .collect()
}

/// ∫p²/2ρc² of the pulse, and Sabine's exponential with Paris' absorption of all walls, those of the balls included.
pub(super) fn sabine(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let Initial::Pulses(pulses) = scenario.initial() else {
        panic!("a pulse")
    };
    let energy = pulses[0].amplitude.powi(2) * PI.powf(1.5) * pulses[0].width.powi(3) / (2.0 * 1.2 * speed * speed);
    let root = (1.0f64 - 0.12).sqrt();
    let absorption = room::random_absorption((1.0 + root) / (1.0 - root));
    let [x, y, z] = [4.4, 3.6, 3.0];
    let balls = [0.55f64, 0.5];
    let volume = x * y * z - balls.iter().map(|r| 4.0 / 3.0 * PI * r.powi(3)).sum::<f64>();
    let surface = 2.0 * (x * y + y * z + z * x) + balls.iter().map(|r| 4.0 * PI * r * r).sum::<f64>();
    let time = 24.0 * LN_10 * volume / (speed * absorption * surface);
    at.iter().map(|t| energy * (-6.0 * LN_10 * t / time).exp()).collect()
}

/// The mode (2, 0) of a rigid room driven at its own frequency, with the lattice's ω of it; walls stand half a site beyond the first and the last one.
#[expect(clippy::cast_precision_loss, reason = "sites")]
pub(super) fn room_response(scenario: &Scenario, speed: f64, at: &[f64]) -> Vec<f64> {
    let grid = scenario.grid();
    let a = grid.spacing();
    let [length, width] = [0, 1].map(|axis| grid.size()[axis] as f64 * a);
    let (k, step) = (TAU / length, scenario.time().step.unwrap());
    let omega = 2.0 / step * (speed * step / a * (0.5 * k * a).sin()).asin();
    let source = &scenario.sources()[0];
    assert!(
        (tone(&source.signal) / (omega / TAU) - 1.0).abs() < 1e-6,
        "{}",
        omega / TAU
    );
    let Place::Points(points) = &source.place else {
        panic!("a point")
    };
    let mode = |x: f64| (k * (x + 0.5 * a)).cos();
    let size = source.amplitude * mode(points[0].at[0]) / (0.5 * length * width);
    let heard = |n: usize| match scenario.detectors()[n].region {
        Region::Point(place) => size * at[n] / (2.0 * omega) * (omega * at[n]).sin() * mode(place[0]),
        ref other => panic!("a point, not {other:?}"),
    };
    // cos 90° in binary is not quite 0.
    (0..2)
        .map(heard)
        .map(|p| if p.abs() < 1e-12 { 0.0 } else { p })
        .collect()
}
