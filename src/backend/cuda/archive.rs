//! The archive of PTX, `kernels/ptx.zst`, which `kernels/build` writes: a skippable frame of zstd with the index in JSON, then a frame a source file with the
//! PTX of its modules one after the other, numbers as differences. A frame and a module are unpacked when they are first asked for.
//!
//! Source of the format: RFC 8878, Zstandard Compression, §3.1.2 (skippable frames).

use super::differences;
use ruzstd::decoding::FrameDecoder;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

/// Skippable frame 0.
const SKIPPABLE: u32 = 0x184D_2A50;
/// Upper limit of the size of a frame and of a text; those of one source have some megabytes.
const MOST_TEXT: usize = 1 << 28;

/// The archive in the program; `Err` says why it cannot be read.
pub(super) fn embedded() -> Result<&'static Archive<'static>, &'static str> {
    static BYTES: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/ptx.zst"));
    static ARCHIVE: LazyLock<Result<Archive<'static>, String>> = LazyLock::new(|| Archive::new(BYTES));
    ARCHIVE.as_ref().map_err(String::as_str)
}

/// An archive whose frames and modules are unpacked one by one.
#[derive(Debug)]
pub(super) struct Archive<'a> {
    frames: Vec<Frame<'a>>,
    modules: HashMap<String, Module>,
}

#[derive(Debug)]
struct Frame<'a> {
    compressed: &'a [u8],
    /// Bytes of what is compressed.
    length: usize,
    packed: OnceLock<Result<Vec<u8>, String>>,
}

#[derive(Debug)]
struct Module {
    frame: usize,
    /// First byte and number of bytes in the frame.
    start: usize,
    packed: usize,
    /// Bytes of the text, and their checksum.
    length: usize,
    crc32: u32,
    text: OnceLock<Result<String, String>>,
}

#[derive(Deserialize)]
struct Index {
    frames: Vec<IndexedFrame>,
}

#[derive(Deserialize)]
struct IndexedFrame {
    bytes: usize,
    modules: Vec<IndexedModule>,
}

#[derive(Deserialize)]
struct IndexedModule {
    name: String,
    packed: usize,
    bytes: usize,
    crc32: u32,
}

impl<'a> Archive<'a> {
    /// Reads the index.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let short = || "it ends within its index".to_owned();
        let (magic, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        if u32::from_le_bytes(*magic) != SKIPPABLE {
            return Err("it does not begin with an index".to_owned());
        }
        let (length, rest) = rest.split_first_chunk().ok_or_else(short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (index, mut rest) = rest.split_at_checked(length).ok_or_else(short)?;
        let index: Index = serde_json::from_slice(index).map_err(|error| format!("its index: {error}"))?;
        let mut archive = Self {
            frames: Vec::new(),
            modules: HashMap::new(),
        };
        for (number, frame) in index.frames.into_iter().enumerate() {
            let (compressed, after) = (rest.split_at_checked(frame.bytes)).ok_or_else(|| {
                format!(
                    "it ends within frame {number}, after {} of {} bytes",
                    rest.len(),
                    frame.bytes
                )
            })?;
            rest = after;
            let mut start = 0_usize;
            for module in frame.modules {
                let place = Module {
                    frame: number,
                    start,
                    packed: module.packed,
                    length: module.bytes,
                    crc32: module.crc32,
                    text: OnceLock::new(),
                };
                start = start.saturating_add(module.packed);
                archive.modules.insert(module.name, place);
            }
            if start > MOST_TEXT {
                return Err(format!(
                    "frame {number} claims {start} bytes, and {MOST_TEXT} are the most"
                ));
            }
            archive.frames.push(Frame {
                compressed,
                length: start,
                packed: OnceLock::new(),
            });
        }
        Ok(archive)
    }

    /// The text of a module.
    pub(super) fn ptx(&self, name: &str) -> Result<&str, String> {
        let module = self.modules.get(name).ok_or("it has no such module")?;
        let text = module.text.get_or_init(|| self.unpacked(module)).as_ref();
        text.map(String::as_str).map_err(Clone::clone)
    }

    fn unpacked(&self, module: &Module) -> Result<String, String> {
        let frame = self.frames.get(module.frame).ok_or("it has no such frame")?;
        let packed = (frame.packed.get_or_init(|| frame.unpacked()).as_ref()).map_err(Clone::clone)?;
        let packed = (packed.get(module.start..module.start + module.packed)).ok_or("its frame is too short")?;
        let text = differences::restored(packed);
        if text.len() != module.length || crc32fast::hash(&text) != module.crc32 {
            return Err("the text does not match its checksum".to_owned());
        }
        String::from_utf8(text).map_err(|error| error.to_string())
    }

    /// Names of all modules, in no particular order.
    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.modules.keys().map(String::as_str)
    }
}

impl Frame<'_> {
    fn unpacked(&self) -> Result<Vec<u8>, String> {
        let mut packed = vec![0; self.length];
        let written =
            (FrameDecoder::new().decode_all(self.compressed, &mut packed)).map_err(|error| error.to_string())?;
        if written == self.length {
            Ok(packed)
        } else {
            Err(format!("{written} bytes instead of {}", self.length))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest;
    use super::*;
    use std::collections::BTreeSet;

    static BYTES: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/ptx.zst"));

    #[test]
    fn every_module_of_the_manifest_unpacks_and_has_its_entries() {
        let archive = embedded().unwrap();
        let listed: BTreeSet<&str> = manifest::modules().map(|module| module.name.as_str()).collect();
        assert_eq!(archive.names().collect::<BTreeSet<_>>(), listed);
        for module in manifest::modules() {
            let text = archive.ptx(&module.name).unwrap();
            let entries = text
                .lines()
                .filter_map(|line| line.split_once(".entry ")?.1.split('(').next());
            let entries: BTreeSet<&str> = entries.collect();
            let wanted: BTreeSet<&str> = module.entries().iter().map(String::as_str).collect();
            assert_eq!(entries, wanted, "{}", module.name);
            let target = text.lines().find_map(|line| line.strip_prefix(".target sm_"));
            assert_eq!(target.unwrap(), module.capability().to_string(), "{}", module.name);
        }
    }

    #[test]
    fn damage_is_an_error_that_says_what() {
        let error = |bytes: &[u8]| Archive::new(bytes).map(|_| ()).unwrap_err();
        assert!(error(&[]).contains("ends"));
        assert!(error(&BYTES[..5]).contains("ends"));
        assert!(error(&BYTES[..100]).contains("ends"));
        assert!(error(&BYTES[..BYTES.len() - 1]).contains("ends within frame"));
        assert!(error(&BYTES[1..]).contains("index"));
        let mut other = BYTES[..3000.min(BYTES.len())].to_vec();
        other[8] = b'x';
        let length = u32::try_from(other.len() - 8).unwrap();
        other[4..8].copy_from_slice(&length.to_le_bytes());
        assert!(error(&other).contains("its index"));
    }

    /// Whichever byte of the smallest frame is changed, the text is refused or unchanged; nothing panics.
    #[test]
    fn a_damaged_frame_is_refused() {
        let whole = Archive::new(BYTES).unwrap();
        let text = whole.ptx("ceilings").unwrap();
        let frame = whole.frames[whole.modules["ceilings"].frame].compressed;
        let begin = frame.as_ptr().addr() - BYTES.as_ptr().addr();
        let mut refused = 0;
        for at in (0..frame.len()).step_by(7) {
            let mut bytes = BYTES.to_vec();
            bytes[begin + at] ^= 0x5a;
            match Archive::new(&bytes).unwrap().ptx("ceilings") {
                Ok(other) => assert_eq!(other, text),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > frame.len() / 14, "{refused} of {}", frame.len() / 7);
        assert!(whole.ptx("nothing").unwrap_err().contains("no such module"));
    }
}
