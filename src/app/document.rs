//! The scene that is edited: draft, undo, redo, what was saved.

mod claims;

use super::replaced::Replaced;
use crate::scene::{Faults, SceneFile, embedded};
use crate::solver;
use std::path::{Path, PathBuf};

pub use claims::Checks;
use claims::RunSeen;

/// Edits that can be taken back.
const DEPTH: usize = 200;

/// What a scene is called, also where it has no title.
#[must_use]
pub fn title_of(file: &SceneFile) -> &str {
    match file.title.trim() {
        "" => "Untitled",
        title => title,
    }
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
    /// The preset that it is, until it is saved in a file of its own.
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

    /// Tells one scene that was opened from the next: an answer about one is none about another.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// What the scene is called.
    #[must_use]
    pub fn title(&self) -> &str {
        title_of(&self.draft)
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

    /// The preset that the scene is, with or without edits; none once it is saved in a file of its own.
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
        self.preset = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_preset_that_was_saved_is_a_scene_of_its_own() {
        let mut document = Document::default();
        document.open(SceneFile::default(), None, Some("ring".to_owned()));
        titled(&mut document, "My ring");
        assert_eq!(document.preset(), Some("ring"), "an edit is one of the preset");
        document.mark_saved(document.draft.clone(), "/mine/ring.toml".into());
        assert_eq!(document.preset(), None);
        assert_eq!(document.path(), Some(Path::new("/mine/ring.toml")));
    }

    #[test]
    fn a_scene_without_a_title_has_a_name() {
        let mut document = Document::default();
        assert_eq!(document.title(), "Untitled");
        titled(&mut document, " A box ");
        assert_eq!(document.title(), "A box");
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
