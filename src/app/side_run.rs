//! A run of the scene that a panel began beside the window's own: what it says on its way, what it found, how it is ended.

use super::document::Document;
use super::theme;
use super::widgets::button;
use crate::app::icon::Icon;
use crate::engine::ends;
use crate::platform::{aside, guarded};
use crate::scene::Scenario;
use crate::solver;
use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Rect, Ui, pos2, vec2};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the work says: `P` on its way, `R` at its end.
enum News<P, R> {
    Progress(P),
    Over(Result<R, String>),
}

/// What the work has of the panel.
pub struct Reporter<P, R> {
    stop: Arc<AtomicBool>,
    news: Sender<News<P, R>>,
    ctx: egui::Context,
}

impl<P, R> Reporter<P, R> {
    /// Whether the work shall end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What says so, for those who outlive the reporter.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Says how far the work is, which the window shows at once; breaks off where the work shall end.
    pub fn tell(&self, progress: P) -> ControlFlow<()> {
        self.send(News::Progress(progress))
    }

    fn send(&self, news: News<P, R>) -> ControlFlow<()> {
        // The window may be gone.
        let is_heard = self.news.send(news).is_ok();
        self.ctx.request_repaint();
        ends(self.is_stopped() || !is_heard)
    }
}

/// Work under way; it ends when this is dropped.
struct Task<P, R> {
    stop: Arc<AtomicBool>,
    news: Receiver<News<P, R>>,
}

impl<P, R> Drop for Task<P, R> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A run beside the window's own, or none.
pub struct SideRun<P, R> {
    task: Option<Task<P, R>>,
    /// What went wrong last.
    fault: Option<String>,
}

impl<P, R> Default for SideRun<P, R> {
    fn default() -> Self {
        Self {
            task: None,
            fault: None,
        }
    }
}

impl<P, R> SideRun<P, R> {
    /// Whether one is under way.
    pub fn is_running(&self) -> bool {
        self.task.is_some()
    }

    /// What went wrong last.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

impl<P: Send + 'static, R: Send + 'static> SideRun<P, R> {
    /// Begins `work` on a thread of its own, with the scene as it stands in the window; `name` is the thread's.
    /// A run under way ends.
    pub fn begin(
        &mut self,
        name: &str,
        document: &Document,
        ctx: &egui::Context,
        work: impl FnOnce(Scenario, &Reporter<P, R>) -> Result<R, String> + Send + 'static,
    ) {
        *self = Self::default();
        let (text, origin) = (document.draft.to_toml(), document.path().map(ToOwned::to_owned));
        let (sender, news) = unbounded();
        let stop = Arc::new(AtomicBool::new(false));
        let reporter = Reporter {
            stop: Arc::clone(&stop),
            news: sender,
            ctx: ctx.clone(),
        };
        let begun = aside(name, move || {
            let found = guarded(|| {
                solver::read_scene_text(&text, origin.as_deref(), &[])
                    .map_err(|faults| faults.to_string())
                    .and_then(|(_, scenario)| work(scenario, &reporter))
            });
            let found = found.unwrap_or_else(|| Err("it ended in a fault of the program; report it".to_owned()));
            let _ = reporter.send(News::Over(found));
        });
        match begun {
            Ok(()) => self.task = Some(Task { stop, news }),
            Err(error) => self.fault = Some(format!("the system gives no thread: {error}")),
        }
    }

    /// Hands what the run has said since the last time to `each`; what it found, once it is over.
    pub fn collect(&mut self, mut each: impl FnMut(P)) -> Option<R> {
        let mut over = None;
        for news in self.task.as_ref()?.news.try_iter() {
            match news {
                News::Progress(progress) => each(progress),
                News::Over(found) => over = Some(found),
            }
        }
        let found = over?;
        self.task = None;
        found.map_err(|text| self.fault = Some(in_the_window(&text))).ok()
    }

    /// The button that begins a run, or ends the one under way; whether one shall begin.
    pub fn button(&self, ui: &mut Ui, icon: Icon, label: &str, begin: &str, end: &str) -> bool {
        let Some(task) = &self.task else {
            return ui.add(button(icon, label)).accessible_name(begin).clicked();
        };
        let response = ui.add(button(Icon::Square, "End")).accessible_name(end);
        if response.clicked() {
            task.stop.store(true, Ordering::Relaxed);
        }
        false
    }
}

/// What is wrong, where it names an option of the command line: the key in the scene's file is told instead.
fn in_the_window(text: &str) -> String {
    let Some((before, option)) = text.split_once("--set ") else {
        return text.to_owned();
    };
    let end = option.find(char::is_whitespace).unwrap_or(option.len());
    let (setting, after) = option.split_at(end);
    match setting.split_once('=') {
        Some((key, value)) => format!("{before}{key} = {value} in the scene's file{after}"),
        None => text.to_owned(),
    }
}

/// The share of a run that is done, beside its button.
pub fn share_done(ui: &mut Ui, share: f64) {
    ui.label(format!("{:.0} % of the run", 100.0 * share));
}

/// `steps` of `all` as a share.
#[expect(clippy::cast_precision_loss, reason = "shown as a percentage")]
pub fn share(steps: u64, all: u64) -> f64 {
    steps as f64 / all.max(1) as f64
}

/// From the top of the picture to such a panel: clock and colours stand there.
const TOP: f32 = 40.0;
/// What a panel's title and edge take beside its contents.
const AROUND: f32 = 80.0;
/// Contents are never lower by themselves.
const LEAST: f32 = 240.0;

/// The titles of the panels.
pub const SWEEP: &str = "Sweep";
pub const LEVELS: &str = "Levels";
pub const ROOM: &str = "Room acoustics";
pub const DISPERSION: &str = "Dispersion";

fn id(title: &str) -> egui::Id {
    egui::Id::unique(("run aside", title))
}

/// Where such panels stood in the frame before.
pub fn places(ctx: &egui::Context) -> Vec<Rect> {
    let place = |title| {
        ctx.memory(|memory| {
            let layer = egui::LayerId::new(egui::Order::Middle, id(title));
            let is_seen = memory.areas().visible_last_frame(&layer);
            memory.area_rect(id(title)).filter(|_| is_seen)
        })
    };
    [SWEEP, LEVELS, ROOM, DISPERSION]
        .into_iter()
        .filter_map(place)
        .collect()
}

/// A panel over the right part of the `picture` that can be closed, also by Escape; as large as wanted, where there is room.
pub fn window(
    (ctx, picture): (&egui::Context, Rect),
    title: &str,
    [width, height]: [f32; 2],
    open: &mut bool,
    contents: impl FnOnce(&mut Ui),
) {
    // Escape leaves a text field first.
    if !ctx.text_edit_focused() && ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
        *open = false;
        return;
    }
    let room = ctx.content_rect();
    // The buttons below the picture stay free, unless the picture is low.
    let free = (picture.height() - TOP - AROUND).max(LEAST).min(room.height() - 112.0);
    let size = vec2(width.min(room.width() - 32.0), height.min(free));
    // Beside the lesson, and below what stands over the picture; over some of the lesson where the picture is narrower.
    let left = (picture.right() - 16.0 - size.x).max(room.left() + 16.0);
    egui::Window::new(title)
        .id(id(title))
        .open(open)
        .frame(theme::modal(ctx))
        .default_pos(pos2(left, picture.top() + TOP))
        .default_size(size)
        .show(ctx, contents);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::presets;

    #[test]
    fn a_window_has_no_options() {
        assert_eq!(
            in_the_window("let time.end be earlier, e.g. --set time.end=0.6711"),
            "let time.end be earlier, e.g. time.end = 0.6711 in the scene's file"
        );
        assert_eq!(in_the_window("the field is not finite"), "the field is not finite");
    }

    /// A run beside the window's own that ends in a panic is over, and says so: the panel would show its bar for ever.
    #[test]
    fn a_fault_of_the_program_ends_the_run() {
        let preset = presets::find("tube").unwrap();
        let (file, _) = solver::read_scene_text(preset.text, None, &[]).unwrap();
        let mut document = Document::default();
        document.open(file, None, None);
        let mut run: SideRun<(), ()> = SideRun::default();
        run.begin("test", &document, &egui::Context::default(), |_, _| {
            panic!("this test wants a panic")
        });
        while run.is_running() {
            assert!(run.collect(|()| ()).is_none());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(
            run.fault().is_some_and(|text| text.contains("fault of the program")),
            "{:?}",
            run.fault()
        );
    }
}
