//! What is seen of the window from outside.

use super::App;
use crate::app::carpet::Carpet;
use crate::app::demo::Demo;
use crate::app::dispersion_panel::DispersionPanel;
use crate::app::document::Document;
use crate::app::frame_history::FrameHistory;
use crate::app::gallery::Gallery;
use crate::app::levels_panel::LevelsPanel;
use crate::app::notice::Notices;
use crate::app::plots::Kind;
use crate::app::projector::Projector;
use crate::app::question::Questions;
use crate::app::room_panel::RoomPanel;
use crate::app::settings::Settings;
use crate::app::sweep_panel::SweepPanel;
use crate::app::tools::Tool;
use crate::app::tour::Tour;
use crate::engine::{Frame, Link};
use crate::scene::scenario::Orbit;

impl App {
    /// The scenes to choose from.
    #[must_use]
    pub fn gallery(&self) -> &Gallery {
        &self.gallery
    }

    /// The latest frame that the window has.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        self.worker.last_frame()
    }

    /// The scene under edit.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What the user is told.
    #[must_use]
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// The panels that are open.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The plots that are chosen in a scene that names some; `None` where it is the user's own choice.
    #[must_use]
    pub fn scene_plots(&self) -> Option<&[Kind]> {
        self.scene_plots.as_deref()
    }

    /// From where a scene of three dimensions is looked at.
    #[must_use]
    pub fn orbit(&self) -> Orbit {
        self.view.orbit
    }

    /// Whether the picture in space is drawn with every pixel.
    #[must_use]
    pub fn is_space_full(&self) -> bool {
        self.view.refinement.is_full()
    }

    /// The pictures of the last seconds.
    #[must_use]
    pub fn frame_history(&self) -> &FrameHistory {
        &self.frame_history
    }

    /// The first steps, while they are shown.
    #[must_use]
    pub fn tour(&self) -> Option<&Tour> {
        self.tour.as_ref()
    }

    /// The mode for lecture halls, while it is on.
    #[must_use]
    pub fn demo(&self) -> Option<&Demo> {
        self.demo.as_ref()
    }

    /// What was predicted at the scene's questions.
    #[must_use]
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// The panel of sweeps.
    #[must_use]
    pub fn sweep(&self) -> &SweepPanel {
        &self.sweep
    }

    /// The panel of room acoustics.
    #[must_use]
    pub fn room(&self) -> &RoomPanel {
        &self.room
    }

    /// The panel of dispersion.
    #[must_use]
    pub fn dispersion(&self) -> &DispersionPanel {
        &self.dispersion
    }

    /// The panel of levels.
    #[must_use]
    pub fn levels(&self) -> &LevelsPanel {
        &self.levels
    }

    /// The picture in a second window.
    #[must_use]
    pub fn projector(&self) -> &Projector {
        &self.projector
    }

    /// Whether a film is being made.
    #[must_use]
    pub fn is_filming(&self) -> bool {
        self.filming.is_some()
    }

    /// The line cut over time.
    #[must_use]
    pub fn carpet(&self) -> &Carpet {
        &self.carpet
    }

    /// Where the field's picture stands in the window, and the room that it has; both empty before the first picture.
    #[must_use]
    pub fn picture(&self) -> (egui::Rect, egui::Rect) {
        (self.view.picture, self.view.area)
    }

    /// The ends of what the ruler measures, in sites.
    #[must_use]
    pub fn ruler(&self) -> Option<[[f64; 2]; 2]> {
        let band = self.view.tools.hold.band.filter(|(tool, _)| *tool == Tool::Ruler);
        band.map(|(_, ends)| ends)
    }

    /// Where a note of the scene stands over the picture.
    #[must_use]
    pub fn note(&self) -> Option<egui::Rect> {
        self.view.note
    }

    /// Whether the picture stands alone.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The link to the run, where that is on another machine.
    #[must_use]
    pub fn link(&self) -> Option<&Link> {
        self.worker.link()
    }
}
