//! What the window costs: the time of its own frames on the main thread, and from start to first picture.

use crate::platform::Instant;
use std::time::Duration;

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
    /// The thread's processor time when the frame before began, where the system tells.
    cpu_before: Option<Duration>,
    /// The memory of the process, bytes, and when it was read.
    memory: Option<(u64, Instant)>,
    /// Processor time of a whole frame on this thread, smoothed: what a frame costs by itself, without waiting for a core
    /// or for the screen.
    cpu_ms: f32,
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
            cpu_before: None,
            memory: None,
            cpu_ms: 0.0,
        }
    }

    /// When the program began.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// A frame begins.
    pub fn begin(&mut self) {
        if self.pictured && self.first_picture.is_none() {
            // The frame before was drawn and presented.
            self.first_picture = Some(self.started.elapsed());
            self.note("first picture");
        }
        let cpu = thread_time();
        if let (Some(now), Some(before)) = (cpu, self.cpu_before) {
            let ms = 1000.0 * now.saturating_sub(before).as_secs_f32();
            let share = if self.frames <= 10 { 1.0 } else { 1.0 / 30.0 };
            self.cpu_ms += (ms - self.cpu_ms) * share;
        }
        self.cpu_before = cpu;
        let now = Instant::now();
        if (self.memory).is_none_or(|(_, read)| now.duration_since(read) >= Duration::from_secs(1)) {
            self.memory = process_memory().map(|bytes| (bytes, now));
        }
        self.begun = Some(now);
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

    /// Logs that something is done, with the time since the start and what of it this thread had a processor for.
    pub fn note(&self, what: &str) {
        let seconds = self.started.elapsed().as_secs_f64();
        let processor = thread_time().map(|time| time.as_secs_f64());
        tracing::info!(seconds, processor, "{what}");
    }

    /// The memory that the process has, in bytes, where the system tells.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        self.memory.map(|(bytes, _)| bytes)
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
        let own = if self.cpu_before.is_some() {
            format!(", {:.1} ms of it on a processor", self.cpu_ms)
        } else {
            String::new()
        };
        format!(
            "Time that the window's own frames take on the main thread, smoothed{own}; at most {:.1} ms, {} of {} frames above {BUDGET_MS} ms. {first}.",
            self.worst_ms, self.over, self.frames
        )
    }

    /// What was measured, for the log at the end of the program.
    pub fn log(&self) {
        tracing::info!(
            mean_ms = self.mean_ms,
            processor_ms = self.cpu_ms,
            worst_ms = self.worst_ms,
            frames = self.frames,
            over_budget = self.over,
            "frames of the window"
        );
    }
}

/// Processor time of the calling thread since it began, where the system tells cheaply: on a busy machine a frame's time on
/// the clock is mostly waiting.
#[cfg(target_os = "linux")]
pub(super) fn thread_time() -> Option<Duration> {
    // Nanoseconds on a processor, nanoseconds waiting for one, time slices: Documentation/scheduler/sched-stats.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Bytes of the process that lie in memory, where the system tells.
pub(super) fn process_memory() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    // /proc/self/status has the size in KiB: proc(5), VmRSS.
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let size: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(1024 * size)
}

/// Elsewhere only the clock is read.
#[cfg(not(target_os = "linux"))]
pub(super) fn thread_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_over_the_budget_are_counted() {
        let mut meter = Meter::new(Instant::now());
        for n in 0..30 {
            meter.begin();
            // The first ten load fonts and shaders, and are not judged.
            meter.end(Some(if n % 2 == 0 { 0.001 } else { 0.02 }));
        }
        assert_eq!((meter.frames, meter.over), (30, 10));
        assert!(meter.frame_ms() > 1.0 && meter.frame_ms() < 20.0);
        assert!(meter.worst_ms >= 20.0);
    }
}
