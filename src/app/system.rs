//! What differs between a window of the system and a page in a browser: how it starts, files and dialogues, sounds, titles. Everything else of the window knows only
//! this module and [`crate::platform`].

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod web;

#[cfg(not(target_family = "wasm"))]
pub use native::*;
#[cfg(target_family = "wasm")]
pub use web::*;

#[cfg(test)]
mod tests {
    use ab_glyph::{Font, FontRef};
    use lucide_icons::Icon;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names behind `Icon::` in the files of a folder.
    fn icons(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                icons(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (at, word) in text.match_indices("Icon::") {
                // `CursorIcon` is another one.
                if text[..at].ends_with(|last: char| last.is_ascii_alphanumeric()) {
                    continue;
                }
                let name: String = text[at + word.len()..]
                    .chars()
                    .take_while(char::is_ascii_alphanumeric)
                    .collect();
                if name.starts_with(|first: char| first.is_ascii_uppercase()) {
                    found.insert(name);
                }
            }
        }
    }

    /// The name that Lucide's site has: `FlipHorizontal2` is flip-horizontal-2.
    fn kebab(name: &str) -> String {
        let mut words = String::new();
        for letter in name.chars() {
            if !words.is_empty() && !letter.is_ascii_lowercase() {
                words.push('-');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    }

    #[test]
    fn the_page_has_every_icon_that_the_window_shows() {
        let mut found = BTreeSet::new();
        icons(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/app")), &mut found);
        assert!(found.len() > 50, "{found:?}");
        let font = FontRef::try_from_slice(include_bytes!("../../assets/fonts/lucide.ttf")).unwrap();
        let missing: Vec<&String> = found
            .iter()
            .filter(|name| {
                let icon = Icon::try_from(kebab(name).as_str()).unwrap();
                // Glyph 0 stands for those that a font lacks.
                font.glyph_id(char::from(icon)).0 == 0
            })
            .collect();
        assert!(
            missing.is_empty(),
            "run assets/fonts/subset.py: the page's font lacks {missing:?}"
        );
    }
}
