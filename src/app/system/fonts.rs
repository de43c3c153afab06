//! Fonts of the system, for signs that the program's own lack: those of China, Japan and Korea. None comes with the program, which would be larger by half.

use crate::export::system_font::{MOST_BYTES, files};
use crate::input_file;
use ab_glyph::{Font, FontRef};
use std::path::PathBuf;

/// How many fonts are taken.
const MOST_FONTS: usize = 4;

/// Fonts with `signs`, by name: as few as have all of them, or those that have some; empty where the system has none.
pub fn fonts_with(signs: &str) -> Vec<(String, Vec<u8>)> {
    search(&files(), signs)
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
        // Glyph 0 stands for those that a font lacks.
        lacking.retain(|sign| font.glyph_id(*sign).0 == 0);
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
