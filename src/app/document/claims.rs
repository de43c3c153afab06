//! How what a scene says of itself, notes, theories and predictions, stands to what it has become by edits, and to its run.

use super::Document;
use crate::physics::Sets;
use crate::scene::SceneFile;
use crate::scene::claims::physics;
use crate::scene::file::LayerFile;
use crate::scene::scenario::Claims;

/// What the predictions of a scene must know of its edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Δt is that of the scene as it was opened.
    pub own_step: bool,
    /// The physics is another than that of the scene as it was opened: what it predicts does not apply.
    pub edited: bool,
    /// Δt or the method is another one: predictions still apply, but their tolerances were made for the one before.
    pub other_steps: bool,
    /// The run went partly through other physics than that of the scene as it is now, was measured, or was turned by hand: it is not judged until it starts anew.
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
pub(super) struct RunSeen {
    /// Its number ([`crate::engine::Frame::run`]).
    run: u64,
    /// The step at which it was first seen with edited physics, since it was last seen without.
    edited_at: Option<u64>,
    /// Whether it took steps with edited physics, or another course.
    mixed: bool,
}

impl Document {
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

    /// The run took another course than that of the scene: it is not judged until it starts anew.
    pub fn leave_unjudged(&mut self) {
        self.run.mixed = true;
    }

    /// The scene that notes, theories and predictions belong to.
    fn claimed(&self) -> &SceneFile {
        self.original.as_deref().unwrap_or(&self.saved)
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
        Checks {
            own_step: self.has_own_step(),
            edited: physics(now) != physics(then),
            other_steps: now.time.step != then.time.step || now.solver != then.solver,
            mixed: self.run.mixed,
            claims: Claims::of(now, then),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::file::ShapeFile;
    use crate::solver;

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
}
