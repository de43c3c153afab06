//! Errors of the engine: why a run cannot start or continue.

use super::checkpoint::CheckpointError;
use crate::solver::{MOST_STEPS, SolverError};
use crate::units::short;

/// Errors of the engine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EngineError {
    /// No row of the table has this id.
    #[error("there is no method \"{0}\"; see `ripplon list methods`")]
    UnknownMethod(String),
    /// The solver could not be built or failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// The field stopped being finite.
    #[error("the field is no longer finite at step {steps}, t = {}: {remedy}", short(*.time))]
    NonFinite {
        /// Step of the check that found it.
        steps: u64,
        /// Its time.
        time: f64,
        /// What to change.
        remedy: String,
    },
    /// The energy of sound grows although nothing drives it.
    #[error(
        "the energy grows: at step {steps}, t = {}, it is {times:.3e} times what it was, and nothing drives the field. {remedy}",
        short(*.time)
    )]
    Growing {
        /// Step of the check that found it.
        steps: u64,
        /// Its time.
        time: f64,
        /// Energy over the energy at the start or after the last edit.
        times: f64,
        /// What to change.
        remedy: String,
    },
    /// ψ is 0 everywhere.
    #[error(
        "the state at t = 0 has norm 0 in this precision; move it off walls, choose other units, or solver.precision = \"double\""
    )]
    NoState,
    /// A time that stepping in the present direction does not reach.
    #[error("t = {} lies behind t = {}, and the run goes {direction}; choose a later end or reverse the run", short(*.target), short(*.time))]
    Behind {
        /// The requested time.
        target: f64,
        /// The present time.
        time: f64,
        /// `forwards` or `backwards`.
        direction: &'static str,
    },
    /// A time that is more steps away than a clock can count.
    #[error("up to t = {target:?} there are {steps:.1e} steps of {step:.6e}; choose an earlier time, such that there are at most {most:.1e}", most = MOST_STEPS)]
    TooFar {
        /// The requested time.
        target: f64,
        /// Steps up to there.
        steps: f64,
        /// Δt.
        step: f64,
    },
    /// The eigenstates that the scene begins with could not be found.
    #[error("the levels of the scene could not be found: {0}")]
    Levels(String),
    /// A checkpoint was not written or not taken.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The scene's mirror cannot do this at present.
    #[error("time cannot be turned round: {0}")]
    Mirror(String),
    /// A long task was cancelled.
    #[error("{0}: cancelled; the run is at the step before it")]
    Cancelled(&'static str),
    /// There is no snapshot.
    #[error("there is no snapshot; take one first")]
    NoSnapshot,
}

impl EngineError {
    /// Whether the scene is at fault (exit code 2) rather than the run (exit code 1).
    pub fn is_input(&self) -> bool {
        match self {
            Self::UnknownMethod(_)
            | Self::NoState
            | Self::Levels(_)
            | Self::Behind { .. }
            | Self::TooFar { .. }
            | Self::Solver(SolverError::Unsupported(_)) => true,
            Self::Checkpoint(error) => !matches!(error, CheckpointError::Write { .. }),
            _ => false,
        }
    }
}
