//! What is done beside the window: scenes are checked and read, media drawn, dropped files looked at.

use super::{Dropped, Opened, Outcome, Reporter};
use crate::app::medium_view::medium;
use crate::atomic_file::AtomicFile;
use crate::platform;
use crate::scene::{Faults, Scenario, SceneFile, embedded, input};
use crate::solver;
use crate::space::MediumVolume;
use crossbeam_channel::Receiver;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The work that goes to the one thread of its own, where only the latest of a kind counts.
pub(super) enum Task {
    Check(u64, Box<SceneFile>, Option<PathBuf>),
    Medium(Arc<Scenario>, usize),
    Space(Arc<Scenario>),
    Compare(Box<SceneFile>, Option<PathBuf>),
}

/// Does what waits, the latest of each kind.
pub(super) fn serve(first: Task, todo: &Receiver<Task>, reporter: &Reporter) {
    let (mut check, mut medium, mut space, mut compare) = (None, None, None, None);
    for task in std::iter::once(first).chain(todo.try_iter()) {
        match task {
            Task::Check(..) => check = Some(task),
            Task::Medium(..) => medium = Some(task),
            Task::Space(..) => space = Some(task),
            Task::Compare(..) => compare = Some(task),
        }
    }
    for task in [check, compare, medium, space].into_iter().flatten() {
        reporter.tell(guarded(task));
    }
}

/// Does the work; a fault of the program ends it, not the thread, which would leave the window checking for ever.
fn guarded(task: Task) -> Outcome {
    let checked = match &task {
        Task::Check(revision, ..) => Some(*revision),
        _ => None,
    };
    let compared = matches!(task, Task::Compare(..));
    platform::guarded(|| perform(task)).unwrap_or_else(|| {
        let (message, remedy) = (
            "the check ended in a fault of the program",
            "undo the last change, and report it",
        );
        let faults = || Faults::one("scene", message, remedy);
        match checked {
            Some(revision) => Outcome::Checked {
                revision,
                result: Err(faults()),
            },
            None if compared => Outcome::Compared(Err(faults())),
            None => Outcome::Failed("The medium cannot be shown".to_owned(), format!("{message}; {remedy}")),
        }
    })
}

fn perform(task: Task) -> Outcome {
    match task {
        Task::Check(revision, file, path) => Outcome::Checked {
            revision,
            result: solver::validate_scene(&file, path.as_deref()).map(Arc::new),
        },
        Task::Compare(file, path) => Outcome::Compared(solver::validate_scene(&file, path.as_deref()).map(Arc::new)),
        Task::Medium(scenario, plane) => {
            let image = medium(&scenario, plane);
            Outcome::Medium(scenario, image)
        }
        Task::Space(scenario) => {
            let volume = MediumVolume::of(&scenario);
            Outcome::Space(scenario, volume)
        }
    }
}

/// Reads a preset or a file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(scene: &str, overrides: &[String]) -> Result<Opened, Faults> {
    let preset = crate::scene::presets::find(scene).map(|preset| preset.name.to_owned());
    let (file, scenario) = solver::read_scene(scene, overrides)?;
    // One that needs these values to be whole says nothing of others.
    let original = if overrides.is_empty() {
        None
    } else {
        solver::read_scene(scene, &[]).ok().map(|(file, _)| file)
    };
    Ok(Opened {
        file,
        original,
        scenario: Arc::new(scenario),
        path: preset.is_none().then(|| PathBuf::from(scene)),
        preset,
    })
}

/// What a dropped file is.
pub(super) fn dropped(path: PathBuf) -> Outcome {
    let ending = path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let failed = |text: String| Outcome::Failed("The file cannot be used".to_owned(), text);
    match ending.as_str() {
        "png" | "apng" | "mp4" => match embedded::scene_in(&path) {
            Ok(Some(_)) => open_dropped(&path),
            Ok(None) if ending != "png" => failed(format!("{}: this film carries no scene", path.display())),
            Ok(None) => Outcome::Dropped(Dropped::Picture(path)),
            Err(error) => failed(format!("{}: {error}", path.display())),
        },
        "npy" => match input::holds_complex(&path) {
            Ok(true) => Outcome::Dropped(Dropped::Wave(path)),
            Ok(false) => Outcome::Dropped(Dropped::Array(path)),
            Err(error) => failed(format!("{error}; {}", error.remedy())),
        },
        "wav" => Outcome::Dropped(Dropped::Sound(path)),
        "toml" => open_dropped(&path),
        _ => failed(format!(
            "{}: drop a scene (.toml), a picture (.png), a film of Ripplon's (.mp4), an array (.npy) or a sound (.wav)",
            path.display()
        )),
    }
}

fn open_dropped(path: &Path) -> Outcome {
    Outcome::Opened(read(&path.to_string_lossy(), &[]).map(Box::new))
}

/// Writes a file: it is whole or the old one.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// A title as a file's name.
pub(in crate::app) fn file_name(title: &str, ending: &str) -> String {
    let words: Vec<&str> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let stem = if words.is_empty() {
        "scene".to_owned()
    } else {
        words.join("-").to_lowercase()
    };
    if ending.is_empty() {
        stem
    } else {
        format!("{stem}.{ending}")
    }
}
