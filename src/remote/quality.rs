//! How fine pictures are: as fine as the link carries several times a second while the run goes on, and exact once it stands.

use super::picture::Fineness;
use std::time::{Duration, Instant};

/// Frames that may be under way: one that travels while the answer to the one before does.
pub const UNDER_WAY: usize = 2;

/// Seconds that a picture of a run that goes on may travel.
const AIM: f64 = 0.08;

/// A finer level is taken where it would take this part of it.
const MARGIN: f64 = 0.6;

/// Seconds that an exact picture of a run that stands may travel.
const PATIENCE: f64 = 3.0;

/// Shorter frames tell nothing of the link's speed.
const TELLING: usize = 4 << 10;

/// The coarsest level.
const COARSEST: usize = 3;

/// What was sent and is not taken yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    serial: u64,
    bytes: usize,
    at: Instant,
    alone: bool,
}

/// Watches what is sent and taken, and chooses.
#[derive(Debug)]
pub struct Quality {
    under_way: Vec<Sent>,
    last_taken: Option<Instant>,
    /// Bytes a second; `None` before anything was measured.
    rate: Option<f64>,
    /// The shortest time from sending to taking, seconds.
    round_trip: f64,
    /// Bytes of a picture at each level, as of the last one.
    lengths: [f64; COARSEST + 1],
    level: usize,
}

impl Default for Quality {
    fn default() -> Self {
        Self {
            under_way: Vec::new(),
            last_taken: None,
            rate: None,
            round_trip: f64::INFINITY,
            lengths: [0.0; COARSEST + 1],
            // Exact pictures are for links that were found to be fast.
            level: 1,
        }
    }
}

impl Quality {
    /// Whether another frame may be sent.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.under_way.len() < UNDER_WAY
    }

    /// Whether all that was sent was taken.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// A frame is on its way, with a picture of `picture` bytes at the present level.
    pub fn sent(&mut self, serial: u64, bytes: usize, picture: Option<usize>, now: Instant) {
        self.under_way.push(Sent {
            serial,
            bytes,
            at: now,
            alone: self.under_way.is_empty(),
        });
        if let Some(picture) = picture {
            self.measure(picture);
        }
    }

    /// All frames up to one were taken.
    pub fn taken(&mut self, serial: u64, now: Instant) {
        let mut bytes = 0;
        let mut first: Option<Sent> = None;
        self.under_way.retain(|sent| {
            if sent.serial <= serial {
                bytes += sent.bytes;
                first.get_or_insert(*sent);
            }
            sent.serial > serial
        });
        let Some(first) = first else { return };
        let travelled = now.duration_since(first.at).as_secs_f64();
        if bytes < TELLING {
            self.round_trip = self.round_trip.min(travelled);
        } else {
            // One that found the link empty took the way there and back; others follow those before them.
            let since = self
                .last_taken
                .filter(|_| !first.alone)
                .map_or(first.at, |last| last.max(first.at));
            let way = if first.alone && self.round_trip.is_finite() {
                self.round_trip
            } else {
                0.0
            };
            let took = (now.duration_since(since).as_secs_f64() - way).max(1e-4);
            #[expect(clippy::cast_precision_loss, reason = "bytes of a few frames")]
            let rate = bytes as f64 / took;
            self.rate = Some(self.rate.map_or(rate, |known| known * 0.7 + rate * 0.3));
        }
        self.last_taken = Some(now);
    }

    /// How large pictures of the present level are.
    fn measure(&mut self, bytes: usize) {
        #[expect(clippy::cast_precision_loss, reason = "bytes of a picture")]
        let bytes = bytes as f64;
        self.lengths[self.level] = bytes;
        // Exact ones are about five times as long; half as many texels along each axis are a little more than a quarter.
        let per_level = [5.0, 1.0, 0.3, 0.1];
        for (level, factor) in per_level.iter().enumerate() {
            if level != self.level {
                self.lengths[level] = bytes * factor / per_level[self.level];
            }
        }
    }

    /// Seconds that a picture travels.
    fn takes(&self, level: usize) -> f64 {
        self.rate.map_or(if level == 0 { f64::INFINITY } else { 0.0 }, |rate| {
            self.lengths[level] / rate
        })
    }

    /// Chooses the level of the next picture of a run that goes on.
    pub fn choose(&mut self) {
        if self.takes(self.level) > AIM && self.level < COARSEST {
            self.level += 1;
        } else if self.level > 0 && self.takes(self.level - 1) < AIM * MARGIN {
            self.level -= 1;
        }
    }

    /// How fine the values are.
    #[must_use]
    pub fn fineness(&self) -> Fineness {
        if self.level == 0 {
            Fineness::Exact
        } else {
            Fineness::Quick
        }
    }

    /// By how much the picture is smaller than what was asked for, along each axis.
    #[must_use]
    pub fn shrink(&self) -> usize {
        1 << self.level.saturating_sub(1)
    }

    /// Whether a picture of a run that stands can be sent exact.
    #[must_use]
    pub fn can_refine(&self) -> bool {
        self.rate.is_none() || self.takes(0) < PATIENCE
    }

    /// Bytes a second, once they were measured.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// How long the oldest frame has been under way.
    #[must_use]
    pub fn waits(&self, now: Instant) -> Duration {
        self.under_way
            .first()
            .map_or(Duration::ZERO, |first| now.duration_since(first.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link of so many bytes a second: levels after a second of pictures of 200 kB (quick, full size).
    fn level_on(rate: f64) -> usize {
        let mut quality = Quality::default();
        let mut now = Instant::now();
        for serial in 0..40 {
            quality.choose();
            let bytes = 200e3 * [5.0, 1.0, 0.3, 0.1][quality.level];
            quality.sent(serial, bytes as usize, Some(bytes as usize), now);
            now += Duration::from_secs_f64(bytes / rate + 0.001);
            quality.taken(serial, now);
        }
        quality.level
    }

    #[test]
    fn the_link_sets_how_fine_pictures_are() {
        assert_eq!(level_on(1e9), 0, "exact");
        assert_eq!(level_on(5e6), 1);
        assert_eq!(level_on(1.25e6), 2, "10 Mb/s");
        assert_eq!(level_on(0.2e6), 3);
    }

    #[test]
    fn no_more_frames_are_under_way_than_may_be() {
        let mut quality = Quality::default();
        let now = Instant::now();
        for serial in 0..UNDER_WAY as u64 {
            assert!(quality.has_room());
            quality.sent(serial, 10, None, now);
        }
        assert!(!quality.has_room());
        quality.taken(0, now);
        assert!(quality.has_room() && !quality.is_idle());
        quality.taken(9, now);
        assert!(quality.is_idle());
    }
}
