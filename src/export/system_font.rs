//! Letters that no font of the program has, such as Chinese ones, from the fonts of this machine. Those that are
//! missing there too are remembered, so that whoever makes a picture can say so.

use crate::input_file;
use ab_glyph::{Font, FontRef};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files larger than this are not read: fonts of all Chinese letters have 20 MB, of many scripts and weights 80 MB.
pub const MOST_BYTES: u64 = 128 << 20;

/// The number of files that are searched for a letter.
const MOST_FILES: usize = 400;

/// How deep folders of fonts are nested.
const DEPTH: u8 = 4;

/// The number of missing letters for which all files are searched; beyond, letters count as missing.
pub const FRUITLESS: u8 = 4;

/// Parts of the names of fonts with many scripts, the best first.
const KNOWN: [&str; 12] = [
    "cjk",
    "sourcehansans",
    "pingfang",
    "hiragino",
    "msyh",
    "yugoth",
    "malgun",
    "wqy",
    "fallback",
    "unicode",
    "notosans",
    "heiti",
];

/// Parts of the names of fonts that are not upright or not of regular weight.
const ODD: [&str; 6] = ["bold", "black", "heavy", "thin", "light", "italic"];

/// A font of the machine that is kept as long as the program runs.
type Kept = &'static FontRef<'static>;

struct Fonts {
    /// The machine's files, the likeliest first, once they have been requested.
    files: Option<Vec<PathBuf>>,
    open: Vec<Kept>,
    /// The letters so far.
    letters: BTreeMap<char, Option<Kept>>,
    /// Letters that no file has.
    fruitless: u8,
}

static FONTS: Mutex<Fonts> = Mutex::new(Fonts {
    files: None,
    open: Vec::new(),
    letters: BTreeMap::new(),
    fruitless: 0,
});

/// A font of this machine that has a letter.
pub(super) fn find(letter: char) -> Option<Kept> {
    let mut fonts = FONTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = fonts.letters.get(&letter) {
        return *known;
    }
    let found = fonts.search(letter);
    fonts.letters.insert(letter, found);
    found
}

/// The letters of pictures so far that no font has, each once; pictures have boxes in their place.
pub fn lacking() -> String {
    let fonts = FONTS.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = fonts.letters.iter().filter(|(_, font)| font.is_none());
    missing.map(|(letter, _)| *letter).collect()
}

impl Fonts {
    fn search(&mut self, letter: char) -> Option<Kept> {
        if let Some(font) = self.open.iter().find(|font| draws(font, letter)) {
            return Some(font);
        }
        if self.fruitless < FRUITLESS {
            for path in self.files.get_or_insert_with(files) {
                if let Some(font) = opened(path, letter) {
                    self.open.push(font);
                    return Some(font);
                }
            }
            self.fruitless += 1;
        }
        None
    }
}

/// The font of a file if it has a letter.
fn opened(path: &Path, letter: char) -> Option<Kept> {
    let bytes = input_file::read(path, MOST_BYTES).ok()?;
    if !FontRef::try_from_slice(&bytes).is_ok_and(|font| draws(&font, letter)) {
        return None;
    }
    let font = FontRef::try_from_slice(bytes.leak()).ok()?;
    Some(Box::leak(Box::new(font)))
}

/// Whether a font has a letter as an outline; some have pictures for it.
pub fn draws(font: &FontRef<'_>, letter: char) -> bool {
    let glyph = font.glyph_id(letter);
    glyph.0 != 0 && (letter.is_whitespace() || font.outline(glyph).is_some())
}

/// The fonts of this machine, wherever systems keep them, those of many scripts first.
pub fn files() -> Vec<PathBuf> {
    let shared = [
        "/usr/share/fonts",
        "/usr/local/share/fonts",
        "/run/host/fonts",
        "/System/Library/Fonts",
        "/Library/Fonts",
    ];
    let own = [
        ("HOME", ".local/share/fonts"),
        ("HOME", ".fonts"),
        ("HOME", "Library/Fonts"),
        ("WINDIR", "Fonts"),
        ("LOCALAPPDATA", "Microsoft/Windows/Fonts"),
    ];
    let own = own
        .into_iter()
        .filter_map(|(home, folder)| Some(Path::new(&std::env::var_os(home)?).join(folder)));
    let mut found = Vec::new();
    for folder in shared.into_iter().map(PathBuf::from).chain(own) {
        list(&folder, DEPTH, &mut found);
    }
    sort(&mut found);
    found.truncate(MOST_FILES);
    found
}

fn sort(files: &mut [PathBuf]) {
    files.sort_by_cached_key(|path| (rank(path), path.clone()));
}

fn list(folder: &Path, depth: u8, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        if matches!(ending.as_deref(), Some("ttf" | "otf" | "ttc" | "otc")) {
            // This one has a box for every letter there is.
            if !name(&path).contains("lastresort") {
                found.push(path);
            }
        } else if depth > 0 && path.is_dir() {
            list(&path, depth - 1, found);
        }
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().to_ascii_lowercase()
}

/// How late a file is looked into.
fn rank(path: &Path) -> (usize, bool) {
    let name = name(path);
    let known = KNOWN.iter().position(|part| name.contains(part));
    (
        known.unwrap_or(KNOWN.len()),
        ODD.iter().any(|style| name.contains(style)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_are_found_by_what_they_draw() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("deep").join("NotoSansCJK-Regular.otf");
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(&own, include_bytes!("../../assets/fonts/Inter-Regular.otf")).unwrap();
        for other in ["a.ttf", "NotoSansCJK-Bold.ttc", "LastResort.otf", "readme.txt"] {
            fs::write(folder.path().join(other), "no font").unwrap();
        }
        let mut found = Vec::new();
        list(folder.path(), 1, &mut found);
        sort(&mut found);
        let others = ["NotoSansCJK-Bold.ttc", "a.ttf"].map(|name| folder.path().join(name));
        assert_eq!(found[0], own);
        assert_eq!(found[1..], others);
        assert!(opened(&own, 'k').is_some() && opened(&own, ' ').is_some());
        assert!(opened(&own, '波').is_none() && opened(&found[1], 'k').is_none());
        // No letter, and never one.
        assert!(find('\u{1fffe}').is_none() && lacking().contains('\u{1fffe}'));
    }
}
