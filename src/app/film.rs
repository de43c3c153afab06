//! Films made while the window goes on: of the scene from its start, by a run of their own, or of what the present run shows from now on.

use crate::engine::{Engine, Job};
use crate::export::errand::{Errand, Product, To};
use crate::export::film::{Script, Shooting, Shot};
use crate::export::pair::{Pair, Show};
use crate::export::{self, About, ExportError, FilmWriter, Format, Look, Painter, Picture, Progress};
use crate::platform::{self, Instant};
use crate::scene::Scenario;
use crossbeam_channel::{Receiver, bounded};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pictures that wait for the encoder; when there are more, the run waits.
const WAITING: usize = 4;

/// What a film shows.
#[derive(Clone, Debug)]
pub struct Order {
    /// The scene, and how it is shown.
    pub scenario: Arc<Scenario>,
    /// Quantity, colours, size, overlay.
    pub look: Look,
    /// The file's format and place.
    pub format: Format,
    /// Where it goes.
    pub path: PathBuf,
    /// The scene as text, which the film carries.
    pub scene: String,
    /// Pictures a second.
    pub fps: f64,
    /// A second run beside it, or its difference to it; of films of the scene from its start.
    pub second: Option<(Arc<Scenario>, Show)>,
}

impl Order {
    /// What makes the pictures: of one run, or of two.
    fn painter(&self, time_step: f64) -> Result<Box<dyn Shot>, String> {
        Ok(match &self.second {
            None => {
                let painter = Painter::new(Arc::clone(&self.scenario), &self.look, time_step);
                Box::new(painter.map_err(|error| error.to_string())?)
            }
            Some((other, show)) => {
                let pair = Pair::new(&self.scenario, Arc::clone(other), &self.look, time_step, *show);
                Box::new(pair.map_err(|error| error.to_string())?)
            }
        })
    }

    fn about(&self, comment: String) -> About {
        About {
            title: self.scenario.title().to_owned(),
            scene: Some(self.scene.clone()),
            comment,
        }
    }
}

/// A film under way.
pub struct Filming {
    /// Its file.
    pub path: PathBuf,
    /// Pictures done and in all; all is 0 while it is recorded.
    pub progress: Progress,
    /// When it was begun.
    pub since: Instant,
    /// Whether it shows the run from now on, and ends when it is told to.
    pub records: bool,
    done: Receiver<Result<u64, String>>,
}

impl Filming {
    /// Makes a film of the scene from its start aside; `wake` is called after each picture.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn scene(order: Order, script: Script, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let progress = Progress::new(u64::from(script.all_pictures().max(1)));
        let shared = progress.clone();
        let path = order.path.clone();
        Self::start(path, progress, false, move || {
            let mut making = None;
            move || {
                let next = making_of(&mut making, &order, script, &shared);
                wake();
                next
            }
        })
    }

    /// Records what a run shows from now on. The job belongs to every picture of the run; when it is dropped the film is completed.
    ///
    /// # Errors
    /// If the look does not fit, or the system gives no thread.
    pub fn recording(order: Order, time_step: f64, wake: impl Fn() + Send + 'static) -> Result<(Self, Job), String> {
        let painter = Painter::new(Arc::clone(&order.scenario), &order.look, time_step);
        let painter = painter.map_err(|error| error.to_string())?;
        let size = painter.size();
        let look = order.look.clone();
        let (sender, pictures) = platform::queue::<Picture>(WAITING);
        let progress = Progress::new(0);
        let shared = progress.clone();
        let path = order.path.clone();
        let filming = Self::start(path, progress, true, move || {
            let mut writer = None;
            move || {
                let next = encode(&mut writer, &order, size, &pictures, &shared);
                if next != Ok(None) {
                    wake();
                }
                next
            }
        });
        let filming = filming.map_err(|error| error.to_string())?;
        let product = Product::FilmPicture {
            look,
            time_step,
            seconds: 1.0 / 30.0,
        };
        Ok((filming, Job::of(Errand::new(product, To::Film(sender)))))
    }

    /// Has a film made aside: the pieces that `begin` gives say how many bytes it has once it is done, or `None` before.
    fn start<P>(
        path: PathBuf,
        progress: Progress,
        records: bool,
        begin: impl FnOnce() -> P + Send + 'static,
    ) -> std::io::Result<Self>
    where
        P: FnMut() -> Result<Option<u64>, String> + 'static,
    {
        let (report, done) = bounded(1);
        platform::aside_in_pieces("film", move || {
            let mut piece = begin();
            move || match piece().transpose() {
                None => ControlFlow::Continue(()),
                Some(result) => {
                    // The window may be gone.
                    let _ = report.send(result);
                    ControlFlow::Break(())
                }
            }
        })?;
        Ok(Self {
            path,
            progress,
            since: Instant::now(),
            records,
            done,
        })
    }

    /// What came of it, once.
    #[must_use]
    pub fn result(&self) -> Option<Result<u64, String>> {
        match self.done.try_recv() {
            Ok(result) => Some(result),
            Err(crossbeam_channel::TryRecvError::Empty) => None,
            Err(crossbeam_channel::TryRecvError::Disconnected) => {
                Some(Err("the film's thread ended with an internal error".to_owned()))
            }
        }
    }
}

/// Writes what comes; once nothing more does, the bytes of the film.
fn encode(
    writer: &mut Option<Box<dyn FilmWriter>>,
    order: &Order,
    size: [usize; 2],
    pictures: &Receiver<Picture>,
    progress: &Progress,
) -> Result<Option<u64>, String> {
    let words = |error: ExportError| error.to_string();
    let open = if let Some(writer) = writer {
        writer
    } else {
        let about = order.about("recorded in the window".to_owned());
        let made = export::create_as(order.format, &order.path, size, order.fps, &about);
        writer.insert(made.map_err(words)?)
    };
    if open.is_busy().map_err(words)? {
        progress.check().map_err(words)?;
        return Ok(None);
    }
    match platform::next(pictures) {
        Ok(Some(picture)) => {
            open.push(&picture).map_err(words)?;
            progress.advance().map_err(words)?;
            Ok(None)
        }
        Ok(None) => Ok(None),
        Err(_) => {
            progress.check().map_err(words)?;
            if !open.flush().map_err(words)? {
                return Ok(None);
            }
            if let Some(writer) = writer.take() {
                writer.finish().map_err(words)?;
            }
            Ok(Some(bytes(&order.path)))
        }
    }
}

/// A film of a scene on its way: a run of its own.
struct Making {
    engine: Engine,
    painter: Box<dyn Shot>,
    shooting: Shooting<'static>,
}

impl Making {
    fn begin(order: &Order, script: Script, progress: &Progress) -> Result<Self, String> {
        let mut engine = Engine::new(Arc::clone(&order.scenario)).map_err(|error| error.to_string())?;
        let clock = engine.clock();
        let mut painter = order.painter(clock.time_step)?;
        let about = order.about(format!("t = {} to {}", script.from, script.to));
        let writer = export::create_as(order.format, &order.path, painter.size(), order.fps, &about)
            .map_err(|error| error.to_string())?;
        let shooting = Shooting::new(&mut engine, painter.as_mut(), writer, script, progress);
        Ok(Self {
            engine,
            painter,
            shooting,
        })
    }
}

/// One picture of the scene's film; after the last one the bytes of the film.
fn making_of(
    making: &mut Option<Making>,
    order: &Order,
    script: Script,
    progress: &Progress,
) -> Result<Option<u64>, String> {
    let making = match making {
        Some(making) => making,
        None => making.insert(Making::begin(order, script, progress)?),
    };
    let goes_on = making.shooting.next(&mut making.engine, making.painter.as_mut());
    let goes_on = goes_on.map_err(|error| error.to_string())?;
    Ok((!goes_on).then(|| bytes(&order.path)))
}

/// Bytes of a file, or of the files in a folder.
fn bytes(path: &Path) -> u64 {
    let of = |path: &Path| crate::input_file::length(path).unwrap_or(0);
    if path.is_dir() {
        let files = std::fs::read_dir(path).into_iter().flatten().flatten();
        files.map(|file| of(&file.path())).sum()
    } else {
        of(path)
    }
}
