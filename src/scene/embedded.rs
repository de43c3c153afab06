//! The scene inside a picture or a film: every PNG and MP4 that Ripplon writes carries its scene file.
//!
//! In a PNG it is an iTXt chunk, in an MP4 a `uuid` box at the end of the file, which players skip (ISO/IEC 14496-12, §11.1).

use crate::input_file::open;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The keyword of the PNG's chunk.
pub const KEYWORD: &str = "ripplon-scene";

/// The name of the MP4's box: the version-5 UUID of [`KEYWORD`] in the namespace of URLs.
const BOX: [u8; 16] = [
    0x20, 0xd5, 0xb9, 0x03, 0x16, 0xb5, 0x52, 0x9d, 0x97, 0xa9, 0x80, 0x69, 0x1b, 0x4c, 0xae, 0x11,
];

/// A scene file was written by hand or in the window: anything that claims to be longer is not one.
pub(crate) const LONGEST: u64 = 4 << 20;

/// The largest size of the chunks before a picture's pixels: the scene, and some more.
const MOST_CHUNKS: usize = 16 << 20;

/// Whether a file of this name may carry a scene.
pub fn may_carry(path: &Path) -> bool {
    format(path).is_some()
}

/// The scene file that a PNG or MP4 (by the extension of its name) carries; `None` if it carries none.
///
/// # Errors
/// If the file cannot be read or is neither.
pub fn scene_in(path: &Path) -> io::Result<Option<String>> {
    match format(path) {
        Some(Format::Png) => scene_in_png(path),
        Some(Format::Mp4) => scene_in_mp4(path),
        None => Ok(None),
    }
}

/// The box to append to an MP4 so that it carries `scene`.
pub fn mp4_box(scene: &str) -> Vec<u8> {
    let size = 8 + BOX.len() + scene.len();
    let mut bytes = Vec::with_capacity(size);
    bytes.extend(u32::try_from(size).unwrap_or(0).to_be_bytes());
    bytes.extend(b"uuid");
    bytes.extend(BOX);
    bytes.extend(scene.as_bytes());
    bytes
}

#[derive(Clone, Copy)]
enum Format {
    Png,
    Mp4,
}

fn format(path: &Path) -> Option<Format> {
    let ending = path.extension()?;
    if ending.eq_ignore_ascii_case("png") || ending.eq_ignore_ascii_case("apng") {
        Some(Format::Png)
    } else if ending.eq_ignore_ascii_case("mp4") {
        Some(Format::Mp4)
    } else {
        None
    }
}

fn scene_in_png(path: &Path) -> io::Result<Option<String>> {
    let limits = png::Limits { bytes: MOST_CHUNKS };
    let decoder = png::Decoder::new_with_limits(BufReader::new(open(path)?.0), limits);
    // Reads up to the pixels; the chunk stands before them.
    let reader = decoder.read_info().map_err(io::Error::other)?;
    for chunk in &reader.info().utf8_text {
        if chunk.keyword == KEYWORD {
            let mut chunk = chunk.clone();
            // A few bytes can say that gigabytes follow.
            let longest = usize::try_from(LONGEST).unwrap_or(usize::MAX);
            chunk.decompress_text_with_limit(longest).map_err(io::Error::other)?;
            return chunk.get_text().map(Some).map_err(io::Error::other);
        }
    }
    Ok(None)
}

/// Walks the boxes of the file: 4 bytes of length with this header, 4 of type; a length of 1 is followed by 8 bytes of it, 0 reaches to the end.
fn scene_in_mp4(path: &Path) -> io::Result<Option<String>> {
    let (file, end) = open(path)?;
    let mut file = BufReader::new(file);
    let mut at = 0;
    while at + 8 <= end {
        let mut header = [0; 8];
        file.read_exact(&mut header)?;
        let [a, b, c, d, kind @ ..] = header;
        if at == 0 && kind != *b"ftyp" {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not an MP4 file"));
        }
        let (mut size, mut head) = (u64::from(u32::from_be_bytes([a, b, c, d])), 8);
        if size == 1 {
            let mut long = [0; 8];
            file.read_exact(&mut long)?;
            (size, head) = (u64::from_be_bytes(long), 16);
        } else if size == 0 {
            size = end - at;
        }
        if size < head || size > end - at {
            let message = format!("the box at byte {at} is {size} bytes long, which does not fit the file");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let body = size - head;
        if kind == *b"uuid" && (BOX.len() as u64..LONGEST).contains(&body) {
            let mut name = [0; BOX.len()];
            file.read_exact(&mut name)?;
            if name == BOX {
                let mut text = String::new();
                file.take(body - BOX.len() as u64).read_to_string(&mut text)?;
                return Ok(Some(text));
            }
        }
        at += size;
        file.seek(SeekFrom::Start(at))?;
    }
    Ok(None)
}
