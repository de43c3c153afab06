//! Every decoder on a kept corpus, mutated in the same ways every time.

use super::memory::most_held;
use super::{check, sound};
use ripplon::engine::{Checkpoint, Engine};
use ripplon::export::{About, Picture, png};
use ripplon::physics::Expression;
use ripplon::physics::expression::SPACE;
use ripplon::solver;
use std::fs;
use std::path::Path;
use std::sync::Arc;

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

/// Reads every mutant; none may panic or hold more than [`MOST`].
fn survives(name: &str, bytes: &[u8], read: impl Fn(&[u8])) {
    for seed in 0..mutants() {
        let own = mutant(bytes, seed);
        let ((), held) = most_held(|| read(&own));
        assert!(held < MOST, "{name}, mutant {seed}: {held} bytes");
    }
}

/// Mutates a file that a scene names.
fn file_of_scene(name: &str, bytes: &[u8], scene: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    fs::write(&path, sound(scene)).unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    check(&path).unwrap_or_else(|faults| panic!("{faults}"));
    survives(name, bytes, |own| {
        fs::write(folder.path().join(name), own).unwrap();
        let _ = check(&path);
    });
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn picture(folder: &Path, scene: Option<String>) -> Vec<u8> {
    let path = folder.join("picture.png");
    let picture = Picture::filled(24, 16, [200, 100, 50]);
    let about = About {
        title: "A picture".to_owned(),
        scene,
        comment: "of nothing".to_owned(),
    };
    png::save(&path, &picture, &about).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn arrays() {
    let values: Vec<u8> = (0..64).flat_map(|_| 300f32.to_le_bytes()).collect();
    let layer = "[[layer]]\nsets = \"speed\"\nshape = \"array\"\nfile = \"a.npy\"";
    file_of_scene("a.npy", &npy("<f4", "(8, 8)", &values), layer);
}

#[test]
fn pictures() {
    let folder = tempfile::tempdir().unwrap();
    let layer = "[[layer]]\nsets = \"speed\"\nshape = \"image\"\nfile = \"a.png\"\nvalue = 300.0";
    file_of_scene("a.png", &picture(folder.path(), None), layer);
}

#[test]
fn sounds() {
    let mut wav = b"RIFF\x54\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x30\x00\x00\x00".to_vec();
    wav.extend((0..48).map(|n: u8| n.wrapping_mul(37)));
    let source = "[[source]]\nat = [5.0, 5.0]\nsignal = \"file\"\nfile = \"a.wav\"";
    file_of_scene("a.wav", &wav, source);
}

#[test]
fn scenes_in_pictures_and_films() {
    let folder = tempfile::tempdir().unwrap();
    let scene = sound("");
    let png = picture(folder.path(), Some(scene.clone()));
    let mut film = b"\x00\x00\x00\x10ftypisom\x00\x00\x00\x00".to_vec();
    film.extend(ripplon::scene::embedded::mp4_box(&scene));
    for (name, bytes) in [("a.png", png), ("a.mp4", film)] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        check(&path).unwrap_or_else(|faults| panic!("{faults}"));
        survives(name, &bytes, |own| {
            fs::write(&path, own).unwrap();
            let _ = check(&path);
        });
    }
}

#[test]
fn scene_texts() {
    let text = sound(
        "[[layer]]\nsets = \"speed\"\nshape = \"disk\"\ncenter = [4.0, 4.0]\nradius = 2.0\nvalue = \"300 + 10*cos(x)*exp(-y)\"",
    );
    survives("scene", text.as_bytes(), |own| {
        let _ = solver::read_scene_text(&String::from_utf8_lossy(own), None, &[]);
    });
}

#[test]
fn formulas() {
    let text = "300 + 10*cos(2*pi*x)^2*exp(-(y - 1e3)/4) + sqrt(abs(z))*(x > 1)";
    survives("formula", text.as_bytes(), |own| {
        if let Ok(formula) = Expression::parse(&String::from_utf8_lossy(own), SPACE) {
            let _ = formula.eval(&[1.0, 2.0, 3.0, 4.0]);
        }
    });
}

#[test]
fn checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.ripplon");
    let (_, scenario) = solver::read_scene_text(&sound(""), None, &[]).unwrap();
    let mut run = Engine::new(Arc::new(scenario)).unwrap();
    run.advance(3).unwrap();
    run.save_checkpoint(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    Checkpoint::read(&path).unwrap();
    survives("checkpoint", &bytes, |own| {
        fs::write(&path, own).unwrap();
        let _ = Checkpoint::read(&path);
        // With its sum made right, what is behind it is read as well.
        if let Some(end) = own.len().checked_sub(4) {
            let mut right = own[..end].to_vec();
            right.extend(crc(&own[..end]).to_le_bytes());
            fs::write(&path, right).unwrap();
            let _ = Checkpoint::read(&path);
        }
    });
}

/// CRC-32 (ISO 3309), bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xEDB8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}
