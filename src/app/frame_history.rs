//! The pictures of the last seconds, to look back through.

use crate::engine::Frame;
use crate::scene::scenario::Quantity;
use crate::solver::{Clock, FieldImage};
use std::collections::VecDeque;

/// Bytes of pictures that are kept: several seconds of a picture of a million texels, minutes of a small one.
const BUDGET: usize = 192 << 20;

/// Most pictures a second that are kept; more of them would only make the time that fits shorter.
const PER_SECOND: f64 = 25.0;

/// Marks the serial numbers of pictures that are shown again.
const AGAIN: u64 = 1 << 63;

/// One picture with its time.
struct Shot {
    clock: Clock,
    image: FieldImage,
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
                self.bytes -= bytes(&shot.image);
            }
        } else if now - self.taken < 1.0 / PER_SECOND && now >= self.taken {
            return;
        }
        self.taken = now;
        self.bytes += bytes(&frame.image);
        // The oldest go, and the new picture gets the memory of one of them: fresh memory takes as long as the copy.
        let mut image = FieldImage::default();
        while self.bytes > BUDGET && !self.shots.is_empty() {
            if let Some(shot) = self.shots.pop_front() {
                self.bytes -= bytes(&shot.image);
                image = shot.image;
            }
            self.at = self.at.map(|at| at.saturating_sub(1));
        }
        image.copy_from(&frame.image);
        self.shots.push_back(Shot {
            clock: frame.clock,
            image,
        });
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

    /// The frame that shows the picture that is looked at: all else in it is that of `present`.
    pub fn frame(&mut self, present: &Frame) -> Option<&Frame> {
        let at = self.at?;
        let shot = self.shots.get(at)?;
        if self.shown.is_none() {
            self.shows += 1;
            self.shown = Some(Box::new(Frame {
                clock: shot.clock,
                image: shot.image.clone(),
                image_serial: AGAIN | self.shows,
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
        tape.turn(-9);
        let oldest = tape.frame(&present).unwrap();
        assert_eq!(oldest.clock.time, 1.0);
        assert_ne!(oldest.image_serial, shown.image_serial);
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
        let texels = BUDGET / size_of::<f32>() / 4;
        for n in 1..=9 {
            tape.record(&frame(n, texels), n as f64);
        }
        assert_eq!(tape.len(), 4);
        assert_eq!(tape.time(0), Some(6.0));
        assert!(tape.bytes <= BUDGET);
    }
}
