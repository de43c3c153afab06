//! Links to a page: a scene within the address, and how the page shall show it.
//!
//! `?preset=NAME` names a preset; `#scene=TEXT` carries a scene file, compressed (zlib) and written in the 64 signs that addresses hold as they are (base64url,
//! RFC 4648, section 5). `panels=none` leaves the picture alone, `play=0` waits at t = 0, `log=info` tells the browser's console what happens.

use crate::base64;
use miniz_oxide::{deflate, inflate};

/// Bytes of a scene that a link may hold: more than any that was written by hand.
const LONGEST: usize = 1 << 22;

/// The 64 signs.
const SIGNS: &[u8; 64] = base64::URL.signs;

/// What an address asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The preset's name.
    pub preset: Option<String>,
    /// The scene file's text.
    pub scene: Option<String>,
    /// Whether the panels are shown.
    pub panels: bool,
    /// Whether the scene runs at once.
    pub plays: bool,
    /// What is told to the console: `warn`, `info`, `debug`.
    pub log: Option<String>,
}

/// Reads the parts of an address behind `?` and `#`. What others append to addresses is ignored.
///
/// # Errors
/// If the scene in it is damaged; in words for people.
pub fn read(search: &str, hash: &str) -> Result<Link, String> {
    let mut link = Link {
        preset: None,
        scene: None,
        panels: true,
        plays: true,
        log: None,
    };
    let parts = search.trim_start_matches('?').split('&');
    for (key, value) in parts
        .chain(hash.trim_start_matches('#').split('&'))
        .filter_map(|part| part.split_once('='))
    {
        match key {
            "preset" => link.preset = Some(value.to_owned()),
            "scene" => link.scene = Some(unpacked(value)?),
            "panels" => link.panels = value != "none",
            "play" => link.plays = value != "0",
            "log" => link.log = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(link)
}

/// A scene's text as a part of an address.
#[must_use]
pub fn packed(scene: &str) -> String {
    let bytes = deflate::compress_to_vec_zlib(scene.as_bytes(), 9);
    base64::encode(&bytes, base64::URL)
}

fn unpacked(text: &str) -> Result<String, String> {
    let cut = || "the scene in this link is damaged or cut off; copy the whole link".to_owned();
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let signs: Vec<u8> = text.trim_end_matches('=').bytes().collect();
    for four in signs.chunks(4) {
        let mut bits = 0u32;
        for sign in four {
            let place = SIGNS.iter().position(|known| known == sign).ok_or_else(cut)?;
            bits = bits << 6 | place as u32;
        }
        bits <<= 6 * (4 - four.len());
        if four.len() < 2 {
            return Err(cut());
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..four.len()]);
    }
    let scene = inflate::decompress_to_vec_zlib_with_limit(&bytes, LONGEST).map_err(|_| cut())?;
    String::from_utf8(scene).map_err(|_| cut())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_comes_back_from_a_link() {
        for preset in crate::scene::presets::all() {
            let text = packed(preset.text);
            assert!(text.bytes().all(|sign| SIGNS.contains(&sign)), "{}", preset.name);
            // Browsers and mail programs keep addresses of this length.
            assert!(text.len() < 8000, "{}: {} signs", preset.name, text.len());
            let link = read("?panels=none&utm_source=x", &format!("#scene={text}&play=0")).unwrap();
            assert_eq!(link.scene.as_deref(), Some(preset.text));
            assert!(!link.panels && !link.plays && link.preset.is_none());
        }
    }

    #[test]
    fn lengths_that_are_no_multiple_of_three_come_back() {
        for length in 0..40 {
            let text: String = ('a'..='z').cycle().take(length).collect();
            assert_eq!(unpacked(&packed(&text)).as_deref(), Ok(text.as_str()));
        }
    }

    #[test]
    fn damaged_links_are_refused_in_words() {
        let text = packed(crate::scene::presets::all()[0].text);
        for damaged in [&text[..text.len() / 2], &text[1..], "%%%%", "A", ""] {
            let said = read("", &format!("#scene={damaged}")).unwrap_err();
            assert!(said.contains("copy the whole link"), "{said}");
        }
        let plain = read("", "").unwrap();
        assert!(plain.panels && plain.plays && plain.preset.is_none() && plain.scene.is_none());
        assert_eq!(
            read("?preset=double-slit", "").unwrap().preset.as_deref(),
            Some("double-slit")
        );
    }
}
