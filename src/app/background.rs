//! Work that must not hold up the window: checking scenes, reading and writing files, dialogues, the medium's picture.

mod ask;
mod work;

use super::connect::Connected;
use super::document::Document;
use super::fallback::Lacking;
use super::replaced::Replaced;
use super::scene_library::OwnScene;
use super::system;
use super::thumbnails::Covers;
use super::watcher::{Watched, Watcher};
use crate::export::Picture;
use crate::platform::{self, THREADS};
use crate::render::medium::MediumImage;
use crate::scene::{Faults, Scenario, SceneFile};
use crate::solver;
use crate::space::MediumVolume;
pub use ask::Ask;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(super) use work::file_name;
pub use work::read;
use work::{Task, dropped, serve, write_whole};

/// A scene that was read.
#[derive(Clone, Debug)]
pub struct Opened {
    /// As written.
    pub file: SceneFile,
    /// The scene without the values that it was opened with, if it was with any.
    pub original: Option<SceneFile>,
    /// Checked.
    pub scenario: Arc<Scenario>,
    /// Where it was read from; `None` for a preset.
    pub path: Option<PathBuf>,
    /// The preset's name.
    pub preset: Option<String>,
}

/// A file that was dropped on the window and is no scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A picture: a layer.
    Picture(PathBuf),
    /// An array of real numbers: a layer, or the pressure at t = 0.
    Array(PathBuf),
    /// An array of complex numbers: ψ at t = 0.
    Wave(PathBuf),
    /// A sound: a source.
    Sound(PathBuf),
}

/// What came of an errand.
#[derive(Debug)]
pub enum Outcome {
    /// An edited scene was checked.
    Checked {
        /// The draft's number.
        revision: u64,
        /// The scenario, or what is wrong.
        result: Result<Arc<Scenario>, Faults>,
    },
    /// A scene was read, or what is wrong with it.
    Opened(Result<Box<Opened>, Faults>),
    /// The scene of a second run was checked.
    Compared(Result<Arc<Scenario>, Faults>),
    /// The medium of a scenario as a picture.
    Medium(Arc<Scenario>, MediumImage),
    /// The medium of a scenario in space.
    Space(Arc<Scenario>, MediumVolume),
    /// The scene with the values of a run of a sweep.
    Varied(u64, Result<Box<SceneFile>, Faults>),
    /// A scene was read that an earlier run had kept aside.
    Restored(Box<Opened>),
    /// A scene that another one took the place of was read again.
    BroughtBack(Box<Opened>, Box<Replaced>),
    /// The scene was written.
    Saved(u64, Box<SceneFile>, PathBuf),
    /// The scene's own file, read again after another program wrote it.
    Rewritten(PathBuf, Result<Box<SceneFile>, Faults>),
    /// The scenes in the user's folder.
    Shelf(Vec<OwnScene>),
    /// The picture of one of them.
    Cover(PathBuf, Picture),
    /// Fonts with signs that the window's own lack, by name.
    Fonts(Vec<(String, Vec<u8>)>),
    /// A file was chosen.
    Chosen(Ask, PathBuf),
    /// The system shows no dialogue: the window asks for itself, suggesting a name.
    NoDialogue(Ask, String),
    /// A file to be written is there already.
    Taken(Ask, PathBuf),
    /// A file that can become a part of the scene was dropped.
    Dropped(Dropped),
    /// There is a link to a run on another machine, or none.
    Connected(Result<Box<Connected>, String>),
    /// Something failed.
    Failed(String, String),
}

/// Brings what came of an errand to the window, and wakes it.
#[derive(Clone, Debug)]
pub struct Reporter {
    outcomes: Sender<Outcome>,
    ctx: egui::Context,
}

impl Reporter {
    /// Reports something; nothing where the window is gone.
    pub fn tell(&self, outcome: Outcome) {
        if self.outcomes.send(outcome).is_ok() {
            self.ctx.request_repaint();
        }
    }

    /// Does something and reports what came of it, if anything: also that it ended in a fault of the program.
    fn tell_what_comes_of(&self, work: impl FnOnce() -> Option<Outcome>) {
        match platform::guarded(work) {
            Some(Some(outcome)) => self.tell(outcome),
            Some(None) => {}
            None => {
                let text = "undo the last change, and report it".to_owned();
                self.tell(Outcome::Failed("This ended in a fault of the program".to_owned(), text));
            }
        }
    }

    /// Says so where something could not be begun.
    fn note(&self, begun: std::io::Result<()>) {
        if let Err(error) = begun {
            let text = error.to_string();
            self.tell(Outcome::Failed("The system gives no thread".to_owned(), text));
        }
    }
}

/// Sends work away and collects what came of it.
pub struct Errands {
    tasks: Sender<Task>,
    todo: Receiver<Task>,
    outcomes: Receiver<Outcome>,
    reporter: Reporter,
    watcher: Option<Watcher>,
    covers: Option<Covers>,
    lacking: Lacking,
    /// Where pictures of the user's own scenes are kept.
    pub cache: Option<PathBuf>,
    /// Whether the system is asked for file dialogues.
    pub system_dialogues: bool,
}

impl Errands {
    /// Starts the thread; `ctx` is woken when something is done.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(ctx: &egui::Context) -> std::io::Result<Self> {
        let (tasks, todo) = unbounded::<Task>();
        let (report, outcomes) = unbounded();
        let reporter = Reporter {
            outcomes: report.clone(),
            ctx: ctx.clone(),
        };
        if THREADS {
            let (todo, reporter) = (todo.clone(), reporter.clone());
            platform::aside("background", move || {
                while let Ok(first) = todo.recv() {
                    serve(first, &todo, &reporter);
                }
            })?;
        }
        let wake = ctx.clone();
        Ok(Self {
            watcher: if system::FOLDERS {
                Some(Watcher::start(report, move || wake.request_repaint())?)
            } else {
                None
            },
            covers: None,
            lacking: Lacking::of(ctx),
            cache: system::usual_cache(),
            tasks,
            todo,
            outcomes,
            reporter,
            system_dialogues: true,
        })
    }

    /// Sends a task away.
    fn send(&self, task: Task) {
        // The other end lives as long as the window.
        let _ = self.tasks.send(task);
        if !THREADS {
            let (todo, reporter) = (self.todo.clone(), self.reporter.clone());
            self.spawn(move || {
                if let Ok(first) = todo.try_recv() {
                    serve(first, &todo, &reporter);
                }
                None
            });
        }
    }

    /// What is done since the last call.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.outcomes.try_iter()
    }

    /// Checks an edited scene.
    pub fn check(&self, revision: u64, file: &SceneFile, path: Option<&Path>) {
        self.send(Task::Check(revision, Box::new(file.clone()), path.map(Path::to_owned)));
    }

    /// Checks the scene of a second run.
    pub fn compare(&self, file: SceneFile, path: Option<&Path>) {
        self.send(Task::Compare(Box::new(file), path.map(Path::to_owned)));
    }

    /// Makes the medium's picture of a plane.
    pub fn medium(&self, scenario: &Arc<Scenario>, plane: usize) {
        self.send(Task::Medium(scenario.clone(), plane));
    }

    /// Makes the medium's volume.
    pub fn space(&self, scenario: &Arc<Scenario>) {
        self.send(Task::Space(scenario.clone()));
    }

    /// Reads a preset or a file with overrides.
    pub fn open(&self, scene: String, overrides: Vec<String>) {
        self.spawn(move || Some(Outcome::Opened(read(&scene, &overrides).map(Box::new))));
    }

    /// Sets values of a scene, as `--set` does.
    pub fn vary(&self, document: &Document, settings: Vec<String>) {
        let (text, path, opened) = (
            document.draft.to_toml(),
            document.path().map(Path::to_owned),
            document.opened(),
        );
        self.spawn(move || {
            let read = solver::read_scene_text(&text, path.as_deref(), &settings);
            Some(Outcome::Varied(opened, read.map(|(file, _)| Box::new(file))))
        });
    }

    /// Connects to a run on another machine.
    pub fn connect(&self, address: String, token: String) {
        let wake = self.reporter.ctx.clone();
        self.spawn(move || {
            let connected = system::connect(&address, &token, move || wake.request_repaint());
            Some(Outcome::Connected(connected.map(Box::new)))
        });
    }

    /// Looks at files that other programs may write.
    pub fn watch(&mut self, watched: Watched) {
        if let Some(watcher) = &mut self.watcher {
            watcher.watch(watched);
        }
    }

    /// Has pictures of the user's own scenes drawn.
    pub fn draw_covers(&mut self, scenes: &[OwnScene]) {
        if self.covers.is_none() && !scenes.is_empty() {
            let wake = self.reporter.ctx.clone();
            let outcomes = self.reporter.outcomes.clone();
            let started = Covers::start(self.cache.clone(), outcomes, move || wake.request_repaint());
            match started {
                Ok(covers) => self.covers = Some(covers),
                // The gallery goes without them.
                Err(error) => tracing::warn!("no thread for the gallery's pictures: {error}"),
            }
        }
        if let Some(covers) = &self.covers {
            covers.draw(scenes);
        }
    }

    /// Looks for fonts with signs that the window's own lack, where it has come upon some.
    pub fn find_fonts(&mut self) {
        let signs = self.lacking.take();
        if !signs.is_empty() {
            self.spawn(move || {
                let fonts = system::fonts_with(&signs);
                (!fonts.is_empty()).then_some(Outcome::Fonts(fonts))
            });
        }
    }

    /// Takes a file that was dropped on the window for what it is.
    pub fn take_dropped(&self, file: &egui::DroppedFileHandle) {
        let reporter = self.reporter.clone();
        system::take_dropped(file, move |path| {
            let begun = platform::aside("errand", {
                let reporter = reporter.clone();
                move || reporter.tell_what_comes_of(|| Some(dropped(path)))
            });
            reporter.note(begun);
        });
    }

    /// Asks for a file, suggesting a name made of `title`, for scenes in `folder`.
    pub fn ask(&self, ask: Ask, title: &str, folder: Option<&Path>) {
        let suggestion = if ask.is_there() {
            String::new()
        } else {
            file_name(title, ask.ending())
        };
        if !self.system_dialogues {
            self.reporter.tell(Outcome::NoDialogue(ask, suggestion));
            return;
        }
        let chosen = system::choose(ask, suggestion, folder.map(Path::to_owned), self.reporter.clone());
        self.reporter.note(chosen);
    }

    /// Goes on with a file that was typed in; one that would be replaced is asked about again.
    pub fn typed(&self, ask: Ask, path: PathBuf, replaces: bool) {
        self.spawn(move || {
            Some(if ask == Ask::Folder && !path.is_dir() {
                let text = format!("{}: there is no such folder; make it first", path.display());
                Outcome::Failed("The folder cannot be taken".to_owned(), text)
            } else if !ask.is_there() && !replaces && ask.misnamed(&path).is_none() && path.exists() {
                Outcome::Taken(ask, path)
            } else {
                Outcome::Chosen(ask, path)
            })
        });
    }

    /// Writes a scene.
    pub fn save(&self, document: &Document, path: PathBuf) {
        let (file, opened) = (Box::new(document.draft.clone()), document.opened());
        self.spawn(move || {
            Some(match write_whole(&path, file.to_toml().as_bytes()) {
                Ok(()) => Outcome::Saved(opened, file, path),
                Err(error) => Outcome::Failed(
                    "The scene could not be saved".to_owned(),
                    format!("{}: {error}; choose another place with Save scene as", path.display()),
                ),
            })
        });
    }

    /// Keeps a scene aside.
    pub fn keep(&self, path: PathBuf, text: String) {
        self.spawn(move || {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let kept = folder.and_then(|()| write_whole(&path, text.as_bytes()));
            if let Err(error) = kept {
                tracing::warn!("{}: {error}: edits are not kept aside", path.display());
            }
            None
        });
    }

    /// Reads a scene that was kept aside; it is then this run's to keep.
    pub fn restore(&self, path: PathBuf) {
        self.spawn(move || {
            Some(match super::recovery::read(&path) {
                Ok(opened) => {
                    // It is kept again with the next edit, and saved or asked about before that.
                    let _ = std::fs::remove_file(&path);
                    Outcome::Restored(Box::new(opened))
                }
                Err(faults) => Outcome::Opened(Err(faults)),
            })
        });
    }

    /// Reads a scene again that another one took the place of.
    pub fn bring_back(&self, replaced: Replaced) {
        self.spawn(move || {
            Some(match replaced.read() {
                Ok(opened) => Outcome::BroughtBack(Box::new(opened), Box::new(replaced)),
                Err(faults) => Outcome::Opened(Err(faults)),
            })
        });
    }

    /// Removes a scene that was kept aside.
    pub fn forget(&self, path: PathBuf) {
        self.spawn(move || {
            let _ = std::fs::remove_file(&path);
            None
        });
    }

    /// Runs something on a thread of its own; `None` = cancelled.
    fn spawn(&self, work: impl FnOnce() -> Option<Outcome> + Send + 'static) {
        let reporter = self.reporter.clone();
        self.reporter
            .note(platform::aside("errand", move || reporter.tell_what_comes_of(work)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever waits for an answer hears that there will be none.
    #[test]
    fn a_fault_of_the_program_is_reported() {
        let (outcomes, heard) = unbounded();
        let reporter = Reporter {
            outcomes,
            ctx: egui::Context::default(),
        };
        reporter.tell_what_comes_of(|| panic!("this test wants a panic"));
        assert!(matches!(heard.try_recv(), Ok(Outcome::Failed(title, _)) if title.contains("fault of the program")));
        reporter.tell_what_comes_of(|| None);
        assert!(heard.try_recv().is_err());
    }
}
