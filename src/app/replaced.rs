//! The scene that another one took the place of while no file had its edits: undo brings it back.

use super::background::Opened;
use super::document::{Document, title_of};
use super::window::App;
use crate::scene::{Faults, SceneFile};
use crate::solver;
use std::path::PathBuf;
use std::sync::Arc;

/// A scene with unsaved edits that is not open any more.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// With its edits.
    pub draft: SceneFile,
    /// As it was opened or saved last.
    pub saved: SceneFile,
    /// What its notes, theories and predictions were written for, where it was opened with other values.
    original: Option<SceneFile>,
    path: Option<PathBuf>,
    preset: Option<String>,
}

impl Replaced {
    /// The document's scene, if it has edits that no file has.
    pub fn of(document: &Document) -> Option<Self> {
        document.is_modified().then(|| Self {
            draft: document.draft.clone(),
            saved: document.saved().clone(),
            original: document.original().cloned(),
            path: document.path().map(ToOwned::to_owned),
            preset: document.preset().map(ToOwned::to_owned),
        })
    }

    /// Reads it; a draft that cannot run comes as an edit of what was saved.
    ///
    /// # Errors
    /// If neither can run.
    pub fn read(&self) -> Result<Opened, Faults> {
        let read = |file: &SceneFile| solver::read_scene_text(&file.to_toml(), self.path.as_deref(), &[]);
        let (file, scenario) = read(&self.draft).or_else(|faults| read(&self.saved).map_err(|_| faults))?;
        Ok(Opened {
            file,
            original: self.original.clone(),
            scenario: Arc::new(scenario),
            path: self.path.clone(),
            preset: self.preset.clone(),
        })
    }
}

impl App {
    /// Keeps the scene that another one takes the place of, if edits would be lost.
    pub(super) fn keep_replaced(&mut self) {
        let Some(replaced) = Replaced::of(&self.document) else {
            return;
        };
        // A lecturer changes scenes between two pages, and goes on.
        if self.demo.is_none() {
            let title = title_of(&replaced.draft);
            self.notices.say(format!(
                "“{title}” had edits that no file has: Undo (Ctrl+Z) brings it back"
            ));
        }
        self.replaced = Some(replaced);
    }

    /// Takes back an edit, or, where there is none, the opening of this scene in place of an edited one.
    pub(super) fn undo_or_bring_back(&mut self) {
        if self.document.undo() {
            self.check();
        } else if let Some(replaced) = &self.replaced {
            self.background.bring_back(replaced.clone());
        }
    }

    /// Shows the scene that was replaced, with its edits.
    pub(super) fn take_back(&mut self, opened: Opened, replaced: Replaced) {
        self.replaced = None;
        self.start(opened);
        self.document.reopen(replaced);
        self.check();
    }
}
