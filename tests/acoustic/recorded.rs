//! What detectors record of a scene, and the pulse that its sources play.

use crate::{SPACING, SPEED, build, scene, step};
use ripplon::solver::Taps;
use std::f64::consts::PI;

/// Times and the records of all detectors.
pub fn record(text: &str, steps: u64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let scenario = scene(text);
    let mut solver = build(&scenario);
    let mut taps = Taps::of(&scenario);
    solver.advance(steps, &mut taps).unwrap();
    let values = (0..scenario.detectors().len())
        .map(|n| taps.values(n).to_vec())
        .collect();
    (taps.times().to_vec(), values)
}

/// Grid, speed, step and solver of a scene in double precision.
pub fn header(size: &[usize], edges: &str, courant: f64, order: usize) -> String {
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\n[acoustic]\nspeed = {SPEED}\n[time]\nstep = {:e}\n[solver]\n\
         precision = \"double\"\norder = {order}\n",
        step(courant)
    )
}

/// s(t) of a Ricker pulse.
pub fn ricker(frequency: f64, t: f64) -> f64 {
    if t < 0.0 {
        return 0.0;
    }
    let u = (PI * (frequency * t - 1.2)).powi(2);
    (1.0 - 2.0 * u) * (-u).exp()
}
