//! Sound by finite differences, against closed forms of the scheme itself (to round-off) and of the wave equation (to its order).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::bool_assert_comparison,
    reason = "tests: small sizes"
)]

mod directed;
mod edges;
mod energy;
mod impedance;
mod long;
mod means;
mod media;
mod modes;
mod onset;
mod operator;
mod painted;
mod points;
#[path = "../common/pressure.rs"]
mod pressure;
mod recorded;
mod relaxation;
mod runs;
mod sources;
mod tiles;
mod velocity;
mod whole;

use pressure::{SPACING, SPEED, advance, largest_difference, noise, scene, start, step, try_scene, values};
use ripplon::scene::Scenario;
use ripplon::solver::{self, Backend, Solver};

const ORDERS: [usize; 4] = [2, 4, 6, 8];

/// Grid, constants, step and solver sections; `more` follows `[acoustic]`.
fn sections(size: &[usize], edges: &str, courant: f64, solver: &str) -> String {
    let center = vec![SPACING; size.len()];
    let step = step(courant);
    format!(
        "[grid]\nsize = {size:?}\nspacing = {SPACING}\nedges = {edges}\nabsorb_width = 6\n[acoustic]\nspeed = {SPEED}\ndensity = 1.2\n\
         [time]\nstep = {step:e}\n[solver]\n{solver}\n[[pulse]]\ncenter = {center:?}\nwidth = 0.06\n"
    )
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
