//! The scene inside a picture: every PNG that Ripplon writes carries its scene file in an iTXt chunk.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// The chunk's keyword.
pub const KEYWORD: &str = "ripplon-scene";

/// The scene file embedded in a PNG; `None` where the picture carries none.
///
/// # Errors
/// If the file cannot be read or is no PNG.
pub fn scene_in_png(path: &Path) -> io::Result<Option<String>> {
    let decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    // Reads up to the pixels; the chunk stands before them.
    let reader = decoder.read_info().map_err(io::Error::other)?;
    for chunk in &reader.info().utf8_text {
        if chunk.keyword == KEYWORD {
            return chunk.get_text().map(Some).map_err(io::Error::other);
        }
    }
    Ok(None)
}
