//! The endings of files, by which people and programs take a file for what it is.

use std::path::Path;

/// Endings by which readers take a file for what it is not.
const KNOWN: &[&str] = &[
    "apng", "csv", "gif", "h5", "hdf5", "html", "jpeg", "jpg", "json", "mp4", "npy", "pdf", "png", "svg", "toml", "wav",
];

/// Whether a name ends as files of another format do, where the format has endings of its `own`.
pub fn is_of_another(path: &Path, own: &[&str]) -> bool {
    path.extension().is_some_and(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        KNOWN.contains(&ending.as_str()) && !own.contains(&ending.as_str())
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
            ("field", false),
            ("field.2026", false),
        ] {
            assert_eq!(is_of_another(Path::new(name), &["png"]), misleads, "{name}");
        }
    }
}
