//! Fonts of the system, for signs that the program's own lack: those of China, Japan and Korea. None comes with the program, which would be larger by half.

use crate::export::system_font::{FRUITLESS, MOST_BYTES, draws, files};
use crate::input_file;
use ab_glyph::FontRef;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

/// How many fonts are taken.
const MOST_FONTS: usize = 4;

/// Fonts with `signs`, by name: as few as have all of them, or those that have some; empty where the system has none.
pub fn fonts_with(signs: &str) -> Vec<(String, Vec<u8>)> {
    // Searches without a result read every file.
    static FAILED: AtomicU8 = AtomicU8::new(0);
    if FAILED.load(Ordering::Relaxed) >= FRUITLESS {
        return Vec::new();
    }
    let found = search(&files(), signs);
    if found.is_empty() {
        FAILED.fetch_add(1, Ordering::Relaxed);
    }
    found
}

fn search(files: &[PathBuf], signs: &str) -> Vec<(String, Vec<u8>)> {
    let mut lacking: Vec<char> = signs.chars().collect();
    let mut found = Vec::new();
    for path in files {
        if lacking.is_empty() || found.len() == MOST_FONTS {
            break;
        }
        let Ok(bytes) = input_file::read(path, MOST_BYTES) else {
            continue;
        };
        let Ok(font) = FontRef::try_from_slice_and_index(&bytes, 0) else {
            continue;
        };
        let before = lacking.len();
        lacking.retain(|sign| !draws(&font, *sign));
        if lacking.len() < before {
            found.push((path.to_string_lossy().into_owned(), bytes));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use epaint_default_fonts::HACK_REGULAR;

    /// The first font that can be read and has the sign is taken; without one there is none.
    #[test]
    fn a_font_with_the_sign_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("broken.ttc", &b"no font"[..]),
            ("first.ttc", HACK_REGULAR),
            ("second.ttf", HACK_REGULAR),
        ]
        .map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        });
        let names = |signs: &str| -> Vec<PathBuf> {
            let found = search(&files, signs).into_iter();
            found.map(|(name, _)| PathBuf::from(name)).collect()
        };
        assert_eq!(names("Ж"), files[1..2]);
        assert!(names("漢").is_empty() && names("").is_empty());
    }
}
