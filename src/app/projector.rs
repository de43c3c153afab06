//! The picture in a window of its own: on the projector, while the controls stay on the laptop.
//!
//! It shows what the first window shows: the same run, the same part of the grid, from the same side. Its keys are those of the first window; F and
//! F11 fill its own screen.

use super::canvas::{self, Canvas};
use super::command::{self, Action};
use super::pictures::Pictures;
use super::view_state::{ViewState, Wanted};
use super::window::App;
use crate::solver::ImageRequest;
use egui::{ViewportBuilder, ViewportClass, ViewportCommand, ViewportId};

/// The second window's state.
#[derive(Default)]
pub struct Projector {
    open: bool,
    full: bool,
    view: ViewState,
    /// Textures of its own: each has what its window shows.
    pictures: Option<Pictures>,
    /// The medium is another one than was uploaded.
    stale: bool,
    /// What its keys asked for.
    actions: Vec<Action>,
}

impl Projector {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        self.open = !self.open;
        self.full = false;
        self.stale = true;
    }

    /// The medium has changed.
    pub fn take_medium(&mut self) {
        self.stale = true;
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What its keys asked for since the last time.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }
}

/// One request that serves two pictures: what either of them sees, as fine as the finer one needs.
fn both(first: &ImageRequest, second: &ImageRequest) -> ImageRequest {
    if first.quantity != second.quantity || first.z != second.z {
        return first.clone();
    }
    let joined = |a: &std::ops::Range<usize>, b: &std::ops::Range<usize>| a.start.min(b.start)..a.end.max(b.end);
    let (x, y) = (joined(&first.x, &second.x), joined(&first.y, &second.y));
    let per_texel = first.reduction().min(second.reduction());
    let most = |sites: usize| sites.div_ceil(per_texel).max(1);
    ImageRequest {
        quantity: first.quantity,
        max_size: [most(x.len()), most(y.len())],
        x,
        y,
        z: first.z,
    }
}

impl App {
    /// Shows the second window, if it is open; `wanted` is what the first one shows, and what comes back serves both.
    pub(super) fn project(&mut self, ctx: &egui::Context, wanted: Option<Wanted>) -> Option<Wanted> {
        if !self.projector.open {
            return wanted;
        }
        let present = self.worker.last_frame();
        let again = self.frame_history.frame(present);
        let frame = again.unwrap_or(present);
        let Some(scenario) = frame.scenario.clone() else {
            return wanted;
        };
        let second = if again.is_none() {
            self.comparison.second(present)
        } else {
            None
        };
        let [nx, ny, _] = scenario.grid().size();
        self.projector.view.show_as(&self.view, [nx, ny]);
        let canvas = Canvas {
            frame,
            second,
            document: &self.document,
            medium: &self.medium,
            space: &self.space,
            history: &self.history,
            bare: true,
            scale: Some(self.view.camera.scale() * ctx.pixels_per_point()),
            lecture: self.demo.is_some(),
        };
        let builder = ViewportBuilder::default()
            .with_title(format!("{} – picture", self.document.title()))
            .with_inner_size([1280.0, 720.0])
            .with_min_inner_size([320.0, 180.0]);
        let (view, bar) = (&mut self.projector.view, &mut self.bar);
        let mut pictures = self.pictures.as_ref().map(|first| {
            let own = &mut self.projector.pictures;
            own.get_or_insert_with(|| Pictures::new(&first.render))
        });
        if std::mem::take(&mut self.projector.stale)
            && let Some(pictures) = pictures.as_deref_mut()
        {
            pictures.take_medium(&self.medium);
            pictures.take_medium_volume(&self.space);
        }
        let mut pressed = None;
        let mut closed = false;
        let mut shown = None;
        let id = ViewportId::from_hash_of("picture");
        ctx.show_viewport_immediate(id, builder, |ui, class| {
            // Inside the first window its keys are heard already.
            if class != ViewportClass::EmbeddedWindow {
                pressed = command::pressed(ui.ctx());
                closed = ui.input(|input| input.viewport().close_requested());
            }
            shown = canvas::show(ui, &canvas, view, pictures.as_deref_mut(), bar);
        });
        if closed {
            self.projector.toggle();
        }
        match pressed {
            Some(Action::FullScreen) => {
                self.projector.full = !self.projector.full;
                ctx.send_viewport_cmd_to(id, ViewportCommand::Fullscreen(self.projector.full));
            }
            Some(action) => {
                self.projector.actions.push(action);
                ctx.request_repaint();
            }
            None => {}
        }
        let mut wanted = wanted?;
        if let Some(shown) = shown {
            wanted.image = both(&wanted.image, &shown.image);
            wanted.volume = wanted.volume.or(shown.volume);
        }
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::scenario::Quantity;

    fn request(x: std::ops::Range<usize>, y: std::ops::Range<usize>, max_size: [usize; 2]) -> ImageRequest {
        ImageRequest {
            quantity: Quantity::Density,
            x,
            y,
            z: 0,
            max_size,
        }
    }

    #[test]
    fn one_request_serves_both_pictures() {
        let (whole, part) = (
            request(0..1000, 0..500, [250, 125]),
            request(400..600, 100..200, [200, 100]),
        );
        let joined = both(&whole, &part);
        assert_eq!((joined.x.clone(), joined.y.clone()), (0..1000, 0..500));
        assert_eq!(joined.reduction(), 1, "as fine as the part");
        assert_eq!(both(&whole, &whole), whole);
        let other = ImageRequest {
            quantity: Quantity::Phase,
            ..part
        };
        assert_eq!(both(&whole, &other), whole, "the first window's where they differ");
    }
}
