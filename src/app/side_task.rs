//! A long piece of work that a panel began, beside the window: what it says on its way, and how it is ended.

use super::theme;
use crate::platform::aside;
use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Ui, vec2};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the work has of the panel.
pub struct Reporter<N> {
    stop: Arc<AtomicBool>,
    news: Sender<N>,
    ctx: egui::Context,
}

impl<N> Reporter<N> {
    /// Whether it shall end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says something, which the window shows at once; breaks off where the work shall end.
    pub fn tell(&self, news: N) -> ControlFlow<()> {
        // The window may be gone.
        let is_heard = self.news.send(news).is_ok();
        self.ctx.request_repaint();
        if self.is_stopped() || !is_heard {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Work under way; it ends when this is dropped.
pub struct SideTask<N> {
    stop: Arc<AtomicBool>,
    news: Receiver<N>,
}

impl<N: Send + 'static> SideTask<N> {
    /// Begins it.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(
        name: &str,
        ctx: &egui::Context,
        work: impl FnOnce(&Reporter<N>) + Send + 'static,
    ) -> Result<Self, String> {
        let (report, news) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let reporter = Reporter {
            stop: Arc::clone(&stop),
            news: report,
            ctx: ctx.clone(),
        };
        aside(name, move || work(&reporter)).map_err(|error| format!("the system gives no thread: {error}"))?;
        Ok(Self { stop, news })
    }

    /// What it has said since the last time.
    pub fn news(&self) -> Vec<N> {
        self.news.try_iter().collect()
    }
}

impl<N> SideTask<N> {
    /// Asks it to end; it says so when it has.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl<N> Drop for SideTask<N> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A panel over the picture that can be closed; as large as wanted, where there is room.
pub fn window(
    ctx: &egui::Context,
    title: &str,
    [width, height]: [f32; 2],
    open: &mut bool,
    contents: impl FnOnce(&mut Ui),
) {
    let room = ctx.content_rect();
    egui::Window::new(title)
        .open(open)
        .frame(theme::modal(ctx))
        .default_size(vec2(width.min(room.width() - 32.0), height.min(room.height() - 64.0)))
        .show(ctx, contents);
}
