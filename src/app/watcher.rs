//! Looks at files that other programs may write: the scene that is open, and the folder of the user's own scenes.
//!
//! Twice a second on a thread of its own, by time and size: that works on every file system, and a scene is one small file.

use super::background::Outcome;
use super::scene_library::{OwnScene, own_scenes};
use crate::solver;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// From look to look.
const PAUSE: Duration = Duration::from_millis(500);

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The open scene's file.
    pub scene: Option<PathBuf>,
    /// The folder of the user's own scenes.
    pub folder: Option<PathBuf>,
}

/// The thread's other end; it stops with it.
pub struct Watcher {
    wanted: Sender<Watched>,
    asked: Watched,
}

/// What tells one content of a file from another.
pub type Stamp = Option<(SystemTime, u64)>;

impl Watcher {
    /// Starts the thread, which reports to `outcomes` and then calls `wake`.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(outcomes: Sender<Outcome>, wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (wanted, wishes) = unbounded();
        std::thread::Builder::new()
            .name("ripplon-watcher".to_owned())
            .spawn(move || look(&wishes, &outcomes, &wake))?;
        Ok(Self {
            wanted,
            asked: Watched::default(),
        })
    }

    /// What shall be looked at from now on.
    pub fn watch(&mut self, wanted: Watched) {
        if wanted != self.asked {
            self.asked = wanted.clone();
            // The thread ends only with the window.
            let _ = self.wanted.send(wanted);
        }
    }
}

fn look(wishes: &Receiver<Watched>, outcomes: &Sender<Outcome>, wake: &dyn Fn()) {
    let mut watched = Watched::default();
    let mut scene: Stamp = None;
    let mut shelf: Option<Vec<OwnScene>> = None;
    loop {
        match wishes.recv_timeout(PAUSE) {
            Ok(next) => {
                if next.scene != watched.scene {
                    scene = next.scene.as_deref().and_then(stamp);
                }
                if next.folder != watched.folder {
                    shelf = None;
                }
                watched = next;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let mut news = Vec::new();
        if let Some(path) = &watched.scene {
            let now = stamp(path);
            // A file that is gone is being replaced, or nobody's business.
            if now.is_some() && now != scene {
                let read = solver::read_scene(&path.to_string_lossy(), &[]).map(|(file, _)| Box::new(file));
                news.push(Outcome::Rewritten(path.clone(), read));
            }
            scene = now.or(scene);
        }
        if let Some(folder) = &watched.folder {
            let now = own_scenes(folder, shelf.as_deref().unwrap_or_default());
            if shelf.as_ref() != Some(&now) {
                news.push(Outcome::Shelf(now.clone()));
                shelf = Some(now);
            }
        }
        let any = !news.is_empty();
        for outcome in news {
            if outcomes.send(outcome).is_err() {
                return;
            }
        }
        if any {
            wake();
        }
    }
}

/// When a file was written last and how long it is; `None` where it cannot be asked.
pub fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "format = 1\ntitle = \"One\"\ntags = [\"a\"]\nabout = \"Of Kettles\"\n[grid]\nsize = [16]\nspacing = 1.0\n[quantum]\nmass = 1.0\n\
                         [[packet]]\ncenter = [8.0]\nwidth = [2.0]\n";

    #[test]
    fn what_others_write_is_noticed() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("scene.toml");
        std::fs::write(&path, SCENE).unwrap();
        let (report, outcomes) = unbounded();
        let mut watcher = Watcher::start(report, || {}).unwrap();
        watcher.watch(Watched {
            scene: Some(path.clone()),
            folder: Some(folder.path().to_owned()),
        });
        let next = || outcomes.recv_timeout(Duration::from_secs(20)).unwrap();
        let Outcome::Shelf(shelf) = next() else {
            panic!("the shelf comes first")
        };
        assert_eq!((shelf[0].title.as_str(), &shelf[0].tags[0][..]), ("One", "a"));
        assert_eq!(shelf[0].about, "of kettles");
        std::fs::write(&path, SCENE.replace("One", "Another")).unwrap();
        let Outcome::Rewritten(of, Ok(file)) = next() else {
            panic!("the file changed")
        };
        assert_eq!((of, file.title.as_str()), (path.clone(), "Another"));
        let Outcome::Shelf(shelf) = next() else {
            panic!("and the shelf with it")
        };
        assert_eq!(shelf[0].title, "Another");
        std::fs::write(&path, "no scene").unwrap();
        assert!(matches!(next(), Outcome::Rewritten(_, Err(_))));
        // What is broken stays on the shelf under its file's name.
        let Outcome::Shelf(shelf) = next() else {
            panic!("the shelf again")
        };
        assert_eq!(shelf[0].title, "scene");
    }
}
