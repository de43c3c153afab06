//! What the window writes: pictures, films, data.

use super::background::Ask;
use super::film::{Filming, Order};
use super::film_panel::{CARD, What, Wish};
use super::window::App;
use crate::colormap;
use crate::engine::{Command, Job};
use crate::export::errand::{Errand, Product, To};
use crate::export::film::Script;
use crate::export::pair::Show;
use crate::export::{Format, Look};
use crate::scene::Scenario;
use crate::scene::scenario::ViewMode;
use std::path::PathBuf;
use std::sync::Arc;

impl App {
    /// Reads or writes a file that was chosen.
    pub(super) fn use_file(&mut self, ctx: &egui::Context, ask: Ask, path: PathBuf) {
        if let Some(text) = ask.misnamed(&path) {
            self.notices.fault("Nothing was written", vec![text]);
            return;
        }
        match ask {
            Ask::Open => self.open(&path.to_string_lossy()),
            Ask::Save => {
                self.document.prepare_for(&path);
                self.background.save(&self.document, path);
            }
            Ask::Folder => {
                self.notices.say(format!("Your scenes are those in {}", path.display()));
                self.settings.folder = Some(path);
            }
            Ask::Checkpoint => self.write(Product::Checkpoint, path),
            Ask::Field => self.write(Product::Field, path),
            Ask::Sound => {
                if let Some(wish) = self.sound.clone() {
                    self.worker.send(Command::Run(wish.save(&path)));
                }
            }
            Ask::Film(format) => self.film(ctx, format, path),
            Ask::Records => self.write(Product::Records, path),
            Ask::Picture => {
                self.keep_view();
                let scene = self.document.draft.to_toml();
                let Some(look) = self.look() else { return };
                self.write(Product::Picture { look, scene }, path);
            }
        }
    }

    /// Has a file made of the present state.
    fn write(&mut self, product: Product, path: PathBuf) {
        self.worker
            .send(Command::Run(Job::of(Errand::new(product, To::File(path)))));
    }

    /// The scene as the window shows it, with title, clock and colours.
    fn look(&self) -> Option<Look> {
        let scenario = self.worker.last_frame().scenario.as_deref()?;
        let grid = scenario.grid();
        let mut look = Look::of(scenario);
        look.overlay = true;
        look.orbit = self.view.orbit;
        look.follows = self.view.follows;
        look.gamma = self.view.gamma();
        if !self.settings.dark && grid.rank() == 2 && look.mode == ViewMode::Plane && look.colormap == "auto" {
            // As the window shows it.
            colormap::auto_on_paper(look.quantity.auto_kind(scenario.model().equation()))
                .id
                .clone_into(&mut look.colormap);
        }
        if grid.rank() == 3 {
            look.plane = Some(self.view.plane());
            look.slices = self.view.slices.map(|site| site as f64 * grid.spacing());
        }
        Some(look)
    }

    /// The sites in view along x and y.
    fn seen(&self, sites: [usize; 2]) -> [std::ops::Range<usize>; 2] {
        let area = self.view.area;
        if sites[1] > 1 {
            return self.view.camera.seen(area, sites);
        }
        let strip = super::graph_view::strip(super::graph_view::plot_area(area));
        let [x, _] = self.view.camera.seen(strip, sites);
        [x, 0..1]
    }

    /// Asks where the film of the dialogue shall go.
    pub(super) fn ask_for_film(&self) {
        if let Some(wanted) = self.film_dialogue.wanted() {
            self.ask(Ask::Film(wanted.format));
        }
    }

    /// The second of two runs that are compared, for a film.
    fn second_run(&self) -> Option<(Arc<Scenario>, Show)> {
        let comparison = &self.comparison;
        // A riddle's film would tell its answer.
        let is_shown = comparison.on && comparison.riddle.is_none();
        let other = comparison.scenario.as_ref().filter(|_| is_shown)?;
        let title = format!("{}: {}", other.title(), comparison.other.words());
        Some((Arc::new(other.titled(title)), comparison.show))
    }

    /// Begins the film of the dialogue.
    fn film(&mut self, ctx: &egui::Context, format: Format, path: PathBuf) {
        if self.filming.is_some() {
            self.notices
                .say("A film is being made; end or cancel it before the next one");
            return;
        }
        self.keep_view();
        let scene = self.document.draft.to_toml();
        let frame = self.worker.last_frame();
        let (Some(wanted), Some(mut look), Some(scenario)) = (
            self.film_dialogue.wanted().cloned(),
            self.look(),
            frame.scenario.clone(),
        ) else {
            return;
        };
        look.overlay = wanted.overlay;
        if wanted.part {
            let [nx, ny, _] = scenario.grid().size();
            look.region = Some(self.seen([nx, ny]));
        }
        look.size = Some(wanted.size);
        if wanted.what == What::Now && format == Format::Png {
            self.write(Product::Picture { look, scene }, path);
            return;
        }
        // Its last card says which predictions came true: those that are made of the scene as it is.
        let claims = self.document.checks().claims;
        let scenario = if claims.expectations.iter().all(|holds| *holds) {
            scenario
        } else {
            Arc::new(scenario.with_predictions(&claims))
        };
        let order = Order {
            scenario,
            look,
            format,
            path,
            scene,
            fps: wanted.fps,
            second: self.second_run().filter(|_| wanted.both && wanted.what == What::Scene),
        };
        let wake = {
            let ctx = ctx.clone();
            move || ctx.request_repaint()
        };
        let begun = match wanted.what {
            What::Scene => {
                let script = Script {
                    from: 0.0,
                    to: wanted.end,
                    pictures: wanted.pictures(),
                    fps: wanted.fps,
                    title: if wanted.cards { CARD } else { 0.0 },
                    end: if wanted.cards { CARD } else { 0.0 },
                };
                Filming::scene(order, script, wake).map_err(|error| error.to_string())
            }
            What::Now => Filming::recording(order, frame.clock.time_step, wake).map(|(filming, job)| {
                self.worker.send(Command::EachPicture(Some(job)));
                filming
            }),
        };
        match begun {
            Ok(filming) => self.filming = Some(filming),
            Err(text) => self.notices.fault("The film cannot be made", vec![text]),
        }
    }

    /// Ends or gives up the film under way.
    pub(super) fn end_film(&mut self, wish: Wish) {
        if let Some(filming) = &self.filming {
            if wish == Wish::Cancel {
                filming.progress.cancel();
            }
            if filming.records {
                self.worker.send(Command::EachPicture(None));
            }
        }
    }

    /// Says what came of the film under way, once it is done.
    pub(super) fn collect_film(&mut self) {
        let Some(filming) = &self.filming else { return };
        let Some(result) = filming.result() else { return };
        let (path, records) = (filming.path.display().to_string(), filming.records);
        let cancelled = filming.progress.is_cancelled();
        let pictures = filming.progress.done();
        self.filming = None;
        if records {
            self.worker.send(Command::EachPicture(None));
        }
        match result {
            Ok(bytes) => self.notices.say(format!(
                "Film written to {path}: {pictures} pictures, {}",
                crate::units::bytes(bytes)
            )),
            Err(_) if cancelled => self.notices.say("The film was cancelled; nothing was written"),
            Err(text) => self.notices.fault("The film cannot be made", vec![text]),
        }
    }
}
