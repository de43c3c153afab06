//! The pictures of the last seconds, to look back through.

use crate::engine::Frame;
use crate::engine::trajectories::ShownPath;
use crate::physics::{Observables, StateMeasures};
use crate::scene::scenario::Quantity;
use crate::solver::{Clock, FieldImage};
use crate::space::FlowMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of pictures that are kept: several seconds of a picture of a million texels, minutes of a small one.
const BUDGET: usize = 192 << 20;

/// Most pictures a second that are kept; more of them would only make the time that fits shorter.
const PER_SECOND: f64 = 25.0;

/// Marks the serial numbers of pictures that are shown again.
const AGAIN: u64 = 1 << 63;

/// One picture with its time, and what is drawn over it and said beside it at that time.
struct Shot {
    clock: Clock,
    image: FieldImage,
    flow: Option<Arc<FlowMap>>,
    paths: Arc<[ShownPath]>,
    observables: Option<(u64, Observables)>,
    state: Option<(u64, f64, StateMeasures)>,
    drift: f64,
    detectors: Vec<f64>,
}

impl Shot {
    /// Of a frame, with the memory of an image that is not needed any more.
    fn of(frame: &Frame, mut image: FieldImage) -> Self {
        image.copy_from(&frame.image);
        Self {
            clock: frame.clock,
            image,
            flow: frame.flow.clone(),
            paths: Arc::clone(&frame.paths),
            observables: frame.observables,
            state: frame.state,
            drift: frame.drift,
            detectors: frame.detectors.clone(),
        }
    }

    /// Bytes that are kept with it. What flows and paths belong to this picture alone.
    fn bytes(&self) -> usize {
        bytes(&self.image) + self.beside()
    }

    /// Bytes of what is not the picture.
    fn beside(&self) -> usize {
        let flow = self.flow.as_ref().map_or(0, |flow| size_of_val(&flow.values[..]));
        let paths = self.paths.iter().map(|path| size_of_val(&path.points[..]));
        size_of::<Self>() + flow + paths.sum::<usize>() + size_of_val(&self.detectors[..])
    }
}

/// The last pictures of one run.
#[derive(Default)]
pub struct FrameHistory {
    shots: VecDeque<Shot>,
    bytes: usize,
    /// Run, quantity and size that they are of.
    of: Option<(u64, Option<Quantity>)>,
    serial: u64,
    /// When the last one was taken, in seconds of the window's clock.
    taken: f64,
    /// The one that is looked at, and the frame that shows it.
    at: Option<usize>,
    shown: Option<Box<Frame>>,
    shows: u64,
}

impl FrameHistory {
    /// Takes over the picture of a frame that has come in at `now` (seconds of any clock). Volumes are not kept: a second of them is more than
    /// all of the budget.
    pub fn record(&mut self, frame: &Frame, now: f64) {
        if frame.image.value.is_empty() || frame.image_serial == self.serial {
            return;
        }
        self.serial = frame.image_serial;
        let of = Some((frame.run, frame.image.quantity));
        if self.of != of || frame.volume.is_some() {
            self.shots.clear();
            self.bytes = 0;
            self.of = of;
            self.leave();
        }
        if frame.volume.is_some() {
            return;
        }
        let same = |shot: &Shot| shot.clock.steps == frame.clock.steps;
        if self.shots.back().is_some_and(same) {
            // Another part of the field was asked for.
            if let Some(shot) = self.shots.pop_back() {
                self.bytes -= shot.bytes();
            }
        } else if now - self.taken < 1.0 / PER_SECOND && now >= self.taken {
            return;
        }
        self.taken = now;
        // The oldest go, and the new picture gets the memory of one of them: fresh memory takes as long as the copy.
        let mut image = FieldImage::default();
        while self.bytes + bytes(&frame.image) > BUDGET && !self.shots.is_empty() {
            image = self.drop_oldest().unwrap_or_default();
        }
        let shot = Shot::of(frame, image);
        self.bytes += shot.bytes();
        self.shots.push_back(shot);
        while self.bytes > BUDGET && self.shots.len() > 1 {
            self.drop_oldest();
        }
    }

    /// Forgets the oldest picture; its image, for its memory.
    fn drop_oldest(&mut self) -> Option<FieldImage> {
        let shot = self.shots.pop_front()?;
        self.bytes -= shot.bytes();
        let at = self.at;
        self.at = at.map(|at| at.saturating_sub(1));
        if at == Some(0) {
            // What is looked at is another picture now.
            self.shown = None;
        }
        Some(shot.image)
    }

    /// How many pictures there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shots.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shots.is_empty()
    }

    /// The picture that is looked at, counted from the oldest; `None` = the present one.
    #[must_use]
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// The time of a picture.
    #[must_use]
    pub fn time(&self, at: usize) -> Option<f64> {
        self.shots.get(at).map(|shot| shot.clock.time)
    }

    /// Looks at a picture; at the last one is the present.
    pub fn look(&mut self, at: usize) {
        if at + 1 >= self.shots.len() {
            self.leave();
        } else if self.at != Some(at) {
            self.at = Some(at);
            self.shown = None;
        }
    }

    /// Goes `by` pictures on (or back).
    pub fn turn(&mut self, by: isize) {
        if let Some(last) = self.shots.len().checked_sub(1) {
            self.look(self.at.unwrap_or(last).saturating_add_signed(by));
        }
    }

    /// Back to the present.
    pub fn leave(&mut self) {
        self.at = None;
        self.shown = None;
    }

    /// The frame that shows the picture that is looked at, with what stands over and beside it; the run itself is as in `present`.
    pub fn frame(&mut self, present: &Frame) -> Option<&Frame> {
        let at = self.at?;
        let shot = self.shots.get(at)?;
        if self.shown.is_none() {
            self.shows += 1;
            self.shown = Some(Box::new(Frame {
                clock: shot.clock,
                image: shot.image.clone(),
                image_serial: AGAIN | self.shows,
                flow: shot.flow.clone(),
                paths: Arc::clone(&shot.paths),
                observables: shot.observables,
                state: shot.state,
                drift: shot.drift,
                detectors: shot.detectors.clone(),
                ..present.clone()
            }));
        }
        self.shown.as_deref()
    }
}

fn bytes(image: &FieldImage) -> usize {
    size_of::<f32>() * (image.value.len() + image.phase.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(serial: u64, texels: usize) -> Frame {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let time = serial as f64;
        Frame {
            run: 1,
            clock: Clock {
                steps: serial,
                time,
                time_step: 1.0,
            },
            image_serial: serial,
            image: FieldImage {
                size: [texels, 1],
                value: vec![time as f32; texels],
                quantity: Some(Quantity::Density),
                ..FieldImage::default()
            },
            flow: Some(Arc::new(FlowMap {
                size: [1, 1],
                reduction: 1,
                components: false,
                values: vec![[time as f32, 0.0]],
            })),
            paths: Arc::new([ShownPath {
                group: 0,
                points: vec![[time, 0.0]],
            }]),
            detectors: vec![time],
            drift: time,
            observables: Some((
                serial,
                Observables {
                    norm: time,
                    ..Observables::default()
                },
            )),
            state: Some((serial, time, StateMeasures::default())),
            ..Frame::default()
        }
    }

    #[test]
    fn earlier_pictures_are_shown_with_their_time() {
        let mut tape = FrameHistory::default();
        for n in 1..=5 {
            tape.record(&frame(n, 3), n as f64);
            // The same picture again is no other one, nor is one that comes too soon.
            tape.record(&frame(n, 3), n as f64 + 0.5);
        }
        assert_eq!(tape.len(), 5);
        let present = frame(5, 3);
        assert!(tape.frame(&present).is_none());
        tape.turn(-2);
        let shown = tape.frame(&present).unwrap().clone();
        assert_eq!((shown.clock.time, shown.image.value[0]), (3.0, 3.0));
        let serial = shown.image_serial;
        // What is drawn over it and said beside it is of its time, too.
        assert_eq!(shown.flow.unwrap().values, [[3.0, 0.0]]);
        assert_eq!(shown.paths[0].points, [[3.0, 0.0]]);
        assert_eq!((shown.detectors, shown.drift), (vec![3.0], 3.0));
        assert_eq!(shown.observables.map(|(step, sums)| (step, sums.norm)), Some((3, 3.0)));
        assert_eq!(shown.state.map(|(step, ..)| step), Some(3));
        tape.turn(-9);
        let oldest = tape.frame(&present).unwrap();
        assert_eq!(oldest.clock.time, 1.0);
        assert_ne!(oldest.image_serial, serial);
        tape.turn(9);
        assert!(tape.frame(&present).is_none(), "the last one is the present");
        // Another run leaves nothing.
        let mut next = frame(9, 3);
        next.run = 2;
        tape.record(&next, 9.0);
        assert_eq!(tape.len(), 1);
    }

    #[test]
    fn the_oldest_go_when_the_budget_is_spent() {
        let mut tape = FrameHistory::default();
        // Four pictures with what stands beside them.
        let texels = BUDGET / size_of::<f32>() / 4 - 1000;
        for n in 1..=9 {
            tape.record(&frame(n, texels), n as f64);
        }
        assert_eq!(tape.len(), 4);
        assert_eq!(tape.time(0), Some(6.0));
        assert!(tape.bytes <= BUDGET);
        // What flows over a picture takes memory as well.
        let mut heavy = frame(10, texels);
        heavy.flow = Some(Arc::new(FlowMap {
            values: vec![[0.0; 2]; texels / 2],
            ..FlowMap::default()
        }));
        tape.record(&heavy, 10.0);
        assert_eq!(tape.len(), 3);
        assert!(tape.bytes <= BUDGET);
    }
}
