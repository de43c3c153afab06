//! The spectrum of a scene: its lowest levels, or the energies contained in its own wave.

use super::dispersion::potential;
use super::{Engine, EngineError};
use crate::field::Precision;
use crate::grid::Edge;
use crate::physics::eigen::{self, EigenError, Hamiltonian, Levels, Round};
use crate::physics::{Autocorrelation, Sets};
use crate::scene::Scenario;
use crate::solver;
use crate::units::four_digits;
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Steps of a record of a scene that absorbs, where the step is automatic: a single band of harmonic inversion.
const RECORDS: f64 = 160.0;

/// The lowest `wanted` levels of a scene; `watch` is told of every round.
///
/// # Errors
/// If the scene has no levels, or too few, memory runs out, or the search was cancelled.
pub fn levels(
    scenario: &Scenario,
    wanted: usize,
    watch: &mut dyn FnMut(Round) -> ControlFlow<()>,
) -> Result<Levels, EigenError> {
    let Some(quantum) = scenario.model().quantum() else {
        return Err(EigenError::NoLevels {
            what: "a scene of sound has no levels of energy".to_owned(),
            remedy: "take a quantum scene".to_owned(),
        });
    };
    let hamiltonian = Hamiltonian::new(scenario.grid(), &quantum, scenario.medium())?;
    let exchange = scenario.file().quantum.as_ref().and_then(|own| own.exchange);
    let hamiltonian = match exchange {
        Some(exchange) => hamiltonian.with_exchange(exchange),
        None => hamiltonian,
    };
    eigen::lowest(&hamiltonian, wanted, watch)
}

/// What a user should know of the levels of a scene whose method steps another Hamiltonian than the lattice's, of which they are.
pub fn remark(scenario: &Scenario) -> Option<&'static str> {
    steps_the_continuum(scenario).then_some(
        "levels are those of the lattice, and with `mass` split-step-fourier steps the continuum, where short waves have more energy; \
         take `hopping`, or another method",
    )
}

/// Whether short waves have the energy of the continuum, k²/2m, instead of the lattice's.
fn steps_the_continuum(scenario: &Scenario) -> bool {
    let has_mass = scenario.model().quantum().is_some_and(|quantum| quantum.mass.is_some());
    scenario.solver().method == "split-step-fourier" && has_mass
}

/// Refuses scenes whose overlap with the initial state is not a sum of e^{−iEt}.
fn swings_freely(scenario: &Scenario) -> Result<(), EngineError> {
    let refused = |what: &str, remedy: &str| Err(EngineError::Levels(format!("{what}; {remedy}")));
    if scenario.time().imaginary {
        return refused(
            "in imaginary time the wave decays and does not oscillate",
            "set time.imaginary = false",
        );
    }
    if scenario.mirror().is_some() {
        return refused(
            "a mirror reverses time, so that there are two records",
            "remove [mirror]",
        );
    }
    Ok(())
}

/// The lowest and the highest energy that H of a scene can have: the lattice's band, of `split-step-fourier` with a mass the continuum's as far as the grid carries it, and the potential. `None` if there is more in H than
/// those, where it changes in time, and for sound.
#[expect(clippy::cast_precision_loss, reason = "1 to 3")]
pub fn energies(scenario: &Scenario) -> Option<[f64; 2]> {
    let quantum = scenario.model().quantum()?;
    let medium = scenario.medium();
    let interacts = quantum.interaction != 0.0 || medium.sets_interaction() || medium.cross_interaction() != 0.0;
    if interacts || medium.sets_bonds() || medium.rotation() != 0.0 || !medium.drives().is_empty() {
        return None;
    }
    let rank = scenario.grid().rank() as f64;
    let rest = quantum.diagonal - 2.0 * rank * quantum.hopping;
    let band = if steps_the_continuum(scenario) { PI * PI } else { 4.0 };
    let [deep, tall] = potential(scenario);
    Some([rest + deep, rest + band * rank * quantum.hopping + tall])
}

/// The same run with an automatic step that is no longer than `most`, a whole part of `end`: a method that is exact takes steps in which the phases turn
/// round several times, and a record of them does not tell the frequencies apart. A step that the scene gives stays, and so does one that would be 0.
pub(super) fn resolving(engine: Engine, most: f64, end: f64) -> Result<Engine, EngineError> {
    let scenario = engine.scenario();
    if scenario.time().step.is_some() || engine.clock().time_step <= most || most <= 0.0 {
        return Ok(engine);
    }
    with_step(&engine, end / (end / most).ceil())
}

/// The same run with this Δt.
pub(super) fn with_step(engine: &Engine, step: f64) -> Result<Engine, EngineError> {
    let scenario = engine.scenario();
    let settings = [format!("time.step={step:?}")];
    let read = solver::read_scene_text(&scenario.file().to_toml(), scenario.origin(), &settings);
    let (_, finer) = read.map_err(|faults| EngineError::Levels(faults.to_string()))?;
    Engine::new(Arc::new(finer.titled(scenario.title().to_owned())))
}

/// Whether states of a scene decay within a record of this length: something absorbs, and not so weakly that it takes less than a thousandth.
fn decays(scenario: &Scenario, time: f64) -> bool {
    const LEAST: f64 = 1e-3;
    let (grid, medium) = (scenario.grid(), scenario.medium());
    if grid.edges()[..grid.rank()].contains(&Edge::Absorb) {
        return true;
    }
    if !medium.has(Sets::Absorption) {
        return false;
    }
    let [nx, ny, nz] = grid.size();
    let mut row = vec![0.0; nx];
    (0..ny * nz).any(|n| {
        medium.damping_row(n % ny, n / ny, 0..nx, &mut row);
        row.iter().any(|w| w * time >= LEAST)
    })
}

/// Why lines of a scene's [`autocorrelation`] to `end` are not levels that last, in words; nothing where they are.
pub fn no_levels(scenario: &Scenario, end: f64) -> Vec<&'static str> {
    let medium = scenario.medium();
    let interacts = scenario
        .model()
        .quantum()
        .is_some_and(|quantum| quantum.interaction != 0.0 || medium.sets_interaction());
    [
        (
            decays(scenario, end),
            "the scene absorbs, and its states decay: lines are fitted with the rate Γ of e^(−Γt), by which the probability of a state falls; weights need not add up to 1",
        ),
        (
            interacts,
            "an interaction makes the equation nonlinear: lines are frequencies of ψ, and no levels",
        ),
        (
            !medium.drives().is_empty(),
            "a driven layer changes the Hamiltonian in time: lines are frequencies of ψ, and no levels",
        ),
    ]
    .into_iter()
    .filter_map(|(is_so, words)| is_so.then_some(words))
    .collect()
}

/// How far a step may change amplitudes by rounding, as a share of them. |d ln N| of a step was at most 0.7 ε in single precision, and 2.5 ε in double (`crank-nicolson`; `chebyshev` 0.9), of states behind a wall
/// that cannot decay, for steps from 0.01 to 1; amplitudes change by half of that, phases by as much.
fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::Single => f64::from(f32::EPSILON),
        Precision::Double => 4.0 * f64::EPSILON,
    }
}

/// What the steps of a method do to energies and rates that are read off them, in words; `None` where lines are those of H.
fn of_steps(engine: &Engine, corrected: bool) -> Option<String> {
    let (report, step) = (engine.report(), engine.clock().time_step);
    if report.order == solver::EXACT || corrected {
        return None;
    }
    let hopping = engine.scenario().model().quantum()?.hopping.abs();
    // Order 1 is order 2 in another basis.
    let order = report.order.max(2);
    let power = i32::try_from(order).unwrap_or(2);
    Some(format!(
        "energies and rates are those of the steps of {}, which differ from those of the scene by what grows as Δt^{order}: (JΔt)^{order} = {} of them is usual; take a shorter time.step, or solver.method = \"chebyshev\"",
        report.method,
        four_digits((hopping * step).powi(power)),
    ))
}

/// The lines of a record of a run, and what to know of them.
pub struct Recorded {
    /// The lines.
    pub found: Autocorrelation,
    /// What the steps of the method do to them, in words.
    pub steps: Option<String>,
}

/// Runs a scene to `end`, recording its overlap with the initial state after every step. Lines of a scene that absorbs are fitted
/// with their decay, and an automatic step is short enough for 160 of them. `watch` is told of the steps done and may cancel it.
///
/// # Errors
/// If the run fails or has too few steps; [`EngineError::Cancelled`] if it was cancelled.
pub fn autocorrelation(
    scenario: Arc<Scenario>,
    end: f64,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Recorded, EngineError> {
    swings_freely(&scenario)?;
    let range = energies(&scenario);
    let mut engine = Engine::new(scenario)?;
    let decays = decays(engine.scenario(), end);
    let mut most = f64::INFINITY;
    if let Some([low, high]) = range {
        // A line is 2π/end wide; 5 % are between the highest energy and the lowest one a turn above.
        most = TAU / (1.05 * (high - low) + TAU / end);
    }
    if decays {
        most = most.min(end / RECORDS);
    }
    engine = resolving(engine, most, end)?;
    let steps = engine.steps_until(end)?;
    let least = if decays { Autocorrelation::LEAST } else { 4 };
    if steps < least {
        return Err(EngineError::Levels(format!(
            "too few steps ({steps}) to tell lines, which takes {least}; shorten time.step, or set a later time.end"
        )));
    }
    let mut overlap = Vec::new();
    for step in 0..=steps {
        if step > 0 {
            engine.advance(1)?;
        }
        overlap.push(engine.overlap()?);
        if watch(step, steps).is_break() {
            return Err(EngineError::Cancelled("the autocorrelation"));
        }
    }
    let step = engine.clock().time_step;
    let report = engine.report();
    let found = if decays {
        Autocorrelation::decaying(overlap, step, rounding(report.precision))
    } else {
        Autocorrelation::of(overlap, step)
    };
    let implicit = report.method == solver::crank_nicolson::METHOD.id;
    let reference = if implicit {
        solver::crank_nicolson::compressed_about(engine.scenario())
    } else {
        None
    };
    let found = match (range, reference) {
        (None, _) => found,
        (Some(range), None) => found.within(range),
        (Some(range), Some(reference)) => found.within(range).uncompressed(reference),
    };
    let corrected = range.is_some() && reference.is_some() && !found.folds();
    let steps = of_steps(&engine, corrected);
    Ok(Recorded { found, steps })
}
