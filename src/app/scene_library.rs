//! The user's own scenes: the files of one folder, as the gallery shows them.

use super::system;
use super::watcher::{Stamp, stamp};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where scenes are kept while the user names no other folder.
#[must_use]
pub fn usual_folder() -> Option<&'static Path> {
    // Asked once: the answer is read from the system's files.
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(system::usual_folder).as_deref()
}

/// A scene in the user's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnScene {
    /// Its file.
    pub path: PathBuf,
    /// Its title, or the file's name.
    pub title: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its text in small letters, to be searched.
    pub about: String,
    /// When it was written, and how long it is.
    pub(super) stamp: Stamp,
}

/// The part of a scene file that the gallery shows.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub struct Header {
    /// The title.
    pub title: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The lesson's text.
    pub about: String,
}

/// The scene files in a folder by name; `known` are read again only where they were written since.
#[must_use]
pub fn own_scenes(folder: &Path, known: &[OwnScene]) -> Vec<OwnScene> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut scenes: Vec<OwnScene> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
        })
        .map(|path| {
            let stamp = stamp(&path);
            if let Some(same) = known.iter().find(|scene| scene.path == path && scene.stamp == stamp) {
                return same.clone();
            }
            let bytes = crate::input_file::read(&path, crate::scene::embedded::LONGEST).unwrap_or_default();
            let text = String::from_utf8(bytes).unwrap_or_default();
            let header: Header = toml::from_str(&text).unwrap_or_default();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            OwnScene {
                title: if header.title.is_empty() { name } else { header.title },
                tags: header.tags,
                about: header.about.to_lowercase(),
                path,
                stamp,
            }
        })
        .collect();
    scenes.sort_by(|a, b| a.path.cmp(&b.path));
    scenes
}
