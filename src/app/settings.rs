//! What the window remembers from start to start.

use super::plots::Kind;

/// The key in the window system's storage.
pub const KEY: &str = "ripplon";

/// What the left panel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LeftTab {
    /// The presets.
    #[default]
    Gallery,
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
    /// The dark theme.
    pub dark: bool,
    /// The scene shown last: a preset's name or a file.
    pub scene: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            left: true,
            right: true,
            plots: true,
            tab: LeftTab::Gallery,
            shown: vec![Kind::Cut, Kind::Position, Kind::Detectors],
            dark: true,
            scene: None,
        }
    }
}
