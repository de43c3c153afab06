//! What the window remembers from start to start.

use super::plots::Kind;
use super::scene_library;
use super::system;
use std::path::{Path, PathBuf};

/// The key in the window system's storage.
pub const KEY: &str = "ripplon";

/// Files that are remembered.
const RECENT: usize = 6;

/// What the left panel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum LeftTab {
    /// The presets.
    Gallery,
    /// What the scene is about, and whether its predictions come true.
    #[default]
    Lesson,
    /// The scene.
    Scene,
}

/// Panels, theme and the last scene.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The left panel is open.
    pub left: bool,
    /// The right panel is open.
    pub right: bool,
    /// The plots are open.
    pub plots: bool,
    /// What the left panel shows.
    pub tab: LeftTab,
    /// The plots that are shown.
    pub shown: Vec<Kind>,
    /// Those that are shown in scenes with a mirror.
    pub shown_with_mirror: Vec<Kind>,
    /// The dark theme.
    pub dark: bool,
    /// High contrast.
    pub contrast: bool,
    /// A run rests at the end of its scene.
    pub rests: bool,
    /// Size of everything; 1 as the system has it.
    pub zoom: f32,
    /// The window took the whole screen, by its own key: a lecture's full screen ends with the lecture.
    pub full_screen: bool,
    /// The first steps were shown.
    pub toured: bool,
    /// The scene shown last: a preset's name or a file.
    pub scene: Option<String>,
    /// Scene files, the latest first.
    pub recent: Vec<PathBuf>,
    /// The folder of the user's own scenes; `None` = the usual one.
    pub folder: Option<PathBuf>,
}

impl Settings {
    /// A file was opened or saved.
    pub fn remember(&mut self, path: &Path) {
        // What a page was given is gone with it.
        if !system::FOLDERS {
            return;
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }

    /// The folder of the user's own scenes.
    #[must_use]
    pub fn own_folder(&self) -> Option<&Path> {
        self.folder.as_deref().or_else(|| scene_library::usual_folder())
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            left: true,
            // The wave has the room: settings and plots unfold on demand.
            right: false,
            plots: false,
            tab: LeftTab::default(),
            shown: vec![Kind::Cut, Kind::Position, Kind::Detectors],
            shown_with_mirror: vec![Kind::Fidelity, Kind::Signals, Kind::Focus],
            dark: true,
            contrast: false,
            rests: true,
            zoom: 1.0,
            full_screen: false,
            toured: false,
            scene: None,
            recent: Vec::new(),
            folder: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_file_comes_first_and_once() {
        let mut settings = Settings::default();
        for n in [0, 1, 2, 3, 4, 5, 6, 3] {
            settings.remember(Path::new(&format!("/scenes/{n}.toml")));
        }
        let names: Vec<_> = settings
            .recent
            .iter()
            .filter_map(|path| path.file_stem()?.to_str())
            .collect();
        assert_eq!(names, ["3", "6", "5", "4", "2", "1"]);
    }
}
