//! Limits that hold at every site and on every way, and faults that do not hide each other.

use super::{FREE, SOUND, fault, read, rendered, with};
use ripplon::physics::Initial;
use ripplon::physics::reference::{distance, initial_state};
use ripplon::solver;
use std::fs;

fn keys(text: &str) -> Vec<String> {
    let faults = read(text).expect_err(text);
    faults.list.into_iter().map(|fault| fault.key).collect()
}

/// An NPY file of 64 × 32 doubles.
fn array(value: impl Fn(usize) -> f64) -> Vec<u8> {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (32, 64), }";
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    (0..64 * 32).for_each(|n| bytes.extend(value(n).to_le_bytes()));
    bytes
}

#[test]
fn one_bad_site_of_an_array_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    for (sets, bad) in [
        ("speed", -1.0),
        ("speed", 0.0),
        ("density", 0.0),
        ("absorption", -1e-3),
        ("speed", 1e31),
    ] {
        fs::write(
            folder.path().join("a.npy"),
            array(|n| if n == 1234 { bad } else { 400.0 }),
        )
        .unwrap();
        let layer = format!("\n[[layer]]\nsets = \"{sets}\"\nshape = \"array\"\nfile = \"a.npy\"\n");
        fs::write(&path, with(SOUND, "step = 1e-6", "step = 1e-7") + &layer).unwrap();
        let shown = solver::read_scene(&path.to_string_lossy(), &[])
            .unwrap_err()
            .to_string();
        // Site 1234 is 19 · 64 + 18.
        assert!(
            shown.contains("layer.0.file") && shown.contains("[18, 19]"),
            "{sets} {bad}: {shown}"
        );
    }
}

#[test]
fn a_formula_is_looked_at_between_what_was_sampled() {
    // 1 but at one site of 4096 × 512, which every second or eighth site misses.
    let big = with(SOUND, "size = [64, 32]", "size = [4096, 512]");
    let dip = "400 - 500*exp(-((x - 20.01)/1e-4)^2 - ((y - 2.57)/1e-4)^2)";
    let layer = format!("\n[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = \"{dip}\"\n");
    let shown = rendered(&(big + &layer));
    assert!(
        shown.contains("layer.0.value") && shown.contains("[2001, 257]"),
        "{shown}"
    );
}

#[test]
fn a_scene_in_which_nothing_moves_or_is_has_a_fault() {
    let walls = "\n[[layer]]\nsets = \"wall\"\nshape = \"everywhere\"\n";
    let speed = "\n[[layer]]\nsets = \"speed\"\nshape = \"everywhere\"\nvalue = 300.0\n";
    let still = with(SOUND, "step = 1e-6\n", "end = 1.0\n") + speed + walls;
    assert_eq!(keys(&still), ["layer"]);
    // Whatever the method, the step and the variant; walls of the inner border go on through absorbing layers.
    let written = SOUND.to_owned() + walls;
    assert_eq!(keys(&written), ["layer"]);
    for method in ["fdtd", "oscillators"] {
        let scene = format!("{written}\n[solver]\nmethod = \"{method}\"\n");
        assert_eq!(keys(&scene), ["layer"], "{method}");
    }
    let inner = "\n[[layer]]\nsets = \"wall\"\nshape = \"box\"\nmin = [0.055, 0.055]\nmax = [0.575, 0.255]\n";
    let layers = with(
        SOUND,
        "spacing = 0.01\n",
        "spacing = 0.01\nedges = \"absorb\"\nabsorb_width = 6\n",
    );
    assert_eq!(keys(&(layers + inner)), ["layer"]);
    let most = "\n[[layer]]\nsets = \"wall\"\nshape = \"everywhere\"\nvalue = \"x < 0.05\"\n";
    assert!(read(&(SOUND.to_owned() + most)).is_ok());
    assert_eq!(keys(&(FREE.to_owned() + walls)), ["packet"]);
    let mut slow = with(SOUND, "[acoustic]\n", "[acoustic]\nspeed = 1e-29\n");
    slow = with(&slow, "step = 1e-6\n", "end = 1e30\nstep = 1e-6\n");
    assert_eq!(keys(&slow), ["time.end"]);
    assert_eq!(keys(&with(FREE, "spacing = 0.5", "spacing = 1e31"))[0], "grid.spacing");
    assert!(read(&with(FREE, "end = 1.0", "end = 0.5")).is_ok());
}

#[test]
fn the_way_back_from_a_mirror_is_held_against_the_same_limits() {
    let mirror = "\n[mirror]\nmethod = \"echo\"\nat = 1e-4\n[[mirror.perturbation]]\n";
    let quantum = "\n[mirror]\nmethod = \"echo\"\nat = 0.5\n[[mirror.perturbation]]\n";
    let place = "shape = \"disk\"\ncenter = [0.3, 0.2]\nradius = 0.05\n";
    let within = format!("sets = \"speed\"\n{place}value = 350.0\n");
    let scene = |perturbation: &str| SOUND.to_owned() + mirror + perturbation;
    if let Err(faults) = read(&scene(&within)) {
        panic!("{faults}");
    }
    // cΔt/a = 3 at 30 km/s.
    let fast = format!("sets = \"speed\"\n{place}value = 30000.0\n");
    assert_eq!(keys(&scene(&fast)), ["mirror.perturbation"]);
    let dense = format!("sets = \"density\"\n{place}value = 3.0\n");
    let fourth = scene(&dense) + "\n[solver]\nmethod = \"fdtd\"\norder = 4\n";
    assert_eq!(keys(&fourth), ["mirror.perturbation"]);
    let wall = "sets = \"wall\"\nshape = \"disk\"\ncenter = [25.0, 8.0]\nradius = 1.0\n";
    let spectral = with(FREE, "method = \"trotter\"", "method = \"split-step-fourier\"") + quantum + wall;
    assert_eq!(keys(&spectral), ["mirror.perturbation"]);
}

#[test]
fn faults_of_grid_and_equation_hide_no_others() {
    let bad = with(FREE, "spacing = 0.5", "spacing = -0.5");
    let bad = with(&bad, "value = 0.35", "value = \"1 +\"");
    let bad = with(&bad, "detector = \"right\"", "detector = \"left\"");
    let mut found = keys(&bad);
    found.sort();
    assert_eq!(found, ["expect.0.detector", "grid.spacing", "layer.0.value"]);
    let neither = with(FREE, "[quantum]\nmass = 1.0\n", "");
    let neither = with(&neither, "width = [2.0, 2.0]", "width = [2.0, -2.0]");
    assert_eq!(keys(&neither).len(), 2, "{}", rendered(&neither));
}

#[test]
fn faults_name_the_key_that_somebody_wrote() {
    let faults = solver::read_scene_text(FREE, None, &["time.step=5".to_owned()]).unwrap_err();
    assert_eq!(faults.list[0].key, "time.step");
    let setting = faults.list[0].setting.as_ref().unwrap();
    assert_eq!((setting.option, setting.words.as_str()), ("--set", "time.step=5"));
    assert_eq!(keys(&with(FREE, "at = 1.0", "at = -1.0")), ["expect.0.at"]);
    fault(
        &with(FREE, "name = \"right\"", "name = \"t\"").replace("detector = \"right\"", "detector = \"t\""),
        "32:8",
        &["column"],
    );
    let mirror = "\n[mirror]\nmethod = \"reversal\"\nat = 0.5\ntransducers = { shape = \"edges\" }\n";
    let other = with(FREE, "method = \"trotter\"", "method = \"crank-nicolson\"") + mirror;
    let shown = rendered(&other);
    assert!(shown.contains("use trotter") && !shown.contains("fdtd"), "{shown}");
}

#[test]
fn a_run_of_no_step_is_a_fault() {
    let short = with(FREE, "end = 1.0", "end = 1e-9");
    assert_eq!(keys(&short), ["time.end"]);
    assert!(
        rendered(&short).contains("before the first step ends"),
        "{}",
        rendered(&short)
    );
    // Half a step is rounded up, as runs do.
    assert!(read(&with(FREE, "end = 1.0", "end = 0.005")).is_ok());
}

#[test]
fn faults_show_numbers_as_people_write_them() {
    let tiny = "\n[[layer]]\nsets = \"absorption\"\nshape = \"everywhere\"\nvalue = \"-1e-200\"\n";
    let shown = rendered(&(SOUND.to_owned() + tiny));
    assert!(shown.contains("-1e-200"), "{shown}");
    let large = rendered(&with(FREE, "spacing = 0.5", "spacing = 1e31"));
    assert!(large.contains("between 1e-30 and 1e30"), "{large}");
    // What a potential has nothing to do with is not asked for.
    let high = "\n[[layer]]\nsets = \"potential\"\nshape = \"everywhere\"\nvalue = 1.0\nhigh = 2.0\n";
    let shown = rendered(&(FREE.to_owned() + high));
    assert!(
        shown.contains("only an impedance") && !shown.contains("corner: is missing"),
        "{shown}"
    );
}

/// Weights are relative, whatever their size: a state of one packet or eigenstate is that of weight 1, and two that are as heavy are halves, up to rounding.
#[test]
fn weights_are_relative() {
    let second = "[[packet]]\ncenter = [20.0, 8.0]\nwidth = [2.0, 1.0]\n";
    let state = |precision: &str, weights: &[f64]| {
        let mut text = with(FREE, "[solver]\n", &format!("[solver]\nprecision = \"{precision}\"\n"));
        text = with(
            &text,
            "width = [2.0, 2.0]\n",
            &format!("width = [2.0, 2.0]\nweight = {:e}\n", weights[0]),
        );
        for weight in &weights[1..] {
            text += &format!("\n{second}weight = {weight:e}\n");
        }
        let (_, scenario) = read(&text).unwrap_or_else(|faults| panic!("{precision}, {weights:?}: {faults}"));
        initial_state(scenario.grid(), scenario.initial())
    };
    for (precision, sizes) in [("single", [1e-20, 1e-30, 1e29]), ("double", [1e-80, 1e-150, 1e149])] {
        for weights in [&[1.0][..], &[-1.0], &[1.0, 1.0], &[1.0, -3.0]] {
            let wanted = state(precision, weights);
            for size in sizes {
                let scaled: Vec<f64> = weights.iter().map(|weight| weight * size).collect();
                let far = distance(&state(precision, &scaled), &wanted);
                assert!(far < 1e-14, "{precision}, {scaled:?}: {far}");
            }
        }
    }
    let levels = |weight: &str| {
        let packet = &FREE[FREE.find("[[packet]]").unwrap()..FREE.find("[[layer]]").unwrap()];
        let states =
            format!("[[eigenstate]]\nlevel = 0\nweight = {weight}\n[[eigenstate]]\nlevel = 1\nweight = {weight}\n\n");
        read(&with(FREE, packet, &states)).map(|(_, scenario)| match scenario.initial() {
            Initial::Eigenstates(own) => own.terms().to_vec(),
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(levels("1e-20").unwrap()[0].1, levels("1e-20").unwrap()[1].1);
    assert!(levels("0").unwrap_err().to_string().contains("norm 0"));
}
