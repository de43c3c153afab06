//! What a run comes to, told to the log: what steps it, each prediction once it was measured, and the sums where the run rests.

use crate::engine::{Frame, Verdict};

/// What was told already.
#[derive(Debug, Default)]
pub struct RunLog {
    run: u64,
    begun: bool,
    told: usize,
    rested: bool,
}

impl RunLog {
    /// Tells what is new in a frame.
    pub fn follow(&mut self, frame: &Frame) {
        if self.run != frame.run {
            *self = Self {
                run: frame.run,
                ..Self::default()
            };
        }
        if !self.begun
            && let Some(report) = &frame.report
        {
            self.begun = true;
            tracing::info!(
                method = report.method,
                variant = report.variant,
                backend = report.backend.as_str(),
                details = report.details,
                note = report.note,
                "the run begins"
            );
        }
        let measured = |verdict: &&Verdict| verdict.measured().is_some();
        let count = frame.verdicts.iter().filter(measured).count();
        if count != self.told {
            self.told = count;
            tracing::info!(verdicts = ?frame.verdicts, "measured");
        }
        let rests = frame.rests && frame.observables.is_some();
        if rests
            && !self.rested
            && let Some((step, sums)) = &frame.observables
        {
            tracing::info!(
                step,
                time = frame.clock.time,
                norm = sums.norm,
                drift = frame.drift,
                rate = frame.rate,
                "the run rests"
            );
        }
        self.rested = rests;
    }
}
