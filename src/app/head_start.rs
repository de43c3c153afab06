//! What begins before there is a window: the worker builds the first scene while the window system and the graphics come
//! up.

use super::background::{self, Opened};
use super::{App, AppOptions, FIRST_PRESET, system};
use crate::engine::Worker;
use crate::platform::Instant;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A worker on its way, and what it was given to do.
pub struct HeadStart {
    pub(super) started: Instant,
    pub(super) worker: Worker,
    pub(super) wake: Wake,
    pub(super) opened: Option<Opened>,
}

/// Wakes the window as soon as there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Wake(Arc<OnceLock<egui::Context>>);

impl Wake {
    /// From now on this window is woken.
    pub(super) fn set(&self, ctx: &egui::Context) {
        // There is one window; a second one would keep the first.
        let _ = self.0.set(ctx.clone());
        ctx.request_repaint();
    }

    fn call(&self) {
        if let Some(ctx) = self.0.get() {
            ctx.request_repaint();
        }
    }
}

/// The longest that the first frame waits for the first picture.
const LONGEST_WAIT: Duration = Duration::from_millis(150);

/// How often the first frame is laid out at most, and how long it waits in between.
pub(super) const MOST_PASSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);
const PAUSE: Duration = Duration::from_millis(4);

/// What egui allows by itself.
const USUAL_PASSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);

impl App {
    /// The first frame is laid out again, a few milliseconds each time, until the worker has the first picture, and is drawn with it.
    /// Where the processor draws, a frame without it would take longer than that.
    pub(super) fn await_first_picture(&mut self, ctx: &egui::Context) {
        let Some(since) = self.awaits_picture else { return };
        let is_there = !self.worker.last_frame().image.value.is_empty();
        if is_there || since.elapsed() > LONGEST_WAIT {
            self.awaits_picture = None;
            ctx.options_mut(|options| options.max_passes = USUAL_PASSES);
            return;
        }
        std::thread::sleep(PAUSE);
        ctx.request_discard("the first picture is under way");
    }
}

impl HeadStart {
    /// Starts the worker with the scene that was asked for or, at the first start ever, with the first preset. What
    /// stands in the settings is read with the window.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(options: &AppOptions, started: Instant) -> std::io::Result<Self> {
        let opened = options.opened.clone().or_else(|| {
            let first = options.scene.is_none() && !system::has_settings();
            first
                .then(|| background::read(FIRST_PRESET, &options.set).ok())
                .flatten()
        });
        super::meter::Meter::new(started).note("scene read");
        Self::with(opened, started)
    }

    /// Starts the worker without a scene.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn idle(started: Instant) -> std::io::Result<Self> {
        Self::with(None, started)
    }

    fn with(opened: Option<Opened>, started: Instant) -> std::io::Result<Self> {
        let wake = Wake::default();
        let scenario = opened.as_ref().map(|opened| opened.scenario.clone());
        let worker = Worker::start(scenario, {
            let wake = wake.clone();
            move || wake.call()
        })?;
        Ok(Self {
            started,
            worker,
            wake,
            opened,
        })
    }
}
