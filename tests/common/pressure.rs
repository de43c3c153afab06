//! Scenes of sound and what is done with their pressure.

#[path = "noise.rs"]
mod random;

pub use random::noise;

use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{Clock, Solver, Taps, read_scene_text};

/// c and a of most tests: no powers of two, so that no factor hides.
pub const SPEED: f64 = 343.0;
pub const SPACING: f64 = 0.025;

/// A scene from its sections; `Δt` for a Courant number is [`step`].
pub fn scene(text: &str) -> Scenario {
    try_scene(text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

pub fn try_scene(text: &str) -> Result<Scenario, String> {
    read_scene_text(&format!("format = 1\ntitle = \"test\"\n{text}"), None, &[])
        .map(|(_, scenario)| scenario)
        .map_err(|faults| faults.to_string())
}

pub fn step(courant: f64) -> f64 {
    courant * SPACING / SPEED
}

pub fn advance(solver: &mut dyn Solver, steps: u64) {
    solver.advance(steps, &mut Taps::default()).unwrap();
}

pub fn values(solver: &mut dyn Solver) -> Vec<f64> {
    let field = solver.field().unwrap();
    (0..field.len()).map(|i| field.at(i).re).collect()
}

/// Replaces the pressure; dp/dt = 0, t = 0.
pub fn start(solver: &mut dyn Solver, pressure: &[f64]) {
    let clock = Clock::at_start(solver.clock().time_step);
    solver.set_field(&FieldData::Float64(pressure.to_vec()), clock).unwrap();
}

pub fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
