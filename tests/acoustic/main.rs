//! Sound by finite differences, against closed forms of the scheme itself (to round-off) and of the wave equation (to its order).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::bool_assert_comparison,
    reason = "tests: small sizes, exact comparisons on purpose"
)]

mod edges;
mod media;
mod modes;
mod runs;
mod sources;
mod tiles;

use ripplon::field::FieldData;
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, Clock, Solver, Taps, read_scene_text};

/// c and a of most tests: no powers of two, so that no factor hides.
const SPEED: f64 = 343.0;
const SPACING: f64 = 0.025;
const ORDERS: [usize; 4] = [2, 4, 6, 8];

/// A scene from its sections; `Δt` for a Courant number is [`step`].
fn scene(text: &str) -> Scenario {
    try_scene(text).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

fn try_scene(text: &str) -> Result<Scenario, String> {
    let text = format!("format = 1\ntitle = \"test\"\n{text}");
    match read_scene_text(&text, None, &[]) {
        Ok((_, scenario)) => Ok(scenario),
        Err(faults) => Err(faults.to_string()),
    }
}

/// Grid, constants, step and solver sections; `more` follows `[acoustic]`.
fn sections(size: &[usize], edges: &str, courant: f64, solver: &str) -> String {
    let center = vec![SPACING; size.len()];
    let step = step(courant);
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\nabsorb_width = 6\n[acoustic]\nspeed = {SPEED}\ndensity = 1.2\n\
         [time]\nstep = {step:e}\n[solver]\n{solver}\n[[pulse]]\ncenter = {center:?}\nwidth = 0.06\n"
    )
}

fn step(courant: f64) -> f64 {
    courant * SPACING / SPEED
}

fn build(scenario: &Scenario) -> Box<dyn Solver> {
    let method = solver::find("fdtd").expect("the method is in the table");
    (method.build)(scenario).unwrap_or_else(|error| panic!("{error}"))
}

/// The variants of the table that work in so many dimensions, on the processor.
fn variants(rank: usize) -> Vec<&'static str> {
    let method = solver::find("fdtd").expect("the method is in the table");
    let target = method.targets.iter().find(|target| target.backend == Backend::Cpu);
    let all = target
        .expect("it runs on processors")
        .variants
        .iter()
        .map(|variant| variant.id);
    let size = vec![8; rank];
    let accepted = |variant: &str| {
        let solver = format!("method = \"fdtd\"\nbackend = \"cpu\"\nvariant = \"{variant}\"");
        try_scene(&sections(&size, "\"wall\"", 0.3, &solver)).is_ok()
    };
    all.filter(|variant| accepted(variant)).collect()
}

fn advance(solver: &mut dyn Solver, steps: u64) {
    solver.advance(steps, &mut Taps::default()).unwrap();
}

fn values(solver: &mut dyn Solver) -> Vec<f64> {
    let field = solver.field().unwrap();
    (0..field.len()).map(|i| field.at(i).re).collect()
}

/// Replaces the pressure; dp/dt = 0, t = 0.
fn start(solver: &mut dyn Solver, pressure: &[f64]) {
    let clock = Clock {
        time_step: solver.clock().time_step,
        ..Clock::default()
    };
    solver.set_field(&FieldData::Float64(pressure.to_vec()), clock).unwrap();
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Seeded values from −1 to 1 (splitmix64).
fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}
