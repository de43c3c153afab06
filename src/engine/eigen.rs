//! The spectrum of a scene: its lowest levels, or the energies that its own wave contains.

use super::{Engine, EngineError};
use crate::physics::Autocorrelation;
use crate::physics::eigen::{self, EigenError, Hamiltonian, Levels, Round};
use crate::scene::Scenario;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The lowest `wanted` levels of a scene; `watch` is told of every round.
///
/// # Errors
/// If the scene has none, or not as many, memory runs out, or it was cancelled.
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
    eigen::lowest(&hamiltonian, wanted, watch)
}

/// Refuses scenes whose overlap with the initial state is not a sum of e^{−iEt}.
fn swings_freely(scenario: &Scenario) -> Result<(), EngineError> {
    let refused = |what: &str, remedy: &str| Err(EngineError::Levels(format!("{what}; {remedy}")));
    if scenario.time().imaginary {
        return refused(
            "in imaginary time the wave decays and does not turn",
            "set time.imaginary = false",
        );
    }
    if scenario.mirror().is_some() {
        return refused(
            "a mirror turns time round, and the wave runs through two records",
            "remove [mirror]",
        );
    }
    Ok(())
}

/// Runs a scene to `end` with its overlap with the start taken after every step; `watch` is told of the steps done and may break it off.
///
/// # Errors
/// If the run fails; [`EngineError::Cancelled`] where it was cancelled.
pub fn autocorrelation(
    scenario: Arc<Scenario>,
    end: f64,
    watch: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Result<Autocorrelation, EngineError> {
    swings_freely(&scenario)?;
    let mut engine = Engine::new(scenario)?;
    let steps = engine.steps_until(end)?;
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
    Ok(Autocorrelation::of(overlap, engine.clock().time_step))
}
