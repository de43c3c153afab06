//! Time reversal: scenes with a mirror, and the tolerances of the reversed wave.

use super::{Case, Check, STEP, Trial, distance, plainest, rounding};
use crate::engine::{Engine, EngineError};
use crate::physics::{Equation, Refocus};
use crate::solver::{self, SolverError};
use num_complex::Complex64;
use std::sync::Arc;

/// When time is reversed, and the distance of the transducers from the middle: waves that begin there have left by
/// then. In space a shell of so many sites plays that a software adapter takes minutes for each case; a small shell,
/// which most of the wave has not left, is compared with the plainest variant as well.
fn turn_and_radius(rank: usize) -> (f64, f64) {
    [(12.0, 7.0), (12.0, 7.0), (3.0, 3.0)][rank - 1]
}

/// A text of [`bench::scene`] with a wave that leaves the middle, and with a mirror.
#[expect(clippy::cast_precision_loss, reason = "sites of a small grid")]
pub(super) fn scene(trial: Trial, case: &Case, rank: usize, text: &str, step: f64) -> String {
    let key = match case.method.equation {
        Equation::Schrodinger => "[[packet]]",
        Equation::Acoustic => "[[pulse]]",
    };
    let (head, rest) = text.split_once(key).unwrap_or((text, ""));
    let layer = rest.find("[[layer]]").map_or("", |at| &rest[at..]);
    let list = |numbers: &[f64]| format!("{:?}", &numbers[..rank]);
    let grid = trial.grid(rank);
    let center: Vec<f64> = grid.iter().map(|sites| (sites / 2) as f64).collect();
    let state = match case.method.equation {
        Equation::Schrodinger => format!("width = {}\nmomentum = {}", list(&[1.5; 3]), list(&[0.9, 0.5, 0.7])),
        Equation::Acoustic => "width = 1.5".to_owned(),
    };
    let (turn, radius) = turn_and_radius(rank);
    let mirror = match trial {
        Trial::Mirror => format!(
            "method = \"{}\"\ntransducers = {{ shape = \"ring\", center = {}, radius = {radius:?}, count = 24 }}",
            if filters(case, rank) {
                "inverse-filter"
            } else {
                "reversal"
            },
            list(&center)
        ),
        _ => "method = \"echo\"".to_owned(),
    };
    let head = head.replace(
        "step = 0.1\nend = 1.0",
        &format!("step = {step}\nend = {:?}", 2.0 * turn),
    );
    format!(
        "{head}{key}\ncenter = {}\n{state}\n{layer}\n[mirror]\nat = {turn:?}\n{mirror}\n",
        list(&center)
    )
}

/// Whether a case's mirror is an inverse filter. A step of order 4 reaches so far that nearly every site of a plane or a space would play; there, few transducers play back what they recorded.
fn filters(case: &Case, rank: usize) -> bool {
    case.method.reach.is_some() && (case.order < 4 || rank == 1)
}

/// A run there and back.
struct Returned {
    field: Vec<Complex64>,
    refocus: Refocus,
    /// The tolerance for rounding.
    rounding: f64,
    details: String,
}

/// Records, reverses and plays a case's scene with Δt = `step`, in pieces.
#[expect(clippy::cast_precision_loss, reason = "a few hundred steps")]
fn there_and_back(case: &Case, rank: usize, trial: Trial, step: f64) -> Result<Returned, EngineError> {
    let text = trial.scene(case, rank, step);
    let (_, scenario) =
        solver::read_scene_text(&text, None, &[]).map_err(|faults| SolverError::Unsupported(faults.render(false)))?;
    let mut engine = Engine::new(Arc::new(scenario))?;
    let steps = 2 * engine.mirror().map_or(0, |status| status.turn);
    engine.advance(steps / 3)?;
    engine.advance(steps - steps / 3)?;
    let refocus = engine.refocus()?.unwrap_or_default();
    Ok(Returned {
        field: engine.field()?.to_complex128(),
        refocus,
        // Rounded factors act with the same sign forth and back, which adds to the random walk: twice as much.
        rounding: 2.0 * rounding(case, engine.scenario(), steps as f64),
        details: engine.report().details,
    })
}

/// The whole field reversed, against the state at t = 0. Steps of even order are symmetric, S(−Δt)S(Δt) = 1, and what is left is rounding; those of order 1 err
/// by half as much with half the step.
pub(super) fn echo(case: &Case, rank: usize) -> Result<Check, EngineError> {
    let found = there_and_back(case, rank, Trial::Echo, STEP)?;
    if case.order != 1 {
        return Ok(Check {
            error: found.refocus.error,
            tolerance: found.rounding,
            details: found.details,
        });
    }
    let finer = there_and_back(case, rank, Trial::Echo, STEP / 2.0)?;
    Ok(Check {
        error: finer.refocus.error,
        tolerance: 1.5 * found.refocus.error / 2.0 + finer.rounding,
        details: finer.details,
    })
}

/// The wave of the transducers, compared with the plainest variant in double precision. An inverse filter is exact for what has left the ring at the turn; the rest, which p
/// shares with dp/dt, is carried along: five times it are allowed.
pub(super) fn mirror(case: &Case, rank: usize) -> Result<Check, EngineError> {
    let exact = there_and_back(&plainest(case), rank, Trial::Mirror, STEP)?;
    let found = there_and_back(case, rank, Trial::Mirror, STEP)?;
    let own = found.refocus;
    let apart = Check {
        error: distance(&found.field, &exact.field),
        tolerance: found.rounding,
        details: found.details,
    };
    if filters(case, rank) && case.order != 1 && own.error > 5.0 * own.residual + found.rounding {
        return Ok(Check {
            error: own.error,
            tolerance: 5.0 * own.residual + found.rounding,
            ..apart
        });
    }
    Ok(apart)
}
