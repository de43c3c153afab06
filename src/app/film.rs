//! Films made while the window goes on: of the scene from its start, by a run of their own, or of what the present run shows from now on.

use crate::engine::{Engine, Job};
use crate::export::film::{self, Script};
use crate::export::{self, About, ExportError, Format, Look, Painter, Picture, Progress};
use crate::scene::Scenario;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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
}

impl Order {
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
    /// Makes a film of the scene from its start on a thread of its own; `wake` is called after each picture.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn scene(order: Order, script: Script, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let progress = Progress::new(u64::from(script.pictures.max(1)));
        let shared = progress.clone();
        let path = order.path.clone();
        Self::start(path, progress, false, move || {
            let beat = wake;
            let result = make(&order, &script, &shared, &beat);
            beat();
            result
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
        let (sender, pictures) = bounded::<Picture>(WAITING);
        let progress = Progress::new(0);
        let shared = progress.clone();
        let path = order.path.clone();
        let filming = Self::start(path, progress, true, move || {
            let result = encode(&order, size, &pictures, &shared);
            wake();
            result
        });
        let filming = filming.map_err(|error| error.to_string())?;
        let seconds = 1.0 / 30.0;
        let painter = Mutex::new(painter);
        let job = Job::new(move |engine| shoot(&painter, engine, &sender, seconds));
        Ok((filming, job))
    }

    fn start(
        path: PathBuf,
        progress: Progress,
        records: bool,
        work: impl FnOnce() -> Result<u64, String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let (report, done) = bounded(1);
        std::thread::Builder::new()
            .name("ripplon-film".to_owned())
            .spawn(move || {
                // The window may be gone.
                let _ = report.send(work());
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
                Some(Err("the film’s thread ended with an internal error".to_owned()))
            }
        }
    }
}

/// One picture of the present state to the encoder.
fn shoot(
    painter: &Mutex<Painter>,
    engine: &mut Engine,
    sender: &Sender<Picture>,
    seconds: f32,
) -> Result<String, String> {
    let mut painter = painter.lock().unwrap_or_else(PoisonError::into_inner);
    let picture = painter.shoot(engine, seconds).map_err(|error| error.to_string())?;
    sender
        .send(picture.clone())
        .map_err(|_| "the film has ended".to_owned())?;
    Ok(String::new())
}

/// Writes what comes until nothing more does.
fn encode(order: &Order, size: [usize; 2], pictures: &Receiver<Picture>, progress: &Progress) -> Result<u64, String> {
    let about = order.about("recorded in the window".to_owned());
    let write = || -> Result<(), ExportError> {
        let mut writer = export::create_as(order.format, &order.path, size, order.fps, &about)?;
        for picture in pictures {
            writer.push(&picture)?;
            progress.advance()?;
        }
        progress.check()?;
        writer.finish()
    };
    write().map_err(|error| error.to_string())?;
    Ok(bytes(&order.path))
}

/// Runs the scene and writes its film.
fn make(order: &Order, script: &Script, progress: &Progress, beat: &impl Fn()) -> Result<u64, String> {
    let mut engine = Engine::new(Arc::clone(&order.scenario)).map_err(|error| error.to_string())?;
    let clock = engine.clock();
    let mut painter =
        Painter::new(Arc::clone(&order.scenario), &order.look, clock.time_step).map_err(|error| error.to_string())?;
    let about = order.about(format!("t = {} to {}", script.from, script.to));
    let writer = export::create_as(order.format, &order.path, painter.size(), order.fps, &about)
        .map_err(|error| error.to_string())?;
    let writer = Box::new(Beating { writer, beat });
    film::shoot(&mut engine, &mut painter, writer, script, progress).map_err(|error| error.to_string())?;
    Ok(bytes(&order.path))
}

/// A writer that tells the window of each picture.
struct Beating<'a, F: Fn()> {
    writer: Box<dyn export::FilmWriter>,
    beat: &'a F,
}

impl<F: Fn()> export::FilmWriter for Beating<'_, F> {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        self.writer.push(picture)?;
        (self.beat)();
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.writer.finish()
    }
}

/// Bytes of a file, or of the files in a folder.
fn bytes(path: &Path) -> u64 {
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
    if path.is_dir() {
        let files = std::fs::read_dir(path).into_iter().flatten().flatten();
        files.map(|file| of(&file.path())).sum()
    } else {
        of(path)
    }
}
