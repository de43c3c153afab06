//! What the window costs: the time of its own frames on the main thread, and from start to first picture.

use std::time::{Duration, Instant};

/// What a frame may cost, in milliseconds.
pub const BUDGET_MS: f32 = 8.0;

/// Measures frames.
#[derive(Debug)]
pub struct Meter {
    started: Instant,
    /// From start until the first picture was handed to the screen.
    first_picture: Option<Duration>,
    /// The frame under way or the one before it had a picture.
    pictured: bool,
    begun: Option<Instant>,
    /// Smoothed over about 30 frames.
    mean_ms: f32,
    worst_ms: f32,
    frames: u64,
    over: u64,
}

impl Meter {
    /// Counts from the program's start.
    #[must_use]
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            first_picture: None,
            pictured: false,
            begun: None,
            mean_ms: 0.0,
            worst_ms: 0.0,
            frames: 0,
            over: 0,
        }
    }

    /// A frame begins.
    pub fn begin(&mut self) {
        if self.pictured && self.first_picture.is_none() {
            // The frame before was drawn and presented.
            self.first_picture = Some(self.started.elapsed());
            self.note("first picture");
        }
        self.begun = Some(Instant::now());
    }

    /// The frame's panels and picture are laid out. `whole` is what the frame before cost with tessellation and
    /// submission, where the window system says so.
    pub fn end(&mut self, whole: Option<f32>) {
        let own = self.begun.take().map_or(0.0, |begun| begun.elapsed().as_secs_f32());
        let ms = 1000.0 * whole.unwrap_or(own).max(own);
        self.frames += 1;
        // The first frames load fonts and shaders.
        if self.frames <= 10 {
            self.mean_ms = ms;
            return;
        }
        self.mean_ms += (ms - self.mean_ms) / 30.0;
        self.worst_ms = self.worst_ms.max(ms);
        self.over += u64::from(ms > BUDGET_MS);
    }

    /// This frame has a picture of a field; whether it is the first one.
    pub fn picture(&mut self) -> bool {
        !std::mem::replace(&mut self.pictured, true)
    }

    /// Logs that something is done, with the time since the start.
    pub fn note(&self, what: &str) {
        tracing::info!(seconds = self.started.elapsed().as_secs_f64(), "{what}");
    }

    /// Smoothed time of a frame.
    #[must_use]
    pub fn frame_ms(&self) -> f32 {
        self.mean_ms
    }

    /// Details for a tooltip.
    #[must_use]
    pub fn about(&self) -> String {
        let first = self.first_picture.map_or("no picture yet".to_owned(), |elapsed| {
            format!("{:.2} s from start to first picture", elapsed.as_secs_f64())
        });
        format!(
            "Time that the window's own frames take on the main thread, smoothed; at most {:.1} ms, {} of {} frames above {BUDGET_MS} ms. {first}.",
            self.worst_ms, self.over, self.frames
        )
    }

    /// What was measured, for the log at the end of the program.
    pub fn log(&self) {
        tracing::info!(
            mean_ms = self.mean_ms,
            worst_ms = self.worst_ms,
            frames = self.frames,
            over_budget = self.over,
            "frames of the window"
        );
    }
}
