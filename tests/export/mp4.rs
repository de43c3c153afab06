//! MP4: its boxes and its colours.

use ripplon::colormap;
use ripplon::export::{self, About, Picture};
use ripplon::scene::embedded::scene_in;
use std::fs;
use tempfile::TempDir;

#[test]
fn mp4_shows_nearly_the_same_colours_at_any_size() {
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource;
    let dir = TempDir::new().unwrap();
    for (width, height) in [(97, 61), (64, 48), (40, 722)] {
        let path = dir.path().join("a.mp4");
        // Broad steps: chroma has half the resolution, which is no error of the colours.
        let map = colormap::find("viridis").unwrap().table();
        let mut picture = Picture::filled(width, height, [0; 3]);
        for y in 0..height {
            for x in 0..width {
                picture.set(x, y, map[(x / 16 * 40 + y / 16 * 8) % 256]);
            }
        }
        let about = About {
            scene: Some("format = 1\n# ψ\n".to_owned()),
            ..About::default()
        };
        let mut writer = export::create(&path, [width, height], 30.0, &about).unwrap();
        for _ in 0..5 {
            writer.push(&picture).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(scene_in(&path).unwrap(), about.scene);
        let bytes = fs::read(&path).unwrap();
        let samples = samples(&bytes);
        assert_eq!(samples.len(), 5);
        let mut decoder = Decoder::new().unwrap();
        let headers = parameter_sets(&bytes);
        let mut last = decoder.decode(&headers).unwrap().is_some();
        for sample in &samples {
            let annex_b = annex_b(sample);
            let Some(yuv) = decoder.decode(&annex_b).unwrap() else {
                continue;
            };
            last = true;
            let even = (width.next_multiple_of(2), height.next_multiple_of(2));
            assert_eq!(yuv.dimensions(), even);
            let (stride, chroma, _) = yuv.strides();
            let mut worst = 0.0f64;
            // Centres of the steps, away from their edges.
            for y in (8..height).step_by(16) {
                for x in (8..width).step_by(16) {
                    let sample = [
                        yuv.y()[x + stride * y],
                        yuv.u()[x / 2 + chroma * (y / 2)],
                        yuv.v()[x / 2 + chroma * (y / 2)],
                    ];
                    let rgb = to_rgb(sample, height >= 720);
                    for (shown, wanted) in rgb.iter().zip(picture.at(x, y)) {
                        worst = worst.max((shown - f64::from(wanted)).abs());
                    }
                }
            }
            // Half a step of 8-bit Y′CbCr is up to 2.5 levels of blue; a flat area at quantiser 26 (step 13, on sums of 16 pixels
            // as DC) adds about 13/2/4·... ≈ 2 levels of luma and as much again of chroma.
            assert!(worst < 9.0, "{width} × {height}: {worst} levels off");
        }
        assert!(last, "no picture came out");
    }
}

/// A picture alone would last no time, and players would show nothing: it stands for two seconds.
#[test]
fn a_single_picture_can_be_seen() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.mp4");
    let mut writer = export::create(&path, [64, 48], 10.0, &About::default()).unwrap();
    writer.push(&Picture::filled(64, 48, [90, 20, 20])).unwrap();
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(samples(&bytes).len(), 20);
    let head = find_box(&bytes, &["moov", "mvhd"]);
    // Units of time a second, and how many it lasts.
    assert_eq!(number(head, 16), 2 * number(head, 12));
}

/// BT.601 or BT.709 in limited range, written down again from the standards.
fn to_rgb([y, u, v]: [u8; 3], hd: bool) -> [f64; 3] {
    let luma = (f64::from(y) - 16.0) * 255.0 / 219.0;
    let cb = (f64::from(u) - 128.0) * 255.0 / 224.0;
    let cr = (f64::from(v) - 128.0) * 255.0 / 224.0;
    if hd {
        [luma + 1.5748 * cr, luma - 0.1873 * cb - 0.4681 * cr, luma + 1.8556 * cb]
    } else {
        [
            luma + 1.402 * cr,
            luma - 0.344136 * cb - 0.714136 * cr,
            luma + 1.772 * cb,
        ]
    }
    .map(|value| value.clamp(0.0, 255.0))
}

/// The content of the first box along a path of names.
fn find_box<'a>(mut bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
    'levels: for name in path {
        while bytes.len() >= 8 {
            let size = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
            if &bytes[4..8] == name.as_bytes() {
                // stsd counts its entries before them; a sample entry has 78 bytes before its boxes.
                let skip = match *name {
                    "stsd" => 8,
                    "avc1" => 78,
                    _ => 0,
                };
                bytes = &bytes[8 + skip..size];
                continue 'levels;
            }
            bytes = &bytes[size..];
        }
        panic!("no box {name}");
    }
    bytes
}

fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Every picture as it is stored: lengths, then NAL units.
fn samples(file: &[u8]) -> Vec<&[u8]> {
    let table = ["moov", "trak", "mdia", "minf", "stbl"];
    let sizes = find_box(file, &[&table[..], &["stsz"]].concat());
    let starts = find_box(file, &[&table[..], &["stco"]].concat());
    let chunks = find_box(file, &[&table[..], &["stsc"]].concat());
    let count = number(sizes, 8);
    let per_chunk = number(chunks, 12);
    let mut found = Vec::new();
    let mut at = 0;
    for n in 0..count {
        if n % per_chunk == 0 {
            at = number(starts, 8 + 4 * (n / per_chunk));
        }
        let size = number(sizes, 12 + 4 * n);
        found.push(&file[at..at + size]);
        at += size;
    }
    found
}

fn annex_b(sample: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at + 4 <= sample.len() {
        let size = number(sample, at);
        out.extend([0, 0, 0, 1]);
        out.extend(&sample[at + 4..at + 4 + size]);
        at += 4 + size;
    }
    out
}

/// SPS and PPS of the track's avcC box.
fn parameter_sets(file: &[u8]) -> Vec<u8> {
    let config = find_box(file, &["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1", "avcC"]);
    let short = |at: usize| usize::from(u16::from_be_bytes([config[at], config[at + 1]]));
    let mut out = vec![0, 0, 0, 1];
    let sps = short(6);
    out.extend(&config[8..8 + sps]);
    let at = 8 + sps + 1;
    out.extend([0, 0, 0, 1]);
    out.extend(&config[at + 2..at + 2 + short(at)]);
    out
}
