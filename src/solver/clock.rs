//! The clock of a run: steps are counted, times follow from the count.

use super::Clock;

/// The clock of a run. The time is `base_time` + Δt·(steps − `base_steps`), so that it does not depend on how steps were batched and its error does
/// not grow; the base moves where Δt changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RunClock {
    steps: u64,
    base_steps: u64,
    base_time: f64,
    time_step: f64,
}

impl RunClock {
    /// At t = 0.
    pub(super) fn new(time_step: f64) -> Self {
        Self {
            steps: 0,
            base_steps: 0,
            base_time: 0.0,
            time_step,
        }
    }

    /// Goes on from `clock`, whose time was counted from `base` (time, steps) where that is known; else from t = 0, if all its steps may have been as long as its Δt, so that the times to come are those of the run it is
    /// taken from to the bit.
    pub(super) fn from_saved(clock: Clock, base: Option<(f64, u64)>) -> Self {
        let start = Self::new(clock.time_step).after(clock.steps);
        let counted = start.time().to_bits() == clock.time.to_bits();
        let here = if counted { (0.0, 0) } else { (clock.time, clock.steps) };
        let (base_time, base_steps) = base.unwrap_or(here);
        Self {
            steps: clock.steps,
            base_steps: base_steps.min(clock.steps),
            base_time,
            time_step: clock.time_step,
        }
    }

    /// Steps taken.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Δt with its sign.
    pub(super) fn time_step(&self) -> f64 {
        self.time_step
    }

    /// The time.
    pub(super) fn time(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "steps stay below 2^52")]
        let since = (self.steps - self.base_steps) as f64;
        self.base_time + since * self.time_step
    }

    /// Time and steps from which the time is counted.
    pub(super) fn base(&self) -> (f64, u64) {
        (self.base_time, self.base_steps)
    }

    /// The clock after so many more steps.
    pub(super) fn after(&self, steps: u64) -> Self {
        Self {
            steps: self.steps + steps,
            ..*self
        }
    }

    /// The same moment, with another Δt from here on.
    pub(super) fn with_step(&self, time_step: f64) -> Self {
        Self {
            base_time: self.time(),
            base_steps: self.steps,
            time_step,
            ..*self
        }
    }

    /// The clock for the engine.
    pub(super) fn public(&self) -> Clock {
        Clock {
            steps: self.steps,
            time: self.time(),
            time_step: self.time_step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_not_accumulated() {
        let start = RunClock::new(0.1);
        // 0.1 added 1000 times is 99.9999999999986.
        let later = (0..1000).fold(start, |clock, _| clock.after(1));
        assert_eq!(later.time().to_bits(), (0.1f64 * 1000.0).to_bits());
        assert_eq!(later, start.after(1000));
        let back = later.with_step(-0.1).after(1000);
        assert!(back.time().abs() < 1e-13 && back.steps() == 2000);
        let saved = RunClock::from_saved(back.public(), Some(back.base()));
        assert_eq!(saved, back);
        // Without the base: of steps of one length it is the start, else here.
        let carried = RunClock::from_saved(later.public(), None);
        assert_eq!(carried, later);
        let other = Clock {
            time_step: 0.2,
            ..later.public()
        };
        assert_eq!(RunClock::from_saved(other, None).base(), (later.time(), 1000));
    }
}
