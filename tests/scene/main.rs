//! Scene files: presets read, faults say where and what, overrides, files, writing back, mutated presets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail by panicking"
)]

mod bonds;
mod faults;
mod files;
mod limits;
mod mutated;
mod recording;
mod schema;
mod units;
mod written;

use ripplon::physics::Sets;
use ripplon::scene::{Faults, Scenario, SceneFile, presets};
use ripplon::solver;
use std::path::Path;

const FREE: &str = r#"format = 1
title = "Free"

[grid]
size = [64, 32]
spacing = 0.5
edges = "wall"

[quantum]
mass = 1.0

[time]
step = 0.01
end = 1.0

[solver]
method = "trotter"

[[packet]]
center = [10.0, 8.0]
width = [2.0, 2.0]
momentum = [1.0, 0.0]

[[layer]]
sets = "potential"
shape = "box"
min = [20.0, 0.0]
max = [22.0, 15.5]
value = 0.35

[[detector]]
name = "right"
region = { min = [22.0, 0.0], max = [31.5, 15.5] }

[[expect]]
detector = "right"
at = 1.0
value = 0.0
tolerance = 0.01
"#;

const SOUND: &str = r#"format = 1

[grid]
size = [64, 32]
spacing = 0.01

[acoustic]

[time]
step = 1e-6

[[pulse]]
center = [0.1, 0.1]
width = 0.02

[[source]]
at = [0.2, 0.2]
signal = "ricker"
frequency = 1000.0
"#;

fn read(text: &str) -> Result<(SceneFile, Scenario), Faults> {
    solver::read_scene_text(text, None, &[])
}

fn rendered(text: &str) -> String {
    read(text).expect_err(text).to_string()
}

/// `base` with one part replaced, which must be there.
fn with(base: &str, old: &str, new: &str) -> String {
    assert!(base.contains(old), "{old} is in the scene");
    base.replacen(old, new, 1)
}

/// Asserts that a scene has exactly one fault, at a place `line:column`, whose rendering contains all parts.
#[track_caller]
fn fault(text: &str, place: &str, parts: &[&str]) {
    let faults = read(text).expect_err("the scene has a fault");
    let shown = faults.to_string();
    assert_eq!(faults.list.len(), 1, "one fault was expected\n{shown}");
    assert!(
        shown.contains(&format!("--> scene:{place}\n")),
        "not at {place}\n{shown}"
    );
    for part in parts {
        assert!(shown.contains(part), "`{part}` is missing\n{shown}");
    }
    assert!(shown.contains("= help: "), "no remedy\n{shown}");
}

#[test]
fn the_base_scenes_are_valid() {
    for text in [FREE, SOUND] {
        if let Err(faults) = read(text) {
            panic!("{faults}");
        }
    }
}

#[test]
fn presets_are_valid() {
    for preset in presets::all() {
        if let Err(faults) = solver::read_scene(preset.name, &[]) {
            panic!("{faults}");
        }
    }
}

#[test]
fn every_file_in_presets_is_embedded() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(presets::find(&name).is_some(), "{name} is missing in presets.rs");
        }
    }
}

/// Every scene of the reference is whole and valid.
#[test]
fn the_examples_of_the_reference_are_valid() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scene-format.md")).unwrap();
    let mut count = 0;
    for block in text.split("```toml\n").skip(1) {
        let example = block.split("```").next().unwrap();
        if example.starts_with("format = 1") {
            count += 1;
            if let Err(faults) = read(example) {
                panic!("{example}\n{faults}");
            }
        }
    }
    assert!(count >= 4, "{count} examples");
}

#[test]
fn all_faults_come_at_once_in_the_order_of_the_file() {
    let text = with(
        &with(&with(FREE, "mass = 1.0", "mass = -1"), "64, 32", "64, 1"),
        "value = 0.35",
        "valu = 1",
    )
    .replace("method = \"trotter\"", "method = \"x\"");
    let faults = read(&text).unwrap_err();
    let lines: Vec<usize> = faults
        .list
        .iter()
        .map(|fault| fault.location.as_ref().unwrap().line)
        .collect();
    assert_eq!(lines, [5, 10, 17, 24, 29], "{faults}");
    assert!(faults.to_string().ends_with("5 faults in scene"));
    assert!(faults.render(true).contains("\x1b[1;31merror\x1b[0m"));
    assert!(!faults.render(false).contains('\x1b'));
}

#[test]
fn of_many_faults_the_first_are_shown() {
    let text =
        FREE.to_owned() + &"\n[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = \"q\"\n".repeat(300);
    let faults = read(&text).unwrap_err();
    assert_eq!(faults.list.len(), 300);
    let shown = faults.to_string();
    assert_eq!(shown.matches("error: layer").count(), 20, "{shown}");
    assert!(
        shown.ends_with("300 faults, the first 20 of which are shown, in scene"),
        "{shown}"
    );
}

#[test]
fn overrides_win_and_are_named_in_faults() {
    let set = |settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        solver::read_scene_text(FREE, None, &settings)
    };
    let (file, scenario) = set(&[
        "packet.0.momentum=[0.5,0]",
        "time.end=7",
        "solver.order=4",
        "title=Two words",
        "layer.0.value=0.3",
    ])
    .unwrap();
    assert_eq!(file.packets[0].momentum, [0.5, 0.0]);
    assert_eq!(scenario.time().end, Some(7.0));
    assert_eq!(scenario.solver().integer("order", 2), 4);
    assert_eq!(scenario.title(), "Two words");
    // A section and an entry that the file lacks.
    let (_, scenario) = set(&[
        "view.quantity=phase",
        "layer.1.sets=wall",
        "layer.1.shape=everywhere",
        "layer.1.value=0",
    ])
    .unwrap();
    assert!(scenario.medium().has(Sets::Wall));
    for (setting, part) in [
        ("time.end=-7", "-7.0 is not greater than 0"),
        ("time.nd=7", "did you mean `end`?"),
        ("time", "has no `=`"),
        ("packet.5.weight=1", "packet` has 1 entry, and 5 is beyond"),
        ("packet.x=1", "`x` is not a number"),
        ("title.x=1", "`title` is a text"),
        ("grid.size=[64", "\"[64\" is a text"),
        (
            "detector.0.region={ min = [90, 0], max = [91, 1] }",
            "no site lies in it",
        ),
        ("=1", "is not a key"),
    ] {
        let shown = set(&[setting]).expect_err(setting).to_string();
        assert!(
            shown.contains(&format!("--> --set {setting}\n")) && shown.contains(part),
            "{shown}"
        );
    }
}
