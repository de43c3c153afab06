//! Fonts of the system, for signs that the program's own lack: those of China, Japan and Korea. None comes with the program, which would be larger by half.

use crate::input_file;
use ab_glyph::{Font, FontRef};
use std::path::{Path, PathBuf};

/// Folders in which systems keep their fonts.
const FOLDERS: [&str; 6] = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/run/host/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:\\Windows\\Fonts",
];

/// The same in the user's own folder.
const OWN_FOLDERS: [&str; 4] = [
    ".local/share/fonts",
    ".fonts",
    "Library/Fonts",
    "AppData/Local/Microsoft/Windows/Fonts",
];

/// How the files begin that have such signs, those with all three scripts first.
const NAMES: [&str; 26] = [
    "NotoSansCJK-Regular",
    "NotoSansCJK",
    "SourceHanSans-Regular",
    "SourceHanSans",
    "wqy-microhei",
    "wqy-zenhei",
    "DroidSansFallback",
    "Arial Unicode",
    "PingFang",
    "Hiragino Sans GB",
    "ヒラギノ角ゴシック W3",
    "STHeiti Light",
    "AppleSDGothicNeo",
    "msyh",
    "YuGothR",
    "meiryo",
    "msgothic",
    "malgun",
    "simsun",
    "NotoSansSC",
    "NotoSansTC",
    "NotoSansJP",
    "NotoSansKR",
    "NanumGothic",
    "ipag",
    "uming",
];

/// How deep folders are looked through, how long a file may be, and how many fonts are taken.
const DEPTH: usize = 4;
const MOST_BYTES: u64 = 128 << 20;
const MOST_FONTS: usize = 4;

/// Fonts with `signs`, by name: as few as have all of them, or those that have some; empty where the system has none.
pub fn fonts_with(signs: &str) -> Vec<(String, Vec<u8>)> {
    let mut folders = FOLDERS.map(PathBuf::from).to_vec();
    if let Some(user) = directories::UserDirs::new() {
        folders.extend(OWN_FOLDERS.map(|folder| user.home_dir().join(folder)));
    }
    search(&folders, signs)
}

fn search(folders: &[PathBuf], signs: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for folder in folders {
        collect(folder, DEPTH, &mut files);
    }
    files.sort();
    let mut lacking: Vec<char> = signs.chars().collect();
    let mut found = Vec::new();
    for (_, path) in files {
        if lacking.is_empty() || found.len() == MOST_FONTS {
            break;
        }
        let Ok(bytes) = input_file::read(&path, MOST_BYTES) else {
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

/// The fonts of a folder and of those in it, each with its place among [`NAMES`]; upright ones of usual weight before the others.
fn collect(folder: &Path, depth: usize, files: &mut Vec<((usize, bool), PathBuf)>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, files);
            }
            continue;
        }
        let lower = |text: &std::ffi::OsStr| text.to_string_lossy().to_lowercase();
        let (name, ending) = (path.file_stem().map(lower), path.extension().map(lower));
        let is_font = matches!(ending.as_deref(), Some("ttf" | "otf" | "ttc" | "otc"));
        let Some(name) = name.filter(|_| is_font) else {
            continue;
        };
        let place = NAMES.iter().position(|known| name.starts_with(&known.to_lowercase()));
        if let Some(place) = place {
            let odd = ["bold", "black", "heavy", "thin", "light", "italic"]
                .iter()
                .any(|style| name.contains(style) && !NAMES[place].to_lowercase().contains(style));
            files.push(((place, odd), path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use epaint_default_fonts::HACK_REGULAR;

    /// The first font that can be read and has the sign is taken, wherever it lies in a folder; without one there is none.
    #[test]
    fn a_font_with_the_sign_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("opentype/noto");
        std::fs::create_dir_all(&inner).unwrap();
        let put = |name: &str, bytes: &[u8]| std::fs::write(inner.join(name), bytes).unwrap();
        put("NotoSansCJK-Regular.ttc", b"no font");
        put("NotoSansCJK-Bold.ttc", HACK_REGULAR);
        put("NotoSansCJK-Medium.ttc", HACK_REGULAR);
        put("Anything.ttf", HACK_REGULAR);
        put("wqy-microhei.txt", HACK_REGULAR);
        let folders = [folder.path().to_owned(), folder.path().join("nowhere")];
        let names = |signs: &str| -> Vec<String> {
            let found = search(&folders, signs).into_iter();
            found
                .map(|(name, _)| name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(names("Ж"), ["NotoSansCJK-Medium.ttc"]);
        assert!(names("漢").is_empty() && names("").is_empty());
    }
}
