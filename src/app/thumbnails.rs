//! Pictures of the user's own scenes for the gallery: drawn one after the other on a thread of their own, and kept in the user's cache.

use super::background::Outcome;
use super::scene_library::OwnScene;
use super::watcher::Stamp;
use crate::export::{self, About, Picture, thumbnail};
use crate::solver;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// Steps times sites that a picture may take: a second or two. What would take longer is shown at an earlier time.
const MOST: f64 = 2e8;

/// Bytes of a kept picture, at most: small ones are kept.
const MOST_BYTES: u64 = 4 << 20;

/// The thread's other end; it stops with it.
pub struct Covers {
    wanted: Sender<Vec<OwnScene>>,
    _alive: Arc<()>,
}

impl Covers {
    /// Starts the thread, which keeps its pictures in `cache`, reports to `outcomes` and then calls `wake`.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(
        cache: Option<PathBuf>,
        outcomes: Sender<Outcome>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let (wanted, wishes) = unbounded();
        let alive = Arc::new(());
        let painter = Painter {
            cache,
            alive: Arc::downgrade(&alive),
            drawn: HashMap::new(),
        };
        std::thread::Builder::new()
            .name("ripplon-covers".to_owned())
            .spawn(move || painter.work(&wishes, &outcomes, &wake))?;
        Ok(Self { wanted, _alive: alive })
    }

    /// The scenes that are shown; those that were drawn as they are now are not drawn again.
    pub fn draw(&self, scenes: &[OwnScene]) {
        // The thread ends only with the window.
        let _ = self.wanted.send(scenes.to_vec());
    }
}

struct Painter {
    cache: Option<PathBuf>,
    alive: Weak<()>,
    /// What was drawn, as it was then.
    drawn: HashMap<PathBuf, Stamp>,
}

impl Painter {
    fn work(mut self, wishes: &Receiver<Vec<OwnScene>>, outcomes: &Sender<Outcome>, wake: &dyn Fn()) {
        while let Ok(first) = wishes.recv() {
            // Only the latest list counts.
            let scenes = wishes.try_iter().last().unwrap_or(first);
            for scene in scenes {
                if self.drawn.get(&scene.path) == Some(&scene.stamp) {
                    continue;
                }
                if self.alive.strong_count() == 0 {
                    return;
                }
                let picture = self.picture(&scene.path);
                self.drawn.insert(scene.path.clone(), scene.stamp);
                // A scene that is wrong has no picture.
                if let Some(picture) = picture {
                    if outcomes.send(Outcome::Cover(scene.path, picture)).is_err() {
                        return;
                    }
                    wake();
                }
                if !wishes.is_empty() {
                    break;
                }
            }
        }
    }

    /// The picture of a scene file, from the cache or drawn now.
    fn picture(&self, path: &Path) -> Option<Picture> {
        let bytes = crate::input_file::read(path, crate::scene::embedded::LONGEST).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let place = self.cache.as_ref().map(|cache| (cache, name(path, &text)));
        if let Some(kept) = place.as_ref().and_then(|(cache, name)| read(&cache.join(name))) {
            return Some(kept);
        }
        let (file, _) = solver::read_scene(&path.to_string_lossy(), &[]).ok()?;
        let mut goes_on = || self.alive.strong_count() > 0;
        let picture = match thumbnail::thumbnail(&file, Some(path), Some(MOST), &mut goes_on) {
            Ok(picture) => picture?,
            Err(error) => {
                tracing::debug!("{}: {error}", path.display());
                return None;
            }
        };
        if let Some((cache, name)) = place
            && let Err(error) = keep(cache, &name, &picture)
        {
            tracing::debug!("{}: {error}", cache.display());
        }
        Some(picture)
    }
}

/// The name of a scene's picture: what it is of, then what it shows.
fn name(path: &Path, text: &str) -> String {
    let hash = |what: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        what(&mut hasher);
        hasher.finish()
    };
    let of = hash(&|hasher| path.hash(hasher));
    let shows = hash(&|hasher| (text, env!("CARGO_PKG_VERSION")).hash(hasher));
    format!("{of:016x}-{shows:016x}.png")
}

fn read(path: &Path) -> Option<Picture> {
    let image = image::load_from_memory(&crate::input_file::read(path, MOST_BYTES).ok()?)
        .ok()?
        .to_rgb8();
    Some(Picture {
        width: image.width() as usize,
        height: image.height() as usize,
        rgb: image.into_raw(),
    })
}

/// Writes a picture in place of those of the same scene as it was before.
fn keep(cache: &Path, name: &str, picture: &Picture) -> Result<(), export::ExportError> {
    let failed = |reason| export::ExportError::Io {
        path: cache.to_owned(),
        reason,
    };
    std::fs::create_dir_all(cache).map_err(failed)?;
    let of = name.split('-').next().unwrap_or(name);
    for entry in std::fs::read_dir(cache).map_err(failed)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(of) {
            // Another window may have been quicker.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    export::png::save(&cache.join(name), picture, &About::default())
}
