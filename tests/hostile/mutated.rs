//! Every decoder on a kept corpus, mutated in the same ways every time, and on what a fuzzer found.

use super::decoders::{DECODERS, Decoder};
use super::memory::most_held;
use std::fs;
use std::path::Path;

/// Mutants of each file; `MUTANTS=100000 cargo test --test hostile` takes more, of which the first are the same.
fn mutants() -> u64 {
    let asked = std::env::var("MUTANTS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(250)
}

/// Bytes that reading a mutant of a few KiB may hold: far above what the files here need, far below what a length in them can claim.
const MOST: usize = 96 << 20;

/// `SplitMix64` (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }
}

/// One to four of: a bit turned, a byte replaced by an extreme one, four bytes that are a length replaced by a huge one, a part left out, a part written twice, the end cut off.
fn mutant(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    let mut own = bytes.to_vec();
    for _ in 0..=random.below(3) {
        if own.is_empty() {
            break;
        }
        // Lengths and types stand at the beginning.
        let reach = if random.below(2) == 0 {
            own.len().min(160)
        } else {
            own.len()
        };
        let at = random.below(reach);
        let end = (at + 1 + random.below(24)).min(own.len());
        match random.below(6) {
            0 => own[at] ^= 1 << random.below(8),
            1 => own[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => {
                let huge = [u32::MAX, 0x7fff_ffff, 0x8000_0000, 1 << 30][random.below(4)].to_be_bytes();
                for (byte, new) in own[at..].iter_mut().zip(huge) {
                    *byte = new;
                }
            }
            3 => drop(own.drain(at..end)),
            4 => {
                let part = own[at..end].to_vec();
                own.splice(at..at, part);
            }
            _ => own.truncate(at),
        }
    }
    own
}

/// Reads an input; it may neither panic nor hold more than [`MOST`].
fn survives(decoder: &Decoder, folder: &Path, bytes: &[u8], which: &str) {
    let ((), held) = most_held(|| (decoder.read)(folder, bytes));
    assert!(held < MOST, "{}, {which}: {held} bytes", decoder.name);
}

fn mutants_of(name: &str) {
    let decoder = DECODERS.iter().find(|decoder| decoder.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bytes = (decoder.prepare)(folder.path());
    for seed in 0..mutants() {
        survives(decoder, folder.path(), &mutant(&bytes, seed), &format!("mutant {seed}"));
    }
}

/// One test each, so that they run side by side and a failure names its decoder.
macro_rules! mutants_are_read {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            mutants_of(stringify!($name));
        })*

        #[test]
        fn every_decoder_is_among_them() {
            let names = DECODERS.map(|decoder| decoder.name);
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

mutants_are_read!(
    npy,
    png,
    wav,
    scene_in_png,
    scene_in_mp4,
    toml,
    formula,
    lecture,
    sweep,
    checkpoint,
    to_server,
    to_window
);

/// Inputs that took new paths through the decoders, kept by `tests/run fuzz`.
#[test]
fn kept_inputs_are_read() {
    for decoder in &DECODERS {
        let folder = tempfile::tempdir().unwrap();
        (decoder.prepare)(folder.path());
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fuzz/kept")
            .join(decoder.name);
        let files: Vec<_> = fs::read_dir(&kept)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert!(!files.is_empty(), "{} is empty", kept.display());
        for file in files {
            survives(
                decoder,
                folder.path(),
                &fs::read(&file).unwrap(),
                &file.display().to_string(),
            );
        }
    }
}
