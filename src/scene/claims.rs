//! Which of its notes, theories and predictions still hold for a scene that was changed: what it says of itself is said of its own physics.

use super::SceneFile;
use super::file::{DrawnFile, SolverFile, ViewFile};
use super::scenario::{Claims, TimeSpec, held};
use super::theory::{Note, Theory};

impl Claims {
    /// What a scene says of itself as it is `now`, of all that it said `then`, before it was changed: what was written since is said of the scene as it is now, and what was there holds while the physics, and the detector that it is about, are the same.
    #[must_use]
    pub fn of(now: &SceneFile, then: &SceneFile) -> Self {
        let changed = physics(now) != physics(then);
        let moved = |name: &str| {
            let of = |file: &SceneFile| file.detectors.iter().find(|detector| detector.name == name).cloned();
            of(now) != of(then)
        };
        let expectations = now.expectations.iter().map(|one| {
            let elsewhere = || one.detector.as_deref().is_some_and(moved);
            !then.expectations.contains(one) || !(changed || elsewhere())
        });
        let theories = now.theories.iter().map(|one| {
            let elsewhere = || matches!(&one.drawn, DrawnFile::Detector { detector, .. } if moved(detector));
            !then.theories.contains(one) || !(changed || elsewhere())
        });
        let notes = now.notes.iter().map(|one| !(changed && then.notes.contains(one)));
        Self {
            notes: notes.collect(),
            theories: theories.collect(),
            expectations: expectations.collect(),
        }
    }

    /// Those of the notes of the scene that hold.
    #[must_use]
    pub fn notes_of(&self, notes: &[Note]) -> Vec<Note> {
        held(notes, &self.notes)
    }

    /// Those of the theories of the scene that hold.
    #[must_use]
    pub fn theories_of(&self, theories: &[Theory]) -> Vec<Theory> {
        held(theories, &self.theories)
    }

    /// Whether a prediction holds; what nothing is known of does.
    #[must_use]
    pub fn expects(&self, place: usize) -> bool {
        self.expectations.get(place).copied().unwrap_or(true)
    }
}

/// What predictions are made from: not how the scene is looked at, how far it goes and how it is computed, nor what is said and recorded of it. A section that
/// is not named here is physics.
#[must_use]
pub fn physics(file: &SceneFile) -> SceneFile {
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
