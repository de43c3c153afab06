//! What files are asked for in dialogues: titles, words of buttons, endings.

use crate::export::{Format, ending};
use std::path::Path;

/// What a file is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A scene to read.
    Open,
    /// Where to write the scene.
    Save,
    /// Where to write a PNG of the field.
    Picture,
    /// Where to write the field as NPY.
    Field,
    /// Where to write the whole state.
    Checkpoint,
    /// Where the user's own scenes lie.
    Folder,
    /// Where to write what a detector recorded, as WAV.
    Sound,
    /// Where to write what all detectors recorded, as CSV.
    Records,
    /// Where to write a film.
    Film(Format),
}

impl Ask {
    /// The dialogue's title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Open => "Open scene",
            Self::Save => "Save scene",
            Self::Picture => "Export picture",
            Self::Field => "Export field",
            Self::Checkpoint => "Save checkpoint",
            Self::Folder => "Folder of your scenes",
            Self::Sound => "Save sound",
            Self::Records => "Export records",
            Self::Film(Format::Sequence) => "Folder of the film's pictures",
            Self::Film(_) => "Export film",
        }
    }

    /// What its button says.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Open => "Open",
            Self::Folder => "Take",
            _ => "Save",
        }
    }

    /// Whether it names something that is there already.
    #[must_use]
    pub fn is_there(self) -> bool {
        matches!(self, Self::Open | Self::Folder)
    }

    /// The ending of such files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Open | Self::Save => "toml",
            Self::Picture | Self::Film(Format::Png) => "png",
            Self::Field => "npy",
            Self::Checkpoint => "ripplon",
            Self::Folder | Self::Film(Format::Sequence) => "",
            Self::Sound => "wav",
            Self::Records => "csv",
            Self::Film(Format::Gif) => "gif",
            Self::Film(Format::Apng) => "apng",
            Self::Film(Format::Mp4) => "mp4",
        }
    }

    /// What is wrong with a name that ends as files of another format do: readers would take the file for what it is not.
    #[must_use]
    pub fn misnamed(self, path: &Path) -> Option<String> {
        let (what, own) = self.filter();
        let own = match self {
            // Of a film it is an ending as well.
            Self::Film(Format::Apng) => &["apng", "png"],
            _ => own,
        };
        if self.is_there() || own.is_empty() || !ending::is_of_another(path, own) {
            return None;
        }
        Some(format!(
            "{}: the name ends as another format than what is written ({what}); let it end in .{}",
            path.display(),
            self.ending()
        ))
    }

    pub(in crate::app) fn filter(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Open => (
                "Scenes, and pictures and films that carry one",
                &["toml", "png", "apng", "mp4"],
            ),
            Self::Save => ("Ripplon scene", &["toml"]),
            Self::Picture | Self::Film(Format::Png) => ("PNG picture", &["png"]),
            Self::Field => ("NumPy array", &["npy"]),
            Self::Checkpoint => ("Checkpoint", &["ripplon"]),
            Self::Folder | Self::Film(Format::Sequence) => ("Folder", &[]),
            Self::Sound => ("WAV sound", &["wav"]),
            Self::Records => ("Table", &["csv"]),
            Self::Film(Format::Gif) => ("GIF film", &["gif"]),
            Self::Film(Format::Apng) => ("Animated PNG", &["apng"]),
            Self::Film(Format::Mp4) => ("MP4 film", &["mp4"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_formats_are_refused() {
        for (ask, name, is_fit) in [
            (Ask::Picture, "field.png", true),
            (Ask::Picture, "field.jpg", false),
            (Ask::Save, "scene.mp4", false),
            (Ask::Save, "scene.toml", true),
            (Ask::Save, "scene", true),
            (Ask::Film(Format::Mp4), "film.gif", false),
            (Ask::Film(Format::Apng), "film.png", true),
            (Ask::Film(Format::Sequence), "film.png", true),
            (Ask::Open, "scene.png", true),
            (Ask::Checkpoint, "state.ripplon", true),
            (Ask::Checkpoint, "state.npy", false),
        ] {
            let found = ask.misnamed(Path::new(name));
            assert_eq!(found.is_none(), is_fit, "{ask:?} {name}: {found:?}");
            if let Some(text) = found {
                assert!(text.ends_with(&format!("let it end in .{}", ask.ending())), "{text}");
            }
        }
    }
}
