//! How many steps fit between two pictures, and the rate of a run.

use std::time::Duration;

/// The time from picture to picture that the worker aims for.
pub const FRAME: Duration = Duration::from_micros(16_667);

/// The intended maximum duration of a batch, so that commands are received soon.
pub const PIECE: Duration = Duration::from_millis(25);

/// A batch of the steps that a method fuses may take this long, where single steps in the same time would be fewer.
const FUSED: Duration = Duration::from_millis(250);

/// Such a batch is tried where as many single steps would take no longer.
const TRIED: Duration = Duration::from_secs(4);

/// After so many late batches in a row the run counts as slow.
const LATE: u32 = 3;

/// Measures the time of steps and pictures, and sets the length of batches.
#[derive(Clone, Debug)]
pub struct Pacing {
    /// Time from picture to picture, of which a batch and a picture take all.
    frame: Duration,
    /// The longest batch.
    piece: Duration,
    /// The longest batch of steps that are fused, and how long single ones may take instead where it is tried.
    fused_most: [Duration; 2],
    /// Seconds of a step; 0 = not known yet.
    step: f64,
    /// Seconds of a step in batches that are shorter than what the method fuses; 0 = not known yet.
    single: f64,
    /// Seconds of a batch of all steps that the method fuses; 0 = not known yet.
    fused: f64,
    /// Seconds of a picture.
    draw: f64,
    /// Batches of a single step in a row that took longer than any is meant to.
    late: u32,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            frame: FRAME,
            piece: PIECE,
            fused_most: [FUSED, TRIED],
            step: 0.0,
            single: 0.0,
            fused: 0.0,
            draw: 0.0,
            late: 0,
        }
    }
}

impl Pacing {
    /// For batches that leave part of a frame free.
    #[must_use]
    pub fn within(slice: Duration) -> Self {
        Self {
            frame: slice,
            piece: slice,
            fused_most: [slice; 2],
            ..Self::default()
        }
    }

    /// Forgets the measured times, for another solver or grid.
    pub fn forget(&mut self) {
        (self.step, self.single, self.fused) = (0.0, 0.0, 0.0);
        self.draw = 0.0;
        self.late = 0;
    }

    /// Whether single steps took longer than a batch is meant to, three times in a row: then something else may have taken the time. It stays so.
    pub fn is_late(&self) -> bool {
        self.late >= LATE
    }

    /// A batch took this long, of a method that fuses `fused` steps.
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    pub fn stepped(&mut self, steps: u64, fused: u64, took: Duration) {
        if !self.is_late() {
            self.late = if steps == 1 && took > self.piece {
                self.late + 1
            } else {
                0
            };
        }
        let now = took.as_secs_f64() / steps.max(1) as f64;
        if steps < fused {
            self.single = now;
        } else if fused > 1 {
            // Of several the shortest counts: another program may have taken its time from one.
            let own = now * fused as f64;
            self.fused = if self.fused == 0.0 { own } else { own.min(self.fused) };
        }
        // A slower step counts at once, a faster one gradually: a pause of the machine costs one short batch, not a late command.
        self.step = if now > self.step {
            now
        } else {
            0.7 * self.step + 0.3 * now
        };
    }

    /// A picture took this long.
    pub fn drawn(&mut self, took: Duration) {
        self.draw = if self.draw == 0.0 {
            took.as_secs_f64()
        } else {
            0.8 * self.draw + 0.2 * took.as_secs_f64()
        };
    }

    /// Steps to take before the next picture, so that both fit into a frame; at least 1.
    pub fn steps_per_frame(&self) -> u64 {
        let frame = self.frame.as_secs_f64();
        // Even where a picture costs more than a frame, half of the time goes into stepping.
        self.fitting((frame - self.draw).max(self.draw).max(frame / 4.0))
    }

    /// The most steps of a batch after which commands are still received soon; at least 1.
    pub fn steps_per_piece(&self) -> u64 {
        self.fitting(self.piece.as_secs_f64())
    }

    /// Of up to `steps` steps those that make whole batches of a method that fuses `fused`. Where not even one fits it is taken all the same if it does not take too long and single steps would be
    /// fewer in its time: on large grids a single step may take as long as all of a batch.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    pub fn whole_batches(&self, steps: u64, fused: u64) -> u64 {
        if steps >= fused {
            return steps - steps % fused.max(1);
        }
        let singly = self.single * fused as f64;
        let [longest, tried] = self.fused_most.map(|most| most.as_secs_f64());
        let pays = if self.fused == 0.0 {
            singly > 0.0 && singly <= tried
        } else {
            self.fused <= longest && self.fused < singly
        };
        if pays { fused } else { steps }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and saturating"
    )]
    fn fitting(&self, seconds: f64) -> u64 {
        if self.step == 0.0 {
            return 1;
        }
        // Not more than fits if the first measurements were of the clock's resolution.
        ((seconds.min(self.piece.as_secs_f64()) / self.step.max(1e-8)) as u64).max(1)
    }
}

/// A rate over about the last second: both sums decay with time.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    amount: f64,
    seconds: f64,
}

impl Meter {
    /// `amount` happened in `took`.
    pub fn add(&mut self, amount: f64, took: Duration) {
        let seconds = took.as_secs_f64();
        let fade = (-seconds).exp();
        self.amount = self.amount * fade + amount;
        self.seconds = self.seconds * fade + seconds;
    }

    /// Per second; 0 while nothing was measured.
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 {
            self.amount / self.seconds
        } else {
            0.0
        }
    }
}

/// Limits how often something costly is done: at most `per_second` times a second and `share` of the time.
#[derive(Clone, Debug)]
pub struct TimeBudget {
    least: Duration,
    share: f64,
    next: Duration,
}

impl TimeBudget {
    /// Everything is allowed at first.
    #[must_use]
    pub fn new(per_second: f64, share: f64) -> Self {
        Self {
            least: Duration::from_secs_f64(1.0 / per_second),
            share,
            next: Duration::ZERO,
        }
    }

    /// Whether it may be done `now` (time since any fixed moment).
    pub fn allows(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// It was done and took this long.
    pub fn spent(&mut self, now: Duration, took: Duration) {
        self.next = now + self.least.max(took.div_f64(self.share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_fit_into_a_frame() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.steps_per_frame(), 1, "nothing is known yet");
        pacing.stepped(10, 1, Duration::from_millis(10));
        pacing.drawn(Duration::from_millis(2));
        // 16.667 ms less 2 ms at 1 ms a step.
        assert_eq!(pacing.steps_per_frame(), 14);
        assert_eq!(pacing.steps_per_piece(), 25);
        pacing.stepped(1, 1, Duration::from_secs(2));
        assert_eq!(
            pacing.steps_per_frame(),
            1,
            "a slow step lowers the simulated rate only"
        );
        pacing.forget();
        assert_eq!(pacing.steps_per_piece(), 1);
    }

    /// Steps of a large grid: one takes longer than a frame, and six, fused, hardly longer than one.
    #[test]
    fn steps_that_are_fused_go_together_where_single_ones_fill_a_frame() {
        let ms = Duration::from_millis;
        let mut pacing = Pacing::default();
        assert_eq!(
            pacing.whole_batches(pacing.steps_per_frame(), 6),
            1,
            "nothing is known yet"
        );
        pacing.stepped(1, 6, ms(30));
        assert_eq!(pacing.whole_batches(pacing.steps_per_frame(), 6), 6, "it is tried");
        for _ in 0..20 {
            pacing.stepped(6, 6, ms(36));
            assert_eq!(pacing.whole_batches(pacing.steps_per_frame(), 6), 6, "and pays");
        }
        // Six that take as long as six single ones do not.
        let mut pacing = Pacing::default();
        pacing.stepped(1, 6, ms(30));
        pacing.stepped(6, 6, ms(180));
        assert_eq!(pacing.whole_batches(pacing.steps_per_frame(), 6), 1);
        // Nor do those that keep commands waiting, or would if they took as long as single ones.
        let mut pacing = Pacing::default();
        pacing.stepped(1, 16, ms(200));
        pacing.stepped(16, 16, ms(900));
        assert_eq!(pacing.whole_batches(pacing.steps_per_frame(), 16), 1);
        let mut pacing = Pacing::default();
        pacing.stepped(1, 100, ms(50));
        assert_eq!(pacing.whole_batches(pacing.steps_per_frame(), 100), 1);
        pacing.forget();
        // Where many fit, whole batches of them.
        pacing.stepped(1, 6, Duration::from_micros(500));
        assert_eq!(pacing.whole_batches(33, 6), 30);
        assert_eq!(pacing.whole_batches(7, 1), 7, "a method that fuses nothing");
    }

    #[test]
    fn a_costly_picture_leaves_half_of_the_time() {
        let mut pacing = Pacing::default();
        pacing.stepped(1, 1, Duration::from_millis(1));
        pacing.drawn(Duration::from_millis(20));
        assert_eq!(pacing.steps_per_frame(), 20);
    }

    #[test]
    fn batches_fit_into_a_part_of_a_frame() {
        let mut pacing = Pacing::within(Duration::from_millis(8));
        pacing.stepped(1, 1, Duration::from_millis(1));
        pacing.drawn(Duration::from_millis(3));
        assert_eq!((pacing.steps_per_frame(), pacing.steps_per_piece()), (5, 8));
        pacing.forget();
        pacing.stepped(1, 1, Duration::from_millis(1));
        assert_eq!(pacing.steps_per_frame(), 8, "the part stays");
        pacing.stepped(1, 6, Duration::from_millis(5));
        assert_eq!(pacing.whole_batches(1, 6), 1, "six would take more than the part");
    }

    #[test]
    fn what_takes_long_with_one_step_three_times_is_late() {
        let mut pacing = Pacing::within(Duration::from_millis(10));
        let [short, long] = [2, 40].map(Duration::from_millis);
        for (steps, took) in [
            (1, long),
            (1, long),
            (1, short),
            (1, long),
            (1, long),
            (4, long),
            (1, long),
            (1, long),
        ] {
            pacing.stepped(steps, 1, took);
            assert!(!pacing.is_late(), "two in a row at most");
        }
        pacing.stepped(1, 1, long);
        assert!(pacing.is_late());
        pacing.stepped(1, 1, short);
        assert!(pacing.is_late(), "it stays so");
        pacing.forget();
        assert!(!pacing.is_late(), "another solver");
    }

    #[test]
    fn a_steady_rate_is_met() {
        let mut meter = Meter::default();
        assert_eq!(meter.rate().to_bits(), 0.0f64.to_bits());
        for _ in 0..100 {
            meter.add(5.0, Duration::from_millis(10));
        }
        // Both sums fade alike, so a constant rate is exact up to rounding.
        assert!((meter.rate() - 500.0).abs() < 1e-9);
    }

    #[test]
    fn a_ration_holds_both_limits() {
        let mut ration = TimeBudget::new(10.0, 0.05);
        let ms = Duration::from_millis;
        assert!(ration.allows(ms(0)));
        ration.spent(ms(0), ms(1));
        assert!(!ration.allows(ms(99)) && ration.allows(ms(100)));
        ration.spent(ms(100), ms(50));
        assert!(!ration.allows(ms(1099)) && ration.allows(ms(1100)));
    }
}
