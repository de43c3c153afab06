//! The contrast of the focus against the number of transducers that play and the length of the record: one number for each way back.

use super::Phase;
use crate::engine::{Engine, EngineError};
use crate::physics::MirrorMethod;

/// The result of a way back.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Replay {
    /// The method of reversal.
    pub method: MirrorMethod,
    /// Sites that played.
    pub playing: usize,
    /// The length of the record that they played, from t = 0 on; a time.
    pub record: f64,
    /// |ψ| or |p| in the focus over its root mean square, at the moment of the focus.
    pub contrast: f64,
    /// Its full width at half height there; a length ([`Refocus::width`](crate::physics::Refocus::width)).
    pub width: Option<f64>,
}

impl Replay {
    /// Whether another one had the same settings.
    fn is_like(&self, other: &Self) -> bool {
        (self.method, self.playing, self.record.to_bits()) == (other.method, other.playing, other.record.to_bits())
    }
}

/// The factor a of the law contrast = a·√(M·T), least squares over these ways back: modes of a closed room add up in the focus, and at random beside it, until all of
/// them are told apart. `None` if nothing played.
///
/// Source: Draeger & Fink 1997, doi:10.1103/PhysRevLett.79.407.
#[expect(clippy::cast_precision_loss, reason = "numbers of transducers are far below 2^52")]
pub fn law(replays: &[Replay]) -> Option<f64> {
    let share = |replay: &Replay| replay.playing as f64 * replay.record;
    let total: f64 = replays.iter().map(share).sum();
    let found: f64 = replays
        .iter()
        .map(|replay| replay.contrast * share(replay).sqrt())
        .sum();
    (total > 0.0).then(|| found / total)
}

impl Engine {
    /// The ways back so far, one for each number of transducers and length of record: the last one that was taken with them.
    pub fn replays(&self) -> &[Replay] {
        &self.replays
    }

    /// The step of the focus: as far after the reversal as the middle of the first source's signal, or t = 0, lies before it. `None` without a mirror, or if that was
    /// not recorded.
    pub fn focal_step(&self) -> Option<u64> {
        let turn = self.timeline.as_ref()?.turn;
        let source = self.scenario.sources().first();
        let middle = source.map_or(0.0, |source| source.delay + source.signal.middle());
        let before = crate::engine::build::steps_between(0.0, middle, self.clock().time_step.abs());
        turn.checked_sub(before).map(|after| turn + after)
    }

    /// Steps to the time at which the focus is measured, if it is still ahead on the way back.
    pub(in crate::engine) fn until_focus(&self) -> u64 {
        let steps = self.clock().steps;
        match self.focal_step() {
            Some(focal) if self.phase() == Some(Phase::Replay) && focal > steps => focal - steps,
            _ => u64::MAX,
        }
    }

    /// Measures the focus at its moment.
    pub(in crate::engine) fn note_replay(&mut self) -> Result<(), EngineError> {
        if self.phase() != Some(Phase::Replay) || self.focal_step() != Some(self.clock().steps) {
            return Ok(());
        }
        let Some(mirror) = self
            .scenario
            .mirror()
            .cloned()
            .filter(|own| own.method != MirrorMethod::Echo)
        else {
            return Ok(());
        };
        let Some(found) = self.refocus()? else { return Ok(()) };
        let Some(timeline) = &self.timeline else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "steps are far below 2^52")]
        let recorded = timeline.turn as f64 * self.clock().time_step.abs();
        let replay = Replay {
            method: mirror.method,
            playing: timeline.sites.playing(&mirror).len(),
            record: mirror.record.min(recorded),
            contrast: found.contrast,
            width: found.width,
        };
        match self.replays.iter_mut().find(|known| known.is_like(&replay)) {
            Some(known) => *known = replay,
            None => self.replays.push(replay),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_goes_through_points_that_keep_it() {
        let replay = |playing, record: f64, contrast| Replay {
            method: MirrorMethod::Reversal,
            playing,
            record,
            contrast,
            width: Some(1.0),
        };
        let all = [replay(4, 0.25, 3.0), replay(9, 1.0, 9.0)];
        assert!((law(&all).unwrap() - 3.0).abs() < 1e-14);
        // Σ y√x / Σ x = (4·1 + 9·3)/(1 + 9).
        assert!((law(&[replay(4, 0.25, 4.0), replay(9, 1.0, 9.0)]).unwrap() - 3.1).abs() < 1e-14);
        assert_eq!(law(&[]), None);
    }
}
