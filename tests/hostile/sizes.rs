//! Files of a few bytes that ask for gigabytes, files without an end, and names that stand for no file.

use super::memory::most_held;
use super::{check, sound};
use std::fs;
use std::path::Path;

/// Far above what a check of a small scene holds, far below what these files ask for.
const MOST: usize = 64 << 20;

/// A chunk of a PNG.
fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(body);
    let mut sum = u32::MAX;
    for byte in &bytes[4..] {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xEDB8_8320
            } else {
                sum >> 1
            };
        }
    }
    bytes.extend((!sum).to_be_bytes());
    bytes
}

/// zlib data of `count` times the byte `byte`, from stored and run-length blocks: 258 bytes a few bits.
fn zlib_of(count: usize, byte: u8) -> Vec<u8> {
    // One block of fixed Huffman codes: the byte once, then matches of 258 bytes one back (RFC 1951, §3.2.6).
    let (mut bytes, mut bits, mut held) = (vec![0x78, 0x01], 0u64, 0u32);
    let mut put = |value: u64, count: u32, out: &mut Vec<u8>| {
        bits |= value << held;
        held += count;
        while held >= 8 {
            out.push(bits.to_le_bytes()[0]);
            bits >>= 8;
            held -= 8;
        }
    };
    let reversed = |code: u32, count: u32| u64::from(code.reverse_bits() >> (32 - count));
    put(0b011, 3, &mut bytes);
    assert!(byte < 144);
    put(reversed(0x30 + u32::from(byte), 8), 8, &mut bytes);
    for _ in 0..count / 258 {
        // Length 258 is code 285, distance 1 is code 0.
        put(reversed(0b1100_0101, 8), 8, &mut bytes);
        put(0, 5, &mut bytes);
    }
    put(0, 7, &mut bytes);
    put(0, 7, &mut bytes);
    // The sum is left out: a decoder with a limit does not come that far.
    bytes
}

fn png(width: u32, height: u32, depth: u8, before: &[Vec<u8>], data: &[u8]) -> Vec<u8> {
    let mut header = width.to_be_bytes().to_vec();
    header.extend(height.to_be_bytes());
    header.extend([depth, 0, 0, 0, 0]);
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend(chunk(b"IHDR", &header));
    for chunk in before {
        bytes.extend(chunk);
    }
    bytes.extend(chunk(b"IDAT", data));
    bytes.extend(chunk(b"IEND", &[]));
    bytes
}

/// What a check says of a file of faults, in little memory.
#[track_caller]
fn refused(path: &Path, words: &str) {
    let (result, held) = most_held(|| check(path));
    let text = result.unwrap_err().to_string();
    assert!(text.contains(words), "`{words}` is missing in:\n{text}");
    assert!(held < MOST, "{held} bytes");
}

#[test]
fn a_picture_of_half_a_billion_pixels_is_refused_by_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let scene = sound("[[layer]]\nsets = \"speed\"\nshape = \"image\"\nfile = \"bomb.png\"\nvalue = 300.0");
    fs::write(folder.path().join("scene.toml"), scene).unwrap();
    let bomb = png(22_000, 22_000, 1, &[], &zlib_of(22_000 * 2_751, 0));
    assert!(bomb.len() < 500_000);
    fs::write(folder.path().join("bomb.png"), bomb).unwrap();
    refused(&folder.path().join("scene.toml"), "22000 × 22000 pixels");
}

#[test]
fn a_scene_that_unfolds_to_a_quarter_of_a_gigabyte_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.png");
    let mut text = b"ripplon-scene\0\x01\0\0\0".to_vec();
    text.extend(zlib_of(256 << 20, b' '));
    let bomb = png(1, 1, 8, &[chunk(b"iTXt", &text)], &zlib_of(2, 0));
    fs::write(&path, bomb).unwrap();
    refused(&path, "cannot be read");
}

#[test]
fn scenes_are_texts_of_a_bounded_length() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("long.toml"), vec![b'#'; 5 << 20]).unwrap();
    refused(&at("long.toml"), "at most");
    refused(folder.path(), "directory");
    for (name, start, words) in [
        ("film.gif", &b"GIF89a\xff\xff"[..], "a GIF picture"),
        (
            "run.ripplon",
            b"RIPPLON-CHECKPT\n\x01\0\0\0\xff\xff\xff\xff",
            "--resume",
        ),
        ("photo.jpg", b"\xff\xd8\xff\xe0", "a JPEG picture"),
        ("other", b"\xfe\0\0\0\xfe", "a file of bytes"),
        ("latin.toml", b"title = \"\xe4\"", "UTF-8"),
    ] {
        fs::write(at(name), start).unwrap();
        refused(&at(name), words);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    refused(&pipe, "device or a pipe");
    refused(Path::new("/dev/zero"), "device or a pipe");
    for (name, layer) in [
        (
            "a.npy",
            "[[layer]]\nsets = \"speed\"\nshape = \"array\"\nfile = \"a.npy\"",
        ),
        (
            "a.png",
            "[[layer]]\nsets = \"speed\"\nshape = \"image\"\nfile = \"a.png\"\nvalue = 300.0",
        ),
        (
            "a.wav",
            "[[source]]\nat = [5.0, 5.0]\nsignal = \"file\"\nfile = \"a.wav\"",
        ),
    ] {
        let scene = folder.path().join("scene.toml");
        fs::write(&scene, sound(layer)).unwrap();
        std::os::unix::fs::symlink("pipe", folder.path().join(name)).unwrap();
        refused(&scene, "device or a pipe");
    }
    assert!(ripplon::engine::Checkpoint::read(&pipe).is_err());
}
