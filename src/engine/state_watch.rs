//! The measures of ψ during a run, computed only where they are shown, and rarely enough not to slow it.

use super::pacing::TimeBudget;
use super::{Engine, EngineError};
use crate::physics::StateMeasures;
use std::time::{Duration, Instant};

/// The measures taken last.
pub(super) struct StateWatch {
    wanted: bool,
    latest: Option<(u64, f64, StateMeasures)>,
    budget: TimeBudget,
}

impl Default for StateWatch {
    fn default() -> Self {
        Self {
            wanted: false,
            latest: None,
            // Ten times a second, and at most a twentieth of the time.
            budget: TimeBudget::new(10.0, 0.05),
        }
    }
}

impl StateWatch {
    /// Whether they are shown.
    pub(super) fn want(&mut self, wanted: bool) {
        self.wanted = wanted;
        if !wanted {
            self.latest = None;
        }
    }

    /// Those taken last belong to another run.
    pub(super) fn forget(&mut self) {
        self.latest = None;
    }

    /// Step, time and measures taken last.
    pub(super) fn latest(&self) -> Option<(u64, f64, StateMeasures)> {
        self.latest
    }

    /// Takes them if they are wanted, there is another state and, unless `at_once`, if it is time; `now` counts from any fixed moment.
    pub(super) fn take(&mut self, engine: &mut Engine, now: Duration, at_once: bool) -> Result<(), EngineError> {
        let clock = engine.clock();
        let known = self.latest.is_some_and(|(step, _, _)| step == clock.steps);
        if !self.wanted || known && !at_once || !(at_once || self.budget.allows(now)) {
            return Ok(());
        }
        let begin = Instant::now();
        self.latest = engine.state_measures()?.map(|found| (clock.steps, clock.time, found));
        self.budget.spent(now, begin.elapsed());
        Ok(())
    }
}
