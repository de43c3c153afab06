//! What a window shows of a mirror: the place on its timeline, the quality of the focus, the records and signals of the transducers, and the best focus beside the
//! wave at t = 0. It is computed rarely enough not to slow the run.

use super::gain::Replay;
use super::{MirrorStatus, Phase};
use crate::engine::Engine;
use crate::engine::pacing::TimeBudget;
use crate::physics::Refocus;
use crate::platform::Instant;
use crate::scene::Scenario;
use crate::solver::FieldImage;
use num_complex::Complex64;
use std::sync::Arc;
use std::time::Duration;

/// Most columns and rows of [`Signals`].
const MOST: [usize; 2] = [512, 128];

/// Of so few transducers the least and the greatest values are kept as well.
const FEW: usize = 8;

/// A picture of the transducers' signals: sensor × time.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Signals {
    /// Columns (time) and rows (transducers).
    pub size: [usize; 2],
    /// Steps that the columns stand for.
    pub steps: usize,
    /// The total number of steps that were recorded or are played.
    pub filled: usize,
    /// p or Re ψ where it is largest in its texel, by row; rows of the first transducers first.
    pub value: Vec<f32>,
    /// The least and the greatest value in each texel, in the same order; empty for more than 8 transducers. A wave that is shorter than a texel has both signs in it.
    pub ends: Vec<[f32; 2]>,
}

impl Signals {
    /// Of rows `[step * sites + n]`, for `steps` steps in all.
    fn new(rows: &[Complex64], sites: usize, steps: usize) -> Self {
        if sites == 0 || steps == 0 {
            return Self::default();
        }
        let size = [steps.min(MOST[0]), sites.min(MOST[1])];
        let mut value = vec![0.0f32; size[0] * size[1]];
        let mut ends = vec![[f32::INFINITY, f32::NEG_INFINITY]; if sites <= FEW { value.len() } else { 0 }];
        for (n, row) in rows.chunks_exact(sites).take(steps).enumerate() {
            let column = n * size[0] / steps;
            for (site, heard) in row.iter().enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "pictures are in single precision")]
                let here = heard.re as f32;
                let at = site * size[1] / sites * size[0] + column;
                if here.abs() > value[at].abs() {
                    value[at] = here;
                }
                if let Some([low, high]) = ends.get_mut(at) {
                    (*low, *high) = (low.min(here), high.max(here));
                }
            }
        }
        Self {
            size,
            steps,
            filled: (rows.len() / sites).min(steps),
            value,
            ends,
        }
    }
}

/// A picture with the time at which it was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The time.
    pub time: f64,
    /// The quality of the focus: fidelity if the wave began as a state, contrast if a source made it.
    pub score: f64,
    /// The picture.
    pub image: FieldImage,
}

/// What a frame carries of a mirror.
#[derive(Clone, Debug)]
pub struct MirrorFrame {
    /// The place on the timeline.
    pub status: MirrorStatus,
    /// The scene of the present steps: on the way back with the perturbed medium.
    pub present: Arc<Scenario>,
    /// Flat indices of the sites that are recorded, and of those that play.
    pub sites: [Arc<[usize]>; 2],
    /// Flat index of the site where the wave began.
    pub focus: usize,
    /// The measures taken last, with their step and time.
    pub refocus: Option<(u64, f64, Refocus)>,
    /// What was recorded, and what is played.
    pub signals: [Arc<Signals>; 2],
    /// The result of each way back so far.
    pub replays: Arc<[Replay]>,
    /// The wave at t = 0, and the best focus on the way back.
    pub pictures: [Option<Arc<Moment>>; 2],
}

impl MirrorFrame {
    /// The sites that a display marks: those that play, or only record.
    pub fn marked(&self) -> &[usize] {
        marked(&self.sites)
    }
}

/// Of the sites that are recorded and those that play: those that a display marks.
fn marked([heard, playing]: &[Arc<[usize]>; 2]) -> &Arc<[usize]> {
    if playing.is_empty() { heard } else { playing }
}

/// Takes [`MirrorFrame`]s.
pub(in crate::engine) struct Shown {
    latest: Option<Arc<MirrorFrame>>,
    measured: TimeBudget,
    drawn: TimeBudget,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            latest: None,
            // A pass over the field, and one over the record.
            measured: TimeBudget::new(30.0, 0.1),
            drawn: TimeBudget::new(4.0, 0.02),
        }
    }
}

impl Shown {
    /// The last one taken.
    pub(in crate::engine) fn latest(&self) -> Option<Arc<MirrorFrame>> {
        self.latest.clone()
    }

    /// Notes the place on the timeline, while pictures are drawn beside stepping and show an earlier state.
    pub(in crate::engine) fn note(&mut self, engine: &Engine) {
        let (Some(latest), Some(status)) = (&mut self.latest, engine.mirror()) else {
            return;
        };
        if latest.status != status {
            let latest = Arc::make_mut(latest);
            latest.status = status;
            latest.present = engine.present_scenario();
            latest.sites = engine.mirror_site_lists();
            latest.signals = engine.mirror_signals();
        }
    }

    /// Takes one of the present state, which `image` shows. `now` counts from any fixed moment; at once, or if it is time.
    pub(in crate::engine) fn see(&mut self, engine: &mut Engine, image: &FieldImage, now: Duration, at_once: bool) {
        let Some(status) = engine.mirror() else {
            self.latest = None;
            return;
        };
        let clock = engine.clock();
        let before = self.latest.take();
        let known = before.as_deref().filter(|before| before.status.turn == status.turn);
        let mut frame = MirrorFrame {
            status,
            present: engine.present_scenario(),
            sites: engine.mirror_site_lists(),
            focus: engine.mirror_sites().map_or(0, |sites| sites.focus),
            refocus: before.as_deref().and_then(|before| before.refocus),
            signals: before
                .as_deref()
                .map(|before| before.signals.clone())
                .unwrap_or_default(),
            replays: engine.replays().into(),
            pictures: known.map(|known| known.pictures.clone()).unwrap_or_default(),
        };
        if frame.pictures[0].is_none() {
            frame.pictures[0] = before.as_deref().and_then(|before| before.pictures[0].clone());
        }
        if status.phase == Phase::Record {
            frame.pictures[1] = None;
        }
        let moment = |score| {
            Some(Arc::new(Moment {
                time: clock.time,
                score,
                image: image.clone(),
            }))
        };
        if clock.steps == 0 {
            frame.pictures = [moment(0.0), None];
        }
        if at_once || self.measured.allows(now) {
            let begin = Instant::now();
            if let Ok(Some(found)) = engine.refocus() {
                frame.refocus = Some((clock.steps, clock.time, found));
                // A source leaves nothing at t = 0 to compare with.
                let score = if found.fidelity > 0.0 {
                    found.fidelity
                } else {
                    found.contrast
                };
                let best = frame.pictures[1].as_ref().map_or(0.0, |best| best.score);
                if status.phase == Phase::Replay && score > best {
                    frame.pictures[1] = moment(score);
                }
            }
            self.measured.spent(now, begin.elapsed());
        }
        if at_once || self.drawn.allows(now) {
            let begin = Instant::now();
            frame.signals = engine.mirror_signals();
            self.drawn.spent(now, begin.elapsed());
        }
        self.latest = Some(Arc::new(frame));
    }
}

impl Engine {
    /// Flat indices of the transducers that a display marks: those that play, or only record; none without a mirror.
    pub fn mirror_marks(&self) -> Arc<[usize]> {
        Arc::clone(marked(&self.mirror_site_lists()))
    }

    /// Sites that are recorded, and those that play.
    fn mirror_site_lists(&self) -> [Arc<[usize]>; 2] {
        let (Some(sites), Some(mirror)) = (self.mirror_sites(), self.scenario.mirror()) else {
            return [Arc::from([]), Arc::from([])];
        };
        let playing = sites.playing(mirror);
        [
            Arc::clone(&sites.all),
            playing.iter().map(|place| sites.all[*place]).collect(),
        ]
    }

    /// What the transducers have recorded, and what they play on the way back, as pictures.
    pub fn mirror_signals(&self) -> [Arc<Signals>; 2] {
        let Some(timeline) = &self.timeline else {
            return <[Arc<Signals>; 2]>::default();
        };
        let steps = usize::try_from(timeline.turn).unwrap_or(usize::MAX).saturating_add(1);
        let turned = timeline
            .leg
            .turned
            .as_ref()
            .and_then(|turned| turned.taps.transducers());
        let now = self.taps.transducers();
        let recorded = turned.or(now.filter(|_| timeline.leg.phase == Phase::Record));
        let played = now.filter(|_| timeline.leg.phase == Phase::Replay);
        [
            Arc::new(recorded.map_or_else(Signals::default, |own| {
                Signals::new(own.heard(), own.sites().len(), steps)
            })),
            Arc::new(played.map_or_else(Signals::default, |own| {
                Signals::new(own.signal(), own.sites().len(), steps)
            })),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_signals_keeps_the_largest() {
        let rows: Vec<Complex64> = (0..2000)
            .map(|n| Complex64::from(if n == 1001 { -3.0 } else { 0.5 }))
            .collect();
        // Two sites, 1000 steps of 1024: row 1 has the −3 in step 500.
        let signals = Signals::new(&rows, 2, 1024);
        assert_eq!((signals.size, signals.filled), ([512, 2], 1000));
        assert_eq!(signals.value[512 + 250], -3.0);
        assert_eq!(
            (signals.value[0], signals.value[250], signals.value[511]),
            (0.5, 0.5, 0.0)
        );
        // Steps 500 and 501 are in texel 250 of either site, and nothing is in the last texels yet.
        assert_eq!(signals.ends[512 + 250], [-3.0, 0.5]);
        assert_eq!(signals.ends[250], [0.5, 0.5]);
        assert!(signals.ends[511][0] > signals.ends[511][1], "no record yet");
        assert_eq!(Signals::new(&rows, 0, 5), Signals::default());
        let many = Signals::new(&rows, 40, 50);
        assert!(many.ends.is_empty() && many.value.len() == 50 * 40);
    }
}
