//! Scene files: presets read, faults say where and what, overrides, files, writing back, mutated presets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail by panicking"
)]
#![allow(clippy::float_cmp, reason = "numbers that are read back exactly")]

use num_complex::Complex32;
use proptest::prelude::*;
use ripplon::field::FieldData;
use ripplon::physics::{Initial, Sets};
use ripplon::scene::scenario::{Opacity, Orbit, ViewMode};
use ripplon::scene::{Faults, Scenario, SceneFile, presets};
use ripplon::solver;
use std::path::{Path, PathBuf};

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

#[test]
fn text_and_types() {
    fault("format = 1\n[grid\nsize = 1", "2:6", &["not TOML", "2 | [grid"]);
    fault(
        &with(FREE, "format = 1", "format = 2"),
        "1:10",
        &["2 is not a format", "format = 1"],
    );
    fault(&with(FREE, "format = 1\n", ""), "1:1", &["format: is missing"]);
    fault(
        &with(FREE, "spacing = 0.5", "spacing = \"a\""),
        "6:11",
        &["\"a\" is a text, not a number", "^^^"],
    );
    fault(&with(FREE, "spacing = 0.5\n", ""), "4:2", &["grid.spacing: is missing"]);
}

#[test]
fn words_and_sections() {
    fault(
        &with(FREE, "\"wall\"", "\"wal\""),
        "7:9",
        &["\"wal\" is not known", "did you mean \"wall\"?"],
    );
    fault(
        &with(FREE, "[[layer]]", "[[layers]]"),
        "24:3",
        &["layers", "write [[layer]], once for each"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mas = 1.0"),
        "10:1",
        &["quantum.mas: there is no such key", "did you mean `mass`?"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = 1.0\nhopping = 1"),
        "11:1",
        &["a hopping as well as a mass"],
    );
    fault(
        &with(FREE, "[quantum]\nmass = 1.0\n", ""),
        "1:1",
        &["neither [quantum] nor [acoustic]"],
    );
    fault(
        &with(FREE, "[time]", "[acoustic]\n[time]"),
        "12:2",
        &["[quantum] as well as [acoustic]"],
    );
    fault(
        &with(
            FREE,
            "[[detector]]",
            "[[pulse]]\ncenter = [1, 1]\nwidth = 1\n[[detector]]",
        ),
        "31:3",
        &["no pulses"],
    );
    let mirror = format!("{FREE}\n[mirror]\nmethod = \"reversal\"\nat = 1.0\n");
    fault(&mirror, "42:10", &["plays through transducers", "there are none"]);
}

#[test]
fn numbers_and_ranges() {
    fault(
        &with(FREE, "mass = 1.0", "mass = -1.0"),
        "10:8",
        &["-1.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = nan"),
        "10:8",
        &["nan is not a finite number"],
    );
    fault(
        &with(FREE, "mass = 1.0", "mass = 1e999"),
        "10:8",
        &["not a finite number"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = 0"),
        "13:8",
        &["0.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = -0.01"),
        "13:8",
        &["-0.01 is not greater than 0"],
    );
    fault(
        &with(FREE, "step = 0.01", "step = \"fast\""),
        "13:8",
        &["neither a number nor \"auto\""],
    );
    fault(
        &with(FREE, "size = [64, 32]", "size = [64, -32]"),
        "5:13",
        &["-32 is negative"],
    );
    fault(
        &with(FREE, "size = [64, 32]", "size = [64.5, 32]"),
        "5:9",
        &["64.5 is a number, not a whole number"],
    );
    fault(
        &with(FREE, "width = [2.0, 2.0]", "width = [2.0, 0.0]"),
        "21:15",
        &["0.0 is not greater than 0"],
    );
    fault(
        &with(FREE, "width = [2.0, 2.0]", "width = 1e-3\nweight = 0"),
        "19:3",
        &["norm 0"],
    );
    fault(
        &with(FREE, "center = [10.0, 8.0]", "center = [10.0]"),
        "20:10",
        &["1 number where the grid has 2", "x, y"],
    );
    fault(
        &with(FREE, "center = [10.0, 8.0]", "center = [10.0, 99.0]"),
        "20:17",
        &["y = 99.0 lies outside", "from 0 to 15.5"],
    );
    fault(
        &with(FREE, "momentum = [1.0", "momentum = [7.0"),
        "22:13",
        &["7.0 is beyond the band's edge", "6.283185"],
    );
    fault(
        &with(FREE, "tolerance = 0.01", "tolerance = 0"),
        "39:13",
        &["not greater than 0"],
    );
}

#[test]
fn grids_and_edges() {
    let odd = with(&with(FREE, "64, 32", "63, 32"), "\"wall\"", "[\"periodic\", \"wall\"]");
    fault(&odd, "5:9", &["63 sites along x are odd", "62 or 64"]);
    fault(
        &with(FREE, "\"wall\"", "[\"wall\"]"),
        "7:9",
        &["1 word where the grid has 2 axes"],
    );
    fault(
        &with(FREE, "\"wall\"", "\"absorb\"\nabsorb_width = 16"),
        "8:16",
        &[
            "two layers of 16 sites leave nothing of the 32 sites along y",
            "at most 15",
        ],
    );
    fault(
        &with(FREE, "\"wall\"", "\"absorb\"\nabsorb_width = 0"),
        "8:16",
        &["0 sites absorb nothing"],
    );
    let huge = with(FREE, "64, 32", "1000000, 1000000");
    fault(&huge, "5:8", &["1000000 × 1000000 sites need", "TiB", "are free"]);
    fault(&with(FREE, "64, 32", "99999999999999, 32"), "5:9", &["more than 2^40"]);
    let torus = with(
        &with(FREE, "mass = 1.0", "mass = 1.0\nflux = 0.01"),
        "\"wall\"",
        "\"periodic\"",
    );
    fault(&torus, "11:8", &["flux times sites along y is 0.32", "whole number"]);
    let whole = with(&torus, "flux = 0.01", "flux = 0.03125");
    if let Err(faults) = read(&whole) {
        assert!(!faults.to_string().contains("whole number"), "{faults}");
    }
}

#[test]
fn layers_and_formulas() {
    let layer = |new: &str| with(FREE, "value = 0.35", new);
    fault(
        &layer("value = \"0.1*(x + q)\""),
        "29:19",
        &[
            "`q` is no variable",
            "x, y, z, r, pi, e",
            "| value = \"0.1*(x + q)\"\n   |                   ^\n",
        ],
    );
    fault(&layer("value = \"0.1*(x + \""), "29:19", &["ends too early"]);
    fault(&layer("value = \"1/(x - 20)\""), "29:9", &["it is inf at site [40, 0]"]);
    fault(&layer("value = true"), "29:9", &["not a number or a formula"]);
    fault(&layer(""), "24:1", &["layer.0.value: is missing"]);
    fault(
        &layer("value = 0.1\nradius = 3"),
        "30:1",
        &["shape \"box\" has no such key", "belongs to shape \"disk\""],
    );
    fault(
        &layer("value = 0.1\ndrive = \"sin(x)\""),
        "30:14",
        &["`x` is no variable", "t, pi, e"],
    );
    fault(
        &with(FREE, "sets = \"potential\"", "sets = \"speed\""),
        "25:8",
        &["nothing that a quantum scene has", "potential, wall, absorption"],
    );
    let wall = with(FREE, "sets = \"potential\"", "sets = \"wall\"\ndrive = \"cos(t)\"");
    fault(&wall, "26:1", &["only a potential can"]);
    fault(
        &with(FREE, "max = [22.0, 15.5]", "max = [2.0, 15.5]"),
        "28:8",
        &["below the lower corner's 20.0 along x"],
    );
    fault(
        &with(
            FREE,
            "shape = \"box\"\nmin = [20.0, 0.0]\nmax = [22.0, 15.5]\n",
            "min = [1, 1]\n",
        ),
        "26:1",
        &["no shape is given", "shape = \"box\""],
    );
    fault(
        &with(FREE, "shape = \"box\"", "shape = \"image\"\nfile = \"none.png\"")
            .replace("min = [20.0, 0.0]\nmax = [22.0, 15.5]\n", ""),
        "27:8",
        &["none.png cannot be read: there is no such file"],
    );
}

#[test]
fn recording_and_predictions() {
    let twice = format!("{FREE}\n[[detector]]\nname = \"right\"\n");
    fault(&twice, "42:8", &["two detectors \"right\""]);
    fault(
        &with(FREE, "detector = \"right\"", "detector = \"left\""),
        "36:12",
        &["no detector \"left\"", "there are right"],
    );
    fault(
        &with(FREE, "detector = \"right\"", "observable = \"nrom\""),
        "36:14",
        &["did you mean \"norm\"?"],
    );
    fault(
        &with(FREE, "detector = \"right\"\n", ""),
        "35:1",
        &["does not say what is measured"],
    );
    fault(
        &with(FREE, "detector = \"right\"", "detector = \"right\"\nobservable = \"x\""),
        "37:1",
        &["not both"],
    );
    fault(
        &with(FREE, "[[expect]]", "measure = \"value\"\n[[expect]]"),
        "35:11",
        &["measured at a point"],
    );
    fault(
        &with(FREE, "[[expect]]", "measure = \"energy\"\n[[expect]]"),
        "35:11",
        &["not defined on a lattice"],
    );
    fault(
        &with(FREE, "max = [31.5, 15.5]", "max = [22.1, -1.0]").replace("min = [22.0, 0.0]", "min = [22.0, -2.0]"),
        "33:1",
        &["no site lies in it"],
    );
    fault(
        &format!("{FREE}\n[view]\ncolormap = \"viridi\"\n"),
        "42:12",
        &["no colour map \"viridi\""],
    );
    fault(
        &format!("{FREE}\n[view]\nquantity = \"pressure\"\n"),
        "42:12",
        &["cannot be shown of a quantum scene"],
    );
    fault(
        &format!("{FREE}\n[view]\nrange = [1, 0]\n"),
        "42:9",
        &["1.0 is not below 0.0"],
    );
}

/// A scene of three dimensions with a view of its own.
fn in_space(view: &str) -> String {
    format!(
        "format = 1\n[grid]\nsize = [16, 12, 8]\nspacing = 0.5\n[quantum]\n[[packet]]\ncenter = [3, 3, 2]\nwidth = [1]\n[view]\n{view}\n"
    )
}

#[test]
fn views_of_three_dimensions() {
    let (file, scenario) = read(&in_space(
        "mode = \"volume\"\ncamera = { azimuth = -40.5, elevation = 10, zoom = 2, target = [1, 2, 3] }\nslices = [0, 5.5, 3.5]\n\
         opacity = [[0, 0], [0.5, 0.25], [1, 1]]\nshading = true",
    ))
    .unwrap();
    let view = scenario.view();
    assert_eq!(view.mode, ViewMode::Volume);
    let orbit = Orbit {
        azimuth: -40.5,
        elevation: 10.0,
        zoom: 2.0,
        target: Some([1.0, 2.0, 3.0]),
    };
    assert_eq!((view.camera, file.view.camera), (orbit, Some(orbit)));
    assert_eq!(view.slices, Some([0.0, 5.5, 3.5]));
    assert_eq!(view.opacity.points(), [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]);
    assert!(view.shading);
    let plain = read(&in_space("opacity = \"shells\"\ncamera = {}")).unwrap().1;
    assert_eq!(
        (plain.view().mode, plain.view().camera),
        (ViewMode::Plane, Orbit::default())
    );
    assert_eq!((&plain.view().opacity, plain.view().slices), (&Opacity::Shells, None));

    for (view, place, part) in [
        ("mode = \"volum\"", "10:8", "did you mean \"volume\"?"),
        ("camera = { azimut = 3 }", "10:12", "did you mean `azimuth`?"),
        ("camera = { elevation = 91 }", "10:24", "91.0 is not between -90 and 90"),
        ("camera = { zoom = 0 }", "10:19", "not between 0.25 and 40"),
        ("camera = { target = [1, 2] }", "10:21", "2 numbers where 3 belong"),
        ("slices = [1, 2]", "10:10", "2 numbers where 3 belong"),
        (
            "slices = [1, 2, 9]",
            "10:17",
            "9.0 is outside the grid, which reaches from 0 to 3.5",
        ),
        ("opacity = \"soft2\"", "10:11", "did you mean \"soft\"?"),
        ("opacity = [[0, 0], [1, 2]]", "10:11", "no curve of 2 to 8 points"),
        ("opacity = [[0.5, 0], [0.4, 1]]", "10:11", "no curve of 2 to 8 points"),
        ("opacity = [[0, 0]]", "10:11", "no curve of 2 to 8 points"),
        ("shading = 1", "10:11", "not true or false"),
    ] {
        fault(&in_space(view), place, &[part]);
    }
    fault(
        &format!("{FREE}\n[view]\nmode = \"slices\"\n"),
        "42:8",
        &["three dimensions"],
    );
    let relief = format!("{FREE}\n[view]\nmode = \"relief\"\ncamera = {{ elevation = 60 }}\n");
    let view = read(&relief).unwrap().1.view().clone();
    assert_eq!((view.mode, view.camera.elevation), (ViewMode::Relief, 60.0));
    fault(&in_space("mode = \"relief\""), "10:8", &["two dimensions"]);
    let (file, scenario) = read(&in_space("cover = 1.5")).unwrap();
    assert_eq!(scenario.view().cover, Some(1.5));
    assert!(file.to_toml().contains("cover = 1.5"), "{}", file.to_toml());
    fault(&in_space("cover = -1"), "10:9", &["no time from 0 on"]);
    for (camera, place, part) in [
        ("elevation = 3", "42:24", "3.0 is not between 5 and 90"),
        ("target = [1, 1, 1]", "42:21", "looked at as a whole"),
    ] {
        fault(&format!("{FREE}\n[view]\ncamera = {{ {camera} }}\n"), place, &[part]);
    }
    fault(
        &format!("{FREE}\n[view]\nslices = [1, 1]\n"),
        "42:10",
        &["three dimensions"],
    );
}

#[test]
fn solvers() {
    let solver = |new: &str| with(FREE, "method = \"trotter\"", new);
    fault(
        &solver("method = \"troter\""),
        "17:10",
        &["no method \"troter\"", "did you mean \"trotter\"?"],
    );
    fault(&solver("order = 3"), "17:9", &["3 is not possible", "1, 2, 4"]);
    fault(
        &solver("ordr = 2"),
        "17:8",
        &["no such parameter", "did you mean \"order\"?"],
    );
    fault(
        &solver("variant = \"slow\""),
        "17:11",
        &["no variant \"slow\"", "auto, naive"],
    );
    fault(&solver("backend = \"tpu\""), "17:11", &["not known", "auto, cpu, cuda"]);
    fault(&solver("precision = \"half\""), "17:13", &["single, double"]);
    fault(&solver("method = \"fdtd\""), "17:10", &["is for the acoustic equation"]);
    let relax = with(&solver("order = 4"), "end = 1.0", "imaginary = true");
    fault(&relax, "16:1", &["imaginary time", "order = 2"]);
}

#[test]
fn sound() {
    let (_, scenario) = read(SOUND).unwrap();
    assert_eq!(scenario.sources().len(), 1);
    assert!(matches!(scenario.initial(), Initial::Pulses(pulses) if pulses.len() == 1));
    fault(
        &with(SOUND, "step = 1e-6", "step = 1.0"),
        "10:8",
        &["1 is unstable", "at most"],
    );
    fault(
        &with(SOUND, "frequency = 1000.0", "frequency = 0"),
        "19:13",
        &["not greater than 0"],
    );
    fault(
        &with(SOUND, "frequency = 1000.0\n", ""),
        "16:1",
        &["frequency: is missing"],
    );
    fault(
        &with(SOUND, "\"ricker\"", "\"riker\""),
        "18:10",
        &["did you mean \"ricker\"?"],
    );
    fault(
        &with(SOUND, "at = [0.2, 0.2]\n", ""),
        "16:1",
        &["does not say where it is"],
    );
    fault(
        &with(
            SOUND,
            "at = [0.2, 0.2]",
            "points = [[0.1, 0.1], [0.2, 0.1]]\ndelays = [0.0]",
        ),
        "18:10",
        &["1 delay for 2 points"],
    );
    fault(
        &with(SOUND, "[acoustic]", "[acoustic]\nspeed = 0"),
        "8:9",
        &["not greater than 0"],
    );
    fault(
        &format!("{SOUND}\n[[layer]]\nsets = \"speed\"\nvalue = \"x - 0.1\"\n"),
        "23:9",
        &["must be greater than 0"],
    );
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
        ("packet.5.weight=1", "packet` has 1 entries, and 5 is beyond"),
        ("packet.x=1", "`x` is not a number"),
        ("title.x=1", "`title` is a text"),
        ("grid.size=[64", "\"[64\" is a text"),
        ("=1", "is not a key"),
    ] {
        let shown = set(&[setting]).expect_err(setting).to_string();
        assert!(
            shown.contains(&format!("--> --set {setting}\n")) && shown.contains(part),
            "{shown}"
        );
    }
}

#[test]
fn what_is_written_reads_back_the_same() {
    let everything = format!(
        "{FREE}\n{}",
        r#"
[view]
quantity = "phase"
range = [0, 1e-9]

[[layer]]
sets = "potential"
shape = "ring"
center = [3, 4]
inner = 1
outer = 2
value = "1e-20*x"
mode = "add"
drive = "cos(t)"

[[layer]]
sets = "wall"
shape = "slits"
x = 15
thickness = 1
centers = [5, 9]
opening = 1.5

[[layer]]
sets = "absorption"
shape = "polygon"
points = [[1, 1], [2, 1], [2, 2.5]]
value = 0.1

[[layer]]
sets = "wall"
shape = "stroke"
points = [[3, 1.25], [4, 1]]
radius = 0.75
value = 0

[[detector]]
name = "line \u00e4"
from = [20, 1]
to = [20, 9]
"#
    );
    let awkward = with(
        FREE,
        "title = \"Free\"",
        "title = 'a \"b\" \\ c'\nabout = 'x\"\"\"y\\\n'\ntags = [\"\\u0001\"]",
    );
    let awkward = awkward.replace(
        "about = 'x\"\"\"y\\\n'",
        "about = \"\"\"\\\nx\\\"\\\"\\\"y\\\\ \\u0007\n\"ends\" with \"quote\\\"\"\"\"",
    );
    let sound = with(
        SOUND,
        "at = [0.2, 0.2]",
        "points = [[0.1, 0.1], [0.2, 0.1]]\ndelays = [0.0, 1e-5]\nvelocity = [1, 0]",
    );
    let space = [
        "mode = \"slices\"\ncamera = { azimuth = 1e-7, target = [1, 2.5, 3] }\nslices = [0.1, 0.2, 0.3]",
        "mode = \"volume\"\nopacity = \"solid\"\nshading = true\ncamera = {}",
        "opacity = [[0, 0], [0.25, 1], [1, 0.125]]",
    ]
    .map(in_space);
    let texts = presets::all().iter().map(|preset| preset.text.to_owned());
    for text in texts
        .chain(space)
        .chain([FREE.to_owned(), SOUND.to_owned(), everything, awkward, sound])
    {
        let (file, scenario) = read(&text).unwrap_or_else(|faults| panic!("{faults}"));
        let written = file.to_toml();
        let (file_again, scenario_again) = read(&written).unwrap_or_else(|faults| panic!("{written}\n{faults}"));
        assert_eq!(file, file_again, "{written}");
        assert_eq!(scenario, scenario_again);
        assert_eq!(written, file_again.to_toml());
        assert!(scenario.continues(&scenario_again));
    }
}

/// An NPY file, version 1.
fn npy(path: &Path, descr: &str, fortran: bool, shape: &str, data: &[u8]) {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    std::fs::write(path, bytes).unwrap();
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }
    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    /// Reads a scene as if it stood in this folder.
    fn read(&self, text: &str) -> Result<Scenario, Faults> {
        solver::read_scene_text(text, Some(&self.file("scene.toml")), &[]).map(|(_, scenario)| scenario)
    }
}

const SMALL: &str = "format = 1\n[grid]\nsize = [3, 2]\nspacing = 1.0\n[quantum]\n";

#[test]
fn initial_arrays() {
    let folder = Folder::new();
    let text = format!("{SMALL}[initial]\nfile = \"psi.npy\"\n");
    let path = folder.file("psi.npy");
    let values: Vec<f32> = (0..12u8).map(f32::from).collect();
    let complex: Vec<Complex32> = values.chunks(2).map(|pair| Complex32::new(pair[0], pair[1])).collect();
    let data = |scenario: &Scenario| match scenario.initial() {
        Initial::Array(data) => (**data).clone(),
        other => panic!("{other:?}"),
    };
    npy(&path, "<c8", false, "(2, 3)", &floats(&values));
    assert_eq!(
        data(&folder.read(&text).unwrap()),
        FieldData::Complex64(complex.clone())
    );
    // The same array in Fortran order: element (j, i) is element (i, j) of the bytes.
    let mut fortran = Vec::new();
    for i in 0..3 {
        for j in 0..2 {
            fortran.extend([complex[i + 3 * j].re, complex[i + 3 * j].im]);
        }
    }
    npy(&path, "<c8", true, "(2, 3)", &floats(&fortran));
    assert_eq!(data(&folder.read(&text).unwrap()), FieldData::Complex64(complex));
    // Real numbers are a state as well.
    let double: Vec<u8> = (0..6u8).flat_map(|n| f64::from(n).to_le_bytes()).collect();
    npy(&path, "<f8", false, "(2, 3)", &double);
    assert!(matches!(data(&folder.read(&text).unwrap()), FieldData::Complex128(v) if v[5].re == 5.0 && v[5].im == 0.0));

    let fails = |part: &str| {
        let shown = folder.read(&text).unwrap_err().to_string();
        assert!(
            shown.contains(part) && shown.contains("scene.toml:7:8"),
            "{part}: {shown}"
        );
    };
    npy(&path, "<c8", false, "(3, 2)", &floats(&values));
    fails("has the shape (3, 2), and the grid's is (2, 3)");
    let mut bad = values.clone();
    bad[9] = f32::NAN;
    npy(&path, "<c8", false, "(2, 3)", &floats(&bad));
    fails("holds NaN at index (1, 1)");
    npy(&path, "<c8", false, "(2, 3)", &floats(&[0.0; 12]));
    fails("norm 0");
    npy(&path, ">c8", false, "(2, 3)", &floats(&values));
    fails("type >c8");
    npy(&path, "<i4", false, "(2, 3)", &floats(&values[..6]));
    fails("type <i4");
    npy(&path, "<c8", false, "(2, 3)", &floats(&values[..11]));
    fails("promises another length");
    npy(&path, "<c8", false, "(9999999999, 9999999999)", &floats(&values));
    fails("promises another length");
    std::fs::write(&path, b"\x93NUMPY\x01").unwrap();
    fails("no NPY file");
    std::fs::write(&path, b"hello, world").unwrap();
    fails("no NPY file");
    std::fs::remove_file(&path).unwrap();
    fails("there is no such file");
}

#[test]
fn array_and_image_layers() {
    let folder = Folder::new();
    let packet = "[[packet]]\ncenter = [1, 1]\nwidth = [1, 1]\n";
    let layer = |keys: &str| format!("{SMALL}{packet}[[layer]]\nsets = \"potential\"\n{keys}\n");
    let rows = |scenario: &Scenario| {
        let mut out = [0.0; 6];
        for j in 0..2 {
            scenario
                .medium()
                .potential_row(None, j, 0, 0..3, &mut out[3 * j..3 * j + 3]);
        }
        out
    };
    npy(
        &folder.file("u.npy"),
        "<f4",
        false,
        "(2, 3)",
        &floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    );
    let scenario = folder
        .read(&layer("shape = \"array\"\nfile = \"u.npy\"\nvalue = 0.5"))
        .unwrap();
    assert_eq!(rows(&scenario), [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    // Row 0 of the picture is at the largest y; black (and transparent) leaves the layer out.
    let picture = image::GrayImage::from_raw(3, 2, vec![255, 0, 0, 0, 51, 255]).unwrap();
    picture.save(folder.file("map.png")).unwrap();
    let scenario = folder
        .read(&layer("shape = \"image\"\nfile = \"map.png\"\nvalue = 2"))
        .unwrap();
    assert_eq!(rows(&scenario), [0.0, 0.4, 2.0, 2.0, 0.0, 0.0]);

    let fails = |keys: &str, part: &str| {
        let shown = folder.read(&layer(keys)).unwrap_err().to_string();
        assert!(shown.contains(part), "{part}: {shown}");
    };
    npy(&folder.file("c.npy"), "<c8", false, "(2, 3)", &floats(&[0.0; 12]));
    fails("shape = \"array\"\nfile = \"c.npy\"", "holds complex numbers");
    npy(
        &folder.file("n.npy"),
        "<f4",
        false,
        "(2, 3)",
        &floats(&[1.0, 2.0, f32::INFINITY, 4.0, 5.0, 6.0]),
    );
    fails("shape = \"array\"\nfile = \"n.npy\"", "holds inf at index (0, 2)");
    std::fs::write(folder.file("bad.png"), b"not a picture").unwrap();
    fails("shape = \"image\"\nfile = \"bad.png\"", "no PNG file");
    fails("shape = \"image\"\nfile = \"\"", "not the name of a file");
}

#[test]
fn scenes_by_name_and_file() {
    let folder = Folder::new();
    let shown = |name: &str| solver::read_scene(name, &[]).unwrap_err().to_string();
    assert!(shown("free-pakcet").contains("did you mean the preset \"free-packet\"?"));
    let path = folder.file("scene.toml");
    std::fs::write(&path, [0x66, 0xff, 0x00]).unwrap();
    assert!(shown(path.to_str().unwrap()).contains("not UTF-8"));
    std::fs::write(&path, FREE).unwrap();
    let (_, scenario) = solver::read_scene(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(scenario.origin(), Some(&*path));
    let picture = folder.file("empty.png");
    image::GrayImage::new(2, 2).save(&picture).unwrap();
    assert!(shown(picture.to_str().unwrap()).contains("carries no scene"));
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
fn awkward_texts_are_faults() {
    let deep = format!("x = {}{}", "[".repeat(5000), "]".repeat(5000));
    let tables = format!("x = {}1{}", "{a=".repeat(5000), "}".repeat(5000));
    let dotted = format!("{}x = 1", "a.".repeat(20_000));
    let heading = format!("[{}x]", "a.".repeat(20_000));
    let many = "[[packet]]\n".repeat(3000);
    let long = format!("title = \"{}\"\nx", "ä".repeat(100_000));
    for text in [
        &deep, &tables, &dotted, &heading, &many, &long, "", "\u{feff}", "\r\n\r\r", "=", "a.b.c",
    ] {
        let shown = rendered(text);
        assert!(!shown.is_empty());
    }
}

fn mutated() -> impl Strategy<Value = String> {
    let all: Vec<&'static str> = presets::all()
        .iter()
        .map(|preset| preset.text)
        .chain([FREE, SOUND])
        .collect();
    let insert = prop_oneof![
        Just("1e308"),
        Just("-1"),
        Just("0"),
        Just("nan"),
        Just("99999999999999999999999"),
        Just("\""),
        Just("[["),
        Just("]"),
        Just("{"),
        Just("= "),
        Just("ψ→"),
        Just("\u{0}"),
        Just("1e-320"),
        Just("[]"),
        Just("true"),
        Just("1979-05-27"),
        Just("\n"),
        Just("x^y"),
        Just("4000000000"),
        Just("\"\""),
        Just("."),
        Just("#")
    ];
    let edit = (
        0u8..6,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        insert,
    );
    (prop::sample::select(all), prop::collection::vec(edit, 1..6)).prop_map(|(text, edits)| {
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        for (kind, first, second, insert) in edits {
            let (a, b) = (first.index(lines.len()), second.index(lines.len()));
            let cut = |line: &str, at: &prop::sample::Index| {
                let place = at.index(line.chars().count() + 1);
                line.char_indices().nth(place).map_or(line.len(), |(byte, _)| byte)
            };
            match kind {
                0 => lines.swap(a, b),
                1 if lines.len() > 1 => drop(lines.remove(a)),
                // A value by another one.
                2 => {
                    if let Some((key, _)) = lines[a].split_once('=') {
                        lines[a] = format!("{key}= {insert}");
                    }
                }
                3 => {
                    let at = cut(&lines[a], &second);
                    lines[a].insert_str(at, insert);
                }
                4 => {
                    let at = cut(&lines[a], &second);
                    lines[a].truncate(at);
                }
                _ => {
                    let value = lines[b].split_once('=').map(|(_, value)| value.to_owned());
                    let key = lines[a].split_once('=').map(|(key, _)| key.to_owned());
                    if let (Some(key), Some(value)) = (key, value) {
                        lines[a] = format!("{key}={value}");
                    }
                }
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, rng_seed: prop::test_runner::RngSeed::Fixed(11), failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever becomes of a scene file, it is a scene or a list of faults with places inside the text.
    #[test]
    fn mutated_scenes_never_panic(text in mutated()) {
        match read(&text) {
            Ok((file, scenario)) => {
                let (again, other) = read(&file.to_toml()).map_err(|faults| TestCaseError::fail(format!("{}\n{faults}", file.to_toml())))?;
                prop_assert_eq!(file, again);
                prop_assert_eq!(scenario, other);
            }
            Err(faults) => {
                prop_assert!(!faults.list.is_empty());
                for fault in &faults.list {
                    let place = fault.location.as_ref().expect("a place");
                    prop_assert!(place.line <= text.matches('\n').count() + 1);
                    prop_assert!(place.column <= place.text.chars().count() + 1);
                }
                prop_assert!(!faults.render(true).is_empty());
            }
        }
    }

    /// The same for overrides.
    #[test]
    fn mutated_overrides_never_panic(path in "[a-z0-9.=\\[\\]\" ]{0,24}", key in prop::sample::select(vec!["grid.size", "grid.spacing", "packet.0.width", "layer.0.value", "time.step", "solver.order", "detector.0.region.min", "layer.0.sets"]), value in "[-0-9a-z.eE\\[\\],{}\"= ]{0,16}") {
        for setting in [path.clone(), format!("{key}={value}")] {
            if let Err(faults) = solver::read_scene_text(FREE, None, &[setting]) {
                prop_assert!(!faults.to_string().is_empty());
            }
        }
    }
}
