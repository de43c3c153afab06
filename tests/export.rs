//! What is exported is what was computed: files are decoded again and their colours compared, cancelled runs leave nothing.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail them")]

use num_complex::Complex;
use ripplon::colormap;
use ripplon::engine::Engine;
use ripplon::export::film::{self, FilmError, Script};
use ripplon::export::{self, About, ExportError, Format, Look, LookError, Painter, Picture, Progress};
use ripplon::field::FieldData;
use ripplon::grid::Grid;
use ripplon::scene::embedded::{mp4_box, scene_in};
use ripplon::scene::scenario::Quantity;
use ripplon::scene::{Scenario, presets};
use ripplon::solver;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn scenario(text: &str) -> Arc<Scenario> {
    Arc::new(solver::read_scene_text(text, None, &[]).unwrap().1)
}

/// A packet over a faint barrier beside a wall: `size` is the grid's, e.g. `48, 30`.
fn scene(size: &str) -> Arc<Scenario> {
    let rank = size.split(',').count();
    let each = |value: &str| vec![value; rank].join(", ");
    scenario(&format!(
        "format = 1\ntitle = \"A packet\"\n[grid]\nsize = [{size}]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [{}]\nwidth = [{}]\nmomentum = [{}]\n\
         [[layer]]\nsets = \"potential\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\nvalue = 0.2\n\
         [[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [{}]\nmax = [{}]\n",
        each("8.0"),
        each("3.0"),
        each("0.8"),
        each("2.0"),
        each("4.0"),
        each("13.0"),
        each("14.0"),
    ))
}

fn script(pictures: u32) -> Script {
    Script {
        from: 0.0,
        to: 1.0,
        pictures,
        fps: 30.0,
    }
}

fn shoot(scene: &Arc<Scenario>, look: &Look, out: &Path, pictures: u32, progress: &Progress) -> Result<(), FilmError> {
    let mut engine = Engine::new(Arc::clone(scene))?;
    let mut painter = Painter::new(Arc::clone(scene), look, 0.1).unwrap();
    let writer = export::create(out, painter.size(), 30.0, &About::default())?;
    film::shoot(&mut engine, &mut painter, writer, &script(pictures), progress)
}

/// What the painter makes of the scene's last picture.
fn painted(scene: &Arc<Scenario>, look: &Look) -> (Picture, Painter) {
    let mut engine = Engine::new(Arc::clone(scene)).unwrap();
    engine.advance(10).unwrap();
    let mut painter = Painter::new(Arc::clone(scene), look, 0.1).unwrap();
    let mut image = solver::FieldImage::default();
    engine.image(painter.request(), &mut image).unwrap();
    let picture = painter.paint(&image, &engine.clock(), 0.0).clone();
    (picture, painter)
}

fn decode_png(path: &Path) -> Picture {
    let mut reader = png::Decoder::new(std::io::BufReader::new(File::open(path).unwrap()))
        .read_info()
        .unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    Picture {
        width: info.width as usize,
        height: info.height as usize,
        rgb,
    }
}

/// Names in a directory, hidden ones as well.
fn names(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A picture of few colours in which every row and column differs.
fn pattern(width: usize, height: usize, shift: usize) -> Picture {
    let mut picture = Picture::filled(width, height, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let n = (x * x / 7 + y * 3 + shift) % 200;
            picture.set(x, y, colormap::find("viridis").unwrap().table()[n]);
        }
    }
    picture
}

#[test]
fn png_keeps_every_colour_and_carries_its_scene() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.png");
    let picture = pattern(37, 21, 0);
    let about = About {
        title: "ψ".to_owned(),
        scene: Some("format = 1\ntitle = \"ψ ein Wort\"\n".to_owned()),
        comment: String::new(),
    };
    export::png::save(&path, &picture, &about).unwrap();
    assert_eq!(decode_png(&path), picture);
    assert_eq!(scene_in(&path).unwrap(), about.scene);
    export::png::save(&path, &picture, &About::default()).unwrap();
    assert_eq!(scene_in(&path).unwrap(), None);
    assert_eq!(names(&dir), ["a.png"]);
}

#[test]
fn gif_is_lossless_up_to_256_colours_and_keeps_time() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.gif");
    let pictures: Vec<Picture> = (0..7).map(|n| pattern(33, 18, 5 * n)).collect();
    let mut writer = export::create(&path, [33, 18], 30.0, &About::default()).unwrap();
    for picture in &pictures {
        writer.push(picture).unwrap();
    }
    writer.finish().unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
    let mut delays = Vec::new();
    let mut seen = 0;
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        let rgb: Vec<u8> = frame.buffer.chunks(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
        assert_eq!(rgb, pictures[seen].rgb, "picture {seen}");
        delays.push(frame.delay);
        seen += 1;
    }
    assert_eq!(seen, 7);
    // 7/30 s in hundredths, rounded once.
    assert_eq!(delays.iter().sum::<u16>(), 23);
}

#[test]
fn gif_comes_close_beyond_256_colours() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.gif");
    let map = colormap::find("hue").unwrap();
    let mut picture = Picture::filled(120, 80, [0; 3]);
    for y in 0..80u8 {
        for x in 0..120u8 {
            let color = colormap::phase_color(map, f32::from(x) / 19.0, f32::from(y) / 79.0);
            picture.set(usize::from(x), usize::from(y), color);
        }
    }
    let mut writer = export::create(&path, [120, 80], 30.0, &About::default()).unwrap();
    writer.push(&picture).unwrap();
    writer.finish().unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
    let frame = decoder.read_next_frame().unwrap().unwrap();
    let mut square = 0.0;
    for (p, q) in frame.buffer.chunks(4).zip(picture.rgb.chunks(3)) {
        square += (0..3).map(|c| (f64::from(p[c]) - f64::from(q[c])).powi(2)).sum::<f64>();
    }
    // 256 colours spread evenly over the surface that the picture's colours form stand √(area/256) = d apart, and the nearest is off by
    // d/√12 in each of two directions: d/√18 in the mean of three channels. A good palette comes within half as much again.
    let side = |x: usize, y: usize, dx: usize, dy: usize| {
        let (p, q) = (picture.at(x, y), picture.at(x + dx, y + dy));
        std::array::from_fn::<f64, 3, _>(|c| f64::from(q[c]) - f64::from(p[c]))
    };
    let mut area = 0.0;
    for y in 0..79 {
        for x in 0..119 {
            let (u, v) = (side(x, y, 1, 0), side(x, y, 0, 1));
            let cross = |a: usize, b: usize| (u[a] * v[b] - u[b] * v[a]).powi(2);
            area += (cross(1, 2) + cross(2, 0) + cross(0, 1)).sqrt();
        }
    }
    let even = (area / 256.0 / 18.0).sqrt();
    let rms = (square / (3.0 * 9600.0)).sqrt();
    assert!(rms < 1.5 * even, "rms {rms}, evenly spread {even}");
}

#[cfg(feature = "h264")]
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

/// Films cut short, or with any byte of their boxes' headers changed, give an answer or an error, and never much more than the file holds.
#[test]
fn broken_films_are_read_without_harm() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.mp4");
    let scene = "format = 1\n";
    let mut whole = b"\0\0\0\x10ftypisom\0\0\0\0".to_vec();
    whole.extend(b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x14abcd");
    whole.extend(mp4_box(scene));
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        scene_in(&path)
    };
    assert_eq!(read(&whole).unwrap().as_deref(), Some(scene));
    for length in 0..whole.len() {
        assert_ne!(read(&whole[..length]).ok().flatten().as_deref(), Some(scene));
    }
    for place in 0..whole.len() - scene.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[place] = value;
            if let Ok(Some(text)) = read(&bytes) {
                assert!(text.len() <= scene.len(), "byte {place} = {value}");
            }
        }
    }
    assert!(read(b"\0\0\0\x10moovisom\0\0\0\0").is_err());
}

/// BT.601 or BT.709 in limited range, written down again from the standards.
#[cfg(feature = "h264")]
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
#[cfg(feature = "h264")]
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

#[cfg(feature = "h264")]
fn number(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// Every picture as it is stored: lengths, then NAL units.
#[cfg(feature = "h264")]
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

#[cfg(feature = "h264")]
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
#[cfg(feature = "h264")]
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

#[test]
fn npy_has_the_right_type_and_shape() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("psi.npy");
    let grid = Grid::new(&[4, 3, 2], 1.0);
    let values: Vec<Complex<f32>> = (0..24u8).map(|n| Complex::new(f32::from(n), -f32::from(n))).collect();
    export::npy::save(&path, &grid, &FieldData::Complex64(values)).unwrap();
    let read: ndarray::Array3<Complex<f32>> = ndarray_npy::read_npy(&path).unwrap();
    // C order, x last: site (i, j, k) is [k, j, i].
    assert_eq!(read.dim(), (2, 3, 4));
    assert_eq!(read[[1, 2, 3]], Complex::new(23.0, -23.0));
    assert_eq!(read[[0, 1, 2]], Complex::new(6.0, -6.0));
    export::npy::save(&path, &Grid::new(&[3], 1.0), &FieldData::Float64(vec![1.0, 0.1, -2.5])).unwrap();
    let read: ndarray::Array1<f64> = ndarray_npy::read_npy(&path).unwrap();
    assert_eq!(read.to_vec(), [1.0, 0.1, -2.5]);
    let wrong = export::npy::save(&path, &Grid::new(&[4], 1.0), &FieldData::Float32(vec![0.0; 3]));
    assert!(matches!(wrong, Err(ExportError::Encoder { .. })));
}

#[test]
fn csv_gives_the_same_doubles_back() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.csv");
    let rows = [[0.1, 1.0 / 3.0, 1e-300], [f64::MAX, -0.0, 6.02e23]];
    let mut table = export::csv::CsvWriter::create(&path, &["t", "a,b", "c"]).unwrap();
    for row in &rows {
        table.row(row).unwrap();
    }
    assert!(table.row(&[1.0]).is_err());
    assert!(!path.exists(), "it appears when it is complete");
    table.finish().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t,\"a,b\",c"));
    for (line, row) in lines.zip(&rows) {
        let read: Vec<u64> = line.split(',').map(|v| v.parse::<f64>().unwrap().to_bits()).collect();
        assert_eq!(read, row.map(f64::to_bits));
    }
}

#[test]
fn a_cancelled_film_leaves_nothing_and_keeps_what_was_there() {
    let scene = scene("40, 24");
    let look = Look::of(&scene);
    for name in ["a.png", "a.gif", "a.mp4", "frames/"] {
        if name == "a.mp4" && !cfg!(feature = "h264") {
            continue;
        }
        let dir = TempDir::new().unwrap();
        let path = dir.path().join(name);
        let progress = Progress::new(6);
        progress.cancel();
        let result = shoot(&scene, &look, &path, 6, &progress);
        assert!(
            matches!(result, Err(FilmError::Export(ExportError::Cancelled))),
            "{name}"
        );
        assert_eq!(names(&dir), [""; 0], "{name}");
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.gif");
    fs::write(&path, "older").unwrap();
    let progress = Progress::new(6);
    progress.cancel();
    assert!(shoot(&scene, &look, &path, 6, &progress).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"older");
}

#[test]
fn a_shorter_sequence_replaces_a_longer_one() {
    let scene = scene("20, 16");
    let look = Look::of(&scene);
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("film/");
    shoot(&scene, &look, &path, 5, &Progress::new(5)).unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    shoot(&scene, &look, &path, 3, &Progress::new(3)).unwrap();
    let mut names: Vec<String> = fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["frame_00000.png", "frame_00001.png", "frame_00002.png", "notes.txt"]
    );
    assert_ne!(
        decode_png(&path.join("frame_00000.png")),
        decode_png(&path.join("frame_00002.png"))
    );
}

#[test]
fn wrong_places_and_names_are_explained() {
    let dir = TempDir::new().unwrap();
    for name in ["film.avi", "film", "film.png.txt"] {
        let error = Format::of(&dir.path().join(name)).unwrap_err();
        assert!(error.is_input() && error.to_string().contains(".png"), "{error}");
    }
    assert_eq!(Format::of(Path::new("A.PNG")).unwrap(), Format::Png);
    assert_eq!(Format::of(dir.path()).unwrap(), Format::Sequence);
    let nowhere = dir.path().join("no/such/a.png");
    let Err(error) = export::create(&nowhere, [8, 8], 30.0, &About::default()) else {
        panic!("written to a directory that is not there");
    };
    assert!(error.to_string().contains("does not exist"), "{error}");
    let huge = export::create(&dir.path().join("a.gif"), [70_000, 8], 30.0, &About::default());
    assert!(matches!(huge, Err(ExportError::Size { .. })));
    let fast = export::create(&dir.path().join("a.gif"), [8, 8], 100.0, &About::default());
    assert!(matches!(fast, Err(ExportError::Rate { .. })));
    assert_eq!(names(&dir), [""; 0]);
}

#[test]
fn a_picture_has_exactly_the_colours_of_its_map() {
    let scene = scenario(
        "format = 1\n[grid]\nsize = [32, 20]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [16.0, 10.0]\nwidth = [3.0, 3.0]\n",
    );
    let (picture, _) = painted(&scene, &Look::of(&scene));
    let table = colormap::find("viridis").unwrap().table();
    let in_table = |pixel: &[u8]| table.iter().any(|color| color == pixel);
    assert!(picture.rgb.chunks(3).all(in_table));
    // The field at rest in the middle: its largest value has the last entry, the far corner the first.
    assert!(picture.rgb.chunks(3).any(|pixel| pixel == table[255]));
    assert_eq!(picture.at(0, 0), table[0]);
    // Row 0 of the field is the lowest row of the picture: a packet low in the grid is low in the picture.
    let low = scenario(
        "format = 1\n[grid]\nsize = [32, 32]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [24.0, 6.0]\nwidth = [2.0, 2.0]\n",
    );
    let (picture, _) = painted(&low, &Look::of(&low));
    let brightest = (0..picture.height * picture.width)
        .max_by_key(|n| u32::from(picture.rgb[3 * n]) + u32::from(picture.rgb[3 * n + 1]))
        .unwrap();
    let (x, y) = (brightest % picture.width, brightest / picture.width);
    assert!(x > picture.width / 2 && y > picture.height / 2, "{x} {y}");
}

#[test]
fn proportions_are_kept_at_any_size() {
    for size in ["48, 30", "300, 20", "30, 52, 20"] {
        let scene = scene(size);
        let [nx, ny, _] = scene.grid().size();
        for overlay in [false, true] {
            for pixels in [[641, 359], [333, 777], [1001, 1001]] {
                let look = Look {
                    size: Some(pixels),
                    overlay,
                    ..Look::of(&scene)
                };
                let (picture, painter) = painted(&scene, &look);
                assert_eq!([picture.width, picture.height], pixels);
                let field = painter.field();
                assert!(field.x + field.width <= pixels[0] && field.y + field.height <= pixels[1]);
                // Both sides are whole pixels, each rounded by at most half a one.
                let off = (field.width * ny).abs_diff(field.height * nx);
                assert!(2 * off <= nx.max(ny), "{size} in {pixels:?}: {field:?}");
            }
        }
    }
}

#[test]
fn every_rank_quantity_and_map_can_be_painted() {
    for size in ["50", "48, 30", "18, 20, 22"] {
        let scene = scene(size);
        for quantity in [Quantity::Density, Quantity::Phase, Quantity::Real, Quantity::Imaginary] {
            for map in &colormap::COLORMAPS {
                let look = Look {
                    quantity,
                    colormap: map.id.to_owned(),
                    size: Some([321, 203]),
                    overlay: true,
                    ..Look::of(&scene)
                };
                let fits = (map.kind == colormap::Kind::Cyclic) == (quantity == Quantity::Phase);
                match Painter::new(Arc::clone(&scene), &look, 0.1) {
                    Ok(_) if fits => {
                        let (picture, _) = painted(&scene, &look);
                        let first = picture.at(0, 0);
                        assert!(
                            picture.rgb.chunks(3).any(|pixel| pixel != first),
                            "nothing but one colour"
                        );
                    }
                    Err(LookError::Colormap(_)) if !fits => {}
                    other => panic!("{size} {quantity:?} {}: {:?}", map.id, other.err()),
                }
            }
        }
    }
}

#[test]
fn a_plane_of_a_volume_can_be_chosen() {
    let scene = scene("18, 20, 22");
    let at = |plane| Look {
        plane,
        ..Look::of(&scene)
    };
    assert_eq!(painted(&scene, &at(None)).0, painted(&scene, &at(Some(11))).0);
    // The walls are different there, and the range is the plane's own.
    assert_ne!(painted(&scene, &at(Some(8))).0, painted(&scene, &at(Some(13))).0);
    let wrong = Painter::new(Arc::clone(&scene), &at(Some(22)), 0.1).err();
    assert_eq!(wrong, Some(LookError::Plane { plane: 22, last: 21 }));
}

#[test]
fn presets_can_be_painted_at_odd_sizes() {
    for preset in presets::all() {
        let scene = scenario(preset.text);
        let look = Look {
            size: Some([517, 333]),
            overlay: true,
            ..Look::of(&scene)
        };
        // At the start: what is drawn around the field is the preset's own.
        let mut engine = Engine::new(Arc::clone(&scene)).unwrap();
        let mut painter = Painter::new(Arc::clone(&scene), &look, engine.clock().time_step).unwrap();
        let mut image = solver::FieldImage::default();
        engine.image(painter.request(), &mut image).unwrap();
        let picture = painter.paint(&image, &engine.clock(), 0.0);
        assert_eq!((picture.width, picture.height), (517, 333), "{}", preset.name);
    }
}

#[test]
fn the_command_renders_and_a_picture_finds_its_scene() {
    let dir = TempDir::new().unwrap();
    let scene = dir.path().join("scene.toml");
    fs::write(
        &scene,
        "format = 1\ntitle = \"Small\"\n[grid]\nsize = [24, 16]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [12.0, 8.0]\nwidth = [3.0, 3.0]\n",
    )
    .unwrap();
    let ripplon = || assert_cmd::Command::cargo_bin("ripplon").unwrap();
    let picture = dir.path().join("a.png");
    ripplon()
        .args(["render"])
        .args([&scene, &picture])
        .args(["--size", "301x203", "--overlay", "--set", "time.end=0.5"])
        .assert()
        .success();
    let decoded = decode_png(&picture);
    assert_eq!((decoded.width, decoded.height), (301, 203));
    let embedded = scene_in(&picture).unwrap().unwrap();
    let read = scenario(&embedded);
    assert_eq!(read.title(), "Small");
    assert_eq!(read.time().end, Some(0.5), "with what was overridden");
    for (out, arguments) in [
        ("b.avi", &[][..]),
        ("b.png", &["--size", "3x3"]),
        ("b.png", &["--quantity", "pressure"]),
        ("b.png", &["--colormap", "nothing"]),
        ("b.png", &["--plane", "1"]),
        ("b.gif", &["--fps", "0"]),
        ("no/b.png", &[]),
    ] {
        ripplon()
            .arg("render")
            .args([&scene, &dir.path().join(out)])
            .args(arguments)
            .assert()
            .code(2);
    }
    assert_eq!(names(&dir), ["a.png", "scene.toml"]);
}

#[test]
fn bench_writes_exactly_the_promised_keys() {
    let dir = TempDir::new().unwrap();
    let json = dir.path().join("bench.json");
    assert_cmd::Command::cargo_bin("ripplon")
        .unwrap()
        .args([
            "bench",
            "--quick",
            "--method",
            "trotter",
            "--precision",
            "single",
            "--size",
            "32x32",
            "--json",
        ])
        .arg(&json)
        .assert()
        .success();
    let entries: serde_json::Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let entries = entries.as_array().unwrap();
    assert!(!entries.is_empty());
    let mut promised = [
        "method",
        "variant",
        "backend",
        "precision",
        "order",
        "size",
        "threads",
        "site_steps_per_s",
        "share_of_copy",
        "share_of_fma",
        "min",
        "max",
    ];
    promised.sort_unstable();
    for entry in entries {
        let mut keys: Vec<&String> = entry.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(keys, promised.iter().collect::<Vec<_>>());
        assert_eq!(entry["size"], serde_json::json!([32, 32]));
        for number in ["site_steps_per_s", "share_of_copy", "share_of_fma", "min", "max"] {
            assert!(entry[number].as_f64().unwrap() > 0.0, "{number}");
        }
    }
}

#[test]
fn selftest_passes_and_names_what_it_checked() {
    let output = assert_cmd::Command::cargo_bin("ripplon")
        .unwrap()
        .args(["selftest", "--backend", "cpu"])
        .assert()
        .success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    for method in solver::METHODS
        .iter()
        .filter(|m| m.equation == ripplon::physics::Equation::Schrodinger)
    {
        assert!(text.contains(method.id), "{}", method.id);
    }
}

/// Every picture as it was, with the scene and the number of pictures in the head.
#[test]
fn animated_pngs_keep_every_pixel() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("film.apng");
    let about = About {
        title: "A film".to_owned(),
        scene: Some("format = 1".to_owned()),
        comment: String::new(),
    };
    let mut writer = export::create(&path, [5, 3], 25.0, &about).unwrap();
    let picture = |n: u8| {
        let mut picture = Picture::filled(5, 3, [n, 0, 255 - n]);
        picture.set(2, 1, [1, 2, n]);
        picture
    };
    for n in 0..4 {
        writer.push(&picture(n)).unwrap();
    }
    assert!(!path.exists(), "not before it is complete");
    writer.finish().unwrap();
    let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let control = reader.info().animation_control.unwrap();
    assert_eq!((control.num_frames, control.num_plays), (4, 0));
    for n in 0..4 {
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, picture(n).rgb, "picture {n}");
        let frame = reader.info().frame_control.unwrap();
        assert!((f64::from(frame.delay_num) / f64::from(frame.delay_den) - 0.04).abs() < 1e-9);
    }
    assert_eq!(
        ripplon::scene::embedded::scene_in(&path).unwrap().as_deref(),
        Some("format = 1")
    );
    let Err(error) = export::create(&path, [5, 3], 500.0, &about) else {
        panic!("a rate that no delay says");
    };
    assert!(error.is_input(), "{error}");
}

/// A part of the field is the same pixels as in a picture of the whole, but for the neighbours that the interpolation misses at its rim.
#[test]
fn a_part_of_the_field_is_what_the_whole_shows_there() {
    let scene = scene("48, 30");
    let scale = 8;
    let fixed = |size: [usize; 2]| Look {
        size: Some(size.map(|n| n * scale)),
        range: ripplon::scene::scenario::ColorRange::Fixed(0.0, 0.02),
        ..Look::of(&scene)
    };
    let (whole, _) = painted(&scene, &fixed([48, 30]));
    let part = Look {
        region: Some([4..28, 2..20]),
        ..fixed([24, 18])
    };
    let (part, painter) = painted(&scene, &part);
    assert_eq!([part.width, part.height], [24 * scale, 18 * scale]);
    assert_eq!(
        (painter.request().x.clone(), painter.request().y.clone()),
        (4..28, 2..20)
    );
    let rim = 3 * scale;
    let mut seen = std::collections::HashSet::new();
    for y in rim..part.height - rim {
        for x in rim..part.width - rim {
            // Row 0 of a picture is at the upper end.
            let there = whole.at(x + 4 * scale, y + (30 - 20) * scale);
            let here = part.at(x, y);
            // Positions are rounded differently: one entry of the colour table, at most four levels.
            for channel in 0..3 {
                assert!(
                    here[channel].abs_diff(there[channel]) <= 4,
                    "{x} {y}: {here:?} {there:?}"
                );
            }
            seen.insert(here);
        }
    }
    assert!(seen.len() > 20, "there is something to be seen: {}", seen.len());
}
