//! The scene that is edited: draft, undo, redo, what was saved.

use super::replaced::Replaced;
use crate::physics::Sets;
use crate::scene::file::{DrawnFile, LayerFile, SolverFile, ViewFile};
use crate::scene::scenario::{Claims, TimeSpec};
use crate::scene::{Faults, SceneFile, embedded};
use crate::solver;
use std::path::{Path, PathBuf};

/// Edits that can be taken back.
const DEPTH: usize = 200;

/// What the predictions of a scene must know of its edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Δt is that of the scene as it was opened.
    pub own_step: bool,
    /// The physics is another than that of the scene as it was opened: what it predicts does not apply.
    pub edited: bool,
    /// Δt or the method is another one: predictions still apply, but their tolerances were made for the one before.
    pub other_steps: bool,
    /// The run went partly through other physics than that of the scene as it is now: it is not judged until it starts anew.
    pub mixed: bool,
    /// Which notes, theories and predictions hold for the scene as it is now.
    pub claims: Claims,
}

impl Checks {
    /// Whether a prediction holds for the scene as it is now, and for all of its run.
    #[must_use]
    pub fn holds(&self, place: usize) -> bool {
        !self.mixed && self.claims.expectations.get(place).copied().unwrap_or(!self.edited)
    }
}

/// The layers of walls.
fn walls(file: &SceneFile) -> Vec<&LayerFile> {
    file.layers.iter().filter(|layer| layer.sets == Sets::Wall).collect()
}

/// What was seen of a run while the physics was edited.
#[derive(Debug, Default)]
struct RunSeen {
    /// Its number ([`crate::engine::Frame::run`]).
    run: u64,
    /// The step at which it was first seen with edited physics, since it was last seen without.
    edited_at: Option<u64>,
    /// Whether it took steps with edited physics.
    mixed: bool,
}

/// A scene file under edit.
#[derive(Debug, Default)]
pub struct Document {
    /// What the panels show and change; call [`Document::touch`] after a change.
    pub draft: SceneFile,
    /// The draft as of the last [`Document::touch`].
    committed: SceneFile,
    /// The draft as of the last save.
    saved: SceneFile,
    /// The scene that notes, theories and predictions were written for, where it was opened with other values.
    original: Option<Box<SceneFile>>,
    /// How the run went through edits.
    run: RunSeen,
    /// Where it is saved, if it has a file.
    path: Option<PathBuf>,
    /// The preset that it began as.
    preset: Option<String>,
    undo: Vec<SceneFile>,
    redo: Vec<SceneFile>,
    /// Whether a gesture (a drag, typing) is under way: all of it is one edit.
    gesture: bool,
    /// Counts drafts, so that an answer about an old one is told from one about this one.
    revision: u64,
    /// The revision with which the scene was opened.
    opened: u64,
    /// Why the draft cannot be run, if it cannot.
    pub faults: Option<Faults>,
}

impl Document {
    /// Starts over with another scene.
    pub fn open(&mut self, file: SceneFile, path: Option<PathBuf>, preset: Option<String>) {
        *self = Self {
            draft: file.clone(),
            committed: file.clone(),
            saved: file,
            path,
            preset,
            revision: self.revision + 1,
            opened: self.revision + 1,
            ..Self::default()
        };
    }

    /// What was opened is `original` with other values: what that says of itself is said of its own physics.
    pub fn set_original(&mut self, original: Option<SceneFile>) {
        self.original = original.map(Box::new);
    }

    /// Takes note of where the run stands: steps that it takes with edited physics stay in it after the edit is taken back, and so does what walls made of it.
    pub fn follow(&mut self, run: u64, steps: u64) {
        if self.run.run != run {
            self.run = RunSeen {
                run,
                ..RunSeen::default()
            };
        }
        // What cannot be run is not what runs.
        let edited = self.faults.is_none() && physics(&self.committed) != physics(self.claimed());
        let since = self.run.edited_at;
        self.run.mixed |= since.is_some_and(|since| since != steps);
        // What stood where a wall was built is gone, whether steps were taken or not.
        let own = walls(self.claimed());
        self.run.mixed |= edited && walls(&self.committed).iter().any(|wall| !own.contains(wall));
        self.run.edited_at = edited.then(|| since.unwrap_or(steps));
    }

    /// The scene that notes, theories and predictions belong to.
    fn claimed(&self) -> &SceneFile {
        self.original.as_deref().unwrap_or(&self.saved)
    }

    /// Tells one scene that was opened from the next: an answer about one is none about another.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// The draft's number.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The file that the scene was read from or saved in; files that it names are relative to it.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The scene file that is written anew by saving; a picture or film that carried the scene is left as it is.
    #[must_use]
    pub fn scene_file(&self) -> Option<&Path> {
        self.path().filter(|path| !embedded::may_carry(path))
    }

    /// The preset that the scene began as.
    #[must_use]
    pub fn preset(&self) -> Option<&str> {
        self.preset.as_deref()
    }

    /// Whether there are edits of the scene that no file has; how it is looked at is none.
    #[must_use]
    pub fn is_modified(&self) -> bool {
        let mut seen_alike = self.committed.clone();
        seen_alike.view.clone_from(&self.saved.view);
        seen_alike != self.saved
    }

    /// What was opened was never saved: it was kept aside when the program ended without a word. What its edits were is not known, so that
    /// nothing it says is held for true.
    pub fn mark_unsaved(&mut self) {
        self.saved = SceneFile {
            notes: self.draft.notes.clone(),
            theories: self.draft.theories.clone(),
            expectations: self.draft.expectations.clone(),
            ..SceneFile::default()
        };
    }

    /// A scene that another one took the place of is open again, with its edits.
    pub fn reopen(&mut self, replaced: Replaced) {
        (self.saved, self.draft) = (replaced.saved, replaced.draft);
    }

    /// The scene as it was opened or saved last.
    #[must_use]
    pub fn saved(&self) -> &SceneFile {
        &self.saved
    }

    /// The scene that notes, theories and predictions were written for, where it was opened with other values.
    #[must_use]
    pub fn original(&self) -> Option<&SceneFile> {
        self.original.as_deref()
    }

    /// Whether Δt is that of the scene as it was opened or saved: its author's choice.
    #[must_use]
    pub fn has_own_step(&self) -> bool {
        self.draft.time.step.is_some() && self.draft.time.step == self.saved.time.step
    }

    /// How the predictions of the scene stand to what runs. What the user wrote since it was opened or saved is said of the scene as it is now.
    #[must_use]
    pub fn checks(&self) -> Checks {
        let (now, then) = (&self.committed, self.claimed());
        let edited = physics(now) != physics(then);
        let moved = |name: &str| {
            let of = |file: &SceneFile| file.detectors.iter().find(|detector| detector.name == name).cloned();
            of(now) != of(then)
        };
        let expectations = now.expectations.iter().map(|one| {
            let elsewhere = || one.detector.as_deref().is_some_and(moved);
            !then.expectations.contains(one) || !(edited || elsewhere())
        });
        let theories = now.theories.iter().map(|one| {
            let elsewhere = || matches!(&one.drawn, DrawnFile::Detector { detector, .. } if moved(detector));
            !then.theories.contains(one) || !(edited || elsewhere())
        });
        let notes = now.notes.iter().map(|one| !(edited && then.notes.contains(one)));
        Checks {
            own_step: self.has_own_step(),
            edited,
            other_steps: now.time.step != then.time.step || now.solver != then.solver,
            mixed: self.run.mixed,
            claims: Claims {
                notes: notes.collect(),
                theories: theories.collect(),
                expectations: expectations.collect(),
            },
        }
    }

    /// Changes one key of the draft, `key = value`, as `--set` does.
    ///
    /// # Errors
    /// What is wrong with it; the draft stays as it is.
    pub fn set(&mut self, setting: &str) -> Result<(), Faults> {
        let setting = setting.split_once('=').map_or_else(
            || setting.to_owned(),
            |(key, value)| format!("{}={}", key.trim(), value.trim()),
        );
        let (file, _) = solver::read_scene_text(&self.draft.to_toml(), self.path.as_deref(), &[setting])?;
        self.draft = file;
        Ok(())
    }

    /// Takes over a change of the draft as an edit that can be undone; false if nothing changed.
    pub fn touch(&mut self) -> bool {
        if self.draft == self.committed {
            return false;
        }
        let before = std::mem::replace(&mut self.committed, self.draft.clone());
        if !self.gesture {
            self.undo.push(before);
            if self.undo.len() > DEPTH {
                self.undo.remove(0);
            }
            self.gesture = true;
        }
        self.redo.clear();
        self.revision += 1;
        true
    }

    /// The hand is off: the next change is another edit.
    pub fn end_gesture(&mut self) {
        self.gesture = false;
    }

    /// Takes back the last edit; false if there is none.
    pub fn undo(&mut self) -> bool {
        Self::swap(&mut self.undo, &mut self.redo, &mut self.committed) && self.moved()
    }

    /// Does the edit again; false if there is none.
    pub fn redo(&mut self) -> bool {
        Self::swap(&mut self.redo, &mut self.undo, &mut self.committed) && self.moved()
    }

    fn swap(from: &mut Vec<SceneFile>, to: &mut Vec<SceneFile>, present: &mut SceneFile) -> bool {
        let Some(file) = from.pop() else {
            return false;
        };
        to.push(std::mem::replace(present, file));
        true
    }

    fn moved(&mut self) -> bool {
        self.draft = self.committed.clone();
        self.gesture = false;
        self.revision += 1;
        true
    }

    /// Whether there is something to take back.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is something to do again.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Whether the scene names files, which it needs beside itself.
    #[must_use]
    pub fn names_files(&self) -> bool {
        !self.draft.files(None).is_empty()
    }

    /// Makes the scene ready to be written to `path`: files that it names relative to another folder are named in full.
    pub fn prepare_for(&mut self, path: &Path) {
        let folder = |path: Option<&Path>| {
            let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
            std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned())
        };
        let from = folder(self.path());
        if from == folder(Some(path)) {
            return;
        }
        for file in self.draft.files_mut() {
            // Joining leaves an absolute path as it is.
            *file = from.join(&*file);
        }
    }

    /// The scene's file was written by another program: the draft becomes `file`, which can be undone; false if it says what was known.
    pub fn reload(&mut self, file: SceneFile) -> bool {
        if file == self.saved {
            return false;
        }
        self.gesture = false;
        self.draft = file.clone();
        let changed = self.touch();
        self.gesture = false;
        self.saved = file;
        self.original = None;
        changed
    }

    /// Whether the scene's file says just this, as far as is known.
    #[must_use]
    pub fn is_saved_as(&self, file: &SceneFile) -> bool {
        *file == self.saved
    }

    /// What was written, and where.
    pub fn mark_saved(&mut self, file: SceneFile, path: PathBuf) {
        self.saved = file;
        self.original = None;
        self.path = Some(path);
    }
}

/// What predictions are made from: not how the scene is looked at, how far it goes and how it is computed, nor what is said and recorded of it. A section that
/// is not named here is physics.
fn physics(file: &SceneFile) -> SceneFile {
    SceneFile {
        title: String::new(),
        about: String::new(),
        tags: Vec::new(),
        time: TimeSpec {
            imaginary: file.time.imaginary,
            ..TimeSpec::default()
        },
        solver: SolverFile::default(),
        detectors: Vec::new(),
        view: ViewFile::default(),
        cameras: Vec::new(),
        notes: Vec::new(),
        theories: Vec::new(),
        trajectories: Vec::new(),
        expectations: Vec::new(),
        sweep: None,
        room: None,
        ..file.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::ShapeFile;

    fn titled(document: &mut Document, title: &str) {
        document.draft.title = title.to_owned();
        document.touch();
    }

    #[test]
    fn files_of_a_scene_are_found_from_its_new_folder() {
        let mut document = Document::default();
        let scene = SceneFile {
            initial: Some("psi.npy".into()),
            ..SceneFile::default()
        };
        document.open(scene, Some("/old/scene.toml".into()), None);
        document.prepare_for(Path::new("/old/other.toml"));
        assert_eq!(document.draft.initial.as_deref(), Some(Path::new("psi.npy")));
        document.prepare_for(Path::new("/new/scene.toml"));
        let found = document.draft.initial.clone().unwrap();
        assert_eq!(found.components().collect::<PathBuf>(), Path::new("/old/psi.npy"));
        // A second time there is nothing left to do.
        document.prepare_for(Path::new("/third/scene.toml"));
        assert_eq!(document.draft.initial, Some(found));
    }

    /// What a scene says of itself is said of its own physics.
    #[test]
    fn claims_of_a_scene_go_with_its_physics_and_come_back() {
        let text = crate::scene::presets::find("rabi").unwrap().text;
        let (file, _) = solver::read_scene_text(text, None, &[]).unwrap();
        let mut document = Document::default();
        document.open(file, None, None);
        let all = document.checks().claims;
        let every = |list: &[bool], what: bool| !list.is_empty() && list.iter().all(|held| *held == what);
        assert!(every(&all.notes, true) && every(&all.theories, true) && every(&all.expectations, true));
        // Another look, another end and other steps are no other physics.
        document.draft.view.colormap = "viridis".to_owned();
        document.draft.time.end = Some(7.0);
        document.draft.time.step = Some(0.01);
        document.draft.cameras.push(crate::scene::camera_path::CameraKey {
            at: 0.0,
            orbit: crate::scene::scenario::Orbit::default(),
        });
        document.touch();
        document.end_gesture();
        let checks = document.checks();
        assert!(
            !checks.edited && checks.other_steps && checks.claims == all,
            "{checks:?}"
        );
        // A detector that stands elsewhere takes with it only what is said of it.
        document.draft.detectors[1].every = Some(3);
        document.touch();
        document.end_gesture();
        let checks = document.checks();
        assert!(!checks.edited && every(&checks.claims.notes, true));
        assert!(every(&checks.claims.theories, false), "{checks:?}");
        assert_eq!(checks.claims.expectations, [false, true]);
        assert!(document.undo());
        // Another packet is other physics; what is said from then on is the user's own.
        document.draft.packets[0].momentum[0] *= 1.5;
        document.touch();
        document.end_gesture();
        let claims = document.checks().claims;
        assert!(every(&claims.notes, false) && every(&claims.theories, false) && every(&claims.expectations, false));
        document.draft.notes.push(crate::scene::file::NoteFile {
            text: "mine".to_owned(),
            ..Default::default()
        });
        document.touch();
        document.end_gesture();
        assert_eq!(document.checks().claims.notes.last(), Some(&true));
        assert!(document.undo() && document.undo());
        assert_eq!(document.checks().claims, all);
        // Of a scene that was kept aside nobody knows what was edited.
        document.mark_unsaved();
        let claims = document.checks().claims;
        assert!(every(&claims.notes, false) && every(&claims.expectations, false));
    }

    /// Steps through another medium stay in a run, whatever is taken back; another run has none.
    #[test]
    fn runs_that_went_through_edits_are_not_judged() {
        let text = crate::scene::presets::find("rabi").unwrap().text;
        let (file, _) = solver::read_scene_text(text, None, &[]).unwrap();
        let mut document = Document::default();
        document.open(file, None, None);
        let edit = |document: &mut Document| {
            document.draft.packets[0].momentum[0] *= 1.5;
            assert!(document.touch());
            document.end_gesture();
        };
        document.follow(1, 0);
        document.follow(1, 10);
        assert!(document.checks().holds(0));
        // Taken back before a step was taken.
        edit(&mut document);
        document.follow(1, 10);
        assert!(!document.checks().holds(0) && document.undo());
        document.follow(1, 10);
        document.follow(1, 20);
        assert!(document.checks().holds(0));
        edit(&mut document);
        document.follow(1, 20);
        document.follow(1, 30);
        assert!(document.undo());
        document.follow(1, 40);
        let checks = document.checks();
        assert!(!checks.edited && checks.mixed && !checks.holds(0), "{checks:?}");
        assert!(checks.claims.expectations.iter().all(|holds| *holds));
        document.follow(2, 0);
        document.follow(2, 10);
        assert!(document.checks().holds(0));
        // Steps between two looks count as well.
        edit(&mut document);
        document.follow(2, 10);
        assert!(document.undo());
        document.follow(2, 11);
        assert!(!document.checks().holds(0));
        // A wall takes what stood there, before any step.
        document.follow(3, 10);
        assert!(document.checks().holds(0));
        document
            .draft
            .layers
            .push(LayerFile::new(Sets::Wall, ShapeFile::Everywhere, None));
        assert!(document.touch());
        document.end_gesture();
        document.follow(3, 10);
        assert!(document.undo());
        document.follow(3, 10);
        assert!(!document.checks().holds(0));
        document.follow(4, 0);
        assert!(document.checks().holds(0));
    }

    /// A scene that was opened with other values keeps what it says of itself for its own physics.
    #[test]
    fn values_that_a_scene_is_opened_with_may_be_other_physics() {
        for (set, holds) in [("packet.0.momentum=[1.8, 0.0, 0.0]", false), ("time.end=1.0", true)] {
            let opened = crate::app::background::read("rabi", &[set.to_owned()]);
            let Ok(opened) = opened else {
                panic!("{set}: {:?}", opened.err());
            };
            let mut document = Document::default();
            document.open(opened.file, opened.path, opened.preset);
            document.set_original(opened.original);
            assert!(!document.is_modified(), "{set}");
            let checks = document.checks();
            assert!(checks.edited != holds && checks.holds(0) == holds, "{set}: {checks:?}");
            assert!(checks.claims.notes.iter().all(|note| *note == holds), "{set}");
        }
        assert!(crate::app::background::read("rabi", &[]).unwrap().original.is_none());
    }

    #[test]
    fn edits_are_taken_back_one_gesture_at_a_time() {
        let mut document = Document::default();
        document.open(SceneFile::default(), None, None);
        assert!(!document.touch(), "nothing changed");
        titled(&mut document, "a");
        titled(&mut document, "ab");
        document.end_gesture();
        titled(&mut document, "c");
        document.end_gesture();
        assert!(document.is_modified());
        assert!(document.undo());
        assert_eq!(document.draft.title, "ab");
        assert!(document.undo());
        assert_eq!(document.draft.title, "");
        assert!(!document.is_modified());
        assert!(!document.undo());
        assert!(document.redo() && document.redo() && !document.redo());
        assert_eq!(document.draft.title, "c");
        // A file that another program wrote is an edit as well, and what is saved.
        let file = SceneFile {
            title: "elsewhere".to_owned(),
            ..SceneFile::default()
        };
        assert!(document.reload(file.clone()) && !document.is_modified());
        assert!(!document.reload(file));
        assert!(document.undo() && document.is_modified());
        assert_eq!(document.draft.title, "c");
        // How it is looked at is no edit to be saved.
        document.reload(SceneFile::default());
        document.draft.view.colormap = "viridis".to_owned();
        assert!(document.touch() && !document.is_modified());
        // A new edit ends what could be done again.
        titled(&mut document, "d");
        assert!(!document.can_redo());
    }
}
