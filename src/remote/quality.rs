//! How fine pictures are: as fine as the link carries a dozen times a second while the run goes on, and exact once it stands.
//!
//! With a rate of R bytes a second and a round trip of T seconds, a picture of R · [`AIM`] bytes leaves every [`AIM`] seconds if 1 + T/[`AIM`] of them may be under way. What is
//! asked for meanwhile waits behind two pictures at most, whatever the link.

use super::picture::Fineness;
use std::time::{Duration, Instant};

/// Seconds that a picture of a run that goes on may travel: of fewer than about twelve a second the eye sees each.
const AIM: f64 = 1.0 / 12.0;

/// A finer level is taken where its pictures would travel for this part of [`AIM`]. Lengths at a level that is not in use are known to within a factor of 1.5
/// ([`LENGTHS`]): a level that was just left is not taken again at once.
const MARGIN: f64 = 0.6;

/// Seconds that an exact picture of a run that stands may travel.
const PATIENCE: f64 = 3.0;

/// Frames under way: a bound for links by satellite (0.6 s).
const MOST_UNDER_WAY: u32 = 8;

/// Shorter frames tell nothing of the rate: they leave with one packet or a few.
const TELLING: usize = 4 << 10;

/// The coarsest level.
const COARSEST: usize = 3;

/// Bytes of a picture at each level against the second one (every texel, quick), as the presets have them: 0.3 to 0.37 with half as many texels along each axis, 0.1 to 0.13 with a
/// quarter of them, 2.2 to 5 if it is exact.
const LENGTHS: [f64; COARSEST + 1] = [4.0, 1.0, 0.33, 0.11];

/// A frame that the window has not drawn yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    bytes: usize,
    at: Instant,
    has_arrived: bool,
}

/// Watches what is sent and what arrives, and chooses.
#[derive(Debug)]
pub struct Quality {
    under_way: Vec<Sent>,
    last_arrival: Option<Instant>,
    /// Seconds a byte; `None` before anything was measured.
    pace: Option<f64>,
    /// The shortest time from sending to hearing that it has arrived.
    round_trip: Duration,
    /// Bytes of a picture at the second level.
    length: f64,
    level: usize,
}

impl Quality {
    /// Of a link whose handshake took so long there and back.
    #[must_use]
    pub fn new(round_trip: Duration) -> Self {
        Self {
            under_way: Vec::new(),
            last_arrival: None,
            pace: None,
            round_trip,
            length: 0.0,
            // Exact pictures are for links that were found to be fast.
            level: 1,
        }
    }

    /// Whether another frame may be sent: as many are under way as keep the link busy, and the window draws what comes.
    pub fn has_room(&self) -> bool {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number, bounded"
        )]
        let on_the_way = (self.round_trip.as_secs_f64() / AIM)
            .ceil()
            .min(f64::from(MOST_UNDER_WAY)) as u32;
        self.under_way.len() < (1 + on_the_way).clamp(2, MOST_UNDER_WAY) as usize
    }

    /// Whether all that was sent was drawn.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// A frame is on its way, with a picture of `picture` bytes at the present level.
    pub fn sent(&mut self, number: u64, bytes: usize, picture: Option<usize>, now: Instant) {
        self.under_way.push(Sent {
            number,
            bytes,
            at: now,
            has_arrived: false,
        });
        if let Some(picture) = picture {
            #[expect(clippy::cast_precision_loss, reason = "bytes of a picture")]
            let bytes = picture as f64;
            self.length = bytes / LENGTHS[self.level];
        }
    }

    /// All frames up to one have arrived.
    pub fn arrived(&mut self, number: u64, now: Instant) {
        let mut bytes = 0;
        let mut first = None;
        for sent in &mut self.under_way {
            if sent.number <= number && !sent.has_arrived {
                sent.has_arrived = true;
                bytes += sent.bytes;
                first.get_or_insert(sent.at);
            }
        }
        let Some(first) = first else { return };
        if bytes < TELLING {
            self.round_trip = self.round_trip.min(now.duration_since(first));
        } else {
            // That its first byte had come could be heard a round trip after it left at the earliest; until the one before had come, the link was busy with that.
            let begin = first + self.round_trip;
            let begin = self.last_arrival.map_or(begin, |last| last.max(begin));
            #[expect(clippy::cast_precision_loss, reason = "bytes of a few frames")]
            let pace = now.saturating_duration_since(begin).as_secs_f64().max(1e-4) / bytes as f64;
            self.pace = Some(self.pace.map_or(pace, |known| known * 0.7 + pace * 0.3));
        }
        self.last_arrival = Some(now);
    }

    /// All frames up to one were drawn.
    pub fn drawn(&mut self, number: u64) {
        self.under_way.retain(|sent| sent.number > number);
    }

    /// Seconds that a picture travels, once that is known.
    fn takes(&self, level: usize) -> Option<f64> {
        self.pace.map(|pace| pace * self.length * LENGTHS[level])
    }

    /// Chooses the level of the next picture of a run that goes on.
    pub fn choose(&mut self) {
        let takes = |level: usize| self.takes(level);
        if self.level < COARSEST && takes(self.level).is_some_and(|seconds| seconds > AIM) {
            self.level += 1;
        } else if self.level > 0 && takes(self.level - 1).is_some_and(|seconds| seconds < AIM * MARGIN) {
            self.level -= 1;
        }
    }

    /// How fine the values are.
    pub fn fineness(&self) -> Fineness {
        if self.level == 0 {
            Fineness::Exact
        } else {
            Fineness::Quick
        }
    }

    /// By how much the picture is smaller than what was asked for, along each axis.
    pub fn shrink(&self) -> usize {
        1 << self.level.saturating_sub(1)
    }

    /// Whether a picture of a run that stands can be sent exact.
    pub fn can_refine(&self) -> bool {
        self.takes(0).is_none_or(|seconds| seconds < PATIENCE)
    }

    /// Bytes a second, once they were measured.
    pub fn rate(&self) -> Option<f64> {
        self.pace.map(f64::recip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a picture at each level.
    const BYTES: [u32; COARSEST + 1] = [1_000_000, 200_000, 60_000, 20_000];

    /// A second of a link of so many bytes a second, with a round trip, from a run that makes pictures of 200 kB (quick, of every texel) as fast as they are taken: the level at
    /// its end, the rate that was found, and the pictures that came.
    fn second(rate: f64, round_trip: f64) -> (usize, f64, u32) {
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut quality = Quality::new(Duration::from_secs_f64(round_trip));
        // When the link is free, and what is told when.
        let (mut free, mut told, mut number) = (0.0f64, Vec::new(), 0);
        let mut came = 0;
        for millisecond in 0..4000u32 {
            let now = f64::from(millisecond) * 1e-3;
            told.retain(|&(when, which): &(f64, u64)| {
                if when <= now {
                    quality.arrived(which, at(when));
                    quality.drawn(which);
                    came += u32::from(now >= 3.0);
                }
                when > now
            });
            if quality.has_room() {
                quality.choose();
                number += 1;
                let bytes = BYTES[quality.level];
                free = free.max(now) + f64::from(bytes) / rate;
                told.push((free + round_trip, number));
                let bytes = usize::try_from(bytes).unwrap();
                quality.sent(number, bytes, Some(bytes), at(now));
            }
        }
        (quality.level, quality.rate().unwrap(), came)
    }

    #[test]
    fn the_link_sets_how_fine_pictures_are_and_is_kept_busy() {
        for (rate, round_trip, level) in [(1e9, 0.001, 0), (4e6, 0.02, 1), (1.25e6, 0.1, 2), (0.3e6, 0.2, 3)] {
            let (chosen, found, came) = second(rate, round_trip);
            assert_eq!(chosen, level, "{rate} B/s, {round_trip} s");
            if level > 0 {
                assert!((0.7..1.4).contains(&(found / rate)), "{found} of {rate} B/s");
                let most = rate / f64::from(BYTES[level]);
                assert!(
                    f64::from(came) > 0.85 * most && came >= 10,
                    "{came} of {most} pictures in a second"
                );
            }
        }
    }

    #[test]
    fn a_window_that_draws_nothing_is_sent_nothing() {
        let mut quality = Quality::new(Duration::ZERO);
        let now = Instant::now();
        for number in 1..=2 {
            assert!(quality.has_room());
            quality.sent(number, 10, None, now);
        }
        quality.arrived(2, now);
        assert!(!quality.has_room());
        quality.drawn(1);
        assert!(quality.has_room() && !quality.is_idle());
        quality.drawn(9);
        assert!(quality.is_idle());
    }
}
