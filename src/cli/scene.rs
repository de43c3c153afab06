//! Scenes named on the command line, and how faults are shown.

use super::SceneArgs;
use super::terminal::tell;
use crate::engine::resolution::{idle_layers, not_covered};
use crate::physics::Equation;
use crate::scene::{Faults, Scenario, without_controls};
use crate::solver;
use std::io::IsTerminal;
use std::sync::Arc;

/// The scene of a preset or a file, with `--set` applied.
///
/// # Errors
/// [`Faults`]: everything that is wrong with it.
pub fn load(args: &SceneArgs) -> Result<Arc<Scenario>, Faults> {
    let (_, scenario) = solver::read_scene(&args.scene, &args.set)?;
    Ok(Arc::new(scenario))
}

/// The heading of a plot: the scene's title, if it has one, and the quantity shown.
pub(super) fn titled(scenario: &Scenario, what: &str) -> String {
    match scenario.title() {
        "" => what.to_owned(),
        title => format!("{title}: {what}"),
    }
}

/// What stands behind lengths and times of a scene: the units of sound; quantum scenes have none.
pub(super) fn units_of(scenario: &Scenario) -> [&'static str; 2] {
    match scenario.model().equation() {
        Equation::Acoustic => [" m", " s"],
        Equation::Schrodinger => ["", ""],
    }
}

/// Whether an error is about a scene.
pub(super) fn is_fault(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<Faults>()
}

/// An error as the user sees it: the faults of a scene with their lines, anything else in one sentence.
pub(super) fn error_text(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Faults>() {
        Some(faults) => faults.render(std::io::stderr().is_terminal()).trim_end().to_owned(),
        None => format!("error: {}", without_controls(&format!("{error:#}"))),
    }
}

/// The notes of a run, e.g. that it does not run on the device, or that its Δt is too long in a way that nothing else would show. The run ends at `end`.
pub(super) fn print_note(engine: &crate::engine::Engine, end: Option<f64>) {
    if let Some(note) = engine.report().note {
        tell!("note: {note}");
    }
    let scenario = engine.scenario();
    let time_step = engine.clock().time_step;
    for words in not_covered(scenario, time_step, end)
        .into_iter()
        .chain(idle_layers(scenario))
    {
        tell!("note: {words}");
    }
    note_step(scenario);
}

/// Notes a Δt that is longer than the recommended one, in a scene without predictions, which would show it.
pub(super) fn note_step(scenario: &Scenario) {
    let Some(step) = scenario.time().step.filter(|_| scenario.expectations().is_empty()) else {
        return;
    };
    let advice = solver::find(&scenario.solver().method).map(|method| method.advice(scenario));
    let [_, second] = units_of(scenario);
    if let Some(advice) = advice.filter(|advice| step > advice.sensible * 1.0001) {
        tell!(
            "note: Δt = {step}{second} is larger than the recommended {}{second}: the result will not be accurate; reduce time.step or write \"auto\"",
            super::figures::short(advice.sensible)
        );
    }
}
