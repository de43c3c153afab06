//! The sub-commands that write pictures and tables.

use super::{decode_png, names, scenario};
use ripplon::scene::embedded::scene_in;
use ripplon::scene::scenario::ColorRange;
use ripplon::solver;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

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
        ("b.png", &["--view", "volume"]),
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

/// The last card says as `ripplon run` does: a prediction that the file makes of its own physics disagrees there, and is not judged of another one. Only what disagrees is red.
#[test]
fn a_card_does_not_judge_predictions_of_another_scene() {
    let dir = TempDir::new().unwrap();
    let scene = dir.path().join("scene.toml");
    fs::write(
        &scene,
        "format = 1\n[grid]\nsize = [24, 16]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 0.2\n\
         [[packet]]\ncenter = [12.0, 8.0]\nwidth = [3.0, 3.0]\n[[expect]]\nobservable = \"norm\"\nat = 0.2\nvalue = 2.0\ntolerance = 0.1\n",
    )
    .unwrap();
    let red = |name: &str, set: &[&str]| {
        let folder = format!("{}/", dir.path().join(name).display());
        assert_cmd::Command::cargo_bin("ripplon")
            .unwrap()
            .arg("render")
            .arg(&scene)
            .args([
                folder.as_str(),
                "--frames",
                "2",
                "--fps",
                "1",
                "--size",
                "1120x560",
                "--end-card",
            ])
            .args(set)
            .assert()
            .success();
        let mut pictures: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        pictures.sort();
        let card = decode_png(pictures.last().unwrap());
        let is = |color: &[u8], red: [u8; 3]| color.iter().zip(red).all(|(own, red)| own.abs_diff(red) < 8);
        let colors = card.rgb.chunks(3);
        colors
            .filter(|color| is(color, [224, 114, 108]) || is(color, [179, 50, 44]))
            .count()
    };
    assert!(red("own", &[]) > 20);
    assert!(red("steps", &["--set", "time.step=0.05"]) > 20);
    assert_eq!(red("other", &["--set", "packet.0.momentum=[0.5, 0.0]"]), 0);
}

/// A range that was chosen for another quantity is not kept; one that is given is.
#[test]
fn ranges_belong_to_their_quantities() {
    let dir = TempDir::new().unwrap();
    let (scene, picture) = (dir.path().join("scene.toml"), dir.path().join("a.png"));
    fs::write(
        &scene,
        "format = 1\n[grid]\nsize = [24, 16]\nspacing = 1.0\n[quantum]\nmass = 1.0\n[time]\nstep = 0.1\nend = 1.0\n\
         [[packet]]\ncenter = [12.0, 8.0]\nwidth = [3.0, 3.0]\n[view]\nrange = [0.0, 0.5]\n",
    )
    .unwrap();
    for (quantity, set, range) in [
        ("density", None, ColorRange::Fixed(0.0, 0.5)),
        ("peak", None, ColorRange::Auto),
        ("real", Some("view.range=[-1, 2]"), ColorRange::Fixed(-1.0, 2.0)),
    ] {
        assert_cmd::Command::cargo_bin("ripplon")
            .unwrap()
            .args(["render", "--at", "0", "--quantity", quantity])
            .args(set.into_iter().flat_map(|set| ["--set", set]))
            .args([&scene, &picture])
            .assert()
            .success();
        let embedded = scene_in(&picture).unwrap().unwrap();
        assert_eq!(scenario(&embedded).view().range, range, "{quantity}");
    }
}

/// A span of means may be set for the quantity that is asked for.
#[test]
fn a_quantity_is_asked_for_with_its_own_keys() {
    let dir = TempDir::new().unwrap();
    let (scene, picture) = (dir.path().join("scene.toml"), dir.path().join("a.png"));
    fs::write(
        &scene,
        "format = 1\n[grid]\nsize = [24, 16]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 1e-3\n\
         [[pulse]]\ncenter = [1.2, 0.8]\nwidth = 0.3\n",
    )
    .unwrap();
    let render = |quantity: &str| {
        assert_cmd::Command::cargo_bin("ripplon")
            .unwrap()
            .args(["render", "--quantity", quantity, "--set", "view.over=0.002"])
            .args([&scene, &picture])
            .assert()
    };
    render("rms").success();
    render("energy").code(2);
}

/// Notes and theory are of the scene as it is written, and not of other physics; steps are none.
#[test]
fn pictures_of_another_scene_have_no_theory_and_no_notes() {
    let dir = TempDir::new().unwrap();
    let render = |name: &str, words: &str, set: &str| {
        let (scene, picture) = (dir.path().join("scene.toml"), dir.path().join(name));
        fs::write(
            &scene,
            format!(
                "format = 1\n[grid]\nsize = [64]\nspacing = 0.1\n[acoustic]\n[time]\nstep = 1e-4\nend = 1e-3\n\
                 [solver]\nmethod = \"fdtd\"\n[[pulse]]\ncenter = [3.2]\nwidth = 0.4\n{words}"
            ),
        )
        .unwrap();
        assert_cmd::Command::cargo_bin("ripplon")
            .unwrap()
            .args(["render", "--overlay", "--size", "640x400", "--set", set])
            .args([&scene, &picture])
            .assert()
            .success();
        decode_png(&picture).rgb
    };
    let said = "[[note]]\nat = 0.0\ntext = \"A clap.\"\n[[theory]]\ncut = \"x\"\nvalue = \"0.5\"\n";
    // The room for a note that comes later is there, too.
    let later = "[[note]]\nat = 1.0\ntext = \"A clap.\"\n";
    for (set, hidden) in [("acoustic.speed=300", true), ("time.step=5e-5", false)] {
        let same = render("a.png", said, set) == render("b.png", later, set);
        assert_eq!(same, hidden, "{set}");
    }
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

/// What the gallery shows of a preset is what the program draws of it. Kinds of processors round differently: a few levels of 255 in single
/// pixels.
#[test]
fn thumbnails_are_drawn_by_the_program() {
    let dir = TempDir::new().unwrap();
    let ripplon = || assert_cmd::Command::cargo_bin("ripplon").unwrap();
    for preset in ["tube", "pond"] {
        let drawn = dir.path().join(format!("{preset}.png"));
        ripplon()
            .args(["render", preset])
            .arg(&drawn)
            .arg("--thumbnail")
            .assert()
            .success();
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/thumbnails/{preset}.png"));
        let (drawn, stored) = (decode_png(&drawn), decode_png(&stored));
        assert_eq!((drawn.width, drawn.height), (200, 112));
        // Another kind of vectors changes last bits, and with them the palette of 64 colours by some levels.
        let off: usize = (drawn.rgb.iter().zip(&stored.rgb))
            .map(|(a, b)| usize::from(a.abs_diff(*b)))
            .sum();
        assert!(off < 2 * drawn.rgb.len(), "{preset}: {off} levels");
    }
    // The time of the picture is the scene's.
    let at = |cover: &str| {
        let out = dir.path().join("at.png");
        let set = format!("view.cover={cover}");
        ripplon()
            .args(["render", "tube", "--thumbnail", "--set", &set])
            .arg(&out)
            .assert()
            .success();
        decode_png(&out)
    };
    let (first, second) = (at("0"), at("0.002"));
    assert_ne!(first, second);
    // Exposed twice, on a dark ground: what is brighter, but for palettes of 64 colours.
    let both = at("[0.002, 0.0]");
    let brighter = first.rgb.iter().zip(&second.rgb).map(|(a, b)| *a.max(b));
    let off: usize = (both.rgb.iter().zip(brighter))
        .map(|(a, b)| usize::from(a.abs_diff(b)))
        .sum();
    assert!(off < 2 * both.rgb.len(), "{off}");
    for arguments in [
        &["--thumbnail", "--size", "640x480"][..],
        &["--thumbnail", "--set", "view.cover=-1"],
    ] {
        let out = dir.path().join("no.png");
        ripplon()
            .args(["render", "tube"])
            .arg(&out)
            .args(arguments)
            .assert()
            .code(2);
        assert!(!out.exists());
    }
    let film = dir.path().join("no.gif");
    ripplon()
        .args(["render", "tube", "--thumbnail"])
        .arg(&film)
        .assert()
        .code(2);
    ripplon()
        .args(["list", "methods", "--thumbnails"])
        .arg(dir.path())
        .assert()
        .code(2);
}
