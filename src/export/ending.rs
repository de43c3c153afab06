//! File extensions, by which people and programs recognise a format.

use std::path::Path;

/// Extensions that would mislead in the name of another format.
const KNOWN: &[&str] = &[
    "apng", "bmp", "csv", "flac", "gif", "h5", "hdf5", "html", "jpeg", "jpg", "json", "mat", "mp3", "mp4", "npy",
    "npz", "ogg", "pdf", "png", "svg", "tif", "tiff", "toml", "txt", "wav", "webp", "zip",
];

/// Formats that are text, whose files may be named as such.
const TEXTS: &[&str] = &["csv", "html", "json", "svg", "toml"];

/// Whether a name has the extension of another format than one with its `own` extensions.
pub fn is_of_another(path: &Path, own: &[&str]) -> bool {
    path.extension().is_some_and(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        let is_text = ending == "txt" && own.iter().any(|own| TEXTS.contains(own));
        KNOWN.contains(&ending.as_str()) && !own.contains(&ending.as_str()) && !is_text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_endings_of_other_formats_mislead() {
        for (name, misleads) in [
            ("field.png", false),
            ("field.PNG", false),
            ("field.jpg", true),
            ("field.Toml", true),
            ("field.tiff", true),
            ("sound.mp3", true),
            ("field.txt", true),
            ("field.npz", true),
            ("field", false),
            ("field.2026", false),
        ] {
            assert_eq!(is_of_another(Path::new(name), &["png"]), misleads, "{name}");
        }
        assert!(!is_of_another(Path::new("table.txt"), &["csv"]));
    }
}
