//! Films and numbered pictures: decoded again, cancelled, replaced.

use super::{decode_png, names, pattern, scenario, scene, script, shoot};
use ripplon::colormap;
use ripplon::engine::Engine;
use ripplon::export::film::{self, FilmError, Shot};
use ripplon::export::pair::{Pair, Show};
use ripplon::export::{self, About, ExportError, FilmWriter, Look, Painter, Picture, Progress};
use ripplon::scene::Scenario;
use ripplon::scene::embedded::{mp4_box, scene_in};
use std::fs::{self, File};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

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

/// A film of a packet whose norm is predicted, as numbered pictures: `pictures` of the run, and half a second of each card.
fn with_cards(folder: &TempDir, size: [usize; 2], pictures: u32) -> Vec<Picture> {
    use ripplon::engine::Engine;
    use ripplon::export::Painter;
    use ripplon::export::film::{self, Script};
    let text = "format = 1\ntitle = \"A packet\"\n[grid]\nsize = [48, 24]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
                [[packet]]\ncenter = [20.0, 12.0]\nwidth = [3.0]\nmomentum = [0.5, 0.0]\n\
                [[note]]\nat = 0.0\ntext = \"Here.\"\nmark = { center = [20.0, 12.0], radius = 6.0 }\n\
                [[expect]]\nobservable = \"norm\"\nat = 0.5\nvalue = 1.0\ntolerance = 0.001\n";
    let scene = super::scenario(text);
    let mut engine = Engine::new(scene.clone()).unwrap();
    let look = Look {
        size: Some(size),
        overlay: true,
        ..Look::of(&scene)
    };
    let mut painter = Painter::new(scene, &look, 0.1).unwrap();
    assert_eq!(painter.size(), size);
    let script = Script {
        to: 1.0,
        pictures,
        fps: 4.0,
        title: 0.5,
        end: 0.5,
        ..Script::default()
    };
    assert_eq!(script.all_pictures(), pictures + 4);
    let progress = Progress::new(u64::from(script.all_pictures()));
    let out = folder.path().join("film/");
    let writer = export::create(&out, painter.size(), script.fps, &About::default()).unwrap();
    film::shoot(&mut engine, &mut painter, writer, &script, &progress).unwrap();
    assert_eq!(progress.done(), progress.total());
    let mut files: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| decode_png(file)).collect()
}

/// How many pixels differ between two pictures.
fn apart(a: &Picture, b: &Picture) -> usize {
    a.rgb.chunks(3).zip(b.rgb.chunks(3)).filter(|(a, b)| a != b).count()
}

#[test]
fn cards_stand_before_and_after_the_run() {
    let dir = TempDir::new().unwrap();
    let pictures = with_cards(&dir, [320, 180], 3);
    assert_eq!(pictures.len(), 7);
    assert_eq!(pictures[0], pictures[1], "the title stands still");
    assert_eq!(pictures[5], pictures[6], "and so does what was measured");
    assert!(apart(&pictures[1], &pictures[2]) > 1000 && apart(&pictures[4], &pictures[5]) > 1000);
    assert!(apart(&pictures[0], &pictures[6]) > 300, "two cards, two texts");
    // Words on a plain ground: most of a card is of one colour.
    for card in [&pictures[0], &pictures[6]] {
        let ground = card.at(0, 0);
        let plain = card.rgb.chunks(3).filter(|pixel| *pixel == ground).count();
        assert!((40_000..57_000).contains(&plain), "{plain} of 57600");
    }
}

#[test]
fn upright_films_have_the_field_over_their_width() {
    let dir = TempDir::new().unwrap();
    let pictures = with_cards(&dir, [270, 480], 2);
    let [start, end] = [&pictures[2], &pictures[3]];
    let ground = start.at(0, 0);
    // What changes from the first to the last picture within the middle rows reaches over most of the width: the packet and its field.
    let rows: Vec<usize> = (0..480)
        .filter(|y| (0..270).any(|x| start.at(x, *y) != ground))
        .collect();
    assert!(*rows.first().unwrap() > 20 && *rows.last().unwrap() < 470, "{rows:?}");
    let full = (0..480)
        .filter(|y| start.at(1, *y) != ground && start.at(268, *y) != ground)
        .count();
    assert!((120..=140).contains(&full), "a field of 270 × 135 pixels: {full} rows");
    assert!(apart(start, end) > 50);
}

/// Keeps the pictures of a film.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Picture>>>);

impl FilmWriter for Kept {
    fn push(&mut self, picture: &Picture) -> Result<(), ExportError> {
        self.0.lock().unwrap().push(picture.clone());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

/// Three pictures of a run.
fn three(scene: &Arc<Scenario>, painter: &mut dyn Shot) -> Vec<Picture> {
    let mut engine = Engine::new(Arc::clone(scene)).unwrap();
    let kept = Kept::default();
    let writer = Box::new(kept.clone());
    film::shoot(&mut engine, painter, writer, &script(3), &Progress::default()).unwrap();
    let pictures = kept.0.lock().unwrap().clone();
    assert_eq!(pictures.len(), 3);
    pictures
}

/// Two runs side by side are the pictures of either one; their difference is empty where they are the same.
#[test]
fn two_runs_in_one_picture() {
    let first = scene("48, 30");
    let finer = first.file().to_toml().replace("step = 0.1", "step = 0.05");
    let finer = scenario(&finer);
    let sized = |size| Look {
        size: Some(size),
        ..Look::of(&first)
    };
    let pair = |other: &Arc<Scenario>, show| {
        let mut pair = Pair::new(&first, Arc::clone(other), &sized([324, 100]), 0.1, show).unwrap();
        three(&first, &mut pair)
    };
    let alone = three(
        &first,
        &mut Painter::new(Arc::clone(&first), &sized([160, 100]), 0.1).unwrap(),
    );
    for (both, one) in pair(&first, Show::Beside).iter().zip(&alone) {
        assert_eq!([both.width, both.height], [324, 100]);
        for (x, y) in (0..100).flat_map(|y| (0..160).map(move |x| (x, y))) {
            assert_eq!(both.at(x, y), one.at(x, y), "the first at {x}, {y}");
            assert_eq!(both.at(164 + x, y), one.at(x, y), "the second at {x}, {y}");
        }
    }
    let same = pair(&first, Show::Difference);
    assert!(same.iter().all(|picture| *picture == same[0]), "nothing is apart");
    let apart = pair(&finer, Show::Difference);
    assert!(apart[0] == same[0], "both begin alike, but for rounding");
    let differs = apart[2].rgb.iter().zip(&same[2].rgb).filter(|(a, b)| a != b).count();
    assert!(differs > 1000, "{differs}");
}

/// Cards of two runs stand where their pictures do, each with its own title.
#[test]
fn two_runs_have_a_card_each() {
    let first = scene("48, 30");
    let other = scenario(&first.file().to_toml().replace("A packet", "Another packet"));
    let sized = |size| Look {
        size: Some(size),
        ..Look::of(&first)
    };
    let card = |scene: &Arc<Scenario>, size| {
        let mut alone = Painter::new(Arc::clone(scene), &sized(size), 0.1).unwrap();
        Shot::title_card(&mut alone, &Engine::new(Arc::clone(scene)).unwrap());
        alone.picture().clone()
    };
    let engine = Engine::new(Arc::clone(&first)).unwrap();
    let pair = |show| {
        let mut pair = Pair::new(&first, Arc::clone(&other), &sized([644, 360]), 0.1, show).unwrap();
        pair.title_card(&engine);
        pair.picture().clone()
    };
    let both = pair(Show::Beside);
    let halves = [card(&first, [320, 360]), card(&other, [320, 360])];
    assert!(apart(&halves[0], &halves[1]) > 50);
    for (x, y) in (0..360).flat_map(|y| (0..320).map(move |x| (x, y))) {
        assert_eq!(both.at(x, y), halves[0].at(x, y), "{x} {y}");
        assert_eq!(both.at(324 + x, y), halves[1].at(x, y), "{x} {y}");
    }
    // Of a difference there is one, as large as its pictures.
    assert!(pair(Show::Difference) == card(&other, [644, 360]));
}

/// The difference of two runs is that at one time, whatever their steps: of a method that is exact in time there is none.
#[test]
fn a_difference_is_taken_at_one_time() {
    let text = scene("48, 30").file().to_toml();
    let exact = text.replace(
        "[time]",
        "[solver]\nmethod = \"chebyshev\"\nprecision = \"double\"\n\n[time]",
    );
    let first = scenario(&exact);
    let auto = scenario(&exact.replace("step = 0.1\n", ""));
    assert_eq!((first.time().step, auto.time().step), (Some(0.1), None));
    let look = Look {
        size: Some([160, 100]),
        ..Look::of(&first)
    };
    let pair = |other: &Arc<Scenario>| Pair::new(&first, Arc::clone(other), &look, 0.1, Show::Difference);
    let same = three(&first, &mut pair(&first).unwrap());
    assert!(three(&first, &mut pair(&auto).unwrap()) == same);
    // A step that is given stays as it is.
    for (step, advice) in [("0.07", "time.step = 0.05"), ("0.2", "time.step = 0.1 ")] {
        let other = scenario(&exact.replace("step = 0.1\n", &format!("step = {step}\n")));
        let said = pair(&other).err().unwrap().to_string();
        assert!(said.contains("not a whole part") && said.contains(advice), "{said}");
        assert!(Pair::new(&first, other, &look, 0.1, Show::Beside).is_ok());
    }
}

#[test]
fn runs_of_other_fields_are_no_pair() {
    let (first, other) = (scene("48, 30"), scene("40, 30"));
    let made = Pair::new(&first, other, &Look::of(&first), 0.1, Show::Beside);
    assert!(made.err().unwrap().to_string().contains("one field"));
}
