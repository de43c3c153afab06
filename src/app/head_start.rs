//! What begins before there is a window: the worker builds the first scene while the window system and the graphics come
//! up.

use super::background::{self, Opened};
use super::connect::Connected;
use super::{AppOptions, FIRST_PRESET, system};
use crate::engine::Worker;
use crate::platform::Instant;
use std::sync::{Arc, OnceLock};

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

    /// With a run on another machine; `connect` is given what wakes the window.
    ///
    /// # Errors
    /// What `connect` says.
    pub fn connected<E>(
        started: Instant,
        connect: impl FnOnce(Box<dyn Fn() + Send + Sync>) -> Result<Connected, E>,
    ) -> Result<Self, E> {
        let wake = Wake::default();
        let own = wake.clone();
        let Connected { worker, opened } = connect(Box::new(move || own.call()))?;
        Ok(Self {
            started,
            worker,
            wake,
            opened: Some(opened),
        })
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
